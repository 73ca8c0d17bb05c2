#include "engine/plan/export_trainers.h"

#include "engine/cluster/mesh.h"
#include "engine/decide/labels.h"
#include "engine/plan/plan_settings.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_SHOWN = 60 };

/* ---- what an axis splits ---- */

enum use { USE_NONE, USE_DATA, USE_FSDP, USE_SEQUENCE, USE_TENSOR, USE_COUNT };
static const char *const use_names[USE_COUNT] = {"nothing", "data", "fsdp", "sequence", "tensor"};

struct degrees {
    enum use of[MESH_AXES_MOST];
    uint32_t by[USE_COUNT];              /* product of the sizes of the axes of each use */
    uint32_t inputs, inputs_split;       /* along axes of data */
    uint32_t variables, variables_split; /* along any axis; along an axis of data */
    uint32_t across_data;
};

static label dim_over(const struct plan *p, uint32_t param, uint32_t dim)
{
    return plan_dim_label(p, p->problem->roles.params[param].value, dim);
}

/* Axes over which the dims from `first` to `last` of a parameter are split. */
static label split_over(const struct plan *p, uint32_t param, uint32_t first, uint32_t last)
{
    uint32_t rank = hlo_value_shape(p->problem->m, p->problem->roles.params[param].value)->rank;
    label over = 0;

    for (uint32_t d = first; d < rank && d <= last; d++)
        over |= dim_over(p, param, d);
    return over;
}

static struct degrees find_degrees(const struct plan *p)
{
    const struct hlo_roles *roles = &p->problem->roles;
    struct degrees g = {.by = {1, 1, 1, 1, 1}};
    label batch = 0, later = 0, variables = 0;

    for (uint32_t k = 0; k < roles->param_count; k++) {
        if (roles->params[k].role == HLO_ROLE_INPUT) {
            batch |= split_over(p, k, 0, 0);
            later |= split_over(p, k, 1, HLO_RANK_MAX);
        } else if (roles->params[k].role == HLO_ROLE_VARIABLE) {
            variables |= split_over(p, k, 0, HLO_RANK_MAX);
        }
    }
    for (uint32_t x = 0; x < p->problem->mesh.axes; x++) {
        label bit = (label)(1u << x);
        g.of[x] = batch & bit       ? (p->batching.zero >= 3 ? USE_FSDP : USE_DATA)
                  : later & bit     ? USE_SEQUENCE
                  : variables & bit ? USE_TENSOR
                                    : USE_NONE;
        g.by[g.of[x]] *= p->problem->mesh.axis[x].size;
    }
    for (uint32_t k = 0; k < roles->param_count; k++) {
        label data = 0;
        for (uint32_t x = 0; x < p->problem->mesh.axes; x++)
            data |= g.of[x] == USE_DATA || g.of[x] == USE_FSDP ? (label)(1u << x) : 0;
        if (roles->params[k].role == HLO_ROLE_INPUT) {
            g.inputs++;
            g.inputs_split += split_over(p, k, 0, 0) == data;
        } else if (roles->params[k].role == HLO_ROLE_VARIABLE) {
            label over = split_over(p, k, 0, HLO_RANK_MAX);
            g.variables++;
            g.variables_split += over != 0;
            g.across_data += (over & data) != 0;
        }
    }
    return g;
}

/* ---- logical axes: dims of variables of one name but for numbers ---- */

struct row {
    const char *pattern;
    uint32_t dim;
    label over;
};

static int by_pattern(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = strcmp(x->pattern, y->pattern);

    return order              ? order
           : x->dim != y->dim ? (x->dim > y->dim) - (x->dim < y->dim)
                              : (x->over > y->over) - (x->over < y->over);
}

/* "layer_012/kernel": "layer_*\/kernel". */
static void add_pattern(const char *name, struct str *out)
{
    for (; *name; name++) {
        bool digit = *name >= '0' && *name <= '9';
        if (!digit)
            str_add_char(out, *name);
        else if (name[1] < '0' || name[1] > '9')
            str_add_char(out, '*');
    }
    str_add_char(out, '\0');
}

