/* engine/text/json_check.h - strict JSON: syntax errors come with their position, and keys and
 * types are checked against a table, so whatever reads the document afterwards need not check. */
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
    JSON_WHOLE,    /* 0 .. 2^53 */
    JSON_WHOLES,   /* list of such */
    JSON_INTEGERS, /* list of -2^53 .. 2^53 */
    JSON_TRUTH,    /* true or false */
    JSON_TEXTS,    /* list of texts */
    JSON_LISTS,    /* list of lists of texts */
    JSON_OBJECT,
    JSON_OBJECTS,        /* list of objects */
    JSON_FREE_OBJECT,    /* its keys are not ours to check */
    JSON_OPTIONAL = 256, /* added to a kind */
};

struct json_field {
    const char *key;
    int kind;
    const struct json_field *inside; /* of JSON_OBJECT and JSON_OBJECTS */
};

/* Reads one document with nothing after it. Checks the key "schema" first, so that a file of
 * another kind is called that, then that every key is known, unique and of its kind, and that none
 * is missing. `fields` ends with key NULL and has at most 64 rows. Free *out with cJSON_Delete.
 * O(keys x fields). Errors name the path: "decisions[3].dim: a text, expected ...". */
int json_document(const char *text, size_t size, const char *schema,
                  const struct json_field *fields, cJSON **out, struct err *e) MUST_CHECK;

/* ---- for documents json_document has checked ---- */

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

/* 64-bit integers are stored as texts, because a JSON number is exact to 53 bits only. */
int json_seed(const cJSON *o, const char *key, uint64_t *out, struct err *e) MUST_CHECK;
/* A text of less than `room` bytes. */
int json_copy_text(const cJSON *o, const char *key, char *out, size_t room,
                   struct err *e) MUST_CHECK;
/* Key "fingerprint" of object `key`: 16 hexadecimal digits. */
int json_fingerprint(const cJSON *root, const char *key, uint64_t *out, struct err *e) MUST_CHECK;

#endif
