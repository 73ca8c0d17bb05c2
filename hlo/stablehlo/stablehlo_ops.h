/* hlo/stablehlo/stablehlo_ops.h - the table of operations: one row each.
 *
 * A row holds what the reader knows about an operation: its name (`mhlo.x` is looked up as
 * `stablehlo.x`), the rule by which it becomes HLO (lower_*.c), the opcode, and how its attributes
 * become HLO's: A(name in the generic form, name in the pretty form, HLO key, kind). A new
 * operation is one row and, if its behaviour is new, one function for its rule. Names and
 * attributes are those of StablehloOps.td, ChloOps.td and sdy's dialect. */
#ifndef AUTOMAP_HLO_STABLEHLO_STABLEHLO_OPS_H
#define AUTOMAP_HLO_STABLEHLO_STABLEHLO_OPS_H

#include "hlo/module/attr.h"
#include "hlo/module/ops.h"

/* Elementwise opcodes with the same name in both, `_` for `-`. */
/* clang-format off */
#define MLIR_SAME(X) \
    X(ABS, "abs") X(ADD, "add") X(AND, "and") X(ATAN2, "atan2") X(CBRT, "cbrt") X(CEIL, "ceil") \
    X(COMPLEX, "complex") X(COSINE, "cosine") \
    X(COUNT_LEADING_ZEROS, "count_leading_zeros") X(DIVIDE, "divide") \
    X(EXPONENTIAL_MINUS_ONE, "exponential_minus_one") \
    X(FLOOR, "floor") X(IMAG, "imag") X(IS_FINITE, "is_finite") \
    X(LOGISTIC, "logistic") X(MAXIMUM, "maximum") \
    X(MINIMUM, "minimum") X(MULTIPLY, "multiply") X(NEGATE, "negate") X(NOT, "not") X(OR, "or") \
    X(POPCNT, "popcnt") X(POWER, "power") X(REAL, "real") X(REMAINDER, "remainder") \
    X(ROUND_NEAREST_AFZ, "round_nearest_afz") X(ROUND_NEAREST_EVEN, "round_nearest_even") \
    X(RSQRT, "rsqrt") X(SHIFT_LEFT, "shift_left") \
    X(SHIFT_RIGHT_ARITHMETIC, "shift_right_arithmetic") \
    X(SHIFT_RIGHT_LOGICAL, "shift_right_logical") X(SIGN, "sign") X(SINE, "sine") \
    X(SUBTRACT, "subtract") X(TAN, "tan") X(TANH, "tanh") X(XOR, "xor") \
    X(COPY, "copy") X(ERF, "erf") X(ACOS, "acos") X(ACOSH, "acosh") X(ASIN, "asin") \
    X(ASINH, "asinh") X(ATANH, "atanh") X(COSH, "cosh") X(SINH, "sinh") \
    X(STOCHASTIC_CONVERT, "stochastic_convert")

/* Operations that XLA expands into more than twenty others: kept as one element-wise custom-call of
 * this name (hlo/module/special.h has its costs). */
#define MLIR_CHLO_WHOLE(X) \
    X(ACOSH, "acosh") X(ASINH, "asinh") X(ATANH, "atanh") X(BESSEL_I1E, "bessel_i1e") \
    X(DIGAMMA, "digamma") X(ERF_INV, "erf_inv") X(ERFC, "erfc") X(LGAMMA, "lgamma") \
    X(NEXT_AFTER, "next_after") X(POLYGAMMA, "polygamma") X(SINH, "sinh") X(ZETA, "zeta")

/* Operations whose result is their first operand. */
#define MLIR_IDENTITIES(X) \
    X(PROPAGATION_BARRIER, "sdy.propagation_barrier") X(SHARDING_GROUP, "sdy.sharding_group") \
    X(REPLICATED_TO_UNREDUCED, "sdy.replicated_to_unreduced")

