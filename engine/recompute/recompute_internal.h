/* engine/recompute/recompute_internal.h - what the parts of a choice share. Private to
 * engine/recompute. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_RECOMPUTE_INTERNAL_H
#define AUTOMAP_ENGINE_RECOMPUTE_RECOMPUTE_INTERNAL_H

#include "engine/recompute/recompute.h"
#include "hlo/support/err.h"

/* recompute_within without a host: everything that is kept stays on the device. */
int recompute_on_device(const struct recompute *r, double limit, double enough_ms,
                        struct recompute_choice *out, struct err *e) MUST_CHECK;

/* The fastest choice that also moves kept values to host memory; *best is the one without, and
 * stays where it is as good. Its bound becomes that of both. */
int recompute_offload(const struct recompute *r, double limit, double enough_ms,
                      struct recompute_choice *best, struct err *e) MUST_CHECK;

#endif
