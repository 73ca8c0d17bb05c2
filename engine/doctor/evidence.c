#define _GNU_SOURCE /* memmem */
#include "engine/doctor/evidence.h"

#include "engine/cluster/collectives.h"
#include "engine/doctor/groups.h"
#include "engine/doctor/moves.h"
#include "engine/doctor/sums.h"
#include "hlo/meaning/frames.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 24 };

bool evidence_says(const struct hlo_module *m, hlo_id id, const char *word)
{
    return strstr(hlo_meta(m, id)->op_name, word) != NULL;
}

/* What goes into or out of shard_map is asked for as in_specs and out_specs have it. */
static bool is_constraint(const struct hlo_module *m, hlo_id id)
{
    uint16_t opcode = hlo_at(m, id)->opcode;
    const char *name = hlo_meta(m, id)->op_name;

    return (opcode == HLO_OP_COPY || opcode == HLO_OP_CUSTOM_CALL) &&
           (evidence_is_primitive(name, "sharding_constraint") ||
            evidence_is_primitive(name, "shard_map"));
}

/* ---- neighbours ---- */

/* A parameter of the entry, or what a loop's body takes a piece of in every trip. */
static void find_source(struct evidence *v)
{
    const struct hlo_module *m = v->m;

    if (!hlo_at(m, v->id)->operand_count)
        return;
    hlo_id taken = hlo_operand(m, v->id, 0);
    if (hlo_at(m, v->id)->operand_count > 1) { /* compiled, an all-to-all takes slices */
        for (int n = 0; n < STEPS_MOST &&
                        (hlo_at(m, taken)->opcode == HLO_OP_SLICE || moves_fusion(m, taken, true));
             n++)
            taken = hlo_operand(m, taken, 0);
    }
    hlo_id made = taken;
    for (int n = 0; n < STEPS_MOST && moves_only(m, made); n++) {
        v->is_constrained = v->is_constrained || is_constraint(m, made);
        made = hlo_operand(m, made, 0);
    }
    v->source = moves_up(m, hlo_operand(m, v->id, 0));
    hlo_id id = moves_out(m, taken);
    v->is_invariant = hlo_at(m, id)->opcode == HLO_OP_PARAMETER;
    for (int n = 0; n < 2; n++) { /* the loop on the way back takes what the one forward has kept */
        if (moves_holds(m, id, HLO_OP_DYNAMIC_SLICE) && hlo_at(m, id)->operand_count)
            id = moves_kept(m, moves_sliced(m, id));
    }
    v->is_stored = hlo_at(m, id)->opcode == HLO_OP_PARAMETER;
    if (v->is_stored)
        v->stored = hlo_meta(m, id)->op_name[0] ? hlo_meta(m, id)->op_name : hlo_name(m, id);
}

/* All that is done with it is to cut out this device's part, maybe after another gather. */
static bool is_cut(const struct hlo_module *m, hlo_id id, int depth)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (!depth || !i->user_count)
        return false;
    for (uint32_t n = 0; n < i->user_count; n++) {
        hlo_id user = hlo_user(m, id, n);
        bool goes_on = moves_only(m, user) || moves_fusion(m, user, false) ||
                       hlo_at(m, user)->opcode == HLO_OP_ALL_GATHER;
        if (!moves_cuts(m, user) && !(goes_on && is_cut(m, user, depth - 1)))
            return false;
    }
    return true;
}

/* A constraint takes it as it was gathered, before anything is cut. */
static bool is_asked_so(const struct hlo_module *m, hlo_id id)
{
    for (int n = 0; n < STEPS_MOST && hlo_at(m, id)->user_count == 1; n++) {
        id = hlo_user(m, id, 0);
        if (is_constraint(m, id) || !moves_only(m, id))
            return is_constraint(m, id);
    }
    return false;
}

/* What lies behind an instruction, nearest first, as far as `passes` lets it: at most NEAR_MOST, so
 * that no graph makes this slow. */
enum { NEAR_MOST = 64 };
struct nearby {
    hlo_id id[NEAR_MOST];
    uint32_t count;
};

static void near_add(struct nearby *b, hlo_id id)
{
    for (uint32_t k = 0; k < b->count; k++) {
        if (b->id[k] == id)
            return;
    }
    if (b->count < NEAR_MOST)
        b->id[b->count++] = id;
}

static bool passes_moves(const struct hlo_module *m, hlo_id id)
{
    return moves_only(m, id) || moves_fusion(m, id, false) ||
           hlo_at(m, id)->opcode == HLO_OP_ALL_GATHER;
}

