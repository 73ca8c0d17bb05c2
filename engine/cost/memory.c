#include "engine/cost/memory.h"

#include <string.h>

const char *const memory_kind_names[MEMORY_KIND_COUNT] = {"parameters", "gradients", "optimizer", "inputs",
                                                          "activations"};

/* Positions of the uses of a variable in one pass. */
struct span {
    uint32_t first, last; /* first HLO_NONE: none */
};

struct build {
    struct memory_model *model;
    uint32_t *end;      /* [values] position of the last use of a buffer, or of a fused value's users */
    uint8_t *kind;      /* [values] of buffers */
    uint8_t *is_placed; /* [values] buffers whose value ends in an argument's place */
    uint32_t *range_of; /* [values] of buffers: their range + 1 */
    uint32_t *of;       /* [values] of buffers: the parameter whose state or gradient it is + 1 */
    struct span (*uses)[2]; /* [roles params] forward, backward */
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
    v = b->model->fusion->buffer[v];
    if (b->end[v] == HLO_NONE || b->end[v] < at)
        b->end[v] = at;
}

/* Where the reads of `id` end: its own position, or for a fused value that of its last user. */
static uint32_t reads_until(const struct build *b, hlo_id id)
{
    const struct hlo_module *m = b->model->m;
    uint32_t at = b->model->schedule.position[id];

    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        hlo_value buffer = b->model->fusion->buffer[v];
        uint32_t end = b->end[buffer];
        if (!b->model->fusion->is_stored[buffer] && end != HLO_NONE && end > at &&
            m->instructions[m->value_instruction[buffer]].computation == m->instructions[id].computation)
            at = end;
    }
    return at;
}

/* Notes that the pass reads variable `v` from the position of `id` to `until`. */
static void note_use(struct build *b, hlo_value v, hlo_id id, uint32_t until)
{
    const struct training *t = b->model->training;
    uint32_t param = b->of[v];

    if (!param || t->is_once[id] || hlo_at(t->classes->m, b->model->m->value_instruction[v])->opcode != HLO_OP_PARAMETER)
        return;
    struct span *s = &b->uses[param - 1][t->roles->phase[id] != HLO_PHASE_FORWARD];
    uint32_t at = b->model->schedule.position[id];
    if (s->first == HLO_NONE || at < s->first)
        s->first = at;
    if (until > s->last)
        s->last = until;
}

/* The update reads sums over the passes, not the result of the last one. */
static bool reads_a_sum(const struct build *b, hlo_id id, hlo_value v)
{
    const struct training *t = b->model->training;

    return b->model->regime.micro_batches > 1 && t->is_once[id] && t->is_summed[b->model->fusion->buffer[v]];
}

static void use_operands(struct build *b, hlo_id id)
{
    const struct hlo_module *m = b->model->m;
    const struct hlo_instruction *i = hlo_at(m, id);
    uint32_t at = reads_until(b, id);

    for (uint32_t k = 0; k < i->operand_count; k++) {
        hlo_id o = hlo_operand(m, id, k);
        for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++) {
            /* Buffers made in another computation are kept by the instruction that calls it. */
            hlo_id made = m->value_instruction[b->model->fusion->buffer[v]];
            bool here = m->instructions[made].computation == i->computation;
            if (reads_a_sum(b, id, v))
                continue;
            use(b, v, here ? at : b->model->schedule.position[made]);
            if (here)
                note_use(b, b->model->fusion->buffer[v], id, at);
        }
    }
}

static void find_ends(struct build *b)
{
    const struct hlo_module *m = b->model->m;

    memset(b->end, 0xff, m->value_count * sizeof *b->end);
    for (uint32_t k = 0; k < b->model->training->roles->param_count; k++)
        b->uses[k][0] = b->uses[k][1] = (struct span){HLO_NONE, 0};
    for (uint32_t c = 0; c < m->computation_count; c++) {
        hlo_id root = m->computations[c].root, last = m->computations[c].first + m->computations[c].count - 1;
        for (hlo_value v = m->leaf_base[root]; v < m->leaf_base[root + 1]; v++)
            use(b, v, last);
    }
    for (hlo_id id = m->count; id--;)
        use_operands(b, id);
}

