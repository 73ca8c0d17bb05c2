/* automap bench reality: modelled steps beside published ones, each opened into its parts. The runs
 * and their sources are in tests/ref/reality/runs.yaml. */

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cost/fusion.h"
#include "engine/cost/memory.h"
#include "engine/cost/product.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/exact/exact.h"
#include "engine/exact/limit.h"
#include "engine/plan/cost_parts.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/limited.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/text/quantity.h"
#include "engine/text/units.h"
#include "engine/text/yaml.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/bench_changes.h"
#include "tui/commands/commands.h"
#include "tui/files/examples.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/problem_args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RUNS_MOST = 1 << 18, WORDS_MOST = 32 };

struct run {
    const char *name, *module, *cluster, *mode, *options;
    double published_ms, states, activations; /* bytes; 0: not published */
    double limit;                             /* bytes of a device; 0: none */
    uint32_t again;                           /* times; 0: nothing */
    double product[3], reduced_bytes;         /* M, N, K */
};

struct sums {
    double error, most;
    uint32_t runs, memory_runs;
    double memory_error, memory_most;
};

struct setup {
    const char *runs, *modules;
    uint32_t top;           /* dearest instructions to show of each run */
    bool changes;           /* the table by change instead of the runs */
    uint32_t made;          /* changes in force */
    struct text_list names; /* of runs; none: all */
};

/* ---- the table of runs ---- */

static const char *text_of(const struct yaml *map, const char *key)
{
    const struct yaml *y = yaml_get(map, key);

    return y && y->kind == YAML_SCALAR ? y->text : NULL;
}

static int read_quantity(const struct yaml_doc *d, const struct yaml *map, const char *key,
                         enum quantity q, double *out, struct err *e)
{
    const struct yaml *y = yaml_get(map, key);

    if (!y)
        return 0;
    if (y->kind != YAML_SCALAR)
        return yaml_wrong(d, y->mark, e, "%s is %s, expected a figure", key,
                          yaml_kind_name(y->kind));
    return quantity_read(y->text, q, out, e) ? yaml_at(d, y->mark, e) : 0;
}

static int read_again(const struct yaml_doc *d, const struct yaml *map, struct run *r,
                      struct err *e)
{
    const char *times = text_of(map, "times"), *product = text_of(map, "product");

    if (!map)
        return 0;
    if (!times || quantity_count(times, 1 << 20, &r->again, e) || !product ||
        sscanf(product, "%lf %lf %lf", &r->product[0], &r->product[1], &r->product[2]) != 3)
        return yaml_wrong(d, map->mark, e, "expected {times: 48, product: M N K}");
    return read_quantity(d, map, "all-reduce", QUANTITY_BYTES, &r->reduced_bytes, e);
}

static int read_run(const struct yaml_doc *d, const struct yaml *map, struct run *r, struct err *e)
{
    *r = (struct run){.name = text_of(map, "name"),
                      .module = text_of(map, "module"),
                      .cluster = text_of(map, "cluster"),
                      .mode = text_of(map, "mode"),
                      .options = text_of(map, "options")};
    if (!r->name || !r->module || !r->cluster || !r->mode)
        return yaml_wrong(d, map->mark, e, "a run without name, module, cluster or mode");
    int rc = read_quantity(d, map, "published", QUANTITY_TIME, &r->published_ms, e);
    if (rc)
        return rc;
    rc = read_quantity(d, map, "limit", QUANTITY_BYTES, &r->limit, e);
    if (rc)
        return rc;
    rc = read_quantity(d, map, "states", QUANTITY_BYTES, &r->states, e);
    if (rc)
        return rc;
    rc = read_quantity(d, map, "activations", QUANTITY_BYTES, &r->activations, e);
    if (rc)
        return rc;
    if (!(r->published_ms > 0))
        rc = yaml_wrong(d, map->mark, e, "a run without a published time");
    return rc ? rc : read_again(d, yaml_get(map, "again"), r, e);
}

/* ---- one run ---- */

