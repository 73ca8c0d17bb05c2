#include "engine/place/chain_program.h"

#include "engine/place/program_run.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum { STATES_MAX = 1 << 16 };

/* ---- bounds ---- */

void run_rate_of(const struct run *r, uint32_t measure, uint32_t type, double *rate,
                 double *nothing)
{
    *rate = *nothing = 0;
    for (uint32_t p = 0; p < r->n->positions; p++) {
        double base = run_measure_time(r, measure, r->base, p),
               time = run_measure_time(r, measure, type, p);
        if (!(r->allowed[p] >> type & 1))
            continue;
        if (time > 0)
            *rate = fmax(*rate, base / time);
        else
            *nothing += base;
    }
}

static double times_cap(double rate, double cap)
{
    return rate > 0 ? rate * cap : 0;
}

static void fill_bounds(struct run *r)
{
    double rate, nothing;

    r->window = 0;
    for (uint32_t m = 0; m < r->measures; m++) {
        double widest = 0;
        for (uint32_t t = 0; t < r->types; t++) {
            if (!r->count[t])
                continue;
            run_rate_of(r, m, t, &rate, &nothing);
            r->rate[m][t] = rate;
            double copies =
                r->q->rules->replicate && !r->n->graph->type[t].is_host ? r->count[t] : 1;
            widest = fmax(widest, times_cap(rate, r->cap[m]) * copies + nothing);
            for (uint32_t d = 0; d < r->states; d++) {
                uint32_t used = r->used[t][d], left = r->count[t] - used;
                if (used)
                    r->capacity[m * r->states + d] += used * times_cap(rate, r->cap[m]) + nothing;
                if (left)
                    r->room[m * r->states + d] += left * times_cap(rate, r->cap[m]) + nothing;
            }
        }
        r->window += widest;
    }
    r->window *= 1 + RUN_SLACK;
}

/* ---- set-up ---- */

static int count_states(struct run *r, struct err *e)
{
    const struct place_graph *g = r->n->graph;
    uint64_t states = 1;

    r->types = g->types;
    r->base = PLACE_NONE;
    for (uint32_t t = 0; t < g->types; t++) {
        uint32_t m = r->n->positions;
        bool copied = r->q->rules->replicate && !g->type[t].is_host;
        r->count[t] = g->type[t].count < m || copied ? g->type[t].count : m;
        r->stride[t] = (uint32_t)states;
        states *= r->count[t] + 1;
        if (states > STATES_MAX)
            return err_set(e, ERR_LIMIT, "too many devices of different kinds for the program");
        if (r->base == PLACE_NONE && r->count[t])
            r->base = t;
    }
    if (r->base == PLACE_NONE)
        r->base = 0;
    r->states = (uint32_t)states;
    return 0;
}

static bool allocate_run(struct run *r)
{
    size_t m = r->n->positions;

    r->sums = r->measures * r->types + 1 + r->types;
    r->room = mem_try((size_t)r->measures * r->states, sizeof(double));
    r->capacity = mem_try((size_t)r->measures * r->states, sizeof(double));
    r->sum = mem_try((size_t)r->f->count * r->sums, sizeof(double));
    r->unit = mem_try((m + 1) * r->sums, sizeof(double));
    r->ranked = mem_try(r->f->count, sizeof *r->ranked);
    r->net = mem_try((size_t)r->n->nets + 1, sizeof *r->net);
    r->cuts_net = mem_try((size_t)r->n->nets / 64 + 1, sizeof *r->cuts_net);
    r->allowed = mem_try(m + 1, 1);
    r->usable = mem_try(r->states, 1);
    r->used[0] = mem_try((size_t)r->types * r->states, sizeof **r->used);
    for (uint32_t t = 0; t < r->types && r->used[0]; t++) {
        r->used[t] = r->used[0] + (size_t)t * r->states;
        for (uint32_t d = 0; d < r->states; d++)
            r->used[t][d] = (uint16_t)(d / r->stride[t] % (r->count[t] + 1));
    }
    return r->used[0] && r->room && r->capacity && r->sum && r->unit && r->ranked && r->net &&
           r->cuts_net && r->allowed && r->usable;
}

static void release_run(struct run *r)
{
    free(r->room);
    free(r->capacity);
    free(r->sum);
    free(r->unit);
    free(r->ranked);
    free(r->net);
    free(r->cuts_net);
    free(r->allowed);
    free(r->usable);
    free(r->used[0]);
    free(r->ideal);
    free(r->set);
    free(r->pins);
    free(r->best);
    free(r->choice);
    free(r->mask);
    free(r->work);
    free(r->cut_at);
    free(r->cut);
}

