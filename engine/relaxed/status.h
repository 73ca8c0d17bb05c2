/* engine/relaxed/status.h - how a value may be distributed over the mesh, and what a change costs.
 *
 * A status says, for each mesh axis: whole on every device, split along one dim, or partial (each
 * device holds a part of a sum, or maximum, still to be combined). A space lists the statuses that
 * values of one shape can have, with the cheapest path between any two. Similar values share a
 * space.
 *
 * One step changes a set of axes T in the same way; local bytes as in collectives.h:
 *     split d -> whole      all-gather over T          whole -> split, whole -> partial   nothing
 *     split d -> split e    all-to-all over T          partial -> whole     all-reduce over T
 *     partial -> split d    reduce-scatter over T
 * A reshard is the cheapest walk of such steps; a hierarchical all-reduce is one such walk. A dim
 * split over several axes has its pieces in the mesh's order, the first axis outermost, and only
 * its innermost split can be gathered, moved or sliced off: where T is not innermost, a
 * collective-permute moves the pieces before or after. A dim has the share of its class where the
 * class may be split so (labels.h), so that a strict plan has the same pieces here; otherwise the
 * axes must divide the dim evenly. */
#ifndef AUTOMAP_ENGINE_RELAXED_STATUS_H
#define AUTOMAP_ENGINE_RELAXED_STATUS_H

#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

/* A byte per axis, axis 0 the lowest: STATUS_WHOLE, dim + 1, or STATUS_PARTIAL. */
typedef uint32_t status;
enum {
    STATUS_WHOLE = 0,
    STATUS_PARTIAL = 0xff,
    STATUS_UNKNOWN = -1,    /* as a status: not an array that takes part; as a place: not in the
                               space */
    STATUS_AXES_MOST = 3,   /* more axes make too many statuses */
    STATUS_COUNT_MOST = 512 /* of one space; if a shape has more, its last dims stay whole */
};

static inline unsigned status_on(status s, uint32_t axis)
{
    return s >> 8 * axis & 0xff;
}
static inline status status_with(status s, uint32_t axis, unsigned what)
{
    return (s & ~((status)0xff << 8 * axis)) | (status)what << 8 * axis;
}
/* Axes along which `s` is split along dim `dim`. */
label status_dim(status s, uint32_t axes, uint32_t dim);

enum reshard_kind {
    RESHARD_SLICE, /* whole -> split or partial: sends nothing */
    RESHARD_ALL_GATHER,
    RESHARD_ALL_TO_ALL,
    RESHARD_REDUCE_SCATTER,
    RESHARD_ALL_REDUCE,
    RESHARD_PERMUTE, /* moves pieces of a dim: the status stays */
    RESHARD_KIND_COUNT
};
extern const char *const reshard_kind_names[RESHARD_KIND_COUNT];

/* One step of a walk. */
struct reshard_step {
    uint8_t kind; /* enum reshard_kind */
    label over;   /* axes it changes */
    status from, to;
    label inner;  /* afterwards these axes are innermost in the dims they split; 0: mesh order */
    double bytes; /* local, as collectives.h counts them; a slice: those of its result */
    double ms;
};

struct status_space {
    uint32_t rank, count;
    bool can_be_partial;
    double bytes;      /* of the whole value */
    uint32_t statuses; /* into spaces->statuses: [count]; [0] is whole everywhere */
    uint32_t shares;   /* into spaces->shares: [rank][labels], < 0: cannot be split so */
    size_t walks;      /* into spaces->ms and ->next: [from][to] */
};

struct status_spaces {
    const struct labels *labels;
    const struct cluster_mesh *mesh;
    struct status_space *items;
    uint32_t count;
    status *statuses;
    double *shares, *ms;
    uint16_t *next; /* first status of the cheapest walk [from][to] */
    size_t room, status_count, status_room, share_count, share_room, walk_count, ms_room, next_room;
    struct slots slots; /* of items, by what they hold */
};

int status_spaces_new(const struct labels *l, const struct cluster_mesh *mesh,
                      struct status_spaces *out, struct err *e) MUST_CHECK;
void status_spaces_release(struct status_spaces *s);

/* Finds the space of value `v`, or makes it. O(rank x labels), a new one
 * O(statuses^3). */
int status_space_of(struct status_spaces *s, hlo_value v, bool can_be_partial, uint32_t *space,
                    struct err *e) MUST_CHECK;

/* Place of status `x` in the space; UINT32_MAX: not in it. O(statuses). */
uint32_t status_find(const struct status_spaces *s, uint32_t space, status x);

/* Cheapest change between two places of a space, ms of one execution. */
static inline double status_ms(const struct status_spaces *s, uint32_t space, uint32_t from,
                               uint32_t to)
{
    const struct status_space *i = &s->items[space];

    return s->ms[i->walks + (size_t)from * i->count + to];
}
/* Writes the steps of that change, slices included, at most `room`. Returns how many. */
uint32_t status_walk(const struct status_spaces *s, uint32_t space, uint32_t from, uint32_t to,
                     struct reshard_step *out, uint32_t room);
enum { RESHARD_STEPS_MOST = 48 };

/* Share of dim `dim` of size `size` in class `k` split over `over`; < 0: impossible. */
double status_dim_share(const struct labels *l, class_id k, int64_t size, label over);

/* "f32[32 512/x 768]": split dims with their axes, followed by "+x" if partial over x. Appended. */
void status_write(const struct hlo_shape *shape, const struct cluster_mesh *mesh, status x,
                  struct str *out);

/* Reads such a text for that shape at the start of the NUL-terminated `text`. Returns its length;
 * 0: no match. */
size_t status_read(const struct hlo_shape *shape, const struct cluster_mesh *mesh, const char *text,
                   status *out);

#endif
