#include "engine/plan/recompute_rows.h"

#include "engine/plan/plan.h"
#include "engine/recompute/primal.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FOR[] = "for what is computed again";

enum { NUMBER_ROOM = 10 }; /* of a name: digits */

/* ---- rows ---- */

/* "encoder/layer_003/self" as "encoder/layer_*\/self". */
static void write_scope(const struct plan_recompute *r, uint32_t node, char *out, size_t room)
{
    const struct hlo_meta *meta = hlo_meta(recompute_module(r), r->graph.nodes[node].maker);
    struct hlo_scope_marks marks;
    struct str scope = {0};
    size_t size = 0;

    hlo_scope_of_op_name(meta->op_name, &scope, &marks);
    for (const char *at = scope.text ? scope.text : ""; *at && size + 1 < room; at++) {
        bool digit = isdigit((unsigned char)*at);
        if (!digit)
            out[size++] = *at;
        else if (!size || out[size - 1] != '*')
            out[size++] = '*';
    }
    out[size] = 0;
    str_release(&scope);
}

/* Values that are treated alike share a row. */
static uint64_t key_of(const struct plan_recompute *r, const struct recompute_choice *c,
                       uint32_t node, const char *scope)
{
    const struct hlo_module *m = recompute_module(r);
    const struct primal *n = &r->graph.nodes[node];
    const struct hlo_meta *meta = hlo_meta(m, n->maker);
    uint64_t head[] = {hlo_at(m, n->maker)->opcode,
                       m->shapes[m->value_shape[n->value]].bare,
                       n->trips > 1,
                       meta->source_line,
                       c->rest[node],
                       c->first[node]};
    uint64_t h = mem_hash(scope, strlen(scope), mem_hash(head, sizeof head, 7));

    if (!scope[0] && r->graph.layers < 2) /* nothing tells two values of one shape apart */
        h = mem_hash(&node, sizeof node, h);
    return h;
}

static bool matters(const struct plan_recompute *r, const struct recompute_choice *c, uint32_t k)
{
    const struct primal *n = &r->graph.nodes[k];

    if (c->rest[k] == VALUE_UNUSED && c->first[k] == VALUE_UNUSED)
        return false;
    return n->is_stored || c->rest[k] != VALUE_AGAIN || c->first[k] != VALUE_AGAIN;
}

static void add_to_row(const struct plan_recompute *r, const struct recompute_choice *c, uint32_t k,
                       struct recompute_row *row)
{
    const struct recompute *f = &r->front;
    double part = recompute_part(f, k, c->layers);
    double host = recompute_host_part(f, c, k) * f->bytes[k];

    row->count++;
    row->most += f->bytes[k];
    row->kept_bytes += part * recompute_kept_bytes(f, k, c->first[k]) +
                       (1 - part) * recompute_kept_bytes(f, k, c->rest[k]) - host;
    row->ms += part * recompute_state_ms(f, k, c->first[k]) +
               (1 - part) * recompute_state_ms(f, k, c->rest[k]);
    row->again +=
        (c->first[k] == VALUE_AGAIN ? part : 0) + (c->rest[k] == VALUE_AGAIN ? 1 - part : 0);
    row->host_bytes += host;
    row->in_pieces |= c->first[k] == VALUE_IN_PIECES || c->rest[k] == VALUE_IN_PIECES;
}

struct keyed {
    uint64_t key;
    uint32_t node;
};

