#include "engine/plan/explain_reshard.h"

#include "engine/cluster/mesh.h"
#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "engine/text/units.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

enum { USES_SHOWN = 16, NEW_SHOWN = 6 };

static const char MEMORY_FOR[] = "to explain a reshard";

/* ---- uses ---- */

uint32_t relaxed_uses(const struct relaxed_plan *x, hlo_value v, struct relaxed_use *out,
                      uint32_t room)
{
    const struct problem *q = x->problem;
    const struct classes *c = &q->classes;
    uint32_t count = 0;

    for (hlo_id id = 0; id < q->m->count; id++) {
        uint32_t results = q->m->leaf_base[id + 1] - q->m->leaf_base[id];
        if (hlo_is_flow(q->m, id) || q->costs.times[id] == 0)
            continue;
        for (uint32_t leaf = 0; leaf + results < class_leaf_count(c, id); leaf++) {
            if (x->origin[hlo_factors_value(q->m, id, leaf)] != v)
                continue;
            if (count++ < room)
                out[count - 1] = (struct relaxed_use){id, leaf};
        }
    }
    return count;
}

/* ---- the plan without it ---- */

/* No collective on that way; where all uses share it, on none of the ways to them. */
static int forbid_reshard(const struct plan *p, struct relaxed *r,
                          const struct relaxed_reshard *reshard, struct err *e)
{
    bool is_shared = reshard->user == HLO_NONE && reshard->becomes == HLO_NONE;
    uint32_t count =
        is_shared && !reshard->is_inside ? relaxed_uses(p->relaxed, reshard->value, NULL, 0) : 0;
    struct relaxed_use *uses = mem_try((size_t)count + 1, sizeof *uses);
    int rc = uses ? relaxed_forbid(r, reshard, e) : err_no_memory(e, MEMORY_FOR);

    if (rc)
        goto out;
    relaxed_uses(p->relaxed, reshard->value, uses, count);
    for (uint32_t k = 0; k < count; k++) {
        struct relaxed_reshard way = *reshard;
        way.user = uses[k].id;
        way.leaf = uses[k].leaf;
        rc = relaxed_forbid(r, &way, e);
        if (rc)
            goto out;
    }
out:
    free(uses);
    return rc;
}

/* The whole solve at once where there is no `stop`, else a few sweeps at a time. */
static int solve_anew(struct relaxed *r, const atomic_bool *stop, struct relaxed_plan *out,
                      struct err *e)
{
    enum { SWEEPS_AT_ONCE = 20, SWEEPS_MOST = 200 };
    int rc = relaxed_solve(r, stop ? SWEEPS_AT_ONCE : 0, out, e);

    if (rc)
        return rc;
    for (uint32_t sweeps = SWEEPS_AT_ONCE;
         stop && sweeps < SWEEPS_MOST && out->gap > 1e-6 && !atomic_load(stop);
         sweeps += SWEEPS_AT_ONCE) {
        struct relaxed_plan next;
        rc = relaxed_solve(r, SWEEPS_AT_ONCE, &next, e);
        if (rc) {
            relaxed_plan_release(out);
            return rc;
        }
        bool better = next.cost.step_ms < out->cost.step_ms || next.bound_ms > out->bound_ms;
        relaxed_plan_release(out);
        *out = next;
        if (!better)
            break;
    }
    return rc;
}

static int solve_without(const struct plan *p, struct relaxed *r,
                         const struct relaxed_reshard *reshard, const atomic_bool *stop,
                         struct reshard_removal *out, struct err *e)
{
    const struct relaxed_plan *x = p->relaxed;
    struct relaxed_decisions d = {x->choice, x->made, x->held, x->ended};
    struct relaxed_plan same, found;
    int rc = relaxed_price_decisions(r, &d, &same, e);

