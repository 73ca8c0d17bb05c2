#include "tui/commands/search_seeds.h"

#include "engine/decide/labels.h"
#include "engine/live/outcome.h"
#include "engine/live/search_state.h"
#include "engine/live/snapshot.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/ranks/ranks.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/search_curves.h"
#include "tui/commands/search_run.h"
#include "tui/options/search_args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mean and spread over the seeds, in one place for print and JSON. */
struct figure {
    double mean, spread, least, most;
};

static struct figure figure_of(const struct search_args *a, const struct seed_end *ends, int k)
{
    struct figure f = {.least = INFINITY, .most = -INFINITY};
    uint32_t count = 0;
    double squares = 0;

    for (uint32_t n = 0; n < a->seeds; n++) {
        if (!ends[n].has_plan)
            continue;
        double x = ends[n].figure[k];
        count++;
        f.mean += x;
        squares += x * x;
        f.least = fmin(f.least, x);
        f.most = fmax(f.most, x);
    }
    if (count) {
        f.mean /= count;
        f.spread = sqrt(fmax(0, squares / count - f.mean * f.mean));
    }
    return f;
}

static double get_step(const struct search_state *c)
{
    return c->best->cost.step_ms;
}

static double get_score(const struct search_state *c)
{
    return c->best->score;
}

static double get_seconds(const struct search_state *c)
{
    return c->seconds;
}

static double get_to_best(const struct search_state *c)
{
    return c->best->seconds;
}

static double get_episodes(const struct search_state *c)
{
    return (double)search_episodes(c->search);
}

static double get_conflicts(const struct search_state *c)
{
    return (double)search_conflicts(c->search) / fmax(1, get_episodes(c));
}

static double get_stage_1(const struct search_state *c)
{
    return c->stage[0].improved ? c->stage[0].score : NAN;
}

static const struct {
    const char *name, *key;
    double (*get)(const struct search_state *c);
} figures[SEED_FIGURES] = {
    {"step time, ms", "step_time_ms", get_step},         {"score", "score", get_score},
    {"score, stage 1", "score_stage_1", get_stage_1},    {"seconds", "seconds", get_seconds},
    {"seconds to best", "seconds_to_best", get_to_best}, {"episodes", "episodes", get_episodes},
    {"conflict rate", "conflict_rate", get_conflicts},
};

static bool is_at_optimum(const struct search_state *c)
{
    return c->exact && c->exact->proven && c->exact->fits &&
           c->best->score >= c->exact->score - 1e-9 * (1 + fabs(c->exact->score));
}

static uint32_t optima(const struct search_args *a, const struct seed_end *ends)
{
    uint32_t count = 0;

    for (uint32_t n = 0; n < a->seeds; n++)
        count += ends[n].has_plan && ends[n].at_optimum;
    return count;
}

void seeds_print(const struct search_args *a, const struct seed_end *ends)
{
    printf("%u seeds from %llu: %u at the proven optimum of strict plans deciding %s\n\n  %-16s "
           "%14s %14s %14s %14s\n",
           a->seeds, (unsigned long long)a->search.seed, optima(a, ends),
           game_decides[a->search.game.kind], "", "mean", "spread", "least", "most");
    for (int k = 0; k < SEED_FIGURES; k++) {
        struct figure f = figure_of(a, ends, k);
        printf("  %-16s %14.6g %14.6g %14.6g %14.6g\n", figures[k].name, f.mean, f.spread, f.least,
               f.most);
    }
    printf("\n");
}

void seeds_add_json(const struct search_args *a, const struct seed_end *ends, cJSON *out)
{
    cJSON_AddNumberToObject(out, "seeds", a->seeds);
    cJSON_AddNumberToObject(out, "at_optimum", optima(a, ends));
    for (int k = 0; k < SEED_FIGURES; k++) {
        struct figure f = figure_of(a, ends, k);
        cJSON *o = cJSON_AddObjectToObject(out, figures[k].key);
        cJSON_AddNumberToObject(o, "mean", f.mean);
        cJSON_AddNumberToObject(o, "spread", f.spread);
        cJSON_AddNumberToObject(o, "least", f.least);
        cJSON_AddNumberToObject(o, "most", f.most);
    }
}

/* ---- what a run came to ---- */

static char *curves_of(const struct search_state *c)
{
    struct str lines = {0};

    search_curves_write(c, &lines);
    if (lines.failed)
        str_release(&lines);
    else if (!lines.text)
        return mem_try(1, 1); /* a search without a point has no lines */
    return lines.text;
}

static bool add_texts(const struct search_state *c, const struct search_args *a,
                      struct seed_end *out)
{
    if (a->json && out->has_plan) {
        cJSON *report = outcome_json(c, &out->plan);
        out->json = report ? cJSON_PrintUnformatted(report) : NULL;
        cJSON_Delete(report);
    }
    if (a->curves)
        out->curves = curves_of(c);
    return !(a->json && out->has_plan && !out->json) && !(a->curves && !out->curves);
}

