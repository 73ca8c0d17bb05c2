/* The hybrid plan of least L against every plan there is, on random problems: cuts, slots, points,
 * unequal servers, memory, schedules. Prices here are by the definitions, slowly. */
#include "engine/hybrid/hybrid_descent.h"
#include "engine/hybrid/hybrid_exact.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/pipeline/links.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static double any(double most)
{
    return most * (1 + below(1000)) / 1000;
}

/* One or two kinds of servers, a row of each. */
static void random_cluster(struct cluster *out)
{
    char text[1024];
    uint32_t servers = 1 + below(2), more = below(3) ? 0 : 1;
    static const uint32_t sizes[] = {1, 2, 2, 4};
    uint32_t d = sizes[below(4)], d2 = sizes[below(4)];
    size_t at = (size_t)snprintf(
        text, sizeof text,
        "name: any\ndevices:\n  v:\n    memory: 16 GB\n    peak: {f32: 10 TFLOP/s}\n    bandwidth: "
        "800 GB/s\n    launch: 5 us\nservers:\n  - count: %u\n    devices: %u\n    type: v\n    "
        "link: {kind: %s, "
        "bandwidth: %u GB/s, latency: 10 us}\n",
        servers, d, below(2) ? "ring" : "switch", 20 + below(100));
    if (more)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "  - count: 1\n    devices: %u\n    type: v\n    link: {kind: "
                               "switch, bandwidth: 50 GB/s, latency: 5 us}\n",
                               d2);
    snprintf(text + at, sizeof text - at, "network: {bandwidth: %u Gbit/s, latency: 30 us}\n",
             10 + below(90));
    struct err e;
    if (cluster_read(out, text, strlen(text), &e))
        fail_msg("%s\n%s", e.what, text);
}

static void random_options(struct pipe_options *o)
{
    static const uint32_t micro[] = {1, 2, 3, 4, 8};

    *o = (struct pipe_options){.micro_batches = micro[below(5)],
                               .micro_batch = 4,
                               .schedule = (enum pipe_schedule_kind)below(PIPE_SCHEDULE_COUNT),
                               .half_duplex = below(2),
                               .memory_share = below(3) ? 1 : 0,
                               .limit_bytes = below(2) ? 4e9 + any(8e9) : 0};
}

static void random_front(struct hybrid_instance *in, uint32_t s, uint32_t i, uint32_t j)
{
    struct hybrid_point p[3];
    uint32_t count = below(3) ? 1 + below(3) : below(2);
    struct err e;

    for (uint32_t n = 0; n < count; n++) {
        double size = (double)(j - i) / in->slot[s].devices, f = any(3) * size;
        double b = any(6) * size;
        p[n] = (struct hybrid_point){.forward_ms = f,
                                     .both_ms = f + b,
                                     .reduce_ms = below(2) ? any(10) : 0,
                                     .fixed_bytes = any(6e9) * size,
                                     .stash_bytes = any(2e9) * size,
                                     .row = n};
    }
    assert_int_equal(hybrid_instance_add(in, s, i, j, p, count, &e), 0);
}

static void random_instance(struct hybrid_instance *in, const struct cluster *c)
{
    struct pipe_options o;
    struct err e;
    uint32_t n = 1 + below(4);

    random_options(&o);
    assert_int_equal(hybrid_instance_new(in, n, c, &o, &e), 0);
    for (uint32_t cut = 1; cut < n; cut++) {
        in->forward_bytes[cut] = below(4) ? any(5e7) : 0;
        in->backward_bytes[cut] = below(4) ? any(5e7) : 0;
        in->once_bytes[cut] = below(2) ? any(1e8) : 0;
    }
    for (uint32_t s = 0; s < in->slots; s++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i + 1; j <= n; j++)
                random_front(in, s, i, j);
}

/* ---- all plans, by the definitions ---- */

struct brute {
    const struct hybrid_instance *in;
    const struct cluster *c;
    struct hybrid_plan p;
    uint32_t stages;              /* exactly; 0: any */
    double best, bound, shortest; /* L; what no schedule is below; simulated */
    uint64_t plans, fitting;
};

static bool same_servers(const struct cluster *c, uint32_t a, uint32_t b)
{
    const struct cluster_group *x = &c->group[cluster_group_of(c, a)];
    const struct cluster_group *y = &c->group[cluster_group_of(c, b)];

    return x->devices == y->devices && x->link.kind == y->link.kind &&
           x->link.bandwidth == y->link.bandwidth && x->link.latency_ms == y->link.latency_ms;
}

