/* engine/problem/problem.h - a problem: one model on one cluster, as one mesh, under given options.
 *
 * It holds everything a search reads, is built once and then immutable; searches add their own
 * state. The module is inlined first, so that every value has one meaning; ids below refer to `m`,
 * and m->origin maps them to the file's. */
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
#include "engine/decide/partitioner.h"
#include "engine/kernels/kernel_rules.h"
#include "hlo/meaning/cost.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

struct problem_options {
    struct class_options classes;
    bool exact_divisibility; /* false: pad */
    char mesh[64];           /* "2x8"; "": one axis over all devices */
    uint32_t micro_batches;  /* 0 and 1: the whole batch at once */
    uint8_t zero;            /* ZeRO level, 0 to 3 */
    int64_t batch_size;      /* replaces the module's; 0: as in the module */
    bool reduce_at_once;     /* combine partial results where they arise, as XLA's partitioner does;
                                false: sums of them take one all-reduce */
    const char *partitioner; /* whose plans: gspmd, shardy, or a table's path; NULL: gspmd
                                (decide/partitioner.h) */
    const char *kernels;     /* a rule file that precedes the built-in rules (engine/kernels); NULL:
                                none */
    bool fused_attention;    /* price attention that the module writes out as one kernel */
    bool is_overlap_given;   /* false: OVERLAP_AUTO if the cluster says how products run, else 0 */
    double overlap;          /* hidden share of the gradients' all-reduces, 0 to 1 */
};

enum { BATCH_AS_FOUND = UINT32_MAX, BATCH_MOST = 1 << 20 };

/* Share of a device's memory that the limit "device" leaves free, for what the memory model misses
 * and for schedulers that need more (engine/cost/README.md, Memory). */
#define DEVICE_MEMORY_MARGIN 0.2

enum plan_kind { PLAN_STRICT, PLAN_RELAXED, PLAN_PIPELINE, PLAN_KIND_COUNT };

/* How much to keep free, as measured for plans of this kind that XLA compiled: of models nobody
 * here wrote and of the shipped ones (engine/MEASUREMENTS.md, "Memory: against XLA" and "Pipelines:
 * memory and time against XLA"). Appends "20 % of a device kept free is enough for 109 of 116
 * strict plans compiled by XLA, 24 % for all but two". */
void memory_margin_say(enum plan_kind kind, struct str *out);

struct problem {
    struct hlo_module *file, *m; /* as read; inlined */
    bool is_derived; /* file, partitioner and kernels belong to the problem it was derived from */
    uint32_t batch_param,
        batch_dim;          /* the batch as a person named it; param BATCH_AS_FOUND: nobody did */
    struct hlo_roles roles; /* of m */
    struct hlo_costs costs; /* of m */
    struct cluster cluster;
    struct cluster_mesh mesh;
    struct problem_options options;
    struct partitioner *partitioner; /* options.classes has it too */
    struct kernel_rules *kernels;
    struct classes classes;
    struct fusion fusion;
    struct attention attention;
    struct traffic traffic;
    struct joined_sums joined;
    struct training training;
    struct memory_model memory;
    struct labels labels;
    struct step_tables step_tables;
    double *measured_ms;        /* [m->count] or NULL */
    const atomic_bool *stop;    /* once set, whatever works on this problem returns its best so far;
                                   NULL: never */
    uint64_t model_fingerprint; /* of computations, shapes, opcodes and attributes, not of names */
};

/* Takes over `file` (freed with the problem, and on error). ERR_INPUT unless it is a whole program
 * (hlo/meaning/program.h). `vars` may be NULL. Do not move the problem afterwards: its parts point
 * at each other. */
int problem_new(struct hlo_module *file, const struct hlo_vars *vars, const struct cluster *cluster,
                const struct problem_options *o, struct problem *out, struct err *e) MUST_CHECK;
void problem_release(struct problem *p);

/* Changes cluster or mesh and keeps the classes: rebuilds labels and step tables. On error nothing
 * changes. */
int problem_set_cluster(struct problem *p, const struct cluster *cluster, const char *mesh,
                        struct err *e) MUST_CHECK;

/* Changes micro-batches, ZeRO level or overlap: rebuilds labels, step tables and memory. On error
 * nothing changes; ERR_INPUT: the number does not divide the batch. */
int problem_set_batch_and_zero(struct problem *p, const struct batch_and_zero *r,
                               struct err *e) MUST_CHECK;
struct batch_and_zero problem_batch_and_zero(const struct problem *p);
/* The share of the gradients' reductions that is hidden, 0 to 1, or OVERLAP_AUTO. */
static inline double problem_overlap(const struct problem *p)
{
    return problem_batch_and_zero(p).overlap;
}

/* Samples of a step: options.batch_size or the module's; 0: no dim of the inputs is the batch. */
int64_t problem_batch_size(const struct problem *p);

/* Prices the step for another batch, 1 .. BATCH_MOST (a multiple of the micro-batches; 0: the
 * module's): every dim tied to the batch grows with it, all else stays. ERR_INPUT as above. */
int problem_set_batch_size(struct problem *p, int64_t size, struct err *e) MUST_CHECK;

/* What a person may change about a problem during a search. */
struct problem_change {
    const struct cluster *cluster; /* NULL: as it is */
    const char *mesh;              /* NULL: as it is; "": one axis */
    const uint8_t *roles;          /* [roles.param_count] enum hlo_role; NULL: as they are */
    const char *loss; /* as hlo_vars.loss; roles no person set are found anew. NULL: as it is */
    uint32_t batch_param, batch_dim;       /* param BATCH_AS_FOUND: as it is */
    const struct batch_and_zero *batching; /* micro-batches and ZeRO level; NULL: as they are */
    int64_t batch_size;                    /* samples of a step; 0: as they are */
    const atomic_bool *until;              /* once set: ERR_STOPPED; NULL: to the end */
};

/* Makes a new problem from `from` with a change applied; ids of instructions, values and parameters
 * stay the same. Borrows the file and the tables of `from`, whose root must outlive it; no file is
 * read again. As costly as problem_new. */
int problem_derive(const struct problem *from, const struct problem_change *change,
                   struct problem *out, struct err *e) MUST_CHECK;

/* Memory of the smallest device minus the margin, bytes. */
double problem_device_limit(const struct problem *p);

/* Replaces the roofline by measured times (engine/cost/measured.h): ms [m->count] from malloc, < 0:
 * not measured; NULL: back to the roofline. Takes `ms` over even on error; then the old costs
 * stay. */
int problem_set_profile(struct problem *p, double *ms, struct err *e) MUST_CHECK;

/* The class of dim `dim` of entry parameter leaf `param` (index into roles.params); CLASS_NONE: a
 * free value. */
class_id problem_param_class(const struct problem *p, uint32_t param, uint32_t dim);

#endif
