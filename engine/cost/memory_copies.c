#include "engine/cost/memory_copies.h"

#include "engine/cost/fusion.h"
#include "engine/cost/memory.h"
#include "engine/cost/training.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/mem.h"

#include <string.h>

enum {
    AT_ONCE = 64,
    COPIES_MOST = 1 << 14,
    READERS_MOST = 256
}; /* variables at a time; looked at; readers of one */

/* Bit k of needed[id]: the next value of variable first + k, or an operand it has, needs `id`.
 * Users come later in the module. */
static void find_needed(const struct memory_model *model, const uint32_t *updates, uint32_t first,
                        uint32_t count, uint64_t *needed)
{
    const struct hlo_module *m = model->m;
    const struct hlo_computation *entry = &m->computations[m->entry];

    memset(needed, 0, m->count * sizeof *needed);
    for (uint32_t k = 0; k < count; k++) {
        if (updates[first + k] != HLO_NONE)
            needed[updates[first + k]] |= (uint64_t)1 << k;
    }
    for (hlo_id id = entry->first + entry->count; id-- > entry->first;) {
        for (uint32_t k = 0; k < hlo_at(m, id)->operand_count && needed[id]; k++)
            needed[hlo_operand(m, id, k)] |= needed[id];
    }
}

/* Some kernel that reads variable leaf `v` is not among what `bit` of needed says. What a fused
 * value reads is read by its users. */
static bool is_read_besides(const struct memory_model *model, hlo_value v, const uint64_t *needed,
                            uint64_t bit, uint32_t *looked)
{
    const struct hlo_module *m = model->m;
    hlo_id id = m->value_instruction[v];

    for (uint32_t k = 0; k < hlo_at(m, id)->user_count; k++) {
        hlo_id user = hlo_user(m, id, k);
        if (++*looked > READERS_MOST ||
            (!(needed[user] & bit) && hlo_at(m, user)->opcode != HLO_OP_TUPLE))
            return true;
        hlo_value own = m->leaf_base[user];
        bool fused = own + 1 == m->leaf_base[user + 1] &&
                     !model->fusion->is_stored[model->fusion->buffer[own]];
        if (fused && is_read_besides(model, own, needed, bit, looked))
            return true;
    }
    return false;
}

bool memory_copies_find(const struct memory_model *model, const uint8_t *is_placed, uint32_t **list,
                        uint32_t *count)
{
    const struct hlo_module *m = model->m;
    const struct hlo_roles *roles = model->training->roles;
    uint32_t *updates = mem_try(roles->param_count, sizeof *updates);
    uint64_t *needed = mem_try(m->count, sizeof *needed);

    *list = mem_try(roles->param_count, sizeof **list);
    *count = 0;
    bool ok = updates && needed && *list;
    for (uint32_t k = 0; k < roles->param_count && ok; k++) {
        const struct hlo_param_role *p = &roles->params[k];
        bool placed = p->role == HLO_ROLE_VARIABLE && p->updated != HLO_NONE &&
                      is_placed[model->fusion->buffer[p->updated]];
        updates[k] = placed ? m->value_instruction[model->fusion->buffer[p->updated]] : HLO_NONE;
    }
    for (uint32_t first = 0; first < roles->param_count && first < COPIES_MOST && ok;
         first += AT_ONCE) {
        uint32_t some = roles->param_count - first < AT_ONCE ? roles->param_count - first : AT_ONCE;
        find_needed(model, updates, first, some, needed);
        for (uint32_t k = 0; k < some; k++) {
            uint32_t looked = 0;
            if (updates[first + k] != HLO_NONE &&
                is_read_besides(model, roles->params[first + k].value, needed, (uint64_t)1 << k,
                                &looked))
                (*list)[(*count)++] = first + k;
        }
    }
    free(updates);
    free(needed);
    return ok;
}
