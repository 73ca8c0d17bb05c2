#include "engine/hybrid/hybrid_trainers.h"

#include "engine/decide/classes.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/hybrid_picture.h"
#include "engine/hybrid/sections.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What trainers can be told of a plan. */
struct told {
    const char *trainer;
    uint32_t tp, dp, pp, v;
    uint32_t layers[HYBRID_STAGES_MOST]; /* of each stage, in order of the model */
    uint32_t samples;                    /* of a micro-batch, on one replica */
    bool recompute, is_even;
    struct str notes; /* lines: what the trainer does besides */
};

static int refuse_trainer(const struct told *t, struct err *e, const char *what)
{
    return err_set(e, ERR_INFEASIBLE, "%s cannot be told this plan: %s", t->trainer, what);
}

/* ---- stages alike ---- */

static void count_layers(const struct hybrid *h, struct told *t)
{
    char layer[HYBRID_LAYER_ROOM];

    t->is_even = true;
    for (uint32_t n = 0; n < h->stages; n++) {
        for (uint32_t m = h->stage[n].section; m < h->stage[n].end_section; m++) {
            sections_layer(&h->sections, m, layer, sizeof layer);
            t->layers[n] += layer[0] != '\0';
        }
        t->is_even &= t->layers[n] == t->layers[0];
    }
}

static int check_stages(const struct hybrid *h, const struct told *t, struct err *e)
{
    const struct hybrid_stage *first = &h->stage[0];

    for (uint32_t n = 1; n < h->stages; n++) {
        const struct hybrid_stage *s = &h->stage[n];
        if (s->end_device - s->device != first->end_device - first->device || s->dp != first->dp ||
            s->point.recompute != first->point.recompute)
            return err_set(e, ERR_INFEASIBLE,
                           "%s cannot be told this plan: stage %u has other devices, replicas or "
                           "recomputation than stage 0, and it has one setting for all; automap "
                           "search --kind hybrid --uniform finds such a plan",
                           t->trainer, n);
    }
    return first->device ? refuse_trainer(t, e, "devices before the first stage are not used") : 0;
}

/* What is split is split alike in all stages, and over all devices that do not split the batch. */
static int check_splits(const struct told *t, const struct hybrid_picture *p, struct err *e)
{
    for (uint32_t r = 0; r < p->roles; r++) {
        const struct hybrid_picture_role *role = &p->role[r];
        const struct hybrid_picture_cell *first = NULL;
        for (uint32_t n = 0; n < p->stages && role->is_split; n++) {
            const struct hybrid_picture_cell *c = &role->in[n];
            if (c->class == CLASS_NONE)
                continue;
            first = first ? first : c;
            if (c->is_mixed || c->parts != first->parts ||
                c->parts != (role->is_batch ? t->dp : t->tp))
                return err_set(e, ERR_INFEASIBLE,
                               "%s cannot be told this plan: stage %u splits %.60s in %u, and %s "
                               "of %u splits it everywhere in %u; --uniform finds such a plan",
                               t->trainer, n, role->name, c->parts,
                               role->is_batch ? "data parallelism" : "tensor parallelism",
                               role->is_batch ? t->dp : t->tp, role->is_batch ? t->dp : t->tp);
        }
    }
    return 0;
}

/* ---- variables that the plan leaves whole ---- */

static bool is_split_somewhere(const struct hybrid *h, hlo_value v)
{
    const struct classes *c = &h->problem->classes;

    for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++)
        for (uint32_t n = 0; n < h->stages && c->class_of[d] != CLASS_NONE; n++)
            if (h->stage[n].on[c->class_of[d]])
                return true;
    return false;
}

static void note_whole(const struct hybrid *h, struct told *t)
{
    const struct problem *p = h->problem;
    uint32_t whole = 0;
    const char *first = NULL;

    for (uint32_t n = 0; n < p->roles.param_count && t->tp > 1; n++) {
        const struct hlo_param_role *r = &p->roles.params[n];
        if (r->role != HLO_ROLE_VARIABLE || hlo_value_shape(p->m, r->value)->rank < 2 ||
            is_split_somewhere(h, r->value))
            continue;
        first = first ? first : r->name;
        whole++;
    }
    if (whole)
        str_format(&t->notes,
                   "the plan leaves %u variable%s of two and more dims whole, %.80s first; tensor "
                   "parallelism splits word embeddings and the products of layers\n",
                   whole, whole == 1 ? "" : "s", first && first[0] ? first : "one without a name");
}

