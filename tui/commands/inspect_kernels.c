#include "tui/commands/inspect_kernels.h"

#include "engine/kernels/kernel_targets.h"

void inspect_kernels_page(const struct inspection *in, struct str *out)
{
    struct kernel_targets targets;

    kernel_targets(in->m, &in->costs, &targets);
    const struct kernel_target *unknown = kernel_largest_unknown(&targets);
    if (targets.count)
        str_add(out, "\nkernels\n");
    for (uint32_t k = 0; k < targets.count; k++) {
        const struct kernel_target *t = &targets.list[k];
        str_format(out, "  %6u  %5.1f %% of bytes  %-44.*s %s\n", t->count, 100 * t->share,
                   (int)(t->size < 80 ? t->size : 80), t->name,
                   t->unknown ? "no rule: runs whole, work unknown"
                   : t->rule  ? t->rule
                              : "known");
    }
    if (!unknown)
        return;
    str_add(out, "  a rule to start from, for --kernels FILE:\n\n");
    kernel_rule_write(in->m, unknown->first, out);
}

void inspect_kernels_json(const struct inspection *in, struct str *out)
{
    struct kernel_targets targets;

    kernel_targets(in->m, &in->costs, &targets);
    str_add(out, "  \"kernels\": [");
    for (uint32_t k = 0; k < targets.count; k++) {
        const struct kernel_target *t = &targets.list[k];
        str_add(out, k ? ",\n    {\"target\": \"" : "\n    {\"target\": \"");
        for (size_t n = 0; n < t->size; n++) {
            if ((unsigned char)t->name[n] >= ' ' && t->name[n] != '"' && t->name[n] != '\\')
                str_add_char(out, t->name[n]);
        }
        str_format(out, "\", \"count\": %u, \"unknown\": %u, \"bytes_share\": %.6f, \"rule\": ",
                   t->count, t->unknown, t->share);
        str_format(out, t->rule ? "\"%s\"}" : "null}", t->rule);
    }
    str_add(out, targets.count ? "\n  ],\n" : "],\n");
}
