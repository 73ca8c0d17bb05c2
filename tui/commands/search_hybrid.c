/* automap search --kind hybrid: stages that are split over a sub-mesh, found by L and chosen by
 * simulation. */
#include "tui/commands/search_hybrid.h"

#include "engine/compare/fewer.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/hybrid/pin_prices.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/pipeline.h"
#include "engine/text/units.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"
#include "tui/commands/fewer_print.h"
#include "tui/commands/hybrid_print.h"
#include "tui/options/exit_code.h"
#include "tui/options/stopping.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
        .zero = a->is_zero_any     ? HYBRID_ZERO_ANY
                : a->is_zero_given ? p->options.zero
                                   : HYBRID_ZERO_NEEDED,
        .overlap = o->overlap,
        .tp = a->tp,
        .dp = a->dp,
        .chunks = a->chunks,
        .is_uniform = a->uniform || a->chunks,
        .whole_layers = a->whole_layers,
        .relaxes = a->relaxed_stages,
        .keeps_values = a->recompute_values,
        .no_limit = o->no_limit,
        .half_duplex = o->half_duplex,
        .limit_bytes = o->limit_bytes,
        .algorithm = a->hybrid_algorithm,
        .play = {.rl = a->search.rl,
                 .rl_set = a->search.rl_set,
                 .seed = a->search.seed,
                 .plans_most = a->episodes,
                 .seconds_most = a->seconds},
        .pins = a->hybrid_pins,
        .pin_count = a->hybrid_pin_count,
        .stop = stopping_begin(),
    };
}

/* What each pin costs. */
static int print_prices(const struct hybrid *h, struct err *e)
{
    const struct hybrid_options *o = &h->options;
    double ms[HYBRID_PINS_MOST], all_ms, step = hybrid_least_ms(h);
    char text[UNITS_ROOM];

    if (hybrid_algorithm_plays(o->algorithm)) { /* another plan each time: no price */
        printf("  pins are not priced: --algo exact prices them\n");
        return 0;
    }
    int rc = hybrid_pin_prices(h, ms, &all_ms, e);

    for (uint32_t n = 0; n < o->pin_count && !rc; n++) {
        printf("  pin %s %s: ", hybrid_wish_names[o->pins[n].kind], o->pins[n].text);
        if (!isfinite(ms[n]))
            printf("not priced\n");
        else if (ms[n] < 1e-9 * step)
            printf("costs nothing\n");
        else
            printf("costs %s, %.2f %% of the step\n", units_ms(text, ms[n]), 100 * ms[n] / step);
    }
    if (o->pin_count > 1 && !rc && isfinite(all_ms))
        printf("  all pins: %s\n", units_ms(text, all_ms));
    return rc;
}

/* What each option that holds for the whole plan costs. */
static int print_limit_prices(const struct hybrid *h, struct err *e)
{
    struct hybrid_limit_price price[HYBRID_LIMITS_MOST];
    uint32_t count;
    char text[UNITS_ROOM];

    if (hybrid_algorithm_plays(h->options.algorithm)) {
        printf("  limits are not priced: --algo exact prices them\n");
        return 0;
    }
    int rc = hybrid_limit_prices(h, price, &count, e);

    for (uint32_t n = 0; n < count && !rc; n++) {
        printf("  --%s: ", price[n].text);
        if (!isfinite(price[n].ms))
            printf("not priced\n");
        else if (price[n].ms < 1e-9 * hybrid_least_ms(h))
            printf("costs nothing\n");
        else
            printf("costs %s, %.2f %% of the step\n", units_ms(text, price[n].ms),
                   100 * price[n].ms / hybrid_least_ms(h));
    }
    return rc;
}

/* Which pins leave no plan. */
static void print_clash(const struct problem *p, const struct hybrid_options *o)
{
    uint32_t clash[HYBRID_PINS_MOST], count = 0;
    char shown[256];
    struct err e;

    if (hybrid_pin_clash(p, o, clash, &count, &e) || !count)
        return;
    fprintf(stderr, count > 1 ? "these pins together leave none:" : "this pin leaves none:");
    for (uint32_t n = 0; n < count; n++) {
        const struct hybrid_wish *pin = &o->pins[clash[n]];
        text_clean(shown, sizeof shown, pin->text, strlen(pin->text));
        fprintf(stderr, "%s --%s %s", n ? "," : "", hybrid_wish_names[pin->kind], shown);
    }
    fprintf(stderr, "\n");
}

/* On fewer devices: pipelines and strict plans, not hybrids, each of which takes a search. */
static struct fewer_question fewer_than(const struct search_args *a, const struct hybrid *h)
{
    const struct pipeline_options *o = &a->pipeline.options;
    bool is_relaxed = h->relaxed_ms > 0 && isfinite(h->relaxed_ms);
    double relaxed = is_relaxed ? h->relaxed_ms : h->by_value_ms > 0 ? h->by_value_ms : INFINITY;

    return (struct fewer_question){.step_ms =
                                       hybrid_fits(h) ? fmin(hybrid_step_ms(h), relaxed) : relaxed,
                                   .limit_bytes = o->no_limit ? INFINITY : o->limit_bytes,
                                   .variables = true,
                                   .inputs = true,
                                   .pipeline = o};
}

static void print_json(const struct search_args *a, const struct hybrid *h)
{
    struct fewer_question q = fewer_than(a, h);
    cJSON *o = hybrid_json(h);

    fewer_add_json(h->problem, &q, o);
    char *text = cJSON_Print(o);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
}

static void print_hybrid(const struct search_args *a, const struct hybrid *h, double seconds)
{
    struct fewer_question q = fewer_than(a, h);

    hybrid_print(h, seconds);
    fewer_print(h->problem, &q);
}

int search_hybrid(const struct search_args *a, const struct problem *p)
{
    struct hybrid *h = mem_alloc(sizeof *h);
    struct hybrid_options o = options_of(a, p);
    double start = clock_thread_seconds();
    struct err e;
    int code = EXIT_OK;

    if (a->race) {
        code = search_hybrid_race(a, p, &o);
        goto out;
    }
    int rc = hybrid_new(p, &o, h, &e);
    if (rc) {
        err_print(&e, stderr);
        code = exit_code_of(&e);
        if (rc == ERR_INFEASIBLE && o.pin_count)
            print_clash(p, &o);
    } else {
        if (a->json)
            print_json(a, h);
        else
            print_hybrid(a, h, clock_thread_seconds() - start);
        rc = !a->json && o.pin_count ? print_prices(h, &e) : 0;
        rc = rc || !a->price_limits || a->json ? rc : print_limit_prices(h, &e);
        rc = rc ? rc : a->plan ? hybrid_file_save(h, a->plan, &e) : 0;
        if (rc) {
            err_print(&e, stderr);
            code = exit_code_of(&e);
        }
        hybrid_release(h);
    }
out:
    if (stopping_end() && (code == EXIT_OK || code == EXIT_INFEASIBLE))
        code = EXIT_STOPPED;
    free(h);
    return code;
}
