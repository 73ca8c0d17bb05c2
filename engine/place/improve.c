#include "engine/place/improve.h"

#include "engine/place/chain_program.h"
#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"

#include <math.h>

static struct place_question question_of(const struct place_improving *i)
{
    return (struct place_question){
        .rules = i->rules, .below_ms = *i->value_ms, .other_ms = INFINITY};
}

static int improve_together(const struct place_improving *i, struct err *e)
{
    struct place_question q = question_of(i);
    struct place_chain *c;

    if (i->ask(i->context, &q, &c, e))
        return e->code;
    return c ? i->take(i->context, c, c->value_ms, e) : 0;
}

/* The least load of one pass while the other stays within a bound; INFINITY: there is none. */
static int least_of(const struct place_improving *i, uint32_t pass, double below, double other,
                    struct place_chain **c, double *value, struct err *e)
{
    struct place_question q = question_of(i);

    q.pass = pass;
    q.below_ms = below;
    q.other_ms = other;
    if (i->ask(i->context, &q, c, e))
        return e->code;
    *value = *c ? (*c)->value_ms : INFINITY;
    return 0;
}

static int improve_apart(const struct place_improving *i, struct err *e)
{
    struct place_chain *c;
    double forward = 0, backward = 0, least = 0, limit = INFINITY;

    if (least_of(i, 0, *i->value_ms, INFINITY, &c, &least, e))
        return e->code;
    place_chain_free(c);
    while (isfinite(least) && !*i->limited) {
        if (least_of(i, 1, *i->value_ms - least, limit, &c, &backward, e))
            return e->code;
        place_chain_free(c);
        if (!isfinite(backward))
            break;
        if (least_of(i, 0, INFINITY, backward, &c, &forward, e))
            return e->code;
        if (!c)
            break;
        if (forward + backward < *i->value_ms && i->take(i->context, c, forward + backward, e))
            return e->code;
        if (c != *i->best)
            place_chain_free(c);
        limit = fmin(nextafter(fmin(forward, *i->value_ms - backward), 0), limit * (1 - 1e-12));
    }
    return 0;
}

/* Devices a chain needs. */
static uint32_t accelerators_of(const struct place_graph *g, const struct place_chain *c)
{
    uint32_t all = 0;

    for (uint32_t s = 0; s < c->stages; s++)
        all += g->type[c->stage[s].type].is_host ? 0 : c->stage[s].copies;
    return all;
}

/* The fewest accelerators; then no fewer can be told. */
static int improve_fewest(const struct place_improving *i, struct err *e)
{
    struct place_question q = question_of(i);
    struct place_chain *c;

    q.below_ms = i->target_ms * (1 + 1e-12);
    q.fewest = true;
    if (i->ask(i->context, &q, &c, e))
        return e->code;
    if (c && *i->best && accelerators_of(i->graph, c) >= accelerators_of(i->graph, *i->best)) {
        place_chain_free(c);
        c = NULL;
    }
    return c ? i->take(i->context, c, c->value_ms, e) : 0;
}

int place_improve(const struct place_improving *i, struct err *e)
{
    if (i->target_ms > 0)
        return improve_fewest(i, e);
    return i->rules->apart ? improve_apart(i, e) : improve_together(i, e);
}
