#include "engine/decide/names.h"

#include "hlo/meaning/roles.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_MOST = 12, WORD_ROOM = 48, FEW_DIMS = 8 };

/* A variable's path: words without the layer's container, and the layer's number. */
struct path {
    char words[WORDS_MOST][WORD_ROOM];
    int count;
    int32_t layer; /* -1: none */
};

struct naming {
    const struct classes *c;
    const struct hlo_roles *roles;
    struct class_names *out;
    uint32_t *param_of; /* [values] index into roles->params; HLO_NONE */
    struct path *paths; /* [params] */
    class_id widest;    /* holds most dims of variables */
};

static bool is_word(const char *text, size_t size, const char *const *words)
{
    for (; *words; words++) {
        if (strlen(*words) == size && !memcmp(*words, text, size))
            return true;
    }
    return false;
}

/* Names of what layers are kept in. */
static const char *const containers[] = {"layer", "layers", "block", "blocks", "h", NULL};

/* Splits "layer_012" into word and number; false: no number, or one that is part of a name ("fc7",
 * "conv1_2"). */
static bool split_number(const char *part, size_t size, size_t *word, int32_t *number)
{
    size_t digits = 0;

    while (digits < size && isdigit((unsigned char)part[size - 1 - digits]))
        digits++;
    if (!digits || digits > 6)
        return false;
    size_t end = size - digits;
    while (end > 0 && (part[end - 1] == '_' || part[end - 1] == '.' || part[end - 1] == '-'))
        end--;
    for (size_t n = 0; n < end; n++) {
        if (isdigit((unsigned char)part[n]))
            return false;
    }
    if (end == size - digits && end > 0 && !is_word(part, end, containers))
        return false;
    *word = end;
    *number = (int32_t)strtol(part + size - digits, NULL, 10);
    return true;
}

static void add_word(struct path *p, const char *text, size_t size)
{
    while (size > 1 && *text == '_') { /* "__layer_stack" */
        text++;
        size--;
    }
    if (p->count == WORDS_MOST || !size)
        return;
    char *to = p->words[p->count++];
    snprintf(to, WORD_ROOM, "%.*s", (int)size, text);
    for (char *c = to; *c; c++) {
        if (*c == '_' && !isdigit((unsigned char)c[1]))
            *c = ' ';
    }
}

static void read_path(struct path *p, const char *name)
{
    size_t total = strlen(name), layer_end = hlo_layer_of_path(name, total);

    *p = (struct path){.layer = -1};
    for (size_t at = 0; at < total;) {
        size_t size = strcspn(name + at, "/"), word = size;
        int32_t number = -1;
        if (size == 1 && name[at] == '~') { /* a method of haiku's: names nothing */
            at += 2;
            continue;
        }
        if (at < layer_end && split_number(name + at, size, &word, &number))
            p->layer = number;
        else
            word = size;
        if (!is_word(name + at, word, containers))
            add_word(p, name + at, word);
        at += size + 1;
    }
}

static bool is_role(const struct naming *w, dim_id d, enum hlo_role role, uint32_t *param,
                    uint32_t *dim)
{
    hlo_value v = w->c->dim_value[d];

    *param = w->param_of[v];
    *dim = d - w->c->dim_base[v];
    return *param != HLO_NONE && w->roles->params[*param].role == role;
}

static uint32_t same_words(const struct path *a, const struct path *b, uint32_t most)
{
    uint32_t n = 0;

    while (n < most && n < (uint32_t)a->count && n < (uint32_t)b->count &&
           !strcmp(a->words[n], b->words[n]))
        n++;
    return n;
}

/* How many words of the path of `like` most of the class's variables share; *all: shared by every
 * one. */
static uint32_t shared_words(const struct naming *w, class_id k, const struct path *like,
                             uint32_t *all)
{
    const struct class_info *info = &w->c->info[k];
    uint32_t having[WORDS_MOST + 1] = {0}, members = 0, param, dim, shared = 0;

    for (uint32_t n = 0; n < info->dim_count; n++) {
        if (!is_role(w, w->c->members[info->dims + n], HLO_ROLE_VARIABLE, &param, &dim))
            continue;
        members++;
        for (uint32_t s = same_words(like, &w->paths[param], WORDS_MOST); s > 0; s--)
            having[s]++;
    }
    *all = 0;
    for (uint32_t s = 1; s <= (uint32_t)like->count; s++) {
        if (having[s] == members)
            *all = s;
        if (*all ? having[s] * 4 >= members * 3 : having[s] * 3 >= members * 2)
            shared = s;
    }
    return shared;
}

