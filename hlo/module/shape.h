/* hlo/module/shape.h - XLA's types and shapes. Shapes are interned per module: equal ids
 * mean equal shapes, layout included; `bare` is the id without layout and dynamism. */
#ifndef AUTOMAP_HLO_MODULE_SHAPE_H
#define AUTOMAP_HLO_MODULE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Name in text, PrimitiveType number in xla_data.proto, bits of an element, class:
 * P predicate, I signed, U unsigned, F float, C complex, O no array. */
#define HLO_TYPES(X)                              \
    X(PRED, "pred", 1, 8, 'P')                    \
    X(S1, "s1", 30, 1, 'I')                       \
    X(S2, "s2", 26, 2, 'I')                       \
    X(S4, "s4", 21, 4, 'I')                       \
    X(S8, "s8", 2, 8, 'I')                        \
    X(S16, "s16", 3, 16, 'I')                     \
    X(S32, "s32", 4, 32, 'I')                     \
    X(S64, "s64", 5, 64, 'I')                     \
    X(U1, "u1", 31, 1, 'U')                       \
    X(U2, "u2", 27, 2, 'U')                       \
    X(U4, "u4", 22, 4, 'U')                       \
    X(U8, "u8", 6, 8, 'U')                        \
    X(U16, "u16", 7, 16, 'U')                     \
    X(U32, "u32", 8, 32, 'U')                     \
    X(U64, "u64", 9, 64, 'U')                     \
    X(F16, "f16", 10, 16, 'F')                    \
    X(F32, "f32", 11, 32, 'F')                    \
    X(F64, "f64", 12, 64, 'F')                    \
    X(BF16, "bf16", 16, 16, 'F')                  \
    X(C64, "c64", 15, 64, 'C')                    \
    X(C128, "c128", 18, 128, 'C')                 \
    X(F8E5M2, "f8e5m2", 19, 8, 'F')               \
    X(F8E4M3, "f8e4m3", 28, 8, 'F')               \
    X(F8E4M3FN, "f8e4m3fn", 20, 8, 'F')           \
    X(F8E4M3B11FNUZ, "f8e4m3b11fnuz", 23, 8, 'F') \
    X(F8E3M4, "f8e3m4", 29, 8, 'F')               \
    X(F8E5M2FNUZ, "f8e5m2fnuz", 24, 8, 'F')       \
    X(F8E4M3FNUZ, "f8e4m3fnuz", 25, 8, 'F')       \
    X(F8E8M0FNU, "f8e8m0fnu", 33, 8, 'F')         \
    X(F6E3M2FN, "f6e3m2fn", 35, 6, 'F')           \
    X(F6E2M3FN, "f6e2m3fn", 36, 6, 'F')           \
    X(F4E2M1FN, "f4e2m1fn", 32, 4, 'F')           \
    X(TOKEN, "token", 17, 0, 'O')                 \
    X(OPAQUE, "opaque", 14, 0, 'O')               \
    X(TUPLE, "tuple", 13, 0, 'O')                 \
    X(BUFFER, "b", 34, 0, 'O')

enum hlo_type {
#define X(id, name, proto, bits, class) HLO_##id,
    HLO_TYPES(X)
#undef X
        HLO_TYPE_COUNT
};

struct hlo_type_info {
    const char *name;
    uint8_t proto; /* PrimitiveType */
    uint8_t bits;  /* of one element; 0 for token, opaque, tuple, buffer */
    char class;
};
extern const struct hlo_type_info hlo_type_info[HLO_TYPE_COUNT];

/* HLO_TYPE_COUNT when unknown. Knows "tuple" too, which never appears in text. */
enum hlo_type hlo_type_by_name(const char *name, size_t size);
enum hlo_type hlo_type_by_proto(int number);

typedef uint32_t hlo_shape_id;

enum {
    HLO_RANK_MAX = 64,       /* dims of an array; more is refused */
    HLO_LEAVES_MAX = 1 << 20 /* leaves of a tuple */
};
#define HLO_DIM_UNBOUNDED INT64_MIN /* `?` in text */

struct hlo_shape {
    uint8_t type;                  /* enum hlo_type */
    uint8_t rank;                  /* arrays: number of dims */
    bool has_layout;               /* the text had `{...}` after the shape */
    const int64_t *dims;           /* [rank], >= 0 or HLO_DIM_UNBOUNDED */
    const bool *dynamic;           /* [rank] `<=n` or `?`, or NULL when none is */
    const uint8_t *minor_to_major; /* [rank] when has_layout and given, else NULL */
    const char *layout_rest;   /* what follows in the layout, e.g. ":T(8,128)S(1)"; "" when none */
    const hlo_shape_id *parts; /* tuple and buffer elements */
    uint32_t part_count;
    const hlo_shape_id *leaves; /* depth-first arrays, tokens, opaques; an array is its own leaf */
    uint32_t leaf_count;
    const uint32_t *part_leaf; /* [part_count] first leaf of each part */
    hlo_shape_id bare;
    int64_t elements; /* arrays: product of dims (unbounded counts 1); tuples: 0 */
    int64_t bytes;    /* elements x bits (E(n) of the layout, else the type's whole bytes) / 8,
                         rounded up; tuples: sum */
};

/* Greatest common divisor; of 0 and n: n. What sizes of dims are split by. */
int64_t hlo_gcd(int64_t a, int64_t b);

#endif
