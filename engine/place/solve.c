#include "engine/place/solve.h"

#include "engine/place/anneal.h"
#include "engine/place/baselines.h"
#include "engine/place/branch.h"
#include "engine/place/latency.h"
#include "engine/place/look.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_learner.h"
#include "engine/place/placement.h"
#include "engine/place/scotch.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef int solver(const struct place_graph *, const struct place_job *, struct placement **,
                   struct err *);

static struct place_asking asking_of(const struct place_job *job)
{
    return (struct place_asking){.rules = job->rules,
                                 .seed = job->seed,
                                 .limits = job->limits,
                                 .looks = job->looks,
                                 .target_ms = job->target_ms,
                                 .better = job->better,
                                 .context = job->context,
                                 .tally = job->tally,
                                 .stop = job->stop};
}

static struct place_latency latency_of(const struct place_job *job)
{
    return (struct place_latency){.pieces = job->pieces,
                                  .seed = job->seed,
                                  .moves = job->moves,
                                  .better = job->better,
                                  .context = job->context,
                                  .stop = job->stop};
}

void place_job_of_model(struct place_job *job)
{
    job->limits.ideals = 200000;
    job->limits.bytes = (uint64_t)64 << 20;
    job->limits.steps = 4000000;
    job->looks = 250000000;
}

/* ---- throughput ---- */

static int anneal_from(const struct place_graph *g, const struct place_job *job,
                       const struct placement *start, struct placement **out, struct err *e)
{
    struct place_annealing a = {.rules = job->rules,
                                .moves = job->moves,
                                .seed = job->seed,
                                .start = start,
                                .better = job->better,
                                .context = job->context,
                                .stop = job->stop};

    a.tally = start ? NULL : job->tally;
    return place_anneal(g, &a, out, e);
}

static int solve_contiguous(const struct place_graph *g, const struct place_job *job,
                            struct placement **out, struct err *e)
{
    struct place_asking a = asking_of(job);

    return place_contiguous(g, &a, out, e);
}

static int solve_dpl(const struct place_graph *g, const struct place_job *job,
                     struct placement **out, struct err *e)
{
    struct place_asking a = asking_of(job);

    a.dpl_only = true;
    return place_contiguous(g, &a, out, e);
}

static int solve_anneal(const struct place_graph *g, const struct place_job *job,
                        struct placement **out, struct err *e)
{
    return anneal_from(g, job, NULL, out, e);
}

/* Nothing was met: is there a plan at all? */
static int first_plan(const struct place_graph *g, const struct place_job *job,
                      struct placement **out, struct err *e)
{
    struct place_branching b = {.rules = job->rules, .stop = job->stop};
    int rc = placement_new(g, out, e);

    if (rc)
        return rc;
    (*out)->value_ms = INFINITY;
    (*out)->bound_by = "branch and bound";
    rc = place_branch(g, &b, *out, e);
    if (rc)
        placement_free(*out);
    return rc;
}

enum { FIRST_PART = 12, FIRST_NODES = 200000 };

/* One search from *best (NULL: from a random plan), which it replaces, and a proof. */
static int search_and_prove(const struct place_graph *g, const struct place_job *job,
                            uint64_t moves, uint64_t nodes, struct placement **best, struct err *e)
{
    struct place_branching b = {.rules = job->rules, .nodes = nodes, .stop = job->stop};
    struct place_job part = *job;
    struct placement *start = *best, *found = NULL;

    part.moves = moves;
    *best = NULL;
    int rc = anneal_from(g, &part, start, &found, e);
    if (rc)
        goto out;
    if (start && start->bound_ms > found->bound_ms && start->bound_by && !start->contiguous) {
        found->bound_ms = start->bound_ms;
        found->bound_by = start->bound_by;
    }
    rc = found->proven ? 0 : place_branch(g, &b, found, e);
    if (rc)
        goto out;
    *best = found;
    found = NULL;
out:
    placement_free(start);
    placement_free(found);
    return rc;
}

/* Any sets: from the contiguous optimum, where there is one. A short round first, for what is
 * proven at once. */
static int solve_any(const struct place_graph *g, const struct place_job *job,
                     struct placement **out, struct err *e)
{
    uint64_t moves = job->moves ? job->moves : PLACE_ANNEAL_MOVES;
    struct placement *best = NULL;
    struct err none = {0};
    int rc = solve_contiguous(g, job, &best, &none);

