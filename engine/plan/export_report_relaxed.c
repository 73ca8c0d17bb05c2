/* engine/plan/export_report_relaxed.c - what a report says of a plan that reshards between uses. */
#include "engine/cost/memory.h"
#include "engine/plan/export_report_internal.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include "engine/relaxed/plan_totals.h"
#include "engine/text/units.h"

#include <string.h>

#define STORED_HEAD "\n## What is stored and used\n"
#define RESHARDS_HEAD "\n## Reshards\n"

void report_write_bound(const struct report *r)
{
    const struct relaxed_plan *x = r->plan->relaxed;
    char ms[UNITS_ROOM], text[UNITS_ROOM];
    const char *within = r->plan->memory_limit > 0 ? " within its memory limit" : "";

    if (r->plan->bound_ms > 0)
        str_format(r->out, "; no plan%s%s takes less than %s (%s bound), %s less",
                   x->bound_kind == RELAXED_TIED ? " that treats equal layers alike" : "", within,
                   units_ms(ms, r->plan->bound_ms), relaxed_bound_names[x->bound_kind],
                   units_percent(text, x->gap));
    if (x->strict_ms > 0)
        str_format(r->out, "; the best that reshards nothing%s%s takes %s", within,
                   x->strict_proven ? " (proven)" : ", of those found,",
                   units_ms(ms, x->strict_ms));
}

/* ---- parameters ---- */

enum storage { REPLICATED, SPLIT, GATHERED, RESHARDED, SLICED, STORAGE_COUNT };
static const char *const storage_names[STORAGE_COUNT] = {
    "replicated",
    "split as used",
    "stored split, gathered for use",
    "stored split, used split otherwise",
    "stored whole, used in pieces",
};

/* By the collectives that read it: `kinds` of enum reshard_kind, a bit each. */
static enum storage storage_of(const struct relaxed_plan *x, hlo_value v, uint8_t kinds)
{
    if (kinds & 1u << RESHARD_ALL_GATHER)
        return GATHERED;
    if (kinds)
        return RESHARDED;
    if (x->made[v] == x->held[v])
        return x->made[v] ? SPLIT : REPLICATED;
    return x->made[v] ? RESHARDED : SLICED;
}

/* [values] kinds of reshards on the way from each value to its uses; NULL out of memory. */
static uint8_t *reads_of(const struct relaxed_plan *x)
{
    uint8_t *kinds = mem_try((size_t)x->problem->m->value_count + 1, sizeof *kinds);

    for (uint32_t k = 0; kinds && k < x->reshard_count; k++) {
        const struct relaxed_reshard *r = &x->reshards[k];
        if (r->becomes == HLO_NONE && !r->is_inside)
            kinds[r->value] |= (uint8_t)(1u << r->kind);
    }
    return kinds;
}

static void write_counts(const struct report *r, const uint8_t *kinds)
{
    const struct hlo_roles *roles = &r->plan->problem->roles;
    uint32_t counts[HLO_ROLE_COUNT][STORAGE_COUNT] = {0};

    for (uint32_t k = 0; k < roles->param_count; k++)
        counts[roles->params[k].role][storage_of(r->plan->relaxed, roles->params[k].value,
                                                 kinds[roles->params[k].value])]++;
    str_add(r->out, "\n| |");
    for (int n = 0; n < STORAGE_COUNT; n++)
        str_format(r->out, " %s |", storage_names[n]);
    str_add(r->out, "\n|---|---:|---:|---:|---:|---:|\n");
    for (int role = 0; role < HLO_ROLE_COUNT; role++) {
        uint32_t all = 0;
        for (int n = 0; n < STORAGE_COUNT; n++)
            all += counts[role][n];
        if (!all)
            continue;
        str_format(r->out, "| %s |", hlo_role_names[role]);
        for (int n = 0; n < STORAGE_COUNT; n++)
            str_format(r->out, " %u |", counts[role][n]);
        str_add_char(r->out, '\n');
    }
}

/* State goes with its variables: only the counts have it. */
static bool is_listed(const struct hlo_param_role *p)
{
    return p->role == HLO_ROLE_VARIABLE || p->role == HLO_ROLE_INPUT;
}

static void add_status(const struct problem *p, hlo_value v, status s, struct str *out)
{
    str_add(out, "| `");
    status_write(hlo_value_shape(p->m, v), &p->mesh, s, out);
    str_add(out, "` ");
}

