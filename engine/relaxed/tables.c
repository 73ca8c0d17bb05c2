#include "engine/relaxed/tables.h"

#include "hlo/support/slots.h"

#include <string.h>

enum operation { SUM = 1, SCALED, DIAGONAL, ABSORB, JOIN, FORBID, PICK };

static bool add_table(struct tables *t, uint32_t rows, uint32_t cols)
{
    size_t cells = (size_t)rows * cols, need = rows == 1 ? cells : 2 * cells;

    if (!mem_grow(&t->items, &t->room, t->count, 1) ||
        !mem_grow(&t->data, &t->data_room, t->used, need))
        return false;
    memset(t->data + t->used, 0, need * sizeof *t->data);
    t->items[t->count++] =
        (struct table){rows, cols, t->used, rows == 1 ? t->used : t->used + cells};
    t->used += need;
    return true;
}

/* The labels behind labels_used, `count` of them, belong to the key; they stay where the table is
 * new. */
static table_id get(struct tables *t, const uint64_t key[static TABLE_KEY], size_t count,
                    uint32_t rows, uint32_t cols, bool *is_new)
{
    size_t bytes = TABLE_KEY * sizeof *key;
    const uint16_t *labels = count ? t->labels + t->labels_used : NULL;

    *is_new = false;
    uint64_t hash = mem_hash(key, bytes, 0);
    struct slot_walk at;

    if (t->failed)
        return 0;
    for (uint32_t n = slots_first(&t->slots, hash, &at); n != SLOTS_END;
         n = slots_next(&t->slots, &at)) {
        const struct table_memo *m = &t->memo[n];
        if (!memcmp(m->key, key, bytes) && m->label_count == count &&
            (!count || !memcmp(t->labels + m->labels, labels, count * sizeof *labels)))
            return m->table;
    }
    if (!mem_grow(&t->memo, &t->memo_room, t->memo_count, 1) || !add_table(t, rows, cols) ||
        !slots_add(&t->slots, hash, (uint32_t)t->memo_count)) {
        t->failed = true;
        return 0;
    }
    struct table_memo *m = &t->memo[t->memo_count++];
    *m = (struct table_memo){.labels = t->labels_used, .label_count = count, .table = t->count - 1};
    memcpy(m->key, key, bytes);
    t->labels_used += count;
    *is_new = true;
    return t->count - 1;
}

table_id tables_get(struct tables *t, const uint64_t key[static TABLE_KEY], uint32_t rows,
                    uint32_t cols, bool *is_new)
{
    return get(t, key, 0, rows, cols, is_new);
}

void tables_turn(struct tables *t, table_id id)
{
    const struct table *i = &t->items[id];
    const double *from = t->data + i->at;
    double *to = t->data + i->turned;

    if (i->rows == 1)
        return;
    for (uint32_t r = 0; r < i->rows; r++) {
        for (uint32_t c = 0; c < i->cols; c++)
            to[(size_t)c * i->rows + r] = from[(size_t)r * i->cols + c];
    }
}

int tables_new(struct tables *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    if (add_table(out, 1, 1))
        return 0;
    tables_release(out);
    return err_no_memory(e, "for tables of costs");
}

void tables_release(struct tables *t)
{
    free(t->items);
    free(t->data);
    free(t->memo);
    slots_release(&t->slots);
    free(t->labels);
    memset(t, 0, sizeof *t);
}

/* ---- operations ---- */

static uint64_t seen(struct sight s)
{
    return (uint64_t)s.table << 1 | s.turned;
}

table_id tables_sum(struct tables *t, struct sight a, struct sight b)
{
    uint64_t key[TABLE_KEY] = {SUM, seen(a), seen(b)};
    uint32_t rows = tables_rows(t, a.table, a.turned), cols = tables_cols(t, a.table, a.turned);
    bool is_new;
    table_id id = tables_get(t, key, rows, cols, &is_new);

    if (!is_new)
        return id;
    const double *x = tables_at(t, a.table, a.turned), *y = tables_at(t, b.table, b.turned);
    double *out = tables_at(t, id, false);
    for (size_t k = 0; k < (size_t)rows * cols; k++)
        out[k] = x[k] + y[k];
    tables_turn(t, id);
    return id;
}

