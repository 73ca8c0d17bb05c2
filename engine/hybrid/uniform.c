#include "engine/hybrid/uniform.h"

#include "engine/hybrid/hybrid_exact.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/interleave.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for uniform plans";
static const double NEAR = 1.35; /* of the best step: rows that are interleaved as well */
enum { CHUNKS_MOST = 16 };

static const struct hybrid_point *point_at(const struct hybrid_instance *in, uint32_t slot,
                                           uint32_t only, uint32_t i, uint32_t j, uint32_t *index)
{
    struct hybrid_front f = *hybrid_front_of(in, slot, i, j);

    *index = f.first + only;
    return &in->points[*index];
}

/* ---- plain ---- */

static void offer_uniform(const struct hybrid_instance *in, const struct hybrid_plan *p,
                          int schedule, struct uniform_plan *best, double *own)
{
    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++) {
        enum pipe_schedule_kind kind = (enum pipe_schedule_kind)k;
        if ((schedule >= 0 && k != schedule) || !hybrid_plan_fits(in, p, kind))
            continue;
        double ms = hybrid_plan_makespan(in, p, kind);
        *own = fmin(*own, ms);
        if (ms < best->step_ms)
            *best = (struct uniform_plan){*p, 1, kind, ms};
    }
}

/* A cut by one section either way, as long as the plan gets shorter. */
static void descend_uniform(const struct hybrid_instance *in, uint32_t only, int schedule,
                            const struct hybrid_plan *from, struct uniform_plan *best, double *own)
{
    struct hybrid_plan p = *from;

    offer_uniform(in, &p, schedule, best, own);
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t n = 1; n < p.stages && !moved; n++) {
            for (int by = -1; by <= 1 && !moved; by += 2) {
                struct hybrid_plan q = p;
                double before = *own;
                q.cut[n] = (uint32_t)((int)q.cut[n] + by);
                if (q.cut[n] <= q.cut[n - 1] || q.cut[n] >= q.cut[n + 1])
                    continue;
                const struct hybrid_point *a =
                    point_at(in, q.slot[n - 1], only, q.cut[n - 1], q.cut[n], &q.point[n - 1]);
                const struct hybrid_point *b =
                    point_at(in, q.slot[n], only, q.cut[n], q.cut[n + 1], &q.point[n]);
                if (a->both_ms == INFINITY || b->both_ms == INFINITY)
                    continue;
                offer_uniform(in, &q, schedule, best, own);
                if (*own < before * (1 - 1e-9)) {
                    p = q;
                    moved = true;
                }
            }
        }
    }
}

/* ---- interleaved ---- */

/* Two chunks on each group of devices at least; its links move both ways at once. */
static bool may_interleave(const struct hybrid_instance *in, uint32_t slot,
                           const struct uniform_options *o)
{
    uint32_t groups = in->devices / in->slot[slot].devices;

    return o->interleaves && o->chunks != 1 && groups > 1 && 2 * groups <= in->sections &&
           in->options.micro_batches % groups == 0 && !in->options.half_duplex;
}

struct pipe_node uniform_transfer(const struct hybrid_instance *in, const struct hybrid_plan *p,
                                  uint32_t groups, uint32_t c)
{
    struct pipe_node out = {0};
    uint32_t d = in->slot[p->slot[0]].devices;

    if ((c + 1) % groups)
        return hybrid_link_node(in, p->cut[c + 1], p->device[c + 1], p->slot[c], p->slot[c + 1]);
    for (uint32_t m = d; m < in->devices; m += d) { /* from the last group back to the first */
        struct pipe_node n = hybrid_link_node(in, p->cut[c + 1], m, p->slot[c], p->slot[c]);
        out.forward_ms = pipe_more(out.forward_ms, n.forward_ms);
        out.backward_ms = pipe_more(out.backward_ms, n.backward_ms);
        out.reduce_ms = pipe_more(out.reduce_ms, n.reduce_ms);
    }
    return out;
}

