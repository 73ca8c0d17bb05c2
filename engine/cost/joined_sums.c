#include "engine/cost/joined_sums.h"

#include "hlo/meaning/factors.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* What is known of an instruction: classes over which its one result is a partial sum, and for each
 * the last factor that makes it so. */
struct partial {
    class_id class[JOINED_CLASSES_MOST];
    uint32_t factor[JOINED_CLASSES_MOST];
};

static const struct partial none = {{CLASS_NONE, CLASS_NONE}, {0}};

static bool is_summed(const struct classes *c, const struct class_factor *f)
{
    return f->kind == HLO_FACTOR_REDUCE && f->combiner == HLO_COMBINE_ADD &&
           f->class != CLASS_NONE && c->info[f->class].reason == CLASS_ALLOWED;
}

/* A class that stands twice among the factors is reduced where it stands. */
static struct partial own_sums(const struct classes *c, hlo_id id)
{
    struct partial p = none;
    uint32_t count = 0;

    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1]; k++) {
        const struct class_factor *f = &c->factors[k];
        if (!is_summed(c, f))
            continue;
        if (count == JOINED_CLASSES_MOST || (count && p.class[0] == f->class))
            return none;
        p.class[count] = f->class;
        p.factor[count++] = k;
    }
    return p;
}

static int place_of(const struct partial *p, class_id k)
{
    for (int n = 0; n < JOINED_CLASSES_MOST; n++) {
        if (p->class[n] == k)
            return n;
    }
    return -1;
}

/* Another form of its operand, element for element. */
static bool is_form(uint16_t opcode)
{
    return opcode == HLO_OP_CONVERT || opcode == HLO_OP_RESHAPE || opcode == HLO_OP_BITCAST ||
           opcode == HLO_OP_TRANSPOSE || opcode == HLO_OP_COPY;
}

static bool has_one_reader(const struct hlo_module *m, hlo_id id)
{
    return hlo_at(m, id)->user_count == 1 && !hlo_at(m, id)->is_root;
}

static bool can_pass(const struct classes *c, hlo_id operand, hlo_id id)
{
    return has_one_reader(c->m, operand) &&
           c->m->leaf_base[operand + 1] - c->m->leaf_base[operand] == 1 &&
           hlo_passes_partial(c->m, id, 0, HLO_COMBINE_ADD) == HLO_PARTIAL_TOGETHER;
}

struct build {
    const struct classes *c;
    struct joined_sums *out;
    struct partial *partial; /* [instructions] */
};

/* Marks the way back from `id`: what makes it passes sums over class `k` on. */
static void mark_passing(struct build *b, hlo_id id, class_id k)
{
    const struct hlo_module *m = b->c->m;

    while (is_form(hlo_at(m, id)->opcode)) {
        b->out->passes[id][b->out->passes[id][0] != CLASS_NONE] = k;
        id = hlo_operand(m, id, 0);
    }
}

/* Joins the two operands of addition `id` over the classes that both are sums over. */
static void join_sum(struct build *b, hlo_id id)
{
    const struct hlo_module *m = b->c->m;
    hlo_id x = hlo_operand(m, id, 0), y = hlo_operand(m, id, 1);
    const struct partial *p = &b->partial[x], *q = &b->partial[y];
    struct partial *sum = &b->partial[id];

    if (x == y || !can_pass(b->c, x, id) || !can_pass(b->c, y, id))
        return;
    for (int n = 0, count = 0; n < JOINED_CLASSES_MOST; n++) {
        int at = p->class[n] == CLASS_NONE ? -1 : place_of(q, p->class[n]);
        if (at < 0)
            continue;
        uint32_t first = p->factor[n], last = q->factor[at];
        if (first > last) {
            uint32_t swap = first;
            first = last;
            last = swap;
        }
        b->out->part[first] = SUM_JOINED;
        b->out->part[last] = SUM_LAST;
        sum->class[count] = p->class[n];
        sum->factor[count] = last;
        b->out->passes[id][count++] = p->class[n];
        mark_passing(b, x, p->class[n]);
        mark_passing(b, y, p->class[n]);
    }
}

static void find_joined(struct build *b)
{
    const struct hlo_module *m = b->c->m;

    for (hlo_id id = 0; id < m->count; id++) {
        uint16_t opcode = hlo_at(m, id)->opcode;
        b->partial[id] = none;
        if (m->leaf_base[id + 1] - m->leaf_base[id] != 1 || class_leaf_count(b->c, id) == 0)
            continue;
        if (is_form(opcode) && can_pass(b->c, hlo_operand(m, id, 0), id))
            b->partial[id] = b->partial[hlo_operand(m, id, 0)];
        else if (opcode == HLO_OP_ADD)
            join_sum(b, id);
        else
            b->partial[id] = own_sums(b->c, id);
    }
}

int joined_sums_new(const struct classes *c, struct joined_sums *out, struct err *e)
{
    struct build b = {.c = c, .out = out};

    *out = (struct joined_sums){0};
    out->part = mem_try((size_t)c->factor_base[c->m->count] + 1, 1);
    out->passes = mem_try((size_t)c->m->count + 1, sizeof *out->passes);
    b.partial = mem_try((size_t)c->m->count + 1, sizeof *b.partial);
    bool ok = out->part && out->passes && b.partial;
    if (ok) {
        memset(out->passes, 0xff, c->m->count * sizeof *out->passes);
        find_joined(&b);
    }
    free(b.partial);
    if (ok)
        return 0;
    joined_sums_release(out);
    return err_set(e, ERR_MEMORY, "not enough memory for sums of partial results");
}

void joined_sums_release(struct joined_sums *j)
{
    free(j->part);
    free(j->passes);
    memset(j, 0, sizeof *j);
}
