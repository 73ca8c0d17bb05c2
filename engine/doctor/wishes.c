#define _GNU_SOURCE /* memmem */
#include "engine/doctor/wishes.h"

#include "engine/cluster/mesh.h"
#include "engine/decide/labels.h"
#include "engine/plan/sharding.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/status.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/infer.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the mesh of the shardings ---- */

/* `mesh<["x"=4, "y"=2]>` of Shardy's first mesh as "x=4,y=2"; false: none. */
static bool named_mesh(const struct hlo_module *m, char *out, size_t room)
{
    for (uint32_t k = 0; k < m->header_count; k++) {
        const struct hlo_text *h = &m->header[k];
        static const char begin[] = "sdy.mesh<[";
        const char *at = memmem(h->text, h->size, begin, sizeof begin - 1);
        const char *end = at ? memchr(at, ']', h->size - (size_t)(at - h->text)) : NULL;
        size_t size = 0;
        if (!end)
            continue;
        for (at += sizeof begin - 1; at < end && size + 1 < room; at++) {
            if (*at != '"' && *at != ' ' && *at != '\\')
                out[size++] = *at;
        }
        out[size] = 0;
        return size > 0;
    }
    return false;
}

uint32_t doctor_mesh_devices(const struct hlo_module *m)
{
    char axes[256];
    uint32_t devices = 1;

    if (!named_mesh(m, axes, sizeof axes))
        return 0;
    for (const char *at = strchr(axes, '='); at; at = strchr(at + 1, '=')) {
        if (__builtin_mul_overflow(devices, strtoul(at + 1, NULL, 10), &devices))
            return 0;
    }
    return devices;
}

/* Where device numbers are cut into axes: at[0] = 1, each divides the next, the last is all of
 * them. Between two lies an axis, the innermost first. */
struct cuts {
    uint32_t at[STATUS_AXES_MOST + 1], count;
};

/* One more, where it fits between two and there may be as many axes. */
static void add_cut(struct cuts *c, uint32_t cut)
{
    uint32_t k = 0;

    while (k < c->count && c->at[k] < cut)
        k++;
    if (!k || k == c->count || c->at[k] == cut || c->count > STATUS_AXES_MOST ||
        cut % c->at[k - 1] || c->at[k] % cut)
        return;
    memmove(&c->at[k + 1], &c->at[k], (c->count - k) * sizeof *c->at);
    c->at[k] = cut;
    c->count++;
}

/* The mesh of which all shardings are, or as many of them as few axes allow: every one cuts the
 * devices where its tiles begin. */
static void tiled_mesh(const struct hlo_module *m, uint32_t devices, char *out, size_t room)
{
    struct cuts c = {{1, devices}, devices > 1 ? 2 : 1};
    uint32_t cuts[SHARDING_CUTS_MOST];
    size_t size = 0;

    for (hlo_id id = 0; id < m->count; id++) {
        const struct hlo_attr *a = hlo_attr(m, id, HLO_ATTR_SHARDING);
        uint32_t count = a ? sharding_cuts(a->text, a->size, devices, cuts) : 0;
        for (uint32_t k = 0; k < count; k++)
            add_cut(&c, cuts[k]);
    }
    snprintf(out, room, "%u", devices);
    for (uint32_t k = c.count; k-- > 1 && size < room;)
        size += (size_t)snprintf(out + size, room - size, "%s%u", k + 1 < c.count ? "x" : "",
                                 c.at[k] / c.at[k - 1]);
}

void doctor_mesh_of(const struct hlo_module *m, uint32_t devices, char *out, size_t room)
{
    if (!named_mesh(m, out, room))
        tiled_mesh(m, devices, out, room);
}

/* ---- what the author asked for ---- */

static const char shardy_result[] = "xla.sdy.FuncResultSharding";

enum { RESULTS_MOST = 4096 }; /* looked at, so that no root makes this slow */

static bool is_asked(const struct hlo_module *m, hlo_id id)
{
    return hlo_at(m, id)->opcode == HLO_OP_CUSTOM_CALL && hlo_at(m, id)->operand_count == 1 &&
           hlo_shape(m, id)->type != HLO_TUPLE &&
           (hlo_attr_is(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, "Sharding") ||
            hlo_attr_is(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, shardy_result));
}

/* Without Shardy a lone result is asked for where the root takes it out of a tuple of its own:
 * both become copies. */
static void lone_result_as_copy(struct hlo_module *m, hlo_id root)
{
    struct hlo_instruction *i = &m->instructions[root];
    hlo_id tuple = i->opcode == HLO_OP_GET_TUPLE_ELEMENT ? hlo_operand(m, root, 0) : HLO_NONE;

    if (tuple == HLO_NONE || hlo_at(m, tuple)->opcode != HLO_OP_TUPLE ||
        hlo_at(m, tuple)->operand_count != 1 || hlo_at(m, tuple)->user_count != 1 ||
        hlo_shape(m, root)->type == HLO_TUPLE)
        return;
    hlo_set_opcode(m, tuple, HLO_OP_COPY);
    m->instructions[tuple].shape = i->shape;
    hlo_set_opcode(m, root, HLO_OP_COPY);
}

