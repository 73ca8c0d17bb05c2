#include "tui/watch/tree.h"

#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"
#include "tui/watch/tree_part.h"
#include "tui/watch/wave.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes by path ---- */

enum { TOPS_MOST = 64 };

struct building {
    struct tree *t;
    struct slots slots; /* of nodes, by parent and name */
    struct str scope;
    const char *tops[TOPS_MOST]; /* first parts of variables' paths; up to their slash */
    int top_count;
    char model[128];    /* scopes begin with it; "": with nothing */
    const char *common; /* "state/model/": paths of all variables begin with it; its length */
    size_t common_size;
    int *by_meta; /* [meta_count * HLO_PHASE_COUNT] node + 1 of a scope and phase; 0: not yet */
};

/* TREE_NONE: out of memory. */
static int new_node(struct tree *t, int parent, const char *name, int number)
{
    if (!mem_grow(&t->nodes, &t->room, (size_t)t->count, 1))
        return TREE_NONE;
    struct tree_node *n = &t->nodes[t->count];
    *n = (struct tree_node){.parent = parent,
                            .depth = parent == TREE_NONE ? 0 : t->nodes[parent].depth + 1,
                            .first_child = TREE_NONE,
                            .next = TREE_NONE,
                            .number = number};
    snprintf(n->name, sizeof n->name, "%s", name);
    return t->count++;
}

static int child(struct building *b, int parent, const char *part, size_t size)
{
    char name[TREE_NAME_ROOM];
    const struct tree_node *above = parent == TREE_NONE ? NULL : &b->t->nodes[parent];
    bool names = above && above->depth > 0 && above->number < 0;
    int number = tree_part_read(part, size, names ? above->name : NULL, name);

    uint64_t hash = mem_hash(name, strlen(name), (uint64_t)(parent + 2));
    struct slot_walk at;

    for (uint32_t k = slots_first(&b->slots, hash, &at); k != SLOTS_END;
         k = slots_next(&b->slots, &at)) {
        if (b->t->nodes[k].parent == parent && !strcmp(b->t->nodes[k].name, name))
            return (int)k;
    }
    int node = new_node(b->t, parent, name, number);
    if (node != TREE_NONE && !slots_add(&b->slots, hash, (uint32_t)node))
        return TREE_NONE;
    return node;
}

/* Down a path below `node`, at most DEPTH parts; formulas, and Haiku's ~, name no module. */
static int descend_path(struct building *b, int node, const char *path, size_t size)
{
    enum { DEPTH = 6 };

    for (size_t at = 0, depth = 0; at < size && depth < DEPTH && node != TREE_NONE; depth++) {
        size_t part = 0;
        while (at + part < size && path[at + part] != '/')
            part++;
        bool tells = part && !memchr(path + at, '>', part) && (part > 1 || path[at] != '~');
        if (tells && !hlo_scope_is_structural(path + at, part))
            node = child(b, node, path + at, part);
        at += part + 1;
    }
    return node;
}

/* ---- where paths begin ---- */

static void find_tops(struct building *b)
{
    const struct hlo_roles *roles = &b->t->problem->roles;

    for (uint32_t n = 0; n < roles->param_count && b->top_count < TOPS_MOST; n++) {
        const struct hlo_param_role *r = &roles->params[n];
        const char *path = r->module ? r->module : r->name;
        size_t size = strcspn(path, "/");
        bool known = r->role != HLO_ROLE_VARIABLE || !path[size];
        for (int k = 0; k < b->top_count && !known; k++)
            known = strcspn(b->tops[k], "/") == size && !memcmp(b->tops[k], path, size);
        if (!known)
            b->tops[b->top_count++] = path;
    }
}

static bool is_top(const struct building *b, const char *part)
{
    size_t size = strcspn(part, "/");

    for (int k = 0; k < b->top_count; k++) {
        if (strcspn(b->tops[k], "/") == size && !memcmp(b->tops[k], part, size))
            return true;
    }
    return false;
}

/* "Model" of "Model/encoder/layer_0", where variables are called "encoder/layer_0/..": the class of
 * the whole model, which its variables do not have. The first such is taken. */
