/* engine/hybrid/stage_modules.h - a hybrid plan as modules of HLO: one per stage and pass, each
 * with shardings over the stage's own sub-mesh that XLA partitions into the planned collectives.
 *
 *     prepare    once a step: what no batch differs in (masks, a position bias)
 *     forward    for each micro-batch
 *     backward   for each micro-batch; of a stage that recomputes the forward pass is in it again
 *     finish     once a step: what sums of the backward passes are made into
 *     part       once a step: the stage's part of what all gradients are needed for (their norm)
 *     joint      once a step, on the devices of the first stage: those parts put together
 *     update     once a step: new variables and optimizer state
 *
 * A module reads arguments of the step and values of other modules, by name. Values of forward and
 * backward passes that are read once a step are combined first: joined along the batch where it is
 * one of their dims, else summed, since means divide by the whole batch wherever they are taken.
 * Where that fails, with statistics of a batch that its samples read, a plan with several
 * micro-batches is refused.
 *
 * Shapes inside forward and backward passes are those of a micro-batch: every dim of the batch's
 * class is so many times shorter (hlo/meaning/extract.h). Gradients are reduced over the replicas
 * in the backward module, in each micro-batch, where the plan counts them once: GSPMD has no
 * partial sums to hand on. So ZeRO (stage_pieces.h) is: of a gradient each replica keeps its piece
 * of the sum, new variables are gathered behind their update, and at level 3 in the passes instead.
 */
#ifndef AUTOMAP_ENGINE_HYBRID_STAGE_MODULES_H
#define AUTOMAP_ENGINE_HYBRID_STAGE_MODULES_H

#include "engine/cluster/mesh.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#define STAGE_PASSES(X)     \
    X(PREPARE, "prepare")   \
    X(FORWARD, "forward")   \
    X(BACKWARD, "backward") \
    X(FINISH, "finish")     \
    X(PART, "part")         \
    X(JOINT, "joint")       \
    X(UPDATE, "update")

enum stage_pass {
#define X(id, name) STAGE_##id,
    STAGE_PASSES(X)
#undef X
        STAGE_PASS_COUNT
};
extern const char *const stage_pass_names[STAGE_PASS_COUNT];

/* How the values of all micro-batches become one of the step. */
enum stage_whole {
    STAGE_EACH, /* read within its micro-batch alone, or made once a step */
    STAGE_SUM,
    STAGE_JOIN /* along `dim` */
};

struct stage_value {
    hlo_value value;
    uint32_t argument; /* leaf of the entry's parameters; HLO_NONE: a module makes it */
    bool is_part;      /* one micro-batch's part of it, along `dim` */
    uint8_t dim;
    uint8_t whole;         /* outputs: enum stage_whole */
    bool is_read_by_batch; /* outputs: a pass of the same micro-batch reads it */
};

/* A collective that the partitioner has to insert. */
struct stage_collective {
    hlo_value value;
    uint8_t kind; /* enum collective_kind */
    label over;
    uint32_t count; /* in one run of the module: in a loop once a trip */
    double bytes;   /* local, of all of them */
};

struct stage_module {
    uint32_t stage;
    enum stage_pass pass;
    struct stage_value *input, *output;
    uint32_t inputs, outputs;
    struct stage_collective *collective;
    uint32_t collectives;
    struct str text; /* HLO */
};

/* Leaf of the entry's root. */
struct stage_result {
    hlo_value value;   /* made by a module, or an argument */
    uint32_t argument; /* HLO_NONE: made */
};

struct stage_pieces;

struct stage_modules {
    const struct hybrid *plan;
    struct stage_module *module; /* those that have something to do, in order of pass and stage */
    uint32_t count;
    struct stage_result *result;
    uint32_t results;
    struct cluster_mesh *mesh;   /* [stages] */
    label **over;                /* [stages][dims] how every value is split there, free ones too */
    struct stage_pieces *pieces; /* [stages] and what of it is held in pieces, by ZeRO level */
};

/* Where a module has a value: among what it reads, where it is made, among what it hands on. */
enum stage_place { STAGE_READ, STAGE_MADE, STAGE_HANDED_ON };
/* The axes that dim `dim` of a value is split over there. */
label stage_modules_split(const struct stage_modules *m, uint32_t stage, hlo_value v, uint32_t dim,
                          enum stage_place place);

/* `h` must outlive it. ERR_INFEASIBLE names the obstacle: a loop or a branch that stages cut,
 * statistics of a batch, sizes that a split does not divide. O(stages x instructions). */
int stage_modules_new(const struct hybrid *h, struct stage_modules *out, struct err *e) MUST_CHECK;
void stage_modules_release(struct stage_modules *m);

/* "dot.7", "sort.3.leaf1": the name of a value in all modules. Appended. */
void stage_modules_name(const struct hlo_module *m, hlo_value v, struct str *out);

#endif
