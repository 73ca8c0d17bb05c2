/* How many of some values each value is needed by. For a few each walks back alone; many do so
 * together, 64 at a time as the bits of a word, over the graph with its loops drawn together, which
 * has an order. */
#include "hlo/meaning/roles_internal.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

enum { ALONE_MOST = 8, TOGETHER = 64 };

/* ---- each alone ---- */

static bool each_alone(const struct hlo_graph *g, const hlo_value *from, uint32_t count,
                       const bool *which, uint16_t *needed)
{
    struct hlo_reach r = {0};
    bool ok = hlo_reach_init(&r, g);

    for (uint32_t n = 0; ok && n < count; n++) {
        bool is_which = false;
        hlo_reach_clear(&r);
        hlo_reach_add(&r, from[n]);
        hlo_reach_back(&r, g, NULL, NULL);
        for (uint32_t k = 0; k < r.count && !is_which; k++)
            is_which = which[r.queue[k]];
        for (uint32_t k = 0; k < r.count && is_which; k++)
            needed[r.queue[k]]++;
    }
    hlo_reach_release(&r);
    return ok;
}

/* ---- loops drawn together ---- */

/* What the values need, in knots: values on cycles with each other are one. */
struct knots {
    uint32_t *of;    /* [value_count] knot + 1 */
    hlo_value *list; /* the values by knots; a knot stands behind those it needs */
    uint32_t count, listed;
};

/* Tarjan's search, one value deep a frame. */
struct search {
    const struct hlo_graph *g;
    struct knots *k;
    uint32_t *low;   /* [value_count] when met, from 1 on; later the earliest met from it */
    hlo_value *open; /* met, and in no knot yet */
    struct frame {
        hlo_value v;
        uint32_t met, next;
    } * frames;
    uint32_t met, opened, depth;
};

static void meet(struct search *s, hlo_value v)
{
    s->low[v] = ++s->met;
    s->open[s->opened++] = v;
    s->frames[s->depth++] = (struct frame){v, s->met, s->g->pred_first[v]};
}

/* All that `v` needs is done: if nothing met before is among it, what is open behind is a knot. */
static void leave(struct search *s)
{
    struct frame f = s->frames[--s->depth];

    if (s->depth && s->low[f.v] < s->low[s->frames[s->depth - 1].v])
        s->low[s->frames[s->depth - 1].v] = s->low[f.v];
    if (s->low[f.v] < f.met)
        return;
    s->k->count++;
    for (hlo_value v = HLO_NONE; v != f.v;) {
        v = s->open[--s->opened];
        s->k->of[v] = s->k->count;
        s->k->list[s->k->listed++] = v;
    }
}

static void search_from(struct search *s, hlo_value start)
{
    if (s->low[start])
        return;
    meet(s, start);
    while (s->depth) {
        struct frame *f = &s->frames[s->depth - 1];
        if (f->next == s->g->pred_first[f->v + 1]) {
            leave(s);
            continue;
        }
        hlo_value p = s->g->preds[f->next++];
        if (!s->low[p])
            meet(s, p);
        else if (!s->k->of[p] && s->low[p] < s->low[f->v])
            s->low[f->v] = s->low[p];
    }
}

static bool find_knots(const struct hlo_graph *g, const hlo_value *from, uint32_t count,
                       struct knots *k)
{
    size_t values = g->m->value_count;
    struct search s = {.g = g,
                       .k = k,
                       .low = mem_try(values, sizeof *s.low),
                       .open = mem_try(values, sizeof *s.open),
                       .frames = mem_try(values, sizeof *s.frames)};

    k->of = mem_try(values, sizeof *k->of);
    k->list = mem_try(values, sizeof *k->list);
    bool ok = s.low && s.open && s.frames && k->of && k->list;
    for (uint32_t n = 0; ok && n < count; n++)
        search_from(&s, from[n]);
    free(s.low);
    free(s.open);
    free(s.frames);
    return ok;
}

/* ---- many together ---- */

/* needed_by[knot]: which of the `count` values need it. A knot's are known when its turn comes:
 * those that need it stand behind it. */
static void count_together(const struct hlo_graph *g, const struct knots *k, const hlo_value *from,
                           uint32_t count, const bool *which, uint64_t *needed_by, uint16_t *needed)
{
    uint64_t some = 0;

    memset(needed_by, 0, ((size_t)k->count + 1) * sizeof *needed_by);
    for (uint32_t n = 0; n < count; n++)
        needed_by[k->of[from[n]]] |= (uint64_t)1 << n;
    for (uint32_t n = k->listed; n-- > 0;) {
        hlo_value v = k->list[n];
        uint64_t mine = needed_by[k->of[v]];
        for (uint32_t p = g->pred_first[v]; mine && p < g->pred_first[v + 1]; p++)
            needed_by[k->of[g->preds[p]]] |= mine;
        some |= which[v] ? mine : 0;
    }
    for (uint32_t n = 0; n < k->listed && some; n++) {
        hlo_value v = k->list[n];
        needed[v] = (uint16_t)(needed[v] + __builtin_popcountll(needed_by[k->of[v]] & some));
    }
}

bool hlo_roles_needs(const struct hlo_graph *g, const hlo_value *from, uint32_t count,
                     const bool *which, uint16_t *needed)
{
    struct knots k = {0};

    if (count <= ALONE_MOST)
        return each_alone(g, from, count, which, needed);
    bool ok = find_knots(g, from, count, &k);
    uint64_t *needed_by = ok ? mem_try((size_t)k.count + 1, sizeof *needed_by) : NULL;
    for (uint32_t n = 0; needed_by && n < count; n += TOGETHER)
        count_together(g, &k, from + n, count - n < TOGETHER ? count - n : TOGETHER, which,
                       needed_by, needed);
    ok = needed_by != NULL;
    free(needed_by);
    free(k.of);
    free(k.list);
    return ok;
}
