/* Which layers a model has: from the paths of its variables, from loops over stacked weights, from
 * scopes in op_name. */
#include "hlo/meaning/layers_internal.h"
#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <string.h>

/* ---- places ---- */

/* PLACE_UNKNOWN: there is none of that name. */
static uint32_t find_place(const struct places *p, const char *name, size_t size)
{
    struct slot_walk at;
    uint32_t n = slots_first(&p->slots, mem_hash(name, size, 0), &at);

    while (n != SLOTS_END && (strncmp(p->items[n].name, name, size) || p->items[n].name[size]))
        n = slots_next(&p->slots, &at);
    return n == SLOTS_END ? PLACE_UNKNOWN : n;
}

uint32_t hlo_place(struct layering *l, const char *name, size_t size, bool is_layer)
{
    struct places *p = &l->places;

    uint32_t place = find_place(p, name, size);
    if (place != PLACE_UNKNOWN) {
        p->items[place].is_layer |= is_layer;
        return place;
    }
    char *copy = arena_text(l->w->arena, name, size);
    if (!copy || !mem_grow(&p->items, &p->room, p->count, 1) ||
        !slots_add(&p->slots, mem_hash(name, size, 0), (uint32_t)p->count))
        return PLACE_UNKNOWN;
    p->items[p->count] = (struct place){.name = copy, .is_layer = is_layer};
    return (uint32_t)p->count++;
}

/* ---- paths of variables ---- */

static const char *path_of(const struct layering *l, uint32_t p)
{
    return l->paths[p];
}

/* What a module is inside of: "encoder" of encoder/layer_000, "" of layer_0. */
static size_t parent_of(const char *path, size_t size)
{
    while (size && path[size - 1] != '/')
        size--;
    return size ? size - 1 : 0;
}

static size_t common_prefix(const char *a, size_t size, const char *b)
{
    size_t whole = 0, i = 0;

    for (; i < size && b[i] && a[i] == b[i]; i++) {
        if (a[i] == '/')
            whole = i;
    }
    return i == size && (b[i] == '/' || !b[i]) ? size : whole;
}

/* state/0/12: names nothing. */
static bool is_index(const char *path)
{
    const char *rest = strchr(path, '/');

    return !path[strspn(path, "0123456789/")] || (rest && !rest[strspn(rest, "0123456789/")]);
}

/* Haiku's methods: res_net50/~/block_0/~/conv is res_net50/block_0/conv. NULL: out of memory. */
static const char *without_tildes(struct arena *a, const char *path)
{
    size_t size = 0;

    if (!strstr(path, "/~"))
        return path;
    char *copy = arena_text(a, path, strlen(path));
    for (const char *at = path; copy && *at;) {
        size_t part = strcspn(at, "/");
        if (part != 1 || *at != '~') {
            if (size)
                copy[size++] = '/';
            memmove(copy + size, at, part);
            size += part;
        }
        at += part;
        at += *at == '/';
    }
    if (copy)
        copy[size] = '\0';
    return copy;
}

/* "" for all but variables, and for mere indices. Arguments in a tuple, st[0]['fc1']['kernel']:
 * that all variables share "st/0" makes it no layer, it is left out. */
static bool set_paths(struct layering *l)
{
    const struct hlo_roles_work *w = l->w;
    const char *first = NULL;
    size_t size = 0, shortest = SIZE_MAX;

    for (uint32_t p = 0; p < w->param_count; p++) {
        const char *path =
            w->params[p].role == HLO_ROLE_VARIABLE ? hlo_path_without_root(w->paths[p]) : "";
        path = without_tildes(w->arena, path);
        if (!path)
            return false;
        l->paths[p] = is_index(path) ? "" : path;
        if (!*l->paths[p])
            continue;
        size = first ? common_prefix(first, size, path) : strlen(path);
        first = path;
        shortest = strlen(path) < shortest ? strlen(path) : shortest;
    }
    while (size && !(first[size - 1] >= '0' && first[size - 1] <= '9'))
        size--;
    if (!size || first[size] != '/' || !strchr(first + size + 1, '/') || size + 1 >= shortest)
        return true;
    for (uint32_t p = 0; p < w->param_count; p++)
        l->paths[p] += *l->paths[p] ? size + 1 : 0;
    return true;
}

/* A module beside numbered layers that has a matrix and at least one more variable is a layer too:
 * the stem of a residual network. A lone matrix (a table, a projection) or norm is not. */
