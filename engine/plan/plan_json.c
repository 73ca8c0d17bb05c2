#include "engine/plan/plan_json.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/memory.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/kernels/kernel_targets.h"
#include "engine/plan/file_identity.h"
#include "engine/plan/relaxed_json.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <cjson/cJSON.h>
#include <string.h>

const char *const plan_reduction_names[HLO_COMBINE_COUNT] = {
    [HLO_COMBINE_NONE] = "none",   [HLO_COMBINE_ADD] = "add",     [HLO_COMBINE_MUL] = "multiply",
    [HLO_COMBINE_MAX] = "maximum", [HLO_COMBINE_MIN] = "minimum", [HLO_COMBINE_AND] = "and",
    [HLO_COMBINE_OR] = "or",
};

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

static void add_collectives(const struct plan *p, const struct plan_collective *list, size_t count,
                            cJSON *o)
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
        cJSON_AddNumberToObject(c, "cause",
                                list[k].cause == CLASS_NONE ? -1 : (double)list[k].cause);
        cJSON_AddItemToArray(all, c);
    }
}

static cJSON *axis_names(const struct plan *p, label over)
{
    cJSON *names = cJSON_CreateArray();

    for (uint32_t x = 0; x < p->problem->mesh.axes; x++) {
        if (over >> x & 1)
            cJSON_AddItemToArray(names, cJSON_CreateString(p->problem->mesh.axis[x].name));
    }
    return names;
}

