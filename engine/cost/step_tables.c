#include "engine/cost/step_tables.h"

#include "engine/cost/free_cost.h"
#include "engine/cost/gathers.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the costs of this module";

/* ---- one instruction ---- */

/* How an instruction is split: by the labels of its factors' classes, or factor by factor. */
struct split {
    const label *on;     /* [classes], or NULL */
    const double *share; /* [factors of the instruction] when `on` is NULL */
};

static double share_of(const struct step_tables *t, hlo_id id, uint32_t k, struct split split)
{
    const struct classes *c = t->labels->classes;
    class_id class = c->factors[k].class;

    if (c->runs_whole[id])
        return 1;
    if (!split.on)
        return split.share[k - c->factor_base[id]];
    return class == CLASS_NONE ? 1 : label_share(t->labels, class, split.on[class]);
}

/* Local part of leaf `leaf`: the product of the shares of the factors that bind a dim of it. */
static double leaf_share(const struct step_tables *t, hlo_id id, uint32_t leaf, struct split split)
{
    const struct classes *c = t->labels->classes;
    double share = 1;

    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1]; k++) {
        if (c->leaf_dims[c->factors[k].dims + leaf] >= 0)
            share *= share_of(t, id, k, split);
    }
    return share;
}

static uint32_t operand_leaf_count(const struct classes *c, hlo_id id)
{
    uint32_t results = c->m->leaf_base[id + 1] - c->m->leaf_base[id];

    return class_leaf_count(c, id) - results;
}

/* Reducing factors, and those that reduce inside the instruction (batch-norm statistics). */
static bool is_reducing(const struct class_factor *f)
{
    return (f->kind == HLO_FACTOR_REDUCE || f->kind == HLO_FACTOR_INSIDE) && f->class != CLASS_NONE;
}

/* Results that one split reducing factor leaves partial: those in which it binds no dim. */
static struct reduction reduction_of(const struct step_tables *t, hlo_id id,
                                     const struct class_factor *f, label over, struct split split)
{
    const struct classes *c = t->labels->classes;
    struct reduction r = {.kind = COLLECTIVE_ALL_REDUCE, .class = f->class, .over = over};
    bool waits = true;

    for (uint32_t leaf = operand_leaf_count(c, id); leaf < class_leaf_count(c, id); leaf++) {
        if (c->leaf_dims[f->dims + leaf] >= 0)
            continue;
        hlo_value v = hlo_factors_value(c->m, id, leaf);
        r.bytes += (double)hlo_value_shape(c->m, v)->bytes * leaf_share(t, id, leaf, split);
        r.count++;
        waits &= t->training->waits[v];
    }
    r.times = waits ? t->costs->times[id] : step_tables_times(t, id);
    r.ms = r.count ? collective_ms(t->mesh, COLLECTIVE_ALL_REDUCE, r.over, r.bytes) : 0;
    if (waits && t->overlap.is_bounded)
        r.beside_ms = r.ms;
    if (waits)
        r.ms *= 1 - t->overlap.hidden;
    return r;
}

uint32_t step_tables_reductions(const struct step_tables *t, hlo_id id, const label *on,
                                struct reduction out[static TERM_CLASSES_MOST])
{
    const struct classes *c = t->labels->classes;
    uint32_t count = 0;

    if (class_leaf_count(c, id) == 0)
        return 0;
    if (c->runs_whole[id])
        return gathers_of(t, id, on, out);
    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1] && count < TERM_CLASSES_MOST;
         k++) {
        const struct class_factor *f = &c->factors[k];
        if (!is_reducing(f) || !on[f->class] || (t->joined && t->joined->part[k] == SUM_JOINED))
            continue;
        out[count] = reduction_of(t, id, f, on[f->class], (struct split){on, NULL});
        count += out[count].count > 0;
    }
    return count;
}

/* How often leaf `leaf` of an instruction is moved, by kernels that read and write there. */
static double leaf_weight(const struct step_tables *t, hlo_id id, uint32_t leaf)
{
    return t->traffic->weight[t->labels->classes->leaf_base[id] + leaf];
}

