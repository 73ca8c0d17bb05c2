/* hlo/module/ops.h - the table of XLA's 133 opcodes: one row each (xla/hlo/ir/hlo_opcode.h).
 *
 * A row holds what the project knows about an opcode: its name in text, its number of operands (-1:
 * any), its factor rule (hlo/meaning/factors.h), its cost rule (hlo/meaning/cost.h), how partial
 * results pass through it, its flags, and the attributes it takes: R required, O optional
 * (attributes that every instruction may have, or that name computations, are not listed). A new
 * opcode is one row and, if its behaviour is new, one function for the new rule.
 * hlo/meaning/README.md explains the rules. */
#ifndef AUTOMAP_HLO_MODULE_OPS_H
#define AUTOMAP_HLO_MODULE_OPS_H

#include <stddef.h>
#include <stdint.h>

/* Constant, name, operands, factor rule, cost rule, partial rule, flags, attributes. Grouped by the
 * first letter of the name. */
#define HLO_OPS(X)                                                                                 \
    X(ABS, "abs", 1, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )                                \
    X(ACOS, "acos", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))         \
    X(ACOSH, "acosh", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))       \
    X(ADD, "add", 2, ELEMENTWISE, ELEMENTWISE, SUM, ELEMENTWISE, )                                 \
    X(ADD_DEPENDENCY, "add-dependency", 2, NONE, NOTHING, NONE, FLOW, )                            \
    X(AFTER_ALL, "after-all", -1, NONE, NOTHING, NONE, PLAIN, )                                    \
    X(ALL_GATHER, "all-gather", -1, COLLECTIVE_DIM, ZERO, MOVE, COLLECTIVE,                        \
      R(DIMENSIONS) O(CHANNEL_ID) O(REPLICA_GROUPS) O(CONSTRAIN_LAYOUT) O(USE_GLOBAL_DEVICE_IDS)   \
          O(MODE))                                                                                 \
    X(ALL_GATHER_DONE, "all-gather-done", 1, NONE, ZERO, NONE, FLOW_AND_COLLECTIVE, )              \
    X(ALL_GATHER_START, "all-gather-start", -1, COLLECTIVE_DIM, ZERO, NONE, FLOW_AND_COLLECTIVE,   \
      R(DIMENSIONS) O(CHANNEL_ID) O(REPLICA_GROUPS) O(CONSTRAIN_LAYOUT) O(USE_GLOBAL_DEVICE_IDS)   \
          O(MODE))                                                                                 \
    X(ALL_REDUCE, "all-reduce", -1, PAIRWISE, ALL_REDUCE, REDUCE, COLLECTIVE,                      \
      O(CHANNEL_ID) O(REPLICA_GROUPS) O(CONSTRAIN_LAYOUT) O(USE_GLOBAL_DEVICE_IDS) O(MODE))        \
    X(ALL_REDUCE_DONE, "all-reduce-done", 1, NONE, ZERO, NONE, FLOW_AND_COLLECTIVE, )              \
    X(ALL_REDUCE_START, "all-reduce-start", -1, PAIRWISE, ALL_REDUCE, REDUCE, COLLECTIVE,          \
      O(CHANNEL_ID) O(REPLICA_GROUPS) O(CONSTRAIN_LAYOUT) O(USE_GLOBAL_DEVICE_IDS) O(MODE))        \
    X(ALL_TO_ALL, "all-to-all", -1, COLLECTIVE_DIM, ZERO, MOVE, COLLECTIVE,                        \
      O(DIMENSIONS) O(CHANNEL_ID) O(REPLICA_GROUPS) O(CONSTRAIN_LAYOUT) O(USE_GLOBAL_DEVICE_IDS)   \
          O(MODE))                                                                                 \
    X(AND, "and", 2, ELEMENTWISE, ELEMENTWISE, AND, ELEMENTWISE, )                                 \
    X(ASIN, "asin", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))         \
    X(ASINH, "asinh", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))       \
    X(ASYNC_DONE, "async-done", 1, NONE, ZERO, NONE, FLOW,                                         \
      O(ASYNC_EXECUTION_THREAD) O(OUTPUT_TO_OPERAND_ALIASING))                                     \
    X(ASYNC_START, "async-start", -1, NONE, CALL, NONE, FLOW,                                      \
      O(ASYNC_EXECUTION_THREAD) O(OUTPUT_TO_OPERAND_ALIASING))                                     \
    X(ASYNC_UPDATE, "async-update", -1, NONE, ZERO, NONE, FLOW,                                    \
      O(ASYNC_EXECUTION_THREAD) O(OUTPUT_TO_OPERAND_ALIASING))                                     \
    X(ATAN2, "atan2", 2, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))       \
    X(ATANH, "atanh", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))       \
    X(BATCH_NORM_GRAD, "batch-norm-grad", 5, BATCH_NORM, ZERO, NONE, PLAIN,                        \
      R(EPSILON) R(FEATURE_INDEX))                                                                 \
    X(BATCH_NORM_INFERENCE, "batch-norm-inference", 5, BATCH_NORM_INFERENCE, ZERO, NONE, PLAIN,    \
      R(EPSILON) R(FEATURE_INDEX))                                                                 \
    X(BATCH_NORM_TRAINING, "batch-norm-training", 3, BATCH_NORM, ZERO, NONE, PLAIN,                \
      R(EPSILON) R(FEATURE_INDEX))                                                                 \
    X(BITCAST, "bitcast", 1, BITCAST, NOTHING, MOVE, PLAIN, )                                      \
    X(BITCAST_CONVERT, "bitcast-convert", 1, BITCAST_CONVERT, ELEMENTWISE, NONE, PLAIN, )          \
    X(BROADCAST, "broadcast", 1, BROADCAST, ZERO, MOVE, PLAIN, O(DIMENSIONS))                      \
    X(CALL, "call", -1, NONE, CALL, NONE, FLOW, O(IS_COMPOSITE))                                   \
    X(CBRT, "cbrt", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))         \
    X(CEIL, "ceil", 1, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )                              \
    X(CHOLESKY, "cholesky", 1, MATRIX, CHOLESKY, NONE, PLAIN, O(LOWER))                            \
    X(CLAMP, "clamp", 3, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )                            \
    X(COUNT_LEADING_ZEROS, "count-leading-zeros", 1, ELEMENTWISE, ELEMENTWISE, NONE,               \
      ELEMENTWISE, )                                                                               \
    X(COLLECTIVE_BROADCAST, "collective-broadcast", -1, PAIRWISE, ZERO, MOVE, COLLECTIVE,          \
      O(CHANNEL_ID) O(REPLICA_GROUPS) O(HAS_DYNAMIC_ROOT))                                         \
    X(COLLECTIVE_PERMUTE, "collective-permute", -1, PAIRWISE, ZERO, MOVE, COLLECTIVE,              \
      R(SOURCE_TARGET_PAIRS) O(CHANNEL_ID) O(SLICE_SIZES))                                         \
    X(COLLECTIVE_PERMUTE_DONE, "collective-permute-done", 1, NONE, ZERO, NONE,                     \
      FLOW_AND_COLLECTIVE, O(CHANNEL_ID))                                                          \
    X(COLLECTIVE_PERMUTE_START, "collective-permute-start", -1, COLLECTIVE_DIM, ZERO, NONE,        \
      FLOW_AND_COLLECTIVE, R(SOURCE_TARGET_PAIRS) O(CHANNEL_ID) O(SLICE_SIZES))                    \
    X(COMPARE, "compare", 2, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE,                          \
      R(DIRECTION) O(TYPE) O(ORDER))                                                               \
    X(COMPLEX, "complex", 2, ELEMENTWISE, ELEMENTWISE, SUM, ELEMENTWISE, )                         \
    X(CONCATENATE, "concatenate", -1, CONCATENATE, ZERO, MOVE, PLAIN, R(DIMENSIONS))               \
    X(CONDITIONAL, "conditional", -1, NONE, CONDITIONAL, NONE, FLOW, )                             \
    X(CONSTANT, "constant", 0, RESULT, NOTHING, NONE, FREE, )                                      \
    X(CONVERT, "convert", 1, ELEMENTWISE, ELEMENTWISE, CONVERT, ELEMENTWISE, )                     \
    X(CONVOLUTION, "convolution", -1, CONVOLUTION, CONVOLUTION, BILINEAR, PLAIN,                   \
      O(WINDOW) R(DIM_LABELS) O(FEATURE_GROUP_COUNT) O(BATCH_GROUP_COUNT) O(CONVOLUTION_KIND)      \
          O(OPERAND_PRECISION) O(ALGORITHM) O(SPARSITY_CONFIG))                                    \
    X(COPY, "copy", 1, ELEMENTWISE, ZERO, MOVE, PLAIN, )                                           \
    X(COPY_DONE, "copy-done", 1, NONE, ZERO, NONE, FLOW, )                                         \
    X(COPY_START, "copy-start", 1, NONE, ZERO, NONE, FLOW, O(CROSS_PROGRAM_PREFETCH_INDEX))        \
    X(COSINE, "cosine", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))     \
    X(COSH, "cosh", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))         \
    X(CUSTOM_CALL, "custom-call", -1, CUSTOM_CALL, UNKNOWN, NONE, OPAQUE,                          \
      R(CUSTOM_CALL_TARGET) O(WINDOW) O(DIM_LABELS) O(FEATURE_GROUP_COUNT) O(BATCH_GROUP_COUNT)    \
          O(OPERAND_PRECISION) O(PADDING_TYPE) O(OPERAND_LAYOUT_CONSTRAINTS)                       \
              O(CUSTOM_CALL_HAS_SIDE_EFFECT) O(LITERAL) O(OUTPUT_TO_OPERAND_ALIASING) O(SCHEDULE)  \
                  O(API_VERSION))                                                                  \
    X(DIVIDE, "divide", 2, ELEMENTWISE, ELEMENTWISE, QUOTIENT, ELEMENTWISE, )                      \
    X(DOMAIN, "domain", 1, NONE, NOTHING, NONE, FLOW, R(DOMAIN))                                   \
    X(DOT, "dot", 2, DOT, DOT, BILINEAR, PLAIN,                                                    \
      O(LHS_BATCH_DIMS) O(LHS_CONTRACTING_DIMS) O(RHS_BATCH_DIMS) O(RHS_CONTRACTING_DIMS)          \
          O(OPERAND_PRECISION) O(ALGORITHM))                                                       \
    X(DYNAMIC_RESHAPE, "dynamic-reshape", -1, NONE, ZERO, NONE, PLAIN, )                           \
    X(DYNAMIC_SLICE, "dynamic-slice", -1, DYNAMIC_SLICE, DYNAMIC_SLICE, MOVE_FIRST, PLAIN,         \
      R(DYNAMIC_SLICE_SIZES))                                                                      \
    X(DYNAMIC_UPDATE_SLICE, "dynamic-update-slice", -1, DYNAMIC_UPDATE_SLICE,                      \
      DYNAMIC_UPDATE_SLICE, UPDATE, PLAIN, )                                                       \
    X(ERF, "erf", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))           \
    X(EXPONENTIAL, "exponential", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE,               \
      O(RESULT_ACCURACY))                                                                          \
    X(EXPONENTIAL_MINUS_ONE, "exponential-minus-one", 1, ELEMENTWISE, TRANSCENDENTAL, NONE,        \
      ELEMENTWISE, O(RESULT_ACCURACY))                                                             \
    X(FFT, "fft", 1, FFT, FFT, SUM, PLAIN, R(FFT_TYPE) R(FFT_LENGTH))                              \
    X(FLOOR, "floor", 1, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )                            \
    X(FUSION, "fusion", -1, NONE, FUSION, NONE, FLOW, R(KIND) O(OUTPUT_TO_OPERAND_ALIASING))       \
    X(GATHER, "gather", 2, GATHER, GATHER, MOVE_FIRST, PLAIN,                                      \
      R(OFFSET_DIMS) R(COLLAPSED_SLICE_DIMS) R(START_INDEX_MAP) O(OPERAND_BATCHING_DIMS)           \
          O(START_INDICES_BATCHING_DIMS) R(INDEX_VECTOR_DIM) R(SLICE_SIZES) O(INDICES_ARE_SORTED)) \
    X(GET_DIMENSION_SIZE, "get-dimension-size", 1, DIMENSION_SIZE, ZERO, NONE, PLAIN,              \
      R(DIMENSIONS))                                                                               \
    X(GET_TUPLE_ELEMENT, "get-tuple-element", 1, NONE, NOTHING, NONE, FLOW, )                      \
    X(IMAG, "imag", 1, ELEMENTWISE, ELEMENTWISE, SUM, ELEMENTWISE, )                               \
    X(INFEED, "infeed", 1, NONE, INFEED, NONE, FLOW_AND_SIDE_EFFECT, O(INFEED_CONFIG))             \
    X(IOTA, "iota", 0, RESULT, ZERO, NONE, FREE, R(IOTA_DIMENSION))                                \
    X(IS_FINITE, "is-finite", 1, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )                    \
    X(LOG, "log", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))           \
    X(LOG_PLUS_ONE, "log-plus-one", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE,             \
      O(RESULT_ACCURACY))                                                                          \
    X(LOGISTIC, "logistic", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY)) \
    X(MAP, "map", -1, ELEMENTWISE, MAP, NONE, PLAIN, O(DIMENSIONS))                                \
    X(MAXIMUM, "maximum", 2, ELEMENTWISE, ELEMENTWISE, MAX, ELEMENTWISE, )                         \
    X(MINIMUM, "minimum", 2, ELEMENTWISE, ELEMENTWISE, MIN, ELEMENTWISE, )                         \
    X(MULHI, "mulhi", 2, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )                            \
    X(MULTIPLY, "multiply", 2, ELEMENTWISE, ELEMENTWISE, PRODUCT, ELEMENTWISE, )                   \
    X(NEGATE, "negate", 1, ELEMENTWISE, ELEMENTWISE, SUM, ELEMENTWISE, )                           \
    X(NOT, "not", 1, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )                                \
    X(OPT_BARRIER, "opt-barrier", 1, NONE, ZERO, NONE, FLOW, )                                     \
    X(OR, "or", 2, ELEMENTWISE, ELEMENTWISE, OR, ELEMENTWISE, )                                    \
    X(OUTFEED, "outfeed", 2, NONE, OUTFEED, NONE, SIDE_EFFECT, O(OUTFEED_SHAPE) O(OUTFEED_CONFIG)) \
    X(PAD, "pad", 2, PAD, ZERO, MOVE, PLAIN, R(PADDING))                                           \
    X(PARAMETER, "parameter", 0, NONE, NOTHING, NONE, FLOW, O(PARAMETER_REPLICATION))              \
    X(PARTITION_ID, "partition-id", 0, NONE, ZERO, NONE, OPAQUE, )                                 \
    X(POPCNT, "popcnt", 1, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )                          \
    X(POWER, "power", 2, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))       \
    X(RAGGED_ALL_TO_ALL, "ragged-all-to-all", 6, NONE, ZERO, NONE, COLLECTIVE,                     \
      O(CHANNEL_ID) O(REPLICA_GROUPS) O(CONSTRAIN_LAYOUT) O(USE_GLOBAL_DEVICE_IDS) O(MODE))        \
    X(RAGGED_DOT, "ragged-dot", 3, RAGGED_DOT, RAGGED_DOT, BILINEAR, PLAIN,                        \
      O(LHS_BATCH_DIMS) O(LHS_CONTRACTING_DIMS) O(RHS_BATCH_DIMS) O(RHS_CONTRACTING_DIMS)          \
          O(OPERAND_PRECISION) O(ALGORITHM) O(LHS_RAGGED_DIMS) O(RHS_GROUP_DIMS))                  \
    X(REAL, "real", 1, ELEMENTWISE, ELEMENTWISE, SUM, ELEMENTWISE, )                               \
    X(RECV, "recv", 1, NONE, ZERO, NONE, FLOW_AND_SIDE_EFFECT, O(CHANNEL_ID) O(IS_HOST_TRANSFER))  \
    X(RECV_DONE, "recv-done", 1, NONE, ZERO, NONE, FLOW_AND_SIDE_EFFECT,                           \
      O(CHANNEL_ID) O(IS_HOST_TRANSFER))                                                           \
    X(REDUCE, "reduce", -1, REDUCE, REDUCE, REDUCE, PLAIN, R(DIMENSIONS))                          \
    X(REDUCE_PRECISION, "reduce-precision", 1, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE,        \
      R(EXPONENT_BITS) R(MANTISSA_BITS))                                                           \
    X(REDUCE_SCATTER, "reduce-scatter", -1, COLLECTIVE_DIM, ZERO, REDUCE, COLLECTIVE,              \
      R(DIMENSIONS) O(CHANNEL_ID) O(REPLICA_GROUPS) O(CONSTRAIN_LAYOUT) O(USE_GLOBAL_DEVICE_IDS)   \
          O(MODE))                                                                                 \
    X(REDUCE_WINDOW, "reduce-window", -1, REDUCE_WINDOW, REDUCE_WINDOW, REDUCE, PLAIN, O(WINDOW))  \
    X(REMAINDER, "remainder", 2, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )                    \
    X(REPLICA_ID, "replica-id", 0, NONE, ZERO, NONE, OPAQUE, )                                     \
    X(RESHAPE, "reshape", 1, RESHAPE, ZERO, MOVE, PLAIN, O(INFERRED_DIMENSION))                    \
    X(REVERSE, "reverse", 1, REVERSE, ZERO, MOVE, PLAIN, R(DIMENSIONS))                            \
    X(RNG, "rng", -1, RESULT, RNG, NONE, OPAQUE, R(DISTRIBUTION))                                  \
    X(RNG_BIT_GENERATOR, "rng-bit-generator", 1, RNG_BITS, RNG, NONE, OPAQUE, R(ALGORITHM))        \
    X(RNG_GET_AND_UPDATE_STATE, "rng-get-and-update-state", 0, NONE, ZERO, NONE,                   \
      OPAQUE_AND_SIDE_EFFECT, R(DELTA))                                                            \
    X(ROUND_NEAREST_AFZ, "round-nearest-afz", 1, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )    \
    X(ROUND_NEAREST_EVEN, "round-nearest-even", 1, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )  \
    X(RSQRT, "rsqrt", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))       \
    X(SCALED_DOT, "scaled-dot", 4, SCALED_DOT, DOT, NONE, PLAIN,                                   \
      O(LHS_BATCH_DIMS) O(LHS_CONTRACTING_DIMS) O(RHS_BATCH_DIMS) O(RHS_CONTRACTING_DIMS)          \
          O(OPERAND_PRECISION) O(ALGORITHM))                                                       \
    X(SCAN, "scan", -1, SCAN, SCAN, NONE, PLAIN,                                                   \
      R(DIMENSIONS) R(NUM_CARRIES) O(IS_REVERSE) O(IS_ASSOCIATIVE))                                \
    X(SCATTER, "scatter", -1, SCATTER, SCATTER, SCATTER, PLAIN,                                    \
      R(UPDATE_WINDOW_DIMS) R(INSERTED_WINDOW_DIMS) R(SCATTER_DIMS_TO_OPERAND_DIMS)                \
          O(INPUT_BATCHING_DIMS) O(SCATTER_INDICES_BATCHING_DIMS) R(INDEX_VECTOR_DIM)              \
              O(INDICES_ARE_SORTED) O(UNIQUE_INDICES))                                             \
    X(SELECT, "select", 3, ELEMENTWISE, ELEMENTWISE, SELECT, ELEMENTWISE, )                        \
    X(SELECT_AND_SCATTER, "select-and-scatter", 3, SELECT_AND_SCATTER, SELECT_AND_SCATTER,         \
      SCATTER_SELECTED, PLAIN, O(WINDOW))                                                          \
    X(SEND, "send", 2, NONE, ZERO, NONE, FLOW_AND_SIDE_EFFECT, O(CHANNEL_ID) O(IS_HOST_TRANSFER))  \
    X(SEND_DONE, "send-done", 1, NONE, ZERO, NONE, SIDE_EFFECT, O(CHANNEL_ID) O(IS_HOST_TRANSFER)) \
    X(SET_DIMENSION_SIZE, "set-dimension-size", 2, DIMENSION_SIZE, ZERO, NONE, PLAIN,              \
      R(DIMENSIONS))                                                                               \
    X(SHIFT_LEFT, "shift-left", 2, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )                  \
    X(SHIFT_RIGHT_ARITHMETIC, "shift-right-arithmetic", 2, ELEMENTWISE, ELEMENTWISE, NONE,         \
      ELEMENTWISE, )                                                                               \
    X(SHIFT_RIGHT_LOGICAL, "shift-right-logical", 2, ELEMENTWISE, ELEMENTWISE, NONE,               \
      ELEMENTWISE, )                                                                               \
    X(SIGN, "sign", 1, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )                              \
    X(SINE, "sine", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))         \
    X(SINH, "sinh", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))         \
    X(SLICE, "slice", 1, SLICE, SLICE, MOVE, PLAIN, R(SLICE))                                      \
    X(SORT, "sort", -1, SORT, SORT, NONE, PLAIN, R(DIMENSIONS) O(IS_STABLE))                       \
    X(SQRT, "sqrt", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))         \
    X(STOCHASTIC_CONVERT, "stochastic-convert", 2, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )  \
    X(SUBTRACT, "subtract", 2, ELEMENTWISE, ELEMENTWISE, SUM, ELEMENTWISE, )                       \
    X(TAN, "tan", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))           \
    X(TANH, "tanh", 1, ELEMENTWISE, TRANSCENDENTAL, NONE, ELEMENTWISE, O(RESULT_ACCURACY))         \
    X(TOPK, "topk", 1, TOPK, ZERO, NONE, PLAIN, R(K) O(LARGEST) O(IS_STABLE))                      \
    X(TRANSPOSE, "transpose", 1, TRANSPOSE, TRANSPOSE, MOVE, PLAIN, R(DIMENSIONS))                 \
    X(TRIANGULAR_SOLVE, "triangular-solve", 2, MATRIX, TRIANGULAR_SOLVE, LAST, PLAIN,              \
      O(LEFT_SIDE) O(LOWER) O(UNIT_DIAGONAL) O(TRANSPOSE_A))                                       \
    X(TUPLE, "tuple", -1, NONE, TUPLE, NONE, FLOW, )                                               \
    X(WHILE, "while", 1, NONE, WHILE, NONE, FLOW, )                                                \
    X(XOR, "xor", 2, ELEMENTWISE, ELEMENTWISE, NONE, ELEMENTWISE, )

