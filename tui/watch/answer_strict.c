/* Answers about modules, collectives and memory under a strict plan. */
#include "engine/cluster/collectives.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/names.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/watch/answer.h"
#include "tui/watch/class_look.h"
#include "tui/watch/memory_look.h"
#include "tui/watch/part.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/question.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"
#include "tui/watch/why_find.h"

#include <stdio.h>
#include <string.h>

struct plan_collective *answer_collectives(struct answer *a, const struct watch *w, const label *on,
                                           size_t *count)
{
    struct plan plan = {.problem = w->problem, .on = (label *)(uintptr_t)on};
    struct plan_collective *items = NULL;
    struct err e;

    *count = 0;
    plan.cost = step_tables_cost(&w->problem->step_tables, on);
    if (plan_collectives(&plan, &items, count, &e)) {
        a->failed = true;
        *count = 0;
        return NULL;
    }
    return items;
}

/* ---- a part ---- */

struct move_sum {
    uint32_t values;                               /* dims of values in the part that it decides */
    uint32_t kinds[COLLECTIVE_COUNT], collectives; /* it makes there; all of them */
    double ms, bytes;
};

static void count_values(const struct watch *w, const struct part *part, struct move_sum *sum)
{
    const struct classes *c = &w->problem->classes;

    for (hlo_id id = 0; id < c->m->count; id++) {
        if (!part_holds(w, part, id))
            continue;
        for (dim_id d = c->dim_base[c->m->leaf_base[id]]; d < c->dim_base[c->m->leaf_base[id + 1]];
             d++) {
            int move = c->class_of[d] == CLASS_NONE ? MOVE_NONE : watch_move_of(w, c->class_of[d]);
            if (move != MOVE_NONE)
                sum[move].values++;
        }
    }
}

/* The last entry is of classes that no decision is about. */
static void count_collectives(struct answer *a, const struct watch *w, const label *on,
                              const struct part *part, struct move_sum *sum)
{
    size_t count;
    struct plan_collective *items = answer_collectives(a, w, on, &count);

    for (size_t n = 0; n < count; n++) {
        if (!part_holds_collective(w, part, &items[n]))
            continue;
        int move = items[n].cause == CLASS_NONE ? MOVE_NONE : watch_move_of(w, items[n].cause);
        struct move_sum *s = &sum[move == MOVE_NONE ? w->move_count : move];
        s->kinds[items[n].kind] += items[n].count;
        s->collectives += items[n].count;
        s->ms += items[n].ms;
        s->bytes += items[n].bytes;
    }
    free(items);
}

static void add_move(struct answer *a, const struct watch *w, const label *on, int n,
                     const struct move_sum *s)
{
    uint32_t split = plan_splits(w, on, n), of = w->moves->items[n].class_count;
    char decided[32], values[UNITS_ROOM], count[UNITS_ROOM], bytes[UNITS_ROOM], ms[UNITS_ROOM];

    if (split == 0 || split == of)
        snprintf(decided, sizeof decided, "%s", split ? "1 split" : "0 whole");
    else
        snprintf(decided, sizeof decided, "%u of %u split", split, of);
    answer_row(a, ANSWER_ROW, HLO_NONE, w->move[n].name, decided, units_count(values, s->values),
               s->collectives ? units_count(count, s->collectives) : "",
               s->collectives ? units_bytes(bytes, s->bytes) : "",
               s->collectives ? units_ms(ms, s->ms) : "", NULL);
}

/* How many decisions reach into a part, and what they make of it; a single one by its name. */
static void say_decisions(struct answer *a, const struct watch *w, const label *on,
                          const struct part *part, const struct move_sum *sum)
{
    uint32_t inside = 0, splits = 0;
    int only = 0;
    char name[300];

    for (int n = 0; n < w->move_count; n++) {
        only = sum[n].values ? n : only;
        inside += sum[n].values > 0;
        splits += sum[n].values && plan_splits(w, on, n);
    }
    part_name(w, part, name, sizeof name);
    if (!inside)
        answer_say(a, "\1%s\1: no decision reaches into it.", name);
    else if (inside == 1)
        answer_say(a, "\1%s\1: one decision reaches into it, \1%s\1, and it %s in this plan.", name,
                   w->move[only].name, splits ? "is split" : "is whole");
    else if (splits)
        answer_say(a, "\1%s\1: %u decisions reach into it, %u of them %s something.", name, inside,
                   splits, splits == 1 ? "splits" : "split");
    else
        answer_say(a, "\1%s\1: %u decisions reach into it, none of them splits anything.", name,
                   inside);
}

