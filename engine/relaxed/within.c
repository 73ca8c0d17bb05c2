/* engine/relaxed/within.c - multipliers on peaks, as costs of the energy. */
#include "engine/relaxed/within.h"

#include "engine/relaxed/model_internal.h"
#include "engine/relaxed/relaxed_internal.h"
#include "engine/relaxed/summary.h"
#include "engine/search/limit.h"

#include <math.h>
#include <string.h>

enum { ROUNDS_MOST = 24, WEIGH_MOST = 16, POSITIONS_MOST = 64, WITHIN_SWEEPS = 100 };
#define CELLS_MOST ((size_t)1 << 26) /* of new tables: half a GB */
#define FIRST_SHARE 0.05             /* of the bound that the limit's bytes cost at first */
#define SHARE_MOST 1e4
#define GROWTH 4
#define ROUNDING 1e-9 /* of sums of costs; a bound gives that much away */

struct peak {
    struct memory_chain where;
    double share; /* of the rounds that weigh memory alone */
    double now, low, high; /* ms per byte: tried next; of no plan that fits; of one that does */
};

struct within {
    struct relaxed *r;
    double limit, unit; /* ms per byte to begin with */
    struct peak peaks[POSITIONS_MOST];
    uint32_t count;
    bool has_high, is_priced; /* the second: r->pinned is changed */
    bool weighs;              /* memory alone: times are left out */
    table_id *unary; /* [nodes] without multipliers */
    const struct energy_edge *edges;
    struct energy_edge *priced; /* [edges] with them */
    uint32_t *hub_edge;         /* [values] of origins: from the maker to the hub; UINT32_MAX: none */
    double *weight;             /* [values] ms per byte of the value's pieces */
    double *copied;             /* [values] of a variable's copy that its uses share */
    bool *is_param, *is_output; /* [values] */
    double constant;            /* ms of bytes that no label changes */
    struct relaxed_plan best;
    struct memory_chain best_where; /* of its peak */
    struct relaxed_within *how;
    bool has_best;
};

static int no_memory(struct err *e)
{
    return err_set(e, ERR_MEMORY, "not enough memory for a plan within a limit");
}

static int within_new(struct within *w, struct err *e)
{
    const struct model *m = &w->r->model;
    const struct problem *p = w->r->p;
    size_t values = (size_t)p->m->value_count + 1, edges = (size_t)m->energy.edge_count + 1;
    hlo_id root = p->m->computations[p->m->entry].root;

    w->unary = mem_try((size_t)m->energy.nodes + 1, sizeof *w->unary);
    w->priced = mem_try(edges, sizeof *w->priced);
    w->hub_edge = mem_try(values, sizeof *w->hub_edge);
    w->weight = mem_try(values, sizeof *w->weight);
    w->copied = mem_try(values, sizeof *w->copied);
    w->is_param = mem_try(values, sizeof *w->is_param);
    w->is_output = mem_try(values, sizeof *w->is_output);
    if (!w->unary || !w->priced || !w->hub_edge || !w->weight || !w->copied || !w->is_param || !w->is_output)
        return no_memory(e);
    memcpy(w->unary, w->r->pinned.unary, m->energy.nodes * sizeof *w->unary);
    w->edges = w->r->pinned.edges;
    memset(w->hub_edge, 0xff, values * sizeof *w->hub_edge);
    for (uint32_t k = 0; k < m->energy.edge_count; k++) {
        hlo_value v = m->edges[k].value;
        if (m->hub[v] == m->energy.edges[k].b && m->maker[v] == m->energy.edges[k].a)
            w->hub_edge[v] = k;
    }
    for (uint32_t k = 0; k < p->roles.param_count; k++)
        w->is_param[p->roles.params[k].value] = true;
    for (hlo_value v = p->m->leaf_base[root]; v < p->m->leaf_base[root + 1]; v++)
        w->is_output[v] = true;
    return 0;
}

