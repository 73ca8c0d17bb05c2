#include "tui/commands/plan_limit.h"

#include "engine/text/quantity.h"
#include "engine/text/units.h"
#include "tui/options/args.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The value of `--name VALUE` or `--name=VALUE`; NULL when argv[*at] is another option. */
static const char *value_of(const char *name, int argc, char **argv, int *at)
{
    size_t length = strlen(name);

    if (strncmp(argv[*at], name, length))
        return NULL;
    if (argv[*at][length] == '=')
        return argv[*at] + length + 1;
    return argv[*at][length] || *at + 1 >= argc ? NULL : argv[*at + 1];
}

static void skip(char **argv, int *at)
{
    *at += !strchr(argv[*at], '=');
}

int plan_limit_take(struct plan_limit_args *a, int argc, char **argv, int *at)
{
    const char *value = value_of("--memory-limit", argc, argv, at);
    struct err e;

    if (value) {
        a->on = true;
        a->is_device = !strcmp(value, "device");
        a->none = !strcmp(value, "none");
        if (!a->is_device && !a->none && quantity_read(value, QUANTITY_BYTES, &a->bytes, &e)) {
            return args_wrong("--memory-limit", value, "a size such as 12.8 GB, device or none");
        }
        skip(argv, at);
        return 1;
    }
    value = value_of("--micro-batches", argc, argv, at);
    if (value && !strcmp(value, "auto")) {
        a->on = a->choose_micro_batches = true;
        skip(argv, at);
        return 1;
    }
    value = value_of("--zero", argc, argv, at);
    if (value && !strcmp(value, "auto")) {
        a->on = a->choose_zero = true;
        skip(argv, at);
        return 1;
    }
    return 0;
}

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

    return exact_batch_and_zero(p, &o, out, e);
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

void plan_limit_print(const struct plan_limit_args *a, const struct problem *p,
                      const struct batch_and_zero_result *r)
{
    char limit[UNITS_ROOM], least[UNITS_ROOM], device[UNITS_ROOM];

    printf("%s: no %splan with ", r->proven ? "does not fit" : "none found that fits",
           a->relaxed ? "relaxed " : "");
    print_pair(a, &r->batching);
    printf(" stays within %s on %s\n", units_bytes(limit, plan_limit_bytes(a, p)), p->cluster.name);
    printf("  least           %12s  with %u micro-batch%s", units_bytes(least, r->plan.peak),
           r->batching.micro_batches, r->batching.micro_batches == 1 ? "" : "es");
    if (!a->relaxed)
        printf(" and ZeRO level %u", r->batching.zero);
    if (r->least_bound >= r->plan.peak * (1 - 1e-9))
        printf(", proven\n");
    else
        printf("; no plan needs less than %s\n", units_bytes(device, r->least_bound));
    if (r->needs_micro_batches)
        printf("  it needs at least %u micro-batches, or a device of %s\n", r->needs_micro_batches,
               units_bytes(device, device_for(a, r->plan.peak)));
    else if (a->choose_micro_batches)
        printf("  it needs a device of %s\n", units_bytes(device, device_for(a, r->plan.peak)));
    else
        printf("  no number of micro-batches was found enough; it needs a device of %s\n",
               units_bytes(device, device_for(a, r->plan.peak)));
    if (a->bytes <= 0)
        printf("  of a device's memory %.0f %% is left free\n", 100 * DEVICE_MEMORY_MARGIN);
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