/* Bytes one device reads and writes in one execution. */
static double local_traffic(const struct step_tables *t, hlo_id id, struct split split)
{
    const struct classes *c = t->labels->classes;
    double bytes = 0;

    for (uint32_t leaf = 0; leaf < class_leaf_count(c, id); leaf++) {
        hlo_value v = hlo_factors_value(c->m, id, leaf);
        double weight = leaf_weight(t, id, leaf);
        if (weight > 0)
            bytes +=
                weight * (double)hlo_value_shape(c->m, v)->bytes * leaf_share(t, id, leaf, split);
    }
    return bytes;
}

/* Operations that start a kernel of their own; element-wise work rides along with others. */
static bool is_heavy(uint16_t opcode)
{
    switch (opcode) {
    case HLO_OP_DOT:
    case HLO_OP_RAGGED_DOT:
    case HLO_OP_SCALED_DOT:
    case HLO_OP_CONVOLUTION:
    case HLO_OP_SORT:
    case HLO_OP_FFT:
    case HLO_OP_CHOLESKY:
    case HLO_OP_TRIANGULAR_SOLVE:
    case HLO_OP_CUSTOM_CALL:
        return true;
    default:
        return false;
    }
}

static enum peak_type peak_type_of(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    hlo_value v = i->operand_count ? m->leaf_base[hlo_operand(m, id, 0)] : m->leaf_base[id];

    return v < m->value_count ? cluster_peak_type(hlo_value_shape(m, v)->type) : PEAK_F32;
}

/* ---- products ---- */

enum product_dim { PRODUCT_BATCH, PRODUCT_M, PRODUCT_N, PRODUCT_K, PRODUCT_DIMS };

/* Which size of a product a factor is: its loop index is in the left operand, the right one, the
 * result. */
static enum product_dim product_dim_of(const struct classes *c, hlo_id id,
                                       const struct class_factor *f)
{
    const int8_t *dims = c->leaf_dims + f->dims;
    bool left = dims[0] >= 0, right = dims[1] >= 0, result = dims[operand_leaf_count(c, id)] >= 0;

    return !result ? PRODUCT_K : left && right ? PRODUCT_BATCH : left ? PRODUCT_M : PRODUCT_N;
}

static bool is_product(const struct classes *c, hlo_id id)
{
    uint16_t opcode = hlo_at(c->m, id)->opcode;

    return (opcode == HLO_OP_DOT || opcode == HLO_OP_CONVOLUTION) && operand_leaf_count(c, id) == 2;
}

/* Sizes of a product or convolution. n and batch are those of its factors; windows belong to m, so
 * m and k are what the result's elements and the flops leave. */
static struct product whole_product(const struct step_tables *t, hlo_id id)
{
    const struct classes *c = t->labels->classes;
    double elements = (double)hlo_shape(c->m, id)->elements;
    double flops = t->costs->instruction[id].flops;
    struct product p = {.n = 1, .batch = 1};

    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1]; k++) {
        const struct class_factor *f = &c->factors[k];
        enum product_dim dim = product_dim_of(c, id, f);
        p.n *= dim == PRODUCT_N ? (double)f->size : 1;
        p.batch *= dim == PRODUCT_BATCH ? (double)f->size : 1;
    }
    if (elements <= 0 || flops <= 0)
        return (struct product){0};
    p.m = elements / (p.n * p.batch);
    p.k = flops / (2 * elements);
    return p;
}

static void scale_product(struct product *p, enum product_dim dim, double share)
{
    double *size = dim == PRODUCT_M   ? &p->m
                   : dim == PRODUCT_N ? &p->n
                   : dim == PRODUCT_K ? &p->k
                                      : &p->batch;

    *size = ceil(*size * share - 1e-9);
}

static struct product local_product(const struct step_tables *t, hlo_id id, struct split split)
{
    const struct classes *c = t->labels->classes;
    struct product p = {0};

    if (!is_product(c, id) || t->device.matmul.reach <= 0)
        return p;
    p = whole_product(t, id);
    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1] && p.m > 0; k++)
        scale_product(&p, product_dim_of(c, id, &c->factors[k]), share_of(t, id, k, split));
    return p;
}

