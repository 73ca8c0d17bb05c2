#include "engine/decide/classes.h"

#include "engine/decide/partitioner.h"
#include "hlo/module/flows.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"
#include "hlo/support/union_find.h"

#include <string.h>

const char *const class_reason_text[CLASS_REASON_COUNT] = {
#define X(id, text) text,
    CLASS_REASONS(X)
#undef X
};

/* What is kept while building. Dims are joined by union-find with path halving; the root is the
 * smallest dim, so that class numbers follow the order of the module. */
struct build {
    struct classes *c;
    const struct hlo_roles *roles;
    struct err *e;
    dim_id *parent;
    uint8_t *reason; /* [dim_count] why this dim cannot be split; CLASS_ALLOWED */
    hlo_id *place;   /* [dim_count] */
    size_t factor_room, leaf_dims_room, tie_room, place_room;
    size_t factor_count, leaf_dims_count;
};

static const char MEMORY_FOR[] = "for the classes of this module";

static void join_dims(struct build *b, dim_id x, dim_id y)
{
    x = union_root(b->parent, x);
    y = union_root(b->parent, y);
    if (x < y)
        b->parent[y] = x;
    else
        b->parent[x] = y;
}

static void forbid_dim(struct build *b, dim_id d, enum class_reason reason, hlo_id place)
{
    if (b->reason[d] == CLASS_ALLOWED) {
        b->reason[d] = (uint8_t)reason;
        b->place[d] = place;
    }
}

/* ---- values ---- */

static int number_dims(struct build *b)
{
    struct classes *c = b->c;
    uint64_t total = 0;

    c->dim_base = mem_try((size_t)c->m->value_count + 1, sizeof *c->dim_base);
    c->is_free = mem_try(c->m->value_count, sizeof *c->is_free);
    c->is_made_whole = mem_try(c->m->value_count, sizeof *c->is_made_whole);
    if (!c->dim_base || !c->is_free || !c->is_made_whole)
        return err_no_memory(b->e, MEMORY_FOR);
    int rc = hlo_free_values(c->m, c->is_free, b->e);
    if (rc)
        return rc;
    rc = hlo_whole_values(c->m, c->is_free, c->is_made_whole, b->e);
    if (rc)
        return rc;
    for (hlo_value v = 0; v < c->m->value_count; v++) {
        c->dim_base[v] = (uint32_t)total;
        total += hlo_value_shape(c->m, v)->rank;
        if (total > INT32_MAX)
            return err_set(b->e, ERR_LIMIT, "more than %d dims in all", INT32_MAX);
    }
    c->dim_base[c->m->value_count] = c->dim_count = (uint32_t)total;
    c->dim_value = mem_try(total, sizeof *c->dim_value);
    c->class_of = mem_try(total, sizeof *c->class_of);
    b->parent = mem_try(total, sizeof *b->parent);
    b->reason = mem_try(total, 1);
    b->place = mem_try(total, sizeof *b->place);
    if (!c->dim_value || !c->class_of || !b->parent || !b->reason || !b->place)
        return err_no_memory(b->e, MEMORY_FOR);
    for (hlo_value v = 0; v < c->m->value_count; v++) {
        for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++) {
            c->dim_value[d] = v;
            b->parent[d] = d;
        }
    }
    return 0;
}

/* ---- factors and ties ---- */

static int keep_factor(struct build *b, const struct hlo_factor *f, uint32_t leaves)
{
    struct classes *c = b->c;

    if (!mem_grow(&c->factors, &b->factor_room, b->factor_count, 1) ||
        !mem_grow(&c->leaf_dims, &b->leaf_dims_room, b->leaf_dims_count, leaves))
        return err_no_memory(b->e, MEMORY_FOR);
    c->factors[b->factor_count++] = (struct class_factor){
        .class = CLASS_NONE,
        .size = f->size,
        .kind = f->kind,
        .combiner = f->combiner,
        .is_masked = f->is_masked,
        .dims = (uint32_t)b->leaf_dims_count,
    };
    if (leaves)
        memcpy(c->leaf_dims + b->leaf_dims_count, f->dims, leaves);
    b->leaf_dims_count += leaves;
    return 0;
}

