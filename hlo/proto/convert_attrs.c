/* Which attribute of which opcode lives in which field: the table. A row is found by key and
 * opcode; its field by the path through sub-messages. Rules of printing are XLA's (what it leaves
 * out is left out), read off its output for every opcode. */
#include "hlo/module/attr.h"
#include "hlo/module/ops.h"
#include "hlo/proto/convert.h"
#include "hlo/proto/convert_kind.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- the table ---- */

#define ON(name, ...) static const uint8_t name[] = {__VA_ARGS__, 255}
ON(on_parameter, HLO_OP_PARAMETER);
ON(on_dims, HLO_OP_BROADCAST, HLO_OP_TRANSPOSE, HLO_OP_REVERSE, HLO_OP_CONCATENATE, HLO_OP_REDUCE,
   HLO_OP_SORT, HLO_OP_MAP, HLO_OP_ALL_GATHER, HLO_OP_ALL_GATHER_START, HLO_OP_REDUCE_SCATTER,
   HLO_OP_GET_DIMENSION_SIZE, HLO_OP_SET_DIMENSION_SIZE, HLO_OP_SCAN);
ON(on_all_to_all, HLO_OP_ALL_TO_ALL, HLO_OP_RAGGED_ALL_TO_ALL);
ON(on_iota, HLO_OP_IOTA);
ON(on_reshape, HLO_OP_RESHAPE, HLO_OP_DYNAMIC_RESHAPE);
ON(on_slice, HLO_OP_SLICE);
ON(on_dynamic_slice, HLO_OP_DYNAMIC_SLICE);
ON(on_pad, HLO_OP_PAD);
ON(on_dot, HLO_OP_DOT, HLO_OP_SCALED_DOT);
ON(on_ragged_dot, HLO_OP_RAGGED_DOT);
ON(on_window, HLO_OP_CONVOLUTION, HLO_OP_REDUCE_WINDOW, HLO_OP_SELECT_AND_SCATTER,
   HLO_OP_CUSTOM_CALL);
ON(on_conv, HLO_OP_CONVOLUTION);
ON(on_custom_call, HLO_OP_CUSTOM_CALL);
ON(on_precision, HLO_OP_DOT, HLO_OP_SCALED_DOT, HLO_OP_RAGGED_DOT, HLO_OP_CONVOLUTION,
   HLO_OP_CUSTOM_CALL);
ON(on_scan, HLO_OP_SCAN);
ON(on_topk, HLO_OP_TOPK);
ON(on_stable, HLO_OP_SORT, HLO_OP_TOPK);
ON(on_compare, HLO_OP_COMPARE);
ON(on_call, HLO_OP_CALL);
ON(on_fusion, HLO_OP_FUSION);
ON(on_gather, HLO_OP_GATHER);
ON(on_scatter, HLO_OP_SCATTER);
ON(on_batch_norm, HLO_OP_BATCH_NORM_GRAD, HLO_OP_BATCH_NORM_INFERENCE, HLO_OP_BATCH_NORM_TRAINING);
ON(on_groups, HLO_OP_ALL_GATHER, HLO_OP_ALL_GATHER_START, HLO_OP_ALL_REDUCE,
   HLO_OP_ALL_REDUCE_START, HLO_OP_REDUCE_SCATTER, HLO_OP_ALL_TO_ALL, HLO_OP_RAGGED_ALL_TO_ALL,
   HLO_OP_COLLECTIVE_BROADCAST);
ON(on_permute, HLO_OP_COLLECTIVE_PERMUTE, HLO_OP_COLLECTIVE_PERMUTE_START);
ON(on_copy_start, HLO_OP_COPY_START);
ON(on_infeed, HLO_OP_INFEED);
ON(on_outfeed, HLO_OP_OUTFEED);
ON(on_rng, HLO_OP_RNG);
ON(on_rng_bits, HLO_OP_RNG_BIT_GENERATOR);
ON(on_rng_state, HLO_OP_RNG_GET_AND_UPDATE_STATE);
ON(on_reduce_precision, HLO_OP_REDUCE_PRECISION);
ON(on_fft, HLO_OP_FFT);
ON(on_triangular, HLO_OP_TRIANGULAR_SOLVE);
ON(on_cholesky, HLO_OP_CHOLESKY);
ON(on_domain, HLO_OP_DOMAIN);
ON(on_constrained, HLO_OP_ALL_GATHER, HLO_OP_ALL_GATHER_START, HLO_OP_ALL_REDUCE,
   HLO_OP_ALL_REDUCE_START, HLO_OP_REDUCE_SCATTER, HLO_OP_ALL_TO_ALL, HLO_OP_RAGGED_ALL_TO_ALL,
   HLO_OP_COLLECTIVE_BROADCAST, HLO_OP_COLLECTIVE_PERMUTE, HLO_OP_COLLECTIVE_PERMUTE_START);

