/* automap plan: one plan, from given decisions or the proven optimum, with its costs. */
#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/compare/fewer.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/strict.h"
#include "engine/exact/batch_and_zero.h"
#include "engine/exact/stability.h"
#include "engine/hybrid/by_value.h"
#include "engine/hybrid/hybrid.h"
#include "engine/pipeline/pipeline.h"
#include "engine/place/place_file.h"
#include "engine/plan/file_wishes.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_settings.h"
#include "engine/plan/recompute_at.h"
#include "engine/problem/problem.h"
#include "engine/recompute/recompute.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "tui/commands/commands.h"

#include "engine/exact/exact.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/kernels/kernel_targets.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/pipeline/stage_peak.h"
#include "engine/plan/memory_peak.h"
#include "engine/plan/plan_file.h"
#include "engine/plan/plan_json.h"
#include "engine/plan/random.h"
#include "engine/plan/recompute_report.h"
#include "engine/problem/setting.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/text/quantity.h"
#include "engine/text/units.h"
#include "tui/commands/hybrid_print.h"
#include "tui/commands/pipeline_print.h"
#include "tui/commands/place_input.h"
#include "tui/commands/place_print.h"
#include "tui/commands/plan_limit.h"
#include "tui/commands/plan_print.h"
#include "tui/commands/plan_relaxed.h"
#include "tui/commands/plan_stability.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/overwrite.h"
#include "tui/options/problem_args.h"
#include "tui/options/stopping.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct plan_args {
    struct problem_args problem;
    struct text_list settings;
    bool pins_from_file;
    struct str file_pins; /* the settings that makes, each ended by a zero byte */
    bool optimum, paper_reward, json, random, stability, memory;
    uint64_t seed;
    const char *start, *out, *pins_from;
    struct str pins; /* its settings, each with a NUL */
    bool force;
    bool is_pipeline; /* what `start` holds; a hybrid plan is one too */
    bool is_hybrid, is_place;
    bool as_hybrid;
    struct plan_relaxed_args relaxed;
    struct plan_limit_args limit;
    bool recompute;
};

/* Asks for anything that only plans of statuses have. */
static bool decides(const struct plan_args *a)
{
    const struct problem_options *o = &a->problem.options;

    return a->settings.count || a->pins_from || a->pins_from_file || a->optimum || a->random ||
           a->paper_reward || a->stability || a->relaxed.on || plan_relaxed_is_set(&a->relaxed) ||
           (a->limit.on && !(a->recompute && a->is_hybrid)) || o->micro_batches > 1 || o->zero;
}

static int take_random(void *args, const struct option *o, const char *value, struct err *e)
{
    struct plan_args *a = args;

    a->random = quantity_whole(value, UINT64_MAX, &a->seed);
    return a->random ? 0 : option_expected(o, value, e);
}

static const char *const rewards[] = {"cost", "paper"}, *const recomputes[] = {"off", "auto"};

#define ARG(field) INTO(struct plan_args, field)
static const struct option own[] = {
    {"set", "'NAME:DIM=0|1'",
     "decide a dim of a parameter; NAME as inspect prints it, a glob, or #17; on several axes the "
     "value may name them: =xy; repeatable",
     .kind = OPTION_LIST, ARG(settings)},
    {"pins-from", "FILE",
     "take the decisions from a file that export --format flags, dtensor or command wrote",
     .kind = OPTION_FILE, ARG(pins_from)},
    {"plan", "FILE", "start from the decisions of an existing plan", .kind = OPTION_FILE,
     ARG(start)},
    {"hybrid", NULL,
     "with --plan: read the plan, strict or a pipeline, as a hybrid plan; -o writes it as one",
     ARG(as_hybrid)},
    {"pins-from-file", .help = "keep the shardings that the author of the program wrote",
     ARG(pins_from_file)},
    {"random", "SEED", "decide the rest at random; the same seed gives the same plan",
     .take = take_random, .expected = "a seed, a whole number"},
    {"optimum", NULL, "the proven best plan that keeps the given decisions", ARG(optimum)},
    {"reward", "cost|paper", "the meaning of best: step time (default) or the paper's reward",
     .kind = OPTION_CHOICE, NAMES(rewards), ARG(paper_reward)},
    {0},
};

