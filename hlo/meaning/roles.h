/* hlo/meaning/roles.h - what the parameters and instructions of a training step are for: variables,
 * their optimizer state, inputs; forward, backward, update; layers. Names decide where the file has
 * them, else data flow; each answer says how it was found. */
#ifndef AUTOMAP_HLO_MEANING_ROLES_H
#define AUTOMAP_HLO_MEANING_ROLES_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

enum hlo_role {
    HLO_ROLE_VARIABLE,        /* trainable */
    HLO_ROLE_OPTIMIZER_STATE, /* moments and the like; `of` is its variable where known */
    HLO_ROLE_INPUT,           /* training data, labels: candidate input */
    HLO_ROLE_HYPER,           /* learning rate, step count, rng key */
    HLO_ROLE_OTHER_STATE,     /* carried over but not trained: batch-norm statistics */
    HLO_ROLE_COUNT
};
enum hlo_phase {
    HLO_PHASE_FORWARD,
    HLO_PHASE_BACKWARD,
    HLO_PHASE_UPDATE,
    HLO_PHASE_OTHER,
    HLO_PHASE_COUNT
};
enum hlo_role_source {
    HLO_BY_LIST,   /* the list file */
    HLO_BY_NAME,   /* op_name or parameter name */
    HLO_BY_ALIAS,  /* aliasing and groups of equal shape */
    HLO_BY_USE,    /* what reads it */
    HLO_BY_PERSON, /* corrected by hlo_roles_set */
    HLO_ROLE_SOURCE_COUNT
};
/* How strong the evidence is. Doubtful: another reading is as good, and a person should check. */
enum hlo_confidence { HLO_CERTAIN, HLO_LIKELY, HLO_DOUBTFUL, HLO_CONFIDENCE_COUNT };
extern const char *const hlo_confidence_names[HLO_CONFIDENCE_COUNT];
extern const char *const hlo_role_names[HLO_ROLE_COUNT];
extern const char *const hlo_phase_names[HLO_PHASE_COUNT];
extern const char *const hlo_role_source_names[HLO_ROLE_SOURCE_COUNT];

/* Roles are per leaf of the entry parameters (a parameter may be a tuple). */
struct hlo_param_role {
    hlo_value value;
    uint32_t parameter, leaf;
    uint8_t role;         /* enum hlo_role */
    uint8_t source;       /* enum hlo_role_source */
    uint8_t confidence;   /* enum hlo_confidence */
    const char *evidence; /* a clause: "the step makes its new value from a gradient" */
    uint32_t of;          /* optimizer state: index into params of its variable; HLO_NONE */
    hlo_value gradient;   /* variables: the value that arrives at the update; HLO_NONE unknown */
    hlo_value updated;    /* variables and state: its new value at the entry root; HLO_NONE */
    /* For a parameter that the file only numbers: the module that reads it, and as what:
     * conv2_block1_1_conv/kernel; of several that read alike the second is kernel_2. NULL: unknown,
     * or `name` says it. */
    const char *module;
    const char *name; /* cleaned, as a person knows it: encoder/layer_000/self/q/kernel */
};

struct hlo_roles {
    struct hlo_param_role *params; /* in order of parameter and leaf */
    uint32_t param_count;
    uint8_t *phase;           /* [module->count], enum hlo_phase */
    uint16_t *layer;          /* [module->count] into layer_names; 0: none */
    const char **layer_names; /* [layer_count], layer_names[0] = "" */
    uint32_t *layer_times;    /* [layer_count] how many layers of the model it is: a loop's trips */
    uint32_t layer_count;
    double layer_coverage; /* share of the FLOP of forward and backward pass that layers hold */
    const char *phase_source, *layer_source; /* how phases and layers were found: a short phrase
                                                each */
    hlo_value loss;                          /* HLO_NONE unknown */
    const char *loss_source;                 /* how it was found, or why not: a clause */
    uint8_t loss_confidence;                 /* enum hlo_confidence */
    const char *loss_by_person;              /* what hlo_vars.loss said; NULL: found */
    struct arena arena;
};

/* What a person states about a step. Names or parameter numbers of trainable variables, as a JSON
 * array, a YAML list or plain lines ('#' comments). A name matches a parameter's name, its op_name,
 * or the end of its path; digits are a number unless they are a parameter's whole name. The loss:
 * name of the instruction that makes it, or #3 for leaf 3 of the result. */
struct hlo_vars {
    const char *loss; /* borrowed; NULL: automap finds it */
    const char **names;
    uint32_t count;   /* 0: no list */
    const char *file; /* it was read from; NULL: none */
    struct hlo_vars_place {
        uint32_t line, col;
    } * places; /* [count] in `file` */
    struct arena arena;
};
int hlo_vars_load(const char *path, struct hlo_vars *out, struct err *e) MUST_CHECK;
void hlo_vars_release(struct hlo_vars *v);

/* `vars` may be NULL. ERR_INPUT: a name in `vars` matches nothing, or the loss is not a scalar
 * computed from parameters. O(count). */
int hlo_roles_new(const struct hlo_module *m, const struct hlo_vars *vars, struct hlo_roles *out,
                  struct err *e) MUST_CHECK;
void hlo_roles_release(struct hlo_roles *r);

/* Corrects one role; everything that depends on it (phases, gradients) is derived again. */
int hlo_roles_set(const struct hlo_module *m, struct hlo_roles *r, uint32_t param,
                  enum hlo_role role, struct err *e) MUST_CHECK;

/* Sets the roles of all parameters, [r->param_count] enum hlo_role; those that differ are
 * corrections. */
int hlo_roles_set_all(const struct hlo_module *m, struct hlo_roles *r, const uint8_t *roles,
                      struct err *e) MUST_CHECK;

#endif
