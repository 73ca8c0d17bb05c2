/* Changes of a sharding, found by planning the program again in relaxed mode: values lie as its
 * author asked, what he left open is free, and one after the other what he asked is let go. */
#include "engine/cost/memory.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/doctor/causes.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/evidence.h"
#include "engine/doctor/region.h"
#include "engine/doctor/together.h"
#include "engine/doctor/walks.h"
#include "engine/doctor/wishes.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/meaning/frames.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WISHES_NEAR = 8, WISHES_FAR = OFFER_MOST, FREE_MOST = 216 };

/* What a plan sends, in all and near one collective. */
struct sent {
    double ms, bytes, step_ms;
    uint32_t count;
};

/* A plan with one wish let go. */
struct tried {
    uint32_t wish;
    struct relaxed_plan plan;
    bool is_tried, is_made;
};

struct replan {
    struct doctor *d;
    struct problem p;
    bool has_problem;
    struct relaxed *r;
    struct doctor_wish *wishes;
    uint32_t wish_count;
    struct relaxed_plan base;
    bool has_base;
    struct tried *alone;        /* [wish_count], made when first asked for */
    hlo_id *of_file;            /* [file->count] the instruction of p.m made of it; HLO_NONE */
    struct doctor_total dumped; /* what the dump's collectives take in a step */
    const atomic_bool *stop;
    struct offer *offers;
    uint32_t offer_count;
    size_t offer_room;
    bool *walked; /* [base.reshard_count] the way that begins there is offered in steps */
    uint32_t walk_count;
    double walked_ms; /* saved by ways in steps, whose values the plan does not gather whole */
    uint32_t plans, failed, most; /* solves that gave a plan, and that gave none: of each so many */
};

static int find_wishes(struct replan *x, struct err *e)
{
    const struct hlo_module *m = x->p.m;
    struct doctor_wish w;
    size_t room = 0;

    for (hlo_id id = 0; id < m->count; id++) {
        if (!doctor_wish_of(&x->p, id, &w) || relaxed_hold(x->r, id, &w.asked, 1, e))
            continue; /* what this mesh or this model cannot do is not held */
        if (!mem_grow(&x->wishes, &room, x->wish_count, 1))
            return err_no_memory(e, "for the shardings of the program");
        x->wishes[x->wish_count++] = w;
    }
    x->alone = mem_try((size_t)x->wish_count + 1, sizeof *x->alone);
    return x->alone ? 0 : err_no_memory(e, "for the shardings of the program");
}

/* ---- plans ---- */

/* With all wishes held but those of `freed`. */
static int solve_freed(struct replan *x, const uint32_t *freed, uint32_t count,
                       struct relaxed_plan *out, struct err *e)
{
    status any[FREE_MOST];
    int rc = relaxed_set_pins(x->r, NULL, 0, e);

    for (uint32_t k = 0; k < x->wish_count && !rc; k++) {
        const struct doctor_wish *w = &x->wishes[k];
        uint32_t any_count = 1;
        any[0] = w->asked;
        for (uint32_t n = 0; n < count; n++) {
            if (freed[n] == k)
                any_count = doctor_wish_as_fine(&x->p, w, any, FREE_MOST);
        }
        rc = relaxed_hold(x->r, w->id, any, any_count, e);
    }
    rc = rc ? rc : relaxed_solve(x->r, 0, out, e);
    x->plans += !rc;
    x->failed += rc != 0;
    return rc;
}

static bool may_plan(const struct replan *x)
{
    return x->plans < x->most && x->failed < x->most && !stop_asked(x->stop);
}

/* A plan that cannot be found is none, and is not looked for again; only memory is an error. */
static int try_one(struct replan *x, uint32_t wish, struct err *e)
{
    struct tried *t = &x->alone[wish];

    if (t->is_tried || !may_plan(x))
        return 0;
    t->is_tried = true;
    t->wish = wish;
    int rc = solve_freed(x, &wish, 1, &t->plan, e);
    t->is_made = !rc;
    return rc == ERR_MEMORY ? rc : 0;
}

static bool is_near(const struct hlo_module *m, const struct region *g,
                    const struct relaxed_reshard *r)
{
    return region_has(g, m->value_instruction[r->value]) ||
           (r->user != HLO_NONE && region_has(g, r->user));
}