    if (rc)
        return rc;
    relaxed_plan_release(&same);
    rc = forbid_reshard(p, r, reshard, e);
    if (rc == ERR_INPUT && reshard->is_inside)
        goto impossible;
    if (rc)
        return rc;
    rc = solve_anew(r, stop, &found, e);
    if (rc == ERR_INFEASIBLE)
        goto impossible;
    if (rc)
        return rc;
    rc = plan_from_relaxed(&found, &out->plan, e);
    if (rc)
        return rc;
    out->is_possible = true;
    out->step_ms = out->plan.cost.step_ms;
    return 0;
impossible:
    snprintf(out->why_not, sizeof out->why_not, "%.150s", e->what);
    return 0;
}

int reshard_remove(const struct plan *p, uint32_t number, struct reshard_removal *out,
                   struct err *e)
{
    return reshard_remove_until(p, number, NULL, out, e);
}

int reshard_remove_until(const struct plan *p, uint32_t number, const atomic_bool *stop,
                         struct reshard_removal *out, struct err *e)
{
    struct relaxed_options o = {.folding = RELAXED_FOLD_OFF,
                                .reduce_at_once = p->relaxed->reduce_at_once};
    struct relaxed *r;

    memset(out, 0, sizeof *out);
    if (number >= p->relaxed->reshard_count)
        return err_set(e, ERR_INPUT, "no reshard %u: the plan has %u", number + 1,
                       p->relaxed->reshard_count);
    int rc = relaxed_new(p->problem, &o, &r, e);
    if (rc)
        return rc;
    rc = solve_without(p, r, &p->relaxed->reshards[number], stop, out, e);
    relaxed_free(r);
    return rc;
}

void reshard_removal_release(struct reshard_removal *r)
{
    if (r->is_possible)
        plan_release(&r->plan);
    memset(r, 0, sizeof *r);
}

static bool is_same(const struct relaxed_reshard *a, const struct relaxed_reshard *b)
{
    return a->value == b->value && a->user == b->user && a->leaf == b->leaf &&
           a->becomes == b->becomes && a->kind == b->kind && a->from == b->from && a->to == b->to;
}

/* Reshards of `b` that `a` has not: up to `room` of them; returns how many there are. */
static uint32_t find_new(const struct relaxed_plan *a, const struct relaxed_plan *b,
                         const struct relaxed_reshard **out, uint32_t room)
{
    uint32_t count = 0, first = 0;

    for (uint32_t k = 0; k < b->reshard_count; k++) {
        const struct relaxed_reshard *now = &b->reshards[k];
        bool known = false;
        while (first < a->reshard_count && a->reshards[first].value < now->value)
            first++;
        for (uint32_t n = first;
             n < a->reshard_count && a->reshards[n].value == now->value && !known; n++)
            known = is_same(&a->reshards[n], now);
        if (!known && count++ < room)
            out[count - 1] = now;
    }
    return count;
}

/* ---- words ---- */

static const char *value_name(const struct problem *q, hlo_value v)
{
    for (uint32_t k = 0; k < q->roles.param_count; k++) {
        if (q->roles.params[k].value == v)
            return q->roles.params[k].name;
    }
    return hlo_name(q->m, q->m->value_instruction[v]);
}

static void add_status(const struct plan *p, hlo_value v, status s, struct str *out)
{
    status_write(hlo_value_shape(p->problem->m, v), &p->problem->mesh, s, out);
}

void relaxed_write_choice(const struct relaxed_plan *x, hlo_id id, struct str *out)
{
    const struct problem *q = x->problem;
    const struct classes *c = &q->classes;
    uint32_t choice = x->choice[id], results = q->m->leaf_base[id + 1] - q->m->leaf_base[id];
    uint32_t leaf = class_leaf_count(c, id) - results;
    bool any = false;

    for (uint32_t a = 0; a < q->mesh.axes; a++) {
        unsigned byte = status_on(choice, a);
        if (!byte)
            continue;
        str_add(out, any ? ", " : "");
        any = true;
        if (byte >= 128) {
            str_format(out, "passing partial results over %s on", q->mesh.axis[a].name);
            continue;
        }
        int d = c->leaf_dims[c->factors[c->factor_base[id] + byte - 1].dims + leaf];
        if (d >= 0)
            str_format(out, "split over %s along dim %d of its result", q->mesh.axis[a].name, d);
        else
            str_format(out, "split over %s along what it sums", q->mesh.axis[a].name);
    }
    if (!any)
        str_add(out, "whole on every device");
}

