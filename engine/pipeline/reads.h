/* engine/pipeline/reads.h - where along the forward order free operations are made.
 *
 * What depends on keys, constants, iota and scalars alone (classes.is_free) is not sent from stage
 * to stage: every stage that reads it makes it again, in the pass that it belongs to. So a free
 * operation stands at every position at which something reads its results that is not free itself,
 * free readers being looked through. Only scalars that such an operation reads still cross cuts.
 *
 * Operations read at the same positions share a list. Past the limits below an operation counts as
 * any other: made where it stands, and sent. */
#ifndef AUTOMAP_ENGINE_PIPELINE_READS_H
#define AUTOMAP_ENGINE_PIPELINE_READS_H

#include "engine/pipeline/unroll.h"
#include "hlo/support/err.h"

enum {
    READS_OF_ONE_MOST = 1024, /* positions of one operation */
    READS_MOST = 1 << 17      /* of all lists */
};

struct reads_list {
    uint32_t first, count; /* into reads.position */
};

struct reads {
    uint32_t *list_of; /* [ops] UNROLL_NONE: it is no free operation, or nothing reads it */
    struct reads_list *list;
    uint32_t count;     /* of lists */
    uint32_t *position; /* of each list ascending, distinct */
};

/* `position` [ops], below `positions`; readers of value v: users[user_base[v]] ..
 * users[user_base[v + 1] - 1]. ERR_MEMORY. O(uses x READS_OF_ONE_MOST) at worst. */
int reads_new(const struct unrolled *u, const uint32_t *position, uint32_t positions,
              const uint32_t *users, const uint32_t *user_base, struct reads *out,
              struct err *e) MUST_CHECK;
void reads_release(struct reads *r);

/* The positions at which operation `op` is made again; NULL: it is made once. */
static inline const struct reads_list *reads_of(const struct reads *r, uint32_t op)
{
    return r->list_of[op] == UNROLL_NONE ? NULL : &r->list[r->list_of[op]];
}

/* The first position of [i, j) at which `op` is made again; UNROLL_NONE: none. O(log positions). */
uint32_t reads_first(const struct reads *r, uint32_t op, uint32_t i, uint32_t j);

#endif
