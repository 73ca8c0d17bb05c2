#include "engine/text/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

char *units_count(char out[static UNITS_ROOM], int64_t count)
{
    char digits[UNITS_ROOM];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)count);
    size_t at = 0;

    for (size_t i = 0; i < length; i++) {
        out[at++] = digits[i];
        size_t rest = length - 1 - i;
        if (rest && rest % 3 == 0 && digits[i] != '-')
            out[at++] = ',';
    }
    out[at] = '\0';
    return out;
}

char *units_number(char out[static UNITS_ROOM], double value, int decimals)
{
    char digits[UNITS_ROOM];
    size_t at = 0;

    if (!isfinite(value) || fabs(value) > 1e21) {
        snprintf(out, UNITS_ROOM, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return out;
    }
    snprintf(digits, sizeof digits, "%.*f",
             decimals < 0   ? 0
             : decimals > 9 ? 9
                            : decimals,
             fabs(value));
    size_t whole = strcspn(digits, ".");
    if (value < 0 && strspn(digits, "0.") < strlen(digits)) /* no -0.0 */
        out[at++] = '-';
    for (size_t i = 0; i < whole; i++) {
        out[at++] = digits[i];
        if (i + 1 < whole && (whole - 1 - i) % 3 == 0)
            out[at++] = ',';
    }
    snprintf(out + at, UNITS_ROOM - at, "%s", digits + whole);
    return out;
}

char *units_change(char out[static UNITS_ROOM], double value, int decimals)
{
    char number[UNITS_ROOM];

    units_number(number, value, decimals);
    bool plus = value > 0 && strspn(number, "0.") < strlen(number);
    snprintf(out, UNITS_ROOM, "%s%.*s", plus ? "+" : "", UNITS_ROOM - 2, number);
    return out;
}

static char *with_unit(char out[static UNITS_ROOM], double value, int decimals, const char *unit)
{
    char number[UNITS_ROOM];

    snprintf(out, UNITS_ROOM, "%.36s %.8s", units_number(number, value, decimals), unit);
    return out;
}

int units_ms_decimals(double scale_ms)
{
    double scale = fabs(scale_ms);

    if (!(scale > 0) || scale >= 9.995)
        return 1;
    return scale >= 0.9995 ? 2 : scale >= 0.09995 ? 3 : 4;
}

char *units_ms(char out[static UNITS_ROOM], double ms)
{
    if (!isfinite(ms) || fabs(ms) > 1e15) {
        snprintf(out, UNITS_ROOM, "%s", isnan(ms) ? "nan" : "inf");
        return out;
    }
    if (fabs(ms) >= 9999.95)
        return with_unit(out, ms / 1e3, 1, "s");
    return with_unit(out, ms, units_ms_decimals(ms), "ms");
}

char *units_plain_ms(char out[static UNITS_ROOM], double ms)
{
    char *unit = strstr(units_ms(out, ms), " ms");
    if (unit)
        *unit = '\0';
    return out;
}

char *units_short_ms(char out[static UNITS_ROOM], double ms)
{
    if (!(fabs(ms) < 1))
        return units_ms(out, ms);
    return with_unit(out, ms * 1e3, 1, "us");
}

char *units_bytes(char out[static UNITS_ROOM], double bytes)
{
    double size = fabs(bytes);

    if (!isfinite(bytes) || size > 1e21)
        snprintf(out, UNITS_ROOM, "%s", isnan(bytes) ? "nan" : "inf");
    else if (size < 999.5)
        snprintf(out, UNITS_ROOM, "%.0f B", bytes);
    else if (size < 999.5e3)
        snprintf(out, UNITS_ROOM, "%.0f kB", bytes / 1e3);
    else if (size < 999.5e6)
        snprintf(out, UNITS_ROOM, "%.0f MB", bytes / 1e6);
    else
        return with_unit(out, bytes / 1e9, 1, "GB");
    return out;
}

char *units_rate(char out[static UNITS_ROOM], double per_second, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;

    while (i < 6 && fabs(per_second) >= 999.95) {
        per_second /= 1e3;
        i++;
    }
    char number[UNITS_ROOM];
    snprintf(out, UNITS_ROOM, "%.24s %s%.16s", units_number(number, per_second, 1), prefixes[i],
             unit);
    return out;
}

char *units_percent(char out[static UNITS_ROOM], double ratio)
{
    return with_unit(out, ratio * 100, 1, "%");
}
