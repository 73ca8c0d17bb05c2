/* Two runs of the learner beside each other: their curves, and what was switched between them. */
#include "tui/views/class_draw.h"

#include "engine/live/series.h"
#include "engine/live/snapshot.h"
#include "engine/search/search.h"
#include "hlo/support/mem.h"
#include "rl/settings.h"
#include "tui/screen/grid.h"
#include "tui/screen/plot.h"
#include "tui/screen/theme.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- two runs ---- */

void class_draw_runs(const struct class_runs *r, const struct pane *p)
{
    struct plot_series series[4];
    size_t count = 0;

    pane_head(p, 0, &(struct head){0, r->title, r->note, false});
    struct pane body = pane_part(p, 0, 1, p->width, p->height - 1);
    if (!r->now.count && !r->before.count) {
        pane_text(&body, 0, 0, ROLE_DIM, "no episode has ended yet");
        return;
    }
    const struct class_run *runs[] = {&r->before, &r->now};
    for (int n = 0; n < 2; n++) {
        if (!runs[n]->count)
            continue;
        series[count++] = (struct plot_series){.y = runs[n]->y,
                                               .x = runs[n]->x,
                                               .count = runs[n]->count,
                                               .kind = PLOT_LINE,
                                               .role = n ? ROLE_PLOT_0 : ROLE_DIM,
                                               .sign = n ? '*' : '.',
                                               .name = runs[n]->name};
        if (runs[n]->best)
            series[count++] = (struct plot_series){.y = runs[n]->best,
                                                   .x = runs[n]->x,
                                                   .count = runs[n]->count,
                                                   .kind = PLOT_STEPS,
                                                   .role = n ? ROLE_PLOT_2 : ROLE_DIM,
                                                   .sign = n ? '+' : '.',
                                                   .name = n ? "best" : NULL};
    }
    struct plot plot = {.series = series,
                        .series_count = count,
                        .first_x = 0,
                        .last_x = r->last_x,
                        .unit_x = r->unit,
                        .low = NAN,
                        .high = NAN,
                        .limit = r->limit,
                        .limit_role = ROLE_OK,
                        .limit_name = r->limit_name,
                        .ascii = r->ascii};
    plot_draw(&body, &plot);
}

/* ---- settings ---- */

const struct class_switch class_switches[CLASS_SWITCHES] = {
    {"double", "double_q"}, {"priority", "prioritized"},      {"dueling", "dueling"},
    {"n-step", "n_step"},   {"target net", "target_network"}, {"Huber", "huber"},
};

/* NULL: the learner has no such setting. */
static const struct rl_setting *setting_of(const char *option)
{
    for (const struct rl_setting *row = rl_setting_table; row->name; row++) {
        if (!strcmp(row->name, option))
            return row;
    }
    return NULL;
}

/* As the table of switches calls it, if it is there. */
static const char *setting_name(const struct rl_setting *row)
{
    for (int n = 0; n < CLASS_SWITCHES; n++) {
        if (!strcmp(row->name, class_switches[n].option))
            return class_switches[n].name;
    }
    return row->name;
}

char *class_write_changes(const struct rl_settings *now, const struct rl_settings *before,
                          char *out, size_t room)
{
    char a[32], b[32];
    size_t size = 0;

    out[0] = 0;
    for (const struct rl_setting *row = rl_setting_table; row->name && size + 1 < room; row++) {
        rl_settings_print(now, row, a, sizeof a);
        rl_settings_print(before, row, b, sizeof b);
        if (strcmp(a, b) != 0)
            size += (size_t)snprintf(out + size, room - size, "%s%s %s", size ? ", " : "",
                                     setting_name(row), a);
    }
    return out;
}

/* ---- the search ---- */

/* The points of a series within began < x <= ended, from 0. Returns how many. */
static uint32_t cut_series(const struct series *s, double began, double ended, double *x, double *y)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        const struct point *at = &s->block->points[i];
        if (at->x <= began || at->x > ended)
            continue;
        x[count] = at->x - began;
        y[count++] = (double)at->mean;
    }
    return count;
}

/* Best so far, of rewards. */
static void find_best(const double *y, uint32_t count, double *best)
{
    for (uint32_t i = 0; i < count; i++)
        best[i] = i && best[i - 1] > y[i] ? best[i - 1] : y[i];
}

void class_curves_new(struct class_curves *c)
{
    double **arrays[] = {&c->x, &c->y, &c->mean, &c->best, &c->old_x, &c->old_mean, &c->old_best};

    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++)
        *arrays[n] = mem_alloc(SERIES_POINTS * sizeof(double));
}

void class_curves_free(struct class_curves *c)
{
    double *arrays[] = {c->x, c->y, c->mean, c->best, c->old_x, c->old_mean, c->old_best};

    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++)
        free(arrays[n]);
}

