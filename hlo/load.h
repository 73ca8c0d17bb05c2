/* hlo/load.h - files to modules and back, whatever their form. */
#ifndef AUTOMAP_HLO_LOAD_H
#define AUTOMAP_HLO_LOAD_H

#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/support/err.h"
#include "hlo/text/write_text.h"

/* Reads a file ("-": standard input), plain or gzipped; format found by content. O(bytes).
 * `o` NULL: { 0, -1 }. Errors: ERR_IO, ERR_INPUT with place, ERR_LIMIT, ERR_MEMORY. */
int hlo_load(const char *path, const struct hlo_load_options *o, struct hlo_module **out,
             struct err *e) MUST_CHECK;
/* The same from memory; `name` stands in messages. Copies what it keeps. */
int hlo_load_memory(const char *name, const void *data, size_t size,
                    const struct hlo_load_options *o, struct hlo_module **out,
                    struct err *e) MUST_CHECK;

/* By ending: .txt .hlo .json .pb .mlir, each also .gz. Atomic: a temporary file beside it, renamed.
 */
int hlo_save(const struct hlo_module *m, const char *path, const struct hlo_write_options *o,
             struct err *e) MUST_CHECK;

#endif
