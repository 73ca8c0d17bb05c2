/* engine/decide/classes.h - classes: dims that can only be split together; and which classes clash.
 *
 * Two dims of values are tied when a factor binds both (hlo/meaning/factors.h), when data flows
 * unchanged between them (hlo/module/flows.h), or when one is the next step's value of the other (a
 * variable and its update). A class is a set of dims tied together; one pass of union-find finds
 * all classes. A class that can never be split is forbidden, and carries the reason; two classes
 * that meet at one instruction or value conflict, and carry that place. Strict plans on one mesh
 * axis are exactly the independent sets of the classes that are not forbidden.
 *
 * Built once per module and options, then immutable: any thread may read. `m` is an inlined module
 * (hlo_inline) and must outlive the classes. O(instructions x factors) time and memory. */
#ifndef AUTOMAP_ENGINE_DECIDE_CLASSES_H
#define AUTOMAP_ENGINE_DECIDE_CLASSES_H

#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

typedef uint32_t class_id;
typedef uint32_t dim_id; /* a dim of a value: classes->dim_base[value] + dim */
#define CLASS_NONE UINT32_MAX

/* Why a class can never be split; the name of an instruction completes the sentence. */
#define CLASS_REASONS(X)                                               \
    X(ALLOWED, "can be split")                                         \
    X(BLOCKED, "is needed whole by")                                   \
    X(TWICE, "stands twice in one value of")                           \
    X(TWO_LOOPS, "ties two loop indices of")                           \
    X(SIZE, "has size 1 or 0 at")                                      \
    X(REDUCTION_OFF, "would need a reduction that is switched off at") \
    X(PAPER_KERNEL, "is a dim of a convolution's kernel, not split under rules paper, at")

enum class_reason {
#define X(id, text) CLASS_##id,
    CLASS_REASONS(X)
#undef X
        CLASS_REASON_COUNT
};
extern const char *const class_reason_text[CLASS_REASON_COUNT];

struct partitioner;

struct class_options {
    bool paper_rules;                      /* dims of convolution kernels are not split */
    bool reduce_off[HLO_COMBINE_COUNT];    /* reductions with this combiner are not split */
    const struct partitioner *partitioner; /* whose plans are made (partitioner.h), borrowed; NULL:
                                              one that splits all that factors say */
};

struct class_info {
    uint8_t reason;        /* enum class_reason */
    hlo_id place;          /* instruction of the reason; HLO_NONE when allowed */
    int64_t least;         /* size of its smallest dim or loop index: the most parts that work */
    int64_t divisor;       /* greatest common divisor of all those sizes: parts that fit evenly */
    int64_t group_divisor; /* the number of parts must divide this (group counts); 0: any number */
    uint32_t dims, dim_count;      /* members, into classes->members */
    uint32_t var_dims, input_dims; /* how many members are dims of variables, of inputs */
    uint32_t meets, meet_count;    /* conflicts, into classes->meets */
};

/* A conflict, stored at both ends. */
struct class_meet {
    class_id other;
    hlo_id place; /* first instruction where the two meet */
};

/* A factor as the engine keeps it: its class and how it binds the leaves of its instruction. */
struct class_factor {
    class_id class; /* CLASS_NONE: binds only free values */
    int64_t size;
    uint8_t kind, combiner;
    bool is_masked;
    uint32_t dims; /* into classes->leaf_dims: [leaf_count] bound dim per leaf, -1 none */
};

struct classes {
    const struct hlo_module *m;
    struct class_options options;

    uint32_t *dim_base;   /* [value_count + 1] */
    hlo_value *dim_value; /* [dim_count] */
    class_id *class_of;   /* [dim_count]; CLASS_NONE: dims of free values */
    uint32_t dim_count;
    bool *is_free;       /* [value_count]: hlo_free_values */
    bool *is_made_whole; /* [value_count]: hlo_whole_values, those of free values */

    uint32_t *factor_base; /* [instructions + 1] into factors */
    struct class_factor *factors;
    uint32_t *leaf_base; /* [instructions + 1]: leaves of instruction i: operands', then results' */
    int8_t *leaf_dims;

    bool *runs_whole;  /* [instructions] the partitioner does not split it (partitioner.h) */
    bool *is_gathered; /* [leaf_base] leaves gathered for such instructions, each value once */

    struct class_info *info; /* [count] */
    class_id count;
    dim_id *members;
    struct class_meet *meets;

    dim_id (*ties)[2]; /* ties made by flows and by roles, each both ways, sorted by [0] */
    hlo_id *tie_place; /* the instruction that makes each; HLO_NONE: next step's value */
    uint32_t tie_count;
};

int classes_new(const struct hlo_module *m, const struct hlo_roles *roles,
                const struct class_options *options, struct classes *out, struct err *e) MUST_CHECK;
void classes_release(struct classes *c);

static inline dim_id class_dim(const struct classes *c, hlo_value v, uint32_t dim)
{
    return c->dim_base[v] + dim;
}
static inline uint32_t class_leaf_count(const struct classes *c, hlo_id id)
{
    return c->leaf_base[id + 1] - c->leaf_base[id];
}

#endif
