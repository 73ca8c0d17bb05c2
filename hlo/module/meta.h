/* hlo/module/meta.h - where an instruction comes from, as text. */
#ifndef AUTOMAP_HLO_MODULE_META_H
#define AUTOMAP_HLO_MODULE_META_H

#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

#include <stdbool.h>

/* Something is known of where it comes from. */
bool hlo_meta_is_known(const struct hlo_meta *meta);
/* Appends it as the value of `metadata`: {op_name="jit(f)/mul" source_file="a.py" source_line=3}.
 */
void hlo_meta_write(const struct hlo_meta *meta, struct str *out);

#endif
