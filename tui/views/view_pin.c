/* Pin: three answers and the price of the chosen one. Backtrack: what is set back, what it can end
 * in. */
#include "engine/decide/classes.h"
#include "engine/live/snapshot.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/watch.h"

#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/watch/price.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum answer { ANSWER_SPLIT, ANSWER_WHOLE, ANSWER_OPEN, ANSWERS };

struct asking {
    int move;
    enum answer answer;
    struct price now, with[ANSWERS];
};

enum { PIN_SPLIT, PIN_WHOLE, PIN_OPEN, PIN_DO };
static const struct action pin_actions[] = {
    [PIN_SPLIT] = {"split", "in this dialog", "split", NULL, "1", NULL},
    [PIN_WHOLE] = {"whole", "in this dialog", "whole", NULL, "0", NULL},
    [PIN_OPEN] = {"no-pin", "in this dialog", "no pin", NULL, "-", NULL},
    [PIN_DO] = {"do", "in this dialog", "do it", "pin", "Enter", NULL},
};
static const struct key_table pin_keys = {"pin", pin_actions, 4};

static const struct action backtrack_actions[] = {
    {"do", "in this dialog", "set back", "backtrack", "Enter", NULL},
};
static const struct key_table backtrack_keys = {"backtrack", backtrack_actions, 1};

static const struct watch_move *asked(const struct panel *p)
{
    const struct asking *a = p->state;
    const struct watch *w = p->scene->watch;
    return w && a->move < w->move_count ? &w->move[a->move] : NULL;
}

static void find_prices(struct panel *p)
{
    struct asking *a = p->state;
    const struct watch *w = p->scene->watch;

    a->now = price_with_memory(w, MOVE_NONE, -1);
    a->with[ANSWER_SPLIT] = price_with_memory(w, a->move, 1);
    a->with[ANSWER_WHOLE] = price_with_memory(w, a->move, 0);
    a->with[ANSWER_OPEN] = a->now;
}

static int open_asking(struct panel *p, const void *arg, struct err *e)
{
    struct asking *a = p->state;

    a->move = *(const int *)arg;
    const struct watch_move *m = asked(p);
    if (!m)
        return err_set(e, ERR_INPUT, "nothing to decide here");
    a->answer = m->pinned ? ANSWER_OPEN : m->best * 2 > m->classes ? ANSWER_WHOLE : ANSWER_SPLIT;
    find_prices(p);
    return 0;
}

/* "25 dims of variables in 1 class" */
static void write_what(const struct watch *w, int move, char *out, size_t room)
{
    const struct watch_move *m = &w->move[move];
    const struct class_info *info =
        &w->problem->classes.info[w->moves->pool[w->moves->items[move].classes]];
    uint32_t values = info->dim_count * m->classes;
    char own[UNITS_ROOM], all[UNITS_ROOM];

    snprintf(out, room, "%s %s of variables, %s of values%s", units_count(own, m->dims),
             m->dims == 1 ? "dim" : "dims", units_count(all, values),
             m->classes > 1 ? ", alike in every layer" : "");
}

static int draw_top(const struct panel *p, const struct pane *pane)
{
    const struct asking *a = p->state;
    const struct watch *w = p->scene->watch;
    const char *note = w->move[a->move].pinned ? "pinned by you" : "not pinned";
    char text[160];

    pane_head(pane, 0, &(struct head){0, p->ops->title, note, true});
    int y = pane->height >= 16 ? 2 : 1;
    int x = pane_text(pane, 0, y, ROLE_TITLE | BOLD, w->move[a->move].name);
    write_what(w, a->move, text, sizeof text);
    if (x + 3 + utf8_text_columns(text) <= pane->width)
        pane_text(pane, x + 3, y, ROLE_DIM, text);
    return y + (pane->height >= 14 ? 2 : 1);
}

/* Why an answer has no price, or whether the plan has it. */
static void write_note(const struct watch *w, const struct price *with, bool has, char *out,
                       size_t room)
{
    char least[UNITS_ROOM];

    out[0] = 0;
    if (with->impossible)
        snprintf(out, room, "not possible with the other pins");
    else if (with->over)
        snprintf(out, room, "%s %.4g GB, the least takes %s",
                 with->proven ? "nothing fits in" : "none found fits in",
                 watch_memory_limit(w) / 1e9, units_bytes(least, with->memory));
    else if (!with->known)
        snprintf(out, room, "not priced: that takes too long");
    else if (has)
        snprintf(out, room, "%s has this", watch_plan_word(w));
}

