/* engine/plan/random.h - random strict plans, for tests of whatever uses plans. */
#ifndef AUTOMAP_ENGINE_PLAN_RANDOM_H
#define AUTOMAP_ENGINE_PLAN_RANDOM_H

#include "engine/problem/problem.h"
#include "hlo/support/err.h"

struct strict;

/* Adds splits to `s`: takes classes in random order and splits each along a random set of axes,
 * where earlier splits allow it, until a random number of classes is split. Same seed, same plan.
 * ERR_MEMORY. */
int plan_random(const struct problem *p, struct strict *s, uint64_t seed, struct err *e) MUST_CHECK;

#endif
