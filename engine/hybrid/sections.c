#include "engine/hybrid/sections.h"

#include "engine/cost/attention.h"
#include "engine/cost/joined_sums.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/hybrid/left_out.h"
#include "engine/hybrid/section_cuts.h"
#include "engine/pipeline/reads.h"
#include "engine/pipeline/tabulate.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the sections of a model";

struct maker {
    struct sections *s;
    const struct order *o;
    const struct unrolled *u;
    const struct problem *p;
    struct err *e;
    uint32_t *section_of;  /* [positions] */
    const uint32_t *asked; /* [asked_count] cuts besides those found */
    uint32_t asked_count;
    uint64_t *needs; /* [values][words] sections whose backward pass needs a value */
    uint8_t *unread; /* [values] pipe_unread: the first section's */
    uint32_t words;
    size_t local_room, spread_room, pool_room, pool_count;
};

static uint32_t section_of_op(const struct maker *k, uint32_t op)
{
    return k->section_of[k->o->position[op]];
}

static int cut_order(struct maker *k)
{
    struct sections *s = k->s;
    struct section_cuts cuts;
    int rc = section_cuts_new(k->o, &s->cuts, k->asked, k->asked_count, &cuts, k->e);

    s->position = cuts.position;
    s->count = cuts.count;
    if (rc)
        return rc;
    for (uint32_t n = 0; n < s->count; n++)
        for (uint32_t p = s->position[n]; p < s->position[n + 1]; p++)
            k->section_of[p] = n;
    return 0;
}

/* ---- operations ---- */

static bool touches_batch(const struct maker *k, hlo_id id)
{
    const struct classes *c = &k->p->classes;

    for (uint32_t f = c->factor_base[id]; f < c->factor_base[id + 1]; f++)
        if (c->factors[f].class == k->u->batch)
            return true;
    return false;
}

/* A sum that leaves the passes is a variable's gradient, or part of one, also where its variable is
 * a slice. What it is a sum of is so as well. */
static int find_gradients(struct maker *k)
{
    uint8_t *kind = order_gradients(k->o);

    k->s->gradient = kind;
    if (!kind)
        return err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t n = k->u->op_count; n-- > 0;) {
        const struct unroll_op *op = &k->u->ops[n];
        for (uint32_t v = op->values; v < op->values + op->value_count && op->is_backward; v++) {
            bool all = true;
            for (uint32_t m = k->o->user_base[v]; m < k->o->user_base[v + 1] && all; m++) {
                const struct unroll_op *user = &k->u->ops[k->o->users[m]];
                for (uint32_t r = 0; r < user->value_count; r++)
                    all &= kind[user->values + r] == ORDER_VARIABLE;
            }
            if (kind[v] == ORDER_SUM && all)
                kind[v] = ORDER_VARIABLE;
        }
    }
    return 0;
}

static uint8_t pass_of(const struct maker *k, uint32_t n)
{
    const struct unroll_op *op = &k->u->ops[n];
    bool once = !touches_batch(k, op->id);

    for (uint32_t v = op->values; v < op->values + op->value_count; v++)
        once &= op->is_backward ? k->s->gradient[v] != ORDER_NO_SUM : !k->u->values[v].is_varying;
    return once ? SECTION_ONCE : op->is_backward ? SECTION_BACKWARD : SECTION_FORWARD;
}

/* Forward operations by position, then backward ones as they were made. */
static int list_operations(struct maker *k)
{
    struct sections *s = k->s;
    uint32_t *at = mem_try((size_t)s->count + 1, sizeof *at);

    s->pass = mem_try(k->u->op_count, 1);
    s->op_base = mem_try((size_t)s->count + 1, sizeof *s->op_base);
    s->op = mem_try(k->u->op_count, sizeof *s->op);
    if (!at || !s->pass || !s->op_base || !s->op) {
        free(at);
        return err_no_memory(k->e, MEMORY_FOR);
    }
    for (uint32_t n = 0; n < k->u->op_count; n++) {
        s->pass[n] = pass_of(k, n);
        s->op_base[section_of_op(k, n) + 1]++;
    }
    for (uint32_t n = 0; n < s->count; n++) {
        s->op_base[n + 1] += s->op_base[n];
        at[n] = s->op_base[n];
    }
    for (uint32_t p = 0; p < k->o->count; p++)
        s->op[at[k->section_of[p]]++] = k->o->forward[p];
    for (uint32_t n = 0; n < k->u->op_count; n++)
        if (k->u->ops[n].is_backward)
            s->op[at[section_of_op(k, n)]++] = n;
    free(at);
    return 0;
}

