#include "engine/pipeline/pretrain.h"

#include "engine/pipeline/environment.h"
#include "engine/pipeline/lesson.h"
#include "engine/pipeline/pipe_infer.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/ranks/ranks.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "rl/error.h"
#include "rl/rng.h"
#include "rl/scorer.h"
#include "rl/serialize.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KIND_SCHOOL = 17,
    ROUND = 128,                       /* problems played with the same weights */
    SAVE_EVERY = 1024,                 /* problems */
    GROUP_MOST = RL_SCORER_GROUP_MOST, /* candidates of a state that are learned from: */
    GROUP_BEST = 16,                   /*   so many best, the rest drawn */
    STATES_MOST = 5,                   /* of one problem: stages - 1 */
    REPLAY = 4096,                     /* states kept */
    BATCH = 16,                        /* states of an update */
    UPDATES = 6,                       /* for so many new states */
    STREAM_INIT = 1,
    STREAM_DRAW = 2,
};
#define GAP_MOST 0.5
#define TEMPERATURE 0.01
#define TOLERANCE 2e-4 /* of exact values: a fiftieth of the temperature */
#define RATE_FIRST 2e-3
#define RATE_AGAIN 5e-4 /* of a network that has learned before */
#define RATE_LAST 6e-5

struct state {
    uint32_t count;
    float gap[GROUP_MOST], row[GROUP_MOST * PIPE_INFER_FEATURES];
};
struct path {
    uint32_t count;
    double gap; /* of the network's own choices, summed */
    struct state state[STATES_MOST];
};

/* ---- one problem ---- */

static double gap_of(const struct lesson *l, double ms)
{
    return fmin(ms / l->order[0].ms - 1, GAP_MOST);
}

static void keep_candidate(const struct lesson *l, uint32_t place, struct state *out)
{
    size_t row = (size_t)l->order[place].candidate * PIPE_INFER_FEATURES;

    out->gap[out->count] = (float)gap_of(l, l->order[place].ms);
    memcpy(out->row + (size_t)out->count * PIPE_INFER_FEATURES, l->infer.row + row,
           PIPE_INFER_FEATURES * sizeof *out->row);
    out->count++;
}

/* The best, and of the rest as many as there is room for, drawn. */
static void keep_state(const struct lesson *l, struct rl_rng *rng, struct state *out)
{
    uint32_t count = l->infer.count;

    out->count = 0;
    for (uint32_t n = 0; n < count && out->count < GROUP_BEST; n++)
        keep_candidate(l, n, out);
    while (out->count < GROUP_MOST && count > GROUP_BEST)
        keep_candidate(l, GROUP_BEST + rl_rng_below(rng, count - GROUP_BEST), out);
}

/* The place in order of value of what the network would play. */
static uint32_t own_choice(const struct lesson *l, const struct rl_scorer *net)
{
    const struct pipe_infer *f = &l->infer;
    uint32_t best = 0, place = 0;

    rl_scorer_score(net, f->row, f->count, f->score);
    for (uint32_t n = 1; n < f->count; n++)
        best = f->score[n] > f->score[best] ? n : best;
    while (l->order[place].candidate != best)
        place++;
    return place;
}

static uint32_t choose_number(uint32_t own, uint32_t count, struct rl_rng *rng)
{
    double u = rl_rng_unit(rng);

    if (u < 0.4)
        return own;
    if (u < 0.65)
        return 0;
    if (u < 0.9)
        return rl_rng_below(rng, count < 10 ? count : 10);
    return rl_rng_below(rng, count);
}

/* A problem, solved: all of its work that asks for no weights. */
struct task {
    uint64_t number;
    struct rl_rng rng;
    struct lesson lesson;
};

static struct task *task_new(const struct pretrain_options *o, uint64_t number)
{
    struct lesson_choice choice = {&environment_ranges[o->range], o->families, o->seed, number,
                                   TOLERANCE};
    struct task *t = mem_try(1, sizeof *t);
    struct err e;

    if (!t)
        return NULL;
    t->number = number;
    if (!lesson_new(&t->lesson, &choice, &t->rng, &e))
        return t;
    free(t);
    return NULL;
}

static void task_free(struct task *t)
{
    if (t)
        lesson_free(&t->lesson);
    free(t);
}