static bool find_cluster(const struct setup *s, const struct run *r, char *path, size_t room)
{
    const char *slash = strrchr(s->runs, '/');
    char data[512];

    snprintf(path, room, "%.*s%s", slash ? (int)(slash - s->runs + 1) : 0, s->runs, r->cluster);
    if (file_is_there(path))
        return true;
    return file_data_dir(data, sizeof data) && examples_cluster_path(path, room, data, r->cluster);
}

/* The options of a run, as plan takes them. */
static int take_options(const char *options, struct problem_args *a, char *words, size_t room)
{
    static const struct option_set sets[] = {{.rows = problem_options}, {0}};
    const struct option_parser parser = {"bench reality", sets, NULL};
    char *argv[WORDS_MOST] = {NULL};
    int argc = 1;

    snprintf(words, room, "%s", options ? options : "");
    for (char *rest, *at = strtok_r(words, " ", &rest); at && argc < WORDS_MOST;
         at = strtok_r(NULL, " ", &rest))
        argv[argc++] = at;
    return options_parse(&parser, a, argc, argv) ? -1 : 0;
}

/* The labels of the best plan that fits, or of the best. */
static int strict_labels(const struct problem *p, double limit, label **on, struct err *e)
{
    struct exact_options o = {.goal = EXACT_STEP_TIME, .variables = true, .inputs = true};
    struct limit_options within = {.limit = limit, .variables = true, .inputs = true};
    struct limit_result found;
    struct exact_result best;
    int rc = limit > 0 ? exact_limited(&p->step_tables, &p->memory, NULL, &within, &found, e)
                       : exact_strict(&p->step_tables, NULL, &o, &best, e);

    if (!rc)
        *on = limit > 0 ? found.on : best.on;
    return rc;
}

static int strict_plan(const struct problem *p, double limit, struct plan *plan, struct err *e)
{
    struct strict s;
    label *on = NULL;
    int rc = strict_labels(p, limit, &on, e);

    if (rc)
        return rc;
    rc = strict_new(&p->labels, &s, e);
    if (rc)
        goto out;
    rc = plan_from_strict(p, &s, PLAN_BY_OPTIMUM, plan, e);
    strict_release(&s);
    if (rc)
        goto out;
    memcpy(plan->on, on, p->classes.count * sizeof *on);
    plan->cost = step_tables_cost(&p->step_tables, plan->on);
out:
    free(on);
    return rc;
}

static int relaxed_limited(const struct problem *p, double limit, struct plan *plan, struct err *e)
{
    struct relaxed_options o = {.folding = RELAXED_FOLD_OFF,
                                .reduce_at_once = p->options.reduce_at_once};
    struct relaxed_limited how;
    struct relaxed_plan best;
    struct relaxed *r;
    int rc = relaxed_new(p, &o, &r, e);

    if (rc)
        return rc;
    rc = relaxed_solve_limited(r, limit, INFINITY, &best, &how, e);
    relaxed_free(r);
    return rc ? rc : plan_from_relaxed(&best, plan, e);
}

static int relaxed_best(const struct problem *p, double limit, struct plan *plan, struct err *e)
{
    struct relaxed_options o = {.folding = RELAXED_FOLD_AUTO,
                                .reduce_at_once = p->options.reduce_at_once};
    struct relaxed_plan best;

    if (limit > 0)
        return relaxed_limited(p, limit, plan, e);
    int rc = relaxed_solve_overlapped(p, &o, NULL, 0, &best, e);

    return rc ? rc : plan_from_relaxed(&best, plan, e);
}

/* What the run did besides what its module says. */
static double again_ms(const struct problem *p, const struct run *r)
{
    struct product again = {r->product[0], r->product[1], r->product[2], 1};
    double flops = 2 * again.m * again.n * again.k;
    double ms = product_ms(&p->step_tables.device, PEAK_BF16, &again, flops) +
                p->step_tables.device.launch_ms;
    label all = (label)(p->labels.count - 1);

    ms += collective_ms(&p->mesh, COLLECTIVE_ALL_REDUCE, all, r->reduced_bytes);
    return r->again * ms;
}