enum hlo_opcode {
#define X(id, name, arity, factors, cost, partial, flags, attrs) HLO_OP_##id,
    HLO_OPS(X)
#undef X
        HLO_OP_UNKNOWN, /* an opcode this table does not know: kept, warned about, no factors */
    HLO_OP_COUNT
};

/* Which dims of operands and result may be split together: one function each in factors*.c. */
#define HLO_FACTOR_RULES(X)                                      \
    X(NONE) /* every dim blocked, unless the opcode is a flow */ \
    X(RESULT)                                                    \
    X(ELEMENTWISE)                                               \
    X(PAIRWISE)                                                  \
    X(BROADCAST)                                                 \
    X(TRANSPOSE)                                                 \
    X(RESHAPE)                                                   \
    X(BITCAST)                                                   \
    X(BITCAST_CONVERT)                                           \
    X(REVERSE)                                                   \
    X(CONCATENATE)                                               \
    X(PAD)                                                       \
    X(SLICE)                                                     \
    X(DYNAMIC_SLICE)                                             \
    X(DYNAMIC_UPDATE_SLICE)                                      \
    X(DIMENSION_SIZE)                                            \
    X(DOT)                                                       \
    X(RAGGED_DOT)                                                \
    X(SCALED_DOT)                                                \
    X(CONVOLUTION)                                               \
    X(REDUCE)                                                    \
    X(REDUCE_WINDOW)                                             \
    X(SELECT_AND_SCATTER)                                        \
    X(SCAN)                                                      \
    X(SORT)                                                      \
    X(TOPK)                                                      \
    X(GATHER)                                                    \
    X(SCATTER)                                                   \
    X(BATCH_NORM)                                                \
    X(BATCH_NORM_INFERENCE)                                      \
    X(FFT)                                                       \
    X(MATRIX)                                                    \
    X(RNG_BITS)                                                  \
    X(COLLECTIVE_DIM)                                            \
    X(CUSTOM_CALL)

