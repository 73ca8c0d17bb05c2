/* engine/doctor/evidence.h - what a collective's neighbours say. Private to engine/doctor. */
#ifndef AUTOMAP_ENGINE_DOCTOR_EVIDENCE_H
#define AUTOMAP_ENGINE_DOCTOR_EVIDENCE_H

#include "engine/cluster/collectives.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/groups.h"
#include "hlo/meaning/frames.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

/* Instructions in order of two keys. Within a dump: op_name and stack frame, to find those the
 * partitioner made for one. From dump to dump: primitive (last part of op_name) and innermost line,
 * as names and frames are numbered anew and prefixes come and go. */
struct evidence_row {
    const char *name;
    uint64_t place; /* frame, or line */
    hlo_id id;
    hlo_id at; /* whose frames these are: its own, or those of the call it stands in */
};
struct evidence_index {
    const struct hlo_module *m;
    struct evidence_row *rows;
    uint32_t count;
};

/* `frames`: of `m`, for an index by lines; NULL: by frames. O(instructions log instructions). */
int evidence_index_new(const struct hlo_module *m, const struct hlo_frames *frames,
                       struct evidence_index *out, struct err *e) MUST_CHECK;
void evidence_index_release(struct evidence_index *x);

struct evidence {
    const struct hlo_module *m;
    hlo_id id, speaker; /* speaker: whose metadata it is; `id` but for joined collectives */
    enum collective_kind kind;
    const struct device_groups *groups;
    const char *primitive; /* last part of op_name: "dot_general"; "" without metadata */
    hlo_id op;             /* the instruction it serves, HLO_NONE */
    uint16_t opcode;       /* of `op`, or what `primitive` stands for; HLO_OP_UNKNOWN: unknown */
    int64_t dim;           /* gathered or scattered dim; -1 */
    hlo_id source;         /* what it takes, seen through moves: parameter, dot, reduce, ... */
    bool is_stored;        /* `source` is a parameter, or a piece of what a loop carries */
    const char *stored;    /* the parameter's name; "" */
    bool is_sliced;        /* the result is cut by partition: replicated, then cut */
    bool is_masked;        /* takes a select by device number: broadcast from one device */
    int slot;    /* which operand of `op` it becomes; -1: none, it is made of the result */
    hlo_id asks; /* constraint that follows `op`; HLO_NONE */
};

void evidence_of(const struct evidence_index *x, hlo_id id, enum collective_kind kind,
                 const struct device_groups *groups, struct evidence *out);

/* The same instruction in another dump, whose index is by lines: of those with its primitive and
 * its line, the one called alike. `chain` [count], innermost first, count >= 1. HLO_NONE: none. */
hlo_id evidence_find(const struct evidence_index *x, const struct hlo_frames *frames,
                     const char *op_name, const struct hlo_frame *chain, uint32_t count);
/* The first constraint behind an instruction, through what passes a split on; HLO_NONE. */
hlo_id evidence_constraint_behind(const struct hlo_module *m, hlo_id id);
/* Operand `n` of an instruction, seen through moves, and out of the fusion it stands in. */
hlo_id evidence_operand(const struct hlo_module *m, hlo_id id, uint32_t n);

/* Whether an instruction is a sharding constraint: as JAX writes it, or the copy that the
 * partitioner leaves of it. */
bool evidence_says(const struct hlo_module *m, hlo_id id, const char *word); /* in its op_name */

#endif
