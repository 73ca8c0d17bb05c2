#include "tui/screen/utf8.h"

struct range {
    uint32_t first, last;
};

/* Unicode 15: general categories Mn, Me and Cf, the blocks that occur in names people give. */
static const struct range zero[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489},   {0x0591, 0x05bd},   {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x0900, 0x0902}, {0x093c, 0x093c},   {0x0941, 0x0948},   {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},
    {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff},   {0x1dc0, 0x1dff},   {0x200b, 0x200f}, {0x202a, 0x202e},
    {0x2060, 0x206f}, {0x20d0, 0x20f0},   {0x3099, 0x309a},   {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
    {0xfeff, 0xfeff}, {0x1f3fb, 0x1f3ff}, {0xe0001, 0xe01ef},
};

/* East Asian Width W and F. */
static const struct range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},
    {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x2705, 0x2705},
    {0x270a, 0x270b},   {0x2728, 0x2728},   {0x274c, 0x274c},   {0x2753, 0x2755},
    {0x2795, 0x2797},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2e80, 0x303e},
    {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
    {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1b000, 0x1b2ff}, {0x1f200, 0x1f320},
    {0x1f32d, 0x1f64f}, {0x1f680, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f9ff},
    {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

static int in_ranges(const struct range *ranges, size_t count, uint32_t c)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && c >= ranges[low].first;
}

uint32_t utf8_next(const char **text)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)*text;
    uint32_t c = s[0];
    int more = 0;

    if (!c)
        return 0;
    ++*text;
    if (c < 0x80)
        return c;
    if (c >= 0xc2 && c < 0xe0) {
        more = 1;
        c &= 0x1f;
    } else if (c >= 0xe0 && c < 0xf0) {
        more = 2;
        c &= 0x0f;
    } else if (c >= 0xf0 && c < 0xf5) {
        more = 3;
        c &= 0x07;
    }
    if (!more)
        return 0xfffd;
    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0xfffd;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0xfffd;
    *text += more;
    return c;
}

size_t utf8_put(char out[static UTF8_ROOM], uint32_t c)
{
    size_t n = 0;

    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    if (c < 0x80) {
        out[n++] = (char)c;
    } else if (c < 0x800) {
        out[n++] = (char)(0xc0 | c >> 6);
        out[n++] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        out[n++] = (char)(0xe0 | c >> 12);
        out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        out[n++] = (char)(0x80 | (c & 0x3f));
    } else {
        out[n++] = (char)(0xf0 | c >> 18);
        out[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        out[n++] = (char)(0x80 | (c & 0x3f));
    }
    out[n] = 0;
    return n;
}

int utf8_columns(uint32_t c)
{
    if (c < 0x300)
        return 1;
    if (in_ranges(zero, sizeof zero / sizeof *zero, c))
        return 0;
    return in_ranges(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

int utf8_text_columns(const char *text)
{
    int columns = 0;
    uint32_t c;

    while ((c = utf8_next(&text)))
        columns += utf8_columns(c);
    return columns;
}

size_t utf8_before(const char *text, size_t at)
{
    do
        at--;
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}
