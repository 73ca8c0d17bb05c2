#include "tui/commands/place_print.h"

#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"
#include "engine/place/latency_path.h"
#include "engine/place/look.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_pipeline.h"
#include "engine/place/placement.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/pipeline_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRANSFERS_SHOWN = 5 };

static void print_head(const char *name, const struct place_graph *g)
{
    char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];
    uint32_t cores = g->type[g->types - 1].count;

    printf("%s   %s operators, %s edges   ", name, units_count(a, g->nodes),
           units_count(b, g->edges));
    for (uint32_t t = 0; t + 1 < g->types; t++)
        printf("%s%u %s%s of %s", t ? ", " : "", g->type[t].count, g->type[t].name,
               g->type[t].count == 1 ? "" : "s", units_bytes(c, g->type[t].memory_bytes));
    printf(", %u core%s\n", cores, cores == 1 ? "" : "s");
}

static void print_value(const struct place_job *job, const struct placement *p)
{
    char value[UNITS_ROOM], bound[UNITS_ROOM], gap[UNITS_ROOM], count[UNITS_ROOM];

    printf("%s   %s %s   ",
           job->latency    ? "latency"
           : job->any_sets ? "any sets"
           : p->contiguous ? "contiguous"
                           : "not contiguous",
           units_ms(value, p->value_ms), job->latency ? "for one sample" : "per sample");
    if (p->proven)
        printf("proven%s%s", p->written_in ? ", as written in " : "",
               p->written_in ? p->written_in : "");
    else if (p->faults && p->value_ms < p->bound_ms)
        printf("plans that keep all rules take %s at least", units_ms(bound, p->bound_ms));
    else if (p->bound_ms > 0)
        printf("%s over the bound %s%s%s", units_percent(gap, p->value_ms / p->bound_ms - 1),
               units_ms(bound, p->bound_ms), p->written_in ? ", as written in " : "",
               p->written_in ? p->written_in : "");
    else
        printf("no bound");
    printf(" (%s)   by %s in %.2f s", p->bound_by ? p->bound_by : "nothing known", p->algo,
           p->seconds);
    if (p->ideals)
        printf(", %s ideals", units_count(count, p->ideals));
    printf("\n");
    if (p->faults & PLACE_OVER_MEMORY)
        printf("this plan needs more memory than a device has\n");
    if (p->faults & PLACE_WRONG_KIND)
        printf("this plan has nodes where they may not be\n");
    if (p->faults & (PLACE_PIN_BROKEN | PLACE_NOT_APART))
        printf("this plan breaks a pin\n");
    if (!p->contiguous && !job->latency && !job->any_sets)
        printf("this plan is not contiguous, though that was asked: forward edges lead both ways "
               "between its devices\n");
}

static double load_of(const struct place_graph *g, const struct place_job *job,
                      const struct placement *p, const struct place_load *l, uint32_t d)
{
    return place_device_ms(g, &job->rules, l, p->copies[d] ? p->copies[d] : 1);
}

static void print_devices(const struct place_graph *g, const struct place_job *job,
                          const struct placement *p, const struct place_load *load)
{
    char ms[4][UNITS_ROOM], bytes[UNITS_ROOM], name[16], copies[16];

    printf("\ndevice      load   compute        in       out    memory   nodes\n");
    for (uint32_t d = 0; d < p->devices; d++) {
        const struct place_load *l = &load[d];
        uint32_t nodes = 0;
        for (uint32_t v = 0; v < g->nodes; v++)
            nodes += p->device[v] == d;
        if (!nodes && p->devices > 16)
            continue;
        copies[0] = 0;
        if (p->copies[d] > 1)
            snprintf(copies, sizeof copies, " x%u", p->copies[d]);
        place_device_name(g, d, name);
        printf("%-5s%-4s %8s %9s %9s %9s %9s %7u\n", name, copies,
               units_plain_ms(ms[0], load_of(g, job, p, l, d)),
               units_plain_ms(ms[1], l->compute_ms[0] + l->compute_ms[1]),
               units_plain_ms(ms[2], l->in_ms[0] + l->in_ms[1]),
               units_plain_ms(ms[3], l->out_ms[0] + l->out_ms[1]), units_bytes(bytes, l->bytes),
               nodes);
    }
}

