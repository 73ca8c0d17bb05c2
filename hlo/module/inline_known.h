/* hlo/module/inline_known.h - what is known of the copies while loops are written out: counters,
 * the parts of tuples, and arrays that are filled slice by slice, so that a trip reads what another
 * one made and not the array around it. Private to inline.c. */
#ifndef AUTOMAP_HLO_MODULE_INLINE_KNOWN_H
#define AUTOMAP_HLO_MODULE_INLINE_KNOWN_H

#include "hlo/module/hlo.h"

struct inline_known {
    struct inline_known_copy *copy; /* [copies], by the order of adding */
    size_t count, room;
    hlo_id *parts; /* of tuples */
    size_t part_count, part_room;
};

/* A copy of `id` with these operands, which are copies: *same is a copy that gives the same, or
 * HLO_NONE. What is read past slices that are known to be others is read before them: operands
 * change. */
void inline_known_look(const struct inline_known *k, const struct hlo_module *m, hlo_id id,
                       hlo_id *operands, hlo_id *same);
/* The next copy is of `id`. False: no memory. */
bool inline_known_add(struct inline_known *k, const struct hlo_module *m, hlo_id id,
                      const hlo_id *operands);
void inline_known_release(struct inline_known *k);

#endif
