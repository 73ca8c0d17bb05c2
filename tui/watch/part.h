/* tui/watch/part.h - a part of a model that a person asks about: a folder of the tree, or what a
 * row of the cost table adds up (this layer of that phase, this operation of it). UI thread. */
#ifndef AUTOMAP_TUI_WATCH_PART_H
#define AUTOMAP_TUI_WATCH_PART_H

#include "engine/plan/plan.h"
#include "hlo/module/hlo.h"
#include "tui/watch/cost_split.h"
#include "tui/watch/watch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PART_FILTERS = 5 };

struct part {
    int filter_count;                         /* 0: the node */
    uint32_t times;                           /* 2 and more: it stands for so many that are alike */
    int node;                                 /* of the watch's tree */
    struct cost_filter filters[PART_FILTERS]; /* from outside in; all of them hold */
};

struct part part_of_node(int node);
/* "backward › encoder/layer_0". Returns out. */
char *part_name(const struct watch *w, const struct part *p, char *out, size_t room);
bool part_holds(const struct watch *w, const struct part *p, hlo_id id); /* O(depth + filters) */
/* The same, and of a part that is one linkage group's all-reduces, that this is one. */
bool part_holds_collective(const struct watch *w, const struct part *p,
                           const struct plan_collective *c);
/* Its first telling instruction, else its first; HLO_NONE: it has none. O(instructions). */
hlo_id part_begins(const struct watch *w, const struct part *p);

#endif
