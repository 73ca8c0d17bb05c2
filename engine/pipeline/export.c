#include "engine/pipeline/export.h"

#include "engine/cluster/cluster.h"
#include "engine/cost/step_tables.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/pipeline/reads.h"
#include "engine/pipeline/simulation.h"
#include "engine/pipeline/tabulate.h"
#include "engine/pipeline/unroll.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <string.h>

static int finish_export(const struct str *out, struct err *e)
{
    return out->failed ? err_no_memory(e, "for the text of a plan") : 0;
}

/* ---- a trace ---- */

static void add_row_name(const struct pipeline_plan *p, uint32_t node, struct str *out)
{
    uint32_t s = node / 2;

    str_format(
        out,
        "%s\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":%u,\"args\":{\"name\":\"",
        node ? "," : "", node);
    if (node % 2)
        str_format(out, "link %u to %u", s, s + 1);
    else
        str_format(out, "stage %u, devices %u-%u", s, p->plan.device[s], p->plan.device[s + 1] - 1);
    str_format(out,
               "\"}},\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":0,\"tid\":%u,\"args\":{"
               "\"sort_index\":%u}}",
               node, node);
}

static void add_task(const struct pipe_task *t, struct str *out)
{
    static const char *const kinds[] = {[PIPE_FORWARD] = "forward",
                                        [PIPE_BACKWARD] = "backward",
                                        [PIPE_REDUCE] = "all-reduce and update"};

    if (t->end_ms <= t->start_ms)
        return;
    str_add(out, ",\n{\"ph\":\"X\",\"name\":\"");
    if (t->kind == PIPE_REDUCE)
        str_add(out, t->node % 2 ? "once a step" : kinds[t->kind]);
    else
        str_format(out, "%s %u", kinds[t->kind], t->micro_batch);
    str_format(out, "\",\"cat\":\"%s\",\"pid\":0,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f}",
               kinds[t->kind], t->node, 1e3 * t->start_ms, 1e3 * (t->end_ms - t->start_ms));
}

/* The simulated schedule in Chrome's trace format (chrome://tracing, Perfetto): a row per stage and
 * per link, an event per pass, transfer and all-reduce. Times in us. Appended. ERR_LIMIT past
 * PIPE_TASKS_MOST passes. */
static int write_trace(const struct pipeline *l, const struct pipeline_plan *p, struct str *out,
                       struct err *e)
{
    struct pipe_schedule s;
    int rc = pipe_schedule_make(&l->all, &p->plan, l->options.schedule, &s, e);

    if (rc)
        return rc;
    str_add(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    for (uint32_t node = 0; node < s.nodes; node++)
        add_row_name(p, node, out);
    for (uint32_t k = 0; k < s.count; k++)
        add_task(&s.task[k], out);
    str_add(out, "\n]}\n");
    pipe_schedule_free(&s);
    return finish_export(out, e);
}

/* ---- JAX ---- */

/* Parameters that points [i, j) read, and that nothing reads at the first; of a stacked one the
 * slices, in ascending order of use. */
static void add_parameters(const struct pipeline *l, uint32_t i, uint32_t j, struct str *out)
{
    const struct order *o = &l->order;
    const struct hlo_roles *roles = &l->problem->roles;
    uint32_t *reads = mem_try((size_t)roles->param_count + 1, sizeof *reads),
             *slices = mem_try((size_t)roles->param_count + 1, sizeof *slices);
    uint8_t *unread = pipe_unread(o);

    for (uint32_t v = 0; reads && slices && unread && v < o->steps.value_count; v++) {
        const struct unroll_value *value = &o->steps.values[v];
        if (value->op != UNROLL_NONE || value->param == UNROLL_NONE ||
            roles->params[value->param].role != HLO_ROLE_VARIABLE)
            continue;
        bool here = unread[v] && !i;
        for (uint32_t n = o->user_base[v]; n < o->user_base[v + 1]; n++)
            here |= o->position[o->users[n]] >= i && o->position[o->users[n]] < j;
        bool is_slice = value->value != roles->params[value->param].value;
        reads[value->param] += here;
        slices[value->param] += here && is_slice;
    }
    if (!reads || !slices || !unread)
        out->failed = true;
    for (uint32_t k = 0; !out->failed && k < roles->param_count; k++) {
        if (!reads[k])
            continue;
        str_add(out, "            ");
        str_add_quoted(out, roles->params[k].name);
        str_add(out, ",");
        if (slices[k])
            str_format(out, "  # %u slices of it", slices[k]);
        str_add(out, "\n");
    }
    free(reads);
    free(slices);
    free(unread);
}

static void add_stage(const struct pipeline *l, const struct pipeline_plan *p, uint32_t s,
                      struct str *out)
{
    char layer[160];
    uint32_t first = p->plan.pivot[s];

    pipeline_layer(l, first, layer, sizeof layer);
    str_format(out, "    {\n        \"devices\": range(%u, %u),\n        \"begins_at\": ",
               p->plan.device[s], p->plan.device[s + 1]);
    str_add_quoted(out, hlo_name(l->problem->m, l->all.instruction[first]));
    str_add(out, ",\n        \"layer\": ");
    str_add_quoted(out, layer);
    str_format(out, ",\n        \"share\": %.4f,\n        \"parameters\": [\n",
               pipeline_share(l, p->plan.pivot[s + 1]) - pipeline_share(l, first));
    add_parameters(l, first, p->plan.pivot[s + 1], out);
    str_add(out, "        ],\n    },\n");
}

/* A Python module for training code in JAX: devices and parameters of each stage, where the cuts
 * lie, the schedule; with a function that makes the mesh of a stage. Appended. */
static int write_jax(const struct pipeline *l, const struct pipeline_plan *p, struct str *out,
                     struct err *e)
{
    const struct pipeline_options *o = &l->options;

