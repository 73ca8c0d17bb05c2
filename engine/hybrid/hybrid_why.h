/* engine/hybrid/hybrid_why.h - one class in the stages of a hybrid plan: how each splits it, what
 * the step would be if it split it otherwise, and what excludes that. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_WHY_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_WHY_H

#include "engine/decide/classes.h"
#include "engine/hybrid/hybrid.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appends it in sentences, for each stage that has the class; `name` is how it was asked for.
 * Prices a plan for each label of each stage; `h` stays unchanged. Stopped (options.stop), what it
 * had so far. */
int hybrid_explain_class(struct hybrid *h, class_id k, const char *name, struct str *out,
                         struct err *e) MUST_CHECK;

#endif
