/* tui/screen/utf8.h - code points and their columns.
 *
 * The widths are ours and not the locale's wcwidth, so that a screen has the same cells on every
 * machine; whether a terminal agrees is asked once, at start (see tui/screen/term.h). Pure
 * functions. */
#ifndef AUTOMAP_TUI_SCREEN_UTF8_H
#define AUTOMAP_TUI_SCREEN_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { UTF8_ROOM = 5 }; /* one code point with its NUL */

/* Decodes at *text and moves past it: at least one byte, except at the final NUL, where it gives 0.
 * Broken bytes give U+FFFD, one byte at a time. */
uint32_t utf8_next(const char **text);

/* Writes `c` with a final NUL; returns the bytes without it. What is no code point becomes U+FFFD.
 */
size_t utf8_put(char out[static UTF8_ROOM], uint32_t c);

/* Columns on a screen: 0 combining or zero-width, 2 East Asian wide and emoji, else 1. */
int utf8_columns(uint32_t c);

int utf8_text_columns(const char *text);

/* The start of the last code point before text + at; at > 0. */
size_t utf8_before(const char *text, size_t at);

#endif
