/* engine/cost/product.h - how long a matrix product takes on one device, by its shape.
 *
 * On a device with `units`, a product of batch x (m x k) (k x n) is cut into tiles of the result,
 * one for each unit at a time. A wave of tiles takes as long as one tile, so partial tiles and the
 * last wave waste time. If there are few tiles and k is long, k is cut too (split-k) and the parts
 * are summed:
 *     waves = ceil(ceil(m / tm) ceil(n / tn) batch s / units)
 *     t = waves x 2 tm tn (k / s + K0) / (peak / units x reach x te) + (s > 1) parts / bandwidth
 * minimised over tiles (tm, tn, te: a tile's share of the reach) and splits s. K0 = 128 steps to
 * fill and empty a tile. On systolic arrays of side q the dims are padded: t = flops / (peak reach
 * u(n, q) u(k, q) u(m, 8)), u(x, q) = x / (q ceil(x / q)). Without a shape: flops / peak.
 * Sources: NVIDIA, "Matrix Multiplication Background" (tiles, waves); arXiv 2401.14489; reach from
 * published "maximum achievable" products (stas00/ml-engineering). A100: 6912 x 16384 x 2048 in
 * bf16 270 TFLOP/s, measured 268. */
#ifndef AUTOMAP_ENGINE_COST_PRODUCT_H
#define AUTOMAP_ENGINE_COST_PRODUCT_H

#include "engine/cluster/cluster.h"

struct product {
    double m, n, k, batch; /* local sizes; m 0: not a product, flops alone count */
};

/* ms of a product of `flops`, without launch or traffic. */
double product_ms(const struct cluster_device *d, enum peak_type type, const struct product *p,
                  double flops);

#endif
