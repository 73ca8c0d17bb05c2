/* tui/files/sessions.h - journals that are kept automatically: where they are, and which there are.
 *
 * They are in sessions/ of the state directory, named after model, cluster and time, with their
 * checkpoints; the newest SESSIONS_MOST are kept. Anything unreadable is skipped. */
#ifndef AUTOMAP_TUI_FILES_SESSIONS_H
#define AUTOMAP_TUI_FILES_SESSIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SESSIONS_MOST = 24, SESSION_NAME_ROOM = 256 };

/* A path for a new journal: sessions/MODEL.CLUSTER.YYYYMMDD-hhmmss, made unique. Removes the oldest
 * surplus journals that nobody is writing. False: no state directory. */
bool session_new_path(char out[static PATH_MAX], const char *state_dir, const char *model,
                      const char *cluster, int64_t now);

/* The path of `name`: a path itself (it holds a '/', or is a file here), a name in sessions/, or
 * "last", the newest there that no search is writing. False: there is none. */
bool session_find(char out[static PATH_MAX], const char *state_dir, const char *name);

/* Names in sessions/, the newest first; returns how many. */
struct session_name {
    char text[SESSION_NAME_ROOM];
};
int session_names(struct session_name out[static SESSIONS_MOST], const char *state_dir);

/* Reads the end of a journal: the last known step, the last best in ms (0: none).
 * False: it cannot be read, or its search has not begun. O(1): reads the last bytes only. */
bool session_glance(const char *path, uint64_t *steps, double *best_ms);

#endif
