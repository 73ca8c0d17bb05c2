/* Two plans compared: layers add up to the step of either plan, and the sentence agrees with the
 * figures, on shipped models. */
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/live/session.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "example.h"
#include "tui/watch/layer_diff.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/tree.h"
#include "tui/watch/versus.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdlib.h>

static const char *const models[] = {"t5-tiny", "mlp", "resnet20.meta", "decoder-scan", "moe.meta"};

/* Layers by path, phases apart, that take time: counted by hand. */
static uint32_t count_layers(const struct tree *t)
{
    char(*seen)[512] = mem_alloc(((size_t)t->count + 1) * sizeof *seen);
    uint32_t count = 0;

    for (int n = 0; n < t->count; n++) {
        int layer = -1;
        for (int k = n; k >= 0; k = t->nodes[k].parent)
            layer = t->nodes[k].number >= 0 && t->nodes[k].series == 0 ? k : layer;
        if (layer < 0 || t->nodes[layer].ms <= 0)
            continue;
        tree_path(t, layer, "/", seen[count], sizeof *seen);
        char *slash = t->nodes[layer].depth ? strchr(seen[count], '/') : NULL;
        if (slash)
            memmove(seen[count], slash + 1, strlen(slash));
        bool known = false;
        for (uint32_t k = 0; k < count && !known; k++)
            known = !strcmp(seen[k], seen[count]);
        count += !known;
    }
    free(seen);
    return count;
}

static void compare(struct watch *w, label *a, label *b)
{
    struct layer_difference *items;
    struct plan_figures figures[2];
    double sum[2] = {0}, last = INFINITY;
    uint32_t layers = 0;
    size_t count;
    struct err e;

    assert_int_equal(plan_figures(w, a, &figures[0], &e), 0);
    assert_int_equal(plan_figures(w, b, &figures[1], &e), 0);
    assert_int_equal(layer_differences(w, a, b, &items, &count, &e), 0);
    assert_true(count > 0);
    for (size_t n = 0; n < count; n++) {
        assert_true(fabs(layer_change(&items[n])) <= last * (1 + 1e-12));
        last = fabs(layer_change(&items[n]));
        layers += items[n].is_layer ? items[n].times : 0;
        assert_true(items[n].is_layer || items[n].times == 1);
        assert_true(items[n].name[0]);
        for (size_t k = 0; k < n; k++)
            assert_string_not_equal(items[k].name, items[n].name);
        for (int k = 0; k < 2; k++)
            sum[k] += (items[n].compute[k] + items[n].network[k]) * items[n].times;
    }
    assert_int_equal(layers, count_layers(w->tree));
    for (int k = 0; k < 2; k++) { /* free values are nobody's */
        double whole = 0;
        for (int i = 0; i < HLO_PHASE_COUNT; i++)
            whole += figures[k].compute_ms[i] + figures[k].network_ms[i];
        assert_true(fabs(sum[k] - whole) <= 1e-6 * whole);
    }
    free(items);
}

/* Classes that meet are both split over an axis: no plan at all. */
static bool clashes(const struct classes *c, const label *on)
{
    for (class_id k = 0; k < c->count; k++) {
        for (uint32_t n = 0; n < c->info[k].meet_count; n++) {
            if (on[k] & on[c->meets[c->info[k].meets + n].other])
                return true;
        }
    }
    return false;
}

/* Each difference has its price: where nothing stands in its way, that of A with B's labels put in;
 * else that would be no plan, and the price is that of another. Returns how many were in a way. */
