#include "engine/place/servers.h"

#include "engine/place/chain_program.h"
#include "engine/place/family.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/prepare.h"
#include "engine/place/program_run.h"
#include "engine/place/servers_run.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* Sums in another order. */
#define ROUNDING 1e-12

bool place_servers_apply(const struct place_graph *g)
{
    for (uint32_t v = 0; v < g->nodes && g->far_ms; v++) {
        if (g->far_ms[v] < g->send_ms[v])
            return false;
    }
    return place_servers_count(g);
}

/* ---- one server ---- */

static double work_of(const struct servers_run *t, uint32_t row)
{
    return t->ranked[row].work;
}

static void check_over(struct servers_run *t)
{
    const struct place_question *q = t->run.q;

    if (t->reading)
        return;
    t->over |= (q->pairs && t->run.effort->looks > q->pairs) ||
               (q->stop && atomic_load_explicit(q->stop, memory_order_relaxed));
}

/* A stage on `copies` accelerators, or on a core, takes a state of row j to one of row i. */
struct inner_step {
    uint32_t j, i, type, copies, step; /* step: between the two states */
    double cap;
};

static bool is_step(const struct servers_run *t, const struct inner_step *s, uint32_t state)
{
    return state >= s->step && (s->type == t->kinds || state % (t->per + 1) >= s->copies);
}

/* Would it improve a state if it took no time? */
static bool is_open(const struct servers_run *t, const struct inner *table,
                    const struct inner_step *s)
{
    size_t rows = t->rows;

    for (uint32_t state = 0; state < t->inners; state++) {
        if (is_step(t, s, state) && table[(state - s->step) * rows + s->j].value <
                                        fmin(s->cap, table[state * rows + s->i].value))
            return true;
    }
    return false;
}

static void take_inner(const struct servers_run *t, struct inner *table, double *least,
                       const struct inner_step *s, double load)
{
    size_t rows = t->rows;

    for (uint32_t state = 0; state < t->inners; state++) {
        if (!is_step(t, s, state))
            continue;
        double value = fmax(table[(state - s->step) * rows + s->j].value, load);
        if (value < table[state * rows + s->i].value) {
            table[state * rows + s->i] =
                (struct inner){value, s->j, (uint16_t)s->copies, (uint8_t)s->type};
            least[s->i] = fmin(least[s->i], value);
        }
    }
}

/* All that may stand on row j and end at i. */
static void try_inner(struct servers_run *t, const struct servers_inside *in, uint32_t j,
                      uint32_t i, struct inner *table, double *least)
{
    struct server_stage s = {in->first, j, i, in->last == PLACE_NONE ? t->rows - 1 : in->last};
    uint32_t most = t->run.q->rules->replicate ? t->per : 1;
    struct inner_step step = {j, i, in->type, 1, 1, in->cap};
    double load;

    for (; step.copies <= most; step.step = ++step.copies) {
        if (!is_open(t, table, &step) || !servers_may_hold(t, j, i, in->type))
            continue;
        if (servers_stage(t, &s, in->type, step.copies, in->cap, &load))
            take_inner(t, table, least, &step, load);
    }
    step = (struct inner_step){j, i, t->kinds, 1, t->per + 1, in->cap};
    if (t->cores && is_open(t, table, &step) && servers_may_hold(t, j, i, t->kinds) &&
        servers_stage(t, &s, t->kinds, 1, in->cap, &load))
        take_inner(t, table, least, &step, load);
}

void servers_fill(struct servers_run *t, const struct servers_inside *in, struct inner *table,
                  double *least)
{
    size_t rows = t->rows;

    for (uint32_t i = in->first; i <= in->end; i++) {
        least[i] = i == in->first ? 0 : INFINITY;
        for (uint32_t state = 0; state < t->inners; state++)
            table[state * rows + i] = (struct inner){.value = INFINITY, .from = in->first};
    }
    table[in->first].value = 0;
    for (uint32_t i = in->first + 1; i <= in->end && !t->over; i++) {
        if (!servers_is_below(t, in->first, i) ||
            (in->last != PLACE_NONE && !servers_is_below(t, i, in->last)))
            continue;
        for (uint32_t j = i; j-- > in->first && work_of(t, i) - work_of(t, j) <= t->window;) {
            t->run.effort->looks += 1 + t->inners / 4;
            if (least[j] < in->cap && servers_is_below(t, j, i))
                try_inner(t, in, j, i, table, least);
        }
        check_over(t);
    }
}

