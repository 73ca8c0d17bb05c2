#include "engine/cost/step_tables.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/attention.h"
#include "engine/cost/free_cost.h"
#include "engine/decide/classes.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the costs of this module";

struct build {
    struct step_tables *t;
    struct err *e;
    label *on; /* [classes] scratch: all empty between uses */
    size_t item_room, pool_room, pool_count, table_room, communication_room, beside_room,
        table_count;
    struct slots term_slots;  /* of terms, by their classes */
    struct pattern *patterns; /* instructions that cost alike -> their table */
    size_t pattern_count, pattern_room;
    struct slots pattern_slots; /* of patterns, by hash */
    double *rows;               /* patterns' tables: compute, then communication */
    size_t row_count, row_room;
};

struct pattern {
    uint64_t hash[2];
    size_t row;
};

static uint32_t integer_power(uint32_t base, uint32_t exponent)
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

/* The variable that an instruction updates piece by piece, or NULL: then its cost depends on what
 * the gradient is summed over, too. */
static const struct training_variable *updated_in_pieces(const struct step_tables *t, hlo_id id)
{
    uint32_t param = t->training->update_of[id];

    return t->batching.zero && param != HLO_NONE ? &t->training->variables[param] : NULL;
}

/* Splittable classes of an instruction, ascending. False when there are too many. */
static bool classes_of(const struct step_tables *t, hlo_id id, class_id *list, uint32_t *count)
{
    const struct classes *c = t->labels->classes;
    bool ok = true;

    *count = 0;
    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1] && ok; k++)
        ok = add_class(t, c->factors[k].class, list, count);
    const struct training_variable *v = updated_in_pieces(t, id);
    for (uint32_t k = 0; v && k < v->reduced_count && ok; k++)
        ok = add_class(t, v->reduced[k], list, count);
    return ok;
}

/* Two hashes side by side: neither waits for the other's product. */
struct hashes {
    uint64_t a, b;
};

static void add_word(struct hashes *h, uint64_t word)
{
    h->a = (h->a ^ word) * 0xff51afd7ed558ccdu;
    h->b = (h->b ^ word) * 0x9e3779b97f4a7c15u;
    h->a ^= h->a >> 32;
    h->b ^= h->b >> 29;
}

static void add_double(struct hashes *h, double x)
{
    uint64_t word;

    memcpy(&word, &x, sizeof word);
    add_word(h, word);
}

static void add_bytes(struct hashes *h, const void *data, size_t size)
{
    const unsigned char *p = data;

    for (; size; p += size < 8 ? size : 8, size -= size < 8 ? size : 8) {
        uint64_t word = 0;
        memcpy(&word, p, size < 8 ? size : 8);
        add_word(h, word);
    }
}

static void add_head(const struct step_tables *t, hlo_id id, struct hashes *h)
{
    const struct classes *c = t->labels->classes;
    const struct hlo_kernel *kernel = hlo_kernel_of(c->m, id);

    add_double(h, t->costs->instruction[id].flops);
    add_double(h, t->costs->instruction[id].bytes);
    add_double(h, t->costs->times[id]);
    add_double(h, t->measured_ms ? t->measured_ms[id] : -1);
    add_double(h, t->attention->work[id]);
    add_double(h, kernel ? hlo_kernel_reach_on(kernel, t->device.name) : -1);
    add_double(h, kernel ? kernel->bytes : -1);
    add_word(h, kernel ? kernel->effect : KERNEL_COMPUTES);
    add_word(h, hlo_at(c->m, id)->opcode | (uint64_t)t->training->is_once[id] << 32 |
                    (uint64_t)c->runs_whole[id] << 40 |
                    (uint64_t)attention_is_backward(t->attention, id) << 48);
}

static uint32_t place_of(class_id class, const class_id *list, uint32_t count)
{
    uint32_t at = 0;

    while (at < count && list[at] != class)
        at++;
    return at;
}

