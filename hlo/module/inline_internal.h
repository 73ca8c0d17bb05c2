/* hlo/module/inline_internal.h - what the two ways to inline have in common. Private to inline*.c.
 *
 * inline.c follows a module call by call, and gives every copy a name of its own; it can write
 * loops out. inline_plain.c knows where each copy will stand before it makes it. */
#ifndef AUTOMAP_HLO_MODULE_INLINE_INTERNAL_H
#define AUTOMAP_HLO_MODULE_INLINE_INTERNAL_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

#define INLINE_MEMORY_FOR "while inlining the calls"
enum { INLINE_OP_NAME_MAX = 4096 };

/* What happens to the computations an opcode names. */
enum inline_use {
    INLINE_APPLIED, /* reducers, comparators: kept shared */
    INLINE_COPIED,  /* bodies: one copy per caller */
    INLINE_INLINED, /* call, a loop that is written out */
};
enum inline_use inline_use_of(const struct hlo_module *m, const bool *is_written_out, hlo_id id);

/* The instructions that name computations, in order: those of computation c are list[first[c]] up
 * to list[first[c + 1]]. */
struct inline_calls {
    hlo_id *list;
    uint32_t *first;
};
void inline_calls_release(struct inline_calls *calls);

/* Fills `calls` and *total, instructions that are walked; refuses what would grow too much. The
 * caller releases `calls`, on failure too. */
int inline_check_growth(const struct hlo_module *m, const bool *is_written_out,
                        struct inline_calls *calls, uint64_t *total, struct err *e) MUST_CHECK;

/* Whether a name stands in this scope already. */
bool inline_has_scope(const char *op_name, const char *prefix);

/* What stands around the instructions: before the copy is built, and after. */
int inline_copy_header(const struct hlo_module *m, struct hlo_module *to, struct err *e) MUST_CHECK;
void inline_finish_header(const struct hlo_module *m, struct hlo_module *to);

/* hlo_inline_mapped without fresh names: each instruction is copied to its place at once. */
int inline_plain(const struct hlo_module *m, struct hlo_module **out, hlo_id *image,
                 struct err *e) MUST_CHECK;

#endif
