#include "hlo/meaning/roles.h"
#include "hlo/meaning/roles_internal.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/module/inline.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *const hlo_role_names[HLO_ROLE_COUNT] = {
    [HLO_ROLE_VARIABLE] = "variable",
    [HLO_ROLE_OPTIMIZER_STATE] = "optimizer state",
    [HLO_ROLE_INPUT] = "input",
    [HLO_ROLE_HYPER] = "hyper-parameter",
    [HLO_ROLE_OTHER_STATE] = "other state",
};
const char *const hlo_phase_names[HLO_PHASE_COUNT] = {
    [HLO_PHASE_FORWARD] = "forward",
    [HLO_PHASE_BACKWARD] = "backward",
    [HLO_PHASE_UPDATE] = "update",
    [HLO_PHASE_OTHER] = "other",
};
const char *const hlo_role_source_names[HLO_ROLE_SOURCE_COUNT] = {
    [HLO_BY_LIST] = "list", [HLO_BY_NAME] = "name",     [HLO_BY_ALIAS] = "aliasing",
    [HLO_BY_USE] = "use",   [HLO_BY_PERSON] = "person",
};

const char *const hlo_confidence_names[HLO_CONFIDENCE_COUNT] = {
    [HLO_CERTAIN] = "certain", [HLO_LIKELY] = "likely", [HLO_DOUBTFUL] = "doubtful"};

static const char MEMORY_FOR[] = "for the roles of the parameters";

/* ---- names of parameters ---- */

/* Arg_0, param_3, p0, arg12: numbered by a compiler, not named by a person. */
static bool is_generic(const char *name, size_t size)
{
    static const char *const stems[] = {"arg", "args",      "param",  "parameter",
                                        "p",   "arg_tuple", "unnamed"};

    while (size && (isdigit((unsigned char)name[size - 1]) || name[size - 1] == '_' ||
                    name[size - 1] == '.'))
        size--;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        size_t k = 0;
        while (k < size && tolower((unsigned char)name[k]) == stems[i][k])
            k++;
        if (k == size && !stems[i][k])
            return true;
    }
    return false;
}

/* The path of an argument, "" when the file does not name it. */
static bool path_of_param(const struct hlo_module *m, hlo_id id, struct str *out)
{
    const char *op_name = hlo_meta(m, id)->op_name, *name = hlo_name(m, id);

    str_clear(out);
    str_add(out, "");
    if (hlo_is_argument_path(op_name) && !is_generic(op_name, strlen(op_name)))
        hlo_path_of_op_name(op_name, out);
    else if (!is_generic(name, strlen(name)))
        hlo_path_of_instruction(name, out);
    return !out->failed;
}

static void set_alias(struct hlo_roles_work *w, hlo_value parameter, uint32_t output)
{
    w->is_aliased[w->param_of[parameter]] = true;
    w->given_to[w->param_of[parameter]] = output;
}

static int set_params(struct hlo_roles_work *w, struct err *e)
{
    const struct hlo_module *m = w->m;
    const struct hlo_computation *entry = &m->computations[m->entry];
    struct str path = {0};
    uint32_t n = 0;
    bool ok = true;

    for (uint32_t p = 0; p < entry->param_count && ok; p++) {
        hlo_id id = entry->params[p];
        uint32_t leaves = hlo_shape(m, id)->leaf_count;
        ok = path_of_param(m, id, &path);
        size_t size = path.size;
        for (uint32_t leaf = 0; leaf < leaves && ok; leaf++, n++) {
            struct hlo_param_role *r = &w->params[n];
            *r = (struct hlo_param_role){.value = hlo_value_of(m, id, leaf),
                                         .parameter = p,
                                         .leaf = leaf,
                                         .of = HLO_NONE,
                                         .gradient = HLO_NONE,
                                         .updated = HLO_NONE};
            if (leaves > 1 && size) {
                path.size = size;
                str_format(&path, "/%u", (unsigned)leaf);
            }
            w->param_of[r->value] = n;
            w->paths[n] = path.failed ? NULL : arena_text(w->arena, path.text, path.size);
            ok = w->paths[n] != NULL;
        }
    }
    str_release(&path);
    if (!ok)
        return err_no_memory(e, MEMORY_FOR);
    for (uint32_t k = 0; k < m->alias_count + m->donor_count; k++) {
        const struct hlo_alias *a =
            k < m->alias_count ? &m->aliases[k] : &m->donors[k - m->alias_count];
        if (a->param < entry->param_count &&
            a->param_leaf < hlo_shape(m, entry->params[a->param])->leaf_count)
            set_alias(w, hlo_value_of(m, entry->params[a->param], a->param_leaf),
                      k < m->alias_count ? a->out : HLO_NONE);
    }
    return 0;
}