static double attention_ms(const struct attention *a, const struct cluster_device *d, hlo_id id,
                           enum peak_type type, double flops)
{
    return flops * a->work[id] / attention_rate(d, type, attention_is_backward(a, id)) * 1e3;
}

/* Flops, bytes and computing of one instruction. What only passes values on, and free values that
 * every use makes for itself, cost nothing. */
static struct instruction_cost compute_of(const struct step_tables *t, hlo_id id,
                                          struct split split)
{
    const struct classes *c = t->labels->classes;
    struct instruction_cost out = {.times = step_tables_times(t, id)};
    double shares = 1;

    if (class_leaf_count(c, id) == 0)
        return free_cost(t, id);
    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1]; k++)
        shares *= share_of(t, id, k, split);
    out.flops = fmax(t->costs->instruction[id].flops, 0) * shares;
    out.bytes = local_traffic(t, id, split);
    struct product p = local_product(t, id, split);
    double ms = t->attention->work[id] > 0
                    ? attention_ms(t->attention, &t->device, id, peak_type_of(c->m, id), out.flops)
                    : product_ms(&t->device, peak_type_of(c->m, id), &p, out.flops);
    ms = fmax(ms, out.bytes / cluster_bandwidth(&t->device) * 1e3);
    if (is_heavy(hlo_at(c->m, id)->opcode))
        ms += t->device.launch_ms;
    if (t->measured_ms && t->measured_ms[id] >= 0)
        ms = t->measured_ms[id] * shares;
    out.compute_ms = ms * out.times;
    return out;
}

double step_tables_compute_ms(const struct step_tables *t, hlo_id id, const double *share)
{
    return compute_of(t, id, (struct split){NULL, share}).compute_ms;
}

struct reduction step_tables_reduction(const struct step_tables *t, hlo_id id, uint32_t factor,
                                       label over, const double *share)
{
    const struct class_factor *f = &t->labels->classes->factors[factor];

    if (!is_reducing(f) || !over || t->labels->classes->runs_whole[id])
        return (struct reduction){.class = f->class};
    return reduction_of(t, id, f, over, (struct split){NULL, share});
}

struct instruction_cost step_tables_instruction(const struct step_tables *t, hlo_id id,
                                                const label *on)
{
    struct instruction_cost out = compute_of(t, id, (struct split){on, NULL});
    struct reduction list[TERM_CLASSES_MOST];
    uint32_t count = step_tables_reductions(t, id, on, list);
    for (uint32_t k = 0; k < count; k++) {
        bool reduces = list[k].kind == COLLECTIVE_ALL_REDUCE;
        out.reduced_over |= reduces ? list[k].over : 0;
        out.reduced_bytes += reduces ? list[k].bytes : 0;
        out.reduced_count += reduces ? list[k].count : 0;
        out.communication_ms += list[k].times * list[k].ms;
        out.beside_ms += list[k].times * list[k].beside_ms;
    }
    return out;
}

/* ---- one instruction, by the size of one class ---- */

/* Splits the bytes of its leaves into those that grow with class `k` and the rest. */
static void scale_traffic(const struct step_tables *t, hlo_id id, class_id k,
                          struct instruction_scaling *s)
{
    const struct classes *c = t->labels->classes;

    for (uint32_t leaf = 0; leaf < class_leaf_count(c, id); leaf++) {
        hlo_value v = hlo_factors_value(c->m, id, leaf);
        double bytes = leaf_weight(t, id, leaf) * (double)hlo_value_shape(c->m, v)->bytes;
        bool grows = false;
        for (uint32_t n = c->factor_base[id]; n < c->factor_base[id + 1] && !grows; n++)
            grows = c->factors[n].class == k && c->leaf_dims[c->factors[n].dims + leaf] >= 0;
        *(grows ? &s->bytes_per_x : &s->bytes) += bytes;
    }
}

struct instruction_scaling step_tables_scaling(const struct step_tables *t, hlo_id id, class_id k)
{
    const struct classes *c = t->labels->classes;
    struct instruction_scaling s = {.measured_ms = -1};