static struct sent sent_by(const struct replan *x, const struct relaxed_plan *plan,
                           const struct region *g)
{
    struct sent s = {.step_ms = plan->cost.step_ms};

    for (uint32_t k = 0; k < plan->reshard_count; k++) {
        if (g && !is_near(x->p.m, g, &plan->reshards[k]))
            continue;
        s.ms += plan->reshards[k].ms;
        s.bytes += plan->reshards[k].bytes;
        s.count++;
    }
    return s;
}

static status status_in(const struct relaxed_plan *plan, const struct hlo_module *m, hlo_id id)
{
    const struct classes *c = &plan->problem->classes;
    hlo_value v = hlo_value_of(m, id, 0);

    if (hlo_at(m, id)->opcode == HLO_OP_PARAMETER)
        return plan->made[v];
    return plan->leaf[c->leaf_base[id + 1] - 1];
}

/* One of several says where it stands. */
static void write_place(const struct replan *x, hlo_id id, struct str *out)
{
    struct hlo_frame line;

    if (doctor_line_before(x->d, x->p.m->origin[id], &line))
        str_format(out, "at %.60s:%u ", hlo_file_name(line.file), line.line);
}

/* `several`: of several changes. */
static void write_change(const struct replan *x, const struct doctor_wish *w, bool several,
                         const struct relaxed_plan *plan, struct str *out)
{
    if (several && w->kind == WISH_CONSTRAINT)
        write_place(x, w->id, out);
    doctor_wish_write_change(&x->p, w, status_in(plan, x->p.m, w->id), out);
}

static int keep_cure(struct replan *x, struct doctor_finding *f, const struct relaxed_plan *plan,
                     const struct str *words, const struct doctor_wish *at, struct err *e)
{
    struct sent now = sent_by(x, &x->base, NULL), then = sent_by(x, plan, NULL);
    struct doctor_planned *out = &f->planned;

    *out = (struct doctor_planned){.now_ms = now.ms,
                                   .ms = then.ms,
                                   .bytes = then.bytes,
                                   .count = then.count,
                                   .now_count = now.count,
                                   .saves_ms = now.step_ms - then.step_ms};
    if (words->failed)
        return err_no_memory(e, "for a change");
    if (then.bytes > x->dumped.bytes)
        return 0; /* more than XLA has made of it as it is */
    out->change = arena_text(&x->d->arena, words->text, words->size);
    if (!out->change)
        return err_no_memory(e, "for a change");
    out->has_line = at && at->kind == WISH_CONSTRAINT &&
                    doctor_line_before(x->d, x->p.m->origin[at->id], &out->line);
    return 0;
}

static int note_offer(struct replan *x, const struct doctor_finding *f, const uint32_t *wishes,
                      uint32_t count, const struct relaxed_plan *plan, struct err *e)
{
    if (!f->planned.change)
        return 0;
    if (!mem_grow(&x->offers, &x->offer_room, x->offer_count, 1))
        return err_no_memory(e, "for changes");
    struct offer *o = &x->offers[x->offer_count];
    *o = (struct offer){.saves_ms = f->planned.saves_ms, .rank = x->offer_count++, .count = count};
    for (uint32_t k = 0; k < count; k++) {
        o->wish[k] = wishes[k];
        o->to[k] = status_in(plan, x->p.m, x->wishes[wishes[k]].id);
    }
    return 0;
}

/* ---- one finding ---- */

/* What is known of the changes around one collective. */
struct choice {
    const struct region *region;
    uint32_t near[WISHES_NEAR], count; /* wishes there, the nearest first */
    struct sent now;                   /* near it, as it is */
    const struct tried *best;          /* the best single change; NULL: none helps */
    double best_saves;
    uint32_t changed[WISHES_FAR], changed_count; /* what changes together */
    struct relaxed_plan all;
    bool has_all;
    double all_saves;
};

/* Less time and fewer bytes around the collective, and no more bytes anywhere. */
static double saves(const struct replan *x, const struct choice *c, const struct relaxed_plan *plan)
{
    struct sent then = sent_by(x, plan, c->region);

    if (then.ms >= c->now.ms || then.bytes >= c->now.bytes ||
        sent_by(x, plan, NULL).bytes > sent_by(x, &x->base, NULL).bytes)
        return 0;
    return x->base.cost.step_ms - plan->cost.step_ms;
}

