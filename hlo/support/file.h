/* hlo/support/file.h - small files for the rooms above libc: read whole with a cap, written whole
 * or not at all. */
#ifndef AUTOMAP_HLO_SUPPORT_FILE_H
#define AUTOMAP_HLO_SUPPORT_FILE_H

#include "hlo/support/err.h"
#include "hlo/support/mem.h"

enum file_how {
    FILE_REPLACE = 1 << 0, /* without: a file that is there is an error and stays */
    FILE_PRIVATE = 1 << 1, /* for its owner alone, 0600 */
    FILE_QUICK = 1 << 2,   /* whole or not at all, but a power cut may undo it: nothing is synced */
};

/* Writes a file of its own in the directory of `path`, syncs it, renames it over `path` and syncs
 * the directory. What was there keeps its mode; a link is followed: the file behind it is the one
 * replaced. A link or file planted under the name of the file on its way is never followed. A pipe
 * or a terminal is written through. `how`: of enum file_how. ERR_IO; the caller adds the file's
 * name. Any thread. */
int hlo_file_write(const char *path, const char *text, size_t size, unsigned how,
                   struct err *e) MUST_CHECK;

/* Appends the whole of a file ("-": standard input) of at most `most` bytes to `out`. Errors name
 * the file: ERR_IO, ERR_LIMIT, ERR_MEMORY. */
int hlo_file_read(const char *path, size_t most, struct str *out, struct err *e) MUST_CHECK;

/* The same, unpacked where the bytes are gzip; `most` bounds both forms. ERR_INPUT: damaged. */
int hlo_file_read_plain(const char *path, size_t most, struct str *out, struct err *e) MUST_CHECK;

#endif
