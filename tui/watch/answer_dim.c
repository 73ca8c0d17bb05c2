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

#include <math.h>
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

/* "over 6 GB" of what a device does not hold; "" of what fits. */
static void write_over(const struct watch *w, double memory, char *out, size_t room)
{
    double limit = watch_memory_limit(w);

    out[0] = 0;
    if (memory > limit)
        snprintf(out, room, "over %.4g GB", limit / 1e9);
}

/* Why there is no step; of what does not fit the memory is the least there is. */
static const char *why_none(const struct other_way *row)
{
    return row->over     ? row->proven ? "none fits, least" : "none found fits"
           : row->slow   ? "not worked out"
           : row->pinned ? "not under the pins"
                         : "can not be";
}

/* "optimum of variables", "2 others whole then, over 16 GB" */
static void write_note(const struct watch *w, const struct other_way *row, char *out, size_t room)
{
    char over[32];
    int size = 0;

    write_over(w, row->memory, over, sizeof over);
    if (row->anew && row->proven)
        size = snprintf(out, room, "optimum of %s", watch_decides[w->shot->options.game.kind]);
    else if (row->anew)
        size = snprintf(out, room, "best of exact");
    else if (row->in_way)
        size =
            snprintf(out, room, "%u other%s whole then", row->in_way, row->in_way == 1 ? "" : "s");
    snprintf(out + size, room - (size_t)size, "%s%s", size && *over ? ", " : "", over);
}

/* All times of a table in ms, with the decimals of the first. */
static char *column_ms(char out[static UNITS_ROOM], double ms, double first)
{
    return units_number(out, ms, units_ms_decimals(first));
}

static void add_way(struct answer *a, const struct watch *w, const struct other_ways *o,
                    const struct other_way *row)
{
    bool named = !is_of_one(o), priced = row->known && !row->impossible;
    char choice[NAME_ROOM + 64], step[UNITS_ROOM] = "..", change[UNITS_ROOM] = "",
                                 memory[UNITS_ROOM] = "", reduces[UNITS_ROOM] = "", note[64] = "";

    snprintf(choice, sizeof choice, "%s%s%s, rest %s", named ? row->name : "", named ? " " : "",
             o->split ? "split" : "whole", row->anew ? "anew" : "as it is");
    if (priced) {
        column_ms(step, row->step_ms, o->step_ms);
        units_change(change, row->step_ms - o->step_ms, units_ms_decimals(o->step_ms));
        units_count(reduces, row->reduces);
        write_note(w, row, note, sizeof note);
    } else if (row->known) {
        snprintf(step, sizeof step, "-");
        snprintf(note, sizeof note, "%s", why_none(row));
    }
    if (row->memory > 0)
        units_bytes(memory, row->memory);
    answer_row(a, ANSWER_ROW, HLO_NONE, choice, step, change, memory, reduces, note, NULL);
}

void answer_other_way(struct answer *a, const struct watch *w, const struct other_ways *o)
{
    char step[UNITS_ROOM], memory[UNITS_ROOM], reduces[UNITS_ROOM], over[32];

    if (!o->count)
        return;
    write_over(w, o->memory, over, sizeof over);
    answer_head(a, "The other way", "step ms · memory of a device · collectives");
    answer_row(a, ANSWER_TITLES, HLO_NONE, "choice", ">step", ">change", ">memory", ">collectives",
               "", NULL);
    answer_row(a, ANSWER_ROW, HLO_NONE, "as it is", column_ms(step, o->step_ms, o->step_ms), "",
               units_bytes(memory, o->memory), units_count(reduces, o->reduces), over, NULL);
    for (int n = 0; n < o->count; n++)
        add_way(a, w, o, &o->rows[n]);
}

/* ---- what it makes ---- */

/* Collectives that are one row: of one source line or, where the model names none, alike in one
 * part of the model. */
struct made {
    hlo_id first; /* the instruction that takes longest */
    uint8_t kind;
    bool has_source;
    char source[64], scope[64];
    uint32_t count, at; /* collectives, instructions */
    double bytes, ms, first_ms;
    double least_ms, most_ms; /* of one collective */
};

static bool are_equal(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b);
}

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

static struct made made_of(const struct watch *w, const struct plan_collective *c)
{
    const struct hlo_module *m = w->problem->m;
    struct made one = {.kind = c->kind,
                       .first = c->instruction,
                       .has_source = hlo_meta(m, c->instruction)->source_file[0] != 0,
                       .count = c->count,
                       .at = 1,
                       .bytes = c->bytes,
                       .ms = c->ms,
                       .first_ms = c->ms,
                       .least_ms = c->ms / c->count,
                       .most_ms = c->ms / c->count};

    instruction_source(m, c->instruction, one.source, sizeof one.source);
    instruction_scope(w->tree, c->instruction, one.scope, sizeof one.scope);
    return one;
}

/* By what makes them one row. */
static int by_place(const struct made *x, const struct made *y)
{
    if (x->kind != y->kind || x->has_source != y->has_source)
        return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : x->has_source - y->has_source;
    return x->has_source ? strcmp(x->source, y->source) : strcmp(x->scope, y->scope);
}

