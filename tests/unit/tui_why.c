/* Why and plans on a small model: every chain is checked step by step against the classes it speaks
 * of, figures and prices against the cost model of whole assignments. */
#include "example.h"
#include "tui/app/script.h"
#include "tui/files/theme_file.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/why_find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MODEL AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz"

static struct problem problem;
static struct session *session;
static struct watch *watch;

static void tell(const char *line)
{
    struct live_command c;
    struct err e;

    assert_int_equal(live_command_parse(line, &c, &e), 0);
    assert_int_equal(session_wait(session, session_send(session, &c), 30, &e), 0);
    assert_true(session_wait_idle(session, 60));
    watch_read(watch);
}

static int load(void **state)
{
    struct session_options so = {
        .search = {.algorithm = SEARCH_DQN, .seed = 7, .game.reward = GAME_REWARD_PAPER}};
    struct err e;

    (void)state;
    load_example("t5-tiny", EXAMPLE_DEVICES, NULL, &problem);
    if (session_new(&problem, &so, &session, &e) || watch_new(session, &watch, &e)) {
        err_print(&e, stderr);
        return 1;
    }
    tell("episode 20");
    return 0;
}

static int unload(void **state)
{
    (void)state;
    watch_free(watch);
    session_free(session);
    problem_release(&problem);
    return 0;
}

static bool meet(class_id a, class_id b)
{
    const struct classes *c = &problem.classes;

    for (uint32_t n = 0; n < c->info[a].meet_count; n++) {
        if (c->meets[c->info[a].meets + n].other == b)
            return true;
    }
    return false;
}

/* Every dim of a chain is of one class, and two neighbours stand at the instruction between them.
 */
static void check_side(const struct why_side *s, class_id k)
{
    const struct classes *c = &problem.classes;

    for (size_t n = 0; n < s->count; n++) {
        assert_int_equal(c->class_of[s->steps[n].dim], k);
        if (!n || s->steps[n].factor == UINT32_MAX)
            continue;
        bool here = false, before = false;
        for (uint32_t leaf = 0; leaf < class_leaf_count(c, s->steps[n].through); leaf++) {
            hlo_value v = hlo_factors_value(c->m, s->steps[n].through, leaf);
            here |= v == c->dim_value[s->steps[n].dim];
            before |= v == c->dim_value[s->steps[n - 1].dim];
        }
        assert_true(here && before);
    }
}

static void check_answer(dim_id d, const struct why_answer *a)
{
    const struct classes *c = &problem.classes;
    class_id k = c->class_of[d];

    assert_int_equal(a->kind == WHY_FREE, k == CLASS_NONE);
    if (a->kind == WHY_FREE)
        return;
    assert_int_equal(a->kind == WHY_NEVER, c->info[k].reason != CLASS_ALLOWED);
    assert_int_equal(a->kind == WHY_SPLIT, a->kind != WHY_NEVER && watch->on[k] != 0);
    check_side(&a->side[0], k);
    check_side(&a->side[1], a->kind == WHY_EXCLUDED ? a->other : k);
    if (a->kind == WHY_EXCLUDED) {
        assert_true(watch->on[a->other] && meet(k, a->other));
        if (a->shared != HLO_NONE) { /* both begin in the one value */
            assert_int_equal(c->dim_value[a->side[0].steps[0].dim], a->shared);
            assert_int_equal(c->dim_value[a->side[1].steps[0].dim], a->shared);
        }
        assert_true(a->side[0].count && a->side[0].steps[a->side[0].count - 1].dim == d);
    }
    if (a->kind == WHY_NEVER &&
        a->shared != HLO_NONE) { /* two dims of one value, both tied to this one */
        dim_id one = a->side[0].steps[a->side[0].count - 1].dim,
               two = a->side[1].steps[a->side[1].count - 1].dim;
        assert_int_not_equal(one, two);
        assert_int_equal(c->dim_value[one], c->dim_value[two]);
    }
    if (a->kind == WHY_SPLIT) {
        double whole = step_tables_cost(&problem.step_tables, watch->on).step_ms;
        label was = watch->on[k];
        watch->on[k] = 0;
        assert_true(fabs(a->flip_ms - step_tables_cost(&problem.step_tables, watch->on).step_ms) <
                    1e-9 * whole);
        watch->on[k] = was;
    }
}

