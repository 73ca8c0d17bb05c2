/* engine/place/place_cut.h - the least load of an accelerator that holds some positions and lacks
 * others: a minimum cut.
 *
 * Load = work + transfers is a cut of a network. What the device holds is the source, what it lacks
 * the sink; a position outside saves its work, a net with pins on both sides is paid for. Every set
 * in between is a cut, so the minimum cut is the least load (Picard and Ratliff 1975 for such
 * functions; Lawler 1973 for nets). Dinic's algorithm; an unfinished flow is a lower bound. One
 * thread. */
#ifndef AUTOMAP_ENGINE_PLACE_PLACE_CUT_H
#define AUTOMAP_ENGINE_PLACE_PLACE_CUT_H

#include "engine/place/nets.h"
#include "hlo/support/err.h"

struct place_cut;

/* `n` is borrowed. Of several kinds of accelerators the quickest counts, of several servers the
 * near price. O(pins). */
int place_cut_new(const struct place_nets *n, struct place_cut **out, struct err *e) MUST_CHECK;
void place_cut_free(struct place_cut *c); /* NULL is fine */

/* Position p is where[p]: PLACE_CUT_FREE, _IN (held by the device) or _OUT. With `works` false
 * transfers alone are counted, of the nets that part what is in from what is out. Ends early once
 * `until` is reached. `side` (bit p; [positions / 64 + 1], NULL: not asked) gets the smallest least
 * set, when the flow was finished. */
enum { PLACE_CUT_FREE, PLACE_CUT_IN, PLACE_CUT_OUT };
double place_cut_least(struct place_cut *c, const uint8_t *where, bool works, double until,
                       uint64_t *side);

/* What the device of p takes at least, or p on the host, given where the others are. */
double place_cut_with(struct place_cut *c, uint8_t *where, uint32_t p);
/* The work and nets of p alone: that is never more. O(nets of p). */
double place_cut_alone(const struct place_nets *n, uint32_t p);

/* Arcs looked at so far: what the time goes with. */
uint64_t place_cut_steps(const struct place_cut *c);

/* The quickest accelerator's, or the host's time of p: INFINITY where it may not be. */
double place_least_time(const struct place_nets *n, uint32_t p, bool on_host);

#endif
