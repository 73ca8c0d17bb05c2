/* engine/pipeline/flat_net.h - the network as the paper has it (Auto-MAP 3.5, 4.5): the whole
 * problem flattened into one observation, one output for each action, to compare and to teach.
 *
 * Observed: C, A and W at 128 places, sums from the first point on but for A, in the time that they
 * take and over the largest of the three; the matrix of speeds between devices; where the points
 * and the devices are cut so far; what is to be decided. Actions: cut before point j, and cut
 * before device d, in one space of 128 + 32. A stage's end is two decisions, the device first. The
 * paper leaves open the units of the three, the encoding of the partition, the order of the
 * decisions and the widths: these are ours. Problems with fewer points or devices leave places
 * empty; with more there is no answer.
 * Pairs are compared by the Q of their point once the device is cut. Products are OpenBLAS's: the
 * same bits on processors for which it takes the same kernels. */
#ifndef AUTOMAP_ENGINE_PIPELINE_FLAT_NET_H
#define AUTOMAP_ENGINE_PIPELINE_FLAT_NET_H

#include "engine/pipeline/pipe_instance.h"
#include "rl/error.h"
#include "rl/net.h"
#include "rl/serialize.h"

enum {
    FLAT_POINTS = 128,
    FLAT_DEVICES = 32,
    FLAT_ACTIONS = FLAT_POINTS + FLAT_DEVICES,                      /* j; FLAT_POINTS + d */
    FLAT_PARTITION = 3 * FLAT_POINTS + FLAT_DEVICES * FLAT_DEVICES, /* first float of it */
    FLAT_STATE = FLAT_PARTITION + FLAT_ACTIONS, /* first of: decides a point, stages left, ln M */
    FLAT_OBSERVATION = FLAT_STATE + 3,
    FLAT_WIDTH = 128 /* of both hidden layers, as in the learner's own presets */
};

/* Owned; all zero: none. */
struct flat_net {
    struct rl_net net;
    float *parameters;
};
extern const uint32_t flat_hidden[];

/* Room for parameters, not set. RL_E_MEMORY. */
int flat_net_new(struct flat_net *f) RL_MUST_CHECK;
void flat_net_free(struct flat_net *f);
/* In a walk; read into one that is zero. Parameters that are not finite are refused. */
void flat_net_serialize(struct rl_serializer *w, struct flat_net *f);

bool flat_takes(const struct pipe_instance *in);
/* What does not change in an episode: everything before FLAT_PARTITION. O(points + devices^2). */
void flat_observe_problem(const struct pipe_instance *in, float *out);
/* The rest, where cuts 1 .. cut - 1 of the plan are decided, and the device of `cut` if `device` is
 * not 0. */
void flat_observe_plan(const struct pipe_instance *in, const struct pipe_plan *p, uint32_t cut,
                       uint32_t device, float *out);
/* Q of every action to q[FLAT_ACTIONS]. */
void flat_q(const struct flat_net *f, const float *observation, float *q);

#endif
