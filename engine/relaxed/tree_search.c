#include "engine/relaxed/tree_search.h"

#include "engine/relaxed/energy.h"
#include "engine/relaxed/live_bytes.h"
#include "engine/relaxed/over_time.h"
#include "engine/relaxed/peaks.h"
#include "engine/relaxed/tables.h"
#include "engine/relaxed/trws.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/rng.h"

#include <math.h>
#include <string.h>

enum {
    RETRIES_MOST = 7, /* with a price of the worst point */
    HUB_LEAST = 40,   /* neighbours; of a node that only joins large trees */
    HUB_BY_SIZE = 4,
    PEAK_WORK = 24, /* cells that a change of one span takes as long as */
    LIVES_WORK = 96 /* and one of what depends on a label in a relaxed plan */
};

#define FIRST_RAISE 0.1               /* of the prices of a relaxed plan's memory */
#define EXACT_MOST 9007199254740992.0 /* 2^53: sums of whole numbers below it are exact */

/* A node of the tree. */
struct branch {
    uint32_t node, parent; /* parent: into branches */
    uint32_t link;         /* the parent's end that leads here, into graph->ends */
    size_t at;             /* of its labels in the vectors below */
};

struct frontier {
    uint32_t node, parent, link;
};

struct tree_scratch {
    struct branch *branches;
    uint32_t count;
    struct frontier *frontier;
    uint32_t waiting;
    uint32_t *round, *near; /* [nodes] near: neighbours in the tree, valid in this round */
    bool *is_in;            /* [nodes], valid in this round */
    uint32_t now;
    double *own;   /* by label: all but the tree's edges, noise included */
    double *extra; /* by label: the price of worst points */
    double *best;  /* by label: own, extra and the branches behind */
    double *message;
    double *pair;              /* [cells of the largest table] with prices of some level */
    double raised;             /* of the prices, besides the level */
    double *bytes;             /* [points + 1] */
    uint16_t *chosen, *before; /* by branch */
    size_t labels;
};

static uint32_t labels_of(const struct tree_search *s, uint32_t node)
{
    return (uint32_t)(s->label_first[node + 1] - s->label_first[node]);
}

/* Of a table with prices, whose level is mixed; 0: none has any. */
static size_t most_cells(const struct tree_search *s)
{
    size_t most = 0;

    for (uint32_t n = 0; n < s->g->nodes && s->priced_graph; n++) {
        for (uint32_t k = s->graph->first[n]; k < s->graph->first[n + 1]; k++) {
            size_t cells = (size_t)labels_of(s, n) * s->graph->ends[k].cols;
            most = cells > most ? cells : most;
        }
    }
    return most;
}

static bool allocate_scratch(struct tree_search *s, struct tree_scratch *o)
{
    size_t nodes = (size_t)s->g->nodes + 1, labels = s->label_first[s->g->nodes] + 1;
    size_t ends = (size_t)s->graph->first[s->g->nodes] + 1,
           points = s->memory ? s->memory->points : 0;

    s->own = o;
    s->x = mem_try(nodes, sizeof *s->x);
    s->priced = mem_try(labels, sizeof *s->priced);
    o->branches = mem_try(nodes, sizeof *o->branches);
    o->frontier = mem_try(ends, sizeof *o->frontier);
    o->round = mem_try(nodes, sizeof *o->round);
    o->near = mem_try(nodes, sizeof *o->near);
    o->is_in = mem_try(nodes, sizeof *o->is_in);
    o->own = mem_try(labels, sizeof *o->own);
    o->extra = mem_try(labels, sizeof *o->extra);
    o->best = mem_try(labels, sizeof *o->best);
    o->message = mem_try(labels, sizeof *o->message);
    o->bytes = mem_try(points + 1, sizeof *o->bytes);
    o->pair = mem_try(most_cells(s) + 1, sizeof *o->pair);
    o->chosen = mem_try(nodes, sizeof *o->chosen);
    o->before = mem_try(nodes, sizeof *o->before);
    return peaks_new((uint32_t)points, &s->peaks) && o->pair && s->x && s->priced && o->branches &&
           o->frontier && o->round && o->near && o->is_in && o->own && o->extra && o->best &&
           o->message && o->bytes && o->chosen && o->before;
}

