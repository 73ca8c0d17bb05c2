#include "engine/place/fill_devices.h"

#include "engine/place/operator_graph.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum { COUNTS = 12, PROBES = 10, PROBE_STEPS = 20000, CLASS_STEPS = 200000 };

typedef uint64_t set; /* of positions */

struct filling {
    const struct place_nets *n;
    const struct place_completing *c;
    uint32_t accelerators, cores;
    double work[PLACE_COMPLETE_MOST], host[PLACE_COMPLETE_MOST];
    uint32_t order[PLACE_COMPLETE_MOST]; /* heavy ones first */
    set *pins;                           /* by net */
    set free;                            /* without work or nets: anywhere */
    set hosted;                          /* the core may hold them */
    set larger[COUNTS + 1];      /* by k: no core may hold them, an accelerator k of them at most */
    double best_ms, rate;        /* rate: work of an accelerator in one ms of a core */
    set part[PLACE_DEVICES_MAX]; /* by device, of the plan at hand */
    set best[PLACE_DEVICES_MAX];
    bool found;
    uint64_t steps, limit;
    bool over;
};

static bool has(set s, uint32_t p)
{
    return s >> p & 1;
}

bool place_completes(const struct place_nets *n, const struct place_rules *r)
{
    const struct place_graph *g = n->graph;
    double bytes = 0;

    if (n->positions > PLACE_COMPLETE_MOST || !n->positions || n->aparts)
        return false;
    if (r->communication != PLACE_SUM || r->apart || r->replicate || g->types != 2 ||
        g->per_server || !g->type[0].count || g->type[1].count > 1)
        return false;
    for (uint32_t p = 0; p < n->positions; p++) {
        bytes += n->bytes[p];
        if (n->fixed[p] != PLACE_NONE || !(n->allowed[p] & 1))
            return false;
    }
    return bytes <= g->type[0].memory_bytes;
}

/* ---- bounds ---- */

/* What the sets taken in and left out make the device pay at least. */
static double load_of(const struct filling *f, set in, set out)
{
    double load = 0;

    for (set rest = in; rest; rest &= rest - 1)
        load += f->work[__builtin_ctzll(rest)];
    for (uint32_t h = 0; h < f->n->nets; h++)
        load += (f->pins[h] & in) && (f->pins[h] & out) ? f->n->near_ms[h] : 0;
    return load;
}

/* Could so many accelerators and the core hold a set, by work and by count? A net between it and
 * what is elsewhere is paid once more, unless the core may take all its pins. */
static bool may_fit(const struct filling *f, set rest, set elsewhere, uint32_t devices)
{
    set all = rest;
    double work = 0, room = f->best_ms * devices + f->cores * f->rate * f->best_ms;

    for (; rest; rest &= rest - 1) {
        uint32_t p = (uint32_t)__builtin_ctzll(rest);
        work += f->host[p] > 0 || !f->cores ? f->work[p] : 0;
    }
    for (uint32_t h = 0; h < f->n->nets; h++)
        work += (f->pins[h] & elsewhere) && (f->pins[h] & all & ~f->hosted) ? f->n->near_ms[h] : 0;
    bool fits = work <= room * (1 + 1e-9);
    for (uint32_t k = 1; k <= COUNTS; k++)
        fits &= (uint32_t)__builtin_popcountll(all & f->larger[k]) <= k * devices;
    return fits;
}

/* Of a class that a device takes k of at most, the other devices leave some to this one: what the
 * lightest open ones of them add to it. */
static double still_to_come(const struct filling *f, set in, set open, set out, uint32_t devices)
{
    double most = 0;

    for (uint32_t k = 1; k <= COUNTS; k++) {
        set large = f->larger[k];
        uint32_t all = (uint32_t)__builtin_popcountll(large & (in | open | out));
        uint32_t taken = k * (devices - 1) + (uint32_t)__builtin_popcountll(large & in);
        double sum = 0;
        for (uint32_t i = f->n->positions; all > taken && i-- > 0;) {
            if (!has(open & large, f->order[i]))
                continue;
            sum += f->work[f->order[i]];
            taken++;
        }
        most = fmax(most, all > taken ? INFINITY : sum);
    }
    return most;
}

static bool is_over(struct filling *f)
{
    f->over |= f->steps > f->limit ||
               (f->c->stop && atomic_load_explicit(f->c->stop, memory_order_relaxed));
    return f->over;
}