double uniform_memory(const struct hybrid_instance *in, const struct uniform_plan *u, uint32_t s)
{
    uint32_t groups = u->plan.stages / u->chunks;
    struct interleave x = {groups, u->chunks, in->options.micro_batches, NULL, NULL, NULL};
    double fixed = 0, stash = 0;

    for (uint32_t c = s; c < u->plan.stages; c += groups) {
        const struct hybrid_point *p = &in->points[u->plan.point[c]];
        fixed += p->fixed_bytes;
        stash = pipe_more(stash, p->stash_bytes);
    }
    return fixed + interleave_in_flight(&x, s) * stash;
}

/* Cuts into `count` chunks whose longest is shortest. Not *found: some chunk is not possible. */
static int cut_evenly(const struct hybrid_instance *in, uint32_t slot, uint32_t only,
                      uint32_t groups, uint32_t count, uint32_t *cut, bool *found, struct err *e)
{
    uint32_t n = in->sections + 1, index;
    double *best = mem_try((size_t)(count + 1) * n, sizeof *best);
    uint32_t *from = mem_try((size_t)(count + 1) * n, sizeof *from);
    bool ok = best && from;

    for (size_t m = 0; ok && m < (size_t)(count + 1) * n; m++)
        best[m] = INFINITY;
    if (ok)
        best[0] = 0;
    for (uint32_t c = 1; c <= count && ok; c++) {
        uint32_t device = (c - 1) % groups * in->slot[slot].devices;
        for (uint32_t j = c; j < n; j++)
            for (uint32_t i = c - 1; i < j; i++) {
                if (best[(c - 1) * n + i] == INFINITY || !hybrid_may_be(in, slot, i, j, device))
                    continue;
                double ms = pipe_more(best[(c - 1) * n + i],
                                      point_at(in, slot, only, i, j, &index)->both_ms);
                if (ms < best[c * n + j]) {
                    best[c * n + j] = ms;
                    from[c * n + j] = i;
                }
            }
    }
    *found = ok && best[(size_t)count * n + in->sections] < INFINITY;
    for (uint32_t c = count, j = in->sections; *found; j = from[c * n + j], c--) {
        cut[c] = j;
        if (!c)
            break;
    }
    free(best);
    free(from);
    return ok ? 0 : err_no_memory(e, MEMORY_FOR);
}

static int interleave(const struct hybrid_instance *in, uint32_t slot, uint32_t only,
                      uint32_t groups, uint32_t chunks, struct uniform_plan *best, struct err *e)
{
    struct uniform_plan u = {.chunks = chunks, .schedule = PIPE_1F1B};
    struct hybrid_plan *p = &u.plan;
    struct pipe_node chunk[HYBRID_STAGES_MOST], transfer[HYBRID_STAGES_MOST];
    struct interleave x = {groups, chunks, in->options.micro_batches, chunk, transfer, NULL};

    p->stages = groups * chunks;
    bool found;
    int rc = cut_evenly(in, slot, only, groups, p->stages, p->cut, &found, e);
    if (rc || !found)
        return rc;
    for (uint32_t c = 0; c < p->stages; c++) {
        p->slot[c] = slot;
        p->device[c] = c % groups * in->slot[slot].devices;
        point_at(in, slot, only, p->cut[c], p->cut[c + 1], &p->point[c]);
        chunk[c] = hybrid_stage_node(&in->points[p->point[c]]);
    }
    p->device[p->stages] = in->devices;
    for (uint32_t c = 0; c + 1 < p->stages; c++)
        transfer[c] = uniform_transfer(in, p, groups, c);
    for (uint32_t s = 0; s < groups; s++)
        if (uniform_memory(in, &u, s) > in->slot[slot].limit_bytes)
            return 0;
    u.step_ms = interleave_makespan(&x);
    if (u.step_ms == INFINITY)
        return err_no_memory(e, MEMORY_FOR);
    if (u.step_ms < best->step_ms)
        *best = u;
    return 0;
}

