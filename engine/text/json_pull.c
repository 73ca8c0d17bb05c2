#include "engine/text/json_pull.h"

#include "hlo/support/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void complain_at(struct json_pull *j, size_t at, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void complain_at(struct json_pull *j, size_t at, const char *format, va_list args)
{
    char what[sizeof j->e->what];

    if (j->failed)
        return;
    vsnprintf(what, sizeof what, format, args);
    err_set(j->e, ERR_INPUT, "%s", what);
    err_at(j->e, j->text, j->size, at);
    j->failed = true;
}

void json_wrong(struct json_pull *j, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    complain_at(j, j->value_at, format, args);
    va_end(args);
}

void json_wrong_at(struct json_pull *j, size_t at, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    complain_at(j, at, format, args);
    va_end(args);
}

static char peek(struct json_pull *j)
{
    while (j->at < j->size && j->text[j->at] && strchr(" \t\r\n", j->text[j->at]))
        j->at++;
    return j->at < j->size ? j->text[j->at] : 0;
}

static void complain_expected(struct json_pull *j, const char *what)
{
    if (j->at >= j->size)
        json_wrong_at(j, j->size, "the file ends here, expected %s", what);
    else
        json_wrong_at(j, j->at, "expected %s", what);
}

void json_open(struct json_pull *j, const char *text, size_t size, struct err *e)
{
    *j = (struct json_pull){.text = text, .size = size, .e = e};
    if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        j->at = 3;
}

int json_close(struct json_pull *j)
{
    if (!j->failed && peek(j))
        complain_expected(j, "the end of the file");
    return j->failed ? j->e->code : 0;
}

static bool enter_bracket(struct json_pull *j, char bracket, const char *what)
{
    if (j->failed)
        return false;
    char c = peek(j);
    j->value_at = j->at;
    if (c != bracket || j->at >= j->size)
        complain_expected(j, what);
    else if (++j->depth > JSON_DEPTH_MAX)
        json_wrong(j, "brackets nest deeper than %d", JSON_DEPTH_MAX);
    j->at++;
    j->fresh = true;
    return !j->failed;
}

bool json_object(struct json_pull *j)
{
    return enter_bracket(j, '{', "an object in { }");
}

bool json_list(struct json_pull *j)
{
    return enter_bracket(j, '[', "a list in [ ]");
}

/* Another entry follows: past its comma. False behind the closing bracket. */
static bool another(struct json_pull *j, char bracket, const char *what)
{
    if (j->failed)
        return false;
    if (peek(j) == bracket && j->at < j->size) {
        j->at++;
        j->depth--;
        j->fresh = false;
        return false;
    }
    if (j->fresh) {
        j->fresh = false;
        return true;
    }
    if (peek(j) != ',') {
        complain_expected(j, what);
        return false;
    }
    j->at++;
    return true;
}

/* The text at `at` is a string; `end` behind its closing quote. */
static bool string_end(struct json_pull *j, size_t *end)
{
    size_t p = j->at + 1;

    for (; p < j->size && j->text[p] != '"'; p++) {
        if ((unsigned char)j->text[p] < 0x20)
            break;
        if (j->text[p] == '\\')
            p++;
    }
    if (p >= j->size || j->text[p] != '"') {
        json_wrong_at(j, j->at, "this text has no end, expected a closing quote on its line");
        return false;
    }
    *end = p + 1;
    return true;
}

static uint32_t hex4(const char *p, const char *end)
{
    uint32_t value = 0;

    for (int k = 0; k < 4; k++) {
        char c = p + k < end ? p[k] : '?';
        value = value * 16 + (uint32_t)(c >= '0' && c <= '9'   ? c - '0'
                                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                               : 0x10000);
    }
    return value > 0xffff ? '?' : value;
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3f));
    out[2] = (char)(0x80 | (c & 0x3f));
    return 3;
}

/* Escapes undone, then cleaned. Surrogates become what text_clean makes of them: '?'. */
static void decode_escapes(const char *p, const char *end, char *out, size_t room)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    char raw[JSON_TEXT_ROOM * 2];
    size_t n = 0;

    for (; p < end && n + 4 < sizeof raw; p++) {
        const char *escape;
        if (*p != '\\') {
            raw[n++] = *p;
        } else if (++p < end && *p == 'u') {
            n += put_utf8(raw + n, hex4(p + 1, end));
            p += 4;
        } else if (p < end && (escape = strchr(from, *p)) != NULL && *p) {
            raw[n++] = to[escape - from];
        } else if (p < end) {
            raw[n++] = *p;
        }
    }
    text_clean(out, room, raw, n);
}

static void take_string(struct json_pull *j, char *out, size_t room, const char *what)
{
    size_t end;

    out[0] = 0;
    if (j->failed)
        return;
    char c = peek(j);
    j->value_at = j->at;
    if (c != '"') {
        complain_expected(j, what);
        return;
    }
    if (!string_end(j, &end))
        return;
    decode_escapes(j->text + j->at + 1, j->text + end - 1, out, room);
    j->at = end;
    j->fresh = false;
}

