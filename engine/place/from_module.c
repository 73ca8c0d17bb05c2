#include "engine/place/from_module.h"

#include "engine/cluster/cluster.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/unroll.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/union_find.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the operator graph";

struct making {
    const struct problem *p;
    struct order order; /* of a training step; else only order.steps */
    bool has_order;
    const struct unrolled *u;
    struct place_graph *g;
    double x;                       /* samples of a step, in parts of the module's batch */
    uint32_t kind[PLACE_TYPES_MAX]; /* type of the cluster, by kind */
    uint32_t kinds;
    double link, latency_ms, network, network_ms; /* slowest; bytes per s */
    struct cluster_device core;
    struct cluster_host host;
    uint32_t *node_of;                    /* by value of a parameter: its node, or PLACE_NONE */
    uint32_t *users;                      /* by value: operations that read it */
    uint32_t *last_user;                  /* by value: the last of them */
    uint32_t *forward_users, *first_user; /* by value: of the forward pass */
    bool *backward;                       /* by operation */
    uint32_t *parent;                     /* by node, of the colors */
    double *state;                        /* by parameter: bytes of optimizer state */
    uint32_t *from, *to, edges;
};

static void release_making(struct making *k)
{
    free(k->node_of);
    free(k->users);
    free(k->last_user);
    free(k->forward_users);
    free(k->first_user);
    free(k->backward);
    free(k->parent);
    free(k->state);
    free(k->from);
    free(k->to);
    if (k->has_order)
        order_release(&k->order);
    else
        unroll_release(&k->order.steps);
}

/* ---- the cluster ---- */

static int find_kinds(struct making *k, struct place_type *types, uint32_t *per_server,
                      struct err *e)
{
    const struct cluster *c = &k->p->cluster;
    bool equal = true;

    k->link = k->network = INFINITY;
    for (uint32_t i = 0; i < c->groups; i++) {
        const struct cluster_group *s = &c->group[i];
        uint32_t t = 0;
        while (t < k->kinds && k->kind[t] != s->type)
            t++;
        if (t == PLACE_TYPES_MAX - 1)
            return err_set(e, ERR_LIMIT, "more than %d kinds of devices", PLACE_TYPES_MAX - 1);
        if (t == k->kinds) {
            k->kind[k->kinds++] = s->type;
            snprintf(types[t].name, sizeof types[t].name, "%.31s", c->type[s->type].name);
            types[t].memory_bytes = c->type[s->type].memory_bytes;
        }
        types[t].count += s->count * s->devices;
        k->link = fmin(k->link, s->link.bandwidth > 0 ? s->link.bandwidth : INFINITY);
        k->latency_ms = fmax(k->latency_ms, s->link.latency_ms);
        k->network = c->servers > 1 ? fmin(k->network, cluster_network_of(c, i)) : INFINITY;
        if (s->host.cores && !k->host.cores)
            k->host = s->host;
        equal &= s->devices == c->group[0].devices;
    }
    if (c->devices > PLACE_DEVICES_MAX / 2)
        return err_set(e, ERR_LIMIT, "%u devices, expected at most %d", c->devices,
                       PLACE_DEVICES_MAX / 2);
    k->network_ms = c->network_latency_ms;
    *per_server = c->servers > 1 && equal ? c->group[0].devices : 0;
    if (k->host.cores) {
        k->link = fmin(k->link, k->host.link);
        k->core = (struct cluster_device){.bandwidth = k->host.bandwidth};
        k->core.peak[PEAK_F32] = k->host.peak;
    }
    types[k->kinds] = (struct place_type){"host", k->host.cores, INFINITY, true};
    return 0;
}

/* ---- operations and who reads what ---- */

static int unroll(struct making *k, struct err *e)
{
    struct err none = {0};
    int rc = order_new(k->p, &k->order, &none);

    k->has_order = !rc;
    if (rc == ERR_INFEASIBLE)
        rc = unroll_any(k->p, &k->order.steps, e);
    else if (rc)
        *e = none;
    k->u = &k->order.steps;
    return rc;
}

