/* hlo/module/build.h - how readers and transforms make a module. Private to hlo/.
 *
 * Order: begin; shapes, computations and instructions in the order of the source (an operand not
 * yet added is given as HLO_NONE and filled in by hlo_build_set_operand); finish. finish sorts
 * instructions and computations so that id order is a post-order, builds users, callers, leaves and
 * parameter lists, runs the checks of check.h, and hands out the module; on error everything is
 * released. Errors carry the position of the draft. */
#ifndef AUTOMAP_HLO_MODULE_BUILD_H
#define AUTOMAP_HLO_MODULE_BUILD_H

#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"

struct hlo_builder;

enum {
    HLO_INSTRUCTIONS_MAX = 1 << 26,
    HLO_COMPUTATIONS_MAX = 1 << 22,
    HLO_NAME_MAX = 1 << 16, /* bytes of a name; longer is refused */
    HLO_NAME_SLACK = 8,
};

/* `input` (may be NULL) is taken over: spans of drafts may point into it, and error positions are
 * offsets into it. `memory_limit` bounds the arena. NULL when out of memory. */
struct hlo_builder *hlo_builder_new(char *input, size_t input_size, size_t memory_limit);
/* The same for text, of about as many instructions as lines. Of what spans point at the builder
 * makes copies, so that the module does without the input. Lent: it stays the caller's. */
struct hlo_builder *hlo_builder_new_text(char *input, size_t input_size, size_t lines, bool is_lent,
                                         size_t memory_limit);
void hlo_builder_free(struct hlo_builder *b); /* not after finish */
/* `text` where it is, or the copy that stands for it when it is of an input of text, followed by a
 * NUL; NULL: out of memory. What goes into a draft or a copy of it is kept without this. */
const char *hlo_build_keep(struct hlo_builder *b, const char *text, size_t size);
/* For copies of instructions of `source`, which outlives them: its names, shapes, attributes and
 * literals are used where they are. Instructions come by hlo_build_copy alone, shapes keep their
 * ids, and finish checks nothing that `source` was checked for. NULL when out of memory. */
struct hlo_builder *hlo_builder_new_copy(const struct hlo_module *source);

/* For one who reads the rest of b's text, from byte `at` on, while `b` is still being filled:
 * `line` begins at byte `line_begin`. Its computation 0 stands for the one of `b` that `at` is
 * inside of. Uses b's input. NULL when out of memory. */
struct hlo_builder *hlo_builder_new_rest(const struct hlo_builder *b, size_t at, uint32_t line,
                                         size_t line_begin);
void hlo_builder_free_rest(struct hlo_builder *rest); /* NULL ok; not after hlo_builder_join */
/* Together they keep within every limit. */
bool hlo_builder_can_join(const struct hlo_builder *b, const struct hlo_builder *rest);
/* What `rest` has goes to `b`, which then is as if it had been given all of it in order.
 * comps[c]: what rest's computation c is in `b`; shapes[count]: shapes of rest, which become those
 * of `b`. `rest` is freed, on failure too. O(rest). */
int hlo_builder_join(struct hlo_builder *b, struct hlo_builder *rest, const hlo_comp *comps,
                     hlo_shape_id *shapes, size_t count, struct err *e) MUST_CHECK;

/* The module under construction: name, format, header fields, aliases, tables are written here
 * directly, with memory from its arena. */
struct hlo_module *hlo_builder_module(struct hlo_builder *b);

/* A shape as a reader found it; pointers are copied. layout_rest NULL = "". */
struct hlo_shape_draft {
    enum hlo_type type;
    uint8_t rank;
    bool has_layout;
    const int64_t *dims;
    const bool *dynamic;
    const uint8_t *minor_to_major;
    const char *layout_rest;
    size_t layout_rest_size;
    const hlo_shape_id *parts;
    uint32_t part_count;
};
/* A shape as `s`, but for these dims and parts, which the draft points to, and to the rest of `s`.
 */
struct hlo_shape_draft hlo_draft_of_shape(const struct hlo_shape *s, const int64_t *dims,
                                          const hlo_shape_id *parts);
/* Interns. Checks sizes and products (ERR_LIMIT). O(1) expected. */
int hlo_build_shape(struct hlo_builder *b, const struct hlo_shape_draft *d, hlo_shape_id *out,
                    struct err *e) MUST_CHECK;
