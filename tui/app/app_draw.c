/* One frame: the rows that are the same everywhere, and each view in its place. */
#include "engine/live/snapshot.h"
#include "hlo/support/err.h"
#include "tui/app/app_internal.h"
#include "tui/screen/edit.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"
#include "tui/screen/theme.h"
#include "tui/views/actions.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"

#include "engine/text/units.h"
#include "tui/app/colon.h"
#include "tui/app/colon_values.h"
#include "tui/app/header.h"
#include "tui/screen/utf8.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

static struct pane pane_of(struct app *a, struct rect r)
{
    struct pane whole = pane_whole(&a->grid);
    return pane_part(&whole, r.x, r.y, r.width, r.height);
}

/* The hint word of one action: its keys, and those of the actions that share its row. */
struct hint {
    char keys[48];
    const char *word;
    const struct key_table *table;
    int action;
};

static bool make_hint(const struct app *a, const struct key_table *t, int action, struct hint *h)
{
    size_t size = 0;
    int shown = 0;

    bool typed = app_top(a) && app_top(a)->ops->types;
    h->keys[0] = 0;
    h->table = t;
    h->action = action;
    h->word = t->actions[action].hint;
    if (t == &common_keys && action == ACT_RUN && a->watch && a->watch->shot->state == LIVE_RUNNING)
        h->word = "pause";
    for (int i = action; i < t->count && shown < 3; i++) {
        if (i > action && t->actions[i].words)
            break;
        const char *keys = keymap_keys(a->keymap, t, i, 0);
        for (int k = 1; typed && keys && utf8_text_columns(keys) == 1; k++)
            keys = keymap_keys(a->keymap, t, i, k);
        if (!keys || size + strlen(keys) + 2 > sizeof h->keys || (shown && strlen(keys) > 1))
            continue; /* of a pair of long keys one is enough to find the other */
        size +=
            (size_t)snprintf(h->keys + size, sizeof h->keys - size, "%s%s", size ? " " : "", keys);
        shown++;
    }
    return shown > 0;
}

static const struct key_table *find_action(const struct panel *p, const char *name, size_t size,
                                           int *action)
{
    const struct key_table *tables[2] = {p->ops->keys, &common_keys};
    for (int t = 0; t < 2; t++) {
        for (int i = 0; tables[t] && i < tables[t]->count; i++) {
            const char *own = tables[t]->actions[i].name;
            if (strlen(own) == size && !memcmp(own, name, size)) {
                *action = i;
                return tables[t];
            }
        }
    }
    return NULL;
}

/* A key of the common table that has nothing to work on: a view that writes a page has none now,
 * and one that only speaks of a decision is at none. */
static bool is_idle(const struct panel *p, int action)
{
    const struct panel_ops *o = p->ops;

    if (action == ACT_EXPORT)
        return o->page && !o->page(p, NULL) && !o->plan_here; /* which would be written else */
    return action == ACT_WHY && o->move_here && !o->plan_here && !o->instruction_here &&
           !o->question_here && o->move_here(p) == MOVE_NONE;
}

/* One item of a hints string: "fold", "down=choose", or "+plans=views" for the first key of many.
 */
static bool parse_hint(const struct app *a, const struct panel *p, const char *item, size_t size,
                       struct hint *h, char *word, size_t room)
{
    bool first = *item == '+';
    item += first;
    size -= first;
    const char *equals = memchr(item, '=', size);
    size_t name = equals ? (size_t)(equals - item) : size;
    int action = 0;
    const struct key_table *t = find_action(p, item, name, &action);

