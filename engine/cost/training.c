#include "engine/cost/training.h"
#include "engine/cost/adding_up.h"
#include "engine/cost/variable_uses.h"
#include "engine/decide/classes.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- the batch ---- */

/* The class that most dims of inputs belong to; of those the one whose dims stand first. */
static class_id find_batch(const struct classes *c, const struct hlo_roles *r, uint32_t *places)
{
    class_id best = CLASS_NONE;

    for (uint32_t k = 0; k < r->param_count; k++) {
        const struct hlo_param_role *p = &r->params[k];
        for (uint32_t d = 0; p->role == HLO_ROLE_INPUT && d < hlo_value_shape(c->m, p->value)->rank;
             d++) {
            class_id id = c->class_of[class_dim(c, p->value, d)];
            if (id != CLASS_NONE)
                places[id] += d;
        }
    }
    for (class_id k = 0; k < c->count; k++) {
        const struct class_info *i = &c->info[k];
        if (i->reason != CLASS_ALLOWED || !i->input_dims || i->var_dims)
            continue;
        if (best == CLASS_NONE || i->input_dims > c->info[best].input_dims ||
            (i->input_dims == c->info[best].input_dims && places[k] < places[best]))
            best = k;
    }
    return best;
}

/* Names the dim that comes nearest to a batch, and why it is none. */
static int refuse_cuts(const struct training *t, uint32_t micro_batches, struct err *e)
{
    const struct classes *c = t->classes;
    const struct class_info *best = NULL;
    const char *name = NULL;
    uint32_t dim = 0;

    for (uint32_t k = 0; k < t->roles->param_count; k++) {
        const struct hlo_param_role *p = &t->roles->params[k];
        for (uint32_t d = 0; p->role == HLO_ROLE_INPUT && d < hlo_value_shape(c->m, p->value)->rank;
             d++) {
            class_id id = c->class_of[class_dim(c, p->value, d)];
            if (id == CLASS_NONE || (best && c->info[id].input_dims <= best->input_dims))
                continue;
            best = &c->info[id];
            name = p->name;
            dim = d;
        }
    }
    if (best && best->reason != CLASS_ALLOWED)
        return err_set(e, ERR_INPUT,
                       "%u micro-batches, but no dim of the inputs can be cut: %.100s dim %u %s "
                       "%.100s",
                       micro_batches, name, dim, class_reason_text[best->reason],
                       hlo_name(c->m, best->place));
    return err_set(e, ERR_INPUT, "%u micro-batches, but no dim of the inputs can be cut%s",
                   micro_batches, best ? ": they are dims of variables too" : "");
}

int training_check(const struct training *t, const struct batch_and_zero *r, struct err *e)
{
    if (r->zero > ZERO_LEVEL_MOST)
        return err_set(e, ERR_INPUT, "ZeRO level %u, expected 0 to %d", r->zero, ZERO_LEVEL_MOST);
    if (r->micro_batches <= 1)
        return 0;
    if (t->batch == CLASS_NONE)
        return refuse_cuts(t, r->micro_batches, e);
    if (r->micro_batches > MICRO_BATCHES_MOST || t->batch_divisor % r->micro_batches)
        return err_set(e, ERR_INPUT,
                       "%u micro-batches, expected a divisor of the module's batch, %lld",
                       r->micro_batches, (long long)t->batch_divisor);
    return 0;
}

/* ---- once, and summed ---- */

static bool carries_batch(const struct training *t, hlo_value v)
{
    const struct classes *c = t->classes;

    for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++) {
        if (t->batch != CLASS_NONE && c->class_of[d] == t->batch)
            return true;
    }
    return false;
}

static bool is_made_by_pass(const struct training *t, hlo_value v)
{
    const struct hlo_module *m = t->classes->m;
    hlo_id id = m->value_instruction[v];

    return !t->is_once[id] && !t->classes->is_free[v] && hlo_at(m, id)->opcode != HLO_OP_PARAMETER;
}