/* The same bound with the end of the server known: its last stage pays far prices there. */
static double bound_of(struct servers_run *t, uint32_t type, uint32_t first, uint32_t end,
                       double cap)
{
    uint32_t most = t->run.q->rules->replicate ? t->per : 1;
    double best = INFINITY, load;

    for (uint32_t j = end; j-- > first && work_of(t, end) - work_of(t, j) <= t->window;) {
        struct server_stage s = {first, j, end, end};
        if (t->least_of[j] >= fmin(cap, best) || !servers_is_below(t, j, end))
            continue;
        for (uint32_t copies = 1; copies <= most && servers_may_hold(t, j, end, type); copies++) {
            if (servers_stage(t, &s, type, copies, cap, &load))
                best = fmin(best, fmax(t->least_of[j], load));
        }
        if (t->cores && servers_may_hold(t, j, end, t->kinds) &&
            servers_stage(t, &s, t->kinds, 1, cap, &load))
            best = fmin(best, fmax(t->least_of[j], load));
    }
    return best;
}

/* ---- all servers ---- */

static uint32_t used(uint32_t state, uint32_t step, uint32_t count)
{
    return state / step % (count + 1);
}

/* Base work that is done within the caps by so many servers of each kind, and cores. */
static double room_of(const struct servers_run *t, const uint32_t *servers, uint32_t cores)
{
    double room = 0;

    for (uint32_t m = 0; m < t->run.measures; m++) {
        for (uint32_t k = 0; k < t->run.types; k++) {
            double devices = k < t->kinds ? (double)servers[k] * t->per : cores;
            double rate = t->rate[m][k];
            if (devices > 0)
                room += (rate > 0 ? rate * t->run.cap[m] * devices : 0) + t->nothing[m][k];
        }
    }
    return room * (1 + RUN_SLACK);
}

/* Whether the devices a state leaves can do the work behind the row, and it is worth having. */
static bool is_usable(const struct servers_run *t, uint32_t state, uint32_t row)
{
    uint32_t left[PLACE_TYPES_MAX], cores;

    for (uint32_t k = 0; k < t->kinds; k++)
        left[k] = t->servers[k] - used(state, t->kind_step[k], t->servers[k]);
    cores = t->cores - used(state, t->core_step, t->cores);
    if (t->device_step && t->found && state / t->device_step >= t->device_most)
        return false;
    return work_of(t, t->rows - 1) - work_of(t, row) <= room_of(t, left, cores);
}

/* The state after a block, or PLACE_NONE. */
static uint32_t state_after(const struct servers_run *t, uint32_t state, const struct outer *o)
{
    uint32_t k = o->type;

    if (k < t->kinds && used(state, t->kind_step[k], t->servers[k]) + o->servers > t->servers[k])
        return PLACE_NONE;
    if (used(state, t->core_step, t->cores) + o->cores > t->cores)
        return PLACE_NONE;
    if (t->device_step && state / t->device_step + o->devices > t->device_most)
        return PLACE_NONE;
    return state + (k < t->kinds ? o->servers * t->kind_step[k] : 0) + o->cores * t->core_step +
           o->devices * t->device_step;
}

/* A block of that value behind every state of its first row. */
static void take_outer(struct servers_run *t, const struct outer *o, uint32_t row, double block)
{
    size_t rows = t->rows;

    for (uint32_t state = 0; state < t->states; state++) {
        double value = fmax(t->best[state * rows + o->from], block);
        uint32_t after = value < t->run.cap[0] ? state_after(t, state, o) : PLACE_NONE;
        if (after == PLACE_NONE || value >= t->best[after * rows + row] ||
            !is_usable(t, after, row))
            continue;
        t->best[after * rows + row] = value;
        t->choice[after * rows + row] = *o;
        if (row == rows - 1 && !t->run.q->fewest)
            t->run.cap[0] = fmin(t->run.cap[0], value);
    }
}

/* What a server of that kind from `first` to `row` must stay below to be of any use. */
static double limit_of(const struct servers_run *t, uint32_t type, uint32_t first, uint32_t row)
{
    size_t rows = t->rows;
    double limit = 0;

    if (t->device_step)
        return t->run.cap[0];
    for (uint32_t state = 0; state < t->states; state++) {
        double start = t->best[state * rows + first];
        for (uint16_t c = 0; c <= t->cores && start < t->run.cap[0]; c++) {
            struct outer o = {.cores = c, .servers = 1, .type = (uint8_t)type};
            uint32_t after = state_after(t, state, &o);
            if (after != PLACE_NONE && start < t->best[after * rows + row] &&
                is_usable(t, after, row))
                limit = fmax(limit, t->best[after * rows + row]);
        }
    }
    return fmin(limit, t->run.cap[0]);
}

