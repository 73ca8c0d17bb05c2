/* constant(...): the text is kept, after a check that it holds as many values of the right type as
 * the shape has. */
#include "hlo/module/build.h"
#include "hlo/module/read.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/lex.h"
#include "hlo/text/parse.h"

#include <string.h>

static int64_t type_most(const struct hlo_type_info *t)
{
    int bits = t->bits - (t->class == 'I');

    return bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
}

static int parse_integer(struct parser *p, const struct hlo_type_info *t)
{
    int64_t value;
    const char *begin = p->at, *end = hlo_lex_int(begin, &value);

    if (!end && (hlo_lex_is_word(begin, "true") || hlo_lex_is_word(begin, "false"))) {
        p->at = lex_name_end(begin);
        return 0;
    }
    int64_t most = type_most(t), least = t->class == 'I' ? -most - 1 : 0;

    /* 64-bit values wrap: u64 -1 and s64 2^64-1 are written so. */
    if (!end || (t->bits < 64 && (value < least || value > most)))
        return hlo_parse_fail(p, begin, "\"%.*s\" is no %s, expected a number from %lld to %lld",
                              PARSE_WORD(begin), t->name, (long long)least, (long long)most);
    p->at = end;
    return 0;
}

/* Decimal or hexadecimal floats, inf, nan, nan(0x7f), with a sign. */
static const char *float_end(const char *p)
{
    p += *p == '-' || *p == '+';
    if (*p == 'i' && !strncmp(p, "inf", 3))
        return p + 3;
    if (*p == 'n' && !strncmp(p, "nan", 3))
        return p[3] == '(' ? hlo_lex_group_end(p + 3) : p + 3;
    const char *digits = p;
    bool has_digit = false;
    for (; lex_is(*p, LEX_NAME) || *p == '+'; p++) {
        if ((*p == '-' || *p == '+') && !strchr("eEpP", p[-1]))
            break;
        has_digit |= lex_is(*p, LEX_DIGIT);
    }
    return has_digit && p > digits && !lex_is(*digits, LEX_START) ? p : NULL;
}

static int parse_real(struct parser *p, const struct hlo_type_info *t)
{
    const char *end = float_end(p->at);

    if (!end && hlo_lex_is_word(p->at, "true"))
        end = p->at + 4;
    if (!end && hlo_lex_is_word(p->at, "false"))
        end = p->at + 5;
    if (!end)
        return hlo_parse_fail(p, p->at, "\"%.*s\" is no %s, expected a number", PARSE_WORD(p->at),
                              t->name);
    p->at = end;
    return 0;
}

static int parse_complex(struct parser *p, const struct hlo_type_info *t)
{
    if (*p->at != '(')
        return parse_real(p, t);
    p->at++;
    parse_skip(p);
    if (parse_real(p, t) || parse_expect(p, ',', "between the parts of a complex number"))
        return p->e->code;
    parse_skip(p);
    if (parse_real(p, t))
        return p->e->code;
    return parse_expect(p, ')', "after a complex number");
}

static int parse_scalar(struct parser *p, const struct hlo_shape *s)
{
    const struct hlo_type_info *t = &hlo_type_info[s->type];

    switch (t->class) {
    case 'P':
    case 'I':
    case 'U':
        return parse_integer(p, t);
    case 'F':
        return parse_real(p, t);
    case 'C':
        return parse_complex(p, t);
    default:
        return hlo_parse_fail(p, p->at, "a constant of type %s, expected an array", t->name);
    }
}

static int parse_array_literal(struct parser *p, const struct hlo_shape *s, uint8_t dim)
{
    int64_t n = 0;

    if (dim == s->rank)
        return parse_scalar(p, s);
    const char *begin = p->at;
    if (parse_expect(p, '{', "before the values of a dim"))
        return p->e->code;
    for (parse_skip(p); *p->at != '}'; parse_skip(p)) {
        if (n && parse_expect(p, ',', "between values"))
            return p->e->code;
        parse_skip(p);
        if (parse_array_literal(p, s, (uint8_t)(dim + 1)))
            return p->e->code;
        n++;
    }
    p->at++;
    bool is_dynamic = s->dynamic && s->dynamic[dim];
    if (n != s->dims[dim] && !(is_dynamic && (n < s->dims[dim] || s->dims[dim] < 0)))
        return hlo_parse_fail(p, begin, "%lld values in dim %d, expected %lld", (long long)n, dim,
                              (long long)s->dims[dim]);
    return 0;
}

static int parse_values(struct parser *p, hlo_shape_id id, int depth)
{
    parse_skip(p);
    if (p->at[0] == '{' && p->at[1] == '.' && !strncmp(p->at, "{...}", 5)) {
        p->at += 5;
        return 0;
    }
    const struct hlo_shape *s = hlo_builder_shape(p->b, id);
    if (s->type != HLO_TUPLE) /* one value alone stands for all elements */
        return *p->at == '{' ? parse_array_literal(p, s, 0) : parse_scalar(p, s);
    if (depth == HLO_NESTING_MAX)
        return hlo_parse_fail(p, p->at, "tuples nested deeper than %d", HLO_NESTING_MAX);
    if (parse_expect(p, '(', "before the elements of a tuple"))
        return p->e->code;
    for (uint32_t n = 0; n < s->part_count; n++) {
        if (n && parse_expect(p, ',', "between the elements of a tuple"))
            return p->e->code;
        if (parse_values(p, s->parts[n], depth + 1))
            return p->e->code;
    }
    return parse_expect(p, ')', "after the elements of a tuple");
}

int hlo_parse_literal(struct parser *p, hlo_shape_id shape, struct hlo_draft *d)
{
    parse_skip(p);
    const char *begin = p->at;
    if (parse_values(p, shape, 0))
        return p->e->code;
    if ((size_t)(p->at - begin) >= UINT32_MAX)
        return hlo_parse_place(p, begin,
                               err_set(p->e, ERR_LIMIT, "a constant of more than 4 GB of text"));
    d->literal = begin;
    d->literal_size = (uint32_t)(p->at - begin);
    return parse_expect(p, ')', "after the value of a constant");
}
