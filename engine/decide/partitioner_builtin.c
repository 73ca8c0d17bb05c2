#include "engine/decide/partitioner_builtin.h"

/* Shardy propagates shardings; what it leaves is cut by the same SPMD partitioner, so that these
 * lines are of both: tests/ref/partitioner/measure.py, jax_use_shardy_partitioner off and on, four
 * devices, CPU. Of 35 operations measured none differs. */
#define ROWS_OF_BOTH                                                        \
    "rows:\n"                                                               \
    "  - opcode: fft\n"                                                     \
    "    does: runs whole\n"                                                \
    "    why: has no rule for fft\n"                                        \
    "  - opcode: topk\n"                                                    \
    "    does: runs whole\n"                                                \
    "    why: has no rule for topk\n"                                       \
    "  - opcode: batch-norm-training\n"                                     \
    "    does: runs whole\n"                                                \
    "    why: has no rule for batch-norm-training\n"                        \
    "  - opcode: batch-norm-grad\n"                                         \
    "    does: runs whole\n"                                                \
    "    why: has no rule for batch-norm-grad\n"                            \
    "  - opcode: batch-norm-inference\n"                                    \
    "    does: runs whole\n"                                                \
    "    why: has no rule for batch-norm-inference\n"                       \
    "  - opcode: set-dimension-size\n"                                      \
    "    does: runs whole\n"                                                \
    "    why: has no rule for set-dimension-size\n"                         \
    "  - opcode: get-dimension-size\n"                                      \
    "    does: runs whole\n"                                                \
    "    why: has no rule for get-dimension-size\n"                         \
    "  - opcode: convolution\n"                                             \
    "    when: wide groups\n"                                               \
    "    does: runs whole\n"                                                \
    "    why: splits no convolution with groups of several features each\n" \
    "  - opcode: convolution\n"                                             \
    "    when: turned groups\n"                                             \
    "    does: loses parts\n"                                               \
    "    why: loses parts of a depthwise convolution with turned dims\n"    \
    "  - opcode: convolution\n"                                             \
    "    when: batch groups\n"                                              \
    "    does: sums over all devices\n"                                     \
    "    why: sums a convolution with batch groups over all devices\n"      \
    "  - opcode: select-and-scatter\n"                                      \
    "    when: odd choice\n"                                                \
    "    does: runs whole\n"                                                \
    "    why: splits windows only where f32 or bf16 are compared\n"

/* An HLO module is cut without the rules that jax registers for its own calls. */
const char partitioner_gspmd[] =
    "partitioner: XLA GSPMD\n"
    "version: jaxlib 0.10.2\n" ROWS_OF_BOTH
    "  - target: '{Eigh,Qr,ProductOfElementaryHouseholderReflectors}'\n"
    "    does: runs whole\n"
    "    why: has no rule for calls that factorise matrices\n"
    "  - target: PartialReduce\n"
    "    does: runs whole\n"
    "    why: has no rule for PartialReduce\n";

const char partitioner_shardy[] = "partitioner: XLA Shardy\n"
                                  "version: jaxlib 0.10.2\n" ROWS_OF_BOTH;
