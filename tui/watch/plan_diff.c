#include "tui/watch/plan_diff.h"

#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/watch/flips.h"

#include <stdio.h>
#include <string.h>

int plan_figures(const struct watch *w, label *on, struct plan_figures *out, struct err *e)
{
    const struct problem *p = w->problem;
    struct plan plan = {.problem = p, .on = on};
    struct plan_collective *items;
    size_t count;

    *out = (struct plan_figures){.cost = step_tables_cost(&p->step_tables, on)};
    int rc = plan_collectives(&plan, &items, &count, e);
    if (rc)
        return rc;
    for (size_t n = 0; n < count; n++) {
        out->reduces += items[n].count;
        out->reduced_bytes += items[n].bytes;
    }
    free(items);
    for (hlo_id id = 0; id < p->m->count; id++) {
        struct instruction_cost c = step_tables_instruction(&p->step_tables, id, on);
        out->compute_ms[p->roles.phase[id]] += c.compute_ms;
        out->network_ms[p->roles.phase[id]] += c.communication_ms;
    }
    out->memory = memory_of(&p->memory, &p->labels, on, w->scratch).peak;
    return 0;
}

uint32_t plan_splits(const struct watch *w, const label *on, int move)
{
    const struct game_move *m = &w->moves->items[move];
    const class_id *k = w->moves->pool + m->classes;
    uint32_t count = 0;

    for (uint32_t i = 0; i < m->class_count; i++)
        count += on[k[i]] >> m->axis & 1;
    return count;
}

uint32_t plan_decisions_differ(const struct watch *w, const label *a, const label *b)
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

/* Sets the price, against a step of `a_ms`; `on`: room for labels. */
static void price_difference(const struct watch *w, const label *a, double a_ms, const label *b,
                             label *on, struct plan_difference *d)
{
    memcpy(on, a, w->problem->classes.count * sizeof *on);
    d->priced = flips_take(w, d->move, d->class, b, on, &d->along);
    if (d->priced)
        d->price_ms = step_tables_cost(&w->problem->step_tables, on).step_ms - a_ms;
}

static bool differs_in_class(const struct watch *w, const label *a, const label *b, int n,
                             struct plan_difference *out)
{
    const struct game_move *m = &w->moves->items[n];
    const class_id *k = w->moves->pool + m->classes;
    bool differ = false;

    *out = (struct plan_difference){
        .move = n, .class = k[0], .classes = m->class_count, .dims = w->move[n].dims};
    for (uint32_t i = 0; i < m->class_count; i++) {
        out->a += a[k[i]] >> m->axis & 1;
        out->b += b[k[i]] >> m->axis & 1;
        differ |= (a[k[i]] ^ b[k[i]]) >> m->axis & 1;
    }
    return differ;
}

/* First uses of the arguments in its first class: from which source line to which. */
static void find_where(const struct watch *w, struct plan_difference *d)
{
    const struct problem *p = w->problem;
    const struct classes *c = &p->classes;

    d->where = d->where_last = HLO_NONE;
    for (uint32_t n = 0; n < p->roles.param_count; n++) {
        const struct hlo_param_role *r = &p->roles.params[n];
        hlo_id id = p->m->value_instruction[r->value];
        bool counts = r->role == HLO_ROLE_VARIABLE || r->role == HLO_ROLE_INPUT, held = false;
        for (uint32_t k = 0; counts && k < hlo_value_shape(p->m, r->value)->rank; k++)
            held |= c->class_of[class_dim(c, r->value, k)] == d->class;
        if (!held || !hlo_at(p->m, id)->user_count)
            continue;
        id = hlo_user(p->m, id, 0);
        uint32_t line = hlo_meta(p->m, id)->source_line;
        if (d->where == HLO_NONE || line < hlo_meta(p->m, d->where)->source_line)
            d->where = id;
        if (d->where_last == HLO_NONE || line > hlo_meta(p->m, d->where_last)->source_line)
            d->where_last = id;
    }
}

int plan_differences(const struct watch *w, const label *a, const label *b,
                     struct plan_difference **items, size_t *count, struct err *e)
{
    const struct classes *c = &w->problem->classes;
    struct plan_difference *list = mem_try((size_t)w->move_count + c->count + 1, sizeof *list);
    label *on = mem_try((size_t)c->count + 1, sizeof *on);
    size_t found = 0;

    if (!list || !on) {
        free(list);
        free(on);
        return err_set(e, ERR_MEMORY, "not enough memory to compare");
    }
    double a_ms = step_tables_cost(&w->problem->step_tables, a).step_ms;
    for (int n = 0; n < w->move_count; n++) {
        if (differs_in_class(w, a, b, n, &list[found]))
            price_difference(w, a, a_ms, b, on, &list[found++]);
    }
    for (class_id k = 0; k < c->count; k++) {
        if (a[k] == b[k] || watch_move_of(w, k) != MOVE_NONE)
            continue;
        list[found] = (struct plan_difference){.move = MOVE_NONE,
                                               .class = k,
                                               .classes = 1,
                                               .dims = c->info[k].var_dims + c->info[k].input_dims,
                                               .a = a[k] != 0,
                                               .b = b[k] != 0};
        price_difference(w, a, a_ms, b, on, &list[found++]);
    }
    for (size_t n = 0; n < found; n++)
        find_where(w, &list[n]);
    free(on);
    *items = list;
    *count = found;
    return 0;
}

char *plan_difference_sentence(const struct watch *w, const struct plan_difference *d, char *out,
                               size_t room)
{
    const char *along = d->along == 1 ? ", * one other whole then"
                        : d->along    ? ", * others whole then"
                                      : "";

    if (d->move == MOVE_NONE)
        snprintf(out, room, "outside this search's decisions; price: A with this one of B%s",
                 along);
    else
        snprintf(out, room, "> pins %s = %d, < %d; price: A with this one of B%s",
                 w->move[d->move].name, d->a > 0, d->b > 0, along);
    return out;
}