#define A(key) HLO_ATTR_##key
static const struct convert_row rows[] = {
    {A(PARAMETER_REPLICATION), SET, &hlo_kind_bools,
     "parameter_replication.replicated_at_leaf_buffers", NULL, on_parameter},
    {A(DIMENSIONS), ALWAYS, &hlo_kind_ints, "dimensions", NULL, on_dims},
    {A(DIMENSIONS), SET, &hlo_kind_ints, "dimensions", NULL, on_all_to_all},
    {A(IOTA_DIMENSION), ALWAYS, &hlo_kind_first, "dimensions", NULL, on_iota},
    {A(INFERRED_DIMENSION), SET, &hlo_kind_first, "dimensions", NULL, on_reshape},
    {A(SLICE), ALWAYS, &hlo_kind_slices, "slice_dimensions", NULL, on_slice},
    {A(DYNAMIC_SLICE_SIZES), ALWAYS, &hlo_kind_ints, "dynamic_slice_sizes", NULL, on_dynamic_slice},
    {A(PADDING), ALWAYS, &hlo_kind_padding, "padding_config", NULL, on_pad},
    {A(LHS_BATCH_DIMS), SET, &hlo_kind_ints, "dot_dimension_numbers.lhs_batch_dimensions", NULL,
     on_dot},
    {A(LHS_CONTRACTING_DIMS), ALWAYS, &hlo_kind_ints,
     "dot_dimension_numbers.lhs_contracting_dimensions", NULL, on_dot},
    {A(RHS_BATCH_DIMS), SET, &hlo_kind_ints, "dot_dimension_numbers.rhs_batch_dimensions", NULL,
     on_dot},
    {A(RHS_CONTRACTING_DIMS), ALWAYS, &hlo_kind_ints,
     "dot_dimension_numbers.rhs_contracting_dimensions", NULL, on_dot},
    {A(LHS_BATCH_DIMS), SET, &hlo_kind_ints,
     "ragged_dot_dimension_numbers.dot_dimension_numbers.lhs_batch_dimensions", NULL,
     on_ragged_dot},
    {A(LHS_CONTRACTING_DIMS), ALWAYS, &hlo_kind_ints,
     "ragged_dot_dimension_numbers.dot_dimension_numbers.lhs_contracting_dimensions", NULL,
     on_ragged_dot},
    {A(RHS_BATCH_DIMS), SET, &hlo_kind_ints,
     "ragged_dot_dimension_numbers.dot_dimension_numbers.rhs_batch_dimensions", NULL,
     on_ragged_dot},
    {A(RHS_CONTRACTING_DIMS), ALWAYS, &hlo_kind_ints,
     "ragged_dot_dimension_numbers.dot_dimension_numbers.rhs_contracting_dimensions", NULL,
     on_ragged_dot},
    {A(LHS_RAGGED_DIMS), ALWAYS, &hlo_kind_ints,
     "ragged_dot_dimension_numbers.lhs_ragged_dimensions", NULL, on_ragged_dot},
    {A(RHS_GROUP_DIMS), SET, &hlo_kind_ints, "ragged_dot_dimension_numbers.rhs_group_dimensions",
     NULL, on_ragged_dot},
    {A(WINDOW), SET, &hlo_kind_window, NULL, NULL, on_window},
    {A(DIM_LABELS), SET, &hlo_kind_labels, NULL, NULL, on_window},
    {A(FEATURE_GROUP_COUNT), NOT_ONE, &hlo_kind_integer, "feature_group_count", NULL, on_window},
    {A(BATCH_GROUP_COUNT), NOT_ONE, &hlo_kind_integer, "batch_group_count", NULL, on_window},
    {A(CONVOLUTION_KIND), SET, &hlo_kind_word, "conv_kind", "CONVOLUTION_KIND_", on_conv},
    {A(OPERAND_PRECISION), SET, &hlo_kind_words, "precision_config.operand_precision", "",
     on_precision},
    {A(ALGORITHM), SET, &hlo_kind_word, "precision_config.algorithm", "ALG_", on_precision},
    {A(PADDING_TYPE), SET, &hlo_kind_word, "padding_type", NULL, on_custom_call},
    {A(NUM_CARRIES), ALWAYS, &hlo_kind_integer, "num_carries", NULL, on_scan},
    {A(IS_REVERSE), SET, &hlo_kind_boolean, "is_reverse", NULL, on_scan},
    {A(IS_ASSOCIATIVE), SET, &hlo_kind_tristate, "is_associative", NULL, on_scan},
    {A(K), ALWAYS, &hlo_kind_integer, "k", NULL, on_topk},
    {A(LARGEST), ALWAYS, &hlo_kind_boolean, "largest", NULL, on_topk},
    {A(IS_STABLE), SET, &hlo_kind_boolean, "is_stable", NULL, on_stable},
    {A(DIRECTION), SET, &hlo_kind_plain, "comparison_direction", NULL, on_compare},
    {A(TYPE), SET, &hlo_kind_comparison, NULL, NULL, on_compare},
    {A(TYPE), NEVER, &hlo_kind_plain, "comparison_type", NULL, on_compare},
    {A(ORDER), SET, &hlo_kind_plain, "comparison_order", NULL, on_compare},
    {A(IS_COMPOSITE), SET, &hlo_kind_boolean, "is_composite", NULL, on_call},
    {A(KIND), SET, &hlo_kind_plain, "fusion_kind", NULL, on_fusion},
    {A(OFFSET_DIMS), ALWAYS, &hlo_kind_ints, "gather_dimension_numbers.offset_dims", NULL,
     on_gather},
    {A(COLLAPSED_SLICE_DIMS), ALWAYS, &hlo_kind_ints,
     "gather_dimension_numbers.collapsed_slice_dims", NULL, on_gather},
    {A(START_INDEX_MAP), ALWAYS, &hlo_kind_ints, "gather_dimension_numbers.start_index_map", NULL,
     on_gather},
    {A(OPERAND_BATCHING_DIMS), SET, &hlo_kind_ints,
     "gather_dimension_numbers.operand_batching_dims", NULL, on_gather},
    {A(START_INDICES_BATCHING_DIMS), SET, &hlo_kind_ints,
     "gather_dimension_numbers.start_indices_batching_dims", NULL, on_gather},
    {A(INDEX_VECTOR_DIM), ALWAYS, &hlo_kind_integer, "gather_dimension_numbers.index_vector_dim",
     NULL, on_gather},
    {A(SLICE_SIZES), ALWAYS, &hlo_kind_ints, "gather_slice_sizes", NULL, on_gather},
    {A(UPDATE_WINDOW_DIMS), ALWAYS, &hlo_kind_ints, "scatter_dimension_numbers.update_window_dims",
     NULL, on_scatter},
    {A(INSERTED_WINDOW_DIMS), ALWAYS, &hlo_kind_ints,
     "scatter_dimension_numbers.inserted_window_dims", NULL, on_scatter},
    {A(SCATTER_DIMS_TO_OPERAND_DIMS), ALWAYS, &hlo_kind_ints,
     "scatter_dimension_numbers.scatter_dims_to_operand_dims", NULL, on_scatter},
    {A(INPUT_BATCHING_DIMS), SET, &hlo_kind_ints, "scatter_dimension_numbers.input_batching_dims",
     NULL, on_scatter},
    {A(SCATTER_INDICES_BATCHING_DIMS), SET, &hlo_kind_ints,
     "scatter_dimension_numbers.scatter_indices_batching_dims", NULL, on_scatter},
    {A(INDEX_VECTOR_DIM), ALWAYS, &hlo_kind_integer, "scatter_dimension_numbers.index_vector_dim",
     NULL, on_scatter},
    {A(INDICES_ARE_SORTED), SET, &hlo_kind_boolean, "indices_are_sorted", NULL, NULL},
    {A(UNIQUE_INDICES), SET, &hlo_kind_boolean, "unique_indices", NULL, NULL},
    {A(EPSILON), ALWAYS, &hlo_kind_epsilon, "epsilon", NULL, on_batch_norm},
    {A(FEATURE_INDEX), ALWAYS, &hlo_kind_integer, "feature_index", NULL, on_batch_norm},
    {A(CHANNEL_ID), SET, &hlo_kind_integer, "channel_id", NULL, NULL},
    {A(REPLICA_GROUPS), ALWAYS, &hlo_kind_groups, NULL, NULL, on_groups},
    {A(SOURCE_TARGET_PAIRS), ALWAYS, &hlo_kind_pairs, "source_target_pairs", NULL, on_permute},
    {A(SLICE_SIZES), SET, &hlo_kind_sizes, "dynamic_slice_sizes", NULL, on_permute},
    {A(CONSTRAIN_LAYOUT), SET, &hlo_kind_boolean, "constrain_layout", NULL, on_constrained},
    {A(USE_GLOBAL_DEVICE_IDS), SET, &hlo_kind_boolean, "use_global_device_ids", NULL, NULL},
    {A(HAS_DYNAMIC_ROOT), SET, &hlo_kind_boolean, "has_dynamic_root", NULL, NULL},
    {A(IS_HOST_TRANSFER), SET, &hlo_kind_boolean, "is_host_transfer", NULL, NULL},
    {A(ASYNC_EXECUTION_THREAD), SET, &hlo_kind_string, "async_execution_thread", NULL, NULL},
    {A(CROSS_PROGRAM_PREFETCH_INDEX), SET, &hlo_kind_integer, "cross_program_prefetch_index", NULL,
     on_copy_start},
    {A(INFEED_CONFIG), SET, &hlo_kind_string, "infeed_config", NULL, on_infeed},
    {A(OUTFEED_SHAPE), SET, &hlo_kind_shape, "outfeed_shape", NULL, on_outfeed},
    {A(OUTFEED_CONFIG), SET, &hlo_kind_string, "outfeed_config", NULL, on_outfeed},
    {A(DISTRIBUTION), ALWAYS, &hlo_kind_word, "distribution", "", on_rng},
    {A(ALGORITHM), ALWAYS, &hlo_kind_word, "rng_algorithm", "", on_rng_bits},
    {A(DELTA), ALWAYS, &hlo_kind_integer, "delta", NULL, on_rng_state},
    {A(EXPONENT_BITS), ALWAYS, &hlo_kind_integer, "exponent_bits", NULL, on_reduce_precision},
    {A(MANTISSA_BITS), ALWAYS, &hlo_kind_integer, "mantissa_bits", NULL, on_reduce_precision},
    {A(FFT_TYPE), ALWAYS, &hlo_kind_word, "fft_type", NULL, on_fft},
    {A(FFT_LENGTH), ALWAYS, &hlo_kind_ints, "fft_length", NULL, on_fft},
    {A(LEFT_SIDE), SET, &hlo_kind_boolean, "triangular_solve_options.left_side", NULL,
     on_triangular},
    {A(LOWER), SET, &hlo_kind_boolean, "triangular_solve_options.lower", NULL, on_triangular},
    {A(LOWER), SET, &hlo_kind_boolean, "cholesky_options.lower", NULL, on_cholesky},
    {A(UNIT_DIAGONAL), SET, &hlo_kind_boolean, "triangular_solve_options.unit_diagonal", NULL,
     on_triangular},
    {A(TRANSPOSE_A), SET, &hlo_kind_word, "triangular_solve_options.transpose_a", NULL,
     on_triangular},
    {A(DOMAIN), SET, &hlo_kind_domain, NULL, NULL, on_domain},
    {A(CUSTOM_CALL_TARGET), ALWAYS, &hlo_kind_string, "custom_call_target", NULL, on_custom_call},
    {A(OPERAND_LAYOUT_CONSTRAINTS), SET, &hlo_kind_layouts, NULL, NULL, on_custom_call},
    {A(CUSTOM_CALL_HAS_SIDE_EFFECT), SET, &hlo_kind_boolean, "custom_call_has_side_effect", NULL,
     on_custom_call},
    {A(LITERAL), SET, &hlo_kind_literal, NULL, NULL, on_custom_call},
    {A(OUTPUT_TO_OPERAND_ALIASING), SET, &hlo_kind_aliasing, "output_operand_aliasing", NULL, NULL},
    {A(SCHEDULE), SET, &hlo_kind_word, "custom_call_schedule", NULL, on_custom_call},
    {A(API_VERSION), NOT_ONE, &hlo_kind_word, "custom_call_api_version", NULL, on_custom_call},
    {A(SHARDING), SET, &hlo_kind_sharding, "sharding", NULL, NULL},
    {A(FRONTEND_ATTRIBUTES), SET, &hlo_kind_dict, NULL, NULL, NULL},
    {A(STATISTICS), SET, &hlo_kind_statistics, NULL, NULL, NULL},
    {A(RESULT_ACCURACY), SET, &hlo_kind_accuracy, NULL, NULL, NULL},
    {A(ORIGIN), SET, &hlo_kind_origin, NULL, NULL, NULL},
    {A(METADATA), SET, &hlo_kind_metadata, NULL, NULL, NULL},
    {A(BACKEND_CONFIG), SET, &hlo_kind_config, NULL, NULL, NULL},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static bool is_on(const struct convert_row *r, enum hlo_opcode op)
{
    if (!r->ops || op == HLO_OP_UNKNOWN)
        return true;
    for (const uint8_t *o = r->ops; *o != 255; o++) {
        if (*o == op)
            return true;
    }
    return false;
}

/* The message and field at the row's path; sub-messages are made when `make`. */
static bool find_field(const struct convert_context *c, Xla__HloInstructionProto *p,
                       const struct convert_row *r, bool make, struct convert_value *v)
{
    *v = (struct convert_value){c, r, &p->base, NULL};
    for (const char *path = r->path; path && *path;) {
        size_t size = strcspn(path, ".");
        v->f = path[size] ? hlo_reflect_field(v->m->descriptor, path, size)
                          : protobuf_c_message_descriptor_get_field_by_name(v->m->descriptor, path);
        BUG_ON(!v->f);
        path += size;
        if (!*path)
            break;
        path++;
        if (!make && !hlo_reflect_has(v->m, v->f))
            return false;
        v->m = hlo_reflect_child(c->arena, v->m, v->f);
        if (!v->m)
            return false;
    }
    return true;
}

/* A precision of defaults only is not printed. */
static bool is_default_precision(const struct convert_row *r, const struct convert_value *v)
{
    bool all = r->kind == &hlo_kind_words;

    for (size_t i = 0; all && i < hlo_reflect_count(v->m, v->f); i++)
        all = !*(int32_t *)hlo_reflect_at(v->m, v->f, i);
    return all;
}

static bool is_printed(const struct convert_row *r, const struct convert_value *v, bool found,
                       bool guess)
{
    if (r->when == NEVER)
        return false;
    if (!found) /* a sub-message is absent: its fields are zero */
        return r->when == ALWAYS && !guess && r->kind == &hlo_kind_ints;
    if (!v->f)
        return true; /* prints nothing when there is nothing */
    if (r->when == ALWAYS && !guess)
        return true;
    if (r->when == NOT_ONE && hlo_convert_integer(v) == 1)
        return false;
    return hlo_reflect_has(v->m, v->f) && !is_default_precision(r, v);
}

int hlo_convert_attrs_print(const struct convert_context *c, Xla__HloInstructionProto *p,
                            struct str *scratch,
                            int (*emit)(void *to, enum hlo_attr_key key, const struct str *text),
                            void *to)
{
    bool guess = c->opcode == HLO_OP_UNKNOWN; /* only what is there */
    unsigned last = HLO_ATTR_COUNT;
    struct convert_value v;

    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct convert_row *r = &rows[i];
        if (!is_on(r, c->opcode) || (guess && (r->key == last || (!r->path && r->ops))))
            continue;
        bool found = find_field(c, p, r, false, &v);
        if (!is_printed(r, &v, found, guess))
            continue;
        str_clear(scratch);
        if (found)
            r->kind->print(&v, scratch);
        else
            str_add(scratch, "{}");
        if (!scratch->size && r->kind != &hlo_kind_padding)
            continue;
        int rc = emit(to, r->key, scratch);
        if (rc)
            return rc;
        last = r->key;
    }
    return 0;
}