    str_add(out, "# A pipeline of stages, each data parallel over its devices.\n");
    str_format(out,
               "import jax\nfrom jax.sharding import Mesh, NamedSharding, PartitionSpec\n\n"
               "MICRO_BATCHES = %u\nMICRO_BATCH = %u\nSCHEDULE = \"%s\"\nSTAGES = [\n",
               o->micro_batches, o->batch / o->micro_batches, pipe_schedule_names[o->schedule]);
    for (uint32_t s = 0; s < p->plan.stages; s++)
        add_stage(l, p, s, out);
    str_add(out,
            "]\n\n\n"
            "def stage_mesh(stage):\n"
            "    \"\"\"The mesh of a stage: its devices along one axis, \\\"data\\\".\"\"\"\n"
            "    devices = jax.devices()\n"
            "    return Mesh([devices[d] for d in STAGES[stage][\"devices\"]], (\"data\",))\n\n\n"
            "def stage_shardings(stage):\n"
            "    \"\"\"Of the stage's parameters, and of a micro-batch and its activations.\"\"\"\n"
            "    mesh = stage_mesh(stage)\n"
            "    return NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, "
            "PartitionSpec(\"data\"))\n");
    return finish_export(out, e);
}

/* ---- the plan file ---- */

/* The plan file, read again and found to be the same. Appended. */
static int write_json(const struct pipeline *l, const struct pipeline_plan *p, struct str *out,
                      struct err *e)
{
    struct pipeline again;
    struct pipeline_plan same;
    cJSON *json = pipeline_json(l, p);
    char *text = cJSON_Print(json);
    int rc = text ? 0 : err_no_memory(e, "for the text of a plan");

    cJSON_Delete(json);
    if (rc)
        goto out;
    rc = pipeline_file_parse(l->problem, text, strlen(text), &again, &same, e);
    if (rc)
        goto out;
    BUG_ON(!pipe_plan_equal(&p->plan, &same.plan));
    pipeline_release(&again);
    str_format(out, "%s\n", text);
out:
    cJSON_free(text);
    return rc ? rc : finish_export(out, e);
}

const struct pipeline_form *pipeline_form_by_name(const char *name)
{
    static const struct pipeline_form forms[] = {
        {"trace", write_trace}, {"jax", write_jax}, {"json", write_json}};

    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        if (!name || !strcmp(forms[k].name, name))
            return &forms[k];
    }
    return NULL;
}

/* ---- in words ---- */

static uint32_t stage_of(const struct pipeline_plan *p, uint32_t point)
{
    uint32_t s = 0;

    while (s + 1 < p->plan.stages && p->plan.pivot[s + 1] <= point)
        s++;
    return s;
}

/* The further stages that make what operation `n` makes. */
static void add_again(const struct order *o, const struct pipeline_plan *p, uint32_t n,
                      uint32_t first, struct str *out)
{
    bool any = false;

    for (uint32_t s = first + 1; s < p->plan.stages; s++) {
        if (reads_first(&o->reads, n, p->plan.pivot[s], p->plan.pivot[s + 1]) == UNROLL_NONE)
            continue;
        str_format(out, any ? ", %u" : "  made again, not sent, on stage %u", s);
        any = true;
    }
    if (any)
        str_add(out, "\n");
}

int pipeline_explain(const struct pipeline *l, const struct pipeline_plan *p, hlo_id id,
                     struct str *out, struct err *e)
{
    const struct order *o = &l->order;
    const struct instruction_scaling s =
        step_tables_scaling(&l->problem->step_tables, id, o->steps.batch);
    char ms[UNITS_ROOM], of_it[UNITS_ROOM];
    bool any = false;

    for (uint32_t n = 0; n < o->steps.op_count; n++) {
        const struct unroll_op *op = &o->steps.ops[n];
        if (op->id != id)
            continue;
        const struct reads_list *again = reads_of(&o->reads, n);
        uint32_t at = again ? o->reads.position[again->first] : o->position[n];
        uint32_t stage = stage_of(p, at);
        uint32_t replicas = p->plan.device[stage + 1] - p->plan.device[stage];
        double x =
            l->all.share[replicas] * l->all.options.micro_batch / (double)o->steps.batch_size;
        const struct cluster_device *d =
            cluster_type_of(&l->problem->cluster, p->plan.device[stage]);
        double adding =
            step_tables_adding_ms(&l->problem->step_tables, id, d, l->all.options.micro_batches);
        str_format(out, "%s", hlo_name(l->problem->m, id));
        if (op->trip != UNROLL_NONE)
            str_format(out, ", trip %u of its loop,", op->trip);
        str_format(
            out,
            " runs on stage %u, devices %u-%u, in the %s pass, at position %u of %u (%.1f %% of "
            "the forward compute): "
            "%s for a micro-batch",
            stage, p->plan.device[stage], p->plan.device[stage + 1] - 1,
            op->is_backward ? "backward" : "forward", at, o->count, 100 * pipeline_share(l, at),
            units_ms(ms, instruction_scaling_ms(&s, d, x) + adding));
        if (adding > 0)
            str_format(out, ", of it %s adding up its gradient", units_ms(of_it, adding));
        str_add(out, "\n");
        add_again(o, p, n, stage, out);
        any = true;
    }
    if (!any)
        str_format(out,
                   "%s belongs to no stage: it passes values on, is made anew by every use, or "
                   "updates variables where they are\n",
                   hlo_name(l->problem->m, id));
    return finish_export(out, e);
}
