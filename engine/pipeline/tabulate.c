#include "engine/pipeline/tabulate.h"

#include "engine/cluster/cluster.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/pipeline/again.h"
#include "engine/pipeline/reads.h"
#include "engine/pipeline/unroll.h"
#include "engine/pipeline/variable_updates.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

struct maker {
    const struct order *o;
    const struct unrolled *u;
    const struct problem *p;
    struct pipe_instance *in;
    struct err *e;
    double samples; /* of a micro-batch, over the batch of the file */
    double *state;  /* [roles.param_count] bytes of optimizer state of each variable */
    struct variable_updates updates;
    uint8_t *unread; /* [values] pipe_unread */
    uint32_t *spot;  /* scratch: positions of the uses of one variable */
    size_t spot_room;
    struct tied *tied; /* variables used far apart */
    size_t tied_count, tied_room;
    uint32_t *use_pool;
    size_t use_count, use_room;
    double *once;  /* [points + 2] bytes of variables sent over cuts: differences */
    double *again; /* [lists of reads][columns] what each further stage adds (enum pipe_again) */
};

struct tied {
    uint32_t uses, use_count; /* into use_pool */
    uint32_t variable;        /* the largest of them; into roles.params */
    double largest;           /* its bytes */
    double parameter, gradient, state, update;
};

static const char MEMORY_FOR[] = "for the profile of a pipeline";

/* ---- compute ---- */

static double *row_of(const struct maker *k, uint32_t type, uint32_t replicas, bool backward)
{
    uint32_t row = pipe_row(k->in, type, replicas);

    return backward ? k->in->backward_ms[row] : k->in->forward_ms[row];
}

/* The point that has the amounts of operation `n`: of what is made again its first reader. */
static uint32_t point_of(const struct maker *k, uint32_t n)
{
    const struct reads_list *l = reads_of(&k->o->reads, n);

    return l ? k->o->reads.position[l->first] : k->o->position[n];
}

/* The amounts that further stages add for operation `n`; NULL: it is made once. */
static double *again_of(const struct maker *k, uint32_t n)
{
    const struct reads_list *l = reads_of(&k->o->reads, n);
    size_t columns = pipe_again_column(k->in->types, false);

    return l && l->count > 1 ? k->again + k->o->reads.list_of[n] * columns : NULL;
}

/* The passes: of what is made whole (cost/free_cost.h) every replica makes all that a micro-batch
 * reads. */
static void add_compute(const struct maker *k, uint32_t n)
{
    const struct unroll_op *op = &k->u->ops[n];
    struct instruction_scaling s = step_tables_scaling(&k->p->step_tables, op->id, k->u->batch);
    uint32_t at = point_of(k, n) + 1;
    double *again = again_of(k, n);
    uint32_t micro_batches = k->in->options.micro_batches;
    double times = op->times * (class_leaf_count(&k->p->classes, op->id) ? 1 : k->samples);

    for (uint32_t t = 0; t < k->in->types; t++) {
        const struct cluster_device *d = &k->p->cluster.type[k->in->cluster_type[t]];
        double before = -1, ms = 0;
        double adding =
            op->times * step_tables_adding_ms(&k->p->step_tables, op->id, d, micro_batches);
        for (uint32_t r = 1; r <= k->in->devices; r++) {
            double x = k->samples * k->in->share[r];
            if (x != before)
                ms = times * instruction_scaling_ms(&s, d, x) + adding;
            if (r == 1 && again)
                again[pipe_again_column(t, op->is_backward)] += ms;
            before = x;
            row_of(k, t, r, op->is_backward)[at] += ms;
        }
    }
}

/* ---- what stages make again ---- */

/* A pair for every two successive points that read what a list's operations make. */
static int add_again(struct maker *k)
{
    const struct reads *r = &k->o->reads;
    struct again_pair *pair = NULL;
    uint32_t pairs = 0, count = 0;
    int rc;

    for (uint32_t n = 0; n < r->count; n++)
        pairs += r->list[n].count - 1;
    pair = mem_try((size_t)pairs + 1, sizeof *pair);
    if (!pair)
        return err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t n = 0; n < r->count; n++) {
        const uint32_t *at = r->position + r->list[n].first;
        for (uint32_t m = 1; m < r->list[n].count; m++)
            pair[count++] = (struct again_pair){at[m - 1], at[m], n};
    }
    rc = pipe_instance_again(k->in, pair, count, k->again, k->e);
    free(pair);
    return rc;
}

