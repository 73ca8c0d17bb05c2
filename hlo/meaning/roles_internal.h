/* hlo/meaning/roles_internal.h - the parts of hlo/meaning/roles.h: names, data flow, phases,
 * layers. Private to hlo/. */
#ifndef AUTOMAP_HLO_MEANING_ROLES_INTERNAL_H
#define AUTOMAP_HLO_MEANING_ROLES_INTERNAL_H

#include "hlo/meaning/roles.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

/* ---- roles_name.c: names as frameworks write them ---- */

/* A path's parts joined by '/': params['encoder']['q'] and params__encoder____q__.1 both become
 * params/encoder/q. `out` is appended to. Returns the number of parts. */
uint32_t hlo_path_of_op_name(const char *op_name, struct str *out);
uint32_t hlo_path_of_instruction(const char *name, struct str *out);
/* True when op_name is the path of an argument, not that of an operation. */
bool hlo_is_argument_path(const char *op_name);
/* The role that a path alone reveals; HLO_ROLE_COUNT: none. */
enum hlo_role hlo_role_of_path(const char *path, bool is_scalar);
/* `path` without the prefix that only names the kind of argument (params/, state/params/). */
const char *hlo_path_without_root(const char *path);

/* ---- what is known of a module while roles are worked out ---- */

/* A result that is an elementwise function of parameters with the same dims: perhaps the new value
 * of one. */
struct hlo_claim {
    uint32_t output, first, count; /* of its parameters in claim_pool */
    hlo_value value;
    uint32_t update; /* another claim that shares values with it; itself if none */
};

struct hlo_roles_work {
    const struct hlo_module *m; /* inlined */
    struct hlo_graph g;
    struct hlo_param_role *params;
    uint32_t param_count;
    const char **paths; /* [param_count] full path of each parameter leaf, "" when nameless */
    bool *is_fixed;     /* [param_count] role was given by a list or a person */
    bool *is_aliased;   /* [param_count] is aliased or donated */
    uint32_t *given_to; /* [param_count] result that takes its memory, HLO_NONE */
    uint32_t *param_of; /* [value_count] index into params, HLO_NONE */
    bool *has_moments;  /* [param_count] has optimizer state */
    bool *is_read;      /* [param_count] the forward pass is computed from it */
    bool *is_counted;   /* [param_count] stepped by what is counted, which has no derivative */
    bool *is_free;      /* [value_count] computed from no entry parameter */
    hlo_value *single;  /* [value_count] the one value it is an elementwise function of; itself when
                           several */
    bool *is_spread;    /* [value_count] an elementwise function of scalars alone, spread out */
    hlo_value *outputs; /* [output_count] leaves of the entry root, looked through flows */
    uint32_t *output_param; /* [output_count] parameter it is the new value of, HLO_NONE */
    uint32_t output_count;
    struct hlo_claim *claims; /* [claim_count] */
    uint32_t claim_count;
    uint32_t *claim_pool; /* indices into params */
    uint32_t *claim_of;   /* [value_count] claim + 1 that the value contributes to */
    bool *is_new;         /* [value_count] a weight after a loss of this step */
    hlo_value loss;
    const char *loss_source, *loss_by_person;
    uint8_t loss_confidence;
    struct hlo_reach forward;  /* what the loss is computed from; gone after the phases */
    struct hlo_reach backward; /* what gradients are computed from; the same */
    struct hlo_reach scratch;
    struct hlo_reach made; /* computed from products, convolutions or tables, as gradients are:
                              after hlo_roles_made_end; gone after the loss */
    struct beside made_beside;
    struct hlo_scopes scopes; /* these two: after hlo_roles_beside_end */
    double *flops;            /* [m->count] of one run, as hlo_flops_new */
    struct beside beside;
    uint32_t *depth; /* [m->count] after hlo_roles_depth_end */
    struct beside depth_beside;
    int beside_code;
    struct err beside_err;
    uint8_t *phase; /* [m->count] */
    const char *phase_source, *layer_source;
    uint16_t *layer; /* [m->count] */
    const char **layer_names;
    uint32_t *layer_times;
    double layer_coverage;
    uint32_t layer_count;
    struct arena *arena; /* of the result: names */
};

