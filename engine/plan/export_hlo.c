#include "engine/plan/export_hlo.h"

#include "engine/plan/wishes.h"

#include <string.h>

struct writer {
    const struct plan *plan;
    enum sharding_form form;
    label *over;     /* [dims] of every value, free ones too */
    bool *is_shared; /* [values] free, and uses want different splits */
    bool *is_meant;  /* [computations] holds values, not a reducer or comparator */
    bool *is_left;   /* [instructions] not annotated, see leave_out */
    struct str text; /* of one instruction */
    struct str name; /* of a copy */
};

#define COPY_ENDING ".operand_copy"

static int no_memory(struct err *e)
{
    return err_set(e, ERR_MEMORY, "not enough memory to export the plan");
}

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

    if (!w->is_meant[i->computation] || w->is_left[id] || m->leaf_base[id] == m->leaf_base[id + 1])
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
        sharding_write(&p->mesh, w->over + p->classes.dim_base[v], hlo_value_shape(p->m, v)->rank,
                       w->form, &w->text);
    }
    if (is_tuple)
        str_add_char(&w->text, '}');
    return w->text.failed ? NULL : w->text.text;
}

/* ---- copies ---- */

/* XLA chooses the split of a free value itself, among those its uses want. Element by element a use
 * with another wish still costs nothing; a scatter follows its operand and reshards its result. So
 * such a use gets a copy, whose split XLA keeps. */
static bool wants_copy(const struct writer *w, hlo_id id, uint32_t n)
{
    const struct problem *p = w->plan->problem;
    const struct hlo_instruction *i = hlo_at(p->m, id);
    hlo_value v = p->m->leaf_base[hlo_operand(p->m, id, n)];

    return n == 0 && (i->opcode == HLO_OP_SCATTER || i->opcode == HLO_OP_DYNAMIC_UPDATE_SLICE) &&
           w->is_meant[i->computation] && is_array(hlo_shape(p->m, hlo_operand(p->m, id, 0))) &&
           i->operand_count > 1 && class_leaf_count(&p->classes, id) && p->classes.is_free[v] &&
           w->is_shared[v];
}

static const char *copy_name(void *context, hlo_id id, uint32_t n)
{
    struct writer *w = context;

    if (!wants_copy(w, id, n))
        return NULL;
    str_clear(&w->name);
    str_format(&w->name, "%s" COPY_ENDING, hlo_name(w->plan->problem->m, id));
    return w->name.failed ? NULL : w->name.text;
}

static const char *copy_line(void *context, hlo_id id)
{
    struct writer *w = context;
    const struct problem *p = w->plan->problem;
    const char *name = hlo_at(p->m, id)->operand_count ? copy_name(w, id, 0) : NULL;
    label want[HLO_RANK_MAX];

    if (!name)
        return NULL;
    hlo_id from = hlo_operand(p->m, id, 0);
    wishes_of_use(w->plan, id, 0, want);
    str_clear(&w->text);
    str_format(&w->text, "  %s = ", name);
    hlo_write_shape(p->m, hlo_at(p->m, from)->shape, true, &w->text);
    str_format(&w->text, " copy(%s), sharding=", hlo_name(p->m, from));
    sharding_write(&p->mesh, want, hlo_shape(p->m, from)->rank, w->form, &w->text);
    str_add_char(&w->text, '\n');
    return w->text.failed ? NULL : w->text.text;
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
            !memcmp(w->over + c->dim_base[from], w->over + c->dim_base[to], rank * sizeof *w->over))
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

