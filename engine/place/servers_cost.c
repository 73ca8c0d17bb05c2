#include "engine/place/servers_run.h"

#include "engine/place/family.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/program_run.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum { TABLE_MOST = 1 << 25 }; /* entries of the largest table */

/* ---- tables ---- */

static bool allocate(struct servers_run *t)
{
    const struct place_nets *n = t->n;
    size_t rows = t->rows, nets = rows * n->nets + 1;
    uint32_t all = 0;

    for (uint32_t k = 0; k < t->kinds; k++)
        all += t->servers[k];
    t->ranked = mem_try(rows, sizeof *t->ranked);
    t->sum = mem_try(rows * t->sums, sizeof *t->sum);
    t->pins = mem_try(nets, sizeof *t->pins);
    t->sure = t->cores ? mem_try(nets, sizeof *t->sure) : t->pins;
    t->cut_at = mem_try(rows + 1, sizeof *t->cut_at);
    t->marks = mem_try(rows * 3, sizeof *t->marks);
    t->pinned = mem_try((size_t)all + 1, sizeof *t->pinned);
    t->best = mem_try(t->states * rows, sizeof *t->best);
    t->choice = mem_try(t->states * rows, sizeof *t->choice);
    t->least = mem_try(t->inners * rows, sizeof *t->least);
    t->real = mem_try(t->inners * rows, sizeof *t->real);
    t->least_of = mem_try(rows, sizeof *t->least_of);
    t->real_of = mem_try(rows, sizeof *t->real_of);
    t->run.allowed = mem_try((size_t)n->positions + 1, 1);
    return t->ranked && t->sum && t->pins && t->sure && t->cut_at && t->marks && t->pinned &&
           t->best && t->choice && t->least && t->real && t->least_of && t->real_of &&
           t->run.allowed;
}

void servers_release(struct servers_run *t)
{
    free(t->ranked);
    free(t->sum);
    if (t->sure != t->pins)
        free(t->sure);
    free(t->pins);
    free(t->cut_at);
    free(t->cut);
    free(t->marks);
    free(t->pinned);
    free(t->best);
    free(t->choice);
    free(t->least);
    free(t->real);
    free(t->least_of);
    free(t->real_of);
    free(t->run.allowed);
}

static void rank_ideals(struct servers_run *t)
{
    for (uint32_t i = 0; i < t->rows; i++) {
        const uint64_t *set = t->run.f->set + (size_t)i * t->run.f->words;
        t->ranked[i] = (struct run_ranked){0, i};
        for (uint32_t p = 0; p < t->n->positions; p++) {
            for (uint32_t m = 0; m < t->run.measures && place_has(set, p); m++)
                t->ranked[i].work += run_measure_time(&t->run, m, t->run.base, p);
        }
    }
    qsort(t->ranked, t->rows, sizeof *t->ranked, run_compare_ranked);
}

/* Pins inside, and the nets cut. */
static bool fill_row(struct servers_run *t, uint32_t row, size_t *room)
{
    const struct place_nets *n = t->n;
    const uint64_t *set = servers_set(t, row);
    uint16_t *pins = t->pins + (size_t)row * n->nets;
    uint32_t at = t->cut_at[row];

    for (uint32_t p = 0; p < n->positions; p++) {
        for (uint32_t i = n->net_at[p]; i < n->net_at[p + 1] && place_has(set, p); i++)
            pins[n->net[i]]++;
    }
    for (uint32_t h = 0; h < n->nets; h++) {
        if (!pins[h] || pins[h] == run_pins_of(n, h))
            continue;
        if (!mem_grow(&t->cut, room, at, 1))
            return false;
        t->cut[at++] = h;
    }
    t->cut_at[row + 1] = at;
    run_gather_pins(n, set, t->marks + (size_t)row * 3);
    return true;
}

/* Which of the pinned positions are on which server. */
static void mark_servers(struct servers_run *t)
{
    uint32_t seen = 0, accelerators = 0;

    for (uint32_t k = 0; k < t->kinds; k++)
        accelerators += t->n->graph->type[k].count;
    for (uint32_t p = 0; p < t->n->positions && seen < 64; p++) {
        uint32_t device = t->n->fixed[p];
        if (device != PLACE_NONE && device < accelerators)
            t->pinned[device / t->per] |= (uint64_t)1 << seen;
        seen += device != PLACE_NONE;
    }
}

/* Takes `count` of something into the states; its step. */
static uint32_t add_states(struct servers_run *t, uint32_t count, bool *over)
{
    uint32_t step = t->states;
    uint64_t states = (uint64_t)step * (count + 1);

    *over |= states * t->rows > TABLE_MOST;
    t->states = *over ? 1 : (uint32_t)states;
    return step;
}

