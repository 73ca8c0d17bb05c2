#include "engine/hybrid/stage_pieces.h"

#include "engine/cluster/mesh.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/stage_modules.h"
#include "engine/hybrid/stage_parts.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/extract.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

struct maker {
    struct stage_pieces *p;
    const struct stage_parts *parts;
    const struct cluster_mesh *mesh;
    const struct hlo_module *m;
    const struct problem *problem;
    const label *on; /* of the stage */
    uint8_t zero;
    uint8_t *is_read_apart; /* [params] by more than its own update: its state, or a step of it */
    uint8_t *is_held;       /* [params] something of it waits in pieces for the update */
};

/* The variable that an instruction of the update belongs to, element by element. */
static uint32_t update_of(const struct stage_parts *p, hlo_id id)
{
    return p->h->problem->training.update_of[id];
}

/* The first dim that no class splits and that the axes divide; UINT32_MAX: none. */
static uint32_t dim_of(const struct maker *k, hlo_value v, label over)
{
    const struct hlo_shape *s = hlo_value_shape(k->m, v);

    for (uint32_t d = 0; d < s->rank && over; d++) {
        class_id class = k->parts->classes->class_of[class_dim(k->parts->classes, v, d)];
        bool is_whole = class == CLASS_NONE || !k->on[class];
        if (is_whole && s->dims[d] > 0 && s->dims[d] % k->mesh->span[over].devices == 0)
            return d;
    }
    return UINT32_MAX;
}

/* Cuts a value of variable `param`, if it looks like it. */
static void cut(struct maker *k, hlo_value v, uint32_t param, uint8_t where)
{
    const struct hlo_param_role *r = &k->problem->roles.params[param];
    const struct hlo_shape *own = hlo_value_shape(k->m, r->value), *s = hlo_value_shape(k->m, v);
    label over = training_axes(&k->problem->training, param, k->on);
    uint32_t d = dim_of(k, r->value, over);

    if (d == UINT32_MAX || s->rank != own->rank ||
        memcmp(s->dims, own->dims, own->rank * sizeof *own->dims) || dim_of(k, v, over) != d)
        return;
    k->p->where[v] |= where;
    k->p->dim[v] = (uint8_t)d;
    k->p->over[v] = over;
    k->p->variable[v] = param;
}

static void cut_update(struct maker *k)
{
    const struct stage_parts *p = k->parts;
    const struct hlo_computation *c = &k->m->computations[k->m->entry];

    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        uint32_t param = update_of(p, id);
        if (param == HLO_NONE || p->is_part[id])
            continue;
        for (hlo_value v = k->m->leaf_base[id]; v < k->m->leaf_base[id + 1]; v++)
            cut(k, v, param, PIECE_INSIDE);
    }
}

/* Parameters, gradients and what the update makes of them. */
static void cut_params(struct maker *k)
{
    const struct hlo_roles *roles = &k->problem->roles;

    for (uint32_t n = 0; n < roles->param_count; n++) {
        const struct hlo_param_role *r = &roles->params[n];
        bool is_variable = r->role == HLO_ROLE_VARIABLE;
        uint32_t param = is_variable ? n : r->of;
        if (param == HLO_NONE || (!is_variable && r->role != HLO_ROLE_OPTIMIZER_STATE) ||
            r->updated == HLO_NONE)
            continue;
        hlo_value next = hlo_extract_source(k->m, r->updated);
        if (!(k->p->where[next] & PIECE_INSIDE))
            continue;
        if (!is_variable || k->zero >= 3) {
            cut(k, r->value, param, PIECE_INPUT);
            cut(k, next, param, PIECE_OUTPUT);
        }
        if (is_variable && k->zero >= 2 && r->gradient != HLO_NONE)
            cut(k, hlo_extract_source(k->m, r->gradient), n, PIECE_INPUT | PIECE_OUTPUT);
    }
}

static bool is_own(const struct maker *k, hlo_id user, hlo_value v)
{
    return update_of(k->parts, user) == k->p->variable[v] && !k->parts->is_part[user];
}

/* What others read as well stays whole: a gradient alone, of all else the whole variable's update
 * does. Variables themselves are gathered where they are read. */
