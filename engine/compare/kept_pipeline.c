#include "engine/compare/kept_pipeline.h"

#include "engine/compare/best_pipeline.h"
#include "engine/hybrid/by_value.h"
#include "engine/hybrid/hybrid_older.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdlib.h>

void kept_pipeline_free(struct hybrid *h)
{
    if (h)
        hybrid_release(h);
    free(h);
}

int kept_pipeline_of(const struct pipeline_options *asked, const struct pipeline *l,
                     const struct pipeline_plan *plan, struct hybrid **out, struct err *e)
{
    struct hybrid *h = mem_try(1, sizeof *h);

    *out = NULL;
    if (!h)
        return err_no_memory(e, "to compare plans");
    int rc = hybrid_of_pipeline(l, plan, h, e);
    if (rc) {
        free(h);
        return rc;
    }
    h->options.limit_bytes = asked->limit_bytes;
    h->options.no_limit = asked->no_limit;
    h->options.schedule = asked->schedule;
    h->options.is_schedule_given = h->options.keeps_values = h->options.no_bound = true;
    rc = hybrid_price(h, e);
    rc = rc ? rc : hybrid_by_value(h, e);
    if (rc)
        kept_pipeline_free(h);
    else
        *out = h;
    return rc;
}

/* The best pipeline under some options, taken where it is shorter than *best. What does not fit,
 * or cannot be read as a hybrid plan, is no offer. */
static int offer(const struct problem *p, const struct pipeline_options *asked,
                 const struct pipeline_options *with, struct hybrid **best, struct err *e)
{
    struct pipeline_plan *plan = mem_try(1, sizeof *plan);
    struct pipeline *l = NULL;
    struct hybrid *h = NULL;
    int rc = plan ? best_pipeline_new(p, with, &l, plan, e) : err_no_memory(e, "to compare plans");

    rc = rc ? rc : kept_pipeline_of(asked, l, plan, &h, e);
    if (!rc && h->by_value_ms < (*best ? (*best)->by_value_ms : INFINITY)) {
        kept_pipeline_free(*best);
        *best = h;
        h = NULL;
    }
    kept_pipeline_free(h);
    best_pipeline_free(l);
    free(plan);
    return rc == ERR_MEMORY ? rc : 0;
}

int kept_pipeline_new(const struct problem *p, const struct pipeline_options *o,
                      struct hybrid **out, struct err *e)
{
    static const double times[] = {1, 1.25, 1.6, 2.5}; /* of a limit that was given */
    struct pipeline_options with = *o;
    struct err last = {0};
    int rc = 0;

    *out = NULL;
    for (size_t n = 0; n < sizeof times / sizeof *times && !rc; n++) {
        with.limit_bytes = o->limit_bytes * times[n];
        if (!stop_asked(p->stop) && (!n || (o->limit_bytes > 0 && !o->no_limit)))
            rc = offer(p, o, &with, out, &last);
    }
    with.no_limit = true;
    if (!rc && !o->no_limit && !stop_asked(p->stop))
        rc = offer(p, o, &with, out, &last);
    if (!rc && *out)
        return 0;
    kept_pipeline_free(*out);
    *out = NULL;
    if (!rc && last.code != ERR_INPUT)
        return err_set(e, ERR_INFEASIBLE,
                       "no pipeline fits its devices, whatever it computes again");
    *e = last;
    return e->code;
}