/* ---- schedules and ZeRO ---- */

/* 1F1B or interleaved; `has_gpipe`: or GPipe. */
static int check_schedule(const struct hybrid *h, struct told *t, bool has_gpipe, struct err *e)
{
    double step = hybrid_step_ms(h), as = h->makespan_ms[PIPE_1F1B];
    char a[UNITS_ROOM], b[UNITS_ROOM];

    if (h->chunks > 1 || h->schedule == PIPE_1F1B || (has_gpipe && h->schedule == PIPE_GPIPE))
        return 0;
    if (as <= step * (1 + 1e-9)) {
        str_format(&t->notes, "the plan's schedule is %s; 1F1B, which runs here, is as short\n",
                   pipe_schedule_names[h->schedule]);
        return 0;
    }
    return err_set(e, ERR_INFEASIBLE,
                   "%s cannot be told this plan: its schedule is %s with %s a step, and 1F1B %s%s; "
                   "automap search --kind hybrid --uniform --schedule 1f1b",
                   t->trainer, pipe_schedule_names[h->schedule], units_ms(a, step),
                   isfinite(as) ? "takes " : "does not fit", isfinite(as) ? units_ms(b, as) : "");
}

/* The most that a device needs when nothing is stored in pieces. */
static int price_whole(const struct hybrid *h, double *bytes, bool *fits, struct err *e)
{
    struct hybrid copy = *h;
    int rc = 0;

    copy.zero = 0;
    copy.stage = mem_try(h->stages, sizeof *copy.stage);
    copy.cut = mem_try(h->stages, sizeof *copy.cut);
    if (!copy.stage || !copy.cut) {
        rc = err_no_memory(e, "to price a plan");
        goto out;
    }
    memcpy(copy.stage, h->stage, h->stages * sizeof *h->stage);
    rc = hybrid_price(&copy, e);
    *bytes = 0;
    *fits = true;
    for (uint32_t n = 0; n < h->stages; n++) {
        *bytes = fmax(*bytes, copy.stage[n].memory_bytes);
        *fits &= copy.stage[n].memory_bytes <= copy.stage[n].limit_bytes;
    }
out:
    free(copy.stage);
    free(copy.cut);
    return rc;
}

/* ZeRO where the trainer has none: the same step, more memory. */
static int go_without_zero(const struct hybrid *h, struct told *t, struct err *e)
{
    char a[UNITS_ROOM];
    double bytes = 0;
    bool fits = false;

    if (!h->zero || t->dp == 1)
        return 0;
    int rc = price_whole(h, &bytes, &fits, e);
    if (rc)
        return rc;
    if (!fits)
        return err_set(e, ERR_INFEASIBLE,
                       "%s cannot be told this plan: its replicas keep the whole optimizer state "
                       "(no ZeRO 1), %s a device, which does not fit; automap search --kind hybrid "
                       "--uniform --zero 0, or --dp 1",
                       t->trainer, units_bytes(a, bytes));
    str_format(&t->notes,
               "the plan has ZeRO 1, replicas here keep the whole optimizer state: %s a device\n",
               units_bytes(a, bytes));
    return 0;
}

/* ---- the whole ---- */

/* Where the plan is a faster one of values kept by choice. */
static void note_by_value(const struct hybrid *h, struct told *t)
{
    char a[UNITS_ROOM], b[UNITS_ROOM];

    if (hybrid_is_by_value(h))
        str_format(&t->notes,
                   "stages keep everything or run again here, a step of %s; chosen value by value, "
                   "which no setting says, %s\n",
                   units_ms(a, hybrid_step_ms(h)), units_ms(b, h->by_value_ms));
}

