#include "engine/kernels/kernel_targets.h"

#include "hlo/meaning/cost.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/attr.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/module/special.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <stdlib.h>
#include <string.h>

bool kernel_is_unknown(const struct hlo_module *m, hlo_id id)
{
    struct hlo_factors f = {0};
    struct err lost;

    if (hlo_at(m, id)->opcode != HLO_OP_CUSTOM_CALL || hlo_kernel_of(m, id) ||
        hlo_special_of(m, id) || hlo_is_flow(m, id) || hlo_is_manual_edge(m, id))
        return false;
    bool known = hlo_factors_of(m, id, &f, &lost) == 0 && f.count > 0;
    hlo_factors_release(&f);
    return !known;
}

static void write_pattern(const struct hlo_shape *s, uint32_t *letter, struct str *out)
{
    if (s->rank == 0)
        str_add(out, "1");
    for (uint32_t d = 0; d < s->rank; d++, ++*letter)
        str_format(out, "%s%c%s", d ? " " : "", 'a' + (char)(*letter % 26),
                   *letter < 26 ? "" : "2");
}

/* In single quotes of YAML, where a quote is two. */
static void write_quoted(const char *text, size_t size, struct str *out)
{
    char *shown = mem_alloc(size + 1);

    text_clean(shown, size + 1, text, size);
    str_add(out, "'");
    for (const char *at = shown; *at; at++)
        str_format(out, "%s%c", *at == '\'' ? "'" : "", *at);
    str_add(out, "'");
    free(shown);
}

void kernel_rule_write(const struct hlo_module *m, hlo_id id, struct str *out)
{
    size_t size = 0;
    const char *target = hlo_attr_string(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, &size);
    uint32_t letter = 0, operands = hlo_at(m, id)->operand_count;

    str_add(out, "kernels:\n  - target: ");
    write_quoted(target ? target : "", target ? size : 0, out);
    str_add(out, "\n    dims: '");
    for (uint32_t n = 0; n < operands; n++) {
        str_add(out, n ? ", " : "");
        write_pattern(hlo_shape(m, hlo_operand(m, id, n)), &letter, out);
    }
    str_add(out, " -> ");
    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        str_add(out, v > m->leaf_base[id] ? ", " : "");
        write_pattern(hlo_value_shape(m, v), &letter, out);
    }
    str_add(out, "'  # one name for dims that go together\n    flops: 0  # of sizes by name\n");
}

/* What its operands and results come to: never nothing. */
static double bytes_of(const struct hlo_module *m, hlo_id id)
{
    double bytes = 0;

    for (uint32_t k = 0; k < hlo_at(m, id)->operand_count; k++)
        bytes += (double)hlo_shape(m, hlo_operand(m, id, k))->bytes;
    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
        bytes += (double)hlo_value_shape(m, v)->bytes;
    return bytes;
}

static void count_kernel(const struct hlo_module *m, hlo_id id, double times,
                         struct kernel_targets *out)
{
    size_t size;
    const char *name = hlo_attr_string(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, &size);
    const struct hlo_kernel *rule = hlo_kernel_of(m, id);
    double flops = rule && rule->flops > 0 ? rule->flops * times : 0;
    double bytes = bytes_of(m, id) * times;
    bool unknown = kernel_is_unknown(m, id);
    uint32_t k = 0;

    out->work.flops += flops;
    out->work.bytes += rule || unknown ? bytes : 0;
    out->work.unknown += unknown;
    if (!name)
        return;
    while (k < out->count &&
           (out->list[k].size != size || memcmp(out->list[k].name, name, size) != 0))
        k++;
    if (k == KERNEL_TARGETS_MOST)
        return;
    struct kernel_target *t = &out->list[k];
    if (k == out->count) {
        *t = (struct kernel_target){.name = name, .size = size, .first = id};
        out->count++;
    }
    if (unknown && !t->unknown)
        t->first = id;
    t->count++;
    t->unknown += unknown;
    t->bytes += bytes;
    t->flops += flops;
    t->rule = rule ? rule->rule : t->rule;
}

void kernel_targets(const struct hlo_module *m, const struct hlo_costs *costs,
                    struct kernel_targets *out)
{
    double total = 0;

    *out = (struct kernel_targets){.count = 0};
    if (!m->opcode_count[HLO_OP_CUSTOM_CALL])
        return;
    for (hlo_id id = 0; id < m->count; id++) {
        double times = costs->times[id] > 0 ? costs->times[id] : 1;
        if (hlo_at(m, id)->opcode == HLO_OP_CUSTOM_CALL) {
            total += bytes_of(m, id) * times;
            count_kernel(m, id, times, out);
        } else if (costs->instruction[id].bytes > 0 &&
                   !hlo_cost_is_of_callees(hlo_at(m, id)->opcode)) {
            total += costs->instruction[id].bytes * costs->times[id];
        }
    }
    for (uint32_t k = 0; k < out->count; k++)
        out->list[k].share = total > 0 ? out->list[k].bytes / total : 0;
}

const struct kernel_target *kernel_largest_unknown(const struct kernel_targets *t)
{
    const struct kernel_target *found = NULL;

    for (uint32_t k = 0; k < t->count; k++) {
        if (t->list[k].unknown && (!found || t->list[k].share > found->share))
            found = &t->list[k];
    }
    return found;
}

void kernel_target_say(const struct kernel_target *t, struct str *out)
{
    char shown[61];

    text_clean(shown, sizeof shown, t->name, t->size);
    str_format(out,
               "kernel %s (%u) has no rule: it runs whole, its work is unknown (%.1f %% of bytes)",
               shown, t->unknown, 100 * t->share);
}
