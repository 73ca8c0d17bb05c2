/* hlo/support/file.h - small files for the rooms above libc: read whole with a cap, written whole
 * or not at all. */
#ifndef AUTOMAP_HLO_SUPPORT_FILE_H
#define AUTOMAP_HLO_SUPPORT_FILE_H

#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Writes a temporary file beside `path`, syncs it and renames it over `path`. A link is followed:
 * the file behind it is the one replaced. A pipe or a terminal is written through. ERR_IO; the
 * caller adds the file's name. */
int hlo_file_write(const char *path, const char *text, size_t size, struct err *e) MUST_CHECK;

/* Appends the whole of a file ("-": standard input) of at most `most` bytes to `out`. Errors name
 * the file: ERR_IO, ERR_LIMIT, ERR_MEMORY. */
int hlo_file_read(const char *path, size_t most, struct str *out, struct err *e) MUST_CHECK;

#endif
