/* hlo/module/access.c - questions about one instruction: its attributes, its constant, its trips.
 */
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/text.h"

#include <math.h>
#include <string.h>

hlo_value hlo_part_values(const struct hlo_module *m, hlo_id id, uint32_t part, uint32_t *count)
{
    const struct hlo_shape *s = hlo_shape(m, id);

    BUG_ON(part >= s->part_count);
    *count = m->shapes[s->parts[part]].leaf_count;
    return hlo_value_of(m, id, s->part_leaf[part]);
}

/* ---- attributes ---- */

const struct hlo_attr *hlo_attr(const struct hlo_module *m, hlo_id id, enum hlo_attr_key key)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    const struct hlo_attr *a = m->attr_pool + i->attrs, *end = a + i->attr_count;

    for (; a < end && a->key <= key; a++)
        if (a->key == key)
            return a;
    return NULL;
}

int64_t hlo_attr_int(const struct hlo_module *m, hlo_id id, enum hlo_attr_key key, int64_t absent)
{
    const struct hlo_attr *a = hlo_attr(m, id, key);
    int64_t value;

    return a && hlo_parse_int(a->text, a->size, &value) ? value : absent;
}

bool hlo_attr_bool(const struct hlo_module *m, hlo_id id, enum hlo_attr_key key, bool absent)
{
    const struct hlo_attr *a = hlo_attr(m, id, key);

    if (!a || !a->size)
        return absent;
    return a->text[0] == 't' || a->text[0] == '1';
}

size_t hlo_attr_ints(const struct hlo_module *m, hlo_id id, enum hlo_attr_key key,
                     int64_t out[static HLO_RANK_MAX])
{
    const struct hlo_attr *a = hlo_attr(m, id, key);
    size_t count = 0;

    return a && hlo_parse_ints(a->text, a->size, out, HLO_RANK_MAX, &count) ? count : 0;
}

const char *hlo_attr_string(const struct hlo_module *m, hlo_id id, enum hlo_attr_key key,
                            size_t *size)
{
    const struct hlo_attr *a = hlo_attr(m, id, key);
    bool is_quoted = a && a->size >= 2 && a->text[0] == '"' && a->text[a->size - 1] == '"';

    *size = a ? a->size - 2 * (size_t)is_quoted : 0;
    return a ? a->text + is_quoted : NULL;
}

bool hlo_attr_is(const struct hlo_module *m, hlo_id id, enum hlo_attr_key key, const char *word)
{
    size_t size;
    const char *text = hlo_attr_string(m, id, key, &size);

    return text && size == strlen(word) && !memcmp(text, word, size);
}

/* ---- constants ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool span_is(const char *p, const char *end, const char *word)
{
    return (size_t)(end - p) == strlen(word) && !memcmp(p, word, (size_t)(end - p));
}

bool hlo_constant_number(const struct hlo_module *m, hlo_id id, double *out)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    const struct hlo_shape *s = hlo_shape(m, id);

    if (i->opcode != HLO_OP_CONSTANT || !i->literal || s->rank || !hlo_type_info[s->type].bits)
        return false;
    const char *p = m->literals[i->literal].text, *end = p + m->literals[i->literal].size;
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
        p++;
    while (p < end && (end[-1] == ' ' || end[-1] == '\n' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    double sign = 1;
    if (p < end && *p == '-') {
        sign = -1;
        p++;
    }
    if (span_is(p, end, "true") || span_is(p, end, "false"))
        *out = *p == 't';
    else if (span_is(p, end, "inf"))
        *out = sign * INFINITY;
    else if (end - p >= 3 && !memcmp(p, "nan", 3))
        *out = NAN;
    else if (p < end && (is_digit(*p) || *p == '.') &&
             text_real(p, (size_t)(end - p), out) == (size_t)(end - p))
        *out *= sign;
    else
        return false;
    return true;
}

/* ---- trip counts ---- */

/* "known_trip_count":{"n":"12"} in the backend_config, as XLA writes it. */
static int64_t known_trip_count(const struct hlo_module *m, hlo_id loop)
{
    static const char key[] = "\"known_trip_count\"";
    const struct hlo_attr *a = hlo_attr(m, loop, HLO_ATTR_BACKEND_CONFIG);

    if (!a)
        return -1;
    const char *end = a->text + a->size, *p = a->text;
    while (p + sizeof key - 1 < end && memcmp(p, key, sizeof key - 1) != 0)
        p++;
    if (p + sizeof key - 1 >= end)
        return -1;
    p += sizeof key - 1;
    while (p < end && !is_digit(*p) && *p != '}')
        p++;
    const char *first = p;
    while (p < end && is_digit(*p))
        p++;
    int64_t n;
    return hlo_parse_int(first, (size_t)(p - first), &n) && n >= 0 ? n : -1;
}

