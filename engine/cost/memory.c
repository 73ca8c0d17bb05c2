/* engine/cost/memory.c - what the ranges of a memory model come to under a plan. */
#include "engine/cost/memory.h"

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"

#include <string.h>

const char *const memory_kind_names[MEMORY_KIND_COUNT] = {"parameters", "gradients", "optimizer",
                                                          "inputs", "activations"};
const char *const memory_storing_words[STORED_COUNT] = {
    [STORED_AS_USED] = "",
    [STORED_IN_PIECES] = "",
    [STORED_GATHERED] = "gathered copy",
    [STORED_REDUCED] = "all-reduced copy",
    [STORED_TWICE] = "copy before update",
    [STORED_COPY] = "shared copy",
    [STORED_WHOLE] = "whole copy",
    [STORED_LAID_OUT] = "transposed copy",
    [STORED_WORKSPACE] = "workspace",
    [STORED_INDICES] = "index arrays",
};

double *memory_scratch(const struct memory_model *m)
{
    return mem_try((size_t)m->count + m->m->computation_count + m->m->count, sizeof(double));
}

double *memory_copies(const struct memory_model *m, double *scratch)
{
    return scratch + m->count + m->m->computation_count;
}

uint32_t memory_last_read(const struct memory_model *m, hlo_id id)
{
    uint32_t last = m->schedule.position[id];

    for (hlo_value v = m->m->leaf_base[id]; v < m->m->leaf_base[id + 1]; v++) {
        hlo_value b = m->fusion->buffer[v];
        if (m->again[b] > last &&
            hlo_at(m->m, m->m->value_instruction[b])->computation == hlo_at(m->m, id)->computation)
            last = m->again[b];
    }
    return last;
}

static double memory_local_bytes(const struct memory_model *m, const struct labels *l,
                                 const label *on, hlo_value v)
{
    const struct hlo_shape *s = hlo_value_shape(m->m, v);
    double bytes = (double)s->bytes;

    for (uint32_t d = 0; d < s->rank && bytes > 0; d++) {
        class_id k = m->classes->class_of[class_dim(m->classes, v, d)];
        if (k != CLASS_NONE && (on[k] || k == l->cut))
            bytes *= label_part(l, k, on[k], s->dims[d]);
    }
    return bytes;
}

/* Micro-batches cut all of `v` so many times. */
static double cuts_of(const struct memory_model *m, const struct labels *l, hlo_value v)
{
    double cuts = 1;

    for (dim_id d = m->classes->dim_base[v]; d < m->classes->dim_base[v + 1]; d++) {
        class_id k = m->classes->class_of[d];
        cuts *= k == CLASS_NONE ? 1 : label_cuts(l, k);
    }
    return cuts;
}

/* Inputs hold all micro-batches. */
static double input_bytes(const struct memory_model *m, const struct labels *l, const label *on,
                          hlo_value v)
{
    return memory_local_bytes(m, l, on, v) * cuts_of(m, l, v);
}

/* Classes whose splits decide, besides those of its dims, what a range comes to; ascending. */
static uint32_t deciding_classes(const struct memory_model *m, const struct memory_range *r,
                                 class_id out[static ZERO_CLASSES_MOST])
{
    if (r->storing == STORED_AS_USED || r->storing >= STORED_COPY)
        return 0;
    if (r->variable == UINT32_MAX)
        return training_sums(m->classes, m->m->value_instruction[r->value], out);
    const struct training_variable *v = &m->training->variables[r->variable];
    memcpy(out, v->reduced, v->reduced_count * sizeof *out);
    return v->reduced_count;
}

static bool is_reduced(const struct memory_model *m, const struct memory_range *r, const label *on)
{
    class_id list[ZERO_CLASSES_MOST];
    uint32_t count = deciding_classes(m, r, list);

    for (uint32_t k = 0; k < count; k++) {
        if (on[list[k]])
            return true;
    }
    return false;
}

/* Positions of as many elements: 32 bits a dim (xla/service/select_and_scatter_expander.cc). */
static double index_bytes(const struct memory_model *m, hlo_value v, double held)
{
    const struct hlo_shape *s = hlo_value_shape(m->m, v);

    return s->bytes > 0 ? held / (double)s->bytes * (double)s->elements * 4 * s->rank : 0;
}

