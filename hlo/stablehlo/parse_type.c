/* `tensor<8x64xf32>`, `tuple<..>`, `!stablehlo.token`, functional types. */
#include "hlo/module/build.h"
#include "hlo/module/read.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

static const struct {
    const char *name;
    enum hlo_type type;
} elements[] = {
    {"f32", HLO_F32},
    {"bf16", HLO_BF16},
    {"i32", HLO_S32},
    {"i1", HLO_PRED},
    {"ui32", HLO_U32},
    {"f16", HLO_F16},
    {"f64", HLO_F64},
    {"i64", HLO_S64},
    {"i8", HLO_S8},
    {"i16", HLO_S16},
    {"ui8", HLO_U8},
    {"ui16", HLO_U16},
    {"ui64", HLO_U64},
    {"i2", HLO_S2},
    {"i4", HLO_S4},
    {"ui1", HLO_U1},
    {"ui2", HLO_U2},
    {"ui4", HLO_U4},
    {"index", HLO_S64},
    {"complex<f32>", HLO_C64},
    {"complex<f64>", HLO_C128},
    {"f8E5M2", HLO_F8E5M2},
    {"f8E4M3FN", HLO_F8E4M3FN},
    {"f8E4M3", HLO_F8E4M3},
    {"f8E3M4", HLO_F8E3M4},
    {"f8E4M3B11FNUZ", HLO_F8E4M3B11FNUZ},
    {"f8E5M2FNUZ", HLO_F8E5M2FNUZ},
    {"f8E4M3FNUZ", HLO_F8E4M3FNUZ},
    {"f8E8M0FNU", HLO_F8E8M0FNU},
    {"f6E2M3FN", HLO_F6E2M3FN},
    {"f6E3M2FN", HLO_F6E3M2FN},
    {"f4E2M1FN", HLO_F4E2M1FN},
    {"si8", HLO_S8},
    {"si16", HLO_S16},
    {"si32", HLO_S32},
    {"si64", HLO_S64},
};

static int refuse_quantised(struct mlir_parser *p, const char *at)
{
    return hlo_mlir_parse_fail(
        p, at,
        "quantised type, expected a plain element type such as i8: lower the "
        "program with its quantisation spelled out");
}

/* An element type at p->at. */
static int parse_element(struct mlir_parser *p, enum hlo_type *out)
{
    const char *end = hlo_mlir_name_end(p->at);

    if (!strncmp(p->at, "!quant", 6))
        return refuse_quantised(p, p->at);
    if (*end == '<') {
        end = hlo_mlir_group_end(end);
        if (!end)
            return hlo_mlir_parse_fail(p, p->at, "type is not closed, expected >");
    }
    struct mlir_span s = {p->at, (uint32_t)(end - p->at)};
    for (size_t n = 0; n < sizeof elements / sizeof *elements; n++) {
        if (hlo_mlir_is(s, elements[n].name)) {
            *out = elements[n].type;
            p->at = end;
            return 0;
        }
    }
    return hlo_mlir_parse_fail(
        p, p->at, "\"%.*s\" is not an element type, expected one such as f32", MLIR_WORD(p->at));
}

/* Behind `tensor<`. */
static int parse_tensor(struct mlir_parser *p, hlo_shape_id *out)
{
    int64_t dims[HLO_RANK_MAX];
    struct hlo_shape_draft d = {.layout_rest = "", .dims = dims};
    const char *begin = p->at;

    for (mlir_skip(p); lex_is(*p->at, LEX_DIGIT) || *p->at == '?' || *p->at == '*'; d.rank++) {
        if (!lex_is(*p->at, LEX_DIGIT))
            return hlo_mlir_parse_fail(
                p, p->at,
                "a size that is not known before the program runs, expected a number: "
                "export with fixed shapes");
        if (d.rank == HLO_RANK_MAX)
            return hlo_mlir_parse_fail(p, p->at, "more than %d dims", HLO_RANK_MAX);
        const char *end = hlo_lex_int(p->at, &dims[d.rank]);
        if (!end || *end != 'x' || dims[d.rank] < 0)
            return hlo_mlir_parse_fail(p, p->at, "\"%.*s\" is not a dim, expected one such as 8x",
                                       MLIR_WORD(p->at));
        p->at = end + 1;
    }
    if (parse_element(p, &d.type))
        return p->m->e->code;
    mlir_skip(p);
    if (*p->at == ',') { /* an encoding: bounds of dynamic dims, layouts of other compilers */
        const char *encoding = lex_skip(p->at + 1), *end = hlo_mlir_value_end(encoding);
        if (!strncmp(encoding, "#stablehlo.bounds", 17) ||
            !strncmp(encoding, "#stablehlo.type_extensions<bounds", 33))
            return hlo_mlir_parse_fail(
                p, encoding,
                "a size that is only bounded, expected a number: export with "
                "fixed shapes");
        p->at = end ? end : p->at;
    }
    if (hlo_mlir_parse_expect(p, ">", "after a tensor type"))
        return p->m->e->code;
    return hlo_mlir_parse_place(p, begin, hlo_build_shape(p->m->b, &d, out, p->m->e));
}

