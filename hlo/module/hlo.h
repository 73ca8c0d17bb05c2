/* hlo/module/hlo.h - an XLA HLO module in memory: arrays, ids, immutable after load.
 *
 * Ownership: hlo_load and hlo_inline return a module that the caller frees with hlo_free.
 * Everything reached from it lives as long as it does. Nothing changes after load, so any thread
 * may read. Ids: instructions are numbered 0..count-1 over the whole module so that operands come
 * before their users and called computations before their callers: id order is a post-order. Size:
 * `automap bench read` prints bytes per instruction (target <= 400, input text not counted). */
#ifndef AUTOMAP_HLO_MODULE_HLO_H
#define AUTOMAP_HLO_MODULE_HLO_H

#include "hlo/module/attr.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

typedef uint32_t hlo_id;    /* an instruction */
typedef uint32_t hlo_value; /* one array (or token) leaf of an instruction's result */
typedef uint32_t hlo_comp;  /* a computation */
#define HLO_NONE UINT32_MAX

struct hlo_finder;
struct hlo_kernel; /* hlo/meaning/kernels.h */

struct hlo_instruction {
    uint16_t opcode; /* enum hlo_opcode */
    bool is_root : 1;
    bool is_synthetic : 1; /* not in the file: a get-tuple-element made for the compact form */
    bool takes_tuples : 1; /* an operand is no array or token: it has other than one leaf */
    bool is_identity : 1;  /* set with the kernels: a custom-call that passes its operand on */
    bool is_moved : 1;     /* and one that moves it to another memory, so that it is no flow */
    hlo_shape_id shape;
    hlo_comp computation;
    uint32_t name;                    /* offset into module->names; use hlo_name() */
    uint32_t operands, operand_count; /* into module->operand_pool */
    uint32_t users, user_count;       /* into module->user_pool; each user once, ascending */
    uint32_t called, called_count;    /* into module->called_pool: while = body, condition;
                                         select-and-scatter = select, scatter; else as printed */
    uint32_t control_count;           /* control predecessors, behind its operands; hlo_control() */
    uint32_t attrs, attr_count;       /* into module->attr_pool, ascending keys */
    uint32_t number;                  /* parameter number, get-tuple-element index; else 0 */
    uint32_t meta;                    /* into module->metas; 0: none */
    uint32_t literal;                 /* into module->literals: constant's text; 0: none */
    uint32_t line, col;               /* of its name in a text file; 0 elsewhere */
};

struct hlo_computation {
    const char *name;
    const char *thread; /* execution_thread, or NULL */
    hlo_id first;
    uint32_t count;
    hlo_id root;
    const hlo_id *params; /* by parameter number */
    uint32_t param_count;
    const hlo_id *callers; /* instructions that name it */
    uint32_t caller_count;
};

/* op metadata, cleaned for display; "" when absent. */
struct hlo_meta {
    const char *op_type, *op_name, *source_file;
    uint32_t source_line; /* stack frames resolved */
};

struct hlo_text {
    const char *text;
    uint32_t size;
};

/* One entry of input_output_alias: leaf `out` of the entry root takes the memory of leaf
 * `param_leaf` of parameter `param`. */
struct hlo_alias {
    uint32_t out, param, param_leaf;
    bool must;
};

struct hlo_warning {
    const char *what;          /* cleaned sentence */
    uint32_t line, col, count; /* of the first occurrence; how often */
};

enum hlo_format {
    HLO_FORMAT_TEXT,
    HLO_FORMAT_JSON,
    HLO_FORMAT_PROTO,
    HLO_FORMAT_PROTO_TEXT,
    HLO_FORMAT_STABLEHLO, /* MLIR text */
};

struct hlo_module {
    const char *name;
    const char *file; /* as given by the caller, "-" for standard input */
    enum hlo_format format;
    bool is_gzipped;
    uint64_t input_bytes; /* after decompression */

    struct hlo_instruction *instructions;
    uint32_t count;
    uint32_t opcode_count[HLO_OP_COUNT]; /* instructions of each opcode */
    struct hlo_computation *computations;
    uint32_t computation_count;
    hlo_comp entry;

    const hlo_id *operand_pool;
    const hlo_id *user_pool;
    const hlo_comp *called_pool;
    const struct hlo_attr *attr_pool;
    const char *names;
    size_t name_bytes; /* of all names with their final NULs */
    const struct hlo_meta *metas;
    uint32_t meta_count;
    const struct hlo_text *literals;

    const struct hlo_shape *shapes;
    uint32_t shape_count;

    const uint32_t *leaf_base;       /* [count + 1]: values of instruction i are leaf_base[i].. */
    const hlo_id *value_instruction; /* [value_count] */
    const hlo_shape_id *value_shape; /* [value_count] */
    uint32_t value_count;

    const struct hlo_alias *aliases;
    uint32_t alias_count;
    const struct hlo_alias *donors; /* buffer_donor: out unused */
    uint32_t donor_count;
    int64_t replica_count, num_partitions;
    bool is_scheduled;
    const struct hlo_text *header; /* other header attributes, "name=value", in file order */
    uint32_t header_count;
    struct hlo_text tables; /* FileNames .. StackFrames as printed, or empty */

    const struct hlo_warning *warnings;
    uint32_t warning_count;

