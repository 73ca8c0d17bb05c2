/* hlo/support/text.h - makes text from files safe to show.
 *
 * Names, paths and messages in a file may hold terminal escapes, bidirectional overrides or broken
 * UTF-8. What goes on a screen or into a message passes through text_clean once, at load. */
#ifndef AUTOMAP_HLO_SUPPORT_TEXT_H
#define AUTOMAP_HLO_SUPPORT_TEXT_H

#include <stddef.h>

/* Copies `size` bytes of `in` to `out` (room bytes with the final NUL, room > 0). Control
 * characters, bytes that are not UTF-8, zero-width characters and bidirectional controls become
 * '?'; newline and tab become a blank. The result is cut at a character boundary. Returns the bytes
 * written without the NUL. in and out may not overlap. */
size_t text_clean(char *out, size_t room, const char *in, size_t size);

/* As text_clean, but every input byte becomes exactly one column of ASCII, so that a caret below
 * stays in place: bytes from 0x80 on become '?'. */
size_t text_clean_columns(char *out, size_t room, const char *in, size_t size);

/* True when text_clean would change nothing: the common case, worth asking first. */
int text_is_clean(const char *in, size_t size);

/* The number that `in` begins with, by strtod, of however many digits: +-HUGE_VAL when it is too
 * large. Returns its bytes, 0 when there is none, or no memory for one of more than 63 digits. */
size_t text_real(const char *in, size_t size, double *out);

#endif