bool hlo_convert_attr_take(const struct convert_context *c, Xla__HloInstructionProto *p,
                           enum hlo_attr_key key, const char *text, size_t size)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct convert_row *r = &rows[i];
        if (r->key != key || c->opcode == HLO_OP_UNKNOWN || !is_on(r, c->opcode) ||
            r->kind == &hlo_kind_comparison)
            continue;
        struct scan s = scan_of(text, size);
        struct convert_value v;
        return find_field(c, p, r, true, &v) && r->kind->take(&v, &s) && hlo_scan_end(&s);
    }
    return false;
}

void hlo_convert_attrs_default(const struct convert_context *c, Xla__HloInstructionProto *p)
{
    if (c->opcode == HLO_OP_COMPARE && !*p->comparison_type && !*p->comparison_order)
        p->comparison_type = (char *)(uintptr_t)hlo_convert_default_comparison(c);
    if (is_on(&(struct convert_row){.ops = on_conv}, c->opcode) && c->opcode != HLO_OP_UNKNOWN) {
        p->feature_group_count = p->feature_group_count ? p->feature_group_count : 1;
        p->batch_group_count = p->batch_group_count ? p->batch_group_count : 1;
    }
    if (c->opcode == HLO_OP_CUSTOM_CALL && !p->custom_call_api_version)
        p->custom_call_api_version = XLA__CUSTOM_CALL_API_VERSION__API_VERSION_ORIGINAL;
}
