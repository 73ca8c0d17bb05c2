/* engine/place/state.h - an assignment of any sets and its loads, kept up to date move by move.
 *
 * A move changes the nets of one position: what they cost on the device left, the device entered
 * and their producers' devices. O(nets of the position), with several servers x devices. Loads
 * drift by rounding; place_state_set computes them anew. */
#ifndef AUTOMAP_ENGINE_PLACE_STATE_H
#define AUTOMAP_ENGINE_PLACE_STATE_H

#include "engine/place/nets.h"
#include "hlo/support/err.h"

struct place_state {
    const struct place_nets *n;
    const struct place_rules *rules;
    uint32_t devices, accelerators;
    uint32_t *device;        /* by position */
    struct place_load *load; /* by device */
    uint32_t *pins;          /* [net * devices + device] */
    uint32_t *type_of;       /* by device */
    double memory;           /* bytes of all accelerators */
    uint32_t broken;         /* positions of the wrong kind or off their pin, pairs not apart */
};

int place_state_new(const struct place_nets *n, const struct place_rules *rules,
                    struct place_state **out, struct err *e) MUST_CHECK;
void place_state_free(struct place_state *s);

void place_state_set(struct place_state *s, const uint32_t *device); /* O(pins + nets x devices) */
void place_state_move(struct place_state *s, uint32_t p, uint32_t to);

/* May p be on d by kind and pins? */
bool place_state_allows(const struct place_state *s, uint32_t p, uint32_t d);

static inline double place_state_load(const struct place_state *s, uint32_t d)
{
    return place_load_ms(s->rules, &s->load[d]);
}
/* As place_value, of the loads at hand. */
double place_state_value(const struct place_state *s);
double place_state_over(const struct place_state *s); /* bytes over the limits, all devices */

/* What annealing cools: a norm of the loads, smooth where the largest load alone is flat, plus what
 * broken rules cost. */
struct place_energy {
    int power;      /* of the norm: 2^power */
    double unit_ms; /* what a broken rule costs */
};
double place_state_energy(const struct place_state *s, const struct place_energy *w);
#endif
