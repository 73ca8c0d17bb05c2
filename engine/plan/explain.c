#include "engine/plan/explain.h"

#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/partitioner.h"
#include "engine/kernels/kernel_targets.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include "engine/decide/why.h"
#include "engine/text/units.h"

#include <string.h>

/* ---- subjects ---- */

static hlo_value find_value(const struct problem *p, const char *name, size_t size)
{
    char copy[512];

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const char *known = p->roles.params[k].name;
        if (strlen(known) == size && !strncmp(known, name, size))
            return p->roles.params[k].value;
    }
    if (size >= sizeof copy)
        return HLO_NONE;
    memcpy(copy, name, size);
    copy[size] = '\0';
    hlo_id id = hlo_find(p->m, copy);
    return id == HLO_NONE || p->m->leaf_base[id] == p->m->leaf_base[id + 1] ? HLO_NONE
                                                                            : p->m->leaf_base[id];
}

int explain_find(const struct problem *p, const char *text, dim_id *out, struct err *e)
{
    const char *colon = strrchr(text, ':');
    int64_t dim;

    if (!colon || !hlo_parse_int(colon + 1, strlen(colon + 1), &dim))
        return err_set(e, ERR_INPUT, "\"%.100s\", expected NAME:DIM", text);
    hlo_value v = find_value(p, text, (size_t)(colon - text));
    if (v == HLO_NONE)
        return err_set(e, ERR_INPUT, "no variable, input or instruction named \"%.*s\"",
                       (int)(colon - text), text);
    uint32_t rank = hlo_value_shape(p->m, v)->rank;
    if (dim < 0 || dim >= rank)
        return err_set(e, ERR_INPUT, "%.*s has %u dims, no dim %lld", (int)(colon - text), text,
                       rank, (long long)dim);
    *out = class_dim(&p->classes, v, (uint32_t)dim);
    return 0;
}

/* Name of the parameter a value is, or of its instruction. */
static const char *value_name(const struct problem *p, hlo_value v)
{
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        if (p->roles.params[k].value == v)
            return p->roles.params[k].name;
    }
    return hlo_name(p->m, p->m->value_instruction[v]);
}

static uint32_t dim_number(const struct problem *p, dim_id d)
{
    return d - p->classes.dim_base[p->classes.dim_value[d]];
}

static void add_source(const struct problem *p, hlo_id id, struct str *out)
{
    const struct hlo_meta *meta = id == HLO_NONE ? NULL : hlo_meta(p->m, id);

    if (meta && meta->source_file[0])
        str_format(out, "  %s:%u", meta->source_file, meta->source_line);
    if (meta && meta->op_name[0])
        str_format(out, "  %s", meta->op_name);
}

static void add_step(const struct plan *plan, const struct why_step *s, char mark, struct str *out)
{
    const struct problem *p = plan->problem;
    hlo_value v = p->classes.dim_value[s->dim];
    struct str shape = {0};
    char how[64] = "";

    plan_write_shape(plan, v, &shape);
    if (s->through == HLO_NONE)
        snprintf(how, sizeof how, "%s", mark == '?' ? "asked" : "next step's value");
    else if (s->factor == UINT32_MAX)
        snprintf(how, sizeof how, "%s", hlo_op_info[hlo_at(p->m, s->through)->opcode].name);
    else {
        char factor[32];
        why_factor_name(&p->classes, s->through, s->factor, factor, sizeof factor);
        snprintf(how, sizeof how, "%.24s %s", hlo_op_info[hlo_at(p->m, s->through)->opcode].name,
                 factor);
    }
    str_format(out, "  %c %-44s dim %u  %-30s %-24s", mark, value_name(p, v), dim_number(p, s->dim),
               shape.text, how);
    add_source(p, s->through, out);
    str_add_char(out, '\n');
    str_release(&shape);
}

static void add_chain(const struct plan *plan, const struct why_step *steps, size_t count,
                      char last, struct str *out)
{
    for (size_t k = 0; k < count; k++)
        add_step(plan, &steps[k], k == 0 ? '?' : k + 1 == count ? last : ' ', out);
}

/* ---- one dim ---- */

