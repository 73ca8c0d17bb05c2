/* engine/cost/memory_ranges.c - who lives from when to when: the ranges of a memory model. */
#include "engine/cost/fusion.h"
#include "engine/cost/instruction_order.h"
#include "engine/cost/memory.h"
#include "engine/cost/memory_beside.h"
#include "engine/cost/memory_copies.h"
#include "engine/cost/memory_reads.h"
#include "engine/cost/memory_whole.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "hlo/meaning/kernels.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/special.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static const char MEMORY_FOR[] = "for the memory model";

/* The buffer that a gradient is stored in: where it is computed on the fly from one operand, as the
 * transpose of a product is, that operand's. */
static hlo_value gradient_buffer(const struct memory_build *b, hlo_value v)
{
    const struct hlo_module *m = b->model->m;
    const struct fusion *f = b->model->fusion;

    for (v = f->buffer[v]; !f->is_stored[v];) {
        const struct hlo_instruction *i = hlo_at(m, m->value_instruction[v]);
        if (i->operand_count != 1 || i->opcode == HLO_OP_PARAMETER)
            break;
        hlo_value from = m->leaf_base[hlo_operand(m, m->value_instruction[v], 0)];
        if (hlo_value_shape(m, from)->bytes != hlo_value_shape(m, v)->bytes)
            break;
        v = f->buffer[from];
    }
    return v;
}

static void find_kinds(struct memory_build *b)
{
    const struct hlo_module *m = b->model->m;

    memset(b->kind, MEMORY_ACTIVATIONS, m->value_count);
    const struct hlo_roles *roles = b->model->training->roles;

    for (uint32_t k = 0; k < roles->param_count; k++) {
        const struct hlo_param_role *p = &roles->params[k];
        static const uint8_t kinds[HLO_ROLE_COUNT] = {
            [HLO_ROLE_VARIABLE] = MEMORY_PARAMETERS,
            [HLO_ROLE_OPTIMIZER_STATE] = MEMORY_OPTIMIZER,
            [HLO_ROLE_INPUT] = MEMORY_INPUTS,
            [HLO_ROLE_HYPER] = MEMORY_PARAMETERS,
            [HLO_ROLE_OTHER_STATE] = MEMORY_PARAMETERS,
        };
        hlo_value own = b->model->fusion->buffer[p->value];
        b->kind[own] = kinds[p->role];
        if (p->role == HLO_ROLE_VARIABLE ||
            (p->role == HLO_ROLE_OPTIMIZER_STATE && p->of != HLO_NONE))
            b->of[own] = (p->role == HLO_ROLE_VARIABLE ? k : p->of) + 1;
        hlo_value gradient = p->gradient == HLO_NONE ? HLO_NONE : gradient_buffer(b, p->gradient);
        b->gradient[k] = gradient;
        if (gradient == HLO_NONE || b->kind[gradient] != MEMORY_ACTIVATIONS)
            continue;
        b->kind[gradient] = MEMORY_GRADIENTS;
        b->of[gradient] = k + 1;
    }
}

static void find_placed(struct memory_build *b)
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

/* The operand buffer that value `made` of `id`, an element-wise result, an update or a kernel's in
 * the place of an operand, overwrites: it ends here. */
static hlo_value place_for(const struct memory_build *b, hlo_id id, hlo_value made)
{
    const struct hlo_module *m = b->model->m;
    const struct hlo_instruction *i = hlo_at(m, id);
    uint16_t opcode = hlo_acts_as(m, id);
    bool elementwise =
        opcode < HLO_OP_UNKNOWN && (hlo_op_info[opcode].flags & HLO_OP_IS_ELEMENTWISE);

    int kernel = hlo_kernel_place(m, id, made - m->leaf_base[id]);

    if (!elementwise && kernel < 0 && i->opcode != HLO_OP_DYNAMIC_UPDATE_SLICE &&
        i->opcode != HLO_OP_SCATTER)
        return HLO_NONE;
    for (uint32_t k = kernel < 0 ? 0 : (uint32_t)kernel;
         k < i->operand_count && (elementwise || k == 0 || (int)k == kernel); k++) {
        hlo_id o = hlo_operand(m, id, k);
        if (m->leaf_base[o] == m->leaf_base[o + 1])
            continue;
        hlo_value v = b->model->fusion->buffer[m->leaf_base[o]];
        bool local = m->instructions[m->value_instruction[v]].computation == i->computation;
        bool argument = m->instructions[m->value_instruction[v]].opcode == HLO_OP_PARAMETER;
        if (b->model->fusion->is_stored[v] && local && !argument &&
            b->end[v] == b->model->schedule.position[id] && same_size(m, v, made))
            return v;
    }
    return HLO_NONE;
}

