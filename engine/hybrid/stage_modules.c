#include "engine/hybrid/stage_modules.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_copies.h"
#include "engine/hybrid/stage_costs.h"
#include "engine/hybrid/stage_parts.h"
#include "engine/hybrid/stage_pieces.h"
#include "engine/hybrid/stage_table.h"
#include "engine/plan/export_loops.h"
#include "engine/plan/plan.h"
#include "engine/plan/sharding.h"
#include "engine/plan/value_splits.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/extract.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the modules of stages";

const char *const stage_pass_names[STAGE_PASS_COUNT] = {
#define X(id, name) name,
    STAGE_PASSES(X)
#undef X
};

struct builder {
    struct stage_modules *out;
    struct stage_parts parts;
    const struct hybrid *h;
    const struct hlo_module *m;
    struct err *e;
    bool *is_kept;     /* [instructions] of the module that is being made, inside loops too */
    bool *is_read;     /* [values] it reads from outside */
    bool *is_gathered; /* [values] variables that it reads in pieces and gathers */
    size_t module_room;
    struct stage_costs costs; /* of its stage */
};

void stage_modules_name(const struct hlo_module *m, hlo_value v, struct str *out)
{
    hlo_id id = m->value_instruction[v];

    str_add(out, hlo_name(m, id));
    if (m->leaf_base[id + 1] - m->leaf_base[id] > 1)
        str_format(out, ".leaf%u", hlo_value_leaf(m, v));
}

label stage_modules_split(const struct stage_modules *s, uint32_t stage, hlo_value v, uint32_t dim,
                          enum stage_place place)
{
    static const uint8_t where[] = {
        [STAGE_READ] = PIECE_INPUT, [STAGE_MADE] = PIECE_INSIDE, [STAGE_HANDED_ON] = PIECE_OUTPUT};
    const struct stage_pieces *p = &s->pieces[stage];
    label over = s->over[stage][class_dim(&s->plan->problem->classes, v, dim)];

    return p->where[v] & where[place] && p->dim[v] == dim ? (label)(over | p->over[v]) : over;
}

/* ---- what a module holds ---- */

static void read_value(struct builder *b, hlo_value v, uint32_t stage, enum stage_pass pass)
{
    hlo_id id = b->m->value_instruction[v];

    if (stage_parts_may_hold(&b->parts, id, stage, pass)) {
        b->is_kept[id] = true;
        return;
    }
    b->is_read[v] = true;
    if (hlo_at(b->m, id)->opcode != HLO_OP_PARAMETER)
        b->parts.use[v] |= stage_pass_is_often(pass) ? STAGE_READ_OFTEN : STAGE_READ_ONCE;
}

/* From its results to all it is made of. */
static void collect_pass(struct builder *b, uint32_t stage, enum stage_pass pass)
{
    const struct hlo_module *m = b->m;
    const struct hlo_computation *c = &m->computations[m->entry];

    memset(b->is_kept, 0, m->count * sizeof *b->is_kept);
    memset(b->is_read, 0, m->value_count * sizeof *b->is_read);
    for (hlo_value v = 0; v < m->value_count; v++)
        if (b->parts.use[v] && stage_parts_makes(&b->parts, m->value_instruction[v], stage, pass))
            b->is_kept[m->value_instruction[v]] = true;
    for (hlo_id id = c->first + c->count; id-- > c->first;) {
        if (!b->is_kept[id])
            continue;
        for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
            hlo_id o = hlo_operand(m, id, n);
            for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++)
                read_value(b, hlo_extract_source(m, v), stage, pass);
        }
    }
}

/* What loops, branches and fusions hold goes with them. */
static void keep_inside(struct builder *b)
{
    for (hlo_id id = 0; id < b->m->count; id++) {
        hlo_id owner = b->parts.owner[hlo_at(b->m, id)->computation];
        if (owner != HLO_NONE)
            b->is_kept[id] = b->is_kept[owner];
    }
}

/* ---- its values ---- */

/* The first dim of a value that is cut into micro-batches; -1: none. */
static int batch_dim(const struct builder *b, hlo_value v)
{
    for (uint32_t d = 0; d < hlo_value_shape(b->m, v)->rank; d++)
        if (stage_parts_is_cut(&b->parts, v, d))
            return (int)d;
    return -1;
}

