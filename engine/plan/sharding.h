/* engine/plan/sharding.h - writes and reads shardings in the form of HLO text.
 *
 * Device numbers are places in the mesh, row-major (the last axis varies fastest). A dim split over
 * several axes takes them in the mesh's order, the first outermost. An axis that splits no dim
 * makes replicas, counted by the last tile dim, so that tiles x replicas is always the number of
 * devices (XLA refuses anything else). */
#ifndef AUTOMAP_ENGINE_PLAN_SHARDING_H
#define AUTOMAP_ENGINE_PLAN_SHARDING_H

#include "engine/cluster/mesh.h"
#include "engine/decide/labels.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"

enum sharding_form {
    SHARDING_V2, /* {devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate} */
    SHARDING_V1, /* {devices=[2,1,2]0,2,1,3 last_tile_dim_replicate} */
};

/* Appends the sharding of an array whose dim d is split over over[d]; {replicated} when none is.
 * Within each dim the axes of `inner` are innermost, whatever the mesh's order; 0: the mesh's
 * order, the only one that sharding_read accepts. */
void sharding_write_inner(const struct cluster_mesh *mesh, const label *over, label inner,
                          uint32_t rank, enum sharding_form form, struct str *out);
void sharding_write(const struct cluster_mesh *mesh, const label *over, uint32_t rank,
                    enum sharding_form form, struct str *out);

/* Reads one sharding of an array of `rank` dims in either form; over[d] receives the axes that dim
 * d is split over. Returns the bytes read; 0: not a sharding, or none that this mesh can make.
 * O(devices x axes). */
size_t sharding_read(const struct cluster_mesh *mesh, const char *text, size_t size, uint32_t rank,
                     label *over);

/* The same for what sharding_write_inner wrote: *inner receives the innermost axes, a mask of at
 * most `inner_most`. */
size_t sharding_read_inner(const struct cluster_mesh *mesh, const char *text, size_t size,
                           uint32_t rank, label inner_most, label *over, label *inner);

/* Where the sharding in `text` cuts the device numbers 0 .. devices - 1 into axes: steps between
 * neighbours along its tiles and its arrangement, in no order, some twice, some of no use (a dim
 * over two axes). Returns how many; 0: not a sharding of as many devices. O(devices). */
enum { SHARDING_CUTS_MOST = 3 * (HLO_RANK_MAX + 1) };
uint32_t sharding_cuts(const char *text, size_t size, uint32_t devices,
                       uint32_t cuts[static SHARDING_CUTS_MOST]);

#endif
