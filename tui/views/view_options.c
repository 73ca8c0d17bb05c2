/* Options: one list of names, values, what they are. A value out of few goes to the next one,
 * others are typed. What is changed is an act: in the log, undone by u. */
#include "engine/live/command.h"
#include "engine/live/ledger.h"
#include "engine/live/snapshot.h"
#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"

#include "engine/live/options.h"
#include "engine/text/units.h"
#include "tui/screen/edit.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/watch/figures.h"
#include "tui/watch/ledger_text.h"
#include "tui/watch/trial.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

enum { ROWS_MOST = 96, NAME_COLUMNS = 20, VALUE_COLUMNS = 14, FIRST_OF_LEARNER = 8, WIDE = 110 };

struct options_view {
    struct list list;
    struct edit value;
    bool typing;
    struct trial trial; /* of the change still to be made */
};

enum { OPTIONS_CHANGE, OPTIONS_NEXT, OPTIONS_LAST };
static const struct action options_actions[] = {
    [OPTIONS_CHANGE] = {"change", "in this dialog", "change it", "change", "Enter", NULL},
    [OPTIONS_NEXT] = {"next", "in this dialog", "next value, last", "value", "l or Right", "Right"},
    [OPTIONS_LAST] = {"last-value", "in this dialog", NULL, NULL, "h or Left", "Left"},
};
static const struct key_table options_keys = {"options", options_actions, 3};

/* A row is an option of the search, or a figure of the problem. */
struct row {
    const char *group, *name, *summary, *values, *command;
    char value[48];
};

static bool row_at(const struct panel *p, size_t i, struct row *r)
{
    const struct watch *w = p->scene->watch;
    struct live_option o;
    struct figure f;
    size_t figures = 0;

    for (; figure_at(w->problem, figures, &f); figures++) {
        if (i != figures)
            continue;
        *r = (struct row){"cluster, mesh and training", f.name, f.summary, NULL, f.command, ""};
        figure_print(w->problem, i, r->value, sizeof r->value);
        return true;
    }
    if (!live_option_at(i - figures, &o))
        return false;
    *r = (struct row){i - figures < FIRST_OF_LEARNER ? "search" : "learner",
                      o.name,
                      o.summary,
                      o.values,
                      NULL,
                      ""};
    live_option_print(&w->shot->options, i - figures, r->value, sizeof r->value);
    return true;
}

static int count_rows(const struct panel *p)
{
    struct row r;
    int count = 0;

    while (count < ROWS_MOST && row_at(p, (size_t)count, &r))
        count++;
    return count;
}

static int open_options(struct panel *p, const void *arg, struct err *e)
{
    (void)arg;
    return p->scene->watch ? 0 : err_set(e, ERR_INPUT, "no search is open");
}

/* Where values and summaries begin: as near as the widest before them, so that more of a summary
 * fits. */
struct columns {
    int value, summary;
};

static struct columns columns_of(const struct panel *p)
{
    struct row r;
    int name = 0, value = 0;

    for (size_t n = 0; n < ROWS_MOST && row_at(p, n, &r); n++) {
        int wide = utf8_text_columns(r.value);
        name = utf8_text_columns(r.name) > name ? utf8_text_columns(r.name) : name;
        value = wide > value && wide <= VALUE_COLUMNS ? wide : value;
    }
    name = name < NAME_COLUMNS - 2 ? name : NAME_COLUMNS - 2;
    return (struct columns){name + 4, name + value + 6};
}

static void draw_row(const struct panel *p, const struct pane *pane, int y, const struct row *r,
                     const struct columns *c, bool here)
{
    struct options_view *v = p->state;
    struct pane row = pane_part(pane, 0, y, pane->width, 1);
    char cut[64], brief[256];

    if (!row.height || !row.width)
        return;
    pane_text(&row, 2, 0, here ? ROLE_TITLE | BOLD : ROLE_TEXT, r->name);
    struct pane field = pane_part(&row, c->value, 0, VALUE_COLUMNS + 8, 1);
    if (here && v->typing && field.width) {
        int x = edit_draw(&v->value, &field, 0, 0, ROLE_TITLE | BOLD | REVERSE);
        pane->grid->cursor_x = field.x + (x < field.width ? x : field.width - 1);
        pane->grid->cursor_y = field.y;
        return;
    }
    pane_text(&field, 0, 0, here ? ROLE_TITLE | BOLD : ROLE_TEXT,
              text_cut_middle(cut, sizeof cut, r->value, c->summary - c->value - 2));
    if (pane->width >= 60)
        pane_text(&row, c->summary, 0, ROLE_DIM,
                  text_cut_clauses(brief, sizeof brief, r->summary, row.width - c->summary));
    if (!here)
        return;
    pane_select(&row, 0, ROLE_SELECT);
    pane->grid->cursor_x = row.x;
    pane->grid->cursor_y = row.y;
}