static bool passes_steps(const struct hlo_module *m, hlo_id id)
{
    uint32_t flags = hlo_op_info[hlo_at(m, id)->opcode].flags;

    return moves_only(m, id) || moves_cuts(m, id) ||
           flags & (HLO_OP_IS_ELEMENTWISE | HLO_OP_IS_COLLECTIVE);
}

static void find_near(const struct hlo_module *m, hlo_id from,
                      bool (*passes)(const struct hlo_module *, hlo_id), struct nearby *out)
{
    out->count = 0;
    near_add(out, from);
    for (uint32_t k = 0; k < out->count; k++) {
        const struct hlo_instruction *i = hlo_at(m, out->id[k]);
        for (uint32_t n = 0; n < i->user_count && n < NEAR_MOST; n++) {
            hlo_id user = hlo_user(m, out->id[k], n);
            if (passes(m, user) || is_constraint(m, user))
                near_add(out, user);
        }
    }
}

hlo_id evidence_value(const struct hlo_module *m, hlo_id id)
{
    return moves_up(m, id);
}

uint32_t evidence_result(const struct hlo_module *m, hlo_id id)
{
    hlo_id root = m->computations[m->entry].root;
    const struct hlo_instruction *i = hlo_at(m, root);

    for (uint32_t n = 0; i->opcode == HLO_OP_TUPLE && n < i->operand_count; n++) {
        if (moves_up(m, hlo_operand(m, root, n)) == id)
            return n + 1;
    }
    return 0;
}

/* ---- the instruction served ---- */

/* Whether it takes what is near, or is itself what the collective takes. In at most *visits
 * comparisons, which it counts down; false where these do not do. */
static bool is_beside(const struct evidence *v, const struct nearby *near, hlo_id op,
                      uint32_t *visits)
{
    for (uint32_t n = 0; n < hlo_at(v->m, op)->operand_count && n < NEAR_MOST; n++) {
        for (uint32_t k = 0; k < near->count && *visits; k++, --*visits) {
            if (near->id[k] == hlo_operand(v->m, op, n))
                return true;
        }
    }
    return op == v->source;
}

/* Of the first MOVES_VISITS_MOST with its name and frame the surest; of several, as a map over a
 * tree makes them, one beside it, as far as so many comparisons tell. */
static void find_op(const struct evidence_index *x, struct evidence *v)
{
    const struct hlo_module *m = x->m;
    const char *name = hlo_meta(m, v->speaker)->op_name;
    uint64_t frame = evidence_frame(m, v->speaker);
    uint16_t wanted = evidence_opcode(v->primitive);
    uint32_t first = evidence_lower(x, name, frame), visits = MOVES_VISITS_MOST;
    struct nearby near;
    int best = 0;

    v->op = HLO_NONE;
    find_near(m, v->id, passes_moves, &near);
    for (uint32_t k = first;
         k < x->count && k - first < MOVES_VISITS_MOST && evidence_is_at(&x->rows[k], name, frame);
         k++) {
        uint16_t opcode = hlo_at(m, x->rows[k].id)->opcode;
        int w = 2 * (opcode == wanted ? 10 : evidence_weight(opcode));
        if (!w || w < best)
            continue;
        w += is_beside(v, &near, x->rows[k].id, &visits);
        if (w > best) {
            best = w;
            v->op = x->rows[k].id;
        }
    }
    v->opcode = wanted < HLO_OP_UNKNOWN ? wanted
                : v->op != HLO_NONE     ? hlo_at(m, v->op)->opcode
                                        : (uint16_t)HLO_OP_UNKNOWN;
}

/* The operand of `op` that `id` becomes through moves. */
static int slot_of(const struct hlo_module *m, hlo_id id, hlo_id op)
{
    struct nearby near;

    find_near(m, id, passes_moves, &near);
    for (uint32_t n = 0; n < hlo_at(m, op)->operand_count; n++) {
        for (uint32_t k = 0; k < near.count; k++) {
            if (near.id[k] == hlo_operand(m, op, n) || near.id[k] == moves_operand(m, op, n))
                return (int)n;
        }
    }
    return -1;
}

hlo_id evidence_constraint_behind(const struct hlo_module *m, hlo_id id)
{
    struct nearby near;

    find_near(m, id, passes_steps, &near);
    for (uint32_t k = 0; k < near.count; k++) {
        if (is_constraint(m, near.id[k]))
            return near.id[k];
    }
    return HLO_NONE;
}

