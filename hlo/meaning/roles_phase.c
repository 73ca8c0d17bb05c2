/* Forward, backward, update: by the marks of automatic differentiation in op_name where there are
 * any, else by data flow. */
#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <string.h>

struct phases {
    struct hlo_roles_work *w;
    struct hlo_reach after; /* computed from gradients, moments, rates */
    struct hlo_reach data;  /* computed from inputs and carried statistics */
    bool *is_forward_comp;  /* bodies of loops over the layers of the forward pass */
    bool has_forward_comp;
};

/* ---- by data flow ---- */

/* Two of the three sets in a thread of their own: none changes what another one reads. */
static void *close_ahead(void *context)
{
    struct phases *s = context;

    hlo_reach_ahead(&s->after, &s->w->g, NULL, NULL);
    hlo_reach_ahead(&s->data, &s->w->g, NULL, NULL);
    return NULL;
}

static void close_sets(struct phases *s)
{
    struct hlo_roles_work *w = s->w;
    struct beside beside;

    hlo_reach_clear(&w->backward);
    for (uint32_t p = 0; p < w->param_count; p++) {
        const struct hlo_param_role *r = &w->params[p];
        if (r->gradient != HLO_NONE) {
            hlo_reach_add(&w->backward, r->gradient);
            hlo_reach_add(&s->after, r->gradient);
        }
        if (r->role == HLO_ROLE_OPTIMIZER_STATE || (r->role == HLO_ROLE_HYPER && !w->is_read[p]))
            hlo_reach_add(&s->after, r->value);
        if (r->role == HLO_ROLE_INPUT || r->role == HLO_ROLE_OTHER_STATE)
            hlo_reach_add(&s->data, r->value);
    }
    beside_begin(&beside, w->m->count >= HLO_ROLES_BESIDE_LEAST, close_ahead, s);
    hlo_reach_back(&w->backward, &w->g, NULL, NULL);
    beside_end(&beside);
}

static enum hlo_phase phase_of_value(const struct phases *s, hlo_value v)
{
    const struct hlo_roles_work *w = s->w;

    if (w->is_free[v])
        return HLO_PHASE_OTHER;
    if (w->forward.has[v])
        return HLO_PHASE_FORWARD;
    if (w->backward.has[v])
        return HLO_PHASE_BACKWARD;
    if (s->after.has[v])
        return HLO_PHASE_UPDATE;
    if (s->data.has[v])
        return HLO_PHASE_FORWARD; /* metrics, moving statistics */
    return w->g.succ_first[v] < w->g.succ_first[v + 1] ? HLO_PHASE_UPDATE : HLO_PHASE_OTHER;
}

/* A loop whose carried arrays the loss is computed from runs over layers: all of it is forward,
 * also what it keeps for the backward pass. A loop that only adds up scalar losses is none. */
static bool is_forward_loop(const struct hlo_roles_work *w, hlo_id id)
{
    const struct hlo_module *m = w->m;

    if (hlo_graph_opcode(&w->g, id) != HLO_OP_WHILE || !hlo_at(m, id)->called_count)
        return false;
    const struct hlo_computation *body = &m->computations[hlo_called(m, id, 0)];
    if (body->param_count != 1)
        return false;
    for (uint32_t leaf = 0; leaf < hlo_shape(m, id)->leaf_count; leaf++) {
        hlo_value v = hlo_value_of(m, id, leaf), in = hlo_value_of(m, body->params[0], leaf);
        if (w->forward.has[v] && hlo_value_shape(m, v)->rank && hlo_work_is_float(w, v) &&
            hlo_graph_source(&w->g, hlo_value_of(m, body->root, leaf)) != in)
            return true;
    }
    return false;
}

static void find_forward_loops(struct phases *s)
{
    const struct hlo_module *m = s->w->m;

    for (hlo_comp c = m->computation_count; c-- > 0;) { /* callers have larger numbers */
        const struct hlo_computation *comp = &m->computations[c];
        for (uint32_t n = 0; n < comp->caller_count && !s->is_forward_comp[c]; n++)
            s->is_forward_comp[c] = s->is_forward_comp[hlo_at(m, comp->callers[n])->computation] ||
                                    is_forward_loop(s->w, comp->callers[n]);
        s->has_forward_comp |= s->is_forward_comp[c];
    }
}

/* Of several results the earliest phase that needs one (batch norm: its moments are for the
 * backward pass); of values only passed on the latest: a tuple of everything is made at the end. */
static enum hlo_phase phase_by_flow(const struct phases *s, hlo_id id)
{
    const struct hlo_module *m = s->w->m;
    enum hlo_phase phase = HLO_PHASE_OTHER;

