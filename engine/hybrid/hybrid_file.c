#include "engine/hybrid/hybrid_file.h"

#include "engine/hybrid/by_value.h"
#include "engine/hybrid/by_value_text.h"

#include "engine/cluster/cluster.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/relaxed_stages.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/pipe_instance.h"
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

static const char axis_names[STAGE_AXES_MOST][2] = {"x", "y"};

/* ---- writing ---- */

static void add_options(const struct hybrid *h, cJSON *to)
{
    cJSON *o = cJSON_AddObjectToObject(to, "options");

    cJSON_AddNumberToObject(o, "batch", h->options.batch);
    cJSON_AddNumberToObject(o, "micro_batches", h->micro_batches);
    cJSON_AddStringToObject(o, "schedule", pipe_schedule_names[h->schedule]);
    cJSON_AddNumberToObject(o, "chunks", h->chunks);
    cJSON_AddNumberToObject(o, "zero", h->zero);
    cJSON_AddNumberToObject(o, "overlap", h->options.overlap);
    cJSON_AddBoolToObject(o, "half_duplex", h->options.half_duplex);
    if (h->options.whole_layers)
        cJSON_AddBoolToObject(o, "whole_layers", true);
    if (h->relaxed_ms > 0)
        cJSON_AddBoolToObject(o, "relaxed_stages", true);
    if (h->by_value_ms > 0)
        cJSON_AddBoolToObject(o, "recompute_values", true);
    cJSON_AddBoolToObject(o, "memory_limit", !h->options.no_limit);
    if (h->options.limit_bytes > 0)
        cJSON_AddNumberToObject(o, "memory_limit_bytes", h->options.limit_bytes);
}

static bool is_in(const struct sections *s, const struct hybrid_stage *stage, class_id k)
{
    for (uint32_t n = 0; n < s->shared_count; n++)
        if (s->shared[n] == k)
            return true;
    for (uint32_t n = s->local_base[stage->section]; n < s->local_base[stage->end_section]; n++)
        if (s->local[n] == k)
            return true;
    return false;
}

static void add_decisions(const struct hybrid *h, const struct hybrid_stage *s, cJSON *to)
{
    const struct classes *c = &h->problem->classes;
    cJSON *all = cJSON_AddArrayToObject(to, "decisions");

    for (class_id k = 0; k < c->count; k++) {
        if (!s->on[k] || !c->info[k].dim_count || !is_in(&h->sections, s, k))
            continue;
        dim_id d = c->members[c->info[k].dims];
        hlo_value v = c->dim_value[d];
        hlo_id id = c->m->value_instruction[v];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "instruction", hlo_name(c->m, id));
        cJSON_AddNumberToObject(o, "leaf", v - c->m->leaf_base[id]);
        cJSON_AddNumberToObject(o, "dim", d - c->dim_base[v]);
        cJSON *split = cJSON_AddArrayToObject(o, "split");
        for (uint32_t x = 0; x < s->axes; x++)
            if (s->on[k] >> x & 1)
                cJSON_AddItemToArray(split, cJSON_CreateString(axis_names[x]));
        cJSON_AddItemToArray(all, o);
    }
}

