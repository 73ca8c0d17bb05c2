#include "engine/pipeline/stage_peak.h"

#include "engine/pipeline/formula.h"
#include "engine/pipeline/lifetimes.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/simulation.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"

#include <math.h>
#include <string.h>

/* ---- peaks ---- */

/* Bytes at the peak as a part of what the stage's devices have. */
static double fullness(const struct pipeline *l, const struct pipe_plan *p, uint32_t stage,
                       double bytes)
{
    return bytes / pipe_group_of(&l->all, p->device[stage], p->device[stage + 1])->memory_bytes;
}

static int fill_stage(const struct pipeline *l, const struct pipe_plan *p, uint32_t stage,
                      struct pipeline_peak *k, struct err *e)
{
    int rc = timeline_new(&l->order, &l->all, p, stage, &k->timeline[stage], e);

    if (rc)
        return rc;
    k->stages = stage + 1;
    rc = timeline_find_peak(&k->timeline[stage], &k->schedule, &k->stage[stage], e);
    if (rc)
        return rc;
    if (fullness(l, p, stage, k->stage[stage].total) >
        fullness(l, p, k->worst, k->stage[k->worst].total))
        k->worst = stage;
    return rc;
}

int pipeline_peak_new(const struct pipeline *l, const struct pipe_plan *p,
                      struct pipeline_peak *out, struct err *e)
{
    *out = (struct pipeline_peak){0};
    int rc = pipe_schedule_make(&l->all, p, l->options.schedule, &out->schedule, e);

    out->timeline = mem_try(p->stages, sizeof *out->timeline);
    out->stage = mem_try(p->stages, sizeof *out->stage);
    if (rc)
        goto out;
    if (!out->timeline || !out->stage) {
        rc = err_no_memory(e, "to look at the peak of a pipeline");
        goto out;
    }
    for (uint32_t s = 0; s < p->stages; s++) {
        rc = fill_stage(l, p, s, out, e);
        if (rc)
            goto out;
    }
out:
    if (rc)
        pipeline_peak_release(out);
    return rc;
}

void pipeline_peak_release(struct pipeline_peak *k)
{
    for (uint32_t s = 0; s < k->stages; s++)
        timeline_release(&k->timeline[s]);
    free(k->timeline);
    free(k->stage);
    pipe_schedule_free(&k->schedule);
    *k = (struct pipeline_peak){0};
}

/* ---- changes ---- */

struct look {
    const struct pipeline *l;
    const struct pipe_plan *plan;
    double before; /* fullness of the worst stage */
    struct pipeline_change *list;
    uint32_t count;
    size_t room;
    struct err *e;
};

static bool keeps_pins(const struct pipeline *l, const struct pipe_plan *p)
{
    struct pipe_pins pins = pipeline_pins(l, &l->all);
    bool kept = true;

    for (uint32_t s = 0; s < p->stages; s++)
        kept &=
            pipe_pins_allow(&pins, p->pivot[s], p->pivot[s + 1], p->device[s], p->device[s + 1]);
    return kept;
}

/* Prices `c` on pipeline `l`, which has its options, and keeps it when it lowers the peak. */
static int try_change(struct look *k, const struct pipeline *l, struct pipeline_change c)
{
    struct pipeline_peak peak;
    int rc;

    if (!pipe_plan_is_valid(&l->all, &c.plan) || !keeps_pins(k->l, &c.plan))
        return 0;
    c.micro_batches = l->options.micro_batches;
    c.schedule = l->options.schedule;
    rc = pipeline_peak_new(l, &c.plan, &peak, k->e);
    if (rc)
        return rc;
    c.worst = peak.worst;
    c.peak = peak.stage[peak.worst].total;
    c.filled = fullness(l, &c.plan, c.worst, c.peak);
    c.makespan_ms = peak.schedule.makespan_ms;
    c.length_ms = pipe_length(&l->all, &c.plan);
    pipeline_peak_release(&peak);
    if (c.filled >= k->before * (1 - 1e-9))
        return 0;
    if (!mem_grow(&k->list, &k->room, k->count, 1))
        return err_no_memory(k->e, "to look at the peak of a pipeline");
    k->list[k->count++] = c;
    return 0;
}

