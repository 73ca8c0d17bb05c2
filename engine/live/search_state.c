#include "engine/live/search_state.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/kernels/kernel_targets.h"
#include "engine/live/checkpoint.h"
#include "engine/live/command.h"
#include "engine/live/journal.h"
#include "engine/live/ledger.h"
#include "engine/live/pins_and_undo.h"
#include "engine/live/problem_edits.h"
#include "engine/live/search_state_internal.h"
#include "engine/live/series.h"
#include "engine/live/snapshot.h"
#include "engine/live/watched.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/search/optimum.h"
#include "engine/search/search.h"
#include "engine/search/search_ops.h"
#include "engine/text/units.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"
#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static double monotonic_s(void *context)
{
    (void)context;
    return clock_seconds();
}

enum { STEPS_BETWEEN_MARKS = 16 }; /* looks at the clock */

/* ---- log and plans ---- */

uint64_t search_state_episodes(const struct search_state *c)
{
    return c->past_episodes + (c->search ? search_episodes(c->search) : 0);
}

void state_say(struct search_state *c, enum log_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void state_say(struct search_state *c, enum log_kind kind, const char *format, ...)
{
    struct log_line line = {.episode = search_state_episodes(c),
                            .updates = c->updates,
                            .kind = (uint8_t)kind,
                            .act = kind == LOG_PERSON ? c->act_number : 0};
    va_list args;

    va_start(args, format);
    vsnprintf(line.text, sizeof line.text, format, args);
    va_end(args);
    log_add(&c->log, &line);
}

struct live_plan *state_make_plan(const struct search_state *c, const label *on,
                                  const char *found_by)
{
    class_id count = c->problem->classes.count;
    struct live_plan *p = mem_alloc(sizeof *p + count * sizeof *on); /* no plan found is lost */

    atomic_init(&p->references, 1);
    p->count = count;
    memcpy(p->on, on, count * sizeof *on);
    p->score = game_score_of(search_game(c->search), on, &p->cost);
    p->fits = game_score_fits(search_game(c->search), p->score);
    snprintf(p->found_by, sizeof p->found_by, "%s", found_by);
    p->seconds = c->seconds;
    p->episode = search_state_episodes(c);
    return p;
}

static void say_optimum(struct search_state *c)
{
    const struct live_plan *x = c->exact;
    double limit = game_limit_bytes(c->problem, &c->options.game);
    char bytes[UNITS_ROOM], ms[UNITS_ROOM], cases[UNITS_ROOM];

    if (!x->fits)
        state_say(c, LOG_INFO, "exact: %s within %s",
                  x->proven ? "no plan fits" : "no plan found that fits",
                  units_bytes(bytes, limit));
    else
        state_say(c, LOG_INFO, "exact: %s of %s %s, %s %s", x->proven ? "optimum" : "best",
                  game_decides[c->options.game.kind], units_ms(ms, x->cost.step_ms),
                  units_count(cases, (int64_t)x->nodes), x->nodes == 1 ? "case" : "cases");
}

void state_renew_ledger(struct search_state *c)
{
    struct ledger *next = acts_ledger(c);

    ledger_release(c->ledger);
    c->ledger = next;
}

static void keep_optimum(struct search_state *c)
{
    live_plan_replace(&c->acts[c->act].optimum, live_plan_share(c->exact));
    state_renew_ledger(c);
}

/* Pins that clash have no optimum; any other failure is told. */
static void lose_proof(struct search_state *c, const struct err *e)
{
    if (e->code == ERR_INFEASIBLE)
        return;
    c->lost_proof = true;
    snprintf(c->trouble, sizeof c->trouble, "exact: %.140s", e->what);
    state_say(c, LOG_TROUBLE, "%s", c->trouble);
}

/* The proven optimum of what this search can reach, under the pins. */
void state_solve_exactly(struct search_state *c)
{
    struct optimum r;
    struct strict pinned;
    struct err e;
    const struct act *a = &c->acts[c->act];

    live_plan_replace(&c->exact, NULL);
    c->lost_proof = false;
    if (c->state != LIVE_FAILED)
        c->trouble[0] = 0;
    if (strict_new(&c->problem->labels, &pinned, &e)) {
        lose_proof(c, &e);
        return;
    }
    for (uint32_t n = 0; n < a->pin_count; n++)
        (void)strict_decide(&pinned, a->pins[n].pin.class, a->pins[n].pin.axis,
                            a->pins[n].pin.split, NULL);
    double start = c->clock_s(c->clock_context);
    int rc = optimum_find(c->problem, &search_game(c->search)->options, &pinned, c->problem->stop,
                          &r, &e);
    strict_release(&pinned);
    if (rc) {
        lose_proof(c, &e);
    } else {
        c->exact = state_make_plan(c, r.on, "exact");
        c->exact->proven = r.proven;
        c->is_cut |= stop_asked(c->problem->stop);
        c->exact->nodes = r.nodes;
        c->exact->seconds = c->clock_s(c->clock_context) - start;
        say_optimum(c);
        optimum_release(&r);
    }
    keep_optimum(c);
}

/* Data parallelism, to compare with. */
void state_split_batch(struct search_state *c)
{
    label over = 0;
    class_id k = plan_batch_class(c->problem, &over);
    struct strict s;
    struct err e;

    live_plan_replace(&c->batch, NULL);
    if (k == CLASS_NONE || strict_new(&c->problem->labels, &s, &e))
        return;
    for (uint32_t x = 0; x < c->problem->mesh.axes; x++) {
        if (over >> x & 1)
            (void)strict_decide(&s, k, x, true, NULL);
    }
    c->batch = state_make_plan(c, s.on, "batch split");
    strict_release(&s);
}

void state_find_baseline(struct search_state *c)
{
    const struct game *g = search_game(c->search);

    c->baseline_ms = game_pinned_ms(g);
}

/* The baseline is a plan that nobody had to find. */
static const char *found_by(const struct search_state *c, const struct search_best *b)
{
    return b->baseline ? LIVE_BASELINE : search_names[c->options.algorithm];
}

/* Scores are of the pins' baseline; plans of one score may differ in what a pin decides. */
static bool is_followed(const struct search_state *c, const struct search_best *b)
{
    return c->best && c->best->score == b->score && c->best->cost.step_ms == b->cost.step_ms &&
           !memcmp(c->best->on, b->on, c->best->count * sizeof *b->on);
}

void state_follow_best(struct search_state *c)
{
    const struct search_best *b = search_best(c->search);

    if (!isfinite(b->score))
        live_plan_replace(&c->best, NULL);
    else if (!is_followed(c, b))
        live_plan_replace(&c->best, state_make_plan(c, b->on, found_by(c, b)));
}

/* What the search has come to, to hold the next one against. */
static struct live_run run_so_far(const struct search_state *c)
{
    struct live_run r = {.began = c->past_episodes, .ended = search_state_episodes(c)};

    r.rl = c->options.rl_set ? c->options.rl : *search_preset(&c->options);
    if (c->best && c->best->episode >= r.began) {
        r.best_ms = c->best->cost.step_ms;
        r.best_episode = c->best->episode - r.began;
    }
    return r;
}

int state_renew_search(struct search_state *c, const struct search_options *o, struct err *e)
{
    struct search *next;
    int rc = search_new(c->problem, o, &next, e);

    if (rc)
        return rc;
    int8_t *last = mem_try(search_game(next)->move_count, 1);
    struct live_moves *moves = live_moves_new(search_game(next));
    if (!last || !moves) {
        search_free(next);
        free(last);
        live_moves_release(moves);
        return err_no_memory(e, "for the session");
    }
    memset(last, -1, search_game(next)->move_count);
    c->run_before = c->anew ? run_so_far(c) : (struct live_run){0};
    c->past_episodes = search_state_episodes(c);
    live_lesson_release(c->lesson);
    c->lesson = NULL;
    search_free(c->search);
    free(c->last);
    live_moves_release(c->moves);
    c->search = next;
    c->last = last;
    c->moves = moves;
    c->options = *search_options(next);
    live_plan_replace(&c->best, NULL);
    live_plan_replace(&c->stage_1, NULL);
    memset(c->stage, 0, sizeof c->stage);
    c->event = (struct search_event){.move = UINT32_MAX};
    state_follow_best(c); /* doing nothing */
    return 0;
}

/* ---- steps ---- */

bool search_state_wants_step(const struct search_state *c)
{
    return c->state == LIVE_RUNNING;
}

/* Figures of the two stages, apart. The best plan of a stage is remembered by its score. */
static void count_in_stage(struct search_state *c, double seconds)
{
    struct live_stage *s = &c->stage[c->event.fine_tuning];

    s->decisions += c->event.move != UINT32_MAX;
    s->seconds += seconds;
    if (!c->event.ended)
        return;
    s->episodes++;
    s->led += c->event.led;
    s->conflicts += c->event.conflict;
    if (c->event.improved) {
        s->improved++;
        s->score = c->event.score;
        s->step_ms = c->event.step_ms;
        s->seconds_to_best = c->seconds;
    }
}

/* What it was before, or how much more, where that is less than the figures show. */
static void say_best(struct search_state *c, double before)
{
    const char *over = c->best && !c->best->fits ? ", over the memory limit" : "";
    double now = search_best(c->search)->cost.step_ms;
    char ms[UNITS_ROOM], plain[UNITS_ROOM], was[UNITS_ROOM];

    units_ms(ms, now);
    units_plain_ms(plain, now);
    units_plain_ms(was, before);
    if (before <= 0)
        state_say(c, LOG_BEST, "best %s%s", ms, over);
    else if (strcmp(plain, was) != 0)
        state_say(c, LOG_BEST, "best %s, was %s%s", ms, was, over);
    else
        state_say(c, LOG_BEST, "best %s, was %s more%s", ms, units_plain_ms(was, before - now),
                  over);
}

static void end_episode(struct search_state *c)
{
    const struct game *g = search_game(c->search);
    double episode = (double)search_state_episodes(c);
    double before = c->best ? c->best->cost.step_ms : 0;

    for (uint32_t n = 0; n < g->move_count; n++)
        c->last[n] = (int8_t)game_status(g, n);
    series_add(&c->reward, episode, c->event.score);
    if (c->event.fine_tuning && !c->stage[1].episodes)
        state_say(c, LOG_INFO, "stage 2: decisions are set back in turn");
    if (c->event.improved) {
        state_follow_best(c);
        if (!c->event.fine_tuning)
            live_plan_replace(&c->stage_1, live_plan_share(c->best));
        say_best(c, before);
    }
    if (c->best)
        series_add(&c->best_ms, episode, c->best->score);
    struct rl_agent *agent = search_agent(c->search);
    if (agent)
        series_add(&c->epsilon_curve, episode, rl_agent_epsilon(agent));
}

static void keep_journal(struct search_state *c)
{
    const char *trouble;

    if (search_is_cut(c->search)) /* a resumed search does this step again, and whole */
        return;
    if (state_found_best(c))
        journal_best(c->journal, c->steps, c->best);
    else if (c->state != LIVE_RUNNING || c->steps % STEPS_BETWEEN_MARKS == 0)
        journal_mark(c->journal, c->steps, c->state != LIVE_RUNNING); /* at rest it is all there */
    if (c->steps % STEPS_BETWEEN_MARKS == 0)
        checkpoint_when_due(c, false);
    if (!c->journal_ended && (trouble = journal_trouble(c->journal))) {
        c->journal_ended = true;
        state_say(c, LOG_TROUBLE, "%s; the search goes on", trouble);
    }
}

/* Counts, curves, log and best plan follow c->event: the last step, which took `seconds`. */
static void note_step(struct search_state *c, double seconds)
{
    c->steps++;
    if (c->event.move != UINT32_MAX)
        series_add(&c->progress, (double)++c->decisions, game_progress(search_game(c->search)));
    if (c->event.updates > 0) {
        c->updates += (uint64_t)c->event.updates;
        c->loss = c->event.update.loss;
        series_add(&c->loss_curve, (double)c->updates, c->loss);
    }
    if (c->event.updates < 0) {
        c->state = LIVE_FAILED;
        snprintf(c->trouble, sizeof c->trouble, "the learner diverged: %s",
                 rl_error_text(c->event.updates));
        state_say(c, LOG_TROUBLE, "%s", c->trouble);
    }
    c->seconds += seconds;
    if (c->event.ended)
        end_episode(c);
    count_in_stage(c, seconds);
    if (c->left_decisions != UINT64_MAX && c->left_decisions && !--c->left_decisions)
        c->state = LIVE_PAUSED;
    if (c->event.ended && c->left_episodes != UINT64_MAX && c->left_episodes && !--c->left_episodes)
        c->state = LIVE_PAUSED;
    if (search_is_done(c->search) && c->state != LIVE_FAILED)
        c->state = LIVE_DONE;
    if (c->journal)
        keep_journal(c);
}

/* In slow motion, the last step before a rest, and where a screen asks for a picture: a lesson
 * changes nothing but the time a step takes. */
static bool is_watched(const struct search_state *c)
{
    return c->watched || c->pace > 0 || c->left_decisions == 1 || c->left_episodes == 1;
}

void search_state_step(struct search_state *c)
{
    double start = c->clock_s(c->clock_context);
    bool watched = is_watched(c);
    struct live_lesson *lesson = watched ? live_lesson_begin(c->search) : NULL;
    uint64_t episode = search_state_episodes(c) + 1;
    bool stepped = search_step(c->search, &c->event);

    lesson = live_lesson_end(lesson, c->search, &c->event, episode);
    if (lesson) {
        live_lesson_release(c->lesson);
        c->lesson = lesson;
    }
    if (stepped) {
        note_step(c, c->clock_s(c->clock_context) - start);
        return;
    }
    c->state = LIVE_DONE;
    if (search_lacks_memory(c->search)) {
        c->state = LIVE_FAILED;
        snprintf(c->trouble, sizeof c->trouble, "not enough memory for the next step");
        state_say(c, LOG_TROUBLE, "%s", c->trouble);
    }
}

/* ---- begin and end ---- */

/* What no rule describes is never silent: it may be most of the step. */
static void say_unknown_kernels(struct search_state *c)
{
    struct kernel_targets targets;
    struct str text = {0};

    kernel_targets(c->problem->m, &c->problem->costs, &targets);
    for (uint32_t k = 0; k < targets.count; k++) {
        if (!targets.list[k].unknown)
            continue;
        str_clear(&text);
        kernel_target_say(&targets.list[k], &text);
        state_say(c, LOG_TROUBLE, "%s", text.text ? text.text : "");
    }
    str_release(&text);
}

int search_state_new(const struct problem *p, const struct search_options *o,
                     struct search_state *out, struct err *e)
{
    struct search_state *c = out;

    *c = (struct search_state){
        .base = p, .problem = p, .origin = 'c', .clock_s = monotonic_s, .state = LIVE_READY};
    bool ok = series_new(&c->reward) && series_new(&c->best_ms) && series_new(&c->loss_curve) &&
              series_new(&c->epsilon_curve) && series_new(&c->progress) && log_new(&c->log) &&
              mem_grow(&c->acts, &c->act_room, 0, 1);
    int rc = ok ? state_renew_search(c, o, e) : err_no_memory(e, "for the session");
    if (rc) {
        search_state_release(c);
        return rc;
    }
    c->acts[0] = (struct act){.options = c->options,
                              .verb = COMMAND_VERB_COUNT,
                              .about = CLASS_NONE,
                              .next = ACT_NONE,
                              .text = "opened"};
    c->act_count = 1;
    state_find_baseline(c);
    char ms[UNITS_ROOM];
    state_say(c, LOG_INFO, "%u decisions, baseline %s, seed %llu",
              search_game(c->search)->move_count, units_ms(ms, c->baseline_ms),
              (unsigned long long)o->seed);
    say_unknown_kernels(c);
    state_solve_exactly(c);
    state_split_batch(c);
    return 0;
}

void search_state_release(struct search_state *c)
{
    search_free(c->search); /* reads the problem that an act holds */
    for (uint32_t n = 0; n < c->act_count; n++)
        act_release(&c->acts[n]);
    free(c->acts);
    free(c->wishes);
    free(c->last);
    live_moves_release(c->moves);
    live_plan_release(c->best);
    live_plan_release(c->exact);
    live_plan_release(c->stage_1);
    live_plan_release(c->batch);
    live_plan_release(c->before);
    ledger_release(c->ledger);
    live_lesson_release(c->lesson);
    series_release(&c->reward);
    series_release(&c->best_ms);
    series_release(&c->loss_curve);
    series_release(&c->epsilon_curve);
    series_release(&c->progress);
    log_release(&c->log);
    memset(c, 0, sizeof *c);
}

/* ---- commands ---- */

static int go_on_for(struct search_state *c, uint64_t decisions, uint64_t episodes)
{
    c->left_decisions = decisions;
    c->left_episodes = episodes;
    if (c->state != LIVE_DONE && c->state != LIVE_FAILED)
        c->state = decisions || episodes ? LIVE_RUNNING : LIVE_PAUSED;
    return 0;
}

static uint64_t count_of(const struct live_command *command)
{
    return command->number < 1 ? 1 : (uint64_t)command->number;
}

static int obey_command(struct search_state *c, const struct live_command *command, struct err *e)
{
    switch ((enum command_verb)command->verb) {
    case COMMAND_RUN:
        return go_on_for(c, UINT64_MAX, UINT64_MAX);
    case COMMAND_PAUSE:
    case COMMAND_QUIT:
        return go_on_for(c, 0, 0);
    case COMMAND_DECIDE:
        return go_on_for(c, count_of(command), UINT64_MAX);
    case COMMAND_EPISODE:
        return go_on_for(c, UINT64_MAX, count_of(command));
    case COMMAND_PACE:
        c->pace = command->number;
        return 0;
    case COMMAND_PIN:
    case COMMAND_UNPIN:
    case COMMAND_FORBID:
        return obey_pin(c, command, e);
    case COMMAND_BACKTRACK:
        return obey_backtrack(c, command, e);
    case COMMAND_FORCE: {
        struct search_event event;
        if (!search_force(c->search, command->number > 0, &event))
            return err_set(e, ERR_INPUT, "this decision is not open here");
        c->event = event;
        note_step(c, 0);
        return 0;
    }
    case COMMAND_UNDO:
        return obey_undo(c, -1, e);
    case COMMAND_REDO:
        return obey_undo(c, 1, e);
    case COMMAND_ROW:
        return obey_row(c, command, e);
    case COMMAND_SET:
        return obey_set(c, command, e);
    case COMMAND_AGAIN:
        return obey_again(c, command, e);
    case COMMAND_CLUSTER:
    case COMMAND_SERVERS:
    case COMMAND_MESH:
    case COMMAND_MICRO:
    case COMMAND_ZERO:
    case COMMAND_ROLE:
    case COMMAND_LOSS:
    case COMMAND_BATCH:
        return edits_apply(c, command, e);
    case COMMAND_VERB_COUNT:
        break;
    }
    return err_set(e, ERR_INPUT, "no such command");
}

/* A refused command is kept too: it may have set the search back to the start of an episode. */
int search_state_apply(struct search_state *c, const struct live_command *command, struct err *e)
{
    if (c->journal)
        journal_command(c->journal, c->origin, c->steps, command);
    return obey_command(c, command, e);
}

static bool is_same_best(const struct search_state *c, const struct journal_record *r)
{
    return c->best && !memcmp(&c->best->score, &r->score, sizeof r->score) &&
           !memcmp(&c->best->cost.step_ms, &r->ms, sizeof r->ms) &&
           journal_plan_hash(c->best) == r->plan;
}

/* Steps to where the record stands, past no best plan that the journal does not hold. */
static bool step_to(struct search_state *c, const struct journal_record *r)
{
    while (c->steps < r->step && search_state_wants_step(c)) {
        search_state_step(c);
        if (c->steps < r->step && state_found_best(c))
            return false;
    }
    return c->steps == r->step && (r->kind != 'b' || is_same_best(c, r));
}

int search_state_replay(struct search_state *c, const struct journal_log *log, size_t from,
                        struct err *e)
{
    for (size_t n = from; n < log->record_count; n++) {
        const struct journal_record *r = &log->records[n];
        struct live_command command;
        struct err refused;
        if (!step_to(c, r))
            return err_set(e, ERR_INPUT,
                           "the replay goes another way than the journal at step %llu",
                           (unsigned long long)r->step);
        if (!journal_is_command(r))
            continue;
        int rc = live_command_parse(log->text + r->command, &command, e);
        if (rc)
            return rc;
        (void)!obey_command(c, &command, &refused); /* refused then, refused now */
    }
    return 0;
}