static cJSON *stage_json(const struct hybrid *h, const struct hybrid_stage *s)
{
    cJSON *o = cJSON_CreateObject(), *devices, *axes;
    char layer[160];

    cJSON_AddNumberToObject(o, "from", h->sections.position[s->section]);
    cJSON_AddNumberToObject(o, "to", h->sections.position[s->end_section]);
    sections_layer(&h->sections, s->section, layer, sizeof layer);
    cJSON_AddStringToObject(o, "first_layer", layer);
    sections_layer(&h->sections, s->end_section - 1, layer, sizeof layer);
    cJSON_AddStringToObject(o, "last_layer", layer);
    devices = cJSON_AddArrayToObject(o, "devices");
    cJSON_AddItemToArray(devices, cJSON_CreateNumber(s->device));
    cJSON_AddItemToArray(devices, cJSON_CreateNumber(s->end_device));
    axes = cJSON_AddArrayToObject(o, "axes");
    for (uint32_t x = 0; x < s->axes; x++) {
        cJSON *axis = cJSON_CreateObject();
        cJSON_AddStringToObject(axis, "name", axis_names[x]);
        cJSON_AddNumberToObject(axis, "size", s->size[x]);
        cJSON_AddItemToArray(axes, axis);
    }
    cJSON_AddBoolToObject(o, "recompute", s->point.recompute);
    add_decisions(h, s, o);
    cJSON_AddNumberToObject(o, "data_parallel", s->dp);
    cJSON_AddNumberToObject(o, "tensor_parallel", (s->end_device - s->device) / s->dp);
    cJSON_AddNumberToObject(o, "forward_ms", s->point.forward_ms);
    cJSON_AddNumberToObject(o, "backward_ms", s->point.both_ms - s->point.forward_ms);
    cJSON_AddNumberToObject(o, "once_ms", s->point.reduce_ms);
    cJSON_AddNumberToObject(o, "in_flight", s->in_flight);
    cJSON_AddNumberToObject(o, "fixed_bytes", s->point.fixed_bytes);
    cJSON_AddNumberToObject(o, "stash_bytes", s->point.stash_bytes);
    cJSON_AddNumberToObject(o, "memory_bytes", s->memory_bytes);
    if (h->relaxed_ms > 0) {
        cJSON_AddNumberToObject(o, "relaxed_forward_ms", s->relaxed.forward_ms);
        cJSON_AddNumberToObject(o, "relaxed_backward_ms",
                                s->relaxed.both_ms - s->relaxed.forward_ms);
        cJSON_AddNumberToObject(o, "relaxed_stash_bytes", s->relaxed.stash_bytes);
    }
    if (h->by_value_ms > 0)
        cJSON_AddItemToObject(o, "by_value", by_value_json(h, s));
    return o;
}

static cJSON *transfer_json(const struct hybrid_cut *c)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddNumberToObject(o, "forward_bytes", c->forward_bytes);
    cJSON_AddNumberToObject(o, "backward_bytes", c->backward_bytes);
    cJSON_AddNumberToObject(o, "once_bytes", c->once_bytes);
    cJSON_AddNumberToObject(o, "forward_ms", c->node.forward_ms);
    cJSON_AddNumberToObject(o, "backward_ms", c->node.backward_ms);
    cJSON_AddNumberToObject(o, "once_ms", c->node.reduce_ms);
    return o;
}

const char *hybrid_zero_words(int asked, uint8_t taken, char out[static HYBRID_ZERO_ROOM])
{
    if (asked == HYBRID_ZERO_ANY)
        snprintf(out, HYBRID_ZERO_ROOM, "ZeRO 1 to %d", ZERO_LEVEL_MOST);
    else
        snprintf(out, HYBRID_ZERO_ROOM, "ZeRO %u", taken);
    return out;
}

/* What the bound is of; a file's own words where it is a file's. */
static void add_scope(const struct hybrid *h, cJSON *to)
{
    const struct hybrid_options *o = &h->options;
    bool is_pinned = o->pin_count || o->stages || o->tp || o->dp;
    char scope[sizeof h->said_scope], zero[HYBRID_ZERO_ROOM];

    snprintf(scope, sizeof scope,
             "strict plans%s%s, of all cuts between %u sections and sub-meshes, no device idle but "
             "before the first stage, %s, %s%s%s%s%s%s",
             h->chunks > 1 ? "" : " that are not interleaved",
             h->by_value_ms > 0 ? " whatever they keep or compute again" : "", h->sections.count,
             o->is_schedule_given ? pipe_schedule_names[o->schedule] : "all schedules",
             hybrid_zero_words(o->zero, h->zero, zero),
             o->recompute == STAGE_RECOMPUTE_ALL ? ", every stage recomputed" : "",
             o->whole_layers ? ", whole layers" : "",
             o->limit_bytes > 0 ? ", within the memory asked for" : "",
             is_pinned ? ", under the pins" : "",
             o->micro_batches ? ", with so many micro-batches" : "");
    cJSON_AddStringToObject(to, "certified_scope", h->is_said ? h->said_scope : scope);
}