static uint32_t server_start(const struct cluster *c, uint32_t device)
{
    while (device && cluster_server_of(c, device - 1) == cluster_server_of(c, device))
        device--;
    return device;
}

/* Devices [a, b) can be a stage: inside one server, aligned; or whole servers that are alike. */
static bool is_place(const struct cluster *c, uint32_t a, uint32_t b)
{
    uint32_t start = server_start(c, a), d = c->group[cluster_group_of(c, a)].devices;

    if (cluster_server_of(c, a) == cluster_server_of(c, b - 1) && b - a < d)
        return d % (b - a) == 0 && (a - start) % (b - a) == 0;
    if (a != start || (b < c->devices && server_start(c, b) != b))
        return false;
    for (uint32_t k = a; k < b; k++)
        if (!same_servers(c, a, k))
            return false;
    return true;
}

static double slow_link(const struct cluster *c, uint32_t a, uint32_t m, uint32_t b, double bytes)
{
    double most = 0, latency = 0, out[8] = {0}, in[8] = {0}, own_out[16] = {0}, own_in[16] = {0};

    if (bytes <= 0)
        return 0;
    for (uint32_t i = a; i < m; i++) {
        for (uint32_t k = m; k < b; k++) {
            double low = fmax((double)(i - a) / (m - a), (double)(k - m) / (b - m));
            double high = fmin((double)(i - a + 1) / (m - a), (double)(k - m + 1) / (b - m));
            if (high - low < 1e-12)
                continue;
            uint32_t from = cluster_server_of(c, i), to = cluster_server_of(c, k);
            const struct cluster_link *l = &c->group[cluster_group_of(c, i)].link;
            uint32_t all = c->group[cluster_group_of(c, i)].devices;
            if (from != to) {
                out[from] += high - low;
                in[to] += high - low;
                latency = fmax(latency, c->network_latency_ms);
                most = fmax(most, fmax(out[from], in[to]) * bytes / c->network * 1e3);
            } else {
                double step = l->kind == LINK_RING && all > 2 ? 0.5 : 1;
                own_out[i] += high - low;
                own_in[k] += high - low;
                latency = fmax(latency, l->latency_ms);
                most =
                    fmax(most, fmax(own_out[i], own_in[k]) * bytes / (l->bandwidth * step) * 1e3);
            }
        }
    }
    return most + latency;
}

/* `behind`: with the terms of stages behind Q. */
static double slow_length(const struct brute *b, bool behind)
{
    const struct pipe_options *o = &b->in->options;
    double f[40], k[40], r[40], t[40], best = 0;
    uint32_t n = 0;

    for (uint32_t s = 0; s < b->p.stages; s++) {
        if (s) {
            uint32_t cut = b->p.cut[s], x = b->p.device[s - 1], m = b->p.device[s],
                     y = b->p.device[s + 1];
            f[n] = slow_link(b->c, x, m, y, b->in->forward_bytes[cut]);
            k[n] = slow_link(b->c, x, m, y, b->in->backward_bytes[cut]);
            r[n] = slow_link(b->c, x, m, y, b->in->once_bytes[cut]);
            t[n] = (o->micro_batches - 1) * (o->half_duplex ? f[n] + k[n] : fmax(f[n], k[n]));
            n++;
        }
        const struct hybrid_point *q = &b->in->points[b->p.point[s]];
        f[n] = q->forward_ms;
        k[n] = q->both_ms - q->forward_ms;
        r[n] = q->reduce_ms;
        t[n] = (o->micro_batches - 1) * q->both_ms;
        n++;
    }
    for (uint32_t q = 0; q < n; q++) {
        double length = t[q], rest = -INFINITY;
        for (uint32_t a = 0; a <= q; a++)
            length += f[a];
        for (uint32_t s = 0; s < (behind ? n : q + 1); s++) {
            double e = 0;
            for (uint32_t a = s; a <= q; a++)
                e += k[a];
            for (uint32_t a = q + 1; a < s; a++)
                e -= k[a];
            rest = fmax(rest, r[s] + e);
        }
        best = fmax(best, length + rest);
    }
    return best;
}

