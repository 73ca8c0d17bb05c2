#include "engine/live/checkpoint.h"

#include "engine/cluster/cluster.h"
#include "engine/decide/classes.h"
#include "engine/decide/strict.h"
#include "engine/live/command.h"
#include "engine/live/journal.h"
#include "engine/live/pins_and_undo.h"
#include "engine/live/problem_edits.h"
#include "engine/live/search_state_internal.h"
#include "engine/live/series.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "rl/error.h"
#include "rl/save_agent.h"
#include "rl/serialize.h"
#include "rl/settings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    KIND_SEARCH_STATE = 3,
    FORMAT = 10,           /* with every change of a walk */
    BYTES_PER_S = 2000000, /* written on average, at most */
    BYTES_MOST = 1 << 30
};

/* ---- the walk: its order is the format ---- */

static bool is_text(const char *text, size_t room)
{
    size_t size = strnlen(text, room);

    for (size_t n = 0; n < size; n++) {
        if ((unsigned char)text[n] < ' ' || text[n] == 0x7f)
            return false;
    }
    return size < room;
}

static void serialize_text(struct rl_serializer *w, char *text, size_t room)
{
    rl_serialize_block(w, text, room);
    w->failed |= w->pass == RL_READ && !is_text(text, room);
}

/* What the bytes were made for and by. */
static void serialize_fit(struct rl_serializer *w, const struct search_state *c)
{
    const struct problem *p = c->base;
    uint64_t cluster = cluster_fingerprint(&p->cluster);
    const uint64_t mine[] = {
        FORMAT, p->model_fingerprint, cluster, p->classes.count, p->labels.count,
    };
    uint64_t there[sizeof mine / sizeof *mine];

    memcpy(there, mine, sizeof mine);
    RL_ONE(w, there);
    w->failed |= memcmp(there, mine, sizeof mine) != 0;
}

static void serialize_options(struct rl_serializer *w, struct search_options *o)
{
    search_options_serialize(w, o);
    w->failed |= w->pass == RL_READ && !search_options_are_sound(o);
}

/* Room for what is read next: `count` items. */
static void *room_for(struct rl_serializer *w, size_t count, size_t size)
{
    void *p = NULL;

    if (!w->failed && count <= (w->size - w->at) / size)
        p = mem_try(count, size);
    w->failed |= !p;
    return p;
}

static bool pins_are_sound(const struct search_state *c, const struct act *a)
{
    const struct problem *p = a->edited ? &a->edited->problem : c->base;

    if (!a->pins)
        return !a->pin_count; /* a count that there was no room for */
    for (uint32_t n = 0; n < a->pin_count; n++) {
        const struct pinned *one = &a->pins[n];
        if (one->pin.class >= p->classes.count || one->pin.axis >= p->mesh.axes ||
            one->wish >= c->wish_count)
            return false;
    }
    return true;
}

/* Edits as their commands; made again when read, once for acts in a row that share them. */
static void serialize_edits(struct rl_serializer *w, struct search_state *c, struct act *a)
{
    struct live_problem *before = a > c->acts ? a[-1].edited : NULL;
    uint32_t size = a->edited ? (uint32_t)strlen(a->edited->edits) : 0;
    char *lines = a->edited ? a->edited->edits : NULL;

    RL_ONE(w, size);
    if (w->pass == RL_READ)
        lines = size ? room_for(w, (size_t)size + 1, 1) : NULL;
    if (w->failed || !size)
        return;
    RL_MANY(w, lines, size);
    if (w->pass != RL_READ)
        return;
    a->edited =
        before && !strcmp(before->edits, lines) ? live_problem_share(before) : edits_redo(c, lines);
    w->failed |= !a->edited;
    free(lines);
}