enum hlo_factor_rule {
#define X(id) HLO_FACTORS_##id,
    HLO_FACTOR_RULES(X)
#undef X
        HLO_FACTORS_COUNT
};

/* How flops, transcendental operations and bytes are counted: one function each in cost.c. */
#define HLO_COST_RULES(X)                                  \
    X(NOTHING) /* 0 flops, 0 bytes */                      \
    X(ZERO)    /* 0 flops, operands and result as bytes */ \
    X(ELEMENTWISE)                                         \
    X(TRANSCENDENTAL)                                      \
    X(RNG)                                                 \
    X(TUPLE)                                               \
    X(INFEED)                                              \
    X(OUTFEED)                                             \
    X(TRANSPOSE)                                           \
    X(DOT)                                                 \
    X(RAGGED_DOT)                                          \
    X(CONVOLUTION)                                         \
    X(REDUCE)                                              \
    X(REDUCE_WINDOW)                                       \
    X(SELECT_AND_SCATTER)                                  \
    X(MAP)                                                 \
    X(SCAN)                                                \
    X(SORT)                                                \
    X(GATHER)                                              \
    X(SCATTER)                                             \
    X(SLICE)                                               \
    X(DYNAMIC_SLICE)                                       \
    X(DYNAMIC_UPDATE_SLICE)                                \
    X(FFT)                                                 \
    X(CHOLESKY)                                            \
    X(TRIANGULAR_SOLVE)                                    \
    X(ALL_REDUCE)                                          \
    X(CALL)                                                \
    X(WHILE)                                               \
    X(CONDITIONAL)                                         \
    X(FUSION)                                              \
    X(UNKNOWN)

