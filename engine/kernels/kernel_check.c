#include "engine/kernels/kernel_check.h"

#include "engine/kernels/kernel_like.h"
#include "engine/kernels/kernel_text.h"
#include "engine/text/yaml.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/kernels.h"
#include "hlo/support/err.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The loop indices of a rule, as `dims` names them; "b" of leading dims b.. */
struct name {
    const char *text;
    size_t size;
    bool is_leading;
};

enum { LETS_EVALUATED = 10000 /* in one expression, repeats and all */ };

struct checked {
    const struct yaml_doc *doc;
    const struct yaml *rule, *lets;
    struct name names[KERNEL_NAMES_MOST];
    uint32_t count;
    int depth;
    const struct yaml *wrong; /* the let that an error is in */
    uint32_t evaluated;       /* lets, in the expression at hand */
};

const char *kernel_word(const char **at, const char *end, size_t *size)
{
    while (*at < end && isspace((unsigned char)**at))
        ++*at;
    const char *word = *at;
    while (*at < end && !isspace((unsigned char)**at))
        ++*at;
    *size = (size_t)(*at - word);
    return *size ? word : NULL;
}

enum hlo_combiner kernel_combiner(const char *name)
{
    static const struct {
        const char *name;
        enum hlo_combiner is;
    } known[] = {
        {"add", HLO_COMBINE_ADD}, {"maximum", HLO_COMBINE_MAX}, {"minimum", HLO_COMBINE_MIN}};

    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (!strcmp(known[k].name, name))
            return known[k].is;
    }
    return HLO_COMBINE_NONE;
}

enum hlo_kernel_effect kernel_effect(const char *name)
{
    static const struct {
        const char *name;
        enum hlo_kernel_effect is;
    } known[] = {{"identity", KERNEL_IDENTITY},  {"annotation", KERNEL_IDENTITY},
                 {"allocate", KERNEL_ALLOCATES}, {"host", KERNEL_ON_HOST},
                 {"offload", KERNEL_TO_HOST},    {"fetch", KERNEL_TO_DEVICE}};

    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (!strcmp(known[k].name, name))
            return known[k].is;
    }
    return KERNEL_COMPUTES;
}

/* ---- names ---- */

static const struct name *name_find(const struct checked *c, const char *text, size_t size)
{
    for (uint32_t k = 0; k < c->count; k++) {
        if (c->names[k].size == size && !memcmp(c->names[k].text, text, size))
            return &c->names[k];
    }
    return NULL;
}

/* An index, or one of leading dims: b.0. */
static bool is_index(const struct checked *c, const char *text, size_t size)
{
    const char *dot = memchr(text, '.', size);
    const struct name *n = name_find(c, text, dot ? (size_t)(dot - text) : size);

    return n && n->is_leading == (dot != NULL);
}

static int add_name(struct checked *c, const struct yaml *dims, const char *word, size_t size,
                    struct err *e)
{
    bool is_leading = size >= 2 && !memcmp(word + size - 2, "..", 2);

    size -= is_leading ? 2 : 0;
    if (!size || (size == 1 && *word == '_') || isdigit((unsigned char)*word) ||
        name_find(c, word, size))
        return 0;
    if (size + 4 > KERNEL_NAME_ROOM)
        return yaml_wrong(c->doc, dims->mark, e, "dims: %.*s, expected names of at most %d letters",
                          (int)(size < 40 ? size : 40), word, KERNEL_NAME_ROOM - 4);
    if (c->count == KERNEL_NAMES_MOST)
        return yaml_wrong(c->doc, dims->mark, e, "dims: expected at most %d names",
                          KERNEL_NAMES_MOST);
    c->names[c->count++] = (struct name){word, size, is_leading};
    return 0;
}

/* The next word of "b q h d, b k? -> b h q"; NULL: there is none. */
static const char *next_word(const char **at, size_t *size)
{
    *at += strspn(*at, ",? \t\n");
    while (!strncmp(*at, "->", 2)) {
        *at += 2;
        *at += strspn(*at, ",? \t\n");
    }
    const char *word = *at;
    while (**at && !strchr(",? \t\n", **at) && strncmp(*at, "->", 2) != 0)
        ++*at;
    *size = (size_t)(*at - word);
    return *size ? word : NULL;
}

bool kernel_dims_have(const char *dims, const char *name)
{
    size_t size;
    const char *word;

    while ((word = next_word(&dims, &size))) {
        if (strlen(name) == size && !memcmp(word, name, size))
            return true;
    }
    return false;
}

