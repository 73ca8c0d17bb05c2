#include "engine/hybrid/hybrid_explain.h"

#include "engine/hybrid/by_value_text.h"

#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/hybrid_others.h"
#include "engine/hybrid/hybrid_picture.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/unroll.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double stage_ms(const struct hybrid *h, uint32_t n)
{
    return h->micro_batches * h->stage[n].point.both_ms + h->stage[n].point.reduce_ms;
}

uint32_t hybrid_slowest(const struct hybrid *h)
{
    uint32_t most = 0;

    for (uint32_t n = 1; n < h->stages; n++)
        if (stage_ms(h, n) > stage_ms(h, most))
            most = n;
    return most;
}

/* ---- a cut moved ---- */

static bool fits(const struct hybrid *h)
{
    for (uint32_t n = 0; n < h->stages; n++)
        if (h->stage[n].memory_bytes > h->stage[n].limit_bytes)
            return false;
    return true;
}

/* Labels of a section that comes to a stage: those of a section of its kind there; whole ones where
 * there is none. */
static void take_section(const struct hybrid *h, struct hybrid_stage *s, uint32_t section)
{
    const struct sections *x = &h->sections;

    for (uint32_t m = s->section; m < s->end_section; m++) {
        if (m == section || x->kind[m] != x->kind[section])
            continue;
        for (uint32_t n = 0; n < x->local_base[m + 1] - x->local_base[m]; n++)
            s->on[x->local[x->local_base[section] + n]] = s->on[x->local[x->local_base[m] + n]];
        return;
    }
}

static bool keeps_pins(const struct hybrid *h, const struct hybrid_stage *s)
{
    return hybrid_pins_allow(&h->pins, s->section, s->end_section, s->device, s->end_device) &&
           hybrid_pins_allow_split(&h->pins, s->section, s->end_section, s->end_device - s->device,
                                   s->dp) &&
           hybrid_pins_allow_labels(&h->pins, s->section, s->end_section, s->on, s->size, s->axes);
}

int hybrid_moved_ms(struct hybrid *h, uint32_t n, int by, double *ms, struct err *e)
{
    struct hybrid_stage *a = &h->stage[n - 1], *b = &h->stage[n];
    uint32_t cut = b->section, to = (uint32_t)((int)cut + by);
    int rc;

    *ms = INFINITY;
    if (to <= a->section || to >= b->end_section)
        return 0;
    a->end_section = b->section = to;
    take_section(h, by < 0 ? b : a, by < 0 ? to : cut);
    rc = hybrid_price(h, e);
    if (!rc && fits(h) && keeps_pins(h, a) && keeps_pins(h, b))
        *ms = hybrid_step_ms(h);
    a->end_section = b->section = cut;
    return rc ? rc : hybrid_price(h, e);
}

/* What it splits nowhere else stays whole in the stage that a section has left. */
static void leave_section(const struct hybrid *h, struct hybrid_stage *s, uint32_t section)
{
    const struct sections *x = &h->sections;

    for (uint32_t n = x->local_base[section]; n < x->local_base[section + 1]; n++)
        s->on[x->local[n]] = 0;
}

int hybrid_move_cut(struct hybrid *h, uint32_t n, int by, bool *moved, struct err *e)
{
    struct hybrid_stage *a = &h->stage[n - 1], *b = &h->stage[n];
    uint32_t cut = b->section;
    double ms;
    int rc = hybrid_moved_ms(h, n, by, &ms, e);

    *moved = rc == 0 && ms < INFINITY;
    if (!*moved)
        return rc;
    a->end_section = b->section = (uint32_t)((int)cut + by);
    take_section(h, by < 0 ? b : a, by < 0 ? cut - 1 : cut);
    leave_section(h, by < 0 ? a : b, by < 0 ? cut - 1 : cut);
    return hybrid_price(h, e);
}

/* ---- words ---- */

struct split_class {
    char name[NAME_ROOM];
    uint32_t parts;
};

static int add_class(struct str *out, const struct split_class *all, uint32_t count,
                     const struct split_class *one)
{
    for (uint32_t n = 0; n < count; n++)
        if (all[n].parts == one->parts && !strcmp(all[n].name, one->name))
            return 0;
    str_format(out, "%s%s / %u", count ? ", " : "", one->name, one->parts);
    return 1;
}

/* The split classes of a stage as "heads / 8, batch / 2": name and parts, equal layers once. */
static int write_splits(const struct hybrid *h, uint32_t n, struct str *out, struct err *e)
{
    enum { SHOWN = 24 };
    const struct classes *c = &h->problem->classes;
    const struct hybrid_stage *s = &h->stage[n];
    struct split_class seen[SHOWN];
    struct class_names names;
    uint32_t count = 0;
    int rc = class_names_new(c, &h->problem->roles, &names, e);

    if (rc)
        return rc;
    for (class_id k = 0; k < c->count && count < SHOWN; k++) {
        struct split_class *one = &seen[count];
        if (!s->on[k] || (!c->info[k].var_dims && !c->info[k].input_dims))
            continue;
        hybrid_role_name(&names, k, one->name);
        one->parts = 1;
        for (uint32_t x = 0; x < s->axes; x++)
            one->parts *= s->on[k] >> x & 1 ? s->size[x] : 1;
        count += (uint32_t)add_class(out, seen, count, one);
    }
    if (!count)
        str_add(out, "nothing");
    class_names_release(&names);
    return 0;
}

