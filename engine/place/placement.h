/* engine/place/placement.h - an answer: a device for every node, its cost, and a proven bound for
 * it. */
#ifndef AUTOMAP_ENGINE_PLACE_PLACEMENT_H
#define AUTOMAP_ENGINE_PLACE_PLACEMENT_H

#include "engine/place/chain_program.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"

struct placement {
    uint32_t nodes, devices;
    uint32_t *device;       /* by node */
    uint32_t *copies;       /* by device: of its stage, on the stage's first device; else 0 */
    uint32_t *stage;        /* by device: its place in the chain, PLACE_NONE when it has none */
    uint32_t *piece;        /* latency: by node, its piece on its device; else NULL */
    double value_ms;        /* time per sample, or of one sample */
    double bound_ms;        /* no plan of the asked kind is below */
    bool proven;            /* bound_ms is value_ms, but for rounding */
    bool contiguous;        /* devices take differences of a chain of ideals */
    uint32_t faults;        /* enum place_fault; 0 for every plan a solver gives */
    const char *written_in; /* bound_ms, proven: the word of that file, not checked; NULL: ours */
    const char *algo;       /* who found it; static */
    const char *bound_by;   /* what the bound counts; static */
    uint32_t positions, ideals; /* decided; 0 ideals: not counted */
    uint64_t pairs, moves;
    double seconds;
};

int placement_new(const struct place_graph *g, struct placement **out, struct err *e) MUST_CHECK;
void placement_free(struct placement *p); /* NULL is fine */
int placement_copy(const struct placement *p, struct placement **out, struct err *e) MUST_CHECK;

/* Latency: pieces of one accelerator, at most; 1 without pieces. */
uint32_t placement_pieces(const struct placement *p);

/* Stages and their copies take no more devices of a kind than there are, and where servers count,
 * share a server or take whole ones. ERR_INPUT names the kind. O(nodes + devices). */
int placement_check_copies(const struct placement *p, const struct place_graph *g,
                           struct err *e) MUST_CHECK;

/* Whether the accelerators of a server come one after another in the chain of stages, and copies
 * are as above. The graph has servers. O(devices^2). */
bool placement_in_turn(const struct placement *p, const struct place_graph *g);

/* Accelerators that have a stage, or a copy of one. */
uint32_t placement_accelerators(const struct placement *p, const struct place_graph *g);

/* Fills the loads of all devices (place_devices of them) and sets value and faults from them. No
 * position of `n` may be split by the plan. O(pins). */
void placement_price(struct placement *p, const struct place_nets *n, const struct place_rules *r,
                     struct place_load *load);
/* The same for any plan, with positions made for it. */
int placement_value(struct placement *p, const struct place_graph *g, const struct place_rules *r,
                    struct place_load *load, struct err *e) MUST_CHECK;

/* What device d, which makes or uses u's output, pays for it, if it is an accelerator: sent once,
 * at the price of the farthest user. */
double placement_transfer_ms(const struct placement *p, const struct place_graph *g, uint32_t u,
                             uint32_t d);

/* What limits throughput: the device with the largest load, and the heaviest transfer it pays for.
 * O(devices + edges). */
struct place_limit {
    uint32_t device; /* PLACE_NONE: there is none */
    uint32_t node;   /* whose output it sends or fetches; PLACE_NONE: it moves nothing */
    double load_ms, transfer_ms;
};
struct place_limit place_find_limit(const struct place_graph *g, const struct place_rules *r,
                                    const struct placement *p, const struct place_load *load);

/* A chain as a plan: stages get devices of their type in order, those of pinned nodes first. */
int placement_of_chain(const struct place_prepared *p, const struct place_chain *c,
                       struct placement **out, struct err *e) MUST_CHECK;

/* Work alone, shared out without loss: no plan of any kind is below, and no single node's least
 * time either. With z the work that a core does in no time, and rho the most that a core does of an
 * accelerator's work in its time: (sum of work - z) / (k + l rho). O(nodes x types). */
double place_work_bound(const struct place_graph *g, const struct place_rules *r);

#endif