/* Least forward and backward time of all sections on one slot, over all cuts. */
static double least_work(const struct hybrid_instance *in, uint32_t slot)
{
    double best[HYBRID_SECTIONS_MOST + 1] = {0};

    for (uint32_t j = 1; j <= in->sections; j++) {
        best[j] = INFINITY;
        for (uint32_t i = 0; i < j; i++) {
            struct hybrid_front f = *hybrid_front_of(in, slot, i, j);
            for (uint32_t n = f.first; n < f.first + f.count; n++)
                best[j] = fmin(best[j], best[i] + in->points[n].both_ms);
        }
    }
    return best[in->sections];
}

bool uniform_may_be(const struct hybrid_instance *in, uint32_t slot,
                    const struct uniform_options *o)
{
    uint32_t d = in->slot[slot].devices, groups = in->devices / d;
    bool is_even = in->devices % d == 0 && groups <= in->sections && groups <= HYBRID_STAGES_MOST;

    return is_even && (!o->stages || groups == o->stages) &&
           (!o->only_interleaved || may_interleave(in, slot, o));
}

double uniform_interleaved_least(const struct hybrid_instance *in, uint32_t slot,
                                 const struct uniform_options *o)
{
    const struct uniform_options interleaved = {
        .stages = o->stages, .interleaves = true, .only_interleaved = true};

    if (!uniform_may_be(in, slot, &interleaved))
        return INFINITY;
    return in->options.micro_batches * least_work(in, slot) * in->slot[slot].devices / in->devices;
}

/* ---- one slot ---- */

/* The plain plans of one row; the shortest of them goes to *own, also where it is not taken. */
static int solve_row(const struct hybrid_instance *in, uint32_t slot, uint32_t only,
                     const struct uniform_options *o, struct uniform_plan *best, double *own,
                     struct err *e)
{
    struct hybrid_instance with = *in; /* the schedule alone differs */
    struct uniform_plan aside = {.step_ms = best->step_ms};
    double known = best->step_ms < INFINITY ? NEAR * best->step_ms : 0;

    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++) {
        struct hybrid_exact_options x = {.stages = in->devices / in->slot[slot].devices,
                                         .slots = 1u << slot,
                                         .only = &only,
                                         .known_ms = known,
                                         .stop = o->stop};
        struct hybrid_exact_result r;
        if (o->schedule >= 0 ? k != o->schedule : k == PIPE_GPIPE)
            continue;
        with.options.schedule = (enum pipe_schedule_kind)k;
        int rc = hybrid_exact_solve(&with, &x, &r, e);
        if (rc)
            return rc;
        if (r.found && !r.plan.device[0])
            descend_uniform(in, only, o->schedule, &r.plan,
                            o->chunks > 1 || o->only_interleaved ? &aside : best, own);
    }
    return 0;
}

int uniform_best(const struct hybrid_instance *in, uint32_t slot, const struct uniform_options *o,
                 struct uniform_plan *out, struct err *e)
{
    uint32_t groups = in->devices / in->slot[slot].devices;
    uint32_t rows = hybrid_front_of(in, slot, 0, 1)->count;
    bool interleaves = may_interleave(in, slot, o);
    int rc = 0;

    if (!uniform_may_be(in, slot, o))
        return 0;
    for (uint32_t only = 0; only < rows && !stop_asked(o->stop); only++) {
        double row_ms = INFINITY;
        rc = solve_row(in, slot, only, o, out, &row_ms, e);
        if (rc)
            return rc;
        for (uint32_t v = 2; v <= CHUNKS_MOST && interleaves && groups * v <= in->sections &&
                             groups * v <= HYBRID_STAGES_MOST;
             v++)
            if ((!o->chunks || v == o->chunks) && (row_ms < NEAR * out->step_ms || o->chunks)) {
                rc = interleave(in, slot, only, groups, v, out, e);
                if (rc)
                    return rc;
            }
    }
    return 0;
}
