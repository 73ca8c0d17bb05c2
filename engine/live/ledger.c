#include "engine/live/ledger.h"

#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/labels.h"
#include "engine/live/command.h"
#include "engine/live/snapshot.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>

struct ledger *ledger_share(struct ledger *l)
{
    if (l)
        atomic_fetch_add(&l->references, 1);
    return l;
}

void ledger_release(struct ledger *l)
{
    if (!l || atomic_fetch_sub(&l->references, 1) != 1)
        return;
    for (uint32_t n = 0; n < l->count; n++) {
        live_problem_release(l->rows[n].edited);
        live_plan_release(l->rows[n].optimum);
    }
    free(l);
}

/* Numbers ascend. */
const struct ledger_row *ledger_find(const struct ledger *l, uint32_t number)
{
    uint32_t low = 0, high = l->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->rows[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->count && l->rows[low].number == number ? &l->rows[low] : NULL;
}

bool ledger_has_plan(const struct ledger_row *r)
{
    return r->optimum && r->optimum->fits;
}

const struct ledger_row *ledger_before(const struct ledger *l, const struct ledger_row *r)
{
    while (r && r->from != r->number) {
        r = ledger_find(l, r->from);
        if (r && ledger_has_plan(r))
            return r;
    }
    return NULL;
}

static bool is_pinning(const struct ledger_row *r)
{
    return r->verb == COMMAND_PIN || r->verb == COMMAND_UNPIN || r->verb == COMMAND_FORBID ||
           r->verb == COMMAND_BACKTRACK;
}

static bool is_settled(const struct ledger_row *r)
{
    return ledger_has_plan(r) && r->optimum->proven;
}

double ledger_pins_cost(const struct ledger *l)
{
    const struct ledger_row *now = &l->rows[l->now], *r = now;

    while (r && r->pins)
        r = is_pinning(r) ? ledger_find(l, r->from) : NULL;
    if (!r || !now->pins || !is_settled(now) || !is_settled(r))
        return NAN;
    return now->figures.cost.step_ms - r->figures.cost.step_ms;
}

int ledger_figures_of(const struct problem *p, label *on, struct ledger_figures *out, struct err *e)
{
    struct plan plan = {.problem = p, .on = on};
    struct plan_collective *items;
    double *scratch = memory_scratch(&p->memory);
    size_t count;

    *out = (struct ledger_figures){.cost = step_tables_cost(&p->step_tables, on)};
    int rc = scratch ? plan_collectives(&plan, &items, &count, e)
                     : err_no_memory(e, "for the figures of a plan");
    if (rc)
        goto out;
    for (size_t n = 0; n < count; n++) {
        out->reduces += items[n].count;
        out->reduced_bytes += items[n].bytes;
    }
    free(items);
    out->memory = memory_of(&p->memory, &p->labels, on, scratch);
out:
    free(scratch);
    return rc;
}
