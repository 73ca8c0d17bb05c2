#include "engine/place/race_placements.h"

#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/solve.h"
#include "engine/place/tally.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What its plan is, once it has one. */
static int judge_lane(const struct place_graph *g, const struct place_job *job,
                      struct place_lane *l, struct err *e)
{
    if (!l->p)
        return 0;
    if (place_answers(g, job, l->p, &l->answers, e))
        return e->code;
    if (!l->tally.priced)
        place_tally_plan(&l->tally, l->p->value_ms);
    place_tally_end(&l->tally);
    return 0;
}

/* What a lane could not do is its own affair, but not a lack of memory: the others' ranks would
 * be wrong. */
static int run_lane(const struct place_graph *g, const struct place_job *job, bool counts,
                    uint64_t plans, struct place_lane *l, struct err *e)
{
    struct place_job own = *job;
    struct err why = {0};
    double began = clock_thread_seconds();

    own.better = NULL;
    own.moves = counts ? plans : 0;
    own.tally = &l->tally;
    place_tally_begin(&l->tally, plans);
    if (stop_asked(job->stop))
        err_set(&why, ERR_STOPPED, "stopped before it");
    else if (place_solve(g, &own, l->name, &l->p, &why))
        l->p = NULL;
    if (l->p && job->any_sets && l->p->contiguous) { /* a bound of chains alone */
        l->p->bound_ms = 0;
        l->p->proven = false;
    }
    l->seconds = clock_thread_seconds() - began;
    if (!l->p)
        snprintf(l->why, sizeof l->why, "%.150s", why.what);
    return why.code == ERR_MEMORY ? err_set(e, ERR_MEMORY, "%s", why.what) : 0;
}

static int compare_lanes(const void *a, const void *b)
{
    const struct place_lane *x = a, *y = b;
    double vx = x->p ? x->p->value_ms : INFINITY, vy = y->p ? y->p->value_ms : INFINITY;

    if (x->answers != y->answers)
        return y->answers - x->answers;
    if (vx != vy)
        return (vx > vy) - (vx < vy);
    if (x->tally.best_at != y->tally.best_at)
        return (x->tally.best_at > y->tally.best_at) - (x->tally.best_at < y->tally.best_at);
    return strcmp(x->name, y->name);
}

static int add_expert(const struct placement *expert, struct place_lane *l, struct err *e)
{
    l->name = "expert";
    place_tally_begin(&l->tally, 1);
    return placement_copy(expert, &l->p, e);
}

int place_race_run(const struct place_graph *g, const struct place_job *job,
                   const struct placement *expert, struct place_race *out, struct err *e)
{
    int rc = 0;

    *out = (struct place_race){.plans = job->moves ? job->moves : PLACE_RACE_PLANS};
    for (const struct place_algorithm *a = place_algorithms; a->name && !rc; a++) {
        struct place_lane *l = &out->lane[out->lanes];
        l->name = a->name;
        out->lanes++;
        rc = run_lane(g, job, a->counts, out->plans, l, e);
    }
    if (expert && !rc)
        rc = add_expert(expert, &out->lane[out->lanes++], e);
    for (uint32_t i = 0; i < out->lanes && !rc; i++) {
        rc = judge_lane(g, job, &out->lane[i], e);
        out->bound_ms =
            out->lane[i].p ? fmax(out->bound_ms, out->lane[i].p->bound_ms) : out->bound_ms;
    }
    if (rc) {
        place_race_release(out);
        return rc;
    }
    qsort(out->lane, out->lanes, sizeof *out->lane, compare_lanes);
    return 0;
}

void place_race_release(struct place_race *r)
{
    for (uint32_t i = 0; i < r->lanes; i++)
        placement_free(r->lane[i].p);
    *r = (struct place_race){0};
}
