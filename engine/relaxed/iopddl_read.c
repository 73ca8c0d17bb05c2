/* The lists are gathered as the file has them, equal ones once: nodes and edges come in any order,
 * and only both together give a list of costs its rows and columns. */
#include "engine/relaxed/energy.h"
#include "engine/relaxed/iopddl.h"
#include "engine/relaxed/over_time.h"
#include "engine/relaxed/tables.h"
#include "engine/text/json_pull.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LIST_MOST = 1 << 24, CELLS_MOST = 1 << 27 };
#define TIME_MAX INT64_C(1000000000000000)
#define BYTES_MAX INT64_C(4503599627370496)
#define FINITE_MAX                                                                 \
    4503599627370496.0 /* of the largest costs together: sums of doubles are exact \
                        */

/* A list of numbers; equal ones are one. */
struct list {
    size_t at;
    uint32_t count;
};

struct place {
    uint32_t list;
    size_t at; /* in the text */
};

struct places {
    struct place *items;
    size_t count, room;
};

struct pair {
    int64_t a, b;
    size_t at;
};

struct pairs {
    struct pair *items;
    size_t count, room;
};

struct reading {
    struct json_pull j;
    double *numbers;
    size_t number_count, number_room;
    struct list *lists;
    size_t list_count, list_room;
    struct slots slots; /* of lists, by their numbers */
    struct places node_costs, usages, edge_costs;
    struct pairs intervals, ends;
    char name[64];
    double limit;
    bool has_limit;
    uint32_t seen;
};

static void no_room(struct json_pull *j)
{
    if (!j->failed)
        err_no_memory(j->e, "for this instance");
    j->failed = true;
}

/* Every key once. */
static void see_key(struct reading *r, uint32_t bit)
{
    if (r->seen & 1u << bit)
        json_wrong(&r->j, "key \"%s\" a second time", r->j.key);
    r->seen |= 1u << bit;
}

/* ---- lists ---- */

/* The list at the end of the numbers: an equal one from before, or it stays. */
static uint32_t keep_list(struct reading *r, size_t from)
{
    size_t bytes = (r->number_count - from) * sizeof(double);

    uint64_t hash = mem_hash(r->numbers + from, bytes, 0);
    struct slot_walk at;

    for (uint32_t n = slots_first(&r->slots, hash, &at); n != SLOTS_END;
         n = slots_next(&r->slots, &at)) {
        const struct list *l = &r->lists[n];
        if (l->count * sizeof(double) == bytes &&
            !memcmp(r->numbers + l->at, r->numbers + from, bytes)) {
            r->number_count = from;
            return n;
        }
    }
    if (!mem_grow(&r->lists, &r->list_room, r->list_count, 1) ||
        !slots_add(&r->slots, hash, (uint32_t)r->list_count)) {
        no_room(&r->j);
        return 0;
    }
    r->lists[r->list_count] = (struct list){from, (uint32_t)(r->number_count - from)};
    return (uint32_t)r->list_count++;
}

/* Costs from IOPDDL_FORBIDDEN on become INFINITY. */
static void read_list(struct reading *r, struct places *out, int64_t most)
{
    size_t from = r->number_count, place = r->j.at;

    if (!mem_grow(&r->numbers, &r->number_room, r->number_count,
                  1)) { /* an empty one has a place */
        no_room(&r->j);
        return;
    }
    json_list(&r->j);
    while (json_item(&r->j)) {
        if (r->number_count - from >= LIST_MOST || r->number_count >= CELLS_MOST)
            json_wrong(&r->j, "too many numbers, expected at most %d in a list, %d different",
                       LIST_MOST, CELLS_MOST);
        int64_t whole = json_integer(&r->j, 0, most);
        if (r->j.failed)
            return;
        if (!mem_grow(&r->numbers, &r->number_room, r->number_count, 1)) {
            no_room(&r->j);
            return;
        }
        r->numbers[r->number_count++] = whole >= IOPDDL_FORBIDDEN ? INFINITY : (double)whole;
    }
    uint32_t list = r->j.failed ? 0 : keep_list(r, from);
    if (!mem_grow(&out->items, &out->room, out->count, 1))
        no_room(&r->j);
    else
        out->items[out->count++] = (struct place){list, place};
}

