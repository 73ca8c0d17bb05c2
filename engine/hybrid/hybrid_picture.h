/* engine/hybrid/hybrid_picture.h - a hybrid plan, or a search that looks for one, as a screen shows
 * it. A picture is a copy: nothing in it points into the plan or the problem, so the search's
 * thread may make one (hybrid_options.watch) and hand it to another.
 *
 *     stages x devices   stage[n].device .. end_device, axes
 *     roles x stages     role[r].in[n]: in how many parts the dims of that role are split there
 *     timeline           task[], with collective_ms of each pass
 *     memory             hybrid_picture_memory: bytes of a device over the schedule */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_PICTURE_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_PICTURE_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/names.h"
#include "engine/hybrid/by_value.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/simulation.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

enum { HYBRID_LAYER_ROOM = 160 };

/* Values alike that the backward pass of a stage needs. */
struct hybrid_picture_row {
    struct by_value_row row;
    const char *operation; /* "multiply"; not the module's */
    char source[80];       /* "common.py:51"; "": not known */
};

struct hybrid_picture_stage {
    uint32_t group;              /* of devices: n, or n mod groups where plans are interleaved */
    uint32_t device, end_device; /* [device, end_device) */
    uint32_t axes, size[STAGE_AXES_MOST];
    uint32_t dp, tp;
    uint32_t section, end_section;
    char first_layer[HYBRID_LAYER_ROOM], last_layer[HYBRID_LAYER_ROOM]; /* "": none has a name */
    bool recompute;
    double forward_ms, backward_ms;                             /* of a micro-batch */
    double forward_collective_ms, backward_collective_ms;       /* of them: tensor parallelism */
    double once_ms;                                             /* gradients, optimizer */
    uint32_t in_flight;                                         /* micro-batches, of its group */
    double fixed_bytes, stash_bytes, memory_bytes, limit_bytes; /* of a device; the last two of its
                                                                   group; limit INFINITY: none */
    /* Chosen by value (by_value.h), where that was asked for. */
    double added_ms;                 /* in backward_ms, of computing again */
    double host_bytes;               /* of a micro-batch, kept on the host */
    struct hybrid_picture_row *kept; /* [kept_count] first those of which something is computed
                                        again */
    uint32_t kept_count;
    struct by_value_corner *corners; /* [corner_count] */
    uint32_t corner_count;
};

/* What a role is to a stage. */
struct hybrid_picture_cell {
    class_id class; /* one of the role's classes there, most split; CLASS_NONE: it has none */
    label axes;     /* bit x: split over axis x of the stage */
    uint16_t parts; /* 1: whole */
    bool is_mixed;  /* others of the role are split otherwise there */
};

struct hybrid_picture_role {
    char name[NAME_ROOM]; /* without the number of a layer */
    bool is_split;        /* somewhere */
    bool is_batch;
    struct hybrid_picture_cell *in; /* [stages] */
};

struct hybrid_picture {
    bool found; /* false: only the figures of the search below are there */
    double step_ms, length_ms, bound_ms;
    double plain_ms; /* with stages that keep all or are recomputed */
    bool by_value;   /* what stages keep was chosen so */
    bool is_certified, is_said, is_uniform;
    uint32_t batch, micro_batches, stages, groups, chunks; /* stages = groups x chunks */
    uint8_t zero;
    int zero_asked; /* as in hybrid_options */
    enum pipe_schedule_kind schedule;
    double makespan_ms[PIPE_SCHEDULE_COUNT];
    uint32_t sections, slowest;
    struct hybrid_picture_stage *stage; /* [stages] */
    struct hybrid_cut *cut;             /* [stages - 1] */
    struct hybrid_picture_role *role;   /* the batch first; then those split somewhere */
    uint32_t roles;
    struct pipe_schedule timeline; /* in order of time; node 2 n is stage n, 2 n + 1 the transfer
                                      behind it; no tasks where there are too many */
    /* the search */
    struct hybrid_try tried[HYBRID_TRIES_MOST];
    uint32_t tries;
};

/* Of a plan that is priced. O(operations + tasks log tasks). Free with hybrid_picture_release, as
 * also one of zeros. */
int hybrid_picture_new(const struct hybrid *h, struct hybrid_picture *out,
                       struct err *e) MUST_CHECK;
void hybrid_picture_release(struct hybrid_picture *p);

/* "decoder cross 3" without the number of its layer. Returns out. */
char *hybrid_role_name(const struct class_names *names, class_id k, char out[static NAME_ROOM]);

/* Bytes of a device of one group from `at_ms` on: a pass forward adds what the stage keeps for its
 * micro-batch, the pass backward frees it when it ends. Interleaved stages are held to the largest
 * stash among the group's, as their limit is. */
struct hybrid_moment {
    double at_ms, bytes;
};
/* In order of time, the first at 0. `out` has room for 1 + 2 M chunks; returns how many. */
uint32_t hybrid_picture_memory(const struct hybrid_picture *p, uint32_t group,
                               struct hybrid_moment *out);

/* ---- beside others ---- */

enum hybrid_rival_kind {
    HYBRID_RIVAL_UNIFORM,  /* all stages alike, interleaved or not */
    HYBRID_RIVAL_REPLICAS, /* stages of replicas: tensor parallel 1 */
    HYBRID_RIVAL_SPLIT,    /* one stage over all devices */
    HYBRID_RIVALS
};

struct hybrid_rival {
    bool found; /* false: none fits, or stopped */
    double step_ms, memory_bytes;
    uint32_t stages, micro_batches, chunks, dp, tp; /* dp, tp of the first stage */
};
/* The best plan of each kind by the same options; a search each, without a bound. */
int hybrid_rivals(const struct problem *p, const struct hybrid_options *o,
                  struct hybrid_rival out[static HYBRID_RIVALS], struct err *e) MUST_CHECK;

#endif