    if (class_leaf_count(c, id) == 0)
        return s;
    for (uint32_t n = c->factor_base[id]; n < c->factor_base[id + 1]; n++)
        s.has_class |= c->factors[n].class == k;
    *(s.has_class ? &s.flops_per_x : &s.flops) = fmax(t->costs->instruction[id].flops, 0);
    scale_traffic(t, id, k, &s);
    s.is_heavy = is_heavy(hlo_at(c->m, id)->opcode);
    s.peak = peak_type_of(c->m, id);
    s.work = t->attention->work[id];
    s.is_backward = attention_is_backward(t->attention, id);
    if (is_product(c, id)) {
        s.product = whole_product(t, id);
        for (uint32_t n = c->factor_base[id]; n < c->factor_base[id + 1]; n++) {
            if (c->factors[n].class == k)
                s.growing = (uint8_t)product_dim_of(c, id, &c->factors[n]);
        }
    }
    if (t->measured_ms)
        s.measured_ms = t->measured_ms[id];
    return s;
}

double instruction_scaling_ms(const struct instruction_scaling *s, const struct cluster_device *d,
                              double x)
{
    if (s->measured_ms >= 0)
        return s->has_class ? s->measured_ms * x : s->measured_ms;
    struct product p = s->product;
    if (p.m > 0 && s->has_class)
        scale_product(&p, (enum product_dim)s->growing, x);
    double flops = s->flops + s->flops_per_x * x;
    double ms =
        fmax(s->work > 0 ? flops * s->work / attention_rate(d, s->peak, s->is_backward) * 1e3
                         : product_ms(d, s->peak, &p, flops),
             (s->bytes + s->bytes_per_x * x) / cluster_bandwidth(d) * 1e3);
    return s->is_heavy ? ms + d->launch_ms : ms;
}

struct storage_cost step_tables_storage(const struct step_tables *t, uint32_t param,
                                        const label *on)
{
    const struct classes *c = t->labels->classes;
    hlo_value v = t->training->roles->params[param].value;
    const struct hlo_shape *s = hlo_value_shape(c->m, v);
    struct storage_cost out = {.over =
                                   t->batching.zero ? training_axes(t->training, param, on) : 0};
    uint32_t k = t->batching.micro_batches;

    if (training_piece(t->training, t->labels, on, v, out.over) >= 1)
        out.over = 0;
    if (!out.over)
        return out;
    out.bytes = (double)s->bytes;
    for (uint32_t d = 0; d < s->rank; d++) {
        class_id class = c->class_of[class_dim(c, v, d)];
        out.bytes *= class == CLASS_NONE ? 1 : label_part(t->labels, class, on[class], s->dims[d]);
    }
    out.scatters = t->batching.zero >= 2 ? k - 1 : 0;
    out.gathers = t->batching.zero >= 3 ? 2 * k - 1 : 0;
    out.ms = collective_ms(t->mesh, COLLECTIVE_ALL_GATHER, out.over, out.bytes);
    if (t->overlap.is_bounded) {
        out.beside_ms = out.ms;
        out.ms *= 1 - t->overlap.hidden;
    }
    return out;
}

/* ---- tables ---- */

struct build {
    struct step_tables *t;
    struct err *e;
    label *on; /* [classes] scratch: all empty between uses */
    size_t item_room, pool_room, pool_count, table_room, communication_room, beside_room,
        table_count;
    uint32_t *term_slots; /* class tuple -> term + 1 */
    size_t term_slot_count;
    struct pattern *patterns; /* instructions that cost alike -> their table */
    size_t pattern_count, pattern_room;
    uint32_t *pattern_slots;
    size_t pattern_slot_count;
    double *rows; /* patterns' tables: compute, then communication */
    size_t row_count, row_room;
};

struct pattern {
    uint64_t hash[2];
    size_t row;
};

static uint32_t power(uint32_t base, uint32_t exponent)
{
    uint32_t p = 1;

    while (exponent--)
        p *= base;
    return p;
}

