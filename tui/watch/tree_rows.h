/* tui/watch/tree_rows.h - what of a tree is open, and the rows that are in sight because of it. At
 * first as many levels as a panel holds, the upper ones and the heavier modules first; a person's
 * folds stay, through an edit of the problem too. UI thread only. */
#ifndef AUTOMAP_TUI_WATCH_TREE_ROWS_H
#define AUTOMAP_TUI_WATCH_TREE_ROWS_H

#include "hlo/module/hlo.h"
#include "tui/screen/match.h"
#include "tui/watch/tree.h"

struct tree_row {
    int node;
    hlo_id instruction; /* HLO_NONE: the node's own row */
    uint32_t more;      /* instructions this row stands for; 0: it is one itself */
};

struct tree_rows {
    const struct tree *tree; /* the watch's; NULL: no model */
    bool *open;              /* [nodes] */
    /* [nodes] telling instructions of its own that stand below it when open: where not all, those
     * that take longest */
    uint32_t *shown;
    bool all;             /* trivial instructions too */
    bool kept;            /* a person has been here: what is open stays as it is */
    int fitted;           /* rows of the panel that `open` was last made for; 0: none */
    struct tree_row *row; /* [count] */
    size_t count, room;
};

void tree_rows_begin(struct tree_rows *r,
                     const struct tree *t); /* all shut; frees what it held before */
void tree_rows_release(struct tree_rows *r);

/* The rows anew: of what is open, or of what matches a filter, folded or not: what tells something,
 * and where `all` is false one row for the rest of a node. O(rows), with a filter O(instructions).
 */
void tree_rows_make(struct tree_rows *r, const struct match *filter);

/* Milliseconds of the instructions that row `at` stands for; 0: none. O(instructions of its node).
 */
double tree_rows_more_ms(const struct tree_rows *r, size_t at);

/* Opens what `height` rows hold, unless a person has been here or it is done. O(rows^2). */
void tree_rows_fit(struct tree_rows *r, int height);

void tree_rows_set_open(struct tree_rows *r, int node,
                        bool open);                    /* with all that tells something */
void tree_rows_reveal(struct tree_rows *r, hlo_id id); /* opens what hides an instruction */
bool tree_rows_matches(const struct tree_rows *r, hlo_id id, const struct match *pattern);

/* What is open, told by names: an edited problem has another tree. The memory is the caller's to
 * free; NULL: no model or no memory. */
void *tree_rows_remember(const struct tree_rows *r);
void tree_rows_recall(struct tree_rows *r, const void *memory);

#endif
