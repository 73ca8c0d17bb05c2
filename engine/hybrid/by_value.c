#include "engine/hybrid/by_value.h"

#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/stage_costs.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/simulation.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "engine/recompute/keeping.h"
#include "hlo/meaning/scope.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char MEMORY_FOR[] = "for what stages keep";

/* A stage, made once for all schedules. */
struct stage {
    struct hybrid_point points[2]; /* all kept, recomputed as a whole */
    struct keep_problem problem;
    struct keep_front front;
    uint32_t *of;      /* [values] */
    double all_needed; /* bytes of a micro-batch */
    /* of one schedule */
    struct keep_choice choice; /* its state: NULL where the choice is no one by value */
    struct by_value now;
};

struct maker {
    struct hybrid *h;
    struct hybrid_instance *in;
    struct stage_options options;
    struct stage *stage; /* [stages] */
    struct err *e;
};

void by_value_release(struct by_value *v)
{
    free(v->rows);
    v->rows = NULL;
    v->row_count = 0;
}

/* ---- what there is to choose from ---- */

static int price_points(struct maker *k, uint32_t n)
{
    const struct hybrid_stage *s = &k->h->stage[n];
    uint32_t slot = hybrid_slot_of(k->in, s->device, s->end_device);
    const uint32_t size[STAGE_AXES_MOST] = {s->size[0], s->axes > 1 ? s->size[1] : 0};
    double collective_ms[2];

    return stage_tables_price(&k->h->sections, &k->options, k->in, slot, size, s->on, s->section,
                              s->end_section, k->stage[n].points, collective_ms, k->e);
}

static int make_problem(struct maker *k, uint32_t n)
{
    const struct hybrid_stage *s = &k->h->stage[n];
    struct stage *x = &k->stage[n];
    struct stage_tables tables = {.sections = &k->h->sections, .options = k->options};
    struct stage_shape *shape = mem_try(1, sizeof *shape);
    struct stage_costs costs;
    int rc = shape ? stage_shape_new(&k->h->problem->cluster, k->in,
                                     hybrid_slot_of(k->in, s->device, s->end_device), s->size[0],
                                     s->axes > 1 ? s->size[1] : 0, shape, k->e)
                   : err_no_memory(k->e, MEMORY_FOR);

    rc = rc ? rc : stage_costs_new(&tables, shape, &costs, k->e);
    if (!rc) {
        memcpy(costs.on, s->on, k->h->problem->classes.count * sizeof *s->on);
        rc = by_value_problem(&costs, s->section, s->end_section, &x->problem, x->of, k->e);
        stage_costs_release(&costs);
    }
    free(shape);
    for (uint32_t v = 0; v < x->problem.count && !rc; v++)
        x->all_needed += x->problem.values[v].is_needed ? x->problem.values[v].bytes : 0;
    return rc ? rc : keep_front_new(&x->problem, &x->front, k->e);
}

/* ---- one schedule ---- */

/* Fewest ms of a step, where it is alone; what does not fit is behind what does, by memory. */
static bool is_better(const struct maker *k, double limit, const struct by_value *a,
                      const struct by_value *b)
{
    double m = k->h->micro_batches;
    bool fits = a->memory_bytes <= limit, other = b->memory_bytes <= limit;

    if (fits != other)
        return fits;
    if (!fits)
        return a->memory_bytes < b->memory_bytes;
    return m * a->point.both_ms + a->point.reduce_ms < m * b->point.both_ms + b->point.reduce_ms;
}

static int choose(struct maker *k, uint32_t n, uint32_t in_flight)
{
    struct stage *x = &k->stage[n];
    double limit = k->h->stage[n].limit_bytes, bound;
    struct by_value all = {.point = x->points[0],
                           .in_flight = in_flight,
                           .memory_bytes = hybrid_point_bytes(&x->points[0], in_flight)};
    struct by_value whole = {.point = x->points[1],
                             .in_flight = in_flight,
                             .memory_bytes = hybrid_point_bytes(&x->points[1], in_flight)};
    double room =
        limit - x->points[0].fixed_bytes - in_flight * (x->points[0].stash_bytes - x->all_needed);
    bool fits;
    int rc = keep_within(&x->front, in_flight, room, &x->choice, &fits, &bound, k->e);

    if (rc)
        return rc;
    struct by_value some = all;
    some.point.both_ms += x->choice.ms;
    some.point.stash_bytes = fmax(0, x->points[0].stash_bytes - x->all_needed + x->choice.bytes);
    some.point.fixed_bytes += x->choice.beside;
    some.memory_bytes = hybrid_point_bytes(&some.point, in_flight);
    some.added_ms = x->choice.ms;
    bool is_some = is_better(k, limit, &some, &all);
    x->now = is_some ? some : all;
    if (is_better(k, limit, &whole, &x->now)) {
        x->now = whole;
        is_some = false;
    }
    x->now.bound_ms = bound;
    if (!is_some)
        keep_choice_release(&x->choice);
    return 0;
}

