#include "engine/hybrid/hybrid.h"

#include "engine/cluster/cluster.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/by_value.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/interleave.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_table.h"
#include "engine/hybrid/uniform.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pipe_options hybrid_pipe_options(const struct hybrid_options *o, uint32_t m)
{
    double times = o->memory_times > 1 ? o->memory_times : 1;

    return (struct pipe_options){.micro_batches = m,
                                 .micro_batch = o->batch / m,
                                 .overlap = o->overlap,
                                 .memory_share = o->no_limit ? 0 : times,
                                 .limit_bytes = o->limit_bytes * times,
                                 .schedule = o->is_schedule_given ? o->schedule : PIPE_1F1B,
                                 .half_duplex = o->half_duplex};
}

int hybrid_open(const struct problem *p, struct hybrid *out, struct err *e)
{
    return hybrid_open_at(p, NULL, 0, out, e);
}

int hybrid_open_at(const struct problem *p, const uint32_t *cuts, uint32_t count,
                   struct hybrid *out, struct err *e)
{
    *out = (struct hybrid){.problem = p, .chunks = 1};
    int rc = order_new(p, &out->order, e);

    if (rc)
        return rc;
    rc = sections_new(&out->order, cuts, count, &out->sections, e);
    if (rc)
        hybrid_release(out);
    return rc;
}

void hybrid_free_plan(struct hybrid *h)
{
    for (uint32_t n = 0; h->stage && n < h->stages; n++) {
        free(h->stage[n].on);
        by_value_release(&h->stage[n].by_value);
    }
    free(h->stage);
    free(h->cut);
    h->stage = NULL;
    h->cut = NULL;
    h->stages = 0;
}

static int check_labels(const struct hybrid *h, uint32_t n, struct err *e)
{
    const struct classes *c = &h->problem->classes;
    const struct hybrid_stage *s = &h->stage[n];

    for (class_id k = 0; k < c->count; k++) {
        uint64_t parts = 1;
        for (uint32_t x = 0; x < s->axes; x++)
            parts *= s->on[k] >> x & 1 ? s->size[x] : 1;
        if (parts > 1 && (int64_t)parts > c->info[k].least)
            return err_set(e, ERR_INPUT, "stages[%u]: a class of %lld is split in %llu", n,
                           (long long)c->info[k].least, (unsigned long long)parts);
        for (uint32_t m = c->info[k].meets; m < c->info[k].meets + c->info[k].meet_count; m++)
            if (s->on[k] & s->on[c->meets[m].other])
                return err_set(e, ERR_INPUT, "stages[%u]: two decisions clash at %.100s", n,
                               hlo_name(c->m, c->meets[m].place));
    }
    return 0;
}

/* The slot of a stage's devices, whose axes are its sizes. */
static int find_slot(const struct hybrid *h, const struct hybrid_instance *in, uint32_t n,
                     uint32_t *slot, struct err *e)
{
    const struct hybrid_stage *s = &h->stage[n];
    uint32_t d = s->end_device - s->device;

    *slot = hybrid_slot_of(in, s->device, s->end_device);
    if (*slot == in->slots || s->size[0] * (s->axes > 1 ? s->size[1] : 1) != d)
        return err_set(e, ERR_INPUT, "stages[%u]: no stage can have devices %u to %u as %ux%u", n,
                       s->device, s->end_device - 1, s->size[0], s->axes > 1 ? s->size[1] : 1);
    return 0;
}

static int price_stage(struct hybrid *h, struct hybrid_instance *in, const struct stage_options *o,
                       struct hybrid_plan *p, uint32_t n, struct err *e)
{
    struct hybrid_stage *s = &h->stage[n];
    struct hybrid_point point[2];
    double collective_ms[2];
    int rc = find_slot(h, in, n, &p->slot[n], e);

    rc = rc ? rc : check_labels(h, n, e);
    rc = rc ? rc
            : stage_tables_price(&h->sections, o, in, p->slot[n], s->size, s->on, s->section,
                                 s->end_section, point, collective_ms, e);
    if (rc)
        return rc;
    s->forward_collective_ms = collective_ms[0];
    s->backward_collective_ms = collective_ms[1] + (s->point.recompute ? collective_ms[0] : 0);
    s->point = point[s->point.recompute];
    p->point[n] = (uint32_t)in->point_count;
    rc = hybrid_instance_add(in, p->slot[n], s->section, s->end_section, &s->point, 1, e);
    p->cut[n] = s->section;
    p->device[n] = s->device;
    p->cut[n + 1] = s->end_section;
    p->device[n + 1] = s->end_device;
    s->limit_bytes = in->slot[p->slot[n]].limit_bytes;
    s->dp = 1;
    for (uint32_t x = 0; x < s->axes; x++)
        s->dp *= s->on[h->order.steps.batch] >> x & 1 ? s->size[x] : 1;
    return rc;
}

