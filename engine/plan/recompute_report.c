#include "engine/plan/recompute_report.h"

#include "engine/plan/plan.h"
#include "engine/plan/recompute_jax.h"
#include "engine/plan/recompute_rows.h"
#include "engine/recompute/primal.h"
#include "engine/recompute/recompute.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <cjson/cJSON.h>
#include <math.h>

static const char FOR[] = "for the report of what is computed again";

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
    const struct hlo_module *m = recompute_module(r);
    char a[UNITS_ROOM], b[UNITS_ROOM];

    str_format(out, "\n  %-12s %10s %10s  %-24s %s\n", "", "kept", "added", "value", "where");
    for (uint32_t k = 0; k < count && k < ROWS_SHOWN; k++) {
        const struct recompute_row *row = &rows[k];
        const struct primal *n = &r->graph.nodes[row->node];
        const struct hlo_meta *meta = hlo_meta(m, n->maker);
        struct str shape = {0};
        plan_write_shape(r->plan, n->value, &shape);
        str_format(out, "  %-12s %10s %10s  %-24.60s %.40s", recompute_row_word(row),
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

static void write_policies(const struct recompute_policy *list, uint32_t count, struct str *out)
{
    char a[UNITS_ROOM], b[UNITS_ROOM], d[UNITS_ROOM];

    str_format(out, "\n  policies      kept      added     memory\n");
    for (uint32_t k = 0; k < count; k++)
        str_format(out, "  %16s %10s %10s  %s%s%s\n", units_bytes(a, list[k].kept),
                   units_ms(b, list[k].ms), units_bytes(d, list[k].peak), list[k].name,
                   list[k].jax ? ": " : "", list[k].jax ? list[k].jax : "");
}

int recompute_write(const struct plan_recompute *r, const struct recompute_choice *c, double limit,
                    struct str *out, struct err *e)
{
    struct recompute_policy policies[RECOMPUTE_POLICIES_MOST];
    struct recompute_row *rows = NULL;
    uint32_t row_count, policy_count;
    int rc = recompute_rows(r, c, &rows, &row_count, e);

    if (rc)
        return rc;
    rc = recompute_policies(r, policies, &policy_count, e);
    if (rc)
        goto out;
    write_choice(r, c, limit, out);
    write_rows(r, rows, row_count, out);
    rc = write_front(r, out, e);
    if (rc)
        goto out;
    write_policies(policies, policy_count, out);
    recompute_write_jax(r, c, rows, row_count, policies, policy_count, out);
out:
    free(rows);
    return rc ? rc : out->failed ? err_no_memory(e, FOR) : 0;
}

/* ---- JSON ---- */

static cJSON *row_json(const struct plan_recompute *r, const struct recompute_row *row)
{
    const struct hlo_module *m = recompute_module(r);
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
    int rc = recompute_rows(r, c, &rows, &count, e);

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