static bool find_model(struct building *b)
{
    const struct problem *p = b->t->problem;
    bool *seen = mem_try((size_t)p->m->meta_count + 1, sizeof *seen);

    for (hlo_id id = 0; seen && id < p->m->count && !b->model[0]; id++) {
        struct hlo_scope_marks marks = {0};
        uint32_t meta = hlo_at(p->m, id)->meta;
        if (seen[meta])
            continue;
        seen[meta] = true;
        str_clear(&b->scope);
        hlo_scope_of_op_name(hlo_meta(p->m, id)->op_name, &b->scope, &marks);
        const char *rest = b->scope.size ? strchr(b->scope.text, '/') : NULL;
        if (rest && !is_top(b, b->scope.text) && is_top(b, rest + 1))
            snprintf(b->model, sizeof b->model, "%.*s", (int)(rest - b->scope.text), b->scope.text);
    }
    free(seen);
    return seen != NULL;
}

/* Size of the modules that a path begins with, up to one of several, with a number, or to a ~. */
static size_t modules_before_number(const char *path)
{
    char name[TREE_NAME_ROOM];
    size_t at = 0;

    for (;;) {
        size_t size = strcspn(path + at, "/");
        if (!path[at + size] || path[at] == '~' || tree_part_read(path + at, size, "", name) >= 0)
            return at;
        at += size + 1;
    }
}

/* The modules that all variables are in tell nothing. */
static void find_common(struct building *b)
{
    const struct hlo_roles *roles = &b->t->problem->roles;
    uint32_t variables = 0;

    for (uint32_t n = 0; n < roles->param_count; n++) {
        const struct hlo_param_role *r = &roles->params[n];
        const char *path = r->module ? r->module : r->name;
        size_t same = 0, whole = 0;
        if (r->role != HLO_ROLE_VARIABLE)
            continue;
        if (!variables++) {
            b->common = path;
            b->common_size = modules_before_number(path);
        }
        for (; same < b->common_size && path[same] == b->common[same]; same++)
            whole = path[same] == '/' ? same + 1 : whole;
        b->common_size = whole;
    }
    if (variables < 2)
        b->common_size = 0;
}

/* Without those above that tell nothing instructions and variables stand in one branch. */
static const char *below_common(const struct building *b, const char *path)
{
    size_t size = strlen(path), whole = b->common_size;

    if (whole && size + 1 == whole && !memcmp(path, b->common, size)) /* the module itself */
        return path + size;
    return path + (strncmp(path, b->common, whole) == 0 ? whole : 0);
}

static const char *below_model(const struct building *b, const char *scope)
{
    size_t size = strcspn(scope, "/");

    if (!b->model[0] || strlen(b->model) != size || memcmp(b->model, scope, size) != 0)
        return below_common(b, scope);
    return below_common(b, scope + size + (scope[size] == '/'));
}

/* ---- which instruction where ---- */

bool tree_is_telling(const struct tree *t, hlo_id id)
{
    switch (hlo_at(t->problem->m, id)->opcode) {
    case HLO_OP_DOT:
    case HLO_OP_CONVOLUTION:
    case HLO_OP_GATHER:
    case HLO_OP_SCATTER:
    case HLO_OP_REDUCE:
    case HLO_OP_REDUCE_WINDOW:
    case HLO_OP_SELECT_AND_SCATTER:
    case HLO_OP_SORT:
    case HLO_OP_CUSTOM_CALL:
    case HLO_OP_FUSION:
    case HLO_OP_DYNAMIC_UPDATE_SLICE:
    case HLO_OP_ALL_REDUCE:
    case HLO_OP_ALL_GATHER:
    case HLO_OP_REDUCE_SCATTER:
    case HLO_OP_ALL_TO_ALL:
        return true;
    default:
        return t->names[id] != NULL;
    }
}

/* Parameters stand where they are used first and are called by the end of their path. */
static int place_parameter(struct building *b, const struct hlo_param_role *r)
{
    static const char *const roots[HLO_ROLE_COUNT] = {[HLO_ROLE_VARIABLE] = "forward",
                                                      [HLO_ROLE_INPUT] = "inputs",
                                                      [HLO_ROLE_OPTIMIZER_STATE] = "update",
                                                      [HLO_ROLE_HYPER] = "inputs",
                                                      [HLO_ROLE_OTHER_STATE] = "inputs"};
    struct tree *t = b->t;
    hlo_id id = t->problem->m->value_instruction[r->value];
    const char *path = r->module ? r->module : r->name; /* the file may only number it */
    t->full[id] = path;
    const char *root = roots[r->role];
    int node = child(b, TREE_NONE, root, strlen(root));

    if (r->role != HLO_ROLE_VARIABLE) {
        if (r->role == HLO_ROLE_INPUT)
            t->names[id] = path;
        return node;
    }
    path = below_common(b, path);
    size_t size = strlen(path), parts = 1;
    for (const char *c = path; *c; c++)
        parts += *c == '/';
    size_t end = size, own = parts > 2 ? 2 : 1; /* ".../q/kernel": the module is what is before */
    while (end > 0 && parts > 1 && own > 0) {
        end--;
        own -= path[end] == '/';
    }
    if (parts < 2)
        end = 0;
    t->names[id] = path + (end ? end + 1 : 0);
    return descend_path(b, node, path, end);
}

