#include "engine/text/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { SIZE_MOST = 1 << 20, DEPTH_MOST = 16, NODES_MOST = 20000 };

struct reader {
    yaml_parser_t parser;
    struct yaml_doc *doc;
    struct err *e;
    uint32_t nodes;
};

const char *yaml_kind_name(enum yaml_kind kind)
{
    static const char *const names[] = {"a single value", "a list", "a map"};

    return names[kind];
}

/* libyaml counts characters; errors count bytes. */
int yaml_at(const struct yaml_doc *d, size_t mark, struct err *e)
{
    size_t at = 0;

    while (mark-- && at < d->size) {
        at++;
        while (at < d->size && ((unsigned char)d->text[at] & 0xc0) == 0x80)
            at++;
    }
    return err_at(e, d->text, d->size, at);
}

static int fail_at_mark(struct reader *r, size_t mark, enum err_code code, const char *what)
{
    err_set(r->e, code, "%s", what);
    return yaml_at(r->doc, mark, r->e);
}

/* The next event, or the parser's complaint in our words. */
static int next(struct reader *r, yaml_event_t *event)
{
    const yaml_parser_t *p = &r->parser;

    if (yaml_parser_parse(&r->parser, event))
        return 0;
    memset(event, 0, sizeof *event);
    if (p->error == YAML_MEMORY_ERROR)
        return err_no_memory(r->e, "while reading YAML");
    err_set(r->e, ERR_INPUT, "not valid YAML: %s%s%s", p->problem ? p->problem : "unknown problem",
            p->context ? " " : "", p->context ? p->context : "");
    if (p->error == YAML_READER_ERROR)
        return err_at(r->e, r->doc->text, r->doc->size, p->problem_offset);
    return yaml_at(r->doc, p->problem_mark.index, r->e);
}

static struct yaml *new_node(struct reader *r, const yaml_event_t *event)
{
    struct yaml *n = NULL;

    if (++r->nodes > NODES_MOST) {
        fail_at_mark(r, event->start_mark.index, ERR_LIMIT,
                     "more than 20,000 values in one YAML file");
        return NULL;
    }
    n = arena_get(&r->doc->arena, 1, sizeof *n);
    if (!n)
        err_no_memory(r->e, "while reading YAML");
    else
        n->mark = event->start_mark.index;
    return n;
}

/* The value of a scalar event, or NULL with the error set. */
static const char *scalar_text(struct reader *r, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    const char *copy = NULL;

    if (memchr(value, 0, length)) {
        fail_at_mark(r, event->start_mark.index, ERR_INPUT, "a NUL character inside a value");
        return NULL;
    }
    copy = arena_text(&r->doc->arena, value, length);
    if (!copy)
        err_no_memory(r->e, "while reading YAML");
    return copy;
}

/* Refuses what we do not read: aliases, anchors, tags. They are how a small file becomes a large
 * one, and no file of ours needs them. */
static int check_plain(struct reader *r, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;

    if (event->type == YAML_ALIAS_EVENT)
        return fail_at_mark(r, event->start_mark.index, ERR_INPUT,
                            "an alias (*name), expected the value written out");
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor)
        return fail_at_mark(r, event->start_mark.index, ERR_INPUT,
                            "an anchor (&name), expected a plain value");
    if (tag)
        return fail_at_mark(r, event->start_mark.index, ERR_INPUT,
                            "a tag (!name), expected a plain value");
    return 0;
}

static int read_node(struct reader *r, const yaml_event_t *event, int depth, struct yaml **out);

/* The key of a map entry, whose event is `event`; then its value. */
static int read_entry(struct reader *r, const yaml_event_t *event, int depth, struct yaml **out)
{
    size_t mark = event->start_mark.index;
    yaml_event_t value;
    const char *key = NULL;
    int code = check_plain(r, event);

    if (code)
        return code;
    if (event->type != YAML_SCALAR_EVENT)
        return fail_at_mark(r, mark, ERR_INPUT, "a list or map as a key, expected a word");
    key = scalar_text(r, event);
    if (!key)
        return r->e->code;
    code = next(r, &value);
    if (code)
        return code;
    code = read_node(r, &value, depth, out);
    yaml_event_delete(&value);
    if (!code) {
        (*out)->key = key;
        (*out)->key_mark = mark;
    }
    return code;
}

