#include "tui/watch/tree_rows.h"

#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_SHARE 0.002 /* modules under this share of the step stay shut at the start */

void tree_rows_release(struct tree_rows *r)
{
    free(r->open);
    free(r->shown);
    free(r->row);
    *r = (struct tree_rows){0};
}

void tree_rows_begin(struct tree_rows *r, const struct tree *t)
{
    tree_rows_release(r);
    r->tree = t;
    if (!t)
        return;
    r->open = mem_alloc(((size_t)t->count + 1) * sizeof *r->open);
    r->shown = mem_alloc(((size_t)t->count + 1) * sizeof *r->shown);
}

/* ---- rows ---- */

static bool add_row(struct tree_rows *r, struct tree_row row)
{
    if (!mem_grow(&r->row, &r->room, r->count, 1))
        return false;
    r->row[r->count++] = row;
    return true;
}

struct timed {
    double ms;
    uint32_t at; /* among the node's own */
};

static int by_ms(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    return x->ms != y->ms ? (x->ms > y->ms ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

static int by_place(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Those of the telling instructions of a node that take longest, in order of reading. */
static bool add_longest(struct tree_rows *r, int n, uint32_t shown)
{
    const struct tree_node *node = &r->tree->nodes[n];
    struct timed *t = mem_try(node->telling, sizeof *t);
    bool ok = t != NULL;

    for (uint32_t i = 0; ok && i < node->telling; i++)
        t[i] = (struct timed){r->tree->ms ? r->tree->ms[r->tree->order[node->first + i]] : 0, i};
    if (ok) {
        qsort(t, node->telling, sizeof *t, by_ms);
        qsort(t, shown, sizeof *t, by_place);
    }
    for (uint32_t i = 0; ok && i < shown; i++)
        ok = add_row(r, (struct tree_row){n, r->tree->order[node->first + t[i].at], 0});
    free(t);
    return ok;
}

static bool add_own(struct tree_rows *r, int n, uint32_t shown)
{
    const struct tree_node *node = &r->tree->nodes[n];
    bool ok = true;

    if (shown < node->telling)
        return !shown || add_longest(r, n, shown);
    for (uint32_t i = 0; i < shown && ok; i++)
        ok = add_row(r, (struct tree_row){n, r->tree->order[node->first + i], 0});
    return ok;
}

double tree_rows_more_ms(const struct tree_rows *r, size_t at)
{
    const struct tree_node *node = &r->tree->nodes[r->row[at].node];
    double ms = 0;

    if (!r->row[at].more || !r->tree->ms)
        return 0;
    for (uint32_t i = 0; i < node->count; i++)
        ms += r->tree->ms[r->tree->order[node->first + i]];
    while (at > 0 && r->row[at - 1].instruction != HLO_NONE &&
           r->row[at - 1].node == r->row[at].node)
        ms -= r->tree->ms[r->row[--at].instruction];
    return ms > 0 ? ms : 0;
}

static void add_node(struct tree_rows *r, int n)
{
    const struct tree_node *node = &r->tree->nodes[n];
    uint32_t shown = r->all ? node->count : r->shown[n];

    if (!node->below || !add_row(r, (struct tree_row){n, HLO_NONE, 0}) || !r->open[n])
        return;
    for (int k = node->first_child; k != TREE_NONE; k = r->tree->nodes[k].next)
        add_node(r, k);
    if (add_own(r, n, shown) && shown < node->count)
        (void)add_row(r, (struct tree_row){n, HLO_NONE, node->count - shown});
}

bool tree_rows_matches(const struct tree_rows *r, hlo_id id, const struct match *pattern)
{
    const struct hlo_module *m = r->tree->problem->m;
    char path[512];
    const char *const texts[] = {tree_instruction_name(r->tree, id), hlo_name(m, id),
                                 hlo_meta(m, id)->op_name, r->tree->full[id],
                                 tree_path(r->tree, r->tree->node_of[id], "/", path, sizeof path)};
    return match_texts(pattern, texts, sizeof texts / sizeof *texts);
}

static bool any_telling(const struct tree_rows *r, const struct match *filter)
{
    for (hlo_id id = 0; id < r->tree->problem->m->count; id++) {
        if (tree_is_telling(r->tree, id) && tree_rows_matches(r, id, filter))
            return true;
    }
    return false;
}

/* What matches a filter, folded or not, below the modules that hold it; `all`: not only what tells
 * something. */
static void add_matching(struct tree_rows *r, int n, const struct match *filter, bool all)
{
    const struct tree_node *node = &r->tree->nodes[n];
    size_t before = r->count;
    uint32_t more = 0;

    if (!node->below || !add_row(r, (struct tree_row){n, HLO_NONE, 0}))
        return;
    for (int k = node->first_child; k != TREE_NONE; k = r->tree->nodes[k].next)
        add_matching(r, k, filter, all);
    for (uint32_t i = 0; i < node->count; i++) {
        hlo_id id = r->tree->order[node->first + i];
        if (!tree_rows_matches(r, id, filter))
            continue;
        if (!all && i >= node->telling)
            more++;
        else if (!add_row(r, (struct tree_row){n, id, 0}))
            return;
    }
    if (more)
        (void)add_row(r, (struct tree_row){n, HLO_NONE, more});
    if (r->count == before + 1)
        r->count = before;
}

void tree_rows_make(struct tree_rows *r, const struct match *filter)
{
    bool all = !filter || r->all || !r->tree || !any_telling(r, filter);

    r->count = 0;
    for (int n = r->tree ? r->tree->first_root : TREE_NONE; n != TREE_NONE;
         n = r->tree->nodes[n].next) {
        if (filter)
            add_matching(r, n, filter, all);
        else
            add_node(r, n);
    }
}

/* ---- what is open at first ---- */

static bool is_forward(const struct tree *t, int n)
{
    while (t->nodes[n].parent != TREE_NONE)
        n = t->nodes[n].parent;
    return !strcmp(t->nodes[n].name, "forward");
}

/* Which of two is opened first: the upper one, then the forward pass, then the heavier one. */
static bool opens_before(const struct tree *t, int a, int b)
{
    const struct tree_node *x = &t->nodes[a], *y = &t->nodes[b];

    if (x->depth != y->depth)
        return x->depth < y->depth;
    if (is_forward(t, a) != is_forward(t, b))
        return is_forward(t, a);
    return x->ms > y->ms;
}

static bool is_module(const struct tree_rows *r, int n)
{
    return r->tree->nodes[n].first_child != TREE_NONE && !r->open[n];
}

static bool hides_instructions(const struct tree_rows *r, int n)
{
    const struct tree_node *node = &r->tree->nodes[n];
    return (r->open[n] || node->first_child == TREE_NONE) && r->shown[n] < node->telling;
}

/* The next of the nodes in sight, not tried yet, that count in the step; series stay shut.
 * TREE_NONE: none. */
static int next_to_open(const struct tree_rows *r, const bool *tried,
                        bool (*is_wanted)(const struct tree_rows *, int))
{
    int best = TREE_NONE;

    for (size_t i = 0; i < r->count; i++) {
        int n = r->row[i].node;
        const struct tree_node *node = &r->tree->nodes[n];
        bool own = r->row[i].instruction == HLO_NONE && !r->row[i].more;
        if (own && !node->series && !tried[n] && node->ms >= OPEN_SHARE * r->tree->total_ms &&
            is_wanted(r, n) && (best == TREE_NONE || opens_before(r->tree, n, best)))
            best = n;
    }
    return best;
}

/* Modules with modules in them, level by level; the forward pass even where there is no room for
 * it. */
static void open_modules(struct tree_rows *r, size_t height, bool *tried)
{
    for (int n; r->count < height && (n = next_to_open(r, tried, is_module)) != TREE_NONE;) {
        bool first = r->tree->nodes[n].depth == 0 && is_forward(r->tree, n);
        tried[n] = r->open[n] = true;
        tree_rows_make(r, NULL);
        if (r->count > height && !first) {
            r->open[n] = false;
            tree_rows_make(r, NULL);
        }
    }
}

/* Then instructions, until the panel is full: some of each node at least, and a row that counts the
 * rest. */
static void open_instructions(struct tree_rows *r, size_t height, bool *tried)
{
    enum { SOME = 3 };

    memset(tried, 0, (size_t)r->tree->count * sizeof *tried);
    for (int n; r->count + SOME < height &&
                (n = next_to_open(r, tried, hides_instructions)) != TREE_NONE;) {
        uint32_t spare = (uint32_t)(height - r->count) - !r->open[n],
                 telling = r->tree->nodes[n].telling;
        tried[n] = r->open[n] = true;
        r->shown[n] = telling < spare ? telling : spare;
        tree_rows_make(r, NULL);
    }
}

void tree_rows_fit(struct tree_rows *r, int height)
{
    if (!r->tree || r->kept || r->fitted == height)
        return;
    size_t nodes = (size_t)r->tree->count;
    bool *tried = mem_try(nodes + 1, sizeof *tried);

    r->fitted = height;
    memset(r->open, 0, nodes * sizeof *r->open);
    memset(r->shown, 0, nodes * sizeof *r->shown);
    tree_rows_make(r, NULL);
    if (tried) {
        open_modules(r, (size_t)height, tried);
        open_instructions(r, (size_t)height, tried);
    }
    free(tried);
}

/* ---- a person's folds ---- */

void tree_rows_set_open(struct tree_rows *r, int node, bool open)
{
    r->open[node] = open;
    r->shown[node] = r->tree->nodes[node].telling;
}

void tree_rows_reveal(struct tree_rows *r, hlo_id id)
{
    int node = r->tree->node_of[id];
    const struct tree_node *own = &r->tree->nodes[node];
    bool told = false;

    r->kept = true;
    for (int n = own->parent; n != TREE_NONE; n = r->tree->nodes[n].parent)
        r->open[n] = true;
    tree_rows_set_open(r, node, true);
    for (uint32_t i = 0; i < own->telling; i++)
        told |= r->tree->order[own->first + i] == id;
    r->all |= !told;
}

struct unfolded {
    uint64_t path; /* its hash */
    uint32_t shown;
};

struct memory {
    bool all, kept;
    int fitted;
    size_t count;
    struct unfolded node[];
};

static uint64_t path_of(const struct tree *t, int n)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a, from the node to its root */

    for (; n != TREE_NONE; n = t->nodes[n].parent) {
        for (const char *c = t->nodes[n].name; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
        hash = (hash ^ '/') * 1099511628211u;
    }
    return hash;
}

void *tree_rows_remember(const struct tree_rows *r)
{
    struct memory *m =
        r->tree ? mem_try(1, sizeof *m + (size_t)r->tree->count * sizeof *m->node) : NULL;

    if (!m)
        return NULL;
    m->all = r->all;
    m->kept = r->kept;
    m->fitted = r->fitted;
    for (int n = 0; n < r->tree->count; n++) {
        if (r->open[n])
            m->node[m->count++] = (struct unfolded){path_of(r->tree, n), r->shown[n]};
    }
    return m;
}

static int by_path(const void *a, const void *b)
{
    const struct unfolded *x = a, *y = b;
    return x->path < y->path ? -1 : x->path > y->path;
}

void tree_rows_recall(struct tree_rows *r, const void *memory)
{
    const struct memory *m = memory;
    struct unfolded *sorted = r->tree ? mem_try(m->count + 1, sizeof *sorted) : NULL;

    if (!sorted)
        return;
    memcpy(sorted, m->node, m->count * sizeof *sorted);
    qsort(sorted, m->count, sizeof *sorted, by_path);
    for (int n = 0; n < r->tree->count; n++) {
        struct unfolded key = {.path = path_of(r->tree, n)};
        const struct unfolded *was = bsearch(&key, sorted, m->count, sizeof *sorted, by_path);
        uint32_t telling = r->tree->nodes[n].telling;
        r->open[n] = was != NULL;
        r->shown[n] = was && was->shown < telling ? was->shown : telling;
    }
    r->all = m->all;
    r->kept = m->kept;
    r->fitted = m->fitted;
    free(sorted);
}
