/* engine/doctor/groups.h - which devices of a partitioned module talk to each other in a
 * collective.
 *
 * XLA prints them in three ways: {{0,1},{2,3}}, [2,2]<=[4]T(1,0), and
 * mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'b'}; collective-permute has pairs {{0,1},{1,0}}. */
#ifndef AUTOMAP_ENGINE_DOCTOR_GROUPS_H
#define AUTOMAP_ENGINE_DOCTOR_GROUPS_H

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct device_groups {
    uint32_t devices;     /* of the module */
    uint32_t size, count; /* devices of a group, groups; 0: not understood */
    uint32_t *member;     /* [count x size], group after group */
    bool is_shift;        /* pairs: all go one step, up or down the line */
    bool is_in_place;     /* pairs: nobody sends to another */
};

/* Of the collective `id`; `devices` >= 1 is the module's. What cannot be read gives size 0 and no
 * error. ERR_MEMORY. Free with device_groups_release. O(devices). */
int device_groups_of(const struct hlo_module *m, hlo_id id, uint32_t devices,
                     struct device_groups *out, struct err *e) MUST_CHECK;
/* Whether by this sharding's text the devices of each group hold the same part of a value; false
 * also where it is not understood. O(devices). */
bool device_groups_have_same(const struct device_groups *g, const char *sharding, size_t size);
/* Into how many parts this sharding's text cuts a value of `rank` dims; 1: none, or not understood.
 */
int64_t device_groups_tiles(const char *sharding, size_t size, uint32_t rank);
/* The same dim by dim; {replicated} is one part of each. False: not understood. */
bool device_groups_tile_dims(const char *sharding, size_t size, uint32_t rank, int64_t out[]);
void device_groups_release(struct device_groups *g);

/* What the collective takes on `c`, which has as many devices as the module; `bytes` as
 * collective_cost wants them. Groups at equal distances get the mesh they make; others are priced
 * as neighbours inside servers, or as one device a server. */
double device_groups_ms(const struct device_groups *g, const struct cluster *c,
                        enum collective_kind kind, double bytes);

#endif
