/* tui/watch/stage_shares.h - what a stage of a pipeline shares with others: variables that are read
 * in several, whose gradients are added up over the network once a step. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_STAGE_SHARES_H
#define AUTOMAP_TUI_WATCH_STAGE_SHARES_H

#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"

#include <stddef.h>
#include <stdint.h>

/* "40.0 ms add up the gradient of embeddings/word, 125 MB, which stage 3 has too": all of it in one
 * sum, named by the largest; "" where the stage shares nothing. Returns out. O(ties x stages). */
char *stage_shares_text(const struct pipeline *l, const struct pipe_plan *p, uint32_t stage,
                        char *out, size_t room);

#endif
