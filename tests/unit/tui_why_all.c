/* `w` in every view, at every moment of a run, on models of many frameworks: the answer is about
 * the plan of the headline, says its step, and is as that plan is. And what is asked of the relaxed
 * plan and of a pipeline is as they are. */
#include "engine/plan/explain.h"
#include "engine/plan/explain_reshard.h"
#include "engine/text/units.h"
#include "explorer.h"
#include "tui/watch/answer.h"
#include "tui/watch/cost_split.h"
#include "tui/watch/flips.h"
#include "tui/watch/other_way.h"
#include "tui/watch/part.h"
#include "tui/watch/pipeline_job.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/relaxed_job.h"
#include "tui/watch/tree.h"
#include "tui/watch/why_find.h"
#include "tui/watch/why_of.h"
#include "two_stages.h"
#include "zoo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MODELS_MOST = 64, ZOO_BYTES = 400 << 10 };

static const char *screen(struct app *app, const char *keys, struct str *out)
{
    explorer_type(app, keys);
    return explorer_text(app, out);
}

/* The line that names whose splits are explained; NULL: no answer is on the screen. */
static const char *subject(const char *text)
{
    const char *line = strstr(text, "\n of  ");
    return line ? line + 6 : NULL;
}

/* What the answer says of each decision, where it is a table of them. */
static void check_module(const struct watch *w, const char *text)
{
    for (int n = 0; n < w->move_count; n++) {
        char row[NAME_ROOM + 8];
        snprintf(row, sizeof row, "\n   %s  ", w->move[n].name);
        const char *at = strstr(text, row);
        if (!at)
            continue;
        at += strlen(row);
        at += strspn(at, " ");
        uint32_t split = plan_splits(w, w->best->on, n), of = w->moves->items[n].class_count;
        if (!strstr(text, "in this plan"))
            continue; /* another table: what makes a collective */
        assert_int_equal(!strncmp(at, "0 whole", 7), split == 0);
        assert_int_equal(!strncmp(at, "1 split", 7), split == of);
    }
}

/* The value a person reads so; HLO_NONE: none, or several. */
static hlo_value value_named(const struct watch *w, const char *name, size_t size)
{
    const struct hlo_module *m = w->problem->m;
    hlo_value found = HLO_NONE;
    int count = 0;

    for (hlo_id id = 0; id < m->count; id++) {
        const char *own = watch_parameter_name(w, id);
        own = own ? own : hlo_name(m, id);
        if (strlen(own) != size || memcmp(own, name, size) != 0)
            continue;
        if (m->leaf_base[id + 1] - m->leaf_base[id] != 1)
            return HLO_NONE; /* a leaf of a tuple has the tuple's name */
        found = m->leaf_base[id];
        count++;
    }
    return count == 1 ? found : HLO_NONE;
}

/* "Dim 1 of encoder/q is split over 4": as the plan has it. */
static bool check_sentence(const struct watch *w, const char *text)
{
    static const char *const says[] = {" is whole", " is split over", " can never be split"};
    const struct classes *c = &w->problem->classes;
    const char *at = strstr(text, "\n Dim "), *end = NULL;
    int dim, begin, say = 0;

    if (!at || sscanf(at, " Dim %d of %n", &dim, &begin) != 1)
        return false;
    for (; say < 3 && !end; say++)
        end = strstr(at, says[say]);
    if (!end || end - at > 150)
        return false;
    hlo_value v = value_named(w, at + begin, (size_t)(end - at - begin));
    if (v == HLO_NONE)
        return false;
    class_id k = c->class_of[c->dim_base[v] + (uint32_t)dim];
    bool split = k != CLASS_NONE && w->best->on[k];
    assert_int_equal(split, say == 2);
    if (split)
        assert_int_equal(strtoul(end + strlen(says[1]), NULL, 10),
                         w->problem->labels.parts[w->best->on[k]]);
    return true;
}

static int sentences;