cJSON *hybrid_json(const struct hybrid *h)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "schema", HYBRID_SCHEMA);
    cJSON_AddStringToObject(o, "mode", "hybrid");
    file_identity_add(h->problem, o);
    add_options(h, o);
    cJSON *stages = cJSON_AddArrayToObject(o, "stages"),
          *transfers = cJSON_AddArrayToObject(o, "transfers");
    for (uint32_t n = 0; n < h->stages; n++) {
        cJSON_AddItemToArray(stages, stage_json(h, &h->stage[n]));
        if (n + 1 < h->stages)
            cJSON_AddItemToArray(transfers, transfer_json(&h->cut[n]));
    }
    cJSON_AddNumberToObject(o, "step_time_ms", hybrid_step_ms(h));
    if (h->relaxed_ms > 0)
        cJSON_AddItemToObject(o, "relaxed_step_time_ms",
                              isfinite(h->relaxed_ms) ? cJSON_CreateNumber(h->relaxed_ms)
                                                      : cJSON_CreateNull());
    if (h->by_value_ms > 0) {
        cJSON_AddItemToObject(o, "by_value_step_time_ms",
                              isfinite(h->by_value_ms) ? cJSON_CreateNumber(h->by_value_ms)
                                                       : cJSON_CreateNull());
        cJSON_AddStringToObject(o, "by_value_schedule", pipe_schedule_names[h->by_value_schedule]);
    }
    cJSON_AddNumberToObject(o, "L_ms", h->length_ms);
    cJSON *makespan = cJSON_AddObjectToObject(o, "makespan_ms");
    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++)
        cJSON_AddItemToObject(makespan, pipe_schedule_names[k],
                              isfinite(h->makespan_ms[k]) ? cJSON_CreateNumber(h->makespan_ms[k])
                                                          : cJSON_CreateNull());
    cJSON_AddItemToObject(o, "bound_ms",
                          h->is_certified ? cJSON_CreateNumber(h->bound_ms) : cJSON_CreateNull());
    cJSON_AddBoolToObject(o, "certified", h->is_certified);
    if (h->is_certified)
        add_scope(h, o);
    return o;
}

int hybrid_file_save(const struct hybrid *h, const char *path, struct err *e)
{
    return file_json_save(hybrid_json(h), path, e);
}

/* ---- reading ---- */

static const struct json_field option_keys[] = {
    {"batch", JSON_WHOLE, NULL},
    {"micro_batches", JSON_WHOLE, NULL},
    {"schedule", JSON_TEXT, NULL},
    {"chunks", JSON_WHOLE, NULL},
    {"zero", JSON_WHOLE, NULL},
    {"overlap", JSON_NUMBER, NULL},
    {"half_duplex", JSON_TRUTH, NULL},
    {"whole_layers", JSON_TRUTH | JSON_OPTIONAL, NULL},
    {"relaxed_stages", JSON_TRUTH | JSON_OPTIONAL, NULL},
    {"recompute_values", JSON_TRUTH | JSON_OPTIONAL, NULL},
    {"memory_limit", JSON_TRUTH, NULL},
    {"memory_limit_bytes", JSON_NUMBER | JSON_OPTIONAL, NULL},
    {0}};
static const struct json_field axis_keys[] = {
    {"name", JSON_TEXT, NULL}, {"size", JSON_WHOLE, NULL}, {0}};
static const struct json_field decision_keys[] = {{"instruction", JSON_TEXT, NULL},
                                                  {"leaf", JSON_WHOLE, NULL},
                                                  {"dim", JSON_WHOLE, NULL},
                                                  {"split", JSON_TEXTS, NULL},
                                                  {0}};
