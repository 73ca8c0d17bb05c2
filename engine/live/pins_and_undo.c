#include "engine/live/pins_and_undo.h"

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/live/best_known.h"
#include "engine/live/clash.h"
#include "engine/live/command.h"
#include "engine/live/journal.h"
#include "engine/live/ledger.h"
#include "engine/live/options.h"
#include "engine/live/problem_edits.h"
#include "engine/live/search_state.h"
#include "engine/live/search_state_internal.h"
#include "engine/live/series.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/problem/setting.h"
#include "engine/search/dqn_replay.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/replay.h"
#include "rl/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ACTS_MOST = 1024, WISHES_BEFORE_COMPACTION = 1024 };

static const char MEMORY_FOR[] = "for the session";

void act_release(struct act *a)
{
    free(a->pins);
    live_problem_release(a->edited);
    live_plan_release(a->optimum);
    live_plan_release(a->best);
}

bool act_copy(const struct act *from, struct act *out)
{
    *out = *from;
    out->optimum = out->best = NULL;
    out->next = ACT_NONE;
    out->about = CLASS_NONE;
    live_problem_share(out->edited);
    out->pins = mem_try(from->pin_count, sizeof *out->pins);
    if (!out->pins) {
        act_release(out);
        return false;
    }
    if (from->pin_count)
        memcpy(out->pins, from->pins, from->pin_count * sizeof *out->pins);
    return true;
}

struct game_pin *act_game_pins(const struct act *a)
{
    struct game_pin *pins = mem_try(a->pin_count, sizeof *pins);

    for (uint32_t n = 0; pins && n < a->pin_count; n++)
        pins[n] = a->pins[n].pin;
    return pins;
}

static const struct rl_settings *settings_of(const struct search_options *o)
{
    return o->rl_set ? &o->rl : search_preset(o);
}

/* ---- what becomes of the replay ---- */

struct replay_before {
    uint32_t decisions, times; /* held; played again so far */
    const char *dropped;       /* why its learner went, or NULL */
    bool relearned;            /* settings of the learner changed */
};

static struct replay_before look_at_replay(struct search_state *c)
{
    struct rl_agent *agent = search_agent(c->search);

    return (struct replay_before){.decisions = agent ? rl_agent_replay(agent)->count : 0,
                                  .times = search_kept(c->search).times};
}

/* Says on the screen and in the journal what became of the replay, and why. */
static void say_replay(struct search_state *c, const struct replay_before *b)
{
    struct dqn_replay_note now = search_kept(c->search);
    char was[UNITS_ROOM], is[UNITS_ROOM], words[LOG_TEXT_ROOM];

    if (!b->decisions)
        return;
    units_count(was, b->decisions);
    if (b->dropped)
        snprintf(words, sizeof words, "replay dropped: %s decisions of %s", was, b->dropped);
    else if (now.times != b->times)
        snprintf(words, sizeof words, "replay rewritten: %s of %s decisions, under the new pins",
                 units_count(is, now.after), was);
    else if (b->relearned)
        snprintf(words, sizeof words, "replay kept: %s decisions, read by the new settings", was);
    else
        snprintf(words, sizeof words, "replay kept: %s decisions, pins and settings are the same",
                 was);
    state_say(c, LOG_INFO, "%s", words);
    if (c->journal)
        journal_words(c->journal, c->steps, words);
}

/* ---- acts in force ---- */

/* The search that act `a` asks for: a new one for another problem, game, algorithm or seed. */
static int enforce_search(struct search_state *c, const struct act *a, struct replay_before *replay,
                          struct err *e)
{
    const struct problem *before = c->problem, *wanted = a->edited ? &a->edited->problem : c->base;
    int rc = 0;

