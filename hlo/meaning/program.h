/* hlo/meaning/program.h - is a module the whole program, or what one of several devices runs?
 *
 * Only a whole program can be planned. In a partitioned or compiled module, and in code written for
 * each device (shard_map, pmap), shapes are those of the pieces and communication is already
 * decided. */
#ifndef AUTOMAP_HLO_MEANING_PROGRAM_H
#define AUTOMAP_HLO_MEANING_PROGRAM_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

enum hlo_program_kind {
    HLO_PROGRAM_WHOLE,       /* shardings may be annotated; nothing is split yet */
    HLO_PROGRAM_PARTITIONED, /* by a compiler: several partitions or replicas, and collectives */
    HLO_PROGRAM_PER_DEVICE,  /* collectives by hand: shard_map, pmap */
    HLO_PROGRAM_COUNT
};
extern const char *const hlo_program_names[HLO_PROGRAM_COUNT];

struct hlo_program {
    enum hlo_program_kind kind;
    uint32_t collectives; /* instructions that send: starts count, done forms do not */
    hlo_id first;         /* of them, in the order of the file; HLO_NONE: none */
    int64_t devices;      /* it was made for; 0: the file does not say */
};

/* O(count). */
struct hlo_program hlo_program_of(const struct hlo_module *m);

/* 0 if `m` is whole, else ERR_INPUT with a message. O(count). */
int hlo_program_require_whole(const struct hlo_module *m, struct err *e) MUST_CHECK;

#endif
