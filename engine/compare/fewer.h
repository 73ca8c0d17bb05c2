/* engine/compare/fewer.h - whether fewer devices would be faster.
 *
 * A step on unequal devices waits for the slowest, and one across servers for their network, so
 * leaving servers idle can be faster. Candidates: the servers of the fastest type alone, those of
 * the two fastest types, and so on, and the fastest 1, 2, 4, .. servers; each on one axis and, with
 * several servers, on servers x devices. Each is judged by its proven strict optimum, if that fits
 * in memory. Servers of a group are equal, so this covers prefixes by speed, not every subset. */
#ifndef AUTOMAP_ENGINE_COMPARE_FEWER_H
#define AUTOMAP_ENGINE_COMPARE_FEWER_H

#include "engine/cluster/cluster.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct fewer {
    bool found;       /* a candidate is faster by more than 1 % */
    bool proven;      /* its plan is the optimum on its devices and mesh */
    double step_ms;   /* of the fastest */
    uint32_t devices; /* that it uses */
    char servers[64]; /* in the form of --servers */
    char mesh[32];
};

/* Looks for a subset of p's devices with a step below `step_ms`. With one server there is none.
 * Once p->stop is set, returns the best so far. O(candidates x (problem_new + exact_strict)), at
 * most FEWER_MOST of them. */
enum { FEWER_MOST = 8 };
int fewer_devices(const struct problem *p, double step_ms, struct fewer *out,
                  struct err *e) MUST_CHECK;

/* "13.7 ms on 8 of the 16 devices: --servers 0 --mesh 8". */
void fewer_write(const struct problem *p, const struct fewer *f, struct str *out);

#endif