static void draw_answers(const struct panel *p, const struct pane *pane, int y)
{
    const struct asking *a = p->state;
    const struct watch *w = p->scene->watch;
    const struct watch_move *m = &w->move[a->move];
    const struct game_move *g = &w->moves->items[a->move];
    static const char *const keys[] = {"1", "0", "-"};
    char split[48], note[96];

    snprintf(split, sizeof split, "split over %u", w->problem->labels.parts[1u << g->axis]);
    const char *words[] = {split, "whole", "no pin"};
    for (int i = 0; i < ANSWERS; i++) {
        bool has = w->best && (i == ANSWER_SPLIT ? m->best == m->classes : m->best == 0);
        note[0] = 0;
        if (i != ANSWER_OPEN)
            write_note(w, &a->with[i], has, note, sizeof note);
        pane_text(pane, 2, y + i, ROLE_KEY, keys[i]);
        pane_text(pane, 5, y + i, ROLE_TEXT, words[i]);
        if (25 + utf8_text_columns(note) <= pane->width)
            pane_text(pane, 25, y + i, ROLE_DIM, note);
        if (i == (int)a->answer)
            pane_select(pane, y + i, ROLE_SELECT);
    }
    pane->grid->cursor_x = pane->x;
    pane->grid->cursor_y = pane->y + y + (int)a->answer;
}

/* One figure now, with the pin, and the change; worse is amber. */
static void draw_figure(const struct pane *p, int y, const char *what, const double values[2],
                        int decimals, bool is_cost)
{
    int first = p->width >= 60 ? 38 : 24, second = first + (p->width >= 60 ? 16 : 12),
        third = second + 13;
    char text[48];

    if (y >= p->height)
        return;
    pane_text(p, 2, y, is_cost ? ROLE_TITLE | BOLD : ROLE_DIM, what);
    for (int i = 0; i < 2; i++)
        pane_right_number(p, i ? second : first, y, ROLE_TEXT, values[i], decimals);
    double change = values[1] - values[0];
    pane_right(p, third, y, is_cost && change > pane_ms_least(p) ? ROLE_WARN : ROLE_TEXT,
               units_change(text, change, decimals));
}

static void draw_titles(const struct pane *p, int y)
{
    int first = p->width >= 60 ? 38 : 24, second = first + (p->width >= 60 ? 16 : 12),
        third = second + 13;

    if (y >= p->height)
        return;
    pane_right(p, first, y, ROLE_DIM, "now");
    pane_right(p, second, y, ROLE_DIM, p->width >= 60 ? "with the pin" : "pinned");
    pane_right(p, third, y, ROLE_DIM, "change");
}

/* In GB, or MB where both take less than one; what a device does not hold is said. */
static void draw_memory(const struct panel *p, const struct pane *pane, int y)
{
    const struct asking *a = p->state;
    const double now = a->now.memory, with = a->with[a->answer].memory,
                 limit = watch_memory_limit(p->scene->watch);
    const bool small = now < 1e9 && with < 1e9;
    const double unit = small ? 1e6 : 1e9;
    char title[48];

    if (y >= pane->height || now <= 0 || with <= 0)
        return;
    snprintf(title, sizeof title, small ? "memory, MB" : "memory, GB of %.4g", limit / 1e9);
    draw_figure(pane, y, title, (double[]){now / unit, with / unit}, 1, false);
    if (with > limit)
        pane_text(pane, pane->width >= 60 ? 69 : 51, y, ROLE_ERR, "over");
}

