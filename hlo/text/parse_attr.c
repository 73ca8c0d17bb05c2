/* Attributes of an instruction: `, name=value` any number of times, in any order. */
#include "hlo/module/attr.h"
#include "hlo/module/attr_kind.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"
#include "hlo/text/parse.h"

#include <string.h>

static const char *const special_names[PARSE_SPECIAL_END - PARSE_TO_APPLY] = {
    [PARSE_TO_APPLY - PARSE_TO_APPLY] = "to_apply",
    [PARSE_CALLS - PARSE_TO_APPLY] = "calls",
    [PARSE_BODY - PARSE_TO_APPLY] = "body",
    [PARSE_CONDITION - PARSE_TO_APPLY] = "condition",
    [PARSE_SELECT - PARSE_TO_APPLY] = "select",
    [PARSE_SCATTER - PARSE_TO_APPLY] = "scatter",
    [PARSE_TRUE - PARSE_TO_APPLY] = "true_computation",
    [PARSE_FALSE - PARSE_TO_APPLY] = "false_computation",
    [PARSE_BRANCHES - PARSE_TO_APPLY] = "branch_computations",
    [PARSE_CALLED - PARSE_TO_APPLY] = "called_computations",
    [PARSE_CONTROLS - PARSE_TO_APPLY] = "control-predecessors",
    [PARSE_INDEX - PARSE_TO_APPLY] = "index",
};

static const char *key_name(unsigned key)
{
    return key < HLO_ATTR_COUNT ? hlo_attr_info[key].name : special_names[key - PARSE_TO_APPLY];
}

static inline unsigned slot_of(const char *name, size_t size)
{
    unsigned first = (unsigned char)name[0], middle = (unsigned char)name[size / 2],
             last = (unsigned char)name[size - 1];

    return (first * 37 + middle * 11 + last * 5 + (unsigned)size * 59) & (PARSE_ATTR_SLOTS - 1);
}

void hlo_parse_attr_init(struct parser *p)
{
    _Static_assert(PARSE_SPECIAL_END < 255, "keys must fit the slots");
    for (unsigned key = 0; key < PARSE_SPECIAL_END; key++) {
        if (key == HLO_ATTR_UNKNOWN)
            continue;
        const char *name = key_name(key);
        unsigned slot = slot_of(name, strlen(name));
        while (p->attr_slots[slot])
            slot = (slot + 1) & (PARSE_ATTR_SLOTS - 1);
        p->attr_slots[slot] = (uint8_t)(key + 1);
        p->attr_sizes[key] = (uint8_t)strlen(name);
    }
}

static unsigned find_key(const struct parser *p, const char *name, size_t size)
{
    for (unsigned slot = slot_of(name, size); p->attr_slots[slot];
         slot = (slot + 1) & (PARSE_ATTR_SLOTS - 1)) {
        unsigned key = p->attr_slots[slot] - 1u;
        if (p->attr_sizes[key] == size && !memcmp(key_name(key), name, size))
            return key;
    }
    return HLO_ATTR_UNKNOWN;
}

/* `mesh[..], device_ids=(..) {..}`: the one value with blanks and a comma outside of brackets. */
static const char *mesh_end(const char *p)
{
    p = hlo_lex_group_end(strchr(p, '['));
    if (!p)
        return NULL;
    const char *next = lex_skip(p);
    if (*next == ',' && !strncmp(lex_skip(next + 1), "device_ids=(", 12)) {
        p = hlo_lex_group_end(lex_skip(next + 1) + 11);
        if (!p)
            return NULL;
        next = lex_skip(p);
    }
    return *next == '{' ? hlo_lex_group_end(next) : p;
}

/* `f32[2] {1, 2}`: a shape, a blank, a value. */
static const char *literal_end(const char *p)
{
    const char *end = hlo_parse_at_shape(p) ? hlo_parse_value_end(p, HLO_ATTR_UNKNOWN) : p;

    if (end && end > p && *end != ',')
        end = lex_skip(end);
    return end ? hlo_parse_value_end(end, HLO_ATTR_UNKNOWN) : NULL;
}

