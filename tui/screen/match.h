/* tui/screen/match.h - patterns typed after / and \: words that must all occur, in any order and
 * spelling (tui/screen/words.h), or the literal text. A leading "~" means its letters in order, a
 * leading "!" inverts the match. With ".*", ".+" or "|" in it, "^" in front or "$" at its end it is
 * a regular expression (POSIX extended), case ignored unless it has capitals. */

#ifndef AUTOMAP_TUI_SCREEN_MATCH_H

#define AUTOMAP_TUI_SCREEN_MATCH_H

#include <stdbool.h>

struct match;

struct match *match_new(const char *pattern);             /* NULL: the pattern is empty */
void match_free(struct match *m);                         /* NULL ok */
bool match_text(const struct match *m, const char *text); /* NULL matches all */
/* Matches several texts (entries may be NULL): each word may be in any of them; with "!", in
 * none. */
bool match_any(const struct match *m, const char *a, const char *b, const char *c);
bool match_texts(const struct match *m, const char *const *texts, int count);
const char *match_pattern(const struct match *m); /* as it was typed */

#endif
