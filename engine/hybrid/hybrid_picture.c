#include "engine/hybrid/hybrid_picture.h"

#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/hybrid/by_value.h"
#include "engine/hybrid/hybrid_explain.h"
#include "engine/hybrid/hybrid_export.h"
#include "engine/hybrid/sections.h"
#include "engine/pipeline/simulation.h"
#include "engine/pipeline/unroll.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the picture of a plan";

/* ---- stages ---- */

/* The first and the last section that has a name. */
static void name_layers(const struct sections *s, struct hybrid_picture_stage *to)
{
    uint32_t i = to->section, j = to->end_section;

    while (i < j && !to->first_layer[0])
        sections_layer(s, i++, to->first_layer, sizeof to->first_layer);
    while (j > to->section && !to->last_layer[0])
        sections_layer(s, --j, to->last_layer, sizeof to->last_layer);
}

static void copy_row(const struct hlo_module *m, const struct by_value_row *row,
                     struct hybrid_picture_row *to)
{
    const struct hlo_meta *meta = hlo_meta(m, row->id);
    uint16_t opcode = hlo_at(m, row->id)->opcode;
    const char *file = meta->source_file ? meta->source_file : "", *slash = strrchr(file, '/');

    *to = (struct hybrid_picture_row){
        .row = *row, .operation = opcode < HLO_OP_UNKNOWN ? hlo_op_info[opcode].name : "operation"};
    if (file[0])
        snprintf(to->source, sizeof to->source, "%.60s:%u", slash ? slash + 1 : file,
                 meta->source_line);
}

/* What the stage keeps and computes again, and what it may. */
static int copy_kept(const struct hybrid *h, uint32_t n, struct hybrid_picture_stage *to,
                     struct err *e)
{
    const struct by_value *v = &h->stage[n].by_value;
    uint32_t rows = v->row_count + v->kept_count;

    to->kept = mem_try((size_t)rows + 1, sizeof *to->kept);
    to->corners = mem_try((size_t)v->corner_count + 1, sizeof *to->corners);
    if (!to->kept || !to->corners)
        return err_no_memory(e, MEMORY_FOR);
    for (uint32_t k = 0; k < rows; k++)
        copy_row(h->problem->m, &v->rows[k], &to->kept[k]);
    if (v->corner_count)
        memcpy(to->corners, v->corners, v->corner_count * sizeof *v->corners);
    to->kept_count = rows;
    to->corner_count = v->corner_count;
    return 0;
}

static void copy_stage(const struct hybrid *h, uint32_t n, struct hybrid_picture_stage *to)
{
    const struct hybrid_stage *s = &h->stage[n];
    bool by_value = hybrid_is_by_value(h);
    const struct hybrid_point *point = by_value ? &s->by_value.point : &s->point;
    /* running the forward pass again sends as much again; values do not say what they send */
    double again = (int)point->recompute - (int)s->point.recompute;

    *to = (struct hybrid_picture_stage){
        .group = n % (h->stages / h->chunks),
        .device = s->device,
        .end_device = s->end_device,
        .axes = s->axes,
        .size = {s->size[0], s->axes > 1 ? s->size[1] : 0},
        .dp = s->dp,
        .tp = (s->end_device - s->device) / s->dp,
        .section = s->section,
        .end_section = s->end_section,
        .recompute = point->recompute,
        .forward_ms = point->forward_ms,
        .backward_ms = point->both_ms - point->forward_ms,
        .forward_collective_ms = s->forward_collective_ms,
        .backward_collective_ms = s->backward_collective_ms + again * s->forward_collective_ms,
        .once_ms = point->reduce_ms,
        .in_flight = by_value ? s->by_value.in_flight : s->in_flight,
        .fixed_bytes = point->fixed_bytes,
        .stash_bytes = point->stash_bytes,
        .memory_bytes = by_value ? s->by_value.memory_bytes : s->memory_bytes,
        .added_ms = by_value ? s->by_value.added_ms : 0,
        .host_bytes = by_value ? s->by_value.host_bytes : 0,
        .limit_bytes = s->limit_bytes,
    };
    name_layers(&h->sections, to);
}

/* ---- roles ---- */

static size_t without_digits(const char *name, size_t end)
{
    while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    return end;
}