/* A loop belongs to the pass that its body belongs to. */
static bool calls_a_pass(const struct training *t, hlo_id id)
{
    const struct hlo_module *m = t->classes->m;

    for (uint32_t k = 0; k < hlo_at(m, id)->called_count; k++) {
        const struct hlo_computation *c = &m->computations[hlo_called(m, id, k)];
        for (hlo_id n = c->first; c->caller_count == 1 && n < c->first + c->count; n++) {
            if (t->roles->phase[n] == HLO_PHASE_FORWARD || t->roles->phase[n] == HLO_PHASE_BACKWARD)
                return true;
        }
    }
    return false;
}

static void find_once(struct training *t)
{
    const struct hlo_module *m = t->classes->m;

    for (hlo_id id = 0; id < m->count; id++)
        t->is_once[id] = t->roles->phase[id] == HLO_PHASE_UPDATE && !calls_a_pass(t, id);
    for (hlo_id id = 0; id < m->count; id++) {
        uint16_t opcode = hlo_at(m, id)->opcode;
        if (!t->is_once[id] || opcode == HLO_OP_TUPLE || opcode == HLO_OP_GET_TUPLE_ELEMENT)
            continue;
        for (uint32_t k = 0; k < hlo_at(m, id)->operand_count; k++) {
            hlo_id o = hlo_operand(m, id, k);
            for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++) {
                hlo_value s = hlo_value_source(m, v);
                if (is_made_by_pass(t, s) && hlo_value_shape(m, s)->bytes > 0)
                    t->is_summed[s] = 1;
            }
        }
    }
}

/* ---- which partial results may wait ---- */

/* Whether every use of `v` that computes lets a partial sum pass, into results that wait
 * themselves. Users come later in the module, so they are known. */
static bool uses_wait(const struct training *t, hlo_value v)
{
    const struct hlo_module *m = t->classes->m;
    hlo_id id = m->value_instruction[v];

    for (uint32_t n = 0; n < hlo_at(m, id)->user_count; n++) {
        hlo_id user = hlo_user(m, id, n);
        uint32_t leaf = 0;
        if (t->is_once[user] || hlo_is_flow(m, user))
            continue;
        if (m->leaf_base[user + 1] == m->leaf_base[user] || !t->waits[m->leaf_base[user]])
            return false;
        for (uint32_t k = 0; k < hlo_at(m, user)->operand_count; k++) {
            hlo_id o = hlo_operand(m, user, k);
            if (o == id && hlo_passes_partial(m, user, leaf + hlo_value_leaf(m, v),
                                              HLO_COMBINE_ADD) == HLO_PARTIAL_STOPS)
                return false;
            leaf += m->leaf_base[o + 1] - m->leaf_base[o];
        }
    }
    return true;
}

/* What passes on through tuples, loops and branches waits when all it becomes waits; what a loop
 * carries is judged by what leaves the loop. */
static int find_waiting(struct training *t, struct err *e)
{
    const struct hlo_module *m = t->classes->m;
    struct hlo_flows flows = {0};
    uint8_t *stops = mem_try(m->value_count, 1), *is_used = mem_try(m->value_count, 1);
    int rc = stops && is_used ? 0 : err_no_memory(e, "for the parts of a training step");

    if (rc)
        goto out;
    for (hlo_id id = m->count; id--;) {
        for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
            bool used = hlo_at(m, id)->user_count > 0 || is_used[v];
            t->waits[v] = used && !stops[v] && !carries_batch(t, v) && uses_wait(t, v);
        }
        if (!hlo_is_flow(m, id) || t->is_once[id])
            continue;
        rc = hlo_flows_of(m, id, &flows, e);
        if (rc)
            goto out;
        for (size_t k = 0; k < 2 * flows.count;
             k++) { /* twice: body root, body parameter, result */
            hlo_value from = flows.items[k % flows.count].from,
                      to = flows.items[k % flows.count].to;
            bool is_known =
                m->value_instruction[to] >= id; /* else what is called: only what leaves it is */
            is_used[from] = 1;
            stops[from] |= is_known ? !t->waits[to] : stops[to];
        }
    }