static bool slow_fits(const struct brute *b)
{
    const struct pipe_options *o = &b->in->options;

    for (uint32_t s = 0; s < b->p.stages && o->memory_share > 0; s++) {
        const struct hybrid_point *q = &b->in->points[b->p.point[s]];
        uint32_t k = b->p.stages - s, fly = o->schedule == PIPE_EAGER  ? 2 * k - 1
                                            : o->schedule == PIPE_1F1B ? k
                                                                       : o->micro_batches;
        if (fly > o->micro_batches)
            fly = o->micro_batches;
        double limit = 16e9 * o->memory_share;
        if (o->limit_bytes > 0)
            limit = fmin(limit, o->limit_bytes);
        if (q->fixed_bytes + fly * q->stash_bytes > limit)
            return false;
    }
    return true;
}

/* Pins by their words: of the whole plan, stage by stage. */
static bool slow_pins(const struct brute *b)
{
    const struct hybrid_pins *pins = b->in->pins;

    for (uint32_t n = 0; pins && n < pins->count; n++) {
        const struct hybrid_pin *p = &pins->pin[n];
        bool begins = false, inside = false, kept = true;
        for (uint32_t s = 0; s < b->p.stages; s++) {
            uint32_t devices = b->p.device[s + 1] - b->p.device[s];
            begins |= b->p.cut[s] == p->first;
            for (uint32_t c = p->first + 1; c <= p->last; c++)
                inside |= b->p.cut[s] == c;
            if (b->p.cut[s] > p->first || b->p.cut[s + 1] <= p->first)
                continue;
            kept &= p->kind != HYBRID_PIN_DEVICES || devices == p->devices;
            for (uint32_t d = b->p.device[s]; d < b->p.device[s + 1]; d++)
                kept &=
                    p->kind != HYBRID_PIN_SERVER || (d >= p->device && d < p->device + p->devices);
        }
        if ((p->kind == HYBRID_PIN_CUT && !begins) || (p->kind == HYBRID_PIN_KEEP && inside) ||
            !kept)
            return false;
    }
    return true;
}

static void random_pins(const struct hybrid_instance *in, const struct cluster *c,
                        struct hybrid_pins *out)
{
    *out = (struct hybrid_pins){.count = below(2) ? 0 : 1 + below(3)};
    for (uint32_t n = 0; n < out->count; n++) {
        uint32_t device = below(in->devices), first = below(in->sections);
        struct hybrid_pin *p = &out->pin[n];
        *p = (struct hybrid_pin){.kind = (enum hybrid_pin_kind)below(4),
                                 .first = first,
                                 .last = first + below(in->sections - first),
                                 .devices = 1 + below(4)};
        if (p->kind != HYBRID_PIN_SERVER)
            continue;
        p->device = server_start(c, device);
        for (p->devices = 1; p->device + p->devices < in->devices &&
                             server_start(c, p->device + p->devices) == p->device;)
            p->devices++;
    }
}

static void price(struct brute *b)
{
    b->plans++;
    if ((b->stages && b->p.stages != b->stages) || !slow_fits(b) || !slow_pins(b))
        return;
    b->fitting++;
    b->best = fmin(b->best, slow_length(b, true));
    b->bound = fmin(b->bound, slow_length(b, false));
    b->shortest = fmin(b->shortest, hybrid_plan_makespan(b->in, &b->p, b->in->options.schedule));
}

static void extend(struct brute *b, uint32_t from)
{
    const struct hybrid_instance *in = b->in;
    uint32_t s = b->p.stages, i = b->p.cut[s], a = b->p.device[s];

    (void)from;
    for (uint32_t j = i + 1; j <= in->sections; j++) {
        for (uint32_t end = a + 1; end <= in->devices; end++) {
            if ((j == in->sections) != (end == in->devices) || !is_place(b->c, a, end))
                continue;
            for (uint32_t slot = 0; slot < in->slots; slot++) {
                struct hybrid_front f = *hybrid_front_of(in, slot, i, j);
                if (in->slot[slot].devices != end - a || !hybrid_can_begin(in, a, slot))
                    continue;
                for (uint32_t n = f.first; n < f.first + f.count; n++) {
                    b->p.cut[s + 1] = j;
                    b->p.device[s + 1] = end;
                    b->p.point[s] = n;
                    b->p.slot[s] = slot;
                    b->p.stages = s + 1;
                    if (j == in->sections)
                        price(b);
                    else
                        extend(b, j);
                    b->p.stages = s;
                }
            }
        }
    }
}

