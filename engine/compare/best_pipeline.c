#include "engine/compare/best_pipeline.h"

#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/mem.h"

static bool choose_certified(const struct pipeline *l, struct pipeline_plan *out)
{
    struct pipeline_start start[3];
    struct pipe_exact_result exact;
    struct pipe_plan plan;
    uint32_t count = 0;
    double ms;
    struct err e;
    bool has_exact = !pipeline_exact(l, NULL, &exact, &e) && exact.found;

    if (has_exact)
        start[count++] = (struct pipeline_start){pipeline_refine(l, &exact.plan), "exact"};
    if (pipeline_best_candidate(l, &plan, &ms))
        start[count++] = (struct pipeline_start){pipeline_refine(l, &plan), "candidates"};
    if (pipeline_instant(l, &plan))
        start[count++] = (struct pipeline_start){pipeline_refine(l, &plan), "closed form"};
    if (!pipeline_choose(l, start, count, out))
        return false;
    out->optimum_ms = has_exact ? exact.length_ms : 0;
    out->certified = has_exact && exact.certified;
    return true;
}

int best_pipeline_new(const struct problem *p, const struct pipeline_options *o,
                      struct pipeline **out, struct pipeline_plan *plan, struct err *e)
{
    struct pipeline_options options = *o;
    struct pipeline *l = mem_try(1, sizeof *l);

    if (!l)
        return err_no_memory(e, "to compare plans");
    options.overlap = problem_overlap(p);
    options.stop = p->stop;
    for (int again = 0; again < 2; again++) {
        options.recompute |= again == 1;
        int rc = pipeline_new(p, &options, l, e);
        if (rc) {
            free(l);
            return rc;
        }
        if (choose_certified(l, plan)) {
            *out = l;
            return 0;
        }
        pipeline_release(l);
    }
    free(l);
    return err_set(e, ERR_INFEASIBLE,
                   "no pipeline fits its devices, forward passes run again or not");
}

void best_pipeline_free(struct pipeline *l)
{
    if (l)
        pipeline_release(l);
    free(l);
}
