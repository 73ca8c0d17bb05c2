/* The past of a search: the state at any point is, bit for bit, that of the run which was stopped
 * there, whether played forwards, backwards or at random; a branch goes on from there as that run
 * does; and a journal that says otherwise is refused. */
#include "engine/live/checkpoint.h"
#include "engine/live/past.h"
#include "example.h"

#include <sys/stat.h>
#include <unistd.h>

static struct problem problem;
static char path[64], branch[128];
static struct journal_log taped;
static const struct search_options options = {.algorithm = SEARCH_DQN, .seed = 5};

/* What is done, at which step of the search. */
static const struct {
    uint64_t step;
    const char *line;
} acts[] = {{0, "set epsilon 0.5"},
            {0, "run"},
            {90, "pin @1=1"},
            {300, "undo"},
            {300, "set double_q off"},
            {411, "cluster servers.*.link.bandwidth=1 GB/s"},
            {500, "backtrack @0"},
            {555, "batch x2"},
            {700, "row 0"},
            {900, "pause"},
            {900, "decide 77"},
            {977, "run"}};
enum { ACTS = sizeof acts / sizeof *acts, END = 1500 };

static void tell(struct search_state *c, const char *line)
{
    struct live_command command;
    struct err e;

    assert_int_equal(live_command_parse(line, &command, &e), 0);
    assert_int_equal(search_state_apply(c, &command, &e), 0);
}

/* The run itself, stopped at `step`; with what was done there. */
static void run_to(struct search_state *c, uint64_t step)
{
    struct err e;

    assert_int_equal(search_state_new(&problem, &options, c, &e), 0);
    for (size_t n = 0;; search_state_step(c)) {
        for (; n < ACTS && acts[n].step <= c->steps; n++)
            tell(c, acts[n].line);
        if (c->steps >= step)
            return;
        assert_true(search_state_wants_step(c));
    }
}

static int tape(void **state)
{
    static char arg[] = "explore";
    char *const args[] = {arg};
    struct search_state *c = mem_alloc(sizeof *c);
    struct err e;

    (void)state;
    load_example("mlp", EXAMPLE_DEVICES, NULL, &problem);
    snprintf(path, sizeof path, "/tmp/automap.past.%ld", (long)getpid());
    snprintf(branch, sizeof branch, "%s.branch", path);
    assert_int_equal(search_state_new(&problem, &options, c, &e), 0);
    assert_int_equal(journal_create(path, &problem, args, 1, &c->journal, &e), 0);
    c->checkpoints_ended = true;
    for (size_t n = 0; c->steps < END; search_state_step(c)) {
        for (; n < ACTS && acts[n].step <= c->steps; n++)
            tell(c, acts[n].line);
    }
    journal_mark(c->journal, c->steps, true);
    journal_close(c->journal);
    c->journal = NULL;
    search_state_release(c);
    free(c);
    assert_int_equal(journal_read(path, &taped, &e), 0);
    return 0;
}

static int untape(void **state)
{
    (void)state;
    unlink(path);
    unlink(branch);
    journal_log_release(&taped);
    problem_release(&problem);
    return 0;
}

/* Everything of the learner and the game: weights, replay, moments, dice. */
static void bytes_of(struct search_state *c, struct rl_bytes *out)
{
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;

    assert_true(search_serialize(c->search, &measure));
    assert_int_equal(rl_bytes_open(out, measure.at, &w), 0);
    assert_true(search_serialize(c->search, &w));
    rl_bytes_seal(out, 1);
}

static void assert_same(struct search_state *a, struct search_state *b)
{
    struct rl_bytes x = {0}, y = {0};

    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->decisions, b->decisions);
    assert_int_equal(a->updates, b->updates);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->act, b->act);
    assert_int_equal(a->act_number, b->act_number);
    assert_int_equal(a->left_decisions, b->left_decisions);
    assert_true(search_state_episodes(a) == search_state_episodes(b));
    assert_memory_equal(&a->loss, &b->loss, sizeof a->loss);
    bytes_of(a, &x);
    bytes_of(b, &y);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    assert_int_equal(!a->best, !b->best);
    assert_true(!a->best || journal_plan_hash(a->best) == journal_plan_hash(b->best));
    assert_int_equal(a->reward.count, b->reward.count);
    assert_memory_equal(a->reward.block->points, b->reward.block->points,
                        a->reward.count * sizeof *a->reward.block->points);
    assert_int_equal(a->loss_curve.count, b->loss_curve.count);
    assert_memory_equal(a->loss_curve.block->points, b->loss_curve.block->points,
                        a->loss_curve.count * sizeof *a->loss_curve.block->points);
    assert_int_equal(a->log.count, b->log.count);
    for (uint32_t n = 0; n < a->log.count; n++)
        assert_string_equal(a->log.block->lines[n].text, b->log.block->lines[n].text);
    assert_int_equal(a->ledger->count, b->ledger->count);
    rl_bytes_release(&x);
    rl_bytes_release(&y);
}

static struct past *open_past(void)
{
    struct past *t = NULL;
    struct err e;

    if (past_new(&problem, &options, &taped, &t, &e))
        fail_msg("%s", e.what);
    return t;
}

