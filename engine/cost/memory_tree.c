#include "engine/cost/memory_tree.h"

#include "engine/cost/training.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct memory_tree {
    const struct memory_model *m;
    const struct labels *l;
    const label *on;
    double *bytes;                 /* [ranges] */
    hlo_comp *home;                /* [ranges] the computation of each */
    uint32_t *first, *of_class;    /* ranges of each class: of_class[first[k] .. first[k + 1]] */
    uint32_t *sites_first, *sites; /* positions that call each computation */
    double *most, *more; /* [2 x positions] trees: computation c has nodes from 2 x its first
                            on, node 1 its root; of all below, and what is to be added */
    double *beside;      /* [positions] the peak of what is called there */
    uint8_t *changed;    /* [computations] whether its callers are to be told */
    double arguments;
};

/* ---- one tree ---- */

static const struct hlo_computation *computation(const struct memory_tree *t, hlo_comp c)
{
    return &t->m->m->computations[c];
}

static double peak_of(const struct memory_tree *t, hlo_comp c)
{
    const struct hlo_computation *comp = computation(t, c);
    double most = comp->count ? t->most[2 * (size_t)comp->first + 1] : 0;

    return most > 0 ? most : 0;
}

static void lift(double *most, const double *more, uint32_t node)
{
    for (node /= 2; node; node /= 2)
        most[node] = fmax(most[2 * node], most[2 * node + 1]) + more[node];
}

/* Adds to positions `from` to `to` of computation c, counted from the module's first. */
static void add(struct memory_tree *t, hlo_comp c, uint32_t from, uint32_t to, double bytes)
{
    const struct hlo_computation *comp = computation(t, c);
    double *most = t->most + 2 * (size_t)comp->first, *more = t->more + 2 * (size_t)comp->first;
    uint32_t low = from - comp->first + comp->count, high = to - comp->first + comp->count;

    for (uint32_t a = low, b = high + 1; a < b; a /= 2, b /= 2) {
        if (a & 1) {
            most[a] += bytes;
            more[a++] += bytes;
        }
        if (b & 1) {
            most[--b] += bytes;
            more[b] += bytes;
        }
    }
    lift(most, more, low);
    lift(most, more, high);
}

/* ---- computations within computations ---- */

static hlo_comp home_of(const struct memory_tree *t, uint32_t position)
{
    return hlo_at(t->m->m, t->m->schedule.order[position])->computation;
}

static void tell_callers(struct memory_tree *t, hlo_comp c)
{
    const struct hlo_module *m = t->m->m;

    for (uint32_t n = t->sites_first[c]; n < t->sites_first[c + 1]; n++) {
        uint32_t at = t->sites[n];
        hlo_id id = t->m->schedule.order[at];
        double most = 0;
        for (uint32_t k = 0; k < hlo_at(m, id)->called_count; k++)
            most = fmax(most, peak_of(t, hlo_called(m, id, k)));
        if (most == t->beside[at])
            continue;
        add(t, home_of(t, at), at, at, most - t->beside[at]);
        t->beside[at] = most;
        t->changed[home_of(t, at)] = 1;
    }
}

/* Callees stand before their callers. */
static void tell_all(struct memory_tree *t, hlo_comp first)
{
    uint8_t *end = t->changed + t->m->m->computation_count;

    for (uint8_t *at = t->changed + first; (at = memchr(at, 1, (size_t)(end - at))); at++) {
        *at = 0;
        tell_callers(t, (hlo_comp)(at - t->changed));
    }
}

/* ---- ranges ---- */

static void update_range(struct memory_tree *t, uint32_t n)
{
    const struct memory_range *r = &t->m->ranges[n];
    double bytes = rint(memory_range_bytes(t->m, t->l, t->on, r)), change = bytes - t->bytes[n];

    if (change == 0)
        return;
    t->bytes[n] = bytes;
    if (r->is_argument) {
        t->arguments += change;
    } else if (r->start <= r->end) {
        add(t, t->home[n], r->start, r->end, change);
        t->changed[t->home[n]] = 1;
    }
}

