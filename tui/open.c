/* Opening a model on a cluster: what the start screen, `:open` and the command line do. */
#include "engine/live/session.h"
#include "hlo/text.h"
#include "tui/app_internal.h"
#include "tui/examples.h"
#include "tui/recent.h"
#include "tui/watch.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* "t5-base6" of ".../t5-base6.meta.hlo.txt.gz". */
static void name_model(struct app *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t size = strcspn(base, ".");

    text_clean(a->model_name, sizeof a->model_name, base, size ? size : strlen(base));
    a->scene.model_name = a->model_name;
}

/* Paths of what was asked for: a file, or the name of a shipped one. */
struct found {
    char model[PATH_MAX], cluster[PATH_MAX];
};

static int find_files(struct app *a, const char *model, const char *cluster, struct found *f, struct err *e)
{
    if (!examples_model_path(f->model, sizeof f->model, a->setup.data_dir, model))
        return err_set(e, ERR_IO, "no model %.200s: neither a file nor shipped", model);
    f->cluster[0] = 0;
    if (cluster && *cluster &&
        !examples_cluster_path(f->cluster, sizeof f->cluster, a->setup.data_dir, cluster))
        return err_set(e, ERR_IO, "no cluster %.200s: neither a file nor shipped", cluster);
    return 0;
}

/* What is open, to be put in place of what was. */
struct opened {
    struct problem *problem;
    struct session *session;
    struct watch *watch;
};

/* The search thread takes no signals: the terminal's are for this one. */
static int start_session(const struct app *a, struct opened *o, struct err *e)
{
    struct session_options options = {.search = {.algorithm = SEARCH_DQN, .seed = a->setup.seed}};
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = session_new(o->problem, &options, &o->session, e);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc ? rc : watch_new(o->session, &o->watch, e);
}

static void drop(struct opened *o)
{
    watch_free(o->watch);
    session_free(o->session);
    if (o->problem)
        problem_release(o->problem);
    free(o->problem);
}

static int open_all(const struct app *a, const struct found *f, struct opened *o, struct err *e)
{
    struct problem_args args = a->setup.problem;

    args.model = f->model;
    args.cluster = f->cluster[0] ? f->cluster : NULL;
    struct problem *p = mem_alloc(sizeof *p);
    if (problem_args_read(&args, p, e)) {
        free(p);
        return e->code;
    }
    o->problem = p;
    return start_session(a, o, e);
}

void app_drop_problem(struct app *a)
{
    struct opened o = {a->problem, a->session, a->watch};

    a->problem = NULL;
    a->session = NULL;
    a->watch = NULL;
    a->scene.problem = NULL;
    a->scene.module = NULL;
    a->scene.cluster = NULL;
    a->scene.watch = NULL;
    drop(&o);
}

static int open_panels(struct app *a, struct err *e)
{
    for (int i = 0; panel_list[i]; i++) {
        if (panel_list[i]->place == PLACE_LAYOUT && app_open(a, panel_list[i], NULL, e))
            return e->code;
    }
    return 0;
}

static void show(struct app *a, struct watch *w)
{
    a->watch = w;
    a->scene.problem = w->problem;
    a->scene.module = w->problem->m;
    a->scene.cluster = &w->problem->cluster;
    a->scene.watch = w;
}

/* Views hold what is the old problem's, so they are opened anew; ids of instructions stay the same. */
void app_follow_edit(struct app *a)
{
    struct panel *graph = a->placed[PANEL_GRAPH];
    hlo_id here = graph && graph->ops->instruction_here ? graph->ops->instruction_here(graph) : HLO_NONE;
    struct watch *next, *old = a->watch;
    int cursor = old->cursor;
    struct err e = {0};

    if (watch_new(a->session, &next, &e)) {
        app_say_err(a, &e);
        return;
    }
    while (a->depth > 0)
        app_drop_top(a);
    for (int i = 0; i < PANEL_COUNT; i++)
        app_drop_placed(a, (enum panel_id)i);
    show(a, next);
    next->cursor = cursor < next->move_count ? cursor : 0;
    watch_free(old);
    if (open_panels(a, &e))
        app_say_err(a, &e);
    graph = a->placed[PANEL_GRAPH];
    if (graph && here != HLO_NONE)
        graph->ops->go_to(graph, here);
}

static void remember(struct app *a, const struct found *f, const char *cluster)
{
    char absolute[PATH_MAX];
    struct recent r = {.time = a->setup.today, .gap = -1};

    snprintf(r.cluster, sizeof r.cluster, "%s", cluster);
    if (a->setup.state_dir && realpath(f->model, absolute) && strlen(absolute) < sizeof r.path) {
        memcpy(r.path, absolute, strlen(absolute) + 1);
        recent_add(a->setup.state_dir, &r);
    }
}

int app_load(struct app *a, const char *model, const char *cluster, struct err *e)
{
    struct found f;
    struct opened o = {0};
    char asked[128]; /* the view that gave it goes */

    snprintf(asked, sizeof asked, "%s", cluster ? cluster : "");
    if (find_files(a, model, cluster, &f, e))
        return e->code;
    if (open_all(a, &f, &o, e)) {
        drop(&o);
        return e->code;
    }
    while (a->depth > 0)
        app_drop_top(a);
    for (int i = 0; i < PANEL_COUNT; i++)
        app_drop_placed(a, (enum panel_id)i);
    app_drop_problem(a);
    a->problem = o.problem;
    a->session = o.session;
    show(a, o.watch);
    a->refused = 0;
    a->saved_acts = 0;
    snprintf(a->model_path, sizeof a->model_path, "%s", f.model);
    snprintf(a->cluster_path, sizeof a->cluster_path, "%s", f.cluster);
    a->asked_pace = -1;
    name_model(a, f.model);
    a->focus = PANEL_GRAPH;
    remember(a, &f, asked);
    return open_panels(a, e);
}