/* ---- variables ---- */

double *pipe_variable_state(const struct problem *p)
{
    const struct hlo_roles *roles = &p->roles;
    double *state = mem_try((size_t)roles->param_count + 1, sizeof *state);
    double lost = 0, variables = 0;

    for (uint32_t n = 0; state && n < roles->param_count; n++) {
        const struct hlo_param_role *r = &roles->params[n];
        double bytes = (double)hlo_value_shape(p->m, r->value)->bytes;
        if (r->role == HLO_ROLE_VARIABLE)
            variables += bytes;
        if (r->role == HLO_ROLE_OPTIMIZER_STATE && r->of != HLO_NONE)
            state[r->of] += bytes;
        else if (r->role == HLO_ROLE_OPTIMIZER_STATE)
            lost += bytes;
    }
    for (uint32_t n = 0; state && n < roles->param_count && variables > 0; n++) {
        if (roles->params[n].role == HLO_ROLE_VARIABLE)
            state[n] +=
                lost * (double)hlo_value_shape(p->m, roles->params[n].value)->bytes / variables;
    }
    return state;
}

static bool is_held(const struct unroll_value *v, const struct hlo_roles *roles)
{
    uint8_t role = v->op == UNROLL_NONE && v->param != UNROLL_NONE ? roles->params[v->param].role
                                                                   : HLO_ROLE_COUNT;

    return role == HLO_ROLE_VARIABLE || role == HLO_ROLE_OTHER_STATE;
}

uint8_t *pipe_unread(const struct order *o)
{
    const struct unrolled *u = &o->steps;
    const struct hlo_roles *roles = &u->problem->roles;
    uint8_t *out = mem_try(u->value_count, 1),
            *is_read = mem_try((size_t)roles->param_count + 1, 1);
    bool ok = out && is_read;

    for (uint32_t v = 0; v < u->value_count && ok; v++)
        if (is_held(&u->values[v], roles) && o->user_base[v + 1] > o->user_base[v])
            is_read[u->values[v].param] = 1;
    for (uint32_t v = 0; v < u->value_count && ok; v++) {
        const struct unroll_value *value = &u->values[v];
        out[v] = is_held(value, roles) && !is_read[value->param] &&
                 value->value == roles->params[value->param].value;
    }
    free(is_read);
    if (ok)
        return out;
    free(out);
    return NULL;
}

/* Ascending distinct positions of the operations that read `value`, into spot: of what no pass
 * reads the first. */
static int find_uses(struct maker *k, uint32_t value, uint32_t *count)
{
    const struct order *o = k->o;
    uint32_t uses = o->user_base[value + 1] - o->user_base[value];

    *count = 0;
    if (!mem_grow(&k->spot, &k->spot_room, 0, uses + 1))
        return err_no_memory(k->e, MEMORY_FOR);
    if (k->unread[value])
        k->spot[(*count)++] = 0;
    for (uint32_t n = 0; n < uses; n++) {
        uint32_t at = o->position[o->users[o->user_base[value] + n]], place = *count;
        while (place && k->spot[place - 1] > at)
            place--;
        if (place && k->spot[place - 1] == at)
            continue;
        memmove(k->spot + place + 1, k->spot + place, (*count - place) * sizeof *k->spot);
        k->spot[place] = at;
        ++*count;
    }
    return 0;
}

