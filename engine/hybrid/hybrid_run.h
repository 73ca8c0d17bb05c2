/* engine/hybrid/hybrid_run.h - a search for hybrid plans that is under way: what hybrid.c shares
 * with the search that plays (hybrid_play.c). Private to engine/hybrid/. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_RUN_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_RUN_H

#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_descent.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"

enum { HYBRID_FORMER_MOST = 3 }; /* plans that were taken before the last, for relaxed stages */

struct hybrid_run {
    struct hybrid *h;
    struct err *e;
    double best_ms;
    double plain_ms;                          /* of those that are not interleaved */
    struct hybrid former[HYBRID_FORMER_MOST]; /* of each the plan alone */
    uint32_t formers;                         /* so far */
    /* of each of h->tried: no interleaved plan on the slot is shorter */
    double interleaved_least[HYBRID_TRIES_MOST][HYBRID_SLOTS_MOST];
};

/* Of one number of micro-batches. */
struct hybrid_tables {
    struct hybrid_instance in, ideal;
    struct stage_tables rows;
    bool possible;
};

/* `slots` 0: all of them; else uniform ones on those. */
int hybrid_tables_new(const struct hybrid_run *s, uint32_t m, uint8_t zero, uint64_t slots,
                      struct hybrid_tables *t) MUST_CHECK;
void hybrid_tables_release(struct hybrid_tables *t);

/* The bound of one number of micro-batches. */
int hybrid_run_bound(struct hybrid_run *s, struct hybrid_tables *t,
                     struct hybrid_try *out) MUST_CHECK;

/* A plan on these tables becomes the one taken. */
int hybrid_run_take(struct hybrid_run *s, const struct hybrid_tables *t,
                    const struct hybrid_found *found, uint32_t m, uint8_t zero) MUST_CHECK;

/* The one asked for; < 0: any. */
static inline int hybrid_run_schedule(const struct hybrid_options *o)
{
    return o->is_schedule_given ? (int)o->schedule : -1;
}

/* The algorithm asked for plays on the tables of these numbers of micro-batches. */
int hybrid_run_play(struct hybrid_run *s, const uint32_t *list, uint32_t count,
                    uint8_t zero) MUST_CHECK;

#endif
