/* tui/views/why_draw.h - the state of view_why.c and how its parts are drawn; shared by view_why.c
 * and why_draw_*.c only. */
#ifndef AUTOMAP_TUI_VIEWS_WHY_DRAW_H
#define AUTOMAP_TUI_VIEWS_WHY_DRAW_H

#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"
#include "tui/watch/answer.h"
#include "tui/watch/other_way.h"
#include "tui/watch/price.h"
#include "tui/watch/question.h"
#include "tui/watch/removal_job.h"
#include "tui/watch/watch.h"
#include "tui/watch/why_find.h"
#include "tui/watch/why_of.h"

enum { WHY_SENTENCE_ROOM = 1024 };

struct why {
    dim_id dim;
    struct why_of of;       /* whose splits are explained */
    struct live_plan *kept; /* its plan; NULL: of none */
    double step_ms;         /* of that plan or episode */
    struct watch seen;      /* problem, moves and the statuses asked about; the rest is not read */
    struct why_answer answer;
    struct price keep[2];     /* EXCLUDED: at best with either split */
    struct question question; /* kind QUESTION_DIM: of `dim` */
    bool is_page;             /* the answer is `page`, no chain */
    struct answer page;
    struct other_ways ways; /* of a chain's class; what stands below the chain is `page`, */
    struct live_plan *best; /* of when these were best and exact, and there were so many acts */
    struct live_plan *exact;
    uint32_t acts;
    int filled_height;           /* of the panel, when that was filled in */
    struct list rows;            /* of the page: those the cursor stands on */
    int scroll;                  /* lines of the page above the view, or what is below a chain */
    struct removal_job *removal; /* of the reshard asked about; NULL: none */
    struct removal_look removed;
    bool
        elsewhere; /* what was asked is the decision of panel 2: the panel with the keys has none */
    bool stale;    /* of an episode: it is decided otherwise by now */
    int cursor;    /* over the rows of side 0, then of side 1 */
    char name[NAME_ROOM];
};

const char *why_value_name(const struct problem *p, hlo_value v);
/* As the file has it, for commands: a parameter that is only numbered by its number. */
const char *why_file_name(const struct problem *p, hlo_value v);
const char *why_dim_name(const struct problem *p, dim_id d);
uint32_t why_dim_number(const struct problem *p, dim_id d);

/* The side the cursor is in, and its row there. */
int why_side_of(const struct why *v, int *row);

/* tui/views/why_draw_chain.c: the one or two chains; how many rows they would fill. */
void why_draw_chains(struct panel *p, const struct pane *pane);
int why_chain_rows(const struct panel *p, int width);

/* tui/views/why_draw_of.c: the row that names the plan, and those `w` goes on to. */
void why_draw_of(const struct panel *p, const struct pane *pane, int y);

/* tui/views/why_draw_page.c: answers that are no chain. The row of the page under the cursor; NULL:
 * none. */
void why_draw_page(struct panel *p, const struct pane *pane);
const struct answer_row *why_page_row(const struct why *v);
int why_page_rows(const struct why *v); /* on which the cursor may stand */

/* What stands below a chain, from v->scroll on. */
void why_draw_below(struct panel *p, const struct pane *pane);

/* tui/views/why_draw_facts.c */
/* Words that do not fit go to the next line, "\1" switches to the style `bold` and back. Returns
 * the line behind; one above the pane is passed over. */
int why_draw_words(const struct pane *p, int y, unsigned style, unsigned bold, const char *text);
int why_draw_answer(const struct panel *p, const struct pane *pane,
                    int y); /* returns the row behind */
int why_draw_place(const struct panel *p, const struct pane *pane, int y);
int why_fact_rows(const struct why *v);
void why_draw_facts(const struct panel *p, const struct pane *pane, int y);

#endif