static void serialize_plan(struct rl_serializer *w, const struct problem *p, struct live_plan **at)
{
    class_id count = p->classes.count;
    bool there = *at;

    rl_serialize_flag(w, &there);
    if (w->pass == RL_READ) {
        live_plan_replace(at, NULL);
        if (there && !w->failed && (*at = mem_try(1, sizeof **at + count * sizeof(label)))) {
            atomic_init(&(*at)->references, 1);
            (*at)->count = count;
        }
        w->failed |= there && !*at;
    }
    if (!there || w->failed)
        return;
    struct live_plan *plan = *at;
    serialize_text(w, plan->found_by, sizeof plan->found_by);
    step_cost_serialize(w, &plan->cost);
    RL_ONE(w, plan->score);
    RL_ONE(w, plan->episode);
    rl_serialize_flag(w, &plan->proven);
    rl_serialize_flag(w, &plan->fits);
    RL_ONE(w, plan->seconds);
    RL_ONE(w, plan->nodes);
    RL_MANY(w, plan->on, count);
    for (class_id k = 0; w->pass == RL_READ && k < count; k++)
        w->failed |= plan->on[k] >= p->labels.count;
}

static void serialize_pinned(struct rl_serializer *w, struct pinned *p)
{
    RL_ONE(w, p->pin.class);
    RL_ONE(w, p->pin.axis);
    rl_serialize_flag(w, &p->pin.split);
    RL_ONE(w, p->move);
    RL_ONE(w, p->act);
    RL_ONE(w, p->wish);
}

static void serialize_act(struct rl_serializer *w, struct search_state *c, struct act *a)
{
    serialize_edits(w, c, a);
    if (w->failed)
        return;
    RL_ONE(w, a->pin_count);
    if (w->pass == RL_READ)
        a->pins = room_for(w, a->pin_count, sizeof *a->pins);
    for (uint32_t n = 0; n < a->pin_count && !w->failed; n++)
        serialize_pinned(w, &a->pins[n]);
    serialize_options(w, &a->options);
    serialize_text(w, a->text, sizeof a->text);
    w->failed |= w->pass == RL_READ && !pins_are_sound(c, a);
    RL_ONE(w, a->verb);
    RL_ONE(w, a->about);
    RL_ONE(w, a->row);
    RL_ONE(w, a->from);
    RL_ONE(w, a->next);
    w->failed |= a->verb > COMMAND_VERB_COUNT;
    if (!w->failed) {
        const struct problem *p = a->edited ? &a->edited->problem : c->base;
        serialize_plan(w, p, &a->optimum);
        serialize_plan(w, p, &a->best);
    }
}

/* A tree: every act but the start is from an earlier one, and has a later number. */
static bool acts_are_sound(const struct search_state *c)
{
    for (uint32_t n = 0; n < c->act_count; n++) {
        const struct act *a = &c->acts[n];
        bool later = !n || (a->from < n && a->row > a[-1].row);
        if (!later || a->row > c->last_row || (!n && (a->from || a->row)) ||
            (a->next != ACT_NONE && (a->next <= n || a->next >= c->act_count)))
            return false;
    }
    return true;
}

static void serialize_acts(struct rl_serializer *w, struct search_state *c)
{
    uint32_t count = c->act_count;

    RL_ONE(w, c->wish_count);
    if (w->pass == RL_READ && (c->wishes = room_for(w, c->wish_count, sizeof *c->wishes)))
        c->wish_room = c->wish_count;
    for (uint32_t n = 0; n < c->wish_count && !w->failed; n++) {
        serialize_text(w, c->wishes[n].text, sizeof c->wishes->text);
        if (w->pass == RL_READ && !w->failed) /* a text that failed has no end */
            w->failed = !strchr(c->wishes[n].text, '=');
    }
    RL_ONE(w, c->act);
    RL_ONE(w, c->act_number);
    RL_ONE(w, c->last_row);
    RL_ONE(w, count);
    w->failed |= c->act >= count;
    if (w->pass == RL_READ && !w->failed) {
        while (c->act_count)
            act_release(&c->acts[--c->act_count]);
        free(c->acts);
        c->acts = room_for(w, count, sizeof *c->acts);
        c->act_room = c->acts ? count : 0;
    }
    for (uint32_t n = 0; n < count && !w->failed; n++) {
        if (w->pass == RL_READ) {
            c->acts[n] = (struct act){.options = c->options};
            c->act_count = n + 1;
        }
        serialize_act(w, c, &c->acts[n]);
    }
    w->failed |= w->pass == RL_READ && !w->failed && !acts_are_sound(c);
    if (w->pass == RL_READ && !w->failed)
        state_renew_ledger(c);
}