static int place_instruction(struct building *b, hlo_id id)
{
    const struct problem *p = b->t->problem;
    int *known = &b->by_meta[(size_t)hlo_at(p->m, id)->meta * HLO_PHASE_COUNT + p->roles.phase[id]];
    if (*known)
        return *known - 1;
    const char *phase = hlo_phase_names[p->roles.phase[id]];
    int node = child(b, TREE_NONE, phase, strlen(phase));
    struct hlo_scope_marks marks = {0};

    str_clear(&b->scope);
    hlo_scope_of_op_name(hlo_meta(p->m, id)->op_name, &b->scope, &marks);
    if (b->scope.size) {
        const char *scope = below_model(b, b->scope.text);
        node = descend_path(b, node, scope, strlen(scope));
        *known = node == TREE_NONE ? 0 : node + 1;
        return node;
    }
    const char *layer = below_common(b, p->roles.layer_names[p->roles.layer[id]]);
    return descend_path(b, node, layer, strlen(layer));
}

static bool place_all(struct building *b)
{
    const struct problem *p = b->t->problem;
    static const char *const phases[] = {"forward", "backward", "update"};

    find_tops(b);
    find_common(b);
    if (!find_model(b))
        return false;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        if (child(b, TREE_NONE, phases[i], strlen(phases[i])) == TREE_NONE)
            return false;
    }
    for (hlo_id id = 0; id < p->m->count; id++)
        b->t->node_of[id] = TREE_NONE;
    for (hlo_id id = 0; id < p->m->count; id++) { /* modules in the order they are computed in */
        if (hlo_at(p->m, id)->opcode == HLO_OP_PARAMETER &&
            hlo_at(p->m, id)->computation == p->m->entry)
            continue;
        b->t->node_of[id] = place_instruction(b, id);
        if (b->t->node_of[id] == TREE_NONE)
            return false;
    }
    for (uint32_t n = 0; n < p->roles.param_count; n++) {
        const struct hlo_param_role *r = &p->roles.params[n];
        b->t->node_of[p->m->value_instruction[r->value]] = place_parameter(b, r);
    }
    for (hlo_id id = 0; id < p->m->count; id++) { /* parameters without leaves */
        if (b->t->node_of[id] == TREE_NONE)
            b->t->node_of[id] = place_instruction(b, id);
        if (b->t->node_of[id] == TREE_NONE)
            return false;
    }
    return true;
}

/* By node, in each the telling ones first. */
static void sort_instructions(struct tree *t)
{
    uint32_t count = t->problem->m->count, at = 0;

    for (hlo_id id = 0; id < count; id++) {
        t->nodes[t->node_of[id]].count++;
        t->nodes[t->node_of[id]].telling += tree_is_telling(t, id);
    }
    for (int n = 0; n < t->count; n++) {
        t->nodes[n].first = at;
        at += t->nodes[n].count;
    }
    uint32_t *next = mem_alloc(((size_t)t->count * 2 + 1) * sizeof *next);
    for (int n = 0; n < t->count; n++) {
        next[2 * n] = t->nodes[n].first;
        next[2 * n + 1] = t->nodes[n].first + t->nodes[n].telling;
    }
    for (hlo_id id = 0; id < count; id++)
        t->order[next[2 * t->node_of[id] + !tree_is_telling(t, id)]++] = id;
    free(next);
}

/* Order does not count, so that layers whose instructions were moved about stay alike. */
static uint64_t instruction_hash(const struct tree *t, hlo_id id)
{
    const struct hlo_module *m = t->problem->m;
    uint64_t hash = mem_hash(&hlo_at(m, id)->opcode, sizeof(uint16_t), 1);

    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++) {
        const struct hlo_shape *s = hlo_value_shape(m, v);
        hash = mem_hash(s->dims, s->rank * sizeof *s->dims, hash ^ s->type);
    }
    return hash;
}

