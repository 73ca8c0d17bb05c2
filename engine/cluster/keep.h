/* engine/cluster/keep.h - a cluster without some of its servers: leaving devices idle can be the
 * better plan. */
#ifndef AUTOMAP_ENGINE_CLUSTER_KEEP_H
#define AUTOMAP_ENGINE_CLUSTER_KEEP_H

#include "engine/cluster/cluster.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdint.h>

/* Keeps the servers listed in `list`, "0-3,8", numbered from 0 in file order. Servers of a group
 * are equal, so only their number per group matters. On error (ERR_USAGE: no list, or no such
 * server) nothing changes. O(servers named). */
int cluster_keep(struct cluster *c, const char *list, struct err *e) MUST_CHECK;

/* Keeps the first `count[g]` servers of each group; at least one in all. */
void cluster_keep_first(struct cluster *c, const uint32_t *count);

/* Appends the list for cluster_keep that keeps count[g] servers of each group: "0-3,8". */
void cluster_keep_write(const struct cluster *c, const uint32_t *count, struct str *out);

#endif