static bool takes_from_one_device(const struct evidence *v)
{
    hlo_id id = v->source;

    if (id == HLO_NONE || !moves_holds(v->m, id, HLO_OP_SELECT))
        return false;
    bool is_fusion = hlo_at(v->m, id)->opcode == HLO_OP_FUSION;
    uint32_t visits = MOVES_VISITS_MOST;
    for (uint32_t n = 0; n < hlo_at(v->m, id)->operand_count && (is_fusion || !n); n++) {
        if (moves_by_partition(v->m, hlo_operand(v->m, id, n), 4, &visits))
            return true;
    }
    return false;
}

/* What one device alone has was made by a call, which another branch of a conditional spares the
 * others. HLO_NONE: it was not. */
static hlo_id call_before(const struct evidence *v)
{
    const struct hlo_module *m = v->m;

    for (uint32_t n = 0; n < hlo_at(m, v->source)->operand_count; n++) {
        hlo_id from = moves_up(m, hlo_operand(m, v->source, n));
        if (hlo_at(m, from)->opcode == HLO_OP_CONDITIONAL ||
            hlo_at(m, from)->opcode == HLO_OP_CUSTOM_CALL)
            return from;
    }
    return HLO_NONE;
}

/* Collectives that were joined into one keep one frame; the elements taken out of it keep theirs.
 * One that runs asynchronously may say nothing, what starts it does. */
static hlo_id speaker_of(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    for (uint32_t n = 0; hlo_shape(m, id)->type == HLO_TUPLE && n < i->user_count; n++) {
        hlo_id user = hlo_user(m, id, n);
        if (hlo_at(m, user)->opcode == HLO_OP_GET_TUPLE_ELEMENT && hlo_meta(m, user)->op_name[0])
            return user;
    }
    const struct hlo_computation *c = &m->computations[i->computation];
    if (!hlo_meta(m, id)->op_name[0] && c->caller_count == 1 &&
        hlo_at(m, c->callers[0])->opcode == HLO_OP_ASYNC_START)
        return c->callers[0];
    return id;
}

/* A parameter that is brought to another split has its own name in the metadata, and no line: what
 * takes it says more. */
static hlo_id find_taker(const struct hlo_module *m, hlo_id id)
{
    struct nearby near;

    find_near(m, id, passes_moves, &near);
    for (uint32_t k = 0; k < near.count; k++) {
        const struct hlo_instruction *i = hlo_at(m, near.id[k]);
        for (uint32_t n = 0; n < i->user_count; n++) {
            hlo_id user = hlo_user(m, near.id[k], n);
            if (!passes_moves(m, user) && strchr(hlo_meta(m, user)->op_name, '/'))
                return user;
        }
    }
    return id;
}

/* What it takes is of its own instruction, and reduced. */
static bool takes_reduced(const struct evidence *v)
{
    const struct hlo_module *m = v->m;

    return v->source != HLO_NONE && moves_holds(m, v->source, HLO_OP_REDUCE) &&
           !strcmp(hlo_meta(m, v->source)->op_name, hlo_meta(m, v->speaker)->op_name);
}

static bool is_vector(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_shape *s = hlo_shape(m, id);
    uint32_t wide = 0;

    for (uint32_t d = 0; d < s->rank; d++)
        wide += s->dims[d] > 1;
    return wide == 1 && strchr("F", hlo_type_info[s->type].class);
}

static bool is_splat(const struct hlo_module *m, hlo_id id)
{
    id = moves_up(m, id);
    while (hlo_at(m, id)->opcode == HLO_OP_BROADCAST)
        id = moves_up(m, hlo_operand(m, id, 0));
    return hlo_at(m, id)->opcode == HLO_OP_CONSTANT;
}

/* The largest operand that is no constant everywhere the same; the first of several. */
static hlo_id main_operand(const struct hlo_module *m, hlo_id id)
{
    hlo_id best = hlo_operand(m, id, 0);
    uint64_t most = 0;

    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count && n < NEAR_MOST; n++) {
        hlo_id operand = hlo_operand(m, id, n);
        uint64_t bytes = (uint64_t)hlo_shape(m, operand)->bytes;
        if (bytes <= most || is_splat(m, operand))
            continue;
        most = bytes;
        best = operand;
    }
    return best;
}

/* The parameter that what an instruction works on came from, along the larger operands; HLO_NONE,
 * also where a fusion may take a part of it that is this device's alone. */
