/* The classroom laid out: everything at once, or a page at a time. */
#include "tui/views/class_view.h"

#include "engine/live/snapshot.h"
#include "engine/live/watched.h"
#include "engine/text/units.h"
#include "rl/settings.h"
#include "rl/taught.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/views/class_draw.h"
#include "tui/views/panel.h"
#include "tui/watch/game_job.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the strip ---- */

static const char *const part_names[CLASS_PARTS] = {"look",   "choose", "act",  "store",
                                                    "sample", "target", "step", "copy"};

static void draw_parts(const struct class_shown *s, const struct pane *p, int y)
{
    char kept[UNITS_ROOM], room[UNITS_ROOM], update[UNITS_ROOM];
    const struct rl_lesson *l = s->lesson;
    int wide = p->width >= 72 ? 2 : 1, x = 0;

    for (int k = 0; k < CLASS_PARTS; k++) {
        unsigned style = !l                  ? ROLE_DIM
                         : k == (int)s->part ? ROLE_TITLE | BOLD | REVERSE
                                             : ROLE_TEXT;
        style = l && k > (int)s->part ? ROLE_DIM : style;
        style = l && k >= CLASS_SAMPLE && !l->updates ? ROLE_DIM : style;
        x = pane_format(p, x, y, style, "%d %s", k + 1, part_names[k]) + wide;
    }
    if (l && x + 34 < p->width)
        pane_right_format(p, p->width, y, ROLE_DIM, "%s of %s kept · update %s",
                          units_count(kept, l->kept),
                          units_count(room, s->settings->replay_capacity),
                          l->updates ? units_count(update, (int64_t)l->update) : "none");
}

/* ---- the curves ---- */

static void draw_runs(struct panel *p, const struct pane *pane)
{
    struct classroom *v = p->state;

    if (v->game)
        class_draw_game_runs(&v->look, v->alone, p->scene->ascii, pane);
    else
        class_draw_search_runs(p->scene->watch, &v->curves, v->alone, p->scene->ascii, pane);
}

static void write_mean(double best, char *out, size_t room)
{
    if (isfinite(best))
        snprintf(out, room, "%.4g, mean of %d", best, GAME_LAST);
    else
        snprintf(out, room, "not yet %d episodes", GAME_LAST);
}

static void draw_switches(struct panel *p, const struct pane *pane)
{
    const struct classroom *v = p->state;
    const struct snapshot *s = class_shot(p);
    struct class_came_to c = {0};
    char ms[UNITS_ROOM];

    if (v->game) {
        c.now = &v->look.now.settings;
        c.before = v->look.before.count ? &v->look.before.settings : NULL;
        write_mean(v->look.now.best, c.best, sizeof c.best);
        write_mean(v->look.before.best, c.best_before, sizeof c.best_before);
    } else {
        const struct live_run *old = &s->run_before;
        c.now = &s->options.rl;
        c.before = old->ended > old->began ? &old->rl : NULL;
        if (s->best && s->best->episode >= s->began)
            snprintf(c.best, sizeof c.best, "%s at %llu", units_ms(ms, s->best->cost.step_ms),
                     (unsigned long long)(s->best->episode - s->began));
        if (old->best_ms > 0)
            snprintf(c.best_before, sizeof c.best_before, "%s at %llu", units_ms(ms, old->best_ms),
                     (unsigned long long)old->best_episode);
    }
    class_draw_switches(&c, pane);
}

/* ---- the whole ---- */

static void draw_note(const struct panel *p, char *note, size_t room)
{
    const struct classroom *v = p->state;
    const struct rl_lesson *l = class_lesson(p);
    char count[UNITS_ROOM];

    if (v->game)
        snprintf(note, room, "the same learner, a game with a known answer");
    else
        snprintf(note, room, l ? "decision %s of the search" : "the search, in slow motion",
                 l ? units_count(count, (int64_t)l->decision) : "");
}