/* Positions pinned to accelerators between two rows: all those of one server of that kind, or of
 * none. */
static bool keeps_servers(const struct servers_run *t, uint32_t type, uint32_t first, uint32_t row)
{
    uint64_t inside = t->marks[(size_t)row * 3] & ~t->marks[(size_t)first * 3];
    uint32_t server = 0, touched = 0;

    for (uint32_t k = 0; k < t->kinds; k++) {
        for (uint32_t i = 0; i < t->servers[k]; i++, server++) {
            uint64_t here = inside & t->pinned[server];
            if (here && (k != type || here != t->pinned[server] || touched++))
                return false;
        }
    }
    return true;
}

/* The last row that work alone lets a block reach, with so many devices of each kind. */
static uint32_t last_in_room(const struct servers_run *t, uint32_t first, double room)
{
    uint32_t end = first;

    while (end + 1 < t->rows && work_of(t, end + 1) - work_of(t, first) <= room)
        end++;
    return end;
}

/* A server from `first` on: every end it can improve. */
static void run_server(struct servers_run *t, uint32_t type, uint32_t first)
{
    size_t rows = t->rows;
    uint32_t one[PLACE_TYPES_MAX] = {0};

    one[type] = 1;
    uint32_t end = last_in_room(t, first, room_of(t, one, t->cores));
    struct servers_inside in = {type, first, end, PLACE_NONE, t->run.cap[0]};
    servers_fill(t, &in, t->least, t->least_of);
    for (uint32_t i = end; i > first && !t->over; i--) {
        if (t->least_of[i] >= t->run.cap[0] || !keeps_servers(t, type, first, i))
            continue;
        double limit = limit_of(t, type, first, i);
        if (t->least_of[i] >= limit || bound_of(t, type, first, i, limit) >= limit)
            continue;
        in = (struct servers_inside){type, first, i, i, limit};
        servers_fill(t, &in, t->real, t->real_of);
        for (uint32_t s = 0; s < t->inners && !t->over; s++) {
            struct outer o = {
                first, (uint16_t)(s / (t->per + 1)), (uint16_t)(s % (t->per + 1)), 1, (uint8_t)type,
                false};
            if (t->real[s * rows + i].value < limit)
                take_outer(t, &o, i, t->real[s * rows + i].value);
        }
    }
}

/* One core alone, or one stage with copies on several whole servers. */
static void run_stage(struct servers_run *t, const struct outer *o, uint32_t copies)
{
    uint32_t counts[PLACE_TYPES_MAX] = {0}, first = o->from;
    double load;

    counts[o->type] = o->servers;
    uint32_t end = last_in_room(t, first, room_of(t, counts, o->cores));
    for (uint32_t i = first + 1; i <= end; i++) {
        struct server_stage s = {first, first, i, i};
        t->run.effort->looks++;
        if (servers_is_below(t, first, i) && servers_may_hold(t, first, i, o->type) &&
            keeps_servers(t, o->type, first, i) &&
            servers_stage(t, &s, o->type, copies, t->run.cap[0], &load))
            take_outer(t, o, i, load);
    }
    check_over(t);
}

static void run_all_from(struct servers_run *t, uint32_t first)
{
    for (uint32_t k = 0; k < t->kinds; k++) {
        for (uint32_t m = 2; m <= t->servers[k] && t->run.q->rules->replicate; m++) {
            struct outer o = {first, 0, (uint16_t)(m * t->per), (uint16_t)m, (uint8_t)k, false};
            run_stage(t, &o, m * t->per);
        }
        if (t->servers[k])
            run_server(t, k, first);
    }
    if (t->cores)
        run_stage(t, &(struct outer){.from = first, .cores = 1, .type = (uint8_t)t->kinds}, 1);
}

/* States that need no more than others have what these have. */
static bool settle_row(struct servers_run *t, uint32_t row)
{
    size_t rows = t->rows;
    bool alive = false;

    for (uint32_t state = 0; state < t->states; state++) {
        double *best = &t->best[state * rows + row];
        for (uint32_t i = 0; i < t->run.types; i++) {
            uint32_t step = i < t->kinds ? t->kind_step[i] : t->core_step;
            uint32_t count = i < t->kinds ? t->servers[i] : t->cores;
            if (!used(state, step, count) || t->best[(state - step) * rows + row] >= *best)
                continue;
            *best = t->best[(state - step) * rows + row];
            t->choice[state * rows + row] = (struct outer){.from = step, .empty = true};
        }
        alive |= *best < t->run.cap[0] && is_usable(t, state, row);
    }
    return alive;
}

