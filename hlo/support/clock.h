/* hlo/support/clock.h - the one clock that intervals are measured with. */
#ifndef AUTOMAP_HLO_SUPPORT_CLOCK_H
#define AUTOMAP_HLO_SUPPORT_CLOCK_H

/* Seconds since some fixed moment, never going back. Any thread. */
double clock_seconds(void);

#endif
