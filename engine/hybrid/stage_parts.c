#include "engine/hybrid/stage_parts.h"

#include "engine/decide/classes.h"
#include "engine/hybrid/sections.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/extract.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static const char MEMORY_FOR[] = "for the modules of stages";

enum {
    KIND_OUTSIDE,   /* parameters, flows, other computations */
    KIND_LIGHT,     /* made wherever it is read */
    KIND_APART,     /* the same, but for passes, which read parts of it */
    KIND_OPERATION, /* of a pass */
    KIND_UPDATE,    /* reads gradients of one stage, or arrays of several */
    KIND_JOINT,     /* a scalar that reads those of several */
    KIND_TAIL,      /* reads what is joint */
};

struct maker {
    struct stage_parts *p;
    const struct hybrid *h;
    const struct hlo_module *m;
    const struct unrolled *u;
    struct err *e;
    uint32_t *section_stage; /* [sections] */
    bool *is_cut;            /* [instructions] NULL: what is cut is refused */
};

/* ---- operations ---- */

static uint32_t section_of(const struct hybrid *h, uint32_t position)
{
    uint32_t low = 0, high = h->sections.count;

    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (h->sections.position[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t section_of_op(const struct maker *k, uint32_t op)
{
    return section_of(k->h, k->h->order.position[op]);
}

static enum stage_pass pass_of(const struct maker *k, uint32_t op)
{
    bool back = k->u->ops[op].is_backward;

    switch (k->h->sections.pass[op]) {
    case SECTION_ONCE:
        return back ? STAGE_FINISH : STAGE_PREPARE;
    case SECTION_BACKWARD:
        return STAGE_BACKWARD;
    default:
        return STAGE_FORWARD;
    }
}

/* Callers come after what they call. */
static void find_owners(struct maker *k)
{
    const struct hlo_module *m = k->m;

    memset(k->p->owner, 0xff, m->computation_count * sizeof *k->p->owner);
    for (hlo_id id = m->count; id-- > 0;) {
        hlo_comp c = hlo_at(m, id)->computation;
        if (!hlo_extract_holds(m, id) || (c != m->entry && k->p->owner[c] == HLO_NONE))
            continue;
        for (uint32_t n = 0; n < hlo_at(m, id)->called_count; n++)
            k->p->owner[hlo_called(m, id, n)] = c == m->entry ? id : k->p->owner[c];
    }
}

/* When a loop runs of which some operations belong to pass `a`, some to `b`. */
static enum stage_pass pass_of_both(enum stage_pass a, enum stage_pass b)
{
    bool often = stage_pass_is_often(a) || stage_pass_is_often(b);
    bool back =
        a == STAGE_BACKWARD || a == STAGE_FINISH || b == STAGE_BACKWARD || b == STAGE_FINISH;

    return back ? (often ? STAGE_BACKWARD : STAGE_FINISH) : often ? STAGE_FORWARD : STAGE_PREPARE;
}

static int refuse_cut(const struct maker *k, uint32_t op, hlo_id owner, uint32_t stage)
{
    const struct hlo_instruction *i = hlo_at(k->m, owner);
    uint32_t other = k->p->low[owner];
    const char *why = i->opcode != HLO_OP_WHILE ? "which cannot be cut"
                      : hlo_trip_count(k->m, owner) < 0
                          ? "whose trips are not known, so it cannot be written out"
                          : "inside another one that was written out";

    return err_set(k->e, ERR_INFEASIBLE,
                   "%.120s, a %s, has operations of stages %u and %u (%.120s is one), %s: pins can "
                   "keep it in one stage (--keep)",
                   hlo_name(k->m, owner), hlo_op_info[i->opcode].name,
                   other < stage ? other : stage, other < stage ? stage : other,
                   hlo_name(k->m, k->u->ops[op].id), why);
}

static int place_inside(struct maker *k, uint32_t op, hlo_id owner, uint32_t stage)
{
    struct stage_parts *p = k->p;

    if (p->kind[owner] != KIND_OPERATION) {
        p->pass[owner] = (uint8_t)pass_of(k, op);
    } else if (p->low[owner] == stage) {
        p->pass[owner] = (uint8_t)pass_of_both((enum stage_pass)p->pass[owner], pass_of(k, op));
    } else if (k->is_cut) {
        k->is_cut[owner] =
            hlo_at(k->m, owner)->opcode == HLO_OP_WHILE && hlo_trip_count(k->m, owner) > 0;
        return 0;
    } else {
        return refuse_cut(k, op, owner, stage);
    }
    p->kind[owner] = KIND_OPERATION;
    p->low[owner] = p->high[owner] = stage;
    return 0;
}

static int place_operation(struct maker *k, uint32_t n)
{
    struct stage_parts *p = k->p;
    hlo_id id = k->u->ops[n].id;
    hlo_comp c = hlo_at(k->m, id)->computation;
    uint32_t stage = k->section_stage[section_of_op(k, n)];

    if (p->classes->is_free[k->m->leaf_base[id]])
        return 0; /* made of scalars, or of a key */
    if (c != k->m->entry || hlo_extract_holds(k->m, id))
        return place_inside(k, n, c == k->m->entry ? id : p->owner[c], stage);
    p->op_of[id] = n;
    p->kind[id] = KIND_OPERATION;
    p->pass[id] = (uint8_t)pass_of(k, n);
    p->low[id] = p->high[id] = stage;
    return 0;
}

static int place_operations(struct maker *k)
{
    int rc = 0;

    for (uint32_t n = 0; n < k->h->stages; n++)
        for (uint32_t s = k->h->stage[n].section; s < k->h->stage[n].end_section; s++)
            k->section_stage[s] = n;
    memset(k->p->op_of, 0xff, k->m->count * sizeof *k->p->op_of);
    find_owners(k);
    for (uint32_t n = 0; n < k->u->op_count && !rc; n++)
        rc = place_operation(k, n);
    return rc;
}

/* ---- the update ---- */

static bool reads_stages(const struct stage_parts *p, hlo_id id)
{
    return p->low[id] != UINT32_MAX;
}

static void spread_part(struct stage_parts *p, hlo_id id, hlo_id from)
{
    if (!reads_stages(p, from))
        return;
    if (!reads_stages(p, id) || p->high[from] > p->high[id])
        p->high[id] = p->high[from];
    if (p->low[from] < p->low[id])
        p->low[id] = p->low[from];
}

static void place_rest(struct maker *k, hlo_id id)
{
    struct stage_parts *p = k->p;
    const struct hlo_module *m = k->m;
    bool is_scalar = hlo_shape(m, id)->type != HLO_TUPLE && !hlo_shape(m, id)->rank;
    bool reads_joint = false, reads_tail = false;

    p->low[id] = p->high[id] = UINT32_MAX;
    for (int round = 0; round < 2; round++) { /* what is joint counts for scalars alone */
        for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
            hlo_id o = hlo_operand(m, id, n);
            for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++) {
                hlo_id from = m->value_instruction[hlo_extract_source(m, v)];
                bool joint = p->kind[from] == KIND_JOINT;
                reads_joint |= joint;
                reads_tail |= p->kind[from] == KIND_TAIL;
                if (joint == (round == 1))
                    spread_part(p, id, from);
            }
        }
        if (round == 0 && !(is_scalar && !reads_tail))
            break;
    }
    p->kind[id] = KIND_LIGHT;
    if (is_scalar && !reads_tail && reads_stages(p, id) && p->low[id] < p->high[id])
        p->kind[id] = KIND_JOINT;
    else if (reads_joint || reads_tail)
        p->kind[id] = KIND_TAIL;
    else if (k->h->problem->roles.phase[id] == HLO_PHASE_UPDATE && reads_stages(p, id))
        p->kind[id] = KIND_UPDATE;
}

static void place_update(struct maker *k)
{
    struct stage_parts *p = k->p;
    const struct hlo_module *m = k->m;
    const struct hlo_computation *c = &m->computations[m->entry];

    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        if (p->kind[id] == KIND_OPERATION)
            continue;
        p->low[id] = p->high[id] = UINT32_MAX;
        if (!hlo_is_flow(m, id) || hlo_extract_holds(m, id))
            place_rest(k, id);
    }
    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        for (uint32_t n = 0; p->kind[id] == KIND_JOINT && n < hlo_at(m, id)->operand_count; n++) {
            hlo_value v = hlo_extract_source(m, m->leaf_base[hlo_operand(m, id, n)]);
            hlo_id from = m->value_instruction[v];
            p->is_part[from] |= (p->kind[from] == KIND_UPDATE || p->kind[from] == KIND_LIGHT) &&
                                reads_stages(p, from);
        }
    }
}

