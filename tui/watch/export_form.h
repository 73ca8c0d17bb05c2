/* tui/watch/export_form.h - the forms a plan can be exported in: one table for `automap export` and
 * the explorer's dialog. Every text is read back and compared with the plan. */

#ifndef AUTOMAP_TUI_WATCH_EXPORT_FORM_H

#define AUTOMAP_TUI_WATCH_EXPORT_FORM_H

#include "engine/plan/export_report.h"
#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct export_form {
    const char *name;   /* --format NAME */
    const char *words;  /* one line */
    const char *ending; /* of a file's name: ".plan.json" */
    int (*write)(const struct plan *p, const struct report_about *about, struct str *text,
                 struct str *warnings, struct err *e);
    const char *not_relaxed; /* why a relaxed plan has not this form; NULL: it has */
};
extern const struct export_form export_forms[]; /* ends with name NULL */

const struct export_form *export_form_by_name(const char *name); /* NULL: none */

/* Appends the text, and to `warnings` one line per thing a person should know; what was written is
 * read again first. Any thread. */
int export_form_write(const struct export_form *f, const struct plan *p,
                      const struct report_about *about, struct str *text, struct str *warnings,
                      struct err *e) MUST_CHECK;

#endif
