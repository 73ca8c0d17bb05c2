/* hlo/stablehlo/dialects.h - which dialects an MLIR text uses. The text carries no versions of
 * them; those stand in portable artifacts alone. */
#ifndef AUTOMAP_HLO_STABLEHLO_DIALECTS_H
#define AUTOMAP_HLO_STABLEHLO_DIALECTS_H

#include "hlo/support/mem.h"

/* Appends "stablehlo 2,801, chlo 3, sdy 12, func 9": operations of each that is there, the dialects
 * of frameworks; names in strings, comments, attributes and locations do not count. O(size). */
void hlo_stablehlo_dialects(const char *text, struct str *out);

#endif
