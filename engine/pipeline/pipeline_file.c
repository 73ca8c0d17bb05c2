#include "engine/pipeline/pipeline_file.h"

#include "engine/cluster/cluster.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/tabulate.h"
#include "engine/plan/file_identity.h"
#include "engine/plan/plan_file.h"
#include "engine/problem/problem.h"
#include "engine/text/json_check.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const points_names[] = {
    [PIPE_CUTS_CHEAPEST] = "cheapest", [PIPE_CUTS_ALL] = "all", [PIPE_CUTS_EQUAL] = "equal"};

/* ---- writing ---- */

static void add_options(const struct pipeline_options *from, cJSON *to)
{
    cJSON *o = cJSON_AddObjectToObject(to, "options");

    cJSON_AddNumberToObject(o, "batch", from->batch);
    cJSON_AddNumberToObject(o, "micro_batches", from->micro_batches);
    cJSON_AddNumberToObject(o, "stages", from->stages);
    cJSON_AddStringToObject(o, "schedule", pipe_schedule_names[from->schedule]);
    cJSON_AddNumberToObject(o, "overlap", from->overlap);
    cJSON_AddBoolToObject(o, "recompute", from->recompute);
    cJSON_AddBoolToObject(o, "half_duplex", from->half_duplex);
    cJSON_AddBoolToObject(o, "memory_limit", !from->no_limit);
    if (from->limit_bytes > 0)
        cJSON_AddNumberToObject(o, "memory_limit_bytes", from->limit_bytes);
    cJSON_AddStringToObject(o, "points", points_names[from->points]);
    cJSON_AddNumberToObject(o, "point_count", from->point_count);
}

static void add_cuts(const struct pipeline *l, const struct pipe_plan *p, cJSON *o)
{
    cJSON *devices = cJSON_AddArrayToObject(o, "device_cuts"),
          *pivots = cJSON_AddArrayToObject(o, "pivots");

    if (p->device[p->stages] < l->all.devices)
        cJSON_AddNumberToObject(o, "devices_used", p->device[p->stages]);
    if (l->options.runs) {
        cJSON *order = cJSON_AddArrayToObject(o, "order");
        for (uint32_t k = 0; k < 2 * l->options.runs; k++)
            cJSON_AddItemToArray(order, cJSON_CreateNumber(l->options.run[k]));
    }
    for (uint32_t s = 1; s < p->stages; s++) {
        uint32_t cut = p->pivot[s];
        char layer[160];
        cJSON_AddItemToArray(devices, cJSON_CreateNumber(p->device[s]));
        cJSON *pivot = cJSON_CreateObject();
        pipeline_layer(l, cut, layer, sizeof layer);
        cJSON_AddStringToObject(pivot, "instruction",
                                hlo_name(l->problem->m, l->all.instruction[cut]));
        cJSON_AddStringToObject(pivot, "layer", layer);
        cJSON_AddNumberToObject(pivot, "share", pipeline_share(l, cut));
        cJSON_AddNumberToObject(pivot, "position", cut);
        cJSON_AddItemToArray(pivots, pivot);
    }
}

static cJSON *stage_json(const struct pipe_stage *s)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddNumberToObject(o, "devices", s->end_device - s->first_device);
    cJSON_AddNumberToObject(o, "instructions", s->end_point - s->first_point);
    cJSON_AddNumberToObject(o, "variables", s->variables);
    cJSON_AddNumberToObject(o, "in_flight", s->in_flight);
    cJSON_AddNumberToObject(o, "forward_ms", s->forward_ms);
    cJSON_AddNumberToObject(o, "backward_ms", s->backward_ms);
    cJSON_AddNumberToObject(o, "allreduce_ms", s->all_reduce_ms);
    cJSON_AddNumberToObject(o, "sync_ms", s->sync_ms);
    cJSON_AddNumberToObject(o, "update_ms", s->update_ms);
    cJSON_AddNumberToObject(o, "gradient_bytes", s->gradient_bytes);
    cJSON_AddNumberToObject(o, "state_bytes", s->state_bytes);
    cJSON_AddNumberToObject(o, "stash_bytes", s->stash_bytes);
    cJSON_AddNumberToObject(o, "temporary_bytes", s->temporary_bytes);
    cJSON_AddNumberToObject(o, "memory_bytes", s->memory_bytes);
    return o;
}

