/* hlo/support/stop.h - how a long computation is asked to end early.
 *
 * It is given the address of a flag, and looks at it every few milliseconds; when the flag is set
 * it hands over the best it has, with bounds that hold for what it looked at. Whoever gives the
 * flag owns it and sets it from another thread or a signal handler. */
#ifndef AUTOMAP_HLO_SUPPORT_STOP_H
#define AUTOMAP_HLO_SUPPORT_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* `stop` NULL: nobody asks. Any thread. */
static inline bool stop_asked(const atomic_bool *stop)
{
    return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

#endif