static void least_of_all(struct brute *b)
{
    b->best = b->bound = b->shortest = INFINITY;
    for (uint32_t a = 0; a < b->in->devices; a++) {
        b->p = (struct hybrid_plan){.device = {a}};
        extend(b, 0);
    }
}

/* Every place a stage may have has one slot, and no other place has one. */
static void check_places(const struct hybrid_instance *in, const struct cluster *c)
{
    for (uint32_t a = 0; a < in->devices; a++) {
        for (uint32_t b = a + 1; b <= in->devices; b++) {
            uint32_t slots = 0;
            for (uint32_t s = 0; s < in->slots; s++)
                slots += hybrid_can_begin(in, a, s) && in->slot[s].devices == b - a;
            assert_int_equal(slots, is_place(c, a, b));
        }
    }
}

/* Plans near the least L, and down from them. Returns whether no plan at all is shorter. */
static bool check_descent(struct brute *b)
{
    const struct hybrid_instance *in = b->in;
    struct hybrid_exact_options near = {.stages = b->stages, .near = 0.05};
    struct hybrid_descent_options down = {.stages = b->stages,
                                          .schedule = (int)in->options.schedule};
    struct hybrid_exact_result r;
    double last = 0, first_ms = INFINITY;
    struct err e;

    assert_int_equal(hybrid_exact_solve(in, &near, &r, &e), 0);
    assert_true(r.found && r.nearby_count >= 1);
    for (uint32_t n = 0; n < r.nearby_count; n++) {
        b->p = r.nearby[n];
        double length = slow_length(b, true);
        assert_true(length >= last * (1 - 1e-9) && length <= b->best * 1.05 * (1 + 1e-6));
        assert_true(n || fabs(length - b->best) <= 1e-9 * b->best);
        assert_true(slow_fits(b) && slow_pins(b) && (!b->stages || b->p.stages == b->stages));
        assert_true(hybrid_plan_least(in, &b->p) <= slow_length(b, false) * (1 + 1e-9));
        assert_true(hybrid_plan_least(in, &b->p) >= slow_length(b, false) * (1 - 1e-9));
        first_ms = fmin(first_ms, hybrid_plan_makespan(in, &b->p, in->options.schedule));
        last = length;
    }
    struct hybrid_found down_to = hybrid_descend(in, r.nearby, r.nearby_count, &down);
    atomic_bool stop = true; /* what was found is kept */
    down.stop = &stop;
    struct hybrid_found at_once = hybrid_descend(in, r.nearby, r.nearby_count, &down);
    assert_true(at_once.ms < INFINITY && at_once.ms >= down_to.ms * (1 - 1e-9));
    hybrid_exact_release(&r);
    b->p = down_to.plan;
    assert_true(slow_fits(b) && slow_pins(b) && (!b->stages || b->p.stages == b->stages));
    assert_true(down_to.schedule == in->options.schedule);
    assert_true(down_to.ms == hybrid_plan_makespan(in, &b->p, down_to.schedule));
    assert_true(down_to.ms >= b->shortest * (1 - 1e-9) && down_to.ms <= first_ms * (1 + 1e-9));
    return down_to.ms <= b->shortest * (1 + 1e-9);
}

