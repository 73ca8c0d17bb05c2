#include "engine/cost/memory.h"

#include <string.h>

const char *const memory_kind_names[MEMORY_KIND_COUNT] = {"parameters", "gradients", "optimizer", "inputs",
                                                          "activations"};

struct build {
    struct memory_model *model;
    const struct fusion *f;
    const struct hlo_roles *roles;
    uint32_t *end;    /* [values] position of the last use of a buffer, or of a fused value's users */
    uint8_t *kind;    /* [values] of buffers */
    uint8_t *is_placed; /* [values] buffers whose value ends in an argument's place */
    uint32_t *range_of; /* [values] of buffers: their range + 1 */
    size_t room;
};

static int no_memory(struct err *e)
{
    return err_set(e, ERR_MEMORY, "not enough memory for the memory model");
}

/* A use of buffer `v` at position `at`: fused users pass on their own last use, found before (ids
 * descend, users come first). */
static void use(struct build *b, hlo_value v, uint32_t at)
{
    v = b->f->buffer[v];
    if (b->end[v] == HLO_NONE || b->end[v] < at)
        b->end[v] = at;
}

/* Where the reads of `id` end: its own position, or for a fused value that of its last user. */
static uint32_t reads_until(const struct build *b, hlo_id id)
{
    const struct hlo_module *m = b->model->m;
    uint32_t at = b->model->schedule.position[id];

    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        hlo_value buffer = b->f->buffer[v];
        uint32_t end = b->end[buffer];
        if (!b->f->is_stored[buffer] && end != HLO_NONE && end > at &&
            m->instructions[m->value_instruction[buffer]].computation == m->instructions[id].computation)
            at = end;
    }
    return at;
}

static void find_ends(struct build *b)
{
    const struct hlo_module *m = b->model->m;
    const uint32_t *position = b->model->schedule.position;

    memset(b->end, 0xff, m->value_count * sizeof *b->end);
    for (uint32_t c = 0; c < m->computation_count; c++) {
        hlo_id root = m->computations[c].root, last = m->computations[c].first + m->computations[c].count - 1;
        for (hlo_value v = m->leaf_base[root]; v < m->leaf_base[root + 1]; v++)
            use(b, v, last);
    }
    for (hlo_id id = m->count; id--;) {
        const struct hlo_instruction *i = hlo_at(m, id);
        uint32_t at = reads_until(b, id);
        for (uint32_t k = 0; k < i->operand_count; k++) {
            hlo_id o = hlo_operand(m, id, k);
            for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++) {
                /* Buffers made in another computation are kept by the instruction that calls it. */
                hlo_id made = m->value_instruction[b->f->buffer[v]];
                use(b, v, m->instructions[made].computation == i->computation ? at : position[made]);
            }
        }
    }
}

static void find_kinds(struct build *b)
{
    const struct hlo_module *m = b->model->m;

    memset(b->kind, MEMORY_ACTIVATIONS, m->value_count);
    for (uint32_t k = 0; b->roles && k < b->roles->param_count; k++) {
        const struct hlo_param_role *p = &b->roles->params[k];
        static const uint8_t kinds[HLO_ROLE_COUNT] = {
            [HLO_ROLE_VARIABLE] = MEMORY_PARAMETERS,   [HLO_ROLE_OPTIMIZER_STATE] = MEMORY_OPTIMIZER,
            [HLO_ROLE_INPUT] = MEMORY_INPUTS,          [HLO_ROLE_HYPER] = MEMORY_PARAMETERS,
            [HLO_ROLE_OTHER_STATE] = MEMORY_PARAMETERS,
        };
        b->kind[b->f->buffer[p->value]] = kinds[p->role];
        if (p->gradient != HLO_NONE && b->kind[b->f->buffer[p->gradient]] == MEMORY_ACTIVATIONS)
            b->kind[b->f->buffer[p->gradient]] = MEMORY_GRADIENTS;
    }
}

static void find_placed(struct build *b)
{
    const struct hlo_module *m = b->model->m;
    hlo_id root = m->computations[m->entry].root;

    for (uint32_t k = 0; k < m->alias_count; k++) {
        if (m->aliases[k].out < m->leaf_base[root + 1] - m->leaf_base[root])
            b->is_placed[b->f->buffer[m->leaf_base[root] + m->aliases[k].out]] = 1;
    }
}