static bool push_range(struct memory_build *b, const struct memory_range *r)
{
    if (!mem_grow(&b->model->ranges, &b->room, b->model->count, 1))
        return false;
    b->model->ranges[b->model->count++] = *r;
    return true;
}

/* Whether the all-reduce of gradient buffer `v` leaves a piece only. */
static bool ends_in_pieces(const struct memory_build *b, hlo_value v)
{
    return b->model->batching.zero >= 2 &&
           b->model->training->variables[b->of[v] - 1].reduced_count;
}

/* Whether `id`, a loop, fills the stack of a variable's gradients slice by slice: the body reduces
 * each as it is made, so what the loop hands on is reduced, and in pieces where gradients are. */
static bool fills_stack(const struct memory_build *b, hlo_id id, const struct memory_range *r)
{
    return r->kind == MEMORY_GRADIENTS && hlo_at(b->model->m, id)->opcode == HLO_OP_WHILE &&
           b->model->training->variables[r->variable].is_stacked;
}

/* The second buffer of a value that may be all-reduced: while its result is read first. Gradients
 * are reduced together, where the last of them is made, and wait until then; so do the partial sums
 * they are added up from, where each is reduced where it arises. */
static bool add_reduced(struct memory_build *b, const struct memory_range *r)
{
    struct memory_model *model = b->model;
    hlo_value v = r->value;
    hlo_id id = model->m->value_instruction[v];
    bool in_entry = hlo_at(model->m, id)->computation == model->m->entry;
    struct memory_range second = *r;
    class_id list[ZERO_CLASSES_MOST];
    bool sums = training_sums(model->classes, id, list) > 0;
    bool is_gradient = r->kind == MEMORY_GRADIENTS && b->of[v] && in_entry;
    bool is_part = !is_gradient && in_entry && model->reduces_at_once && model->training->waits[v];

    second.storing = STORED_REDUCED;
    if (!is_gradient) {
        second.variable = UINT32_MAX;
        if (!sums)
            return true;
    }
    if (!is_gradient && !is_part) {
        second.start = second.end =
            b->begin[v] == HLO_NONE || b->begin[v] < r->start ? r->start : b->begin[v];
        return push_range(b, &second);
    }
    if (is_gradient &&
        (!model->training->variables[r->variable].reduced_count ||
         (model->reduces_at_once && !sums) || ends_in_pieces(b, v) || fills_stack(b, id, r)))
        return true;
    second.start = second.end = b->last_gradient;
    if (!push_range(b, &second))
        return false;
    second.start = r->end + 1;
    if (is_part)
        return second.start > second.end || push_range(b, &second);
    hlo_value gradient = model->training->roles->params[r->variable].gradient;
    bool is_sum =
        model->batching.micro_batches > 1 &&
        model->training->is_summed[model->fusion->buffer[gradient]]; /* lives all the time */
    return is_sum || second.start > second.end || push_range(b, &second);
}

/* What a reduction applies to elements, say, takes no memory; a loop's body does. */
static bool is_applied(const struct hlo_module *m, hlo_comp c)
{
    const struct hlo_computation *comp = &m->computations[c];

    return c != m->entry && comp->caller_count && !hlo_is_flow(m, comp->callers[0]);
}

