#include "hlo/proto/convert.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <errno.h>
#include <string.h>

static void skip_blank(struct scan *s)
{
    while (s->at < s->end) {
        const char *at = s->at;
        if (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') {
            s->at++;
        } else if (*at == '/' && s->end - at > 1 && at[1] == '*') {
            for (at += 2; at < s->end && !(at[0] == '/' && at[-1] == '*' && at - s->at > 2);)
                at++;
            s->at = at < s->end ? at + 1 : s->end;
        } else if (*at == '/' && s->end - at > 1 && at[1] == '/') {
            while (s->at < s->end && *s->at != '\n' && *s->at != '\r')
                s->at++;
        } else {
            return;
        }
    }
}

bool hlo_scan_peek(struct scan *s, char c)
{
    skip_blank(s);
    return s->at < s->end && *s->at == c;
}

bool hlo_scan_char(struct scan *s, char c)
{
    bool found = hlo_scan_peek(s, c);

    s->at += found;
    return found;
}

bool hlo_scan_end(struct scan *s)
{
    skip_blank(s);
    return s->at == s->end;
}

bool hlo_scan_text(struct scan *s, const char *text)
{
    size_t size = strlen(text);

    skip_blank(s);
    if ((size_t)(s->end - s->at) < size || memcmp(s->at, text, size))
        return false;
    s->at += size;
    return true;
}