/* Of the kernel that makes `v`, in the parts that `v` is held in. */
static double workspace_bytes(const struct memory_model *m, hlo_value v, double held)
{
    double whole = hlo_kernel_of(m->m, m->m->value_instruction[v])->workspace;
    int64_t bytes = hlo_value_shape(m->m, v)->bytes;

    return bytes > 0 ? whole * held / (double)bytes : whole;
}

double memory_range_beside(const struct memory_model *m, const struct memory_range *r)
{
    double bytes = (double)hlo_value_shape(m->m, r->value)->bytes;

    if (bytes <= 0)
        return 0;
    return r->storing == STORED_LAID_OUT    ? 1
           : r->storing == STORED_INDICES   ? index_bytes(m, r->value, bytes) / bytes
           : r->storing == STORED_WORKSPACE ? workspace_bytes(m, r->value, bytes) / bytes
                                            : 0;
}

/* All of it where what is held is a piece. Elements of one micro-batch are no piece. */
static double whole_bytes(const struct memory_model *m, hlo_value v, double held, double cuts)
{
    double whole = (double)hlo_value_shape(m->m, v)->bytes / cuts;

    return held < whole ? whole : 0;
}

/* What is there gathered of a variable's bytes: of a stack two layers, the next while one is used.
 */
static double gathered_at_once(const struct training_variable *v)
{
    return v->gathered_part * (v->layers > 2 ? 2.0 / v->layers : 1);
}

double memory_range_bytes(const struct memory_model *m, const struct labels *l, const label *on,
                          const struct memory_range *r)
{
    if (r->storing == STORED_WHOLE)
        return whole_bytes(m, r->value, memory_local_bytes(m, l, on, r->value),
                           cuts_of(m, l, r->value));
    if (r->storing == STORED_INDICES)
        return index_bytes(m, r->value, memory_local_bytes(m, l, on, r->value));
    if (r->storing == STORED_WORKSPACE)
        return workspace_bytes(m, r->value, memory_local_bytes(m, l, on, r->value));
    if (r->storing >= STORED_REDUCED && r->storing < STORED_LAID_OUT &&
        (r->storing == STORED_COPY || is_reduced(m, r, on) != (r->storing == STORED_REDUCED)))
        return 0;
    double bytes = r->is_argument && l->cuts > 1 ? input_bytes(m, l, on, r->value)
                                                 : memory_local_bytes(m, l, on, r->value);
    if (r->storing == STORED_AS_USED || r->storing >= STORED_REDUCED)
        return bytes;
    double piece =
        training_piece(m->training, l, on, r->value, training_axes(m->training, r->variable, on));
    if (r->storing == STORED_IN_PIECES)
        return bytes * piece;
    return piece < 1 ? bytes * gathered_at_once(&m->training->variables[r->variable]) : 0;
}

uint32_t memory_range_classes(const struct memory_model *m, const struct memory_range *r,
                              class_id *out, uint32_t room)
{
    const struct classes *c = m->classes;
    class_id list[ZERO_CLASSES_MOST];
    uint32_t dims = c->dim_base[r->value + 1] - c->dim_base[r->value], count = 0;
    uint32_t deciding = deciding_classes(m, r, list);

    for (uint32_t n = 0; n < dims + deciding; n++) {
        class_id k = n < dims ? c->class_of[c->dim_base[r->value] + n] : list[n - dims];
        uint32_t at = 0;
        while (at < count && at < room && out[at] < k)
            at++;
        if (k == CLASS_NONE || (at < count && at < room && out[at] == k))
            continue;
        for (uint32_t i = count < room ? count : room - 1; i > at; i--)
            out[i] = out[i - 1];
        if (at < room)
            out[at] = k;
        count++;
    }
    return count;
}

/* ---- the sweep ---- */

struct sweep {
    const struct memory_model *model;
    const double *bytes;  /* [ranges] */
    const double *inner;  /* [computations] peak of each, callees first */
    const double *copies; /* [positions] */
    double live[MEMORY_KIND_COUNT];
    double total;
    uint32_t next, next_end, last; /* ranges not yet begun, not yet ended */
};

static void sweep_begin(struct sweep *s, const struct memory_model *model, const double *scratch,
                        hlo_comp c)
{
    *s = (struct sweep){.model = model,
                        .bytes = scratch,
                        .inner = scratch + model->count,
                        .copies = scratch + model->count + model->m->computation_count,
                        .next = model->first[c],
                        .next_end = model->first[c],
                        .last = model->first[c + 1]};
}

