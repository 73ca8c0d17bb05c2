#include "engine/relaxed/status.h"

#include "engine/cluster/mesh.h"
#include "engine/decide/classes.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const reshard_kind_names[RESHARD_KIND_COUNT] = {
    "slice", "all-gather", "all-to-all", "reduce-scatter", "all-reduce", "collective-permute",
};

label status_dim(status s, uint32_t axes, uint32_t dim)
{
    label over = 0;

    for (uint32_t x = 0; x < axes; x++)
        over |= (label)((status_on(s, x) == dim + 1) << x);
    return over;
}

static label partial_axes(status s, uint32_t axes)
{
    return status_dim(s, axes, STATUS_PARTIAL - 1);
}

double status_dim_share(const struct labels *l, class_id k, int64_t size, label over)
{
    if (k != CLASS_NONE && label_is_admissible(l, k, over))
        return label_share(l, k, over);
    int64_t parts = l->parts[over], cut = size / label_cuts(l, k);
    if (!over)
        return 1;
    return parts > 1 && cut >= parts && cut % parts == 0 ? label_part(l, k, over, size) : -1;
}

/* ---- pieces ---- */

static double share_of(const struct status_spaces *s, const struct status_space *i, uint32_t dim,
                       label over)
{
    return s->shares[i->shares + dim * s->labels->count + over];
}

/* < 0 when some dim cannot be split so. */
static double local_bytes(const struct status_spaces *s, const struct status_space *i, status x)
{
    double bytes = i->bytes;

    for (uint32_t d = 0; d < i->rank; d++) {
        double share = share_of(s, i, d, status_dim(x, s->labels->axes, d));
        if (share < 0)
            return -1;
        bytes *= share;
    }
    return bytes;
}

/* ---- steps ---- */

/* The one step from `from` to `to`; false when there is none, because axes change differently. */
static bool step_between(const struct status_spaces *s, const struct status_space *i, status from,
                         status to, struct reshard_step *out)
{
    unsigned was = 0, is = 0;
    label over = 0;

    for (uint32_t x = 0; x < s->labels->axes; x++) {
        unsigned a = status_on(from, x), b = status_on(to, x);
        if (a == b)
            continue;
        if (over && (a != was || b != is))
            return false;
        was = a;
        is = b;
        over |= (label)(1u << x);
    }
    double before = local_bytes(s, i, from), after = local_bytes(s, i, to);
    *out = (struct reshard_step){
        .kind = RESHARD_SLICE, .over = over, .from = from, .to = to, .bytes = after};
    if (was == STATUS_WHOLE)
        return over != 0;
    if (is == STATUS_PARTIAL)
        return false; /* by way of whole */
    enum collective_kind kind;
    if (was == STATUS_PARTIAL) {
        out->kind = is == STATUS_WHOLE ? RESHARD_ALL_REDUCE : RESHARD_REDUCE_SCATTER;
        kind = is == STATUS_WHOLE ? COLLECTIVE_ALL_REDUCE : COLLECTIVE_REDUCE_SCATTER;
        out->bytes = before;
    } else {
        out->kind = is == STATUS_WHOLE ? RESHARD_ALL_GATHER : RESHARD_ALL_TO_ALL;
        kind = is == STATUS_WHOLE ? COLLECTIVE_ALL_GATHER : COLLECTIVE_ALL_TO_ALL;
        out->bytes = is == STATUS_WHOLE ? after : fmax(before, after);
    }
    out->ms = collective_ms(s->mesh, kind, over, out->bytes);
    return true;
}

/* The permute that pieces of the dim which axes T = `step->over` split in `at` need so that T is
 * innermost there; false when it is so already. */
static bool permute_for(const struct status_spaces *s, const struct status_space *i,
                        const struct reshard_step *step, status at, struct reshard_step *out)
{
    label over = step->over;
    uint32_t first = (uint32_t)__builtin_ctz(over);
    unsigned what = status_on(at, first);

    if (what == STATUS_WHOLE || what == STATUS_PARTIAL)
        return false;
    label all = status_dim(at, s->labels->axes, what - 1), rest = all & (label)~over;
    if (rest < 1u << first)
        return false;
    *out = (struct reshard_step){
        .kind = RESHARD_PERMUTE, .over = all, .from = at, .to = at, .bytes = local_bytes(s, i, at)};
    out->ms = collective_ms(s->mesh, COLLECTIVE_PERMUTE, all, out->bytes);
    return true;
}

/* The step from `from` to `to` with the permutes before and behind it: 1 to 3 steps; 0: none. */
static uint32_t steps_between(const struct status_spaces *s, const struct status_space *i,
                              status from, status to, struct reshard_step out[static 3])
{
    struct reshard_step step, before, after;
    uint32_t count = 0;

    if (!step_between(s, i, from, to, &step))
        return 0;
    if (permute_for(s, i, &step, from, &before)) {
        before.inner = step.over;
        out[count++] = before;
    }
    bool is_last = !permute_for(s, i, &step, to, &after);
    step.inner = is_last ? 0 : step.over;
    out[count++] = step;
    if (!is_last)
        out[count++] = after;
    return count;
}

