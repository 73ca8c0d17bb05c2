/* engine/place/look.h - a placement a person looks at and changes: the price of moving a node
 * anywhere, what holds it where it is, which outputs cross, which device limits.
 *
 * Nodes of one color move together. All figures hold for any sets: a move may make the plan
 * non-contiguous; place_look_is_chain tells. A plan with pieces (placement.piece) is one for
 * latency: values are the time of one sample, and a node moves to the piece that makes it least. */
#ifndef AUTOMAP_ENGINE_PLACE_LOOK_H
#define AUTOMAP_ENGINE_PLACE_LOOK_H

#include "engine/place/latency_blocks.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/state.h"
#include "hlo/support/err.h"

struct place_look {
    const struct place_graph *g;
    struct place_rules rules;
    struct place_nets *nets; /* positions are classes of colors */
    struct place_state *state;
    uint32_t *copies;           /* by device, of its stage; NULL: one each */
    struct placement *sample;   /* latency: as it is now, with pieces; NULL: a stream */
    struct place_blocks blocks; /* of `sample` */
    bool ordered;               /* its pieces of one accelerator wait for each other */
    uint32_t *level; /* by node: just before its first user; without one, behind all it reads */
    uint32_t levels, widest; /* nodes of a level, at most */
    /* Nodes of level k: all[0].row[all[0].at[k]] ..; in all[1], where levels are wide, without
     * weights, and where they still are, of equal chains the first one's alone. */
    struct place_rows {
        uint32_t *at, *row;
    } all[2];
    uint32_t *stands_for; /* by node: itself; of a weight left out its first user; of a chain left
                           * out the node in its place: whatever stands for that */
    uint32_t weights, equals; /* left out: weights, nodes of chains */
};

enum { PLACE_LOOK_WIDE = 8 }; /* a level of more nodes is wide */

/* `g` must outlive it. O(nodes + edges + pins). */
int place_look_new(const struct place_graph *g, const struct place_rules *rules,
                   const struct placement *p, struct place_look **out, struct err *e) MUST_CHECK;
void place_look_free(struct place_look *l); /* NULL is fine */

/* Another plan of the same graph and kind (stream or latency) is shown. */
void place_look_set(struct place_look *l, const struct placement *p);
static inline uint32_t place_look_device(const struct place_look *l, uint32_t node)
{
    return l->state->device[l->nets->position_of[node]];
}
/* As it is now; INFINITY: pieces that wait for each other. */
double place_look_value(const struct place_look *l);
/* What a device takes, its stage's copies counted. */
double place_look_load(const struct place_look *l, uint32_t device);
void place_look_move(struct place_look *l, uint32_t node, uint32_t device);

/* What a move would lead to. */
struct place_price {
    double value_ms; /* INFINITY: pieces would wait for each other */
    uint32_t faults; /* enum place_fault, of the whole plan then */
    uint32_t piece;  /* latency: of that device; else 0 */
};
/* price[devices]; that of its own device is the plan as it is. O(devices x nets of the class);
 * latency: O(devices x pieces x (nodes + edges)). */
void place_look_prices(struct place_look *l, uint32_t node, struct place_price *price);

/* enum place_fault, of the plan as it is now. */
uint32_t place_look_faults(const struct place_look *l);

/* The producer of the heaviest output that would start to cross if the node's class moved away;
 * PLACE_NONE when nothing holds it. O(pins of its nets). */
uint32_t place_look_holder(const struct place_look *l, uint32_t node, double *send_ms);

/* The device with the largest load. */
uint32_t place_look_limit(const struct place_look *l);

/* Outputs that cross, heaviest first: producers with what each end pays. At most `room`; returns
 * how many there are. O(edges + crossing log). */
struct place_crossing {
    uint32_t node, ends; /* accelerators that pay */
    double ms;           /* each */
};
uint32_t place_look_crossings(const struct place_look *l, struct place_crossing *out,
                              uint32_t room);

/* Can the devices be ordered so that forward edges go forward? `stage`, when not NULL, gets such an
 * order by device, PLACE_NONE of idle ones and where there is none. O(devices^3 / 64 + edges). */
bool place_look_is_chain(const struct place_look *l, uint32_t *stage);

#endif