static hlo_id first_telling(const struct tree *t, const struct tree_node *node)
{
    for (uint32_t i = 0; i < node->telling; i++) { /* ids ascend; parameters come before all */
        if (hlo_at(t->problem->m, t->order[node->first + i])->opcode != HLO_OP_PARAMETER)
            return t->order[node->first + i];
    }
    return HLO_NONE;
}

static void hash_nodes(struct tree *t)
{
    for (int n = 0; n < t->count; n++) {
        struct tree_node *node = &t->nodes[n];
        node->begins = first_telling(t, node);
        for (uint32_t i = 0; i < node->count; i++)
            node->hash += instruction_hash(t, t->order[node->first + i]);
        node->below = node->count;
    }
    for (int n = t->count - 1; n >= 0; n--) {
        const struct tree_node *node = &t->nodes[n];
        if (node->parent == TREE_NONE)
            continue;
        t->nodes[node->parent].below += node->below;
        if (node->begins < t->nodes[node->parent].begins)
            t->nodes[node->parent].begins = node->begins;
        t->nodes[node->parent].hash +=
            mem_hash(&node->hash, sizeof node->hash,
                     node->number < 0 ? mem_hash(node->name, strlen(node->name), 0) : 0);
    }
}

/* ---- order and series ---- */

struct placed {
    int node, number;
    hlo_id begins; /* 0 for phases: they stand in the order they were made in */
};

static int by_number(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if ((x->number < 0) != (y->number < 0))
        return x->number < 0 ? -1 : 1; /* what is not a layer first */
    if (x->number != y->number)
        return x->number - y->number;
    return x->begins != y->begins ? (x->begins < y->begins ? -1 : 1) : x->node - y->node;
}

/* "layer 3" without its number, "layers 0–2, 5" of several. */
static void name_series(char out[static TREE_NAME_ROOM], const char *layer, const int *numbers,
                        int count)
{
    const char *end_of = strrchr(layer, ' ');
    size_t size = end_of ? (size_t)(end_of - layer) : strlen(layer);
    bool plural = size >= 5 &&
                  (!memcmp(layer + size - 5, "layer", 5) || !memcmp(layer + size - 5, "block", 5));

    size = (size_t)snprintf(out, TREE_NAME_ROOM, "%.*s%s", (int)(size < 24 ? size : 24), layer,
                            plural ? "s" : "");
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && numbers[end] == numbers[end - 1] + 1;)
            end++;
        if (size + 24 > TREE_NAME_ROOM) {
            snprintf(out + size, TREE_NAME_ROOM - size, " ..");
            return;
        }
        size +=
            (size_t)snprintf(out + size, TREE_NAME_ROOM - size, "%s%d", i ? ", " : " ", numbers[i]);
        if (end - i > 1)
            size += (size_t)snprintf(out + size, TREE_NAME_ROOM - size, "–%d", numbers[end - 1]);
    }
}

/* Children of `parent` that are alike in operations and shapes get a node over them. */
static bool make_series(struct tree *t, int parent, struct placed *kids, int count)
{
    int *numbers = mem_alloc(((size_t)count + 1) * sizeof *numbers);
    bool ok = true;

    for (int i = 0; i < count && ok; i++) {
        int alike = 0, first = kids[i].node;
        if (kids[i].number < 0 || t->nodes[first].parent != parent)
            continue;
        for (int k = i; k < count; k++) {
            if (kids[k].number >= 0 && t->nodes[kids[k].node].hash == t->nodes[first].hash)
                numbers[alike++] = kids[k].number;
        }
        if (alike < 2)
            continue;
        char name[TREE_NAME_ROOM];
        name_series(name, t->nodes[first].name, numbers, alike);
        int series = new_node(t, parent, name, kids[i].number);
        ok = series != TREE_NONE;
        if (ok)
            t->nodes[series].begins = t->nodes[first].begins;
        for (int k = i; k < count && ok; k++) {
            if (kids[k].number < 0 || t->nodes[kids[k].node].hash != t->nodes[first].hash)
                continue;
            t->nodes[kids[k].node].parent = series;
            t->nodes[series].below += t->nodes[kids[k].node].below;
            t->nodes[series].series++;
        }
    }
    free(numbers);
    return ok;
}