static void within_release(struct within *w)
{
    free(w->unary);
    free(w->priced);
    free(w->hub_edge);
    free(w->weight);
    free(w->copied);
    free(w->is_param);
    free(w->is_output);
    relaxed_plan_release(&w->best);
}

/* ---- memory as costs ---- */

/* Statuses of a value by the labels of its maker: the space and the map into places. */
static status made_status(const struct model *m, hlo_value origin, uint32_t x)
{
    const struct model_node *n = &m->nodes[m->maker[origin]];
    const struct classes *c = &m->p->classes;
    const struct hlo_module *hlo = m->p->m;

    if (n->kind != MODEL_INSTRUCTION)
        return model_status(m, n->space, x);
    uint32_t results = hlo->leaf_base[n->id + 1] - hlo->leaf_base[n->id];
    uint32_t leaf =
        class_leaf_count(c, n->id) - results + (origin - hlo->leaf_base[n->id]);
    uint32_t space = m->leaf_space[c->leaf_base[n->id] + leaf];
    return model_status(m, space, m->places[m->maps[m->patterns[n->pattern].maps + leaf] + x]);
}

/* A table of these costs added to `to`: equal ones are one table, so equal layers stay equal work. */
static struct sight add_costs(struct tables *t, struct sight to, const double *costs)
{
    uint32_t rows = tables_rows(t, to.table, to.turned), cols = tables_cols(t, to.table, to.turned);
    size_t bytes = (size_t)rows * cols * sizeof *costs;
    uint64_t key[TABLE_KEY] = {KEY_MEMORY, rows, cols, mem_hash(costs, bytes, 1),
                               mem_hash(costs, bytes, 2)};
    bool is_new;
    table_id id = tables_get(t, key, rows, cols, &is_new);

    if (is_new && !t->failed) {
        memcpy(tables_at(t, id, false), costs, bytes);
        tables_turn(t, id);
    }
    return (struct sight){tables_sum(t, to, (struct sight){id, false}), false};
}

/* What a value's bytes are multiplied with: inputs hold all micro-batches. */
static double batches(const struct within *w, hlo_value v)
{
    const struct problem *p = w->r->p;
    double cuts = 1;

    for (dim_id d = p->classes.dim_base[v]; w->is_param[v] && d < p->classes.dim_base[v + 1]; d++)
        cuts *= label_cuts(&p->labels, p->classes.class_of[d]);
    return cuts;
}

/* The copy that uses share: of a parameter beside it, else the larger counts. */
static void price_copy(struct within *w, hlo_value v, uint32_t edge)
{
    struct relaxed *r = w->r;
    const struct model *m = &r->model;
    struct energy_edge *k = &w->priced[edge];
    uint32_t rows = energy_labels(&m->energy, k->a), cols = energy_labels(&m->energy, k->b);
    double *costs = mem_alloc((size_t)rows * cols * sizeof *costs);

    for (uint32_t x = 0; x < rows; x++) {
        double made = relaxed_local_bytes(r->p, v, made_status(m, m->origin[v], x));
        for (uint32_t y = 0; y < cols; y++) {
            double held = relaxed_local_bytes(
                r->p, v, model_status(m, m->space_of[m->origin[v]], y));
            costs[(size_t)x * cols + y] = held <= made     ? 0
                                          : w->is_param[v] ? w->copied[v] * held
                                                           : w->weight[v] * (held - made);
        }
    }
    k->table = add_costs(&r->model.tables, k->table, costs);
    free(costs);
}

