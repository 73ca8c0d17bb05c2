/* What answers to "why" say, held against what they speak of: memory against the ranges at that
 * moment, collectives against those of the plan, a stage against its figures, prices under a memory
 * limit against the limit. */
#include "engine/cluster/collectives.h"
#include "engine/text/units.h"
#include "explorer.h"
#include "tui/watch/answer.h"
#include "tui/watch/flips.h"
#include "tui/watch/ledger_text.h"
#include "tui/watch/memory_look.h"
#include "tui/watch/other_way.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/price.h"
#include "tui/watch/question.h"
#include "tui/watch/stage_shares.h"
#include "tui/watch/why_find.h"
#include "tui/watch/why_of.h"
#include "two_stages.h"

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

/* ---- a memory limit ---- */

/* Where nothing fits, that is what is said, with the least there is; it is not impossible, and the
 * plan of least memory is no optimum. */
static void test_what_does_not_fit(void **state)
{
    (void)state;
    struct app *app = explorer_open(MODELS "t5-base6.hlo.txt.gz", "v100-1x4", 120, 40);
    struct str out = {0};

    tell(app, "set memory-limit 6 GB");
    const struct watch *w = app_watch(app);
    assert_false(w->exact->fits);
    for (int n = 0; n < w->move_count; n++) {
        struct price p = price_with_memory(w, n, 1);
        assert_true(p.over && !p.known && !p.impossible);
        assert_true(p.memory > 6e9);
    }
    assert_non_null(strstr(screen(app, "2gb", &out), "none fits"));
    assert_non_null(strstr(out.text, "least 6.8 GB"));
    screen(app, "\033", &out);
    assert_non_null(strstr(screen(app, "2gw", &out), "none fits, least"));
    assert_non_null(strstr(out.text, "over 6 GB"));
    assert_null(strstr(out.text, "can not be"));
    screen(app, "w", &out);
    assert_non_null(strstr(out.text, " of  least memory of variables"));
    assert_null(strstr(out.text, "proven optimum"));
    str_release(&out);
    app_free(app);
}

/* ---- columns ---- */

static void test_a_column_has_one_unit(void **state)
{
    (void)state;
    struct app *app = explorer_open(MODELS "mlp.hlo.txt.gz", NULL, 120, 40);
    struct other_ways o = {.step_ms = 5466.1, .count = 1, .done = 1};
    struct answer a = {0};

    o.rows[0] = (struct other_way){.name = "x", .known = true, .step_ms = 16488.4};
    answer_other_way(&a, app_watch(app), &o);
    assert_string_equal(answer_cell(&a, &a.rows[2], 1), "5,466.1");
    assert_string_equal(answer_cell(&a, &a.rows[3], 1), "16,488.4");
    answer_release(&a);
    app_free(app);
}

/* ---- collectives ---- */

static void test_kinds_are_named(void **state)
{
    (void)state;
    char text[ANSWER_KINDS_ROOM];

    assert_string_equal(answer_kinds((uint32_t[COLLECTIVE_COUNT]){0}, text), "no collective");
    assert_string_equal(
        answer_kinds((uint32_t[COLLECTIVE_COUNT]){[COLLECTIVE_ALL_REDUCE] = 1}, text),
        "1 all-reduce");
    assert_string_equal(answer_kinds(
                            (uint32_t[COLLECTIVE_COUNT]){
                                [COLLECTIVE_ALL_REDUCE] = 1018, [COLLECTIVE_ALL_GATHER] = 5},
                            text),
                        "1,018 all-reduces, 5 all-gathers");
}

/* Rows and what is said of the rest make up all collectives; none of the rest is longer than said,
 * and what has no source line stands once for each time it takes. */
