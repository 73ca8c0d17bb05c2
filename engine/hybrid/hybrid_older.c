#include "engine/hybrid/hybrid_older.h"

#include "engine/cluster/cluster.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_file.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static const char MEMORY_FOR[] = "for a hybrid plan";

static int make_stages(struct hybrid *h, uint32_t stages, struct err *e)
{
    h->stages = stages;
    h->stage = mem_try(stages, sizeof *h->stage);
    h->cut = mem_try(stages, sizeof *h->cut);
    if (!h->stage || !h->cut)
        return err_no_memory(e, MEMORY_FOR);
    for (uint32_t n = 0; n < stages; n++) {
        h->stage[n].on = mem_try((size_t)h->problem->classes.count + 1, sizeof(label));
        if (!h->stage[n].on)
            return err_no_memory(e, MEMORY_FOR);
    }
    return 0;
}

/* ---- strict plans ---- */

static int of_plan(const struct plan *from, struct hybrid *out, struct err *e)
{
    const struct problem *p = from->problem;
    int64_t size = p->options.batch_size;

    if (from->relaxed)
        return err_set(e, ERR_INPUT, "a relaxed plan is no hybrid plan, whose stages are strict");
    if (p->mesh.axes > STAGE_AXES_MOST || p->mesh.devices != p->cluster.devices)
        return err_set(
            e, ERR_INPUT,
            "a plan over %u axes and %u of %u devices, expected at most %d axes over all",
            p->mesh.axes, p->mesh.devices, p->cluster.devices, STAGE_AXES_MOST);
    int rc = hybrid_open(p, out, e);
    if (rc)
        return rc;
    rc = make_stages(out, 1, e);
    if (rc)
        goto out;
    struct hybrid_stage *s = &out->stage[0];
    s->end_section = out->sections.count;
    s->end_device = p->cluster.devices;
    s->axes = p->mesh.axes;
    for (uint32_t x = 0; x < s->axes; x++)
        s->size[x] = p->mesh.axis[x].size;
    for (class_id k = 0; k < p->classes.count; k++)
        s->on[k] = from->on[k];
    int64_t file = out->order.steps.batch_size;
    out->options.batch = (uint32_t)(size ? size * file / p->training.batch_divisor : file);
    out->options.overlap = problem_overlap(p);
    out->options.no_limit = true; /* a strict plan is shown whether it fits or not */
    out->micro_batches = from->batching.micro_batches ? from->batching.micro_batches : 1;
    out->zero = from->batching.zero;
    out->schedule = PIPE_GPIPE; /* of one stage all are the same; it accumulates */
    rc = hybrid_price(out, e);
out:
    if (rc)
        hybrid_release(out);
    return rc;
}

/* ---- pipelines ---- */

static uint32_t section_at(const struct hybrid *h, uint32_t position)
{
    uint32_t n = 0;

    while (h->sections.position[n] < position)
        n++;
    return n;
}

/* The batch over all devices of a stage: whole servers as an axis across and one inside. */
static void split_batch(const struct hybrid *h, struct hybrid_stage *s)
{
    const struct cluster *c = &h->problem->cluster;
    uint32_t own = c->group[cluster_group_of(c, s->device)].devices, d = s->end_device - s->device;

    s->axes = d > own && own > 1 && d % own == 0 ? 2 : 1;
    s->size[0] = s->axes > 1 ? d / own : d;
    s->size[1] = s->axes > 1 ? own : 0;
    s->on[h->order.steps.batch] = (label)((1u << s->axes) - 1);
}

static void take_options(const struct pipeline_options *o, struct hybrid *h)
{
    h->options.batch = o->batch;
    h->options.overlap = o->overlap;
    h->options.half_duplex = o->half_duplex;
    h->options.no_limit = o->no_limit;
    h->options.limit_bytes = o->limit_bytes;
    h->micro_batches = o->micro_batches;
    h->schedule = o->schedule;
}

/* Devices left unused come first: every stage is then so many devices on. */
static int check_moved(const struct cluster *c, uint32_t idle, uint32_t used, struct err *e)
{
    bool alike = true;

    for (uint32_t d = 0; d < used && idle; d++) {
        uint32_t to = idle + d;
        alike &= hybrid_groups_alike(c, cluster_group_of(c, d), cluster_group_of(c, to));
        alike &= !d || (cluster_server_of(c, d) == cluster_server_of(c, d - 1)) ==
                           (cluster_server_of(c, to) == cluster_server_of(c, to - 1));
    }
    return alike ? 0
                 : err_set(e, ERR_INPUT,
                           "a pipeline on the first %u of %u devices: a hybrid plan has the last "
                           "ones, and those are of another kind or of other parts of servers",
                           used, idle + used);
}

int hybrid_of_pipeline(const struct pipeline *l, const struct pipeline_plan *from,
                       struct hybrid *out, struct err *e)
{
    const struct pipe_plan *p = &from->plan;
    uint32_t idle = l->problem->cluster.devices - p->device[p->stages];

    if (l->options.runs)
        return err_set(e, ERR_INPUT,
                       "a pipeline over operations in another order is no hybrid plan");
    for (uint32_t n = 0; n < p->stages; n++)
        if (p->device[n + 1] - p->device[n] > l->options.batch / l->options.micro_batches)
            return err_set(e, ERR_INPUT,
                           "stage %u has %u devices for micro-batches of %u samples, of which "
                           "those of a hybrid plan have whole ones",
                           n, p->device[n + 1] - p->device[n],
                           l->options.batch / l->options.micro_batches);
    int rc = check_moved(&l->problem->cluster, idle, p->device[p->stages], e);
    if (rc)
        return rc;
    rc = hybrid_open_at(l->problem, p->pivot + 1, p->stages - 1, out, e);
    if (rc)
        return rc;
    rc = make_stages(out, p->stages, e);
    if (rc)
        goto out;
    take_options(&l->options, out);
    for (uint32_t n = 0; n < p->stages; n++) {
        struct hybrid_stage *s = &out->stage[n];
        s->section = n ? out->stage[n - 1].end_section : 0;
        s->end_section = n + 1 < p->stages ? section_at(out, p->pivot[n + 1]) : out->sections.count;
        s->device = idle + p->device[n];
        s->end_device = idle + p->device[n + 1];
        s->point.recompute = l->options.recompute;
        split_batch(out, s);
    }
    rc = hybrid_price(out, e);
out:
    if (rc)
        hybrid_release(out);
    return rc;
}

/* ---- files ---- */

static int load_pipeline(const struct problem *p, const char *path, struct hybrid *out,
                         struct err *e)
{
    struct pipeline *l = mem_try(1, sizeof *l);
    struct pipeline_plan *plan = mem_try(1, sizeof *plan);
    int rc = l && plan ? pipeline_file_load(p, path, l, plan, e) : err_no_memory(e, MEMORY_FOR);

    if (rc)
        goto out;
    if (hybrid_of_pipeline(l, plan, out, e))
        rc = err_in_file(e, path);
    pipeline_release(l);
out:
    free(l);
    free(plan);
    return rc;
}

int hybrid_older_load(const struct problem *p, const char *path, struct hybrid *out, struct err *e)
{
    struct plan plan;
    int rc;

    if (hybrid_file_is(path))
        return hybrid_file_load(p, path, out, e);
    if (pipeline_file_is(path))
        return load_pipeline(p, path, out, e);
    rc = plan_file_load(p, path, &plan, e);
    if (rc)
        return rc;
    if (of_plan(&plan, out, e))
        rc = err_in_file(e, path);
    plan_release(&plan);
    return rc;
}
