/* engine/hybrid/sections.h - the forward order in sections, and what of a step belongs to each.
 *
 * Sections lie between layers (hlo/meaning/roles.h; of an unrolled loop every trip is one): the
 * cheapest cut between two neighbours, one before the first layer and one behind the last. Without
 * layers: of SECTIONS_PLAIN parts of equal work the cheapest cut each. A backward operation belongs
 * where the order places it.
 *
 * A class is shared when operations or values of two sections touch it, else it is local to one. In
 * a stack of layers few classes are shared; once their labels are fixed, each section's cost is
 * independent of the others. Equal layers are sections of one kind: their operations cost alike,
 * one by one, with local classes renamed.
 *
 * A variable or a kept value that two sections use counts once in each stage that has one of them:
 * it is `spread`. So is a free operation (pipeline/reads.h) that is read in several sections: each
 * stage with one of them makes it, once. All others belong to one section. All dims of a spread
 * value are of shared classes.
 *
 * Built once per model; nothing here depends on a mesh or the number of micro-batches. */
#ifndef AUTOMAP_ENGINE_HYBRID_SECTIONS_H
#define AUTOMAP_ENGINE_HYBRID_SECTIONS_H

#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/variable_updates.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

enum { SECTIONS_PLAIN = 32, SECTION_CLASSES_MOST = 2 * TERM_CLASSES_MOST };

/* When an operation runs. */
enum section_pass {
    SECTION_FORWARD,
    SECTION_BACKWARD,
    SECTION_ONCE, /* once a step: nothing in it depends on the batch */
    SECTION_PASSES
};

/* What a value is to a section. */
enum section_use {
    SECTION_VARIABLE, /* parameters: its gradient, state and update too; one that no pass reads is
                         the first section's */
    SECTION_KEPT,     /* made forward, read backward: once per micro-batch in flight */
    SECTION_FIXED,    /* the same of what no batch differs in: once */
    SECTION_WORKING,  /* of the backward pass */
    SECTION_INPUT,    /* arrives over the cut before the section and is read in it or behind */
    SECTION_REMADE,   /* the first result of a free operation: what making it costs */
    SECTION_USES
};

struct section_value {
    uint32_t value; /* of order->steps */
    uint8_t use;    /* enum section_use */
};

struct section_spread {
    uint32_t value;
    uint8_t use;                      /* VARIABLE, KEPT, FIXED, INPUT, REMADE */
    uint32_t sections, section_count; /* ascending, into spread_pool */
    uint32_t set;                     /* values of the same sections are one set */
};

struct sections {
    const struct problem *problem;
    const struct order *order;
    uint32_t count;
    uint32_t *position;   /* [count + 1] of the forward order */
    uint8_t *pass;        /* [ops] enum section_pass */
    uint8_t *is_remade;   /* [ops] priced as SECTION_REMADE, not where it stands */
    uint8_t *is_left_out; /* [ops] forward ones of a layer that the module recomputes and that its
                             backward pass does not repeat: see stage_options.whole_layers */
    uint8_t *gradient; /* [values] order_gradients; a sum that leaves the passes is a variable's */
    uint32_t *op_base, *op;       /* [count + 1]: operations of a section */
    uint32_t *value_base;         /* [count + 1] into values */
    struct section_value *values; /* of one section each */
    struct section_spread *spread;
    uint32_t spread_count;
    uint32_t *spread_pool;
    uint32_t *set_first, set_count;  /* [set_count] a spread value of each set */
    struct order_cuts cuts;          /* of the order: [positions + 1] */
    double *state_bytes;             /* [roles.param_count] optimizer state of a variable */
    struct variable_updates updates; /* of a variable */
    uint8_t *is_shared;              /* [classes] */
    class_id *shared;                /* [shared_count] those that can be split, the batch first */
    uint32_t shared_count;
    uint32_t *local_base; /* [count + 1] into local */
    class_id *local;      /* local classes that can be split, of equal kinds in the same order */
    uint32_t *kind;       /* [count] */
    uint32_t kinds;
    uint32_t *kind_first; /* [kinds] the first section of a kind */
};

/* `order` must outlive it. Cut at `cuts` too, ascending, besides between layers. ERR_LIMIT: more
 * layers than HYBRID_SECTIONS_MOST; ERR_INPUT: a cut is none. O(operations + uses, log for
 * sorting). */
int sections_new(const struct order *order, const uint32_t *cuts, uint32_t count,
                 struct sections *out, struct err *e) MUST_CHECK;
void sections_release(struct sections *s);

/* "encoder/layer_003", "layers[17]"; "" where no operation of the section has a layer. */
void sections_layer(const struct sections *s, uint32_t section, char *out, size_t room);
/* The classes that can be split among a value's dims, and of a variable those that its gradient is
 * summed over, each once; a variable's update is split as these are. Returns how many. */
uint32_t sections_value_classes(const struct sections *s, const struct section_value *v,
                                class_id list[static SECTION_CLASSES_MOST]);
/* A hash of all that the update of a variable (a value of order->steps) depends on over the labels
 * of such a list, its classes by their place in it. */
void sections_update_pattern(const struct sections *s, uint32_t value, const class_id *list,
                             uint32_t count, uint64_t hash[2]);
/* A hash of all an operation's cost depends on, with its classes renamed in order of appearance:
 * list[..] are those that can be split; returns how many (at most TERM_CLASSES_MOST; UINT32_MAX:
 * more). */
uint32_t sections_pattern(const struct sections *s, uint32_t op, class_id *list, uint64_t hash[2]);

/* Some operation of sections [i, j) is of the class. O(operations of [i, j)). */
bool sections_have(const struct sections *s, uint32_t i, uint32_t j, class_id class);

#endif
