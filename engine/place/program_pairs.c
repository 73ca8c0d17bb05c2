#include "engine/place/family.h"
#include "engine/place/program_run.h"

#include "engine/place/chain_program.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"

#include <math.h>

/* ---- pairs ---- */

/* What I \ J moves of one pass, from what I would move alone and the nets J cuts. A net that I does
 * not cut has the rest of it in I \ J; one of which I holds as much as J has nothing there, and its
 * producer is in both or in neither. */
static void move_between(const struct run *r, uint32_t j, uint32_t pass, double in[2],
                         double out[2])
{
    const size_t row = 2 * (size_t)j + pass;
    double fetched = r->in[pass], sent = r->out[pass];

    for (size_t k = r->cut_at[row]; k < r->cut_at[row + 1]; k++) {
        const struct run_cut *c = &r->cut[k];
        const struct run_net *n = &r->net[c->net];
        bool whole = n->inside == n->pins, same = n->inside == c->inside >> 1;
        if (c->inside & 1) { /* made in J */
            fetched += same ? 0 : n->ms;
            sent -= whole ? 0 : n->ms;
        } else {
            fetched -= same ? n->ms : 0;
            sent += whole ? n->ms : 0;
        }
    }
    in[pass] = fetched;
    out[pass] = sent;
}

struct stage_cost {
    double load[2]; /* by measure, of one copy, transfers included, weights not */
};

static struct stage_cost cost_of(const struct run *r, const double compute[2], const double in[2],
                                 const double out[2])
{
    enum place_communication c = r->q->rules->communication;
    uint32_t pass = r->q->pass;

    if (r->measures == 1)
        return (struct stage_cost){
            {place_parts_ms(c, compute[0], in[0] + in[1], out[0] + out[1]), 0}};
    return (struct stage_cost){{place_parts_ms(c, compute[0], in[pass], out[pass]),
                                place_parts_ms(c, compute[1], in[1 - pass], out[1 - pass])}};
}

/* Would a stage of `load` ms on `copies` devices of type t, behind J, improve a state of I? */
static bool improves(const struct run *r, uint32_t j, uint32_t t, uint32_t copies, double load)
{
    const double *from = r->best + (size_t)j * r->states;
    const double *to = r->best + (size_t)r->rows * r->states;
    uint32_t step = r->stride[t] * copies;

    for (uint32_t d = step; d < r->states; d++) {
        if (from[d - step] < to[d] && load < to[d] && r->usable[d] && r->used[t][d] >= copies)
            return true;
    }
    return false;
}

/* The same, done. */
static void take_pair(struct run *r, uint32_t j, uint32_t t, uint32_t copies, double load)
{
    const double *from = r->best + (size_t)j * r->states;
    double *to = r->best + (size_t)r->rows * r->states;
    struct run_choice *choice = r->choice + (size_t)r->rows * r->states;
    uint32_t step = r->stride[t] * copies;

    for (uint32_t d = step; d < r->states; d++) {
        double value = from[d - step] > load ? from[d - step] : load;
        if (value < to[d] && r->usable[d] && r->used[t][d] >= copies) {
            to[d] = value;
            choice[d] = (struct run_choice){j, (uint16_t)t, (uint16_t)copies};
        }
    }
}

/* Weights of copies are sent in the backward pass. */
static double with_copies(const struct run *r, const struct stage_cost *c, uint32_t copies,
                          double bytes, bool *fits)
{
    double sync = place_sync_ms(r->n->graph, bytes, copies);
    bool value_is_backward = r->measures == 1 || r->q->pass == 1;
    double value = c->load[0] / copies + (value_is_backward ? sync : 0);
    double other = c->load[1] / copies + (value_is_backward ? 0 : sync);

    *fits = value < r->cap[0] && (r->measures == 1 || other <= r->cap[1]);
    return value;
}

static void try_type(struct run *r, uint32_t j, uint32_t t, const struct stage_cost *c,
                     double bytes)
{
    const struct place_type *type = &r->n->graph->type[t];
    uint32_t most = r->q->rules->replicate && !type->is_host ? r->count[t] : 1;

    for (uint32_t copies = 1; copies <= most; copies++) {
        bool fits;
        double load = with_copies(r, c, copies, bytes, &fits);
        if (fits)
            take_pair(r, j, t, copies, load);
    }
}

