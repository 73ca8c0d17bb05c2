/* tui/watch/layer_diff.h - where two plans of one problem differ, layer by layer: the step time of
 * each layer (or module, where there are no layers), forward and backward together. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_LAYER_DIFF_H
#define AUTOMAP_TUI_WATCH_LAYER_DIFF_H

#include "engine/decide/labels.h"
#include "engine/decide/names.h"
#include "hlo/support/err.h"
#include "tui/watch/watch.h"

struct layer_difference {
    char name[NAME_ROOM]; /* "encoder/layers 0–5" */
    uint32_t times;       /* so many layers alike, within 2 %; the figures are their means */
    bool is_layer;
    double compute[2], network[2]; /* ms of a step in A, in B; of one layer */
};

/* Those that differ first, by the difference of all alike, then by A's time. *items is the caller's
 * to free. O(instructions + nodes log nodes). */
int layer_differences(const struct watch *w, const label *a, const label *b,
                      struct layer_difference **items, size_t *count, struct err *e) MUST_CHECK;
/* B's time less A's, of all alike; below a millionth of the step it is none. */
double layer_change(const struct layer_difference *d);

#endif