static bool fill_shape(struct servers_run *t)
{
    const struct place_graph *g = t->n->graph;
    uint32_t m = t->n->positions, host = g->type[t->kinds].count;
    bool over = t->n->positions > UINT16_MAX || (uint64_t)t->rows * t->n->nets > TABLE_MOST;

    t->cores = host < m ? host : m;
    t->states = 1;
    t->run.base = t->kinds;
    for (uint32_t k = t->kinds; k-- > 0;) {
        t->servers[k] = g->type[k].count / t->per;
        t->run.base = g->type[k].count ? k : t->run.base;
        t->kind_step[k] = add_states(t, t->servers[k], &over);
        t->device_most += g->type[k].count;
    }
    t->core_step = add_states(t, t->cores, &over);
    t->device_step = t->run.q->fewest ? add_states(t, t->device_most, &over) : 0;
    t->inners = (t->cores + 1) * (t->per + 1);
    t->sums = t->run.measures * t->run.types + 1 + t->run.types;
    return !over && (uint64_t)t->inners * t->rows <= TABLE_MOST;
}

int servers_new(struct servers_run *t, struct err *e)
{
    size_t room = 0;

    if (!fill_shape(t))
        return err_set(e, ERR_LIMIT, "too many ideals for the program over servers");
    if (!allocate(t))
        return err_no_memory(e, "for the program over servers");
    run_restrict_types(&t->run);
    rank_ideals(t);
    for (uint32_t row = 0; row < t->rows; row++) {
        if (!fill_row(t, row, &room))
            return err_no_memory(e, "for the program over servers");
    }
    mark_servers(t);
    return 0;
}

/* ---- what follows from the decisions ---- */

static uint32_t bytes_at(const struct servers_run *t)
{
    return t->run.measures * t->run.types;
}

static void count_row(struct servers_run *t, uint32_t row)
{
    const struct place_nets *n = t->n;
    const uint64_t *set = servers_set(t, row);
    uint16_t *sure = t->sure + (size_t)row * n->nets;
    double *s = servers_sums(t, row);
    uint32_t types = t->run.types, b = bytes_at(t);

    memset(s, 0, t->sums * sizeof *s);
    if (t->cores)
        memset(sure, 0, n->nets * sizeof *sure);
    for (uint32_t p = 0; p < n->positions; p++) {
        if (!place_has(set, p))
            continue;
        for (uint32_t i = 0; i < t->run.measures * types; i++)
            s[i] += run_measure_time(&t->run, i / types, i % types, p);
        s[b] += n->bytes[p];
        for (uint32_t k = 0; k < types; k++)
            s[b + 1 + k] += !(t->run.allowed[p] >> k & 1);
        for (uint32_t i = n->net_at[p]; i < n->net_at[p + 1] && t->cores; i++)
            sure[n->net[i]] = (uint16_t)(sure[n->net[i]] + !servers_may_core(t, p));
    }
}

/* What takes longer than a plan may on a core is on none. */
static void keep_off_cores(struct servers_run *t)
{
    for (uint32_t p = 0; p < t->n->positions && t->cores; p++) {
        for (uint32_t m = 0; m < t->run.measures; m++) {
            if (run_measure_time(&t->run, m, t->kinds, p) > t->run.cap[m] * (1 + RUN_SLACK))
                t->run.allowed[p] &= (uint8_t) ~(1u << t->kinds);
        }
    }
}

void servers_count(struct servers_run *t)
{
    const struct place_graph *g = t->n->graph;

    keep_off_cores(t);
    t->window = 0;
    for (uint32_t m = 0; m < t->run.measures; m++) {
        double widest = 0;
        for (uint32_t k = 0; k < t->run.types; k++) {
            bool copied = t->run.q->rules->replicate && k < t->kinds;
            double copies = g->type[k].count ? copied ? t->per : 1 : 0, *rate = &t->rate[m][k];
            run_rate_of(&t->run, m, k, rate, &t->nothing[m][k]);
            if (copies > 0)
                widest = fmax(widest,
                              (*rate > 0 ? *rate * t->run.cap[m] * copies : 0) + t->nothing[m][k]);
        }
        t->window += widest;
    }
    t->window *= 1 + RUN_SLACK;
    for (uint32_t row = 0; row < t->rows; row++)
        count_row(t, row);
}

/* ---- what one stage pays ---- */

struct moved {
    double in[2], out[2]; /* by pass */
};