static bool is_often(const struct stage_parts *p, hlo_id id)
{
    return p->kind[id] == KIND_OPERATION && stage_pass_is_often((enum stage_pass)p->pass[id]);
}

bool stage_parts_may_hold(const struct stage_parts *p, hlo_id id, uint32_t stage,
                          enum stage_pass pass)
{
    bool once = pass == STAGE_UPDATE || pass == STAGE_PART || pass == STAGE_JOINT;

    switch (p->kind[id]) {
    case KIND_LIGHT:
        return !p->is_part[id] || stage_parts_makes(p, id, stage, pass) || !once;
    case KIND_APART:
        return !stage_pass_is_often(pass);
    case KIND_OPERATION:
        if (pass == STAGE_PREPARE && p->is_data[id] && is_often(p, id))
            return true;
        if (p->low[id] != stage)
            return false;
        return p->pass[id] == pass ||
               (pass == STAGE_BACKWARD && p->pass[id] == STAGE_FORWARD &&
                p->h->stage[stage].point.recompute && !p->is_kept_input[p->m->leaf_base[id]]);
    case KIND_UPDATE:
        return p->is_part[id] ? stage_parts_makes(p, id, stage, pass)
                              : pass == STAGE_UPDATE || pass == STAGE_PART;
    case KIND_JOINT:
        return pass == STAGE_JOINT;
    case KIND_TAIL:
        return pass == STAGE_UPDATE;
    default:
        return false;
    }
}

