#include "engine/place/place_file.h"

#include "engine/cluster/cluster.h"
#include "engine/place/latency.h"
#include "engine/place/look.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_file_words.h"
#include "engine/place/placement.h"
#include "engine/plan/file_identity.h"
#include "engine/plan/plan_file.h"
#include "engine/problem/problem.h"
#include "engine/text/json_check.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const faults[] = {"memory", "kind", "pin", "apart"};

static void add_faults(cJSON *o, uint32_t broken)
{
    cJSON *all = cJSON_AddArrayToObject(o, "faults");

    for (uint32_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        if (broken >> k & 1)
            cJSON_AddItemToArray(all, cJSON_CreateString(faults[k]));
    }
}

static void add_question(const struct place_document *d, cJSON *o)
{
    const struct place_job *job = d->job;
    cJSON *pins;

    cJSON_AddStringToObject(o, "objective", place_file_objectives[job->latency]);
    cJSON_AddStringToObject(o, "sets", place_file_sets[job->any_sets]);
    cJSON_AddStringToObject(o, "communication",
                            place_file_communications[job->rules.communication]);
    cJSON_AddStringToObject(o, "passes", place_file_passes[job->rules.apart]);
    cJSON_AddNumberToObject(o, "pieces", job->pieces ? job->pieces : 1);
    cJSON_AddBoolToObject(o, "replicate", job->rules.replicate);
    pins = cJSON_AddArrayToObject(o, "pins");
    for (uint32_t i = 0; i < d->pins; i++)
        cJSON_AddItemToArray(pins, cJSON_CreateString(d->pin[i]));
}

static void add_answer(const struct place_document *d, bool with_seconds, cJSON *o)
{
    const struct place_job *job = d->job;
    const struct placement *p = d->plan;
    bool in_turn = !job->any_sets && place_servers_count(d->graph);
    char scope[160];
    bool counts = job->target_ms > 0; /* what is proven is how few accelerators reach it */

    if (counts)
        snprintf(scope, sizeof scope,
                 "fewest accelerators of contiguous placements that reach %g ms, under the rules "
                 "and pins here",
                 job->target_ms);
    else if (job->latency)
        snprintf(scope, sizeof scope,
                 "latency of placements with at most %u pieces an accelerator, under the rules and "
                 "pins here",
                 job->pieces);
    else
        snprintf(scope, sizeof scope,
                 "throughput of %s placements of this graph%s, under the rules and pins here",
                 job->any_sets ? "all" : "contiguous", in_turn ? ", servers in turn" : "");
    cJSON_AddNumberToObject(o, "value_ms", p->value_ms);
    cJSON_AddNumberToObject(o, "bound_ms", p->bound_ms);
    if (p->bound_ms > 0 && !counts)
        cJSON_AddNumberToObject(o, "gap", p->proven ? 0 : p->value_ms / p->bound_ms - 1);
    cJSON_AddBoolToObject(o, "proven", p->proven);
    cJSON_AddStringToObject(o, "proven_scope", scope);
    if (p->written_in)
        cJSON_AddBoolToObject(o, "as_written", true);
    cJSON_AddStringToObject(o, "bound_by", p->bound_by ? p->bound_by : "nothing");
    cJSON_AddBoolToObject(o, "contiguous", p->contiguous);
    cJSON_AddStringToObject(o, "algo", p->algo);
    if (with_seconds)
        cJSON_AddNumberToObject(o, "seconds", p->seconds);
    cJSON_AddNumberToObject(o, "positions", p->positions);
    cJSON_AddNumberToObject(o, "ideals", p->ideals);
    cJSON_AddNumberToObject(o, "pairs", (double)p->pairs);
    cJSON_AddNumberToObject(o, "moves", (double)p->moves);
}

/* Its load: that of copies is shared, and passes apart are added up. */
static double load_of(const struct place_document *d, uint32_t device)
{
    uint32_t c = d->plan->copies[device] ? d->plan->copies[device] : 1;

    return place_device_ms(d->graph, &d->job->rules, &d->load[device], c);
}

static cJSON *device_json(const struct place_document *d, uint32_t device)
{
    const struct place_graph *g = d->graph;
    const struct place_load *l = &d->load[device];
    cJSON *o = cJSON_CreateObject();
    char name[16];

    cJSON_AddStringToObject(o, "name", place_device_name(g, device, name));
    cJSON_AddStringToObject(o, "kind", g->type[place_type_of(g, device)].name);
    if (d->plan->copies[device] > 1)
        cJSON_AddNumberToObject(o, "copies", d->plan->copies[device]);
    if (d->plan->stage[device] != PLACE_NONE)
        cJSON_AddNumberToObject(o, "stage", d->plan->stage[device]);
    cJSON_AddNumberToObject(o, "load_ms", load_of(d, device));
    cJSON_AddNumberToObject(o, "compute_ms", l->compute_ms[0] + l->compute_ms[1]);
    cJSON_AddNumberToObject(o, "in_ms", l->in_ms[0] + l->in_ms[1]);
    cJSON_AddNumberToObject(o, "out_ms", l->out_ms[0] + l->out_ms[1]);
    cJSON_AddNumberToObject(o, "memory_bytes", l->bytes);
    return o;
}

