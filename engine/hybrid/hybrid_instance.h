/* engine/hybrid/hybrid_instance.h - a hybrid problem as tables, free of HLO: stages, each split
 * over a sub-mesh.
 *
 * The forward pass is cut into `sections`, pieces in forward order (sections.h); cut i lies before
 * section i. Devices are in linear order, server after server. A stage has sections [i, j) and,
 * from some device on, a slot: a number of devices inside one server, or whole servers of one kind.
 * Its possible costs are a front of points, one for each way to split it that no other beats
 * (stage_table.h). Only devices before the first stage may stay unused.
 *
 *     hybrid_instance_new(&in, n, cluster, &options, &e)   slots and links are there
 *     hybrid_instance_add(&in, slot, i, j, points, count)  the front of [i, j) on a slot
 *     in.forward_bytes[c] = ..                             of every cut 1 .. n - 1
 *
 * Units: ms, bytes. "Micro-batch" figures are of the whole one, over all replicas of a stage. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_INSTANCE_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_INSTANCE_H

#include "engine/cluster/cluster.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/links.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"

enum {
    HYBRID_SLOTS_MOST = 32,
    HYBRID_SECTIONS_MOST = 512,
    HYBRID_DEVICES_MOST = 4096,
    HYBRID_STAGES_MOST = PIPE_STAGES_MOST,
    HYBRID_MICRO_MOST = 24, /* numbers of micro-batches tried */
};

/* One way to run a stage. */
struct hybrid_point {
    double forward_ms;               /* of one micro-batch, what arrives gathered */
    double both_ms;                  /* forward and backward */
    double reduce_ms;                /* once a step */
    double fixed_bytes, stash_bytes; /* of a device: always; for each micro-batch in flight */
    uint32_t row;                    /* what it stands for: stage_table.h */
    bool recompute;                  /* every section keeps its input alone */
};

struct hybrid_front {
    uint32_t first, count; /* into instance->points */
};

/* Devices that a stage may have. */
struct hybrid_slot {
    uint32_t devices;
    uint32_t type;      /* of device, into cluster.type */
    uint32_t group;     /* of servers, into cluster.group: the first that is like this */
    uint32_t servers;   /* whole ones; 0: inside one server */
    double limit_bytes; /* of a device; INFINITY: none */
    bool is_at;         /* parts of several servers, from device `first` on alone */
    uint32_t first;
};

struct hybrid_instance {
    struct pipe_options options;
    uint32_t sections, devices, slots;
    struct hybrid_slot slot[HYBRID_SLOTS_MOST];
    uint32_t *can_begin; /* [devices] bit s: a stage on slot s may begin there */
    double *forward_bytes, *backward_bytes, *once_bytes; /* [sections + 1] that cross a cut */
    struct pipe_link *link;                              /* [links] that differ; 0: none */
    size_t links, link_room;
    uint32_t *link_at;          /* [devices][slots][slots] into link: hybrid_link_of */
    struct hybrid_front *front; /* [slots][(sections + 1)^2] */
    struct hybrid_point *points;
    size_t point_count, point_room;
    const struct hybrid_pins *pins; /* every stage keeps them; borrowed; NULL: none */
};

/* Servers of these two groups are alike: devices, links and network. */
bool hybrid_groups_alike(const struct cluster *c, uint32_t a, uint32_t b);

/* Makes the slots: divisors of a server's devices; then of neighbouring equal servers 1 to 8,
 * powers of two, all of them, and as many of their divisors as there is room for, so that equal
 * stages can have 24 of 192 servers each. ERR_LIMIT past the limits above. O(devices slots^2). */
int hybrid_instance_new(struct hybrid_instance *out, uint32_t sections, const struct cluster *c,
                        const struct pipe_options *o, struct err *e) MUST_CHECK;
/* The same, and stages may have these devices [first, end), two numbers each, whatever servers they
 * are parts of: for a plan made elsewhere. Of the divisors of a row of servers only theirs are
 * slots, so that there is room for the rest of them. */
int hybrid_instance_new_for(struct hybrid_instance *out, uint32_t sections, const struct cluster *c,
                            const struct pipe_options *o, const uint32_t *devices, uint32_t count,
                            struct err *e) MUST_CHECK;
void hybrid_instance_release(struct hybrid_instance *in);

/* The points of [i, j) on a slot, copied; once for each. */
int hybrid_instance_add(struct hybrid_instance *in, uint32_t slot, uint32_t i, uint32_t j,
                        const struct hybrid_point *points, uint32_t count,
                        struct err *e) MUST_CHECK;

static inline struct hybrid_front *hybrid_front_of(const struct hybrid_instance *in, uint32_t slot,
                                                   uint32_t i, uint32_t j)
{
    return &in->front[((size_t)slot * (in->sections + 1) + i) * (in->sections + 1) + j];
}
/* Between a stage on slot `from` that ends before device m and one on slot `to` that begins there.
 */
static inline const struct pipe_link *hybrid_link_of(const struct hybrid_instance *in, uint32_t m,
                                                     uint32_t from, uint32_t to)
{
    return &in->link[in->link_at[((size_t)m * in->slots + from) * in->slots + to]];
}
static inline bool hybrid_can_begin(const struct hybrid_instance *in, uint32_t device,
                                    uint32_t slot)
{
    return in->can_begin[device] >> slot & 1;
}
/* The slot of devices [a, b); in->slots: no stage can have them. */
uint32_t hybrid_slot_of(const struct hybrid_instance *in, uint32_t a, uint32_t b);
static inline bool hybrid_may_be(const struct hybrid_instance *in, uint32_t slot, uint32_t i,
                                 uint32_t j, uint32_t device)
{
    return hybrid_pins_allow(in->pins, i, j, device, device + in->slot[slot].devices);
}
struct pipe_node hybrid_link_node(const struct hybrid_instance *in, uint32_t cut, uint32_t m,
                                  uint32_t from, uint32_t to);
static inline struct pipe_node hybrid_stage_node(const struct hybrid_point *p)
{
    return (struct pipe_node){p->forward_ms, p->both_ms - p->forward_ms, p->reduce_ms};
}
static inline double hybrid_point_bytes(const struct hybrid_point *p, uint32_t in_flight)
{
    return p->fixed_bytes + in_flight * p->stash_bytes;
}

/* ---- a plan ---- */
struct hybrid_plan {
    uint32_t stages;
    uint32_t cut[HYBRID_STAGES_MOST + 1];    /* 0 < .. < sections */
    uint32_t device[HYBRID_STAGES_MOST + 1]; /* the first may be behind 0 */
    uint32_t slot[HYBRID_STAGES_MOST];
    uint32_t point[HYBRID_STAGES_MOST]; /* into instance->points, of the stage's front */
};

double hybrid_plan_length(const struct hybrid_instance *in, const struct hybrid_plan *p); /* L */
/* No schedule is shorter: the longest path forward to a node, through its passes and back. */
double hybrid_plan_least(const struct hybrid_instance *in, const struct hybrid_plan *p);
double hybrid_plan_makespan(const struct hybrid_instance *in, const struct hybrid_plan *p,
                            enum pipe_schedule_kind kind);
/* The schedule in which it is shortest, of all or (>= 0) of one; INFINITY: it fits in none. */
double hybrid_plan_play(const struct hybrid_instance *in, const struct hybrid_plan *p, int schedule,
                        enum pipe_schedule_kind *kind);
/* Every stage keeps the pins, and is within its devices' memory when played as `kind`. */
bool hybrid_plan_fits(const struct hybrid_instance *in, const struct hybrid_plan *p,
                      enum pipe_schedule_kind kind);

#endif