/* Children of each node into a list: first what is not numbered, then layers in order. */
static bool link_children(struct tree *t)
{
    int *first = mem_try((size_t)t->count + 2, sizeof *first);
    struct placed *kids = mem_try((size_t)t->count + 1, sizeof *kids);

    if (first && kids) {
        for (int n = 0; n < t->count; n++)
            first[t->nodes[n].parent + 2]++;
        for (int n = 1; n < t->count + 2; n++)
            first[n] += first[n - 1];
        for (int n = 0; n < t->count; n++)
            kids[first[t->nodes[n].parent + 1]++] = (struct placed){
                n, t->nodes[n].number, t->nodes[n].parent == TREE_NONE ? 0 : t->nodes[n].begins};
        for (int n = -1, at = 0; n < t->count; n++) {
            int end = first[n + 1], *link = n < 0 ? &t->first_root : &t->nodes[n].first_child;
            qsort(kids + at, (size_t)(end - at), sizeof *kids, by_number);
            for (int i = at; i < end; i++) {
                *link = kids[i].node;
                link = &t->nodes[kids[i].node].next;
            }
            *link = TREE_NONE;
            at = end;
        }
    }
    bool ok = first && kids;
    free(first);
    free(kids);
    return ok;
}

static bool fold_layers(struct tree *t)
{
    int before = t->count;
    struct placed *kids = mem_try((size_t)t->count + 1, sizeof *kids);
    bool ok = kids && link_children(t);

    for (int n = 0; n < before && ok; n++) {
        int count = 0;
        for (int k = t->nodes[n].first_child; k != TREE_NONE; k = t->nodes[k].next)
            kids[count++] = (struct placed){.node = k, .number = t->nodes[k].number};
        ok = make_series(t, n, kids, count);
    }
    free(kids);
    return ok && link_children(t);
}

/* Series were added behind their members: depths anew from the top. */
static void set_depths(struct tree *t, int node, int depth)
{
    for (; node != TREE_NONE; node = t->nodes[node].next) {
        t->nodes[node].depth = depth;
        if (depth < 32)
            set_depths(t, t->nodes[node].first_child, depth + 1);
    }
}

int tree_new(const struct problem *p, struct tree **out, struct err *e)
{
    struct tree *t = mem_alloc(sizeof *t);
    struct building b = {.t = t};
    size_t count = (size_t)p->m->count + 1;

    t->problem = p;
    t->first_root = TREE_NONE;
    t->order = mem_try(count, sizeof *t->order);
    t->names = mem_try(count, sizeof *t->names);
    t->full = mem_try(count, sizeof *t->full);
    t->node_of = mem_try(count, sizeof *t->node_of);
    b.by_meta = mem_try((size_t)p->m->meta_count * HLO_PHASE_COUNT, sizeof *b.by_meta);
    bool ok = t->order && t->names && t->full && t->node_of && b.by_meta && place_all(&b);
    if (ok) {
        sort_instructions(t);
        hash_nodes(t);
        ok = fold_layers(t);
    }
    slots_release(&b.slots);
    str_release(&b.scope);
    free(b.by_meta);
    if (!ok) {
        tree_free(t);
        return err_set(e, ERR_MEMORY, "not enough memory for the tree of %u instructions",
                       p->m->count);
    }
    set_depths(t, t->first_root, 0);
    *out = t;
    return 0;
}

void tree_free(struct tree *t)
{
    if (!t)
        return;
    free(t->nodes);
    free(t->order);
    free(t->names);
    free(t->full);
    free(t->node_of);
    free(t);
}

char *tree_path(const struct tree *t, int node, const char *between, char *out, size_t room)
{
    enum { DEEP = 16 };
    int up[DEEP], depth = 0;
    size_t size = 0;

    for (int n = node; n != TREE_NONE && depth < DEEP; n = t->nodes[n].parent) {
        if (n == node || !t->nodes[n].series)
            up[depth++] = n;
    }
    out[0] = 0;
    while (depth-- > 0 && size < room) {
        int more = snprintf(out + size, room - size, "%s%s", t->nodes[up[depth]].name,
                            depth ? between : "");
        size += more > 0 ? (size_t)more : 0;
    }
    return out;
}

bool tree_is_state(const struct tree *t, hlo_id id)
{
    const struct hlo_roles *r = &t->problem->roles;

    for (uint32_t k = 0; t->full[id] && k < r->param_count; k++) {
        if (t->problem->m->value_instruction[r->params[k].value] == id)
            return r->params[k].role == HLO_ROLE_OPTIMIZER_STATE;
    }
    return false;
}

