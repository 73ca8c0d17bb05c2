#include "engine/plan/plan_file.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/file_identity.h"
#include "engine/plan/plan_json.h"
#include "engine/plan/relaxed_json.h"
#include "engine/plan/strict_json.h"
#include "engine/problem/problem.h"
#include "engine/text/json_check.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"

#include <cjson/cJSON.h>
#include <string.h>

/* ---- the keys ---- */

static const struct json_field axis_keys[] = {
    {"name", JSON_TEXT, NULL}, {"size", JSON_WHOLE, NULL}, {0}};
static const struct json_field model_keys[] = {{"name", JSON_TEXT, NULL},
                                               {"instructions", JSON_WHOLE, NULL},
                                               {"parameters", JSON_WHOLE, NULL},
                                               {"fingerprint", JSON_TEXT, NULL},
                                               {0}};
static const struct json_field option_keys[] = {
    {"rules", JSON_TEXT, NULL},
    {"divisibility", JSON_TEXT, NULL},
    {"reductions_off", JSON_TEXTS, NULL},
    {"reduce_at_once", JSON_TRUTH | JSON_OPTIONAL, NULL},
    {0}};
static const struct json_field decision_keys[] = {{"parameter", JSON_WHOLE | JSON_OPTIONAL, NULL},
                                                  {"name", JSON_TEXT | JSON_OPTIONAL, NULL},
                                                  {"instruction", JSON_TEXT | JSON_OPTIONAL, NULL},
                                                  {"leaf", JSON_WHOLE, NULL},
                                                  {"dim", JSON_WHOLE, NULL},
                                                  {"split", JSON_TEXTS, NULL},
                                                  {"whole", JSON_TEXTS, NULL},
                                                  {"by", JSON_TEXT, NULL},
                                                  {0}};
static const struct json_field collective_keys[] = {
    {"kind", JSON_TEXT, NULL},    {"instruction", JSON_TEXT, NULL},
    {"axes", JSON_TEXT, NULL},    {"count", JSON_WHOLE, NULL},
    {"bytes", JSON_NUMBER, NULL}, {"ms", JSON_NUMBER, NULL},
    {"cause", JSON_NUMBER, NULL}, {0}};
static const struct json_field variable_keys[] = {
    {"parameter", JSON_WHOLE, NULL}, {"leaf", JSON_WHOLE, NULL},
    {"name", JSON_TEXT, NULL},       {"shape", JSON_TEXT, NULL},
    {"status", JSON_NUMBER, NULL},   {"split", JSON_LISTS, NULL},
    {"by", JSON_TEXT, NULL},         {0}};
static const struct json_field class_keys[] = {{"total", JSON_WHOLE, NULL},
                                               {"forbidden", JSON_WHOLE, NULL},
                                               {"with_variables", JSON_WHOLE, NULL},
                                               {0}};
