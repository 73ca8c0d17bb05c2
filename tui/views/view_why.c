/* Why: the first sentence is the answer, the chain below it is the proof. */
#include "engine/decide/classes.h"
#include "engine/decide/why.h"
#include "engine/live/snapshot.h"
#include "engine/pipeline/pipeline.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/views/why_draw.h"
#include "tui/watch/answer.h"
#include "tui/watch/other_way.h"
#include "tui/watch/part.h"
#include "tui/watch/price.h"
#include "tui/watch/question.h"
#include "tui/watch/removal_job.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"
#include "tui/watch/why_find.h"
#include "tui/watch/why_of.h"

#include <stdio.h>
#include <string.h>

enum { WHY_NEXT, WHY_LAST, WHY_GO, WHY_SIDE, WHY_DIM, WHY_KEEP_1, WHY_KEEP_2 };
static const struct action why_actions[] = {
    [WHY_NEXT] = {"next-plan", "in this view", "the same of the next plan, of the one before",
                  "plan", "w", NULL},
    [WHY_LAST] = {"last-plan", "in this view", NULL, NULL, "W", NULL},
    [WHY_GO] = {"go", "in this view", "go to that instruction", "go there", "Enter", NULL},
    [WHY_SIDE] = {"side", "in this view", "other chain", "other chain", "Tab", NULL},
    [WHY_DIM] = {"next-dim", "in this view", "next dim of the value", "next dim", "d", NULL},
    [WHY_KEEP_1] = {"keep-1", "in this view", "keep the first, the second", "keep", "1", NULL},
    [WHY_KEEP_2] = {"keep-2", "in this view", NULL, NULL, "2", NULL},
};
static const struct key_table why_keys = {"why", why_actions,
                                          sizeof why_actions / sizeof *why_actions};

/* ---- asking ---- */

static void look_ahead(struct why *v, const struct watch *w)
{
    const struct why_answer *a = &v->answer;
    int own = watch_move_of(w, a->class), other = watch_move_of(w, a->other);

    memset(v->keep, 0, sizeof v->keep);
    if (a->kind == WHY_EXCLUDED) {
        for (int i = 0; i < 2; i++) {
            int move = i ? other : own;
            if (move != MOVE_NONE)
                v->keep[i] = price_at_best(w, move, 1);
        }
    }
}

/* Takes the statuses of `of` for those the view speaks of. */
static void look_at(struct why *v, const struct watch *w, struct why_of of)
{
    struct live_plan *next = of.plan ? live_plan_share(of.plan) : NULL;

    live_plan_release(v->kept);
    v->kept = next;
    v->of = of;
    v->step_ms = why_of_ms(w, of);
    v->seen.moves = w->moves;
    why_of_read(w, of, v->seen.on, v->seen.open);
    v->stale = false;
}

/* Rows of one table below the chain, so that the next one is not far off. */
static size_t table_rows(int height)
{
    enum { LEAST = 6 };

    return height / 2 - LEAST > LEAST ? (size_t)(height / 2 - LEAST) : LEAST;
}

/* What stands below the chain: nothing of what is no plan, and of what nothing decides. */
static void fill_below(struct panel *p)
{
    struct why *v = p->state;
    const struct watch *w = p->scene->watch;

    live_plan_replace(&v->best, w->best ? live_plan_share(w->best) : NULL);
    live_plan_replace(&v->exact, w->exact ? live_plan_share(w->exact) : NULL);
    v->filled_height = p->height;
    answer_clear(&v->page);
    if (!v->ways.count)
        return;
    answer_other_way(&v->page, w, &v->ways);
    if (v->answer.kind == WHY_SPLIT)
        answer_makes(&v->page, w, v->seen.on, v->answer.class, table_rows(p->height));
    answer_same(&v->page, w, v->of, v->seen.on, v->answer.class);
}

/* The same from the beginning: what is decided anew is so under the pins. */
static void begin_below(struct panel *p)
{
    struct why *v = p->state;
    const struct watch *w = p->scene->watch;
    enum why_kind kind = v->answer.kind;

    v->acts = w->shot->acts;
    v->ways = (struct other_ways){0};
    if (v->of.kind != WHY_OF_EPISODE && kind != WHY_FREE && kind != WHY_NEVER)
        other_ways_begin(&v->ways, w, v->seen.on, v->answer.class);
    look_ahead(v, w);
    fill_below(p);
}

