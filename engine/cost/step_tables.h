/* engine/cost/step_tables.h - the step time of a strict plan as a sum of small tables.
 *
 * The local cost of an instruction depends only on the labels of the classes of its factors:
 *   compute  = times x (max(flops x shares / peak, local traffic / bandwidth) + launch); matrix
 *              products and convolutions go by their local shape (product.h)
 *   traffic  = local bytes that the kernels here read and write (traffic.h)
 *   one all-reduce of partial results for each split reducing factor, over its class's label.
 *              XLA's partitioner reduces dim by dim (tests/ref/xla) and does not join the axes of
 *              two dims. Sums of partial results are reduced once (joined_sums.h), unless the
 *              options ask for them as the partitioner leaves them
 * Instructions over the same classes add up to one term: a table indexed by which class owns each
 * axis. With k classes a term has (k + 1)^axes entries: entry = sum over axes x of
 * owner(x) (k + 1)^x, where owner 0 is nobody and 1 + n is the term's n-th class. Classes that
 * meet have disjoint labels, so the table covers every case.
 *
 * With k micro-batches the passes run k times on shares 1/k as large, with k times the launches
 * and latencies, and gradients are added up (adding_up.h); an all-reduce that may wait (training.h)
 * runs once. ZeRO: an all-reduce is a
 * reduce-scatter and an all-gather, so storing optimizer state in pieces along the gradient's axes
 * is free (level 1). Level 2 scatters the gradient in every pass: k - 1 more. Level 3 gathers the
 * variable in the forward and in the backward pass instead of after the update: 2k - 1 more. These
 * costs go into the table of the variable; its update touches a piece. Communication overlaps
 * compute only as batching.overlap says (training.h, overlap.h). Built once per module, cluster and
 * mesh; immutable. */
#ifndef AUTOMAP_ENGINE_COST_STEP_TABLES_H
#define AUTOMAP_ENGINE_COST_STEP_TABLES_H

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/attention.h"
#include "engine/cost/joined_sums.h"
#include "engine/cost/overlap.h"
#include "engine/cost/product.h"
#include "engine/cost/traffic.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/meaning/cost.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

enum { TERM_CLASSES_MOST = 16 };

struct term {
    uint32_t classes, class_count; /* into step_tables->class_pool, ascending */
    uint32_t table;                /* into its compute_ms and communication_ms */
    uint32_t entries;              /* (class_count + 1)^axes */
};

struct step_tables {
    const struct labels *labels;
    const struct cluster_mesh *mesh;
    const struct hlo_costs *costs;
    struct cluster_device device; /* the weakest of the cluster: all devices wait for it */
    double host_link; /* the slowest to host memory, bytes per second; 0: no server gives one */
    const struct traffic *traffic; /* which leaves move bytes, and how often */
    const struct attention *attention;
    const double *measured_ms; /* [instructions] of one run unsplit, or NULL; < 0: not measured */
    const struct training *training;
    const struct joined_sums *joined; /* NULL: partial results are reduced where they arise */
    struct batch_and_zero batching;
    struct overlap overlap;
    struct term *items;
    uint32_t count;
    class_id *class_pool;
    double *compute_ms, *communication_ms;
    double *beside_ms;  /* communication beside computation, whole; 0 unless overlap.is_bounded */
    double fixed_ms;    /* compute of what no class can split, free_ms included */
    double free_ms;     /* of free values that every device makes whole (free_cost.h) */
    uint32_t *of_class; /* [classes + 1] into class_terms */
    uint32_t *class_terms; /* terms of each class */
};

/* `measured_ms` NULL: the roofline. ERR_LIMIT when an instruction meets more classes than a term
 * holds. */
int step_tables_new(const struct labels *l, const struct cluster_mesh *mesh,
                    const struct cluster *cluster, const struct hlo_costs *costs,
                    const struct traffic *traffic, const struct attention *attention,
                    const double *measured_ms, const struct training *training,
                    const struct joined_sums *joined, const struct batch_and_zero *batching,
                    struct step_tables *out, struct err *e) MUST_CHECK;
void step_tables_release(struct step_tables *t);

/* Cost of one instruction under a label for each class; a term's table is a sum of these. */
struct instruction_cost {
    double flops, bytes;                 /* local, one execution */
    double compute_ms, communication_ms; /* times executions */
    double adding_ms;                    /* the part of computing that adds up gradients */
    double beside_ms; /* the part of communication that may run beside computation */
    double times;
    double reduced_bytes;   /* of its all-reduces together, local, one execution */
    uint32_t reduced_count; /* results they reduce */
    label reduced_over;     /* axes of any of them */
};
struct instruction_cost step_tables_instruction(const struct step_tables *t, hlo_id id,
                                                const label *on);

