#include "engine/decide/partitioner.h"

#include "hlo/module/attr.h"
#include "hlo/module/ops.h"

/* Groups of several features each; one feature a group (depthwise) it splits. */
static bool has_wide_groups(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_attr *a = hlo_attr(m, id, HLO_ATTR_DIM_LABELS);
    struct hlo_conv_dims d;

    return hlo_attr_int(m, id, HLO_ATTR_FEATURE_GROUP_COUNT, 1) > 1 && a &&
           hlo_at(m, id)->operand_count > 1 && hlo_parse_conv_dims(a->text, a->size, &d) &&
           hlo_shape(m, hlo_operand(m, id, 1))->dims[d.kernel_in] > 1;
}

static bool is_factorisation(const struct hlo_module *m, hlo_id id)
{
    static const char *const targets[] = {"Eigh", "Qr", "ProductOfElementaryHouseholderReflectors"};

    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
        if (hlo_attr_is(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, targets[k]))
            return true;
    }
    return false;
}

static const struct {
    uint16_t opcode;
    bool (*applies)(const struct hlo_module *m, hlo_id id); /* NULL: to all of them */
    const char *why;
} rows[] = {
    {HLO_OP_FFT, NULL, "has no rule for fft"},
    {HLO_OP_TOPK, NULL, "has no rule for topk"},
    {HLO_OP_BATCH_NORM_TRAINING, NULL, "has no rule for batch-norm-training"},
    {HLO_OP_BATCH_NORM_GRAD, NULL, "has no rule for batch-norm-grad"},
    {HLO_OP_BATCH_NORM_INFERENCE, NULL, "has no rule for batch-norm-inference"},
    {HLO_OP_CONVOLUTION, has_wide_groups,
     "splits no convolution with groups of several features each"},
    {HLO_OP_CUSTOM_CALL, is_factorisation, "has no rule for calls that factorise matrices"},
};

bool partitioner_sums_everywhere(const struct hlo_module *m, hlo_id id)
{
    return hlo_at(m, id)->opcode == HLO_OP_CONVOLUTION &&
           hlo_attr_int(m, id, HLO_ATTR_BATCH_GROUP_COUNT, 1) > 1;
}

const char *partitioner_runs_whole(const struct hlo_module *m, hlo_id id)
{
    uint16_t opcode = hlo_at(m, id)->opcode;

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (rows[k].opcode == opcode && (!rows[k].applies || rows[k].applies(m, id)))
            return rows[k].why;
    }
    return NULL;
}