/* Of several, a reshape to the same shape that nothing reads has the sharding: the root takes it
 * instead of what it takes, whose place among the users becomes its own. */
static void result_as_copy(struct hlo_module *m, hlo_id root, uint32_t n)
{
    hlo_id value = hlo_operand(m, root, n);
    struct hlo_instruction *i = &m->instructions[value];

    if (!i->user_count || m->user_pool[i->users + i->user_count - 1] != root)
        return;
    for (uint32_t k = 0; k < hlo_at(m, root)->operand_count; k++) {
        if (k != n && hlo_operand(m, root, k) == value)
            return;
    }
    for (uint32_t k = 0; k < i->user_count; k++) {
        hlo_id user = hlo_user(m, value, k);
        struct hlo_instruction *copy = &m->instructions[user];
        if (copy->opcode != HLO_OP_RESHAPE || copy->user_count || user > root ||
            hlo_shape(m, user)->type != hlo_shape(m, value)->type ||
            !hlo_same_dims(hlo_shape(m, user), hlo_shape(m, value)) ||
            !hlo_attr(m, user, HLO_ATTR_SHARDING))
            continue;
        hlo_set_opcode(m, user, HLO_OP_COPY);
        copy->users = i->users + --i->user_count;
        copy->user_count = 1;
        hlo_id *operands = (hlo_id *)(uintptr_t)m->operand_pool; /* m is to be changed */
        operands[hlo_at(m, root)->operands + n] = user;
        return;
    }
}

void doctor_wishes_as_copies(struct hlo_module *m)
{
    hlo_id root = m->computations[m->entry].root;
    bool has_results = false;

    for (hlo_id id = 0; id < m->count; id++) {
        if (!is_asked(m, id))
            continue;
        hlo_set_opcode(m, id, HLO_OP_COPY);
        has_results = has_results || hlo_attr_is(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, shardy_result);
    }
    if (has_results)
        return;
    if (hlo_attr(m, root, HLO_ATTR_SHARDING))
        lone_result_as_copy(m, root);
    for (uint32_t n = 0; hlo_at(m, root)->opcode == HLO_OP_TUPLE &&
                         n < hlo_at(m, root)->operand_count && n < RESULTS_MOST;
         n++)
        result_as_copy(m, root, n);
}

/* The operand of the root that an instruction is; 0 where the root is no tuple. */
static uint32_t result_number(const struct hlo_module *m, hlo_id id)
{
    hlo_id root = m->computations[m->entry].root;

    for (uint32_t n = 0; hlo_at(m, root)->opcode == HLO_OP_TUPLE &&
                         hlo_at(m, root)->operand_count > 1 && n < hlo_at(m, root)->operand_count;
         n++) {
        if (hlo_operand(m, root, n) == id)
            return n + 1;
    }
    return 0;
}

/* Whether a copy stands for a result: as Shardy writes it, or as made above. */
static bool is_result(const struct hlo_module *m, hlo_id id)
{
    return hlo_attr_is(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, shardy_result) ||
           (!hlo_attr(m, id, HLO_ATTR_CUSTOM_CALL_TARGET) &&
            (id == m->computations[m->entry].root || result_number(m, id)));
}

/* The axes in the braces and quotes of Shardy's `[{"y"}, {}, {"x"}]`, dim by dim; false: other
 * text. */
static bool read_sdy(const struct cluster_mesh *mesh, const struct hlo_attr *a, uint32_t rank,
                     status *out)
{
    const char *at = memmem(a->text, a->size, "sdy.sharding", 12), *end = a->text + a->size;
    uint32_t dim = 0;

    at = at ? memchr(at, '[', (size_t)(end - at)) : NULL;
    if (at && at + 1 < end && at[1] == '<') /* sharding_per_value<[<@mesh, [..]>]> */
        at = memchr(at + 1, '[', (size_t)(end - at - 1));
    *out = 0;
    for (; at && at < end && *at != ']'; at++) {
        if (*at == '}')
            dim++;
        if (*at != '"')
            continue;
        const char *name = ++at;
        while (at < end && *at != '"' && *at != '\\')
            at++;
        size_t size = (size_t)(at - name);
        for (uint32_t x = 0; x < mesh->axes && dim < rank; x++) {
            if (strlen(mesh->axis[x].name) == size && !memcmp(mesh->axis[x].name, name, size))
                *out = status_with(*out, x, dim + 1);
        }
        if (at < end && *at == '\\' && at + 1 < end)
            at++;
    }
    return at && at < end && dim == rank;
}