static int add_tied(struct maker *k, uint32_t count, const struct tied *t)
{
    for (size_t n = 0; n < k->tied_count; n++) {
        struct tied *same = &k->tied[n];
        if (same->use_count != count ||
            memcmp(k->use_pool + same->uses, k->spot, count * sizeof *k->spot))
            continue;
        if (t->largest > same->largest) {
            same->largest = t->largest;
            same->variable = t->variable;
        }
        same->parameter += t->parameter;
        same->gradient += t->gradient;
        same->state += t->state;
        same->update += t->update;
        return 0;
    }
    if (!mem_grow(&k->tied, &k->tied_room, k->tied_count, 1) ||
        !mem_grow(&k->use_pool, &k->use_room, k->use_count, count))
        return err_no_memory(k->e, MEMORY_FOR);
    k->tied[k->tied_count] = *t;
    k->tied[k->tied_count].uses = (uint32_t)k->use_count;
    k->tied[k->tied_count++].use_count = count;
    memcpy(k->use_pool + k->use_count, k->spot, count * sizeof *k->spot);
    k->use_count += count;
    return 0;
}

/* Forward time between two positions, before the tables are summed up. */
static double time_between(const struct maker *k, uint32_t from, uint32_t to)
{
    const double *row = row_of(k, 0, 1, false);
    double ms = 0;

    for (uint32_t p = from; p < to; p++)
        ms += row[p + 1];
    return ms;
}

/* A variable that is no tie belongs to the stage of its first use; what lies behind a cut is sent
 * it, and sends the gradient back. Differences, before once_bytes is summed up. */
static void send_once(struct maker *k, const struct tied *t, const uint32_t *uses, uint32_t count)
{
    double bytes = t->parameter + t->gradient;

    k->once[uses[0] + 1] += bytes;
    k->once[uses[count - 1] + 1] -= bytes;
}

static int add_variable(struct maker *k, uint32_t value, double forward_ms)
{
    const struct unroll_value *v = &k->u->values[value];
    const struct hlo_param_role *r = &k->p->roles.params[v->param];
    double whole = (double)hlo_value_shape(k->p->m, r->value)->bytes,
           part = whole > 0 ? v->bytes / whole : 0;
    bool trained = r->role == HLO_ROLE_VARIABLE;
    double gradient = !trained ? 0
                      : r->gradient != HLO_NONE
                          ? (double)hlo_value_shape(k->p->m, r->gradient)->bytes
                          : whole;
    struct tied t = {.variable = v->param,
                     .largest = v->bytes,
                     .parameter = v->bytes,
                     .gradient = gradient * part};
    uint32_t uses;
    int rc = find_uses(k, value, &uses);

    if (rc || !uses)
        return rc;
    uint32_t at = k->spot[0] + 1;
    double state = trained ? k->state[v->param] * part : 0;
    t.state = v->bytes + t.gradient + state;
    k->in->gradient_bytes[at] += t.gradient;
    k->in->parameter_bytes[at] += t.parameter;
    k->in->state_bytes[at] += t.state;
    k->in->variables[at] += trained;
    for (uint32_t type = 0; type < k->in->types && trained; type++) {
        const struct cluster_device *d = &k->p->cluster.type[k->in->cluster_type[type]];
        double ms = part * variable_updates_ms(&k->updates, k->p, v->param, d);
        k->in->update_ms[type][at] += ms;
        t.update = fmax(t.update, ms);
    }
    bool far = trained && uses > 1 &&
               time_between(k, k->spot[0], k->spot[uses - 1]) > PIPE_TIE_SHARE * forward_ms;
    if (far)
        return add_tied(k, uses, &t);
    send_once(k, &t, k->spot, uses);
    return 0;
}

static int compare_tied(const void *x, const void *y)
{
    const struct tied *a = x, *b = y;

    if (a->gradient != b->gradient)
        return a->gradient < b->gradient ? 1 : -1;
    return (a->uses > b->uses) - (a->uses < b->uses);
}

/* The largest, when there are more than an instance takes. */
static int add_ties(struct maker *k)
{
    int rc = 0;

    if (k->tied_count)
        qsort(k->tied, k->tied_count, sizeof *k->tied, compare_tied);
    for (size_t n = 0; n < k->tied_count; n++) {
        const struct tied *t = &k->tied[n];
        if (n >= PIPE_TIES_MOST) {
            send_once(k, t, k->use_pool + t->uses, t->use_count);
            continue;
        }
        struct pipe_tie tie = {.uses = k->use_pool + t->uses,
                               .use_count = t->use_count,
                               .variable = t->variable,
                               .parameter_bytes = t->parameter,
                               .gradient_bytes = t->gradient,
                               .state_bytes = t->state,
                               .update_ms = t->update};
        rc = pipe_instance_tie(k->in, &tie, k->e);
        if (rc)
            return rc;
    }
    return rc;
}