/* Refused: shapes or numbers unknown before the program runs, and quantised types. */
#define MLIR_REFUSED(X) \
    X(DYNAMIC_BROADCAST_IN_DIM, "dynamic_broadcast_in_dim") X(DYNAMIC_CONV, "dynamic_conv") \
    X(DYNAMIC_GATHER, "dynamic_gather") X(DYNAMIC_IOTA, "dynamic_iota") \
    X(DYNAMIC_PAD, "dynamic_pad") X(DYNAMIC_RESHAPE, "dynamic_reshape") \
    X(REAL_DYNAMIC_SLICE, "real_dynamic_slice") X(SET_DIMENSION_SIZE, "set_dimension_size") \
    X(GET_DIMENSION_SIZE, "get_dimension_size") X(UNIFORM_QUANTIZE, "uniform_quantize") \
    X(UNIFORM_DEQUANTIZE, "uniform_dequantize") \
    X(UNARY_EINSUM, "unary_einsum") X(TORCH_INDEX_SELECT, "torch_index_select")
/* clang-format on */

#define MLIR_DIMS(field, KEY) A("dimension_numbers/" field, NULL, KEY, INTS)
#define MLIR_SCATTER(field, KEY) A("scatter_dimension_numbers/" field, NULL, KEY, INTS)
#define MLIR_CHANNEL                                  \
    A("channel_handle/handle", NULL, CHANNEL_ID, INT) \
    A("replica_groups", NULL, REPLICA_GROUPS, GROUPS)
#define MLIR_GLOBAL A("use_global_device_ids", NULL, USE_GLOBAL_DEVICE_IDS, FLAG)

