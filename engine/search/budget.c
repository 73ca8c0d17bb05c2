#include "engine/search/budget.h"

#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* Sums of the same entries in another order may differ by so much. */
static const double ROUNDING = 1e-9;

static double slowest_step(const struct step_tables *t)
{
    double ms = t->fixed_ms;

    for (uint32_t n = 0; n < t->count; n++) {
        double most = 0;
        for (uint32_t entry = 0; entry < t->items[n].entries; entry++) {
            size_t at = t->items[n].table + entry;
            double cell = t->compute_ms[at] + t->communication_ms[at];
            if (t->overlap.is_bounded)
                cell += t->beside_ms[at]; /* at most: nothing hidden */
            most = isfinite(cell) ? fmax(most, cell) : most;
        }
        ms += most;
    }
    return ms * (1 + ROUNDING);
}

int budget_new(const struct problem *p, double bytes, struct budget **out, struct err *e)
{
    struct budget *b = mem_try(1, sizeof *b);

    if (b) {
        *b = (struct budget){
            .problem = p, .bytes = bytes, .slowest_ms = slowest_step(&p->step_tables), .peak = -1};
        b->scratch = memory_scratch(&p->memory);
        b->on = mem_try(p->classes.count, sizeof *b->on);
    }
    if (!b || !b->scratch || !b->on) {
        budget_free(b);
        return err_no_memory(e, "for the memory limit");
    }
    *out = b;
    return 0;
}

void budget_free(struct budget *b)
{
    if (!b)
        return;
    free(b->scratch);
    free(b->on);
    free(b);
}

double budget_peak(struct budget *b, const label *on)
{
    size_t size = b->problem->classes.count * sizeof *on;

    if (b->peak < 0 || memcmp(b->on, on, size) != 0) {
        b->peak = memory_of(&b->problem->memory, &b->problem->labels, on, b->scratch).peak;
        memcpy(b->on, on, size);
    }
    return b->peak;
}

double budget_floor(const struct budget *b, double baseline_ms)
{
    return log(baseline_ms / b->slowest_ms);
}

double budget_worth(const struct budget *b, double baseline_ms, double ms, double peak)
{
    if (peak <= b->bytes)
        return log(baseline_ms / ms);
    return budget_floor(b, baseline_ms) - log(peak / b->bytes);
}