static void read_lists(struct reading *r, struct places *out, int64_t most, size_t count_most)
{
    json_list(&r->j);
    while (json_item(&r->j)) {
        if (out->count >= count_most)
            json_wrong(&r->j, "too many lists, expected at most %zu", count_most);
        else
            read_list(r, out, most);
    }
}

static void read_pairs(struct reading *r, struct pairs *out, int64_t most, size_t count_most)
{
    json_list(&r->j);
    while (json_item(&r->j)) {
        struct pair p = {.at = r->j.at};
        int64_t *into[] = {&p.a, &p.b};
        uint32_t n = 0;
        json_list(&r->j);
        for (; json_item(&r->j); n++) {
            int64_t whole = json_integer(&r->j, 0, most);
            if (n < 2)
                *into[n] = whole;
        }
        if (n != 2)
            json_wrong_at(&r->j, p.at, "%u numbers, expected 2", n);
        if (out->count >= count_most)
            json_wrong_at(&r->j, p.at, "too many pairs, expected at most %zu", count_most);
        if (r->j.failed)
            return;
        if (!mem_grow(&out->items, &out->room, out->count, 1)) {
            no_room(&r->j);
            return;
        }
        out->items[out->count++] = p;
    }
}

/* ---- keys ---- */

enum key { NAME, LIMIT, NODES, EDGES, INTERVALS, COSTS, USAGES, ENDS, EDGE_COSTS, PROBLEM };

static void read_nodes(struct reading *r)
{
    json_object(&r->j);
    while (json_key(&r->j)) {
        if (!strcmp(r->j.key, "intervals")) {
            see_key(r, INTERVALS);
            read_pairs(r, &r->intervals, TIME_MAX, IOPDDL_NODES_MAX);
        } else if (!strcmp(r->j.key, "costs")) {
            see_key(r, COSTS);
            read_lists(r, &r->node_costs, INT64_MAX / 2 * 2, IOPDDL_NODES_MAX);
        } else if (!strcmp(r->j.key, "usages")) {
            see_key(r, USAGES);
            read_lists(r, &r->usages, BYTES_MAX, IOPDDL_NODES_MAX);
        } else {
            json_skip(&r->j);
        }
    }
}

static void read_edges(struct reading *r)
{
    json_object(&r->j);
    while (json_key(&r->j)) {
        if (!strcmp(r->j.key, "nodes")) {
            see_key(r, ENDS);
            read_pairs(r, &r->ends, IOPDDL_NODES_MAX, IOPDDL_EDGES_MAX);
        } else if (!strcmp(r->j.key, "costs")) {
            see_key(r, EDGE_COSTS);
            read_lists(r, &r->edge_costs, INT64_MAX / 2 * 2, IOPDDL_EDGES_MAX);
        } else {
            json_skip(&r->j);
        }
    }
}

static void read_problem(struct reading *r)
{
    json_object(&r->j);
    while (json_key(&r->j)) {
        if (!strcmp(r->j.key, "name")) {
            see_key(r, NAME);
            json_string(&r->j, r->name, sizeof r->name);
        } else if (!strcmp(r->j.key, "usage_limit")) {
            see_key(r, LIMIT);
            r->limit = (double)json_integer(&r->j, 1, BYTES_MAX);
            r->has_limit = true;
        } else if (!strcmp(r->j.key, "nodes")) {
            see_key(r, NODES);
            read_nodes(r);
        } else if (!strcmp(r->j.key, "edges")) {
            see_key(r, EDGES);
            read_edges(r);
        } else {
            json_skip(&r->j);
        }
    }
}

/* ---- nodes and edges together ---- */

static uint32_t count_of(const struct reading *r, struct place p)
{
    return r->lists[p.list].count;
}