const char *hlo_parse_value_end(const char *p, uint16_t key)
{
    if (key == HLO_ATTR_LITERAL)
        return literal_end(p);
    if (key == HLO_ATTR_REPLICA_GROUPS &&
        (!strncmp(p, "mesh[", 5) || !strncmp(p, "maximal_mesh[", 13)))
        return mesh_end(p);
    for (;;) {
        switch (*p) {
        case '\0':
        case ' ':
        case ',':
        case '\n':
        case '\r':
        case '\t':
        case ')':
        case '}':
        case ']':
            return p;
        case '"':
            p = hlo_lex_string_end(p);
            break;
        case '{':
        case '[':
        case '(':
            p = hlo_lex_group_end(p);
            break;
        case '/':
            if (lex_at_comment(p))
                return p;
            p++;
            break;
        default:
            p++;
        }
        if (!p)
            return NULL;
    }
}

static int set_called(struct parser *p, size_t slot, const char *at)
{
    if (p->called_count <= slot) {
        if (!mem_grow(&p->called, &p->called_room, p->called_count, 2))
            return hlo_parse_memory(p);
        while (p->called_count <= slot)
            p->called[p->called_count++] = HLO_NONE;
    }
    if (p->called[slot] != HLO_NONE)
        return hlo_parse_fail(p, at, "a second computation in this place, expected one");
    return hlo_parse_at_inline(p->at) ? hlo_parse_inline(p, &p->called[slot])
                                      : hlo_parse_computation_name(p, &p->called[slot]);
}

/* `{a, b}` or `a`. */
static int called_list(struct parser *p)
{
    const char *begin = p->at;

    if (p->called_count)
        return hlo_parse_fail(p, begin,
                              "computations named twice, expected one attribute for them");
    if (*p->at != '{' || hlo_parse_at_inline(p->at))
        return set_called(p, 0, begin);
    p->at++;
    for (parse_skip(p); *p->at != '}'; parse_skip(p)) {
        if (p->called_count && parse_expect(p, ',', "between computations"))
            return p->e->code;
        parse_skip(p);
        if (set_called(p, p->called_count, p->at))
            return p->e->code;
    }
    p->at++;
    return 0;
}

static int control_list(struct parser *p)
{
    if (parse_expect(p, '{', "before control predecessors"))
        return p->e->code;
    for (parse_skip(p); *p->at != '}'; parse_skip(p)) {
        if (p->control_count && parse_expect(p, ',', "between control predecessors"))
            return p->e->code;
        parse_skip(p);
        const char *name = p->at + (*p->at == '%'), *end = lex_name_end(name);
        hlo_id id = hlo_parse_find(p, name, (size_t)(end - name));
        if (end == name || id == HLO_NONE)
            return hlo_parse_fail(p, p->at,
                                  "\"%.*s\" is not defined, expected the name of an earlier "
                                  "instruction of this computation",
                                  PARSE_NAME(name));
        if (!mem_grow(&p->controls, &p->control_room, p->control_count, 1))
            return hlo_parse_memory(p);
        p->controls[p->control_count++] = id;
        p->at = end;
    }
    p->at++;
    return 0;
}

static int parse_index(struct parser *p, struct hlo_draft *d)
{
    int64_t index;
    const char *end = hlo_lex_int(p->at, &index);

    if (!end || index < 0 || index >= HLO_LEAVES_MAX)
        return hlo_parse_fail(p, p->at, "\"%.*s\" is not an index, expected a number from 0 to %d",
                              PARSE_WORD(p->at), HLO_LEAVES_MAX - 1);
    d->number = (uint32_t)index;
    p->at = end;
    return 0;
}

