#include "engine/plan/export_report.h"
#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/names.h"
#include "engine/plan/cost_parts.h"
#include "engine/plan/export_report_internal.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include "engine/plan/plan_settings.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/text/units.h"
#include "hlo/support/text.h"

#include <math.h>
#include <string.h>

enum { PLOT_WIDTH = 72, PLOT_HEIGHT = 8, BAR_WIDTH = 24, TOPS = 8 };

/* ---- text ---- */

void report_add_plain(struct str *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("\\`*_{}[]<>#|", *text))
            str_add_char(out, '\\');
        str_add_char(out, *text);
    }
}

void report_add_bar(struct str *out, double share)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int size = share > 0 ? (int)(fmin(share, 1) * BAR_WIDTH * 8 + 0.5) : 0;

    for (int k = 0; k < size / 8; k++)
        str_add(out, "█");
    str_add(out, eighths[size % 8]);
}

/* Columns of eighths, [PLOT_WIDTH] values from 0 to `top`; the rows of `mark` say where a limit is.
 */
static void add_plot(struct str *out, const double *values, double top, const char *unit,
                     double scale)
{
    static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

    for (int row = PLOT_HEIGHT - 1; row >= 0; row--) {
        if (row == PLOT_HEIGHT - 1)
            str_format(out, "%8.1f ", top / scale);
        else if (row == 0)
            str_format(out, "%8s ", "0");
        else
            str_add(out, "         ");
        for (int x = 0; x < PLOT_WIDTH; x++) {
            double level = values[x] / top * PLOT_HEIGHT * 8 - row * 8;
            str_add(out, eighths[level <= 0 ? 0 : level >= 8 ? 8 : (int)(level + 0.5)]);
        }
        str_add(out, row == PLOT_HEIGHT - 1 ? "  " : "\n");
        if (row == PLOT_HEIGHT - 1)
            str_format(out, "%s\n", unit);
    }
}

/* ---- parts ---- */

double report_whole_ms(const struct problem *p)
{
    label *none = mem_try((size_t)p->classes.count + 1, sizeof *none);
    double ms = none ? step_tables_cost(&p->step_tables, none).step_ms : 0;

    free(none);
    return ms;
}

static void write_head(const struct report *r)
{
    const struct plan *plan = r->plan;
    const struct problem *p = plan->problem;
    char ms[UNITS_ROOM], text[UNITS_ROOM], mesh[64], model[512];
    double limit = cluster_weakest(&p->cluster).memory_bytes;

    text_clean(model, sizeof model, r->about->model, strlen(r->about->model));
    str_add(r->out, "# ");
    report_add_plain(r->out, model);
    str_add(r->out, " on ");
    report_add_plain(r->out, p->cluster.name);
    mesh_format(&p->mesh, mesh, sizeof mesh);
    str_format(r->out, "\n\n%u devices as mesh %s. One step takes **%s**", p->cluster.devices, mesh,
               units_ms(ms, plan->cost.step_ms));
    if (r->baseline_ms > 0)
        str_format(r->out, ", %s less than with everything replicated (%s)",
                   units_percent(text, 1 - plan->cost.step_ms / r->baseline_ms),
                   units_ms(ms, r->baseline_ms));
    if (plan->relaxed)
        report_write_bound(r);
    else if (plan->bound_ms > 0 && plan->cost.step_ms <= plan->bound_ms * (1 + 1e-9))
        str_add(r->out, "; of the strict plans the search may choose from none is faster (proven)");
    else if (plan->bound_ms > 0)
        str_format(r->out, "; %s over the proven bound of the strict plans it may choose from, %s",
                   units_percent(text, plan->cost.step_ms / plan->bound_ms - 1),
                   units_ms(ms, plan->bound_ms));
    if (plan->batching.micro_batches > 1)
        str_format(r->out, ". The batch runs in %u micro-batches, whose gradients are summed",
                   plan->batching.micro_batches);
    if (plan->batching.zero)
        str_format(r->out, ". ZeRO level %u", plan->batching.zero);
    str_format(r->out, ". A device needs %s", units_bytes(text, r->memory.peak));
    str_format(r->out, " of %s: %s. Found by %s, seed %llu.\n", units_bytes(text, limit),
               r->memory.peak <= limit ? "fits" : "**does not fit**", plan->found_by,
               (unsigned long long)plan->seed);
}