static bool same_size(const struct hlo_module *m, hlo_value a, hlo_value b)
{
    return hlo_value_shape(m, a)->bytes == hlo_value_shape(m, b)->bytes &&
           hlo_value_shape(m, a)->rank == hlo_value_shape(m, b)->rank;
}

/* The operand buffer that an element-wise result or an update overwrites: it ends here. */
static hlo_value place_for(const struct build *b, hlo_id id)
{
    const struct hlo_module *m = b->model->m;
    const struct hlo_instruction *i = hlo_at(m, id);
    bool elementwise = i->opcode < HLO_OP_UNKNOWN && (hlo_op_info[i->opcode].flags & HLO_OP_IS_ELEMENTWISE);

    if (!elementwise && i->opcode != HLO_OP_DYNAMIC_UPDATE_SLICE && i->opcode != HLO_OP_SCATTER)
        return HLO_NONE;
    for (uint32_t k = 0; k < i->operand_count && (elementwise || k == 0); k++) {
        hlo_id o = hlo_operand(m, id, k);
        if (m->leaf_base[o] == m->leaf_base[o + 1])
            continue;
        hlo_value v = b->f->buffer[m->leaf_base[o]];
        bool local = m->instructions[m->value_instruction[v]].computation == i->computation;
        bool argument = m->instructions[m->value_instruction[v]].opcode == HLO_OP_PARAMETER;
        if (b->f->is_stored[v] && local && !argument && b->end[v] == b->model->schedule.position[id] &&
            same_size(m, v, m->leaf_base[id]))
            return v;
    }
    return HLO_NONE;
}

static bool add_range(struct build *b, hlo_id id, hlo_value v)
{
    struct memory_model *model = b->model;
    const struct hlo_module *m = model->m;
    bool in_entry = hlo_at(m, id)->computation == m->entry;
    bool parameter = hlo_at(m, id)->opcode == HLO_OP_PARAMETER;
    uint32_t position = model->schedule.position[id];

    if (!b->f->is_stored[v] || (parameter && !in_entry) || hlo_value_shape(m, v)->bytes == 0)
        return true;
    if (!parameter && b->is_placed[v])
        return true;
    if (!mem_grow(&model->ranges, &b->room, model->count, 1))
        return false;
    hlo_value place = parameter ? HLO_NONE : place_for(b, id);
    if (place != HLO_NONE && b->range_of[place])
        model->ranges[b->range_of[place] - 1].end = position - 1;
    model->ranges[model->count++] = (struct memory_range){
        .value = v,
        .start = position,
        .end = b->end[v] == HLO_NONE ? position : b->end[v],
        .kind = b->kind[v],
        .is_argument = parameter,
    };
    b->range_of[v] = model->count;
    return true;
}

/* Counting sort of the ranges by their end. Ends lie in the computation of their range, positions of
 * a computation are contiguous, so `first` bounds both orders. */
static bool sort_ends(struct memory_model *model)
{
    uint32_t *at = mem_try((size_t)model->m->count + 2, sizeof *at);

    model->by_end = mem_try(model->count, sizeof *model->by_end);
    if (!at || !model->by_end) {
        free(at);
        return false;
    }
    for (uint32_t k = 0; k < model->count; k++)
        at[model->ranges[k].end + 1]++;
    for (uint32_t id = 0; id < model->m->count; id++)
        at[id + 1] += at[id];
    for (uint32_t k = 0; k < model->count; k++)
        model->by_end[at[model->ranges[k].end]++] = k;
    free(at);
    return true;
}

static bool make_ranges(struct build *b)
{
    struct memory_model *model = b->model;
    const struct hlo_module *m = model->m;

    model->first = mem_try((size_t)m->computation_count + 1, sizeof *model->first);
    if (!model->first)
        return false;
    for (uint32_t c = 0; c < m->computation_count; c++) {
        model->first[c] = model->count;
        for (uint32_t n = m->computations[c].first; n < m->computations[c].first + m->computations[c].count; n++) {
            hlo_id id = model->schedule.order[n];
            for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
                if (!add_range(b, id, v))
                    return false;
            }
        }
    }
    model->first[m->computation_count] = model->count;
    return sort_ends(model);
}

void memory_release(struct memory_model *m)
{
    schedule_release(&m->schedule);
    free(m->ranges);
    free(m->first);
    free(m->by_end);
    memset(m, 0, sizeof *m);
}