static void serialize_series(struct rl_serializer *w, struct series *s)
{
    RL_ONE(w, s->count);
    RL_ONE(w, s->stride);
    w->failed |= s->count > SERIES_POINTS || !s->stride;
    for (uint32_t n = 0; n < s->count && !w->failed; n++) {
        struct point *p = &s->block->points[n];
        RL_ONE(w, p->x);
        RL_ONE(w, p->mean);
        RL_ONE(w, p->low);
        RL_ONE(w, p->high);
        RL_ONE(w, p->merged);
        w->failed |= !p->merged;
    }
}

static void serialize_stage(struct rl_serializer *w, struct live_stage *s)
{
    RL_ONE(w, s->episodes);
    RL_ONE(w, s->decisions);
    RL_ONE(w, s->conflicts);
    RL_ONE(w, s->improved);
    RL_ONE(w, s->led);
    RL_ONE(w, s->seconds);
    RL_ONE(w, s->seconds_to_best);
    RL_ONE(w, s->score);
    RL_ONE(w, s->step_ms);
}

static void serialize_log(struct rl_serializer *w, struct live_log *l)
{
    RL_ONE(w, l->count);
    RL_ONE(w, l->dropped);
    w->failed |= l->count > LOG_LINES;
    for (uint32_t n = 0; n < l->count && !w->failed; n++) {
        struct log_line *line = &l->block->lines[n];
        RL_ONE(w, line->episode);
        RL_ONE(w, line->updates);
        RL_ONE(w, line->act);
        RL_ONE(w, line->kind);
        serialize_text(w, line->text, sizeof line->text);
        w->failed |= line->kind > LOG_TROUBLE;
    }
}

static void serialize_last(struct rl_serializer *w, struct search_state *c)
{
    uint32_t moves = search_game(c->search)->move_count;

    RL_MANY(w, c->last, moves);
    for (uint32_t n = 0; n < moves; n++)
        w->failed |= c->last[n] < -1 || c->last[n] > 1;
    RL_ONE(w, c->event.move);
    w->failed |= c->event.move >= moves && c->event.move != UINT32_MAX;
    rl_serialize_flag(w, &c->event.fine_tuning);
}

static void serialize_run(struct rl_serializer *w, struct live_run *r)
{
    RL_ONE(w, r->began);
    RL_ONE(w, r->ended);
    RL_ONE(w, r->best_ms);
    RL_ONE(w, r->best_episode);
    serialize_text(w, r->what, sizeof r->what);
    rl_settings_serialize(w, &r->rl);
    w->failed |= w->pass == RL_READ && r->ended && rl_settings_check(&r->rl, NULL) != 0;
}

static void serialize_counts(struct rl_serializer *w, struct search_state *c)
{
    uint8_t state = (uint8_t)c->state;

    RL_ONE(w, state);
    w->failed |= state >= LIVE_STATE_COUNT;
    if (!w->failed)
        c->state = (enum live_state)state;
    serialize_text(w, c->trouble, sizeof c->trouble);
    RL_ONE(w, c->pace);
    w->failed |= !(c->pace >= 0) || !isfinite(c->pace);
    RL_ONE(w, c->left_decisions);
    RL_ONE(w, c->left_episodes);
    RL_ONE(w, c->past_episodes);
    serialize_run(w, &c->run_before);
    RL_ONE(w, c->steps);
    RL_ONE(w, c->decisions);
    RL_ONE(w, c->updates);
    RL_ONE(w, c->loss);
    for (int n = 0; n < 2; n++)
        serialize_stage(w, &c->stage[n]);
    RL_ONE(w, c->seconds);
}