static void forget(struct maker *k)
{
    for (uint32_t n = 0; n < k->h->stages; n++)
        keep_choice_release(&k->stage[n].choice);
}

/* The step under a schedule; INFINITY: some stage does not fit. */
static int play(struct maker *k, enum pipe_schedule_kind kind, double *ms)
{
    const struct hybrid *h = k->h;
    struct pipe_options o = hybrid_pipe_options(&h->options, h->micro_batches);
    struct pipe_node node[PIPE_NODES_MOST];
    bool fit = true;

    o.schedule = kind;
    forget(k);
    for (uint32_t n = 0; n < h->stages; n++) {
        int rc = choose(k, n, pipe_in_flight(&o, h->stages - n));
        if (rc)
            return rc;
        fit &= k->stage[n].now.memory_bytes <= h->stage[n].limit_bytes;
        node[2 * n] = hybrid_stage_node(&k->stage[n].now.point);
        if (n + 1 < h->stages)
            node[2 * n + 1] = h->cut[n].node;
    }
    *ms = fit ? pipe_nodes_makespan(node, 2 * h->stages - 1, &o, kind) : INFINITY;
    return 0;
}

/* ---- what is said of a stage ---- */

static void write_scope(const struct hlo_module *m, hlo_id id, char *out, size_t room)
{
    struct hlo_scope_marks marks;
    struct str scope = {0};
    size_t size = 0;

    hlo_scope_of_op_name(hlo_meta(m, id)->op_name, &scope, &marks);
    for (const char *at = scope.text ? scope.text : ""; *at && size + 1 < room; at++)
        if (!isdigit((unsigned char)*at))
            out[size++] = *at;
        else if (!size || out[size - 1] != '*')
            out[size++] = '*';
    out[size] = 0;
    str_release(&scope);
}

/* A value that is computed again, before those alike make one row. */
struct noted {
    struct by_value_row row;
    uint32_t opcode, line, value;
};

static int compare_kinds(const struct noted *p, const struct noted *q)
{
    int scope = strcmp(p->row.scope, q->row.scope);

    if (scope)
        return scope;
    return p->opcode != q->opcode ? (p->opcode < q->opcode ? -1 : 1)
                                  : (p->line > q->line) - (p->line < q->line);
}

static int compare_noted(const void *a, const void *b)
{
    const struct noted *p = a, *q = b;
    int kind = compare_kinds(p, q);

    return kind ? kind : (p->value > q->value) - (p->value < q->value);
}

static int compare_rows(const void *a, const void *b)
{
    const struct by_value_row *p = a, *q = b;

    if (p->bytes != q->bytes)
        return p->bytes > q->bytes ? -1 : 1;
    return p->id < q->id ? -1 : p->id > q->id;
}

static struct noted note(const struct maker *k, uint32_t value, const struct keep_value *v)
{
    const struct unrolled *u = &k->h->order.steps;
    const struct hlo_module *m = k->h->problem->m;
    hlo_id id = u->ops[u->values[value].op].id;
    struct noted out = {.row = {.count = 1, .bytes = v->bytes, .ms = v->ms, .id = id},
                        .opcode = hlo_at(m, id)->opcode,
                        .line = hlo_meta(m, id)->source_line,
                        .value = value};

    write_scope(m, id, out.row.scope, sizeof out.row.scope);
    return out;
}

/* Those alike as one row, each. */
static int add_rows(struct by_value *to, struct noted *noted, uint32_t count, struct err *e)
{
    to->rows = mem_try((size_t)count + 1, sizeof *to->rows);
    if (!to->rows)
        return err_no_memory(e, MEMORY_FOR);
    qsort(noted, count, sizeof *noted, compare_noted);
    for (uint32_t n = 0; n < count; n++) {
        if (!n || compare_kinds(&noted[n - 1], &noted[n])) {
            to->rows[to->row_count++] = noted[n].row;
            continue;
        }
        struct by_value_row *row = &to->rows[to->row_count - 1];
        row->count++;
        row->bytes += noted[n].row.bytes;
        row->ms += noted[n].row.ms;
    }
    qsort(to->rows, to->row_count, sizeof *to->rows, compare_rows);
    return 0;
}

