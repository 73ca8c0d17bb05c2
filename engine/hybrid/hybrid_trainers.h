/* engine/hybrid/hybrid_trainers.h - a hybrid plan as the settings of a trainer that splits all
 * stages alike: Megatron-LM (arguments.py), torchtitan (its job config), DeepSpeed (its JSON).
 *
 * What a trainer cannot be told is refused, by name: stages that differ in devices, replicas,
 * splits or recomputation; splits that are not data and tensor parallelism; a schedule it does not
 * run, unless 1F1B is as short; ZeRO levels it has not with pipelines, unless the plan fits
 * without; cuts it cannot make. What it does besides is written beside the settings as notes. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_TRAINERS_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_TRAINERS_H

#include "engine/hybrid/hybrid.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appended. ERR_INFEASIBLE: the trainer cannot be told this plan; says why. */
int export_megatron(const struct hybrid *h, struct str *out, struct err *e) MUST_CHECK;
int export_torchtitan(const struct hybrid *h, struct str *out, struct err *e) MUST_CHECK;
int export_deepspeed(const struct hybrid *h, struct str *out, struct err *e) MUST_CHECK;
/* Of all three, each behind its name; a trainer that cannot be told with its reason in a comment.
 * ERR_INFEASIBLE: none can. */
int export_trainers(const struct hybrid *h, struct str *out, struct err *e) MUST_CHECK;

#endif