static const struct json_field again_keys[] = {{"scope", JSON_TEXT, NULL},
                                               {"operation", JSON_TEXT, NULL},
                                               {"source", JSON_TEXT, NULL},
                                               {"values", JSON_WHOLE, NULL},
                                               {"bytes", JSON_NUMBER, NULL},
                                               {"ms", JSON_NUMBER, NULL},
                                               {0}};
static const struct json_field by_value_keys[] = {{"recompute", JSON_TRUTH, NULL},
                                                  {"backward_ms", JSON_NUMBER, NULL},
                                                  {"in_flight", JSON_WHOLE, NULL},
                                                  {"fixed_bytes", JSON_NUMBER, NULL},
                                                  {"stash_bytes", JSON_NUMBER, NULL},
                                                  {"memory_bytes", JSON_NUMBER, NULL},
                                                  {"host_bytes", JSON_NUMBER | JSON_OPTIONAL, NULL},
                                                  {"host_ms", JSON_NUMBER | JSON_OPTIONAL, NULL},
                                                  {"again", JSON_OBJECTS, again_keys},
                                                  {0}};
static const struct json_field stage_keys[] = {
    {"from", JSON_WHOLE, NULL},
    {"to", JSON_WHOLE, NULL},
    {"first_layer", JSON_TEXT, NULL},
    {"last_layer", JSON_TEXT, NULL},
    {"devices", JSON_WHOLES, NULL},
    {"axes", JSON_OBJECTS, axis_keys},
    {"recompute", JSON_TRUTH, NULL},
    {"decisions", JSON_OBJECTS, decision_keys},
    {"data_parallel", JSON_WHOLE, NULL},
    {"tensor_parallel", JSON_WHOLE, NULL},
    {"forward_ms", JSON_NUMBER, NULL},
    {"backward_ms", JSON_NUMBER, NULL},
    {"once_ms", JSON_NUMBER, NULL},
    {"in_flight", JSON_WHOLE, NULL},
    {"fixed_bytes", JSON_NUMBER, NULL},
    {"stash_bytes", JSON_NUMBER, NULL},
    {"memory_bytes", JSON_NUMBER, NULL},
    {"relaxed_forward_ms", JSON_NUMBER | JSON_OPTIONAL, NULL},
    {"relaxed_backward_ms", JSON_NUMBER | JSON_OPTIONAL, NULL},
    {"relaxed_stash_bytes", JSON_NUMBER | JSON_OPTIONAL, NULL},
    {"by_value", JSON_OBJECT | JSON_OPTIONAL, by_value_keys},
    {0}};
static const struct json_field transfer_keys[] = {{"forward_bytes", JSON_NUMBER, NULL},
                                                  {"backward_bytes", JSON_NUMBER, NULL},
                                                  {"once_bytes", JSON_NUMBER, NULL},
                                                  {"forward_ms", JSON_NUMBER, NULL},
                                                  {"backward_ms", JSON_NUMBER, NULL},
                                                  {"once_ms", JSON_NUMBER, NULL},
                                                  {0}};
static const struct json_field makespan_keys[] = {{"eager", JSON_NUMBER_OR_NULL, NULL},
                                                  {"1f1b", JSON_NUMBER_OR_NULL, NULL},
                                                  {"gpipe", JSON_NUMBER_OR_NULL, NULL},
                                                  {0}};
static const struct json_field plan_keys[] = {
    {"schema", JSON_TEXT, NULL},
    {"mode", JSON_TEXT, NULL},
    {"model", JSON_OBJECT, file_model_keys},
    {"cluster", JSON_OBJECT, file_cluster_keys},
    {"options", JSON_OBJECT, option_keys},
    {"stages", JSON_OBJECTS, stage_keys},
    {"transfers", JSON_OBJECTS, transfer_keys},
    {"step_time_ms", JSON_NUMBER, NULL},
    {"relaxed_step_time_ms", JSON_NUMBER_OR_NULL | JSON_OPTIONAL, NULL},
    {"by_value_step_time_ms", JSON_NUMBER_OR_NULL | JSON_OPTIONAL, NULL},
    {"by_value_schedule", JSON_TEXT | JSON_OPTIONAL, NULL},
    {"L_ms", JSON_NUMBER, NULL},
    {"makespan_ms", JSON_OBJECT, makespan_keys},
    {"bound_ms", JSON_NUMBER_OR_NULL, NULL},
    {"certified", JSON_TRUTH, NULL},
    {"certified_scope", JSON_TEXT | JSON_OPTIONAL, NULL},
    {0}};