static struct stage_value input_of(const struct builder *b, hlo_value v, enum stage_pass pass)
{
    int dim = batch_dim(b, v);
    bool is_part = stage_pass_is_often(pass) && dim >= 0;

    return (struct stage_value){.value = v,
                                .argument = stage_parts_argument(&b->parts, v),
                                .is_part = is_part,
                                .dim = (uint8_t)(is_part ? dim : 0)};
}

static struct stage_value output_of(const struct builder *b, hlo_value v, enum stage_pass pass)
{
    int dim = batch_dim(b, v);
    bool often = stage_pass_is_often(pass);
    struct stage_value out = {.value = v,
                              .argument = HLO_NONE,
                              .is_part = often && dim >= 0,
                              .dim = (uint8_t)(dim >= 0 ? dim : 0),
                              .is_read_by_batch = often && b->parts.use[v] & STAGE_READ_OFTEN};

    if (often && b->parts.use[v] & STAGE_READ_ONCE)
        out.whole = dim >= 0 ? STAGE_JOIN : STAGE_SUM;
    return out;
}

static int list_values(struct builder *b, struct stage_module *x)
{
    const struct hlo_module *m = b->m;
    uint32_t inputs = 0, outputs = 0;

    for (hlo_value v = 0; v < m->value_count; v++) {
        inputs += b->is_read[v];
        outputs += b->parts.use[v] &&
                   stage_parts_makes(&b->parts, m->value_instruction[v], x->stage, x->pass);
    }
    x->input = mem_try((size_t)inputs + 1, sizeof *x->input);
    x->output = mem_try((size_t)outputs + 1, sizeof *x->output);
    if (!x->input || !x->output)
        return err_no_memory(b->e, MEMORY_FOR);
    for (hlo_value v = 0; v < m->value_count; v++) {
        if (b->is_read[v])
            x->input[x->inputs++] = input_of(b, v, x->pass);
        if (b->parts.use[v] &&
            stage_parts_makes(&b->parts, m->value_instruction[v], x->stage, x->pass))
            x->output[x->outputs++] = output_of(b, v, x->pass);
    }
    return 0;
}

/* ---- its collectives ---- */

/* What is made, or read, in pieces and then whole. */
static int list_gathers(struct builder *b, struct stage_module *x, size_t *room)
{
    const struct stage_pieces *p = &b->out->pieces[x->stage];

    for (hlo_value v = 0; v < b->m->value_count; v++) {
        bool is_made = p->where[v] & PIECE_INSIDE && !(p->where[v] & PIECE_OUTPUT) &&
                       b->parts.use[v] &&
                       stage_parts_makes(&b->parts, b->m->value_instruction[v], x->stage, x->pass);
        if (!is_made && !b->is_gathered[v])
            continue;
        if (!mem_grow(&x->collective, room, x->collectives, 1))
            return err_no_memory(b->e, MEMORY_FOR);
        struct stage_collective *c = &x->collective[x->collectives++];
        *c = (struct stage_collective){v, COLLECTIVE_ALL_GATHER, p->over[v], 1, 0};
        c->bytes = (double)hlo_value_shape(b->m, v)->bytes;
        const label *over = b->out->over[x->stage] + b->parts.classes->dim_base[v];
        for (uint32_t d = 0; d < hlo_value_shape(b->m, v)->rank; d++)
            c->bytes /= over[d] ? b->out->mesh[x->stage].span[over[d]].devices : 1;
    }
    return 0;
}

static int list_collectives(struct builder *b, struct stage_module *x)
{
    const struct hlo_module *m = b->m;
    const label *on = b->h->stage[x->stage].on;
    struct reduction list[TERM_CLASSES_MOST];
    size_t room = 0;

    for (hlo_id id = 0; id < m->count; id++) {
        hlo_value v = m->leaf_base[id];
        if (!b->is_kept[id] || v == m->leaf_base[id + 1] || b->parts.classes->is_free[v])
            continue;
        uint32_t count = step_tables_reductions(&b->costs.tables, id, on, list);
        if (!mem_grow(&x->collective, &room, x->collectives, (size_t)count + 1))
            return err_no_memory(b->e, MEMORY_FOR);
        double times = b->costs.tables.costs->times[id]; /* of a loop's trips */
        for (uint32_t k = 0; k < count; k++)
            if (list[k].bytes > 0)
                x->collective[x->collectives++] = (struct stage_collective){
                    v, list[k].kind, list[k].over,
                    (uint32_t)fmin(list[k].count * times, UINT32_MAX), list[k].bytes * times};
    }
    return list_gathers(b, x, &room);
}

