/* tui/screen/path.h - paths that do not fit, cut so that those beside each other can be told apart.
 */
#ifndef AUTOMAP_TUI_SCREEN_PATH_H
#define AUTOMAP_TUI_SCREEN_PATH_H

#include <stddef.h>

/* `path` in at most `columns`: where it first differs from each of `others`, its last part, then as
 * many parts as fit, those near the end first; ".." for parts left out: "../block 1/../kernel".
 * Where that is too long, its parts are cut in the middle, and the last ones are not kept. A path
 * that fits is whole; one that nothing tells from the others is cut from the left. Parts are
 * separated by '/'; at most 32 are looked at. Returns out. O(parts times length). */
char *path_cut_apart(char *out, size_t room, const char *path, const char *const *others, int count,
                     int columns);

#endif
