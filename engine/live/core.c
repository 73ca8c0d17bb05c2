#include "engine/live/core.h"

#include "engine/plan/plan.h"
#include "engine/search/exact.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int no_memory(struct err *e)
{
    return err_set(e, ERR_MEMORY, "not enough memory for the session");
}

static double monotonic_s(void *context)
{
    struct timespec t;

    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- log and plans ---- */

static void say(struct core *c, enum log_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(struct core *c, enum log_kind kind, const char *format, ...)
{
    struct log_line line = {.episode = c->search ? search_episodes(c->search) : 0,
                            .kind = (uint8_t)kind,
                            .act = kind == LOG_PERSON ? c->act_number : 0};
    va_list args;

    va_start(args, format);
    vsnprintf(line.text, sizeof line.text, format, args);
    va_end(args);
    log_add(&c->log, &line);
}

static struct live_plan *make_plan(const struct core *c, const label *on, const char *found_by)
{
    class_id count = c->problem->classes.count;
    struct live_plan *p = calloc(1, sizeof *p + count * sizeof *on);

    if (!p)
        return NULL;
    atomic_init(&p->references, 1);
    p->count = count;
    memcpy(p->on, on, count * sizeof *on);
    p->score = game_score_of(search_game(c->search), on, &p->cost);
    snprintf(p->found_by, sizeof p->found_by, "%s", found_by);
    p->seconds = c->seconds;
    p->episode = search_episodes(c->search);
    return p;
}

static void replace_plan(struct live_plan **at, struct live_plan *with)
{
    live_plan_release(*at);
    *at = with;
}

/* The proven optimum of what this search can reach, under the pins. */
static void solve_exactly(struct core *c)
{
    const struct game *g = search_game(c->search);
    struct exact_options o = {
        .goal = g->options.reward == GAME_REWARD_PAPER ? EXACT_PAPER_REWARD : EXACT_STEP_TIME,
        .variables = g->options.kind != GAME_ADP,
        .inputs = g->options.kind != GAME_OPP,
        .partitioned = PAPER_REWARD_PARTITIONED,
        .replicated = PAPER_REWARD_REPLICATED,
    };
    struct exact_result r;
    struct strict pinned;
    struct err e;
    const struct act *a = &c->acts[c->act];

    replace_plan(&c->exact, NULL);
    if (strict_new(&c->problem->labels, &pinned, &e))
        return;
    for (uint32_t n = 0; n < a->pin_count; n++)
        (void)strict_decide(&pinned, a->pins[n].class, a->pins[n].axis, a->pins[n].split, NULL);
    double start = c->clock_s(c->clock_context);
    if (!exact_strict(&c->problem->terms, &pinned, &o, &r, &e)) {
        c->exact = make_plan(c, r.on, "exact");
        if (c->exact) {
            c->exact->proven = r.proven;
            c->exact->nodes = r.nodes;
            c->exact->seconds = c->clock_s(c->clock_context) - start;
            say(c, LOG_INFO, "exact: %s %.1f ms, %llu cases, %.1f ms", r.proven ? "optimum" : "best",
                c->exact->cost.step_ms, (unsigned long long)r.nodes, c->exact->seconds * 1e3);
        }
        exact_release(&r);
    }
    strict_release(&pinned);
}

/* Data parallelism, to compare with. */
static void split_batch(struct core *c)
{
    label over = 0;
    class_id k = plan_batch_class(c->problem, &over);
    struct strict s;
    struct err e;

    replace_plan(&c->batch, NULL);
    if (k == CLASS_NONE || strict_new(&c->problem->labels, &s, &e))
        return;
    for (uint32_t x = 0; x < c->problem->mesh.axes; x++) {
        if (over >> x & 1)
            (void)strict_decide(&s, k, x, true, NULL);
    }
    c->batch = make_plan(c, s.on, "batch split");
    strict_release(&s);
}

static void find_baseline(struct core *c)
{
    const struct game *g = search_game(c->search);

    c->baseline_ms = g->pinned_compute_ms + g->pinned_communication_ms;
}

/* ---- acts ---- */

static void act_release(struct act *a)
{
    free(a->pins);
    free(a->pin_moves);
    free(a->pin_acts);
}

/* Copies `from` with room for `more` pins. */
static bool act_copy(const struct act *from, uint32_t more, struct act *out)
{
    size_t room = (size_t)from->pin_count + more;

    *out = *from;
    out->pins = mem_try(room, sizeof *out->pins);
    out->pin_moves = mem_try(room, sizeof *out->pin_moves);
    out->pin_acts = mem_try(room, sizeof *out->pin_acts);
    if (!out->pins || !out->pin_moves || !out->pin_acts) {
        act_release(out);
        return false;
    }
    if (from->pin_count) {
        memcpy(out->pins, from->pins, from->pin_count * sizeof *out->pins);
        memcpy(out->pin_moves, from->pin_moves, from->pin_count * sizeof *out->pin_moves);
        memcpy(out->pin_acts, from->pin_acts, from->pin_count * sizeof *out->pin_acts);
    }
    return true;
}

static int renew_search(struct core *c, const struct search_options *o, struct err *e)
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
        return no_memory(e);
    }
    memset(last, -1, search_game(next)->move_count);
    search_free(c->search);
    free(c->last);
    live_moves_release(c->moves);
    c->search = next;
    c->last = last;
    c->moves = moves;
    c->options = *search_options(next);
    replace_plan(&c->best, NULL);
    c->event = (struct search_event){.move = UINT32_MAX};
    return 0;
}

