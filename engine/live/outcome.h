/* engine/live/outcome.h - the result of a search: its best plan, who decided what, and a report.
 *
 * The report is JSON, schema "automap.search/1":
 *     kind, algo, reward, propagation, folding, seed
 *     variables, dims, partitioned, replicated, undecided
 *     episodes, decisions, evaluations, conflicts, seconds, seconds_to_best
 *     score, step_time_ms, baseline_ms
 *     memory_bytes (of variables on one device), peak_bytes
 *     memory_limit_bytes (null: none), fits (within the limit)
 *     optimum {score, step_time_ms, proven, fits, gap} or null. fits false: the plan of least
 *         memory found, without a gap; proven then means that no plan fits
 *     stages [{episodes, decisions, conflicts, seconds, seconds_to_best, score, step_time_ms}]
 *     decisions_list [{variable, dim, status, by}], by: decision | propagation | pin | fine-tuning
 * Seconds are those of the state's clock_s. Everything else is the same for the same seed and
 * commands. */
#ifndef AUTOMAP_ENGINE_LIVE_OUTCOME_H
#define AUTOMAP_ENGINE_LIVE_OUTCOME_H

#include "engine/live/search_state.h"
#include "engine/live/snapshot.h"
#include "engine/plan/plan.h"
#include "hlo/support/err.h"

#include <cjson/cJSON.h>

/* The best plan so far; ERR_INFEASIBLE when there is none. `by` comes from playing the plan from
 * the pins, in order of decision; changes since stage 1 are attributed to fine-tuning. */
int outcome_plan(const struct search_state *c, struct plan *out, struct err *e) MUST_CHECK;
/* The same for any plan a snapshot shows, using that snapshot's pins and moves. Any thread. */
int outcome_plan_shown(const struct snapshot *s, const struct live_plan *p, struct plan *out,
                       struct err *e) MUST_CHECK;
/* The report as a new object, which the caller deletes; NULL out of memory. `plan` comes from
 * outcome_plan. */
cJSON *outcome_json(const struct search_state *c, const struct plan *plan);

#endif