static int find_single(struct replan *x, struct choice *c, struct err *e)
{
    int rc = 0;

    c->best_saves = 0.01 * c->now.ms;
    for (uint32_t k = 0; k < c->count && !rc; k++) {
        rc = try_one(x, c->near[k], e);
        const struct tried *t = &x->alone[c->near[k]];
        double gain = t->is_made ? saves(x, c, &t->plan) : 0;
        if (gain <= c->best_saves)
            continue;
        c->best_saves = gain;
        c->best = t;
    }
    return rc;
}

/* With `freed` let go together; kept where that is better than `least`. */
static int try_group(struct replan *x, struct choice *c, const uint32_t *freed, uint32_t count,
                     double least, bool *is_kept, struct err *e)
{
    struct relaxed_plan plan;

    *is_kept = false;
    if (!may_plan(x))
        return 0;
    int rc = solve_freed(x, freed, count, &plan, e);
    if (rc)
        return rc == ERR_MEMORY ? rc : 0;
    double gain = saves(x, c, &plan);
    *is_kept = gain > least;
    if (!*is_kept) {
        relaxed_plan_release(&plan);
        return 0;
    }
    if (c->has_all)
        relaxed_plan_release(&c->all);
    c->all = plan;
    c->has_all = true;
    c->all_saves = gain;
    c->changed_count = 0;
    for (uint32_t k = 0; k < count; k++) {
        const struct doctor_wish *w = &x->wishes[freed[k]];
        if (status_in(&plan, x->p.m, w->id) != w->asked)
            c->changed[c->changed_count++] = freed[k];
    }
    return 0;
}

/* All these wishes together, then as few of them as do nearly as well. */
static int find_group(struct replan *x, struct choice *c, const uint32_t *wishes, uint32_t count,
                      double least, struct err *e)
{
    uint32_t fewer[WISHES_FAR];
    bool is_kept = false;

    int rc = count > 1 ? try_group(x, c, wishes, count, least, &is_kept, e) : 0;
    for (uint32_t at = 0; is_kept && !rc && c->changed_count > 1 && at < c->changed_count;) {
        uint32_t left = 0;
        bool is_fewer;
        for (uint32_t k = 0; k < c->changed_count; k++) {
            if (k != at)
                fewer[left++] = c->changed[k];
        }
        rc = try_group(x, c, fewer, left, 0.95 * c->all_saves, &is_fewer, e);
        at += !is_fewer;
    }
    return rc;
}

/* What shard_map takes and gives cannot be split otherwise without another body. */
static bool is_of_map(const struct replan *x, hlo_id id)
{
    return evidence_is_primitive(hlo_meta(x->p.m, id)->op_name, "shard_map");
}

static uint32_t wishes_in(const struct replan *x, const struct region *g, uint32_t most,
                          uint32_t out[])
{
    uint32_t count = 0;

    for (uint32_t n = 0; n < g->count; n++) {
        for (uint32_t k = 0; k < x->wish_count && count < most; k++) {
            if (x->wishes[k].id == g->id[n] && !is_of_map(x, x->wishes[k].id))
                out[count++] = k;
        }
    }
    return count;
}

/* Where what is near leaves collectives, more of what is around may change, if that does clearly
 * better: a split that goes through several products is changed in all of them or not at all. */
static int find_far(struct replan *x, struct choice *c, struct err *e)
{
    const struct relaxed_plan *best = c->has_all ? &c->all : c->best ? &c->best->plan : NULL;
    double least = c->has_all ? c->all_saves : c->best ? c->best_saves : 0;
    uint32_t far[WISHES_FAR];
    struct region g;

    if (best && sent_by(x, best, NULL).count == 0)
        return 0;
    region_find(x->p.m, c->region->id[0], REGION_FAR, &g);
    uint32_t count = wishes_in(x, &g, WISHES_FAR, far);
    double more = fmax(1.1 * least, 0.01 * c->now.ms);
    return count > c->count ? find_group(x, c, far, count, more, e) : 0;
}

