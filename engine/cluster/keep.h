/* engine/cluster/keep.h - a cluster without some of its servers: leaving devices idle can be the
 * better plan. */
#ifndef AUTOMAP_ENGINE_CLUSTER_KEEP_H
#define AUTOMAP_ENGINE_CLUSTER_KEEP_H

#include "engine/cluster/cluster.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdint.h>

/* What stays of a group: the first `servers` of it, with `devices` each; 0 devices: all of them. */
struct cluster_kept {
    uint32_t servers, devices;
};

/* Keeps the servers listed in `list`, numbered from 0 in file order: "0-3,8" whole ones, "0-1:4"
 * four devices of each. Servers of a group are equal, so only their number per group matters, and
 * all that stay of it keep the same number of devices. On error (ERR_USAGE: no list, no such
 * server, more devices than it has, or a part of a torus) nothing changes. O(servers named). */
int cluster_keep(struct cluster *c, const char *list, struct err *e) MUST_CHECK;

/* Keeps kept[g] of each group; at least one server in all. */
void cluster_keep_first(struct cluster *c, const struct cluster_kept *kept);

/* Appends the list for cluster_keep that keeps kept[g] of each group, with the numbers that servers
 * have in the file though some were left out before: "0-3,8:4". */
void cluster_keep_write(const struct cluster *c, const struct cluster_kept *kept, struct str *out);

#endif
