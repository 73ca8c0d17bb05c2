/* hlo/module/attr.h - attributes of an instruction: each is a key and a value as XLA prints it.
 *
 * The text is authoritative: readers of other forms (proto, JSON) turn fields into it, writers turn
 * it back, and unknown attributes are kept verbatim. Loading checks values of known keys against
 * their kind, so the typed accessors below do not fail. Attributes that name computations
 * (to_apply, body, ...) or instructions (control-predecessors) are kept as ids in struct
 * hlo_instruction instead. The order of the keys is the order in which XLA prints them. */
#ifndef AUTOMAP_HLO_MODULE_ATTR_H
#define AUTOMAP_HLO_MODULE_ATTR_H

#include "hlo/module/shape.h"

#include <stddef.h>

/* What a value looks like. */
enum hlo_attr_kind {
    HLO_KIND_INT,      /* 3 */
    HLO_KIND_FLOAT,    /* 0.001 */
    HLO_KIND_BOOL,     /* true */
    HLO_KIND_WORD,     /* LT, kLoop, highest */
    HLO_KIND_STRING,   /* "a\"b" */
    HLO_KIND_INTS,     /* {0,1} */
    HLO_KIND_SIZES,    /* {8,128} or {{1,8,128},{1,8,128}} */
    HLO_KIND_BOOLS,    /* {true,false} or true */
    HLO_KIND_WORDS,    /* {highest,default} */
    HLO_KIND_SLICES,   /* {[0:4:2], [1:3]} */
    HLO_KIND_PADDING,  /* 0_1x2_2_1 */
    HLO_KIND_WINDOW,   /* {size=3x3 pad=0_1x0_1} */
    HLO_KIND_LABELS,   /* b01f_01io->b01f */
    HLO_KIND_GROUPS,   /* {{0,1},{2,3}} or [2,2]<=[4] or mesh[...] */
    HLO_KIND_PAIRS,    /* {{0,1},{1,0}} */
    HLO_KIND_SHAPE,    /* f32[2] */
    HLO_KIND_SHAPES,   /* {f32[2], s32[]} */
    HLO_KIND_SHARDING, /* {devices=[2,1]<=[2]} or a tuple of them */
    HLO_KIND_DICT,     /* {k="v",k2={json}} */
    HLO_KIND_CONFIG,   /* "text" or {balanced} */
    HLO_KIND_LITERAL,  /* f32[2] {1, 2}; the shape may be missing */
    HLO_KIND_BRACED,   /* {anything balanced} */
    HLO_KIND_COUNT
};

