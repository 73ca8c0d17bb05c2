/* hlo/module/inline.h - hlo_inline (hlo.h) with a map from the original to the copy. Private to
 * hlo/. */
#ifndef AUTOMAP_HLO_MODULE_INLINE_H
#define AUTOMAP_HLO_MODULE_INLINE_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

/* As hlo_inline. `image` ([m->count], may be NULL) receives, for each instruction of `m`, the
 * instruction of the copy that computes its value: of several copies the first of those that lie
 * least deep; a callee's root for a call; the caller's argument for a callee's parameter; HLO_NONE
 * where the entry does not reach its computation. Who looks nothing up by name saves more than half
 * of the time without `fresh_names`: then all copies of an instruction have its name, and all
 * copies of a computation. */
int hlo_inline_mapped(const struct hlo_module *m, bool fresh_names, struct hlo_module **out,
                      hlo_id *image, struct err *e) MUST_CHECK;

/* True when hlo_inline would change something: there is a call, or a computation with several
 * callers that it would copy. */
bool hlo_inline_needed(const struct hlo_module *m);

#endif
