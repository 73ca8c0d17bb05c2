#include "engine/place/place_file.h"

#include "engine/cluster/cluster.h"
#include "engine/place/latency.h"
#include "engine/place/look.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_file_words.h"
#include "engine/place/place_pins.h"
#include "engine/place/placement.h"
#include "engine/place/solve.h"
#include "engine/plan/file_identity.h"
#include "engine/plan/plan_file.h"
#include "engine/problem/problem.h"
#include "engine/text/json_check.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct json_field graph_keys[] = {{"nodes", JSON_WHOLE, NULL},
                                               {"edges", JSON_WHOLE, NULL},
                                               {"fingerprint", JSON_TEXT, NULL},
                                               {0}};
static const struct json_field transfer_keys[] = {{"node", JSON_NUMBER, NULL},
                                                  {"name", JSON_TEXT | JSON_OPTIONAL, NULL},
                                                  {"direction", JSON_TEXT, NULL},
                                                  {"ms", JSON_NUMBER, NULL},
                                                  {0}};
static const struct json_field kind_keys[] = {{"name", JSON_TEXT, NULL},
                                              {"count", JSON_WHOLE, NULL},
                                              {"memory_bytes", JSON_NUMBER_OR_NULL, NULL},
                                              {0}};
static const struct json_field limit_keys[] = {
    {"device", JSON_TEXT | JSON_OPTIONAL, NULL},
    {"transfer", JSON_OBJECT | JSON_OPTIONAL, transfer_keys},
    {"memory_bytes", JSON_NUMBER_OR_NULL, NULL},
    {"accelerators", JSON_WHOLE, NULL},
    {"cores", JSON_WHOLE, NULL},
    {"kinds", JSON_OBJECTS, kind_keys},
    {0}};
static const struct json_field device_keys[] = {{"name", JSON_TEXT, NULL},
                                                {"kind", JSON_TEXT, NULL},
                                                {"copies", JSON_WHOLE | JSON_OPTIONAL, NULL},
                                                {"stage", JSON_WHOLE | JSON_OPTIONAL, NULL},
                                                {"load_ms", JSON_NUMBER, NULL},
                                                {"compute_ms", JSON_NUMBER, NULL},
                                                {"in_ms", JSON_NUMBER, NULL},
                                                {"out_ms", JSON_NUMBER, NULL},
                                                {"memory_bytes", JSON_NUMBER, NULL},
                                                {"nodes", JSON_INTEGERS, NULL},
                                                {"pieces", JSON_INTEGERS | JSON_OPTIONAL, NULL},
                                                {0}};
static const struct json_field plan_keys[] = {
    {"schema", JSON_TEXT, NULL},
    {"model", JSON_OBJECT | JSON_OPTIONAL, file_model_keys},
    {"cluster", JSON_OBJECT | JSON_OPTIONAL, file_cluster_keys},
    {"batch", JSON_WHOLE | JSON_OPTIONAL, NULL},
    {"graph", JSON_OBJECT, graph_keys},
    {"nodes", JSON_WHOLE, NULL},
    {"value_ms", JSON_NUMBER, NULL},
    {"bound_ms", JSON_NUMBER, NULL},
    {"gap", JSON_NUMBER | JSON_OPTIONAL, NULL},
    {"proven", JSON_TRUTH, NULL},
    {"proven_scope", JSON_TEXT | JSON_OPTIONAL, NULL},
    {"bound_by", JSON_TEXT, NULL},
    {"as_written", JSON_TRUTH | JSON_OPTIONAL, NULL},
    {"contiguous", JSON_TRUTH, NULL},
    {"algo", JSON_TEXT, NULL},
    {"seconds", JSON_NUMBER | JSON_OPTIONAL, NULL},
    {"positions", JSON_WHOLE, NULL},
    {"ideals", JSON_WHOLE, NULL},
    {"pairs", JSON_WHOLE, NULL},
    {"moves", JSON_WHOLE, NULL},
    {"objective", JSON_TEXT, NULL},
    {"sets", JSON_TEXT, NULL},
    {"communication", JSON_TEXT, NULL},
    {"passes", JSON_TEXT, NULL},
    {"pieces", JSON_WHOLE, NULL},
    {"replicate", JSON_TRUTH, NULL},
    {"pins", JSON_TEXTS, NULL},
    {"faults", JSON_TEXTS, NULL},
    {"limits", JSON_OBJECT, limit_keys},
    {"devices", JSON_OBJECTS, device_keys},
    {"pipeline", JSON_FREE_OBJECT | JSON_OPTIONAL, NULL}, /* what automap place --json adds */
    {0}};

