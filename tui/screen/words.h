/* tui/screen/words.h - text as words, for searching: letters and digits separate, lower case, no
 * leading zeros. "decoder/layer_003/q.kernel" and "Decoder layer 3 q kernel" are the same words.
 * Pure functions. */
#ifndef AUTOMAP_TUI_SCREEN_WORDS_H
#define AUTOMAP_TUI_SCREEN_WORDS_H

#include <stddef.h>

/* " decoder layer 3 q kernel ": each word between blanks; cut at `room`. "" where there are none.
 * Returns its bytes. */
size_t words_write(char *out, size_t room, const char *text);

/* How a word matches such a text, best last. */
enum words_hit { WORDS_NONE, WORDS_MIDDLE, WORDS_START, WORDS_WHOLE };
/* `word` has no blanks. Numbers match whole only; one or two letters never match in the middle of a
 * word. */
enum words_hit words_hit(const char *words, const char *word);

/* The next word of such a text, copied; NULL: no more. *at begins at 0. */
enum { WORD_ROOM = 64 };
const char *words_next(const char *words, size_t *at, char out[static WORD_ROOM]);

#endif