static void write_axes(const struct plan *p, const struct degrees *g, label over, struct str *out)
{
    bool is_first = true;

    for (uint32_t x = 0; x < p->problem->mesh.axes; x++) {
        if (!(over >> x & 1))
            continue;
        str_add(out, is_first ? "" : " and ");
        str_add(out, use_names[g->of[x]]);
        is_first = false;
    }
}

/* One line per group that is split: which axes, and of how many of its variables. */
static void write_groups(const struct plan *p, const struct degrees *g, const struct row *rows,
                         size_t count, struct str *out)
{
    uint32_t shown = 0, left = 0;

    for (size_t first = 0, end; first < count; first = end) {
        size_t all = first;
        for (end = first; end < count && !by_pattern(&rows[first], &rows[end]); end++)
            ;
        while (all && !strcmp(rows[all - 1].pattern, rows[first].pattern) &&
               rows[all - 1].dim == rows[first].dim)
            all--;
        size_t last = end;
        while (last < count && !strcmp(rows[last].pattern, rows[first].pattern) &&
               rows[last].dim == rows[first].dim)
            last++;
        if (!rows[first].over)
            continue;
        if (shown++ >= GROUPS_SHOWN) {
            left++;
            continue;
        }
        str_format(out, "#   %s dim %u -> ", rows[first].pattern, rows[first].dim);
        write_axes(p, g, rows[first].over, out);
        if (end - first < last - all)
            str_format(out, ", of %zu of %zu: the rule says it of all", end - first, last - all);
        str_add_char(out, '\n');
    }
    if (left)
        str_format(out, "#   and %u more\n", left);
    if (!shown)
        str_add(out, "#   none: variables are whole\n");
}

static int write_logical_axes(const struct plan *p, const struct degrees *g, struct str *out,
                              struct err *e)
{
    const struct hlo_roles *roles = &p->problem->roles;
    struct str names = {0};
    size_t count = 0, room = 0;
    struct row *rows = NULL;

    for (uint32_t k = 0; k < roles->param_count; k++) {
        room += HLO_RANK_MAX;
        add_pattern(roles->params[k].name, &names);
    }
    rows = mem_try(room + 1, sizeof *rows);
    if (!rows || names.failed) {
        free(rows);
        str_release(&names);
        return err_no_memory(e, "to export the plan");
    }
    const char *at = names.text;
    for (uint32_t k = 0; k < roles->param_count; k++, at += strlen(at) + 1) {
        uint32_t rank = hlo_value_shape(p->problem->m, roles->params[k].value)->rank;
        for (uint32_t d = 0; roles->params[k].role == HLO_ROLE_VARIABLE && d < rank; d++)
            rows[count++] = (struct row){at, d, dim_over(p, k, d)};
    }
    qsort(rows, count, sizeof *rows, by_pattern);
    write_groups(p, g, rows, count, out);
    free(rows);
    str_release(&names);
    return 0;
}

/* ---- the trainers ---- */

static void write_head(const struct plan *p, const struct degrees *g, struct str *out)
{
    const struct problem *q = p->problem;

    str_format(
        out,
        "# How %s is split over %u devices (%s), as settings of trainers; a plan by automap: "
        "%.4g ms a step, modelled.\n# mesh:",
        q->m->name, q->mesh.devices, q->cluster.name, p->cost.step_ms);
    for (uint32_t x = 0; x < q->mesh.axes; x++)
        str_format(out, " %s=%u splits %s%s", q->mesh.axis[x].name, q->mesh.axis[x].size,
                   use_names[g->of[x]], x + 1 < q->mesh.axes ? "," : "\n");
    str_format(out, "# micro-batches: %u, ZeRO level: %u\n", p->batching.micro_batches,
               p->batching.zero);
}

/* torchtitan shards with FSDP alone: parallelism in its job_config.py. */
static void write_titan_zero(uint32_t zero, struct str *out)
{
    if (!zero || zero == 3)
        return;
    str_format(
        out,
        "# ZeRO %u alone does not exist here: data_parallel_shard_degree is FSDP, which keeps "
        "variables and gradients in pieces, too (ZeRO 3)\n",
        zero);
    str_add(out, "# nearest: fsdp_reshard_after_forward = \"never\", which gathers each variable "
                 "once a step, not twice\n");
}

