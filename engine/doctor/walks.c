/* Ways in steps, priced against what the partitioner does in their place. */
#include "engine/doctor/walks.h"

#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"

/* What the partitioner does in place of a way in steps: gather the value whole, one dim after the
 * other from the last, and cut it again. By the prices of the plan; 0 where parts of a sum are on
 * the way. */
static void price_whole(const struct problem *p, const struct relaxed_reshard *first,
                        struct walk *out)
{
    const struct cluster_mesh *mesh = &p->mesh;
    const struct hlo_shape *s = hlo_value_shape(p->m, first->value);
    double left = 1;

    for (uint32_t a = 0; a < mesh->axes; a++) {
        if (status_on(first->from, a) == STATUS_PARTIAL)
            return;
        left *= status_on(first->from, a) ? mesh->axis[a].size : 1;
    }
    for (uint32_t d = s->rank; d-- > 0;) {
        label over = status_dim(first->from, mesh->axes, d);
        if (!over)
            continue;
        left /= p->labels.parts[over];
        double bytes = (double)s->bytes / left;
        out->whole_ms += first->times * collective_ms(mesh, COLLECTIVE_ALL_GATHER, over, bytes);
        out->whole_count++;
    }
}

static bool same_way(const struct relaxed_reshard *a, const struct relaxed_reshard *b)
{
    return a->value == b->value && a->user == b->user && a->leaf == b->leaf &&
           a->becomes == b->becomes;
}

bool walk_at(const struct problem *p, const struct relaxed_plan *plan, uint32_t k, struct walk *out)
{
    const struct relaxed_reshard *a = &plan->reshards[k];

    *out = (struct walk){.count = 1, .ms = a->ms};
    for (; k + out->count < plan->reshard_count && same_way(a, &a[out->count]); out->count++)
        out->ms += a[out->count].ms;
    price_whole(p, a, out);
    return out->count > 1 && out->whole_ms > out->ms;
}
