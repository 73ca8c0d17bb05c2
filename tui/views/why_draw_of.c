/* Whose splits are explained: the one in reverse, then those that `w` goes on to, as they fit. */
#include "tui/screen/grid.h"
#include "tui/views/panel.h"
#include "tui/views/why_draw.h"
#include "tui/watch/watch.h"
#include "tui/watch/why_of.h"

#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"

#include <stdbool.h>
#include <stdio.h>

/* "proven optimum  225.6"; of what is no plan the name alone, its step is not at hand. */
static void write_of(const struct watch *w, struct why_of of, bool brief, char *out, size_t room)
{
    char name[WHY_OF_ROOM], step[UNITS_ROOM];

    snprintf(out, room, "%s%s%s", brief ? why_of_brief(w, of, name) : why_of_name(w, of, name),
             of.plan ? "  " : "", of.plan ? units_plain_ms(step, of.plan->cost.step_ms) : "");
}

enum { OF_ROOM = WHY_OF_ROOM + UNITS_ROOM + 4 };

/* Those that `w` goes on to from column x; in brief where the names do not fit. Without `draws`
 * nothing is written. Returns the column behind, as if there were room. */
static int draw_others(const struct why *v, const struct watch *w, const struct pane *p, int x,
                       int y, bool brief, bool draws)
{
    struct why_of next = v->of, list[WHY_OF_MOST];
    int count = why_of_list(w, list);
    char text[OF_ROOM];

    for (int n = 1; n < count; n++) {
        next = why_of_next(w, next, 1);
        write_of(w, next, brief, text, sizeof text);
        int more = n + 1 < count ? 3 : 0; /* columns of " .." */
        if (draws && x + 2 + utf8_text_columns(text) + more > p->width) {
            if (n == 1 && x + 14 <= p->width)
                pane_cut(p, x + 2, y, p->width - x - 2, ROLE_DIM, text);
            else if (x + 3 <= p->width)
                pane_text(p, x, y, ROLE_DIM, " ..");
            return x;
        }
        if (draws)
            pane_text(p, x + 2, y, ROLE_DIM, text);
        x += 2 + utf8_text_columns(text);
    }
    return x;
}

void why_draw_of(const struct panel *p, const struct pane *pane, int y)
{
    const struct why *v = p->state;
    const struct watch *w = p->scene->watch;
    struct why_of list[WHY_OF_MOST];
    int count = why_of_list(w, list), x = pane_text(pane, 0, y, ROLE_DIM, "of ");
    char text[OF_ROOM], name[WHY_OF_ROOM], step[UNITS_ROOM];

    snprintf(text, sizeof text, " %s  %s ", why_of_name(w, v->of, name),
             units_plain_ms(step, v->step_ms));
    x = pane_cut(pane, x, y, pane->width - x, ROLE_TITLE | BOLD | REVERSE, text) + 2;
    if (count < 2 || x + 8 + 14 > pane->width) { /* no room for a name: the key alone */
        const char *words = count < 2 ? "" : x + 10 <= pane->width ? "w others" : "w";
        pane_right(pane, pane->width, y, ROLE_DIM, words);
        return;
    }
    x = pane_text(pane, x, y, ROLE_DIM, "w again:");
    bool brief = draw_others(v, w, pane, x, y, false, false) > pane->width;
    draw_others(v, w, pane, x, y, brief, true);
}