bool stage_parts_makes(const struct stage_parts *p, hlo_id id, uint32_t stage, enum stage_pass pass)
{
    uint32_t home = reads_stages(p, id) ? p->low[id] : 0;

    switch (p->kind[id]) {
    case KIND_OPERATION:
        return p->pass[id] == pass && home == stage;
    case KIND_JOINT:
        return pass == STAGE_JOINT && stage == 0;
    case KIND_APART:
        return pass == STAGE_PREPARE && home == stage;
    case KIND_LIGHT:
    case KIND_UPDATE:
        return pass == (p->is_part[id] ? STAGE_PART : STAGE_UPDATE) && home == stage;
    case KIND_TAIL:
        return pass == STAGE_UPDATE && home == stage;
    default:
        return false;
    }
}

/* ---- micro-batches ---- */

void stage_parts_set_apart(struct stage_parts *p, hlo_value v, uint64_t dim, uint32_t stage)
{
    hlo_id id = p->m->value_instruction[v];

    p->apart[v] = dim;
    if (p->kind[id] == KIND_APART)
        return;
    p->kind[id] = KIND_APART;
    p->low[id] = p->high[id] = stage;
}

bool stage_parts_is_cut(const struct stage_parts *p, hlo_value v, uint32_t dim)
{
    if (p->apart[v])
        return p->apart[v] >> dim & 1;

    class_id k = p->classes->class_of[class_dim(p->classes, v, dim)];

    return k != CLASS_NONE && k == p->h->order.steps.batch;
}

static bool has_batch(const struct stage_parts *p, hlo_value v)
{
    bool has = false;

    for (uint32_t d = 0; d < hlo_value_shape(p->m, v)->rank && !has; d++)
        has = stage_parts_is_cut(p, v, d);
    return has;
}

/* The sum of its values over the micro-batches is its value for the batch: it adds up samples, or
 * is linear in such sums. */
static bool is_sum(const struct maker *k, const uint8_t *sum, hlo_id id)
{
    const struct classes *c = k->p->classes;
    const struct hlo_module *m = k->m;
    uint32_t leaf = 0;
    bool any = false;

    for (uint32_t f = c->factor_base[id]; f < c->factor_base[id + 1]; f++)
        if (c->factors[f].class == k->u->batch)
            return (c->factors[f].kind == HLO_FACTOR_REDUCE) &&
                   c->factors[f].combiner == HLO_COMBINE_ADD;
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id o = hlo_operand(m, id, n);
        for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++, leaf++) {
            hlo_value from = hlo_extract_source(m, v);
            enum hlo_partial how = hlo_passes_partial(m, id, leaf, HLO_COMBINE_ADD);
            if (!sum[from]) {
                if (how == HLO_PARTIAL_TOGETHER && !c->is_free[from])
                    return false;
                continue;
            }
            if (how == HLO_PARTIAL_STOPS)
                return false;
            any = true;
        }
    }
    return any;
}

