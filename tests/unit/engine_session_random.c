/* Random commands fired at a running session from one thread while another looks: nothing tears,
 * the pins hold in every plan, memory stays bounded. AUTOMAP_COMMANDS sets how many (2000), and
 * AUTOMAP_MODEL on which example (t5-tiny); 100000 on mlp for the thread sanitizer's long run. */
#include "engine/live/checkpoint.h"
#include "engine/live/session.h"
#include "example.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>

static struct problem problem;

static int load(void **state)
{
    const char *asked = getenv("AUTOMAP_MODEL");

    (void)state;
    load_example(asked ? asked : "t5-tiny", EXAMPLE_DEVICES, NULL, &problem);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    problem_release(&problem);
    return 0;
}

/* Lines with at most one number to fill in: a move, or a count. */
static const char *const lines[] = {
    "run",
    "run",
    "run",
    "pause",
    "decide %u",
    "episode %u",
    "pin @%u=0",
    "pin @%u=1",
    "unpin @%u",
    "forbid @%u",
    "backtrack @%u",
    "force 0",
    "force 1",
    "undo",
    "undo",
    "redo",
    "set learning-rate 0.0003",
    "set gamma 0.9",
    "set dueling on",
    "set dueling off",
    "set seed %u",
    "set reward paper",
    "set reward cost",
    "set kind all",
    "set kind opp",
    "set folding off",
    "set memory-limit 1 MB",
    "set memory-limit device",
    "set memory-limit none",
    "batch x2",
    "zero 1",
    "row %u",
    "row %u",
    "set folding on",
    "set propagation weak",
    "set propagation full",
    "set algorithm dqn",
    "set algorithm dqn",
    "set algorithm greedy",
    "set algorithm anneal",
    "set algorithm enumerate",
    "set algorithm random",
    "set algorithm exact",
    "set nothing 1",
    "pin nobody:0=1",
};

static struct live_command random_command(struct rl_rng *rng)
{
    uint32_t n = rl_rng_below(rng, sizeof lines / sizeof *lines);
    struct live_command c;
    struct str line = {0};
    struct err e;

    for (const char *at = lines[n]; *at; at++) {
        if (*at == '%' && at[1] == 'u') {
            str_add_int(&line, rl_rng_below(rng, 9));
            at++;
        } else {
            str_add_char(&line, *at);
        }
    }
    assert_int_equal(live_command_parse(line.text, &c, &e), 0);
    str_release(&line);
    return c;
}

struct watcher {
    struct session *session;
    atomic_bool stop;
    uint64_t looks, wrong, broken;
};

/* Every snapshot is whole: numbers rise, best plans keep the pins in force and are no better than
 * the proven one. */
static void check(const struct snapshot *s, uint64_t *last, struct watcher *w)
{
    w->wrong += s->number < *last;
    *last = s->number;
    for (uint32_t n = 0; n < s->pin_count && s->best; n++)
        w->broken += (s->best->on[s->pins[n].class] >> s->pins[n].axis & 1) != s->pins[n].split;
    if (s->best && s->exact && s->exact->proven && s->exact->fits)
        w->wrong += s->best->score > s->exact->score + 1e-9 * (1 + fabs(s->exact->score));
}

static void *watch(void *argument)
{
    struct watcher *w = argument;
    uint64_t last = 0;

    while (!atomic_load(&w->stop)) {
        struct pollfd news = {.fd = session_fd(w->session), .events = POLLIN};
        (void)poll(&news, 1, 1); /* as a screen does; now and then it looks where nothing is new */
        const struct snapshot *s = session_look(w->session);
        check(s, &last, w);
        snapshot_release(s);
        w->looks++;
    }
    return NULL;
}

static void test_random_commands(void **state)
{
    const char *asked = getenv("AUTOMAP_COMMANDS");
    uint32_t count = asked ? (uint32_t)strtoul(asked, NULL, 10) : 2000;
    struct session_options o = {.search = {.algorithm = SEARCH_DQN, .seed = 1}};
    struct watcher w = {0};
    struct rl_rng rng;
    struct err e;
    pthread_t thread;

    (void)state;
    rl_rng_seed(&rng, 11, 0);
    assert_int_equal(session_new(&problem, &o, &w.session, &e), 0);
    assert_int_equal(pthread_create(&thread, NULL, watch, &w), 0);
    for (uint32_t n = 0; n < count; n++) {
        struct live_command c = random_command(&rng);
        uint64_t ticket = session_send(w.session, &c);
        if (n % 16 == 0) {
            int rc = session_wait(w.session, ticket, 600, &e);
            if (rc && rc != ERR_INPUT && rc != ERR_INFEASIBLE)
                fail_msg("command %u: %s", n, e.what);
        }
    }
    atomic_store(&w.stop, true);
    pthread_join(thread, NULL);
    session_free(w.session);
    assert_true(w.looks > 0);
    assert_int_equal(w.broken, 0);
    assert_int_equal(w.wrong, 0);
}

static bool keeps_pins(const struct search_state *c)
{
    const struct act *a = &c->acts[c->act];
    bool keeps = true;

    for (uint32_t n = 0; n < a->pin_count && c->best; n++) {
        struct game_pin pin = a->pins[n].pin;
        keeps &= (c->best->on[pin.class] >> pin.axis & 1) == pin.split;
    }
    return keeps;
}

