/* engine/text/yaml.h - YAML as a tree in which every node knows its position, for files people
 * write (clusters, themes, settings). Stricter than YAML: one document; no anchors, aliases, tags
 * or merge keys; keys are scalars and unique within a map. Limits: 1 MB, depth 16, 20,000 nodes. A
 * tree borrows the text it was read from; nodes live in its arena. */
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
    size_t mark, key_mark; /* where the value and its key begin, in characters */
};

struct yaml_doc {
    struct arena arena;
    const char *text; /* borrowed */
    size_t size;
    struct yaml *root;
};

/* On error nothing needs releasing and `e` has line and column. Release with yaml_release. */
int yaml_read(struct yaml_doc *out, const char *text, size_t size, struct err *e) MUST_CHECK;
void yaml_release(struct yaml_doc *d);

/* Adds the line, column and source line of `mark` to an error already set. Returns e->code. */
int yaml_at(const struct yaml_doc *d, size_t mark, struct err *e);

/* Sets ERR_INPUT at `mark`, which is a node's or its key's. Returns the code. */
int yaml_wrong(const struct yaml_doc *d, size_t mark, struct err *e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The value of a key; NULL: no such key, or `map` is NULL or not a map. */
const struct yaml *yaml_get(const struct yaml *map, const char *key);

const char *yaml_kind_name(enum yaml_kind kind); /* "a list" */

#endif