static bool is_variable_dim(const void *context, dim_id d)
{
    const struct problem *p = context;
    hlo_value v = p->classes.dim_value[d];

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const struct hlo_param_role *r = &p->roles.params[k];
        if (r->value == v && (r->role == HLO_ROLE_VARIABLE || r->role == HLO_ROLE_INPUT))
            return true;
    }
    return false;
}

/* Dims of values that instruction `place` reads or makes. */
struct near {
    const struct problem *p;
    hlo_id place;
};

static bool is_near(const void *context, dim_id d)
{
    const struct near *n = context;
    const struct classes *c = &n->p->classes;
    uint32_t leaves = class_leaf_count(c, n->place);

    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        if (hlo_factors_value(c->m, n->place, leaf) == c->dim_value[d])
            return true;
    }
    return c->m->value_instruction[c->dim_value[d]] == n->place;
}

static int add_chain_to(const struct plan *plan, dim_id d, bool (*is_target)(const void *, dim_id),
                        const void *context, char last, struct str *out, struct err *e)
{
    struct why_step *steps;
    size_t count;
    int rc = why_chain(&plan->problem->classes, d, is_target, context, &steps, &count, e);

    if (rc)
        return rc;
    if (steps)
        add_chain(plan, steps, count, last, out);
    free(steps);
    return 0;
}

double explain_flip_ms(const struct plan *p, class_id k, label to)
{
    const struct classes *c = &p->problem->classes;
    label before = p->on[k];

    if (!label_is_admissible(&p->problem->labels, k, to))
        return -1;
    for (uint32_t n = 0; n < c->info[k].meet_count; n++) {
        if (p->on[c->meets[c->info[k].meets + n].other] & to)
            return -1;
    }
    const struct step_tables *t = &p->problem->step_tables;
    double was =
        t->overlap.is_bounded ? p->cost.step_ms : step_tables_cost_of_class(t, k, p->on).step_ms;
    p->on[k] = to;
    double is = t->overlap.is_bounded ? step_tables_cost(t, p->on).step_ms
                                      : step_tables_cost_of_class(t, k, p->on).step_ms;
    p->on[k] = before;
    return p->cost.step_ms + is - was;
}

static void add_flips(const struct plan *p, class_id k, struct str *out)
{
    char axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1], ms[UNITS_ROOM];

    for (uint32_t a = 0; a < p->problem->labels.count; a++) {
        char change[UNITS_ROOM];
        double flipped = (label)a == p->on[k] ? -1 : explain_flip_ms(p, k, (label)a);
        if (flipped < 0)
            continue;
        mesh_set_format(&p->problem->mesh, a, axes, sizeof axes);
        str_format(
            out, "  flip to %-8s %12s  %s ms if the rest stays\n", a ? axes : "whole",
            units_ms(ms, flipped),
            units_change(change, flipped - p->cost.step_ms, units_ms_decimals(p->cost.step_ms)));
    }
}

static void add_class_line(const struct plan *p, class_id k, struct str *out)
{
    const struct class_info *i = &p->problem->classes.info[k];

    str_format(out, "  its class has %u dims, %u of variables, %u of inputs; decided by %s\n\n",
               i->dim_count, i->var_dims, i->input_dims, plan_by_names[p->by[k]]);
}

/* What its split reduces: all-reduces that this class alone causes. */
static int add_collectives(const struct plan *p, class_id k, struct str *out, struct err *e)
{
    struct plan_collective *list;
    size_t count, of_class = 0;
    double bytes = 0, ms = 0;
    char b[UNITS_ROOM], t[UNITS_ROOM];
    int rc = plan_collectives(p, &list, &count, e);

    if (rc)
        return rc;
    for (size_t n = 0; n < count; n++) {
        if (list[n].cause != k)
            continue;
        of_class += list[n].count;
        bytes += list[n].bytes;
        ms += list[n].ms;
    }
    free(list);
    str_format(out, "\n  it costs %zu all-reduce%s, %s, %s a step\n", of_class,
               of_class == 1 ? "" : "s", units_bytes(b, bytes), units_ms(t, ms));
    return 0;
}