/* "23 all-reduces stand in it, 3.10 ms of the step's 208.1 ms." */
static void say_collectives(struct answer *a, const struct move_sum *sum, int count, double step_ms)
{
    struct move_sum all = {0};
    char kinds[ANSWER_KINDS_ROOM], ms[UNITS_ROOM], step[UNITS_ROOM];

    for (int n = 0; n < count; n++) {
        for (int k = 0; k < COLLECTIVE_COUNT; k++)
            all.kinds[k] += sum[n].kinds[k];
        all.collectives += sum[n].collectives;
        all.ms += sum[n].ms;
    }
    units_ms(step, step_ms);
    if (all.collectives)
        answer_say(a, "%s %s in it, %s of the step's %s.", answer_kinds(all.kinds, kinds),
                   all.collectives == 1 ? "stands" : "stand", units_ms(ms, all.ms), step);
    else
        answer_say(a, "No all-reduce stands in it; the step takes %s.", step);
}

void answer_part(struct answer *a, const struct watch *w, const label *on, double step_ms,
                 const struct part *part)
{
    struct move_sum *sum = mem_try((size_t)w->move_count + 1, sizeof *sum);
    uint32_t inside = 0;
    char note[96], rest[ANSWER_KINDS_ROOM];

    if (!sum) {
        a->failed = true;
        return;
    }
    count_values(w, part, sum);
    count_collectives(a, w, on, part, sum);
    for (int n = 0; n < w->move_count; n++)
        inside += sum[n].values > 0;
    say_decisions(a, w, on, part, sum);
    say_collectives(a, sum, w->move_count + 1, step_ms);
    snprintf(note, sizeof note, "%u · in order of decision", inside);
    answer_head(a, "What decides here", note);
    answer_row(a, ANSWER_TITLES, HLO_NONE, "group", "in this plan", ">dims of values",
               ">collectives", ">bytes", ">time", NULL);
    for (int n = 0; n < w->move_count; n++) {
        if (sum[n].values || sum[n].collectives)
            add_move(a, w, on, n, &sum[n]);
    }
    if (sum[w->move_count].collectives)
        answer_say(a, "%s more come from splits that this search does not decide.",
                   answer_kinds(sum[w->move_count].kinds, rest));
    free(sum);
}

/* ---- a collective ---- */

void answer_collective(struct answer *a, const struct watch *w, const label *on, hlo_id id)
{
    size_t count;
    struct plan_collective *items = answer_collectives(a, w, on, &count);
    uint32_t kinds[COLLECTIVE_COUNT] = {0}, stands = 0;
    double bytes = 0, ms = 0;
    char b[UNITS_ROOM], t[UNITS_ROOM], name[NAME_ROOM], all[ANSWER_KINDS_ROOM];

    for (size_t n = 0; n < count; n++) {
        if (items[n].instruction != id)
            continue;
        kinds[items[n].kind] += items[n].count;
        stands += items[n].count;
        bytes += items[n].bytes;
        ms += items[n].ms;
    }
    if (!stands) {
        answer_say(a, "No collective stands at \1%s\1 in this plan.", hlo_name(w->problem->m, id));
        free(items);
        return;
    }
    answer_say(a, "\1%s\1 at \1%s\1, %s, %s a step%s.", answer_kinds(kinds, all),
               hlo_name(w->problem->m, id), units_bytes(b, bytes), units_ms(t, ms),
               kinds[COLLECTIVE_ALL_REDUCE] == stands
                   ? ": each device sums only its part of what is added up there"
                   : "");
    answer_head(a, "Because of", "the split that leaves the sum, and its first variable");
    answer_row(a, ANSWER_TITLES, HLO_NONE, "group", "variable", ">collectives", ">bytes", ">time",
               NULL);
    for (size_t n = 0; n < count; n++) {
        const struct classes *c = &w->problem->classes;
        char reduces[UNITS_ROOM], variable[300] = "no variable";
        hlo_id at = HLO_NONE;
        if (items[n].instruction != id || items[n].cause == CLASS_NONE)
            continue;
        for (uint32_t k = 0; k < w->problem->roles.param_count && at == HLO_NONE; k++) {
            const struct hlo_param_role *r = &w->problem->roles.params[k];
            for (dim_id d = c->dim_base[r->value]; d < c->dim_base[r->value + 1]; d++) {
                if (c->class_of[d] != items[n].cause || at != HLO_NONE)
                    continue;
                at = c->m->value_instruction[r->value];
                snprintf(variable, sizeof variable, "%.200s dim %u",
                         r->module ? r->module : r->name, d - c->dim_base[r->value]);
            }
        }
        answer_row(a, ANSWER_ROW, at, class_name(&w->names, items[n].cause, name), variable,
                   units_count(reduces, items[n].count), units_bytes(b, items[n].bytes),
                   units_ms(t, items[n].ms), NULL);
    }
    free(items);
}

/* ---- memory ---- */