static void follow_best(struct core *c);

/* Puts act `a` in force: its options (a new search where they ask for one) and its pins. */
static int enforce(struct core *c, const struct act *a, struct err *e)
{
    struct strict_clash clash;
    bool same = a->options.algorithm == c->options.algorithm && !memcmp(&a->options.game, &c->options.game, sizeof a->options.game) &&
                a->options.seed == c->options.seed;
    int rc = 0;

    if (!same)
        rc = renew_search(c, &a->options, e);
    else if (a->options.rl_set && memcmp(&a->options.rl, &c->options.rl, sizeof a->options.rl)) {
        if (!search_configure(c->search, &a->options.rl))
            return err_set(e, ERR_INPUT, "this setting is fixed while the learner lives, or out of range");
        c->options.rl = a->options.rl;
    }
    if (!rc)
        rc = search_set_pins(c->search, a->pins, a->pin_count, &clash, e);
    if (rc)
        return rc;
    find_baseline(c);
    follow_best(c);
    if (c->state == LIVE_DONE || c->state == LIVE_FAILED)
        c->state = LIVE_PAUSED;
    return 0;
}

/* Makes `next` the newest act (takes it over); what had been undone is gone. */
static int push_act(struct core *c, struct act *next, struct err *e)
{
    if (!mem_grow(&c->acts, &c->act_room, c->act_count, 1)) {
        act_release(next);
        return no_memory(e);
    }
    int rc = enforce(c, next, e);
    if (rc) {
        act_release(next);
        struct err ignored;
        if (enforce(c, &c->acts[c->act], &ignored))
            c->state = LIVE_FAILED;
        return rc;
    }
    while (c->act_count > c->act + 1)
        act_release(&c->acts[--c->act_count]);
    c->acts[c->act_count++] = *next;
    c->act++;
    c->act_number++;
    say(c, LOG_PERSON, "you %s", next->text);
    solve_exactly(c);
    return 0;
}

/* ---- commands ---- */

/* NAME:DIM as a move: settles names by a trial decision of plan_set on fresh state. */
static int find_move(const struct core *c, const char *text, uint32_t *move, struct err *e)
{
    const struct game *g = search_game(c->search);
    const struct problem *p = c->problem;
    const char *colon = strrchr(text, ':');
    int64_t dim;
    char *end = NULL;

    if (text[0] == '@') { /* a move by number, as screens name them */
        *move = (uint32_t)strtoul(text + 1, &end, 10);
        if (end != text + 1 && !*end && *move < g->move_count)
            return 0;
        return err_set(e, ERR_INPUT, "no decision %.40s", text);
    }
    if (!colon || !hlo_parse_int(colon + 1, strlen(colon + 1), &dim))
        return err_set(e, ERR_INPUT, "\"%.100s\", expected NAME:DIM", text);
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        const struct hlo_param_role *r = &p->roles.params[k];
        if (strlen(r->name) != (size_t)(colon - text) || strncmp(r->name, text, (size_t)(colon - text)) ||
            dim < 0 || dim >= hlo_value_shape(p->m, r->value)->rank)
            continue;
        class_id class = problem_param_class(p, k, (uint32_t)dim);
        for (uint32_t x = 0; class != CLASS_NONE && x < p->mesh.axes; x++) {
            *move = g->move_of[(size_t)class * p->mesh.axes + x];
            if (*move != UINT32_MAX)
                return 0;
        }
        return err_set(e, ERR_INFEASIBLE, "%.100s dim %lld can never be split", r->name, (long long)dim);
    }
    return err_set(e, ERR_INPUT, "no variable or input named \"%.*s\"", (int)(colon - text), text);
}

