/* hlo/module/attr_kind.h - checks a value against the kind of its key. Private to hlo/: readers
 * check before they hand an attribute to the builder. */
#ifndef AUTOMAP_HLO_MODULE_ATTR_KIND_H
#define AUTOMAP_HLO_MODULE_ATTR_KIND_H

#include "hlo/module/attr.h"

/* O(size). HLO_ATTR_UNKNOWN always fits. */
bool hlo_attr_fits(enum hlo_attr_key key, const char *text, size_t size);
/* For messages: what a value of this key looks like. */
const char *hlo_attr_example(enum hlo_attr_key key);

#endif
