#include "engine/plan/export_hlo.h"

#include "engine/plan/export_hlo_internal.h"
#include "engine/plan/free_values.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/text/write_text.h"

#include <string.h>

enum { PASSES_PARTIAL = 128 }; /* and above: a byte of relaxed_plan->choice */

struct writer {
    struct hlo_annotations *of;
    const struct plan *plan;
    enum sharding_form form;
    struct str text; /* of one instruction */
};

/* ---- what is annotated ---- */

static bool holds_values(uint16_t opcode)
{
    return opcode == HLO_OP_WHILE || opcode == HLO_OP_CONDITIONAL;
}

/* The entry, and what loops and branches run. Callers come after what they call. */
static void mark_computations(const struct hlo_module *m, bool *is_meant)
{
    is_meant[m->entry] = true;
    for (hlo_comp c = m->computation_count; c-- > 0;) {
        const struct hlo_computation *comp = &m->computations[c];
        for (hlo_id id = comp->first; is_meant[c] && id < comp->first + comp->count; id++) {
            for (uint32_t k = 0;
                 holds_values(hlo_at(m, id)->opcode) && k < hlo_at(m, id)->called_count; k++)
                is_meant[hlo_called(m, id, k)] = true;
        }
    }
}

static bool is_array(const struct hlo_shape *s)
{
    return s->type != HLO_TUPLE && hlo_type_info[s->type].bits > 0;
}

/* Some leaf goes through the body as it is. JAX compiles by way of StableHLO, which takes such
 * leaves out of the loop and then finds more shardings than leaves. */
static bool carries_unchanged(const struct hlo_module *m, hlo_id loop)
{
    hlo_id root = m->computations[hlo_called(m, loop, 0)].root;
    const struct hlo_instruction *i = hlo_at(m, root);

    if (i->opcode != HLO_OP_TUPLE)
        return true;
    for (uint32_t k = 0; k < i->operand_count; k++) {
        const struct hlo_instruction *from = hlo_at(m, hlo_operand(m, root, k));
        if (from->opcode == HLO_OP_PARAMETER)
            return true;
        if (from->opcode == HLO_OP_GET_TUPLE_ELEMENT && from->number == k &&
            hlo_at(m, hlo_operand(m, hlo_operand(m, root, k), 0))->opcode == HLO_OP_PARAMETER)
            return true;
    }
    return false;
}

static bool keeps_elements(const struct hlo_module *m, hlo_id id)
{
    uint16_t opcode = hlo_at(m, id)->opcode;

    return (opcode == HLO_OP_RESHAPE || opcode == HLO_OP_BROADCAST || opcode == HLO_OP_COPY) &&
           hlo_shape(m, id)->elements == hlo_shape(m, hlo_operand(m, id, 0))->elements;
}

/* What StableHLO does not survive: loops that carry something unchanged, and reshapes of one of
 * several results, whose sharding it moves to all results when it folds them away. Propagation
 * fills these in from their neighbours, which are annotated. */
static void leave_out(const struct hlo_module *m, bool *is_left)
{
    for (hlo_id id = 0; id < m->count; id++) {
        uint16_t opcode = hlo_at(m, id)->opcode;
        if (opcode == HLO_OP_WHILE) {
            is_left[id] = carries_unchanged(m, id);
        } else if (keeps_elements(m, id)) {
            hlo_id from = hlo_operand(m, id, 0);
            is_left[id] = is_left[from];
            if (hlo_at(m, from)->opcode == HLO_OP_GET_TUPLE_ELEMENT) {
                uint16_t maker = hlo_at(m, hlo_operand(m, from, 0))->opcode;
                is_left[id] = maker != HLO_OP_TUPLE && maker != HLO_OP_PARAMETER;
            }
        }
    }
}

static bool is_annotated(const struct writer *w, hlo_id id)
{
    const struct hlo_module *m = w->plan->problem->m;
    const struct hlo_instruction *i = hlo_at(m, id);

    if (!w->of->is_meant[i->computation] || w->of->is_left[id] ||
        m->leaf_base[id] == m->leaf_base[id + 1])
        return false;
    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        if (!is_array(hlo_value_shape(m, v)))
            return false;
    }
    return i->opcode != HLO_OP_CALL && i->opcode != HLO_OP_PARTITION_ID &&
           i->opcode != HLO_OP_REPLICA_ID;
}

static const char *sharding_of(void *context, hlo_id id)
{
    struct writer *w = context;
    const struct problem *p = w->plan->problem;
    bool is_tuple = hlo_shape(p->m, id)->type == HLO_TUPLE;

    if (!is_annotated(w, id))
        return NULL;
    str_clear(&w->text);
    for (hlo_value v = p->m->leaf_base[id]; v < p->m->leaf_base[id + 1]; v++) {
        if (is_tuple)
            str_add(&w->text, v == p->m->leaf_base[id] ? "{" : ", ");
        sharding_write(&p->mesh, w->of->over + p->classes.dim_base[v],
                       hlo_value_shape(p->m, v)->rank, w->form, &w->text);
    }
    if (is_tuple)
        str_add_char(&w->text, '}');
    return w->text.failed ? NULL : w->text.text;
}

static const char *lines_before(void *context, hlo_id id)
{
    struct writer *w = context;

    return resharding_lines(&w->of->resharding, id, w->form);
}

static const char *operand_name(void *context, hlo_id id, uint32_t n)
{
    struct writer *w = context;

    return resharding_operand(&w->of->resharding, id, n);
}

