#include "rl/save.h"

#include "rl/agent_state.h"
#include "rl/mem.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { VERSION = 1, KIND_AGENT = 1, KIND_RUN = 2, ORDER = 0x01020304 };

struct head {
    char magic[8];
    uint32_t order, version, kind, unused;
    uint64_t size, checksum;
};

/* One walk over a learner measures, writes or reads it: the order of the walk is the format. */
enum pass { MEASURE, WRITE, READ };
struct walk {
    enum pass pass;
    unsigned char *data;
    size_t size, at;
    bool failed; /* READ: past the end */
};

static void block(struct walk *w, void *p, size_t size)
{
    if (w->pass != MEASURE && size > w->size - w->at)
        w->failed = true;
    if (w->failed)
        return;
    if (w->pass == WRITE)
        memcpy(w->data + w->at, p, size);
    else if (w->pass == READ)
        memcpy(p, w->data + w->at, size);
    w->at += size;
}

#define ONE(w, lvalue) block(w, &(lvalue), sizeof(lvalue))
#define MANY(w, pointer, count) block(w, pointer, (size_t)(count) * sizeof *(pointer))

static void walk_settings(struct walk *w, struct rl_settings *s)
{
    static const size_t sizes[] = {
        [RL_KIND_WIDTHS] = sizeof s->hidden,
        [RL_KIND_COUNT] = sizeof(uint32_t),
        [RL_KIND_REAL] = sizeof(double),
    };

    for (const struct rl_setting *row = rl_setting_table; row->name; row++) {
        unsigned char *at = (unsigned char *)s + row->offset;
        if (row->kind == RL_KIND_SWITCH) { /* any other byte than 0 and 1 is no bool */
            unsigned char on = w->pass == WRITE && *(bool *)at;
            ONE(w, on);
            if (w->pass == READ)
                *(bool *)at = on != 0;
        } else {
            block(w, at, sizes[row->kind]);
        }
    }
}

static void walk_plan(struct walk *w, struct rl_agent *a)
{
    ONE(w, a->shape.observation_size);
    ONE(w, a->shape.action_count);
    ONE(w, a->shape.context_count);
    walk_settings(w, &a->settings);
}

static void walk_learner(struct walk *w, struct rl_learner *l)
{
    MANY(w, l->online, l->net.parameters);
    MANY(w, l->target, l->net.parameters);
    MANY(w, l->adam.mean, l->net.parameters);
    MANY(w, l->adam.square, l->net.parameters);
    ONE(w, l->adam.step);
    ONE(w, l->since_copy);
}

/* count and head come first, so that the reader knows how much follows. */
static void walk_replay(struct walk *w, struct rl_replay *r)
{
    size_t floats = (size_t)r->count * r->observation_size;

    MANY(w, r->observation, floats);
    MANY(w, r->next, floats);
    MANY(w, r->legal, r->count);
    MANY(w, r->next_legal, r->count);
    MANY(w, r->action, r->count);
    MANY(w, r->drawn, r->count);
    MANY(w, r->reward, r->count);
    MANY(w, r->end, r->count);
    MANY(w, r->priority, r->count);
    ONE(w, r->largest);
}

static void walk_rest(struct walk *w, struct rl_agent *a)
{
    ONE(w, a->act.s);
    ONE(w, a->draw.s);
    ONE(w, a->decisions);
    ONE(w, a->explored);
    ONE(w, a->episodes);
    ONE(w, a->epsilon_origin);
    ONE(w, a->held_epsilon);
    ONE(w, a->last);
    MANY(w, a->visits, (size_t)a->shape.context_count * a->shape.action_count);
}

static void walk_agent(struct walk *w, struct rl_agent *a)
{
    walk_plan(w, a);
    ONE(w, a->replay.count);
    ONE(w, a->replay.head);
    walk_learner(w, &a->learner);
    walk_replay(w, &a->replay);
    walk_rest(w, a);
}

static uint64_t checksum(const unsigned char *data, size_t size)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < size; i++)
        h = (h ^ data[i]) * 0x100000001b3u;
    return h;
}

void rl_bytes_release(struct rl_bytes *b)
{
    free(b->data);
    *b = (struct rl_bytes){0};
}

/* Room for a head and a body; the body's place through *body. */
static int open_body(struct rl_bytes *out, size_t size, unsigned char **body)
{
    *out = (struct rl_bytes){.size = sizeof(struct head) + size};
    out->data = rl_alloc(out->size, 1);
    if (!out->data) {
        *out = (struct rl_bytes){0};
        return RL_E_MEMORY;
    }
    *body = (unsigned char *)out->data + sizeof(struct head);
    return RL_OK;
}