static int read_names(struct checked *c, const struct yaml *dims, struct err *e)
{
    const char *at = dims->text, *word;
    size_t size;
    int rc = 0;

    if (!strstr(dims->text, "->"))
        return yaml_wrong(c->doc, dims->mark, e, "dims without ->, expected operands -> results");
    while (!rc && (word = next_word(&at, &size)))
        rc = add_name(c, dims, word, size, e);
    return rc;
}

/* ---- expressions ---- */

static struct kernel_scope scope_of(struct checked *c);

static enum kernel_found look_up(void *context, const char *name, struct kernel_value *out,
                                 struct err *e)
{
    struct checked *c = context;
    const struct yaml *let = yaml_get(c->lets, name);

    *out = (struct kernel_value){.is_number = true, .number = 2};
    if (!strncmp(name, "config.", 7)) {
        out->is_missing = true;
        return KERNEL_FOUND;
    }
    if (is_index(c, name, strlen(name)))
        return KERNEL_FOUND;
    if (!let)
        return KERNEL_UNKNOWN;
    if (c->depth == KERNEL_LETS_MOST) {
        c->wrong = let;
        (void)err_set(e, ERR_INPUT, "%.40s is said by itself, or by more than %d others", name,
                      KERNEL_LETS_MOST);
        return KERNEL_WRONG;
    }
    if (++c->evaluated > LETS_EVALUATED) {
        c->wrong = let;
        (void)err_set(e, ERR_INPUT, "%.40s is made of too many others", name);
        return KERNEL_WRONG;
    }
    struct kernel_scope scope = scope_of(c);
    c->depth++;
    int rc = kernel_evaluate(let->text, &scope, out, e);
    c->depth--;
    c->wrong = rc && !c->wrong ? let : c->wrong;
    return rc ? KERNEL_WRONG : KERNEL_FOUND;
}

static bool call(void *context, const char *name, const char *of, double *out)
{
    const struct checked *c = context;
    const struct name *n = name_find(c, of, strlen(of));
    unsigned k;

    *out = 2;
    if (!strcmp(name, "product"))
        return n && n->is_leading;
    return (!strcmp(name, "bytes") || !strcmp(name, "elements")) &&
           (sscanf(of, " operand %u", &k) == 1 || sscanf(of, " result %u", &k) == 1);
}

static struct kernel_scope scope_of(struct checked *c)
{
    return (struct kernel_scope){look_up, call, c};
}

/* `text` of node `y`; a let may be a word. */
static int check_expression(struct checked *c, const struct yaml *y, const char *text,
                            bool may_be_word, struct err *e)
{
    struct kernel_scope scope = scope_of(c);
    struct kernel_value v;

    c->wrong = NULL;
    c->evaluated = 0;
    int rc = kernel_evaluate(text, &scope, &v, e);
    if (rc)
        return yaml_at(c->doc, c->wrong ? c->wrong->mark : y->mark, e);
    if (!may_be_word && !v.is_number)
        return yaml_wrong(c->doc, y->mark, e,
                          "%.40s, expected a number: no index of dims and no let is called so",
                          v.word);
    return 0;
}

/* ---- values of keys ---- */

static int unknown_index(const struct checked *c, size_t mark, const char *key, const char *name,
                         struct err *e)
{
    return yaml_wrong(c->doc, mark, e, "%s: %.40s, expected an index of dims", key, name);
}

/* 3, or 3..: at least. */
static bool is_count(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return digits && digits < 6 && (!text[digits] || !strcmp(text + digits, ".."));
}

static int check_when(struct checked *c, const struct yaml *y, struct err *e)
{
    bool counts = !strcmp(y->key, "operands") || !strcmp(y->key, "results");

    if (!counts && (strncmp(y->key, "config.", 7) != 0 || !y->key[7]))
        return yaml_wrong(c->doc, y->key_mark, e,
                          "when: unknown key %.40s, expected operands, results or config.PATH",
                          y->key);
    if (counts && !is_count(y->text))
        return yaml_wrong(c->doc, y->mark, e, "%s: %.40s, expected a number such as 3, or 3..",
                          y->key, y->text);
    return 0;
}

/* An index, or all of the leading dims: b.. */
static bool are_indices(const struct checked *c, const char *text, size_t size)
{
    bool all = size > 2 && !memcmp(text + size - 2, "..", 2);
    const struct name *n = name_find(c, text, size - (all ? 2 : 0));

    return all ? n && n->is_leading : is_index(c, text, size);
}

