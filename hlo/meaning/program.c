#include "hlo/meaning/program.h"

#include "hlo/module/attr.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"

#include <string.h>

const char *const hlo_program_names[HLO_PROGRAM_COUNT] = {
    [HLO_PROGRAM_WHOLE] = "whole",
    [HLO_PROGRAM_PARTITIONED] = "partitioned",
    [HLO_PROGRAM_PER_DEVICE] = "per device",
};

static bool is_done(uint16_t opcode)
{
    return opcode == HLO_OP_ALL_REDUCE_DONE || opcode == HLO_OP_ALL_GATHER_DONE ||
           opcode == HLO_OP_COLLECTIVE_PERMUTE_DONE;
}

/* One that sends: a pair of start and done is one. */
static bool is_collective(uint16_t opcode)
{
    return opcode != HLO_OP_UNKNOWN && !is_done(opcode) &&
           (hlo_op_info[opcode].flags & HLO_OP_IS_COLLECTIVE);
}

/* XLA's partitioner names the entry so, and what is scheduled has been through it: of a program
 * that needs no collective nothing else tells. */
static bool is_cut(const struct hlo_module *m)
{
    static const char end[] = "_spmd";
    const char *name = m->computations[m->entry].name;
    size_t size = strlen(name);

    return m->is_scheduled ||
           (size >= sizeof end - 1 && !strcmp(name + size - (sizeof end - 1), end));
}

/* A part of it is written for each device: shard_map, before anything is partitioned. */
static bool has_local_part(const struct hlo_module *m)
{
    static const char *const edges[] = {"xla.sdy.GlobalToLocalShape", "SPMDFullToShardShape"};

    for (hlo_id id = 0; id < m->count; id++) {
        if (hlo_at(m, id)->opcode != HLO_OP_CUSTOM_CALL)
            continue;
        for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) {
            if (hlo_attr_is(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, edges[k]))
                return true;
        }
    }
    return false;
}

struct hlo_program hlo_program_of(const struct hlo_module *m)
{
    struct hlo_program p = {.kind = HLO_PROGRAM_WHOLE, .first = HLO_NONE};
    int64_t devices;

    for (uint16_t opcode = 0; opcode < HLO_OP_UNKNOWN; opcode++)
        p.collectives += is_collective(opcode) ? m->opcode_count[opcode] : 0;
    for (hlo_id id = 0; p.collectives && p.first == HLO_NONE && id < m->count; id++)
        p.first = is_collective(hlo_at(m, id)->opcode) ? id : HLO_NONE;
    if (__builtin_mul_overflow(m->num_partitions, m->replica_count, &devices))
        devices = 0;
    p.devices = devices > 1 ? devices : 0;
    if (p.devices && m->num_partitions > 1 && is_cut(m))
        p.kind = HLO_PROGRAM_PARTITIONED;
    else if (p.collectives)
        p.kind = p.devices && !has_local_part(m) ? HLO_PROGRAM_PARTITIONED : HLO_PROGRAM_PER_DEVICE;
    return p;
}

int hlo_program_require_whole(const struct hlo_module *m, struct err *e)
{
    struct hlo_program p = hlo_program_of(m);

    if (p.kind == HLO_PROGRAM_WHOLE)
        return 0;
    if (p.kind == HLO_PROGRAM_PARTITIONED && !p.collectives)
        return err_set(e, ERR_INPUT,
                       "this is what each of %lld devices runs, already partitioned, without a "
                       "collective. A plan needs the program before partitioning "
                       "(before_optimizations, or lower() without compile())",
                       (long long)p.devices);
    if (p.kind == HLO_PROGRAM_PARTITIONED)
        return err_set(
            e, ERR_INPUT,
            "this is what each of %lld devices runs, already partitioned: %u collective%s, "
            "%.60s first. A plan needs the program before partitioning "
            "(before_optimizations, or lower() without compile()); automap doctor explains "
            "this one",
            (long long)p.devices, (unsigned)p.collectives, p.collectives == 1 ? "" : "s",
            hlo_name(m, p.first));
    return err_set(e, ERR_INPUT,
                   "this is written for each device (shard_map or pmap): %u collective%s inside, "
                   "%.60s first. A plan needs the step as one program, under jit alone; automap "
                   "doctor prices what this one sends",
                   (unsigned)p.collectives, p.collectives == 1 ? "" : "s", hlo_name(m, p.first));
}
