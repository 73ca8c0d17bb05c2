/* engine/pipeline/pipe_instance.h - a pipeline problem as tables: everything a solver needs,
 * without any HLO.
 *
 * The forward pass is cut into `points`, pieces in forward order that are never split. Cut i lies
 * before point i; cuts 0 and `points` are the ends. Devices are in linear order, server by server.
 * A plan gives stage s the points pivot[s] .. pivot[s+1]-1 and the devices device[s] ..
 * device[s+1]-1; a stage on r devices runs every micro-batch on r replicas, each with its part of
 * the samples.
 *
 * To build one:
 *     pipe_instance_new(&in, points, cluster, &options, &e)      what the cluster decides is there
 *     in.forward_ms[pipe_row(&in, type, replicas)][i + 1] = ...  the value of point i, at [i + 1]
 *     pipe_instance_tie(&in, &tie, &e)                           for each tied variable
 *     pipe_instance_again(&in, pairs, count, amounts, &e)        for what stages make again
 *     pipe_instance_finish(&in, &e)                              checks, turns into prefix sums
 * From then on a table marked "prefix" holds at [i] the sum over points 0 .. i-1: a stage is a
 * difference of two entries. options.overlap, micro_batches, half_duplex, recompute and
 * memory_share and limit_bytes may be changed at any time after that; micro_batch may not (the
 * tables are per micro-batch).
 *
 * Units: ms, bytes. "Micro-batch" figures are of the whole micro-batch, before replicas share it.
 * Read-only once finished, so threads may share it. Memory O(types devices points + devices^3). */
#ifndef AUTOMAP_ENGINE_PIPELINE_PIPE_INSTANCE_H
#define AUTOMAP_ENGINE_PIPELINE_PIPE_INSTANCE_H

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cost/overlap.h"
#include "engine/pipeline/again.h"
#include "engine/pipeline/links.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

enum {
    PIPE_POINTS_MOST = 1 << 17,
    PIPE_DEVICES_MOST = 128,
    PIPE_STAGES_MOST = PIPE_DEVICES_MOST,
    PIPE_TIES_MOST = 64,
    PIPE_ENTRIES_MOST = 1 << 24 /* types x devices x points */
};

/* The order of passes (engine/pipeline/simulation.h), which decides how many micro-batches a stage
 * has in flight and so how much memory it needs. */
#define PIPE_SCHEDULES(X)                                                           \
    X(EAGER, "eager", "1F1B with 2k - 1 forward passes first, k stages to the end") \
    X(1F1B, "1f1b", "1F1B with k forward passes first, k stages to the end")        \
    X(GPIPE, "gpipe", "all forward passes, then all backward passes")

enum pipe_schedule_kind {
#define X(id, name, summary) PIPE_##id,
    PIPE_SCHEDULES(X)
#undef X
        PIPE_SCHEDULE_COUNT
};
extern const char *const pipe_schedule_names[PIPE_SCHEDULE_COUNT];

struct pipe_options {
    uint32_t micro_batches; /* M, of one step; >= 1 */
    uint32_t micro_batch;   /* samples of one; >= 1. Global batch = micro_batches x micro_batch */
    double overlap; /* part of a gradient all-reduce hidden behind computation, 0 .. 1; OVERLAP_AUTO
                       (cost/training.h): what the last backward pass hides (cost/overlap.h) */
    double memory_share; /* part of a device's memory a stage may fill; 0: no limit */
    double limit_bytes;  /* with one: no stage may fill more than this either; 0: nothing further */
    enum pipe_schedule_kind schedule; /* the one that runs, and that memory is counted for */
    bool half_duplex;                 /* a link between stages moves one direction at a time */
    bool recompute; /* keep a stage's input only, run its forward pass again before backward */
};

/* A device interval [a, b) as one data-parallel group. */
struct pipe_group {
    double reduce_ms_per_byte; /* hierarchical all-reduce (cost/mesh.h): moving one byte; 0 for
                                  one device */
    struct collective_lines reduce_by_size;
    double memory_bytes;         /* of the smallest device in it */
    uint32_t types;              /* bit t: has devices of type t of the instance */
    struct overlap most_overlap; /* of OVERLAP_AUTO */
};

/* A variable used at several points: every stage with a use holds it and its optimizer state, and
 * their gradients are added once a step over the network. The first use's point carries its bytes
 * in gradient_bytes, state_bytes, update_ms; these figures are what any further stage adds. */
struct pipe_tie {
    const uint32_t *uses; /* [use_count] points, ascending; copied by pipe_instance_tie */
    uint32_t use_count;
    double parameter_bytes, gradient_bytes, state_bytes, update_ms;
    uint32_t variable; /* the largest that is used so, into roles.params; of a made-up instance 0 */
    double sync_ms;    /* by pipe_instance_tie: gradient_bytes over the slowest network card */
    uint32_t *next; /* [points + 1] prefix: the first use at or after a point, `points` if none */
};

struct pipe_instance {
    struct pipe_options options;
    uint32_t points, devices, types, servers;

