#include "engine/relaxed/copies.h"

#include "engine/cost/fusion.h"
#include "engine/cost/memory.h"
#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

static const char MEMORY_FOR[] = "for the copies of a plan";

bool copy_is_sent(status from, status to, uint32_t axes)
{
    for (uint32_t x = 0; x < axes; x++) {
        if (status_on(from, x) != status_on(to, x) && status_on(from, x) != STATUS_WHOLE)
            return true;
    }
    return false;
}

/* ---- where copies live ---- */

struct reads {
    uint32_t first, last; /* of an origin; last 0: none */
    uint32_t kept_to;     /* of a buffer: where its range ends; 0: it has none */
    bool is_doubled;      /* a range stands for an all-reduce's result */
};

static void note_reads(const struct memory_model *memory, const hlo_value *origin, hlo_id id,
                       struct reads *reads)
{
    const struct hlo_module *m = memory->m;
    const struct hlo_instruction *i = hlo_at(m, id);
    uint32_t at = memory->schedule.position[id], last = memory_last_read(memory, id);

    if (i->opcode == HLO_OP_TUPLE || i->opcode == HLO_OP_GET_TUPLE_ELEMENT)
        return; /* other names */
    for (uint32_t k = 0; k < i->operand_count; k++) {
        hlo_id operand = hlo_operand(m, id, k);
        for (hlo_value v = m->leaf_base[operand]; v < m->leaf_base[operand + 1]; v++) {
            hlo_value o = origin[v];
            if (o == HLO_NONE || hlo_at(m, m->value_instruction[o])->computation != i->computation)
                continue;
            struct reads *r = &reads[o];
            r->first = !r->last || at < r->first ? at : r->first;
            r->last = last > r->last ? last : r->last;
        }
    }
}

static void note_ranges(const struct memory_model *memory, struct reads *reads)
{
    for (uint32_t k = 0; k < memory->count; k++) {
        const struct memory_range *i = &memory->ranges[k];
        struct reads *r = &reads[i->value];
        if (i->storing == STORED_AS_USED && i->end > r->kept_to)
            r->kept_to = i->end;
        r->is_doubled |= i->storing == STORED_REDUCED;
    }
}

/* Another name of a stored value has no range of its own; copies of parameters have. */
static struct copy_span span_of(const struct memory_model *memory, hlo_value v,
                                const struct reads *r)
{
    const struct hlo_module *m = memory->m;
    hlo_id id = m->value_instruction[v];
    uint32_t at = memory->schedule.position[id];

    if (!r->last || hlo_at(m, id)->opcode == HLO_OP_PARAMETER)
        return (struct copy_span){1, 0, HLO_NONE, true};
    if (memory->fusion->buffer[v] != v || !r->kept_to)
        return (struct copy_span){at, r->last, at, false};
    return (struct copy_span){r->kept_to + 1, r->last, r->is_doubled ? HLO_NONE : r->first, true};
}

int copy_spans_new(const struct problem *p, const struct memory_model *memory,
                   const hlo_value *origin, struct copy_span **spans, struct err *e)
{
    size_t values = (size_t)p->m->value_count + 1;
    struct reads *reads = mem_try(values, sizeof *reads);

    *spans = mem_try(values, sizeof **spans);
    if (reads && *spans) {
        note_ranges(memory, reads);
        for (hlo_id id = 0; id < p->m->count; id++)
            note_reads(memory, origin, id, reads);
        for (hlo_value v = 0; v < p->m->value_count; v++)
            (*spans)[v] = span_of(memory, v, &reads[v]);
        free(reads);
        return 0;
    }
    free(reads);
    free(*spans);
    *spans = NULL;
    return err_no_memory(e, MEMORY_FOR);
}

bool copy_of_state(const struct problem *p, hlo_value from, hlo_value state, uint32_t *at)
{
    const struct hlo_module *m = p->m;
    hlo_comp body = hlo_at(m, m->value_instruction[state])->computation;
    hlo_value buffer = p->fusion.buffer[state];
    hlo_id loop =
        m->computations[body].caller_count == 1 ? m->computations[body].callers[0] : HLO_NONE;

    if (loop == HLO_NONE || hlo_at(m, loop)->opcode != HLO_OP_WHILE ||
        hlo_called(m, loop, 0) != body ||
        hlo_at(m, m->value_instruction[from])->computation == body || /* the next trip's */
        m->value_instruction[buffer] == loop || fusion_begins_free(m, buffer))
        return false;
    *at = p->memory.schedule.position[loop];
    return true;
}

