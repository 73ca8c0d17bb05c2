#include "engine/relaxed/trws.h"

#include "engine/relaxed/tables.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

static bool allocate_trws(struct trws *s, const struct energy *g, size_t messages, uint32_t most)
{
    s->first = mem_try((size_t)g->nodes + 2, sizeof *s->first);
    s->split = mem_try((size_t)g->nodes + 1, sizeof *s->split);
    s->ends = mem_try((size_t)g->edge_count * 2, sizeof *s->ends);
    s->gamma = mem_try((size_t)g->nodes + 1, sizeof *s->gamma);
    s->message = mem_try(messages, sizeof *s->message);
    s->message_size = messages;
    s->scratch = mem_try((size_t)most * 2 + 2, sizeof *s->scratch);
    s->x = mem_try((size_t)g->nodes + 1, sizeof *s->x);
    s->is_stale = mem_try((size_t)g->nodes + 1, 1);
    return s->first && s->split && s->ends && s->gamma && s->message && s->scratch && s->x &&
           s->is_stale;
}

/* Ends by node: those to lower nodes, then those to higher ones, each in the order of the edges. */
static void list_ends(struct trws *s)
{
    const struct energy *g = s->g;
    size_t at = 0;

    for (uint32_t k = 0; k < g->edge_count; k++) {
        s->first[g->edges[k].a + 1]++;
        s->first[g->edges[k].b + 1]++;
        s->split[g->edges[k].a > g->edges[k].b ? g->edges[k].a : g->edges[k].b]++;
    }
    for (uint32_t n = 0; n < g->nodes; n++)
        s->first[n + 1] += s->first[n];
    uint32_t *low = mem_alloc(((size_t)g->nodes + 1) * sizeof *low);
    uint32_t *high = mem_alloc(((size_t)g->nodes + 1) * sizeof *high);
    for (uint32_t n = 0; n < g->nodes; n++) {
        low[n] = s->first[n];
        s->split[n] += s->first[n];
        high[n] = s->split[n];
    }
    for (uint32_t k = 0; k < g->edge_count; k++) {
        const struct energy_edge *i = &g->edges[k];
        const struct table *t = &g->tables->items[i->table.table];
        uint32_t at_a = energy_labels(g, i->a), at_b = energy_labels(g, i->b);
        size_t rows_a = i->table.turned ? t->turned : t->at,
               rows_b = i->table.turned ? t->at : t->turned;
        size_t to_a = at, to_b = at + at_a;
        at = to_b + at_b;
        s->ends[i->b > i->a ? high[i->a]++ : low[i->a]++] =
            (struct trws_end){i->b, at_b, rows_a, rows_b, to_a, to_b};
        s->ends[i->a > i->b ? high[i->b]++ : low[i->b]++] =
            (struct trws_end){i->a, at_a, rows_b, rows_a, to_b, to_a};
    }
    free(low);
    free(high);
}

int trws_new(const struct energy *g, struct trws *out, struct err *e)
{
    size_t messages = 0;
    uint32_t most = 1;

    for (uint32_t n = 0; n < g->nodes; n++)
        most = energy_labels(g, n) > most ? energy_labels(g, n) : most;
    for (uint32_t k = 0; k < g->edge_count; k++)
        messages += energy_labels(g, g->edges[k].a) + energy_labels(g, g->edges[k].b);
    *out = (struct trws){.g = g, .bound = -INFINITY};
    if (!allocate_trws(out, g, messages, most)) {
        trws_release(out);
        return err_no_memory(e, "for message passing");
    }
    list_ends(out);
    for (uint32_t n = 0; n < g->nodes; n++) {
        uint32_t lower = out->split[n] - out->first[n], higher = out->first[n + 1] - out->split[n];
        out->gamma[n] = 1.0 / (lower > higher ? lower : higher > 0 ? higher : 1);
    }
    return 0;
}

void trws_release(struct trws *s)
{
    free(s->first);
    free(s->ends);
    free(s->split);
    free(s->gamma);
    free(s->message);
    free(s->scratch);
    free(s->x);
    free(s->is_stale);
    memset(s, 0, sizeof *s);
}

/* ---- one node ---- */

static void add_to(double *restrict out, const double *restrict x, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        out[k] += x[k];
}

static double least(const double *x, uint32_t n)
{
    double best = x[0];

    for (uint32_t k = 1; k < n; k++)
        best = x[k] < best ? x[k] : best;
    return best;
}

