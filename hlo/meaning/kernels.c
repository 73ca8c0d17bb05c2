#include "hlo/meaning/kernels.h"

#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

#include <stdio.h>
#include <string.h>

double hlo_kernel_reach_on(const struct hlo_kernel *k, const char *device)
{
    double other = 0;

    for (uint32_t n = 0; n < k->reach_count; n++) {
        if (!k->reach[n].device[0])
            other = k->reach[n].part;
        else if (strstr(device, k->reach[n].device))
            return k->reach[n].part;
    }
    return other;
}

/* {{0}: (1, {})} or {{}: (0, {})}: entries {result}: (operand, {its part}). */
static int aliased_operand(const struct hlo_module *m, hlo_id id, uint32_t leaf)
{
    const struct hlo_attr *a = hlo_attr(m, id, HLO_ATTR_OUTPUT_TO_OPERAND_ALIASING);
    char text[1024], wanted[32];
    unsigned operand;
    int end = 0;

    if (!a || a->size >= sizeof text)
        return -1;
    snprintf(text, sizeof text, "%.*s", (int)a->size, a->text);
    if (hlo_shape(m, id)->type == HLO_TUPLE)
        snprintf(wanted, sizeof wanted, "{%u}: (", leaf);
    else
        snprintf(wanted, sizeof wanted, "{}: (");
    const char *at = strstr(text, wanted);
    if (!at || sscanf(at + strlen(wanted), "%u, {}%n", &operand, &end) != 1 || !end ||
        operand >= hlo_at(m, id)->operand_count ||
        hlo_shape(m, hlo_operand(m, id, operand))->type ==
            HLO_TUPLE) /* a part of one is no place */
        return -1;
    return (int)operand;
}

int hlo_kernel_place(const struct hlo_module *m, hlo_id id, uint32_t leaf)
{
    const struct hlo_kernel *k = hlo_kernel_of(m, id);

    if (hlo_at(m, id)->opcode != HLO_OP_CUSTOM_CALL)
        return -1;
    if (k && k->place && leaf < k->leaves - hlo_at(m, id)->operand_count && k->place[leaf] >= 0)
        return k->place[leaf];
    return aliased_operand(m, id, leaf);
}