static void play_task(struct task *t, const struct rl_scorer *net, struct path *out)
{
    struct lesson *l = &t->lesson;
    struct pipe_infer_state s;

    out->count = 0;
    out->gap = 0;
    pipe_infer_start(&l->infer, &s);
    while (s.cut < l->v.stages && lesson_value(l, &s) && isfinite(l->order[0].ms)) {
        uint32_t own = own_choice(l, net);
        out->gap += gap_of(l, l->order[own].ms);
        keep_state(l, &t->rng, &out->state[out->count++]);
        uint32_t place = choose_number(own, l->infer.count, &t->rng);
        pipe_infer_play(&l->infer, &s, l->infer.candidate[l->order[place].candidate]);
    }
}

/* ---- rounds ---- */

struct school {
    struct pipe_net net;
    struct rl_scorer_adam adam;
    struct rl_rng draw;
    struct state *replay;
    uint64_t taken;      /* states ever */
    struct state *fresh; /* [ROUND x STATES_MOST] of this round */
    uint32_t fresh_count;
    double gap; /* of its own decisions in this round, summed */
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
static void work_on_lessons(const struct school *c, const struct pretrain_options *o, uint64_t from,
                            uint64_t end, uint32_t step, int fd)
{
    struct path path;
    bool ok = true;

    for (uint64_t n = from; n < end && ok; n += step) {
        struct task *t = o->stop && atomic_load(o->stop) ? NULL : task_new(o, n);
        if (t)
            play_task(t, &c->net.scorer, &path);
        ok = t && write_all(fd, &path.count, sizeof path.count) &&
             write_all(fd, &path.gap, sizeof path.gap) &&
             write_all(fd, path.state, path.count * sizeof *path.state);
        task_free(t);
    }
    _exit(ok ? 0 : 1);
}

static bool read_path(struct school *c, int fd)
{
    uint32_t count;
    double gap;

    if (!read_all(fd, &count, sizeof count) || count > STATES_MOST ||
        !read_all(fd, &gap, sizeof gap))
        return false;
    c->gap += gap;
    for (uint32_t n = 0; n < count; n++, c->fresh_count++) {
        struct state *s = &c->fresh[c->fresh_count];
        if (!read_all(fd, s, sizeof *s) || !s->count || s->count > GROUP_MOST)
            return false;
    }
    return true;
}

/* A round that is whole. One that was stopped leaves no trace, so that it can be played again. */
static void keep_round(struct school *c)
{
    for (uint32_t n = 0; n < c->fresh_count; n++, c->taken++)
        c->replay[c->taken % REPLAY] = c->fresh[n];
}

/* Children play a round, forked here so that they have the weights of now; what they find is taken
 * in the order of the environments. */
static bool play_forked(struct school *c, const struct pretrain_options *o, uint64_t from,
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
            work_on_lessons(c, o, from + started, end, o->processes, ends[1]);
        }
        close(ends[1]);
        fd[started] = ends[0];
        ok = child[started] > 0;
    }
    for (uint64_t n = from; n < end && ok; n++)
        ok = read_path(c, fd[(n - from) % o->processes]);
    for (uint32_t k = 0; k < started; k++) {
        close(fd[k]);
        if (child[k] > 0)
            waitpid(child[k], NULL, 0);
    }
    return ok;
}

/* ---- a round over ranks ---- */

struct duty {
    const struct school *school;
    const struct pretrain_options *options;
    uint64_t origin;                      /* number of the first problem of this run */
    uint64_t from;                        /* and of this round */
    struct task *ahead[RANKS_AHEAD_MOST]; /* prepared, ascending */
    uint32_t ahead_count;
};

static bool prepare(void *self, uint64_t number)
{
    struct duty *d = self;

    number += d->origin;
    struct task *t = number < d->options->environments ? task_new(d->options, number) : NULL;
    if (t)
        d->ahead[d->ahead_count++] = t;
    return t != NULL;
}

static struct task *take_task(struct duty *d, uint64_t number)
{
    struct task *first = d->ahead_count ? d->ahead[0] : NULL;

    if (!first || first->number != number)
        return task_new(d->options, number);
    memmove(d->ahead, d->ahead + 1, --d->ahead_count * sizeof *d->ahead);
    return first;
}

