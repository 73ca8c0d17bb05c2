#include "engine/place/graph_layers.h"

#include "engine/place/operator_graph.h"
#include "hlo/meaning/scope.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LAYERS_MOST = 256, NODES_LEAST = 3 };

/* The name as a path of modules: dots part them too. */
static size_t path_of(const char *name, char out[static PLACE_NAME_ROOM])
{
    size_t size = 0;

    for (; name[size] && size + 1 < PLACE_NAME_ROOM; size++)
        out[size] = name[size] == '.' ? '/' : name[size];
    out[size] = 0;
    return size;
}

/* What the paths of all nodes begin with, up to a '/'; those without one do not count. */
static size_t common_prefix(const struct place_graph *g, char out[static PLACE_NAME_ROOM])
{
    char path[PLACE_NAME_ROOM];
    size_t size = 0;
    bool any = false;

    for (uint32_t v = 0; v < g->nodes; v++) {
        size_t same = 0, whole = g->name[v] ? path_of(g->name[v], path) : 0;
        if (!whole || !memchr(path, '/', whole))
            continue;
        if (!any) {
            memcpy(out, path, whole + 1);
            size = whole;
            any = true;
        }
        while (same < size && path[same] == out[same])
            same++;
        size = same;
    }
    while (size && out[size - 1] != '/')
        size--;
    out[size] = 0;
    return size;
}

/* The last two parts of a layer's path: "layer 0" where the last is a number. */
static void write_layer(const char *path, size_t size, char out[static PLACE_NAME_ROOM])
{
    size_t last = size, first;

    while (last && path[last - 1] != '/')
        last--;
    first = last ? last - 1 : 0;
    while (first && path[first - 1] != '/')
        first--;
    snprintf(out, PLACE_NAME_ROOM, "%.*s", (int)(size - first), path + first);
    if (last > first && isdigit((unsigned char)path[last]))
        out[last - 1 - first] = ' ';
}

/* "" where the name says nothing. */
static void layer_of(const char *name, size_t prefix, char out[static PLACE_NAME_ROOM])
{
    char path[PLACE_NAME_ROOM];
    size_t size = path_of(name, path), layer;

    out[0] = 0;
    if (!memchr(path, '/', size) || size <= prefix)
        return;
    layer = hlo_layer_of_path(path + prefix, size - prefix);
    if (layer)
        write_layer(path + prefix, layer, out);
    else if (memchr(path + prefix, '/', size - prefix))
        snprintf(out, PLACE_NAME_ROOM, "%.*s", (int)strcspn(path + prefix, "/"), path + prefix);
}

int place_graph_name_layers(struct place_graph *g, struct err *e)
{
    char prefix[PLACE_NAME_ROOM], text[PLACE_NAME_ROOM];
    const char *layer[LAYERS_MOST];
    uint32_t of[LAYERS_MOST] = {0}, layers = 0;
    size_t skipped = common_prefix(g, prefix);

    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t k = 0;
        if (g->name[v])
            layer_of(g->name[v], skipped, text);
        if (!g->name[v] || !text[0])
            continue;
        while (k < layers && strcmp(layer[k], text) != 0)
            k++;
        if (k == LAYERS_MOST)
            continue;
        if (k == layers && !(layer[layers++] = arena_text(&g->arena, text, strlen(text))))
            return err_no_memory(e, "for this graph");
        g->layer[v] = layer[k];
        of[k]++;
    }
    for (uint32_t v = 0; v < g->nodes; v++) {
        for (uint32_t k = 0; k < layers && g->layer[v]; k++) {
            if (g->layer[v] == layer[k] && of[k] < NODES_LEAST)
                g->layer[v] = NULL;
        }
    }
    return 0;
}
