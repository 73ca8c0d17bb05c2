/* engine/recompute/several.h - prices for several positions of the schedule at once: the bound and
 * the choices near it. Between several.c and what mixes those choices, several_loops.c and
 * several_layers.c. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_SEVERAL_H
#define AUTOMAP_ENGINE_RECOMPUTE_SEVERAL_H

#include "engine/recompute/priced.h"
#include "engine/recompute/recompute.h"
#include "engine/recompute/sight.h"
#include "hlo/support/err.h"

enum { SPOTS_MOST = 10, TANGENTS_MOST = 128, REGIONS_MOST = 24 };

/* A choice of one kind of layer, and how far above the limit it is at each spot, in parts of it. */
struct tangent {
    double ms, over[SPOTS_MOST];
    uint8_t *state;
};

/* Choices that have in common what each node of a loop does in any layer. */
enum in_loop { LOOP_ANY, LOOP_KEEPS, LOOP_HAS };
struct keep_region {
    uint8_t *ways; /* [nodes] enum in_loop */
    double bound;
    double price[SPOTS_MOST]; /* at which it was found, ms for all of the limit */
};

struct several {
    const struct recompute *r;
    double limit, enough_ms;
    double sum_ms; /* no choice adds more */
    struct keep_sight spots[SPOTS_MOST];
    double
        margin[SPOTS_MOST]; /* kept free, in parts of the limit; none while a bound is looked for */
    uint32_t spot_count;
    struct tangent tangents[TANGENTS_MOST];
    uint32_t tangent_count;
    struct keep_region regions[REGIONS_MOST]; /* together all choices; the bound is the lowest's */
    uint32_t region_count;
    struct priced priced;
    bool is_priced; /* for the spots there are */
    uint8_t *late;  /* [nodes] scratch */
    struct recompute_choice *best;
};

/* The region of the lowest bound. */
uint32_t several_lowest(const struct several *s);
/* At most so many different tangents near the bound at the prices of a region, the nearest first.
 * Returns how many. */
uint32_t several_near(const struct several *s, const struct keep_region *g, uint32_t most,
                      uint32_t *out);
/* Raises the region's bound to within so many ms of where it can be, with so many cuts at most;
 * each adds a tangent. */
int several_climb(struct several *s, struct keep_region *g, uint32_t cuts, double close_ms,
                  struct err *e) MUST_CHECK;
/* Adds a choice of one kind of layer, of which state and ms are read; the oldest makes room. */
int several_add_tangent(struct several *s, const struct recompute_point *p,
                        struct err *e) MUST_CHECK;
/* Looks from one more position too, if there is room for it. */
int several_add_spot(struct several *s, uint32_t position, struct err *e) MUST_CHECK;

/* Offer mixtures of choices near the bound: in loops, two kinds of layers, what is near either
 * among them; of written-out layers, each its own. Nothing where there are no such layers, more
 * than a thousand, or the bound is near enough. */
int several_mix_loops(struct several *s, struct err *e) MUST_CHECK;
int several_mix_layers(struct several *s, struct err *e) MUST_CHECK;

#endif
