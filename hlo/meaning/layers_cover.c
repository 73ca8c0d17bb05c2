/* A partition into layers is worth something when it holds the work. Heads and embeddings of small
 * models hold more of it than their layers do: they become layers too, the largest first, until
 * nearly all is held. */
#include "hlo/meaning/cost.h"
#include "hlo/meaning/layers_internal.h"
#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

#define COVER_WANTED 0.9
#define COVER_TRUSTED 0.5 /* held by names alone: the partition is the model's */
#define COVER_LEAST 0.01  /* share of the FLOP below which nothing becomes a layer */

enum { VIEWS_MAX = 16 }; /* looked through between a weight and its reader */

struct covering {
    struct layering *l;
    double *flops;     /* [places] */
    uint32_t *by_meta; /* [m->meta_count] module of a scope outside of layers; PLACE_UNKNOWN */
    double all, held;
};

/* What counts: the FLOP of forward and backward pass, loops as often as they run. */
static void set_flops(struct layering *l)
{
    const struct hlo_roles_work *w = l->w;

    l->flops = w->flops;
    for (hlo_id id = 0; id < w->m->count; id++) {
        if (l->flops[id] == 0)
            continue;
        if ((w->phase[id] != HLO_PHASE_FORWARD && w->phase[id] != HLO_PHASE_BACKWARD) ||
            l->flops[id] < 0 || hlo_cost_is_of_callees(hlo_graph_opcode(&w->g, id)))
            l->flops[id] = 0;
    }
}

/* Up to the first '/'. */
static struct hlo_text first_part(const char *scope)
{
    return (struct hlo_text){scope, (uint32_t)strcspn(scope, "/")};
}

static bool is_same(const struct hlo_text *a, const struct hlo_text *b)
{
    return a->size == b->size && (a->text == b->text || !memcmp(a->text, b->text, a->size));
}

/* The module that most scopes begin with: the model itself, jvp(BertForMaskedLM)/... Boyer and
 * Moore's majority vote by FLOP. */
static struct hlo_text find_model(const struct covering *c)
{
    const struct hlo_module *m = c->l->w->m;
    struct hlo_text model = {"", 0};
    double votes = 0;

    for (hlo_id id = 0; id < m->count; id++) {
        double flops = c->l->flops[id];
        if (flops <= 0)
            continue;
        struct hlo_text first = first_part(hlo_scope_of(&c->l->w->scopes, hlo_at(m, id)->meta));
        if (is_same(&model, &first)) {
            votes += flops;
        } else if (votes < flops) {
            model = first;
            votes = flops - votes;
        } else {
            votes -= flops;
        }
    }
    return model;
}

/* The place of the variable that `id` reads a view of: the transposed table of a head, in the
 * backward pass too. PLACE_OUTSIDE: none. */
static uint32_t place_by_weight(const struct layering *l, hlo_id id)
{
    const struct hlo_roles_work *w = l->w;
    hlo_value v = w->m->leaf_base[id];

    for (uint32_t k = w->g.pred_first[v]; k < w->g.pred_first[v + 1]; k++) {
        hlo_value from = hlo_graph_source(&w->g, w->g.preds[k]);
        for (int hops = 0; hops < VIEWS_MAX && w->param_of[from] == HLO_NONE; hops++) {
            if (w->g.pred_first[from + 1] != w->g.pred_first[from] + 1 || l->data.has[from])
                break;
            from = hlo_graph_source(&w->g, w->g.preds[w->g.pred_first[from]]);
        }
        uint32_t p = w->param_of[from];
        if (p != HLO_NONE && l->of_param[p] > PLACE_OUTSIDE)
            return l->of_param[p];
    }
    return PLACE_OUTSIDE;
}

/* Names for what has none: the first module in the scope, below the model's own. */
static bool name_by_scope(struct covering *c)
{
    struct layering *l = c->l;
    const struct hlo_module *m = l->w->m;
    struct hlo_text model = find_model(c);
    bool ok = true;

    for (hlo_id id = 0; ok && id < m->count; id++) {
        if (c->l->flops[id] <= 0 || l->of[id] > PLACE_OUTSIDE)
            continue;
        uint32_t *place = &c->by_meta[hlo_at(m, id)->meta];
        if (!*place) {
            struct hlo_text name = first_part(hlo_scope_of(&l->w->scopes, hlo_at(m, id)->meta));
            if (name.size && name.text[name.size] && is_same(&name, &model))
                name = first_part(name.text + name.size + 1);
            *place = name.size ? hlo_place(l, name.text, name.size, false) : PLACE_OUTSIDE;
        }
        ok = *place != PLACE_UNKNOWN;
        l->of[id] = *place > PLACE_OUTSIDE ? *place : place_by_weight(l, id);
    }
    return ok;
}

static bool sum_places(struct covering *c)
{
    struct layering *l = c->l;

    c->flops = mem_try(l->places.count, sizeof *c->flops);
    if (!c->flops)
        return false;
    for (hlo_id id = 0; id < l->w->m->count; id++) {
        double flops = c->l->flops[id];
        c->flops[l->of[id]] += flops;
        c->all += flops;
        c->held += l->places.items[l->of[id]].is_layer ? flops : 0;
    }
    return true;
}

static void add_layers(struct covering *c)
{
    struct places *places = &c->l->places;

    for (size_t n = 0; n < places->count && c->held < COVER_WANTED * c->all; n++) {
        size_t best = 0;
        for (size_t k = PLACE_OUTSIDE + 1; k < places->count; k++) {
            if (!places->items[k].is_layer && (!best || c->flops[k] > c->flops[best]))
                best = k;
        }
        if (!best || c->flops[best] < COVER_LEAST * c->all)
            return;
        places->items[best].is_layer = true;
        c->held += c->flops[best];
    }
}

/* What no name says belongs to the layer whose result it works on: products with frozen weights,
 * messages between nodes. Where layers hold most of the work already. */
static bool join_neighbours(struct covering *c)
{
    struct layering *l = c->l;
    const struct hlo_roles_work *w = l->w;
    uint32_t *near = mem_try(w->m->count, sizeof *near); /* place of the nearest layer before it */

    if (!near)
        return false;
    for (uint32_t n = 0; n < w->g.order_count; n++) {
        hlo_id id = w->g.order[n];
        if (l->places.items[l->of[id]].is_layer)
            near[id] = l->of[id];
        for (uint32_t k = 0; k < hlo_at(w->m, id)->operand_count && !near[id]; k++)
            near[id] = near[hlo_operand(w->m, id, k)];
        if (!near[id] || near[id] == l->of[id] || l->of[id] > PLACE_OUTSIDE || l->flops[id] <= 0)
            continue;
        l->of[id] = near[id];
        c->held += l->flops[id];
    }
    free(near);
    return true;
}

bool hlo_layers_cover(struct layering *l)
{
    struct covering c = {.l = l};
    bool any = false;

    for (size_t n = 0; n < l->places.count; n++)
        any |= l->places.items[n].is_layer;
    set_flops(l);
    c.by_meta = mem_try(l->w->m->meta_count, sizeof *c.by_meta);
    bool ok = c.by_meta && (!any || name_by_scope(&c)) && sum_places(&c);
    if (ok && any)
        add_layers(&c);
    if (ok && any && c.held < COVER_WANTED * c.all && c.held >= COVER_TRUSTED * c.all)
        ok = join_neighbours(&c);
    l->w->layer_coverage = ok && c.all > 0 ? c.held / c.all : 0;
    free(c.flops);
    free(c.by_meta);
    return ok;
}