/* The next cut of `few` on that side of a cut of `all`; 0: none. */
static uint32_t next_cut(const struct pipeline *l, uint32_t pivot, int step)
{
    uint32_t best = 0;

    for (uint32_t n = 1; n < l->few.points; n++) {
        if (step > 0 && l->cut[n] > pivot)
            return l->cut[n];
        if (step < 0 && l->cut[n] < pivot)
            best = l->cut[n];
    }
    return best;
}

static int try_moves(struct look *k)
{
    int rc = 0;

    for (uint32_t cut = 1; cut < k->plan->stages; cut++) {
        for (int step = -1; step <= 1; step += 2) {
            struct pipeline_change pivot = {.kind = CHANGE_PIVOT, .cut = cut, .plan = *k->plan};
            struct pipeline_change device = {.kind = CHANGE_DEVICE, .cut = cut, .plan = *k->plan};
            pivot.plan.pivot[cut] = next_cut(k->l, k->plan->pivot[cut], step);
            device.plan.device[cut] += (uint32_t)step;
            rc = try_change(k, k->l, pivot);
            rc = rc ? rc : try_change(k, k->l, device);
            if (rc)
                return rc;
        }
    }
    return rc;
}

/* The same tables under other options. */
static int try_options(struct look *k)
{
    struct pipeline l = *k->l;
    int rc = 0;

    for (int s = 0; s < PIPE_SCHEDULE_COUNT && !rc; s++) {
        l.options.schedule = l.all.options.schedule = (enum pipe_schedule_kind)s;
        if (l.options.schedule != k->l->options.schedule)
            rc = try_change(k, &l,
                            (struct pipeline_change){.kind = CHANGE_SCHEDULE, .plan = *k->plan});
    }
    l = *k->l;
    l.options.recompute = l.all.options.recompute = true;
    if (!rc && !k->l->options.recompute)
        rc =
            try_change(k, &l, (struct pipeline_change){.kind = CHANGE_RECOMPUTE, .plan = *k->plan});
    return rc;
}

static int try_micro_batches(struct look *k)
{
    struct pipeline_options o = k->l->options;
    struct pipeline l;

    do
        o.micro_batches++;
    while (o.micro_batches < o.batch && o.batch % o.micro_batches);
    if (o.micro_batches > o.batch)
        return 0;
    int rc = pipeline_new(k->l->problem, &o, &l, k->e);
    if (rc)
        return rc;
    rc =
        try_change(k, &l, (struct pipeline_change){.kind = CHANGE_MICRO_BATCHES, .plan = *k->plan});
    pipeline_release(&l);
    return rc;
}

static int lowest_first(const void *x, const void *y)
{
    const struct pipeline_change *a = x, *b = y;

    if (a->filled != b->filled)
        return a->filled < b->filled ? -1 : 1;
    if (a->makespan_ms != b->makespan_ms)
        return a->makespan_ms < b->makespan_ms ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->cut < b->cut ? -1 : a->cut > b->cut;
}

int pipeline_changes(const struct pipeline *l, const struct pipe_plan *p,
                     const struct pipeline_peak *now, struct pipeline_change **out, uint32_t *count,
                     struct err *e)
{
    struct look k = {.l = l, .plan = p, .e = e};

    k.before = fullness(l, p, now->worst, now->stage[now->worst].total);
    *out = NULL;
    *count = 0;
    int rc = try_moves(&k);
    rc = rc ? rc : try_options(&k);
    rc = rc ? rc : try_micro_batches(&k);
    if (rc) {
        free(k.list);
        return rc;
    }
    if (k.count)
        qsort(k.list, k.count, sizeof *k.list, lowest_first);
    *out = k.list;
    *count = k.count;
    return 0;
}

/* ---- words ---- */

/* "one device more for stage 2, from stage 1", "recompute". Appended. */
static void pipeline_change_write(const struct pipeline *l, const struct pipe_plan *now,
                                  const struct pipeline_change *c, struct str *out)
{
    uint32_t pivot = c->plan.pivot[c->cut],
             more = c->plan.device[c->cut] < now->device[c->cut] ? c->cut : c->cut - 1;
    char layer[160];

    switch (c->kind) {
    case CHANGE_PIVOT:
        pipeline_layer(l, pivot, layer, sizeof layer);
        str_format(out, "cut %u before %s%s%s, %.1f %% in place of %.1f %%", c->cut,
                   hlo_name(l->problem->m, l->all.instruction[pivot]), layer[0] ? ", " : "", layer,
                   100 * pipeline_share(l, pivot), 100 * pipeline_share(l, now->pivot[c->cut]));
        break;
    case CHANGE_DEVICE:
        str_format(out, "one device more for stage %u, from stage %u", more,
                   more == c->cut ? c->cut - 1 : c->cut);
        break;
    case CHANGE_RECOMPUTE:
        str_add(out, "recompute: stages keep their inputs only");
        break;
    case CHANGE_SCHEDULE:
        str_format(out, "schedule %s", pipe_schedule_names[c->schedule]);
        break;
    case CHANGE_MICRO_BATCHES:
        str_format(out, "%u micro-batches of %u", c->micro_batches,
                   l->options.batch / c->micro_batches);
        break;
    }
}

