/* engine/cost/instruction_cost.c - what one instruction costs under a plan: computing, traffic,
 * reductions; what step_tables.c adds up. */
#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cost/attention.h"
#include "engine/cost/free_cost.h"
#include "engine/cost/gathers.h"
#include "engine/cost/joined_sums.h"
#include "engine/cost/product.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/partitioner.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/module/special.h"

#include <math.h>

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

label step_tables_spare_axes(const struct step_tables *t, hlo_id id, label used)
{
    label spare = 0;

    for (uint32_t x = 0; x < t->mesh->axes; x++)
        spare |= t->mesh->axis[x].size > 1 ? (label)(1U << x) : 0;
    const struct classes *c = t->labels->classes;
    return partitioner_sums_everywhere(c->options.partitioner, c->m, id) ? (label)(spare & ~used)
                                                                         : 0;
}

/* Axes of all factors of `id`. */
static label used_axes(const struct classes *c, hlo_id id, const label *on)
{
    label used = 0;

    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1]; k++)
        used |= c->factors[k].class == CLASS_NONE ? 0 : on[c->factors[k].class];
    return used;
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
    label spare = step_tables_spare_axes(t, id, used_axes(c, id, on));
    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1] && count < TERM_CLASSES_MOST;
         k++) {
        const struct class_factor *f = &c->factors[k];
        if (!is_reducing(f) || !on[f->class] || (t->joined && t->joined->part[k] == SUM_JOINED))
            continue;
        out[count] = reduction_of(t, id, f, on[f->class] | spare, (struct split){on, NULL});
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
    return flops * a->work[id] / attention_rate(&a->as[attention_is_backward(a, id)], d, type) *
           1e3;
}

/* Work of a kernel with a rule, beside its traffic. */
static double kernel_ms(const struct hlo_kernel *k, const struct cluster_device *d,
                        enum peak_type type, double flops)
{
    double part = hlo_kernel_reach_on(k, d->name);

    return part > 0 ? flops / (cluster_peak(d, type) * part) * 1e3 : 0;
}

/* What crosses the link to the host: operands and results of what runs there; of what only moves
 * there or back, each byte once. Without a link it counts as device memory. */
static double host_ms(const struct hlo_kernel *k, double link, double bytes)
{
    uint8_t effect = k ? k->effect : (uint8_t)KERNEL_COMPUTES;
    bool moves = effect == KERNEL_TO_HOST || effect == KERNEL_TO_DEVICE;

    if (link <= 0 || (!moves && effect != KERNEL_ON_HOST))
        return 0;
    return (moves ? bytes / 2 : bytes) / link * 1e3;
}

/* The part of a variable, as it is split, that this device updates: a piece from ZeRO 1 on. */
static double updated_piece(const struct step_tables *t, hlo_id id, struct split split)
{
    uint32_t param = t->training->update_of[id];

    if (!t->batching.zero || !split.on || param == HLO_NONE)
        return 1;
    return training_piece(t->training, t->labels, split.on, t->labels->classes->m->leaf_base[id],
                          training_axes(t->training, param, split.on));
}

/* The part of a local fresh gradient that this device adds: its piece from ZeRO 2 on. */
static double added_piece(const struct step_tables *t, hlo_value v, struct split split)
{
    const struct classes *c = t->labels->classes;
    class_id list[ZERO_CLASSES_MOST];
    label over = 0;

    if (t->batching.zero < 2 || !split.on || !(t->training->adding[v] & ADDING_SUMS))
        return 1;
    for (uint32_t k = training_sums(c, c->m->value_instruction[v], list); k; k--)
        over |= split.on[list[k - 1]];
    return training_piece(t->training, t->labels, split.on, v, over);
}

/* Bytes that adding up its fresh gradients moves each time but the first (adding_up.h). */
static double adding_bytes(const struct step_tables *t, hlo_id id, struct split split)
{
    const struct classes *c = t->labels->classes;
    uint32_t first = operand_leaf_count(c, id);
    double bytes = 0;

    for (uint32_t leaf = first; leaf < class_leaf_count(c, id); leaf++) {
        hlo_value v = c->m->leaf_base[id] + leaf - first;
        if (t->training->adding[v])
            bytes += (t->training->adding[v] & ADDING_TIMES) *
                     (double)hlo_value_shape(c->m, v)->bytes * leaf_share(t, id, leaf, split) *
                     added_piece(t, v, split);
    }
    return bytes;
}

static double adding_ms(const struct step_tables *t, hlo_id id, struct split split)
{
    uint32_t k = t->batching.micro_batches;

    return k > 1 ? (k - 1.0) / k * adding_bytes(t, id, split) /
                       cluster_stream_bandwidth(&t->device) * 1e3
                 : 0;
}

