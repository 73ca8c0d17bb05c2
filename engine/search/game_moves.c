#include "engine/search/game_moves.h"

#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the search";

/* Dims that splitting the move's classes settles: their own and those of the classes they meet. */
static uint32_t group_size(const struct game *g, const struct game_move *m, uint8_t *seen)
{
    const struct classes *c = &g->problem->classes;
    uint32_t size = 0;

    for (int pass = 0; pass < 2; pass++) { /* second pass: clears `seen` again */
        for (uint32_t n = 0; n < m->class_count; n++) {
            class_id k = g->pool[m->classes + n];
            const struct class_info *info = &c->info[k];
            for (uint32_t j = 0; j <= info->meet_count; j++) {
                class_id x = j == info->meet_count ? k : c->meets[info->meets + j].other;
                if (!pass && !seen[x])
                    size += game_weight(g, x);
                seen[x] = !pass;
            }
        }
    }
    return size;
}

static int add_moves(struct game *g, struct err *e)
{
    const struct classes *c = &g->problem->classes;
    uint32_t axes = g->problem->mesh.axes, at = 0;
    uint32_t *first = mem_try((size_t)g->fold.count + 1, sizeof *first);

    g->pool = mem_try(c->count, sizeof *g->pool);
    g->pool_count = c->count;
    g->moves = mem_try((size_t)g->fold.count * axes, sizeof *g->moves);
    if (!first || !g->pool || !g->moves) {
        free(first);
        return err_no_memory(e, MEMORY_FOR);
    }
    for (class_id k = 0; k < c->count; k++) {
        if (game_may_split(g, k))
            first[g->fold.colour[k] + 1]++;
    }
    for (uint32_t f = 0; f < g->fold.count; f++)
        first[f + 1] += first[f];
    for (class_id k = 0; k < c->count; k++) {
        if (game_may_split(g, k))
            g->pool[first[g->fold.colour[k]]++] = k;
    }
    for (uint32_t f = 0; f < g->fold.count; f++) { /* first[f] is now where colour f ends */
        struct game_move m = {.classes = at, .class_count = first[f] - at};
        for (; at < first[f]; at++) {
            m.var_dims += c->info[g->pool[at]].var_dims;
            m.input_dims += c->info[g->pool[at]].input_dims;
        }
        for (uint32_t x = 0; x < axes && m.class_count; x++) {
            m.axis = x;
            if (g->problem->mesh.axis[x].size > 1)
                g->moves[g->move_count++] = m;
        }
    }
    free(first);
    return 0;
}

/* Whether the game decides dims of a parameter. */
static bool is_in_game(const struct game_options *o, enum hlo_role role)
{
    if (role == HLO_ROLE_VARIABLE)
        return o->kind != GAME_ADP;
    return o->kind != GAME_OPP &&
           (role == HLO_ROLE_INPUT || (role == HLO_ROLE_HYPER && o->paper_candidates));
}

/* Weak: every dim of every variable (input), whatever its class. */
static int add_weak_moves(struct game *g, struct err *e)
{
    const struct problem *p = g->problem;
    size_t room = 0;

    for (uint32_t k = 0; k < p->roles.param_count; k++)
        room += (size_t)hlo_value_shape(p->m, p->roles.params[k].value)->rank;
    g->pool = mem_try(room, sizeof *g->pool);
    g->moves = mem_try(room, sizeof *g->moves);
    g->counted = mem_try(p->m->value_count, 1);
    if (!g->pool || !g->moves || !g->counted)
        return err_no_memory(e, MEMORY_FOR);
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const struct hlo_param_role *r = &p->roles.params[k];
        uint32_t rank = (uint32_t)hlo_value_shape(p->m, r->value)->rank;
        g->counted[r->value] = is_in_game(&g->options, r->role);
        for (uint32_t d = 0; d < rank; d++) {
            if (!g->counted[r->value] || g->weak.never[class_dim(&p->classes, r->value, d)])
                continue;
            class_id class = problem_param_class(p, k, d);
            g->moves[g->move_count++] = (struct game_move){
                .classes = g->pool_count,
                .class_count = 1,
                .var_dims = r->role == HLO_ROLE_VARIABLE,
                .input_dims = r->role != HLO_ROLE_VARIABLE,
                .dim = class_dim(&p->classes, r->value, d),
            };
            g->pool[g->pool_count++] = class;
        }
    }
    return 0;
}

static int compare_moves(const void *x, const void *y)
{
    const struct game_move *a = x, *b = y;

    if (a->group != b->group)
        return a->group < b->group ? 1 : -1;
    if (a->classes != b->classes)
        return a->classes < b->classes ? -1 : 1;
    return (a->axis > b->axis) - (a->axis < b->axis);
}

static int order_moves(struct game *g, struct err *e)
{
    uint32_t axes = g->problem->mesh.axes;
    size_t cells = (size_t)g->problem->classes.count * axes;
    uint8_t *seen = mem_try(g->problem->classes.count, 1);

    g->move_of = mem_try(cells, sizeof *g->move_of);
    if (!seen || !g->move_of) {
        free(seen);
        return err_no_memory(e, MEMORY_FOR);
    }
    for (uint32_t n = 0; n < g->move_count; n++)
        g->moves[n].group = group_size(g, &g->moves[n], seen);
    free(seen);
    if (g->move_count)
        qsort(g->moves, g->move_count, sizeof *g->moves, compare_moves);
    memset(g->move_of, 0xff, cells * sizeof *g->move_of);
    for (uint32_t n = g->move_count; n--;) { /* weak: the first of a class's dims */
        const struct game_move *m = &g->moves[n];
        for (uint32_t k = 0; k < m->class_count; k++)
            g->move_of[(size_t)g->pool[m->classes + k] * axes + m->axis] = n;
    }
    return 0;
}

int game_make_moves(struct game *g, struct err *e)
{
    int rc = g->options.weak ? add_weak_moves(g, e) : add_moves(g, e);

    return rc ? rc : order_moves(g, e);
}