static int check_prices(const struct watch *w, const label *a, const label *b)
{
    const struct classes *c = &w->problem->classes;
    size_t size = ((size_t)c->count + 1) * sizeof(label), count;
    struct plan_difference *items;
    label *on = mem_alloc(size);
    int in_way = 0;
    struct err e;

    assert_int_equal(plan_differences(w, a, b, &items, &count, &e), 0);
    double before = step_tables_cost(&w->problem->step_tables, a).step_ms;
    for (size_t n = 0; n < count; n++) {
        const struct plan_difference *d = &items[n];
        const struct game_move *m = d->move == MOVE_NONE ? NULL : &w->moves->items[d->move];
        assert_true(d->priced);
        memcpy(on, a, c->count * sizeof *on);
        for (uint32_t i = 0; i < d->classes; i++) {
            class_id k = m ? w->moves->pool[m->classes + i] : d->class;
            on[k] = b[k];
        }
        assert_int_equal(clashes(c, on), d->along > 0);
        in_way += d->along > 0;
        double after = step_tables_cost(&w->problem->step_tables, on).step_ms;
        if (!d->along)
            assert_true(fabs(after - before - d->price_ms) <= 1e-9 * before);
    }
    free(items);
    free(on);
    return in_way;
}

static void test_layers_add_up(void **state)
{
    int in_way = 0;

    (void)state;
    for (size_t n = 0; n < sizeof models / sizeof *models; n++) {
        struct problem *p = mem_alloc(sizeof *p);
        struct session_options o = {.search = {.algorithm = SEARCH_DQN}};
        struct session *s;
        struct watch *w;
        struct err e;
        load_example(models[n], EXAMPLE_DEVICES, NULL, p);
        assert_int_equal(session_new(p, &o, &s, &e), 0);
        assert_int_equal(watch_new(s, &w, &e), 0);
        label *whole = mem_alloc((p->classes.count + 1) * sizeof *whole);
        label *batch = mem_alloc((p->classes.count + 1) * sizeof *batch);
        if (p->training.batch != CLASS_NONE)
            batch[p->training.batch] = 1;
        assert_non_null(w->exact);
        compare(w, whole, w->exact->on);
        compare(w, w->exact->on, batch);
        compare(w, batch, batch);
        in_way += check_prices(w, whole, w->exact->on) + check_prices(w, w->exact->on, whole) +
                  check_prices(w, w->exact->on, batch) + check_prices(w, batch, w->exact->on);
        free(whole);
        free(batch);
        watch_free(w);
        session_free(s);
        problem_release(p);
        free(p);
    }
    assert_true(in_way >= 5);
}

static struct versus_side side(const char *name, double compute, double network, double bytes)
{
    return (struct versus_side){name, {compute, network, compute + network, 0}, bytes};
}

static void test_sentence(void **state)
{
    struct versus_side a = side("A", 172, 23.1, 773e6), b = side("B", 175, 50.6, 3095e6),
                       c = side("row 4", 150, 23.1, 773e6), none = side("row 0", 180, 0, 0);
    char text[256];

    (void)state;
    assert_string_equal(versus_sentence(&a, &b, text, sizeof text),
                        "B is 30.5 ms slower than A: 3,095 MB of collectives instead of 773.");
    assert_string_equal(versus_sentence(&b, &a, text, sizeof text),
                        "A is 30.5 ms faster than B: 773 MB of collectives instead of 3,095.");
    assert_string_equal(
        versus_sentence(&a, &c, text, sizeof text),
        "Row 4 is 22.0 ms faster than A: 150.0 ms of computing instead of 172.0 ms.");
    assert_string_equal(
        versus_sentence(&none, &b, text, sizeof text),
        "B is 45.6 ms slower than row 0: 50.6 ms of collectives instead of 0.0 ms.");
    assert_string_equal(versus_sentence(&a, &a, text, sizeof text), "A takes as long as A.");
    versus_sentence(&a, &b, text, 24); /* cut, not overrun */
    assert_true(strlen(text) < 24);
}

/* Of a class that no decision reaches, with what stands in its way. */
static void test_difference_sentence(void **state)
{
    static const char *const along[] = {"", ", * one other whole then", ", * others whole then"};
    char text[160], expected[160];

    (void)state;
    for (uint32_t n = 0; n < 3; n++) {
        struct plan_difference d = {.move = MOVE_NONE, .along = n * n};
        snprintf(expected, sizeof expected,
                 "outside this search's decisions; price: A with this one of B%s", along[n]);
        assert_string_equal(plan_difference_sentence(NULL, &d, text, sizeof text), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layers_add_up),
                                       cmocka_unit_test(test_difference_sentence),
                                       cmocka_unit_test(test_sentence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