    if (wanted != before || c->anew || !live_options_go_on(&c->options, &a->options)) {
        struct live_plan *kept = live_plan_share(c->best ? c->best : c->before);
        replay->dropped = wanted != before ? "the problem before" : "another search";
        c->problem = wanted;
        rc = state_renew_search(c, &a->options, e);
        if (rc)
            c->problem = before;
        else if (wanted != before)
            edits_carry_plan(c, before, kept);
        if (!rc) /* whether it fits is the new options' */
            state_split_batch(c);
        live_plan_release(kept);
    } else {
        const struct rl_settings *rl = settings_of(&a->options);
        bool same = !memcmp(rl, settings_of(&c->options), sizeof *rl);
        if (!same && !search_configure(c->search, rl))
            return err_set(e, ERR_INPUT,
                           "this setting is fixed while the learner lives, or out of range");
        c->options.rl = a->options.rl;
        c->options.rl_set = a->options.rl_set;
        replay->relearned = !same;
    }
    return rc;
}

/* Puts act `a` in force: its problem and options (a new search where they ask for one), its pins.
 */
static int enforce(struct search_state *c, struct act *a, struct replay_before *replay,
                   struct err *e)
{
    struct strict_clash clash;

    *replay = look_at_replay(c);
    int rc = enforce_search(c, a, replay, e);

    if (rc)
        return rc;
    struct game_pin *pins = act_game_pins(a);
    rc = pins ? search_set_pins(c->search, pins, a->pin_count, &clash, e)
              : err_no_memory(e, MEMORY_FOR);
    free(pins);
    if (rc)
        return rc;
    const struct game *g = search_game(c->search);
    for (uint32_t n = 0; n < a->pin_count; n++) { /* another game has other moves */
        struct pinned *p = &a->pins[n];
        p->move = g->move_of[(size_t)p->pin.class * c->problem->mesh.axes + p->pin.axis];
    }
    state_find_baseline(c);
    state_follow_best(c);
    if (c->state == LIVE_DONE || c->state == LIVE_FAILED)
        c->state = LIVE_PAUSED;
    return 0;
}

/* Takes act `k` out of the tree: what was made from it now starts from where it started. */
static void forget_act(struct search_state *c, uint32_t k)
{
    uint32_t to = c->acts[k].from;

    act_release(&c->acts[k]);
    memmove(c->acts + k, c->acts + k + 1, (--c->act_count - k) * sizeof *c->acts);
    for (uint32_t n = 0; n < c->act_count; n++) {
        struct act *a = &c->acts[n];
        a->from = a->from == k ? to : a->from;
        a->from -= a->from > k;
        if (a->next == k)
            a->next = ACT_NONE;
        else if (a->next != ACT_NONE)
            a->next -= a->next > k;
    }
    c->act -= c->act > k;
}

/* Makes an act from the one in force; the oldest that is not is forgotten when there are too many.
 */
static void append_act(struct search_state *c, const struct act *next)
{
    if (c->act_count == ACTS_MOST)
        forget_act(c, c->act == 1 ? 2 : 1);
    struct act *made = &c->acts[c->act_count++];
    *made = *next;
    made->row = ++c->last_row;
    made->from = c->act;
    made->next = ACT_NONE;
    c->acts[c->act].next = c->act_count - 1;
    c->act = c->act_count - 1;
    c->act_number++;
    state_say(c, LOG_PERSON, "you %s", next->text);
}

int act_push(struct search_state *c, struct act *next, struct err *e)
{
    if (!mem_grow(&c->acts, &c->act_room, c->act_count, 1)) {
        act_release(next);
        return err_no_memory(e, MEMORY_FOR);
    }
    struct replay_before replay, again;
    struct live_run run_before = c->run_before;
    best_keep(c);
    int rc = enforce(c, next, &replay, e);
    if (rc) {
        struct err ignored;
        c->anew = false; /* back to the search there was, not to another like it */
        if (enforce(c, &c->acts[c->act], &again, &ignored))
            c->state = LIVE_FAILED;
        else
            best_recall(c, c->act);
        c->run_before = run_before;
        act_release(next); /* the search has left its problem by now */
        return rc;
    }
    append_act(c, next);
    say_replay(c, &replay);
    state_solve_exactly(c);
    return 0;
}

/* ---- the ledger ---- */