static bool play_item(void *self, uint32_t item, struct ranks_result *out)
{
    struct duty *d = self;
    struct task *t = take_task(d, d->from + item);
    struct path *path = out->data = malloc(sizeof *path);
    bool ok = t && path;

    if (ok) {
        play_task(t, &d->school->net.scorer, path);
        out->size = offsetof(struct path, state) + path->count * sizeof *path->state;
    }
    task_free(t);
    return ok;
}

static bool take_path(struct school *c, const struct ranks_result *r)
{
    const struct path *path = r->data;

    if (r->size < offsetof(struct path, state) || path->count > STATES_MOST ||
        r->size != offsetof(struct path, state) + path->count * sizeof *path->state)
        return false;
    c->gap += path->gap;
    memcpy(c->fresh + c->fresh_count, path->state, path->count * sizeof *path->state);
    c->fresh_count += path->count;
    return true;
}

/* Rank 0 says what is to be played, and with which weights. An empty round: no more. */
static bool share_round(struct school *c, struct ranks *r, uint64_t *from, uint64_t *end)
{
    uint64_t round[] = {*from, *end};
    const struct rl_scorer *s = &c->net.scorer;

    if (!ranks_share(r, round, sizeof round) ||
        !ranks_share(r, s->weight, (s->parameters + 2 * s->features) * sizeof *s->weight))
        return false;
    *from = round[0];
    *end = round[1];
    return *end - *from <= ROUND;
}

static bool play_over_ranks(struct school *c, const struct pretrain_options *o, uint64_t from,
                            uint64_t end)
{
    struct ranks_result result[ROUND] = {0};
    struct duty d = {.school = c, .options = o, .from = from};
    bool ok = share_round(c, o->ranks, &from, &end) &&
              ranks_do(o->ranks, (uint32_t)(end - from), play_item, &d, result);

    for (uint64_t n = 0; n < end - from && ok; n++)
        ok = take_path(c, &result[n]);
    ranks_release(result, ROUND);
    return ok;
}

/* What a rank other than 0 does: rounds, until there are no more; while rank 0 learns it solves
 * problems of the next one. */
static bool assist_first_rank(struct school *c, const struct pretrain_options *o)
{
    struct ranks_result result[ROUND] = {0};
    struct duty d = {.school = c, .options = o};
    uint64_t end = 0;
    bool ok = share_round(c, o->ranks, &d.from, &end);

    d.origin = d.from;
    o->ranks->prepare = prepare;
    o->ranks->prepare_self = &d;
    while (ok && end > d.from) {
        ok = ranks_do(o->ranks, (uint32_t)(end - d.from), play_item, &d, result);
        ranks_release(result, ROUND);
        ok = ok && share_round(c, o->ranks, &d.from, &end);
    }
    o->ranks->prepare = NULL;
    for (uint32_t n = 0; n < d.ahead_count; n++)
        task_free(d.ahead[n]);
    return ok;
}

static bool play_round(struct school *c, const struct pretrain_options *o, uint64_t from,
                       uint64_t end)
{
    c->fresh_count = 0;
    c->gap = 0;
    bool ok = o->processes > 1 ? play_forked(c, o, from, end) : play_over_ranks(c, o, from, end);
    if (ok)
        keep_round(c);
    return ok;
}

static int update_school(struct school *c, double rate, double *loss)
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

/* How the features spread is taken from the first round, and stands. */
static int standardise_inputs(struct school *c)
{
    uint64_t held = c->taken < REPLAY ? c->taken : REPLAY;
    float *rows = mem_try(held * GROUP_MOST, PIPE_INFER_FEATURES * sizeof *rows);
    uint32_t count = 0;

    if (!rows)
        return RL_E_MEMORY;
    for (uint64_t n = 0; n < held; n++) {
        const struct state *s = &c->replay[n];
        memcpy(rows + (size_t)count * PIPE_INFER_FEATURES, s->row,
               s->count * PIPE_INFER_FEATURES * sizeof *rows);
        count += s->count;
    }
    rl_scorer_standardise(&c->net.scorer, rows, count);
    free(rows);
    return RL_OK;
}

double pretrain_mean_gap(double sum, uint64_t count)
{
    return count ? sum / (double)count : NAN;
}

