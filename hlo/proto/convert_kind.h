/* hlo/proto/convert_kind.h - kinds of attribute values: each prints a field of a message as XLA
 * does and takes the text back. Private to hlo/convert_*.c. */
#ifndef AUTOMAP_HLO_PROTO_CONVERT_KIND_H
#define AUTOMAP_HLO_PROTO_CONVERT_KIND_H

#include "hlo/proto/convert.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/support/mem.h"

enum convert_when {
    ALWAYS,  /* even when zero, on the opcodes of the row */
    SET,     /* when not zero or empty */
    NOT_ONE, /* counts whose default is 1, by whichever of 0 and 1 it is spelled */
    NEVER,   /* taken only: another row prints it */
};

struct convert_row {
    uint16_t key;
    uint8_t when;
    const struct convert_kind *kind;
    const char *path;   /* of the field, through sub-messages; NULL: the kind knows */
    const char *prefix; /* of enum names, printed in lower case without it; NULL: as they are */
    const uint8_t *ops; /* ends with 255; NULL: every opcode */
};

struct convert_value {
    const struct convert_context *c;
    const struct convert_row *row;
    ProtobufCMessage *m;
    const ProtobufCFieldDescriptor *f; /* NULL: `m` is the whole instruction */
};

struct convert_kind {
    void (*print)(const struct convert_value *v, struct str *out); /* nothing: not to be printed */
    bool (*take)(const struct convert_value *v, struct scan *s);
};

extern const struct convert_kind hlo_kind_integer, hlo_kind_boolean, hlo_kind_epsilon,
    hlo_kind_plain, hlo_kind_string, hlo_kind_ints, hlo_kind_sizes, hlo_kind_first, hlo_kind_bools,
    hlo_kind_word, hlo_kind_words, hlo_kind_slices, hlo_kind_padding, hlo_kind_pairs,
    hlo_kind_shape, hlo_kind_layouts, hlo_kind_literal, hlo_kind_sharding, hlo_kind_domain,
    hlo_kind_groups, hlo_kind_metadata, hlo_kind_dict, hlo_kind_origin, hlo_kind_config,
    hlo_kind_aliasing, hlo_kind_statistics, hlo_kind_accuracy, hlo_kind_comparison,
    hlo_kind_tristate, hlo_kind_window, hlo_kind_labels;

/* What a comparison of the operands' element type means when the text does not say. */
const char *hlo_convert_default_comparison(const struct convert_context *c);

static inline Xla__HloInstructionProto *convert_instruction(const struct convert_value *v)
{
    return (Xla__HloInstructionProto *)v->m;
}
int64_t hlo_convert_integer(const struct convert_value *v); /* of an integer, enum or bool field */

#endif
