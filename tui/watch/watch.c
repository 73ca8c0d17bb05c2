#include "tui/watch/watch.h"

#include "engine/cluster/mesh.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/live/command.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/utf8.h"
#include "tui/watch/fewer_job.h"
#include "tui/watch/find.h"
#include "tui/watch/pipeline_job.h"
#include "tui/watch/relaxed_job.h"
#include "tui/watch/series_names.h"
#include "tui/watch/series_price.h"
#include "tui/watch/short_names.h"
#include "tui/watch/tree.h"
#include "tui/watch/unstaged_job.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

enum {
    WORDS_MOST = 24,
    WORD_MOST = 5, /* longer words are cut to */
    WORD_CUT = 3,  /* so many letters */
    ALIKE_MOST = 64
};

/* A word of a name. One that holds a digit ("block1_1") tells it from its neighbours and stays
 * whole; one that begins with a digit is a size or a range of layers, one letter is an axis. */
struct word {
    const char *at;
    size_t size; /* as it is written now */
    enum word_kind { WORD_PLAIN, WORD_TELLING, WORD_NUMBER, WORD_AXIS } kind;
    bool is_cut, is_left_out;
};

static uint32_t split_words(const char *name, struct word words[static WORDS_MOST])
{
    uint32_t count = 0;

    for (const char *s = name; *s && count < WORDS_MOST; s += *s == ' ') {
        size_t size = strcspn(s, " "), digit = strcspn(s, "0123456789");
        if (size)
            words[count++] = (struct word){.at = s,
                                           .size = size,
                                           .kind = !digit                  ? WORD_NUMBER
                                                   : digit < size          ? WORD_TELLING
                                                   : size == 1 && !s[size] ? WORD_AXIS
                                                                           : WORD_PLAIN};
        s += size;
    }
    return count;
}

static void join_words(const struct word *words, uint32_t count, char *out, size_t room)
{
    size_t size = 0;

    for (uint32_t n = 0; n < count; n++) {
        const struct word *w = &words[n];
        if (w->is_left_out || size + w->size + 2 > room)
            continue;
        if (size && out[size - 1] == ',' && w->kind != WORD_NUMBER) /* the size behind it is out */
            size--;
        if (size)
            out[size++] = ' ';
        memcpy(out + size, w->at, w->size);
        size += w->size;
    }
    while (size && out[size - 1] == ',')
        size--;
    out[size] = 0;
}

/* "dim", whose number follows; what stands before it too, as it is written. */
static bool is_filler(const struct word *words, uint32_t n)
{
    if (words[n].size == 3 && !memcmp(words[n].at, "dim", 3))
        return true;
    for (uint32_t k = 0; k < n; k++) {
        if (!words[k].is_left_out && words[k].size == words[n].size &&
            !memcmp(words[k].at, words[n].at, words[n].size))
            return true;
    }
    return false;
}

/* What a name can do without, first things first: the ends of long words, fillers, words
 * between the first and the last, what stands beside a telling word, numbers, the axis. False:
 * nothing. */
static bool shorten_once(struct word *words, uint32_t count)
{
    uint32_t plain[WORDS_MOST], plains = 0, telling = 0;
    bool is_only = count == 1; /* a word alone is cut in its middle, as far as it must be */

    for (uint32_t n = 0; n < count; n++) {
        struct word *w = &words[n];
        if (w->is_left_out)
            continue;
        if (w->kind == WORD_PLAIN && w->size > WORD_MOST && !w->is_cut && !is_only) {
            w->size = WORD_CUT;
            return w->is_cut = true;
        }
        if (w->kind == WORD_PLAIN)
            plain[plains++] = n;
        telling += w->kind == WORD_TELLING;
    }
    for (uint32_t n = plains; n-- > 1;) {
        if (is_filler(words, plain[n]))
            return words[plain[n]].is_left_out = true;
    }
    if (plains > 2)
        return words[plain[1]].is_left_out = true;
    if (plains && telling)
        return words[plain[plains - 1]].is_left_out = true;
    for (enum word_kind k = WORD_NUMBER; k <= WORD_AXIS && plains + telling; k++) {
        for (uint32_t n = count; n-- > 0;) { /* sizes stand last, behind what it is a no. of */
            if (words[n].kind == k && !words[n].is_left_out)
                return words[n].is_left_out = true;
        }
    }
    return false;
}