static int check_partial(struct checked *c, const struct yaml *y, struct err *e)
{
    if (!are_indices(c, y->key, strlen(y->key)))
        return unknown_index(c, y->key_mark, "partial", y->key, e);
    if (kernel_combiner(y->text) == HLO_COMBINE_NONE)
        return yaml_wrong(c->doc, y->mark, e, "partial: %.40s, expected add, maximum or minimum",
                          y->text);
    return 0;
}

static int check_sizes(struct checked *c, const struct yaml *y, struct err *e)
{
    if (!is_index(c, y->key, strlen(y->key)))
        return unknown_index(c, y->key_mark, "sizes", y->key, e);
    if (!is_index(c, y->text, strcspn(y->text, " *")))
        return unknown_index(c, y->mark, "sizes", y->text, e);
    return 0;
}

static int check_whole(struct checked *c, const struct yaml *y, struct err *e)
{
    const char *condition = strstr(y->text, " if ");

    if (!are_indices(c, y->text, condition ? (size_t)(condition - y->text) : strlen(y->text)))
        return unknown_index(c, y->mark, "whole", y->text, e);
    return condition ? check_expression(c, y, condition + 4, false, e) : 0;
}

static int check_let(struct checked *c, const struct yaml *y, struct err *e)
{
    return check_expression(c, y, y->text, true, e);
}

static int check_work(struct checked *c, const struct yaml *y, struct err *e)
{
    return check_expression(c, y, y->text, false, e);
}

static int check_reach(struct checked *c, const struct yaml *y, struct err *e)
{
    char *end = NULL;
    double part = y->text ? strtod(y->text, &end) : 0;

    if (!y->text || !*y->text || *end || !(part > 0 && part <= 1))
        return yaml_wrong(c->doc, y->mark, e, "a reach of %.20s, expected above 0, at most 1",
                          y->text ? y->text : "a list");
    return 0;
}

static int check_like(struct checked *c, const struct yaml *y, struct err *e)
{
    if (yaml_get(c->rule, "dims"))
        return yaml_wrong(c->doc, y->mark, e, "like beside dims, expected one of them");
    if (!strcmp(y->text, "dot") && !yaml_get(c->rule, "numbers"))
        return yaml_wrong(c->doc, y->mark, e,
                          "like: dot without numbers, expected where its dimension numbers are, "
                          "such as numbers: config.dot_dimension_numbers");
    if (!kernel_like_is(y->text))
        return yaml_wrong(c->doc, y->mark, e, "like: %.40s, expected %s", y->text,
                          kernel_like_words);
    return 0;
}

static int check_numbers(struct checked *c, const struct yaml *y, struct err *e)
{
    if (strncmp(y->text, "config.", 7) != 0 || !y->text[7])
        return yaml_wrong(c->doc, y->mark, e, "numbers: %.40s, expected config.PATH", y->text);
    return 0;
}

/* A result and the operand in whose place it is. */
static int check_inplace(struct checked *c, const struct yaml *y, struct err *e)
{
    bool is_number = is_count(y->key) && is_count(y->text) && !strchr(y->key, '.') &&
                     !strchr(y->text, '.') && strtoul(y->key, NULL, 10) < KERNEL_LEAVES_MOST &&
                     strtoul(y->text, NULL, 10) < KERNEL_LEAVES_MOST;

    return is_number ? 0
                     : yaml_wrong(c->doc, y->mark, e,
                                  "inplace: {%.20s: %.20s}, expected a result and the operand in "
                                  "whose place it is, such as {0: 0}",
                                  y->key, y->text);
}

static int check_effect(struct checked *c, const struct yaml *y, struct err *e)
{
    if (kernel_effect(y->text) == KERNEL_COMPUTES)
        return yaml_wrong(c->doc, y->mark, e,
                          "effect: %.40s, expected identity, annotation, allocate, host, offload "
                          "or fetch",
                          y->text);
    return 0;
}

/* Key, its kind (-1: a word or a map), what holds of its value or of each of its values. */
static const struct {
    const char *key;
    int kind;
    bool is_needed;
    int (*check)(struct checked *c, const struct yaml *y, struct err *e);
} keys[] = {
    {"target", YAML_SCALAR, true, NULL},         {"name", YAML_SCALAR, false, NULL},
    {"when", YAML_MAP, false, check_when},       {"dims", YAML_SCALAR, false, NULL},
    {"like", YAML_SCALAR, false, check_like},    {"numbers", YAML_SCALAR, false, check_numbers},

    {"sizes", YAML_MAP, false, check_sizes},     {"whole", YAML_LIST, false, check_whole},
    {"partial", YAML_MAP, false, check_partial}, {"let", YAML_MAP, false, check_let},
    {"flops", YAML_SCALAR, false, check_work},   {"bytes", YAML_SCALAR, false, check_work},
    {"reach", -1, false, check_reach},           {"workspace", YAML_SCALAR, false, check_work},
    {"inplace", YAML_MAP, false, check_inplace}, {"effect", YAML_SCALAR, false, check_effect}};