/* `out` as its fields say so far, with all that a search needs besides. */
static int begin(uint64_t seed, struct tree_search *out, struct err *e)
{
    out->g = out->graph->g;
    out->data = out->g->tables->data;
    rl_rng_seed(&out->rng, seed, 0);
    if (allocate_scratch(out, mem_alloc(sizeof(struct tree_scratch))))
        return 0;
    tree_search_release(out);
    return err_no_memory(e, "to search by trees");
}

int tree_search_new(const struct trws *graph, const struct over_time *m, const double *cost,
                    const size_t *label_first, uint64_t seed, struct tree_search *out,
                    struct err *e)
{
    *out = (struct tree_search){
        .graph = graph, .memory = m, .cost = cost, .label_first = label_first, .limit = m->limit};
    int code = begin(seed, out, e);
    if (!code)
        memcpy(out->priced, cost, label_first[graph->g->nodes] * sizeof *cost);
    return code;
}

int tree_search_relaxed(const struct trws *graph, const struct trws *priced,
                        struct live_bytes *lives, double limit, const double *cost,
                        const size_t *label_first, uint64_t seed, struct tree_search *out,
                        struct err *e)
{
    *out = (struct tree_search){.graph = graph,
                                .lives = lives,
                                .priced_graph = priced,
                                .level = 1,
                                .cost = cost,
                                .label_first = label_first,
                                .limit = limit};
    int code = begin(seed, out, e);
    if (!code)
        tree_search_reprice(out, priced);
    return code;
}

void tree_search_reprice(struct tree_search *s, const struct trws *priced)
{
    const struct tables *t = s->g->tables;

    s->priced_graph = priced;
    s->data = t->data;
    for (uint32_t n = 0; n < s->g->nodes; n++)
        memcpy(s->priced + s->label_first[n], tables_at(t, priced->g->unary[n], false),
               labels_of(s, n) * sizeof *s->priced);
}

void tree_search_release(struct tree_search *s)
{
    struct tree_scratch *o = s->own;

    if (o) {
        free(o->branches);
        free(o->frontier);
        free(o->round);
        free(o->near);
        free(o->is_in);
        free(o->own);
        free(o->extra);
        free(o->best);
        free(o->message);
        free(o->bytes);
        free(o->pair);
        free(o->chosen);
        free(o->before);
        free(o);
    }
    free(s->x);
    free(s->priced);
    free(s->lowered);
    peaks_release(&s->peaks);
    memset(s, 0, sizeof *s);
}

/* Costs of a node's labels over an end, as its neighbour has it. */
static const double *row_of(const struct tree_search *s, const struct trws_end *end,
                            uint32_t labels)
{
    return s->data + end->turned + (size_t)s->x[end->other] * labels;
}

/* The same with prices; NULL: there are none on this end. */
static const double *priced_row_of(const struct tree_search *s, uint32_t end, uint32_t labels)
{
    const struct trws_end *plain = &s->graph->ends[end],
                          *priced = s->priced_graph ? &s->priced_graph->ends[end] : plain;

    return priced->turned == plain->turned
               ? NULL
               : s->data + priced->turned + (size_t)s->x[plain->other] * labels;
}

/* The energy of x from nothing: all terms are 0 or more, so a sum below 2^53 has not passed it. */
static void sum_energy(struct tree_search *s)
{
    s->energy = s->g->constant;
    for (uint32_t n = 0; n < s->g->nodes; n++) {
        s->energy += s->cost[s->label_first[n] + s->x[n]];
        for (uint32_t k = s->graph->first[n]; k < s->graph->split[n]; k++)
            s->energy += row_of(s, &s->graph->ends[k], labels_of(s, n))[s->x[n]];
    }
    s->is_rounded = s->energy >= EXACT_MOST;
}

void tree_search_set(struct tree_search *s, const uint16_t *x)
{
    memcpy(s->x, x, s->g->nodes * sizeof *x);
    sum_energy(s);
    if (s->lives) {
        live_bytes_set(s->lives, x);
        s->work += LIVES_WORK * (uint64_t)s->g->nodes;
        return;
    }
    over_time_profile(s->memory, x, s->own->bytes);
    peaks_set(&s->peaks, s->own->bytes);
    s->work += s->graph->first[s->g->nodes] + s->memory->span_count + 3 * (size_t)s->peaks.leaves;
}

