#include "engine/hybrid/hybrid_instance.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/simulation.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for a hybrid plan";

/* ---- slots ---- */

bool hybrid_groups_alike(const struct cluster *c, uint32_t a, uint32_t b)
{
    const struct cluster_group *x = &c->group[a], *y = &c->group[b];

    return x->devices == y->devices && x->type == y->type &&
           cluster_network_of(c, a) == cluster_network_of(c, b) && x->link.kind == y->link.kind &&
           x->link.nccl == y->link.nccl && x->link.bandwidth == y->link.bandwidth &&
           x->link.latency_ms == y->link.latency_ms && x->link.rank == y->link.rank &&
           !memcmp(x->link.shape, y->link.shape, x->link.rank * sizeof *x->link.shape);
}

/* The first group of servers like that of server `s`. */
static uint32_t kind_of_group(const struct cluster *c, uint32_t group)
{
    uint32_t first = 0;

    while (!hybrid_groups_alike(c, first, group))
        first++;
    return first;
}

static bool add_slot(struct hybrid_instance *in, const struct cluster *c, uint32_t group,
                     uint32_t devices, uint32_t servers)
{
    const struct pipe_options *o = &in->options;
    double memory = c->type[c->group[group].type].memory_bytes * o->memory_share;

    if (in->slots == HYBRID_SLOTS_MOST)
        return false;
    if (o->limit_bytes > 0 && o->limit_bytes < memory)
        memory = o->limit_bytes;
    in->slot[in->slots++] =
        (struct hybrid_slot){.devices = devices,
                             .type = c->group[group].type,
                             .group = group,
                             .servers = servers,
                             .limit_bytes = o->memory_share > 0 ? memory : INFINITY};
    return true;
}

/* How many servers in a row are like group `group`, at most. */
static uint32_t longest_row(const struct cluster *c, uint32_t group)
{
    uint32_t most = 0, row = 0;

    for (uint32_t g = 0; g < c->groups; g++) {
        row = hybrid_groups_alike(c, g, group) ? row + c->group[g].count : 0;
        most = row > most ? row : most;
    }
    return most;
}

static bool is_plain(uint32_t n, uint32_t row)
{
    return n <= 8 || (n & (n - 1)) == 0 || n == row;
}

/* Slots of every kind of server without those that only divide a row of them. */
static uint32_t count_plain(const struct cluster *c)
{
    uint32_t count = 0;

    for (uint32_t g = 0; g < c->groups; g++) {
        uint32_t d = c->group[g].devices, row = longest_row(c, g);
        if (kind_of_group(c, g) != g)
            continue;
        for (uint32_t n = 1; n < d; n++)
            count += d % n == 0;
        for (uint32_t n = 1; n <= row; n++)
            count += is_plain(n, row);
    }
    return count;
}

/* Some of the stages [2 count], given by their ends, has so many devices. */
static bool has_stage_of(const uint32_t *ends, uint32_t count, uint32_t devices)
{
    for (uint32_t n = 0; n < count; n++)
        if (ends[2 * n + 1] - ends[2 * n] == devices)
            return true;
    return false;
}

/* Where stages are given, numbers of servers that only divide a row of them are left out but for
 * theirs: there is to be room for what they have besides. */
static bool find_slots(struct hybrid_instance *in, const struct cluster *c, const uint32_t *ends,
                       uint32_t count)
{
    uint32_t plain = count_plain(c),
             left = plain < HYBRID_SLOTS_MOST ? HYBRID_SLOTS_MOST - plain : 0;
    bool ok = true;

    for (uint32_t g = 0; g < c->groups && ok; g++) {
        uint32_t d = c->group[g].devices, row = longest_row(c, g);
        if (kind_of_group(c, g) != g)
            continue;
        for (uint32_t n = 1; n < d && ok; n++)
            if (d % n == 0)
                ok = add_slot(in, c, g, n, 0);
        for (uint32_t n = 1; n <= row && ok; n++) {
            bool only_divides = !is_plain(n, row) && row % n == 0 && left &&
                                (!count || has_stage_of(ends, count, n * d));
            left -= only_divides;
            if (is_plain(n, row) || only_divides)
                ok = add_slot(in, c, g, n * d, n);
        }
    }
    return ok;
}

