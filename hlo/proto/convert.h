/* hlo/proto/convert.h - between messages of hlo.proto and the module. Private to hlo/.
 *
 * A module keeps what an instruction says as text (hlo/module/attr.h), so each message has two
 * functions: print_X appends the text XLA prints for it, take_X reads that text back into a
 * message. take_X returns NULL or false when the text is not of that form or memory is short; the
 * caller keeps such attributes as they stand (kept_attributes). Messages live in the arena that is
 * passed in. */
#ifndef AUTOMAP_HLO_PROTO_CONVERT_H
#define AUTOMAP_HLO_PROTO_CONVERT_H

#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/proto/reflect.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include "hlo/proto/hlo.pb-c.h"

/* ---- convert_scan.c: taking texts apart. Blanks and comments are skipped before each item. ----
 */
struct scan {
    const char *at, *end;
};
static inline struct scan scan_of(const char *text, size_t size)
{
    return (struct scan){text, text + size};
}
bool hlo_scan_char(struct scan *s, char c); /* true and behind it, when `c` comes next */
bool hlo_scan_peek(struct scan *s, char c);
bool hlo_scan_end(struct scan *s);
bool hlo_scan_text(struct scan *s, const char *text); /* exactly these bytes next */
bool hlo_scan_key(struct scan *s, const char *key);   /* key and '=', as one word */
bool hlo_scan_int(struct scan *s, int64_t *out);
bool hlo_scan_real(struct scan *s, double *out);
bool hlo_scan_bool(struct scan *s, bool *out);
bool hlo_scan_word(struct scan *s, struct scan *out); /* letters, digits, "_.-" */
/* "..." or '...' unescaped into the arena, NUL-terminated; or a balanced {...} as it stands. */
char *hlo_scan_string(struct scan *s, struct arena *a, size_t *size);
/* open int (sep int)* close into a new array; *out NULL when empty. */
bool hlo_scan_ints(struct scan *s, struct arena *a, const char *open_sep_close, int64_t **out,
                   size_t *count);
bool hlo_scan_ints32(struct scan *s, struct arena *a, const char *open_sep_close, int32_t **out,
                     size_t *count);

void hlo_print_ints(const int64_t *items, size_t count, const char *separator, struct str *out);
void hlo_print_escaped(const char *text, size_t size,
                       struct str *out); /* C escapes, as absl::CEscape */
void hlo_print_quoted(const char *text, size_t size, struct str *out);
/* {balanced} as it stands where XLA's lexer takes it for a JSON dict, else in quotes. */
void hlo_print_config(const char *text, size_t size, struct str *out);
void hlo_print_real(double value, struct str *out); /* shortest of %.15g, %.17g that reads back */

/* Room for one more pointer of a repeated message field. */
bool hlo_convert_append(struct arena *a, void ***items, size_t *count, void *item);
char *hlo_convert_text(struct arena *a, const struct str *s); /* NULL: no memory */

/* ---- convert_shape.c ---- */
void hlo_print_shape(const Xla__ShapeProto *p, struct str *out);
Xla__ShapeProto *hlo_take_shape(struct arena *a, struct scan *s);
/* Between `{` and `}` of text. */
bool hlo_take_shapes(struct arena *a, struct scan *s, char close, Xla__ShapeProto ***out,
                     size_t *count);
/* Gives each array in it that has no layout the one XLA's text reader gives it: row-major. */
bool hlo_convert_add_layout(struct arena *a, Xla__ShapeProto *p);
int hlo_convert_shape(struct hlo_builder *b, const Xla__ShapeProto *p, hlo_shape_id *out,
                      struct err *e) MUST_CHECK;
/* Types and dims are equal, whatever the layouts. */
bool hlo_convert_same_dims(const Xla__ShapeProto *a, const Xla__ShapeProto *b);

/* ---- convert_number.c, convert_literal.c ---- */
void hlo_print_float(enum hlo_type type, uint64_t bits, struct str *out);
bool hlo_take_float(struct scan *s, enum hlo_type type, uint64_t *bits);

enum { CONVERT_LITERAL_MAX = 1 << 22 }; /* elements; longer ones are elided as {...} */
/* false: the message does not hold what its shape says. */
bool hlo_print_literal(const Xla__LiteralProto *p, struct arena *scratch, struct str *out);
Xla__LiteralProto *hlo_take_literal(struct arena *a, struct scan *s, Xla__ShapeProto *shape);

/* ---- convert_sharding.c, convert_groups.c ---- */
void hlo_print_sharding(const Xla__OpSharding *p, struct str *out);
Xla__OpSharding *hlo_take_sharding(struct arena *a, struct scan *s);
void hlo_print_mesh(const Xla__MeshProto *p, struct str *out);
Xla__MeshProto *hlo_take_mesh(struct arena *a, struct scan *s);
void hlo_print_axes(const Xla__MeshProto *mesh, Xla__AxisRefProto **axes, size_t count,
                    struct str *out);
bool hlo_take_axes(struct arena *a, struct scan *s, const Xla__MeshProto *mesh,
                   Xla__AxisRefProto ***out, size_t *count);
void hlo_print_groups(const Xla__HloInstructionProto *p, struct str *out);
bool hlo_take_groups(struct arena *a, struct scan *s, Xla__HloInstructionProto *p);

/* ---- convert_meta.c ---- */
void hlo_print_metadata(const Xla__OpMetadata *p,
                        struct str *out); /* without braces; "" when empty */
Xla__OpMetadata *hlo_take_metadata(struct arena *a, struct scan *s);
void hlo_print_tables(const Xla__StackFrameIndexProto *p, struct str *out);
Xla__StackFrameIndexProto *hlo_take_tables(struct arena *a, struct scan *s);
void hlo_print_dict(const Xla__FrontendAttributes *p, struct str *out);
Xla__FrontendAttributes *hlo_take_dict(struct arena *a, struct scan *s);
void hlo_print_original(const Xla__OriginalValueProto *p, const Xla__ShapeProto *shape,
                        struct str *out);
Xla__OriginalValueProto *hlo_take_original(struct arena *a, struct scan *s);

/* ---- convert_attrs.c: the table of attributes ---- */
struct convert_context {
    struct arena *arena;
    enum hlo_opcode opcode;
    enum hlo_type operand_type; /* of operand 0: what a comparison's type defaults to */
    size_t operand_count;
};
/* Calls `emit` with each attribute of `p` in order of keys; stops when it returns non-zero. */
int hlo_convert_attrs_print(const struct convert_context *c, Xla__HloInstructionProto *p,
                            struct str *scratch,
                            int (*emit)(void *to, enum hlo_attr_key key, const struct str *text),
                            void *to);
/* Puts one attribute into `p`; false: no field takes it. */
bool hlo_convert_attr_take(const struct convert_context *c, Xla__HloInstructionProto *p,
                           enum hlo_attr_key key, const char *text, size_t size);
/* What XLA writes for attributes the text leaves out. */
void hlo_convert_attrs_default(const struct convert_context *c, Xla__HloInstructionProto *p);

/* ---- convert_read.c, convert_write.c ---- */
int hlo_convert_read(Xla__HloModuleProto *p, enum hlo_format format, struct arena *scratch,
                     size_t memory_limit, struct hlo_module **out, struct err *e) MUST_CHECK;
int hlo_convert_write(const struct hlo_module *m, struct arena *a, Xla__HloModuleProto **out,
                      struct err *e) MUST_CHECK;

#endif