bool place_file_is(const char *path)
{
    return file_has_schema(path, PLACE_SCHEMA);
}

static int read_document(const char *path, cJSON **root, struct err *e)
{
    struct str text = {0};
    int rc = hlo_file_read(path, PLAN_FILE_MOST, &text, e);

    if (rc)
        goto out;
    if (json_document(text.text ? text.text : "", text.size, PLACE_SCHEMA, plan_keys, root, e))
        rc = err_in_file(e, path);
out:
    str_release(&text);
    return rc;
}

/* Samples of a step, where the file says; 0: those of the model. */
static int64_t batch_of(const cJSON *root)
{
    return json_get(root, "batch") ? (int64_t)fmin(json_number(root, "batch"), BATCH_MOST) : 0;
}

int place_file_setup(const char *path, uint32_t *devices, int64_t *batch, struct err *e)
{
    cJSON *root = NULL;
    const cJSON *cluster;

    if (read_document(path, &root, e))
        return e->code;
    cluster = json_get(root, "cluster");
    *devices = cluster ? (uint32_t)fmin(json_number(cluster, "devices"), CLUSTER_DEVICES_MOST) : 0;
    *batch = batch_of(root);
    cJSON_Delete(root);
    return 0;
}

static int read_word(const cJSON *root, const char *key, const char *const *words, int count,
                     int *out, struct err *e)
{
    for (*out = 0; *out < count; ++*out) {
        if (!strcmp(words[*out], json_text(root, key)))
            return 0;
    }
    return err_set(e, ERR_INPUT, "%s: \"%.40s\" is none of those known", key, json_text(root, key));
}

static int read_question(const cJSON *root, struct place_job *job, struct err *e)
{
    int objective = 0, set = 0, communication = 0, pass = 0;
    double pieces = json_number(root, "pieces");

    if (read_word(root, "objective", place_file_objectives, 2, &objective, e) ||
        read_word(root, "sets", place_file_sets, 2, &set, e) ||
        read_word(root, "communication", place_file_communications, 3, &communication, e) ||
        read_word(root, "passes", place_file_passes, 2, &pass, e))
        return e->code;
    if (pieces < 1 || pieces > 64)
        return err_set(e, ERR_INPUT, "pieces: %.0f, expected 1 to 64", pieces);
    job->latency = objective;
    job->any_sets = set;
    job->pieces = (uint32_t)pieces;
    job->rules = (struct place_rules){(enum place_communication)communication, pass,
                                      cJSON_IsTrue(json_get(root, "replicate"))};
    return 0;
}

/* The graph that was meant: by its own fingerprint, or by those of model and cluster. */
static int check_identity(const cJSON *root, const struct problem *p, const struct place_graph *g,
                          struct err *e)
{
    uint64_t there;

    if ((p != NULL) != (json_get(root, "model") && json_get(root, "cluster")))
        return err_set(e, ERR_INPUT,
                       p ? "the plan is for an operator graph, not for a model"
                         : "the plan is for a model, not for an operator graph");
    if (p && file_identity_check(p, root, e))
        return e->code;
    if (p && (batch_of(root) ? batch_of(root) : p->training.batch_divisor) !=
                 (p->options.batch_size ? p->options.batch_size : p->training.batch_divisor))
        return err_set(e, ERR_INPUT, "the plan is for a batch of %lld, expected --batch %lld",
                       (long long)(batch_of(root) ? batch_of(root) : p->training.batch_divisor),
                       (long long)(batch_of(root) ? batch_of(root) : p->training.batch_divisor));
    if (p)
        return 0;
    if (json_fingerprint(root, "graph", &there, e))
        return e->code;
    return there == place_fingerprint(g)
               ? 0
               : err_set(e, ERR_INPUT, "the plan is for another operator graph, of %.0f nodes",
                         json_number(json_get(root, "graph"), "nodes"));
}