static void join_words(const struct path *p, uint32_t count, char *out, size_t room)
{
    size_t size = 0;

    out[0] = '\0';
    for (uint32_t n = 0; n < count && size + WORD_ROOM < room; n++)
        size += (size_t)snprintf(out + size, room - size, "%s%s", n ? " " : "", p->words[n]);
}

/* The layer all variables of the class that share `words` words with `like` are in; -1: several. */
static int32_t common_layer(const struct naming *w, class_id k, const struct path *like,
                            uint32_t words)
{
    const struct class_info *info = &w->c->info[k];
    uint32_t param, dim;

    for (uint32_t n = 0; n < info->dim_count; n++) {
        if (is_role(w, w->c->members[info->dims + n], HLO_ROLE_VARIABLE, &param, &dim) &&
            same_words(like, &w->paths[param], words) == words &&
            w->paths[param].layer != like->layer)
            return -1;
    }
    return like->layer;
}

/* Rows of a table that is looked up: dim 0 of a matrix named as one. */
static bool is_vocabulary(const struct naming *w, uint32_t param, uint32_t dim)
{
    static const char *const tables[] = {"embedding", "embed", "wte", "word",
                                         "shared",    "token", "tok", NULL};
    static const char *const others[] = {"position", "wpe", "pos", "type", NULL};
    const struct path *p = &w->paths[param];
    bool table = false;

    if (dim != 0 || hlo_value_shape(w->c->m, w->roles->params[param].value)->rank != 2)
        return false;
    for (int n = 0; n < p->count; n++) {
        for (const char *const *o = others; *o; o++) {
            if (strstr(p->words[n], *o))
                return false;
        }
        for (const char *const *t = tables; *t; t++)
            table |= !strncmp(p->words[n], *t, strlen(*t));
    }
    return table;
}

/* Words that say what kind of array it is, not which. */
static int telling_words(const struct path *p)
{
    static const char *const kinds[] = {"kernel", "weight", "bias", "scale", "w", "b", NULL};
    int count = p->count;

    while (count > 1 && is_word(p->words[count - 1], strlen(p->words[count - 1]), kinds))
        count--;
    return count;
}

/* The path most of the class's variables share: what most have is had by one of any few that
 * are tried. Returns its words; 0: none. */
static uint32_t shared_path(const struct naming *w, class_id k, const struct path **out)
{
    const struct class_info *info = &w->c->info[k];
    uint32_t step = info->dim_count / 16 + 1, best = 0, param = 0, dim, all;

    for (uint32_t n = 0; n < info->dim_count; n += step) {
        uint32_t at = n;
        while (at < info->dim_count &&
               !is_role(w, w->c->members[info->dims + at], HLO_ROLE_VARIABLE, &param, &dim))
            at++;
        if (at == info->dim_count)
            break;
        uint32_t words = shared_words(w, k, &w->paths[param], &all);
        if ((all > 0 || info->var_dims <= FEW_DIMS) && words > best) {
            best = words;
            *out = &w->paths[param];
        }
    }
    return best;
}

/* The only variable, or one that says what the size is of. */
static bool name_by_one(const struct naming *w, class_id k, char *out, size_t room, int32_t *layer)
{
    const struct class_info *info = &w->c->info[k];
    uint32_t param, dim;

    for (uint32_t n = 0; n < info->dim_count; n++) {
        if (!is_role(w, w->c->members[info->dims + n], HLO_ROLE_VARIABLE, &param, &dim))
            continue;
        if (is_vocabulary(w, param, dim)) {
            snprintf(out, room, "vocab %lld", (long long)info->least);
            return true;
        }
        if (info->var_dims == 1) {
            const struct path *p = &w->paths[param];
            *layer = p->layer;
            join_words(p, (uint32_t)telling_words(p), out, room - 24);
            snprintf(out + strlen(out), 24, " %lld", (long long)info->least);
            return true;
        }
    }
    return false;
}