/* The number of a layer goes, "ffn 3" to "ffn"; what stands behind it stays: "self 0, 256" to
 * "self, 256". */
static void strip_layer(char *name)
{
    size_t all = strlen(name), end = without_digits(name, all), behind = all;

    if (end > 2 && end < all && name[end - 1] == ' ' && name[end - 2] == ',') {
        behind = end - 2;
        end = without_digits(name, behind);
    }
    if (end > 1 && end < behind && name[end - 1] == ' ')
        memmove(name + end - 1, name + behind, all - behind + 1);
}

char *hybrid_role_name(const struct class_names *names, class_id k, char out[static NAME_ROOM])
{
    class_name(names, k, out);
    strip_layer(out);
    return out;
}

static void touch_value(const struct classes *c, hlo_value v, uint8_t *touched)
{
    for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++)
        if (c->class_of[d] != CLASS_NONE)
            touched[c->class_of[d]] = 1;
}

/* Classes that operations of sections [i, j) or their values have. */
static void touch_classes(const struct hybrid *h, uint32_t i, uint32_t j, uint8_t *touched)
{
    const struct classes *c = &h->problem->classes;
    const struct sections *s = &h->sections;
    const struct unrolled *u = &h->order.steps;

    memset(touched, 0, c->count);
    for (uint32_t n = s->op_base[i]; n < s->op_base[j]; n++) {
        const struct unroll_op *op = &u->ops[s->op[n]];
        for (uint32_t f = c->factor_base[op->id]; f < c->factor_base[op->id + 1]; f++)
            if (c->factors[f].class != CLASS_NONE)
                touched[c->factors[f].class] = 1;
        for (uint32_t m = 0; m < op->operand_count; m++)
            touch_value(c, u->values[u->operands[op->operands + m]].value, touched);
        for (uint32_t v = op->values; v < op->values + op->value_count; v++)
            touch_value(c, u->values[v].value, touched);
    }
}

struct role_maker {
    const struct hybrid *h;
    struct hybrid_picture *p;
    struct class_names names;
    uint32_t *role_of; /* [classes] UINT32_MAX: of none */
    uint8_t *touched;  /* [classes] */
    size_t room;
};

/* The role of a class by its name; a new one where there is none. */
static int find_role(struct role_maker *k, class_id class, struct err *e)
{
    struct hybrid_picture *p = k->p;
    char name[NAME_ROOM];
    uint32_t r = 0;

    hybrid_role_name(&k->names, class, name);
    while (r < p->roles && strcmp(p->role[r].name, name))
        r++;
    k->role_of[class] = r;
    if (r < p->roles)
        return 0;
    if (!mem_grow(&p->role, &k->room, p->roles, 1))
        return err_no_memory(e, MEMORY_FOR);
    p->role[r] = (struct hybrid_picture_role){.in = mem_try(p->stages + 1, sizeof *p->role[r].in)};
    memcpy(p->role[r].name, name, sizeof name);
    if (!p->role[r].in)
        return err_no_memory(e, MEMORY_FOR);
    for (uint32_t n = 0; n < p->stages; n++)
        p->role[r].in[n] = (struct hybrid_picture_cell){.class = CLASS_NONE};
    p->roles++;
    return 0;
}

static void fill_cells(struct role_maker *k, uint32_t n)
{
    const struct hybrid *h = k->h;
    const struct hybrid_stage *s = &h->stage[n];

    touch_classes(h, s->section, s->end_section, k->touched);
    for (class_id c = 0; c < h->problem->classes.count; c++) {
        if (!k->touched[c] || k->role_of[c] == UINT32_MAX)
            continue;
        struct hybrid_picture_role *r = &k->p->role[k->role_of[c]];
        struct hybrid_picture_cell *cell = &r->in[n];
        uint32_t parts = 1;
        for (uint32_t x = 0; x < s->axes; x++)
            parts *= s->on[c] >> x & 1 ? s->size[x] : 1;
        cell->is_mixed |= cell->class != CLASS_NONE && cell->axes != s->on[c];
        r->is_split |= parts > 1;
        r->is_batch |= c == h->order.steps.batch;
        if (cell->class != CLASS_NONE && cell->parts >= parts)
            continue;
        cell->class = c;
        cell->axes = s->on[c];
        cell->parts = (uint16_t)parts;
    }
}