static int explain_split(const struct plan *plan, dim_id d, class_id k, struct str *out,
                         struct err *e)
{
    const struct problem *p = plan->problem;

    str_format(out, "%s dim %u is split over %u.\n", value_name(p, p->classes.dim_value[d]),
               dim_number(p, d), p->labels.parts[plan->on[k]]);
    add_class_line(plan, k, out);
    int rc = add_chain_to(plan, d, is_variable_dim, p, '1', out, e);
    if (rc)
        return rc;
    rc = add_collectives(plan, k, out, e);
    if (rc)
        return rc;
    add_flips(plan, k, out);
    return rc;
}

static int explain_never(const struct plan *plan, dim_id d, class_id k, struct str *out,
                         struct err *e)
{
    const struct problem *p = plan->problem;
    const struct class_info *i = &p->classes.info[k];
    struct near near = {p, i->place};

    str_format(out, "%s dim %u can never be split: its class %s %s (%s)",
               value_name(p, p->classes.dim_value[d]), dim_number(p, d),
               class_reason_text[i->reason], hlo_name(p->m, i->place),
               hlo_op_info[hlo_at(p->m, i->place)->opcode].name);
    add_source(p, i->place, out);
    str_add_char(out, '\n');
    add_class_line(plan, k, out);
    return add_chain_to(plan, d, is_near, &near, 'x', out, e);
}

/* The split class that keeps `k` whole, if one does. */
static const struct class_meet *excluded_by(const struct plan *p, class_id k)
{
    const struct classes *c = &p->problem->classes;

    for (uint32_t n = 0; n < c->info[k].meet_count; n++) {
        const struct class_meet *meet = &c->meets[c->info[k].meets + n];
        if (p->on[meet->other])
            return meet;
    }
    return NULL;
}

/* Another dim of the value that dim `d` belongs to is split. */
static bool is_beside_split(const void *context, dim_id d)
{
    const struct plan *plan = context;
    const struct classes *c = &plan->problem->classes;
    hlo_value v = c->dim_value[d];

    for (dim_id other = c->dim_base[v]; other < c->dim_base[v + 1]; other++) {
        if (other != d && c->class_of[other] != CLASS_NONE && plan->on[c->class_of[other]])
            return true;
    }
    return false;
}

/* The nearest value in which a dim of this class stands beside a split one, with the way there.
 * *found false: the two classes share no value, only an instruction. */
static int explain_neighbour(const struct plan *plan, dim_id d, class_id k, bool *found,
                             struct str *out, struct err *e)
{
    const struct problem *p = plan->problem;
    struct why_step *steps;
    size_t count;
    int rc = why_chain(&p->classes, d, is_beside_split, plan, &steps, &count, e);

    *found = false;
    if (rc || !steps)
        return rc;
    *found = true;
    hlo_value v = p->classes.dim_value[steps[count - 1].dim];
    hlo_id id = p->m->value_instruction[v];
    str_format(out, ": another dim of %s (%s) is split", value_name(p, v),
               hlo_op_info[hlo_at(p->m, id)->opcode].name);
    add_source(p, id, out);
    str_add_char(out, '\n');
    add_class_line(plan, k, out);
    add_chain(plan, steps, count, 'x', out);
    free(steps);
    return 0;
}

static int explain_whole(const struct plan *plan, dim_id d, class_id k, struct str *out,
                         struct err *e)
{
    const struct problem *p = plan->problem;
    const struct class_meet *meet = excluded_by(plan, k);

    str_format(out, "%s dim %u is whole", value_name(p, p->classes.dim_value[d]), dim_number(p, d));
    if (!meet) {
        str_add(out, label_is_splittable(&p->labels, k)
                         ? ".\n"
                         : ": no split of this mesh fits its sizes.\n");
        add_class_line(plan, k, out);
        add_flips(plan, k, out);
        return 0;
    }
    bool found;
    int rc = explain_neighbour(plan, d, k, &found, out, e);
    if (rc || found)
        return rc;
    str_format(out, ": it meets a split class at %s (%s)", hlo_name(p->m, meet->place),
               hlo_op_info[hlo_at(p->m, meet->place)->opcode].name);
    add_source(p, meet->place, out);
    str_add_char(out, '\n');
    add_class_line(plan, k, out);
    struct near near = {p, meet->place};
    return add_chain_to(plan, d, is_near, &near, 'x', out, e);
}