static void draw_prices(const struct panel *p, const struct pane *pane, int y)
{
    const struct asking *a = p->state;
    const struct price *now = &a->now, *with = &a->with[a->answer];
    char text[160];

    if (!now->known || !with->known) {
        if (y < pane->height)
            pane_text(pane, 2, y, ROLE_DIM, "no price: see the note above");
        return;
    }
    const int decimals = pane_ms_decimals(pane);
    draw_titles(pane, y++);
    draw_figure(pane, y++, now->proven ? "optimum, ms" : "best of exact, ms",
                (double[]){now->cost.step_ms, with->cost.step_ms}, decimals, true);
    draw_figure(pane, y++, "  compute", (double[]){now->cost.compute_ms, with->cost.compute_ms},
                decimals, false);
    draw_figure(pane, y++, "  all-reduce",
                (double[]){now->cost.communication_ms, with->cost.communication_ms}, decimals,
                false);
    draw_figure(pane, y++, "all-reduces", (double[]){now->reduces, with->reduces}, 0, false);
    draw_figure(pane, y++, "  MB", (double[]){now->reduced_bytes / 1e6, with->reduced_bytes / 1e6},
                0, false);
    draw_memory(p, pane, y++);
    y += y + 1 < pane->height;
    if (y >= pane->height)
        return;
    snprintf(text, sizeof text, "%s%s · %u %s · the network is kept",
             with->proven ? "proven by exact over " : "not proven",
             with->proven ? game_decides[p->scene->watch->shot->options.game.kind] : "",
             with->changes, with->changes == 1 ? "decision changes" : "decisions change");
    pane_text(pane, 2, y, ROLE_DIM, text);
}

static void draw_pin(struct panel *p, const struct pane *pane)
{
    if (!asked(p))
        return;
    int y = draw_top(p, pane);
    draw_answers(p, pane, y);
    draw_prices(p, pane, y + ANSWERS + (pane->height >= 13));
}

static bool act_pin(struct panel *p, int action)
{
    struct asking *a = p->state;
    const struct scene *scene = p->scene;
    const struct watch_move *m = asked(p);

    if (!m)
        return false;
    if (action != PIN_DO) {
        a->answer = (enum answer)action;
        return true;
    }
    if (a->answer == ANSWER_OPEN && !m->pinned)
        host_say(scene, "%.100s was not pinned", m->name);
    else if (a->answer == ANSWER_OPEN)
        watch_send(p->scene->watch, "unpin @%d", a->move);
    else
        watch_send(p->scene->watch, "pin @%d=%d", a->move, a->answer == ANSWER_SPLIT);
    host_close(scene);
    return true;
}

static bool move_pin(struct panel *p, enum list_move move)
{
    struct asking *a = p->state;
    struct list l = {.cursor = (int64_t)a->answer};

    list_fit(&l, ANSWERS, ANSWERS);
    bool moved = list_move(&l, move);
    a->answer = (enum answer)l.cursor;
    return moved;
}

static void say_undo(const struct panel *p, char *out, size_t room)
{
    (void)p;
    snprintf(out, room, "u undoes it at any time");
}

static int rows_pin(const struct panel *p, int width)
{
    (void)p;
    return width >= 100 ? 17 : 16;
}

/* ---- backtrack ---- */

/* Dims of variables of the classes that splitting this one had excluded. */
static uint32_t excluded_dims(const struct watch *w, int move)
{
    const struct classes *c = &w->problem->classes;
    const struct game_move *m = &w->moves->items[move];
    uint32_t dims = 0;

    for (int n = 0; n < w->move_count; n++) {
        bool meets = false;
        for (uint32_t i = 0; i < m->class_count && !meets; i++) {
            const struct class_info *info = &c->info[w->moves->pool[m->classes + i]];
            for (uint32_t k = 0; k < info->meet_count && !meets; k++)
                meets = watch_move_of(w, c->meets[info->meets + k].other) == n;
        }
        dims += meets && n != move ? w->move[n].dims : 0;
    }
    return dims;
}

/* What the search may end in: the best step, and the memory of that plan, or the least there is
 * where none fits. */
static void draw_ends(const struct panel *p, const struct pane *pane, int y)
{
    const struct asking *a = p->state;
    const struct price *at[3] = {&a->now, &a->with[ANSWER_WHOLE], &a->with[ANSWER_SPLIT]};
    static const char *const titles[] = {"now", "if it ends 0", "if it ends 1"};
    int step = pane->width >= 60 ? 16 : 13, x = pane->width >= 60 ? 36 : 30;
    double limit = watch_memory_limit(p->scene->watch);
    char memory[UNITS_ROOM];

    if (y + 1 >= pane->height)
        return;
    pane_text(pane, 2, y + 1, ROLE_TITLE | BOLD, "best possible, ms");
    pane_format(pane, 2, y + 2, ROLE_DIM, "memory, of %.4g GB", limit / 1e9);
    for (int i = 0; i < 3 && x <= pane->width; i++, x += step) {
        bool slow = at[i]->cost.step_ms > a->now.cost.step_ms + pane_ms_least(pane);
        pane_right(pane, x, y, ROLE_DIM, titles[i]);
        if (at[i]->known)
            pane_right_ms(pane, x, y + 1, slow ? ROLE_WARN : ROLE_TEXT, at[i]->cost.step_ms);
        else
            pane_right(pane, x, y + 1, at[i]->over ? ROLE_ERR : ROLE_DIM,
                       at[i]->over ? "none fits" : "-");
        if (at[i]->memory > 0)
            pane_right_format(pane, x, y + 2, at[i]->memory > limit ? ROLE_ERR : ROLE_TEXT, "%s%s",
                              at[i]->over ? "least " : "", units_bytes(memory, at[i]->memory));
    }
}