/* Constant, name, rule, opcode, attributes. */
#define MLIR_OPS(X)                                                                                \
    X(AFTER_ALL, "stablehlo.after_all", PLAIN, AFTER_ALL, )                                        \
    X(CREATE_TOKEN, "stablehlo.create_token", PLAIN, AFTER_ALL, )                                  \
    X(ALL_GATHER, "stablehlo.all_gather", PLAIN, ALL_GATHER,                                       \
      A("all_gather_dim", NULL, DIMENSIONS, INT_LIST) MLIR_CHANNEL MLIR_GLOBAL)                    \
    X(ALL_REDUCE, "stablehlo.all_reduce", APPLY, ALL_REDUCE, MLIR_CHANNEL MLIR_GLOBAL)             \
    X(ALL_TO_ALL, "stablehlo.all_to_all", ALL_TO_ALL, ALL_TO_ALL, MLIR_CHANNEL)                    \
    X(BATCH_NORM_GRAD, "stablehlo.batch_norm_grad", PLAIN, BATCH_NORM_GRAD,                        \
      A("epsilon", NULL, EPSILON, FLOAT) A("feature_index", NULL, FEATURE_INDEX, INT))             \
    X(BATCH_NORM_INFERENCE, "stablehlo.batch_norm_inference", PLAIN, BATCH_NORM_INFERENCE,         \
      A("epsilon", NULL, EPSILON, FLOAT) A("feature_index", NULL, FEATURE_INDEX, INT))             \
    X(BATCH_NORM_TRAINING, "stablehlo.batch_norm_training", PLAIN, BATCH_NORM_TRAINING,            \
      A("epsilon", NULL, EPSILON, FLOAT) A("feature_index", NULL, FEATURE_INDEX, INT))             \
    X(BITCAST_CONVERT, "stablehlo.bitcast_convert", PLAIN, BITCAST_CONVERT, )                      \
    X(BITCAST, "stablehlo.bitcast", PLAIN, BITCAST, )                                              \
    X(BROADCAST, "stablehlo.broadcast", BROADCAST, BROADCAST, )                                    \
    X(BROADCAST_IN_DIM, "stablehlo.broadcast_in_dim", BROADCAST_IN_DIM, BROADCAST, )               \
    X(CALL, "func.call", CALL, CALL, )                                                             \
    X(CASE, "stablehlo.case", CASE, CONDITIONAL, )                                                 \
    X(CHOLESKY, "stablehlo.cholesky", PLAIN, CHOLESKY, A("lower", "lower", LOWER, FLAG))           \
    X(CLAMP, "stablehlo.clamp", SPREAD, CLAMP, )                                                   \
    X(COLLECTIVE_BROADCAST, "stablehlo.collective_broadcast", PLAIN, COLLECTIVE_BROADCAST,         \
      MLIR_CHANNEL)                                                                                \
    X(COLLECTIVE_PERMUTE, "stablehlo.collective_permute", PLAIN, COLLECTIVE_PERMUTE,               \
      A("channel_handle/handle", NULL, CHANNEL_ID, INT)                                            \
          A("source_target_pairs", NULL, SOURCE_TARGET_PAIRS, GROUPS))                             \
    X(COMPARE, "stablehlo.compare", COMPARE, COMPARE, )                                            \
    X(COMPOSITE, "stablehlo.composite", CALL, CALL, )                                              \
    X(CONCATENATE, "stablehlo.concatenate", PLAIN, CONCATENATE,                                    \
      A("dimension", "dim", DIMENSIONS, INT_LIST))                                                 \
    X(CONSTANT, "stablehlo.constant", CONSTANT, CONSTANT, )                                        \
    X(SDY_CONSTANT, "sdy.constant", CONSTANT, CONSTANT, )                                          \
    X(ARITH_CONSTANT, "arith.constant", CONSTANT, CONSTANT, )                                      \
    X(CONVERT, "stablehlo.convert", PLAIN, CONVERT, )                                              \
    X(CONVOLUTION, "stablehlo.convolution", CONVOLUTION, CONVOLUTION,                              \
      A("feature_group_count", NULL, FEATURE_GROUP_COUNT, COUNT)                                   \
          A("batch_group_count", NULL, BATCH_GROUP_COUNT, COUNT)                                   \
              A("precision_config", NULL, OPERAND_PRECISION, PRECISION))                           \
    X(CUSTOM_CALL, "stablehlo.custom_call", CUSTOM_CALL, CUSTOM_CALL, )                            \
    X(DOT, "stablehlo.dot", DOT, DOT,                                                              \
      A("precision_config", "precision", OPERAND_PRECISION, PRECISION))                            \
    X(DOT_GENERAL, "stablehlo.dot_general", DOT_GENERAL, DOT,                                      \
      A("precision_config", "precision", OPERAND_PRECISION, PRECISION))                            \
    X(DYNAMIC_SLICE, "stablehlo.dynamic_slice", PLAIN, DYNAMIC_SLICE,                              \
      A("slice_sizes", "sizes", DYNAMIC_SLICE_SIZES, INTS))                                        \
    X(DYNAMIC_UPDATE_SLICE, "stablehlo.dynamic_update_slice", PLAIN, DYNAMIC_UPDATE_SLICE, )       \
    X(EINSUM, "stablehlo.einsum", EINSUM, DOT,                                                     \
      A("precision_config", "precision", OPERAND_PRECISION, PRECISION))                            \
    X(EXPONENTIAL, "stablehlo.exponential", FUNCTION, EXPONENTIAL, )                               \
    X(FFT, "stablehlo.fft", PLAIN, FFT,                                                            \
      A("fft_type", "type", FFT_TYPE, WORD) A("fft_length", "length", FFT_LENGTH, INTS))           \
    X(FUNC, "func.func", NONE, UNKNOWN, )                                                          \
    X(GATHER, "stablehlo.gather", PLAIN, GATHER,                                                   \
      MLIR_DIMS("offset_dims", OFFSET_DIMS)                                                        \
          MLIR_DIMS("collapsed_slice_dims", COLLAPSED_SLICE_DIMS)                                  \
              MLIR_DIMS("start_index_map", START_INDEX_MAP)                                        \
                  A("dimension_numbers/operand_batching_dims", NULL, OPERAND_BATCHING_DIMS,        \
                    INTS_OR_NOT) A("dimension_numbers/start_indices_batching_dims", NULL,          \
                                   START_INDICES_BATCHING_DIMS, INTS_OR_NOT)                       \
                      A("dimension_numbers/index_vector_dim", NULL, INDEX_VECTOR_DIM, INT_OR_ZERO) \
                          A("slice_sizes", NULL, SLICE_SIZES, INTS)                                \
                              A("indices_are_sorted", NULL, INDICES_ARE_SORTED, FLAG))             \
    X(GET_TUPLE_ELEMENT, "stablehlo.get_tuple_element", ELEMENT, GET_TUPLE_ELEMENT, )              \
    X(IF, "stablehlo.if", IF, CONDITIONAL, )                                                       \
    X(INFEED, "stablehlo.infeed", INFEED, INFEED, A("infeed_config", NULL, INFEED_CONFIG, STRING)) \
    X(IOTA, "stablehlo.iota", PLAIN, IOTA, A("iota_dimension", "dim", IOTA_DIMENSION, INT))        \
    X(LOG, "stablehlo.log", FUNCTION, LOG, )                                                       \
    X(LOG_PLUS_ONE, "stablehlo.log_plus_one", FUNCTION, LOG_PLUS_ONE, )                            \
    X(MANUAL, "sdy.manual_computation", MANUAL, CALL, )                                            \
    X(MAP, "stablehlo.map", APPLY, MAP, A("dimensions", NULL, DIMENSIONS, INTS))                   \
    X(MESH, "sdy.mesh", NONE, UNKNOWN, )                                                           \
    X(MODULE, "builtin.module", NONE, UNKNOWN, )                                                   \
    X(MULHI, "chlo.mulhi", PLAIN, MULHI, )                                                         \
    X(NAMED, "sdy.named_computation", NAMED, CALL, )                                               \
    X(OPTIMIZATION_BARRIER, "stablehlo.optimization_barrier", BARRIER, OPT_BARRIER, )              \
    X(OUTFEED, "stablehlo.outfeed", OUTFEED, OUTFEED,                                              \
      A("outfeed_config", NULL, OUTFEED_CONFIG, STRING))                                           \
    X(PAD, "stablehlo.pad", PAD, PAD, )                                                            \
    X(PARTITION_ID, "stablehlo.partition_id", PLAIN, PARTITION_ID, )                               \
    X(RAGGED_DOT, "chlo.ragged_dot", RAGGED_DOT, RAGGED_DOT,                                       \
      A("precision_config", "precision", OPERAND_PRECISION, PRECISION))                            \
    X(MHLO_RAGGED_DOT, "stablehlo.ragged_dot", RAGGED_DOT, RAGGED_DOT,                             \
      A("precision_config", "precision", OPERAND_PRECISION, PRECISION))                            \
    X(REDUCE, "stablehlo.reduce", APPLY, REDUCE, A("dimensions", "dimensions", DIMENSIONS, INTS))  \
    X(REDUCE_PRECISION, "stablehlo.reduce_precision", REDUCE_PRECISION, REDUCE_PRECISION, )        \
    X(REDUCE_SCATTER, "stablehlo.reduce_scatter", APPLY, REDUCE_SCATTER,                           \
      A("scatter_dimension", NULL, DIMENSIONS, INT_LIST) MLIR_CHANNEL MLIR_GLOBAL)                 \
    X(REDUCE_WINDOW, "stablehlo.reduce_window", REDUCE_WINDOW, REDUCE_WINDOW, )                    \
    X(REPLICA_ID, "stablehlo.replica_id", PLAIN, REPLICA_ID, )                                     \
    X(RESHAPE, "stablehlo.reshape", PLAIN, RESHAPE, )                                              \
    X(RETURN, "func.return", NONE, UNKNOWN, )                                                      \
    X(STABLEHLO_RETURN, "stablehlo.return", NONE, UNKNOWN, )                                       \
    X(SDY_RETURN, "sdy.return", NONE, UNKNOWN, )                                                   \
    X(REVERSE, "stablehlo.reverse", PLAIN, REVERSE, A("dimensions", "dims", DIMENSIONS, INTS))     \
    X(RNG, "stablehlo.rng", RNG, RNG,                                                              \
      A("rng_distribution", "distribution", DISTRIBUTION, RNG_WORD))                               \
    X(RNG_BIT_GENERATOR, "stablehlo.rng_bit_generator", PLAIN, RNG_BIT_GENERATOR,                  \
      A("rng_algorithm", "algorithm", ALGORITHM, RNG_WORD))                                        \
    X(SCATTER, "stablehlo.scatter", APPLY, SCATTER,                                                \
      MLIR_SCATTER("update_window_dims", UPDATE_WINDOW_DIMS)                                       \
          MLIR_SCATTER("inserted_window_dims", INSERTED_WINDOW_DIMS)                               \
              MLIR_SCATTER("scatter_dims_to_operand_dims", SCATTER_DIMS_TO_OPERAND_DIMS)           \
                  A("scatter_dimension_numbers/input_batching_dims", NULL, INPUT_BATCHING_DIMS,    \
                    INTS_OR_NOT) A("scatter_dimension_numbers/scatter_indices_batching_dims",      \
                                   NULL, SCATTER_INDICES_BATCHING_DIMS, INTS_OR_NOT)               \
                      A("scatter_dimension_numbers/index_vector_dim", NULL, INDEX_VECTOR_DIM,      \
                        INT_OR_ZERO) A("indices_are_sorted", NULL, INDICES_ARE_SORTED, FLAG)       \
                          A("unique_indices", NULL, UNIQUE_INDICES, FLAG))                         \
    X(SELECT, "stablehlo.select", SPREAD, SELECT, )                                                \
    X(SELECT_AND_SCATTER, "stablehlo.select_and_scatter", SELECT_AND_SCATTER,                      \
      SELECT_AND_SCATTER, )                                                                        \
    X(RESHARD, "sdy.reshard", SHARDING, CUSTOM_CALL, )                                             \
    X(SHARDING_CONSTRAINT, "sdy.sharding_constraint", SHARDING, CUSTOM_CALL, )                     \
    X(SLICE, "stablehlo.slice", SLICE, SLICE, )                                                    \
    X(SORT, "stablehlo.sort", APPLY, SORT,                                                         \
      A("dimension", NULL, DIMENSIONS, SORT_DIM) A("is_stable", NULL, IS_STABLE, FLAG))            \
    X(SQRT, "stablehlo.sqrt", FUNCTION, SQRT, )                                                    \
    X(TOPK, "stablehlo.topk", TOP_K, TOPK, A("k", "k", K, INT) A("largest", NULL, LARGEST, FLAG))  \
    X(CHLO_TOP_K, "chlo.top_k", TOP_K, TOPK, A("k", "k", K, INT))                                  \
    X(TRANSPOSE, "stablehlo.transpose", PLAIN, TRANSPOSE,                                          \
      A("permutation", "dims", DIMENSIONS, INTS))                                                  \
    X(TRIANGULAR_SOLVE, "stablehlo.triangular_solve", PLAIN, TRIANGULAR_SOLVE,                     \
      A("left_side", NULL, LEFT_SIDE, FLAG) A("lower", NULL, LOWER, FLAG)                          \
          A("unit_diagonal", NULL, UNIT_DIAGONAL, FLAG) A("transpose_a", NULL, TRANSPOSE_A, WORD)) \
    X(TUPLE, "stablehlo.tuple", PLAIN, TUPLE, )                                                    \
    X(WHILE, "stablehlo.while", WHILE, WHILE, )                                                    \
    X(CHLO_ACOS, "chlo.acos", CHLO, UNKNOWN, )                                                     \
    X(CHLO_ASIN, "chlo.asin", CHLO, UNKNOWN, )                                                     \
    X(CHLO_ATAN, "chlo.atan", CHLO, UNKNOWN, )                                                     \
    X(CHLO_CONJ, "chlo.conj", CHLO, UNKNOWN, )                                                     \
    X(CHLO_COSH, "chlo.cosh", CHLO, UNKNOWN, )                                                     \
    X(CHLO_ERF, "chlo.erf", PLAIN, ERF, )                                                          \
    X(CHLO_IS_INF, "chlo.is_inf", CHLO, UNKNOWN, )                                                 \
    X(CHLO_IS_NEG_INF, "chlo.is_neg_inf", CHLO, UNKNOWN, )                                         \
    X(CHLO_IS_POS_INF, "chlo.is_pos_inf", CHLO, UNKNOWN, )                                         \
    X(CHLO_SQUARE, "chlo.square", CHLO, UNKNOWN, )                                                 \
    X(CHLO_TAN, "chlo.tan", PLAIN, TAN, )