/* Pieces that are not found again from the devices alone, as the search was asked to have them. */
static bool has_pieces(const struct place_document *d)
{
    uint32_t pieces = placement_pieces(d->plan);

    return d->job->latency && pieces > 1 && pieces <= d->job->pieces;
}

static void add_devices(const struct place_document *d, cJSON *o)
{
    cJSON *devices = cJSON_AddArrayToObject(o, "devices");
    cJSON **nodes = mem_try(2 * (size_t)d->plan->devices + 1, sizeof *nodes);
    cJSON **pieces = nodes + d->plan->devices;
    bool several = has_pieces(d);
    char text[24];

    if (!nodes)
        return;
    for (uint32_t k = 0; k < d->plan->devices; k++) {
        cJSON *device = device_json(d, k);
        cJSON_AddItemToArray(devices, device);
        nodes[k] = cJSON_AddArrayToObject(device, "nodes");
        pieces[k] = several ? cJSON_AddArrayToObject(device, "pieces") : NULL;
    }
    for (uint32_t v = 0; v < d->graph->nodes; v++) {
        uint32_t k = d->plan->device[v];
        snprintf(text, sizeof text, "%" PRId64, d->graph->id[v]);
        cJSON_AddItemToArray(nodes[k], cJSON_CreateRaw(text));
        if (several)
            cJSON_AddItemToArray(pieces[k], cJSON_CreateNumber(d->plan->piece[v]));
    }
    free(nodes);
}

static void add_transfer(const struct place_document *d, const struct place_limit *l, cJSON *o)
{
    const struct place_graph *g = d->graph;
    cJSON *t;
    char text[24];

    if (l->node == PLACE_NONE)
        return;
    t = cJSON_AddObjectToObject(o, "transfer");
    snprintf(text, sizeof text, "%" PRId64, g->id[l->node]);
    cJSON_AddRawToObject(t, "node", text);
    if (g->name[l->node])
        cJSON_AddStringToObject(t, "name", g->name[l->node]);
    cJSON_AddStringToObject(t, "direction", d->plan->device[l->node] == l->device ? "out" : "in");
    cJSON_AddNumberToObject(t, "ms", l->transfer_ms);
}

static void add_limits(const struct place_document *d, cJSON *out)
{
    const struct place_graph *g = d->graph;
    cJSON *o = cJSON_AddObjectToObject(out, "limits"), *kinds;
    struct place_limit l = place_find_limit(g, &d->job->rules, d->plan, d->load);
    char name[16];

    if (!d->job->latency && l.device != PLACE_NONE) {
        cJSON_AddStringToObject(o, "device", place_device_name(g, l.device, name));
        add_transfer(d, &l, o);
    }
    cJSON_AddNumberToObject(o, "memory_bytes", g->type[0].memory_bytes);
    cJSON_AddNumberToObject(o, "accelerators", place_devices(g) - g->type[g->types - 1].count);
    cJSON_AddNumberToObject(o, "cores", g->type[g->types - 1].count);
    kinds = cJSON_AddArrayToObject(o, "kinds");
    for (uint32_t t = 0; t + 1 < g->types; t++) {
        cJSON *kind = cJSON_CreateObject();
        cJSON_AddStringToObject(kind, "name", g->type[t].name);
        cJSON_AddNumberToObject(kind, "count", g->type[t].count);
        cJSON_AddNumberToObject(kind, "memory_bytes", g->type[t].memory_bytes);
        cJSON_AddItemToArray(kinds, kind);
    }
}

cJSON *place_json(const struct place_document *d, bool with_seconds)
{
    cJSON *o = cJSON_CreateObject(), *graph;

    cJSON_AddStringToObject(o, "schema", PLACE_SCHEMA);
    if (d->problem)
        file_identity_add(d->problem, o);
    if (d->problem && d->problem->options.batch_size)
        cJSON_AddNumberToObject(o, "batch", (double)d->problem->options.batch_size);
    graph = cJSON_AddObjectToObject(o, "graph");
    cJSON_AddNumberToObject(graph, "nodes", d->graph->nodes);
    cJSON_AddNumberToObject(graph, "edges", d->graph->edges);
    file_fingerprint_add(graph, d->fingerprint);
    cJSON_AddNumberToObject(o, "nodes", d->graph->nodes);
    add_answer(d, with_seconds, o);
    add_question(d, o);
    add_faults(o, d->plan->faults);
    add_limits(d, o);
    add_devices(d, o);
    return o;
}

int place_file_save(const struct place_document *d, const char *path, struct err *e)
{
    for (uint32_t v = 0; v < d->graph->nodes; v++) {
        int64_t id = d->graph->id[v];
        if (id > PLACE_FILE_ID_MOST || id < -PLACE_FILE_ID_MOST) {
            err_set(e, ERR_LIMIT, "node %" PRId64 ": ids of a plan file end at 2^53", id);
            return err_in_file(e, path);
        }
    }
    return file_json_save(place_json(d, false), path, e);
}
