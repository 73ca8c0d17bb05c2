/* hlo/load.h - reads files of any form into modules, and writes them. */
#ifndef AUTOMAP_HLO_LOAD_H
#define AUTOMAP_HLO_LOAD_H

#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/support/err.h"
#include "hlo/text/write_text.h"

/* Reads a file ("-": standard input), plain or gzipped; recognises the format by content. O(bytes).
 * `o` NULL: the largest module, no limit of its own. Errors: ERR_IO, ERR_INPUT with position,
 * ERR_LIMIT, ERR_MEMORY. */
int hlo_load(const char *path, const struct hlo_load_options *o, struct hlo_module **out,
             struct err *e) MUST_CHECK;
/* Two modules of their own from one reading: a pipe can be read only once. */
int hlo_load_twice(const char *path, const struct hlo_load_options *o, struct hlo_module *out[2],
                   struct err *e) MUST_CHECK;
/* The same from memory; messages call it `name`. Copies what it keeps. */
int hlo_load_memory(const char *name, const void *data, size_t size,
                    const struct hlo_load_options *o, struct hlo_module **out,
                    struct err *e) MUST_CHECK;

/* The ending picks the format: .txt .hlo .json .pb .mlir, each also .gz. Atomic: writes a temporary
 * file beside `path` and renames it. */
int hlo_save(const struct hlo_module *m, const char *path, const struct hlo_write_options *o,
             struct err *e) MUST_CHECK;

/* How many functions of StableHLO the module keeps whole, such as chlo.lgamma: custom-calls that
 * XLA knows in StableHLO alone, not in HLO. *first: the first of them. O(count). */
uint32_t hlo_whole_functions(const struct hlo_module *m, hlo_id *first);

#endif