static int compare_passes(struct maker *k)
{
    return left_out_new(k->s, &k->s->is_left_out, k->e);
}

/* Sets the sections in which operation `n` is made again; false: it is priced where it stands. */
static bool is_remade(const struct maker *k, uint32_t n, uint64_t *in)
{
    const struct reads_list *r = reads_of(&k->o->reads, n);
    bool elsewhere = false;

    for (uint32_t p = 0; r && p < r->count; p++) {
        uint32_t section = k->section_of[k->o->reads.position[r->first + p]];
        in[section / 64] |= (uint64_t)1 << section % 64;
        elsewhere |= section != section_of_op(k, n);
    }
    return elsewhere;
}

/* ---- classes ---- */

struct touch {
    uint32_t *by; /* [classes] the section that touches it + 1 */
    uint8_t *is_shared;
};

static void touch(struct touch *t, class_id class, uint32_t section)
{
    if (class == CLASS_NONE)
        return;
    if (t->by[class] && t->by[class] != section + 1)
        t->is_shared[class] = 1;
    t->by[class] = section + 1;
}

static void touch_value(const struct maker *k, struct touch *t, uint32_t value, uint32_t section)
{
    const struct classes *c = &k->p->classes;
    hlo_value v = k->u->values[value].value;

    for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++)
        touch(t, c->class_of[d], section);
}

static int share_classes(struct maker *k)
{
    struct sections *s = k->s;
    const struct classes *c = &k->p->classes;
    struct touch t = {mem_try(c->count, sizeof *t.by), mem_try(c->count, 1)};

    s->is_shared = t.is_shared;
    s->shared = mem_try(c->count, sizeof *s->shared);
    if (!t.by || !t.is_shared || !s->shared) {
        free(t.by);
        return err_no_memory(k->e, MEMORY_FOR);
    }
    for (uint32_t n = 0; n < k->u->op_count; n++) {
        const struct unroll_op *op = &k->u->ops[n];
        uint32_t section = section_of_op(k, n);
        for (uint32_t f = c->factor_base[op->id]; f < c->factor_base[op->id + 1]; f++)
            touch(&t, c->factors[f].class, section);
        for (uint32_t m = 0; m < op->operand_count; m++)
            touch_value(k, &t, k->u->operands[op->operands + m], section);
        for (uint32_t v = op->values; v < op->values + op->value_count; v++)
            touch_value(k, &t, v, section);
    }
    for (uint32_t v = 0; v < k->u->value_count; v++) {
        struct section_value value = {v, SECTION_VARIABLE};
        class_id list[SECTION_CLASSES_MOST];
        uint32_t count = k->unread[v] ? sections_value_classes(s, &value, list) : 0;
        for (uint32_t r = 0; r < count; r++)
            touch(&t, list[r], 0);
    }
    for (class_id n = 0; n < c->count; n++)
        if (t.is_shared[n] && c->info[n].reason == CLASS_ALLOWED)
            s->shared[s->shared_count++] = n;
    free(t.by);
    for (uint32_t n = 0; n < s->shared_count; n++) /* the batch first */
        if (s->shared[n] == k->u->batch) {
            memmove(s->shared + 1, s->shared, n * sizeof *s->shared);
            s->shared[0] = k->u->batch;
        }
    return 0;
}

/* ---- values ---- */

static uint64_t *needs_of(const struct maker *k, uint32_t value)
{
    return &k->needs[(size_t)value * k->words];
}

