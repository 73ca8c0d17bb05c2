/* engine/decide/labels.h - what a class may be split over on a mesh, and how large the pieces are.
 *
 * A label is a set of mesh axes (bit mask). The empty label means replicated. A label is admissible
 * for an allowed class when the product n of its axes is at most the class's smallest dim
 * (divisibility pad) or divides all of its dims (exact), and divides its group counts.
 * share = max over the class's dims of ceil(size / n) / size: with pad the coarsest dim decides.
 *
 * One class, the batch, may have another size than in the module and be cut into micro-batches. Its
 * sizes are then those of one micro-batch; its shares still refer to the module's size: ceil(size x
 * grown / k / n) / size. */
#ifndef AUTOMAP_ENGINE_DECIDE_LABELS_H
#define AUTOMAP_ENGINE_DECIDE_LABELS_H

#include "engine/cluster/mesh.h"
#include "engine/decide/classes.h"
#include "hlo/support/err.h"

typedef uint8_t label; /* set of axes; MESH_AXES_MOST <= 8 */

struct labels {
    const struct classes *classes;
    uint32_t axes, count;           /* count = 2^axes labels */
    uint32_t parts[MESH_SETS_MOST]; /* product of the axes of each label */
    uint64_t *admissible;           /* [classes->count] bit l: label l is admissible; bit 0
                                       always */
    uint32_t *kind;                 /* [classes->count] classes of one kind have equal shares */
    double *share;                  /* [kind_count][count] */
    uint32_t kind_count;
    class_id cut;     /* class that is cut into micro-batches, or CLASS_NONE */
    uint32_t cuts;    /* how many; divides all its sizes. 1: not cut */
    int64_t size, of; /* its sizes are size / of times those of the module; `of` divides them */
};

/* The batch: size / of times as large as in the module, in `cuts` micro-batches. */
struct label_cut {
    class_id class; /* CLASS_NONE: none */
    uint32_t cuts;
    int64_t size, of;
};
int labels_new(const struct classes *c, const struct cluster_mesh *mesh, bool exact,
               const struct label_cut *cut, struct labels *out, struct err *e) MUST_CHECK;
void labels_release(struct labels *l);

static inline double label_share(const struct labels *l, class_id k, label a)
{
    return l->share[(size_t)l->kind[k] * l->count + a];
}
static inline bool label_is_admissible(const struct labels *l, class_id k, label a)
{
    return l->admissible[k] >> a & 1;
}
/* True if a label other than the empty one is admissible. */
static inline bool label_is_splittable(const struct labels *l, class_id k)
{
    return l->admissible[k] > 1;
}
/* How many micro-batches the dims of class `k` are cut into. */
static inline uint32_t label_cuts(const struct labels *l, class_id k)
{
    return k == l->cut && k != CLASS_NONE ? l->cuts : 1;
}
/* Size of a dim of class `k` within one micro-batch. */
static inline int64_t label_size(const struct labels *l, class_id k, int64_t size)
{
    return k == l->cut && k != CLASS_NONE ? size / l->of * l->size / l->cuts : size;
}
/* True when the split needs padding: some dim of the class is not divided evenly. */
static inline bool label_pads(const struct labels *l, class_id k, label a)
{
    return label_size(l, k, l->classes->info[k].divisor) % l->parts[a] != 0;
}
/* Share of a dim of `size` in class `k` (or CLASS_NONE) that one device works on at a time. */
static inline double label_part(const struct labels *l, class_id k, label a, int64_t size)
{
    int64_t cut = label_size(l, k, size), parts = l->parts[a];

    return size > 0 ? (double)((cut + parts - 1) / parts) / (double)size : 1;
}

#endif