char *watch_short_name(char *out, size_t room, const char *name, int columns)
{
    char text[NAME_ROOM];
    struct word words[WORDS_MOST];

    if (utf8_text_columns(name) <= columns) {
        snprintf(out, room, "%s", name);
        return out;
    }
    size_t letters = strcspn(name, "0123456789");
    if (!strchr(name, ' ') && letters > 1 && name[letters]) {
        /* "conv1_2": the number tells it from the others */
        snprintf(text, sizeof text, "%.1s%s", name, name + letters);
        return text_cut_middle(out, room, text, columns);
    }
    uint32_t count = split_words(name, words);
    do {
        join_words(words, count, text, sizeof text);
    } while (utf8_text_columns(text) > columns && shorten_once(words, count));
    return text_cut_middle(out, room, text, columns);
}

void watch_shorten(char out[static SHORT_NAME_ROOM], const char *name, int columns)
{
    watch_short_name(out, SHORT_NAME_ROOM, name, columns);
}

char *watch_move_name(const struct watch *w, int move, char *out, size_t room, int columns)
{
    const char *alike[ALIKE_MOST] = {w->move[move].name};
    char other[NAME_ROOM], texts[ALIKE_MOST][SHORT_NAME_ROOM];
    int count = 1;

    watch_short_name(out, room, w->move[move].name, columns);
    for (int n = 0; n < w->move_count && count < ALIKE_MOST; n++) {
        if (n != move &&
            !strcmp(watch_short_name(other, sizeof other, w->move[n].name, columns), out))
            alike[count++] = w->move[n].name;
    }
    if (count > 1 && columns < SHORT_NAME_ROOM) {
        short_names(alike, count, columns, watch_shorten, texts);
        snprintf(out, room, "%s", texts[0]);
    }
    return out;
}

const char *watch_with_names(const struct watch *w, const char *text, int columns, char *out,
                             size_t room)
{
    const char *at = strchr(text, '@');
    char *end = NULL, name[NAME_ROOM];
    long move = at ? strtol(at + 1, &end, 10) : -1;

    if (move < 0 || move >= w->move_count || end == at + 1)
        return text;
    watch_short_name(name, sizeof name, w->move[move].name,
                     columns - (int)(at - text) - (int)strlen(end) - 2);
    snprintf(out, room, "%.*s%.80s%s%.40s", (int)(at - text), text, name, *end == '=' ? " " : "",
             end);
    char *equals = strstr(out, " =");
    if (equals && equals[2] && equals[2] != ' ' && strlen(out) + 2 < room) {
        memmove(equals + 3, equals + 2, strlen(equals + 2) + 1);
        equals[2] = ' ';
    }
    return out;
}

/* ---- moves ---- */

/* "0-5" as a person writes a range. */
static void write_ranges(char *out, size_t room, const char *text)
{
    size_t size = 0;

    for (const char *c = text; *c && size + 4 < room; c++) {
        bool range =
            *c == '-' && c > text && isdigit((unsigned char)c[-1]) && isdigit((unsigned char)c[1]);
        if (range)
            size += (size_t)snprintf(out + size, room - size, "–");
        else
            out[size++] = *c;
    }
    out[size] = 0;
}

static void name_move(struct watch *w, const struct game_move *m, struct watch_move *to)
{
    const class_id *k = w->moves->pool + m->classes;
    char text[NAME_ROOM];

    class_names_joined(&w->names, k, m->class_count, text);
    write_ranges(to->name, sizeof to->name - MESH_NAME_ROOM - 4, text);
    class_names_series(&w->names, k, m->class_count, text);
    write_ranges(to->stem, sizeof to->stem - MESH_NAME_ROOM - 4, text);
    if (w->problem->mesh.axes < 2)
        return;
    const char *axis = w->problem->mesh.axis[m->axis].name; /* several decisions on one class */
    snprintf(to->name + strlen(to->name), MESH_NAME_ROOM + 2, " %s", axis);
    snprintf(to->stem + strlen(to->stem), MESH_NAME_ROOM + 2, " %s", axis);
}

