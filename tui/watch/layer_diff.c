#include "tui/watch/layer_diff.h"

#include "engine/cost/step_tables.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What one node of the tree stands for: the layer it is in, else the module below its phase. */
struct place {
    char stem[NAME_ROOM]; /* path without the phase, without the layer's number */
    int number;           /* of the layer; -1 */
    double ms[2][2];      /* [plan][computing, network] */
};

/* The node whose row takes in what `node` does. */
static int row_of(const struct tree *t, int node)
{
    int row = node;

    for (int n = node; n != TREE_NONE; n = t->nodes[n].parent) {
        if (t->nodes[n].number >= 0 && !t->nodes[n].series)
            row = n; /* the outermost layer, not the series it stands in */
        else if (t->nodes[row].number < 0 && t->nodes[n].depth >= 1)
            row = n;
    }
    return row;
}

/* "encoder/layer " of forward/encoder/layer 3, number 3: phases apart give the same. */
static void name_place(const struct tree *t, int node, struct place *out)
{
    const struct tree_node *n = &t->nodes[node];
    char path[NAME_ROOM];

    tree_path(t, node, "/", path, sizeof path);
    const char *rest = n->depth ? strchr(path, '/') : NULL;
    snprintf(out->stem, sizeof out->stem, "%s", rest && rest[1] ? rest + 1 : path);
    size_t size = strlen(out->stem), end = size;
    while (end && out->stem[end - 1] >= '0' && out->stem[end - 1] <= '9')
        end--;
    out->number = -1;
    if (n->number < 0 || end == size || size - end > 9 || !end)
        return;
    out->number = (int)strtol(out->stem + end, NULL, 10);
    out->stem[end] = 0;
}

