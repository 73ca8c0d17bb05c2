#include "engine/hybrid/left_out.h"

#include "engine/hybrid/sections.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "engine/recompute/numbering.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>

struct maker {
    const struct sections *s;
    const struct unrolled *u;
    const struct problem *p;
    struct numbering numbers;
    uint8_t *is_repeated; /* [numbers.count] */
    uint8_t *is_left_out; /* [ops] */
};

static hlo_id id_of(const struct maker *k, uint32_t op)
{
    return k->u->ops[op].id;
}

/* A backward operation has the same number. */
static bool is_repeated(const struct maker *k, uint32_t op)
{
    return k->is_repeated[k->numbers.of[k->p->m->leaf_base[id_of(k, op)]]];
}

/* More than half of the products' work of a section is done again. */
static bool is_recomputed(const struct maker *k, uint32_t section)
{
    const struct sections *s = k->s;
    double all = 0, again = 0;

    for (uint32_t i = s->op_base[section]; i < s->op_base[section + 1]; i++) {
        hlo_id id = id_of(k, s->op[i]);
        uint16_t opcode = hlo_at(k->p->m, id)->opcode;
        double flops = k->p->costs.instruction[id].flops * k->u->ops[s->op[i]].times;
        if (s->pass[s->op[i]] != SECTION_FORWARD ||
            (opcode != HLO_OP_DOT && opcode != HLO_OP_CONVOLUTION))
            continue;
        all += flops;
        again += is_repeated(k, s->op[i]) ? flops : 0;
    }
    return 2 * again > all;
}

static void find_left_out(struct maker *k)
{
    const struct sections *s = k->s;

    for (uint32_t n = 0; n < k->u->op_count; n++)
        if (k->u->ops[n].is_backward)
            k->is_repeated[k->numbers.of[k->p->m->leaf_base[id_of(k, n)]]] = 1;
    for (uint32_t m = 0; m < s->count; m++) {
        if (!is_recomputed(k, m))
            continue;
        for (uint32_t i = s->op_base[m]; i < s->op_base[m + 1]; i++)
            if (s->pass[s->op[i]] == SECTION_FORWARD && !is_repeated(k, s->op[i]))
                k->is_left_out[s->op[i]] = 1;
    }
}

int left_out_new(const struct sections *s, uint8_t **out, struct err *e)
{
    struct maker k = {.s = s, .u = &s->order->steps, .p = s->problem};
    int rc = numbering_new(k.p->m, &k.numbers, e);

    if (rc)
        return rc;
    k.is_repeated = mem_try((size_t)k.numbers.count + 1, 1);
    k.is_left_out = mem_try((size_t)k.u->op_count + 1, 1);
    if (k.is_repeated && k.is_left_out) {
        find_left_out(&k);
        *out = k.is_left_out;
    } else {
        free(k.is_left_out);
        rc = err_no_memory(e, "for the sections of a model");
    }
    free(k.is_repeated);
    numbering_release(&k.numbers);
    return rc;
}
