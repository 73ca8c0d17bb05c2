/* engine/text/json_check.h - JSON read strictly: syntax errors with their place, and keys and types
 * held against a table, so that what reads the document afterwards need not ask. */
#ifndef AUTOMAP_ENGINE_TEXT_JSON_CHECK_H
#define AUTOMAP_ENGINE_TEXT_JSON_CHECK_H

#include "hlo/support/err.h"

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind {
    JSON_TEXT = 1,
    JSON_NUMBER,
    JSON_NUMBER_OR_NULL,
    JSON_WHOLE,  /* 0 .. 2^53 */
    JSON_WHOLES, /* list of such */
    JSON_TRUTH,  /* true or false */
    JSON_TEXTS,  /* list of texts */
    JSON_LISTS,  /* list of lists of texts */
    JSON_OBJECT,
    JSON_OBJECTS,        /* list of objects */
    JSON_FREE_OBJECT,    /* its keys are someone else's */
    JSON_OPTIONAL = 256, /* added to a kind */
};

struct json_field {
    const char *key;
    int kind;
    const struct json_field *inside; /* of JSON_OBJECT and JSON_OBJECTS */
};

/* One document and nothing behind it: its key "schema" first, so that a file of another kind is
 * named as one, then every key known, once, of its kind, and none missing. `fields` ends with key
 * NULL and holds at most 64. Freed with cJSON_Delete. O(keys x fields). Errors name the path:
 * "decisions[3].dim: a text, expected ...". */
int json_document(const char *text, size_t size, const char *schema,
                  const struct json_field *fields, cJSON **out, struct err *e) MUST_CHECK;

/* ---- of a checked document ---- */

/* NULL: an optional key that is not there. */
static inline const cJSON *json_get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}
static inline const char *json_text(const cJSON *o, const char *key)
{
    return json_get(o, key)->valuestring;
}
static inline double json_number(const cJSON *o, const char *key)
{
    return json_get(o, key)->valuedouble;
}

/* Whole numbers of 64 bits are texts, for a number of JSON holds 53. */
int json_seed(const cJSON *o, const char *key, uint64_t *out, struct err *e) MUST_CHECK;
/* A text of less than `room` bytes. */
int json_copy_text(const cJSON *o, const char *key, char *out, size_t room,
                   struct err *e) MUST_CHECK;
/* Key "fingerprint" of object `key`: 16 hexadecimal digits. */
int json_fingerprint(const cJSON *root, const char *key, uint64_t *out, struct err *e) MUST_CHECK;

#endif