/* The batch, what is split, the rest; as they were named. */
static int rank_of(const struct hybrid_picture_role *r)
{
    return r->is_batch ? 0 : r->is_split ? 1 : 2;
}

static void rank_roles(struct hybrid_picture *p)
{
    for (uint32_t n = 1; n < p->roles; n++) { /* few, and nearly in order */
        struct hybrid_picture_role one = p->role[n];
        uint32_t at = n;
        for (; at && rank_of(&p->role[at - 1]) > rank_of(&one); at--)
            p->role[at] = p->role[at - 1];
        p->role[at] = one;
    }
}

static int fill_roles(const struct hybrid *h, struct hybrid_picture *p, struct err *e)
{
    enum { ROLES_MOST = 512 };
    const struct classes *c = &h->problem->classes;
    struct role_maker k = {.h = h, .p = p};
    int rc = class_names_new(c, &h->problem->roles, &k.names, e);

    if (rc)
        return rc;
    k.role_of = mem_try((size_t)c->count + 1, sizeof *k.role_of);
    k.touched = mem_try((size_t)c->count + 1, 1);
    if (!k.role_of || !k.touched) {
        rc = err_no_memory(e, MEMORY_FOR);
        goto out;
    }
    for (class_id n = 0; n < c->count; n++) {
        k.role_of[n] = UINT32_MAX;
        bool is_named = c->info[n].var_dims || c->info[n].input_dims;
        if (is_named && c->info[n].reason == CLASS_ALLOWED && p->roles < ROLES_MOST)
            rc = find_role(&k, n, e);
        if (rc)
            goto out;
    }
    for (uint32_t n = 0; n < p->stages; n++)
        fill_cells(&k, n);
    rank_roles(p);
out:
    class_names_release(&k.names);
    free(k.role_of);
    free(k.touched);
    return rc;
}

/* ---- the whole ---- */

static int copy_plan(const struct hybrid *h, struct hybrid_picture *p, struct err *e)
{
    enum { TASKS_SHOWN = 1 << 18 };
    struct err none;

    p->plain_ms = hybrid_step_ms(h);
    p->step_ms = hybrid_is_by_value(h) ? h->by_value_ms : p->plain_ms;
    p->by_value = h->by_value_ms > 0;
    p->stages = h->stages;
    p->groups = h->stages / h->chunks;
    p->slowest = hybrid_slowest(h);
    p->stage = mem_try(h->stages, sizeof *p->stage);
    p->cut = mem_try(h->stages, sizeof *p->cut);
    if (!p->stage || !p->cut)
        return err_no_memory(e, MEMORY_FOR);
    for (uint32_t n = 0; n < h->stages; n++) {
        copy_stage(h, n, &p->stage[n]);
        if (p->by_value && copy_kept(h, n, &p->stage[n], e))
            return e->code;
        if (n + 1 < h->stages)
            p->cut[n] = h->cut[n];
    }
    bool is_few = (uint64_t)2 * h->stages * (2 * (uint64_t)h->micro_batches + 1) <= TASKS_SHOWN;
    if (!is_few || hybrid_schedule(h, hybrid_is_by_value(h), &p->timeline, &none))
        p->timeline = (struct pipe_schedule){0};
    return fill_roles(h, p, e);
}

int hybrid_picture_new(const struct hybrid *h, struct hybrid_picture *out, struct err *e)
{
    int rc = 0;

    *out = (struct hybrid_picture){
        .found = h->found,
        .length_ms = h->length_ms,
        .bound_ms = h->bound_ms,
        .is_certified = h->is_certified,
        .is_said = h->is_said,
        .is_uniform = h->options.is_uniform,
        .batch = h->options.batch,
        .micro_batches = h->micro_batches,
        .chunks = h->chunks,
        .zero = h->zero,
        .zero_asked = h->options.zero,
        .schedule = hybrid_is_by_value(h) ? h->by_value_schedule : h->schedule,
        .sections = h->sections.count,
        .tries = h->tries,
    };
    memcpy(out->makespan_ms, h->makespan_ms, sizeof out->makespan_ms);
    memcpy(out->tried, h->tried, sizeof out->tried);
    if (h->found)
        rc = copy_plan(h, out, e);
    if (rc)
        hybrid_picture_release(out);
    return rc;
}

