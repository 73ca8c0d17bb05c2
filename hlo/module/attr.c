/* The attribute table and what its kinds of values look like. */
#include "hlo/module/attr.h"

#include "hlo/module/attr_kind.h"

#include <string.h>

const struct hlo_attr_info hlo_attr_info[HLO_ATTR_COUNT] = {
#define X(id, name, kind) [HLO_ATTR_##id] = {name, HLO_KIND_##kind},
    HLO_ATTRS(X)
#undef X
        [HLO_ATTR_UNKNOWN] = {"", HLO_KIND_COUNT},
};

enum hlo_attr_key hlo_attr_by_name(const char *name, size_t size)
{
    for (int k = 0; size && k < HLO_ATTR_UNKNOWN; k++) {
        const char *known = hlo_attr_info[k].name;
        if (known[0] == *name && strlen(known) == size && !memcmp(known, name, size))
            return (enum hlo_attr_key)k;
    }
    return HLO_ATTR_UNKNOWN;
}

/* ---- scanning: values are spans, not terminated ---- */

struct span {
    const char *at, *end;
};

static void skip_blank(struct span *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r'))
        s->at++;
}

static bool eat_char(struct span *s, char c)
{
    skip_blank(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool eat_word(struct span *s, const char *word)
{
    size_t size = strlen(word);

    skip_blank(s);
    if ((size_t)(s->end - s->at) < size || memcmp(s->at, word, size))
        return false;
    s->at += size;
    return true;
}

static bool at_end(struct span *s)
{
    skip_blank(s);
    return s->at == s->end;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_integer(struct span *s, int64_t *out)
{
    uint64_t value = 0;
    const char *p = s->at;
    bool minus = p < s->end && *p == '-';

    p += minus;
    if (p == s->end || !is_digit(*p))
        return false;
    for (; p < s->end && is_digit(*p); p++) {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return false;
    }
    if (minus ? value > (uint64_t)1 << 63 : value > INT64_MAX)
        return false;
    *out = (int64_t)(minus ? 0 - value : value);
    s->at = p;
    return true;
}

bool hlo_parse_int(const char *text, size_t size, int64_t *out)
{
    struct span s = {text, text + size};
    int64_t value;

    if (!read_integer(&s, &value) || s.at != s.end)
        return false;
    *out = value;
    return true;
}

/* `{1,2}`, or nothing but the shape of it when out is NULL. */
static bool ints(struct span *s, int64_t *out, size_t room, size_t *count)
{
    size_t n = 0;

    if (!eat_char(s, '{'))
        return false;
    while (!eat_char(s, '}')) {
        int64_t value;
        if (n && !eat_char(s, ','))
            return false;
        skip_blank(s);
        if (n == room || !read_integer(s, &value))
            return false;
        if (out)
            out[n] = value;
        n++;
    }
    *count = n;
    return true;
}

/* `{1,0}` of small numbers without blanks; false for all else. */
static bool plain_ints(const char *p, const char *end, int64_t *out, size_t room, size_t *count)
{
    size_t n = 0;

    if (end - p < 2 || *p++ != '{' || end[-1] != '}')
        return false;
    while (*p != '}') {
        const char *digits = p;
        int64_t value = 0;
        for (; is_digit(*p); p++)
            value = value * 10 + (*p - '0');
        if (p == digits || p - digits > 9 || n == room || (*p != ',' && *p != '}'))
            return false;
        out[n++] = value;
        p += *p == ',';
    }
    *count = n;
    return p + 1 == end && p[-1] != ',';
}

bool hlo_parse_ints(const char *text, size_t size, int64_t *out, size_t room, size_t *count)
{
    struct span s = {text, text + size};

    if (plain_ints(text, text + size, out, room, count))
        return true;
    return ints(&s, out, room, count) && s.at == s.end;
}

/* `1x-2x3`: one number per dim. */
static bool by_dims(struct span *s, int64_t *out, uint8_t *rank)
{
    *rank = 0;
    do {
        if (*rank == HLO_RANK_MAX || !read_integer(s, &out[(*rank)++]))
            return false;
    } while (s->at < s->end && *s->at == 'x' && s->at++);
    return true;
}

/* `0_1x2_2_1`: low, high and, where `interior` is allowed, interior padding per dim. */
static bool pads(struct span *s, int64_t (*out)[3], size_t room, size_t *count, bool interior)
{
    *count = 0;
    do {
        if (*count == room)
            return false;
        int64_t *pad = out[(*count)++];
        pad[2] = 0;
        if (!read_integer(s, &pad[0]) || s->at == s->end || *s->at++ != '_' ||
            !read_integer(s, &pad[1]))
            return false;
        if (interior && s->at < s->end && *s->at == '_' && (s->at++, !read_integer(s, &pad[2])))
            return false;
    } while (s->at < s->end && *s->at == 'x' && s->at++);
    return true;
}

bool hlo_parse_padding(const char *text, size_t size, int64_t (*out)[3], size_t room, size_t *count)
{
    struct span s = {text, text + size};

    *count = 0;
    return !size || (pads(&s, out, room, count, true) && s.at == s.end);
}

static bool window_pad(struct span *s, struct hlo_window *w, uint8_t *rank)
{
    int64_t pad[HLO_RANK_MAX][3];
    size_t count;

    if (!pads(s, pad, HLO_RANK_MAX, &count, false))
        return false;
    for (size_t i = 0; i < count; i++) {
        w->pad_low[i] = pad[i][0];
        w->pad_high[i] = pad[i][1];
    }
    *rank = (uint8_t)count;
    return true;
}

static bool window_reversal(struct span *s, struct hlo_window *w, uint8_t *rank)
{
    int64_t flags[HLO_RANK_MAX];

    if (!by_dims(s, flags, rank))
        return false;
    for (uint8_t i = 0; i < *rank; i++)
        w->reversal[i] = flags[i] != 0;
    return true;
}

static bool window_field(struct span *s, struct hlo_window *w, uint8_t *rank)
{
    if (eat_word(s, "size="))
        return by_dims(s, w->size, rank);
    if (eat_word(s, "stride="))
        return by_dims(s, w->stride, rank);
    if (eat_word(s, "pad="))
        return window_pad(s, w, rank);
    if (eat_word(s, "lhs_dilate="))
        return by_dims(s, w->base_dilation, rank);
    if (eat_word(s, "rhs_dilate="))
        return by_dims(s, w->window_dilation, rank);
    if (eat_word(s, "rhs_reversal="))
        return window_reversal(s, w, rank);
    return false;
}

bool hlo_parse_window(const char *text, size_t size, struct hlo_window *out)
{
    struct span s = {text, text + size};
    uint8_t first = 0, rank;

    memset(out, 0, sizeof *out);
    for (int i = 0; i < HLO_RANK_MAX; i++)
        out->size[i] = out->stride[i] = out->base_dilation[i] = out->window_dilation[i] = 1;
    if (!eat_char(&s, '{'))
        return false;
    for (int fields = 0; !eat_char(&s, '}'); fields++) {
        if (!window_field(&s, out, &rank) || (fields && rank != first))
            return false;
        first = rank;
    }
    out->rank = first;
    return s.at == s.end;
}

/* One third of dim_labels: batch and feature letters (or i and o of the kernel), digits, `?`. */
static bool labels(const char *text, size_t size, const char letters[2], uint8_t *first,
                   uint8_t *second, uint8_t *spatial, uint8_t *spatial_count)
{
    uint64_t seen = 0;
    int found = 0;

    *spatial_count = 0;
    if (size > HLO_RANK_MAX)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == letters[0]) {
            *first = (uint8_t)i;
            found += 1;
        } else if (text[i] == letters[1]) {
            *second = (uint8_t)i;
            found += 16;
        } else if (is_digit(text[i])) {
            unsigned digit = (unsigned)(text[i] - '0');
            if (seen >> digit & 1)
                return false;
            seen |= (uint64_t)1 << digit;
            spatial[digit] = (uint8_t)i;
            ++*spatial_count;
        } else if (text[i] != '?') {
            return false;
        }
    }
    return found == 17 && seen == ((uint64_t)1 << *spatial_count) - 1;
}

bool hlo_parse_conv_dims(const char *text, size_t size, struct hlo_conv_dims *out)
{
    const char *kernel = memchr(text, '_', size), *end = text + size;
    uint8_t kernel_count, out_count;

    memset(out, 0, sizeof *out);
    if (!kernel)
        return false;
    kernel++;
    const char *arrow = memchr(kernel, '-', (size_t)(end - kernel));
    if (!arrow || end - arrow < 2 || arrow[1] != '>')
        return false;
    return labels(text, (size_t)(kernel - 1 - text), "bf", &out->in_batch, &out->in_feature,
                  out->in_spatial, &out->spatial_count) &&
           labels(kernel, (size_t)(arrow - kernel), "io", &out->kernel_in, &out->kernel_out,
                  out->kernel_spatial, &kernel_count) &&
           labels(arrow + 2, (size_t)(end - arrow - 2), "bf", &out->out_batch, &out->out_feature,
                  out->out_spatial, &out_count) &&
           kernel_count == out->spatial_count && out_count == out->spatial_count;
}

static bool slice_bounds(struct span *s, int64_t out[3])
{
    out[2] = 1;
    if (!eat_char(s, '['))
        return false;
    skip_blank(s);
    if (!read_integer(s, &out[0]) || !eat_char(s, ':'))
        return false;
    skip_blank(s);
    if (!read_integer(s, &out[1]))
        return false;
    if (eat_char(s, ':')) {
        skip_blank(s);
        if (!read_integer(s, &out[2]))
            return false;
    }
    return eat_char(s, ']');
}

bool hlo_parse_slices(const char *text, size_t size, int64_t (*out)[3], size_t room, size_t *count)
{
    struct span s = {text, text + size};

    *count = 0;
    if (!eat_char(&s, '{'))
        return false;
    while (!eat_char(&s, '}')) {
        if ((*count && !eat_char(&s, ',')) || *count == room || !slice_bounds(&s, out[(*count)++]))
            return false;
    }
    return s.at == s.end;
}

/* ---- kinds ---- */

static bool is_word_char(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '.';
}

static bool word(struct span *s)
{
    const char *begin = s->at;

    while (s->at < s->end && is_word_char(*s->at))
        s->at++;
    return s->at > begin;
}

static bool string(struct span *s)
{
    skip_blank(s);
    if (s->at == s->end || (*s->at != '"' && *s->at != '\''))
        return false;
    char quote = *s->at++;
    for (; s->at < s->end && *s->at != quote; s->at++) {
        if (*s->at == '\\' && s->at + 1 < s->end)
            s->at++;
    }
    return s->at < s->end && s->at++;
}

/* A bracket and everything to its partner; strings are passed over. */
static bool skip_group(struct span *s, char open, char close)
{
    size_t depth = 0;

    skip_blank(s);
    if (s->at == s->end || *s->at != open)
        return false;
    while (s->at < s->end) {
        if (*s->at == '"') {
            if (!string(s))
                return false;
            continue;
        }
        char c = *s->at++;
        if (c == open)
            depth++;
        else if (c == close && !--depth)
            return true;
    }
    return false;
}

static bool kind_int(struct span *s)
{
    int64_t value;

    return read_integer(s, &value);
}

static bool kind_float(struct span *s)
{
    const char *begin = s->at;

    while (s->at < s->end && (is_word_char(*s->at) || *s->at == '+'))
        s->at++;
    for (const char *p = begin; p < s->at; p++) {
        if (is_digit(*p))
            return true;
    }
    return s->at - begin >= 3; /* inf, nan, -inf */
}

static bool one_bool(struct span *s)
{
    return eat_word(s, "true") || eat_word(s, "false");
}

static bool hlo_kind_word(struct span *s)
{
    return word(s);
}

/* `{a,b}` of anything `item` reads. */
static bool read_items(struct span *s, bool (*item)(struct span *))
{
    if (!eat_char(s, '{'))
        return false;
    for (size_t n = 0; !eat_char(s, '}'); n++) {
        if (n && !eat_char(s, ','))
            return false;
        skip_blank(s);
        if (!item(s))
            return false;
    }
    return true;
}

static bool hlo_kind_ints(struct span *s)
{
    size_t count;

    return ints(s, NULL, SIZE_MAX, &count);
}

static bool hlo_kind_sizes(struct span *s)
{
    struct span begin = *s;

    if (hlo_kind_ints(s))
        return true;
    *s = begin;
    return read_items(s, hlo_kind_ints);
}

static bool hlo_kind_bools(struct span *s)
{
    return one_bool(s) || read_items(s, one_bool);
}

static bool hlo_kind_words(struct span *s)
{
    return read_items(s, word);
}

static bool one_slice(struct span *s)
{
    int64_t out[3];

    return slice_bounds(s, out);
}

static bool hlo_kind_slices(struct span *s)
{
    return read_items(s, one_slice);
}

static bool hlo_kind_padding(struct span *s)
{
    int64_t pad[HLO_RANK_MAX][3];
    size_t count;

    return s->at == s->end || pads(s, pad, HLO_RANK_MAX, &count, true); /* a scalar's is empty */
}

static bool hlo_kind_window(struct span *s)
{
    struct hlo_window w;
    const char *begin = s->at;

    s->at = s->end;
    return hlo_parse_window(begin, (size_t)(s->end - begin), &w);
}

static bool hlo_kind_labels(struct span *s)
{
    struct hlo_conv_dims d;
    const char *begin = s->at;

    s->at = s->end;
    return hlo_parse_conv_dims(begin, (size_t)(s->end - begin), &d);
}

/* `[2,4]<=[8]` or `[2,4]<=[2,4]T(1,0)`. */
static bool iota_tiles(struct span *s)
{
    if (!skip_group(s, '[', ']') || !eat_word(s, "<=") || !skip_group(s, '[', ']'))
        return false;
    return !eat_word(s, "T") || skip_group(s, '(', ')');
}

static bool one_ints(struct span *s)
{
    return hlo_kind_ints(s);
}

/* `mesh['a'=2,'b'=4], device_ids=(..) {'a'}` */
static bool mesh(struct span *s)
{
    if ((!eat_word(s, "mesh") && !eat_word(s, "maximal_mesh")) || !skip_group(s, '[', ']'))
        return false;
    if (eat_char(s, ',') && (!eat_word(s, "device_ids=") || !skip_group(s, '(', ')')))
        return false;
    return true;
}

static bool hlo_kind_groups(struct span *s)
{
    if (s->at < s->end && *s->at == '{')
        return read_items(s, one_ints);
    if (s->at < s->end && *s->at == '[')
        return iota_tiles(s);
    return mesh(s) && (at_end(s) || skip_group(s, '{', '}'));
}

static bool pair(struct span *s)
{
    int64_t out[2];
    size_t count;

    return ints(s, out, 2, &count) && count == 2;
}

static bool nested_pairs(struct span *s)
{
    struct span begin = *s;

    if (pair(s))
        return true;
    *s = begin;
    return read_items(s, pair);
}

static bool hlo_kind_pairs(struct span *s)
{
    return read_items(s, nested_pairs); /* in-place collective-permute: a list of lists */
}

static bool one_shape(struct span *s)
{
    skip_blank(s);
    if (s->at < s->end && *s->at == '(')
        return skip_group(s, '(', ')');
    if (!word(s))
        return false;
    if (s->at < s->end && *s->at == '(')
        return skip_group(s, '(', ')'); /* b(f32[2]) */
    return skip_group(s, '[', ']') && (s->at == s->end || *s->at != '{' || skip_group(s, '{', '}'));
}

/* A number or anything balanced, a shape before it. */
static bool kind_literal(struct span *s)
{
    struct span begin = *s;

    if (!one_shape(s) || at_end(s))
        *s = begin;
    skip_blank(s);
    if (s->at < s->end && (*s->at == '{' || *s->at == '('))
        return skip_group(s, *s->at, *s->at == '(' ? ')' : '}');
    return word(s);
}

static bool kind_shapes(struct span *s)
{
    return read_items(s, one_shape);
}

static bool hlo_kind_string(struct span *s)
{
    return string(s);
}

static bool kind_braced(struct span *s)
{
    return skip_group(s, '{', '}') || skip_group(s, '(', ')');
}

static bool entry(struct span *s)
{
    if (!string(s) && !word(s))
        return false;
    return eat_char(s, '=') && (string(s) || skip_group(s, '{', '}'));
}

static bool hlo_kind_dict(struct span *s)
{
    return read_items(s, entry);
}

static bool hlo_kind_config(struct span *s)
{
    return string(s) || skip_group(s, '{', '}');
}

static bool (*const kinds[HLO_KIND_COUNT])(struct span *) = {
    [HLO_KIND_INT] = kind_int,           [HLO_KIND_FLOAT] = kind_float,
    [HLO_KIND_BOOL] = one_bool,          [HLO_KIND_WORD] = hlo_kind_word,
    [HLO_KIND_STRING] = hlo_kind_string, [HLO_KIND_INTS] = hlo_kind_ints,
    [HLO_KIND_BOOLS] = hlo_kind_bools,   [HLO_KIND_WORDS] = hlo_kind_words,
    [HLO_KIND_SIZES] = hlo_kind_sizes,   [HLO_KIND_LITERAL] = kind_literal,
    [HLO_KIND_SLICES] = hlo_kind_slices, [HLO_KIND_PADDING] = hlo_kind_padding,
    [HLO_KIND_WINDOW] = hlo_kind_window, [HLO_KIND_LABELS] = hlo_kind_labels,
    [HLO_KIND_GROUPS] = hlo_kind_groups, [HLO_KIND_PAIRS] = hlo_kind_pairs,
    [HLO_KIND_SHAPE] = one_shape,        [HLO_KIND_SHAPES] = kind_shapes,
    [HLO_KIND_SHARDING] = kind_braced,   [HLO_KIND_DICT] = hlo_kind_dict,
    [HLO_KIND_CONFIG] = hlo_kind_config, [HLO_KIND_BRACED] = kind_braced,
};

static const char *const examples[HLO_KIND_COUNT] = {
    [HLO_KIND_INT] = "a number such as 3",
    [HLO_KIND_FLOAT] = "a number such as 0.001",
    [HLO_KIND_BOOL] = "true or false",
    [HLO_KIND_WORD] = "a word",
    [HLO_KIND_STRING] = "a string in quotes",
    [HLO_KIND_INTS] = "numbers such as {0,1}",
    [HLO_KIND_SIZES] = "sizes such as {8,128}, or a list of such",
    [HLO_KIND_LITERAL] = "a value such as f32[2] {1, 2}",
    [HLO_KIND_BOOLS] = "true, false or a list such as {true,false}",
    [HLO_KIND_WORDS] = "words such as {highest,default}",
    [HLO_KIND_SLICES] = "a range per dim such as {[0:4:2], [1:3]}",
    [HLO_KIND_PADDING] = "low_high or low_high_interior per dim such as 0_1x2_2_1",
    [HLO_KIND_WINDOW] = "a window such as {size=3x3 pad=0_1x0_1}",
    [HLO_KIND_LABELS] = "labels such as b01f_01io->b01f",
    [HLO_KIND_GROUPS] = "groups such as {{0,1},{2,3}} or [2,2]<=[4]",
    [HLO_KIND_PAIRS] = "pairs such as {{0,1},{1,0}}",
    [HLO_KIND_SHAPE] = "a shape such as f32[2]",
    [HLO_KIND_SHAPES] = "shapes such as {f32[2], s32[]}",
    [HLO_KIND_SHARDING] = "a sharding such as {devices=[2,1]<=[2]}",
    [HLO_KIND_DICT] = "entries such as {key=\"value\"}",
    [HLO_KIND_CONFIG] = "a string or something in braces",
    [HLO_KIND_BRACED] = "something in braces",
};

bool hlo_attr_fits(enum hlo_attr_key key, const char *text, size_t size)
{
    struct span s = {text, text + size};

    if (key >= HLO_ATTR_UNKNOWN)
        return true;
    return kinds[hlo_attr_info[key].kind](&s) && at_end(&s);
}

const char *hlo_attr_example(enum hlo_attr_key key)
{
    return key < HLO_ATTR_UNKNOWN ? examples[hlo_attr_info[key].kind] : "anything";
}