/* Cheapest walks by Floyd and Warshall. A longer walk must be better by more than rounding, so that
 * one collective over two axes is not shown as two. */
static void find_walks(struct status_spaces *s, const struct status_space *i)
{
    const status *list = s->statuses + i->statuses;
    double *ms = s->ms + i->walks;
    uint16_t *next = s->next + i->walks;
    uint32_t n = i->count;
    struct reshard_step steps[3];

    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = 0; b < n; b++) {
            uint32_t count = a == b ? 0 : steps_between(s, i, list[a], list[b], steps);
            ms[a * n + b] = a == b || count ? 0 : INFINITY;
            for (uint32_t k = 0; k < count; k++)
                ms[a * n + b] += steps[k].ms;
            next[a * n + b] = (uint16_t)b;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t a = 0; a < n; a++) {
            if (ms[a * n + k] == INFINITY)
                continue;
            for (uint32_t b = 0; b < n; b++) {
                double through = ms[a * n + k] + ms[k * n + b];
                if (through < ms[a * n + b] * (1 - 1e-12)) {
                    ms[a * n + b] = through;
                    next[a * n + b] = next[a * n + k];
                }
            }
        }
    }
}

uint32_t status_walk(const struct status_spaces *s, uint32_t space, uint32_t from, uint32_t to,
                     struct reshard_step *out, uint32_t room)
{
    const struct status_space *i = &s->items[space];
    const status *list = s->statuses + i->statuses;
    uint32_t count = 0;

    while (from != to && count + 3 <= room) {
        uint32_t via = s->next[i->walks + (size_t)from * i->count + to];
        uint32_t taken = steps_between(s, i, list[from], list[via], out + count);
        BUG_ON(!taken);
        count += taken;
        from = via;
    }
    return count;
}

/* ---- spaces ---- */

/* Per axis the choices are whole, each of the first `dims` dims, partial. Counts in that base. */
static status status_by_number(uint32_t number, uint32_t axes, uint32_t dims, bool can_be_partial)
{
    uint32_t base = dims + 1 + can_be_partial;
    status x = 0;

    for (uint32_t a = 0; a < axes; a++, number /= base) {
        uint32_t digit = number % base;
        x = status_with(x, a, digit <= dims ? digit : (unsigned)STATUS_PARTIAL);
    }
    return x;
}

static bool splits_idle_axis(const struct status_spaces *s, status x)
{
    for (uint32_t a = 0; a < s->labels->axes; a++) {
        if (status_on(x, a) != STATUS_WHOLE && s->mesh->axis[a].size < 2)
            return true;
    }
    return false;
}

static int list_statuses(struct status_spaces *s, struct status_space *i, struct err *e)
{
    uint32_t axes = s->labels->axes, dims = i->rank, total;

    for (;; dims--) {
        total = 1;
        for (uint32_t a = 0; a < axes; a++)
            total *= dims + 1 + i->can_be_partial;
        if (total <= STATUS_COUNT_MOST)
            break;
    }
    i->statuses = (uint32_t)s->status_count;
    i->count = 0;
    for (uint32_t n = 0; n < total; n++) {
        status x = status_by_number(n, axes, dims, i->can_be_partial);
        if (splits_idle_axis(s, x) || local_bytes(s, i, x) < 0)
            continue;
        if (!mem_grow(&s->statuses, &s->status_room, s->status_count, 1))
            return err_no_memory(e, "for the statuses of values");
        s->statuses[s->status_count++] = x;
        i->count++;
    }
    size_t cells = (size_t)i->count * i->count;
    i->walks = s->walk_count;
    if (!mem_grow(&s->ms, &s->ms_room, s->walk_count, cells) ||
        !mem_grow(&s->next, &s->next_room, s->walk_count, cells))
        return err_no_memory(e, "for the statuses of values");
    s->walk_count += cells;
    find_walks(s, i);
    return 0;
}

static uint64_t space_hash(const struct status_spaces *s, const struct status_space *i)
{
    uint64_t h = mem_hash(&i->bytes, sizeof i->bytes, i->rank * 2 + i->can_be_partial);

    return mem_hash(s->shares + i->shares, (size_t)i->rank * s->labels->count * sizeof(double), h);
}

static bool same_space(const struct status_spaces *s, const struct status_space *a,
                       const struct status_space *b)
{
    return a->rank == b->rank && a->can_be_partial == b->can_be_partial && a->bytes == b->bytes &&
           !memcmp(s->shares + a->shares, s->shares + b->shares,
                   (size_t)a->rank * s->labels->count * sizeof(double));
}

int status_space_of(struct status_spaces *s, hlo_value v, bool can_be_partial, uint32_t *space,
                    struct err *e)
{
    const struct classes *c = s->labels->classes;
    const struct hlo_shape *shape = hlo_value_shape(c->m, v);
    uint32_t labels = s->labels->count;
    struct status_space key = {.rank = shape->rank,
                               .can_be_partial = can_be_partial,
                               .bytes = (double)shape->bytes,
                               .shares = (uint32_t)s->share_count};