/* The line of a run; `quiet`: its error alone is added up. */
static void print_run(const struct run *r, const struct plan *plan, bool quiet, struct sums *sums)
{
    struct cost_parts parts = plan_cost_parts(plan);
    double again = r->again ? again_ms(plan->problem, r) : 0, ms = plan->cost.step_ms + again;
    double error = ms / r->published_ms - 1;

    sums->error += fabs(error);
    sums->most = fmax(sums->most, fabs(error));
    sums->runs++;
    if (quiet)
        return;
    printf("%-16s %10.1f %10.1f %+7.1f %% |", r->name, r->published_ms, ms, 100 * error);
    for (int k = 0; k < PART_COUNT; k++)
        printf(" %9.1f", parts.ms[k]);
    printf(" %9.1f\n", again);
}

struct dear {
    double ms;
    hlo_id id;
};

static int by_ms(const void *x, const void *y)
{
    const struct dear *a = x, *b = y;

    return a->ms != b->ms ? (a->ms < b->ms) - (a->ms > b->ms) : (a->id > b->id) - (a->id < b->id);
}

/* The dearest instructions: ms of a step, executions, times each leaf is moved : its bytes. */
static void print_top(const struct plan *plan, uint32_t most)
{
    const struct problem *p = plan->problem;
    const struct classes *c = &p->classes;
    struct dear *list = mem_alloc((p->m->count + 1u) * sizeof *list);
    char size[UNITS_ROOM];

    for (hlo_id id = 0; id < p->m->count; id++)
        list[id] = (struct dear){p->costs.times[id] > 0 ? plan_compute_ms(plan, id) : 0, id};
    qsort(list, p->m->count, sizeof *list, by_ms);
    for (uint32_t n = 0; n < most && n < p->m->count; n++) {
        hlo_id id = list[n].id;
        printf("    %9.2f %6g x %-28s", list[n].ms, p->costs.times[id], hlo_name(p->m, id));
        for (uint32_t leaf = 0; leaf < class_leaf_count(c, id); leaf++) {
            int64_t bytes = hlo_value_shape(p->m, hlo_factors_value(p->m, id, leaf))->bytes;
            printf(" %u:%s", p->traffic.weight[c->leaf_base[id] + leaf],
                   units_bytes(size, (double)bytes));
        }
        printf("\n");
    }
    free(list);
}

/* What the forward pass keeps for the backward: activations that a loop carries. Published figures
 * count those alone, not what one layer needs while it runs. */
static double kept_activations(const struct plan *plan, struct err *e)
{
    const struct memory_model *m = &plan->problem->memory;
    double *bytes = memory_scratch(m), sum = 0;
    struct memory_cost cost;

    if (!bytes || (plan->relaxed && relaxed_memory_peak(plan->relaxed, &cost, NULL, bytes, e))) {
        free(bytes);
        return 0;
    }
    for (uint32_t k = m->first[m->m->entry]; k < m->first[m->m->entry + 1]; k++) {
        const struct memory_range *r = &m->ranges[k];
        if (r->kind != MEMORY_ACTIVATIONS || !fusion_begins_free(m->m, r->value))
            continue;
        sum +=
            plan->relaxed ? bytes[k] : memory_range_bytes(m, &plan->problem->labels, plan->on, r);
    }
    free(bytes);
    return sum;
}

static void print_memory(const struct run *r, const struct plan *plan, struct sums *sums)
{
    const double gib = 1024.0 * 1024 * 1024;
    struct memory_cost m;
    struct err e;

    if (r->activations <= 0 || plan_memory(plan, &m, &e))
        return;
    double kept = kept_activations(plan, &e), error = kept / r->activations - 1;
    double states = m.bytes[MEMORY_PARAMETERS] + m.bytes[MEMORY_OPTIMIZER];
    printf("%-16s %10.2f %10.2f %+7.1f %% | %9.2f %9.2f %9.2f %9.2f %9.2f\n", r->name,
           r->activations / gib, kept / gib, 100 * error, r->states / gib, states / gib,
           m.bytes[MEMORY_GRADIENTS] / gib, m.bytes[MEMORY_ACTIVATIONS] / gib, m.peak / gib);
    sums->memory_error += fabs(error);
    sums->memory_most = fmax(sums->memory_most, fabs(error));
    sums->memory_runs++;
}

