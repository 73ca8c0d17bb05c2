/* What answers to "why" say, held against what they speak of: memory against the ranges at that
 * moment, collectives against those of the plan, a stage against its figures, prices under a memory
 * limit against the limit. */
#include "engine/text/units.h"
#include "explorer.h"
#include "tui/watch/answer.h"
#include "tui/watch/ledger_text.h"
#include "tui/watch/memory_look.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/question.h"
#include "tui/watch/stage_shares.h"
#include "tui/watch/why_of.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODELS AUTOMAP_SOURCE_DIR "/examples/models/"

static const char *screen(struct app *app, const char *keys, struct str *out)
{
    explorer_type(app, keys);
    return explorer_text(app, out);
}

static void tell(struct app *app, const char *line)
{
    struct err e = {0};

    if (app_tell(app, line, &e))
        fail_msg("%s: %s", line, e.what);
}

/* ---- memory ---- */

/* A group is asked about as a group, with its count and its bytes; a value of it alone has its own.
 */
static void test_memory_is_of_all_it_names(void **state)
{
    (void)state;
    struct app *app = explorer_open(MODELS "t5-base6.hlo.txt.gz", "v100-1x4", 120, 40);
    static struct memory_value values[4096];
    struct answer a = {0};
    struct memory_curve c;
    struct memory_group *groups;
    char words[64], bytes[UNITS_ROOM], count[UNITS_ROOM];
    size_t held;
    double inner;
    struct err e;

    tell(app, "episode 5");
    const struct watch *w = app_watch(app);
    assert_int_equal(memory_curve_make(w, w->best, &c, &e), 0);
    assert_int_equal(memory_groups(w, &c, c.peak, &groups, &held, &inner, &e), 0);
    for (size_t n = 0; n < held; n++) {
        const struct memory_group *g = &groups[n];
        struct question q = {.kind = QUESTION_MEMORY, .value = g->value, .position = c.peak};
        struct memory_holding h;
        if (g->count < 2)
            continue;
        assert_int_equal(
            memory_holding_of(w, w->best->on, c.peak, g->value, false, STORED_AS_USED, &h, &e), 0);
        assert_true(fabs(h.total - c.total[c.peak]) < 1 && fabs(h.peak - h.total) < 1);
        uint32_t all = memory_group_values(w, &c, c.peak, g, values, 4096);
        answer_clear(&a);
        answer_memory(&a, w, w->best->on, &q);
        const char *said = answer_cell(&a, &a.rows[0], 0);
        snprintf(words, sizeof words, "%s values", units_count(count, h.group.count));
        assert_non_null(strstr(said, words));
        snprintf(words, sizeof words, " %s of the peak's ", units_bytes(bytes, h.group.bytes));
        assert_non_null(strstr(said, words));
        if (h.group.kind != g->kind || h.group.count != g->count)
            continue; /* a value with buffers in two groups stands for the first */
        assert_true(fabs(h.group.bytes - g->bytes) < 1);
        assert_int_equal(all, h.group.count);
        q.value = values[all - 1].value;
        q.storing = values[all - 1].storing;
        q.alone = true;
        answer_clear(&a);
        answer_memory(&a, w, w->best->on, &q);
        snprintf(words, sizeof words, " holds %s of the peak's ",
                 units_bytes(bytes, values[all - 1].bytes));
        assert_non_null(strstr(answer_cell(&a, &a.rows[0], 0), words));
    }
    free(groups);
    memory_curve_release(&c);
    answer_release(&a);
    app_free(app);
}

/* ---- a stage ---- */

/* The all-reduce of a stage is what its row in V i says, the shared part among it and named. */
static void test_a_stage_shares(void **state)
{
    (void)state;
    struct app *app = explorer_open(MODELS "t5-base6.hlo.txt.gz", "c-4x8-v100", 160, 50);
    struct answer a = {0};
    struct str out = {0};
    struct pipeline_plan plan;
    char ms[UNITS_ROOM], text[600];
    int shared = 0;

    screen(app, "Vi", &out);
    const struct watch *w = app_watch(app);
    const struct pipeline *l = why_of_pipeline(w, &plan);
    assert_true(l && l->all.ties > 0);
    plan.plan = pipe_plan_whole(&l->all); /* two stages, whatever was found */
    assert_string_equal(stage_shares_text(l, &plan.plan, 0, text, sizeof text), "");
    plan.plan.stages = 2;
    plan.plan.pivot[2] = plan.plan.pivot[1];
    plan.plan.device[2] = plan.plan.device[1];
    plan.plan.pivot[1] = l->all.points / 2;
    plan.plan.device[1] = l->all.devices / 2;
    pipeline_price(l, &plan.plan, &plan);
    for (uint32_t stage = 0; stage < 2; stage++) {
        struct pipe_stage s = pipe_stage_of(&l->all, &plan.plan, stage);
        answer_clear(&a);
        answer_stage(&a, w, l, &plan, stage);
        for (size_t n = 1; n < a.count; n++) {
            if (a.rows[n].kind == ANSWER_ROW && a.rows[n - 1].kind == ANSWER_TITLES &&
                !strcmp(answer_cell(&a, &a.rows[n - 1], 2), ">all-reduce"))
                assert_string_equal(answer_cell(&a, &a.rows[n], 2),
                                    units_ms(ms, s.all_reduce_ms + s.sync_ms));
        }
        stage_shares_text(l, &plan.plan, stage, text, sizeof text);
        assert_int_equal(text[0] != 0, s.sync_ms > 0);
        if (!text[0])
            continue;
        units_ms(ms, s.sync_ms);
        assert_int_equal(strncmp(text, ms, strlen(ms)), 0);
        assert_non_null(strstr(text, stage ? "which stage 0 has too" : "which stage 1 has too"));
        assert_non_null(strstr(text, "embedding"));
        shared++;
    }
    assert_int_equal(shared, 2);
    answer_release(&a);
    str_release(&out);
    app_free(app);
}