/* A whole number from `least` to `most`. */
static int read_whole(const cJSON *o, const char *where, const char *key, uint32_t least,
                      uint32_t most, uint32_t *out, struct err *e)
{
    double n = json_number(o, key);

    if (n < least || n > most)
        return err_set(e, ERR_INPUT, "%s.%s: %.0f, expected %u to %u", where, key, n, least, most);
    *out = (uint32_t)n;
    return 0;
}

static int read_options(const cJSON *root, struct hybrid *h, struct err *e)
{
    const cJSON *o = json_get(root, "options");
    const char *schedule = json_text(o, "schedule");
    uint32_t zero = 0;
    int k = 0, rc = read_whole(o, "options", "batch", 1, 1 << 24, &h->options.batch, e);

    rc = rc ? rc : read_whole(o, "options", "micro_batches", 1, 1 << 20, &h->micro_batches, e);
    rc = rc ? rc : read_whole(o, "options", "chunks", 1, HYBRID_STAGES_MOST, &h->chunks, e);
    rc = rc ? rc : read_whole(o, "options", "zero", 0, ZERO_LEVEL_MOST, &zero, e);
    while (k < PIPE_SCHEDULE_COUNT && strcmp(schedule, pipe_schedule_names[k]))
        k++;
    if (!rc && k == PIPE_SCHEDULE_COUNT)
        rc = err_set(e, ERR_INPUT, "options.schedule: \"%.40s\" is none of those known", schedule);
    if (rc)
        return rc;
    const cJSON *limit = json_get(o, "memory_limit_bytes");
    h->schedule = (enum pipe_schedule_kind)k;
    h->zero = (uint8_t)zero;
    h->options.overlap = json_number(o, "overlap");
    h->options.half_duplex = cJSON_IsTrue(json_get(o, "half_duplex"));
    h->options.relaxes = cJSON_IsTrue(json_get(o, "relaxed_stages"));
    h->options.keeps_values = cJSON_IsTrue(json_get(o, "recompute_values"));
    h->options.whole_layers = cJSON_IsTrue(json_get(o, "whole_layers"));
    h->options.no_limit = cJSON_IsFalse(json_get(o, "memory_limit"));
    h->options.limit_bytes = limit ? limit->valuedouble : 0;
    if (!(h->options.overlap >= 0 && h->options.overlap <= 1) && h->options.overlap != OVERLAP_AUTO)
        return err_set(e, ERR_INPUT, "options.overlap: %g, expected 0 to 1, or -1",
                       h->options.overlap);
    if (h->options.batch % h->micro_batches)
        return err_set(e, ERR_INPUT,
                       "options: a batch of %u cannot be cut into %u equal micro-batches",
                       h->options.batch, h->micro_batches);
    return 0;
}

/* The section that begins at a position; `count` for the end. */
static int read_section(const struct hybrid *h, const cJSON *o, uint32_t n, const char *key,
                        uint32_t *out, struct err *e)
{
    double at = json_number(o, key);

    for (*out = 0; *out <= h->sections.count; ++*out)
        if (h->sections.position[*out] == at)
            return 0;
    return err_set(e, ERR_INPUT, "stages[%u].%s: no section begins at position %.0f", n, key, at);
}

static int read_decision(const struct hybrid *h, const cJSON *o, uint32_t n, int at,
                         struct hybrid_stage *s, struct err *e)
{
    const struct classes *c = &h->problem->classes;
    hlo_id id = hlo_find(c->m, json_text(o, "instruction"));
    double leaf = json_number(o, "leaf"), dim = json_number(o, "dim");
    const cJSON *axis;