double *memory_scratch(const struct memory_model *m)
{
    return mem_try((size_t)m->count + m->m->computation_count, sizeof(double));
}

double memory_local_bytes(const struct memory_model *m, const struct labels *l, const label *on, hlo_value v)
{
    const struct hlo_shape *s = hlo_value_shape(m->m, v);
    double bytes = (double)s->bytes;

    for (uint32_t d = 0; d < s->rank && bytes > 0; d++) {
        class_id k = m->classes->class_of[class_dim(m->classes, v, d)];
        int64_t parts = k == CLASS_NONE ? 1 : l->parts[on[k]], size = s->dims[d];
        if (parts > 1)
            bytes = bytes / (double)size * (double)((size + parts - 1) / parts);
    }
    return bytes;
}

/* ---- the sweep ---- */

struct sweep {
    const struct memory_model *model;
    const double *bytes;            /* [ranges] */
    const double *inner;            /* [computations] peak of each, callees first */
    double live[MEMORY_KIND_COUNT];
    double total;
    uint32_t next, next_end, last;  /* ranges not yet begun, not yet ended */
};

static void sweep_begin(struct sweep *s, const struct memory_model *model, const double *scratch, hlo_comp c)
{
    *s = (struct sweep){.model = model,
                        .bytes = scratch,
                        .inner = scratch + model->count,
                        .next = model->first[c],
                        .next_end = model->first[c],
                        .last = model->first[c + 1]};
}

static void count(struct sweep *s, uint32_t range, double sign)
{
    s->live[s->model->ranges[range].kind] += sign * s->bytes[range];
    s->total += sign * s->bytes[range];
}

