#include "engine/kernels/kernel_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- globs ---- */

enum { GLOB_ROOM = 512, BRACES_MOST = 4 };

/* A glob without braces. Only the last star is ever tried again: O(pattern x text). */
static bool matches(const char *p, const char *text)
{
    const char *star = NULL, *from = NULL;

    while (*text) {
        if (*p == '*') {
            star = ++p;
            from = text;
        } else if (*p && (*p == '?' || *p == *text)) {
            p++;
            text++;
        } else if (star) {
            p = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*p == '*')
        p++;
    return !*p;
}

/* Puts one alternative after the other in place of each pair of braces; `size` bytes of `plain` are
 * written. */
static bool expand_braces(char plain[static GLOB_ROOM], size_t size, const char *p,
                          const char *text, int depth)
{
    while (*p && *p != '{' && size + 1 < GLOB_ROOM)
        plain[size++] = *p++;
    plain[size] = '\0';
    if (!*p)
        return matches(plain, text);
    const char *close = strchr(p, '}');
    if (*p != '{' || !close || depth == BRACES_MOST)
        return false;
    for (const char *at = p + 1; at <= close;) {
        size_t length = strcspn(at, ",}");
        if (size + length + 1 >= GLOB_ROOM)
            return false;
        memcpy(plain + size, at, length);
        if (expand_braces(plain, size + length, close + 1, text, depth + 1))
            return true;
        at += length + 1;
    }
    return false;
}

bool kernel_glob(const char *pattern, const char *text)
{
    char plain[GLOB_ROOM];

    return expand_braces(plain, 0, pattern, text, 0);
}

/* ---- configurations ---- */

struct reader {
    const char *at, *end;
};

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (isspace((unsigned char)*r->at) || *r->at == ','))
        r->at++;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || c == '+' || c == '$';
}

/* A string, word or number: its text. Strings may be escaped once or twice (\"). */
static void read_word(struct reader *r, char *out, size_t room)
{
    size_t size = 0;

    while (r->at < r->end && *r->at == '\\')
        r->at++;
    if (r->at < r->end && *r->at == '"') {
        for (r->at++; r->at < r->end && *r->at != '"'; r->at++) {
            if (*r->at != '\\' && size + 1 < room)
                out[size++] = *r->at;
        }
        r->at += r->at < r->end;
    } else {
        for (; r->at < r->end && is_word(*r->at); r->at++) {
            if (size + 1 < room)
                out[size++] = *r->at;
        }
    }
    out[size] = 0;
}

/* Past a value of any kind. */
static void skip_value(struct reader *r)
{
    char word[8];
    int open = 0;

    do {
        const char *before = r->at;
        skip_space(r);
        if (r->at >= r->end)
            return;
        if (strchr("{[<", *r->at)) {
            open++;
            r->at++;
        } else if (strchr("}]>", *r->at)) {
            open--;
            r->at++;
        } else if (*r->at == ':' || *r->at == '=') {
            r->at++;
        } else {
            read_word(r, word, sizeof word);
            if (r->at == before)
                r->at++;
        }
    } while (open > 0 && r->at < r->end);
}

/* After a value MLIR may say its type: 1 : i32. */
static void skip_type(struct reader *r)
{
    char word[8];

    skip_space(r);
    if (r->at < r->end && *r->at == ':') {
        r->at++;
        skip_space(r);
        read_word(r, word, sizeof word);
    }
}

/* Moves to the value at a path a.b.c. */
static bool find_value(struct reader *r, const char *path)
{
    char key[KERNEL_WORD];

    for (;; path += strcspn(path, ".") + 1) {
        size_t wanted = strcspn(path, ".");
        bool found = false;
        skip_space(r);
        if (r->at >= r->end || *r->at != '{')
            return false;
        for (r->at++; r->at < r->end && !found;) {
            const char *before = r->at;
            skip_space(r);
            if (r->at >= r->end || *r->at == '}')
                return false;
            read_word(r, key, sizeof key);
            skip_space(r);
            if (r->at < r->end && (*r->at == ':' || *r->at == '='))
                r->at++;
            skip_space(r);
            found = strlen(key) == wanted && !strncmp(key, path, wanted);
            if (!found) {
                skip_value(r);
                skip_type(r);
            }
            if (r->at == before)
                r->at++;
        }
        if (!found || !path[wanted])
            return found && r->at < r->end;
    }
}

