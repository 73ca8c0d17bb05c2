#include "engine/hybrid/section_cuts.h"

#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/sections.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the sections of a model";

struct cutter {
    struct section_cuts *s;
    const struct order *o;
    const struct unrolled *u;
    const struct problem *p;
    const struct order_cuts *cuts;
    const uint32_t *asked; /* [asked_count] cuts besides those found */
    uint32_t asked_count;
    struct err *e;
    size_t position_room;
};

static double cut_bytes(const struct cutter *k, uint32_t cut)
{
    const struct order_cuts *c = k->cuts;
    double samples = (double)k->u->batch_size;

    return (c->forward_sample[cut] + c->backward_sample[cut]) * samples + c->forward_fixed[cut] +
           c->backward_fixed[cut] + c->once[cut];
}

/* The cheapest cut of [from, to], lowest on ties. */
static uint32_t cheapest(const struct cutter *k, uint32_t from, uint32_t to)
{
    uint32_t best = from;

    for (uint32_t c = from + 1; c <= to; c++)
        if (cut_bytes(k, c) < cut_bytes(k, best))
            best = c;
    return best;
}

static int add_cut(struct cutter *k, uint32_t cut)
{
    struct section_cuts *s = k->s;

    if (cut <= s->position[s->count] || cut >= k->o->count)
        return 0;
    if (s->count + 2 > HYBRID_SECTIONS_MOST)
        return err_set(k->e, ERR_LIMIT, "more than %d layers to cut between", HYBRID_SECTIONS_MOST);
    if (!mem_grow(&s->position, &k->position_room, s->count + 1, 2))
        return err_no_memory(k->e, MEMORY_FOR);
    s->position[++s->count] = cut;
    return 0;
}

/* A layer of the model: its name's number and, in an unrolled loop, the trip. */
struct layer {
    uint32_t name, trip;
    uint32_t first, last; /* positions */
};

static int find_layers(const struct cutter *k, struct layer **out, uint32_t *count)
{
    size_t room = 0;

    *count = 0;
    for (uint32_t p = 0; p < k->o->count; p++) {
        const struct unroll_op *op = &k->u->ops[k->o->forward[p]];
        uint32_t name = k->p->roles.layer[op->id], n = *count;
        if (!name)
            continue;
        while (n && ((*out)[n - 1].name != name || (*out)[n - 1].trip != op->trip))
            n--;
        if (n) {
            (*out)[n - 1].last = p;
            continue;
        }
        if (*count == 4 * HYBRID_SECTIONS_MOST)
            return 0; /* too many to be cut between: as if there were none */
        if (!mem_grow(out, &room, *count, 1))
            return err_no_memory(k->e, MEMORY_FOR);
        (*out)[(*count)++] = (struct layer){name, op->trip, p, p};
    }
    return 0;
}

static int cut_between_layers(struct cutter *k, const struct layer *l, uint32_t count)
{
    uint32_t end = l[count - 1].last + 1;
    int rc = add_cut(k, l[0].first);

    for (uint32_t n = 1; n < count && !rc; n++) {
        uint32_t a = l[n - 1].last + 1, b = l[n].first;
        rc = add_cut(k, a < b ? cheapest(k, a, b) : cheapest(k, b, a));
    }
    if (!rc && end < k->o->count)
        rc = add_cut(k, end);
    return rc;
}

/* The cheapest cut of each of SECTIONS_PLAIN parts of equal work. */
static int cut_plainly(struct cutter *k)
{
    double all = 0, sum = 0;
    uint32_t from = 1, part = 1;
    int rc = 0;

    for (uint32_t p = 0; p < k->o->count; p++)
        all += 1 + k->p->costs.instruction[k->u->ops[k->o->forward[p]].id].flops;
    for (uint32_t p = 0; p < k->o->count && !rc; p++) {
        sum += 1 + k->p->costs.instruction[k->u->ops[k->o->forward[p]].id].flops;
        if (sum < all * part / SECTIONS_PLAIN)
            continue;
        while (sum >= all * part / SECTIONS_PLAIN)
            part++;
        if (p + 1 < k->o->count)
            rc = add_cut(k, cheapest(k, from, p + 1));
        from = p + 1;
    }
    return rc;
}

/* Puts the cuts asked for between those found. */
static int add_asked(struct cutter *k)
{
    struct section_cuts *s = k->s;

    for (uint32_t n = 0; n < k->asked_count; n++) {
        uint32_t at = 0, cut = k->asked[n];
        while (at <= s->count && s->position[at] < cut)
            at++;
        if (!cut || cut >= k->o->count)
            return err_set(k->e, ERR_INPUT, "no section can begin at position %u, expected 1 to %u",
                           cut, k->o->count - 1);
        if (at <= s->count && s->position[at] == cut)
            continue;
        if (s->count + 2 > HYBRID_SECTIONS_MOST)
            return err_set(k->e, ERR_LIMIT, "more than %d sections to cut between",
                           HYBRID_SECTIONS_MOST);
        if (!mem_grow(&s->position, &k->position_room, s->count + 1, 2))
            return err_no_memory(k->e, MEMORY_FOR);
        memmove(&s->position[at + 1], &s->position[at], (s->count + 1 - at) * sizeof *s->position);
        s->position[at] = cut;
        s->count++;
    }
    return 0;
}

int section_cuts_new(const struct order *order, const struct order_cuts *cuts,
                     const uint32_t *asked, uint32_t asked_count, struct section_cuts *out,
                     struct err *e)
{
    struct cutter k = {.s = out,
                       .o = order,
                       .u = &order->steps,
                       .p = order->steps.problem,
                       .cuts = cuts,
                       .asked = asked,
                       .asked_count = asked_count,
                       .e = e};
    struct layer *layers = NULL;
    uint32_t count;
    int rc = find_layers(&k, &layers, &count);

    *out = (struct section_cuts){0};
    if (rc)
        goto out;
    if (!mem_grow(&out->position, &k.position_room, 0, 2)) {
        rc = err_no_memory(e, MEMORY_FOR);
        goto out;
    }
    out->position[0] = 0;
    rc = count > 1 && count < HYBRID_SECTIONS_MOST - 2 ? cut_between_layers(&k, layers, count)
                                                       : cut_plainly(&k);
    rc = rc ? rc : add_asked(&k);
    if (!rc)
        out->position[++out->count] = order->count;
out:
    free(layers);
    return rc;
}