/* The dim of leaf `leaf` that a factor binds; CLASS_NONE when it binds none or a free value's. */
static dim_id bound_dim(const struct classes *c, hlo_id id, const int8_t *dims, uint32_t leaf)
{
    if (dims[leaf] < 0)
        return CLASS_NONE;
    hlo_value v = hlo_factors_value(c->m, id, leaf);
    return c->is_free[v] ? CLASS_NONE : class_dim(c, v, (uint32_t)dims[leaf]);
}

static bool is_off(const struct build *b, const struct hlo_factor *f)
{
    return f->kind == HLO_FACTOR_REDUCE && b->c->options.reduce_off[f->combiner];
}

/* Joins what one factor binds and marks those dims as bound at this instruction. */
static void tie_factor(struct build *b, hlo_id id, const struct hlo_factors *list,
                       const struct hlo_factor *f, uint8_t *bound)
{
    const struct classes *c = b->c;
    dim_id first = CLASS_NONE;

    for (uint32_t leaf = 0; leaf < list->leaf_count; leaf++) {
        dim_id d = bound_dim(c, id, f->dims, leaf);
        if (d == CLASS_NONE)
            continue;
        bound[leaf * HLO_RANK_MAX + (size_t)f->dims[leaf]] = 1;
        if (is_off(b, f))
            forbid_dim(b, d, CLASS_REDUCTION_OFF, id);
        if (f->size < 2)
            forbid_dim(b, d, CLASS_SIZE, id);
        if (first == CLASS_NONE)
            first = d;
        else
            join_dims(b, first, d);
    }
}

static void block_rest(struct build *b, hlo_id id, uint32_t leaves, const uint8_t *bound)
{
    const struct classes *c = b->c;

    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        hlo_value v = hlo_factors_value(c->m, id, leaf);
        if (c->is_free[v])
            continue;
        const struct hlo_shape *s = hlo_value_shape(c->m, v);
        for (uint32_t d = 0; d < s->rank; d++) {
            if (!bound[leaf * HLO_RANK_MAX + d])
                forbid_dim(b, class_dim(c, v, d), s->dims[d] < 2 ? CLASS_SIZE : CLASS_BLOCKED, id);
        }
    }
}

static bool results_are_free(const struct classes *c, hlo_id id)
{
    hlo_value v = c->m->leaf_base[id];

    return v < c->m->leaf_base[id + 1] && c->is_free[v];
}

static int tie_instruction(struct build *b, hlo_id id, struct hlo_factors *list, uint8_t **bound,
                           size_t *room)
{
    int rc = hlo_factors_of(b->c->m, id, list, b->e);
    size_t need = (size_t)list->leaf_count * HLO_RANK_MAX;

    if (rc)
        return rc;
    if (!mem_grow(bound, room, 0, need + 1))
        return err_no_memory(b->e, MEMORY_FOR);
    memset(*bound, 0, need);
    for (uint32_t k = 0; k < list->count; k++) {
        const struct hlo_factor *f = &list->items[k];
        if (f->kind == HLO_FACTOR_PERMUTE)
            continue;
        tie_factor(b, id, list, f, *bound);
        rc = keep_factor(b, f, list->leaf_count);
        if (rc)
            return rc;
    }
    block_rest(b, id, list->leaf_count, *bound);
    return 0;
}

static int add_tie(struct build *b, dim_id x, dim_id y, hlo_id place)
{
    struct classes *c = b->c;

    if (!mem_grow(&c->ties, &b->tie_room, c->tie_count, 2) ||
        !mem_grow(&c->tie_place, &b->place_room, c->tie_count, 2))
        return err_no_memory(b->e, MEMORY_FOR);
    c->ties[c->tie_count][0] = x;
    c->ties[c->tie_count][1] = y;
    c->tie_place[c->tie_count++] = place;
    c->ties[c->tie_count][0] = y;
    c->ties[c->tie_count][1] = x;
    c->tie_place[c->tie_count++] = place;
    join_dims(b, x, y);
    return 0;
}

