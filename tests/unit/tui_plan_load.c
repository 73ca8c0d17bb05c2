/* Plans read from files into the explorer: rows of V p with their own figures, explained, compared,
 * taken over as pins; what is made for another problem is refused with the difference. */
#include "engine/live/snapshot.h"
#include "engine/plan/plan_file.h"
#include "engine/relaxed/relaxed.h"
#include "engine/text/units.h"
#include "explorer.h"
#include "tui/watch/other_plans.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/watch.h"
#include "tui/watch/why_of.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MODEL AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz"
#define SLOW AUTOMAP_SOURCE_DIR "/examples/models/t5-base6.hlo.txt.gz"
#define TWO_SERVERS AUTOMAP_SOURCE_DIR "/examples/clusters/a-2x8-v100.yaml"
#define OTHER AUTOMAP_SOURCE_DIR "/examples/models/mlp.hlo.txt.gz"

static struct app *open_model(const char *path)
{
    struct app *app = explorer_open(path, NULL, 140, 44);
    struct err e;

    assert_int_equal(app_tell(app, "episode 3", &e), 0);
    return app;
}

static const char *screen(struct app *app, const char *keys, struct str *out)
{
    explorer_type(app, keys);
    app_settle(app, 5);
    return explorer_text(app, out);
}

/* Splits one decision that the best plan keeps whole, and all that goes with it. */
static void save_strict(const struct problem *p, const struct watch *w, const char *path)
{
    struct strict_clash clash;
    struct strict s;
    struct plan plan;
    struct err e = {0};

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    for (int n = 0; n < w->move_count; n += 2) {
        const struct game_move *m = &w->moves->items[n];
        for (uint32_t k = 0; k < m->class_count; k++)
            (void)strict_decide(&s, w->moves->pool[m->classes + k], m->axis, true, &clash);
    }
    assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, &plan, &e), 0);
    assert_int_equal(plan_file_save(&plan, path, &e), 0);
    plan_release(&plan);
    strict_release(&s);
}

static void save_relaxed(const struct problem *p, const char *path)
{
    struct relaxed_options o = {0};
    struct relaxed_plan found;
    struct relaxed *r;
    struct plan plan;
    struct err e = {0};

    assert_int_equal(relaxed_new(p, &o, &r, &e), 0);
    assert_int_equal(relaxed_solve(r, 20, &found, &e), 0);
    assert_int_equal(plan_from_relaxed(&found, &plan, &e), 0);
    assert_int_equal(plan_file_save(&plan, path, &e), 0);
    plan_release(&plan);
    relaxed_free(r);
}

static void test_a_strict_plan(void **state)
{
    (void)state;
    char path[64] = "/tmp/automap-plan-XXXXXX", line[96], step[UNITS_ROOM];
    struct app *app = open_model(MODEL);
    struct str out = {0};
    struct err e = {0};

    close(mkstemp(path));
    save_strict(app_watch(app)->problem, app_watch(app), path);
    assert_true(plan_load_is(path));
    assert_false(plan_load_is(MODEL));
    snprintf(line, sizeof line, "open %s", path);
    assert_true(app_command(app, line));
    const struct watch *w = app_watch(app);
    const struct live_plan *plan = plan_load_of(w, path);
    assert_non_null(plan);
    double priced = step_tables_cost(&w->problem->step_tables, plan->on).step_ms;
    assert_true(fabs(priced / plan->cost.step_ms - 1) < 1e-12);
    const char *name = strrchr(path, '/') + 1;
    assert_non_null(strstr(screen(app, "", &out), name)); /* its row, under the cursor */
    screen(app, "w", &out);
    char of[96];
    snprintf(of, sizeof of, " of  %.20s", name);
    assert_non_null(strstr(out.text, of));
    assert_non_null(strstr(out.text, units_plain_ms(step, plan->cost.step_ms)));
    screen(app, "\033t", &out); /* taken over */
    w = app_watch(app);
    int pinned = 0;
    for (int n = 0; n < w->move_count; n++) {
        uint32_t split = plan_splits(w, plan->on, n);
        if (split && split < w->moves->items[n].class_count)
            continue;
        pinned += w->move[n].pinned;
        assert_true(w->move[n].pinned);
    }
    assert_true(pinned > 3 && w->shot->pin_count > 0);
    for (uint32_t n = 0; n < w->shot->pin_count; n++)
        assert_int_equal(w->shot->pins[n].split,
                         (plan->on[w->shot->pins[n].class] >> w->shot->pins[n].axis) & 1);
    assert_int_equal(app_load_plan(app, path, &e), 0); /* once more: no second row */
    assert_int_equal(app_watch(app)->loaded.count, 1);
    str_release(&out);
    app_free(app);
    app = open_model(OTHER);
    assert_int_not_equal(app_load_plan(app, path, &e), 0);
    assert_non_null(strstr(e.what, "another model"));
    assert_int_equal(app_watch(app)->loaded.count, 0);
    assert_int_not_equal(app_load_plan(app, "/nowhere.json", &e), 0);
    app_free(app);
    unlink(path);
}