/* The search anew, under the options and pins that were in force. */
static void begin_search(struct rl_serializer *w, struct search_state *c)
{
    struct search_options o = *search_options(c->search), mine = c->options;
    const struct act *a = &c->acts[c->act];
    struct strict_clash clash;
    struct err e;

    serialize_options(w, &o);
    serialize_options(w, &mine);
    if (w->failed || w->pass != RL_READ)
        return;
    c->problem = a->edited ? &a->edited->problem : c->base;
    struct game_pin *pins = act_game_pins(a);
    w->failed |= !pins || state_renew_search(c, &o, &e) ||
                 search_set_pins(c->search, pins, a->pin_count, &clash, &e);
    free(pins);
    c->options = mine;
    state_find_baseline(c);
}

static void serialize_state(struct rl_serializer *w, struct search_state *c, uint64_t *place)
{
    serialize_fit(w, c);
    RL_ONE(w, *place);
    if (!w->failed)
        serialize_acts(w, c);
    if (!w->failed)
        begin_search(w, c);
    if (!w->failed && !search_serialize(c->search, w))
        w->failed = true;
    if (!w->failed)
        serialize_last(w, c);
    serialize_counts(w, c);
    serialize_plan(w, c->problem, &c->best);
    serialize_plan(w, c->problem, &c->exact);
    serialize_plan(w, c->problem, &c->batch);
    serialize_plan(w, c->problem, &c->stage_1);
    serialize_plan(w, c->problem, &c->before);
    serialize_series(w, &c->reward);
    serialize_series(w, &c->best_ms);
    serialize_series(w, &c->loss_curve);
    serialize_series(w, &c->epsilon_curve);
    serialize_series(w, &c->progress);
    serialize_log(w, &c->log);
}

int checkpoint_save(struct search_state *c, uint64_t place, struct rl_bytes *out, struct err *e)
{
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;

    serialize_state(&measure, c, &place);
    if (measure.failed || measure.at > BYTES_MOST)
        return err_set(e, ERR_INPUT, "no checkpoints of this search");
    if (rl_bytes_open(out, measure.at, &w))
        return err_no_memory(e, "for a checkpoint");
    serialize_state(&w, c, &place);
    rl_bytes_seal(out, KIND_SEARCH_STATE);
    return 0;
}

int checkpoint_load(struct search_state *c, const struct rl_bytes *bytes, uint64_t *place,
                    struct err *e)
{
    struct rl_serializer w;
    int rc = rl_bytes_check(bytes->data, bytes->size, KIND_SEARCH_STATE, &w);

    if (rc)
        return err_set(e, ERR_INPUT, "%s", rl_error_text(rc));
    serialize_state(&w, c, place);
    if (w.failed || w.at != w.size)
        return err_set(e, ERR_INPUT, "of another build or another problem");
    return 0;
}

/* ---- beside the journal ---- */

enum { PATH_ROOM = 4096 };

static int write_checkpoint(struct search_state *c, size_t *size, struct err *e)
{
    char path[PATH_ROOM];
    struct rl_bytes bytes;

    if (!checkpoint_path(path, sizeof path, journal_path(c->journal)))
        return err_set(e, ERR_IO, "no checkpoints: the journal's path is too long");
    int rc = checkpoint_save(c, journal_sum(c->journal), &bytes, e);
    if (rc)
        return rc;
    *size = bytes.size;
    struct err why;
    if (hlo_file_write(path, bytes.data, bytes.size, FILE_REPLACE | FILE_PRIVATE | FILE_QUICK,
                       &why))
        rc = err_set(e, ERR_IO, "no more checkpoints: %s", why.what);
    rl_bytes_release(&bytes);
    return rc;
}