static hlo_id begin_of(const struct hlo_module *m, hlo_id id)
{
    for (int n = 0; n < STEPS_MOST; n++) {
        const struct hlo_instruction *i = hlo_at(m, id = moves_up(m, id));
        if (i->opcode == HLO_OP_PARAMETER)
            return i->computation == m->entry ? id : HLO_NONE;
        if (!i->operand_count ||
            !((hlo_op_info[hlo_at(m, id)->opcode].flags & HLO_OP_IS_ELEMENTWISE) ||
              i->opcode == HLO_OP_DOT || i->opcode == HLO_OP_FUSION) ||
            moves_holds(m, id, HLO_OP_DYNAMIC_SLICE) || moves_holds(m, id, HLO_OP_PARTITION_ID))
            return HLO_NONE;
        id = i->opcode == HLO_OP_DOT ? hlo_operand(m, id, 0) : main_operand(m, id);
    }
    return HLO_NONE;
}

/* What a gathered operand is multiplied with is the same on all devices that gather it. */
static bool is_repeated(const struct evidence *v)
{
    const struct hlo_module *m = v->m;

    if (v->slot < 0 || v->slot > 1 || hlo_at(m, v->op)->opcode != HLO_OP_DOT)
        return false;
    hlo_id with = begin_of(m, moves_operand(m, v->op, v->slot == 0 ? 1 : 0));
    const struct hlo_attr *a = with == HLO_NONE ? NULL : hlo_attr(m, with, HLO_ATTR_SHARDING);
    return a && device_groups_have_same(v->groups, a->text, a->size);
}

/* Whether `tells` says so of what lies near, as far as `passes` lets it, and of one that takes it.
 */
static bool is_taken_near(const struct hlo_module *m, hlo_id id,
                          bool (*passes)(const struct hlo_module *, hlo_id),
                          bool (*tells)(const struct hlo_module *, hlo_id at, hlo_id user))
{
    struct nearby near;

    find_near(m, id, passes, &near);
    for (uint32_t k = 0; k < near.count; k++) {
        const struct hlo_instruction *i = hlo_at(m, near.id[k]);
        for (uint32_t n = 0; n < i->user_count && n < NEAR_MOST; n++) {
            if (tells(m, near.id[k], hlo_user(m, near.id[k], n)))
                return true;
        }
    }
    return false;
}

static bool is_on_the_way_back(const struct hlo_module *m, hlo_id at, hlo_id user)
{
    (void)at;
    return evidence_says(m, user, "transpose(");
}

static bool is_kept(const struct hlo_module *m, hlo_id id, hlo_id speaker)
{
    return !is_on_the_way_back(m, id, speaker) &&
           is_taken_near(m, id, passes_moves, is_on_the_way_back);
}

static int64_t elements(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_shape *s = hlo_shape(m, id);
    int64_t count = 1;

    for (uint32_t d = 0; d < s->rank; d++)
        count = s->dims[d] > 0 && count < INT64_MAX / s->dims[d] ? count * s->dims[d] : 0;
    return count;
}

/* What is spread, or the fusion that spreads it, meets a value as large, which is not spread
 * itself. */
static bool meets_full(const struct hlo_module *m, hlo_id spread)
{
    bool is_fusion = hlo_at(m, spread)->opcode == HLO_OP_FUSION;
    uint32_t users = is_fusion ? 1 : hlo_at(m, spread)->user_count;

    for (uint32_t k = 0; k < users && k < NEAR_MOST; k++) {
        hlo_id user = is_fusion ? spread : hlo_user(m, spread, k);
        for (uint32_t n = 0; n < hlo_at(m, user)->operand_count && n < NEAR_MOST; n++) {
            hlo_id other = moves_up(m, hlo_operand(m, user, n));
            if (hlo_at(m, other)->opcode != HLO_OP_BROADCAST &&
                elements(m, other) >= elements(m, spread))
                return true;
        }
    }
    return false;
}

static bool is_spread_to_full(const struct hlo_module *m, hlo_id at, hlo_id user)
{
    return moves_spreads_last(m, at, user) && meets_full(m, user);
}

/* A vector that lies along the last dim of what it meets, such as a bias or the scale of a norm: it
 * is for all samples the same. */
static bool is_along_last(const struct hlo_module *m, hlo_id id)
{
    return is_taken_near(m, id, passes_moves, is_spread_to_full);
}

static bool is_given(const struct hlo_module *m, hlo_id id)
{
    return hlo_at(m, id)->opcode == HLO_OP_PARAMETER && hlo_at(m, id)->computation == m->entry;
}