/* What is not stored needs what it is made of. */
static int find_needs(struct maker *k)
{
    k->words = (k->s->count + 63) / 64;
    k->needs = mem_try((size_t)k->u->value_count * k->words, sizeof *k->needs);
    if (!k->needs)
        return err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t n = k->u->op_count; n-- > 0;) {
        const struct unroll_op *op = &k->u->ops[n];
        uint32_t section = section_of_op(k, n);
        for (uint32_t m = 0; m < op->operand_count; m++) {
            uint64_t *to = needs_of(k, k->u->operands[op->operands + m]);
            if (op->is_backward)
                to[section / 64] |= (uint64_t)1 << section % 64;
            for (uint32_t r = 0; r < op->value_count && !op->is_backward; r++)
                for (uint32_t w = 0; w < k->words && !k->u->values[op->values + r].is_stored; w++)
                    to[w] |= needs_of(k, op->values + r)[w];
        }
    }
    return 0;
}

/* Calls with every section whose bit is set: one is that section's own, several are spread. The
 * lists of single ones are made in two rounds, first counted. */
struct lists {
    uint32_t *at; /* [sections] */
    bool counts;
};

static int add_use(struct maker *k, struct lists *l, uint32_t value, uint8_t use,
                   const uint64_t *in)
{
    struct sections *s = k->s;
    uint32_t count = 0, last = 0;

    for (uint32_t w = 0; w < k->words; w++)
        for (uint64_t bits = in[w]; bits; bits &= bits - 1, count++)
            last = w * 64 + (uint32_t)__builtin_ctzll(bits);
    if (!count)
        return 0;
    if (count == 1) {
        if (!l->counts)
            s->values[l->at[last]] = (struct section_value){value, use};
        l->at[last]++;
        return 0;
    }
    if (l->counts)
        return 0;
    if (!mem_grow(&s->spread, &k->spread_room, s->spread_count, 1) ||
        !mem_grow(&s->spread_pool, &k->pool_room, k->pool_count, count))
        return err_no_memory(k->e, MEMORY_FOR);
    s->spread[s->spread_count++] =
        (struct section_spread){value, use, (uint32_t)k->pool_count, count, 0};
    for (uint32_t w = 0; w < k->words; w++)
        for (uint64_t bits = in[w]; bits; bits &= bits - 1)
            s->spread_pool[k->pool_count++] = w * 64 + (uint32_t)__builtin_ctzll(bits);
    return 0;
}

static void set_bit(uint64_t *bits, uint32_t n)
{
    bits[n / 64] |= (uint64_t)1 << n % 64;
}

/* All that value `v` is to sections. */
static int add_value(struct maker *k, struct lists *l, uint32_t v, uint64_t *bits)
{
    const struct unroll_value *value = &k->u->values[v];
    uint8_t role = value->op == UNROLL_NONE && value->param != UNROLL_NONE
                       ? k->p->roles.params[value->param].role
                       : HLO_ROLE_COUNT;
    int rc = 0;

    memset(bits, 0, k->words * sizeof *bits);
    if (role == HLO_ROLE_VARIABLE || role == HLO_ROLE_OTHER_STATE) {
        for (uint32_t n = k->o->user_base[v]; n < k->o->user_base[v + 1]; n++)
            set_bit(bits, section_of_op(k, k->o->users[n]));
        if (k->unread[v])
            set_bit(bits, 0);
        return add_use(k, l, v, SECTION_VARIABLE, bits);
    }
    if (role == HLO_ROLE_INPUT)
        return add_use(k, l, v, SECTION_KEPT, needs_of(k, v));
    if (value->op == UNROLL_NONE)
        return 0;
    if (v == k->u->ops[value->op].values && is_remade(k, value->op, bits)) {
        k->s->is_remade[value->op] = 1;
        rc = add_use(k, l, v, SECTION_REMADE, bits);
    }
    memset(bits, 0, k->words * sizeof *bits);
    if (rc)
        return rc;
    uint32_t made = section_of_op(k, value->op), last = made;
    if (k->u->ops[value->op].is_backward) {
        set_bit(bits, made);
        return value->is_stored && k->s->gradient[v] != ORDER_VARIABLE
                   ? add_use(k, l, v, SECTION_WORKING, bits)
                   : 0;
    }
    if (value->is_stored)
        rc = add_use(k, l, v, value->is_varying ? SECTION_KEPT : SECTION_FIXED, needs_of(k, v));
    if (rc || !value->is_varying)
        return rc;
    for (uint32_t n = k->o->user_base[v]; n < k->o->user_base[v + 1]; n++)
        if (section_of_op(k, k->o->users[n]) > last)
            last = section_of_op(k, k->o->users[n]);
    for (uint32_t n = made + 1; n <= last; n++)
        set_bit(bits, n);
    return add_use(k, l, v, SECTION_INPUT, bits);
}

