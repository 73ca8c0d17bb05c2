/* engine/plan/relaxed_json.h - what the JSON form of a relaxed plan adds to that of a strict one.
 *
 * One word for each mesh axis: what an instruction does is "whole", "factor N" (split along its
 * n-th factor), "passes" (all partial operands on) or "passes N" (operand leaf N); a status is
 * "whole", "dim N" or "partial". Whatever is not listed is whole everywhere. The decisions
 * determine the plan; `reshards` follow from them and are there for readers. */
#ifndef AUTOMAP_ENGINE_PLAN_RELAXED_JSON_H
#define AUTOMAP_ENGINE_PLAN_RELAXED_JSON_H

#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/text/json_check.h"
#include "hlo/support/err.h"

/* Keys of the entries that only relaxed plans have; each table ends with {0}. */
extern const struct json_field relaxed_instruction_keys[], relaxed_value_keys[],
    relaxed_reshard_keys[];

/* Adds bound_kind, gap, strict_ms, partial_results, reshards, instructions, values. */
void relaxed_add_json(const struct plan *p, cJSON *o);

/* Makes the plan of a checked document that has "mode": "relaxed"; `out->relaxed` and its costs.
 * ERR_INPUT names the impossible entry. O(instructions x labels). */
int relaxed_read_json(const struct problem *p, const cJSON *root, struct plan *out,
                      struct err *e) MUST_CHECK;

#endif
