#include "engine/plan/export_hlo.h"

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/partitioner.h"
#include "engine/plan/export_differences.h"
#include "engine/plan/export_hlo_internal.h"
#include "engine/plan/export_loops.h"
#include "engine/plan/partial_sums.h"
#include "engine/plan/resharding.h"
#include "engine/plan/value_splits.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/load.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"

#include <string.h>

enum { PASSES_PARTIAL = 128 }; /* and above: a byte of relaxed_plan->choice */

struct writer {
    struct hlo_annotations *of;
    const struct plan *plan;
    enum sharding_form form;
    struct str text, lines, name; /* of one instruction */
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

static bool is_annotated(const struct writer *w, hlo_id id)
{
    const struct hlo_module *m = w->plan->problem->m;
    const struct hlo_instruction *i = hlo_at(m, id);

    if (!w->of->is_meant[i->computation] || w->of->loops.is_left[id] ||
        m->leaf_base[id] == m->leaf_base[id + 1])
        return false;
    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        if (!is_array(hlo_value_shape(m, v)) || hlo_value_shape(m, v)->dynamic)
            return false;
    }
    return i->opcode != HLO_OP_CALL && i->opcode != HLO_OP_PARTITION_ID &&
           i->opcode != HLO_OP_REPLICA_ID;
}

/* Of values `first` .. first + count, in braces when they are a tuple's. */
static void write_shardings(const struct writer *w, hlo_value first, uint32_t count, bool is_tuple,
                            struct str *out)
{
    const struct problem *p = w->plan->problem;

    for (hlo_value v = first; v < first + count; v++) {
        if (is_tuple)
            str_add(out, v == first ? "{" : ", ");
        sharding_write(&p->mesh, w->of->over + p->classes.dim_base[v],
                       hlo_value_shape(p->m, v)->rank, w->form, out);
    }
    if (is_tuple)
        str_add_char(out, '}');
}

static const char *sharding_of(void *context, hlo_id id)
{
    struct writer *w = context;
    const struct hlo_module *m = w->plan->problem->m;

    if (!is_annotated(w, id))
        return NULL;
    str_clear(&w->text);
    write_shardings(w, m->leaf_base[id], m->leaf_base[id + 1] - m->leaf_base[id],
                    hlo_shape(m, id)->type == HLO_TUPLE, &w->text);
    return w->text.failed ? NULL : w->text.text;
}

/* Operand `n` goes through a barrier that holds its sharding, and not through a copy that does. */
static bool is_held_fast(struct writer *w, hlo_id id, uint32_t n, hlo_value *as)
{
    *as = export_loops_held(w->plan->problem->m, &w->of->loops, id, n);
    return *as != HLO_NONE && !resharding_operand(&w->of->resharding, id, n) && is_annotated(w, id);
}

static void write_barriers(struct writer *w, hlo_id id)
{
    const struct hlo_module *m = w->plan->problem->m;
    hlo_value as;

    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id from = hlo_operand(m, id, n);
        if (!is_held_fast(w, id, n, &as))
            continue;
        str_add(&w->lines, "  ");
        export_loops_name(m, id, n, &w->lines);
        str_add(&w->lines, " = ");
        hlo_write_shape(m, hlo_at(m, from)->shape, true, &w->lines);
        str_format(&w->lines, " opt-barrier(%s), sharding=", hlo_name(m, from));
        write_shardings(w, as, hlo_shape(m, from)->leaf_count,
                        hlo_shape(m, from)->type == HLO_TUPLE, &w->lines);
        str_add_char(&w->lines, '\n');
    }
}

static const char *lines_before(void *context, hlo_id id)
{
    struct writer *w = context;
    const char *copies = resharding_lines(&w->of->resharding, id, w->form);

    str_clear(&w->lines);
    str_add(&w->lines, copies ? copies : "");
    write_barriers(w, id);
    return w->lines.failed || !w->lines.size ? NULL : w->lines.text;
}

static const char *operand_name(void *context, hlo_id id, uint32_t n)
{
    struct writer *w = context;
    const char *copy = resharding_operand(&w->of->resharding, id, n);
    hlo_value as;

    if (copy || !is_held_fast(w, id, n, &as))
        return copy;
    str_clear(&w->name);
    export_loops_name(w->plan->problem->m, id, n, &w->name);
    return w->name.failed ? NULL : w->name.text;
}

