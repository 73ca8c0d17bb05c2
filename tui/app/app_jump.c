/* Jump labels: each row of what has the keys shows a letter, the next key goes to one. */
#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/theme.h"
#include "tui/views/panel.h"

struct rect app_jump_area(const struct app *a)
{
    const struct panel *p = app_top(a);
    const struct rect *r = a->depth > 0 ? NULL : layout_panel(&a->layout, a->focus);

    if (!p || !p->ops->click)
        return (struct rect){0};
    return a->depth > 0 ? a->top_area
           : r          ? (struct rect){r->x, r->y + 1, r->width, r->height - 1}
                        : (struct rect){0};
}

/* Blank, or all dim as titles of columns are. */
static bool is_blank(const struct grid *g, const struct rect *r, int y)
{
    const struct cell *row = g->cells + (size_t)(r->y + y) * (size_t)g->width + r->x;

    for (int x = 0; x < r->width; x++) {
        if (row[x].ch != ' ' && row[x].ch && (row[x].style & 0xff) != ROLE_DIM)
            return false;
    }
    return true;
}

char app_jump_letter(const struct app *a, const struct rect *r, int y)
{
    static const char letters[] = "asdfghjklqwertyuiopzxcvbnmASDFGHJKLQWERTYUIOPZXCVBNM";
    int at = 0;

    for (int n = 0; n <= y && n < r->height; n++) {
        bool blank = is_blank(&a->grid, r, n);
        if (n == y)
            return !blank && at < (int)sizeof letters - 1 ? letters[at] : 0;
        at += !blank;
    }
    return 0;
}

void app_jump_key(struct app *a, uint32_t key)
{
    struct rect r = app_jump_area(a);

    a->jumping = false;
    for (int y = 0; y < r.height && r.y + y < a->grid.height; y++) {
        char letter = app_jump_letter(a, &r, y);
        if (letter && (uint32_t)letter == key) {
            app_click(a, r.x, r.y + y, false);
            return;
        }
    }
    if (key != KEYC_ESC)
        app_say(a, "no row has this letter");
}

void app_jump_begin(struct app *a)
{
    a->jumping = app_jump_area(a).height > 0;
    if (!a->jumping)
        app_say(a, "no rows to jump to here");
}
