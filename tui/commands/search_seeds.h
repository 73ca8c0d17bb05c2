/* tui/commands/search_seeds.h - what each of several searches came to, here or on another rank of
 * mpirun, and their statistics. */
#ifndef AUTOMAP_TUI_COMMANDS_SEARCH_SEEDS_H
#define AUTOMAP_TUI_COMMANDS_SEARCH_SEEDS_H

#include "engine/plan/plan.h"
#include "engine/ranks/ranks.h"
#include "hlo/support/err.h"
#include "tui/commands/search_run.h"
#include "tui/options/search_args.h"

#include <cjson/cJSON.h>

enum { SEED_FIGURES = 7 };

struct seed_end {
    bool failed;     /* it could not begin, or a command of its script failed: error */
    bool has_plan;   /* if not: error says why */
    bool at_optimum; /* proven */
    struct err error;
    double score, figure[SEED_FIGURES];
    struct plan plan; /* owned, with has_plan */
    char *json;       /* the report, with --json; owned */
    char *curves;     /* lines of --curves; owned */
};

/* Of a run that has ended. ERR_MEMORY. */
int seed_end_of(const struct search_run *run, const struct search_args *a, struct seed_end *out,
                struct err *e) MUST_CHECK;
/* Carries out the runs over ranks, one thread each. On rank 0 ends[args->seeds] then has all that
 * were done; false: not all were, and *e says why. */
bool seeds_over_ranks(struct search_pool *pool, struct ranks *ranks, struct seed_end *ends,
                      struct err *e);
void seed_ends_release(struct seed_end *ends, uint32_t count);

/* Mean, spread, least and most over the seeds that have a plan: as a table, and into an object. */
void seeds_print(const struct search_args *a, const struct seed_end *ends);
void seeds_add_json(const struct search_args *a, const struct seed_end *ends, cJSON *out);

#endif