/* Through what does not change a scalar number. */
static hlo_id look_through(const struct hlo_module *m, hlo_id id)
{
    for (;;) {
        switch (hlo_at(m, id)->opcode) {
        case HLO_OP_COPY:
        case HLO_OP_CONVERT:
        case HLO_OP_RESHAPE:
        case HLO_OP_BITCAST:
        case HLO_OP_OPT_BARRIER:
            if (hlo_shape(m, id)->type == HLO_TUPLE)
                return id;
            id = hlo_operand(m, id, 0);
            break;
        case HLO_OP_GET_TUPLE_ELEMENT: {
            const struct hlo_instruction *t = hlo_at(m, hlo_operand(m, id, 0));
            if (t->opcode != HLO_OP_TUPLE || hlo_at(m, id)->number >= t->operand_count)
                return id;
            id = hlo_operand(m, hlo_operand(m, id, 0), (uint32_t)hlo_at(m, id)->number);
            break;
        }
        default:
            return id;
        }
    }
}

/* Index k when `id` is element k of the only parameter of computation `c`; -1 otherwise. */
static int64_t carried_index(const struct hlo_module *m, hlo_comp c, hlo_id id)
{
    const struct hlo_computation *comp = &m->computations[c];
    const struct hlo_instruction *i = hlo_at(m, id);

    if (i->opcode == HLO_OP_PARAMETER && comp->param_count == 1 && comp->params[0] == id &&
        hlo_shape(m, id)->type != HLO_TUPLE)
        return 0;
    if (i->opcode != HLO_OP_GET_TUPLE_ELEMENT || comp->param_count != 1 ||
        hlo_operand(m, id, 0) != comp->params[0])
        return -1;
    return i->number;
}

/* What makes carried value k where `tuple` makes all of them; HLO_NONE when it cannot be seen. */
static hlo_id tuple_element(const struct hlo_module *m, hlo_id tuple, int64_t k)
{
    while (hlo_at(m, tuple)->opcode == HLO_OP_OPT_BARRIER ||
           hlo_at(m, tuple)->opcode == HLO_OP_COPY)
        tuple = hlo_operand(m, tuple, 0);
    const struct hlo_instruction *t = hlo_at(m, tuple);
    if (t->opcode == HLO_OP_TUPLE)
        return k < t->operand_count ? look_through(m, hlo_operand(m, tuple, (uint32_t)k))
                                    : HLO_NONE;
    return hlo_shape(m, tuple)->type == HLO_TUPLE ? HLO_NONE : look_through(m, tuple);
}

enum { LOOPS_MOST = 6 }; /* in a chain: the counter of one is the limit of the next */

static int64_t trips_of(const struct hlo_module *m, hlo_id loop, int depth);
static double carried_step(const struct hlo_module *m, hlo_comp body, int64_t k);

/* A constant, or what a counter of an earlier loop ends as. */
static bool known_number(const struct hlo_module *m, hlo_id id, int depth, double *out)
{
    double from;

    if (hlo_constant_number(m, id, out))
        return true;
    const struct hlo_instruction *i = hlo_at(m, id);
    if (i->opcode != HLO_OP_GET_TUPLE_ELEMENT || depth >= LOOPS_MOST)
        return false;
    hlo_id loop = hlo_operand(m, id, 0);
    if (hlo_at(m, loop)->opcode != HLO_OP_WHILE)
        return false;
    double step = carried_step(m, hlo_called(m, loop, 0), i->number);
    hlo_id first = tuple_element(m, hlo_operand(m, loop, 0), i->number);
    if (step == 0 || first == HLO_NONE || !known_number(m, first, depth + 1, &from))
        return false;
    int64_t trips = trips_of(m, loop, depth + 1);
    *out = from + (double)trips * step;
    return trips >= 0;
}

/* The number `id` (in the condition) holds in every trip: a constant, or a carried value that the
 * body hands on unchanged and that enters as a constant. */
