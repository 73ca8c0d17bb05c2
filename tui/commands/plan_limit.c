#include "tui/commands/plan_limit.h"

#include "engine/cost/training.h"
#include "engine/decide/strict.h"
#include "engine/plan/recompute_joint.h"
#include "engine/problem/problem.h"
#include "engine/text/quantity.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int take_limit(void *args, const struct option *o, const char *value, struct err *e)
{
    struct plan_limit_args *a = args;
    struct err why;

    a->on = true;
    a->is_device = !strcmp(value, "device");
    a->none = !strcmp(value, "none");
    return a->is_device || a->none || !quantity_read(value, QUANTITY_BYTES, &a->bytes, &why)
               ? 0
               : option_expected(o, value, e);
}

/* Numbers are of the problem. */
static int take_auto(void *args, const struct option *o, const char *value, struct err *e)
{
    struct plan_limit_args *a = args;

    (void)e;
    if (strcmp(value, "auto") != 0)
        return OPTION_PASS;
    a->on = true;
    *(bool *)((char *)args + o->offset) = true;
    return 0;
}

static const char *const limits[] = {"device", "none"}, *const choose[] = {"auto"};

#define ARG(field) INTO(struct plan_limit_args, field)
const struct option plan_limit_options[] = {
    {"memory-limit", "SIZE",
     "the best plan, strict or relaxed, within SIZE (12.8 GB), with its bound; device: a device's "
     "memory minus 20 %; none",
     .take = take_limit, NAMES(limits), .expected = "a size such as 12.8 GB, device or none"},
    {"micro-batches", "auto", "choose the best divisor of the batch together with the plan",
     .take = take_auto, NAMES(choose), ARG(choose_micro_batches)},
    {"zero", "auto",
     "choose the level together with the plan (a relaxed plan always does, for each variable); "
     "auto implies --memory-limit device unless a limit is given",
     .take = take_auto, NAMES(choose), ARG(choose_zero)},
    {0},
};
#undef ARG

double plan_limit_bytes(const struct plan_limit_args *a, const struct problem *p)
{
    if (a->none)
        return INFINITY;
    return a->bytes > 0 ? a->bytes : problem_device_limit(p);
}

int plan_limit_solve(const struct plan_limit_args *a, struct problem *p,
                     int (*fix)(void *context, const struct problem *p, struct strict *s,
                                struct err *e),
                     void *context, struct batch_and_zero_result *out, struct err *e)
{
    struct batch_and_zero r = problem_batch_and_zero(p);
    struct batch_and_zero_options o = {.limit = plan_limit_bytes(a, p),
                                       .variables = true,
                                       .inputs = true,
                                       .micro_batches =
                                           a->choose_micro_batches ? 0 : r.micro_batches,
                                       .zero = a->choose_zero ? -1 : r.zero,
                                       .fix = fix,
                                       .context = context};
    struct recompute_joint joint;

    if (!a->recompute)
        return exact_batch_and_zero(p, &o, out, e);
    int rc = recompute_joint_solve(p, &o, &joint, e);
    if (!rc) {
        *out = joint.best;
        out->fits = joint.fits;
        out->bound = 0; /* of the larger limit: says nothing here */
    }
    return rc;
}

/* ---- words ---- */

void plan_limit_print_tries(const struct plan_limit_args *a, const struct batch_and_zero_result *r)
{
    char ms[UNITS_ROOM], bytes[UNITS_ROOM], zero[8];

    if (!a->choose_micro_batches && (!a->choose_zero || a->relaxed))
        return;
    printf("  micro-batches  %4s          step       memory\n", a->relaxed ? "" : "ZeRO");
    for (uint32_t k = 0; k < r->count; k++) {
        const struct batch_and_zero_try *t = &r->tries[k];
        if (t->is_skipped)
            continue;
        snprintf(zero, sizeof zero, "%u", t->batching.zero);
        printf("  %13u  %4s  %12s  %11s  %s\n", t->batching.micro_batches, a->relaxed ? "" : zero,
               t->fits ? units_ms(ms, t->value) : "-",
               t->peak > 0 ? units_bytes(bytes, t->peak) : "-",
               t->fits     ? ""
               : t->proven ? "at least: does not fit"
                           : "found: none that fits");
    }
    printf("\n");
}

static void print_pair(const struct plan_limit_args *a, const struct batch_and_zero *r)
{
    if (a->choose_micro_batches)
        printf("any number of micro-batches");
    else
        printf("%u micro-batch%s", r->micro_batches, r->micro_batches == 1 ? "" : "es");
    if (a->choose_zero && !a->relaxed)
        printf(" and any ZeRO level");
    else if (!a->relaxed)
        printf(" and ZeRO level %u", r->zero);
}

