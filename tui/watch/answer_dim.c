/* What stands below a chain of ties: the other way round, what the split makes, the same question
 * of the other plans. */
#include "engine/cluster/collectives.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/names.h"
#include "engine/live/snapshot.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"
#include "tui/watch/answer.h"
#include "tui/watch/class_look.h"
#include "tui/watch/other_way.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"
#include "tui/watch/why_find.h"
#include "tui/watch/why_of.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the other way ---- */

/* All are of one group, which the answer has named. */
static bool is_of_one(const struct other_ways *o)
{
    for (int n = 1; n < o->count; n++) {
        if (strcmp(o->rows[n].name, o->rows[0].name) != 0)
            return false;
    }
    return true;
}

static void add_way(struct answer *a, const struct watch *w, const struct other_ways *o,
                    const struct other_way *row)
{
    bool named = !is_of_one(o);
    char choice[NAME_ROOM + 64], step[UNITS_ROOM] = "..", change[UNITS_ROOM] = "",
                                 memory[UNITS_ROOM] = "", reduces[UNITS_ROOM] = "", note[64] = "";
    bool priced = row->known && !row->impossible;

    snprintf(choice, sizeof choice, "%s%s%s, rest %s", named ? row->name : "", named ? " " : "",
             o->split ? "split" : "whole", row->anew ? "anew" : "as it is");
    if (priced) {
        units_plain_ms(step, row->step_ms);
        units_change(change, row->step_ms - o->step_ms, units_ms_decimals(o->step_ms));
        units_count(reduces, row->reduces);
    } else if (row->known) {
        snprintf(step, sizeof step, "-");
        snprintf(note, sizeof note, "%s",
                 row->slow     ? "not worked out"
                 : row->pinned ? "not under the pins"
                               : "can not be");
    }
    if (priced && row->memory > 0)
        units_bytes(memory, row->memory);
    if (priced && row->anew)
        snprintf(note, sizeof note, row->proven ? "proven over %s" : "best of exact",
                 watch_decides[w->shot->options.game.kind]);
    else if (priced && row->in_way)
        snprintf(note, sizeof note, "%u other%s whole then", row->in_way,
                 row->in_way == 1 ? "" : "s");
    answer_row(a, ANSWER_ROW, HLO_NONE, choice, step, change, memory, reduces, note, NULL);
}

void answer_other_way(struct answer *a, const struct watch *w, const struct other_ways *o)
{
    char step[UNITS_ROOM], memory[UNITS_ROOM], reduces[UNITS_ROOM];

    if (!o->count)
        return;
    answer_head(a, "The other way", "step ms · memory of a device · all-reduces");
    answer_row(a, ANSWER_TITLES, HLO_NONE, "choice", ">step", ">change", ">memory", ">reduces", "",
               NULL);
    answer_row(a, ANSWER_ROW, HLO_NONE, "as it is", units_plain_ms(step, o->step_ms), "",
               units_bytes(memory, o->memory), units_count(reduces, o->reduces), "", NULL);
    for (int n = 0; n < o->count; n++)
        add_way(a, w, o, &o->rows[n]);
}

/* ---- what it makes ---- */

struct made {
    hlo_id first; /* the instruction that takes longest */
    uint8_t kind;
    char source[64];
    uint32_t count, at; /* collectives, instructions */
    double bytes, ms, first_ms;
};

/* One decision splits both. */
static bool is_of(const struct watch *w, const label *on, class_id cause, class_id k)
{
    uint32_t axes = w->moves->axes;
    const uint32_t *of = w->moves->of;

    if (cause == CLASS_NONE || cause == k)
        return cause == k;
    for (uint32_t x = 0; x < axes; x++) {
        uint32_t move = of[(size_t)k * axes + x];
        if (move != UINT32_MAX && of[(size_t)cause * axes + x] == move &&
            (on[k] & on[cause]) >> x & 1)
            return true;
    }
    return false;
}

/* Those of one source line and kind together. Returns how many; *made is the caller's. */
static size_t group_made(const struct watch *w, const label *on,
                         const struct plan_collective *items, size_t count, class_id k,
                         struct made **made)
{
    struct made *list = NULL;
    size_t held = 0, room = 0;
    char source[64];

    for (size_t n = 0; n < count; n++) {
        const struct plan_collective *c = &items[n];
        size_t at = 0;
        if (!is_of(w, on, c->cause, k))
            continue;
        instruction_source(w->problem->m, c->instruction, source, sizeof source);
        while (at < held && (list[at].kind != c->kind || strcmp(list[at].source, source) != 0))
            at++;
        if (at == held) {
            if (!mem_grow(&list, &room, held, 1))
                break;
            list[held] = (struct made){.kind = c->kind, .first = c->instruction};
            snprintf(list[held++].source, sizeof list->source, "%s", source);
        }
        list[at].count += c->count;
        list[at].at++;
        list[at].bytes += c->bytes;
        list[at].ms += c->ms;
        if (c->ms > list[at].first_ms) {
            list[at].first_ms = c->ms;
            list[at].first = c->instruction;
        }
    }
    *made = list;
    return held;
}

