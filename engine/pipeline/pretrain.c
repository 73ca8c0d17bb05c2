#include "engine/pipeline/pretrain.h"

#include "engine/pipeline/descent.h"
#include "engine/pipeline/environment.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/instance.h"
#include "engine/pipeline/pipe_exact.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/error.h"
#include "rl/rng.h"
#include "rl/scorer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROUND = 128,     /* environments played with the same weights */
    GROUP_MOST = 64, /* candidates of a state that are learned from: */
    GROUP_BEST = 16, /*   so many best, the rest drawn */
    STATES_MOST = 5, /* of one environment: stages - 1 */
    REPLAY = 4096,   /* states kept */
    BATCH = 16,      /* states of an update; 3 updates for so many new ones */
    STREAM_INIT = 1,
    STREAM_DRAW = 2,
    STREAM_ENVIRONMENT = 16, /* and those behind it: one each */
};
#define HELD_OUT ((uint64_t)1 << 60) /* numbers of environments that no training comes to */
#define GAP_MOST 0.5
#define KNOWN_SLACK 1.6 /* of a plan's L: gaps are cut at GAP_MOST anyway */
#define TEMPERATURE 0.01
#define RATE_FIRST 2e-3
#define RATE_LAST 6e-5

struct state {
    uint32_t count;
    float gap[GROUP_MOST], row[GROUP_MOST * PIPE_INFER_FEATURES];
};
struct path {
    uint32_t count;
    struct state state[STATES_MOST];
};

/* ---- one environment ---- */

struct valued {
    double ms;
    uint32_t candidate;
};

struct play {
    struct environment v;
    struct pipe_goal goal;
    struct pipe_infer infer;
    struct pipe_exact *exact;
    double *value;        /* of the candidates: L of the best completion */
    struct valued *order; /* best first */
    size_t value_room, order_room;
    bool ready;
};

static void end_play(struct play *p)
{
    if (p->ready)
        pipe_infer_free(&p->infer);
    pipe_exact_free(p->exact);
    environment_free(&p->v);
    free(p->value);
    free(p->order);
}

/* The optimum's programme over what is at most KNOWN_SLACK times a plan that is easily had. */
static int solve(struct play *p, struct err *e)
{
    struct pipe_exact_options o = {.device_cut = p->v.device_cut, .stages = p->v.stages};
    struct pipe_plan plan;

    if (pipe_infer_by_share(&p->infer, &plan))
        o.known_ms = KNOWN_SLACK * pipe_length(&p->v.in, &plan);
    int rc = pipe_exact_new(&p->v.in, &o, &p->exact, e);
    while (!rc && pipe_exact_step(p->exact)) {
    }
    return rc;
}

static int begin_play(struct play *p, uint64_t seed, uint64_t number, struct rl_rng *rng,
                      struct err *e)
{
    memset(p, 0, sizeof *p);
    rl_rng_seed(rng, seed, STREAM_ENVIRONMENT + number);
    int rc = environment_new(&p->v, rng, e);
    if (rc)
        return rc;
    p->goal =
        (struct pipe_goal){.in = &p->v.in, .device_cut = p->v.device_cut, .stages = p->v.stages};
    rc = pipe_infer_new(&p->infer, &p->goal, p->v.stages, e);
    p->ready = !rc;
    return rc ? rc : solve(p, e);
}

static int compare_valued(const void *a, const void *b)
{
    const struct valued *p = a, *q = b;

    if (p->ms != q->ms)
        return p->ms < q->ms ? -1 : 1;
    return (p->candidate > q->candidate) - (p->candidate < q->candidate);
}

