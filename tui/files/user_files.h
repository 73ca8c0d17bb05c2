/* tui/files/user_files.h - small files, written whole or not at all, and the directories for ours.
 */
#ifndef AUTOMAP_TUI_FILES_USER_FILES_H
#define AUTOMAP_TUI_FILES_USER_FILES_H

#include "hlo/support/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { SETTINGS_MOST = 1 << 18 }; /* bytes of a theme, of settings */

/* Writes beside `path` and renames; a symbolic link is followed. Without `overwrite` an existing
 * file is an error and stays. Errors: ERR_IO. */
int file_write(const char *path, const char *text, size_t size, bool overwrite,
               struct err *e) MUST_CHECK;

/* The whole of a file of at most `most` bytes, a NUL behind it, to be freed. */
int file_read(char **text, size_t *size, const char *path, size_t most, struct err *e) MUST_CHECK;

/* Our directory under XDG_CONFIG_HOME or XDG_STATE_HOME (relative values are ignored, as the
 * specification wants), made if `make`. false: no home. */
bool file_config_dir(char *out, size_t room);
bool file_state_dir(char *out, size_t room, bool make);

/* The directory that holds examples/: $AUTOMAP_DATA_DIR, beside the installed program, its
 * installation directory, or the source tree it was built from. False: none of them. */
bool file_data_dir(char *out, size_t room);

bool file_is_there(const char *path);

/* The program that a dump of XLA was made of: beside module_0001.jit_f.cpu_after_optimizations.txt
 * module_0001.jit_f.before_optimizations.txt, gzipped or not. false: there is none, or `dump` is
 * it. */
bool file_before_dump(char *out, size_t room, const char *dump);

/* What a model is called on screens and in results: "t5-base6" of ".../t5-base6.meta.hlo.txt.gz",
 * "llama.v1" of "llama.v1.hlo". Cleaned; returns `out`. (The name inside the file is nearly always
 * jit_train_step.) */
char *file_stem(char *out, size_t room, const char *path);

#endif