static int one_run(const struct setup *s, const struct run *r, bool memory, struct sums *sums,
                   struct err *e)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct plan plan = {0};
    char model[1024], cluster[1024], words[1024];
    struct problem_args a = {.model = model, .cluster = cluster};
    int rc = 0;

    snprintf(model, sizeof model, "%s/%s.hlo.txt.gz", s->modules, r->module);
    if (!find_cluster(s, r, cluster, sizeof cluster))
        rc = err_set(e, ERR_INPUT, "%.100s: no cluster \"%.100s\"", r->name, r->cluster);
    else if (take_options(r->options, &a, words, sizeof words))
        rc = err_set(e, ERR_INPUT, "%.100s: options \"%.100s\"", r->name, r->options);
    rc = rc ? rc : problem_args_read(&a, p, e);
    if (!rc) {
        rc = bench_changes_take_back(p, s->made, e);
        if (rc)
            problem_release(p);
    }
    if (!rc) {
        rc = !strcmp(r->mode, "relaxed") ? relaxed_best(p, r->limit, &plan, e)
                                         : strict_plan(p, r->limit, &plan, e);
        if (!rc && memory)
            print_memory(r, &plan, sums);
        else if (!rc)
            print_run(r, &plan, s->changes, sums);
        if (!rc && !memory && s->top)
            print_top(&plan, s->top);
        fflush(stdout);
        if (plan.problem)
            plan_release(&plan);
        problem_release(p);
    }
    free(p);
    return rc;
}

/* ---- all of them ---- */

static bool is_asked(const struct setup *s, const char *name)
{
    bool found = s->names.count == 0;

    for (uint32_t k = 0; k < s->names.count; k++)
        found |= !strcmp(s->names.items[k], name);
    return found;
}

static int sum_runs(const struct setup *s, const struct yaml_doc *d, bool memory, struct sums *sums,
                    struct err *e)
{
    const struct yaml *runs = yaml_get(d->root, "runs");
    int rc = runs ? 0 : err_set(e, ERR_INPUT, "no \"runs\" in it");

    if (rc)
        return rc;
    for (const struct yaml *y = runs ? runs->first : NULL; y; y = y->next) {
        struct run r;
        rc = read_run(d, y, &r, e);
        if (rc)
            return rc;
        if (is_asked(s, r.name))
            rc = one_run(s, &r, memory, sums, e);
        if (rc)
            return rc;
    }
    return rc;
}

static int all_runs(const struct setup *s, const struct yaml_doc *d, bool memory, struct err *e)
{
    struct sums sums = {0};
    int rc = sum_runs(s, d, memory, &sums, e);

    if (rc)
        return rc;
    if (!memory && sums.runs)
        printf("\nstep: mean error %.1f %%, largest %.1f %% of %u\n\n",
               100 * sums.error / sums.runs, 100 * sums.most, sums.runs);
    if (memory && sums.memory_runs)
        printf("\nactivations: mean error %.1f %%, largest %.1f %% of %u\n",
               100 * sums.memory_error / sums.memory_runs, 100 * sums.memory_most,
               sums.memory_runs);
    return rc;
}

/* Mean and largest error of all runs with these changes. */
static int print_changed(struct setup *s, const struct yaml_doc *d, uint32_t made, struct err *e)
{
    struct sums sums = {0};
    int rc;

    s->made = made;
    rc = sum_runs(s, d, false, &sums, e);
    if (rc)
        return rc;
    printf("  %9.1f %9.1f", sums.runs ? 100 * sums.error / sums.runs : 0, 100 * sums.most);
    fflush(stdout);
    return 0;
}

