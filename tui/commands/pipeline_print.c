#include "tui/commands/pipeline_print.h"
#include "tui/commands/plan_limit.h"

#include "engine/cluster/cluster.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/options/exit_code.h"

#include <stdio.h>
#include <string.h>

/* "encoder/layer_003 .. 017": the last without what it shares with the first. */
static void write_layers(const struct pipeline *l, const struct pipe_stage *s, char *out,
                         size_t room)
{
    char first[160], last[160];
    size_t same = 0, at = 0;

    pipeline_layer(l, s->first_point, first, sizeof first);
    pipeline_layer(l, s->end_point - 1, last, sizeof last);
    if (!strcmp(first, last)) {
        snprintf(out, room, "%s", first);
        return;
    }
    for (; first[same] && first[same] == last[same]; same++) {
        if (first[same] == '/' || first[same] == '_')
            at = same + 1;
    }
    snprintf(out, room, "%.60s .. %.60s", first[0] ? first : "start", last + at);
}

static const double NEARLY_FULL = 0.7; /* of a device: the margin matters */

static void print_memory(const struct pipeline *l, const struct pipeline_plan *p)
{
    char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM], d[UNITS_ROOM];
    double memory = cluster_weakest(&l->problem->cluster).memory_bytes;
    uint32_t fullest = 0;
    double most = pipeline_memory(l, p, &fullest);
    struct pipe_stage s = pipe_stage_of(&l->all, &p->plan, fullest);

    printf("  memory          %12s  of %s in stage %u: %s; state %s, %u in flight of %s%s\n",
           units_bytes(a, most), units_bytes(b, memory), fullest,
           most <= memory * (1 + 1e-9) ? "fits"
           : l->options.no_limit       ? "does not fit, no limit asked for"
                                       : "does not fit",
           units_bytes(c, s.state_bytes), s.in_flight,
           units_bytes(d, l->options.recompute ? s.input_bytes : s.stash_bytes + s.input_bytes),
           l->options.recompute ? " (recomputed)" : "");
    if (most > NEARLY_FULL * memory)
        plan_limit_print_margin(PLAN_PIPELINE);
}

static void print_head(const struct pipeline *l, const struct pipeline_plan *p)
{
    const struct pipeline_options *o = &l->options;
    char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];

    printf("  step            %12s  schedule %s, simulated", units_ms(a, pipeline_step_ms(l, p)),
           pipe_schedule_names[o->schedule]);
    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++) {
        if (k != (int)o->schedule)
            printf("; %s %s", pipe_schedule_names[k], units_ms(b, p->makespan_ms[k]));
    }
    printf("\n  L               %12s", units_ms(a, p->length_ms));
    if (p->optimum_ms > 0) {
        char scope[PIPELINE_SCOPE_ROOM];
        pipeline_scope(l, scope, sizeof scope);
        printf("  %s %s %s%s", p->certified ? "proven optimum" : "best known", scope,
               units_ms(c, p->optimum_ms),
               p->length_ms < p->optimum_ms * (1 - 1e-9) ? "; this one cuts elsewhere" : "");
    }
    printf("\n  batch           %12u  %u micro-batch%s of %u; the file has %lld\n", o->batch,
           o->micro_batches, o->micro_batches == 1 ? "" : "es", o->batch / o->micro_batches,
           (long long)l->order.steps.batch_size);
    if (o->overlap < 0)
        printf("  overlap         %12s  the gradient all-reduces, behind the last backward pass\n",
               "auto");
    else
        printf("  overlap         %10.0f %%  of the gradient all-reduces\n", 100 * o->overlap);
    print_memory(l, p);
}

static void print_stage(const struct pipeline *l, const struct pipe_stage *s, uint32_t n)
{
    char devices[32], layers[160], f[UNITS_ROOM], b[UNITS_ROOM], r[UNITS_ROOM], u[UNITS_ROOM],
        m[UNITS_ROOM];

    snprintf(devices, sizeof devices, "%u-%u", s->first_device, s->end_device - 1);
    write_layers(l, s, layers, sizeof layers);
    printf("  %-5u %-9s %7.1f%% %10s %10s %11s %10s %9u %9s  %s\n", n, devices,
           100 * (pipeline_share(l, s->end_point) - pipeline_share(l, s->first_point)),
           units_ms(f, s->forward_ms), units_ms(b, s->backward_ms),
           units_ms(r, s->all_reduce_ms + s->sync_ms), units_ms(u, s->update_ms), s->in_flight,
           units_bytes(m, s->memory_bytes), layers);
}

static void print_cut(const struct pipeline *l, const struct pipe_transfer *t)
{
    char layer[160], a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM], d[UNITS_ROOM];

    pipeline_layer(l, t->cut, layer, sizeof layer);
    printf("        cut before %s%s%s at %.1f %%: forward %s in %s, backward %s in %s",
           hlo_name(l->problem->m, l->all.instruction[t->cut]), layer[0] ? ", " : "", layer,
           100 * pipeline_share(l, t->cut), units_bytes(a, t->forward_bytes),
           units_ms(b, t->forward_ms), units_bytes(c, t->backward_bytes),
           units_ms(d, t->backward_ms));
    if (t->once_bytes > 0)
        printf(", once a step %s", units_bytes(a, t->once_bytes));
    printf("\n");
}

void pipeline_print(const struct pipeline *l, const struct pipeline_plan *p)
{
    print_head(l, p);
    printf("\n  stage devices   compute    forward   backward  all-reduce     update in flight    "
           "memory  layers\n");
    for (uint32_t s = 0; s < p->plan.stages; s++) {
        struct pipe_stage stage = pipe_stage_of(&l->all, &p->plan, s);
        print_stage(l, &stage, s);
        if (s + 1 < p->plan.stages) {
            struct pipe_transfer transfer = pipe_transfer_of(&l->all, &p->plan, s);
            print_cut(l, &transfer);
        }
    }
    for (uint32_t k = 0; p->plan.stages > 1 && k < l->all.ties; k++) {
        char a[UNITS_ROOM], b[UNITS_ROOM];
        const struct pipe_tie *t = &l->all.tie[k];
        printf("\n  a variable of %s is read at %u places far apart: every stage with one holds "
               "it, its gradients\n"
               "  are added once a step, %s\n",
               units_bytes(a, t->gradient_bytes), t->use_count, units_ms(b, t->sync_ms));
    }
}

void pipeline_cuts_text(const struct pipe_plan *p, char *out, size_t room)
{
    if (p->stages == 1)
        snprintf(out, room, "one stage");
    else if (p->stages > 9)
        snprintf(out, room, "%u stages", p->stages);
    else
        pipe_plan_format(p, out, room);
}

int pipeline_with_file(struct problem_args *a, const char *path,
                       int (*use)(const struct pipeline *l, const struct pipeline_plan *p,
                                  void *context, struct err *e),
                       void *context)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct pipeline *l = mem_alloc(sizeof *l);
    struct pipeline_plan *plan = mem_alloc(sizeof *plan);
    struct err e;
    int rc = a->cluster || a->devices ? 0 : pipeline_file_devices(path, &a->devices, &e);

    if (!rc) {
        rc = problem_args_read(a, p, &e);
        if (!rc) {
            rc = pipeline_file_load(p, path, l, plan, &e);
            if (!rc) {
                rc = use(l, plan, context, &e);
                pipeline_release(l);
            }
            problem_release(p);
        }
    }
    free(plan);
    free(l);
    free(p);
    if (rc)
        err_print(&e, stderr);
    return rc ? exit_code_of(&e) : EXIT_OK;
}