void memory_tree_update(struct memory_tree *t, class_id k)
{
    hlo_comp first = t->m->m->computation_count;

    for (uint32_t n = t->first[k]; n < t->first[k + 1]; n++) {
        update_range(t, t->of_class[n]);
        if (t->home[t->of_class[n]] < first)
            first = t->home[t->of_class[n]];
    }
    tell_all(t, first);
}

double memory_tree_peak(const struct memory_tree *t)
{
    return t->arguments + peak_of(t, t->m->m->entry);
}

uint32_t memory_tree_ranges(const struct memory_tree *t, class_id k)
{
    return t->first[k + 1] - t->first[k];
}

/* ---- making one ---- */

enum { RANGE_CLASSES_MOST = HLO_RANK_MAX + ZERO_CLASSES_MOST };

/* Counts first[k + 2] where `out` is NULL; else files the ranges, and moves first[k + 1] on. */
static void file_ranges(const struct memory_model *m, uint32_t *first, uint32_t *out)
{
    class_id list[RANGE_CLASSES_MOST];

    for (uint32_t n = 0; n < m->count; n++) {
        uint32_t count = memory_range_classes(m, &m->ranges[n], list, RANGE_CLASSES_MOST);
        for (uint32_t k = 0; k < count; k++) {
            if (out)
                out[first[list[k] + 1]++] = n;
            else
                first[list[k] + 2]++;
        }
    }
}

/* The same for the positions that call each computation. */
static void file_sites(const struct memory_model *m, uint32_t *first, uint32_t *out)
{
    for (uint32_t at = 0; at < m->m->count; at++) {
        hlo_id id = m->schedule.order[at];
        for (uint32_t k = 0; k < hlo_at(m->m, id)->called_count; k++) {
            hlo_comp c = hlo_called(m->m, id, k);
            if (out)
                out[first[c + 1]++] = at;
            else
                first[c + 2]++;
        }
    }
}

static bool index_by(const struct memory_model *m, uint32_t count,
                     void (*file)(const struct memory_model *m, uint32_t *first, uint32_t *out),
                     uint32_t **first, uint32_t **items)
{
    *first = mem_try((size_t)count + 2, sizeof **first);
    if (!*first)
        return false;
    file(m, *first, NULL);
    for (uint32_t k = 0; k < count; k++)
        (*first)[k + 2] += (*first)[k + 1];
    *items = mem_try((*first)[count + 1], sizeof **items);
    if (*items)
        file(m, *first, *items);
    return *items != NULL;
}

int memory_tree_new(const struct memory_model *m, const struct labels *l, const label *on,
                    struct memory_tree **out, struct err *e)
{
    struct memory_tree *t = mem_try(1, sizeof *t);
    size_t positions = m->m->count;

    *out = NULL;
    if (!t)
        return err_no_memory(e, "to look at the peak");
    *t = (struct memory_tree){.m = m, .l = l, .on = on};
    t->bytes = mem_try(m->count, sizeof *t->bytes);
    t->home = mem_try(m->count, sizeof *t->home);
    t->most = mem_try(2 * positions, sizeof *t->most);
    t->more = mem_try(2 * positions, sizeof *t->more);
    t->beside = mem_try(positions, sizeof *t->beside);
    t->changed = mem_try(m->m->computation_count, sizeof *t->changed);
    if (!t->bytes || !t->home || !t->most || !t->more || !t->beside || !t->changed ||
        !index_by(m, m->classes->count, file_ranges, &t->first, &t->of_class) ||
        !index_by(m, m->m->computation_count, file_sites, &t->sites_first, &t->sites)) {
        memory_tree_free(t);
        return err_no_memory(e, "to look at the peak");
    }
    for (hlo_comp c = 0; c < m->m->computation_count; c++) {
        for (uint32_t n = m->first[c]; n < m->first[c + 1]; n++) {
            t->home[n] = c;
            update_range(t, n);
        }
    }
    tell_all(t, 0);
    *out = t;
    return 0;
}

void memory_tree_free(struct memory_tree *t)
{
    if (!t)
        return;
    free(t->bytes);
    free(t->home);
    free(t->first);
    free(t->of_class);
    free(t->sites_first);
    free(t->sites);
    free(t->most);
    free(t->more);
    free(t->beside);
    free(t->changed);
    free(t);
}