/* Each change by itself, after none and beside all others. */
static int table_by_change(struct setup *s, const struct yaml_doc *d, struct err *e)
{
    int rc;

    printf("error in %%, mean and largest     it alone               all but it\n%-24s",
           "none, all");
    rc = print_changed(s, d, 0, e);
    if (rc)
        return rc;
    rc = print_changed(s, d, CHANGE_ALL, e);
    if (rc)
        return rc;
    for (int k = 0; k < CHANGE_COUNT; k++) {
        printf("\n%-24s", bench_change_names[k]);
        rc = print_changed(s, d, 1U << k, e);
        if (rc)
            return rc;
        rc = print_changed(s, d, CHANGE_ALL & ~(1U << k), e);
        if (rc)
            return rc;
    }
    printf("\n");
    return 0;
}

static int run_file(struct setup *s, struct err *e)
{
    struct yaml_doc d;
    char *text;
    size_t size;
    int rc = file_read(&text, &size, s->runs, RUNS_MOST, e);

    if (rc)
        return rc;
    rc = yaml_read(&d, text, size, e);
    if (!rc && s->changes) {
        rc = table_by_change(s, &d, e);
        yaml_release(&d);
    } else if (!rc) {
        printf("ms                published  predicted     error |");
        for (int k = 0; k < PART_COUNT; k++)
            printf(" %9.9s", cost_part_names[k]);
        printf(" %9s\n", "again");
        rc = all_runs(s, &d, false, e);
        if (!rc) {
            printf(
                "GiB, activations   published       kept     error | published    states gradients"
                "   at peak      peak\n");
            rc = all_runs(s, &d, true, e);
        }
        yaml_release(&d);
    }
    free(text);
    return rc;
}

/* Beside the sources unless told. */
static void find_defaults(struct setup *s, char *runs, char *modules, size_t room)
{
    const char *shared = getenv("AUTOMAP_SHARED");
    char data[512] = ".";

    (void)file_data_dir(data, sizeof data);
    snprintf(runs, room, "%s/tests/ref/reality/runs.yaml", data);
    if (shared)
        snprintf(modules, room, "%s/data/reality", shared);
    else
        snprintf(modules, room, "%s/../shared/data/reality", data);
    s->runs = s->runs ? s->runs : runs;
    s->modules = s->modules ? s->modules : modules;
}

#define ARG(field) INTO(struct setup, field)
static const struct option rows[] = {
    {"RUN", .kind = OPTION_LIST, ARG(names)},
    {"runs", "FILE", "the published runs (default: tests/ref/reality/runs.yaml)",
     .kind = OPTION_FILE, ARG(runs)},
    {"modules", "DIR", "where their modules are", .kind = OPTION_FILE, ARG(modules)},
    {"top", "N", "the dearest instructions of each run", .kind = OPTION_WHOLE, ARG(top), .least = 1,
     .most = 1 << 20},
    {"changes", NULL,
     "what each part of the cost model does to the errors: by itself, and left out of all",
     ARG(changes)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

static int run_bench(int argc, char **argv)
{
    const struct option_parser parser = {"bench reality", options, NULL};
    struct setup s = {.made = CHANGE_ALL};
    char runs[1024], modules[1024];
    struct err e;
    int code = options_parse(&parser, &s, argc, argv);

    if (code == EXIT_OK) {
        find_defaults(&s, runs, modules, sizeof runs);
        if (run_file(&s, &e)) {
            err_print(&e, stderr);
            code = EXIT_INPUT;
        }
    }
    text_list_release(&s.names);
    return code;
}

const struct command bench_reality = {
    .name = "bench reality",
    .usage = "[RUN ...]",
    .summary = "modelled steps and memory against those of published training runs, part by part",
    .about = "Measures nothing: models published training runs and prints steps and memory beside "
             "theirs, opened into parts.",
    .options = options,
    .run = run_bench,
};