/* ---- the search ---- */

static void fill_next(struct filling *f, set left, uint32_t devices);

/* A device's set is whole. A probe (devices 0) only counts. */
struct choosing {
    set left;         /* what it was chosen from */
    set elsewhere;    /* on devices filled before */
    uint32_t devices; /* left, this one included */
    bool is_probe;
    uint64_t sets, until; /* of a probe: found, and steps it may take */
};

static void choose_sets(struct filling *f, struct choosing *c, set in, set open)
{
    set out = c->left & ~in & ~open;

    f->steps++;
    if (is_over(f) || (c->is_probe && f->steps > c->until) ||
        load_of(f, in, out | c->elsewhere) + still_to_come(f, in, open, out, c->devices) >=
            f->best_ms ||
        !may_fit(f, out, in | c->elsewhere, c->devices - 1))
        return;
    if (!open) {
        if (c->is_probe) {
            c->sets++;
        } else {
            f->part[c->devices - 1] = in;
            fill_next(f, out, c->devices - 1);
        }
        return;
    }
    uint32_t p = 0;
    while (!has(open, f->order[p]))
        p++;
    set one = (set)1 << f->order[p];
    choose_sets(f, c, in | one, open & ~one);
    choose_sets(f, c, in, open & ~one);
}

static set everything(const struct filling *f)
{
    return f->n->positions == 64 ? ~(set)0 : ((set)1 << f->n->positions) - 1;
}

static struct choosing choosing_of(const struct filling *f, set left, uint32_t devices, set on_core)
{
    return (struct choosing){
        .left = left, .elsewhere = everything(f) & ~left & ~on_core, .devices = devices};
}

/* Of some positions the one with the fewest sets. */
static uint32_t pick_set(struct filling *f, set left, uint32_t devices, set on_core)
{
    uint32_t best = PLACE_NONE, tried = 0;
    uint64_t least = UINT64_MAX;
    double last = INFINITY;

    for (uint32_t i = 0; i < f->n->positions && tried < PROBES && least; i++) {
        uint32_t p = f->order[i];
        struct choosing c = choosing_of(f, left, devices, on_core);
        if (!has(left, p) || (best != PLACE_NONE && f->work[p] > 0.97 * last))
            continue;
        last = f->work[p];
        tried++;
        c.is_probe = true;
        c.until = f->steps + PROBE_STEPS;
        choose_sets(f, &c, (set)1 << p, left & ~((set)1 << p));
        uint64_t sets = f->steps > c.until ? UINT64_MAX / 2 : c.sets;
        if (sets < least) {
            least = sets;
            best = p;
        }
    }
    return best;
}

static double core_time(const struct filling *f, set s)
{
    double time = 0;

    for (; s; s &= s - 1)
        time += f->host[__builtin_ctzll(s)];
    return time;
}

/* Can an accelerator take `more` of `open` or above beside `in` below the best? Only nets between
 * what is in and what was left out count. True as well when the steps are used up. */
static bool may_hold(struct filling *f, set in, set open, set out, uint32_t more, uint32_t *steps)
{
    double sum = load_of(f, in, out);
    uint32_t wanted = more;

    for (uint32_t i = f->n->positions; wanted && i-- > 0;) { /* the lightest of them */
        if (!has(open, f->order[i]))
            continue;
        sum += f->work[f->order[i]];
        wanted--;
    }
    if (wanted || sum >= f->best_ms)
        return false;
    if (!open || !*steps)
        return true;
    --*steps;
    uint32_t i = f->n->positions - 1;
    while (!has(open, f->order[i]))
        i--;
    set one = (set)1 << f->order[i];
    return may_hold(f, in | one, open & ~one, out, more ? more - 1 : 0, steps) ||
           may_hold(f, in, open & ~one, out | one, more, steps);
}

/* Classes by the number a device can hold of them. Those of which even the lightest are too heavy
 * together are in; then, lighter and lighter, every position that cannot join k others. */
static void fill_classes(struct filling *f)
{
    for (uint32_t k = 1; k <= COUNTS; k++) {
        uint32_t steps = CLASS_STEPS;
        bool grows = true;
        f->larger[k] = 0;
        for (uint32_t i = 0; i < f->n->positions && grows; i++) {
            set one = (set)1 << f->order[i];
            if (f->cores && f->host[f->order[i]] < f->best_ms)
                continue;
            grows = f->work[f->order[i]] * (k + 1) >= f->best_ms ||
                    (f->work[f->order[i]] > 0 && !may_hold(f, one, f->larger[k], 0, k, &steps));
            f->larger[k] |= grows ? one : 0;
        }
    }
}

