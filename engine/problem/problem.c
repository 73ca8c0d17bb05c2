#include "engine/problem/problem.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/attention.h"
#include "engine/cost/fusion.h"
#include "engine/cost/joined_sums.h"
#include "engine/cost/traffic.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/kernels/kernel_rules.h"
#include "hlo/meaning/cost.h"
#include "hlo/meaning/kernels.h"
#include "hlo/meaning/program.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <string.h>

static uint64_t fingerprint(const struct hlo_module *m)
{
    uint64_t h = mem_hash(&m->count, sizeof m->count, m->computation_count);

    for (hlo_id id = 0; id < m->count; id++) {
        const struct hlo_instruction *i = hlo_at(m, id);
        const struct hlo_shape *s = hlo_shape(m, id);
        uint32_t head[] = {i->opcode, s->type, s->rank, s->leaf_count, i->number, i->computation};
        h = mem_hash(head, sizeof head, h);
        h = mem_hash(s->dims, s->rank * sizeof *s->dims, h);
        const hlo_id *operands = i->operand_count ? m->operand_pool + i->operands : NULL;
        h = mem_hash(operands, i->operand_count * sizeof *operands, h);
        const hlo_comp *called = i->called_count ? m->called_pool + i->called : NULL; /* no pool */
        h = mem_hash(called, i->called_count * sizeof *called, h);
        for (uint32_t k = 0; k < i->attr_count; k++) {
            const struct hlo_attr *a = &m->attr_pool[i->attrs + k];
            if (a->key < HLO_ATTR_SHARDING)
                h = mem_hash(a->text, a->size, h + a->key);
        }
    }
    return h;
}

static int lay_mesh(const struct cluster *c, const char *text, struct cluster_mesh *mesh,
                    struct err *e)
{
    if (text[0])
        return mesh_parse(mesh, c, text, e);
    mesh_one_axis(mesh, c);
    return 0;
}

/* Without a word about it: old cluster files keep their meaning. */
static double overlap_of(const struct problem *p, const struct cluster *cluster)
{
    if (p->options.is_overlap_given || p->options.overlap > 0)
        return p->options.overlap;
    return cluster_weakest(cluster).matmul.reach > 0 ? OVERLAP_AUTO : 0;
}

struct batch_and_zero problem_batch_and_zero(const struct problem *p)
{
    return (struct batch_and_zero){p->options.micro_batches ? p->options.micro_batches : 1,
                                   p->options.zero, overlap_of(p, &p->cluster)};
}

static int new_labels(const struct problem *p, const struct cluster_mesh *mesh, struct labels *out,
                      struct err *e)
{
    int64_t of = p->training.batch_divisor;
    struct label_cut cut = {p->training.batch, problem_batch_and_zero(p).micro_batches, of, of};

    if (p->options.batch_size && p->training.batch != CLASS_NONE)
        cut.size = p->options.batch_size;
    return labels_new(&p->classes, mesh, p->options.exact_divisibility, &cut, out, e);
}

static int new_terms(const struct problem *p, const struct cluster *cluster,
                     const double *measured_ms, struct step_tables *out, struct err *e)
{
    struct batch_and_zero r = problem_batch_and_zero(p);

    r.overlap = overlap_of(p, cluster);
    return step_tables_new(&p->labels, &p->mesh, cluster, &p->costs, &p->traffic, &p->attention,
                           measured_ms, &p->training, p->options.reduce_at_once ? NULL : &p->joined,
                           &r, out, e);
}

int64_t problem_batch_size(const struct problem *p)
{
    if (p->training.batch == CLASS_NONE)
        return 0;
    return p->options.batch_size ? p->options.batch_size : p->training.batch_divisor;
}

static int check_batch_size(const struct problem *p, uint32_t micro_batches, struct err *e)
{
    int64_t size = p->options.batch_size;

    if (!size)
        return 0;
    if (p->training.batch == CLASS_NONE)
        return err_set(e, ERR_INPUT, "a batch of %lld, but no dim of the inputs is the batch",
                       (long long)size);
    if (size < 0 || size > BATCH_MOST || size % micro_batches)
        return err_set(e, ERR_INPUT,
                       "a batch of %lld, expected a multiple of the %u micro-batches, at most %d",
                       (long long)size, micro_batches, BATCH_MOST);
    return 0;
}