static void walk_servers(struct servers_run *t)
{
    for (size_t i = 0; i < (size_t)t->states * t->rows; i++)
        t->best[i] = INFINITY;
    t->best[0] = 0;
    for (uint32_t row = 0; row < t->rows && !t->over; row++) {
        if (settle_row(t, row) && row + 1 < t->rows)
            run_all_from(t, row);
    }
}

/* ---- decisions ---- */

/* The state of the full set with the best plan, or the fewest accelerators. */
static uint32_t final_state(const struct servers_run *t)
{
    size_t rows = t->rows;
    uint32_t found = PLACE_NONE;

    for (uint32_t state = 0; state < t->states; state++) {
        double value = t->best[state * rows + rows - 1];
        if (!isfinite(value) || value >= t->run.q->below_ms || !is_usable(t, state, t->rows - 1))
            continue;
        if (found == PLACE_NONE || (t->device_step ? state / t->device_step < found / t->device_step
                                                   : value < t->best[found * rows + rows - 1]))
            found = state;
    }
    return found;
}

/* A plan of exact prices is the best so far, if it keeps the caps. */
static bool keep_found(struct servers_run *t, struct place_chain *c, uint32_t state,
                       const double ms[2])
{
    if (ms[0] >= t->cap_found || (t->run.measures == 2 && ms[1] > t->run.cap[1])) {
        place_chain_free(c);
        return false;
    }
    place_chain_free(t->found);
    t->found = c;
    c->value_ms = ms[0];
    if (t->device_step)
        t->device_most = state / t->device_step;
    else
        t->cap_found = ms[0];
    return true;
}

/* The best plan by the prices of the program, kept if it is one by exact prices; *p: the position
 * to decide where that may hide a better one, or PLACE_NONE. */
static int relax(struct servers_run *t, uint32_t *p, struct err *e)
{
    struct place_chain *c;
    double ms[2];

    *p = PLACE_NONE;
    t->run.cap[0] = t->cap_found;
    servers_count(t);
    walk_servers(t);
    uint32_t state = t->over ? PLACE_NONE : final_state(t);
    if (state == PLACE_NONE)
        return 0;
    if (servers_answer(t, state, &c, e))
        return e->code;
    if (servers_price(t, c, ms, p, e)) {
        place_chain_free(c);
        return e->code;
    }
    bool same = *p == PLACE_NONE || ms[0] <= c->value_ms * (1 + ROUNDING);
    ms[0] = same ? c->value_ms : ms[0];
    ms[1] = *p == PLACE_NONE ? 0 : ms[1] * (1 - ROUNDING);
    if (keep_found(t, c, state, ms) && (t->device_step || same))
        *p = PLACE_NONE;
    return 0;
}

/* The program takes what may be on a core for what is, where that is cheaper. Where a plan took
 * that for granted, the position is decided both ways. At most as deep as there are positions. */
static int solve(struct servers_run *t, struct err *e)
{
    uint32_t p, host = 1u << t->kinds;
    int rc = relax(t, &p, e);

    if (rc || p == PLACE_NONE)
        return rc;
    uint8_t before = t->run.allowed[p];
    t->run.allowed[p] = (uint8_t)(before & ~host);
    rc = t->run.allowed[p] ? solve(t, e) : 0;
    t->run.allowed[p] = (uint8_t)host;
    rc = rc ? rc : solve(t, e);
    t->run.allowed[p] = before;
    return rc;
}

int place_servers_program(const struct place_prepared *p, const struct place_family *f,
                          const struct place_question *q, struct place_chain **out,
                          struct place_effort *effort, struct err *e)
{
    const struct place_graph *g = p->nets->graph;
    struct servers_run t = {.n = p->nets, .kinds = g->types - 1, .per = g->per_server};

    *out = NULL;
    *effort = (struct place_effort){.ideals = f->count, .alive = f->count};
    t.rows = f->count;
    t.cap_found = q->below_ms;
    t.run = (struct run){.p = p, .n = p->nets, .f = f, .q = q, .effort = effort};
    t.run.types = g->types;
    t.run.measures = q->rules->apart ? 2 : 1;
    t.run.cap[0] = q->below_ms;
    t.run.cap[1] = q->other_ms;
    int rc = servers_new(&t, e);
    if (!rc && t.rows > 1) /* else there are no positions */
        rc = solve(&t, e);
    effort->complete = !t.over;
    if (rc)
        place_chain_free(t.found);
    else
        *out = t.found;
    servers_release(&t);
    return rc;
}
