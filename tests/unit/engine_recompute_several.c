/* Bounds with a price for each of several positions, and choices mixed near them, against all
 * choices of small graphs with memory counted position by position. */
#include "engine/recompute/recompute.h"
#include "example.h"

#include <math.h>

enum { MOST = 8, READERS = 3, LAYERS = 3, TURN = 8, FORWARD = LAYERS * TURN };
enum { POSITIONS = 2 * FORWARD + TURN, TRIPS = 4, MADE = 5, BACKWARD = 20, OUTSIDE = 3 };

struct small {
    struct primal nodes[MOST];
    struct primal_reader readers[READERS];
    struct primal_window windows[LAYERS];
    uint32_t edges[MOST * MOST];
    double bytes[MOST], ms[MOST], result[READERS];
    struct primal_graph g;
    struct recompute r;
    uint32_t start;
};

struct tally {
    uint32_t limits, best, tight;
    double gaps;
};

static uint64_t roll(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void draw_costs(struct small *s, uint32_t k, uint64_t *seed)
{
    s->bytes[k] = 1 + (double)(roll(seed) % 50);
    s->ms[k] = (double)(roll(seed) % 40);
}

/* From those before it from `first` on. */
static void draw_reads(struct small *s, uint32_t k, uint32_t first, uint64_t *seed)
{
    struct primal *n = &s->nodes[k];

    n->reads = s->g.edge_count;
    for (uint32_t o = first; o < k && n->rule != PRIMAL_NEVER; o++)
        if (s->nodes[o].layer == n->layer && roll(seed) % 2)
            s->edges[s->g.edge_count++] = o;
    n->read_count = s->g.edge_count - n->reads;
}

static const uint8_t RULES[] = {PRIMAL_WORK, PRIMAL_WORK, PRIMAL_NEVER, PRIMAL_FUSED};

static struct primal draw_node(uint64_t *seed)
{
    struct primal n = {.rule = RULES[roll(seed) % 4],
                       .is_needed = roll(seed) % 4 > 0,
                       .is_kept = true,
                       .is_forward = true,
                       .trips = 1,
                       .layer = PRIMAL_NO_LAYER,
                       .first_read = HLO_NONE,
                       .last_read = HLO_NONE};

    n.is_stored = n.rule != PRIMAL_FUSED;
    return n;
}

/* Three written-out layers, read from the last one on; some products read theirs only later. */
static void draw_layers(struct small *s, uint64_t *seed)
{
    s->g.layers = LAYERS;
    s->g.count = 4 + (uint32_t)(roll(seed) % 5);
    for (uint32_t l = 0; l < LAYERS; l++) {
        uint32_t turn = s->start + FORWARD + (LAYERS - 1 - l) * TURN;
        s->windows[l] = (struct primal_window){turn, turn + TURN - 1};
    }
    for (uint32_t k = 0; k < s->g.count; k++) {
        struct primal *n = &s->nodes[k];
        uint32_t layer = k * LAYERS / s->g.count, read = (uint32_t)(roll(seed) % TURN);
        *n = draw_node(seed);
        n->layer = layer;
        n->made = s->start + layer * TURN + 1 + k % 3;
        if (n->is_needed)
            n->first_read = n->last_read = s->windows[layer].from + read;
        draw_reads(s, k, 0, seed);
        draw_costs(s, k, seed);
        if (!n->is_needed || roll(seed) % 2 || s->g.reader_count == READERS)
            continue;
        n->last_read = s->windows[layer].to + 1 + (uint32_t)(roll(seed) % TURN);
        s->result[s->g.reader_count] = 1 + (double)(roll(seed) % 50);
        s->readers[s->g.reader_count++] = (struct primal_reader){
            .position = n->last_read, .nodes = s->g.edge_count, .node_count = 1};
        s->edges[s->g.edge_count++] = k;
    }
}

/* One loop, read by the loop of the backward pass; and what it is given, read before and behind. */
static void draw_loop(struct small *s, uint64_t *seed)
{
    s->g.layers = 1;
    s->g.loop_trips = TRIPS;
    s->g.count = OUTSIDE + 2 + (uint32_t)(roll(seed) % 3);
    for (uint32_t k = 0; k < s->g.count; k++) {
        struct primal *n = &s->nodes[k];
        bool loops = k >= OUTSIDE;
        *n = draw_node(seed);
        if (!loops) {
            n->rule = k ? PRIMAL_FUSED : PRIMAL_NEVER;
            n->is_stored = !k;
            n->is_needed = k > 0;
        }
        n->trips = loops ? TRIPS : 1;
        n->made = s->start + MADE;
        if (n->is_needed)
            n->first_read = n->last_read = s->start + (loops    ? BACKWARD
                                                       : k == 1 ? BACKWARD - 3
                                                                : BACKWARD + 3);
        draw_reads(s, k, loops ? OUTSIDE : 0, seed);
        draw_costs(s, k, seed);
    }
}

/* ---- memory by its words ---- */

/* Of nodes, some layers of each in either of two states. */
struct uses {
    uint32_t from[MOST], to[MOST];
    bool again[MOST];
};

static bool is_again(const struct small *s, const uint8_t *a, const uint8_t *b, uint32_t k)
{
    return a[k] == VALUE_AGAIN || (s->nodes[k].trips > 1 && b[k] == VALUE_AGAIN);
}

static void slow_uses(const struct small *s, const uint8_t *a, const uint8_t *b, struct uses *u)
{
    for (uint32_t k = 0; k < s->g.count; k++) {
        const struct primal *n = &s->nodes[k];
        u->from[k] = n->is_needed ? n->first_read : UINT32_MAX;
        u->to[k] = n->is_needed ? n->last_read : 0;
        u->again[k] = is_again(s, a, b, k) && n->is_stored;
        for (uint32_t i = 0; i < n->read_count && is_again(s, a, b, k); i++)
            u->again[k] |= u->again[s->edges[n->reads + i]];
    }
    for (uint32_t k = s->g.count; k--;) {
        const struct primal *n = &s->nodes[k];
        uint32_t end = n->trips > 1                  ? UINT32_MAX
                       : n->layer == PRIMAL_NO_LAYER ? n->first_read
                                                     : s->windows[n->layer].to;
        if (!is_again(s, a, b, k))
            continue;
        if (u->again[k] && u->to[k] > end)
            u->to[k] = end > u->from[k] ? end : u->from[k];
        for (uint32_t i = 0; i < n->read_count; i++) {
            uint32_t o = s->edges[n->reads + i];
            u->from[o] = u->from[k] < u->from[o] ? u->from[k] : u->from[o];
            u->to[o] = u->to[k] > u->to[o] ? u->to[k] : u->to[o];
        }
    }
}

/* `share` of the layers of a loop are in state b, the others in a; outside all are in a. */
static double slow_peak(const struct small *s, const uint8_t *a, const uint8_t *b, double share)
{
    struct uses u;
    double peak = 0;

    slow_uses(s, a, b, &u);
    for (uint32_t at = s->start; at < s->start + POSITIONS; at++) {
        double now = 0;
        for (uint32_t k = 0; k < s->g.count; k++) {
            const struct primal *n = &s->nodes[k];
            bool loops = n->trips > 1, unused = s->r.module.state[k] == VALUE_UNUSED;
            double part = loops ? share : 0, kept = 0, again = 0;
            kept += a[k] == VALUE_KEPT ? (1 - part) * n->trips : 0;
            kept += b[k] == VALUE_KEPT ? part * n->trips : 0;
            again = is_again(s, a, b, k) && n->is_stored && (!loops || unused) ? 1 : 0;
            if (u.from[k] == UINT32_MAX || at > u.to[k])
                continue;
            now += at >= n->made + !loops ? kept * s->bytes[k] : 0;
            now += at >= u.from[k] ? again * s->bytes[k] : 0;
        }
        for (uint32_t k = 0; k < s->g.reader_count; k++) {
            uint32_t n = s->edges[s->readers[k].nodes];
            bool moved = u.again[n] && u.to[n] <= at && at < s->readers[k].position;
            now += moved ? s->result[k] : 0;
        }
        peak = fmax(peak, now);
    }
    return peak;
}

/* ---- all choices ---- */

enum { SETS = 1 << MOST };
struct choices {
    struct {
        double ms, peak;
    } all[TRIPS * 1 << (2 * (MOST - OUTSIDE)) << 2];
    uint32_t count;
};

/* Sets that differ where it matters: in values that something can compute again. */
static struct recompute_point point_of_set(const struct small *s, uint32_t set, uint8_t *state)
{
    uint8_t keeps[MOST];

    for (uint32_t k = 0; k < s->g.count; k++)
        keeps[k] = set >> k & 1 ? VALUE_KEPT : 0;
    return recompute_point_of(&s->r, keeps, state);
}

static void list_choices(const struct small *s, struct choices *c)
{
    uint32_t sets = 1u << s->g.count, outside = (1u << OUTSIDE) - 1;
    static uint8_t state[SETS][MOST + 1];
    static double ms[SETS];
    bool loop = s->g.loop_trips > 1;

    c->count = 0;
    for (uint32_t set = 0; set < sets; set++) {
        ms[set] = point_of_set(s, set, state[set]).ms;
        if (!loop || !(set & 1)) {
            c->all[c->count].ms = ms[set];
            c->all[c->count++].peak = slow_peak(s, state[set], state[set], 0);
        }
    }
    for (uint32_t a = 0; a < sets && loop; a++) {
        for (uint32_t b = a & outside; b < sets; b += outside + 1) {
            for (uint32_t layers = 1; layers < TRIPS && !(a & 1); layers++) {
                double share = (double)layers / TRIPS;
                c->all[c->count].ms = (1 - share) * ms[a] + share * ms[b];
                c->all[c->count++].peak = slow_peak(s, state[a], state[b], share);
            }
        }
    }
}

static void check_limit(struct small *s, const struct choices *all, double limit, struct tally *t)
{
    struct recompute_choice c;
    struct err e = {0};
    double least = INFINITY;

    for (uint32_t k = 0; k < all->count; k++)
        if (all->all[k].peak <= limit && all->all[k].ms < least)
            least = all->all[k].ms;
    assert_int_equal(recompute_within(&s->r, limit, 1e-6, &c, &e), 0);
    if (!(c.bound_ms <= least * (1 + 1e-6) + 1e-6))
        fail_msg("within %g: bound %g, but %g does", limit, c.bound_ms, least);
    if (c.fits) {
        double share = (double)c.layers / s->r.layers;
        uint8_t *rest = c.rest, *first = c.layers ? c.first : c.rest;
        for (uint32_t k = 0; k < s->g.count && s->g.loop_trips == 1; k++)
            rest[k] = s->nodes[k].layer < c.layers ? first[k] : rest[k];
        first = s->g.loop_trips > 1 ? first : rest;
        assert_true(slow_peak(s, rest, first, share) <= limit * (1 + 1e-9));
        assert_true(c.ms >= least * (1 - 1e-6) - 1e-6);
    }
    if (isfinite(least)) {
        t->limits++;
        t->best += c.fits && c.ms <= least * (1 + 1e-6) + 1e-6;
        t->tight += c.bound_ms >= least * (1 - 1e-6) - 1e-6;
        t->gaps += least - c.bound_ms;
    }
    recompute_choice_release(&c);
}

static void check_rounds(int rounds, void (*draw)(struct small *, uint64_t *), struct tally *t)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct small *s = mem_alloc(sizeof *s);
    struct choices *all = mem_alloc(sizeof *all);
    double none[MOST] = {0};
    uint64_t seed = 17;
    struct err e = {0};

    load_example("mlp", 4, NULL, p);
    double *scratch = memory_scratch(&p->memory);
    assert_true(p->m->computations[p->m->entry].count > POSITIONS);
    for (int round = 0; round < rounds; round++) {
        *s = (struct small){.start = p->m->computations[p->m->entry].first};
        s->g = (struct primal_graph){.nodes = s->nodes,
                                     .edges = s->edges,
                                     .windows = s->windows,
                                     .readers = s->readers,
                                     .loop_trips = 1};
        draw(s, &seed);
        s->g.of_buffer = mem_try(p->m->value_count + 1, sizeof *s->g.of_buffer);
        struct recompute_prices prices = {.bytes = s->bytes,
                                          .piece_bytes = s->bytes,
                                          .gather_ms = none,
                                          .work_ms = s->ms,
                                          .reader_bytes = s->result,
                                          .bytes_per_ms = 10,
                                          .passes = 1,
                                          .memory = &p->memory,
                                          .range_bytes = scratch};
        assert_int_equal(recompute_new(&s->g, &prices, &s->r, &e), 0);
        list_choices(s, all);
        for (double limit = 10; limit < 500; limit *= 1.3)
            check_limit(s, all, limit, t);
        recompute_release(&s->r);
        free(s->g.of_buffer);
    }
    free(scratch);
    free(all);
    free(s);
    problem_release(p);
    free(p);
    print_message("%u limits: %u the best of all, %u bounds with nothing above, %.3f ms above\n",
                  t->limits, t->best, t->tight, t->gaps / t->limits);
}

static void test_layers(void **state)
{
    struct tally t = {0};

    (void)state;
    check_rounds(400, draw_layers, &t);
    assert_true(t.limits > 3000 && t.best * 1000 >= t.limits * 992 && t.gaps < 1.3 * t.limits);
}

static void test_loop(void **state)
{
    struct tally t = {0};

    (void)state;
    check_rounds(150, draw_loop, &t);
    assert_true(t.limits > 1400 && t.best * 100 >= t.limits * 97 && t.gaps < 1.45 * t.limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_loop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
