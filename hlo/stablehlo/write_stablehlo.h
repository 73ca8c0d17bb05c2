/* hlo/stablehlo/write_stablehlo.h - a module as StableHLO, every operation in generic form.
 *
 * Tuples are looked through: loops and calls have as many operands and results as there are leaves,
 * branches take what they need from outside. A call becomes a function of its own. Shardings, where
 * asked for, become Shardy's: at arguments and results of the entry as attributes, elsewhere as a
 * constraint behind the value, that all its uses read. A copy with a sharding is a constraint
 * alone. */
#ifndef AUTOMAP_HLO_STABLEHLO_WRITE_STABLEHLO_H
#define AUTOMAP_HLO_STABLEHLO_WRITE_STABLEHLO_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct stablehlo_write_options {
    const char *mesh; /* `<["x"=2, "y"=4]>`; NULL: shardings are left out */
    /* Appends `[{"x"}, {}]` for HLO's sharding `text` of an array of `rank` dims. False: it has no
     * such form, and the value no constraint. */
    bool (*dims)(void *context, const char *text, size_t size, uint32_t rank, struct str *out);
    /* Appends `, unreduced={"x"}` where the result of the instruction of this name stays a sum.
     * May be NULL. */
    void (*unreduced)(void *context, const char *name, struct str *out);
    void *context;
};

/* Appends the module. `o` may be NULL. ERR_INPUT: an opcode without a form in StableHLO, or a
 * constant whose values the file has not; ERR_MEMORY. O(instructions). */
int hlo_write_stablehlo(const struct hlo_module *m, const struct stablehlo_write_options *o,
                        struct str *out, struct err *e) MUST_CHECK;

#endif
