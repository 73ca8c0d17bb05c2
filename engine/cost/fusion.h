/* engine/cost/fusion.h - which values are written to memory at all.
 *
 * Compilers fuse chains of element-wise work: a result that is computed where it is used is neither
 * stored nor moved. The rules are those of XLA's CPU backend (xla/service/instruction_fusion.cc,
 * ComputeGloballyUnfusible; xla/service/cpu/cpu_instruction_fusion.cc). A fusible result that all
 * its readers absorb is not stored if it has one reader or is cheap. If only some absorb it, it is
 * stored, and made again by those that do if it is cheap and that reads no more: it has at most one
 * operand that is not spread from something smaller, or operands no larger than itself.
 *
 * Values that are one buffer under several names (reshape, tuple elements, loop state) count as one
 * value. Loop state that starts from a free value, such as zeros, is a buffer of its own, named
 * after the loop's result, because the loop decides how it is split. Other free values are stored
 * where a reader needs them in memory. Plan-independent; built once per module. */
#ifndef AUTOMAP_ENGINE_COST_FUSION_H
#define AUTOMAP_ENGINE_COST_FUSION_H

#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"

struct fusion {
    hlo_value *buffer;   /* [values] the value whose buffer this one is; itself unless an alias */
    uint8_t *is_stored;  /* [values] of buffers: written to memory */
    uint8_t *is_remade;  /* [values] of buffers: stored for some readers, and made again by each
                            reader that absorbs it */
    uint8_t *is_on_host; /* [values] of buffers: kept in host memory (on_host.h) */
};

/* `is_free` [values]: values that every use makes for itself (struct classes). O(values + uses). */
int fusion_new(const struct hlo_module *m, const bool *is_free, struct fusion *out,
               struct err *e) MUST_CHECK;
/* Marks values that a kernel keeps inside as not stored: is_inside [values] of buffers. O(values).
 */
void fusion_hide(const struct hlo_module *m, struct fusion *f, const uint8_t *is_inside);

/* Whether a buffer is loop state that starts from a free value. */
static inline bool fusion_begins_free(const struct hlo_module *m, hlo_value buffer)
{
    return hlo_at(m, m->value_instruction[buffer])->opcode == HLO_OP_WHILE;
}
void fusion_release(struct fusion *f);

/* Work that a consumer can do on the fly: one output element from few input elements. */
bool fusion_is_fusible(uint16_t opcode);

/* Whether `reader` takes the computation of its operand `made` into its own loop. */
bool fusion_absorbs(const struct hlo_module *m, hlo_id reader, hlo_id made);

/* Whether convolution `id` reads that operand through a copy with its dims in order: batch, space,
 * features, or for the kernel space, in, out (xla/service/cpu/conv_canonicalization.cc). Weight
 * gradients and channels-first convolutions do. */
bool fusion_lays_out(const struct hlo_module *m, hlo_id id, uint32_t operand);

/* A reduction over the minor dims, of at most 65,536 elements: one block of threads holds a row, so
 * that the element-wise work before and behind it joins its kernel. */
bool fusion_reduces_rows(const struct hlo_module *m, hlo_id id);

#endif