static int keep_single(struct replan *x, struct doctor_finding *f, const struct choice *c,
                       struct err *e)
{
    const struct doctor_wish *w = &x->wishes[c->best->wish];
    struct str words = {0};

    write_change(x, w, false, &c->best->plan, &words);
    int rc = keep_cure(x, f, &c->best->plan, &words, w, e);
    str_release(&words);
    return rc ? rc : note_offer(x, f, &c->best->wish, 1, &c->best->plan, e);
}

static int keep_group(struct replan *x, struct doctor_finding *f, const struct choice *c,
                      struct err *e)
{
    const struct doctor_wish *at = NULL;
    struct str words = {0};

    for (uint32_t k = 0; k < c->changed_count; k++) {
        const struct doctor_wish *w = &x->wishes[c->changed[k]];
        str_add(&words, words.size ? "; " : "");
        write_change(x, w, c->changed_count > 1, &c->all, &words);
        at = !at || w->kind == WISH_CONSTRAINT ? w : at;
    }
    int rc = words.size ? keep_cure(x, f, &c->all, &words, at, e) : 0;
    str_release(&words);
    return rc ? rc : note_offer(x, f, c->changed, c->changed_count, &c->all, e);
}

static bool is_walk_near(const struct replan *x, const struct choice *c, uint32_t k,
                         struct walk *out)
{
    return walk_at(&x->p, &x->base, k, out) && is_near(x->p.m, c->region, &x->base.reshards[k]);
}

/* Several collectives may be of one way: it saves once. */
static void note_walks(struct replan *x, const struct choice *c)
{
    struct walk w;

    for (uint32_t k = 0; k < x->base.reshard_count; k += w.count) {
        if (!is_walk_near(x, c, k, &w) || x->walked[k])
            continue;
        x->walked[k] = true;
        x->walk_count++;
        x->walked_ms += w.whole_ms - w.ms;
    }
}

static void write_walk(const struct replan *x, const struct relaxed_reshard *a, uint32_t count,
                       struct str *out)
{
    hlo_id id = x->p.m->value_instruction[a->value];

    if (out->size) {
        str_add(out, "; ");
        write_place(x, id, out);
    } else {
        str_add(out, "a constraint in between: ");
    }
    for (uint32_t n = 0; n + 1 < count; n++) {
        str_add(out, n ? ", then " : "");
        doctor_wish_write(&x->p, id, a[n].to, out);
    }
}

/* Where the way from split to split has several steps, the partitioner finds them when it is led: a
 * constraint between each two, and no sharding of the author's changes. Now is what the plan's
 * other collectives take and the whole values that are gathered without these constraints. */
static int keep_walk(struct replan *x, struct doctor_finding *f, const struct choice *c,
                     struct err *e)
{
    struct str words = {0};
    struct walk w;
    double saved_ms = 0;
    uint32_t steps = 0, gathers = 0;

    for (uint32_t k = 0; k < x->base.reshard_count; k += w.count) {
        if (!is_walk_near(x, c, k, &w))
            continue;
        write_walk(x, &x->base.reshards[k], w.count, &words);
        saved_ms += w.whole_ms - w.ms;
        steps += w.count;
        gathers += w.whole_count;
    }
    int rc = words.size ? keep_cure(x, f, &x->base, &words, NULL, e) : 0;
    if (f->planned.change) {
        f->planned.now_ms += saved_ms;
        f->planned.saves_ms += saved_ms;
        f->planned.now_count = f->planned.now_count - steps + gathers;
        note_walks(x, c);
    }
    str_release(&words);
    return rc;
}

/* The smallest change that helps: one sharding, if that does nearly what all around it would; a
 * way in steps; several shardings. */
static int keep_best(struct replan *x, struct doctor_finding *f, struct choice *c, struct err *e)
{
    c->now = sent_by(x, &x->base, c->region);
    int rc = find_single(x, c, e);
    if (rc)
        return rc;
    rc = find_group(x, c, c->near, c->count, c->best_saves, e);
    if (rc)
        goto out;
    rc = find_far(x, c, e);
    if (rc)
        goto out;
    if (c->best && (!c->has_all || c->best_saves >= 0.9 * c->all_saves))
        rc = keep_single(x, f, c, e);
    else if (f->cause == DOCTOR_REMAT || !c->has_all)
        rc = keep_walk(x, f, c, e);
    if (rc || f->planned.change)
        goto out;
    rc = c->has_all ? keep_group(x, f, c, e) : 0;
out:
    if (c->has_all)
        relaxed_plan_release(&c->all);
    return rc;
}