/* Peak of what `id` calls while it runs. */
static double inner_peak(const struct sweep *s, hlo_id id)
{
    const struct hlo_module *m = s->model->m;
    double most = 0;

    for (uint32_t k = 0; k < hlo_at(m, id)->called_count; k++) {
        double peak = s->inner[hlo_called(m, id, k)];
        if (peak > most)
            most = peak;
    }
    return most;
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

static double peak_of_computation(const struct memory_model *m, hlo_comp c, double *scratch)
{
    const struct hlo_computation *comp = &m->m->computations[c];
    struct sweep s;
    double peak = 0;

    sweep_begin(&s, m, scratch, c);
    for (uint32_t n = comp->first; n < comp->first + comp->count; n++) {
        sweep_to(&s, n);
        double now = s.total + inner_peak(&s, m->schedule.order[n]);
        peak = now > peak ? now : peak;
    }
    return peak;
}

/* Fills in the peaks of all computations but the entry, callees first; returns the entry's. */
static double peaks_of_computations(const struct memory_model *m, double *scratch)
{
    for (hlo_comp c = 0; c < m->m->computation_count; c++)
        scratch[m->count + c] = c == m->m->entry ? 0 : peak_of_computation(m, c, scratch);
    return peak_of_computation(m, m->m->entry, scratch);
}

static void fill_scratch(const struct memory_model *m, const struct labels *l, const label *on, double *scratch)
{
    for (uint32_t k = 0; k < m->count; k++)
        scratch[k] = memory_local_bytes(m, l, on, m->ranges[k].value);
    (void)peaks_of_computations(m, scratch);
}

/* The model under the schedule that `b->model` holds, with its peak unsplit. */
static int build_scheduled(struct build *b, double *peak)
{
    struct memory_model *model = b->model;

    b->room = 0;
    model->count = 0;
    memset(b->range_of, 0, model->m->value_count * sizeof *b->range_of);
    find_ends(b);
    if (!make_ranges(b))
        return ERR_MEMORY;
    double *scratch = memory_scratch(model);
    if (!scratch)
        return ERR_MEMORY;
    for (uint32_t k = 0; k < model->count; k++)
        scratch[k] = (double)hlo_value_shape(model->m, model->ranges[k].value)->bytes;
    *peak = peaks_of_computations(model, scratch);
    free(scratch);
    return 0;
}

/* Part of the module order's temporaries that the list may need at most to be taken. XLA schedules
 * fused kernels, which leave it less choice than single instructions leave a list: measured against
 * it, small gains of a list are not there (engine/README.md, Memory). */
static const double LIST_MOST = 2.0 / 3;

/* Both schedules; the module's own order stays unless the list saves much. */
static int build_best(struct build *b, const bool *is_free, struct err *e)
{
    struct memory_model other = {.m = b->model->m, .classes = b->model->classes}, *first = b->model;
    double peak[2];
    int rc = schedule_in_order(first->m, &first->schedule, e);

    if (!rc)
        rc = build_scheduled(b, &peak[0]);
    if (!rc)
        rc = schedule_list(first->m, b->f, is_free, b->is_placed, &other.schedule, e);
    b->model = &other;
    if (!rc)
        rc = build_scheduled(b, &peak[1]);
    if (!rc && peak[1] < LIST_MOST * peak[0]) {
        struct memory_model swap = *first;
        *first = other;
        other = swap;
    }
    b->model = first;
    memory_release(&other);
    return rc;
}

int memory_new(const struct classes *c, const struct fusion *f, const struct hlo_roles *roles,
               struct memory_model *out, struct err *e)
{
    struct memory_model model = {.m = c->m, .classes = c};
    struct build b = {.model = &model, .f = f, .roles = roles};
    size_t values = c->m->value_count;

    b.end = mem_try(values, sizeof *b.end);
    b.kind = mem_try(values, 1);
    b.is_placed = mem_try(values, 1);
    b.range_of = mem_try(values, sizeof *b.range_of);
    int rc = b.end && b.kind && b.is_placed && b.range_of ? 0 : ERR_MEMORY;
    if (!rc) {
        find_kinds(&b);
        find_placed(&b);
        rc = build_best(&b, c->is_free, e);
    }
    free(b.end);
    free(b.kind);
    free(b.is_placed);
    free(b.range_of);
    if (!rc) {
        *out = model;
        return 0;
    }
    memory_release(&model);
    return no_memory(e);
}

static void count_arguments(const struct memory_model *m, const double *bytes, double out[MEMORY_KIND_COUNT])
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

struct memory_cost memory_of(const struct memory_model *m, const struct labels *l, const label *on, double *scratch)
{
    const struct hlo_computation *entry = &m->m->computations[m->m->entry];
    struct memory_cost cost = {.at = entry->first, .outputs = output_bytes(m, l, on)};
    double held[MEMORY_KIND_COUNT] = {0}, at_peak[MEMORY_KIND_COUNT] = {0}, most = -1;
    struct sweep s;

    fill_scratch(m, l, on, scratch);
    count_arguments(m, scratch, held);
    sweep_begin(&s, m, scratch, m->m->entry);
    for (uint32_t n = entry->first; n < entry->first + entry->count; n++) {
        sweep_to(&s, n);
        double inner = inner_peak(&s, m->schedule.order[n]);
        if (s.total + inner > most) {
            most = s.total + inner;
            memcpy(at_peak, s.live, sizeof at_peak);
            at_peak[MEMORY_ACTIVATIONS] += inner;
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

void memory_timeline(const struct memory_model *m, const struct labels *l, const label *on, double *scratch,
                     double (*rows)[MEMORY_KIND_COUNT])
{
    const struct hlo_computation *entry = &m->m->computations[m->m->entry];
    double held[MEMORY_KIND_COUNT] = {0};
    struct sweep s;

    fill_scratch(m, l, on, scratch);
    count_arguments(m, scratch, held);
    sweep_begin(&s, m, scratch, m->m->entry);
    for (uint32_t n = entry->first; n < entry->first + entry->count; n++) {
        sweep_to(&s, n);
        for (int k = 0; k < MEMORY_KIND_COUNT; k++)
            rows[n - entry->first][k] = held[k] + s.live[k];
        rows[n - entry->first][MEMORY_ACTIVATIONS] += inner_peak(&s, m->schedule.order[n]);
    }
}

uint32_t memory_tops(const struct memory_model *m, const struct labels *l, const label *on, hlo_id at,
                     struct memory_top *out, uint32_t room)
{
    hlo_comp entry = m->m->entry;
    uint32_t held = 0, now = m->schedule.position[at];

    for (uint32_t k = m->first[entry]; k < m->first[entry + 1]; k++) {
        const struct memory_range *r = &m->ranges[k];
        if (!r->is_argument && (r->start > now || r->end < now))
            continue;
        struct memory_top top = {r->value, memory_local_bytes(m, l, on, r->value), r->kind};
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
