#include "engine/decide/names.h"

#include "engine/decide/name_path.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { FEW_DIMS = 8, NEXT_MOST = 3 };

struct naming {
    const struct classes *c;
    const struct hlo_roles *roles;
    struct class_names *out;
    uint32_t *param_of;      /* [values] index into roles->params; HLO_NONE */
    struct name_path *paths; /* [params] */
    class_id widest;         /* holds most dims of variables */
    int64_t rows;            /* of the largest table that only its use tells */
};

static bool is_role(const struct naming *w, dim_id d, enum hlo_role role, uint32_t *param,
                    uint32_t *dim)
{
    hlo_value v = w->c->dim_value[d];

    *param = w->param_of[v];
    *dim = d - w->c->dim_base[v];
    return *param != HLO_NONE && w->roles->params[*param].role == role;
}

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

/* How many words of the path of `like` most of the class's variables share; *all: shared by every
 * one. */
static uint32_t shared_words(const struct naming *w, class_id k, const struct name_path *like,
                             uint32_t *all)
{
    const struct class_info *info = &w->c->info[k];
    uint32_t having[PATH_WORDS + 1] = {0}, members = 0, param, dim, shared = 0;

    for (uint32_t n = 0; n < info->dim_count; n++) {
        if (!is_role(w, w->c->members[info->dims + n], HLO_ROLE_VARIABLE, &param, &dim))
            continue;
        members++;
        for (uint32_t s = name_path_same(like, &w->paths[param], PATH_WORDS); s > 0; s--)
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

/* The layer all variables of the class that share `words` words with `like` are in; -1: several. */
static int32_t common_layer(const struct naming *w, class_id k, const struct name_path *like,
                            uint32_t words)
{
    const struct class_info *info = &w->c->info[k];
    uint32_t param, dim;

    for (uint32_t n = 0; n < info->dim_count; n++) {
        if (is_role(w, w->c->members[info->dims + n], HLO_ROLE_VARIABLE, &param, &dim) &&
            name_path_same(like, &w->paths[param], words) == words &&
            w->paths[param].layer != like->layer)
            return -1;
    }
    return like->layer;
}

/* The layer all variables of the class are in; -1: several, or none. */
static int32_t only_layer(const struct naming *w, class_id k)
{
    uint32_t param, dim;

    return first_member(w, k, &param, &dim) ? common_layer(w, k, &w->paths[param], 0) : -1;
}

/* Rows of a table that is looked up; of tables that only their use tells, the largest. */
static bool is_vocabulary(const struct naming *w, uint32_t param, uint32_t dim)
{
    const struct hlo_shape *shape = hlo_value_shape(w->c->m, w->roles->params[param].value);
    bool by_use;

    return dim == 0 && shape->rank == 2 && name_path_is_table(&w->paths[param], &by_use) &&
           (!by_use || shape->dims[0] == w->rows);
}

/* The path most of the class's variables share: what most have is had by one of any few that
 * are tried. Returns its words; 0: none. */
static uint32_t shared_path(const struct naming *w, class_id k, const struct name_path **out)
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

/* The next words of the paths that begin with `words` words of `like`, each once, in order of the
 * alphabet. Returns how many; more than NEXT_MOST: too many, or one ends there. */
static uint32_t next_words(const struct naming *w, class_id k, const struct name_path *like,
                           uint32_t words, const char *out[static NEXT_MOST])
{
    const struct class_info *info = &w->c->info[k];
    uint32_t param, dim, count = 0, at;

    for (uint32_t n = 0; n < info->dim_count; n++) {
        if (!is_role(w, w->c->members[info->dims + n], HLO_ROLE_VARIABLE, &param, &dim) ||
            name_path_same(like, &w->paths[param], words) < words)
            continue;
        const char *next = name_path_word(&w->paths[param], words);
        for (at = 0; next && at < count && strcmp(out[at], next) < 0; at++)
            ;
        if (!next || name_path_is_kind(next) ||
            (count == NEXT_MOST && (at == count || strcmp(out[at], next) != 0)))
            return NEXT_MOST + 1;
        if (at < count && !strcmp(out[at], next))
            continue;
        memmove(out + at + 1, out + at, (count - at) * sizeof *out);
        out[at] = next;
        count++;
    }
    return count;
}

/* `words` words of `like` and what the next words begin with, else all of these: "encoder ffn",
 * "self key query". False: there is neither. */
static bool add_next(const struct naming *w, class_id k, const struct name_path *like,
                     uint32_t words, char *out, size_t room)
{
    const char *next[NEXT_MOST];
    uint32_t count = next_words(w, k, like, words, next);

    if (!count || count > NEXT_MOST)
        return false;
    name_path_join_before(like, words, out, room);
    size_t size = strlen(out), common = name_path_common(next, count);
    if (common) {
        snprintf(out + size, room - size, "%s%.*s", size ? " " : "", (int)common, next[0]);
        return true;
    }
    for (uint32_t n = 0; n < count && size < room; n++)
        size += (size_t)snprintf(out + size, room - size, "%s%s", size ? " " : "", next[n]);
    return true;
}

/* How much of `like` so many of the class's variables begin their first word with, two in three.
 */
static size_t shared_begin(const struct naming *w, class_id k, const char *like)
{
    const struct class_info *info = &w->c->info[k];
    uint32_t having[PATH_WORD_ROOM] = {0}, param, dim;

    for (uint32_t n = 0; n < info->dim_count; n++) {
        if (!is_role(w, w->c->members[info->dims + n], HLO_ROLE_VARIABLE, &param, &dim))
            continue;
        const char *pair[] = {like, w->paths[param].words[0]};
        having[name_path_common(pair, 2)]++;
    }
    size_t size = strlen(like);
    for (uint32_t those = having[size]; size > 0 && those * 3 < info->var_dims * 2;)
        those += having[--size];
    return size;
}

/* "conv4 block2_1": what the names of most modules begin with, up to a number. False: nothing. */
static bool name_by_begin(const struct naming *w, class_id k, char *out, size_t room)
{
    const struct class_info *info = &w->c->info[k];
    uint32_t param, dim, step = info->dim_count / 16 + 1;
    const char *best = "";
    size_t most = 0;

    for (uint32_t n = 0; n < info->dim_count; n += step) {
        if (!is_role(w, w->c->members[info->dims + n], HLO_ROLE_VARIABLE, &param, &dim))
            continue;
        const char *word = w->paths[param].words[0];
        size_t size = shared_begin(w, k, word);
        if (size > most && word[size] && strcspn(word, "0123456789") < size) {
            most = size;
            best = word;
        }
    }
    snprintf(out, room, "%.*s", (int)most, best);
    return most > 0;
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
            const struct name_path *p = &w->paths[param];
            *layer = p->layer;
            name_path_join(p, name_path_telling(p), out, room - 24);
            if (p->layer < 0)
                snprintf(out + strlen(out), 24, " %lld", (long long)info->least);
            return true;
        }
    }
    return false;
}

