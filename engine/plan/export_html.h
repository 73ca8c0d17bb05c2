/* engine/plan/export_html.h - the report of a plan as one self-contained page: no scripts, no
 * fonts, no network. It opens with one sentence for lay readers, then the figures, then the content
 * of the Markdown report (export_report.h): bars and the memory of a step are drawn, long tables
 * are collapsed, and tables too wide for a phone scroll by themselves. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_HTML_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_HTML_H

#include "engine/plan/export_report.h"
#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

enum { EXPORT_HTML_MOST = 2000000 }; /* bytes; rows of tables beyond are counted, not shown */

/* Appends the page, after checking its report (export_report_check). ERR_MEMORY,
 * ERR_INPUT as export_report. O(size of the report). */
int export_html(const struct plan *p, const struct report_about *about, struct str *out,
                struct err *e) MUST_CHECK;

/* Any Markdown (a title, one sentence, sections, tables) as such a page; its first paragraph is the
 * lead. ERR_MEMORY. O(size of it). */
int export_html_page(const char *title, const struct str *md, struct str *out,
                     struct err *e) MUST_CHECK;

#endif
