/* engine/problem/problem.h - one question: this model, on this cluster, as this mesh, under these
 * options.
 *
 * Everything a search reads, built once and then immutable; searches add their own state. The
 * module is inlined first, so that every value has one meaning; ids below are those of `m`, and
 * m->origin leads back to the file's. */
#ifndef AUTOMAP_ENGINE_PROBLEM_PROBLEM_H
#define AUTOMAP_ENGINE_PROBLEM_PROBLEM_H

#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/attention.h"
#include "engine/cost/fusion.h"
#include "engine/cost/joined_sums.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/traffic.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/meaning/cost.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

struct problem_options {
    struct class_options classes;
    bool exact_divisibility; /* false: pad */
    char mesh[64];           /* "2x8"; "": one axis over all devices */
    uint32_t micro_batches;  /* 0 and 1: the batch at once */
    uint8_t zero;            /* ZeRO level, 0 to 3 */
    int64_t batch_size;      /* in place of the module's; 0: the module's */
    bool reduce_at_once;     /* partial results are combined where they arise, as XLA's partitioner
                                leaves them; false: sums of them take one all-reduce */
    const char *kernels;     /* a rule file in front of the built-in ones (engine/kernels); NULL */
    bool fused_attention;    /* attention that the module writes out runs as one kernel */
    bool is_overlap_given;   /* else OVERLAP_AUTO where the cluster says how products run, and 0 */
    double overlap;          /* hidden part of the all-reduces of gradients, 0 to 1 */
};

enum { BATCH_AS_FOUND = UINT32_MAX };

/* Part of a device's memory that plans within "device" leave free: what the memory model misses,
 * and what schedulers other than the stated one need more (engine/cost/README.md, Memory). */
#define DEVICE_MEMORY_MARGIN 0.2

struct problem {
    struct hlo_module *file, *m; /* as read; inlined */
    bool file_is_borrowed;       /* of the problem this one was derived from */
    uint32_t batch_param,
        batch_dim;          /* what a person called the batch; param BATCH_AS_FOUND: nothing */
    struct hlo_roles roles; /* of m */
    struct hlo_costs costs; /* of m */
    struct cluster cluster;
    struct cluster_mesh mesh;
    struct problem_options options;
    struct classes classes;
    struct fusion fusion;
    struct attention attention;
    struct traffic traffic;
    struct joined_sums joined;
    struct training training;
    struct memory_model memory;
    struct labels labels;
    struct step_tables step_tables;
    double *measured_ms;     /* [m->count] or NULL */
    const atomic_bool *stop; /* set elsewhere: what works on this problem ends with the best it has;
                                NULL: never */
    uint64_t
        model_fingerprint; /* of computations, shapes, opcodes, attributes: names do not count */
};

/* Takes over `file` (freed with the problem, and on error). ERR_INPUT for what is not a whole
 * program (hlo/meaning/program.h). `vars` may be NULL. The address of the
 * problem must not change after this: its parts point at each other. */
int problem_new(struct hlo_module *file, const struct hlo_vars *vars, const struct cluster *cluster,
                const struct problem_options *o, struct problem *out, struct err *e) MUST_CHECK;
void problem_release(struct problem *p);

/* Another cluster or mesh for the same classes: labels and terms are made anew; on error the old
 * ones stay. */
int problem_set_cluster(struct problem *p, const struct cluster *cluster, const char *mesh,
                        struct err *e) MUST_CHECK;

/* Another number of micro-batches, ZeRO level or overlap: labels, terms and memory are made anew;
 * on error (ERR_INPUT: it does not divide the batch) the old ones stay. */
int problem_set_batch_and_zero(struct problem *p, const struct batch_and_zero *r,
                               struct err *e) MUST_CHECK;
struct batch_and_zero problem_batch_and_zero(const struct problem *p);

/* The step as it would be with another batch, 1 .. 2^20 (a multiple of the micro-batches; 0: the
 * module's): every dim tied to the batch grows with it, all else stays. ERR_INPUT as above. */
int problem_set_batch_size(struct problem *p, int64_t size, struct err *e) MUST_CHECK;

/* What a person changes of a problem while it is searched. */
struct problem_change {
    const struct cluster *cluster;   /* NULL: as it is */
    const char *mesh;                /* NULL: as it is; "": one axis */
    const uint8_t *roles;            /* [roles.param_count] enum hlo_role; NULL: as they are */
    uint32_t batch_param, batch_dim; /* param BATCH_AS_FOUND: as it is */
    const struct batch_and_zero *batching; /* micro-batches and ZeRO level; NULL: as they are */
};

/* The same question with something changed, as a problem of its own: ids of instructions, values
 * and parameters are the same. Borrows `from`'s file, which must outlive it. Built anew:
 * O(problem_new). */
int problem_derive(const struct problem *from, const struct problem_change *change,
                   struct problem *out, struct err *e) MUST_CHECK;

/* Memory of the smallest device less the margin, bytes. */
double problem_device_limit(const struct problem *p);

/* Measured times in place of the roofline (engine/cost/measured.h): ms [m->count] from malloc, < 0:
 * not measured; NULL: the roofline again. Taken over, also on error, when the old costs stay. */
int problem_set_profile(struct problem *p, double *ms, struct err *e) MUST_CHECK;

/* The class of dim `dim` of entry parameter leaf `param` (index into roles.params); CLASS_NONE:
 * free. */
class_id problem_param_class(const struct problem *p, uint32_t param, uint32_t dim);

#endif