/* What tells this run from the one before. Settings may have been changed, or set back, since it
 * began. */
static void write_apart(const struct snapshot *s, char *out, size_t room)
{
    const struct live_run *old = &s->run_before;
    char option[48] = "", changes[64];

    (void)sscanf(old->what, "%47s", option);
    class_write_changes(&s->options.rl, &old->rl, changes, sizeof changes);
    snprintf(out, room, "%s, beside the run before",
             changes[0]           ? changes
             : setting_of(option) ? "set back on the way"
                                  : old->what);
}

void class_draw_search_runs(const struct watch *w, struct class_curves *c, bool alone, bool ascii,
                            const struct pane *pane)
{
    const struct snapshot *s = w->shot;
    const struct live_run *old = &s->run_before;
    bool both = old->ended > old->began && !alone;
    char note[96];

    uint32_t count = cut_series(&s->reward, (double)s->began, INFINITY, c->x, c->y);
    find_best(c->y, count, c->best);
    plot_smooth(c->mean, c->y, count, 0.9);
    struct class_runs r = {.title = "Reward",
                           .note = note,
                           .unit = "ep",
                           .now = {c->x, c->mean, c->best, count, "this"},
                           .last_x = fmax(1, (double)(s->episodes - s->began)),
                           .limit = w->exact && w->exact->fits ? w->exact->score : NAN,
                           .limit_name = "optimum",
                           .ascii = ascii};
    snprintf(note, sizeof note, "mean of about 10, and best");
    if (both) {
        count = cut_series(&s->reward, (double)old->began, (double)old->ended, c->old_x, c->y);
        find_best(c->y, count, c->old_best);
        plot_smooth(c->old_mean, c->y, count, 0.9);
        r.before = (struct class_run){c->old_x, c->old_mean, c->old_best, count, "before"};
        r.last_x = fmax(r.last_x, (double)(old->ended - old->began));
        write_apart(s, note, sizeof note);
    }
    class_draw_runs(&r, pane);
}

/* ---- switches ---- */

static void class_switch_value(const struct rl_settings *s, int n, char out[static 16])
{
    rl_settings_print(s, setting_of(class_switches[n].option), out, 16);
}

void class_switch_other(const struct rl_settings *s, int n, char out[static 16])
{
    char now[16] = "";

    class_switch_value(s, n, now);
    if (!strcmp(now, "on") || !strcmp(now, "off"))
        snprintf(out, 16, "%s", !strcmp(now, "on") ? "off" : "on");
    else
        snprintf(out, 16, "%s", !strcmp(now, "1") ? "10" : "1");
}

void class_draw_switches(const struct class_came_to *c, const struct pane *p)
{
    char now[16] = "", before[16] = "";
    int y = 1, best = p->width >= 50 ? 30 : 0;

    pane_head(p, 0,
              &(struct head){0, "Switches",
                             p->width >= 56 ? "a key runs the same seed again, beside this"
                                            : "a key starts again",
                             false});
    pane_text(p, 14, y, ROLE_DIM, "this");
    if (c->before)
        pane_text(p, 21, y, ROLE_DIM, "before");
    y++;
    for (int n = 0; n < CLASS_SWITCHES && y < p->height; n++, y++) {
        class_switch_value(c->now, n, now);
        pane_format(p, 0, y, ROLE_KEY, "%d", n + 1);
        pane_text(p, 2, y, ROLE_TEXT, class_switches[n].name);
        pane_text(p, 14, y, ROLE_TEXT, now);
        if (!c->before)
            continue;
        class_switch_value(c->before, n, before);
        bool same = !strcmp(now, before);
        pane_text(p, 21, y, same ? ROLE_DIM : ROLE_CHANGED | BOLD, same ? "same" : before);
    }
    if (!best)
        return;
    pane_text(p, best, 1, ROLE_DIM, "best");
    pane_text(p, best, 2, ROLE_TEXT, c->best);
    if (c->before) {
        pane_text(p, best, 4, ROLE_DIM, "best before");
        pane_text(p, best, 5, ROLE_DIM, c->best_before);
    }
}

void class_write_settings(const char *name, const struct rl_settings *now,
                          const struct rl_settings *before, struct str *out)
{
    char a[16] = "", b[16] = "";

    str_format(out, "# %s: the learner, two runs of one seed\n\n", name);
    str_format(out, "| | this run | run before |\n|---|---:|---:|\n");
    for (int n = 0; n < CLASS_SWITCHES; n++) {
        class_switch_value(now, n, a);
        class_switch_value(before, n, b);
        str_format(out, "| %s | %s | %s |\n", class_switches[n].option, a, b);
    }
}
