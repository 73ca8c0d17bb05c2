#include "engine/text/json_check.h"

#include "hlo/support/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_texts[] = {
    [JSON_TEXT] = "a text",
    [JSON_NUMBER] = "a number",
    [JSON_NUMBER_OR_NULL] = "a number or null",
    [JSON_WHOLE] = "a whole number",
    [JSON_WHOLES] = "a list of whole numbers",
    [JSON_INTEGERS] = "a list of whole numbers",
    [JSON_TRUTH] = "true or false",
    [JSON_TEXTS] = "a list of texts",
    [JSON_LISTS] = "a list of lists of texts",
    [JSON_OBJECT] = "an object",
    [JSON_OBJECTS] = "a list of objects",
    [JSON_FREE_OBJECT] = "an object",
};

/* One document and nothing behind it. Freed with cJSON_Delete. */
static int json_parse(const char *text, size_t size, cJSON **out, struct err *e)
{
    const char *end = NULL;

    *out = cJSON_ParseWithLengthOpts(text, size, &end, false);
    size_t at = end ? (size_t)(end - text) : 0;
    if (!*out) {
        err_set(e, ERR_INPUT, "this is not JSON");
        return err_at(e, text, size, at < size ? at : size);
    }
    while (at < size &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
        at++;
    if (at == size)
        return 0;
    cJSON_Delete(*out);
    *out = NULL;
    err_set(e, ERR_INPUT, "something follows the document, expected its end");
    return err_at(e, text, size, at);
}

static bool is_whole(const cJSON *v)
{
    return cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble <= 9007199254740992.0 &&
           floor(v->valuedouble) == v->valuedouble;
}

static bool is_integer(const cJSON *v)
{
    return cJSON_IsNumber(v) && fabs(v->valuedouble) <= 9007199254740992.0 &&
           floor(v->valuedouble) == v->valuedouble;
}

static bool is_text(const cJSON *v)
{
    return cJSON_IsString(v);
}

static bool all_of(const cJSON *list, bool (*is)(const cJSON *item))
{
    const cJSON *item;

    if (!cJSON_IsArray(list))
        return false;
    cJSON_ArrayForEach(item, list)
    {
        if (!is(item))
            return false;
    }
    return true;
}

static bool all_texts(const cJSON *list)
{
    return all_of(list, is_text);
}

static bool is_kind(const cJSON *v, int kind)
{
    switch (kind) {
    case JSON_TEXT:
        return cJSON_IsString(v);
    case JSON_NUMBER:
        return cJSON_IsNumber(v) && isfinite(v->valuedouble);
    case JSON_NUMBER_OR_NULL:
        return cJSON_IsNull(v) || (cJSON_IsNumber(v) && isfinite(v->valuedouble));
    case JSON_WHOLE:
        return is_whole(v);
    case JSON_WHOLES:
        return all_of(v, is_whole);
    case JSON_INTEGERS:
        return all_of(v, is_integer);
    case JSON_TRUTH:
        return cJSON_IsBool(v);
    case JSON_TEXTS:
        return all_of(v, is_text);
    case JSON_LISTS:
        return all_of(v, all_texts);
    case JSON_OBJECTS:
        return cJSON_IsArray(v);
    default:
        return cJSON_IsObject(v);
    }
}

struct checker {
    struct err *e;
    char path[200];
};

static int check_object(struct checker *c, const cJSON *o, const struct json_field *fields);

/* Goes on inside `v` with the path made longer for as long. */
static int check_inside(struct checker *c, const cJSON *v, const struct json_field *f)
{
    size_t length = strlen(c->path);
    const cJSON *item;
    int rc = 0, at = 0;

    if ((f->kind & ~JSON_OPTIONAL) == JSON_OBJECT) {
        snprintf(c->path + length, sizeof c->path - length, "%s.", f->key);
        rc = check_object(c, v, f->inside);
    } else {
        cJSON_ArrayForEach(item, v)
        {
            snprintf(c->path + length, sizeof c->path - length, "%s[%d].", f->key, at++);
            rc = check_object(c, item, f->inside);
            if (rc)
                break;
        }
    }
    c->path[length] = 0;
    return rc;
}

static int check_value(struct checker *c, const cJSON *v, const struct json_field *f)
{
    int kind = f->kind & ~JSON_OPTIONAL;

    if (!is_kind(v, kind))
        return err_set(c->e, ERR_INPUT, "%s%s: expected %s", c->path, f->key, kind_texts[kind]);
    return f->inside ? check_inside(c, v, f) : 0;
}

static int check_object(struct checker *c, const cJSON *o, const struct json_field *fields)
{
    uint64_t seen = 0;
    const cJSON *v;

    if (!cJSON_IsObject(o))
        return err_set(c->e, ERR_INPUT, "%.*s: expected an object",
                       (int)strlen(c->path) - (c->path[0] != 0), c->path);
    cJSON_ArrayForEach(v, o)
    {
        size_t k = 0;
        while (fields[k].key && strcmp(fields[k].key, v->string))
            k++;
        if (!fields[k].key)
            return err_set(c->e, ERR_INPUT, "%s%.60s: unknown key", c->path, v->string);
        if (seen >> k & 1)
            return err_set(c->e, ERR_INPUT, "%s%.60s: stands here twice", c->path, v->string);
        seen |= (uint64_t)1 << k;
        int rc = check_value(c, v, &fields[k]);
        if (rc)
            return rc;
    }
    for (size_t k = 0; fields[k].key; k++) {
        if (!(seen >> k & 1) && !(fields[k].kind & JSON_OPTIONAL))
            return err_set(c->e, ERR_INPUT, "%s%s: missing, expected %s", c->path, fields[k].key,
                           kind_texts[fields[k].kind]);
    }
    return 0;
}

/* Every key of `root` known, once, of its kind; none missing. `fields` ends with key NULL and holds
 * at most 64. O(keys x fields). Errors name the path: "decisions[3].dim: a text, expected ...". */
static int json_check(const cJSON *root, const struct json_field *fields, struct err *e)
{
    struct checker c = {.e = e};

    return check_object(&c, root, fields);
}

int json_document(const char *text, size_t size, const char *schema,
                  const struct json_field *fields, cJSON **out, struct err *e)
{
    int rc = json_parse(text, size, out, e);

    if (rc)
        return rc;
    const cJSON *own = cJSON_IsObject(*out) ? json_get(*out, "schema") : NULL;
    if (!cJSON_IsString(own))
        rc = err_set(e, ERR_INPUT, "schema: missing, expected \"%s\"", schema);
    else if (strcmp(own->valuestring, schema))
        rc = err_set(e, ERR_INPUT, "schema: \"%.60s\", expected \"%s\"", own->valuestring, schema);
    else
        rc = json_check(*out, fields, e);
    if (rc) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    return rc;
}

int json_seed(const cJSON *o, const char *key, uint64_t *out, struct err *e)
{
    const char *text = json_text(o, key);

    if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 20)
        return err_set(e, ERR_INPUT, "%s: \"%.40s\", expected a whole number", key, text);
    *out = strtoull(text, NULL, 10);
    return 0;
}

int json_copy_text(const cJSON *o, const char *key, char *out, size_t room, struct err *e)
{
    const char *text = json_text(o, key);

    if (strlen(text) >= room)
        return err_set(e, ERR_INPUT, "%s: expected less than %zu bytes", key, room);
    text_clean(out, room, text, strlen(text));
    return 0;
}

int json_fingerprint(const cJSON *root, const char *key, uint64_t *out, struct err *e)
{
    const char *text = json_text(json_get(root, key), "fingerprint");

    *out = 0;
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return err_set(e, ERR_INPUT, "%s.fingerprint: \"%.40s\", expected 16 hexadecimal digits",
                       key, text);
    for (; *text; text++)
        *out = *out << 4 | (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
    return 0;
}