static int tie_values(struct build *b, hlo_value v, hlo_value w, hlo_id place)
{
    const struct classes *c = b->c;
    uint32_t rank = hlo_value_shape(c->m, v)->rank;
    int rc = 0;

    if (v == w || c->is_free[v] || c->is_free[w] || rank != hlo_value_shape(c->m, w)->rank)
        return 0;
    for (uint32_t d = 0; d < rank; d++) {
        rc = add_tie(b, class_dim(c, v, d), class_dim(c, w, d), place);
        if (rc)
            return rc;
    }
    return rc;
}

static int tie_flows(struct build *b, hlo_id id, struct hlo_flows *flows)
{
    int rc = hlo_flows_of(b->c->m, id, flows, b->e);

    if (rc)
        return rc;
    for (size_t k = 0; k < flows->count; k++) {
        rc = tie_values(b, flows->items[k].from, flows->items[k].to, id);
        if (rc)
            return rc;
    }
    return rc;
}

/* The next step reads what this one wrote: parameter and new value are split alike. */
static int tie_roles(struct build *b)
{
    int rc = 0;

    for (uint32_t k = 0; b->roles && k < b->roles->param_count; k++) {
        const struct hlo_param_role *p = &b->roles->params[k];
        if (p->updated != HLO_NONE)
            rc = tie_values(b, p->value, p->updated, HLO_NONE);
        if (rc)
            return rc;
    }
    return rc;
}

static int tie_all(struct build *b)
{
    struct classes *c = b->c;
    struct hlo_factors list = {0};
    struct hlo_flows flows = {0};
    uint8_t *bound = NULL;
    size_t room = 0;
    int rc = 0;

    c->factor_base = mem_try((size_t)c->m->count + 1, sizeof *c->factor_base);
    c->leaf_base = mem_try((size_t)c->m->count + 1, sizeof *c->leaf_base);
    if (!c->factor_base || !c->leaf_base)
        return err_no_memory(b->e, MEMORY_FOR);
    for (hlo_id id = 0; id < c->m->count; id++) {
        uint32_t leaves = 0;
        c->factor_base[id] = (uint32_t)b->factor_count;
        if (hlo_is_flow(c->m, id)) {
            rc = tie_flows(b, id, &flows);
        } else if (!results_are_free(c, id)) {
            rc = tie_instruction(b, id, &list, &bound, &room);
            leaves = list.leaf_count;
        }
        c->leaf_base[id + 1] = c->leaf_base[id] + leaves;
        if (rc)
            goto out;
    }
out:
    c->factor_base[c->m->count] = (uint32_t)b->factor_count;
    free(bound);
    hlo_factors_release(&list);
    hlo_flows_release(&flows);
    return rc ? rc : tie_roles(b);
}

/* Under rules paper no dim of a variable that a convolution reads as its kernel is split. */
static void forbid_kernels(struct build *b)
{
    const struct hlo_module *m = b->c->m;

    if (!b->c->options.paper_rules || !b->roles)
        return;
    for (uint32_t k = 0; k < b->roles->param_count; k++) {
        const struct hlo_param_role *p = &b->roles->params[k];
        hlo_id id = m->value_instruction[p->value];
        if (p->role != HLO_ROLE_VARIABLE)
            continue;
        for (uint32_t u = 0; u < hlo_at(m, id)->user_count; u++) {
            hlo_id user = hlo_user(m, id, u);
            if (!hlo_is_convolution(m, user) || hlo_operand(m, user, 1) != id)
                continue;
            for (dim_id d = b->c->dim_base[p->value]; d < b->c->dim_base[p->value + 1]; d++)
                forbid_dim(b, d, CLASS_PAPER_KERNEL, user);
        }
    }
}

