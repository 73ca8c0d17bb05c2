/* engine/cluster/mesh.h - the devices of a cluster as a mesh of axes.
 *
 * A mesh arranges all devices of a cluster, in linear order, row-major: the last axis varies
 * fastest, so it lies inside a server when possible. "16" is one axis over all (the paper's case),
 * "2x8" servers x devices, "4x4x2" a finer one; "data=2,model=8" names the axes.
 *
 * A set of axes is a bit mask, bit i for axis i. A collective over a set runs at the same time in
 * every group of devices that differ only in those axes. Its cost per byte depends on the set
 * alone, so it is computed here once for every set, from the actual places of the group's devices:
 * unequal servers, axes that lie half inside a server, and shared network cards need no special
 * case. Building costs O(2^axes devices). The formulas are in engine/cluster/collectives.h. */
#ifndef AUTOMAP_ENGINE_CLUSTER_MESH_H
#define AUTOMAP_ENGINE_CLUSTER_MESH_H

#include "engine/cluster/cluster.h"
#include "hlo/support/err.h"

enum { MESH_AXES_MOST = 6, MESH_SETS_MOST = 1 << MESH_AXES_MOST, MESH_NAME_ROOM = 16 };

enum mesh_place {
    MESH_INSIDE, /* every group along the axis lies inside one server */
    MESH_ACROSS, /* no two devices of a group share a server */
    MESH_BOTH,
};

struct mesh_axis {
    char name[MESH_NAME_ROOM]; /* x y z w u v unless named */
    uint32_t size;
    enum mesh_place place;
};

/* Figures of one set of axes. Times per byte are those of the slowest part of any group. */
struct mesh_span {
    uint32_t devices;      /* n: devices of one group */
    uint32_t inside;       /* g: most of them inside one server */
    uint32_t servers;      /* s: most servers one group touches */
    uint32_t cards_shared; /* D/g: most groups that share one server's network card */
    bool nccl;             /* latencies are NCCL's, by size */
    double latency_inside_ms, latency_across_ms; /* of one phase; 0 where the phase is absent */
    double gather_inside, gather_across;         /* ms per byte */
    double exchange_inside, exchange_across;     /* all-to-all, ms per byte */
    double shift_inside, shift_across;           /* collective-permute, ms per byte */
};

struct cluster_mesh {
    uint32_t axes, devices;
    struct mesh_axis axis[MESH_AXES_MOST];
    struct mesh_span span[MESH_SETS_MOST]; /* 2^axes of them; [0] is all zero, devices 1 */
};

/* The span of one group of adjacent devices, first .. end-1, that does not share network cards: a
 * pipeline stage. O(devices). */
void mesh_span_between(struct mesh_span *out, const struct cluster *c, uint32_t first,
                       uint32_t end);

/* The product of the sizes must be the cluster's number of devices; sizes >= 1. */
int mesh_parse(struct cluster_mesh *out, const struct cluster *c, const char *text,
               struct err *e) MUST_CHECK;

/* One axis over all devices: always possible. */
void mesh_one_axis(struct cluster_mesh *out, const struct cluster *c);

/* servers x devices when there are several equal servers of several devices, else one axis. */
void mesh_by_server(struct cluster_mesh *out, const struct cluster *c);

/* "4x8", and the names of a set of axes: "x", "xy", "data,model" ("-" for none). */
void mesh_format(const struct cluster_mesh *m, char *out, size_t room);
void mesh_set_format(const struct cluster_mesh *m, uint32_t set, char *out, size_t room);

#endif
