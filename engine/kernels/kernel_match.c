#include "engine/kernels/kernel_match.h"

#include "engine/kernels/kernel_check.h"
#include "engine/kernels/kernel_text.h"
#include "engine/text/yaml.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- patterns ---- */

const struct hlo_shape *kernel_leaf_shape(const struct kernel_match *k, uint32_t leaf)
{
    if (leaf < k->operands)
        return hlo_shape(k->m, hlo_operand(k->m, k->id, leaf));
    return hlo_value_shape(k->m, k->m->leaf_base[k->id] + leaf - k->operands);
}

struct kernel_index *kernel_index_of(struct kernel_match *k, const char *name, size_t size)
{
    for (uint32_t n = 0; n < k->count; n++) {
        if (strlen(k->items[n].name) == size && !strncmp(k->items[n].name, name, size))
            return &k->items[n];
    }
    if (k->count == KERNEL_NAMES_MOST || size >= KERNEL_NAME_ROOM)
        return NULL;
    struct kernel_index *i = &k->items[k->count++];
    *i = (struct kernel_index){0};
    memcpy(i->name, name, size);
    memset(i->dims, -1, sizeof i->dims);
    return i;
}

static bool bind_index(struct kernel_match *k, const char *name, size_t size, uint32_t leaf,
                       uint32_t dim, bool is_leading)
{
    int64_t wanted = kernel_leaf_shape(k, leaf)->dims[dim];
    struct kernel_index *i = kernel_index_of(k, name, size);

    if (!i || (i->size && i->size != wanted) || i->dims[leaf] >= 0)
        return false;
    i->size = wanted;
    i->dims[leaf] = (int8_t)dim;
    i->is_leading = is_leading;
    *(leaf < k->operands ? &i->in_operand : &i->in_result) = true;
    return true;
}

/* Leading dims are as many wherever they stand under one name: said by an index "b.." of that size,
 * which is no index of a loop. */
static bool are_as_many(struct kernel_match *k, const char *word, size_t size, uint32_t leading)
{
    struct kernel_index *i = kernel_index_of(k, word, size);

    if (!i || (i->size && i->size != (int64_t)leading + 1))
        return false;
    i->size = (int64_t)leading + 1;
    i->is_whole = true;
    return true;
}

static bool is_leading(const char *word, size_t size)
{
    return size >= 2 && !strncmp(word + size - 2, "..", 2);
}

/* Fits one pattern onto a leaf; names bound on the way stay bound only when all fits. */
static bool fit_leaf(struct kernel_match *k, const char *pattern, const char *end, uint32_t leaf)
{
    const struct hlo_shape *s = kernel_leaf_shape(k, leaf);
    const char *at = pattern, *word;
    uint32_t words = 0, dim = 0, leading;
    size_t size;
    uint32_t has_leading = 0;

    for (at = pattern; (word = kernel_word(&at, end, &size)); words++)
        has_leading += is_leading(word, size);
    at = pattern;
    word = kernel_word(&at, end, &size);
    if (words == 1 && size == 1 && (*word == '_' || (*word == '1' && s->elements <= 1)))
        return true;
    if (has_leading > 1 || s->rank + has_leading < words || (!has_leading && s->rank != words))
        return false;
    leading = s->rank + has_leading - words;
    for (at = pattern; (word = kernel_word(&at, end, &size));) {
        if (is_leading(word, size)) {
            if (!are_as_many(k, word, size, leading))
                return false;
            for (uint32_t n = 0; n < leading; n++) {
                char name[KERNEL_NAME_ROOM];
                int used = snprintf(name, sizeof name, "%.*s.%u", (int)(size - 2), word, n);
                if (used >= (int)sizeof name ||
                    !bind_index(k, name, (size_t)used, leaf, dim++, true))
                    return false;
            }
        } else if (isdigit((unsigned char)*word)) {
            if (s->dims[dim++] != strtoll(word, NULL, 10))
                return false;
        } else if (size == 1 && *word == '_') {
            dim++;
        } else if (!bind_index(k, word, size, leaf, dim++, false)) {
            return false;
        }
    }
    return true;
}

enum { TRIES_MOST = 4096, PATTERNS_MOST = 256 }; /* of one side of a rule */

struct side {
    struct kernel_match *k;
    const char *end;
    uint32_t last, tries; /* leaves end before `last` */
};

/* Fits the patterns from `at` on onto leaves leaf .. last - 1. What may be missing takes a leaf
 * where the rest fits behind it. */