static bool reads_sum(const struct hlo_module *m, const uint8_t *sum, hlo_id id)
{
    bool reads = false;

    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id o = hlo_operand(m, id, n);
        for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++)
            reads |= sum[hlo_extract_source(m, v)];
    }
    return reads;
}

static int refuse_reader(const struct maker *k, hlo_id id)
{
    return err_set(k->e, ERR_INFEASIBLE,
                   "%.120s reads a statistic of the whole batch: micro-batches would have one "
                   "each; a plan of one micro-batch can be exported",
                   hlo_name(k->m, id));
}

static int refuse_statistic(const struct maker *k, hlo_id id)
{
    return err_set(k->e, ERR_INFEASIBLE,
                   "%.120s is a statistic of the whole batch that is no sum: micro-batches cannot "
                   "make it; a plan of one micro-batch can be exported",
                   hlo_name(k->m, id));
}

static bool any_batch(const struct stage_parts *p, hlo_id id)
{
    bool batch = false;

    for (hlo_value v = p->m->leaf_base[id]; v < p->m->leaf_base[id + 1]; v++)
        batch |= has_batch(p, v);
    return batch;
}

/* Its result has no dim of the batch any more, and is no sum over it. */
static bool ends_batch(const struct maker *k, hlo_id id)
{
    const struct classes *c = k->p->classes;

    for (uint32_t f = c->factor_base[id]; f < c->factor_base[id + 1]; f++)
        if (c->factors[f].class == k->u->batch)
            return c->factors[f].kind != HLO_FACTOR_REDUCE ||
                   c->factors[f].combiner != HLO_COMBINE_ADD;
    return false;
}

/* Inside of a loop, a branch or a fusion: sums may be added to what is carried, which is a sum too,
 * and scaled; nothing else may read them. */
static int check_inside(const struct maker *k, hlo_id id, uint8_t *sum)
{
    const struct hlo_module *m = k->m;
    bool batch = any_batch(k->p, id), reads = reads_sum(m, sum, id);
    uint32_t leaf = 0;

    if (hlo_is_flow(m, id) || hlo_extract_holds(m, id))
        return 0;
    if (!batch && ends_batch(k, id))
        return refuse_statistic(k, id);
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count && reads; n++) {
        hlo_id o = hlo_operand(m, id, n);
        for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++, leaf++)
            if (sum[hlo_extract_source(m, v)] &&
                (batch || hlo_passes_partial(m, id, leaf, HLO_COMBINE_ADD) == HLO_PARTIAL_STOPS))
                return refuse_reader(k, id);
    }
    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
        sum[v] = !batch && (reads || is_sum(k, sum, id));
    return 0;
}

/* What a loop, a branch or a fusion gives is a sum where its end is one. */
static void hand_out_sums(const struct maker *k, hlo_id id, uint8_t *sum)
{
    const struct hlo_module *m = k->m;
    uint32_t bodies = hlo_at(m, id)->opcode == HLO_OP_WHILE ? 1 : hlo_at(m, id)->called_count;

    for (uint32_t n = 0; n < bodies; n++) {
        hlo_id root = m->computations[hlo_called(m, id, n)].root;
        for (hlo_value v = m->leaf_base[root]; v < m->leaf_base[root + 1]; v++)
            sum[m->leaf_base[id] + hlo_value_leaf(m, v)] |= sum[hlo_extract_source(m, v)];
    }
}

static int check_entry(const struct maker *k, hlo_id id, uint8_t *sum)
{
    const struct stage_parts *p = k->p;
    const struct hlo_module *m = k->m;
    bool often = is_often(p, id), reads = reads_sum(m, sum, id), batch = any_batch(p, id);
    uint32_t op = p->op_of[id];
    bool varies = op == UINT32_MAX || k->u->values[k->u->ops[op].values].is_varying;

    if (!often && !(p->kind[id] == KIND_LIGHT && reads))
        return 0;
    bool adds = !batch && is_sum(k, sum, id);
    if (often && reads && !adds)
        return refuse_reader(k, id);
    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        if (!hlo_extract_holds(m, id))
            sum[v] = adds;
        if (!adds && !sum[v] && !batch && varies && often && hlo_at(m, id)->user_count)
            return refuse_statistic(k, id);
    }
    return 0;
}