static int set_limits(const cJSON *root, struct place_graph *g, struct err *e)
{
    const cJSON *limits = json_get(root, "limits"), *kinds = json_get(limits, "kinds"), *kind;
    double cores = json_number(limits, "cores"), all = cores;
    uint32_t t = 0;

    if (cJSON_GetArraySize(kinds) != (int)g->types - 1)
        return err_set(e, ERR_INPUT, "limits.kinds: %d, the graph has %u",
                       cJSON_GetArraySize(kinds), g->types - 1);
    cJSON_ArrayForEach(kind, kinds) all += json_number(kind, "count");
    if (all > PLACE_DEVICES_MAX)
        return err_set(e, ERR_INPUT, "limits: %.0f devices, expected at most %d", all,
                       PLACE_DEVICES_MAX);
    cJSON_ArrayForEach(kind, kinds)
    {
        const cJSON *memory = json_get(kind, "memory_bytes");
        g->type[t].count = (uint32_t)json_number(kind, "count");
        g->type[t++].memory_bytes = cJSON_IsNumber(memory) ? memory->valuedouble : INFINITY;
    }
    g->type[t].count = (uint32_t)cores;
    return 0;
}

static int set_pins(const cJSON *root, struct place_graph *g, struct place_saved *s, struct err *e)
{
    const cJSON *pins = json_get(root, "pins"), *pin;

    s->pin = mem_try((size_t)cJSON_GetArraySize(pins) + 1, sizeof *s->pin);
    if (!s->pin)
        return err_no_memory(e, "for a placement");
    cJSON_ArrayForEach(pin, pins)
    {
        size_t size = strlen(pin->valuestring) + 1;
        if (place_pin(g, pin->valuestring, e))
            return e->code;
        s->pin[s->pins] = mem_try(size, 1);
        if (!s->pin[s->pins])
            return err_no_memory(e, "for a placement");
        memcpy(s->pin[s->pins++], pin->valuestring, size);
    }
    return 0;
}

/* ---- devices ---- */

struct named {
    int64_t id;
    uint32_t node;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static struct named *sorted_ids(const struct place_graph *g)
{
    struct named *ids = mem_try((size_t)g->nodes + 1, sizeof *ids);

    for (uint32_t v = 0; ids && v < g->nodes; v++)
        ids[v] = (struct named){g->id[v], v};
    if (ids)
        qsort(ids, g->nodes, sizeof *ids, compare_named);
    return ids;
}

static int read_nodes(const cJSON *nodes, const struct place_graph *g, const struct named *ids,
                      uint32_t device, struct placement *p, struct err *e)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, nodes)
    {
        struct named key = {(int64_t)item->valuedouble, 0};
        const struct named *hit = bsearch(&key, ids, g->nodes, sizeof *ids, compare_named);
        if (!hit)
            return err_set(e, ERR_INPUT, "devices[%u]: the graph has no node %" PRId64, device,
                           key.id);
        if (p->device[hit->node] != PLACE_NONE)
            return err_set(e, ERR_INPUT, "devices[%u]: node %" PRId64 " stands there twice", device,
                           key.id);
        p->device[hit->node] = device;
    }
    return 0;
}

