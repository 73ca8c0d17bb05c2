/* engine/plan/relaxed_pins.h - decisions of people and of strict plans as pins for relaxed mode. */
#ifndef AUTOMAP_ENGINE_PLAN_RELAXED_PINS_H
#define AUTOMAP_ENGINE_PLAN_RELAXED_PINS_H

#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/support/err.h"

struct relaxed_pins {
    struct relaxed_pin *items;
    uint32_t count;
    size_t room;
};

/* "*self*q/kernel:1=1", as setting_apply reads it, for every match: =0 is RELAXED_WHOLE, anything
 * else RELAXED_SPLIT, or RELAXED_STORED when `stored`. ERR_INPUT when nothing matches. Added to the
 * list. */
int relaxed_pins_set(const struct problem *p, const char *setting, bool stored,
                     struct relaxed_pins *list, struct err *e) MUST_CHECK;

/* Adds what a strict plan decided about dims of parameters, and what it splits there. */
int relaxed_pins_of_plan(const struct plan *from, struct relaxed_pins *list,
                         struct err *e) MUST_CHECK;

void relaxed_pins_release(struct relaxed_pins *list);

#endif