static void write_limit(const struct hybrid *h, struct str *out)
{
    uint32_t n = hybrid_slowest(h);
    const struct hybrid_stage *s = &h->stage[n];
    double step = hybrid_step_ms(h), busy = h->micro_batches * s->point.both_ms;
    char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM], d[UNITS_ROOM];

    str_format(out,
               "The step takes %s. Stage %u limits it: %u micro-batch%s of %s %s %s, %.0f %% of "
               "the step; %s follow once (gradients, optimizer).",
               units_ms(a, step), n, h->micro_batches, h->micro_batches == 1 ? "" : "es",
               units_ms(b, s->point.both_ms), h->micro_batches == 1 ? "is" : "are",
               units_ms(c, busy), 100 * busy / step, units_ms(d, s->point.reduce_ms));
    if (h->is_certified)
        str_format(out, " %s strict plan between these cuts is below %s, %.1f %% less.",
                   h->is_said ? "Its file says that no" : "No", units_ms(a, h->bound_ms),
                   100 * fmax(0, 1 - h->bound_ms / step));
    str_add(out, "\n\n");
}

static int write_stage(const struct hybrid *h, uint32_t n, struct str *out, struct err *e)
{
    const struct hybrid_stage *s = &h->stage[n];
    char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];

    str_format(out, "Stage %u, devices %u to %u: splits ", n, s->device, s->end_device - 1);
    int rc = write_splits(h, n, out, e);
    str_format(out,
               ". %.0f %% as long as the slowest; %s of %s: %s always, the rest for %u "
               "micro-batch%s in flight%s.\n",
               100 * stage_ms(h, n) / stage_ms(h, hybrid_slowest(h)),
               units_bytes(a, s->memory_bytes),
               isfinite(s->limit_bytes) ? units_bytes(b, s->limit_bytes) : "any",
               units_bytes(c, s->point.fixed_bytes), s->in_flight, s->in_flight == 1 ? "" : "es",
               s->point.recompute ? ", forward passes run again" : "");
    return rc;
}

static bool uses_variable(const struct hybrid *h, const struct section_spread *x, uint32_t stage)
{
    const uint32_t *use = h->sections.spread_pool + x->sections;
    const struct hybrid_stage *s = &h->stage[stage];

    for (uint32_t u = 0; u < x->section_count; u++)
        if (use[u] >= s->section && use[u] < s->end_section)
            return true;
    return false;
}

/* "stage 4", "stages 2, 8": the others that use a variable. Returns how many. */
static uint32_t write_users(const struct hybrid *h, const struct section_spread *x, uint32_t own,
                            struct str *out)
{
    uint32_t count = 0, last = 0;
    struct str list = {0};

    for (uint32_t m = 0; m < h->stages; m++) {
        if (m == own || !uses_variable(h, x, m))
            continue;
        str_format(&list, "%s%u", count++ ? ", " : "", m);
        last = m;
    }
    if (count == 1)
        str_format(out, "stage %u", last);
    else if (count)
        str_format(out, "stages %s", list.text);
    str_release(&list);
    return count;
}

/* "It shares shared/embedding, 99 MB, with stages 2, 8: adding up its gradient takes 31.6 ms, once
 * a step.": variables that other stages use too. */
static int write_ties(const struct hybrid *h, uint32_t n, struct str *out, struct err *e)
{
    const struct sections *s = &h->sections;
    struct hybrid_instance in;
    char bytes[UNITS_ROOM], ms[UNITS_ROOM];
    int rc = hybrid_plan_instance(h, &in, e);

    for (uint32_t v = 0; v < s->spread_count && !rc; v++) {
        const struct section_spread *x = &s->spread[v];
        const struct unroll_value *value = &h->order.steps.values[x->value];
        struct str users = {0};
        if (x->use != SECTION_VARIABLE ||
            h->problem->roles.params[value->param].role != HLO_ROLE_VARIABLE ||
            !uses_variable(h, x, n))
            continue;
        const char *name = h->problem->roles.params[value->param].name;
        if (write_users(h, x, n, &users))
            str_format(out,
                       "It shares %s, %s, with %s: adding up its gradient takes %s, once a step.\n",
                       name ? name : "a variable", units_bytes(bytes, value->bytes), users.text,
                       units_ms(ms, stage_tables_tie_ms(&in, value->bytes)));
        str_release(&users);
    }
    if (!rc)
        hybrid_instance_release(&in);
    return rc;
}

