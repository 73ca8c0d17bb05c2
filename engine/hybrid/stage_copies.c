#include "engine/hybrid/stage_copies.h"

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/partitioner.h"
#include "engine/hybrid/hybrid.h"
#include "engine/plan/resharding_free.h"
#include "engine/plan/sharding.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/shape.h"
#include "hlo/text/write_text.h"

#include <string.h>

static const struct problem *problem_of(const struct stage_copies *k)
{
    return k->modules->plan->problem;
}

/* The instruction of the step that `id` of the module is; HLO_NONE: none. */
static hlo_id source_of(const struct stage_copies *k, hlo_id id)
{
    return k->of[id] == HLO_NONE ? HLO_NONE : problem_of(k)->m->value_instruction[k->of[id]];
}

bool stage_copies_is_whole(const struct stage_copies *k, hlo_id id)
{
    hlo_id source = source_of(k, id);

    return source != HLO_NONE &&
           partitioner_loses_parts(problem_of(k)->partitioner, problem_of(k)->m, source);
}

/* The dim of operand `n` along which `source` is summed, and the axes that split nothing of
 * `source`. -1: none, or there are none. */
static int summed_dim(const struct stage_copies *k, hlo_id source, uint32_t n, label *spare)
{
    const struct classes *c = &problem_of(k)->classes;
    const label *on = k->modules->plan->stage[k->stage].on;
    uint32_t leaf = resharding_leaf(problem_of(k)->m, source, n);
    label used = 0;
    int dim = -1;

    for (uint32_t f = c->factor_base[source]; f < c->factor_base[source + 1]; f++) {
        label over = c->factors[f].class == CLASS_NONE ? 0 : on[c->factors[f].class];
        used |= over;
        if (over && c->factors[f].kind == HLO_FACTOR_REDUCE)
            dim = c->leaf_dims[c->factors[f].dims + leaf];
    }
    *spare = dim < 0 ? 0 : step_tables_spare_axes(k->tables, source, used);
    return *spare ? dim : -1;
}

/* How operand `n` of `id` is cut for it, want[dim], and which of the axes are innermost: nothing is
 * sent to cut on along those. False: as it is. Whole where the spare axes leave no equal pieces. */
static bool wants_copy(const struct stage_copies *k, hlo_id id, uint32_t n,
                       label want[static HLO_RANK_MAX], label *inner)
{
    hlo_id from = hlo_operand(k->to, id, n), source = source_of(k, id);
    const struct hlo_shape *shape = hlo_shape(k->to, from);

    *inner = 0;
    if (source == HLO_NONE || source_of(k, from) == HLO_NONE || shape->type == HLO_TUPLE)
        return false;
    bool whole = stage_copies_is_whole(k, id), is_whole = stage_copies_is_whole(k, from);
    int dim = whole ? -1 : summed_dim(k, source, n, inner);
    if (whole == is_whole && dim < 0)
        return false;
    memset(want, 0, HLO_RANK_MAX * sizeof *want);
    for (uint32_t d = 0; d < shape->rank && !whole; d++)
        want[d] = stage_modules_split(k->modules, k->stage, k->of[from], d, STAGE_MADE);
    if (dim >= 0) {
        label all = want[dim] | *inner;
        want[dim] = shape->dims[dim] % k->tables->labels->parts[all] ? 0 : all;
    }
    return true;
}

bool stage_copies_has(const struct stage_copies *k, hlo_id id, uint32_t n)
{
    label want[HLO_RANK_MAX], inner;

    return wants_copy(k, id, n, want, &inner);
}

void stage_copies_name(const struct stage_copies *k, hlo_id id, uint32_t n, struct str *out)
{
    str_format(out, "%s.operand%u", hlo_name(k->to, id), n);
}

void stage_copies_lines(const struct stage_copies *k, hlo_id id, struct str *out)
{
    label want[HLO_RANK_MAX], inner;

    for (uint32_t n = 0; n < hlo_at(k->to, id)->operand_count; n++) {
        hlo_id from = hlo_operand(k->to, id, n);
        if (!wants_copy(k, id, n, want, &inner))
            continue;
        str_add(out, "  ");
        stage_copies_name(k, id, n, out);
        str_add(out, " = ");
        hlo_write_shape(k->to, hlo_at(k->to, from)->shape, true, out);
        str_format(out, " copy(%s), sharding=", hlo_name(k->to, from));
        sharding_write_inner(&k->modules->mesh[k->stage], want, inner, hlo_shape(k->to, from)->rank,
                             SHARDING_V2, out);
        str_add_char(out, '\n');
    }
}