/* ---- transfers ---- */

struct transfer {
    uint32_t node;
    double ms; /* at all its ends */
};

static int compare_transfers(const void *a, const void *b)
{
    const struct transfer *x = a, *y = b;

    return x->ms != y->ms ? (x->ms < y->ms) - (x->ms > y->ms)
                          : (x->node > y->node) - (x->node < y->node);
}

/* Devices node u's output goes to, in order, as names. Returns what all accelerators pay for it. */
static double ends_of(const struct place_graph *g, const struct placement *p, uint32_t u, char *out,
                      size_t room)
{
    uint32_t from = p->device[u], host = place_devices(g) - g->type[g->types - 1].count;
    double paid = 0;
    size_t at = 0;

    out[0] = 0;
    for (uint32_t d = 0; d < p->devices; d++) {
        bool uses = false;
        for (uint32_t i = g->user_at[u]; i < g->user_at[u + 1]; i++)
            uses |= p->device[g->user[i]] == d;
        if (!uses || d == from)
            continue;
        char name[16];
        int n = snprintf(out + at, room - at, "%s%s", at ? " " : "", place_device_name(g, d, name));
        at = n > 0 && (size_t)n < room - at ? at + (size_t)n : at;
        paid += d < host ? placement_transfer_ms(p, g, u, d) : 0;
    }
    return paid + (at && from < host ? placement_transfer_ms(p, g, u, from) : 0);
}

static int print_transfers(const struct place_graph *g, const struct placement *p, struct err *e)
{
    struct transfer *t = mem_try((size_t)g->nodes + 1, sizeof *t);
    uint32_t count = 0;
    char to[64], from[16], ms[UNITS_ROOM];

    if (!t)
        return err_no_memory(e, "for the transfers");
    for (uint32_t u = 0; u < g->nodes; u++) {
        double paid = ends_of(g, p, u, to, sizeof to);
        if (paid > 0)
            t[count++] = (struct transfer){u, paid};
    }
    qsort(t, count, sizeof *t, compare_transfers);
    if (count)
        printf("\ntransfers   %u, heaviest first, ms at %s end\n", count,
               g->far_ms ? "the farthest" : "every");
    for (uint32_t i = 0; i < count && i < TRANSFERS_SHOWN; i++) {
        uint32_t u = t[i].node;
        ends_of(g, p, u, to, sizeof to);
        place_device_name(g, p->device[u], from);
        units_plain_ms(ms, placement_transfer_ms(p, g, u, p->device[u]));
        if (g->name[u])
            printf("%9s  %s to %-8s %s\n", ms, from, to, g->name[u]);
        else
            printf("%9s  %s to %-8s node %" PRId64 "\n", ms, from, to, g->id[u]);
    }
    free(t);
    return 0;
}

static const char *name_of(const struct place_graph *g, uint32_t node, char out[static 32])
{
    if (g->name[node])
        return g->name[node];
    snprintf(out, 32, "node %" PRId64, g->id[node]);
    return out;
}

static void print_limit(const struct place_graph *g, const struct placement *p,
                        const struct place_limit *l, const char *words)
{
    char name[16], node[32], ms[UNITS_ROOM];

    printf("%s %s", place_device_name(g, l->device, name), words);
    if (l->node != PLACE_NONE)
        printf("; its heaviest transfer %s the output of %s, %s ms",
               p->device[l->node] == l->device ? "sends" : "fetches", name_of(g, l->node, node),
               units_plain_ms(ms, l->transfer_ms));
    printf("\n");
}

/* ---- what one sample waits for ---- */

/* Steps of one row: nodes on the host one after the other are one. */
static uint32_t row_of_steps(const struct place_graph *g, const struct place_latency_step *s,
                             uint32_t count)
{
    uint32_t n = 1;

    while (n < count && g->type[place_type_of(g, s[0].device)].is_host &&
           s[n].device == s[0].device)
        n++;
    return n;
}

