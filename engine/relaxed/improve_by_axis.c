/* engine/relaxed/improve_by_axis.c - a plan improved axis by axis: with what happens along all
 * other axes held as it is, the choices along one are few, and found anew by the same elimination
 * and messages. */
#include "engine/relaxed/energy.h"
#include "engine/relaxed/model.h"
#include "engine/relaxed/relaxed_internal.h"
#include "engine/relaxed/status.h"
#include "engine/relaxed/tables.h"
#include "engine/relaxed/trws.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <string.h>

enum { IMPROVE_SWEEPS = 20, IMPROVE_ROUNDS = 4, KEY_SUB = TABLE_KEYS };

/* The energy of what is left when each node may change along one axis only. */
struct slice {
    struct energy energy;
    struct tables tables;
    uint16_t *kept;  /* labels of the stage's nodes that may be taken, node by node */
    uint32_t *first; /* [nodes + 1] into kept */
    uint16_t *x;     /* [nodes] which of them */
};

static void slice_release(struct slice *s)
{
    energy_release(&s->energy);
    tables_release(&s->tables);
    free(s->kept);
    free(s->first);
    free(s->x);
}

/* What label `x` of a node of the stage means, a byte per axis. */
static uint32_t meaning(const struct relaxed *r, const struct stage *s, uint32_t node, uint32_t x)
{
    uint32_t whole = s->reduced.node[node];
    const struct model_node *n = &r->model.nodes[s->is_folded ? s->folded.member[whole] : whole];

    return n->kind == MODEL_INSTRUCTION
               ? r->model.choices[r->model.patterns[n->pattern].choices + x]
               : model_status(&r->model, n->space, x);
}

static bool list_kept(const struct relaxed *r, const struct stage *s, uint32_t axis,
                      struct slice *out)
{
    const struct energy *g = &s->reduced.left;
    size_t room = 0;
    uint32_t count = 0;

    out->first = mem_try((size_t)g->nodes + 1, sizeof *out->first);
    out->x = mem_try((size_t)g->nodes + 1, sizeof *out->x);
    for (uint32_t n = 0; out->first && out->x && n < g->nodes; n++) {
        uint32_t now = meaning(r, s, n, s->left[n]);
        out->first[n] = count;
        if (!mem_grow(&out->kept, &room, count, energy_labels(g, n)))
            return false;
        for (uint32_t l = 0; l < energy_labels(g, n); l++) {
            if (status_with(meaning(r, s, n, l), axis, 0) != status_with(now, axis, 0))
                continue;
            if (l == s->left[n])
                out->x[n] = (uint16_t)(count - out->first[n]);
            out->kept[count++] = (uint16_t)l;
        }
    }
    if (out->first)
        out->first[g->nodes] = count;
    return out->first && out->x;
}

static table_id new_table(struct slice *s, uint32_t rows, uint32_t cols)
{
    uint64_t key[TABLE_KEY] = {KEY_SUB, s->tables.count};
    bool is_new;

    return tables_get(&s->tables, key, rows, cols, &is_new);
}

static void cut_unary(const struct energy *g, struct slice *s, uint32_t n)
{
    uint32_t labels = s->first[n + 1] - s->first[n];
    const double *from = tables_at(g->tables, g->unary[n], false);

    s->energy.unary[n] = new_table(s, 1, labels);
    for (uint32_t k = 0; k < labels && !s->tables.failed; k++)
        tables_at(&s->tables, s->energy.unary[n], false)[k] = from[s->kept[s->first[n] + k]];
}

static void cut_edge(const struct energy *g, struct slice *s, uint32_t k)
{
    const struct energy_edge *i = &g->edges[k];
    uint32_t rows = s->first[i->a + 1] - s->first[i->a], cols = s->first[i->b + 1] - s->first[i->b];
    const double *from = tables_at(g->tables, i->table.table, i->table.turned);
    table_id id = new_table(s, rows, cols);

    s->energy.edges[k] = (struct energy_edge){i->a, i->b, {id, false}};
    if (s->tables.failed)
        return;
    double *to = tables_at(&s->tables, id, false);
    for (uint32_t x = 0; x < rows; x++) {
        const double *row = from + (size_t)s->kept[s->first[i->a] + x] * energy_labels(g, i->b);
        for (uint32_t y = 0; y < cols; y++)
            *to++ = row[s->kept[s->first[i->b] + y]];
    }
    tables_turn(&s->tables, id);
}