/* Inside a server at a multiple of its devices; whole servers from a server on, all alike. */
static void find_places(struct hybrid_instance *in, const struct cluster *c)
{
    for (uint32_t g = 0, first = 0; g < c->groups; g++) {
        const struct cluster_group *group = &c->group[g];
        uint32_t kind = kind_of_group(c, g), left = 0;
        for (uint32_t h = g; h < c->groups && hybrid_groups_alike(c, h, g); h++)
            left += c->group[h].count;
        for (uint32_t n = 0; n < group->count; n++, first += group->devices, left--) {
            for (uint32_t s = 0; s < in->slots; s++) {
                const struct hybrid_slot *slot = &in->slot[s];
                if (slot->group != kind || slot->servers > left)
                    continue;
                uint32_t end = slot->servers ? 1 : group->devices;
                for (uint32_t at = 0; at < end; at += slot->devices)
                    in->can_begin[first + at] |= 1u << s;
            }
        }
    }
}

static bool is_same_link(const struct pipe_link *a, const struct pipe_link *b)
{
    const struct collective_lines *x = &a->by_size, *y = &b->by_size;

    return a->ms_per_byte == b->ms_per_byte && x->count == y->count &&
           !memcmp(x->line, y->line, x->count * sizeof *x->line);
}

/* Its number, a new one if none is the same; UINT32_MAX: no memory. */
static uint32_t number_link(struct hybrid_instance *in, struct slots *known,
                            const struct pipe_link *l)
{
    const double key[] = {l->ms_per_byte, l->by_size.line[0].ms};
    uint64_t hash = mem_hash(key, sizeof key, l->by_size.count);
    struct slot_walk at;

    for (uint32_t n = slots_first(known, hash, &at); n != SLOTS_END; n = slots_next(known, &at))
        if (is_same_link(&in->link[n], l))
            return n;
    if (!mem_grow(&in->link, &in->link_room, in->links, 1) ||
        !slots_add(known, hash, (uint32_t)in->links))
        return UINT32_MAX;
    in->link[in->links] = *l;
    return (uint32_t)in->links++;
}

/* The devices of a slot are of one kind of server, so where in its server device m stands decides
 * the link between two slots there. */
struct link_finder {
    struct hybrid_instance *in;
    struct pipe_links links;
    struct slots known;
    uint32_t *seen; /* [places in a server][slots][slots] numbers of links; UINT32_MAX: not yet */
};

/* UINT32_MAX: no memory. */
static uint32_t link_at(struct link_finder *f, uint32_t place, uint32_t m, uint32_t s, uint32_t t)
{
    const struct hybrid_slot *slot = f->in->slot;
    uint32_t *seen = &f->seen[((size_t)place * f->in->slots + s) * f->in->slots + t];

    if (*seen != UINT32_MAX)
        return *seen;
    struct pipe_link l = pipe_links_between(&f->links, m - slot[s].devices, m, m + slot[t].devices);
    *seen = number_link(f->in, &f->known, &l);
    return *seen;
}

static bool find_links_at(struct link_finder *f, uint32_t place, uint32_t m)
{
    const struct hybrid_instance *in = f->in;
    uint32_t n = 0;

    for (uint32_t s = 0; s < in->slots; s++) {
        uint32_t before = in->slot[s].devices;
        if (before > m || !hybrid_can_begin(in, m - before, s))
            continue;
        for (uint32_t t = 0; t < in->slots && n != UINT32_MAX; t++) {
            if (!hybrid_can_begin(in, m, t))
                continue;
            n = link_at(f, place, m, s, t);
            in->link_at[((size_t)m * in->slots + s) * in->slots + t] = n;
        }
    }
    return n != UINT32_MAX;
}

/* O(devices x slots^2 + places in a server x slots^2 x devices of a stage). */
static int find_links(struct hybrid_instance *in, const struct cluster *c, struct err *e)
{
    static const struct pipe_link none;
    struct link_finder f = {.in = in};
    uint32_t most = 0;
    int rc = pipe_links_new(&f.links, c, e);

    if (rc)
        return rc;
    for (uint32_t g = 0; g < c->groups; g++)
        most = c->group[g].devices > most ? c->group[g].devices : most;
    size_t size = (size_t)most * in->slots * in->slots;
    f.seen = mem_try(size, sizeof *f.seen);
    bool ok = f.seen && number_link(in, &f.known, &none) == 0;
    if (ok)
        memset(f.seen, 0xff, size * sizeof *f.seen);
    for (uint32_t m = 1, place = 1; m < in->devices && ok; m++, place++) {
        if (cluster_server_of(c, m) != cluster_server_of(c, m - 1))
            place = 0;
        ok = find_links_at(&f, place, m);
    }
    free(f.seen);
    slots_release(&f.known);
    pipe_links_release(&f.links);
    return ok ? 0 : err_no_memory(e, MEMORY_FOR);
}