/* ---- its text ---- */

struct writer {
    const struct builder *b;
    const struct stage_module *x;
    const struct hlo_module *to;
    const hlo_value *of;
    struct export_loops loops;
    struct stage_copies copies;
    struct str text, lines, name; /* of one instruction */
};

static void add_sharding(struct writer *w, hlo_value v, enum stage_place place)
{
    const struct stage_modules *s = w->b->out;
    uint32_t rank = hlo_value_shape(w->b->m, v)->rank;
    label over[HLO_RANK_MAX];

    for (uint32_t d = 0; d < rank; d++)
        over[d] = stage_modules_split(s, w->x->stage, v, d, place);
    sharding_write(&s->mesh[w->x->stage], over, rank, SHARDING_V2, &w->text);
}

/* Of `count` values from `first` on, in braces when they are a tuple's. */
static void add_shardings(struct writer *w, hlo_value first, uint32_t count, bool is_tuple,
                          enum stage_place place)
{
    for (uint32_t n = 0; n < count; n++) {
        if (is_tuple)
            str_add(&w->text, n ? ", " : "{");
        add_sharding(w, first + n, place);
    }
    if (is_tuple)
        str_add(&w->text, count ? "}" : "{replicated}");
}

static void add_root_shardings(struct writer *w)
{
    for (uint32_t n = 0; n < w->x->outputs; n++) {
        str_add(&w->text, n ? ", " : "{");
        add_sharding(w, w->x->output[n].value, STAGE_HANDED_ON);
    }
    str_add(&w->text, w->x->outputs ? "}" : "{replicated}");
}

static const char *sharding_of(void *context, hlo_id id)
{
    struct writer *w = context;
    const struct hlo_instruction *i = hlo_at(w->to, id);
    bool is_entry = i->computation == w->to->entry;
    enum stage_place place = is_entry && i->opcode == HLO_OP_PARAMETER ? STAGE_READ : STAGE_MADE;

    if (!(is_entry && i->is_root) && (w->of[id] == HLO_NONE || w->loops.is_left[id]))
        return NULL;
    str_clear(&w->text);
    if (is_entry && i->is_root)
        add_root_shardings(w);
    else if (stage_copies_is_whole(&w->copies, id))
        str_add(&w->text, "{replicated}");
    else
        add_shardings(w, w->of[id], hlo_shape(w->to, id)->leaf_count,
                      hlo_shape(w->to, id)->type == HLO_TUPLE, place);
    return w->text.failed ? NULL : w->text.text;
}

/* Operand `n` goes through a barrier that holds its sharding (plan/export_loops.h). */
static bool is_held_fast(const struct writer *w, hlo_id id, uint32_t n, hlo_value *as)
{
    *as = export_loops_held(w->to, &w->loops, id, n);
    return *as != HLO_NONE && w->of[w->to->value_instruction[*as]] != HLO_NONE &&
           !stage_copies_has(&w->copies, id, n);
}

static const char *lines_before(void *context, hlo_id id)
{
    struct writer *w = context;
    const struct hlo_module *m = w->to;
    hlo_value as;

    str_clear(&w->lines);
    stage_copies_lines(&w->copies, id, &w->lines);
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id from = hlo_operand(m, id, n);
        if (!is_held_fast(w, id, n, &as))
            continue;
        str_clear(&w->text);
        add_shardings(w, w->of[m->value_instruction[as]] + hlo_value_leaf(m, as),
                      hlo_shape(m, from)->leaf_count, hlo_shape(m, from)->type == HLO_TUPLE,
                      STAGE_MADE);
        str_add(&w->lines, "  ");
        export_loops_name(m, id, n, &w->lines);
        str_add(&w->lines, " = ");
        hlo_write_shape(m, hlo_at(m, from)->shape, true, &w->lines);
        str_format(&w->lines, " opt-barrier(%s), sharding=%s\n", hlo_name(m, from),
                   w->text.failed ? "" : w->text.text);
    }
    return w->lines.failed || !w->lines.size ? NULL : w->lines.text;
}