static int learn_round(struct school *c, const struct pretrain_options *o, uint64_t before)
{
    uint64_t updates = UPDATES * (c->taken - before) / BATCH;
    double done = (double)c->progress.environments / (double)o->environments, sum = 0, loss;
    double first = o->from ? RATE_AGAIN : RATE_FIRST;
    double rate = first + (RATE_LAST - first) * done;
    int code = before || o->from ? RL_OK : standardise_inputs(c);

    if (code)
        return code;
    for (uint64_t n = 0; n < updates; n++) {
        code = update_school(c, rate, &loss);
        if (code)
            return code;
        sum += loss;
    }
    c->progress.updates += updates;
    c->progress.states = c->taken;
    c->progress.loss = c->net.loss = updates ? sum / (double)updates : 0;
    c->progress.gap = pretrain_mean_gap(c->gap, c->taken - before);
    return RL_OK;
}

/* A point of the curve: of every so many rounds, so that all fit. */
static void note_curve(struct school *c, const struct pretrain_options *o)
{
    uint64_t rounds = (o->environments + ROUND - 1) / ROUND;
    uint64_t every = (rounds + PIPE_NET_CURVE_MOST - 1) / PIPE_NET_CURVE_MOST;
    uint64_t round = (c->progress.environments + ROUND - 1) / ROUND;

    if (c->net.points == PIPE_NET_CURVE_MOST) /* of a foreign state */
        return;
    if (round % every == 0 || c->progress.environments == o->environments)
        c->net.curve[c->net.points++] =
            (struct pipe_net_point){c->progress.environments, c->progress.loss, c->progress.gap};
}

/* ---- the state of a stopped training ---- */

/* Options are in it: a state of another recipe is none of this training's. */
static void serialize_school(struct rl_serializer *w, struct school *c,
                             const struct pretrain_options *o)
{
    uint64_t wanted[] = {o->seed, o->environments, o->range, o->families, o->from != NULL}, is[5];
    uint64_t held = c->taken < REPLAY ? c->taken : REPLAY;
    uint32_t parameters = c->net.scorer.parameters;

    memcpy(is, wanted, sizeof is);
    RL_ONE(w, is);
    w->failed |= memcmp(is, wanted, sizeof is) != 0;
    pipe_net_serialize(w, &c->net);
    w->failed |= c->net.scorer.parameters != parameters;
    if (w->failed)
        return;
    rl_scorer_adam_serialize(w, &c->adam, parameters);
    RL_ONE(w, c->draw);
    RL_ONE(w, c->taken);
    RL_ONE(w, c->progress.environments);
    RL_ONE(w, c->progress.updates);
    held = c->taken < REPLAY ? c->taken : REPLAY;
    for (uint64_t n = 0; n < held && !w->failed; n++) {
        struct state *s = &c->replay[n];
        RL_ONE(w, s->count);
        w->failed |= !s->count || s->count > GROUP_MOST;
        if (w->failed)
            return;
        RL_MANY(w, s->gap, s->count);
        RL_MANY(w, s->row, s->count * PIPE_INFER_FEATURES);
    }
    w->failed |= c->progress.environments > o->environments;
}

static int save_school(struct school *c, const struct pretrain_options *o, struct err *e)
{
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;
    struct rl_bytes bytes;

    if (!o->state || !c->progress.environments)
        return 0;
    serialize_school(&measure, c, o);
    if (rl_bytes_open(&bytes, measure.at, &w))
        return err_no_memory(e, "for the training's state");
    serialize_school(&w, c, o);
    rl_bytes_seal(&bytes, KIND_SCHOOL);
    int rc = hlo_file_write(o->state, bytes.data, bytes.size, FILE_REPLACE, e);
    rl_bytes_release(&bytes);
    return rc;
}

/* True: the school stands where the state was left. */
static bool resume_school(struct school *c, const struct pretrain_options *o)
{
    struct rl_serializer w;
    struct rl_bytes bytes = {0};
    bool ok = o->state && !rl_bytes_read(&bytes, o->state) &&
              !rl_bytes_check(bytes.data, bytes.size, KIND_SCHOOL, &w);

    if (ok) {
        serialize_school(&w, c, o);
        ok = !w.failed && w.at == w.size;
    }
    rl_bytes_release(&bytes);
    return ok;
}

/* ---- all of it ---- */

static void close_school(struct school *c)
{
    rl_scorer_adam_free(&c->adam);
    free(c->replay);
    free(c->fresh);
    pipe_net_free(&c->net);
}

