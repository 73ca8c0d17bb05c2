/* Where the time of a plan goes: the largest of what it sends, the idle part of a pipeline. */
#include "engine/compare/compare_why.h"

#include "engine/hybrid/hybrid.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct words {
    char *at;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    int n = vsnprintf(w->at, w->room, format, list);
    va_end(list);
    size_t size = n < 0 ? 0 : (size_t)n < w->room ? (size_t)n : w->room - 1;
    w->at += size;
    w->room -= size;
}

/* ---- strict plans: what is reduced ---- */

enum { CHAIN_MOST = 64 };

/* The variable whose gradient a value becomes, through its only uses: sums, other forms. */
static uint32_t variable_of(const struct problem *p, hlo_id id)
{
    for (int n = 0; n < CHAIN_MOST; n++) {
        for (hlo_value v = p->m->leaf_base[id]; v < p->m->leaf_base[id + 1]; v++) {
            for (uint32_t k = 0; k < p->roles.param_count; k++) {
                if (p->roles.params[k].role == HLO_ROLE_VARIABLE &&
                    p->roles.params[k].gradient == v)
                    return k;
            }
        }
        if (hlo_at(p->m, id)->user_count != 1)
            return UINT32_MAX;
        id = hlo_user(p->m, id, 0);
    }
    return UINT32_MAX;
}

/* What a collective belongs to: a variable's gradient, or the activations of a layer. */
struct share {
    uint32_t variable; /* index into roles.params, UINT32_MAX: none */
    uint16_t layer;
    uint8_t phase;
    double ms, bytes;
    uint32_t count;
};

static int compare_ms(const void *x, const void *y)
{
    const struct plan_collective *a = x, *b = y;

    return (a->ms < b->ms) - (a->ms > b->ms);
}

/* The kind of sum that takes longest, its parts added up. Variables are looked for among the
 * longest collectives only: the rest cannot be what takes longest. */
static struct share largest_share(const struct plan *plan, struct plan_collective *list,
                                  size_t count)
{
    enum { LOOKED_AT = 64 };
    const struct problem *p = plan->problem;
    struct share found[LOOKED_AT], best = {.ms = -1};
    size_t kinds = 0;

    if (count)
        qsort(list, count, sizeof *list, compare_ms);
    for (size_t n = 0; n < count && n < LOOKED_AT; n++) {
        hlo_id id = list[n].instruction;
        struct share s = {variable_of(p, id), p->roles.layer[id], p->roles.phase[id],
                          list[n].ms,         list[n].bytes,      list[n].count};
        size_t k = 0;
        while (k < kinds && (found[k].variable != s.variable ||
                             (s.variable == UINT32_MAX &&
                              (found[k].layer != s.layer || found[k].phase != s.phase))))
            k++;
        if (k == kinds)
            found[kinds++] = s;
        else {
            found[k].ms += s.ms;
            found[k].bytes += s.bytes;
            found[k].count += s.count;
        }
    }
    for (size_t k = 0; k < kinds; k++)
        best = found[k].ms > best.ms ? found[k] : best;
    return best;
}

static int explain_strict(const struct contender *c, struct words *w, struct err *e)
{
    const struct problem *p = c->problem;
    char a[UNITS_ROOM], b[UNITS_ROOM], d[UNITS_ROOM];
    struct plan_collective *list;
    double bytes = 0;
    size_t count;
    int rc = plan_collectives(&c->plan, &list, &count, e);

    if (rc)
        return rc;
    for (size_t n = 0; n < count; n++)
        bytes += list[n].bytes;
    say(w, "computes %s", units_ms(a, c->compute_ms));
    if (!count) {
        say(w, ", sends nothing");
    } else {
        struct share s = largest_share(&c->plan, list, count);
        say(w, ", all-reduces %s in %s; most for ", units_bytes(a, bytes),
            units_ms(b, c->waiting_ms));
        if (s.variable != UINT32_MAX)
            say(w, "the gradient of %.60s", p->roles.params[s.variable].name);
        else
            say(w, "the %s pass of %.60s", hlo_phase_names[s.phase],
                s.layer ? p->roles.layer_names[s.layer] : "what lies outside the layers");
        say(w, ", %s", units_ms(d, s.ms));
    }
    free(list);
    return 0;
}

/* ---- pipelines ---- */