static int like_ones_together(const void *a, const void *b)
{
    const struct made *x = a, *y = b;
    int place = by_place(x, y);

    if (place)
        return place;
    if (x->most_ms != y->most_ms)
        return x->most_ms < y->most_ms ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static bool is_like(const struct made *row, const struct made *one)
{
    return !by_place(row, one) &&
           (row->has_source || (are_equal(one->most_ms, row->most_ms) &&
                                are_equal(one->bytes / one->count, row->bytes / row->count)));
}

static void join(struct made *row, const struct made *one)
{
    row->count += one->count;
    row->at++;
    row->bytes += one->bytes;
    row->ms += one->ms;
    row->least_ms = fmin(row->least_ms, one->least_ms);
    row->most_ms = fmax(row->most_ms, one->most_ms);
    if (one->ms > row->first_ms) {
        row->first_ms = one->ms;
        row->first = one->first;
    }
}

/* Returns how many rows; *made is the caller's. O(count log count). */
static size_t group_made(const struct watch *w, const label *on,
                         const struct plan_collective *items, size_t count, class_id k,
                         struct made **made)
{
    struct made *list = NULL;
    size_t all = 0, held = 0, room = 0;

    for (size_t n = 0; n < count; n++) {
        if (!items[n].count || !is_of(w, on, items[n].cause, k))
            continue;
        if (!mem_grow(&list, &room, all, 1))
            break;
        list[all++] = made_of(w, &items[n]);
    }
    if (all)
        qsort(list, all, sizeof *list, like_ones_together);
    for (size_t n = 0; n < all; n++) {
        if (held && is_like(&list[held - 1], &list[n]))
            join(&list[held - 1], &list[n]);
        else
            list[held++] = list[n];
    }
    *made = list;
    return held;
}

static int longest_first(const void *a, const void *b)
{
    const struct made *x = a, *y = b;

    return x->ms != y->ms ? x->ms < y->ms ? 1 : -1 : x->first < y->first ? -1 : x->first > y->first;
}

/* "encoder ffn · 96 all-reduces · 13 GB · 3.19 s" */
static void head_made(struct answer *a, const struct watch *w, int move, const struct made *made,
                      size_t held)
{
    uint32_t kinds[COLLECTIVE_COUNT] = {0};
    double bytes = 0, ms = 0;
    char note[256], name[NAME_ROOM], all[ANSWER_KINDS_ROOM], b[UNITS_ROOM], t[UNITS_ROOM];

    for (size_t n = 0; n < held; n++) {
        kinds[made[n].kind] += made[n].count;
        bytes += made[n].bytes;
        ms += made[n].ms;
    }
    snprintf(note, sizeof note, "%s%s%s · %s · %s",
             move == MOVE_NONE ? "" : watch_move_name(w, move, name, sizeof name, 40),
             move == MOVE_NONE ? "" : " · ", answer_kinds(kinds, all), units_bytes(b, bytes),
             units_ms(t, ms));
    answer_head(a, "What this split makes", note);
    answer_row(a, ANSWER_TITLES, HLO_NONE, "collective", "at", ">bytes", ">time", "source", "in",
               NULL);
}

/* "all-reduce ×96, 33.2 ms each" */
static void add_made_row(struct answer *a, const struct watch *w, const struct made *m)
{
    char text[96], at[300], source[72], b[UNITS_ROOM], t[UNITS_ROOM];
    int size = snprintf(text, sizeof text, "%s", collective_name((enum collective_kind)m->kind));

    if (m->count > 1)
        size += snprintf(text + size, sizeof text - (size_t)size, " ×%u", m->count);
    if (m->count > 1 && are_equal(m->least_ms, m->most_ms))
        snprintf(text + size, sizeof text - (size_t)size, ", %s each", units_ms(t, m->most_ms));
    snprintf(at, sizeof at, m->at > 1 ? "%.200s, %u more" : "%.200s",
             tree_instruction_name(w->tree, m->first), m->at - 1);
    snprintf(source, sizeof source, "%s%s", m->source, m->at > 1 && !m->has_source ? ", .." : "");
    answer_row(a, ANSWER_ROW, m->first, text, at, units_bytes(b, m->bytes), units_ms(t, m->ms),
               source, m->scope, NULL);
}

static void say_rest(struct answer *a, const struct made *rest, size_t count)
{
    uint32_t collectives = 0;
    double ms = 0, most = 0;
    char all[UNITS_ROOM], longest[UNITS_ROOM];

    for (size_t n = 0; n < count; n++) {
        collectives += rest[n].count;
        ms += rest[n].ms;
        most = fmax(most, rest[n].most_ms);
    }
    answer_say(a, "%zu further rows: %u collectives, %s together, none longer than %s.", count,
               collectives, units_ms(all, ms), units_ms(longest, most));
}

void answer_makes(struct answer *a, const struct watch *w, const label *on, class_id k, size_t most)
{
    size_t count;
    struct plan_collective *items = answer_collectives(a, w, on, &count);
    struct made *made;
    size_t held = group_made(w, on, items, count, k, &made);

    if (held) {
        qsort(made, held, sizeof *made, longest_first);
        head_made(a, w, watch_move_split(w, on, k), made, held);
    }
    most = held == most + 1 ? held : most; /* a line that says so takes the room of the row */
    for (size_t n = 0; n < held && n < most; n++)
        add_made_row(a, w, &made[n]);
    if (held > most)
        say_rest(a, made + most, held - most);
    free(made);
    free(items);
}

/* ---- the same question of the others ---- */

/* "3 of 11 differ"; what no decision of this search is about may differ as well. */
static void write_differ(const struct watch *w, const label *a, const label *b, char out[static 48])
{
    uint32_t differ = plan_decisions_differ(w, a, b);

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
            answer_row(a, ANSWER_TITLES, HLO_NONE, "plan", ">step ms", "there it is", "decisions",
                       NULL);
        }
        any = true;
        write_differ(w, on, plan->on, differ);
        write_status(w, plan->on, k, there, sizeof there);
        answer_row(a, ANSWER_ROW, HLO_NONE, why_of_name(w, list[n], name),
                   column_ms(step, plan->cost.step_ms, plan->cost.step_ms), there, differ, NULL);
        if (a->count)
            a->rows[a->count - 1].marked = !plan->on[k] != !on[k];
    }
}
