/* engine/kernels/kernel_targets.h - the custom-calls of a module by target, and those that no rule
 * describes: they run whole, their work is unknown, and their bytes are those of their shapes. */
#ifndef AUTOMAP_ENGINE_KERNELS_KERNEL_TARGETS_H
#define AUTOMAP_ENGINE_KERNELS_KERNEL_TARGETS_H

#include "hlo/meaning/cost.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

enum { KERNEL_TARGETS_MOST = 64 };

struct kernel_target {
    const char *name; /* of the module, not NUL-terminated, as the file has it: not cleaned */
    size_t size;
    hlo_id first; /* the first unknown one, else the first */
    uint32_t count, unknown;
    double flops, bytes; /* of a step: those of its rules; read and written, at least what operands
                            and results come to */
    double share;        /* of the bytes that all instructions read and write in a step */
    const char *rule;    /* who says what it does; NULL: nobody, or it is known without a rule */
};

/* Of all calls that compute, whatever their target, in a step: those with a rule, and the unknown,
 * which have bytes and no FLOP. */
struct kernel_work {
    double flops, bytes;
    uint32_t unknown;
};

struct kernel_targets {
    struct kernel_target list[KERNEL_TARGETS_MOST]; /* the first, in the order of the module */
    uint32_t count;
    struct kernel_work work;
};

/* `m` with its kernels (kernel_rules_apply), `costs` of it. O(instructions + calls x targets). */
void kernel_targets(const struct hlo_module *m, const struct hlo_costs *costs,
                    struct kernel_targets *out);

/* The one without a rule that has most bytes, or NULL. */
const struct kernel_target *kernel_largest_unknown(const struct kernel_targets *t);

/* Appends "kernel my_kernel (3) has no rule: it runs whole, its work is unknown (12.5 % of bytes)".
 */
void kernel_target_say(const struct kernel_target *t, struct str *out);

/* True for a custom-call that no rule matches: it runs whole, and its work is unknown. */
bool kernel_is_unknown(const struct hlo_module *m, hlo_id id);

/* Appends a rule in YAML to start from, for a kernel without one. */
void kernel_rule_write(const struct hlo_module *m, hlo_id id, struct str *out);

#endif
