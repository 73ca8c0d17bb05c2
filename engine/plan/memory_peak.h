/* engine/plan/memory_peak.h - what a plan's memory peak consists of, and which single decision
 * lowers it most. */
#ifndef AUTOMAP_ENGINE_PLAN_MEMORY_PEAK_H
#define AUTOMAP_ENGINE_PLAN_MEMORY_PEAK_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* A decision changed alone: all classes that play one role in repeated layers (decide/fold.h) take
 * one label; classes that clash with it give up the shared axes. */
struct peak_change {
    class_id class; /* one of the classes, with a dim of a variable or input */
    uint32_t classes;
    label from, to;
    double peak, step_ms; /* of the changed plan, bytes and ms */
};

/* Changes that lower the peak, lowest first; the caller frees *out. The bytes of each stored value
 * are rounded to whole ones. Strict plans only: ERR_INPUT for others; ERR_STOPPED when the
 * problem's `stop` is set. Each change costs what the classes cost that it moves (memory_tree.h).
 */
int plan_peak_changes(const struct plan *p, struct peak_change **out, uint32_t *count,
                      struct err *e) MUST_CHECK;

/* "encoder/layer_000/self/q/kernel:1", a dim of a parameter in class `k`, variables first, and how
 * many other classes change with it. Appended. */
void plan_peak_write_class(const struct plan *p, class_id k, struct str *out);

/* Appends the peak, its parts, the `tops` largest values live there with their source lines, and
 * the change that lowers it most. */
int plan_peak_write(const struct plan *p, uint32_t tops, struct str *out, struct err *e) MUST_CHECK;

#endif
