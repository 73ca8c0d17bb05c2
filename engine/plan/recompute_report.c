#include "engine/plan/recompute_report.h"

#include "engine/plan/plan.h"
#include "engine/recompute/primal.h"
#include "engine/recompute/recompute.h"
#include "engine/text/units.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

static const char FOR[] = "for the report of what is computed again";

/* ---- rows ---- */

static const struct hlo_module *module_of(const struct plan_recompute *r)
{
    return r->plan->problem->m;
}

/* "encoder/layer_003/self" as "encoder/layer_*\/self". */
static void write_scope(const struct plan_recompute *r, uint32_t node, char *out, size_t room)
{
    const struct hlo_meta *meta = hlo_meta(module_of(r), r->graph.nodes[node].maker);
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
    const struct hlo_module *m = module_of(r);
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

static double part_ms(const struct recompute *f, uint32_t k, uint8_t state)
{
    return state == VALUE_AGAIN                              ? f->again_ms[k]
           : state == VALUE_IN_PIECES                        ? f->keep_ms[k] + f->gather_ms[k]
           : state == VALUE_KEPT || state == VALUE_OFFLOADED ? f->keep_ms[k]
                                                             : 0;
}

static double part_bytes(const struct recompute *f, uint32_t k, uint8_t state)
{
    return state == VALUE_KEPT || state == VALUE_OFFLOADED ? f->bytes[k]
           : state == VALUE_IN_PIECES                      ? f->piece_bytes[k]
                                                           : 0;
}

static void add_to_row(const struct plan_recompute *r, const struct recompute_choice *c, uint32_t k,
                       struct recompute_row *row)
{
    const struct recompute *f = &r->front;
    double part = recompute_part(f, k, c->layers);
    double host = recompute_host_part(f, c, k) * f->bytes[k];

    row->count++;
    row->most += f->bytes[k];
    row->kept_bytes +=
        part * part_bytes(f, k, c->first[k]) + (1 - part) * part_bytes(f, k, c->rest[k]) - host;
    row->ms += part * part_ms(f, k, c->first[k]) + (1 - part) * part_ms(f, k, c->rest[k]);
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

/* What a layer in a loop begins with: the loop's state, which is kept without a name. */
static bool is_layer_input(const struct plan_recompute *r, uint32_t node)
{
    const struct primal *n = &r->graph.nodes[node];

    return n->rule == PRIMAL_NEVER && hlo_at(module_of(r), n->maker)->opcode == HLO_OP_PARAMETER;
}

/* A name for checkpoint_name: the last part of the scope and the operation, numbered when taken. */
static void propose_names(const struct plan_recompute *r, struct recompute_row *rows,
                          uint32_t count)
{
    const struct hlo_module *m = module_of(r);

    for (uint32_t k = 0; k < count; k++) {
        struct recompute_row *row = &rows[k];
        const char *part = strrchr(row->scope, '/');
        const char *what =
            is_layer_input(r, row->node)
                ? "layer_input"
                : hlo_op_info[hlo_at(m, r->graph.nodes[row->node].maker)->opcode].name;
        char *name = row->name;
        part = part ? part + 1 : row->scope;
        snprintf(name, sizeof row->name - 4, "%.32s%s%.20s", part, *part ? "_" : "", what);
        for (char *at = name; *at; at++) {
            if (!isalnum((unsigned char)*at))
                *at = '_';
        }
        uint32_t same = 0;
        size_t size = strlen(name);
        for (uint32_t i = 0; i < k; i++)
            same += !strncmp(rows[i].name, name, size) &&
                    (!rows[i].name[size] || isdigit((unsigned char)rows[i].name[size]));
        if (same && same < 1000)
            snprintf(name + size, sizeof row->name - size, "%u", same + 1);
    }
}

/* Rows for everything that takes memory or time, most bytes first; the caller frees *out. O(nodes
 * log nodes). */
static int list_rows(const struct plan_recompute *r, const struct recompute_choice *c,
                     struct recompute_row **out, uint32_t *count, struct err *e)
{
    struct keyed *keys = mem_try((size_t)r->graph.count + 1, sizeof *keys);
    struct recompute_row *rows = mem_try((size_t)r->graph.count + 1, sizeof *rows);
    char scope[sizeof rows->scope];
    uint32_t nodes = 0;

    *count = 0;
    if (!keys || !rows) {
        free(keys);
        free(rows);
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
    propose_names(r, rows, *count);
    free(keys);
    *out = rows;
    return 0;
}

/* ---- policies ---- */

static bool is_dot(const struct plan_recompute *r, uint32_t k)
{
    uint16_t opcode = hlo_at(module_of(r), r->graph.nodes[k].maker)->opcode;

    return opcode == HLO_OP_DOT || opcode == HLO_OP_CONVOLUTION;
}

static bool has_batch_dims(const struct plan_recompute *r, uint32_t k)
{
    int64_t dims[HLO_RANK_MAX];

    return is_dot(r, k) &&
           hlo_attr_ints(module_of(r), r->graph.nodes[k].maker, HLO_ATTR_LHS_BATCH_DIMS, dims) > 0;
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

/* ---- text ---- */

enum { ROWS_SHOWN = 24, POINTS_SHOWN = 12 };

static void write_choice(const struct plan_recompute *r, const struct recompute_choice *c,
                         double limit, struct str *out)
{
    char a[UNITS_ROOM], b[UNITS_ROOM], d[UNITS_ROOM];
    double step = r->free_ms + c->ms;

    str_format(out, "\n  what to keep for the backward pass");
    if (isfinite(limit))
        str_format(out, ", within %s", units_bytes(a, limit));
    str_format(out, "\n");
    if (!c->fits) {
        str_format(out, "  nothing fits    %12s  is the least%s\n", units_bytes(a, c->peak),
                   isfinite(c->bound_ms) ? " found" : ", proven for this plan");
    }
    str_format(out, "  step            %12s  %s without recomputation, %s for it\n",
               units_ms(a, step), units_ms(b, r->free_ms), units_ms(d, c->ms));
    if (c->fits) {
        double bound = r->free_ms + c->bound_ms;
        if (step <= bound * (1 + 1e-9))
            str_format(out,
                       "  proven          no choice of what to keep is faster with this plan\n");
        else
            str_format(out, "  bound           %12s  no choice with this plan is faster; gap %s\n",
                       units_ms(a, bound), units_percent(b, step / bound - 1));
    }
    str_format(out, "  memory          %12s  %s of it kept from the forward pass\n",
               units_bytes(a, c->peak), units_bytes(b, c->kept));
    if (c->host_bytes > 0)
        str_format(out,
                   "  on the host     %12s  of a micro-batch, from the first %u of %u layers; "
                   "copies show %s of the step\n",
                   units_bytes(a, c->host_bytes), c->host_layers, r->front.layers,
                   units_ms(b, c->host_ms));
    str_format(out, "  the module now  %12s  %s kept, %s of recomputation%s\n",
               units_bytes(a, r->module_peak), units_bytes(b, r->front.module.kept),
               units_ms(d, r->front.module.ms), r->is_listed ? "; weight gradients at once" : "");
    if (c->layers)
        str_format(out, "  two kinds       the first %u of %u layers recompute more\n", c->layers,
                   r->front.layers);
}

static void write_rows(const struct plan_recompute *r, const struct recompute_row *rows,
                       uint32_t count, struct str *out)
{
    const struct hlo_module *m = module_of(r);
    char a[UNITS_ROOM], b[UNITS_ROOM];

    str_format(out, "\n  %-12s %10s %10s  %-24s %s\n", "", "kept", "added", "value", "where");
    for (uint32_t k = 0; k < count && k < ROWS_SHOWN; k++) {
        const struct recompute_row *row = &rows[k];
        const struct primal *n = &r->graph.nodes[row->node];
        const struct hlo_meta *meta = hlo_meta(m, n->maker);
        const char *what = row->again > 1 - 1e-9               ? "recompute"
                           : row->again > 1e-9                 ? "some layers"
                           : row->host_bytes > row->kept_bytes ? "offload"
                           : row->host_bytes > 0               ? "offload some"
                           : row->in_pieces                    ? "keep pieces"
                                                               : "keep";
        struct str shape = {0};
        plan_write_shape(r->plan, n->value, &shape);
        str_format(out, "  %-12s %10s %10s  %-24.60s %.40s", what,
                   units_bytes(a, row->kept_bytes + row->host_bytes),
                   row->ms > 0 ? units_ms(b, row->ms) : "-", shape.text ? shape.text : "",
                   hlo_name(m, n->maker));
        if (row->count > 1)
            str_format(out, " x %u", row->count);
        if (row->scope[0])
            str_format(out, "  %.64s", row->scope);
        if (meta->source_line)
            str_format(out, "  %.64s:%u", meta->source_file, meta->source_line);
        str_format(out, "\n");
        str_release(&shape);
    }
    if (count > ROWS_SHOWN)
        str_format(out, "  and %u smaller ones\n", count - ROWS_SHOWN);
}

static int write_front(const struct plan_recompute *r, struct str *out, struct err *e)
{
    const struct recompute *f = &r->front;
    uint32_t stride = (f->count + POINTS_SHOWN - 1) / POINTS_SHOWN;
    char a[UNITS_ROOM], b[UNITS_ROOM], d[UNITS_ROOM];

    str_format(out, "\n  the front     kept      added     memory   ms a GB\n");
    for (uint32_t k = 0; k < f->count;
         k += k + stride < f->count || k + 1 == f->count ? stride : f->count - 1 - k) {
        const struct recompute_point *p = &f->points[k];
        double peak =
            recompute_peak(f, &(struct recompute_choice){.rest = p->state, .first = p->state});
        if (peak < 0)
            return err_no_memory(e, FOR);
        str_format(out, "  %16s %10s %10s", units_bytes(a, p->kept), units_ms(b, p->ms),
                   units_bytes(d, peak));
        if (k)
            str_format(out, " %9.2f\n", (p->ms - p[-1].ms) / (p[-1].kept - p->kept) * 1e9);
        else
            str_format(out, "\n");
    }
    return 0;
}

static int write_policies(const struct plan_recompute *r, struct str *out, struct err *e)
{
    struct recompute_policy list[RECOMPUTE_POLICIES_MOST];
    uint32_t count;
    char a[UNITS_ROOM], b[UNITS_ROOM], d[UNITS_ROOM];
    int rc = recompute_policies(r, list, &count, e);

    if (rc)
        return rc;
    str_format(out, "\n  policies      kept      added     memory\n");
    for (uint32_t k = 0; k < count; k++)
        str_format(out, "  %16s %10s %10s  %s%s%s\n", units_bytes(a, list[k].kept),
                   units_ms(b, list[k].ms), units_bytes(d, list[k].peak), list[k].name,
                   list[k].jax ? ": " : "", list[k].jax ? list[k].jax : "");
    return 0;
}

/* ---- jax.checkpoint ---- */

static bool is_close(double a, double b, double of)
{
    return fabs(a - b) <= 0.005 * of;
}

/* The stock policy that says the same, or NULL; none speaks of the host. */
static const struct recompute_policy *same_policy(const struct plan_recompute *r,
                                                  const struct recompute_choice *c,
                                                  const struct recompute_policy *list,
                                                  uint32_t count)
{
    const struct recompute *f = &r->front;
    double most_ms = f->points[f->count - 1].ms, most = f->points[0].kept;

    for (uint32_t k = 0; k < count && !c->layers && !(c->host_bytes > 0); k++) {
        if (is_close(list[k].ms, c->ms, most_ms) && is_close(list[k].kept, c->kept, most))
            return &list[k];
    }
    return NULL;
}

/* Rows that a name can save: made by work or a kernel and kept in some layers; whatever is on the
 * host, which nothing but its name sends there. */
static bool is_named(const struct plan_recompute *r, const struct recompute_row *row)
{
    const struct primal *n = &r->graph.nodes[row->node];

    return row->host_bytes > 0 ||
           (row->kept_bytes > 0 && (n->rule == PRIMAL_WORK || n->rule == PRIMAL_KERNEL));
}

/* Layers of one kind: what they keep, and whether on the host. */
struct layer_kind {
    uint32_t first, end;
    const uint8_t *state;
    bool on_host;
};

enum { KINDS_MOST = 3 };

/* In order; one kind: all layers. */
static uint32_t list_kinds(const struct plan_recompute *r, const struct recompute_choice *c,
                           struct layer_kind out[static KINDS_MOST])
{
    uint32_t layers = r->front.layers, host = c->host_bytes > 0 ? c->host_layers : 0, count = 0;

    for (uint32_t at = 0; at < layers; count++) {
        uint32_t end = layers;
        end = c->layers > at && c->layers < end ? c->layers : end;
        end = host > at && host < end ? host : end;
        out[count] = (struct layer_kind){at, end, at < c->layers ? c->first : c->rest, at < host};
        at = end;
    }
    return count;
}

static bool has_offloaded(const struct plan_recompute *r, const struct recompute_row *rows,
                          uint32_t count, const struct layer_kind *kind)
{
    bool any = false;

    for (uint32_t k = 0; k < count && kind->on_host; k++)
        any |= is_named(r, &rows[k]) && kind->state[rows[k].node] == VALUE_OFFLOADED;
    return any;
}

/* Names of the rows that are on the host, or on the device. */
static void write_names(const struct plan_recompute *r, const struct recompute_row *rows,
                        uint32_t count, const struct layer_kind *kind, bool on_host,
                        struct str *out)
{
    const char *before = "";

    for (uint32_t k = 0; k < count; k++) {
        uint8_t s = kind->state[rows[k].node];
        bool leaves = s == VALUE_OFFLOADED && kind->on_host;
        bool stays = !leaves && (s == VALUE_KEPT || s == VALUE_IN_PIECES || s == VALUE_OFFLOADED);
        if (!is_named(r, &rows[k]) || (on_host ? !leaves : !stays))
            continue;
        str_format(out, "%s'%s'", before, rows[k].name);
        before = ", ";
    }
}

static void write_kinds(const struct plan_recompute *r, const struct recompute_choice *c,
                        const struct recompute_row *rows, uint32_t count, struct str *out)
{
    static const char *const names[KINDS_MOST][KINDS_MOST] = {
        {""}, {"_first", "_rest"}, {"_first", "_middle", "_rest"}};
    struct layer_kind kinds[KINDS_MOST];
    uint32_t n = list_kinds(r, c, kinds);

    for (uint32_t k = 0; k < n; k++) {
        str_format(out, "policy%s = jax.checkpoint_policies.", names[n - 1][k]);
        if (has_offloaded(r, rows, count, &kinds[k])) {
            str_add(out, "save_and_offload_only_these_names(\n    names_which_can_be_saved=[");
            write_names(r, rows, count, &kinds[k], false, out);
            str_add(out, "],\n    names_which_can_be_offloaded=[");
            write_names(r, rows, count, &kinds[k], true, out);
            str_add(out, "],\n    offload_src='device', offload_dst='pinned_host')\n");
        } else {
            str_add(out, "save_only_these_names(");
            write_names(r, rows, count, &kinds[k], false, out);
            str_add(out, ")\n");
        }
    }
    if (n == 1) {
        str_add(out, "body = jax.checkpoint(body, policy=policy, prevent_cse=False)\n");
        return;
    }
    str_format(out,
               "# scan over layers 0..%u with jax.checkpoint(body, policy=policy_first, "
               "prevent_cse=False),\n",
               kinds[0].end - 1);
    if (n == 3)
        str_format(out, "# then over layers %u..%u with policy_middle,\n", kinds[1].first,
                   kinds[1].end - 1);
    str_add(out, "# then over the rest with policy_rest\n");
}

/* Appends Python that passes the choice to jax.checkpoint. */
static int write_jax(const struct plan_recompute *r, const struct recompute_choice *c,
                     struct str *out, struct err *e)
{
    const struct hlo_module *m = module_of(r);
    struct recompute_policy list[RECOMPUTE_POLICIES_MOST];
    struct recompute_row *rows = NULL;
    uint32_t count, policies;
    int rc = recompute_policies(r, list, &policies, e);

    if (rc)
        return rc;
    rc = list_rows(r, c, &rows, &count, e);
    if (rc)
        return rc;
    const struct recompute_policy *same = same_policy(r, c, list, policies);
    const struct recompute *f = &r->front;
    double least = f->points[f->count - 1].kept, most = f->points[0].kept;
    str_format(out, "\n# for JAX: give kept values a name, and keep those names\n");
    if (same && same->jax)
        str_format(out, "# the stock policy jax.checkpoint_policies.%s says the same\n", same->jax);
    if (same && same->megatron)
        str_format(out, "# Megatron: %s\n", same->megatron);
    if (same && same->titan)
        str_format(out, "# torchtitan: activation_checkpoint.mode = \"%s\"\n", same->titan);
    if (most > least && !(c->host_bytes > 0))
        str_format(out, "# torchtitan, memory_budget: %.2f\n",
                   fmin(1, fmax(0, (c->kept - least) / (most - least))));
    str_format(out, "from jax.ad_checkpoint import checkpoint_name\n");
    for (uint32_t k = 0; k < count; k++) {
        const struct hlo_meta *meta = hlo_meta(m, r->graph.nodes[rows[k].node].maker);
        if (!is_named(r, &rows[k]))
            continue;
        str_format(out, "#   x = checkpoint_name(x, '%s')  ", rows[k].name);
        if (is_layer_input(r, rows[k].node))
            str_add(out, "first in the body: its input ");
        if (meta->source_line)
            str_format(out, "%.80s:%u ", meta->source_file, meta->source_line);
        str_format(out, "%.80s %.40s\n", rows[k].scope,
                   hlo_name(m, r->graph.nodes[rows[k].node].maker));
    }
    write_kinds(r, c, rows, count, out);
    free(rows);
    return out->failed ? err_no_memory(e, FOR) : 0;
}

int recompute_write(const struct plan_recompute *r, const struct recompute_choice *c, double limit,
                    struct str *out, struct err *e)
{
    struct recompute_row *rows = NULL;
    uint32_t count;
    int rc = list_rows(r, c, &rows, &count, e);

    if (rc)
        return rc;
    write_choice(r, c, limit, out);
    write_rows(r, rows, count, out);
    rc = write_front(r, out, e);
    if (rc)
        goto out;
    rc = write_policies(r, out, e);
    if (rc)
        goto out;
    rc = write_jax(r, c, out, e);
out:
    free(rows);
    return rc ? rc : out->failed ? err_no_memory(e, FOR) : 0;
}

/* ---- JSON ---- */

static cJSON *row_json(const struct plan_recompute *r, const struct recompute_row *row)
{
    const struct hlo_module *m = module_of(r);
    const struct primal *n = &r->graph.nodes[row->node];
    const struct hlo_meta *meta = hlo_meta(m, n->maker);
    cJSON *o = cJSON_CreateObject();
    struct str shape = {0};

    plan_write_shape(r->plan, n->value, &shape);
    cJSON_AddStringToObject(o, "instruction", hlo_name(m, n->maker));
    cJSON_AddNumberToObject(o, "count", row->count);
    cJSON_AddStringToObject(o, "shape", shape.text ? shape.text : "");
    cJSON_AddStringToObject(o, "scope", row->scope);
    cJSON_AddStringToObject(o, "source", meta->source_file);
    cJSON_AddNumberToObject(o, "line", meta->source_line);
    cJSON_AddStringToObject(o, "name", row->name);
    cJSON_AddNumberToObject(o, "recomputed", row->again);
    cJSON_AddNumberToObject(o, "kept_bytes", row->kept_bytes);
    if (row->host_bytes > 0)
        cJSON_AddNumberToObject(o, "host_bytes", row->host_bytes);
    cJSON_AddNumberToObject(o, "most_bytes", row->most);
    cJSON_AddNumberToObject(o, "added_ms", row->ms);
    str_release(&shape);
    return o;
}

static int add_policies(const struct plan_recompute *r, cJSON *o, struct err *e)
{
    struct recompute_policy list[RECOMPUTE_POLICIES_MOST];
    uint32_t count;
    int rc = recompute_policies(r, list, &count, e);
    cJSON *all = cJSON_AddArrayToObject(o, "policies");

    for (uint32_t k = 0; !rc && k < count; k++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", list[k].name);
        if (list[k].jax)
            cJSON_AddStringToObject(one, "jax", list[k].jax);
        if (list[k].megatron)
            cJSON_AddStringToObject(one, "megatron", list[k].megatron);
        cJSON_AddNumberToObject(one, "kept_bytes", list[k].kept);
        cJSON_AddNumberToObject(one, "added_ms", list[k].ms);
        cJSON_AddNumberToObject(one, "memory_bytes", list[k].peak);
        cJSON_AddItemToArray(all, one);
    }
    return rc;
}

int recompute_write_json(const struct plan_recompute *r, const struct recompute_choice *c,
                         double limit, struct str *out, struct err *e)
{
    struct recompute_row *rows = NULL;
    uint32_t count;
    int rc = list_rows(r, c, &rows, &count, e);

    if (rc)
        return rc;
    cJSON *o = cJSON_CreateObject(), *list, *front;
    cJSON_AddStringToObject(o, "schema", "automap.recompute/1");
    cJSON_AddBoolToObject(o, "fits", c->fits);
    if (isfinite(limit))
        cJSON_AddNumberToObject(o, "memory_limit_bytes", limit);
    cJSON_AddNumberToObject(o, "step_ms", r->free_ms + c->ms);
    cJSON_AddNumberToObject(o, "added_ms", c->ms);
    if (isfinite(c->bound_ms))
        cJSON_AddNumberToObject(o, "bound_ms", r->free_ms + c->bound_ms);
    cJSON_AddNumberToObject(o, "memory_bytes", c->peak);
    cJSON_AddNumberToObject(o, "kept_bytes", c->kept);
    if (c->host_bytes > 0) {
        cJSON_AddNumberToObject(o, "host_bytes", c->host_bytes);
        cJSON_AddNumberToObject(o, "host_ms", c->host_ms);
        cJSON_AddNumberToObject(o, "host_layers", c->host_layers);
    }
    cJSON_AddNumberToObject(o, "first_layers", c->layers);
    cJSON_AddNumberToObject(o, "layers", r->front.layers);
    cJSON_AddNumberToObject(o, "module_kept_bytes", r->front.module.kept);
    cJSON_AddNumberToObject(o, "module_added_ms", r->front.module.ms);
    list = cJSON_AddArrayToObject(o, "values");
    for (uint32_t k = 0; k < count; k++)
        cJSON_AddItemToArray(list, row_json(r, &rows[k]));
    front = cJSON_AddArrayToObject(o, "front");
    for (uint32_t k = 0; k < r->front.count; k++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "kept_bytes", r->front.points[k].kept);
        cJSON_AddNumberToObject(one, "added_ms", r->front.points[k].ms);
        cJSON_AddItemToArray(front, one);
    }
    rc = add_policies(r, o, e);
    free(rows);
    char *text = rc ? NULL : cJSON_Print(o);
    cJSON_Delete(o);
    if (text)
        str_format(out, "%s\n", text);
    cJSON_free(text);
    return rc ? rc : !text || out->failed ? err_no_memory(e, FOR) : 0;
}