    if (rc && rc != ERR_INFEASIBLE) {
        *e = none;
        return rc;
    }
    rc = search_and_prove(g, job, moves / FIRST_PART + 1, FIRST_NODES, &best, &none);
    if (best && !best->proven && !stop_asked(job->stop))
        rc = search_and_prove(g, job, moves, 0, &best, &none);
    if (rc == ERR_INFEASIBLE)
        return first_plan(g, job, out, e);
    if (rc)
        *e = none;
    else
        *out = best;
    return rc;
}

static int solve_exact(const struct place_graph *g, const struct place_job *job,
                       struct placement **out, struct err *e)
{
    return job->any_sets ? solve_any(g, job, out, e) : solve_contiguous(g, job, out, e);
}

static int by_baseline(int (*f)(const struct place_graph *, const struct place_asking *,
                                struct placement **, struct err *),
                       const struct place_graph *g, const struct place_job *job,
                       struct placement **out, struct err *e)
{
    struct place_asking a = asking_of(job);

    return f(g, &a, out, e);
}
static int solve_one(const struct place_graph *g, const struct place_job *job,
                     struct placement **out, struct err *e)
{
    return by_baseline(place_one, g, job, out, e);
}
static int solve_greedy(const struct place_graph *g, const struct place_job *job,
                        struct placement **out, struct err *e)
{
    return by_baseline(place_greedy, g, job, out, e);
}
static int solve_local(const struct place_graph *g, const struct place_job *job,
                       struct placement **out, struct err *e)
{
    return by_baseline(place_local, g, job, out, e);
}
static int solve_random(const struct place_graph *g, const struct place_job *job,
                        struct placement **out, struct err *e)
{
    return by_baseline(place_random, g, job, out, e);
}
static int solve_scotch(const struct place_graph *g, const struct place_job *job,
                        struct placement **out, struct err *e)
{
    return by_baseline(place_scotch, g, job, out, e);
}
static int solve_dqn(const struct place_graph *g, const struct place_job *job,
                     struct placement **out, struct err *e)
{
    struct place_asking a = asking_of(job);

    return place_learn(g, &a, job->any_sets, job->moves, out, e);
}
static int solve_pipedream(const struct place_graph *g, const struct place_job *job,
                           struct placement **out, struct err *e)
{
    return by_baseline(place_pipedream, g, job, out, e);
}

/* ---- latency ---- */

static int latency_best(const struct place_graph *g, const struct place_job *job,
                        struct placement **out, struct err *e)
{
    struct place_latency l = latency_of(job);

    return place_latency_best(g, &l, out, e);
}

static int latency_greedy(const struct place_graph *g, const struct place_job *job,
                          struct placement **out, struct err *e)
{
    struct place_latency l = latency_of(job);

    return place_latency_greedy(g, &l, out, e);
}

/* A plan for throughput, cut into pieces. */
static int latency_of_stream(solver *f, const struct place_graph *g, const struct place_job *job,
                             struct placement **out, struct err *e)
{
    struct place_job stream = *job;
    int rc;

    stream.better = NULL;
    rc = f(g, &stream, out, e);
    if (rc)
        return rc;
    rc = place_latency_value(g, *out, false, &(*out)->value_ms, e);
    if (rc) {
        placement_free(*out);
        return rc;
    }
    (*out)->proven = false;
    (*out)->bound_ms = place_latency_bound(g);
    (*out)->bound_by = PLACE_LATENCY_BOUND_BY;
    return 0;
}

static int latency_dpl(const struct place_graph *g, const struct place_job *job,
                       struct placement **out, struct err *e)
{
    return latency_of_stream(solve_dpl, g, job, out, e);
}
static int latency_one(const struct place_graph *g, const struct place_job *job,
                       struct placement **out, struct err *e)
{
    return latency_of_stream(solve_one, g, job, out, e);
}
static int latency_scotch(const struct place_graph *g, const struct place_job *job,
                          struct placement **out, struct err *e)
{
    return latency_of_stream(solve_scotch, g, job, out, e);
}

static int latency_pipedream(const struct place_graph *g, const struct place_job *job,
                             struct placement **out, struct err *e)
{
    return latency_of_stream(solve_pipedream, g, job, out, e);
}