/* What is fetched from the host is back where it is read first, not where the module says so:
 * schedulers start such copies late. */
static uint32_t start_of(const struct memory_build *b, hlo_id id, hlo_value v)
{
    uint32_t position = b->model->schedule.position[id];
    bool is_fetched = hlo_at(b->model->m, id)->is_moved &&
                      hlo_kernel_effect_of(b->model->m, id) == KERNEL_TO_DEVICE;

    return is_fetched && b->begin[v] != HLO_NONE && b->begin[v] > position ? b->begin[v] : position;
}

/* The ranges of stored value `v` that `id` makes. A gradient that is stored in pieces is whole only
 * while it is made. */
static bool add_range(struct memory_build *b, hlo_id id, hlo_value v)
{
    struct memory_model *model = b->model;
    const struct hlo_module *m = model->m;
    bool in_entry = hlo_at(m, id)->computation == m->entry;
    bool parameter = hlo_at(m, id)->opcode == HLO_OP_PARAMETER;
    uint32_t position = model->schedule.position[id];

    if (!model->fusion->is_stored[v] || model->fusion->is_on_host[v] || (parameter && !in_entry) ||
        is_applied(m, hlo_at(m, id)->computation) || hlo_value_shape(m, v)->bytes == 0)
        return true;
    if (!parameter && b->is_placed[v])
        return true;
    hlo_value place = parameter ? HLO_NONE : place_for(b, id, v);
    if (place != HLO_NONE && b->range_of[place])
        model->ranges[b->range_of[place] - 1].end = position - 1;
    struct memory_range r = {.value = v,
                             .start = start_of(b, id, v),
                             .end = b->end[v] == HLO_NONE ? position : b->end[v],
                             .kind = b->kind[v],
                             .is_argument = parameter,
                             .variable = b->of[v] - 1};
    static const uint8_t from_level[MEMORY_KIND_COUNT] = {
        [MEMORY_PARAMETERS] = 3, [MEMORY_GRADIENTS] = 2, [MEMORY_OPTIMIZER] = 1};
    bool pieces = b->of[v] && from_level[r.kind] && model->batching.zero >= from_level[r.kind];
    if (pieces && !parameter && !fills_stack(b, id, &r)) {
        struct memory_range whole = r;
        whole.end = position;
        r.start = position + 1;
        if (!push_range(b, &whole))
            return false;
        if (r.start > r.end)
            return true;
    }
    r.storing = pieces ? STORED_IN_PIECES : STORED_AS_USED;
    b->range_of[v] = model->count + 1;
    return push_range(b, &r) && (parameter || add_reduced(b, &r));
}

/* The copies of variables before their update, each over all uses of its variable. */
static bool add_updated(struct memory_build *b)
{
    uint32_t *list, count;
    bool ok = memory_copies_find(b->model, b->is_placed, &list, &count);

    for (uint32_t k = 0; k < count && ok; k++) {
        hlo_value v = b->model->training->roles->params[list[k]].value;
        struct memory_range r = {.value = v,
                                 .start = b->begin[v],
                                 .end = b->end[v],
                                 .kind = MEMORY_ACTIVATIONS,
                                 .storing = STORED_TWICE,
                                 .variable = list[k],
                                 .gradient = b->gradient[list[k]]};
        ok = r.start == HLO_NONE || push_range(b, &r);
    }
    free(list);
    return ok;
}

/* The copy of a variable that its uses in the passes share, from the first to the last. */
static bool add_copies(struct memory_build *b)
{
    for (uint32_t k = 0; k < b->model->training->roles->param_count; k++) {
        const struct memory_span *forward = &b->uses[k][0], *backward = &b->uses[k][1];
        struct memory_range r = {
            .value = b->model->training->roles->params[k].value,
            .start = forward->first < backward->first ? forward->first : backward->first,
            .end = forward->last > backward->last ? forward->last : backward->last,
            .kind = MEMORY_ACTIVATIONS,
            .storing = STORED_COPY,
            .variable = k};
        if (r.start != HLO_NONE && !push_range(b, &r))
            return false;
    }
    return true;
}