static void drop_pins_of(struct act *a, uint32_t move)
{
    uint32_t kept = 0;

    for (uint32_t n = 0; n < a->pin_count; n++) {
        if (a->pin_moves[n] == move)
            continue;
        a->pins[kept] = a->pins[n];
        a->pin_moves[kept] = a->pin_moves[n];
        a->pin_acts[kept++] = a->pin_acts[n];
    }
    a->pin_count = kept;
}

/* Pins a move (split 1, whole 0) or lets it go (-1). */
static int pin_move(struct core *c, uint32_t move, int split, const char *text, struct err *e)
{
    const struct game *g = search_game(c->search);
    const struct game_move *m = &g->moves[move];
    struct act next;

    if (!act_copy(&c->acts[c->act], m->class_count, &next))
        return no_memory(e);
    drop_pins_of(&next, move);
    for (uint32_t n = 0; split >= 0 && n < m->class_count; n++) {
        next.pins[next.pin_count] = (struct game_pin){g->pool[m->classes + n], (uint8_t)m->axis, split == 1};
        next.pin_moves[next.pin_count] = move;
        next.pin_acts[next.pin_count++] = c->act_number + 1;
    }
    snprintf(next.text, sizeof next.text, "%.95s", text);
    return push_act(c, &next, e);
}

static int apply_pin(struct core *c, const struct live_command *command, struct err *e)
{
    char text[COMMAND_TEXT_ROOM], said[COMMAND_TEXT_ROOM + 16];
    char *equals;
    uint32_t move = 0;
    int split = command->verb == COMMAND_UNPIN ? -1 : 0;

    snprintf(text, sizeof text, "%s", command->text);
    equals = strrchr(text, '=');
    if (command->verb == COMMAND_PIN) {
        if (!equals || (strcmp(equals, "=0") && strcmp(equals, "=1")))
            return err_set(e, ERR_INPUT, "pin %.100s, expected NAME:DIM=0 or NAME:DIM=1", text);
        split = equals[1] == '1';
        *equals = '\0';
    }
    int rc = find_move(c, text, &move, e);
    if (rc)
        return rc;
    snprintf(said, sizeof said, "%s %s", live_command_names[command->verb], command->text);
    return pin_move(c, move, split, said, e);
}

static int apply_backtrack(struct core *c, const struct live_command *command, struct err *e)
{
    uint32_t move = 0;
    int rc = find_move(c, command->text, &move, e);
    struct act next;

    if (rc)
        return rc;
    if (!act_copy(&c->acts[c->act], 0, &next))
        return no_memory(e);
    if (!mem_grow(&c->acts, &c->act_room, c->act_count, 1)) {
        act_release(&next);
        return no_memory(e);
    }
    snprintf(next.text, sizeof next.text, "backtrack %.80s", command->text);
    while (c->act_count > c->act + 1)
        act_release(&c->acts[--c->act_count]);
    c->acts[c->act_count++] = next;
    c->act++;
    c->act_number++;
    say(c, LOG_PERSON, "you %s", next.text);
    search_backtrack(c->search, move);
    if (c->state == LIVE_DONE)
        c->state = LIVE_PAUSED;
    return 0;
}

