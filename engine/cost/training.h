/* engine/cost/training.h - a training step in micro-batches, and with state stored in pieces
 * (ZeRO).
 *
 * Micro-batches. The batch is the class that most inputs share. With k micro-batches the forward
 * and backward pass runs k times on 1/k of the batch; the update (phase HLO_PHASE_UPDATE) runs
 * once, on gradients summed over the k passes. What the update reads from a pass is accumulated. An
 * all-reduce waits for the last pass if its result flows only linearly into such sums and has no
 * batch dim.
 *
 * ZeRO. The gradient of a variable is reduced over the labels of those classes that every
 * instruction producing it sums over (found by going back from the gradient through linear
 * instructions). Along those axes all devices hold the same variable: level 1 stores its optimizer
 * state in pieces, 2 its gradient too, 3 the variable too (Rajbhandari et al., "ZeRO", 2020). The
 * dim to cut is the one that gives the smallest piece.
 *
 * Plan-independent, built once per problem; immutable. O(instructions). */
#ifndef AUTOMAP_ENGINE_COST_TRAINING_H
#define AUTOMAP_ENGINE_COST_TRAINING_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

enum { ZERO_LEVEL_MOST = 3, ZERO_CLASSES_MOST = 6, MICRO_BATCHES_MOST = 1 << 16 };

/* Bits of training.adding. */
enum {
    ADDING_TIMES = 127,
    ADDING_SUMS = 128 /* what makes it sums over all that the variable's gradient is summed over */
};

/* One entry parameter leaf (index as in roles.params). */
struct training_variable {
    class_id reduced[ZERO_CLASSES_MOST]; /* classes its gradient is summed over; ascending */
    uint32_t reduced_count;              /* 0: not a variable, or nothing known */
    /* How the passes read it, for gathers at level 3 (variable_uses.h): the bytes they move of one
     * that is stored, less than 1 where all uses convert first; and of a stack that loops slice, in
     * how many parts. */
    double gathered_part;
    uint32_t layers;
    bool is_stacked; /* its gradient is a stack that a loop fills slice by slice (adding_up.h) */
};

struct training {
    const struct classes *classes;
    const struct hlo_roles *roles;
    class_id batch;        /* CLASS_NONE: no input can be cut */
    int64_t batch_divisor; /* any number of micro-batches divides this */
    uint8_t *is_once;      /* [instructions] belongs to the update */
    uint8_t *is_summed;    /* [values] made by a pass and read by the update: accumulated */
    uint8_t *is_state;     /* [values] made from parameters that the step updates, without any
                              product */
    uint32_t *update_of; /* [instructions] the variable (into roles->params) whose update it is part
                            of, element by element; HLO_NONE */
    uint8_t *adding;     /* [values] of a fresh gradient: adding it up moves ADDING_TIMES its own
                            bytes (adding_up.h); 0: of others */
    uint8_t *waits;      /* [values] its partial result may wait for the sum over the passes */
    struct training_variable *variables; /* [roles->param_count] */
};

int training_new(const struct classes *c, const struct hlo_roles *r, struct training *out,
                 struct err *e) MUST_CHECK;
void training_release(struct training *t);

/* Writes the classes that instruction `id` sums over and that may be split, ascending; returns how
 * many. */
uint32_t training_sums(const struct classes *c, hlo_id id, class_id out[static ZERO_CLASSES_MOST]);

#define OVERLAP_AUTO (-1.0)

/* Micro-batches and ZeRO level, both part of a plan, and overlap. */
struct batch_and_zero {
    uint32_t micro_batches; /* 1: the whole batch at once */
    uint8_t zero;           /* 0 .. ZERO_LEVEL_MOST */
    double overlap; /* 0 .. 1: hidden share of the gradients' all-reduces, which nothing in the
                       passes waits for; OVERLAP_AUTO: as much of them, and of gathered parameters,
                       as computation hides (overlap.h) */
};
/* ERR_INPUT when k does not divide the batch or there is no batch; the message says what would
 * work. */
int training_check(const struct training *t, const struct batch_and_zero *r,
                   struct err *e) MUST_CHECK;

/* Axes along which variable `param` may be stored in pieces under a plan: where its gradient is
 * reduced and no dim of it is split. */
label training_axes(const struct training *t, uint32_t param, const label *on);
/* A piece over `axes` as a share of local value `v`, which has the shape of its variable; 1 when no
 * dim can be cut. */
double training_piece(const struct training *t, const struct labels *l, const label *on,
                      hlo_value v, label axes);

#endif
