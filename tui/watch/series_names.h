/* tui/watch/series_names.h - decisions in a row that are alike but for their layer stand under one
 * name: "decoder cross" of "decoder cross 0" to "decoder cross 5". No two series have the same. UI
 * thread only. */
#ifndef AUTOMAP_TUI_WATCH_SERIES_NAMES_H
#define AUTOMAP_TUI_WATCH_SERIES_NAMES_H

#include "tui/watch/short_names.h"

struct watch;

/* Of series with one stem each takes the words that the names of its own members begin with, and
 * where these are alike too, the name of its first. O(moves log moves). */
void series_tell_apart(struct watch *w);

/* Columns of a label below the decisions: from so many on it is words, else initials. */
enum { SERIES_INITIALS = 6, SERIES_NARROWEST = 8, SERIES_WIDEST = 40 };

/* For the narrowest labels: "d cross" of "decoder cross", "c1_2" of "conv1_2"; a name that fits in
 * `columns` as it is. */
void series_initials(char out[static SHORT_NAME_ROOM], const char *name, int columns);

#endif