static void check_nodes(struct reading *r)
{
    struct json_pull *j = &r->j;
    size_t nodes = r->node_costs.count;

    if (!(r->seen & 1u << PROBLEM))
        json_wrong(j, "no \"problem\", expected an instance of the IOPDDL contest");
    if (r->intervals.count != nodes || r->usages.count != nodes)
        json_wrong(j, "%zu intervals, costs of %zu nodes and usages of %zu, expected as many",
                   r->intervals.count, nodes, r->usages.count);
    for (size_t n = 0; n < nodes && !j->failed; n++) {
        uint32_t count = count_of(r, r->node_costs.items[n]);
        if (!count || count > IOPDDL_STRATEGIES_MAX)
            json_wrong_at(j, r->node_costs.items[n].at,
                          "node %zu has %u strategies, expected 1 to %d", n, count,
                          IOPDDL_STRATEGIES_MAX);
        if (count_of(r, r->usages.items[n]) != count)
            json_wrong_at(j, r->usages.items[n].at, "node %zu has %u usages, expected %u", n,
                          count_of(r, r->usages.items[n]), count);
    }
}

static void check_edges(struct reading *r)
{
    struct json_pull *j = &r->j;
    size_t nodes = r->node_costs.count;

    if (r->edge_costs.count != r->ends.count)
        json_wrong(j, "%zu edges with costs of %zu, expected as many", r->ends.count,
                   r->edge_costs.count);
    for (size_t k = 0; k < r->ends.count && !j->failed; k++) {
        const struct pair *p = &r->ends.items[k];
        if ((size_t)p->a >= nodes || (size_t)p->b >= nodes) {
            json_wrong_at(j, p->at, "edge %zu from %" PRId64 " to %" PRId64 ", expected 0 to %zu",
                          k, p->a, p->b, nodes - 1);
            return;
        }
        uint32_t rows = count_of(r, r->node_costs.items[p->a]);
        uint32_t cols = count_of(r, r->node_costs.items[p->b]);
        if (count_of(r, r->edge_costs.items[k]) != (uint64_t)rows * cols)
            json_wrong_at(j, r->edge_costs.items[k].at, "edge %zu has %u costs, expected %u x %u",
                          k, count_of(r, r->edge_costs.items[k]), rows, cols);
    }
}

/* The largest finite numbers of lists together; < 0: no memory. */
static double largest_of(const struct reading *r, const struct places *const *sides, int count)
{
    double *most = mem_try(r->list_count + 1, sizeof *most), sum = 0;

    for (size_t k = 0; k < r->list_count && most; k++) {
        const struct list *l = &r->lists[k];
        for (uint32_t n = 0; n < l->count; n++)
            if (r->numbers[l->at + n] < INFINITY)
                most[k] = fmax(most[k], r->numbers[l->at + n]);
    }
    for (int s = 0; s < count && most; s++) {
        for (size_t k = 0; k < sides[s]->count; k++)
            sum += most[sides[s]->items[k].list];
    }
    sum = most ? sum : -1;
    free(most);
    return sum;
}

enum { LIST = TABLE_KEYS + 2 };

static table_id table_of(const struct reading *r, struct iopddl *p, uint32_t list, uint32_t rows)
{
    const struct list *l = &r->lists[list];
    bool is_new;
    table_id id = tables_get(&p->tables, (uint64_t[TABLE_KEY]){LIST, list, rows}, rows,
                             l->count / rows, &is_new);

    if (!is_new)
        return id;
    double *out = tables_at(&p->tables, id, false);
    for (uint32_t k = 0; k < l->count; k++)
        out[k] = fmin(r->numbers[l->at + k], p->forbidden);
    tables_turn(&p->tables, id);
    return id;
}

static bool make_energy(const struct reading *r, struct iopddl *p)
{
    struct energy *g = &p->energy;

    g->tables = &p->tables;
    g->unary = mem_try(r->node_costs.count + 1, sizeof *g->unary);
    g->edges = mem_try(r->ends.count + 1, sizeof *g->edges);
    if (!g->unary || !g->edges)
        return false;
    g->nodes = (uint32_t)r->node_costs.count;
    for (uint32_t n = 0; n < g->nodes; n++)
        g->unary[n] = table_of(r, p, r->node_costs.items[n].list, 1);
    p->given_edges = (uint32_t)r->ends.count;
    for (uint32_t k = 0; k < p->given_edges; k++) {
        const struct pair *i = &r->ends.items[k];
        uint32_t rows = count_of(r, r->node_costs.items[i->a]);
        table_id id = table_of(r, p, r->edge_costs.items[k].list, rows);
        g->edges[g->edge_count++] =
            (struct energy_edge){(uint32_t)i->a, (uint32_t)i->b, {id, false}};
    }
    return !p->tables.failed;
}