static void fill_row(const struct search_state *c, const struct act *a, struct ledger_row *row)
{
    struct err e;

    row->number = a->row;
    row->from = c->acts[a->from].row;
    row->verb = a->verb;
    row->about = a->about;
    memcpy(row->text, a->text, sizeof row->text);
    row->pins = a->pin_count;
    row->decides = (uint8_t)a->options.game.kind;
    row->edited = live_problem_share(a->edited);
    row->problem = a->edited ? &a->edited->problem : c->base;
    if (a->optimum && !ledger_figures_of(row->problem, a->optimum->on, &row->figures, &e))
        row->optimum = live_plan_share(a->optimum);
}

/* A row as before, of what the ledger that is no longer true has worked out. */
static void copy_row(const struct ledger_row *from, struct ledger_row *row)
{
    *row = *from;
    live_problem_share(row->edited);
    live_plan_share(row->optimum);
}

struct ledger *acts_ledger(const struct search_state *c)
{
    struct ledger *l = mem_try(1, sizeof *l + c->act_count * sizeof *l->rows);

    if (!l)
        return NULL;
    atomic_init(&l->references, 1);
    for (uint32_t n = 0; n < c->act_count; n++) {
        const struct act *a = &c->acts[n];
        const struct ledger_row *known = c->ledger ? ledger_find(c->ledger, a->row) : NULL;
        struct ledger_row *row = &l->rows[l->count++];
        if (known && known->optimum == a->optimum)
            copy_row(known, row);
        else
            fill_row(c, a, row);
        row->from = c->acts[a->from].row;
    }
    l->now = c->act;
    return l;
}

/* ---- pins ---- */

/* One more pin of an act. False: out of memory. */
static bool add_pin(const struct search_state *c, struct act *a, const struct game_pin *pin,
                    uint32_t move)
{
    size_t room = a->pin_count;

    if (!mem_grow(&a->pins, &room, a->pin_count, 1))
        return false;
    a->pins[a->pin_count++] = (struct pinned){*pin, move, c->act_number + 1, c->wish_count - 1};
    return true;
}

static void remove_pin(struct act *a, uint32_t n)
{
    memmove(a->pins + n, a->pins + n + 1, (--a->pin_count - n) * sizeof *a->pins);
}

static void drop_pin_of(struct act *a, class_id k, uint32_t axis)
{
    for (uint32_t n = a->pin_count; n--;) {
        if (a->pins[n].pin.class == k && a->pins[n].pin.axis == axis)
            remove_pin(a, n);
    }
}

static size_t name_size(const char *setting)
{
    return (size_t)(strrchr(setting, '=') - setting);
}

/* A wish put in the same words replaces the earlier one; in other words it must agree with it. */
static void drop_same_wish(const struct search_state *c, struct act *a, const char *setting)
{
    size_t size = name_size(setting);

    for (uint32_t n = a->pin_count; n--;) {
        const char *text = c->wishes[a->pins[n].wish].text;
        if (name_size(text) == size && !strncmp(text, setting, size))
            remove_pin(a, n);
    }
}

/* Pins class `k` along `axis` (split 1, whole 0) or lets it go (-1), and with it the copies that
 * share its decision. */
static int pin_class(struct search_state *c, struct act *a, const struct game_pin *pin, bool drop,
                     struct err *e)
{
    const struct game *g = search_game(c->search);
    uint32_t move = g->move_of[(size_t)pin->class * c->problem->mesh.axes + pin->axis];
    uint32_t count = move == UINT32_MAX ? 1 : g->moves[move].class_count;

    a->about = pin->class;
    for (uint32_t n = 0; n < count; n++) {
        struct game_pin one = *pin;
        if (move != UINT32_MAX)
            one.class = g->pool[g->moves[move].classes + n];
        if (drop)
            drop_pin_of(a, one.class, one.axis);
        else if (!add_pin(c, a, &one, move))
            return err_no_memory(e, MEMORY_FOR);
    }
    return 0;
}

