/* What the screens of a search are made of, against the engine's own sums. Random keys and
 * resizes are in tui_random.c. */
#include "engine/search/game.h"
#include "example.h"
#include "explorer.h"
#include "tui/watch/class_look.h"
#include "tui/watch/cost_split.h"
#include "tui/watch/flips.h"
#include "tui/watch/memory_look.h"
#include "tui/watch/pipeline_job.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/price.h"
#include "tui/watch/race_run.h"
#include "tui/watch/relaxed_job.h"
#include "tui/watch/series_price.h"
#include "tui/watch/short_names.h"
#include "tui/watch/tree_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MODELS AUTOMAP_SOURCE_DIR "/examples/models/"

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
    struct session_options so = {.search = {.algorithm = SEARCH_DQN, .seed = 7}};
    struct err e;

    (void)state;
    load_example("t5-base6.meta", EXAMPLE_DEVICES, NULL, &problem);
    if (session_new(&problem, &so, &session, &e) || watch_new(session, &watch, &e)) {
        err_print(&e, stderr);
        return 1;
    }
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

static int move_named(const char *name)
{
    for (int n = 0; n < watch->move_count; n++) {
        if (!strcmp(watch->move[n].name, name))
            return n;
    }
    fail_msg("no decision is called %s", name);
    return 0;
}

/* The milliseconds on screen are those of the cost model, whole and in every part. */
static void test_tree_adds_up(void **state)
{
    (void)state;
    struct tree *t;
    struct err e;
    double own = 0;

    tell("episode 40");
    assert_int_equal(tree_new(&problem, &t, &e), 0);
    tree_read(t, watch);
    assert_true(fabs(t->total_ms / watch->best->cost.step_ms - 1) < 1e-9);
    uint32_t count = 0;
    for (int n = 0; n < t->count; n++) {
        const struct tree_node *node = &t->nodes[n];
        double below = 0;
        for (uint32_t i = 0; i < node->count; i++, count++) {
            below += watch->ms[t->order[node->first + i]];
            assert_int_equal(t->node_of[t->order[node->first + i]], n);
        }
        own += below;
        for (int k = node->first_child; k >= 0; k = t->nodes[k].next) {
            assert_int_equal(t->nodes[k].parent, n);
            below += t->nodes[k].ms;
        }
        assert_true(fabs(node->ms - below) < 1e-6);
    }
    assert_int_equal(count, problem.m->count); /* every instruction once */
    assert_true(fabs(own - t->total_ms) < 1e-6);
    tree_free(t);
}

/* Rows that are alike are one: the sums stay, each row says of how many it is, and those it is of
 * are called alike. */
static void check_folded(enum cost_key key, struct cost_group *groups, size_t count)
{
    struct cost_group *was = mem_alloc((count + 1) * sizeof *was);
    double all[2] = {0};
    uint32_t times = 0;
    char name[NAME_ROOM], end[16];

    memcpy(was, groups, count * sizeof *was);
    size_t kept = cost_fold_alike(watch, key, groups, count);
    bool folds = key == COST_BY_LAYER || key == COST_BY_CLASS;
    assert_true(folds ? kept < count : kept == count);
    for (size_t n = 0; n < kept; n++) {
        const struct cost_group *g = &groups[n];
        cost_row_name(watch, key, g, name, sizeof name);
        snprintf(end, sizeof end, " ×%u", g->times);
        assert_int_equal(g->times > 1, strstr(name, end) != NULL);
        times += g->times;
        all[1] += g->compute_ms + g->network_ms;
    }
    for (size_t n = 0; n < count; n++)
        all[0] += was[n].compute_ms + was[n].network_ms;
    assert_int_equal(times, count);
    assert_true(fabs(all[0] - all[1]) < 1e-6);
    free(was);
}