/* Per dim the names of the axes it is split over. */
static void add_split(const struct plan *p, hlo_value v, cJSON *o)
{
    cJSON *dims = cJSON_AddArrayToObject(o, "split");

    for (uint32_t d = 0; d < hlo_value_shape(p->problem->m, v)->rank; d++)
        cJSON_AddItemToArray(dims, axis_names(p, plan_dim_label(p, v, d)));
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
        cJSON_AddNumberToObject(v, "leaf", r->leaf);
        cJSON_AddStringToObject(v, "name", r->name);
        cJSON_AddStringToObject(v, "shape", shape.text);
        cJSON_AddNumberToObject(v, "status", split_dim(p, r->value));
        add_split(p, r->value, v);
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

static void add_memory(const struct plan *p, const struct memory_cost *memory, cJSON *o)
{
    cJSON *all = cJSON_AddObjectToObject(o, "memory");

    for (int k = 0; k < MEMORY_KIND_COUNT; k++)
        cJSON_AddNumberToObject(all, memory_kind_names[k], memory->bytes[k]);
    cJSON_AddNumberToObject(all, "arguments", memory->arguments);
    cJSON_AddNumberToObject(all, "outputs", memory->outputs);
    cJSON_AddNumberToObject(all, "temporaries", memory->temporaries);
    cJSON_AddNumberToObject(all, "peak", memory->peak);
    cJSON_AddStringToObject(all, "peak_at", hlo_name(p->problem->m, memory->at));
    cJSON_AddNumberToObject(all, "limit", cluster_weakest(&p->problem->cluster).memory_bytes);
}

static void add_unknown_kernels(const struct problem *p, cJSON *all)
{
    struct kernel_targets targets;
    struct str text = {0};

    kernel_targets(p->m, &p->costs, &targets);
    for (uint32_t k = 0; k < targets.count; k++) {
        if (!targets.list[k].unknown)
            continue;
        str_clear(&text);
        kernel_target_say(&targets.list[k], &text);
        cJSON_AddItemToArray(all, cJSON_CreateString(text.text ? text.text : ""));
    }
    str_release(&text);
}

static void add_warnings(const struct plan *p, const struct memory_cost *memory, cJSON *o)
{
    const struct hlo_module *m = p->problem->file;
    cJSON *all = cJSON_AddArrayToObject(o, "warnings");
    uint32_t padded = 0;

    for (uint32_t k = 0; k < m->warning_count; k++)
        cJSON_AddItemToArray(all, cJSON_CreateString(m->warnings[k].what));
    add_unknown_kernels(p->problem, all);
    for (class_id k = 0; k < p->problem->classes.count; k++)
        padded += p->on[k] && label_pads(&p->problem->labels, k, p->on[k]);
    if (padded) {
        char text[96];
        snprintf(text, sizeof text, "%u classes are split unevenly: pieces are padded", padded);
        cJSON_AddItemToArray(all, cJSON_CreateString(text));
    }
    double limit = cluster_weakest(&p->problem->cluster).memory_bytes;
    if (memory->peak > limit) {
        char text[96];
        snprintf(text, sizeof text, "does not fit: %.0f bytes on a device of %.0f", memory->peak,
                 limit);
        cJSON_AddItemToArray(all, cJSON_CreateString(text));
    }
}

/* ---- what the plan is for, and what it rests on ---- */

static void add_identity(const struct plan *p, cJSON *o)
{
    const struct problem *q = p->problem;
    cJSON *model = cJSON_AddObjectToObject(o, "model"),
          *cluster = cJSON_AddObjectToObject(o, "cluster");

    cJSON_AddStringToObject(model, "name", q->file->name);
    cJSON_AddNumberToObject(model, "instructions", q->file->count);
    cJSON_AddNumberToObject(model, "parameters", q->file->computations[q->file->entry].param_count);
    file_fingerprint_add(model, q->model_fingerprint);
    cJSON_AddStringToObject(cluster, "name", q->cluster.name);
    cJSON_AddNumberToObject(cluster, "devices", q->cluster.devices);
    file_fingerprint_add(cluster, cluster_fingerprint(&q->cluster));
}

static void add_options(const struct plan *p, cJSON *o)
{
    const struct problem_options *of = &p->problem->options;
    cJSON *options = cJSON_AddObjectToObject(o, "options");

    cJSON_AddStringToObject(options, "rules", of->classes.paper_rules ? "paper" : "full");
    cJSON_AddStringToObject(options, "divisibility", of->exact_divisibility ? "exact" : "pad");
    cJSON *off = cJSON_AddArrayToObject(options, "reductions_off");
    for (int k = 1; k < HLO_COMBINE_COUNT; k++) {
        if (of->classes.reduce_off[k])
            cJSON_AddItemToArray(off, cJSON_CreateString(plan_reduction_names[k]));
    }
    if (of->reduce_at_once)
        cJSON_AddTrueToObject(options, "reduce_at_once");
}

/* The dim that names a class in a file: the first of an entry parameter, else its first. */
struct anchors {
    uint32_t *param; /* [classes] index into roles.params + 1; 0: none */
    uint8_t *dim;    /* [classes] */
};

static bool find_anchors(const struct problem *q, struct anchors *out)
{
    out->param = mem_try(q->classes.count, sizeof *out->param);
    out->dim = mem_try(q->classes.count, 1);
    if (!out->param || !out->dim)
        return false;
    for (uint32_t k = q->roles.param_count; k-- > 0;) {
        for (uint32_t d = hlo_value_shape(q->m, q->roles.params[k].value)->rank; d-- > 0;) {
            class_id c = problem_param_class(q, k, d);
            if (c != CLASS_NONE) {
                out->param[c] = k + 1;
                out->dim[c] = (uint8_t)d;
            }
        }
    }
    return true;
}

static cJSON *decision_of(const struct plan *p, class_id k, const struct anchors *a)
{
    const struct problem *q = p->problem;
    cJSON *o = cJSON_CreateObject();

    if (a->param[k]) {
        const struct hlo_param_role *r = &q->roles.params[a->param[k] - 1];
        cJSON_AddNumberToObject(o, "parameter", r->parameter);
        cJSON_AddNumberToObject(o, "leaf", r->leaf);
        cJSON_AddStringToObject(o, "name", r->name);
        cJSON_AddNumberToObject(o, "dim", a->dim[k]);
    } else {
        dim_id d = q->classes.members[q->classes.info[k].dims];
        hlo_value v = q->classes.dim_value[d];
        cJSON_AddStringToObject(o, "instruction", hlo_name(q->m, q->m->value_instruction[v]));
        cJSON_AddNumberToObject(o, "leaf", hlo_value_leaf(q->m, v));
        cJSON_AddNumberToObject(o, "dim", d - q->classes.dim_base[v]);
    }
    cJSON_AddItemToObject(o, "split", axis_names(p, p->on[k]));
    cJSON_AddItemToObject(o, "whole", axis_names(p, p->decided[k] & (label)~p->on[k]));
    cJSON_AddStringToObject(o, "by", plan_by_names[p->by[k]]);
    return o;
}

/* One line per class that something was decided about: all that touch a parameter, and of the
 * others those that are split. */
static int add_decisions(const struct plan *p, cJSON *o, struct err *e)
{
    struct anchors a = {0};
    cJSON *all = cJSON_AddArrayToObject(o, "decisions");
    bool ok = find_anchors(p->problem, &a);

    for (class_id k = 0; k < p->problem->classes.count && ok; k++) {
        if (p->on[k] || (a.param[k] && p->decided[k]))
            cJSON_AddItemToArray(all, decision_of(p, k, &a));
    }
    free(a.param);
    free(a.dim);
    return ok ? 0 : err_no_memory(e, "for the decisions of a plan");
}

/* What plan it is, of what, and what it counts on. */
static void add_setup(const struct plan *p, cJSON *o)
{
    char seed[24];

    cJSON_AddStringToObject(o, "schema", "automap.plan/1");
    cJSON_AddStringToObject(o, "mode", p->relaxed ? "relaxed" : "strict");
    cJSON_AddStringToObject(o, "found_by", p->found_by);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)p->seed);
    cJSON_AddStringToObject(o, "seed", seed);
    add_identity(p, o);
    add_options(p, o);
    cJSON_AddNumberToObject(o, "devices", p->problem->mesh.devices);
    add_axes(p, o);
    if (p->problem->options.batch_size)
        cJSON_AddNumberToObject(o, "batch_size", (double)p->problem->options.batch_size);
    cJSON_AddNumberToObject(o, "micro_batches", p->batching.micro_batches);
    cJSON_AddNumberToObject(o, "zero", p->batching.zero);
    cJSON_AddNumberToObject(o, "overlap", p->batching.overlap);
    if (p->memory_limit > 0)
        cJSON_AddNumberToObject(o, "memory_limit_bytes", p->memory_limit);
}

