/* hlo/text/write_text.h - a module as HLO text. */
#ifndef AUTOMAP_HLO_TEXT_WRITE_TEXT_H
#define AUTOMAP_HLO_TEXT_WRITE_TEXT_H

#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct hlo_write_options {
    bool no_metadata;
    /* Replaces the sharding attribute of instruction `id`: text to print, or NULL for none.
     * NULL: the module's own are kept. */
    const char *(*sharding)(void *context, hlo_id id);
    /* NULL, or: whole lines to stand before instruction `id`, and the name to print for its operand
     * `n` in place of its own; NULL for neither. */
    const char *(*before)(void *context, hlo_id id);
    const char *(*operand)(void *context, hlo_id id, uint32_t n);
    void *context;
};
/* Appends the whole module. `o` may be NULL. Text is what XLA's printer writes and parses. */
int hlo_write_text(const struct hlo_module *m, const struct hlo_write_options *o, struct str *out,
                   struct err *e) MUST_CHECK;

/* One shape as text, "f32[8,4]{1,0}" with the layout. Appended. */
void hlo_write_shape(const struct hlo_module *m, hlo_shape_id id, bool with_layout,
                     struct str *out);

#endif
