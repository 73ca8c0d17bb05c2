#include "engine/pipeline/formula.h"

#include "engine/cost/overlap.h"
#include "engine/pipeline/again.h"
#include "engine/pipeline/links.h"

#include <math.h>
#include <string.h>

/* What the ties with a use in [i, j) add to a stage. Bytes and update of the first use are in the
 * prefix sums already; a tie whose uses are all in the stage adds nothing. */
struct tied {
    double parameter_bytes, gradient_bytes, state_bytes, update_ms, sync_ms;
};

static struct tied tied_of(const struct pipe_instance *in, uint32_t i, uint32_t j)
{
    struct tied sum = {0};

    for (uint32_t n = 0; n < in->ties; n++) {
        const struct pipe_tie *t = &in->tie[n];
        if (t->next[i] >= j)
            continue;
        if (t->uses[0] < i || t->uses[t->use_count - 1] >= j)
            sum.sync_ms += t->sync_ms;
        if (t->uses[0] < i) {
            sum.parameter_bytes += t->parameter_bytes;
            sum.gradient_bytes += t->gradient_bytes;
            sum.state_bytes += t->state_bytes;
            sum.update_ms += t->update_ms;
        }
    }
    return sum;
}

/* What shows of the all-reduce of a stage and of adding its ties. By OVERLAP_AUTO its last backward
 * pass hides the first; ties wait for the first stage's last gradient, when none computes. */
static double shown_ms(const struct pipe_instance *in, const struct pipe_group *g, double reduce_ms,
                       double sync_ms, double backward_ms)
{
    if (in->options.overlap >= 0)
        return (1 - in->options.overlap) * (reduce_ms + sync_ms);
    return overlap_shown(&g->most_overlap, backward_ms, reduce_ms) + sync_ms;
}

struct pipe_node pipe_stage_node(const struct pipe_instance *in, uint32_t i, uint32_t j, uint32_t a,
                                 uint32_t b)
{
    const struct pipe_group *g = pipe_group_of(in, a, b);
    double gradients = in->gradient_bytes[j] - in->gradient_bytes[i];
    struct pipe_node node = {.forward_ms = pipe_forward_ms(in, i, j, a, b),
                             .backward_ms = pipe_backward_ms(in, i, j, a, b),
                             .reduce_ms = pipe_update_ms(in, i, j, a, b)};
    double sync_ms = 0;

    if (in->options.recompute)
        node.backward_ms += node.forward_ms;
    if (in->ties) {
        struct tied t = tied_of(in, i, j);
        gradients += t.gradient_bytes;
        sync_ms = t.sync_ms;
        node.reduce_ms += t.update_ms;
    }
    node.reduce_ms +=
        shown_ms(in, g, pipe_group_reduce_ms(g, gradients), sync_ms, node.backward_ms);
    return node;
}

struct pipe_node pipe_link_node(const struct pipe_instance *in, uint32_t cut, uint32_t a,
                                uint32_t m, uint32_t b)
{
    const struct pipe_link *l = pipe_link_of(in, a, m, b);
    double forward = in->forward_bytes[cut], backward = in->backward_bytes[cut];
    double forward_ms = pipe_link_ms(l, forward);

    return (struct pipe_node){.forward_ms = forward_ms,
                              .backward_ms =
                                  backward == forward ? forward_ms : pipe_link_ms(l, backward),
                              .reduce_ms = pipe_link_ms(l, in->once_bytes[cut])};
}

uint32_t pipe_plan_nodes(const struct pipe_instance *in, const struct pipe_plan *p,
                         struct pipe_node *out)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < p->stages; s++) {
        if (s)
            out[n++] =
                pipe_link_node(in, p->pivot[s], p->device[s - 1], p->device[s], p->device[s + 1]);
        out[n++] =
            pipe_stage_node(in, p->pivot[s], p->pivot[s + 1], p->device[s], p->device[s + 1]);
    }
    return n;
}

static double steady_ms(const struct pipe_node *n, bool is_link, const struct pipe_options *o)
{
    double one = is_link && !o->half_duplex ? pipe_more(n->forward_ms, n->backward_ms)
                                            : n->forward_ms + n->backward_ms;

    return (o->micro_batches - 1) * one;
}

/* The maximum over s of R_s + e_s, apart for s <= Q and s > Q: both follow from their neighbour's,
 *     before(Q) = max(before(Q-1), R_Q) + B_Q      after(Q) = max(R_{Q+1}, after(Q+1) - B_{Q+1}) */
double pipe_nodes_length(const struct pipe_node *node, uint32_t count, const struct pipe_options *o,
                         uint32_t *bounding)
{
    double after[PIPE_NODES_MOST], before = 0, forward = 0, length = 0;

    after[count - 1] = 0;
    for (uint32_t q = count - 1; q-- > 0;)
        after[q] = pipe_more(node[q + 1].reduce_ms, after[q + 1] - node[q + 1].backward_ms);
    for (uint32_t q = 0; q < count; q++) {
        forward += node[q].forward_ms;
        before = pipe_more(before, node[q].reduce_ms) + node[q].backward_ms;
        double here = forward + steady_ms(&node[q], q & 1, o) + pipe_more(before, after[q]);
        if (here > length && bounding)
            *bounding = q;
        length = pipe_more(length, here);
    }
    return length;
}

double pipe_length(const struct pipe_instance *in, const struct pipe_plan *p)
{
    struct pipe_node node[PIPE_NODES_MOST];
    uint32_t count = pipe_plan_nodes(in, p, node);

    return pipe_nodes_length(node, count, &in->options, NULL);
}