static uint32_t least_at(const double *x, uint32_t n)
{
    uint32_t best = 0;

    for (uint32_t k = 1; k < n; k++)
        best = x[k] < x[best] ? k : best;
    return best;
}

/* The node's costs and all messages to it. */
static uint32_t collect_messages(const struct trws *s, uint32_t node, double *d)
{
    const struct energy *g = s->g;
    uint32_t labels = energy_labels(g, node);

    memcpy(d, tables_at(g->tables, g->unary[node], false), labels * sizeof *d);
    for (uint32_t k = s->first[node]; k < s->first[node + 1]; k++)
        add_to(d, s->message + s->ends[k].in, labels);
    return labels;
}

/* Sends to ends[from .. to); returns the sum of what was taken off the messages to make their least
 * 0. */
static double send_message(struct trws *s, uint32_t node, const double *d, uint32_t labels,
                           uint32_t from, uint32_t to)
{
    double *h = s->scratch + labels, taken = 0, gamma = s->gamma[node];
    const double *data = s->g->tables->data;

    for (uint32_t k = from; k < to; k++) {
        const struct trws_end *end = &s->ends[k];
        const double *in = s->message + end->in;
        double *out = s->message + end->out;
        for (uint32_t l = 0; l < labels; l++)
            h[l] = gamma * d[l] - in[l];
        double low = tables_min_sum(out, h, data + end->table, labels, end->cols);
        for (uint32_t l = 0; l < end->cols; l++)
            out[l] -= low;
        taken += low;
    }
    return taken;
}

/* Row of the end's table for the label the other node has, as long as this node's labels. */
static const double *row_for(const struct trws *s, const struct trws_end *end, const uint16_t *x,
                             uint32_t labels)
{
    return s->g->tables->data + end->turned + (size_t)x[end->other] * labels;
}

/* The best label given those of lower nodes and the messages of higher ones. */
static void decide_node(struct trws *s, uint32_t node, uint32_t labels)
{
    const struct energy *g = s->g;
    double *d = s->scratch;

    memcpy(d, tables_at(g->tables, g->unary[node], false), labels * sizeof *d);
    for (uint32_t k = s->first[node]; k < s->split[node]; k++)
        add_to(d, row_for(s, &s->ends[k], s->x, labels), labels);
    for (uint32_t k = s->split[node]; k < s->first[node + 1]; k++)
        add_to(d, s->message + s->ends[k].in, labels);
    s->x[node] = (uint16_t)least_at(d, labels);
}

void trws_sweep(struct trws *s, bool with_labels)
{
    const struct energy *g = s->g;
    double bound = g->constant;

    for (uint32_t n = 0; n < g->nodes; n++) {
        uint32_t labels = collect_messages(s, n, s->scratch);
        (void)send_message(s, n, s->scratch, labels, s->split[n], s->first[n + 1]);
        if (with_labels)
            decide_node(s, n, labels);
    }
    for (uint32_t n = g->nodes; n-- > 0;) {
        uint32_t labels = collect_messages(s, n, s->scratch);
        double low = least(s->scratch, labels);
        for (uint32_t l = 0; l < labels; l++)
            s->scratch[l] -= low;
        bound += low + send_message(s, n, s->scratch, labels, s->first[n], s->split[n]);
    }
    s->bound = fmax(s->bound, bound);
}

/* The best label of a node given its neighbours'; false when it has it. */
static bool improve_node(const struct trws *s, uint16_t *x, uint32_t n)
{
    const struct energy *g = s->g;
    uint32_t labels = energy_labels(g, n);

    memcpy(s->scratch, tables_at(g->tables, g->unary[n], false), labels * sizeof(double));
    for (uint32_t k = s->first[n]; k < s->first[n + 1]; k++)
        add_to(s->scratch, row_for(s, &s->ends[k], x, labels), labels);
    uint32_t best = least_at(s->scratch, labels);
    if (s->scratch[best] >= s->scratch[x[n]])
        return false;
    x[n] = (uint16_t)best;
    return true;
}

void trws_icm(const struct trws *s, uint16_t *x, uint32_t rounds)
{
    bool changed = true;

    memset(s->is_stale, 1, s->g->nodes);
    while (changed && rounds--) {
        changed = false;
        for (uint32_t n = 0; n < s->g->nodes; n++) {
            if (!s->is_stale[n])
                continue;
            s->is_stale[n] = 0;
            if (!improve_node(s, x, n))
                continue;
            changed = true;
            for (uint32_t k = s->first[n]; k < s->first[n + 1]; k++)
                s->is_stale[s->ends[k].other] = 1;
        }
    }
}