/* Key, name in text, kind. Op-specific first, then those every instruction may have. */
#define HLO_ATTRS(X)                                                        \
    X(PARAMETER_REPLICATION, "parameter_replication", BOOLS)                \
    X(DIMENSIONS, "dimensions", INTS)                                       \
    X(IOTA_DIMENSION, "iota_dimension", INT)                                \
    X(INFERRED_DIMENSION, "inferred_dimension", INT)                        \
    X(SLICE, "slice", SLICES)                                               \
    X(DYNAMIC_SLICE_SIZES, "dynamic_slice_sizes", INTS)                     \
    X(PADDING, "padding", PADDING)                                          \
    X(LHS_BATCH_DIMS, "lhs_batch_dims", INTS)                               \
    X(LHS_CONTRACTING_DIMS, "lhs_contracting_dims", INTS)                   \
    X(RHS_BATCH_DIMS, "rhs_batch_dims", INTS)                               \
    X(RHS_CONTRACTING_DIMS, "rhs_contracting_dims", INTS)                   \
    X(LHS_RAGGED_DIMS, "lhs_ragged_dims", INTS)                             \
    X(RHS_GROUP_DIMS, "rhs_group_dims", INTS)                               \
    X(WINDOW, "window", WINDOW)                                             \
    X(DIM_LABELS, "dim_labels", LABELS)                                     \
    X(FEATURE_GROUP_COUNT, "feature_group_count", INT)                      \
    X(BATCH_GROUP_COUNT, "batch_group_count", INT)                          \
    X(CONVOLUTION_KIND, "convolution_kind", WORD)                           \
    X(OPERAND_PRECISION, "operand_precision", WORDS)                        \
    X(ALGORITHM, "algorithm", WORD)                                         \
    X(SPARSITY_CONFIG, "sparsity_config", BRACED)                           \
    X(PADDING_TYPE, "padding_type", WORD)                                   \
    X(NUM_CARRIES, "num_carries", INT)                                      \
    X(IS_REVERSE, "is_reverse", BOOL)                                       \
    X(IS_ASSOCIATIVE, "is_associative", WORD)                               \
    X(K, "k", INT)                                                          \
    X(LARGEST, "largest", BOOL)                                             \
    X(IS_STABLE, "is_stable", BOOL)                                         \
    X(DIRECTION, "direction", WORD)                                         \
    X(TYPE, "type", WORD)                                                   \
    X(ORDER, "order", WORD)                                                 \
    X(IS_COMPOSITE, "is_composite", BOOL)                                   \
    X(KIND, "kind", WORD)                                                   \
    X(OFFSET_DIMS, "offset_dims", INTS)                                     \
    X(COLLAPSED_SLICE_DIMS, "collapsed_slice_dims", INTS)                   \
    X(START_INDEX_MAP, "start_index_map", INTS)                             \
    X(OPERAND_BATCHING_DIMS, "operand_batching_dims", INTS)                 \
    X(START_INDICES_BATCHING_DIMS, "start_indices_batching_dims", INTS)     \
    X(UPDATE_WINDOW_DIMS, "update_window_dims", INTS)                       \
    X(INSERTED_WINDOW_DIMS, "inserted_window_dims", INTS)                   \
    X(SCATTER_DIMS_TO_OPERAND_DIMS, "scatter_dims_to_operand_dims", INTS)   \
    X(INPUT_BATCHING_DIMS, "input_batching_dims", INTS)                     \
    X(SCATTER_INDICES_BATCHING_DIMS, "scatter_indices_batching_dims", INTS) \
    X(INDEX_VECTOR_DIM, "index_vector_dim", INT)                            \
    X(SLICE_SIZES, "slice_sizes", SIZES)                                    \
    X(INDICES_ARE_SORTED, "indices_are_sorted", BOOL)                       \
    X(UNIQUE_INDICES, "unique_indices", BOOL)                               \
    X(EPSILON, "epsilon", FLOAT)                                            \
    X(FEATURE_INDEX, "feature_index", INT)                                  \
    X(CHANNEL_ID, "channel_id", INT)                                        \
    X(REPLICA_GROUPS, "replica_groups", GROUPS)                             \
    X(SOURCE_TARGET_PAIRS, "source_target_pairs", PAIRS)                    \
    X(CONSTRAIN_LAYOUT, "constrain_layout", BOOL)                           \
    X(USE_GLOBAL_DEVICE_IDS, "use_global_device_ids", BOOL)                 \
    X(MODE, "mode", WORD)                                                   \
    X(HAS_DYNAMIC_ROOT, "has_dynamic_root", BOOL)                           \
    X(IS_HOST_TRANSFER, "is_host_transfer", BOOL)                           \
    X(ASYNC_EXECUTION_THREAD, "async_execution_thread", STRING)             \
    X(CROSS_PROGRAM_PREFETCH_INDEX, "cross_program_prefetch_index", INT)    \
    X(INFEED_CONFIG, "infeed_config", STRING)                               \
    X(OUTFEED_SHAPE, "outfeed_shape", SHAPE)                                \
    X(OUTFEED_CONFIG, "outfeed_config", STRING)                             \
    X(DISTRIBUTION, "distribution", WORD)                                   \
    X(DELTA, "delta", INT)                                                  \
    X(EXPONENT_BITS, "exponent_bits", INT)                                  \
    X(MANTISSA_BITS, "mantissa_bits", INT)                                  \
    X(FFT_TYPE, "fft_type", WORD)                                           \
    X(FFT_LENGTH, "fft_length", INTS)                                       \
    X(LEFT_SIDE, "left_side", BOOL)                                         \
    X(LOWER, "lower", BOOL)                                                 \
    X(UNIT_DIAGONAL, "unit_diagonal", BOOL)                                 \
    X(TRANSPOSE_A, "transpose_a", WORD)                                     \
    X(DOMAIN, "domain", BRACED)                                             \
    X(CUSTOM_CALL_TARGET, "custom_call_target", STRING)                     \
    X(OPERAND_LAYOUT_CONSTRAINTS, "operand_layout_constraints", SHAPES)     \
    X(CUSTOM_CALL_HAS_SIDE_EFFECT, "custom_call_has_side_effect", BOOL)     \
    X(LITERAL, "literal", LITERAL)                                          \
    X(OUTPUT_TO_OPERAND_ALIASING, "output_to_operand_aliasing", BRACED)     \
    X(SCHEDULE, "schedule", WORD)                                           \
    X(API_VERSION, "api_version", WORD)                                     \
    X(SHARDING, "sharding", SHARDING)                                       \
    X(FRONTEND_ATTRIBUTES, "frontend_attributes", DICT)                     \
    X(STATISTICS, "statistics", BRACED)                                     \
    X(RESULT_ACCURACY, "result_accuracy", BRACED)                           \
    X(ORIGIN, "origin", BRACED)                                             \
    X(METADATA, "metadata", BRACED)                                         \
    X(BACKEND_CONFIG, "backend_config", CONFIG)                             \
    X(OUTER_DIMENSION_PARTITIONS, "outer_dimension_partitions", INTS)

