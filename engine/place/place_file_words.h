/* engine/place/place_file_words.h - the words of a placement's plan file. Private to place_file.c,
 * which writes it, and place_file_read.c. */
#ifndef AUTOMAP_ENGINE_PLACE_PLACE_FILE_WORDS_H
#define AUTOMAP_ENGINE_PLACE_PLACE_FILE_WORDS_H

#include <stdint.h>

#define PLACE_FILE_ID_MOST ((int64_t)1 << 53) /* a number of JSON holds no more */

static const char *const place_file_objectives[] = {"throughput", "latency"};
static const char *const place_file_sets[] = {"contiguous", "any"};
static const char *const place_file_communications[] = {"sum", "max", "duplex"};
static const char *const place_file_passes[] = {"together", "apart"};

#endif
