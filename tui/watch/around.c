#include "tui/watch/around.h"

#include "engine/decide/classes.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"

#include <string.h>

static bool is_free(const struct tree *t, hlo_id id)
{
    const struct classes *c = &t->problem->classes;
    hlo_value first = c->m->leaf_base[id], end = c->m->leaf_base[id + 1];

    for (hlo_value v = first; v < end; v++) {
        if (!c->is_free[v])
            return false;
    }
    return end > first;
}

/* Arguments belong to the phase that asks. */
static bool same_phase(const struct tree *t, hlo_id a, hlo_id b)
{
    const uint8_t *phase = t->problem->roles.phase;
    return phase[a] == phase[b] || hlo_at(t->problem->m, a)->opcode == HLO_OP_PARAMETER;
}

struct listing {
    hlo_id *out;
    uint32_t room, skip, count;
};

static void list_around(struct listing *s, hlo_id id)
{
    if (s->count >= s->skip && s->count - s->skip < s->room)
        s->out[s->count - s->skip] = id;
    s->count++;
}

uint32_t around_operands(const struct tree *t, hlo_id id, bool all, uint32_t skip, hlo_id *out,
                         uint32_t room)
{
    const struct hlo_module *m = t->problem->m;
    const struct hlo_instruction *i = hlo_at(m, id);
    const struct hlo_computation *c = &m->computations[i->computation];
    struct listing s = {out, room, skip, 0};

    if (i->opcode == HLO_OP_PARAMETER && c->caller_count)
        list_around(&s, c->callers[0]);
    for (uint32_t n = 0; n < i->operand_count; n++) {
        hlo_id o = hlo_operand(m, id, n);
        bool again = false;
        for (uint32_t k = n; k > 0 && n < AROUND_HUB; k--)
            again |= hlo_operand(m, id, k - 1) == o;
        if (!again && (all || !is_free(t, o)))
            list_around(&s, o);
    }
    return s.count;
}

uint32_t around_users(const struct tree *t, hlo_id id, bool all, uint32_t skip, hlo_id *out,
                      uint32_t room)
{
    const struct hlo_module *m = t->problem->m;
    const struct hlo_instruction *i = hlo_at(m, id);
    const struct hlo_computation *c = &m->computations[i->computation];
    struct listing s = {out, room, skip, 0};

    if (i->is_root && c->caller_count)
        list_around(&s, c->callers[0]);
    for (uint32_t n = 0; n < i->user_count; n++) {
        if (all || same_phase(t, id, hlo_user(m, id, n)))
            list_around(&s, hlo_user(m, id, n));
    }
    return s.count;
}

static uint32_t users_elsewhere(const struct tree *t, hlo_id id)
{
    const struct hlo_module *m = t->problem->m;
    uint32_t count = 0;

    for (uint32_t n = 0; n < hlo_at(m, id)->user_count; n++)
        count += !same_phase(t, id, hlo_user(m, id, n));
    return count;
}

/* ---- finding ---- */

struct reach {
    const struct tree *t;
    struct around *a;
    bool all;
};

static int node_of(const struct around *a, hlo_id id)
{
    for (int n = 0; n < a->node_count; n++) {
        if (!a->nodes[n].more && (a->nodes[n].id == id || a->nodes[n].far == id))
            return n;
    }
    return -1;
}

static int add_node(struct reach *s, hlo_id id, int level)
{
    struct around *a = s->a;

    if (a->node_count == AROUND_NODES)
        return -1;
    uint32_t degree =
        hlo_at(s->t->problem->m, id)->operand_count + hlo_at(s->t->problem->m, id)->user_count;
    a->nodes[a->node_count] =
        (struct around_node){.id = id,
                             .far = id,
                             .level = level,
                             .folded = 1,
                             .degree = degree > AROUND_HUB ? degree : 0,
                             .elsewhere = s->all ? 0 : users_elsewhere(s->t, id)};
    return a->node_count++;
}

static void add_edge(struct around *a, int from, int to)
{
    for (int i = 0; i < a->edge_count; i++) {
        if (a->edges[i].from == from && a->edges[i].to == to)
            return;
    }
    if (a->edge_count < AROUND_EDGES && from != to)
        a->edges[a->edge_count++] = (struct around_edge){from, to};
}

/* Follows a run of plain operations away from the centre. Two in a row are not worth folding. */
static void fold_around(struct reach *s, struct around_node *n, bool up)
{
    enum { LONGEST = 1000, SHORTEST = 3 };
    hlo_id at = n->id, next[2], back[2];
    uint32_t length = 1;

    while (!s->all && length < LONGEST && !tree_is_telling(s->t, at) &&
           around_operands(s->t, at, false, 0, up ? next : back, 2) == 1 &&
           around_users(s->t, at, false, 0, up ? back : next, 2) == 1) {
        if (tree_is_telling(s->t, next[0]) || node_of(s->a, next[0]) >= 0 ||
            around_operands(s->t, next[0], false, 0, back, 2) != 1 ||
            around_users(s->t, next[0], false, 0, back, 2) != 1)
            break;
        at = next[0];
        length++;
    }
    if (length < SHORTEST)
        return;
    n->far = at;
    n->folded = length;
}

