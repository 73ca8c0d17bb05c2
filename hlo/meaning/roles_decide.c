/* The role of each parameter: what the types allow, what the data flow shows, then what its name
 * says; each with its evidence. */
#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

static void decide_role(struct hlo_param_role *r, enum hlo_role role, enum hlo_role_source source,
                        enum hlo_confidence confidence, const char *evidence)
{
    r->role = (uint8_t)role;
    r->source = (uint8_t)source;
    r->confidence = (uint8_t)confidence;
    r->evidence = evidence;
}

/* ---- what the flow shows ---- */

/* Read, changed, and no gradient that depends on the step's parameters: one that cancels out, or a
 * statistic. Moments of its own tell. */
static bool is_read_and_changed(const struct hlo_roles_work *w, uint32_t p)
{
    const struct hlo_param_role *r = &w->params[p];

    return w->is_read[p] && r->updated != HLO_NONE && r->updated != r->value;
}

/* One number that the forward pass reads and changes (the last loss, a scale) shares its update
 * with others: no moments. */
static bool has_own_moments(const struct hlo_roles_work *w, uint32_t p)
{
    return is_read_and_changed(w, p) && w->has_moments[p] &&
           hlo_value_shape(w->m, w->params[p].value)->rank;
}

static bool is_trained(const struct hlo_roles_work *w, uint32_t p)
{
    const struct hlo_param_role *r = &w->params[p];

    return is_read_and_changed(w, p) && r->gradient != HLO_NONE && !w->is_counted[p] &&
           !w->forward.has[r->gradient] && hlo_work_is_float(w, r->value);
}

static bool is_float(const void *w, hlo_value v)
{
    return hlo_work_is_float(w, v);
}

/* Converted from integers or truths: how many tokens an expert had. */
static bool is_count(const struct hlo_roles_work *w, hlo_value v)
{
    return w->g.opcode[v] == HLO_OP_CONVERT && hlo_work_is_float(w, v) &&
           !hlo_work_is_scalar(w, v) && w->g.pred_first[v] < w->g.pred_first[v + 1] &&
           !hlo_work_is_float(w, w->g.preds[w->g.pred_first[v]]);
}

/* Integers have no derivative: what is computed of counts, and of no array of floats, is no
 * gradient. Where experts are balanced without a loss their bias is stepped so. */
static void find_counted(struct hlo_roles_work *w)
{
    struct hlo_reach *r = &w->scratch;

    hlo_reach_clear(r);
    for (uint32_t p = 0; p < w->param_count; p++)
        if (hlo_work_is_float(w, w->params[p].value) &&
            hlo_value_shape(w->m, w->params[p].value)->rank)
            hlo_reach_add(r, w->params[p].value);
    hlo_reach_ahead(r, &w->g, is_float, w);
    bool any = false;
    for (uint32_t p = 0; p < w->param_count; p++) {
        w->is_counted[p] = w->params[p].gradient != HLO_NONE && !r->has[w->params[p].gradient];
        any |= w->is_counted[p];
    }
    hlo_reach_clear(r);
    for (hlo_value v = 0; any && v < w->m->value_count; v++)
        if (is_count(w, v))
            hlo_reach_add(r, v);
    hlo_reach_ahead(r, &w->g, is_float, w);
    for (uint32_t p = 0; p < w->param_count; p++)
        w->is_counted[p] = w->is_counted[p] && r->has[w->params[p].gradient];
    hlo_reach_clear(r);
}

/* Its new value is a function of it and of single numbers: decayed, kept, or stepped by zero. An
 * array of one element may be made from a gradient that is one number. */
static bool is_frozen(const struct hlo_roles_work *w, uint32_t p)
{
    const struct hlo_param_role *r = &w->params[p];

    return is_read_and_changed(w, p) && r->gradient == HLO_NONE &&
           w->single[r->updated] == r->value && hlo_value_shape(w->m, r->value)->elements > 1;
}