static cJSON *transfer_json(const struct pipe_transfer *t)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddNumberToObject(o, "forward_bytes", t->forward_bytes);
    cJSON_AddNumberToObject(o, "backward_bytes", t->backward_bytes);
    cJSON_AddNumberToObject(o, "once_bytes", t->once_bytes);
    cJSON_AddNumberToObject(o, "forward_ms", t->forward_ms);
    cJSON_AddNumberToObject(o, "backward_ms", t->backward_ms);
    cJSON_AddNumberToObject(o, "once_ms", t->once_ms);
    return o;
}

cJSON *pipeline_json(const struct pipeline *l, const struct pipeline_plan *p)
{
    cJSON *o = cJSON_CreateObject();
    char seed[24];

    snprintf(seed, sizeof seed, "%llu", (unsigned long long)p->seed);
    cJSON_AddStringToObject(o, "schema", PIPELINE_SCHEMA);
    cJSON_AddStringToObject(o, "mode", "pipeline");
    file_identity_add(l->problem, o);
    add_options(&l->options, o);
    cJSON_AddStringToObject(o, "found_by", p->found_by);
    cJSON_AddStringToObject(o, "seed", seed);
    add_cuts(l, &p->plan, o);
    cJSON *stages = cJSON_AddArrayToObject(o, "stages"),
          *transfers = cJSON_AddArrayToObject(o, "transfers");
    for (uint32_t s = 0; s < p->plan.stages; s++) {
        struct pipe_stage stage = pipe_stage_of(&l->all, &p->plan, s);
        cJSON_AddItemToArray(stages, stage_json(&stage));
        if (s + 1 == p->plan.stages)
            continue;
        struct pipe_transfer transfer = pipe_transfer_of(&l->all, &p->plan, s);
        cJSON_AddItemToArray(transfers, transfer_json(&transfer));
    }
    cJSON_AddNumberToObject(o, "step_time_ms", pipeline_step_ms(l, p));
    cJSON_AddNumberToObject(o, "L_ms", p->length_ms);
    cJSON *makespan = cJSON_AddObjectToObject(o, "makespan_ms");
    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++)
        cJSON_AddNumberToObject(makespan, pipe_schedule_names[k], p->makespan_ms[k]);
    cJSON_AddNumberToObject(o, "memory_bytes", pipeline_memory(l, p, NULL));
    cJSON_AddBoolToObject(o, "fits", p->fits);
    cJSON_AddItemToObject(o, "optimum_L_ms",
                          p->optimum_ms > 0 ? cJSON_CreateNumber(p->optimum_ms)
                                            : cJSON_CreateNull());
    cJSON_AddBoolToObject(o, "certified", p->certified);
    char scope[PIPELINE_SCOPE_ROOM];
    pipeline_scope(l, scope, sizeof scope);
    cJSON_AddStringToObject(o, "certified_scope", scope);
    return o;
}

int pipeline_file_save(const struct pipeline *l, const struct pipeline_plan *p, const char *path,
                       struct err *e)
{
    return file_json_save(pipeline_json(l, p), path, e);
}

/* ---- reading ---- */

static const struct json_field option_keys[] = {
    {"batch", JSON_WHOLE, NULL},
    {"micro_batches", JSON_WHOLE, NULL},
    {"stages", JSON_WHOLE, NULL},
    {"schedule", JSON_TEXT, NULL},
    {"overlap", JSON_NUMBER, NULL},
    {"recompute", JSON_TRUTH, NULL},
    {"half_duplex", JSON_TRUTH, NULL},
    {"memory_limit", JSON_TRUTH, NULL},
    {"points", JSON_TEXT, NULL},
    {"point_count", JSON_WHOLE, NULL},
    {"memory_limit_bytes", JSON_NUMBER | JSON_OPTIONAL, NULL},
    {0}};
