/* engine/plan/export_trainers.h - a strict plan as settings of trainers.
 *
 * Trainers accept degrees: how many ways to split the batch (data, or fsdp if variables are stored
 * in pieces), the sequence and the layers (tensor). Each mesh axis becomes one of these by what it
 * splits: the first dim of inputs, a later one, or variables. The trainer then decides itself which
 * variables to split, except for MaxText and Levanter, which take logical axes: groups of variables
 * whose names differ in numbers only. Comments add what settings cannot express, and every decision
 * of the plan after `# --set`, so that `--pins-from` recovers the plan from the file. Names of
 * settings as in the sources of megatron-core 0.16.1 (ModelParallelConfig), torchtitan 0.3.0
 * (config/configs.py), DeepSpeed 0.19.8 (runtime/config.py, tensor_parallel/config.py), MaxText
 * 0.2.5 (configs/base.yml) and Levanter 1.1 (trainer.py); no trainer was run. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_TRAINERS_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_TRAINERS_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appends the settings. ERR_INPUT: a split class has no name to refer to; ERR_MEMORY. O(n log n) in
 * the dims of variables, and as plan_settings_write. */
int export_flags(const struct plan *p, struct str *out, struct err *e) MUST_CHECK;

/* Appends one JSON object, schema automap.dtensor/1: `mesh` (names, shape), `parameters` in the
 * order of the entry (name, role, shape, `placements` as torch.distributed.tensor has them, one per
 * axis of the mesh: Shard(dim) or Replicate()), and `pins`, the decisions in the form of
 * setting_apply. */
int export_dtensor(const struct plan *p, struct str *out, struct err *e) MUST_CHECK;

#endif