/* A dim that can never be split needs no pin to stay whole, and takes none to be split. */
static int pin_dim(struct search_state *c, struct act *a, uint32_t param,
                   const struct problem_setting *s, bool drop, struct err *e)
{
    const struct problem *p = c->problem;
    const struct hlo_param_role *r = &p->roles.params[param];
    class_id k = problem_param_class(p, param, s->dim);
    int rc = 0;

    if (k == CLASS_NONE || !label_is_splittable(&p->labels, k)) {
        const struct class_info *info = k == CLASS_NONE ? NULL : &p->classes.info[k];
        if (!s->over || drop)
            return 0;
        if (info && info->reason != CLASS_ALLOWED)
            return err_set(e, ERR_INFEASIBLE, "%.100s dim %u can never be split: it %s %.100s",
                           r->name, s->dim, class_reason_text[info->reason],
                           hlo_name(p->m, info->place));
        return err_set(e, ERR_INFEASIBLE,
                       "%.100s dim %u can never be split: its smallest part has size %lld", r->name,
                       s->dim, (long long)(info ? info->least / label_cuts(&p->labels, k) : 0));
    }
    for (uint32_t x = 0; x < p->mesh.axes; x++) {
        bool split = s->over >> x & 1;
        if (split || !s->over || drop)
            rc = pin_class(c, a, &(struct game_pin){k, (uint8_t)x, split}, drop, e);
        if (rc)
            return rc;
    }
    return rc;
}

/* Past the digits of a decision's number, as in @12=1; NULL: there is no such decision. */
static const char *move_number(const char *text, const struct game *g, uint32_t *move)
{
    uint64_t value = 0;
    const char *at = text;

    for (; *at >= '0' && *at <= '9' && value < g->move_count; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    *move = (uint32_t)value;
    return at > text && value < g->move_count ? at : NULL;
}

static int pin_setting(struct search_state *c, struct act *a, const char *setting, bool drop,
                       struct err *e)
{
    const struct problem *p = c->problem;
    const struct game *g = search_game(c->search);
    struct problem_setting s;
    uint32_t matches = 0, move = 0;
    int rc;

    if (setting[0] == '@') { /* a move by number, as screens name them */
        const char *end = move_number(setting + 1, g, &move);
        if (!end || (strcmp(end, "=0") && strcmp(end, "=1")))
            return err_set(e, ERR_INPUT, "no decision %.40s", setting);
        struct game_pin pin = {g->pool[g->moves[move].classes], (uint8_t)g->moves[move].axis,
                               end[1] == '1'};
        return pin_class(c, a, &pin, drop, e);
    }
    rc = setting_parse(p, setting, &s, e);
    if (rc)
        return rc;
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        if (!setting_matches(p, &s, k))
            continue;
        rc = pin_dim(c, a, k, &s, drop, e);
        if (rc)
            return rc;
        matches++;
    }
    if (!matches)
        rc = err_set(e, ERR_INPUT, "no parameter matches \"%.*s\" with a dim %u", (int)s.size,
                     setting, s.dim);
    return rc;
}

/* Says which wishes clash. */
static int explain_clash(struct search_state *c, const struct act *a, struct err *e)
{
    uint32_t *wish = mem_try(a->pin_count, sizeof *wish), wishes = 0;
    uint8_t *keep = mem_try(a->pin_count, 1);
    struct str said = {0};

    if (!wish || !keep) {
        free(wish);
        free(keep);
        return err_no_memory(e, MEMORY_FOR);
    }
    for (uint32_t n = 0; n < a->pin_count; n++) {
        wishes += !n || a->pins[n].wish != a->pins[n - 1].wish;
        wish[n] = wishes - 1;
    }
    int rc = pins_clash(&c->problem->labels, a->pins, wish, a->pin_count, wishes, keep, e);
    if (rc)
        goto out;
    for (uint32_t n = 0; n < a->pin_count; n++) {
        bool again = n && wish[n] == wish[n - 1];
        if (keep[wish[n]] && !again && said.size < 300)
            str_format(&said, "%s%s", said.size ? ", " : "", c->wishes[a->pins[n].wish].text);
    }
    rc = err_set(e, ERR_INFEASIBLE, "these pins cannot hold together: %.400s",
                 said.text ? said.text : "");
out:
    str_release(&said);
    free(wish);
    free(keep);
    return rc;
}

