/* hlo/meaning/cost_internal.h - what cost.c and cost_window.c share. Private to hlo/. */
#ifndef AUTOMAP_HLO_MEANING_COST_INTERNAL_H
#define AUTOMAP_HLO_MEANING_COST_INTERNAL_H

#include "hlo/meaning/cost.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"

struct hlo_shape_bytes {
    double leaves; /* of all its arrays */
    double read;   /* by who has it as an operand: of a tuple only the table of pointers */
};

struct hlo_coster {
    const struct hlo_module *m;
    const struct hlo_shape_bytes *bytes; /* [m->shape_count] */
    const struct hlo_cost *computations; /* sums of those called; callees come first */
    hlo_id id;
    struct hlo_cost cost; /* starts as 0 flops, bytes of operands and result */
};

/* Elements of the array, or of the first leaf of a tuple. */
double hlo_cost_elements(const struct hlo_coster *k, const struct hlo_shape *s);
const struct hlo_shape *hlo_cost_operand(const struct hlo_coster *k, uint32_t n);

/* Cost of the n-th called computation; zeros when there is none. */
struct hlo_cost hlo_cost_called(const struct hlo_coster *k, uint32_t n);
/* Flops and transcendentals of `of`, `times` over; bytes stay. */
void hlo_cost_apply(struct hlo_coster *k, struct hlo_cost of, double times);

#define X(rule) void hlo_cost_##rule(struct hlo_coster *k);
HLO_COST_RULES(X)
#undef X

#endif
