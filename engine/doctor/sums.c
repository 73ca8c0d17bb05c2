/* What becomes of what is gathered or summed, where less would do. */
#include "engine/doctor/sums.h"

#include "engine/doctor/moves.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

#include <string.h>

enum { STEPS_MOST = 24 };

/* What alone takes it; HLO_NONE: nothing does, or several. */
static hlo_id only_user(const struct hlo_module *m, hlo_id id)
{
    return hlo_at(m, id)->user_count == 1 ? hlo_user(m, id, 0) : HLO_NONE;
}

static bool keeps_elements(const struct hlo_module *m, hlo_id id)
{
    return hlo_at(m, id)->opcode == HLO_OP_COPY || hlo_at(m, id)->opcode == HLO_OP_CONVERT;
}

/* What an instruction, or a part of the fusion `user`, takes from outside as it is; HLO_NONE. */
static hlo_id taken_by(const struct hlo_module *m, hlo_id user, hlo_id operand)
{
    const struct hlo_instruction *i = hlo_at(m, user);

    if (i->opcode != HLO_OP_FUSION)
        return operand;
    operand = moves_up(m, operand);
    return hlo_at(m, operand)->opcode == HLO_OP_PARAMETER &&
                   hlo_at(m, operand)->number < i->operand_count
               ? hlo_operand(m, user, hlo_at(m, operand)->number)
               : HLO_NONE;
}

static bool same_dims(const struct hlo_shape *a, const struct hlo_shape *b)
{
    return a->rank == b->rank && !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims);
}

/* What it adds up, along `dim` alone, as its computation is given it or makes it: all of it, of
 * this shape, and for nothing else. HLO_NONE: it is no such sum. */
static hlo_id added_along(const struct hlo_module *m, hlo_id sum, const struct hlo_shape *whole,
                          int64_t dim)
{
    int64_t dims[HLO_RANK_MAX];
    hlo_id of = hlo_operand(m, sum, 0);

    if (!moves_adds(m, sum) || hlo_attr_ints(m, sum, HLO_ATTR_DIMENSIONS, dims) != 1 ||
        dims[0] != dim)
        return HLO_NONE;
    for (int n = 0; n < STEPS_MOST && keeps_elements(m, of); n++) {
        if (hlo_at(m, of)->user_count != 1)
            return HLO_NONE;
        of = hlo_operand(m, of, 0);
    }
    return same_dims(hlo_shape(m, of), whole) && hlo_at(m, of)->user_count == 1 ? of : HLO_NONE;
}

/* Whether `user`, a sum or the fusion of one, adds up `id`: past a turn its dims are others. */
static bool adds_up(const struct hlo_module *m, hlo_id user, hlo_id sum, hlo_id id, int64_t dim)
{
    hlo_id of = added_along(m, sum, hlo_shape(m, id), dim);

    if (of == HLO_NONE || user == sum)
        return of != HLO_NONE && hlo_operand(m, sum, 0) == id;
    return hlo_at(m, of)->opcode == HLO_OP_PARAMETER && taken_by(m, user, of) == id;
}

hlo_id sums_gathered(const struct hlo_module *m, hlo_id id, int64_t dim)
{
    for (int n = 0; n < STEPS_MOST; n++) {
        hlo_id user = only_user(m, id);
        if (user == HLO_NONE)
            return HLO_NONE;
        hlo_id sum = moves_inner(m, user, HLO_OP_REDUCE);
        if (sum != HLO_NONE)
            return adds_up(m, user, sum, id, dim) ? sum : HLO_NONE;
        if (!keeps_elements(m, user))
            return HLO_NONE;
        id = user;
    }
    return HLO_NONE;
}