struct sibling {
    uint32_t place, count;
    bool has_matrix;
};

static bool count_sibling(struct layering *l, uint32_t p, struct sibling *list,
                          const bool *is_parent)
{
    const char *path = path_of(l, p);
    size_t end = strlen(path);

    for (size_t size = strcspn(path, "/"); size < end; size += 1 + strcspn(path + size + 1, "/")) {
        size_t up = parent_of(path, size);
        uint32_t parent = up ? hlo_place(l, path, up, false) : PLACE_OUTSIDE;
        if (parent == PLACE_UNKNOWN)
            return false;
        if (!is_parent[parent])
            continue;
        uint32_t place = hlo_place(l, path, size, false);
        if (place == PLACE_UNKNOWN)
            return false;
        list[p].place = place;
        list[place].count++;
        list[place].has_matrix |= hlo_value_shape(l->w->m, l->w->params[p].value)->rank > 1;
        return true;
    }
    return true;
}

/* Parts of a path: each may become a place. */
static size_t count_parts(const struct layering *l)
{
    size_t parts = 0;

    for (uint32_t p = 0; p < l->w->param_count; p++) {
        for (const char *at = path_of(l, p); *at; at++)
            parts += *at == '/';
        parts += 3;
    }
    return parts;
}

/* The numbered module that variable `p` is in: a container of further modules, or, when the model
 * has no such, a plain layer. */
static size_t numbered_module(const char *path, bool containers)
{
    size_t dir = parent_of(path, strlen(path)), size = hlo_layer_of_path(path, dir);

    return containers && size == dir ? 0 : size;
}

bool hlo_layers_by_path(struct layering *l)
{
    struct hlo_roles_work *w = l->w;
    bool containers = false;
    size_t most = count_parts(l) + 2;
    bool *is_parent = mem_try(most, 1);
    struct sibling *siblings = mem_try(most + w->param_count, sizeof *siblings);
    bool ok = is_parent && siblings;

    for (uint32_t p = 0; p < w->param_count; p++)
        containers |= !l->of_param[p] && numbered_module(path_of(l, p), true) > 0;
    for (uint32_t p = 0; p < w->param_count && ok; p++) {
        const char *path = path_of(l, p);
        size_t size = numbered_module(path, containers);
        l->has_paths |= *path != '\0';
        if (!size || l->of_param[p])
            continue;
        l->of_param[p] = hlo_place(l, path, size, true);
        size_t up = parent_of(path, size);
        uint32_t parent = up ? hlo_place(l, path, up, false) : PLACE_OUTSIDE;
        ok = l->of_param[p] && parent;
        is_parent[parent] = true;
    }
    for (uint32_t p = 0; p < w->param_count && ok; p++) {
        if (!l->of_param[p] && *path_of(l, p))
            ok = count_sibling(l, p, siblings, is_parent);
    }
    for (uint32_t p = 0; p < w->param_count && ok; p++) {
        const char *path = path_of(l, p);
        uint32_t s = siblings[p].place;
        if (l->of_param[p] || !*path)
            continue;
        bool is_layer = s && siblings[s].count > 1 && siblings[s].has_matrix;
        size_t up = parent_of(path, strlen(path));
        l->of_param[p] = is_layer ? s : hlo_place(l, path, up ? up : strlen(path), false);
        ok = l->of_param[p] != PLACE_UNKNOWN;
        l->places.items[l->of_param[p]].is_layer |= is_layer;
    }
    free(is_parent);
    free(siblings);
    return ok;
}

/* ---- loops ---- */

/* Is a slice of `v`, a leaf of a loop's body, taken in each trip? */
static bool is_sliced(const struct hlo_roles_work *w, hlo_value v, int hops)
{
    for (uint32_t k = w->g.succ_first[v]; k < w->g.succ_first[v + 1]; k++) {
        hlo_value s = w->g.succs[k];
        uint16_t op = w->g.opcode[s];
        if (op == HLO_OP_DYNAMIC_SLICE || op == HLO_OP_GATHER)
            return true;
        if ((w->g.is_flow[s] || op == HLO_OP_RESHAPE || op == HLO_OP_CONVERT) &&
            op != HLO_OP_WHILE && op != HLO_OP_TUPLE && hops && is_sliced(w, s, hops - 1))
            return true;
    }
    return false;
}