static void price_value(struct within *w, hlo_value v)
{
    struct relaxed *r = w->r;
    const struct model *m = &r->model;
    hlo_value o = m->origin[v];

    if ((w->is_output[v] && !w->is_param[v]) || r->p->classes.is_free[v])
        return;
    if (o == HLO_NONE || m->maker[o] == UINT32_MAX) {
        w->constant +=
            w->weight[v] * batches(w, v) * relaxed_local_bytes(r->p, v, STATUS_WHOLE);
        return;
    }
    uint32_t node = m->maker[o], labels = energy_labels(&m->energy, node);
    double costs[STATUS_COUNT_MOST];
    BUG_ON(labels > STATUS_COUNT_MOST);
    for (uint32_t x = 0; x < labels; x++)
        costs[x] = w->weight[v] * batches(w, v) *
                   relaxed_local_bytes(r->p, v, made_status(m, o, x));
    r->pinned.unary[node] =
        add_costs(&r->model.tables, (struct sight){r->pinned.unary[node], false}, costs).table;
    if (w->hub_edge[o] != UINT32_MAX)
        price_copy(w, v, w->hub_edge[o]);
}

/* What a table allows, without what it costs. */
static table_id allowed_of(struct tables *t, table_id id)
{
    uint32_t rows = t->items[id].rows, cols = t->items[id].cols;
    uint64_t key[TABLE_KEY] = {KEY_ALLOWED, id};
    bool is_new;
    table_id to = tables_get(t, key, rows, cols, &is_new);

    if (!is_new || t->failed)
        return to;
    const double *from = tables_at(t, id, false);
    double *into = tables_at(t, to, false);
    for (size_t n = 0; n < (size_t)rows * cols; n++)
        into[n] = from[n] > TABLE_FORBIDDEN / 2 ? TABLE_FORBIDDEN : 0;
    tables_turn(t, to);
    return to;
}

/* The energy without memory; weighing, without time too. */
static void begin_price(struct within *w)
{
    struct relaxed *r = w->r;

    memcpy(r->pinned.unary, w->unary, r->pinned.nodes * sizeof *w->unary);
    if (r->pinned.edge_count)
        memcpy(w->priced, w->edges, r->pinned.edge_count * sizeof *w->priced);
    w->is_priced = true;
    r->pinned.edges = w->priced;
    w->constant = 0;
    for (uint32_t n = 0; w->weighs && n < r->pinned.nodes; n++)
        r->pinned.unary[n] = allowed_of(&r->model.tables, w->unary[n]);
    for (uint32_t k = 0; w->weighs && k < r->pinned.edge_count; k++)
        w->priced[k].table.table = allowed_of(&r->model.tables, w->edges[k].table.table);
}

/* A range is live at a peak. */
struct weighing {
    struct within *w;
    double ms;
};

static void weigh_range(void *self, uint32_t range)
{
    const struct weighing *one = self;
    const struct memory_range *i = &one->w->r->p->memory.ranges[range];

    if (i->storing == STORED_AS_USED)
        one->w->weight[i->value] += one->ms;
    else if (i->storing == STORED_COPY)
        one->w->copied[i->value] += one->ms;
}

/* The energy with w->peaks' multipliers in it. */
static int price(struct within *w, struct err *e)
{
    struct relaxed *r = w->r;
    double all = 0;

    begin_price(w);
    memset(w->weight, 0, r->p->m->value_count * sizeof *w->weight);
    memset(w->copied, 0, r->p->m->value_count * sizeof *w->copied);
    for (uint32_t n = 0; n < w->count; n++) {
        struct weighing one = {w, w->peaks[n].now};
        all += one.ms;
        if (one.ms > 0)
            memory_chain_each(&r->p->memory, &w->peaks[n].where, weigh_range, &one);
    }
    for (hlo_value v = 0; v < r->p->m->value_count; v++) {
        if (w->weight[v] > 0 || w->is_param[v])
            price_value(w, v);
    }
    if (!w->weighs)
        w->constant -= all * w->limit;
    return r->model.tables.failed ? no_memory(e) : 0;
}

/* ---- plans ---- */

/* Keeps the plan of r->best when it is better: one that fits, then faster, else of a lower peak.
 * *where: its peak. */