int tree_search_lower(struct tree_search *s, double most, struct err *e)
{
    const struct tables *t = s->g->tables;

    if (!isfinite(most)) {
        s->data = t->data;
    } else {
        if (!s->lowered)
            s->lowered = mem_try(t->used + 1, sizeof *s->lowered);
        if (!s->lowered)
            return err_no_memory(e, "to search by trees");
        for (size_t k = 0; k < t->used; k++)
            s->lowered[k] = t->data[k] < most ? t->data[k] : most;
        s->data = s->lowered;
        s->work += t->used;
    }
    sum_energy(s);
    s->work += s->graph->first[s->g->nodes];
    return 0;
}

/* ---- a random tree ---- */

static void enter(struct tree_scratch *o, uint32_t node)
{
    if (o->round[node] == o->now)
        return;
    o->round[node] = o->now;
    o->near[node] = 0;
    o->is_in[node] = false;
}

static void add_branch(const struct tree_search *s, uint32_t node, uint32_t parent, uint32_t link)
{
    struct tree_scratch *o = s->own;
    uint32_t me = o->count++;

    enter(o, node);
    o->is_in[node] = true;
    o->branches[me] = (struct branch){node, parent, link, o->labels};
    o->labels += labels_of(s, node);
    for (uint32_t k = s->graph->first[node]; k < s->graph->first[node + 1]; k++) {
        uint32_t to = s->graph->ends[k].other;
        enter(o, to);
        if (!o->is_in[to] && !o->near[to]++)
            o->frontier[o->waiting++] = (struct frontier){to, me, k};
    }
}

static void grow_tree(struct tree_search *s, uint32_t size)
{
    struct tree_scratch *o = s->own;
    uint32_t widest = size * HUB_BY_SIZE > HUB_LEAST ? size * HUB_BY_SIZE : HUB_LEAST;

    o->now++;
    o->count = o->waiting = 0;
    o->labels = 0;
    add_branch(s, rl_rng_below(&s->rng, s->g->nodes), 0, 0);
    while (o->count < size && o->waiting) {
        uint32_t at = rl_rng_below(&s->rng, o->waiting);
        struct frontier f = o->frontier[at];
        o->frontier[at] = o->frontier[--o->waiting];
        if (o->near[f.node] == 1 && s->graph->first[f.node + 1] - s->graph->first[f.node] <= widest)
            add_branch(s, f.node, f.parent, f.link);
    }
}

/* ---- its labels ---- */

/* About -log(u) of a uniform u: exponents exactly, straight lines in between. */
static double noise(struct rl_rng *rng)
{
    int exponent;
    double part = frexp(1 - rl_rng_unit(rng), &exponent); /* 1/2 to 1 */

    return 0.6931471805599453 * (2 * (1 - part) - exponent);
}

static void add_scaled(double *restrict out, const double *restrict plain,
                       const double *restrict priced, double scale, uint32_t labels)
{
    for (uint32_t l = 0; l < labels; l++)
        out[l] += scale * (priced[l] - plain[l]);
}

/* What each label costs given the nodes around the tree. */
static void weigh_tree(struct tree_search *s)
{
    struct tree_scratch *o = s->own;

    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t node = o->branches[i].node, labels = labels_of(s, node);
        double *own = o->own + o->branches[i].at;
        bool is_level = s->lives && s->level != 1;
        memcpy(own, (is_level ? s->cost : s->priced) + s->label_first[node], labels * sizeof *own);
        if (is_level)
            add_scaled(own, s->cost + s->label_first[node], s->priced + s->label_first[node],
                       s->level, labels);
        for (uint32_t k = s->graph->first[node]; k < s->graph->first[node + 1]; k++) {
            const struct trws_end *end = &s->graph->ends[k];
            if (o->round[end->other] == o->now && o->is_in[end->other])
                continue;
            const double *row = row_of(s, end, labels);
            for (uint32_t l = 0; l < labels; l++)
                own[l] += row[l];
            const double *priced = priced_row_of(s, k, labels);
            if (priced)
                add_scaled(own, row, priced, s->level, labels);
            s->work += labels;
        }
        for (uint32_t l = 0; l < labels && s->temperature > 0; l++)
            own[l] += s->temperature * noise(&s->rng);
        s->work += labels + 4;
        o->before[i] = s->x[node];
    }
    memset(o->extra, 0, o->labels * sizeof *o->extra);
    o->raised = 0;
}