static const char *operand_name(void *context, hlo_id id, uint32_t n)
{
    struct writer *w = context;
    hlo_value as;

    str_clear(&w->name);
    if (is_held_fast(w, id, n, &as))
        export_loops_name(w->to, id, n, &w->name);
    else if (stage_copies_has(&w->copies, id, n))
        stage_copies_name(&w->copies, id, n, &w->name);
    else
        return NULL;
    return w->name.failed ? NULL : w->name.text;
}

static int write_module(struct builder *b, struct stage_module *x, const struct hlo_part *part)
{
    const struct hybrid_stage *s = &b->h->stage[x->stage];
    struct hlo_module *to;
    struct writer w = {.b = b, .x = x};
    hlo_value *of;
    int rc = hlo_extract(b->m, part, &to, &of, b->e);

    if (rc)
        return rc;
    to->num_partitions = s->end_device - s->device;
    w.to = to;
    w.of = of;
    w.copies = (struct stage_copies){b->out, x->stage, &b->costs.tables, to, of};
    struct hlo_write_options o = {.sharding = sharding_of,
                                  .before = lines_before,
                                  .operand = operand_name,
                                  .context = &w,
                                  .no_metadata = true};
    rc = export_loops_new(to, &w.loops, b->e);
    rc = rc ? rc : hlo_write_text(to, &o, &x->text, b->e);
    if (!rc && (w.text.failed || w.lines.failed || w.name.failed))
        rc = err_no_memory(b->e, MEMORY_FOR);
    export_loops_release(&w.loops);
    str_release(&w.text);
    str_release(&w.lines);
    str_release(&w.name);
    hlo_free(to);
    free(of);
    return rc;
}

static bool is_cut(const void *context, hlo_value v, uint32_t dim)
{
    return stage_parts_is_cut(context, v, dim);
}

/* What a module is of the program; its inputs and outputs are lists of x. */
static struct hlo_part part_of(const struct builder *b, enum stage_pass pass)
{
    return (struct hlo_part){.is_kept = b->is_kept,
                             .is_copied = b->is_gathered,
                             .is_free = b->parts.classes->is_free,
                             .cut = stage_pass_is_often(pass) ? b->h->micro_batches : 1,
                             .is_cut = is_cut,
                             .context = &b->parts};
}

static int extract(struct builder *b, struct stage_module *x)
{
    char name[64];
    hlo_value *list = mem_try((size_t)x->inputs + x->outputs + 1, sizeof *list);
    uint64_t *cut = mem_try((size_t)x->inputs + 1, sizeof *cut);
    struct hlo_part part = part_of(b, x->pass);
    int rc = list && cut ? 0 : err_no_memory(b->e, MEMORY_FOR);

    if (rc)
        goto out;
    snprintf(name, sizeof name, "stage_%u_%s", x->stage, stage_pass_names[x->pass]);
    for (uint32_t n = 0; n < x->inputs; n++) {
        list[n] = x->input[n].value;
        cut[n] = x->input[n].is_part ? b->parts.apart[list[n]] : 0;
    }
    for (uint32_t n = 0; n < x->outputs; n++)
        list[x->inputs + n] = x->output[n].value;
    part.name = name;
    part.input = list;
    part.inputs = x->inputs;
    part.input_cut = cut;
    part.output = list + x->inputs;
    part.outputs = x->outputs;
    rc = write_module(b, x, &part);
out:
    free(list);
    free(cut);
    return rc;
}

/* What cannot be taken out of the program with several micro-batches may be with one. */
static int refuse_parts(struct builder *b)
{
    struct err why = *b->e;

    return err_set(b->e, ERR_INFEASIBLE, "%.400s; a plan of one micro-batch can be exported",
                   why.what);
}

/* Random bits, and what else is free and another for every sample, are made before the passes: what
 * is kept of this one reads its part of them. */
