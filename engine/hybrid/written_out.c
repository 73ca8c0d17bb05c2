#include "engine/hybrid/written_out.h"

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_parts.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static const char MEMORY_FOR[] = "to write loops out";

struct maker {
    const struct hybrid *from;
    struct written_out *to;
    struct err *e;
};

/* The instruction of the first program. */
static hlo_id image_of(const struct maker *k, hlo_id id)
{
    const struct hlo_module *m = k->to->problem.m;

    return m->source->origin[m->origin[id]];
}

static int refuse(const struct maker *k, const char *why)
{
    return err_set(k->e, ERR_INFEASIBLE,
                   "a loop is cut between stages, and written out the program is another one to "
                   "the planner (%s): modules of stages are made of a file that is written out",
                   why);
}

static int make_problem(struct maker *k, const bool *is_cut)
{
    const struct problem *p = k->from->problem;
    struct hlo_module *m;
    int rc = hlo_write_out(p->m, is_cut, &m, k->e);

    if (rc)
        return rc;
    rc = problem_new(m, NULL, &p->cluster, &p->options, &k->to->problem, k->e);
    if (rc)
        return rc;
    k->to->problem.stop = p->stop;
    const struct hlo_roles *a = &p->roles, *b = &k->to->problem.roles;
    bool same = a->param_count == b->param_count;
    for (uint32_t n = 0; n < a->param_count && same; n++)
        same = a->params[n].role == b->params[n].role;
    return same ? 0 : refuse(k, "parameters have other roles");
}

/* ---- stages ---- */

static int open_plan(struct maker *k)
{
    const struct hybrid *h = k->from;
    uint32_t cuts[HYBRID_STAGES_MOST], count = 0;

    for (uint32_t n = 1; n < h->stages; n++)
        cuts[count++] = h->sections.position[h->stage[n].section];
    int rc = hybrid_open_at(&k->to->problem, cuts, count, &k->to->own, k->e);
    if (rc)
        return rc;
    struct hybrid *to = &k->to->own;
    to->options = h->options;
    to->micro_batches = h->micro_batches;
    to->zero = h->zero;
    to->schedule = h->schedule;
    to->chunks = h->chunks;
    to->stages = h->stages;
    to->stage = mem_try(h->stages, sizeof *to->stage);
    if (!to->stage)
        return err_no_memory(k->e, MEMORY_FOR);
    uint32_t section = 0;
    for (uint32_t n = 0; n < h->stages; n++) {
        const struct hybrid_stage *s = &h->stage[n];
        to->stage[n] = (struct hybrid_stage){.point.recompute = s->point.recompute,
                                             .section = section,
                                             .device = s->device,
                                             .end_device = s->end_device,
                                             .axes = s->axes};
        memcpy(to->stage[n].size, s->size, sizeof s->size);
        while (section < to->sections.count &&
               (n + 1 == h->stages || to->sections.position[section] < cuts[n]))
            section++;
        to->stage[n].end_section = section;
    }
    return 0;
}

/* The labels of one stage. */
static int carry_labels(struct maker *k, uint32_t stage)
{
    const struct problem *a = k->from->problem, *b = &k->to->problem;
    const label *from = k->from->stage[stage].on;
    label *on = mem_try((size_t)b->classes.count + 1, sizeof *on);
    bool *is_set = mem_try((size_t)b->classes.count + 1, sizeof *is_set);
    bool same = true;

    k->to->own.stage[stage].on = on;
    for (hlo_value v = 0; on && is_set && v < b->m->value_count; v++) {
        hlo_value image =
            a->m->leaf_base[image_of(k, b->m->value_instruction[v])] + hlo_value_leaf(b->m, v);
        for (uint32_t d = 0; d < hlo_value_shape(b->m, v)->rank; d++) {
            class_id to = b->classes.class_of[class_dim(&b->classes, v, d)],
                     of = a->classes.class_of[class_dim(&a->classes, image, d)];
            if (to == CLASS_NONE || of == CLASS_NONE)
                continue;
            same &= !is_set[to] || on[to] == from[of];
            on[to] = from[of];
            is_set[to] = true;
        }
    }
    int rc = !on || !is_set ? err_no_memory(k->e, MEMORY_FOR)
             : same         ? 0
                            : refuse(k, "other dims belong together");
    free(is_set);
    return rc;
}

/* ---- the same steps ---- */

static uint32_t stage_of(const struct hybrid *h, uint32_t op)
{
    uint32_t n = 0;

    while (n + 1 < h->stages &&
           h->sections.position[h->stage[n].end_section] <= h->order.position[op])
        n++;
    return n;
}

static bool is_same_step(const struct maker *k, uint32_t a, uint32_t b)
{
    const struct hybrid *from = k->from, *to = &k->to->own;

    return stage_of(from, a) == stage_of(to, b) &&
           from->order.steps.ops[a].is_backward == to->order.steps.ops[b].is_backward &&
           from->sections.pass[a] == to->sections.pass[b];
}

/* Of equal instructions, which are trips of one loop, the first is the first in both. What is left
 * over nobody needs: slices that were written and never read. */
static int check_steps(struct maker *k)
{
    const struct unrolled *a = &k->from->order.steps, *b = &k->to->own.order.steps;
    uint32_t *last = mem_try(k->from->problem->m->count, sizeof *last),
             *next = mem_try((size_t)a->op_count + 1, sizeof *next);
    int rc = last && next ? 0 : err_no_memory(k->e, MEMORY_FOR);

    if (!rc)
        memset(last, 0xff, k->from->problem->m->count * sizeof *last);
    for (uint32_t n = a->op_count; n-- > 0 && !rc;) {
        next[n] = last[a->ops[n].id];
        last[a->ops[n].id] = n;
    }
    for (uint32_t n = 0; n < b->op_count && !rc; n++) {
        hlo_id id = image_of(k, b->ops[n].id);
        uint32_t op = last[id];
        if (op == UINT32_MAX || !is_same_step(k, op, n)) {
            rc = refuse(k, hlo_name(k->to->problem.m, b->ops[n].id));
            break;
        }
        last[id] = next[op];
    }
    if (!rc && a->batch_size != b->batch_size)
        rc = refuse(k, "it has another batch");
    free(last);
    free(next);
    return rc;
}

/* ---- the whole ---- */

static int write_out(struct maker *k, const bool *is_cut)
{
    int rc = make_problem(k, is_cut);

    rc = rc ? rc : open_plan(k);
    for (uint32_t n = 0; n < k->from->stages && !rc; n++)
        rc = carry_labels(k, n);
    rc = rc ? rc : check_steps(k);
    k->to->plan = &k->to->own;
    return rc;
}

int written_out_new(const struct hybrid *h, struct written_out *out, struct err *e)
{
    struct maker k = {.from = h, .to = out, .e = e};
    bool *is_cut = mem_try(h->problem->m->count, sizeof *is_cut);
    uint32_t count = 0;

    *out = (struct written_out){.plan = h};
    int rc = is_cut ? stage_parts_cut_loops(h, is_cut, &count, e) : err_no_memory(e, MEMORY_FOR);
    if (!rc && count)
        rc = write_out(&k, is_cut);
    free(is_cut);
    if (rc)
        written_out_release(out);
    return rc;
}

void written_out_release(struct written_out *w)
{
    if (w->own.problem)
        hybrid_release(&w->own);
    if (w->problem.m)
        problem_release(&w->problem);
    *w = (struct written_out){0};
}