/* One cell of a branch's edge, at the level. */
static double pair_of(const struct tree_search *s, const struct branch *b, uint16_t parent,
                      uint16_t own)
{
    size_t plain = s->graph->ends[b->link].table,
           priced = s->priced_graph ? s->priced_graph->ends[b->link].table : plain,
           at = (size_t)parent * labels_of(s, b->node) + own;

    return s->data[plain + at] +
           (priced == plain ? 0 : s->level * (s->data[priced + at] - s->data[plain + at]));
}

/* `cells` of a branch's edge from offsets of the plain and the priced table, at the level and what
 * it is raised by. */
static const double *cells_of(const struct tree_search *s, size_t plain, size_t priced,
                              size_t cells)
{
    struct tree_scratch *o = s->own;
    double scale = s->level + o->raised;
    const double *from = s->data + plain, *to = s->data + priced;

    if (priced == plain || scale == 0)
        return from;
    for (size_t k = 0; k < cells; k++)
        o->pair[k] = from[k] + scale * (to[k] - from[k]);
    return o->pair;
}

static uint32_t least_of(const double *a, const double *b, uint32_t n)
{
    uint32_t best = 0;
    double low = a[0] + (b ? b[0] : 0);

    for (uint32_t l = 1; l < n; l++) {
        double x = a[l] + (b ? b[l] : 0);
        if (x < low) {
            low = x;
            best = l;
        }
    }
    return best;
}

/* The best labels of all branches together: up to the root, and down again. */
static void choose_labels(struct tree_search *s)
{
    struct tree_scratch *o = s->own;
    const struct trws *dear = s->priced_graph ? s->priced_graph : s->graph;

    for (size_t l = 0; l < o->labels; l++)
        o->best[l] = o->own[l] + o->extra[l];
    for (uint32_t i = o->count; i-- > 1;) {
        const struct branch *b = &o->branches[i], *parent = &o->branches[b->parent];
        uint32_t rows = labels_of(s, b->node), cols = labels_of(s, parent->node);
        tables_min_sum(o->message, o->best + b->at,
                       cells_of(s, s->graph->ends[b->link].turned, dear->ends[b->link].turned,
                                (size_t)rows * cols),
                       rows, cols);
        for (uint32_t l = 0; l < cols; l++)
            o->best[parent->at + l] += o->message[l];
        s->work += (uint64_t)rows * cols;
    }
    o->chosen[0] = (uint16_t)least_of(o->best, NULL, labels_of(s, o->branches[0].node));
    for (uint32_t i = 1; i < o->count; i++) {
        const struct branch *b = &o->branches[i];
        uint32_t labels = labels_of(s, b->node);
        size_t row_at = (size_t)o->chosen[b->parent] * labels;
        const double *row = cells_of(s, s->graph->ends[b->link].table + row_at,
                                     dear->ends[b->link].table + row_at, labels);
        o->chosen[i] = (uint16_t)least_of(o->best + b->at, row, labels);
    }
}

/* The tree's part of the priced energy, noise included. */
static double worth_of_labels(const struct tree_search *s, const uint16_t *labels)
{
    const struct tree_scratch *o = s->own;
    double sum = o->own[labels[0]];

    for (uint32_t i = 1; i < o->count; i++) {
        const struct branch *b = &o->branches[i];
        sum += o->own[b->at + labels[i]];
        sum += pair_of(s, b, labels[b->parent], labels[i]);
    }
    return sum;
}

static void relabel_node(struct tree_search *s, uint32_t node, uint16_t to)
{
    uint32_t labels = labels_of(s, node), from = s->x[node];
    const double *cost = s->cost + s->label_first[node];
    double more = cost[to] - cost[from];

    for (uint32_t k = s->graph->first[node]; k < s->graph->first[node + 1]; k++) {
        const double *row = row_of(s, &s->graph->ends[k], labels);
        more += row[to] - row[from];
        s->is_rounded |= fabs(more) >= EXACT_MOST;
    }
    s->work += s->graph->first[node + 1] - s->graph->first[node];
    s->energy += more;
    s->is_rounded |= s->energy >= EXACT_MOST;
    s->x[node] = to;
    if (s->lives) {
        s->work += LIVES_WORK * (uint64_t)live_bytes_change(s->lives, s->x, node);
        return;
    }
    for (uint32_t k = s->memory->first[node]; k < s->memory->first[node + 1]; k++) {
        const struct over_time_span *span = &s->memory->spans[k];
        double bytes = s->memory->bytes[span->bytes + to] - s->memory->bytes[span->bytes + from];
        s->work += 2;
        if (bytes == 0)
            continue;
        peaks_add(&s->peaks, span->from, span->to, bytes);
        s->work += PEAK_WORK;
    }
}