    /* One more than needed: a module of scalars alone has shares to point at, too. */
    if (!mem_grow(&s->shares, &s->share_room, s->share_count, (size_t)shape->rank * labels + 1) ||
        !mem_grow(&s->items, &s->room, s->count, 1))
        return err_no_memory(e, "for the statuses of values");
    for (uint32_t d = 0; d < shape->rank; d++) {
        class_id k = c->class_of[class_dim(c, v, d)];
        for (uint32_t a = 0; a < labels; a++)
            s->shares[key.shares + d * labels + a] =
                status_dim_share(s->labels, k, shape->dims[d], (label)a);
    }
    uint64_t hash = space_hash(s, &key);
    struct slot_walk at;
    for (*space = slots_first(&s->slots, hash, &at); *space != SLOTS_END;
         *space = slots_next(&s->slots, &at)) {
        if (same_space(s, &s->items[*space], &key))
            return 0;
    }
    s->share_count += (size_t)shape->rank * labels;
    int rc = list_statuses(s, &key, e);
    if (rc)
        return rc;
    if (!slots_add(&s->slots, hash, s->count))
        return err_no_memory(e, "for the statuses of values");
    *space = s->count;
    s->items[s->count++] = key;
    return 0;
}

uint32_t status_find(const struct status_spaces *s, uint32_t space, status x)
{
    const struct status_space *i = &s->items[space];

    for (uint32_t k = 0; k < i->count; k++) {
        if (s->statuses[i->statuses + k] == x)
            return k;
    }
    return UINT32_MAX;
}

int status_spaces_new(const struct labels *l, const struct cluster_mesh *mesh,
                      struct status_spaces *out, struct err *e)
{
    if (mesh->axes > STATUS_AXES_MOST)
        return err_set(e, ERR_LIMIT, "relaxed mode takes meshes of up to %d axes, this one has %u",
                       STATUS_AXES_MOST, mesh->axes);
    *out = (struct status_spaces){.labels = l, .mesh = mesh};
    return 0;
}

void status_spaces_release(struct status_spaces *s)
{
    free(s->items);
    free(s->statuses);
    free(s->shares);
    free(s->ms);
    free(s->next);
    slots_release(&s->slots);
    memset(s, 0, sizeof *s);
}

void status_write(const struct hlo_shape *shape, const struct cluster_mesh *mesh, status x,
                  struct str *out)
{
    char set[MESH_AXES_MOST * MESH_NAME_ROOM];
    label partial = partial_axes(x, mesh->axes);

    str_add(out, shape->type < HLO_TYPE_COUNT ? hlo_type_info[shape->type].name : "?");
    str_add_char(out, '[');
    for (uint32_t d = 0; d < shape->rank; d++) {
        label over = status_dim(x, mesh->axes, d);
        str_format(out, "%s%lld", d ? " " : "", (long long)shape->dims[d]);
        mesh_set_format(mesh, over, set, sizeof set);
        if (over)
            str_format(out, "/%s", set);
    }
    str_add_char(out, ']');
    mesh_set_format(mesh, partial, set, sizeof set);
    if (partial)
        str_format(out, "+%s", set);
}

/* Axes as mesh_set_format names them; the longest name that fits, for one may begin like another.
 */
static label take_axes(const struct cluster_mesh *mesh, const char **at)
{
    label set = 0;

    for (;;) {
        size_t longest = 0;
        uint32_t axis = 0;
        for (uint32_t x = 0; x < mesh->axes; x++) {
            size_t n = strlen(mesh->axis[x].name);
            if (n > longest && !strncmp(*at, mesh->axis[x].name, n)) {
                longest = n;
                axis = x;
            }
        }
        if (!longest)
            return set;
        set |= (label)(1u << axis);
        *at += longest;
        *at += **at == ',';
    }
}

static status with_axes(status s, uint32_t axes, label over, unsigned what)
{
    for (uint32_t x = 0; x < axes; x++)
        s = over >> x & 1 ? status_with(s, x, what) : s;
    return s;
}

static bool take_text(const char **at, const char *text)
{
    size_t n = strlen(text);

    if (strncmp(*at, text, n) != 0)
        return false;
    *at += n;
    return true;
}

size_t status_read(const struct hlo_shape *shape, const struct cluster_mesh *mesh, const char *text,
                   status *out)
{
    const char *at = text;
    char size[32];

    *out = STATUS_WHOLE;
    if (shape->type >= HLO_TYPE_COUNT || !take_text(&at, hlo_type_info[shape->type].name) ||
        !take_text(&at, "["))
        return 0;
    for (uint32_t d = 0; d < shape->rank; d++) {
        snprintf(size, sizeof size, "%s%lld", d ? " " : "", (long long)shape->dims[d]);
        if (!take_text(&at, size))
            return 0;
        if (take_text(&at, "/"))
            *out = with_axes(*out, mesh->axes, take_axes(mesh, &at), d + 1);
    }
    if (!take_text(&at, "]"))
        return 0;
    if (take_text(&at, "+"))
        *out = with_axes(*out, mesh->axes, take_axes(mesh, &at), STATUS_PARTIAL);
    return (size_t)(at - text);
}
