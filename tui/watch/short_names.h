/* tui/watch/short_names.h - short names of a set, told apart from each other. */
#ifndef AUTOMAP_TUI_WATCH_SHORT_NAMES_H
#define AUTOMAP_TUI_WATCH_SHORT_NAMES_H

enum { SHORT_NAME_ROOM = 160 }; /* that of a name (engine/decide/names.h) */

/* Shortens one name to `columns`; watch_short_name does. */
typedef void shorten_name(char out[static SHORT_NAME_ROOM], const char *name, int columns);

/* out[n] is names[n] as `shorten` has it. Names that would read alike are written by as few of
 * their words as tell them apart instead, those in front first, four at most, and what else has
 * room: "c3 b1_0", not "conv..v_1", of "conv3 block1_0 conv_1" among others. Names that differ in
 * too little for `columns` stay alike, and so do equal ones. O(n log n) and the words of those that
 * read alike, four times. */
void short_names(const char *const *names, int count, int columns, shorten_name *shorten,
                 char (*out)[SHORT_NAME_ROOM]);

/* The same, each to columns of its own. */
void short_names_beside(const char *const *names, const int *columns, int count,
                        shorten_name *shorten, char (*out)[SHORT_NAME_ROOM]);

#endif
