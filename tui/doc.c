#include "tui/doc.h"

#include "hlo/mem.h"
#include "hlo/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

struct doc {
    yaml_document_t document;
    char *text;
    size_t size;
    bool loaded;
};

static size_t offset_of(const struct doc *d, yaml_mark_t mark)
{
    return mark.index < d->size ? mark.index : d->size;
}

/* libyaml counts code points, err_at bytes. */
static size_t byte_of(const struct doc *d, yaml_mark_t mark)
{
    size_t at = 0, points = offset_of(d, mark);
    while (at < d->size && points > 0) {
        at++;
        while (at < d->size && ((unsigned char)d->text[at] & 0xc0) == 0x80)
            at++;
        points--;
    }
    return at;
}

static int load(struct doc *d, struct err *e)
{
    yaml_parser_t parser;

    if (!yaml_parser_initialize(&parser))
        return err_set(e, ERR_MEMORY, "out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)d->text, d->size);
    int ok = yaml_parser_load(&parser, &d->document);
    if (!ok) {
        yaml_mark_t at = parser.problem_mark.index ? parser.problem_mark : parser.mark;
        char problem[128];
        const char *said = parser.problem ? parser.problem : "not YAML";
        text_clean(problem, sizeof problem, said, strlen(said));
        err_set(e, ERR_INPUT, "%s", problem);
        err_at(e, d->text, d->size, byte_of(d, at));
    }
    yaml_parser_delete(&parser);
    d->loaded = ok != 0;
    return ok ? 0 : e->code;
}

/* Scalars are shown and compared: cleaned once, in place. */
static void clean_scalars(struct doc *d)
{
    for (yaml_node_t *n = d->document.nodes.start; n < d->document.nodes.top; n++) {
        if (n->type != YAML_SCALAR_NODE)
            continue;
        char *value = (char *)n->data.scalar.value;
        size_t size = n->data.scalar.length;
        if (text_is_clean(value, size))
            continue;
        char *copy = mem_alloc(size + 1);
        size_t length = text_clean(copy, size + 1, value, size);
        memcpy(value, copy, length + 1);
        n->data.scalar.length = length;
        free(copy);
    }
}

int doc_parse(struct doc **out, const char *text, size_t size, struct err *e)
{
    if (size > DOC_MOST)
        return err_set(e, ERR_LIMIT, "larger than %d bytes", DOC_MOST);
    struct doc *d = mem_alloc(sizeof *d);
    d->text = mem_alloc(size + 1);
    memcpy(d->text, text, size);
    d->size = size;
    if (load(d, e)) {
        doc_free(d);
        return e->code;
    }
    clean_scalars(d);
    if (doc_root(d) && !doc_is_map(d, doc_root(d))) {
        doc_err(d, doc_root(d), e, "a map of keys and values expected");
        doc_free(d);
        return e->code;
    }
    *out = d;
    return 0;
}

void doc_free(struct doc *d)
{
    if (!d)
        return;
    if (d->loaded)
        yaml_document_delete(&d->document);
    free(d->text);
    free(d);
}

static const yaml_node_t *node_at(const struct doc *d, int node)
{
    ptrdiff_t count = d->document.nodes.top - d->document.nodes.start;
    return node > 0 && node <= count ? d->document.nodes.start + node - 1 : NULL;
}

int doc_root(const struct doc *d)
{
    return node_at(d, 1) ? 1 : 0;
}

const char *doc_scalar(const struct doc *d, int node)
{
    const yaml_node_t *n = node_at(d, node);
    return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

bool doc_is_map(const struct doc *d, int node)
{
    const yaml_node_t *n = node_at(d, node);
    return n && n->type == YAML_MAPPING_NODE;
}

bool doc_is_list(const struct doc *d, int node)
{
    const yaml_node_t *n = node_at(d, node);
    return n && n->type == YAML_SEQUENCE_NODE;
}

bool doc_pair(const struct doc *d, int map, int i, int *key, int *value)
{
    const yaml_node_t *n = node_at(d, map);
    if (!n || n->type != YAML_MAPPING_NODE)
        return false;
    const yaml_node_pair_t *pair = n->data.mapping.pairs.start + i;
    if (i < 0 || pair >= n->data.mapping.pairs.top)
        return false;
    *key = pair->key;
    *value = pair->value;
    return true;
}

int doc_item(const struct doc *d, int list, int i)
{
    const yaml_node_t *n = node_at(d, list);
    if (!n || n->type != YAML_SEQUENCE_NODE)
        return 0;
    const yaml_node_item_t *item = n->data.sequence.items.start + i;
    return i >= 0 && item < n->data.sequence.items.top ? *item : 0;
}

int doc_get(const struct doc *d, int map, const char *key)
{
    int k, v;
    for (int i = 0; doc_pair(d, map, i, &k, &v); i++) {
        const char *name = doc_scalar(d, k);
        if (name && !strcmp(name, key))
            return v;
    }
    return 0;
}

int doc_err(const struct doc *d, int node, struct err *e, const char *format, ...)
{
    char what[sizeof e->what];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    err_set(e, ERR_INPUT, "%s", what);
    const yaml_node_t *n = node_at(d, node);
    return n ? err_at(e, d->text, d->size, byte_of(d, n->start_mark)) : e->code;
}
