/* Which single decision lowers the peak: every change is tried on trees of the peak and sums of the
 * step, which follow it class by class. */
#include "engine/plan/memory_peak.h"

#include "engine/cost/fold.h"
#include "engine/cost/memory_tree.h"
#include "engine/cost/overlap.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <stdlib.h>
#include <string.h>

struct trial {
    class_id first; /* of its colour */
    label to;
    class_id widest; /* of the classes that change, the one with the most ranges */
};

struct look {
    const struct plan *plan;
    struct fold fold;
    uint32_t *colours, *members; /* classes of each colour: members[colours[c] .. colours[c + 1]] */
    label *on, *want;            /* [classes] as the tree has them, as a try wants them */
    class_id *touched;           /* classes that differ in `want` from the plan, once or more */
    uint32_t touched_count;
    size_t touched_room;
    class_id *moved; /* classes that differ in `on` */
    uint32_t moved_count;
    size_t moved_room;
    struct memory_tree *tree;
    struct step_cost step; /* of `on`, without the excess of overlap */
    struct trial *tries;
    uint32_t try_count;
    size_t try_room;
    struct peak_change *list;
    uint32_t count;
    size_t room;
};

/* ---- what a try wants ---- */

static bool want(struct look *l, class_id k, label to)
{
    if (l->want[k] == to)
        return true;
    if (!mem_grow(&l->touched, &l->touched_room, l->touched_count, 1))
        return false;
    l->touched[l->touched_count++] = k;
    l->want[k] = to;
    return true;
}

/* Gives class `k` label `to`; those it meets give up the axes they share. *fits: all of them can.
 */
static bool want_class(struct look *l, class_id k, label to, bool *fits)
{
    const struct problem *p = l->plan->problem;
    const struct class_info *info = &p->classes.info[k];

    *fits = label_is_admissible(&p->labels, k, to);
    for (uint32_t n = 0; n < info->meet_count && *fits; n++) {
        class_id other = p->classes.meets[info->meets + n].other;
        label left = l->want[other] & (label)~to;
        *fits = label_is_admissible(&p->labels, other, left);
        if (*fits && !want(l, other, left))
            return false;
    }
    return !*fits || want(l, k, to);
}

static void want_plan(struct look *l)
{
    for (uint32_t n = 0; n < l->touched_count; n++)
        l->want[l->touched[n]] = l->plan->on[l->touched[n]];
    l->touched_count = 0;
}

/* The whole colour of class `first` takes label `to`. */
static bool want_colour(struct look *l, class_id first, label to, bool *fits)
{
    uint32_t colour = l->fold.colour[first];

    *fits = true;
    want_plan(l);
    for (uint32_t n = l->colours[colour]; n < l->colours[colour + 1] && *fits; n++) {
        if (!want_class(l, l->members[n], to, fits))
            return false;
    }
    return true;
}

/* ---- the change itself ---- */

static void set_class(struct look *l, class_id k, label to)
{
    const struct step_tables *t = &l->plan->problem->step_tables;

    if (l->on[k] == to)
        return;
    struct step_cost before = step_tables_cost_of_class(t, k, l->on);
    l->on[k] = to;
    struct step_cost after = step_tables_cost_of_class(t, k, l->on);
    l->step.compute_ms += after.compute_ms - before.compute_ms;
    l->step.communication_ms += after.communication_ms - before.communication_ms;
    l->step.beside_ms += after.beside_ms - before.beside_ms;
    memory_tree_update(l->tree, k);
}

/* Makes `on` what is wanted: whole first, so that classes that meet never share an axis. */
static bool move_to_wanted(struct look *l)
{
    if (!mem_grow(&l->moved, &l->moved_room, l->moved_count, l->touched_count))
        return false;
    if (l->touched_count)
        memcpy(l->moved + l->moved_count, l->touched, l->touched_count * sizeof *l->touched);
    uint32_t count = l->moved_count + l->touched_count;
    for (uint32_t n = 0; n < count; n++) {
        if (l->on[l->moved[n]] != l->want[l->moved[n]])
            set_class(l, l->moved[n], 0);
    }
    for (uint32_t n = 0; n < count; n++)
        set_class(l, l->moved[n], l->want[l->moved[n]]);
    if (l->touched_count)
        memcpy(l->moved, l->touched, l->touched_count * sizeof *l->touched);
    l->moved_count = l->touched_count;
    return true;
}

static double step_ms(const struct look *l)
{
    const struct overlap *o = &l->plan->problem->step_tables.overlap;

    return l->step.compute_ms + l->step.communication_ms +
           overlap_excess(o, l->step.compute_ms, l->step.beside_ms);
}

static bool carry_out(struct look *l, const struct trial *t, double peak)
{
    uint32_t colour = l->fold.colour[t->first];
    struct peak_change c = {.class = t->first,
                            .classes = l->colours[colour + 1] - l->colours[colour],
                            .from = l->plan->on[t->first],
                            .to = t->to};
    bool fits;

    if (!want_colour(l, t->first, t->to, &fits) || !move_to_wanted(l))
        return false;
    c.peak = memory_tree_peak(l->tree);
    c.step_ms = step_ms(l);
    if (c.peak >= peak * (1 - 1e-9))
        return true;
    if (!mem_grow(&l->list, &l->room, l->count, 1))
        return false;
    l->list[l->count++] = c;
    return true;
}