/* One piece a node, in the order of the nodes, which were read. */
static int read_pieces(const cJSON *device, const struct place_graph *g, const struct named *ids,
                       uint32_t most, uint32_t d, struct placement *p, struct err *e)
{
    const cJSON *pieces = json_get(device, "pieces"), *piece = pieces ? pieces->child : NULL, *item;

    if (!pieces)
        return 0;
    if (cJSON_GetArraySize(pieces) != cJSON_GetArraySize(json_get(device, "nodes")))
        return err_set(e, ERR_INPUT, "devices[%u]: pieces: %d, expected one a node", d,
                       cJSON_GetArraySize(pieces));
    if (!p->piece && !(p->piece = mem_try((size_t)g->nodes + 1, sizeof *p->piece)))
        return err_no_memory(e, "for a placement");
    cJSON_ArrayForEach(item, json_get(device, "nodes"))
    {
        struct named key = {(int64_t)item->valuedouble, 0};
        const struct named *hit = bsearch(&key, ids, g->nodes, sizeof *ids, compare_named);
        if (piece->valuedouble < 0 || piece->valuedouble >= most)
            return err_set(e, ERR_INPUT, "devices[%u]: piece %.0f, expected less than %u", d,
                           piece->valuedouble, most);
        p->piece[hit->node] = (uint32_t)piece->valuedouble;
        piece = piece->next;
    }
    return 0;
}

static int check_node(const struct place_graph *g, const struct placement *p, uint32_t v,
                      uint32_t *of, struct err *e)
{
    uint32_t *device = &of[g->color[v]];

    if (p->device[v] == PLACE_NONE)
        return err_set(e, ERR_INPUT, "devices: node %" PRId64 " is on none", g->id[v]);
    if (*device != PLACE_NONE && *device != p->device[v])
        return err_set(e, ERR_INPUT,
                       "devices: node %" PRId64 " is on another than what it goes with", g->id[v]);
    *device = p->device[v];
    return 0;
}

/* All nodes are somewhere, those of one class together. */
static int check_classes(const struct place_graph *g, const struct placement *p, struct err *e)
{
    uint32_t *of = mem_try((size_t)g->colors + 1, sizeof *of);
    int rc = of ? 0 : err_no_memory(e, "for a placement");

    if (rc)
        return rc;
    memset(of, 0xff, g->colors * sizeof *of);
    for (uint32_t v = 0; v < g->nodes; v++) {
        rc = check_node(g, p, v, of, e);
        if (rc)
            break;
    }
    free(of);
    return rc;
}

static int read_devices(const cJSON *root, const struct place_graph *g, const struct place_job *job,
                        struct placement *p, struct err *e)
{
    const cJSON *devices = json_get(root, "devices"), *item;
    struct named *ids = sorted_ids(g);
    uint32_t d = 0;
    int rc = ids ? 0 : err_no_memory(e, "for a placement");

    if (rc)
        goto out;
    rc = cJSON_GetArraySize(devices) == (int)p->devices
             ? 0
             : err_set(e, ERR_INPUT, "devices: %d, expected %u", cJSON_GetArraySize(devices),
                       p->devices);
    if (rc)
        goto out;
    memset(p->device, 0xff, g->nodes * sizeof *p->device);
    cJSON_ArrayForEach(item, devices)
    {
        const cJSON *copies = json_get(item, "copies"), *stage = json_get(item, "stage");
        p->copies[d] = copies ? (uint32_t)fmin(copies->valuedouble, p->devices) : 0;
        p->stage[d] =
            stage && stage->valuedouble < p->devices ? (uint32_t)stage->valuedouble : PLACE_NONE;
        rc = read_nodes(json_get(item, "nodes"), g, ids, d, p, e);
        if (rc)
            goto out;
        rc = job->latency ? read_pieces(item, g, ids, job->pieces, d, p, e) : 0;
        if (rc)
            goto out;
        d++;
    }
    rc = check_classes(g, p, e);
    if (rc)
        goto out;
    rc = placement_check_copies(p, g, e);
out:
    free(ids);
    return rc;
}

/* ---- the whole ---- */

