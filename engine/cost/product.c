#include "engine/cost/product.h"

#include <math.h>

static const struct tile {
    double m, n, part;
} tiles[] = {
    {256, 128, 1}, {128, 256, 1}, {128, 128, 0.92}, {128, 64, 0.78}, {64, 64, 0.60},
};

enum { FILL = 128, SPLIT_LEAST = 512, SPLIT_MOST = 16 };

/* Bytes of a partial result written and read again, and of the sum: halves of f32 and bf16. */
static const double PART_BYTES = 2.2;

static double in_waves(const struct cluster_device *d, double peak, const struct product *p)
{
    double unit = peak / d->matmul.units * d->matmul.reach, least = INFINITY;

    for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++) {
        double count = ceil(p->m / tiles[t].m) * ceil(p->n / tiles[t].n) * p->batch;
        for (int s = 1; s <= SPLIT_MOST && (s == 1 || p->k / s >= SPLIT_LEAST); s *= 2) {
            double waves = ceil(count * s / d->matmul.units);
            double work = 2 * tiles[t].m * tiles[t].n * (p->k / s + FILL);
            double seconds = waves * work / (unit * tiles[t].part);
            if (s > 1)
                seconds += PART_BYTES * p->m * p->n * p->batch * (s + 1) / cluster_bandwidth(d);
            least = fmin(least, seconds);
        }
    }
    return least;
}

static double padding(double size, double to)
{
    return size / (to * ceil(size / to));
}

double product_ms(const struct cluster_device *d, enum peak_type type, const struct product *p,
                  double flops)
{
    double peak = cluster_peak(d, type), seconds = flops / peak;

    if (flops <= 0)
        return 0;
    if (d->matmul.reach > 0)
        seconds /= d->matmul.reach;
    if (p->m > 0 && d->matmul.units)
        seconds = in_waves(d, peak, p);
    else if (p->m > 0 && d->matmul.array)
        seconds /=
            padding(p->n, d->matmul.array) * padding(p->k, d->matmul.array) * padding(p->m, 8);
    return seconds * 1e3;
}