static bool allocate_making(struct making *k)
{
    size_t values = (size_t)k->u->value_count + 1, ops = (size_t)k->u->op_count + 1;

    k->node_of = mem_try(values, sizeof(uint32_t));
    k->users = mem_try(values, sizeof(uint32_t));
    k->last_user = mem_try(values, sizeof(uint32_t));
    k->forward_users = mem_try(values, sizeof(uint32_t));
    k->first_user = mem_try(values, sizeof(uint32_t));
    k->backward = mem_try(ops, 1);
    k->state = mem_try((size_t)k->p->roles.param_count + 1, sizeof(double));
    return k->node_of && k->users && k->last_user && k->forward_users && k->first_user &&
           k->backward && k->state;
}

/* What reads a backward value is of the backward pass, whatever it was called. */
static void find_users(struct making *k)
{
    for (uint32_t n = 0; n < k->u->op_count; n++) {
        const struct unroll_op *op = &k->u->ops[n];
        k->backward[n] = op->is_backward;
        for (uint32_t i = 0; i < op->operand_count; i++) {
            uint32_t v = k->u->operands[op->operands + i], maker = k->u->values[v].op;
            k->backward[n] |= maker != UNROLL_NONE && k->backward[maker];
        }
        for (uint32_t i = 0; i < op->operand_count; i++) {
            uint32_t v = k->u->operands[op->operands + i];
            if (!k->users[v] || k->last_user[v] != n) {
                k->users[v]++;
                k->last_user[v] = n;
                k->first_user[v] = !k->backward[n] && !k->forward_users[v] ? n : k->first_user[v];
                k->forward_users[v] += !k->backward[n];
            }
        }
    }
}

static void find_state(struct making *k)
{
    const struct hlo_roles *roles = &k->p->roles;

    for (uint32_t n = 0; n < roles->param_count; n++) {
        const struct hlo_param_role *r = &roles->params[n];
        if (r->role == HLO_ROLE_OPTIMIZER_STATE && r->of != HLO_NONE)
            k->state[r->of] += (double)hlo_value_shape(k->p->m, r->value)->bytes;
    }
}

/* Parameters that devices hold: everything read but data that comes in. */
static bool is_held(const struct making *k, uint32_t value)
{
    const struct unroll_value *v = &k->u->values[value];

    if (v->param == UNROLL_NONE || !k->users[value])
        return false;
    uint8_t role = k->p->roles.params[v->param].role;
    if (role == HLO_ROLE_VARIABLE || role == HLO_ROLE_OTHER_STATE)
        return true;
    return role == HLO_ROLE_INPUT && k->u->batch != CLASS_NONE && !v->has_batch;
}

static uint32_t number_nodes(struct making *k)
{
    uint32_t nodes = k->u->op_count;

    for (uint32_t v = 0; v < k->u->value_count; v++)
        k->node_of[v] = is_held(k, v) ? nodes++ : PLACE_NONE;
    return nodes;
}

/* ---- nodes ---- */

static double send_ms(double bytes, double rate, double latency_ms)
{
    return bytes > 0 && isfinite(rate) ? bytes / rate * 1e3 + latency_ms : 0;
}

/* Bytes leave a node in one piece; several results are read by several users, seldom apart. */
static void set_sending(struct making *k, uint32_t node, double bytes)
{
    double near = send_ms(bytes, k->link, k->latency_ms);
    double far = send_ms(bytes, k->network, k->network_ms);

    k->g->send_ms[node] = k->g->far_ms || !isfinite(k->network) ? near : fmax(near, far);
    if (k->g->far_ms)
        k->g->far_ms[node] = fmax(near, far);
}