static void test_a_relaxed_plan(void **state)
{
    (void)state;
    char path[64] = "/tmp/automap-plan-XXXXXX", line[96];
    struct app *app = open_model(MODEL);
    struct str out = {0};

    close(mkstemp(path));
    save_relaxed(app_watch(app)->problem, path);
    snprintf(line, sizeof line, "plan %s", path);
    assert_true(app_command(app, line));
    assert_non_null(why_of_relaxed(app_watch(app)));
    assert_non_null(strstr(screen(app, "", &out), "relaxed, "));
    assert_non_null(strstr(screen(app, "\033Vs", &out), "Reshards"));
    assert_non_null(strstr(screen(app, "w", &out), " of  relaxed plan"));
    str_release(&out);
    app_free(app);
    unlink(path);
}

/* Plans of stages are rows of V p as soon as their views have made them: explained, compared by
 * what both kinds have, written and read back. */
static void test_plans_of_stages(void **state)
{
    (void)state;
    char pipeline[64] = "/tmp/automap-plan-XXXXXX", hybrid[64] = "/tmp/automap-plan-XXXXXX";
    char line[96];
    struct app *app = explorer_open(SLOW, TWO_SERVERS, 140, 44);
    struct other_plan of[OTHER_PLANS_MOST];
    struct str out = {0};

    close(mkstemp(pipeline));
    close(mkstemp(hybrid));
    assert_int_equal(other_plans(app_watch(app), of), 0);
    screen(app, "Vi", &out);
    assert_int_equal(other_plans(app_watch(app), of), 1);
    assert_int_equal(of[0].kind, OTHER_PIPELINE);
    screen(app, "\033Vh", &out);
    assert_int_equal(other_plans(app_watch(app), of), 2);
    assert_int_equal(of[1].kind, OTHER_HYBRID);
    assert_true(of[1].memory_bytes > 0 && of[1].step_ms > 0);
    screen(app, "\033Vp", &out);
    assert_non_null(strstr(out.text, "pipeline, "));
    assert_non_null(strstr(out.text, "hybrid, "));
    assert_null(strstr(out.text, "nan"));
    screen(app, "c", &out);
    assert_null(strstr(out.text, "nan"));
    snprintf(line, sizeof line, "pipeline-plan! %s", pipeline);
    assert_true(app_command(app, line));
    snprintf(line, sizeof line, "hybrid-plan! %s", hybrid);
    assert_true(app_command(app, line));
    app_free(app);

    app = explorer_open(SLOW, TWO_SERVERS, 140, 44);
    struct other_plan again[OTHER_PLANS_MOST];
    snprintf(line, sizeof line, "plan %s", pipeline);
    assert_true(app_command(app, line));
    snprintf(line, sizeof line, "plan %s", hybrid);
    assert_true(app_command(app, line));
    app_settle(app, 5);
    assert_int_equal(other_plans(app_watch(app), again), 2);
    for (int n = 0; n < 2; n++) {
        assert_int_equal(again[n].kind, of[n].kind);
        assert_true(fabs(again[n].step_ms / of[n].step_ms - 1) < 1e-9);
        assert_int_equal(again[n].parts, of[n].parts);
    }
    str_release(&out);
    app_free(app);
    unlink(pipeline);
    unlink(hybrid);
}