static int parse_special(struct parser *p, unsigned key, struct hlo_draft *d)
{
    switch (key) {
    case PARSE_BODY:
    case PARSE_SELECT:
    case PARSE_TRUE:
        return set_called(p, 0, p->at);
    case PARSE_CONDITION:
    case PARSE_SCATTER:
    case PARSE_FALSE:
        return set_called(p, 1, p->at);
    case PARSE_CONTROLS:
        return control_list(p);
    case PARSE_INDEX:
        return parse_index(p, d);
    default:
        return called_list(p);
    }
}

static int add_attr(struct parser *p, unsigned key, const char *text, size_t size)
{
    if (size >= UINT32_MAX)
        return hlo_parse_place(p, text, err_set(p->e, ERR_LIMIT, "an attribute of more than 4 GB"));
    if (!mem_grow(&p->attrs, &p->attr_room, p->attr_count, 1))
        return hlo_parse_memory(p);
    p->attrs[p->attr_count++] = (struct hlo_attr){(uint16_t)key, (uint32_t)size, text};
    return 0;
}

/* Past `{1,0}` written without blanks: the commonest value, and sure to fit. */
static const char *plain_ints_end(const char *p)
{
    if (*p++ != '{')
        return NULL;
    if (*p == '}')
        return p + 1;
    for (;; p++) {
        const char *digits = p;
        while (lex_is(*p, LEX_DIGIT))
            p++;
        if (p == digits || p - digits > 9)
            return NULL;
        if (*p == '}')
            return p + 1;
        if (*p != ',')
            return NULL;
    }
}

/* Past `{key="text" key=1}` without brackets or comments inside: what metadata nearly always is. */
static const char *plain_metadata_end(const char *p)
{
    if (*p++ != '{')
        return NULL;
    for (;;) {
        while (!lex_is(*p, LEX_BRACKET))
            p++;
        if (*p != '"')
            return *p == '}' && (lex_is(p[1], LEX_BLANK) || p[1] == ',' || p[1] == '}') ? p + 1
                                                                                        : NULL;
        p = hlo_lex_string_end(p);
        if (!p)
            return NULL;
    }
}

/* The first comment outside of strings in [p, end); NULL: there is none. */
static const char *find_comment(const char *p, const char *end)
{
    while (p && p < end) {
        if (lex_at_comment(p))
            return p;
        p = *p == '"' ? hlo_lex_string_end(p) : p + 1;
    }
    return NULL;
}

/* A copy of [*value, *end) with a blank for each comment. */
static int strip_comments(struct parser *p, const char **value, const char **end)
{
    const char *from = *value, *comment = find_comment(from, *end);

    if (!comment)
        return 0;
    char *copy = arena_get(&p->m->arena, (size_t)(*end - from) + PARSE_SLACK, 1), *to = copy;
    if (!copy)
        return hlo_parse_memory(p);
    for (; comment; comment = find_comment(from, *end)) {
        memcpy(to, from, (size_t)(comment - from));
        to += comment - from;
        *to++ = ' ';
        const char *behind = lex_skip(comment);
        if (behind == comment)
            return hlo_parse_fail(p, comment, "comment is not closed, expected */");
        from = behind < *end ? behind : *end;
    }
    memcpy(to, from, (size_t)(*end - from));
    *end = to + (*end - from);
    *value = copy;
    return 0;
}

/* What is not known is kept on one line: a line of it could pass for the begin of a module. Breaks
 * in strings stay. */
static int flatten(struct parser *p, const char **text, const char **end)
{
    if (!memchr(*text, '\n', (size_t)(*end - *text)))
        return 0;
    if (strip_comments(p, text, end))
        return p->e->code;
    size_t size = (size_t)(*end - *text);
    char *copy = arena_get(&p->m->arena, size + PARSE_SLACK, 1);
    if (!copy)
        return hlo_parse_memory(p);
    memcpy(copy, *text, size);
    for (char *at = copy; at < copy + size; at++) {
        const char *closed = *at == '"' ? hlo_lex_string_end(at) : NULL;
        if (closed)
            at += closed - 1 - at;
        else if (*at == '\n' || *at == '\r')
            *at = ' ';
    }
    *text = copy;
    *end = copy + size;
    return 0;
}

