/* engine/relaxed/model.h - a training step as an energy: what each instruction may do, what each
 * use asks for, what changing in between costs. Inside engine/relaxed; others use relaxed.h.
 *
 * A node is an instruction (its labels: per mesh axis not split, one of its factors, or passing
 * partial results on), a hub (a value with several uses; its labels: statuses), a source (a
 * parameter of the entry as stored between steps), a junction (what a loop or a branch carries), or
 * an output (anything but partial). An edge is one way of a value from who has it to who wants it.
 */
#ifndef AUTOMAP_ENGINE_RELAXED_MODEL_H
#define AUTOMAP_ENGINE_RELAXED_MODEL_H

#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/status.h"
#include "engine/relaxed/tables.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

enum model_kind { MODEL_INSTRUCTION, MODEL_HUB, MODEL_SOURCE, MODEL_JUNCTION, MODEL_OUTPUT };

/* What an instruction does along an axis, one byte per axis in model->choices. */
enum {
    CHOICE_WHOLE = 0, /* 1 + n: split along the instruction's n-th factor */
    CHOICE_FACTORS_MOST = 64,
    CHOICE_PASS_LEAF = 128, /* + leaf: that operand leaf is partial and so is the result */
    CHOICE_LEAVES_MOST = 64,
    CHOICE_PASS = 255, /* all operand leaves that may be partial are, and so is the result */
};

struct model_node {
    uint8_t kind;     /* enum model_kind */
    hlo_id id;        /* the instruction; of the others the one that makes the value */
    hlo_value value;  /* of a hub, source, junction, output */
    uint32_t pattern; /* of an instruction */
    uint32_t space;   /* of the others: label k is the k-th status of it */
    double times;
};

/* Instructions that have the same labels at the same costs. */
struct model_pattern {
    uint64_t hash[2];
    uint32_t labels;
    uint32_t choices; /* into model->choices: [labels] */
    uint32_t maps;    /* into model->maps: per leaf of the instruction */
    table_id unary;
};

/* An edge beside the energy's edge of the same number. Places are of the space of `value`. */
struct model_edge {
    hlo_value value;
    uint32_t space, map_a, map_b; /* into model->places: label -> place in the space */
    uint32_t leaf;                /* operand leaf of the user when it is an instruction */
    double times;
    bool is_beside; /* computation may hide its reshard (cost/overlap.h) */
    double shown;   /* part of the reshard's time that shows */
    double weight;  /* and that counts in the energy */
};

struct model_options {
    double excess_weight; /* 0 to 1: how much of the excess of overlap counts (cost/overlap.h) */
    bool pass_partial;    /* linear instructions may pass partial results on */
};

struct model {
    const struct problem *p;
    struct model_options options;
    struct status_spaces spaces;
    struct tables tables;
    struct energy energy;
    struct model_node *nodes;
    struct model_edge *edges;
    hlo_value *origin;  /* [values] the value it is another name of; HLO_NONE: free, or no array */
    uint32_t *space_of; /* [values] of origins */
    uint32_t *maker, *hub; /* [values] of origins: node that makes it; its hub or UINT32_MAX */
    uint8_t *combiner;     /* [values] of origins: by which partial results are combined */
    uint32_t *node_of;     /* [instructions] or UINT32_MAX */
    uint32_t *leaf_space;  /* [classes->leaf_base] space of each leaf of an instruction; UINT32_MAX:
                              free */
    struct model_pattern *patterns;
    uint32_t pattern_count, *maps;
    uint32_t *choices;
    double *compute_ms; /* beside choices: the computing in the label's cost */
    uint16_t *places;
    uint32_t identity; /* into places: 0, 1, 2, .. */
    /* rooms */
    size_t node_room, unary_room, edge_room, energy_edge_room, pattern_room, map_count, map_room,
        choice_count, choice_room, compute_room, place_count, place_room, slot_count;
    uint32_t *slots;
};

int model_new(const struct problem *p, const struct model_options *o, struct model *out,
              struct err *e) MUST_CHECK;
void model_release(struct model *m);

/* The label of a node under a strict plan: on[class]. UINT32_MAX when it has none such. */
uint32_t model_strict_label(const struct model *m, uint32_t node, const label *on);

/* What a label of an instruction costs, of all executions; the sum is its unary cost. */
struct model_label_cost {
    double compute_ms;
    double inside_ms, inside_bytes; /* all-reduces of statistics within the instruction */
    double apart_ms, apart_bytes;   /* of dims reduced along different axes: XLA reduces dim by dim;
                                       what that costs beyond one reduction over all of them */
    label inside_over, apart_over;  /* axes; apart: of all those reductions but the largest, which
                                       then is the one that the way of the result begins with */
};
int model_label_cost(const struct model *m, uint32_t node, uint32_t x, struct model_label_cost *out,
                     struct err *e) MUST_CHECK;

/* The status that label `x` of an end of edge `edge` stands for; the `a` end or the `b` end. */
static inline uint32_t model_place(const struct model *m, uint32_t edge, bool at_b, uint32_t x)
{
    return m->places[(at_b ? m->edges[edge].map_b : m->edges[edge].map_a) + x];
}
status model_status(const struct model *m, uint32_t space, uint32_t place);

#endif