static const struct json_field plan_keys[] = {
    {"schema", JSON_TEXT, NULL},
    {"mode", JSON_TEXT, NULL},
    {"found_by", JSON_TEXT, NULL},
    {"seed", JSON_TEXT, NULL},
    {"model", JSON_OBJECT, model_keys},
    {"cluster", JSON_OBJECT, file_cluster_keys},
    {"options", JSON_OBJECT, option_keys},
    {"devices", JSON_WHOLE, NULL},
    {"axes", JSON_OBJECTS, axis_keys},
    {"batch_size", JSON_WHOLE | JSON_OPTIONAL, NULL},
    {"micro_batches", JSON_WHOLE | JSON_OPTIONAL, NULL},
    {"zero", JSON_WHOLE | JSON_OPTIONAL, NULL},
    {"overlap", JSON_NUMBER | JSON_OPTIONAL, NULL},
    {"memory_limit_bytes", JSON_NUMBER | JSON_OPTIONAL, NULL},
    {"variable_dims", JSON_WHOLE, NULL},
    {"partitioned", JSON_WHOLE, NULL},
    {"replicated", JSON_WHOLE, NULL},
    {"undecided", JSON_WHOLE, NULL},
    {"paper_reward", JSON_NUMBER, NULL},
    {"step_time_ms", JSON_NUMBER, NULL},
    {"compute_ms", JSON_NUMBER, NULL},
    {"communication_ms", JSON_NUMBER, NULL},
    {"bound_ms", JSON_NUMBER_OR_NULL, NULL},
    {"bound_scope", JSON_TEXT | JSON_OPTIONAL, NULL},
    {"memory", JSON_FREE_OBJECT | JSON_OPTIONAL, NULL},
    {"decisions", JSON_OBJECTS, decision_keys},
    {"collectives", JSON_OBJECTS, collective_keys},
    {"variables", JSON_OBJECTS, variable_keys},
    {"inputs", JSON_OBJECTS, variable_keys},
    {"classes", JSON_OBJECT, class_keys},
    {"warnings", JSON_TEXTS, NULL},
    {"bound_kind", JSON_TEXT | JSON_OPTIONAL, NULL},
    {"gap", JSON_NUMBER | JSON_OPTIONAL, NULL},
    {"strict_ms", JSON_NUMBER | JSON_OPTIONAL, NULL},
    {"strict_proven", JSON_TRUTH | JSON_OPTIONAL, NULL},
    {"strict_scope", JSON_TEXT | JSON_OPTIONAL, NULL},
    {"partial_results", JSON_TEXT | JSON_OPTIONAL, NULL},
    {"reshards", JSON_OBJECTS | JSON_OPTIONAL, relaxed_reshard_keys},
    {"instructions", JSON_OBJECTS | JSON_OPTIONAL, relaxed_instruction_keys},
    {"values", JSON_OBJECTS | JSON_OPTIONAL, relaxed_value_keys},
    {0}};

/* The document, checked; to be freed with cJSON_Delete. */
static int parse_document(const char *text, size_t size, cJSON **out, struct err *e)
{
    int rc = json_document(text, size, PLAN_SCHEMA, plan_keys, out, e);

    if (rc || !strcmp(json_text(*out, "mode"), "strict") ||
        !strcmp(json_text(*out, "mode"), "relaxed"))
        return rc;
    err_set(e, ERR_INPUT, "mode: \"%.40s\", expected \"strict\" or \"relaxed\"",
            json_text(*out, "mode"));
    cJSON_Delete(*out);
    *out = NULL;
    return ERR_INPUT;
}

/* ---- what the plan is for ---- */

/* "f32[512/4 10!]" without what tells how it is split: two forms of one parameter compare equal. */
static bool same_shape(const char *a, const char *b)
{
    const char *s[2] = {a, b};

    for (;;) {
        for (int k = 0; k < 2; k++) {
            if (*s[k] == '/')
                s[k] += strcspn(s[k], " ]!");
            if (*s[k] == '!')
                s[k]++;
        }
        if (*s[0] != *s[1])
            return false;
        if (!*s[0])
            return true;
        s[0]++;
        s[1]++;
    }
}

/* Names the first variable or input in which the models differ; NULL: none does. */
static const cJSON *first_difference(const struct problem *p, const cJSON *list, char *here,
                                     size_t room)
{
    const cJSON *item;
    struct plan whole = {.problem = p, .on = mem_try(p->classes.count, sizeof(label))};
    struct str shape = {0};

    cJSON_ArrayForEach(item, list)
    {
        const struct hlo_param_role *r = NULL;
        for (uint32_t k = 0; k < p->roles.param_count && !r; k++) {
            const struct hlo_param_role *at = &p->roles.params[k];
            if (at->parameter == json_number(item, "parameter") &&
                at->leaf == json_number(item, "leaf"))
                r = at;
        }
        str_clear(&shape);
        if (r && whole.on)
            plan_write_shape(&whole, r->value, &shape);
        if (r && shape.text && same_shape(shape.text, json_text(item, "shape")))
            continue;
        snprintf(here, room, "%s", r && shape.text ? shape.text : "absent");
        break;
    }
    str_release(&shape);
    free(whole.on);
    return item;
}

