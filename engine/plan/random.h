/* engine/plan/random.h - a random strict plan: what tests of everything behind a plan draw from. */
#ifndef AUTOMAP_ENGINE_PLAN_RANDOM_H
#define AUTOMAP_ENGINE_PLAN_RANDOM_H

#include "engine/problem/problem.h"
#include "hlo/support/err.h"

struct strict;

/* Adds splits to `s`: classes in random order, each along a random set of axes, where earlier ones
 * allow it, until a random number of them is split. Same seed, same plan. ERR_MEMORY. */
int plan_random(const struct problem *p, struct strict *s, uint64_t seed, struct err *e) MUST_CHECK;

#endif