/* What the partitioner computes wrong in parts is written whole (resharding_want). */
static void keep_whole(const struct plan *plan, label *over)
{
    const struct problem *p = plan->problem;

    for (hlo_id id = 0; id < p->m->count && !plan->relaxed; id++) {
        if (!partitioner_loses_parts(p->partitioner, p->m, id))
            continue;
        dim_id first = p->classes.dim_base[p->m->leaf_base[id]];
        dim_id end = p->classes.dim_base[p->m->leaf_base[id + 1]];
        memset(over + first, 0, (end - first) * sizeof *over);
    }
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

static void add_warnings(const struct plan *plan, const struct hlo_annotations *of,
                         uint32_t dropped, struct str *out)
{
    uint32_t passes = of->sums.on ? 0 : count_passes(plan);

    if (of->sums.dropped)
        str_format(out,
                   "%u instructions pass partial results on of which Shardy cannot be told without "
                   "danger (loops, maxima, masks): XLA combines them where they arise\n",
                   of->sums.dropped);
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
    export_differences(plan, out);
    plan_write_batching(plan, out);
    if (dropped)
        str_format(
            out, "%u of the input-output aliases were left out: both sides are split differently\n",
            dropped);
    if (has_elided_constant(p->m))
        str_add(
            out,
            "the file has constants without their values ({...}): they are not exported either\n");
}

int hlo_annotations_new(const struct plan *plan, bool keeps_sums, struct hlo_annotations *out,
                        struct err *e)
{
    const struct hlo_module *m = plan->problem->m;

    memset(out, 0, sizeof *out);
    out->is_meant = mem_try(m->computation_count, sizeof *out->is_meant);

    int rc = out->is_meant ? free_values_new(plan, &out->over, &out->is_shared, e)
                           : err_no_memory(e, "to export the plan");
    if (rc)
        return rc;
    keep_whole(plan, out->over);
    mark_computations(m, out->is_meant);
    rc = export_loops_new(m, &out->loops, e);
    if (rc)
        return rc;

    if (keeps_sums && (rc = partial_sums_new(plan, &out->sums, e)))
        return rc;
    rc = resharding_new(plan, out->is_meant, out->over, out->is_shared, out->sums.on,
                        &out->resharding, e);
    if (rc)
        return rc;
    set_goals(out);
    return rc;
}

void hlo_annotations_release(struct hlo_annotations *a)
{
    resharding_release(&a->resharding);
    export_loops_release(&a->loops);
    free(a->over);
    free(a->is_shared);
    free(a->is_meant);
    partial_sums_release(&a->sums);
}

int hlo_annotations_write(const struct plan *plan, struct hlo_annotations *of,
                          enum sharding_form form, struct str *out, struct str *warnings,
                          struct err *e)
{
    const struct problem *p = plan->problem;
    struct hlo_module m = *p->m; /* a view with another header */
    struct writer w = {.of = of, .plan = plan, .form = form};
    struct hlo_alias *kept = mem_try((size_t)m.alias_count + 1, sizeof *kept);
    struct hlo_write_options o = {
        .sharding = sharding_of, .before = lines_before, .operand = operand_name, .context = &w};

    if (!kept)
        return err_no_memory(e, "to export the plan");
    m.alias_count = keep_aliases(&w, &m, kept);
    m.aliases = kept;
    m.num_partitions = p->mesh.devices;
    int rc = hlo_write_text(&m, &o, out, e);
    if (rc)
        goto out;
    add_warnings(plan, of, p->m->alias_count - m.alias_count, warnings);
    if (w.text.failed || w.lines.failed || w.name.failed || warnings->failed)
        rc = err_no_memory(e, "to export the plan");
out:
    str_release(&w.text);
    str_release(&w.lines);
    str_release(&w.name);
    free(kept);
    return rc;
}

/* Long functions of StableHLO are not expanded (hlo/stablehlo/README.md). */
static void warn_of_functions(const struct hlo_module *m, struct str *warnings)
{
    hlo_id first;
    uint32_t count = hlo_whole_functions(m, &first);

    if (!count)
        return;
    str_format(warnings, "%u %s functions of StableHLO that XLA does not know in HLO (%s: ", count,
               count == 1 ? "instruction is one of the" : "instructions are", hlo_name(m, first));
    const struct hlo_attr *a = hlo_attr(m, first, HLO_ATTR_CUSTOM_CALL_TARGET);
    str_format(warnings, "%.*s): --format stablehlo and jax carry them\n", (int)a->size, a->text);
}

int export_hlo(const struct plan *plan, enum sharding_form form, struct str *out,
               struct str *warnings, struct err *e)
{
    struct hlo_annotations of;
    int rc = hlo_annotations_new(plan, false, &of, e);

    if (rc)
        goto out;
    rc = hlo_annotations_write(plan, &of, form, out, warnings, e);
    if (rc)
        goto out;
    warn_of_functions(plan->problem->m, warnings);
out:
    hlo_annotations_release(&of);
    return rc;
}
