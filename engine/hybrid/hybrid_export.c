#include "engine/hybrid/hybrid_export.h"

#include "engine/hybrid/export_stages.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/interleave.h"
#include "engine/hybrid/sections.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/simulation.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int finish(const struct str *out, struct err *e)
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
    return finish(out, e);
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

static int play_plain(const struct hybrid *h, struct pipe_schedule *out, struct err *e)
{
    struct pipe_options o = {.micro_batches = h->micro_batches,
                             .half_duplex = h->options.half_duplex};
    struct pipe_node node[PIPE_NODES_MOST];
    uint32_t count = 0;

    for (uint32_t n = 0; n < h->stages; n++) {
        if (n)
            node[count++] = h->cut[n - 1].node;
        node[count++] = hybrid_stage_node(&h->stage[n].point);
    }
    return pipe_nodes_schedule(node, count, &o, h->schedule, out, e);
}

static int play_interleaved(const struct hybrid *h, struct pipe_schedule *out, struct err *e)
{
    struct pipe_node chunk[HYBRID_STAGES_MOST], transfer[HYBRID_STAGES_MOST];
    struct interleave x = {groups_of(h), h->chunks, h->micro_batches, chunk, transfer, NULL};
    uint32_t most = 2 * h->stages * (2 * h->micro_batches + 1);

    for (uint32_t n = 0; n < h->stages; n++) {
        chunk[n] = hybrid_stage_node(&h->stage[n].point);
        if (n + 1 < h->stages)
            transfer[n] = h->cut[n].node;
    }
    *out = (struct pipe_schedule){.task = mem_try(most, sizeof *out->task)};
    x.tasks = out;
    if (!out->task || !(interleave_makespan(&x) < INFINITY)) {
        pipe_schedule_free(out);
        return err_no_memory(e, "for a schedule");
    }
    return 0;
}

int hybrid_schedule(const struct hybrid *h, struct pipe_schedule *out, struct err *e)
{
    int rc = h->chunks > 1 ? play_interleaved(h, out, e) : play_plain(h, out, e);

    if (!rc)
        qsort(out->task, out->count, sizeof *out->task, compare_tasks);
    return rc;
}

