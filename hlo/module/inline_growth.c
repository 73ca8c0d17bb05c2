/* What inlining does with each call, and how much it would make of a module. */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/inline_internal.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

enum { GROWTH_MAX = 64 };

enum inline_use inline_use_of(const struct hlo_module *m, const bool *is_written_out, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (is_written_out && is_written_out[id])
        return INLINE_INLINED;
    switch (i->opcode) {
    case HLO_OP_CALL:
        if (i->called_count == 1 &&
            m->computations[hlo_called(m, id, 0)].param_count == i->operand_count)
            return INLINE_INLINED;
        return INLINE_APPLIED;
    case HLO_OP_WHILE:
    case HLO_OP_CONDITIONAL:
    case HLO_OP_FUSION:
    case HLO_OP_SCAN:
    case HLO_OP_ASYNC_START:
    case HLO_OP_ASYNC_UPDATE:
    case HLO_OP_ASYNC_DONE:
        return INLINE_COPIED;
    default:
        return INLINE_APPLIED;
    }
}

/* ---- who calls ---- */

static int by_id(const void *a, const void *b)
{
    hlo_id x = *(const hlo_id *)a, y = *(const hlo_id *)b;

    return (x > y) - (x < y);
}

/* Each caller is met once: with the first computation that it names. */
static size_t list_callers(const struct hlo_module *m, hlo_id *list)
{
    size_t count = 0;

    for (hlo_comp c = 0; c < m->computation_count; c++) {
        const struct hlo_computation *comp = &m->computations[c];
        for (uint32_t n = 0; n < comp->caller_count; n++) {
            if (hlo_called(m, comp->callers[n], 0) != c)
                continue;
            if (list)
                list[count] = comp->callers[n];
            count++;
        }
    }
    return count;
}

static bool find_calls(const struct hlo_module *m, struct inline_calls *calls)
{
    size_t count = list_callers(m, NULL), at = 0;

    calls->list = mem_try(count + 1, sizeof *calls->list);
    calls->first = mem_try((size_t)m->computation_count + 1, sizeof *calls->first);
    if (!calls->list || !calls->first)
        return false;
    list_callers(m, calls->list);
    qsort(calls->list, count, sizeof *calls->list, by_id);
    for (hlo_comp c = 0; c < m->computation_count; c++) {
        calls->first[c] = (uint32_t)at;
        while (at < count && hlo_at(m, calls->list[at])->computation == c)
            at++;
    }
    calls->first[m->computation_count] = (uint32_t)at;
    return true;
}

void inline_calls_release(struct inline_calls *calls)
{
    free(calls->list);
    free(calls->first);
    *calls = (struct inline_calls){0};
}

/* ---- how much ---- */

/* What a copy of each computation takes. */
struct growth {
    const struct hlo_module *m;
    const bool *is_written_out;
    const struct inline_calls *calls;
    uint64_t
        *size; /* instructions, callees and bodies included; at most HLO_INSTRUCTIONS_MAX + 1 */
    bool *is_reached; /* from the entry */
    bool *is_applied; /* by one that is reached: one copy for all */
};

/* None is above `most`, nor is the size of a computation: their product is a number. */
static uint64_t trips_of(const struct hlo_module *m, hlo_id loop, uint64_t most)
{
    int64_t trips = hlo_trip_count(m, loop);

    return trips < 0 ? 0 : (uint64_t)trips < most ? (uint64_t)trips : most;
}

static void add_call(const struct growth *g, hlo_comp c, hlo_id id)
{
    const uint64_t most = HLO_INSTRUCTIONS_MAX;
    uint64_t *size = g->size;

    if (inline_use_of(g->m, g->is_written_out, id) == INLINE_APPLIED)
        return;
    for (uint32_t n = 0; n < hlo_at(g->m, id)->called_count; n++)
        size[c] += size[hlo_called(g->m, id, n)];
    if (g->is_written_out && g->is_written_out[id])
        size[c] += trips_of(g->m, id, most) * size[hlo_called(g->m, id, 0)];
    if (size[c] > most)
        size[c] = most + 1;
}