static void test_brute_force(void **unused)
{
    const char *asked = getenv("AUTOMAP_HYBRIDS");
    uint32_t problems = asked ? (uint32_t)strtoul(asked, NULL, 10) : 10000;
    uint64_t plans = 0, none = 0, pinned = 0, cut = 0, several = 0, half = 0, over = 0;
    uint64_t shortest = 0;

    (void)unused;
    for (uint32_t n = 0; n < problems; n++) {
        struct hybrid_instance in;
        struct hybrid_exact_result r;
        struct cluster c;
        struct err e;
        state = n * 7919 + 1;
        random_cluster(&c);
        random_instance(&in, &c);
        check_places(&in, &c);
        struct hybrid_pins pins;
        random_pins(&in, &c, &pins);
        in.pins = &pins;
        pinned += pins.count > 0;
        struct brute b = {.in = &in, .c = &c, .stages = below(4) ? 0 : 1 + below(3)};
        least_of_all(&b);
        struct hybrid_exact_options o = {.stages = b.stages};
        assert_int_equal(hybrid_exact_solve(&in, &o, &r, &e), 0);
        assert_true(r.certified);
        assert_int_equal(r.found, b.best < INFINITY);
        if (r.found) {
            if (fabs(r.length_ms - b.best) > 1e-9 * b.best)
                fail_msg("problem %u: %.12g, the least is %.12g", n, r.length_ms, b.best);
            b.p = r.plan;
            assert_true(slow_fits(&b));
            assert_true(fabs(slow_length(&b, true) - b.best) <= 1e-9 * b.best);
            assert_true(fabs(hybrid_plan_length(&in, &r.plan) - b.best) <= 1e-9 * b.best);
            assert_true(hybrid_plan_fits(&in, &r.plan, in.options.schedule));
            if (r.plan.stages > 1)
                several++;
            assert_true(b.shortest >= b.bound * (1 - 1e-9));
            o.is_bound = true;
            assert_int_equal(hybrid_exact_solve(&in, &o, &r, &e), 0);
            assert_true(r.found && fabs(r.length_ms - b.bound) <= 1e-9 * b.bound);
            o.is_bound = false;
            over += b.bound < b.best * (1 - 1e-9);
            /* a known plan cuts work, never the answer; one a little shorter leaves nothing */
            o.known_ms = b.best * (1 + 1e-6);
            assert_int_equal(hybrid_exact_solve(&in, &o, &r, &e), 0);
            assert_true(r.found && fabs(r.length_ms - b.best) <= 1e-9 * b.best);
            o.known_ms = b.best * (1 - 1e-6);
            assert_int_equal(hybrid_exact_solve(&in, &o, &r, &e), 0);
            assert_true(!r.found && r.certified);
            shortest += check_descent(&b);
        }
        plans += b.plans;
        none += b.best == INFINITY;
        cut += b.fitting < b.plans;
        half += in.options.half_duplex;
        hybrid_instance_release(&in);
    }
    print_message("%u problems, %llu plans; %llu of several stages, memory rules plans out in %llu "
                  "and leaves none in %llu; L is over the bound in %llu; the "
                  "descent ends at the shortest of all in %llu\n",
                  problems, (unsigned long long)plans, (unsigned long long)several,
                  (unsigned long long)cut, (unsigned long long)none, (unsigned long long)over,
                  (unsigned long long)shortest);
    assert_true(shortest >= (problems - none) * 99 / 100);
    assert_true(several > problems / 10 && cut > problems / 10 && half && pinned > problems / 4);
}

static bool has_slot(const struct hybrid_instance *in, uint32_t servers)
{
    for (uint32_t s = 0; s < in->slots; s++)
        if (in->slot[s].servers == servers)
            return true;
    return false;
}

static void read_many(struct cluster *c, uint32_t servers, uint32_t devices, const char *more)
{
    char text[768];
    struct err e;

    snprintf(
        text, sizeof text,
        "name: many\ndevices:\n  v:\n    memory: 16 GB\n    peak: {f32: 10 TFLOP/s}\n    "
        "bandwidth: 800 GB/s\n    launch: 5 us\nservers:\n  - {count: %u, devices: %u, link: "
        "{kind: switch, "
        "bandwidth: 50 GB/s, latency: 5 us}}\n%snetwork: {bandwidth: 10 GB/s, latency: 30 us}\n",
        servers, devices, more);
    if (cluster_read(c, text, strlen(text), &e))
        fail_msg("%s", e.what);
}

static void many_servers(struct hybrid_instance *in, uint32_t servers, uint32_t devices)
{
    struct pipe_options o = {.micro_batches = 1};
    struct cluster *c = malloc(sizeof *c);
    struct err e;

    assert_non_null(c);
    read_many(c, servers, devices, "");
    if (hybrid_instance_new(in, 2, c, &o, &e))
        fail_msg("%s", e.what);
    free(c);
}

/* A plan made elsewhere: beside what two kinds of servers have for a search there is room for eight
 * stages of other sizes, and a divisor that a stage has is not left out. */
