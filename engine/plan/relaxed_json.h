/* engine/plan/relaxed_json.h - what the JSON form of a relaxed plan has beyond that of a strict
 * one.
 *
 * Per mesh axis a word: what an instruction does is "whole", "factor N" (split along its n-th
 * factor), "passes" (all partial operands on) or "passes N" (operand leaf N); a status is "whole",
 * "dim N" or "partial". What is not listed is whole everywhere. The decisions are enough to make
 * the plan again; `reshards` follow from them and are there to be read. */
#ifndef AUTOMAP_ENGINE_PLAN_RELAXED_JSON_H
#define AUTOMAP_ENGINE_PLAN_RELAXED_JSON_H

#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/text/json_check.h"
#include "hlo/support/err.h"

/* Keys a relaxed plan may have at the top level beside those of all plans; ends with {0}. */
extern const struct json_field relaxed_instruction_keys[], relaxed_value_keys[],
    relaxed_reshard_keys[];

/* Adds bound_kind, gap, strict_ms, partial_results, reshards, instructions, values. */
void relaxed_add_json(const struct plan *p, cJSON *o);

/* Makes the plan of a checked document that has "mode": "relaxed"; `out->relaxed` and its costs.
 * ERR_INPUT names the entry that cannot be. O(instructions x labels). */
int relaxed_read_json(const struct problem *p, const cJSON *root, struct plan *out,
                      struct err *e) MUST_CHECK;

#endif
