#include "engine/cost/calibrate.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 24, SECTIONS = 40 };
#define GOLDEN 0.6180339887498949
#define LEAST_MS 1e-9
#define NEAR \
    0.1 /* errors below count by their square, others as they are: what runs oddly is one */

static const char MEMORY_FOR[] = "to calibrate";

/* ---- runs ---- */

static bool add_item(struct calibration *c, const struct step_tables *t, hlo_id id)
{
    if (!mem_grow(&c->items, &c->item_room, c->item_count, 1))
        return false;
    struct calibration_item *i = &c->items[c->item_count++];
    *i = (struct calibration_item){step_tables_scaling(t, id, CLASS_NONE), t->costs->times[id]};
    i->work.measured_ms = -1;
    return true;
}

static bool add_group(struct calibration *c, uint32_t first, double ms, bool is_single)
{
    if (ms <= 0)
        return true;
    if (!mem_grow(&c->groups, &c->group_room, c->group_count, 1))
        return false;
    c->groups[c->group_count++] =
        (struct calibration_group){first, c->item_count - first, c->runs, ms, is_single};
    return true;
}

/* A group of its own: it starts a kernel. */
static bool is_single(const struct step_tables *t, hlo_id id)
{
    struct instruction_scaling s = step_tables_scaling(t, id, CLASS_NONE);

    return s.is_heavy && s.flops > 0;
}

int calibration_add(struct calibration *c, const struct step_tables *t, const double *measured_ms,
                    struct err *e)
{
    uint32_t groups = c->group_count, count = t->labels->classes->m->count;
    bool ok = true;

    for (hlo_id id = 0; id < count && ok; id++) {
        uint32_t first = c->item_count;
        if (t->costs->times[id] <= 0 || measured_ms[id] <= 0 || !is_single(t, id))
            continue;
        ok = add_item(c, t, id) && add_group(c, first, measured_ms[id] * t->costs->times[id], true);
    }
    uint32_t first = c->item_count;
    double rest = 0;
    uint8_t *is_measured = mem_try(count, 1);
    for (hlo_id id = 0; id < count && is_measured; id++)
        is_measured[t->traffic->kernel[id]] |= measured_ms[id] > 0;
    ok = ok && is_measured;
    for (hlo_id id = 0; id < count && ok; id++) {
        if (t->costs->times[id] <= 0 || is_single(t, id) || !is_measured[t->traffic->kernel[id]])
            continue;
        rest += measured_ms[id] > 0 ? measured_ms[id] * t->costs->times[id] : 0;
        ok = add_item(c, t, id);
    }
    free(is_measured);
    ok = ok && add_group(c, first, rest, false);
    if (!ok)
        return err_no_memory(e, MEMORY_FOR);
    if (c->group_count == groups)
        return err_set(e, ERR_INPUT, "no instruction of it was measured");
    c->runs++;
    return 0;
}

void calibration_release(struct calibration *c)
{
    free(c->items);
    free(c->groups);
    memset(c, 0, sizeof *c);
}

static double modelled_ms(const struct calibration *c, const struct calibration_group *g,
                          const struct cluster_device *d)
{
    double ms = 0;

    for (uint32_t k = g->first; k < g->first + g->count; k++)
        ms += c->items[k].times * instruction_scaling_ms(&c->items[k].work, d, 1);
    return ms;
}

struct calibration_part calibration_compare(const struct calibration *c, uint32_t run, bool single,
                                            const struct cluster_device *d)
{
    struct calibration_part p = {0};

    for (uint32_t k = 0; k < c->group_count; k++) {
        const struct calibration_group *g = &c->groups[k];
        if (g->run != run || g->is_single != single)
            continue;
        p.measured_ms += g->ms;
        p.modelled_ms += modelled_ms(c, g, d);
        p.groups++;
    }
    return p;
}

/* ---- the least of a function of one figure ---- */

struct figure {
    double low, high; /* both > 0 */
    void (*set)(void *on, double value);
    double (*error)(const void *data, const void *on);
};

/* The best value of a figure; `on` is left with it. Where nothing depends on it, it stays `now`. */
static double section(const struct figure *f, const void *data, void *on, double now)
{
    double low = log(f->low), high = log(f->high), a = high - GOLDEN * (high - low),
           b = low + GOLDEN * (high - low);

    f->set(on, now);
    double before = f->error(data, on);
    f->set(on, exp(a));
    double at_a = f->error(data, on);
    f->set(on, exp(b));
    double at_b = f->error(data, on);
    for (int k = 0; k < SECTIONS; k++) {
        if (at_a <= at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - GOLDEN * (high - low);
            f->set(on, exp(a));
            at_a = f->error(data, on);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + GOLDEN * (high - low);
            f->set(on, exp(b));
            at_b = f->error(data, on);
        }
    }
    double found = exp(at_a <= at_b ? a : b);
    f->set(on, found);
    if (f->error(data, on) < before)
        return found;
    f->set(on, now);
    return now;
}