table_id tables_scaled(struct tables *t, table_id a, uint32_t count)
{
    uint64_t key[TABLE_KEY] = {SCALED, a, count};
    uint32_t rows = t->items[a].rows, cols = t->items[a].cols;
    bool is_new;

    if (count == 1)
        return a;
    table_id id = tables_get(t, key, rows, cols, &is_new);
    if (!is_new)
        return id;
    const double *x = tables_at(t, a, false);
    double *out = tables_at(t, id, false);
    for (size_t k = 0; k < (size_t)rows * cols; k++)
        out[k] = x[k] * count;
    tables_turn(t, id);
    return id;
}

table_id tables_diagonal(struct tables *t, table_id vector, struct sight a)
{
    uint64_t key[TABLE_KEY] = {DIAGONAL, vector, seen(a)};
    uint32_t n = t->items[vector].cols;
    bool is_new;
    table_id id = tables_get(t, key, 1, n, &is_new);

    if (!is_new)
        return id;
    const double *v = tables_at(t, vector, false), *x = tables_at(t, a.table, false);
    double *out = tables_at(t, id, false);
    for (uint32_t k = 0; k < n; k++)
        out[k] = v[k] + x[(size_t)k * n + k];
    return id;
}

/* out[z] = min(out[z], add + row[z]) */
static void lower_row(double *restrict out, const double *restrict row, double add, uint32_t n)
{
    for (uint32_t z = 0; z < n; z++) {
        double x = add + row[z];
        out[z] = x < out[z] ? x : out[z];
    }
}

table_id tables_absorb(struct tables *t, table_id vector, struct sight a, table_id inner)
{
    uint64_t key[TABLE_KEY] = {ABSORB, vector, seen(a), inner};
    uint32_t n = t->items[vector].cols, inside = t->items[inner].cols;
    bool is_new;
    table_id id = tables_get(t, key, 1, n, &is_new);

    if (!is_new)
        return id;
    const double *v = tables_at(t, vector, false), *y = tables_at(t, inner, false);
    const double *rows = tables_at(t, a.table, !a.turned); /* a row per y */
    double *out = tables_at(t, id, false);
    for (uint32_t k = 0; k < n; k++)
        out[k] = y[0] + rows[k];
    for (uint32_t k = 1; k < inside; k++)
        lower_row(out, rows + (size_t)k * n, y[k], n);
    for (uint32_t k = 0; k < n; k++)
        out[k] += v[k];
    return id;
}

table_id tables_join(struct tables *t, struct sight a, table_id inner, struct sight b)
{
    uint64_t key[TABLE_KEY] = {JOIN, seen(a), inner, seen(b)};
    uint32_t rows = tables_rows(t, a.table, a.turned), inside = tables_cols(t, a.table, a.turned);
    uint32_t cols = tables_cols(t, b.table, b.turned);
    bool is_new;
    table_id id = tables_get(t, key, rows, cols, &is_new);

    if (!is_new)
        return id;
    const double *left = tables_at(t, a.table, a.turned), *right = tables_at(t, b.table, b.turned);
    const double *middle = tables_at(t, inner, false);
    double *out = tables_at(t, id, false);
    for (uint32_t x = 0; x < rows; x++, left += inside, out += cols) {
        for (uint32_t z = 0; z < cols; z++)
            out[z] = left[0] + middle[0] + right[z];
        for (uint32_t y = 1; y < inside; y++)
            lower_row(out, right + (size_t)y * cols, left[y] + middle[y], cols);
    }
    tables_turn(t, id);
    return id;
}