/* Every way to take the step time apart adds up to it, and so do parts of parts. */
static void test_cost_adds_up(void **state)
{
    (void)state;
    struct cost_split s = {0};
    struct cost_group *groups, *parts;
    size_t count, part_count;
    struct err e;

    tell("episode 1");
    assert_int_equal(cost_split_read(&s, watch, &e), 0);
    const struct step_cost *step = &watch->best->cost;
    for (enum cost_key key = 0; key < COST_KEY_COUNT; key++) {
        double compute = 0, network = 0;
        assert_int_equal(cost_split_group(&s, NULL, 0, key, &groups, &count, &e), 0);
        for (size_t n = 0; n < count; n++) {
            compute += groups[n].compute_ms;
            network += groups[n].network_ms;
            struct cost_filter f = {key, groups[n].value};
            double inside = 0;
            assert_int_equal(cost_split_group(&s, &f, 1, COST_BY_OPCODE, &parts, &part_count, &e),
                             0);
            for (size_t k = 0; k < part_count; k++)
                inside += parts[k].compute_ms + parts[k].network_ms;
            assert_true(fabs(inside - groups[n].compute_ms - groups[n].network_ms) < 1e-6);
            free(parts);
        }
        check_folded(key, groups, count);
        free(groups);
        assert_true(fabs(compute - step->compute_ms) < 1e-6 &&
                    fabs(network - step->communication_ms) < 1e-6);
    }
    struct cost_traffic t = cost_split_traffic(&s, CLASS_NONE);
    assert_true(fabs(t.inside_ms + t.across_ms - step->communication_ms) < 1e-6);
    assert_true(step->communication_ms <= 0 || t.inside_bytes > 0);
    cost_split_release(&s);
}

/* What is listed as live is what the model counts, at every position; a group's values are its
 * bytes; a flip is what the model says of that assignment. */
static void test_memory_adds_up(void **state)
{
    (void)state;
    static struct memory_value values[8192];
    struct memory_curve c;
    struct memory_group *groups;
    size_t count;
    double inner;
    struct err e;

    tell("episode 1");
    assert_int_equal(memory_curve_make(watch, watch->best, &c, &e), 0);
    assert_true(fabs(c.total[c.peak] - watch->memory.peak) < 1);
    assert_int_equal(memory_at(watch, c.peak), watch->memory.at);
    for (uint32_t n = 0; n < c.count; n += 241) {
        double sum = 0;
        assert_int_equal(memory_groups(watch, &c, n, &groups, &count, &inner, &e), 0);
        for (size_t k = 0; k < count; k++) {
            double own = 0;
            uint32_t held = memory_group_values(watch, &c, n, &groups[k], values, 8192);
            assert_int_equal(held, groups[k].count);
            for (uint32_t i = 0; i < held; i++) {
                own += values[i].bytes;
                assert_true(i == 0 || values[i].bytes <= values[i - 1].bytes);
            }
            assert_true(fabs(own - groups[k].bytes) < 1);
            sum += groups[k].bytes;
        }
        assert_true(fabs(sum + inner - c.total[n]) < 2);
        free(groups);
    }
    struct memory_flip *flips = mem_alloc((size_t)watch->move_count * sizeof *flips);
    memory_flips(watch, &c, 0, watch->move_count, flips);
    for (int n = 0; n < watch->move_count; n++) {
        const struct game_move *g = &watch->moves->items[n];
        assert_int_equal(flips[n].split,
                         !(watch->best->on[watch->moves->pool[g->classes]] >> g->axis & 1));
        assert_true(flips[n].step_ms > 0 && flips[n].peak > watch->memory.arguments / 4);
    }
    free(flips);
    memory_curve_release(&c);
}

/* Members are all dims of variables and inputs of the class, its all-reduces those of a plan that
 * splits it alone; every forbidden class is listed once. */