/* "2 × 4 recomputed on 4x2": data × tensor, and the axes where there are two. */
static void write_mesh(struct str *out, uint32_t axes, const uint32_t *size, uint32_t dp,
                       uint32_t devices, bool recompute)
{
    str_format(out, "%u × %u%s", dp, devices / dp, recompute ? " recomputed" : "");
    if (axes > 1)
        str_format(out, " on %ux%u", size[0], size[1]);
}

/* Why this sub-mesh: the step with each other way to split the stage over its devices. */
static int write_others(struct hybrid *h, uint32_t n, struct str *out, struct err *e)
{
    enum { SHOWN = 4, OTHERS_STAGES_MOST = 32 }; /* tables and prices of each stage */
    struct hybrid_other other[HYBRID_OTHERS_MOST];
    const struct hybrid_stage *s = &h->stage[n];
    double step = hybrid_step_ms(h);
    uint32_t count = 0, d = s->end_device - s->device;
    char a[UNITS_ROOM];
    bool is_long = h->stages > OTHERS_STAGES_MOST || d == 1, looked;
    int rc = is_long ? 0 : hybrid_others(h, n, other, &count, &looked, e);

    if (rc || is_long)
        return rc;
    str_add(out, "  Its mesh, data × tensor, is ");
    write_mesh(out, s->axes, s->size, s->dp, d, s->point.recompute);
    str_add(out, ".");
    if (!count && looked)
        str_add(out, " Any other way to split it over these devices takes longer and more memory.");
    for (uint32_t m = 0; m < count && m < SHOWN; m++) {
        const struct hybrid_other *x = &other[m];
        str_add(out, m ? "; " : " Instead: ");
        write_mesh(out, x->axes, x->size, x->dp, d, x->recompute);
        str_add(out, ": ");
        if (x->step_ms < INFINITY)
            str_format(out, "%s (%+.1f %%)", units_ms(a, x->step_ms),
                       100 * (x->step_ms / step - 1));
        else
            str_format(out, "does not fit, %s", units_bytes(a, x->memory_bytes));
    }
    str_add(out, count ? ".\n" : "\n");
    return 0;
}

static void write_move(struct str *out, const char *where, double ms, double step)
{
    char a[UNITS_ROOM];

    if (ms < INFINITY)
        str_format(out, "; one section %s %s (%+.1f %%)", where, units_ms(a, ms),
                   100 * (ms / step - 1));
    else
        str_format(out, "; one section %s does not fit or leaves nothing", where);
}

static int write_cut(struct hybrid *h, uint32_t n, struct str *out, struct err *e)
{
    double before, behind, step = hybrid_step_ms(h);
    struct hybrid_cut c = h->cut[n - 1];
    char layer[160], a[UNITS_ROOM], b[UNITS_ROOM];
    int rc = hybrid_moved_ms(h, n, -1, &before, e);

    rc = rc ? rc : hybrid_moved_ms(h, n, 1, &behind, e);
    if (rc)
        return rc;
    sections_layer(&h->sections, h->stage[n].section, layer, sizeof layer);
    str_format(out, "Cut before %s: %s a micro-batch forward in %s", layer[0] ? layer : "the rest",
               units_bytes(a, c.forward_bytes), units_ms(b, c.node.forward_ms));
    if (c.once_bytes > 0)
        str_format(out, ", %s once a step", units_bytes(a, c.once_bytes));
    write_move(out, "earlier", before, step);
    write_move(out, "later", behind, step);
    str_add(out, ".\n");
    return 0;
}

static void write_heaviest(const struct hybrid *h, struct str *out)
{
    uint32_t most = 0;
    char a[UNITS_ROOM];

    for (uint32_t n = 1; n + 1 < h->stages; n++)
        if (h->cut[n].node.forward_ms + h->cut[n].node.backward_ms >
            h->cut[most].node.forward_ms + h->cut[most].node.backward_ms)
            most = n;
    if (h->stages > 1)
        str_format(out,
                   "\nThe heaviest transfer lies behind stage %u: %s both ways a micro-batch.\n",
                   most, units_ms(a, h->cut[most].node.forward_ms + h->cut[most].node.backward_ms));
}

int hybrid_explain(struct hybrid *h, struct str *out, struct err *e)
{
    int rc = 0;

    write_limit(h, out);
    for (uint32_t n = 0; n < h->stages && !rc && !stop_asked(h->options.stop); n++) {
        if (n)
            rc = write_cut(h, n, out, e);
        rc = rc ? rc : write_stage(h, n, out, e);
        rc = rc ? rc : write_ties(h, n, out, e);
        rc = rc ? rc : write_others(h, n, out, e);
    }
    write_heaviest(h, out);
    if (h->by_value_ms > 0)
        str_add(out, "\n");
    by_value_write(h, out);
    return rc;
}
