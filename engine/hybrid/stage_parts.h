/* engine/hybrid/stage_parts.h - which module of a stage makes what (stage_modules.h). Private to
 * engine/hybrid/.
 *
 * Operations of the passes belong to the section the order puts them in; a loop, a branch or a
 * fusion goes with its operations, which all have to be of one stage. Instructions that only
 * pass arrays on, or read nothing, are made wherever they are read. An instruction of the update
 * belongs to the stage whose gradients it reads; scalars that read gradients of several stages are
 * joint, and what they read of one stage is that stage's part. Random bits, and what else is free
 * and another for every sample, are made once; micro-batches read their parts. Statistics of
 * training data alone, such as the number of tokens that count, are computed from the whole batch
 * before the passes. */
#ifndef AUTOMAP_ENGINE_HYBRID_STAGE_PARTS_H
#define AUTOMAP_ENGINE_HYBRID_STAGE_PARTS_H

#include "engine/decide/classes.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/stage_modules.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

enum { STAGE_READ_OFTEN = 1, STAGE_READ_ONCE = 2 };

struct stage_parts {
    const struct hybrid *h;
    const struct hlo_module *m;
    const struct classes *classes;
    uint8_t *kind;          /* [instructions] */
    uint8_t *pass;          /* [instructions] enum stage_pass, of operations */
    uint32_t *low, *high;   /* [instructions] stages whose values it reads; low > high: none */
    uint32_t *op_of;        /* [instructions] UINT32_MAX: none, or several */
    hlo_id *owner;          /* [computations] of the entry: the loop, branch or fusion around it;
                               HLO_NONE: none, or it is applied */
    uint8_t *is_part;       /* [instructions] a joint scalar reads it */
    uint8_t *is_data;       /* [instructions] of the passes, made of training data alone */
    uint8_t *is_kept_input; /* [values] kept for the backward pass where a stage recomputes */
    uint8_t *use;           /* [values] STAGE_READ_..: who reads it from outside of its module */
    uint64_t *apart;        /* [values] free ones, made once: the dim, as a bit, along which every
                               micro-batch has a part of its own */
};

/* Marks the loops of the entry of known trips that have operations in several stages (`is_cut`
 * [instructions], all false before). ERR_MEMORY. */
int stage_parts_cut_loops(const struct hybrid *h, bool *is_cut, uint32_t *count,
                          struct err *e) MUST_CHECK;
/* ERR_INFEASIBLE, see stage_modules_new. */
int stage_parts_new(const struct hybrid *h, struct stage_parts *out, struct err *e) MUST_CHECK;
void stage_parts_release(struct stage_parts *p);

static inline bool stage_pass_is_often(enum stage_pass pass)
{
    return pass == STAGE_FORWARD || pass == STAGE_BACKWARD;
}
/* An instruction may be inside this module; only one module makes it for others. */
bool stage_parts_may_hold(const struct stage_parts *p, hlo_id id, uint32_t stage,
                          enum stage_pass pass);
bool stage_parts_makes(const struct stage_parts *p, hlo_id id, uint32_t stage,
                       enum stage_pass pass);
/* A free value of which a pass of `stage` reads its micro-batch's part: made before the passes, on
 * the devices of the first stage that says so. */
void stage_parts_set_apart(struct stage_parts *p, hlo_value v, uint64_t dim, uint32_t stage);
bool stage_parts_is_cut(const struct stage_parts *p, hlo_value v, uint32_t dim);
/* Leaf of the entry's parameters; HLO_NONE. */
uint32_t stage_parts_argument(const struct stage_parts *p, hlo_value v);

#endif