/* ---- a device ---- */

/* What is fitted: the device, with the peaks of the file beside. */
struct fitted {
    struct cluster_device d;
    double peak[PEAK_COUNT];
};

static void set_reach(void *on, double reach)
{
    struct fitted *f = on;

    if (f->d.matmul.reach > 0) {
        f->d.matmul.reach = reach;
        return;
    }
    for (int k = 0; k < PEAK_COUNT; k++)
        f->d.peak[k] = f->peak[k] * reach;
}

static void set_share(void *on, double share)
{
    struct fitted *f = on;

    f->d.share = share;
}

static void set_launch(void *on, double ms)
{
    struct fitted *f = on;

    f->d.launch_ms = ms;
}

static double device_error(const void *data, const void *on)
{
    const struct calibration *c = data;
    const struct fitted *f = on;
    double sum = 0;

    for (uint32_t run = 0, k = 0; run < c->runs; run++) {
        double all = 0, part = 0;
        for (; k < c->group_count && c->groups[k].run == run; k++) {
            const struct calibration_group *g = &c->groups[k];
            double off = log(fmax(modelled_ms(c, g, &f->d), LEAST_MS) / g->ms);
            all += g->ms;
            part += g->ms * (sqrt(NEAR * NEAR + off * off) - NEAR);
        }
        sum += all > 0 ? part / all : 0;
    }
    return sum;
}

void calibration_fit(const struct calibration *c, struct cluster_device *d)
{
    static const struct figure figures[] = {{1e-4, 1, set_reach, device_error},
                                            {1e-4, 1, set_share, device_error},
                                            {1e-6, 0.02, set_launch, device_error}};
    struct fitted f = {.d = *d};
    double now[] = {d->matmul.reach > 0 ? d->matmul.reach : 1, d->share > 0 ? d->share : 1,
                    d->launch_ms};

    memcpy(f.peak, d->peak, sizeof f.peak);
    for (int round = 0; round < ROUNDS; round++) {
        double before[3];
        memcpy(before, now, sizeof before);
        for (int k = 0; k < 3; k++)
            now[k] = section(&figures[k], c, &f, now[k]);
        if (!memcmp(before, now, sizeof before))
            break;
    }
    *d = f.d;
}

/* ---- another device ---- */

void calibration_scale(const struct step_tables *t, const struct cluster_device *from, double *ms)
{
    for (hlo_id id = 0; id < t->labels->classes->m->count; id++) {
        struct instruction_scaling s = step_tables_scaling(t, id, CLASS_NONE);
        if (ms[id] < 0)
            continue;
        s.measured_ms = -1;
        double there = instruction_scaling_ms(&s, from, 1);
        double here = instruction_scaling_ms(&s, &t->device, 1);
        ms[id] *=
            there > 0 ? here / there : cluster_bandwidth(from) / cluster_bandwidth(&t->device);
    }
}

/* ---- a link ---- */

struct collectives {
    const struct measured_collective *items;
    uint32_t count;
};

static void set_bandwidth(void *on, double bandwidth)
{
    struct cluster *c = on;

    if (c->servers > 1)
        c->network = bandwidth;
    for (uint32_t g = 0; g < c->groups; g++) {
        if (c->servers > 1)
            c->group[g].network = 0; /* the network's own holds */
        else
            c->group[g].link.bandwidth = bandwidth;
    }
}

static void set_latency(void *on, double ms)
{
    struct cluster *c = on;

    if (c->servers > 1)
        c->network_latency_ms = ms;
    for (uint32_t g = 0; g < c->groups && c->servers == 1; g++)
        c->group[g].link.latency_ms = ms;
}

static double link_error(const void *data, const void *on)
{
    const struct collectives *m = data;
    struct cluster_mesh mesh;
    double sum = 0;

    mesh_one_axis(&mesh, on);
    for (uint32_t k = 0; k < m->count; k++) {
        double ms = collective_ms(&mesh, m->items[k].kind, 1, m->items[k].bytes);
        double off = log(fmax(ms, LEAST_MS) / m->items[k].ms);
        sum += off * off;
    }
    return sum;
}

void calibration_fit_link(struct cluster *cluster, const struct measured_collective *m,
                          uint32_t count)
{
    static const struct figure bandwidth = {1e6, 1e13, set_bandwidth, link_error},
                               latency = {1e-5, 100, set_latency, link_error};
    struct collectives all = {m, count};
    bool across = cluster->servers > 1;
    double now[] = {across ? cluster->network : cluster->group[0].link.bandwidth,
                    across ? cluster->network_latency_ms : cluster->group[0].link.latency_ms};

    for (int round = 0; round < ROUNDS; round++) {
        double before[2];
        memcpy(before, now, sizeof before);
        now[0] = section(&bandwidth, &all, cluster, now[0]);
        now[1] = section(&latency, &all, cluster, now[1]);
        if (!memcmp(before, now, sizeof before))
            break;
    }
}