/* Memory of a device on which `bytes` would be within the limit. */
static double device_for(const struct plan_limit_args *a, double bytes)
{
    return a->bytes > 0 ? bytes : bytes / (1 - DEVICE_MEMORY_MARGIN);
}

void plan_limit_print_margin(enum plan_kind kind)
{
    struct str text = {0};

    memory_margin_say(kind, &text);
    printf("  margin                        %s\n", text.text ? text.text : "");
    str_release(&text);
}

void plan_limit_print(const struct plan_limit_args *a, const struct problem *p,
                      const struct batch_and_zero_result *r)
{
    char limit[UNITS_ROOM], least[UNITS_ROOM], device[UNITS_ROOM];

    printf("%s: no %s plan with ", r->proven ? "does not fit" : "none found that fits",
           a->relaxed ? "relaxed" : "strict");
    print_pair(a, &r->batching);
    printf(" stays within %s on %s\n", units_bytes(limit, plan_limit_bytes(a, p)), p->cluster.name);
    printf("  least           %12s  with %u micro-batch%s", units_bytes(least, r->plan.peak),
           r->batching.micro_batches, r->batching.micro_batches == 1 ? "" : "es");
    if (!a->relaxed)
        printf(" and ZeRO level %u", r->batching.zero);
    if (r->least_bound >= r->plan.peak * (1 - 1e-9))
        printf(", proven: no %s plan needs less\n", a->relaxed ? "relaxed" : "strict");
    else
        printf("; no %s plan needs less than %s\n", a->relaxed ? "relaxed" : "strict",
               units_bytes(device, r->least_bound));
    if (r->needs_micro_batches)
        printf("  it needs at least %u micro-batches, or a device of %s\n", r->needs_micro_batches,
               units_bytes(device, device_for(a, r->plan.peak)));
    else if (a->choose_micro_batches)
        printf("  it needs a device of %s\n", units_bytes(device, device_for(a, r->plan.peak)));
    else
        printf("  no number of micro-batches was found enough; it needs a device of %s\n",
               units_bytes(device, device_for(a, r->plan.peak)));
    if (a->bytes <= 0)
        plan_limit_print_margin(a->relaxed ? PLAN_RELAXED : PLAN_STRICT);
    printf("\n");
}

int plan_limit_json(const struct plan_limit_args *a, const struct problem *p,
                    const struct batch_and_zero_result *r, struct str *out, struct err *e)
{
    cJSON *o = cJSON_CreateObject(), *tries;

    cJSON_AddStringToObject(o, "schema", "automap.limit/1");
    cJSON_AddStringToObject(o, "mode", a->relaxed ? "relaxed" : "strict");
    cJSON_AddBoolToObject(o, "fits", r->fits);
    cJSON_AddBoolToObject(o, "proven", r->proven);
    cJSON_AddStringToObject(o, "scope",
                            a->relaxed ? "relaxed plans on this mesh with the pins given, over the "
                                         "micro-batches and ZeRO levels in tries"
                                       : "strict plans on this mesh with the pins given, over the "
                                         "micro-batches and ZeRO levels in tries");
    cJSON_AddStringToObject(o, "model", p->file->name);
    cJSON_AddStringToObject(o, "cluster", p->cluster.name);
    cJSON_AddNumberToObject(o, "memory_limit_bytes", plan_limit_bytes(a, p));
    cJSON_AddNumberToObject(o, "least_bytes", r->plan.peak);
    cJSON_AddNumberToObject(o, "least_bound_bytes", r->least_bound);
    cJSON_AddNumberToObject(o, "micro_batches", r->batching.micro_batches);
    cJSON_AddNumberToObject(o, "zero", r->batching.zero);
    if (r->needs_micro_batches)
        cJSON_AddNumberToObject(o, "needs_micro_batches", r->needs_micro_batches);
    else
        cJSON_AddNullToObject(o, "needs_micro_batches");
    cJSON_AddNumberToObject(o, "needs_device_bytes", device_for(a, r->plan.peak));
    tries = cJSON_AddArrayToObject(o, "tries");
    for (uint32_t k = 0; k < r->count; k++) {
        const struct batch_and_zero_try *t = &r->tries[k];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "micro_batches", t->batching.micro_batches);
        cJSON_AddNumberToObject(one, "zero", t->batching.zero);
        cJSON_AddBoolToObject(one, "fits", t->fits);
        cJSON_AddBoolToObject(one, "proven", t->proven);
        cJSON_AddNumberToObject(one, "memory_bytes", t->peak);
        cJSON_AddItemToArray(tries, one);
    }
    char *text = cJSON_Print(o);
    cJSON_Delete(o);
    if (!text)
        return err_set(e, ERR_MEMORY, "not enough memory to print the answer");
    str_add(out, text);
    str_add_char(out, '\n');
    cJSON_free(text);
    return out->failed ? err_set(e, ERR_MEMORY, "not enough memory to print the answer") : 0;
}
