/* rl/rl.h - the whole room: a DQN with the parts of Rainbow, each a switch.
 *
 * Reading order: settings.h (what can be set), env.h (what it learns to play), run.h and agent.h
 * (how a program drives it), save_agent.h, then the parts: learner.h (the update), replay.h,
 * sumtree.h, net.h, adam.h, rng.h; games.h to try it on. README.md has the theory and the measured
 * tables. */
#ifndef AUTOMAP_RL_RL_H
#define AUTOMAP_RL_RL_H

#include "rl/agent.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/run.h"
#include "rl/save_agent.h"
#include "rl/settings.h"

#endif
