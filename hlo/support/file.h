/* hlo/support/file.h - small files for every room: read whole up to a cap, written whole
 * or not at all. */
#ifndef AUTOMAP_HLO_SUPPORT_FILE_H
#define AUTOMAP_HLO_SUPPORT_FILE_H

#include "hlo/support/err.h"
#include "hlo/support/mem.h"

enum file_how {
    FILE_REPLACE = 1 << 0, /* without it, an existing file is an error and stays */
    FILE_PRIVATE = 1 << 1, /* readable by its owner alone, 0600 */
    FILE_QUICK = 1 << 2,   /* still whole or not at all, but not synced: a power cut may undo it */
};

/* The error that `errno` says: `what` ("cannot be read"), a colon and why, with ERR_IO; ERR_STOPPED
 * when a signal ended the wait for a pipe. Returns its code. */
int hlo_file_failed(const char *what, struct err *e);

/* Writes a temporary file in the directory of `path`, syncs it, renames it over `path` and syncs
 * the directory. The new file keeps the mode of the old one. If `path` is a symbolic link, the file
 * it points to is replaced; a link planted under the temporary name is never followed. A pipe or a
 * terminal is written directly. `how`: bits of enum file_how. Fails with ERR_IO,
 * or ERR_STOPPED (a pipe that nobody reads, and a signal); the caller adds the file's name. Any
 * thread. */
int hlo_file_write(const char *path, const char *text, size_t size, unsigned how,
                   struct err *e) MUST_CHECK;

/* What stands behind the last '/' of `path`: a part of it. */
const char *hlo_file_name(const char *path);

/* Appends a whole file ("-": standard input) of at most `most` bytes to `out`. Errors name
 * the file: ERR_IO, ERR_STOPPED, ERR_LIMIT, ERR_MEMORY. */
int hlo_file_read(const char *path, size_t most, struct str *out, struct err *e) MUST_CHECK;

/* The same, decompressing gzip; `most` bounds both sizes. ERR_INPUT: damaged gzip data. */
int hlo_file_read_plain(const char *path, size_t most, struct str *out, struct err *e) MUST_CHECK;

/* The first bytes of a file, decompressed: at most `room`, *size of them. ERR_IO, ERR_INPUT. */
int hlo_file_head(const char *path, size_t room, char *out, size_t *size, struct err *e) MUST_CHECK;

#endif