/* Row by row while a person looks; all at once without a clock. */
static void work_below(struct panel *p)
{
    struct why *v = p->state;
    const struct watch *w = p->scene->watch;

    bool worked = other_ways_work(&v->ways, w, v->seen.on);
    while (worked && !(p->scene->now_ms > 0) && other_ways_work(&v->ways, w, v->seen.on))
        ;
    if (worked || v->filled_height != p->height)
        fill_below(p);
}

/* Asks about a dim of the plan that is looked at. */
static int ask_why(struct panel *p, dim_id d, struct err *e)
{
    struct why *v = p->state;
    struct why_answer answer;

    if (why_find(&v->seen, d, &answer, e))
        return e->code;
    why_answer_release(&v->answer);
    v->answer = answer;
    v->dim = d;
    v->cursor =
        answer.kind == WHY_SPLIT && answer.side[0].count ? (int)answer.side[0].count - 1 : 0;
    v->scroll = 0;
    begin_below(p);
    return 0;
}

/* ---- answers that are no chain ---- */

static bool is_of_its_own(const struct question *q, struct why_of of)
{
    return (q->relaxed && of.kind == WHY_OF_RELAXED) || (q->pipeline && of.kind == WHY_OF_PIPELINE);
}

/* The value a page speaks of where the question is a dim. */
static hlo_value value_of(const struct why *v)
{
    const struct question *q = &v->question;
    const struct problem *p = v->seen.problem;

    if (q->kind == QUESTION_MEMORY)
        return q->value;
    if (q->kind == QUESTION_COLLECTIVE)
        return p->m->leaf_base[q->instruction];
    return v->dim == DIM_NONE ? HLO_NONE : p->classes.dim_value[v->dim];
}

static void add_removal(struct why *v)
{
    const struct relaxed_plan *x = v->question.relaxed;
    const struct removal_look *r = &v->removed;
    char ms[UNITS_ROOM], change[UNITS_ROOM];

    answer_head(&v->page, "Without it", "the best plan found, a step");
    answer_row(&v->page, ANSWER_TITLES, HLO_NONE, "choice", ">step", ">change", NULL);
    answer_row(&v->page, ANSWER_ROW, HLO_NONE, "as it is", units_ms(ms, x->cost.step_ms), "", NULL);
    if (!r->done)
        answer_row(&v->page, ANSWER_ROW, HLO_NONE, "without this reshard", "..", "", NULL);
    else if (!r->is_possible)
        answer_say(&v->page, "Not possible: %s.", r->trouble);
    else
        answer_row(&v->page, ANSWER_ROW, HLO_NONE, "without this reshard", units_ms(ms, r->step_ms),
                   units_change(change, r->step_ms - x->cost.step_ms,
                                units_ms_decimals(x->cost.step_ms) + 2),
                   NULL);
}

static void fill_relaxed(struct why *v, const struct watch *w)
{
    const struct question *q = &v->question;
    const struct relaxed_plan *x = q->relaxed ? q->relaxed : why_of_relaxed(w);
    hlo_value value = value_of(v);

    if (q->kind == QUESTION_RESHARD) {
        answer_reshard(&v->page, w, x, q->number);
        add_removal(v);
    } else if (q->kind == QUESTION_PART) {
        answer_relaxed_part(&v->page, w, x, &q->part);
    } else if (value != HLO_NONE) {
        answer_relaxed_value(&v->page, w, x, value);
    }
}

static void fill_pipeline(struct why *v, const struct watch *w)
{
    const struct question *q = &v->question;
    struct pipeline_plan plan;
    const struct pipeline *l = why_of_pipeline(w, &plan);
    hlo_value value = value_of(v);
    hlo_id id = q->kind == QUESTION_PART ? part_begins(w, &q->part)
                : value != HLO_NONE      ? w->problem->m->value_instruction[value]
                                         : HLO_NONE;

    if (q->kind == QUESTION_STAGE)
        answer_stage(&v->page, w, q->pipeline, q->staged, q->stage);
    else if (id != HLO_NONE)
        answer_in_stage(&v->page, w, l, &plan, id);
}