/* Values and their order, best first. False: out of memory, or nothing can be decided. */
static bool value_all(struct play *p, const struct pipe_infer_state *s)
{
    struct pipe_infer *f = &p->infer;

    if (!pipe_infer_look(f, s) || !mem_grow(&p->value, &p->value_room, 0, f->count) ||
        !mem_grow(&p->order, &p->order_room, 0, f->count))
        return false;
    for (uint32_t n = 0; n < f->count; n++) {
        struct pipe_infer_state next = *s;
        pipe_infer_play(f, &next, f->candidate[n]);
        p->value[n] =
            pipe_exact_behind(p->exact, &next.before, s->plan.device[s->cut - 1],
                              f->candidate[n].device, f->stages - s->cut, f->candidate[n].pivot);
        p->order[n] = (struct valued){p->value[n], n};
    }
    qsort(p->order, f->count, sizeof *p->order, compare_valued);
    return true;
}

static void keep_candidate(const struct play *p, uint32_t n, double best, struct state *out)
{
    double gap = p->value[n] / best - 1;

    out->gap[out->count] = (float)(gap < GAP_MOST ? gap : GAP_MOST);
    memcpy(out->row + (size_t)out->count * PIPE_INFER_FEATURES,
           p->infer.row + (size_t)n * PIPE_INFER_FEATURES, PIPE_INFER_FEATURES * sizeof *out->row);
    out->count++;
}

static void keep_state(const struct play *p, struct rl_rng *rng, struct state *out)
{
    uint32_t count = p->infer.count;
    double best = p->order[0].ms;

    out->count = 0;
    for (uint32_t n = 0; n < count && out->count < GROUP_BEST; n++)
        keep_candidate(p, p->order[n].candidate, best, out);
    while (out->count < GROUP_MOST && count > GROUP_BEST)
        keep_candidate(p, p->order[GROUP_BEST + rl_rng_below(rng, count - GROUP_BEST)].candidate,
                       best, out);
}

static uint32_t best_of(struct pipe_infer *f, const struct rl_scorer *net)
{
    uint32_t best = 0;

    rl_scorer_score(net, f->row, f->count, f->score);
    for (uint32_t n = 1; n < f->count; n++)
        best = f->score[n] > f->score[best] ? n : best;
    return best;
}

static uint32_t choose(struct play *p, const struct rl_scorer *net, struct rl_rng *rng)
{
    double u = rl_rng_unit(rng);
    uint32_t count = p->infer.count;

    if (u < 0.4)
        return best_of(&p->infer, net);
    if (u < 0.65)
        return p->order[0].candidate;
    if (u < 0.9)
        return p->order[rl_rng_below(rng, count < 10 ? count : 10)].candidate;
    return rl_rng_below(rng, count);
}

static int play_one(const struct rl_scorer *net, uint64_t seed, uint64_t number, struct path *out,
                    struct err *e)
{
    struct pipe_infer_state s;
    struct rl_rng rng;
    struct play p;
    int rc = begin_play(&p, seed, number, &rng, e);

    out->count = 0;
    if (!rc)
        pipe_infer_start(&p.infer, &s);
    while (!rc && s.cut < p.v.stages && value_all(&p, &s) && isfinite(p.order[0].ms)) {
        keep_state(&p, &rng, &out->state[out->count++]);
        pipe_infer_play(&p.infer, &s, p.infer.candidate[choose(&p, net, &rng)]);
    }
    end_play(&p);
    return rc;
}

/* ---- rounds ---- */

struct school {
    struct pipe_net net;
    struct rl_scorer_adam adam;
    struct rl_rng draw;
    struct state *replay;
    uint64_t taken; /* states ever */
    struct pretrain_progress progress;
};