static int offer_plan(struct within *w, struct memory_cost *memory, struct memory_chain *where, struct err *e)
{
    struct relaxed_plan plan = {0};
    int rc = relaxed_extract(w->r, &plan, e);

    if (!rc)
        rc = relaxed_memory_peak(&plan, memory, where, e);
    bool fits = !rc && memory->peak <= w->limit;
    bool better = !rc && (!w->has_best || (fits && !w->how->fits) ||
                          (fits == w->how->fits && (fits ? plan.cost.step_ms < w->best.cost.step_ms
                                                         : memory->peak < w->how->peak)));
    if (!better) {
        relaxed_plan_release(&plan);
        return rc;
    }
    relaxed_plan_release(&w->best);
    w->best = plan;
    w->best_where = *where;
    w->has_best = true;
    w->how->fits = fits;
    w->how->peak = memory->peak;
    return 0;
}

/* The strict optimum within the limit, as far as strict mode can keep the pins. */
static int offer_strict(struct within *w, double *strict_ms, struct err *e)
{
    struct relaxed *r = w->r;
    struct limit_options o = {.limit = w->limit, .variables = true, .inputs = true};
    struct limit_result best;
    struct memory_cost memory;
    struct memory_chain where;
    bool embeds = true;

    *strict_ms = 0;
    if (r->is_beyond_strict || !r->has_strict)
        return 0;
    int rc = exact_limited(&r->p->terms, &r->p->memory, &r->fixed, &o, &best, e);
    if (rc)
        return rc;
    for (uint32_t n = 0; n < r->model.energy.nodes && embeds; n++) {
        uint32_t found = model_strict_label(&r->model, n, best.on);
        embeds = found != UINT32_MAX;
        r->best[n] = (uint16_t)(embeds ? found : 0);
    }
    if (embeds && energy_of(&r->pinned, r->best) < TABLE_FORBIDDEN / 2) {
        rc = offer_plan(w, &memory, &where, e);
        *strict_ms = best.fits ? best.value : 0;
    }
    limit_release(&best);
    return rc;
}

/* ---- multipliers ---- */

static struct peak *peak_at(struct within *w, const struct memory_chain *where)
{
    for (uint32_t k = 0; k < w->count; k++) {
        if (memory_chain_equals(&w->peaks[k].where, where))
            return &w->peaks[k];
    }
    if (w->count == POSITIONS_MOST)
        return NULL;
    w->peaks[w->count] = (struct peak){.where = *where};
    return &w->peaks[w->count++];
}

/* After a plan with the present multipliers that fits, or that peaks at `where`. False: enough. */
static bool move(struct within *w, bool fits, const struct memory_chain *where)
{
    struct peak *at = fits ? NULL : peak_at(w, where);

    for (uint32_t k = 0; k < w->count; k++)
        *(fits ? &w->peaks[k].high : &w->peaks[k].low) = w->peaks[k].now;
    w->has_high |= fits;
    if (!fits && !at)
        return false;
    if (at && at->high <= at->now) /* what was enough elsewhere is not enough here */
        at->high = at->now > 0 ? GROWTH * at->now : w->unit;
    if (at && at->high > w->unit / FIRST_SHARE * SHARE_MOST)
        return false;
    for (uint32_t k = 0; k < w->count; k++) {
        struct peak *p = &w->peaks[k];
        p->now = w->has_high ? (p->low + p->high) / 2 : p == at ? p->high : p->now;
    }
    return true;
}

/* What the solve just made proves of its energy, memory that no label changes included. */
static double proven_energy(const struct within *w)
{
    double bound = w->r->whole.trws.bound;

    return bound + w->constant - ROUNDING * (fabs(bound) + fabs(w->constant));
}

