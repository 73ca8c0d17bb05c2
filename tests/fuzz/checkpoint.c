/* Any bytes as a checkpoint, sealed first so that what lies behind the checksum is reached:
 * refused, or a search that can be stepped, told, looked at and saved again. The first two bytes
 * say where a good one is changed and how; the rest goes over it from there. */
#include "engine/live/checkpoint.h"
#include "tests/fuzz/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct problem *p;
static struct rl_bytes good[3];

static void tell(struct search_state *c, const char *line)
{
    struct live_command command;
    struct err e;

    require(!live_command_parse(line, &command, &e));
    (void)!search_state_apply(c, &command, &e);
}

static void begin(struct search_state *c)
{
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 3};
    struct err e;

    o.rl = *rl_preset("probe");
    o.rl.hidden[0] = 4;
    o.rl.hidden[1] = 0;
    o.rl.replay_capacity = 16;
    o.rl.batch = 4;
    o.rl_set = true;
    require(!search_state_new(p, &o, c, &e));
}

static void step(struct search_state *c, int steps)
{
    while (steps-- && search_state_wants_step(c))
        search_state_step(c);
}

static void make_good(void)
{
    static const char *const algorithms[] = {"dqn", "enumerate", "anneal"};
    struct err e;

    p = the_problem(STEP_MODEL);
    for (int k = 0; k < 3; k++) {
        struct search_state *c = mem_alloc(sizeof *c);
        char line[64];
        begin(c);
        snprintf(line, sizeof line, "set algorithm %s", algorithms[k]);
        tell(c, line);
        tell(c, "pin w1:0=0");
        tell(c, "run");
        step(c, 7);
        require(!checkpoint_save(c, 0, &good[k], &e));
        search_state_release(c);
        free(c);
    }
}

static void seal(struct rl_bytes *b)
{
    enum { KIND_SEARCH_STATE = 3 };
    rl_bytes_seal(b, KIND_SEARCH_STATE);
}

static void use(struct search_state *c)
{
    struct rl_bytes again;
    struct err e;

    snapshot_release(search_state_snapshot(c));
    tell(c, "run");
    step(c, 5);
    tell(c, "pin w2:1=1");
    tell(c, "undo");
    tell(c, "backtrack @0");
    step(c, 5);
    snapshot_release(search_state_snapshot(c));
    if (!checkpoint_save(c, 0, &again, &e))
        rl_bytes_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct search_state *c = mem_alloc(sizeof *c);
    uint64_t place = 0;
    struct err e;

    if (!p)
        make_good();
    const struct rl_bytes *from = &good[size ? data[0] % 3 : 0];
    struct rl_bytes b = {.data = malloc(from->size), .size = from->size};
    require(b.data);
    memcpy(b.data, from->data, from->size);
    if (size > 3) {
        enum { HEAD = 40 };
        size_t at = HEAD + (data[1] | (size_t)data[2] << 8) % (b.size - HEAD);
        for (size_t n = 3; n < size && at + n - 3 < b.size; n++)
            ((unsigned char *)b.data)[at + n - 3] ^= data[n];
    }
    seal(&b);
    begin(c);
    if (!checkpoint_load(c, &b, &place, &e))
        use(c);
    search_state_release(c);
    free(c);
    rl_bytes_release(&b);
    return 0;
}
