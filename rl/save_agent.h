/* rl/save_agent.h - saves a whole learner, or a run in the middle of an episode, to bytes and back.
 *
 * The bytes hold everything that affects what comes next: settings, weights, target, Adam's
 * moments, replay, priorities, visit counts, random streams, counters. A loaded learner continues
 * bit for bit as the saved one would have, on a machine with the same floating-point library.
 * Format: sealed bytes of rl/serialize.h. They are not trusted: sizes, ranges and the checksum are
 * checked before use. */
#ifndef AUTOMAP_RL_SAVE_AGENT_H
#define AUTOMAP_RL_SAVE_AGENT_H

#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/error.h"
#include "rl/run.h"
#include "rl/serialize.h"
#include "rl/settings.h"

/* Settings alone, row by row; the reader checks them (rl_settings_check). */
void rl_settings_serialize(struct rl_serializer *w, struct rl_settings *s);

int rl_agent_save(const struct rl_agent *a, struct rl_bytes *out) RL_MUST_CHECK;

/* A new agent, owned by the caller. */
int rl_agent_load(struct rl_agent **out, const void *data, size_t size) RL_MUST_CHECK;

/* The same as part of a larger walk. Reading makes a new agent, owned by the caller; *a is NULL if
 * w->failed. */
void rl_agent_serialize(struct rl_serializer *w, struct rl_agent **a);

/* A run with its agent. RL_E_SHAPE: in the middle of an episode of an environment without
 * `state`. */
int rl_run_save(const struct rl_run *r, struct rl_bytes *out) RL_MUST_CHECK;

/* `r` must come from rl_run_init with the same kind of environment, which is set to the saved
 * state. Its agent is not freed: r->agent becomes a new one, owned by the caller. */
int rl_run_load(struct rl_run *r, const void *data, size_t size) RL_MUST_CHECK;

#endif