static int price_problem(struct problem *p, struct err *e)
{
    struct batch_and_zero r = problem_batch_and_zero(p);
    int rc = training_check(&p->training, &r, e);

    if (rc)
        return rc;
    rc = check_batch_size(p, r.micro_batches, e);
    if (rc)
        return rc;
    rc = new_labels(p, &p->mesh, &p->labels, e);
    if (rc)
        return rc;
    rc = new_terms(p, &p->cluster, p->measured_ms, &p->step_tables, e);
    if (rc)
        return rc;
    rc = memory_set_batch_and_zero(&p->memory, &r, e);
    return rc;
}

/* What rules say of kernels takes the place of unknown work. */
static void count_kernels(struct problem *p)
{
    for (hlo_id id = 0; id < p->m->count; id++) {
        const struct hlo_kernel *k = hlo_kernel_of(p->m, id);
        if (!k)
            continue;
        double before = p->costs.instruction[id].flops > 0 ? p->costs.instruction[id].flops : 0;
        p->costs.total_trips.flops += (k->flops - before) * p->costs.times[id];
        p->costs.instruction[id].flops = k->flops;
        if (k->bytes >= 0)
            p->costs.instruction[id].bytes = k->bytes;
    }
}

/* A step of as many runs takes years. Beyond that prices meet those of what is forbidden. */
static const double runs_most = 1e9;

static int check_runs(const struct problem *p, struct err *e)
{
    for (hlo_id id = 0; id < p->m->count; id++) {
        if (p->costs.times[id] <= runs_most)
            continue;
        const struct hlo_instruction *i = hlo_at(p->file, p->m->origin[id]);
        err_set(e, ERR_LIMIT,
                "\"%.100s\" runs %.3g times in a step, by the trip counts of the loops around it, "
                "expected at most 10^9",
                p->file->names + i->name, p->costs.times[id]);
        e->line = i->line;
        e->col = i->col;
        return err_in_file(e, p->file->file);
    }
    return 0;
}

/* The files that the options name. */
static int read_tables(struct problem *p, struct err *e)
{
    p->partitioner = mem_try(1, sizeof *p->partitioner);
    p->options.classes.partitioner = p->partitioner;
    if (!p->partitioner)
        return err_no_memory(e, "for the problem");
    int rc = partitioner_read(p->options.partitioner, p->partitioner, e);
    return rc ? rc : kernel_rules_read(p->options.kernels, &p->kernels, e);
}

/* Between steps that each take long on a large module. */
static int go_on(const atomic_bool *until, struct err *e)
{
    return stop_asked(until) ? err_set(e, ERR_STOPPED, "stopped before the problem stood") : 0;
}

/* Everything behind the roles. `until`: as in problem_change. */
static int build_problem(struct problem *p, const atomic_bool *until, struct err *e)
{
    struct hlo_kernel attention[2];
    int rc = kernel_rules_apply(p->kernels, p->m, e);
    rc = rc ? rc : hlo_costs_new(p->m, &p->costs, e);
    rc = rc ? rc : check_runs(p, e);
    if (rc)
        return rc;
    count_kernels(p);
    rc = classes_new(p->m, &p->roles, &p->options.classes, &p->classes, e);
    rc = rc ? rc : go_on(until, e);
    if (rc)
        return rc;
    rc = fusion_new(p->m, p->classes.is_free, &p->fusion, e);
    if (rc)
        return rc;
    rc = kernel_rules_attention(p->kernels, &p->m->arena, attention, e);
    if (rc)
        return rc;
    rc = attention_new(&p->classes, &p->roles, &p->fusion,
                       p->options.fused_attention ? attention : NULL, &p->attention, e);
    if (rc)
        return rc;
    fusion_hide(p->m, &p->fusion, p->attention.is_inside);
    rc = joined_sums_new(&p->classes, &p->joined, e);
    if (rc)
        return rc;
    rc = traffic_new(&p->classes, &p->fusion, &p->attention, &p->traffic, e);
    rc = rc ? rc : go_on(until, e);
    if (rc)
        return rc;
    rc = training_new(&p->classes, &p->roles, &p->training, e);
    rc = rc ? rc : go_on(until, e);
    if (rc)
        return rc;
    rc = memory_new(&p->training, &p->fusion, p->options.reduce_at_once, &p->memory, e);
    return rc ? rc : price_problem(p, e);
}