/* A slot for devices [a, b), if none has them yet. */
static bool add_place(struct hybrid_instance *in, const struct cluster *c, uint32_t a, uint32_t b)
{
    uint32_t group = kind_of_group(c, cluster_group_of(c, a)), s = 0;
    bool is_at = cluster_server_of(c, a) != cluster_server_of(c, b - 1);

    if (hybrid_slot_of(in, a, b) < in->slots ||
        cluster_server_of(c, b - 1) - cluster_server_of(c, a) >= CLUSTER_GROUPS_MOST)
        return true;
    while (s < in->slots && (in->slot[s].devices != b - a || in->slot[s].group != group ||
                             in->slot[s].is_at || in->slot[s].servers || is_at))
        s++;
    if (s == in->slots && !add_slot(in, c, group, b - a, 0))
        return false;
    in->slot[s].is_at = is_at;
    in->slot[s].first = is_at ? a : 0;
    for (uint32_t d = a; d < b && in->options.memory_share > 0; d++) {
        double memory = c->type[c->group[cluster_group_of(c, d)].type].memory_bytes;
        in->slot[s].limit_bytes = fmin(in->slot[s].limit_bytes, memory * in->options.memory_share);
    }
    in->can_begin[a] |= 1u << s;
    return true;
}

int hybrid_instance_new(struct hybrid_instance *out, uint32_t sections, const struct cluster *c,
                        const struct pipe_options *o, struct err *e)
{
    return hybrid_instance_new_for(out, sections, c, o, NULL, 0, e);
}

int hybrid_instance_new_for(struct hybrid_instance *out, uint32_t sections, const struct cluster *c,
                            const struct pipe_options *o, const uint32_t *devices, uint32_t count,
                            struct err *e)
{
    struct hybrid_instance in = {.options = *o, .sections = sections, .devices = c->devices};
    size_t cuts = (size_t)sections + 1;

    if (!sections || sections > HYBRID_SECTIONS_MOST || c->devices > HYBRID_DEVICES_MOST)
        return err_set(e, ERR_LIMIT,
                       "a hybrid plan of %u sections over %u devices, expected at most %d and %d",
                       sections, c->devices, HYBRID_SECTIONS_MOST, HYBRID_DEVICES_MOST);
    if (!find_slots(&in, c, devices, count))
        return err_set(e, ERR_LIMIT, "stages can have more than %d shapes on this cluster",
                       HYBRID_SLOTS_MOST);
    in.can_begin = mem_try(c->devices, sizeof *in.can_begin);
    int rc = in.can_begin ? 0 : err_no_memory(e, MEMORY_FOR);
    if (rc)
        goto out;
    find_places(&in, c);
    for (uint32_t n = 0; n < count && !rc; n++)
        if (!add_place(&in, c, devices[2 * n], devices[2 * n + 1]))
            rc = err_set(e, ERR_LIMIT, "stages of more than %d shapes", HYBRID_SLOTS_MOST);
    if (rc)
        goto out;
    in.forward_bytes = mem_try(cuts, sizeof *in.forward_bytes);
    in.backward_bytes = mem_try(cuts, sizeof *in.backward_bytes);
    in.once_bytes = mem_try(cuts, sizeof *in.once_bytes);
    in.link_at = mem_try((size_t)c->devices * in.slots * in.slots, sizeof *in.link_at);
    in.front = mem_try(in.slots * cuts * cuts, sizeof *in.front);
    rc = in.forward_bytes && in.backward_bytes && in.once_bytes && in.link_at && in.front
             ? find_links(&in, c, e)
             : err_no_memory(e, MEMORY_FOR);
out:
    if (rc)
        hybrid_instance_release(&in);
    else
        *out = in;
    return rc;
}

void hybrid_instance_release(struct hybrid_instance *in)
{
    free(in->can_begin);
    free(in->forward_bytes);
    free(in->backward_bytes);
    free(in->once_bytes);
    free(in->link);
    free(in->link_at);
    free(in->front);
    free(in->points);
    memset(in, 0, sizeof *in);
}

