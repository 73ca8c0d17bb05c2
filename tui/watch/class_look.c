#include "tui/watch/class_look.h"

#include "engine/cluster/collectives.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/why.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/watch/tree.h"

#include <stdio.h>
#include <string.h>

/* ---- members ---- */

static const int order_of_role[HLO_ROLE_COUNT] = {[HLO_ROLE_VARIABLE] = 0,
                                                  [HLO_ROLE_INPUT] = 1,
                                                  [HLO_ROLE_OPTIMIZER_STATE] = 2,
                                                  [HLO_ROLE_OTHER_STATE] = 3,
                                                  [HLO_ROLE_HYPER] = 4};

/* The first user with a factor that binds the dim. */
static void find_use(const struct classes *c, hlo_value v, uint32_t dim, struct class_member *m)
{
    const struct hlo_module *h = c->m;
    hlo_id id = h->value_instruction[v];

    m->through = HLO_NONE;
    m->factor = UINT32_MAX;
    for (uint32_t n = 0; n < hlo_at(h, id)->user_count; n++) {
        hlo_id user = hlo_user(h, id, n);
        uint32_t leaf = hlo_value_leaf(h, v), leaves = class_leaf_count(c, user);
        for (uint32_t o = 0; o < hlo_at(h, user)->operand_count && hlo_operand(h, user, o) != id;
             o++)
            leaf +=
                h->leaf_base[hlo_operand(h, user, o) + 1] - h->leaf_base[hlo_operand(h, user, o)];
        if (n == 0)
            m->through = user;
        for (uint32_t k = c->factor_base[user]; k < c->factor_base[user + 1] && leaf < leaves;
             k++) {
            if (c->leaf_dims[c->factors[k].dims + leaf] != (int)dim)
                continue;
            m->through = user;
            m->factor = k;
            return;
        }
    }
}

static int by_role(const void *a, const void *b)
{
    const struct class_member *x = a, *y = b;
    int one = order_of_role[x->role], other = order_of_role[y->role];
    return one != other ? one - other : x->dim < y->dim ? -1 : x->dim > y->dim;
}

static bool is_first(const void *context, dim_id d)
{
    return *(const dim_id *)context == d;
}

int class_members(const struct watch *w, class_id k, struct class_member **out, size_t *count,
                  struct err *e)
{
    const struct problem *p = w->problem;
    const struct classes *c = &p->classes;
    struct class_member *list = NULL;
    size_t held = 0, room = 0;
    uint16_t *steps = mem_try((size_t)c->dim_count + 1, sizeof *steps);
    uint32_t most;
    bool ok = steps != NULL;

    for (uint32_t n = 0; n < p->roles.param_count && ok; n++) {
        const struct hlo_param_role *r = &p->roles.params[n];
        const struct hlo_shape *s = hlo_value_shape(p->m, r->value);
        for (uint32_t d = 0; d < s->rank && ok; d++) {
            if (c->class_of[class_dim(c, r->value, d)] != k ||
                !(ok = mem_grow(&list, &room, held, 1)))
                continue;
            list[held] = (struct class_member){.dim = class_dim(c, r->value, d),
                                               .name = r->module ? r->module : r->name,
                                               .number = d,
                                               .role = r->role};
            find_use(c, r->value, d, &list[held++]);
        }
    }
    if (ok && held) {
        qsort(list, held, sizeof *list, by_role);
        ok = !why_spread(c, k, is_first, &list[0].dim, steps, &most, e);
        for (size_t n = 0; n < held; n++)
            list[n].steps = steps[list[n].dim];
    }
    free(steps);
    if (!ok) {
        free(list);
        return err_set(e, ERR_MEMORY, "not enough memory for the members of a class");
    }
    *out = list;
    *count = held;
    return 0;
}

/* ---- all-reduces ---- */

static label first_fit(const struct labels *l, class_id k)
{
    for (uint32_t x = 0; x < l->axes; x++) {
        if (label_is_admissible(l, k, (label)(1u << x)))
            return (label)(1u << x);
    }
    return 0;
}

int class_reduces_all(const struct watch *w, struct class_reduces **out, struct err *e)
{
    const struct problem *p = w->problem;
    const struct classes *c = &p->classes;
    struct class_reduces *all = mem_try((size_t)c->count + 1, sizeof *all);
    label *on = mem_try((size_t)c->count + 1, sizeof *on);
    struct reduction r[TERM_CLASSES_MOST];

    for (hlo_id id = 0; all && on && id < p->m->count; id++) {
        for (uint32_t f = c->factor_base[id]; f < c->factor_base[id + 1]; f++) {
            class_id k = c->factors[f].class;
            bool sums =
                c->factors[f].kind == HLO_FACTOR_REDUCE || c->factors[f].kind == HLO_FACTOR_INSIDE;
            if (!sums || k == CLASS_NONE || !(on[k] = first_fit(&p->labels, k)))
                continue;
            uint32_t count = step_tables_reductions(&p->step_tables, id, on, r);
            for (uint32_t n = 0; n < count; n++) {
                if (r[n].kind != COLLECTIVE_ALL_REDUCE)
                    continue;
                all[k].count += r[n].count * p->costs.times[id];
                all[k].bytes += r[n].bytes * p->costs.times[id];
                all[k].ms += r[n].ms * p->costs.times[id];
            }
            on[k] = 0;
        }
    }
    bool ok = all && on;
    free(on);
    if (!ok) {
        free(all);
        return err_set(e, ERR_MEMORY, "not enough memory for the all-reduces of classes");
    }
    *out = all;
    return 0;
}

/* ---- forbidden ---- */

static bool is_before(const struct class_info *x, const struct class_info *y)
{
    if (!x->var_dims != !y->var_dims)
        return x->var_dims > 0;
    if (!x->input_dims != !y->input_dims)
        return x->input_dims > 0;
    return x->dim_count > y->dim_count;
}

class_id class_forbidden(const struct problem *p, class_id *out)
{
    const struct class_info *info = p->classes.info;
    class_id count = 0;

    for (class_id k = 0; k < p->classes.count; k++) {
        if (info[k].reason != CLASS_ALLOWED)
            out[count++] = k;
    }
    for (class_id n = 1; n < count; n++) { /* stable; there are few that hold variables or inputs */
        class_id k = out[n], at = n;
        if (!info[k].var_dims && !info[k].input_dims && at > 200)
            continue;
        for (; at > 0 && is_before(&info[k], &info[out[at - 1]]); at--)
            out[at] = out[at - 1];
        out[at] = k;
    }
    return count;
}

/* ---- words ---- */

char *instruction_source(const struct hlo_module *m, hlo_id id, char *out, size_t room)
{
    const struct hlo_meta *meta = hlo_meta(m, id);
    const char *slash = strrchr(meta->source_file, '/');

    out[0] = 0;
    if (meta->source_file[0])
        snprintf(out, room, "%.40s:%u", slash ? slash + 1 : meta->source_file, meta->source_line);
    else if (hlo_at(m, id)->line)
        snprintf(out, room, "line %u", hlo_at(m, id)->line);
    return out;
}

char *instruction_scope(const struct tree *t, hlo_id id, char *out, size_t room)
{
    int n = t->node_of[id];

    while (n != TREE_NONE && (t->nodes[n].number >= 0 || t->nodes[n].series))
        n = t->nodes[n].parent;
    snprintf(out, room, "%s",
             n == TREE_NONE || t->nodes[n].parent == TREE_NONE ? "" : t->nodes[n].name);
    return out;
}