struct short_name {
    uint64_t hash;
    uint32_t param;
};

static int by_short_name(const void *a, const void *b)
{
    const struct short_name *x = a, *y = b;

    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Variables of two networks, state['g'] and state['d'], that the argument's name alone tells apart.
 * False: out of memory. */
static bool mark_namesakes(const struct hlo_roles_work *w, bool *is_namesake)
{
    struct short_name *list = mem_try(w->param_count, sizeof *list);
    uint32_t count = 0;

    for (uint32_t p = 0; list && p < w->param_count; p++) {
        const char *name = hlo_path_without_root(w->paths[p]);
        if (w->params[p].role == HLO_ROLE_VARIABLE && *name)
            list[count++] = (struct short_name){mem_hash(name, strlen(name), 0), p};
    }
    if (count)
        qsort(list, count, sizeof *list, by_short_name);
    for (uint32_t n = 1; n < count; n++)
        if (list[n].hash == list[n - 1].hash)
            is_namesake[list[n].param] = is_namesake[list[n - 1].param] = true;
    bool ok = list != NULL;
    free(list);
    return ok;
}

/* As a person knows it: variables without the argument's own name, where that is not needed. */
static int set_names(struct hlo_roles_work *w, struct err *e)
{
    bool *is_namesake = mem_try(w->param_count, sizeof *is_namesake);
    int rc = is_namesake && mark_namesakes(w, is_namesake) ? 0 : err_no_memory(e, MEMORY_FOR);

    for (uint32_t p = 0; p < w->param_count && !rc; p++) {
        struct hlo_param_role *r = &w->params[p];
        hlo_id id = w->m->value_instruction[r->value];
        const char *path = w->paths[p], *name = hlo_name(w->m, id);
        char leaf[16] = "";
        struct str s = {0};

        if (!*path && hlo_shape(w->m, id)->leaf_count > 1)
            snprintf(leaf, sizeof leaf, "/%u", (unsigned)r->leaf);
        str_add(&s, !*path                                            ? name
                    : r->role == HLO_ROLE_VARIABLE && !is_namesake[p] ? hlo_path_without_root(path)
                                                                      : path);
        str_add(&s, leaf);
        r->name = s.failed ? NULL : arena_text(w->arena, s.text, s.size);
        str_release(&s);
        if (!r->name)
            rc = err_no_memory(e, MEMORY_FOR);
    }
    free(is_namesake);
    return rc;
}

/* ---- the list of variables ---- */

enum key_kind {
    KEY_END,   /* the end of a path */
    KEY_WHOLE, /* all of it but the name of the argument it is in */
    KEY_OWN    /* the parameter's own name, or the whole path */
};

struct key {
    uint64_t hash;
    uint32_t param;
    enum key_kind kind;
};

struct keys {
    struct key *items;
    size_t count, room;
};

static bool add_key(struct keys *k, const char *text, uint32_t param, enum key_kind kind)
{
    if (!mem_grow(&k->items, &k->room, k->count, 1))
        return false;
    k->items[k->count++] = (struct key){mem_hash(text, strlen(text), 0), param, kind};
    return true;
}

static int by_hash(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->param < y->param ? -1 : x->param > y->param;
}

static bool collect_keys(const struct hlo_roles_work *w, struct keys *k)
{
    bool ok = true;

    for (uint32_t p = 0; p < w->param_count && ok; p++) {
        hlo_id id = w->m->value_instruction[w->params[p].value];
        const char *path = w->paths[p], *tail = hlo_path_without_root(path);
        ok = add_key(k, hlo_name(w->m, id), p, KEY_OWN) &&
             add_key(k, hlo_meta(w->m, id)->op_name, p, KEY_OWN);
        for (const char *at = path; ok && *at; at = strchr(at, '/') ? strchr(at, '/') + 1 : "")
            ok = add_key(k, at, p, at == path ? KEY_OWN : at == tail ? KEY_WHOLE : KEY_END);
    }
    if (ok && k->count)
        qsort(k->items, k->count, sizeof *k->items, by_hash);
    return ok;
}

/* First of the keys with the hash of `text`. */
static size_t find_key(const struct keys *k, const char *text)
{
    uint64_t hash = mem_hash(text, strlen(text), 0);
    size_t low = 0, high = k->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (k->items[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low < k->count && k->items[low].hash == hash ? low : k->count;
}

static void pin_role(struct hlo_roles_work *w, uint32_t p)
{
    w->is_fixed[p] = true;
    w->params[p].role = HLO_ROLE_VARIABLE;
    w->params[p].source = HLO_BY_LIST;
    w->params[p].evidence = "in the list of variables";
}

/* Whole names first; of ends of paths those that a derivative can reach (moments end alike). Keys
 * of less than `least` do not count. */
static bool pin_by_name(struct hlo_roles_work *w, const struct keys *k, const char *name,
                        enum key_kind least)
{
    size_t first = find_key(k, name), end = first;
    bool has_any = false, has_whole = false, has_read = false;

    for (; end < k->count && k->items[end].hash == k->items[first].hash; end++) {
        has_any |= k->items[end].kind >= least;
        has_whole |= k->items[end].kind >= KEY_WHOLE;
        has_read |= w->is_read[k->items[end].param];
    }
    for (size_t n = first; n < end && has_any; n++) {
        bool is_whole = k->items[n].kind >= KEY_WHOLE;
        if (k->items[n].kind >= least &&
            (has_whole ? is_whole : !has_read || w->is_read[k->items[n].param]))
            pin_role(w, k->items[n].param);
    }
    return has_any;
}

/* "12" or "12 encoder/kernel"; a parameter whose own name is digits is matched by name before, one
 * whose path ends in them ("data/12") is not. */
static int pin_by_number(struct hlo_roles_work *w, const char *text, struct err *e)
{
    uint64_t number = 0;
    size_t i = 0;

    for (; text[i] >= '0' && text[i] <= '9' && number < UINT32_MAX; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    const char *name = text + i + strspn(text + i, " \t");
    const struct hlo_computation *entry = &w->m->computations[w->m->entry];
    uint32_t leaves =
        number < entry->param_count ? hlo_shape(w->m, entry->params[number])->leaf_count : 0;
    for (uint32_t leaf = 0; leaf < leaves; leaf++) {
        uint32_t p = w->param_of[hlo_value_of(w->m, entry->params[number], leaf)];
        size_t n = strlen(name), have = strlen(w->paths[p]);
        if (n && have &&
            (n > have || strcmp(w->paths[p] + have - n, name) ||
             (n < have && w->paths[p][have - n - 1] != '/')))
            return err_set(
                e, ERR_INPUT,
                "the list of variables calls parameter %u \"%.100s\", but its name is \"%.100s\"",
                (unsigned)number, name, w->paths[p]);
        pin_role(w, p);
    }
    if (number >= entry->param_count)
        return err_set(e, ERR_INPUT,
                       "the list of variables names parameter %.20s, but there are only %u", text,
                       (unsigned)entry->param_count);
    return 0;
}

static bool is_number_first(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return digits && (!text[digits] || text[digits] == ' ' || text[digits] == '\t');
}

/* One name of the list; `path` is scratch. */
static int pin_one(struct hlo_roles_work *w, const struct keys *keys, const char *name,
                   struct str *path, struct err *e)
{
    bool is_number = is_number_first(name);

    if (pin_by_name(w, keys, name, is_number ? KEY_OWN : KEY_END))
        return 0;
    if (is_number)
        return pin_by_number(w, name, e);
    str_clear(path);
    str_add(path, "");
    hlo_path_of_op_name(name, path);
    if (path->failed)
        return err_no_memory(e, MEMORY_FOR);
    return pin_by_name(w, keys, path->text, KEY_END)
               ? 0
               : err_set(e, ERR_INPUT,
                         "the list of variables names \"%.200s\", but no parameter has that name",
                         name);
}

static int apply_vars(struct hlo_roles_work *w, const struct hlo_vars *vars, struct err *e)
{
    struct keys keys = {0};
    struct str path = {0};
    int code = collect_keys(w, &keys) ? 0 : err_no_memory(e, MEMORY_FOR);

    for (uint32_t n = 0; n < vars->count && !code; n++) {
        code = pin_one(w, &keys, vars->names[n] + (vars->names[n][0] == '%'), &path, e);
        if (code == ERR_INPUT && vars->file) {
            e->line = vars->places[n].line;
            e->col = vars->places[n].col;
            err_in_file(e, vars->file);
        }
    }
    str_release(&path);
    free(keys.items);
    return code;
}

/* ---- the whole ---- */

static int work_init(struct hlo_roles_work *w, const struct hlo_module *m, struct arena *arena,
                     struct err *e)
{
    const struct hlo_computation *entry = &m->computations[m->entry];

    *w = (struct hlo_roles_work){.m = m, .loss = HLO_NONE, .arena = arena};
    for (uint32_t p = 0; p < entry->param_count; p++)
        w->param_count += hlo_shape(m, entry->params[p])->leaf_count;
    w->output_count = hlo_shape(m, entry->root)->leaf_count;
    hlo_roles_beside_begin(w);
    int code = hlo_graph_new(m, &w->g, e);
    if (code)
        return code;
    uint32_t n = w->param_count;
    w->params = arena_get(arena, (size_t)n + 1, sizeof *w->params);
    w->phase = arena_get(arena, (size_t)m->count + 1, 1);
    w->layer = arena_get(arena, (size_t)m->count + 1, sizeof *w->layer);
    w->paths = mem_try(n, sizeof *w->paths);
    w->is_fixed = mem_try(n, 1);
    w->is_aliased = mem_try(n, 1);
    w->given_to = mem_try(n, sizeof *w->given_to);
    w->has_moments = mem_try(n, 1);
    w->is_read = mem_try(n, 1);
    w->is_counted = mem_try(n, 1);
    w->param_of = mem_try(m->value_count, sizeof *w->param_of);
    w->is_free = mem_try(m->value_count, 1);
    w->single = mem_try(m->value_count, sizeof *w->single);
    w->is_spread = mem_try(m->value_count, 1);
    w->outputs = mem_try(w->output_count, sizeof *w->outputs);
    w->output_param = mem_try(w->output_count, sizeof *w->output_param);
    w->claims = mem_try(w->output_count, sizeof *w->claims);
    w->claim_of = mem_try(m->value_count, sizeof *w->claim_of);
    w->is_new = mem_try(m->value_count, 1);
    if (!w->params || !w->phase || !w->layer || !w->paths || !w->is_fixed || !w->is_aliased ||
        !w->given_to || !w->is_read || !w->is_counted || !w->has_moments || !w->param_of ||
        !w->is_free || !w->single || !w->is_spread || !w->outputs || !w->output_param ||
        !w->claims || !w->claim_of || !w->is_new || !hlo_reach_init(&w->forward, &w->g) ||
        !hlo_reach_init(&w->backward, &w->g) || !hlo_reach_init(&w->scratch, &w->g))
        return err_no_memory(e, MEMORY_FOR);
    memset(w->param_of, 0xff, m->value_count * sizeof *w->param_of);
    memset(w->given_to, 0xff, n * sizeof *w->given_to);
    for (uint32_t o = 0; o < w->output_count; o++)
        w->outputs[o] = hlo_value_of(m, entry->root, o);
    return set_params(w, e);
}

static void work_release(struct hlo_roles_work *w)
{
    beside_end(&w->beside);
    beside_end(&w->depth_beside);
    beside_end(&w->made_beside);
    hlo_reach_release(&w->made);
    free(w->depth);
    hlo_graph_release(&w->g);
    free(w->paths);
    free(w->is_fixed);
    free(w->is_aliased);
    free(w->given_to);
    free(w->has_moments);
    free(w->is_read);
    free(w->is_counted);
    free(w->param_of);
    free(w->is_free);
    free(w->single);
    free(w->is_spread);
    free(w->outputs);
    free(w->output_param);
    free(w->claims);
    free(w->claim_pool);
    free(w->claim_of);
    free(w->is_new);
    hlo_reach_release(&w->forward);
    hlo_reach_release(&w->backward);
    hlo_reach_release(&w->scratch);
    hlo_scopes_release(&w->scopes);
    free(w->flops);
}

/* The instruction of the file's name, also when calls were inlined. */
static hlo_id find_named(const struct hlo_module *m, const char *name)
{
    hlo_id id = hlo_find(m, name);

    name += *name == '%';
    for (hlo_id k = 0; id == HLO_NONE && m->origin && k < m->count; k++) {
        if (!strcmp(hlo_name(m->source, m->origin[k]), name))
            id = k;
    }
    return id;
}

/* The one leaf of [first, end) that may be a loss. */
static hlo_value scalar_of(const struct hlo_roles_work *w, hlo_value first, hlo_value end)
{
    hlo_value one = HLO_NONE;

    for (hlo_value v = first; v < end; v++) {
        if (!hlo_work_is_scalar(w, v) || !hlo_work_is_float(w, v))
            continue;
        if (one != HLO_NONE)
            return HLO_NONE;
        one = v;
    }
    return one;
}

/* The loss a person named: %add.7, or #3 for leaf 3 of the result. */
static int give_loss(struct hlo_roles_work *w, const char *name, struct err *e)
{
    const struct hlo_module *m = w->m;
    char *end = NULL;
    unsigned long leaf = name[0] == '#' ? strtoul(name + 1, &end, 10) : 0;
    hlo_value v = HLO_NONE;

    if (end && end > name + 1 && !*end) {
        if (leaf >= w->output_count)
            return err_set(e, ERR_INPUT,
                           "the loss is said to be leaf %.20s of the result, which has %u", name,
                           (unsigned)w->output_count);
        v = hlo_value_of(m, m->computations[m->entry].root, (uint32_t)leaf);
        v = scalar_of(w, v, v + 1);
    } else {
        hlo_id id = find_named(m, name);
        if (id == HLO_NONE)
            return err_set(e, ERR_INPUT,
                           "the loss is said to be %.100s, but no instruction has that name", name);
        v = scalar_of(w, m->leaf_base[id], m->leaf_base[id + 1]);
    }
    if (v == HLO_NONE)
        return err_set(
            e, ERR_INPUT,
            "the loss is said to be %.100s, expected an instruction that makes one number", name);
    w->loss = hlo_graph_source(&w->g, v);
    w->loss_by_person = arena_text(w->arena, name, strlen(name));
    w->loss_source = "a person said so";
    return w->loss_by_person ? 0 : err_no_memory(e, MEMORY_FOR);
}

/* What a list or a person said of the parameters before. */
static void take_given(struct hlo_roles_work *w, const struct hlo_roles *before)
{
    for (uint32_t p = 0; p < w->param_count; p++) {
        const struct hlo_param_role *r = &before->params[p];
        if (r->source != HLO_BY_LIST && r->source != HLO_BY_PERSON)
            continue;
        w->is_fixed[p] = true;
        w->params[p].role = r->role;
        w->params[p].source = r->source;
        w->params[p].evidence =
            r->source == HLO_BY_LIST ? "in the list of variables" : "a person said so";
    }
}

/* `before`: earlier roles whose given ones (list, person) are kept; NULL: none. */
static int understand(struct hlo_roles_work *w, const struct hlo_vars *vars,
                      const struct hlo_roles *before, struct err *e)
{
    static int (*const after_roles[])(struct hlo_roles_work *, struct err *) = {
        set_names, hlo_roles_beside_end, hlo_roles_phases, hlo_roles_layers, hlo_roles_modules};
    bool has_list = vars && vars->count;
    const char *loss = vars && vars->loss ? vars->loss : before ? before->loss_by_person : NULL;
    int code = loss ? give_loss(w, loss, e) : 0;

    if (!code)
        code = hlo_roles_flow(w, e);
    hlo_roles_depth_begin(w); /* the flow may have cut edges; nothing after it does */
    if (!code && has_list)
        code = apply_vars(w, vars, e);
    if (code)
        return code;
    if (before)
        take_given(w, before);
    if ((code = hlo_roles_gradients(w, e)))
        return code;
    hlo_roles_decide(w, has_list);
    for (size_t n = 0; n < sizeof after_roles / sizeof *after_roles && !code; n++)
        code = after_roles[n](w, e);
    return code;
}

static hlo_value value_in(const struct hlo_module *m, const struct hlo_module *inlined, hlo_value v)
{
    if (v == HLO_NONE || m == inlined)
        return v;
    hlo_id id = inlined->value_instruction[v];
    return hlo_value_of(m, inlined->origin[id], v - inlined->leaf_base[id]);
}

/* From the inlined copy back to the module; `image` as hlo_inline_mapped gives it. */
static int project(const struct hlo_module *m, struct hlo_roles_work *w, const hlo_id *image,
                   struct hlo_roles *out, struct err *e)
{
    out->params = w->params;
    out->param_count = w->param_count;
    out->layer_names = w->layer_names;
    out->layer_times = w->layer_times;
    out->layer_coverage = w->layer_coverage;
    out->layer_count = w->layer_count;
    out->phase_source = w->phase_source;
    out->layer_source = w->layer_source;
    out->loss = value_in(m, w->m, w->loss);
    out->loss_source = w->loss_source;
    out->loss_confidence = w->loss_confidence;
    out->loss_by_person = w->loss_by_person;
    for (uint32_t p = 0; p < w->param_count; p++) {
        struct hlo_param_role *r = &w->params[p];
        r->value = value_in(m, w->m, r->value);
        r->gradient = value_in(m, w->m, r->gradient);
        r->updated = value_in(m, w->m, r->updated);
    }
    out->phase = w->phase;
    out->layer = w->layer;
    if (m == w->m)
        return 0;
    out->phase = arena_get(w->arena, (size_t)m->count + 1, 1);
    out->layer = arena_get(w->arena, (size_t)m->count + 1, sizeof *out->layer);
    if (!out->phase || !out->layer)
        return err_no_memory(e, MEMORY_FOR);
    for (hlo_id id = 0; id < m->count; id++) {
        out->phase[id] = image[id] == HLO_NONE ? HLO_PHASE_OTHER : w->phase[image[id]];
        out->layer[id] = image[id] == HLO_NONE ? 0 : w->layer[image[id]];
    }
    return 0;
}

static int make_roles(const struct hlo_module *m, const struct hlo_vars *vars,
                      const struct hlo_roles *before, struct hlo_roles *out, struct err *e)
{
    struct hlo_module *inlined = NULL;
    struct hlo_roles_work w = {0};
    hlo_id *image = NULL;
    bool is_joined = false, by_name = (vars && vars->loss) || (before && before->loss_by_person);
    int code = 0;

    *out = (struct hlo_roles){.loss = HLO_NONE};
    if (hlo_inline_needed(m)) {
        image = mem_try(m->count, sizeof *image);
        code = image ? hlo_inline_mapped(m, by_name, &inlined, image, e)
                     : err_no_memory(e, MEMORY_FOR);
        if (code == ERR_LIMIT) { /* calls of calls of calls: what is called by several is one */
            code = 0;
            is_joined = true;
            free(image);
            image = NULL;
        }
    }
    if (!code)
        code = work_init(&w, inlined ? inlined : m, &out->arena, e);
    if (!code)
        code = understand(&w, vars, before, e);
    for (uint32_t p = 0; !code && is_joined && p < w.param_count; p++) {
        if (!w.is_fixed[p])
            w.params[p].confidence = HLO_DOUBTFUL,
            w.params[p].evidence = "there are too many calls to tell one from the other";
    }
    if (!code)
        code = project(m, &w, image, out, e);
    work_release(&w);
    hlo_free(inlined);
    free(image);
    if (code)
        hlo_roles_release(out);
    return code;
}

int hlo_roles_new(const struct hlo_module *m, const struct hlo_vars *vars, struct hlo_roles *out,
                  struct err *e)
{
    return make_roles(m, vars, NULL, out, e);
}

void hlo_roles_release(struct hlo_roles *r)
{
    arena_release(&r->arena);
    *r = (struct hlo_roles){.loss = HLO_NONE};
}

int hlo_roles_set(const struct hlo_module *m, struct hlo_roles *r, uint32_t param,
                  enum hlo_role role, struct err *e)
{
    struct hlo_roles changed;

    if (param >= r->param_count)
        return err_set(e, ERR_INPUT, "no parameter %u, expected one of 0 to %u", (unsigned)param,
                       (unsigned)(r->param_count ? r->param_count - 1 : 0));
    struct hlo_param_role kept = r->params[param];
    r->params[param].role = (uint8_t)role;
    r->params[param].source = HLO_BY_PERSON;
    int code = make_roles(m, NULL, r, &changed, e);
    if (code) {
        r->params[param] = kept;
        return code;
    }
    hlo_roles_release(r);
    *r = changed;
    return 0;
}

/* A correction may change what was found of others, so once more for those. */
int hlo_roles_set_all(const struct hlo_module *m, struct hlo_roles *r, const uint8_t *roles,
                      struct err *e)
{
    for (int round = 0; round < 2; round++) {
        struct hlo_roles changed;
        uint32_t differ = 0;
        for (uint32_t k = 0; k < r->param_count; k++) {
            if (r->params[k].role == roles[k])
                continue;
            r->params[k].role = roles[k];
            r->params[k].source = HLO_BY_PERSON;
            differ++;
        }
        if (!differ)
            return 0;
        int code = make_roles(m, NULL, r, &changed, e);
        if (code)
            return code;
        hlo_roles_release(r);
        *r = changed;
    }
    return 0;
}
