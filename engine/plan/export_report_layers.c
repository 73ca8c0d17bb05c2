/* engine/plan/export_report_layers.c - a plan by layer: how matrix products are split, compute time
 * and collectives. Layers that follow each other and do the same are one row. */
#include "engine/cluster/mesh.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/why.h"
#include "engine/plan/cost_parts.h"
#include "engine/plan/export_report_internal.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum { WAYS = 6, WAY_ROOM = 16 };

/* How the products of a layer are split along one axis, by the time they take. */
struct ways {
    struct way {
        char name[WAY_ROOM]; /* "batch", "contracting" */
        double ms;
    } items[WAYS];
    double ms; /* of all products */
};

struct layer {
    double compute_ms, ms, bytes;
    uint64_t collectives;
    struct ways axis[MESH_AXES_MOST];
    struct str split; /* the same in words */
};

static bool is_product(const struct hlo_module *m, hlo_id id)
{
    uint16_t opcode = hlo_at(m, id)->opcode;

    return opcode == HLO_OP_DOT || opcode == HLO_OP_CONVOLUTION || opcode == HLO_OP_RAGGED_DOT;
}

static label split_by(const struct plan *plan, hlo_id id, uint32_t n)
{
    if (plan->relaxed)
        return status_dim(plan->relaxed->choice[id], plan->problem->mesh.axes, n);
    return plan_factor_label(plan, id, n);
}

static void add_way(struct ways *w, const char *name, double ms)
{
    for (int k = 0; k < WAYS; k++) {
        if (w->items[k].name[0] && strcmp(w->items[k].name, name) != 0)
            continue;
        snprintf(w->items[k].name, sizeof w->items[k].name, "%s", name);
        w->items[k].ms += ms;
        return;
    }
}

static void count_product(const struct plan *plan, hlo_id id, double ms, struct layer *l)
{
    const struct classes *c = &plan->problem->classes;
    uint32_t first = c->factor_base[id], count = c->factor_base[id + 1] - first;
    char name[WAY_ROOM];

    for (uint32_t axis = 0; axis < plan->problem->mesh.axes; axis++)
        l->axis[axis].ms += ms;
    for (uint32_t n = 0; n < count; n++) {
        label over = split_by(plan, id, n);
        if (!over)
            continue;
        why_factor_name(c, id, first + n, name, sizeof name);
        for (uint32_t axis = 0; axis < plan->problem->mesh.axes; axis++) {
            if (over >> axis & 1)
                add_way(&l->axis[axis], name, ms);
        }
    }
}

static void count_all(const struct report *r, struct layer *layers)
{
    const struct problem *p = r->plan->problem;

    for (hlo_id id = 0; id < p->m->count; id++) {
        if (p->costs.times[id] <= 0)
            continue;
        struct layer *l = &layers[p->roles.layer[id]];
        double ms = plan_compute_ms(r->plan, id);
        l->compute_ms += ms;
        if (is_product(p->m, id))
            count_product(r->plan, id, ms, l);
    }
    for (size_t n = 0; n < r->count; n++) {
        struct layer *l = &layers[p->roles.layer[r->list[n].instruction]];
        l->collectives += r->list[n].count;
        l->bytes += r->list[n].bytes;
        l->ms += r->list[n].ms;
    }
}

static void write_axis(const struct ways *w, struct str *out)
{
    bool is_first = true;

    for (int k = 0; k < WAYS; k++) {
        double part = w->ms > 0 ? w->items[k].ms / w->ms : 0;
        if (part < 0.03)
            continue;
        str_format(out, "%s %s", is_first ? "" : ",", w->items[k].name);
        if (part < 0.99)
            str_format(out, " %.0f\u00a0%%", 100 * part);
        is_first = false;
    }
}

static bool same_ways(const struct ways *a, const struct ways *b)
{
    for (int k = 0; k < WAYS; k++) {
        if (strcmp(a->items[k].name, b->items[k].name) != 0 ||
            fabs(a->items[k].ms - b->items[k].ms) > 0.005 * a->ms)
            return false;
    }
    return true;
}