static int by_place(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    int order = strcmp(a->stem, b->stem);

    return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Their figures are one row: layers of a series differ by what lies at their ends. */
#define ALIKE 0.02

static bool is_alike(const struct place *a, const struct place *b)
{
    if (strcmp(a->stem, b->stem) != 0 || a->number < 0 || b->number < 0)
        return false;
    for (int k = 0; k < 2; k++) {
        double all = a->ms[k][0] + a->ms[k][1];
        for (int i = 0; i < 2; i++) {
            if (fabs(a->ms[k][i] - b->ms[k][i]) > ALIKE * all)
                return false;
        }
    }
    return true;
}

/* Adds rows of one name together: a layer's forward and backward part. */
static size_t join_places(struct place *all, size_t count)
{
    size_t kept = 0;

    for (size_t n = 0; n < count; n++) {
        struct place *last = kept ? &all[kept - 1] : NULL;
        if (!last || by_place(last, &all[n]) != 0) {
            all[kept++] = all[n];
            continue;
        }
        for (int k = 0; k < 4; k++)
            last->ms[k / 2][k % 2] += all[n].ms[k / 2][k % 2];
    }
    return kept;
}

double layer_change(const struct layer_difference *d)
{
    double a = d->compute[0] + d->network[0], b = d->compute[1] + d->network[1];

    return fabs(b - a) <= 1e-6 * (a + b) ? 0 : (b - a) * d->times;
}

static int by_change(const void *x, const void *y)
{
    const struct layer_difference *a = x, *b = y;
    double p = fabs(layer_change(a)), q = fabs(layer_change(b));

    if (p != q)
        return p > q ? -1 : 1;
    p = a->compute[0] + a->network[0];
    q = b->compute[0] + b->network[0];
    return p != q ? (p > q ? -1 : 1) : strcmp(a->name, b->name);
}

/* "encoder/layers 0–3, 5": the numbers that are alike, as ranges. */
static void write_name(const struct place *first, const int *numbers, uint32_t count, char *out,
                       size_t room)
{
    const char *stem = first->stem;
    size_t length = strlen(stem), size;

    if (first->number < 0) {
        snprintf(out, room, "%s", stem);
        return;
    }
    bool blank = stem[length - 1] == ' ', ends = length > 1 && stem[length - 2] == 's';
    bool many = count > 1 && blank && !ends;
    size = (size_t)snprintf(out, room, "%.*s%s", (int)(length - many), stem, many ? "s " : "");
    for (uint32_t n = 0; n < count && size + 32 < room; n++) {
        uint32_t end = n;
        while (end + 1 < count && numbers[end + 1] == numbers[end] + 1)
            end++;
        size += (size_t)snprintf(out + size, room - size, "%s%d", n ? ", " : "", numbers[n]);
        if (end > n)
            size += (size_t)snprintf(out + size, room - size, "–%d", numbers[end]);
        n = end;
    }
}

static bool is_idle(const struct place *p)
{
    return p->ms[0][0] + p->ms[0][1] + p->ms[1][0] + p->ms[1][1] <= 0;
}

/* Layers of one stem with figures alike become one row, of their means. */
static size_t fold_places(const struct place *all, size_t count, int *numbers, bool *done,
                          struct layer_difference *out)
{
    size_t rows = 0;

    for (size_t n = 0; n < count; n++) {
        uint32_t alike = 0;
        double sum[2][2] = {{0}};
        if (done[n] || is_idle(&all[n]))
            continue;
        for (size_t k = n; k < count && !strcmp(all[k].stem, all[n].stem); k++) {
            if (done[k] || (k != n && !is_alike(&all[n], &all[k])))
                continue;
            done[k] = true;
            numbers[alike++] = all[k].number;
            for (int i = 0; i < 4; i++)
                sum[i / 2][i % 2] += all[k].ms[i / 2][i % 2];
        }
        struct layer_difference *d = &out[rows++];
        write_name(&all[n], numbers, alike, d->name, sizeof d->name);
        d->times = alike;
        d->is_layer = all[n].number >= 0;
        for (int k = 0; k < 2; k++) {
            d->compute[k] = sum[k][0] / alike;
            d->network[k] = sum[k][1] / alike;
        }
    }
    return rows;
}

int layer_differences(const struct watch *w, const label *a, const label *b,
                      struct layer_difference **items, size_t *count, struct err *e)
{
    const struct problem *p = w->problem;
    const struct tree *t = w->tree;
    size_t nodes = (size_t)t->count, rows = 0;
    struct place *all = mem_try(nodes + 1, sizeof *all);
    int *row = mem_try(nodes + 1, sizeof *row), *at = mem_try(nodes + 1, sizeof *at);
    bool *done = mem_try(nodes + 1, sizeof *done);
    struct layer_difference *list = mem_try(nodes + 1, sizeof *list);
    int rc = all && row && at && done && list ? 0 : err_no_memory(e, "to compare layers");

    if (rc)
        goto out;
    for (size_t n = 0; n < nodes; n++)
        at[n] = -1;
    for (size_t n = 0; n < nodes; n++) {
        int to = row_of(t, (int)n);
        if (at[to] < 0) {
            at[to] = (int)rows;
            name_place(t, to, &all[rows++]);
        }
        row[n] = at[to];
    }
    for (hlo_id id = 0; id < p->m->count; id++) {
        for (int k = 0; k < 2 && t->node_of[id] != TREE_NONE; k++) {
            struct instruction_cost c = step_tables_instruction(&p->step_tables, id, k ? b : a);
            all[row[t->node_of[id]]].ms[k][0] += c.compute_ms;
            all[row[t->node_of[id]]].ms[k][1] += c.communication_ms;
        }
    }
    qsort(all, rows, sizeof *all, by_place);
    rows = join_places(all, rows);
    *count = fold_places(all, rows, at, done, list);
    qsort(list, *count, sizeof *list, by_change);
    *items = list;
    list = NULL;
out:
    free(all);
    free(row);
    free(at);
    free(done);
    free(list);
    return rc;
}