/* How the plan's ZeRO level stores a variable. */
static void add_storage(const struct plan *p, dim_id d, struct str *out)
{
    static const char *const stored[ZERO_LEVEL_MOST + 1] = {
        "", "optimizer state", "optimizer state and gradient",
        "optimizer state, gradient and the variable itself"};
    const struct problem *q = p->problem;
    char axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1], ms[UNITS_ROOM];

    for (uint32_t k = 0; k < q->roles.param_count && p->batching.zero; k++) {
        const struct hlo_param_role *r = &q->roles.params[k];
        if (r->value != q->classes.dim_value[d] || r->role != HLO_ROLE_VARIABLE)
            continue;
        struct storage_cost s = step_tables_storage(&q->step_tables, k, p->on);
        if (!s.over) {
            str_format(out,
                       "ZeRO level %u: stored as it is used, for its gradient is reduced over no "
                       "axis that could cut it.\n",
                       p->batching.zero);
            return;
        }
        mesh_set_format(&q->mesh, s.over, axes, sizeof axes);
        str_format(out, "ZeRO level %u: %s in pieces over %s, where its gradient is reduced",
                   p->batching.zero, stored[p->batching.zero], axes);
        double more = 0;
        uint32_t counts[2] = {0};
        for (uint32_t n = 0; n < s.count; n++) {
            more += s.items[n].count * s.items[n].ms;
            counts[s.items[n].kind == COLLECTIVE_ALL_GATHER] += s.items[n].count;
        }
        if (s.count)
            str_format(out,
                       "; %u reduce-scatters and %u all-gathers a step beyond its all-reduce, %s",
                       counts[0], counts[1], units_ms(ms, more));
        str_add(out, ".\n");
        return;
    }
}

int explain_dim(const struct plan *p, dim_id d, struct str *out, struct err *e)
{
    class_id k = p->problem->classes.class_of[d];
    int rc;

    if (k == CLASS_NONE) {
        str_format(
            out, "%s is made of constants and scalars alone: every use makes the part it needs.\n",
            value_name(p->problem, p->problem->classes.dim_value[d]));
        return 0;
    }
    if (p->problem->classes.info[k].reason != CLASS_ALLOWED)
        rc = explain_never(p, d, k, out, e);
    else
        rc = p->on[k] ? explain_split(p, d, k, out, e) : explain_whole(p, d, k, out, e);
    if (rc)
        return rc;
    add_storage(p, d, out);
    return rc;
}

/* ---- two dims ---- */

int explain_pair(const struct plan *p, dim_id a, dim_id b, struct str *out, struct err *e)
{
    const struct problem *q = p->problem;
    const struct classes *c = &q->classes;
    class_id ka = c->class_of[a], kb = c->class_of[b];

    if (ka == CLASS_NONE || kb == CLASS_NONE || c->info[ka].reason || c->info[kb].reason) {
        int rc = explain_dim(p, a, out, e);
        str_add_char(out, '\n');
        return rc ? rc : explain_dim(p, b, out, e);
    }
    if (ka == kb) {
        str_add(out, "Both are in one class: they can only be split together.\n\n");
        struct why_step *steps;
        size_t count;
        int rc = why_chain_to(c, a, b, &steps, &count, e);
        if (rc)
            return rc;
        if (steps)
            add_chain(p, steps, count, '1', out);
        free(steps);
        return 0;
    }
    if (c->dim_value[a] == c->dim_value[b]) {
        str_format(out, "They cannot both be split along one axis: both are dims of %s.\n",
                   value_name(q, c->dim_value[a]));
        return 0;
    }
    for (uint32_t n = 0; n < c->info[ka].meet_count; n++) {
        const struct class_meet *meet = &c->meets[c->info[ka].meets + n];
        if (meet->other != kb)
            continue;
        struct near near = {q, meet->place};
        str_format(out, "They cannot both be split along one axis: their classes meet at %s (%s)",
                   hlo_name(q->m, meet->place),
                   hlo_op_info[hlo_at(q->m, meet->place)->opcode].name);
        add_source(q, meet->place, out);
        str_add(out, "\n\n");
        int rc = add_chain_to(p, a, is_near, &near, 'x', out, e);
        str_add_char(out, '\n');
        return rc ? rc : add_chain_to(p, b, is_near, &near, 'x', out, e);
    }
    str_add(out, "Both can be split: their classes meet nowhere.\n");
    return 0;
}