static bool is_unused(const struct hlo_roles_work *w, uint32_t p)
{
    hlo_value v = w->params[p].value;

    return w->g.succ_first[v] == w->g.succ_first[v + 1];
}

/* Keys of random numbers are a few unsigned integers. */
static bool is_key(const struct hlo_roles_work *w, hlo_value v)
{
    return hlo_work_class(w, v) == 'U' && hlo_value_shape(w->m, v)->elements <= 4;
}

/* The right side of a product, a kernel, a table. */
static bool is_weight_by_use(const struct hlo_roles_work *w, uint32_t p)
{
    hlo_value v = w->params[p].value;

    for (int hops = 0; hops < 8; hops++) {
        hlo_value next = HLO_NONE;
        for (uint32_t k = w->g.succ_first[v]; k < w->g.succ_first[v + 1]; k++) {
            hlo_id id = w->m->value_instruction[w->g.succs[k]];
            const struct hlo_instruction *i = hlo_at(w->m, id);
            hlo_id from = w->m->value_instruction[v];
            bool is_right = i->operand_count > 1 && hlo_operand(w->m, id, 1) == from;
            if (i->opcode == HLO_OP_DOT || i->opcode == HLO_OP_CONVOLUTION)
                return is_right;
            if (i->opcode == HLO_OP_GATHER)
                return !is_right;
            if (i->opcode == HLO_OP_BROADCAST)
                return hlo_value_shape(w->m, v)->rank > 0;
            if (i->operand_count == 1 || w->g.is_flow[w->g.succs[k]])
                next = w->g.succs[k];
        }
        if (next == HLO_NONE)
            return false;
        v = next;
    }
    return false;
}

/* Integers have no derivative: they are neither trained nor moments, whatever they are called. */
static void decide_integer(struct hlo_roles_work *w, uint32_t p)
{
    struct hlo_param_role *r = &w->params[p];
    bool is_state = r->updated != HLO_NONE || w->is_aliased[p];

    if (is_key(w, r->value))
        decide_role(r, HLO_ROLE_HYPER, is_state ? HLO_BY_ALIAS : HLO_BY_USE, HLO_CERTAIN,
                    "a few unsigned integers: a key of random numbers or a counter");
    else if (hlo_work_is_scalar(w, r->value))
        decide_role(r, HLO_ROLE_HYPER, is_state ? HLO_BY_ALIAS : HLO_BY_USE, HLO_CERTAIN,
                    "one integer: a counter, a step or a seed");
    else if (is_state)
        decide_role(r, HLO_ROLE_OTHER_STATE, HLO_BY_ALIAS, HLO_CERTAIN,
                    "integers that each step hands to the next");
    else
        decide_role(r, HLO_ROLE_INPUT, HLO_BY_USE, HLO_CERTAIN,
                    "integers that the step reads and does not hand on");
}