/* The instruction of the problem that a finding serves; HLO_NONE: not found. A result without
 * metadata belongs to the root. */
static hlo_id served(const struct replan *x, const struct evidence_index *lines,
                     const struct doctor_finding *f)
{
    struct hlo_frame own[HLO_FRAMES_MOST];
    const struct hlo_module *m = x->p.m;

    if (f->cause == DOCTOR_OUTPUT && !f->has_line) {
        uint32_t result = evidence_result(x->d->m, f->id);
        for (uint32_t k = 0; k < x->wish_count; k++) {
            if (x->wishes[k].kind == WISH_RESULT &&
                (!result || !x->wishes[k].result || x->wishes[k].result == result))
                return x->wishes[k].id;
        }
        return m->computations[m->entry].root;
    }
    uint32_t count = hlo_frames_of(x->d->frames, f->speaker, own);
    if (!count)
        return HLO_NONE;
    const struct hlo_shape *part = f->op == HLO_NONE ? NULL : hlo_shape(x->d->m, f->op);
    hlo_id id = evidence_find(lines, x->d->before_frames, hlo_meta(x->d->m, f->speaker)->op_name,
                              own, count, part);
    return id == HLO_NONE ? HLO_NONE : x->of_file[id];
}

static int plan_finding(struct replan *x, const struct evidence_index *lines,
                        struct doctor_finding *f, struct err *e)
{
    hlo_id at = f->verdict == DOCTOR_WANTED ? HLO_NONE : served(x, lines, f);
    struct region g;
    struct choice c = {.region = &g};

    if (at == HLO_NONE)
        return 0;
    enum region_reach last = f->cause == DOCTOR_PARTIAL ? REGION_NEAR : REGION_OVER_LOOPS;
    for (enum region_reach reach = REGION_NEAR; !c.count && reach <= last; reach++) {
        region_find(x->p.m, at, reach, &g);
        c.count = wishes_in(x, &g, WISHES_NEAR, c.near);
    }
    return keep_best(x, f, &c, e);
}

/* All that is offered, in one plan: what two changes save is not saved twice, and where one stands
 * in the other's way that counts too. */
static int plan_together(struct replan *x, struct err *e)
{
    struct together t = {.r = x->r,
                         .wishes = x->wishes,
                         .wish_count = x->wish_count,
                         .step_ms = x->base.cost.step_ms,
                         .solves = x->most,
                         .stop = x->stop};
    struct memory_cost before = {.peak = 0}, after = {.peak = 0};
    int rc = together_solve(&t, x->offers, x->offer_count, e);

    if (rc || (!t.has_plan && !x->walk_count))
        return rc;
    const struct relaxed_plan *plan = t.has_plan ? &t.plan : &x->base;
    struct sent now = sent_by(x, &x->base, NULL), then = sent_by(x, plan, NULL);
    x->d->together =
        (struct doctor_together){.changes = t.changes + x->walk_count,
                                 .offered = t.offered + x->walk_count,
                                 .untried = t.untried,
                                 .now_ms = now.ms + x->walked_ms,
                                 .ms = then.ms,
                                 .bytes = then.bytes,
                                 .count = then.count,
                                 .saves_ms = now.step_ms + x->walked_ms - then.step_ms};
    rc = relaxed_memory(&x->base, &before, e) || relaxed_memory(plan, &after, e) ? e->code : 0;
    x->d->together.memory_now = before.peak;
    x->d->together.memory = after.peak;
    if (t.has_plan)
        relaxed_plan_release(&t.plan);
    return rc;
}

/* ---- all of them ---- */

