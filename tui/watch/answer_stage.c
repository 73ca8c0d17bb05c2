/* Answers about a pipeline: what a stage holds, why it begins and ends where it does. */
#include "engine/decide/names.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "tui/watch/answer.h"
#include "tui/watch/class_look.h"
#include "tui/watch/stage_shares.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

static const char *point_name(const struct watch *w, const struct pipeline *l, uint32_t point,
                              char out[static NAME_ROOM])
{
    char layer[64];
    hlo_id id = point < l->all.points ? l->all.instruction[point] : UINT32_MAX;

    pipeline_layer(l, point, layer, sizeof layer);
    snprintf(out, NAME_ROOM, "%s", layer[0] ? layer : "the start");
    if (id != UINT32_MAX)
        snprintf(out + strlen(out), NAME_ROOM - strlen(out), " (%.60s)",
                 tree_instruction_name(w->tree, id));
    return out;
}

/* One row: the plan with cut `cut` (a stage begins there) at another point. */
static void add_cut(struct answer *a, const struct watch *w, const struct pipeline *l,
                    const struct pipeline_plan *plan, uint32_t cut, uint32_t point,
                    const char *choice)
{
    struct pipe_plan other = plan->plan;
    struct pipeline_plan priced = {0};
    char name[NAME_ROOM], ms[UNITS_ROOM], change[UNITS_ROOM], bytes[UNITS_ROOM];
    double was = pipeline_step_ms(l, plan);

    if (point <= other.pivot[cut - 1] ||
        point >= (cut + 1 < other.stages ? other.pivot[cut + 1] : l->all.points))
        return;
    other.pivot[cut] = point;
    pipeline_price(l, &other, &priced);
    double is = pipeline_step_ms(l, &priced);
    answer_row(a, ANSWER_ROW,
               l->all.instruction[point] == UINT32_MAX ? HLO_NONE : l->all.instruction[point],
               choice, point_name(w, l, point, name), units_ms(ms, is),
               point == plan->plan.pivot[cut]
                   ? ""
                   : units_change(change, is - was, units_ms_decimals(was)),
               units_bytes(bytes, l->all.forward_bytes[point]),
               priced.fits ? "fits" : "does not fit", NULL);
    if (a->count)
        a->rows[a->count - 1].marked = point == plan->plan.pivot[cut];
}

static void add_cuts(struct answer *a, const struct watch *w, const struct pipeline *l,
                     const struct pipeline_plan *plan, uint32_t cut)
{
    uint32_t at = plan->plan.pivot[cut];
    char title[64];

    snprintf(title, sizeof title, "The cut between stage %u and %u", cut - 1, cut);
    answer_head(a, title, "moved by one operation, the rest as it is");
    answer_row(a, ANSWER_TITLES, HLO_NONE, "choice", "the stage begins with", ">simulated",
               ">change", ">crosses", "memory", NULL);
    add_cut(a, w, l, plan, cut, at, "as it is");
    add_cut(a, w, l, plan, cut, at - 1, "one earlier");
    add_cut(a, w, l, plan, cut, at + 1, "one later");
}

void answer_stage(struct answer *a, const struct watch *w, const struct pipeline *l,
                  const struct pipeline_plan *plan, uint32_t stage)
{
    struct pipe_stage s = pipe_stage_of(&l->all, &plan->plan, stage);
    char first[NAME_ROOM], last[NAME_ROOM], t[4][UNITS_ROOM];
    uint32_t devices = s.end_device - s.first_device;

    answer_say(a,
               "\1Stage %u\1 of %u runs from \1%s\1 to \1%s\1 on devices %u to %u: each of the %u "
               "computes its part of every micro-batch.",
               stage, plan->plan.stages, point_name(w, l, s.first_point, first),
               point_name(w, l, s.end_point - 1, last), s.first_device, s.end_device - 1, devices);
    answer_say(a, "Found by %s; the plan takes %s simulated. %s", plan->found_by,
               units_ms(t[0], pipeline_step_ms(l, plan)),
               plan->plan.stages == 1 ? "There is no cut to move." : "");
    char shared[600];
    if (*stage_shares_text(l, &plan->plan, stage, shared, sizeof shared))
        answer_say(a, "Of its all-reduce, %s.", shared);
    answer_head(a, "What it does", "one micro-batch, and once a step");
    answer_row(a, ANSWER_TITLES, HLO_NONE, ">forward", ">backward", ">all-reduce", ">update",
               ">in flight", ">memory", NULL);
    char flight[16];
    snprintf(flight, sizeof flight, "%u", s.in_flight);
    char memory[2 * UNITS_ROOM + 8];
    snprintf(memory, sizeof memory, "%s", units_bytes(t[0], s.memory_bytes));
    char forward[UNITS_ROOM];
    answer_row(a, ANSWER_ROW,
               s.first_point < l->all.points && l->all.instruction[s.first_point] != UINT32_MAX
                   ? l->all.instruction[s.first_point]
                   : HLO_NONE,
               units_ms(forward, s.forward_ms), units_ms(t[1], s.backward_ms),
               units_ms(t[2], s.all_reduce_ms + s.sync_ms), units_ms(t[3], s.update_ms), flight,
               memory, NULL);
    if (stage > 0)
        add_cuts(a, w, l, plan, stage);
    if (stage + 1 < plan->plan.stages)
        add_cuts(a, w, l, plan, stage + 1);
}

/* Positions in the forward order of the operations an instruction stands for, or, where it is not
 * of the forward pass, of those of its layer. False: there are none. */
static bool points_of(const struct pipeline *l, hlo_id id, bool by_layer, uint32_t *first,
                      uint32_t *last)
{
    const struct order *o = &l->order;
    const uint16_t *layer = l->problem->roles.layer;
    bool any = false;

    for (uint32_t n = 0; n < o->count; n++) {
        hlo_id of = o->steps.ops[o->forward[n]].id;
        if (by_layer ? !layer[id] || layer[of] != layer[id] : of != id)
            continue;
        *first = any ? *first : n;
        *last = n;
        any = true;
    }
    return any;
}

static uint32_t stage_of(const struct pipe_plan *p, uint32_t point)
{
    uint32_t stage = 0;

    while (stage + 1 < p->stages && p->pivot[stage + 1] <= point)
        stage++;
    return stage;
}

void answer_in_stage(struct answer *a, const struct watch *w, const struct pipeline *l,
                     const struct pipeline_plan *plan, hlo_id id)
{
    const char *name = tree_instruction_name(w->tree, id);
    uint32_t first = 0, last = 0;
    bool own = points_of(l, id, false, &first, &last);

    if (!own && !points_of(l, id, true, &first, &last)) {
        answer_say(
            a,
            "\1%s\1 is not an operation of the forward pass or of one of its layers: it runs "
            "in every stage that needs it.",
            name);
        return;
    }
    uint32_t from = stage_of(&plan->plan, first), to = stage_of(&plan->plan, last);
    if (from == to)
        answer_say(a, "\1%s\1 runs in \1stage %u\1%s.", name, from,
                   own ? ": it lies between that stage's cuts"
                       : ", with the forward operations of its layer");
    else
        answer_say(a, "\1%s\1 runs in \1stages %u to %u\1: %s.", name, from, to,
                   own ? "it is of a loop, trip by trip" : "a cut goes through its layer");
    answer_stage(a, w, l, plan, from);
}