void relaxed_write_way(const struct relaxed_plan *x, const struct relaxed_reshard *r,
                       struct str *out)
{
    const struct hlo_module *m = x->problem->m;

    if (r->is_inside)
        str_add(out, "inside the instruction");
    else if (r->user != HLO_NONE)
        str_format(out, "for operand %u of %s", r->leaf, hlo_name(m, r->user));
    else if (r->becomes == r->value)
        str_add(out, "to be handed out");
    else if (r->becomes != HLO_NONE)
        str_format(out, "to become %s", value_name(x->problem, r->becomes));
    else
        str_add(out, "for all its uses");
}

static void add_reshard(const struct plan *p, const struct relaxed_reshard *r, struct str *out)
{
    char axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1], bytes[UNITS_ROOM], ms[UNITS_ROOM];

    mesh_set_format(&p->problem->mesh, r->over, axes, sizeof axes);
    str_format(out, "%s over %s of %s, ", reshard_kind_names[r->kind], axes,
               value_name(p->problem, r->value));
    add_status(p, r->value, r->from, out);
    str_add(out, " -> ");
    add_status(p, r->value, r->to, out);
    str_add(out, ", ");
    relaxed_write_way(p->relaxed, r, out);
    str_format(out, ": %s, %s a step", units_bytes(bytes, r->bytes), units_ms(ms, r->ms));
    if (r->times != 1)
        str_format(out, " in %.0f runs", r->times);
}

/* ---- what uses want ---- */

static status wanted(const struct plan *p, const struct relaxed_use *u)
{
    return p->relaxed->leaf[p->problem->classes.leaf_base[u->id] + u->leaf];
}

static void add_uses(const struct plan *p, const struct relaxed_reshard *r, struct str *out)
{
    const struct hlo_module *m = p->problem->m;
    struct relaxed_use uses[USES_SHOWN];
    uint32_t count = relaxed_uses(p->relaxed, r->value, uses, USES_SHOWN);

    str_add(out, count ? "used by\n" : "no instruction reads it\n");
    for (uint32_t k = 0; k < count && k < USES_SHOWN; k++) {
        str_format(out, "  %-32s asks for ", hlo_name(m, uses[k].id));
        add_status(p, r->value, wanted(p, &uses[k]), out);
        str_add(out, ": it runs ");
        relaxed_write_choice(p->relaxed, uses[k].id, out);
        str_add_char(out, '\n');
    }
    if (count > USES_SHOWN)
        str_format(out, "  and %u more\n", count - USES_SHOWN);
}

/* ---- the answer as text ---- */

static void add_removal(const struct plan *p, const struct reshard_removal *r, struct str *out)
{
    const struct relaxed_reshard *news[NEW_SHOWN];
    char a[UNITS_ROOM], b[UNITS_ROOM];

    if (!r->is_possible) {
        str_format(out, "without it: not possible: %s\n", r->why_not);
        return;
    }
    double more = r->step_ms - p->cost.step_ms;
    if (more < 0)
        str_format(out, "without it: %s a step, %s less: the search that made the plan missed it\n",
                   units_ms(a, r->step_ms), units_ms(b, -more));
    else
        str_format(out, "without it: the best plan found takes %s a step, %s more (%.2f %%)\n",
                   units_ms(a, r->step_ms), units_ms(b, more), 100 * more / p->cost.step_ms);
    uint32_t count = find_new(p->relaxed, r->plan.relaxed, news, NEW_SHOWN);
    for (uint32_t k = 0; k < count && k < NEW_SHOWN; k++) {
        str_add(out, "  instead: ");
        add_reshard(p, news[k], out);
        str_add_char(out, '\n');
    }
    if (count > NEW_SHOWN)
        str_format(out, "  and %u more reshards that this plan has not\n", count - NEW_SHOWN);
    if (!count)
        str_add(out, "  no other reshard takes its place: more is computed instead\n");
}

