#include "engine/pipeline/pipe_instance.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/overlap.h"
#include "engine/cost/training.h"
#include "engine/pipeline/again.h"
#include "engine/pipeline/links.h"
#include "hlo/support/err.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const pipe_schedule_names[PIPE_SCHEDULE_COUNT] = {
#define X(id, name, summary) name,
    PIPE_SCHEDULES(X)
#undef X
};

static int check_options(const struct pipe_options *o, struct err *e)
{
    if (!o->micro_batches || o->micro_batches > 1 << 20)
        return err_set(e, ERR_INPUT, "%u micro-batches, expected 1 to %d", o->micro_batches,
                       1 << 20);
    if (!o->micro_batch || o->micro_batch > 1 << 24)
        return err_set(e, ERR_INPUT, "a micro-batch of %u samples, expected 1 to %d",
                       o->micro_batch, 1 << 24);
    if (!(o->overlap >= 0 && o->overlap <= 1) && o->overlap != OVERLAP_AUTO)
        return err_set(e, ERR_INPUT,
                       "overlap %g, expected the part of an all-reduce that is hidden, 0 to 1",
                       o->overlap);
    if (!(o->memory_share >= 0 && o->memory_share <= 1))
        return err_set(e, ERR_INPUT, "memory share %g, expected 0 (no limit) to 1",
                       o->memory_share);
    return 0;
}

/* ---- what the cluster decides ---- */
static void number_types(struct pipe_instance *in, const struct cluster *c)
{
    uint32_t server = 0;

    for (uint32_t d = 0; d < in->devices; d++) {
        uint32_t type = c->group[cluster_group_of(c, d)].type, t = 0;
        while (t < in->types && in->cluster_type[t] != type)
            t++;
        if (t == in->types)
            in->cluster_type[in->types++] = type;
        in->type_of[d] = t;
        in->server_of[d] = cluster_server_of(c, d);
        if (!d || in->server_of[d] != in->server_of[d - 1])
            in->boundary[server++] = d;
    }
    in->boundary[server] = in->devices;
}

static void fill_share(struct pipe_instance *in)
{
    uint32_t b = in->options.micro_batch;

    in->share[0] = 1;
    for (uint32_t r = 1; r <= in->devices; r++)
        in->share[r] = (double)((b + r - 1) / r) / b;
}

static void fill_groups(struct pipe_instance *in, const struct cluster *c)
{
    struct mesh_span s;

    for (uint32_t a = 0; a < in->devices; a++) {
        struct pipe_group *row = &in->group[a * (in->devices + 1)];
        struct overlap most = overlap_on(&c->group[cluster_group_of(c, a)], OVERLAP_AUTO);
        row[a].memory_bytes = INFINITY;
        for (uint32_t b = a + 1; b <= in->devices; b++) {
            mesh_span_between(&s, c, a, b);
            row[b].reduce_ms_per_byte = 2 * (s.gather_inside + s.gather_across);
            row[b].reduce_by_size = collective_lines_of(&s, COLLECTIVE_ALL_REDUCE);
            row[b].most_overlap = most;
            row[b].types = row[b - 1].types | 1u << in->type_of[b - 1];
            row[b].memory_bytes =
                fmin(row[b - 1].memory_bytes, cluster_type_of(c, b - 1)->memory_bytes);
        }
    }
}

static int fill_links(struct pipe_instance *in, const struct cluster *c, struct err *e)
{
    struct pipe_links links;
    int rc = pipe_links_new(&links, c, e);

    if (rc)
        return rc;
    for (uint32_t m = 1; m < in->devices; m++)
        for (uint32_t a = 0; a < m; a++)
            for (uint32_t b = m + 1; b <= in->devices; b++)
                in->link[in->link_base[m] + a * (in->devices - m) + (b - m - 1)] =
                    pipe_links_between(&links, a, m, b);
    pipe_links_release(&links);
    return rc;
}

double pipe_group_reduce_ms(const struct pipe_group *g, double bytes)
{
    return collective_lines_ms(&g->reduce_by_size, g->reduce_ms_per_byte * bytes);
}