static void test_given_stages(void **unused)
{
    static const uint32_t ends[] = {0, 9, 9, 20, 20, 33, 33, 47, 47, 57, 60, 77, 77, 95, 95, 114};
    struct pipe_options o = {.micro_batches = 1};
    struct cluster *c = malloc(sizeof *c);
    struct hybrid_instance in;
    struct err e;

    (void)unused;
    assert_non_null(c);
    read_many(c, 60, 1,
              "  - {count: 60, devices: 1, link: {kind: switch, bandwidth: 40 GB/s, latency: 5 "
              "us}}\n");
    if (hybrid_instance_new_for(&in, 2, c, &o, ends, 8, &e))
        fail_msg("%s", e.what);
    for (uint32_t n = 0; n < 8; n++)
        assert_true(hybrid_slot_of(&in, ends[2 * n], ends[2 * n + 1]) < in.slots);
    assert_true(has_slot(&in, 10));
    hybrid_instance_release(&in);
    free(c);
}

/* Each link worked out where it is. */
static void check_links(const struct cluster *c, const uint32_t *ends, uint32_t count)
{
    struct pipe_options o = {.micro_batches = 1};
    struct hybrid_instance in;
    struct pipe_links links;
    struct err e;
    uint32_t checked = 0;

    assert_int_equal(hybrid_instance_new_for(&in, 2, c, &o, ends, count, &e), 0);
    assert_int_equal(pipe_links_new(&links, c, &e), 0);
    for (uint32_t m = 1; m < in.devices; m++)
        for (uint32_t s = 0; s < in.slots; s++)
            for (uint32_t t = 0; t < in.slots; t++) {
                uint32_t before = in.slot[s].devices;
                if (before > m || !hybrid_can_begin(&in, m - before, s) ||
                    !hybrid_can_begin(&in, m, t))
                    continue;
                struct pipe_link l =
                    pipe_links_between(&links, m - before, m, m + in.slot[t].devices);
                const struct pipe_link *k = hybrid_link_of(&in, m, s, t);
                assert_true(l.ms_per_byte == k->ms_per_byte);
                for (double bytes = 1; bytes < 1e10; bytes *= 10)
                    assert_true(pipe_link_ms(&l, bytes) == pipe_link_ms(k, bytes));
                checked++;
            }
    print_message("%u devices: %u links\n", in.devices, checked);
    assert_true(checked > 20);
    pipe_links_release(&links);
    hybrid_instance_release(&in);
}

static void test_links(void **unused)
{
    static const uint32_t ends[] = {0, 3, 3, 9, 9, 12, 12, 21, 21, 24};
    struct cluster *c = malloc(sizeof *c);
    struct hybrid_instance in;

    (void)unused;
    assert_non_null(c);
    read_many(c, 5, 4,
              "  - {count: 2, devices: 2, network: 4 GB/s, link: {kind: ring, bandwidth: 40 GB/s, "
              "latency: 9 us}}\n  - {count: 3, devices: 4, link: {kind: switch, bandwidth: 50 "
              "GB/s, latency: 5 us}}\n");
    check_links(c, NULL, 0);
    check_links(c, ends, 5);
    read_many(c, 24, 8, "");
    check_links(c, NULL, 0);
    clock_t start = clock(); /* of the processor */
    many_servers(&in, 504, 8);
    hybrid_instance_release(&in);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("4,032 devices: %.2f s\n", seconds);
    assert_true(seconds < 1);
    free(c);
}

/* Equal stages can share any row of servers: 24 of 192 each, 15 of 240, 9 of 315. Where a row has
 * more divisors than there is room for, the large ones are left out, and all of it is not. */
static void test_equal_parts(void **unused)
{
    static const uint32_t rows[][2] = {{192, 24}, {240, 15}, {315, 9}, {384, 6}, {480, 40}};
    struct hybrid_instance in;

    (void)unused;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        many_servers(&in, rows[k][0], 8);
        for (uint32_t n = 1; n <= rows[k][0]; n++)
            assert_true(rows[k][0] % n || has_slot(&in, n));
        assert_true(has_slot(&in, rows[k][1]));
        hybrid_instance_release(&in);
    }
    many_servers(&in, 2520, 1);
    assert_int_equal(in.slots, HYBRID_SLOTS_MOST);
    assert_true(has_slot(&in, 9) && has_slot(&in, 2520) && !has_slot(&in, 1260));
    hybrid_instance_release(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force), cmocka_unit_test(test_equal_parts),
        cmocka_unit_test(test_links), cmocka_unit_test(test_given_stages)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
