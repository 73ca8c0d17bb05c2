/* Sugar of asynchronous instructions: `X-start(...)`, `X-update(...)`, `X-done(...)` for any opcode
 * X stand for async-start with a computation that holds nothing but X, async-update and async-done.
 */
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"
#include "hlo/text/parse.h"

#include <string.h>

static const struct {
    const char *suffix;
    uint16_t opcode;
} suffixes[] = {
    {"-start", HLO_OP_ASYNC_START},
    {"-update", HLO_OP_ASYNC_UPDATE},
    {"-done", HLO_OP_ASYNC_DONE},
};

uint16_t hlo_parse_async_opcode(const char *name, size_t size, uint16_t *wrapped)
{
    for (size_t n = 0; n < sizeof suffixes / sizeof *suffixes; n++) {
        size_t length = strlen(suffixes[n].suffix);
        if (size <= length || memcmp(name + size - length, suffixes[n].suffix, length))
            continue;
        *wrapped = (uint16_t)hlo_op_by_name(name, size - length);
        if (*wrapped != HLO_OP_UNKNOWN)
            return suffixes[n].opcode;
    }
    return HLO_OP_UNKNOWN;
}

/* A new computation `async_wrapped.N`. */
static int wrap_computation(struct parser *p, hlo_comp *out)
{
    char name[40];
    size_t size;

    do
        size = (size_t)snprintf(name, sizeof name, "async_wrapped.%u", ++p->fresh);
    while (hlo_builder_find_computation(p->b, name, size) != HLO_NONE);
    if (hlo_build_computation(p->b, name, size, out, p->e))
        return p->e->code;
    if (!mem_grow(&p->computations, &p->computation_room, p->computation_count, 1))
        return hlo_parse_memory(p);
    p->computations[p->computation_count++] = (struct parse_computation){true, p->at};
    return 0;
}

static int wrap_parameters(struct parser *p, const struct hlo_draft *d, hlo_comp c, hlo_id *params)
{
    for (uint32_t n = 0; n < d->operand_count; n++) {
        struct hlo_draft param = {
            .computation = c, .opcode = HLO_OP_PARAMETER, .number = n, .at = d->at};
        if (d->operands[n] == HLO_NONE)
            return hlo_parse_fail(p, p->input + d->at,
                                  "an operand that is defined later, expected it before");
        param.shape = hlo_builder_at(p->b, d->operands[n])->shape;
        if (hlo_build_instruction(p->b, &param, &params[n], p->e))
            return hlo_parse_place(p, p->input + d->at, p->e->code);
    }
    return 0;
}

static bool stays_outside(uint16_t key)
{
    return key >= HLO_ATTR_SHARDING || key == HLO_ATTR_ASYNC_EXECUTION_THREAD ||
           key == HLO_ATTR_OUTPUT_TO_OPERAND_ALIASING;
}

/* Own attributes of X to the front of p->attrs; returns how many. */
static uint32_t split_attrs(struct hlo_attr *attrs, uint32_t count)
{
    uint32_t inside = 0;

    for (uint32_t n = 0; n < count; n++) {
        if (stays_outside(attrs[n].key))
            continue;
        struct hlo_attr moved = attrs[n];
        attrs[n] = attrs[inside];
        attrs[inside++] = moved;
    }
    return inside;
}

int hlo_parse_async_start(struct parser *p, struct hlo_draft *d, uint16_t wrapped)
{
    const struct hlo_shape *s = hlo_builder_shape(p->b, d->shape);
    hlo_comp c;
    hlo_id root;

    if (s->type != HLO_TUPLE || s->part_count < 2)
        return hlo_parse_fail(p, p->input + d->at,
                              "result of an asynchronous start is not a tuple of operands "
                              "and result, expected one");
    struct hlo_draft inner = {.computation = 0,
                              .opcode = wrapped,
                              .is_root = true,
                              .shape = s->parts[1],
                              .called = d->called,
                              .called_count = d->called_count,
                              .operand_count = d->operand_count,
                              .at = d->at};
    if (wrap_computation(p, &c))
        return p->e->code;
    hlo_id *params = mem_try(d->operand_count, sizeof *params);
    if (!params)
        return hlo_parse_memory(p);
    int rc = wrap_parameters(p, d, c, params);
    inner.computation = c;
    inner.operands = params;
    inner.attrs = p->attrs;
    inner.attr_count = split_attrs(p->attrs, d->attr_count);
    if (rc)
        goto out;
    rc = hlo_parse_place(p, p->input + d->at, hlo_build_instruction(p->b, &inner, &root, p->e));
out:
    free(params);
    if (rc)
        return rc;
    d->attrs = p->attrs + inner.attr_count;
    d->attr_count -= inner.attr_count;
    p->called_count = 0;
    if (!mem_grow(&p->called, &p->called_room, 0, 1))
        return hlo_parse_memory(p);
    p->called[p->called_count++] = c;
    d->called = p->called;
    d->called_count = 1;
    return 0;
}
