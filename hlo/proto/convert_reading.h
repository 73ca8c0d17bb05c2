/* hlo/proto/convert_reading.h - the state of hlo_convert_read, and the half of it that reads the
 * header. Private to hlo/proto/convert_read.c and convert_header.c. */
#ifndef AUTOMAP_HLO_PROTO_CONVERT_READING_H
#define AUTOMAP_HLO_PROTO_CONVERT_READING_H

#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/proto/convert.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Ids of messages and where they are, sorted by id. */
struct ids {
    struct id {
        int64_t id;
        uint32_t item;
    } * list;
    size_t count;
};

struct reading {
    const Xla__HloModuleProto *p;
    struct hlo_builder *b;
    struct hlo_module *m;
    struct arena *scratch;
    struct err *e;
    struct str text;
    struct ids computations;
    struct ids sequences;    /* of the schedule, by computation */
    struct ids instructions; /* of the computation being read */
    hlo_id base;             /* of its first instruction */
    struct hlo_attr *attrs;
    size_t attr_count, attr_room;
    uint8_t seen[HLO_ATTR_COUNT]; /* keys among attrs */
    hlo_id *operands;
    size_t operand_room;
    uint64_t steps; /* so far, over the parts of aliased tuples */
};

int hlo_reading_memory(struct reading *r); /* ERR_MEMORY with its sentence */
/* Cleaned for display, in the module's arena; NULL: no memory. */
char *hlo_reading_clean(struct reading *r, const char *text);
/* Name, header attributes, stack frames, counts of devices. */
int hlo_reading_header(struct reading *r) MUST_CHECK;
/* Aliases and donors: indices to leaves, once the shapes are known. */
int hlo_reading_aliases(struct reading *r, hlo_comp entry) MUST_CHECK;

#endif