static void note_rest(const struct hybrid *h, struct told *t)
{
    note_whole(h, t);
    note_by_value(h, t);
    if (!t->is_even) {
        str_add(&t->notes, "layers of the stages:");
        for (uint32_t n = 0; n < h->stages; n++)
            str_format(&t->notes, " %u", t->layers[n]);
        str_add(&t->notes, "\n");
    }
    if (h->options.overlap > 0)
        str_format(&t->notes, "the plan counts on %.0f %% of the gradients' sums being hidden\n",
                   100 * h->options.overlap);
    else if (h->options.overlap < 0)
        str_add(&t->notes, "the plan counts on the gradients' sums being hidden behind the last "
                           "backward pass\n");
}

static void forget_told(struct told *t)
{
    str_release(&t->notes);
}

/* `t` is to be forgotten, also on error. */
static int tell_trainer(const struct hybrid *h, const char *trainer, bool has_gpipe, struct told *t,
                        struct err *e)
{
    const struct hybrid_stage *first = &h->stage[0];
    uint32_t batch = h->options.batch / h->micro_batches;
    struct hybrid_picture p;

    *t = (struct told){.trainer = trainer,
                       .tp = (first->end_device - first->device) / first->dp,
                       .dp = first->dp,
                       .pp = h->stages / h->chunks,
                       .v = h->chunks,
                       .recompute = first->point.recompute};
    int rc = check_stages(h, t, e);
    rc = rc ? rc : check_schedule(h, t, has_gpipe, e);
    if (rc)
        return rc;
    if (batch % t->dp)
        return err_set(e, ERR_INFEASIBLE,
                       "%s cannot be told this plan: a micro-batch of %u samples does not divide "
                       "among %u replicas",
                       trainer, batch, t->dp);
    if (h->zero > 1)
        return err_set(e, ERR_INFEASIBLE,
                       "%s cannot be told this plan: ZeRO %u goes with no pipeline of it", trainer,
                       h->zero);
    t->samples = batch / t->dp;
    count_layers(h, t);
    rc = hybrid_picture_new(h, &p, e);
    if (rc)
        return rc;
    rc = check_splits(t, &p, e);
    hybrid_picture_release(&p);
    if (rc)
        return rc;
    note_rest(h, t);
    return 0;
}

/* Each line of the notes behind a '#'. */
static void add_comments(const struct told *t, struct str *out)
{
    const char *at = t->notes.text;

    for (const char *end; at && *at; at = end + 1) {
        end = strchr(at, '\n');
        str_format(out, "# %.*s\n", (int)(end - at), at);
    }
}

/* The notes as strings of a list in JSON that has some already. */
static void add_strings(const struct told *t, struct str *out)
{
    for (const char *at = t->notes.text; at && *at; at++) {
        if (at == t->notes.text || at[-1] == '\n')
            str_add(out, ", \"");
        if (*at == '"' || *at == '\\')
            str_add(out, "\\");
        str_format(out, "%.1s", *at == '\n' ? "\"" : at);
    }
}

static int finish_told(struct told *t, const struct str *out, int rc, struct err *e)
{
    bool failed = out->failed || t->notes.failed;

    forget_told(t);
    return rc ? rc : failed ? err_no_memory(e, "for the settings of a trainer") : 0;
}

/* ---- Megatron-LM ---- */

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

int export_megatron(const struct hybrid *h, struct str *out, struct err *e)
{
    struct told t;
    int rc = tell_trainer(h, "Megatron-LM", false, &t, e);

    if (rc)
        return finish_told(&t, out, rc, e);
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
    add_comments(&t, out);
    return finish_told(&t, out, 0, e);
}

/* ---- torchtitan ---- */

/* The modules of every stage by torchtitan's own names. */
static void add_parts(const struct hybrid *h, const struct told *t, struct str *out)
{
    uint32_t layer = 0;

    str_add(out, "module_fqns_per_model_part = [");
    for (uint32_t n = 0; n < h->stages; n++) {
        str_format(out, "%s\n    [%s", n ? "," : "", n ? "" : "\"tok_embeddings\"");
        for (uint32_t m = 0; m < t->layers[n]; m++)
            str_format(out, "%s\"layers.%u\"", m || !n ? ", " : "", layer++);
        if (n + 1 == h->stages)
            str_format(out, "%s\"norm\", \"output\"", t->layers[n] || !n ? ", " : "");
        str_add(out, "]");
    }
    str_add(out, "\n]\n");
}