static void test_classes_inside(void **state)
{
    (void)state;
    const struct classes *c = &problem.classes;
    struct class_member *items;
    struct class_reduces *reduces;
    class_id *forbidden = mem_alloc(c->count * sizeof *forbidden);
    label *on = mem_alloc((c->count + 1) * sizeof *on);
    size_t count;
    struct err e;

    assert_int_equal(class_reduces_all(watch, &reduces, &e), 0);
    for (int n = 0; n < watch->move_count; n++) {
        class_id k = watch->moves->pool[watch->moves->items[n].classes];
        uint32_t variables = 0, inputs = 0;
        assert_int_equal(class_members(watch, k, &items, &count, &e), 0);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(c->class_of[items[i].dim], k);
            assert_true(items[i].steps >= 1);
            variables += items[i].role == HLO_ROLE_VARIABLE;
            inputs += items[i].role == HLO_ROLE_INPUT;
        }
        free(items);
        assert_int_equal(variables, c->info[k].var_dims);
        assert_int_equal(inputs, c->info[k].input_dims);
        on[k] = 1;
        double sum = 0, ms = step_tables_cost(&problem.step_tables, on).communication_ms;
        for (hlo_id id = 0; id < problem.m->count; id++)
            sum += step_tables_instruction(&problem.step_tables, id, on).reduced_count *
                   problem.costs.times[id];
        on[k] = 0;
        assert_true(fabs(sum - reduces[k].count) < 1e-6 && fabs(ms - reduces[k].ms) < 1e-6);
    }
    class_id found = class_forbidden(&problem, forbidden), never = 0;
    for (class_id k = 0; k < c->count; k++)
        never += c->info[k].reason != CLASS_ALLOWED;
    assert_int_equal(found, never);
    for (class_id n = 0; n < found; n++) {
        assert_true(c->info[forbidden[n]].reason != CLASS_ALLOWED && !on[forbidden[n]]);
        on[forbidden[n]] = 1;
    }
    free(on);
    free(forbidden);
    free(reduces);
}

/* In a thread of its own the race comes out as without one; each line only ever gets better. */
static void test_race(void **state)
{
    (void)state;
    static struct race_look looks[2];
    struct race_run *r;
    struct err e;

    for (int threaded = 0; threaded < 2; threaded++) {
        assert_int_equal(race_run_new(watch, 3, 40, threaded, &r, &e), 0);
        for (int wait = 0; wait < 600000 && !looks[threaded].done; wait++) {
            race_run_look(r, &looks[threaded]);
            if (!looks[threaded].done)
                usleep(1000);
        }
        race_run_free(r);
        assert_true(looks[threaded].done && looks[threaded].level == 40);
    }
    for (uint32_t n = 0; n < looks[0].count; n++) {
        const struct race_line *a = &looks[0].lines[n], *b = &looks[1].lines[n];
        assert_int_equal(a->step_count, b->step_count);
        for (uint32_t k = 0; k < a->step_count; k++) {
            assert_true(a->steps[k].score == b->steps[k].score &&
                        a->steps[k].evaluation == b->steps[k].evaluation);
            assert_true(k == 0 || a->steps[k].score > a->steps[k - 1].score);
        }
    }
    assert_true(looks[0].lines[SEARCH_EXACT].proven);
    assert_int_equal(race_run_new(watch, 4, 1000000, true, &r, &e), 0);
    race_run_free(r); /* stops a race that has hardly begun */
}

/* The pipeline that is made in a thread is the one made without; it can be left at any time. */
static void test_pipeline_job(void **state)
{
    (void)state;
    static struct pipeline_look looks[2];
    struct pipeline_options o = {.schedule = PIPE_EAGER};
    struct pipeline_job *jobs[2];
    struct err e;

    for (int threaded = 0; threaded < 2; threaded++) {
        assert_int_equal(pipeline_job_new(&problem, &o, threaded, &jobs[threaded], &e), 0);
        for (int wait = 0; wait < 600000 && !looks[threaded].done; wait++) {
            pipeline_job_look(jobs[threaded], &looks[threaded]);
            if (!looks[threaded].done)
                usleep(1000);
        }
        assert_true(looks[threaded].done && looks[threaded].version > 0 &&
                    looks[threaded].has_exact);
    }
    assert_true(pipe_plan_equal(&looks[0].plan.plan, &looks[1].plan.plan));
    assert_true(looks[0].plan.makespan_ms[PIPE_EAGER] == looks[1].plan.makespan_ms[PIPE_EAGER]);
    assert_true(looks[0].plan.fits && looks[0].exact.certified);
    pipeline_job_free(jobs[0]);
    pipeline_job_free(jobs[1]);
    assert_int_equal(pipeline_job_new(&problem, &o, true, &jobs[0], &e), 0);
    pipeline_job_free(jobs[0]);
    assert_int_equal(pipeline_job_new(&problem, &o, true, &jobs[0], &e), 0);
    pipeline_job_stop(jobs[0]);
    memset(&looks[0], 0, sizeof looks[0]);
    for (int wait = 0; wait < 600000 && !looks[0].done; wait++) {
        pipeline_job_look(jobs[0], &looks[0]);
        usleep(1000);
    }
    assert_true(looks[0].done && !looks[0].trouble[0]); /* left is not failed */
    pipeline_job_free(jobs[0]);
}