static void print_steps(const struct place_graph *g, const struct placement *p,
                        const struct place_latency_step *s, uint32_t n)
{
    char device[16], node[32], ms[5][UNITS_ROOM];
    double compute = 0;
    bool several = placement_pieces(p) > 1;
    uint32_t nodes = 0;

    for (uint32_t i = 0; i < n; i++) {
        compute += s[i].compute_ms;
        nodes += s[i].nodes;
    }
    place_device_name(g, s[0].device, device);
    printf("%10s %9s  %s", units_plain_ms(ms[0], s[0].begin_ms),
           units_plain_ms(ms[1], s[n - 1].end_ms), device);
    if (several && !g->type[place_type_of(g, s[0].device)].is_host)
        printf(", piece %u", s[0].piece + 1);
    printf(": %u node%s, computes %s", nodes, nodes == 1 ? "" : "s",
           units_plain_ms(ms[2], compute));
    if (s[0].fetch_ms > 0 || s[0].send_ms > 0)
        printf(", fetches %s, sends %s", units_plain_ms(ms[3], s[0].fetch_ms),
               units_plain_ms(ms[4], s[0].send_ms));
    if (s[0].waits_for != PLACE_NONE)
        printf("; waits for %s", name_of(g, s[0].waits_for, node));
    printf("\n");
}

static int print_path(const struct place_graph *g, const struct placement *p, struct err *e)
{
    struct place_latency_step *s;
    uint32_t count;
    char ms[UNITS_ROOM];
    int rc = place_latency_path(g, p, &s, &count, e);

    if (count) {
        printf("%s for one sample, along this path\n\n    begins      ends  on\n",
               units_ms(ms, p->value_ms));
        for (uint32_t i = 0, n; i < count; i += n) {
            n = row_of_steps(g, s + i, count - i);
            print_steps(g, p, s + i, n);
        }
    }
    free(s);
    return rc;
}

int place_print_limits(const struct place_graph *g, const struct place_job *job,
                       const struct placement *p, const struct place_load *load, struct err *e)
{
    if (job->latency)
        return print_path(g, p, e) ? e->code : print_transfers(g, p, e);
    struct place_limit l = place_find_limit(g, &job->rules, p, load);
    char name[16], ms[4][UNITS_ROOM];

    if (l.device == PLACE_NONE)
        return 0;
    const struct place_load *d = &load[l.device];
    printf("%s limits, %s a sample%s: computes %s, fetches %s, sends %s\n",
           place_device_name(g, l.device, name), units_ms(ms[0], l.load_ms),
           job->rules.communication == PLACE_SUM ? "" : ", transfers beside the work",
           units_ms(ms[1], d->compute_ms[0] + d->compute_ms[1]),
           units_ms(ms[2], d->in_ms[0] + d->in_ms[1]),
           units_ms(ms[3], d->out_ms[0] + d->out_ms[1]));
    print_limit(g, p, &l, "waits for nobody");
    return print_transfers(g, p, e);
}

int place_print_json(const struct place_document *d, struct err *e)
{
    cJSON *o = place_json(d, false);
    char *text = cJSON_Print(o);

    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
    return text ? 0 : err_no_memory(e, "for the report");
}

int place_print(const char *name, const struct place_graph *g, const struct place_job *job,
                const struct placement *p, const struct place_load *load, struct err *e)
{
    struct place_limit l = place_find_limit(g, &job->rules, p, load);

    print_head(name, g);
    print_value(job, p);
    print_devices(g, job, p, load);
    if (!job->latency && l.device != PLACE_NONE) {
        printf("\n");
        print_limit(g, p, &l, "has the largest load");
    }
    return print_transfers(g, p, e);
}

/* ---- why ---- */

