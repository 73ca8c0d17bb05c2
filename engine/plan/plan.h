/* engine/plan/plan.h - a plan: how every value is split, who decided it, and what it costs.
 *
 * A plan belongs to a problem and repeats nothing that the problem holds. In a strict plan every
 * class has a label, and statuses of values follow from the classes of their dims. A relaxed plan
 * has a status for every value and use (relaxed.h); its classes have no labels, since values of one
 * class may differ. The file form is in plan_file.h. */
#ifndef AUTOMAP_ENGINE_PLAN_PLAN_H
#define AUTOMAP_ENGINE_PLAN_PLAN_H

#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Who decided a class. */
#define PLAN_BY(X)                \
    X(NOBODY, "default")          \
    X(DECISION, "decision")       \
    X(PROPAGATION, "propagation") \
    X(PIN, "pin")                 \
    X(FINE_TUNING, "fine-tuning") \
    X(OPTIMUM, "optimum")

enum plan_by {
#define X(id, name) PLAN_BY_##id,
    PLAN_BY(X)
#undef X
        PLAN_BY_COUNT
};
extern const char *const plan_by_names[PLAN_BY_COUNT];

/* Reward of the paper (Auto-MAP 4.1): for each dim of a variable. */
#define PAPER_REWARD_PARTITIONED 0.4
#define PAPER_REWARD_REPLICATED 0.1

struct relaxed_plan; /* engine/relaxed/relaxed.h */

struct plan {
    const struct problem *problem;
    label *on;                    /* [classes] */
    label *decided;               /* [classes] axes along which it was decided, either way */
    uint8_t *by;                  /* [classes] enum plan_by */
    struct relaxed_plan *relaxed; /* owned; NULL: strict */
    struct step_cost cost;
    double bound_ms; /* no plan of its mode is faster; 0: no bound known */
    struct batch_and_zero
        batching;        /* the problem's micro-batches and ZeRO level, with which it is priced */
    double memory_limit; /* bytes of a device that were asked for; 0: no limit */
    char found_by[32];   /* algorithm: "set", "exact", "dqn", ... */
    uint64_t seed;
};

/* Makes a plan from decisions; whatever is undecided counts as replicated. */
int plan_from_strict(const struct problem *p, const struct strict *s, enum plan_by by,
                     struct plan *out, struct err *e) MUST_CHECK;
/* Takes over what `from` holds, even on error. */
int plan_from_relaxed(struct relaxed_plan *from, struct plan *out, struct err *e) MUST_CHECK;
int plan_copy(const struct plan *from, struct plan *out, struct err *e) MUST_CHECK;
void plan_release(struct plan *p);

/* Dims of variables by status on any axis: a dim is partitioned when its label is not empty. */
struct plan_counts {
    uint32_t variables, dims, partitioned, replicated, undecided;
    double paper_reward;
};
struct plan_counts plan_count(const struct plan *p);

/* Label of a dim of a value as it is made; 0 for free values. */
label plan_dim_label(const struct plan *p, hlo_value v, uint32_t dim);

/* Axes along which instruction `id` is split by its `n`-th factor; 0 when it is not. O(axes). */
label plan_factor_label(const struct plan *p, hlo_id id, uint32_t n);

/* "f32[32 12/4 512 512]": the split dims with the number of parts, '!' when padded; on several axes
 * the letters of the axes: [32/x 768/xy]. Appended. */
void plan_write_shape(const struct plan *p, hlo_value v, struct str *out);

/* Appends a line each for micro-batches and ZeRO, which the plan assumes and shardings cannot
 * express; nothing if it has neither. */
void plan_write_batching(const struct plan *p, struct str *out);

/* Memory of one device under the plan. O(stored values). */
int plan_memory(const struct plan *p, struct memory_cost *out, struct err *e) MUST_CHECK;

/* One collective of the plan. */
struct plan_collective {
    hlo_id instruction; /* the instruction that makes the value */
    uint8_t kind;       /* enum collective_kind */
    label over;
    uint32_t count;   /* results it reduces, times executions of the instruction in a step */
    double bytes, ms; /* local bytes of one step, time of one step */
    class_id cause;   /* the reducing class; CLASS_NONE in a relaxed plan */
};
/* In order of instructions; for a relaxed plan its reshards. The caller frees *out.
 * O(instructions). */
int plan_collectives(const struct plan *p, struct plan_collective **out, size_t *count,
                     struct err *e) MUST_CHECK;

/* For data parallelism: the class to split as the batch, and in *over the axes to split it along:
 * all, or else as many as possible. It is the class a person named as the batch, else the one with
 * most dims of inputs. CLASS_NONE: none. */
class_id plan_batch_class(const struct problem *p, label *over);

#endif
