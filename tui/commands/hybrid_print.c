#include "tui/commands/hybrid_print.h"

#include "engine/hybrid/by_value_text.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/hybrid/hybrid_older.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/hybrid/sections.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beside the step of strict stages, which is what the plan's exports are. */
static void print_relaxed(const struct hybrid *h)
{
    double step = hybrid_step_ms(h);
    char a[UNITS_ROOM];

    if (h->relaxed_ms > 0 && isfinite(h->relaxed_ms) && !hybrid_fits(h))
        printf("  strict stages   %12s  does not fit: values have to change their split between "
               "uses\n",
               units_ms(a, step));
    else if (h->relaxed_ms > 0 && isfinite(h->relaxed_ms))
        printf("  relaxed stages  %12s  %.2f %% less: values may change their split between uses\n",
               units_ms(a, h->relaxed_ms), 100 * (1 - h->relaxed_ms / step));
    else if (h->relaxed_ms > 0)
        printf("  relaxed stages  %12s  do not fit\n", "none");
}

static const char *schedule_by_value(const struct hybrid *h)
{
    return h->chunks > 1 ? "1f1b, interleaved" : pipe_schedule_names[h->by_value_schedule];
}

/* Beside the step of stages that keep all or are recomputed. */
static void print_by_value(const struct hybrid *h)
{
    double step = hybrid_step_ms(h);
    char a[UNITS_ROOM];

    if (h->by_value_ms > 0 && isfinite(h->by_value_ms) && !hybrid_fits(h))
        printf("  keeping all     %12s  does not fit: stages have to compute values again\n",
               units_ms(a, step));
    else if (h->by_value_ms > 0 && isfinite(h->by_value_ms))
        printf("  by value        %12s  %.2f %% less: what stages keep is chosen value by value, "
               "schedule %s\n",
               units_ms(a, h->by_value_ms), 100 * (1 - h->by_value_ms / step),
               schedule_by_value(h));
    else if (h->by_value_ms > 0)
        printf("  by value        %12s  does not fit\n", "none");
}

/* The step of what fits, in every schedule, and beside it what else was tried of the same plan. */
static void print_step(const struct hybrid *h)
{
    char a[UNITS_ROOM], b[UNITS_ROOM];
    double step = hybrid_step_ms(h);

    if (!hybrid_fits(h) && h->relaxed_ms > 0 && isfinite(h->relaxed_ms))
        printf("  step            %12s  with relaxed stages, schedule %s, simulated",
               units_ms(a, h->relaxed_ms),
               h->chunks > 1 ? "1f1b, interleaved" : pipe_schedule_names[h->schedule]);
    else if (!hybrid_fits(h) && h->by_value_ms > 0 && isfinite(h->by_value_ms))
        printf("  step            %12s  with what stages keep chosen by value, schedule %s, "
               "simulated",
               units_ms(a, h->by_value_ms), schedule_by_value(h));
    else if (h->chunks > 1)
        printf("  step            %12s  schedule 1f1b, interleaved: %u stages on each group of "
               "devices; simulated",
               units_ms(a, step), h->chunks);
    else
        printf("  step            %12s  schedule %s, simulated", units_ms(a, step),
               pipe_schedule_names[h->schedule]);
    for (int k = 0; k < PIPE_SCHEDULE_COUNT && h->chunks == 1 && hybrid_fits(h); k++)
        if (k != (int)h->schedule)
            printf("; %s %s", pipe_schedule_names[k],
                   isfinite(h->makespan_ms[k]) ? units_ms(b, h->makespan_ms[k]) : "does not fit");
    printf("\n");
    print_relaxed(h);
    print_by_value(h);
    if (h->chunks == 1 && hybrid_fits(h))
        printf("  L               %12s\n", units_ms(a, h->length_ms));
}

static const char *why_no_bound(const struct hybrid *h)
{
    return h->is_ended           ? "the search ended early"
           : h->options.no_bound ? "it was not looked for"
           : !h->tries           ? "the file claims none, or of another step"
           : h->by_value_ms > 0 && h->chunks > 1
               ? "it is of plans that are not interleaved, and this one is"
           : h->relaxed_ms > 0 ? "it is of strict plans, and this one has relaxed stages"
                               : "the program that proves it ended early";
}

