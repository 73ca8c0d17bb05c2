#include "engine/hybrid/hybrid_export.h"

#include "engine/hybrid/export_stages.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/hybrid_trainers.h"
#include "engine/hybrid/interleave.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/simulation.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int finish_export(const struct str *out, struct err *e)
{
    return out->failed ? err_no_memory(e, "for the text of a plan") : 0;
}

static int write_json(const struct hybrid *h, struct str *out, struct err *e)
{
    cJSON *o = hybrid_json(h);
    char *text = cJSON_Print(o);

    if (text)
        str_format(out, "%s\n", text);
    else
        out->failed = true;
    cJSON_free(text);
    cJSON_Delete(o);
    return finish_export(out, e);
}

/* ---- a trace ---- */

static uint32_t groups_of(const struct hybrid *h)
{
    return h->stages / h->chunks;
}

static void add_row(uint32_t tid, bool first, struct str *out, const char *what, uint32_t a,
                    uint32_t b)
{
    str_format(out,
               "%s\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":%u,\"args\":{\"name\":"
               "\"%s %u",
               first ? "" : ",", tid, what, a);
    if (b != UINT32_MAX)
        str_format(out, " to %u", b);
    str_format(out,
               "\"}},\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":0,\"tid\":%u,"
               "\"args\":{\"sort_index\":%u}}",
               tid, tid);
}

/* Rows: groups of devices and links between them, by node of a plan that is not interleaved. */
static void add_rows(const struct hybrid *h, struct str *out)
{
    uint32_t groups = groups_of(h);

    for (uint32_t s = 0; s < groups; s++) {
        add_row(2 * s, !s, out, h->chunks > 1 ? "group" : "stage", s, UINT32_MAX);
        if (s + 1 < groups || h->chunks > 1)
            add_row(2 * s + 1, false, out, "link", s, (s + 1) % groups);
    }
}

static void add_task(const struct hybrid *h, const struct pipe_task *t, struct str *out)
{
    static const char *const kinds[] = {[PIPE_FORWARD] = "forward",
                                        [PIPE_BACKWARD] = "backward",
                                        [PIPE_REDUCE] = "all-reduce and update"};
    uint32_t stage = t->node / 2, tid = 2 * (stage % groups_of(h)) + t->node % 2;

    if (t->end_ms <= t->start_ms)
        return;
    str_add(out, ",\n{\"ph\":\"X\",\"name\":\"");
    if (t->kind == PIPE_REDUCE)
        str_add(out, t->node % 2 ? "once a step" : kinds[t->kind]);
    else if (h->chunks > 1)
        str_format(out, "%s %u of stage %u", kinds[t->kind], t->micro_batch, stage);
    else
        str_format(out, "%s %u", kinds[t->kind], t->micro_batch);
    str_format(out, "\",\"cat\":\"%s\",\"pid\":0,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f}",
               kinds[t->kind], tid, 1e3 * t->start_ms, 1e3 * (t->end_ms - t->start_ms));
}

/* In order of time; passes that take none in the order in which values go: forward from stage to
 * stage, then back. */
static int compare_tasks(const void *a, const void *b)
{
    const struct pipe_task *p = a, *q = b;

    if (p->start_ms != q->start_ms)
        return p->start_ms < q->start_ms ? -1 : 1;
    if (p->end_ms != q->end_ms)
        return p->end_ms < q->end_ms ? -1 : 1;
    if (p->kind != q->kind)
        return p->kind < q->kind ? -1 : 1;
    if (p->node != q->node)
        return (p->node < q->node) == (p->kind == PIPE_FORWARD) ? -1 : 1;
    return p->micro_batch < q->micro_batch ? -1 : p->micro_batch > q->micro_batch;
}

static const struct hybrid_point *point_of(const struct hybrid *h, uint32_t n, bool by_value)
{
    return by_value ? &h->stage[n].by_value.point : &h->stage[n].point;
}