/* All of a batch on one device, or a part of it on each: data parallelism. */
static void explain_one_stage(const struct contender *c, double reduce_ms, struct words *w)
{
    uint32_t used = c->pipeline_plan.plan.device[1], all = c->pipeline->all.devices;
    char a[UNITS_ROOM], b[UNITS_ROOM];

    say(w, "one stage");
    if (used < all)
        say(w, " on %u of the %u devices", used, all);
    if (used > 1)
        say(w, " is data parallelism with every gradient reduced once: computes %s, reduces %s",
            units_ms(a, c->compute_ms), units_ms(b, reduce_ms));
    else
        say(w, ": computes %s, reduces nothing", units_ms(a, c->compute_ms));
}

static void explain_pipeline(const struct contender *c, struct words *w)
{
    const struct pipeline *l = c->pipeline;
    const struct pipe_plan *p = &c->pipeline_plan.plan;
    char a[UNITS_ROOM], b[UNITS_ROOM];
    double reduce = 0, transfer = 0;

    if (c->kind == COMPARE_PLACE)
        say(w, "cut for a stream, a batch every %s%s; ", units_ms(a, c->stream_ms),
            c->proven ? ", proven of contiguous ones" : "");
    for (uint32_t s = 0; s < p->stages; s++) {
        struct pipe_stage stage = pipe_stage_of(&l->all, p, s);
        reduce = fmax(reduce, stage.reduce_ms - stage.update_ms);
        if (s + 1 < p->stages) {
            struct pipe_transfer t = pipe_transfer_of(&l->all, p, s);
            transfer = fmax(transfer, fmax(t.forward_ms, t.backward_ms));
        }
    }
    if (p->stages == 1) {
        explain_one_stage(c, reduce, w);
        return;
    }
    say(w, "the busiest stage computes %s; %s go to filling and draining, transfers",
        units_ms(a, c->compute_ms), units_ms(b, c->waiting_ms));
    say(w, " (up to %s each)", units_ms(a, transfer));
    say(w, " and all-reduces inside stages (up to %s)", units_ms(a, reduce));
}

static void explain_hybrid(const struct contender *c, struct words *w)
{
    const struct hybrid *h = c->hybrid;
    char a[UNITS_ROOM], b[UNITS_ROOM];
    uint32_t widest = 1;

    for (uint32_t n = 0; n < h->stages; n++) {
        uint32_t tp = (h->stage[n].end_device - h->stage[n].device) / h->stage[n].dp;
        widest = tp > widest ? tp : widest;
    }
    say(w, "the busiest stage works %s, its reductions in it; %s go to filling and draining, ",
        units_ms(a, c->compute_ms), units_ms(b, c->waiting_ms));
    say(w, "transfers and what follows once; a sample is split in up to %u", widest);
}

/* ---- against the first ---- */

static void set_against(const struct contender *first, const struct contender *c, struct words *w)
{
    char a[UNITS_ROOM], b[UNITS_ROOM], d[UNITS_ROOM];

    if (first->fits && !c->fits)
        say(w, "; needs %s of memory, more than is allowed", units_bytes(a, c->memory_bytes));
    if (first->fits && !c->fits && isfinite(c->least_bytes))
        say(w, ", in any number of micro-batches and pieces %s", units_bytes(a, c->least_bytes));
    if (c->step_ms <= first->step_ms)
        return;
    double compute = c->compute_ms - first->compute_ms, waiting = c->waiting_ms - first->waiting_ms;
    say(w, "; loses %s to %s: ", units_ms(a, c->step_ms - first->step_ms),
        compare_words[first->kind]);
    if (compute > 0 && waiting > 0)
        say(w, "%s of computing and %s of communication", units_ms(b, compute),
            units_ms(d, waiting));
    else if (waiting > 0)
        say(w, "%s more communication, %s less computing", units_ms(b, waiting),
            units_ms(d, -compute));
    else
        say(w, "%s more computing, %s less communication", units_ms(b, compute),
            units_ms(d, -waiting));
}

int compare_explain(struct comparison *c, struct err *e)
{
    for (int k = 0; k < COMPARE_KIND_COUNT; k++) {
        struct contender *o = &c->of[k];
        struct words w = {o->why, sizeof o->why};
        if (!o->exists)
            continue;
        int rc = 0;
        if (o->kind == COMPARE_HYBRID)
            explain_hybrid(o, &w);
        else if (o->kind == COMPARE_PIPELINE || o->kind == COMPARE_PLACE)
            explain_pipeline(o, &w);
        else
            rc = explain_strict(o, &w, e);
        if (rc)
            return rc;
        if (k)
            set_against(&c->of[0], o, &w);
    }
    return 0;
}