static uint32_t stacked_variable(const struct layering *l, hlo_id loop, hlo_id param, uint32_t leaf)
{
    const struct hlo_roles_work *w = l->w;
    hlo_value v = hlo_graph_source(&w->g, hlo_value_of(w->m, hlo_operand(w->m, loop, 0), leaf));

    for (int hops = 0; hops < 4 && w->param_of[v] == HLO_NONE; hops++) {
        uint16_t op = w->g.opcode[v];
        if (op != HLO_OP_CONVERT && op != HLO_OP_COPY && op != HLO_OP_TRANSPOSE)
            break;
        v = hlo_graph_source(&w->g, w->g.preds[w->g.pred_first[v]]);
    }
    uint32_t p = w->param_of[v];
    bool is_stacked = p != HLO_NONE && w->params[p].role == HLO_ROLE_VARIABLE &&
                      is_sliced(w, hlo_value_of(w->m, param, leaf), 3);
    return is_stacked ? p : HLO_NONE;
}

/* One place for the loop and the weights it slices, unless those have layers of their own (a loop
 * over parts of a batch). */
static bool name_loop(struct layering *l, hlo_id loop, uint32_t *count)
{
    const struct hlo_module *m = l->w->m;
    const struct hlo_computation *body = &m->computations[hlo_called(m, loop, 0)];
    const char *name = NULL;
    uint32_t place = PLACE_UNKNOWN,
             leaves = body->param_count == 1 ? hlo_shape(m, loop)->leaf_count : 0;
    size_t size = 0;
    char fresh[24];

    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        uint32_t p = stacked_variable(l, loop, body->params[0], leaf);
        if (p == HLO_NONE)
            continue;
        if (l->of_param[p] && l->places.items[l->of_param[p]].is_layer) {
            place = l->of_param[p]; /* the forward loop named it */
            break;
        }
        const char *path = path_of(l, p);
        size = name ? common_prefix(name, size, path) : parent_of(path, strlen(path));
        name = path;
    }
    if (!name && !place)
        return true;
    if (!place && !size) {
        size = (size_t)snprintf(fresh, sizeof fresh, "loop_%u", (unsigned)(*count)++);
        name = fresh;
    }
    if (!place)
        place = hlo_place(l, name, size, true);
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        uint32_t p = stacked_variable(l, loop, body->params[0], leaf);
        if (p != HLO_NONE && !(l->of_param[p] && l->places.items[l->of_param[p]].is_layer))
            l->of_param[p] = place;
    }
    l->of[loop] = place;
    int64_t trips = hlo_trip_count(m, loop);
    if (place && !l->places.items[place].times) {
        l->places.items[place].times = trips > 1 && trips <= UINT32_MAX ? (uint32_t)trips : 1;
        l->places.items[place].loop = loop;
    }
    return place != PLACE_UNKNOWN;
}

bool hlo_layers_by_loop(struct layering *l)
{
    uint32_t count = 0, left = l->w->m->opcode_count[HLO_OP_WHILE];
    bool ok = set_paths(l);

    for (uint32_t n = 0; left && n < l->w->g.order_count && ok; n++) {
        hlo_id id = l->w->g.order[n];
        if (hlo_graph_opcode(&l->w->g, id) != HLO_OP_WHILE)
            continue;
        left--;
        if (hlo_at(l->w->m, id)->called_count)
            ok = name_loop(l, id, &count);
    }
    return ok;
}

/* ---- scopes ---- */

/* The known layers; those without a number are looked for in every scope. */
struct known {
    uint32_t *unnumbered, count;
    bool any;
};

static bool know_layers(const struct layering *l, struct known *k)
{
    *k = (struct known){.unnumbered = mem_try(l->places.count, sizeof *k->unnumbered)};
    for (uint32_t n = 2; k->unnumbered && n < l->places.count; n++) {
        const char *name = l->places.items[n].name;
        size_t size = strlen(name);
        k->any |= l->places.items[n].is_layer;
        if (l->places.items[n].is_layer && hlo_layer_of_path(name, size) != size)
            k->unnumbered[k->count++] = n;
    }
    return k->unnumbered;
}

/* A known unnumbered layer in a scope: at its beginning or behind a '/'. */
static uint32_t find_in_scope(const struct layering *l, const struct known *k, const char *scope)
{
    for (uint32_t n = 0; n < k->count; n++) {
        const char *name = l->places.items[k->unnumbered[n]].name;
        size_t size = strlen(name);
        for (const char *at = strstr(scope, name); at; at = strstr(at + 1, name)) {
            if ((at == scope || at[-1] == '/') && (!at[size] || at[size] == '/'))
                return k->unnumbered[n];
        }
    }
    return PLACE_UNKNOWN;
}