static void count(struct sweep *s, uint32_t range, double sign)
{
    s->live[s->model->ranges[range].kind] += sign * s->bytes[range];
    s->total += sign * s->bytes[range];
}

/* Besides the ranges, while the instruction at `position` runs: the peak of what it calls, and
 * copies. */
static double beside(const struct sweep *s, uint32_t position)
{
    const struct hlo_module *m = s->model->m;
    hlo_id id = s->model->schedule.order[position];
    double most = 0;

    for (uint32_t k = 0; k < hlo_at(m, id)->called_count; k++) {
        double peak = s->inner[hlo_called(m, id, k)];
        if (peak > most)
            most = peak;
    }
    return most + s->copies[position];
}

/* What begins at position `at` is live from then on, what ended before it no more. */
static void sweep_to(struct sweep *s, uint32_t at)
{
    for (; s->next_end < s->last; s->next_end++) {
        uint32_t k = s->model->by_end[s->next_end];
        if (s->model->ranges[k].end >= at)
            break;
        if (!s->model->ranges[k].is_argument)
            count(s, k, -1);
    }
    for (; s->next < s->last && s->model->ranges[s->next].start == at; s->next++) {
        if (!s->model->ranges[s->next].is_argument)
            count(s, s->next, 1);
    }
}

static double peak_of_computation(const struct memory_model *m, hlo_comp c, double *scratch,
                                  uint32_t *at)
{
    const struct hlo_computation *comp = &m->m->computations[c];
    struct sweep s;
    double peak = 0;

    sweep_begin(&s, m, scratch, c);
    *at = comp->first;
    for (uint32_t n = comp->first; n < comp->first + comp->count; n++) {
        sweep_to(&s, n);
        double now = s.total + beside(&s, n);
        if (now > peak) {
            peak = now;
            *at = n;
        }
    }
    return peak;
}

/* Fills in the peaks of all computations but the entry, callees first. */
double memory_sweep(const struct memory_model *m, double *scratch, uint32_t *at)
{
    for (hlo_comp c = 0; c < m->m->computation_count; c++)
        scratch[m->count + c] = c == m->m->entry ? 0 : peak_of_computation(m, c, scratch, &at[c]);
    return peak_of_computation(m, m->m->entry, scratch, &at[m->m->entry]);
}

/* The same for the computations within the entry alone. */
static void inner_peaks(const struct memory_model *m, double *scratch)
{
    uint32_t at;

    for (hlo_comp c = 0; c < m->m->computation_count; c++)
        scratch[m->count + c] = c == m->m->entry ? 0 : peak_of_computation(m, c, scratch, &at);
}

static void fill_scratch(const struct memory_model *m, const struct labels *l, const label *on,
                         double *scratch)
{
    for (uint32_t k = 0; k < m->count; k++)
        scratch[k] = memory_range_bytes(m, l, on, &m->ranges[k]);
    inner_peaks(m, scratch);
}

static void count_arguments(const struct memory_model *m, const double *bytes,
                            double out[MEMORY_KIND_COUNT])
{
    hlo_comp entry = m->m->entry;

    for (uint32_t k = m->first[entry]; k < m->first[entry + 1]; k++) {
        if (m->ranges[k].is_argument)
            out[m->ranges[k].kind] += bytes[k];
    }
}

enum { POINTER_BYTES = 8 }; /* XLA's output table has one per leaf */

static double output_bytes(const struct memory_model *m, const struct labels *l, const label *on)
{
    hlo_id root = m->m->computations[m->m->entry].root;
    bool is_tuple = hlo_shape(m->m, root)->type == HLO_TUPLE;
    double bytes = 0;

    for (hlo_value v = m->m->leaf_base[root]; v < m->m->leaf_base[root + 1]; v++)
        bytes += memory_local_bytes(m, l, on, v) + (is_tuple ? POINTER_BYTES : 0);
    return bytes;
}

/* With the bytes of all ranges and the peaks of inner computations in scratch. */
static struct memory_cost entry_peak(const struct memory_model *m, double outputs, double *scratch)
{
    const struct hlo_computation *entry = &m->m->computations[m->m->entry];
    struct memory_cost cost = {.at = entry->first, .outputs = outputs};
    double held[MEMORY_KIND_COUNT] = {0}, at_peak[MEMORY_KIND_COUNT] = {0}, most = -1;
    struct sweep s;

