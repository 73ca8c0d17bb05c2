/* hlo/stablehlo/write_stablehlo.h - writes a module as StableHLO, every operation in generic form.
 *
 * Tuples disappear: loops and calls have one operand or result for each leaf, and branches capture
 * what they need. A call becomes a function of its own. Operation names and source lines become
 * locations. If asked for, shardings are written as Shardy's: attributes on the entry's arguments
 * and results, elsewhere a constraint after the value that all its uses read. A copy with a
 * sharding becomes just a constraint. */
#ifndef AUTOMAP_HLO_STABLEHLO_WRITE_STABLEHLO_H
#define AUTOMAP_HLO_STABLEHLO_WRITE_STABLEHLO_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct stablehlo_write_options {
    bool no_locations;
    const char *mesh; /* `<["x"=2, "y"=4]>`; NULL: shardings stay as the module has them, and what
                         follows is not asked */
    /* Appends `[{"x"}, {}]` for HLO's sharding `text` of an array of `rank` dims. False: there is
     * no such form; the value gets no constraint. */
    bool (*dims)(void *context, const char *text, size_t size, uint32_t rank, struct str *out);
    /* Appends `, unreduced={"x"}` if the result of the named instruction stays a partial sum; in
     * its second constraint, if that leaves one. Both may be NULL. */
    void (*unreduced)(void *context, const char *name, bool is_second, struct str *out);
    /* The result gets a second constraint, behind the first: a sum that all uses want combined. */
    bool (*is_combined)(void *context, const char *name);
    void *context;
};

/* Appends the module. `o` may be NULL. ERR_INPUT: an opcode without a StableHLO form, or a constant
 * whose values are not in the file; ERR_MEMORY. O(instructions). */
int hlo_write_stablehlo(const struct hlo_module *m, const struct stablehlo_write_options *o,
                        struct str *out, struct err *e) MUST_CHECK;

#endif