enum mlir_row {
#define X(id, name, rule, opcode, attrs) MLIR_OP_##id,
    MLIR_OPS(X)
#undef X
#define X(id, name) MLIR_OP_SAME_##id,
        MLIR_SAME(X)
#undef X
#define X(id, name) MLIR_OP_WHOLE_##id,
            MLIR_CHLO_WHOLE(X)
#undef X
#define X(id, name) MLIR_OP_##id,
                MLIR_IDENTITIES(X) MLIR_REFUSED(X)
#undef X
                    MLIR_OP_UNKNOWN,
    MLIR_OP_COUNT
};

/* How an attribute's value is translated to HLO. */
enum mlir_attr_kind {
    MLIR_KIND_INTS,        /* `{1,0}`; absent: `{}` */
    MLIR_KIND_INTS_OR_NOT, /* the same; empty: no attribute */
    MLIR_KIND_INT,
    MLIR_KIND_INT_OR_ZERO, /* absent: 0 */
    MLIR_KIND_INT_LIST,    /* `{1}` */
    MLIR_KIND_SORT_DIM,    /* `{1}`; absent or -1: the last dim */
    MLIR_KIND_COUNT,       /* not written when 1 */
    MLIR_KIND_FLOAT,
    MLIR_KIND_FLAG, /* written when true */
    MLIR_KIND_WORD,
    MLIR_KIND_RNG_WORD,  /* UNIFORM: rng_uniform */
    MLIR_KIND_PRECISION, /* `{highest,default}`; not written when all are default */
    MLIR_KIND_GROUPS,    /* dense<[[0, 1]]>: `{{0,1}}` */
    MLIR_KIND_STRING,
};