    count_arguments(m, scratch, held);
    sweep_begin(&s, m, scratch, m->m->entry);
    for (uint32_t n = entry->first; n < entry->first + entry->count; n++) {
        sweep_to(&s, n);
        double more = beside(&s, n);
        if (s.total + more > most) {
            most = s.total + more;
            memcpy(at_peak, s.live, sizeof at_peak);
            at_peak[MEMORY_ACTIVATIONS] += more;
            cost.at = m->schedule.order[n];
            cost.position = n;
        }
    }
    for (int k = 0; k < MEMORY_KIND_COUNT; k++) {
        cost.bytes[k] = held[k] + at_peak[k];
        cost.arguments += held[k];
    }
    cost.temporaries = most > 0 ? most : 0;
    cost.peak = cost.arguments + cost.temporaries;
    return cost;
}

struct memory_cost memory_of(const struct memory_model *m, const struct labels *l, const label *on,
                             double *scratch)
{
    fill_scratch(m, l, on, scratch);
    return entry_peak(m, output_bytes(m, l, on), scratch);
}

double memory_range_bytes_from(const struct memory_model *m, const struct memory_range *r,
                               double bytes, double second)
{
    if (r->storing == STORED_WHOLE)
        return whole_bytes(m, r->value, bytes, 1);
    if (r->storing == STORED_INDICES)
        return index_bytes(m, r->value, bytes);
    if (r->storing == STORED_WORKSPACE)
        return workspace_bytes(m, r->value, bytes);
    if (r->storing == STORED_TWICE)
        return second > 0 ? 0 : bytes;
    return r->storing >= STORED_REDUCED && r->storing < STORED_LAID_OUT ? second : bytes;
}

struct memory_cost memory_of_values(const struct memory_model *m, const double *bytes,
                                    const double *second, double *scratch)
{
    hlo_id root = m->m->computations[m->m->entry].root;
    bool is_tuple = hlo_shape(m->m, root)->type == HLO_TUPLE;
    double outputs = 0;

    for (uint32_t k = 0; k < m->count; k++) {
        const struct memory_range *r = &m->ranges[k];
        hlo_value two = r->storing == STORED_TWICE ? r->gradient : r->value;
        scratch[k] =
            memory_range_bytes_from(m, r, bytes[r->value], two == HLO_NONE ? 0 : second[two]);
    }
    inner_peaks(m, scratch);
    for (hlo_value v = m->m->leaf_base[root]; v < m->m->leaf_base[root + 1]; v++)
        outputs += bytes[v] + (is_tuple ? POINTER_BYTES : 0);
    return entry_peak(m, outputs, scratch);
}

void memory_timeline(const struct memory_model *m, const struct labels *l, const label *on,
                     double *scratch, double (*rows)[MEMORY_KIND_COUNT])
{
    fill_scratch(m, l, on, scratch);
    memory_timeline_of(m, scratch, rows);
}

void memory_timeline_of(const struct memory_model *m, const double *scratch,
                        double (*rows)[MEMORY_KIND_COUNT])
{
    const struct hlo_computation *entry = &m->m->computations[m->m->entry];
    double held[MEMORY_KIND_COUNT] = {0};
    struct sweep s;

    count_arguments(m, scratch, held);
    sweep_begin(&s, m, scratch, m->m->entry);
    for (uint32_t n = entry->first; n < entry->first + entry->count; n++) {
        sweep_to(&s, n);
        for (int k = 0; k < MEMORY_KIND_COUNT; k++)
            rows[n - entry->first][k] = held[k] + s.live[k];
        rows[n - entry->first][MEMORY_ACTIVATIONS] += beside(&s, n);
    }
}

uint32_t memory_tops(const struct memory_model *m, const struct labels *l, const label *on,
                     hlo_id at, struct memory_top *out, uint32_t room)
{
    hlo_comp entry = m->m->entry;
    uint32_t held = 0, now = m->schedule.position[at];

    for (uint32_t k = m->first[entry]; k < m->first[entry + 1]; k++) {
        const struct memory_range *r = &m->ranges[k];
        if (!r->is_argument && (r->start > now || r->end < now))
            continue;
        struct memory_top top = {r->value, memory_range_bytes(m, l, on, r), r->kind, r->storing};
        uint32_t n = held < room ? held++ : room;
        for (; n && out[n - 1].bytes < top.bytes; n--) {
            if (n < room)
                out[n] = out[n - 1];
        }
        if (n < room)
            out[n] = top;
    }
    return held;
}
