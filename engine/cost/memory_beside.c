#include "engine/cost/memory_beside.h"

#include "engine/cost/fusion.h"
#include "engine/cost/memory.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/mem.h"

struct list {
    struct memory_range *items;
    size_t room;
    uint32_t count;
    const struct memory_model *model;
};

/* What an instruction needs of operand `k` while it runs, besides the operand; STORED_COUNT:
 * nothing. */
static enum memory_storing needed_beside(const struct hlo_module *m, hlo_id id, uint32_t k)
{
    if (hlo_at(m, id)->opcode == HLO_OP_SELECT_AND_SCATTER && k == 0)
        return STORED_INDICES;
    return fusion_lays_out(m, id, k) ? STORED_LAID_OUT : STORED_COUNT;
}

/* Of `value`, while `id` runs. */
static bool add_value(struct list *l, hlo_id id, hlo_value value, enum memory_storing storing)
{
    uint32_t at = l->model->schedule.position[id];

    if (!mem_grow(&l->items, &l->room, l->count, 1))
        return false;
    l->items[l->count++] = (struct memory_range){.value = value,
                                                 .start = at,
                                                 .end = at,
                                                 .kind = MEMORY_ACTIVATIONS,
                                                 .storing = (uint8_t)storing,
                                                 .variable = UINT32_MAX,
                                                 .gradient = HLO_NONE};
    return true;
}

static bool find_beside(struct list *l, hlo_id id)
{
    const struct hlo_module *m = l->model->m;
    const struct hlo_kernel *kernel = hlo_kernel_of(m, id);
    bool ok = true;

    for (uint32_t k = 0; k < hlo_at(m, id)->operand_count && k < 2 && ok; k++) {
        enum memory_storing beside = needed_beside(m, id, k);
        ok =
            beside == STORED_COUNT || add_value(l, id, m->leaf_base[hlo_operand(m, id, k)], beside);
    }
    if (ok && kernel && kernel->workspace > 0 && m->leaf_base[id] < m->leaf_base[id + 1])
        ok = add_value(l, id, m->leaf_base[id], STORED_WORKSPACE);
    return ok;
}

bool memory_beside_find(const struct memory_model *model, struct memory_range **list,
                        uint32_t *count)
{
    struct list l = {.model = model};
    bool ok = true;

    for (hlo_id id = 0; id < model->m->count && ok; id++)
        ok = find_beside(&l, id);
    *list = l.items;
    *count = l.count;
    return ok;
}