static void write_parameters(const struct report *r, const uint8_t *kinds)
{
    const struct problem *p = r->plan->problem;
    const struct relaxed_plan *x = r->plan->relaxed;

    str_add(r->out, STORED_HEAD);
    write_counts(r, kinds);
    str_add(r->out,
            "\n| variable or input | stored | as its uses find it | |\n|---|---|---|---|\n");
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const struct hlo_param_role *a = &p->roles.params[k];
        if (!is_listed(a))
            continue;
        str_add(r->out, "| ");
        report_add_plain(r->out, a->name);
        str_add_char(r->out, ' ');
        add_status(p, a->value, x->made[a->value], r->out);
        add_status(p, a->value, x->held[a->value], r->out);
        str_format(r->out, "| %s |\n", storage_names[storage_of(x, a->value, kinds[a->value])]);
    }
}

/* ---- communication ---- */

static void write_kinds(const struct report *r)
{
    struct relaxed_sum sums[RESHARD_KIND_COUNT];
    char count[UNITS_ROOM], bytes[UNITS_ROOM];

    relaxed_sums(r->plan->relaxed, sums);
    str_add(r->out, "\n## What is communicated\n\n| kind | collectives | a step | ms | "
                    "|\n|---|---:|---:|---:|---|\n");
    for (int k = 0; k < RESHARD_KIND_COUNT; k++) {
        if (!(sums[k].count > 0))
            continue;
        str_format(r->out, "| %s | %s | %s | %.1f | ", reshard_kind_names[k],
                   units_count(count, (int64_t)sums[k].count), units_bytes(bytes, sums[k].bytes),
                   sums[k].ms);
        report_add_bar(r->out, sums[k].ms / r->plan->cost.step_ms);
        str_add(r->out, " |\n");
    }
    if (!r->plan->relaxed->reshard_count)
        str_add(r->out, "| nothing | 0 | 0 B | 0.0 | |\n");
}

static int longest_first(const void *a, const void *b)
{
    const struct relaxed_reshard *const *x = a, *const *y = b;

    if ((*x)->ms != (*y)->ms)
        return (*x)->ms < (*y)->ms ? 1 : -1;
    return (*x > *y) - (*x < *y);
}

/* The caller frees it; NULL out of memory. */
static const struct relaxed_reshard **sorted(const struct relaxed_plan *x)
{
    const struct relaxed_reshard **list = mem_try((size_t)x->reshard_count + 1, sizeof *list);

    for (uint32_t k = 0; list && k < x->reshard_count; k++)
        list[k] = &x->reshards[k];
    if (list && x->reshard_count)
        qsort(list, x->reshard_count, sizeof *list, longest_first);
    return list;
}

/* The parameter of the entry that a value is stored as; HLO_NONE: it is what a loop carries. */
static uint32_t param_of(const struct hlo_roles *roles, hlo_value v)
{
    for (uint32_t k = 0; k < roles->param_count; k++) {
        if (roles->params[k].value == v)
            return k;
    }
    return HLO_NONE;
}

static void add_goal(const struct problem *p, const struct relaxed_reshard *r, struct str *out)
{
    uint32_t k = param_of(&p->roles, r->becomes);

    str_add(out, k == HLO_NONE ? "what is carried as " : "the next ");
    report_add_plain(out, k == HLO_NONE ? hlo_name(p->m, p->m->value_instruction[r->becomes])
                                        : p->roles.params[k].name);
}

/* For what a value goes another way. */
static void add_purpose(const struct problem *p, const struct relaxed_reshard *r, struct str *out)
{
    if (r->is_inside)
        str_add(out, "inside of it");
    else if (r->user != HLO_NONE)
        report_add_plain(out, hlo_name(p->m, r->user));
    else if (r->becomes == HLO_NONE)
        str_add(out, "all its uses");
    else if (r->becomes == r->value)
        str_add(out, "what the step hands out");
    else
        add_goal(p, r, out);
}

static void write_reshard(const struct report *r, const struct relaxed_reshard *x)
{
    const struct problem *p = r->plan->problem;
    char times[UNITS_ROOM], bytes[UNITS_ROOM];

    str_add(r->out, "| ");
    report_add_plain(r->out, hlo_name(p->m, p->m->value_instruction[x->value]));
    str_add_char(r->out, ' ');
    add_status(p, x->value, x->from, r->out);
    add_status(p, x->value, x->to, r->out);
    str_format(r->out, "| %s | ", reshard_kind_names[x->kind]);
    add_purpose(p, x, r->out);
    str_format(r->out, " | %s | %s | %.3g |\n", units_number(times, x->times, 0),
               units_bytes(bytes, x->bytes), x->ms);
}