static int check_model(const struct problem *p, const cJSON *root, struct err *e)
{
    const cJSON *model = json_get(root, "model");
    uint32_t params = p->file->computations[p->file->entry].param_count;
    uint64_t fingerprint;
    char here[120];
    int rc = json_fingerprint(root, "model", &fingerprint, e);

    if (rc || fingerprint == p->model_fingerprint)
        return rc;
    if (json_number(model, "instructions") != p->file->count ||
        json_number(model, "parameters") != params)
        return err_set(e, ERR_INPUT,
                       "the plan is for another model: %.80s with %.0f instructions and %.0f "
                       "parameters; %.80s has %u and %u",
                       json_text(model, "name"), json_number(model, "instructions"),
                       json_number(model, "parameters"), p->file->name, p->file->count, params);
    const cJSON *item = first_difference(p, json_get(root, "variables"), here, sizeof here);
    if (!item)
        item = first_difference(p, json_get(root, "inputs"), here, sizeof here);
    if (item)
        return err_set(
            e, ERR_INPUT,
            "the plan is for another model: parameter %.0f, %.120s, is %.80s there and %.80s here",
            json_number(item, "parameter"), json_text(item, "name"), json_text(item, "shape"),
            here);
    return err_set(e, ERR_INPUT,
                   "the plan is for another model: %.80s has as many instructions and the same "
                   "variables, but not the same instructions",
                   json_text(model, "name"));
}

static int check_cluster(const struct problem *p, const cJSON *root, struct err *e)
{
    const cJSON *cluster = json_get(root, "cluster");
    uint64_t fingerprint;
    int rc = json_fingerprint(root, "cluster", &fingerprint, e);

    if (rc || fingerprint == cluster_fingerprint(&p->cluster))
        return rc;
    if (json_number(cluster, "devices") != p->cluster.devices)
        return err_set(
            e, ERR_INPUT,
            "the plan is for another cluster: %.48s with %.0f devices, this is %.48s with %u",
            json_text(cluster, "name"), json_number(cluster, "devices"), p->cluster.name,
            p->cluster.devices);
    return err_set(e, ERR_INPUT,
                   "the plan is for another cluster: %.48s and %.48s have as many devices, but not "
                   "the same figures",
                   json_text(cluster, "name"), p->cluster.name);
}

static int check_mesh(const struct problem *p, const cJSON *root, struct err *e)
{
    const cJSON *axis, *axes = json_get(root, "axes");
    uint32_t x = 0;

    if (json_number(root, "devices") != p->mesh.devices)
        return err_set(e, ERR_INPUT, "devices: %.0f, expected %u", json_number(root, "devices"),
                       p->mesh.devices);
    if ((uint32_t)cJSON_GetArraySize(axes) != p->mesh.axes)
        return err_set(e, ERR_INPUT, "axes: %d, expected the %u of this mesh",
                       cJSON_GetArraySize(axes), p->mesh.axes);
    cJSON_ArrayForEach(axis, axes)
    {
        const struct mesh_axis *here = &p->mesh.axis[x++];
        if (json_number(axis, "size") != here->size || strcmp(json_text(axis, "name"), here->name))
            return err_set(e, ERR_INPUT, "axes[%u]: %.40s of %.0f, expected %s of %u", x - 1,
                           json_text(axis, "name"), json_number(axis, "size"), here->name,
                           here->size);
    }
    return 0;
}

/* ---- options ---- */

static int choice(const cJSON *o, const char *key, const char *no, const char *yes, bool *out,
                  struct err *e)
{
    const char *text = json_text(o, key);

    *out = !strcmp(text, yes);
    if (*out || !strcmp(text, no))
        return 0;
    return err_set(e, ERR_INPUT, "options.%s: \"%.40s\", expected %s or %s", key, text, no, yes);
}

