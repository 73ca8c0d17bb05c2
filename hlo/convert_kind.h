/* hlo/convert_kind.h - kinds of attribute values: each prints a field of a message as XLA does and
 * takes the text back. Private to hlo/convert_*.c. */
#ifndef AUTOMAP_HLO_CONVERT_KIND_H
#define AUTOMAP_HLO_CONVERT_KIND_H

#include "hlo/convert.h"

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

extern const struct convert_kind kind_integer, kind_boolean, kind_epsilon, kind_plain, kind_string,
    kind_ints, kind_first, kind_bools, kind_word, kind_words, kind_slices, kind_padding, kind_pairs,
    kind_shape, kind_layouts, kind_literal, kind_sharding, kind_domain, kind_groups, kind_metadata,
    kind_dict, kind_origin, kind_config, kind_aliasing, kind_statistics, kind_accuracy,
    kind_comparison, kind_tristate, kind_window, kind_labels;

/* What a comparison of the operands' element type means when the text does not say. */
const char *convert_default_comparison(const struct convert_context *c);

static inline Xla__HloInstructionProto *convert_instruction(const struct convert_value *v)
{
    return (Xla__HloInstructionProto *)v->m;
}
int64_t convert_integer(const struct convert_value *v); /* of an integer, enum or bool field */

#endif
