/* engine/cost/calibrate.h - the figures of a device that measured times say.
 *
 * A run is a module whose instructions were measured on the device, one execution each, unsplit.
 * Its products, convolutions and kernels count one by one; all else together, since a compiler
 * fuses element-wise work in its own way and its times belong to groups that the model draws
 * elsewhere. What was not measured, in no instruction of its kernel (traffic.h), is left out. For
 * each such group g with measured time m and modelled time p(device)
 *     sum over groups of m_g / (sum of m of its run) x r(ln(p_g / m_g)),  r(x) = sqrt(0.01 + x^2)
 * is minimised over three figures: the reach of products (where the file has no `matmul`, one
 * factor for all peaks), the share of the memory bandwidth, and the launch overhead; each by golden
 * section over its logarithm, in turn, until none moves. Every run weighs the same; what runs oddly
 * counts by its error, not by the square.
 * A link follows from measured collectives in the same way: latency and bandwidth. */
#ifndef AUTOMAP_ENGINE_COST_CALIBRATE_H
#define AUTOMAP_ENGINE_COST_CALIBRATE_H

#include "engine/cluster/cluster.h"
#include "engine/cost/step_tables.h"
#include "hlo/support/err.h"

#include <stdint.h>

struct calibration_item {
    struct instruction_scaling work; /* of one execution, unsplit; its measured_ms is not read */
    double times;                    /* executions in a step */
};

struct calibration_group {
    uint32_t first, count; /* into calibration->items */
    uint32_t run;
    double ms;      /* measured, of a step; > 0 */
    bool is_single; /* one product, convolution or kernel */
};

struct calibration {
    struct calibration_item *items;
    uint32_t item_count;
    struct calibration_group *groups;
    uint32_t group_count, runs;
    size_t item_room, group_room;
};

/* Adds a run: `measured_ms` [instructions], < 0: not measured, of the module of `t`, which was made
 * without it. ERR_INPUT: nothing in it was measured. */
int calibration_add(struct calibration *c, const struct step_tables *t, const double *measured_ms,
                    struct err *e) MUST_CHECK;
void calibration_release(struct calibration *c);

/* Fits reach (or peaks), share and launch of `d`, which comes with those of the file. At least one
 * run. O(rounds x items). */
void calibration_fit(const struct calibration *c, struct cluster_device *d);

/* Of run `run` on device `d`, ms of a step: measured and modelled, of single groups and of the
 * rest.
 */
struct calibration_part {
    double measured_ms, modelled_ms;
    uint32_t groups;
};
struct calibration_part calibration_compare(const struct calibration *c, uint32_t run, bool single,
                                            const struct cluster_device *d);

/* Makes of times measured on device `from` those of the device of `t`: each instruction's in
 * proportion to what the model says of it on either. ms [instructions], < 0: not measured. */
void calibration_scale(const struct step_tables *t, const struct cluster_device *from, double *ms);

/* One measured collective over all devices of a cluster. */
struct measured_collective {
    uint8_t kind; /* enum collective_kind */
    double bytes, ms;
};
/* Fits latency and bandwidth of the link, or of the network where there are several servers, of
 * `cluster`, to collectives over all its devices. */
void calibration_fit_link(struct cluster *cluster, const struct measured_collective *m,
                          uint32_t count);

#endif