/* Two independent 64-bit hashes of all an instruction's table depends on. */
static void hash_pattern(const struct step_tables *t, hlo_id id, const class_id *list,
                         uint32_t count, uint64_t hash[2])
{
    const struct classes *c = t->labels->classes;
    uint32_t leaves = class_leaf_count(c, id);
    struct hashes h = {2 * (uint64_t)count + 1, 2 * (uint64_t)leaves + 1};

    add_head(t, id, &h);
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        hlo_value v = hlo_factors_value(c->m, id, leaf);
        uint32_t at = c->leaf_base[id] + leaf;
        add_word(&h,
                 c->m->shapes[c->m->value_shape[v]].bare | (uint64_t)t->traffic->weight[at] << 32);
        add_word(&h, t->training->waits[v] | (uint64_t)t->training->adding[v] << 1 |
                         (uint64_t)c->is_gathered[at] << 32);
    }
    for (uint32_t k = c->factor_base[id]; k < c->factor_base[id + 1]; k++) {
        const struct class_factor *f = &c->factors[k];
        uint32_t at = place_of(f->class, list, count);
        bool joined = t->joined && t->joined->part[k] == SUM_JOINED;
        add_word(&h, f->kind | (uint64_t)joined << 8 | (uint64_t)at << 32);
        add_word(&h, f->class == CLASS_NONE ? 0 : t->labels->kind[f->class]);
        add_word(&h, at < count ? t->labels->admissible[f->class] : 0);
        add_bytes(&h, c->leaf_dims + f->dims, leaves);
    }
    const struct training_variable *v = updated_in_pieces(t, id);
    for (uint32_t k = 0; v && k < v->reduced_count; k++)
        add_word(&h, place_of(v->reduced[k], list, count));
    hash[0] = mem_hash(&h, sizeof h, 1);
    hash[1] = mem_hash(&h, sizeof h, 2);
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

/* The row of an instruction like `id`; computed when it is the first of its kind. */
static bool find_row(struct build *b, hlo_id id, const class_id *list, uint32_t count,
                     uint32_t entries, size_t *row)
{
    uint64_t hash[2];

    struct slot_walk at;

    hash_pattern(b->t, id, list, count, hash);
    for (uint32_t n = slots_first(&b->pattern_slots, hash[0], &at); n != SLOTS_END;
         n = slots_next(&b->pattern_slots, &at)) {
        const struct pattern *p = &b->patterns[n];
        if (p->hash[0] == hash[0] && p->hash[1] == hash[1]) {
            *row = p->row;
            return true;
        }
    }
    if (!mem_grow(&b->patterns, &b->pattern_room, b->pattern_count, 1) ||
        !mem_grow(&b->rows, &b->row_room, b->row_count, (size_t)entries * 3) ||
        !slots_add(&b->pattern_slots, hash[0], (uint32_t)b->pattern_count))
        return false;
    *row = b->row_count;
    fill_row(b, id, list, count, entries, b->rows + *row);
    b->row_count += (size_t)entries * 3;
    b->patterns[b->pattern_count++] = (struct pattern){{hash[0], hash[1]}, *row};
    return true;
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

    uint64_t hash = mem_hash(list, count * sizeof *list, count);
    struct slot_walk at;

    for (*out = slots_first(&b->term_slots, hash, &at); *out != SLOTS_END;
         *out = slots_next(&b->term_slots, &at)) {
        const struct term *term = &t->items[*out];
        if (term->class_count == count &&
            !memcmp(t->class_pool + term->classes, list, count * sizeof *list))
            return true;
    }
    return add_term(b, list, count, entries, out) && slots_add(&b->term_slots, hash, *out);
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
    uint32_t entries = integer_power(count + 1, t->labels->axes);
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
    uint32_t entries = integer_power(count + 1, t->labels->axes);
    if (!find_term(b, list, count, entries, &index))
        return err_no_memory(b->e, MEMORY_FOR);
    for (uint32_t n = 0; n < entries; n++) {
        if (!set_entry(b, list, count, n))
            continue;
        struct storage_cost s = step_tables_storage(t, param, b->on);
        for (uint32_t k = 0; k < s.count; k++) {
            t->communication_ms[t->items[index].table + n] += s.items[k].count * s.items[k].ms;
            t->beside_ms[t->items[index].table + n] += s.items[k].count * s.items[k].beside_ms;
        }
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

static double slowest_host_link(const struct cluster *c)
{
    double link = 0;

    for (uint32_t g = 0; g < c->groups; g++) {
        double one = c->group[g].host.link;
        link = one > 0 && (link == 0 || one < link) ? one : link;
    }
    return link;
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
                            .host_link = slowest_host_link(cluster),
                            .traffic = traffic,
                            .attention = attention,
                            .measured_ms = measured_ms,
                            .training = training,
                            .joined = joined,
                            .batching = *batching,
                            .overlap = overlap_on(&cluster->group[0], batching->overlap)};
    struct build b = {.t = &t, .e = e};
    int rc = 0;

    b.on = mem_try(l->classes->count, sizeof *b.on);
    if (!b.on) {
        rc = err_no_memory(e, MEMORY_FOR);
        goto out;
    }
    for (hlo_id id = 0; id < l->classes->m->count; id++) {
        rc = add_instruction(&b, id);
        if (rc)
            goto out;
    }
    for (uint32_t k = 0; k < training->roles->param_count && batching->zero > 1; k++) {
        rc = add_storage(&b, k);
        if (rc)
            goto out;
    }
    rc = index_terms(&b);
out:
    t.fixed_ms += t.free_ms;
    free(b.on);
    slots_release(&b.term_slots);
    free(b.patterns);
    slots_release(&b.pattern_slots);
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