/* What the partitioner runs whole gathers its operands, each value for the first such use. */
static int mark_gathers(struct build *b)
{
    struct classes *c = b->c;
    bool *is_known = mem_try((size_t)c->m->value_count + 1, sizeof *is_known);

    c->runs_whole = mem_try((size_t)c->m->count + 1, sizeof *c->runs_whole);
    c->is_gathered = mem_try((size_t)c->leaf_base[c->m->count] + 1, sizeof *c->is_gathered);
    if (!is_known || !c->runs_whole || !c->is_gathered) {
        free(is_known);
        return err_no_memory(b->e, MEMORY_FOR);
    }
    for (hlo_id id = 0; id < c->m->count; id++) {
        uint32_t results = c->m->leaf_base[id + 1] - c->m->leaf_base[id];
        c->runs_whole[id] =
            class_leaf_count(c, id) && partitioner_runs_whole(c->options.partitioner, c->m, id);
        for (uint32_t leaf = 0; c->runs_whole[id] && leaf + results < class_leaf_count(c, id);
             leaf++) {
            hlo_value v = hlo_factors_value(c->m, id, leaf);
            c->is_gathered[c->leaf_base[id] + leaf] = !c->is_free[v] && !is_known[v];
            is_known[v] = true;
        }
    }
    free(is_known);
    return 0;
}

/* ---- classes ---- */

static int number_classes(struct build *b)
{
    struct classes *c = b->c;

    for (dim_id d = 0; d < c->dim_count; d++) {
        if (c->is_free[c->dim_value[d]])
            c->class_of[d] = CLASS_NONE;
        else
            c->class_of[d] = b->parent[d] == d ? c->count++ : c->class_of[union_root(b->parent, d)];
    }
    c->info = mem_try(c->count, sizeof *c->info);
    c->members = mem_try(c->dim_count, sizeof *c->members);
    if (!c->info || !c->members)
        return err_no_memory(b->e, MEMORY_FOR);
    for (class_id k = 0; k < c->count; k++)
        c->info[k] = (struct class_info){.place = HLO_NONE, .least = INT64_MAX};
    for (dim_id d = 0; d < c->dim_count; d++) {
        if (c->class_of[d] != CLASS_NONE)
            c->info[c->class_of[d]].dim_count++;
    }
    uint32_t at = 0;
    for (class_id k = 0; k < c->count; k++) {
        c->info[k].dims = at;
        at += c->info[k].dim_count;
        c->info[k].dim_count = 0;
    }
    for (dim_id d = 0; d < c->dim_count; d++) {
        if (c->class_of[d] != CLASS_NONE) {
            struct class_info *info = &c->info[c->class_of[d]];
            c->members[info->dims + info->dim_count++] = d;
        }
    }
    return 0;
}

static void bound_size(struct class_info *info, int64_t size)
{
    if (size < info->least)
        info->least = size;
    info->divisor = hlo_gcd(info->divisor, size);
}

static void forbid_class(struct classes *c, class_id k, enum class_reason reason, hlo_id place)
{
    if (c->info[k].reason == CLASS_ALLOWED) {
        c->info[k].reason = (uint8_t)reason;
        c->info[k].place = place;
    }
}

/* Sizes, reasons of members, two dims of one value in one class. */
static void judge_members(struct build *b)
{
    struct classes *c = b->c;

    for (dim_id d = 0; d < c->dim_count; d++) {
        class_id k = c->class_of[d];
        if (k == CLASS_NONE)
            continue;
        hlo_value v = c->dim_value[d];
        bound_size(&c->info[k], hlo_value_shape(c->m, v)->dims[d - c->dim_base[v]]);
        if (b->reason[d] != CLASS_ALLOWED)
            forbid_class(c, k, b->reason[d], b->place[d]);
        for (dim_id other = c->dim_base[v]; other < d; other++) {
            if (c->class_of[other] == k)
                forbid_class(c, k, CLASS_TWICE, c->m->value_instruction[v]);
        }
    }
}

/* Class of each kept factor; two factors of one instruction in one class. */
static void judge_factors(struct build *b)
{
    struct classes *c = b->c;

    for (hlo_id id = 0; id < c->m->count; id++) {
        uint32_t leaves = class_leaf_count(c, id);
        for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1]; k++) {
            struct class_factor *f = &c->factors[k];
            for (uint32_t leaf = 0; leaf < leaves && f->class == CLASS_NONE; leaf++) {
                dim_id d = bound_dim(c, id, c->leaf_dims + f->dims, leaf);
                if (d != CLASS_NONE)
                    f->class = c->class_of[d];
            }
            if (f->class == CLASS_NONE)
                continue;
            bound_size(&c->info[f->class], f->size);
            for (uint32_t other = c->factor_base[id]; other < k; other++) {
                if (c->factors[other].class == f->class)
                    forbid_class(c, f->class, CLASS_TWO_LOOPS, id);
            }
        }
    }
}