static void note_filling(struct filling *f)
{
    uint32_t devices = f->accelerators + f->cores;
    double value = 0;

    for (uint32_t d = 0; d < f->accelerators; d++)
        value = fmax(value, load_of(f, f->part[d], everything(f) & ~f->part[d]));
    if (f->cores)
        value = fmax(value, core_time(f, f->part[f->accelerators]));
    if (value >= f->best_ms)
        return;
    f->best_ms = value; /* sets are below it from now on, not at it */
    fill_classes(f);
    f->found = true;
    memcpy(f->best, f->part, devices * sizeof *f->best);
}

/* What is left goes to so many accelerators and the core. Depth: positions on the core and devices,
 * 64 and their number at most. */
static void fill_next(struct filling *f, set left, uint32_t devices)
{
    set on_core = f->cores ? f->part[f->accelerators] : 0;

    if (!left) {
        for (uint32_t d = 0; d < devices; d++)
            f->part[d] = 0;
        note_filling(f);
        return;
    }
    uint32_t p = devices ? pick_set(f, left, devices, on_core) : (uint32_t)__builtin_ctzll(left);
    if (f->over)
        return;
    set one = (set)1 << p;
    if (devices) {
        struct choosing c = choosing_of(f, left, devices, on_core);
        choose_sets(f, &c, one, left & ~one);
    }
    if (f->cores && (f->n->allowed[p] & 2) && core_time(f, on_core | one) < f->best_ms) {
        f->part[f->accelerators] = on_core | one;
        fill_next(f, left & ~one, devices);
        f->part[f->accelerators] = on_core;
    }
}

/* ---- set-up ---- */

static void fill_figures(struct filling *f)
{
    const struct place_nets *n = f->n;

    for (uint32_t p = 0; p < n->positions; p++) {
        f->work[p] = place_nets_time(n, 0, 0, p) + place_nets_time(n, 1, 0, p);
        f->host[p] = n->allowed[p] & 2 ? place_nets_time(n, 0, 1, p) + place_nets_time(n, 1, 1, p)
                                       : INFINITY;
        if (f->host[p] > 0)
            f->rate = fmax(f->rate, f->work[p] / f->host[p]);
        f->hosted |= f->cores && isfinite(f->host[p]) ? (set)1 << p : 0;
        uint32_t at = p;
        for (; at && f->work[f->order[at - 1]] < f->work[p]; at--)
            f->order[at] = f->order[at - 1];
        f->order[at] = p;
    }
    for (uint32_t p = 0; p < n->positions; p++) {
        if (n->net_at[p] == n->net_at[p + 1] && !(f->work[p] > 0))
            f->free |= (set)1 << p;
    }
    for (uint32_t h = 0; h < n->nets; h++) {
        for (uint32_t i = n->pin_at[h]; i < n->pin_at[h + 1]; i++)
            f->pins[h] |= (set)1 << n->pin[i];
    }
}

int place_complete(const struct place_nets *n, const struct place_completing *c, double *value_ms,
                   uint32_t *device, bool *found, bool *proven, struct err *e)
{
    struct filling *f = mem_try(1, sizeof *f);
    set *pins = mem_try((size_t)n->nets + 1, sizeof *pins);

    if (!f || !pins) {
        free(f);
        free(pins);
        return err_no_memory(e, "for branch and bound");
    }
    f->n = n;
    f->c = c;
    f->pins = pins;
    f->accelerators = n->graph->type[0].count;
    f->cores = n->graph->type[1].count;
    f->limit = c->steps ? c->steps : 10000000;
    f->best_ms = *value_ms * (1 - 1e-12);
    fill_figures(f);
    fill_classes(f);
    fill_next(f, everything(f) & ~f->free, f->accelerators);
    *found = f->found;
    *proven = !f->over;
    if (f->found) {
        *value_ms = f->best_ms;
        f->best[0] |= f->free;
        for (uint32_t d = 0; d < f->accelerators + f->cores; d++) {
            for (set rest = f->best[d]; rest; rest &= rest - 1)
                device[__builtin_ctzll(rest)] = d;
        }
    }
    free(f);
    free(pins);
    return 0;
}