static int parse_options(const cJSON *root, struct problem_options *out, struct err *e)
{
    const cJSON *o = json_get(root, "options"), *off;
    int rc = choice(o, "rules", "full", "paper", &out->classes.paper_rules, e), at = 0;

    if (rc)
        return rc;
    rc = choice(o, "divisibility", "pad", "exact", &out->exact_divisibility, e);
    if (rc)
        return rc;
    out->reduce_at_once = cJSON_IsTrue(json_get(o, "reduce_at_once"));
    cJSON_ArrayForEach(off, json_get(o, "reductions_off"))
    {
        int k = 1;
        while (k < HLO_COMBINE_COUNT && strcmp(off->valuestring, plan_reduction_names[k]))
            k++;
        if (k == HLO_COMBINE_COUNT)
            return err_set(e, ERR_INPUT,
                           "options.reductions_off[%d]: \"%.40s\", expected add, multiply, "
                           "maximum, minimum, and or or",
                           at, off->valuestring);
        out->classes.reduce_off[k] = true;
        at++;
    }
    return 0;
}

/* Plans written before there were any ran the batch at once and stored everything whole. */
static int parse_batching(const cJSON *root, struct problem_options *out, struct err *e)
{
    const cJSON *k = json_get(root, "micro_batches"), *zero = json_get(root, "zero"),
                *overlap = json_get(root, "overlap"), *size = json_get(root, "batch_size");

    if (size && (size->valuedouble < 1 || size->valuedouble > BATCH_MOST))
        return err_set(e, ERR_INPUT, "batch_size: %.0f, expected 1 to %d", size->valuedouble,
                       BATCH_MOST);
    out->batch_size = size ? (int64_t)size->valuedouble : 0;
    out->micro_batches = 1;
    out->zero = 0;
    if (k && (k->valuedouble < 1 || k->valuedouble > MICRO_BATCHES_MOST))
        return err_set(e, ERR_INPUT, "micro_batches: %.0f, expected 1 to %d", k->valuedouble,
                       MICRO_BATCHES_MOST);
    if (zero && zero->valuedouble > ZERO_LEVEL_MOST)
        return err_set(e, ERR_INPUT, "zero: %.0f, expected 0 to %d", zero->valuedouble,
                       ZERO_LEVEL_MOST);
    if (k)
        out->micro_batches = (uint32_t)k->valuedouble;
    if (overlap && ((overlap->valuedouble < 0 && overlap->valuedouble != OVERLAP_AUTO) ||
                    overlap->valuedouble > 1))
        return err_set(e, ERR_INPUT, "overlap: %g, expected 0 to 1", overlap->valuedouble);
    if (zero)
        out->zero = (uint8_t)zero->valuedouble;
    out->overlap = overlap ? overlap->valuedouble : 0;
    return 0;
}

static int check_batching(const struct problem *p, const cJSON *root, struct err *e)
{
    struct problem_options there;
    struct batch_and_zero here = problem_batch_and_zero(p);
    int rc = parse_batching(root, &there, e);

    if (rc)
        return rc;
    if ((there.batch_size ? there.batch_size : p->training.batch_divisor) !=
        (p->options.batch_size ? p->options.batch_size : p->training.batch_divisor))
        return err_set(e, ERR_INPUT,
                       "batch_size: the plan is for %lld samples, this problem has %lld; "
                       "--batch N",
                       (long long)(there.batch_size ? there.batch_size : p->training.batch_divisor),
                       (long long)problem_batch_size(p));
    if (there.micro_batches != here.micro_batches)
        return err_set(e, ERR_INPUT,
                       "micro_batches: the plan runs %u, this problem %u; --micro-batches %u",
                       there.micro_batches, here.micro_batches, there.micro_batches);
    if (there.zero != here.zero)
        return err_set(e, ERR_INPUT,
                       "zero: the plan stores by level %u, this problem by %u; --zero %u",
                       there.zero, here.zero, there.zero);
    if (there.overlap != here.overlap)
        return err_set(
            e, ERR_INPUT,
            "overlap: the plan hides %g of the gradient all-reduces, this problem %g; --overlap %g",
            there.overlap, here.overlap, there.overlap);
    return 0;
}

