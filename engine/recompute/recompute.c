#include "engine/recompute/recompute.h"

#include "engine/cost/memory.h"
#include "engine/recompute/front.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

static const char FOR[] = "for what the backward pass keeps";

/* ---- prices of nodes ---- */

static void price_nodes(struct recompute *r, const struct recompute_prices *p)
{
    const struct primal_graph *g = r->graph;

    for (uint32_t k = 0; k < g->count; k++) {
        const struct primal *n = &g->nodes[k];
        double moved = p->piece_bytes[k] + n->given_bytes;
        r->bytes[k] = p->bytes[k] * n->trips;
        r->piece_bytes[k] = p->piece_bytes[k] * n->trips;
        r->gather_ms[k] = p->gather_ms[k];
        for (uint32_t i = 0; i < n->whole_count; i++)
            moved += p->piece_bytes[g->edges[n->whole + i]];
        double kernel_ms = moved * n->trips * p->passes / p->bytes_per_ms;
        r->again_ms[k] = n->rule == PRIMAL_KERNEL ? kernel_ms + p->gather_ms[k]
                         : n->rule == PRIMAL_WORK ? p->work_ms[k] + p->gather_ms[k]
                                                  : 0;
        r->keep_ms[k] = n->rule == PRIMAL_FUSED ? 2 * r->bytes[k] * p->passes / p->bytes_per_ms : 0;
    }
}

/* ---- memory beside what is kept ---- */

static void add_range(struct recompute *r, double from, uint32_t start, uint32_t end)
{
    start = start < r->start ? 0 : start - r->start;
    end = end < r->start ? 0 : end - r->start;
    if (start > end || start >= r->positions)
        return;
    r->base[start] += from;
    if (end + 1 < r->positions)
        r->base[end + 1] -= from;
}

/* Largest peak of what the instruction at a position calls. */
static double inner_peak(const struct recompute_prices *p, hlo_id id)
{
    const struct memory_model *m = p->memory;
    double most = 0;

    for (uint32_t k = 0; k < hlo_at(m->m, id)->called_count; k++)
        most = fmax(most, p->range_bytes[m->count + hlo_called(m->m, id, k)]);
    return most;
}

static void make_base(struct recompute *r, const struct recompute_prices *p)
{
    const struct memory_model *m = p->memory;
    const double *copies = memory_copies(m, p->range_bytes);
    hlo_comp entry = m->m->entry;
    double held = 0, live = 0;

    for (uint32_t k = m->first[entry]; k < m->first[entry + 1]; k++) {
        const struct memory_range *range = &m->ranges[k];
        uint32_t node = r->graph->of_buffer[range->value];
        uint32_t end = range->end;
        if (range->is_argument) {
            held += p->range_bytes[k];
            continue;
        }
        if (node && range->storing == STORED_AS_USED) {
            const struct primal *n = &r->graph->nodes[node - 1];
            if (hlo_at(m->m, n->maker)->computation != entry)
                continue;
            end = n->made < end ? n->made : end;
        }
        if (range->start <= end)
            add_range(r, p->range_bytes[k], range->start, end);
    }
    for (uint32_t at = 0; at < r->positions; at++) {
        live += r->base[at];
        r->base[at] =
            held + live + copies[r->start + at] + inner_peak(p, m->schedule.order[r->start + at]);
    }
}

static void find_made(struct recompute *r)
{
    const struct primal_graph *g = r->graph;

    for (uint32_t k = 0; k < g->count; k++) {
        const struct primal *n = &g->nodes[k];
        if (n->layer < g->layers && n->is_forward && n->made > r->made_by[n->layer])
            r->made_by[n->layer] = n->made;
    }
}

/* ---- choices ---- */

bool recompute_is_kept(uint8_t state)
{
    return state == VALUE_KEPT || state == VALUE_IN_PIECES || state == VALUE_OFFLOADED;
}

double recompute_kept_bytes(const struct recompute *r, uint32_t k, uint8_t state)
{
    return state == VALUE_KEPT || state == VALUE_OFFLOADED ? r->bytes[k]
           : state == VALUE_IN_PIECES                      ? r->piece_bytes[k]
                                                           : 0;
}

double recompute_state_ms(const struct recompute *r, uint32_t k, uint8_t state)
{
    return state == VALUE_KEPT || state == VALUE_OFFLOADED ? r->keep_ms[k]
           : state == VALUE_IN_PIECES                      ? r->keep_ms[k] + r->gather_ms[k]
           : state == VALUE_AGAIN                          ? r->again_ms[k]
                                                           : 0;
}

