/* The ledger: a tree of all a person tried. Every row's figures are those of a problem that was
 * opened so, solved anew; going back makes no row and gives the row's problem and pins back. */
#include "engine/live/checkpoint.h"
#include "engine/live/ledger.h"
#include "engine/live/search_state.h"
#include "example.h"

#include <math.h>
#include <string.h>

static struct problem problem;
static struct search_state state;

static int setup(void **s)
{
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 3};
    struct err e;

    (void)s;
    load_example("t5-tiny", EXAMPLE_DEVICES, NULL, &problem);
    assert_int_equal(search_state_new(&problem, &o, &state, &e), 0);
    return 0;
}

static int teardown(void **s)
{
    (void)s;
    search_state_release(&state);
    problem_release(&problem);
    return 0;
}

static int tell(const char *line)
{
    struct live_command c;
    struct err e;

    assert_int_equal(live_command_parse(line, &c, &e), 0);
    return search_state_apply(&state, &c, &e);
}

static const struct ledger_row *row(uint32_t number)
{
    const struct ledger_row *r = ledger_find(state.ledger, number);

    assert_non_null(r);
    return r;
}

/* The optimum of a problem opened with other figures, by a search of its own. */
static double opened(const char *cluster_figure, int64_t batch, uint32_t micro, const char *pin,
                     double *memory)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options po = {.batch_size = batch, .micro_batches = micro};
    struct search_options o = {.algorithm = SEARCH_DQN};
    struct search_state *c = mem_alloc(sizeof *c);
    struct err e;

    load_example("t5-tiny", EXAMPLE_DEVICES, &po, p);
    if (cluster_figure) {
        struct cluster changed = p->cluster;
        assert_int_equal(cluster_set_text(&changed, cluster_figure, &e), 0);
        assert_int_equal(problem_set_cluster(p, &changed, "", &e), 0);
    }
    assert_int_equal(search_state_new(p, &o, c, &e), 0);
    if (pin) {
        struct live_command command;
        assert_int_equal(live_command_parse(pin, &command, &e), 0);
        assert_int_equal(search_state_apply(c, &command, &e), 0);
    }
    assert_non_null(c->exact);
    double ms = c->exact->cost.step_ms;
    double *scratch = memory_scratch(&p->memory);
    *memory = memory_of(&p->memory, &p->labels, c->exact->on, scratch).peak;
    free(scratch);
    search_state_release(c);
    problem_release(p);
    free(c);
    free(p);
    return ms;
}

static void assert_row(uint32_t number, uint32_t from, const char *figure, int64_t batch,
                       uint32_t micro, const char *pin)
{
    const struct ledger_row *r = row(number);
    double memory, ms = opened(figure, batch, micro, pin, &memory);

    assert_int_equal(r->from, from);
    assert_true(ledger_has_plan(r));
    assert_true(r->optimum->proven);
    assert_true(fabs(r->figures.cost.step_ms - ms) <= 1e-9 * ms);
    assert_true(fabs(r->figures.memory.peak - memory) <= 1e-9 * memory);
}

static const char *const LINK = "servers.*.link.bandwidth=1 GB/s";

static void test_rows_are_problems_opened_so(void **s)
{
    int64_t batch = problem_batch_size(&problem);

    (void)s;
    assert_true(batch > 1);
    assert_int_equal(state.ledger->count, 1);
    assert_int_equal(tell("cluster servers.*.link.bandwidth=1 GB/s"), 0); /* 1, from 0 */
    assert_int_equal(tell("row 0"), 0);
    assert_ptr_equal(state.problem, &problem);
    assert_int_equal(tell("batch x2"), 0);        /* 2, from 0 */
    assert_int_equal(tell("micro-batches 2"), 0); /* 3, from 2 */
    assert_int_equal(tell("row 0"), 0);
    assert_int_equal(tell("pin @0=1"), 0); /* 4, from 0 */
    assert_int_equal(tell("row 1"), 0);
    assert_int_equal(tell("pin @0=1"), 0); /* 5, from 1 */
    assert_int_equal(state.ledger->count, 6);
    assert_row(0, 0, NULL, 0, 1, NULL);
    assert_row(1, 0, LINK, 0, 1, NULL);
    assert_row(2, 0, NULL, 2 * batch, 1, NULL);
    assert_row(3, 2, NULL, 2 * batch, 2, NULL);
    assert_row(4, 0, NULL, 0, 1, "pin @0=1");
    assert_row(5, 1, LINK, 0, 1, "pin @0=1");
    assert_int_equal(row(5)->pins, row(4)->pins);
    assert_true(row(4)->pins > 0);
}