static void seal(struct rl_bytes *out, uint32_t kind)
{
    unsigned char *body = (unsigned char *)out->data + sizeof(struct head);
    size_t size = out->size - sizeof(struct head);
    struct head h = {.order = ORDER, .version = VERSION, .kind = kind, .size = size};

    memcpy(h.magic, "automap\n", sizeof h.magic);
    h.checksum = checksum(body, size);
    memcpy(out->data, &h, sizeof h);
}

static int check_head(const void *data, size_t size, uint32_t kind)
{
    struct head h;

    if (size < sizeof h)
        return RL_E_FORMAT;
    memcpy(&h, data, sizeof h);
    if (memcmp(h.magic, "automap\n", sizeof h.magic) != 0)
        return RL_E_FORMAT;
    if (h.order != ORDER || h.version != VERSION)
        return RL_E_VERSION;
    if (h.kind != kind || h.size != size - sizeof h ||
        h.checksum != checksum((const unsigned char *)data + sizeof h, h.size))
        return RL_E_FORMAT;
    return RL_OK;
}

/* The walk takes pointers it may write through; measuring and writing it does not. */
static struct rl_agent *unlocked(const struct rl_agent *a)
{
    return (struct rl_agent *)(uintptr_t)a;
}

int rl_agent_save(const struct rl_agent *a, struct rl_bytes *out)
{
    struct walk measure = {.pass = MEASURE};

    walk_agent(&measure, unlocked(a));
    struct walk w = {.pass = WRITE, .size = measure.at};
    int code = open_body(out, w.size, &w.data);
    if (code)
        return code;
    walk_agent(&w, unlocked(a));
    seal(out, KIND_AGENT);
    return RL_OK;
}

static bool row_is_sound(const struct rl_replay *r, uint32_t i)
{
    uint64_t all = rl_all_actions(r->action_count);

    return r->action[i] < r->action_count && r->legal[i] >> r->action[i] & 1 &&
           !(r->legal[i] & ~all) && !(r->next_legal[i] & ~all) && r->end[i] <= RL_TRUNCATED &&
           isfinite(r->reward[i]) && isfinite(r->priority[i]) && r->priority[i] > 0;
}

static bool is_sound(const struct rl_agent *a)
{
    const struct rl_learner *l = &a->learner;

    for (size_t i = 0; i < l->net.parameters; i++) {
        if (!isfinite(l->online[i]) || !isfinite(l->target[i]) || !isfinite(l->adam.mean[i]) ||
            !(l->adam.square[i] >= 0))
            return false;
    }
    for (uint32_t i = 0; i < a->replay.count; i++) {
        if (!row_is_sound(&a->replay, i))
            return false;
    }
    return isfinite(a->replay.largest) && a->replay.largest > 0 && a->held_epsilon <= 1 &&
           a->epsilon_origin <= a->decisions;
}

/* Whether the rest of the walk can hold what the plan promises, before memory is taken for it. */
static bool may_hold(const struct walk *w, const struct rl_agent *plan)
{
    struct rl_net net;

    if (rl_settings_check(&plan->settings, NULL) ||
        rl_net_init(&net, plan->shape.observation_size, plan->settings.hidden,
                    plan->shape.action_count))
        return false;
    uint64_t words = 4 * net.parameters + 2 * (uint64_t)plan->replay.count * net.width[0] +
                     (uint64_t)plan->shape.context_count * plan->shape.action_count;
    return words * 4 <= w->size - w->at;
}

/* What the file says of shapes and sizes, checked; then an agent to match. */
static int build_from(struct walk *w, struct rl_agent **out, struct rl_agent *plan)
{
    walk_plan(w, plan);
    ONE(w, plan->replay.count);
    ONE(w, plan->replay.head);
    uint32_t capacity = plan->settings.replay_capacity, count = plan->replay.count;
    if (w->failed || !plan->shape.context_count || count > capacity || !may_hold(w, plan) ||
        plan->replay.head != (count < capacity ? count : plan->replay.head % capacity))
        return RL_E_FORMAT;
    int code = rl_agent_new(out, &plan->shape, &plan->settings, 0);
    return code == RL_E_SHAPE || code == RL_E_SETTING ? RL_E_FORMAT : code;
}

int rl_agent_load(struct rl_agent **out, const void *data, size_t size)
{
    struct rl_agent plan = {0};

    *out = NULL;
    int code = check_head(data, size, KIND_AGENT);
    if (code)
        return code;
    struct walk w = {.pass = READ,
                     .data = (unsigned char *)(uintptr_t)data + sizeof(struct head),
                     .size = size - sizeof(struct head)};
    struct rl_agent *a;
    code = build_from(&w, &a, &plan);
    if (code)
        return code;
    a->replay.count = plan.replay.count;
    a->replay.head = plan.replay.head % a->replay.capacity;
    walk_learner(&w, &a->learner);
    walk_replay(&w, &a->replay);
    walk_rest(&w, a);
    if (w.failed || w.at != w.size || !is_sound(a)) {
        rl_agent_free(a);
        return RL_E_FORMAT;
    }
    a->replay.treed = false; /* the tree is a function of the priorities */
    rl_replay_follow(&a->replay, &a->settings);
    *out = a;
    return RL_OK;
}