static int longest_first(const void *a, const void *b)
{
    const struct made *x = a, *y = b;

    return x->ms != y->ms ? x->ms < y->ms ? 1 : -1 : x->first < y->first ? -1 : x->first > y->first;
}

void answer_makes(struct answer *a, const struct watch *w, const label *on, class_id k)
{
    enum { SHOWN = 6 };
    size_t count;
    struct plan_collective *items = answer_collectives(a, w, on, &count);
    struct made *made;
    size_t held = group_made(w, on, items, count, k, &made);
    uint32_t all = 0;
    double bytes = 0, ms = 0;
    char note[96], b[UNITS_ROOM], t[UNITS_ROOM], text[64], at[300], scope[64];

    for (size_t n = 0; n < held; n++) {
        all += made[n].count;
        bytes += made[n].bytes;
        ms += made[n].ms;
    }
    if (!held)
        goto out;
    int move = watch_move_split(w, on, k);
    snprintf(note, sizeof note, "%.40s%s%u all-reduce%s · %s · %s",
             move == MOVE_NONE ? "" : w->move[move].name, move == MOVE_NONE ? "" : " · ", all,
             all == 1 ? "" : "s", units_bytes(b, bytes), units_ms(t, ms));
    qsort(made, held, sizeof *made, longest_first);
    answer_head(a, "What this split makes", note);
    answer_row(a, ANSWER_TITLES, HLO_NONE, "collective", "at", ">bytes", ">time", "source", "in",
               NULL);
    for (size_t n = 0; n < held && n < SHOWN; n++) {
        snprintf(text, sizeof text, made[n].count > 1 ? "%s ×%u" : "%s",
                 collective_name((enum collective_kind)made[n].kind), made[n].count);
        snprintf(at, sizeof at, made[n].at > 1 ? "%.200s, %u more" : "%.200s",
                 tree_instruction_name(w->tree, made[n].first), made[n].at - 1);
        answer_row(a, ANSWER_ROW, made[n].first, text, at, units_bytes(b, made[n].bytes),
                   units_ms(t, made[n].ms), made[n].source,
                   instruction_scope(w->tree, made[n].first, scope, sizeof scope), NULL);
    }
    if (held > SHOWN)
        answer_say(a, "%zu further lines have shorter ones.", held - SHOWN);
out:
    free(made);
    free(items);
}

/* ---- the same question of the others ---- */

static uint32_t decisions_that_differ(const struct watch *w, const label *a, const label *b)
{
    uint32_t differ = 0;

    for (int n = 0; n < w->move_count; n++) {
        const struct game_move *m = &w->moves->items[n];
        bool same = true;
        for (uint32_t i = 0; i < m->class_count && same; i++) {
            class_id k = w->moves->pool[m->classes + i];
            same = !((a[k] ^ b[k]) >> m->axis & 1);
        }
        differ += !same;
    }
    return differ;
}

/* "3 of 11 differ"; what no decision of this search is about may differ as well. */
static void write_differ(const struct watch *w, const label *a, const label *b, char out[static 48])
{
    uint32_t differ = decisions_that_differ(w, a, b);

    if (differ)
        snprintf(out, 48, "%u of %d differ", differ, w->move_count);
    else if (memcmp(a, b, w->problem->classes.count * sizeof *a) != 0)
        snprintf(out, 48, "alike, the rest differs");
    else
        snprintf(out, 48, "all alike");
}

/* "whole: batch 32 is split" */
static void write_status(const struct watch *w, const label *on, class_id k, char *out, size_t room)
{
    const struct class_meet *by = on[k] ? NULL : why_excluded_by(w, on, k);
    char name[NAME_ROOM];

    if (by)
        snprintf(out, room, "whole: %s is split", class_name(&w->names, by->other, name));
    else
        snprintf(out, room, "%s", answer_status(w, on, k));
}

void answer_same(struct answer *a, const struct watch *w, struct why_of of, const label *on,
                 class_id k)
{
    struct why_of list[WHY_OF_MOST];
    int count = why_of_list(w, list);
    bool any = false;
    char name[WHY_OF_ROOM], step[UNITS_ROOM], there[NAME_ROOM + 32], differ[48];

    for (int n = 0; n < count; n++) {
        const struct live_plan *plan = list[n].plan;
        if (!plan || why_of_is_same(list[n], of))
            continue;
        if (!any) {
            answer_head(a, "The same question of the others", "! answered otherwise");
            answer_row(a, ANSWER_TITLES, HLO_NONE, "plan", ">step", "there it is", "decisions",
                       NULL);
        }
        any = true;
        write_differ(w, on, plan->on, differ);
        write_status(w, plan->on, k, there, sizeof there);
        answer_row(a, ANSWER_ROW, HLO_NONE, why_of_name(w, list[n], name),
                   units_plain_ms(step, plan->cost.step_ms), there, differ, NULL);
        if (a->count)
            a->rows[a->count - 1].marked = !plan->on[k] != !on[k];
    }
}