void checkpoint_when_due(struct search_state *c, bool now)
{
    double at = clock_seconds();
    size_t size = 0;
    struct err e;

    if (c->is_cut || search_is_cut(c->search)) /* the journal leads to a better state */
        return;
    if (c->checkpoint_due_s <= 0)
        c->checkpoint_due_s = at + 1;
    if (c->checkpoints_ended || c->steps == c->checkpoint_step ||
        (!now && at < c->checkpoint_due_s))
        return;
    journal_mark(c->journal, c->steps, true); /* what it includes ends with this line */
    if (journal_trouble(c->journal))
        return;
    c->checkpoint_step = c->steps;
    int rc = write_checkpoint(c, &size, &e);
    c->checkpoint_due_s = at + 1 + (double)size / BYTES_PER_S;
    if (rc) {
        c->checkpoints_ended = true;
        if (rc != ERR_INPUT) {
            snprintf(c->checkpoint_trouble, sizeof c->checkpoint_trouble, "%.150s", e.what);
            state_say(c, LOG_TROUBLE, "%s", e.what);
        }
    }
}

int checkpoint_end_journal(struct search_state *c, struct err *e)
{
    int rc = 0;

    if (!c->journal)
        return 0;
    checkpoint_when_due(c, true);
    if (!search_is_cut(c->search)) /* else its last step is to be done again */
        journal_mark(c->journal, c->steps, true);
    const char *trouble = journal_trouble(c->journal);
    if (trouble || c->checkpoint_trouble[0]) {
        rc = err_set(e, ERR_IO, "%s", trouble ? trouble : c->checkpoint_trouble);
        err_in_file(e, journal_path(c->journal));
    }
    journal_close(c->journal);
    c->journal = NULL;
    return rc;
}

/* ---- resuming ---- */

/* The record behind the line with this checksum. False: there is none. */
static bool find_place(const struct journal_log *log, uint64_t place, size_t *next)
{
    for (size_t n = log->record_count; n--;) {
        if (log->records[n].sum == place) {
            *next = n + 1;
            return true;
        }
    }
    return false;
}

/* ERR_INPUT: the checkpoint does not serve, and `c` must be made anew. */
static int load_checkpoint(struct search_state *c, const struct rl_bytes *bytes,
                           const struct journal_log *log, struct err *e)
{
    uint64_t place = 0;
    size_t next = 0;
    int rc = checkpoint_load(c, bytes, &place, e);

    if (rc)
        return rc;
    if (!find_place(log, place, &next))
        return err_set(e, ERR_INPUT, "it is not of this journal, or of a part that is lost");
    return search_state_replay(c, log, next, e);
}

int checkpoint_resume(struct search_state *c, const char *journal, const struct journal_log *log,
                      char note[RESUME_NOTE_ROOM], struct err *e)
{
    const struct problem *p = c->base;
    struct search_options options = c->options;
    double (*clock_s)(void *) = c->clock_s;
    char path[PATH_ROOM];
    struct rl_bytes bytes = {0};

    note[0] = 0;
    if (!checkpoint_path(path, sizeof path, journal) || rl_bytes_read(&bytes, path))
        return search_state_replay(c, log, 0, e); /* there is none */
    int rc = load_checkpoint(c, &bytes, log, e);
    rl_bytes_release(&bytes);
    if (rc)
        goto out;
    return 0;
out:
    snprintf(note, RESUME_NOTE_ROOM, "the checkpoint is left aside: %.120s", e->what);
    search_state_release(c);
    rc = search_state_new(p, &options, c, e);
    if (rc)
        return rc;
    c->clock_s = clock_s;
    return search_state_replay(c, log, 0, e);
}