/* The bound, and what is proven not to be below it. */
static void add_bound(const struct plan *p, cJSON *o)
{
    bool is_tied = p->relaxed && p->relaxed->bound_kind == RELAXED_TIED && p->memory_limit <= 0;
    char scope[160];

    snprintf(scope, sizeof scope, "%s%s%s",
             p->relaxed ? "relaxed plans on this mesh with the pins given"
                        : "strict plans on this mesh that it may choose from",
             is_tied ? ", that treat equal layers alike" : "",
             p->memory_limit > 0 ? ", within the memory limit" : "");
    cJSON_AddNumberToObject(o, "bound_ms", p->bound_ms);
    cJSON_AddStringToObject(o, "bound_scope", scope);
}

static void add_costs(const struct plan *p, cJSON *o)
{
    struct plan_counts n = plan_count(p);

    cJSON_AddNumberToObject(o, "variable_dims", n.dims);
    cJSON_AddNumberToObject(o, "partitioned", n.partitioned);
    cJSON_AddNumberToObject(o, "replicated", n.replicated);
    cJSON_AddNumberToObject(o, "undecided", n.undecided);
    cJSON_AddNumberToObject(o, "paper_reward", n.paper_reward);
    cJSON_AddNumberToObject(o, "step_time_ms", p->cost.step_ms);
    cJSON_AddNumberToObject(o, "compute_ms", p->cost.compute_ms);
    cJSON_AddNumberToObject(o, "communication_ms", p->cost.communication_ms);
    if (!p->relaxed && p->bound_ms > 0)
        cJSON_AddNumberToObject(
            o, "gap", p->cost.step_ms > p->bound_ms ? p->cost.step_ms / p->bound_ms - 1 : 0);
    if (p->bound_ms > 0)
        add_bound(p, o);
    else
        cJSON_AddNullToObject(o, "bound_ms");
}

static int print_json(const cJSON *o, struct str *out, struct err *e)
{
    char *text = cJSON_Print(o);

    str_add(out, text ? text : "");
    str_add_char(out, '\n');
    bool failed = !text || out->failed;
    cJSON_free(text);
    return failed ? err_no_memory(e, "to print the plan") : 0;
}

int plan_write_json(const struct plan *p, struct str *out, struct err *e)
{
    struct plan_collective *list;
    struct memory_cost memory;
    size_t count;
    int rc = plan_memory(p, &memory, e);

    if (rc)
        return rc;
    rc = plan_collectives(p, &list, &count, e);
    if (rc)
        return rc;
    cJSON *o = cJSON_CreateObject();
    add_setup(p, o);
    add_costs(p, o);
    rc = add_decisions(p, o, e);
    if (rc)
        goto out;
    add_memory(p, &memory, o);
    add_collectives(p, list, count, o);
    add_variables(p, HLO_ROLE_VARIABLE, "variables", o);
    add_variables(p, HLO_ROLE_INPUT, "inputs", o);
    add_classes(p, o);
    add_warnings(p, &memory, o);
    if (p->relaxed)
        relaxed_add_json(p, o);
    rc = print_json(o, out, e);
out:
    free(list);
    cJSON_Delete(o);
    return rc;
}