/* The relaxed plan made in a thread is the one made without, no worse than any strict plan, over
 * its bound. */
static void test_relaxed_job(void **state)
{
    (void)state;
    static struct relaxed_look looks[2];
    struct relaxed_job *jobs[2];
    double sum = 0;
    struct err e;

    for (int threaded = 0; threaded < 2; threaded++) {
        assert_int_equal(relaxed_job_new(&problem, watch->shot, threaded, &jobs[threaded], &e), 0);
        for (int wait = 0; wait < 600000 && !looks[threaded].done; wait++) {
            relaxed_job_look(jobs[threaded], &looks[threaded]);
            if (!looks[threaded].done)
                usleep(1000);
        }
        assert_non_null(looks[threaded].plan);
    }
    const struct relaxed_plan *a = looks[0].plan, *b = looks[1].plan;
    assert_true(a->cost.step_ms == b->cost.step_ms && a->reshard_count == b->reshard_count &&
                a->bound_ms == b->bound_ms);
    assert_true(a->bound_ms <= a->cost.step_ms * (1 + 1e-9) &&
                a->cost.step_ms <= watch->exact->cost.step_ms * (1 + 1e-9));
    for (int k = 0; k < RESHARD_KIND_COUNT; k++)
        sum += looks[0].sums[k].ms;
    assert_true(fabs(sum - a->cost.communication_ms) < 1e-6);
    relaxed_job_free(jobs[0]);
    relaxed_job_free(jobs[1]);
    assert_int_equal(relaxed_job_new(&problem, watch->shot, true, &jobs[0], &e), 0);
    relaxed_job_free(jobs[0]);
}

/* A wave holds all dims of its classes and no others; each step follows from the one before;
 * played, it lights up in order and ends. */
static void test_wave(void **state)
{
    (void)state;
    const struct classes *c = &problem.classes;
    const struct wave *v = &watch->wave;

    tell("episode 1");
    for (int decision = 0; decision < 4; decision++) {
        uint32_t in = 0, at_step[1024] = {0};
        tell("decide 1");
        assert_true(v->steps > 0 && v->steps < 1024 && v->shown == v->steps);
        for (dim_id d = 0; d < c->dim_count; d++) {
            bool changed = false;
            for (uint32_t n = 0; n < watch->shot->wave_count; n++)
                changed |= c->class_of[d] == watch->shot->wave[n].class;
            assert_int_equal(changed, v->step[d] > 0);
            in += changed;
            at_step[v->step[d]]++;
        }
        assert_int_equal(in, v->values);
        for (uint32_t n = 1; n <= v->steps; n++)
            assert_true(at_step[n] > 0);
        wave_play(&watch->wave, 1000, 10);
        uint32_t lit = 0;
        for (double now = 1000; v->begun_ms >= 0; now += 5) {
            wave_tick(&watch->wave, now);
            assert_true(v->shown >= lit && v->shown <= v->steps);
            for (dim_id d = 0; d < c->dim_count; d += 97)
                assert_int_equal(wave_light(v, d) != WAVE_DARK,
                                 v->step[d] && v->step[d] <= v->shown);
            lit = v->shown;
            assert_true(now < 1000 + 10 * 1024);
        }
        assert_int_equal(v->shown, v->steps);
    }
}

/* T5 with 6 + 6 layers: the shapes of all six are alike on each side. */
static void test_layers_fold(void **state)
{
    (void)state;
    struct tree *t;
    struct err e;
    int series = 0;

    assert_int_equal(tree_new(&problem, &t, &e), 0);
    for (int n = 0; n < t->count; n++) {
        if (!t->nodes[n].series)
            continue;
        series++;
        assert_int_equal(strncmp(t->nodes[n].name, "layers ", 7), 0);
        int members = 0;
        for (int k = t->nodes[n].first_child; k >= 0; k = t->nodes[k].next, members++)
            assert_true(t->nodes[k].hash == t->nodes[t->nodes[n].first_child].hash);
        assert_int_equal(members, t->nodes[n].series);
    }
    assert_true(series >= 4); /* encoder and decoder, forward and backward */
    tree_free(t);
}

