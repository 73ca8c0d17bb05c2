/* tui/watch/answer.h - answers to "why" other than chains of ties: about values of a plan that may
 * reshard, a reshard, a stage, a part of the model, a collective, memory. They consist of
 * sentences, and of tables whose rows are mostly about one instruction each. UI thread. */
#ifndef AUTOMAP_TUI_WATCH_ANSWER_H
#define AUTOMAP_TUI_WATCH_ANSWER_H

#include "engine/cluster/collectives.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/pipeline/pipeline.h"
#include "engine/plan/plan.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"
#include "tui/watch/other_way.h"
#include "tui/watch/part.h"
#include "tui/watch/question.h"
#include "tui/watch/watch.h"
#include "tui/watch/why_of.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum answer_kind { ANSWER_SENTENCE, ANSWER_HEAD, ANSWER_TITLES, ANSWER_ROW };
enum { ANSWER_CELLS = 6 };

struct answer_row {
    uint8_t kind;              /* enum answer_kind */
    bool marked;               /* the row the question is about */
    hlo_id at;                 /* Enter goes there; HLO_NONE */
    uint32_t cells;            /* how many */
    size_t cell[ANSWER_CELLS]; /* into text. A title that begins with '>' is of figures */
};

struct answer {
    struct answer_row *rows;
    size_t count, room;
    struct str text;
    bool failed; /* out of memory: rows are missing */
};

void answer_clear(struct answer *a); /* keeps the room */
void answer_release(struct answer *a);
const char *answer_cell(const struct answer *a, const struct answer_row *r, uint32_t cell);

/* "\1" switches bold on and off in a sentence. */
void answer_say(struct answer *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void answer_head(struct answer *a, const char *title, const char *note);
/* Cells up to NULL, at most ANSWER_CELLS. */
void answer_row(struct answer *a, enum answer_kind kind, hlo_id at, ...) __attribute__((sentinel));

/* ---- the answers: appended ---- */

/* Where a value of the plan is split, who makes and who reads it so, and what is sent in between.
 * O(instructions). */
void answer_relaxed_value(struct answer *a, const struct watch *w, const struct relaxed_plan *x,
                          hlo_value v);
/* Who makes and who asks; what it costs without it is another job's (removal_job.h). */
void answer_reshard(struct answer *a, const struct watch *w, const struct relaxed_plan *x,
                    uint32_t number);
/* What the stage holds, and what its cuts would cost one operation further on either side. */
void answer_stage(struct answer *a, const struct watch *w, const struct pipeline *l,
                  const struct pipeline_plan *plan, uint32_t stage);
/* In which stage an instruction runs; of the backward pass and the update, with which operation. */
void answer_in_stage(struct answer *a, const struct watch *w, const struct pipeline *l,
                     const struct pipeline_plan *plan, hlo_id id);
/* A part of the model under a strict plan: what decides in it, what is sent in it.
 * O(instructions). */
void answer_part(struct answer *a, const struct watch *w, const label *on, double step_ms,
                 const struct part *part);
/* The same under a plan that may reshard. O(instructions + reshards). */
void answer_relaxed_part(struct answer *a, const struct watch *w, const struct relaxed_plan *x,
                         const struct part *part);
/* The all-reduces of an instruction under a strict plan: which split leaves each sum. */
void answer_collective(struct answer *a, const struct watch *w, const label *on, hlo_id id);
/* What the class's dims are with the decision the other way round, as far as it is worked out. */
void answer_other_way(struct answer *a, const struct watch *w, const struct other_ways *o);
/* The collectives that the decision about class `k` makes, by the line they serve: at most `most`
 * rows, the longest, and what the rest comes to. */
void answer_makes(struct answer *a, const struct watch *w, const label *on, class_id k,
                  size_t most);
/* How every other plan there is decides class `k`, and in how many decisions it differs from
 * `of`. */
void answer_same(struct answer *a, const struct watch *w, struct why_of of, const label *on,
                 class_id k);
/* What a stored value, or all of its shape, holds at a moment of the step, and which decisions make
 * it as large as it is. `q`: of kind QUESTION_MEMORY. */
void answer_memory(struct answer *a, const struct watch *w, const label *on,
                   const struct question *q);

/* ---- what answers share ---- */

/* "18 all-reduces, 5 all-gathers", those there are; "no collective". Returns out. */
enum { ANSWER_KINDS_ROOM = 96 };
char *answer_kinds(const uint32_t counts[static COLLECTIVE_COUNT],
                   char out[static ANSWER_KINDS_ROOM]);

/* "split", "whole: excluded", "can never be split". */
const char *answer_status(const struct watch *w, const label *on, class_id k);
/* All-reduces of a strict plan, for the caller to free; NULL: none, or no memory (a->failed). */
struct plan_collective *answer_collectives(struct answer *a, const struct watch *w, const label *on,
                                           size_t *count);

#endif
