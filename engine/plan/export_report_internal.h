/* engine/plan/export_report_internal.h - shared by the reports of strict and relaxed plans. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_REPORT_INTERNAL_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_REPORT_INTERNAL_H

#include "engine/cost/memory.h"
#include "engine/decide/names.h"
#include "engine/plan/export_report.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* What a plan otherwise than the report's costs. */
struct report_turn {
    struct relaxed_pin pin; /* what it has otherwise */
    bool is_possible;
    double ms, peak;
    uint64_t plan; /* hash of all it decides */
};

struct report {
    const struct plan *plan;
    const struct report_about *about;
    struct plan_collective *list;
    size_t count;
    struct memory_cost memory;
    double baseline_ms;
    struct class_names names;
    struct report_turn *turns; /* of a relaxed plan; freed with the list */
    uint32_t turn_count;
    struct str *out;
};

/* Appends text from a file, escaped for a table cell or a sentence. */
void report_add_plain(struct str *out, const char *text);
/* Appends a text bar for a share from 0 to 1. */
void report_add_bar(struct str *out, double share);

/* For a relaxed plan: a clause that follows its step time; and how variables and inputs are stored
 * and used, reshards by kind and one by one. ERR_MEMORY. O(reshards log
 * reshards). */
void report_write_bound(const struct report *r);
int report_write_relaxed(const struct report *r, struct err *e) MUST_CHECK;

/* Of a relaxed plan: each group of parameters with what it saves, found by solving again with one
 * of it otherwise; these plans become r->turns. ERR_MEMORY. A few sweeps for each, at most 32. */
int report_write_turns(struct report *r, struct err *e) MUST_CHECK;

/* ms, peak and plan of `other`, which is released, also on error. */
int report_price(struct plan *other, struct report_turn *out, struct err *e) MUST_CHECK;

/* What its memory peak consists of. */
void report_write_peak(const struct report *r);

/* Checks that every status in those tables is the plan's. Else ERR_INPUT. */
int report_check_relaxed(const struct plan *p, const char *text, struct err *e) MUST_CHECK;

/* Step time, ms, with everything replicated: what one device alone takes. */
double report_whole_ms(const struct problem *p);

/* The plan by layer, of either mode. ERR_MEMORY. O(instructions x axes). */
int report_write_layers(const struct report *r, struct err *e) MUST_CHECK;

/* Of a strict plan: each group with its reason and its best other choice; each collective with its
 * place and cause, the dearest COLLECTIVES_SHOWN of them. ERR_MEMORY. O(classes x labels). */
int report_write_reasons(const struct report *r, struct err *e) MUST_CHECK;
int report_write_each_collective(const struct report *r, struct err *e) MUST_CHECK;

/* Other plans and what they lose. Solves a few problems (exact_strict; reshard_remove). */
int report_write_others(const struct report *r, struct err *e) MUST_CHECK;

#endif