int problem_new(struct hlo_module *file, const struct hlo_vars *vars, const struct cluster *cluster,
                const struct problem_options *o, struct problem *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    out->file = file;
    out->cluster = *cluster;
    out->options = *o;
    out->batch_param = BATCH_AS_FOUND;
    int rc = lay_mesh(cluster, o->mesh, &out->mesh, e);
    if (rc)
        goto out;
    rc = hlo_program_require_whole(file, e);
    if (rc)
        goto out;
    rc = hlo_inline(file, &out->m, e);
    if (rc)
        goto out;
    rc = hlo_roles_new(out->m, vars, &out->roles, e);
    if (rc)
        goto out;
    rc = read_tables(out, e);
    if (rc)
        goto out;
    rc = build_problem(out, NULL, e);
out:
    if (!rc)
        out->model_fingerprint = fingerprint(file);
    else
        problem_release(out);
    return rc;
}

static int copy_measured(const struct problem *from, struct problem *out, struct err *e)
{
    if (!from->measured_ms)
        return 0;
    out->measured_ms = mem_try((size_t)out->m->count + 1, sizeof *out->measured_ms);
    if (!out->measured_ms)
        return err_no_memory(e, "for the problem");
    memcpy(out->measured_ms, from->measured_ms, out->m->count * sizeof *out->measured_ms);
    return 0;
}

static int set_roles(const struct problem *from, const struct problem_change *change,
                     struct problem *out, struct err *e)
{
    uint8_t *roles = mem_try((size_t)from->roles.param_count + 1, 1);

    if (!roles)
        return err_no_memory(e, "for the problem");
    for (uint32_t k = 0; k < from->roles.param_count; k++) {
        const struct hlo_param_role *r = &from->roles.params[k];
        bool is_said = r->source == HLO_BY_PERSON || r->source == HLO_BY_LIST;
        roles[k] = change->roles              ? change->roles[k]
                   : change->loss && !is_said ? out->roles.params[k].role
                                              : r->role;
    }
    int rc = hlo_roles_set_all(out->m, &out->roles, roles, e);
    free(roles);
    return rc;
}

int problem_derive(const struct problem *from, const struct problem_change *change,
                   struct problem *out, struct err *e)
{
    const struct cluster *cluster = change->cluster ? change->cluster : &from->cluster;
    const struct hlo_vars said = {.loss = change->loss ? change->loss : from->roles.loss_by_person};

    memset(out, 0, sizeof *out);
    out->file = from->file;
    out->is_derived = true;
    out->partitioner = from->partitioner;
    out->kernels = from->kernels;
    out->cluster = *cluster;
    out->options = from->options;
    out->stop = from->stop;
    if (change->mesh)
        snprintf(out->options.mesh, sizeof out->options.mesh, "%s", change->mesh);
    if (change->batching) {
        out->options.micro_batches = change->batching->micro_batches;
        out->options.zero = change->batching->zero;
        out->options.overlap = change->batching->overlap;
    }
    if (change->batch_size)
        out->options.batch_size = change->batch_size;
    bool same_batch = change->batch_param == BATCH_AS_FOUND;
    out->batch_param = same_batch ? from->batch_param : change->batch_param;
    out->batch_dim = same_batch ? from->batch_dim : change->batch_dim;
    int rc = lay_mesh(cluster, out->options.mesh, &out->mesh, e);
    if (rc)
        goto out;
    rc = hlo_inline(out->file, &out->m, e);
    rc = rc ? rc : go_on(change->until, e);
    if (rc)
        goto out;
    rc = hlo_roles_new(out->m, &said, &out->roles, e);
    rc = rc ? rc : go_on(change->until, e);
    if (rc)
        goto out;
    rc = set_roles(from, change, out, e);
    if (rc)
        goto out;
    rc = copy_measured(from, out, e);
    if (rc)
        goto out;
    rc = build_problem(out, change->until, e);
out:
    if (!rc)
        out->model_fingerprint = from->model_fingerprint;
    else
        problem_release(out);
    return rc;
}

void problem_release(struct problem *p)
{
    step_tables_release(&p->step_tables);
    labels_release(&p->labels);
    memory_release(&p->memory);
    training_release(&p->training);
    joined_sums_release(&p->joined);
    traffic_release(&p->traffic);
    attention_release(&p->attention);
    fusion_release(&p->fusion);
    classes_release(&p->classes);
    hlo_costs_release(&p->costs);
    hlo_roles_release(&p->roles);
    hlo_free(p->m);
    if (!p->is_derived) {
        hlo_free(p->file);
        if (p->partitioner)
            partitioner_release(p->partitioner);
        free(p->partitioner);
        kernel_rules_free(p->kernels);
    }
    free(p->measured_ms);
    memset(p, 0, sizeof *p);
}