int seed_end_of(const struct search_run *run, const struct search_args *a, struct seed_end *out,
                struct err *e)
{
    const struct search_state *c = &run->state;

    *out = (struct seed_end){.failed = run->rc != 0, .error = run->error};
    if (run->rc)
        return 0;
    err_set(&out->error, ERR_INFEASIBLE, "the search did not begin");
    if (!run->began)
        return 0;
    out->has_plan = !outcome_plan(c, &out->plan, &out->error);
    if (out->has_plan) {
        out->at_optimum = is_at_optimum(c);
        out->score = c->best->score;
        for (int k = 0; k < SEED_FIGURES; k++)
            out->figure[k] = figures[k].get(c);
    }
    return add_texts(c, a, out) ? 0 : err_no_memory(e, "for the reports");
}

void seed_ends_release(struct seed_end *ends, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        if (ends[n].has_plan)
            plan_release(&ends[n].plan);
        free(ends[n].json);
        free(ends[n].curves);
    }
    memset(ends, 0, count * sizeof *ends);
}

/* ---- from rank to rank: all ranks are the same program on the same problem ---- */

struct packed {
    struct seed_end end; /* its pointers say nothing there */
    size_t json, curves; /* bytes with the final NUL; 0: none */
};

static size_t labels_size(const struct problem *p)
{
    return p->classes.count * (2 * sizeof(label) + sizeof(uint8_t));
}

static bool pack(const struct problem *p, const struct seed_end *x, struct ranks_result *out)
{
    struct packed head = {*x, x->json ? strlen(x->json) + 1 : 0,
                          x->curves ? strlen(x->curves) + 1 : 0};
    size_t count = x->has_plan ? p->classes.count : 0;
    struct str block = {0};

    str_add_bytes(&block, (const char *)&head, sizeof head);
    if (count) {
        str_add_bytes(&block, (const char *)x->plan.on, count * sizeof *x->plan.on);
        str_add_bytes(&block, (const char *)x->plan.decided, count * sizeof *x->plan.decided);
        str_add_bytes(&block, (const char *)x->plan.by, count * sizeof *x->plan.by);
    }
    str_add_bytes(&block, x->json ? x->json : "", head.json);
    str_add_bytes(&block, x->curves ? x->curves : "", head.curves);
    if (block.failed) {
        str_release(&block);
        return false;
    }
    *out = (struct ranks_result){block.text, block.size};
    return true;
}

static char *copy_text(const char *text, size_t size)
{
    char *copy = size ? malloc(size) : NULL;

    return copy ? memcpy(copy, text, size) : NULL;
}

static int unpack(const struct problem *p, const struct ranks_result *r, struct seed_end *out,
                  struct err *e)
{
    const char *at = (const char *)r->data + sizeof(struct packed);
    struct packed head;
    size_t count = p->classes.count;

    if (r->size < sizeof head)
        return err_set(e, ERR_INPUT, "a rank sent a result that is too short");
    memcpy(&head, r->data, sizeof head);
    struct plan sent = head.end.plan;
    size_t labels = head.end.has_plan ? labels_size(p) : 0;
    if (r->size != sizeof head + labels + head.json + head.curves)
        return err_set(e, ERR_INPUT,
                       "a rank sent a result of another size: is its model the same file?");
    *out = head.end;
    out->json = out->curves = NULL;
    out->has_plan = false; /* its pointers are the other rank's */
    memset(&out->plan, 0, sizeof out->plan);
    if (head.end.has_plan) {
        sent.problem = p;
        sent.on = (label *)at;
        sent.decided = sent.on + count;
        sent.by = (uint8_t *)(sent.decided + count);
        int rc = plan_copy(&sent, &out->plan, e);
        if (rc)
            return rc;
        out->has_plan = true;
    }
    out->json = copy_text(at + labels, head.json);
    out->curves = copy_text(at + labels + head.json, head.curves);
    if ((head.json && !out->json) || (head.curves && !out->curves))
        return err_no_memory(e, "for the reports");
    return 0;
}

static bool seed_work(void *self, uint32_t item, struct ranks_result *out)
{
    struct search_pool *pool = self;
    struct seed_end x;
    struct err e;

    search_pool_run_one(pool, item);
    bool ok = !seed_end_of(&pool->runs[item], pool->args, &x, &e) && pack(pool->problem, &x, out);
    seed_ends_release(&x, 1);
    return ok;
}

bool seeds_over_ranks(struct search_pool *pool, struct ranks *ranks, struct seed_end *ends,
                      struct err *e)
{
    uint32_t count = pool->args->seeds;
    struct ranks_result *result = mem_alloc(count * sizeof *result);
    bool ok = ranks_do(ranks, count, seed_work, pool, result);

    if (!ok)
        err_set(e, ERR_INPUT, "not every run was done");
    for (uint32_t n = 0; n < count && !ranks->self; n++) {
        if (!result[n].data)
            err_set(&ends[n].error, ERR_INFEASIBLE, "the search was not done");
        else if (unpack(pool->problem, &result[n], &ends[n], e))
            ok = false;
    }
    ranks_release(result, count);
    free(result);
    return ok;
}
