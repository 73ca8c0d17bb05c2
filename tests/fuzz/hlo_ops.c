/* Whatever loads must be answerable: factors, flows, partial results, costs and trip counts of
 * every instruction, with bindings that fit the shapes, and both ways to inline. */
#include "hlo/load.h"
#include "hlo/meaning/cost.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/flows.h"
#include "hlo/module/inline.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_factors(const struct hlo_module *m, hlo_id id, struct hlo_factors *f)
{
    struct err e;

    if (hlo_factors_of(m, id, f, &e))
        return;
    for (uint32_t i = 0; i < f->count; i++) {
        BUG_ON(f->items[i].size < 2 || f->items[i].kind > HLO_FACTOR_INSIDE);
        BUG_ON(f->items[i].kind == HLO_FACTOR_REDUCE && !f->items[i].combiner);
        for (uint32_t leaf = 0; leaf < f->leaf_count; leaf++) {
            int d = f->items[i].dims[leaf];
            const struct hlo_shape *s = hlo_value_shape(m, hlo_factors_value(m, id, leaf));
            BUG_ON(d >= s->rank || (d >= 0 && s->dims[d] < f->items[i].size));
        }
    }
}

/* Both ways to inline refuse the same and make the same of the rest. */
static void check_inlined(const struct hlo_module *m)
{
    struct hlo_module *named = NULL, *plain = NULL;
    struct err e;
    int code = hlo_inline_mapped(m, true, &named, NULL, &e);

    BUG_ON(hlo_inline_mapped(m, false, &plain, NULL, &e) != code);
    BUG_ON(!code && (plain->count != named->count || plain->value_count != named->value_count));
    for (hlo_id id = 0; !code && id < plain->count; id++) {
        const struct hlo_instruction *i = hlo_at(plain, id), *j = hlo_at(named, id);
        BUG_ON(plain->origin[id] != named->origin[id] || i->is_root != j->is_root);
        for (uint32_t n = 0; n < i->operand_count; n++)
            BUG_ON(hlo_operand(plain, id, n) != hlo_operand(named, id, n));
    }
    hlo_free(plain);
    hlo_free(named);
}

static void check_module(const struct hlo_module *m)
{
    struct hlo_factors f = {0};
    struct hlo_flows flows = {0};
    struct hlo_costs costs;
    struct err e;
    bool *is_free = mem_try(m->value_count + 1, sizeof *is_free);

    for (hlo_id id = 0; id < m->count; id++) {
        check_factors(m, id, &f);
        for (uint32_t leaf = 0; leaf < hlo_at(m, id)->operand_count; leaf++)
            (void)hlo_passes_partial(m, id, leaf, HLO_COMBINE_ADD);
        if (!hlo_flows_of(m, id, &flows, &e))
            for (size_t i = 0; i < flows.count; i++)
                BUG_ON(flows.items[i].from >= m->value_count ||
                       flows.items[i].to >= m->value_count);
    }
    if (is_free && hlo_free_values(m, is_free, &e))
        is_free[0] = false;
    if (!hlo_costs_new(m, &costs, &e))
        hlo_costs_release(&costs);
    free(is_free);
    check_inlined(m);
    hlo_factors_release(&f);
    hlo_flows_release(&flows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hlo_load_options options = {.max_bytes = 1 << 20, .module = 0};
    struct hlo_module *m;
    struct err e;

    if (hlo_load_memory("fuzz", data, size, &options, &m, &e))
        return 0;
    check_module(m);
    hlo_free(m);
    return 0;
}