static bool fit_rest(struct side *s, const char *at, uint32_t leaf, uint32_t patterns)
{
    const char *comma = memchr(at, ',', (size_t)(s->end - at)), *stop = comma ? comma : s->end,
               *tail = stop, *next = comma ? comma + 1 : s->end;

    if (at >= s->end || ++s->tries > TRIES_MOST || patterns == PATTERNS_MOST)
        return at >= s->end && leaf == s->last;
    while (tail > at && isspace((unsigned char)tail[-1]))
        tail--;
    bool optional = tail > at && tail[-1] == '?';
    struct kernel_match before = *s->k;
    if (leaf < s->last && fit_leaf(s->k, at, tail - optional, leaf) &&
        fit_rest(s, next, leaf + 1, patterns + 1))
        return true;
    *s->k = before;
    return optional && fit_rest(s, next, leaf, patterns + 1);
}

static bool fit_side(struct kernel_match *k, const char *at, const char *end, uint32_t first,
                     uint32_t last)
{
    struct side s = {k, end, last, 0};
    size_t size;
    const char *from = at;

    return kernel_word(&from, end, &size) ? fit_rest(&s, at, first, 0) : first == last;
}

bool kernel_fit(struct kernel_match *k, const char *dims)
{
    const char *arrow = strstr(dims, "->");

    return arrow && fit_side(k, dims, arrow, 0, k->operands) &&
           fit_side(k, arrow + 2, dims + strlen(dims), k->operands, k->leaves);
}

/* ---- what expressions ask ---- */

const struct hlo_attr *kernel_config_of(const struct kernel_match *k)
{
    return hlo_attr(k->m, k->id, HLO_ATTR_BACKEND_CONFIG);
}

static enum kernel_found look_up(void *context, const char *name, struct kernel_value *out,
                                 struct err *e)
{
    struct kernel_match *k = context;

    if (!strncmp(name, "config.", 7)) {
        const struct hlo_attr *a = kernel_config_of(k);
        char *end;
        out->is_config = true;
        out->is_missing = !a || !kernel_config(a->text, a->size, name + 7, out->word, KERNEL_WORD);
        out->number = out->is_missing ? 0 : strtod(out->word, &end);
        out->is_number = out->is_missing || (end != out->word && !*end);
        return KERNEL_FOUND;
    }
    for (uint32_t n = 0; n < k->count; n++) {
        if (!strcmp(k->items[n].name, name)) {
            *out = (struct kernel_value){.is_number = true, .number = (double)k->items[n].size};
            return KERNEL_FOUND;
        }
    }
    if (kernel_dims_have(k->dims, name)) { /* of a leaf that this one does not have */
        *out = (struct kernel_value){.is_number = true, .is_missing = true};
        return KERNEL_FOUND;
    }
    const struct yaml *let = yaml_get(k->lets, name);
    if (!let || k->depth == KERNEL_LETS_MOST) /* kernel_rule_check: no let goes deeper */
        return KERNEL_UNKNOWN;
    struct kernel_scope scope = kernel_scope_of(k);
    k->depth++;
    int rc = kernel_evaluate(let->text, &scope, out, e);
    k->depth--;
    k->wrong = rc && !k->wrong ? let : k->wrong;
    return rc ? KERNEL_WRONG : KERNEL_FOUND;
}

static bool call(void *context, const char *name, const char *of, double *out)
{
    struct kernel_match *k = context;
    unsigned n;

    *out = 1;
    if (!strcmp(name, "product")) {
        size_t size = strlen(of);
        for (uint32_t i = 0; i < k->count; i++) {
            if (k->items[i].is_leading && !strncmp(k->items[i].name, of, size) &&
                k->items[i].name[size] == '.')
                *out *= (double)k->items[i].size;
        }
        return true;
    }
    bool operand = sscanf(of, " operand %u", &n) == 1, result = sscanf(of, " result %u", &n) == 1;
    if ((!operand && !result) || n >= (operand ? k->operands : k->leaves - k->operands))
        return false;
    const struct hlo_shape *s = kernel_leaf_shape(k, operand ? n : k->operands + n);
    *out = (double)(!strcmp(name, "bytes") ? s->bytes : s->elements);
    return !strcmp(name, "bytes") || !strcmp(name, "elements");
}

struct kernel_scope kernel_scope_of(struct kernel_match *k)
{
    return (struct kernel_scope){look_up, call, k};
}
