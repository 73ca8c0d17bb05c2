#include "engine/hybrid/by_value.h"

#include "engine/cluster/cluster.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/interleave.h"
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
    struct keep_host host;
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
    free(v->corners);
    v->rows = NULL;
    v->corners = NULL;
    v->row_count = v->kept_count = v->corner_count = 0;
}

static uint32_t groups_of(const struct hybrid *h)
{
    return h->stages / h->chunks;
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

/* The slowest link to host memory of the stage's servers; 0: some have none. */
static double host_link(const struct cluster *c, const struct hybrid_stage *s)
{
    double least = INFINITY;

    for (uint32_t d = s->device; d < s->end_device; d++)
        least = fmin(least, c->group[cluster_group_of(c, d)].host.link);
    return isfinite(least) ? least / 1e3 : 0;
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
    x->host = (struct keep_host){host_link(&k->h->problem->cluster, s), x->points[0].forward_ms,
                                 x->points[0].both_ms - x->points[0].forward_ms};
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

static int choose(struct maker *k, uint32_t n, uint32_t in_flight, double limit)
{
    struct stage *x = &k->stage[n];
    double bound;
    struct by_value all = {.point = x->points[0],
                           .in_flight = in_flight,
                           .memory_bytes = hybrid_point_bytes(&x->points[0], in_flight)};
    struct by_value whole = {.point = x->points[1],
                             .in_flight = in_flight,
                             .memory_bytes = hybrid_point_bytes(&x->points[1], in_flight)};
    double room =
        limit - x->points[0].fixed_bytes - in_flight * (x->points[0].stash_bytes - x->all_needed);
    bool fits;
    int rc =
        keep_within_host(&x->front, in_flight, room, &x->host, &x->choice, &fits, &bound, k->e);

    if (rc)
        return rc;
    struct by_value some = all;
    some.point.both_ms += x->choice.ms;
    some.point.stash_bytes = fmax(0, x->points[0].stash_bytes - x->all_needed + x->choice.bytes);
    some.point.fixed_bytes += x->choice.beside;
    some.beside_bytes = x->choice.beside;
    some.memory_bytes = hybrid_point_bytes(&some.point, in_flight);
    some.host_bytes = x->choice.host_bytes;
    some.host_ms = x->choice.host_ms;
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

/* Bytes of a device of group s: its stages run one at a time, so of what they computed again only
 * the largest part lies beside the rest; what is in flight counts with the largest stash. */
static double group_bytes(const struct maker *k, uint32_t s, uint32_t in_flight)
{
    double fixed = 0, beside = 0, stash = 0;

    for (uint32_t c = s; c < k->h->stages; c += groups_of(k->h)) {
        const struct by_value *v = &k->stage[c].now;
        fixed += v->point.fixed_bytes - v->beside_bytes;
        beside = fmax(beside, v->beside_bytes);
        stash = fmax(stash, v->point.stash_bytes);
    }
    return fixed + beside + in_flight * stash;
}

/* The stages of a group, each alone, within what the others' fixed bytes leave of the limit less
 * `less`; *bytes: what they take together. */
static int choose_stages(struct maker *k, uint32_t s, uint32_t in_flight, double less,
                         double *bytes)
{
    const struct hybrid *h = k->h;
    double limit = h->stage[s].limit_bytes - less;

    for (uint32_t c = s; c < h->stages; c += groups_of(h))
        limit -= k->stage[c].points[0].fixed_bytes;
    for (uint32_t c = s; c < h->stages; c += groups_of(h)) {
        double bound = k->stage[c].now.bound_ms;
        keep_choice_release(&k->stage[c].choice);
        int rc = choose(k, c, in_flight, limit + k->stage[c].points[0].fixed_bytes);
        if (rc)
            return rc;
        if (less > 0) /* within less than there is it is no bound */
            k->stage[c].now.bound_ms = bound;
    }
    *bytes = group_bytes(k, s, in_flight);
    return 0;
}

/* The stages of a group together within its limit: what they computed again, and what a stage that
 * runs again holds, is not in what each is chosen within. So that is taken less until they fit
 * together, and then as little less as a few halvings tell. */
static int choose_group(struct maker *k, uint32_t s, uint32_t in_flight)
{
    enum { DOUBLINGS = 40, HALVINGS = 6 };
    const struct hybrid *h = k->h;
    double limit = h->stage[s].limit_bytes, less = 0, most = 0, bytes;

    if (h->chunks == 1)
        return choose(k, s, in_flight, limit);
    int rc = choose_stages(k, s, in_flight, 0, &bytes);
    for (int n = 0; n < DOUBLINGS && !rc && bytes > limit && most < limit; n++) {
        less = most;
        most = fmax(2 * most, most + (bytes - limit) * (1 + 1e-9));
        rc = choose_stages(k, s, in_flight, most, &bytes);
    }
    bool fits = !rc && most > 0 && bytes <= limit;
    for (int n = 0; n < HALVINGS && !rc && fits; n++) {
        double half = (less + most) / 2;
        rc = choose_stages(k, s, in_flight, half, &bytes);
        *(bytes <= limit ? &most : &less) = half;
    }
    if (!rc && fits)
        rc = choose_stages(k, s, in_flight, most, &bytes);
    for (uint32_t c = s; c < h->stages; c += groups_of(h))
        k->stage[c].now.memory_bytes = bytes;
    return rc;
}

static void forget(struct maker *k)
{
    for (uint32_t n = 0; n < k->h->stages; n++)
        keep_choice_release(&k->stage[n].choice);
}

static double play_interleaved(const struct maker *k)
{
    const struct hybrid *h = k->h;
    struct pipe_node chunk[HYBRID_STAGES_MOST], transfer[HYBRID_STAGES_MOST];
    struct interleave x = {groups_of(h), h->chunks, h->micro_batches, chunk, transfer, NULL};

    for (uint32_t n = 0; n < h->stages; n++) {
        chunk[n] = hybrid_stage_node(&k->stage[n].now.point);
        if (n + 1 < h->stages)
            transfer[n] = h->cut[n].node;
    }
    return interleave_makespan(&x);
}

static double play_plain(const struct maker *k, const struct pipe_options *o)
{
    const struct hybrid *h = k->h;
    struct pipe_node node[PIPE_NODES_MOST];

    for (uint32_t n = 0; n < h->stages; n++) {
        node[2 * n] = hybrid_stage_node(&k->stage[n].now.point);
        if (n + 1 < h->stages)
            node[2 * n + 1] = h->cut[n].node;
    }
    return pipe_nodes_makespan(node, 2 * h->stages - 1, o, o->schedule);
}

/* The step under a schedule; INFINITY: some stage does not fit. */
static int play(struct maker *k, enum pipe_schedule_kind kind, double *ms)
{
    const struct hybrid *h = k->h;
    struct pipe_options o = hybrid_pipe_options(&h->options, h->micro_batches);
    bool fit = true;

    o.schedule = kind;
    forget(k);
    for (uint32_t n = 0; n < groups_of(h); n++) {
        uint32_t in_flight =
            h->chunks > 1 ? h->stage[n].in_flight : pipe_in_flight(&o, h->stages - n);
        int rc = choose_group(k, n, in_flight);
        if (rc)
            return rc;
        fit &= k->stage[n].now.memory_bytes <= h->stage[n].limit_bytes;
    }
    *ms = !fit ? INFINITY : h->chunks > 1 ? play_interleaved(k) : play_plain(k, &o);
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

/* Of which something is computed again before others, then most bytes. */
static int compare_rows(const void *a, const void *b)
{
    const struct by_value_row *p = a, *q = b;

    if (!p->again != !q->again)
        return p->again ? -1 : 1;
    if (p->bytes != q->bytes)
        return p->bytes > q->bytes ? -1 : 1;
    double kept = p->kept_bytes + p->host_bytes, other = q->kept_bytes + q->host_bytes;
    if (kept != other)
        return kept > other ? -1 : 1;
    return p->id < q->id ? -1 : p->id > q->id;
}

/* Of an input, which no operation makes, its parameter. */
static hlo_id maker_of(const struct maker *k, uint32_t value)
{
    const struct unrolled *u = &k->h->order.steps;
    const struct unroll_value *v = &u->values[value];

    return v->op != UNROLL_NONE ? u->ops[v->op].id : k->h->problem->m->value_instruction[v->value];
}

static struct noted note(const struct maker *k, uint32_t value, const struct keep_value *v,
                         enum keep_state state)
{
    bool is_again = state == KEEP_AGAIN;
    const struct hlo_module *m = k->h->problem->m;
    hlo_id id = maker_of(k, value);
    struct noted out = {.row = {.count = 1, .again = is_again, .id = id},
                        .opcode = hlo_at(m, id)->opcode,
                        .line = hlo_meta(m, id)->source_line,
                        .value = value};

    *(is_again             ? &out.row.bytes
      : state == KEEP_HOST ? &out.row.host_bytes
                           : &out.row.kept_bytes) = v->bytes;
    out.row.ms = is_again ? v->ms : 0;
    write_scope(m, id, out.row.scope, sizeof out.row.scope);
    return out;
}

static void add_to_row(struct by_value_row *row, const struct by_value_row *one)
{
    if (one->again && !row->again)
        row->id = one->id;
    row->count += one->count;
    row->again += one->again;
    row->bytes += one->bytes;
    row->kept_bytes += one->kept_bytes;
    row->host_bytes += one->host_bytes;
    row->ms += one->ms;
}

/* Those alike as one row, each. */
static int add_rows(struct by_value *to, struct noted *noted, uint32_t count, struct err *e)
{
    uint32_t rows = 0;

    to->rows = mem_try((size_t)count + 1, sizeof *to->rows);
    if (!to->rows)
        return err_no_memory(e, MEMORY_FOR);
    if (count)
        qsort(noted, count, sizeof *noted, compare_noted);
    for (uint32_t n = 0; n < count; n++) {
        if (!n || compare_kinds(&noted[n - 1], &noted[n]))
            to->rows[rows++] = noted[n].row;
        else
            add_to_row(&to->rows[rows - 1], &noted[n].row);
    }
    if (rows)
        qsort(to->rows, rows, sizeof *to->rows, compare_rows);
    for (uint32_t n = 0; n < rows; n++)
        *(to->rows[n].again ? &to->row_count : &to->kept_count) += 1;
    return 0;
}

/* The front of a stage, as its device has it; of a group with what its other stages take. */
static int add_corners(const struct maker *k, uint32_t n, struct by_value *to)
{
    const struct stage *x = &k->stage[n];
    double rest = x->points[0].fixed_bytes +
                  to->in_flight * fmax(0, x->points[0].stash_bytes - x->all_needed);

    for (uint32_t c = n % groups_of(k->h); c < k->h->stages; c += groups_of(k->h))
        rest += c == n ? 0 : k->stage[c].points[0].fixed_bytes;
    to->corners = mem_try((size_t)x->front.count + 1, sizeof *to->corners);
    if (!to->corners)
        return err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t c = 0; c < x->front.count; c++)
        to->corners[to->corner_count++] = (struct by_value_corner){
            rest + x->front.points[c].beside + to->in_flight * x->front.points[c].bytes,
            x->front.points[c].ms};
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
    int rc = add_corners(k, n, to);
    if (rc || to->point.recompute) /* as a whole: nothing by value */
        return rc;
    noted = mem_try((size_t)x->problem.count + 1, sizeof *noted);
    if (!noted)
        return err_no_memory(k->e, MEMORY_FOR);
    for (uint32_t v = 0; v < values; v++) {
        uint32_t node = x->of[v];
        if (!node || !x->problem.values[node - 1].is_needed)
            continue;
        uint8_t state = x->choice.state ? x->choice.state[node - 1] : KEEP_KEPT;
        noted[count++] = note(k, v, &x->problem.values[node - 1], (enum keep_state)state);
    }
    rc = add_rows(to, noted, count, k->e);
    free(noted);
    return rc;
}

/* ---- the plan ---- */

/* The schedule in which the step is shortest, of all or the one asked for. */
static int play_all(struct maker *k)
{
    struct hybrid *h = k->h;
    bool is_given = h->options.is_schedule_given || h->chunks > 1;

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
