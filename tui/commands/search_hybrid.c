/* automap search --kind hybrid: stages that are split over a sub-mesh, found by L and chosen by
 * simulation. */
#include "tui/commands/search_hybrid.h"

#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/pipeline.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/hybrid_print.h"
#include "tui/options/exit_code.h"
#include "tui/options/stopping.h"

#include <stdio.h>

static struct hybrid_options options_of(const struct search_args *a, const struct problem *p)
{
    const struct pipeline_options *o = &a->pipeline.options;

    return (struct hybrid_options){
        .batch = o->batch,
        .micro_batches = o->micro_batches,
        .stages = o->stages,
        .is_schedule_given = a->is_schedule_given,
        .schedule = o->schedule,
        .recompute = o->recompute ? STAGE_RECOMPUTE_ALL : STAGE_RECOMPUTE_ANY,
        .zero = p->options.zero ? p->options.zero : -1,
        .overlap = o->overlap > 0 ? o->overlap : 0,
        .tp = a->tp,
        .dp = a->dp,
        .chunks = a->chunks,
        .is_uniform = a->uniform || a->chunks,
        .no_limit = o->no_limit,
        .half_duplex = o->half_duplex,
        .limit_bytes = o->limit_bytes,
        .stop = stopping_begin(),
    };
}

int search_hybrid(const struct search_args *a, const struct problem *p)
{
    struct hybrid *h = mem_alloc(sizeof *h);
    struct hybrid_options o = options_of(a, p);
    double start = clock_thread_seconds();
    struct err e;
    int code = EXIT_OK, rc = hybrid_new(p, &o, h, &e);

    if (rc) {
        err_print(&e, stderr);
        code = exit_code_of(&e);
    } else {
        if (a->json)
            hybrid_print_json(h);
        else
            hybrid_print(h, clock_thread_seconds() - start);
        rc = a->plan ? hybrid_file_save(h, a->plan, &e) : 0;
        if (rc) {
            err_print(&e, stderr);
            code = exit_code_of(&e);
        }
        hybrid_release(h);
    }
    if (stopping_end() && (code == EXIT_OK || code == EXIT_INFEASIBLE))
        code = EXIT_STOPPED;
    free(h);
    return code;
}