static void keep_whole(struct maker *k)
{
    const struct hlo_module *m = k->m;
    const struct hlo_computation *c = &m->computations[m->entry];

    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        for (uint32_t n = 0; n < hlo_at(m, id)->operand_count && !hlo_is_flow(m, id); n++) {
            hlo_id o = hlo_operand(m, id, n);
            for (hlo_value w = m->leaf_base[o]; w < m->leaf_base[o + 1]; w++) {
                hlo_value v = hlo_extract_source(m, w);
                uint32_t param = k->p->variable[v];
                if (param == HLO_NONE || is_own(k, id, v) ||
                    v == k->problem->roles.params[param].value)
                    continue;
                if (k->p->where[v] == (PIECE_INPUT | PIECE_OUTPUT))
                    k->p->where[v] = 0; /* a gradient */
                else
                    k->is_read_apart[param] = 1;
            }
        }
    }
    for (hlo_value v = 0; v < m->value_count; v++)
        if (k->p->variable[v] != HLO_NONE && k->is_read_apart[k->p->variable[v]])
            k->p->where[v] = 0;
}

/* An update that reads nothing in pieces is made whole: every device has all of it, and what it
 * made in pieces would only be gathered again. */
static void keep_unheld_whole(struct maker *k)
{
    for (hlo_value v = 0; v < k->m->value_count; v++)
        if (k->p->where[v] & PIECE_INPUT)
            k->is_held[k->p->variable[v]] = 1;
    for (hlo_value v = 0; v < k->m->value_count; v++)
        if (k->p->variable[v] != HLO_NONE && !k->is_held[k->p->variable[v]])
            k->p->where[v] = 0;
}

int stage_pieces_new(const struct stage_parts *parts, const struct cluster_mesh *mesh,
                     uint32_t stage, struct stage_pieces *out, struct err *e)
{
    size_t values = parts->m->value_count;
    const struct problem *p = parts->h->problem;
    struct stage_pieces pieces = {.where = mem_try(values, 1),
                                  .dim = mem_try(values, 1),
                                  .over = mem_try(values, sizeof *pieces.over),
                                  .variable = mem_try(values, sizeof *pieces.variable)};
    struct maker k = {.p = &pieces,
                      .parts = parts,
                      .mesh = mesh,
                      .m = parts->m,
                      .problem = p,
                      .on = parts->h->stage[stage].on,
                      .zero = parts->h->zero,
                      .is_read_apart = mem_try(p->roles.param_count, 1),
                      .is_held = mem_try(p->roles.param_count, 1)};
    int rc = 0;

    if (!pieces.where || !pieces.dim || !pieces.over || !pieces.variable || !k.is_read_apart ||
        !k.is_held) {
        rc = err_no_memory(e, "for the modules of stages");
        goto out;
    }
    memset(pieces.variable, 0xff, values * sizeof *pieces.variable);
    if (k.zero) {
        cut_update(&k);
        cut_params(&k);
        keep_whole(&k);
        keep_unheld_whole(&k);
    }
out:
    free(k.is_read_apart);
    free(k.is_held);
    if (rc)
        stage_pieces_release(&pieces);
    *out = pieces;
    return rc;
}

void stage_pieces_release(struct stage_pieces *p)
{
    free(p->where);
    free(p->dim);
    free(p->over);
    free(p->variable);
    memset(p, 0, sizeof *p);
}

void stage_pieces_gathered(const struct stage_pieces *p, const struct stage_parts *parts,
                           const bool *is_kept, bool *is_gathered)
{
    const struct hlo_module *m = parts->m;
    const struct hlo_computation *c = &m->computations[m->entry];

    memset(is_gathered, 0, m->value_count * sizeof *is_gathered);
    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        for (uint32_t n = 0; is_kept[id] && n < hlo_at(m, id)->operand_count; n++) {
            hlo_id o = hlo_operand(m, id, n);
            for (hlo_value w = m->leaf_base[o]; w < m->leaf_base[o + 1]; w++) {
                hlo_value v = hlo_extract_source(m, w);
                uint32_t param = p->variable[v];
                is_gathered[v] |= p->where[v] & PIECE_INPUT && update_of(parts, id) != param &&
                                  v == parts->h->problem->roles.params[param].value;
            }
        }
    }
}
