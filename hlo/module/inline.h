/* hlo/module/inline.h - hlo_inline (hlo.h) with the map back to front. Private to hlo/. */
#ifndef AUTOMAP_HLO_MODULE_INLINE_H
#define AUTOMAP_HLO_MODULE_INLINE_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

/* As hlo_inline. `image` ([m->count], may be NULL) gets, per instruction of `m`, the instruction of
 * the copy that computes its value: for one with several copies the first made, for a call its
 * callee's root, for a callee's parameter the caller's argument; HLO_NONE when no copy was made
 * (its computation is not reached from the entry). */
int hlo_inline_mapped(const struct hlo_module *m, struct hlo_module **out, hlo_id *image,
                      struct err *e) MUST_CHECK;

/* True when hlo_inline would change something: there is a call, or a computation with several
 * callers that hlo_inline copies. */
bool hlo_inline_needed(const struct hlo_module *m);

#endif