    /* Of points; prefix [points + 1]. Rows by pipe_row: a device type and a count of replicas. */
    double **forward_ms,
        **backward_ms;       /* [types x devices][points + 1] one micro-batch, slowest replica */
    double **update_ms;      /* [types][points + 1] optimizer, once a step */
    double *gradient_bytes;  /* what the replicas of a stage all-reduce, once a step */
    double *state_bytes;     /* parameters, gradients, optimizer state; each replica holds all */
    double *parameter_bytes; /* of these the parameters */
    double *stash_bytes;     /* kept from forward to backward, per micro-batch */
    uint32_t *variables;     /* trainable variables first used there */

    /* Of points; [points]. */
    double *temporary_bytes; /* working memory while a point runs, per micro-batch; not summed: the
                                largest */
    uint32_t *instruction;   /* its last HLO instruction; UINT32_MAX: none */
    uint32_t *layer;         /* number of its layer; UINT32_MAX: none */

    /* Of cuts; [points + 1], 0 at both ends. */
    double *forward_bytes, *backward_bytes; /* activations, gradients that cross, per micro-batch */
    double *once_bytes; /* what does not depend on the batch and its gradient, both, once a step */

    struct pipe_tie tie[PIPE_TIES_MOST];
    uint32_t ties;

    /* What a stage makes again that a stage before it made, by pairs of points that read it:
     * columns by enum pipe_again. The first reader's point has it in the tables above. */
    struct again again;

    /* Of the cluster, by pipe_instance_new. */
    uint32_t cluster_type[CLUSTER_TYPES_MOST]; /* [types] index into cluster.type */
    uint32_t *type_of, *server_of;             /* [devices] */
    uint32_t *boundary; /* [servers + 1] first device of each server, then devices */
    double *share;      /* [devices + 1] part of a micro-batch that the busiest of r replicas has */
    struct pipe_group *group; /* pipe_group_of */
    struct pipe_link *link;   /* pipe_link_of */
    uint32_t *link_base;      /* [devices + 1] */

    /* By pipe_instance_finish: largest stash_bytes[i + 1] + temporary_bytes of 2^level points from
     * i on. */
    double **temporary_most;
    bool finished;
    struct arena arena; /* all of the above */
};

/* Everything zero but what the cluster decides; instruction and layer UINT32_MAX. ERR_LIMIT past
 * the limits above, ERR_INPUT for options out of range. On error nothing is held. O(devices^4) for
 * the links, 0.35 s at 128 devices. */
int pipe_instance_new(struct pipe_instance *out, uint32_t points, const struct cluster *c,
                      const struct pipe_options *o, struct err *e) MUST_CHECK;
int pipe_instance_tie(struct pipe_instance *in, const struct pipe_tie *tie,
                      struct err *e) MUST_CHECK;
/* Columns of what is made again: a pass of type t at PIPE_AGAIN_COLUMNS + 2 t (forward) and + 1
 * (backward), the same for any count of replicas. */
enum pipe_again { PIPE_AGAIN_STASH, PIPE_AGAIN_COLUMNS };
static inline uint32_t pipe_again_column(uint32_t type, bool backward)
{
    return PIPE_AGAIN_COLUMNS + 2 * type + backward;
}
/* `amount` [rows of pairs][pipe_again_column(types, false)]; sorts the pairs. Once. ERR_INPUT: a
 * pair is no two ascending points, or an amount no finite figure >= 0. */
int pipe_instance_again(struct pipe_instance *in, struct again_pair *pair, uint32_t count,
                        const double *amount, struct err *e) MUST_CHECK;

/* Sums up. ERR_INPUT naming table and place when a value is negative or not finite, or an end of
 * the cuts is not 0. */
int pipe_instance_finish(struct pipe_instance *in, struct err *e) MUST_CHECK;
void pipe_instance_free(struct pipe_instance *in);

/* The same problem with fewer points: `cut` holds `count` + 1 cuts of `from`, ascending, first 0
 * and last from->points; point i of the result is cut[i] .. cut[i+1]-1. Options are copied. */
int pipe_instance_coarsen(const struct pipe_instance *from, const uint32_t *cut, uint32_t count,
                          struct pipe_instance *out, struct err *e) MUST_CHECK;

/* Divides the forward computation in `buckets` equal parts and takes the cheapest cut of each
 * (bytes both ways, lowest on ties): fills cut[.. buckets + 1] as above, returns its count of
 * points. */
uint32_t pipe_instance_cheapest(const struct pipe_instance *in, uint32_t buckets, uint32_t *cut);

/* A mask of device cuts: server boundaries and what is within `radius` devices of one. The ends are
 * always in. out[devices + 1]. */
void pipe_device_cuts(const struct pipe_instance *in, uint32_t radius, uint8_t *out);

/* ---- a plan ---- */
struct pipe_plan {
    uint32_t stages;
    uint32_t pivot[PIPE_STAGES_MOST + 1];  /* 0 < .. < points: cuts */
    uint32_t device[PIPE_STAGES_MOST + 1]; /* 0 < .. < devices; those behind the last are idle */
};