static int write_reshards(const struct report *r, struct err *e)
{
    const struct relaxed_reshard **list = sorted(r->plan->relaxed);

    if (!list)
        return err_no_memory(e, "for the report");
    str_add(r->out, RESHARDS_HEAD);
    str_add(r->out, "\nThe longest first. `/x` is split over axis x, `+x` are partial sums along "
                    "it; bytes and ms are of a step.\n\n"
                    "| value | from | to | kind | for | times | bytes | ms "
                    "|\n|---|---|---|---|---|---:|---:|---:|\n");
    for (uint32_t k = 0; k < r->plan->relaxed->reshard_count; k++)
        write_reshard(r, list[k]);
    free(list);
    return 0;
}

/* ---- all of it ---- */

void report_write_peak(const struct report *r)
{
    char bytes[UNITS_ROOM];

    str_format(r->out,
               "\nAt the peak, `%s`:\n\n| | on one device | "
               "|\n|---|---:|---|\n",
               hlo_name(r->plan->problem->m, r->memory.at));
    for (int k = 0; k < MEMORY_KIND_COUNT; k++) {
        if (!(r->memory.bytes[k] > 0))
            continue;
        str_format(r->out, "| %s | %s | ", memory_kind_names[k],
                   units_bytes(bytes, r->memory.bytes[k]));
        report_add_bar(r->out, r->memory.bytes[k] / r->memory.peak);
        str_add(r->out, " |\n");
    }
}

int report_write_relaxed(const struct report *r, struct err *e)
{
    uint8_t *kinds = reads_of(r->plan->relaxed);
    int rc = kinds ? 0 : err_no_memory(e, "for the report");

    if (rc)
        goto out;
    write_parameters(r, kinds);
    write_kinds(r);
    rc = write_reshards(r, e);
out:
    free(kinds);
    return rc;
}

/* ---- reading it again ---- */

/* Two statuses of a value in the row at *at, which goes on to the next row. */
static bool check_row(const struct problem *p, hlo_value v, status first, status second,
                      const char **at)
{
    const status want[2] = {first, second};
    const char *end = *at + strcspn(*at, "\n");

    for (int n = 0; n < 2; n++) {
        status found;
        *at = strstr(*at, " | `");
        if (!*at || *at > end)
            return false;
        *at += 4;
        size_t size = status_read(hlo_value_shape(p->m, v), &p->mesh, *at, &found);
        if (!size || (*at)[size] != '`' || found != want[n])
            return false;
        *at += size + 1;
    }
    *at = end + (*end == '\n');
    return true;
}

/* The first row of the table with statuses behind a heading. */
static const char *rows_behind(const char *text, const char *head, const char *columns)
{
    const char *at = strstr(text, head), *line = at ? strstr(at, columns) : NULL;

    for (int n = 0; n < 2 && line; n++) { /* the columns' names, and the line below them */
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return line;
}

int report_check_relaxed(const struct plan *p, const char *text, struct err *e)
{
    const struct relaxed_plan *x = p->relaxed;
    const struct hlo_roles *roles = &p->problem->roles;
    const char *at = rows_behind(text, STORED_HEAD, "| variable or input |");
    bool fits = at != NULL;

    for (uint32_t k = 0; k < roles->param_count && fits; k++) {
        hlo_value v = roles->params[k].value;
        fits =
            !is_listed(&roles->params[k]) || check_row(p->problem, v, x->made[v], x->held[v], &at);
    }
    const struct relaxed_reshard **list = sorted(x);
    if (!list)
        return err_no_memory(e, "for the report");
    at = fits ? rows_behind(at, RESHARDS_HEAD, "| value | from |") : NULL;
    fits = at != NULL;
    for (uint32_t k = 0; k < x->reshard_count && fits; k++)
        fits = check_row(p->problem, list[k]->value, list[k]->from, list[k]->to, &at);
    fits = fits && *at == '\n'; /* and no row more */
    free(list);
    return fits ? 0 : err_set(e, ERR_INPUT, "the export does not read back as the plan");
}
