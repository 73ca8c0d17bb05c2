#include "engine/exact/limit_model.h"

#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/strict.h"
#include "engine/exact/exact.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the memory limit";

/* ---- units ---- */

/* Nodes of the classes a range depends on, ascending. ERR_LIMIT: too many. */
static int nodes_of(const struct limit_model *l, const struct memory_range *r, uint32_t *nodes,
                    uint32_t *count)
{
    class_id classes[UNIT_NODES_MOST];
    uint32_t found = memory_range_classes(l->m, r, classes, UNIT_NODES_MOST);

    *count = 0;
    if (found > UNIT_NODES_MOST)
        return ERR_LIMIT;
    for (uint32_t k = 0; k < found; k++) { /* nodes are numbered in the order of classes */
        if (l->s.node_of[classes[k]] != CLASS_NONE)
            nodes[(*count)++] = l->s.node_of[classes[k]];
    }
    return 0;
}

/* All that the bytes of a range depend on. */
static uint64_t key_of(const struct limit_model *l, const struct memory_range *r, uint64_t seed)
{
    const struct classes *c = l->m->classes;
    uint64_t head[] = {c->m->shapes[c->m->value_shape[r->value]].bare, r->storing,
                       r->storing == STORED_AS_USED ? UINT32_MAX : r->variable, r->is_argument,
                       r->storing == STORED_REDUCED || r->storing == STORED_WORKSPACE ? r->value
                                                                                      : UINT32_MAX};
    uint64_t h = mem_hash(head, sizeof head, seed);

    return mem_hash(c->class_of + c->dim_base[r->value],
                    (c->dim_base[r->value + 1] - c->dim_base[r->value]) * sizeof *c->class_of, h);
}

/* Bytes of range `r` for every choice of the group's nodes. */
static void fill_values(struct limit_model *l, const struct memory_range *r, const struct group *g,
                        double *values)
{
    uint32_t choice[UNIT_NODES_MOST] = {0};
    size_t at = 0;

    do {
        for (uint32_t k = 0; k < g->count; k++) {
            const struct node *n = &l->s.nodes[g->nodes[k]];
            l->on[n->class] = n->labels[choice[k]];
        }
        values[at++] = memory_range_bytes(l->m, l->s.t->labels, l->on, r);
    } while (solver_next_choice(&l->s, g->nodes, g->count, choice));
}

struct keys {
    uint64_t *items; /* of units */
    size_t room;
    struct slots slots, groups; /* groups: by their nodes */
};

static bool add_group(struct limit_model *l, const uint32_t *nodes, uint32_t count)
{
    struct solver_table f;

    if (!mem_grow(&l->groups, &l->group_room, l->group_count, 1) ||
        solver_table_new(&l->s, nodes, count, &f))
        return false;
    struct group *g = &l->groups[l->group_count++];
    g->count = count;
    memcpy(g->nodes, nodes, count * sizeof *nodes);
    g->size = f.size;
    g->table = l->s.table_count;
    return solver_push_table(&l->s, &f) == 0;
}

/* The group of these nodes, made where there is none. */
static bool find_group(struct limit_model *l, const uint32_t *nodes, uint32_t count,
                       struct slots *slots, uint32_t *out)
{
    uint64_t hash = mem_hash(nodes, count * sizeof *nodes, count);
    struct slot_walk at;

    for (*out = slots_first(slots, hash, &at); *out != SLOTS_END; *out = slots_next(slots, &at)) {
        const struct group *g = &l->groups[*out];
        if (g->count == count && !memcmp(g->nodes, nodes, count * sizeof *nodes))
            return true;
    }
    *out = l->group_count;
    return add_group(l, nodes, count) && slots_add(slots, hash, *out);
}