static void test_batch_in_every_spelling(void **s)
{
    int64_t batch = problem_batch_size(&problem);
    char line[64];

    (void)s;
    assert_int_equal(tell("batch x2"), 0);
    assert_int_equal(problem_batch_size(state.problem), 2 * batch);
    assert_int_equal(tell("batch /2"), 0);
    assert_int_equal(problem_batch_size(state.problem), batch);
    assert_true(row(2)->figures.cost.step_ms == row(0)->figures.cost.step_ms);
    snprintf(line, sizeof line, "batch %lld", (long long)(3 * batch));
    assert_int_equal(tell(line), 0);
    assert_int_equal(problem_batch_size(state.problem), 3 * batch);
    assert_int_equal(tell(line), ERR_INPUT); /* it is so already */
    assert_int_equal(tell("batch x0"), ERR_INPUT);
    assert_int_equal(tell("batch x1048576"), ERR_INPUT); /* more samples than there may be */
    assert_int_equal(tell("batch /1000003"), ERR_INPUT);
    assert_int_equal(tell("batch 99999999999999999999"), ERR_INPUT);
    assert_int_equal(state.ledger->count, 4); /* what is refused makes no row */
}

/* Undo and redo walk the tree; a new act leaves the undone ones in it. */
static void test_nothing_is_lost(void **s)
{
    (void)s;
    assert_int_equal(tell("pin @0=1"), 0);
    assert_int_equal(tell("pin @1=0"), 0);
    assert_int_equal(tell("undo"), 0);
    assert_int_equal(state.acts[state.act].row, 1);
    assert_int_equal(tell("pin @2=0"), 0); /* 3, from 1: row 2 stays */
    assert_int_equal(row(3)->from, 1);
    assert_int_equal(row(2)->from, 1);
    assert_int_equal(tell("redo"), ERR_INPUT);
    assert_int_equal(tell("row 2"), 0);
    assert_int_equal(tell("undo"), 0);
    assert_int_equal(tell("redo"), 0);
    assert_int_equal(state.acts[state.act].row, 2); /* redo goes back the way undo came */
    assert_int_equal(tell("row 9"), ERR_INPUT);
    assert_int_equal(tell("row 2"), ERR_INPUT);
    assert_int_equal(state.ledger->count, 4);
}

/* A row without a plan is held over: the next is against the last that has one. */
static void test_before_a_row(void **s)
{
    (void)s;
    assert_int_equal(tell("set memory-limit 1 MB"), 0);
    assert_false(ledger_has_plan(row(1)));
    assert_true(row(1)->optimum->proven);
    assert_int_equal(tell("set memory-limit none"), 0);
    assert_int_equal(row(2)->from, 1);
    assert_int_equal(ledger_before(state.ledger, row(2))->number, 0);
    assert_null(ledger_before(state.ledger, row(0)));
}

