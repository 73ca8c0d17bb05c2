/* engine/recompute/sight.h - what a position of the schedule sees of each node. Private to
 * engine/recompute. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_SIGHT_H
#define AUTOMAP_ENGINE_RECOMPUTE_SIGHT_H

#include "engine/recompute/recompute.h"

/* How long a node that is used is read depends on which of its readers are computed again: surely
 * until the first of them has read it, at most until the last one has. */
struct keep_sight {
    uint32_t position;
    double base;          /* bytes there whatever is kept */
    double *kept, *again; /* [nodes] 1: surely there when it is kept; bytes computed again */
    uint32_t *until;      /* [nodes] surely read until; UINT32_MAX: not known to be read */
    uint32_t *later;      /* [nodes] at most read until */
    uint32_t *end;        /* [nodes] computed again it reads until then at most */
    double *moved; /* [readers] bytes of its result, there if what sight_moves says is made again */
    uint8_t *covers; /* [nodes] whoever it is computed again for reads it there */
};

/* False: out of memory; release it then too. O(edges). */
bool sight_new(const struct recompute *r, uint32_t position, struct keep_sight *out);
void sight_release(struct keep_sight *s);

/* Whether the position comes when node `k` is surely read no more, but may be. */
bool sight_is_late(const struct recompute *r, const struct keep_sight *s, uint32_t k);
/* Whether it is there when it is kept and read as late. */
bool sight_is_made(const struct recompute *r, const struct keep_sight *s, uint32_t k);
/* Whether what node `k` is computed from is still read for it, if it is computed again. */
bool sight_reads(const struct recompute *r, const struct keep_sight *s, uint32_t k);

/* Whether products that read node `k` have run by then if it is computed again. */
bool sight_moves(const struct recompute *r, const struct keep_sight *s, uint32_t k);

/* Bytes there at least under a choice of one kind of layer, without base; of_node [nodes]: each
 * one's part, unless it is NULL. `late` [nodes]: scratch. O(edges). */
double sight_bytes(const struct recompute *r, const struct keep_sight *s, const uint8_t *state,
                   uint8_t *late, double *of_node);

#endif