/* Adds a class that can be split to an ascending list without repetition. False when it is full. */
static bool add_class(const struct step_tables *t, class_id class, class_id *list, uint32_t *count)
{
    uint32_t at = *count;

    if (class == CLASS_NONE || !label_is_splittable(t->labels, class))
        return true;
    for (uint32_t k = 0; k < *count; k++) {
        if (list[k] == class)
            return true;
    }
    if (at == TERM_CLASSES_MOST)
        return false;
    for (; at && list[at - 1] > class; at--)
        list[at] = list[at - 1];
    list[at] = class;
    ++*count;
    return true;
}

/* Splittable classes of an instruction, ascending. False when there are too many. */
static bool classes_of(const struct step_tables *t, hlo_id id, class_id *list, uint32_t *count)
{
    const struct classes *c = t->labels->classes;
    bool ok = true;

    *count = 0;
    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1] && ok; k++)
        ok = add_class(t, c->factors[k].class, list, count);
    return ok;
}

/* Two independent 64-bit hashes of all an instruction's table depends on. */
static void hash_pattern(const struct step_tables *t, hlo_id id, const class_id *list,
                         uint32_t count, uint64_t hash[2])
{
    const struct classes *c = t->labels->classes;
    uint32_t leaves = class_leaf_count(c, id);
    struct {
        double flops, bytes, times, measured;
        uint64_t opcode, count, is_once, runs_whole;
        double work;
        uint64_t backward;
    } head = {t->costs->instruction[id].flops,
              t->costs->instruction[id].bytes,
              t->costs->times[id],
              t->measured_ms ? t->measured_ms[id] : -1,
              hlo_at(c->m, id)->opcode,
              count,
              t->training->is_once[id],
              c->runs_whole[id],
              t->attention->work[id],
              attention_is_backward(t->attention, id)};

    for (int h = 0; h < 2; h++) {
        uint64_t x = mem_hash(&head, sizeof head, (uint64_t)h * 0x5851f42d4c957f2du + 1);
        for (uint32_t leaf = 0; leaf < leaves; leaf++) {
            hlo_value v = hlo_factors_value(c->m, id, leaf);
            uint32_t key[4] = {c->m->shapes[c->m->value_shape[v]].bare,
                               t->traffic->weight[c->leaf_base[id] + leaf], t->training->waits[v],
                               c->is_gathered[c->leaf_base[id] + leaf]};
            x = mem_hash(key, sizeof key, x);
        }
        for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1]; k++) {
            const struct class_factor *f = &c->factors[k];
            uint32_t at = 0;
            while (at < count && list[at] != f->class)
                at++;
            bool joined = t->joined && t->joined->part[k] == SUM_JOINED;
            uint64_t key[4] = {f->kind | (uint64_t)joined << 8, at,
                               f->class == CLASS_NONE ? 0 : t->labels->kind[f->class],
                               at < count ? t->labels->admissible[f->class] : 0};
            x = mem_hash(key, sizeof key, x);
            x = mem_hash(c->leaf_dims + f->dims, leaves, x);
        }
        hash[h] = x;
    }
}

/* Sets b->on to entry `entry` of a table over `list`. False when a label is not admissible. */
static bool set_entry(struct build *b, const class_id *list, uint32_t count, uint32_t entry)
{
    bool ok = true;

    for (uint32_t n = 0; n < count; n++)
        b->on[list[n]] = 0;
    for (uint32_t x = 0; x < b->t->labels->axes; x++, entry /= count + 1) {
        if (entry % (count + 1))
            b->on[list[entry % (count + 1) - 1]] |= (label)(1u << x);
    }
    for (uint32_t n = 0; n < count; n++)
        ok &= label_is_admissible(b->t->labels, list[n], b->on[list[n]]);
    return ok;
}

/* Writes the table of instruction `id`: every way its classes can share out the axes. Entries whose
 * labels are not admissible stay infinite; no assignment can reach them. */
