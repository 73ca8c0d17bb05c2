/* tui/files/recent.h - recently opened models: a small text file in the state directory, newest
 * first, one line each: time, best step in ms (0: none), gap (-1: none), cluster, path, and the
 * journal of its session if one is kept, tab-separated. Broken lines are skipped; failure to write
 * is ignored. */
#ifndef AUTOMAP_TUI_FILES_RECENT_H
#define AUTOMAP_TUI_FILES_RECENT_H

#include <stddef.h>
#include <stdint.h>

enum { RECENT_MOST = 20 };

struct recent {
    int64_t time; /* seconds since 1970 */
    double best_ms, gap;
    char cluster[256], path[1024]; /* as given: clean them before they are shown */
    char session[1024];            /* path of its journal; "": none */
};

int recent_load(struct recent out[static RECENT_MOST], const char *state_dir);

/* Puts `r` first and drops an older line with the same path and cluster. */
void recent_add(const char *state_dir, const struct recent *r);

/* "today", "yesterday", "3 Nov", "3 Nov 2024"; out holds 16 bytes. Days are those of UTC. */
char *recent_day(char out[static 16], int64_t time, int64_t today);

#endif