/* ---- storage ---- */
static double **new_rows(struct arena *arena, uint32_t rows, uint32_t columns)
{
    double **row = arena_get(arena, rows, sizeof *row);
    double *all = arena_get(arena, (size_t)rows * columns, sizeof *all);

    if (!row || !all)
        return NULL;
    for (uint32_t i = 0; i < rows; i++)
        row[i] = all + (size_t)i * columns;
    return row;
}

static uint32_t levels(uint32_t points)
{
    uint32_t n = 1;

    while (points >> n)
        n++;
    return n;
}

static bool new_tables(struct pipe_instance *in)
{
    struct arena *a = &in->arena;
    uint32_t n = in->points + 1;

    in->forward_ms = new_rows(a, in->types * in->devices, n);
    in->backward_ms = new_rows(a, in->types * in->devices, n);
    in->update_ms = new_rows(a, in->types, n);
    in->temporary_most = new_rows(a, levels(in->points), n);
    if (!in->forward_ms || !in->backward_ms || !in->update_ms || !in->temporary_most)
        return false;
    double **each[] = {&in->gradient_bytes,  &in->state_bytes,    &in->stash_bytes,
                       &in->forward_bytes,   &in->backward_bytes, &in->once_bytes,
                       &in->temporary_bytes, &in->parameter_bytes};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        if (!(*each[i] = arena_get(a, n, sizeof(double))))
            return false;
    in->variables = arena_get(a, n, sizeof(uint32_t));
    in->instruction = arena_get(a, n, sizeof(uint32_t));
    in->layer = arena_get(a, n, sizeof(uint32_t));
    if (!in->variables || !in->instruction || !in->layer)
        return false;
    memset(in->instruction, 0xff, n * sizeof *in->instruction);
    memset(in->layer, 0xff, n * sizeof *in->layer);
    return true;
}

static bool new_devices(struct pipe_instance *in)
{
    struct arena *a = &in->arena;
    uint32_t d = in->devices, links = 0;

    in->type_of = arena_get(a, d, sizeof(uint32_t));
    in->server_of = arena_get(a, d, sizeof(uint32_t));
    in->boundary = arena_get(a, in->servers + 1, sizeof(uint32_t));
    in->share = arena_get(a, d + 1, sizeof(double));
    in->group = arena_get(a, (size_t)(d + 1) * (d + 1), sizeof *in->group);
    in->link_base = arena_get(a, d + 1, sizeof(uint32_t));
    if (!in->type_of || !in->server_of || !in->boundary || !in->share || !in->group ||
        !in->link_base)
        return false;
    for (uint32_t m = 1; m < d; m++) {
        in->link_base[m] = links;
        links += m * (d - m);
    }
    in->link = arena_get(a, links ? links : 1, sizeof *in->link);
    return in->link != NULL;
}

static int check_size(const struct cluster *c, uint32_t points, struct err *e)
{
    if (!points || points > PIPE_POINTS_MOST)
        return err_set(e, ERR_LIMIT, "a pipeline of %u points, expected 1 to %d", points,
                       PIPE_POINTS_MOST);
    if (c->devices > PIPE_DEVICES_MOST)
        return err_set(e, ERR_LIMIT, "a pipeline over %u devices, expected at most %d", c->devices,
                       PIPE_DEVICES_MOST);
    return 0;
}

int pipe_instance_new(struct pipe_instance *out, uint32_t points, const struct cluster *c,
                      const struct pipe_options *o, struct err *e)
{
    struct pipe_instance in = {
        .options = *o, .points = points, .devices = c->devices, .servers = c->servers};
    int rc = check_options(o, e);

    if (rc)
        return rc;
    rc = check_size(c, points, e);
    if (rc)
        return rc;
    if (!new_devices(&in)) {
        arena_release(&in.arena);
        return err_no_memory(e, "for a pipeline over %u devices", c->devices);
    }
    number_types(&in, c);
    if ((uint64_t)in.types * in.devices * points > PIPE_ENTRIES_MOST)
        rc = err_set(
            e, ERR_LIMIT,
            "a pipeline of %u points, %u devices and %u device types: more than %d table entries",
            points, in.devices, in.types, PIPE_ENTRIES_MOST);
    else if (!new_tables(&in))
        rc = err_no_memory(e, "for a pipeline of %u points", points);
    if (rc)
        goto out;
    rc = fill_links(&in, c, e);
out:
    if (rc) {
        arena_release(&in.arena);
        return rc;
    }
    fill_share(&in);
    fill_groups(&in, c);
    *out = in;
    return 0;
}

