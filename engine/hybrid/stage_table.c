#include "engine/hybrid/stage_table.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/overlap.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/stage_rows.h"
#include "engine/pipeline/links.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the costs of stages";
static const double TOLERANCE = 1e-3; /* of the points of a front */

struct maker {
    const struct sections *s;
    struct stage_tables *t;
    struct hybrid_instance *in;
    struct err *e;
    double *ties; /* [(sections + 1)^2] ms to add up variables that other stages use too */
    struct pipe_link tie;
    struct hybrid_point *points;
    struct hybrid_point *kept;
    size_t point_room, kept_room;
    double tolerance; /* of fronts: 0 for bounds */
};

/* ---- shapes ---- */

/* Devices [first, first + count), a group for each server that they are of. */
static void cut_servers(const struct cluster *c, uint32_t first, uint32_t count,
                        struct cluster *out)
{
    *out = *c;
    out->groups = out->servers = 0;
    out->devices = count;
    for (uint32_t a = first; a < first + count;) {
        struct cluster_group *g = &out->group[out->groups++];
        uint32_t server = cluster_server_of(c, a), group = cluster_group_of(c, a);
        *g = c->group[group];
        g->network = cluster_network_of(c, group);
        g->count = 1;
        g->devices = 0;
        for (; a < first + count && cluster_server_of(c, a) == server; a++)
            g->devices++;
        out->servers++;
    }
}

/* The devices of a slot as a cluster of their own. Part of a torus counts as a ring on the links of
 * one side. */
static void cut_cluster(const struct cluster *c, const struct hybrid_slot *slot,
                        struct cluster *out)
{
    if (slot->is_at) {
        cut_servers(c, slot->first, slot->devices, out);
        return;
    }
    *out = *c;
    out->groups = 1;
    out->group[0] = c->group[slot->group];
    struct cluster_group *g = &out->group[0];
    g->network = cluster_network_of(c, slot->group);
    g->count = slot->servers ? slot->servers : 1;
    if (!slot->servers && g->devices != slot->devices && g->link.rank) {
        uint32_t sides = 0;
        for (uint32_t i = 0; i < g->link.rank; i++)
            sides += g->link.shape[i] > 1;
        g->link.bandwidth /= sides ? sides : 1;
        g->link.kind = LINK_RING;
        g->link.rank = 0;
    }
    if (!slot->servers)
        g->devices = slot->devices;
    out->servers = g->count;
    out->devices = g->count * g->devices;
}

int stage_shape_new(const struct cluster *c, const struct hybrid_instance *in, uint32_t slot,
                    uint32_t first, uint32_t second, struct stage_shape *out, struct err *e)
{
    char mesh[32];

    *out = (struct stage_shape){.slot = slot, .axes = second ? 2 : 1, .size = {first, second}};
    cut_cluster(c, &in->slot[slot], &out->cluster);
    snprintf(mesh, sizeof mesh, second ? "%ux%u" : "%u", first, second);
    return mesh_parse(&out->mesh, &out->cluster, mesh, e);
}

static int add_shape(struct maker *k, const struct cluster *c, uint32_t slot, uint32_t first,
                     uint32_t second)
{
    struct stage_tables *t = k->t;

    if (!mem_grow(&t->shape, &t->shape_room, t->shapes, 1))
        return err_no_memory(k->e, MEMORY_FOR);
    int rc = stage_shape_new(c, k->in, slot, first, second, &t->shape[t->shapes], k->e);
    t->shapes += !rc;
    return rc;
}

/* Axes of d devices inside one server. */
static int add_inside(struct maker *k, const struct cluster *c, uint32_t slot, uint32_t d)
{
    int rc = add_shape(k, c, slot, d, 0);
    if (!rc && d >= 4 && d % 2 == 0)
        rc = add_shape(k, c, slot, d / 2, 2);
    return rc;
}