    if (is_forward_loop(s->w, id))
        return HLO_PHASE_FORWARD;
    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        enum hlo_phase one = phase_of_value(s, v);
        bool is_later = one > phase;
        if (one != HLO_PHASE_OTHER && (phase == HLO_PHASE_OTHER || is_later == s->w->g.is_flow[v]))
            phase = one;
    }
    if (phase == HLO_PHASE_BACKWARD && s->has_forward_comp &&
        s->is_forward_comp[hlo_at(m, id)->computation])
        phase = HLO_PHASE_FORWARD;
    return phase;
}

/* ---- by marks ---- */

/* Phases by meta; HLO_PHASE_OTHER: no mark. True: some are marked as backward. */
static bool read_marks(const struct hlo_roles_work *w, uint8_t *by_meta)
{
    bool has_backward = false;

    for (uint32_t n = 0; n < w->m->meta_count; n++) {
        struct hlo_scope_marks marks = w->scopes.marks[n];
        by_meta[n] = HLO_PHASE_OTHER;
        if (marks.is_transposed || marks.is_recomputed || marks.is_gradient)
            by_meta[n] = HLO_PHASE_BACKWARD;
        else if (marks.is_derived)
            by_meta[n] = HLO_PHASE_FORWARD;
        has_backward |= marks.is_transposed || marks.is_gradient;
    }
    return has_backward;
}

/* ---- the rest ---- */

static enum hlo_phase earlier(enum hlo_phase a, enum hlo_phase b)
{
    return a < b ? a : b; /* HLO_PHASE_OTHER is last */
}

/* Constants and what is computed from them belong to their first user; reducers, conditions and the
 * like to their caller. Callers have larger computation numbers, users larger ids. */
static void inherit(struct hlo_roles_work *w)
{
    const struct hlo_module *m = w->m;

    for (hlo_comp c = m->computation_count; c-- > 0;) {
        const struct hlo_computation *comp = &m->computations[c];
        enum hlo_phase outer = HLO_PHASE_OTHER;
        for (uint32_t n = 0; n < comp->caller_count; n++)
            outer = earlier(outer, (enum hlo_phase)w->phase[comp->callers[n]]);
        for (hlo_id id = comp->first + comp->count; id-- > comp->first;) {
            enum hlo_phase phase = (enum hlo_phase)w->phase[id];
            for (uint32_t n = 0; phase == HLO_PHASE_OTHER && n < hlo_at(m, id)->user_count; n++)
                w->phase[id] = (uint8_t)earlier((enum hlo_phase)w->phase[id],
                                                (enum hlo_phase)w->phase[hlo_user(m, id, n)]);
            if (w->phase[id] == HLO_PHASE_OTHER)
                w->phase[id] = (uint8_t)outer;
        }
    }
}

/* The phases of some instructions; each depends on the sets alone. */
struct marking {
    const struct phases *s;
    const uint8_t *by_meta; /* NULL: no marks */
    hlo_id begin, end;
};

static void *mark_some(void *context)
{
    const struct marking *k = context;
    const struct hlo_roles_work *w = k->s->w;

    for (hlo_id id = k->begin; id < k->end; id++) {
        uint8_t mark = k->by_meta ? k->by_meta[hlo_at(w->m, id)->meta] : (uint8_t)HLO_PHASE_OTHER;
        w->phase[id] = mark != HLO_PHASE_OTHER ? mark : (uint8_t)phase_by_flow(k->s, id);
    }
    return NULL;
}

/* Of a large module the later half in a thread of its own. */
static void mark_all(const struct phases *s, const uint8_t *by_meta)
{
    hlo_id count = s->w->m->count;
    struct marking first = {s, by_meta, 0, count / 2}, second = {s, by_meta, count / 2, count};
    struct beside beside;

    beside_begin(&beside, count >= HLO_ROLES_BESIDE_LEAST, mark_some, &second);
    mark_some(&first);
    beside_end(&beside);
}

int hlo_roles_phases(struct hlo_roles_work *w, struct err *e)
{
    const struct hlo_module *m = w->m;
    struct phases s = {.w = w};
    uint8_t *by_meta = mem_try(m->meta_count, 1);

    s.is_forward_comp = mem_try(m->computation_count, 1);
    bool ok = by_meta && s.is_forward_comp && hlo_reach_init(&s.after, &w->g) &&
              hlo_reach_init(&s.data, &w->g);
    if (ok) {
        bool has_marks = read_marks(w, by_meta);
        close_sets(&s);
        find_forward_loops(&s);
        mark_all(&s, has_marks ? by_meta : NULL);
        inherit(w);
        w->phase_source = has_marks ? "marks of differentiation in op_name, else data flow"
                          : w->loss != HLO_NONE
                              ? "data flow from the loss"
                              : "data flow from the weights' first uses; no loss found";
    }
    hlo_reach_release(&w->forward); /* nobody asks again */
    hlo_reach_release(&w->backward);
    free(by_meta);
    free(s.is_forward_comp);
    hlo_reach_release(&s.after);
    hlo_reach_release(&s.data);
    return ok ? 0 : err_no_memory(e, "for the phases of the instructions");
}