double step_tables_adding_ms(const struct step_tables *t, hlo_id id, const struct cluster_device *d,
                             uint32_t micro_batches)
{
    const struct hlo_module *m = t->labels->classes->m;
    double bytes = 0, k = micro_batches;

    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
        bytes += (t->training->adding[v] & ADDING_TIMES) * (double)hlo_value_shape(m, v)->bytes;
    return (k - 1) / k * bytes / cluster_stream_bandwidth(d) * 1e3;
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
    if (hlo_is_manual_edge(c->m, id)) /* the same memory under another shape */
        return out;
    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1]; k++)
        shares *= share_of(t, id, k, split);
    double piece = updated_piece(t, id, split);
    shares *= piece;
    out.flops = fmax(t->costs->instruction[id].flops, 0) * shares;
    const struct hlo_kernel *kernel = hlo_kernel_of(c->m, id);
    out.bytes =
        kernel && kernel->bytes >= 0 ? kernel->bytes * shares : piece * local_traffic(t, id, split);
    struct product p = local_product(t, id, split);
    double ms = t->attention->work[id] > 0
                    ? attention_ms(t->attention, &t->device, id, peak_type_of(c->m, id), out.flops)
                : kernel ? kernel_ms(kernel, &t->device, peak_type_of(c->m, id), out.flops)
                         : product_ms(&t->device, peak_type_of(c->m, id), &p, out.flops);
    ms = fmax(ms, out.bytes / cluster_bandwidth(&t->device) * 1e3);
    ms = fmax(ms, host_ms(kernel, t->host_link, out.bytes));
    if (is_heavy(hlo_acts_as(c->m, id)))
        ms += t->device.launch_ms;
    if (t->measured_ms && t->measured_ms[id] >= 0)
        ms = t->measured_ms[id] * shares;
    out.adding_ms = adding_ms(t, id, split) * out.times;
    out.compute_ms = ms * out.times + out.adding_ms;
    return out;
}

double step_tables_compute_ms(const struct step_tables *t, hlo_id id, const double *share)
{
    return compute_of(t, id, (struct split){NULL, share}).compute_ms;
}

double step_tables_compute_adding_ms(const struct step_tables *t, hlo_id id, const double *share)
{
    return compute_of(t, id, (struct split){NULL, share}).adding_ms;
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

    if (class_leaf_count(c, id) == 0) {
        struct instruction_cost whole = free_cost(t, id);
        s.flops = whole.flops;
        s.bytes = whole.bytes;
        s.peak = PEAK_F32;
        return s;
    }
    if (hlo_is_manual_edge(c->m, id))
        return s;
    for (uint32_t n = c->factor_base[id]; n < c->factor_base[id + 1]; n++)
        s.has_class |= c->factors[n].class == k;
    *(s.has_class ? &s.flops_per_x : &s.flops) = fmax(t->costs->instruction[id].flops, 0);
    scale_traffic(t, id, k, &s);
    s.kernel = hlo_kernel_of(c->m, id);
    s.host_link = t->host_link;
    if (s.kernel && s.kernel->bytes >= 0) {
        s.bytes = s.has_class ? 0 : s.kernel->bytes;
        s.bytes_per_x = s.has_class ? s.kernel->bytes : 0;
    }
    s.is_heavy = is_heavy(hlo_acts_as(c->m, id));
    s.peak = peak_type_of(c->m, id);
    s.work = t->attention->work[id];
    if (s.work > 0)
        s.kernel = &t->attention->as[attention_is_backward(t->attention, id)];
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
    double flops = s->flops + s->flops_per_x * x, bytes = s->bytes + s->bytes_per_x * x;
    double ms = s->work > 0 ? flops * s->work / attention_rate(s->kernel, d, s->peak) * 1e3
                : s->kernel ? kernel_ms(s->kernel, d, s->peak, flops)
                            : product_ms(d, s->peak, &p, flops);
    ms = fmax(ms, bytes / cluster_bandwidth(d) * 1e3);
    ms = fmax(ms, host_ms(s->work > 0 ? NULL : s->kernel, s->host_link, bytes));
    return s->is_heavy ? ms + d->launch_ms : ms;
}

static void add_storing(const struct step_tables *t, struct storage_cost *s, uint8_t kind,
                        uint32_t count, double bytes)
{
    struct storing one = {kind, count, bytes, collective_ms(t->mesh, kind, s->over, bytes), 0};

    if (t->overlap.is_bounded) {
        one.beside_ms = one.ms;
        one.ms *= 1 - t->overlap.hidden;
    }
    s->items[s->count++] = one;
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
    double bytes = (double)s->bytes;
    for (uint32_t d = 0; d < s->rank; d++) {
        class_id class = c->class_of[class_dim(c, v, d)];
        bytes *= class == CLASS_NONE ? 1 : label_part(t->labels, class, on[class], s->dims[d]);
    }
    const struct training_variable *used = &t->training->variables[param];
    if (t->batching.zero >= 2 && k > 1)
        add_storing(t, &out, COLLECTIVE_REDUCE_SCATTER, k - 1, bytes);
    if (t->batching.zero >= 3)
        add_storing(t, &out, COLLECTIVE_ALL_GATHER, (2 * k - 1) * used->layers,
                    bytes * used->gathered_part / used->layers);
    return out;
}
