#include "engine/live/past.h"

#include "engine/live/checkpoint.h"
#include "engine/live/command.h"
#include "engine/live/journal.h"
#include "engine/live/search_state.h"
#include "engine/live/series.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/serialize.h"

#include <stdio.h>
#include <string.h>

enum { KEPT_MOST = 24, FIRST_INTERVAL = 256 };

/* A state, and the journal's record that comes next. */
struct player {
    struct search_state state;
    size_t next;
    bool is_there;
};

struct kept {
    struct rl_bytes bytes;
    uint64_t step;
    size_t next;
};

struct past {
    const struct problem *problem;
    struct search_options options;
    const struct journal_log *log;
    uint64_t last;
    struct player survey, here;
    struct kept kept[KEPT_MOST + 1];
    uint32_t kept_count;
    uint64_t interval;
    bool keeps; /* false: states of this algorithm cannot be saved */
    struct past_event *events;
    size_t event_count, event_room;
    uint64_t *episodes;
    size_t episode_count, episode_room;
};

static int begin_player(struct past *t, struct player *p, struct err *e)
{
    if (p->is_there)
        search_state_release(&p->state);
    p->is_there = false;
    p->next = 0;
    int rc = search_state_new(t->problem, &t->options, &p->state, e);
    p->is_there = rc == 0;
    return rc;
}

int past_new(const struct problem *p, const struct search_options *o, const struct journal_log *log,
             struct past **out, struct err *e)
{
    int rc = journal_fits(log, p, e);
    if (rc)
        return rc;
    struct past *t = mem_try(1, sizeof *t);
    if (!t)
        return err_no_memory(e, "for the past of a search");
    t->problem = p;
    t->options = *o;
    t->log = log;
    t->last = log->record_count ? log->records[log->record_count - 1].step : 0;
    t->interval = FIRST_INTERVAL;
    t->keeps = true;
    rc = begin_player(t, &t->survey, e);
    if (rc) {
        past_free(t);
        return rc;
    }
    *out = t;
    return 0;
}

void past_free(struct past *t)
{
    if (!t)
        return;
    if (t->survey.is_there)
        search_state_release(&t->survey.state);
    if (t->here.is_there)
        search_state_release(&t->here.state);
    for (uint32_t n = 0; n < t->kept_count; n++)
        rl_bytes_release(&t->kept[n].bytes);
    free(t->events);
    free(t->episodes);
    free(t);
}

/* ---- playing ---- */

static int add_event(struct past *t, enum log_kind kind, struct err *e)
{
    const struct search_state *c = &t->survey.state;

    if (!mem_grow(&t->events, &t->event_room, t->event_count, 1))
        return err_no_memory(e, "for the past of a search");
    struct past_event *v = &t->events[t->event_count++];
    *v = (struct past_event){.step = c->steps,
                             .episode = search_state_episodes(c),
                             .act = kind == LOG_PERSON ? c->act_number : 0,
                             .stage = kind == LOG_INFO,
                             .ms = c->best ? c->best->cost.step_ms : 0};
    for (uint32_t n = c->log.count; n-- > 0;) {
        const struct log_line *line = &c->log.block->lines[n];
        if (line->kind != kind)
            continue;
        memcpy(v->text, line->text, sizeof v->text);
        break;
    }
    return 0;
}

static int other_way(const struct player *p, struct err *e)
{
    return err_set(e, ERR_INPUT, "the replay goes another way than the journal at step %llu",
                   (unsigned long long)p->state.steps);
}

static bool is_same_best(const struct search_state *c, const struct journal_record *r)
{
    return c->best && !memcmp(&c->best->score, &r->score, sizeof r->score) &&
           !memcmp(&c->best->cost.step_ms, &r->ms, sizeof r->ms) &&
           journal_plan_hash(c->best) == r->plan;
}

/* The end of an episode, the first of stage 2, a new best plan. */
static int note_step(struct past *t, struct err *e)
{
    const struct search_state *c = &t->survey.state;

    if (!c->event.ended)
        return 0;
    if (search_state_episodes(c) > t->episode_count) {
        if (!mem_grow(&t->episodes, &t->episode_room, t->episode_count, 1))
            return err_no_memory(e, "for the past of a search");
        t->episodes[t->episode_count++] = c->steps;
    }
    int rc = c->event.fine_tuning && c->stage[1].episodes == 1 ? add_event(t, LOG_INFO, e) : 0;
    return !rc && c->event.improved && c->best ? add_event(t, LOG_BEST, e) : rc;
}

