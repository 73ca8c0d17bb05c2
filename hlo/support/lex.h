/* hlo/support/lex.h - scanning HLO and MLIR text. Private to hlo/.
 *
 * Everything works on pointers into input that ends with HLO_INPUT_PAD zero bytes: a zero byte is
 * neither letter, digit, blank nor bracket, so every loop below stops there without a bound check.
 * Nothing is copied or allocated. Comments are slash-star ... star-slash (not nested) and
 * // to the end of the line. */
#ifndef AUTOMAP_HLO_SUPPORT_LEX_H
#define AUTOMAP_HLO_SUPPORT_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    LEX_START = 1, /* may begin a name: A-Z a-z _ */
    LEX_NAME = 2,  /* may continue one: also 0-9 . - */
    LEX_DIGIT = 4,
    LEX_BLANK = 8,    /* space, tab, newline, carriage return */
    LEX_QUOTED = 16,  /* special within a string: quotes, backslash, the end */
    LEX_BRACKET = 32, /* special within brackets: brackets, quote, slash, the end */
};
extern const uint8_t hlo_lex_class[256];

static inline bool lex_is(char c, unsigned classes)
{
    return (hlo_lex_class[(unsigned char)c] & classes) != 0;
}

static inline bool lex_at_comment(const char *p)
{
    return *p == '/' && (p[1] == '*' || p[1] == '/');
}

/* Skips blanks and comments; stops at the slash of a comment that is never closed. */
const char *hlo_lex_skip_far(const char *p);
static inline const char *lex_skip(const char *p)
{
    if (*p == ' ')
        p++;
    return lex_is(*p, LEX_BLANK) || *p == '/' ? hlo_lex_skip_far(p) : p;
}

static inline const char *lex_name_end(const char *p)
{
    while (lex_is(*p, LEX_NAME))
        p++;
    return p;
}

/* True if the text at p is exactly the word `word`. */
bool hlo_lex_is_word(const char *p, const char *word);

/* p is at a quote (" or '). Returns the byte after its partner, or NULL. A backslash escapes. */
const char *hlo_lex_string_end(const char *p);

/* p is at an opening bracket. Returns the byte after its partner, or NULL. Counts brackets of that
 * kind only and skips comments and strings in double quotes. */
const char *hlo_lex_group_end(const char *p);

/* Reads a decimal integer with an optional minus. Returns the byte after it, or NULL when there is
 * none or it does not fit; 2^63..2^64-1 wrap, as XLA reads them. */
const char *hlo_lex_int(const char *p, int64_t *out);

/* Hashes a short text 8 bytes at a time, so it reads up to 7 bytes past the end. */
static inline uint32_t lex_hash(const char *text, size_t size)
{
    uint64_t h = size, word;

    for (; size >= 8; text += 8, size -= 8) {
        memcpy(&word, text, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    memcpy(&word, text, 8);
    h = (h ^ (size ? word << (64 - 8 * size) : 0)) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u; /* twice: names differ in their last bytes only */
    return (uint32_t)(h >> 32);
}

/* The same for longer ones: four sums side by side, so that one need not wait for another. */
static inline uint32_t lex_hash_long(const char *text, size_t size)
{
    uint64_t sums[4] = {1, 2, 3, 4}, word;

    for (; size >= 32; text += 32, size -= 32) {
        for (int n = 0; n < 4; n++) {
            memcpy(&word, text + 8 * n, 8);
            sums[n] = (sums[n] ^ word) * 0x9e3779b97f4a7c15u;
            sums[n] ^= sums[n] >> 32;
        }
    }
    word = lex_hash(text, size);
    for (int n = 0; n < 4; n++)
        word = (word ^ sums[n]) * 0xd6e8feb86659fd93u, word ^= word >> 32;
    return (uint32_t)word;
}

/* Undoes C escapes (\n \t \\ \' \" octal hex) of the bytes between quotes. `out` needs room for
 * `size` bytes. Returns the bytes written. */
size_t hlo_lex_unescape(char *out, const char *text, size_t size);

#endif