/* Rules: one function each, `hlo_lower_NAME`. */
/* clang-format off */
#define MLIR_RULES(X) \
    X(PLAIN) X(APPLY) X(ALL_TO_ALL) X(BARRIER) X(BROADCAST) X(BROADCAST_IN_DIM) X(CALL) X(CASE) \
    X(CHLO) X(COMPARE) X(CONSTANT) X(CONVOLUTION) X(CUSTOM_CALL) X(DOT) X(DOT_GENERAL) X(EINSUM) X(ELEMENT) \
    X(FUNCTION) X(IF) X(INFEED) X(MANUAL) X(NAMED) X(NONE) X(OPAQUE) X(OUTFEED) X(PAD) X(RAGGED_DOT) \
    X(REDUCE_PRECISION) X(REDUCE_WINDOW) X(REFUSED) X(RNG) X(SELECT_AND_SCATTER) X(SHARDING) \
    X(SLICE) X(SPREAD) X(TOP_K) X(WHILE) X(WHOLE)
/* clang-format on */
enum mlir_rule {
#define X(name) MLIR_RULE_##name,
    MLIR_RULES(X)
#undef X
        MLIR_RULE_COUNT
};

struct mlir_attr_info {
    const char *name, *pretty; /* pretty NULL: none */
    uint8_t key, kind;
};
enum { MLIR_OP_ATTRS_MAX = 8 };
struct mlir_op_info {
    const char *name;
    uint8_t rule;                                   /* enum mlir_rule */
    uint16_t opcode;                                /* enum hlo_opcode */
    struct mlir_attr_info attrs[MLIR_OP_ATTRS_MAX]; /* name NULL ends them */
};
extern const struct mlir_op_info hlo_mlir_op_info[MLIR_OP_COUNT];

/* The row of `dialect.op`; MLIR_OP_UNKNOWN when none. O(rows). */
enum mlir_row hlo_mlir_op_by_name(const char *name, size_t size);

#endif
