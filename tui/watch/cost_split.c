#include "tui/watch/cost_split.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/names.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/watch/tree.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const cost_key_names[COST_KEY_COUNT] = {"phase", "layer", "operation", "group",
                                                    "instruction"};

void cost_split_release(struct cost_split *s)
{
    free(s->items);
    *s = (struct cost_split){0};
}

/* One item for computing, one for each all-reduce. */
static bool add_items(struct cost_split *s, size_t *room, hlo_id id, const label *on)
{
    const struct step_tables *t = &s->watch->problem->step_tables;
    struct instruction_cost c = step_tables_instruction(t, id, on);
    struct reduction r[TERM_CLASSES_MOST];
    uint32_t reductions = c.communication_ms > 0 ? step_tables_reductions(t, id, on, r) : 0;

    if (!mem_grow(&s->items, room, s->count, 1 + reductions))
        return false;
    if (c.compute_ms > 0)
        s->items[s->count++] =
            (struct cost_item){.id = id, .class = CLASS_NONE, .ms = c.compute_ms};
    for (uint32_t n = 0; n < reductions; n++) {
        s->items[s->count++] = (struct cost_item){.id = id,
                                                  .class = r[n].class,
                                                  .over = r[n].over,
                                                  .ms = r[n].ms * c.times,
                                                  .reduces = r[n].count * c.times,
                                                  .bytes = r[n].bytes * c.times};
    }
    return true;
}

int cost_split_read(struct cost_split *s, const struct watch *w, struct err *e)
{
    const struct problem *p = w->problem;
    size_t room = 0;

    if (s->watch == w && s->version == w->ms_version)
        return 0;
    cost_split_release(s);
    s->watch = w;
    label *whole = w->best ? NULL : mem_try((size_t)p->classes.count + 1, sizeof *whole);
    bool ok = w->best || whole;
    for (hlo_id id = 0; ok && id < p->m->count; id++)
        ok = add_items(s, &room, id, w->best ? w->best->on : whole);
    free(whole);
    s->version = ok ? w->ms_version : 0;
    return ok ? 0 : err_set(e, ERR_MEMORY, "not enough memory to take the cost apart");
}

/* ---- groups ---- */

static uint32_t value_of(const struct watch *w, const struct cost_item *item, enum cost_key key)
{
    const struct problem *p = w->problem;

    switch (key) {
    case COST_BY_PHASE:
        return p->roles.phase[item->id];
    case COST_BY_LAYER:
        return p->roles.layer[item->id];
    case COST_BY_OPCODE:
        return hlo_at(p->m, item->id)->opcode;
    case COST_BY_CLASS:
        return item->class == CLASS_NONE ? p->classes.count : item->class;
    default:
        return item->id;
    }
}

static size_t values_of(const struct watch *w, enum cost_key key)
{
    const struct problem *p = w->problem;
    const size_t counts[COST_KEY_COUNT] = {HLO_PHASE_COUNT, (size_t)p->roles.layer_count + 1,
                                           HLO_OP_COUNT, (size_t)p->classes.count + 1,
                                           (size_t)p->m->count + 1};
    return counts[key];
}

static int longest_first(const void *a, const void *b)
{
    const struct cost_group *x = a, *y = b;
    double mine = x->compute_ms + x->network_ms, other = y->compute_ms + y->network_ms;
    return mine != other ? (mine < other ? 1 : -1) : x->value < y->value ? -1 : 1;
}

int cost_split_group(const struct cost_split *s, const struct cost_filter *filters, int count,
                     enum cost_key key, struct cost_group **out, size_t *groups, struct err *e)
{
    size_t values = values_of(s->watch, key), kept = 0;
    struct cost_group *g = mem_try(values, sizeof *g);
    hlo_id last = HLO_NONE;

    *out = NULL;
    *groups = 0;
    if (!g)
        return err_set(e, ERR_MEMORY, "not enough memory to group the cost");
    for (size_t n = 0; n < s->count; n++) {
        const struct cost_item *item = &s->items[n];
        bool passes = true;
        for (int f = 0; f < count; f++)
            passes &= value_of(s->watch, item, filters[f].key) == filters[f].value;
        if (!passes)
            continue;
        struct cost_group *to = &g[value_of(s->watch, item, key)];
        *(item->class == CLASS_NONE ? &to->compute_ms : &to->network_ms) += item->ms;
        to->reduces += item->reduces;
        to->bytes += item->bytes;
        to->instructions += item->id != last || key == COST_BY_CLASS;
        last = item->id;
    }
    for (uint32_t value = 0; value < values; value++) {
        if (!g[value].instructions)
            continue;
        g[kept] = g[value];
        g[kept].times = 1;
        g[kept++].value = value;
    }
    if (key != COST_BY_PHASE)
        qsort(g, kept, sizeof *g, longest_first);
    *out = g;
    *groups = kept;
    return 0;
}