static void write_cost_row(const struct report *r, const char *what, double ms)
{
    str_format(r->out, "| %s | %.3g | ", what, ms);
    report_add_bar(r->out, ms / r->plan->cost.step_ms);
    str_add(r->out, " |\n");
}

static void write_cost(const struct report *r)
{
    str_add(r->out, "\n## Where the time goes\n\n| part | ms | |\n|---|---:|---|\n");
    struct cost_parts parts = plan_cost_parts(r->plan);
    for (int k = 0; k < PART_COUNT; k++) {
        if (parts.ms[k] > 0)
            write_cost_row(r, cost_part_names[k], parts.ms[k]);
    }
}

static void write_decisions(const struct report *r)
{
    const struct problem *p = r->plan->problem;
    char name[NAME_ROOM], axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1];
    uint32_t whole = 0, dims = 0;

    str_add(r->out,
            "\n## What is split\n\nA class is all dims that can only be split together.\n\n"
            "| class | size | over | dims of variables | decided by |\n|---|---:|---|---:|---|\n");
    for (class_id k = 0; k < p->classes.count; k++) {
        const struct class_info *info = &p->classes.info[k];
        if (!r->plan->on[k]) {
            whole += info->var_dims && info->reason == CLASS_ALLOWED;
            dims += info->reason == CLASS_ALLOWED ? info->var_dims : 0;
            continue;
        }
        mesh_set_format(&p->mesh, r->plan->on[k], axes, sizeof axes);
        str_add(r->out, "| ");
        report_add_plain(r->out, class_name(&r->names, k, name));
        str_format(r->out, " | %lld | %s, %u | %u | %s |\n", (long long)info->least, axes,
                   p->labels.parts[r->plan->on[k]], info->var_dims, plan_by_names[r->plan->by[k]]);
    }
    str_format(r->out, "\nWhole: %u %s with %u dims of variables.\n", whole,
               whole == 1 ? "class" : "classes", dims);
}

/* Collectives of one class together, the dearest class first. */
struct cause {
    class_id class;
    uint64_t count;
    double bytes, ms;
};

static int dearest_first(const void *x, const void *y)
{
    const struct cause *a = x, *b = y;
    return a->ms != b->ms ? (a->ms < b->ms) - (a->ms > b->ms)
                          : (a->class > b->class) - (a->class < b->class);
}

static int write_collectives(const struct report *r, struct err *e)
{
    const struct problem *p = r->plan->problem;
    struct cause *causes = mem_try((size_t)p->classes.count + 1, sizeof *causes);
    char name[NAME_ROOM], text[UNITS_ROOM], bytes[UNITS_ROOM];

    if (!causes)
        return err_no_memory(e, "for the report");
    for (class_id k = 0; k <= p->classes.count; k++)
        causes[k].class = k;
    for (size_t n = 0; n < r->count; n++) {
        struct cause *c =
            &causes[r->list[n].cause == CLASS_NONE ? p->classes.count : r->list[n].cause];
        c->count += r->list[n].count;
        c->bytes += r->list[n].bytes;
        c->ms += r->list[n].ms;
    }
    qsort(causes, (size_t)p->classes.count + 1, sizeof *causes, dearest_first);
    str_add(r->out, "\n## What is communicated\n\n| split of | collectives | a step | ms | "
                    "|\n|---|---:|---:|---:|---|\n");
    for (class_id k = 0; k <= p->classes.count && causes[k].count; k++) {
        bool named = causes[k].class < p->classes.count;
        str_add(r->out, "| ");
        report_add_plain(r->out, named ? class_name(&r->names, causes[k].class, name)
                                       : "moving between layouts");
        str_format(r->out, " | %s | %s | %.1f | ", units_count(text, (int64_t)causes[k].count),
                   units_bytes(bytes, causes[k].bytes), causes[k].ms);
        report_add_bar(r->out, causes[k].ms / r->plan->cost.step_ms);
        str_add(r->out, " |\n");
    }
    if (!r->count)
        str_add(r->out, "| nothing | 0 | 0 B | 0.0 | |\n");
    free(causes);
    return 0;
}

