/* Why and plans on a small model: every chain is checked step by step against the classes it speaks
 * of, figures and prices against the cost model of whole assignments. */
#include "example.h"
#include "explorer.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/why_find.h"
#include "tui/watch/why_of.h"

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

static void check_answer(const struct watch *w, dim_id d, const struct why_answer *a)
{
    const struct classes *c = &problem.classes;
    class_id k = c->class_of[d];

    assert_int_equal(a->kind == WHY_FREE, k == CLASS_NONE);
    if (a->kind == WHY_FREE)
        return;
    assert_int_equal(a->kind == WHY_NEVER, c->info[k].reason != CLASS_ALLOWED);
    assert_int_equal(a->kind == WHY_SPLIT, a->kind != WHY_NEVER && w->on[k] != 0);
    check_side(&a->side[0], k);
    check_side(&a->side[1], a->kind == WHY_EXCLUDED ? a->other : k);
    if (a->kind == WHY_EXCLUDED) {
        assert_true(w->on[a->other] && meet(k, a->other));
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
        double whole = step_tables_cost(&problem.step_tables, w->on).step_ms;
        label was = w->on[k];
        w->on[k] = 0;
        assert_true(fabs(a->flip_ms - step_tables_cost(&problem.step_tables, w->on).step_ms) <
                    1e-9 * whole);
        w->on[k] = was;
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
        check_answer(watch, d, &a);
        kinds[a.kind]++;
        why_answer_release(&a);
    }
    assert_true(kinds[WHY_SPLIT] > 0 && kinds[WHY_NEVER] > 0 && kinds[WHY_EXCLUDED] > 0);
}

/* Asked about a plan, every dim is as that plan has it, at every moment of a run: nothing is open,
 * what is split is split there, and so is what excludes it; the figures are those of the plan. */
static void check_plan(struct watch *look, struct why_of of)
{
    const struct live_plan *plan = of.plan;
    const struct classes *c = &problem.classes;
    const uint32_t step = c->dim_count / 97 + 1;

    why_of_read(watch, of, look->on, look->open);
    assert_true(fabs(why_of_ms(watch, of) / plan->cost.step_ms - 1) < 1e-12);
    for (dim_id d = 0; d < c->dim_count; d += step) {
        class_id k = c->class_of[d];
        struct why_answer a;
        struct err e;
        assert_int_equal(why_find(look, d, &a, &e), 0);
        check_answer(look, d, &a);
        assert_int_not_equal(a.kind, WHY_OPEN);
        if (k != CLASS_NONE && c->info[k].reason == CLASS_ALLOWED) {
            assert_int_equal(a.kind == WHY_SPLIT, plan->on[k] != 0);
            assert_true(fabs(a.step_ms / plan->cost.step_ms - 1) < 1e-9);
        }
        if (a.kind == WHY_EXCLUDED)
            assert_int_not_equal(plan->on[a.other], 0);
        why_answer_release(&a);
    }
}

static void test_a_plan_is_answered_for(void **state)
{
    (void)state;
    struct watch look = {.problem = &problem};
    size_t differ = 0;

    look.on = mem_alloc(((size_t)problem.classes.count + 1) * sizeof *look.on);
    look.open = mem_alloc(((size_t)problem.classes.count + 1) * sizeof *look.open);
    for (int n = 0; n < 40; n++) {
        struct why_of list[WHY_OF_MOST], of;
        tell(n % 8 == 7 ? "episode 3" : "decide 1");
        look.moves = watch->moves;
        int count = why_of_list(watch, list), seen = 0;
        assert_true(why_of_is_same(list[0], why_of_default(watch)));
        assert_ptr_equal(list[0].plan, watch->best);
        assert_true(list[count - 1].kind == WHY_OF_EPISODE);
        of = list[0];
        do { /* once around, whatever it begins with */
            if (of.plan)
                check_plan(&look, of);
            assert_true(why_of_is_same(of, list[seen++]));
            assert_true(why_of_is_same(of, why_of_next(watch, why_of_next(watch, of, 1), -1)));
            of = why_of_next(watch, of, 1);
        } while (!why_of_is_same(of, list[0]));
        assert_int_equal(seen, count);
        for (class_id k = 0; k < problem.classes.count; k++)
            differ += watch->on[k] != watch->best->on[k] || watch->open[k];
    }
    assert_true(differ > 0); /* else an episode could not be told from the plan */
    free(look.on);
    free(look.open);
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
    struct app *app = explorer_open(MODEL, NULL, 120, 40);
    struct str out = {0};
    struct err e;

    assert_int_equal(app_tell(app, "episode 5", &e), 0);
    assert_non_null(strstr(screen(app, "2w", &out), "in class"));
    assert_non_null(strstr(screen(app, "\r", &out), "1 Graph")); /* there, in the graph */
    assert_non_null(strstr(screen(app, "Vp", &out), "baseline"));
    assert_non_null(strstr(screen(app, "jc", &out), "Decisions that differ"));
    assert_non_null(strstr(screen(app, "\033", &out), "baseline"));
    assert_non_null(strstr(screen(app, "\033", &out), "1 Graph"));
    str_release(&out);
    app_free(app);
}

/* `w` on every group, paused in the middle of an episode: the answer is of the plan in the
 * headline, names it, and stays while the episode goes on; `w` again goes round and comes back. */
/* The subject is the plan of the headline: as yet the baseline, or what the search found. */
static const char *names_best(struct app *app, const char *text)
{
    char of[32];

    snprintf(of, sizeof of, "of  %s", watch_plan_word(app_watch(app)));
    return strstr(text, of);
}

static void test_why_is_of_the_headline(void **state)
{
    (void)state;
    struct app *app = explorer_open(MODEL, NULL, 160, 40);
    struct str out = {0};
    struct err e;

    screen(app, "2w", &out); /* before anything is played the headline is the baseline */
    assert_non_null(strstr(out.text, app_watch(app)->best ? "of  baseline" : "of  episode"));
    assert_int_equal(app_tell(app, "episode 6", &e), 0);
    assert_non_null(strstr(screen(app, "", &out), watch_plan_word(app_watch(app))));
    screen(app, "\033", &out);
    for (int n = 0; n < app_watch(app)->move_count; n++) {
        assert_int_equal(app_tell(app, n % 3 ? "decide 1" : "episode 1", &e), 0);
        screen(app, n ? "2jw" : "2gw", &out);
        const struct watch *w = app_watch(app);
        class_id k = w->moves->pool[w->moves->items[w->cursor].classes];
        for (int i = 0; i < 2; i++) {
            assert_non_null(names_best(app, out.text));
            assert_null(strstr(out.text, "not decided yet"));
            assert_int_equal(strstr(out.text, "is split over") != NULL, w->best->on[k] != 0);
            assert_int_equal(app_tell(app, "decide 1", &e), 0); /* the next one; the answer stays */
            screen(app, "", &out);
        }
        assert_non_null(strstr(screen(app, "W", &out), "of  episode"));
        assert_non_null(names_best(app, screen(app, "w", &out)));
        screen(app, "w", &out);
        assert_null(names_best(app, out.text));
        for (int i = 0; i < WHY_OF_MOST && !names_best(app, out.text); i++)
            screen(app, "w", &out);
        assert_non_null(names_best(app, out.text));
        screen(app, "\033", &out);
    }
    screen(app, "Vpjw", &out); /* a row of the plans: about that plan */
    assert_null(strstr(out.text, "of  episode"));
    assert_non_null(strstr(out.text, "w again:"));
    str_release(&out);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_dim_has_an_answer),
        cmocka_unit_test(test_a_plan_is_answered_for),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_why_is_of_the_headline),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
