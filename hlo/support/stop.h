/* hlo/support/stop.h - how to ask a long computation to end early.
 *
 * The computation polls a flag every few milliseconds. Once the flag is set, it returns the best
 * result so far, with bounds that hold for what it has examined. The caller owns the flag and may
 * set it from another thread or a signal handler. */
#ifndef AUTOMAP_HLO_SUPPORT_STOP_H
#define AUTOMAP_HLO_SUPPORT_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* `stop` may be NULL: never asked. Any thread. */
static inline bool stop_asked(const atomic_bool *stop)
{
    return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

#endif