void pipe_instance_free(struct pipe_instance *in)
{
    arena_release(&in->arena);
    memset(in, 0, sizeof *in);
}

/* ---- ties ---- */
static bool is_amount(double v)
{
    return v >= 0 && isfinite(v);
}

static int check_tie(const struct pipe_instance *in, const struct pipe_tie *t, struct err *e)
{
    if (in->ties == PIPE_TIES_MOST)
        return err_set(e, ERR_LIMIT, "more than %d variables used at several points",
                       PIPE_TIES_MOST);
    if (t->use_count < 2)
        return err_set(e, ERR_INPUT, "a tied variable has %u use, expected at least 2",
                       t->use_count);
    for (uint32_t i = 0; i < t->use_count; i++)
        if (t->uses[i] >= in->points || (i && t->uses[i] <= t->uses[i - 1]))
            return err_set(
                e, ERR_INPUT,
                "use %u of a tied variable is point %u, expected ascending points below %u", i,
                t->uses[i], in->points);
    if (!is_amount(t->parameter_bytes) || !is_amount(t->gradient_bytes) ||
        !is_amount(t->state_bytes) || !is_amount(t->update_ms))
        return err_set(e, ERR_INPUT, "a tied variable has a negative or infinite figure");
    return 0;
}

/* One sum over the slowest card; inside one server, over the link of all its devices. */
static double sync_ms(const struct pipe_instance *in, double bytes)
{
    struct pipe_link worst = {0};

    for (uint32_t m = 1; m < in->devices; m++)
        pipe_link_worsen(&worst, pipe_link_of(in, m - 1, m, m + 1));
    return pipe_link_ms(&worst, bytes);
}

int pipe_instance_tie(struct pipe_instance *in, const struct pipe_tie *tie, struct err *e)
{
    struct pipe_tie *t = &in->tie[in->ties];
    int rc = check_tie(in, tie, e);

    if (rc)
        return rc;
    uint32_t *uses = arena_get(&in->arena, tie->use_count, sizeof *uses);
    uint32_t *next = arena_get(&in->arena, in->points + 1, sizeof *next);
    if (!uses || !next)
        return err_no_memory(e, "for a tied variable");
    memcpy(uses, tie->uses, tie->use_count * sizeof *uses);
    *t = *tie;
    t->uses = uses;
    t->next = next;
    t->sync_ms = sync_ms(in, tie->gradient_bytes);
    for (uint32_t i = in->points + 1, left = tie->use_count; i-- > 0;) {
        next[i] = i < in->points ? next[i + 1] : in->points;
        if (left && uses[left - 1] == i)
            next[i] = uses[--left];
    }
    in->ties++;
    return 0;
}

/* ---- what is made again ---- */

int pipe_instance_again(struct pipe_instance *in, struct again_pair *pair, uint32_t count,
                        const double *amount, struct err *e)
{
    uint32_t columns = pipe_again_column(in->types, false);

    for (uint32_t n = 0; n < count; n++) {
        if (pair[n].before >= pair[n].at || pair[n].at >= in->points)
            return err_set(e, ERR_INPUT,
                           "points %u and %u read what is made again, expected two "
                           "ascending ones below %u",
                           pair[n].before, pair[n].at, in->points);
        for (uint32_t c = 0; c < columns; c++)
            if (!is_amount(amount[(size_t)pair[n].row * columns + c]))
                return err_set(e, ERR_INPUT,
                               "what point %u makes again has a negative or infinite "
                               "figure",
                               pair[n].at);
    }
    if (!again_new(&in->arena, in->points, columns, pair, count, amount, &in->again))
        return err_no_memory(e, "for what the stages of a pipeline make again");
    return 0;
}

