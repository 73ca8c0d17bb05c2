/* The text form of protobuf: https://protobuf.dev/reference/protobuf/textformat-spec/ */
#include "hlo/module/read.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct text {
    const char *begin, *at, *end;
    struct arena *arena;
    struct err *e;
};

static int fail_at(struct text *t, const char *at, const struct reflect_step *s, const char *what)
{
    char path[200];

    hlo_reflect_path(s, path, sizeof path);
    err_set(t->e, ERR_INPUT, "%s%s%s", path, path[0] ? ": " : "", what);
    return err_at(t->e, t->begin, (size_t)(t->end - t->begin), (size_t)(at - t->begin));
}

static int fail_in_text(struct text *t, const struct reflect_step *s, const char *what)
{
    return fail_at(t, t->at, s, what);
}

static void skip_blank(struct text *t)
{
    while (t->at < t->end) {
        if (*t->at == '#') {
            while (t->at < t->end && *t->at != '\n')
                t->at++;
        } else if (strchr(" \t\r\n\v\f", *t->at) && *t->at) {
            t->at++;
        } else {
            return;
        }
    }
}

static bool take_char(struct text *t, char c)
{
    skip_blank(t);
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t take_word(struct text *t, const char **word)
{
    skip_blank(t);
    *word = t->at;
    while (t->at < t->end && is_word_char(*t->at))
        t->at++;
    return (size_t)(t->at - *word);
}

/* ---- strings ---- */

static unsigned hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                  : 99;
}

/* One escape after the backslash at t->at; NULL when there is none such. */
static char *take_escape(struct text *t, char *out)
{
    static const char plain[] = "n\nr\rt\ta\ab\bf\fv\v\\\\''\"\"??";
    char c = *t->at++;

    for (const char *p = plain; *p; p += 2) {
        if (*p == c) {
            *out++ = p[1];
            return out;
        }
    }
    unsigned base = c == 'x' || c == 'X' ? 16 : 8, value = 0, digits = 0;
    if (base == 8)
        t->at--;
    while (t->at < t->end && digits < (base == 8 ? 3 : 2) && hex_digit(*t->at) < base) {
        value = value * base + hex_digit(*t->at++);
        digits++;
    }
    if (!digits)
        return NULL;
    *out++ = (char)value;
    return out;
}

/* Adjacent strings are one. Unescaped in new memory of the arena. */
static int take_string(struct text *t, const struct reflect_step *s, struct reflect_value *v)
{
    char *out = NULL, *to = NULL;
    size_t done = 0;
    *v = (struct reflect_value){.kind = REFLECT_TEXT};
    for (;;) {
        skip_blank(t);
        if (t->at == t->end || (*t->at != '"' && *t->at != '\''))
            break;
        char quote = *t->at++;
        const char *close = t->at;
        while (close < t->end && *close != quote && *close != '\n')
            close += *close == '\\' && close + 1 < t->end ? 2 : 1;
        if (close >= t->end || *close != quote)
            return fail_in_text(t, s, "this string does not end on its line");
        size_t room = done + (size_t)(close - t->at) + 1;
        char *more = arena_get(t->arena, room, 1);
        if (!more)
            return fail_in_text(t, s, "needs more memory than the limit for this file");
        if (done)
            memcpy(more, out, done);
        out = more;
        to = out + done;
        while (t->at < close) {
            if (*t->at != '\\') {
                *to++ = *t->at++;
                continue;
            }
            t->at++;
            char *next = take_escape(t, to);
            if (!next)
                return fail_in_text(t, s, "unknown escape");
            to = next;
        }
        t->at = close + 1;
        done = (size_t)(to - out);
    }
    v->text = out;
    v->size = done;
    return 0;
}

/* ---- scalars ---- */

static bool is_real_word(const char *word, size_t size)
{
    static const char *const words[] = {"inf", "infinity", "nan"};

    for (size_t i = 0; i < 3; i++) {
        if (strlen(words[i]) == size && !strncasecmp(words[i], word, size))
            return true;
    }
    return false;
}