static void decide_float(struct hlo_roles_work *w, uint32_t p, bool has_trained)
{
    struct hlo_param_role *r = &w->params[p];
    bool is_state = r->updated != HLO_NONE || w->is_aliased[p];

    if (is_trained(w, p))
        decide_role(r, HLO_ROLE_VARIABLE, HLO_BY_ALIAS, HLO_CERTAIN,
                    "the forward pass reads it, and its new value is made from it and a gradient");
    else if (w->is_counted[p] && is_read_and_changed(w, p))
        decide_role(r, HLO_ROLE_OTHER_STATE, HLO_BY_ALIAS, HLO_LIKELY,
                    "its new value is made from it and from counts, which have no gradient");
    else if (r->of != HLO_NONE && w->is_read[p])
        decide_role(r, HLO_ROLE_OTHER_STATE, HLO_BY_ALIAS, HLO_LIKELY,
                    "the forward pass reads it, and its new value is a copy or an average of a "
                    "variable's: a target");
    else if (r->of != HLO_NONE)
        decide_role(r, HLO_ROLE_OPTIMIZER_STATE, HLO_BY_ALIAS, HLO_CERTAIN,
                    "the forward pass does not read it, and it takes part in a variable's update");
    else if (has_trained && is_frozen(w, p))
        decide_role(r, HLO_ROLE_OTHER_STATE, HLO_BY_ALIAS, HLO_LIKELY,
                    "its new value is made from it and single numbers alone: frozen");
    else if (has_own_moments(w, p))
        decide_role(r, HLO_ROLE_VARIABLE, HLO_BY_ALIAS, HLO_CERTAIN,
                    "the forward pass reads it, and its new value is made from it and its moments");
    else if (is_read_and_changed(w, p) && hlo_value_shape(w->m, r->value)->rank)
        decide_role(r, HLO_ROLE_OTHER_STATE, HLO_BY_ALIAS, HLO_DOUBTFUL,
                    "the forward pass reads it and the step changes it, but no gradient was found");
    else if (hlo_work_is_scalar(w, r->value))
        decide_role(r, HLO_ROLE_HYPER, is_state ? HLO_BY_ALIAS : HLO_BY_USE, HLO_LIKELY,
                    "one number that no gradient changes");
    else if (has_trained && is_unused(w, p))
        decide_role(r, HLO_ROLE_OTHER_STATE, HLO_BY_USE, HLO_LIKELY, "this step does not use it");
    else if (has_trained && is_state)
        decide_role(r, HLO_ROLE_OTHER_STATE, HLO_BY_ALIAS, HLO_LIKELY,
                    "each step hands it to the next, and no gradient changes it");
    else if (is_weight_by_use(w, p))
        decide_role(r, has_trained ? HLO_ROLE_INPUT : HLO_ROLE_VARIABLE, HLO_BY_USE, HLO_DOUBTFUL,
                    has_trained
                        ? "used as a weight is, but the step does not change it: data, or frozen"
                        : "used as a weight is; no update in this module tells");
    else
        decide_role(r, HLO_ROLE_INPUT, HLO_BY_USE, has_trained ? HLO_CERTAIN : HLO_LIKELY,
                    "the step reads it and does not hand it on");
}

/* ---- what the name says ---- */

/* Where the flow leaves a choice the name makes it, and where both agree all is certain. */
static void decide_by_name(struct hlo_roles_work *w, uint32_t p, bool has_trained)
{
    struct hlo_param_role *r = &w->params[p];
    enum hlo_role named = hlo_role_of_path(w->paths[p], hlo_work_is_scalar(w, r->value));

    if (named == HLO_ROLE_COUNT)
        return;
    if (named == r->role) {
        r->source = HLO_BY_NAME;
        r->confidence = HLO_CERTAIN;
        return;
    }
    bool is_float = hlo_work_is_float(w, r->value);
    if (named == HLO_ROLE_HYPER && is_float && hlo_value_shape(w->m, r->value)->rank &&
        r->updated != HLO_NONE)
        return; /* how often each word of a code book was taken is called a count, too */
    if (named == HLO_ROLE_VARIABLE && r->of != HLO_NONE && w->loss == HLO_NONE) {
        decide_role(r, HLO_ROLE_VARIABLE, HLO_BY_NAME, HLO_DOUBTFUL,
                    "called a variable; without a loss the data flow does not tell");
        return;
    }
    if (!is_float && (named == HLO_ROLE_VARIABLE || r->role == HLO_ROLE_HYPER))
        return;
    if (named == HLO_ROLE_VARIABLE && has_trained && is_frozen(w, p))
        return;
    bool is_shown = is_trained(w, p) || has_own_moments(w, p);
    if (is_shown || (named == HLO_ROLE_VARIABLE && r->of != HLO_NONE)) {
        r->confidence = r->role == HLO_ROLE_VARIABLE ? HLO_LIKELY : HLO_CERTAIN;
        return;
    }
    bool is_changed = r->updated != HLO_NONE && r->updated != r->value;
    if (named == HLO_ROLE_VARIABLE && !hlo_value_shape(w->m, r->value)->elements) {
        decide_role(r, HLO_ROLE_VARIABLE, HLO_BY_NAME, HLO_DOUBTFUL,
                    "called a variable, but empty");
        return;
    }
    if (named == HLO_ROLE_VARIABLE && has_trained && r->gradient == HLO_NONE && !is_changed)
        decide_role(r, HLO_ROLE_OTHER_STATE, HLO_BY_USE,
                    hlo_work_is_scalar(w, r->value) ? HLO_DOUBTFUL : HLO_LIKELY,
                    "called a variable, but no new value of it was found: frozen");
    else if (named == HLO_ROLE_VARIABLE && has_trained)
        decide_role(r, HLO_ROLE_VARIABLE, HLO_BY_NAME, HLO_DOUBTFUL,
                    "called a variable and changed by the step, but no gradient was found");
    else
        decide_role(r, named, HLO_BY_NAME, HLO_LIKELY, "called so, and the data flow allows it");
}