static int open_problem(struct replan *x, struct hlo_module *program, struct err *e)
{
    struct problem_options o = {.reduce_at_once = true, .exact_divisibility = false};
    struct relaxed_options how = {.folding = RELAXED_FOLD_OFF, .reduce_at_once = true};

    doctor_wishes_as_copies(program);
    doctor_mesh_of(program, x->d->devices, o.mesh, sizeof o.mesh);
    int rc = problem_new(program, NULL, &x->d->cluster, &o, &x->p, e);
    if (rc)
        return rc;
    x->has_problem = true;
    x->p.stop = x->stop;
    return relaxed_new(&x->p, &how, &x->r, e);
}

static int find_origins(struct replan *x, struct err *e)
{
    const struct hlo_module *m = x->p.m;

    x->of_file = mem_try((size_t)x->p.file->count + 1, sizeof *x->of_file);
    if (!x->of_file)
        return err_no_memory(e, "for the program");
    memset(x->of_file, 0xff, x->p.file->count * sizeof *x->of_file);
    for (hlo_id id = m->count; id-- > 0;)
        x->of_file[m->origin[id]] = id;
    return 0;
}

/* Constraints that leave out an axis which the value is split over before and behind them. */
static void find_left_out(struct replan *x)
{
    struct hlo_frame line;

    for (uint32_t k = 0; k < x->wish_count; k++) {
        struct doctor_wish *w = &x->wishes[k];
        if (w->kind != WISH_CONSTRAINT || !doctor_line_before(x->d, x->p.m->origin[w->id], &line))
            continue;
        for (uint32_t n = 0; n < x->d->count && !w->leaves_out; n++) {
            const struct doctor_finding *f = &x->d->findings[n];
            w->leaves_out = f->is_left_out && f->has_line && f->line.line == line.line &&
                            !strcmp(f->line.file, line.file);
        }
    }
}

static int plan_as_asked(struct replan *x, struct err *e)
{
    int rc = solve_freed(x, NULL, 0, &x->base, e);

    x->has_base = !rc;
    if (rc)
        return rc;
    x->walked = mem_try((size_t)x->base.reshard_count + 1, sizeof *x->walked);
    return x->walked ? 0 : err_no_memory(e, "for the plan");
}

static void release_replan(struct replan *x)
{
    for (uint32_t k = 0; x->alone && k < x->wish_count; k++) {
        if (x->alone[k].is_made)
            relaxed_plan_release(&x->alone[k].plan);
    }
    if (x->has_base)
        relaxed_plan_release(&x->base);
    relaxed_free(x->r);
    if (x->has_problem)
        problem_release(&x->p);
    free(x->wishes);
    free(x->alone);
    free(x->offers);
    free(x->walked);
    free(x->of_file);
    free(x);
}

/* Few for a long program. */
static uint32_t plans_for(uint32_t instructions)
{
    uint32_t most = 1000000 / (instructions + 1);

    return most < 16 ? 16 : most > DOCTOR_PLANS_MOST ? DOCTOR_PLANS_MOST : most;
}

int doctor_replan(struct doctor *d, struct hlo_module *program, const atomic_bool *stop,
                  struct err *e)
{
    struct replan *x = mem_try(1, sizeof *x);
    struct evidence_index lines = {0};
    struct doctor_total unused;
    int rc = 0;

    if (!x || !d->before || !d->count || program->count != d->before->count) {
        hlo_free(program);
        free(x);
        return x ? 0 : err_no_memory(e, "for planning again");
    }
    x->d = d;
    x->stop = stop;
    x->most = plans_for(program->count);
    doctor_sum(d, &(struct doctor_row){0, d->count}, &x->dumped, &unused);
    rc = open_problem(x, program, e);
    if (rc)
        goto out;
    rc = find_wishes(x, e);
    if (rc)
        goto out;
    find_left_out(x);
    rc = find_origins(x, e);
    if (rc)
        goto out;
    rc = plan_as_asked(x, e);
    if (rc)
        goto out;
    rc = evidence_index_new(d->before, d->before_frames, &lines, e);
    for (uint32_t k = 0; k < d->count && !rc && !stop_asked(stop); k++)
        rc = plan_finding(x, &lines, &d->findings[k], e);
    if (!rc && !stop_asked(stop))
        rc = plan_together(x, e);
out:
    evidence_index_release(&lines);
    release_replan(x);
    return rc == ERR_MEMORY ? rc : 0;
}
