/* engine/compare/compare.h - the best plan of each kind for one problem, ranked: operators
 * (variables split), data (inputs split), both together, a pipeline, and a pipeline of split
 * stages.
 *
 * One cost model and one overlap rule for all (of OVERLAP_AUTO: behind the whole step, in stages
 * behind the last backward pass); the same global batch. The first three are proven
 * optima of strict mode, on the mesh of the problem and, if none was asked for and there are
 * several equal servers, on servers x devices. Where they exceed the memory limit: the best within
 * it over all numbers of micro-batches and ZeRO levels (exact/batch_and_zero.h), unless the problem
 * fixes them. A pipeline is also tried with its forward pass recomputed. A placement is contiguous,
 * on accelerators alone, with the file's whole batch in flight; it is chosen for a stream of
 * batches, and its step is that of the pipeline it makes (place/place_pipeline.h). Plans that fit
 * rank first, then shorter steps. */
#ifndef AUTOMAP_ENGINE_COMPARE_COMPARE_H
#define AUTOMAP_ENGINE_COMPARE_COMPARE_H

#include "engine/hybrid/hybrid.h"
#include "engine/pipeline/pipeline.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

#define COMPARE_KINDS(X)                            \
    X(OPERATORS, "opp", "operators split")          \
    X(DATA, "adp", "data parallel")                 \
    X(BOTH, "opp+adp", "operators and data split")  \
    X(PIPELINE, "pp", "pipeline")                   \
    X(HYBRID, "hybrid", "pipeline of split stages") \
    X(PLACE, "place", "operators placed")

enum compare_kind {
#define X(id, name, words) COMPARE_##id,
    COMPARE_KINDS(X)
#undef X
        COMPARE_KIND_COUNT
};
extern const char *const compare_names[COMPARE_KIND_COUNT],
    *const compare_words[COMPARE_KIND_COUNT];

struct contender {
    enum compare_kind kind;
    bool exists;       /* false: `why` says why there is none */
    bool fits, proven; /* proven: for its kind, mesh and batching; for a pipeline, the optimum of
                          L; for a placement, the time of a stream */
    double stream_ms;  /* placement: one batch of a stream; 0 for other kinds */
    double step_ms, compute_ms, waiting_ms; /* communication; in a pipeline also waiting */
    double memory_bytes;
    double least_bytes;      /* strict kinds that do not fit: least memory of any plan found */
    struct problem *problem; /* strict kinds: priced on this mesh, in this batching */
    struct plan plan;
    struct pipeline *pipeline; /* of a pipeline, and of a placement the one it makes */
    struct pipeline_plan pipeline_plan;
    struct hybrid *hybrid;
    char why[400]; /* sentences: where its time goes, and why it is slower than the first */
};

struct comparison {
    struct contender of[COMPARE_KIND_COUNT]; /* ranked */
    double limit_bytes; /* most a plan may need, up to the smallest device's memory; INFINITY: no
                           limit */
    uint32_t batch;     /* samples of a step */
    bool batch_given;   /* by the user, not the file */
};

/* `found`: a plan of variables and inputs from a search, used for BOTH if it is faster; may be
 * NULL. `o`: options of the pipeline; its batch and memory limit hold for all kinds, its overlap is
 * the problem's. ERR_INPUT: the batch cannot be cut as asked. Free with comparison_free. Some
 * hundred runs of the exact solvers. */
int comparison_new(const struct problem *p, const struct plan *found,
                   const struct pipeline_options *o, struct comparison *out,
                   struct err *e) MUST_CHECK;
void comparison_free(struct comparison *c);
void contender_release(struct contender *c);

/* "2x8, 4 micro-batches, ZeRO 1" or "5 stages, 16 micro-batches". */
void contender_setting(const struct contender *c, char *out, size_t room);

#endif
