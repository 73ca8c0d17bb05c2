/* engine/kernels/kernel_rules.h - rule files: what custom-calls do, for splits and costs.
 *
 * A list `kernels:`; of the file given and then of the built-in rules the first that fits an
 * instruction wins. Keys of a rule:
 *   target, name  globs (* ? {a,b}) of custom_call_target, or `opcode:topk` of an opcode; of
 * op_name or the name in backend_config when          operands: 3, 3.., results: 2; config.PATH:
 * VALUE dims          operands -> results, one pattern a leaf: names; 1 a scalar or size one; _ a
 * dim of its own that stays whole, alone a leaf of its own; .. or b.. any leading dims; ? behind a
 * pattern: may be missing. One name is one loop index. sizes         h: g * r: h is split as g is
 *   whole         indices that cannot be split, 'q if CONDITION' on a condition; so are indices of
 *                 operands alone or of results alone, but for leading dims
 *   partial       {k: add}: a split leaves partial sums; add, maximum, minimum
 *   let, flops, bytes   expressions over sizes, lets, config.PATH, bytes(operand 2),
 *                 elements(result 0), product(b)
 *   reach         of the matrix peak: a part, or parts by a word in the device's name, default
 *   inplace, effect, workspace   are read, and change nothing yet
 * Sizes that disagree, or a pattern that does not fit a leaf's rank: the rule does not fit. */
#ifndef AUTOMAP_ENGINE_KERNELS_KERNEL_RULES_H
#define AUTOMAP_ENGINE_KERNELS_KERNEL_RULES_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Asks all rules about every opaque kernel of `m` and leaves the answers in m->kernels. `path`: a
 * rule file in front of the built-in ones, or NULL. Errors in it have line and column. O(kernels x
 * rules). */
int kernel_rules_apply(const char *path, struct hlo_module *m, struct err *e) MUST_CHECK;

/* A custom-call that runs whole, with unknown work, because no rule says more. */
bool kernel_is_unknown(const struct hlo_module *m, hlo_id id);

/* A rule to start from, for a kernel without one: YAML, appended. */
void kernel_rule_write(const struct hlo_module *m, hlo_id id, struct str *out);

#endif