static void draw_backtrack(struct panel *p, const struct pane *pane)
{
    const struct asking *a = p->state;
    const struct watch *w = p->scene->watch;
    char text[160], ms[UNITS_ROOM], dims[UNITS_ROOM];

    if (!asked(p))
        return;
    int y = draw_top(p, pane);
    if (asked(p)->pinned) {
        pane_text(pane, 0, y, ROLE_WARN,
                  "pinned by you: set back, it would be decided so again; p unpins it first");
        return;
    }
    bool learns = w->shot->options.algorithm == SEARCH_DQN;
    pane_text(pane, 0, y++, ROLE_TEXT,
              learns ? "set back to undecided, then fine-tune from the present network"
                     : "the search starts over");
    y += pane->height >= 12;
    uint32_t others = excluded_dims(w, a->move);
    snprintf(text, sizeof text, "%s dims of this decision, %s of those it excludes",
             units_count(dims, w->move[a->move].dims), units_count(ms, others));
    pane_text(pane, 2, y, ROLE_DIM, "set back");
    pane_text(pane, 14, y++, ROLE_TEXT, text);
    snprintf(text, sizeof text, "all other decisions of the %s, %u %s", watch_plan_word(w),
             w->shot->pin_count, w->shot->pin_count == 1 ? "pinned group" : "pinned groups");
    pane_text(pane, 2, y, ROLE_DIM, "kept");
    pane_text(pane, 14, y++, ROLE_TEXT, text);
    draw_ends(p, pane, y + 1);
    if (w->best && y + 6 <= pane->height) {
        snprintf(text, sizeof text, "the %s, %s, stays",
                 watch_is_baseline(w) ? "baseline" : "present best",
                 units_ms(ms, w->best->cost.step_ms));
        pane_text(pane, 2, y + 5, ROLE_DIM, text);
    }
}

static bool can_backtrack(const struct panel *p, int action)
{
    const struct watch_move *m = asked(p);

    (void)action;
    return m && !m->pinned;
}

static int rows_backtrack(const struct panel *p, int width)
{
    (void)width;
    return can_backtrack(p, 0) ? 14 : 4;
}

static bool act_backtrack(struct panel *p, int action)
{
    const struct asking *a = p->state;

    if (!can_backtrack(p, action)) {
        host_say(p->scene, "a pinned group can not be set back; p unpins it");
        host_close(p->scene);
        return true;
    }
    watch_send(p->scene->watch, "backtrack @%d", a->move);
    if (p->scene->watch->shot->state != LIVE_RUNNING)
        host_say(p->scene, "set back; Space goes on from there");
    host_close(p->scene);
    return true;
}

const struct panel_ops view_pin = {
    .name = "pin",
    .title = "Pin",
    .place = PLACE_DIALOG,
    .keys = &pin_keys,
    .hints = "do=pin down=choose escape=leave",
    .size = sizeof(struct asking),
    .open = open_asking,
    .draw = draw_pin,
    .act = act_pin,
    .move = move_pin,
    .dialog_rows = rows_pin,
    .message = say_undo,
};

const struct panel_ops view_backtrack = {
    .name = "backtrack",
    .title = "Backtrack",
    .place = PLACE_DIALOG,
    .keys = &backtrack_keys,
    .hints = "do=backtrack escape=leave",
    .size = sizeof(struct asking),
    .open = open_asking,
    .draw = draw_backtrack,
    .act = act_backtrack,
    .works = can_backtrack,
    .dialog_rows = rows_backtrack,
    .message = say_undo,
};