static int check_chain(const struct hybrid *h, struct err *e)
{
    uint32_t groups = h->chunks ? h->stages / h->chunks : 0;

    if (!h->stages || !groups || h->stages % h->chunks || h->stages > HYBRID_STAGES_MOST)
        return err_set(e, ERR_INPUT, "%u stages in chunks of %u", h->stages, h->chunks);
    for (uint32_t n = 1; n < h->stages; n++) {
        bool follows = n % groups ? h->stage[n].device == h->stage[n - 1].end_device
                                  : h->stage[n].device == h->stage[0].device;
        if (!follows || (n >= groups && h->stage[n].end_device != h->stage[n % groups].end_device))
            return err_set(e, ERR_INPUT, "stages[%u]: its devices do not follow those before", n);
    }
    if (h->chunks > 1 && h->micro_batches % groups)
        return err_set(e, ERR_INPUT,
                       "options: %u micro-batches do not interleave over %u groups of devices, "
                       "expected a multiple",
                       h->micro_batches, groups);
    return h->stage[h->stages - 1].end_device == h->problem->cluster.devices
               ? 0
               : err_set(e, ERR_INPUT, "stages: the last one has not the last devices");
}

/* Interleaved: times and memory of the groups of devices. */
static void price_interleaved(struct hybrid *h, const struct hybrid_instance *in,
                              const struct uniform_plan *u)
{
    uint32_t groups = h->stages / h->chunks;
    struct pipe_node chunk[HYBRID_STAGES_MOST], transfer[HYBRID_STAGES_MOST];
    struct interleave x = {groups, h->chunks, h->micro_batches, chunk, transfer, NULL};

    for (uint32_t c = 0; c < h->stages; c++) {
        chunk[c] = hybrid_stage_node(&h->stage[c].point);
        h->stage[c].in_flight = interleave_in_flight(&x, c % groups);
        h->stage[c].memory_bytes = uniform_memory(in, u, c % groups);
        if (c + 1 < h->stages)
            h->cut[c].node = transfer[c] = uniform_transfer(in, &u->plan, groups, c);
    }
    h->length_ms = 0;
    h->interleaved_ms = interleave_makespan(&x);
    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++)
        h->makespan_ms[k] = INFINITY;
}

int hybrid_plan_instance(const struct hybrid *h, struct hybrid_instance *out, struct err *e)
{
    struct pipe_options o = hybrid_pipe_options(&h->options, h->micro_batches);
    uint32_t devices[2 * HYBRID_STAGES_MOST];

    o.schedule = h->schedule;
    for (uint32_t n = 0; n < h->stages; n++) {
        devices[2 * n] = h->stage[n].device;
        devices[2 * n + 1] = h->stage[n].end_device;
    }
    return hybrid_instance_new_for(out, h->sections.count, &h->problem->cluster, &o, devices,
                                   h->stages, e);
}

int hybrid_price(struct hybrid *h, struct err *e)
{
    struct pipe_options o = hybrid_pipe_options(&h->options, h->micro_batches);
    struct stage_options so = {.batch = h->options.batch,
                               .micro_batches = h->micro_batches,
                               .zero = h->zero,
                               .whole_layers = h->options.whole_layers,
                               .overlap = h->options.overlap};
    struct uniform_plan u = {.chunks = h->chunks};
    struct hybrid_instance in;
    int rc = check_chain(h, e);

    rc = rc ? rc : hybrid_plan_instance(h, &in, e);
    if (rc)
        return rc;
    stage_tables_cuts(&h->sections, &so, &in);
    u.plan.stages = h->stages;
    for (uint32_t n = 0; n < h->stages && !rc; n++)
        rc = price_stage(h, &in, &so, &u.plan, n, e);
    for (uint32_t n = 0; n + 1 < h->stages && !rc; n++) {
        uint32_t cut = u.plan.cut[n + 1];
        h->cut[n] = (struct hybrid_cut){
            in.forward_bytes[cut], in.backward_bytes[cut], in.once_bytes[cut],
            hybrid_link_node(&in, cut, u.plan.device[n + 1], u.plan.slot[n], u.plan.slot[n + 1])};
    }
    if (rc)
        goto out;
    if (h->chunks > 1) {
        price_interleaved(h, &in, &u);
    } else {
        h->length_ms = hybrid_plan_length(&in, &u.plan);
        for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++)
            h->makespan_ms[k] =
                k == (int)h->schedule || hybrid_plan_fits(&in, &u.plan, (enum pipe_schedule_kind)k)
                    ? hybrid_plan_makespan(&in, &u.plan, (enum pipe_schedule_kind)k)
                    : INFINITY;
        o.schedule = h->schedule;
        for (uint32_t n = 0; n < h->stages; n++) {
            h->stage[n].in_flight = pipe_in_flight(&o, h->stages - n);
            h->stage[n].memory_bytes =
                hybrid_point_bytes(&h->stage[n].point, h->stage[n].in_flight);
        }
    }
    h->found = true;
out:
    hybrid_instance_release(&in);
    return rc;
}

void hybrid_release(struct hybrid *h)
{
    hybrid_free_plan(h);
    sections_release(&h->sections);
    order_release(&h->order);
    memset(h, 0, sizeof *h);
}
