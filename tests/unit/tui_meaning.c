/* Figures that can not be misread: what a decision is worth in the best plan is what the engine
 * says of a flip, and no flip betters a proven optimum; words are explained where they stand; the
 * options say what the last change came to. */
#include "engine/live/ledger.h"
#include "engine/plan/explain.h"
#include "engine/plan/plan.h"
#include "explorer.h"
#include "tui/views/glossary.h"
#include "tui/watch/flips.h"
#include "tui/watch/watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *screen(struct app *app, const char *keys, struct str *out)
{
    for (const char *k = keys; *k; k++) {
        app_touch(app);
        (void)app_frame(app);
        explorer_key(app, *k);
        app_settle(app, 10);
    }
    return explorer_text(app, out);
}

/* The engine's own flip of a single class, the rest staying. -1: not possible. */
static double engine_flip(const struct watch *w, class_id k, uint32_t axis)
{
    struct plan plan = {.problem = w->problem, .on = w->best->on, .cost = w->best->cost};

    return explain_flip_ms(&plan, k, (label)(w->best->on[k] ^ 1u << axis));
}

static void test_flips(void **state)
{
    (void)state;
    static const char *const models[] = {"t5-tiny", "t5-base6", "mlp", "vgg19"};
    int compared = 0, in_way = 0;

    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct app *app = explorer_open(models[m], NULL, 120, 40);
        struct flips *f = flips_new();
        struct err e;
        assert_int_equal(app_tell(app, "episode 400", &e), 0);
        const struct watch *w = app_watch(app);
        bool optimal = w->exact && w->exact->proven && watch_gap(w) == 0;
        for (int n = 0; n < w->move_count; n++) {
            struct flip flip = flips_of(f, w, n, 1, 0);
            assert_true(flip.known);
            if (flip.impossible)
                continue;
            assert_int_equal(flip.split, w->move[n].best == 0);
            assert_true(!optimal || flip.change_ms > -1e-9 * w->best->cost.step_ms);
            in_way += flip.in_way > 0;
            const struct game_move *move = &w->moves->items[n];
            if (flip.in_way || move->class_count != 1)
                continue;
            double engine = engine_flip(w, w->moves->pool[move->classes], move->axis);
            if (engine < 0)
                continue; /* a class that no decision reaches stands in its way */
            assert_true(fabs(engine - w->best->cost.step_ms - flip.change_ms) <
                        1e-9 * (1 + w->best->cost.step_ms));
            compared++;
        }
        flips_free(f);
        app_free(app);
    }
    printf("%d flips as the engine's, %d with others in their way\n", compared, in_way);
    assert_true(compared >= 15 && in_way >= 3);
}

static void test_words(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-tiny", NULL, 120, 40);
    struct str out = {0};
    struct err e;

    assert_int_equal(app_tell(app, "episode 5", &e), 0);
    const char *text = screen(app, "2?", &out);
    assert_non_null(strstr(text, "words on this screen"));
    assert_non_null(strstr(text, "change of the step if only this is split"));
    assert_non_null(strstr(text, "so a plan needs no resharding"));
    screen(app, "\033", &out);
    assert_non_null(strstr(screen(app, "?margin", &out), "the distance between the two Q"));
    screen(app, "\033\033", &out);
    assert_non_null(strstr(screen(app, "C,?", &out), "what the network thinks the rest"));
    str_release(&out);
    app_free(app);
}

/* The row of the cursor comes first; letters beside make another word. */
static void test_glossary(void **state)
{
    (void)state;
    struct grid g = {0};
    int found[8], count;

    grid_resize(&g, 60, 4);
    struct pane p = pane_whole(&g);
    pane_text(&p, 0, 0, 0, "Lattice strictly Q7 proven");
    pane_text(&p, 0, 2, 0, "margin 0.1 (Q)");
    count = glossary_on(&g, 2, found, 8);
    assert_int_equal(count, 3);
    assert_string_equal(glossary[found[2]].word, "proven");
    for (int n = 0; n < 2; n++)
        assert_true(!strcmp(glossary[found[n]].word, "margin") ||
                    !strcmp(glossary[found[n]].word, "Q"));
    assert_int_equal(glossary_on(&g, -1, found, 1), 1);
    grid_release(&g);
}

static void test_options_say_before_and_after(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-base6", "v100-1x4", 120, 40);
    struct str out = {0};
    char figures[128], ms[2][32];
    struct err e;

    assert_null(strstr(screen(app, "o", &out), "optimum before"));
    assert_int_equal(app_tell(app, "cluster servers.*.link.bandwidth=25 GB/s", &e), 0);
    const struct ledger *l = app_watch(app)->shot->ledger;
    assert_int_equal(l->now, 1);
    snprintf(ms[0], sizeof ms[0], "%.1f", l->rows[0].figures.cost.step_ms);
    snprintf(ms[1], sizeof ms[1], "%.1f", l->rows[1].figures.cost.step_ms);
    snprintf(figures, sizeof figures, "before %s ms, after %s ms", ms[0], ms[1]);
    assert_string_not_equal(ms[0], ms[1]);
    assert_non_null(strstr(screen(app, "", &out), figures));
    assert_null(strstr(screen(app, "u", &out), "optimum before"));
    str_release(&out);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_glossary),
        cmocka_unit_test(test_options_say_before_and_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