/* ---- alike ---- */

struct alike {
    char stem[NAME_ROOM];   /* the name without its last number; "": stands for itself */
    uint32_t number, index; /* that number; in the list of groups */
};

static void stem_of(const struct watch *w, enum cost_key key, const struct cost_group *g,
                    struct alike *out)
{
    char name[NAME_ROOM];
    int move = MOVE_NONE;

    out->stem[0] = 0;
    out->number = 0;
    if (key == COST_BY_CLASS && g->value < w->problem->classes.count)
        move = watch_move_of(w, g->value);
    if (move != MOVE_NONE)
        snprintf(out->stem, sizeof out->stem, "%s", w->move[move].stem);
    if (key != COST_BY_LAYER)
        return;
    cost_group_name(w, key, g->value, name, sizeof name);
    size_t end = strlen(name);
    while (end && !isdigit((unsigned char)name[end - 1]))
        end--;
    size_t begin = end;
    while (begin && isdigit((unsigned char)name[begin - 1]))
        begin--;
    if (begin == end)
        return;
    out->number = (uint32_t)strtoul(name + begin, NULL, 10);
    snprintf(out->stem, sizeof out->stem, "%.*s#%s", (int)begin, name, name + end);
}

static int by_stem(const void *a, const void *b)
{
    const struct alike *x = a, *y = b;
    int order = strcmp(x->stem, y->stem);
    return order                    ? order
           : x->number != y->number ? (x->number < y->number ? -1 : 1)
           : x->index < y->index    ? -1
                                    : x->index > y->index;
}

static bool takes_the_same(const struct cost_group *a, const struct cost_group *b)
{
    static const double within = 0.02; /* of the larger */
    const double x[] = {a->compute_ms, a->network_ms, a->reduces, a->bytes},
                 y[] = {b->compute_ms, b->network_ms, b->reduces, b->bytes};

    for (size_t n = 0; n < sizeof x / sizeof *x; n++) {
        if (fabs(x[n] - y[n]) > within * fmax(fabs(x[n]), fabs(y[n])))
            return false;
    }
    return true;
}

/* `to` holds the sums of those that are in it. */
static void join_groups(struct cost_group *to, const struct cost_group *g, uint32_t number)
{
    to->times++;
    to->last = number;
    to->instructions += g->instructions;
    to->compute_ms += g->compute_ms;
    to->network_ms += g->network_ms;
    to->reduces += g->reduces;
    to->bytes += g->bytes;
}

size_t cost_fold_alike(const struct watch *w, enum cost_key key, struct cost_group *groups,
                       size_t count)
{
    struct alike *list = mem_try(count + 1, sizeof *list);
    size_t kept = 0;

    if (!list)
        return count; /* each by itself */
    for (uint32_t n = 0; n < count; n++) {
        stem_of(w, key, &groups[n], &list[n]);
        list[n].index = n;
    }
    qsort(list, count, sizeof *list, by_stem);
    for (size_t n = 0, end; n < count; n = end) {
        struct cost_group one = groups[list[n].index], *to = &groups[list[n].index];
        to->first = to->last = list[n].number;
        for (end = n + 1; end < count && list[n].stem[0] && !strcmp(list[n].stem, list[end].stem) &&
                          takes_the_same(&one, &groups[list[end].index]);
             end++) {
            join_groups(to, &groups[list[end].index], list[end].number);
            groups[list[end].index].times = 0;
        }
    }
    free(list);
    for (size_t n = 0; n < count; n++) {
        if (groups[n].times)
            groups[kept++] = groups[n];
    }
    qsort(groups, kept, sizeof *groups, longest_first);
    return kept;
}

/* An all-reduce is two gathers (engine/cluster/collectives.h). */
struct cost_traffic cost_split_traffic(const struct cost_split *s, class_id made_by)
{
    struct cost_traffic out = {0};