void run_restrict_types(struct run *r)
{
    for (uint32_t p = 0; p < r->n->positions; p++) {
        r->allowed[p] = r->n->allowed[p];
        if (r->n->fixed[p] != PLACE_NONE)
            r->allowed[p] &= (uint8_t)(1u << place_type_of(r->n->graph, r->n->fixed[p]));
    }
}

int run_compare_ranked(const void *a, const void *b)
{
    const struct run_ranked *x = a, *y = b;

    return x->work != y->work ? (x->work > y->work) - (x->work < y->work)
                              : (x->ideal > y->ideal) - (x->ideal < y->ideal);
}

static void fill_units(struct run *r)
{
    for (uint32_t p = 0; p < r->n->positions; p++) {
        double *unit = r->unit + (size_t)p * r->sums;
        for (uint32_t m = 0; m < r->measures; m++) {
            for (uint32_t t = 0; t < r->types; t++)
                unit[m * r->types + t] = run_measure_time(r, m, t, p);
        }
        unit[run_bytes_at(r)] = r->n->bytes[p];
        for (uint32_t t = 0; t < r->types; t++)
            unit[run_bytes_at(r) + 1 + t] = !(r->allowed[p] >> t & 1);
    }
}

/* In ascending order of positions, or along a chain, so that a larger set never has a smaller sum.
 */
static void fill_sums(struct run *r)
{
    for (uint32_t i = 0; i < r->f->count; i++) {
        const uint64_t *set = run_set_of(r, i), *below = set;
        double *s = run_sums_of(r, i), work = 0;
        if (i && r->f->is_chain) {
            memcpy(s, run_sums_of(r, i - 1), r->sums * sizeof *s);
            below = run_set_of(r, i - 1);
        }
        for (uint32_t k = 0; k < r->words; k++) {
            uint64_t bits = set[k] & ~(below == set ? 0 : below[k]);
            for (; bits; bits &= bits - 1) {
                uint32_t p = k * 64 + (uint32_t)__builtin_ctzll(bits);
                const double *unit = r->unit + (size_t)p * r->sums;
                for (uint32_t c = 0; c < r->sums; c++)
                    s[c] += unit[c];
            }
        }
        for (uint32_t m = 0; m < r->measures; m++)
            work += s[m * r->types + r->base];
        r->ranked[i] = (struct run_ranked){work, i};
    }
    qsort(r->ranked, r->f->count, sizeof *r->ranked, run_compare_ranked);
}

/* ---- the ideal at hand ---- */

/* Pins inside, by net: from those of the ideal before, by what differs. */
static void count_pins(struct run *r, const uint64_t *set)
{
    const struct place_nets *n = r->n;

    for (uint32_t k = 0; k < r->words; k++) {
        uint64_t old = r->before ? r->before[k] : 0, bits = set[k] ^ old;
        for (; bits; bits &= bits - 1) {
            uint32_t p = k * 64 + (uint32_t)__builtin_ctzll(bits);
            uint32_t more = place_has(set, p) ? 1 : UINT32_MAX;
            for (uint32_t i = n->net_at[p]; i < n->net_at[p + 1]; i++) {
                uint32_t h = n->net[i];
                struct run_net *net = &r->net[h];
                net->inside += more;
                uint64_t bit = (uint64_t)1 << (h % 64), *word = &r->cuts_net[h / 64];
                *word = net->inside && net->inside != net->pins ? *word | bit : *word & ~bit;
            }
        }
    }
    r->before = set;
}

static void sum_cuts(struct run *r, const uint64_t *set)
{
    const struct place_nets *n = r->n;
    double in[2] = {0, 0}, out[2] = {0, 0};

    for (uint32_t k = 0; k <= n->nets / 64; k++) {
        for (uint64_t bits = r->cuts_net[k]; bits; bits &= bits - 1) {
            uint32_t h = k * 64 + (uint32_t)__builtin_ctzll(bits);
            bool made = place_has(set, r->net[h].maker);
            in[n->pass[h]] += made ? 0 : r->net[h].ms;
            out[n->pass[h]] += made ? r->net[h].ms : 0;
        }
    }
    memcpy(r->in, in, sizeof in);
    memcpy(r->out, out, sizeof out);
    uint32_t pass = r->q->pass;
    r->cut_ms[0] =
        r->measures == 1 ? r->in[0] + r->in[1] + r->out[0] + r->out[1] : r->in[pass] + r->out[pass];
    r->cut_ms[1] = r->in[1 - pass] + r->out[1 - pass];
}

