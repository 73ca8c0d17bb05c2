/* hlo/stablehlo/dialects.h - which dialects an MLIR text uses. Their versions are in portable
 * artifacts only, not in text. */
#ifndef AUTOMAP_HLO_STABLEHLO_DIALECTS_H
#define AUTOMAP_HLO_STABLEHLO_DIALECTS_H

#include "hlo/support/mem.h"

/* Appends "stablehlo 2,801, chlo 3, sdy 12, func 9": the operations of each dialect present. Names
 * in strings, comments, attributes and locations do not count. O(size). */
void hlo_stablehlo_dialects(const char *text, struct str *out);

#endif