static int add_variables(struct maker *k)
{
    double forward_ms = time_between(k, 0, k->o->count);
    int rc = variable_updates_new(k->p, &k->updates, k->e);

    if (rc)
        return rc;
    k->state = pipe_variable_state(k->p);
    k->unread = pipe_unread(k->o);
    k->once = mem_try((size_t)k->o->count + 2, sizeof *k->once);
    if (!k->once || !k->state || !k->unread)
        return err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t v = 0; v < k->u->value_count; v++) {
        if (!is_held(&k->u->values[v], &k->p->roles))
            continue;
        rc = add_variable(k, v, forward_ms);
        if (rc)
            return rc;
    }
    return rc ? rc : add_ties(k);
}

/* ---- memory ---- */

static double bytes_of(const struct maker *k, const struct unroll_value *v)
{
    return v->has_batch ? v->bytes * k->samples : v->bytes;
}

/* Last position where the backward pass needs each value, plus 1; 0: it does not. A value that is
 * not stored needs what it is made of. */
static uint32_t *find_needs(const struct maker *k)
{
    uint32_t *need = mem_try(k->u->value_count, sizeof *need);

    for (uint32_t n = k->u->op_count; need && n-- > 0;) {
        const struct unroll_op *op = &k->u->ops[n];
        uint32_t at = op->is_backward ? k->o->position[n] + 1 : 0;
        for (uint32_t r = 0; r < op->value_count && !op->is_backward; r++) {
            if (!k->u->values[op->values + r].is_stored && need[op->values + r] > at)
                at = need[op->values + r];
        }
        for (uint32_t m = 0; m < op->operand_count; m++) {
            uint32_t v = k->u->operands[op->operands + m];
            if (at > need[v])
                need[v] = at;
        }
    }
    return need;
}

static bool is_input(const struct maker *k, const struct unroll_value *v)
{
    return v->param != UNROLL_NONE && k->p->roles.params[v->param].role == HLO_ROLE_INPUT;
}

static int add_stash(struct maker *k)
{
    uint32_t *need = find_needs(k);

    if (!need)
        return err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t v = 0; v < k->u->value_count; v++) {
        const struct unroll_value *value = &k->u->values[v];
        bool made_forward =
            value->op != UNROLL_NONE && !k->u->ops[value->op].is_backward && value->is_stored;
        if (!need[v] || !(made_forward || is_input(k, value)))
            continue;
        bool again = made_forward && reads_of(&k->o->reads, value->op);
        k->in->stash_bytes[again ? point_of(k, value->op) + 1 : need[v]] += bytes_of(k, value);
        if (again && again_of(k, value->op)) /* every stage that makes it keeps it */
            again_of(k, value->op)[PIPE_AGAIN_STASH] += bytes_of(k, value);
    }
    free(need);
    return 0;
}

/* Stored values of the backward pass by the positions over which they live: differences, then sums.
 */
static int add_temporaries(struct maker *k)
{
    uint8_t *gradient = order_gradients(k->o);
    double *live = mem_try((size_t)k->o->count + 1, sizeof *live), sum = 0;

    for (uint32_t v = 0; gradient && live && v < k->u->value_count; v++) {
        const struct unroll_value *value = &k->u->values[v];
        if (value->op == UNROLL_NONE || !k->u->ops[value->op].is_backward || !value->is_stored ||
            gradient[v] == ORDER_VARIABLE)
            continue;
        uint32_t made = point_of(k, value->op), last = made;
        for (uint32_t n = k->o->user_base[v]; n < k->o->user_base[v + 1]; n++) {
            if (k->o->position[k->o->users[n]] < last)
                last = k->o->position[k->o->users[n]];
        }
        live[last] += bytes_of(k, value);
        live[made + 1] -= bytes_of(k, value);
    }
    for (uint32_t p = 0; live && p < k->o->count; p++) {
        sum += live[p];
        k->in->temporary_bytes[p] = fmax(0, sum);
    }
    bool ok = gradient && live;
    free(gradient);
    free(live);
    return ok ? 0 : err_no_memory(k->e, MEMORY_FOR);
}