void run_gather_pins(const struct place_nets *n, const uint64_t *set, uint64_t pins[3])
{
    uint32_t seen = 0;

    memset(pins, 0, 3 * sizeof *pins);
    for (uint32_t i = 0; i < n->aparts; i++) {
        pins[1] |= (uint64_t)place_has(set, n->apart[2 * i]) << i;
        pins[2] |= (uint64_t)place_has(set, n->apart[2 * i + 1]) << i;
    }
    for (uint32_t p = 0; p < n->positions && seen < 64; p++) {
        if (n->fixed[p] != PLACE_NONE)
            pins[0] |= (uint64_t)place_has(set, p) << seen++;
    }
}

/* What a net that an ideal cuts costs on each side of it, at least, in work of the yardstick: some
 * device there pays for it, unless the host holds all its pins of that side. */
static double cut_work(const struct run *r, uint32_t measure, uint32_t d, bool left)
{
    const struct place_graph *g = r->n->graph;
    double rate = INFINITY;

    if (r->q->rules->communication != PLACE_SUM || r->q->rules->replicate)
        return 0;
    for (uint32_t t = 0; t < r->types; t++) {
        uint32_t n = left ? r->count[t] - r->used[t][d] : r->used[t][d];
        if (n && g->type[t].is_host)
            return 0;
        if (n)
            rate = fmin(rate, r->rate[measure][t]);
    }
    return isfinite(rate) ? rate * r->cut_ms[measure] : 0;
}

/* States that may be reached at all: what they have done fits, and so does what is left. */
static bool find_usable(struct run *r, uint32_t ideal)
{
    const double *s = run_sums_of(r, ideal), *all = run_sums_of(r, r->f->count - 1);
    bool any = false;

    r->usable_mask = 0;
    for (uint32_t d = 0; d < r->states; d++) {
        bool ok = true;
        for (uint32_t m = 0; m < r->measures; m++) {
            double done = s[m * r->types + r->base], total = all[m * r->types + r->base];
            double slack = RUN_SLACK * total, left = total - done;
            done += cut_work(r, m, d, false);
            left += cut_work(r, m, d, true);
            ok &= done <= r->capacity[m * r->states + d] + slack &&
                  left <= r->room[m * r->states + d] + slack;
        }
        r->usable[d] = ok;
        if (ok && d < 64)
            r->usable_mask |= (uint64_t)1 << d;
        any |= ok;
    }
    return any;
}

static bool new_row(struct run *r, uint32_t ideal, double work)
{
    size_t row = r->rows;

    if (!mem_grow(&r->ideal, &r->ideal_room, row, 1) ||
        !mem_grow(&r->set, &r->set_room, row * r->words, r->words) ||
        !mem_grow(&r->pins, &r->pins_room, row * 3, 3) ||
        !mem_grow(&r->best, &r->best_room, row * r->states, r->states) ||
        !mem_grow(&r->choice, &r->choice_room, row * r->states, r->states) ||
        !mem_grow(&r->mask, &r->mask_room, row, 1) || !mem_grow(&r->work, &r->work_room, row, 1) ||
        !mem_grow(&r->cut_at, &r->at_room, 2 * row, 3))
        return false;
    r->ideal[row] = ideal;
    r->work[row] = work;
    memcpy(r->set + row * r->words, run_set_of(r, ideal), r->words * sizeof *r->set);
    run_gather_pins(r->n, run_set_of(r, ideal), r->hand_pins);
    memcpy(r->pins + row * 3, r->hand_pins, sizeof r->hand_pins);
    for (uint32_t d = 0; d < r->states; d++)
        r->best[row * r->states + d] = INFINITY;
    return true;
}

/* ---- rows ---- */

static void leave_devices_empty(struct run *r)
{
    double *best = r->best + (size_t)r->rows * r->states;
    struct run_choice *choice = r->choice + (size_t)r->rows * r->states;

    for (uint32_t d = 0; d < r->states; d++) {
        for (uint32_t t = 0; t < r->types; t++) {
            if (!r->used[t][d] || !r->usable[d] || best[d - r->stride[t]] >= best[d])
                continue;
            best[d] = best[d - r->stride[t]];
            choice[d] = (struct run_choice){PLACE_NONE, (uint16_t)t, 0};
        }
    }
}

