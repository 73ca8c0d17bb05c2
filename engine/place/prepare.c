#include "engine/place/prepare.h"

#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/union_find.h"

#include <string.h>

int place_prepare_classes(const struct place_graph *g, struct place_nets **out, struct err *e)
{
    return place_nets_new(g, g->color, g->colors, out, e);
}

void place_prepared_free(struct place_prepared *p)
{
    if (!p)
        return;
    place_nets_free(p->nets);
    arena_release(&p->arena);
    free(p);
}

/* ---- the forward graph of classes ---- */

struct arrows {
    uint32_t *from, *to;
    size_t count, from_room, to_room;
    bool failed;
};

static void add_arrow(struct arrows *a, uint32_t from, uint32_t to)
{
    if (from == to || a->failed)
        return;
    if (!mem_grow(&a->from, &a->from_room, a->count, 1) ||
        !mem_grow(&a->to, &a->to_room, a->count, 1)) {
        a->failed = true;
        return;
    }
    a->from[a->count] = from;
    a->to[a->count++] = to;
}

static void arrows_free(struct arrows *a)
{
    free(a->from);
    free(a->to);
}

/* Edges among forward nodes, and mirrored ones of classes that have none. */
static bool gather_arrows(const struct place_graph *g, struct arrows *a)
{
    bool *has_forward = mem_try((size_t)g->colors + 1, 1);

    if (!has_forward)
        return false;
    for (uint32_t v = 0; v < g->nodes; v++)
        has_forward[g->color[v]] |= !g->backward[v];
    for (uint32_t u = 0; u < g->nodes; u++) {
        uint32_t cu = g->color[u];
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++) {
            uint32_t v = g->user[i], cv = g->color[v];
            if (!g->backward[u] && !g->backward[v])
                add_arrow(a, cu, cv);
            else if (g->backward[u] && g->backward[v] && !(has_forward[cu] && has_forward[cv]))
                add_arrow(a, cv, cu);
        }
    }
    free(has_forward);
    return !a->failed;
}

