#include "engine/compare/fewer.h"

#include "engine/cluster/keep.h"
#include "engine/cost/memory.h"
#include "engine/exact/exact.h"
#include "engine/text/units.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct candidate {
    uint32_t count[CLUSTER_GROUPS_MOST];
};

/* Groups by how fast their devices are, the fastest first. */
static void order_groups(const struct cluster *c, uint32_t *order)
{
    for (uint32_t g = 0; g < c->groups; g++) {
        double peak = cluster_peak(&c->type[c->group[g].type], PEAK_F32);
        uint32_t at = g;
        for (; at && cluster_peak(&c->type[c->group[order[at - 1]].type], PEAK_F32) < peak; at--)
            order[at] = order[at - 1];
        order[at] = g;
    }
}

/* 1, 2, 4, .. servers of the fastest group, then all of it, of the two fastest, .. */
static uint32_t candidates_of(const struct cluster *c, struct candidate *out)
{
    uint32_t order[CLUSTER_GROUPS_MOST] = {0}, count = 0;

    order_groups(c, order);
    for (uint32_t n = 1; n < c->group[order[0]].count && count < FEWER_MOST / 2; n *= 2) {
        memset(&out[count], 0, sizeof out[count]);
        out[count++].count[order[0]] = n;
    }
    for (uint32_t k = 0; k + 1 < c->groups && count < FEWER_MOST; k++) {
        memset(&out[count], 0, sizeof out[count]);
        for (uint32_t n = 0; n <= k; n++)
            out[count].count[order[n]] = c->group[order[n]].count;
        count++;
    }
    return count;
}

/* The strict optimum of `p`; INFINITY when its memory does not fit. */
static int price(const struct problem *p, double *ms, bool *proven, struct err *e)
{
    struct exact_options o = {.variables = true, .inputs = true, .stop = p->stop};
    struct exact_result r;
    double *scratch = memory_scratch(&p->memory);
    int rc = scratch ? exact_strict(&p->step_tables, NULL, &o, &r, e)
                     : err_no_memory(e, "to look at fewer devices");

    if (!rc) {
        struct memory_cost memory = memory_of(&p->memory, &p->labels, r.on, scratch);
        *ms = memory.peak <= problem_device_limit(p) ? r.value : INFINITY;
        *proven = r.proven;
        exact_release(&r);
    }
    free(scratch);
    return rc;
}

static int look_at(const struct problem *p, const struct cluster *c, const struct candidate *k,
                   const char *mesh, struct fewer *out, struct err *e)
{
    struct problem_change change = {.cluster = c, .mesh = mesh, .batch_param = BATCH_AS_FOUND};
    struct problem derived;
    double ms = INFINITY;
    bool proven = false;
    int rc = problem_derive(p, &change, &derived, e);

    if (rc == ERR_INPUT || rc == ERR_LIMIT) /* what does not divide so is no plan */
        return 0;
    if (rc)
        return rc;
    derived.stop = p->stop;
    rc = price(&derived, &ms, &proven, e);
    problem_release(&derived);
    if (rc || ms >= out->step_ms)
        return rc;
    struct str list = {0};
    cluster_keep_write(&p->cluster, k->count, &list);
    *out = (struct fewer){.found = true, .proven = proven, .step_ms = ms, .devices = c->devices};
    snprintf(out->servers, sizeof out->servers, "%s", list.failed ? "" : list.text);
    snprintf(out->mesh, sizeof out->mesh, "%s", mesh);
    rc = list.failed ? err_no_memory(e, "for a list of servers") : 0;
    str_release(&list);
    return rc;
}

int fewer_devices(const struct problem *p, double step_ms, struct fewer *out, struct err *e)
{
    struct candidate list[FEWER_MOST];
    uint32_t count = p->cluster.servers > 1 ? candidates_of(&p->cluster, list) : 0;
    int rc = 0;

    *out = (struct fewer){.step_ms = step_ms * 0.99};
    for (uint32_t k = 0; k < count && !rc && !stop_asked(p->stop); k++) {
        struct cluster c = p->cluster;
        char mesh[32];
        cluster_keep_first(&c, list[k].count);
        snprintf(mesh, sizeof mesh, "%u", c.devices);
        rc = look_at(p, &c, &list[k], mesh, out, e);
        if (c.servers < 2 || c.devices % c.servers || c.devices == c.servers || rc)
            continue;
        snprintf(mesh, sizeof mesh, "%ux%u", c.servers, c.devices / c.servers);
        rc = look_at(p, &c, &list[k], mesh, out, e);
    }
    return rc;
}

void fewer_write(const struct problem *p, const struct fewer *f, struct str *out)
{
    char ms[UNITS_ROOM];

    str_format(out, "%s on %u of the %u devices: --servers %s --mesh %s", units_ms(ms, f->step_ms),
               f->devices, p->cluster.devices, f->servers, f->mesh);
}
