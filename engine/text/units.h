/* engine/text/units.h - figures as people read them, the same in every command and on every screen.
 * Times: ms with one decimal, three digits below 10 ms, seconds from 10,000 ms on; GB = 10^9 bytes
 * with one decimal; counts with commas from 1,000. All write at most UNITS_ROOM bytes with the NUL
 * and return `out`. */
#ifndef AUTOMAP_ENGINE_TEXT_UNITS_H
#define AUTOMAP_ENGINE_TEXT_UNITS_H

#include <stdint.h>

enum { UNITS_ROOM = 48 };

char *units_count(char out[static UNITS_ROOM], int64_t count);               /* 27,083 */
char *units_number(char out[static UNITS_ROOM], double value, int decimals); /* 7,205.1, nan */
char *units_change(char out[static UNITS_ROOM], double value,
                   int decimals); /* +7,205.1, -0.7; 0.0 has no sign */
/* Decimals for a column of times up to `scale_ms`: 1 from 10 ms on and for 0; below that enough for
 * three digits, at most 4. */
int units_ms_decimals(double scale_ms);
char *units_ms(char out[static UNITS_ROOM], double ms); /* 255.1 ms, 0.0420 ms, 12.3 s, nan */
char *units_plain_ms(char out[static UNITS_ROOM],
                     double ms); /* 255.1, 12.3 s: beside other times in ms */
char *units_short_ms(char out[static UNITS_ROOM],
                     double ms); /* 19.0 us below 1 ms, else as units_ms: single collectives */
char *units_bytes(char out[static UNITS_ROOM], double bytes); /* 312 B, 31 kB, 773 MB, 8.5 GB */
char *units_rate(char out[static UNITS_ROOM], double per_second,
                 const char *unit);                             /* 15.7 TFLOP/s */
char *units_percent(char out[static UNITS_ROOM], double ratio); /* 0.041 -> 4.1 % */

#endif