/* Chrome's trace format (chrome://tracing, Perfetto), times in us. */
static int write_trace(const struct hybrid *h, struct str *out, struct err *e)
{
    struct pipe_schedule s;
    int rc = hybrid_schedule(h, &s, e);

    if (rc)
        return rc;
    str_add(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    add_rows(h, out);
    for (uint32_t k = 0; k < s.count; k++)
        add_task(h, &s.task[k], out);
    str_add(out, "\n]}\n");
    pipe_schedule_free(&s);
    return finish(out, e);
}

/* ---- trainers ---- */

/* What trainers can be told of a plan. */
struct told {
    uint32_t tp, dp, pp, v;
    uint32_t layers[HYBRID_STAGES_MOST]; /* of each stage, in order of the model */
    uint32_t all_layers;
    uint32_t samples; /* of a micro-batch, on one replica */
    bool recompute, is_even;
};

static int tell(const struct hybrid *h, struct told *t, struct err *e)
{
    const struct hybrid_stage *first = &h->stage[0];
    uint32_t d = first->end_device - first->device;
    char layer[160];

    *t = (struct told){.tp = d / first->dp,
                       .dp = first->dp,
                       .pp = groups_of(h),
                       .v = h->chunks,
                       .recompute = first->point.recompute,
                       .is_even = true};
    for (uint32_t n = 0; n < h->stages; n++) {
        const struct hybrid_stage *s = &h->stage[n];
        if (s->end_device - s->device != d || s->dp != first->dp ||
            s->point.recompute != first->point.recompute)
            return err_set(e, ERR_INFEASIBLE,
                           "stage %u has other devices, replicas or recomputation than stage 0: "
                           "trainers have one setting for all; automap search --kind hybrid "
                           "--uniform finds such a plan",
                           n);
        for (uint32_t m = s->section; m < s->end_section; m++) {
            sections_layer(&h->sections, m, layer, sizeof layer);
            t->layers[n] += layer[0] != '\0';
        }
        t->all_layers += t->layers[n];
        t->is_even &= t->layers[n] == t->layers[0];
    }
    uint32_t batch = h->options.batch / h->micro_batches;
    if (batch % t->dp)
        return err_set(e, ERR_INFEASIBLE,
                       "a micro-batch of %u samples does not divide among %u replicas", batch,
                       t->dp);
    if (h->zero > 1)
        return err_set(e, ERR_INFEASIBLE,
                       "ZeRO %u goes with no pipeline of these trainers, ZeRO 1 does", h->zero);
    t->samples = batch / t->dp;
    return 0;
}

/* "Et*13|t*12|t*11L": E embedding, t a layer, L loss. */
static void add_layout(const struct hybrid *h, const struct told *t, struct str *out)
{
    for (uint32_t n = 0; n < h->stages; n++) {
        str_format(out, "%s%s", n ? "|" : "", n ? "" : "E");
        if (t->layers[n] == 1)
            str_add(out, "t");
        else if (t->layers[n])
            str_format(out, "t*%u", t->layers[n]);
    }
    str_add(out, "L");
}

/* arguments.py of Megatron-LM. */
static int write_megatron(const struct hybrid *h, struct str *out, struct err *e)
{
    struct told t;
    int rc = tell(h, &t, e);

    if (rc)
        return rc;
    str_format(out,
               "--tensor-model-parallel-size %u --pipeline-model-parallel-size %u \\\n"
               "--micro-batch-size %u --global-batch-size %u",
               t.tp, t.pp, t.samples, h->options.batch);
    if (h->zero && t.dp > 1)
        str_add(out, " --use-distributed-optimizer");
    if (!t.is_even) {
        str_add(out, " \\\n--pipeline-model-parallel-layout \"");
        add_layout(h, &t, out);
        str_add(out, "\"");
    } else if (t.v > 1) {
        str_format(out, " \\\n--num-layers-per-virtual-pipeline-stage %u", t.layers[0]);
    }
    if (t.recompute)
        str_add(out, " \\\n--recompute-granularity full --recompute-method uniform "
                     "--recompute-num-layers 1");
    str_add(out, "\n");
    return finish(out, e);
}

/* [parallelism] and [activation_checkpoint] of torchtitan's job config. */
static int write_torchtitan(const struct hybrid *h, struct str *out, struct err *e)
{
    static const char *const schedules[PIPE_SCHEDULE_COUNT] = {
        [PIPE_EAGER] = "1F1B", [PIPE_1F1B] = "1F1B", [PIPE_GPIPE] = "GPipe"};
    struct told t;
    int rc = tell(h, &t, e);

    if (rc)
        return rc;
    str_format(out,
               "[training]\nlocal_batch_size = %u\nglobal_batch_size = %u\n\n[parallelism]\n"
               "tensor_parallel_degree = %u\npipeline_parallel_degree = %u\n"
               "data_parallel_replicate_degree = %u\ndata_parallel_shard_degree = 1\n"
               "pipeline_parallel_schedule = \"%s\"\npipeline_parallel_microbatch_size = %u\n",
               h->options.batch / t.dp, h->options.batch, t.tp, t.pp, t.dp,
               t.v > 1 ? "Interleaved1F1B" : schedules[h->schedule], t.samples);
    str_add(out, "# layers of each stage:");
    for (uint32_t n = 0; n < h->stages; n++)
        str_format(out, " %u", t.layers[n]);
    str_format(out, "\n\n[activation_checkpoint]\nmode = \"%s\"\n", t.recompute ? "full" : "none");
    return finish(out, e);
}

static int write_deepspeed(const struct hybrid *h, struct str *out, struct err *e)
{
    struct told t;
    int rc = tell(h, &t, e);

    if (!rc && t.v > 1)
        rc = err_set(e, ERR_INFEASIBLE, "DeepSpeed's pipelines are not interleaved: --chunks 1");
    if (rc)
        return rc;
    str_format(out,
               "{\n  \"train_batch_size\": %u,\n  \"train_micro_batch_size_per_gpu\": %u,\n"
               "  \"gradient_accumulation_steps\": %u,\n  \"zero_optimization\": {\"stage\": %u},\n"
               "  \"_topology\": {\"num_pp\": %u, \"num_mp\": %u, \"num_dp\": %u, "
               "\"layers\": [",
               h->options.batch, t.samples, h->micro_batches, h->zero, t.pp, t.tp, t.dp);
    for (uint32_t n = 0; n < h->stages; n++)
        str_format(out, "%s%u", n ? ", " : "", t.layers[n]);
    str_format(out, "], \"activation_checkpoint_interval\": %u}\n}\n", t.recompute);
    return finish(out, e);
}

static const struct hybrid_form forms[] = {
    {"json", write_json},           {"trace", write_trace},       {"stages", export_stages},
    {"jax", export_stages_jax},     {"megatron", write_megatron}, {"torchtitan", write_torchtitan},
    {"deepspeed", write_deepspeed},
};

const struct hybrid_form *hybrid_form_by_name(const char *name)
{
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        if (!name || !strcmp(forms[k].name, name))
            return &forms[k];
    return NULL;
}