void hybrid_picture_release(struct hybrid_picture *p)
{
    for (uint32_t n = 0; n < p->roles; n++)
        free(p->role[n].in);
    free(p->role);
    for (uint32_t n = 0; p->stage && n < p->stages; n++) {
        free(p->stage[n].kept);
        free(p->stage[n].corners);
    }
    free(p->stage);
    free(p->cut);
    pipe_schedule_free(&p->timeline);
    memset(p, 0, sizeof *p);
}

/* ---- memory ---- */

static int compare_moments(const void *a, const void *b)
{
    const struct hybrid_moment *p = a, *q = b;

    if (p->at_ms != q->at_ms)
        return p->at_ms < q->at_ms ? -1 : 1;
    return (p->bytes > q->bytes) - (p->bytes < q->bytes); /* what is freed first */
}

uint32_t hybrid_picture_memory(const struct hybrid_picture *p, uint32_t group,
                               struct hybrid_moment *out)
{
    double fixed = 0, stash = 0;
    uint32_t count = 0;

    for (uint32_t n = group; n < p->stages; n += p->groups) {
        fixed += p->stage[n].fixed_bytes;
        stash = fmax(stash, p->stage[n].stash_bytes);
    }
    out[count++] = (struct hybrid_moment){0, fixed};
    for (uint32_t k = 0; k < p->timeline.count; k++) {
        const struct pipe_task *t = &p->timeline.task[k];
        if (t->node % 2 || t->kind == PIPE_REDUCE || t->node / 2 % p->groups != group)
            continue;
        bool forward = t->kind == PIPE_FORWARD;
        out[count++] =
            (struct hybrid_moment){forward ? t->start_ms : t->end_ms, forward ? stash : -stash};
    }
    qsort(out + 1, count - 1, sizeof *out, compare_moments);
    for (uint32_t k = 1; k < count; k++)
        out[k].bytes += out[k - 1].bytes;
    return count;
}

/* ---- beside others ---- */

static int find_rival(const struct problem *p, const struct hybrid_options *o,
                      enum hybrid_rival_kind kind, struct hybrid_rival *out, struct err *e)
{
    struct hybrid_options with = *o;
    struct hybrid *h = mem_try(1, sizeof *h);

    *out = (struct hybrid_rival){.step_ms = INFINITY};
    if (!h)
        return err_no_memory(e, MEMORY_FOR);
    with.no_bound = true;
    with.watch = NULL;
    with.is_uniform |= kind == HYBRID_RIVAL_UNIFORM;
    if (kind == HYBRID_RIVAL_REPLICAS)
        with.tp = 1;
    if (kind == HYBRID_RIVAL_SPLIT)
        with.stages = 1;
    int rc = stop_asked(o->stop) ? ERR_INFEASIBLE : hybrid_new(p, &with, h, e);
    if (rc)
        goto out;
    *out = (struct hybrid_rival){.found = true,
                                 .step_ms = hybrid_least_ms(h),
                                 .stages = h->stages,
                                 .micro_batches = h->micro_batches,
                                 .chunks = h->chunks,
                                 .dp = h->stage[0].dp};
    out->tp = (h->stage[0].end_device - h->stage[0].device) / h->stage[0].dp;
    for (uint32_t n = 0; n < h->stages; n++)
        out->memory_bytes =
            fmax(out->memory_bytes, hybrid_is_by_value(h) ? h->stage[n].by_value.memory_bytes
                                                          : h->stage[n].memory_bytes);
    hybrid_release(h);
out:
    free(h);
    return rc == ERR_INFEASIBLE ? 0 : rc;
}

int hybrid_rivals(const struct problem *p, const struct hybrid_options *o,
                  struct hybrid_rival out[static HYBRID_RIVALS], struct err *e)
{
    int rc = 0;

    for (int kind = 0; kind < HYBRID_RIVALS; kind++) {
        rc = find_rival(p, o, (enum hybrid_rival_kind)kind, &out[kind], e);
        if (rc)
            return rc;
    }
    return 0;
}