/* More acts than are kept: the tree stays one, and the act in force stays. */
static void test_oldest_rows_are_forgotten(void **s)
{
    char line[64];

    (void)s;
    assert_int_equal(tell("pin @0=1"), 0);
    for (int n = 0; n < 1100; n++) {
        snprintf(line, sizeof line, "backtrack @%d", n % 2);
        assert_int_equal(tell(line), 0);
        if (n % 7 == 0)
            assert_int_equal(tell("undo"), 0);
    }
    const struct ledger *l = state.ledger;
    assert_int_equal(l->count, 1024);
    assert_int_equal(l->rows[0].number, 0);
    assert_int_equal(l->rows[l->count - 1].number, 1101);
    for (uint32_t n = 1; n < l->count; n++) {
        assert_true(l->rows[n].number > l->rows[n - 1].number);
        assert_non_null(ledger_find(l, l->rows[n].from));
        assert_true(l->rows[n].from < l->rows[n].number);
    }
    assert_int_equal(l->rows[l->now].number, state.acts[state.act].row);
    assert_int_equal(tell("row 0"), 0);
}

static void test_checkpoint_keeps_it(void **s)
{
    struct search_options o = {.algorithm = SEARCH_DQN, .seed = 3};
    struct search_state *again = mem_alloc(sizeof *again);
    struct rl_bytes bytes = {0};
    uint64_t place = 0;
    struct err e;

    (void)s;
    assert_int_equal(tell("batch x2"), 0);
    assert_int_equal(tell("pin @1=1"), 0);
    assert_int_equal(tell("row 0"), 0);
    assert_int_equal(checkpoint_save(&state, 0, &bytes, &e), 0);
    assert_int_equal(search_state_new(&problem, &o, again, &e), 0);
    assert_int_equal(checkpoint_load(again, &bytes, &place, &e), 0);
    assert_int_equal(again->ledger->count, 3);
    assert_int_equal(again->ledger->now, 0);
    for (uint32_t n = 0; n < 3; n++) {
        const struct ledger_row *a = &state.ledger->rows[n], *b = &again->ledger->rows[n];
        assert_int_equal(a->number, b->number);
        assert_int_equal(a->from, b->from);
        assert_int_equal(a->verb, b->verb);
        assert_int_equal(a->about, b->about);
        assert_string_equal(a->text, b->text);
        assert_memory_equal(&a->figures.cost, &b->figures.cost, sizeof a->figures.cost);
        assert_true(a->figures.memory.peak == b->figures.memory.peak);
    }
    rl_bytes_release(&bytes);
    search_state_release(again);
    free(again);
}

/* Pins cost what the optimum under them is above the one before them; after another edit of the
 * problem, or without pins, nobody knows. */
static void test_what_pins_cost(void **s)
{
    (void)s;
    assert_true(isnan(ledger_pins_cost(state.ledger)));
    double free_ms = row(0)->figures.cost.step_ms, most = 0;
    for (int n = 0; n < 4; n++) {
        char pin[24];
        for (int split = 0; split < 2; split++) {
            snprintf(pin, sizeof pin, "pin @%d=%d", n, split);
            if (tell(pin))
                continue;
            const struct ledger_row *now = &state.ledger->rows[state.ledger->now];
            double cost = ledger_pins_cost(state.ledger);
            assert_true(cost == now->figures.cost.step_ms - free_ms && cost > -1e-9 * free_ms);
            most = fmax(most, cost);
            assert_int_equal(tell("row 0"), 0);
        }
    }
    assert_true(most > 0);
    assert_int_equal(tell("pin @0=1"), 0);
    assert_int_equal(tell("pin @1=0"), 0);
    assert_true(!isnan(ledger_pins_cost(state.ledger)));
    assert_int_equal(tell("batch x2"), 0); /* whose optimum without pins was never looked for */
    assert_true(isnan(ledger_pins_cost(state.ledger)));
    assert_int_equal(tell("unpin @0"), 0);
    assert_int_equal(tell("unpin @1"), 0);
    assert_int_equal(tell("pin @0=1"), 0);
    assert_true(!isnan(ledger_pins_cost(state.ledger)));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_rows_are_problems_opened_so),
        TEST(test_batch_in_every_spelling),
        TEST(test_nothing_is_lost),
        TEST(test_before_a_row),
        TEST(test_what_pins_cost),
        TEST(test_oldest_rows_are_forgotten),
        TEST(test_checkpoint_keeps_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