/* ---- finishing ---- */
static int sum_up(double *table, uint32_t points, const char *name, struct err *e)
{
    if (table[0] != 0)
        return err_set(e, ERR_INPUT, "%s before point 0 is %g, expected 0", name, table[0]);
    for (uint32_t i = 0; i < points; i++) {
        if (!is_amount(table[i + 1]))
            return err_set(e, ERR_INPUT, "%s of point %u is %g, expected a finite figure >= 0",
                           name, i, table[i + 1]);
        table[i + 1] += table[i];
    }
    return isfinite(table[points]) ? 0 : err_set(e, ERR_INPUT, "the sum of %s is not finite", name);
}

static int sum_rows(double **row, uint32_t rows, uint32_t points, const char *name, struct err *e)
{
    int rc = 0;

    for (uint32_t i = 0; i < rows; i++) {
        rc = sum_up(row[i], points, name, e);
        if (rc)
            return rc;
    }
    return rc;
}

static int check_cuts(const double *table, uint32_t points, const char *name, struct err *e)
{
    if (table[0] != 0 || table[points] != 0)
        return err_set(e, ERR_INPUT, "%s at an end of the pipeline is not 0", name);
    for (uint32_t i = 1; i < points; i++)
        if (!is_amount(table[i]))
            return err_set(e, ERR_INPUT, "%s of cut %u is %g, expected a finite figure >= 0", name,
                           i, table[i]);
    return 0;
}

static int fill_most(struct pipe_instance *in, struct err *e)
{
    uint32_t n = in->points;

    for (uint32_t i = 0; i < n; i++)
        if (!is_amount(in->temporary_bytes[i]))
            return err_set(e, ERR_INPUT,
                           "temporary_bytes of point %u is %g, expected a finite figure >= 0", i,
                           in->temporary_bytes[i]);
    /* on top of the stash up to the point: what lies behind it has been freed when it runs backward
     */
    for (uint32_t i = 0; i < n; i++)
        in->temporary_most[0][i] = in->stash_bytes[i + 1] + in->temporary_bytes[i];
    for (uint32_t level = 1; level < levels(n); level++)
        for (uint32_t i = 0; i + (1u << level) <= n; i++)
            in->temporary_most[level][i] =
                fmax(in->temporary_most[level - 1][i],
                     in->temporary_most[level - 1][i + (1u << (level - 1))]);
    return 0;
}

int pipe_instance_finish(struct pipe_instance *in, struct err *e)
{
    uint32_t n = in->points, rows = in->types * in->devices;
    int rc = sum_rows(in->forward_ms, rows, n, "forward_ms", e);

    BUG_ON(in->finished);
    rc = rc ? rc : sum_rows(in->backward_ms, rows, n, "backward_ms", e);
    rc = rc ? rc : sum_rows(in->update_ms, in->types, n, "update_ms", e);
    rc = rc ? rc : sum_up(in->gradient_bytes, n, "gradient_bytes", e);
    rc = rc ? rc : sum_up(in->state_bytes, n, "state_bytes", e);
    rc = rc ? rc : sum_up(in->parameter_bytes, n, "parameter_bytes", e);
    rc = rc ? rc : sum_up(in->stash_bytes, n, "stash_bytes", e);
    rc = rc ? rc : check_cuts(in->forward_bytes, n, "forward_bytes", e);
    rc = rc ? rc : check_cuts(in->backward_bytes, n, "backward_bytes", e);
    rc = rc ? rc : check_cuts(in->once_bytes, n, "once_bytes", e);
    rc = rc ? rc : fill_most(in, e);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < n; i++)
        in->variables[i + 1] += in->variables[i];
    in->finished = true;
    return 0;
}

/* ---- reading ---- */
double pipe_temporary_bytes(const struct pipe_instance *in, uint32_t i, uint32_t j)
{
    uint32_t level = levels(j - i) - 1;
    const double *most = in->temporary_most[level];

    return fmax(fmax(most[i], most[j - (1u << level)]) - in->stash_bytes[j], 0);
}

