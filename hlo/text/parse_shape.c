#include "hlo/module/build.h"
#include "hlo/module/read.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"
#include "hlo/text/parse.h"

#include <string.h>

bool hlo_parse_at_shape(const char *at)
{
    if (*at == '(')
        return true;
    const char *end = lex_name_end(at);
    return end > at && (*end == '[' || (end == at + 1 && *at == 'b' && *end == '('));
}

/* Past `type[dims]{layout}` written without blanks, or NULL. */
static const char *array_end(const char *p)
{
    p = lex_name_end(p);
    if (*p != '[')
        return NULL;
    do
        p++;
    while (lex_is(*p, LEX_DIGIT) || *p == ',');
    while (*p == '<' || *p == '=' || *p == '?' || *p == ',' || lex_is(*p, LEX_DIGIT))
        p++;
    if (*p != ']')
        return NULL;
    p++;
    if (*p != '{')
        return *p == ' ' && p[1] == '{' ? NULL : p; /* a layout may stand apart: read it slowly */
    const char *digits = p + 1;
    while (lex_is(*digits, LEX_DIGIT) || *digits == ',')
        digits++;
    return *digits == '}' ? digits + 1 : hlo_lex_group_end(p);
}

static int parse_dims(struct parser *p, struct hlo_shape_draft *d, int64_t *dims, bool *dynamic)
{
    p->at++; /* [ */
    for (parse_skip(p); *p->at != ']'; parse_skip(p)) {
        if (d->rank && parse_expect(p, ',', "between dims"))
            return ERR_INPUT;
        parse_skip(p);
        if (d->rank == HLO_RANK_MAX)
            return hlo_parse_place(p, p->at,
                                   err_set(p->e, ERR_LIMIT, "more than %d dims", HLO_RANK_MAX));
        bool is_bound = p->at[0] == '<' && p->at[1] == '=';
        dynamic[d->rank] = is_bound || *p->at == '?';
        if (*p->at == '?') {
            dims[d->rank++] = HLO_DIM_UNBOUNDED;
            p->at++;
            continue;
        }
        const char *at = p->at + (is_bound ? 2 : 0), *end = hlo_lex_int(at, &dims[d->rank]);
        if (!end || dims[d->rank] < 0)
            return hlo_parse_fail(
                p, at, "\"%.*s\" is not a dim, expected a number from 0 to 2^63-1", PARSE_WORD(at));
        d->rank++;
        p->at = end;
    }
    p->at++;
    return 0;
}

/* At `{` of a layout: minor_to_major, then `:` and what we keep as text. */
static int parse_layout(struct parser *p, struct hlo_shape_draft *d, uint8_t *order)
{
    const char *begin = p->at, *end = hlo_lex_group_end(p->at);
    uint8_t n = 0;

    if (!end)
        return hlo_parse_fail(p, begin, "layout is not closed, expected }");
    p->at++;
    for (parse_skip(p); *p->at != '}' && *p->at != ':'; parse_skip(p)) {
        int64_t dim = -1;
        if (n && parse_expect(p, ',', "between the dims of a layout"))
            return ERR_INPUT;
        parse_skip(p);
        const char *after = hlo_lex_int(p->at, &dim);
        if (!after || dim < 0 || dim >= d->rank || n == d->rank)
            return hlo_parse_fail(
                p, p->at, "layout does not fit %d dims, expected each of them once", d->rank);
        order[n++] = (uint8_t)dim;
        p->at = after;
    }
    if (n != d->rank)
        return hlo_parse_fail(p, begin, "layout names %d dims, expected %d", n, d->rank);
    if (*p->at == ':') {
        d->layout_rest = p->at;
        d->layout_rest_size = (size_t)(end - 1 - p->at);
    }
    d->has_layout = d->rank || d->layout_rest_size; /* f32[]{} is f32[] */
    d->minor_to_major = d->rank ? order : NULL;
    p->at = end;
    return 0;
}

