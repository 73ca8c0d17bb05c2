#include "tui/watch/part.h"

#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "tui/watch/tree.h"

#include <stdio.h>
#include <string.h>

struct part part_of_node(int node)
{
    return (struct part){.node = node};
}

char *part_name(const struct watch *w, const struct part *p, char *out, size_t room)
{
    char name[128];
    size_t size = 0;

    if (!p->filter_count)
        snprintf(out, room, "%s", w->tree->nodes[p->node].name);
    for (int n = 0; n < p->filter_count && size < room; n++) {
        cost_group_name(w, p->filters[n].key, p->filters[n].value, name, sizeof name);
        size += (size_t)snprintf(out + size, room - size, "%s%s", n ? " › " : "", name);
    }
    if (p->times > 1 && size < room)
        snprintf(out + size, room - size, ", one of %u", p->times);
    return out;
}

static bool passes(const struct watch *w, const struct cost_filter *f, hlo_id id)
{
    const struct problem *p = w->problem;

    switch (f->key) {
    case COST_BY_PHASE:
        return p->roles.phase[id] == f->value;
    case COST_BY_LAYER:
        return p->roles.layer[id] == f->value;
    case COST_BY_OPCODE:
        return hlo_at(p->m, id)->opcode == f->value;
    case COST_BY_INSTRUCTION:
        return id == f->value;
    default:
        return true; /* a class is of all-reduces, not of instructions */
    }
}

static bool is_below(const struct tree *t, int n, int node)
{
    while (n != TREE_NONE && n != node)
        n = t->nodes[n].parent;
    return n != TREE_NONE;
}

bool part_holds(const struct watch *w, const struct part *p, hlo_id id)
{
    bool holds = p->filter_count || is_below(w->tree, w->tree->node_of[id], p->node);

    for (int n = 0; n < p->filter_count; n++)
        holds = holds && passes(w, &p->filters[n], id);
    return holds;
}

bool part_holds_collective(const struct watch *w, const struct part *p,
                           const struct plan_collective *c)
{
    bool holds = part_holds(w, p, c->instruction);

    for (int n = 0; n < p->filter_count; n++)
        holds = holds && (p->filters[n].key != COST_BY_CLASS || p->filters[n].value == c->cause);
    return holds;
}

hlo_id part_begins(const struct watch *w, const struct part *p)
{
    hlo_id first = HLO_NONE;

    if (!p->filter_count)
        return w->tree->nodes[p->node].begins;
    for (hlo_id id = 0; id < w->problem->m->count; id++) {
        if (!part_holds(w, p, id))
            continue;
        if (tree_is_telling(w->tree, id))
            return id;
        first = first == HLO_NONE ? id : first;
    }
    return first;
}