/* Group counts must be divided evenly by the parts; hlo_factors_of says which factors those are. */
static int judge_groups(struct build *b)
{
    struct classes *c = b->c;
    struct hlo_factors list = {0};
    int rc = 0;

    for (hlo_id id = 0; id < c->m->count && !rc; id++) {
        if (!hlo_is_convolution(c->m, id) || c->factor_base[id] == c->factor_base[id + 1])
            continue;
        rc = hlo_factors_of(c->m, id, &list, b->e);
        uint32_t kept = c->factor_base[id];
        for (uint32_t k = 0; k < list.count && !rc; k++) {
            if (list.items[k].kind == HLO_FACTOR_PERMUTE)
                continue;
            class_id class = c->factors[kept++].class;
            if (list.items[k].must_divide && class != CLASS_NONE)
                c->info[class].group_divisor =
                    hlo_gcd(c->info[class].group_divisor, list.items[k].size);
        }
    }
    hlo_factors_release(&list);
    return rc;
}

static void count_roles(struct build *b)
{
    struct classes *c = b->c;

    for (uint32_t k = 0; b->roles && k < b->roles->param_count; k++) {
        const struct hlo_param_role *p = &b->roles->params[k];
        for (dim_id d = c->dim_base[p->value]; d < c->dim_base[p->value + 1]; d++) {
            if (c->class_of[d] == CLASS_NONE)
                continue;
            c->info[c->class_of[d]].var_dims += p->role == HLO_ROLE_VARIABLE;
            c->info[c->class_of[d]].input_dims += p->role == HLO_ROLE_INPUT;
        }
    }
}

/* ---- conflicts ---- */

struct pair {
    class_id a, b; /* a < b */
    hlo_id place;
};

struct pairs {
    struct pair *items;
    size_t count, room;
    struct slots slots; /* of items, by a and b */
};

static bool pairs_add(struct pairs *p, class_id a, class_id b, hlo_id place)
{
    struct pair key = {a < b ? a : b, a < b ? b : a, place};

    uint64_t hash = mem_hash(&key, 2 * sizeof(class_id), 0);
    struct slot_walk at;

    for (uint32_t n = slots_first(&p->slots, hash, &at); n != SLOTS_END;
         n = slots_next(&p->slots, &at)) {
        if (p->items[n].a == key.a && p->items[n].b == key.b)
            return true;
    }
    if (!mem_grow(&p->items, &p->room, p->count, 1) ||
        !slots_add(&p->slots, hash, (uint32_t)p->count))
        return false;
    p->items[p->count++] = key;
    return true;
}

static bool is_allowed(const struct classes *c, class_id k)
{
    return k != CLASS_NONE && c->info[k].reason == CLASS_ALLOWED;
}

static bool meet_at_instruction(const struct classes *c, hlo_id id, struct pairs *p)
{
    for (uint32_t x = c->factor_base[id]; x < c->factor_base[id + 1]; x++) {
        if (!is_allowed(c, c->factors[x].class))
            continue;
        for (uint32_t y = c->factor_base[id]; y < x; y++) {
            if (is_allowed(c, c->factors[y].class) &&
                !pairs_add(p, c->factors[y].class, c->factors[x].class, id))
                return false;
        }
    }
    return true;
}

static bool meet_at_value(const struct classes *c, hlo_value v, struct pairs *p)
{
    for (dim_id x = c->dim_base[v]; x < c->dim_base[v + 1]; x++) {
        if (!is_allowed(c, c->class_of[x]))
            continue;
        for (dim_id y = c->dim_base[v]; y < x; y++) {
            if (is_allowed(c, c->class_of[y]) &&
                !pairs_add(p, c->class_of[y], c->class_of[x], c->m->value_instruction[v]))
                return false;
        }
    }
    return true;
}

