/* engine/hybrid/pin_prices.h - what pins cost, and which of them leave no plan. */
#ifndef AUTOMAP_ENGINE_HYBRID_PIN_PRICES_H
#define AUTOMAP_ENGINE_HYBRID_PIN_PRICES_H

#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

/* ms[n]: how much longer the step of `h`, searched with all pins, is than it were without the n-th
 * and with all others; all_ms: than without any. INFINITY: stopped before. One search each. */
int hybrid_pin_prices(const struct hybrid *h, double ms[static HYBRID_PINS_MOST], double *all_ms,
                      struct err *e) MUST_CHECK;

/* Fewest pins that leave no plan, looked for one by one and in pairs, then by leaving out what is
 * not needed: clash[..] are their numbers. 0 of them: there is none without any pin either. */
int hybrid_pin_clash(const struct problem *p, const struct hybrid_options *o,
                     uint32_t clash[static HYBRID_PINS_MOST], uint32_t *count,
                     struct err *e) MUST_CHECK;

#endif