static const struct option results[] = {
    {"memory", NULL,
     "show the peak: its parts, the largest values live there with their source lines, and the "
     "single change that lowers it most; for a pipeline, the peak of every stage over its schedule",
     ARG(memory)},
    {"recompute", "off|auto",
     "auto: which values of the forward pass to keep for the backward pass, which to send to host "
     "memory (with a `host:` link), and which to compute again, within --memory-limit or device: "
     "values with their source lines, the bound, the "
     "front, stock policies and jax.checkpoint code. With --memory-limit, the plan, "
     "--micro-batches auto and --zero auto are chosen together with it",
     .kind = OPTION_CHOICE, NAMES(recomputes), ARG(recompute)},
    {"stability", NULL,
     "how far each bandwidth, the memory and the batch may move on its own before another plan is "
     "better, and which plan that is",
     ARG(stability)},
    {"o", "FILE", "write the plan to FILE", .kind = OPTION_FILE, ARG(out)},
    {"force", NULL, OVERWRITE_HELP, ARG(force)},
    {"json", NULL, "print the plan as JSON", ARG(json)},
    {0},
};
#undef ARG

static const struct option_set options[] = {
    {.rows = own},
    {.rows = plan_limit_options, .at = offsetof(struct plan_args, limit)},
    {.rows = plan_relaxed_options, .at = offsetof(struct plan_args, relaxed)},
    {.rows = problem_options, .at = offsetof(struct plan_args, problem)},
    {.rows = results},
    {0},
};

/* What does not go together. */
static int check_args(const struct plan_args *a)
{
    bool other_relaxed = plan_relaxed_is_set(&a->relaxed), limited = a->limit.on && !a->limit.none;
    const struct {
        bool wrong;
        const char *why;
    } rules[] = {
        {a->is_pipeline && decides(a),
         "a pipeline plan is shown as it is: --json, --memory, -o and the cluster's options alone"},
        {a->is_hybrid && a->memory, "a hybrid plan says its memory by stage: no --memory"},
        {a->is_place && a->memory, "a placement says its memory by device; automap export --format "
                                   "pipeline makes a plan that "
                                   "has it over time"},
        {!a->relaxed.on && other_relaxed, "--store, --folding and --sweeps are of --mode relaxed"},
        {a->random && a->optimum, "--random decides everything: no --optimum"},
        {a->paper_reward && !a->optimum, "--reward says what --optimum means"},
        {a->relaxed.on && (a->random || a->paper_reward),
         "--random and --reward paper are of strict mode"},
        {a->limit.on && (a->random || a->paper_reward),
         "--memory-limit and auto are of the best plan: no --random, --reward paper"},
        {a->relaxed.on && limited && a->relaxed.options.folding == RELAXED_FOLD_ON,
         "within a memory limit equal layers may differ: no --folding on"},
        {(a->stability || a->memory) && (a->relaxed.on || a->paper_reward),
         "--stability and --memory are of strict plans"},
        {a->start && (a->limit.choose_micro_batches || a->limit.choose_zero),
         "--plan goes with the --micro-batches and --zero it was made with, not with auto"},
        {a->recompute && a->relaxed.on && (a->limit.choose_micro_batches || a->limit.choose_zero),
         "--recompute auto is of a relaxed plan with given --micro-batches"},
        {a->recompute && (a->stability || a->memory || a->paper_reward || a->is_place),
         "--recompute auto stands alone: no --stability, --memory, --reward paper, no placement"},
        {a->memory && a->json,
         "--memory is for reading; the JSON of a plan has the peak and its parts"},
        {a->as_hybrid && !a->start, "--hybrid says how --plan is read"},
        {!a->problem.model, "no model given"},
    };

    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        if (rules[k].wrong)
            return options_complain("plan", "%s", rules[k].why);
    }
    return 0;
}

static int parse(int argc, char **argv, struct plan_args *a)
{
    const struct option_parser parser = {"plan", options, NULL};
    int code = options_parse(&parser, a, argc, argv);

    if (code)
        return code;
    /* what a pipeline's stages keep by value is a hybrid plan's */
    a->is_hybrid = a->start && (a->as_hybrid || hybrid_file_is(a->start) ||
                                (a->recompute && pipeline_file_is(a->start)));
    a->is_place = !a->as_hybrid && a->start && place_file_is(a->start);
    a->is_pipeline = a->is_hybrid || a->is_place || (a->start && pipeline_file_is(a->start));
    a->limit.relaxed = a->relaxed.on;
    code = check_args(a);
    a->limit.recompute = a->recompute;
    if (a->recompute && (a->relaxed.on || a->start || a->random || a->limit.none)) {
        a->optimum |= a->limit.on && !a->start && !a->random;
        a->limit.on = false; /* the limit is of what is kept, the plan is made without one */
    }
    return code;
}