static int latency_opponent(const struct place_graph *g, const struct place_job *job,
                            const char *name, struct placement **out, struct err *e)
{
    struct place_latency l = latency_of(job);

    l.tally = job->tally;
    return place_latency_opponent(g, &l, name, out, e);
}
static int latency_anneal(const struct place_graph *g, const struct place_job *job,
                          struct placement **out, struct err *e)
{
    return latency_opponent(g, job, "anneal", out, e);
}
static int latency_local(const struct place_graph *g, const struct place_job *job,
                         struct placement **out, struct err *e)
{
    return latency_opponent(g, job, "local", out, e);
}
static int latency_random(const struct place_graph *g, const struct place_job *job,
                          struct placement **out, struct err *e)
{
    return latency_opponent(g, job, "random", out, e);
}

/* ---- the list ---- */

const struct place_algorithm place_algorithms[] = {
    {"exact", "program over ideals; any sets, latency: a search from it", false, NULL},
    {"dpl", "the program over prefixes of a few depth-first orders", false, NULL},
    {"anneal", "annealing of any sets from a random plan", true, NULL},
    {"local", "best single moves from random plans; memory is not looked at", true, NULL},
    {"greedy", "devices filled in turn along an order", false, NULL},
    {"pipedream", "biconnected components joined, then dpl", false, NULL},
    {"scotch", "Scotch's partition of the graph, where gpart is installed", false, NULL},
    {"dqn", "a learner that places positions in topological order", true,
     "its game pays for loads as positions are placed, and the time of a sample is known at the "
     "end"},
    {"random", "10,000 random plans", true, NULL},
    {"one", "everything on one accelerator", false, NULL},
    {0},
};

static const struct {
    const char *name;
    solver *throughput, *latency;
} solvers[] = {
    /* in the order of place_algorithms */
    {"exact", solve_exact, latency_best},     {"dpl", solve_dpl, latency_dpl},
    {"anneal", solve_anneal, latency_anneal}, {"local", solve_local, latency_local},
    {"greedy", solve_greedy, latency_greedy}, {"pipedream", solve_pipedream, latency_pipedream},
    {"scotch", solve_scotch, latency_scotch}, {"dqn", solve_dqn, NULL},
    {"random", solve_random, latency_random}, {"one", solve_one, latency_one},
};

int place_solve(const struct place_graph *g, const struct place_job *job, const char *algorithm,
                struct placement **out, struct err *e)
{
    double began = clock_seconds();

    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        solver *f = job->latency ? solvers[i].latency : solvers[i].throughput;
        if (strcmp(solvers[i].name, algorithm) != 0)
            continue;
        if (!f)
            return err_set(e, ERR_USAGE, "%s does not answer latency: %s", algorithm,
                           place_algorithms[i].no_latency);
        int rc = f(g, job, out, e);
        if (!rc)
            (*out)->seconds = clock_seconds() - began;
        return rc;
    }
    return err_set(e, ERR_USAGE, "there is no algorithm \"%s\"", algorithm);
}

/* Copies are of contiguous plans, so a plan that is not known to be one has none. */
static int find_chain(const struct place_graph *g, const struct place_job *job, struct placement *p,
                      struct err *e)
{
    struct place_rules rules = job->rules;
    struct place_look *l;

    rules.replicate = false;
    if (place_look_new(g, &rules, p, &l, e))
        return e->code;
    p->contiguous = place_look_is_chain(l, p->stage);
    place_look_free(l);
    return 0;
}

int place_answers(const struct place_graph *g, const struct place_job *job, struct placement *p,
                  bool *answers, struct err *e)
{
    if (job->latency)
        p->contiguous = false;
    else if (!p->contiguous && find_chain(g, job, p, e))
        return e->code;
    *answers = !p->faults && (job->any_sets || job->latency || p->contiguous);
    return 0;
}

/* ---- what would do ---- */

/* Of one question of many; the first, which says whether anything fits at all, may look longer. */
enum { NEEDS_LOOKS = 20 * 1000 * 1000, NEEDS_IDEALS = 200 * 1000, NEEDS_STEPS = 4 * 1000 * 1000 };

struct other_devices {
    double memory;  /* of each accelerator; < 0: as it is */
    uint32_t count; /* of the first kind */
    uint64_t looks; /* 0: NEEDS_LOOKS */
    bool fits, by_exact;
    double most; /* an accelerator holds in the plan found */
};

/* Devices are numbered type after type: those behind the first kind move. The caller frees it. */
static uint32_t *fixed_moved(const struct place_graph *g, uint32_t count)
{
    uint32_t *fixed = mem_try((size_t)g->nodes + 1, sizeof *fixed), was = g->type[0].count;

    for (uint32_t v = 0; fixed && v < g->nodes; v++) {
        bool moves = g->fixed[v] != PLACE_NONE && g->fixed[v] >= was;
        fixed[v] = moves ? g->fixed[v] - was + count : g->fixed[v];
    }
    return fixed;
}

