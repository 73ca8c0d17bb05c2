/* engine/recompute/recompute_internal.h - what the parts of a choice share. Private to
 * engine/recompute. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_RECOMPUTE_INTERNAL_H
#define AUTOMAP_ENGINE_RECOMPUTE_RECOMPUTE_INTERNAL_H

#include "engine/recompute/front.h"
#include "engine/recompute/primal.h"
#include "engine/recompute/recompute.h"
#include "engine/recompute/sight.h"
#include "hlo/support/err.h"

/* Until when what is computed again may stay, its layer's turn of the backward pass. */
uint32_t recompute_window_end(const struct primal_graph *g, const struct primal *n);
/* Bytes of one layer's array of a node that is computed again, beside the base. That has it where
 * the module computes it again itself, and, in a loop, where it slices it out of its stack. */
double recompute_again_bytes(const struct recompute *r, uint32_t k);
/* As recompute_peak; *at: where. */
double recompute_peak_at(const struct recompute *r, const struct recompute_choice *c, uint32_t *at);

/* Bytes of each node at each of the positions under a choice, and of the products that are moved to
 * where it is computed again, beside the base: of_node [count][nodes]. */
int recompute_bytes_at(const struct recompute *r, const struct recompute_choice *c,
                       const uint32_t *positions, uint32_t count, double *of_node,
                       struct err *e) MUST_CHECK;

/* Within the limit and faster, or nearer to it. */
bool recompute_is_better(const struct recompute_choice *c, const struct recompute_choice *than);

/* A point of a front, or between it and the next: `first` in so many first layers. */
struct between_points {
    const struct recompute_point *rest, *first;
    uint32_t layers;
};
double recompute_peak_between(const struct recompute *r, struct between_points p, uint32_t *at);
/* Takes what was picked when it is better than *best, which keeps its bound. */
int recompute_offer(const struct recompute *r, struct between_points p, double peak, double limit,
                    struct recompute_choice *best, struct err *e) MUST_CHECK;
/* The bound is near enough, or says that no choice is as fast as asked; the host has one of its
 * own. */
bool recompute_is_enough(const struct recompute *r, const struct recompute_choice *best,
                         double enough_ms);

/* Fronts as positions of the schedule see them: they do not change with the limit, so one set
 * serves all limits asked for. */
enum { SEEN_MOST = 8 };
struct recompute_looks {
    const struct recompute *r;
    struct position_look {
        struct keep_sight sight;
        struct front front;
    } seen[SEEN_MOST];
    uint32_t count;
};
const struct recompute *recompute_looks_of(const struct recompute_looks *l);

/* recompute_within without a host: everything that is kept stays on the device. */
int recompute_on_device(struct recompute_looks *l, double limit, double enough_ms,
                        struct recompute_choice *out, struct err *e) MUST_CHECK;

/* several.c: raises the bound of *best, and finds faster choices, with a price for each of the
 * positions that bind. */
int recompute_look_at_several(const struct recompute_looks *l, double limit, double enough_ms,
                              struct recompute_choice *best, struct err *e) MUST_CHECK;

/* The fastest choice that also moves kept values to host memory; *best is the one without, and
 * stays where it is as good. Its bound becomes that of both. */
int recompute_offload(struct recompute_looks *l, double limit, double enough_ms,
                      struct recompute_choice *best, struct err *e) MUST_CHECK;

#endif