/* `{` after a shape may open a computation: only a digit or a colon makes it a layout. */
static bool at_layout(const struct parser *p)
{
    const char *at = p->at;

    if (at[0] == '{' && at[1] == '}')
        return true;
    at = lex_skip(at);
    if (*at != '{')
        return false;
    at = lex_skip(at + 1);
    return lex_is(*at, LEX_DIGIT) || *at == ':';
}

static int parse_array(struct parser *p, hlo_shape_id *out)
{
    const char *begin = p->at, *end = lex_name_end(begin);
    int64_t dims[HLO_RANK_MAX];
    bool dynamic[HLO_RANK_MAX];
    uint8_t order[HLO_RANK_MAX];
    struct hlo_shape_draft d = {.dims = dims, .layout_rest = ""};

    d.type = end > begin ? hlo_type_by_name(begin, (size_t)(end - begin)) : HLO_TYPE_COUNT;
    if (d.type == HLO_TYPE_COUNT || d.type == HLO_TUPLE || d.type == HLO_BUFFER)
        return hlo_parse_fail(p, begin, "\"%.*s\" is not a type, expected a shape such as f32[2,3]",
                              PARSE_WORD(begin));
    p->at = lex_skip(end);
    if (*p->at != '[')
        return hlo_parse_fail(p, p->at, "expected [ after the type of a shape");
    if (parse_dims(p, &d, dims, dynamic))
        return p->e->code;
    if (memchr(dynamic, true, d.rank))
        d.dynamic = dynamic;
    if (at_layout(p)) {
        parse_skip(p);
        if (parse_layout(p, &d, order))
            return p->e->code;
    }
    return hlo_parse_place(p, begin, hlo_build_shape(p->b, &d, out, p->e));
}

static int parse_tuple(struct parser *p, enum hlo_type type, hlo_shape_id *out)
{
    const char *begin = p->at;
    size_t base = p->part_count;
    int rc = 0;

    if (p->depth >= HLO_NESTING_MAX)
        return hlo_parse_place(
            p, begin, err_set(p->e, ERR_LIMIT, "shapes nested deeper than %d", HLO_NESTING_MAX));
    p->depth++;
    p->at += type == HLO_BUFFER ? 2 : 1;
    for (parse_skip(p); *p->at != ')' && !rc; parse_skip(p)) {
        hlo_shape_id part;
        if (p->part_count > base && (rc = parse_expect(p, ',', "between the shapes of a tuple")))
            break;
        parse_skip(p);
        rc = hlo_parse_shape(p, &part);
        if (!rc && !mem_grow(&p->parts, &p->part_room, p->part_count, 1))
            rc = hlo_parse_memory(p);
        if (!rc)
            p->parts[p->part_count++] = part;
    }
    if (!rc) {
        struct hlo_shape_draft d = {.type = type, .layout_rest = ""};
        d.part_count = (uint32_t)(p->part_count - base);
        d.parts = d.part_count ? p->parts + base : NULL;
        p->at++;
        rc = hlo_parse_place(p, begin, hlo_build_shape(p->b, &d, out, p->e));
    }
    p->part_count = base;
    p->depth--;
    return rc;
}

int hlo_parse_shape(struct parser *p, hlo_shape_id *out)
{
    const char *begin = p->at;

    if (*begin == '(')
        return parse_tuple(p, HLO_TUPLE, out);
    if (begin[0] == 'b' && begin[1] == '(')
        return parse_tuple(p, HLO_BUFFER, out);
    const char *end = array_end(begin);
    if (!end)
        return parse_array(p, out);
    size_t size = (size_t)(end - begin);
    struct parse_cached_shape *known =
        &p->shapes[lex_hash(begin, size) & (PARSE_SHAPES_CACHED - 1)];
    if (known->size == size && !memcmp(known->text, begin, size)) {
        p->at = end;
        *out = known->id;
        return 0;
    }
    int rc = parse_array(p, out);
    if (rc)
        return rc;
    if (p->at == end && size < UINT32_MAX)
        *known = (struct parse_cached_shape){begin, (uint32_t)size, *out};
    return rc;
}
