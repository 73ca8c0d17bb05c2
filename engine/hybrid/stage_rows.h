/* engine/hybrid/stage_rows.h - the rows of one shape: the cost of every kind of section under every
 * split that may be the best (stage_table.h). Private to engine/hybrid/. */
#ifndef AUTOMAP_ENGINE_HYBRID_STAGE_ROWS_H
#define AUTOMAP_ENGINE_HYBRID_STAGE_ROWS_H

#include "engine/cluster/collectives.h"
#include "engine/cost/overlap.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_table.h"
#include "hlo/support/err.h"

/* What adds up over sections. */
enum row_figure {
    ROW_FORWARD, /* ms of a micro-batch */
    ROW_BACKWARD,
    ROW_BOTH,  /* forward and backward; of an ideal row less than the sum may be */
    ROW_SUMS,  /* reductions once a step, before overlap is taken off */
    ROW_ONCE,  /* all else once a step */
    ROW_FIXED, /* bytes */
    ROW_KEPT,
    ROW_INPUT,
    ROW_FORWARD_BALANCE, /* of OVERLAP_AUTO, of a micro-batch's pass: overlap_balance (overlap.h) of
                            its computation and of gathered and scattered variables beside it */
    ROW_BACKWARD_BALANCE,
    ROW_FORWARD_HIDDEN, /* ms of those variables that ROW_FORWARD leaves out */
    ROW_BACKWARD_HIDDEN,
    ROW_SUMMED,
    ROW_WORKING = ROW_SUMMED, /* bytes; the largest counts */
    ROW_FIGURES
};

/* What a row has besides its figures. */
struct row_rates {
    struct overlap overlap; /* of the shape's devices */
    double gather; /* ms per byte of what arrives, over the axes that do not split the batch, the
                      part 1 / dp in it */
    struct collective_lines arrive, reduce; /* of the gather; of the sum of gradients */
};

struct rows {
    uint32_t count, spread_sets, sigmas;
    double *figure;      /* [count][kinds][ROW_FIGURES] */
    uint8_t *labels;     /* [count][row_size] */
    uint32_t *sigma;     /* [count] */
    uint32_t *keeps;     /* [count] bits of pins of groups that its labels keep */
    double *spread;      /* [sigmas][set_count][ROW_SUMMED] of spread values; only of sigmas in use:
                            spread_at */
    uint32_t *spread_at; /* [sigmas] row of `spread`; UINT32_MAX: none */
    struct row_rates *rates; /* [count] */
    size_t figure_room, label_room, sigma_room, keeps_room, spread_room, rates_room;
};

/* All rows of a shape that no other beats; `is_ideal`: ideal ones. *cut_short is set when there
 * were too many. Stopped: not all, or none. */
int rows_new(const struct stage_tables *t, const struct stage_shape *shape, bool is_ideal,
             struct rows *out, bool *cut_short, struct err *e) MUST_CHECK;
void rows_release(struct rows *r);

/* Sections under given labels, added up. */
struct row_sum {
    double figure[ROW_FIGURES];        /* ROW_WORKING: the largest */
    double section_kept;               /* the most that one section alone keeps */
    double collective[SECTION_PASSES]; /* ms of the passes that collectives take */
    struct row_rates rates;
};

/* Sections [i, j) under the labels on[classes], operation by operation. O(operations of [i, j)). */
int rows_price(const struct stage_tables *t, const struct stage_shape *shape, const label *on,
               uint32_t i, uint32_t j, struct row_sum *out, struct err *e) MUST_CHECK;

#endif