/* Numbered layers: the same as a variable's when the scope only has more modules around it. */
static uint32_t numbered_place(struct layering *l, const char *scope, size_t size, bool has_layers)
{
    for (size_t at = 0; at < size;) {
        uint32_t found = find_place(&l->places, scope + at, size - at);
        if (found && l->places.items[found].is_layer)
            return found;
        const char *next = memchr(scope + at, '/', size - at);
        at = next ? (size_t)(next - scope) + 1 : size;
    }
    return has_layers ? PLACE_UNKNOWN : hlo_place(l, scope, size, true);
}

/* TensorFlow numbers whole models: functional_2_1/dense_1. A numbered module that nearly all scopes
 * of the backward pass are in is not a layer. False when there is none. */
static bool common_module(const struct hlo_roles_work *w, struct str *name)
{
    size_t votes = 0, count = 0, all = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t n = 1; n < w->m->meta_count; n++) {
            struct hlo_scope_marks marks = w->scopes.marks[n];
            const char *scope = hlo_scope_of(&w->scopes, n);
            size_t size = strcspn(scope, "/");
            if (!(marks.is_gradient || marks.is_transposed) || !size)
                continue;
            bool is_same = name->size == size && !strncmp(name->text, scope, size);
            if (pass) {
                all++;
                count += is_same;
            } else if (!votes || is_same) { /* majority vote (Boyer and Moore) */
                votes++;
                str_clear(name);
                str_add_bytes(name, scope, size);
            } else {
                votes--;
            }
        }
    }
    bool is_module =
        all > 1 && count * 4 >= all * 3 && hlo_layer_of_path(name->text, name->size) == name->size;
    return is_module;
}

/* `size`: of the layer in the scope. */
static uint32_t place_of_scope(struct layering *l, const char *op_name, const char *scope,
                               size_t size, const struct known *k)
{
    uint32_t place = size ? numbered_place(l, scope, size, k->any) : PLACE_UNKNOWN;

    if (!place)
        place = find_in_scope(l, k, scope);
    if (!place && strchr(op_name, '/')) /* a bare "reduce_sum" says nothing */
        place = PLACE_OUTSIDE;
    return place;
}

bool hlo_layers_by_scope(struct layering *l, bool *found)
{
    const struct hlo_module *m = l->w->m;
    uint32_t *by_meta = mem_try(m->meta_count, sizeof *by_meta);
    const struct hlo_scopes *scopes = &l->w->scopes;
    struct str common = {0};
    struct known known;
    bool has_marks = false;

    if (!know_layers(l, &known) || !by_meta) {
        free(known.unnumbered);
        free(by_meta);
        return false;
    }
    bool has_common = !known.any && common_module(l->w, &common);
    *found = false;
    for (uint32_t n = 1; n < m->meta_count; n++) {
        struct hlo_scope_marks marks = scopes->marks[n];
        const char *text = hlo_scope_of(scopes, n);
        bool is_common = has_common && !strncmp(text, common.text, common.size) &&
                         (text[common.size] == '/' || !text[common.size]);
        size_t size = scopes->layer[n];
        if (is_common) {
            text += common.size + (text[common.size] == '/');
            size = hlo_layer_of_path(text, strlen(text));
        }
        if (scopes->at[n] == scopes->at[n - 1] && *text)
            by_meta[n] = by_meta[n - 1]; /* no bare operation, which says less */
        else
            by_meta[n] = place_of_scope(l, m->metas[n].op_name, text, size, &known);
        has_marks |= marks.is_transposed || marks.is_gradient;
        if (marks.is_derived || marks.is_transposed || marks.is_gradient)
            l->places.items[by_meta[n]].is_derived = true;
        *found |= by_meta[n] > PLACE_OUTSIDE;
    }
    for (uint32_t n = 2; n < l->places.count && has_marks && !known.any; n++)
        l->places.items[n].is_layer &=
            l->places.items[n].is_derived; /* not the optimizer's adam_1 */
    for (hlo_id id = 0; id < m->count && *found; id++) {
        uint32_t place = by_meta[m->instructions[id].meta];
        if (place && (place != PLACE_OUTSIDE || !l->of[id]))
            l->of[id] = place;
    }
    bool ok = !common.failed;
    str_release(&common);
    free(known.unnumbered);
    free(by_meta);
    return ok;
}