/* Carries out the journal's records of this step. */
static int take_records(struct past *t, struct player *p, struct err *e)
{
    while (p->next < t->log->record_count && t->log->records[p->next].step <= p->state.steps) {
        const struct journal_record *r = &t->log->records[p->next++];
        struct live_command command;
        struct err refused;
        if (r->kind == 'b' && !is_same_best(&p->state, r))
            return other_way(p, e);
        if (!journal_is_command(r))
            continue;
        int rc = live_command_parse(t->log->text + r->command, &command, e);
        if (rc)
            return rc;
        uint32_t acts = p->state.act_number;
        (void)!search_state_apply(&p->state, &command, &refused); /* refused then, refused now */
        if (p == &t->survey && p->state.act_number != acts)
            rc = add_event(t, LOG_PERSON, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* One step on, and what was done there. */
static int play_on(struct past *t, struct player *p, struct err *e)
{
    if (!search_state_wants_step(&p->state))
        return other_way(p, e);
    search_state_step(&p->state);
    int rc = p == &t->survey ? note_step(t, e) : 0;
    return rc ? rc : take_records(t, p, e);
}

/* ---- the survey ---- */

/* Every second of the states kept goes when there are too many. */
static void thin_out(struct past *t)
{
    uint32_t left = 0;

    for (uint32_t n = 0; n < t->kept_count; n++) {
        if (n % 2)
            t->kept[left++] = t->kept[n];
        else
            rl_bytes_release(&t->kept[n].bytes);
    }
    t->kept_count = left;
    t->interval *= 2;
}

static void keep_moment(struct past *t)
{
    struct search_state *c = &t->survey.state;
    struct kept k = {.step = c->steps, .next = t->survey.next};
    struct err e;

    if (!t->keeps || c->steps % t->interval)
        return;
    t->keeps = !checkpoint_save(c, k.next, &k.bytes, &e);
    if (!t->keeps)
        return;
    t->kept[t->kept_count++] = k;
    if (t->kept_count > KEPT_MOST)
        thin_out(t);
}

int past_survey(struct past *t, uint64_t steps, bool *done, struct err *e)
{
    struct player *p = &t->survey;
    int rc = 0;

    if (!p->next) /* what was done before the first step */
        rc = take_records(t, p, e);
    if (rc)
        return rc;
    for (uint64_t n = 0; n < steps && p->state.steps < t->last; n++) {
        rc = play_on(t, p, e);
        if (rc)
            return rc;
        keep_moment(t);
    }
    *done = p->state.steps >= t->last;
    return 0;
}

const struct past_event *past_events(const struct past *t, size_t *count)
{
    *count = t->event_count;
    return t->events;
}

const uint64_t *past_episodes(const struct past *t, size_t *count)
{
    *count = t->episode_count;
    return t->episodes;
}

uint64_t past_last_step(const struct past *t)
{
    return t->last;
}

/* ---- a point ---- */

/* Puts the player at the last state kept at or before `step`, where that is nearer than it is. */
static int jump(struct past *t, uint64_t step, struct err *e)
{
    const struct kept *from = NULL;
    struct player *p = &t->here;
    bool behind = !p->is_there || p->state.steps > step;
    uint64_t place;

    for (uint32_t n = 0; n < t->kept_count && t->kept[n].step <= step; n++)
        from = &t->kept[n];
    if (!behind && (!from || from->step <= p->state.steps))
        return 0;
    int rc = begin_player(t, p, e);
    if (rc || !from)
        return rc ? rc : take_records(t, p, e);
    rc = checkpoint_load(&p->state, &from->bytes, &place, e);
    p->next = from->next;
    return rc;
}

int past_go(struct past *t, uint64_t step, uint64_t most, struct search_state **out, struct err *e)
{
    step = step < t->last ? step : t->last;
    int rc = jump(t, step, e);

    *out = NULL;
    if (rc)
        goto out;
    for (; t->here.state.steps < step && most; most--) {
        rc = play_on(t, &t->here, e);
        if (rc)
            goto out;
    }
    if (t->here.state.steps >= step)
        *out = &t->here.state;
out:
    if (rc && t->here.is_there) { /* what is incomplete serves nobody */
        search_state_release(&t->here.state);
        t->here.is_there = false;
    }
    return rc;
}