static void name_variables(const struct naming *w, class_id k, char *out, size_t room,
                           int32_t *layer)
{
    const struct name_path *shared = NULL;

    if (name_by_one(w, k, out, room, layer))
        return;
    uint32_t words = shared_path(w, k, &shared);
    if (words && words == (uint32_t)shared->count)
        words = name_path_telling(shared);
    if (words) {
        *layer = common_layer(w, k, shared, words);
        if (*layer < 0 || !name_path_ends_at_layer(shared, words) ||
            !add_next(w, k, shared, words, out, room))
            name_path_join(shared, words, out, room);
        return;
    }
    if (name_by_begin(w, k, out, room) || (*layer = only_layer(w, k)) >= 0)
        return;
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

/* A size that belongs to the name: of an only variable, and of a layer told by nothing else. */
static bool shows_size(const struct naming *w, class_id k)
{
    const struct class_name *item = &w->out->items[k];
    return item->layer >= 0 && (w->c->info[k].var_dims == 1 || !item->base[0]);
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
    if (item->base && shows_size(w, k))
        item->size = info->least;
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
enum { TELL_SIZE, TELL_WORDS, TELL_DIM, TELL_PATH, TELL_NUMBER, TELL_COUNT };

/* With the next words of its variables' paths; false: it has none. */
static bool write_next(const struct naming *w, class_id k, char *out, size_t room)
{
    const struct name_path *shared = NULL;
    uint32_t words = w->c->info[k].var_dims > 1 ? shared_path(w, k, &shared) : 0;

    if (!words || words == (uint32_t)shared->count)
        return false;
    return add_next(w, k, shared, words, out, room);
}

static bool extend_name(const struct naming *w, class_id k, int tell, uint32_t number)
{
    struct class_name *item = &w->out->items[k];
    uint32_t param = 0, dim = 0;
    bool has_member = first_member(w, k, &param, &dim);
    char text[NAME_ROOM], path[NAME_ROOM - 32] = "";

    switch (tell) {
    case TELL_SIZE: /* the name of an only variable ends with it */
        item->size = w->c->info[k].var_dims == 1 && item->layer < 0 ? 0 : w->c->info[k].least;
        return true;
    case TELL_WORDS:
        if (!write_next(w, k, text, sizeof text))
            return true;
        break;
    case TELL_DIM:
        snprintf(text, sizeof text, "%.120s dim %u", item->base, dim);
        break;
    case TELL_PATH:
        if (has_member)
            name_path_join(&w->paths[param], (uint32_t)w->paths[param].count, path, sizeof path);
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

/* Of classes with one name the only one that can be split keeps it. */
static class_id keeper(const struct naming *w, const struct named *order, uint32_t count)
{
    class_id only = CLASS_NONE;

    for (uint32_t n = 0; n < count; n++) {
        if (w->c->info[order[n].class].reason != CLASS_ALLOWED)
            continue;
        if (only != CLASS_NONE)
            return CLASS_NONE;
        only = order[n].class;
    }
    return only;
}

static bool tell_apart(const struct naming *w, struct named *order, int tell)
{
    uint32_t count = sort_by_name(w, order, true);
    bool ok = true;

    for (uint32_t n = 0, end; n < count; n = end) {
        for (end = n + 1; end < count && order[end].hash == order[n].hash;)
            end++;
        class_id kept = tell == TELL_SIZE ? CLASS_NONE : keeper(w, order + n, end - n);
        for (uint32_t i = n; i < end && end - n > 1; i++) {
            if (order[i].class != kept && (tell != TELL_NUMBER || i > n))
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
        if (end == n + 1 && !shows_size(w, order[n].class))
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

static const char *end_word(const struct name_path *p, bool last)
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
        const struct name_path *path = &w->paths[p];
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
    char word[PATH_WORD_ROOM];

    for (const char *shared = shared_end(w, last); shared; shared = shared_end(w, last)) {
        memcpy(word, shared, sizeof word);
        for (uint32_t p = 0; p < w->roles->param_count; p++) {
            struct name_path *path = &w->paths[p];
            if (path->count < 2 || strcmp(end_word(path, last), word) != 0)
                continue;
            path->count--;
            if (!last)
                memmove(path->words[0], path->words[1], (size_t)path->count * PATH_WORD_ROOM);
            if (path->above > (last ? path->count : 0))
                path->above--;
        }
    }
}

/* A gather takes rows of it, as it is or converted. */
static bool is_looked_up(const struct hlo_module *m, hlo_id id, bool deep)
{
    for (uint32_t n = 0; n < hlo_at(m, id)->user_count; n++) {
        hlo_id user = hlo_user(m, id, n);
        uint16_t opcode = hlo_at(m, user)->opcode;
        if (opcode == HLO_OP_GATHER && hlo_operand(m, user, 0) == id)
            return true;
        if (deep && opcode == HLO_OP_CONVERT && is_looked_up(m, user, false))
            return true;
    }
    return false;
}

static void find_rows(struct naming *w, uint32_t param)
{
    hlo_value v = w->roles->params[param].value;
    const struct hlo_shape *shape = hlo_value_shape(w->c->m, v);
    bool by_use;

    if (shape->rank == 2 && name_path_is_table(&w->paths[param], &by_use) && by_use &&
        is_looked_up(w->c->m, w->c->m->value_instruction[v], true))
        w->rows = shape->dims[0] > w->rows ? shape->dims[0] : w->rows;
}

static bool prepare_naming(struct naming *w)
{
    uint32_t most = 0;

    for (hlo_value v = 0; v < w->c->m->value_count; v++)
        w->param_of[v] = HLO_NONE;
    for (uint32_t p = 0; p < w->roles->param_count; p++) {
        w->param_of[w->roles->params[p].value] = p;
        const struct hlo_param_role *r = &w->roles->params[p];
        name_path_read(&w->paths[p], r->module ? r->module : r->name);
        find_rows(w, p);
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

/* Behind a number it says of what it is one: "kernel dim 2, layers 0-5", but "encoder ffn 0-5". */
static void write_name(const struct class_name *item, const char *layers, bool several,
                       char out[static NAME_ROOM])
{
    size_t base = strlen(item->base);
    const char *of = several ? "layers " : "layer ", *gap = ", ";
    int size;

    if (!base)
        gap = "";
    else if (!isdigit((unsigned char)item->base[base - 1]))
        of = gap = "";
    if (!*layers) /* of no layer */
        size = snprintf(out, NAME_ROOM, "%.120s", base ? item->base : "layer");
    else
        size = snprintf(out, NAME_ROOM, "%.80s%s%s%s", item->base,
                        *gap   ? gap
                        : base ? " "
                               : "",
                        of, layers);
    if (item->size)
        snprintf(out + size, NAME_ROOM - (size_t)size, ", %lld", (long long)item->size);
}

char *class_name(const struct class_names *n, class_id k, char out[static NAME_ROOM])
{
    char layer[16] = "";

    if (n->items[k].layer >= 0)
        snprintf(layer, sizeof layer, "%d", (int)n->items[k].layer);
    write_name(&n->items[k], layer, false, out);
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
        const char *blank = n ? " " : "";
        for (end = n + 1; end < count && layers[end] <= layers[end - 1] + 1;)
            end++;
        if (size + 20 > room) {
            snprintf(out + size, room - size, " ..");
            return;
        }
        size += (size_t)snprintf(out + size, room - size, "%s%d", blank, (int)layers[n]);
        if (layers[end - 1] != layers[n])
            size += (size_t)snprintf(out + size, room - size, "-%d", (int)layers[end - 1]);
    }
}

static bool are_alike(const struct class_name *a, const struct class_name *b)
{
    return a->layer >= 0 && b->layer >= 0 && a->size == b->size && !strcmp(a->base, b->base);
}

char *class_names_joined(const struct class_names *n, const class_id *k, uint32_t count,
                         char out[static NAME_ROOM])
{
    const struct class_name *first = &n->items[k[0]];
    int32_t layers[256];
    char list[64], name[NAME_ROOM];
    bool alike = count <= 256;

    if (count == 1)
        return class_name(n, k[0], out);
    for (uint32_t i = 0; i < count && alike; i++) {
        layers[i] = n->items[k[i]].layer;
        alike = are_alike(first, &n->items[k[i]]);
    }
    if (alike) {
        join_layers(layers, count, list, sizeof list);
        write_name(first, list, true, out);
    } else {
        snprintf(out, NAME_ROOM, "%.100s and %u more", class_name(n, k[0], name), count - 1);
    }
    return out;
}

char *class_names_series(const struct class_names *n, const class_id *k, uint32_t count,
                         char out[static NAME_ROOM])
{
    struct class_name stem = n->items[k[0]];
    bool alike = stem.layer >= 0;

    for (uint32_t i = 1; i < count && alike; i++)
        alike = are_alike(&stem, &n->items[k[i]]);
    if (!alike)
        return class_names_joined(n, k, count, out);
    write_name(&stem, "", true, out);
    return out;
}
