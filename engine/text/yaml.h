/* engine/text/yaml.h - a YAML text as a tree whose every node knows its place, for files a person
 * writes (clusters, themes, settings). Stricter than YAML: one document, no anchors, aliases, tags
 * or merge keys, no key twice in a map, keys are scalars. Limits: 1 MB, depth 16, 20,000 nodes. A
 * tree borrows the text it was read from; nodes live in the tree's arena. */
#ifndef AUTOMAP_ENGINE_TEXT_YAML_H
#define AUTOMAP_ENGINE_TEXT_YAML_H

#include "hlo/support/err.h"
#include "hlo/support/mem.h"

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml {
    enum yaml_kind kind;
    const char *text; /* scalar: its value, without NUL inside; else NULL */
    const char *key;  /* in a map: its key; else NULL */
    uint32_t count;   /* list, map: number of children */
    struct yaml *first, *next;
    size_t mark, key_mark; /* where it and its key begin, in characters */
};

struct yaml_doc {
    struct arena arena;
    const char *text; /* borrowed */
    size_t size;
    struct yaml *root;
};

/* On error nothing is held and `e` has line and column. Release with yaml_release. */
int yaml_read(struct yaml_doc *out, const char *text, size_t size, struct err *e) MUST_CHECK;
void yaml_release(struct yaml_doc *d);

/* Adds line, column and source line of a mark to an error already set. Returns e->code. */
int yaml_at(const struct yaml_doc *d, size_t mark, struct err *e);

/* Writes an ERR_INPUT at a mark: a node's, or its key's. Returns the code. */
int yaml_wrong(const struct yaml_doc *d, size_t mark, struct err *e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The value of a key; NULL: not there, or `map` is NULL or no map. */
const struct yaml *yaml_get(const struct yaml *map, const char *key);

const char *yaml_kind_name(enum yaml_kind kind); /* "a list" */

#endif