static int by_key(const void *x, const void *y)
{
    const struct keyed *a = x, *b = y;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static int by_bytes(const void *x, const void *y)
{
    const struct recompute_row *a = x, *b = y;

    if (a->most != b->most)
        return a->most > b->most ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

bool recompute_is_layer_input(const struct plan_recompute *r, uint32_t node)
{
    const struct primal *n = &r->graph.nodes[node];

    return n->rule == PRIMAL_NEVER &&
           hlo_at(recompute_module(r), n->maker)->opcode == HLO_OP_PARAMETER;
}

/* A name for checkpoint_name: the last part of the scope and the operation. */
static void propose_name(const struct plan_recompute *r, struct recompute_row *row)
{
    const struct hlo_module *m = recompute_module(r);
    const char *part = strrchr(row->scope, '/');
    const char *what = recompute_is_layer_input(r, row->node)
                           ? "layer_input"
                           : hlo_op_info[hlo_at(m, r->graph.nodes[row->node].maker)->opcode].name;

    part = part ? part + 1 : row->scope;
    snprintf(row->name, sizeof row->name - NUMBER_ROOM, "%.32s%s%.20s", part, *part ? "_" : "",
             what);
    for (char *at = row->name; *at; at++) {
        if (!isalnum((unsigned char)*at))
            *at = '_';
    }
}

static int by_name(const void *x, const void *y)
{
    const struct recompute_row *const *a = x, *const *b = y;
    int order = strcmp((*a)->name, (*b)->name);

    return order ? order : *a < *b ? -1 : *a > *b;
}

/* Numbered from the second of one name on, so that each is saved by itself. `order` [count] is
 * scratch. */
static void propose_names(const struct plan_recompute *r, struct recompute_row *rows,
                          uint32_t count, struct recompute_row **order)
{
    for (uint32_t k = 0; k < count; k++) {
        propose_name(r, &rows[k]);
        order[k] = &rows[k];
    }
    qsort(order, count, sizeof *order, by_name);
    for (uint32_t k = 1, first = 0; k < count; k++) {
        size_t size = strlen(order[first]->name);
        if (strcmp(order[k]->name, order[first]->name))
            first = k;
        else
            snprintf(order[k]->name + size, sizeof order[k]->name - size, "%u", k - first + 1);
    }
}

int recompute_rows(const struct plan_recompute *r, const struct recompute_choice *c,
                   struct recompute_row **out, uint32_t *count, struct err *e)
{
    struct keyed *keys = mem_try((size_t)r->graph.count + 1, sizeof *keys);
    struct recompute_row *rows = mem_try((size_t)r->graph.count + 1, sizeof *rows);
    struct recompute_row **order = mem_try((size_t)r->graph.count + 1, sizeof *order);
    char scope[sizeof rows->scope];
    uint32_t nodes = 0;

    *count = 0;
    if (!keys || !rows || !order) {
        free(keys);
        free(rows);
        free(order);
        return err_no_memory(e, FOR);
    }
    for (uint32_t k = 0; k < r->graph.count; k++) {
        if (!matters(r, c, k))
            continue;
        write_scope(r, k, scope, sizeof scope);
        keys[nodes++] = (struct keyed){key_of(r, c, k, scope), k};
    }
    qsort(keys, nodes, sizeof *keys, by_key);
    for (uint32_t k = 0; k < nodes; k++) {
        if (!k || keys[k].key != keys[k - 1].key) {
            rows[(*count)++].node = keys[k].node;
            write_scope(r, keys[k].node, rows[*count - 1].scope, sizeof rows->scope);
        }
        add_to_row(r, c, keys[k].node, &rows[*count - 1]);
    }
    uint32_t shown = 0;
    for (uint32_t k = 0; k < *count; k++) {
        rows[k].again /= rows[k].count;
        if (rows[k].kept_bytes > 0 || rows[k].host_bytes > 0 || rows[k].ms > 0)
            rows[shown++] = rows[k];
    }
    *count = shown;
    qsort(rows, *count, sizeof *rows, by_bytes);
    propose_names(r, rows, *count, order);
    free(keys);
    free(order);
    *out = rows;
    return 0;
}

const char *recompute_row_word(const struct recompute_row *row)
{
    return row->again > 1 - 1e-9               ? "recompute"
           : row->again > 1e-9                 ? "some layers"
           : row->host_bytes > row->kept_bytes ? "offload"
           : row->host_bytes > 0               ? "offload some"
           : row->in_pieces                    ? "keep pieces"
                                               : "keep";
}

/* ---- policies ---- */

static bool is_dot(const struct plan_recompute *r, uint32_t k)
{
    uint16_t opcode = hlo_at(recompute_module(r), r->graph.nodes[k].maker)->opcode;

    return opcode == HLO_OP_DOT || opcode == HLO_OP_CONVOLUTION;
}

static bool has_batch_dims(const struct plan_recompute *r, uint32_t k)
{
    int64_t dims[HLO_RANK_MAX];

    return is_dot(r, k) && hlo_attr_ints(recompute_module(r), r->graph.nodes[k].maker,
                                         HLO_ATTR_LHS_BATCH_DIMS, dims) > 0;
}

/* Between the two products of attention: scores and what is made of them without a product until a
 * product with batch dims reads it. */
static void mark_core_attention(const struct plan_recompute *r, uint8_t *is_core, uint8_t *leads)
{
    const struct primal_graph *g = &r->graph;

    for (uint32_t k = g->count; k--;) { /* leads: to a product with batch dims */
        const struct primal *n = &g->nodes[k];
        bool on = has_batch_dims(r, k) || (leads[k] && n->rule != PRIMAL_WORK);
        for (uint32_t i = 0; i < n->read_count && on; i++)
            leads[g->edges[n->reads + i]] = 1;
    }
    for (uint32_t k = 0; k < g->count; k++) {
        const struct primal *n = &g->nodes[k];
        is_core[k] = has_batch_dims(r, k) && leads[k];
        for (uint32_t i = 0; i < n->read_count && n->rule != PRIMAL_WORK; i++)
            is_core[k] |= is_core[g->edges[n->reads + i]];
    }
}

enum policy { KEEP_ALL, CORE_ATTENTION, DOTS, DOTS_WITHOUT_BATCH, KEEP_NOTHING, POLICY_COUNT };

static const struct recompute_policy POLICIES[POLICY_COUNT] = {
    [KEEP_ALL] = {.name = "keep everything",
                  .jax = "everything_saveable",
                  .megatron = "(no --recompute-granularity)",
                  .titan = "none"},
    [CORE_ATTENTION] = {.name = "selective: core attention",
                        .megatron = "--recompute-granularity selective "
                                    "--recompute-modules core_attn"},
    [DOTS] = {.name = "keep products", .jax = "dots_saveable", .titan = "selective"},
    [DOTS_WITHOUT_BATCH] = {.name = "keep products without batch dims",
                            .jax = "dots_with_no_batch_dims_saveable"},
    [KEEP_NOTHING] = {.name = "full: keep layers' inputs alone",
                      .jax = "nothing_saveable",
                      .megatron = "--recompute-granularity full --recompute-method block "
                                  "--recompute-num-layers N",
                      .titan = "full"},
};

static bool policy_keeps(const struct plan_recompute *r, enum policy policy, uint32_t k,
                         const uint8_t *is_core)
{
    switch (policy) {
    case KEEP_ALL:
        return r->front.points[0].state[k] == VALUE_KEPT;
    case CORE_ATTENTION:
        return !is_core[k] && r->graph.nodes[k].is_stored;
    case DOTS:
        return is_dot(r, k);
    case DOTS_WITHOUT_BATCH:
        return is_dot(r, k) && !has_batch_dims(r, k);
    default:
        return false;
    }
}

int recompute_policies(const struct plan_recompute *r,
                       struct recompute_policy out[static RECOMPUTE_POLICIES_MOST], uint32_t *count,
                       struct err *e)
{
    size_t room = (size_t)r->graph.count + 1;
    uint8_t *kept = mem_try(4 * room, 1), *state = kept + room, *is_core = state + room,
            *leads = is_core + room;
    bool any_core = false;

    *count = 0;
    if (!kept)
        return err_no_memory(e, FOR);
    mark_core_attention(r, is_core, leads);
    for (uint32_t k = 0; k < r->graph.count; k++)
        any_core |= is_core[k];
    for (int policy = 0; policy < POLICY_COUNT; policy++) {
        if (policy == CORE_ATTENTION && !any_core)
            continue;
        for (uint32_t k = 0; k < r->graph.count; k++)
            kept[k] = policy_keeps(r, (enum policy)policy, k, is_core) ? VALUE_KEPT : 0;
        struct recompute_point p = recompute_point_of(&r->front, kept, state);
        struct recompute_policy *to = &out[(*count)++];
        *to = POLICIES[policy];
        to->ms = p.ms;
        to->kept = p.kept;
        to->peak =
            recompute_peak(&r->front, &(struct recompute_choice){.rest = state, .first = state});
        if (to->peak < 0) {
            free(kept);
            return err_no_memory(e, FOR);
        }
    }
    free(kept);
    return 0;
}
