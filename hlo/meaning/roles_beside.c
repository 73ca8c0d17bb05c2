/* Scopes and FLOP need nothing but the module; what is made from products, and depth, nothing but
 * the graph: in a large one a second thread works them out while the first follows the data. */
#include "hlo/meaning/cost.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

static void *work_beside(void *context)
{
    struct hlo_roles_work *w = context;

    w->beside_code = hlo_scopes_init(&w->scopes, w->m)
                         ? hlo_flops_new(w->m, &w->flops, &w->beside_err)
                         : err_no_memory(&w->beside_err, "for the scopes of the module");
    return NULL;
}

void hlo_roles_beside_begin(struct hlo_roles_work *w)
{
    beside_begin(&w->beside, w->m->count >= HLO_ROLES_BESIDE_LEAST, work_beside, w);
}

int hlo_roles_beside_end(struct hlo_roles_work *w, struct err *e)
{
    beside_end(&w->beside);
    if (w->beside_code)
        *e = w->beside_err;
    return w->beside_code;
}

static void *close_made(void *context)
{
    struct hlo_roles_work *w = context;

    for (hlo_id id = 0; id < w->m->count; id++) {
        hlo_value v = w->m->leaf_base[id];
        if (v < w->m->leaf_base[id + 1] && hlo_work_is_heavy(w->g.opcode[v]))
            hlo_reach_add(&w->made, v);
    }
    hlo_reach_ahead(&w->made, &w->g, NULL, NULL);
    return NULL;
}

int hlo_roles_made_begin(struct hlo_roles_work *w, struct err *e)
{
    if (!hlo_reach_init(&w->made, &w->g))
        return err_no_memory(e, "for the roles of the parameters");
    beside_begin(&w->made_beside, w->m->count >= HLO_ROLES_BESIDE_LEAST, close_made, w);
    return 0;
}

void hlo_roles_made_end(struct hlo_roles_work *w)
{
    beside_end(&w->made_beside);
}

/* The longest path from a parameter, without the edges that lead back in loops. */
static void *measure_depth(void *context)
{
    struct hlo_roles_work *w = context;
    const struct hlo_graph *g = &w->g;

    for (uint32_t n = 0; w->depth && n < g->order_count; n++) {
        hlo_id id = g->order[n];
        uint32_t deepest = 0;
        for (hlo_value v = w->m->leaf_base[id]; v < w->m->leaf_base[id + 1]; v++) {
            for (uint32_t k = g->pred_first[v]; k < g->pred_first[v + 1]; k++) {
                hlo_id from = w->m->value_instruction[g->preds[k]];
                if (g->position[from] < n && w->depth[from] >= deepest)
                    deepest = w->depth[from] + 1;
            }
        }
        w->depth[id] = deepest;
    }
    return NULL;
}

void hlo_roles_depth_begin(struct hlo_roles_work *w)
{
    w->depth = mem_try(w->m->count, sizeof *w->depth);
    beside_begin(&w->depth_beside, w->m->count >= HLO_ROLES_BESIDE_LEAST, measure_depth, w);
}

const uint32_t *hlo_roles_depth_end(struct hlo_roles_work *w)
{
    beside_end(&w->depth_beside);
    return w->depth;
}
