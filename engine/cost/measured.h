/* engine/cost/measured.h - measured times of instructions, which replace the roofline.
 *
 * Two forms, recognised by content: one JSON object {"instruction": ms, ...}, or lines
 * `instruction,ms` (CSV; blank lines, lines that begin with '#' and a first line `instruction,ms`
 * are skipped). Names are those of the file the model was read from, '%' optional; ms is one
 * execution on one device, unsplit. Instructions that are not listed keep their roofline. Read
 * strictly: an unknown name, a name twice, a time that is not a number from 0 to 10^9 are errors
 * with line and column. */
#ifndef AUTOMAP_ENGINE_COST_MEASURED_H
#define AUTOMAP_ENGINE_COST_MEASURED_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

enum { MEASURED_FILE_MOST = 64 * 1024 * 1024 };

/* `m` is an inlined module; every copy of an instruction gets its time. *out: [m->count], -1 where
 * nothing was measured; the caller frees it. On error *out is NULL. `text` ends with a NUL at
 * text[size] and may contain others (an error). O((instructions + lines) log instructions). */
int measured_read(const struct hlo_module *m, const char *text, size_t size, double **out,
                  struct err *e) MUST_CHECK;

/* As measured_read, from a file ("-": standard input). */
int measured_load(const struct hlo_module *m, const char *path, double **out,
                  struct err *e) MUST_CHECK;

#endif