static int list_values(struct maker *k)
{
    struct sections *s = k->s;
    uint64_t *bits = mem_try(k->words, sizeof *bits);
    struct lists l = {mem_try(s->count, sizeof *l.at), true};
    int rc = 0;

    s->value_base = mem_try((size_t)s->count + 1, sizeof *s->value_base);
    s->is_remade = mem_try(k->u->op_count, 1);
    if (!bits || !l.at || !s->value_base || !s->is_remade)
        rc = err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t v = 0; v < k->u->value_count && !rc; v++)
        rc = add_value(k, &l, v, bits);
    for (uint32_t n = 0; n < s->count && !rc; n++) {
        s->value_base[n + 1] = s->value_base[n] + l.at[n];
        l.at[n] = s->value_base[n];
    }
    l.counts = false;
    if (!rc && !(s->values = mem_try(s->value_base[s->count], sizeof *s->values)))
        rc = err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t v = 0; v < k->u->value_count && !rc; v++)
        rc = add_value(k, &l, v, bits);
    free(bits);
    free(l.at);
    return rc;
}

/* ---- sets of sections ---- */

struct spread_list {
    const uint32_t *sections;
    uint32_t count, spread;
};

static int compare_sections(const struct spread_list *a, const struct spread_list *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return memcmp(a->sections, b->sections, a->count * sizeof *a->sections);
}

static int compare_lists(const void *a, const void *b)
{
    const struct spread_list *p = a, *q = b;
    int order = compare_sections(p, q);

    return order ? order : (p->spread > q->spread) - (p->spread < q->spread);
}

/* An unrolled loop has hundreds of values in few sets; what a set costs is added up once. */
static int find_sets(struct maker *k)
{
    struct sections *s = k->s;
    struct spread_list *list = mem_try(s->spread_count, sizeof *list);

    s->set_first = mem_try(s->spread_count, sizeof *s->set_first);
    if (!list || !s->set_first) {
        free(list);
        return err_no_memory(k->e, MEMORY_FOR);
    }
    for (uint32_t n = 0; n < s->spread_count; n++)
        list[n] = (struct spread_list){s->spread_pool + s->spread[n].sections,
                                       s->spread[n].section_count, n};
    qsort(list, s->spread_count, sizeof *list, compare_lists);
    for (uint32_t n = 0; n < s->spread_count; n++) {
        if (!n || compare_sections(&list[n - 1], &list[n]))
            s->set_first[s->set_count++] = list[n].spread;
        s->spread[list[n].spread].set = s->set_count - 1;
    }
    free(list);
    return 0;
}

/* ---- kinds ---- */

/* Names for the classes of one section: shared ones keep theirs, local ones in order of appearance.
 */
struct namer {
    uint32_t *name; /* [classes] 0: none yet */
    uint32_t count; /* of the section */
    uint64_t hash[2];
};

static void mix_name(struct namer *n, const void *data, size_t size)
{
    for (int h = 0; h < 2; h++)
        n->hash[h] = mem_hash(data, size, n->hash[h]);
}

static int name_class(struct maker *k, struct namer *n, class_id class)
{
    struct sections *s = k->s;
    const struct class_info *info = &k->p->classes.info[class];

    if (!s->is_shared[class] && !n->name[class]) {
        uint32_t end = s->local_base[s->count];
        if (!mem_grow(&s->local, &k->local_room, end, 1))
            return err_no_memory(k->e, MEMORY_FOR);
        s->local[end] = class;
        s->local_base[s->count] = end + 1;
        n->name[class] = ++n->count;
    }
    int64_t key[] = {s->is_shared[class] ? (int64_t) class : -(int64_t)n->name[class], info->least,
                     info->divisor, info->group_divisor, info->dim_count};
    mix_name(n, key, sizeof key);
    return 0;
}