/* Behind `tuple<`. */
static int parse_tuple(struct mlir_parser *p, hlo_shape_id *out)
{
    size_t base = p->type_count;
    const char *begin = p->at;

    if (p->depth >= HLO_NESTING_MAX)
        return hlo_mlir_parse_fail(p, begin, "tuples nested deeper than %d", HLO_NESTING_MAX);
    p->depth++;
    for (mlir_skip(p); *p->at != '>'; mlir_skip(p)) {
        hlo_shape_id part;
        if (p->type_count > base && hlo_mlir_parse_expect(p, ",", "between types"))
            return p->m->e->code;
        if (hlo_mlir_parse_type(p, &part))
            return p->m->e->code;
        if (!mem_grow(&p->types, &p->type_room, p->type_count, 1))
            return hlo_mlir_memory(p->m);
        p->types[p->type_count++] = part;
    }
    p->depth--;
    p->at++;
    struct hlo_shape_draft d = {.type = HLO_TUPLE,
                                .layout_rest = "",
                                .parts = p->types + base,
                                .part_count = (uint32_t)(p->type_count - base)};
    int rc = hlo_build_shape(p->m->b, &d, out, p->m->e);
    p->type_count = base;
    return hlo_mlir_parse_place(p, begin, rc);
}

static int intern_scalar(struct mlir_parser *p, enum hlo_type type, hlo_shape_id *out)
{
    struct hlo_shape_draft d = {.type = type, .layout_rest = ""};

    return hlo_build_shape(p->m->b, &d, out, p->m->e);
}

static int parse_uncached(struct mlir_parser *p, hlo_shape_id *out)
{
    enum hlo_type type;

    if (!strncmp(p->at, "tensor<", 7)) {
        p->at += 7;
        return parse_tensor(p, out);
    }
    if (!strncmp(p->at, "tuple<", 6)) {
        p->at += 6;
        return parse_tuple(p, out);
    }
    if (*p->at == '!') {
        const char *end = hlo_mlir_name_end(p->at + 1);
        struct mlir_span s = {p->at, (uint32_t)(end - p->at)};
        if (!strncmp(p->at, "!quant", 6))
            return refuse_quantised(p, p->at);
        uint32_t alias = hlo_mlir_name(&p->m->alias_names, s.text, s.size);
        if (alias == MLIR_NONE)
            return hlo_mlir_memory(p->m);
        alias = p->m->alias_names.list[alias].value;
        if (alias != MLIR_NONE) {
            p->at = end;
            *out = p->m->aliases[alias].shape;
            return 0;
        }
        if (*end == '<')
            end = hlo_mlir_group_end(end);
        if (!hlo_mlir_is(s, "!stablehlo.token") && !hlo_mlir_is(s, "!mhlo.token"))
            return hlo_mlir_parse_fail(p, p->at, "type \"%.*s\" is not known, expected a tensor",
                                       MLIR_WORD(p->at));
        p->at = end;
        return intern_scalar(p, HLO_TOKEN, out);
    }
    if (!lex_is(*p->at, LEX_START))
        return hlo_mlir_parse_fail(
            p, p->at, "\"%.*s\" found, expected a type such as tensor<8x64xf32>", MLIR_WORD(p->at));
    if (parse_element(p, &type)) /* values of other dialects */
        return p->m->e->code;
    return intern_scalar(p, type, out);
}

int hlo_mlir_parse_type(struct mlir_parser *p, hlo_shape_id *out)
{
    mlir_skip(p);
    const char *begin = p->at, *end = begin;

    while (*end && *end != '>' && *end != '\n')
        end++;
    uint32_t size = (uint32_t)(end - begin);
    if (*end != '>' || size > 4096) {
        return parse_uncached(p, out);
    }
    uint32_t hash = lex_hash(begin, size);
    struct mlir_cached_type *c = &p->cached[hash % MLIR_TYPES_CACHED];
    if (size && c->size == size && !memcmp(c->text, begin, size)) {
        p->at = end + 1;
        *out = c->id;
        return 0;
    }
    if (parse_uncached(p, out))
        return p->m->e->code;
    if (p->at == end + 1)
        *c = (struct mlir_cached_type){begin, size, *out};
    return 0;
}

int hlo_mlir_push_type(struct mlir_parser *p)
{
    hlo_shape_id id;

    if (hlo_mlir_parse_type(p, &id))
        return p->m->e->code;
    if (!mem_grow(&p->types, &p->type_room, p->type_count, 1))
        return hlo_mlir_memory(p->m);
    p->types[p->type_count++] = id;
    return 0;
}

int hlo_mlir_parse_types(struct mlir_parser *p)
{
    bool is_group = hlo_mlir_eat(p, "(");

    if (is_group && hlo_mlir_eat(p, ")"))
        return 0;
    do {
        if (hlo_mlir_push_type(p))
            return p->m->e->code;
    } while (hlo_mlir_eat(p, ","));
    return is_group ? hlo_mlir_parse_expect(p, ")", "after types") : 0;
}
