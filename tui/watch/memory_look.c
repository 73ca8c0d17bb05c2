#include "tui/watch/memory_look.h"

#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/live/snapshot.h"
#include "engine/search/game.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static const label *labels_of(const struct memory_curve *c, label **whole, const struct watch *w)
{
    *whole = c->plan ? NULL : mem_alloc(((size_t)w->problem->classes.count + 1) * sizeof **whole);
    return c->plan ? c->plan->on : *whole;
}

static const struct hlo_computation *entry_of(const struct watch *w)
{
    return &w->problem->m->computations[w->problem->m->entry];
}

/* The course under `on`, whatever plan that is of. */
static int make_course(const struct watch *w, const label *on, struct memory_curve *out,
                       struct err *e)
{
    uint32_t count = entry_of(w)->count;

    out->count = count;
    out->total = mem_try((size_t)count + 1, sizeof *out->total);
    out->kinds = mem_try((size_t)count + 1, sizeof *out->kinds);
    if (!out->total || !out->kinds) {
        memory_curve_release(out);
        return err_set(e, ERR_MEMORY, "not enough memory for the course of memory");
    }
    memory_timeline(&w->problem->memory, &w->problem->labels, on, w->scratch, out->kinds);
    for (uint32_t n = 0; n < count; n++) {
        double bytes = 0;
        for (int k = 0; k < MEMORY_KIND_COUNT; k++)
            bytes += out->kinds[n][k];
        out->total[n] = bytes;
        out->peak = out->total[n] > out->total[out->peak] ? n : out->peak;
    }
    return 0;
}

int memory_curve_make(const struct watch *w, struct live_plan *plan, struct memory_curve *out,
                      struct err *e)
{
    label *whole;

    *out = (struct memory_curve){.plan = plan ? live_plan_share(plan) : NULL};
    const label *on = labels_of(out, &whole, w);
    int rc = make_course(w, on, out, e);
    free(whole);
    return rc;
}

void memory_curve_release(struct memory_curve *c)
{
    live_plan_release(c->plan);
    free(c->total);
    free(c->kinds);
    *c = (struct memory_curve){0};
}

hlo_id memory_at(const struct watch *w, uint32_t position)
{
    return w->problem->memory.schedule.order[entry_of(w)->first + position];
}

/* ---- what is live ---- */

static bool is_live(const struct memory_range *r, uint32_t now)
{
    return r->is_argument || (r->start <= now && r->end >= now);
}

static bool is_state(const struct memory_range *r)
{
    return r->kind == MEMORY_PARAMETERS || r->kind == MEMORY_OPTIMIZER;
}

static bool same_shape(const struct hlo_module *m, hlo_value a, hlo_value b)
{
    const struct hlo_shape *x = hlo_value_shape(m, a), *y = hlo_value_shape(m, b);

    return m->value_shape[a] == m->value_shape[b] ||
           (x->type == y->type && x->rank == y->rank &&
            !memcmp(x->dims, y->dims, x->rank * sizeof *x->dims));
}

static bool belongs(const struct hlo_module *m, const struct memory_group *g,
                    const struct memory_range *r, double bytes)
{
    bool state = g->kind == MEMORY_PARAMETERS;

    if (state || is_state(r))
        return state && is_state(r);
    double each = g->bytes / g->count;
    return g->kind == r->kind && same_shape(m, g->value, r->value) && bytes > each * 0.999999 &&
           bytes < each * 1.000001;
}

static int largest_first(const void *a, const void *b)
{
    const struct memory_group *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : x->value < y->value ? -1 : 1;
}

static void add_to(struct memory_group *g, const struct memory_range *r, double bytes,
                   uint32_t base)
{
    uint32_t first = r->start - base, last = r->end - base;

    g->first = first < g->first ? first : g->first;
    g->last = last > g->last ? last : g->last;
    g->always |= r->is_argument;
    g->bytes += bytes;
    g->count++;
}

/* All groups under `on`, as they are met; *inner: less their bytes. */
static int gather_groups(const struct watch *w, const label *on, uint32_t position,
                         struct memory_group **out, size_t *count, double *inner, struct err *e)
{
    const struct memory_model *m = &w->problem->memory;
    uint32_t base = entry_of(w)->first, now = base + position;
    struct memory_group *groups = NULL;
    size_t held = 0, room = 0;
    bool ok = true;

    for (uint32_t k = m->first[m->m->entry]; ok && k < m->first[m->m->entry + 1]; k++) {
        const struct memory_range *r = &m->ranges[k];
        double bytes = is_live(r, now) ? memory_range_bytes(m, &w->problem->labels, on, r) : 0;
        size_t at = 0;
        if (!(bytes > 0))
            continue;
        *inner -= bytes;
        while (at < held && !belongs(m->m, &groups[at], r, bytes))
            at++;
        if (at == held) {
            ok = mem_grow(&groups, &room, held, 1);
            if (ok)
                groups[held++] =
                    (struct memory_group){.value = r->value,
                                          .first = UINT32_MAX,
                                          .kind = is_state(r) ? MEMORY_PARAMETERS : r->kind};
        }
        if (ok)
            add_to(&groups[at], r, bytes, base);
    }
    if (!ok) {
        free(groups);
        return err_set(e, ERR_MEMORY, "not enough memory to list what is live");
    }
    *out = groups;
    *count = held;
    return 0;
}

