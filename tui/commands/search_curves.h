/* tui/commands/search_curves.h - the curves of searches as data, --curves FILE. */
#ifndef AUTOMAP_TUI_COMMANDS_SEARCH_CURVES_H
#define AUTOMAP_TUI_COMMANDS_SEARCH_CURVES_H

#include "engine/live/search_state.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/search_seeds.h"

/* Appends the lines of one search, without the head. */
void search_curves_write(const struct search_state *c, struct str *out);

/* Writes a CSV file with a head, a row a point:
 *     seed,curve,x,mean,low,high,points
 * curve: progress (share of dims settled after a decision; x counts decisions), score and best (of
 * each episode; x counts episodes), epsilon (the same), loss (x counts updates). A row stands for
 * `points` of them in a row: long runs are merged in pairs (engine/live/series.h). Replaces the
 * file. */
int search_curves_save(const struct seed_end *ends, uint32_t count, const char *path,
                       struct err *e) MUST_CHECK;

#endif