static const struct json_field pivot_keys[] = {{"instruction", JSON_TEXT, NULL},
                                               {"layer", JSON_TEXT, NULL},
                                               {"share", JSON_NUMBER, NULL},
                                               {"position", JSON_WHOLE, NULL},
                                               {0}};
static const struct json_field stage_keys[] = {{"devices", JSON_WHOLE, NULL},
                                               {"instructions", JSON_WHOLE, NULL},
                                               {"variables", JSON_WHOLE, NULL},
                                               {"in_flight", JSON_WHOLE, NULL},
                                               {"forward_ms", JSON_NUMBER, NULL},
                                               {"backward_ms", JSON_NUMBER, NULL},
                                               {"allreduce_ms", JSON_NUMBER, NULL},
                                               {"sync_ms", JSON_NUMBER, NULL},
                                               {"update_ms", JSON_NUMBER, NULL},
                                               {"gradient_bytes", JSON_NUMBER, NULL},
                                               {"state_bytes", JSON_NUMBER, NULL},
                                               {"stash_bytes", JSON_NUMBER, NULL},
                                               {"temporary_bytes", JSON_NUMBER, NULL},
                                               {"memory_bytes", JSON_NUMBER, NULL},
                                               {0}};
static const struct json_field transfer_keys[] = {{"forward_bytes", JSON_NUMBER, NULL},
                                                  {"backward_bytes", JSON_NUMBER, NULL},
                                                  {"once_bytes", JSON_NUMBER, NULL},
                                                  {"forward_ms", JSON_NUMBER, NULL},
                                                  {"backward_ms", JSON_NUMBER, NULL},
                                                  {"once_ms", JSON_NUMBER, NULL},
                                                  {0}};
static const struct json_field makespan_keys[] = {
    {"eager", JSON_NUMBER, NULL}, {"1f1b", JSON_NUMBER, NULL}, {"gpipe", JSON_NUMBER, NULL}, {0}};
static const struct json_field plan_keys[] = {
    {"schema", JSON_TEXT, NULL},
    {"mode", JSON_TEXT, NULL},
    {"model", JSON_OBJECT, file_model_keys},
    {"cluster", JSON_OBJECT, file_cluster_keys},
    {"options", JSON_OBJECT, option_keys},
    {"found_by", JSON_TEXT, NULL},
    {"seed", JSON_TEXT, NULL},
    {"device_cuts", JSON_WHOLES, NULL},
    {"devices_used", JSON_WHOLE | JSON_OPTIONAL, NULL}, /* from the first on; else all */
    {"order", JSON_WHOLES | JSON_OPTIONAL, NULL},       /* runs of the usual one (order.h), pairs */
    {"pivots", JSON_OBJECTS, pivot_keys},
    {"stages", JSON_OBJECTS, stage_keys},
    {"transfers", JSON_OBJECTS, transfer_keys},
    {"step_time_ms", JSON_NUMBER, NULL},
    {"L_ms", JSON_NUMBER, NULL},
    {"makespan_ms", JSON_OBJECT, makespan_keys},
    {"memory_bytes", JSON_NUMBER, NULL},
    {"fits", JSON_TRUTH, NULL},
    {"optimum_L_ms", JSON_NUMBER_OR_NULL, NULL},
    {"certified", JSON_TRUTH, NULL},
    {"certified_scope", JSON_TEXT | JSON_OPTIONAL, NULL},
    {"search", JSON_FREE_OBJECT | JSON_OPTIONAL, NULL}, /* what automap search --json adds */
    {0},
};