/* Takes over the choice that was played last. */
static int take(struct maker *k, uint32_t n)
{
    struct stage *x = &k->stage[n];
    struct by_value *to = &k->h->stage[n].by_value;
    uint32_t values = k->h->order.steps.value_count, count = 0;
    struct noted *noted;

    by_value_release(to);
    *to = x->now;
    if (!x->choice.state)
        return 0;
    noted = mem_try((size_t)x->problem.count + 1, sizeof *noted);
    if (!noted)
        return err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t v = 0; v < values; v++) {
        uint32_t node = x->of[v];
        if (node && x->problem.values[node - 1].is_needed &&
            x->choice.state[node - 1] == KEEP_AGAIN)
            noted[count++] = note(k, v, &x->problem.values[node - 1]);
    }
    int rc = count ? add_rows(to, noted, count, k->e) : 0;
    free(noted);
    return rc;
}

/* ---- the plan ---- */

/* The schedule in which the step is shortest, of all or the one asked for. */
static int play_all(struct maker *k)
{
    struct hybrid *h = k->h;
    bool is_given = h->options.is_schedule_given;

    h->by_value_ms = INFINITY;
    h->by_value_schedule = h->schedule;
    for (int n = 0; n < (is_given ? 1 : PIPE_SCHEDULE_COUNT); n++) { /* the plan's own first */
        int s = ((int)h->schedule + n) % PIPE_SCHEDULE_COUNT;
        double ms;
        int rc = play(k, (enum pipe_schedule_kind)s, &ms);
        if (rc)
            return rc;
        if (ms < h->by_value_ms) {
            h->by_value_ms = ms;
            h->by_value_schedule = (enum pipe_schedule_kind)s;
        }
    }
    double ms;
    int rc = play(k, h->by_value_schedule, &ms);
    for (uint32_t n = 0; n < h->stages && !rc; n++)
        rc = take(k, n);
    return rc;
}

static int make_all(struct maker *k)
{
    struct hybrid *h = k->h;
    int rc = 0;

    k->stage = mem_try((size_t)h->stages + 1, sizeof *k->stage);
    if (!k->stage)
        return err_no_memory(k->e, MEMORY_FOR);
    stage_tables_cuts(&h->sections, &k->options, k->in);
    for (uint32_t n = 0; n < h->stages && !rc; n++) {
        k->stage[n].of = mem_try((size_t)h->order.steps.value_count + 1, sizeof(uint32_t));
        rc = k->stage[n].of ? price_points(k, n) : err_no_memory(k->e, MEMORY_FOR);
        rc = rc ? rc : make_problem(k, n);
    }
    return rc ? rc : play_all(k);
}

int hybrid_by_value(struct hybrid *h, struct err *e)
{
    struct hybrid_instance in;
    struct maker k = {.h = h,
                      .in = &in,
                      .options = {.batch = h->options.batch,
                                  .micro_batches = h->micro_batches,
                                  .zero = h->zero,
                                  .overlap = h->options.overlap,
                                  .whole_layers = h->options.whole_layers},
                      .e = e};

    h->by_value_schedule = h->schedule;
    h->by_value_ms = hybrid_fits(h) ? hybrid_step_ms(h) : INFINITY;
    for (uint32_t n = 0; n < h->stages; n++) {
        const struct hybrid_stage *s = &h->stage[n];
        by_value_release(&h->stage[n].by_value);
        h->stage[n].by_value = (struct by_value){
            .point = s->point, .in_flight = s->in_flight, .memory_bytes = s->memory_bytes};
    }
    if (h->chunks > 1)
        return 0;
    int rc = hybrid_plan_instance(h, &in, e);
    if (rc)
        return rc;
    rc = make_all(&k);
    for (uint32_t n = 0; k.stage && n < h->stages; n++) {
        keep_choice_release(&k.stage[n].choice);
        keep_front_release(&k.stage[n].front);
        keep_problem_release(&k.stage[n].problem);
        free(k.stage[n].of);
    }
    free(k.stage);
    hybrid_instance_release(&in);
    return rc;
}