static void find_kinds(struct build *b)
{
    const struct hlo_module *m = b->model->m;

    memset(b->kind, MEMORY_ACTIVATIONS, m->value_count);
    const struct hlo_roles *roles = b->model->training->roles;

    for (uint32_t k = 0; k < roles->param_count; k++) {
        const struct hlo_param_role *p = &roles->params[k];
        static const uint8_t kinds[HLO_ROLE_COUNT] = {
            [HLO_ROLE_VARIABLE] = MEMORY_PARAMETERS,   [HLO_ROLE_OPTIMIZER_STATE] = MEMORY_OPTIMIZER,
            [HLO_ROLE_INPUT] = MEMORY_INPUTS,          [HLO_ROLE_HYPER] = MEMORY_PARAMETERS,
            [HLO_ROLE_OTHER_STATE] = MEMORY_PARAMETERS,
        };
        hlo_value own = b->model->fusion->buffer[p->value];
        b->kind[own] = kinds[p->role];
        if (p->role == HLO_ROLE_VARIABLE || (p->role == HLO_ROLE_OPTIMIZER_STATE && p->of != HLO_NONE))
            b->of[own] = (p->role == HLO_ROLE_VARIABLE ? k : p->of) + 1;
        if (p->gradient == HLO_NONE || b->kind[b->model->fusion->buffer[p->gradient]] != MEMORY_ACTIVATIONS)
            continue;
        b->kind[b->model->fusion->buffer[p->gradient]] = MEMORY_GRADIENTS;
        b->of[b->model->fusion->buffer[p->gradient]] = k + 1;
    }
}

static void find_placed(struct build *b)
{
    const struct hlo_module *m = b->model->m;
    hlo_id root = m->computations[m->entry].root;

    for (uint32_t k = 0; k < m->alias_count; k++) {
        if (m->aliases[k].out < m->leaf_base[root + 1] - m->leaf_base[root])
            b->is_placed[b->model->fusion->buffer[m->leaf_base[root] + m->aliases[k].out]] = 1;
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
        hlo_value v = b->model->fusion->buffer[m->leaf_base[o]];
        bool local = m->instructions[m->value_instruction[v]].computation == i->computation;
        bool argument = m->instructions[m->value_instruction[v]].opcode == HLO_OP_PARAMETER;
        if (b->model->fusion->is_stored[v] && local && !argument && b->end[v] == b->model->schedule.position[id] &&
            same_size(m, v, m->leaf_base[id]))
            return v;
    }
    return HLO_NONE;
}

static bool push(struct build *b, const struct memory_range *r)
{
    if (!mem_grow(&b->model->ranges, &b->room, b->model->count, 1))
        return false;
    b->model->ranges[b->model->count++] = *r;
    return true;
}

/* The ranges of stored value `v` that `id` makes. A gradient that is stored in pieces is whole only
 * while it is made. */
static bool add_range(struct build *b, hlo_id id, hlo_value v)
{
    struct memory_model *model = b->model;
    const struct hlo_module *m = model->m;
    bool in_entry = hlo_at(m, id)->computation == m->entry;
    bool parameter = hlo_at(m, id)->opcode == HLO_OP_PARAMETER;
    uint32_t position = model->schedule.position[id];

    if (!model->fusion->is_stored[v] || (parameter && !in_entry) || hlo_value_shape(m, v)->bytes == 0)
        return true;
    if (!parameter && b->is_placed[v])
        return true;
    hlo_value place = parameter ? HLO_NONE : place_for(b, id);
    if (place != HLO_NONE && b->range_of[place])
        model->ranges[b->range_of[place] - 1].end = position - 1;
    struct memory_range r = {.value = v,
                             .start = position,
                             .end = b->end[v] == HLO_NONE ? position : b->end[v],
                             .kind = b->kind[v],
                             .is_argument = parameter,
                             .variable = b->of[v] - 1};
    static const uint8_t from_level[MEMORY_KIND_COUNT] = {
        [MEMORY_PARAMETERS] = 3, [MEMORY_GRADIENTS] = 2, [MEMORY_OPTIMIZER] = 1};
    bool pieces = b->of[v] && from_level[r.kind] && model->regime.zero >= from_level[r.kind];
    if (pieces && !parameter) {
        struct memory_range whole = r;
        whole.end = position;
        r.start = position + 1;
        if (!push(b, &whole))
            return false;
        if (r.start > r.end)
            return true;
    }
    r.storing = pieces ? STORED_IN_PIECES : STORED_AS_USED;
    b->range_of[v] = model->count + 1;
    return push(b, &r);
}

