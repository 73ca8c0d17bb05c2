#include "tui/commands/inspect_kernels.h"

#include "engine/kernels/kernel_rules.h"
#include "hlo/meaning/cost.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"

#include <string.h>

enum { TARGETS_MOST = 64 };

struct target {
    const char *name;
    size_t size;
    hlo_id first;
    uint32_t count, unknown;
    double bytes;
    const char *rule; /* who says what it does; NULL: nobody, or it is known without a rule */
};

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

static uint32_t list_targets(const struct inspection *in, struct target *list, double *total)
{
    const struct hlo_module *m = in->m;
    uint32_t count = 0;

    *total = 0;
    for (hlo_id id = 0; id < m->count; id++) {
        size_t size;
        const char *name = hlo_attr_string(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, &size);
        double bytes = in->costs.instruction[id].bytes * in->costs.times[id];
        uint32_t k = 0;
        if (hlo_at(m, id)->opcode != HLO_OP_CUSTOM_CALL) {
            if (bytes > 0 && !hlo_cost_is_of_callees(hlo_at(m, id)->opcode))
                *total += bytes;
            continue;
        }
        bytes = bytes_of(m, id) * (in->costs.times[id] > 0 ? in->costs.times[id] : 1);
        *total += bytes;
        if (!name)
            continue;
        while (k < count && (list[k].size != size || memcmp(list[k].name, name, size) != 0))
            k++;
        if (k == TARGETS_MOST)
            continue;
        if (k == count)
            list[count++] = (struct target){.name = name, .size = size, .first = id};
        const struct hlo_kernel *rule = hlo_kernel_of(m, id);
        bool unknown = kernel_is_unknown(m, id);
        if (unknown && !list[k].unknown)
            list[k].first = id;
        list[k].count++;
        list[k].unknown += unknown;
        list[k].bytes += bytes;
        list[k].rule = rule ? rule->rule : list[k].rule;
    }
    return count;
}

void inspect_kernels_page(const struct inspection *in, struct str *out)
{
    struct target list[TARGETS_MOST];
    double total;
    uint32_t count = list_targets(in, list, &total);
    const struct target *unknown = NULL;

    if (count)
        str_add(out, "\nkernels\n");
    for (uint32_t k = 0; k < count; k++) {
        const struct target *t = &list[k];
        str_format(out, "  %6u  %5.1f %% of bytes  %-44.*s %s\n", t->count,
                   total > 0 ? 100 * t->bytes / total : 0, (int)(t->size < 80 ? t->size : 80),
                   t->name,
                   t->unknown ? "no rule: runs whole, work unknown"
                   : t->rule  ? t->rule
                              : "known");
        if (t->unknown && (!unknown || t->bytes > unknown->bytes))
            unknown = t;
    }
    if (!unknown)
        return;
    str_add(out, "  a rule to start from, for --kernels FILE:\n\n");
    kernel_rule_write(in->m, unknown->first, out);
}

void inspect_kernels_json(const struct inspection *in, struct str *out)
{
    struct target list[TARGETS_MOST];
    double total;
    uint32_t count = list_targets(in, list, &total);

    str_add(out, "  \"kernels\": [");
    for (uint32_t k = 0; k < count; k++) {
        const struct target *t = &list[k];
        str_add(out, k ? ",\n    {\"target\": \"" : "\n    {\"target\": \"");
        for (size_t n = 0; n < t->size; n++) {
            if ((unsigned char)t->name[n] >= ' ' && t->name[n] != '"' && t->name[n] != '\\')
                str_add_char(out, t->name[n]);
        }
        str_format(out, "\", \"count\": %u, \"unknown\": %u, \"bytes_share\": %.6f, \"rule\": ",
                   t->count, t->unknown, total > 0 ? t->bytes / total : 0);
        str_format(out, t->rule ? "\"%s\"}" : "null}", t->rule);
    }
    str_add(out, count ? "\n  ],\n" : "],\n");
}