out:
    hlo_flows_release(&flows);
    free(stops);
    free(is_used);
    return rc;
}

/* ---- what is made of variables alone ---- */

static bool is_made_of_state(const struct training *t, hlo_id id)
{
    const struct hlo_module *m = t->classes->m;
    uint32_t counted = 0;

    if (hlo_at(m, id)->opcode == HLO_OP_DOT || hlo_at(m, id)->opcode == HLO_OP_CONVOLUTION)
        return false;
    for (uint32_t k = 0; k < hlo_at(m, id)->operand_count; k++) {
        hlo_id o = hlo_operand(m, id, k);
        for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++) {
            bool neutral = t->classes->is_free[v] || !hlo_value_shape(m, v)->rank;
            if (!neutral && !t->is_state[v])
                return false;
            counted += !neutral;
        }
    }
    return counted > 0;
}

/* As free values are found (hlo/meaning/free_values.c): what flows bring is taken for it until
 * something else flows there. */
static int find_state(struct training *t, struct err *e)
{
    const struct hlo_module *m = t->classes->m;
    struct hlo_flows flows = {0};
    bool again = true, first = true;
    int rc = 0;

    for (uint32_t k = 0; k < t->roles->param_count; k++)
        t->is_state[t->roles->params[k].value] = t->roles->params[k].role == HLO_ROLE_VARIABLE;
    while (again) {
        again = false;
        for (hlo_id id = 0; id < m->count; id++) {
            if (!hlo_is_flow(m, id)) {
                bool is = is_made_of_state(t, id);
                for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
                    t->is_state[v] = is;
                continue;
            }
            rc = hlo_flows_of(m, id, &flows, e);
            if (rc)
                goto out;
            for (size_t k = 0; k < flows.count; k++) {
                const struct hlo_flow *f = &flows.items[k];
                bool is = t->is_state[f->from] || t->classes->is_free[f->from];
                if (first && is)
                    t->is_state[f->to] = 1;
                else if (!first && !is && t->is_state[f->to]) {
                    t->is_state[f->to] = 0;
                    again |= m->value_instruction[f->to] < id;
                }
            }
        }
        again |= first;
        first = false;
    }
out:
    hlo_flows_release(&flows);
    return rc;
}

/* ---- what a gradient is summed over ---- */

enum { TRACE_MOST = 512 }; /* values looked at per gradient; past it nothing is claimed */

struct trace {
    const struct training *t;
    uint32_t seen_count;
    hlo_value seen[TRACE_MOST];
    struct hlo_flows flows;
    uint32_t producers;
};

static void trace_push(struct trace *s, hlo_value v)
{
    for (uint32_t k = 0; k < s->seen_count; k++) {
        if (s->seen[k] == v)
            return;
    }
    if (s->seen_count < TRACE_MOST)
        s->seen[s->seen_count++] = v;
    else
        s->producers = UINT32_MAX; /* given up */
}

uint32_t training_sums(const struct classes *c, hlo_id id, class_id out[static ZERO_CLASSES_MOST])
{
    uint32_t count = 0;

    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1] && count < ZERO_CLASSES_MOST;
         k++) {
        const struct class_factor *f = &c->factors[k];
        bool sums = f->kind == HLO_FACTOR_REDUCE || f->kind == HLO_FACTOR_INSIDE;
        if (!sums || f->class == CLASS_NONE || c->info[f->class].reason != CLASS_ALLOWED)
            continue;
        uint32_t at = count++;
        for (; at && out[at - 1] > f->class; at--)
            out[at] = out[at - 1];
        out[at] = f->class;
    }
    return count;
}