/* At first the rows fill a panel and no more, at every height from the one that all phases need;
 * the next height opens no fewer; what a person opened is there again after it was recalled into
 * another tree. */
static void test_rows_fit(void **state)
{
    (void)state;
    struct tree *t;
    struct err e;
    struct tree_rows r = {0}, later = {0};
    size_t before = 0;

    assert_int_equal(tree_new(&problem, &t, &e), 0);
    tree_read(t, watch);
    tree_rows_begin(&r, t);
    for (int height = 8; height <= 120; height++) {
        tree_rows_fit(&r, height);
        assert_true(r.count <= (size_t)height);
        assert_true(r.count > (size_t)height * 2 / 3); /* t5-base6 has as much to show */
        for (size_t i = 0; i < r.count; i++) {
            assert_false(r.row[i].instruction == HLO_NONE && !r.row[i].more &&
                         t->nodes[r.row[i].node].series && r.open[r.row[i].node]);
        }
        before = r.count;
    }
    tree_rows_reveal(&r, problem.m->count / 2);
    tree_rows_make(&r, NULL);
    assert_true(r.count > before);
    tree_rows_fit(&r, 10); /* a person has been here: nothing moves */
    assert_true(r.count > before);
    void *memory = tree_rows_remember(&r);
    tree_rows_begin(&later, t);
    tree_rows_recall(&later, memory);
    tree_rows_make(&later, NULL);
    assert_int_equal(later.count, r.count);
    assert_memory_equal(later.row, r.row, r.count * sizeof *r.row);
    free(memory);
    tree_rows_release(&r);
    tree_rows_release(&later);
    tree_free(t);
}

/* The price in the dialog is what the search's own proof says once the pin is there. */
static void test_price_of_a_pin(void **state)
{
    (void)state;
    int move = move_named("encoder self");
    struct price whole = price_with_memory(watch, move, 0),
                 now = price_at_best(watch, MOVE_NONE, -1);
    struct plan_figures then;
    struct err e;
    char line[32];

    assert_true(whole.known && whole.proven && now.known);
    assert_true(fabs(now.cost.step_ms - watch->exact->cost.step_ms) < 1e-9);
    assert_int_equal(now.changes, 0);
    assert_true(whole.cost.step_ms > now.cost.step_ms);
    snprintf(line, sizeof line, "pin @%d=0", move);
    tell(line);
    assert_true(watch->move[move].pinned);
    assert_true(fabs(whole.cost.step_ms - watch->exact->cost.step_ms) < 1e-9);
    assert_int_equal(plan_figures(watch, watch->exact->on, &then, &e), 0);
    assert_true(whole.memory > 0 && fabs(whole.memory - then.memory) < 1 && now.memory <= 0);
    struct price back =
        price_at_best(watch, move, 1); /* the pin in question is not in its own way */
    assert_true(back.known && fabs(back.cost.step_ms - now.cost.step_ms) < 1e-9);
    tell("undo");
    assert_false(watch->move[move].pinned);
}

/* What a decision settles is what a game has no choice of any more once it is split. */
static void test_what_falls(void **state)
{
    struct game g;
    struct err e;

    (void)state;
    assert_int_equal(game_new(&problem, &watch->shot->options.game, &g, &e), 0);
    assert_int_equal(g.move_count, watch->move_count);
    for (int count = 1; count <= 2; count++) {
        for (int n = 0; n + count <= watch->move_count; n++) {
            game_reset(&g);
            for (int k = n; k < n + count; k++)
                game_settle(&g, (uint32_t)k, true);
            assert_int_equal(flips_settled(watch, n, count), g.move_count - game_open_count(&g));
        }
    }
    game_release(&g);
}

