#include "engine/text/quantity.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const struct unit {
    const char *name;
    double factor; /* to the base unit */
} bytes[] = {{"B", 1},
             {"kB", 1e3},
             {"MB", 1e6},
             {"GB", 1e9},
             {"TB", 1e12},
             {"PB", 1e15},
             {"KiB", 1024.0},
             {"MiB", 1048576.0},
             {"GiB", 1073741824.0},
             {"TiB", 1099511627776.0},
             {NULL, 0}},
  rates[] = {{"B/s", 1},           {"kB/s", 1e3},           {"MB/s", 1e6},
             {"GB/s", 1e9},        {"TB/s", 1e12},          {"KiB/s", 1024.0},
             {"MiB/s", 1048576.0}, {"GiB/s", 1073741824.0}, {"TiB/s", 1099511627776.0},
             {"bit/s", 0.125},     {"kbit/s", 125},         {"Mbit/s", 125e3},
             {"Gbit/s", 125e6},    {"Tbit/s", 125e9},       {NULL, 0}},
  flops[] = {{"FLOP/s", 1},     {"MFLOP/s", 1e6},  {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12},
             {"PFLOP/s", 1e15}, {"EFLOP/s", 1e18}, {"OP/s", 1},      {"GOP/s", 1e9},
             {"TOP/s", 1e12},   {"POP/s", 1e15},   {NULL, 0}},
  times[] = {{"ns", 1e-6}, {"us", 1e-3}, {"\302\265s", 1e-3}, {"ms", 1}, {"s", 1e3}, {NULL, 0}};

/* `least` and `most` are far beyond any machine there could be, and near enough that sums of their
 * quotients stay numbers. */
static const struct {
    const struct unit *units;
    const char *what, *example, *expected, *range;
    double least, most;
    bool is_zero_fine;
} quantities[] = {
    [QUANTITY_BYTES] = {bytes, "a size", "16 GB", "B, kB, MB, GB, TB, MiB or GiB", "1 B to 1000 PB",
                        1, 1e18, false},
    [QUANTITY_RATE] = {rates, "a rate", "900 GB/s", "MB/s, GB/s, TB/s, Mbit/s or Gbit/s",
                       "1 B/s to 1000000 TB/s", 1, 1e18, false},
    [QUANTITY_FLOPS] = {flops, "a rate", "15.7 TFLOP/s", "GFLOP/s, TFLOP/s or PFLOP/s",
                        "1 FLOP/s to 1000 EFLOP/s", 1, 1e21, false},
    [QUANTITY_TIME] = {times, "a time", "5 us", "ns, us, ms or s", "0 or 0.001 ns to 1000 s", 1e-9,
                       1e6, true},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A decimal number at *at, moved past it. Independent of the locale, unlike strtod; exact to the
 * last bit for up to 15 digits, which is more than a figure of a machine has. */
bool quantity_number(const char **at, double *out)
{
    const char *p = *at;
    double value = 0;
    int scale = 0, digits = 0, exponent = 0;

    for (; is_digit(*p); p++, digits++)
        value = value * 10 + (*p - '0');
    if (*p == '.' && is_digit(p[1])) {
        for (p++; is_digit(*p); p++, digits++, scale--)
            value = value * 10 + (*p - '0');
    }
    if (!digits || digits > 40)
        return false;
    if ((*p == 'e' || *p == 'E') &&
        (is_digit(p[1]) || ((p[1] == '+' || p[1] == '-') && is_digit(p[2])))) {
        bool is_negative = p[1] == '-';
        for (p += is_digit(p[1]) ? 1 : 2; is_digit(*p); p++)
            exponent = exponent < 1000 ? exponent * 10 + (*p - '0') : exponent;
        scale += is_negative ? -exponent : exponent;
    }
    *out = scale < 0 ? value / pow(10, -scale) : value * pow(10, scale);
    *at = p;
    return true;
}

bool quantity_real(const char *text, double least, double most, double *out)
{
    return quantity_number(&text, out) && !*text && *out >= least && *out <= most;
}

bool quantity_whole(const char *text, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;

    if (!*text)
        return false;
    for (; is_digit(*text); text++) {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    }
    *out = value;
    return !*text && value <= most;
}

int quantity_read(const char *text, enum quantity q, double *out, struct err *e)
{
    const char *at = text;
    bool is_negative = *at == '-';
    double value = 0;

    at += is_negative;
    if (!quantity_number(&at, &value))
        return err_set(e, ERR_INPUT, "\"%.60s\" is not %s, expected a number and a unit such as %s",
                       text, quantities[q].what, quantities[q].example);
    while (*at == ' ')
        at++;
    if (!*at)
        return err_set(e, ERR_INPUT, "\"%.60s\" has no unit, expected %s as in %s", text,
                       quantities[q].expected, quantities[q].example);
    const struct unit *u = quantities[q].units;
    while (u->name && strcmp(u->name, at) != 0)
        u++;
    if (!u->name)
        return err_set(e, ERR_INPUT, "unknown unit \"%.20s\" in \"%.60s\", expected %s as in %s",
                       at, text, quantities[q].expected, quantities[q].example);
    value *= u->factor;
    if (is_negative || (value == 0 && !quantities[q].is_zero_fine))
        return err_set(e, ERR_INPUT, "\"%.60s\" is %s, expected %s", text,
                       is_negative ? "negative" : "zero",
                       quantities[q].is_zero_fine ? "0 or more" : "more than 0");
    if (!(value <= quantities[q].most) || (value > 0 && value < quantities[q].least))
        return err_set(e, ERR_LIMIT, "\"%.60s\" is out of range, expected %s, such as %s", text,
                       quantities[q].range, quantities[q].example);
    *out = value;
    return 0;
}

int quantity_count(const char *text, uint32_t most, uint32_t *out, struct err *e)
{
    uint64_t value = 0;
    const char *at = text;

    for (; is_digit(*at) && value <= most; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    if (at == text || (*at && !is_digit(*at)))
        return err_set(e, ERR_INPUT, "\"%.60s\" is not a count, expected a whole number from 1",
                       text);
    if (value < 1 || value > most)
        return err_set(e, value ? ERR_LIMIT : ERR_INPUT, "%.60s is out of range, expected 1 to %u",
                       text, most);
    *out = (uint32_t)value;
    return 0;
}

/* Letters to insert, delete or change (Levenshtein), of words up to WORD_MOST letters. */
enum { WORD_MOST = 31 };

static size_t edit_distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), row[WORD_MOST + 1];

    if (la > WORD_MOST || lb > WORD_MOST)
        return SIZE_MAX;
    for (size_t k = 0; k <= lb; k++)
        row[k] = k;
    for (size_t i = 1; i <= la; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t k = 1; k <= lb; k++) {
            size_t best = corner + (a[i - 1] != b[k - 1]);
            corner = row[k];
            if (row[k] + 1 < best)
                best = row[k] + 1;
            if (row[k - 1] + 1 < best)
                best = row[k - 1] + 1;
            row[k] = best;
        }
    }
    return row[lb];
}

const char *quantity_nearest(const char *word, const char *const *words)
{
    size_t best = strlen(word) / 3 + 1;
    const char *nearest = NULL;

    for (; *words; words++) {
        size_t d = edit_distance(word, *words);
        if (d < best || (d == best && !nearest)) {
            best = d;
            nearest = *words;
        }
    }
    return nearest;
}