static int check_new_key(struct reader *r, const struct yaml *map, const struct yaml *entry)
{
    for (const struct yaml *n = map->first; n; n = n->next) {
        if (strcmp(n->key, entry->key) == 0) {
            err_set(r->e, ERR_INPUT, "\"%.60s\" is given twice", entry->key);
            return yaml_at(r->doc, entry->key_mark, r->e);
        }
    }
    return 0;
}

/* Children up to the matching end event. A map's keys are compared pairwise: its size is capped. */
static int read_children(struct reader *r, struct yaml *parent, int depth)
{
    enum { CHILDREN_MOST = 1000 };
    yaml_event_type_t end =
        parent->kind == YAML_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    struct yaml **tail = &parent->first;

    for (;;) {
        yaml_event_t event;
        struct yaml *child = NULL;
        int code = next(r, &event);
        if (code)
            return code;
        if (event.type == end) {
            yaml_event_delete(&event);
            return 0;
        }
        if (parent->count == CHILDREN_MOST)
            code = fail_at_mark(r, event.start_mark.index, ERR_LIMIT, "more than 1,000 entries");
        else if (parent->kind == YAML_MAP)
            code = read_entry(r, &event, depth, &child);
        else
            code = read_node(r, &event, depth, &child);
        yaml_event_delete(&event);
        if (!code && parent->kind == YAML_MAP)
            code = check_new_key(r, parent, child);
        if (code)
            return code;
        *tail = child;
        tail = &child->next;
        parent->count++;
    }
}

/* The node that begins with `event`, which the caller deletes. Recursion is bounded by depth. */
static int read_node(struct reader *r, const yaml_event_t *event, int depth, struct yaml **out)
{
    int code = check_plain(r, event);

    if (code)
        return code;
    *out = new_node(r, event);
    if (!*out)
        return r->e->code;
    if (event->type == YAML_SCALAR_EVENT) {
        (*out)->kind = YAML_SCALAR;
        (*out)->text = scalar_text(r, event);
        return (*out)->text ? 0 : (int)r->e->code;
    }
    (*out)->kind = event->type == YAML_MAPPING_START_EVENT ? YAML_MAP : YAML_LIST;
    if (depth == DEPTH_MOST)
        return fail_at_mark(r, event->start_mark.index, ERR_LIMIT,
                            "lists and maps nested deeper than 16");
    return read_children(r, *out, depth + 1);
}

/* Stream start, document start, the root, document end, stream end. */
static int read_document(struct reader *r)
{
    static const yaml_event_type_t before[] = {YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT};
    static const yaml_event_type_t after[] = {YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT};
    yaml_event_t event;
    int code = 0;

    for (size_t i = 0; i < 2 && !code; i++) {
        code = next(r, &event);
        if (!code && event.type != before[i])
            code = fail_at_mark(r, 0, ERR_INPUT, "an empty file, expected YAML");
        yaml_event_delete(&event);
    }
    if (code)
        return code;
    code = next(r, &event);
    if (!code)
        code = read_node(r, &event, 0, &r->doc->root);
    yaml_event_delete(&event);
    for (size_t i = 0; i < 2 && !code; i++) {
        code = next(r, &event);
        if (!code && event.type != after[i])
            code = fail_at_mark(r, event.start_mark.index, ERR_INPUT,
                                "a second document, expected the end of the file");
        yaml_event_delete(&event);
    }
    return code;
}

int yaml_read(struct yaml_doc *out, const char *text, size_t size, struct err *e)
{
    struct reader r = {.doc = out, .e = e};
    int code;

    memset(out, 0, sizeof *out);
    out->text = text;
    out->size = size;
    if (size > SIZE_MOST)
        return err_set(e, ERR_LIMIT, "a YAML file of more than 1 MB");
    if (!yaml_parser_initialize(&r.parser))
        return err_no_memory(e, "while reading YAML");
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    code = read_document(&r);
    yaml_parser_delete(&r.parser);
    if (code)
        yaml_release(out);
    return code;
}

void yaml_release(struct yaml_doc *d)
{
    arena_release(&d->arena);
    memset(d, 0, sizeof *d);
}

int yaml_wrong(const struct yaml_doc *d, size_t mark, struct err *e, const char *format, ...)
{
    char text[sizeof e->what];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    err_set(e, ERR_INPUT, "%s", text);
    return yaml_at(d, mark, e);
}

const struct yaml *yaml_get(const struct yaml *map, const char *key)
{
    const struct yaml *item = map && map->kind == YAML_MAP ? map->first : NULL;

    while (item && strcmp(item->key, key) != 0)
        item = item->next;
    return item;
}