/* A pipeline of one stage is the batch split, which the search knows. */
static void test_one_stage_is_no_other_plan(void **state)
{
    (void)state;
    struct app *app = open_model(MODEL);
    struct other_plan of[OTHER_PLANS_MOST];
    struct pipeline_plan plan;
    struct str out = {0};

    screen(app, "Vi", &out);
    assert_non_null(why_of_pipeline(app_watch(app), &plan));
    assert_int_equal(plan.plan.stages, 1);
    assert_int_equal(other_plans(app_watch(app), of), 0);
    str_release(&out);
    app_free(app);
}

/* Elsewhere are plans faster than the one in the headline, the fastest first. */
static void test_elsewhere(void **state)
{
    (void)state;
    struct app *app = explorer_open(SLOW, TWO_SERVERS, 140, 44);
    struct elsewhere list[ELSEWHERE_MOST];
    struct str out = {0};
    struct err e;

    assert_int_equal(app_tell(app, "episode 3", &e), 0);
    screen(app, "Vi", &out);
    screen(app, "\033Vs", &out);
    screen(app, "\033", &out);
    const struct watch *w = app_watch(app);
    int count = elsewhere(w, list), faster = 0;
    for (int n = 0; n < count; n++) {
        assert_true(list[n].step_ms < w->best->cost.step_ms);
        assert_true(!n || list[n - 1].step_ms <= list[n].step_ms);
    }
    struct other_plan of[OTHER_PLANS_MOST];
    int others = other_plans(w, of);
    assert_int_equal(others, 2);
    for (int n = 0; n < others; n++)
        faster += of[n].step_ms < w->best->cost.step_ms;
    assert_true(faster > 0 && count >= faster);
    str_release(&out);
    app_free(app);
}

/* An edit of the problem makes the plan another's: that is said, and the row goes. */
static void test_an_edit(void **state)
{
    (void)state;
    char path[64] = "/tmp/automap-plan-XXXXXX";
    struct app *app = open_model(MODEL);
    struct str out = {0};
    struct err e = {0};

    close(mkstemp(path));
    save_strict(app_watch(app)->problem, app_watch(app), path);
    assert_int_equal(app_load_plan(app, path, &e), 0);
    assert_int_equal(app_tell(app, "micro-batches 2", &e), 0);
    assert_int_equal(app_watch(app)->loaded.count, 0);
    assert_non_null(strstr(screen(app, "", &out), "micro-batches"));
    str_release(&out);
    app_free(app);
    unlink(path);
}

/* The plan of a moment is the one there is, or, found in another episode, one of its own. */
static void test_plans_of_moments(void **state)
{
    (void)state;
    struct app *app = open_model(MODEL);
    struct watch *w = app_watch(app);
    size_t size = sizeof *w->best + w->best->count * sizeof *w->best->on;
    struct live_plan *then = mem_alloc(size);
    char name[WHY_OF_ROOM];

    memcpy(then, w->best, size);
    atomic_init(&then->references, 1);
    plan_load_moment(w, 0, then);
    assert_ptr_equal(plan_load_of_moment(w, 0), w->best);
    then->episode += 40;
    plan_load_moment(w, 0, then);
    assert_ptr_equal(plan_load_of_moment(w, 0), then);
    assert_non_null(strstr(why_of_name(w, why_of_plan(w, then), name), ", episode 4"));
    plan_load_moment(w, 0, NULL);
    live_plan_release(then);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_strict_plan),    cmocka_unit_test(test_a_relaxed_plan),
        cmocka_unit_test(test_plans_of_stages),  cmocka_unit_test(test_one_stage_is_no_other_plan),
        cmocka_unit_test(test_elsewhere),        cmocka_unit_test(test_an_edit),
        cmocka_unit_test(test_plans_of_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
