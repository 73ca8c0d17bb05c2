/* engine/cost/product.h - how long a matrix product takes on one device, by its shape.
 *
 * On a device with `units` that take a tile each, a product of batch x (m x k) (k x n) is cut into
 * tiles of the result, which the units work off in waves; a wave is as long as one tile, so edges
 * and the last wave waste. Few tiles of a long k are cut along k as well (split-k), for a sum of
 * the parts afterwards:
 *     waves = ceil(ceil(m / tm) ceil(n / tn) batch s / units)
 *     t = waves x 2 tm tn (k / s + K0) / (peak / units x reach x te) + (s > 1) parts / bandwidth
 * the least over tiles (tm, tn, te: its part of the reach) and splits s. K0 = 128 steps to fill and
 * empty a tile. On systolic arrays of side q the dims are padded: t = flops / (peak reach u(n, q)
 * u(k, q) u(m, 8)), u(x, q) = x / (q ceil(x / q)). Without a shape to go by: flops / peak.
 * Sources: NVIDIA, "Matrix Multiplication Background" (tiles, waves); arXiv 2401.14489; reach from
 * published "maximum achievable" products (stas00/ml-engineering). A100: 6912 x 16384 x 2048 in
 * bf16 270 TFLOP/s, measured 268. */
#ifndef AUTOMAP_ENGINE_COST_PRODUCT_H
#define AUTOMAP_ENGINE_COST_PRODUCT_H

#include "engine/cluster/cluster.h"

struct product {
    double m, n, k, batch; /* local sizes; m 0: no product, flops alone count */
};

/* ms of a product of `flops`, without launch or traffic. */
double product_ms(const struct cluster_device *d, enum peak_type type, const struct product *p,
                  double flops);

#endif