static int keep_setting(void *context, const char *setting, struct err *e)
{
    struct plan_args *a = context;

    str_add(&a->pins, setting);
    str_add_char(&a->pins, '\0');
    return a->pins.failed ? err_no_memory(e, "for the settings") : 0;
}

/* The settings of a file behind those of the command line. */
static int read_pins(struct plan_args *a, struct err *e)
{
    struct str text = {0};
    int rc = a->pins_from ? hlo_file_read(a->pins_from, 64u << 20, &text, e) : 0;

    if (!rc && text.size)
        rc = plan_settings_each(text.text, text.size, keep_setting, a, e);
    if (!rc && a->pins_from && !a->pins.size && !(text.size && strstr(text.text, "automap")))
        rc = err_set(e, ERR_INPUT,
                     "no decisions in it, expected lines such as --set 'NAME:DIM=1', or a JSON "
                     "object with a list of \"pins\"");
    if (rc && !e->file[0])
        err_in_file(e, a->pins_from);
    for (size_t at = 0; !rc && at < a->pins.size; at += strlen(a->pins.text + at) + 1) {
        if (!mem_grow(&a->settings.items, &a->settings.room, a->settings.count, 1))
            rc = err_no_memory(e, "for the settings");
        else
            a->settings.items[a->settings.count++] = a->pins.text + at;
    }
    str_release(&text);
    return rc;
}

/* Decides again what another plan's author decided; what followed from it follows again. */
static int start_from(const char *path, const struct problem *p, struct strict *s, struct err *e)
{
    struct plan from;
    int rc = plan_file_load(p, path, &from, e);

    if (rc)
        goto out;
    for (class_id k = 0; k < p->classes.count; k++) {
        bool chosen = from.by[k] != PLAN_BY_NOBODY && from.by[k] != PLAN_BY_PROPAGATION;
        for (uint32_t x = 0; x < p->mesh.axes; x++) {
            if (from.on[k] >> x & 1 || (chosen && from.decided[k] >> x & 1))
                BUG_ON(!strict_decide(s, k, x, from.on[k] >> x & 1, NULL));
        }
    }
    if (from.relaxed)
        rc = err_set(e, ERR_INPUT, "%.200s: a relaxed plan; --mode relaxed reads it", path);
out:
    if (from.problem)
        plan_release(&from);
    return rc;
}

/* Makes a solver's labels those of the plan. */
static void take_labels(struct plan *plan, const struct strict *s, const label *on)
{
    const struct problem *p = plan->problem;

    for (class_id k = 0; k < p->classes.count; k++) {
        if (plan->on[k] != on[k]) {
            plan->on[k] = on[k];
            plan->by[k] = PLAN_BY_OPTIMUM;
        }
        plan->decided[k] = s->all;
    }
    plan->cost = step_tables_cost(&p->step_tables, plan->on);
    snprintf(plan->found_by, sizeof plan->found_by, "exact");
}

static int optimise(const struct plan_args *a, const struct problem *p, const struct strict *s,
                    struct plan *plan, struct err *e)
{
    struct exact_options o = {
        .goal = a->paper_reward ? EXACT_PAPER_REWARD : EXACT_STEP_TIME,
        .variables = true,
        .inputs = !a->paper_reward,
        .partitioned = PAPER_REWARD_PARTITIONED,
        .replicated = PAPER_REWARD_REPLICATED,
        .stop = p->stop,
    };
    struct exact_result r;
    int rc = exact_strict(&p->step_tables, s, &o, &r, e);

    if (rc)
        return rc;
    take_labels(plan, s, r.on);
    if (!a->paper_reward)
        plan->bound_ms = r.bound;
    exact_release(&r);
    return 0;
}

/* From decisions, those of a strict plan among them, or read whole from a file of a relaxed plan.
 */
static int make_relaxed(struct plan_args *a, struct problem *p, struct batch_and_zero_result *r,
                        struct plan *plan, struct err *e)
{
    struct plan from = {0};
    int rc = a->start ? plan_file_load(p, a->start, &from, e) : 0;

