/* engine/recompute/priced.h - the best choice at prices of memory: one minimum cut. Private to
 * engine/recompute. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_PRICED_H
#define AUTOMAP_ENGINE_RECOMPUTE_PRICED_H

#include "engine/recompute/cut.h"
#include "engine/recompute/recompute.h"
#include "engine/recompute/sight.h"
#include "hlo/support/err.h"

/* A node that a position sees only when it is read late (sight.h), which takes two nodes of the cut
 * more: read late, and computed again for a late reader. */
struct priced_late {
    uint32_t node, sight;
    uint32_t arc;
    bool is_made; /* where the position is */
};

/* A product's result that a position has if one of those it reads is computed again. */
struct priced_moved {
    uint32_t reader, sight;
    uint32_t arc;
    double bytes;
};

struct priced {
    const struct recompute *r;
    double *kept_price; /* [nodes] ms a kept byte */
    double *again_ms;   /* [nodes] beside the time of computing it again */
    double *late_price; /* [sights] ms a byte that is kept and read late, or moved */
    uint8_t *is_kept;   /* [nodes] nothing computes it again, besides those of PRIMAL_NEVER */
    struct priced_late *lates;
    uint32_t late_count;
    size_t late_room;
    struct priced_moved *moved;
    uint32_t moved_count;
    size_t moved_room;
    struct cut cut;
    uint32_t *keep_arc, *again_arc; /* [nodes] */
    uint32_t fixed_count, *fixed;   /* arcs of infinite capacity */
    size_t fixed_room;
    uint8_t *keeps, *way; /* [nodes] */
};

/* All prices nothing. The sights are read here alone. Release it after an error too. O(edges x
 * sights). */
int priced_new(const struct recompute *r, const struct keep_sight *const *sights, uint32_t count,
               struct priced *out, struct err *e) MUST_CHECK;
void priced_release(struct priced *p);
/* The choice, of one kind of layer, that adds least with memory at its prices; fills `state`
 * [nodes]. *least: what no choice is below, that sum of time and priced memory. */
struct recompute_point priced_solve(struct priced *p, uint8_t *state, double *least);

#endif
