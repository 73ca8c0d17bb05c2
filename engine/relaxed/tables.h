/* engine/relaxed/tables.h - small cost tables, each computed once.
 *
 * A table has a row per label of one node and a column per label of another; a vector is a table of
 * one row. Operations make tables, and repeating an operation on the same tables returns the same
 * table without work, so equal layers of a network share theirs. Each table is also stored
 * transposed, so that loops run along memory. Values are milliseconds in double: bounds are sums of
 * many differences, and rounding must not lift a bound above a plan. */
#ifndef AUTOMAP_ENGINE_RELAXED_TABLES_H
#define AUTOMAP_ENGINE_RELAXED_TABLES_H

#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

typedef uint32_t table_id;
#define TABLE_NONE UINT32_MAX
/* A cost no plan pays: large, yet finite, so that differences stay numbers. */
#define TABLE_FORBIDDEN 1e12

struct table {
    uint32_t rows, cols;
    size_t at, turned; /* into tables->data: rows x cols, and cols x rows (the same place when rows
                          == 1) */
};

enum { TABLE_KEY = 6 };
struct table_memo {
    uint64_t key[TABLE_KEY];
    size_t labels, label_count; /* into tables->labels: what else it is made of */
    table_id table;
};

struct tables {
    struct table *items;
    uint32_t count;
    double *data;
    size_t room, used, data_room;
    struct table_memo *memo;
    size_t memo_count, memo_room;
    struct slots slots; /* of memo, by key */
    uint16_t *labels;
    size_t labels_used, labels_room;
    bool failed; /* out of memory; sticks: ids returned from then on are table 0 */
};

/* Table 0 is the empty one. */
int tables_new(struct tables *out, struct err *e) MUST_CHECK;
void tables_release(struct tables *t);

/* Returns the table stored under `key`, or a new one of zeros (*is_new), which the caller fills and
 * then passes to tables_turn. The caller chooses keys: key[0] names the operation. */
table_id tables_get(struct tables *t, const uint64_t key[static TABLE_KEY], uint32_t rows,
                    uint32_t cols, bool *is_new);
void tables_turn(struct tables *t, table_id id);

static inline double *tables_at(const struct tables *t, table_id id, bool turned)
{
    return t->data + (turned ? t->items[id].turned : t->items[id].at);
}
static inline uint32_t tables_rows(const struct tables *t, table_id id, bool turned)
{
    return turned ? t->items[id].cols : t->items[id].rows;
}
static inline uint32_t tables_cols(const struct tables *t, table_id id, bool turned)
{
    return turned ? t->items[id].rows : t->items[id].cols;
}

/* A table as stored, or transposed. */
struct sight {
    table_id table;
    bool turned;
};

/* Operations. Callers of tables_get use key[0] >= TABLE_KEYS. tables_diagonal, for an edge from a
 * node to itself, takes a square table. */
enum { TABLE_KEYS = 100 };
table_id tables_sum(struct tables *t, struct sight a, struct sight b); /* a + b, oriented as a */
table_id tables_scaled(struct tables *t, table_id a, uint32_t count);  /* count x a */
table_id tables_diagonal(struct tables *t, table_id vector,
                         struct sight a); /* vector[x] + a[x][x] */
/* vector[x] + min over y of (a[x][y] + inner[y]) */
table_id tables_absorb(struct tables *t, table_id vector, struct sight a, table_id inner);
/* [x][z] = min over y of (a[x][y] + inner[y] + b[y][z]) */
table_id tables_join(struct tables *t, struct sight a, table_id inner, struct sight b);
/* [r][c] = a[row[r]][col[c]] of a table of `from`, which may be `t`; label NULL: all of them as
 * they are. All calls on one `t` take the same `from`. */
struct label_map {
    const uint16_t *label;
    uint32_t count;
};
table_id tables_pick(struct tables *t, const struct tables *from, struct sight a,
                     struct label_map row, struct label_map col);
/* vector with TABLE_FORBIDDEN added where allowed[] is 0 */
table_id tables_forbid(struct tables *t, table_id vector, const uint16_t *allowed);

/* out[z] = min over y of (from[y] + table[y][z]), of rows x cols; returns the least of out. */
double tables_min_sum(double *restrict out, const double *restrict from,
                      const double *restrict table, uint32_t rows, uint32_t cols);

#endif
