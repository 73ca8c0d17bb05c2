/* automap plan --mode relaxed: the best plan whose splits may change between uses, with its bound.
 */
#include "tui/commands/plan_relaxed.h"

#include "engine/exact/batch_and_zero.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/limited.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "engine/text/units.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_RESHARDS = 10 };

static const char *const modes[] = {"strict", "relaxed"}, *const foldings[] = {"auto", "off", "on"};

#define ARG(field) INTO(struct plan_relaxed_args, field)
const struct option plan_relaxed_options[] = {
    {"mode", "strict|relaxed", "relaxed: splits may change between uses, at a price",
     .kind = OPTION_CHOICE, NAMES(modes), ARG(on)},
    {"store", "'NAME:DIM=1'", "relaxed: store it split, but let uses gather it; repeatable",
     .kind = OPTION_LIST, ARG(stores)},
    {"folding", "auto|on|off", "relaxed: treat equal layers alike; auto: only on several axes",
     .kind = OPTION_CHOICE, NAMES(foldings), ARG(options.folding), .expected = "auto, on or off"},
    {"sweeps", "N", "relaxed: at most N sweeps of message passing", .kind = OPTION_WHOLE,
     ARG(options.sweeps), .least = 1, .most = 1000000, .expected = "a number from 1 to 1,000,000"},
    {0},
};
#undef ARG

bool plan_relaxed_is_set(const struct plan_relaxed_args *a)
{
    return a->options.folding != RELAXED_FOLD_AUTO || a->options.sweeps || a->stores.count;
}

/* ---- text ---- */

static void print_sums(const struct relaxed_plan *plan)
{
    struct relaxed_sum sums[RESHARD_KIND_COUNT];
    char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];

    relaxed_sums(plan, sums);
    for (int k = 0; k < RESHARD_KIND_COUNT; k++) {
        if (sums[k].count > 0)
            printf("  %-15s %12s  %s, %s a step\n", reshard_kind_names[k],
                   units_count(a, (int64_t)sums[k].count), units_bytes(b, sums[k].bytes),
                   units_ms(c, sums[k].ms));
    }
}

static int compare_ms(const void *x, const void *y)
{
    const struct relaxed_reshard *const *a = x, *const *b = y;

    if ((*a)->ms != (*b)->ms)
        return ((*a)->ms < (*b)->ms) - ((*a)->ms > (*b)->ms);
    return (*a > *b) - (*a < *b);
}

void plan_relaxed_print_reshards(const struct relaxed_plan *plan)
{
    const struct problem *p = plan->problem;
    const struct relaxed_reshard **list =
        mem_alloc((plan->reshard_count + 1u) * sizeof(void *)); /* for qsort */
    struct str from = {0}, to = {0};
    char a[UNITS_ROOM], b[UNITS_ROOM];

    for (uint32_t k = 0; k < plan->reshard_count; k++)
        list[k] = &plan->reshards[k];
    if (plan->reshard_count)
        qsort(list, plan->reshard_count, sizeof *list, compare_ms);
    printf("  the longest reshards of %u\n", plan->reshard_count);
    for (uint32_t k = 0; k < plan->reshard_count && k < SHOWN_RESHARDS; k++) {
        const struct relaxed_reshard *r = list[k];
        str_clear(&from);
        str_clear(&to);
        status_write(hlo_value_shape(p->m, r->value), &p->mesh, r->from, &from);
        status_write(hlo_value_shape(p->m, r->value), &p->mesh, r->to, &to);
        printf("  %10s %9s  %-14s %-28s %s -> %s\n", units_ms(a, r->ms), units_bytes(b, r->bytes),
               reshard_kind_names[r->kind], hlo_name(p->m, p->m->value_instruction[r->value]),
               from.text, to.text);
    }
    printf("\n");
    str_release(&from);
    str_release(&to);
    free(list);
}

void plan_relaxed_print_costs(const struct relaxed_plan *plan, bool is_limited, bool given)
{
    char a[UNITS_ROOM];

    if (plan->bound_ms > 0)
        printf("  bound           %12s  %s: no plan%s%s is faster; the plan is %.2f %% above it\n",
               units_ms(a, plan->bound_ms),
               is_limited ? relaxed_bound_names[RELAXED_GLOBAL]
                          : relaxed_bound_names[plan->bound_kind],
               given ? " with the given decisions" : "",
               is_limited                         ? " within the memory limit"
               : plan->bound_kind == RELAXED_TIED ? " that treats equal layers alike"
                                                  : "",
               100 * plan->gap);
    if (plan->strict_ms > 0)
        printf("  strict          %12s  the best plan that reshards nothing%s, %s\n",
               units_ms(a, plan->strict_ms), is_limited ? ", within the memory limit" : "",
               plan->strict_proven ? "proven" : "of those found");
    print_sums(plan);
}

