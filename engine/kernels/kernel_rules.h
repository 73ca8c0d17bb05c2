/* engine/kernels/kernel_rules.h - rule files: how custom-calls split and what they cost.
 *
 * A file holds a list `kernels:`. Rules of the file given come before the built-in ones; the first
 * that matches an instruction wins; where none does, the module's own (xla.sdy.sharding_rule). It
 * may also hold `attention: {forward: REACH, backward: REACH}`, the reach of written-out attention
 * that counts as fused. Keys of a rule:
 *
 *   target     glob (* ? {a,b}) of custom_call_target, or `opcode:topk` for an opcode
 *   name       glob of op_name, of the name in backend_config, or of all frontend attributes
 *   when       operands: 3, operands: 3.. (at least), results: 2, config.PATH: VALUE
 *   dims       operands -> results, one pattern for each leaf. A name is one loop index wherever it
 *              stands; a number is a dim of that size, 1 alone a scalar too; _ is a dim that stays
 *              whole, or a leaf when alone; .. or b.. are any leading dims, as many wherever b..
 *              stands; ? after a pattern makes it optional
 *   like       in place of dims: dot, convolution, convolution-input, convolution-filter
 *   numbers    config.PATH of a dot's dimension numbers (kernel_like.h)
 *   sizes      h: g * r splits h as g is split
 *   whole      indices that cannot be split, conditionally as 'q if CONDITION'; b..: all of them.
 *              Indices on one side of the arrow only are whole anyway
 *   partial    {k: add}: splitting k leaves partial results; add, maximum, minimum; those without k
 *              of a kernel that has results with k are combined inside it
 *   let, flops, bytes, workspace
 *              expressions over sizes, lets, config.PATH, bytes(operand 2), elements(result 0) and
 *              product(b)
 *   reach      share of the matrix peak, or shares by a word in the device's name, or `default`
 *   inplace    {0: 1}: result 0 takes the memory of operand 1 where that ends
 *   workspace  bytes beside operands and results while it runs, split as the first result is
 *   effect     identity or annotation (passes its operand on), allocate (memory without contents),
 *              host (runs in host memory, whole without dims), offload (its result is kept in host
 *              memory), fetch (the way back)
 * A rule does not match when sizes disagree or a pattern does not fit a leaf's rank. A name that
 * `dims` does not have, an unknown word and a word where a number is needed are mistakes. */
#ifndef AUTOMAP_ENGINE_KERNELS_KERNEL_RULES_H
#define AUTOMAP_ENGINE_KERNELS_KERNEL_RULES_H

#include "hlo/meaning/kernels.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct kernel_rules; /* rules as read; immutable */

/* `path`: a rule file that precedes the built-in rules, or NULL. What is wrong in it has line and
 * column, though no instruction may ever meet the rule. Free with kernel_rules_free (NULL ok). */
int kernel_rules_read(const char *path, struct kernel_rules **out, struct err *e) MUST_CHECK;
void kernel_rules_free(struct kernel_rules *r);

/* Matches every opaque kernel of `m` against the rules and stores the results in m->kernels.
 * ERR_INPUT: an expression asks for an operand that the instruction does not have.
 * O(kernels x rules). */
int kernel_rules_apply(const struct kernel_rules *r, struct hlo_module *m,
                       struct err *e) MUST_CHECK;

/* The kernels that attention counts as where it is fused (--attention fused), forward and backward:
 * only their reach is set. Texts are in `a`. */
int kernel_rules_attention(const struct kernel_rules *r, struct arena *a, struct hlo_kernel out[2],
                           struct err *e) MUST_CHECK;

#endif