static void write_source(const struct hlo_module *m, hlo_id id, struct str *out)
{
    const struct hlo_meta *meta = hlo_meta(m, id);

    if (meta->source_file && meta->source_file[0])
        str_format(out, "  %s:%u", meta->source_file, meta->source_line);
}

/* "9.31 GB  of 16.0 GB: fits; stage 2 at 512 ms, backward pass of micro-batch 3, dot.17
 * model.py:45". */
static void write_peak(const struct pipeline *l, const struct pipe_plan *p,
                       const struct pipeline_peak *k, struct str *out)
{
    const struct timeline *t = &k->timeline[k->worst];
    const struct timeline_peak *peak = &k->stage[k->worst];
    struct pipe_stage s = pipe_stage_of(&l->all, p, k->worst);
    double memory = pipe_group_of(&l->all, s.first_device, s.end_device)->memory_bytes;
    char a[UNITS_ROOM], b[UNITS_ROOM];

    str_format(out, "  peak            %12s  of %s: %s; stage %u at ", units_bytes(a, peak->total),
               units_bytes(b, memory), peak->total <= memory ? "fits" : "does not fit", k->worst);
    str_add(out, units_ms(a, peak->at.start_ms));
    if (peak->at.step != TIMELINE_IDLE) {
        uint32_t point = lifetimes_point(&t->lifetimes, t->first_point, peak->at.step);
        hlo_id id = l->all.instruction[point];
        str_format(out, ", %s pass of micro-batch %u at %s",
                   peak->at.step < t->lifetimes.points ? "forward" : "backward",
                   peak->at.micro_batch, hlo_name(l->problem->m, id));
        write_source(l->problem->m, id, out);
    }
    str_format(out, "\n  searches count  %12s  every micro-batch in flight in full, no buffers\n\n",
               units_bytes(a, s.memory_bytes));
}

static void write_stages(const struct pipeline_peak *k, struct str *out)
{
    char x[UNITS_ROOM];

    str_add(out, "  stage       peak       at");
    for (int n = 0; n < TIMELINE_KINDS; n++)
        str_format(out, " %17s", timeline_kind_names[n]);
    str_add_char(out, '\n');
    for (uint32_t s = 0; s < k->stages; s++) {
        const struct timeline_peak *peak = &k->stage[s];
        str_format(out, "  %-5u %10s", s, units_bytes(x, peak->total));
        str_format(out, " %8s", units_ms(x, peak->at.start_ms));
        for (int n = 0; n < TIMELINE_KINDS; n++)
            str_format(out, " %17s", units_bytes(x, peak->bytes[n]));
        str_add(out, s == k->worst ? "  worst\n" : "\n");
    }
}

static void write_tops(const struct pipeline *l, const struct pipeline_peak *k, uint32_t room,
                       struct str *out)
{
    const struct hlo_module *m = l->problem->m;
    struct timeline_top list[64];
    uint32_t count =
        timeline_tops(&k->timeline[k->worst], &k->stage[k->worst].at, list, room < 64 ? room : 64);
    char bytes[UNITS_ROOM];

    str_add(out, "\n  largest values held there, alike ones and copies of micro-batches together; "
                 "shapes are the file's\n");
    for (uint32_t n = 0; n < count; n++) {
        hlo_value v = l->order.steps.values[list[n].value].value;
        hlo_id id = m->value_instruction[v];
        str_format(out, "  %12s  %4u x %-3u %-8s %-24s ", units_bytes(bytes, list[n].bytes),
                   list[n].alike, list[n].copies, list[n].kept ? "kept" : "working",
                   hlo_name(m, id));
        hlo_write_shape(m, m->value_shape[v], false, out);
        write_source(m, id, out);
        str_add_char(out, '\n');
    }
}