static bool read_asked(const struct problem *p, hlo_id id, status *out)
{
    const struct hlo_attr *a = hlo_attr(p->m, id, HLO_ATTR_SHARDING);
    const struct hlo_attr *f = hlo_attr(p->m, id, HLO_ATTR_FRONTEND_ATTRIBUTES);
    uint32_t rank = hlo_shape(p->m, id)->rank;
    label over[HLO_RANK_MAX] = {0};

    *out = 0;
    if (f && read_sdy(&p->mesh, f, rank, out))
        return true;
    if (!a || hlo_shape(p->m, id)->type == HLO_TUPLE)
        return false;
    if (a->size >= 11 && !memcmp(a->text, "{replicated", 11))
        return true;
    if (!sharding_read(&p->mesh, a->text, a->size, rank, over))
        return false;
    for (uint32_t d = 0; d < rank; d++) {
        for (uint32_t x = 0; x < p->mesh.axes; x++) {
            if (over[d] >> x & 1)
                *out = status_with(*out, x, d + 1);
        }
    }
    return true;
}

bool doctor_wish_of(const struct problem *p, hlo_id id, struct doctor_wish *out)
{
    const struct hlo_module *m = p->m;
    bool is_stored =
        hlo_at(m, id)->opcode == HLO_OP_PARAMETER && hlo_at(m, id)->computation == m->entry;
    bool is_copy = hlo_at(m, id)->opcode == HLO_OP_COPY;

    *out = (struct doctor_wish){.id = id};
    if ((!is_stored && !is_copy) || hlo_shape(m, id)->type == HLO_TUPLE ||
        !read_asked(p, id, &out->asked))
        return false;
    out->kind = is_stored ? WISH_STORED : is_result(m, id) ? WISH_RESULT : WISH_CONSTRAINT;
    out->result = out->kind == WISH_RESULT ? result_number(m, id) : 0;
    return true;
}

uint32_t doctor_wish_as_fine(const struct problem *p, const struct doctor_wish *w, status out[],
                             uint32_t most)
{
    uint32_t rank = hlo_shape(p->m, w->id)->rank, axes = p->mesh.axes, count = 0;
    uint32_t all = 1;
    char class = hlo_type_info[hlo_shape(p->m, w->id)->type].class;
    bool any = w->asked == 0 || (w->kind == WISH_STORED && strchr("UI", class));

    for (uint32_t a = 0; a < axes; a++)
        all *= rank + 1;
    for (uint32_t n = 0; n < all && count < most; n++) {
        status s = 0;
        bool fits = true;
        for (uint32_t a = 0, left = n; a < axes; a++, left /= rank + 1) {
            unsigned to = left % (rank + 1);
            s = status_with(s, a, to);
            bool was = status_on(w->asked, a) != 0, is = to != 0;
            fits = fits && (any || is == was || (is && w->leaves_out));
        }
        if (fits)
            out[count++] = s;
    }
    return count;
}

void doctor_wish_write(const struct problem *p, hlo_id id, status s, struct str *out)
{
    const struct cluster_mesh *mesh = &p->mesh;
    uint32_t rank = hlo_shape(p->m, id)->rank, last = 0;

    for (uint32_t d = 0; d < rank; d++)
        last = status_dim(s, mesh->axes, d) ? d + 1 : last;
    str_add(out, "P(");
    for (uint32_t d = 0; d < last; d++) {
        label over = status_dim(s, mesh->axes, d);
        const char *between = "";
        str_add(out, d ? ", " : "");
        if (!over)
            str_add(out, "None");
        str_add(out, over & (over - 1) ? "(" : "");
        for (uint32_t a = 0; a < mesh->axes; a++) {
            if (!(over >> a & 1))
                continue;
            str_format(out, "%s'%s'", between, mesh->axis[a].name);
            between = ", ";
        }
        str_add(out, over & (over - 1) ? ")" : "");
    }
    str_add(out, ")");
}

void doctor_wish_write_change(const struct problem *p, const struct doctor_wish *w, status to,
                              struct str *out)
{
    const char *name = hlo_meta(p->m, w->id)->op_name;

    if (w->kind == WISH_STORED)
        str_format(out, "store \"%.60s\" as ", *name ? name : hlo_name(p->m, w->id));
    else if (w->kind == WISH_CONSTRAINT)
        str_add(out, "constrain it to ");
    else if (w->result)
        str_format(out, "hand result %u out as ", w->result);
    else
        str_add(out, "hand the result out as ");
    doctor_wish_write(p, w->id, to, out);
    str_add(out, ", not ");
    doctor_wish_write(p, w->id, w->asked, out);
}