/* Forgets wishes that no act holds any more. */
static void compact_wishes(struct search_state *c)
{
    uint32_t *to = mem_try(c->wish_count, sizeof *to), kept = 0;

    if (!to)
        return;
    for (uint32_t n = 0; n < c->act_count; n++) {
        for (uint32_t k = 0; k < c->acts[n].pin_count; k++)
            to[c->acts[n].pins[k].wish] = 1;
    }
    for (uint32_t n = 0; n < c->wish_count; n++) {
        if (!to[n])
            continue;
        to[n] = kept;
        c->wishes[kept++] = c->wishes[n];
    }
    for (uint32_t n = 0; n < c->act_count; n++) {
        for (uint32_t k = 0; k < c->acts[n].pin_count; k++)
            c->acts[n].pins[k].wish = to[c->acts[n].pins[k].wish];
    }
    c->wish_count = kept;
    free(to);
}

int obey_pin(struct search_state *c, const struct live_command *command, struct err *e)
{
    char text[COMMAND_TEXT_ROOM + 2];
    bool drop = command->verb == COMMAND_UNPIN;
    struct act next;

    snprintf(text, sizeof text, "%s%s", command->text, command->verb == COMMAND_PIN ? "" : "=0");
    if (!strchr(text, '='))
        return err_set(e, ERR_INPUT, "pin %.100s, expected NAME:DIM=0 or NAME:DIM=1", text);
    if (c->wish_count == c->wish_room && c->wish_room >= WISHES_BEFORE_COMPACTION)
        compact_wishes(c);
    if (!mem_grow(&c->wishes, &c->wish_room, c->wish_count, 1) ||
        !act_copy(&c->acts[c->act], &next))
        return err_no_memory(e, MEMORY_FOR);
    snprintf(c->wishes[c->wish_count++].text, sizeof c->wishes->text, "%s", text);
    next.verb = command->verb;
    snprintf(next.text, sizeof next.text, "%s %.80s", live_command_names[command->verb],
             command->text);
    if (!drop)
        drop_same_wish(c, &next, text);
    int rc = pin_setting(c, &next, text, drop, e);
    if (rc)
        goto out;
    if (!pins_hold(&c->problem->labels, next.pins, next.pin_count))
        rc = explain_clash(c, &next, e);
out:
    if (rc) {
        act_release(&next);
        return rc;
    }
    return act_push(c, &next, e);
}

/* NAME:DIM, or @N, as the first move that decides it. */
static int find_move(const struct search_state *c, const char *text, uint32_t *move, struct err *e)
{
    const struct game *g = search_game(c->search);
    const struct problem *p = c->problem;
    char setting[COMMAND_TEXT_ROOM + 2];
    struct problem_setting s;

    if (text[0] == '@') {
        const char *end = move_number(text + 1, g, move);
        if (end && !*end)
            return 0;
        return err_set(e, ERR_INPUT, "no decision %.40s", text);
    }
    snprintf(setting, sizeof setting, "%s=0", text);
    int rc = setting_parse(p, setting, &s, e);
    if (rc)
        return rc;
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        if (!setting_matches(p, &s, k))
            continue;
        class_id class = problem_param_class(p, k, s.dim);
        for (uint32_t x = 0; class != CLASS_NONE && x < p->mesh.axes; x++) {
            *move = g->move_of[(size_t) class * p->mesh.axes + x];
            if (*move != UINT32_MAX)
                return 0;
        }
    }
    return err_set(e, ERR_INPUT, "\"%.100s\" is not a decision of this search", text);
}