typedef bool find_ranges(const struct memory_model *m, struct memory_range **list, uint32_t *count);

static bool add_found(struct memory_build *b, find_ranges *find)
{
    struct memory_range *list;
    uint32_t count;
    bool ok = find(b->model, &list, &count);

    for (uint32_t k = 0; k < count && ok; k++)
        ok = push_range(b, &list[k]);
    free(list);
    return ok;
}

/* Accumulators, and whole copies of variables that are stored in pieces. */
static bool add_batching(struct memory_build *b)
{
    struct memory_model *model = b->model;
    const struct hlo_module *m = model->m;
    const struct hlo_computation *entry = &m->computations[m->entry];
    uint32_t last = entry->first + entry->count - 1;

    for (hlo_value v = m->leaf_base[entry->first];
         v < m->leaf_base[last + 1] && model->batching.micro_batches > 1; v++) {
        if (!model->training->is_summed[v])
            continue;
        uint32_t of = b->of[gradient_buffer(b, v)]; /* the sum may be of its transpose */
        struct memory_range r = {.value = v,
                                 .start = entry->first,
                                 .end = last,
                                 .kind = MEMORY_GRADIENTS,
                                 .storing = of && model->batching.zero >= 2 ? STORED_IN_PIECES
                                                                            : STORED_AS_USED,
                                 .variable = of - 1};
        if (!push_range(b, &r))
            return false;
    }
    for (uint32_t k = 0; k < model->training->roles->param_count && model->batching.zero >= 3;
         k++) {
        for (int pass = 0; pass < 2; pass++) {
            struct memory_range r = {.value = model->training->roles->params[k].value,
                                     .start = b->uses[k][pass].first,
                                     .end = b->uses[k][pass].last,
                                     .kind = MEMORY_PARAMETERS,
                                     .storing = STORED_GATHERED,
                                     .variable = k};
            if (r.start != HLO_NONE && model->training->variables[k].reduced_count &&
                !push_range(b, &r))
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

/* Whether value `v` of the entry is reduced together with the gradients. */
static bool is_reduced_last(const struct memory_build *b, hlo_value v)
{
    const struct memory_model *model = b->model;
    hlo_value buffer = model->fusion->buffer[v];
    class_id list[ZERO_CLASSES_MOST];

    if (!model->reduces_at_once)
        return b->kind[v] == MEMORY_GRADIENTS && buffer == v;
    return (b->kind[buffer] == MEMORY_GRADIENTS || model->training->waits[v]) &&
           training_sums(model->classes, model->m->value_instruction[v], list);
}

static void find_last_gradient(struct memory_build *b)
{
    const struct hlo_module *m = b->model->m;
    const struct hlo_computation *entry = &m->computations[m->entry];

    b->last_gradient = entry->first;
    for (hlo_value v = m->leaf_base[entry->first]; v < m->leaf_base[entry->first + entry->count];
         v++) {
        uint32_t at = b->model->schedule.position[m->value_instruction[v]];
        if (at > b->last_gradient && is_reduced_last(b, v))
            b->last_gradient = at;
    }
}

static bool make_ranges(struct memory_build *b)
{
    const struct hlo_module *m = b->model->m;

    find_last_gradient(b);
    for (uint32_t n = 0; n < m->count; n++) {
        hlo_id id = b->model->schedule.order[n];
        for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
            if (!add_range(b, id, v))
                return false;
        }
    }
    return add_batching(b) && add_copies(b) && add_found(b, memory_whole_find) &&
           add_found(b, memory_beside_find) &&
           (b->model->batching.micro_batches > 1 || add_updated(b)) && sort_ranges(b->model);
}

void memory_release(struct memory_model *m)
{
    instruction_order_release(&m->schedule);
    free(m->again);
    free(m->ranges);
    free(m->first);
    free(m->by_end);
    memset(m, 0, sizeof *m);
}

static void build_release(struct memory_build *b)
{
    free(b->end);
    free(b->begin);
    free(b->again);
    free(b->kind);
    free(b->is_placed);
    free(b->range_of);
    free(b->of);
    free(b->uses);
    free(b->gradient);
}

static bool build_init(struct memory_build *b)
{
    size_t values = b->model->m->value_count;

    b->end = mem_try(values, sizeof *b->end);
    b->begin = mem_try(values, sizeof *b->begin);
    b->again = mem_try(values, sizeof *b->again);
    b->kind = mem_try(values, 1);
    b->is_placed = mem_try(values, 1);
    b->gradient = mem_try(b->model->training->roles->param_count, sizeof *b->gradient);
    b->range_of = mem_try(values, sizeof *b->range_of);
    b->of = mem_try(values, sizeof *b->of);
    b->uses = mem_try(b->model->training->roles->param_count, sizeof *b->uses);
    if (!b->end || !b->begin || !b->again || !b->kind || !b->is_placed || !b->range_of || !b->of ||
        !b->uses || !b->gradient)
        return false;
    find_kinds(b);
    find_placed(b);
    return true;
}

/* The ranges of b->model under its schedule and batching. */
static bool build_ranges(struct memory_build *b)
{
    b->room = 0;
    memset(b->range_of, 0, b->model->m->value_count * sizeof *b->range_of);
    b->model->again = mem_try(b->model->m->value_count, sizeof *b->model->again);
    if (!b->model->again)
        return false;
    memory_find_reads(b);
    return make_ranges(b);
}

int memory_new(const struct training *t, const struct fusion *f, bool reduces_at_once,
               struct memory_model *out, struct err *e)
{
    struct memory_model model = {.reduces_at_once = reduces_at_once,
                                 .m = t->classes->m,
                                 .classes = t->classes,
                                 .training = t,
                                 .fusion = f,
                                 .batching = {.micro_batches = 1}};
    struct memory_build b = {.model = &model};
    int rc = build_init(&b) ? instruction_order_depth_first(model.m, f, &model.schedule, e)
                            : err_no_memory(e, MEMORY_FOR);

    if (rc)
        goto out;
    if (!build_ranges(&b))
        rc = err_no_memory(e, MEMORY_FOR);
out:
    build_release(&b);
    if (rc)
        memory_release(&model);
    else
        *out = model;
    return rc;
}

int memory_new_listed(const struct memory_model *from, struct memory_model *out, struct err *e)
{
    struct memory_model model = {.reduces_at_once = from->reduces_at_once,
                                 .m = from->m,
                                 .classes = from->classes,
                                 .training = from->training,
                                 .fusion = from->fusion,
                                 .batching = from->batching,
                                 .is_listed = true};
    struct memory_build b = {.model = &model};
    int rc = build_init(&b)
                 ? instruction_order_list(model.m, model.fusion, b.is_placed, &model.schedule, e)
                 : err_no_memory(e, MEMORY_FOR);

    if (rc)
        goto out;
    if (!build_ranges(&b))
        rc = err_no_memory(e, MEMORY_FOR);
out:
    build_release(&b);
    if (rc)
        memory_release(&model);
    else
        *out = model;
    return rc;
}

int memory_set_batch_and_zero(struct memory_model *m, const struct batch_and_zero *r, struct err *e)
{
    struct memory_model next = *m;
    struct memory_build b = {.model = &next};

    if (r->micro_batches == m->batching.micro_batches && r->zero == m->batching.zero)
        return 0;
    next.ranges = NULL;
    next.first = next.by_end = next.again = NULL;
    next.count = 0;
    next.batching = *r;
    bool ok = build_init(&b) && build_ranges(&b);
    build_release(&b);
    struct memory_model *old = ok ? m : &next;
    free(old->ranges);
    free(old->again);
    free(old->first);
    free(old->by_end);
    if (ok)
        *m = next;
    return ok ? 0 : err_no_memory(e, MEMORY_FOR);
}
