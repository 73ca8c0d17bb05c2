#include "engine/plan/recompute_jax.h"

#include "engine/plan/plan.h"
#include "engine/plan/recompute_rows.h"
#include "engine/recompute/primal.h"
#include "hlo/module/hlo.h"

#include <math.h>
#include <stdlib.h>

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

/* What a layer makes, where there are layers: a policy is theirs. */
static bool is_in_layers(const struct plan_recompute *r, const struct primal *n)
{
    bool any = r->graph.loop_trips > 1 || r->graph.layers > 1;

    return !any || n->trips > 1 || n->layer != PRIMAL_NO_LAYER;
}

/* Rows that a name can save: made in a layer by work or a kernel and kept in some layers; whatever
 * is on the host, which nothing but its name sends there. */
static bool is_named(const struct plan_recompute *r, const struct recompute_row *row)
{
    const struct primal *n = &r->graph.nodes[row->node];

    return row->host_bytes > 0 || (row->kept_bytes > 0 && is_in_layers(r, n) &&
                                   (n->rule == PRIMAL_WORK || n->rule == PRIMAL_KERNEL));
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

void recompute_write_jax(const struct plan_recompute *r, const struct recompute_choice *c,
                         const struct recompute_row *rows, uint32_t row_count,
                         const struct recompute_policy *policies, uint32_t policy_count,
                         struct str *out)
{
    const struct hlo_module *m = recompute_module(r);
    const struct recompute_policy *same = same_policy(r, c, policies, policy_count);
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
    for (uint32_t k = 0; k < row_count; k++) {
        const struct hlo_meta *meta = hlo_meta(m, r->graph.nodes[rows[k].node].maker);
        if (!is_named(r, &rows[k]))
            continue;
        str_format(out, "#   x = checkpoint_name(x, '%s')  ", rows[k].name);
        if (recompute_is_layer_input(r, rows[k].node))
            str_add(out, "first in the body: its input ");
        if (meta->source_line)
            str_format(out, "%.80s:%u ", meta->source_file, meta->source_line);
        str_format(out, "%.80s %.40s\n", rows[k].scope,
                   hlo_name(m, r->graph.nodes[rows[k].node].maker));
    }
    write_kinds(r, c, rows, row_count, out);
}