/* Where an act is in force again, no plan it was left with beats the best. */
static bool knows_its_best(const struct search_state *c)
{
    const struct live_plan *left = c->acts[c->act].best;

    return !left || (c->best && c->best->score >= left->score - 1e-9 * (1 + fabs(left->score)));
}

/* Pins in force hold in the best plan at once, also where they cost nothing, neither time nor
 * score: some of these are such pins. */
static void test_pins_hold_at_once(void **state)
{
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 1};
    struct search_state *c = mem_alloc(sizeof *c);
    uint32_t returned = 0;
    struct rl_rng rng;
    struct err e;

    (void)state;
    rl_rng_seed(&rng, 5, 0);
    assert_int_equal(search_state_new(&problem, &o, c, &e), 0);
    for (uint32_t n = 0; n < 2000; n++) {
        struct live_command command = random_command(&rng);
        (void)!search_state_apply(c, &command, &e); /* some can not be */
        assert_true(keeps_pins(c));
        assert_true(knows_its_best(c));
        returned += c->acts[c->act].best != NULL;
        for (uint32_t k = 0; k < 20 && search_state_wants_step(c); k++)
            search_state_step(c);
    }
    assert_true(returned > 0);
    search_state_release(c);
    free(c);
}

/* An act that is refused leaves the search as it was: its episodes, its learner. */
static void test_refused_again(void **state)
{
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 1};
    struct search_state *c = mem_alloc(sizeof *c);
    struct live_command command;
    struct err e;

    (void)state;
    assert_int_equal(search_state_new(&problem, &o, c, &e), 0);
    assert_int_equal(live_command_parse("episode 5", &command, &e), 0);
    assert_int_equal(search_state_apply(c, &command, &e), 0);
    while (search_state_wants_step(c))
        search_state_step(c);
    const struct search *search = c->search;
    uint64_t episodes = search_episodes(search);
    assert_int_equal(episodes, 5);
    assert_int_equal(live_command_parse("again candidates paper", &command, &e), 0);
    assert_int_not_equal(search_state_apply(c, &command, &e), 0);
    assert_ptr_equal(c->search, search);
    assert_int_equal(search_episodes(c->search), episodes);
    assert_int_equal(c->run_before.ended, 0);
    search_state_release(c);
    free(c);
}

/* Saved, and gone on with as another state. */
static void change_cores(struct search_state **c, struct search_state **other,
                         const struct search_options *o)
{
    struct rl_bytes bytes;
    struct search_state *to = *other;
    uint64_t place = 0;
    struct err e;

    assert_int_equal(checkpoint_save(*c, 77, &bytes, &e), 0);
    assert_int_equal(search_state_new(&problem, o, to, &e), 0);
    if (checkpoint_load(to, &bytes, &place, &e))
        fail_msg("%s", e.what);
    assert_int_equal(place, 77);
    to->journal = (*c)->journal;
    (*c)->journal = NULL;
    search_state_release(*c);
    *other = *c;
    *c = to;
    rl_bytes_release(&bytes);
}

/* The same random commands at the same steps: the same search, bit for bit, from a journal too, and
 * by way of checkpoints. */
static void test_replayed_commands(void **state)
{
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 2};
    struct str path = {0};
    struct search_state *c = mem_alloc(sizeof *c), *again = mem_alloc(sizeof *again);
    struct journal *j = NULL;
    struct journal_log log;
    struct rl_rng rng;
    struct err e;

    (void)state;
    str_format(&path, "%s/automap-journal-%p", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
               (void *)c);
    remove(path.text);
    assert_int_equal(search_state_new(&problem, &o, c, &e), 0);
    assert_int_equal(journal_create(path.text, &problem, NULL, 0, &j, &e), 0);
    c->journal = j;
    rl_rng_seed(&rng, 3, 0);
    for (uint32_t n = 0; n < 300; n++) {
        struct live_command command = random_command(&rng);
        (void)!search_state_apply(c, &command, &e);
        for (uint32_t k = rl_rng_below(&rng, 40); k && search_state_wants_step(c); k--)
            search_state_step(c);
        if (n % 8 == 7)
            change_cores(&c, &again, &o);
    }
    (void)checkpoint_end_journal(c, &(struct err){0});
    assert_int_equal(journal_read(path.text, &log, &e), 0);
    assert_int_equal(log.good, log.size);
    assert_int_equal(search_state_new(&problem, &o, again, &e), 0);
    int rc = search_state_replay(again, &log, 0, &e);
    if (rc)
        fail_msg("%s", e.what);
    assert_int_equal(again->steps, c->steps);
    assert_int_equal(again->act_number, c->act_number);
    assert_memory_equal(&again->loss, &c->loss, sizeof c->loss);
    if (!search_is_done(c->search)) /* a last look for more moves the game, and is no step */
        assert_int_equal(search_game(again->search)->position, search_game(c->search)->position);
    assert_int_equal(!again->best, !c->best);
    if (c->best)
        assert_int_equal(journal_plan_hash(again->best), journal_plan_hash(c->best));
    journal_log_release(&log);
    search_state_release(again);
    search_state_release(c);
    free(again);
    free(c);
    remove(path.text);
    str_add(&path, ".checkpoint");
    remove(path.text);
    str_release(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pins_hold_at_once),
        cmocka_unit_test(test_refused_again),
        cmocka_unit_test(test_random_commands),
        cmocka_unit_test(test_replayed_commands),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