static int take_number(struct text *t, const struct reflect_step *s, struct reflect_value *v)
{
    char copy[64];
    size_t size = 0;
    bool minus = take_char(t, '-'), is_real = false;
    const char *from = t->at;

    skip_blank(t);
    while (t->at < t->end && size + 1 < sizeof copy &&
           (is_word_char(*t->at) || *t->at == '.' ||
            ((*t->at == '-' || *t->at == '+') && size && (copy[size - 1] | 32) == 'e' &&
             copy[1] != 'x')))
        copy[size++] = *t->at++;
    copy[size] = 0;
    bool is_hex = size > 1 && copy[0] == '0' && (copy[1] | 32) == 'x';
    for (size_t i = 0; i < size && !is_hex; i++)
        is_real |= copy[i] == '.' || (copy[i] | 32) == 'e' || (copy[i] | 32) == 'f';
    is_real |= is_real_word(copy, size);
    if (is_real && size > 1 && (copy[size - 1] | 32) == 'f' && !is_real_word(copy, size))
        copy[--size] = 0;
    char *end = copy;
    errno = 0;
    if (is_real) {
        double d = strtod(copy, &end);
        *v = (struct reflect_value){.kind = REFLECT_DOUBLE, .d = minus ? -d : d};
    } else if (size && copy[0] >= '0' && copy[0] <= '9') {
        uint64_t u = strtoull(copy, &end, 0);
        bool fits = errno != ERANGE && (!minus || u <= (uint64_t)INT64_MAX + 1);
        if (!fits)
            return fail_at(t, from, s, "a number outside the range of 64 bits");
        *v = minus ? (struct reflect_value){.kind = REFLECT_INT, .i = (int64_t)(0 - u)}
                   : (struct reflect_value){.kind = REFLECT_UINT, .u = u};
    }
    if (end == copy || *end)
        return fail_at(t, from, s, "expected a value");
    return 0;
}

static int take_scalar(struct text *t, const struct reflect_step *s, ProtobufCMessage *m,
                       const ProtobufCFieldDescriptor *f)
{
    struct reflect_value v;
    const char *at, *word;
    int rc = 0;

    skip_blank(t);
    at = t->at;
    bool is_word = at < t->end && is_word_char(*at) && !(*at >= '0' && *at <= '9');
    if (at < t->end && (*at == '"' || *at == '\'')) {
        if (f && f->type == PROTOBUF_C_TYPE_ENUM)
            return fail_in_text(t, s, "a string, expected the name of an enum without quotes");
        rc = take_string(t, s, &v);
    } else if (is_word &&
               (!f || f->type == PROTOBUF_C_TYPE_ENUM || f->type == PROTOBUF_C_TYPE_BOOL)) {
        size_t size = take_word(t, &word);
        v = (struct reflect_value){.kind = REFLECT_TEXT, .size = size};
        v.text = arena_text(t->arena, word, size);
        if (f && f->type == PROTOBUF_C_TYPE_BOOL && v.text) {
            bool yes = !strcmp(v.text, "true") || !strcmp(v.text, "True") || !strcmp(v.text, "t");
            bool no = !strcmp(v.text, "false") || !strcmp(v.text, "False") || !strcmp(v.text, "f");
            if (yes || no)
                v = (struct reflect_value){.kind = REFLECT_INT, .i = yes};
        }
    } else {
        rc = take_number(t, s, &v);
    }
    if (rc || !f)
        return rc;
    const char *wrong = v.kind == REFLECT_TEXT && !v.text ? "needs more memory than the limit"
                                                          : hlo_reflect_store(t->arena, m, f, &v);
    return wrong ? fail_at(t, at, s, wrong) : 0;
}

/* ---- structure ---- */

static int take_fields(struct text *t, const struct reflect_step *s, ProtobufCMessage *m,
                       char close);

/* One value of field `f` of `m`, or of a field to skip: both NULL. */
static int take_value(struct text *t, const struct reflect_step *s, ProtobufCMessage *m,
                      const ProtobufCFieldDescriptor *f)
{
    char close = take_char(t, '{') ? '}' : take_char(t, '<') ? '>' : 0;

    if (!close) {
        if (f && f->type == PROTOBUF_C_TYPE_MESSAGE)
            return fail_in_text(t, s, "expected '{' for a message");
        return take_scalar(t, s, m, f);
    }
    if (f && f->type != PROTOBUF_C_TYPE_MESSAGE)
        return fail_in_text(t, s, "a message, expected a single value");
    ProtobufCMessage *child = f ? hlo_reflect_child(t->arena, m, f) : NULL;
    if (f && !child)
        return fail_in_text(t, s, "needs more memory than the limit for this file");
    return take_fields(t, s, child, close);
}