static void fill_row(struct build *b, hlo_id id, const class_id *list, uint32_t count,
                     uint32_t entries, double *row)
{
    for (uint32_t entry = 0; entry < entries; entry++) {
        struct instruction_cost cost = {.compute_ms = INFINITY};
        if (set_entry(b, list, count, entry))
            cost = step_tables_instruction(b->t, id, b->on);
        row[entry] = cost.compute_ms;
        row[entries + entry] = cost.communication_ms;
        row[2 * entries + entry] = cost.beside_ms;
    }
    for (uint32_t n = 0; n < count; n++)
        b->on[list[n]] = 0;
}

static bool slots_double(uint32_t **slots, size_t *count)
{
    size_t next = *count ? *count * 2 : 1024;
    uint32_t *grown = mem_try(next, sizeof *grown);

    if (!grown)
        return false;
    free(*slots);
    *slots = grown;
    *count = next;
    return true;
}

/* The row of an instruction like `id`; computed when it is the first of its kind. */
static bool find_row(struct build *b, hlo_id id, const class_id *list, uint32_t count,
                     uint32_t entries, size_t *row)
{
    uint64_t hash[2];

    if (b->pattern_count * 2 >= b->pattern_slot_count) {
        if (!slots_double(&b->pattern_slots, &b->pattern_slot_count))
            return false;
        for (size_t k = 0; k < b->pattern_count; k++) {
            size_t i = b->patterns[k].hash[0] & (b->pattern_slot_count - 1);
            while (b->pattern_slots[i])
                i = (i + 1) & (b->pattern_slot_count - 1);
            b->pattern_slots[i] = (uint32_t)k + 1;
        }
    }
    hash_pattern(b->t, id, list, count, hash);
    size_t i = hash[0] & (b->pattern_slot_count - 1);
    for (; b->pattern_slots[i]; i = (i + 1) & (b->pattern_slot_count - 1)) {
        const struct pattern *p = &b->patterns[b->pattern_slots[i] - 1];
        if (p->hash[0] == hash[0] && p->hash[1] == hash[1]) {
            *row = p->row;
            return true;
        }
    }
    if (!mem_grow(&b->patterns, &b->pattern_room, b->pattern_count, 1) ||
        !mem_grow(&b->rows, &b->row_room, b->row_count, (size_t)entries * 3))
        return false;
    *row = b->row_count;
    fill_row(b, id, list, count, entries, b->rows + *row);
    b->row_count += (size_t)entries * 3;
    b->patterns[b->pattern_count++] = (struct pattern){{hash[0], hash[1]}, *row};
    b->pattern_slots[i] = (uint32_t)b->pattern_count;
    return true;
}

static uint64_t hash_classes(const class_id *list, uint32_t count)
{
    return mem_hash(list, count * sizeof *list, count);
}

static bool add_term(struct build *b, const class_id *list, uint32_t count, uint32_t entries,
                     uint32_t *out)
{
    struct step_tables *t = b->t;

    if (!mem_grow(&t->items, &b->item_room, t->count, 1) ||
        !mem_grow(&t->class_pool, &b->pool_room, b->pool_count, count) ||
        !mem_grow(&t->compute_ms, &b->table_room, b->table_count, entries) ||
        !mem_grow(&t->communication_ms, &b->communication_room, b->table_count, entries) ||
        !mem_grow(&t->beside_ms, &b->beside_room, b->table_count, entries))
        return false;
    *out = t->count++;
    t->items[*out] =
        (struct term){(uint32_t)b->pool_count, count, (uint32_t)b->table_count, entries};
    memcpy(t->class_pool + b->pool_count, list, count * sizeof *list);
    memset(t->compute_ms + b->table_count, 0, entries * sizeof(double));
    memset(t->communication_ms + b->table_count, 0, entries * sizeof(double));
    memset(t->beside_ms + b->table_count, 0, entries * sizeof(double));
    b->pool_count += count;
    b->table_count += entries;
    return true;
}