/* ---- the relaxed plan ---- */

/* A use that asks for another split than it finds either cuts it out of that, which is said, or is
 * one that something is sent for. */
static void test_uses_that_cut(void **state)
{
    (void)state;
    struct app *app = explorer_open(MODELS "t5-base6.hlo.txt.gz", "v100-1x4", 120, 40);
    struct answer a = {0};
    struct str out = {0}, held = {0};
    uint32_t cuts = 0;

    screen(app, "Vs", &out);
    const struct watch *w = app_watch(app);
    const struct relaxed_plan *x = why_of_relaxed(w);
    assert_non_null(x);
    for (hlo_value v = 0; v < w->problem->m->value_count; v++) {
        if (x->origin[v] != v)
            continue;
        answer_clear(&a);
        answer_relaxed_value(&a, w, x, v);
        bool asks = false, sends = false, said = false;
        str_clear(&held);
        status_write(hlo_value_shape(w->problem->m, v), &w->problem->mesh, x->held[v], &held);
        for (size_t n = 0; n < a.count; n++) {
            if (a.rows[n].kind == ANSWER_SENTENCE)
                said |= strstr(answer_cell(&a, &a.rows[n], 0), "which sends nothing") != NULL;
            if (a.rows[n].kind == ANSWER_ROW && a.rows[n].cells == 4)
                asks |= strcmp(answer_cell(&a, &a.rows[n], 1), held.text) != 0;
        }
        for (uint32_t n = 0; n < x->reshard_count; n++)
            sends |= x->reshards[n].value == v;
        assert_true(!asks || said || sends);
        assert_true(!said || asks);
        cuts += said;
    }
    assert_true(cuts > 0);
    answer_release(&a);
    str_release(&held);
    str_release(&out);
    app_free(app);
}

/* ---- plans and rows ---- */

static void test_everything_whole_stands_once(void **state)
{
    (void)state;
    struct app *app = explorer_open(MODELS "mlp.hlo.txt.gz", NULL, 120, 40);
    struct str out = {0};

    assert_true(plan_load_has_whole(app_watch(app)));
    assert_non_null(strstr(screen(app, "Vp", &out), "baseline"));
    assert_null(strstr(out.text, "everything whole"));
    screen(app, "\033", &out);
    tell(app, "pin @0=1"); /* the baseline splits that much */
    assert_false(plan_load_has_whole(app_watch(app)));
    assert_non_null(strstr(screen(app, "Vp", &out), "everything whole"));
    str_release(&out);
    app_free(app);
}

static void test_steps_of_other_work(void **state)
{
    (void)state;
    struct app *app = explorer_open(MODELS "t5-tiny.hlo.txt.gz", "v100-1x4", 120, 40);
    char text[320], want[96], ms[UNITS_ROOM];

    tell(app, "batch x2");
    const struct ledger *l = app_watch(app)->shot->ledger;
    double batch = (double)problem_batch_size(l->rows[0].problem);
    ledger_sentence(&l->rows[0], &l->rows[1], text, sizeof text);
    snprintf(want, sizeof want, "Row 1 takes %.0f samples a step, row 0 %.0f: a sample takes %s ",
             2 * batch, batch, units_ms(ms, l->rows[1].figures.cost.step_ms / (2 * batch)));
    assert_int_equal(strncmp(text, want, strlen(want)), 0);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_of_all_it_names),
        cmocka_unit_test(test_a_stage_shares),
        cmocka_unit_test(test_uses_that_cut),
        cmocka_unit_test(test_everything_whole_stands_once),
        cmocka_unit_test(test_steps_of_other_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