static void name_variables(const struct naming *w, class_id k, char *out, size_t room,
                           int32_t *layer)
{
    const struct path *shared = NULL;

    if (name_by_one(w, k, out, room, layer))
        return;
    uint32_t words = shared_path(w, k, &shared);
    if (words && words == (uint32_t)shared->count)
        words = (uint32_t)telling_words(shared);
    if (words) {
        *layer = common_layer(w, k, shared, words);
        join_words(shared, words, out, room);
        return;
    }
    snprintf(out, room, "%s %lld", k == w->widest ? "width" : "size",
             (long long)w->c->info[k].least);
}

static void name_inputs(const struct naming *w, class_id k, char *out, size_t room)
{
    const struct class_info *info = &w->c->info[k];
    uint32_t param = 0, dim = 0, first = HLO_NONE, batch = 0;

    for (uint32_t n = 0; n < info->dim_count; n++) {
        if (!is_role(w, w->c->members[info->dims + n], HLO_ROLE_INPUT, &param, &dim))
            continue;
        first = first == HLO_NONE ? param : first;
        batch += dim == 0;
    }
    if (batch * 2 > info->input_dims)
        snprintf(out, room, "batch %lld", (long long)info->least);
    else
        snprintf(out, room, "%.100s %lld",
                 w->roles->params[first].module ? w->roles->params[first].module
                                                : w->roles->params[first].name,
                 (long long)info->least);
}

static void name_member(const struct naming *w, class_id k, char *out, size_t room)
{
    const struct hlo_module *m = w->c->m;
    const struct class_info *info = &w->c->info[k];

    if (!info->dim_count) { /* a loop index that no dim shows */
        snprintf(out, room, "index %lld", (long long)info->least);
        return;
    }
    dim_id d = w->c->members[info->dims];
    hlo_value v = w->c->dim_value[d];
    snprintf(out, room, "%.100s dim %u", hlo_name(m, m->value_instruction[v]),
             d - w->c->dim_base[v]);
}

static bool name_class(const struct naming *w, class_id k)
{
    const struct class_info *info = &w->c->info[k];
    struct class_name *item = &w->out->items[k];
    char text[NAME_ROOM - 16] = "";

    item->layer = -1;
    if (info->var_dims)
        name_variables(w, k, text, sizeof text, &item->layer);
    else if (info->input_dims)
        name_inputs(w, k, text, sizeof text);
    else
        name_member(w, k, text, sizeof text);
    item->base = arena_text(&w->out->arena, text, strlen(text));
    return item->base != NULL;
}

/* ---- unique ---- */

struct named {
    uint64_t hash;
    class_id class;
};

static int by_hash(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return x->hash != y->hash    ? (x->hash < y->hash ? -1 : 1)
           : x->class < y->class ? -1
                                 : x->class > y->class;
}

/* What is added to names that stand more than once, in this order, until they differ. */
enum { TELL_SIZE, TELL_DIM, TELL_PATH, TELL_NUMBER, TELL_COUNT };

/* The first dim of a variable, else of an input, in the class. */
static bool first_member(const struct naming *w, class_id k, uint32_t *param, uint32_t *dim)
{
    const struct class_info *info = &w->c->info[k];
    enum hlo_role role = info->var_dims ? HLO_ROLE_VARIABLE : HLO_ROLE_INPUT;

    for (uint32_t n = 0; n < info->dim_count; n++) {
        if (is_role(w, w->c->members[info->dims + n], role, param, dim))
            return true;
    }
    return false;
}