static void test_statuses(void **state)
{
    (void)state;
    int width = move_named("width 768"), self = move_named("encoder self");

    tell("pin @0=1");
    tell("episode 1");
    assert_int_equal(width, 0);
    assert_int_equal(watch->move[width].now, 1);
    assert_int_equal(watch->move[self].now, 0); /* they meet in every kernel */
    for (hlo_id id = 0; id < problem.m->count; id++) {
        if (watch_move_of_instruction(watch, id) == width && watch_status(watch, id) >= 0)
            assert_int_equal(watch_status(watch, id), 1);
    }
    tell("undo");
    watch->cursor = self;
    tell("set folding off"); /* other decisions: 24 of them, names without ranges */
    assert_int_equal(watch->move_count, 24);
    assert_int_equal(watch->move[move_named("decoder ffn 3")].classes, 1);
    tell("undo");
    assert_int_equal(watch->move[move_named("decoder ffn 0–5")].classes, 6);
}

/* Rows that stand for others say what these take, and those of a node that are shown take longest.
 * Returns how many such rows have shown ones above them. */
static int check_more(const struct tree_rows *r)
{
    int below_shown = 0;

    for (size_t at = 0; at < r->count; at++) {
        const struct tree_node *node = &watch->tree->nodes[r->row[at].node];
        const hlo_id *order = watch->tree->order + node->first;
        double hidden = 0, least = INFINITY;
        size_t first = at;
        if (!r->row[at].more)
            continue;
        while (first > 0 && r->row[first - 1].node == r->row[at].node &&
               r->row[first - 1].instruction != HLO_NONE)
            least = fmin(least, watch->ms[r->row[--first].instruction]);
        for (uint32_t i = 0; i < node->count; i++) {
            bool is_shown = false;
            for (size_t k = first; k < at; k++)
                is_shown |= r->row[k].instruction == order[i];
            hidden += is_shown ? 0 : watch->ms[order[i]];
            assert_true(is_shown || i >= node->telling || watch->ms[order[i]] <= least);
        }
        assert_true(fabs(tree_rows_more_ms(r, at) - hidden) < 1e-9);
        below_shown += first < at;
    }
    return below_shown;
}

static void test_tree_more(void **state)
{
    struct tree_rows r = {0};
    int below_shown = 0;
    (void)state;

    for (int height = 12; height < 60; height += 3) {
        tree_rows_begin(&r, watch->tree);
        tree_rows_fit(&r, height);
        below_shown += check_more(&r);
    }
    assert_true(below_shown > 0);
    tree_rows_release(&r);
    for (uint32_t k = 0; k < problem.roles.param_count; k++) {
        const struct hlo_param_role *p = &problem.roles.params[k];
        hlo_id id = problem.m->value_instruction[p->value];
        if (p->role == HLO_ROLE_OPTIMIZER_STATE)
            assert_string_equal(tree_instruction_name(watch->tree, id), p->name);
    }
}

static double step_with_split(int first, int end)
{
    label *on = mem_alloc((problem.classes.count + 1) * sizeof *on);

    for (int n = first; n < end; n++) {
        const struct game_move *m = &watch->moves->items[n];
        for (uint32_t i = 0; i < m->class_count; i++)
            on[watch->moves->pool[m->classes + i]] = 1;
    }
    double ms = step_tables_cost(&problem.step_tables, on).step_ms;
    free(on);
    return ms;
}

/* The price of a series is that of all its layers split; of decisions that exclude each other it is
 * that of the best of them, in the best plan as well. */