static int open_school(struct school *c, const struct pretrain_options *o)
{
    struct rl_rng init;

    memset(c, 0, sizeof *c);
    rl_rng_seed(&init, o->seed, STREAM_INIT);
    rl_rng_seed(&c->draw, o->seed, STREAM_DRAW);
    c->replay = calloc(REPLAY, sizeof *c->replay);
    c->fresh = calloc(ROUND * STATES_MOST, sizeof *c->fresh);
    if (!c->replay || !c->fresh)
        return RL_E_MEMORY;
    int code = rl_scorer_new(&c->net.scorer, PIPE_INFER_FEATURES, PIPE_INFER_WIDTH, &init);
    if (!code && o->from)
        code = rl_scorer_copy(&c->net.scorer, &o->from->scorer);
    if (!code)
        code = rl_scorer_adam_new(&c->adam, &c->net.scorer);
    c->net.seed = o->seed;
    c->net.environments = o->environments;
    c->net.temperature = TEMPERATURE;
    c->net.range = o->range;
    c->net.families = o->families;
    c->net.tuned = o->from != NULL;
    return code;
}

/* A new school, or the one that was left. What a damaged state has touched is made anew. */
static int enter_school(struct school *c, const struct pretrain_options *o)
{
    int code = open_school(c, o);

    if (code || !o->state)
        return code;
    if (resume_school(c, o)) {
        c->progress.resumed = true;
        return RL_OK;
    }
    close_school(c);
    return open_school(c, o);
}

static int stop_school(struct school *c, const struct pretrain_options *o, struct err *e)
{
    int rc = save_school(c, o, e);
    bool kept = !rc && o->state && c->progress.environments;

    return rc ? rc
              : err_set(e, ERR_INFEASIBLE, "stopped after %llu problems%s%.200s",
                        (unsigned long long)c->progress.environments,
                        kept ? "; the same command goes on from " : "", kept ? o->state : "");
}

static int next_round(struct school *c, const struct pretrain_options *o, struct err *e)
{
    uint64_t from = c->progress.environments, before = c->taken;
    uint64_t end = from + ROUND < o->environments ? from + ROUND : o->environments;

    if ((o->stop && atomic_load(o->stop)) || !play_round(c, o, from, end))
        return stop_school(c, o, e);
    c->progress.environments = end;
    int code = learn_round(c, o, before);
    if (code)
        return err_set(e, code == RL_E_MEMORY ? ERR_MEMORY : ERR_INPUT, "%s", rl_error_text(code));
    note_curve(c, o);
    return 0;
}

/* The first round, which is told then, and every so many: mpirun may leave the first rank no time
 * to save when it ends it with another. */
static bool is_saved(uint64_t environments)
{
    return environments == ROUND || environments % SAVE_EVERY == 0;
}

static int train_scorer(struct school *c, const struct pretrain_options *o,
                        void (*tell)(void *self, const struct pretrain_progress *p), void *self,
                        struct err *e)
{
    uint64_t from = 0, end = 0;
    int rc = 0;

    while (!rc && c->progress.environments < o->environments) {
        rc = next_round(c, o, e);
        if (!rc && is_saved(c->progress.environments))
            rc = save_school(c, o, e);
        if (!rc && tell)
            tell(self, &c->progress);
    }
    if (!rc && !share_round(c, o->ranks, &from, &end))
        rc = stop_school(c, o, e);
    return rc;
}

int pretrain_pipelines(const struct pretrain_options *o,
                       void (*tell)(void *self, const struct pretrain_progress *p), void *self,
                       struct pipe_net *out, struct err *e)
{
    struct school c;
    bool first = !o->ranks->self;
    int code = first ? enter_school(&c, o) : open_school(&c, o), rc = 0;

    *out = (struct pipe_net){0};
    if (code) {
        rc = err_set(e, ERR_MEMORY, "%s", rl_error_text(code));
        goto out;
    }
    if (!first && !assist_first_rank(&c, o))
        rc = err_set(e, ERR_INFEASIBLE, "stopped");
    if (first)
        rc = train_scorer(&c, o, tell, self, e);
    if (rc || !first)
        goto out;
    *out = c.net;
    c.net = (struct pipe_net){0};
out:
    close_school(&c);
    return rc;
}
