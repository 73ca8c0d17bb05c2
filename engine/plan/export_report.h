/* engine/plan/export_report.h - a plan as a report in Markdown: what it costs, what is split, what
 * is communicated, memory over the step, and the command that makes it again.
 *
 * Plots are of text, so that the file needs no other. Of a relaxed plan: its bound, how variables
 * and inputs are stored and used, reshards by kind and one by one, and what the peak of its memory
 * is made of. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_REPORT_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_REPORT_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* What the plan itself does not know. */
struct report_about {
    const char *model;   /* as a person calls it */
    const char *command; /* that makes it again, up to the settings: "automap plan MODEL CLUSTER" */
    double baseline_ms;  /* everything whole; 0: worked out here */
    const float *best_ms; /* [points] best step time so far, over the search; NULL: no search */
    uint32_t points;
    double episodes; /* of that search */
};

/* ERR_MEMORY; ERR_INPUT as plan_settings_write. O(instructions + stored values). */
int export_report(const struct plan *p, const struct report_about *about, struct str *out,
                  struct err *e) MUST_CHECK;

/* The settings of the report's command make the plan again; of a relaxed plan every status in its
 * tables is read again and is the plan's. ERR_INPUT otherwise. */
int export_report_check(const struct plan *p, const char *text, size_t size,
                        struct err *e) MUST_CHECK;

#endif