const char *tree_instruction_name(const struct tree *t, hlo_id id)
{
    const struct hlo_module *m = t->problem->m;

    if (t->names[id])
        return t->names[id];
    return t->full[id] && m->leaf_base[id + 1] - m->leaf_base[id] == 1 ? t->full[id]
                                                                       : hlo_name(m, id);
}

/* ---- figures ---- */

static double sum_ms(struct tree *t, const struct watch *w, int n)
{
    struct tree_node *node = &t->nodes[n];

    node->ms = 0;
    for (uint32_t i = 0; i < node->count; i++)
        node->ms += w->ms[t->order[node->first + i]];
    for (int k = node->first_child; k != TREE_NONE; k = t->nodes[k].next)
        node->ms += sum_ms(t, w, k);
    return node->ms;
}

static void read_times(struct tree *t, const struct watch *w)
{
    if (t->ms_version == w->ms_version)
        return;
    t->ms_version = w->ms_version;
    t->ms = w->ms;
    t->total_ms = t->most_ms = 0;
    for (int n = t->first_root; n != TREE_NONE; n = t->nodes[n].next) {
        double ms = sum_ms(t, w, n);
        t->total_ms += ms;
        t->most_ms = ms > t->most_ms ? ms : t->most_ms;
    }
}

/* Of its own telling instructions: open when one is, split when one is, else whole. */
static void mark_node(struct tree *t, const struct watch *w, struct tree_node *node)
{
    bool open = false, split = false, next = false, any = false;

    node->differs = false;
    for (uint32_t i = 0; i < node->telling; i++) {
        hlo_id id = t->order[node->first + i];
        int status = watch_status(w, id), move = watch_move_of_instruction(w, id);
        any |= status != -2;
        open |= status == -1;
        split |= status == 1;
        next |= w->position != MOVE_NONE && move == w->position;
        node->differs |= move != MOVE_NONE && w->best && watch_optimum(w) &&
                         w->move[move].best != w->move[move].exact;
    }
    node->mark = (uint8_t)(!any || node->first_child != TREE_NONE ? TREE_MIXED
                           : next                                 ? TREE_NEXT
                           : open                                 ? TREE_OPEN
                           : split                                ? TREE_SPLIT
                                                                  : TREE_WHOLE);
}

static void take_steps(struct tree_node *n, uint16_t first, uint16_t last)
{
    if (!first)
        return;
    n->wave_first = n->wave_first && n->wave_first < first ? n->wave_first : first;
    n->wave_last = n->wave_last > last ? n->wave_last : last;
}

static void sum_wave(struct tree *t, const struct watch *w, int n)
{
    const struct classes *c = &w->problem->classes;
    const uint32_t *leaf = c->m->leaf_base;
    struct tree_node *node = &t->nodes[n];

    node->wave_first = node->wave_last = 0;
    for (uint32_t i = 0; w->wave.steps && i < node->count; i++) {
        hlo_id id = t->order[node->first + i];
        for (dim_id d = c->dim_base[leaf[id]]; d < c->dim_base[leaf[id + 1]]; d++)
            take_steps(node, w->wave.step[d], w->wave.step[d]);
    }
    for (int k = node->first_child; k != TREE_NONE; k = t->nodes[k].next) {
        sum_wave(t, w, k);
        take_steps(&t->nodes[n], t->nodes[k].wave_first, t->nodes[k].wave_last);
    }
}

static void read_wave(struct tree *t, const struct watch *w)
{
    if (t->has_wave == (w->wave.steps > 0) &&
        (!t->has_wave || t->wave_decision == w->wave.decision))
        return;
    t->has_wave = w->wave.steps > 0;
    t->wave_decision = w->wave.decision;
    for (int n = t->first_root; n != TREE_NONE; n = t->nodes[n].next)
        sum_wave(t, w, n);
}

enum wave_light tree_light(const struct tree_node *n, const struct wave *v)
{
    if (!v->steps || !n->wave_first || n->wave_first > v->shown)
        return WAVE_DARK;
    return n->wave_last >= v->shown && v->shown < v->steps ? WAVE_FRONT : WAVE_LIT;
}

void tree_read(struct tree *t, const struct watch *w)
{
    read_times(t, w);
    read_wave(t, w);
    for (int n = 0; n < t->count; n++)
        mark_node(t, w, &t->nodes[n]);
}