/* "x batch; y, z lhs 60 %, contracting 40 %": axes that do the same together. */
static void write_split(const struct problem *p, struct layer *l)
{
    label done = 0;

    for (uint32_t axis = 0; axis < p->mesh.axes; axis++) {
        if (done >> axis & 1 || !l->axis[axis].items[0].name[0])
            continue;
        str_add(&l->split, l->split.size ? "; " : "");
        for (uint32_t other = axis; other < p->mesh.axes; other++) {
            if (!same_ways(&l->axis[axis], &l->axis[other]))
                continue;
            str_format(&l->split, "%s%s", other > axis ? ", " : "", p->mesh.axis[other].name);
            done |= (label)(1u << other);
        }
        write_axis(&l->axis[axis], &l->split);
    }
    if (!l->split.size)
        str_add(&l->split, p->mesh.axes && l->axis[0].ms > 0 ? "whole" : "no products");
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 0.02 * fmax(fabs(a), fabs(b)) + 1e-9;
}

static bool alike_layers(const struct layer *a, const struct layer *b)
{
    return a->collectives == b->collectives && near(a->bytes, b->bytes) && near(a->ms, b->ms) &&
           near(a->compute_ms, b->compute_ms) && !strcmp(a->split.text, b->split.text);
}

static void write_row(const struct report *r, const struct layer *l, uint32_t from, uint32_t to)
{
    const struct hlo_roles *roles = &r->plan->problem->roles;
    char count[UNITS_ROOM], bytes[UNITS_ROOM];

    str_add(r->out, "| ");
    report_add_plain(r->out, from ? roles->layer_names[from] : "outside of layers");
    if (to > from) {
        str_add(r->out, " to ");
        report_add_plain(r->out, roles->layer_names[to]);
        str_format(r->out, ", each of %u", to - from + 1);
    }
    str_add(r->out, " | ");
    report_add_plain(r->out, l->split.text);
    str_format(r->out, " | %.3g | %s | %s | %.3g | ", l->compute_ms,
               units_count(count, (int64_t)l->collectives), units_bytes(bytes, l->bytes), l->ms);
    report_add_bar(r->out, (l->compute_ms + l->ms) * (to - from + 1) / r->plan->cost.step_ms);
    str_add(r->out, " |\n");
}

int report_write_layers(const struct report *r, struct err *e)
{
    const struct problem *p = r->plan->problem;
    uint32_t count = p->roles.layer_count;
    struct layer *layers = mem_try((size_t)count + 1, sizeof *layers);
    bool ok = layers != NULL;

    if (!ok)
        return err_no_memory(e, "for the report");
    count_all(r, layers);
    for (uint32_t k = 0; k < count; k++) {
        write_split(p, &layers[k]);
        ok &= !layers[k].split.failed;
    }
    str_add(
        r->out,
        "\n## The plan by layer\n\nMatrix products and convolutions are split along: **batch**, "
        "which both sides have; **lhs** and **rhs**, a dim of one side that the result keeps, "
        "as the rows and columns of a matrix; **contracting**, the sum, whose parts a "
        "collective then adds up. The bar is the layers' share of the step.\n\n"
        "| layer | products split along | compute ms | collectives | bytes | ms | "
        "|\n|---|---|---:|---:|---:|---:|---|\n");
    for (uint32_t k = 1, last; ok && k < count; k = last + 1) {
        for (last = k; last + 1 < count && alike_layers(&layers[k], &layers[last + 1]);)
            last++;
        write_row(r, &layers[k], k, last);
    }
    if (ok && count)
        write_row(r, &layers[0], 0, 0);
    for (uint32_t k = 0; k < count; k++)
        str_release(&layers[k].split);
    free(layers);
    return ok ? 0 : err_no_memory(e, "for the report");
}