/* Can I \ J be on a device of type t at all, by kind, memory and work alone? */
static bool may_hold(const struct run *r, const double *si, const double *sj, uint32_t t,
                     double compute[2])
{
    const struct place_type *type = &r->n->graph->type[t];
    double copies = r->q->rules->replicate && !type->is_host ? r->count[t] : 1;
    uint32_t b = run_bytes_at(r);

    if (!r->count[t] || si[b + 1 + t] != sj[b + 1 + t])
        return false;
    if (!type->is_host && si[b] - sj[b] > type->memory_bytes)
        return false;
    for (uint32_t m = 0; m < r->measures; m++) {
        compute[m] = si[m * r->types + t] - sj[m * r->types + t];
        if (compute[m] > r->cap[m] * copies * (1 + RUN_SLACK))
            return false;
    }
    return true;
}

static void try_pair(struct run *r, uint32_t ideal, uint32_t j)
{
    const double *si = run_sums_of(r, ideal), *sj = run_sums_of(r, r->ideal[j]);
    const uint64_t *pj = r->pins + (size_t)j * 3;
    double in[2], out[2], compute[2], zero[2] = {0, 0};
    bool moved = false;
    uint64_t fixed = r->hand_pins[0] & ~pj[0];

    if ((fixed & (fixed - 1)) || (r->hand_pins[1] & ~pj[1] & r->hand_pins[2] & ~pj[2]))
        return;
    for (uint32_t t = 0; t < r->types; t++) {
        bool is_host = r->n->graph->type[t].is_host;
        if (!may_hold(r, si, sj, t, compute) ||
            (!r->q->rules->replicate && !improves(r, j, t, 1, compute[0])))
            continue;
        if (!moved && !is_host) {
            move_between(r, j, 0, in, out);
            move_between(r, j, 1, in, out);
            moved = true;
            r->effort->pairs++;
            r->effort->looks += (r->cut_at[2 * (size_t)j + 2] - r->cut_at[2 * (size_t)j]) / 4;
        }
        struct stage_cost c = cost_of(r, compute, is_host ? zero : in, is_host ? zero : out);
        if (is_host) /* work and transfers are the same there, whatever overlaps */
            c = (struct stage_cost){{compute[0], compute[1]}};
        try_type(r, j, t, &c, is_host ? 0 : si[run_bytes_at(r)] - sj[run_bytes_at(r)]);
    }
}

/* States of J that one device can take to a usable state of I; all, where they are too many. */
static uint64_t wanted_states(const struct run *r)
{
    uint64_t want = 0;

    if (r->states > 64 || r->q->rules->replicate)
        return UINT64_MAX;
    for (uint32_t t = 0; t < r->types; t++)
        want |= r->count[t] ? r->usable_mask >> r->stride[t] : 0;
    return want;
}

/* The first row whose work is within the window below `work`. */
static uint32_t first_in_window(const struct run *r, double work)
{
    uint32_t low = 0, high = r->rows;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (work - r->work[middle] > r->window)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_below(const struct run *r, uint32_t j, const uint64_t *set)
{
    const uint64_t *below = r->set + (size_t)j * r->words;

    for (uint32_t k = 0; k < r->words; k++) {
        if (below[k] & ~set[k])
            return false;
    }
    return true;
}

void run_try_pairs(struct run *r, uint32_t rank)
{
    uint32_t ideal = r->ranked[rank].ideal, first = first_in_window(r, r->ranked[rank].work);
    const uint64_t *set = run_set_of(r, ideal);
    uint64_t want = wanted_states(r);

    for (uint32_t j = r->rows; j-- > first;) {
        if (!(r->mask[j] & want))
            continue;
        r->effort->looks++;
        if (r->f->is_chain || is_below(r, j, set))
            try_pair(r, ideal, j);
    }
    r->effort->looks += (r->rows - first) / 8;
}
