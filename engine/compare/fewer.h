/* engine/compare/fewer.h - whether fewer devices take less time.
 *
 * A step on unequal devices waits for the slowest, and one across servers for their network: then
 * leaving servers out is the better plan. Looked at: the servers of the fastest type alone, those
 * of the two fastest, and so on, and of the fastest 1, 2, 4, .. servers; each on one axis and, with
 * several servers, on servers x devices. Of each the proven strict optimum, where its memory fits.
 * Sets of servers are equal within a group, so this covers every prefix by speed, not every subset.
 */
#ifndef AUTOMAP_ENGINE_COMPARE_FEWER_H
#define AUTOMAP_ENGINE_COMPARE_FEWER_H

#include "engine/cluster/cluster.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct fewer {
    bool found;       /* some are faster than asked, by more than 1 % */
    bool proven;      /* that one is the optimum on its devices and mesh */
    double step_ms;   /* of the fastest */
    uint32_t devices; /* that it uses */
    char servers[64]; /* as --servers takes them */
    char mesh[32];
};

/* Looks for fewer devices than `p` has that take less than `step_ms`. One server, or servers whose
 * number is not told apart: not found. Stops at p->stop with what it has. O(candidates x
 * (problem_new + exact_strict)), at most FEWER_MOST of them. */
enum { FEWER_MOST = 8 };
int fewer_devices(const struct problem *p, double step_ms, struct fewer *out,
                  struct err *e) MUST_CHECK;

/* "13.7 ms on 8 of the 16 devices: --servers 0 --mesh 8". */
void fewer_write(const struct problem *p, const struct fewer *f, struct str *out);

#endif