static bool fixed_number(const struct hlo_module *m, hlo_id loop, hlo_id id, int depth, double *out)
{
    hlo_comp body = hlo_called(m, loop, 0), condition = hlo_called(m, loop, 1);

    id = look_through(m, id);
    if (hlo_constant_number(m, id, out))
        return true;
    int64_t k = carried_index(m, condition, id);
    if (k < 0)
        return false;
    hlo_id next = tuple_element(m, m->computations[body].root, k);
    hlo_id first = tuple_element(m, hlo_operand(m, loop, 0), k);
    return next != HLO_NONE && first != HLO_NONE && carried_index(m, body, next) == k &&
           known_number(m, first, depth, out);
}

/* Step of carried value k: the body adds or subtracts a constant. 0: something else. */
static double carried_step(const struct hlo_module *m, hlo_comp body, int64_t k)
{
    hlo_id next = tuple_element(m, m->computations[body].root, k);
    double step;

    if (next == HLO_NONE)
        return 0;
    int opcode = hlo_at(m, next)->opcode;
    if (opcode != HLO_OP_ADD && opcode != HLO_OP_SUBTRACT)
        return 0;
    hlo_id a = look_through(m, hlo_operand(m, next, 0)),
           b = look_through(m, hlo_operand(m, next, 1));
    if (carried_index(m, body, a) == k && hlo_constant_number(m, b, &step))
        return opcode == HLO_OP_ADD ? step : -step;
    if (opcode == HLO_OP_ADD && carried_index(m, body, b) == k && hlo_constant_number(m, a, &step))
        return step;
    return 0;
}

/* Trips while `from + n * step` compares true with `limit`; -1: not a finite count. */
static int64_t count_trips(const char *direction, double from, double limit, double step)
{
    double n;

    if (!strcmp(direction, "LT") && step > 0)
        n = ceil((limit - from) / step);
    else if (!strcmp(direction, "LE") && step > 0)
        n = floor((limit - from) / step) + 1;
    else if (!strcmp(direction, "GT") && step < 0)
        n = ceil((limit - from) / step);
    else if (!strcmp(direction, "GE") && step < 0)
        n = floor((limit - from) / step) + 1;
    else if (!strcmp(direction, "NE") && step != 0)
        n = (limit - from) / step;
    else
        return -1;
    if (!(n < 9e15) || n != floor(n) || (n < 0 && direction[0] == 'N'))
        return -1;
    return n < 0 ? 0 : (int64_t)n;
}

/* Trips while the comparison `root` of the condition holds; -1: unknown. */
static int64_t compared_trips(const struct hlo_module *m, hlo_id loop, hlo_id root, int depth)
{
    static const char *const names[][2] = {
        {"LT", "GT"}, {"GT", "LT"}, {"LE", "GE"}, {"GE", "LE"}, {"NE", "NE"}};
    hlo_comp body = hlo_called(m, loop, 0), condition = hlo_called(m, loop, 1);
    double from, limit;
    for (int side = 0; side < 2; side++) {
        hlo_id counter = look_through(m, hlo_operand(m, root, (uint32_t)side));
        int64_t k = carried_index(m, condition, counter);
        if (k < 0 || !fixed_number(m, loop, hlo_operand(m, root, (uint32_t)!side), depth, &limit))
            continue;
        double step = carried_step(m, body, k);
        hlo_id first = tuple_element(m, hlo_operand(m, loop, 0), k);
        if (step == 0 || first == HLO_NONE || !known_number(m, first, depth, &from))
            continue;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (hlo_attr_is(m, root, HLO_ATTR_DIRECTION, names[i][0]))
                return count_trips(names[i][side], from, limit, step);
    }
    return -1;
}

/* Of a condition with several parts all must hold: the first that fails ends the loop. */
static int64_t condition_trips(const struct hlo_module *m, hlo_id loop, hlo_id root, int depth)
{
    root = look_through(m, root);
    uint16_t opcode = hlo_at(m, root)->opcode;

    if (opcode == HLO_OP_COMPARE)
        return compared_trips(m, loop, root, depth);
    if (opcode != HLO_OP_AND || depth >= LOOPS_MOST)
        return -1;
    int64_t a = condition_trips(m, loop, hlo_operand(m, root, 0), depth + 1);
    int64_t b = condition_trips(m, loop, hlo_operand(m, root, 1), depth + 1);
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

static int64_t trips_of(const struct hlo_module *m, hlo_id loop, int depth)
{
    int64_t known = known_trip_count(m, loop);

    if (known >= 0)
        return known;
    return condition_trips(m, loop, m->computations[hlo_called(m, loop, 1)].root, depth);
}

int64_t hlo_trip_count(const struct hlo_module *m, hlo_id loop)
{
    return trips_of(m, loop, 0);
}