    if (id == HLO_NONE)
        return err_set(e, ERR_INPUT, "stages[%u].decisions[%d]: the model has no %.80s", n, at,
                       json_text(o, "instruction"));
    if (leaf >= c->m->leaf_base[id + 1] - c->m->leaf_base[id] ||
        dim >= hlo_value_shape(c->m, c->m->leaf_base[id] + (hlo_value)leaf)->rank)
        return err_set(e, ERR_INPUT, "stages[%u].decisions[%d]: %.80s has no such dim", n, at,
                       json_text(o, "instruction"));
    class_id k = c->class_of[class_dim(c, c->m->leaf_base[id] + (hlo_value)leaf, (uint32_t)dim)];
    if (k == CLASS_NONE || c->info[k].reason != CLASS_ALLOWED)
        return err_set(e, ERR_INPUT, "stages[%u].decisions[%d]: this dim cannot be split", n, at);
    cJSON_ArrayForEach(axis, json_get(o, "split"))
    {
        uint32_t x = 0;
        while (x < s->axes && strcmp(axis->valuestring, axis_names[x]))
            x++;
        if (x == s->axes || (s->on[k] >> x & 1))
            return err_set(e, ERR_INPUT,
                           "stages[%u].decisions[%d].split: expected names of axes, each once", n,
                           at);
        s->on[k] |= (label)(1u << x);
    }
    return 0;
}