/* Keeps in `v` what is in `list` too; the first producer gives all it has. */
static void intersect(struct training_variable *v, const class_id *list, uint32_t count,
                      bool is_first)
{
    uint32_t kept = 0;

    if (is_first) {
        memcpy(v->reduced, list, count * sizeof *list);
        v->reduced_count = count;
        return;
    }
    for (uint32_t k = 0; k < v->reduced_count; k++) {
        for (uint32_t n = 0; n < count; n++) {
            if (v->reduced[k] == list[n]) {
                v->reduced[kept++] = list[n];
                break;
            }
        }
    }
    v->reduced_count = kept;
}

/* Pushes what flows into `v` at instruction `id`. */
static int trace_flows(struct trace *s, hlo_id id, hlo_value v, struct err *e)
{
    int rc = hlo_flows_of(s->t->classes->m, id, &s->flows, e);

    if (rc)
        return rc;
    for (size_t k = 0; k < s->flows.count; k++) {
        if (s->flows.items[k].to == v)
            trace_push(s, s->flows.items[k].from);
    }
    return rc;
}

static int trace_value(struct trace *s, hlo_value v, struct training_variable *out, struct err *e)
{
    const struct classes *c = s->t->classes;
    const struct hlo_module *m = c->m;
    hlo_id id = m->value_instruction[v];
    class_id list[ZERO_CLASSES_MOST];
    int rc = 0;

    if (c->is_free[v])
        return 0;
    if (hlo_at(m, id)->opcode == HLO_OP_PARAMETER) { /* of a loop or branch: its callers say */
        const struct hlo_computation *own = &m->computations[hlo_at(m, id)->computation];
        for (uint32_t k = 0; k < own->caller_count && !rc; k++)
            rc = trace_flows(s, own->callers[k], v, e);
        return rc;
    }
    if (hlo_is_flow(m, id))
        return trace_flows(s, id, v, e);
    uint32_t count = training_sums(c, id, list);
    if (count) {
        intersect(out, list, count, s->producers == 0);
        s->producers += s->producers != UINT32_MAX;
        return 0;
    }
    uint32_t leaf = 0;
    for (uint32_t k = 0; k < hlo_at(m, id)->operand_count; k++) {
        hlo_id o = hlo_operand(m, id, k);
        for (hlo_value u = m->leaf_base[o]; u < m->leaf_base[o + 1]; u++, leaf++) {
            if (hlo_passes_partial(m, id, leaf, HLO_COMBINE_ADD) != HLO_PARTIAL_STOPS)
                trace_push(s, u);
        }
    }
    return 0;
}

static int trace_gradient(struct trace *s, hlo_value gradient, struct training_variable *out,
                          struct err *e)
{
    int rc = 0;

    s->seen_count = s->producers = 0;
    trace_push(s, gradient);
    for (uint32_t k = 0; k < s->seen_count && s->producers != UINT32_MAX; k++) {
        rc = trace_value(s, s->seen[k], out, e);
        if (rc)
            goto out;
    }
out:
    if (s->producers == UINT32_MAX)
        out->reduced_count = 0;
    return rc;
}

static bool do_meet(const struct classes *c, class_id a, class_id b)
{
    for (uint32_t k = 0; k < c->info[a].meet_count; k++) {
        if (c->meets[c->info[a].meets + k].other == b)
            return true;
    }
    return false;
}

/* Keeps the classes that meet each other and those of the variable's dims: then no axis can be
 * split twice, and one table over owners of axes (terms.h) holds what storing costs. */
static void keep_meeting(const struct classes *c, hlo_value v, struct training_variable *out)
{
    uint32_t kept = 0;

    for (uint32_t k = 0; k < out->reduced_count; k++) {
        bool meets = true;
        for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++) {
            class_id other = c->class_of[d];
            meets &= other == CLASS_NONE || c->info[other].reason != CLASS_ALLOWED ||
                     do_meet(c, out->reduced[k], other);
        }
        for (uint32_t n = 0; n < kept; n++)
            meets &= do_meet(c, out->reduced[k], out->reduced[n]);
        if (meets)
            out->reduced[kept++] = out->reduced[k];
    }
    out->reduced_count = kept;
}