static void walk_run(struct walk *w, struct rl_run *r)
{
    uint64_t state = r->env.state_size;

    ONE(w, state);
    if (w->pass == READ && state != r->env.state_size)
        w->failed = true;
    unsigned char playing = r->playing;
    ONE(w, playing);
    r->playing = playing != 0;
    ONE(w, r->rng.s);
    MANY(w, r->now, r->env.observation_size);
    ONE(w, r->legal);
    ONE(w, r->context);
    ONE(w, r->length);
    ONE(w, r->reward_sum);
    block(w, r->env.state, r->env.state_size);
}

int rl_run_save(const struct rl_run *r, struct rl_bytes *out)
{
    struct walk measure = {.pass = MEASURE};
    struct rl_bytes agent;
    struct rl_run copy = *r;

    if (r->playing && !r->env.state)
        return RL_E_SHAPE;
    int code = rl_agent_save(r->agent, &agent);
    if (code)
        return code;
    walk_run(&measure, &copy);
    struct walk w = {.pass = WRITE, .size = measure.at};
    code = open_body(out, w.size + agent.size, &w.data);
    if (!code) {
        walk_run(&w, &copy);
        memcpy(w.data + w.at, agent.data, agent.size);
        seal(out, KIND_RUN);
    }
    rl_bytes_release(&agent);
    return code;
}

int rl_run_load(struct rl_run *r, const void *data, size_t size)
{
    int code = check_head(data, size, KIND_RUN);
    struct walk measure = {.pass = MEASURE};
    struct rl_agent *a;
    struct rl_run trial = *r;

    if (code)
        return code;
    struct walk w = {.pass = READ,
                     .data = (unsigned char *)(uintptr_t)data + sizeof(struct head),
                     .size = size - sizeof(struct head)};
    walk_run(&measure, &trial);
    if (measure.at > w.size)
        return RL_E_FORMAT;
    code = rl_agent_load(&a, w.data + measure.at, w.size - measure.at);
    if (code)
        return code;
    const struct rl_shape *shape = rl_agent_shape(a);
    uint64_t state = 0;
    memcpy(&state, w.data, sizeof state);
    if (state != r->env.state_size || shape->observation_size != r->env.observation_size ||
        shape->action_count != r->env.action_count) {
        rl_agent_free(a);
        return RL_E_SHAPE;
    }
    walk_run(&w, r);
    r->agent = a;
    return RL_OK;
}

static int write_all(const char *path, const struct rl_bytes *b)
{
    FILE *f = fopen(path, "wb");

    if (!f)
        return RL_E_IO;
    bool ok = fwrite(b->data, 1, b->size, f) == b->size && !fflush(f) && !fsync(fileno(f));
    int why = errno;
    if (fclose(f) && ok) {
        ok = false;
        why = errno;
    }
    errno = why;
    return ok ? RL_OK : RL_E_IO;
}

int rl_bytes_write(const struct rl_bytes *b, const char *path)
{
    size_t size = strlen(path) + 8;
    char *beside = rl_alloc(size, 1);

    if (!beside)
        return RL_E_MEMORY;
    snprintf(beside, size, "%s.new", path);
    int code = write_all(beside, b);
    if (!code && rename(beside, path))
        code = RL_E_IO;
    int why = errno;
    if (code)
        remove(beside);
    free(beside);
    errno = why;
    return code;
}

static int read_all(FILE *f, struct rl_bytes *b)
{
    if (fseeko(f, 0, SEEK_END))
        return RL_E_IO;
    off_t size = ftello(f);
    if (size < 0 || fseeko(f, 0, SEEK_SET))
        return RL_E_IO;
    if ((uint64_t)size > (uint64_t)4 << 30)
        return RL_E_FORMAT;
    b->data = rl_alloc((size_t)size, 1);
    if (!b->data)
        return RL_E_MEMORY;
    b->size = fread(b->data, 1, (size_t)size, f);
    return b->size == (size_t)size ? RL_OK : RL_E_IO;
}

int rl_bytes_read(struct rl_bytes *b, const char *path)
{
    FILE *f = fopen(path, "rb");

    *b = (struct rl_bytes){0};
    if (!f)
        return RL_E_IO;
    int code = read_all(f, b), why = errno;
    fclose(f);
    errno = why;
    if (code)
        rl_bytes_release(b);
    return code;
}
