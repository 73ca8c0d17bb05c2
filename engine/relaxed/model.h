/* engine/relaxed/model.h - a training step as an energy: what each instruction may do, what each
 * use wants, and what a change in between costs. Private to engine/relaxed; others use relaxed.h.
 *
 * A node is an instruction (its labels: per mesh axis not split, one of its factors, or passing
 * partial results on), a hub (a value with several uses; its labels: statuses), a source (a
 * parameter of the entry as stored between steps), a junction (what a loop or a branch carries), or
 * an output (anything but partial). An edge is one path of a value from its holder to a user. */
#ifndef AUTOMAP_ENGINE_RELAXED_MODEL_H
#define AUTOMAP_ENGINE_RELAXED_MODEL_H

#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/status.h"
#include "engine/relaxed/tables.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/slots.h"

enum model_kind { MODEL_INSTRUCTION, MODEL_HUB, MODEL_SOURCE, MODEL_JUNCTION, MODEL_OUTPUT };

/* What an instruction does along an axis, one byte per axis in model->choices. */
enum {
    CHOICE_WHOLE = 0, /* 1 + n: split along the instruction's n-th factor */
    CHOICE_FACTORS_MOST = 64,
    CHOICE_PASS_LEAF = 128, /* + leaf: that operand leaf is partial, and so is the result */
    CHOICE_LEAVES_MOST = 64,
    CHOICE_PASS = 255, /* every operand leaf that may be partial is, and so is the result */
};

struct model_node {
    uint8_t kind;     /* enum model_kind */
    hlo_id id;        /* the instruction, or for other kinds the one that makes the value */
    hlo_value value;  /* for hubs, sources, junctions, outputs */
    uint32_t pattern; /* of an instruction */
    uint32_t space;   /* of other kinds: label k is the k-th status of this space */
    double times;
};

/* Shared by instructions with the same labels at the same costs. */
struct model_pattern {
    uint64_t hash[2];
    uint32_t labels;
    uint32_t choices; /* into model->choices: [labels] */
    uint32_t maps;    /* into model->maps: per leaf of the instruction */
    table_id unary;
};

/* Details of the energy's edge with the same number. Places refer to the space of `value`. */
struct model_edge {
    hlo_value value;
    uint32_t space, map_a, map_b; /* into model->places: label -> place in the space */
    uint32_t leaf;                /* operand leaf of the user when it is an instruction */
    double times;
    bool is_beside; /* computation may hide its reshard (cost/overlap.h) */
    double shown;   /* exposed share of the reshard's time */
    double weight;  /* share that counts in the energy */
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
    hlo_value *origin;  /* [values] the value it is an alias of, or itself; HLO_NONE: free, or not
                           an array */
    uint32_t *space_of; /* [values] of origins */
    uint32_t *maker, *hub; /* [values] of origins: node that makes it; its hub or UINT32_MAX */
    uint8_t *combiner;     /* [values] of origins: how its partial results are combined */
    uint32_t *node_of;     /* [instructions] or UINT32_MAX */
    uint32_t *leaf_space;  /* [classes->leaf_base] space of each leaf of an instruction; UINT32_MAX:
                              free */
    struct model_pattern *patterns;
    uint32_t pattern_count, *maps;
    uint32_t *choices;
    double *compute_ms; /* parallel to choices: compute within the label's cost */
    uint16_t *places;
    uint32_t identity; /* into places: 0, 1, 2, .. */
    /* rooms */
    size_t node_room, unary_room, edge_room, energy_edge_room, pattern_room, map_count, map_room,
        choice_count, choice_room, compute_room, place_count, place_room;
    struct slots slots; /* of patterns, by hash */
};

int model_new(const struct problem *p, const struct model_options *o, struct model *out,
              struct err *e) MUST_CHECK;
void model_release(struct model *m);

/* The label of a node under a strict plan, on[class]; UINT32_MAX: the node has no such label. */
uint32_t model_strict_label(const struct model *m, uint32_t node, const label *on);

/* The parts of a label's unary cost, over all executions of the instruction. */
struct model_label_cost {
    double compute_ms;
    double inside_ms, inside_bytes; /* all-reduces of statistics within the instruction */
    double apart_ms, apart_bytes;   /* XLA reduces dims along different axes one by one: extra cost
                                       over a single reduction */
    label inside_over, apart_over;  /* axes; apart: of all those reductions but the largest, which
                                       is the first step of the result's path */
};
int model_label_cost(const struct model *m, uint32_t node, uint32_t x, struct model_label_cost *out,
                     struct err *e) MUST_CHECK;

/* The place, in the edge's space, of the status that label `x` means at the `a` or `b` end of
 * `edge`. */
static inline uint32_t model_place(const struct model *m, uint32_t edge, bool at_b, uint32_t x)
{
    return m->places[(at_b ? m->edges[edge].map_b : m->edges[edge].map_a) + x];
}
status model_status(const struct model *m, uint32_t space, uint32_t place);
/* The status in which the maker of `origin`, a value that has one, makes it with label `x`. */
status model_made(const struct model *m, hlo_value origin, uint32_t x);

#endif
