/* tui/watch/series_price.h - what decisions save, each alone and the layers of a series together.
 */
#ifndef AUTOMAP_TUI_WATCH_SERIES_PRICE_H
#define AUTOMAP_TUI_WATCH_SERIES_PRICE_H

struct watch;

/* Fills in saves_ms, series_ms and series_only of every decision. O(decisions * cost tables). UI
 * thread only. */
void series_price_all(struct watch *w);

#endif
