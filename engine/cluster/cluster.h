/* engine/cluster/cluster.h - the machines a plan is for: device types, servers, links, network.
 *
 * Read from YAML (the format is in engine/cluster/README.md), or built from default devices. A
 * cluster is a plain value without pointers: copy it by assignment, then change the copy
 * (cluster_set) for a what-if. Devices are numbered 0 .. devices-1, server by server in file order;
 * meshes and pipeline cuts use this order.
 *
 * Units: bytes (1 GB = 10^9), bytes per second, operations per second, milliseconds. Every figure
 * of a valid cluster is finite and positive; latencies and launch overheads may be 0. */
#ifndef AUTOMAP_ENGINE_CLUSTER_CLUSTER_H
#define AUTOMAP_ENGINE_CLUSTER_CLUSTER_H

#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stddef.h>
#include <stdint.h>

enum {
    CLUSTER_NAME_ROOM = 48,
    CLUSTER_ABOUT_ROOM = 200,
    CLUSTER_TYPES_MOST = 16,
    CLUSTER_GROUPS_MOST = 64, /* entries of `servers:` */
    CLUSTER_SERVERS_MOST = 4096,
    CLUSTER_DEVICES_MOST = 65536,
    CLUSTER_SHAPE_MOST = 3,        /* dimensions of a torus */
    CLUSTER_FILE_MOST = 256 * 1024 /* bytes of a cluster file */
};

/* The number formats a device has a peak for. */
enum peak_type { PEAK_F32, PEAK_F64, PEAK_BF16, PEAK_F16, PEAK_F8, PEAK_S8, PEAK_COUNT };

/* How a device runs matrix products (engine/cost/product.h). With it, peaks are those of the data
 * sheet; without it, what a good large product reaches. */
struct cluster_matmul {
    uint32_t units; /* work on one tile each (streaming multiprocessors); 0: not given */
    uint32_t array; /* side of its systolic arrays, instead of units; 0: not given */
    double reach;   /* share of the peak that a product without waste reaches; 0: not given */
};

struct cluster_device {
    char name[CLUSTER_NAME_ROOM];
    double memory_bytes;
    double bandwidth; /* of its memory, bytes per second */
    double share;     /* share of it that kernels reach; 0: all of it */
    struct cluster_matmul matmul;
    double launch_ms;        /* overhead of one heavy operation */
    double peak[PEAK_COUNT]; /* operations per second; 0: not given, see cluster_peak */
};

enum link_kind { LINK_RING, LINK_SWITCH, LINK_TORUS, LINK_KIND_COUNT };

/* The link between the devices of one server. `bandwidth` is what one device sends over all its
 * links together while it receives as much; `latency_ms` is the latency of one phase of a
 * collective. */
struct cluster_link {
    char name[CLUSTER_NAME_ROOM]; /* "NVLink"; "" when the file gives none */
    enum link_kind kind;
    bool nccl;        /* NCCL's latencies, by size (collectives.h), replace latency_ms */
    double bandwidth; /* bytes per second; 0: no link, the server has one device */
    double latency_ms;
    uint32_t rank, shape[CLUSTER_SHAPE_MOST]; /* torus: sizes, product = devices; else rank 0 */
};

/* What a server has besides its devices: cores that can compute too, in host memory. */
struct cluster_host {
    uint32_t cores;   /* that can run operators; 0: none, and the link alone counts */
    double peak;      /* of one core, f32 operations per second */
    double bandwidth; /* of host memory, as one core reaches it, bytes per second */
    double link;      /* between a device and host memory, bytes per second each way; 0: no host */
};

struct cluster_group { /* `count` equal servers */
    uint32_t count;
    uint32_t devices; /* in each */
    uint32_t type;    /* index into cluster.type */
    double network;   /* bytes per second of its network card; 0: the cluster's */
    struct cluster_link link;
    struct cluster_host host; /* cores of device placement; the link of offloads and callbacks */
    uint32_t skipped;         /* servers of the file before it that cluster_keep left out */
    bool is_cut;              /* the file has more devices in each */
};