/* The highest of each stretch of the step, so that no peak is lost. */
static void thin_out(const double (*rows)[MEMORY_KIND_COUNT], uint32_t count, double *columns)
{
    for (uint32_t n = 0; n < count; n++) {
        double sum = 0, *column = &columns[(uint64_t)n * PLOT_WIDTH / count];
        for (int k = 0; k < MEMORY_KIND_COUNT; k++)
            sum += rows[n][k];
        *column = fmax(*column, sum);
    }
    for (int x = 1; x < PLOT_WIDTH; x++) /* fewer instructions than columns */
        columns[x] = columns[x] > 0 ? columns[x] : columns[x - 1];
}

static void write_tops(const struct report *r)
{
    const struct plan *plan = r->plan;
    const struct problem *p = plan->problem;
    struct memory_top tops[TOPS];
    uint32_t count = memory_tops(&p->memory, &p->labels, plan->on, r->memory.at, tops, TOPS);
    char bytes[UNITS_ROOM];

    str_format(r->out,
               "\nAt the peak, `%s`, these are the largest:\n\n| value | shape | on one device | "
               "kind |\n|---|---|---:|---|\n",
               hlo_name(p->m, r->memory.at));
    for (uint32_t k = 0; k < count; k++) {
        str_format(r->out, "| `%s` | `", hlo_name(p->m, p->m->value_instruction[tops[k].value]));
        plan_write_shape(plan, tops[k].value, r->out);
        const char *beside = memory_storing_words[tops[k].storing];
        str_format(r->out, "` | %s | %s%s%s |\n", units_bytes(bytes, tops[k].bytes),
                   memory_kind_names[tops[k].kind], *beside ? ", " : "", beside);
    }
}

/* Live bytes by kind, [instructions of the entry]. */
static int fill_timeline(const struct plan *plan, double *scratch,
                         double (*rows)[MEMORY_KIND_COUNT], struct err *e)
{
    const struct problem *p = plan->problem;
    struct memory_cost cost;

    if (!plan->relaxed) {
        memory_timeline(&p->memory, &p->labels, plan->on, scratch, rows);
        return 0;
    }
    int rc = relaxed_memory_peak(plan->relaxed, &cost, NULL, scratch, e);
    if (rc)
        return rc;
    memory_timeline_of(&p->memory, scratch, rows);
    return 0;
}

static int write_memory(const struct report *r, struct err *e)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}};
    const struct problem *p = r->plan->problem;
    uint32_t count = p->m->computations[p->m->entry].count, unit = 0;
    double columns[PLOT_WIDTH] = {0}, *scratch = memory_scratch(&p->memory);
    double(*rows)[MEMORY_KIND_COUNT] = mem_try((size_t)count + 1, sizeof *rows);
    char words[64];
    int rc = scratch && rows ? 0 : err_no_memory(e, "for the report");

    if (rc)
        goto out;
    rc = fill_timeline(r->plan, scratch, rows, e);
    if (rc)
        goto out;
    thin_out((const double(*)[MEMORY_KIND_COUNT])rows, count, columns);
    while (unit + 1 < sizeof units / sizeof *units && r->memory.peak < units[unit].bytes)
        unit++;
    snprintf(words, sizeof words, "%s, along the instructions of a step", units[unit].unit);
    str_add(r->out, "\n## Memory of one device\n\n```text\n");
    add_plot(r->out, columns, r->memory.peak > 0 ? r->memory.peak : 1, words, units[unit].bytes);
    str_add(r->out, "```\n");
    if (r->plan->relaxed)
        report_write_peak(r);
    else
        write_tops(r);