/* ---- the whole ---- */

static int add_cuts(struct maker *k)
{
    struct order_cuts c;
    int rc = order_cuts_new(k->o, &c, k->e);
    double samples = k->in->options.micro_batch, variables = 0;

    if (rc)
        return rc;
    for (uint32_t p = 1; p < k->o->count; p++) {
        variables += k->once[p];
        k->in->forward_bytes[p] = c.forward_sample[p] * samples + c.forward_fixed[p];
        k->in->backward_bytes[p] = c.backward_sample[p] * samples + c.backward_fixed[p];
        k->in->once_bytes[p] = c.once[p] + fmax(0, variables);
    }
    order_cuts_release(&c);
    return 0;
}

static int fill_table(struct maker *k)
{
    k->again = mem_try((size_t)k->o->reads.count * pipe_again_column(k->in->types, false) + 1,
                       sizeof *k->again);
    if (!k->again)
        return err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t p = 0; p < k->o->count; p++) {
        hlo_id id = k->u->ops[k->o->forward[p]].id;
        k->in->instruction[p] = id;
        if (k->p->roles.layer[id])
            k->in->layer[p] = k->p->roles.layer[id];
    }
    for (uint32_t n = 0; n < k->u->op_count; n++)
        add_compute(k, n);
    int rc = add_variables(k);
    if (rc)
        return rc;
    rc = add_stash(k);
    if (rc)
        return rc;
    rc = add_temporaries(k);
    if (rc)
        return rc;
    rc = add_again(k);
    return rc ? rc : add_cuts(k);
}

int pipe_tabulate(const struct order *o, const struct pipe_options *options,
                  struct pipe_instance *out, struct err *e)
{
    struct maker k = {.o = o, .u = &o->steps, .p = o->steps.problem, .in = out, .e = e};
    int rc = pipe_instance_new(out, o->count, &k.p->cluster, options, e);

    if (rc)
        return rc;
    k.samples = options->micro_batch / (double)o->steps.batch_size;
    rc = fill_table(&k);
    if (rc)
        goto out;
    rc = pipe_instance_finish(out, e);
out:
    variable_updates_release(&k.updates);
    free(k.state);
    free(k.unread);
    free(k.spot);
    free(k.tied);
    free(k.use_pool);
    free(k.once);
    free(k.again);
    if (rc)
        pipe_instance_free(out);
    return rc;
}

static uint32_t equal_parts(const struct pipe_instance *in, uint32_t n, uint32_t *cut)
{
    const double *sum = in->forward_ms[0];
    uint32_t count = 0;

    cut[0] = 0;
    for (uint32_t k = 1, p = 0; k < n; k++) {
        double want = sum[in->points] * k / n;
        while (p < in->points && sum[p] < want)
            p++;
        if (p > cut[count] && p < in->points)
            cut[++count] = p;
    }
    cut[++count] = in->points;
    return count;
}

/* Drops cuts that leave less than a quarter of a part at either end of the pass: a stage that only
 * spreads a bias is none. Returns the count of points. */
static uint32_t drop_slivers(const struct pipe_instance *in, uint32_t parts, uint32_t *cut,
                             uint32_t count)
{
    const double *sum = in->forward_ms[0];
    double least = sum[in->points] / (4.0 * parts);
    uint32_t kept = 0;

    for (uint32_t k = 1; k < count; k++) {
        if (sum[cut[k]] >= least && sum[in->points] - sum[cut[k]] >= least)
            cut[++kept] = cut[k];
    }
    cut[++kept] = in->points;
    return kept;
}

uint32_t pipe_cut_points(const struct pipe_instance *in, enum pipe_cut_kind kind, uint32_t n,
                         uint32_t *cut)
{
    if (kind == PIPE_CUTS_CHEAPEST && n < in->points)
        return drop_slivers(in, n, cut, pipe_instance_cheapest(in, n, cut));
    if (kind == PIPE_CUTS_EQUAL && n < in->points)
        return equal_parts(in, n, cut);
    for (uint32_t p = 0; p <= in->points; p++)
        cut[p] = p;
    return in->points;
}