void reshard_explain(const struct plan *p, uint32_t number, const struct reshard_removal *removal,
                     struct str *out)
{
    const struct relaxed_reshard *r = &p->relaxed->reshards[number];
    hlo_id maker = p->problem->m->value_instruction[r->value];

    str_format(out, "reshard %u of %u: ", number + 1, p->relaxed->reshard_count);
    add_reshard(p, r, out);
    str_format(out, "\n\nmade as ");
    add_status(p, r->value, p->relaxed->made[r->value], out);
    if (hlo_is_flow(p->problem->m, maker)) {
        str_add(out, ": stored or carried so");
    } else {
        str_format(out, ": %s runs ", hlo_name(p->problem->m, maker));
        relaxed_write_choice(p->relaxed, maker, out);
    }
    str_add(out, "\nheld as ");
    add_status(p, r->value, p->relaxed->held[r->value], out);
    str_add(out, p->relaxed->held[r->value] == p->relaxed->made[r->value]
                     ? " for its uses, as it is made\n\n"
                     : " for its uses, resharded once for all\n\n");
    add_uses(p, r, out);
    str_add_char(out, '\n');
    add_removal(p, removal, out);
}

/* ---- JSON ---- */

static void add_text(cJSON *o, const char *key, const struct str *text)
{
    cJSON_AddStringToObject(o, key, text->text ? text->text : "");
}

static void add_status_json(const struct plan *p, hlo_value v, status s, const char *key, cJSON *o)
{
    struct str text = {0};

    add_status(p, v, s, &text);
    add_text(o, key, &text);
    str_release(&text);
}

static void add_choice_json(const struct plan *p, hlo_id id, cJSON *o)
{
    struct str text = {0};

    relaxed_write_choice(p->relaxed, id, &text);
    add_text(o, "runs", &text);
    str_release(&text);
}

static cJSON *reshard_json(const struct plan *p, const struct relaxed_reshard *r)
{
    char axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1];
    cJSON *o = cJSON_CreateObject();
    struct str way = {0};

    mesh_set_format(&p->problem->mesh, r->over, axes, sizeof axes);
    relaxed_write_way(p->relaxed, r, &way);
    cJSON_AddStringToObject(o, "value", value_name(p->problem, r->value));
    add_text(o, "way", &way);
    cJSON_AddStringToObject(o, "kind", reshard_kind_names[r->kind]);
    cJSON_AddStringToObject(o, "axes", axes);
    add_status_json(p, r->value, r->from, "from", o);
    add_status_json(p, r->value, r->to, "to", o);
    cJSON_AddNumberToObject(o, "times", r->times);
    cJSON_AddNumberToObject(o, "bytes", r->bytes);
    cJSON_AddNumberToObject(o, "ms", r->ms);
    str_release(&way);
    return o;
}

static void add_uses_json(const struct plan *p, const struct relaxed_reshard *r, cJSON *o)
{
    struct relaxed_use uses[USES_SHOWN];
    uint32_t count = relaxed_uses(p->relaxed, r->value, uses, USES_SHOWN);
    cJSON *all = cJSON_AddArrayToObject(o, "uses");

    for (uint32_t k = 0; k < count && k < USES_SHOWN; k++) {
        cJSON *u = cJSON_CreateObject();
        cJSON_AddStringToObject(u, "instruction", hlo_name(p->problem->m, uses[k].id));
        cJSON_AddNumberToObject(u, "operand", uses[k].leaf);
        add_status_json(p, r->value, wanted(p, &uses[k]), "asks", u);
        add_choice_json(p, uses[k].id, u);
        cJSON_AddItemToArray(all, u);
    }
    cJSON_AddNumberToObject(o, "use_count", count);
}