bool hlo_scan_key(struct scan *s, const char *key)
{
    struct scan ahead = *s;

    if (!hlo_scan_text(&ahead, key) || !hlo_scan_char(&ahead, '='))
        return false;
    *s = ahead;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool hlo_scan_int(struct scan *s, int64_t *out)
{
    uint64_t value = 0;

    skip_blank(s);
    const char *at = s->at;
    bool minus = at < s->end && *at == '-';
    at += minus;
    const char *digits = at;
    for (; at < s->end && is_digit(*at); at++) {
        if (value > (UINT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (uint64_t)(*at - '0');
    }
    if (at == digits || value > (uint64_t)INT64_MAX + minus)
        return false;
    *out = (int64_t)(minus ? 0 - value : value);
    s->at = at;
    return true;
}

bool hlo_scan_real(struct scan *s, double *out)
{
    skip_blank(s);
    size_t size = text_real(s->at, (size_t)(s->end - s->at), out);
    s->at += size;
    return size > 0;
}

bool hlo_scan_bool(struct scan *s, bool *out)
{
    *out = hlo_scan_text(s, "true");
    return *out || hlo_scan_text(s, "false");
}

bool hlo_scan_word(struct scan *s, struct scan *out)
{
    skip_blank(s);
    const char *at = s->at;
    while (at < s->end && (is_digit(*at) || (*at >= 'a' && *at <= 'z') ||
                           (*at >= 'A' && *at <= 'Z') || *at == '_' || *at == '.' || *at == '-'))
        at++;
    *out = (struct scan){s->at, at};
    s->at = at;
    return out->at < out->end;
}

static const char *string_end(const char *at, const char *end)
{
    char quote = *at++;

    while (at < end && *at != quote)
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : NULL;
}

/* Balanced {...}, [...] or (...): with brackets. */
static bool scan_group(struct scan *s, struct scan *out)
{
    int depth = 0;

    skip_blank(s);
    for (const char *at = s->at; at < s->end;) {
        if (*at == '"') {
            at = string_end(at, s->end);
            if (!at)
                return false;
            continue;
        }
        depth += *at == '{' || *at == '[' || *at == '(';
        depth -= *at == '}' || *at == ']' || *at == ')';
        at++;
        if (depth <= 0) {
            *out = (struct scan){s->at, at};
            s->at = at;
            return !depth && out->end - out->at > 1;
        }
    }
    return false;
}

/* ---- strings ---- */

static const char simple_escapes[] = "n\nr\rt\ta\ab\bf\fv\v\\\\''\"\"??";

static size_t unescape(char *out, const char *at, const char *end)
{
    char *to = out;

    while (at < end) {
        if (*at != '\\' || at + 1 == end) {
            *to++ = *at++;
            continue;
        }
        at++;
        const char *found = simple_escapes;
        while (*found && *found != *at)
            found += 2;
        if (*found) {
            *to++ = found[1];
            at++;
            continue;
        }
        unsigned value = 0;
        const char *from = at;
        if ((*at | 32) == 'x') {
            for (at++; at < end && at - from < 3; at++) {
                char c = (char)(*at | 32);
                if (!is_digit(*at) && !(c >= 'a' && c <= 'f'))
                    break;
                value = value * 16 + (unsigned)(is_digit(*at) ? *at - '0' : c - 'a' + 10);
            }
        } else {
            for (; at < end && at - from < 3 && *at >= '0' && *at <= '7'; at++)
                value = value * 8 + (unsigned)(*at - '0');
        }
        if (at == from) /* no escape we know: kept as it stands */
            *to++ = '\\';
        else
            *to++ = (char)value;
    }
    return (size_t)(to - out);
}

char *hlo_scan_string(struct scan *s, struct arena *a, size_t *size)
{
    struct scan group;

    if (hlo_scan_peek(s, '{'))
        return scan_group(s, &group)
                   ? arena_text(a, group.at, *size = (size_t)(group.end - group.at))
                   : NULL;
    if (!hlo_scan_peek(s, '"') && !hlo_scan_peek(s, '\''))
        return NULL;
    const char *end = string_end(s->at, s->end);
    char *out = end ? arena_get(a, (size_t)(end - s->at), 1) : NULL;
    if (!out)
        return NULL;
    *size = unescape(out, s->at + 1, end - 1);
    out[*size] = 0;
    s->at = end;
    return out;
}

void hlo_print_escaped(const char *text, size_t size, struct str *out)
{
    static const char escapes[] = "\nn\rr\tt\"\"''\\\\";
    size_t from = 0;

    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        const char *escape = escapes;
        while (*escape && (unsigned char)*escape != c)
            escape += 2;
        if (!*escape && c >= 32 && c < 127)
            continue;
        str_add_bytes(out, text + from, i - from);
        if (*escape)
            str_format(out, "\\%c", escape[1]);
        else
            str_format(out, "\\%03o", c);
        from = i + 1;
    }
    str_add_bytes(out, text + from, size - from);
}

void hlo_print_quoted(const char *text, size_t size, struct str *out)
{
    str_add_char(out, '"');
    hlo_print_escaped(text, size, out);
    str_add_char(out, '"');
}

/* XLA's LexesAsJsonDict: starts with '{', and the brace that closes it is the last byte. */
static bool is_dict(const char *text, size_t size)
{
    size_t depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < size; i++) {
        if (in_string) {
            i += text[i] == '\\';
            in_string = i >= size || text[i] != '"' || text[i - 1] == '\\';
            continue;
        }
        in_string = text[i] == '"';
        depth += text[i] == '{';
        if (!depth)
            return false;
        depth -= text[i] == '}';
        if (!depth)
            return i + 1 == size;
    }
    return false;
}

void hlo_print_config(const char *text, size_t size, struct str *out)
{
    if (size && is_dict(text, size))
        str_add_bytes(out, text, size);
    else
        hlo_print_quoted(text, size, out);
}

void hlo_print_real(double value, struct str *out)
{
    char text[300]; /* more than %.17g ever takes; gcc cannot tell */

    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    str_add(out, text);
}

/* ---- lists ---- */

bool hlo_scan_ints(struct scan *s, struct arena *a, const char *form, int64_t **out, size_t *count)
{
    size_t room = 0;

    *out = NULL;
    *count = 0;
    if (!hlo_scan_char(s, form[0]))
        return false;
    if (hlo_scan_char(s, form[2]))
        return true;
    do {
        if (*count == room) {
            room = room ? room * 2 : 4;
            int64_t *more = arena_get(a, room, sizeof *more);
            if (!more)
                return false;
            if (*count)
                memcpy(more, *out, *count * sizeof *more);
            *out = more;
        }
        if (!hlo_scan_int(s, &(*out)[(*count)++]))
            return false;
    } while (hlo_scan_char(s, form[1]));
    return hlo_scan_char(s, form[2]);
}

bool hlo_scan_ints32(struct scan *s, struct arena *a, const char *form, int32_t **out,
                     size_t *count)
{
    int64_t *wide;

    if (!hlo_scan_ints(s, a, form, &wide, count))
        return false;
    *out = *count ? arena_get(a, *count, sizeof **out) : NULL;
    for (size_t i = 0; i < *count; i++) {
        if (!*out || wide[i] < INT32_MIN || wide[i] > INT32_MAX)
            return false;
        (*out)[i] = (int32_t)wide[i];
    }
    return true;
}

void hlo_print_ints(const int64_t *items, size_t count, const char *separator, struct str *out)
{
    for (size_t i = 0; i < count; i++) {
        if (i)
            str_add(out, separator);
        str_add_int(out, items[i]);
    }
}

bool hlo_convert_append(struct arena *a, void ***items, size_t *count, void *item)
{
    if (!item)
        return false;
    if (!(*count & (*count - 1))) {
        void **more = arena_get(a, *count ? *count * 2 : 1, sizeof *more);
        if (!more)
            return false;
        if (*count)
            memcpy(more, *items, *count * sizeof *more);
        *items = more;
    }
    (*items)[(*count)++] = item;
    return true;
}

char *hlo_convert_text(struct arena *a, const struct str *s)
{
    return s->failed ? NULL : arena_text(a, s->text ? s->text : "", s->size);
}