static void test_series_prices(void **state)
{
    int series = 0, first = move_named("width 768");
    double whole_ms = step_with_split(0, 0);
    char stems[2][NAME_ROOM];
    (void)state;

    tell("pin @5=1"); /* the cross-attention's layers become decisions of their own */
    for (int n = 0, end; n < watch->move_count; n = end) {
        end = watch_series_end(watch, n);
        assert_int_equal(watch_series_begin(watch, end - 1), n);
        assert_int_equal(watch->move[n].series_only, MOVE_NONE);
        assert_true(fabs(watch->move[n].series_ms - (whole_ms - step_with_split(n, end))) < 1e-6);
        series += end > n + 1;
    }
    for (int k = 0; k < 2; k++) { /* as if these were layers of one series */
        struct watch_move *m = &watch->move[first + k];
        snprintf(stems[k], NAME_ROOM, "%s", m->stem);
        snprintf(m->stem, NAME_ROOM, "forged");
    }
    assert_int_equal(watch_series_end(watch, first), first + 2);
    series_price_all(watch);
    const struct watch_move *a = &watch->move[first], *b = a + 1;
    assert_int_equal(a->series_only, a->saves_ms > b->saves_ms ? first : first + 1);
    assert_true(fabs(b->series_ms - fmax(a->saves_ms, b->saves_ms)) < 1e-9);
    struct flips *f = flips_new(), *each = flips_new();
    struct flip both = flips_of(f, watch, first, 2, 0);
    bool is_split = a->best || b->best;
    struct flip one = flips_of(each, watch, first, 1, 0),
                other = flips_of(each, watch, first + 1, 1, 0);
    assert_int_equal(both.one, !is_split);
    if (!is_split)
        assert_true(fabs(both.change_ms - fmin(one.change_ms, other.change_ms)) < 1e-9);
    flips_free(f);
    flips_free(each);
    for (int k = 0; k < 2; k++)
        snprintf(watch->move[first + k].stem, NAME_ROOM, "%.150s", stems[k]);
    series_price_all(watch);
    tell("undo");
    assert_true(series > 0);
}

static void shorten(char out[static SHORT_NAME_ROOM], const char *name, int columns)
{
    watch_short_name(out, SHORT_NAME_ROOM, name, columns);
}

/* Names that read alike are written by the words in which they differ, others as alone. */
static void test_told_apart(void **state)
{
    static const char *const names[] = {"conv3 block1_0 conv_1", "conv3 block2_1 conv_1",
                                        "conv4 block1_0 conv_1", "encoder ffn",
                                        "conv4 block2_1 conv_1", "conv4 block2_1 conv_1"};
    static const char *const layers[] = {"decoder cross", "decoder cross 1-9"};
    static const char *const told[] = {"c3 b1_0", "c3 b2_1", "c4 b1_0",
                                       "enc ffn", "c4 b2_1", "c4 b2_1"};
    char out[6][SHORT_NAME_ROOM];
    (void)state;

    short_names(names, 6, 9, shorten, out);
    for (int n = 0; n < 6; n++)
        assert_string_equal(out[n], told[n]);
    short_names(names, 6, 40, shorten, out);
    for (int n = 0; n < 6; n++)
        assert_string_equal(out[n], names[n]);
    short_names(layers, 2, 13, shorten, out);
    assert_string_equal(out[0], "decoder cross");
    assert_string_equal(out[1], "dec cross 1-9");
    short_names(layers, 2, 10, shorten, out);
    assert_string_equal(out[0], "dec cross");
    assert_string_equal(out[1], "cross 1-9");
    short_names(layers, 2, 8, shorten, out);
    assert_string_equal(out[1], "cro 1-9");
    static const char *const heads[] = {"bert self attention value 1–3, 64",
                                        "bert self attention value 1–3, 8",
                                        "bert self attention query 1–3, 8"};
    short_names(heads, 3, 20, shorten, out); /* what else has room stays */
    assert_string_equal(out[0], "bert value 1–3, 64");
    assert_string_equal(out[2], "bert query 1–3, 8");
    short_names(heads, 3, 7, shorten, out);
    assert_string_not_equal(out[0], out[1]);
    assert_string_not_equal(out[1], out[2]);
    static const int columns[] = {12, 11, 40}; /* each its own */
    short_names_beside(heads, columns, 3, shorten, out);
    assert_string_not_equal(out[0], out[1]);
    assert_string_equal(out[2], heads[2]);
    short_names(names, 0, 9, shorten, out);
}