static int play_plain(const struct hybrid *h, bool by_value, struct pipe_schedule *out,
                      struct err *e)
{
    struct pipe_options o = {.micro_batches = h->micro_batches,
                             .half_duplex = h->options.half_duplex};
    struct pipe_node node[PIPE_NODES_MOST];
    uint32_t count = 0;

    for (uint32_t n = 0; n < h->stages; n++) {
        if (n)
            node[count++] = h->cut[n - 1].node;
        node[count++] = hybrid_stage_node(point_of(h, n, by_value));
    }
    return pipe_nodes_schedule(node, count, &o, by_value ? h->by_value_schedule : h->schedule, out,
                               e);
}

static int play_interleaved(const struct hybrid *h, bool by_value, struct pipe_schedule *out,
                            struct err *e)
{
    struct pipe_node chunk[HYBRID_STAGES_MOST], transfer[HYBRID_STAGES_MOST];
    struct interleave x = {groups_of(h), h->chunks, h->micro_batches, chunk, transfer, NULL};
    uint32_t most = 2 * h->stages * (2 * h->micro_batches + 1);

    for (uint32_t n = 0; n < h->stages; n++) {
        chunk[n] = hybrid_stage_node(point_of(h, n, by_value));
        if (n + 1 < h->stages)
            transfer[n] = h->cut[n].node;
    }
    *out = (struct pipe_schedule){.task = mem_try(most, sizeof *out->task)};
    x.tasks = out;
    double ms = out->task ? interleave_makespan(&x) : INFINITY;
    if (!(ms < INFINITY)) {
        pipe_schedule_free(out);
        return err_no_memory(e, "for a schedule");
    }
    out->nodes = 2 * h->stages - 1;
    out->micro_batches = h->micro_batches;
    out->kind = PIPE_1F1B;
    out->makespan_ms = ms;
    return 0;
}

int hybrid_schedule(const struct hybrid *h, bool by_value, struct pipe_schedule *out, struct err *e)
{
    int rc =
        h->chunks > 1 ? play_interleaved(h, by_value, out, e) : play_plain(h, by_value, out, e);

    if (!rc)
        qsort(out->task, out->count, sizeof *out->task, compare_tasks);
    return rc;
}

/* Chrome's trace format (chrome://tracing, Perfetto), times in us. */
static int write_trace(const struct hybrid *h, struct str *out, struct err *e)
{
    struct pipe_schedule s;
    int rc = hybrid_schedule(h, hybrid_is_by_value(h), &s, e);

    if (rc)
        return rc;
    str_add(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    add_rows(h, out);
    for (uint32_t k = 0; k < s.count; k++)
        add_task(h, &s.task[k], out);
    str_add(out, "\n]}\n");
    pipe_schedule_free(&s);
    return finish_export(out, e);
}

static const struct hybrid_form forms[] = {
    {"json", write_json, false},           {"trace", write_trace, false},
    {"stages", export_stages, true},       {"jax", export_stages_jax, true},
    {"megatron", export_megatron, true},   {"torchtitan", export_torchtitan, true},
    {"deepspeed", export_deepspeed, true}, {"flags", export_trainers, true},
};

int hybrid_write(const struct hybrid_form *f, const struct hybrid *h, struct str *out,
                 struct err *e)
{
    if (f->is_run && !hybrid_fits(h))
        return err_set(e, ERR_INFEASIBLE,
                       h->by_value_ms > 0
                           ? "the plan fits its devices only with what stages keep chosen by "
                             "value, and %s says stages that keep all or run again"
                           : "the plan fits its devices only with relaxed stages, and %s says "
                             "strict ones",
                       f->name);
    return f->write(h, out, e);
}

const struct hybrid_form *hybrid_form_by_name(const char *name)
{
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        if (!name || !strcmp(forms[k].name, name))
            return &forms[k];
    return NULL;
}
