/* engine/text/quantity.h - figures with units, as people write them: 16 GB, 25 Gbit/s, 5 us. The
 * unit is required: a bare number is an error whose message lists the units. */
#ifndef AUTOMAP_ENGINE_TEXT_QUANTITY_H
#define AUTOMAP_ENGINE_TEXT_QUANTITY_H

#include "hlo/support/err.h"

#include <stdbool.h>
#include <stdint.h>

enum quantity {
    QUANTITY_BYTES, /* B kB MB GB TB PB (10^3), KiB MiB GiB TiB (2^10) -> bytes */
    QUANTITY_RATE,  /* the same per second, bit/s kbit/s Mbit/s Gbit/s Tbit/s -> bytes per second */
    QUANTITY_FLOPS, /* FLOP/s .. EFLOP/s, also OP/s for integers -> operations per second */
    QUANTITY_TIME,  /* ns us ms s -> milliseconds; may be 0 */
};

/* Reads an unsigned decimal number at *at and moves *at past it, in any locale. False: none. */
bool quantity_number(const char **at, double *out);

/* True if all of `text` is such a number within bounds: no sign, no blanks, no inf or nan. */
bool quantity_real(const char *text, double least, double most, double *out);

/* True if all of `text` is a whole number in plain digits, at most `most`. */
bool quantity_whole(const char *text, uint64_t most, uint64_t *out);

/* A decimal number, blanks, a unit. The value is one that a machine could ever have: 1 B to 10^18
 * B, 1 B/s to 10^18 B/s, 1 FLOP/s to 10^21 FLOP/s, 0 or 10^-12 s to 1000 s. */
int quantity_read(const char *text, enum quantity q, double *out, struct err *e) MUST_CHECK;

/* A whole number from 1 to `most`, plain digits. */
int quantity_count(const char *text, uint32_t most, uint32_t *out, struct err *e) MUST_CHECK;

/* The entry of `words` (NULL-terminated) that `word` most likely means: at most a third of its
 * letters differ. NULL: none is that close. */
const char *quantity_nearest(const char *word, const char *const *words);

#endif