double tree_search_peak(const struct tree_search *s)
{
    return s->lives ? live_bytes_peak(s->lives) : peaks_most(&s->peaks);
}

static void apply_labels(struct tree_search *s, const uint16_t *labels)
{
    for (uint32_t i = 0; i < s->own->count; i++) {
        uint32_t node = s->own->branches[i].node;
        if (s->x[node] != labels[i])
            relabel_node(s, node, labels[i]);
    }
    if (s->is_rounded && s->energy < EXACT_MOST) { /* back from forbidden pairs */
        sum_energy(s);
        s->work += s->graph->first[s->g->nodes];
    }
}

/* Puts a price on what the tree's labels need at one point. */
static void charge_point(struct tree_search *s, uint32_t point, double price)
{
    struct tree_scratch *o = s->own;

    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t node = o->branches[i].node, labels = labels_of(s, node);
        double *extra = o->extra + o->branches[i].at;
        for (uint32_t k = s->memory->first[node]; k < s->memory->first[node + 1]; k++) {
            const struct over_time_span *span = &s->memory->spans[k];
            s->work++;
            if (point < span->from || point >= span->to)
                continue;
            for (uint32_t l = 0; l < labels; l++)
                extra[l] += price * s->memory->bytes[span->bytes + l];
        }
    }
}

/* All prices count for more, on the tree alone. */
static void raise_level(struct tree_search *s)
{
    struct tree_scratch *o = s->own;
    double more = o->raised > 0 ? o->raised : FIRST_RAISE;

    for (uint32_t i = 0; i < o->count; i++) {
        uint32_t node = o->branches[i].node, labels = labels_of(s, node);
        const double *cost = s->cost + s->label_first[node];
        double *extra = o->extra + o->branches[i].at;
        add_scaled(extra, cost, s->priced + s->label_first[node], more, labels);
        for (uint32_t k = s->graph->first[node]; k < s->graph->first[node + 1]; k++) {
            const struct trws_end *end = &s->graph->ends[k];
            const double *priced = priced_row_of(s, k, labels);
            if (!priced || (o->round[end->other] == o->now && o->is_in[end->other]))
                continue;
            add_scaled(extra, row_of(s, end, labels), priced, more, labels);
            s->work += labels;
        }
        s->work += labels;
    }
    o->raised += more;
}

void tree_search_move(struct tree_search *s, uint32_t size)
{
    struct tree_scratch *o = s->own;
    double price = 0;

    if (!s->g->nodes)
        return;
    grow_tree(s, size);
    weigh_tree(s);
    double old = worth_of_labels(s, o->before);
    for (uint32_t k = 0; k <= RETRIES_MOST; k++) {
        choose_labels(s);
        double gain = old - worth_of_labels(s, o->chosen);
        if (gain < 0 || !memcmp(o->chosen, o->before, o->count * sizeof *o->chosen))
            return;
        apply_labels(s, o->chosen);
        double over = tree_search_peak(s) - s->limit;
        if (over <= 0)
            return;
        uint32_t worst = s->lives ? 0 : peaks_worst(&s->peaks);
        apply_labels(s, o->before);
        if (s->lives) {
            raise_level(s);
            continue;
        }
        price = price > 0 ? 2 * price : fmax(gain, 1) / (2 * over);
        charge_point(s, worst, price);
    }
}

uint32_t tree_search_size(struct tree_search *s, uint32_t most)
{
    double range = 0, bits = 1.3 * rl_rng_unit(&s->rng) * rl_rng_unit(&s->rng);

    while ((double)(UINT32_C(1) << (int)range) < most && range < 31)
        range++;
    bits *= range;
    double size = ldexp(1 + (bits - floor(bits)), (int)bits);
    return size < most ? (uint32_t)size : most;
}
