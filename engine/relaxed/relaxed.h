/* engine/relaxed/relaxed.h - relaxed mode: values may change their split between uses, at a price.
 *
 * Every instruction picks, per mesh axis, to run whole, to be split along one of its factors, or,
 * when it is linear, to pass a partial result on. Each use asks for a status of its operand
 * (status.h) and each result has one; where they differ a reshard stands, priced once however many
 * uses share it. Parameters of the step are stored in a status of their own: a variable may be
 * whole, stored and used split, or stored split and gathered for use; its next value, by whatever
 * way, ends as it is stored. The cost of a plan is the strict cost model's (cost/terms.h) with
 * those reshards in place of its all-reduces: a strict plan costs here what it costs there, to
 * rounding.
 *
 * Solved as an energy over labels by exact elimination of nodes with few neighbours (energy.h),
 * message passing with a lower bound (trws.h) and local search; the strict optimum is always among
 * the plans it starts from, so the answer is never worse. Same problem, options and calls: same
 * plan, bit for bit. One owner at a time; the problem must outlive it. */
#ifndef AUTOMAP_ENGINE_RELAXED_RELAXED_H
#define AUTOMAP_ENGINE_RELAXED_RELAXED_H

#include "engine/cost/step_tables.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/status.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

enum relaxed_bound {
    RELAXED_GLOBAL, /* of all plans */
    RELAXED_TIED,   /* of those that treat equal layers alike */
};
extern const char *const relaxed_bound_names[2]; /* "global", "tied" */

enum relaxed_folding { RELAXED_FOLD_AUTO, RELAXED_FOLD_OFF, RELAXED_FOLD_ON };

struct relaxed_options {
    enum relaxed_folding folding; /* auto: on where there are several axes */
    uint32_t fold_rounds;         /* how far around it two instructions must look equal; 0: 4 */
    bool reduce_at_once; /* partial results are combined where they arise, as XLA's partitioner does
                          */
    double excess_weight; /* 0 to 1: how much of the excess of overlap, were it not cut off at 0,
                             counts in what is minimised (cost/overlap.h) */
    uint32_t sweeps;      /* most of a solve; 0: by size, 100 to 1000 */
    double gap;           /* enough when (plan - bound) / bound is this; 0: 1e-6 */
};

/* A decision that must hold: dim `dim` of a parameter of the entry, along `axis`. */
enum relaxed_pin_kind {
    RELAXED_WHOLE,  /* neither stored nor read split so */
    RELAXED_SPLIT,  /* stored split and read split by every use */
    RELAXED_STORED, /* stored split; uses may gather it */
};
struct relaxed_pin {
    uint32_t param; /* into problem->roles.params */
    uint32_t dim, axis;
    uint8_t kind; /* enum relaxed_pin_kind */
};

/* A collective of the plan. */
struct relaxed_reshard {
    hlo_value value;
    hlo_id user;       /* the instruction it is for; HLO_NONE: shared by all uses, or on the way to
                          storage */
    uint32_t leaf;     /* operand leaf of `user` */
    hlo_value becomes; /* HLO_NONE, or on the way to what it flows into: a parameter's storage, what
                          a loop carries; `value` itself: what the step hands out */
    uint32_t step;     /* of the walk; slices have numbers, too, but are not listed */
    uint8_t kind;      /* enum reshard_kind, no slices */
    bool is_inside; /* all-reduce inside an instruction (statistics), or the further all-reduces of
                       one that reduces several dims along different axes: from = to */
    label over;
    status from, to;  /* before and after this step of the walk */
    double times;     /* executions in one step of training */
    double bytes, ms; /* local bytes as in collectives.h, time; of all executions */
};

struct relaxed_plan {
    const struct problem *problem;
    uint32_t *choice; /* [instructions] a byte per axis: 0 whole, 1 + n split along its n-th factor
                         (classes->factor_base), >= 128 passes partial results on */
    status *leaf;  /* [classes->leaf_base[id] + leaf] what the instruction asks of an operand leaf,
                      and how it makes a result leaf; index as in hlo/meaning/factors.h */
    status *made;  /* [values] as it is made or stored; values that are one array have one status;
                      of free values whole */
    status *held;  /* [values] as its uses find it: after the reshard they share, if there is one */
    status *ended; /* [values] as the step hands it out, or drops it unread: combined where it is
                      partial, else as its uses find it; nobody's next value. STATUS_UNKNOWN: no
                      origin */
    hlo_value *origin; /* [values] the first name of the array it is; HLO_NONE: free, or no array */
    bool reduce_at_once;              /* as in the options */
    struct relaxed_reshard *reshards; /* in order of the values that are resharded */
    uint32_t reshard_count;
    struct step_cost cost;
    double bound_ms; /* no plan of the bound's kind is faster */
    enum relaxed_bound bound_kind;
    double gap;       /* (step - bound) / bound */
    double strict_ms; /* of the strict optimum under the same pins, which was a candidate; 0: no
                         strict plan keeps them */
    uint32_t sweeps, nodes, colours,
        nodes_left; /* of the energy; folded (0: not); after elimination */
};

