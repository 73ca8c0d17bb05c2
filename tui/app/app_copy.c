/* What goes to the terminal's clipboard. */
#include "engine/cluster/cluster.h"
#include "engine/live/outcome.h"
#include "engine/live/snapshot.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_settings.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/options/problem_args.h"
#include "tui/screen/grid.h"
#include "tui/screen/layout.h"
#include "tui/views/panel.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

void app_copy(struct app *a, const char *text, size_t size, const char *what)
{
    str_clear(&a->wish_text);
    str_add_bytes(&a->wish_text, text, size);
    a->wish = APP_COPY;
    app_say(a, "copied %.200s", what);
}

void app_write_command(const struct app *a, struct str *out)
{
    struct problem_args args = a->opened;

    char edited[sizeof a->model_name + 16];
    snprintf(edited, sizeof edited, "%s.cluster.yaml", a->model_name);
    args.options = a->scene.problem->options;
    args.model = a->model_path;
    args.cluster =
        cluster_fingerprint(a->scene.cluster) != cluster_fingerprint(&a->problem->cluster) ? edited
        : a->cluster_path[0] ? a->cluster_path
                             : NULL;
    problem_args_write(&args, out);
}

void app_copy_name(struct app *a)
{
    struct panel *p = app_top(a);
    const char *name = p && p->ops->name_here ? p->ops->name_here(p) : NULL;
    if (!name) {
        app_say(a, "no name here to copy");
        return;
    }
    app_copy(a, name, strlen(name), name);
}

/* The row of the hardware cursor, as it stands in its panel. */
void app_copy_line(struct app *a)
{
    struct str all = {0};
    const struct rect *r = a->depth > 0 ? &a->top_area : layout_panel(&a->layout, a->focus);
    int y = a->grid.cursor_y;

    if (!r || y < r->y || y >= r->y + r->height) {
        app_say(a, "no line here to copy");
        return;
    }
    struct grid row = {0};
    grid_resize(&row, r->width, 1);
    memcpy(row.cells, a->grid.cells + (size_t)y * (size_t)a->grid.width + r->x,
           (size_t)r->width * sizeof *row.cells);
    grid_text(&row, &all);
    while (all.size && (all.text[all.size - 1] == ' ' || all.text[all.size - 1] == '\n'))
        all.text[--all.size] = 0;
    app_copy(a, all.text ? all.text : "", all.size, all.text ? all.text : "");
    str_release(&all);
    grid_release(&row);
}

/* The command line that makes the best plan again. */
void app_copy_command(struct app *a)
{
    struct str text = {0};
    struct plan plan = {0};
    struct err e = {0};
    const struct snapshot *s = a->watch ? a->watch->shot : NULL;
    struct live_plan *best = !s ? NULL : s->best ? s->best : s->plan_count ? s->plans[0] : NULL;

    if (!best) {
        app_say(a, "no plan yet; Space searches");
        return;
    }
    app_write_command(a, &text);
    int rc = outcome_plan_shown(s, best, &plan, &e);
    if (rc)
        goto out;
    rc = plan_settings_write(&plan, " --set ", &text, &e);
out:
    plan_release(&plan);
    if (rc)
        app_say_err(a, &e);
    else
        app_copy(a, text.text, text.size, text.text);
    str_release(&text);
}