enum hlo_attr_key {
#define X(id, name, kind) HLO_ATTR_##id,
    HLO_ATTRS(X)
#undef X
        HLO_ATTR_UNKNOWN, /* text holds "name=value" */
    HLO_ATTR_COUNT
};

struct hlo_attr_info {
    const char *name;
    enum hlo_attr_kind kind;
};
extern const struct hlo_attr_info hlo_attr_info[HLO_ATTR_COUNT];

enum hlo_attr_key hlo_attr_by_name(const char *name, size_t size); /* HLO_ATTR_UNKNOWN when none */

struct hlo_attr {
    uint16_t key;
    uint32_t size;
    const char *text; /* not NUL-terminated; owned by the module or its input */
};

/* Window of convolution, reduce-window, select-and-scatter; defaults filled in. */
struct hlo_window {
    uint8_t rank;
    bool reversal[HLO_RANK_MAX];
    int64_t size[HLO_RANK_MAX], stride[HLO_RANK_MAX];
    int64_t pad_low[HLO_RANK_MAX], pad_high[HLO_RANK_MAX];
    int64_t base_dilation[HLO_RANK_MAX];   /* lhs_dilate */
    int64_t window_dilation[HLO_RANK_MAX]; /* rhs_dilate */
};

/* dim_labels: the role of each dim of input, kernel and output; '?' dims have none. */
struct hlo_conv_dims {
    uint8_t spatial_count;
    uint8_t in_batch, in_feature, in_spatial[HLO_RANK_MAX];
    uint8_t kernel_in, kernel_out, kernel_spatial[HLO_RANK_MAX];
    uint8_t out_batch, out_feature, out_spatial[HLO_RANK_MAX];
};

/* Parse a value; false when the text is not of that kind or has more than `room` items. `count`
 * receives the number of items. They allocate nothing. */
bool hlo_parse_int(const char *text, size_t size, int64_t *out);
bool hlo_parse_ints(const char *text, size_t size, int64_t *out, size_t room, size_t *count);
bool hlo_parse_window(const char *text, size_t size, struct hlo_window *out);
bool hlo_parse_conv_dims(const char *text, size_t size, struct hlo_conv_dims *out);
bool hlo_parse_slices(const char *text, size_t size, int64_t (*out)[3], size_t room, size_t *count);
bool hlo_parse_padding(const char *text, size_t size, int64_t (*out)[3], size_t room,
                       size_t *count);

#endif
