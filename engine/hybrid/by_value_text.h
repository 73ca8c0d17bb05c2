/* engine/hybrid/by_value_text.h - what stages keep by value, for people and for plan files. */
#ifndef AUTOMAP_ENGINE_HYBRID_BY_VALUE_TEXT_H
#define AUTOMAP_ENGINE_HYBRID_BY_VALUE_TEXT_H

#include "engine/hybrid/hybrid.h"
#include "hlo/support/mem.h"

#include <cjson/cJSON.h>

/* Appends the step, and of every stage its memory and what it computes again. Nothing where what
 * stages keep was not chosen by value. */
void by_value_write(const struct hybrid *h, struct str *out);
/* Of one stage. */
cJSON *by_value_json(const struct hybrid *h, const struct hybrid_stage *s);

#endif