static void check_point(struct past *t, uint64_t step)
{
    struct search_state *stopped = mem_alloc(sizeof *stopped), *then = NULL;
    struct err e;

    for (uint64_t calls = 0; !then; calls++) { /* in parts, for a thread that may have to leave */
        if (past_go(t, step, 7, &then, &e))
            fail_msg("%s", e.what);
        assert_true(calls <= step / 7 + 1);
    }
    run_to(stopped, step);
    assert_same(stopped, then);
    search_state_release(stopped);
    free(stopped);
}

static void test_a_point_is_the_run_stopped_there(void **state)
{
    static const uint64_t points[] = {0,   1,   89,  90,  91,  1400, 300, 410, 411,  412, 1,
                                      499, 500, 555, 556, 700, 899,  900, 901, 1500, 976, 977};
    struct past *t = open_past();
    bool done = false;
    struct err e;

    (void)state;
    check_point(t, 120); /* before any survey */
    while (!done)
        assert_int_equal(past_survey(t, 333, &done, &e), 0);
    assert_int_equal(past_last_step(t), END);
    for (size_t n = 0; n < sizeof points / sizeof *points; n++)
        check_point(t, points[n]);
    past_free(t);
}

static void test_events(void **state)
{
    struct past *t = open_past();
    size_t count, episodes, people = 0, best = 0;
    bool done = false;
    struct err e;

    (void)state;
    while (!done)
        assert_int_equal(past_survey(t, 100000, &done, &e), 0);
    const struct past_event *v = past_events(t, &count);
    const uint64_t *ends = past_episodes(t, &episodes);
    for (size_t n = 0; n < count; n++) {
        people += v[n].act > 0;
        best += !v[n].act && !v[n].stage;
        assert_true(!v[n].stage || strstr(v[n].text, "stage 2"));
        assert_true(!n || v[n].step >= v[n - 1].step);
        assert_true(!v[n].act || !strncmp(v[n].text, "you ", 4));
    }
    assert_int_equal(people, 8); /* run, pause and decide change nothing of the problem */
    size_t journaled = 0;
    for (size_t n = 0; n < taped.record_count; n++)
        journaled += taped.records[n].kind == 'b';
    assert_int_equal(best, journaled);
    assert_true(best > 0 && episodes > 10);
    for (size_t n = 1; n < episodes; n++)
        assert_true(ends[n] > ends[n - 1]);
    past_free(t);
}

/* A branch is a journal of its own that ends at the point: resumed, it is that run, and goes on. */
static void test_a_branch_goes_on(void **state)
{
    static const uint64_t points[] = {0, 90, 413, 950, 1500};
    struct search_state *a = mem_alloc(sizeof *a), *b = mem_alloc(sizeof *b);
    struct journal_log log;
    uint64_t parts;
    struct err e;

    (void)state;
    for (size_t n = 0; n < sizeof points / sizeof *points; n++) {
        unlink(branch);
        assert_int_equal(journal_branch(&taped, points[n], branch, &e), 0);
        assert_int_equal(journal_read(branch, &log, &e), 0);
        assert_int_equal(log.good, log.size);
        assert_int_equal(journal_fits(&log, &problem, &e), 0);
        assert_true(journal_parts(&taped, &log, &parts)); /* exactly where it was cut */
        assert_int_equal(parts, points[n]);
        assert_false(journal_parts(&log, &log, &parts)); /* nothing of its own */
        assert_true(journal_starts_as(&log, path));
        log.text[strlen(log.text) - 1]++;
        assert_false(journal_starts_as(&log, path));
        log.text[strlen(log.text) - 1]--;
        assert_false(journal_starts_as(&log, "/nowhere/at/all"));
        log.classes++;
        assert_false(journal_parts(&taped, &log, &parts));
        log.classes--;
        assert_int_equal(search_state_new(&problem, &options, b, &e), 0);
        if (search_state_replay(b, &log, 0, &e))
            fail_msg("%s", e.what);
        run_to(a, points[n]);
        tell(a, "pause");
        assert_same(a, b);
        tell(a, "pin @2=1");
        tell(b, "pin @2=1");
        tell(a, "decide 200");
        tell(b, "decide 200");
        for (int k = 0; k < 200 && search_state_wants_step(a); k++) {
            search_state_step(a);
            search_state_step(b);
        }
        assert_same(a, b);
        search_state_release(a);
        search_state_release(b);
        journal_log_release(&log);
    }
    assert_int_equal(journal_branch(&taped, 5, branch, &e), ERR_IO); /* it exists */
    free(a);
    free(b);
}

static void test_another_way_is_said(void **state)
{
    struct past *t = open_past();
    struct search_state *c;
    uint64_t was = 0;
    size_t at = 0;
    bool done = false;
    struct err e;

    (void)state;
    while (taped.records[at].kind != 'b')
        at++;
    was = taped.records[at].plan;
    taped.records[at].plan ^= 1;
    assert_int_equal(past_go(t, END, UINT64_MAX, &c, &e), ERR_INPUT);
    assert_int_equal(past_survey(t, UINT64_MAX, &done, &e), ERR_INPUT);
    taped.records[at].plan = was;
    past_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_point_is_the_run_stopped_there),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_a_branch_goes_on),
        cmocka_unit_test(test_another_way_is_said),
    };
    return cmocka_run_group_tests(tests, tape, untape);
}
