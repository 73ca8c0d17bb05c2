#include "tui/commands/inspect_kernels.h"

#include "engine/kernels/kernel_targets.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <stdlib.h>

void inspect_kernels_page(const struct inspection *in, struct str *out)
{
    const struct kernel_targets *targets = &in->kernels;
    const struct kernel_target *unknown = kernel_largest_unknown(targets);

    if (targets->count)
        str_add(out, "\nkernels\n");
    for (uint32_t k = 0; k < targets->count; k++) {
        const struct kernel_target *t = &targets->list[k];
        char shown[81];
        text_clean(shown, sizeof shown, t->name, t->size);
        str_format(out, "  %6u  %5.1f %% of bytes  %-44s %s\n", t->count, 100 * t->share, shown,
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
    const struct kernel_targets *targets = &in->kernels;

    str_add(out, "  \"kernels\": [");
    for (uint32_t k = 0; k < targets->count; k++) {
        const struct kernel_target *t = &targets->list[k];
        str_add(out, k ? ",\n    {\"target\": \"" : "\n    {\"target\": \"");
        char *shown = mem_alloc(t->size + 1);
        text_clean(shown, t->size + 1, t->name, t->size);
        for (const char *at = shown; *at; at++) {
            if (*at != '"' && *at != '\\')
                str_add_char(out, *at);
        }
        free(shown);
        str_format(out, "\", \"count\": %u, \"unknown\": %u, \"flops\": ", t->count, t->unknown);
        str_format(out, t->unknown < t->count ? "%.17g" : "null", t->flops);
        str_format(out, ", \"bytes\": %.17g, \"bytes_share\": %.6f, \"rule\": ", t->bytes,
                   t->share);
        str_format(out, t->rule ? "\"%s\"}" : "null}", t->rule);
    }
    str_add(out, targets->count ? "\n  ],\n" : "],\n");
}