static int hash_value(struct maker *k, struct namer *n, const struct section_value *v)
{
    const struct classes *c = &k->p->classes;
    const struct unroll_value *value = &k->u->values[v->value];
    double head[] = {value->bytes, v->use,
                     v->use == SECTION_VARIABLE ? k->s->state_bytes[value->param] : 0,
                     v->use == SECTION_VARIABLE ? k->p->roles.params[value->param].role : 0};
    int rc = 0;

    mix_name(n, head, sizeof head);
    if (v->use == SECTION_REMADE) { /* what it costs */
        class_id list[TERM_CLASSES_MOST];
        uint64_t own[2];
        sections_pattern(k->s, value->op, list, own);
        mix_name(n, own, sizeof own);
    }
    for (dim_id d = c->dim_base[value->value]; d < c->dim_base[value->value + 1] && !rc; d++) {
        class_id class = c->class_of[d];
        if (class != CLASS_NONE && c->info[class].reason == CLASS_ALLOWED)
            rc = name_class(k, n, class);
        else
            mix_name(n, &value->has_batch, 1);
    }
    if (v->use == SECTION_VARIABLE) {
        class_id list[SECTION_CLASSES_MOST];
        uint32_t count = sections_value_classes(k->s, v, list);
        uint64_t update[2];
        for (uint32_t r = 0; r < count && !rc; r++)
            rc = name_class(k, n, list[r]);
        sections_update_pattern(k->s, v->value, list, count, update);
        mix_name(n, update, sizeof update);
    }
    return rc;
}

/* Classes that local ones meet, by name. Sums of hashes: their order does not matter. */
static void hash_meets(const struct maker *k, struct namer *n, uint32_t from)
{
    const struct classes *c = &k->p->classes;
    const struct sections *s = k->s;

    for (uint32_t l = from; l < s->local_base[s->count]; l++) {
        const struct class_info *info = &c->info[s->local[l]];
        uint64_t sum = 0;
        for (uint32_t m = info->meets; m < info->meets + info->meet_count; m++) {
            class_id other = c->meets[m].other;
            int64_t name = s->is_shared[other] ? (int64_t)other : -(int64_t)n->name[other];
            if (c->info[other].reason == CLASS_ALLOWED)
                sum += mem_hash(&name, sizeof name, 7);
        }
        mix_name(n, &sum, sizeof sum);
    }
}

/* local_base[count] stands for the end of the list while it grows. */
static int hash_section(struct maker *k, struct namer *n, uint32_t section)
{
    struct sections *s = k->s;
    uint32_t from = s->local_base[s->count];
    class_id list[TERM_CLASSES_MOST];
    int rc = 0;

    n->count = 0;
    n->hash[0] = 1;
    n->hash[1] = 2;
    for (uint32_t m = s->op_base[section]; m < s->op_base[section + 1] && !rc; m++) {
        uint64_t own[2];
        uint32_t count = sections_pattern(s, s->op[m], list, own);
        if (count == UINT32_MAX)
            return err_set(k->e, ERR_LIMIT, "%.100s can be split in more than %d ways",
                           hlo_name(k->p->m, k->u->ops[s->op[m]].id), TERM_CLASSES_MOST);
        mix_name(n, own, sizeof own);
        mix_name(n, &s->is_left_out[s->op[m]], 1);
        mix_name(n, &s->is_remade[s->op[m]], 1);
        for (uint32_t c = 0; c < count && !rc; c++)
            rc = name_class(k, n, list[c]);
    }
    for (uint32_t m = s->value_base[section]; m < s->value_base[section + 1] && !rc; m++)
        rc = hash_value(k, n, &s->values[m]);
    hash_meets(k, n, from);
    return rc;
}

