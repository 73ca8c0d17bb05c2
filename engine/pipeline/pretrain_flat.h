/* engine/pipeline/pretrain_flat.h - trains the network of flat_net.h as the paper has it, by its
 * reward.
 *
 * Each generated problem is explored in 50 episodes in a row, by a DQN of the preset paper-pp:
 * double, prioritized replay, gamma 0.6. The reward is 0 up to the end and then 1/L, L in ideal
 * steps: all computation shared by all devices. One problem after another, by one process. Before a
 * problem is learned from, the network's own plan is held against the exact optimum: that is the
 * curve in the file. */
#ifndef AUTOMAP_ENGINE_PIPELINE_PRETRAIN_FLAT_H
#define AUTOMAP_ENGINE_PIPELINE_PRETRAIN_FLAT_H

#include "engine/pipeline/pipe_net.h"
#include "engine/pipeline/pretrain.h"
#include "hlo/support/err.h"

enum { FLAT_EPISODES = 50 /* of a problem */ };

/* As pretrain_pipelines, on one rank; `from`, `processes` and `ranks` are not read. */
int pretrain_flat(const struct pretrain_options *o,
                  void (*tell)(void *self, const struct pretrain_progress *p), void *self,
                  struct pipe_net *out, struct err *e) MUST_CHECK;

#endif
