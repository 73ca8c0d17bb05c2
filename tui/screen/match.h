/* tui/screen/match.h - what is typed after / and \: a regular expression (POSIX extended), case
 * ignored unless it has capitals; "~" in front: its letters in order; "!" in front: what does not
 * match. What is no regular expression is searched for as it stands. */
#ifndef AUTOMAP_TUI_SCREEN_MATCH_H
#define AUTOMAP_TUI_SCREEN_MATCH_H

#include <stdbool.h>

struct match;

struct match *match_new(const char *pattern);             /* NULL: the pattern is empty */
void match_free(struct match *m);                         /* NULL ok */
bool match_text(const struct match *m, const char *text); /* NULL matches all */
/* In any of three (NULL: none there), which with "!" means: in none of them. */
bool match_any(const struct match *m, const char *a, const char *b, const char *c);
const char *match_pattern(const struct match *m); /* as it was typed */

#endif
