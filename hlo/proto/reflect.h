/* hlo/proto/reflect.h - messages of hlo.proto from and to their forms: wire, JSON, protobuf text.
 * Private to hlo/. One mapper per form, driven by the descriptors protobuf-c generates; none knows
 * what a message means. Fields a descriptor does not have are skipped.
 *
 * Readers put everything into the given arena; strings and bytes of the wire form point into its
 * input where they can. Nesting is bounded by HLO_NESTING_MAX. Errors name the field by its path,
 * "computations[2].instructions[5].shape", and the place: the byte (wire), line and column (text).
 */
#ifndef AUTOMAP_HLO_PROTO_REFLECT_H
#define AUTOMAP_HLO_PROTO_REFLECT_H

#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <protobuf-c/protobuf-c.h>

/* One step of the path to the field being read; steps live on the stack of the readers. */
struct reflect_step {
    const struct reflect_step *up;
    const char *field;
    size_t index; /* SIZE_MAX: not an element */
    int depth;
};

/* What a form holds for one scalar, before it is fitted into a field. */
struct reflect_value {
    enum { REFLECT_INT, REFLECT_UINT, REFLECT_DOUBLE, REFLECT_TEXT } kind;
    int64_t i;
    uint64_t u;
    double d;
    const char *text; /* REFLECT_TEXT: kept by the message, NUL behind it */
    size_t size;
};

ProtobufCMessage *hlo_reflect_new(struct arena *a, const ProtobufCMessageDescriptor *d);
const ProtobufCFieldDescriptor *hlo_reflect_field(const ProtobufCMessageDescriptor *d,
                                                  const char *name,
                                                  size_t size); /* snake_case or lowerCamelCase */
bool hlo_reflect_is_repeated(const ProtobufCFieldDescriptor *f);
bool hlo_reflect_is_map(const ProtobufCFieldDescriptor *f);
bool hlo_reflect_is_signed(ProtobufCType type);
size_t hlo_reflect_count(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f);
size_t hlo_reflect_item_size(ProtobufCType type);
/* The field's memory, or element `n` of a repeated one. */
void *hlo_reflect_at(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, size_t n);
/* A proto3 field of one value is present when it differs from zero, or is the chosen one of a
 * oneof. */
bool hlo_reflect_has(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f);
/* Memory for the value to come: the field, marked present, or a new element. NULL: no memory. */
void *hlo_reflect_slot(struct arena *a, ProtobufCMessage *m, const ProtobufCFieldDescriptor *f);
/* The sub-message to fill: the present one of a single field (to be merged with), else a new one.
 */
ProtobufCMessage *hlo_reflect_child(struct arena *a, ProtobufCMessage *m,
                                    const ProtobufCFieldDescriptor *f);
/* Stores a scalar; NULL when done, else what is wrong with it: "is no 32-bit integer". */
const char *hlo_reflect_store(struct arena *a, ProtobufCMessage *m,
                              const ProtobufCFieldDescriptor *f, const struct reflect_value *v);
/* Appends "a.b[3].c" of `s` to `out`. */
void hlo_reflect_path(const struct reflect_step *s, char *out, size_t room);

int hlo_reflect_from_wire(const ProtobufCMessageDescriptor *d, const void *data, size_t size,
                          struct arena *a, ProtobufCMessage **out, struct err *e) MUST_CHECK;
/* `choices` ends with NULL: the one that knows most of the names at the top is read, the first of
 * several. */
int hlo_reflect_from_json(const ProtobufCMessageDescriptor *const *choices, const char *text,
                          size_t size, struct arena *a, ProtobufCMessage **out,
                          struct err *e) MUST_CHECK;
int hlo_reflect_from_text(const ProtobufCMessageDescriptor *const *choices, const char *text,
                          size_t size, struct arena *a, ProtobufCMessage **out,
                          struct err *e) MUST_CHECK;
/* Both set out->failed when memory or out->limit does not suffice. */
void hlo_reflect_to_wire(const ProtobufCMessage *m, struct str *out);
void hlo_reflect_to_json(const ProtobufCMessage *m, struct str *out);

#endif