/* A value of a pass in which no dim is the batch and that differs from one micro-batch to the next
 * must be such a sum, and nothing of the passes but further sums may read it. Callees come before
 * what calls them. */
static int check_sums(struct maker *k)
{
    const struct hlo_module *m = k->m;
    uint8_t *sum = mem_try(m->value_count, 1);
    int rc = sum ? 0 : err_no_memory(k->e, MEMORY_FOR);

    for (hlo_id id = 0; id < m->count && !rc; id++) {
        hlo_comp c = hlo_at(m, id)->computation;
        hlo_id owner = c == m->entry ? id : k->p->owner[c];
        if (owner == HLO_NONE)
            continue;
        if (hlo_extract_holds(m, id) && is_often(k->p, owner))
            hand_out_sums(k, id, sum);
        if (c == m->entry)
            rc = check_entry(k, id, sum);
        else if (is_often(k->p, owner))
            rc = check_inside(k, id, sum);
    }
    free(sum);
    return rc;
}

/* A stage that recomputes keeps what one of its sections hands on to another. */
static void find_kept_inputs(struct maker *k)
{
    for (uint32_t n = 0; n < k->u->op_count; n++) {
        const struct unroll_op *op = &k->u->ops[n];
        for (uint32_t v = 0; v < op->value_count && !op->is_backward; v++) {
            uint32_t value = op->values + v, made = section_of_op(k, n);
            bool kept = false;
            for (uint32_t u = k->h->order.user_base[value];
                 u < k->h->order.user_base[value + 1] && !kept; u++)
                kept = section_of_op(k, k->h->order.users[u]) > made;
            k->p->is_kept_input[k->m->leaf_base[op->id]] |= kept;
        }
    }
}

static bool is_data(const struct maker *k, hlo_id id)
{
    const struct hlo_module *m = k->m;
    bool data = k->p->kind[id] == KIND_LIGHT || is_often(k->p, id);

    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count && data; n++) {
        hlo_id o = hlo_operand(m, id, n);
        for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++)
            data &= k->p->is_data[m->value_instruction[hlo_extract_source(m, v)]];
    }
    return data;
}

/* Statistics of the data of the whole batch are made before the passes. */
static void place_statistics(struct maker *k)
{
    struct stage_parts *p = k->p;
    const struct hlo_module *m = k->m;
    const struct hlo_computation *c = &m->computations[m->entry];
    const struct hlo_roles *roles = &k->h->problem->roles;

    for (uint32_t n = 0; n < roles->param_count; n++)
        p->is_data[m->value_instruction[roles->params[n].value]] |=
            roles->params[n].role == HLO_ROLE_INPUT;
    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        bool batch = false;
        if (hlo_at(m, id)->opcode != HLO_OP_PARAMETER)
            p->is_data[id] = is_data(k, id);
        for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
            batch |= has_batch(p, v);
        if (p->is_data[id] && p->kind[id] == KIND_OPERATION && !batch)
            p->pass[id] = STAGE_PREPARE;
    }
}

/* The bits that one instruction draws for the whole batch are drawn before the passes, from a key
 * that is there: a pass would draw the same for every micro-batch. */
static int place_draws(struct maker *k)
{
    struct stage_parts *p = k->p;
    const struct hlo_module *m = k->m;

    for (hlo_id id = 0; id < m->count; id++) {
        hlo_comp c = hlo_at(m, id)->computation;
        hlo_id owner = c == m->entry ? id : p->owner[c];
        bool batch = false, is_there = c == m->entry;
        if (hlo_at(m, id)->opcode != HLO_OP_RNG_BIT_GENERATOR || owner == HLO_NONE ||
            !is_often(p, owner))
            continue;
        for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
            batch |= has_batch(p, v);
        for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
            hlo_value v = hlo_extract_source(m, m->leaf_base[hlo_operand(m, id, n)]);
            is_there &= !is_often(p, m->value_instruction[v]);
        }
        if (batch && !is_there)
            return err_set(k->e, ERR_INFEASIBLE,
                           "%.120s draws random bits for the whole batch %s: micro-batches cannot "
                           "share them; a plan of one micro-batch can be exported",
                           hlo_name(m, id),
                           c == m->entry ? "from a key that a pass makes" : "inside a loop");
        if (batch)
            p->pass[id] = STAGE_PREPARE;
    }
    return 0;
}