static bool set_operation(struct making *k, uint32_t n)
{
    const struct unroll_op *op = &k->u->ops[n];
    struct place_graph *g = k->g;
    struct instruction_scaling s = step_tables_scaling(&k->p->step_tables, op->id, k->u->batch);
    const char *name = hlo_name(k->p->m, op->id);
    double sent = 0;

    for (uint32_t t = 0; t < k->kinds; t++)
        g->time_ms[(size_t)t * g->nodes + n] =
            op->times * instruction_scaling_ms(&s, &k->p->cluster.type[k->kind[t]], k->x);
    s.measured_ms = -1; /* a profile is of the accelerator */
    if (k->host.cores)
        g->time_ms[(size_t)k->kinds * g->nodes + n] =
            op->times * instruction_scaling_ms(&s, &k->core, k->x);
    for (uint32_t v = op->values; v < op->values + op->value_count; v++) {
        bool kept = !k->backward[n] && k->users[v] > k->forward_users[v];
        const struct unroll_value *value = &k->u->values[v];
        double bytes = value->has_batch ? value->bytes * k->x : value->bytes;
        sent += k->users[v] ? bytes : 0;
        g->bytes[n] += kept && value->is_stored ? bytes : 0;
    }
    set_sending(k, n, sent);
    g->id[n] = n;
    g->supported[n] = true;
    g->backward[n] = k->backward[n];
    g->name[n] = name ? arena_text(&g->arena, name, strlen(name)) : NULL;
    return !name || g->name[n];
}

/* A variable with what training keeps of it; its update is done where it lies. */
static bool set_variable(struct making *k, uint32_t value)
{
    const struct unroll_value *v = &k->u->values[value];
    const struct hlo_param_role *r = &k->p->roles.params[v->param];
    double whole = (double)hlo_value_shape(k->p->m, r->value)->bytes;
    double part = whole > 0 ? v->bytes / whole : 0, kept = 0, moved = 0;
    struct place_graph *g = k->g;
    uint32_t node = k->node_of[value];

    if (r->role == HLO_ROLE_VARIABLE && r->gradient != HLO_NONE) {
        double gradient = (double)hlo_value_shape(k->p->m, r->gradient)->bytes * part;
        kept = gradient + k->state[v->param] * part;
        moved = 2 * v->bytes + gradient + 2 * k->state[v->param] * part;
    }
    for (uint32_t t = 0; t < k->kinds; t++)
        g->time_ms[(size_t)t * g->nodes + node] =
            moved / cluster_bandwidth(&k->p->cluster.type[k->kind[t]]) * 1e3;
    if (k->host.cores)
        g->time_ms[(size_t)k->kinds * g->nodes + node] = moved / k->host.bandwidth * 1e3;
    g->bytes[node] = v->bytes + kept;
    set_sending(k, node, v->bytes);
    g->id[node] = node;
    g->supported[node] = true;
    /* one that only the backward pass reads is kept there */
    g->backward[node] = !k->forward_users[value] && k->users[value];
    g->name[node] = r->name ? arena_text(&g->arena, r->name, strlen(r->name)) : NULL;
    return !r->name || g->name[node];
}

static bool set_nodes(struct making *k)
{
    bool ok = true;

    for (uint32_t n = 0; n < k->u->op_count && ok; n++)
        ok = set_operation(k, n);
    for (uint32_t v = 0; v < k->u->value_count && ok; v++)
        ok = k->node_of[v] == PLACE_NONE || set_variable(k, v);
    return ok;
}

/* ---- colors ---- */

static void join_operators(struct making *k, uint32_t a, uint32_t b)
{
    uint32_t x = union_root(k->parent, a), y = union_root(k->parent, b);

    k->parent[x > y ? x : y] = x > y ? y : x;
}

/* The one operation that reads any result of n, or PLACE_NONE. */
static uint32_t only_user(const struct making *k, uint32_t n)
{
    const struct unroll_op *op = &k->u->ops[n];
    uint32_t user = PLACE_NONE;

    for (uint32_t v = op->values; v < op->values + op->value_count; v++) {
        if (k->u->values[v].is_stored || k->users[v] > 1 ||
            (k->users[v] && user != PLACE_NONE && user != k->last_user[v]))
            return PLACE_NONE;
        user = k->users[v] ? k->last_user[v] : user;
    }
    return user;
}

static bool set_colors(struct making *k)
{
    struct place_graph *g = k->g;

    k->parent = mem_try((size_t)g->nodes + 1, sizeof *k->parent);
    if (!k->parent)
        return false;
    for (uint32_t v = 0; v < g->nodes; v++)
        k->parent[v] = v;
    for (uint32_t n = 0; n < k->u->op_count; n++) {
        uint32_t user = only_user(k, n);
        if (user != PLACE_NONE && k->backward[user] == k->backward[n])
            join_operators(k, n, user);
        else if (k->has_order && k->backward[n])
            join_operators(k, n, k->order.forward[k->order.position[n]]);
    }
    for (uint32_t v = 0; v < k->u->value_count; v++) {
        if (k->node_of[v] != PLACE_NONE && k->forward_users[v] == 1)
            join_operators(k, k->node_of[v], k->first_user[v]);
        else if (k->node_of[v] != PLACE_NONE && k->users[v] == 1)
            join_operators(k, k->node_of[v], k->last_user[v]);
    }
    for (uint32_t v = 0; v < g->nodes; v++)
        g->color[v] = union_root(k->parent, v);
    return true;
}