static void add_warnings(const struct plan *plan, uint32_t dropped, struct str *out)
{
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
    plan_write_regime(plan, out);
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

int export_hlo(const struct plan *plan, enum sharding_form form, struct str *out,
               struct str *warnings, struct err *e)
{
    const struct problem *p = plan->problem;
    struct hlo_module m = *p->m; /* a view with another header */
    struct writer w = {.plan = plan, .form = form};
    struct hlo_alias *kept = mem_try((size_t)m.alias_count + 1, sizeof *kept);
    struct hlo_write_options o = {
        .sharding = sharding_of, .before = copy_line, .operand = copy_name, .context = &w};

    w.is_meant = mem_try(m.computation_count, sizeof *w.is_meant);
    w.is_left = mem_try(m.count, sizeof *w.is_left);
    int rc =
        kept && w.is_meant && w.is_left ? wishes_new(plan, &w.over, &w.is_shared, e) : no_memory(e);
    if (!rc) {
        mark_computations(&m, w.is_meant);
        leave_out(&m, w.is_left);
        m.alias_count = keep_aliases(&w, &m, kept);
        m.aliases = kept;
        m.num_partitions = p->mesh.devices;
        rc = hlo_write_text(&m, &o, out, e);
    }
    if (!rc)
        add_warnings(plan, p->m->alias_count - m.alias_count, warnings);
    if (!rc && (w.text.failed || warnings->failed))
        rc = no_memory(e);
    str_release(&w.text);
    free(w.over);
    str_release(&w.name);
    free(w.is_shared);
    free(w.is_meant);
    free(w.is_left);
    free(kept);
    return rc;
}

/* ---- checking ---- */

struct checker {
    const struct plan *plan;
    const struct hlo_module *m; /* read again */
    label *on;                  /* [classes] found so far */
    bool *is_found;
    struct err *e;
};

static int wrong(struct checker *c, hlo_id id, const char *what)
{
    return err_set(c->e, ERR_INPUT, "the export does not read back: %.120s %s",
                   hlo_name(c->plan->problem->m, id), what);
}

/* One value's sharding at `text`: its classes' labels, which must agree with those found before. */
static int check_value(struct checker *c, hlo_id id, hlo_value v, const char **text,
                       const char *end)
{
    const struct problem *p = c->plan->problem;
    uint32_t rank = hlo_value_shape(p->m, v)->rank;
    label over[HLO_RANK_MAX];
    size_t size = sharding_read(&p->mesh, *text, (size_t)(end - *text), rank, over);

    if (!size)
        return wrong(c, id, "has a sharding that this mesh cannot make");
    *text += size;
    for (uint32_t d = 0; d < rank; d++) {
        class_id k = p->classes.class_of[class_dim(&p->classes, v, d)];
        if (k == CLASS_NONE)
            continue;
        if (c->is_found[k] && c->on[k] != over[d])
            return wrong(c, id, "is not split as what it is tied to");
        c->on[k] = over[d];
        c->is_found[k] = true;
    }
    return 0;
}

/* A copy of a free value that export_hlo put before one of its uses. */
static bool is_copy(const struct hlo_module *m, hlo_id id)
{
    size_t size = strlen(hlo_name(m, id)), ending = strlen(COPY_ENDING);

    return hlo_at(m, id)->opcode == HLO_OP_COPY && size > ending &&
           !strcmp(hlo_name(m, id) + size - ending, COPY_ENDING);
}

/* Instruction `id` of the plan's module is `now` of the one read. */
static int check_instruction(struct checker *c, hlo_id id, hlo_id now)
{
    const struct hlo_module *was = c->plan->problem->m, *is = c->m;
    const struct hlo_attr *a = hlo_attr(is, now, HLO_ATTR_SHARDING);
    int rc = 0;

    if (hlo_at(was, id)->opcode != hlo_at(is, now)->opcode || strcmp(hlo_name(was, id), hlo_name(is, now)))
        return wrong(c, id, "is another instruction now");
    if (!a)
        return 0;
    const char *text = a->text, *end = a->text + a->size;
    bool is_tuple = hlo_shape(was, id)->type == HLO_TUPLE;
    text += is_tuple;
    for (hlo_value v = was->leaf_base[id]; v < was->leaf_base[id + 1] && !rc; v++) {
        if (v > was->leaf_base[id])
            text += strspn(text, ", ");
        rc = check_value(c, id, v, &text, end);
    }
    if (!rc && text + is_tuple != end)
        rc = wrong(c, id, "has something behind its sharding");
    return rc;
}

/* Labels of the plan, no clash among them, equal costs. */
static int check_labels(struct checker *c)
{
    const struct problem *p = c->plan->problem;

    for (class_id k = 0; k < p->classes.count; k++) {
        const struct class_info *info = &p->classes.info[k];
        bool counts = p->labels.parts[c->plan->on[k]] > 1;
        if (counts ? c->on[k] != c->plan->on[k] : p->labels.parts[c->on[k]] > 1)
            return wrong(
                c, p->m->value_instruction[p->classes.dim_value[p->classes.members[info->dims]]],
                "is not split as planned");
        for (uint32_t n = 0; n < info->meet_count; n++) {
            const struct class_meet *meet = &p->classes.meets[info->meets + n];
            if (c->on[k] & c->on[meet->other])
                return wrong(c, meet->place, "is split twice along one axis");
        }
    }
    if (terms_cost(&p->terms, c->on).step_ms != c->plan->cost.step_ms)
        return err_set(c->e, ERR_INPUT,
                       "the export does not read back: its step takes another time");
    return 0;
}

int export_hlo_check(const struct plan *plan, const char *text, size_t size, struct err *e)
{
    const struct problem *p = plan->problem;
    struct hlo_module *m;
    struct checker c = {.plan = plan, .e = e};
    int rc = hlo_load_memory("export", text, size, NULL, &m, e);

    if (rc)
        return rc;
    c.m = m;
    c.on = mem_try(p->classes.count, sizeof *c.on);
    c.is_found = mem_try(p->classes.count, sizeof *c.is_found);
    if (!c.on || !c.is_found)
        rc = no_memory(e);
    hlo_id id = 0;
    for (hlo_id now = 0; now < m->count && !rc; now++) {
        if (!is_copy(m, now) && id < p->m->count)
            rc = check_instruction(&c, id++, now);
    }
    if (!rc && id != p->m->count)
        rc = err_set(e, ERR_INPUT, "the export does not read back: %u instructions became %u",
                     p->m->count, id);
    if (!rc)
        rc = check_labels(&c);
    free(c.on);
    free(c.is_found);
    hlo_free(m);
    return rc;
}
