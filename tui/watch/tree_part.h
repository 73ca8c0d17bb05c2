/* tui/watch/tree_part.h - what a part of a path is called in the tree. */
#ifndef AUTOMAP_TUI_WATCH_TREE_PART_H
#define AUTOMAP_TUI_WATCH_TREE_PART_H

#include "tui/watch/tree.h"

#include <stddef.h>

/* "layer_000", "layers_0" -> "layer 0", returns 0; "fc_norm" -> "fc norm", -1; "conv1_2" as it is.
 * `parent`: the module it is in, "layers" -> "layer 3"; NULL: none that a number could be of. */
int tree_part_read(const char *part, size_t size, const char *parent,
                   char out[static TREE_NAME_ROOM]);

#endif