enum hlo_cost_rule {
#define X(id) HLO_COST_##id,
    HLO_COST_RULES(X)
#undef X
        HLO_COST_COUNT
};

/* Which operands may be partial results (still to be combined over devices), and with which
 * combiner, so that the result is partial in their place. "together": all of them at once. See
 * hlo_passes_partial. */
enum hlo_partial_rule {
    HLO_PARTIAL_NONE,
    HLO_PARTIAL_MOVE,             /* moves values only: all together, any combiner */
    HLO_PARTIAL_MOVE_FIRST,       /* operand 0, any combiner; the others are indices */
    HLO_PARTIAL_UPDATE,           /* operands 0 and 1 together, any combiner; then indices */
    HLO_PARTIAL_SELECT,           /* all but operand 0 together, any combiner */
    HLO_PARTIAL_SUM,              /* sums, all together */
    HLO_PARTIAL_CONVERT,          /* between floats: sums up to rounding, max and min */
    HLO_PARTIAL_PRODUCT,          /* sums: one operand alone; products: together */
    HLO_PARTIAL_BILINEAR,         /* sums: operand 0 or 1 alone */
    HLO_PARTIAL_QUOTIENT,         /* sums: operand 0 */
    HLO_PARTIAL_LAST,             /* sums: last operand */
    HLO_PARTIAL_MAX,              /* together */
    HLO_PARTIAL_MIN,              /* together */
    HLO_PARTIAL_AND,              /* together */
    HLO_PARTIAL_OR,               /* together */
    HLO_PARTIAL_REDUCE,           /* the combiner of its reducer: all together */
    HLO_PARTIAL_SCATTER,          /* the same: all but the indices together */
    HLO_PARTIAL_SCATTER_SELECTED, /* the same: all but operand 0 together */
};

