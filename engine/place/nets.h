/* engine/place/nets.h - the one cost function of device placement, as a hypergraph.
 *
 * Nodes that share a device are contracted to positions. The output of a producer is one net: its
 * position first, then the positions of its users, weight send_ms. Whatever the contraction, the
 * load of a device is exact, for outputs stay what they were:
 *
 *     compute(S) = time of S's positions on this kind of device
 *     out(S)     = weights of nets whose producer is in S and some user is not
 *     in(S)      = weights of nets whose producer is not in S and some user is
 *     load(S)    = compute + in + out        PLACE_SUM: one after the other (Tarnawski, section 3)
 *                  max(compute, in + out)    PLACE_MAX: transfers overlap the work, one link
 *                  max(compute, in, out)     PLACE_DUPLEX: the same, a link each way
 *                  compute                   on the host
 *
 * Forward and backward pass are kept apart (a net belongs to its producer's pass), so that a
 * schedule that runs all of one pass first can be priced: max forward load + max backward load.
 * A stage of r copies has load / r and sends its weights round: 2 (r-1)/r bytes x sync. */
#ifndef AUTOMAP_ENGINE_PLACE_NETS_H
#define AUTOMAP_ENGINE_PLACE_NETS_H

#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

enum place_communication { PLACE_SUM, PLACE_MAX, PLACE_DUPLEX };

struct place_rules {
    enum place_communication communication;
    bool apart;     /* passes apart: max of forward loads + max of backward loads */
    bool replicate; /* contiguous plans only: a stage may have several copies */
};

struct place_nets {
    const struct place_graph *graph;
    uint32_t positions, nets;
    uint32_t *position_of; /* by node of the graph */
    double *time_ms;       /* [(pass * types + type) * positions + p] */
    double *bytes;
    uint8_t *allowed;
    uint32_t *fixed; /* device or PLACE_NONE */
    uint32_t *apart; /* pairs of positions */
    uint32_t aparts;
    double *near_ms, *far_ms; /* by net; equal where there is one server */
    uint8_t *pass;
    uint32_t *pin_at, *pin; /* pins of net h; the producer's is the first, the rest ascends */
    uint32_t *net_at, *net; /* nets of position p */
    struct arena arena;
};

/* `position_of` is copied: dense numbers below `positions`, every one used. Nets with equal pins,
 * producer and pass are joined, those of one pin dropped. ERR_INFEASIBLE: nodes joined here are
 * pinned to different devices or apart, or no kind of device may hold them. O(edges log). */
int place_nets_new(const struct place_graph *g, const uint32_t *position_of, uint32_t positions,
                   struct place_nets **out, struct err *e) MUST_CHECK;
void place_nets_free(struct place_nets *n);

static inline double place_nets_time(const struct place_nets *n, uint32_t pass, uint32_t type,
                                     uint32_t p)
{
    return n->time_ms[((size_t)pass * n->graph->types + type) * n->positions + p];
}

/* ---- loads ---- */

struct place_load {
    double compute_ms[2], in_ms[2], out_ms[2]; /* forward, backward */
    double bytes;
    uint32_t positions;
};

/* One pass's parts, or their sum, under a rule; the host pays no transfers. */
static inline double place_parts_ms(enum place_communication c, double compute, double in,
                                    double out)
{
    double moved = c == PLACE_DUPLEX ? (in > out ? in : out) : in + out;
    return c == PLACE_SUM ? compute + moved : compute > moved ? compute : moved;
}

/* What `copies` devices of a stage take each, passes together. */
double place_load_ms(const struct place_rules *r, const struct place_load *load);
double place_pass_ms(const struct place_rules *r, const struct place_load *load, uint32_t pass);
double place_sync_ms(const struct place_graph *g, double bytes, uint32_t copies);
/* All of it: both passes, shared by the copies, and sending their weights round. */
double place_device_ms(const struct place_graph *g, const struct place_rules *r,
                       const struct place_load *load, uint32_t copies);

/* Loads of all devices of an assignment (by position), in[] and out[] zero on the host. Fills
 * load[place_devices]. O(pins). */
void place_loads(const struct place_nets *n, const uint32_t *device, struct place_load *load);

/* Time per sample: the largest load, or the largest forward plus the largest backward one.
 * `copies` by device, NULL: one each. */
double place_value(const struct place_nets *n, const struct place_rules *r,
                   const struct place_load *load, const uint32_t *copies);

/* What an assignment breaks: 0 when it keeps memory, kinds, pins and pairs apart. */
enum place_fault {
    PLACE_KEEPS = 0,
    PLACE_OVER_MEMORY = 1,
    PLACE_WRONG_KIND = 2,
    PLACE_PIN_BROKEN = 4,
    PLACE_NOT_APART = 8,
    PLACE_CROWDED = 16, /* more stages and copies than devices: of place_look_faults alone */
};
uint32_t place_faults(const struct place_nets *n, const uint32_t *device,
                      const struct place_load *load);

struct place_weighed {
    double weight;
    uint32_t p; /* a position */
};
/* Heaviest first; of equal weights the first position. */
void place_sort_weighed(struct place_weighed *all, uint32_t count);

#endif
