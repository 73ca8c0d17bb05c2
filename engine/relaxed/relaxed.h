/* engine/relaxed/relaxed.h - relaxed mode: values may change their split between uses, at a price.
 *
 * For each mesh axis, every instruction runs whole, is split along one of its factors, or, if
 * linear, passes a partial result on. Each use wants a status of its operand (status.h) and each
 * result has one; where they differ there is a reshard, priced once however many uses share it.
 * Parameters of the step are stored in a status of their own: a variable may be whole, stored and
 * used split, or stored split and gathered for use; its next value ends in the status of its
 * storage. The cost of a plan is the strict cost model's (cost/step_tables.h) with these reshards
 * instead of all-reduces: a strict plan costs the same in both, up to rounding.
 *
 * Solved as an energy over labels by exact elimination of nodes with few neighbours (energy.h),
 * message passing with a lower bound (trws.h) and local search; the strict optimum is always one of
 * the starting plans, so the answer is never worse. The same problem, options and calls give the
 * same plan, bit for bit. Use from one thread at a time; the problem must outlive it. */
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
    uint32_t fold_rounds;         /* distance up to which the surroundings of two instructions must
                                     match; 0: 4 */
    bool reduce_at_once;  /* combine partial results where they arise, as XLA's partitioner does */
    double excess_weight; /* 0 to 1: weight of E, the excess of overlap before it is cut off at 0,
                             in the objective (cost/overlap.h) */
    uint32_t sweeps;      /* most sweeps of a solve; 0: by size, 100 to 1000 */
    double gap;           /* stop when (plan - bound) / bound is at most this; 0: 1e-6 */
};

/* A decision that must hold: dim `dim` of a parameter of the entry, along `axis`. */
enum relaxed_pin_kind {
    RELAXED_WHOLE,  /* neither stored nor read split */
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
    hlo_id user;       /* the instruction it serves; HLO_NONE: shared by all uses, or on the way to
                          storage */
    uint32_t leaf;     /* operand leaf of `user` */
    hlo_value becomes; /* where it flows to, if not to an instruction: a parameter's storage, loop
                          state, or `value` itself: an output of the step; else HLO_NONE */
    uint32_t step;     /* number of the step in the walk; slices count, but are not listed */
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
    status *leaf;  /* [classes->leaf_base[id] + leaf] the status the instruction wants of an operand
                      leaf, or makes a result leaf in; index as in hlo/meaning/factors.h */
    status *made;  /* [values] status as made or stored; aliases have one status; free values:
                      whole */
    status *held;  /* [values] status as its uses receive it: after the reshard they share, if
                      any */
    status *ended; /* [values] status of an output or of a value dropped unread, other than a
                      parameter's next value: partial ones combined, else as its uses receive it.
                      STATUS_UNKNOWN: no origin */
    struct relaxed_update {
        hlo_value origin; /* of a parameter's next value; HLO_NONE: it has none */
        uint32_t param;
    } * updates;         /* [params] ascending */
    hlo_value *origin;   /* [values] the first value of the same array; HLO_NONE: free, or not an
                            array */
    bool reduce_at_once; /* as in the options */
    struct relaxed_reshard *reshards; /* in order of the resharded values */
    uint32_t reshard_count;
    struct step_cost cost;
    double bound_ms; /* no plan that the bound's kind covers is faster */
    enum relaxed_bound bound_kind;
    double gap;         /* (step - bound) / bound */
    double strict_ms;   /* of the best strict plan found under the same pins, a candidate; 0: no
                           strict plan keeps them */
    bool strict_proven; /* no strict plan under these pins, and within the limit, is faster */
    uint32_t sweeps, nodes, colours, nodes_left; /* nodes of the energy; colours after folding (0:
                                                    not folded); nodes left after elimination */
};

struct relaxed;

/* Builds and prices the model, micro-batches included. ERR_LIMIT: the mesh has more than
 * STATUS_AXES_MOST axes. ERR_INPUT: the problem has a ZeRO level, but relaxed mode decides storage
 * itself. O(instructions). */
int relaxed_new(const struct problem *p, const struct relaxed_options *o, struct relaxed **out,
                struct err *e) MUST_CHECK;
void relaxed_free(struct relaxed *r); /* NULL ok */
/* Sets the flag that ends solves early (hlo/support/stop.h), instead of the problem's. NULL:
 * none. */
void relaxed_set_stop(struct relaxed *r, const atomic_bool *stop);

/* Replaces all pins and keeps messages and the last plan, so that solving again takes few
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

/* Finds the best plan in at most `sweeps` sweeps (0: the options'). ERR_INFEASIBLE: the pins allow
 * no plan. */
int relaxed_solve(struct relaxed *r, uint32_t sweeps, struct relaxed_plan *out,
                  struct err *e) MUST_CHECK;
/* Solves from scratch under these pins. If computation cannot hide all overlapping communication of
 * the best plan by sums, tries other weights of the excess and returns the fastest plan of all with
 * the highest of the bounds, each of which holds for all plans. At most RELAXED_WEIGHTS_MOST + 1
 * solves. */
enum { RELAXED_WEIGHTS_MOST = 6 };
int relaxed_solve_overlapped(const struct problem *p, const struct relaxed_options *o,
                             const struct relaxed_pin *pins, uint32_t count,
                             struct relaxed_plan *out, struct err *e) MUST_CHECK;
void relaxed_plan_release(struct relaxed_plan *p);
int relaxed_plan_copy(const struct relaxed_plan *from, struct relaxed_plan *out,
                      struct err *e) MUST_CHECK;

/* What determines a plan: what each instruction does, and where there is a choice the statuses of
 * origins: made (as stored or carried), held and ended. Indices as in relaxed_plan. */
struct relaxed_decisions {
    const uint32_t *choice;
    const status *made, *held, *ended;
};
/* Prices that plan, without a bound and regardless of pins. The next solve starts from it.
 * ERR_INPUT names what is impossible. O(instructions x labels). */
int relaxed_price_decisions(struct relaxed *r, const struct relaxed_decisions *d,
                            struct relaxed_plan *out, struct err *e) MUST_CHECK;

/* Step time of a strict plan, on[class], in the relaxed model; < 0: it uses labels that the model
 * left out. */
double relaxed_embed_ms(const struct relaxed *r, const label *on);

/* Label of a dim of a value in a status; 0 for whole. */
static inline label relaxed_dim_label(const struct relaxed_plan *p, status s, uint32_t dim)
{
    return status_dim(s, p->problem->mesh.axes, dim);
}

#endif