/* Makes the page where the answer is one. False: it is a chain. */
static bool fill_page(struct panel *p)
{
    struct why *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct question *q = &v->question;

    answer_clear(&v->page);
    if (v->of.kind == WHY_OF_RELAXED)
        fill_relaxed(v, w);
    else if (v->of.kind == WHY_OF_PIPELINE)
        fill_pipeline(v, w);
    else if (q->kind == QUESTION_PART)
        answer_part(&v->page, w, v->seen.on, v->step_ms, &q->part);
    else if (q->kind == QUESTION_COLLECTIVE)
        answer_collective(&v->page, w, v->seen.on, q->instruction);
    else if (q->kind == QUESTION_MEMORY)
        answer_memory(&v->page, w, v->seen.on, q);
    if (v->page.failed)
        host_say(p->scene, "not enough memory for all of the answer");
    v->is_page = v->page.count > 0;
    list_fit(&v->rows, why_page_rows(v), 1);
    return v->is_page;
}

/* Asks about the same thing under the plan that is looked at. */
static int ask_again(struct panel *p, struct err *e)
{
    struct why *v = p->state;

    if (fill_page(p))
        return 0;
    if (v->dim == DIM_NONE)
        return err_set(e, ERR_INPUT, "nothing is decided about this row");
    return ask_why(p, v->dim, e);
}

static void ask_of(struct panel *p, struct why_of of)
{
    struct why *v = p->state;
    struct err e = {0};

    look_at(v, p->scene->watch, of);
    if (ask_again(p, &e))
        host_say_err(p->scene, &e);
}

static dim_id dim_of_move(const struct watch *w, int move)
{
    return move == MOVE_NONE || move >= w->move_count
               ? DIM_NONE
               : why_dim_of_class(w->problem, w->moves->pool[w->moves->items[move].classes]);
}

/* What the panel below speaks of; curves, lines of the log and lists of plans speak of the decision
 * a person last looked at. */
static dim_id subject(struct why *v, const struct panel *from, const struct watch *w)
{
    hlo_id id = from && from->ops->instruction_here ? from->ops->instruction_here(from) : HLO_NONE;
    dim_id d = id != HLO_NONE ? why_dim_of_instruction(&v->seen, id) : DIM_NONE;

    if (d == DIM_NONE && from && from->ops->move_here)
        d = dim_of_move(w, from->ops->move_here(from));
    bool elsewhere =
        d == DIM_NONE && (!from || !from->ops->move_here || from->ops->plan_here != NULL);
    v->elsewhere = elsewhere && v->question.kind == QUESTION_DIM;
    return elsewhere ? dim_of_move(w, w->cursor) : d;
}

static void close_why(struct panel *p)
{
    struct why *v = p->state;
    why_answer_release(&v->answer);
    live_plan_release(v->kept);
    live_plan_release(v->best);
    live_plan_release(v->exact);
    answer_release(&v->page);
    removal_job_free(v->removal);
    free(v->seen.on);
    free(v->seen.open);
}

/* The plan that the row below belongs to. */
static struct why_of plan_of(const struct why *v, const struct panel *from, const struct watch *w)
{
    if (v->question.relaxed || (from && from->ops->relaxed_here && from->ops->relaxed_here(from)))
        return why_of_now(w, (struct why_of){WHY_OF_RELAXED, NULL});
    if (v->question.pipeline)
        return why_of_now(w, (struct why_of){WHY_OF_PIPELINE, NULL});
    return why_of_plan(w, from && from->ops->plan_here ? from->ops->plan_here(from) : NULL);
}

static int open_why(struct panel *p, const void *arg, struct err *e)
{
    struct why *v = p->state;
    const struct panel *from = arg;
    const struct watch *w = p->scene->watch;

    if (!w)
        return err_set(e, ERR_INPUT, "no search is open");
    v->seen.problem = w->problem;
    v->seen.on = mem_try((size_t)w->problem->classes.count + 1, sizeof *v->seen.on);
    v->seen.open = mem_try((size_t)w->problem->classes.count + 1, sizeof *v->seen.open);
    if (!v->seen.on || !v->seen.open) {
        close_why(p);
        return err_set(e, ERR_MEMORY, "not enough memory to ask why");
    }
    if (from && from->ops->question_here)
        from->ops->question_here(from, &v->question);
    look_at(v, w, plan_of(v, from, w));
    v->dim = subject(v, from, w);
    int rc = v->question.kind == QUESTION_RESHARD
                 ? removal_job_new(v->question.relaxed, v->question.number, p->scene->now_ms > 0,
                                   &v->removal, e)
                 : 0;
    if (rc)
        goto out;
    if (v->removal)
        removal_job_look(v->removal, &v->removed);
    rc = ask_again(p, e);
out:
    if (rc)
        close_why(p);
    return rc;
}