static void write_degrees(const struct plan *p, const struct degrees *g, struct str *out)
{
    uint32_t data = g->by[USE_DATA], fsdp = g->by[USE_FSDP], tensor = g->by[USE_TENSOR],
             sequence = g->by[USE_SEQUENCE], zero = p->batching.zero,
             left = p->problem->mesh.devices / (tensor * sequence);

    str_format(out,
               "\n# ---- Megatron-LM: arguments; data parallel is what is left, %u ----\n"
               "--tensor-model-parallel-size %u --context-parallel-size %u "
               "--pipeline-model-parallel-size 1%s\n"
               "# micro-batches: --global-batch-size / (--micro-batch-size x %u) = %u\n",
               left, tensor, sequence, zero ? " --use-distributed-optimizer" : "", left,
               p->batching.micro_batches);
    if (zero >= 2)
        str_add(out, "# its distributed optimizer keeps optimizer state in pieces: ZeRO 1\n");
    str_format(
        out,
        "\n# ---- torchtitan: TOML ----\n[parallelism]\ndata_parallel_replicate_degree = %u\n"
        "data_parallel_shard_degree = %u\ntensor_parallel_degree = %u\n"
        "context_parallel_degree = %u\npipeline_parallel_degree = 1\n",
        zero ? 1 : data, zero ? data * fsdp : 1, tensor, sequence);
    write_titan_zero(zero, out);
    str_format(out,
               "\n# ---- DeepSpeed: JSON ----\n{\"zero_optimization\": {\"stage\": %u}, "
               "\"gradient_accumulation_steps\": %u, \"tensor_parallel\": {\"autotp_size\": %u}}\n",
               zero, p->batching.micro_batches, tensor);
    if (sequence > 1)
        str_format(out, "# sequence: Ulysses, \"sequence_parallel_size\": %u\n", sequence);
    if (zero == 3 && tensor > 1)
        str_add(out, "# AutoTP goes with stages 0 to 2\n");
    str_format(
        out,
        "\n# ---- MaxText: YAML ----\nici_data_parallelism: %u\nici_fsdp_parallelism: %u\n"
        "ici_context_parallelism: %u\nici_tensor_parallelism: %u\nici_pipeline_parallelism: 1\n"
        "# logical_axis_rules: activation_batch to ['data', 'fsdp'], activation_length to "
        "['context'], and the logical axes of these dims:\n",
        data, fsdp, sequence, tensor);
}

static void write_levanter(const struct degrees *g, struct str *out)
{
    str_format(out,
               "\n# ---- Levanter: YAML; the mesh is data x model = %u x %u ----\ntrainer:\n"
               "  batch_axis: batch\n%s"
               "  model_axis_size: %u\n"
               "  # tensor_parallel_axes: the names of the dims above that go to tensor\n",
               g->by[USE_DATA] * g->by[USE_FSDP], g->by[USE_TENSOR],
               g->by[USE_FSDP] > 1 ? "  fsdp_axis: embed\n" : "", g->by[USE_TENSOR]);
    if (g->by[USE_SEQUENCE] > 1)
        str_add(out, "  # it has no axis for the sequence of its own\n");
}

static void write_not_said(const struct degrees *g, struct str *out)
{
    str_add(out,
            "\n# ---- what these settings cannot say ----\n"
            "# where values inside of the step change their split, and which matrices a trainer "
            "splits: each has its own choice\n");
    if (g->by[USE_NONE] > 1)
        str_format(out, "# %u devices hold copies: no input and no variable is split over them\n",
                   g->by[USE_NONE]);
    if (g->inputs_split < g->inputs)
        str_format(out, "# %u of %u inputs are not split like the batch\n",
                   g->inputs - g->inputs_split, g->inputs);
    if (g->across_data)
        str_format(out, "# %u of %u variables are split over the axes of the batch, in use too\n",
                   g->across_data, g->variables);
    str_format(out, "# %u of %u variables are split\n", g->variables_split, g->variables);
    str_add(out, "# pipelines: a hybrid plan that is uniform, --format megatron, torchtitan, "
                 "deepspeed\n");
}

