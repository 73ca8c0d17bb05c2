/* engine/cost/trace_table.h - tables of times as profilers print them. Private to engine/cost.
 *
 * CSV with a line of titles, among them a name and a time with its unit:
 *
 *     nsys stats --report cuda_gpu_kern_sum --format csv    "Name", "Total Time (ns)"
 *     an xplane's tables of HLO operations (xprof)          "HLO op name", "Total self time (us)"
 *
 * Lines before the titles are skipped. Fields may be quoted, with "" for a quote. Of several lines
 * of one name the times add up. */
#ifndef AUTOMAP_ENGINE_COST_TRACE_TABLE_H
#define AUTOMAP_ENGINE_COST_TRACE_TABLE_H

#include "engine/cost/trace.h"
#include "hlo/support/err.h"

#include <stddef.h>

/* Fills t->ops, by name, with total times; t->events is the number of lines. ERR_INPUT with line
 * and column: no titles, or a time that is no number. O(lines log lines). */
int trace_table_read(const char *text, size_t size, struct trace *t, struct err *e) MUST_CHECK;

#endif
