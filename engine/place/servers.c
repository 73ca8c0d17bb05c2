#include "engine/place/servers.h"

#include "engine/place/family.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* Rounding of sums in different orders must not part equal values. */
#define SLACK 1e-9

enum { TABLE_MOST = 1 << 25 }; /* ideals x nets */

struct ranked {
    double work;
    uint32_t ideal;
};

/* A choice inside one server: the row the last device begins at. */
struct inner {
    double value;
    uint32_t from;
};

struct two {
    const struct place_nets *n;
    const struct place_family *f;
    const struct place_question *q;
    struct place_effort *effort;
    uint32_t servers, per; /* devices of one */
    uint32_t rows;         /* ideals by work, ascending */
    struct ranked *ranked;
    uint16_t *pins;             /* [row * nets]: pins inside */
    uint32_t *cut_at, *cut;     /* nets a row cuts */
    double *bytes;              /* by row */
    uint32_t *bad;              /* by row: positions that may not be on an accelerator */
    double cap;                 /* only plans below it */
    double *best;               /* [server * rows + row] */
    uint32_t *from, *used;      /* the same: where the server begins; servers in use count up */
    struct inner *least, *real; /* [devices of a server + 1][rows] */
    bool over;
};

bool place_servers_apply(const struct place_graph *g, const struct place_rules *r)
{
    if (g->types != 2 || g->type[1].count || r->replicate || r->apart || g->aparts)
        return false;
    if (!g->per_server || !g->far_ms || g->type[0].count % g->per_server)
        return false;
    for (uint32_t v = 0; v < g->nodes; v++) {
        if (g->fixed[v] != PLACE_NONE || g->far_ms[v] < g->send_ms[v])
            return false;
    }
    return true;
}

/* ---- tables ---- */

static const uint64_t *set_of(const struct two *t, uint32_t row)
{
    return t->f->set + (size_t)t->ranked[row].ideal * t->f->words;
}

static uint32_t pins_of(const struct place_nets *n, uint32_t h)
{
    return n->pin_at[h + 1] - n->pin_at[h];
}

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return x->work != y->work ? (x->work > y->work) - (x->work < y->work)
                              : (x->ideal > y->ideal) - (x->ideal < y->ideal);
}

static bool allocate(struct two *t)
{
    size_t rows = t->rows;

    t->ranked = mem_try(rows, sizeof *t->ranked);
    t->pins = mem_try(rows * t->n->nets + 1, sizeof *t->pins);
    t->cut_at = mem_try(rows + 1, sizeof *t->cut_at);
    t->bytes = mem_try(rows, sizeof *t->bytes);
    t->bad = mem_try(rows, sizeof *t->bad);
    t->best = mem_try((t->servers + 1) * rows, sizeof *t->best);
    t->from = mem_try((t->servers + 1) * rows, sizeof *t->from);
    t->least = mem_try((t->per + 1) * rows, sizeof *t->least);
    t->real = mem_try((t->per + 1) * rows, sizeof *t->real);
    return t->ranked && t->pins && t->cut_at && t->bytes && t->bad && t->best && t->from &&
           t->least && t->real;
}

static void release(struct two *t)
{
    free(t->ranked);
    free(t->pins);
    free(t->cut_at);
    free(t->cut);
    free(t->bytes);
    free(t->bad);
    free(t->best);
    free(t->from);
    free(t->least);
    free(t->real);
}

static void rank_ideals(struct two *t)
{
    for (uint32_t i = 0; i < t->rows; i++) {
        const uint64_t *set = t->f->set + (size_t)i * t->f->words;
        t->ranked[i] = (struct ranked){0, i};
        for (uint32_t p = 0; p < t->n->positions; p++) {
            if (place_has(set, p))
                t->ranked[i].work +=
                    place_nets_time(t->n, 0, 0, p) + place_nets_time(t->n, 1, 0, p);
        }
    }
    qsort(t->ranked, t->rows, sizeof *t->ranked, compare_ranked);
}