static void print_bound(const struct hybrid *h)
{
    char a[UNITS_ROOM], zero[HYBRID_ZERO_ROOM];

    if (h->options.is_uniform)
        printf("  uniform         %12s  devices, axes and labels are those of every stage\n",
               "yes");
    else if (h->is_certified)
        printf(
            "  bound           %12s  %.2f %% below: %sno strict plan%s is shorter, of all cuts "
            "between %u sections, sub-meshes and schedules here, no device idle behind the first "
            "stage, %s%s%s\n",
            units_ms(a, h->bound_ms), 100 * fmax(0, 1 - h->bound_ms / hybrid_least_ms(h)),
            h->is_said ? "the file says, and it was not checked, that " : "",
            h->chunks > 1 ? ", interleaved or not," : " that is not interleaved", h->sections.count,
            hybrid_zero_words(h->options.zero, h->zero, zero),
            h->options.micro_batches ? ", with so many micro-batches" : "",
            h->by_value_ms > 0 ? ", whatever it keeps or computes again" : "");
    else
        printf("  bound           %12s  not proven: %s\n", "none", why_no_bound(h));
}

static void print_head(const struct hybrid *h, double seconds)
{
    char model[128];

    printf("%s  on %s; hybrid: %u stage%s, each split over devices of its own\n\n",
           file_stem(model, sizeof model, h->problem->m->file), h->problem->cluster.name, h->stages,
           h->stages == 1 ? "" : "s");
    print_step(h);
    print_bound(h);
    printf("  batch           %12u  %u micro-batch%s of %u; the file has %lld\n", h->options.batch,
           h->micro_batches, h->micro_batches == 1 ? "" : "es", h->options.batch / h->micro_batches,
           (long long)h->order.steps.batch_size);
    printf("  ZeRO            %12u  %s", h->zero,
           h->options.zero == HYBRID_ZERO_NEEDED && h->tries && h->zero == 1
               ? "--zero auto looks at 2 and 3 too; "
               : "");
    if (h->options.overlap < 0)
        printf("overlap auto: the gradient all-reduces behind the last backward pass\n");
    else
        printf("overlap %.0f %% of the gradient all-reduces\n", 100 * h->options.overlap);
    if (seconds > 0 && h->played.evaluations)
        printf("  %-8s        %12llu plans played, this one at %llu%s; %.2f s, %.2f s of them for "
               "tables and bound\n",
               hybrid_algorithm_names[h->options.algorithm],
               (unsigned long long)h->played.evaluations,
               (unsigned long long)h->played.best_evaluation,
               h->played.diverged ? ", then the learner diverged" : "", seconds,
               h->played.table_seconds);
    else if (seconds > 0)
        printf("  search          %12.2f s  %u points, %llu transitions\n", seconds, h->points,
               (unsigned long long)h->transitions);
}

static void mesh_text(const struct hybrid_stage *s, char *out, size_t room)
{
    snprintf(out, room, s->axes == 2 ? "%ux%u" : "%u", s->size[0], s->size[1]);
}

static void layers_text(const struct hybrid *h, const struct hybrid_stage *s, char *out,
                        size_t room)
{
    char first[160], last[160];
    size_t same = 0, at = 0;
    uint32_t i = s->section, j = s->end_section;

    sections_layer(&h->sections, i, first, sizeof first);
    while (!first[0] && ++i < j)
        sections_layer(&h->sections, i, first, sizeof first);
    sections_layer(&h->sections, j - 1, last, sizeof last);
    while (!last[0] && --j > i)
        sections_layer(&h->sections, j - 1, last, sizeof last);
    if (!strcmp(first, last)) {
        snprintf(out, room, "%s", first);
        return;
    }
    for (; first[same] && first[same] == last[same]; same++)
        if (first[same] == '/' || first[same] == '_')
            at = same + 1;
    snprintf(out, room, "%.60s .. %.60s", first, last + at);
}