/* Tuples that join control flows, and the entry's root, are as what they become. */
static void set_goals(struct hlo_annotations *a)
{
    const struct problem *p = a->resharding.plan->problem;
    label goal[HLO_RANK_MAX];

    for (hlo_value v = 0; v < p->m->value_count; v++) {
        if (hlo_at(p->m, p->m->value_instruction[v])->opcode == HLO_OP_TUPLE &&
            resharding_goal(&a->resharding, v, goal))
            memcpy(a->over + p->classes.dim_base[v], goal,
                   hlo_value_shape(p->m, v)->rank * sizeof *goal);
    }
}

/* ---- aliases and warnings ---- */

/* Both sides of an alias share memory, so they must be split alike; JAX pairs by shape alone. */
static uint32_t keep_aliases(const struct writer *w, const struct hlo_module *m,
                             struct hlo_alias *kept)
{
    const struct classes *c = &w->plan->problem->classes;
    const struct hlo_computation *entry = &m->computations[m->entry];
    uint32_t count = 0;

    for (uint32_t k = 0; k < m->alias_count; k++) {
        const struct hlo_alias *a = &m->aliases[k];
        hlo_value from = hlo_value_of(m, entry->params[a->param], a->param_leaf);
        hlo_value to = hlo_value_of(m, entry->root, a->out);
        uint32_t rank = hlo_value_shape(m, from)->rank;
        if (rank == hlo_value_shape(m, to)->rank &&
            !memcmp(w->of->over + c->dim_base[from], w->of->over + c->dim_base[to],
                    rank * sizeof(label)))
            kept[count++] = *a;
    }
    return count;
}

static bool has_elided_constant(const struct hlo_module *m)
{
    for (hlo_id id = 0; id < m->count; id++) {
        const struct hlo_instruction *i = hlo_at(m, id);
        const struct hlo_text *t = &m->literals[i->literal];
        if (i->opcode == HLO_OP_CONSTANT && t->size == 5 && !memcmp(t->text, "{...}", 5))
            return true;
    }
    return false;
}

/* Instructions that pass partial results on, which XLA does not. */
static uint32_t count_passes(const struct plan *plan)
{
    uint32_t count = 0;

    for (hlo_id id = 0; plan->relaxed && id < plan->problem->m->count; id++) {
        bool passes = false;
        for (uint32_t x = 0; x < plan->problem->mesh.axes; x++)
            passes |= status_on(plan->relaxed->choice[id], x) >= PASSES_PARTIAL;
        count += passes;
    }
    return count;
}

static void add_warnings(const struct plan *plan, uint32_t dropped, struct str *out)
{
    uint32_t passes = count_passes(plan);

    if (passes)
        str_format(out,
                   "%u instructions pass partial results on: XLA combines them where they arise, "
                   "so it inserts other collectives; --reduce-at-once makes plans without\n",
                   passes);
    const struct problem *p = plan->problem;
    uint32_t padded = 0;

    for (class_id k = 0; k < p->classes.count; k++)
        padded += plan->on[k] && label_pads(&p->labels, k, plan->on[k]);
    if (padded)
        str_format(out,
                   "%u classes are split unevenly: XLA pads them, and where a reshape does not "
                   "keep their pieces it "
                   "inserts collectives the plan does not have; --divisibility exact makes plans "
                   "without\n",
                   padded);
    plan_write_batching(plan, out);
    if (dropped)
        str_format(
            out, "%u of the input-output aliases were left out: both sides are split differently\n",
            dropped);
    if (has_elided_constant(p->m))
        str_add(
            out,
            "the file has constants without their values ({...}): they are not exported either\n");
    if (p->file->num_partitions > 1)
        str_format(
            out,
            "the file was already partitioned into %lld: a plan for it splits the pieces again\n",
            (long long)p->file->num_partitions);
}

int hlo_annotations_new(const struct plan *plan, struct hlo_annotations *out, struct err *e)
{
    const struct hlo_module *m = plan->problem->m;

    memset(out, 0, sizeof *out);
    out->is_meant = mem_try(m->computation_count, sizeof *out->is_meant);
    out->is_left = mem_try(m->count, sizeof *out->is_left);
    int rc = out->is_meant && out->is_left ? free_values_new(plan, &out->over, &out->is_shared, e)
                                           : err_no_memory(e, "to export the plan");
    if (rc)
        return rc;
    mark_computations(m, out->is_meant);
    leave_out(m, out->is_left);
    rc = resharding_new(plan, out->is_meant, out->is_shared, &out->resharding, e);
    if (rc)
        return rc;
    set_goals(out);
    return rc;
}

void hlo_annotations_release(struct hlo_annotations *a)
{
    resharding_release(&a->resharding);
    free(a->over);
    free(a->is_shared);
    free(a->is_meant);
    free(a->is_left);
}

int export_hlo(const struct plan *plan, enum sharding_form form, struct str *out,
               struct str *warnings, struct err *e)
{
    const struct problem *p = plan->problem;
    struct hlo_module m = *p->m; /* a view with another header */
    struct hlo_annotations of;
    struct writer w = {.of = &of, .plan = plan, .form = form};
    struct hlo_alias *kept = mem_try((size_t)m.alias_count + 1, sizeof *kept);
    struct hlo_write_options o = {
        .sharding = sharding_of, .before = lines_before, .operand = operand_name, .context = &w};
    int rc = hlo_annotations_new(plan, &of, e);

    if (rc)
        goto out;
    if (!kept)
        rc = err_no_memory(e, "to export the plan");
    if (rc)
        goto out;
    m.alias_count = keep_aliases(&w, &m, kept);
    m.aliases = kept;
    m.num_partitions = p->mesh.devices;
    rc = hlo_write_text(&m, &o, out, e);
    if (rc)
        goto out;
    add_warnings(plan, p->m->alias_count - m.alias_count, warnings);
    if (w.text.failed || warnings->failed)
        rc = err_no_memory(e, "to export the plan");
out:
    str_release(&w.text);
    hlo_annotations_release(&of);
    free(kept);
    return rc;
}
