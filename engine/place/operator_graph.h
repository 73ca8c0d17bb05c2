/* engine/place/operator_graph.h - the operator graph of a network with what its nodes cost on each
 * kind of device: the input of device placement (Tarnawski et al., arXiv 2006.16423).
 *
 * A node is an operator or a layer. An edge carries the source's output to a user; moving that
 * output between an accelerator and host memory takes send_ms, whoever and however many use it.
 * Times are in ms, sizes in bytes. Immutable once checked; freed with place_graph_free. */
#ifndef AUTOMAP_ENGINE_PLACE_OPERATOR_GRAPH_H
#define AUTOMAP_ENGINE_PLACE_OPERATOR_GRAPH_H

#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PLACE_TYPES_MAX = 6,       /* kinds of devices, the host's cores among them */
    PLACE_DEVICES_MAX = 4096,  /* of all kinds together */
    PLACE_NODES_MAX = 1 << 22, /* a file with more is refused */
    PLACE_EDGES_MAX = 1 << 24,
    PLACE_NAME_ROOM = 96,
    PLACE_PINS_MAX = 64, /* pairs apart, and devices that nodes are pinned to */
};

#define PLACE_NONE UINT32_MAX

/* Equal devices. The last type of a graph is the host's cores: they work on host memory, so
 * nothing is paid to bring a value there, no node's size counts, and every node may be there. */
struct place_type {
    char name[32];
    uint32_t count;
    double memory_bytes; /* of one device; INFINITY on the host */
    bool is_host;
};

struct place_graph {
    uint32_t nodes, edges;
    /* by node */
    int64_t *id;        /* unique, ascending or not */
    const char **name;  /* or NULL */
    const char **layer; /* part of the model, equal ones the same text; NULL: unknown. For people */
    double *time_ms;    /* [type * nodes + node] */
    double *bytes;      /* memory on an accelerator */
    double *send_ms;    /* of its output, one end; 0 when nobody uses it */
    double *far_ms;     /* the same to another server; NULL: one server, or equal */
    uint32_t *color;    /* dense classes of nodes that must be on one device */
    int64_t *file_class; /* the file's number of that class, as the published code numbers them;
                            NULL: not from a file. Only an order of theirs asks for it. */
    bool *supported;     /* on accelerators */
    bool *backward;
    uint32_t *user_at; /* [nodes + 1]: users of node v are user[user_at[v] .. user_at[v + 1]) */
    uint32_t *user;    /* [edges] */
    uint32_t *order;   /* a topological order of the nodes, by ids where free */
    uint32_t colors;
    bool training; /* some node is backward */

    /* What a person asked for (place_pin_*), and what follows from `supported`. */
    uint8_t *allowed; /* by node: bit t when it may be on type t */
    uint32_t *fixed;  /* by node: its device, or PLACE_NONE */
    uint32_t *apart;  /* pairs of nodes that may not share a device */
    uint32_t aparts;

    uint32_t types;
    struct place_type type[PLACE_TYPES_MAX];
    uint32_t per_server;         /* accelerators of one server; 0: all on one */
    double sync_ms_per_byte;     /* of a replicated stage's weights, each way; 0: free */
    double sync_far_ms_per_byte; /* of copies that may be on several servers; 0: as on one */

    struct arena arena; /* holds all of the above */
};

/* ---- making one ---- */

/* Arrays for so many nodes, zeroed but for color, which is PLACE_NONE: a class of its own.
 * ERR_MEMORY. */
int place_graph_new(uint32_t nodes, uint32_t types, struct place_graph **out,
                    struct err *e) MUST_CHECK;

/* Takes the edges (parallel ones join), makes colors dense and fills user_at, user, order. Errors
 * name nodes by their ids: a cycle, a backward node before a forward one, a self-loop (ERR_INPUT).
 * `culprit`, when not NULL, is the index of the edge at fault, of a cycle its last one; else
 * PLACE_NONE.
 * O((nodes + edges) log). */
int place_graph_connect(struct place_graph *g, const uint32_t *from, const uint32_t *to,
                        uint32_t edges, uint32_t *culprit, struct err *e) MUST_CHECK;

void place_graph_free(struct place_graph *g); /* NULL is fine */

/* ---- looking at one ---- */

static inline uint32_t place_devices(const struct place_graph *g)
{
    uint32_t all = 0;
    for (uint32_t t = 0; t < g->types; t++)
        all += g->type[t].count;
    return all;
}
/* Servers that count: 0 where there is one, they cost nothing, or a kind does not fill them. */
static inline uint32_t place_servers_count(const struct place_graph *g)
{
    uint32_t all = 0;
    for (uint32_t t = 0; t + 1 < g->types; t++) {
        if (!g->per_server || !g->far_ms || g->type[t].count % g->per_server)
            return 0;
        all += g->type[t].count / g->per_server;
    }
    return all;
}
/* Several servers that a kind does not fill: which of them copies of a stage share is not asked. */
static inline bool place_servers_uneven(const struct place_graph *g)
{
    uint32_t accelerators = place_devices(g) - g->type[g->types - 1].count;
    return g->per_server && g->far_ms && accelerators > g->per_server && !place_servers_count(g);
}
/* Devices are numbered type after type. */
static inline uint32_t place_type_of(const struct place_graph *g, uint32_t device)
{
    uint32_t t = 0;
    while (t + 1 < g->types && device >= g->type[t].count)
        device -= g->type[t++].count;
    return t;
}
static inline double place_time(const struct place_graph *g, uint32_t type, uint32_t node)
{
    return g->time_ms[(size_t)type * g->nodes + node];
}
/* A, B .. Z, AA ..; the host's cores are h, h2 .. Writes at most 16 bytes, returns out. */
char *place_device_name(const struct place_graph *g, uint32_t device, char out[static 16]);
/* A node for messages: its name, cut at its end where it is long, or its number. */
struct place_who {
    char text[56];
};
struct place_who place_who(const struct place_graph *g, uint32_t node);

/* Over all figures and edges, not names: the same graph, the same 64 bits. */
uint64_t place_fingerprint(const struct place_graph *g);

#endif