/* Rows of the sample: of the one drawn, else of the one before. */
static int64_t rows_of(const struct class_shown *s)
{
    return s->lesson && s->lesson->updates ? s->lesson->rows : s->before ? s->before->rows : 0;
}

/* Wide: everything at once. The game stands where the search has its update. */
static void draw_wide(struct panel *p, const struct pane *pane, const struct class_shown *s)
{
    struct classroom *v = p->state;
    int half = pane->width / 2, y = 3, upper = !v->game && pane->height >= 36 ? 16 : 14,
        lower = pane->height - y - upper;
    int sampled = pane->height < 44 ? lower / 2 - 1 : lower * 5 / 11;
    struct pane left = pane_part(pane, 0, y, half - 2, upper - 1),
                right = pane_part(pane, half + 1, y, pane->width - half - 1, upper - 1);

    class_draw_choice(s, &left);
    class_draw_update(s, &right);
    y += upper;
    if (v->game) {
        int high = lower - 10 > 10 ? lower - 10 : lower / 2;
        left = pane_part(pane, 0, y, half - 2, high);
        right = pane_part(pane, half + 1, y, pane->width - half - 1, high);
        class_draw_game(&v->look, p->scene->ascii, &left);
        class_draw_learned(&v->look, &right);
        y += high + (lower - high > 9);
    } else {
        struct pane sample = pane_part(pane, 0, y, pane->width, sampled);
        list_fit(&v->row, rows_of(s), sampled - 2);
        class_draw_sample(s, &sample, v->row.top);
        y += sampled + 1;
    }
    left = pane_part(pane, 0, y, half - 2, pane->height - y);
    right = pane_part(pane, half + 1, y, pane->width - half - 1, pane->height - y);
    draw_runs(p, &left);
    draw_switches(p, &right);
}

/* Small: a page at a time. */
static void draw_page(struct panel *p, const struct pane *pane, const struct class_shown *s)
{
    struct classroom *v = p->state;
    int height = pane->height - 2, upper = height / 2;
    struct pane whole = pane_part(pane, 0, 2, pane->width, height),
                above = pane_part(&whole, 0, 0, whole.width, upper),
                below = pane_part(&whole, 0, upper, whole.width, height - upper);

    if (v->page == 0) {
        class_draw_choice(s, &above);
        if (v->game)
            class_draw_game(&v->look, p->scene->ascii, &below);
        else
            class_draw_update(s, &below);
    } else if (v->page == 1) {
        int rows = v->game ? height / 3 : height - 11;
        struct pane sample = pane_part(&whole, 0, 0, whole.width, rows > 3 ? rows : 3),
                    update =
                        pane_part(&whole, 0, sample.height, whole.width, height - sample.height);
        list_fit(&v->row, rows_of(s), sample.height > 3 ? sample.height - 2 : 1);
        class_draw_sample(s, &sample, v->row.top);
        class_draw_update(s, &update);
    } else {
        int rows = CLASS_SWITCHES + 2;
        struct pane runs = pane_part(&whole, 0, 0, whole.width, height - rows),
                    switches = pane_part(&whole, 0, height - rows, whole.width, rows);
        draw_runs(p, &runs);
        draw_switches(p, &switches);
    }
}

/* Too small for all parts at once. */
bool class_is_small(int width, int height)
{
    return width < 100 || height < 29;
}

void class_draw(struct panel *p, const struct pane *pane)
{
    const struct classroom *v = p->state;
    char note[128];

    class_follow(p);
    draw_note(p, note, sizeof note);
    bool wide = !class_is_small(pane->width, pane->height);
    if (!wide) {
        size_t size = strlen(note);
        snprintf(note + size, sizeof note - size, " · page %d of %d", v->page + 1, CLASS_PAGES);
    }
    pane_head(pane, 0, &(struct head){0, "Classroom", note, true});
    struct class_shown s = class_shown_now(p);
    draw_parts(&s, pane, 1);
    if (wide)
        draw_wide(p, pane, &s);
    else
        draw_page(p, pane, &s);
}