/* The word behind (step 1) or before the present one. */
static bool next_word(const struct row *r, int step, char *out, size_t room)
{
    char words[8][24];
    int count = 0, at = 0;

    for (const char *s = r->values; s && *s && count < 8; s += strcspn(s, " "), s += *s == ' ') {
        snprintf(words[count], sizeof *words, "%.*s", (int)strcspn(s, " "), s);
        at = !strcmp(words[count], r->value) ? count : at;
        count++;
    }
    if (count)
        snprintf(out, room, "%s", words[(at + step + count) % count]);
    return count > 0;
}

/* ---- a change still to be made ---- */

static void write_line(const struct row *r, const char *value, char line[static COMMAND_TEXT_ROOM])
{
    if (r->command)
        snprintf(line, COMMAND_TEXT_ROOM, "%.60s%.400s", r->command, value);
    else
        snprintf(line, COMMAND_TEXT_ROOM, "set %.60s %.400s", r->name, value);
}

/* What belongs to the learner, and who searches, leaves the optimum as it is. */
static bool changes_optimum(const struct row *r)
{
    static const char *const others[] = {"kind", "folding", "memory-limit", "propagation"};

    for (size_t n = 0; n < sizeof others / sizeof *others; n++) {
        if (!strcmp(r->name, others[n]))
            return true;
    }
    return r->command != NULL;
}

/* The value that is typed, or the next of few. False: there is none to try. */
static bool wished_value(const struct options_view *v, const struct row *r, char *value,
                         size_t room)
{
    if (!changes_optimum(r))
        return false;
    if (!v->typing)
        return r->values && next_word(r, 1, value, room);
    snprintf(value, room, "%s", v->value.text);
    return value[0] && strcmp(value, r->value) != 0;
}

/* "zero 0 to 1: optimum 206.4 to 205.9 ms, -0.5, 6.5 GB a device, proven": as a pin's dialog says
 * it. Rows it takes. */
static int draw_wish(const struct panel *p, const struct pane *pane, int y)
{
    struct options_view *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct trial_look *look = &v->trial.look;
    char value[COMMAND_TEXT_ROOM] = "", line[COMMAND_TEXT_ROOM] = "", text[512], cut[512],
         now[UNITS_ROOM], then[UNITS_ROOM], change[UNITS_ROOM], memory[UNITS_ROOM];
    struct row r;

    bool wished =
        row_at(p, (size_t)v->list.cursor, &r) && wished_value(v, &r, value, sizeof value) && y >= 8;
    if (wished)
        write_line(&r, value, line);
    trial_follow(&v->trial, w, line, p->scene->now_ms);
    if (!wished)
        return 0;
    const struct live_plan *best = watch_optimum(w);
    int size = snprintf(text, sizeof text, "%s %.20s to %.30s: ", r.name, r.value, value);
    char *rest = text + size;
    size_t room = sizeof text - (size_t)size;
    if (!look->done)
        snprintf(rest, room, "..");
    else if (look->trouble[0])
        snprintf(rest, room, "%s", look->trouble);
    else if (!look->has_plan)
        snprintf(rest, room, "no plan fits then, %s", look->proof);
    else if (!best)
        snprintf(rest, room, "optimum then %s, none fits now, %s a device, %s",
                 units_ms(then, look->step_ms), units_bytes(memory, look->memory), look->proof);
    else
        snprintf(rest, room, "optimum %s to %s, %s, %s a device, %s",
                 units_plain_ms(now, best->cost.step_ms), units_ms(then, look->step_ms),
                 units_change(change, look->step_ms - best->cost.step_ms,
                              units_ms_decimals(best->cost.step_ms)),
                 units_bytes(memory, look->memory), look->proof);
    pane_text(pane, 2, y, ROLE_TITLE, text_cut_clauses(cut, sizeof cut, text, pane->width - 2));
    return 1;
}

/* What the last change came to: before, after, as a pin's dialog says it; u takes it back. Rows it
 * takes: 0 before the first. */
static int draw_change(const struct panel *p, const struct pane *pane, int y)
{
    const struct watch *w = p->scene->watch;
    const struct ledger *l = w->shot->ledger;
    const struct ledger_row *r = l ? &l->rows[l->now] : NULL,
                            *before = r ? ledger_before(l, r) : NULL;
    char edit[LEDGER_EDIT_ROOM], was[UNITS_ROOM], is[UNITS_ROOM], change[UNITS_ROOM];
    char memory[UNITS_ROOM], text[256], cut[256], proof[LEDGER_PROOF_ROOM];

    if (!before || before == r || y < 7)
        return 0;
    ledger_edit(w, r, edit, sizeof edit);
    if (!ledger_has_plan(before) || !ledger_has_plan(r))
        snprintf(text, sizeof text, "%s: %s", edit,
                 ledger_has_plan(r) ? "a plan fits now" : "no plan fits");
    else
        snprintf(text, sizeof text, "%s: optimum before %s, after %s, %s ms, %s a device, %s", edit,
                 units_ms(was, before->figures.cost.step_ms), units_ms(is, r->figures.cost.step_ms),
                 units_change(change, r->figures.cost.step_ms - before->figures.cost.step_ms,
                              units_ms_decimals(before->figures.cost.step_ms)),
                 units_bytes(memory, r->figures.memory.peak), ledger_proof(r, false, proof));
    pane_text(pane, 2, y, ROLE_CHANGED, text_cut_clauses(cut, sizeof cut, text, pane->width - 2));
    return 1;
}

