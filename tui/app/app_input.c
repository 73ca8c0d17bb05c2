/* Keys, pasted text, clicks and the wheel: which of them is for whom. */
#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/app/script.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"

#include <string.h>

/* What was typed in a row, as a person would write it. */
static void say_unknown(struct app *a)
{
    struct key_sequence s = {{0}};
    char text[KEYS_TEXT_ROOM];
    memcpy(s.keys, a->typed, (size_t)a->typed_count * sizeof *s.keys);
    app_say(a, "%s means nothing here. ? lists the keys.", key_sequence_name(text, &s));
}

void app_key(struct app *a, uint32_t key)
{
    struct panel *p = app_top(a);
    const struct key_table *table = NULL;
    int action = 0;

    a->message[0] = 0;
    app_touch(a);
    if (app_loading_key(a, key))
        return;
    if (a->prompt != PROMPT_NONE) {
        app_prompt_key(a, key);
        return;
    }
    if (app_tour_key(a, key))
        return;
    if (a->jumping) {
        app_jump_key(a, key);
        return;
    }
    if (a->wording && app_words_key(a, key))
        return;
    if (!a->typed_count && p && p->ops->key && p->ops->key(p, key))
        return;
    if (a->typed_count && key == KEYC_ESC) {
        a->typed_count = 0;
        return;
    }
    a->typed[a->typed_count++] = key;
    enum key_match own = KEY_NONE; /* a person's own come first */
    if (a->scene.user_keys)
        own = keymap_find(a->keymap, a->scene.user_keys, a->typed, a->typed_count, &table, &action);
    if (own == KEY_ACTION && table == a->scene.user_keys) {
        a->typed_count = 0;
        app_act(a, table, action);
        return;
    }
    if (own == KEY_MORE)
        return;
    switch (keymap_find(a->keymap, p ? p->ops->keys : NULL, a->typed, a->typed_count, &table,
                        &action)) {
    case KEY_MORE:
        return;
    case KEY_ACTION:
        a->typed_count = 0;
        app_act(a, table, action);
        return;
    case KEY_NONE:
        say_unknown(a);
        a->typed_count = 0;
        return;
    }
}

void app_pasted(struct app *a, uint32_t key)
{
    struct panel *p = app_top(a);

    app_touch(a);
    if (key == KEYC_ENTER || key == KEYC_TAB)
        key = ' ';
    if (key >= KEY_FIRST_NAMED || key < ' ')
        return;
    if (a->prompt != PROMPT_NONE)
        app_prompt_key(a, key);
    else if (p && p->ops->place != PLACE_LAYOUT && p->ops->key)
        p->ops->key(p, key);
}

static struct panel *panel_at(struct app *a, int x, int y, struct rect *area)
{
    if (a->depth > 0) {
        *area = a->top_area;
        return a->stack[a->depth - 1];
    }
    for (int i = 0; i < a->layout.panel_count; i++) {
        struct rect r = a->layout.panels[i].area;
        if (x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height) {
            *area = (struct rect){r.x, r.y + 1, r.width, r.height - 1};
            return a->placed[a->layout.panels[i].id];
        }
    }
    return NULL;
}

/* A click on a hint is as its key. */
static bool click_hint(struct app *a, int x, int y)
{
    for (int n = 0; a->prompt == PROMPT_NONE && n < a->hint_count; n++) {
        const struct hint_spot *h = &a->hints[n];
        if (y == h->y && x >= h->x && x < h->x + h->width) {
            app_act(a, h->table, h->action);
            return true;
        }
    }
    return false;
}

void app_click(struct app *a, int x, int y, bool twice)
{
    if (a->loading) /* the panels are hidden */
        return;
    if (a->wording) {
        app_touch(a);
        app_words_click(a, x, y);
        return;
    }
    if (click_hint(a, x, y))
        return;
    struct rect area = {0};
    struct panel *p = a->prompt == PROMPT_NONE ? panel_at(a, x, y, &area) : NULL;

    if (!p)
        return;
    app_touch(a);
    if (p->ops->place == PLACE_LAYOUT)
        a->focus = p->ops->id;
    if (p->ops->place == PLACE_LAYOUT && twice && y == area.y - 1)
        a->zoom = !a->zoom; /* on its title */
    if (p->ops->click && y >= area.y && y < area.y + area.height)
        p->ops->click(p, x - area.x, y - area.y, twice);
}

void app_wheel(struct app *a, int x, int y, int steps)
{
    struct rect area = {0};
    struct panel *p = a->prompt == PROMPT_NONE && !a->loading ? panel_at(a, x, y, &area) : NULL;

    if (!p || !p->ops->move)
        return;
    app_touch(a);
    for (int i = 0; i < 3 * (steps < 0 ? -steps : steps); i++)
        p->ops->move(p, steps < 0 ? LIST_UP : LIST_DOWN);
}