/* The neighbours of node `n` in one direction, one level further out. */
static void expand_around(struct reach *s, int n, bool up, uint32_t skip)
{
    struct around *a = s->a;
    hlo_id ids[AROUND_HUB];
    bool centre = n == 0;
    uint32_t room = centre ? AROUND_HUB - 2 : AROUND_HUB;
    int level = a->nodes[n].level + (up ? -1 : 1);

    if (a->nodes[n].more || (a->nodes[n].degree && !centre) ||
        (up && !centre && !s->all && !same_phase(s->t, a->nodes[0].id, a->nodes[n].id)) ||
        level < -AROUND_LEVELS || level > AROUND_LEVELS)
        return;
    uint32_t count = up ? around_operands(s->t, a->nodes[n].far, s->all, skip, ids, room)
                        : around_users(s->t, a->nodes[n].far, s->all, skip, ids, room);
    if (count <= room && skip) { /* this side has no further page */
        expand_around(s, n, up, 0);
        return;
    }
    uint32_t here = count > skip ? count - skip : 0;
    for (uint32_t i = 0; i < here && i < room; i++) {
        int other = node_of(a, ids[i]);
        if (other < 0) {
            other = add_node(s, ids[i], level);
            if (other < 0)
                return;
            fold_around(s, &a->nodes[other], up);
        }
        add_edge(a, up ? other : n, up ? n : other);
    }
    if (here > room && a->node_count < AROUND_NODES) {
        a->nodes[a->node_count] = (struct around_node){
            .id = HLO_NONE, .far = HLO_NONE, .level = level, .more = here - room};
        add_edge(a, up ? a->node_count : n, up ? n : a->node_count);
        a->node_count++;
    }
}

/* What telling users of shown values use besides: operands of nodes below that are not there yet.
 */
static void add_partners(struct reach *s, int radius)
{
    struct around *a = s->a;
    int count = a->node_count;

    for (int n = 1; n < count; n++) {
        hlo_id ids[3];
        if (a->nodes[n].level < 1 || a->nodes[n].level > radius || a->nodes[n].more ||
            a->nodes[n].degree || !tree_is_telling(s->t, a->nodes[n].id))
            continue;
        uint32_t operands = around_operands(s->t, a->nodes[n].id, s->all, 0, ids, 3);
        for (uint32_t i = 0; i < operands && i < 3; i++) {
            int other = node_of(a, ids[i]);
            if (other < 0)
                other = add_node(s, ids[i], a->nodes[n].level - 1);
            if (other >= 0)
                add_edge(a, other, n);
        }
    }
}

/* Edges between nodes that were met separately. */
static void join_around(struct reach *s)
{
    struct around *a = s->a;

    for (int n = 0; n < a->node_count; n++) {
        hlo_id ids[AROUND_HUB];
        if (a->nodes[n].more || a->nodes[n].folded > 1)
            continue;
        uint32_t count = around_operands(s->t, a->nodes[n].id, s->all, 0, ids, AROUND_HUB);
        for (uint32_t i = 0; i < count && i < AROUND_HUB; i++) {
            int other = node_of(a, ids[i]);
            if (other >= 0 && other != n)
                add_edge(a, other, n);
        }
    }
}

/* Longest paths from the centre, so that every edge leads down; those of edges that would need more
 * levels, or lead around a loop, are dropped. */
static void set_levels(struct around *a)
{
    for (int pass = 0; pass < AROUND_LEVELS; pass++) {
        for (int i = 0; i < a->edge_count; i++) {
            struct around_node *from = &a->nodes[a->edges[i].from], *to = &a->nodes[a->edges[i].to];
            if (from->level < to->level)
                continue;
            if (from->level < 0 || (from->level == 0 && a->edges[i].from && to->level <= 0))
                from->level = to->level - 1;
            else if (a->edges[i].to)
                to->level = from->level + 1;
        }
    }
    int kept = 0;
    for (int i = 0; i < a->edge_count; i++) {
        const struct around_node *from = &a->nodes[a->edges[i].from],
                                 *to = &a->nodes[a->edges[i].to];
        if (from->level < to->level && from->level >= -AROUND_LEVELS && to->level <= AROUND_LEVELS)
            a->edges[kept++] = a->edges[i];
    }
    a->edge_count = kept;
    for (int n = 0; n < a->node_count; n++) {
        int *level = &a->nodes[n].level;
        *level = *level > AROUND_LEVELS    ? AROUND_LEVELS
                 : *level < -AROUND_LEVELS ? -AROUND_LEVELS
                                           : *level;
    }
}

void around_find(const struct tree *t, hlo_id centre, int radius, bool all, uint32_t skip,
                 struct around *out)
{
    struct reach s = {t, out, all};

    out->node_count = out->edge_count = 0;
    add_node(&s, centre, 0);
    for (int up = 1; up >= 0; up--) {
        for (int distance = 0, from = 0; distance < radius; distance++) {
            int end = out->node_count;
            for (int n = from; n < end; n++) {
                bool own = n == 0 || (up ? out->nodes[n].level < 0 : out->nodes[n].level > 0);
                if (own && (n > 0 || !distance))
                    expand_around(&s, n, up, n ? 0 : skip);
            }
            from = end;
        }
    }
    add_partners(&s, radius);
    join_around(&s);
    set_levels(out);
}