/* An answer about the best plan or the optimum follows it; one about an episode stands, and says
 * when it no longer holds. */
static void read_why(struct panel *p)
{
    struct why *v = p->state;
    const struct watch *w = p->scene->watch;
    const class_id of[] = {v->answer.class, v->answer.other};

    if (!w)
        return;
    v->seen.moves = w->moves;
    struct why_of now = why_of_now(w, v->of);
    if (now.kind != v->of.kind || now.plan != v->of.plan ||
        (v->is_page && v->of.kind == WHY_OF_EPISODE))
        ask_of(p, now);
    if (!v->is_page && v->acts != w->shot->acts)
        begin_below(p);
    else if (!v->is_page && (v->best != w->best || v->exact != w->exact))
        fill_below(p);
    v->stale = false;
    for (int i = 0; !v->is_page && v->of.kind == WHY_OF_EPISODE && i < 2; i++) {
        if (of[i] != CLASS_NONE)
            v->stale |= w->on[of[i]] != v->seen.on[of[i]] || w->open[of[i]] != v->seen.open[of[i]];
    }
}

/* ---- drawing ---- */

/* "w on NAME", in at most `columns`. */
static void write_about(const char *before, const char *name, int columns, char *out, size_t room)
{
    char cut[256];

    text_cut_left(cut, sizeof cut, name, columns - utf8_text_columns(before));
    snprintf(out, room, "%s%s", before, cut);
}

/* What the title says was asked. */
static void write_asked(const struct panel *p, int columns, char *out, size_t room)
{
    const struct why *v = p->state;
    const struct question *q = &v->question;
    const struct watch *w = p->scene->watch;
    hlo_value value = value_of(v);
    char name[300];

    if (q->kind == QUESTION_RESHARD && is_of_its_own(q, v->of))
        snprintf(out, room, "w on reshard %u of %u", q->number + 1, q->relaxed->reshard_count);
    else if (q->kind == QUESTION_STAGE && is_of_its_own(q, v->of))
        snprintf(out, room, "w on stage %u", q->stage);
    else if (q->kind == QUESTION_PART)
        write_about("w on ", part_name(w, &q->part, name, sizeof name), columns, out, room);
    else if (q->kind == QUESTION_COLLECTIVE)
        write_about("w on the all-reduces of ", hlo_name(w->problem->m, q->instruction), columns,
                    out, room);
    else if (value != HLO_NONE)
        write_about(q->kind == QUESTION_MEMORY ? "w on the memory of " : "w on ",
                    why_value_name(w->problem, value), columns, out, room);
    else
        out[0] = 0;
}

/* Columns of a note beside that title and a rule that is still seen. */
static int note_columns(const struct pane *p, const char *title)
{
    return p->width - utf8_text_columns(title) - 6;
}

static void draw_paged(struct panel *p, const struct pane *pane)
{
    struct why *v = p->state;
    char note[300];

    if (v->removal && !v->removed.done) {
        removal_job_look(v->removal, &v->removed);
        if (v->removed.done)
            (void)fill_page(p);
    }
    write_asked(p, note_columns(pane, "Why"), note, sizeof note);
    pane_head(pane, 0, &(struct head){0, "Why", note, true});
    why_draw_of(p, pane, 1);
    int gap = pane->height >= 16;
    struct pane body = pane_part(pane, 0, 2 + gap, pane->width, pane->height - 2 - gap);
    why_draw_page(p, &body);
}

/* Parts stand apart, on a low screen unless that takes rows from what is below. */
static bool stands_apart(const struct why *v, const struct pane *pane, int rows)
{
    enum { OTHERS = 10 }; /* of the title, the answer and between parts */

    return pane->height >= 22 ||
           (pane->height >= 16 && OTHERS + rows + (int)v->page.count <= pane->height);
}