/* Accumulators, and whole copies of variables that are stored in pieces. */
static bool add_regime(struct build *b)
{
    struct memory_model *model = b->model;
    const struct hlo_module *m = model->m;
    const struct hlo_computation *entry = &m->computations[m->entry];
    uint32_t last = entry->first + entry->count - 1;

    for (hlo_value v = m->leaf_base[entry->first]; v < m->leaf_base[last + 1] && model->regime.micro_batches > 1; v++) {
        struct memory_range r = {.value = v, .start = entry->first, .end = last, .kind = MEMORY_GRADIENTS,
                                 .variable = b->of[model->fusion->buffer[v]] - 1};
        r.storing = model->regime.zero >= 2 && b->of[model->fusion->buffer[v]] ? STORED_IN_PIECES : STORED_AS_USED;
        if (model->training->is_summed[v] && !push(b, &r))
            return false;
    }
    for (uint32_t k = 0; k < model->training->roles->param_count && model->regime.zero >= 3; k++) {
        for (int pass = 0; pass < 2; pass++) {
            struct memory_range r = {.value = model->training->roles->params[k].value, .start = b->uses[k][pass].first,
                                     .end = b->uses[k][pass].last, .kind = MEMORY_PARAMETERS, .storing = STORED_GATHERED,
                                     .variable = k};
            if (r.start != HLO_NONE && model->training->variables[k].reduced_count && !push(b, &r))
                return false;
        }
    }
    return true;
}

/* Counting sorts of the ranges: by start, stable, then an index by end. Positions of a computation
 * are contiguous and ranges lie in one, so `first` bounds both orders. */
static bool sort_ranges(struct memory_model *model)
{
    uint32_t *at = mem_try((size_t)model->m->count + 2, sizeof *at);
    struct memory_range *sorted = mem_try(model->count, sizeof *sorted);

    model->by_end = mem_try(model->count, sizeof *model->by_end);
    model->first = mem_try((size_t)model->m->computation_count + 1, sizeof *model->first);
    bool ok = at && sorted && model->by_end && model->first;
    for (uint32_t k = 0; k < model->count && ok; k++)
        at[model->ranges[k].start + 1]++;
    for (uint32_t n = 0; n < model->m->count && ok; n++)
        at[n + 1] += at[n];
    for (uint32_t c = 0; c < model->m->computation_count && ok; c++)
        model->first[c] = at[model->m->computations[c].first];
    for (uint32_t k = 0; k < model->count && ok; k++)
        sorted[at[model->ranges[k].start]++] = model->ranges[k];
    if (ok) {
        model->first[model->m->computation_count] = model->count;
        free(model->ranges);
        model->ranges = sorted;
        memset(at, 0, ((size_t)model->m->count + 2) * sizeof *at);
        for (uint32_t k = 0; k < model->count; k++)
            at[sorted[k].end + 1]++;
        for (uint32_t n = 0; n < model->m->count; n++)
            at[n + 1] += at[n];
        for (uint32_t k = 0; k < model->count; k++)
            model->by_end[at[sorted[k].end]++] = k;
    } else {
        free(sorted);
    }
    free(at);
    return ok;
}