static struct reader reader_of(const char *text, size_t size)
{
    struct reader r = {text, text + size};

    if (size && *r.at == '"') { /* HLO text quotes what is no plain JSON */
        r.at++;
        r.end -= size > 1 && text[size - 1] == '"';
    }
    return r;
}

bool kernel_config(const char *text, size_t size, const char *path, char *out, size_t room)
{
    struct reader r = reader_of(text, size);

    if (!find_value(&r, path) || strchr("{[<", *r.at))
        return false;
    read_word(&r, out, room);
    return true;
}

bool kernel_config_list(const char *text, size_t size, const char *path, int64_t *out, size_t room,
                        size_t *count)
{
    struct reader r = reader_of(text, size);
    char word[KERNEL_WORD], *end;

    *count = 0;
    if (!find_value(&r, path) || *r.at != '[')
        return false;
    for (r.at++; skip_space(&r), r.at < r.end && *r.at != ']';) {
        read_word(&r, word, sizeof word);
        if (*count == room || !word[0])
            return false;
        out[(*count)++] = strtoll(word, &end, 10);
        if (*end)
            return false;
    }
    return r.at < r.end;
}

/* ---- expressions ---- */

enum { DEPTH_MOST = 32 };

struct parser {
    const char *at;
    const struct kernel_scope *scope;
    int depth;
    struct err *e;
    bool failed;
};

static struct kernel_value expression(struct parser *p);

static struct kernel_value number_value(double x)
{
    return (struct kernel_value){.is_number = true, .number = x};
}

static void fail_formula(struct parser *p, const char *what)
{
    if (!p->failed)
        (void)err_set(p->e, ERR_INPUT, "%s at \"%.24s\" of an expression", what, p->at);
    p->failed = true;
}

/* What an expression calculates with. */
static double number_of(struct parser *p, struct kernel_value v)
{
    if (v.is_number)
        return v.number;
    if (!v.is_config && !p->failed)
        (void)err_set(p->e, ERR_INPUT,
                      "%.40s, expected a number: no index of dims and no let is called so", v.word);
    p->failed |= !v.is_config;
    return 0;
}

static bool eat_sign(struct parser *p, const char *sign)
{
    size_t size = strlen(sign);

    while (isspace((unsigned char)*p->at))
        p->at++;
    if (strncmp(p->at, sign, size) != 0)
        return false;
    if (isalpha((unsigned char)sign[0]) && is_word(p->at[size]))
        return false;
    if (!strcmp(sign, "?") && p->at[1] == '?')
        return false;
    p->at += size;
    return true;
}

static struct kernel_value name_or_call(struct parser *p)
{
    struct kernel_value v = {0};
    char name[KERNEL_WORD], of[KERNEL_WORD];
    size_t size = 0;

    while (isalnum((unsigned char)*p->at) || *p->at == '_' || *p->at == '.') {
        if (size + 1 < sizeof name)
            name[size++] = *p->at;
        p->at++;
    }
    name[size] = 0;
    if (eat_sign(p, "(")) {
        size = strcspn(p->at, ")");
        snprintf(of, sizeof of, "%.*s", (int)(size < sizeof of ? size : sizeof of - 1), p->at);
        p->at += size;
        if (!eat_sign(p, ")") || !p->scope->function(p->scope->context, name, of, &v.number))
            fail_formula(
                p, "expected bytes(), elements() or product() of an operand, result or index");
        v.is_number = true;
        return v;
    }
    switch (p->scope->lookup(p->scope->context, name, &v, p->e)) {
    case KERNEL_UNKNOWN:
        v = (struct kernel_value){0};
        snprintf(v.word, sizeof v.word, "%s", name);
        break;
    case KERNEL_WRONG:
        p->failed = true;
        break;
    case KERNEL_FOUND:
        break;
    }
    return v;
}

static struct kernel_value primary(struct parser *p)
{
    struct kernel_value v = number_value(0);

