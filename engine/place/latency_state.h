/* engine/place/latency_state.h - one plan for latency while a search moves its positions. Private
 * to the searches of latency plans.
 *
 * A place is device * pieces + piece, all of the host one place more. */
#ifndef AUTOMAP_ENGINE_PLACE_LATENCY_STATE_H
#define AUTOMAP_ENGINE_PLACE_LATENCY_STATE_H

#include "engine/place/latency.h"
#include "engine/place/latency_blocks.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"

#include "rl/rng.h"

/* Positions that must share a device, though not a piece: what all of them allow. */
struct place_unit {
    uint8_t allowed;
    uint32_t fixed;
    double bytes;
};

struct place_latency_state {
    const struct place_graph *g;
    const struct place_latency *l;
    struct place_prepared *p;
    bool by_node;                 /* a position is a node and a unit a color; else each is both */
    struct place_unit *unit;      /* by unit */
    uint32_t *unit_of;            /* by position */
    uint32_t *member_at, *member; /* positions of a unit */
    uint32_t *moved, *from;       /* of the latest move: positions, and where they were */
    bool alike;                   /* accelerators are, so plans that swap two are one */
    struct place_blocks b;
    struct placement *now, *best;
    uint32_t pieces, accelerators, host; /* host: the first core, where the host's nodes are */
    double *used;                        /* bytes, by accelerator */
    uint32_t *place;                     /* by position: device * pieces + piece, host: its own */
    uint32_t *node_at, *node;            /* nodes of a position */
    struct rl_rng rng;
    uint64_t runs, failed;   /* plans priced; starts that were none */
    uint32_t *order, *begun; /* of random plans: positions, pieces begun by accelerator */
    bool whole;              /* every plan was tried */
};

/* Positions joined as for contiguous sets, whose nodes then share a piece or the host; where pins
 * part what is joined, one position a node. s->g and s->l are set; to be ended on an error too.
 * ERR_INFEASIBLE: colors clash with kinds of devices, or there is no host; ERR_INPUT: training. */
int place_latency_begin(struct place_latency_state *s, struct err *e) MUST_CHECK;
int place_latency_begin_with(struct place_latency_state *s, bool by_node, struct err *e) MUST_CHECK;
void place_latency_end(struct place_latency_state *s);

static inline uint32_t place_host_place(const struct place_latency_state *s)
{
    return s->accelerators * s->pieces;
}
static inline uint32_t place_device_of(const struct place_latency_state *s, uint32_t place)
{
    return place < place_host_place(s) ? place / s->pieces : s->host;
}

/* Position p alone. */
void place_latency_put(struct place_latency_state *s, uint32_t p, uint32_t place);
void place_latency_all_on_host(struct place_latency_state *s);
/* By kinds and pins, of which apart looks at positions below `among`; memory, and the rest of its
 * unit, aside. */
bool place_latency_may_stand(const struct place_latency_state *s, uint32_t p, uint32_t place,
                             uint32_t among);
double place_latency_room(const struct place_latency_state *s, uint32_t device);
/* With memory: p and its unit may go there. */
bool place_latency_allows(const struct place_latency_state *s, uint32_t p, uint32_t place);
/* p to a place; to another device its unit comes along, to that piece or, now and then, another.
 * `count` moves are noted so far; place_latency_take_back undoes so many, the latest first. */
void place_latency_move(struct place_latency_state *s, uint32_t p, uint32_t place, uint32_t *count);
void place_latency_take_back(struct place_latency_state *s, uint32_t count);
/* Prices the plan and counts it. */
double place_latency_price(struct place_latency_state *s);
/* Kept when it is the best yet, and keeps all rules. */
void place_latency_note(struct place_latency_state *s, double value, const char *algo);
/* The best plan again. */
void place_latency_restore(struct place_latency_state *s);
/* Annealing until so many plans are priced, from the plan at hand; heat as a part of the best's
 * value. */
void place_latency_cool(struct place_latency_state *s, double hot, double cold, uint64_t plans);
/* The best plan with its bound, handed over. ERR_INFEASIBLE: none was found. */
int place_latency_answer(struct place_latency_state *s, struct placement **out,
                         struct err *e) MUST_CHECK;

#endif
