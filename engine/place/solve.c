#include "engine/place/solve.h"

#include "engine/place/anneal.h"
#include "engine/place/baselines.h"
#include "engine/place/branch.h"
#include "engine/place/latency.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_learner.h"
#include "engine/place/placement.h"
#include "engine/place/scotch.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

#include <math.h>
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

/* ---- what would do ---- */

enum { NEEDS_LOOKS = 20 * 1000 * 1000 }; /* of one question of many */

/* A contiguous plan of g with other devices; the most one accelerator holds in it. */
static int try_devices(const struct place_graph *g, const struct place_job *job, double memory,
                       uint32_t count, bool *fits, double *most, struct err *e)
{
    struct place_graph h = *g; /* shares all arrays */
    struct place_job quiet = *job;
    struct placement *p;
    struct err why = {0};

    for (uint32_t t = 0; t + 1 < h.types; t++)
        h.type[t].memory_bytes = memory >= 0 ? memory : h.type[t].memory_bytes;
    h.type[0].count = count;
    h.per_server = 0;
    quiet.better = NULL;
    quiet.target_ms = 0;
    quiet.looks = NEEDS_LOOKS;
    int rc = solve_dpl(&h, &quiet, &p, &why);
    /* Where a whole search is not affordable once, it is not twenty times. */
    if (rc == ERR_INFEASIBLE && !job->looks) {
        why = (struct err){0};
        rc = solve_contiguous(&h, &quiet, &p, &why);
    }
    *fits = !rc;
    *most = 0;
    if (rc == ERR_INFEASIBLE)
        return 0;
    if (rc) {
        *e = why;
        return rc;
    }
    for (uint32_t d = 0; d < p->devices; d++) {
        double bytes = 0;
        for (uint32_t v = 0; v < g->nodes; v++)
            bytes += p->device[v] == d ? g->bytes[v] : 0;
        *most = h.type[place_type_of(&h, d)].is_host ? *most : fmax(*most, bytes);
    }
    placement_free(p);
    return 0;
}

static int least_memory(const struct place_graph *g, const struct place_job *job, double *out,
                        struct err *e)
{
    double high, low = 0, most;
    bool fits;
    int rc = try_devices(g, job, INFINITY, g->type[0].count, &fits, &high, e);

    *out = INFINITY;
    if (rc || !fits)
        return rc;
    for (int i = 0; i < 40 && high - low > 1e-4 * high; i++) {
        double middle = (low + high) / 2;
        rc = try_devices(g, job, middle, g->type[0].count, &fits, &most, e);
        if (rc)
            return rc;
        if (fits)
            high = most;
        else
            low = middle;
    }
    *out = high;
    return 0;
}

int place_find_needs(const struct place_graph *g, const struct place_job *job,
                     struct place_needs *out, struct err *e)
{
    uint32_t most = PLACE_DEVICES_MAX - place_devices(g) + g->type[0].count;
    uint32_t low = g->type[0].count, high = low;
    double unused;
    bool fits = false;
    int rc = least_memory(g, job, &out->memory_bytes, e);

    out->accelerators = 0;
    if (rc)
        return rc;
    while (!fits && high < most && high < 2 * (g->colors + 1)) {
        low = high;
        high = high ? 2 * high : 1;
        high = high > most ? most : high;
        rc = try_devices(g, job, -1, high, &fits, &unused, e);
        if (rc)
            return rc;
    }
    if (rc || !fits)
        return rc;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        rc = try_devices(g, job, -1, middle, &fits, &unused, e);
        if (rc)
            return rc;
        if (fits)
            high = middle;
        else
            low = middle;
    }
    out->accelerators = high;
    return 0;
}