    if (p->failed || p->depth >= DEPTH_MOST) {
        fail_formula(p, "too deep");
        return v;
    }
    p->depth++;
    if (eat_sign(p, "(")) {
        v = expression(p);
        if (!eat_sign(p, ")"))
            fail_formula(p, "expected )");
    } else if (eat_sign(p, "-")) {
        v = number_value(-number_of(p, primary(p)));
    } else if (isdigit((unsigned char)*p->at)) {
        char *end;
        v = number_value(strtod(p->at, &end));
        p->at = end;
    } else if (isalpha((unsigned char)*p->at) || *p->at == '_') {
        v = name_or_call(p);
    } else {
        fail_formula(p, "expected a number, a name or (");
    }
    p->depth--;
    return v;
}

static struct kernel_value parse_product(struct parser *p)
{
    struct kernel_value v = primary(p);

    for (;;) {
        if (eat_sign(p, "*")) {
            double x = number_of(p, v);
            v = number_value(x * number_of(p, primary(p)));
        } else if (eat_sign(p, "/")) {
            double x = number_of(p, v), by = number_of(p, primary(p));
            v = number_value(by != 0 ? x / by : 0);
        } else {
            return v;
        }
    }
}

static struct kernel_value parse_sum(struct parser *p)
{
    struct kernel_value v = parse_product(p);

    for (;;) {
        double sign = eat_sign(p, "+") ? 1 : eat_sign(p, "-") ? -1 : 0;
        if (sign == 0)
            return v;
        double x = number_of(p, v);
        v = number_value(x + sign * number_of(p, parse_product(p)));
    }
}

bool kernel_is_true(const struct kernel_value *v)
{
    return v->is_number ? v->number != 0 : v->word[0] != 0;
}

static bool same(const struct kernel_value *a, const struct kernel_value *b)
{
    if (a->is_number && b->is_number)
        return a->number == b->number;
    return !a->is_number && !b->is_number && !strcmp(a->word, b->word);
}

static const struct {
    const char *sign;
    bool less, equal, more;
} orders[] = {{"<=", true, true, false},
              {">=", false, true, true},
              {"<", true, false, false},
              {">", false, false, true}};

static struct kernel_value comparison(struct parser *p)
{
    struct kernel_value v = parse_sum(p), other;

    if (eat_sign(p, "==") || eat_sign(p, "!=")) {
        bool equal = p->at[-2] == '=';
        other = parse_sum(p);
        return number_value(same(&v, &other) == equal);
    }
    if (eat_sign(p, "in")) {
        bool found = false;
        if (!eat_sign(p, "["))
            fail_formula(p, "expected [");
        while (!p->failed && !eat_sign(p, "]")) {
            other = parse_sum(p);
            found |= same(&v, &other);
            (void)eat_sign(p, ",");
        }
        return number_value(found);
    }
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        if (!eat_sign(p, orders[k].sign))
            continue;
        double x = number_of(p, v), y = number_of(p, parse_sum(p));
        return number_value((x < y && orders[k].less) || (x > y && orders[k].more) ||
                            (x == y && orders[k].equal));
    }
    return v;
}

static struct kernel_value expression(struct parser *p)
{
    if (p->failed || p->depth >= DEPTH_MOST) {
        fail_formula(p, "too deep");
        return number_value(0);
    }
    p->depth++;
    struct kernel_value v = comparison(p);

    if (eat_sign(p, "??")) {
        struct kernel_value other = expression(p);
        v = v.is_missing ? other : v;
    } else if (eat_sign(p, "?")) {
        if (!v.is_config)
            (void)number_of(p, v);
        struct kernel_value yes = expression(p), no = {0};
        if (!eat_sign(p, ":"))
            fail_formula(p, "expected :");
        else
            no = expression(p);
        v = kernel_is_true(&v) ? yes : no;
    }
    p->depth--;
    return v;
}

int kernel_evaluate(const char *text, const struct kernel_scope *scope, struct kernel_value *out,
                    struct err *e)
{
    struct parser p = {.at = text, .scope = scope, .e = e};

    *out = expression(&p);
    while (isspace((unsigned char)*p.at))
        p.at++;
    if (*p.at)
        fail_formula(&p, "expected the end");
    return p.failed ? ERR_INPUT : 0;
}
