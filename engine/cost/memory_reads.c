#include "engine/cost/memory_reads.h"

#include "engine/cost/fusion.h"
#include "engine/cost/memory.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "hlo/meaning/kernels.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"

#include <string.h>

/* Where something reads: first and last position. */
static void use(struct memory_build *b, hlo_value v, struct memory_span at)
{
    v = b->model->fusion->buffer[v];
    if (b->end[v] == HLO_NONE || b->end[v] < at.last)
        b->end[v] = at.last;
    if (b->begin[v] == HLO_NONE || b->begin[v] > at.first)
        b->begin[v] = at.first;
}

/* Where `id` reads: at its own position, for a fused value where its users do, found before (ids
 * descend, users come first), for one that is made again also where that is done. */
static struct memory_span reads_of(const struct memory_build *b, hlo_id id)
{
    const struct hlo_module *m = b->model->m;
    struct memory_span at = {b->model->schedule.position[id], b->model->schedule.position[id]};

    if (hlo_at(m, id)->opcode == HLO_OP_WHILE) /* runs where it stands, whatever it carries */
        return at;
    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        hlo_value buffer = b->model->fusion->buffer[v];
        at.last = b->again[buffer].last > at.last ? b->again[buffer].last : at.last;
        if (b->model->fusion->is_stored[buffer] || b->end[buffer] == HLO_NONE ||
            m->instructions[m->value_instruction[buffer]].computation !=
                m->instructions[id].computation)
            continue;
        at.first = b->begin[buffer] > at.first ? b->begin[buffer] : at.first;
        at.last = b->end[buffer] > at.last ? b->end[buffer] : at.last;
    }
    return at;
}

/* Notes that the pass reads variable `v` from the position of `id` to at.last. */
static void note_use(struct memory_build *b, hlo_value v, hlo_id id, struct memory_span at)
{
    const struct training *t = b->model->training;
    uint32_t param = b->of[v];

    if (!param || t->is_once[id] ||
        hlo_at(t->classes->m, b->model->m->value_instruction[v])->opcode != HLO_OP_PARAMETER)
        return;
    struct memory_span *s = &b->uses[param - 1][t->roles->phase[id] != HLO_PHASE_FORWARD];
    uint32_t first = b->model->schedule.position[id];
    if (s->first == HLO_NONE || first < s->first)
        s->first = first;
    if (at.last > s->last)
        s->last = at.last;
}

/* The update reads sums over the passes, not the result of the last one. */
static bool reads_a_sum(const struct memory_build *b, hlo_id id, hlo_value v)
{
    const struct training *t = b->model->training;

    return b->model->batching.micro_batches > 1 && t->is_once[id] &&
           t->is_summed[b->model->fusion->buffer[v]];
}

/* Whether `id` computes leaf `v` of its operand on the fly, at `at`, though others read it. */
static bool makes_again(struct memory_build *b, hlo_id id, hlo_id operand, hlo_value v,
                        struct memory_span at)
{
    struct memory_span *again = &b->again[b->model->fusion->buffer[v]];

    if (!b->model->fusion->is_remade[b->model->fusion->buffer[v]] ||
        !fusion_absorbs(b->model->m, id, operand))
        return false;
    again->last = at.last > again->last ? at.last : again->last;
    return true;
}

static void use_operands(struct memory_build *b, hlo_id id)
{
    const struct hlo_module *m = b->model->m;
    const struct hlo_instruction *i = hlo_at(m, id);
    struct memory_span at = reads_of(b, id);

    if (i->opcode == HLO_OP_TUPLE || i->opcode == HLO_OP_GET_TUPLE_ELEMENT)
        return; /* other names of buffers, whose readers count */
    for (uint32_t k = 0; k < i->operand_count; k++) {
        hlo_id o = hlo_operand(m, id, k);
        for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++) {
            /* Buffers made in another computation are kept by the instruction that calls it. */
            hlo_id made = m->value_instruction[b->model->fusion->buffer[v]];
            bool here = m->instructions[made].computation == i->computation;
            if (reads_a_sum(b, id, v))
                continue;
            uint32_t there = b->model->schedule.position[made];
            if (here && makes_again(b, id, o, v, at))
                continue;
            /* A copy to the host begins as soon as there is something to copy. */
            bool leaves = hlo_kernel_effect_of(m, id) == KERNEL_TO_HOST;
            use(b, v, here && !leaves ? at : (struct memory_span){there, there});
            if (here)
                note_use(b, b->model->fusion->buffer[v], id, at);
        }
    }
}

static void find_ends(struct memory_build *b)
{
    const struct hlo_module *m = b->model->m;

    memset(b->end, 0xff, m->value_count * sizeof *b->end);
    memset(b->begin, 0xff, m->value_count * sizeof *b->begin);
    memset(b->again, 0, m->value_count * sizeof *b->again);
    for (uint32_t k = 0; k < b->model->training->roles->param_count; k++)
        b->uses[k][0] = b->uses[k][1] = (struct memory_span){HLO_NONE, 0};
    for (uint32_t c = 0; c < m->computation_count; c++) {
        hlo_id root = m->computations[c].root,
               last = m->computations[c].first + m->computations[c].count - 1;
        for (hlo_value v = m->leaf_base[root]; v < m->leaf_base[root + 1]; v++) {
            hlo_id made = m->value_instruction[b->model->fusion->buffer[v]];
            if (m->instructions[made].computation == c)
                use(b, v, (struct memory_span){last, last});
        }
    }
    for (hlo_id id = m->count; id--;)
        use_operands(b, id);
}

/* Where values that no range holds to their last read are read last. */
static void find_again(struct memory_build *b)
{
    const struct fusion *f = b->model->fusion;

    for (hlo_value v = 0; v < b->model->m->value_count; v++) {
        uint32_t fused = f->is_stored[v] || b->end[v] == HLO_NONE ? 0 : b->end[v];
        b->model->again[v] = b->again[v].last > fused ? b->again[v].last : fused;
    }
}

void memory_find_reads(struct memory_build *b)
{
    find_ends(b);
    find_again(b);
}