/* Rows by `key`, each entry once; arrays of the arena. */
static bool make_rows(struct arena *arena, const uint32_t *key, const uint32_t *value, size_t count,
                      uint32_t rows, uint32_t **at_out, uint32_t **row_out)
{
    uint32_t *at = arena_get(arena, (size_t)rows + 2, sizeof *at);
    uint32_t *row = arena_get(arena, count + 1, sizeof *row);
    uint32_t *mark = mem_try((size_t)rows + 1, sizeof *mark), kept = 0;

    if (!at || !row || !mark) {
        free(mark);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        at[key[i] + 2]++;
    for (uint32_t r = 0; r < rows; r++)
        at[r + 2] += at[r + 1];
    for (size_t i = 0; i < count; i++)
        row[at[key[i] + 1]++] = value[i];
    for (uint32_t r = 0, begin = 0; r < rows; r++) {
        uint32_t end = at[r + 1];
        for (uint32_t i = begin; i < end; i++) {
            if (mark[row[i]] == r + 1)
                continue;
            mark[row[i]] = r + 1;
            row[kept++] = row[i];
        }
        begin = end;
        at[r + 1] = kept;
    }
    free(mark);
    *at_out = at;
    *row_out = row;
    return true;
}

/* ---- strongly connected components (Tarjan 1972), without recursion ---- */

struct tarjan {
    const uint32_t *at, *row;
    uint32_t *index, *low, *stack, *frame, *cursor, *component;
    uint32_t next, top, depth, components;
};

static void push_node(struct tarjan *t, uint32_t v)
{
    t->index[v] = t->low[v] = ++t->next;
    t->stack[t->top++] = v;
    t->frame[t->depth++] = v;
    t->cursor[v] = t->at[v];
}

/* v's component is complete when nothing above it reaches lower. */
static void close_node(struct tarjan *t, uint32_t v)
{
    uint32_t w;

    if (t->low[v] != t->index[v])
        return;
    do {
        w = t->stack[--t->top];
        t->component[w] = t->components;
        t->low[w] = UINT32_MAX;
    } while (w != v);
    t->components++;
}

static void visit_component(struct tarjan *t, uint32_t root)
{
    push_node(t, root);
    while (t->depth) {
        uint32_t v = t->frame[t->depth - 1];
        if (t->cursor[v] < t->at[v + 1]) {
            uint32_t w = t->row[t->cursor[v]++];
            if (!t->index[w])
                push_node(t, w);
            else if (t->low[w] != UINT32_MAX && t->index[w] < t->low[v])
                t->low[v] = t->index[w];
            continue;
        }
        t->depth--;
        uint32_t low = t->low[v];
        close_node(t, v);
        if (t->depth && low < t->low[t->frame[t->depth - 1]])
            t->low[t->frame[t->depth - 1]] = low;
    }
}

/* Components numbered in a topological order (Tarjan closes the last ones first). */
static bool find_components(const uint32_t *at, const uint32_t *row, uint32_t nodes,
                            uint32_t *component, uint32_t *components)
{
    uint32_t *all = mem_try(5 * (size_t)nodes + 1, sizeof *all);
    struct tarjan t = {.at = at, .row = row, .component = component};

    if (!all)
        return false;
    t.index = all;
    t.low = all + nodes;
    t.stack = all + 2 * (size_t)nodes;
    t.frame = all + 3 * (size_t)nodes;
    t.cursor = all + 4 * (size_t)nodes;
    for (uint32_t v = nodes; v-- > 0;) {
        if (!t.index[v])
            visit_component(&t, v);
    }
    for (uint32_t v = 0; v < nodes; v++)
        component[v] = t.components - 1 - component[v];
    *components = t.components;
    free(all);
    return true;
}

/* ---- the prepared problem of one map ---- */

static bool make_precedence(struct place_prepared *p, const struct arrows *a,
                            const uint32_t *position_of_class)
{
    struct arrows b = {0};
    uint32_t m = p->nets->positions;

    for (size_t i = 0; i < a->count; i++)
        add_arrow(&b, position_of_class[a->from[i]], position_of_class[a->to[i]]);
    bool ok = !b.failed &&
              make_rows(&p->arena, b.from, b.to, b.count, m, &p->after_at, &p->after) &&
              make_rows(&p->arena, b.to, b.from, b.count, m, &p->before_at, &p->before);
    arrows_free(&b);
    return ok;
}

static int make_prepared(const struct place_graph *g, const struct arrows *a,
                         const uint32_t *position_of_class, uint32_t positions,
                         struct place_prepared **out, struct err *e)
{
    struct place_prepared *p = mem_try(1, sizeof *p);
    uint32_t *of = mem_try((size_t)g->nodes + 1, sizeof *of);
    int rc = p && of ? 0 : err_no_memory(e, "for this graph");

    if (rc)
        goto out;
    for (uint32_t v = 0; v < g->nodes; v++)
        of[v] = position_of_class[g->color[v]];
    rc = place_nets_new(g, of, positions, &p->nets, e);
    if (rc)
        goto out;
    if (!make_precedence(p, a, position_of_class))
        rc = err_no_memory(e, "for this graph");
out:
    free(of);
    if (rc)
        place_prepared_free(p);
    else
        *out = p;
    return rc;
}

/* ---- leaves without work ---- */

/* May position v join its only neighbour without changing any optimum? */
static uint32_t only_neighbour(const struct place_prepared *p, uint32_t v, bool sizes_matter)
{
    const struct place_nets *n = p->nets;
    uint32_t other = PLACE_NONE;

    if (n->fixed[v] != PLACE_NONE || (sizes_matter && n->bytes[v] > 0))
        return PLACE_NONE;
    for (uint32_t t = 0; t < n->graph->types; t++) {
        if (place_nets_time(n, 0, t, v) >= 1e-6 || place_nets_time(n, 1, t, v) > 0)
            return PLACE_NONE;
    }
    for (uint32_t i = p->after_at[v]; i < p->after_at[v + 1]; i++) {
        if (other != PLACE_NONE && other != p->after[i])
            return PLACE_NONE;
        other = p->after[i];
    }
    for (uint32_t i = p->before_at[v]; i < p->before_at[v + 1]; i++) {
        if (other != PLACE_NONE && other != p->before[i])
            return PLACE_NONE;
        other = p->before[i];
    }
    for (uint32_t i = n->net_at[v]; i < n->net_at[v + 1]; i++) {
        const uint32_t *pin = n->pin + n->pin_at[n->net[i]];
        uint32_t pins = n->pin_at[n->net[i] + 1] - n->pin_at[n->net[i]];
        uint32_t from = *pin == v ? pin[1] : *pin;
        if ((*pin == v && pins > 2) || (other != PLACE_NONE && other != from))
            return PLACE_NONE;
        other = from;
    }
    for (uint32_t i = 0; i < 2 * n->aparts; i++) {
        if (n->apart[i] == v)
            return PLACE_NONE;
    }
    return other != PLACE_NONE && (n->allowed[other] & ~n->allowed[v]) ? PLACE_NONE : other;
}

/* True when some position joined another in `parent`. */
static bool join_leaves(const struct place_prepared *p, uint32_t *parent, bool sizes_matter)
{
    bool any = false;

    for (uint32_t v = 0; v < p->nets->positions; v++) {
        uint32_t other = only_neighbour(p, v, sizes_matter);
        if (other == PLACE_NONE || union_root(parent, other) == v)
            continue;
        parent[union_root(parent, v)] = union_root(parent, other);
        any = true;
    }
    return any;
}

/* Joins `parent`'s positions: the new map of classes, numbered topologically again. */
static bool renumber(const struct place_prepared *p, uint32_t *parent, uint32_t *position_of_class,
                     uint32_t classes, uint32_t *positions)
{
    struct arena arena = {0};
    struct arrows a = {0};
    uint32_t m = p->nets->positions, *at, *row;
    uint32_t *component = mem_try((size_t)m + 1, sizeof *component);

    for (uint32_t v = 0; v < m; v++) { /* a joined set is a cycle through its root */
        uint32_t r = union_root(parent, v);
        add_arrow(&a, v, r);
        add_arrow(&a, r, v);
        for (uint32_t i = p->after_at[v]; i < p->after_at[v + 1]; i++)
            add_arrow(&a, v, p->after[i]);
    }
    bool ok = component && !a.failed && make_rows(&arena, a.from, a.to, a.count, m, &at, &row) &&
              find_components(at, row, m, component, positions);
    for (uint32_t c = 0; c < classes && ok; c++)
        position_of_class[c] = component[position_of_class[c]];
    free(component);
    arrows_free(&a);
    arena_release(&arena);
    return ok;
}

/* Sizes decide something: memory could run out, or weights of copies are sent round. */
static bool do_sizes_matter(const struct place_graph *g)
{
    double all = 0;

    for (uint32_t v = 0; v < g->nodes; v++)
        all += g->bytes[v];
    for (uint32_t t = 0; t < g->types; t++) {
        if (g->type[t].count && all > g->type[t].memory_bytes)
            return true;
    }
    return g->sync_ms_per_byte > 0;
}

static int join_all_leaves(const struct place_graph *g, const struct arrows *a,
                           uint32_t *position_of_class, struct place_prepared **p, struct err *e)
{
    bool sizes_matter = do_sizes_matter(g), any = true;
    int rc = 0;

    for (int round = 0; round < 64 && any; round++) {
        uint32_t m = (*p)->nets->positions, positions = 0;
        uint32_t *parent = mem_try((size_t)m + 1, sizeof *parent);
        if (!parent)
            return err_no_memory(e, "for this graph");
        for (uint32_t v = 0; v < m; v++)
            parent[v] = v;
        any = join_leaves(*p, parent, sizes_matter);
        if (any && !renumber(*p, parent, position_of_class, g->colors, &positions))
            rc = err_no_memory(e, "for this graph");
        free(parent);
        if (rc)
            return rc;
        if (any) {
            place_prepared_free(*p);
            *p = NULL;
            rc = make_prepared(g, a, position_of_class, positions, p, e);
        }
        if (rc)
            return rc;
    }
    return rc;
}

int place_prepare(const struct place_graph *g, struct place_prepared **out, struct err *e)
{
    struct arena arena = {0};
    struct arrows a = {0};
    uint32_t *of = mem_try((size_t)g->colors + 1, sizeof *of), *at, *row, positions;
    struct place_prepared *p = NULL;
    int rc = 0;

    if (!of || !gather_arrows(g, &a) ||
        !make_rows(&arena, a.from, a.to, a.count, g->colors, &at, &row) ||
        !find_components(at, row, g->colors, of, &positions)) {
        rc = err_no_memory(e, "for this graph");
        goto out;
    }
    rc = make_prepared(g, &a, of, positions, &p, e);
    if (rc)
        goto out;
    rc = join_all_leaves(g, &a, of, &p, e);
out:
    free(of);
    arrows_free(&a);
    arena_release(&arena);
    if (rc)
        place_prepared_free(p);
    else
        *out = p;
    return rc;
}

/* Positions by node of g, `of`, and the arrows among them, which are taken. */
static int prepare_of(const struct place_graph *g, const uint32_t *of, uint32_t positions,
                      struct arrows *a, struct place_prepared **out, struct err *e)
{
    struct place_prepared *q = mem_try(1, sizeof *q);
    int rc = q ? 0 : err_no_memory(e, "for this graph");

    if (rc)
        goto out;
    rc = place_nets_new(g, of, positions, &q->nets, e);
    if (rc)
        goto out;
    if (a->failed ||
        !make_rows(&q->arena, a->from, a->to, a->count, positions, &q->after_at, &q->after) ||
        !make_rows(&q->arena, a->to, a->from, a->count, positions, &q->before_at, &q->before))
        rc = err_no_memory(e, "for this graph");
out:
    arrows_free(a);
    if (rc)
        place_prepared_free(q);
    else
        *out = q;
    return rc;
}

int place_prepare_nodes(const struct place_graph *g, struct place_prepared **out, struct err *e)
{
    uint32_t *of = mem_try((size_t)g->nodes + 1, sizeof *of);
    struct arrows a = {0};
    int rc;

    if (!of)
        return err_no_memory(e, "for this graph");
    for (uint32_t k = 0; k < g->nodes; k++)
        of[g->order[k]] = k;
    for (uint32_t k = 0; k < g->nodes; k++) {
        uint32_t u = g->order[k];
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++)
            add_arrow(&a, k, of[g->user[i]]);
    }
    rc = prepare_of(g, of, g->nodes, &a, out, e);
    free(of);
    return rc;
}

int place_prepare_groups(const struct place_prepared *p, const uint32_t *group, uint32_t groups,
                         struct place_prepared **out, struct err *e)
{
    const struct place_graph *g = p->nets->graph;
    uint32_t *of = mem_try((size_t)g->nodes + 1, sizeof *of);
    struct arrows a = {0};
    int rc;

    if (!of)
        return err_no_memory(e, "for this graph");
    for (uint32_t v = 0; v < g->nodes; v++)
        of[v] = group[p->nets->position_of[v]];
    for (uint32_t v = 0; v < p->nets->positions; v++) {
        for (uint32_t i = p->after_at[v]; i < p->after_at[v + 1]; i++)
            add_arrow(&a, group[v], group[p->after[i]]);
    }
    rc = prepare_of(g, of, groups, &a, out, e);
    free(of);
    return rc;
}
