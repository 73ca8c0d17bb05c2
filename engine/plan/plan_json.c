#include "engine/plan/plan_json.h"

#include <cjson/cJSON.h>
#include <string.h>

/* Statuses as the issue of a plan: -1 when no dim is split, else the first split dim. */
static int split_dim(const struct plan *p, hlo_value v)
{
    for (uint32_t d = 0; d < hlo_value_shape(p->problem->m, v)->rank; d++) {
        if (plan_dim_label(p, v, d))
            return (int)d;
    }
    return -1;
}

static const char *who_decided(const struct plan *p, hlo_value v)
{
    const struct classes *c = &p->problem->classes;
    uint8_t by = PLAN_BY_NOBODY;

    for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++) {
        class_id k = c->class_of[d];
        if (k != CLASS_NONE && (by == PLAN_BY_NOBODY || p->on[k]))
            by = p->by[k];
    }
    return plan_by_names[by];
}

static void add_axes(const struct plan *p, cJSON *o)
{
    cJSON *axes = cJSON_AddArrayToObject(o, "axes");

    for (uint32_t x = 0; x < p->problem->mesh.axes; x++) {
        cJSON *axis = cJSON_CreateObject();
        cJSON_AddStringToObject(axis, "name", p->problem->mesh.axis[x].name);
        cJSON_AddNumberToObject(axis, "size", p->problem->mesh.axis[x].size);
        cJSON_AddItemToArray(axes, axis);
    }
}

static void add_collectives(const struct plan *p, const struct plan_collective *list, size_t count, cJSON *o)
{
    const struct problem *q = p->problem;
    cJSON *all = cJSON_AddArrayToObject(o, "collectives");

    for (size_t k = 0; k < count; k++) {
        char axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1];
        cJSON *c = cJSON_CreateObject();
        mesh_set_format(&q->mesh, list[k].over, axes, sizeof axes);
        cJSON_AddStringToObject(c, "kind", collective_name(list[k].kind));
        cJSON_AddStringToObject(c, "instruction", hlo_name(q->m, list[k].instruction));
        cJSON_AddStringToObject(c, "axes", axes);
        cJSON_AddNumberToObject(c, "count", list[k].count);
        cJSON_AddNumberToObject(c, "bytes", list[k].bytes);
        cJSON_AddNumberToObject(c, "ms", list[k].ms);
        cJSON_AddNumberToObject(c, "cause", list[k].cause == CLASS_NONE ? -1 : (double)list[k].cause);
        cJSON_AddItemToArray(all, c);
    }
}

static void add_variables(const struct plan *p, enum hlo_role role, const char *key, cJSON *o)
{
    const struct problem *q = p->problem;
    cJSON *all = cJSON_AddArrayToObject(o, key);
    struct str shape = {0};

    for (uint32_t k = 0; k < q->roles.param_count; k++) {
        const struct hlo_param_role *r = &q->roles.params[k];
        if (r->role != role)
            continue;
        cJSON *v = cJSON_CreateObject();
        str_clear(&shape);
        plan_write_shape(p, r->value, &shape);
        cJSON_AddNumberToObject(v, "parameter", r->parameter);
        cJSON_AddStringToObject(v, "name", r->name);
        cJSON_AddStringToObject(v, "shape", shape.text);
        cJSON_AddNumberToObject(v, "status", split_dim(p, r->value));
        cJSON_AddStringToObject(v, "by", who_decided(p, r->value));
        cJSON_AddItemToArray(all, v);
    }
    str_release(&shape);
}

static void add_classes(const struct plan *p, cJSON *o)
{
    const struct classes *c = &p->problem->classes;
    uint32_t forbidden = 0, with_variables = 0;

    for (class_id k = 0; k < c->count; k++) {
        forbidden += c->info[k].reason != CLASS_ALLOWED;
        with_variables += c->info[k].var_dims && c->info[k].reason == CLASS_ALLOWED;
    }
    cJSON *all = cJSON_AddObjectToObject(o, "classes");
    cJSON_AddNumberToObject(all, "total", c->count);
    cJSON_AddNumberToObject(all, "forbidden", forbidden);
    cJSON_AddNumberToObject(all, "with_variables", with_variables);
}

static void add_warnings(const struct plan *p, cJSON *o)
{
    const struct hlo_module *m = p->problem->file;
    cJSON *all = cJSON_AddArrayToObject(o, "warnings");
    uint32_t padded = 0;

    for (uint32_t k = 0; k < m->warning_count; k++)
        cJSON_AddItemToArray(all, cJSON_CreateString(m->warnings[k].what));
    for (class_id k = 0; k < p->problem->classes.count; k++)
        padded += p->on[k] && label_pads(&p->problem->labels, k, p->on[k]);
    if (padded) {
        char text[96];
        snprintf(text, sizeof text, "%u classes are split unevenly: pieces are padded", padded);
        cJSON_AddItemToArray(all, cJSON_CreateString(text));
    }
}

int plan_write_json(const struct plan *p, struct str *out, struct err *e)
{
    struct plan_counts n = plan_count(p);
    struct plan_collective *list;
    size_t count;
    int rc = plan_collectives(p, &list, &count, e);

    if (rc)
        return rc;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "schema", "automap.plan/1");
    cJSON_AddStringToObject(o, "mode", "strict");
    cJSON_AddStringToObject(o, "found_by", p->found_by);
    cJSON_AddNumberToObject(o, "devices", p->problem->mesh.devices);
    add_axes(p, o);
    cJSON_AddNumberToObject(o, "variable_dims", n.dims);
    cJSON_AddNumberToObject(o, "partitioned", n.partitioned);
    cJSON_AddNumberToObject(o, "replicated", n.replicated);
    cJSON_AddNumberToObject(o, "undecided", n.undecided);
    cJSON_AddNumberToObject(o, "paper_reward", n.paper_reward);
    cJSON_AddNumberToObject(o, "step_time_ms", p->cost.step_ms);
    cJSON_AddNumberToObject(o, "compute_ms", p->cost.compute_ms);
    cJSON_AddNumberToObject(o, "communication_ms", p->cost.communication_ms);
    if (p->bound_ms > 0)
        cJSON_AddNumberToObject(o, "bound_ms", p->bound_ms);
    else
        cJSON_AddNullToObject(o, "bound_ms");
    add_collectives(p, list, count, o);
    add_variables(p, HLO_ROLE_VARIABLE, "variables", o);
    add_variables(p, HLO_ROLE_INPUT, "inputs", o);
    add_classes(p, o);
    add_warnings(p, o);
    free(list);
    char *text = cJSON_Print(o);
    cJSON_Delete(o);
    if (!text)
        return err_set(e, ERR_MEMORY, "not enough memory to print the plan");
    str_add(out, text);
    str_add_char(out, '\n');
    cJSON_free(text);
    return out->failed ? err_set(e, ERR_MEMORY, "not enough memory to print the plan") : 0;
}