/* Called computations come before their callers. */
static void measure_sizes(const struct growth *g)
{
    for (hlo_comp c = 0; c < g->m->computation_count; c++) {
        g->size[c] = g->m->computations[c].count;
        for (uint32_t k = g->calls->first[c]; k < g->calls->first[c + 1]; k++)
            add_call(g, c, g->calls->list[k]);
    }
}

static void reach_called(const struct growth *g, hlo_id id)
{
    bool is_applied = inline_use_of(g->m, g->is_written_out, id) == INLINE_APPLIED;

    for (uint32_t n = 0; n < hlo_at(g->m, id)->called_count; n++) {
        hlo_comp c = hlo_called(g->m, id, n);
        g->is_reached[c] = true;
        g->is_applied[c] |= is_applied;
    }
}

/* Of the entry's copy, and of one of each computation that is applied in what that reaches: a
 * reducer may call as well. */
static uint64_t total_size(const struct growth *g)
{
    uint64_t total = g->size[g->m->entry];

    g->is_reached[g->m->entry] = true;
    for (hlo_comp c = g->m->entry + 1; c-- > 0;) {
        if (!g->is_reached[c])
            continue;
        total += g->is_applied[c] ? g->size[c] : 0;
        for (uint32_t k = g->calls->first[c]; k < g->calls->first[c + 1]; k++)
            reach_called(g, g->calls->list[k]);
    }
    return total;
}

int inline_check_growth(const struct hlo_module *m, const bool *is_written_out,
                        struct inline_calls *calls, uint64_t *total, struct err *e)
{
    const uint64_t most = HLO_INSTRUCTIONS_MAX;
    struct growth g = {.m = m,
                       .is_written_out = is_written_out,
                       .calls = calls,
                       .size = mem_try(m->computation_count, sizeof *g.size),
                       .is_reached = mem_try(m->computation_count, sizeof *g.is_reached),
                       .is_applied = mem_try(m->computation_count, sizeof *g.is_applied)};
    bool has_room = g.size && g.is_reached && g.is_applied && find_calls(m, calls);

    *total = 0;
    if (has_room) {
        measure_sizes(&g);
        *total = total_size(&g);
    }
    free(g.size);
    free(g.is_reached);
    free(g.is_applied);
    if (!has_room)
        return err_no_memory(e, INLINE_MEMORY_FOR);
    if (*total > most || *total > (uint64_t)m->count * GROWTH_MAX)
        return err_set(e, ERR_LIMIT,
                       "inlining the calls would make more than %d times the module's %u "
                       "instructions, or more than %d",
                       (int)GROWTH_MAX, (unsigned)m->count, (int)HLO_INSTRUCTIONS_MAX);
    return 0;
}

/* ---- what stands around ---- */

static size_t first_part(const char *path)
{
    return strcspn(path, "/");
}

bool inline_has_scope(const char *op_name, const char *prefix)
{
    size_t n = first_part(prefix);

    return !strncmp(op_name, prefix, n) && (op_name[n] == '/' || !op_name[n]);
}

int inline_copy_header(const struct hlo_module *m, struct hlo_module *to, struct err *e)
{
    size_t n = m->name ? strlen(m->name) : 0, f = m->file ? strlen(m->file) : 0;

    to->name = arena_text(&to->arena, m->name ? m->name : "", n);
    to->file = arena_text(&to->arena, m->file ? m->file : "", f);
    if (!to->name || !to->file)
        return err_no_memory(e, INLINE_MEMORY_FOR);
    to->format = m->format;
    to->is_gzipped = m->is_gzipped;
    to->input_bytes = m->input_bytes;
    to->aliases = m->aliases;
    to->alias_count = m->alias_count;
    to->donors = m->donors;
    to->donor_count = m->donor_count;
    to->replica_count = m->replica_count;
    to->num_partitions = m->num_partitions;
    to->header = m->header;
    to->header_count = m->header_count;
    to->tables = m->tables;
    return 0;
}

void inline_finish_header(const struct hlo_module *m, struct hlo_module *to)
{
    to->is_scheduled = m->is_scheduled;
    to->warnings = m->warnings;
    to->warning_count = m->warning_count;
}