static const char *breach(const struct place_price *p)
{
    return isinf(p->value_ms)                                 ? "pieces would wait for each other"
           : p->faults & PLACE_OVER_MEMORY                    ? "over memory"
           : p->faults & PLACE_WRONG_KIND                     ? "may not be there"
           : p->faults & (PLACE_PIN_BROKEN | PLACE_NOT_APART) ? "breaks a pin"
           : p->faults & PLACE_CROWDED                        ? "a copy of a stage is there"
                                                              : "";
}

static void print_prices(struct place_look *l, uint32_t node, struct place_price *price)
{
    uint32_t home = place_look_device(l, node);
    char name[16], ms[UNITS_ROOM], change[UNITS_ROOM];

    place_look_prices(l, node, price);
    printf("\non        %s    change\n", l->sample ? "one sample" : "per sample");
    for (uint32_t d = 0; d < l->state->devices; d++) {
        const char *breaks = breach(&price[d]);
        bool is_host = l->g->type[place_type_of(l->g, d)].is_host;
        if (l->sample && is_host && d != home && d > l->state->accelerators)
            continue; /* cores are as many as needed: one stands for all */
        double more = price[d].value_ms - price[home].value_ms;
        if (d == home && !*breaks)
            breaks = "as it is";
        printf("%-9s %10s %9s%s%s\n", place_device_name(l->g, d, name),
               isinf(price[d].value_ms) ? "-" : units_plain_ms(ms, price[d].value_ms),
               d == home || isinf(more) ? "" : units_change(change, more, 2), *breaks ? "   " : "",
               breaks);
    }
}

int place_print_why(const struct place_graph *g, const struct place_rules *rules,
                    const struct placement *p, uint32_t node, struct err *e)
{
    struct place_look *l;
    char name[32], other[32], device[16], ms[UNITS_ROOM];
    double held_ms;

    if (place_look_new(g, rules, p, &l, e))
        return e->code;
    struct place_price *price = mem_try((size_t)l->state->devices + 1, sizeof *price);
    if (!price) {
        place_look_free(l);
        return err_no_memory(e, "for a plan");
    }
    uint32_t holder = place_look_holder(l, node, &held_ms), together = 0;
    for (uint32_t v = 0; v < g->nodes; v++)
        together += g->color[v] == g->color[node] && v != node;
    printf("%s is on %s", name_of(g, node, name),
           place_device_name(g, place_look_device(l, node), device));
    if (together)
        printf(", with %u node%s its device", together,
               together == 1 ? " that shares" : "s that share");
    if (holder == PLACE_NONE)
        printf("; nothing on it is read or made by others there\n");
    else
        printf("; the output of %s would cross, %s ms at each end\n", name_of(g, holder, other),
               units_plain_ms(ms, held_ms));
    print_prices(l, node, price);
    if (!l->sample)
        printf("\n%s limits\n", place_device_name(g, place_look_limit(l), device));
    free(price);
    place_look_free(l);
    return 0;
}

/* ---- as a pipeline ---- */

void place_print_pipeline(const struct place_pipeline *l, bool whole)
{
    char step[UNITS_ROOM], bytes[UNITS_ROOM];
    const struct pipeline_options *o = &l->pipeline.options;

    printf("\nas a pipeline   %u stage%s, step %s (%s, simulated, %u micro-batch%s%s), %s%s\n",
           l->plan.plan.stages, l->plan.plan.stages == 1 ? "" : "s",
           units_ms(step, pipeline_step_ms(&l->pipeline, &l->plan)),
           pipe_schedule_names[o->schedule], o->micro_batches, o->micro_batches == 1 ? "" : "es",
           o->recompute ? ", recomputed" : "",
           units_bytes(bytes, pipeline_memory(&l->pipeline, &l->plan, NULL)),
           l->plan.fits ? "" : ", does not fit");
    if (l->raised || l->elsewhere)
        printf("                %u of %u backward and %u forward operations stand on another stage "
               "than their device's\n",
               l->elsewhere, l->backward, l->raised);
    if (whole) {
        printf("\n");
        pipeline_print(&l->pipeline, &l->plan);
    }
}