static bool find_term(struct build *b, const class_id *list, uint32_t count, uint32_t entries,
                      uint32_t *out)
{
    struct step_tables *t = b->t;

    if ((size_t)t->count * 2 >= b->term_slot_count) {
        if (!slots_double(&b->term_slots, &b->term_slot_count))
            return false;
        for (uint32_t k = 0; k < t->count; k++) {
            size_t i = hash_classes(t->class_pool + t->items[k].classes, t->items[k].class_count) &
                       (b->term_slot_count - 1);
            while (b->term_slots[i])
                i = (i + 1) & (b->term_slot_count - 1);
            b->term_slots[i] = k + 1;
        }
    }
    size_t i = hash_classes(list, count) & (b->term_slot_count - 1);
    for (; b->term_slots[i]; i = (i + 1) & (b->term_slot_count - 1)) {
        *out = b->term_slots[i] - 1;
        const struct term *term = &t->items[*out];
        if (term->class_count == count &&
            !memcmp(t->class_pool + term->classes, list, count * sizeof *list))
            return true;
    }
    if (!add_term(b, list, count, entries, out))
        return false;
    b->term_slots[i] = *out + 1;
    return true;
}

static int add_instruction(struct build *b, hlo_id id)
{
    struct step_tables *t = b->t;
    class_id list[TERM_CLASSES_MOST];
    uint32_t count, index;
    size_t row;

    if (t->costs->times[id] <= 0)
        return 0;
    if (class_leaf_count(t->labels->classes, id) == 0) {
        t->free_ms += free_cost(t, id).compute_ms;
        return 0;
    }
    if (!classes_of(t, id, list, &count))
        return err_set(b->e, ERR_LIMIT, "%.100s can be split in more than %d ways",
                       hlo_name(t->labels->classes->m, id), TERM_CLASSES_MOST);
    if (!count) {
        t->fixed_ms += step_tables_instruction(t, id, b->on).compute_ms;
        return 0;
    }
    uint32_t entries = power(count + 1, t->labels->axes);
    if (!find_row(b, id, list, count, entries, &row) || !find_term(b, list, count, entries, &index))
        return err_no_memory(b->e, MEMORY_FOR);
    const struct term *term = &t->items[index];
    for (uint32_t n = 0; n < entries; n++) {
        t->compute_ms[term->table + n] += b->rows[row + n];
        t->communication_ms[term->table + n] += b->rows[row + entries + n];
        t->beside_ms[term->table + n] += b->rows[row + 2 * entries + n];
    }
    return 0;
}

/* What storing a variable in pieces costs, over the classes of its dims and of its reductions. */
static int add_storage(struct build *b, uint32_t param)
{
    struct step_tables *t = b->t;
    const struct classes *c = t->labels->classes;
    const struct training_variable *v = &t->training->variables[param];
    hlo_value value = t->training->roles->params[param].value;
    class_id list[TERM_CLASSES_MOST];
    uint32_t count = 0, index;
    bool ok = true;

    for (uint32_t k = 0; k < v->reduced_count && ok; k++)
        ok = add_class(t, v->reduced[k], list, &count);
    if (!count)
        return 0;
    for (dim_id d = c->dim_base[value]; d < c->dim_base[value + 1] && ok; d++)
        ok = add_class(t, c->class_of[d], list, &count);
    if (!ok)
        return err_set(b->e, ERR_LIMIT, "%.100s can be stored in more than %d ways",
                       t->training->roles->params[param].name, TERM_CLASSES_MOST);
    uint32_t entries = power(count + 1, t->labels->axes);
    if (!find_term(b, list, count, entries, &index))
        return err_no_memory(b->e, MEMORY_FOR);
    for (uint32_t n = 0; n < entries; n++) {
        if (!set_entry(b, list, count, n))
            continue;
        struct storage_cost s = step_tables_storage(t, param, b->on);
        t->communication_ms[t->items[index].table + n] += (s.scatters + s.gathers) * s.ms;
        t->beside_ms[t->items[index].table + n] += (s.scatters + s.gathers) * s.beside_ms;
    }
    for (uint32_t n = 0; n < count; n++)
        b->on[list[n]] = 0;
    return 0;
}