/* ---- which are tried ---- */

static class_id widest_wanted(const struct look *l)
{
    class_id widest = l->touched[0];

    for (uint32_t n = 1; n < l->touched_count; n++) {
        uint32_t ranges = memory_tree_ranges(l->tree, l->touched[n]),
                 most = memory_tree_ranges(l->tree, widest);
        if (ranges > most || (ranges == most && l->touched[n] < widest))
            widest = l->touched[n];
    }
    return widest;
}

static bool list_tries(struct look *l, class_id first)
{
    const struct labels *labels = &l->plan->problem->labels;
    bool fits;

    for (uint32_t a = 0; a < labels->count; a++) {
        if ((label)a == l->plan->on[first])
            continue;
        if (!want_colour(l, first, (label)a, &fits) ||
            !mem_grow(&l->tries, &l->try_room, l->try_count, 1))
            return false;
        if (fits)
            l->tries[l->try_count++] = (struct trial){first, (label)a, widest_wanted(l)};
    }
    return true;
}

/* Tries that move the same wide class follow each other: it stays moved between them. */
static int widest_first(const void *a, const void *b)
{
    const struct trial *x = a, *y = b;

    if (x->widest != y->widest)
        return x->widest < y->widest ? -1 : 1;
    return x->to != y->to ? (int)x->to - (int)y->to : (x->first > y->first) - (x->first < y->first);
}

static int lowest_first(const void *a, const void *b)
{
    const struct peak_change *x = a, *y = b;

    if (x->peak != y->peak)
        return x->peak < y->peak ? -1 : 1;
    if (x->step_ms != y->step_ms)
        return x->step_ms < y->step_ms ? -1 : 1;
    return x->class != y->class ? (x->class < y->class ? -1 : 1) : (int)x->to - (int)y->to;
}

static bool list_colours(struct look *l)
{
    uint32_t classes = l->plan->problem->classes.count;

    l->colours = mem_try((size_t)l->fold.count + 2, sizeof *l->colours);
    l->members = mem_try(classes, sizeof *l->members);
    if (!l->colours || !l->members)
        return false;
    for (class_id k = 0; k < classes; k++)
        l->colours[l->fold.colour[k] + 2]++;
    for (uint32_t c = 0; c < l->fold.count; c++)
        l->colours[c + 2] += l->colours[c + 1];
    for (class_id k = 0; k < classes; k++)
        l->members[l->colours[l->fold.colour[k] + 1]++] = k;
    return true;
}

static int begin_look(struct look *l, struct err *e)
{
    const struct problem *p = l->plan->problem;
    size_t size = p->classes.count * sizeof *l->on;
    int rc = fold_new(&p->step_tables, true, &l->fold, e);

    if (rc)
        return rc;
    l->on = mem_try(p->classes.count, sizeof *l->on);
    l->want = mem_try(p->classes.count, sizeof *l->want);
    if (!l->on || !l->want || !list_colours(l))
        return err_no_memory(e, "to look at the peak");
    memcpy(l->on, l->plan->on, size);
    memcpy(l->want, l->plan->on, size);
    l->step = step_tables_cost(&p->step_tables, l->on);
    l->step.communication_ms -=
        overlap_excess(&p->step_tables.overlap, l->step.compute_ms, l->step.beside_ms);
    return memory_tree_new(&p->memory, &p->labels, l->on, &l->tree, e);
}

static int look_at_all(struct look *l, struct err *e)
{
    const struct problem *p = l->plan->problem;
    double peak = memory_tree_peak(l->tree);
    bool ok = true;

    for (class_id k = 0; k < p->classes.count && ok; k++) {
        const struct class_info *info = &p->classes.info[k];
        bool is_first = l->members[l->colours[l->fold.colour[k]]] == k;
        if ((info->var_dims || info->input_dims) && label_is_splittable(&p->labels, k) && is_first)
            ok = list_tries(l, k);
    }
    if (l->try_count)
        qsort(l->tries, l->try_count, sizeof *l->tries, widest_first);
    for (uint32_t n = 0; n < l->try_count && ok; n++) {
        if (stop_asked(p->stop))
            return err_set(e, ERR_STOPPED, "stopped before all changes of the peak were seen");
        ok = carry_out(l, &l->tries[n], peak);
    }
    return ok ? 0 : err_no_memory(e, "to look at the peak");
}

static void release_look(struct look *l)
{
    fold_release(&l->fold);
    memory_tree_free(l->tree);
    free(l->colours);
    free(l->members);
    free(l->on);
    free(l->want);
    free(l->touched);
    free(l->moved);
    free(l->tries);
}

int plan_peak_changes(const struct plan *p, struct peak_change **out, uint32_t *count,
                      struct err *e)
{
    struct look l = {.plan = p};

    *out = NULL;
    *count = 0;
    if (p->relaxed)
        return err_set(e, ERR_INPUT, "single changes of the peak are worked out for strict plans");
    int rc = begin_look(&l, e);
    rc = rc ? rc : look_at_all(&l, e);
    release_look(&l);
    if (rc) {
        free(l.list);
        return rc;
    }
    if (l.count)
        qsort(l.list, l.count, sizeof *l.list, lowest_first);
    *out = l.list;
    *count = l.count;
    return 0;
}