static int take_values(struct text *t, struct reflect_step *s, ProtobufCMessage *m,
                       const ProtobufCFieldDescriptor *f)
{
    if (!take_char(t, '['))
        return take_value(t, s, m, f);
    if (take_char(t, ']'))
        return 0;
    do {
        if (f && hlo_reflect_is_repeated(f))
            s->index = hlo_reflect_count(m, f);
        int rc = take_value(t, s, m, f);
        if (rc)
            return rc;
    } while (take_char(t, ','));
    return take_char(t, ']') ? 0 : fail_in_text(t, s, "expected ',' or ']'");
}

static int take_field(struct text *t, const struct reflect_step *s, ProtobufCMessage *m)
{
    const char *name;
    const ProtobufCFieldDescriptor *f = NULL;
    struct reflect_step step = {s, "", SIZE_MAX, s ? s->depth + 1 : 1};

    if (take_char(t, '[')) { /* an extension or Any: not ours */
        while (t->at < t->end && *t->at != ']' && *t->at != '\n')
            t->at++;
        if (!take_char(t, ']'))
            return fail_in_text(t, s, "expected ']'");
    } else {
        size_t size = take_word(t, &name);
        if (!size)
            return fail_in_text(t, s, "expected the name of a field");
        f = m ? hlo_reflect_field(m->descriptor, name, size) : NULL;
    }
    if (f) {
        step.field = f->name;
        step.index = hlo_reflect_is_repeated(f) ? hlo_reflect_count(m, f) : SIZE_MAX;
    }
    if (step.depth > HLO_NESTING_MAX)
        return fail_in_text(t, s, "messages are nested too deeply");
    bool colon = take_char(t, ':');
    skip_blank(t);
    if (!colon && (t->at == t->end || (*t->at != '{' && *t->at != '<')))
        return fail_in_text(t, s, "expected ':' or '{' after the name of a field");
    return take_values(t, &step, m, f);
}

static int take_fields(struct text *t, const struct reflect_step *s, ProtobufCMessage *m,
                       char close)
{
    for (;;) {
        skip_blank(t);
        if (close ? take_char(t, close) : t->at == t->end)
            return 0;
        if (t->at == t->end)
            return fail_in_text(t, s, "the file ends inside a message");
        int rc = take_field(t, s, m);
        if (rc)
            return rc;
        if (!take_char(t, ','))
            take_char(t, ';');
    }
}

enum { CHOICES_MAX = 4 };

/* Goes over the file once without keeping anything, up to its end or first mistake. */
static size_t choose_message(struct text t, const ProtobufCMessageDescriptor *const *choices)
{
    size_t known[CHOICES_MAX] = {0}, best = 0;
    struct arena passing = {.limit = t.arena->limit};
    struct err ignored;

    t.arena = &passing;
    t.e = &ignored;
    for (skip_blank(&t); t.at < t.end; skip_blank(&t)) {
        struct text ahead = t;
        const char *name;
        size_t size = take_word(&ahead, &name);
        for (size_t n = 0; n < CHOICES_MAX && choices[n]; n++)
            known[n] += size && hlo_reflect_field(choices[n], name, size);
        if (take_field(&t, NULL, NULL))
            break;
        if (!take_char(&t, ','))
            take_char(&t, ';');
    }
    arena_release(&passing);
    for (size_t n = 1; n < CHOICES_MAX && choices[n]; n++) {
        if (known[n] > known[best])
            best = n;
    }
    return best;
}

int hlo_reflect_from_text(const ProtobufCMessageDescriptor *const *choices, const char *text,
                          size_t size, struct arena *a, ProtobufCMessage **out, struct err *e)
{
    struct text t = {text, text, text + size, a, e};
    ProtobufCMessage *m = hlo_reflect_new(a, choices[choose_message(t, choices)]);

    if (!m)
        return err_no_memory(e, "to read the module");
    int rc = take_fields(&t, NULL, m, 0);
    if (rc)
        return rc;
    *out = m;
    return rc;
}