struct recompute_point recompute_point_of(const struct recompute *r, const uint8_t *keeps,
                                          uint8_t *state)
{
    const struct primal_graph *g = r->graph;
    struct recompute_point out = {.state = state};

    for (uint32_t k = 0; k < g->count; k++)
        state[k] = g->nodes[k].is_needed ? VALUE_AGAIN : VALUE_UNUSED;
    for (uint32_t k = g->count; k--;) { /* who reads comes before who is read */
        const struct primal *n = &g->nodes[k];
        if (state[k] == VALUE_UNUSED)
            continue;
        if (keeps[k] || n->rule == PRIMAL_NEVER)
            state[k] = keeps[k] ? keeps[k] : VALUE_KEPT;
        out.kept += recompute_kept_bytes(r, k, state[k]);
        out.ms += recompute_state_ms(r, k, state[k]);
        if (recompute_is_kept(state[k]))
            continue;
        for (uint32_t i = 0; i < n->read_count; i++)
            state[g->edges[n->reads + i]] = VALUE_AGAIN;
    }
    return out;
}

/* ---- all of it ---- */

/* What the module itself does. What it keeps its step has paid for. */
static int find_module(struct recompute *r, struct err *e)
{
    const struct primal_graph *g = r->graph;
    uint8_t *keeps = mem_try((size_t)g->count + 1, 1);

    r->module.state = mem_try((size_t)g->count + 1, 1);
    if (!keeps || !r->module.state) {
        free(keeps);
        return err_no_memory(e, FOR);
    }
    for (uint32_t k = 0; k < g->count; k++)
        keeps[k] = g->nodes[k].is_kept ? VALUE_KEPT : 0;
    r->module = recompute_point_of(r, keeps, r->module.state);
    for (uint32_t k = 0; k < g->count; k++)
        r->module.ms -= recompute_is_kept(r->module.state[k]) ? r->keep_ms[k] : 0;
    free(keeps);
    return 0;
}

static int find_front(struct recompute *r, bool ends_alone, struct err *e)
{
    r->front = mem_try(1, sizeof *r->front);
    if (!r->front)
        return err_no_memory(e, FOR);
    int rc = front_new(r, NULL, NULL, r->front, e);
    if (rc)
        return rc;
    rc = ends_alone ? 0 : front_finish(r->front, e);
    if (rc)
        return rc;
    r->points = mem_try(r->front->count, sizeof *r->points);
    if (!r->points)
        return err_no_memory(e, FOR);
    for (; r->count < r->front->count; r->count++)
        r->points[r->count] = r->front->points[r->count].p;
    return find_module(r, e);
}

int recompute_new(const struct primal_graph *g, const struct recompute_prices *p,
                  struct recompute *out, struct err *e)
{
    const struct hlo_computation *entry = &p->memory->m->computations[p->memory->m->entry];
    size_t room = (size_t)g->count + 1;
    struct recompute r = {.graph = g,
                          .bytes = mem_try(room, sizeof *r.bytes),
                          .piece_bytes = mem_try(room, sizeof *r.piece_bytes),
                          .gather_ms = mem_try(room, sizeof *r.gather_ms),
                          .again_ms = mem_try(room, sizeof *r.again_ms),
                          .keep_ms = mem_try(room, sizeof *r.keep_ms),
                          .reader_bytes = mem_try((size_t)g->reader_count + 1, sizeof(double)),
                          .base = mem_try((size_t)entry->count + 1, sizeof *r.base),
                          .made_by = mem_try((size_t)g->layers + 1, sizeof *r.made_by),
                          .host = p->host,
                          .beat_ms = INFINITY,
                          .positions = entry->count,
                          .start = entry->first};
    bool ok = r.bytes && r.piece_bytes && r.gather_ms && r.again_ms && r.keep_ms &&
              r.reader_bytes && r.base && r.made_by;
    int rc = ok ? 0 : err_no_memory(e, FOR);

    r.layers = (uint32_t)fmax(g->layers, fmin(g->loop_trips, 1 << 20));
    if (!rc) {
        price_nodes(&r, p);
        memcpy(r.reader_bytes, p->reader_bytes, g->reader_count * sizeof *r.reader_bytes);
        find_made(&r);
        make_base(&r, p);
        rc = find_front(&r, p->ends_alone, e);
    }
    if (rc) {
        recompute_release(&r);
        return rc;
    }
    *out = r;
    out->front->r = out->front->priced.r = out;
    return 0;
}

void recompute_release(struct recompute *r)
{
    if (r->front)
        front_release(r->front);
    free(r->front);
    free(r->points);
    free(r->module.state);
    free(r->bytes);
    free(r->piece_bytes);
    free(r->gather_ms);
    free(r->again_ms);
    free(r->keep_ms);
    free(r->reader_bytes);
    free(r->base);
    free(r->made_by);
    memset(r, 0, sizeof *r);
}
