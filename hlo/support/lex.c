#include "hlo/support/lex.h"

#include <string.h>

#define NAME(c) [c] = LEX_START | LEX_NAME
#define DIGIT(c) [c] = LEX_NAME | LEX_DIGIT
const uint8_t hlo_lex_class[256] = {
    ['\0'] = LEX_QUOTED | LEX_BRACKET,
    ['"'] = LEX_QUOTED | LEX_BRACKET,
    ['\''] = LEX_QUOTED,
    ['\\'] = LEX_QUOTED,
    ['/'] = LEX_BRACKET,
    ['('] = LEX_BRACKET,
    ['['] = LEX_BRACKET,
    ['{'] = LEX_BRACKET,
    [')'] = LEX_BRACKET,
    [']'] = LEX_BRACKET,
    ['}'] = LEX_BRACKET,
    [' '] = LEX_BLANK,
    ['\t'] = LEX_BLANK,
    ['\n'] = LEX_BLANK,
    ['\r'] = LEX_BLANK,
    NAME('_'),
    ['.'] = LEX_NAME,
    ['-'] = LEX_NAME,
    DIGIT('0'),
    DIGIT('1'),
    DIGIT('2'),
    DIGIT('3'),
    DIGIT('4'),
    DIGIT('5'),
    DIGIT('6'),
    DIGIT('7'),
    DIGIT('8'),
    DIGIT('9'),
    NAME('A'),
    NAME('B'),
    NAME('C'),
    NAME('D'),
    NAME('E'),
    NAME('F'),
    NAME('G'),
    NAME('H'),
    NAME('I'),
    NAME('J'),
    NAME('K'),
    NAME('L'),
    NAME('M'),
    NAME('N'),
    NAME('O'),
    NAME('P'),
    NAME('Q'),
    NAME('R'),
    NAME('S'),
    NAME('T'),
    NAME('U'),
    NAME('V'),
    NAME('W'),
    NAME('X'),
    NAME('Y'),
    NAME('Z'),
    NAME('a'),
    NAME('b'),
    NAME('c'),
    NAME('d'),
    NAME('e'),
    NAME('f'),
    NAME('g'),
    NAME('h'),
    NAME('i'),
    NAME('j'),
    NAME('k'),
    NAME('l'),
    NAME('m'),
    NAME('n'),
    NAME('o'),
    NAME('p'),
    NAME('q'),
    NAME('r'),
    NAME('s'),
    NAME('t'),
    NAME('u'),
    NAME('v'),
    NAME('w'),
    NAME('x'),
    NAME('y'),
    NAME('z'),
};
#undef NAME
#undef DIGIT

/* p at a slash: past the comment, or p itself when it is none or is not closed. */
static const char *comment_end(const char *p)
{
    if (p[1] == '/')
        return p + strcspn(p, "\n\r");
    if (p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p;
    }
    return p;
}

const char *hlo_lex_skip_far(const char *p)
{
    for (;;) {
        while (lex_is(*p, LEX_BLANK))
            p++;
        if (*p != '/')
            return p;
        const char *end = comment_end(p);
        if (end == p)
            return p;
        p = end;
    }
}

bool hlo_lex_is_word(const char *p, const char *word)
{
    size_t size = strlen(word);

    return !strncmp(p, word, size) && !lex_is(p[size], LEX_NAME);
}

const char *hlo_lex_string_end(const char *p)
{
    char quote = *p++;
    const char *end = strchr(p, quote); /* nearly always the end: backslashes are rare */

    if (!end || !memchr(p, '\\', (size_t)(end - p)))
        return end ? end + 1 : NULL;
    for (;; p++) {
        while (!lex_is(*p, LEX_QUOTED))
            p++;
        if (*p == quote)
            return p + 1;
        if (!*p)
            return NULL;
        p += *p == '\\' && p[1];
    }
}

const char *hlo_lex_group_end(const char *p)
{
    char open = *p;
    char close = (char)(open == '(' ? ')' : open + 2); /* [ ] and { } are two apart in ASCII */
    size_t depth = 0;

    for (;; p++) {
        while (!lex_is(*p, LEX_BRACKET))
            p++;
        if (!*p)
            return NULL;
        if (*p == open) {
            depth++;
        } else if (*p == close) {
            if (!--depth)
                return p + 1;
        } else if (*p == '"') {
            p = hlo_lex_string_end(p);
            if (!p)
                return NULL;
            p--;
        } else if (lex_at_comment(p)) {
            const char *end = comment_end(p);
            if (end == p)
                return NULL;
            p = end - 1;
        }
    }
}

const char *hlo_lex_int(const char *p, int64_t *out)
{
    bool minus = *p == '-';
    uint64_t value = 0;

    p += minus;
    if (!lex_is(*p, LEX_DIGIT))
        return NULL;
    for (; lex_is(*p, LEX_DIGIT); p++) {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return NULL;
    }
    if (minus && value > (uint64_t)1 << 63)
        return NULL;
    *out = (int64_t)(minus ? 0 - value : value);
    return p;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The number after \ (octal, up to 3 digits) or \x; sets *n to the digits read. */
static char numbered_char(const char *p, size_t left, int base, size_t *n)
{
    int value = 0;
    size_t most = base == 8 ? 3 : 2;

    for (*n = 0; *n < left && *n < most; ++*n) {
        int digit = hex_digit(p[*n]);
        if (digit < 0 || digit >= base)
            break;
        value = value * base + digit;
    }
    return (char)(value & 255);
}

size_t hlo_lex_unescape(char *out, const char *text, size_t size)
{
    static const char names[] = "nrtabfv", values[] = "\n\r\t\a\b\f\v";
    size_t written = 0;

    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '\\' && i + 1 < size) {
            c = text[++i];
            const char *known = c ? strchr(names, c) : NULL;
            size_t digits = 0;
            if (known) {
                c = values[known - names];
            } else if (c >= '0' && c <= '7') {
                c = numbered_char(text + i, size - i, 8, &digits);
                i += digits - 1;
            } else if ((c == 'x' || c == 'X') && i + 1 < size && hex_digit(text[i + 1]) >= 0) {
                c = numbered_char(text + i + 1, size - i - 1, 16, &digits);
                i += digits;
            }
        }
        out[written++] = c;
    }
    return written;
}