/* Of one stage over all points and devices. */
struct pipe_plan pipe_plan_whole(const struct pipe_instance *in);
/* Ascending, all points, within the limits; searches give plans of all devices. */
bool pipe_plan_is_valid(const struct pipe_instance *in, const struct pipe_plan *p);
bool pipe_plan_equal(const struct pipe_plan *a, const struct pipe_plan *b);
/* A cut a person holds: a stage begins at this device with this point. */
struct pipe_pin {
    uint32_t device, pivot;
};
/* Borrowed; in any order. */
struct pipe_pins {
    const struct pipe_pin *pin;
    uint32_t count;
};
/* Cuts inside the problem, of which every two lie in the same order by device and by pivot. */
bool pipe_pins_are_valid(const struct pipe_instance *in, const struct pipe_pins *p);
/* Whether points [i, j) on devices [a, b) can be a stage of a plan that keeps the pins: none lies
 * inside it, and its ends are pinned on both sides or on none. All stages so: the plan keeps them.
 */
static inline bool pipe_pins_allow(const struct pipe_pins *p, uint32_t i, uint32_t j, uint32_t a,
                                   uint32_t b)
{
    for (uint32_t n = 0; n < p->count; n++) {
        uint32_t device = p->pin[n].device, pivot = p->pin[n].pivot;
        if ((i < pivot && pivot < j) || (a < device && device < b) ||
            (i == pivot) != (a == device) || (j == pivot) != (b == device))
            return false;
    }
    return true;
}
/* "8 16 24 | 13 26 38": device cuts, then pivots. */
void pipe_plan_format(const struct pipe_plan *p, char *out, size_t room);

/* ---- reading the tables ---- */
static inline uint32_t pipe_row(const struct pipe_instance *in, uint32_t type, uint32_t replicas)
{
    return type * in->devices + replicas - 1;
}

static inline const struct pipe_group *pipe_group_of(const struct pipe_instance *in, uint32_t a,
                                                     uint32_t b)
{
    return &in->group[a * (in->devices + 1) + b];
}

static inline const struct pipe_link *pipe_link_of(const struct pipe_instance *in, uint32_t a,
                                                   uint32_t m, uint32_t b)
{
    return &in->link[in->link_base[m] + a * (in->devices - m) + (b - m - 1)];
}

/* All-reduce of so many bytes. */
double pipe_group_reduce_ms(const struct pipe_group *g, double bytes);

/* Of figures that are never NaN: one instruction, where fmax is a call. */
static inline double pipe_more(double a, double b)
{
    return a > b ? a : b;
}

/* A difference of prefix sums, of the slowest type of device in [a, b). `step` rows a type. */
static inline double pipe_slowest(const struct pipe_instance *in, double **row, uint32_t step,
                                  uint32_t i, uint32_t j, uint32_t a, uint32_t b)
{
    uint32_t types = pipe_group_of(in, a, b)->types;
    double most = 0;

    for (; types; types >>= 1, row += step)
        if (types & 1)
            most = pipe_more(most, (*row)[j] - (*row)[i]);
    return most;
}

/* The same of a pass, with what the stage makes again. */
static inline double pipe_pass_ms(const struct pipe_instance *in, double **row, bool backward,
                                  uint32_t i, uint32_t j, uint32_t a, uint32_t b)
{
    uint32_t types = pipe_group_of(in, a, b)->types;
    double most = 0;

    row += b - a - 1;
    if (!in->again.count)
        return pipe_slowest(in, row, in->devices, i, j, a, b);
    for (uint32_t t = 0; types >> t; t++, row += in->devices)
        if (types >> t & 1)
            most = pipe_more(most, (*row)[j] - (*row)[i] +
                                       again_sum(&in->again, pipe_again_column(t, backward), i, j));
    return most;
}

/* Computing points [i, j) on devices [a, b), ms of one micro-batch, or of the optimizer's update.
 */
static inline double pipe_forward_ms(const struct pipe_instance *in, uint32_t i, uint32_t j,
                                     uint32_t a, uint32_t b)
{
    return pipe_pass_ms(in, in->forward_ms, false, i, j, a, b);
}

static inline double pipe_backward_ms(const struct pipe_instance *in, uint32_t i, uint32_t j,
                                      uint32_t a, uint32_t b)
{
    return pipe_pass_ms(in, in->backward_ms, true, i, j, a, b);
}

/* Bytes that points [i, j) keep of a whole micro-batch from forward to backward. */
static inline double pipe_stash_bytes(const struct pipe_instance *in, uint32_t i, uint32_t j)
{
    return in->stash_bytes[j] - in->stash_bytes[i] + again_sum(&in->again, PIPE_AGAIN_STASH, i, j);
}

static inline double pipe_update_ms(const struct pipe_instance *in, uint32_t i, uint32_t j,
                                    uint32_t a, uint32_t b)
{
    return pipe_slowest(in, in->update_ms, 1, i, j, a, b);
}

/* What points [i, j) need at their peak beyond all that they stash: the largest of temporary_bytes
 * less what the points behind it in [i, j) stashed. i < j. O(1). */
double pipe_temporary_bytes(const struct pipe_instance *in, uint32_t i, uint32_t j);

#endif