static bool make_lives(const struct reading *r, struct iopddl *p)
{
    size_t nodes = r->node_costs.count + 1, cells = 0;

    for (size_t n = 0; n + 1 < nodes; n++)
        cells += count_of(r, r->usages.items[n]);
    p->from = mem_try(nodes, sizeof *p->from);
    p->to = mem_try(nodes, sizeof *p->to);
    p->first = mem_try(nodes, sizeof *p->first);
    p->bytes = mem_try(cells + 1, sizeof *p->bytes);
    if (!p->from || !p->to || !p->first || !p->bytes)
        return false;
    cells = 0;
    for (size_t n = 0; n + 1 < nodes; n++) {
        const struct list *l = &r->lists[r->usages.items[n].list];
        p->from[n] = r->intervals.items[n].a;
        p->to[n] = r->intervals.items[n].b;
        p->first[n] = cells;
        memcpy(p->bytes + cells, r->numbers + l->at, l->count * sizeof *p->bytes);
        cells += l->count;
    }
    p->lives = (struct memory_lives){.nodes = (uint32_t)(nodes - 1),
                                     .limit = r->has_limit ? r->limit : INFINITY,
                                     .from = p->from,
                                     .to = p->to,
                                     .first = p->first,
                                     .bytes = p->bytes};
    return true;
}

static int build_instance(struct reading *r, struct iopddl **out)
{
    struct err *e = r->j.e;
    const struct places *const costs[] = {&r->node_costs, &r->edge_costs}, *usages = &r->usages;
    double sum = largest_of(r, costs, 2), bytes = largest_of(r, &usages, 1);

    if (sum < 0 || bytes < 0)
        return err_no_memory(e, "for this instance");
    if (sum > FINITE_MAX || bytes > FINITE_MAX)
        return err_set(e, ERR_LIMIT,
                       "the largest costs together are %.3g, usages %.3g, expected at most %.3g",
                       sum, bytes, FINITE_MAX);
    struct iopddl *p = mem_alloc(sizeof *p);
    p->forbidden = 2 * sum + 1;
    p->has_limit = r->has_limit;
    memcpy(p->name, r->name, sizeof p->name);
    int rc = tables_new(&p->tables, e);
    if (rc)
        goto out;
    if (!make_energy(r, p) || !make_lives(r, p))
        rc = err_no_memory(e, "for this instance");
out:
    if (rc)
        iopddl_free(p);
    else
        *out = p;
    return rc;
}

int iopddl_parse(const char *text, size_t size, struct iopddl **out, struct err *e)
{
    struct reading r = {0};

    json_open(&r.j, text, size, e);
    json_object(&r.j);
    while (json_key(&r.j)) {
        if (strcmp(r.j.key, "problem") != 0) {
            json_skip(&r.j);
            continue;
        }
        see_key(&r, PROBLEM);
        read_problem(&r);
    }
    check_nodes(&r);
    check_edges(&r);
    int rc = json_close(&r.j);
    if (rc)
        goto out;
    rc = build_instance(&r, out);
out:
    free(r.numbers);
    free(r.lists);
    slots_release(&r.slots);
    free(r.node_costs.items);
    free(r.usages.items);
    free(r.edge_costs.items);
    free(r.intervals.items);
    free(r.ends.items);
    return rc;
}

int iopddl_read(const char *path, struct iopddl **out, struct err *e)
{
    struct str text = {0};
    int rc = hlo_file_read_plain(path, IOPDDL_BYTES_MAX, &text, e);

    if (rc)
        goto out;
    rc = iopddl_parse(text.text ? text.text : "", text.size, out, e);
    if (rc)
        err_in_file(e, path);
out:
    str_release(&text);
    return rc;
}

void iopddl_free(struct iopddl *p)
{
    if (!p)
        return;
    tables_release(&p->tables);
    energy_release(&p->energy);
    free(p->from);
    free(p->to);
    free(p->first);
    free(p->bytes);
    free(p);
}
