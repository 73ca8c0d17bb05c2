/* engine/relaxed/plan_totals.c - what a relaxed plan comes to: memory, reshards by kind. */
#include "engine/relaxed/plan_totals.h"

#include "engine/cost/fusion.h"
#include "engine/cost/memory.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/copies.h"
#include "engine/relaxed/status.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

double relaxed_local_bytes(const struct problem *p, hlo_value v, status s)
{
    const struct hlo_shape *shape = hlo_value_shape(p->m, v);
    double bytes = (double)shape->bytes;

    for (uint32_t d = 0; d < shape->rank && bytes > 0; d++) {
        class_id k = p->classes.class_of[class_dim(&p->classes, v, d)];
        label over = status_dim(s, p->mesh.axes, d);
        if (over || (k != CLASS_NONE && k == p->labels.cut))
            bytes *= label_part(&p->labels, k, over, shape->dims[d]);
    }
    return bytes;
}

hlo_value relaxed_next_of(const struct relaxed_plan *plan, hlo_value result)
{
    const struct problem *p = plan->problem;
    hlo_value o = plan->origin[result];

    uint32_t low = 0, high = o == HLO_NONE ? 0 : p->roles.param_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (plan->updates[middle].origin < o)
            low = middle + 1;
        else
            high = middle;
    }
    for (; o != HLO_NONE && low < p->roles.param_count && plan->updates[low].origin == o; low++) {
        const struct hlo_param_role *r = &p->roles.params[plan->updates[low].param];
        if (hlo_value_shape(p->m, r->value)->bare == hlo_value_shape(p->m, result)->bare)
            return r->value;
    }
    return HLO_NONE;
}

void relaxed_write_shape(const struct relaxed_plan *plan, hlo_value v, struct str *out)
{
    const struct problem *p = plan->problem;

    status_write(hlo_value_shape(p->m, v), &p->mesh, plan->made[v], out);
    if (plan->made[v] == plan->held[v])
        return;
    str_add(out, " used as ");
    status_write(hlo_value_shape(p->m, v), &p->mesh, plan->held[v], out);
}

/* What the step hands out, as it is stored in the end: a parameter's next value as the parameter.
 */
static void set_outputs(const struct relaxed_plan *plan, double *bytes)
{
    const struct problem *p = plan->problem;
    hlo_id root = p->m->computations[p->m->entry].root;

    for (hlo_value v = p->m->leaf_base[root]; v < p->m->leaf_base[root + 1]; v++) {
        hlo_value o = plan->origin[v], next = relaxed_next_of(plan, v);
        bytes[v] = relaxed_local_bytes(p, v,
                                       next != HLO_NONE ? plan->made[next]
                                       : o != HLO_NONE  ? plan->ended[o]
                                                        : STATUS_WHOLE);
    }
}

/* Parameters as they are stored; `second`: the copies that their uses share beside. */
static void set_parameters(const struct relaxed_plan *plan, double *bytes, double *second)
{
    const struct problem *p = plan->problem;

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        hlo_value v = p->roles.params[k].value;
        double made = relaxed_local_bytes(p, v, plan->made[v]),
               held = relaxed_local_bytes(p, v, plan->held[v]);
        second[v] = held > made ? held : 0;
        for (dim_id d = p->classes.dim_base[v]; d < p->classes.dim_base[v + 1]; d++)
            made *= label_cuts(&p->labels, p->classes.class_of[d]); /* all micro-batches' inputs */
        bytes[v] = made;
    }
}

/* What a loop carries from a free value on, zeros say, is in a buffer named after the loop's
 * result: as large as any of its names. */
static void set_carried(const struct relaxed_plan *plan, double *bytes)
{
    const struct problem *p = plan->problem;
    const hlo_value *buffer = p->fusion.buffer;

    for (hlo_value v = 0; v < p->m->value_count; v++) {
        hlo_value b = buffer[v];
        if (b != v && fusion_begins_free(p->m, b) && plan->origin[v] != HLO_NONE &&
            bytes[v] > bytes[b])
            bytes[b] = bytes[v];
    }
}

int relaxed_memory(const struct relaxed_plan *plan, struct memory_cost *out, struct err *e)
{
    return relaxed_memory_peak(plan, out, NULL, NULL, e);
}

int relaxed_memory_peak(const struct relaxed_plan *plan, struct memory_cost *out,
                        struct memory_chain *where, double *own, struct err *e)
{
    return relaxed_memory_in(plan, &plan->problem->memory, out, where, own, e);
}

int relaxed_memory_in(const struct relaxed_plan *plan, const struct memory_model *memory,
                      struct memory_cost *out, struct memory_chain *where, double *own,
                      struct err *e)
{
    const struct problem *p = plan->problem;
    size_t values = (size_t)p->m->value_count + 1;
    double *scratch = own ? own : memory_scratch(memory), *bytes = mem_try(values, sizeof *bytes),
           *second = mem_try(values, sizeof *second);
    uint32_t *at = mem_try(p->m->computation_count, sizeof *at);
    bool ok = scratch && bytes && second && at;
    int rc = ok ? 0 : err_no_memory(e, "for the memory of a plan");

    if (rc)
        goto out;
    for (hlo_value v = 0; v < p->m->value_count; v++) {
        double made = relaxed_local_bytes(p, v, plan->made[v]),
               held = relaxed_local_bytes(p, v, plan->held[v]);
        bytes[v] = held > made ? held : made;
        second[v] = plan->held[v] == plan->made[v] ? 0 : held < made ? held : made;
    }
    set_carried(plan, bytes);
    set_outputs(plan, bytes);
    set_parameters(plan, bytes, second);
    rc = relaxed_copies(plan, memory, memory_copies(memory, scratch), e);
    if (rc)
        goto out;
    *out = memory_of_values(memory, bytes, second, scratch);
    if (where) {
        (void)memory_sweep(memory, scratch, at); /* of the same bytes, for the places */
        memory_chain_find(memory, scratch, at, where);
    }
out:
    free(at);
    if (!own)
        free(scratch);
    free(bytes);
    free(second);
    return rc;
}

void relaxed_sums(const struct relaxed_plan *plan,
                  struct relaxed_sum out[static RESHARD_KIND_COUNT])
{
    memset(out, 0, RESHARD_KIND_COUNT * sizeof *out);
    for (uint32_t k = 0; k < plan->reshard_count; k++) {
        const struct relaxed_reshard *r = &plan->reshards[k];
        out[r->kind].count += r->times;
        out[r->kind].bytes += r->bytes;
        out[r->kind].ms += r->ms;
    }
}