enum { KEYS = sizeof keys / sizeof *keys };

static size_t key_of(const struct yaml *y)
{
    size_t k = 0;

    while (k < KEYS && strcmp(keys[k].key, y->key) != 0)
        k++;
    return k;
}

static int check_kind(const struct checked *c, const struct yaml *y, struct err *e)
{
    size_t k = key_of(y);

    if (k == KEYS)
        return yaml_wrong(c->doc, y->key_mark, e,
                          "unknown key %.40s, expected target, name, when, dims, like, numbers, "
                          "sizes, whole, partial, let, flops, bytes, workspace, reach, inplace or "
                          "effect",
                          y->key);
    if (keys[k].kind >= 0 && (int)y->kind != keys[k].kind)
        return yaml_wrong(c->doc, y->mark, e, "%s, expected %s", yaml_kind_name(y->kind),
                          yaml_kind_name((enum yaml_kind)keys[k].kind));
    if (keys[k].kind < 0 && y->kind == YAML_LIST)
        return yaml_wrong(c->doc, y->mark, e, "a list, expected a number or a map");
    for (const struct yaml *in = y->kind == YAML_SCALAR ? NULL : y->first; in; in = in->next) {
        if (in->kind != YAML_SCALAR)
            return yaml_wrong(c->doc, in->mark, e, "%s, expected a word or an expression",
                              yaml_kind_name(in->kind));
    }
    return 0;
}

static int check_value(struct checked *c, const struct yaml *y, struct err *e)
{
    size_t k = key_of(y);
    int rc = 0;

    if (!keys[k].check)
        return 0;
    if (y->kind == YAML_SCALAR)
        return keys[k].check(c, y, e);
    for (const struct yaml *in = y->first; in && !rc; in = in->next)
        rc = keys[k].check(c, in, e);
    return rc;
}

int kernel_rule_check(const struct yaml_doc *d, const struct yaml *rule, struct err *e)
{
    struct checked c = {.doc = d, .rule = rule};
    int rc = 0;

    if (rule->kind != YAML_MAP)
        return yaml_wrong(d, rule->mark, e, "%s, expected a rule: target, dims, ..",
                          yaml_kind_name(rule->kind));
    for (size_t k = 0; k < KEYS; k++) {
        if (keys[k].is_needed && !yaml_get(rule, keys[k].key))
            return yaml_wrong(d, rule->mark, e, "a kernel rule without %s", keys[k].key);
    }
    for (const struct yaml *y = rule->first; y && !rc; y = y->next)
        rc = check_kind(&c, y, e);
    if (rc)
        return rc;
    if (!yaml_get(rule, "dims") && !yaml_get(rule, "like") && !yaml_get(rule, "effect"))
        return yaml_wrong(d, rule->mark, e, "a kernel rule without dims, like or effect");
    c.lets = yaml_get(rule, "let");
    rc = yaml_get(rule, "dims") ? read_names(&c, yaml_get(rule, "dims"), e) : 0;
    for (const struct yaml *y = rule->first; y && !rc; y = y->next)
        rc = check_value(&c, y, e);
    return rc;
}

int kernel_attention_check(const struct yaml_doc *d, const struct yaml *attention, struct err *e)
{
    struct checked c = {.doc = d};
    int rc = 0;

    if (attention->kind != YAML_MAP)
        return yaml_wrong(d, attention->mark, e,
                          "%s, expected attention: {forward: .., backward: ..}",
                          yaml_kind_name(attention->kind));
    for (const struct yaml *y = attention->first; y && !rc; y = y->next) {
        if (strcmp(y->key, "forward") != 0 && strcmp(y->key, "backward") != 0)
            return yaml_wrong(d, y->key_mark, e,
                              "attention: unknown key %.40s, expected forward or "
                              "backward",
                              y->key);
        if (y->kind == YAML_LIST)
            return yaml_wrong(d, y->mark, e, "a list, expected a reach or reaches by device");
        if (y->kind == YAML_MAP && !yaml_get(y, "default"))
            return yaml_wrong(d, y->key_mark, e,
                              "attention: %.40s has no default: for devices not named", y->key);
        for (const struct yaml *in = y->kind == YAML_MAP ? y->first : y; in && !rc;
             in = y->kind == YAML_MAP ? in->next : NULL)
            rc = check_reach(&c, in, e);
    }
    return rc;
}