static int step_back(struct core *c, int by, struct err *e)
{
    if (by < 0 ? c->act == 0 : c->act + 1 == c->act_count)
        return err_set(e, ERR_INPUT, "nothing to %s", by < 0 ? "undo" : "redo");
    uint32_t to = c->act + (uint32_t)by;
    int rc = enforce(c, &c->acts[to], e);
    if (rc)
        return rc;
    c->act_number++;
    say(c, LOG_PERSON, "you %s %.80s", by < 0 ? "undo" : "redo", c->acts[by < 0 ? c->act : to].text);
    c->act = to;
    solve_exactly(c);
    return 0;
}

static bool set_word(const char *value, const char *const *words, int count, int *out)
{
    for (*out = 0; *out < count; ++*out) {
        if (!strcmp(value, words[*out]))
            return true;
    }
    return false;
}

/* One option by name. */
static int set_option(struct search_options *o, const char *name, const char *value, struct err *e)
{
    static const char *const kinds[] = {"opp", "adp", "all"}, *const rewards[] = {"cost", "paper"},
                            *const switches[] = {"off", "on"};
    int n;

    if (!strcmp(name, "algorithm") && set_word(value, search_names, SEARCH_ALGORITHM_COUNT, &n)) {
        o->algorithm = (enum search_algorithm)n;
        return 0;
    }
    if (!strcmp(name, "kind") && set_word(value, kinds, 3, &n)) {
        o->game.kind = (enum game_kind)n;
        o->rl_set = false;
        return 0;
    }
    if (!strcmp(name, "reward") && set_word(value, rewards, 2, &n)) {
        o->game.reward = (enum game_reward)n;
        o->rl_set = false;
        return 0;
    }
    if (!strcmp(name, "folding") && set_word(value, switches, 2, &n)) {
        o->game.no_folding = !n;
        return 0;
    }
    char *end;
    if (!strcmp(name, "seed")) {
        o->seed = strtoull(value, &end, 10);
        if (end != value && !*end)
            return 0;
    }
    if (rl_settings_set(&o->rl, name, value) == 0) {
        o->rl_set = true;
        return 0;
    }
    return err_set(e, ERR_INPUT, "set %.40s %.60s: no such option or value", name, value);
}

static int apply_set(struct core *c, const struct live_command *command, struct err *e)
{
    char name[64], value[128];
    struct act next;

    if (sscanf(command->text, "%63s %127s", name, value) != 2)
        return err_set(e, ERR_INPUT, "set %.60s, expected an option and its value", command->text);
    if (!act_copy(&c->acts[c->act], 0, &next))
        return no_memory(e);
    next.options = c->options;
    int rc = set_option(&next.options, name, value, e);
    if (rc) {
        act_release(&next);
        return rc;
    }
    /* Other moves: pins by move number would speak of something else. */
    if (next.options.game.kind != c->options.game.kind || next.options.game.no_folding != c->options.game.no_folding)
        next.pin_count = 0;
    snprintf(next.text, sizeof next.text, "set %s %.24s", name, value);
    return push_act(c, &next, e);
}

static int go(struct core *c, uint64_t decisions, uint64_t episodes)
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

int core_apply(struct core *c, const struct live_command *command, struct err *e)
{
    switch ((enum command_verb)command->verb) {
    case COMMAND_RUN:
        return go(c, UINT64_MAX, UINT64_MAX);
    case COMMAND_PAUSE:
    case COMMAND_QUIT:
        return go(c, 0, 0);
    case COMMAND_DECIDE:
        return go(c, count_of(command), UINT64_MAX);
    case COMMAND_EPISODE:
        return go(c, UINT64_MAX, count_of(command));
    case COMMAND_PACE:
        c->pace = command->number;
        return 0;
    case COMMAND_PIN:
    case COMMAND_UNPIN:
    case COMMAND_FORBID:
        return apply_pin(c, command, e);
    case COMMAND_BACKTRACK:
        return apply_backtrack(c, command, e);
    case COMMAND_FORCE: {
        struct search_event event;
        if (!search_force(c->search, command->number > 0, &event))
            return err_set(e, ERR_INPUT, "this decision is not open here");
        c->event = event;
        return 0;
    }
    case COMMAND_UNDO:
        return step_back(c, -1, e);
    case COMMAND_REDO:
        return step_back(c, 1, e);
    case COMMAND_SET:
        return apply_set(c, command, e);
    case COMMAND_VERB_COUNT:
        break;
    }
    return err_set(e, ERR_INPUT, "no such command");
}

