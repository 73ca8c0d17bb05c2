/* engine/pipeline/links.h - the links between two neighbouring stages of a pipeline.
 *
 * Devices [a, m) hold a value in m - a equal slices, sender i the i-th; [m, b) want it in b - m,
 * receiver k the k-th. What overlaps is sent. A server's network card carries what crosses; the
 * only server that can hold senders and receivers is that of device m - 1, where each device has
 * its own link. The busiest of them decides. The way back takes as long. Latency is the file's, or
 * on links with `protocol: nccl` NCCL's by size, as of a permute (cluster/collectives.h). */
#ifndef AUTOMAP_ENGINE_PIPELINE_LINKS_H
#define AUTOMAP_ENGINE_PIPELINE_LINKS_H

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "hlo/support/err.h"

/* Devices [a, m) send to [m, b), each replica its slices: the busiest network card, or the busiest
 * device's link where both are in one server. The way back takes as long. */
struct pipe_link {
    double ms_per_byte;              /* of the micro-batch that crosses */
    struct collective_lines by_size; /* of its latency, and what a protocol leaves of the rate */
};

double pipe_link_ms(const struct pipe_link *l, double bytes);

/* For one sum over links of several kinds: the larger ms_per_byte, and of by_size the lines of the
 * one whose first has the larger latency. */
static inline void pipe_link_worsen(struct pipe_link *worst, const struct pipe_link *l)
{
    if (l->ms_per_byte > worst->ms_per_byte)
        worst->ms_per_byte = l->ms_per_byte;
    if (!worst->by_size.count || l->by_size.line[0].ms > worst->by_size.line[0].ms)
        worst->by_size = l->by_size;
}

struct pipe_links {
    uint32_t devices, servers;
    uint32_t *server_of;     /* [devices] */
    uint32_t *boundary;      /* [servers + 1] first device of each server, then devices */
    struct pipe_rates *rate; /* [servers] */
    struct pipe_load *card;  /* [servers] scratch: not thread-safe */
    double latency_across;
};

int pipe_links_new(struct pipe_links *out, const struct cluster *c, struct err *e) MUST_CHECK;
/* a < m < b <= devices. O(b - a). */
struct pipe_link pipe_links_between(const struct pipe_links *l, uint32_t a, uint32_t m, uint32_t b);
void pipe_links_release(struct pipe_links *l);

#endif