static void check_made(const struct watch *w, const label *on, class_id k, size_t most,
                       uint32_t *folded)
{
    struct answer a = {0};
    uint32_t head = 0, sum = 0, rest = 0;

    answer_makes(&a, w, on, k, most);
    if (!a.count)
        return;
    const char *dot = strstr(answer_cell(&a, &a.rows[0], 1), " · ");
    assert_int_equal(sscanf(dot + strlen(" · "), "%u all-reduce", &head), 1);
    for (size_t n = 2; n < a.count; n++) {
        const char *cell = answer_cell(&a, &a.rows[n], 0), *times = strstr(cell, "×");
        if (a.rows[n].kind == ANSWER_SENTENCE) {
            assert_int_equal(sscanf(cell, "%*u further rows: %u", &rest), 1);
            continue;
        }
        sum += times ? (uint32_t)atoi(times + strlen("×")) : 1;
        *folded += times != NULL;
        for (size_t i = 2; i < n; i++) {
            const char *source = answer_cell(&a, &a.rows[i], 4);
            assert_true(
                strncmp(source, "line ", 5) != 0 ||
                strcmp(answer_cell(&a, &a.rows[i], 5), answer_cell(&a, &a.rows[n], 5)) != 0 ||
                strcmp(answer_cell(&a, &a.rows[i], 3), answer_cell(&a, &a.rows[n], 3)) != 0 ||
                strcmp(answer_cell(&a, &a.rows[i], 2), answer_cell(&a, &a.rows[n], 2)) != 0);
        }
    }
    assert_int_equal(head, sum + rest);
    answer_release(&a);
}

static void test_equal_collectives_are_one_row(void **state)
{
    (void)state;
    struct app *app = explorer_open(MODELS "bert48.hlo.txt.gz", NULL, 120, 40);
    const struct watch *w = app_watch(app);
    size_t size = (size_t)w->problem->classes.count * sizeof(label);
    label *on = malloc(size);
    uint32_t in_way, folded = 0;

    assert_non_null(on);
    for (int n = 0; n < w->move_count; n++) {
        memset(on, 0, size);
        if (!flips_turn(w, n, 1, CLASS_NONE, true, on, &in_way))
            continue;
        class_id k = w->moves->pool[w->moves->items[n].classes];
        for (size_t most = 1; most < 8; most += 3)
            check_made(w, on, k, most, &folded);
    }
    assert_true(folded > 0);
    free(on);
    app_free(app);
}

/* ---- what excludes ---- */

/* The other plans name the class that asking of them names. */
static void test_one_cause_for_one_plan(void **state)
{
    (void)state;
    struct app *app = explorer_open(MODELS "t5-base6.hlo.txt.gz", "v100-1x4", 120, 40);
    struct watch *w = app_watch(app);
    size_t classes = w->problem->classes.count;
    struct watch seen = {.problem = w->problem, .moves = w->moves, .on = w->exact->on};
    struct answer a = {0};
    char name[NAME_ROOM], there[NAME_ROOM + 32];
    int excluded = 0;
    struct err e;

    seen.open = calloc(classes, sizeof *seen.open);
    assert_non_null(seen.open);
    for (class_id k = 0; k < classes; k++) {
        struct why_answer why;
        assert_int_equal(why_find(&seen, why_dim_of_class(w->problem, k), &why, &e), 0);
        if (why.kind == WHY_EXCLUDED) {
            answer_clear(&a);
            answer_same(&a, w, (struct why_of){WHY_OF_WHOLE, NULL}, seen.open, k);
            snprintf(there, sizeof there, "whole: %s is split",
                     class_name(&w->names, why.other, name));
            bool said = false;
            for (size_t n = 2; n < a.count; n++)
                said |= !strcmp(answer_cell(&a, &a.rows[n], 2), there);
            assert_true(said && why.excluders > 0);
            excluded++;
        }
        why_answer_release(&why);
    }
    assert_true(excluded > 0);
    free(seen.open);
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
    plan.plan = pipe_plan_whole(&l->all);
    assert_string_equal(stage_shares_text(l, &plan.plan, 0, text, sizeof text), "");
    cut_in_two(l, &plan);
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
        cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_a_column_has_one_unit),
        cmocka_unit_test(test_kinds_are_named),
        cmocka_unit_test(test_equal_collectives_are_one_row),
        cmocka_unit_test(test_one_cause_for_one_plan),
        cmocka_unit_test(test_a_stage_shares),
        cmocka_unit_test(test_uses_that_cut),
        cmocka_unit_test(test_everything_whole_stands_once),
        cmocka_unit_test(test_steps_of_other_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