/* ---- one instruction ---- */

static bool is_made_whole(const struct problem *q, hlo_id id)
{
    hlo_value first = q->m->leaf_base[id];

    return first < q->m->leaf_base[id + 1] && q->classes.is_free[first] &&
           hlo_at(q->m, id)->opcode != HLO_OP_PARAMETER;
}

int explain_instruction(const struct plan *p, hlo_id id, struct str *out, struct err *e)
{
    const struct problem *q = p->problem;
    struct instruction_cost cost = step_tables_instruction(&q->step_tables, id, p->on);
    struct plan_collective *list;
    size_t count;
    char a[UNITS_ROOM], b[UNITS_ROOM];

    str_format(out, "%s (%s)", hlo_name(q->m, id), hlo_op_info[hlo_at(q->m, id)->opcode].name);
    add_source(q, id, out);
    str_add(out, "\n  result    ");
    for (hlo_value v = q->m->leaf_base[id]; v < q->m->leaf_base[id + 1]; v++) {
        plan_write_shape(p, v, out);
        str_add_char(out, ' ');
    }
    str_format(out, "\n  compute   %12s  %.4g flops, %s moved, %g times a step\n",
               units_ms(a, cost.compute_ms), cost.flops, units_bytes(b, cost.bytes), cost.times);
    if (cost.adding_ms > 0)
        str_format(out, "  of it     %12s  adding up its gradient over %u micro-batches\n",
                   units_ms(a, cost.adding_ms), q->step_tables.batching.micro_batches);
    if (kernel_is_unknown(q->m, id)) {
        str_add(out, "  no kernel rule says how it splits and what it costs: it runs whole, its "
                     "time is that of its bytes;\n  a rule to start from, for --kernels FILE:\n\n");
        kernel_rule_write(q->m, id, out);
        str_add_char(out, '\n');
    }
    if (is_made_whole(q, id) && cost.compute_ms > 0)
        str_add(out, "  made whole on every device: made from keys and constants alone, so that no "
                     "split is lost;\n             each use cuts its part out of it, which sends "
                     "nothing\n");
    struct reduction reduced[TERM_CLASSES_MOST];
    uint32_t reductions = step_tables_reductions(&q->step_tables, id, p->on, reduced);
    if (!reductions) {
        str_add(out, "  no collective stands here\n");
        return 0;
    }
    if (q->classes.runs_whole[id])
        str_format(out, "  whole      on every device: %s (%s) %s\n", q->partitioner->name,
                   q->partitioner->version, partitioner_runs_whole(q->partitioner, q->m, id));
    for (uint32_t k = 0; k < reductions; k++) {
        str_format(out, "  %-10s %11s  ", collective_name(reduced[k].kind),
                   units_ms(a, reduced[k].ms * cost.times));
        collective_explain(&q->mesh, reduced[k].kind, reduced[k].over, reduced[k].bytes, out);
        str_add_char(out, '\n');
    }
    if (!cost.reduced_over)
        return 0;
    int rc = plan_collectives(p, &list, &count, e);
    if (rc)
        goto out;
    for (size_t k = 0; k < count; k++) {
        if (list[k].instruction != id || list[k].cause == CLASS_NONE)
            continue;
        struct near near = {q, id};
        class_id cause = list[k].cause;
        str_add(out, "  it combines what a split of this class leaves partial:\n");
        for (uint32_t n = 0; n < q->classes.info[cause].dim_count; n++) {
            dim_id d = q->classes.members[q->classes.info[cause].dims + n];
            if (!is_near(&near, d))
                continue;
            rc = add_chain_to(p, d, is_variable_dim, q, '1', out, e);
            break;
        }
        break;
        if (rc)
            goto out;
    }
out:
    free(list);
    return rc;
}
