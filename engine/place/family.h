/* engine/place/family.h - ideals: the sets of positions that the first devices of a chain can
 * cover.
 *
 * An ideal holds all predecessors of its members. A contiguous plan is a chain of ideals from the
 * empty to the full one; each device takes the difference of two neighbours (Tarnawski et al.,
 * section 5). Over a family of ideals, the program of chain_program.h finds the best chain in it:
 *   all ideals                 the optimum, proven
 *   prefixes of one order      DPL: n + 1 of them, a plan at once
 *   the best few of each size  a beam: for graphs whose ideals explode
 *
 * Sets are rows of 64-bit words, bit p for position p. */
#ifndef AUTOMAP_ENGINE_PLACE_FAMILY_H
#define AUTOMAP_ENGINE_PLACE_FAMILY_H

#include "engine/place/prepare.h"
#include "hlo/support/err.h"

#include <stdatomic.h>

struct place_family {
    uint32_t positions, words;
    uint32_t count;
    uint64_t *set; /* [count * words]; the empty set is the first, the full one the last */
    bool complete; /* all ideals are in it, or all of a band */
    bool is_chain; /* each is the one before and a position more */
};

struct place_limits {
    uint32_t ideals; /* more than that, and the family is given up; 0: 2,000,000 */
    uint64_t bytes;  /* of sets; 0: 256 MiB */
    uint64_t steps;  /* sets met, equal ones too, before it is given up; 0: any number. A beam keeps
                        fewer sets where it would meet more, and is given up where one is too much */
    uint32_t width;  /* of a beam: kept of each size, at most */
    const atomic_bool *stop; /* NULL: cannot be stopped */
};

/* Where a border between two devices may be in a plan below a value: what is done on this side of
 * it, and left on the other, fits the devices of some state of the program, with the nets it cuts
 * paid on both sides. Work is in ms of one kind of device; place_program_band makes it. */
struct place_band {
    uint32_t rows;                   /* states */
    double *done, *left;             /* by state: work it may have, at most */
    double *done_a_cut, *left_a_cut; /* by state: work that a ms of cut nets is */
    double *work;                    /* by position */
    double total, slack;
};
void place_band_release(struct place_band *b);

/* All ideals, by size, or with `band` those that a border may be at, and the empty and the full
 * set: enough to prove that no plan is below the band's value. All of one size are held at a time,
 * and two sizes must keep the limits, too. ERR_LIMIT when there are more than the limits allow or
 * it was stopped; then *out is not set. O(ideals x width of the graph). */
int place_family_all(const struct place_prepared *p, const struct place_limits *l,
                     const struct place_band *band /* or NULL */, struct place_family **out,
                     struct err *e) MUST_CHECK;

/* Prefixes of `order`, a topological order of the positions. */
int place_family_prefixes(const struct place_prepared *p, const uint32_t *order,
                          struct place_family **out, struct err *e) MUST_CHECK;

/* The prefixes of `order`, and of each size the `width` ideals that cut the least weight. Complete
 * when nothing was dropped. */
int place_family_beam(const struct place_prepared *p, const uint32_t *order,
                      const struct place_limits *l, struct place_family **out,
                      struct err *e) MUST_CHECK;

void place_family_free(struct place_family *f);

/* A depth-first topological order of the positions. `seed` 0: neighbours as they are numbered,
 * others: shuffled. Fills order[positions]. O(positions + edges). */
int place_depth_first(const struct place_prepared *p, uint64_t seed, uint32_t *order,
                      struct err *e) MUST_CHECK;

/* The topological order of the published code: of the positions whose predecessors are all in, the
 * one that became so last is next, those that do at once by rank[position], the highest first.
 * Fills order[positions]. O(positions log positions + edges). */
int place_last_ready(const struct place_prepared *p, const int64_t *rank, uint32_t *order,
                     struct err *e) MUST_CHECK;

/* `order` by the stages `stage_of` (by position, below `stages`), as it was within each: a
 * topological order again where stages follow precedence. */
int place_order_by_stages(const uint32_t *stage_of, uint32_t stages, uint32_t positions,
                          uint32_t *order, struct err *e) MUST_CHECK;

static inline bool place_has(const uint64_t *set, uint32_t p)
{
    return set[p / 64] >> (p % 64) & 1;
}

#endif