static bool extend_name(const struct naming *w, class_id k, int tell, uint32_t number)
{
    struct class_name *item = &w->out->items[k];
    uint32_t param = 0, dim = 0;
    bool has_member = first_member(w, k, &param, &dim);
    char text[NAME_ROOM], path[NAME_ROOM - 32] = "";

    switch (tell) {
    case TELL_SIZE: /* the name of an only variable ends with it */
        item->size = w->c->info[k].var_dims == 1 ? 0 : w->c->info[k].least;
        return true;
    case TELL_DIM:
        snprintf(text, sizeof text, "%.120s dim %u", item->base, dim);
        break;
    case TELL_PATH:
        if (has_member)
            join_words(&w->paths[param], (uint32_t)w->paths[param].count, path, sizeof path);
        snprintf(text, sizeof text, "%.120s dim %u", path, dim);
        item->layer = has_member ? w->paths[param].layer : item->layer;
        break;
    default:
        snprintf(text, sizeof text, "%.120s no. %u", item->base, number + 1);
    }
    if (!has_member && tell != TELL_NUMBER)
        return true;
    item->base = arena_text(&w->out->arena, text, strlen(text));
    return item->base != NULL;
}

/* Classes of variables and inputs, those of one name beside each other. Returns how many. */
static uint32_t sort_by_name(const struct naming *w, struct named *order, bool with_size)
{
    uint32_t count = 0;

    for (class_id k = 0; k < w->c->count; k++) {
        const struct class_name *item = &w->out->items[k];
        uint64_t size = with_size ? (uint64_t)item->size << 20 : 0;
        if (w->c->info[k].var_dims || w->c->info[k].input_dims)
            order[count++] = (struct named){
                mem_hash(item->base, strlen(item->base), (uint64_t)item->layer ^ size), k};
    }
    qsort(order, count, sizeof *order, by_hash);
    return count;
}

static bool tell_apart(const struct naming *w, struct named *order, int tell)
{
    uint32_t count = sort_by_name(w, order, true);
    bool ok = true;

    for (uint32_t n = 0, end; n < count; n = end) {
        for (end = n + 1; end < count && order[end].hash == order[n].hash;)
            end++;
        for (uint32_t i = n; i < end && end - n > 1; i++) {
            if (tell != TELL_NUMBER || i > n)
                ok &= extend_name(w, order[i].class, tell, i - n);
        }
    }
    return ok;
}

/* A size that told a name from others is left out where these have more words by now. */
static void drop_needless_sizes(const struct naming *w, struct named *order)
{
    uint32_t count = sort_by_name(w, order, false);

    for (uint32_t n = 0, end; n < count; n = end) {
        for (end = n + 1; end < count && order[end].hash == order[n].hash;)
            end++;
        if (end == n + 1)
            w->out->items[order[n].class].size = 0;
    }
}

static bool tell_all_apart(const struct naming *w, struct named *order)
{
    bool ok = true;

    for (int tell = TELL_SIZE; tell < TELL_COUNT && ok; tell++)
        ok = tell_apart(w, order, tell);
    drop_needless_sizes(w, order);
    return ok;
}

static const char *end_word(const struct path *p, bool last)
{
    return p->words[last ? p->count - 1 : 0];
}

/* The first, or last, word of all variables' paths, if each has another beside it; NULL: they
 * differ. */
static const char *shared_end(const struct naming *w, bool last)
{
    const char *word = NULL;
    uint32_t count = 0;

    for (uint32_t p = 0; p < w->roles->param_count; p++) {
        const struct path *path = &w->paths[p];
        if (w->roles->params[p].role != HLO_ROLE_VARIABLE)
            continue;
        if (path->count < 2 || (word && strcmp(end_word(path, last), word) != 0))
            return NULL;
        word = end_word(path, last);
        count++;
    }
    return count > 1 ? word : NULL;
}

/* What all names begin with, such as the model's own, or end with, such as the `value` of a box
 * around each, tells none from another. */
static void drop_shared_ends(struct naming *w, bool last)
{
    char word[WORD_ROOM];

    for (const char *shared = shared_end(w, last); shared; shared = shared_end(w, last)) {
        memcpy(word, shared, sizeof word);
        for (uint32_t p = 0; p < w->roles->param_count; p++) {
            struct path *path = &w->paths[p];
            if (path->count < 2 || strcmp(end_word(path, last), word) != 0)
                continue;
            path->count--;
            if (!last)
                memmove(path->words[0], path->words[1], (size_t)path->count * WORD_ROOM);
        }
    }
}