static int parse_plain(struct parser *p, unsigned key, const char *name, struct hlo_draft *d)
{
    const char *value = p->at, *end = NULL;

    if (hlo_attr_info[key].kind == HLO_KIND_INTS && (end = plain_ints_end(value))) {
        p->at = end;
        return add_attr(p, key, value, (size_t)(end - value));
    }
    if (key == HLO_ATTR_METADATA)
        end = plain_metadata_end(value);
    bool is_plain = end != NULL;
    if (!is_plain)
        end = hlo_parse_value_end(value, (uint16_t)key);
    if (!end)
        return hlo_parse_fail(p, value, "the value of %.*s is not closed, expected %s",
                              PARSE_NAME(name), hlo_attr_example((enum hlo_attr_key)key));
    if (key == HLO_ATTR_UNKNOWN && end == value)
        return hlo_parse_fail(p, value, "attribute %.*s has no value, expected one",
                              PARSE_NAME(name));
    const char *behind = end;
    if (!is_plain && memchr(value, '/', (size_t)(end - value)) && key != HLO_ATTR_UNKNOWN &&
        hlo_attr_info[key].kind != HLO_KIND_CONFIG && strip_comments(p, &value, &end))
        return p->e->code;
    bool fits = key == HLO_ATTR_METADATA
                    ? *value == '{' && end[-1] == '}' /* it is read below */
                    : key == HLO_ATTR_UNKNOWN ||
                          hlo_attr_fits((enum hlo_attr_key)key, value, (size_t)(end - value));
    if (!fits)
        return hlo_parse_fail(p, value, "the value of %s is wrong, expected %s", key_name(key),
                              hlo_attr_example((enum hlo_attr_key)key));
    const char *text = key == HLO_ATTR_UNKNOWN ? name : value;
    if (key == HLO_ATTR_METADATA) {
        size_t size = (size_t)(end - value);
        if (hlo_parse_metadata(p, &value, end, &d->meta))
            return p->e->code; /* p->at is still before the value: the place of a copy of it */
        p->at = behind;
        return add_attr(p, key, value, size);
    }
    p->at = behind;
    if (key == HLO_ATTR_UNKNOWN && flatten(p, &text, &end))
        return p->e->code;
    return add_attr(p, key, text, (size_t)(end - text));
}

/* At `name=value`. */
static int parse_attr(struct parser *p, struct hlo_draft *d)
{
    const char *name = p->at, *end = lex_name_end(name);

    if (end == name)
        return hlo_parse_fail(p, name, "expected an attribute (name=value) after the comma");
    unsigned key = find_key(p, name, (size_t)(end - name));
    p->at = end;
    if (parse_expect(p, '=', "after the name of an attribute"))
        return p->e->code;
    parse_skip(p);
    if (key > HLO_ATTR_UNKNOWN)
        return parse_special(p, key, d);
    if (key == HLO_ATTR_UNKNOWN)
        hlo_build_warning(p->b, (size_t)(name - p->input),
                          "attribute %.*s is not known: kept as it stands", PARSE_NAME(name));
    return parse_plain(p, key, name, d);
}

int hlo_parse_attrs(struct parser *p, struct hlo_draft *d)
{
    p->attr_count = p->called_count = p->control_count = 0;
    for (parse_skip(p); *p->at == ','; parse_skip(p)) {
        p->at++;
        parse_skip(p);
        if (parse_attr(p, d))
            return p->e->code;
    }
    for (size_t n = 0; n < p->called_count; n++) {
        if (p->called[n] == HLO_NONE)
            return hlo_parse_fail(p, p->at, "one of two computations is missing, expected both");
    }
    d->attrs = p->attrs;
    d->attr_count = (uint32_t)p->attr_count;
    d->called = p->called;
    d->called_count = (uint32_t)p->called_count;
    d->controls = p->controls;
    d->control_count = (uint32_t)p->control_count;
    return 0;
}