struct cluster {
    char name[CLUSTER_NAME_ROOM];
    char about[CLUSTER_ABOUT_ROOM];
    uint32_t types, groups;
    struct cluster_device type[CLUSTER_TYPES_MOST];
    struct cluster_group group[CLUSTER_GROUPS_MOST];
    double network;            /* bytes per second between servers, each way, of one server */
    double network_latency_ms; /* of one phase of a collective between servers */
    uint32_t servers, devices; /* totals, kept up to date by every function here */
};

/* Reads a cluster from YAML text. On error `out` is untouched and `e` has line and column (the
 * caller adds the file name). Work and memory are bounded by CLUSTER_FILE_MOST. */
int cluster_read(struct cluster *out, const char *yaml, size_t size, struct err *e) MUST_CHECK;

/* As cluster_read, from a file; without `name:` the cluster is named after the file. */
int cluster_load(struct cluster *out, const char *path, struct err *e) MUST_CHECK;

/* N default devices on one link: a V100 with 16 GB and NVLink at 130 GB/s, the figures of
 * examples/clusters/v100-1x4.yaml. cluster_default, used when none is named, is 4 of them. */
int cluster_of_devices(struct cluster *out, uint32_t n, struct err *e) MUST_CHECK;
void cluster_default(struct cluster *out);

/* Sets one figure by its key path in the file, from text as the file would have it:
 *     network.bandwidth 100 Gbit/s      devices.v100.memory 32 GB
 *     devices.*.peak.f16 90 TFLOP/s     servers.0.count 8       servers.*.link.bandwidth 900 GB/s
 * Devices by name, servers by number from 0 in file order, `*` = all. On error nothing changes. */
int cluster_set(struct cluster *c, const char *path, const char *value, struct err *e) MUST_CHECK;
/* The same from "PATH=VALUE", which errors name. */
int cluster_set_text(struct cluster *c, const char *setting, struct err *e) MUST_CHECK;

/* Appends YAML from which cluster_read makes the same cluster, up to rounding below one unit. */
void cluster_write(const struct cluster *c, struct str *out);

/* Server, and group of servers, of a device (device < c->devices). O(groups). */
uint32_t cluster_server_of(const struct cluster *c, uint32_t device);
uint32_t cluster_group_of(const struct cluster *c, uint32_t device);
const struct cluster_device *cluster_type_of(const struct cluster *c, uint32_t device);

/* Network card of a group's servers, bytes per second. */
double cluster_network_of(const struct cluster *c, uint32_t group);

/* The worst of every figure: a plan that treats all devices alike must fit this device. With one
 * device type it is that type. */
struct cluster_device cluster_weakest(const struct cluster *c);

/* Memory bandwidth that kernels reach on a device, bytes per second. */
static inline double cluster_bandwidth(const struct cluster_device *d)
{
    return d->share > 0 ? d->bandwidth * d->share : d->bandwidth;
}

/* What a copy reaches of a data sheet's bandwidth (tests/ref/reality/a100-8x8.yaml). */
#define CLUSTER_COPY_SHARE 0.9
/* The same for a few long streams that are read and written once. */
static inline double cluster_stream_bandwidth(const struct cluster_device *d)
{
    double share = d->share > CLUSTER_COPY_SHARE ? d->share : CLUSTER_COPY_SHARE;

    return d->share > 0 ? d->bandwidth * share : d->bandwidth;
}

/* Peak for a number format; one that the file does not give comes from a related format: f16 and
 * bf16 from each other, then f32; f8 from f16, s8 from f8, f64 half of f32. Always > 0. */
double cluster_peak(const struct cluster_device *d, enum peak_type t);

/* The format that bounds arithmetic on an HLO element type: floats by their size, integers of up to
 * 8 bits as s8, everything else as f32. */
enum peak_type cluster_peak_type(enum hlo_type t);
const char *cluster_peak_name(enum peak_type t);
const char *cluster_link_kind_name(enum link_kind k);

/* Equal for clusters with the same costs, whatever their names and grouping of servers;
 * stable across runs and versions. */
uint64_t cluster_fingerprint(const struct cluster *c);

/* "32 x 16 GB" and "25.0 Gbit/s" or "NVLink": the two lines by which a screen names a cluster. */
void cluster_label(const struct cluster *c, char *out, size_t room);
void cluster_label_link(const struct cluster *c, char *out, size_t room);

#endif
