#include "tui/watch/versus.h"

#include "engine/text/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

/* "3,095 MB of collectives instead of 773": in the unit of the smaller. */
static void write_bytes(double now, double was, char *out, size_t room)
{
    static const struct {
        double size;
        const char *name;
    } units[] = {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}};
    double least = fmin(now, was);
    char a[UNITS_ROOM], b[UNITS_ROOM];
    int k = 0;

    while (k < 3 && least < 10 * units[k].size)
        k++;
    snprintf(out, room, "%s %s of collectives instead of %s",
             units_number(a, now / units[k].size, 0), units[k].name,
             units_number(b, was / units[k].size, 0));
}

char *versus_sentence(const struct versus_side *a, const struct versus_side *b, char *out,
                      size_t room)
{
    double step = b->cost.step_ms - a->cost.step_ms,
           compute = b->cost.compute_ms - a->cost.compute_ms,
           network = b->cost.communication_ms - a->cost.communication_ms;
    char by[UNITS_ROOM], now[UNITS_ROOM], was[UNITS_ROOM];

    if (fabs(step) < 1e-9 * a->cost.step_ms) {
        snprintf(out, room, "%s takes as long as %s.", b->name, a->name);
    } else {
        bool slower = step > 0, sends = slower ? network > compute : network < compute;
        bool explained = !isnan(compute) && !isnan(network);
        int size = snprintf(out, room, "%s is %s %s than %s%s", b->name, units_ms(by, fabs(step)),
                            slower ? "slower" : "faster", a->name, explained ? ": " : "");
        size = size < (int)room ? size : (int)room - 1;
        bool by_bytes = fabs(b->bytes - a->bytes) > 0.005 * fmax(a->bytes, b->bytes);
        if (!explained)
            out[size] = '\0';
        else if (sends && by_bytes && b->bytes > 0 && a->bytes > 0 &&
                 (b->bytes > a->bytes) == slower)
            write_bytes(b->bytes, a->bytes, out + size, room - (size_t)size);
        else
            snprintf(out + size, room - (size_t)size, "%s of %s instead of %s",
                     units_ms(now, sends ? b->cost.communication_ms : b->cost.compute_ms),
                     sends ? "collectives" : "computing",
                     units_ms(was, sends ? a->cost.communication_ms : a->cost.compute_ms));
        for (size = 0; out[size]; size++) {
        }
        if ((size_t)size + 1 < room)
            snprintf(out + size, room - (size_t)size, ".");
    }
    out[0] = (char)toupper((unsigned char)out[0]);
    return out;
}
