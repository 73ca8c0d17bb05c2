#include "engine/units.h"

#include <math.h>
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

/* A number with one decimal and commas before it. */
static char *with_commas(char out[static UNITS_ROOM], double value, const char *unit)
{
    double tenths = nearbyint(value * 10);
    char whole[UNITS_ROOM];

    units_count(whole, (int64_t)(fabs(tenths) / 10));
    snprintf(out, UNITS_ROOM, "%s%.20s.%d %.8s", tenths < 0 ? "-" : "", whole,
             (int)fmod(fabs(tenths), 10), unit);
    return out;
}

char *units_ms(char out[static UNITS_ROOM], double ms)
{
    if (!isfinite(ms) || fabs(ms) > 1e15) {
        snprintf(out, UNITS_ROOM, "%s", isnan(ms) ? "nan" : "inf");
        return out;
    }
    if (fabs(ms) >= 9999.95)
        return with_commas(out, ms / 1e3, "s");
    return with_commas(out, ms, "ms");
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
        return with_commas(out, bytes / 1e9, "GB");
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
    snprintf(out, UNITS_ROOM, "%.1f %s%.16s", per_second, prefixes[i], unit);
    return out;
}

char *units_percent(char out[static UNITS_ROOM], double ratio)
{
    snprintf(out, UNITS_ROOM, "%.1f %%", ratio * 100);
    return out;
}
