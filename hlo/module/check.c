/* Semantic checks of a finished module, so that nothing downstream meets nonsense: results against
 * operands and attributes (infer.h), computations against what calls them, tuples and elements. */
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/check_types.h"
#include "hlo/module/hlo.h"
#include "hlo/module/infer.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <stdarg.h>
#include <stdio.h>

enum { HALVES_LEAST = 20000 }; /* instructions; below, a thread costs more than it saves */

struct check {
    const struct hlo_module *m;
    hlo_id id;
    struct err *e;
    const struct hlo_shape **shapes; /* of the operands of `id` */
    size_t room;
};

static int wrong_module(struct check *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int wrong_module(struct check *c, const char *format, ...)
{
    char what[sizeof c->e->what];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return err_set(c->e, ERR_INPUT, "%.100s: %s", hlo_name(c->m, c->id), what);
}

static hlo_shape_id bare(const struct check *c, hlo_id id)
{
    return hlo_shape(c->m, id)->bare;
}

/* ---- results ---- */

/* HLO's floating-point types may meet in one instruction; in StableHLO those of elementwise
 * operations may not. */
static bool is_exact(const struct check *c)
{
    uint16_t opcode = hlo_at(c->m, c->id)->opcode;

    return c->m->format == HLO_FORMAT_STABLEHLO &&
           (hlo_infer_is_elementwise(opcode) || opcode == HLO_OP_REAL || opcode == HLO_OP_IMAG ||
            opcode == HLO_OP_ABS);
}

static bool types_fit(const struct check *c, enum hlo_type a, enum hlo_type b)
{
    return is_exact(c) ? a == b : hlo_infer_types_mix(a, b);
}

/* `s` holds dims and, unless it is free, type of the claim. */
static int match_array(struct check *c, const struct hlo_infer *f, const struct hlo_shape *s,
                       int type)
{
    struct hlo_shape want = {
        .type = (uint8_t)(type < 0 ? s->type : type), .rank = f->rank, .dims = f->dims};
    char a[128], b[128];

    if (hlo_type_info[s->type].bits && hlo_same_dims(s, &want) &&
        (type < 0 || types_fit(c, s->type, want.type)))
        return 0;
    bool is_free = type < 0 && !hlo_type_info[s->type].bits;
    hlo_infer_name(a, sizeof a, s);
    hlo_infer_name(b, sizeof b, &want);
    return wrong_module(c, "result is %s, expected %s", a, is_free ? "an array" : b);
}

static bool has_dynamic_operand(const struct hlo_infer *f)
{
    for (uint32_t n = 0; n < f->operand_count; n++) {
        if (f->operands[n]->dynamic)
            return true;
    }
    return false;
}

static int match_inputs(struct check *c, const struct hlo_infer *f)
{
    const struct hlo_shape *s = f->declared;

    if (f->inputs == 1 && s->type != HLO_TUPLE)
        return match_array(c, f, s, f->operands[0]->type);
    if (s->type != HLO_TUPLE || s->part_count != f->inputs)
        return wrong_module(c, "result of %u arrays, expected %u as there are inputs",
                            s->type == HLO_TUPLE ? s->part_count : 1, f->inputs);
    for (uint32_t n = 0; n < f->inputs; n++) {
        if (match_array(c, f, &c->m->shapes[s->parts[n]], f->operands[n]->type))
            return c->e->code;
    }
    return 0;
}

static int check_result(struct check *c)
{
    const struct hlo_instruction *i = hlo_at(c->m, c->id);
    struct hlo_infer f; /* no initialiser: its dims are large, and written before they are read */
    struct err e;

    f.opcode = i->opcode;
    f.operands = c->shapes;
    f.operand_count = i->operand_count;
    f.attrs = c->m->attr_pool + i->attrs;
    f.attr_count = i->attr_count;
    f.declared = hlo_shape(c->m, c->id);
    f.e = &e;
    if (hlo_infer(&f))
        return wrong_module(c, "%s", e.what);
    for (uint32_t n = 1; n < i->operand_count; n++) {
        if (hlo_infer_is_elementwise(i->opcode) &&
            !types_fit(c, c->shapes[0]->type, c->shapes[n]->type))
            return wrong_module(c, "operands of types %s and %s, expected the same",
                                hlo_type_info[c->shapes[0]->type].name,
                                hlo_type_info[c->shapes[n]->type].name);
    }
    /* Dynamic dims: operands were checked; what becomes of their bounds is XLA's affair. */
    if (f.claim == HLO_INFER_NOTHING || has_dynamic_operand(&f))
        return 0;
    if (f.claim == HLO_INFER_INPUTS)
        return match_inputs(c, &f);
    return match_array(c, &f, f.declared, f.claim == HLO_INFER_DIMS ? -1 : f.type);
}

static bool is_plain_elementwise(const struct check *c)
{
    const struct hlo_instruction *i = hlo_at(c->m, c->id);

    if (!hlo_infer_is_elementwise(i->opcode))
        return false;
    for (uint32_t n = 0; n < i->operand_count; n++) {
        if (bare(c, hlo_operand(c->m, c->id, n)) != bare(c, c->id))
            return false;
    }
    return hlo_type_info[hlo_shape(c->m, c->id)->type].bits != 0;
}

/* ---- tuples ---- */

static int check_element(struct check *c)
{
    const struct hlo_shape *s = hlo_shape(c->m, hlo_operand(c->m, c->id, 0));
    uint32_t index = hlo_at(c->m, c->id)->number;

    if (s->type != HLO_TUPLE || index >= s->part_count)
        return wrong_module(c, "index is %u, expected one of a tuple's %u elements", index,
                            s->part_count);
    if (c->m->shapes[s->parts[index]].bare != bare(c, c->id))
        return wrong_module(c, "result has another shape than element %u, expected the same",
                            index);
    return 0;
}

static int check_tuple(struct check *c)
{
    const struct hlo_instruction *i = hlo_at(c->m, c->id);
    const struct hlo_shape *s = hlo_shape(c->m, c->id);

    if (s->type != HLO_TUPLE || s->part_count != i->operand_count)
        return wrong_module(c, "%u operands for a result of %u elements, expected as many",
                            i->operand_count, s->part_count);
    for (uint32_t n = 0; n < i->operand_count; n++) {
        if (c->m->shapes[s->parts[n]].bare != bare(c, hlo_operand(c->m, c->id, n)))
            return wrong_module(
                c, "element %u has another shape than its operand, expected the same", n);
    }
    return 0;
}

static int check_same(struct check *c)
{
    if (bare(c, hlo_operand(c->m, c->id, 0)) != bare(c, c->id))
        return wrong_module(c, "result has another shape than the operand, expected the same");
    return 0;
}

/* ---- computations ---- */

static const char *callee_name(const struct check *c, hlo_comp callee)
{
    return c->m->computations[callee].name;
}

static int need_computations(struct check *c, uint32_t count, const char *names)
{
    if (hlo_at(c->m, c->id)->called_count != count)
        return wrong_module(c, "%u computations, expected %u (%s)",
                            hlo_at(c->m, c->id)->called_count, count, names);
    return 0;
}

static int need_params(struct check *c, hlo_comp callee, uint32_t count)
{
    uint32_t has = c->m->computations[callee].param_count;

    return has == count ? 0
                        : wrong_module(c, "computation \"%.100s\" has %u parameters, expected %u",
                                       callee_name(c, callee), has, count);
}

/* Parameters of `callee` are the operands from..from + count. */
static int check_arguments(struct check *c, hlo_comp callee, uint32_t from, uint32_t count)
{
    if (need_params(c, callee, count))
        return c->e->code;
    for (uint32_t n = 0; n < count; n++) {
        if (bare(c, c->m->computations[callee].params[n]) !=
            bare(c, hlo_operand(c->m, c->id, from + n)))
            return wrong_module(
                c,
                "parameter %u of \"%.100s\" has another shape than what it is given, "
                "expected the same",
                n, callee_name(c, callee));
    }
    return 0;
}

static int check_returned(struct check *c, hlo_comp callee)
{
    if (bare(c, c->m->computations[callee].root) != bare(c, c->id))
        return wrong_module(c,
                            "\"%.100s\" returns another shape than the result, expected the same",
                            callee_name(c, callee));
    return 0;
}

static int returns_pred(struct check *c, hlo_comp callee)
{
    const struct hlo_shape *s = hlo_shape(c->m, c->m->computations[callee].root);

    return s->type == HLO_PRED && !s->rank
               ? 0
               : wrong_module(c, "\"%.100s\" does not return pred[], expected a condition",
                              callee_name(c, callee));
}

static int check_call(struct check *c)
{
    if (need_computations(c, 1, "to_apply or calls"))
        return c->e->code;
    hlo_comp callee = hlo_called(c->m, c->id, 0);
    int rc = check_arguments(c, callee, 0, hlo_at(c->m, c->id)->operand_count);
    return rc ? rc : check_returned(c, callee);
}

static int check_while(struct check *c)
{
    if (need_computations(c, 2, "condition and body"))
        return c->e->code;
    hlo_comp body = hlo_called(c->m, c->id, 0), condition = hlo_called(c->m, c->id, 1);
    if (check_arguments(c, body, 0, 1) || check_returned(c, body) ||
        check_arguments(c, condition, 0, 1))
        return c->e->code;
    return returns_pred(c, condition);
}

static int check_conditional(struct check *c)
{
    const struct hlo_instruction *i = hlo_at(c->m, c->id);

    if (!i->called_count || i->called_count + 1 != i->operand_count)
        return wrong_module(
            c, "%u branches for %u operands, expected a selector and one operand per branch",
            i->called_count, i->operand_count);
    const struct hlo_shape *s = hlo_shape(c->m, hlo_operand(c->m, c->id, 0));
    if (s->rank || !(s->type == HLO_S32 || (s->type == HLO_PRED && i->called_count == 2)))
        return wrong_module(
            c, "selector is neither pred[] with two branches nor s32[], expected one of them");
    for (uint32_t n = 0; n < i->called_count; n++) {
        if (check_arguments(c, hlo_called(c->m, c->id, n), n + 1, 1) ||
            check_returned(c, hlo_called(c->m, c->id, n)))
            return c->e->code;
    }
    return 0;
}

/* A computation applied to elements: scalar parameters, and `results` scalars returned. */
static int check_applied(struct check *c, hlo_comp callee, uint32_t params, uint32_t results)
{
    const struct hlo_computation *comp = &c->m->computations[callee];

    if (need_params(c, callee, params))
        return c->e->code;
    for (uint32_t n = 0; n < params; n++) {
        if (hlo_shape(c->m, comp->params[n])->rank)
            return wrong_module(c, "parameter %u of \"%.100s\" is not a scalar, expected one", n,
                                comp->name);
    }
    const struct hlo_shape *s = hlo_shape(c->m, comp->root);
    if (s->leaf_count != results || s->rank)
        return wrong_module(c, "\"%.100s\" returns %u values, expected %u scalars", comp->name,
                            s->leaf_count, results);
    return 0;
}

static int check_reducer(struct check *c)
{
    uint32_t inputs = hlo_at(c->m, c->id)->operand_count / 2;

    if (need_computations(c, 1, "to_apply"))
        return c->e->code;
    return check_applied(c, hlo_called(c->m, c->id, 0), 2 * inputs, inputs);
}

static int check_all_reduce(struct check *c)
{
    if (need_computations(c, 1, "to_apply"))
        return c->e->code;
    return check_applied(c, hlo_called(c->m, c->id, 0), 2, 1);
}

/* StableHLO maps over all dims and says so; what HLO says of them is not looked at by XLA. */
static int check_map_dims(struct check *c)
{
    const struct hlo_attr *a = hlo_attr(c->m, c->id, HLO_ATTR_DIMENSIONS);
    int64_t dims[HLO_RANK_MAX];
    size_t count = 0;

    if (c->m->format != HLO_FORMAT_STABLEHLO || !a || !hlo_at(c->m, c->id)->operand_count)
        return 0;
    uint8_t rank = c->shapes[0]->rank;
    bool fits = hlo_parse_ints(a->text, a->size, dims, HLO_RANK_MAX, &count) && count == rank;
    for (size_t n = 0; fits && n < count; n++)
        fits = dims[n] == (int64_t)n;
    return fits ? 0
                : wrong_module(c,
                               "dimensions are %.*s, expected the %u of the operand in their order",
                               a->size < 60 ? (int)a->size : 60, a->text, rank);
}

static int check_map(struct check *c)
{
    if (check_map_dims(c) || need_computations(c, 1, "to_apply"))
        return c->e->code;
    return check_applied(c, hlo_called(c->m, c->id, 0), hlo_at(c->m, c->id)->operand_count, 1);
}

static int check_sort(struct check *c)
{
    if (need_computations(c, 1, "to_apply"))
        return c->e->code;
    hlo_comp callee = hlo_called(c->m, c->id, 0);
    if (check_applied(c, callee, 2 * hlo_at(c->m, c->id)->operand_count, 1))
        return c->e->code;
    return returns_pred(c, callee);
}

static int check_select_and_scatter(struct check *c)
{
    if (need_computations(c, 2, "select and scatter"))
        return c->e->code;
    hlo_comp select = hlo_called(c->m, c->id, 0);
    if (check_applied(c, select, 2, 1) || returns_pred(c, select))
        return c->e->code;
    return check_applied(c, hlo_called(c->m, c->id, 1), 2, 1);
}

static int (*const rules[HLO_OP_COUNT])(struct check *c) = {
    [HLO_OP_GET_TUPLE_ELEMENT] = check_element,
    [HLO_OP_TUPLE] = check_tuple,
    [HLO_OP_OPT_BARRIER] = check_same,
    [HLO_OP_DOMAIN] = check_same,
    [HLO_OP_ADD_DEPENDENCY] = check_same,
    [HLO_OP_CALL] = check_call,
    [HLO_OP_FUSION] = check_call,
    [HLO_OP_WHILE] = check_while,
    [HLO_OP_CONDITIONAL] = check_conditional,
    [HLO_OP_REDUCE] = check_reducer,
    [HLO_OP_REDUCE_WINDOW] = check_reducer,
    [HLO_OP_SCATTER] = check_reducer,
    [HLO_OP_ALL_REDUCE] = check_all_reduce,
    [HLO_OP_ALL_REDUCE_START] = check_all_reduce,
    [HLO_OP_REDUCE_SCATTER] = check_all_reduce,
    [HLO_OP_MAP] = check_map,
    [HLO_OP_SORT] = check_sort,
    [HLO_OP_SELECT_AND_SCATTER] = check_select_and_scatter,
};

static int check_types(struct check *c)
{
    const char *wrong =
        c->m->format == HLO_FORMAT_STABLEHLO ? hlo_stablehlo_types(c->m, c->id) : NULL;

    return wrong ? wrong_module(c, "%s", wrong) : 0;
}

static int check_instruction(struct check *c)
{
    const struct hlo_instruction *i = hlo_at(c->m, c->id);

    if (is_plain_elementwise(c))
        return check_types(c);
    if (!mem_grow(&c->shapes, &c->room, 0, i->operand_count))
        return err_no_memory(c->e, "for this module");
    for (uint32_t n = 0; n < i->operand_count; n++)
        c->shapes[n] = hlo_shape(c->m, hlo_operand(c->m, c->id, n));
    if (check_result(c) || (rules[i->opcode] && rules[i->opcode](c)))
        return c->e->code;
    return check_types(c);
}

struct half {
    const struct hlo_module *m;
    hlo_id begin, end, bad;
    int code;
    struct err e;
};

static void *check_half(void *context)
{
    struct half *h = context;
    struct check c = {.m = h->m, .e = &h->e};

    for (c.id = h->begin; c.id < h->end && !h->code; c.id++) {
        h->code = check_instruction(&c);
        h->bad = c.id;
    }
    free(c.shapes);
    return NULL;
}

/* Each instruction is checked by itself: of a large module one half by a second thread. */
int hlo_check(const struct hlo_module *m, hlo_id *bad, struct err *e)
{
    bool is_large = m->count >= HALVES_LEAST;
    hlo_id middle = is_large ? m->count / 2 : m->count;
    struct half first = {.m = m, .end = middle},
                second = {.m = m, .begin = middle, .end = m->count};
    struct beside beside;

    beside_begin(&beside, is_large, check_half, &second);
    check_half(&first);
    beside_end(&beside);
    const struct half *wrong = first.code ? &first : &second;
    if (!wrong->code)
        return 0;
    *bad = wrong->bad;
    *e = wrong->e;
    return wrong->code;
}