/* The result takes the parameter's place for the next step: it is in its buffer, or, where neither
 * shares a buffer, the parameter has the name of a weight. */
static bool is_next_of(const struct hlo_module *m, hlo_id id, hlo_id parameter)
{
    uint32_t result = evidence_result(m, id), leaf = result ? result - 1 : 0;
    bool is_root = moves_up(m, m->computations[m->entry].root) == id;

    bool shares = false;

    for (uint32_t k = 0; k < m->alias_count; k++) {
        bool is_out = (result || is_root) && m->aliases[k].out == leaf;
        bool is_in = m->aliases[k].param == hlo_at(m, parameter)->number;
        if (is_out && is_in)
            return true;
        shares = shares || is_out || is_in;
    }
    return !shares && evidence_is_weight(hlo_meta(m, parameter)->op_name);
}

/* Whether `whole` is gathered from what is made of this device's piece of a parameter that lies
 * whole, is as large and what `whole` is the next of, by nothing but elementwise work with others:
 * one of them is stored in pieces, the state of an optimizer. */
static bool updates_whole(const struct hlo_module *m, hlo_id whole)
{
    hlo_id piece = hlo_operand(m, whole, 0);
    struct nearby near = {.count = 0};
    bool has_whole = false, has_state = false;

    near_add(&near, moves_up(m, piece));
    for (uint32_t k = 0; k < near.count; k++) {
        hlo_id at = near.id[k];
        has_state =
            has_state || (is_given(m, at) && hlo_shape(m, at)->bytes == hlo_shape(m, piece)->bytes);
        bool cuts = moves_cuts(m, at);
        for (uint32_t n = 0; n < hlo_at(m, at)->operand_count && n < NEAR_MOST; n++) {
            hlo_id from = moves_up(m, hlo_operand(m, at, n));
            has_whole = has_whole || (cuts && is_given(m, from) &&
                                      hlo_shape(m, from)->bytes == hlo_shape(m, whole)->bytes &&
                                      is_next_of(m, whole, from));
            if (moves_plain(m, at) || (cuts && hlo_at(m, at)->opcode == HLO_OP_FUSION))
                near_add(&near, from);
        }
    }
    return has_whole && has_state;
}

/* A cut of what no collective has made. */
static bool is_piece(const struct hlo_module *m, hlo_id id)
{
    uint32_t count = hlo_at(m, id)->opcode == HLO_OP_FUSION ? hlo_at(m, id)->operand_count : 1;

    if (!moves_cuts(m, id))
        return false;
    for (uint32_t n = 0; n < count; n++) {
        hlo_id from = moves_up(m, hlo_operand(m, id, n));
        if (hlo_op_info[hlo_at(m, from)->opcode].flags & HLO_OP_IS_COLLECTIVE &&
            hlo_at(m, from)->opcode != HLO_OP_PARTITION_ID)
            return false;
    }
    return true;
}

bool evidence_is_piece(const struct hlo_module *m, hlo_id id)
{
    for (int n = 0; n < STEPS_MOST; n++) {
        if (is_piece(m, id))
            return true;
        if (!moves_plain(m, id) || !hlo_at(m, id)->operand_count)
            return false;
        id = moves_up(m, main_operand(m, id));
    }
    return false;
}

static bool is_alone(const struct hlo_module *m, hlo_id op)
{
    hlo_id only = HLO_NONE;

    for (uint32_t n = 0; n < hlo_at(m, op)->operand_count; n++) {
        hlo_id from = moves_up(m, hlo_operand(m, op, n));
        if (is_splat(m, from))
            continue;
        if (only != HLO_NONE && from != only)
            return false;
        only = from;
    }
    return only != HLO_NONE && moves_plain(m, op);
}

static bool passes_plain(const struct hlo_module *m, hlo_id id)
{
    return passes_steps(m, id) || moves_plain(m, id);
}

/* Whether an operand of a product, or of the fusion of one, is a parameter that lies in pieces, and
 * that some of its devices have gathered at most in part. */