static int index_terms(struct build *b)
{
    struct step_tables *t = b->t;
    class_id count = t->labels->classes->count;

    t->of_class = mem_try((size_t)count + 2, sizeof *t->of_class);
    t->class_terms = mem_try(b->pool_count, sizeof *t->class_terms);
    if (!t->of_class || !t->class_terms)
        return err_no_memory(b->e, MEMORY_FOR);
    for (size_t k = 0; k < b->pool_count; k++)
        t->of_class[t->class_pool[k] + 2]++;
    for (class_id k = 0; k < count; k++)
        t->of_class[k + 1] += t->of_class[k];
    for (uint32_t n = 0; n < t->count; n++) {
        for (uint32_t k = 0; k < t->items[n].class_count; k++)
            t->class_terms[t->of_class[t->class_pool[t->items[n].classes + k] + 1]++] = n;
    }
    return 0;
}

/* What computation hides: a fixed part, or as much as it can. */
static struct overlap overlap_of(const struct cluster *c, const struct batch_and_zero *b)
{
    static const double SHOWN = 0.1, OF_GPU = 0.15;
    struct overlap o = {.hidden = b->overlap};

    if (b->overlap >= 0)
        return o;
    o.is_bounded = true;
    o.taken = c->group[0].link.kind == LINK_TORUS ? 0 : OF_GPU;
    o.hidden = 1 - SHOWN - o.taken;
    return o;
}

int step_tables_new(const struct labels *l, const struct cluster_mesh *mesh,
                    const struct cluster *cluster, const struct hlo_costs *costs,
                    const struct traffic *traffic, const struct attention *attention,
                    const double *measured_ms, const struct training *training,
                    const struct joined_sums *joined, const struct batch_and_zero *batching,
                    struct step_tables *out, struct err *e)
{
    struct step_tables t = {.labels = l,
                            .mesh = mesh,
                            .costs = costs,
                            .device = cluster_weakest(cluster),
                            .traffic = traffic,
                            .attention = attention,
                            .measured_ms = measured_ms,
                            .training = training,
                            .joined = joined,
                            .batching = *batching,
                            .overlap = overlap_of(cluster, batching)};
    struct build b = {.t = &t, .e = e};
    int rc = 0;

    b.on = mem_try(l->classes->count, sizeof *b.on);
    if (!b.on)
        rc = err_no_memory(e, MEMORY_FOR);
    for (hlo_id id = 0; id < l->classes->m->count && !rc; id++)
        rc = add_instruction(&b, id);
    for (uint32_t k = 0; k < training->roles->param_count && !rc && batching->zero > 1; k++)
        rc = add_storage(&b, k);
    if (!rc)
        rc = index_terms(&b);
    t.fixed_ms += t.free_ms;
    free(b.on);
    free(b.term_slots);
    free(b.patterns);
    free(b.pattern_slots);
    free(b.rows);
    if (rc)
        step_tables_release(&t);
    else
        *out = t;
    return rc;
}

void step_tables_release(struct step_tables *t)
{
    free(t->items);
    free(t->class_pool);
    free(t->compute_ms);
    free(t->communication_ms);
    free(t->beside_ms);
    free(t->of_class);
    free(t->class_terms);
    memset(t, 0, sizeof *t);
}

static void add_term_cost(const struct step_tables *t, const struct term *term, const label *on,
                          struct step_cost *sum)
{
    uint32_t at = term->table + term_entry(t, term, on);

    sum->compute_ms += t->compute_ms[at];
    sum->communication_ms += t->communication_ms[at];
    sum->beside_ms += t->beside_ms[at];
}

struct step_cost step_tables_cost(const struct step_tables *t, const label *on)
{
    struct step_cost sum = {.compute_ms = t->fixed_ms};

    for (uint32_t k = 0; k < t->count; k++)
        add_term_cost(t, &t->items[k], on, &sum);
    sum.communication_ms += overlap_excess(&t->overlap, sum.compute_ms, sum.beside_ms);
    sum.step_ms = sum.compute_ms + sum.communication_ms;
    return sum;
}

struct step_cost step_tables_cost_of_class(const struct step_tables *t, class_id k, const label *on)
{
    struct step_cost sum = {0};

    for (uint32_t n = t->of_class[k]; n < t->of_class[k + 1]; n++)
        add_term_cost(t, &t->items[t->class_terms[n]], on, &sum);
    sum.step_ms = sum.compute_ms + sum.communication_ms;
    return sum;
}