static int whole_option(const cJSON *o, const char *key, uint32_t *out, struct err *e)
{
    double n = json_number(o, key);

    *out = (uint32_t)fmin(n, UINT32_MAX);
    return n <= UINT32_MAX ? 0 : err_set(e, ERR_INPUT, "options.%s: %g is too large", key, n);
}

static int word_option(const cJSON *o, const char *key, const char *const *words, int count,
                       int *out, struct err *e)
{
    for (*out = 0; *out < count; ++*out) {
        if (!strcmp(words[*out], json_text(o, key)))
            return 0;
    }
    return err_set(e, ERR_INPUT, "options.%s: \"%.40s\" is none of those known", key,
                   json_text(o, key));
}

static int read_options(const cJSON *root, struct pipeline_options *out, struct err *e)
{
    const cJSON *o = json_get(root, "options");
    int schedule, points;
    int rc = whole_option(o, "batch", &out->batch, e);

    if (rc)
        return rc;
    rc = whole_option(o, "micro_batches", &out->micro_batches, e);
    if (rc)
        return rc;
    rc = whole_option(o, "stages", &out->stages, e);
    if (rc)
        return rc;
    rc = whole_option(o, "point_count", &out->point_count, e);
    if (rc)
        return rc;
    if (!out->batch || !out->micro_batches || !out->point_count)
        rc =
            err_set(e, ERR_INPUT, "options.batch, micro_batches, point_count: expected at least 1");
    if (rc)
        return rc;
    rc = word_option(o, "schedule", pipe_schedule_names, PIPE_SCHEDULE_COUNT, &schedule, e);
    if (rc)
        return rc;
    rc = word_option(o, "points", points_names, 3, &points, e);
    if (rc)
        return rc;
    out->schedule = (enum pipe_schedule_kind)schedule;
    out->points = (enum pipe_cut_kind)points;
    out->overlap = json_number(o, "overlap");
    out->recompute = cJSON_IsTrue(json_get(o, "recompute"));
    out->half_duplex = cJSON_IsTrue(json_get(o, "half_duplex"));
    out->no_limit = cJSON_IsFalse(json_get(o, "memory_limit"));
    const cJSON *limit = json_get(o, "memory_limit_bytes");
    out->limit_bytes = limit ? limit->valuedouble : 0;
    return limit && !(out->limit_bytes > 0)
               ? err_set(e, ERR_INPUT, "options.memory_limit_bytes: %g, expected a size",
                         out->limit_bytes)
               : 0;
}

static int read_cuts(const struct pipeline *l, const cJSON *root, struct pipe_plan *out,
                     struct err *e)
{
    const cJSON *devices = json_get(root, "device_cuts"), *pivots = json_get(root, "pivots"), *item;
    int count = cJSON_GetArraySize(pivots);
    uint32_t s = 1;

    if (cJSON_GetArraySize(devices) != count || count >= PIPE_STAGES_MOST)
        return err_set(e, ERR_INPUT, "pivots: %d, expected as many as device_cuts and less than %d",
                       count, PIPE_STAGES_MOST);
    *out = pipe_plan_whole(&l->all);
    out->stages = (uint32_t)count + 1;
    out->device[count + 1] = l->all.devices;
    if ((item = json_get(root, "devices_used")))
        out->device[count + 1] = (uint32_t)fmin(item->valuedouble, UINT32_MAX);
    out->pivot[count + 1] = l->all.points;
    cJSON_ArrayForEach(item, devices) out->device[s++] =
        (uint32_t)fmin(item->valuedouble, UINT32_MAX);
    s = 1;
    cJSON_ArrayForEach(item, pivots)
    {
        uint32_t at = (uint32_t)fmin(json_number(item, "position"), UINT32_MAX);
        if (at >= l->all.points ||
            strcmp(hlo_name(l->problem->m, l->all.instruction[at]), json_text(item, "instruction")))
            return err_set(e, ERR_INPUT, "pivots[%u]: position %u of the forward pass is not %.80s",
                           s - 1, at, json_text(item, "instruction"));
        out->pivot[s++] = at;
    }
    if (!pipe_plan_is_valid(&l->all, out))
        return err_set(e, ERR_INPUT,
                       "device_cuts and pivots must ascend, within %u devices and %u positions",
                       l->all.devices, l->all.points);
    return 0;
}