int export_torchtitan(const struct hybrid *h, struct str *out, struct err *e)
{
    struct told t;
    int rc = tell_trainer(h, "torchtitan", true, &t, e);

    rc = rc ? rc : go_without_zero(h, &t, e);
    if (rc)
        return finish_told(&t, out, rc, e);
    if (t.tp > 1)
        str_add(&t.notes, "torchtitan's tensor parallelism splits sequences between products "
                          "(sequence parallelism), which the plan does not count\n");
    str_format(out,
               "[training]\nlocal_batch_size = %u\nglobal_batch_size = %u\n\n[parallelism]\n"
               "tensor_parallel_degree = %u\npipeline_parallel_degree = %u\n"
               "data_parallel_replicate_degree = %u\ndata_parallel_shard_degree = 1\n"
               "pipeline_parallel_schedule = \"%s\"\npipeline_parallel_microbatch_size = %u\n",
               h->options.batch / t.dp, h->options.batch, t.tp, t.pp, t.dp,
               t.v > 1                     ? "Interleaved1F1B"
               : h->schedule == PIPE_GPIPE ? "GPipe"
                                           : "1F1B",
               t.samples);
    add_parts(h, &t, out);
    str_format(out, "\n[activation_checkpoint]\nmode = \"%s\"\n", t.recompute ? "full" : "none");
    add_comments(&t, out);
    return finish_told(&t, out, 0, e);
}

/* ---- DeepSpeed ---- */

/* PipelineModule deals out layers by their number, parameters or type, not by a list of cuts. */
int export_deepspeed(const struct hybrid *h, struct str *out, struct err *e)
{
    struct told t;
    int rc = tell_trainer(h, "DeepSpeed", false, &t, e);

    if (rc)
        return finish_told(&t, out, rc, e);
    if (t.v > 1)
        return finish_told(
            &t, out, refuse_trainer(&t, e, "its pipelines are not interleaved; --chunks 1"), e);
    if (!t.is_even)
        return finish_told(&t, out, refuse_trainer(&t, e, "its stages have equally many layers"),
                           e);
    str_format(out,
               "{\n  \"train_batch_size\": %u,\n  \"train_micro_batch_size_per_gpu\": %u,\n"
               "  \"gradient_accumulation_steps\": %u,\n  \"zero_optimization\": {\"stage\": %u},\n"
               "  \"_topology\": {\"num_pp\": %u, \"num_mp\": %u, \"num_dp\": %u, "
               "\"partition_method\": \"type:CLASS_OF_A_LAYER\", "
               "\"activation_checkpoint_interval\": %u},\n  \"_notes\": [",
               h->options.batch, t.samples, h->micro_batches, h->zero, t.pp, t.tp, t.dp,
               t.recompute);
    str_format(out, "\"_topology is for PipelineModule; %u layers a stage\"", t.layers[0]);
    if (t.tp > 1)
        str_add(out, ", \"num_mp needs a model whose layers are tensor parallel\"");
    add_strings(&t, out);
    str_add(out, "]\n}\n");
    return finish_told(&t, out, 0, e);
}

int export_trainers(const struct hybrid *h, struct str *out, struct err *e)
{
    static const struct {
        const char *name;
        int (*export)(const struct hybrid *h, struct str *out, struct err *e);
    } trainers[] = {{"Megatron-LM", export_megatron},
                    {"torchtitan", export_torchtitan},
                    {"DeepSpeed", export_deepspeed}};
    struct err first = {0}; /* Megatron-LM can be told the most plans */
    int told = 0, rc = 0;

    for (size_t n = 0; n < sizeof trainers / sizeof *trainers; n++) {
        struct str one = {0};
        rc = trainers[n].export(h, &one, e);
        if (!rc)
            str_format(out, "%s# %s\n%s", n ? "\n" : "", trainers[n].name, one.text);
        else if (rc == ERR_INFEASIBLE)
            str_format(out, "%s# %s\n", n ? "\n" : "", e->what);
        if (rc && !first.code)
            first = *e;
        str_release(&one);
        if (rc && rc != ERR_INFEASIBLE)
            return rc;
        told += !rc;
    }
    if (!told) {
        *e = first;
        return e->code;
    }
    return out->failed ? err_no_memory(e, "for the settings of trainers") : 0;
}