    /* [count] what rules say of opaque kernels (hlo/meaning/kernels.h), set before the module is
     * used; NULL: no rules; an entry NULL: no rule matches. */
    const struct hlo_kernel *const *kernels;

    /* After hlo_inline: the original module and, for each instruction, its original. Else NULL. */
    const struct hlo_module *source;
    const hlo_id *origin;

    struct hlo_finder *finder; /* of hlo_find; in the arena */
    struct arena arena;
    char *input; /* text that spans point into; owned. NULL: they are in the arena */
};

void hlo_free(struct hlo_module *m); /* NULL ok */

/* A copy in which every call is replaced by its callee's instructions and every computation with
 * several callers (loop bodies, branches, fusions) by one copy per caller, so that each value has
 * one meaning. Computations that are only applied (reducers, comparators) stay shared. `m` must
 * outlive the copy. Refuses growth past 64 times the module and 2^26 instructions. */
int hlo_inline(const struct hlo_module *m, struct hlo_module **out, struct err *e) MUST_CHECK;

/* The same, and every loop of `is_written_out` [m->count] whose trip count is known stands there
 * trip after trip. A slice of an array that trips fill slice by slice is what that trip made. Names
 * of the entry stay, those of bodies are new but for the number behind them. */
int hlo_write_out(const struct hlo_module *m, const bool *is_written_out, struct hlo_module **out,
                  struct err *e) MUST_CHECK;

static inline const struct hlo_instruction *hlo_at(const struct hlo_module *m, hlo_id id)
{
    return &m->instructions[id];
}
/* Whoever changes a copy of a module before it is used: m->opcode_count stays right. */
static inline void hlo_set_opcode(struct hlo_module *m, hlo_id id, uint16_t opcode)
{
    m->opcode_count[m->instructions[id].opcode]--;
    m->opcode_count[opcode]++;
    m->instructions[id].opcode = opcode;
}
static inline const char *hlo_name(const struct hlo_module *m, hlo_id id)
{
    return m->names + m->instructions[id].name;
}
static inline hlo_id hlo_operand(const struct hlo_module *m, hlo_id id, uint32_t n)
{
    return m->operand_pool[m->instructions[id].operands + n];
}
static inline hlo_id hlo_control(const struct hlo_module *m, hlo_id id, uint32_t n)
{
    return hlo_operand(m, id, m->instructions[id].operand_count + n);
}
static inline hlo_id hlo_user(const struct hlo_module *m, hlo_id id, uint32_t n)
{
    return m->user_pool[m->instructions[id].users + n];
}
static inline hlo_comp hlo_called(const struct hlo_module *m, hlo_id id, uint32_t n)
{
    return m->called_pool[m->instructions[id].called + n];
}
static inline const struct hlo_shape *hlo_shape(const struct hlo_module *m, hlo_id id)
{
    return &m->shapes[m->instructions[id].shape];
}
static inline const struct hlo_meta *hlo_meta(const struct hlo_module *m, hlo_id id)
{
    return &m->metas[m->instructions[id].meta];
}
/* Leaf `leaf` of instruction `id`. */
static inline hlo_value hlo_value_of(const struct hlo_module *m, hlo_id id, uint32_t leaf)
{
    return m->leaf_base[id] + leaf;
}
static inline uint32_t hlo_value_leaf(const struct hlo_module *m, hlo_value v)
{
    return v - m->leaf_base[m->value_instruction[v]];
}
static inline const struct hlo_shape *hlo_value_shape(const struct hlo_module *m, hlo_value v)
{
    return &m->shapes[m->value_shape[v]];
}
/* Leaves of element `part` of the tuple-shaped instruction `id`: first value and count. */
hlo_value hlo_part_values(const struct hlo_module *m, hlo_id id, uint32_t part, uint32_t *count);

/* Attributes of an instruction. Absent: NULL, `absent`, 0 items. */
const struct hlo_attr *hlo_attr(const struct hlo_module *m, hlo_id id, enum hlo_attr_key key);
int64_t hlo_attr_int(const struct hlo_module *m, hlo_id id, enum hlo_attr_key key, int64_t absent);
bool hlo_attr_bool(const struct hlo_module *m, hlo_id id, enum hlo_attr_key key, bool absent);
/* Writes at most HLO_RANK_MAX items; loading refuses longer lists of dims. */
size_t hlo_attr_ints(const struct hlo_module *m, hlo_id id, enum hlo_attr_key key,
                     int64_t out[static HLO_RANK_MAX]);
bool hlo_attr_is(const struct hlo_module *m, hlo_id id, enum hlo_attr_key key, const char *word);
/* A string's text without its quotes, as long as *size and not ended by a NUL; NULL: absent. */
const char *hlo_attr_string(const struct hlo_module *m, hlo_id id, enum hlo_attr_key key,
                            size_t *size);

/* A constant's value when it is a scalar number (true = 1); false otherwise. */
bool hlo_constant_number(const struct hlo_module *m, hlo_id id, double *out);

/* Trip count of a while loop: known_trip_count in its backend_config, else from a counter compared
 * with a constant; -1 when unknown. */
int64_t hlo_trip_count(const struct hlo_module *m, hlo_id loop);

/* Instruction by name ('%' optional), in the entry computation first. HLO_NONE: none. The first
 * call makes an index, O(count); those after it are O(1). Any thread. */
hlo_id hlo_find(const struct hlo_module *m, const char *name);

#endif