static bool prepare_naming(struct naming *w)
{
    uint32_t most = 0;

    for (hlo_value v = 0; v < w->c->m->value_count; v++)
        w->param_of[v] = HLO_NONE;
    for (uint32_t p = 0; p < w->roles->param_count; p++) {
        w->param_of[w->roles->params[p].value] = p;
        const struct hlo_param_role *r = &w->roles->params[p];
        read_path(&w->paths[p], r->module ? r->module : r->name);
    }
    drop_shared_ends(w, false);
    drop_shared_ends(w, true);
    for (class_id k = 0; k < w->c->count; k++) {
        if (w->c->info[k].var_dims > most) {
            most = w->c->info[k].var_dims;
            w->widest = k;
        }
    }
    bool ok = true;
    for (class_id k = 0; k < w->c->count && ok; k++)
        ok = name_class(w, k);
    return ok;
}

int class_names_new(const struct classes *c, const struct hlo_roles *roles, struct class_names *out,
                    struct err *e)
{
    struct naming w = {.c = c, .roles = roles, .out = out, .widest = CLASS_NONE};
    struct named *order = mem_try(c->count, sizeof *order);

    *out = (struct class_names){.items = mem_try(c->count, sizeof *out->items), .count = c->count};
    w.param_of = mem_try(c->m->value_count, sizeof *w.param_of);
    w.paths = mem_try(roles->param_count, sizeof *w.paths);
    bool ok = order && out->items && w.param_of && w.paths && prepare_naming(&w) &&
              tell_all_apart(&w, order);
    free(order);
    free(w.param_of);
    free(w.paths);
    if (ok)
        return 0;
    class_names_release(out);
    return err_no_memory(e, "for the names of %u classes", c->count);
}

void class_names_release(struct class_names *n)
{
    free(n->items);
    arena_release(&n->arena);
    memset(n, 0, sizeof *n);
}

/* ---- print ---- */

char *class_name(const struct class_names *n, class_id k, char out[static NAME_ROOM])
{
    const struct class_name *item = &n->items[k];

    int size = snprintf(out, NAME_ROOM, "%.120s", item->base[0] ? item->base : "layer");
    if (item->layer >= 0)
        size += snprintf(out + size, NAME_ROOM - (size_t)size, " %d", (int)item->layer);
    if (item->size)
        snprintf(out + size, NAME_ROOM - (size_t)size, ", %lld", (long long)item->size);
    return out;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* "0-2 5", at most what fits; ".." for the rest. */
static void join_layers(int32_t *layers, uint32_t count, char *out, size_t room)
{
    size_t size = 0;

    qsort(layers, count, sizeof *layers, by_number);
    for (uint32_t n = 0, end; n < count; n = end) {
        for (end = n + 1; end < count && layers[end] <= layers[end - 1] + 1;)
            end++;
        if (size + 20 > room) {
            snprintf(out + size, room - size, " ..");
            return;
        }
        size += (size_t)snprintf(out + size, room - size, " %d", (int)layers[n]);
        if (layers[end - 1] != layers[n])
            size += (size_t)snprintf(out + size, room - size, "-%d", (int)layers[end - 1]);
    }
}

char *class_names_joined(const struct class_names *n, const class_id *k, uint32_t count,
                         char out[static NAME_ROOM])
{
    const char *base = n->items[k[0]].base;
    int32_t layers[256];
    char list[64];
    bool alike = count <= 256;

    if (count == 1)
        return class_name(n, k[0], out);
    for (uint32_t i = 0; i < count && alike; i++) {
        layers[i] = n->items[k[i]].layer;
        alike = layers[i] >= 0 && n->items[k[i]].size == n->items[k[0]].size &&
                !strcmp(n->items[k[i]].base, base);
    }
    if (alike) {
        join_layers(layers, count, list, sizeof list);
        int size = snprintf(out, NAME_ROOM, "%.60s%s", base[0] ? base : "layer", list);
        if (n->items[k[0]].size)
            snprintf(out + size, NAME_ROOM - (size_t)size, ", %lld",
                     (long long)n->items[k[0]].size);
    } else {
        char first[NAME_ROOM];
        snprintf(out, NAME_ROOM, "%.100s and %u more", class_name(n, k[0], first), count - 1);
    }
    return out;
}