/* ---- of a plan ---- */

/* Between two positions; a running sum makes live bytes of it. */
static void add(double *out, uint32_t count, uint32_t first, uint32_t last, double bytes)
{
    if (first > last)
        return;
    out[first] += bytes;
    if (last + 1 < count)
        out[last + 1] -= bytes;
}

static void add_shared(const struct relaxed_plan *plan, hlo_value v, const struct copy_span *s,
                       double *out)
{
    const struct problem *p = plan->problem;
    double made = relaxed_local_bytes(p, v, plan->made[v]),
           held = relaxed_local_bytes(p, v, plan->held[v]);

    add(out, p->m->count, s->start, s->end, held);
    if (s->begun != HLO_NONE)
        add(out, p->m->count, s->begun, s->begun, s->has_range && held < made ? held : made);
}

/* What one use has made of its operand. What runs whole has whole copies already. */
static void add_single(const struct relaxed_plan *plan, const struct memory_model *memory,
                       const struct relaxed_reshard *r, double *out)
{
    const struct problem *p = plan->problem;
    status to = plan->leaf[p->classes.leaf_base[r->user] + r->leaf];

    if (!p->classes.runs_whole[r->user] && copy_is_sent(plan->held[r->value], to, p->mesh.axes))
        add(out, p->m->count, memory->schedule.position[r->user], memory_last_read(memory, r->user),
            relaxed_local_bytes(p, r->value, to));
}

/* The loop's state that it becomes. */
static void add_state(const struct relaxed_plan *plan, const struct relaxed_reshard *r, double *out)
{
    const struct problem *p = plan->problem;
    uint32_t at;

    if (copy_of_state(p, r->value, r->becomes, &at))
        add(out, p->m->count, at, at, relaxed_local_bytes(p, r->becomes, plan->made[r->becomes]));
}

/* Ranges of whole copies in another order are of pieces. */
static void add_laid_out(const struct relaxed_plan *plan, const struct memory_range *r, double *out)
{
    const struct problem *p = plan->problem;
    double made = relaxed_local_bytes(p, r->value, plan->made[r->value]),
           held = relaxed_local_bytes(p, r->value, plan->held[r->value]);
    hlo_id id = p->m->value_instruction[r->value];

    if (r->storing == STORED_LAID_OUT && held > made &&
        hlo_at(p->m, id)->opcode != HLO_OP_PARAMETER)
        add(out, p->m->count, r->start, r->end, made - held);
}

int relaxed_copies(const struct relaxed_plan *plan, const struct memory_model *memory, double *out,
                   struct err *e)
{
    const struct problem *p = plan->problem;
    struct copy_span *spans;
    int rc = copy_spans_new(p, memory, plan->origin, &spans, e);

    if (rc)
        return rc;
    for (uint32_t n = 0; n < p->m->count; n++)
        out[n] = 0;
    for (hlo_value v = 0; v < p->m->value_count; v++) {
        if (plan->origin[v] == v && copy_is_sent(plan->made[v], plan->held[v], p->mesh.axes))
            add_shared(plan, v, &spans[v], out);
    }
    for (uint32_t k = 0; k < plan->reshard_count; k++) {
        const struct relaxed_reshard *r = &plan->reshards[k], *before = k ? r - 1 : NULL;
        bool is_first = !before || before->value != r->value || before->user != r->user ||
                        before->leaf != r->leaf || before->becomes != r->becomes ||
                        before->is_inside;
        if (r->becomes != HLO_NONE && r->becomes != r->value && is_first)
            add_state(plan, r, out);
        if (r->user != HLO_NONE && !r->is_inside && is_first)
            add_single(plan, memory, r, out);
    }
    for (uint32_t k = 0; k < memory->count; k++)
        add_laid_out(plan, &memory->ranges[k], out);
    double live = 0;
    for (uint32_t n = 0; n < p->m->count; n++) {
        live += out[n];
        out[n] = live > 1 || live < -1 ? live : 0; /* a byte of rounding */
    }
    free(spans);
    return 0;
}
