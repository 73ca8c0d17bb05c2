/* engine/plan/export_report.h - a plan as a Markdown report: what it costs, what it splits and
 * communicates, memory over the step, and the command that reproduces it.
 *
 * Plots are text, so the file is self-contained. For a relaxed plan also: its bound, how variables
 * and inputs are stored and used, reshards by kind and one by one, and what its memory peak
 * consists of. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_REPORT_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_REPORT_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Facts for the report that the plan does not hold. */
struct report_about {
    const char *model;    /* the model's name for readers */
    const char *command;  /* reproduces it, except for the settings: "automap plan MODEL CLUSTER" */
    double baseline_ms;   /* step with everything whole; 0: computed here */
    const float *best_ms; /* [points] best step time so far, over the search; NULL: no search */
    uint32_t points;
    double episodes; /* of that search */
};

/* ERR_MEMORY; ERR_INPUT as plan_settings_write. O(instructions + stored values). */
int export_report(const struct plan *p, const struct report_about *about, struct str *out,
                  struct err *e) MUST_CHECK;

/* Checks that the settings in the report's command reproduce the plan, or, if relaxed, that every
 * status in its tables is the plan's. Else ERR_INPUT. */
int export_report_check(const struct plan *p, const char *text, size_t size,
                        struct err *e) MUST_CHECK;

#endif