int hybrid_instance_add(struct hybrid_instance *in, uint32_t slot, uint32_t i, uint32_t j,
                        const struct hybrid_point *points, uint32_t count, struct err *e)
{
    if (in->point_count + count > UINT32_MAX ||
        !mem_grow(&in->points, &in->point_room, in->point_count, count))
        return err_no_memory(e, MEMORY_FOR);
    if (count)
        memcpy(in->points + in->point_count, points, count * sizeof *points);
    *hybrid_front_of(in, slot, i, j) = (struct hybrid_front){(uint32_t)in->point_count, count};
    in->point_count += count;
    return 0;
}

uint32_t hybrid_slot_of(const struct hybrid_instance *in, uint32_t a, uint32_t b)
{
    uint32_t s = 0;

    while (s < in->slots && (in->slot[s].devices != b - a || !hybrid_can_begin(in, a, s)))
        s++;
    return s;
}

/* ---- plans ---- */

struct pipe_node hybrid_link_node(const struct hybrid_instance *in, uint32_t cut, uint32_t m,
                                  uint32_t from, uint32_t to)
{
    const struct pipe_link *l = hybrid_link_of(in, m, from, to);

    return (struct pipe_node){.forward_ms = pipe_link_ms(l, in->forward_bytes[cut]),
                              .backward_ms = pipe_link_ms(l, in->backward_bytes[cut]),
                              .reduce_ms = pipe_link_ms(l, in->once_bytes[cut])};
}

/* Stage, transfer, stage, ..: 2 stages - 1 nodes. */
static uint32_t plan_nodes(const struct hybrid_instance *in, const struct hybrid_plan *p,
                           struct pipe_node *out)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < p->stages; s++) {
        if (s)
            out[n++] = hybrid_link_node(in, p->cut[s], p->device[s], p->slot[s - 1], p->slot[s]);
        out[n++] = hybrid_stage_node(&in->points[p->point[s]]);
    }
    return n;
}

double hybrid_plan_length(const struct hybrid_instance *in, const struct hybrid_plan *p)
{
    struct pipe_node node[PIPE_NODES_MOST];
    uint32_t count = plan_nodes(in, p, node);

    return pipe_nodes_length(node, count, &in->options, NULL);
}

double hybrid_plan_least(const struct hybrid_instance *in, const struct hybrid_plan *p)
{
    struct pipe_node node[PIPE_NODES_MOST];
    uint32_t count = plan_nodes(in, p, node), waits = in->options.micro_batches - 1;
    double forward = 0, behind = 0, least = 0;

    for (uint32_t q = 0; q < count; q++) {
        const struct pipe_node *n = &node[q];
        bool both_ways = q & 1 && !in->options.half_duplex;
        double one =
            both_ways ? pipe_more(n->forward_ms, n->backward_ms) : n->forward_ms + n->backward_ms;
        forward += n->forward_ms;
        behind = pipe_more(behind, n->reduce_ms) + n->backward_ms;
        least = pipe_more(least, forward + waits * one + behind);
    }
    return least;
}

double hybrid_plan_makespan(const struct hybrid_instance *in, const struct hybrid_plan *p,
                            enum pipe_schedule_kind kind)
{
    struct pipe_node node[PIPE_NODES_MOST];
    uint32_t count = plan_nodes(in, p, node);

    return pipe_nodes_makespan(node, count, &in->options, kind);
}

bool hybrid_plan_fits(const struct hybrid_instance *in, const struct hybrid_plan *p,
                      enum pipe_schedule_kind kind)
{
    struct pipe_options o = in->options;

    o.schedule = kind;
    for (uint32_t s = 0; s < p->stages; s++)
        if (hybrid_point_bytes(&in->points[p->point[s]], pipe_in_flight(&o, p->stages - s)) >
                in->slot[p->slot[s]].limit_bytes ||
            !hybrid_may_be(in, p->slot[s], p->cut[s], p->cut[s + 1], p->device[s]))
            return false;
    return true;
}

double hybrid_plan_play(const struct hybrid_instance *in, const struct hybrid_plan *p, int schedule,
                        enum pipe_schedule_kind *kind)
{
    double best = INFINITY;

    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++) {
        enum pipe_schedule_kind own = (enum pipe_schedule_kind)k;
        if ((schedule >= 0 && k != schedule) || !hybrid_plan_fits(in, p, own))
            continue;
        double ms = hybrid_plan_makespan(in, p, own);
        if (ms < best) {
            best = ms;
            *kind = own;
        }
    }
    return best;
}
