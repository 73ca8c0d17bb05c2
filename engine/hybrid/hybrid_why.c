#include "engine/hybrid/hybrid_why.h"

#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/names.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/hybrid_picture.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdio.h>

enum flip_kind {
    FLIP_FITS,
    FLIP_UNFIT,     /* too much memory */
    FLIP_CLASH,     /* another class is split over the axis where both meet */
    FLIP_TOO_MANY,  /* more parts than its smallest dim has */
    FLIP_UNEVEN,    /* parts that do not divide it, where they must */
    FLIP_FORBIDDEN, /* a class that is never split */
};

/* A stage's class under another label, the rest as it is. */
struct flip {
    enum flip_kind kind;
    label to;
    uint32_t parts;
    int64_t least;       /* TOO_MANY: what that dim has, at the batch in force */
    double step_ms;      /* FITS, UNFIT */
    double memory_bytes; /* of the stage, the same */
    class_id with;       /* CLASH */
    hlo_id place;        /* CLASH: where they meet */
};

enum { FLIPS_MOST = 1 << STAGE_AXES_MOST };

static uint32_t parts_of(const struct hybrid_stage *s, label a)
{
    uint32_t parts = 1;

    for (uint32_t x = 0; x < s->axes; x++)
        parts *= a >> x & 1 ? s->size[x] : 1;
    return parts;
}

/* The class that is split over one of these axes already, where it meets this one. */
static bool find_clash(const struct hybrid *h, const struct hybrid_stage *s, class_id k, label a,
                       struct flip *out)
{
    const struct classes *c = &h->problem->classes;
    const struct class_info *info = &c->info[k];

    for (uint32_t m = info->meets; m < info->meets + info->meet_count; m++) {
        if (!(s->on[c->meets[m].other] & a))
            continue;
        out->kind = FLIP_CLASH;
        out->with = c->meets[m].other;
        out->place = c->meets[m].place;
        return true;
    }
    return false;
}

/* What labels a stage's devices allow. */
static int labels_of(const struct hybrid *h, const struct hybrid_stage *s, struct labels *out,
                     struct stage_shape *shape, struct err *e)
{
    const struct problem *p = h->problem;
    int64_t of = p->training.batch_divisor, file = h->order.steps.batch_size;
    struct label_cut cut = {p->training.batch, h->micro_batches, of * h->options.batch / file, of};
    struct hybrid_instance in;
    int rc = hybrid_plan_instance(h, &in, e);

    if (rc)
        return rc;
    rc = stage_shape_new(&p->cluster, &in, hybrid_slot_of(&in, s->device, s->end_device),
                         s->size[0], s->axes > 1 ? s->size[1] : 0, shape, e);
    hybrid_instance_release(&in);
    return rc ? rc
              : labels_new(&p->classes, &shape->mesh, p->options.exact_divisibility, &cut, out, e);
}

static int price_flip(struct hybrid *h, struct hybrid_stage *s, class_id k, struct flip *out,
                      struct err *e)
{
    label was = s->on[k];

    s->on[k] = out->to;
    int rc = hybrid_price(h, e);
    out->step_ms = hybrid_step_ms(h);
    out->memory_bytes = s->memory_bytes;
    out->kind = s->memory_bytes > s->limit_bytes ? FLIP_UNFIT : FLIP_FITS;
    s->on[k] = was;
    return rc;
}

/* All labels but the one it has, whole first. */
static int find_flips(struct hybrid *h, uint32_t stage, class_id k,
                      struct flip out[static FLIPS_MOST], uint32_t *count, struct err *e)
{
    const struct class_info *info = &h->problem->classes.info[k];
    struct hybrid_stage *s = &h->stage[stage];
    struct stage_shape *shape = mem_try(1, sizeof *shape);
    struct labels labels;
    int rc = shape ? labels_of(h, s, &labels, shape, e) : err_no_memory(e, "to explain a class");

    *count = 0;
    if (rc)
        goto out;
    for (uint32_t a = 0; a < 1u << s->axes && !stop_asked(h->options.stop); a++) {
        struct flip *f = &out[*count];
        if (a == s->on[k])
            continue;
        *f = (struct flip){.to = (label)a,
                           .parts = parts_of(s, (label)a),
                           .least = label_size(&labels, k, info->least)};
        ++*count;
        if (a && info->reason)
            f->kind = FLIP_FORBIDDEN;
        else if (f->parts > f->least)
            f->kind = FLIP_TOO_MANY;
        else if (!label_is_admissible(&labels, k, (label)a))
            f->kind = FLIP_UNEVEN;
        else if (!find_clash(h, s, k, (label)a, f))
            rc = price_flip(h, s, k, f, e);
        if (rc)
            break;
    }
    labels_release(&labels);
    rc = rc ? rc : hybrid_price(h, e);
out:
    free(shape);
    return rc;
}