enum hlo_op_flags {
    HLO_OP_IS_PLAIN = 0,
    HLO_OP_IS_ELEMENTWISE = 1 << 0, /* result element i depends on element i of each operand */
    HLO_OP_IS_FREE = 1 << 1,        /* any device can make any part of it without input */
    HLO_OP_IS_OPAQUE = 1 << 2,      /* may differ between runs or devices: never free */
    HLO_OP_IS_SIDE_EFFECT = 1 << 3,
    HLO_OP_IS_FLOW = 1 << 4, /* values pass through unchanged or come from outside: blocks
                                nothing; hlo_flows_of says which */
    HLO_OP_IS_COLLECTIVE = 1 << 5,
    /* combinations used in rows */
    HLO_OP_IS_FLOW_AND_COLLECTIVE = HLO_OP_IS_FLOW | HLO_OP_IS_COLLECTIVE,
    HLO_OP_IS_FLOW_AND_SIDE_EFFECT = HLO_OP_IS_FLOW | HLO_OP_IS_SIDE_EFFECT,
    HLO_OP_IS_OPAQUE_AND_SIDE_EFFECT = HLO_OP_IS_OPAQUE | HLO_OP_IS_SIDE_EFFECT,
};

enum { HLO_OP_ATTRS_MAX = 16, HLO_OP_ATTR_REQUIRED = 128 };

struct hlo_op_info {
    const char *name;
    int8_t arity;
    uint8_t factors; /* enum hlo_factor_rule */
    uint8_t cost;    /* enum hlo_cost_rule; HLO_COST_TRANSCENDENTAL says what it says */
    uint8_t partial; /* enum hlo_partial_rule */
    uint8_t flags;   /* enum hlo_op_flags */
    /* enum hlo_attr_key + 1, plus HLO_OP_ATTR_REQUIRED; 0 ends the list */
    uint8_t attrs[HLO_OP_ATTRS_MAX];
};
extern const struct hlo_op_info hlo_op_info[HLO_OP_COUNT];

/* HLO_OP_UNKNOWN when none. O(rows of the first letter). */
enum hlo_opcode hlo_op_by_name(const char *name, size_t size);

#endif