static void test_every_dim_has_an_answer(void **state)
{
    (void)state;
    int kinds[WHY_WHOLE + 1] = {0};
    const uint32_t step = problem.classes.dim_count / 800 + 1;

    for (dim_id d = 0; d < problem.classes.dim_count; d += step) {
        struct why_answer a;
        struct err e;
        assert_int_equal(why_find(watch, d, &a, &e), 0);
        check_answer(d, &a);
        kinds[a.kind]++;
        why_answer_release(&a);
    }
    assert_true(kinds[WHY_SPLIT] > 0 && kinds[WHY_NEVER] > 0 && kinds[WHY_EXCLUDED] > 0);
}

/* Phases add up to the step; a price is the step of the mixed plan; equal plans do not differ. */
static void test_plans(void **state)
{
    (void)state;
    label *whole = mem_alloc(((size_t)problem.classes.count + 1) * sizeof *whole);
    const struct live_plan *best = watch->best;
    struct plan_difference *items;
    struct plan_figures f;
    size_t count;
    struct err e;

    assert_non_null(best);
    assert_int_equal(plan_figures(watch, watch->best->on, &f, &e), 0);
    double compute = 0, network = 0;
    for (int i = 0; i < HLO_PHASE_COUNT; i++) {
        compute += f.compute_ms[i];
        network += f.network_ms[i];
    }
    assert_true(fabs(compute / best->cost.compute_ms - 1) < 1e-9);
    assert_true(fabs(network - best->cost.communication_ms) < 1e-9 * best->cost.step_ms);
    assert_true(fabs(f.memory - watch->memory.peak) < 1);

    assert_int_equal(plan_differences(watch, best->on, best->on, &items, &count, &e), 0);
    assert_int_equal(count, 0);
    free(items);
    assert_int_equal(plan_differences(watch, whole, best->on, &items, &count, &e), 0);
    size_t split = 0;
    for (int n = 0; n < watch->move_count; n++)
        split += watch->move[n].best > 0;
    assert_true(count >= split && split > 0);
    for (size_t n = 0; n < split; n++) {
        const struct plan_difference *d = &items[n];
        assert_true(d->priced && d->a == 0 && d->b == watch->move[d->move].best);
        if (d->b == d->classes)
            assert_true(fabs(d->price_ms + watch->move[d->move].saves_ms) <
                        1e-9 * best->cost.step_ms);
    }
    free(items);
    free(whole);
}

static const char *screen(struct app *app, const char *keys, struct str *out)
{
    for (const char *k = keys; *k; k++)
        app_key(app, *k == '\r' ? KEYC_ENTER : *k == '\033' ? KEYC_ESC : (uint32_t)*k);
    str_clear(out);
    grid_text(app_frame(app), out);
    return out->text;
}

static void test_keys(void **state)
{
    (void)state;
    struct app_setup setup = {.data_dir = AUTOMAP_SOURCE_DIR, .seed = 3};
    struct str out = {0};
    struct app *app;
    struct err e;

    assert_int_equal(theme_load(&setup.theme, "default", &e), 0);
    assert_int_equal(app_new(&app, &setup, &e), 0);
    assert_int_equal(app_load(app, MODEL, NULL, &e), 0);
    app_resize(app, 120, 40);
    assert_int_equal(app_tell(app, "episode 5", &e), 0);
    assert_non_null(strstr(screen(app, "2w", &out), "in class"));
    assert_non_null(strstr(screen(app, "\r", &out), "1 Graph")); /* there, in the graph */
    assert_non_null(strstr(screen(app, "Vp", &out), "everything whole"));
    assert_non_null(strstr(screen(app, "jc", &out), "Decisions that differ"));
    assert_non_null(strstr(screen(app, "\033", &out), "everything whole"));
    assert_non_null(strstr(screen(app, "\033", &out), "1 Graph"));
    str_release(&out);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_dim_has_an_answer),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