static bool fill_row(struct two *t, uint32_t row, size_t *room)
{
    const struct place_nets *n = t->n;
    const uint64_t *set = set_of(t, row);
    uint16_t *pins = t->pins + (size_t)row * n->nets;
    uint32_t at = t->cut_at[row];

    for (uint32_t p = 0; p < n->positions; p++) {
        if (!place_has(set, p))
            continue;
        t->bytes[row] += n->bytes[p];
        t->bad[row] += !(n->allowed[p] & 1);
        for (uint32_t i = n->net_at[p]; i < n->net_at[p + 1]; i++)
            pins[n->net[i]]++;
    }
    for (uint32_t h = 0; h < n->nets; h++) {
        if (!pins[h] || pins[h] == pins_of(n, h))
            continue;
        if (!mem_grow(&t->cut, room, at, 1))
            return false;
        t->cut[at++] = h;
    }
    t->cut_at[row + 1] = at;
    return true;
}

static int fill_tables(struct two *t, struct err *e)
{
    size_t room = 0;

    if (!allocate(t))
        return err_no_memory(e, "for the program over servers");
    rank_ideals(t);
    for (uint32_t row = 0; row < t->rows; row++) {
        if (!fill_row(t, row, &room))
            return err_no_memory(e, "for the program over servers");
    }
    return 0;
}

/* ---- what one device pays ---- */

/* A device takes `to` less `from`; its server begins at `first`, and ends at `last`. */
struct stage {
    uint32_t first, from, to, last;
};

struct moved {
    double in, out;
};

/* One net that `from` or `to` cuts. */
static void add_net(const struct two *t, const struct stage *s, uint32_t h, struct moved *m)
{
    const struct place_nets *n = t->n;
    uint32_t nets = n->nets, maker = n->pin[n->pin_at[h]];
    uint32_t before = t->pins[(size_t)s->from * nets + h],
             after = t->pins[(size_t)s->to * nets + h];

    if (before == after)
        return;
    if (place_has(set_of(t, s->from), maker)) { /* made before: fetched */
        bool near = !place_has(set_of(t, s->first), maker);
        m->in += near ? n->near_ms[h] : n->far_ms[h];
    } else if (place_has(set_of(t, s->to), maker)) {
        bool far = t->pins[(size_t)s->first * nets + h] ||
                   t->pins[(size_t)s->last * nets + h] != pins_of(n, h);
        m->out += far ? n->far_ms[h] : n->near_ms[h];
    } else {
        bool near = place_has(set_of(t, s->last), maker);
        m->in += near ? n->near_ms[h] : n->far_ms[h];
    }
}

static double load_of(struct two *t, const struct stage *s)
{
    uint32_t nets = t->n->nets;
    struct moved m = {0, 0};

    for (uint32_t i = t->cut_at[s->to]; i < t->cut_at[s->to + 1]; i++)
        add_net(t, s, t->cut[i], &m);
    for (uint32_t i = t->cut_at[s->from]; i < t->cut_at[s->from + 1]; i++) {
        uint32_t h = t->cut[i]; /* those both cut were looked at */
        if (t->pins[(size_t)s->to * nets + h] == pins_of(t->n, h))
            add_net(t, s, h, &m);
    }
    t->effort->pairs++;
    t->effort->looks += (t->cut_at[s->to + 1] - t->cut_at[s->to]) / 2;
    double work = t->ranked[s->to].work - t->ranked[s->from].work;
    return place_parts_ms(t->q->rules->communication, work, m.in, m.out);
}

static bool may_hold(const struct two *t, uint32_t from, uint32_t to)
{
    return t->bad[to] == t->bad[from] &&
           t->bytes[to] - t->bytes[from] <= t->n->graph->type[0].memory_bytes;
}

static bool is_below(const struct two *t, uint32_t j, uint32_t i)
{
    const uint64_t *below = set_of(t, j), *set = set_of(t, i);

    for (uint32_t k = 0; k < t->f->words; k++) {
        if (below[k] & ~set[k])
            return false;
    }
    return true;
}

/* ---- one server ---- */

/* Fills table[devices][row] for rows of `first` up to `end`. With `last` a row, loads are those of
 * a server that ends there; without, they are a bound below: a device then pays near prices for
 * what it sends, but for what crosses the end of its own stage when that ends the server, which is
 * what bound_of asks for. */
static void fill_inside(struct two *t, uint32_t first, uint32_t end, uint32_t last,
                        struct inner *table, double cap)
{
    size_t rows = t->rows;
    double slack = SLACK * t->ranked[rows - 1].work;

