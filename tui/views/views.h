/* tui/views/views.h - every view, and what it has to be opened with (NULL where nothing is said).
 * A new view is a file of its own, a line here and a row in views.c. */
#ifndef AUTOMAP_TUI_VIEWS_VIEWS_H
#define AUTOMAP_TUI_VIEWS_VIEWS_H

#include "tui/views/panel.h"

/* Panels beside each other, by their number. */
extern const struct panel_ops view_graph;  /* 1: the module as a tree */
extern const struct panel_ops view_groups; /* 2: the decisions: now, in the best plan, saved */
extern const struct panel_ops view_focus;  /* 3: an instruction, its operands and its users */
extern const struct panel_ops view_lanes;  /* 3: the module in its own order, values as lines */
extern const struct panel_ops view_reward; /* 4: the search so far, with marks of a person's acts */
extern const struct panel_ops view_loss;   /* 5 */
extern const struct panel_ops view_decision; /* 6: the next decision, or the one under the cursor */
extern const struct panel_ops view_log;      /* 7: what happened, newest first */
extern const struct panel_ops view_cost;     /* 8: where the step time goes, part by part */
extern const struct panel_ops view_devices;  /* 9: what each device holds and each link carries */
extern const struct panel_ops view_memory_panel; /* memory over the step */
extern const struct panel_ops view_ties;         /* why the class under the cursor is one */

/* Over the whole screen. */
extern const struct panel_ops view_start; /* examples, recent files and clusters to open */
extern const struct panel_ops view_why;   /* the chain of ties behind a dim; arg: the panel asked */
extern const struct panel_ops view_plans; /* V p: all plans by step time, two of them compared;
                                             arg: struct live_plan under the cursor, or NULL */
extern const struct panel_ops view_ledger;   /* V w: what a person tried, each with its price */
extern const struct panel_ops view_past;     /* V t: the journal as a timeline, played again */
extern const struct panel_ops view_class;    /* C: the learner, part by part; arg: NULL: of the
                                                search, or a struct rl_game */
extern const struct panel_ops view_memory;   /* V m; arg: struct live_plan, NULL: the best */
extern const struct panel_ops view_members;  /* a class from inside; arg: class_id, NULL: V x */
extern const struct panel_ops view_race;     /* V r: all algorithms on equally many priced plans */
extern const struct panel_ops view_pipeline; /* V i: stages, who does what when, the cuts */
extern const struct panel_ops view_hybrid;   /* V h: stages that are split over a sub-mesh each */
extern const struct panel_ops view_place;    /* V l: a device for every operator; arg: NULL, or */
/* struct place_opening (tui/watch/placing.h), taken over: an operator graph without a model */
extern const struct panel_ops view_doctor;  /* V k: collectives of a partitioned module; arg:
                                               struct doctored *const *, owned from then on */
extern const struct panel_ops view_relaxed; /* V s: a plan that may reshard, with its bound */

/* Dialogs. */
extern const struct panel_ops view_pin;       /* what a pin would cost; arg: int, the move */
extern const struct panel_ops view_backtrack; /* the same for a backtrack */
extern const struct panel_ops view_options;   /* o: search, learner, cluster, mesh */
extern const struct panel_ops view_role;      /* r: what a parameter is; arg: its hlo_id */
extern const struct panel_ops view_tours;     /* T: the tours; Enter begins one */
extern const struct panel_ops view_export;    /* e: a plan in a form seen before it is written;
                                                 arg: struct live_plan, NULL: the best */
extern const struct panel_ops view_help;      /* every key of a view; arg: its panel, or NULL */
extern const struct panel_ops view_find;      /* everything with a name, by some of its words */

/* All of them, in the order of help; ends with NULL. */
extern const struct panel_ops *const panel_list[];

#endif