static bool make_ranges(struct build *b)
{
    const struct hlo_module *m = b->model->m;

    for (uint32_t n = 0; n < m->count; n++) {
        hlo_id id = b->model->schedule.order[n];
        for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
            if (!add_range(b, id, v))
                return false;
        }
    }
    return add_regime(b) && sort_ranges(b->model);
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
        if (k != CLASS_NONE && (on[k] || k == l->cut))
            bytes *= label_part(l, k, on[k], s->dims[d]);
    }
    return bytes;
}

/* Inputs hold all micro-batches. */
static double input_bytes(const struct memory_model *m, const struct labels *l, const label *on, hlo_value v)
{
    double bytes = memory_local_bytes(m, l, on, v);

    for (dim_id d = m->classes->dim_base[v]; d < m->classes->dim_base[v + 1]; d++) {
        class_id k = m->classes->class_of[d];
        bytes *= k == CLASS_NONE ? 1 : label_cuts(l, k);
    }
    return bytes;
}

double memory_range_bytes(const struct memory_model *m, const struct labels *l, const label *on,
                          const struct memory_range *r)
{
    double bytes = r->is_argument && l->cuts > 1 ? input_bytes(m, l, on, r->value) : memory_local_bytes(m, l, on, r->value);

    if (r->storing == STORED_AS_USED)
        return bytes;
    double piece = training_piece(m->training, l, on, r->value, training_axes(m->training, r->variable, on));
    return r->storing == STORED_IN_PIECES ? bytes * piece : piece < 1 ? bytes : 0;
}