static int search(struct within *w, struct memory_chain where, struct err *e)
{
    struct relaxed *r = w->r;
    size_t before = r->model.tables.used;
    bool fits = false;
    int rc = 0;

    while (!rc && w->how->rounds < ROUNDS_MOST && r->model.tables.used - before < CELLS_MOST &&
           move(w, fits, &where)) {
        struct memory_cost memory;
        w->how->rounds++;
        rc = price(w, e);
        if (!rc)
            rc = relaxed_minimise(r, WITHIN_SWEEPS, e);
        if (rc || r->best_ms > TABLE_FORBIDDEN / 2)
            break;
        w->how->bound_ms = fmax(w->how->bound_ms, proven_energy(w));
        rc = offer_plan(w, &memory, &where, e);
        fits = !rc && memory.peak <= w->limit;
        if (w->how->fits && w->best.cost.step_ms <= w->how->bound_ms * (1 + 1e-6))
            break;
    }
    w->how->positions = w->count;
    return rc;
}

/* Memory alone, until a plan fits, or it is proven that none does. */
static int weigh_memory(struct within *w, struct err *e)
{
    struct memory_chain where = w->best_where;
    double unit = 1e3 / w->how->peak; /* energies of a usual size */
    int rc = 0;

    w->weighs = true;
    for (uint32_t k = 0; k < WEIGH_MOST && !w->how->fits && w->how->least_bound <= w->limit && !rc; k++) {
        struct peak *at = peak_at(w, &where);
        struct memory_cost memory;
        if (!at)
            break;
        for (uint32_t n = 0; n < w->count; n++) {
            struct peak *p = &w->peaks[n];
            p->share = (p->share * k + (p == at)) / (k + 1);
            p->now = unit * p->share;
        }
        rc = price(w, e);
        if (!rc)
            rc = relaxed_minimise(w->r, WITHIN_SWEEPS, e);
        if (rc || w->r->best_ms > TABLE_FORBIDDEN / 2)
            break;
        w->how->least_bound = fmax(w->how->least_bound, proven_energy(w) / unit);
        rc = offer_plan(w, &memory, &where, e);
    }
    return rc;
}

/* The costs of before, so that the next solve is of the pins alone. */
static void restore(struct within *w)
{
    if (w->is_priced) {
        memcpy(w->r->pinned.unary, w->unary, w->r->pinned.nodes * sizeof *w->unary);
        w->r->pinned.edges = (struct energy_edge *)w->edges;
    }
    w->r->is_ready = false;
}

int relaxed_solve_within(struct relaxed *r, double limit, double beaten_ms, struct relaxed_plan *out,
                         struct relaxed_within *how, struct err *e)
{
    struct within w = {.r = r, .limit = limit, .how = how};
    struct memory_cost memory;
    double strict_ms = 0;

    *how = (struct relaxed_within){.limit = limit};
    memset(out, 0, sizeof *out);
    if (r->is_folded)
        return err_set(e, ERR_INPUT, "within a memory limit equal layers may differ: expected no folding");
    int rc = relaxed_solve(r, 0, &w.best, e);
    if (rc)
        return rc;
    how->bound_ms = w.best.bound_ms;
    w.has_best = true;
    w.unit = FIRST_SHARE * how->bound_ms / limit;
    rc = relaxed_memory_peak(&w.best, &memory, &w.best_where, e);
    how->peak = memory.peak;
    how->fits = !rc && memory.peak <= limit;
    strict_ms = w.best.strict_ms;
    how->is_skipped = how->bound_ms >= beaten_ms;
    if (!rc && !how->fits && !how->is_skipped) {
        struct memory_chain where = w.best_where;
        rc = within_new(&w, e);
        if (!rc)
            rc = offer_strict(&w, &strict_ms, e);
        if (!rc)
            rc = search(&w, where, e);
        if (!rc && !how->fits)
            rc = weigh_memory(&w, e);
        restore(&w);
    }
    if (!rc) {
        *out = w.best;
        memset(&w.best, 0, sizeof w.best);
        how->bound_ms = how->fits ? fmin(how->bound_ms, out->cost.step_ms) : how->bound_ms;
        out->bound_ms = how->bound_ms;
        out->gap = out->bound_ms > 0 ? out->cost.step_ms / out->bound_ms - 1 : 0;
        out->strict_ms = strict_ms;
    }
    within_release(&w);
    return rc;
}