static double most_held(const struct place_graph *g, const struct placement *p)
{
    double most = 0;

    for (uint32_t d = 0; d < p->devices; d++) {
        double bytes = 0;
        for (uint32_t v = 0; v < g->nodes; v++)
            bytes += p->device[v] == d ? g->bytes[v] : 0;
        most = g->type[place_type_of(g, d)].is_host ? most : fmax(most, bytes);
    }
    return most;
}

/* A contiguous plan of g with other devices. */
static int try_devices(const struct place_graph *g, const struct place_job *job,
                       struct other_devices *o, struct err *e)
{
    struct place_graph h = *g; /* shares all arrays but fixed */
    struct place_job quiet = *job;
    struct placement *p = NULL;
    struct err why = {0};

    h.fixed = fixed_moved(g, o->count);
    if (!h.fixed)
        return err_no_memory(e, "for pins");
    for (uint32_t t = 0; t + 1 < h.types; t++)
        h.type[t].memory_bytes = o->memory >= 0 ? o->memory : h.type[t].memory_bytes;
    h.type[0].count = o->count;
    h.per_server = 0;
    quiet.better = NULL;
    quiet.target_ms = 0;
    quiet.looks = o->looks ? o->looks : NEEDS_LOOKS;
    quiet.limits = (struct place_limits){
        .ideals = NEEDS_IDEALS, .steps = NEEDS_STEPS, .stop = job->limits.stop};
    int rc = solve_dpl(&h, &quiet, &p, &why);
    /* Where a whole search is not affordable once, it is not twenty times. */
    o->by_exact = rc == ERR_INFEASIBLE && !job->looks;
    if (o->by_exact) {
        why = (struct err){0};
        rc = solve_contiguous(&h, &quiet, &p, &why);
    }
    o->fits = !rc;
    o->most = rc ? 0 : most_held(&h, p);
    if (!rc)
        placement_free(p);
    free(h.fixed);
    if (!rc || rc == ERR_INFEASIBLE)
        return 0;
    *e = why;
    return rc;
}

static int least_memory(const struct place_graph *g, const struct place_job *job, double *out,
                        struct err *e)
{
    struct other_devices o = {.memory = INFINITY, .count = g->type[0].count};
    double high, low = 0;
    int rc = try_devices(g, job, &o, e);

    *out = INFINITY;
    if (rc || !o.fits)
        return rc;
    high = o.most;
    for (int i = 0; i < 40 && high - low > 1e-4 * high; i++) {
        o.memory = (low + high) / 2;
        rc = try_devices(g, job, &o, e);
        if (rc)
            return rc;
        if (o.fits)
            high = o.most;
        else
            low = o.memory;
    }
    *out = high;
    return 0;
}

/* 0: no number was found. */
static int fewest_accelerators(const struct place_graph *g, const struct place_job *job,
                               uint32_t *out, struct err *e)
{
    uint32_t most = PLACE_DEVICES_MAX - place_devices(g) + g->type[0].count;
    uint32_t low = g->type[0].count, high = low;
    struct other_devices o = {.memory = -1};

    *out = 0;
    while (!o.fits && high < most && high < 2 * (g->colors + 1)) {
        low = high;
        high = high ? 2 * high : 1;
        o.count = high = high > most ? most : high;
        int rc = try_devices(g, job, &o, e);
        if (rc)
            return rc;
    }
    if (!o.fits)
        return 0;
    while (high - low > 1) {
        o.count = (low + high) / 2;
        int rc = try_devices(g, job, &o, e);
        if (rc)
            return rc;
        if (o.fits)
            high = o.count;
        else
            low = o.count;
    }
    *out = high;
    return 0;
}

int place_find_needs(const struct place_graph *g, const struct place_job *job,
                     struct place_needs *out, struct err *e)
{
    struct other_devices same = {
        .memory = -1, .count = g->type[0].count, .looks = 10 * (uint64_t)NEEDS_LOOKS};

    *out = (struct place_needs){0};
    if (try_devices(g, job, &same, e))
        return e->code;
    out->fits = same.fits;
    out->by_exact = same.by_exact;
    if (out->fits)
        return 0;
    if (least_memory(g, job, &out->memory_bytes, e))
        return e->code;
    return fewest_accelerators(g, job, &out->accelerators, e);
}
