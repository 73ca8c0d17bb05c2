/* engine/hybrid/pin_prices.h - what pins cost, and which of them leave no plan. */
#ifndef AUTOMAP_ENGINE_HYBRID_PIN_PRICES_H
#define AUTOMAP_ENGINE_HYBRID_PIN_PRICES_H

#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

/* ms[n]: how much the n-th pin adds to the step of `h`, which was searched with all pins; all_ms:
 * how much all pins add; never below 0, for the plan with them is one without them too. INFINITY:
 * stopped before. One search each. */
int hybrid_pin_prices(const struct hybrid *h, double ms[static HYBRID_PINS_MOST], double *all_ms,
                      struct err *e) MUST_CHECK;

/* What is asked of the whole plan, as its option, and how much that adds to the step. None where
 * the algorithm plays: what it finds another time is no price. */
enum { HYBRID_LIMITS_MOST = 9 };
struct hybrid_limit_price {
    char text[48]; /* "stages 4" */
    double ms;     /* INFINITY: stopped before; NAN: not priced */
};
/* Their words, without prices. Returns how many. */
uint32_t hybrid_limit_names(const struct hybrid_options *o,
                            struct hybrid_limit_price out[static HYBRID_LIMITS_MOST]);
int hybrid_limit_prices(const struct hybrid *h,
                        struct hybrid_limit_price out[static HYBRID_LIMITS_MOST], uint32_t *count,
                        struct err *e) MUST_CHECK;

/* A small set of pins that leave no plan: single pins and pairs first, then all pins less those
 * that are not needed. clash[..] are their numbers; none: there is no plan without pins either. */
int hybrid_pin_clash(const struct problem *p, const struct hybrid_options *o,
                     uint32_t clash[static HYBRID_PINS_MOST], uint32_t *count,
                     struct err *e) MUST_CHECK;

#endif