static int set_apart(struct builder *b, uint32_t stage, enum stage_pass pass)
{
    const struct hlo_module *m = b->m;
    struct hlo_part part = part_of(b, pass);
    hlo_value *list = mem_try((size_t)m->value_count + 1, sizeof *list);
    uint64_t *cut = mem_try((size_t)m->value_count + 1, sizeof *cut);
    bool is_any = false;
    int rc = list && cut ? 0 : err_no_memory(b->e, MEMORY_FOR);

    if (rc)
        goto out;
    for (hlo_value v = 0; v < m->value_count; v++)
        if (b->is_read[v])
            list[part.inputs++] = v;
    part.name = stage_pass_names[pass];
    part.input = list;
    rc = hlo_extract_parts(m, &part, cut, b->e);
    rc = rc == ERR_INPUT ? refuse_parts(b) : rc;
    for (hlo_value v = 0; v < m->value_count && !rc; v++) {
        if (!cut[v])
            continue;
        stage_parts_set_apart(&b->parts, v, cut[v], stage);
        is_any = true;
    }
    if (rc || !is_any)
        goto out;
    collect_pass(b, stage, pass);
    keep_inside(b);
out:
    free(list);
    free(cut);
    return rc;
}

/* A split that does not divide a dim would be padded, which arrays of JAX are not. */
static int check_evenness(const struct builder *b, const struct stage_module *x)
{
    const struct classes *c = b->parts.classes;
    const label *over = b->out->over[x->stage];

    for (hlo_value v = 0; v < b->m->value_count; v++) {
        const struct hlo_shape *s = hlo_value_shape(b->m, v);
        if (!b->is_kept[b->m->value_instruction[v]] && !b->is_read[v])
            continue;
        for (uint32_t d = 0; d < s->rank && (!c->is_free[v] || b->is_read[v]); d++) {
            bool cut = stage_pass_is_often(x->pass) && stage_parts_is_cut(&b->parts, v, d);
            int64_t size = s->dims[d] / (cut ? b->h->micro_batches : 1);
            if (size % b->costs.labels.parts[over[c->dim_base[v] + d]])
                return err_set(b->e, ERR_INFEASIBLE,
                               "dim %u of %.100s is split unevenly in stage %u: search with "
                               "--divisibility exact",
                               d, hlo_name(b->m, b->m->value_instruction[v]), x->stage);
        }
    }
    return 0;
}

static int add_module(struct builder *b, uint32_t stage, enum stage_pass pass)
{
    struct stage_modules *s = b->out;
    bool is_any = false;

    collect_pass(b, stage, pass);
    keep_inside(b);
    int rc = stage_pass_is_often(pass) && b->h->micro_batches > 1 ? set_apart(b, stage, pass) : 0;
    if (rc)
        return rc;
    for (hlo_id id = 0; id < b->m->count && !is_any; id++)
        is_any = b->is_kept[id];
    if (!is_any)
        return 0;
    if (!mem_grow(&s->module, &b->module_room, s->count, 1))
        return err_no_memory(b->e, MEMORY_FOR);
    struct stage_module *x = &s->module[s->count++];
    *x = (struct stage_module){.stage = stage, .pass = pass};
    stage_pieces_gathered(&s->pieces[stage], &b->parts, b->is_kept, b->is_gathered);
    rc = list_values(b, x);
    rc = rc ? rc : check_evenness(b, x);
    rc = rc ? rc : list_collectives(b, x);
    return rc ? rc : extract(b, x);
}

/* ---- stages ---- */

static int open_stage(struct builder *b, uint32_t n)
{
    const struct hybrid *h = b->h;
    const struct hybrid_stage *s = &h->stage[n];
    struct plan plan = {.problem = h->problem, .on = s->on};
    struct cluster c;
    char mesh[32];

    if (s->axes > 1)
        snprintf(mesh, sizeof mesh, "%ux%u", s->size[0], s->size[1]);
    else
        snprintf(mesh, sizeof mesh, "%u", s->size[0]);
    int rc = cluster_of_devices(&c, s->end_device - s->device, b->e);
    rc = rc ? rc : mesh_parse(&b->out->mesh[n], &c, mesh, b->e);
    rc = rc ? rc : stage_pieces_new(&b->parts, &b->out->mesh[n], n, &b->out->pieces[n], b->e);
    return rc ? rc : free_values_new(&plan, &b->out->over[n], NULL, b->e);
}