static int check_options(const struct problem *p, const cJSON *root, struct err *e)
{
    struct problem_options there = {0};
    const struct problem_options *here = &p->options;
    int rc = parse_options(root, &there, e);

    if (rc)
        return rc;
    if (there.classes.paper_rules != here->classes.paper_rules)
        return err_set(e, ERR_INPUT,
                       "options.rules: the plan was made under rules %s, these are %s",
                       there.classes.paper_rules ? "paper" : "full",
                       here->classes.paper_rules ? "paper" : "full");
    if (there.exact_divisibility != here->exact_divisibility)
        return err_set(e, ERR_INPUT, "options.divisibility: the plan was made with %s, this is %s",
                       there.exact_divisibility ? "exact" : "pad",
                       here->exact_divisibility ? "exact" : "pad");
    if (there.reduce_at_once && !here->reduce_at_once)
        return err_set(e, ERR_INPUT,
                       "options.reduce_at_once: the plan was made with --reduce-at-once, this is "
                       "without");
    for (int k = 1; k < HLO_COMBINE_COUNT; k++) {
        if (there.classes.reduce_off[k] != here->classes.reduce_off[k])
            return err_set(e, ERR_INPUT,
                           "options.reductions_off: the plan and this problem differ in %s",
                           plan_reduction_names[k]);
    }
    return 0;
}

static void copy_clean(char *out, size_t room, const char *text)
{
    text_clean(out, room, text, strlen(text));
}

static int mesh_text(const cJSON *root, struct plan_setup *out, struct err *e)
{
    struct str text = {0};
    const cJSON *axis;

    cJSON_ArrayForEach(axis, json_get(root, "axes"))
        str_format(&text, "%s%.40s=%.0f", text.size ? "," : "", json_text(axis, "name"),
                   json_number(axis, "size"));
    int rc = text.failed ? err_no_memory(e, "to read the plan") : 0;
    if (rc)
        goto out;
    if (!text.size || text.size >= sizeof out->options.mesh)
        rc = err_set(e, ERR_INPUT, "axes: expected 1 to %d with short names", MESH_AXES_MOST);
    if (rc)
        goto out;
    snprintf(out->options.mesh, sizeof out->options.mesh, "%s", text.text);
out:
    str_release(&text);
    return rc;
}

int plan_file_setup_parse(const char *text, size_t size, struct plan_setup *out, struct err *e)
{
    cJSON *root;
    int rc = parse_document(text, size, &root, e);

    memset(out, 0, sizeof *out);
    if (rc)
        return rc;
    rc = parse_options(root, &out->options, e);
    if (rc)
        goto out;
    rc = parse_batching(root, &out->options, e);
    if (rc)
        goto out;
    rc = mesh_text(root, out, e);
    if (rc)
        goto out;
    rc = json_fingerprint(root, "cluster", &out->cluster_fingerprint, e);
    if (rc)
        goto out;
    double devices = json_number(root, "devices");
    if (devices < 1 || devices > CLUSTER_DEVICES_MOST)
        rc =
            err_set(e, ERR_INPUT, "devices: %.0f, expected 1 to %d", devices, CLUSTER_DEVICES_MOST);
    if (rc)
        goto out;
    out->devices = (uint32_t)devices;
    copy_clean(out->cluster, sizeof out->cluster, json_text(json_get(root, "cluster"), "name"));
    copy_clean(out->model, sizeof out->model, json_text(json_get(root, "model"), "name"));
out:
    cJSON_Delete(root);
    return rc;
}

int plan_file_setup(const char *path, struct plan_setup *out, struct err *e)
{
    struct str text = {0};
    int rc = hlo_file_read(path, PLAN_FILE_MOST, &text, e);

    if (rc)
        goto out;
    if (plan_file_setup_parse(text.text ? text.text : "", text.size, out, e))
        rc = err_in_file(e, path);
out:
    str_release(&text);
    return rc;
}

