#include "engine/place/place_json.h"

#include "engine/place/graph.h"
#include "engine/place/nets.h"
#include "engine/place/placement.h"

#include <math.h>

static const char *const communications[] = {"sum", "max", "duplex"};

static void add_faults(cJSON *o, uint32_t faults)
{
    static const char *const names[] = {"memory", "kind", "pin", "apart"};
    cJSON *all = cJSON_AddArrayToObject(o, "faults");

    for (uint32_t k = 0; k < 4; k++) {
        if (faults >> k & 1)
            cJSON_AddItemToArray(all, cJSON_CreateString(names[k]));
    }
}

static cJSON *device_json(const struct place_graph *g, const struct place_job *job,
                          const struct placement *p, const struct place_load *load, uint32_t d)
{
    const struct place_load *l = &load[d];
    cJSON *o = cJSON_CreateObject(), *nodes;
    uint32_t c = p->copies[d] ? p->copies[d] : 1;
    char name[16];

    cJSON_AddStringToObject(o, "name", place_device_name(g, d, name));
    cJSON_AddStringToObject(o, "kind", g->type[place_type_of(g, d)].name);
    if (c > 1)
        cJSON_AddNumberToObject(o, "copies", c);
    if (p->stage[d] != PLACE_NONE)
        cJSON_AddNumberToObject(o, "stage", p->stage[d]);
    cJSON_AddNumberToObject(o, "load_ms",
                            place_load_ms(&job->rules, l) / c + place_sync_ms(g, l->bytes, c));
    cJSON_AddNumberToObject(o, "compute_ms", l->compute_ms[0] + l->compute_ms[1]);
    cJSON_AddNumberToObject(o, "in_ms", l->in_ms[0] + l->in_ms[1]);
    cJSON_AddNumberToObject(o, "out_ms", l->out_ms[0] + l->out_ms[1]);
    cJSON_AddNumberToObject(o, "memory_bytes", l->bytes);
    nodes = cJSON_AddArrayToObject(o, "nodes");
    for (uint32_t v = 0; v < g->nodes; v++) {
        if (p->device[v] == d)
            cJSON_AddItemToArray(nodes, cJSON_CreateNumber((double)g->id[v]));
    }
    return o;
}

cJSON *place_json(const struct place_graph *g, const struct place_job *job,
                  const struct placement *p, const struct place_load *load)
{
    cJSON *o = cJSON_CreateObject(), *devices, *limits;
    char hex[24];

    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)place_fingerprint(g));
    cJSON_AddStringToObject(o, "schema", "automap-place-1");
    cJSON_AddStringToObject(o, "fingerprint", hex);
    cJSON_AddNumberToObject(o, "nodes", g->nodes);
    cJSON_AddNumberToObject(o, "edges", g->edges);
    cJSON_AddNumberToObject(o, "value_ms", p->value_ms);
    cJSON_AddNumberToObject(o, "bound_ms", p->bound_ms);
    if (p->bound_ms > 0)
        cJSON_AddNumberToObject(o, "gap", p->value_ms / p->bound_ms - 1);
    cJSON_AddBoolToObject(o, "proven", p->proven);
    cJSON_AddStringToObject(o, "bound_by", p->bound_by ? p->bound_by : "nothing");
    cJSON_AddBoolToObject(o, "contiguous", p->contiguous);
    cJSON_AddStringToObject(o, "objective", job->latency ? "latency" : "throughput");
    cJSON_AddStringToObject(o, "communication", communications[job->rules.communication]);
    cJSON_AddStringToObject(o, "passes", job->rules.apart ? "apart" : "together");
    cJSON_AddStringToObject(o, "algo", p->algo);
    cJSON_AddNumberToObject(o, "seconds", p->seconds);
    cJSON_AddNumberToObject(o, "positions", p->positions);
    cJSON_AddNumberToObject(o, "ideals", p->ideals);
    cJSON_AddNumberToObject(o, "pairs", (double)p->pairs);
    cJSON_AddNumberToObject(o, "moves", (double)p->moves);
    add_faults(o, p->faults);
    devices = cJSON_AddArrayToObject(o, "devices");
    for (uint32_t d = 0; d < p->devices; d++)
        cJSON_AddItemToArray(devices, device_json(g, job, p, load, d));
    limits = cJSON_AddObjectToObject(o, "limits");
    cJSON_AddNumberToObject(limits, "memory_bytes", g->type[0].memory_bytes);
    cJSON_AddNumberToObject(limits, "accelerators", place_devices(g) - g->type[g->types - 1].count);
    cJSON_AddNumberToObject(limits, "cores", g->type[g->types - 1].count);
    return o;
}