const char *answer_status(const struct watch *w, const label *on, class_id k)
{
    const struct classes *c = &w->problem->classes;

    if (k == CLASS_NONE)
        return "made of constants";
    if (c->info[k].reason != CLASS_ALLOWED)
        return "can never be split";
    if (on[k])
        return "split";
    if (why_excluded_by(w, on, k))
        return "whole: excluded";
    if (!label_is_splittable(&w->problem->labels, k))
        return "whole: no split fits";
    return watch_move_of(w, k) == MOVE_NONE ? "whole: nobody decides it" : "whole: decided 0";
}

/* "the peak's 6.8 GB" */
static char *held_of(const struct memory_holding *h, char *out, size_t room)
{
    char all[UNITS_ROOM], peak[UNITS_ROOM];

    if (h->total >= h->peak * (1 - 1e-9))
        snprintf(out, room, "the peak's %s", units_bytes(all, h->peak));
    else
        snprintf(out, room, "the %s that live there (%s at the peak)", units_bytes(all, h->total),
                 units_bytes(peak, h->peak));
    return out;
}

static void say_holding(struct answer *a, const struct watch *w, const struct memory_holding *h,
                        const struct question *q, uint32_t pieces)
{
    const struct memory_group *g = &h->group;
    const char *name = tree_instruction_name(w->tree, w->problem->m->value_instruction[q->value]);
    const char *beside = memory_storing_words[q->storing];
    char sum[UNITS_ROOM], each[UNITS_ROOM], count[UNITS_ROOM], of[2 * UNITS_ROOM + 48], has[64];

    held_of(h, of, sizeof of);
    units_bytes(sum, g->bytes);
    units_count(count, g->count);
    if (q->storing != STORED_AS_USED) /* a copy is cut as its use needs it */
        has[0] = 0;
    else if (pieces > 1)
        snprintf(has, sizeof has, ": each device has one of %u pieces", pieces);
    else
        snprintf(has, sizeof has, ": every device has all");
    if (!g->count)
        answer_say(a, "\1%s\1 holds nothing of %s in this plan.", name, of);
    else if (g->kind == MEMORY_PARAMETERS && !q->alone)
        answer_say(a, "\1Parameters and moments\1, %s values, hold %s of %s on each device.", count,
                   sum, of);
    else if (g->count > 1)
        answer_say(a, "\1%s values shaped like %s\1 hold %s of %s, %s each%s%s.", count, name, sum,
                   of, units_bytes(each, g->bytes / g->count), has,
                   !*has        ? ""
                   : pieces > 1 ? " of each"
                                : " of them");
    else
        answer_say(a, "%s%s%s\1%s\1 holds %s of %s%s%s.", *beside ? "The " : "", beside,
                   *beside ? " of " : "", name, sum, of, has, *has ? " of it" : "");
}

static void add_dims(struct answer *a, const struct watch *w, const label *on, hlo_value v)
{
    const struct problem *p = w->problem;
    const struct hlo_shape *shape = hlo_value_shape(p->m, v);
    char name[NAME_ROOM], size[32], dim[16], parts[16];

    answer_row(a, ANSWER_TITLES, HLO_NONE, "dim", ">size", "in this plan", "group", ">parts", NULL);
    for (uint32_t d = 0; d < shape->rank; d++) {
        class_id k = p->classes.class_of[class_dim(&p->classes, v, d)];
        snprintf(dim, sizeof dim, "dim %u", d);
        snprintf(size, sizeof size, "%lld", (long long)shape->dims[d]);
        snprintf(parts, sizeof parts, "%u", k != CLASS_NONE && on[k] ? p->labels.parts[on[k]] : 1);
        answer_row(a, ANSWER_ROW, p->m->value_instruction[v], dim, size, answer_status(w, on, k),
                   k == CLASS_NONE ? "" : class_name(&w->names, k, name), parts, NULL);
    }
}

void answer_memory(struct answer *a, const struct watch *w, const label *on,
                   const struct question *q)
{
    const struct problem *p = w->problem;
    hlo_id id = p->m->value_instruction[q->value];
    struct memory_holding h;
    char title[300];
    uint32_t pieces = 1;
    struct err e;

    if (memory_holding_of(w, on, q->position, q->value, q->alone, (enum memory_storing)q->storing,
                          &h, &e)) {
        a->failed = true;
        return;
    }
    for (uint32_t d = 0; d < hlo_value_shape(p->m, q->value)->rank; d++) {
        class_id k = p->classes.class_of[class_dim(&p->classes, q->value, d)];
        pieces *= k != CLASS_NONE && on[k] ? p->labels.parts[on[k]] : 1;
    }
    say_holding(a, w, &h, q, pieces);
    snprintf(title, sizeof title, h.group.count > 1 ? "Dims of the first, %.200s" : "Its dims",
             tree_instruction_name(w->tree, id));
    answer_head(a, title, "which decision makes each as large as it is");
    add_dims(a, w, on, q->value);
}
