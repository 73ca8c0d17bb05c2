/* engine/hybrid/by_value.h - what the stages of a plan keep for the backward pass, value by value
 * (recompute/keeping.h), instead of everything or, recomputed, what arrives at sections alone.
 *
 * A stage keeps a value once for each micro-batch in flight, so early stages compute more again.
 * A value is computed again from values of its section that are kept or computed again, at what
 * its operations cost forward, reductions included; what passes from section to section, random
 * numbers and inputs are kept where they are used. What the module itself recomputes stays as it
 * is written. While the backward pass is in a section, what it computed again there lies beside
 * the rest, as in a stage that is recomputed.
 *
 * Where the servers have a link to host memory (cluster.h), kept values may wait there: copies hide
 * behind the stage's passes, in a pipeline those of other micro-batches too. */
#ifndef AUTOMAP_ENGINE_HYBRID_BY_VALUE_H
#define AUTOMAP_ENGINE_HYBRID_BY_VALUE_H

#include "engine/hybrid/hybrid_instance.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct hybrid;
struct stage_costs;
struct keep_problem;

/* Values that the backward pass of a stage needs: of one scope but for numbers, and one operation.
 */
struct by_value_row {
    uint32_t count, again; /* values; how many of them are computed again */
    double bytes;          /* that are not kept, of one micro-batch */
    double kept_bytes;     /* that are, on the device */
    double host_bytes;     /* that are, on the host */
    double ms; /* of computing them again, of one micro-batch; not what lies between them */
    hlo_id id; /* the first of them, of those computed again if there are some */
    char scope[96];
};

/* A corner of what a stage may keep, from most kept to least. */
struct by_value_corner {
    double memory_bytes; /* of a device, with as many micro-batches in flight */
    double added_ms;     /* of one micro-batch */
};

/* A stage under a choice of values. */
struct by_value {
    struct hybrid_point point;
    uint32_t in_flight;
    double memory_bytes; /* of a device: interleaved, with the other stages of its group */
    double beside_bytes; /* in the point's fixed_bytes: what a section computed again, and what
                            is on its way to the host or back */
    double host_bytes;   /* of a micro-batch, kept on the host of the device's server */
    double host_ms;      /* in added_ms: what copies to the host and back show */
    double added_ms;     /* of computing again what is chosen by value, of one micro-batch */
    double bound_ms;     /* no choice by value within the limit adds less */
    struct by_value_row *rows; /* [row_count + kept_count] owned; first those of which something is
                                  computed again, then the others; most bytes first */
    uint32_t row_count, kept_count;
    struct by_value_corner *corners; /* [corner_count] owned */
    uint32_t corner_count;
};

/* Fills stage[].by_value of a priced plan, by_value_schedule and by_value_ms: each stage the
 * fastest that fits of all values kept, chosen by value, or recomputed as a whole; in the schedule
 * in which the step is then shortest. INFINITY: some stage fits in none; the plan itself need not
 * fit. Of an interleaved plan the stages on one group of devices share its memory: as many
 * micro-batches as the group has in flight count with the largest stash among them, so each may
 * keep as much as the others, and each is chosen within that alone. */
int hybrid_by_value(struct hybrid *h, struct err *e) MUST_CHECK;
void by_value_release(struct by_value *v);

/* The problem of sections [i, j) under the labels k->on. of[value of order->steps]: its value
 * there + 1; 0: none. */
int by_value_problem(const struct stage_costs *k, uint32_t i, uint32_t j, struct keep_problem *out,
                     uint32_t *of, struct err *e) MUST_CHECK;

#endif