static void draw_why(struct panel *p, const struct pane *pane)
{
    struct why *v = p->state;
    const struct problem *q = v->seen.problem;

    if (v->is_page) {
        draw_paged(p, pane);
        return;
    }
    const char *title = v->answer.kind == WHY_NEVER      ? "Never split"
                        : v->answer.kind == WHY_EXCLUDED ? "Conflict"
                                                         : "Why";
    char note[300], dim[24];

    snprintf(dim, sizeof dim, " dim %u", why_dim_number(q, v->dim));
    int columns = note_columns(pane, title) - utf8_text_columns(dim);
    write_about(v->elsewhere ? "w on panel 2's row: " : "w on ", why_dim_name(q, v->dim), columns,
                note, sizeof note - sizeof dim);
    memcpy(note + strlen(note), dim, strlen(dim) + 1);
    pane_head(pane, 0, &(struct head){0, title, note, true});
    why_draw_of(p, pane, 1);
    int facts = why_fact_rows(v), rows = why_chain_rows(p, pane->width),
        gap = stands_apart(v, pane, rows + facts), y = 2 + gap;
    y = why_draw_answer(p, pane, y) + gap;
    int placed = why_draw_place(p, pane, y);
    y = placed > y ? placed + gap : y;
    int room = pane->height - y - facts - gap;
    rows = rows < room ? rows : room;
    struct pane body = pane_part(pane, 0, y, pane->width, rows > 0 ? rows : 0);
    if (rows > 1)
        why_draw_chains(p, &body);
    y += (rows > 0 ? rows : 0) + gap;
    if (facts)
        why_draw_facts(p, pane, y);
    work_below(p);
    if (y + facts + 3 > pane->height || !v->page.count)
        return;
    body = pane_part(pane, 0, y + facts, pane->width, pane->height - y - facts);
    why_draw_below(p, &body);
}

/* ---- acts ---- */

static int row_count(const struct why *v)
{
    return (int)(v->answer.side[0].count + v->answer.side[1].count);
}

static const struct why_step *step_here(const struct why *v)
{
    int row, side = why_side_of(v, &row);
    return !v->is_page && v->cursor < row_count(v) ? &v->answer.side[side].steps[row] : NULL;
}

static bool move_why(struct panel *p, enum list_move move)
{
    struct why *v = p->state;
    struct list l = {0};

    if (v->is_page) {
        int before = v->scroll;
        bool went = list_move(&v->rows, move);
        if (!went) /* no further row: the rest of the page */
            v->scroll += move == LIST_DOWN ? 1 : move == LIST_UP && before > 0 ? -1 : 0;
        return went || v->scroll != before;
    }

    list_fit(&l, row_count(v), p->height > 10 ? p->height - 10 : 1);
    l.cursor = v->cursor;
    int before = v->scroll;
    bool moved = list_move(&l, move);
    v->cursor = (int)l.cursor;
    if (!moved) /* no further step: the rest of what is below */
        v->scroll += move == LIST_DOWN ? 1 : move == LIST_UP && before > 0 ? -1 : 0;
    return moved || v->scroll != before;
}

static bool next_dim(struct panel *p)
{
    struct why *v = p->state;
    const struct classes *c = &v->seen.problem->classes;
    hlo_value value = c->dim_value[v->dim];
    dim_id d = v->dim + 1 < c->dim_base[value + 1] ? v->dim + 1 : c->dim_base[value];
    struct err e = {0};

    if (ask_why(p, d, &e))
        host_say_err(p->scene, &e);
    return true;
}

static bool keep_split(struct panel *p, int which)
{
    struct why *v = p->state;
    struct watch *w = p->scene->watch;
    int move = watch_move_of(w, which ? v->answer.other : v->answer.class);

    if (v->answer.kind != WHY_EXCLUDED || move == MOVE_NONE)
        return false;
    watch_send(w, "pin @%d=1", move);
    host_close(p->scene);
    return true;
}