static int cut(const struct relaxed *r, const struct stage *stage, uint32_t axis, struct slice *out,
               struct err *e)
{
    const struct energy *g = &stage->reduced.left;
    int rc = tables_new(&out->tables, e);

    if (rc)
        return rc;
    out->energy = (struct energy){.tables = &out->tables,
                                  .nodes = g->nodes,
                                  .edge_count = g->edge_count,
                                  .constant = g->constant};
    out->energy.unary = mem_try((size_t)g->nodes + 1, sizeof *out->energy.unary);
    out->energy.edges = mem_try((size_t)g->edge_count + 1, sizeof *out->energy.edges);
    if (!out->energy.unary || !out->energy.edges || !list_kept(r, stage, axis, out))
        return err_no_memory(e, "to improve a plan");
    for (uint32_t n = 0; n < g->nodes; n++)
        cut_unary(g, out, n);
    for (uint32_t k = 0; k < g->edge_count; k++)
        cut_edge(g, out, k);
    return out->tables.failed ? err_no_memory(e, "to improve a plan") : 0;
}

/* Improves slice->x as far as it can. */
static int improve_slice(struct slice *s, struct err *e)
{
    struct reduction_of_energy reduced;
    struct trws t;
    int rc = energy_reduce(&s->energy, &reduced, e);

    if (rc)
        return rc;
    rc = trws_new(&reduced.left, &t, e);
    if (rc)
        goto out;
    uint16_t *left = mem_try((size_t)reduced.left.nodes + 1, sizeof *left);
    double best = energy_of(&s->energy, s->x);
    for (uint32_t n = 0; left && n <= IMPROVE_SWEEPS && t.bound < best * (1 - 1e-9); n++) {
        if (n) {
            trws_sweep(&t, true);
            memcpy(left, t.x, reduced.left.nodes * sizeof *left);
        } else {
            energy_restrict(&reduced, s->x, left);
        }
        trws_icm(&t, left, IMPROVE_SWEEPS);
        double ms = energy_of(&reduced.left, left);
        if (ms < best) {
            best = ms;
            energy_expand(&reduced, left, s->x);
        }
    }
    free(left);
    trws_release(&t);
out:
    energy_reduced_release(&reduced);
    return rc;
}

/* One round along one axis. *is_lower: the energy of stage->left fell. */
static int improve_along(struct relaxed *r, struct stage *stage, uint32_t axis, bool *is_lower,
                         struct err *e)
{
    struct slice s = {0};
    double before = energy_of(&stage->reduced.left, stage->left);
    int rc = cut(r, stage, axis, &s, e);

    if (rc)
        goto out;
    rc = improve_slice(&s, e);
    if (rc)
        goto out;
    for (uint32_t k = 0; k < stage->reduced.left.nodes; k++)
        stage->left[k] = s.kept[s.first[k] + s.x[k]];
    *is_lower = energy_of(&stage->reduced.left, stage->left) < before * (1 - 1e-12);
out:
    slice_release(&s);
    return rc;
}

int relaxed_improve_by_axis(struct relaxed *r, struct stage *stage, struct err *e)
{
    uint32_t axes = r->p->mesh.axes, since = 0;

    for (uint32_t n = 0;
         axes > 1 && n < IMPROVE_ROUNDS * axes && since < axes && !stop_asked(r->stop); n++) {
        bool is_lower = false;
        int rc = improve_along(r, stage, n % axes, &is_lower, e);
        if (rc)
            return rc;
        since = is_lower ? 0 : since + 1;
    }
    return 0;
}