int export_flags(const struct plan *p, struct str *out, struct err *e)
{
    struct degrees g = find_degrees(p);

    write_head(p, &g, out);
    write_degrees(p, &g, out);
    int rc = write_logical_axes(p, &g, out, e);
    if (rc)
        return rc;
    write_levanter(&g, out);
    write_not_said(&g, out);
    str_add(out, "\n# ---- the decisions, for automap plan ... --pins-from FILE ----");
    rc = plan_settings_write(p, "\n# --set ", out, e);
    str_add_char(out, '\n');
    return rc;
}

/* ---- DTensor ---- */

static cJSON *placements(const struct plan *p, uint32_t param)
{
    const struct hlo_shape *s =
        hlo_value_shape(p->problem->m, p->problem->roles.params[param].value);
    cJSON *list = cJSON_CreateArray();
    char text[32];

    for (uint32_t x = 0; list && x < p->problem->mesh.axes; x++) {
        snprintf(text, sizeof text, "Replicate()");
        for (uint32_t d = 0; d < s->rank; d++) {
            if (dim_over(p, param, d) >> x & 1)
                snprintf(text, sizeof text, "Shard(%u)", d);
        }
        cJSON_AddItemToArray(list, cJSON_CreateString(text));
    }
    return list;
}

static void add_parameter(const struct plan *p, uint32_t param, cJSON *list)
{
    const struct hlo_param_role *r = &p->problem->roles.params[param];
    const struct hlo_shape *s = hlo_value_shape(p->problem->m, r->value);
    cJSON *o = cJSON_CreateObject(), *shape;

    cJSON_AddStringToObject(o, "name", r->name);
    cJSON_AddStringToObject(o, "role", hlo_role_names[r->role]);
    shape = cJSON_AddArrayToObject(o, "shape");
    for (uint32_t d = 0; shape && d < s->rank; d++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)s->dims[d]));
    cJSON_AddItemToObject(o, "placements", placements(p, param));
    cJSON_AddItemToArray(list, o);
}

static int add_pin(void *context, const char *setting, struct err *e)
{
    return cJSON_AddItemToArray(context, cJSON_CreateString(setting))
               ? 0
               : err_no_memory(e, "to export the plan");
}

int export_dtensor(const struct plan *p, struct str *out, struct err *e)
{
    cJSON *o = cJSON_CreateObject(), *mesh = cJSON_AddObjectToObject(o, "mesh");
    struct str pins = {0};
    char *text = NULL;

    cJSON_AddStringToObject(o, "schema", "automap.dtensor/1");
    cJSON *names = cJSON_AddArrayToObject(mesh, "names");
    cJSON *sizes = cJSON_AddArrayToObject(mesh, "shape");
    for (uint32_t x = 0; x < p->problem->mesh.axes; x++) {
        cJSON_AddItemToArray(names, cJSON_CreateString(p->problem->mesh.axis[x].name));
        cJSON_AddItemToArray(sizes, cJSON_CreateNumber(p->problem->mesh.axis[x].size));
    }
    cJSON *parameters = cJSON_AddArrayToObject(o, "parameters");
    for (uint32_t k = 0; parameters && k < p->problem->roles.param_count; k++)
        add_parameter(p, k, parameters);
    int rc = plan_settings_write(p, " --set ", &pins, e);
    if (rc)
        goto out;
    rc = plan_settings_each(pins.text ? pins.text : "", pins.size, add_pin,
                            cJSON_AddArrayToObject(o, "pins"), e);
    if (rc)
        goto out;
    text = cJSON_Print(o);
    if (!text) {
        rc = err_no_memory(e, "to export the plan");
        goto out;
    }
    str_add(out, text);
    str_add_char(out, '\n');
out:
    cJSON_free(text);
    cJSON_Delete(o);
    str_release(&pins);
    return rc;
}