    if (rc)
        return rc;
    bool limited = a->limit.on && (!a->limit.none || a->limit.choose_micro_batches);
    a->relaxed.limit = limited ? plan_limit_bytes(&a->limit, p) : 0;
    r->fits = true;
    if (!from.relaxed && limited)
        rc = plan_relaxed_choose(
            &a->relaxed, p, a->settings.items, a->settings.count, a->start ? &from : NULL,
            a->limit.choose_micro_batches ? 0 : problem_batch_and_zero(p).micro_batches, r, plan,
            e);
    else if (!from.relaxed)
        rc = plan_relaxed_solve(&a->relaxed, p, a->settings.items, a->settings.count,
                                a->start ? &from : NULL, plan, e);
    else if (a->settings.count || plan_relaxed_is_set(&a->relaxed) || a->relaxed.limit > 0)
        rc = err_set(e, ERR_INPUT,
                     "--set, --store, --memory-limit, --folding and --sweeps go with a relaxed "
                     "plan that is made, not read");
    else
        rc = plan_copy(&from, plan, e);
    plan_release(&from);
    return rc;
}

/* ---- strict mode ---- */

static int fix_decisions(void *context, const struct problem *p, struct strict *s, struct err *e)
{
    const struct plan_args *a = context;
    int rc = a->start ? start_from(a->start, p, s, e) : 0;

    if (rc)
        return rc;
    for (uint32_t k = 0; k < a->settings.count; k++) {
        rc = setting_apply(p, s, a->settings.items[k], e);
        if (rc)
            return rc;
    }
    return rc;
}

/* The best plan within the limit, when one fits; `p` is left under the batching it was found for.
 */
static int make_limited(struct plan_args *a, struct problem *p, struct batch_and_zero_result *r,
                        struct plan *plan, struct err *e)
{
    struct strict s;
    int rc = plan_limit_solve(&a->limit, p, fix_decisions, a, r, e);

    if (rc || (!r->fits && !a->recompute))
        return rc;
    rc = strict_new(&p->labels, &s, e);
    if (rc)
        return rc;
    rc = fix_decisions(a, p, &s, e);
    if (rc)
        goto out;
    rc = plan_from_strict(p, &s, PLAN_BY_DECISION, plan, e);
    if (rc)
        goto out;
    take_labels(plan, &s, r->plan.on);
    plan->bound_ms = r->bound;
    plan->memory_limit = a->limit.none || a->recompute ? 0 : plan_limit_bytes(&a->limit, p);
out:
    strict_release(&s);
    return rc;
}

static int make_plan(struct plan_args *a, const struct problem *p, struct plan *plan, struct err *e)
{
    struct strict s;
    int rc = strict_new(&p->labels, &s, e);

    if (rc)
        return rc;
    rc = fix_decisions(a, p, &s, e);
    if (rc)
        goto out;
    if (a->random)
        rc = plan_random(p, &s, a->seed, e);
    if (rc)
        goto out;
    rc = plan_from_strict(p, &s, PLAN_BY_DECISION, plan, e);
    if (rc)
        goto out;
    snprintf(plan->found_by, sizeof plan->found_by, a->random ? "random" : "set");
    plan->seed = a->seed;
    if (a->optimum)
        rc = optimise(a, p, &s, plan, e);
out:
    strict_release(&s);
    return rc;
}

/* A pipeline plan is shown, and with other figures of the cluster priced again; it takes no
 * decisions. */
static int show_pipeline(const struct pipeline *l, const struct pipeline_plan *p, void *context,
                         struct err *e)
{
    const struct plan_args *a = context;
    cJSON *json = a->json ? pipeline_json(l, p) : NULL;
    char *text = json ? cJSON_Print(json) : NULL, model[128];
    struct str memory = {0};
    int rc = a->memory ? pipeline_peak_write(l, &p->plan, 12, &memory, e) : 0;

    if (text)
        puts(text);
    else
        printf("%s  pipeline on %s\n\n", file_stem(model, sizeof model, l->problem->m->file),
               l->problem->cluster.name);
    if (a->memory && !rc)
        fputs(memory.text, stdout);
    else if (!text)
        pipeline_print(l, p);
    str_release(&memory);
    cJSON_free(text);
    cJSON_Delete(json);
    return rc ? rc : a->out ? pipeline_file_save(l, p, a->out, e) : 0;
}