static int find_kinds(struct maker *k)
{
    struct sections *s = k->s;
    struct namer n = {.name = mem_try(k->p->classes.count, sizeof *n.name)};
    uint64_t(*seen)[2] = mem_try(s->count, sizeof *seen);
    int rc = 0;

    s->kind = mem_try(s->count, sizeof *s->kind);
    s->kind_first = mem_try(s->count, sizeof *s->kind_first);
    s->local_base = mem_try((size_t)s->count + 2, sizeof *s->local_base);
    if (!n.name || !seen || !s->kind || !s->kind_first || !s->local_base)
        rc = err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t m = 0; m < s->count && !rc; m++) {
        uint32_t kind = 0;
        s->local_base[m] = s->local_base[s->count];
        rc = hash_section(k, &n, m);
        while (kind < s->kinds && memcmp(seen[kind], n.hash, sizeof n.hash))
            kind++;
        if (kind == s->kinds) {
            memcpy(seen[kind], n.hash, sizeof n.hash);
            s->kind_first[s->kinds++] = m;
        }
        s->kind[m] = kind;
    }
    free(n.name);
    free(seen);
    return rc;
}

/* ---- the whole ---- */

int sections_new(const struct order *order, const uint32_t *cuts, uint32_t count,
                 struct sections *out, struct err *e)
{
    struct sections s = {.problem = order->steps.problem, .order = order};
    struct maker k = {.s = &s,
                      .o = order,
                      .u = &order->steps,
                      .p = s.problem,
                      .e = e,
                      .asked = cuts,
                      .asked_count = count};
    int rc = order_cuts_new(order, &s.cuts, e);

    if (rc)
        return rc;
    k.section_of = mem_try(order->count, sizeof *k.section_of);
    k.unread = pipe_unread(order);
    s.state_bytes = pipe_variable_state(s.problem);
    rc = k.section_of && k.unread && s.state_bytes ? variable_updates_new(s.problem, &s.updates, e)
                                                   : err_no_memory(e, MEMORY_FOR);
    int (*const parts[])(struct maker *) = {cut_order,      find_gradients, list_operations,
                                            compare_passes, share_classes,  find_needs,
                                            list_values,    find_sets,      find_kinds};
    for (size_t n = 0; n < sizeof parts / sizeof *parts && !rc; n++)
        rc = parts[n](&k);
    free(k.section_of);
    free(k.needs);
    free(k.unread);
    if (rc)
        sections_release(&s);
    else
        *out = s;
    return rc;
}

void sections_release(struct sections *s)
{
    order_cuts_release(&s->cuts);
    free(s->position);
    free(s->pass);
    free(s->is_left_out);
    free(s->is_remade);
    free(s->gradient);
    free(s->op_base);
    free(s->op);
    free(s->value_base);
    free(s->values);
    free(s->spread);
    free(s->spread_pool);
    free(s->set_first);
    free(s->state_bytes);
    variable_updates_release(&s->updates);
    free(s->is_shared);
    free(s->shared);
    free(s->local_base);
    free(s->local);
    free(s->kind);
    free(s->kind_first);
    memset(s, 0, sizeof *s);
}

void sections_layer(const struct sections *s, uint32_t section, char *out, size_t room)
{
    const struct hlo_roles *roles = &s->problem->roles;

    out[0] = '\0';
    for (uint32_t p = s->position[section]; p < s->position[section + 1]; p++) {
        if (order_layer(s->order, roles, p, out, room))
            return;
    }
}

bool sections_have(const struct sections *s, uint32_t i, uint32_t j, class_id class)
{
    for (uint32_t n = s->local_base[i]; n < s->local_base[j]; n++)
        if (s->local[n] == class)
            return true;
    for (uint32_t n = s->op_base[i]; n < s->op_base[j]; n++) {
        class_id list[TERM_CLASSES_MOST];
        uint64_t hash[2];
        uint32_t count = sections_pattern(s, s->op[n], list, hash);
        for (uint32_t m = 0; m < count && count <= TERM_CLASSES_MOST; m++)
            if (list[m] == class)
                return true;
    }
    return false;
}