static bool takes_pieces(const struct hlo_module *m, hlo_id product)
{
    for (uint32_t n = 0; n < hlo_at(m, product)->operand_count && n < NEAR_MOST; n++) {
        hlo_id with = moves_up(m, hlo_operand(m, product, n));
        int64_t gathered = 1;
        for (int k = 0; k < STEPS_MOST && hlo_at(m, with)->opcode == HLO_OP_ALL_GATHER; k++) {
            hlo_id from = hlo_operand(m, with, 0);
            int64_t times = elements(m, from) ? elements(m, with) / elements(m, from) : 0;
            bool is_known = times > 0 && times < UINT32_MAX / gathered; /* not of several */
            gathered = is_known ? gathered * times : UINT32_MAX;
            with = moves_up(m, from);
        }
        const struct hlo_attr *a = hlo_attr(m, with, HLO_ATTR_SHARDING);
        if (a && hlo_at(m, with)->opcode == HLO_OP_PARAMETER &&
            device_groups_tiles(a->text, a->size, hlo_shape(m, with)->rank) > gathered)
            return true;
    }
    return false;
}

static bool is_multiplied_with_pieces(const struct hlo_module *m, hlo_id at, hlo_id user)
{
    (void)at;
    return moves_holds(m, user, HLO_OP_DOT) && takes_pieces(m, user);
}

bool evidence_meets_pieces(const struct hlo_module *m, hlo_id id)
{
    return is_taken_near(m, id, passes_plain, is_multiplied_with_pieces);
}

/* Nothing but elementwise work on one value up to the root. */
static bool is_handed_out(const struct hlo_module *m, hlo_id id)
{
    hlo_id root = m->computations[m->entry].root;

    for (int n = 0; n < STEPS_MOST && id != root; n++) {
        if (!hlo_at(m, id)->user_count && moves_fusion_of(m, id) != HLO_NONE) {
            id = moves_fusion_of(m, id);
            continue;
        }
        if (hlo_at(m, id)->user_count != 1)
            return false;
        id = hlo_user(m, id, 0);
        if (id != root && !moves_only(m, id) && !is_alone(m, id))
            return false;
    }
    return id == root &&
           (hlo_at(m, id)->opcode == HLO_OP_TUPLE || moves_only(m, id) || moves_plain(m, id));
}

static void name_primitive(struct evidence *v)
{
    const char *name = evidence_primitive(hlo_meta(v->m, v->speaker)->op_name);

    snprintf(v->primitive, sizeof v->primitive, "%.*s", (int)strcspn(name, "["), name);
}

void evidence_of(const struct evidence_index *x, hlo_id id, enum collective_kind kind,
                 const struct device_groups *groups, struct evidence *out)
{
    const struct hlo_module *m = x->m;
    hlo_id speaker = speaker_of(m, id);
    const struct hlo_meta *meta = hlo_meta(m, speaker);
    int64_t dims[HLO_RANK_MAX];

    *out = (struct evidence){.m = m,
                             .id = id,
                             .speaker = speaker,
                             .kind = kind,
                             .groups = groups,
                             .op = HLO_NONE,
                             .opcode = (uint16_t)HLO_OP_UNKNOWN,
                             .dim = -1,
                             .source = HLO_NONE,
                             .stored = "",
                             .slot = -1,
                             .asks = HLO_NONE,
                             .call = HLO_NONE,
                             .summed = HLO_NONE};
    name_primitive(out);
    if (hlo_attr_ints(m, id, HLO_ATTR_DIMENSIONS, dims) > 0)
        out->dim = dims[0];
    find_source(out);
    out->is_sliced = is_cut(m, id, 6);
    out->is_masked = takes_from_one_device(out);
    out->call = out->is_masked ? call_before(out) : HLO_NONE;
    if (kind == COLLECTIVE_ALL_GATHER) {
        out->is_asked_so = is_asked_so(m, id);
        out->cast = moves_cast(m, id);
        out->is_update = out->source != HLO_NONE && updates_whole(m, id);
        out->summed = sums_gathered(m, id, out->dim);
    }
    if (kind == COLLECTIVE_ALL_REDUCE)
        out->is_accumulated = sums_in_loop(m, id);
    if (!meta->op_name[0])
        return;
    if (out->is_stored && !strcmp(meta->op_name, out->stored))
        out->speaker = find_taker(m, id);
    name_primitive(out);
    find_op(x, out);
    if (out->op == HLO_NONE)
        return;
    out->slot = slot_of(m, id, out->op);
    out->is_kept = is_kept(m, id, out->speaker);
    out->is_repeated = is_repeated(out);
    out->is_reduced = takes_reduced(out);
    out->is_alone = is_alone(m, out->op);
    out->is_vector = out->is_stored && is_vector(m, id) && is_along_last(m, id);
    out->is_handed_out = is_handed_out(m, out->op);
    out->asks = evidence_constraint_behind(m, out->op);
    out->is_asked = out->asks != HLO_NONE;
}
