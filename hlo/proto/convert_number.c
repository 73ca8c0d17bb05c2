/* Floats of every width, as bits and as the text XLA prints: the shorter of digits10 and
 * max_digits10 significant digits for f32 and f64, max_digits10 for the small types, NaN with its
 * payload. */
#include "hlo/module/shape.h"
#include "hlo/proto/convert.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* Where a format keeps its special values: IEEE (infinities and NaNs in the top exponent), FN (only
 * the all-ones pattern is NaN), FNUZ (only "minus zero" is NaN), FINITE (none at all). */
enum specials { IEEE, FN, FNUZ, FINITE, EXPONENT_ONLY };

struct format {
    uint8_t exponent, mantissa;
    int16_t bias;
    uint8_t specials;
    uint8_t digits; /* max_digits10 */
};

static struct format format_of(enum hlo_type type)
{
    switch ((int)type) {
    case HLO_F64:
        return (struct format){11, 52, 1023, IEEE, 17};
    case HLO_F32:
        return (struct format){8, 23, 127, IEEE, 9};
    case HLO_F16:
        return (struct format){5, 10, 15, IEEE, 5};
    case HLO_BF16:
        return (struct format){8, 7, 127, IEEE, 4};
    case HLO_F8E5M2:
        return (struct format){5, 2, 15, IEEE, 2};
    case HLO_F8E4M3:
        return (struct format){4, 3, 7, IEEE, 3};
    case HLO_F8E3M4:
        return (struct format){3, 4, 3, IEEE, 3};
    case HLO_F8E4M3FN:
        return (struct format){4, 3, 7, FN, 3};
    case HLO_F8E4M3B11FNUZ:
        return (struct format){4, 3, 11, FNUZ, 3};
    case HLO_F8E5M2FNUZ:
        return (struct format){5, 2, 16, FNUZ, 2};
    case HLO_F8E4M3FNUZ:
        return (struct format){4, 3, 8, FNUZ, 3};
    case HLO_F8E8M0FNU:
        return (struct format){8, 0, 127, EXPONENT_ONLY, 2};
    case HLO_F6E3M2FN:
        return (struct format){3, 2, 3, FINITE, 2};
    case HLO_F6E2M3FN:
        return (struct format){2, 3, 1, FINITE, 3};
    default:
        return (struct format){2, 1, 1, FINITE, 2}; /* f4e2m1fn */
    }
}

static uint64_t sign_of(struct format f)
{
    return f.specials == EXPONENT_ONLY ? 0 : (uint64_t)1 << (f.exponent + f.mantissa);
}

static bool is_nan(struct format f, uint64_t bits)
{
    uint64_t magnitude = bits & (sign_of(f) - 1), top = ((uint64_t)1 << f.exponent) - 1;

    if (f.specials == IEEE)
        return magnitude > top << f.mantissa;
    if (f.specials == FN)
        return magnitude == sign_of(f) - 1;
    if (f.specials == FNUZ)
        return bits == sign_of(f);
    return f.specials == EXPONENT_ONLY && bits == 255;
}

static bool is_infinite(struct format f, uint64_t bits)
{
    uint64_t top = ((uint64_t)1 << f.exponent) - 1;

    return f.specials == IEEE && (bits & (sign_of(f) - 1)) == top << f.mantissa;
}

/* Of the bits of a float of this type (hlo/module/shape.h class F). */
static double convert_from_bits(enum hlo_type type, uint64_t bits)
{
    struct format f = format_of(type);
    double sign = bits & sign_of(f) ? -1.0 : 1.0;
    uint64_t fraction = bits & (((uint64_t)1 << f.mantissa) - 1);
    int exponent = (int)((bits >> f.mantissa) & (((uint64_t)1 << f.exponent) - 1));

    if (is_nan(f, bits))
        return copysign((double)NAN, sign);
    if (is_infinite(f, bits))
        return sign * HUGE_VAL;
    if (f.specials == EXPONENT_ONLY)
        return ldexp(1.0, exponent - f.bias);
    if (!exponent)
        return sign * ldexp((double)fraction, 1 - f.bias - f.mantissa);
    return sign *
           ldexp((double)(fraction | (uint64_t)1 << f.mantissa), exponent - f.bias - f.mantissa);
}

/* The largest finite magnitude. */
static uint64_t largest(struct format f)
{
    uint64_t top = ((uint64_t)1 << f.exponent) - 1;

    if (f.specials == IEEE)
        return (top << f.mantissa) - 1;
    if (f.specials == FN || f.specials == EXPONENT_ONLY)
        return ((uint64_t)1 << (f.exponent + f.mantissa)) - 2;
    return ((uint64_t)1 << (f.exponent + f.mantissa)) - 1;
}