/* ---- statuses and the rest ---- */

static int check_statuses(const struct plan *plan, const cJSON *root, const char *key,
                          struct err *e)
{
    const struct problem *p = plan->problem;
    const cJSON *o, *names;
    int at = 0;

    cJSON_ArrayForEach(o, json_get(root, key))
    {
        hlo_value v = strict_parameter_json(p, o);
        uint32_t d = 0;
        label over;
        if (v == HLO_NONE)
            return err_set(e, ERR_INPUT, "%s[%d].parameter: the model has none such", key, at);
        if ((uint32_t)cJSON_GetArraySize(json_get(o, "split")) != hlo_value_shape(p->m, v)->rank)
            return err_set(e, ERR_INPUT, "%s[%d].split: expected one list per dim", key, at);
        cJSON_ArrayForEach(names, json_get(o, "split"))
        {
            if (strict_axes_json(p, names, &over) || over != plan_dim_label(plan, v, d))
                return err_set(e, ERR_INPUT, "%s[%d].split[%u]: not what the decisions say", key,
                               at, d);
            d++;
        }
        at++;
    }
    return 0;
}

static int read_rest(const cJSON *root, struct plan *out, struct err *e)
{
    const cJSON *bound = json_get(root, "bound_ms"), *limit = json_get(root, "memory_limit_bytes");
    int rc = json_copy_text(root, "found_by", out->found_by, sizeof out->found_by, e);

    if (rc)
        return rc;
    rc = json_seed(root, "seed", &out->seed, e);
    if (rc)
        return rc;
    out->bound_ms = cJSON_IsNumber(bound) ? bound->valuedouble : 0;
    if (out->bound_ms < 0)
        return err_set(e, ERR_INPUT, "bound_ms: %g, expected none or a time", out->bound_ms);
    out->memory_limit = limit ? limit->valuedouble : 0;
    if (out->memory_limit < 0)
        return err_set(e, ERR_INPUT, "memory_limit_bytes: %g, expected none or a size",
                       out->memory_limit);
    return 0;
}

int plan_file_parse(const struct problem *p, const char *text, size_t size, struct plan *out,
                    struct err *e)
{
    cJSON *root;
    int rc = parse_document(text, size, &root, e);

    memset(out, 0, sizeof *out);
    if (rc)
        return rc;
    rc = check_model(p, root, e);
    if (rc)
        goto out;
    rc = check_cluster(p, root, e);
    if (rc)
        goto out;
    rc = check_mesh(p, root, e);
    if (rc)
        goto out;
    rc = check_options(p, root, e);
    if (rc)
        goto out;
    rc = check_batching(p, root, e);
    if (rc)
        goto out;
    rc = strcmp(json_text(root, "mode"), "strict") ? relaxed_read_json(p, root, out, e)
                                                   : strict_read_json(p, root, out, e);
    if (rc)
        goto out;
    rc = check_statuses(out, root, "variables", e);
    if (rc)
        goto out;
    rc = check_statuses(out, root, "inputs", e);
    if (rc)
        goto out;
    rc = read_rest(root, out, e);
out:
    cJSON_Delete(root);
    if (rc)
        plan_release(out);
    return rc;
}

int plan_file_load(const struct problem *p, const char *path, struct plan *out, struct err *e)
{
    struct str text = {0};
    int rc = hlo_file_read(path, PLAN_FILE_MOST, &text, e);

    memset(out, 0, sizeof *out);
    if (rc)
        goto out;
    if (plan_file_parse(p, text.text ? text.text : "", text.size, out, e))
        rc = err_in_file(e, path);
out:
    str_release(&text);
    return rc;
}

int plan_file_save(const struct plan *p, const char *path, struct err *e)
{
    struct str text = {0};
    int rc = plan_write_json(p, &text, e);

    if (rc)
        goto out;
    if (hlo_file_write(path, text.text, text.size, FILE_REPLACE, e))
        rc = err_in_file(e, path);
out:
    str_release(&text);
    return rc;
}