/* Whatever is on the screen: if it answers `why`, then about the best plan, with its step. */
static bool check_answer(struct app *app, const char *text)
{
    const struct watch *w = app_watch(app);
    const char *of = subject(text);
    char step[UNITS_ROOM];

    if (!of || !w->best)
        return false;
    const char *name = watch_plan_word(w);
    assert_true(!strncmp(of, name, strlen(name)));
    assert_null(strstr(text, "not decided yet"));
    const char *ms = strstr(of, units_plain_ms(step, w->best->cost.step_ms));
    assert_true(ms && ms - of < 48);
    check_module(w, text);
    sentences += check_sentence(w, text);
    const char *as_it_is = strstr(text, "\n   as it is  ");
    if (as_it_is) /* the first row of the other way: the headline's step */
        assert_int_equal(strspn(as_it_is + 14, " ") + 14 + strlen(step),
                         (size_t)(strstr(as_it_is, step) + strlen(step) - as_it_is));
    return true;
}

/* Keys that ask in each view; the first closes what is open. */
static const char *const questions[] = {
    "\033\033\033"
    "1gw",
    "\033\033\033"
    "1jjw",
    "\033\033\033"
    "1Xjlw",
    "\033\033\033"
    "2gw",
    "\033\033\033"
    "2jjw",
    "\033\033\033"
    "3w",
    "\033\033\033"
    "6w",
    "\033\033\033"
    "8w",
    "\033\033\033"
    "8ow",
    "\033\033\033"
    "8o\rw",
    "\033\033\033"
    "Vmw",
    "\033\033\033"
    "Vmjw",
    "\033\033\033"
    "Vm\rw",
    "\033\033\033"
    "Vxw",
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static int ask_everywhere(struct app *app, double *now, struct str *out)
{
    int answers = 0;

    for (int n = 0; n < QUESTIONS; n++) {
        app_time(app, *now += 300);
        app_woken(app);
        answers += check_answer(app, screen(app, questions[n], out));
        app_time(app, *now += 300); /* it goes on meanwhile, the answer with it */
        app_woken(app);
        check_answer(app, screen(app, "", out));
    }
    explorer_type(app, "\033\033\033");
    return answers;
}

/* Moments of a run after the first: in the middle of an episode, after many, under a pin and
 * without it again, with less memory, on another mesh, at a speed. With AUTOMAP_ALL: some minutes.
 */
static const char *const moments[] = {"decide 1",
                                      "decide 2",
                                      "episode 12",
                                      "pin @0=1",
                                      "decide 3",
                                      "undo",
                                      "set memory-limit 2 GB",
                                      "episode 5",
                                      "undo",
                                      "mesh 2x2",
                                      "episode 3",
                                      "batch x2",
                                      "episode 2; decide 1"};

static int ask_later(struct app *app, double *now, struct str *out, int *asked)
{
    size_t count = getenv("AUTOMAP_ALL") ? sizeof moments / sizeof *moments : 1;
    int answers = 0;
    struct err e;

    for (size_t n = 0; n < count; n++) {
        if (app_tell(app, moments[n], &e))
            continue; /* a model without a batch, of one decision, .. */
        answers += ask_everywhere(app, now, out);
        *asked += QUESTIONS;
    }
    return answers;
}

static void test_every_view_of_every_model(void **state)
{
    (void)state;
    const char *paths[MODELS_MOST] = {AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz",
                                      AUTOMAP_SOURCE_DIR "/examples/models/mlp.hlo.txt.gz"};
    glob_t found = {0};
    size_t count = 2 + zoo_models(&found, paths + 2, MODELS_MOST - 2, ZOO_BYTES), opened = 0;
    struct str out = {0};
    int answers = 0, asked = 0;

    for (size_t n = 0; n < count; n++) {
        struct app *app = explorer_try(paths[n], NULL, 200, 60, &(struct err){0});
        double now = 1000;
        struct err e;
        if (!app)
            continue;
        opened++;
        assert_int_equal(app_tell(app, "run", &e), 0);
        struct timespec while_it_runs = {0, 3000000};
        nanosleep(&while_it_runs, NULL);
        answers += ask_everywhere(app, &now, &out);
        asked += QUESTIONS;
        assert_int_equal(app_tell(app, "pause", &e), 0);
        answers += ask_later(app, &now, &out, &asked);
        if (getenv("AUTOMAP_ALL"))
            printf("%s: %d asked, %d answered\n", paths[n], asked, answers);
        app_free(app);
    }
    printf("%zu models, %d questions, %d answered by a page or a chain, %d sentences held to the "
           "plan\n",
           opened, asked, answers, sentences);
    assert_true(answers > asked / 2 && sentences > (int)opened);
    globfree(&found);
    str_release(&out);
}

/* The other way round of every decision of a plan: as it is, the figures of the plan; one class
 * alone, what the engine says of that flip; anew, no shorter than the optimum and no longer than
 * with the rest as it is. What is split is asked about along the axis it is split over. */
static void check_other_ways(const struct watch *w, label *on, int *flips, int *anew)
{
    struct plan plan = {.problem = w->problem, .on = on};

    plan.cost = step_tables_cost(&w->problem->step_tables, on);
    double eps = 1e-9 * (1 + plan.cost.step_ms);
    for (int n = 0; n < w->move_count && n < 8; n++) {
        class_id k = w->moves->pool[w->moves->items[n].classes];
        const struct game_move *m = &w->moves->items[watch_move_split(w, on, k)];
        struct other_ways o;
        double beside = -1;
        other_ways_begin(&o, w, on, k);
        assert_true(o.count >= 2);
        assert_true(fabs(o.step_ms - plan.cost.step_ms) < eps);
        assert_true(on != w->best->on || fabs(o.memory - w->memory.peak) < 1);
        assert_int_equal(o.split, !on[k]);
        while (other_ways_work(&o, w, on))
            ;
        for (int r = 0; r < o.count; r++) {
            const struct other_way *row = &o.rows[r];
            assert_true(row->known && !row->slow); /* each has few cases to go through */
            if (row->impossible)
                continue;
            if (!row->anew && row->count == 1 && row->only == CLASS_NONE)
                beside = row->step_ms;
            if (!row->anew && !row->in_way && (row->only == k || m->class_count == 1) &&
                row->count == 1) {
                double engine = explain_flip_ms(&plan, k, (label)(on[k] ^ 1u << m->axis));
                assert_true(engine < 0 || fabs(engine - row->step_ms) < eps);
                *flips += engine >= 0;
            }
            if (!row->anew || !row->proven)
                continue;
            assert_true(!w->exact || !w->exact->proven ||
                        row->step_ms > w->exact->cost.step_ms - eps);
            assert_true(beside < 0 || row->step_ms < beside + eps);
            ++*anew;
        }
    }
}

static void test_the_other_way(void **state)
{
    (void)state;
    const char *paths[MODELS_MOST] = {AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz",
                                      AUTOMAP_SOURCE_DIR "/examples/models/t5-base6.hlo.txt.gz",
                                      AUTOMAP_SOURCE_DIR "/examples/models/mlp.hlo.txt.gz",
                                      AUTOMAP_SOURCE_DIR "/examples/models/vgg19.hlo.txt.gz"};
    glob_t found = {0};
    size_t count = 4 + zoo_models(&found, paths + 4, MODELS_MOST - 4, ZOO_BYTES), opened = 0;
    int flips = 0, anew = 0;

    for (size_t n = 0; n < count; n++) {
        struct app *app = explorer_try(paths[n], NULL, 120, 40, &(struct err){0});
        struct err e;
        if (!app)
            continue;
        if (!app_tell(app, "episode 15", &e) && app_watch(app)->best) {
            if (app_watch(app)->exact)
                app_watch(app)->exact->seconds = 1e3; /* whatever else the machine did */
            check_other_ways(app_watch(app), app_watch(app)->best->on, &flips, &anew);
            opened++;
        }
        app_free(app);
    }
    printf("%zu models: %d flips as the engine's, %d decided anew\n", opened, flips, anew);
    assert_true(opened >= 4 && flips >= 8 && anew >= 8);
    globfree(&found);
}

/* What is said of every class of a plan among the others: that another excludes it where asking of
 * that plan says so too, and nowhere else. Returns how many another excludes. */
static int check_same(struct watch *w, const label *on)
{
    size_t classes = w->problem->classes.count, size = classes * sizeof *on;
    struct watch seen = {.problem = w->problem, .moves = w->moves, .on = malloc(size)};
    label *was = malloc(size);
    struct answer a = {0};
    int excluded = 0;
    struct err e;

    seen.open = calloc(classes, sizeof *seen.open);
    assert_true(seen.on && seen.open && was);
    memcpy(seen.on, on, size);
    memcpy(was, w->best->on, size);
    memcpy(w->best->on, on, size);
    for (class_id k = 0; k < classes; k++) {
        struct why_answer why;
        assert_int_equal(why_find(&seen, why_dim_of_class(w->problem, k), &why, &e), 0);
        bool is_excluded = why.kind == WHY_EXCLUDED;
        why_answer_release(&why);
        answer_clear(&a);
        answer_same(&a, w, (struct why_of){WHY_OF_WHOLE, NULL}, seen.open, k);
        assert_true(a.count > 2); /* a head, titles, the best plan */
        const char *there = answer_cell(&a, &a.rows[2], 2);
        assert_int_equal(strstr(there, " is split") != NULL, is_excluded);
        assert_int_equal(!strcmp(answer_status(w, on, k), "whole: excluded"), is_excluded);
        excluded += is_excluded;
    }
    struct why_of list[WHY_OF_MOST];
    int count = why_of_list(w, list);
    size_t row = 2;
    for (int n = 0; n < count; n++) { /* all alike is a plan that splits nothing, no other one */
        if (!list[n].plan)
            continue;
        const char *differ = answer_cell(&a, &a.rows[row++], 3);
        assert_int_equal(!strcmp(differ, "all alike"), !memcmp(list[n].plan->on, seen.open, size));
    }
    assert_int_equal(row, a.count);
    memcpy(w->best->on, was, size);
    answer_release(&a);
    free(seen.on);
    free(seen.open);
    free(was);
    return excluded;
}

/* On a mesh of two axes, plans that split along the second alone: so is what is said of them. */
static void test_the_other_way_of_each_axis(void **state)
{
    struct app *app =
        explorer_open(AUTOMAP_SOURCE_DIR "/examples/models/mlp.hlo.txt.gz", NULL, 120, 40);
    int flips = 0, anew = 0, headed = 0, excluded = 0;
    struct answer a = {0};
    uint32_t in_way;
    struct err e;

    (void)state;
    assert_int_equal(app_tell(app, "mesh 2x2", &e), 0);
    assert_int_equal(app_tell(app, "episode 5", &e), 0);
    const struct watch *w = app_watch(app);
    size_t size = (size_t)w->problem->classes.count * sizeof(label);
    label *on = malloc(size), *both = malloc(size);
    assert_true(on && both);
    for (int n = 0; n < w->move_count; n++) {
        const struct game_move *m = &w->moves->items[n];
        class_id k = w->moves->pool[m->classes];
        memset(on, 0, size);
        if (m->axis != 1 || !flips_turn(w, n, 1, CLASS_NONE, true, on, &in_way))
            continue;
        assert_int_equal(on[k], 1 << 1);
        assert_int_equal(watch_move_split(w, on, k), n);
        check_other_ways(w, on, &flips, &anew);
        excluded += check_same(app_watch(app), on);
        for (class_id i = 0; i < w->problem->classes.count; i++) /* over both axes: they exclude */
            both[i] = label_is_admissible(&w->problem->labels, i, 3) && on[i] ? 3 : 0;
        excluded += check_same(app_watch(app), both);
        answer_clear(&a);
        answer_makes(&a, w, on, k, 6);
        if (!a.count)
            continue;
        const char *note = answer_cell(&a, &a.rows[0], 1);
        assert_int_equal(strncmp(note, w->move[n].name, strlen(w->move[n].name)), 0);
        headed++;
    }
    assert_true(flips > 8 && anew > 8 && headed > 1 && excluded > 0);
    answer_release(&a);
    free(on);
    free(both);
    app_free(app);
}

/* Of a decision about many layers, along the second axis: the collectives of all their classes. */
static void test_what_each_axis_makes(void **state)
{
    struct app *app =
        explorer_open(AUTOMAP_SOURCE_DIR "/examples/models/bert48.hlo.txt.gz", NULL, 120, 40);
    int folded = 0;
    struct answer a = {0};
    uint32_t in_way;
    struct err e;

    (void)state;
    assert_int_equal(app_tell(app, "mesh 2x2", &e), 0);
    const struct watch *w = app_watch(app);
    label *on = malloc((size_t)w->problem->classes.count * sizeof *on);
    assert_non_null(on);
    for (int n = 0; n < w->move_count; n++) {
        const struct game_move *m = &w->moves->items[n];
        const class_id *of = w->moves->pool + m->classes;
        size_t count;
        uint32_t made = 0;
        memset(on, 0, (size_t)w->problem->classes.count * sizeof *on);
        if (m->axis != 1 || m->class_count < 2 ||
            !flips_turn(w, n, 1, CLASS_NONE, true, on, &in_way))
            continue;
        struct plan_collective *items = answer_collectives(&a, w, on, &count);
        for (size_t i = 0; i < count; i++) {
            for (uint32_t c = 0; c < m->class_count; c++)
                made += items[i].cause == of[c] && items[i].kind == COLLECTIVE_ALL_REDUCE
                            ? items[i].count
                            : 0;
        }
        free(items);
        answer_clear(&a);
        answer_makes(&a, w, on, of[0], 6);
        if (!made)
            continue;
        char words[NAME_ROOM + 32];
        snprintf(words, sizeof words, "%.40s · %u all-reduce", w->move[n].name, made);
        assert_non_null(strstr(answer_cell(&a, &a.rows[0], 1), words));
        folded++;
    }
    assert_true(folded > 0);
    answer_release(&a);
    free(on);
    app_free(app);
}

/* A value asked of the relaxed plan: the shape printed is that of the plan, and so is what each use
 * asks for. */
static void test_relaxed_values(void **state)
{
    (void)state;
    struct app *app = explorer_try(AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz", NULL,
                                   200, 60, &(struct err){0});
    struct answer a = {0};
    struct str made = {0}, out = {0};
    uint32_t checked = 0;

    assert_non_null(app);
    screen(app, "Vs", &out);
    const struct watch *w = app_watch(app);
    const struct relaxed_plan *x = why_of_relaxed(w);
    assert_non_null(x);
    for (hlo_value v = 0; v < w->problem->m->value_count; v += 7) {
        answer_clear(&a);
        answer_relaxed_value(&a, w, x, v);
        assert_true(a.count > 0 && !a.failed);
        if (x->origin[v] == HLO_NONE)
            continue;
        str_clear(&made);
        status_write(hlo_value_shape(w->problem->m, v), &w->problem->mesh, x->made[v], &made);
        assert_non_null(strstr(answer_cell(&a, &a.rows[0], 0), made.text));
        for (size_t n = 0; n < a.count; n++) {
            if (a.rows[n].kind != ANSWER_ROW || a.rows[n].cells != 4)
                continue;
            struct str how = {0};
            relaxed_write_choice(x, a.rows[n].at, &how);
            assert_string_equal(answer_cell(&a, &a.rows[n], 2), how.text);
            str_release(&how);
            checked++;
        }
    }
    assert_true(checked > 50);
    assert_non_null(strstr(screen(app, "w", &out), " of  relaxed plan"));
    char best[32];
    snprintf(best, sizeof best, " of  %s", watch_plan_word(app_watch(app)));
    for (int n = 0; n < WHY_OF_MOST && !strstr(out.text, best); n++)
        screen(app, "w", &out);
    assert_non_null(strstr(out.text, best));
    answer_release(&a);
    str_release(&made);
    str_release(&out);
    app_free(app);
}

/* The step printed beside "as it is" is the pipeline's, and each other cut costs what pricing that
 * plan says. */
static void test_stages(void **state)
{
    (void)state;
    struct app *app = explorer_try(AUTOMAP_SOURCE_DIR "/examples/models/t5-tiny.hlo.txt.gz", NULL,
                                   200, 60, &(struct err){0});
    struct answer a = {0};
    struct str out = {0};
    struct pipeline_plan plan;
    char ms[UNITS_ROOM];
    int rows = 0;

    assert_non_null(app);
    screen(app, "Vi", &out);
    const struct watch *w = app_watch(app);
    const struct pipeline *l = why_of_pipeline(w, &plan);
    assert_non_null(l);
    cut_in_two(l, &plan);
    for (uint32_t stage = 0; stage < 2; stage++) {
        answer_clear(&a);
        answer_stage(&a, w, l, &plan, stage);
        for (size_t n = 0; n < a.count; n++) {
            const struct answer_row *r = &a.rows[n];
            const char *choice = answer_cell(&a, r, 0);
            int step = !strcmp(choice, "one later") ? 1 : !strcmp(choice, "one earlier") ? -1 : 0;
            if (r->kind != ANSWER_ROW || (!step && strcmp(choice, "as it is") != 0))
                continue;
            struct pipeline_plan other = plan;
            other.plan.pivot[1] += (uint32_t)step;
            pipeline_price(l, &other.plan, &other);
            assert_string_equal(answer_cell(&a, r, 2), units_ms(ms, pipeline_step_ms(l, &other)));
            rows++;
        }
    }
    assert_int_equal(rows, 6);
    screen(app, "w", &out);
    assert_non_null(strstr(out.text, " of  pipeline"));
    answer_release(&a);
    str_release(&out);
    app_free(app);
}

/* A row of the cost by phase, layer or operation: as many all-reduces stand in what is answered
 * about as the row adds up, and `w` on it answers about it. */
static int check_rows_of(const struct watch *w, const struct cost_split *split, enum cost_key key)
{
    struct cost_group *groups;
    size_t count;
    struct err e;
    int rows = 0;

    assert_int_equal(cost_split_group(split, NULL, 0, key, &groups, &count, &e), 0);
    for (size_t n = 0; n < count; n++) {
        struct part part = {.filter_count = 1, .filters = {{key, groups[n].value}}};
        struct answer a = {0};
        uint32_t said = 0;
        answer_part(&a, w, w->best->on, w->best->cost.step_ms, &part);
        assert_true(a.count > 1 && !a.failed);
        const char *second = answer_cell(&a, &a.rows[1], 0);
        if (sscanf(second, "%u all-reduce", &said) != 1)
            assert_true(!strncmp(second, "No all-reduce stands in it", 26));
        assert_int_equal(said, (uint32_t)(groups[n].reduces + 0.5));
        rows += said > 0;
        answer_release(&a);
    }
    free(groups);
    return rows;
}

static void test_rows_of_the_cost(void **state)
{
    (void)state;
    struct app *app = explorer_open("t5-base6", NULL, 120, 40);
    struct cost_split split = {0};
    struct str out = {0};
    struct err e;
    int rows = 0;

    assert_int_equal(app_tell(app, "episode 20", &e), 0);
    assert_true(subject(screen(app, "8ow", &out)) != NULL);
    assert_non_null(strstr(out.text, "w on encoder/layer_000, one of "));
    assert_int_equal(cost_split_read(&split, app_watch(app), &e), 0);
    for (enum cost_key key = COST_BY_PHASE; key <= COST_BY_OPCODE; key++)
        rows += check_rows_of(app_watch(app), &split, key);
    assert_true(rows > 10);
    app_resize(app, 70, 24); /* groups are called as in their own panel where that is as narrow */
    assert_non_null(strstr(screen(app, "\033\033\0338gw", &out), "w on encoder/layer_000"));
    assert_non_null(strstr(out.text, "\n   enc self   1 split"));
    cost_split_release(&split);
    str_release(&out);
    app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_view_of_every_model),
        cmocka_unit_test(test_rows_of_the_cost),
        cmocka_unit_test(test_the_other_way),
        cmocka_unit_test(test_the_other_way_of_each_axis),
        cmocka_unit_test(test_what_each_axis_makes),
        cmocka_unit_test(test_relaxed_values),
        cmocka_unit_test(test_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
