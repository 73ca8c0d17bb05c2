/* engine/text/json_pull.h - reads JSON front to back, one value at a time, without a tree: files of
 * millions of values need no memory beyond their text, and every error has line and column.
 *
 * The caller asks for what it expects. The first error sticks; from then on every call reports "no
 * more", so loops end by themselves:
 *     json_open(&j, text, size, e);
 *     json_object(&j);
 *     while (json_key(&j))
 *         if (!strcmp(j.key, "count")) n = json_real(&j, 0, 1e6); else json_skip(&j);
 *     return json_close(&j);
 * For random access, use json_check.h. Time O(size), memory O(1), no recursion. */
#ifndef AUTOMAP_ENGINE_TEXT_JSON_PULL_H
#define AUTOMAP_ENGINE_TEXT_JSON_PULL_H

#include "hlo/support/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_TEXT_ROOM = 128, JSON_DEPTH_MAX = 64 };

struct json_pull {
    const char *text;
    size_t size, at;
    size_t value_at; /* where the value read last begins: json_wrong points there */
    struct err *e;
    bool failed;
    bool fresh;               /* just after a bracket: no comma comes first */
    uint32_t depth;           /* open objects and lists */
    char key[JSON_TEXT_ROOM]; /* the last key, cleaned and cut */
};

void json_open(struct json_pull *j, const char *text, size_t size, struct err *e);
/* Fails unless only blanks follow. Returns 0 or the code of the first error. */
int json_close(struct json_pull *j) MUST_CHECK;

bool json_object(struct json_pull *j); /* expects { */
bool json_list(struct json_pull *j);   /* expects [ */
bool json_key(struct json_pull *j);    /* reads the next key and its colon; false past the } */
bool json_item(struct json_pull *j);   /* moves to the next item; false past the ] */

/* A finite number within bounds. */
double json_real(struct json_pull *j, double least, double most);
/* A whole number within bounds; 1.0 and 1e3 are whole. Exact within +-2^63. */
int64_t json_integer(struct json_pull *j, int64_t least, int64_t most);
bool json_flag(struct json_pull *j); /* true, false, 1, 0 */
/* A text, cleaned (hlo/support/text.h) and cut to `room` bytes with the NUL. */
void json_string(struct json_pull *j, char *out, size_t room);
void json_skip(struct json_pull *j); /* any value */

/* Reports an error at the value or key read last, unless there is one already. */
void json_wrong(struct json_pull *j, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same at a byte offset the caller remembered. */
void json_wrong_at(struct json_pull *j, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
