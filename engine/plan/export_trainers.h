/* engine/plan/export_trainers.h - a strict plan as settings of trainers.
 *
 * What trainers can be told are degrees: how many ways the batch (data, or fsdp where variables are
 * stored in pieces), the sequence and the layers (tensor) are split. Each axis of the mesh is taken
 * for one of these by what it splits: the first dim of inputs, a later one, variables. Which
 * variables a trainer then splits it decides itself; MaxText and Levanter are told by logical axes,
 * that is, by groups of variables of one name but for numbers. What settings do not say stands
 * beside them, and every decision of the plan behind `# --set`, so that `--pins-from` makes the
 * same plan of the file. Names of settings: Megatron-LM's arguments.py, torchtitan's JobConfig,
 * DeepSpeed's config-json and AutoTP pages, MaxText's base.yml, Levanter's Trainer-Details page. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_TRAINERS_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_TRAINERS_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appends the settings. ERR_INPUT when a split class goes by no name; ERR_MEMORY. O(n log n) in the
 * dims of variables, and as plan_settings_write. */
int export_flags(const struct plan *p, struct str *out, struct err *e) MUST_CHECK;

/* Appends one JSON object, schema automap.dtensor/1: `mesh` (names, shape), `parameters` in the
 * order of the entry (name, role, shape, `placements` as torch.distributed.tensor has them, one per
 * axis of the mesh: Shard(dim) or Replicate()), and `pins`, the decisions in the form of
 * setting_apply. */
int export_dtensor(const struct plan *p, struct str *out, struct err *e) MUST_CHECK;

#endif