static void test_short_names(void **state)
{
    (void)state;
    char out[NAME_ROOM];

    assert_string_equal(watch_short_name(out, sizeof out, "decoder cross 1–5", 20),
                        "decoder cross 1–5");
    assert_string_equal(watch_short_name(out, sizeof out, "decoder cross 1–5", 14),
                        "dec cross 1–5");
    assert_string_equal(watch_short_name(out, sizeof out, "decoder cross 1–5", 9), "dec cross");
    assert_string_equal(watch_short_name(out, sizeof out, "vocab 32128", 6), "vocab");
    assert_string_equal(watch_short_name(out, sizeof out, "conv2_1", 6), "c2_1");
    assert_string_equal(watch_short_name(out, sizeof out, "encoder ffn 0–1 x", 10), "enc ffn x");
    /* What tells one block from the next stays. */
    assert_string_equal(
        watch_short_name(out, sizeof out, "conv2 block1_1 conv kernel dim 3, 128", 33),
        "conv2 block1_1 conv ker 3, 128");
    assert_string_equal(
        watch_short_name(out, sizeof out, "conv2 block1_1 conv kernel dim 3, 128", 21),
        "conv2 block1_1 3, 128");
    assert_string_equal(
        watch_short_name(out, sizeof out, "conv2 block1_1 conv kernel dim 3, 128", 16),
        "conv2 block1_1 3");
    /* Sizes go before what it is the number of. */
    assert_string_equal(watch_short_name(out, sizeof out, "conv kernel dim 0 no. 2 256, 256", 19),
                        "conv 0 no. 2 256");
    assert_string_equal(watch_short_name(out, sizeof out, "conv kernel dim 0 no. 2 256, 256", 13),
                        "conv 0 no. 2");
}

/* ---- the application ---- */

/* The hint row is a row of buttons for who has a mouse. */
static void test_click_on_a_hint(void **state)
{
    (void)state;
    struct app *app = explorer_open(MODELS "t5-tiny.hlo.txt.gz", NULL, 120, 40);
    struct str text = {0};

    const struct grid *g = app_frame(app);
    assert_non_null(g);
    int at = -1;
    for (int x = 0; x + 6 < 120; x++) { /* "e export" */
        const struct cell *c = g->cells + (size_t)38 * 120 + x;
        at = c[0].ch == 'e' && c[1].ch == ' ' && c[2].ch == 'e' && c[3].ch == 'x' && c[4].ch == 'p'
                 ? x
                 : at;
    }
    assert_true(at >= 0);
    app_click(app, at + 3, 38, false);
    app_settle(app, 5);
    app_touch(app);
    grid_text(app_frame(app), &text);
    assert_non_null(strstr(text.text, "Export "));
    str_release(&text);
    app_free(app);
}

/* What a key of the panels does not do while a view is over them, it says. */
static void test_keys_over_a_view(void **state)
{
    (void)state;
    struct app *app = explorer_open(MODELS "t5-tiny.hlo.txt.gz", NULL, 120, 40);
    struct str text = {0};

    app_key(app, 'V');
    app_key(app, 'm');
    for (const char *key = "0123456789vz<>\t"; *key; key++) {
        app_key(app, 'j'); /* ends the message before */
        str_clear(&text);
        app_touch(app);
        grid_text(app_frame(app), &text);
        assert_null(strstr(text.text, "is over the panels"));
        bool own = *key == '\t'; /* the view's: its other list */
        app_key(app, own ? KEYC_TAB : (uint32_t)*key);
        str_clear(&text);
        app_touch(app);
        grid_text(app_frame(app), &text);
        assert_true(own == !strstr(text.text, "Memory is over the panels; Esc closes it"));
    }
    str_release(&text);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_adds_up),
        cmocka_unit_test(test_layers_fold),
        cmocka_unit_test(test_rows_fit),
        cmocka_unit_test(test_wave),
        cmocka_unit_test(test_race),
        cmocka_unit_test(test_relaxed_job),
        cmocka_unit_test(test_pipeline_job),
        cmocka_unit_test(test_classes_inside),
        cmocka_unit_test(test_memory_adds_up),
        cmocka_unit_test(test_cost_adds_up),
        cmocka_unit_test(test_price_of_a_pin),
        cmocka_unit_test(test_what_falls),
        cmocka_unit_test(test_tree_more),
        cmocka_unit_test(test_series_prices),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_told_apart),
        cmocka_unit_test(test_short_names),
        cmocka_unit_test(test_click_on_a_hint),
        cmocka_unit_test(test_keys_over_a_view),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