uint32_t memory_range_classes(const struct memory_model *m, const struct memory_range *r, class_id *out, uint32_t room)
{
    const struct classes *c = m->classes;
    uint32_t dims = c->dim_base[r->value + 1] - c->dim_base[r->value], count = 0;
    const struct training_variable *v = r->storing == STORED_AS_USED ? NULL : &m->training->variables[r->variable];

    for (uint32_t n = 0; n < dims + (v ? v->reduced_count : 0); n++) {
        class_id k = n < dims ? c->class_of[c->dim_base[r->value] + n] : v->reduced[n - dims];
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

static double peak_of_computation(const struct memory_model *m, hlo_comp c, double *scratch, uint32_t *at)
{
    const struct hlo_computation *comp = &m->m->computations[c];
    struct sweep s;
    double peak = 0;

    sweep_begin(&s, m, scratch, c);
    *at = comp->first;
    for (uint32_t n = comp->first; n < comp->first + comp->count; n++) {
        sweep_to(&s, n);
        double now = s.total + inner_peak(&s, m->schedule.order[n]);
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

static void fill_scratch(const struct memory_model *m, const struct labels *l, const label *on, double *scratch)
{
    for (uint32_t k = 0; k < m->count; k++)
        scratch[k] = memory_range_bytes(m, l, on, &m->ranges[k]);
    inner_peaks(m, scratch);
}

static void build_release(struct build *b)
{
    free(b->end);
    free(b->kind);
    free(b->is_placed);
    free(b->range_of);
    free(b->of);
    free(b->uses);
}

static bool build_init(struct build *b)
{
    size_t values = b->model->m->value_count;

    b->end = mem_try(values, sizeof *b->end);
    b->kind = mem_try(values, 1);
    b->is_placed = mem_try(values, 1);
    b->range_of = mem_try(values, sizeof *b->range_of);
    b->of = mem_try(values, sizeof *b->of);
    b->uses = mem_try(b->model->training->roles->param_count, sizeof *b->uses);
    if (!b->end || !b->kind || !b->is_placed || !b->range_of || !b->of || !b->uses)
        return false;
    find_kinds(b);
    find_placed(b);
    return true;
}

/* The ranges of b->model under its schedule and regime. */
static bool build_ranges(struct build *b)
{
    b->room = 0;
    memset(b->range_of, 0, b->model->m->value_count * sizeof *b->range_of);
    find_ends(b);
    return make_ranges(b);
}

/* The peak of temporaries unsplit; < 0: out of memory. */
static double unsplit_peak(const struct memory_model *m)
{
    double *scratch = memory_scratch(m), peak = -1;

    for (uint32_t k = 0; k < m->count && scratch; k++)
        scratch[k] = (double)hlo_value_shape(m->m, m->ranges[k].value)->bytes;
    if (scratch) {
        uint32_t at;
        inner_peaks(m, scratch);
        peak = peak_of_computation(m, m->m->entry, scratch, &at);
    }
    free(scratch);
    return peak;
}

/* Part of the module order's temporaries that the list may need at most to be taken. XLA schedules
 * fused kernels, which leave it less choice than single instructions leave a list: measured against
 * it, small gains of a list are not there (engine/README.md, Memory). */
static const double LIST_MOST = 2.0 / 3;

/* Both schedules; the module's own order stays unless the list saves much. */
static int build_best(struct build *b, struct err *e)
{
    struct memory_model *first = b->model, other = *first;
    int rc = schedule_in_order(first->m, &first->schedule, e);

    if (!rc)
        rc = schedule_list(first->m, first->fusion, first->classes->is_free, b->is_placed, &other.schedule, e);
    if (!rc && !build_ranges(b))
        rc = no_memory(e);
    b->model = &other;
    if (!rc && !build_ranges(b))
        rc = no_memory(e);
    double ours = rc ? -1 : unsplit_peak(first), list = rc ? -1 : unsplit_peak(&other);
    if (!rc && (ours < 0 || list < 0))
        rc = no_memory(e);
    if (!rc && list < LIST_MOST * ours) {
        struct memory_model swap = *first;
        *first = other;
        other = swap;
    }
    b->model = first;
    memory_release(&other);
    return rc;
}

int memory_new(const struct training *t, const struct fusion *f, struct memory_model *out, struct err *e)
{
    struct memory_model model = {
        .m = t->classes->m, .classes = t->classes, .training = t, .fusion = f, .regime = {.micro_batches = 1}};
    struct build b = {.model = &model};
    int rc = build_init(&b) ? build_best(&b, e) : no_memory(e);

    build_release(&b);
    if (rc)
        memory_release(&model);
    else
        *out = model;
    return rc;
}

int memory_set_regime(struct memory_model *m, const struct regime *r, struct err *e)
{
    struct memory_model next = *m;
    struct build b = {.model = &next};

    if (r->micro_batches == m->regime.micro_batches && r->zero == m->regime.zero)
        return 0;
    next.ranges = NULL;
    next.first = next.by_end = NULL;
    next.count = 0;
    next.regime = *r;
    bool ok = build_init(&b) && build_ranges(&b);
    build_release(&b);
    struct memory_model *old = ok ? m : &next;
    free(old->ranges);
    free(old->first);
    free(old->by_end);
    if (ok)
        *m = next;
    return ok ? 0 : no_memory(e);
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

struct memory_cost memory_of(const struct memory_model *m, const struct labels *l, const label *on, double *scratch)
{
    fill_scratch(m, l, on, scratch);
    return entry_peak(m, output_bytes(m, l, on), scratch);
}

struct memory_cost memory_of_values(const struct memory_model *m, const double *bytes, double *scratch)
{
    hlo_id root = m->m->computations[m->m->entry].root;
    bool is_tuple = hlo_shape(m->m, root)->type == HLO_TUPLE;
    double outputs = 0;

    for (uint32_t k = 0; k < m->count; k++)
        scratch[k] = bytes[m->ranges[k].value];
    inner_peaks(m, scratch);
    for (hlo_value v = m->m->leaf_base[root]; v < m->m->leaf_base[root + 1]; v++)
        outputs += bytes[v] + (is_tuple ? POINTER_BYTES : 0);
    return entry_peak(m, outputs, scratch);
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
        struct memory_top top = {r->value, memory_range_bytes(m, l, on, r), r->kind};
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