static bool store_meets(struct classes *c, const struct pairs *p)
{
    c->meets = mem_try(p->count * 2, sizeof *c->meets);
    if (!c->meets)
        return false;
    for (size_t k = 0; k < p->count; k++) {
        c->info[p->items[k].a].meet_count++;
        c->info[p->items[k].b].meet_count++;
    }
    uint32_t at = 0;
    for (class_id k = 0; k < c->count; k++) {
        c->info[k].meets = at;
        at += c->info[k].meet_count;
        c->info[k].meet_count = 0;
    }
    for (size_t k = 0; k < p->count; k++) {
        const struct pair *i = &p->items[k];
        struct class_info *a = &c->info[i->a], *b = &c->info[i->b];
        c->meets[a->meets + a->meet_count++] = (struct class_meet){i->b, i->place};
        c->meets[b->meets + b->meet_count++] = (struct class_meet){i->a, i->place};
    }
    return true;
}

static int find_meets(struct build *b)
{
    struct classes *c = b->c;
    struct pairs pairs = {0};
    bool ok = true;

    for (hlo_id id = 0; id < c->m->count && ok; id++) {
        ok = meet_at_instruction(c, id, &pairs);
        for (hlo_value v = c->m->leaf_base[id]; v < c->m->leaf_base[id + 1] && ok; v++)
            ok = meet_at_value(c, v, &pairs);
    }
    ok = ok && store_meets(c, &pairs);
    free(pairs.items);
    slots_release(&pairs.slots);
    return ok ? 0 : err_no_memory(b->e, MEMORY_FOR);
}

/* ---- whole ---- */

static int compare_ties(const void *x, const void *y)
{
    const dim_id *a = x, *b = y;

    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Sorts the ties by their first dim, places with them. */
static int sort_ties(struct build *b)
{
    struct classes *c = b->c;
    dim_id(*triples)[3] = mem_try(c->tie_count, sizeof *triples);

    if (!triples)
        return err_no_memory(b->e, MEMORY_FOR);
    for (uint32_t k = 0; k < c->tie_count; k++) {
        triples[k][0] = c->ties[k][0];
        triples[k][1] = c->ties[k][1];
        triples[k][2] = c->tie_place[k];
    }
    if (c->tie_count)
        qsort(triples, c->tie_count, sizeof *triples, compare_ties);
    for (uint32_t k = 0; k < c->tie_count; k++) {
        c->ties[k][0] = triples[k][0];
        c->ties[k][1] = triples[k][1];
        c->tie_place[k] = triples[k][2];
    }
    free(triples);
    return 0;
}

int classes_new(const struct hlo_module *m, const struct hlo_roles *roles,
                const struct class_options *options, struct classes *out, struct err *e)
{
    struct classes c = {.m = m, .options = *options};
    struct build b = {.c = &c, .roles = roles, .e = e};

    int rc = number_dims(&b);
    if (rc)
        goto out;
    rc = tie_all(&b);
    if (rc)
        goto out;
    rc = mark_gathers(&b);
    if (rc)
        goto out;
    forbid_kernels(&b);
    rc = sort_ties(&b);
    if (rc)
        goto out;
    rc = number_classes(&b);
    if (rc)
        goto out;
    judge_members(&b);
    judge_factors(&b);
    rc = judge_groups(&b);
    count_roles(&b);
    if (rc)
        goto out;
    rc = find_meets(&b);
out:
    free(b.parent);
    free(b.reason);
    free(b.place);
    if (rc)
        classes_release(&c);
    else
        *out = c;
    return rc;
}

void classes_release(struct classes *c)
{
    free(c->dim_base);
    free(c->dim_value);
    free(c->class_of);
    free(c->is_free);
    free(c->is_made_whole);
    free(c->factor_base);
    free(c->factors);
    free(c->leaf_base);
    free(c->leaf_dims);
    free(c->runs_whole);
    free(c->is_gathered);
    free(c->info);
    free(c->members);
    free(c->meets);
    free(c->ties);
    free(c->tie_place);
    memset(c, 0, sizeof *c);
}