/* One net that `from` or `to` cuts. */
static void add_net(const struct servers_run *t, const struct server_stage *s, uint32_t h,
                    struct moved *m)
{
    const struct place_nets *n = t->n;
    uint32_t nets = n->nets, maker = n->pin[n->pin_at[h]], pass = n->pass[h];
    uint32_t before = t->pins[(size_t)s->from * nets + h],
             after = t->pins[(size_t)s->to * nets + h];

    if (before == after)
        return;
    bool made_before = place_has(servers_set(t, s->from), maker);
    if (!made_before && place_has(servers_set(t, s->to), maker)) {
        uint32_t all = t->sure[(size_t)(t->rows - 1) * nets + h];
        bool far =
            t->sure[(size_t)s->first * nets + h] || t->sure[(size_t)s->last * nets + h] != all;
        m->out[pass] += far ? n->far_ms[h] : n->near_ms[h];
        return;
    }
    bool inside = made_before ? !place_has(servers_set(t, s->first), maker)
                              : place_has(servers_set(t, s->last), maker);
    m->in[pass] += inside || servers_may_core(t, maker) ? n->near_ms[h] : n->far_ms[h];
}

static struct moved moved_by(struct servers_run *t, const struct server_stage *s)
{
    uint32_t nets = t->n->nets;
    struct moved m = {{0, 0}, {0, 0}};

    for (uint32_t i = t->cut_at[s->to]; i < t->cut_at[s->to + 1]; i++)
        add_net(t, s, t->cut[i], &m);
    for (uint32_t i = t->cut_at[s->from]; i < t->cut_at[s->from + 1]; i++) {
        uint32_t h = t->cut[i]; /* those both cut were looked at */
        if (t->pins[(size_t)s->to * nets + h] == run_pins_of(t->n, h))
            add_net(t, s, h, &m);
    }
    t->run.effort->pairs++;
    t->run.effort->looks += (t->cut_at[s->to + 1] - t->cut_at[s->to]) / 2;
    return m;
}

/* By measure, of one copy, weights not sent yet. */
static void load_of(struct servers_run *t, const struct server_stage *s, uint32_t type,
                    double load[2])
{
    const double *si = servers_sums(t, s->to), *sj = servers_sums(t, s->from);
    enum place_communication c = t->run.q->rules->communication;
    uint32_t pass = t->run.q->pass, types = t->run.types;

    load[1] = 0;
    for (uint32_t m = 0; m < t->run.measures; m++)
        load[m] = si[m * types + type] - sj[m * types + type];
    if (type == t->kinds)
        return;
    struct moved m = moved_by(t, s);
    if (t->run.measures == 1) {
        load[0] = place_parts_ms(c, load[0], m.in[0] + m.in[1], m.out[0] + m.out[1]);
        return;
    }
    load[0] = place_parts_ms(c, load[0], m.in[pass], m.out[pass]);
    load[1] = place_parts_ms(c, load[1], m.in[1 - pass], m.out[1 - pass]);
}

bool servers_may_hold(const struct servers_run *t, uint32_t from, uint32_t to, uint32_t type)
{
    const double *si = servers_sums(t, to), *sj = servers_sums(t, from);
    const uint64_t *mi = t->marks + (size_t)to * 3, *mj = t->marks + (size_t)from * 3;
    uint64_t fixed = mi[0] & ~mj[0];
    uint32_t b = bytes_at(t);

    if ((fixed & (fixed - 1)) || (mi[1] & ~mj[1] & mi[2] & ~mj[2]))
        return false;
    if (si[b + 1 + type] != sj[b + 1 + type])
        return false;
    return type == t->kinds || si[b] - sj[b] <= t->n->graph->type[type].memory_bytes;
}

bool servers_stage(struct servers_run *t, const struct server_stage *s, uint32_t type,
                   uint32_t copies, double cap, double *ms)
{
    uint32_t b = bytes_at(t), sent = t->run.measures == 1 || t->run.q->pass == 1 ? 0 : 1;
    double load[2], bytes = servers_sums(t, s->to)[b] - servers_sums(t, s->from)[b];

    load_of(t, s, type, load);
    for (uint32_t m = 0; m < 2; m++)
        load[m] /= copies;
    load[sent] += type < t->kinds ? place_sync_ms(t->n->graph, bytes, copies) : 0;
    *ms = load[0];
    return load[0] < cap && (t->run.measures == 1 || load[1] <= t->run.cap[1]);
}

bool servers_is_below(const struct servers_run *t, uint32_t j, uint32_t i)
{
    const uint64_t *below = servers_set(t, j), *set = servers_set(t, i);

    for (uint32_t k = 0; k < t->run.f->words; k++) {
        if (below[k] & ~set[k])
            return false;
    }
    return true;
}
