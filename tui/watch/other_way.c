#include "tui/watch/other_way.h"

#include "engine/cost/step_tables.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/watch/flips.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/price.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_row(struct other_ways *o, const char *name, bool anew, int first, int count,
                    class_id only)
{
    struct other_way *row = &o->rows[o->count++];

    *row = (struct other_way){.anew = anew, .first = first, .count = count, .only = only};
    snprintf(row->name, sizeof row->name, "%s", name);
}

void other_ways_begin(struct other_ways *o, const struct watch *w, const label *on, class_id k)
{
    int move = watch_move_split(w, on, k), first = move, end = move + 1;
    struct plan_figures now;
    struct err e;
    char name[NAME_ROOM + 16];

    *o = (struct other_ways){.moves = w->moves};
    if (move == MOVE_NONE || plan_figures(w, (label *)(uintptr_t)on, &now, &e))
        return;
    const struct game_move *m = &w->moves->items[move];
    o->split = !(on[k] >> m->axis & 1);
    o->step_ms = now.cost.step_ms;
    o->memory = now.memory;
    o->reduces = now.reduces;
    if (m->class_count > 1)
        add_row(o, class_name(&w->names, k, name), false, move, 1, k);
    add_row(o, w->move[move].name, false, move, 1, CLASS_NONE);
    while (first > 0 && !strcmp(w->move[first - 1].stem, w->move[move].stem))
        first--;
    while (end < w->move_count && !strcmp(w->move[end].stem, w->move[move].stem))
        end++;
    snprintf(name, sizeof name, "%s ×%d", w->move[move].stem, end - first);
    if (end - first > 1)
        add_row(o, name, false, first, end - first, CLASS_NONE);
    add_row(o, w->move[move].name, true, move, 1, CLASS_NONE);
}

static void work_anew(struct other_way *row, const struct watch *w, bool split)
{
    struct price p = price_with_memory(w, row->first, split);

    row->impossible = !p.known;
    row->slow = !p.known && !p.impossible && !p.over;
    row->over = p.over;
    row->pinned = w->shot->pin_count > 0;
    row->proven = p.proven;
    row->step_ms = p.cost.step_ms;
    row->memory = p.memory;
    row->reduces = p.reduces;
}

static void work_beside(struct other_way *row, const struct watch *w, const label *on, bool split)
{
    size_t size = (size_t)w->problem->classes.count * sizeof *on;
    label *turned = mem_alloc(size + 1);
    struct plan_figures then;
    struct err e;

    memcpy(turned, on, size);
    row->impossible =
        !flips_turn(w, row->first, row->count, row->only, split, turned, &row->in_way) ||
        plan_figures(w, turned, &then, &e);
    if (!row->impossible) {
        row->step_ms = then.cost.step_ms;
        row->memory = then.memory;
        row->reduces = then.reduces;
    }
    free(turned);
}

bool other_ways_work(struct other_ways *o, const struct watch *w, const label *on)
{
    if (o->moves != w->moves) /* another game: nothing of it is true any more */
        o->count = o->done;
    if (o->done >= o->count)
        return false;
    struct other_way *row = &o->rows[o->done++];
    if (row->anew)
        work_anew(row, w, o->split);
    else
        work_beside(row, w, on, o->split);
    row->known = true;
    return true;
}