static int price(const struct place_graph *g, struct place_saved *s, struct err *e)
{
    struct placement *p = s->plan;
    struct place_look *look;

    s->load = mem_try((size_t)p->devices + 1, sizeof *s->load);
    if (!s->load)
        return err_no_memory(e, "for a placement");
    if (placement_value(p, g, &s->job.rules, s->load, e))
        return e->code;
    if (s->job.latency) { /* its pieces, in their order; else those of a split */
        int rc = place_latency_value(g, p, p->piece != NULL, &p->value_ms, e);
        if (!rc && !isfinite(p->value_ms))
            rc = err_set(e, ERR_INPUT, "devices: pieces wait for each other in a circle");
        return rc;
    }
    if (!p->contiguous)
        return 0;
    if (place_look_new(g, &s->job.rules, p, &look, e))
        return e->code;
    bool is_chain = place_look_is_chain(look, NULL);
    place_look_free(look);
    return is_chain ? 0
                    : err_set(e, ERR_INPUT,
                              "contiguous: true, but forward edges lead both ways "
                              "between its devices");
}

static int read_answer(const cJSON *root, const struct place_graph *g, struct place_saved *s,
                       struct err *e)
{
    struct placement *p = s->plan;
    double value = json_number(root, "value_ms");

    if (json_copy_text(root, "algo", s->algo, sizeof s->algo, e) ||
        json_copy_text(root, "bound_by", s->bound_by, sizeof s->bound_by, e))
        return e->code;
    p->algo = s->algo;
    p->bound_by = s->bound_by;
    p->contiguous = cJSON_IsTrue(json_get(root, "contiguous"));
    p->positions = (uint32_t)fmin(json_number(root, "positions"), UINT32_MAX);
    p->ideals = (uint32_t)fmin(json_number(root, "ideals"), UINT32_MAX);
    p->pairs = (uint64_t)json_number(root, "pairs");
    p->moves = (uint64_t)json_number(root, "moves");
    if (price(g, s, e))
        return e->code;
    p->written_in = s->path;
    p->bound_ms = fmax(0, json_number(root, "bound_ms"));
    /* What was proven was proven of the value then. */
    p->proven = cJSON_IsTrue(json_get(root, "proven")) &&
                fabs(value - p->value_ms) <= 1e-9 * fabs(p->value_ms);
    return 0;
}

static int read_plan(const cJSON *root, const struct problem *p, struct place_graph *g,
                     struct place_saved *s, struct err *e)
{
    if (check_identity(root, p, g, e) || read_question(root, &s->job, e) ||
        set_limits(root, g, e) || set_pins(root, g, s, e) || placement_new(g, &s->plan, e))
        return e->code;
    return read_devices(root, g, &s->job, s->plan, e) ? e->code : read_answer(root, g, s, e);
}

int place_file_parse(const char *text, size_t size, const char *path, const struct problem *p,
                     struct place_graph *g, struct place_saved **out, struct err *e)
{
    struct place_saved *s = mem_try(1, sizeof *s);
    cJSON *root = NULL;
    int rc = 0;

    if (s)
        s->path = mem_try(strlen(path) + 1, 1);
    if (!s || !s->path) {
        rc = err_no_memory(e, "for a placement");
        goto out;
    }
    memcpy(s->path, path, strlen(path) + 1);
    rc = json_document(text, size, PLACE_SCHEMA, plan_keys, &root, e);
    if (rc)
        goto out;
    rc = read_plan(root, p, g, s, e);
out:
    cJSON_Delete(root);
    if (rc)
        place_saved_free(s);
    else
        *out = s;
    return rc;
}

int place_file_load(const char *path, const struct problem *p, struct place_graph *g,
                    struct place_saved **out, struct err *e)
{
    struct str text = {0};
    int rc = hlo_file_read(path, PLAN_FILE_MOST, &text, e);

    if (rc)
        goto out;
    if (place_file_parse(text.text ? text.text : "", text.size, path, p, g, out, e))
        rc = err_in_file(e, path);
out:
    str_release(&text);
    return rc;
}

void place_saved_free(struct place_saved *s)
{
    if (!s)
        return;
    placement_free(s->plan);
    free(s->load);
    free(s->path);
    for (uint32_t i = 0; i < s->pins; i++)
        free(s->pin[i]);
    free(s->pin);
    free(s);
}