static void draw_options(struct panel *p, const struct pane *pane)
{
    struct options_view *v = p->state;
    struct row r, top;
    char note[64] = "o";
    int count = p->scene->watch ? count_rows(p) : 0, head = 1 + (pane->height >= 16);

    if (!count)
        return;
    v->list.count = count; /* the cursor is needed first */
    int low = pane->height - 1;
    low -= draw_wish(p, pane, low);
    low -= draw_change(p, pane, low);
    list_fit(&v->list, count, low + 1 - head);
    if (row_at(p, (size_t)v->list.cursor, &top))
        snprintf(note, sizeof note, "%s · %lld of %d", top.group, (long long)v->list.cursor + 1,
                 count);
    pane_head(pane, 0, &(struct head){0, "Options", note, true});
    const char *group = "";
    const struct columns columns = columns_of(p);
    for (int y = 0;
         y < v->list.rows && row_at(p, (size_t)(v->list.top + y), &r) && v->list.top + y < count;
         y++) {
        draw_row(p, pane, head + y, &r, &columns, v->list.top + y == v->list.cursor);
        if (pane->width >= WIDE && strcmp(group, r.group) != 0)
            pane_right(pane, pane->width, head + y, ROLE_DIM, r.group);
        group = r.group;
    }
}

static void close_options(struct panel *p)
{
    trial_release(&((struct options_view *)p->state)->trial);
}

static bool is_live(const struct panel *p)
{
    return trial_is_busy(&((const struct options_view *)p->state)->trial);
}

static int rows_options(const struct panel *p, int width)
{
    (void)p;
    (void)width;
    return 20;
}

static void send_value(struct panel *p, const struct row *r, const char *value)
{
    char line[COMMAND_TEXT_ROOM];

    write_line(r, value, line);
    (void)host_command(p->scene, line);
}

static bool act_options(struct panel *p, int action)
{
    struct options_view *v = p->state;
    struct row r;
    char word[24];

    if (!row_at(p, (size_t)v->list.cursor, &r))
        return false;
    if (r.values && next_word(&r, action == OPTIONS_LAST ? -1 : 1, word, sizeof word)) {
        send_value(p, &r, word);
    } else {
        v->typing = true;
        edit_set(&v->value, r.value);
    }
    return true;
}

static bool key_options(struct panel *p, uint32_t key)
{
    struct options_view *v = p->state;
    struct row r;

    if (!v->typing)
        return false;
    if (key == KEYC_ENTER || key == KEYC_ESC) {
        v->typing = false;
        if (key == KEYC_ENTER && v->value.size && row_at(p, (size_t)v->list.cursor, &r) &&
            strcmp(v->value.text, r.value) != 0)
            send_value(p, &r, v->value.text);
        return true;
    }
    return edit_key(&v->value, key) || key >= ' ';
}

static bool move_options(struct panel *p, enum list_move move)
{
    struct options_view *v = p->state;
    return list_move(&v->list, move);
}

static bool find_options(struct panel *p, const struct match *pattern, int step)
{
    struct options_view *v = p->state;
    int count = count_rows(p);
    struct row r;

    for (int i = step ? 1 : 0; i <= count && count; i++) {
        int64_t at = (v->list.cursor + (step < 0 ? -i : i) + count) % count;
        if (row_at(p, (size_t)at, &r) &&
            (match_text(pattern, r.name) || match_text(pattern, r.summary))) {
            list_go(&v->list, at);
            return true;
        }
    }
    return false;
}

static void click_options(struct panel *p, int x, int y, bool twice)
{
    struct options_view *v = p->state;
    int row = y - 1 - (p->height >= 16);

    (void)x;
    if (row < 0 || v->list.top + row >= v->list.count || v->typing)
        return;
    list_go(&v->list, v->list.top + row);
    if (twice)
        act_options(p, OPTIONS_CHANGE);
}

static void message_options(const struct panel *p, char *out, size_t room)
{
    const struct options_view *v = p->state;
    struct row r;

    if (!row_at(p, (size_t)v->list.cursor, &r))
        return;
    if (v->typing)
        snprintf(out, room, "Enter changes it  Esc leaves it");
    else
        snprintf(out, room, "%s%s%s", r.summary, r.values ? ": " : "", r.values ? r.values : "");
}

const struct panel_ops view_options = {
    .name = "options",
    .title = "Options",
    .place = PLACE_DIALOG,
    .keys = &options_keys,
    .hints = "change down=choose next undo search escape=leave",
    .stays = true,
    .size = sizeof(struct options_view),
    .open = open_options,
    .close = close_options,
    .is_live = is_live,
    .live_ms = 100,
    .draw = draw_options,
    .key = key_options,
    .act = act_options,
    .move = move_options,
    .find = find_options,
    .click = click_options,
    .dialog_rows = rows_options,
    .message = message_options,
};