int memory_groups(const struct watch *w, const struct memory_curve *c, uint32_t position,
                  struct memory_group **out, size_t *count, double *inner, struct err *e)
{
    label *whole;
    const label *on = labels_of(c, &whole, w);

    *inner = c->total[position];
    int rc = gather_groups(w, on, position, out, count, inner, e);
    free(whole);
    if (rc)
        return rc;
    if (*count)
        qsort(*out, *count, sizeof **out, largest_first);
    *inner = *inner > 1 ? *inner : 0; /* a byte of rounding */
    return 0;
}

/* The live buffer of `v`, of any way to store it or of the one; NULL: it has none there. */
static const struct memory_range *buffer_of(const struct watch *w, const label *on, uint32_t now,
                                            hlo_value v, bool any, enum memory_storing storing,
                                            double *bytes)
{
    const struct memory_model *m = &w->problem->memory;

    for (uint32_t k = m->first[m->m->entry]; k < m->first[m->m->entry + 1]; k++) {
        const struct memory_range *r = &m->ranges[k];
        if (r->value != v || !is_live(r, now) || (!any && r->storing != storing))
            continue;
        *bytes = memory_range_bytes(m, &w->problem->labels, on, r);
        if (*bytes > 0)
            return r;
    }
    return NULL;
}

/* The group that a buffer of `v` is in; none: count 0. */
static int group_of(const struct watch *w, const label *on, uint32_t position,
                    const struct memory_range *r, double bytes, struct memory_group *out,
                    struct err *e)
{
    struct memory_group *groups;
    double inner = 0;
    size_t count;
    int rc = gather_groups(w, on, position, &groups, &count, &inner, e);

    for (size_t n = 0; !rc && n < count; n++) {
        if (belongs(w->problem->m, &groups[n], r, bytes))
            *out = groups[n];
    }
    if (!rc)
        free(groups);
    return rc;
}

int memory_holding_of(const struct watch *w, const label *on, uint32_t position, hlo_value v,
                      bool alone, enum memory_storing storing, struct memory_holding *out,
                      struct err *e)
{
    uint32_t base = entry_of(w)->first;
    struct memory_curve course = {0};
    double bytes = 0;
    int rc = make_course(w, on, &course, e);

    if (rc)
        return rc;
    *out =
        (struct memory_holding){.total = course.total[position], .peak = course.total[course.peak]};
    memory_curve_release(&course);
    const struct memory_range *r = buffer_of(w, on, base + position, v, !alone, storing, &bytes);
    if (!r)
        return 0;
    if (!alone)
        return group_of(w, on, position, r, bytes, &out->group, e);
    out->group = (struct memory_group){.value = v, .first = UINT32_MAX, .kind = r->kind};
    add_to(&out->group, r, bytes, base);
    return 0;
}

uint32_t memory_group_values(const struct watch *w, const struct memory_curve *c, uint32_t position,
                             const struct memory_group *g, struct memory_value *out, uint32_t room)
{
    const struct memory_model *m = &w->problem->memory;
    uint32_t base = entry_of(w)->first, now = base + position, held = 0;
    label *whole;
    const label *on = labels_of(c, &whole, w);

    for (uint32_t k = m->first[m->m->entry]; k < m->first[m->m->entry + 1]; k++) {
        const struct memory_range *r = &m->ranges[k];
        double bytes = is_live(r, now) ? memory_range_bytes(m, &w->problem->labels, on, r) : 0;
        if (!(bytes > 0) || !belongs(m->m, g, r, bytes))
            continue;
        uint32_t n = held < room ? held++ : room;
        for (; n && out[n - 1].bytes < bytes; n--) {
            if (n < room)
                out[n] = out[n - 1];
        }
        if (n < room)
            out[n] =
                (struct memory_value){r->value, bytes, r->start - base, r->end - base, r->storing};
    }
    free(whole);
    return held;
}

/* ---- flips ---- */

/* Splits the classes of a move, which makes those they meet whole; or makes them whole. */
static void flip_move(const struct watch *w, const struct game_move *g, bool split, label *on)
{
    const struct classes *c = &w->problem->classes;
    label bit = (label)(1u << g->axis);

    for (uint32_t n = 0; n < g->class_count; n++) {
        class_id k = w->moves->pool[g->classes + n];
        on[k] = (label)(split ? on[k] | bit : on[k] & ~bit);
        for (uint32_t i = 0; split && i < c->info[k].meet_count; i++)
            on[c->meets[c->info[k].meets + i].other] &= (label)~bit;
    }
}

void memory_flips(const struct watch *w, const struct memory_curve *c, int from, int end,
                  struct memory_flip *out)
{
    size_t classes = w->problem->classes.count;
    label *whole, *on = mem_alloc((classes + 1) * sizeof *on);
    const label *now = labels_of(c, &whole, w);

    for (int n = from; n < end; n++) {
        const struct game_move *g = &w->moves->items[n];
        uint32_t split = 0;
        for (uint32_t i = 0; i < g->class_count; i++)
            split += now[w->moves->pool[g->classes + i]] >> g->axis & 1;
        memcpy(on, now, classes * sizeof *on);
        out[n] = (struct memory_flip){.move = n, .split = split < g->class_count};
        flip_move(w, g, out[n].split, on);
        out[n].peak = memory_of(&w->problem->memory, &w->problem->labels, on, w->scratch).peak;
        out[n].step_ms = step_tables_cost(&w->problem->step_tables, on).step_ms;
    }
    free(on);
    free(whole);
}
