#include "hlo/support/text.h"

#include "hlo/support/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Decodes one character of at most `size` bytes. Returns its length, or 0 when the bytes are not
 * well-formed UTF-8 (overlong, surrogate, above U+10FFFF, cut). */
static size_t decode_utf8(const unsigned char *s, size_t size, uint32_t *code)
{
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (s[0] < 0xc2 || s[0] > 0xf4 || length > size)
        return 0;
    uint32_t c = s[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *code = c;
    return length;
}

/* Controls (C0, DEL, C1), zero-width and joiner characters, bidirectional controls, line and
 * paragraph separators, variation selectors, tags, the byte order mark. */
static int is_unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || c == 0x180e ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff ||
           (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

size_t text_clean(char *out, size_t room, const char *in, size_t size)
{
    const unsigned char *s = (const unsigned char *)in;
    size_t at = 0, written = 0;

    while (at < size) {
        uint32_t code = 0;
        size_t length = decode_utf8(s + at, size - at, &code);
        if (!length || is_unsafe(code)) {
            if (written + 1 >= room)
                break;
            out[written++] = code == '\n' || code == '\t' ? ' ' : '?';
            at += length ? length : 1;
            continue;
        }
        if (written + length >= room)
            break;
        while (length--)
            out[written++] = in[at++];
    }
    out[written] = '\0';
    return written;
}

size_t text_clean_columns(char *out, size_t room, const char *in, size_t size)
{
    size_t written = 0;

    while (written < size && written + 1 < room) {
        unsigned char c = (unsigned char)in[written];
        out[written++] = (char)(c == '\t' ? ' ' : c < 0x20 || c >= 0x7f ? '?' : c);
    }
    out[written] = '\0';
    return written;
}

/* Past what is printable ASCII, 8 bytes at a time: a byte below 0x20 borrows, one above 0x7e
 * carries into its top bit. */
static size_t skip_ascii(const unsigned char *s, size_t size)
{
    size_t at = 0;
    uint64_t word;

    for (; size - at >= sizeof word; at += sizeof word) {
        memcpy(&word, s + at, sizeof word);
        if (((word - 0x2020202020202020u) | word | (word + 0x0101010101010101u)) &
            0x8080808080808080u)
            break;
    }
    return at;
}

int text_is_clean(const char *in, size_t size)
{
    const unsigned char *s = (const unsigned char *)in;

    for (size_t at = skip_ascii(s, size); at < size;) {
        if (s[at] >= 0x20 && s[at] < 0x7f) {
            at++;
            continue;
        }
        uint32_t code;
        size_t length = decode_utf8(s + at, size - at, &code);
        if (!length || is_unsafe(code))
            return 0;
        at += length;
    }
    return 1;
}

size_t text_real(const char *in, size_t size, double *out)
{
    char few[64], *copy = few, *end;
    size_t length = 0;

    while (length < size && in[length] && strchr("0123456789+-.aefint", in[length] | 32))
        length++;
    if (length >= sizeof few)
        copy = mem_try(length + 1, 1);
    if (!copy)
        return 0;
    memcpy(copy, in, length);
    copy[length] = '\0';
    *out = strtod(copy, &end);
    size_t used = (size_t)(end - copy);
    if (copy != few)
        free(copy);
    return used;
}
