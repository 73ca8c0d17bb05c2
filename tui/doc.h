/* tui/doc.h - a small YAML file (theme, configuration) as nodes with places, so that whatever is
 * wrong in it is named as FILE:LINE:COL. Files are hostile: at most DOC_MOST bytes; aliases refer
 * and never expand. A node is a number from 1; 0 is none. */
#ifndef AUTOMAP_TUI_DOC_H
#define AUTOMAP_TUI_DOC_H

#include "hlo/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { DOC_MOST = 1 << 18 };

struct doc;

/* Copies what it needs of `text`. The root is a map (an empty file is an empty map). */
int doc_parse(struct doc **out, const char *text, size_t size, struct err *e) MUST_CHECK;
void doc_free(struct doc *d); /* NULL ok */

int doc_root(const struct doc *d);                     /* 0: empty file */
const char *doc_scalar(const struct doc *d, int node); /* NULL: not a scalar. Cleaned text */
bool doc_pair(const struct doc *d, int map, int i, int *key, int *value); /* false: no i-th pair */
int doc_item(const struct doc *d, int list, int i); /* 0: no i-th item, or not a list */
bool doc_is_map(const struct doc *d, int node);
bool doc_is_list(const struct doc *d, int node);
int doc_get(const struct doc *d, int map, const char *key); /* the value; 0: no such key */

/* Writes an ERR_INPUT at the node's place; returns the code. */
int doc_err(const struct doc *d, int node, struct err *e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