static int add_unit(struct limit_model *l, const struct memory_range *r, struct keys *keys,
                    uint64_t key, struct err *e)
{
    uint32_t nodes[UNIT_NODES_MOST], count, group;

    if (nodes_of(l, r, nodes, &count))
        return err_set(
            e, ERR_LIMIT,
            "a value that can be split in more than %d ways is too much for a memory limit",
            UNIT_NODES_MOST);
    if (!find_group(l, nodes, count, &keys->groups, &group) ||
        !mem_grow(&l->units, &l->unit_room, l->unit_count, 1) ||
        !mem_grow(&keys->items, &keys->room, l->unit_count, 1) ||
        !mem_grow(&l->values, &l->value_room, l->value_count, l->groups[group].size) ||
        !slots_add(&keys->slots, key, l->unit_count))
        return err_no_memory(e, MEMORY_FOR);
    fill_values(l, r, &l->groups[group], l->values + l->value_count);
    l->units[l->unit_count] = (struct unit){group, l->value_count};
    l->value_count += l->groups[group].size;
    keys->items[l->unit_count++] = key;
    return 0;
}

static int make_units(struct limit_model *l, struct err *e)
{
    struct keys keys = {0};
    int rc = 0;

    for (uint32_t k = 0; k < l->m->count; k++) {
        const struct memory_range *r = &l->m->ranges[k];
        uint64_t key = key_of(l, r, 1);
        struct slot_walk at;
        uint32_t unit = slots_first(&keys.slots, key, &at);
        while (unit != SLOTS_END && keys.items[unit] != key)
            unit = slots_next(&keys.slots, &at);
        if (unit == SLOTS_END) {
            unit = l->unit_count;
            rc = add_unit(l, r, &keys, key, e);
            if (rc)
                goto out;
        }
        l->unit_of[k] = unit;
    }
out:
    free(keys.items);
    slots_release(&keys.slots);
    slots_release(&keys.groups);
    return rc;
}

/* ---- the model ---- */

static bool index_tables(struct limit_model *l)
{
    const struct solver *s = &l->s;

    l->table_first = mem_try((size_t)s->node_count + 2, sizeof *l->table_first);
    if (!l->table_first)
        return false;
    for (size_t k = 0; k < l->own_tables; k++) {
        for (uint32_t n = 0; n < s->tables[k].count; n++)
            l->table_first[s->tables[k].nodes[n] + 2]++;
    }
    for (uint32_t n = 0; n < s->node_count; n++)
        l->table_first[n + 2] += l->table_first[n + 1];
    l->table_of = mem_try(l->table_first[s->node_count + 1], sizeof *l->table_of);
    for (size_t k = 0; k < l->own_tables && l->table_of; k++) {
        for (uint32_t n = 0; n < s->tables[k].count; n++)
            l->table_of[l->table_first[s->tables[k].nodes[n] + 1]++] = (uint32_t)k;
    }
    return l->table_of != NULL;
}

static bool index_units(struct limit_model *l)
{
    const struct solver *s = &l->s;

    l->units_first = mem_try((size_t)s->node_count + 2, sizeof *l->units_first);
    if (!l->units_first)
        return false;
    for (uint32_t u = 0; u < l->unit_count; u++) {
        const struct group *g = &l->groups[l->units[u].group];
        for (uint32_t n = 0; n < g->count; n++)
            l->units_first[g->nodes[n] + 2]++;
    }
    for (uint32_t n = 0; n < s->node_count; n++)
        l->units_first[n + 2] += l->units_first[n + 1];
    l->units_of = mem_try(l->units_first[s->node_count + 1], sizeof *l->units_of);
    for (uint32_t u = 0; u < l->unit_count && l->units_of; u++) {
        const struct group *g = &l->groups[l->units[u].group];
        for (uint32_t n = 0; n < g->count; n++)
            l->units_of[l->units_first[g->nodes[n] + 1]++] = u;
    }
    return l->units_of != NULL;
}