/* Parts of the model that operations belong to, each name kept once. */
static bool set_layers(struct making *k)
{
    const struct hlo_roles *r = &k->p->roles;
    const char **text = mem_try((size_t)r->layer_count + 1, sizeof *text);
    bool ok = text;

    for (uint32_t n = 0; n < k->u->op_count && ok; n++) {
        uint32_t layer = r->layer[k->u->ops[n].id];
        if (!layer)
            continue;
        if (!text[layer])
            text[layer] =
                arena_text(&k->g->arena, r->layer_names[layer], strlen(r->layer_names[layer]));
        k->g->layer[n] = text[layer];
        ok = text[layer];
    }
    free(text);
    return ok;
}

/* ---- edges ---- */

static bool set_edges(struct making *k)
{
    size_t most = 0;

    for (uint32_t n = 0; n < k->u->op_count; n++)
        most += k->u->ops[n].operand_count;
    if (most > PLACE_EDGES_MAX)
        return false;
    k->from = mem_try(most + 1, sizeof *k->from);
    k->to = mem_try(most + 1, sizeof *k->to);
    if (!k->from || !k->to)
        return false;
    for (uint32_t n = 0; n < k->u->op_count; n++) {
        const struct unroll_op *op = &k->u->ops[n];
        for (uint32_t i = 0; i < op->operand_count; i++) {
            uint32_t v = k->u->operands[op->operands + i], maker = k->u->values[v].op;
            uint32_t from = maker != UNROLL_NONE ? maker : k->node_of[v];
            if (from == PLACE_NONE || from == n)
                continue;
            k->from[k->edges] = from;
            k->to[k->edges++] = n;
        }
    }
    return true;
}

static int make_graph(struct making *k, struct err *e)
{
    struct place_type types[PLACE_TYPES_MAX] = {{{0}, 0, 0, false}};
    uint32_t per_server = 0, nodes;

    if (find_kinds(k, types, &per_server, e) || unroll(k, e))
        return e->code;
    if (!allocate_making(k))
        return err_no_memory(e, MEMORY_FOR);
    find_users(k);
    find_state(k);
    nodes = number_nodes(k);
    if (nodes > PLACE_NODES_MAX)
        return err_set(e, ERR_LIMIT, "more than %d operations", PLACE_NODES_MAX);
    if (place_graph_new(nodes, k->kinds + 1, &k->g, e))
        return e->code;
    memcpy(k->g->type, types, sizeof k->g->type);
    k->g->per_server = per_server;
    k->g->sync_ms_per_byte = isfinite(k->link) ? 1e3 / k->link : 0;
    k->g->sync_far_ms_per_byte = per_server && isfinite(k->network) ? 1e3 / k->network : 0;
    if (per_server)
        k->g->far_ms = arena_get(&k->g->arena, (size_t)nodes + 1, sizeof(double));
    if ((per_server && !k->g->far_ms) || !set_nodes(k) || !set_layers(k) || !set_colors(k) ||
        !set_edges(k))
        return err_no_memory(e, MEMORY_FOR);
    return place_graph_connect(k->g, k->from, k->to, k->edges, NULL, e);
}

int place_graph_of_problem(const struct problem *p, uint32_t samples, struct place_graph **out,
                           struct err *e)
{
    struct making k = {.p = p, .x = 1};
    int64_t of = p->training.batch_divisor, size = samples ? samples : problem_batch_size(p);

    if (p->training.batch != CLASS_NONE && of > 0 && size > 0)
        k.x = (double)size / (double)of;
    int rc = make_graph(&k, e);

    release_making(&k);
    if (rc)
        place_graph_free(k.g);
    else
        *out = k.g;
    return rc;
}
