#include "engine/cost/overlap.h"

#include "engine/cluster/cluster.h"

struct overlap overlap_on(const struct cluster_group *g, double share)
{
    static const double SHOWN = 0.1, OF_GPU = 0.15;
    struct overlap o = {.hidden = share};

    if (share >= 0)
        return o;
    o.is_bounded = true;
    o.hidden = 1 - SHOWN - (g->link.kind == LINK_TORUS ? 0 : OF_GPU);
    return o;
}