/* Axes of n servers of d devices: a server, half of one or a pair of devices inside the second. */
static int add_across(struct maker *k, const struct cluster *c, uint32_t slot, uint32_t n,
                      uint32_t d)
{
    int rc = add_shape(k, c, slot, n, d);
    if (!rc && d >= 4 && d % 2 == 0)
        rc = add_shape(k, c, slot, n * 2, d / 2);
    if (!rc && d >= 6 && d % 2 == 0)
        rc = add_shape(k, c, slot, n * (d / 2), 2);
    return rc;
}

static int add_shapes(struct maker *k, const struct cluster *c)
{
    int rc = 0;

    for (uint32_t n = 0; n < k->in->slots && !rc; n++) {
        const struct hybrid_slot *slot = &k->in->slot[n];
        uint32_t own = c->group[slot->group].devices;
        if (k->t->options.slots && !(k->t->options.slots >> n & 1))
            continue;
        rc = slot->servers > 1 && own > 1 ? add_across(k, c, n, slot->servers, own)
                                          : add_inside(k, c, n, slot->devices);
    }
    return rc;
}

/* ---- what one interval has once ---- */

/* Sums over sections i .. j-1 of one row: tables by prefix, [sections + 1][ROW_SUMMED], and of
 * spread values [(sections + 1)^2][ROW_SUMMED], by sigma. */
struct sums {
    double *prefix; /* [rows][sections + 1][ROW_SUMMED] */
    double *spread; /* [sets][(sections + 1)^2][ROW_SUMMED]; NULL: there is nothing spread */
    double *working, *section_kept; /* [rows] largest so far */
};

static void fill_prefix(const struct maker *k, const struct rows *r, double *prefix)
{
    uint32_t n = k->s->count;

    for (uint32_t row = 0; row < r->count; row++) {
        double *p = prefix + (size_t)row * (n + 1) * ROW_SUMMED;
        for (uint32_t m = 0; m < n; m++) {
            const double *f = r->figure + ((size_t)row * k->s->kinds + k->s->kind[m]) * ROW_FIGURES;
            for (uint32_t x = 0; x < ROW_SUMMED; x++)
                p[(m + 1) * ROW_SUMMED + x] = p[m * ROW_SUMMED + x] + f[x];
        }
    }
}