static void read_moves(struct watch *w)
{
    live_moves_release(w->moves);
    w->moves = live_moves_share(w->shot->moves);
    free(w->move);
    w->move_count = (int)w->moves->count;
    w->move = mem_alloc(((size_t)w->move_count + 1) * sizeof *w->move);
    for (int n = 0; n < w->move_count; n++) {
        const struct game_move *m = &w->moves->items[n];
        struct watch_move *to = &w->move[n];
        name_move(w, m, to);
        to->dims = m->var_dims + m->input_dims;
        to->classes = m->class_count;
        to->now = -1;
    }
    series_tell_apart(w);
    series_price_all(w);
    if (w->cursor >= w->move_count)
        w->cursor = 0;
}

static uint32_t count_split(const struct watch *w, const struct live_plan *plan, int move)
{
    const struct game_move *m = &w->moves->items[move];
    uint32_t split = 0;

    for (uint32_t n = 0; n < m->class_count; n++)
        split += plan->on[w->moves->pool[m->classes + n]] >> m->axis & 1;
    return split;
}

int watch_move_of(const struct watch *w, class_id k)
{
    uint32_t axes = w->moves->axes;

    for (uint32_t x = 0; x < axes && k != CLASS_NONE; x++) {
        uint32_t move = w->moves->of[(size_t)k * axes + x];
        if (move != UINT32_MAX)
            return (int)move;
    }
    return MOVE_NONE;
}

int watch_move_split(const struct watch *w, const label *on, class_id k)
{
    uint32_t axes = w->moves->axes;

    for (uint32_t x = 0; x < axes && k != CLASS_NONE; x++) {
        uint32_t move = w->moves->of[(size_t)k * axes + x];
        if (move != UINT32_MAX && on[k] >> x & 1)
            return (int)move;
    }
    return watch_move_of(w, k);
}

const char *watch_parameter_name(const struct watch *w, hlo_id id)
{
    const struct problem *p = w->problem;

    for (uint32_t n = 0; n < p->roles.param_count; n++) {
        const struct hlo_param_role *r = &p->roles.params[n];
        if (p->m->value_instruction[r->value] == id)
            return p->m->leaf_base[id + 1] - p->m->leaf_base[id] == 1
                       ? r->module ? r->module : r->name
                       : NULL;
    }
    return NULL;
}

int watch_move_of_instruction(const struct watch *w, hlo_id id)
{
    const struct classes *c = &w->problem->classes;
    hlo_value first = c->m->leaf_base[id], end = c->m->leaf_base[id + 1];

    for (dim_id d = c->dim_base[first]; d < c->dim_base[end]; d++) {
        int move = watch_move_of(w, c->class_of[d]);
        if (move != MOVE_NONE)
            return move;
    }
    return MOVE_NONE;
}

label watch_on(const struct watch *w, dim_id d)
{
    class_id k = w->problem->classes.class_of[d];
    if (k == CLASS_NONE)
        return 0;
    return wave_is_ahead(&w->wave, d) ? (label)(w->on[k] & ~w->wave.axes) : w->on[k];
}

label watch_open(const struct watch *w, dim_id d)
{
    class_id k = w->problem->classes.class_of[d];
    if (k == CLASS_NONE)
        return 0;
    return wave_is_ahead(&w->wave, d) ? (label)(w->open[k] | w->wave.axes) : w->open[k];
}

int watch_status(const struct watch *w, hlo_id id)
{
    const struct classes *c = &w->problem->classes;
    hlo_value first = c->m->leaf_base[id], end = c->m->leaf_base[id + 1];
    int found = -2;

    for (dim_id d = c->dim_base[first]; d < c->dim_base[end]; d++) {
        class_id k = c->class_of[d];
        if (k == CLASS_NONE)
            continue;
        if (watch_on(w, d))
            return 1;
        if (watch_open(w, d))
            found = -1;
        else if (found == -2)
            found = 0;
    }
    return found;
}