int obey_backtrack(struct search_state *c, const struct live_command *command, struct err *e)
{
    uint32_t move = 0;
    int rc = find_move(c, command->text, &move, e);
    struct act next;

    if (rc)
        return rc;
    if (!act_copy(&c->acts[c->act], &next))
        return err_no_memory(e, MEMORY_FOR);
    if (!mem_grow(&c->acts, &c->act_room, c->act_count, 1)) {
        act_release(&next);
        return err_no_memory(e, MEMORY_FOR);
    }
    snprintf(next.text, sizeof next.text, "backtrack %.80s", command->text);
    next.verb = COMMAND_BACKTRACK;
    next.about = search_game(c->search)->pool[search_game(c->search)->moves[move].classes];
    next.optimum = live_plan_share(c->acts[c->act].optimum); /* nothing of the problem changes */
    best_keep(c);
    append_act(c, &next);
    state_renew_ledger(c);
    struct replay_before replay = look_at_replay(c);
    search_backtrack(c->search, move);
    say_replay(c, &replay);
    if (c->state == LIVE_DONE)
        c->state = LIVE_PAUSED;
    return 0;
}

/* Puts a former act in force again. */
static int go_to_act(struct search_state *c, uint32_t to, const char *how, const char *text,
                     struct err *e)
{
    struct replay_before replay;

    best_keep(c);
    int rc = enforce(c, &c->acts[to], &replay, e);
    if (rc)
        return rc;
    c->act_number++;
    state_say(c, LOG_PERSON, "you %s %.80s", how, text);
    say_replay(c, &replay);
    c->act = to;
    best_recall(c, to);
    state_solve_exactly(c);
    return 0;
}

int obey_undo(struct search_state *c, int by, struct err *e)
{
    const struct act *now = &c->acts[c->act];
    uint32_t to = by < 0 ? now->from : now->next;

    if (to == ACT_NONE || to == c->act)
        return err_set(e, ERR_INPUT, "nothing to %s", by < 0 ? "undo" : "redo");
    if (by < 0)
        c->acts[to].next = c->act; /* redo comes back the way undo went */
    return go_to_act(c, to, by < 0 ? "undo" : "redo", by < 0 ? now->text : c->acts[to].text, e);
}

int obey_row(struct search_state *c, const struct live_command *command, struct err *e)
{
    char text[128];

    for (uint32_t n = 0; n < c->act_count; n++) {
        if ((double)c->acts[n].row != command->number)
            continue;
        if (n == c->act)
            return err_set(e, ERR_INPUT, "row %u is where you are", c->acts[n].row);
        snprintf(text, sizeof text, "%u%s%s", c->acts[n].row, c->acts[n].row ? ": " : "",
                 c->acts[n].row ? c->acts[n].text : "");
        return go_to_act(c, n, "go back to row", text, e);
    }
    return err_set(e, ERR_INPUT, "no row %.0f in the ledger", command->number);
}

/* The act reads "set n_step 10" and what is said `behind` it. */
static int set_option(struct search_state *c, const struct live_command *command,
                      const char *behind, struct err *e)
{
    char name[64], value[128];
    struct act next;

    if (sscanf(command->text, "%63[^ =]%*[ =]%127[^\n]", name, value) != 2)
        return err_set(e, ERR_INPUT, "%s %.60s, expected an option and its value",
                       live_command_names[command->verb], command->text);
    if (!act_copy(&c->acts[c->act], &next))
        return err_no_memory(e, MEMORY_FOR);
    next.options = c->options;
    int rc = live_option_set(&next.options, name, value, e);
    if (rc) {
        act_release(&next);
        return rc;
    }
    snprintf(next.text, sizeof next.text, "set %.48s %.24s%s", name, value, behind);
    next.verb = command->verb;
    return act_push(c, &next, e);
}

int obey_set(struct search_state *c, const struct live_command *command, struct err *e)
{
    return set_option(c, command, "", e);
}

/* The same seed from its start, with the option changed; what it came to without stays beside it.
 */
int obey_again(struct search_state *c, const struct live_command *command, struct err *e)
{
    c->anew = true;
    int rc = set_option(c, command, ", from the start", e);
    c->anew = false;
    if (!rc)
        snprintf(c->run_before.what, sizeof c->run_before.what, "%.47s", command->text);
    return rc;
}