bool json_key(struct json_pull *j)
{
    if (!another(j, '}', "a comma or }"))
        return false;
    take_string(j, j->key, sizeof j->key, "a key in quotes");
    if (j->failed)
        return false;
    if (peek(j) != ':') {
        complain_expected(j, "a colon behind the key");
        return false;
    }
    j->at++;
    return true;
}

bool json_item(struct json_pull *j)
{
    return another(j, ']', "a comma or ]");
}

void json_string(struct json_pull *j, char *out, size_t room)
{
    take_string(j, out, room, "a text in quotes");
}

static bool is_digit(const struct json_pull *j, size_t at)
{
    return at < j->size && j->text[at] >= '0' && j->text[at] <= '9';
}

static size_t skip_digits(const struct json_pull *j, size_t at)
{
    while (is_digit(j, at))
        at++;
    return at;
}

/* The end of the number at j->at by JSON's grammar; j->at when there is none. */
static size_t number_end(const struct json_pull *j)
{
    size_t p = j->at, digits;

    p += p < j->size && j->text[p] == '-';
    digits = p;
    p = skip_digits(j, p);
    if (p == digits)
        return j->at;
    if (p < j->size && j->text[p] == '.' && is_digit(j, p + 1))
        p = skip_digits(j, p + 1);
    if (p < j->size && (j->text[p] == 'e' || j->text[p] == 'E')) {
        size_t q = p + 1;
        q += q < j->size && (j->text[q] == '-' || j->text[q] == '+');
        if (is_digit(j, q))
            p = skip_digits(j, q);
    }
    return p;
}

/* Program text never calls setlocale for numbers, so strtod reads a point as JSON writes it. */
static bool take_number(struct json_pull *j, char copy[64], double *out)
{
    if (j->failed)
        return false;
    char first = peek(j);
    j->value_at = j->at;
    size_t end = number_end(j);
    if (end == j->at && first && strchr("NI", first))
        json_wrong(j, "this is not a number of JSON, expected a finite number");
    else if (end == j->at)
        complain_expected(j, "a number");
    else if (end - j->at >= 64)
        json_wrong(j, "a number of %zu characters, expected at most 63", end - j->at);
    if (j->failed)
        return false;
    memcpy(copy, j->text + j->at, end - j->at);
    copy[end - j->at] = 0;
    *out = strtod(copy, NULL);
    j->at = end;
    j->fresh = false;
    return true;
}

double json_real(struct json_pull *j, double least, double most)
{
    char copy[64];
    double value = 0;

    if (!take_number(j, copy, &value))
        return least > 0 ? least : 0;
    if (!isfinite(value))
        json_wrong(j, "%s is not finite", copy);
    else if (value < least || value > most)
        json_wrong(j, "%s is out of bounds, expected %g to %g", copy, least, most);
    return value;
}

int64_t json_integer(struct json_pull *j, int64_t least, int64_t most)
{
    char copy[64], *rest;
    double value = 0;

    if (!take_number(j, copy, &value))
        return least;
    int64_t whole = strtoll(copy, &rest, 10);
    if (*rest) { /* 1.0, 1e3 */
        whole = fabs(value) < 9007199254740992.0 ? (int64_t)value : 0;
        if ((double)whole != value)
            json_wrong(j, "%s is not a whole number", copy);
    } else if (fabs(value) > 9.2e18) {
        json_wrong(j, "%s is out of bounds, expected %lld to %lld", copy, (long long)least,
                   (long long)most);
    }
    if (whole < least || whole > most)
        json_wrong(j, "%s is out of bounds, expected %lld to %lld", copy, (long long)least,
                   (long long)most);
    return j->failed ? least : whole;
}

static bool take_word(struct json_pull *j, const char *word)
{
    size_t size = strlen(word);

    if (j->size - j->at < size || memcmp(j->text + j->at, word, size) != 0)
        return false;
    j->at += size;
    j->fresh = false;
    return true;
}

bool json_flag(struct json_pull *j)
{
    if (j->failed)
        return false;
    char c = peek(j);
    j->value_at = j->at;
    if (take_word(j, "true"))
        return true;
    if (take_word(j, "false"))
        return false;
    if (c == '0' || c == '1')
        return json_integer(j, 0, 1) == 1;
    complain_expected(j, "true or false");
    return false;
}

void json_skip(struct json_pull *j)
{
    char copy[64];
    double number;
    size_t end;
    uint32_t outside = j->depth;

    do {
        char c = j->failed ? 0 : peek(j);
        if (j->failed)
            return;
        j->value_at = j->at;
        if (c == '{' || c == '[') {
            if (j->depth++ >= JSON_DEPTH_MAX)
                json_wrong(j, "brackets nest deeper than %d", JSON_DEPTH_MAX);
            j->at++;
        } else if ((c == '}' || c == ']') && j->depth > outside) {
            j->at++;
            j->depth--;
        } else if ((c == ',' || c == ':') && j->depth > outside) {
            j->at++;
        } else if (c == '"') {
            if (string_end(j, &end))
                j->at = end;
        } else if (!take_word(j, "null") && !take_word(j, "true") && !take_word(j, "false")) {
            take_number(j, copy, &number);
        }
    } while (!j->failed && j->depth > outside);
    j->fresh = false;
}