static bool write_all(int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool read_all(int fd, void *data, size_t size)
{
    char *at = data;

    while (size) {
        ssize_t n = read(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* A child: every `step`-th environment of the round, in order, into its pipe. */
static void work(const struct school *c, const struct pretrain_options *o, uint64_t from,
                 uint64_t end, uint32_t step, int fd)
{
    struct path path;
    struct err e;
    bool ok = true;

    for (uint64_t n = from; n < end && ok; n += step) {
        ok = !(o->stop && atomic_load(o->stop)) &&
             !play_one(&c->net.scorer, o->seed, n, &path, &e) &&
             write_all(fd, &path.count, sizeof path.count) &&
             write_all(fd, path.state, path.count * sizeof *path.state);
    }
    _exit(ok ? 0 : 1);
}

static bool take_path(struct school *c, int fd)
{
    uint32_t count;

    if (!read_all(fd, &count, sizeof count) || count > STATES_MOST)
        return false;
    for (uint32_t n = 0; n < count; n++, c->taken++) {
        struct state *s = &c->replay[c->taken % REPLAY];
        if (!read_all(fd, s, sizeof *s) || !s->count || s->count > GROUP_MOST)
            return false;
    }
    return true;
}

/* Children play a round, forked here so that they have the weights of now; what they find is taken
 * in the order of the environments. */
static bool play_round(struct school *c, const struct pretrain_options *o, uint64_t from,
                       uint64_t end)
{
    int fd[PRETRAIN_PROCESSES_MOST];
    pid_t child[PRETRAIN_PROCESSES_MOST];
    uint32_t started = 0;
    bool ok = true;

    for (; started < o->processes && ok; started++) {
        int ends[2];
        if (pipe(ends)) {
            ok = false;
            break;
        }
        child[started] = fork();
        if (!child[started]) {
            close(ends[0]);
            work(c, o, from + started, end, o->processes, ends[1]);
        }
        close(ends[1]);
        fd[started] = ends[0];
        ok = child[started] > 0;
    }
    for (uint64_t n = from; n < end && ok; n++)
        ok = take_path(c, fd[(n - from) % o->processes]);
    for (uint32_t k = 0; k < started; k++) {
        close(fd[k]);
        if (child[k] > 0)
            waitpid(child[k], NULL, 0);
    }
    return ok;
}

static int update(struct school *c, double rate, double *loss)
{
    float rows[BATCH * GROUP_MOST * PIPE_INFER_FEATURES], gap[BATCH * GROUP_MOST];
    uint32_t first[BATCH + 1] = {0};
    uint64_t held = c->taken < REPLAY ? c->taken : REPLAY;

    for (uint32_t k = 0; k < BATCH; k++) {
        const struct state *s = &c->replay[rl_rng_below(&c->draw, (uint32_t)held)];
        memcpy(rows + (size_t)first[k] * PIPE_INFER_FEATURES, s->row,
               s->count * PIPE_INFER_FEATURES * sizeof *rows);
        memcpy(gap + first[k], s->gap, s->count * sizeof *gap);
        first[k + 1] = first[k] + s->count;
    }
    struct rl_groups g = {rows, gap, first, BATCH};
    return rl_scorer_learn(&c->net.scorer, &c->adam, &g, TEMPERATURE, rate, loss);
}

static int learn_round(struct school *c, const struct pretrain_options *o, uint64_t before)
{
    uint64_t updates = 3 * (c->taken - before) / BATCH;
    double done = (double)c->progress.environments / (double)o->environments, sum = 0, loss;
    double rate = RATE_FIRST + (RATE_LAST - RATE_FIRST) * done;

    for (uint64_t n = 0; n < updates; n++) {
        int code = update(c, rate, &loss);
        if (code)
            return code;
        sum += loss;
    }
    c->progress.updates += updates;
    c->progress.states = c->taken;
    c->progress.loss = updates ? sum / (double)updates : 0;
    return RL_OK;
}

static int open_school(struct school *c, const struct pretrain_options *o)
{
    struct rl_rng init;

    rl_rng_seed(&init, o->seed, STREAM_INIT);
    rl_rng_seed(&c->draw, o->seed, STREAM_DRAW);
    c->net = (struct pipe_net){
        .seed = o->seed, .environments = o->environments, .temperature = TEMPERATURE};
    c->replay = calloc(REPLAY, sizeof *c->replay);
    if (!c->replay)
        return RL_E_MEMORY;
    int code = rl_scorer_new(&c->net.scorer, PIPE_INFER_FEATURES, PIPE_INFER_WIDTH, &init);
    return code ? code : rl_scorer_adam_new(&c->adam, &c->net.scorer);
}

int pretrain_pipelines(const struct pretrain_options *o,
                       void (*tell)(void *self, const struct pretrain_progress *p), void *self,
                       struct pipe_net *out, struct err *e)
{
    struct school c = {0};
    int code = open_school(&c, o), rc = 0;

    while (!code && !rc && c.progress.environments < o->environments) {
        uint64_t from = c.progress.environments, before = c.taken;
        uint64_t end = from + ROUND < o->environments ? from + ROUND : o->environments;
        if ((o->stop && atomic_load(o->stop)) || !play_round(&c, o, from, end)) {
            rc = err_set(e, ERR_INFEASIBLE, "stopped after %llu environments",
                         (unsigned long long)from);
            break;
        }
        c.progress.environments = end;
        code = learn_round(&c, o, before);
        if (!code && tell)
            tell(self, &c.progress);
    }
    if (code)
        rc = err_set(e, code == RL_E_MEMORY ? ERR_MEMORY : ERR_INPUT, "%s", rl_error_text(code));
    rl_scorer_adam_free(&c.adam);
    free(c.replay);
    if (rc)
        pipe_net_free(&c.net);
    c.net.loss = c.progress.loss;
    *out = c.net;
    return rc;
}

/* ---- held out ---- */

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double mean_of(const double *x, uint32_t count)
{
    double sum = 0;

    for (uint32_t n = 0; n < count; n++)
        sum += x[n] / count;
    return sum;
}

/* L of one pass, and of the best of the first decisions played out; INFINITY: none. */
static void lengths(struct play *p, const struct rl_scorer *net, double *pass, double *best)
{
    struct pipe_candidate first[PIPE_INFER_BEAMS];
    uint32_t count = pipe_infer_first(&p->infer, net, PIPE_INFER_BEAMS, first);

    *pass = *best = INFINITY;
    for (uint32_t n = 0; n < count; n++) {
        struct pipe_infer_state s;
        pipe_infer_start(&p->infer, &s);
        pipe_infer_play(&p->infer, &s, first[n]);
        if (!pipe_infer_finish(&p->infer, net, &s))
            continue;
        double ms = pipe_length(&p->v.in, &s.plan);
        *pass = n ? *pass : ms;
        *best = fmin(*best, ms);
    }
}

int pretrain_measure(const struct rl_scorer *net, uint64_t seed, uint32_t count,
                     struct pretrain_gaps *out, struct err *e)
{
    double *pass = mem_try(2 * (size_t)count, sizeof *pass), *best = pass + count;
    int rc = pass ? 0 : err_no_memory(e, "for the measurement");

    *out = (struct pretrain_gaps){0};
    for (uint32_t n = 0; n < count && !rc; n++) {
        struct pipe_exact_result r;
        struct rl_rng rng;
        struct play p;
        double a, b;
        rc = begin_play(&p, seed, HELD_OUT + n, &rng, e);
        if (!rc) {
            pipe_exact_result(p.exact, &r);
            lengths(&p, net, &a, &b);
            if (r.found && r.certified && isfinite(a)) {
                pass[out->count] = a / r.length_ms - 1;
                best[out->count++] = b / r.length_ms - 1;
            }
        }
        end_play(&p);
    }
    if (!rc && out->count) {
        qsort(pass, out->count, sizeof *pass, compare_double);
        qsort(best, out->count, sizeof *best, compare_double);
        out->pass_mean = mean_of(pass, out->count);
        out->beams_mean = mean_of(best, out->count);
        out->pass_95 = pass[out->count * 95 / 100];
        out->beams_95 = best[out->count * 95 / 100];
    }
    free(pass);
    return rc;
}
