/* tui/files/tour.h - a tour: a script that plays in the real explorer and explains what you see. A
 * YAML file in examples/tours, listed by its name:
 *
 *     title: What propagation does
 *     about: one decision, and all that follows          one line, for lists
 *     model: t5-tiny                                      as on the command line
 *     cluster: v100-1x4                                   may be left out
 *     seed: 7                                             of the search; 0 when left out
 *     rules: paper                                        as --rules; full when left out
 *     steps:
 *       - say: One decision is taken.                     at most TOUR_SAY_MOST bytes
 *         do: [":decide 1", "2", "C-d"]                   may be left out; ':' a command line,
 *                                                         "/text" the next match of it, else a key
 *         see: ["width 32", "1~"]                         must be on the screen then, at 120x40
 *
 * The items of `do` run one after another, each when the search is at rest. */
#ifndef AUTOMAP_TUI_FILES_TOUR_H
#define AUTOMAP_TUI_FILES_TOUR_H

#include "hlo/support/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOUR_STEPS_MOST = 32, TOUR_ITEMS_MOST = 16, TOURS_MOST = 24, TOUR_SAY_MOST = 225 };

struct tour_step {
    const char *say;
    const char *items[TOUR_ITEMS_MOST]; /* of `do` */
    int item_count;
    const char *see[TOUR_ITEMS_MOST];
    int see_count;
};

struct tour {
    const char *title, *about, *model, *cluster; /* cluster NULL: none named */
    uint64_t seed;
    bool paper_rules;
    struct tour_step steps[TOUR_STEPS_MOST];
    int step_count;
    void *kept; /* what all text points into */
};

/* The tour of that name below `data_dir`; errors have file, line and column. */
int tour_load(struct tour **out, const char *data_dir, const char *name, struct err *e) MUST_CHECK;
void tour_free(struct tour *t); /* NULL ok */

/* Names of the tours that are there, sorted; returns how many. */
struct tour_name {
    char name[40];
};
int tour_names(struct tour_name out[static TOURS_MOST], const char *data_dir);

#endif