/* One execution of an instruction on one device as a function of the size x of one class, in parts
 * of what it is in the module (a micro-batch: samples / the batch): work that does not depend on
 * it, and work in proportion. */
struct instruction_scaling {
    double flops, bytes; /* fixed */
    double flops_per_x, bytes_per_x;
    double measured_ms; /* at x = 1, < 0: not measured */
    bool has_class, is_heavy;
    enum peak_type peak;
    struct product product;          /* its whole sizes; m 0: no product */
    uint8_t growing;                 /* which of them the class is */
    double work;                     /* of a fused attention (attention.h); 0: not of one */
    const struct hlo_kernel *kernel; /* what runs it by a rule, or as fused attention; NULL */
    double host_link;                /* as step_tables.host_link */
};
struct instruction_scaling step_tables_scaling(const struct step_tables *t, hlo_id id, class_id k);
/* What adding up its fresh gradients (adding_up.h) takes in each of so many micro-batches, whole.
 */
double step_tables_adding_ms(const struct step_tables *t, hlo_id id, const struct cluster_device *d,
                             uint32_t micro_batches);
/* Its roofline on device `d`: max(flops / peak, bytes / bandwidth) + launch. Measured: x times it.
 */
double instruction_scaling_ms(const struct instruction_scaling *s, const struct cluster_device *d,
                              double x);

/* The collectives of one instruction: all-reduces, one per split reducing factor; of what the
 * partitioner runs whole (decide/partitioner.h) all-gathers, one per split operand. */
struct reduction {
    uint8_t kind; /* enum collective_kind */
    class_id class;
    label over;
    uint32_t count;   /* results it reduces */
    double bytes, ms; /* local, one execution; without the part that is hidden */
    double beside_ms; /* the whole of it where computation may hide it, else 0 */
    double times;     /* executions in a step */
};
uint32_t step_tables_reductions(const struct step_tables *t, hlo_id id, const label *on,
                                struct reduction out[static TERM_CLASSES_MOST]);

/* Axes along which instruction `id`, split along `used` elsewhere, is summed besides those of its
 * summed dim (partitioner_sums_everywhere): an operand is cut there on the spot. 0 for other
 * instructions. */
label step_tables_spare_axes(const struct step_tables *t, hlo_id id, label used);

/* The same factor by factor, for callers who split two factors of one class differently: share[k]
 * belongs to the instruction's k-th factor; `factor` indexes classes->factors. */
double step_tables_compute_ms(const struct step_tables *t, hlo_id id, const double *share);
double step_tables_compute_adding_ms(const struct step_tables *t, hlo_id id, const double *share);
struct reduction step_tables_reduction(const struct step_tables *t, hlo_id id, uint32_t factor,
                                       label over, const double *share);

/* Executions of an instruction in a step. */
static inline double step_tables_times(const struct step_tables *t, hlo_id id)
{
    return t->costs->times[id] * (t->training->is_once[id] ? 1 : t->batching.micro_batches);
}

/* What storing variable `param` in pieces adds to a step: collectives beyond its all-reduce. */
struct storing {
    uint8_t kind; /* enum collective_kind: scatters of the gradient, gathers of the variable */
    uint32_t count;
    double bytes, ms; /* of one, local; ms without the hidden part */
    double beside_ms; /* the whole of one where computation may hide it, else 0 */
};
struct storage_cost {
    label over; /* 0: stored whole under this plan */
    uint32_t count;
    struct storing items[2];
};
struct storage_cost step_tables_storage(const struct step_tables *t, uint32_t param,
                                        const label *on);

static inline uint32_t term_entry(const struct step_tables *t, const struct term *term,
                                  const label *on)
{
    uint32_t entry = 0, weight = 1;

    for (uint32_t x = 0; x < t->labels->axes; x++, weight *= term->class_count + 1) {
        for (uint32_t n = 0; n < term->class_count; n++) {
            if (on[t->class_pool[term->classes + n]] >> x & 1)
                entry += (n + 1) * weight;
        }
    }
    return entry;
}

struct step_cost {
    double compute_ms, communication_ms, step_ms;
    double beside_ms; /* communication that runs beside computation, hidden or not */
};
/* The step under a whole assignment, on[class] = label. O(terms). */
struct step_cost step_tables_cost(const struct step_tables *t, const label *on);
/* The same over the terms of class `k` alone, without the excess of overlap. When only `k` changes,
 * it changes by as much as the whole. O(terms of k). */
struct step_cost step_tables_cost_of_class(const struct step_tables *t, class_id k,
                                           const label *on);

#endif
