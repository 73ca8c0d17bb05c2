#include "engine/pipeline/links.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* What one server's card and one device's link take, ms per byte. */
struct pipe_rates {
    double card_ms, step_ms;
    double latency_ms; /* inside */
    bool nccl;
};

/* Parts of a micro-batch. */
struct pipe_load {
    double out, in;
};

int pipe_links_new(struct pipe_links *out, const struct cluster *c, struct err *e)
{
    struct pipe_links l = {
        .devices = c->devices, .servers = c->servers, .latency_across = c->network_latency_ms};
    struct mesh_span span;

    l.server_of = mem_try(c->devices, sizeof *l.server_of);
    l.boundary = mem_try((size_t)c->servers + 1, sizeof *l.boundary);
    l.rate = mem_try(c->servers, sizeof *l.rate);
    l.card = mem_try(c->servers, sizeof *l.card);
    if (!l.server_of || !l.boundary || !l.rate || !l.card) {
        pipe_links_release(&l);
        return err_no_memory(e, "for the links between %u devices", c->devices);
    }
    for (uint32_t d = 0, server = 0; d < c->devices; d++) {
        l.server_of[d] = cluster_server_of(c, d);
        if (!d || l.server_of[d] != l.server_of[d - 1])
            l.boundary[server++] = d;
    }
    l.boundary[c->servers] = c->devices;
    for (uint32_t s = 0; s < c->servers; s++) {
        uint32_t group = cluster_group_of(c, l.boundary[s]);
        mesh_span_between(&span, c, l.boundary[s], l.boundary[s + 1]);
        l.rate[s].card_ms = 1e3 / cluster_network_of(c, group);
        l.rate[s].step_ms = span.shift_inside;
        l.rate[s].latency_ms = span.latency_inside_ms;
        l.rate[s].nccl = c->group[group].link.nccl;
    }
    *out = l;
    return 0;
}

void pipe_links_release(struct pipe_links *l)
{
    free(l->server_of);
    free(l->boundary);
    free(l->rate);
    free(l->card);
    memset(l, 0, sizeof *l);
}

static double busiest(const struct pipe_load *l, double ms_per_byte)
{
    return fmax(l->out, l->in) * ms_per_byte;
}

/* Walks along the overlaps of the slices. */
struct pipe_link pipe_links_between(const struct pipe_links *l, uint32_t a, uint32_t m, uint32_t b)
{
    uint32_t senders = m - a, receivers = b - m, shared = l->server_of[m - 1];
    uint32_t first = l->server_of[a], last = l->server_of[b - 1];
    double whole = (double)senders * receivers, moved_in = 0;
    struct pipe_load *card = l->card, step = {0};
    struct mesh_span path = {.devices = 2, .inside = 1, .servers = 1}; /* of one sender */
    struct pipe_link link = {0};

    memset(card + first, 0, (last - first + 1) * sizeof *card);
    for (uint32_t i = 0, k = 0, at = 0; i < senders && k < receivers;) {
        uint32_t send_end = (i + 1) * receivers, receive_end = (k + 1) * senders;
        uint32_t end = send_end < receive_end ? send_end : receive_end;
        double part = (end - at) / whole;
        uint32_t from = l->server_of[a + i], to = l->server_of[m + k];
        if (from == to) {
            step.out += part;
            step.in += part;
            moved_in = fmax(moved_in, busiest(&step, 1));
        } else {
            card[from].out += part;
            card[to].in += part;
        }
        at = end;
        i += end == send_end;
        k += end == receive_end;
        if (end == send_end)
            step.out = 0;
        if (end == receive_end)
            step.in = 0;
    }
    for (uint32_t s = first; s <= last; s++) {
        if (card[s].out > 0 || card[s].in > 0) {
            path.servers = 2;
            path.latency_across_ms = l->latency_across;
            path.nccl |= l->rate[s].nccl;
        }
        link.ms_per_byte = fmax(link.ms_per_byte, busiest(&card[s], l->rate[s].card_ms));
    }
    if (moved_in > 0) {
        path.inside = 2;
        path.latency_inside_ms = l->rate[shared].latency_ms;
        path.nccl |= l->rate[shared].nccl;
        link.ms_per_byte = fmax(link.ms_per_byte, moved_in * l->rate[shared].step_ms);
    }
    link.by_size = collective_lines_of(&path, COLLECTIVE_PERMUTE);
    return link;
}

double pipe_link_ms(const struct pipe_link *l, double bytes)
{
    return collective_lines_ms(&l->by_size, l->ms_per_byte * bytes);
}