    for (uint32_t d = 0; d <= t->per; d++) {
        for (uint32_t i = first; i <= end; i++)
            table[d * rows + i] = (struct inner){d || i != first ? INFINITY : 0, first};
    }
    for (uint32_t i = first + 1; i <= end && !t->over; i++) {
        if (!is_below(t, first, i) || (last != PLACE_NONE && !is_below(t, i, last)))
            continue;
        for (uint32_t j = i; j-- > first;) {
            if (t->ranked[i].work - t->ranked[j].work > cap + slack)
                break;
            t->effort->looks += 1 + t->per / 4;
            bool open = false;
            for (uint32_t d = 1; d <= t->per; d++)
                open |= table[(d - 1) * rows + j].value < fmin(cap, table[d * rows + i].value);
            if (!open || !may_hold(t, j, i) || !is_below(t, j, i))
                continue;
            struct stage s = {first, j, i, last == PLACE_NONE ? (uint32_t)rows - 1 : last};
            double load = load_of(t, &s);
            for (uint32_t d = 1; d <= t->per && load < cap; d++) {
                double value = fmax(table[(d - 1) * rows + j].value, load);
                if (value < table[d * rows + i].value)
                    table[d * rows + i] = (struct inner){value, j};
            }
        }
        t->over |= (t->q->pairs && t->effort->looks > t->q->pairs) ||
                   (t->q->stop && atomic_load_explicit(t->q->stop, memory_order_relaxed));
    }
}

static double best_inside(const struct two *t, const struct inner *table, uint32_t row)
{
    double best = INFINITY;

    for (uint32_t d = 1; d <= t->per; d++)
        best = fmin(best, table[(size_t)d * t->rows + row].value);
    return best;
}

/* The same bound with the end of the server at `end`: its last device pays far prices there. */
static double bound_of(struct two *t, uint32_t first, uint32_t end, double cap)
{
    size_t rows = t->rows;
    double best = INFINITY, slack = SLACK * t->ranked[rows - 1].work;

    for (uint32_t j = end; j-- > first;) {
        if (t->ranked[end].work - t->ranked[j].work > cap + slack)
            break;
        double before = INFINITY;
        for (uint32_t d = 0; d < t->per; d++)
            before = fmin(before, t->least[d * rows + j].value);
        if (before >= fmin(cap, best) || !may_hold(t, j, end) || !is_below(t, j, end))
            continue;
        best = fmin(best, fmax(before, load_of(t, &(struct stage){first, j, end, end})));
    }
    return best;
}

/* ---- all servers ---- */

/* Devices left cannot do the work behind row within the cap. */
static bool is_late(const struct two *t, uint32_t row, uint32_t server)
{
    double all = t->ranked[t->rows - 1].work, left = all - t->ranked[row].work;

    return left > (t->servers - server) * t->per * t->cap + SLACK * all;
}

/* Server number `server` from `first` on: every end it can improve. */
static void run_server(struct two *t, uint32_t server, uint32_t first)
{
    size_t rows = t->rows;
    double *best = t->best + (server + 1) * rows, all = t->ranked[rows - 1].work;
    double start = t->best[server * rows + first];
    uint32_t end = first;

    while (end + 1 < rows &&
           t->ranked[end + 1].work - t->ranked[first].work <= t->per * t->cap + SLACK * all)
        end++;
    fill_inside(t, first, end, PLACE_NONE, t->least, t->cap);
    for (uint32_t i = end; i > first && !t->over; i--) {
        double cap = fmin(t->cap, best[i]);
        if (start >= cap || is_late(t, i, server + 1) || best_inside(t, t->least, i) >= cap ||
            bound_of(t, first, i, cap) >= cap)
            continue;
        fill_inside(t, first, i, i, t->real, cap);
        double value = fmax(start, best_inside(t, t->real, i));
        if (value >= cap || t->over)
            continue;
        best[i] = value;
        t->from[(server + 1) * rows + i] = first;
        if (i == rows - 1)
            t->cap = value;
    }
}