struct relaxed;

/* Prices all there is, micro-batches included. ERR_LIMIT for meshes of more than STATUS_AXES_MOST
 * axes, ERR_INPUT when the problem has a ZeRO level: storage is decided here. O(instructions). */
int relaxed_new(const struct problem *p, const struct relaxed_options *o, struct relaxed **out,
                struct err *e) MUST_CHECK;
void relaxed_free(struct relaxed *r); /* NULL ok */
/* Solves end when it is set (hlo/support/stop.h), in place of the problem's. NULL: never. */
void relaxed_set_stop(struct relaxed *r, const atomic_bool *stop);

/* Replaces all pins. What is known (messages, last plan) is kept: solving again is a what-if of few
 * sweeps. */
int relaxed_set_pins(struct relaxed *r, const struct relaxed_pin *pins, uint32_t count,
                     struct err *e) MUST_CHECK;

/* The array that instruction `id` of the problem's module makes, or a parameter of the entry as it
 * is stored, has one of these statuses; uses may still reshard it. Behind relaxed_set_pins, which
 * forgets it. ERR_INFEASIBLE: the model has none of them for it, and nothing is changed.
 * O(labels x count). */
int relaxed_hold(struct relaxed *r, hlo_id id, const status *any_of, uint32_t count,
                 struct err *e) MUST_CHECK;

/* From now on this way of a value has no collective: both its ends agree but for local slices. Adds
 * to what is forbidden already; NULL: nothing is. `r` was solved or given a plan before. ERR_INPUT
 * when the reshard is inside an instruction, or no way of this problem. O(edges). */
int relaxed_forbid(struct relaxed *r, const struct relaxed_reshard *way, struct err *e) MUST_CHECK;

/* The best plan found in at most `sweeps` sweeps (0: the options'). ERR_INFEASIBLE when the pins
 * leave none. */
int relaxed_solve(struct relaxed *r, uint32_t sweeps, struct relaxed_plan *out,
                  struct err *e) MUST_CHECK;
/* A new solve under these pins. Where the best plan by sums has more communication beside its
 * computation than that hides, other weights of the excess are tried: the fastest plan of all, with
 * the highest of their bounds, each of all plans. At most RELAXED_WEIGHTS_MOST + 1 solves. */
enum { RELAXED_WEIGHTS_MOST = 6 };
int relaxed_solve_overlapped(const struct problem *p, const struct relaxed_options *o,
                             const struct relaxed_pin *pins, uint32_t count,
                             struct relaxed_plan *out, struct err *e) MUST_CHECK;
void relaxed_plan_release(struct relaxed_plan *p);
int relaxed_plan_copy(const struct relaxed_plan *from, struct relaxed_plan *out,
                      struct err *e) MUST_CHECK;

/* What makes a plan, everything else follows: what each instruction does; statuses of origins: as
 * stored or carried (made), held and ended, where there is a choice. Indices as in relaxed_plan. */
struct relaxed_decisions {
    const uint32_t *choice;
    const status *made, *held, *ended;
};
/* That plan, priced, with no bound; pins are not asked. The next solve starts from it. ERR_INPUT
 * names what cannot be so. O(instructions x labels). */
int relaxed_price_decisions(struct relaxed *r, const struct relaxed_decisions *d,
                            struct relaxed_plan *out, struct err *e) MUST_CHECK;

/* Step time of a strict plan, on[class], in the relaxed model; < 0: it has labels the model left
 * out. */
double relaxed_embed_ms(const struct relaxed *r, const label *on);

/* Label of a dim of a value in a status; 0 for whole. */
static inline label relaxed_dim_label(const struct relaxed_plan *p, status s, uint32_t dim)
{
    return status_dim(s, p->problem->mesh.axes, dim);
}

#endif