/* ---- what changes ---- */

static void read_statuses(struct watch *w)
{
    const struct snapshot *s = w->shot;
    const int8_t *now = w->is_slow ? s->status : s->last;
    class_id classes = w->problem->classes.count;

    for (int n = 0; n < w->move_count; n++) {
        w->move[n].changed = !w->is_slow && w->move[n].now != now[n] && w->move[n].now >= 0;
        w->move[n].now = now[n];
        w->move[n].pinned = false;
    }
    for (uint32_t n = 0; w->is_slow && n < s->wave_count; n++) {
        int move = watch_move_of(w, s->wave[n].class);
        if (move != MOVE_NONE)
            w->move[move].changed = true;
    }
    for (uint32_t n = 0; n < s->pin_count; n++) {
        if (s->pins[n].move < (uint32_t)w->move_count)
            w->move[s->pins[n].move].pinned = true;
    }
    memset(w->open, 0, classes * sizeof *w->open);
    if (w->best)
        memcpy(w->on, w->best->on, classes * sizeof *w->on); /* of classes that nobody decides */
    else
        memset(w->on, 0, classes * sizeof *w->on);
    for (int n = 0; n < w->move_count; n++) {
        const struct game_move *m = &w->moves->items[n];
        label bit = (label)(1u << m->axis);
        for (uint32_t i = 0; i < m->class_count; i++) {
            class_id k = w->moves->pool[m->classes + i];
            w->on[k] = (label)(now[n] == 1 ? w->on[k] | bit : w->on[k] & ~bit);
            w->open[k] = (label)(now[n] < 0 ? w->open[k] | bit : w->open[k]);
        }
    }
}

static void time_instructions(struct watch *w)
{
    const struct problem *p = w->problem;
    label *whole = w->best ? NULL : mem_alloc((p->classes.count + 1) * sizeof *whole);

    for (hlo_id id = 0; id < p->m->count; id++) {
        struct instruction_cost c =
            step_tables_instruction(&p->step_tables, id, w->best ? w->best->on : whole);
        w->ms[id] = c.compute_ms + c.communication_ms;
    }
    if (w->scratch)
        w->memory = memory_of(&p->memory, &p->labels, w->best ? w->best->on : whole, w->scratch);
    w->ms_version++;
    free(whole);
}

static bool take_plan(struct live_plan **mine, struct live_plan *next)
{
    if (*mine == next)
        return false;
    live_plan_release(*mine);
    *mine = next ? live_plan_share(next) : NULL;
    return true;
}

static void read_plans(struct watch *w, bool moved)
{
    bool best = take_plan(&w->best, w->shot->best), exact = take_plan(&w->exact, w->shot->exact);

    if (best || !w->ms_version)
        time_instructions(w);
    if (!best && !exact && !moved)
        return;
    for (int n = 0; n < w->move_count; n++) {
        w->move[n].best = w->best ? count_split(w, w->best, n) : 0;
        w->move[n].exact = watch_optimum(w) ? count_split(w, w->exact, n) : 0;
    }
}

static bool shows_present(const struct snapshot *s)
{
    return s->state == LIVE_READY || s->state == LIVE_PAUSED ||
           (s->pace > 0 && s->pace <= CALM_PER_SECOND);
}

static void take_snapshot(struct watch *w, const struct snapshot *next)
{
    snapshot_release(w->shot);
    w->shot = next;
    bool moved = w->moves != next->moves;
    if (moved)
        read_moves(w);
    w->is_slow = shows_present(next);
    w->position =
        w->is_slow && next->position < (uint32_t)w->move_count ? (int)next->position : MOVE_NONE;
    read_plans(w, moved);
    read_statuses(w);
    wave_read(&w->wave, w);
    tree_read(w->tree, w);
}

