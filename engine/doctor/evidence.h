/* engine/doctor/evidence.h - what a collective's neighbours say. Private to engine/doctor. */
#ifndef AUTOMAP_ENGINE_DOCTOR_EVIDENCE_H
#define AUTOMAP_ENGINE_DOCTOR_EVIDENCE_H

#include "engine/cluster/collectives.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/groups.h"
#include "hlo/meaning/frames.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
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

/* The last part of an op_name: "dot_general" of "jit(f)/while/body/dot_general", what is behind it
 * in brackets too. */
const char *evidence_primitive(const char *op_name);
/* Whether that is `name`, whatever is in brackets. */
bool evidence_is_primitive(const char *op_name, const char *name);
/* Whether a parameter's op_name is one that weights have: "kernel", "w1". */
bool evidence_is_weight(const char *name);
/* What a primitive of JAX or TensorFlow becomes; HLO_OP_UNKNOWN. */
uint16_t evidence_opcode(const char *primitive);
/* How sure it is that an instruction with this opcode is the program's own, and none that the
 * partitioner put there for it: 0 to 9. */
int evidence_weight(uint16_t opcode);
/* Number of the stack frame in the metadata, or the line of older dumps; 0: none. */
uint64_t evidence_frame(const struct hlo_module *m, hlo_id id);
/* The first row that is not before (name, place), and whether a row is there. O(log count). */
uint32_t evidence_lower(const struct evidence_index *x, const char *name, uint64_t place);
bool evidence_is_at(const struct evidence_row *r, const char *name, uint64_t place);

struct evidence {
    const struct hlo_module *m;
    hlo_id id, speaker; /* speaker: whose metadata it is; `id` but for joined collectives and
                           for parameters brought to another split, whose taker it is */
    enum collective_kind kind;
    const struct device_groups *groups;
    char primitive[48];  /* last part of op_name, without what older JAX has behind it in brackets:
                            "dot_general"; "" without metadata */
    hlo_id op;           /* the instruction it serves, HLO_NONE */
    uint16_t opcode;     /* of `op`, or what `primitive` stands for; HLO_OP_UNKNOWN: unknown */
    int64_t dim;         /* gathered or scattered dim; -1 */
    hlo_id source;       /* what it takes, seen through moves: parameter, dot, reduce, ... */
    bool is_constrained; /* on the way from `source` stands a constraint */
    bool is_stored;      /* `source` is a parameter, or a piece of what a loop carries */
    const char *stored;  /* the parameter's name; "" */
    bool is_invariant;   /* all of that parameter, and no piece that a loop takes of it */
    bool is_sliced;      /* the result is cut by partition: replicated, then cut */
    bool is_asked_so;    /* a constraint asks for it as it is here, whatever is cut behind that */
    bool is_masked;      /* takes a select by device number: broadcast from one device */
    hlo_id call;         /* the call to the host that made what it broadcasts; HLO_NONE */
    hlo_id summed;       /* gathered, and all of it goes into this reduce, which adds it up along
                            the gathered dim; HLO_NONE */
    bool is_repeated;    /* what it is multiplied with is the same on all devices of the group */
    bool is_kept;        /* made on the way forward, used on the way back too */
    bool is_reduced;     /* takes what `op_name`'s reduce made of this device's part */
    bool is_vector;      /* a stored vector along the last dim of what it meets: a bias, a scale */
    bool is_update;      /* gathers the next value of a weight that lies whole, made of this
                            device's piece of it and of a state stored in pieces */
    bool is_accumulated; /* every trip of a loop adds it to what it carries, and reads that for
                            nothing else */
    bool is_mapped;      /* shard_map is what asks for the split */
    bool is_alone;       /* `op` works elementwise on one value that is no constant */
    bool is_handed_out;  /* from `op` on nothing but elementwise work up to the result */
    const struct hlo_shape *cast; /* gathered, and cast to this narrower type behind that; NULL */
    bool is_paired; /* the program before has each of its rows meet all of another value's */
    int slot;       /* which operand of `op` it becomes; -1: none, it is made of the result */
    hlo_id asks;    /* constraint that follows `op`; HLO_NONE */
    bool is_asked;  /* one follows it, here or in the program before partitioning */
};

void evidence_of(const struct evidence_index *x, hlo_id id, enum collective_kind kind,
                 const struct device_groups *groups, struct evidence *out);

/* The same instruction in another dump, whose index is by lines: of those with its primitive and
 * its line, the one called alike; of several, as a map over a tree makes them, the first of which
 * `part` is a device's part (NULL: not known). `chain` [count], innermost first, count >= 1.
 * HLO_NONE: none. */
hlo_id evidence_find(const struct evidence_index *x, const struct hlo_frames *frames,
                     const char *op_name, const struct hlo_frame *chain, uint32_t count,
                     const struct hlo_shape *part);
/* The first constraint behind an instruction, through what passes a split on; HLO_NONE. */
hlo_id evidence_constraint_behind(const struct hlo_module *m, hlo_id id);
/* Whether it is made, by nothing but elementwise work, of this device's piece of a value that lies
 * whole, cut out by its number. */
bool evidence_is_piece(const struct hlo_module *m, hlo_id id);
/* Whether it is multiplied, through moves and elementwise steps, with a parameter that stays in
 * pieces. */
bool evidence_meets_pieces(const struct hlo_module *m, hlo_id id);
/* Itself, or what it moves. */
hlo_id evidence_value(const struct hlo_module *m, hlo_id id);
/* Which of the entry's results it becomes through moves, from 1 on; 0: none, or the only one. */
uint32_t evidence_result(const struct hlo_module *m, hlo_id id);

/* Whether an instruction is a sharding constraint: as JAX writes it, or the copy that the
 * partitioner leaves of it. */
bool evidence_says(const struct hlo_module *m, hlo_id id, const char *word); /* in its op_name */

#endif