    for (size_t n = 0; n < s->count; n++) {
        const struct cost_item *item = &s->items[n];
        if (item->class == CLASS_NONE || !(item->reduces > 0) ||
            (made_by != CLASS_NONE && item->class != made_by))
            continue;
        const struct mesh_span *span = &s->watch->problem->mesh.span[item->over];
        double times = s->watch->problem->costs.times[item->id];
        double inside = span->inside > 1 ? (span->inside - 1.) / span->inside : 0;
        double across =
            span->servers > 1 ? (span->servers - 1.) / span->servers * span->cards_shared : 0;
        out.inside_bytes += 2 * inside * item->bytes;
        out.across_bytes += 2 * across * item->bytes;
        struct collective_cost one = collective_cost(
            &s->watch->problem->mesh, COLLECTIVE_ALL_REDUCE, item->over, item->bytes / times);
        out.inside_ms += times * (one.inside_ms + one.latency_inside_ms);
        out.across_ms += times * (one.across_ms + one.latency_across_ms);
    }
    return out;
}

/* ---- words ---- */

char *cost_group_name(const struct watch *w, enum cost_key key, uint32_t value, char *out,
                      size_t room)
{
    const struct problem *p = w->problem;
    char name[NAME_ROOM];

    if (key == COST_BY_PHASE)
        snprintf(out, room, "%s", hlo_phase_names[value]);
    else if (key == COST_BY_LAYER)
        snprintf(out, room, "%s", value ? p->roles.layer_names[value] : "outside of layers");
    else if (key == COST_BY_OPCODE)
        snprintf(out, room, "%s", hlo_op_info[value].name);
    else if (key == COST_BY_INSTRUCTION)
        snprintf(out, room, "%s", tree_instruction_name(w->tree, value));
    else if (value == p->classes.count)
        snprintf(out, room, "computing");
    else
        snprintf(out, room, "%s", class_name(&w->names, value, name));
    return out;
}

char *cost_row_name(const struct watch *w, enum cost_key key, const struct cost_group *g, char *out,
                    size_t room)
{
    struct alike a;

    if (g->times < 2)
        return cost_group_name(w, key, g->value, out, room);
    stem_of(w, key, g, &a);
    char *at = key == COST_BY_LAYER ? strrchr(a.stem, '#') : NULL;
    if (!at) {
        snprintf(out, room, "%.100s ×%u", a.stem, g->times);
        return out;
    }
    *at = 0;
    if (g->last - g->first + 1 == g->times)
        snprintf(out, room, "%.80s%u–%u%.20s ×%u", a.stem, g->first, g->last, at + 1, g->times);
    else
        snprintf(out, room, "%.80s%u..%u%.20s ×%u", a.stem, g->first, g->last, at + 1, g->times);
    return out;
}

void cost_explain(const struct watch *w, hlo_id id, char *out, size_t room)
{
    const struct problem *p = w->problem;
    label *whole = w->best ? NULL : mem_try((size_t)p->classes.count + 1, sizeof *whole);
    char flops[UNITS_ROOM], peak[UNITS_ROOM], bytes[UNITS_ROOM], band[UNITS_ROOM], times[32] = "";
    char adding[64] = "";

    out[0] = 0;
    if (!w->best && !whole)
        return;
    struct instruction_cost c =
        step_tables_instruction(&p->step_tables, id, w->best ? w->best->on : whole);
    free(whole);
    if (c.adding_ms > 0)
        snprintf(adding, sizeof adding, ", and adding up its gradient %.3f ms", c.adding_ms);
    if (p->measured_ms && p->measured_ms[id] >= 0) {
        snprintf(out, room, "measured: %.3f ms unsplit%s, %.3f ms now", p->measured_ms[id], adding,
                 c.compute_ms);
        return;
    }
    const struct cluster_device *d = &p->step_tables.device;
    struct instruction_scaling s = step_tables_scaling(&p->step_tables, id, CLASS_NONE);
    double rate = cluster_peak(d, s.peak);
    if (c.times > 1)
        snprintf(times, sizeof times, ", %.0f times", c.times);
    snprintf(out, room, "%s at %s %.3f ms, %s at %s %.3f ms; the longer%s%s%s: %.3f ms",
             units_rate(flops, c.flops, "FLOP"), units_rate(peak, rate, "FLOP/s"),
             c.flops / rate * 1e3, units_bytes(bytes, c.bytes),
             units_rate(band, d->bandwidth, "B/s"), c.bytes / cluster_bandwidth(d) * 1e3,
             s.is_heavy && d->launch_ms > 0 ? " and a launch" : "", times, adding, c.compute_ms);
}