/* The nets of one pass that the ideal at hand cuts, for the row of it. */
static bool keep_cuts(struct run *r, const uint64_t *set, uint32_t pass)
{
    const struct place_nets *n = r->n;

    for (uint32_t k = 0; k <= n->nets / 64; k++) {
        for (uint64_t bits = r->cuts_net[k]; bits; bits &= bits - 1) {
            uint32_t h = k * 64 + (uint32_t)__builtin_ctzll(bits);
            if (n->pass[h] != pass)
                continue;
            if (!mem_grow(&r->cut, &r->cut_room, r->cuts, 1))
                return false;
            uint32_t made = place_has(set, r->net[h].maker);
            r->cut[r->cuts++] = (struct run_cut){h, r->net[h].inside << 1 | made};
        }
    }
    return true;
}

/* The row stays when some state of it is alive: the nets it cuts are kept for those above. */
static bool keep_row(struct run *r, const uint64_t *set)
{
    const double *best = r->best + (size_t)r->rows * r->states;
    bool any = false;

    r->mask[r->rows] = r->states > 64 ? UINT64_MAX : 0;
    for (uint32_t d = 0; d < r->states; d++) {
        bool alive = best[d] < r->cap[0];
        any |= alive;
        if (d < 64)
            r->mask[r->rows] |= (uint64_t)alive << d;
    }
    if (!any)
        return true;
    for (uint32_t pass = 0; pass < 2; pass++) {
        r->cut_at[2 * (size_t)r->rows + pass] = r->cuts;
        if (!keep_cuts(r, set, pass))
            return false;
    }
    r->cut_at[2 * (size_t)++r->rows] = r->cuts;
    return true;
}

static bool is_over(const struct run *r)
{
    const struct place_question *q = r->q;

    return (q->pairs && r->effort->looks > q->pairs) ||
           (q->stop && atomic_load_explicit(q->stop, memory_order_relaxed));
}

static int walk_ideals(struct run *r, struct err *e)
{
    for (uint32_t rank = 0; rank < r->f->count; rank++) {
        uint32_t ideal = r->ranked[rank].ideal;
        const uint64_t *set = run_set_of(r, ideal);
        if (is_over(r))
            return 0;
        count_pins(r, set);
        sum_cuts(r, set);
        if (!find_usable(r, ideal))
            continue;
        if (!new_row(r, ideal, r->ranked[rank].work))
            return err_no_memory(e, "for the program over ideals");
        if (!ideal)
            r->best[0] = 0;
        else
            run_try_pairs(r, rank);
        leave_devices_empty(r);
        if (!keep_row(r, set))
            return err_no_memory(e, "for the program over ideals");
    }
    r->effort->complete = true;
    return 0;
}

/* ---- the answer ---- */

void place_chain_free(struct place_chain *c)
{
    if (!c)
        return;
    free(c->stage);
    free(c->stage_of);
    free(c->device);
    free(c);
}

static uint32_t accelerators_of(const struct run *r, uint32_t d)
{
    uint32_t all = 0;

    for (uint32_t t = 0; t < r->types; t++)
        all += r->n->graph->type[t].is_host ? 0 : r->used[t][d];
    return all;
}

/* The state of the full set to read the plan from. */
static uint32_t final_state(const struct run *r)
{
    const double *best = r->best + (size_t)(r->rows - 1) * r->states;
    uint32_t found = PLACE_NONE;

    for (uint32_t d = 0; d < r->states; d++) {
        if (!(best[d] < r->cap[0]))
            continue;
        if (found == PLACE_NONE || (r->q->fewest ? accelerators_of(r, d) < accelerators_of(r, found)
                                                 : best[d] < best[found]))
            found = d;
    }
    return found;
}

static void fill_chain(const struct run *r, uint32_t d, struct place_chain *c)
{
    uint32_t row = r->rows - 1, stages = 0;

    c->value_ms = r->best[(size_t)row * r->states + d];
    for (uint32_t p = 0; p < r->n->positions; p++)
        c->stage_of[p] = PLACE_NONE;
    while (row) {
        struct run_choice o = r->choice[(size_t)row * r->states + d];
        if (o.from == PLACE_NONE) {
            d -= r->stride[o.type];
            continue;
        }
        const uint64_t *above = r->set + (size_t)row * r->words;
        const uint64_t *below = r->set + (size_t)o.from * r->words;
        for (uint32_t p = 0; p < r->n->positions; p++) {
            if (place_has(above, p) && !place_has(below, p))
                c->stage_of[p] = stages;
        }
        c->stage[stages++] = (struct place_stage){o.type, o.copies};
        d -= r->stride[o.type] * o.copies;
        row = o.from;
    }
    c->stages = stages;
    for (uint32_t p = 0; p < r->n->positions; p++) /* found from the end */
        c->stage_of[p] = stages - 1 - c->stage_of[p];
    for (uint32_t i = 0; i < stages / 2; i++) {
        struct place_stage swap = c->stage[i];
        c->stage[i] = c->stage[stages - 1 - i];
        c->stage[stages - 1 - i] = swap;
    }
}