/* Puts labels behind those in use. Returns how many are there now, of which `count` were. */
static size_t lay_labels(struct tables *t, struct label_map m, size_t count)
{
    if (!m.label || t->failed)
        return count;
    if (!mem_grow(&t->labels, &t->labels_room, t->labels_used + count, m.count)) {
        t->failed = true;
        return count;
    }
    memcpy(t->labels + t->labels_used + count, m.label, m.count * sizeof *m.label);
    return count + m.count;
}

static uint64_t hash_of(const struct tables *t, size_t count)
{
    return count ? mem_hash(t->labels + t->labels_used, count * sizeof *t->labels, 0) : 0;
}

table_id tables_pick(struct tables *t, const struct tables *from, struct sight a,
                     struct label_map row, struct label_map col)
{
    uint32_t width = tables_cols(from, a.table, a.turned);
    uint32_t rows = row.label ? row.count : tables_rows(from, a.table, a.turned);
    uint32_t cols = col.label ? col.count : width;
    size_t row_count = lay_labels(t, row, 0), count = lay_labels(t, col, row_count);
    uint64_t key[TABLE_KEY] = {PICK,      seen(a),          row.label != NULL, col.label != NULL,
                               row_count, hash_of(t, count)};
    bool is_new;
    table_id id = get(t, key, count, rows, cols, &is_new);

    if (!is_new)
        return id;
    const double *x = tables_at(from, a.table, a.turned);
    double *out = tables_at(t, id, false);
    for (uint32_t r = 0; r < rows; r++) {
        const double *line = x + (size_t)(row.label ? row.label[r] : r) * width;
        for (uint32_t c = 0; c < cols; c++)
            *out++ = line[col.label ? col.label[c] : c];
    }
    tables_turn(t, id);
    return id;
}

table_id tables_forbid(struct tables *t, table_id vector, const uint16_t *allowed)
{
    uint32_t n = t->items[vector].cols;
    size_t count = lay_labels(t, (struct label_map){allowed, n}, 0);
    uint64_t key[TABLE_KEY] = {FORBID, vector, hash_of(t, count)};
    bool is_new;
    table_id id = get(t, key, count, 1, n, &is_new);

    if (!is_new)
        return id;
    const double *v = tables_at(t, vector, false);
    double *out = tables_at(t, id, false);
    for (uint32_t k = 0; k < n; k++)
        out[k] = v[k] + (allowed[k] ? 0 : TABLE_FORBIDDEN);
    return id;
}

/* ---- loops over what is in them ---- */

/* Inlined with a constant `cols` below: most nodes have few labels, and loops of known length run
 * several times as fast. */
static inline __attribute__((always_inline)) double min_sum_of(double *restrict out,
                                                               const double *restrict from,
                                                               const double *restrict table,
                                                               uint32_t rows, uint32_t cols)
{
    for (uint32_t z = 0; z < cols; z++)
        out[z] = from[0] + table[z];
    for (uint32_t y = 1; y < rows; y++) {
        const double *restrict row = table + (size_t)y * cols;
        double add = from[y];
        for (uint32_t z = 0; z < cols; z++) {
            double x = add + row[z];
            out[z] = x < out[z] ? x : out[z];
        }
    }
    double low = out[0];
    for (uint32_t z = 1; z < cols; z++)
        low = out[z] < low ? out[z] : low;
    return low;
}

double tables_min_sum(double *restrict out, const double *restrict from,
                      const double *restrict table, uint32_t rows, uint32_t cols)
{
    switch (cols) {
#define CASE(n) \
    case n:     \
        return min_sum_of(out, from, table, rows, n)
        CASE(2);
        CASE(3);
        CASE(4);
        CASE(5);
        CASE(6);
        CASE(7);
        CASE(8);
#undef CASE
    default:
        return min_sum_of(out, from, table, rows, cols);
    }
}