/* ---- words ---- */

/* "whole", "in 4 over the axis of 4", "in 8 over both axes". */
static void label_text(const struct hybrid_stage *s, label a, char *out, size_t room)
{
    if (!a)
        snprintf(out, room, "whole");
    else if (s->axes == 1)
        snprintf(out, room, "in %u", parts_of(s, a));
    else if (a == (1 << s->axes) - 1)
        snprintf(out, room, "in %u over both axes", parts_of(s, a));
    else
        snprintf(out, room, "in %u over the %s axis", parts_of(s, a), a == 1 ? "first" : "second");
}

static void write_flip(const struct hybrid *h, const struct hybrid_stage *s, class_id k,
                       const struct flip *f, const struct class_names *names, struct str *out)
{
    const struct classes *c = &h->problem->classes;
    double step = hybrid_step_ms(h);
    char to[48], a[UNITS_ROOM], b[UNITS_ROOM], other[NAME_ROOM];

    label_text(s, f->to, to, sizeof to);
    str_format(out, "  %-28s ", to);
    switch (f->kind) {
    case FLIP_FITS:
        str_format(out, "%12s  %s ms if the rest stays\n", units_ms(a, f->step_ms),
                   units_change(b, f->step_ms - step, 3));
        return;
    case FLIP_UNFIT:
        str_format(out, "does not fit: %s of %s\n", units_bytes(a, f->memory_bytes),
                   units_bytes(b, s->limit_bytes));
        return;
    case FLIP_CLASH:
        hybrid_role_name(names, f->with, other);
        str_format(out, "excluded: %s is split so here, and they meet at %.100s\n", other,
                   hlo_name(c->m, f->place));
        return;
    case FLIP_TOO_MANY:
        str_format(out, "not possible: its smallest dim has %lld\n", (long long)f->least);
        return;
    case FLIP_UNEVEN:
        str_add(out, "not possible: it does not divide evenly\n");
        return;
    default:
        str_format(out, "not possible: it is never split, because of %.100s\n",
                   hlo_name(c->m, c->info[k].place));
    }
}

int hybrid_explain_class(struct hybrid *h, class_id k, const char *name, struct str *out,
                         struct err *e)
{
    const struct classes *c = &h->problem->classes;
    struct flip flip[FLIPS_MOST];
    struct class_names names;
    uint32_t count, stages = 0;
    char text[48], first[160], last[160];
    int rc = class_names_new(c, &h->problem->roles, &names, e);

    if (rc)
        return rc;
    str_format(out, "%.200s: its class has %u dims, %u of variables, %u of inputs.\n", name,
               c->info[k].dim_count, c->info[k].var_dims, c->info[k].input_dims);
    for (uint32_t n = 0; n < h->stages && !stop_asked(h->options.stop); n++) {
        const struct hybrid_stage *s = &h->stage[n];
        if (!sections_have(&h->sections, s->section, s->end_section, k))
            continue;
        rc = find_flips(h, n, k, flip, &count, e);
        if (rc)
            goto out;
        stages++;
        label_text(s, s->on[k], text, sizeof text);
        sections_layer(&h->sections, s->section, first, sizeof first);
        sections_layer(&h->sections, s->end_section - 1, last, sizeof last);
        str_format(out, "\nStage %u (%.60s .. %.60s), %u device%s as %u", n,
                   first[0] ? first : "in", last[0] ? last : "out", s->end_device - s->device,
                   s->end_device - s->device == 1 ? "" : "s", s->size[0]);
        if (s->axes > 1)
            str_format(out, "x%u", s->size[1]);
        str_format(out, ": %s. Otherwise:\n", text);
        for (uint32_t m = 0; m < count; m++)
            write_flip(h, s, k, &flip[m], &names, out);
    }
    if (!stages && c->info[k].reason)
        str_format(out, "No stage can split it, because of %.100s.\n",
                   hlo_name(c->m, c->info[k].place));
out:
    class_names_release(&names);
    return rc;
}