/* And a placement; its input may be an operator graph. */
static int show_place(const struct place_input *in, const struct place_saved *s, void *context,
                      struct err *e)
{
    const struct plan_args *a = context;
    struct place_document d = place_document_of(in, s);

    int rc = a->json ? place_print_json(&d, e)
                     : place_print(a->problem.model, in->graph, &s->job, s->plan, s->load, e);
    return rc ? rc : a->out ? place_file_save(&d, a->out, e) : 0;
}

/* What its stages keep, chosen by value within the limit given, or that of the plan. Its bound was
 * of stages that keep all or are recomputed. */
static int keep_by_value(const struct plan_args *a, struct hybrid *h, struct err *e)
{
    if (a->limit.bytes > 0 || a->limit.is_device)
        h->options.limit_bytes = plan_limit_bytes(&a->limit, h->problem);
    h->options.no_limit = a->limit.none;
    h->options.keeps_values = true;
    h->is_certified = false;
    h->bound_ms = 0;
    int rc = hybrid_price(h, e);
    return rc ? rc : hybrid_by_value(h, e);
}

/* So is a hybrid plan. */
static int show_hybrid(struct hybrid *h, void *context, struct err *e)
{
    const struct plan_args *a = context;
    int rc = a->recompute ? keep_by_value(a, h, e) : 0;

    if (rc)
        return rc;
    if (a->json)
        hybrid_print_json(h);
    else
        hybrid_print(h, 0);
    return a->out ? hybrid_file_save(h, a->out, e) : 0;
}

/* Decisions that stay while figures move: those given, when the rest was left to the solver. A plan
 * of given decisions alone is held against all others. */
static int write_stability(struct plan_args *a, struct problem *p, const struct plan *plan,
                           struct str *json, struct err *e)
{
    bool solved = a->optimum || a->limit.on;
    struct stability_options o = {.on = plan->on,
                                  .limit = plan->memory_limit > 0 ? plan->memory_limit : INFINITY,
                                  .variables = true,
                                  .inputs = true,
                                  .fix = solved ? fix_decisions : NULL,
                                  .context = a};
    struct stability s;
    int rc = stability_of(p, &o, &s, e);

    if (rc)
        return rc;
    if (a->json)
        rc = plan_stability_json(plan, &s, json, e);
    else
        plan_stability_print(plan, &s);
    stability_release(&s);
    return rc;
}

static void print_recomputed(const struct plan *plan)
{
    char a[UNITS_ROOM];

    plan_print_head(plan);
    printf("  the plan        %12s  as the module is, %u micro-batch%s, ZeRO level %u\n",
           units_ms(a, plan->cost.step_ms), plan->batching.micro_batches,
           plan->batching.micro_batches == 1 ? "" : "es", plan->batching.zero);
}

static int write_recompute(const struct plan_args *a, const struct problem *p,
                           const struct plan *plan, struct str *text, struct err *e)
{
    double limit = plan_limit_bytes(&a->limit, p);
    struct plan_recompute *r = mem_alloc(sizeof *r);
    struct recompute_choice c = {0};
    int rc = plan_recompute_new(plan, r, e);

    if (rc) {
        free(r);
        return rc;
    }
    rc = recompute_within(&r->front, limit, RECOMPUTE_ENOUGH * plan->cost.step_ms, &c, e);
    if (rc)
        goto out;
    rc = a->json ? recompute_write_json(r, &c, limit, text, e)
                 : recompute_write(r, &c, limit, text, e);
out:
    recompute_choice_release(&c);
    plan_recompute_release(r);
    free(r);
    return rc;
}

/* What was asked for of a plan, as text or JSON. */
static int tell_plan(struct plan_args *a, struct problem *p, const struct plan *plan,
                     struct str *text, struct err *e)
{
    int rc = 0;

    if (a->recompute) {
        if (!a->json)
            print_recomputed(plan);
        return write_recompute(a, p, plan, text, e);
    }
    if (a->json)
        return a->stability ? write_stability(a, p, plan, text, e) : plan_write_json(plan, text, e);
    if (a->stability || a->memory)
        plan_print_head(plan);
    else
        rc = plan_print(plan, a->start || a->settings.count || a->relaxed.stores.count,
                        a->limit.bytes, e);
    if (!rc && a->memory)
        rc = plan_peak_write(plan, 12, text, e);
    if (!rc && a->memory)
        fputs(text->text, stdout);
    str_clear(text);
    if (!rc && a->stability)
        rc = write_stability(a, p, plan, text, e);
    return rc;
}