static int read_stage(struct hybrid *h, const cJSON *o, uint32_t n, struct err *e)
{
    struct hybrid_stage *s = &h->stage[n];
    const cJSON *devices = json_get(o, "devices"), *axes = json_get(o, "axes"), *item;
    int rc = read_section(h, o, n, "from", &s->section, e), at = 0;

    rc = rc ? rc : read_section(h, o, n, "to", &s->end_section, e);
    if (rc)
        return rc;
    if (s->section >= s->end_section || s->section != (n ? h->stage[n - 1].end_section : 0))
        return err_set(e, ERR_INPUT, "stages[%u]: does not begin where the one before it ends", n);
    if (cJSON_GetArraySize(devices) != 2 ||
        cJSON_GetArrayItem(devices, 1)->valuedouble > h->problem->cluster.devices ||
        cJSON_GetArrayItem(devices, 0)->valuedouble >= cJSON_GetArrayItem(devices, 1)->valuedouble)
        return err_set(e, ERR_INPUT, "stages[%u].devices: expected the first and the end, up to %u",
                       n, h->problem->cluster.devices);
    s->device = (uint32_t)cJSON_GetArrayItem(devices, 0)->valuedouble;
    s->end_device = (uint32_t)cJSON_GetArrayItem(devices, 1)->valuedouble;
    s->axes = (uint32_t)cJSON_GetArraySize(axes);
    if (!s->axes || s->axes > STAGE_AXES_MOST)
        return err_set(e, ERR_INPUT, "stages[%u].axes: expected 1 or 2", n);
    cJSON_ArrayForEach(item, axes)
    {
        if (strcmp(json_text(item, "name"), axis_names[at]))
            return err_set(e, ERR_INPUT, "stages[%u].axes[%d].name: expected %s", n, at,
                           axis_names[at]);
        rc = read_whole(item, "axes", "size", 1, CLUSTER_DEVICES_MOST, &s->size[at++], e);
        if (rc)
            return rc;
    }
    s->point.recompute = cJSON_IsTrue(json_get(o, "recompute"));
    s->on = mem_try((size_t)h->problem->classes.count + 1, sizeof *s->on);
    if (!s->on)
        return err_no_memory(e, "for a hybrid plan");
    at = 0;
    cJSON_ArrayForEach(item, json_get(o, "decisions"))
    {
        rc = read_decision(h, item, n, at++, s, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_stages(struct hybrid *h, const cJSON *root, struct err *e)
{
    const cJSON *all = json_get(root, "stages"), *item;
    int count = cJSON_GetArraySize(all), rc = 0;
    uint32_t n = 0;

    if (count < 1 || count > HYBRID_STAGES_MOST)
        return err_set(e, ERR_INPUT, "stages: %d, expected 1 to %d", count, HYBRID_STAGES_MOST);
    h->stages = (uint32_t)count;
    h->stage = mem_try(h->stages, sizeof *h->stage);
    h->cut = mem_try(h->stages, sizeof *h->cut);
    if (!h->stage || !h->cut)
        return err_no_memory(e, "for a hybrid plan");
    cJSON_ArrayForEach(item, all)
    {
        rc = read_stage(h, item, n++, e);
        if (rc)
            return rc;
    }
    return h->stage[n - 1].end_section == h->sections.count
               ? 0
               : err_set(e, ERR_INPUT, "stages: the last one does not reach the end of the model");
}

/* Where the stages begin: sections do, there too. */
static int open_stages(const struct problem *p, const cJSON *root, struct hybrid *out,
                       struct err *e)
{
    uint32_t cut[HYBRID_STAGES_MOST], count = 0;
    const cJSON *item;

    cJSON_ArrayForEach(item, json_get(root, "stages"))
    {
        double at = json_number(item, "from");
        bool follows = at > (count ? cut[count - 1] : 0) && at < UINT32_MAX;
        if (follows && count < HYBRID_STAGES_MOST)
            cut[count++] = (uint32_t)at;
    }
    return hybrid_open_at(p, cut, count, out, e);
}

int hybrid_file_parse(const struct problem *p, const char *text, size_t size, struct hybrid *out,
                      struct err *e)
{
    cJSON *root;
    int rc = json_document(text, size, HYBRID_SCHEMA, plan_keys, &root, e);

    if (rc)
        return rc;
    rc = file_identity_check(p, root, e);
    rc = rc ? rc : open_stages(p, root, out, e);
    if (!rc) {
        rc = read_options(root, out, e);
        rc = rc ? rc : read_stages(out, root, e);
        rc = rc ? rc : hybrid_price(out, e);
        rc = rc || !out->options.relaxes ? rc : hybrid_relax(out, e);
        rc = rc || !out->options.keeps_values ? rc : hybrid_by_value(out, e);
        if (rc)
            hybrid_release(out);
    }
    if (!rc) {
        out->is_certified =
            cJSON_IsTrue(json_get(root, "certified")) && cJSON_IsNumber(json_get(root, "bound_ms"));
        if (out->is_certified) /* no plan is below a bound */
            out->is_certified = json_number(root, "bound_ms") <= hybrid_least_ms(out) * (1 + 1e-9);
        /* what was proven was proven of the step then */
        out->is_certified &= fabs(json_number(root, "step_time_ms") - hybrid_step_ms(out)) <=
                             1e-9 * hybrid_step_ms(out);
        out->bound_ms = out->is_certified ? json_number(root, "bound_ms") : 0;
        out->is_said = out->is_certified;
        const cJSON *scope = json_get(root, "certified_scope");
        snprintf(out->said_scope, sizeof out->said_scope, "%s",
                 scope ? scope->valuestring : "not said");
    }
    cJSON_Delete(root);
    return rc;
}

int hybrid_file_load(const struct problem *p, const char *path, struct hybrid *out, struct err *e)
{
    struct str text = {0};
    int rc = hlo_file_read(path, PLAN_FILE_MOST, &text, e);

    if (!rc && hybrid_file_parse(p, text.text ? text.text : "", text.size, out, e))
        rc = err_in_file(e, path);
    str_release(&text);
    return rc;
}

bool hybrid_file_is(const char *path)
{
    return file_has_schema(path, HYBRID_SCHEMA);
}

int hybrid_file_devices(const char *path, uint32_t *devices, struct err *e)
{
    return file_cluster_devices(path, HYBRID_SCHEMA, plan_keys, devices, e);
}
