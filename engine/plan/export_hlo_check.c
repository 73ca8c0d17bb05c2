/* engine/plan/export_hlo_check.c - reads an exported module again and finds the plan in it. */
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/partitioner.h"
#include "engine/plan/export_hlo.h"
#include "engine/plan/export_hlo_internal.h"
#include "engine/plan/export_loops.h"
#include "engine/plan/plan.h"
#include "engine/plan/resharding.h"
#include "engine/plan/sharding.h"
#include "engine/problem/problem.h"
#include "hlo/load.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

struct checker {
    const struct plan *plan;
    const struct hlo_module *m; /* read again */
    label *on;                  /* [classes] found so far */
    bool *is_found;
    struct hlo_annotations of; /* of a relaxed plan: what should be written */
    struct err *e;
};

static int wrong_instruction(struct checker *c, hlo_id id, const char *what)
{
    return err_set(c->e, ERR_INPUT, "the export does not read back: %.120s %s",
                   hlo_name(c->plan->problem->m, id), what);
}

/* A value of a relaxed plan: exactly what is to be written there. */
static int check_relaxed_value(struct checker *c, hlo_id id, hlo_value v, const label *over)
{
    uint32_t rank = hlo_value_shape(c->plan->problem->m, v)->rank;

    if (memcmp(over, c->of.over + c->plan->problem->classes.dim_base[v], rank * sizeof *over))
        return wrong_instruction(c, id, "is not split as planned");
    return 0;
}

/* What the partitioner computes wrong in parts is whole. */
static int check_whole(struct checker *c, hlo_id id, uint32_t rank, const label *over)
{
    for (uint32_t d = 0; d < rank; d++) {
        if (over[d])
            return wrong_instruction(c, id, "is split");
    }
    return 0;
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
        return wrong_instruction(c, id, "has a sharding that this mesh cannot make");
    *text += size;
    if (c->plan->relaxed)
        return check_relaxed_value(c, id, v, over);
    if (partitioner_loses_parts(p->partitioner, p->m, id))
        return check_whole(c, id, rank, over);
    for (uint32_t d = 0; d < rank; d++) {
        class_id k = p->classes.class_of[class_dim(&p->classes, v, d)];
        if (k == CLASS_NONE)
            continue;
        if (c->is_found[k] && c->on[k] != over[d])
            return wrong_instruction(c, id, "is not split as what it is tied to");
        c->on[k] = over[d];
        c->is_found[k] = true;
    }
    return 0;
}

/* ---- uses of a relaxed plan ---- */

/* Copies that change a split, and barriers that hold one. */
static bool is_added(const struct hlo_module *m, hlo_id id)
{
    return resharding_is_copy(m, id) || export_loops_is_barrier(m, id);
}

/* Operand `n` of `now` is operand `n` of `id`, by way of copies, and as `id` wants it. */
static int check_use(struct checker *c, hlo_id id, hlo_id now, uint32_t n)
{
    const struct hlo_module *was = c->plan->problem->m, *is = c->m;
    hlo_id from = hlo_operand(is, now, n), original = from;
    const struct hlo_attr *a = hlo_attr(is, from, HLO_ATTR_SHARDING);
    label want[HLO_RANK_MAX], over[HLO_RANK_MAX];

    while (is_added(is, original) &&
           strcmp(hlo_name(was, hlo_operand(was, id, n)), hlo_name(is, original)))
        original = hlo_operand(is, original, 0);
    if (!resharding_is_source(&c->of.resharding, id, n, hlo_name(is, original)))
        return wrong_instruction(c, id, "reads something else");
    if (!a || !resharding_want(&c->of.resharding, id, n, want))
        return 0;
    uint32_t rank = hlo_shape(is, from)->rank;
    if (!sharding_read(&c->plan->problem->mesh, a->text, a->size, rank, over) ||
        memcmp(over, want, rank * sizeof *over))
        return wrong_instruction(c, id, "reads an operand in another split than it wants");
    return 0;
}

static int check_uses(struct checker *c, hlo_id id, hlo_id now)
{
    uint32_t count = hlo_at(c->plan->problem->m, id)->operand_count;
    int rc = 0;

    if (count != hlo_at(c->m, now)->operand_count)
        return wrong_instruction(c, id, "has other operands");
    for (uint32_t n = 0; n < count; n++) {
        rc = check_use(c, id, now, n);
        if (rc)
            return rc;
    }
    return rc;
}

/* Instruction `id` of the plan's module is `now` of the one read. */
static int check_instruction(struct checker *c, hlo_id id, hlo_id now)
{
    const struct hlo_module *was = c->plan->problem->m, *is = c->m;
    const struct hlo_attr *a = hlo_attr(is, now, HLO_ATTR_SHARDING);
    int rc = 0;

    if (hlo_at(was, id)->opcode != hlo_at(is, now)->opcode ||
        strcmp(hlo_name(was, id), hlo_name(is, now)))
        return wrong_instruction(c, id, "is another instruction now");
    if (c->plan->relaxed)
        rc = check_uses(c, id, now);
    if (!a || rc)
        return rc;
    const char *text = a->text, *end = a->text + a->size;
    bool is_tuple = hlo_shape(was, id)->type == HLO_TUPLE;
    text += is_tuple;
    if (rc)
        return rc;
    for (hlo_value v = was->leaf_base[id]; v < was->leaf_base[id + 1]; v++) {
        if (v > was->leaf_base[id])
            text += strspn(text, ", ");
        rc = check_value(c, id, v, &text, end);
        if (rc)
            return rc;
    }
    if (text + is_tuple != end)
        rc = wrong_instruction(c, id, "has something behind its sharding");
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
            return wrong_instruction(
                c, p->m->value_instruction[p->classes.dim_value[p->classes.members[info->dims]]],
                "is not split as planned");
        for (uint32_t n = 0; n < info->meet_count; n++) {
            const struct class_meet *meet = &p->classes.meets[info->meets + n];
            if (c->on[k] & c->on[meet->other])
                return wrong_instruction(c, meet->place, "is split twice along one axis");
        }
    }
    if (step_tables_cost(&p->step_tables, c->on).step_ms != c->plan->cost.step_ms)
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
        rc = err_no_memory(e, "to check the export");
    if (rc)
        goto out;
    if (plan->relaxed)
        rc = hlo_annotations_new(plan, false, &c.of, e);
    if (rc)
        goto out;
    hlo_id id = 0;
    for (hlo_id now = 0; now < m->count; now++) {
        bool is_next = id < p->m->count && !strcmp(hlo_name(p->m, id), hlo_name(m, now));
        if (id < p->m->count && (is_next || !is_added(m, now))) {
            rc = check_instruction(&c, id++, now);
            if (rc)
                goto out;
        }
    }
    if (id != p->m->count)
        rc = err_set(e, ERR_INPUT, "the export does not read back: %u instructions became %u",
                     p->m->count, id);
    if (rc)
        goto out;
    if (!plan->relaxed)
        rc = check_labels(&c);
out:
    hlo_annotations_release(&c.of);
    free(c.on);
    free(c.is_found);
    hlo_free(m);
    return rc;
}