static int find_reduced(struct training *t, struct err *e)
{
    struct trace *s = mem_try(1, sizeof *s);
    int rc = s ? 0 : err_no_memory(e, "for the parts of a training step");

    if (rc)
        goto out;
    for (uint32_t k = 0; k < t->roles->param_count; k++) {
        const struct hlo_param_role *p = &t->roles->params[k];
        s->t = t;
        if (p->role != HLO_ROLE_VARIABLE || p->gradient == HLO_NONE)
            continue;
        rc = trace_gradient(s, p->gradient, &t->variables[k], e);
        keep_meeting(t->classes, p->value, &t->variables[k]);
        if (rc)
            goto out;
    }
out:
    if (s)
        hlo_flows_release(&s->flows);
    free(s);
    return rc;
}

label training_axes(const struct training *t, uint32_t param, const label *on)
{
    const struct training_variable *v = &t->variables[param];
    const struct classes *c = t->classes;
    hlo_value value = t->roles->params[param].value;
    label axes = 0;

    for (uint32_t k = 0; k < v->reduced_count; k++)
        axes |= on[v->reduced[k]];
    for (dim_id d = c->dim_base[value]; d < c->dim_base[value + 1]; d++) {
        if (c->class_of[d] != CLASS_NONE)
            axes &= (label)~on[c->class_of[d]];
    }
    return axes;
}

double training_piece(const struct training *t, const struct labels *l, const label *on,
                      hlo_value v, label axes)
{
    const struct classes *c = t->classes;
    const struct hlo_shape *s = hlo_value_shape(c->m, v);
    double least = 1;

    for (uint32_t d = 0; d < s->rank && axes; d++) {
        class_id k = c->class_of[class_dim(c, v, d)];
        int64_t parts = k == CLASS_NONE ? 1 : l->parts[on[k]], n = l->parts[axes];
        int64_t local = (s->dims[d] + parts - 1) / parts;
        double piece = local > 0 ? (double)((local + n - 1) / n) / (double)local : 1;
        least = piece < least ? piece : least;
    }
    return least;
}

int training_new(const struct classes *c, const struct hlo_roles *r, struct training *out,
                 struct err *e)
{
    struct training t = {.classes = c, .roles = r, .batch = CLASS_NONE, .batch_divisor = 1};
    uint32_t *places = mem_try(c->count, sizeof *places);
    int rc = 0;

    t.is_once = mem_try(c->m->count, 1);
    t.is_summed = mem_try(c->m->value_count, 1);
    t.waits = mem_try(c->m->value_count, 1);
    t.is_state = mem_try(c->m->value_count, 1);
    t.adding = mem_try(c->m->value_count, 1);
    t.variables = mem_try(r->param_count, sizeof *t.variables);
    t.update_of = mem_try(c->m->count, sizeof *t.update_of);
    if (!t.update_of || !places || !t.is_once || !t.is_summed || !t.waits || !t.is_state ||
        !t.adding || !t.variables) {
        rc = err_no_memory(e, "for the parts of a training step");
        goto out;
    }
    t.batch = find_batch(c, r, places);
    if (t.batch != CLASS_NONE)
        t.batch_divisor = c->info[t.batch].divisor;
    find_once(&t);
    rc = find_waiting(&t, e);
    if (rc)
        goto out;
    rc = find_state(&t, e);
    if (rc)
        goto out;
    rc = find_reduced(&t, e);
    if (rc)
        goto out;
    adding_up_find(&t);
    rc = variable_uses_find(&t, e);
out:
    free(places);
    if (rc)
        training_release(&t);
    else
        *out = t;
    return rc;
}

void training_release(struct training *t)
{
    free(t->is_once);
    free(t->is_summed);
    free(t->waits);
    free(t->is_state);
    free(t->adding);
    free(t->variables);
    free(t->update_of);
    memset(t, 0, sizeof *t);
}