static void walk(struct two *t)
{
    size_t rows = t->rows;

    for (size_t i = 0; i < (t->servers + 1) * rows; i++)
        t->best[i] = INFINITY;
    t->best[0] = 0;
    for (uint32_t server = 0; server < t->servers; server++) {
        for (uint32_t i = 0; i < rows; i++) { /* a server left empty */
            if (t->best[server * rows + i] < t->best[(server + 1) * rows + i]) {
                t->best[(server + 1) * rows + i] = t->best[server * rows + i];
                t->from[(server + 1) * rows + i] = i;
            }
        }
        for (uint32_t i = 0; i + 1 < rows && !t->over; i++) {
            if (t->best[server * rows + i] < t->cap && !is_late(t, i, server))
                run_server(t, server, i);
        }
    }
    t->effort->complete = !t->over;
}

/* ---- the answer ---- */

/* Stages of the server between rows first and end, last device first. */
static void add_server(struct two *t, uint32_t server, uint32_t first, uint32_t end,
                       struct place_chain *c, uint32_t *device)
{
    size_t rows = t->rows;
    uint32_t most = 1;

    t->over = false;
    fill_inside(t, first, end, end, t->real, INFINITY);
    for (uint32_t d = 1; d <= t->per; d++) {
        if (t->real[d * rows + end].value < t->real[most * rows + end].value)
            most = d;
    }
    for (uint32_t row = end, d = most; row != first; d--) {
        uint32_t from = t->real[d * rows + row].from;
        for (uint32_t p = 0; p < c->positions; p++) {
            if (place_has(set_of(t, row), p) && !place_has(set_of(t, from), p))
                c->stage_of[p] = c->stages;
        }
        device[c->stages] = server * t->per + d - 1;
        c->stage[c->stages++] = (struct place_stage){0, 1};
        row = from;
    }
}

static void turn_round(struct place_chain *c, uint32_t *device)
{
    for (uint32_t p = 0; p < c->positions; p++)
        c->stage_of[p] = c->stages - 1 - c->stage_of[p];
    for (uint32_t i = 0; i < c->stages / 2; i++) {
        uint32_t swap = device[i];
        device[i] = device[c->stages - 1 - i];
        device[c->stages - 1 - i] = swap;
    }
}

static int answer(struct two *t, struct place_chain **out, uint32_t **device, struct err *e)
{
    size_t rows = t->rows;
    const struct place_question unlimited = {.rules = t->q->rules};
    double value = t->best[t->servers * rows + rows - 1];

    if (!(value < t->q->below_ms))
        return 0;
    struct place_chain *c = mem_try(1, sizeof *c);
    uint32_t most = t->servers * t->per + 1;
    *device = mem_try(most, sizeof **device);
    if (c) {
        c->stage = mem_try(most, sizeof *c->stage);
        c->stage_of = mem_try((size_t)t->n->positions + 1, sizeof *c->stage_of);
    }
    if (!c || !*device || !c->stage || !c->stage_of) {
        place_chain_free(c);
        free(*device);
        *device = NULL;
        return err_no_memory(e, "for the program over servers");
    }
    c->positions = t->n->positions;
    c->value_ms = value;
    t->q = &unlimited;
    for (uint32_t s = t->servers, row = (uint32_t)rows - 1; s; s--) {
        uint32_t first = t->from[s * rows + row];
        if (first != row)
            add_server(t, s - 1, first, row, c, *device);
        row = first;
    }
    turn_round(c, *device);
    *out = c;
    return 0;
}

int place_servers_program(const struct place_prepared *p, const struct place_family *f,
                          const struct place_question *q, struct place_chain **out,
                          uint32_t **device, struct place_effort *effort, struct err *e)
{
    const struct place_graph *g = p->nets->graph;
    struct two t = {.n = p->nets, .f = f, .q = q, .effort = effort, .rows = f->count};
    int rc = 0;

    *out = NULL;
    *device = NULL;
    *effort = (struct place_effort){.ideals = f->count, .alive = f->count};
    t.per = g->per_server;
    t.servers = g->type[0].count / t.per;
    t.cap = q->below_ms;
    if ((uint64_t)f->count * p->nets->nets > TABLE_MOST || p->nets->positions > UINT16_MAX)
        rc = err_set(e, ERR_LIMIT, "too many ideals for the program over servers");
    if (!rc)
        rc = fill_tables(&t, e);
    if (!rc && t.rows == 1) /* no positions: the empty plan */
        effort->complete = true;
    else if (!rc)
        walk(&t);
    if (!rc)
        rc = answer(&t, out, device, e);
    release(&t);
    return rc;
}