static bool act_why(struct panel *p, int action)
{
    struct why *v = p->state;
    const struct why_step *s = step_here(v);
    int row;

    if (v->is_page && action == WHY_GO) {
        const struct answer_row *at = why_page_row(v);
        if (at && at->at != HLO_NONE)
            host_go_to(p->scene, at->at);
        return at && at->at != HLO_NONE;
    }
    if (action == WHY_GO) {
        hlo_id place =
            s ? v->seen.problem->m->value_instruction[v->seen.problem->classes.dim_value[s->dim]]
              : HLO_NONE;
        if (place != HLO_NONE)
            host_go_to(p->scene, place);
        return place != HLO_NONE;
    }
    if (v->is_page && action != WHY_NEXT && action != WHY_LAST)
        return false;
    if (action == WHY_NEXT || action == WHY_LAST) {
        ask_of(p, why_of_next(p->scene->watch, v->of, action == WHY_NEXT ? 1 : -1));
        return true;
    }
    if (action == WHY_DIM)
        return next_dim(p);
    if (action == WHY_SIDE) {
        if (v->answer.side[1].count)
            v->cursor = why_side_of(v, &row) ? 0 : (int)v->answer.side[0].count;
        return true;
    }
    return keep_split(p, action == WHY_KEEP_2);
}

static bool works_why(const struct panel *p, int action)
{
    const struct why *v = p->state;

    if (v->is_page)
        return action == WHY_GO || action == WHY_NEXT || action == WHY_LAST;
    if (action == WHY_SIDE)
        return v->answer.side[1].count > 0;
    if (action == WHY_KEEP_1 || action == WHY_KEEP_2)
        return v->answer.kind == WHY_EXCLUDED;
    return true;
}

static int move_here(const struct panel *p)
{
    const struct why *v = p->state;
    const struct watch *w = p->scene->watch;

    if (v->is_page && v->dim == DIM_NONE)
        return MOVE_NONE;
    return w ? watch_move_of(w, v->is_page ? w->problem->classes.class_of[v->dim] : v->answer.class)
             : MOVE_NONE;
}

static struct live_plan *plan_here(const struct panel *p)
{
    return ((const struct why *)p->state)->kept;
}

static const char *name_here(const struct panel *p)
{
    struct why *v = p->state;
    const struct why_step *s = step_here(v);

    if (!s)
        return NULL;
    snprintf(v->name, sizeof v->name, "%s:%u",
             why_file_name(v->seen.problem, v->seen.problem->classes.dim_value[s->dim]),
             why_dim_number(v->seen.problem, s->dim));
    return v->name;
}

static void message_why(const struct panel *p, char *out, size_t room)
{
    const struct why *v = p->state;
    const struct why_step *s = step_here(v);
    const struct answer_row *row = why_page_row(v);

    if (v->is_page && row && row->at != HLO_NONE) {
        const struct hlo_meta *meta = hlo_meta(v->seen.problem->m, row->at);
        snprintf(out, room, "%s%s", meta->op_name[0] ? "op_name  " : "", meta->op_name);
        return;
    }
    if (v->stale) {
        snprintf(out, room, "this episode is decided otherwise now; w goes round to it again");
        return;
    }
    if (!s)
        return;
    const struct hlo_module *m = v->seen.problem->m;
    hlo_id id = s->through != HLO_NONE
                    ? s->through
                    : m->value_instruction[v->seen.problem->classes.dim_value[s->dim]];
    const struct hlo_meta *meta = hlo_meta(m, id);
    if (meta->op_name[0])
        snprintf(out, room, "op_name  %s", meta->op_name);
    else
        snprintf(out, room, "%s  line %u of the file", hlo_name(m, id), hlo_at(m, id)->line);
}

static const struct relaxed_plan *relaxed_here(const struct panel *p)
{
    const struct why *v = p->state;
    return v->of.kind == WHY_OF_RELAXED ? why_of_relaxed(p->scene->watch) : NULL;
}

static bool is_live(const struct panel *p)
{
    const struct why *v = p->state;
    return (v->removal && !v->removed.done) || (!v->is_page && v->ways.done < v->ways.count);
}

const struct panel_ops view_why = {
    .name = "why",
    .title = "Why",
    .place = PLACE_FULL,
    .of_search = true,
    .keys = &why_keys,
    .hints = "down=step next-plan go side next-dim keep-1 pin copy=copy escape",
    .size = sizeof(struct why),
    .open = open_why,
    .close = close_why,
    .read = read_why,
    .draw = draw_why,
    .act = act_why,
    .move = move_why,
    .works = works_why,
    .move_here = move_here,
    .plan_here = plan_here,
    .relaxed_here = relaxed_here,
    .is_live = is_live,
    .name_here = name_here,
    .message = message_why,
};