/* ---- solving ---- */

static int read_pins(const struct plan_relaxed_args *a, const struct problem *p,
                     const char *const *settings, uint32_t setting_count, const struct plan *from,
                     struct relaxed_pins *pins, struct err *e)
{
    int rc = from ? relaxed_pins_of_plan(from, pins, e) : 0;

    if (rc)
        return rc;
    for (uint32_t k = 0; k < setting_count; k++) {
        rc = relaxed_pins_set(p, settings[k], false, pins, e);
        if (rc)
            return rc;
    }
    for (uint32_t k = 0; k < a->stores.count; k++) {
        rc = relaxed_pins_set(p, a->stores.items[k], true, pins, e);
        if (rc)
            return rc;
    }
    return rc;
}

static int set_pins(const struct plan_relaxed_args *a, const struct problem *p,
                    const char *const *settings, uint32_t setting_count, const struct plan *from,
                    struct relaxed *r, struct err *e)
{
    struct relaxed_pins pins = {0};
    int rc = read_pins(a, p, settings, setting_count, from, &pins, e);

    if (rc)
        goto out;
    rc = relaxed_set_pins(r, pins.items, pins.count, e);
out:
    relaxed_pins_release(&pins);
    return rc;
}

static int solve_limited(struct plan_relaxed_args *a, const struct problem *p,
                         const struct relaxed_pins *pins, struct relaxed_plan *plan, struct err *e)
{
    struct relaxed_options options = a->options;
    struct relaxed *r;

    options.folding = RELAXED_FOLD_OFF;
    int rc = relaxed_new(p, &options, &r, e);
    if (rc)
        return rc;
    rc = relaxed_set_pins(r, pins->items, pins->count, e);
    if (rc)
        goto out;
    rc = relaxed_solve_limited(r, a->limit, INFINITY, plan, &a->within, e);
out:
    relaxed_free(r);
    return rc;
}

int plan_relaxed_solve(struct plan_relaxed_args *a, const struct problem *p,
                       const char *const *settings, uint32_t setting_count, const struct plan *from,
                       struct plan *out, struct err *e)
{
    struct relaxed_pins pins = {0};
    struct relaxed_plan plan;
    int rc = read_pins(a, p, settings, setting_count, from, &pins, e);

    if (rc)
        goto out;
    rc = a->limit > 0 ? solve_limited(a, p, &pins, &plan, e)
                      : relaxed_solve_overlapped(p, &a->options, pins.items, pins.count, &plan, e);
    if (rc)
        goto out;
    rc = plan_from_relaxed(&plan, out, e);
    if (rc)
        goto out;
    out->memory_limit = a->limit;
out:
    relaxed_pins_release(&pins);
    return rc;
}

/* ---- within a limit ---- */

struct decisions {
    const struct plan_relaxed_args *args;
    const char *const *settings;
    uint32_t setting_count;
    const struct plan *from;
};

static int fix_decisions(void *context, const struct problem *p, struct relaxed *r, struct err *e)
{
    const struct decisions *d = context;

    return set_pins(d->args, p, d->settings, d->setting_count, d->from, r, e);
}

int plan_relaxed_choose(struct plan_relaxed_args *a, struct problem *p, const char *const *settings,
                        uint32_t setting_count, const struct plan *from, uint32_t micro_batches,
                        struct batch_and_zero_result *out, struct plan *plan, struct err *e)
{
    struct decisions d = {a, settings, setting_count, from};
    struct relaxed_batches_options o = {.relaxed = a->options,
                                        .limit = a->limit,
                                        .micro_batches = micro_batches,
                                        .fix = fix_decisions,
                                        .context = &d};
    struct relaxed_plan best;
    int rc = relaxed_choose_batches(p, &o, out, &best, &a->within, e);

    if (rc)
        return rc;
    rc = plan_from_relaxed(&best, plan, e);
    if (rc)
        return rc;
    plan->memory_limit = isfinite(a->limit) ? a->limit : 0;
    return rc;
}