static void print_stage(const struct hybrid *h, uint32_t n)
{
    const struct hybrid_stage *s = &h->stage[n];
    char mesh[32], devices[32], split[48], layers[160];
    char f[UNITS_ROOM], b[UNITS_ROOM], r[UNITS_ROOM], m[UNITS_ROOM];
    uint32_t d = s->end_device - s->device;

    mesh_text(s, mesh, sizeof mesh);
    snprintf(devices, sizeof devices, "%u-%u", s->device, s->end_device - 1);
    snprintf(split, sizeof split, "dp %u tp %u%s", s->dp, d / s->dp,
             s->point.recompute ? " rc" : "");
    layers_text(h, s, layers, sizeof layers);
    printf("  %-5u %-9s %-5s %-14s %10s %10s %10s %9u %9s  %s\n", n, devices, mesh, split,
           units_ms(f, s->point.forward_ms), units_ms(b, s->point.both_ms - s->point.forward_ms),
           units_ms(r, s->point.reduce_ms), s->in_flight, units_bytes(m, s->memory_bytes), layers);
}

static void print_cut(const struct hybrid_cut *c)
{
    char a[UNITS_ROOM], b[UNITS_ROOM], d[UNITS_ROOM], x[UNITS_ROOM];

    printf("        forward %s in %s, backward %s in %s", units_bytes(a, c->forward_bytes),
           units_ms(b, c->node.forward_ms), units_bytes(d, c->backward_bytes),
           units_ms(x, c->node.backward_ms));
    if (c->once_bytes > 0)
        printf(", once a step %s in %s", units_bytes(a, c->once_bytes),
               units_ms(b, c->node.reduce_ms));
    printf("\n");
}

static void print_tries(const struct hybrid *h)
{
    char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM], zero[8];
    bool is_any = h->options.zero == HYBRID_ZERO_ANY;

    printf("\n  micro-batches %s        step            L        bound\n", is_any ? "ZeRO " : "");
    for (uint32_t n = 0; n < h->tries; n++) {
        const struct hybrid_try *t = &h->tried[n];
        bool found = t->step_ms < INFINITY;
        snprintf(zero, sizeof zero, "%-5u", t->zero);
        printf("  %-13u %s%12s %12s %12s\n", t->micro_batches, is_any ? zero : "",
               found ? units_ms(a, t->step_ms) : "-", found ? units_ms(b, t->length_ms) : "-",
               !t->is_certified         ? "none"
               : t->bound_ms < INFINITY ? units_ms(c, t->bound_ms)
                                        : "not better");
    }
}

void hybrid_print(const struct hybrid *h, double seconds)
{
    print_head(h, seconds);
    printf("\n  stage devices   mesh  split             forward   backward     R      in flight    "
           "memory  layers\n");
    for (uint32_t n = 0; n < h->stages; n++) {
        print_stage(h, n);
        if (n + 1 < h->stages)
            print_cut(&h->cut[n]);
    }
    struct str kept = {0};
    by_value_write(h, &kept);
    if (kept.text && !kept.failed)
        printf("\n%s", kept.text);
    str_release(&kept);
    if (h->tries)
        print_tries(h);
    printf("\n");
}

void hybrid_print_json(const struct hybrid *h)
{
    cJSON *o = hybrid_json(h);
    char *text = cJSON_Print(o);

    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
}

int hybrid_with_file(struct problem_args *a, const char *path,
                     int (*use)(struct hybrid *h, void *context, struct err *e), void *context)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid *h = mem_alloc(sizeof *h);
    struct err e;
    int rc = !hybrid_file_is(path)      ? problem_args_follow_plan(a, path, &e)
             : a->cluster || a->devices ? 0
                                        : hybrid_file_devices(path, &a->devices, &e);

    if (!rc) {
        rc = problem_args_read(a, p, &e);
        if (!rc) {
            rc = hybrid_older_load(p, path, h, &e);
            if (!rc) {
                rc = use(h, context, &e);
                hybrid_release(h);
            }
            problem_release(p);
        }
    }
    free(h);
    free(p);
    if (rc)
        err_print(&e, stderr);
    return rc ? exit_code_of(&e) : EXIT_OK;
}