/* ---- steps ---- */

bool core_wants_step(const struct core *c)
{
    return c->state == LIVE_RUNNING;
}

static void follow_best(struct core *c)
{
    const struct search_best *b = search_best(c->search);

    if (!isfinite(b->score))
        replace_plan(&c->best, NULL);
    else if (!c->best || c->best->score != b->score)
        replace_plan(&c->best, make_plan(c, b->on, search_names[c->options.algorithm]));
}

static void end_episode(struct core *c)
{
    const struct game *g = search_game(c->search);
    double episode = (double)search_episodes(c->search);
    double before = c->best ? c->best->cost.step_ms : 0;

    for (uint32_t n = 0; n < g->move_count; n++)
        c->last[n] = (int8_t)game_status(g, n);
    series_add(&c->reward, episode, c->event.score);
    if (c->event.improved) {
        follow_best(c);
        if (before > 0)
            say(c, LOG_BEST, "best %.1f ms, was %.1f", search_best(c->search)->cost.step_ms, before);
        else
            say(c, LOG_BEST, "best %.1f ms", search_best(c->search)->cost.step_ms);
    }
    if (c->best)
        series_add(&c->best_ms, episode, c->best->score);
    struct rl_agent *agent = search_agent(c->search);
    if (agent)
        series_add(&c->epsilon_curve, episode, rl_agent_epsilon(agent));
}

void core_step(struct core *c)
{
    double start = c->clock_s(c->clock_context);

    if (!search_step(c->search, &c->event)) {
        c->state = LIVE_DONE;
        return;
    }
    c->steps++;
    c->decisions += c->event.move != UINT32_MAX;
    if (c->event.updates > 0) {
        c->updates += (uint64_t)c->event.updates;
        c->loss = c->event.update.loss;
        series_add(&c->loss_curve, (double)c->updates, c->loss);
    }
    if (c->event.updates < 0) {
        c->state = LIVE_FAILED;
        snprintf(c->trouble, sizeof c->trouble, "the learner diverged: %s", rl_error_text(c->event.updates));
        say(c, LOG_TROUBLE, "%s", c->trouble);
    }
    if (c->event.ended)
        end_episode(c);
    if (c->left_decisions != UINT64_MAX && !--c->left_decisions)
        c->state = LIVE_PAUSED;
    if (c->event.ended && c->left_episodes != UINT64_MAX && !--c->left_episodes)
        c->state = LIVE_PAUSED;
    if (search_is_done(c->search) && c->state != LIVE_FAILED)
        c->state = LIVE_DONE;
    c->seconds += c->clock_s(c->clock_context) - start;
}

/* ---- begin and end ---- */

int core_new(const struct problem *p, const struct search_options *o, struct core *out, struct err *e)
{
    struct core *c = out;

    *c = (struct core){.problem = p, .clock_s = monotonic_s, .state = LIVE_READY};
    bool ok = series_new(&c->reward) && series_new(&c->best_ms) && series_new(&c->loss_curve) &&
              series_new(&c->epsilon_curve) && log_new(&c->log) && mem_grow(&c->acts, &c->act_room, 0, 1);
    int rc = ok ? renew_search(c, o, e) : no_memory(e);
    if (rc) {
        core_release(c);
        return rc;
    }
    c->acts[0] = (struct act){.options = c->options};
    c->act_count = 1;
    find_baseline(c);
    say(c, LOG_INFO, "%u decisions, baseline %.1f ms, seed %llu", search_game(c->search)->move_count,
        c->baseline_ms, (unsigned long long)o->seed);
    solve_exactly(c);
    split_batch(c);
    return 0;
}

void core_release(struct core *c)
{
    for (uint32_t n = 0; n < c->act_count; n++)
        act_release(&c->acts[n]);
    free(c->acts);
    search_free(c->search);
    free(c->last);
    live_moves_release(c->moves);
    live_plan_release(c->best);
    live_plan_release(c->exact);
    live_plan_release(c->batch);
    series_release(&c->reward);
    series_release(&c->best_ms);
    series_release(&c->loss_curve);
    series_release(&c->epsilon_curve);
    log_release(&c->log);
    memset(c, 0, sizeof *c);
}