void watch_read(struct watch *w)
{
    const struct snapshot *next = session_look(w->session);

    w->is_stale = next->problem != w->problem;
    if (w->is_stale || next->number == w->shot->number)
        snapshot_release(next);
    else
        take_snapshot(w, next);
}

int watch_new(struct session *s, struct watch **out, struct err *e)
{
    struct watch *w = mem_alloc(sizeof *w);
    const struct snapshot *first = session_look(s);
    const struct problem *p = first->problem;

    w->problem = p;
    w->session = s;
    w->on = mem_try(p->classes.count, sizeof *w->on);
    w->open = mem_try(p->classes.count, sizeof *w->open);
    w->ms = mem_try((size_t)p->m->count + 1, sizeof *w->ms);
    w->scratch = memory_scratch(&p->memory);
    w->here = HLO_NONE;
    int rc = w->on && w->open && w->ms && w->scratch
                 ? class_names_new(&p->classes, &p->roles, &w->names, e)
                 : err_set(e, ERR_MEMORY, "not enough memory for the screen");
    if (rc || (rc = tree_new(p, &w->tree, e)) != 0) {
        snapshot_release(first);
        watch_free(w);
        return rc;
    }
    take_snapshot(w, first);
    *out = w;
    return 0;
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    fewer_job_free(w->fewer); /* their threads look at the problem, which the snapshot holds */
    unstaged_job_free(w->unstaged);
    snapshot_release(w->shot);
    live_moves_release(w->moves);
    live_plan_release(w->best);
    live_plan_release(w->exact);
    class_names_release(&w->names);
    tree_free(w->tree);
    plan_load_release(w);
    relaxed_job_free(w->relaxed);
    if (w->found)
        find_index_release(w->found);
    free(w->found);
    pipeline_job_free(w->pipeline);
    free(w->move);
    free(w->on);
    free(w->open);
    free(w->ms);
    free(w->scratch);
    wave_release(&w->wave);
    free(w);
}

void watch_say_free(const struct watch *w, hlo_value v, const char *name, char *out, size_t room)
{
    double ms = w->ms[w->problem->m->value_instruction[v]];
    char time[UNITS_ROOM];

    if (ms > 0)
        snprintf(out, room,
                 "%s comes from keys and constants alone: every device makes it whole, in %s of a "
                 "step, and each use cuts out its part, which sends nothing.",
                 name, units_ms(time, ms));
    else
        snprintf(out, room,
                 "%s is made of constants and scalars alone: every use makes the part it needs.",
                 name);
}

void watch_send(struct watch *w, const char *format, ...)
{
    char line[COMMAND_TEXT_ROOM];
    struct live_command c;
    struct err e;
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    BUG_ON(live_command_parse(line, &c, &e));
    session_send(w->session, &c);
}

const char *const watch_decides[3] = {"variables", "inputs", "both"};

const struct live_plan *watch_optimum(const struct watch *w)
{
    return w->exact && w->exact->fits ? w->exact : NULL;
}

bool watch_is_baseline(const struct watch *w)
{
    return w->best && !strcmp(w->best->found_by, LIVE_BASELINE);
}

const char *watch_plan_word(const struct watch *w)
{
    return watch_is_baseline(w) ? "baseline" : w->best ? "best plan" : "all whole";
}

const char *watch_best_word(const struct watch *w)
{
    return watch_is_baseline(w) ? "base" : "best";
}

double watch_gap(const struct watch *w)
{
    if (!w->best || !w->best->fits || !watch_optimum(w))
        return NAN;
    if (w->shot->options.game.reward == GAME_REWARD_PAPER)
        return 1 - w->best->score / w->exact->score;
    double gap = w->best->cost.step_ms / w->exact->cost.step_ms - 1;
    return gap < 1e-9 ? 0 : gap;
}

bool watch_is_limited(const struct watch *w)
{
    return w->shot->options.game.memory_limit != 0;
}

double watch_memory_limit(const struct watch *w)
{
    return watch_is_limited(w) ? game_limit_bytes(w->problem, &w->shot->options.game)
                               : w->problem->step_tables.device.memory_bytes;
}
