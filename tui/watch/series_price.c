#include "tui/watch/series_price.h"

#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/watch/watch.h"

#include <stdbool.h>
#include <stdlib.h>

/* Milliseconds of a step with the moves first .. end - 1 split and all else whole. */
static double step_with(const struct watch *w, int first, int end, label *on)
{
    const class_id *pool = w->moves->pool;

    for (int n = first; n < end; n++) {
        const struct game_move *m = &w->moves->items[n];
        for (uint32_t i = 0; i < m->class_count; i++)
            on[pool[m->classes + i]] |= (label)(1u << m->axis);
    }
    double ms = step_tables_cost(&w->problem->step_tables, on).step_ms;
    for (int n = first; n < end; n++) {
        const struct game_move *m = &w->moves->items[n];
        for (uint32_t i = 0; i < m->class_count; i++)
            on[pool[m->classes + i]] = 0;
    }
    return ms;
}

/* False also where that can not be told: no memory. */
static bool split_together(const struct watch *w, int first, int end)
{
    struct strict s;
    struct err e;
    bool can = true;

    if (strict_new(&w->problem->labels, &s, &e))
        return false;
    for (int n = first; n < end && can; n++) {
        const struct game_move *m = &w->moves->items[n];
        for (uint32_t i = 0; i < m->class_count && can; i++)
            can = strict_decide(&s, w->moves->pool[m->classes + i], m->axis, true, NULL);
    }
    strict_release(&s);
    return can;
}

static int best_alone(const struct watch *w, int first, int end)
{
    int best = first;

    for (int n = first + 1; n < end; n++)
        best = w->move[n].saves_ms > w->move[best].saves_ms ? n : best;
    return best;
}

void series_price_all(struct watch *w)
{
    label *on = mem_alloc(((size_t)w->problem->classes.count + 1) * sizeof *on);
    double whole_ms = step_with(w, 0, 0, on);

    for (int n = 0; n < w->move_count; n++)
        w->move[n].saves_ms = whole_ms - step_with(w, n, n + 1, on);
    for (int first = 0, end; first < w->move_count; first = end) {
        end = watch_series_end(w, first);
        bool together = split_together(w, first, end);
        int only = together ? MOVE_NONE : best_alone(w, first, end);
        double ms = !together          ? w->move[only].saves_ms
                    : end == first + 1 ? w->move[first].saves_ms
                                       : whole_ms - step_with(w, first, end, on);
        for (int n = first; n < end; n++) {
            w->move[n].series_only = only;
            w->move[n].series_ms = ms;
        }
    }
    free(on);
}