static void add_removal_json(const struct plan *p, const struct reshard_removal *r, cJSON *o)
{
    const struct relaxed_reshard *news[NEW_SHOWN];
    cJSON *without = cJSON_AddObjectToObject(o, "without");

    cJSON_AddBoolToObject(without, "possible", r->is_possible);
    if (!r->is_possible) {
        cJSON_AddStringToObject(without, "why_not", r->why_not);
        return;
    }
    uint32_t count = find_new(p->relaxed, r->plan.relaxed, news, NEW_SHOWN);
    cJSON_AddNumberToObject(without, "step_time_ms", r->step_ms);
    cJSON_AddNumberToObject(without, "more_ms", r->step_ms - p->cost.step_ms);
    cJSON_AddNumberToObject(without, "new_reshards", count);
    cJSON *all = cJSON_AddArrayToObject(without, "instead");
    for (uint32_t k = 0; k < count && k < NEW_SHOWN; k++)
        cJSON_AddItemToArray(all, reshard_json(p, news[k]));
}

int reshard_explain_json(const struct plan *p, uint32_t number,
                         const struct reshard_removal *removal, struct str *out, struct err *e)
{
    const struct relaxed_reshard *r = &p->relaxed->reshards[number];
    cJSON *o = reshard_json(p, r);

    cJSON_AddNumberToObject(o, "number", number + 1);
    add_status_json(p, r->value, p->relaxed->made[r->value], "made", o);
    add_status_json(p, r->value, p->relaxed->held[r->value], "held", o);
    cJSON_AddNumberToObject(o, "step_time_ms", p->cost.step_ms);
    add_uses_json(p, r, o);
    add_removal_json(p, removal, o);
    char *text = cJSON_Print(o);
    cJSON_Delete(o);
    if (!text)
        return err_no_memory(e, MEMORY_FOR);
    str_add(out, text);
    str_add_char(out, '\n');
    cJSON_free(text);
    return out->failed ? err_no_memory(e, MEMORY_FOR) : 0;
}

/* ---- the list ---- */

static int compare_ms(const void *x, const void *y)
{
    const struct relaxed_reshard *a = *(const struct relaxed_reshard *const *)x;
    const struct relaxed_reshard *b = *(const struct relaxed_reshard *const *)y;

    return a->ms != b->ms ? (a->ms < b->ms) - (a->ms > b->ms) : (a > b) - (a < b);
}

int reshard_list(const struct plan *p, uint32_t most, struct str *out, struct err *e)
{
    const struct relaxed_plan *x = p->relaxed;
    const struct relaxed_reshard **list =
        mem_try((size_t)x->reshard_count + 1, sizeof(const struct relaxed_reshard *));

    if (!list)
        return err_no_memory(e, MEMORY_FOR);
    for (uint32_t k = 0; k < x->reshard_count; k++)
        list[k] = &x->reshards[k];
    if (x->reshard_count)
        qsort(list, x->reshard_count, sizeof *list, compare_ms);
    str_format(out, "%u reshards\n", x->reshard_count);
    for (uint32_t k = 0; k < x->reshard_count && k < most; k++) {
        str_format(out, "%5u  ", (uint32_t)(list[k] - x->reshards) + 1);
        add_reshard(p, list[k], out);
        str_add_char(out, '\n');
    }
    if (x->reshard_count > most)
        str_format(out, "and %u shorter ones\n", x->reshard_count - most);
    free(list);
    return out->failed ? err_no_memory(e, MEMORY_FOR) : 0;
}
