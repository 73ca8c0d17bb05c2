/* engine/hybrid/stage_copies.h - copies of operands in a module of a stage, with shardings, where
 * XLA's partitioner would else compute something wrong (decide/partitioner.h). As in exports of
 * whole programs (plan/resharding.h): what it sums over all devices reads operands that are cut
 * along the axes which split nothing of it, too; what loses parts has whole operands and a whole
 * result, of which each use cuts its part. A copy is called "USER.operandN". Private to
 * engine/hybrid/. */
#ifndef AUTOMAP_ENGINE_HYBRID_STAGE_COPIES_H
#define AUTOMAP_ENGINE_HYBRID_STAGE_COPIES_H

#include "engine/cost/step_tables.h"
#include "engine/hybrid/stage_modules.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

struct stage_copies {
    const struct stage_modules *modules;
    uint32_t stage;
    const struct step_tables *tables; /* of the stage's sub-mesh */
    const struct hlo_module *to;      /* the module, */
    const hlo_value *of;              /* and of what each instruction of it is a copy; HLO_NONE */
};

/* XLA would lose parts of its result: it is written whole. */
bool stage_copies_is_whole(const struct stage_copies *k, hlo_id id);
/* Operand `n` of `id` is read by a copy. O(factors of `id`). */
bool stage_copies_has(const struct stage_copies *k, hlo_id id, uint32_t n);
/* The copies before `id`, as lines; the name of the one of operand `n`. Both are appended. */
void stage_copies_lines(const struct stage_copies *k, hlo_id id, struct str *out);
void stage_copies_name(const struct stage_copies *k, hlo_id id, uint32_t n, struct str *out);

#endif