    BUG_ON(!t);
    if (t == p->ops->keys ? p->ops->works && !p->ops->works(p, action) : is_idle(p, action))
        return false;
    if (!make_hint(a, t, action, h))
        return false;
    if (first) {
        h->keys[strcspn(h->keys, " ")] = 0;
        h->table = NULL; /* no action of its own to click on */
    }
    if (equals) {
        snprintf(word, room, "%.*s", (int)(size - name - 1), equals + 1);
        for (char *c = word; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        h->word = word;
    }
    return h->word != NULL;
}

/* Hints drop from the right; the last one, help or close, stays. */
static void draw_hints(struct app *a, const struct pane *p)
{
    const struct panel *top = app_top(a);
    struct hint hints[HINTS_MOST];
    char words[HINTS_MOST][32];
    int count = 0, x = 0, all = 0;

    if (!top || !top->ops->hints)
        return;
    for (const char *s = top->ops->hints; *s && count < HINTS_MOST;) {
        size_t size = strcspn(s, " ");
        if (size && parse_hint(a, top, s, size, &hints[count], words[count], sizeof words[count]))
            count++;
        s += size + (s[size] == ' ');
    }
    if (!count)
        return;
    const struct hint *last = &hints[count - 1];
    int stays = utf8_text_columns(last->keys) + 1 + utf8_text_columns(last->word);
    for (int i = 0; i < count; i++)
        all += utf8_text_columns(hints[i].keys) + 3 + utf8_text_columns(hints[i].word);
    int gap = all - 2 <= p->width ? 2 : 1;
    for (int i = 0; i < count; i++) {
        int width = utf8_text_columns(hints[i].keys) + 1 + utf8_text_columns(hints[i].word);
        if (i < count - 1 && x + width + gap + stays > p->width)
            continue;
        if (hints[i].table)
            a->hints[a->hint_count++] =
                (struct hint_spot){p->x + x, p->y, width, hints[i].table, hints[i].action};
        x = pane_text(p, x, 0, ROLE_KEY, hints[i].keys) + 1;
        x = pane_text(p, x, 0, ROLE_DIM, hints[i].word) + gap;
    }
}

/* One of them, if it fits; the next column, or -1: no room. */
static int draw_candidate(const struct pane *p, int x, const char *text, int typed)
{
    if (x + utf8_text_columns(text) > p->width) {
        if (x + 2 <= p->width)
            pane_text(p, x, 0, ROLE_DIM, "..");
        return -1;
    }
    int end = pane_format(p, x, 0, ROLE_MATCH, "%.*s", typed, text);
    return pane_text(p, end, 0, ROLE_DIM, text + typed) + 2;
}

static bool is_among(char (*words)[32], int count, const char *text, size_t size)
{
    for (int n = 0; n < count; n++) {
        if (strlen(words[n]) == size && !memcmp(words[n], text, size))
            return true;
    }
    return false;
}

/* Before anything is typed: the last lines, then every first word once. */
static void draw_first_words(struct app *a, const struct pane *p)
{
    enum { WORDS = 32, LAST = 2 };
    char words[WORDS][32];
    struct colon_line line;
    const struct history *h = &a->history[PROMPT_COMMAND - 1];
    int count = 0, x = 0;

    for (int n = h->count - 1; n >= 0 && n >= h->count - LAST && x >= 0; n--)
        x = draw_candidate(p, x, h->lines[n], 0);
    for (int i = 0; count < WORDS && x >= 0 && colon_line(a, i, &line); i++) {
        size_t size = strcspn(line.text, " ");
        if (size >= sizeof words[0] || is_among(words, count, line.text, size))
            continue;
        snprintf(words[count], sizeof words[count], "%.*s", (int)size, line.text);
        x = draw_candidate(p, x, words[count], 0);
        count++;
    }
}

/* While a command is typed: what it may become, as many as fit. */
static void draw_candidates(struct app *a, const struct pane *p)
{
    struct colon_line line;
    size_t size = a->line.size;
    int x = 0;

    if (!size) {
        draw_first_words(a, p);
        return;
    }
    for (int i = 0; x >= 0 && colon_line(a, i, &line); i++) {
        if (!strncmp(line.text, a->line.text, size))
            x = draw_candidate(p, x, line.text, (int)size);
    }
    char most[EDIT_ROOM];
    int named = x ? 0 : colon_complete_name(a, a->line.text, most, sizeof most);
    if (named)
        pane_format(p, 0, 0, ROLE_DIM, named == 1 ? "Tab: %s" : "Tab: %s .., %d begin so", most,
                    named);
    else if (!x)
        pane_text(p, 0, 0, ROLE_DIM,
                  colon_hint(a, a->line.text, most, sizeof most) ? most : "no command begins so");
}

static void draw_quit(const struct app *a, const struct pane *p)
{
    static const char *const answers[][2] = {
        {"s", "save"}, {"q", "quit"}, {"b", "start screen"}, {"Esc", "stay"}};
    int unsaved = app_unsaved_pins(a), pins = unsaved ? unsaved : app_pins(a), x;

    if (pins)
        x = pane_format(p, 0, 0, ROLE_TEXT, "%d %s %s.", pins, pins == 1 ? "pin is" : "pins are",
                        unsaved          ? "not saved"
                        : app_is_kept(a) ? "kept in the session"
                                         : "saved");
    else
        x = pane_text(p, 0, 0, ROLE_TEXT,
                      app_is_kept(a) ? "The search runs; its session is kept."
                                     : "The search runs, and no session keeps it.");
    for (size_t k = !unsaved; k < sizeof answers / sizeof *answers; k++) {
        x = pane_text(p, x + 2, 0, ROLE_KEY, answers[k][0]);
        x = pane_text(p, x + 1, 0, ROLE_TEXT, answers[k][1]);
    }
}

static void draw_prompt(struct app *a, const struct pane *p)
{
    pane_clear(p);
    if (a->prompt == PROMPT_QUIT) {
        draw_quit(a, p);
        return;
    }
    pane_text(p, 0, 0, ROLE_KEY,
              a->prompt == PROMPT_COMMAND  ? ":"
              : a->prompt == PROMPT_FILTER ? "\\"
                                           : "/");
    int x = edit_draw(&a->line, p, 1, 0, ROLE_TEXT);
    a->grid.cursor_x = p->x + (x < p->width ? x : p->width - 1);
    a->grid.cursor_y = p->y;
}

/* The beginning of a sequence, and what may follow: in the last row, and in that of the hints where
 * one is too little. */
static void draw_typed(const struct app *a, const struct pane *above, const struct pane *p)
{
    const struct panel *top = app_top(a);
    const struct key_table *own = top ? top->ops->keys : NULL;
    const struct action *next;
    const struct pane *row = p;
    struct key_sequence s = {{0}};
    char text[KEYS_TEXT_ROOM], key[KEY_NAME_ROOM];
    int at = 0, all = 0, gap = 2;

    memcpy(s.keys, a->typed, (size_t)a->typed_count * sizeof *s.keys);
    key_sequence_name(text, &s);
    int begin = utf8_text_columns(text) + 2;
    while ((next = keymap_follows(a->keymap, own, a->typed, a->typed_count, &at, key)))
        all += utf8_text_columns(key) + 1 + utf8_text_columns(next->name) + gap;
    if (begin + all - gap > p->width) {
        row = above;
        pane_clear(row);
    }
    int x = pane_text(row, 0, 0, ROLE_TITLE | BOLD, text) + 2;
    for (at = 0; (next = keymap_follows(a->keymap, own, a->typed, a->typed_count, &at, key));) {
        bool fits = x + utf8_text_columns(key) + 1 + utf8_text_columns(next->name) <= row->width;
        if (!fits && row == p) {
            pane_text(row, x, 0, ROLE_DIM, "..");
            return;
        }
        if (!fits) {
            row = p;
            x = begin;
        }
        x = pane_text(row, x, 0, ROLE_KEY, key) + 1;
        x = pane_text(row, x, 0, ROLE_DIM, next->name) + gap;
    }
}

static void draw_message(struct app *a, struct rect r, const struct pane *above)
{
    struct panel *top = app_top(a);
    struct pane p = pane_of(a, r);
    char text[MESSAGE_ROOM] = "";

    if (a->prompt != PROMPT_NONE) {
        draw_prompt(a, &p);
        return;
    }
    if (a->typed_count) {
        draw_typed(a, above, &p);
        return;
    }
    if (a->message[0] &&
        a->message_style ==
            ROLE_ERR) { /* both ends of an error matter: the place and what was expected */
        pane_cut(&p, 0, 0, p.width, ROLE_ERR, a->message);
        return;
    }
    char brief[MESSAGE_ROOM];
    if (!a->message[0] && top && top->ops->message)
        top->ops->message(top, text, sizeof text);
    pane_text(&p, 0, 0, a->message[0] ? a->message_style : ROLE_TEXT,
              text_cut_clauses(brief, sizeof brief, a->message[0] ? a->message : text, p.width));
}

static void draw_panel(struct app *a, struct panel *p, struct rect r)
{
    struct pane area = pane_of(a, r);
    char note[128] = "";
    struct head h = {p->ops->id <= PANEL_DEVICES ? (int)p->ops->id : 0, p->ops->title, note, false};

    p->focus = a->depth == 0 && p == a->placed[a->focus];
    p->width = r.width;
    p->height = r.height - 1;
    h.focus = p->focus;
    struct pane inside = pane_part(&area, 0, 1, r.width, r.height - 1);
    p->ops->draw(p, &inside);
    if (p->ops->head)
        p->ops->head(p, &h, note, sizeof note);
    char filter[64], placed[224], at[UNITS_ROOM], count[UNITS_ROOM];
    if (p->filter) {
        snprintf(filter, sizeof filter, "\\ %.40s", match_pattern(p->filter));
        h.note = filter;
    }
    const struct list *l = p->ops->list ? p->ops->list(p) : NULL;
    if (l && l->count > l->rows && l->rows > 0) {
        snprintf(placed, sizeof placed, "%s%s%s/%s", h.note, *h.note ? " · " : "",
                 units_count(at, l->cursor + 1), units_count(count, l->count));
        if (utf8_text_columns(placed) + utf8_text_columns(h.title) + 6 <= r.width)
            h.note = placed;
    }
    pane_head(&area, 0, &h);
}

static void plan_layout(struct app *a)
{
    struct layout_wish wish = {.width = a->width,
                               .height = a->height,
                               .focus = a->focus,
                               .zoom = a->zoom,
                               .split = a->split};
    for (int i = 0; i < PANEL_COUNT; i++) {
        struct panel *p = a->placed[i];
        if (!p)
            continue;
        wish.with |= 1u << i;
        if (p->ops->rows)
            wish.rows[i] = 1 + p->ops->rows(p, a->width / 2);
    }
    layout_plan(&a->layout, &wish);
}

static void draw_main(struct app *a)
{
    const struct layout *l = &a->layout;
    struct pane whole = pane_whole(&a->grid);

    struct pane title = pane_of(a, l->title), headline = pane_of(a, l->headline),
                strip = pane_of(a, l->strip);
    header_title(&a->scene, NULL, &title);
    header_headline(&a->scene, &headline);
    strip_draw(&a->scene, &strip);
    for (int i = 0; i < l->rule_count; i++) {
        for (int y = 0; y < l->rules[i].height; y++)
            pane_put(&whole, l->rules[i].x, l->rules[i].y + y, ROLE_BORDER, U'│');
    }
    for (int i = 0; i < l->panel_count; i++)
        draw_panel(a, a->placed[l->panels[i].id], l->panels[i].area);
}

/* Below 40x10 there is one line that still says what counts, and how to leave. */
static void draw_line(struct app *a)
{
    struct pane p = pane_of(a, a->layout.message);

    if (a->prompt != PROMPT_NONE)
        draw_prompt(a, &p);
    else
        header_line(&a->scene, &p);
}

/* Rows above a view over the whole screen. */
static int rows_above(const struct app *a, const struct panel *p)
{
    return a->height >= 18 && (p->ops->of_search || p->ops->headline) ? 2 : 1;
}

/* The view of another time that `p`, a view of plans, was opened over; NULL: none. */
static const struct panel *moment_below(const struct app *a, const struct panel *p)
{
    int n = a->depth;

    while (n > 0 && a->stack[n - 1] != p)
        n--;
    while (p->ops->plan_here && n-- > 0) {
        if (a->stack[n]->ops->is_of_then)
            return a->stack[n];
    }
    return NULL;
}

static bool has_about(const struct panel *p, struct panel_about *about)
{
    return p && p->ops->about && p->ops->about(p, about);
}

static bool has_headline(const struct panel *p, const struct pane *row)
{
    return p && p->ops->headline && p->ops->headline(p, row);
}

/* The title row, and in row 2 the headline of the search or the view's own. After the view was
 * drawn: it may have taken what is new. */
static void draw_above(struct app *a, struct panel *p)
{
    const struct panel *then = moment_below(a, p);
    struct panel_about about = {.name = NULL};
    struct pane title = pane_of(a, (struct rect){1, 0, a->width - 2, 1}),
                row = pane_of(a, (struct rect){1, 1, a->width - 2, rows_above(a, p) - 1});

    pane_clear(&title);
    header_title(&a->scene, has_about(p, &about) || has_about(then, &about) ? &about : NULL,
                 &title);
    if (row.height < 1)
        return;
    pane_clear(&row);
    if (!has_headline(p, &row) && p->ops->of_search && !has_headline(then, &row))
        header_headline(&a->scene, &row);
}

static void draw_over(struct app *a, struct panel *p)
{
    enum panel_place place = p->ops->place;
    int margin = place == PLACE_START && a->width >= 70 ? 3 : 1, top = 0;
    struct rect r = {margin, 0, a->width - 2 * margin, a->height - 2};

    p->focus = p == app_top(a);
    if (place == PLACE_FULL) {
        top = rows_above(a, p);
    } else if (place == PLACE_DIALOG) {
        int rows = p->ops->dialog_rows ? p->ops->dialog_rows(p, r.width) : a->height / 2;
        top = a->height - 2 - (rows < a->height - 3 ? rows : a->height - 3);
    }
    r.y = top;
    r.height = a->height - 2 - top;
    struct pane area = pane_of(a, (struct rect){0, top, a->width, a->height - top});
    pane_clear(&area);
    area = pane_of(a, r);
    p->width = r.width;
    p->height = r.height;
    a->top_area = r;
    p->ops->draw(p, &area);
    if (place == PLACE_FULL)
        draw_above(a, p);
}

/* Over the first column of each row that can be jumped to. Found first, drawn then: letters count
 * rows that are not blank. */
static void draw_letters(struct app *a)
{
    struct rect r = app_jump_area(a);
    struct pane p = pane_of(a, r);
    char letters[GRID_MOST];

    for (int y = 0; y < r.height && r.y + y < a->grid.height; y++)
        letters[y] = app_jump_letter(a, &r, y);
    for (int y = 0; y < r.height && r.y + y < a->grid.height; y++) {
        if (letters[y])
            pane_put(&p, 0, y, ROLE_KEY | BOLD | REVERSE, (uint32_t)letters[y]);
    }
}

static void draw_all(struct app *a);

/* The shortest step that all times on the screen are near to: it does not change while a search
 * runs. */
static double step_scale_ms(const struct watch *w)
{
    if (!w || !w->shot)
        return 0;
    return w->exact ? w->exact->cost.step_ms : w->shot->baseline_ms;
}

void app_draw(struct app *a)
{
    int rows = app_tour_rows(a), height = a->height;

    grid_resize(&a->grid, a->width, height);
    a->grid.ms_scale = step_scale_ms(a->scene.watch);
    a->grid.no_colours = a->theme.roles[ROLE_PLOT_0].fg.kind == COLOUR_DEFAULT;
    a->hint_count = 0;
    a->height -= rows; /* a tour's caption stands below all else */
    if (a->loading) {
        struct pane whole = pane_whole(&a->grid);
        app_draw_loading(a, &whole);
    } else {
        draw_all(a);
    }
    a->height = height;
    if (a->wording && !a->loading)
        app_words_draw(a);
    if (!rows)
        return;
    struct pane caption = pane_of(a, (struct rect){1, height - rows, a->width - 2, rows});
    app_tour_draw(a, &caption);
}

static void draw_all(struct app *a)
{
    struct panel *top = app_top(a);
    int first = a->depth;

    plan_layout(a);
    if (a->layout.kind == LAYOUT_LINE) {
        draw_line(a);
        return;
    }
    while (first > 0 && a->stack[first - 1]->ops->place == PLACE_DIALOG)
        first--;
    if (first == 0)
        draw_main(a);
    for (int i = first > 0 ? first - 1 : 0; i < a->depth; i++)
        draw_over(a, a->stack[i]);

    if (a->jumping)
        draw_letters(a);
    bool bare = top && top->ops->place == PLACE_START;
    int margin = bare && a->width >= 70 ? 3 : 1;
    struct rect low = {margin, a->height - 1, a->width - 2 * margin, 1}, high = low;
    high.y--;
    struct pane hints = pane_of(a, bare ? low : high);
    if (a->prompt == PROMPT_COMMAND) {
        pane_clear(&hints);
        draw_candidates(a, &hints);
    } else if (a->depth > 0 || a->layout.hints.height) {
        draw_hints(a, &hints);
    } else if (a->layout.tabs.height) {
        struct pane tabs = pane_of(a, a->layout.tabs);
        header_tabs(&a->scene, &tabs, a->placed, a->focus);
    }
    draw_message(a, bare ? high : low, &hints);
}
