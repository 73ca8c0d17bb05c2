/* engine/decide/partitioner.h - what a partitioner does with an instruction though it could be
 * split: a table that a person can edit.
 *
 * hlo/meaning/factors.h says how an instruction may be split; a compiler does less. What XLA's
 * partitioner has no rule for it replicates: each split operand is gathered, every device computes
 * all of it and keeps its part. Costs, plans and exports go by that. A table is a YAML file:
 *
 *   partitioner: XLA GSPMD          name and version, for messages
 *   version: jaxlib 0.10.2
 *   rows:                           the first that fits an instruction says what becomes of it
 *     - opcode: fft                 a glob of opcodes (* ? {a,b}), or target: of custom-calls
 *       when: wide groups           a convolution whose groups have several features each; or:
 *                                 turned groups (one feature each, the dims of the result in an
 *                                 order that XLA mistakes), batch groups; or: odd choice, of a
 *                                 select-and-scatter that is no order of two f32 or bf16
 *       does: runs whole            or: sums over all devices, loses parts
 *       why: has no rule for fft    ends a sentence
 *
 * Two are built in, gspmd and shardy (partitioner_builtin.c), each line measured
 * (tests/ref/partitioner/measure.py). Read once, then immutable: any thread may ask. */
#ifndef AUTOMAP_ENGINE_DECIDE_PARTITIONER_H
#define AUTOMAP_ENGINE_DECIDE_PARTITIONER_H

#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

enum { PARTITIONER_ROWS_MOST = 64 };

struct partitioner_row {
    const char *opcode, *target; /* a glob; one of them is NULL */
    uint8_t when, does;          /* of partitioner.c's lists */
    const char *why;
};

struct partitioner {
    const char *name, *version;
    struct partitioner_row rows[PARTITIONER_ROWS_MOST];
    uint32_t row_count;
    uint64_t rows_of[HLO_OP_COUNT]; /* bit k: row k is of this opcode */
    struct arena arena;
};

/* `which`: "gspmd", "shardy", or the path of a table; NULL: gspmd. Errors have line and column.
 * Release also on error. */
int partitioner_read(const char *which, struct partitioner *out, struct err *e) MUST_CHECK;
void partitioner_release(struct partitioner *p);

/* Why `id` runs whole on every device, for people: "has no rule for ..."; NULL: it is split as its
 * factors say, as all are when `p` is NULL. O(rows of its opcode). */
const char *partitioner_runs_whole(const struct partitioner *p, const struct hlo_module *m,
                                   hlo_id id);

/* Its sums are over all devices, whichever axes its summed dim is split along: a convolution with
 * batch groups, the gradient of a grouped kernel. Where some axes split none of its dims XLA adds
 * equal copies and the result is too large by their number (2 x 2 devices, batch on x: twice the
 * gradient, run on CPU). So its operands are split along those axes too, which takes no
 * communication (step_tables_spare_axes). O(rows of its opcode). */
bool partitioner_sums_everywhere(const struct partitioner *p, const struct hlo_module *m,
                                 hlo_id id);

/* Split, it gives wrong numbers (zeros in place of parts), so plans run it whole and exports say so
 * around it: its operands are gathered before it, its result is cut behind. O(rows of its opcode).
 */
bool partitioner_loses_parts(const struct partitioner *p, const struct hlo_module *m, hlo_id id);

#endif