/* ---- the whole ---- */

uint32_t stage_parts_argument(const struct stage_parts *p, hlo_value v)
{
    const struct hlo_computation *entry = &p->m->computations[p->m->entry];
    hlo_id id = p->m->value_instruction[v];
    uint32_t leaf = hlo_value_leaf(p->m, v);

    if (hlo_at(p->m, id)->opcode != HLO_OP_PARAMETER ||
        hlo_at(p->m, id)->computation != p->m->entry)
        return HLO_NONE;
    for (uint32_t n = 0; n < hlo_at(p->m, id)->number && n < entry->param_count; n++)
        leaf += hlo_shape(p->m, entry->params[n])->leaf_count;
    return leaf;
}

static int check_batch(const struct maker *k)
{
    if (k->h->options.batch != k->u->batch_size)
        return err_set(k->e, ERR_INFEASIBLE,
                       "the plan is for a batch of %u, the module has %lld: a module of that size "
                       "can be exported",
                       k->h->options.batch, (long long)k->u->batch_size);
    return 0;
}

static int open_parts(struct maker *k)
{
    const struct hybrid *h = k->h;
    const struct hlo_module *m = k->m;
    struct stage_parts *p = k->p;

    *p = (struct stage_parts){.h = h, .m = m, .classes = &h->problem->classes};
    p->kind = mem_try(m->count, 1);
    p->pass = mem_try(m->count, 1);
    p->low = mem_try(m->count, sizeof *p->low);
    p->high = mem_try(m->count, sizeof *p->high);
    p->op_of = mem_try(m->count, sizeof *p->op_of);
    p->owner = mem_try(m->computation_count, sizeof *p->owner);
    p->is_part = mem_try(m->count, 1);
    p->is_data = mem_try(m->count, 1);
    p->is_kept_input = mem_try(m->value_count, 1);
    p->use = mem_try(m->value_count, 1);
    p->apart = mem_try(m->value_count, sizeof *p->apart);
    k->section_stage = mem_try(h->sections.count, sizeof *k->section_stage);
    return p->kind && p->pass && p->low && p->high && p->op_of && p->owner && p->is_part &&
                   p->is_data && p->is_kept_input && p->use && p->apart && k->section_stage
               ? 0
               : err_no_memory(k->e, MEMORY_FOR);
}

int stage_parts_new(const struct hybrid *h, struct stage_parts *out, struct err *e)
{
    struct maker k = {.p = out, .h = h, .m = h->problem->m, .u = &h->order.steps, .e = e};
    int rc = open_parts(&k);

    rc = rc ? rc : check_batch(&k);
    rc = rc ? rc : place_operations(&k);
    if (!rc) {
        place_update(&k);
        find_kept_inputs(&k);
        if (h->micro_batches > 1) {
            place_statistics(&k);
            rc = place_draws(&k);
            rc = rc ? rc : check_sums(&k);
        }
    }
    free(k.section_stage);
    if (rc)
        stage_parts_release(out);
    return rc;
}

int stage_parts_cut_loops(const struct hybrid *h, bool *is_cut, uint32_t *count, struct err *e)
{
    struct stage_parts parts;
    struct maker k = {
        .p = &parts, .h = h, .m = h->problem->m, .u = &h->order.steps, .e = e, .is_cut = is_cut};
    int rc = open_parts(&k);

    rc = rc ? rc : place_operations(&k);
    *count = 0;
    for (hlo_id id = 0; id < k.m->count && !rc; id++)
        *count += is_cut[id];
    free(k.section_stage);
    stage_parts_release(&parts);
    return rc;
}

void stage_parts_release(struct stage_parts *p)
{
    free(p->kind);
    free(p->pass);
    free(p->low);
    free(p->high);
    free(p->op_of);
    free(p->owner);
    free(p->is_part);
    free(p->is_data);
    free(p->is_kept_input);
    free(p->use);
    free(p->apart);
    *p = (struct stage_parts){0};
}