static int read_rest(const cJSON *root, struct pipeline_plan *out, struct err *e)
{
    int rc = json_copy_text(root, "found_by", out->found_by, sizeof out->found_by, e);

    if (rc)
        return rc;
    rc = json_seed(root, "seed", &out->seed, e);
    if (rc)
        return rc;
    out->optimum_ms = cJSON_IsNumber(json_get(root, "optimum_L_ms"))
                          ? fmax(0, json_number(root, "optimum_L_ms"))
                          : 0;
    out->certified = cJSON_IsTrue(json_get(root, "certified"));
    return 0;
}

/* The order of the file, of the caller to free. */
static int read_order(const cJSON *root, struct pipeline_options *out, uint32_t **run,
                      struct err *e)
{
    const cJSON *order = json_get(root, "order"), *item;
    int count = order ? cJSON_GetArraySize(order) : 0, at = 0;

    if (!count)
        return 0;
    if (count % 2)
        return err_set(e, ERR_INPUT, "order: %d numbers, expected pairs", count);
    *run = mem_try((size_t)count, sizeof **run);
    if (!*run)
        return err_no_memory(e, "for the order of a pipeline");
    cJSON_ArrayForEach(item, order)(*run)[at++] = (uint32_t)fmin(item->valuedouble, UINT32_MAX);
    out->run = *run;
    out->runs = (uint32_t)count / 2;
    return 0;
}

static int read_plan(const struct problem *p, const cJSON *root, struct pipeline *out,
                     struct pipeline_plan *plan, struct err *e)
{
    struct pipeline_options options = {0};
    struct pipe_plan cuts;
    uint32_t *run = NULL;
    int rc = read_options(root, &options, e);

    if (rc)
        return rc;
    rc = read_order(root, &options, &run, e);
    if (rc)
        return rc;
    rc = pipeline_new(p, &options, out, e);
    free(run);
    if (rc)
        return rc;
    rc = read_cuts(out, root, &cuts, e);
    if (rc)
        goto out;
    rc = read_rest(root, plan, e);
    if (rc)
        goto out;
    pipeline_price(out, &cuts, plan);
out:
    if (rc)
        pipeline_release(out);
    return rc;
}

int pipeline_file_parse(const struct problem *p, const char *text, size_t size,
                        struct pipeline *out, struct pipeline_plan *plan, struct err *e)
{
    cJSON *root;
    int rc = json_document(text, size, PIPELINE_SCHEMA, plan_keys, &root, e);

    *plan = (struct pipeline_plan){0};
    if (rc)
        return rc;
    rc = file_identity_check(p, root, e);
    if (rc)
        goto out;
    rc = read_plan(p, root, out, plan, e);
out:
    cJSON_Delete(root);
    return rc;
}

int pipeline_file_load(const struct problem *p, const char *path, struct pipeline *out,
                       struct pipeline_plan *plan, struct err *e)
{
    struct str text = {0};
    int rc = hlo_file_read(path, PLAN_FILE_MOST, &text, e);

    if (rc)
        goto out;
    if (pipeline_file_parse(p, text.text ? text.text : "", text.size, out, plan, e))
        rc = err_in_file(e, path);
out:
    str_release(&text);
    return rc;
}

bool pipeline_file_is(const char *path)
{
    return file_has_schema(path, PIPELINE_SCHEMA);
}

int pipeline_file_devices(const char *path, uint32_t *devices, struct err *e)
{
    return file_cluster_devices(path, PIPELINE_SCHEMA, plan_keys, devices, e);
}
