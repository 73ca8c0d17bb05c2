#include "engine/linear/cutting_plane.h"

#include "hlo/support/mem.h"

#include <math.h>

enum { PIVOTS_MOST = 2000 };
#define EPSILON 1e-11 /* of a pivot, after rows are scaled */

/* Rows [rows][cols + 1]: a basic variable as what is left of its bound, last, less the others. The
 * last row is the objective. Columns are x - low, then how far the top is above the lowest tangent
 * at `low`. */
struct tableau {
    uint32_t rows, cols;
    double *cells;
    uint32_t *basic,
        *other; /* [rows], [cols] which variable; [0 .. cols) are the columns at first */
};

static double *cell(const struct tableau *t, uint32_t row, uint32_t col)
{
    return &t->cells[(size_t)row * (t->cols + 1) + col];
}

/* The variable of the lowest number that raises the objective; cols: none. */
static uint32_t entering(const struct tableau *t)
{
    uint32_t best = t->cols;

    for (uint32_t k = 0; k < t->cols; k++) {
        if (*cell(t, t->rows, k) > EPSILON && (best == t->cols || t->other[k] < t->other[best]))
            best = k;
    }
    return best;
}

static uint32_t leaving(const struct tableau *t, uint32_t col)
{
    uint32_t best = t->rows;
    double least = INFINITY;

    for (uint32_t k = 0; k < t->rows; k++) {
        double a = *cell(t, k, col), ratio = *cell(t, k, t->cols) / a;
        if (a > EPSILON && (ratio < least || (ratio <= least && t->basic[k] < t->basic[best]))) {
            least = ratio;
            best = k;
        }
    }
    return best;
}

static void pivot(struct tableau *t, uint32_t row, uint32_t col)
{
    double by = 1 / *cell(t, row, col);
    uint32_t was = t->basic[row];

    t->basic[row] = t->other[col];
    t->other[col] = was;
    for (uint32_t k = 0; k <= t->cols; k++)
        *cell(t, row, k) *= k == col ? 0 : by;
    *cell(t, row, col) = by;
    for (uint32_t n = 0; n <= t->rows; n++) {
        double factor = *cell(t, n, col);
        if (n == row || factor == 0)
            continue;
        *cell(t, n, col) = 0;
        for (uint32_t k = 0; k <= t->cols; k++)
            *cell(t, n, k) -= factor * *cell(t, row, k);
    }
}

/* Returns the lowest tangent at `low`. */
static double fill_tableau(struct tableau *t, const struct cutting_planes *c)
{
    double floor = INFINITY;

    for (uint32_t n = 0; n < c->count; n++) {
        double at = c->value[n];
        for (uint32_t k = 0; k < c->places; k++) {
            *cell(t, n, k) = -c->slope[(size_t)n * c->places + k];
            at += c->slope[(size_t)n * c->places + k] * c->low[k];
        }
        *cell(t, n, c->places) = 1;
        *cell(t, n, t->cols) = at;
        floor = fmin(floor, at);
    }
    for (uint32_t n = 0; n < c->count; n++)
        *cell(t, n, t->cols) -= floor;
    for (uint32_t k = 0; k < c->places; k++) {
        *cell(t, c->count + k, k) = 1;
        *cell(t, c->count + k, t->cols) = c->high[k] - c->low[k];
    }
    for (uint32_t k = 0; k < c->places && isfinite(c->sum); k++)
        *cell(t, c->count + c->places, k) = 1;
    if (isfinite(c->sum))
        *cell(t, c->count + c->places, t->cols) = c->sum;
    *cell(t, t->rows, c->places) = 1;
    for (uint32_t k = 0; k < t->rows; k++)
        t->basic[k] = t->cols + k;
    for (uint32_t k = 0; k < t->cols; k++)
        t->other[k] = k;
    return floor;
}

int cutting_plane_top(const struct cutting_planes *c, double *x, double *top, struct err *e)
{
    struct tableau t = {.rows = c->count + c->places + (isfinite(c->sum) ? 1u : 0u),
                        .cols = c->places + 1};
    bool ok;

    t.cells = mem_try((size_t)(t.rows + 1) * (t.cols + 1), sizeof *t.cells);
    t.basic = mem_try(t.rows, sizeof *t.basic);
    t.other = mem_try(t.cols, sizeof *t.other);
    ok = t.cells && t.basic && t.other;
    if (ok) {
        double floor = fill_tableau(&t, c);
        for (uint32_t n = 0; n < PIVOTS_MOST; n++) {
            uint32_t col = entering(&t), row = col < t.cols ? leaving(&t, col) : t.rows;
            if (row == t.rows)
                break;
            pivot(&t, row, col);
        }
        *top = floor - *cell(&t, t.rows, t.cols);
        for (uint32_t k = 0; k < c->places; k++)
            x[k] = c->low[k];
        for (uint32_t n = 0; n < t.rows; n++) {
            if (t.basic[n] < c->places)
                x[t.basic[n]] =
                    fmin(c->high[t.basic[n]], c->low[t.basic[n]] + fmax(0, *cell(&t, n, t.cols)));
        }
    }
    free(t.cells);
    free(t.basic);
    free(t.other);
    return ok ? 0 : err_no_memory(e, "for a linear program");
}
