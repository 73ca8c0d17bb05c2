/* tui/watch/lanes.h - instructions one below the other, with a line in a lane from each to its
 * users: what is alive where.
 *
 * Only rows of one window of a list are joined; uses outside of it, and those that find no lane,
 * are counted, as are those more than LANES_REACH rows below: a line that only passes says little.
 * A lane keeps its column from a value's row to its last use. Work is bounded by the window,
 * whatever the size of the list. */
#ifndef AUTOMAP_TUI_WATCH_LANES_H
#define AUTOMAP_TUI_WATCH_LANES_H

#include "hlo/module/hlo.h"
#include "tui/watch/around.h"
#include "tui/watch/tree.h"

enum { LANES_MOST = 24, LANES_ROWS = 256, LANES_USERS = 12, LANES_REACH = 32 };

enum lane_sign {
    LANE_EMPTY = 0,
    LANE_UP = 1,
    LANE_DOWN = 2,
    LANE_NODE = 4,
    LANE_LEFT = 8,
    LANE_RIGHT = 16
};

struct lanes {
    int row_count, width;                 /* lanes in use */
    uint8_t cell[LANES_ROWS][LANES_MOST]; /* enum lane_sign, ored */
    hlo_id owner[LANES_ROWS][LANES_MOST]; /* whose value the lane carries there; HLO_NONE */
    uint16_t lost[LANES_ROWS];            /* uses of this row's value that no lane leads to */
};

/* rows[0..count) are instructions in ascending order, count <= LANES_ROWS; at most `most` lanes.
 * Plain operations between two rows are passed through. */
void lanes_make(const struct tree *t, const hlo_id *rows, int count, int most, struct lanes *out);

#endif