const struct hlo_shape *hlo_builder_shape(const struct hlo_builder *b, hlo_shape_id id);

/* Name is copied and must be unique in the module. */
int hlo_build_computation(struct hlo_builder *b, const char *name, size_t size, hlo_comp *out,
                          struct err *e) MUST_CHECK;
/* HLO_NONE when absent. Hash lookup. */
hlo_comp hlo_builder_find_computation(const struct hlo_builder *b, const char *name, size_t size);
struct hlo_computation *hlo_builder_computation(struct hlo_builder *b,
                                                hlo_comp c); /* thread, root */

/* Instruction as a reader found it. Arrays are copied; attr texts must point into `input` or the
 * module's arena. */
struct hlo_draft {
    hlo_comp computation;
    uint16_t opcode;
    bool is_root, is_synthetic;
    bool is_unique;   /* the caller guarantees that its name is valid and new in the computation,
                         and keeps its own index of names */
    const char *name; /* may be NULL for a fresh one */
    uint32_t name_size;
    hlo_shape_id shape;
    const hlo_id *operands;
    uint32_t operand_count;
    const hlo_comp *called;
    uint32_t called_count;
    const hlo_id *controls;
    uint32_t control_count;
    const struct hlo_attr *attrs; /* any order; a duplicate key is refused, except UNKNOWN */
    uint32_t attr_count;
    uint32_t number;
    uint32_t meta;       /* from hlo_build_meta */
    const char *literal; /* constants: its text, spans as attrs do */
    uint32_t literal_size;
    size_t at; /* offset in input: place for errors and line/col; SIZE_MAX none */
};
/* In names, characters XLA does not allow become '_'. Refuses a name used twice in one computation,
 * and a number of operands that contradicts the op table. Ids count up from 0 as they are added;
 * finish may renumber them. */
int hlo_build_instruction(struct hlo_builder *b, const struct hlo_draft *d, hlo_id *out,
                          struct err *e) MUST_CHECK;
/* A copy of `of`, an instruction of the builder's source. */
struct hlo_copy {
    const struct hlo_instruction *of;
    hlo_comp computation;
    const char *name; /* new in the module; NULL: that of `of`, which then is */
    size_t name_size;
    const hlo_id *operands; /* those of `of`, then its control_count control predecessors */
    uint32_t control_count; /* of->control_count or less */
    const hlo_comp *called; /* [of->called_count] */
    uint32_t meta;
};
int hlo_build_copy(struct hlo_builder *b, const struct hlo_copy *c, hlo_id *out,
                   struct err *e) MUST_CHECK;
/* For operands named before they are defined: replaces operand n. */
void hlo_build_set_operand(struct hlo_builder *b, hlo_id id, uint32_t n, hlo_id operand);
uint32_t hlo_builder_count(const struct hlo_builder *b);
/* What the names of instructions are offsets into, followed by HLO_NAME_SLACK readable bytes; until
 * the next add. */
const char *hlo_builder_names(const struct hlo_builder *b);
size_t hlo_builder_lines(const struct hlo_builder *b); /* as given to hlo_builder_new_text */
struct hlo_instruction *hlo_builder_at(struct hlo_builder *b, hlo_id id); /* until the next add */

/* Interned; cleans the strings. The reader has resolved stack frames to source lines. */
int hlo_build_meta(struct hlo_builder *b, const struct hlo_meta *meta, const size_t sizes[3],
                   uint32_t *out,
                   struct err *e) MUST_CHECK; /* sizes of op_type, op_name, source_file */

const struct hlo_meta *hlo_builder_meta(const struct hlo_builder *b, uint32_t meta);

/* Adds a warning; the same sentence again only raises its count. `at` as in drafts. */
void hlo_build_warning(struct hlo_builder *b, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int hlo_builder_finish(struct hlo_builder *b, hlo_comp entry, struct hlo_module **out,
                       struct err *e) MUST_CHECK;

/* hlo/module/check.c: shapes of operands against attributes, index ranges, called computations'
 * signatures. Called by finish on the finished arrays. Errors name the instruction. */
int hlo_check(const struct hlo_module *m, hlo_id *bad, struct err *e) MUST_CHECK;

#endif