/* ---- fewer points ---- */
static void pick_at_cuts(double *to, const double *from, const uint32_t *cut, uint32_t count)
{
    for (uint32_t i = 0; i <= count; i++)
        to[i] = from[cut[i]];
}

static void pick_points(struct pipe_instance *out, const struct pipe_instance *from,
                        const uint32_t *cut)
{
    uint32_t n = out->points;

    for (uint32_t r = 0; r < out->types * out->devices; r++) {
        pick_at_cuts(out->forward_ms[r], from->forward_ms[r], cut, n);
        pick_at_cuts(out->backward_ms[r], from->backward_ms[r], cut, n);
    }
    for (uint32_t t = 0; t < out->types; t++)
        pick_at_cuts(out->update_ms[t], from->update_ms[t], cut, n);
    pick_at_cuts(out->gradient_bytes, from->gradient_bytes, cut, n);
    pick_at_cuts(out->state_bytes, from->state_bytes, cut, n);
    pick_at_cuts(out->parameter_bytes, from->parameter_bytes, cut, n);
    pick_at_cuts(out->stash_bytes, from->stash_bytes, cut, n);
    pick_at_cuts(out->forward_bytes, from->forward_bytes, cut, n);
    pick_at_cuts(out->backward_bytes, from->backward_bytes, cut, n);
    pick_at_cuts(out->once_bytes, from->once_bytes, cut, n);
    for (uint32_t i = 0; i < n; i++) {
        out->variables[i + 1] = from->variables[cut[i + 1]];
        out->temporary_bytes[i] = pipe_temporary_bytes(from, cut[i], cut[i + 1]);
        out->instruction[i] = from->instruction[cut[i + 1] - 1];
        out->layer[i] = from->layer[cut[i + 1] - 1];
    }
}

/* A tie whose uses all fall into one point is a plain variable there. */
static int coarsen_tie(struct pipe_instance *out, const struct pipe_tie *from, const uint32_t *cut,
                       uint32_t *uses, struct err *e)
{
    struct pipe_tie tie = *from;
    uint32_t at = 0;

    tie.uses = uses;
    tie.use_count = 0;
    for (uint32_t i = 0; i < from->use_count; i++) {
        while (cut[at + 1] <= from->uses[i])
            at++;
        if (!tie.use_count || uses[tie.use_count - 1] != at)
            uses[tie.use_count++] = at;
    }
    return tie.use_count < 2 ? 0 : pipe_instance_tie(out, &tie, e);
}

static bool same_rows(struct pipe_instance *out, const struct pipe_instance *from)
{
    size_t d = from->devices, links = 0;

    if (!new_devices(out))
        return false;
    for (uint32_t m = 1; m < d; m++)
        links += m * (d - m);
    memcpy(out->type_of, from->type_of, d * sizeof *out->type_of);
    memcpy(out->server_of, from->server_of, d * sizeof *out->server_of);
    memcpy(out->boundary, from->boundary, (out->servers + 1) * sizeof *out->boundary);
    memcpy(out->share, from->share, (d + 1) * sizeof *out->share);
    memcpy(out->group, from->group, (d + 1) * (d + 1) * sizeof *out->group);
    memcpy(out->link, from->link, links * sizeof *out->link);
    return true;
}

int pipe_instance_coarsen(const struct pipe_instance *from, const uint32_t *cut, uint32_t count,
                          struct pipe_instance *out, struct err *e)
{
    struct pipe_instance in = {.options = from->options,
                               .points = count,
                               .devices = from->devices,
                               .types = from->types,
                               .servers = from->servers};
    uint32_t *uses = mem_try(from->points, sizeof *uses);
    int rc = 0;