static uint64_t not_a_number(struct format f)
{
    uint64_t top = ((uint64_t)1 << f.exponent) - 1;

    if (f.specials == IEEE)
        return top << f.mantissa | (uint64_t)1 << (f.mantissa - 1);
    if (f.specials == FNUZ)
        return sign_of(f);
    return f.specials == FINITE ? 0 : ((uint64_t)1 << (f.exponent + f.mantissa)) - 1;
}

/* And back, to nearest even. */
static uint64_t convert_to_bits(enum hlo_type type, double value)
{
    struct format f = format_of(type);
    uint64_t sign = signbit(value) && f.specials != FNUZ ? sign_of(f) : 0;
    double magnitude = fabs(value);
    int exponent;

    if (isnan(value))
        return not_a_number(f) | sign;
    if (f.specials == FNUZ && signbit(value) && magnitude > 0)
        sign = sign_of(f);
    uint64_t most = largest(f), bits;
    frexp(magnitude, &exponent); /* magnitude in [2^(exponent-1), 2^exponent) */
    int least = 1 - f.bias + (f.specials == EXPONENT_ONLY ? -1 : 0);
    int scale = (exponent - 1 < least ? least : exponent - 1) - f.mantissa;
    if (isinf(value)) {
        bits = UINT64_MAX;
    } else if (magnitude == 0) {
        bits = 0;
    } else {
        double units = nearbyint(ldexp(magnitude, -scale)); /* to nearest even */
        if (f.specials == EXPONENT_ONLY)
            bits = magnitude > 0 ? (uint64_t)(scale + f.bias) + (units > 1) : 0;
        else
            bits = (uint64_t)units + ((uint64_t)(scale + f.mantissa - least) << f.mantissa);
    }
    if (bits > most)
        bits = f.specials == IEEE ? most + 1 : f.specials == FINITE ? most : not_a_number(f);
    if (f.specials == FNUZ && !bits)
        sign = 0;
    return bits | sign;
}

static void print_nan(struct format f, uint64_t bits, struct str *out)
{
    uint64_t payload = bits & (((uint64_t)1 << f.mantissa) - 1);

    str_add(out, bits & sign_of(f) && f.specials != FNUZ ? "-nan" : "nan");
    if (f.specials == IEEE && payload != (uint64_t)1 << (f.mantissa - 1))
        str_format(out, "(0x%llx)", (unsigned long long)payload);
}

void hlo_print_float(enum hlo_type type, uint64_t bits, struct str *out)
{
    struct format f = format_of(type);
    char text[300]; /* more than %.17g ever takes; gcc cannot tell */

    if (is_nan(f, bits)) {
        print_nan(f, bits, out);
        return;
    }
    double value = convert_from_bits(type, bits);
    if (f.specials == IEEE && is_infinite(f, bits)) {
        str_add(out, value < 0 ? "-inf" : "inf");
        return;
    }
    int shorter = type == HLO_F64 ? 15 : type == HLO_F32 ? 6 : f.digits;
    snprintf(text, sizeof text, "%.*g", shorter, value);
    bool same = type == HLO_F64   ? strtod(text, NULL) == value
                : type == HLO_F32 ? strtof(text, NULL) == (float)value
                                  : true;
    if (!same)
        snprintf(text, sizeof text, "%.*g", f.digits, value);
    str_add(out, text);
}

static bool take_nan(struct scan *s, struct format f, bool minus, uint64_t *bits)
{
    uint64_t payload = 0;

    *bits = not_a_number(f) | (minus ? sign_of(f) : 0);
    if (s->at == s->end || *s->at != '(')
        return true;
    if (!hlo_scan_text(s, "(0x"))
        return false;
    for (; s->at < s->end && *s->at != ')'; s->at++) {
        char c = *s->at;
        unsigned digit =
            c >= '0' && c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10);
        if (digit > 15 || payload >> 56)
            return false;
        payload = payload * 16 + digit;
    }
    if (f.specials == IEEE && payload) {
        uint64_t mask = ((uint64_t)1 << f.mantissa) - 1;
        *bits = (*bits & ~mask) | (payload & mask);
    }
    return hlo_scan_char(s, ')');
}

bool hlo_take_float(struct scan *s, enum hlo_type type, uint64_t *bits)
{
    struct format f = format_of(type);
    struct scan ahead = *s;
    double value;

    bool minus = hlo_scan_char(&ahead, '-');
    if (hlo_scan_text(&ahead, "nan")) {
        *s = ahead;
        return take_nan(s, f, minus, bits);
    }
    if (hlo_scan_text(&ahead, "inf")) {
        *s = ahead;
        *bits = convert_to_bits(type, minus ? -HUGE_VAL : HUGE_VAL);
        return true;
    }
    if (!hlo_scan_real(s, &value))
        return false;
    *bits = convert_to_bits(type, value);
    return true;
}