/* The best change of each kind, the lowest peak first. */
static void write_changes(const struct pipeline *l, const struct pipe_plan *p,
                          const struct pipeline_change *list, uint32_t count, struct str *out)
{
    char x[UNITS_ROOM];
    unsigned seen = 0;

    if (!count) {
        str_add(out, "\n  no single change lowers it\n");
        return;
    }
    str_add(out, "\n  single changes that lower it, the best of each kind\n          peak  in "
                 "stage       step          L\n");
    for (uint32_t n = 0; n < count; n++) {
        const struct pipeline_change *c = &list[n];
        if (seen >> c->kind & 1)
            continue;
        seen |= 1u << c->kind;
        str_format(out, "  %12s  %8u", units_bytes(x, c->peak), c->worst);
        str_format(out, " %10s", units_ms(x, c->makespan_ms));
        str_format(out, " %10s  ", units_ms(x, c->length_ms));
        pipeline_change_write(l, p, c, out);
        str_add_char(out, '\n');
    }
}

/* What both forms tell. */
struct report {
    struct pipeline_peak peak;
    struct pipeline_change *list;
    uint32_t count;
};

static int report_new(const struct pipeline *l, const struct pipe_plan *p, struct report *r,
                      struct err *e)
{
    *r = (struct report){.list = NULL};
    int rc = pipeline_peak_new(l, p, &r->peak, e);

    if (rc)
        return rc;
    rc = pipeline_changes(l, p, &r->peak, &r->list, &r->count, e);
    if (rc)
        pipeline_peak_release(&r->peak);
    return rc;
}

static void report_release(struct report *r)
{
    free(r->list);
    pipeline_peak_release(&r->peak);
}

int pipeline_peak_write(const struct pipeline *l, const struct pipe_plan *p, uint32_t tops,
                        struct str *out, struct err *e)
{
    struct report r;
    int rc = report_new(l, p, &r, e);

    if (rc)
        return rc;
    write_peak(l, p, &r.peak, out);
    write_stages(&r.peak, out);
    write_tops(l, &r.peak, tops, out);
    write_changes(l, p, r.list, r.count, out);
    report_release(&r);
    return out->failed ? err_no_memory(e, "to look at the peak of a pipeline") : 0;
}

/* ---- JSON ---- */

static cJSON *stages_json(const struct pipeline_peak *k)
{
    static const char *const keys[TIMELINE_KINDS] = {"parameter_bytes", "gradient_bytes",
                                                     "optimizer_bytes", "kept_bytes",
                                                     "working_bytes",   "buffer_bytes"};
    cJSON *list = cJSON_CreateArray();

    for (uint32_t s = 0; s < k->stages; s++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "bytes", k->stage[s].total);
        cJSON_AddNumberToObject(one, "at_ms", k->stage[s].at.start_ms);
        for (int n = 0; n < TIMELINE_KINDS; n++)
            cJSON_AddNumberToObject(one, keys[n], k->stage[s].bytes[n]);
        cJSON_AddItemToArray(list, one);
    }
    return list;
}

static cJSON *change_json(const struct pipeline *l, const struct pipe_plan *p,
                          const struct pipeline_change *c)
{
    struct str words = {0};
    cJSON *o = cJSON_CreateObject();

    pipeline_change_write(l, p, c, &words);
    cJSON_AddStringToObject(o, "what", words.text ? words.text : "");
    cJSON_AddNumberToObject(o, "bytes", c->peak);
    cJSON_AddNumberToObject(o, "worst", c->worst);
    cJSON_AddNumberToObject(o, "L_ms", c->length_ms);
    cJSON_AddNumberToObject(o, "makespan_ms", c->makespan_ms);
    str_release(&words);
    return o;
}

int pipeline_peak_json(const struct pipeline *l, const struct pipe_plan *p, cJSON **out,
                       struct err *e)
{
    struct report r;
    int rc = report_new(l, p, &r, e);

    if (rc)
        return rc;
    *out = cJSON_CreateObject();
    cJSON_AddItemToObject(*out, "stages", stages_json(&r.peak));
    cJSON_AddNumberToObject(*out, "worst", r.peak.worst);
    cJSON_AddItemToObject(*out, "change",
                          r.count ? change_json(l, p, &r.list[0]) : cJSON_CreateNull());
    report_release(&r);
    return 0;
}
