/* tui/screen/match.h - what is typed after / and \: words, which all have to be there, in any order
 * and however the name is spelt (tui/screen/words.h); or the text as it stands. "~" in front: its
 * letters in order; "!" in front: what does not match. With ".*", ".+" or "|" in it, "^" in front
 * or
 * "$" at its end it is a regular expression (POSIX extended), case ignored unless it has capitals.
 */
#ifndef AUTOMAP_TUI_SCREEN_MATCH_H
#define AUTOMAP_TUI_SCREEN_MATCH_H

#include <stdbool.h>

struct match;

struct match *match_new(const char *pattern);             /* NULL: the pattern is empty */
void match_free(struct match *m);                         /* NULL ok */
bool match_text(const struct match *m, const char *text); /* NULL matches all */
/* In any of several texts (NULL: none there), words in all of them together; which with "!" means:
 * not in them. */
bool match_any(const struct match *m, const char *a, const char *b, const char *c);
bool match_texts(const struct match *m, const char *const *texts, int count);
const char *match_pattern(const struct match *m); /* as it was typed */

#endif