static int by_position(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if ((x->count < 0) != (y->count < 0))
        return x->count < 0 ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* Ends come before the begins of the next position; at the end of the entry all ends. Events of one
 * unit at one place are one. */
static bool list_events(struct limit_model *l)
{
    const struct memory_model *m = l->m;
    hlo_comp entry = m->m->entry;
    uint32_t first = m->first[entry], last = m->first[entry + 1], count = 0;

    if (last - first != m->count)
        return true;
    l->events = mem_try(2 * (size_t)m->count, sizeof *l->events);
    if (!l->events)
        return false;
    for (uint32_t k = first; k < last; k++) {
        const struct memory_range *r = &m->ranges[k];
        if (r->is_argument || r->start > r->end)
            continue;
        l->events[count++] = (struct event){l->unit_of[k], r->start, 1};
        l->events[count++] = (struct event){l->unit_of[k], r->end + 1, -1};
    }
    qsort(l->events, count, sizeof *l->events, by_position);
    for (uint32_t k = 0; k < count; k++) {
        struct event *before = l->event_count ? &l->events[l->event_count - 1] : NULL;
        if (before && !by_position(before, &l->events[k]))
            before->count += l->events[k].count;
        else
            l->events[l->event_count++] = l->events[k];
    }
    return true;
}

static double **copy_tables(const struct solver *s, size_t count)
{
    double **own = mem_try(count, sizeof *own);
    bool ok = own;

    for (size_t k = 0; k < count && own; k++) {
        own[k] = mem_try(s->tables[k].size, sizeof **own);
        ok &= own[k] != NULL;
        if (own[k])
            memcpy(own[k], s->tables[k].value, s->tables[k].size * sizeof **own);
    }
    if (ok)
        return own;
    for (size_t k = 0; k < count && own; k++)
        free(own[k]);
    free(own);
    return NULL;
}

static bool keep_own(struct limit_model *l)
{
    l->own_tables = l->s.table_count;
    l->constant = l->s.constant;
    l->own = copy_tables(&l->s, l->own_tables);
    return l->own != NULL;
}

/* The same problem with all of the excess, for what lies between. */
static int keep_ends(struct limit_model *l, const struct strict *fixed,
                     const struct exact_options *o, struct err *e)
{
    struct exact_options all = *o;
    struct solver s;

    if (!l->s.t->overlap.is_bounded)
        return 0;
    all.excess_weight = 1;
    int rc = solver_new(l->s.t, fixed, &all, &s, e);
    if (rc)
        return rc;
    BUG_ON(s.table_count != l->own_tables || s.node_count != l->s.node_count);
    l->ends[0].own = copy_tables(&l->s, l->own_tables);
    l->ends[1].own = copy_tables(&s, l->own_tables);
    l->ends[0].constant = l->constant;
    l->ends[1].constant = s.constant;
    rc = l->ends[0].own && l->ends[1].own ? 0 : err_no_memory(e, MEMORY_FOR);
    solver_release(&s);
    return rc;
}

int limit_model_new(const struct step_tables *t, const struct memory_model *m,
                    const struct strict *fixed, const struct exact_options *o,
                    struct limit_model *out, struct err *e)
{
    struct limit_model l = {.m = m};
    int rc = solver_new(t, fixed, o, &l.s, e);

    if (rc)
        return rc;
    l.unit_of = mem_try(m->count, sizeof *l.unit_of);
    l.scratch = memory_scratch(m);
    l.at = mem_try(m->m->computation_count, sizeof *l.at);
    l.on = mem_try(m->classes->count, sizeof *l.on);
    bool ok = l.unit_of && l.scratch && l.at && l.on && keep_own(&l) && index_tables(&l);
    if (ok)
        memcpy(l.on, l.s.fixed, m->classes->count * sizeof *l.on);
    rc = ok ? keep_ends(&l, fixed, o, e) : err_no_memory(e, MEMORY_FOR);
    if (rc)
        goto out;
    rc = make_units(&l, e);
    l.unit_bytes = mem_try(l.unit_count, sizeof *l.unit_bytes);
    l.scale = 1;
    if (rc)
        goto out;
    if (!l.unit_bytes || !index_units(&l) || !list_events(&l))
        rc = err_no_memory(e, MEMORY_FOR);
out:
    if (rc)
        limit_model_release(&l);
    else
        *out = l;
    return rc;
}

static void free_tables(double **own, size_t count)
{
    for (size_t k = 0; own && k < count; k++)
        free(own[k]);
    free(own);
}

void limit_model_release(struct limit_model *l)
{
    free_tables(l->own, l->own_tables);
    free_tables(l->ends[0].own, l->own_tables);
    free_tables(l->ends[1].own, l->own_tables);
    for (uint32_t k = 0; k < l->moment_count; k++)
        free(l->moments[k].counts);
    free(l->units);
    free(l->unit_of);
    free(l->values);
    free(l->groups);
    free(l->moments);
    free(l->table_of);
    free(l->table_first);
    free(l->events);
    free(l->unit_bytes);
    free(l->units_of);
    free(l->units_first);
    free(l->scratch);
    free(l->at);
    free(l->on);
    solver_release(&l->s);
    memset(l, 0, sizeof *l);
}

/* ---- a choice ---- */

static size_t entry_of(const struct limit_model *l, const uint32_t *nodes, uint32_t count,
                       const uint32_t *choice)
{
    size_t at = 0, stride = 1;

    for (uint32_t k = 0; k < count; k++) {
        at += stride * choice[nodes[k]];
        stride *= l->s.nodes[nodes[k]].domain;
    }
    return at;
}

static double sum_of(const struct limit_model *l, double **own, double constant,
                     const uint32_t *choice)
{
    double ms = constant;

    for (size_t k = 0; k < l->own_tables; k++) {
        const struct solver_table *f = &l->s.tables[k];
        ms += own[k][entry_of(l, f->nodes, f->count, choice)];
    }
    return ms;
}

/* sum + max(0, E) = max(sum, sum + E) */
double limit_time(const struct limit_model *l, const uint32_t *choice)
{
    if (!l->ends[0].own)
        return sum_of(l, l->own, l->constant, choice);
    return fmax(sum_of(l, l->ends[0].own, l->ends[0].constant, choice),
                sum_of(l, l->ends[1].own, l->ends[1].constant, choice));
}

double limit_balance(const struct limit_model *l, const uint32_t *choice)
{
    if (!l->ends[0].own)
        return 0;
    return sum_of(l, l->ends[1].own, l->ends[1].constant, choice) -
           sum_of(l, l->ends[0].own, l->ends[0].constant, choice);
}

double limit_balance_of(const struct limit_model *l, const uint32_t *choice, uint32_t n)
{
    double ms = 0;

    for (uint32_t k = l->table_first[n]; k < l->table_first[n + 1] && l->ends[0].own; k++) {
        const struct solver_table *f = &l->s.tables[l->table_of[k]];
        size_t at = entry_of(l, f->nodes, f->count, choice);
        double end = l->ends[1].own[l->table_of[k]][at];
        ms += isfinite(end) ? end - l->ends[0].own[l->table_of[k]][at] : 0;
    }
    return ms;
}

void limit_weigh_excess(struct limit_model *l, double weight)
{
    for (size_t k = 0; k < l->own_tables; k++) {
        const double *none = l->ends[0].own[k], *all = l->ends[1].own[k];
        for (size_t n = 0; n < l->s.tables[k].size; n++)
            l->own[k][n] = isfinite(none[n]) ? none[n] + weight * (all[n] - none[n]) : INFINITY;
    }
    l->constant = l->ends[0].constant + weight * (l->ends[1].constant - l->ends[0].constant);
    l->weight = weight;
    l->scale = NAN; /* the solver's tables are of another weight */
}

double limit_time_of(const struct limit_model *l, const uint32_t *choice, uint32_t n)
{
    double ms = 0;

    for (uint32_t k = l->table_first[n]; k < l->table_first[n + 1]; k++) {
        const struct solver_table *f = &l->s.tables[l->table_of[k]];
        ms += l->own[l->table_of[k]][entry_of(l, f->nodes, f->count, choice)];
    }
    return ms;
}

static double unit_bytes(const struct limit_model *l, const uint32_t *choice, uint32_t u)
{
    const struct group *g = &l->groups[l->units[u].group];

    return l->values[l->units[u].values + entry_of(l, g->nodes, g->count, choice)];
}

double limit_bytes_of(const struct limit_model *l, const uint32_t *choice, uint32_t n,
                      const double *weight)
{
    double bytes = 0;

    for (uint32_t k = l->units_first[n]; k < l->units_first[n + 1]; k++) {
        if (weight[l->units_of[k]] > 0)
            bytes += weight[l->units_of[k]] * unit_bytes(l, choice, l->units_of[k]);
    }
    return bytes;
}

void limit_look(struct limit_model *l, const uint32_t *choice)
{
    for (uint32_t u = 0; u < l->unit_count; u++)
        l->unit_bytes[u] = unit_bytes(l, choice, u);
}

double limit_bytes_at(const struct limit_model *l, uint32_t moment)
{
    const double *counts = l->moments[moment].counts;
    double bytes = 0;

    for (uint32_t u = 0; u < l->unit_count; u++)
        bytes += counts[u] * l->unit_bytes[u];
    return bytes;
}

/* ---- moments ---- */

static void count_unit(void *self, uint32_t range)
{
    const struct limit_model *l = self;

    l->moments[l->moment_count].counts[l->unit_of[range]]++;
}

/* Where the peak is that memory_sweep has just found. */
static bool find_moment(struct limit_model *l, uint32_t *out)
{
    struct moment m = {.counts = NULL};

    memory_chain_find(l->m, l->scratch, l->at, &m.chain);
    for (*out = 0; *out < l->moment_count; ++*out) {
        if (memory_chain_equals(&l->moments[*out].chain, &m.chain))
            return true;
    }
    m.counts = mem_try(l->unit_count, sizeof *m.counts);
    if (!m.counts || !mem_grow(&l->moments, &l->moment_room, l->moment_count, 1)) {
        free(m.counts);
        return false;
    }
    l->moments[l->moment_count] = m;
    memory_chain_each(l->m, &m.chain, count_unit, l);
    l->moment_count++;
    return true;
}

/* The same where nothing lives but in the entry: begins and ends alone, looking before each end
 * that follows a begin. */
static double event_peak(struct limit_model *l)
{
    double live = 0, most = 0;
    bool grew = false;

    for (uint32_t k = 0; k < l->event_count; k++) {
        const struct event *e = &l->events[k];
        if (e->count < 0 && grew && live > most) {
            most = live;
            l->at[l->m->m->entry] = l->events[k - 1].position;
        }
        grew = e->count > 0;
        live += e->count * l->unit_bytes[e->unit];
    }
    return most;
}

double limit_peak(struct limit_model *l, uint32_t *moment)
{
    hlo_comp entry = l->m->m->entry;
    double peak = 0;

    for (uint32_t k = l->m->first[entry]; k < l->m->first[entry + 1]; k++)
        peak += l->m->ranges[k].is_argument ? l->unit_bytes[l->unit_of[k]] : 0;
    if (l->events) {
        peak += event_peak(l);
    } else {
        for (uint32_t k = 0; k < l->m->count; k++)
            l->scratch[k] = l->unit_bytes[l->unit_of[k]];
        peak += memory_sweep(l->m, l->scratch, l->at);
    }
    if (moment && !find_moment(l, moment))
        return -1;
    return peak;
}

void limit_set_prices(struct limit_model *l, double scale, const double *price, double limit)
{
    for (size_t k = 0; k < l->own_tables && scale != l->scale; k++) {
        for (size_t n = 0; n < l->s.tables[k].size; n++)
            l->s.tables[k].value[n] = isfinite(l->own[k][n]) ? scale * l->own[k][n] : INFINITY;
    }
    for (uint32_t g = 0; g < l->group_count; g++)
        memset(l->s.tables[l->groups[g].table].value, 0, l->groups[g].size * sizeof(double));
    l->scale = scale;
    l->s.constant = scale * l->constant;
    for (uint32_t p = 0; p < l->moment_count; p++)
        l->s.constant -= price[p] > 0 ? price[p] * limit : 0;
    for (uint32_t u = 0; u < l->unit_count; u++) {
        const struct group *g = &l->groups[l->units[u].group];
        double weight = 0;
        for (uint32_t p = 0; p < l->moment_count; p++)
            weight += price[p] > 0 ? price[p] * l->moments[p].counts[u] : 0;
        for (size_t n = 0; n < g->size && weight > 0; n++)
            l->s.tables[g->table].value[n] += weight * l->values[l->units[u].values + n];
    }
}
