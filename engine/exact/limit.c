#include "engine/exact/limit.h"

#include "engine/cost/step_tables.h"
#include "engine/decide/strict.h"
#include "engine/exact/eliminate.h"
#include "engine/exact/limit_model.h"
#include "engine/exact/limit_search.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <string.h>

static bool is_settled(const struct limit_search *s)
{
    return s->bound >= s->best_ms * (1 - LIMIT_NEAR) || s->least_bound > s->limit ||
           limit_is_beaten(s);
}

static int search_limited(struct limit_search *s, const struct limit_options *o)
{
    struct limit_point at = {0};
    int rc = o->least ? limit_evaluate(s, 1, s->price, NULL, &at) : limit_price_memory(s);

    if (rc)
        return rc;
    if (!isfinite(at.value))
        return err_set(s->e, ERR_INFEASIBLE, "no plan satisfies the fixed decisions");
    if (!isfinite(s->best_ms) && !limit_is_beaten(s))
        rc = limit_weigh_memory(s);
    if (rc || is_settled(s) || o->least)
        return rc;
    rc = limit_price_excess(s);
    if (rc || is_settled(s))
        return rc;
    rc = limit_improve(s);
    return rc || stop_asked(s->stop) ? rc : limit_branch_and_bound(s);
}

static void answer_limited(struct limit_search *s, struct limit_result *out)
{
    struct solver *v = &s->l.s;
    bool fits = isfinite(s->best_ms), is_bound = isfinite(s->bound) && s->bound > 0;
    const uint32_t *choice = fits ? s->best : s->least;

    limit_look(&s->l, choice);
    *out = (struct limit_result){.fits = fits,
                                 .value = limit_time(&s->l, choice),
                                 .bound = fits       ? fmin(s->bound, s->best_ms)
                                          : is_bound ? s->bound
                                                     : 0,
                                 .peak = limit_peak(&s->l, NULL),
                                 .least_bound = s->least_bound,
                                 .work = s->work,
                                 .positions = s->l.moment_count};
    out->proven = fits ? s->bound >= s->best_ms * (1 - LIMIT_NEAR)
                       : s->least_bound > s->limit || !isfinite(s->bound);
    if (out->proven)
        out->bound = fits ? out->value : 0;
    for (uint32_t n = 0; n < v->node_count; n++)
        v->fixed[v->nodes[n].class] = v->nodes[n].labels[choice[n]];
    out->on = v->fixed;
    v->fixed = NULL;
}

int exact_limited(const struct step_tables *t, const struct memory_model *m,
                  const struct strict *fixed, const struct limit_options *o,
                  struct limit_result *out, struct err *e)
{
    struct exact_options all = {
        .goal = EXACT_STEP_TIME, .variables = o->variables, .inputs = o->inputs, .stop = o->stop};
    struct limit_search *s = mem_try(1, sizeof *s);
    int rc =
        s ? limit_model_new(t, m, fixed, &all, &s->l, e) : err_no_memory(e, "for the memory limit");

    memset(out, 0, sizeof *out);
    if (rc) {
        free(s);
        return rc;
    }
    s->seeks_least = o->least;
    s->limit = o->least ? -1 : o->limit; /* nothing fits -1 bytes */
    s->beat_ms = o->beat_ms;
    s->stop = o->stop;
    s->work_most = o->work_most ? o->work_most : LIMIT_WORK_MOST;
    s->best_ms = s->least_bytes = INFINITY;
    s->bound = -INFINITY;
    s->e = e;
    uint32_t **lists[] = {&s->choice, &s->trial, &s->best, &s->least};
    for (size_t k = 0; k < sizeof lists / sizeof *lists && !rc; k++) {
        *lists[k] = mem_try(s->l.s.node_count, sizeof **lists[k]);
        rc = *lists[k] ? 0 : err_no_memory(e, "for the memory limit");
    }
    s->weight = mem_try(s->l.unit_count, sizeof *s->weight);
    rc = rc ? rc : s->weight ? search_limited(s, o) : err_no_memory(e, "for the memory limit");
    if (!rc)
        answer_limited(s, out);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        free(*lists[k]);
    free(s->weight);
    limit_model_release(&s->l);
    free(s);
    return rc;
}

void limit_release(struct limit_result *r)
{
    free(r->on);
    memset(r, 0, sizeof *r);
}