out:
    free(scratch);
    free(rows);
    return rc;
}

static void write_search(const struct report *r)
{
    double columns[PLOT_WIDTH] = {0}, top = 0;

    if (!r->about->best_ms || !r->about->points)
        return;
    for (int x = 0; x < PLOT_WIDTH; x++) {
        columns[x] = r->about->best_ms[(uint64_t)x * r->about->points / PLOT_WIDTH];
        top = fmax(top, columns[x]);
    }
    str_add(r->out, "\n## The search\n\n```text\n");
    add_plot(r->out, columns, top > 0 ? top : 1, "ms of the best plan so far", 1);
    str_format(r->out, "         0%*.0f episodes\n```\n", PLOT_WIDTH - 10, r->about->episodes);
}

static int write_strict(const struct report *r, struct err *e)
{
    write_decisions(r);
    int rc = report_write_reasons(r, e);

    if (rc)
        return rc;
    rc = write_collectives(r, e);
    return rc ? rc : report_write_each_collective(r, e);
}

/* The command that makes it again; of a relaxed plan, which settings do not say, the one that
 * looked for it. */
static int write_command(const struct report *r, struct err *e)
{
    const struct relaxed_plan *x = r->plan->relaxed;
    int rc = 0;

    str_format(r->out, "\n## %s\n\n```sh\n%s", x ? "Solved again" : "Made again",
               r->about->command);
    if (x)
        str_format(r->out, " --mode relaxed%s", x->reduce_at_once ? " --reduce-at-once" : "");
    else
        rc = plan_settings_write(r->plan, " \\\n  --set ", r->out, e);
    str_add(r->out, "\n```\n");
    if (x)
        str_add(r->out, "\nPins, `--store` and a memory limit that it was solved under are not in "
                        "it; the plan's file, `--format json`, "
                        "holds every decision.\n");
    return rc;
}

static int write_relaxed(struct report *r, struct err *e)
{
    int rc = report_write_relaxed(r, e);

    return rc ? rc : report_write_turns(r, e);
}

static int write_parts(struct report *r, struct err *e)
{
    write_head(r);
    write_cost(r);
    int rc = report_write_layers(r, e);

    if (rc)
        return rc;
    rc = r->plan->relaxed ? write_relaxed(r, e) : write_strict(r, e);
    if (rc)
        return rc;
    rc = write_memory(r, e);
    if (rc)
        return rc;
    rc = report_write_others(r, e);
    if (rc)
        return rc;
    write_search(r);
    return write_command(r, e);
}

int export_report(const struct plan *p, const struct report_about *about, struct str *out,
                  struct err *e)
{
    struct report r = {.plan = p, .about = about, .out = out, .baseline_ms = about->baseline_ms};
    int rc = plan_collectives(p, &r.list, &r.count, e);

    if (rc)
        goto out;
    rc = plan_memory(p, &r.memory, e);
    if (rc)
        goto out;
    rc = class_names_new(&p->problem->classes, &p->problem->roles, &r.names, e);
    if (rc)
        goto out;
    if (r.baseline_ms <= 0)
        r.baseline_ms = report_whole_ms(p->problem);
    rc = write_parts(&r, e);
    class_names_release(&r.names);
    if (rc)
        goto out;
    if (out->failed)
        rc = err_no_memory(e, "for the report");
out:
    free(r.list);
    free(r.turns);
    return rc;
}

int export_report_check(const struct plan *p, const char *text, size_t size, struct err *e)
{
    const char *command = size == strlen(text) ? strstr(text, "\n## Made again\n") : NULL;

    if (p->relaxed && size == strlen(text))
        return report_check_relaxed(p, text, e);
    if (!command)
        return err_set(e, ERR_INPUT, "the export does not read back as the plan");
    return plan_settings_check(p, command, e);
}