/* ---- all ---- */

/* Gradients that a module gives out instead of using them: in order of the variables, by dims. */
static void pair_bare_gradients(struct hlo_roles_work *w)
{
    uint32_t next = 0;

    for (uint32_t p = 0; p < w->param_count; p++) {
        struct hlo_param_role *r = &w->params[p];
        if (r->role != HLO_ROLE_VARIABLE || r->gradient != HLO_NONE || r->updated != HLO_NONE)
            continue;
        for (uint32_t o = next; o < w->output_count; o++) {
            hlo_value v = w->outputs[o];
            if (w->forward.has[v] || w->output_param[o] != HLO_NONE || w->is_free[v] ||
                !hlo_work_same_dims(w, v, r->value) || !hlo_work_is_float(w, v))
                continue;
            r->gradient = v;
            next = o + 1;
            break;
        }
    }
}

static void forget_impossible(struct hlo_roles_work *w, struct hlo_param_role *r)
{
    uint32_t of = r->of;

    if (r->role != HLO_ROLE_VARIABLE)
        r->gradient = HLO_NONE;
    if (r->role != HLO_ROLE_OPTIMIZER_STATE || of == HLO_NONE ||
        w->params[of].role != HLO_ROLE_VARIABLE)
        r->of = HLO_NONE;
    if (r->role == HLO_ROLE_INPUT || r->updated == r->value)
        r->updated = HLO_NONE;
}

void hlo_roles_decide(struct hlo_roles_work *w, bool has_list)
{
    bool has_trained = false;

    find_counted(w);
    for (uint32_t p = 0; p < w->param_count; p++) {
        has_trained |= is_trained(w, p);
        if (w->params[p].of != HLO_NONE)
            w->has_moments[w->params[p].of] = true;
    }
    for (uint32_t p = 0; p < w->param_count; p++) {
        struct hlo_param_role *r = &w->params[p];
        if (w->is_fixed[p])
            continue;
        if (hlo_work_is_float(w, r->value))
            decide_float(w, p, has_trained);
        else
            decide_integer(w, p);
        decide_by_name(w, p, has_trained);
        if (w->loss == HLO_NONE && r->updated != HLO_NONE && hlo_work_is_float(w, r->value) &&
            !hlo_work_is_scalar(w, r->value))
            r->confidence = HLO_DOUBTFUL;
        if (has_list && r->role == HLO_ROLE_VARIABLE)
            decide_role(r, HLO_ROLE_OTHER_STATE, HLO_BY_LIST, HLO_CERTAIN,
                        "not in the list of variables: not trained");
    }
    pair_bare_gradients(w);
    for (uint32_t p = 0; p < w->param_count; p++)
        forget_impossible(w, &w->params[p]);
}
