/* engine/hybrid/stage_table.h - what every stage costs on every sub-mesh, from sums over sections.
 *
 * A slot is cut into axes: [d] and, for d >= 4, [d/2, 2]; over n servers of D [n, D], [2n, D/2] and
 * [n D/2, 2], the first axis across. On such a shape a row is one way to split all sections: labels
 * sigma of the shared classes (per axis an independent set of them, all axes together), and for
 * each kind of section the labels of its local classes that are best at a price of memory,
 *     M (F + B) + R + price (fixed + 4 kept)        price in ms a GB: 0, 0.1, 1, 10, 10^4
 *                                                   (and 0 with R as if nothing more were hidden)
 * local classes that no operation and no clash joins are chosen apart. With sigma given, sections
 * add up: [i, j) costs a difference of prefix sums, and what it has of spread values once. Rows
 * that another beats in every section are left out; what a stage [i, j) may cost is the front of
 * its rows over (F, F + B, R, fixed, stash).
 *
 *     F, B     compute of one micro-batch (step_tables.h at the shape's labels), reductions that
 *              delay something, and gathering what arrives over a cut (bytes / dp, over the axes
 *              that do not split the batch); of ZeRO 2 and 3 scatters and gathers of variables
 *     R        (1 - overlap) x reducing the gradients over the axes that split the batch, in one
 *              message, and ties over the network; of OVERLAP_AUTO what the computation of the
 *              last backward pass leaves (cost/overlap.h), and ties whole; the update, by the
 *              module's own instructions on local data, of ZeRO 1 on a piece of it; and what
 *              does not depend on the batch
 *     fixed    variables, gradients, optimizer state by ZeRO level; values equal for all batches;
 *              twice the largest value of the backward pass
 *     stash    values made forward and read backward, by local size; with recomputation each
 *              section's input, and once the stash of one section
 *
 * An ideal row is sigma with the least of F, of F + B, of R and of each kind of memory over the
 * local labels, each alone and section by section: no strict plan with that sigma is below it.
 * Where not all sigmas, or labellings of local classes that hang together, are looked at, the least
 * is taken of each term alone (operations over the same classes), over all labels that its classes
 * can have: further below, and still below every strict plan. */
#ifndef AUTOMAP_ENGINE_HYBRID_STAGE_TABLE_H
#define AUTOMAP_ENGINE_HYBRID_STAGE_TABLE_H

#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/overlap.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/sections.h"
#include "hlo/support/err.h"

#include <stdatomic.h>

enum {
    STAGE_AXES_MOST = 2,
    STAGE_SHAPES_MOST = 3,    /* of one slot */
    STAGE_SIGMAS_MOST = 4096, /* of one shape, as many for each label of the batch */
    STAGE_CHOICES_MOST = 4096 /* labellings of local classes that hang together */
};

enum stage_recompute { STAGE_RECOMPUTE_ANY, STAGE_RECOMPUTE_NONE, STAGE_RECOMPUTE_ALL };

struct stage_options {
    uint32_t batch;         /* samples of a step */
    uint32_t micro_batches; /* divides it */
    uint8_t zero;           /* ZeRO level */
    enum stage_recompute recompute;
    double overlap;  /* part of R's reductions that is hidden; OVERLAP_AUTO */
    uint64_t slots;  /* bit s: rows for slot s; 0: all */
    uint32_t tp;     /* parts a sample is split in, devices / dp; 0: any */
    uint32_t dp;     /* parts of the batch; 0: any */
    bool is_uniform; /* fronts hold all rows in order, each twice: as it is, recomputed; what is not
                        possible takes INFINITY. One slot at a time */
    bool whole_layers; /* a layer that the module recomputes runs again to its end, as under
                          Megatron-LM's full recomputation (its CheckpointFunction calls the
                          layer's forward; arXiv 2205.05198, 5). XLA drops what nothing reads: the
                          last product and its all-reduce */
    bool is_plain; /* data and tensor parallelism alone: what is split, but for the batch, is split
                      over all axes that do not split the batch */
    uint32_t sigmas_most, choices_most; /* 0: STAGE_SIGMAS_MOST, STAGE_CHOICES_MOST */
    const struct hybrid_pins *pins;     /* points they forbid are left out; borrowed; NULL: none */
    const atomic_bool *stop;
};

/* A slot cut into axes. */
struct stage_shape {
    uint32_t slot, axes, size[STAGE_AXES_MOST];
    struct cluster cluster; /* its devices alone */
    struct cluster_mesh mesh;
};

struct stage_tables {
    const struct sections *sections;
    struct stage_options options;
    struct stage_shape *shape; /* [shapes] */
    uint32_t shapes;
    uint32_t row_size;   /* labels of a row: shared classes, then local ones kind by kind */
    uint32_t *kind_at;   /* [kinds] where a kind's begin */
    uint8_t *labels;     /* [rows][row_size] */
    uint32_t *row_shape; /* [rows] */
    uint32_t rows;
    size_t label_room, shape_room;
    bool is_cut_short; /* some shape has more sigmas or choices than are looked at: a plan may be
                          missed, the ideal rows hold for all */
};

/* Fills the fronts and the bytes of the cuts of `in`, and of `ideal` (NULL: not wanted), both made
 * by hybrid_instance_new for these sections, this cluster and M. False in *possible (and nothing is
 * added) when the batch cannot be cut so. O(shapes x rows x sections^2). */
int stage_tables_new(const struct sections *s, const struct stage_options *o,
                     struct hybrid_instance *in, struct hybrid_instance *ideal,
                     struct stage_tables *out, bool *possible, struct err *e) MUST_CHECK;
void stage_tables_release(struct stage_tables *t);

/* The stage [i, j) on a slot cut into axes (size[1] 0: one), under the labels on[classes], and the
 * same recomputed: priced operation by operation. collective_ms: what of its forward and backward
 * pass, not recomputed, collectives take, what arrives gathered among them. `in`: as for
 * stage_tables_new, its cuts filled. ERR_INPUT: no such axes. */
int stage_tables_price(const struct sections *s, const struct stage_options *o,
                       struct hybrid_instance *in, uint32_t slot, const uint32_t *size,
                       const label *on, uint32_t i, uint32_t j, struct hybrid_point out[static 2],
                       double collective_ms[static 2], struct err *e) MUST_CHECK;
/* What each stage that holds it takes to add up the gradient of a variable that other stages use
 * too, whole, once a step. ms. */
double stage_tables_tie_ms(const struct hybrid_instance *in, double bytes);
/* What shows of reductions of gradients and of ties: a fixed part, or of the reductions what the
 * last backward pass leaves, whose balance (overlap.h) is given; ties wait for other stages. ms. */
double stage_tables_reduce_ms(const struct overlap *o, double sums, double ties, double balance);
/* A slot cut into axes (second 0: one). ERR_INPUT: no such axes. */
int stage_shape_new(const struct cluster *c, const struct hybrid_instance *in, uint32_t slot,
                    uint32_t first, uint32_t second, struct stage_shape *out,
                    struct err *e) MUST_CHECK;
/* Fills the bytes of the cuts of `in`. */
void stage_tables_cuts(const struct sections *s, const struct stage_options *o,
                       struct hybrid_instance *in);

/* Labels of all classes in a stage of row `row` with sections [i, j): on[classes]; what no section
 * of it touches is whole. */
void stage_tables_labels(const struct stage_tables *t, uint32_t row, uint32_t i, uint32_t j,
                         label *on);
/* Parts the batch is split in by a row. */
uint32_t stage_tables_dp(const struct stage_tables *t, uint32_t row);

#endif