/* ---- memory ---- */
uint32_t pipe_in_flight(const struct pipe_options *o, uint32_t k)
{
    uint32_t count = o->schedule == PIPE_EAGER  ? 2 * k - 1
                     : o->schedule == PIPE_1F1B ? k
                                                : UINT32_MAX;

    return count < o->micro_batches ? count : o->micro_batches;
}

double pipe_stage_memory(const struct pipe_instance *in, uint32_t i, uint32_t j, uint32_t a,
                         uint32_t b, uint32_t in_flight)
{
    double states = in->state_bytes[j] - in->state_bytes[i];
    double stash = pipe_stash_bytes(in, i, j);
    double input = in->forward_bytes[i];
    double kept = in->options.recompute ? in_flight * input + stash : in_flight * (input + stash);

    if (in->ties)
        states += tied_of(in, i, j).state_bytes;
    return states + in->share[b - a] * (kept + pipe_temporary_bytes(in, i, j));
}

double pipe_memory_limit(const struct pipe_instance *in, uint32_t a, uint32_t b)
{
    double share = in->options.memory_share, most = in->options.limit_bytes;
    double own = share * pipe_group_of(in, a, b)->memory_bytes;

    if (!(share > 0))
        return INFINITY;
    return most > 0 && most < own ? most : own;
}

bool pipe_fits(const struct pipe_instance *in, const struct pipe_plan *p)
{
    if (!(in->options.memory_share > 0))
        return true;
    for (uint32_t s = 0; s < p->stages; s++) {
        uint32_t a = p->device[s], b = p->device[s + 1];
        uint32_t in_flight = pipe_in_flight(&in->options, p->stages - s);
        if (pipe_stage_memory(in, p->pivot[s], p->pivot[s + 1], a, b, in_flight) >
            pipe_memory_limit(in, a, b))
            return false;
    }
    return true;
}

double pipe_score(const struct pipe_instance *in, const struct pipe_plan *p)
{
    return pipe_fits(in, p) ? pipe_length(in, p) : INFINITY;
}

/* ---- to look at ---- */
struct pipe_stage pipe_stage_of(const struct pipe_instance *in, const struct pipe_plan *p,
                                uint32_t stage)
{
    uint32_t i = p->pivot[stage], j = p->pivot[stage + 1];
    uint32_t a = p->device[stage], b = p->device[stage + 1];
    struct pipe_node node = pipe_stage_node(in, i, j, a, b);
    struct tied tied = tied_of(in, i, j);
    struct pipe_stage s = {
        .first_point = i,
        .end_point = j,
        .first_device = a,
        .end_device = b,
        .in_flight = pipe_in_flight(&in->options, p->stages - stage),
        .variables = in->variables[j] - in->variables[i],
        .forward_ms = node.forward_ms,
        .backward_ms = node.backward_ms,
        .reduce_ms = node.reduce_ms,
        .sync_ms = tied.sync_ms,
        .update_ms = pipe_update_ms(in, i, j, a, b) + tied.update_ms,
        .gradient_bytes = in->gradient_bytes[j] - in->gradient_bytes[i] + tied.gradient_bytes,
        .parameter_bytes = in->parameter_bytes[j] - in->parameter_bytes[i] + tied.parameter_bytes,
        .state_bytes = in->state_bytes[j] - in->state_bytes[i] + tied.state_bytes,
        .stash_bytes = in->share[b - a] * pipe_stash_bytes(in, i, j),
        .input_bytes = in->share[b - a] * in->forward_bytes[i],
        .temporary_bytes = in->share[b - a] * pipe_temporary_bytes(in, i, j),
        .limit_bytes = pipe_memory_limit(in, a, b),
    };

    s.all_reduce_ms = pipe_group_reduce_ms(pipe_group_of(in, a, b), s.gradient_bytes);
    s.memory_bytes = pipe_stage_memory(in, i, j, a, b, s.in_flight);
    return s;
}

struct pipe_transfer pipe_transfer_of(const struct pipe_instance *in, const struct pipe_plan *p,
                                      uint32_t stage)
{
    uint32_t cut = p->pivot[stage + 1];
    struct pipe_node node =
        pipe_link_node(in, cut, p->device[stage], p->device[stage + 1], p->device[stage + 2]);

    return (struct pipe_transfer){
        .cut = cut,
        .forward_bytes = in->forward_bytes[cut],
        .backward_bytes = in->backward_bytes[cut],
        .once_bytes = in->once_bytes[cut],
        .forward_ms = node.forward_ms,
        .backward_ms = node.backward_ms,
        .once_ms = node.reduce_ms,
    };
}

static struct pipe_spot spot_of(const struct pipe_instance *in, uint32_t first, uint32_t end)
{
    struct pipe_spot s = {.first = first, .end = end, .least_bytes = INFINITY};

    s.compute_ms = in->forward_ms[0][end] - in->forward_ms[0][first] + in->backward_ms[0][end] -
                   in->backward_ms[0][first];
    s.gradient_bytes = in->gradient_bytes[end] - in->gradient_bytes[first];
    for (uint32_t i = first; i < end; i++) {
        double bytes = in->forward_bytes[i] + in->backward_bytes[i];
        s.least_bytes = bytes < s.least_bytes ? bytes : s.least_bytes;
        s.most_bytes = pipe_more(s.most_bytes, bytes);
    }
    return s;
}

void pipe_spots(const struct pipe_instance *in, uint32_t columns, struct pipe_spot *out)
{
    for (uint32_t c = 0; c < columns; c++) {
        uint32_t first = (uint32_t)((uint64_t)in->points * c / columns);
        uint32_t end = (uint32_t)((uint64_t)in->points * (c + 1) / columns);
        out[c] = spot_of(in, first, end > first ? end : first + 1);
    }
}