static inline bool hlo_work_is_scalar(const struct hlo_roles_work *w, hlo_value v)
{
    return hlo_value_shape(w->m, v)->elements == 1;
}
static inline char hlo_work_class(const struct hlo_roles_work *w, hlo_value v)
{
    return hlo_type_info[hlo_value_shape(w->m, v)->type].class;
}
static inline bool hlo_work_is_float(const struct hlo_roles_work *w, hlo_value v)
{
    return hlo_work_class(w, v) == 'F' || hlo_work_class(w, v) == 'C';
}
/* Equal dims; types may differ. */
bool hlo_work_same_dims(const struct hlo_roles_work *w, hlo_value a, hlo_value b);

/* The first so many of its operands have their elements where `v` has them: of elementwise values
 * and flows all, of an array with something added to some rows the first; 0: none. */
uint32_t hlo_work_carried(const struct hlo_roles_work *w, hlo_value v);
bool hlo_work_is_heavy(uint16_t opcode);

/* roles_update.c: results that are new values, in two steps with the forward pass between; the
 * loss, unless w->loss is given. */
void hlo_work_update_region(struct hlo_roles_work *w, hlo_value from);
int hlo_roles_updates(struct hlo_roles_work *w, struct err *e) MUST_CHECK;
int hlo_roles_loss(struct hlo_roles_work *w, struct err *e) MUST_CHECK;
int hlo_roles_pair(struct hlo_roles_work *w, struct err *e) MUST_CHECK;

/* roles_needs.c: needed[v] grows by how many of from[count] are computed from v, or are it; of
 * those alone that are computed from some value with which[]. O(edges) for each, or for 64 where
 * there are many. False: out of memory. */
bool hlo_roles_needs(const struct hlo_graph *g, const hlo_value *from, uint32_t count,
                     const bool *which, uint16_t *needed);

/* roles_loops.c: where no loss was found a loop may train. Loops that carry what may be new values
 * from parameters are cut in w->g, so that one turn is the step; *any: there were some. */
int hlo_roles_one_turn(struct hlo_roles_work *w, bool *any, struct err *e) MUST_CHECK;

/* roles_decide.c: the role of each parameter, with its evidence. */
void hlo_roles_decide(struct hlo_roles_work *w, bool has_list);

/* roles_flow.c: outputs, forward pass, gradients. */
int hlo_roles_flow(struct hlo_roles_work *w, struct err *e) MUST_CHECK;
int hlo_roles_gradients(struct hlo_roles_work *w, struct err *e) MUST_CHECK;

enum {
    HLO_ROLES_BESIDE_LEAST = 10000
}; /* instructions; below, a thread costs more than it saves */
/* roles_beside.c: scopes and FLOP, perhaps in a thread of their own. */
void hlo_roles_beside_begin(struct hlo_roles_work *w);
int hlo_roles_beside_end(struct hlo_roles_work *w, struct err *e) MUST_CHECK;
/* The same for w->made, while new values are looked for. ERR_MEMORY. */
int hlo_roles_made_begin(struct hlo_roles_work *w, struct err *e) MUST_CHECK;
void hlo_roles_made_end(struct hlo_roles_work *w);
/* The same for how deep each instruction lies, once edges are cut no more. The second returns
 * w->depth; NULL: out of memory. */
void hlo_roles_depth_begin(struct hlo_roles_work *w);
const uint32_t *hlo_roles_depth_end(struct hlo_roles_work *w);

/* roles_phase.c */
int hlo_roles_phases(struct hlo_roles_work *w, struct err *e) MUST_CHECK;

/* roles_module.c: modules of nameless parameters. After the layers. */
int hlo_roles_modules(struct hlo_roles_work *w, struct err *e) MUST_CHECK;

/* layers.c */
int hlo_roles_layers(struct hlo_roles_work *w, struct err *e) MUST_CHECK;

#endif