static int all_of_pass(struct builder *b, uint32_t stage, enum stage_pass pass)
{
    const struct hybrid_stage *s = &b->h->stage[stage];
    struct stage_tables t = {
        .sections = &b->h->sections,
        .options = {.batch = b->h->options.batch, .micro_batches = b->h->micro_batches}};
    struct stage_shape shape = {
        .axes = s->axes, .size = {s->size[0], s->size[1]}, .mesh = b->out->mesh[stage]};
    int rc = cluster_of_devices(&shape.cluster, s->end_device - s->device, b->e);

    rc = rc ? rc : stage_costs_new(&t, &shape, &b->costs, b->e);
    if (rc)
        return rc;
    b->costs.tables.joined = NULL; /* as the partitioner leaves them */
    rc = add_module(b, stage, pass);
    stage_costs_release(&b->costs);
    return rc;
}

/* What reads comes before what makes, so that all results are known; the list is turned round in
 * the end. Passes back go from later to earlier stages, all else the other way. */
static int add_modules(struct builder *b)
{
    uint32_t stages = b->h->stages;

    for (int pass = STAGE_PASS_COUNT; pass-- > 0;) {
        bool back = pass == STAGE_BACKWARD || pass == STAGE_FINISH;
        uint32_t made_in = pass == STAGE_JOINT ? 1 : stages; /* joint: in the first alone */
        for (uint32_t n = 0; n < made_in; n++) {
            int rc = all_of_pass(b, back ? n : made_in - 1 - n, (enum stage_pass)pass);
            if (rc)
                return rc;
        }
    }
    for (uint32_t n = 0; n < b->out->count / 2; n++) {
        struct stage_module x = b->out->module[n];
        b->out->module[n] = b->out->module[b->out->count - 1 - n];
        b->out->module[b->out->count - 1 - n] = x;
    }
    return 0;
}

static int list_results(struct builder *b)
{
    const struct hlo_module *m = b->m;
    hlo_id root = m->computations[m->entry].root;
    struct stage_modules *s = b->out;

    s->result =
        mem_try((size_t)(m->leaf_base[root + 1] - m->leaf_base[root]) + 1, sizeof *s->result);
    if (!s->result)
        return err_no_memory(b->e, MEMORY_FOR);
    for (hlo_value leaf = m->leaf_base[root]; leaf < m->leaf_base[root + 1]; leaf++) {
        hlo_value v = hlo_extract_source(m, leaf);
        uint32_t argument = stage_parts_argument(&b->parts, v);
        s->result[s->results++] = (struct stage_result){v, argument};
        if (argument == HLO_NONE)
            b->parts.use[v] |= STAGE_READ_ONCE;
    }
    return 0;
}

int stage_modules_new(const struct hybrid *h, struct stage_modules *out, struct err *e)
{
    const struct hlo_module *m = h->problem->m;
    struct builder b = {.out = out, .h = h, .m = m, .e = e};
    int rc = stage_parts_new(h, &b.parts, e);

    *out = (struct stage_modules){.plan = h};
    if (rc)
        return rc;
    b.is_kept = mem_try(m->count, sizeof *b.is_kept);
    b.is_read = mem_try(m->value_count, sizeof *b.is_read);
    out->mesh = mem_try(h->stages, sizeof *out->mesh);
    out->over = mem_try(h->stages, sizeof *out->over);
    out->pieces = mem_try(h->stages, sizeof *out->pieces);
    b.is_gathered = mem_try(m->value_count, sizeof *b.is_gathered);
    if (!b.is_kept || !b.is_read || !b.is_gathered || !out->mesh || !out->over || !out->pieces)
        rc = err_no_memory(e, MEMORY_FOR);
    for (uint32_t n = 0; n < h->stages && !rc; n++)
        rc = open_stage(&b, n);
    rc = rc ? rc : list_results(&b);
    rc = rc ? rc : add_modules(&b);
    free(b.is_kept);
    free(b.is_read);
    free(b.is_gathered);
    stage_parts_release(&b.parts);
    if (rc)
        stage_modules_release(out);
    return rc;
}

void stage_modules_release(struct stage_modules *s)
{
    for (uint32_t n = 0; n < s->count; n++) {
        free(s->module[n].input);
        free(s->module[n].output);
        free(s->module[n].collective);
        str_release(&s->module[n].text);
    }
    for (uint32_t n = 0; s->over && n < s->plan->stages; n++)
        free(s->over[n]);
    for (uint32_t n = 0; s->pieces && n < s->plan->stages; n++)
        stage_pieces_release(&s->pieces[n]);
    free(s->pieces);
    free(s->over);
    free(s->mesh);
    free(s->module);
    free(s->result);
    *s = (struct stage_modules){0};
}