/* A set counts in [i, j) when one of its sections lies there: at its first one not before i. */
static void fill_spread(const struct maker *k, const double *of, double *out)
{
    const struct sections *s = k->s;
    size_t n = s->count + 1;

    for (uint32_t v = 0; v < s->set_count; v++) {
        const struct section_spread *x = &s->spread[s->set_first[v]];
        const uint32_t *use = s->spread_pool + x->sections;
        for (uint32_t u = 0; u < x->section_count; u++) {
            uint32_t from = u ? use[u - 1] + 1 : 0;
            for (uint32_t i = from; i <= use[u]; i++)
                for (uint32_t f = 0; f < ROW_SUMMED; f++) /* from j = use + 1 on: summed below */
                    out[(i * n + use[u] + 1) * ROW_SUMMED + f] += of[v * ROW_SUMMED + f];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 1; j < n; j++)
            for (uint32_t x = 0; x < ROW_SUMMED; x++)
                out[(i * n + j) * ROW_SUMMED + x] += out[(i * n + j - 1) * ROW_SUMMED + x];
}

static bool sums_new(const struct maker *k, const struct rows *r, struct sums *out)
{
    size_t n = k->s->count + 1, square = n * n * ROW_SUMMED;

    out->prefix = mem_try(r->count * n * ROW_SUMMED, sizeof(double));
    out->working = mem_try(r->count, sizeof(double));
    out->section_kept = mem_try(r->count, sizeof(double));
    if (!out->prefix || !out->working || !out->section_kept)
        return false;
    fill_prefix(k, r, out->prefix);
    if (!k->s->spread_count)
        return true;
    /* only of the sigmas that a row is left of */
    uint32_t sets = 0, *set = mem_try(r->sigmas, sizeof *set);
    for (uint32_t row = 0; set && row < r->count; row++)
        if (!set[r->sigma[row]])
            set[r->sigma[row]] = ++sets;
    out->spread = set ? mem_try(sets * square, sizeof(double)) : NULL;
    if (!out->spread) {
        free(set);
        return false;
    }
    for (uint32_t g = 0; g < r->sigmas; g++)
        if (set[g])
            fill_spread(k, r->spread + (size_t)r->spread_at[g] * k->s->set_count * ROW_SUMMED,
                        out->spread + (set[g] - 1) * square);
    for (uint32_t g = 0; g < r->sigmas; g++)
        r->spread_at[g] = set[g] - 1;
    free(set);
    return true;
}

static void sums_free(struct sums *s)
{
    free(s->prefix);
    free(s->spread);
    free(s->working);
    free(s->section_kept);
}

/* ---- points ---- */

static bool row_stands(const struct hybrid_point *p, const struct hybrid_slot *slot)
{
    return p->both_ms < INFINITY && hybrid_point_bytes(p, 1) <= slot->limit_bytes;
}

/* What arrives, made whole over the axes that do not split the batch. */
static double gather_ms(const struct row_rates *r, double bytes)
{
    return collective_lines_ms(&r->arrive, r->gather * bytes);
}

double stage_tables_reduce_ms(const struct overlap *o, double sums, double ties, double balance)
{
    if (!o->is_bounded)
        return (1 - o->hidden) * (sums + ties);
    double excess = fmax(0, balance + overlap_balance(o, 0, sums)) - fmax(0, balance);
    return fmin(sums, (1 - o->hidden) * sums + excess) + ties;
}

/* What a pass cannot hide of what was taken to be. */
static double pass_excess(double balance, double hidden)
{
    return fmin(fmax(0, balance), hidden);
}

/* From sums over [i, j) to a stage, and the same recomputed section by section. */
static void complete_row(const struct maker *k, const double *f, double working,
                         double section_kept, const struct row_rates *r, uint32_t i, uint32_t j,
                         struct hybrid_point *out)
{
    double in = k->in->forward_bytes[i], back = k->in->backward_bytes[j];
    double arrive = gather_ms(r, in), return_ms = gather_ms(r, back);
    double forward = f[ROW_FORWARD_BALANCE], backward = f[ROW_BACKWARD_BALANCE];
    double ties = k->ties[(size_t)i * (k->s->count + 1) + j];
    double sums = collective_lines_ms(&r->reduce, f[ROW_SUMS]);
    double forward_excess = pass_excess(forward, f[ROW_FORWARD_HIDDEN]);
    double backward_excess = pass_excess(backward, f[ROW_BACKWARD_HIDDEN]);

    out[0] = (struct hybrid_point){
        .forward_ms = f[ROW_FORWARD] + arrive + forward_excess,
        .both_ms = f[ROW_BOTH] + arrive + return_ms + forward_excess + backward_excess,
        .reduce_ms = stage_tables_reduce_ms(&r->overlap, sums, ties, backward) + f[ROW_ONCE],
        .fixed_bytes = f[ROW_FIXED] + 2 * working,
        .stash_bytes = f[ROW_KEPT],
    };
    out[1] = out[0];
    out[1].both_ms += f[ROW_FORWARD] + forward_excess;
    out[1].reduce_ms =
        stage_tables_reduce_ms(&r->overlap, sums, ties, forward + backward) + f[ROW_ONCE];
    out[1].fixed_bytes += section_kept;
    out[1].stash_bytes = f[ROW_INPUT];
    out[1].recompute = true;
}

/* The stage [i, j) of one row, and the same recomputed section by section. */
static void price_row(const struct maker *k, const struct rows *r, const struct sums *s,
                      uint32_t row, uint32_t i, uint32_t j, struct hybrid_point out[2])
{
    size_t n = k->s->count + 1;
    const double *p = s->prefix + (size_t)row * n * ROW_SUMMED;
    double f[ROW_SUMMED];

    for (uint32_t x = 0; x < ROW_SUMMED; x++)
        f[x] = p[j * ROW_SUMMED + x] - p[i * ROW_SUMMED + x];
    if (s->spread) {
        const double *q =
            s->spread + ((size_t)r->spread_at[r->sigma[row]] * n * n + i * n + j) * ROW_SUMMED;
        for (uint32_t x = 0; x < ROW_SUMMED; x++)
            f[x] += q[x];
    }
    complete_row(k, f, s->working[row], s->section_kept[row], &r->rates[row], i, j, out);
}

static int compare_points(const void *a, const void *b)
{
    const struct hybrid_point *p = a, *q = b;

    if (p->both_ms != q->both_ms)
        return p->both_ms < q->both_ms ? -1 : 1;
    if (p->forward_ms != q->forward_ms)
        return p->forward_ms < q->forward_ms ? -1 : 1;
    if (p->reduce_ms != q->reduce_ms)
        return p->reduce_ms < q->reduce_ms ? -1 : 1;
    if (p->row != q->row)
        return p->row < q->row ? -1 : 1;
    return p->recompute - q->recompute;
}

static bool is_beaten(const struct hybrid_point *p, const struct hybrid_point *by, uint32_t count,
                      double tolerance)
{
    const double more = 1 + tolerance;
    struct hybrid_point m = *p;

    m.forward_ms *= more;
    m.reduce_ms *= more;
    m.fixed_bytes *= more;
    m.stash_bytes *= more;
    for (uint32_t n = 0; n < count; n++)
        if (by[n].forward_ms <= m.forward_ms && by[n].reduce_ms <= m.reduce_ms &&
            by[n].fixed_bytes <= m.fixed_bytes && by[n].stash_bytes <= m.stash_bytes)
            return true;
    return false;
}

/* The front of the points, in order of F + B. */
static int add_front(struct maker *k, uint32_t slot, uint32_t i, uint32_t j, uint32_t count)
{
    uint32_t kept = 0;

    if (!count)
        return 0;
    if (!mem_grow(&k->kept, &k->kept_room, 0, count))
        return err_no_memory(k->e, MEMORY_FOR);
    qsort(k->points, count, sizeof *k->points, compare_points);
    for (uint32_t n = 0; n < count; n++)
        if (!is_beaten(&k->points[n], k->kept, kept, k->tolerance))
            k->kept[kept++] = k->points[n];
    return hybrid_instance_add(k->in, slot, i, j, k->kept, kept, k->e);
}

/* Rows of all shapes of one slot. */
struct slot_rows {
    struct rows rows[STAGE_SHAPES_MOST];
    struct sums sums[STAGE_SHAPES_MOST];
    uint32_t first[STAGE_SHAPES_MOST]; /* number of the first row among all */
    uint32_t shape[STAGE_SHAPES_MOST]; /* into t->shape */
    uint32_t shapes;
};

static bool is_wanted(enum stage_recompute mode, bool recompute)
{
    return mode == STAGE_RECOMPUTE_ANY || (mode == STAGE_RECOMPUTE_ALL) == recompute;
}

/* Parts of the batch under a row's labels of shared classes. */
static uint32_t dp_of(const struct stage_tables *t, const struct stage_shape *shape,
                      const uint8_t *labels)
{
    const struct sections *s = t->sections;

    for (uint32_t n = 0; n < s->shared_count; n++)
        if (s->shared[n] == s->order->steps.batch)
            return shape->mesh.span[labels[n]].devices;
    return 1;
}

static int add_interval(struct maker *k, struct slot_rows *x, uint32_t slot, uint32_t i, uint32_t j)
{
    const struct hybrid_slot *of = &k->in->slot[slot];
    enum stage_recompute mode = k->t->options.recompute;
    struct hybrid_point p[2];
    uint32_t count = 0;

    for (uint32_t n = 0; n < x->shapes; n++) {
        const struct rows *r = &x->rows[n];
        struct sums *s = &x->sums[n];
        if (!mem_grow(&k->points, &k->point_room, count, 2 * (size_t)r->count))
            return err_no_memory(k->e, MEMORY_FOR);
        for (uint32_t row = 0; row < r->count; row++) {
            const double *f =
                r->figure + ((size_t)row * k->s->kinds + k->s->kind[j - 1]) * ROW_FIGURES;
            s->working[row] = fmax(j - i > 1 ? s->working[row] : 0, f[ROW_WORKING]);
            s->section_kept[row] = fmax(j - i > 1 ? s->section_kept[row] : 0, f[ROW_KEPT]);
            price_row(k, r, s, row, i, j, p);
            p[0].row = p[1].row = x->first[n] + row;
            if ((hybrid_pins_needed(k->t->options.pins, i, j) & ~r->keeps[row]) ||
                !hybrid_pins_allow_split(k->t->options.pins, i, j, of->devices,
                                         dp_of(k->t, &k->t->shape[x->shape[n]],
                                               r->labels + (size_t)row * k->t->row_size)))
                p[0].both_ms = p[1].both_ms = INFINITY;
            for (int m = 0; m < 2 && k->t->options.is_uniform; m++) {
                if (!row_stands(&p[m], of) || !is_wanted(mode, m))
                    p[m].both_ms = INFINITY;
                k->points[count++] = p[m];
            }
            for (int m = 0; m < 2 && !k->t->options.is_uniform; m++)
                if (is_wanted(mode, m) && row_stands(&p[m], of))
                    k->points[count++] = p[m];
        }
    }
    return k->t->options.is_uniform ? hybrid_instance_add(k->in, slot, i, j, k->points, count, k->e)
                                    : add_front(k, slot, i, j, count);
}

/* Keeps what a row's labels are, for plans. */
static int keep_rows(struct maker *k, const struct rows *r, uint32_t shape)
{
    struct stage_tables *t = k->t;
    size_t room = t->rows;

    if (!mem_grow(&t->labels, &t->label_room, (size_t)t->rows * t->row_size,
                  (size_t)r->count * t->row_size + 1))
        return err_no_memory(k->e, MEMORY_FOR);
    uint32_t *grown = realloc(t->row_shape, (room + r->count + 1) * sizeof *grown);
    if (!grown)
        return err_no_memory(k->e, MEMORY_FOR);
    t->row_shape = grown;
    if (r->count)
        memcpy(t->labels + (size_t)t->rows * t->row_size, r->labels,
               (size_t)r->count * t->row_size);
    for (uint32_t n = 0; n < r->count; n++)
        t->row_shape[t->rows++] = shape;
    return 0;
}

static int fill_slot(struct maker *k, uint32_t slot, bool is_ideal)
{
    struct slot_rows x = {0};
    int rc = 0;

    for (uint32_t n = 0; n < k->t->shapes && !stop_asked(k->t->options.stop); n++) {
        if (k->t->shape[n].slot != slot)
            continue;
        x.first[x.shapes] = k->t->rows;
        x.shape[x.shapes] = n;
        rc =
            rows_new(k->t, &k->t->shape[n], is_ideal, &x.rows[x.shapes], &k->t->is_cut_short, k->e);
        if (rc)
            break;
        x.shapes++;
        if (stop_asked(k->t->options.stop)) /* the rows are not whole */
            break;
        if (!sums_new(k, &x.rows[x.shapes - 1], &x.sums[x.shapes - 1]))
            rc = err_no_memory(k->e, MEMORY_FOR);
        if (!rc && !is_ideal)
            rc = keep_rows(k, &x.rows[x.shapes - 1], n);
        if (rc)
            break;
    }
    for (uint32_t i = 0; i < k->s->count && !rc && !stop_asked(k->t->options.stop); i++)
        for (uint32_t j = i + 1; j <= k->s->count && !rc; j++)
            rc = add_interval(k, &x, slot, i, j);
    for (uint32_t n = 0; n < x.shapes; n++) {
        rows_release(&x.rows[n]);
        sums_free(&x.sums[n]);
    }
    return rc;
}

/* ---- the whole ---- */

/* Variables that sections inside and outside of [i, j) use: one sum each over the network. */
static void fill_ties(struct maker *k)
{
    const struct sections *s = k->s;
    const struct problem *p = s->problem;
    size_t n = s->count + 1;

    for (uint32_t v = 0; v < s->spread_count; v++) {
        const struct section_spread *x = &s->spread[v];
        const struct unroll_value *value = &s->order->steps.values[x->value];
        const uint32_t *use = s->spread_pool + x->sections;
        if (x->use != SECTION_VARIABLE || p->roles.params[value->param].role != HLO_ROLE_VARIABLE)
            continue;
        double ms = pipe_link_ms(&k->tie, value->bytes);
        for (uint32_t i = 0; i < s->count; i++)
            for (uint32_t j = i + 1, u = 0; j <= s->count; j++) {
                bool inside = false;
                for (u = 0; u < x->section_count; u++)
                    inside |= use[u] >= i && use[u] < j;
                if (inside && (use[0] < i || use[x->section_count - 1] >= j))
                    k->ties[i * n + j] += ms;
            }
    }
}

/* The slowest link between neighbours, as pipe_instance_tie has it. */
static void find_tie_rate(struct maker *k)
{
    const struct hybrid_instance *in = k->in;

    for (uint32_t m = 1; m < in->devices; m++)
        for (uint32_t a = 0; a < in->slots; a++)
            for (uint32_t b = 0; b < in->slots; b++) {
                const struct pipe_link *l = hybrid_link_of(in, m, a, b);
                if (in->slot[a].devices > 1 || in->slot[b].devices > 1)
                    continue;
                pipe_link_worsen(&k->tie, l);
            }
}

double stage_tables_tie_ms(const struct hybrid_instance *in, double bytes)
{
    struct maker k = {.in = (struct hybrid_instance *)in}; /* only read */

    find_tie_rate(&k);
    return pipe_link_ms(&k.tie, bytes);
}

void stage_tables_cuts(const struct sections *s, const struct stage_options *o,
                       struct hybrid_instance *in)
{
    double samples = (double)o->batch / o->micro_batches;

    for (uint32_t c = 1; c < s->count; c++) {
        uint32_t at = s->position[c];
        in->forward_bytes[c] = s->cuts.forward_sample[at] * samples + s->cuts.forward_fixed[at];
        in->backward_bytes[c] = s->cuts.backward_sample[at] * samples + s->cuts.backward_fixed[at];
        in->once_bytes[c] = s->cuts.once[at];
    }
}

static int fill_table(struct maker *k, struct hybrid_instance *in, bool is_ideal)
{
    int rc = 0;

    k->in = in;
    k->tolerance = is_ideal ? 0 : TOLERANCE;
    stage_tables_cuts(k->s, &k->t->options, in);
    for (uint32_t slot = 0; slot < in->slots && !rc; slot++)
        rc = fill_slot(k, slot, is_ideal);
    return rc;
}

static bool can_be_cut(const struct sections *s, const struct stage_options *o)
{
    int64_t of = s->problem->training.batch_divisor, file = s->order->steps.batch_size;
    int64_t size = of * o->batch;

    return size % file == 0 && size / file % o->micro_batches == 0 &&
           o->batch % o->micro_batches == 0;
}

int stage_tables_new(const struct sections *s, const struct stage_options *o,
                     struct hybrid_instance *in, struct hybrid_instance *ideal,
                     struct stage_tables *out, bool *possible, struct err *e)
{
    struct stage_tables t = {.sections = s, .options = *o, .row_size = s->shared_count};
    struct maker k = {.s = s, .t = &t, .in = in, .e = e};
    int rc = 0;

    *possible = can_be_cut(s, o);
    *out = t;
    if (!*possible)
        return 0;
    t.kind_at = mem_try(s->kinds, sizeof *t.kind_at);
    k.ties = mem_try((size_t)(s->count + 1) * (s->count + 1), sizeof *k.ties);
    if (!t.kind_at || !k.ties) {
        rc = err_no_memory(e, MEMORY_FOR);
        goto out;
    }
    for (uint32_t n = 0; n < s->kinds; n++) {
        uint32_t first = s->kind_first[n];
        t.kind_at[n] = t.row_size;
        t.row_size += s->local_base[first + 1] - s->local_base[first];
    }
    find_tie_rate(&k);
    fill_ties(&k);
    rc = add_shapes(&k, &s->problem->cluster);
    if (rc)
        goto out;
    rc = fill_table(&k, in, false);
    if (rc || !ideal)
        goto out;
    rc = fill_table(&k, ideal, true);
out:
    free(k.ties);
    free(k.points);
    free(k.kept);
    if (rc)
        stage_tables_release(&t);
    else
        *out = t;
    return rc;
}

int stage_tables_price(const struct sections *s, const struct stage_options *o,
                       struct hybrid_instance *in, uint32_t slot, const uint32_t *size,
                       const label *on, uint32_t i, uint32_t j, struct hybrid_point out[static 2],
                       double collective_ms[static 2], struct err *e)
{
    struct stage_tables t = {.sections = s, .options = *o};
    struct maker k = {.s = s, .t = &t, .in = in, .e = e};
    struct row_sum sum;
    int rc = add_shape(&k, &s->problem->cluster, slot, size[0], size[1]);

    if (rc)
        goto out;
    k.ties = mem_try((size_t)(s->count + 1) * (s->count + 1), sizeof *k.ties);
    rc = k.ties ? rows_price(&t, &t.shape[0], on, i, j, &sum, e) : err_no_memory(e, MEMORY_FOR);
    if (rc)
        goto out;
    find_tie_rate(&k);
    fill_ties(&k);
    complete_row(&k, sum.figure, sum.figure[ROW_WORKING], sum.section_kept, &sum.rates, i, j, out);
    collective_ms[0] =
        sum.collective[SECTION_FORWARD] + gather_ms(&sum.rates, in->forward_bytes[i]);
    collective_ms[1] =
        sum.collective[SECTION_BACKWARD] + gather_ms(&sum.rates, in->backward_bytes[j]);
out:
    free(k.ties);
    free(t.shape);
    return rc;
}

void stage_tables_release(struct stage_tables *t)
{
    free(t->shape);
    free(t->kind_at);
    free(t->labels);
    free(t->row_shape);
    memset(t, 0, sizeof *t);
}

void stage_tables_labels(const struct stage_tables *t, uint32_t row, uint32_t i, uint32_t j,
                         label *on)
{
    const struct sections *s = t->sections;
    const uint8_t *l = t->labels + (size_t)row * t->row_size;

    memset(on, 0, s->problem->classes.count * sizeof *on);
    for (uint32_t n = 0; n < s->shared_count; n++)
        on[s->shared[n]] = l[n];
    for (uint32_t m = i; m < j; m++)
        for (uint32_t n = s->local_base[m]; n < s->local_base[m + 1]; n++)
            on[s->local[n]] = l[t->kind_at[s->kind[m]] + n - s->local_base[m]];
}

uint32_t stage_tables_dp(const struct stage_tables *t, uint32_t row)
{
    return dp_of(t, &t->shape[t->row_shape[row]], t->labels + (size_t)row * t->row_size);
}
