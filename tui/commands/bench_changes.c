#include "tui/commands/bench_changes.h"

#include "engine/cluster/cluster.h"
#include "engine/cost/fusion.h"
#include "engine/cost/traffic.h"
#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

const char *const bench_change_names[CHANGE_COUNT] = {
    [CHANGE_TRAFFIC] = "traffic by kernel",    [CHANGE_PRODUCT] = "products by shape",
    [CHANGE_SHARE] = "share of the bandwidth", [CHANGE_JOINED] = "joined sums",
    [CHANGE_LATENCY] = "latency by size",      [CHANGE_OVERLAP] = "overlap",
};

/* What clusters had before: 3/4 of the peaks and 0.9 of the bandwidth of the data sheet. */
#define GOOD_PRODUCT 0.75
#define COPY 0.9
#define BUS 200e9
#define PHASE_MS 0.01

/* These move what they touch, then and now. */
static bool touches_a_part(uint16_t opcode)
{
    return opcode == HLO_OP_SLICE || opcode == HLO_OP_DYNAMIC_SLICE ||
           opcode == HLO_OP_DYNAMIC_UPDATE_SLICE || opcode == HLO_OP_GATHER ||
           opcode == HLO_OP_SCATTER || opcode == HLO_OP_PAD;
}

static void count_stored_values(struct problem *p)
{
    const struct classes *c = &p->classes;

    for (hlo_id id = 0; id < p->m->count; id++) {
        if (touches_a_part(hlo_at(p->m, id)->opcode))
            continue;
        for (uint32_t leaf = 0; leaf < class_leaf_count(c, id); leaf++) {
            hlo_value v = hlo_factors_value(p->m, id, leaf);
            p->traffic.weight[c->leaf_base[id] + leaf] =
                p->fusion.is_stored[p->fusion.buffer[v]] ? 1 : 0;
        }
    }
}

static void take_back_figures(struct cluster *c, uint32_t made)
{
    for (uint32_t k = 0; k < c->types; k++) {
        struct cluster_device *d = &c->type[k];
        for (int t = 0; t < PEAK_COUNT && !(made & 1 << CHANGE_PRODUCT); t++)
            d->peak[t] *= GOOD_PRODUCT;
        if (!(made & 1 << CHANGE_PRODUCT))
            d->matmul = (struct cluster_matmul){0};
        if (!(made & 1 << CHANGE_SHARE))
            d->share = COPY;
    }
    for (uint32_t g = 0; g < c->groups && !(made & 1 << CHANGE_LATENCY); g++) {
        struct cluster_link *l = &c->group[g].link;
        l->nccl = false;
        l->latency_ms = PHASE_MS;
        l->bandwidth = l->bandwidth > BUS ? BUS : l->bandwidth;
    }
}

int bench_changes_take_back(struct problem *p, uint32_t made, struct err *e)
{
    struct cluster *c;
    int rc;

    if (made == CHANGE_ALL)
        return 0;
    c = mem_try(1, sizeof *c);
    if (!c)
        return err_no_memory(e, "for another cluster");
    *c = p->cluster;
    take_back_figures(c, made);
    if (!(made & 1 << CHANGE_TRAFFIC))
        count_stored_values(p);
    p->options.reduce_at_once |= !(made & 1 << CHANGE_JOINED);
    p->options.is_overlap_given = true; /* with the old products, too */
    p->options.overlap = made & 1 << CHANGE_OVERLAP ? OVERLAP_AUTO : 0;
    rc = problem_set_cluster(p, c, p->options.mesh, e);
    free(c);
    return rc;
}