/* What an addition, or the fusion of one alone, adds `id` to; HLO_NONE: it is none. */
static hlo_id added_to(const struct hlo_module *m, hlo_id user, hlo_id id)
{
    hlo_id add = user;

    if (hlo_at(m, user)->opcode == HLO_OP_FUSION && hlo_at(m, user)->called_count)
        add = moves_up(m, m->computations[hlo_called(m, user, 0)].root);
    if (hlo_at(m, add)->opcode != HLO_OP_ADD)
        return HLO_NONE;
    hlo_id a = taken_by(m, user, hlo_operand(m, add, 0));
    hlo_id b = taken_by(m, user, hlo_operand(m, add, 1));
    return a == id ? b : b == id ? a : HLO_NONE;
}

/* The element of what a loop carries that this moves and nothing else does; HLO_NONE. */
static hlo_id carried(const struct hlo_module *m, hlo_id id, hlo_comp body)
{
    for (int n = 0; n < STEPS_MOST && only_user(m, id) != HLO_NONE; n++) {
        const struct hlo_instruction *i = hlo_at(m, id);
        if (i->opcode == HLO_OP_GET_TUPLE_ELEMENT)
            return i->computation == body &&
                           hlo_operand(m, id, 0) == m->computations[body].params[0]
                       ? id
                       : HLO_NONE;
        if (!moves_only(m, id))
            return HLO_NONE;
        id = hlo_operand(m, id, 0);
    }
    return HLO_NONE;
}

/* Whether element `number` of what a computation is given is read there, but by `by`. */
static bool is_read(const struct hlo_module *m, hlo_comp computation, uint32_t number, hlo_id by)
{
    hlo_id given = m->computations[computation].params[0];
    uint32_t count = hlo_at(m, given)->user_count;

    for (uint32_t n = 0; n < count && n < MOVES_VISITS_MOST; n++) {
        hlo_id user = hlo_user(m, given, n);
        if (user != by && (hlo_at(m, user)->opcode != HLO_OP_GET_TUPLE_ELEMENT ||
                           hlo_at(m, user)->number == number))
            return true;
    }
    return count > MOVES_VISITS_MOST;
}

/* Whether it becomes element `number` of the tuple `root`, and nothing else. */
static bool becomes(const struct hlo_module *m, hlo_id id, hlo_id root, uint32_t number)
{
    const struct hlo_instruction *i = hlo_at(m, root);
    uint32_t times = 0;

    for (int n = 0; n < STEPS_MOST && only_user(m, id) != HLO_NONE && only_user(m, id) != root;
         n++) {
        if (!moves_only(m, only_user(m, id)))
            return false;
        id = only_user(m, id);
    }
    if (only_user(m, id) != root || i->operand_count > MOVES_VISITS_MOST)
        return false;
    for (uint32_t n = 0; n < i->operand_count; n++)
        times += hlo_operand(m, root, n) == id;
    return times == 1 && number < i->operand_count && hlo_operand(m, root, number) == id;
}

bool sums_in_loop(const struct hlo_module *m, hlo_id id)
{
    hlo_comp body = hlo_at(m, id)->computation;
    const struct hlo_computation *c = &m->computations[body];

    if (!moves_adds(m, id) || c->caller_count != 1 || c->param_count != 1 ||
        hlo_at(m, c->callers[0])->opcode != HLO_OP_WHILE ||
        hlo_at(m, c->root)->opcode != HLO_OP_TUPLE)
        return false;
    hlo_id sum = only_user(m, id);
    for (int n = 0; n < STEPS_MOST && sum != HLO_NONE && moves_only(m, sum); n++) {
        id = sum;
        sum = only_user(m, id);
    }
    hlo_id to = sum == HLO_NONE ? HLO_NONE : added_to(m, sum, id);
    hlo_id carry = to == HLO_NONE ? HLO_NONE : carried(m, to, body);
    if (carry == HLO_NONE)
        return false;
    uint32_t number = hlo_at(m, carry)->number;
    for (uint32_t n = 0; n < hlo_at(m, c->callers[0])->called_count; n++) { /* condition, body */
        if (is_read(m, hlo_called(m, c->callers[0], n), number, carry))
            return false;
    }
    return becomes(m, sum, c->root, number);
}
