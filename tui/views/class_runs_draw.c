/* Two runs of the learner beside each other: their curves, and what was switched between them. */
#include "tui/views/class_draw.h"

#include "rl/settings.h"
#include "tui/screen/grid.h"
#include "tui/screen/plot.h"
#include "tui/screen/theme.h"

#include <math.h>
#include <stdio.h>
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
                                                   .sign = n ? '+' : '.'};
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

/* ---- switches ---- */

const struct class_switch class_switches[CLASS_SWITCHES] = {
    {"double", "double_q"}, {"priority", "prioritized"},      {"dueling", "dueling"},
    {"n-step", "n_step"},   {"target net", "target_network"}, {"Huber", "huber"},
};

void class_switch_value(const struct rl_settings *s, int n, char out[static 16])
{
    for (const struct rl_setting *row = rl_setting_table; row->name; row++) {
        if (!strcmp(row->name, class_switches[n].option))
            rl_settings_print(s, row, out, 16);
    }
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
