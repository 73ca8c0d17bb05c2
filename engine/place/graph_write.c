#include "engine/place/graph_file.h"
#include "engine/place/operator_graph.h"
#include "hlo/support/mem.h"

#include <inttypes.h>

static void write_types(const struct place_graph *g, struct str *out)
{
    uint32_t kinds = g->types - 1;

    if (kinds == 1) {
        str_format(out, "\"maxSizePerFPGA\": %.17g, \"maxFPGAs\": %u, ", g->type[0].memory_bytes,
                   g->type[0].count);
    } else {
        str_add(out, "\"kinds\": [");
        for (uint32_t t = 0; t < kinds; t++) {
            str_add(out, t ? ", {\"name\": " : "{\"name\": ");
            str_add_quoted(out, g->type[t].name);
            str_format(out, ", \"count\": %u, \"memory\": %.17g}", g->type[t].count,
                       g->type[t].memory_bytes);
        }
        str_add(out, "], ");
    }
    str_format(out, "\"maxCPUs\": %u", g->type[kinds].count);
    if (g->per_server)
        str_format(out, ", \"perServer\": %u", g->per_server);
    if (g->sync_ms_per_byte > 0)
        str_format(out, ", \"syncPerByte\": %.17g", g->sync_ms_per_byte);
    if (g->sync_far_ms_per_byte > 0)
        str_format(out, ", \"syncPerByteFar\": %.17g", g->sync_far_ms_per_byte);
}

static void write_node(const struct place_graph *g, uint32_t v, struct str *out)
{
    uint32_t kinds = g->types - 1;

    str_format(out, "{\"id\": %" PRId64 ", \"supportedOnFpga\": %d, \"cpuLatency\": %.17g",
               g->id[v], g->supported[v], place_time(g, kinds, v));
    if (kinds == 1)
        str_format(out, ", \"fpgaLatency\": %.17g", place_time(g, 0, v));
    else
        str_add(out, ", \"latencies\": [");
    for (uint32_t t = 0; kinds != 1 && t < kinds; t++)
        str_format(out, t ? ", %.17g" : "%.17g", place_time(g, t, v));
    if (kinds != 1)
        str_add(out, "]");
    str_format(out, ", \"isBackwardNode\": %d, \"colorClass\": %u, \"size\": %.17g", g->backward[v],
               g->color[v], g->bytes[v]);
    if (g->name[v]) {
        str_add(out, ", \"name\": ");
        str_add_quoted(out, g->name[v]);
    }
    str_add(out, "}");
}

void place_graph_write(const struct place_graph *g, struct str *out)
{
    str_add(out, "{");
    write_types(g, out);
    str_add(out, ",\n\"nodes\": [");
    for (uint32_t v = 0; v < g->nodes; v++) {
        str_add(out, v ? ",\n" : "\n");
        write_node(g, v, out);
    }
    str_add(out, "],\n\"edges\": [");
    for (uint32_t v = 0, first = 1; v < g->nodes; v++) {
        for (uint32_t i = g->user_at[v]; i < g->user_at[v + 1]; i++, first = 0) {
            str_format(out,
                       "%s{\"sourceId\": %" PRId64 ", \"destId\": %" PRId64 ", \"cost\": %.17g",
                       first ? "\n" : ",\n", g->id[v], g->id[g->user[i]], g->send_ms[v]);
            if (g->far_ms && g->far_ms[v] != g->send_ms[v])
                str_format(out, ", \"costFar\": %.17g", g->far_ms[v]);
            str_add(out, "}");
        }
    }
    str_add(out, "]}\n");
}
