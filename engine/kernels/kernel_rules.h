/* engine/kernels/kernel_rules.h - rule files: how custom-calls split and what they cost.
 *
 * A file holds a list `kernels:`. Rules of the file given come before the built-in ones; the first
 * that matches an instruction wins. Keys of a rule:
 *   target     glob (* ? {a,b}) of custom_call_target, or `opcode:topk` for an opcode
 *   name       glob of op_name, or of the name in backend_config
 *   when       operands: 3, operands: 3.. (at least), results: 2, config.PATH: VALUE
 *   dims       operands -> results, one pattern for each leaf. A name is one loop index wherever it
 *              stands; 1 is a scalar or a dim of size one; _ is a dim that stays whole, or a leaf
 *              when alone; .. or b.. are any leading dims; ? after a pattern makes it optional
 *   sizes      h: g * r splits h as g is split
 *   whole      indices that cannot be split, conditionally as 'q if CONDITION'. Indices on one side
 *              of the arrow only are whole anyway, except for leading dims
 *   partial    {k: add}: splitting k leaves partial results; add, maximum, minimum
 *   let, flops, bytes
 *              expressions over sizes, lets, config.PATH, bytes(operand 2), elements(result 0) and
 *              product(b)
 *   reach      share of the matrix peak, or shares by a word in the device's name, or `default`
 *   inplace, effect, workspace
 *              accepted, but without effect so far
 * A rule does not match when sizes disagree or a pattern does not fit a leaf's rank. A name that
 * `dims` does not have, an unknown word and a word where a number is needed are mistakes. */
#ifndef AUTOMAP_ENGINE_KERNELS_KERNEL_RULES_H
#define AUTOMAP_ENGINE_KERNELS_KERNEL_RULES_H

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

/* True for a custom-call that no rule matches: it runs whole, and its work is unknown. */
bool kernel_is_unknown(const struct hlo_module *m, hlo_id id);

/* Appends a rule in YAML to start from, for a kernel without one. */
void kernel_rule_write(const struct hlo_module *m, hlo_id id, struct str *out);

#endif