int problem_set_cluster(struct problem *p, const struct cluster *cluster, const char *mesh,
                        struct err *e)
{
    struct problem *next = mem_alloc(sizeof *next);
    int rc = lay_mesh(cluster, mesh, &next->mesh, e);

    if (rc)
        goto out;
    rc = new_labels(p, &next->mesh, &next->labels, e);
    if (rc)
        goto out;
    struct cluster_mesh old_mesh = p->mesh;
    struct labels old_labels = p->labels;
    p->mesh = next->mesh;
    p->labels = next->labels;
    rc = new_terms(p, cluster, p->measured_ms, &next->step_tables, e);
    if (rc) {
        labels_release(&p->labels);
        p->mesh = old_mesh;
        p->labels = old_labels;
    } else {
        labels_release(&old_labels);
        step_tables_release(&p->step_tables);
        p->step_tables = next->step_tables;
        p->cluster = *cluster;
        snprintf(p->options.mesh, sizeof p->options.mesh, "%s", mesh);
    }
out:
    free(next);
    return rc;
}

/* Prices `p` under other options; on error it stays as it was. */
static int reprice_problem(struct problem *p, const struct problem_options *o, struct err *e)
{
    struct problem_options old = p->options;
    struct labels labels = p->labels;
    struct step_tables terms = p->step_tables;

    p->options = *o;
    memset(&p->labels, 0, sizeof p->labels);
    memset(&p->step_tables, 0, sizeof p->step_tables);
    int rc = price_problem(p, e);
    if (rc) {
        labels_release(&p->labels);
        step_tables_release(&p->step_tables);
        p->options = old;
        p->labels = labels;
        p->step_tables = terms;
        return rc;
    }
    labels_release(&labels);
    step_tables_release(&terms);
    return 0;
}

int problem_set_batch_and_zero(struct problem *p, const struct batch_and_zero *r, struct err *e)
{
    struct problem_options o = p->options;
    struct batch_and_zero before = problem_batch_and_zero(p);

    if (r->micro_batches == before.micro_batches && r->zero == before.zero &&
        r->overlap == before.overlap)
        return 0;
    o.micro_batches = r->micro_batches;
    o.zero = r->zero;
    o.overlap = r->overlap;
    return reprice_problem(p, &o, e);
}

int problem_set_batch_size(struct problem *p, int64_t size, struct err *e)
{
    struct problem_options o = p->options;

    o.batch_size = size;
    return reprice_problem(p, &o, e);
}

int problem_set_profile(struct problem *p, double *ms, struct err *e)
{
    struct step_tables next;
    int rc = new_terms(p, &p->cluster, ms, &next, e);

    if (rc) {
        free(ms);
        return rc;
    }
    step_tables_release(&p->step_tables);
    free(p->measured_ms);
    p->step_tables = next;
    p->measured_ms = ms;
    return 0;
}

class_id problem_param_class(const struct problem *p, uint32_t param, uint32_t dim)
{
    return p->classes.class_of[class_dim(&p->classes, p->roles.params[param].value, dim)];
}

/* For how many plans of a kind that share was enough, and the share that is enough for all but two.
 */
static const struct {
    const char *plans;
    uint32_t enough, of;
    double all_but_two;
} margins[PLAN_KIND_COUNT] = {
    [PLAN_STRICT] = {"strict plans", 109, 116, 0.24},
    [PLAN_RELAXED] = {"relaxed plans", 47, 53, 0.30},
    [PLAN_PIPELINE] = {"pipeline stages", 14, 14, 0.08},
};

void memory_margin_say(enum plan_kind kind, struct str *out)
{
    str_format(
        out,
        "%.0f %% of a device kept free is enough for %u of %u %s compiled by XLA, %.0f %% for "
        "all but two",
        100 * DEVICE_MEMORY_MARGIN, margins[kind].enough, margins[kind].of, margins[kind].plans,
        100 * margins[kind].all_but_two);
}

double problem_device_limit(const struct problem *p)
{
    return (1 - DEVICE_MEMORY_MARGIN) * cluster_weakest(&p->cluster).memory_bytes;
}