/* The shardings found in the file as settings, before those given; said on stderr. */
static int add_file_pins(struct plan_args *a, const struct problem *p, struct err *e)
{
    struct text_list all = {0};
    uint32_t kept, refused;
    int rc = file_wishes_settings(p, a->relaxed.on, &a->file_pins, &kept, &refused, e);

    if (rc)
        return rc;
    fprintf(stderr, "automap plan: %u of %u shardings of the file are kept%s\n", kept,
            kept + refused, refused ? "; not all can hold on this mesh" : "");
    const char *at = a->file_pins.text;
    for (uint32_t k = 0; k < kept && !rc; k++, at += strlen(at) + 1)
        rc = text_list_add(&all, at, e);
    for (uint32_t k = 0; k < a->settings.count && !rc; k++)
        rc = text_list_add(&all, a->settings.items[k], e);
    text_list_release(&a->settings);
    a->settings = all;
    return rc;
}

static int make_asked(struct plan_args *a, struct problem *p,
                      struct batch_and_zero_result *batchings, struct plan *plan, struct err *e)
{
    int rc = a->pins_from_file ? add_file_pins(a, p, e) : 0;

    if (rc)
        return rc;
    return a->relaxed.on ? make_relaxed(a, p, batchings, plan, e)
           : a->limit.on ? make_limited(a, p, batchings, plan, e)
                         : make_plan(a, p, plan, e);
}

static int run_plan(int argc, char **argv)
{
    struct plan_args *a = mem_alloc(sizeof *a);
    struct problem *p = mem_alloc(sizeof *p);
    struct batch_and_zero_result *batchings = mem_alloc(sizeof *batchings);
    struct plan plan = {0};
    struct str text = {0};
    struct err e;
    int code = parse(argc, argv, a);
    if (code == EXIT_OK)
        code = overwrite_check(a->out, a->force);
    bool parsed = code == EXIT_OK;

    if (parsed && read_pins(a, &e)) {
        err_print(&e, stderr);
        code = exit_code_of(&e);
        parsed = false;
    }
    if (parsed && a->is_place)
        code = place_with_file(&a->problem, a->start, show_place, a);
    else if (parsed && a->is_hybrid)
        code = hybrid_with_file(&a->problem, a->start, show_hybrid, a);
    else if (parsed && a->is_pipeline)
        code = pipeline_with_file(&a->problem, a->start, show_pipeline, a);
    else if (parsed)
        code = problem_args_load(&a->problem, p);
    if (parsed && !a->is_pipeline && code == EXIT_OK) {
        p->stop = stopping_begin();
        int rc = make_asked(a, p, batchings, &plan, &e);
        bool none = !rc && a->limit.on && !a->recompute && !batchings->fits;
        if (!rc && a->out && !none)
            rc = plan_file_save(&plan, a->out, &e);
        if (!rc && !a->json && a->limit.on && !a->recompute) {
            if (none)
                plan_limit_print(&a->limit, p, batchings);
            plan_limit_print_tries(&a->limit, batchings);
        }
        if (!rc && none) {
            code = EXIT_INFEASIBLE;
            rc = a->json ? plan_limit_json(&a->limit, p, batchings, &text, &e) : 0;
        } else if (!rc) {
            rc = tell_plan(a, p, &plan, &text, &e);
        }
        if (rc) {
            err_print(&e, stderr);
            code = exit_code_of(&e);
        } else if (text.text) {
            fputs(text.text, stdout);
        }
        if (stopping_end() && (code == EXIT_OK || code == EXIT_INFEASIBLE))
            code = EXIT_STOPPED;
        batch_and_zero_release(batchings);
        plan_release(&plan);
        problem_release(p);
    }
    str_release(&text);
    text_list_release(&a->relaxed.stores);
    text_list_release(&a->settings);
    str_release(&a->pins);
    str_release(&a->file_pins);
    free(batchings);
    free(p);
    free(a);
    return code;
}

const struct command command_plan = {
    .name = "plan",
    .usage = "MODEL [CLUSTER]",
    .summary = "make one plan from given decisions, or the proven best plan",
    .about =
        "Makes one plan from given decisions, completed by propagation, or the proven best plan.",
    .options = options,
    .run = run_plan,
};