static int answer_chain(const struct run *r, struct place_chain **out, struct err *e)
{
    uint32_t d, most = 1;

    *out = NULL;
    if (!r->rows || r->ideal[r->rows - 1] != r->f->count - 1 || (d = final_state(r)) == PLACE_NONE)
        return 0;
    for (uint32_t t = 0; t < r->types; t++)
        most += r->count[t];
    struct place_chain *c = mem_try(1, sizeof *c);
    if (!c)
        return err_no_memory(e, "for the program over ideals");
    c->positions = r->n->positions;
    c->stage = mem_try(most, sizeof *c->stage);
    c->stage_of = mem_try((size_t)c->positions + 1, sizeof *c->stage_of);
    if (!c->stage || !c->stage_of) {
        place_chain_free(c);
        return err_no_memory(e, "for the program over ideals");
    }
    fill_chain(r, d, c);
    *out = c;
    return 0;
}

static bool fill_band(struct run *r, struct place_band *b)
{
    size_t m = r->n->positions, rows = r->states;

    b->done = mem_try(rows, sizeof *b->done);
    b->left = mem_try(rows, sizeof *b->left);
    b->done_a_cut = mem_try(rows, sizeof *b->done_a_cut);
    b->left_a_cut = mem_try(rows, sizeof *b->left_a_cut);
    b->work = mem_try(m + 1, sizeof *b->work);
    if (!b->done || !b->left || !b->done_a_cut || !b->left_a_cut || !b->work)
        return false;
    for (uint32_t p = 0; p < m; p++) {
        b->work[p] = run_measure_time(r, 0, r->base, p);
        b->total += b->work[p];
    }
    b->slack = 2 * RUN_SLACK * b->total; /* sums in another order than the program's */
    b->rows = r->states;
    r->cut_ms[0] = 1;
    for (uint32_t d = 0; d < r->states; d++) {
        b->done[d] = r->capacity[d];
        b->left[d] = r->room[d];
        b->done_a_cut[d] = cut_work(r, 0, d, false);
        b->left_a_cut[d] = cut_work(r, 0, d, true);
    }
    return true;
}

/* States counted, room for them, and which types each may be on; release_run also after an error.
 */
static int open_run(struct run *r, struct err *e)
{
    int rc = count_states(r, e);

    if (rc)
        return rc;
    if (!allocate_run(r))
        return err_no_memory(e, "for the program over ideals");
    run_restrict_types(r);
    return 0;
}

int place_program_band(const struct place_prepared *p, const struct place_question *q,
                       struct place_band *out, struct err *e)
{
    static const struct place_family none = {.count = 1};
    struct place_effort effort;
    struct run r = {
        .p = p, .n = p->nets, .f = &none, .q = q, .effort = &effort, .words = 1, .measures = 1};
    int rc = 0;

    *out = (struct place_band){0};
    if (q->rules->apart || !isfinite(q->below_ms))
        return 0;
    r.cap[0] = q->below_ms;
    rc = open_run(&r, e);
    if (rc)
        goto out;
    fill_bounds(&r);
    rc = fill_band(&r, out) ? 0 : err_no_memory(e, "for the program over ideals");
out:
    if (rc)
        place_band_release(out);
    release_run(&r);
    return rc;
}

int place_program(const struct place_prepared *p, const struct place_family *f,
                  const struct place_question *q, struct place_chain **out,
                  struct place_effort *effort, struct err *e)
{
    struct run r = {.p = p, .n = p->nets, .f = f, .q = q, .effort = effort, .words = f->words};
    int rc;

    *out = NULL;
    *effort = (struct place_effort){.ideals = f->count};
    r.measures = q->rules->apart ? 2 : 1;
    r.cap[0] = q->below_ms;
    r.cap[1] = q->other_ms;
    rc = open_run(&r, e);
    if (rc)
        goto out;
    for (uint32_t h = 0; h < r.n->nets; h++)
        r.net[h] =
            (struct run_net){r.n->near_ms[h], 0, run_pins_of(r.n, h), r.n->pin[r.n->pin_at[h]]};
    fill_units(&r);
    fill_sums(&r);
    fill_bounds(&r);
    rc = walk_ideals(&r, e);
    effort->alive = r.rows;
    if (rc)
        goto out;
    rc = answer_chain(&r, out, e);
out:
    release_run(&r);
    return rc;
}