    BUG_ON(!from->finished || !count || cut[0] || cut[count] != from->points);
    memcpy(in.cluster_type, from->cluster_type, sizeof in.cluster_type);
    if (!uses || !same_rows(&in, from) || !new_tables(&in)) {
        rc = err_no_memory(e, "for a pipeline of %u points", count);
        goto out;
    }
    pick_points(&in, from, cut);
    for (uint32_t i = 0; i < from->ties; i++) {
        rc = coarsen_tie(&in, &from->tie[i], cut, uses, e);
        if (rc)
            goto out;
    }
    if (!again_coarsen(&in.arena, &from->again, cut, count, &in.again))
        rc = err_no_memory(e, "for a pipeline of %u points", count);
out:
    rc = rc ? rc : fill_most(&in, e);
    free(uses);
    if (rc) {
        arena_release(&in.arena);
        return rc;
    }
    in.finished = true;
    *out = in;
    return 0;
}

uint32_t pipe_instance_cheapest(const struct pipe_instance *in, uint32_t buckets, uint32_t *cut)
{
    const double *work = in->forward_ms[0];
    uint32_t count = 0, i = 1;

    cut[0] = 0;
    for (uint32_t b = 0; b < buckets; b++) {
        double end = work[in->points] * (b + 1) / buckets, least = INFINITY;
        uint32_t best = 0;
        for (; i < in->points && (work[i] < end || b + 1 == buckets); i++) {
            double bytes = in->forward_bytes[i] + in->backward_bytes[i];
            if (bytes < least) {
                least = bytes;
                best = i;
            }
        }
        if (best)
            cut[++count] = best;
    }
    cut[++count] = in->points;
    return count;
}

/* ---- plans ---- */
struct pipe_plan pipe_plan_whole(const struct pipe_instance *in)
{
    return (struct pipe_plan){.stages = 1, .pivot = {0, in->points}, .device = {0, in->devices}};
}

bool pipe_plan_is_valid(const struct pipe_instance *in, const struct pipe_plan *p)
{
    if (!p->stages || p->stages > PIPE_STAGES_MOST || p->pivot[0] || p->device[0] ||
        p->pivot[p->stages] != in->points || p->device[p->stages] > in->devices)
        return false;
    for (uint32_t s = 0; s < p->stages; s++)
        if (p->pivot[s] >= p->pivot[s + 1] || p->device[s] >= p->device[s + 1])
            return false;
    return true;
}

bool pipe_plan_equal(const struct pipe_plan *a, const struct pipe_plan *b)
{
    size_t size = (a->stages + 1) * sizeof *a->pivot;

    return a->stages == b->stages && !memcmp(a->pivot, b->pivot, size) &&
           !memcmp(a->device, b->device, size);
}

void pipe_plan_format(const struct pipe_plan *p, char *out, size_t room)
{
    size_t at = 0;

    out[0] = '\0';
    for (uint32_t s = 1; s < p->stages && at < room; s++)
        at += (size_t)snprintf(out + at, room - at, "%s%u", s > 1 ? " " : "", p->device[s]);
    for (uint32_t s = 1; s < p->stages && at < room; s++)
        at += (size_t)snprintf(out + at, room - at, "%s%u", s > 1 ? " " : " | ", p->pivot[s]);
}

bool pipe_pins_are_valid(const struct pipe_instance *in, const struct pipe_pins *p)
{
    for (uint32_t n = 0; n < p->count; n++) {
        const struct pipe_pin *a = &p->pin[n];
        if (!a->device || a->device >= in->devices || !a->pivot || a->pivot >= in->points)
            return false;
        for (uint32_t k = 0; k < n; k++) { /* the same pin twice is one */
            const struct pipe_pin *b = &p->pin[k];
            if ((a->device < b->device) != (a->pivot < b->pivot) ||
                (a->device == b->device) != (a->pivot == b->pivot))
                return false;
        }
    }
    return true;
}

void pipe_device_cuts(const struct pipe_instance *in, uint32_t radius, uint8_t *out)
{
    memset(out, 0, in->devices + 1);
    out[0] = out[in->devices] = 1;
    for (uint32_t s = 1; s < in->servers; s++) {
        uint32_t at = in->boundary[s];
        for (uint32_t d = at > radius ? at - radius : 1; d <= at + radius && d < in->devices; d++)
            out[d] = 1;
    }
}
