/* tui/watch/export_job.h - exports one plan in one form in a thread of its own, so that no frame
 * waits for a large module. The problem outlives the job. */
#ifndef AUTOMAP_TUI_WATCH_EXPORT_JOB_H
#define AUTOMAP_TUI_WATCH_EXPORT_JOB_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/watch/export_form.h"
#include "tui/watch/watch.h"

struct export_job;

/* Takes over what `plan` holds, also on error. A strict plan's report has the search of the newest
 * snapshot. `command` as in report_about. NULL: *e says why. */
struct export_job *export_job_start(const struct watch *w, struct plan *plan,
                                    const struct export_form *form, const char *model,
                                    const char *command, struct err *e);
void export_job_free(struct export_job *j); /* waits for its end; NULL ok */

/* Waits at most that long. True: it has ended. */
bool export_job_wait(struct export_job *j, double seconds);

/* Of a job that has ended: 0, or the error in *e. Texts belong to the job. */
int export_job_result(const struct export_job *j, const struct str **text,
                      const struct str **warnings, struct err *e);

#endif
