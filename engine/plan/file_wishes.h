/* engine/plan/file_wishes.h - shardings that the program's author wrote, as wishes for a plan.
 *
 * with_sharding_constraint, in_shardings, jax.sharding and torch_xla's mark_sharding appear as a
 * `sharding` on a parameter or on a Sharding call. Plans ignore them by default; as settings
 * (problem/setting.h) they become decisions. */
#ifndef AUTOMAP_ENGINE_PLAN_FILE_WISHES_H
#define AUTOMAP_ENGINE_PLAN_FILE_WISHES_H

#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stddef.h>
#include <stdint.h>

struct file_wish {
    hlo_id id;      /* an array */
    uint32_t dim;   /* the dim to split */
    uint32_t parts; /* number of parts, > 1 */
};

/* Lists every dim of `m` that its file wants split, parameters first. The caller frees *out.
 * O(instructions). */
int file_wishes_new(const struct hlo_module *m, struct file_wish **out, size_t *count,
                    struct err *e) MUST_CHECK;

/* Appends the wishes that can hold together as settings, "#3:1=y", each ended by a zero byte; for
 * parameters alone, or for other values too. `refused` counts the rest. O(wishes x decisions). */
int file_wishes_settings(const struct problem *p, bool parameters_alone, struct str *out,
                         uint32_t *kept, uint32_t *refused, struct err *e) MUST_CHECK;

#endif
