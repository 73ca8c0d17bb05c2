/* Opening a model on a cluster: what the start screen, `:open` and the command line do. */
#include "engine/live/journal.h"
#include "engine/live/session.h"
#include "engine/plan/file_wishes.h"
#include "engine/problem/problem.h"
#include "engine/search/search.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/pages.h"
#include "tui/app/app_internal.h"
#include "tui/app/opening.h"
#include "tui/app/script.h"
#include "tui/files/examples.h"
#include "tui/files/policy_file.h"
#include "tui/files/recent.h"
#include "tui/files/sessions.h"
#include "tui/files/user_files.h"
#include "tui/options/problem_args.h"
#include "tui/options/search_args.h"
#include "tui/screen/layout.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/doctored.h"
#include "tui/watch/placing.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/watch.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int find_files(struct app *a, const char *model, const char *cluster, struct found *f,
                      struct err *e)
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

/* Where nothing can be written, a search goes without a journal: said, and no reason to stay. */
static void begin_journal(struct app *a, const struct opened *o, struct opening *g,
                          struct journal **out)
{
    struct word_list words = {0};
    char seed[32];
    struct err e = {0};

    g->journal[0] = 0;
    if (!a->setup.keep_journal || !strcmp(g->args.model, "-") ||
        !session_new_path(g->journal, a->setup.state_dir, g->args.model, o->problem->cluster.name,
                          (int64_t)time(NULL)))
        return;
    words_add(&words, "explore");
    problem_args_words(&g->args, &words);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)g->search.seed);
    words_add(&words, "--seed");
    words_add(&words, seed);
    if (words.failed || journal_create(g->journal, o->problem, words.items, words.count, out, &e)) {
        g->journal[0] = 0;
        app_say_err(a, &e);
    }
    words_release(&words);
}

static int start_session(struct app *a, struct opened *o, struct opening *g, struct err *e)
{
    struct session_options options = {.search = g->search, .resume = g->log};

    if (g->log && (journal_fits(g->log, o->problem, e) ||
                   journal_reopen(g->journal, g->log, &options.journal, e)))
        return e->code;
    if (!g->log)
        begin_journal(a, o, g, &options.journal);
    int rc = session_new(o->problem, &options, &o->session, e);
    return rc ? rc : watch_new(o->session, &o->watch, e);
}

/* A problem, and what ends the work on it when it is left. */
struct held {
    struct problem problem; /* first: the explorer holds its address */
    atomic_bool left;
};

static void drop_opened(struct opened *o)
{
    struct held *held = (struct held *)o->problem;

    if (held)
        atomic_store(&held->left, true);
    watch_free(o->watch);
    session_free(o->session);
    if (!held)
        return;
    problem_release(&held->problem);
    free(held);
    pages_give_back(); /* the next model may be small */
}

/* ---- reading ---- */

/* The module is there: said, and left here when nobody waits any more. */
static bool note_module(void *context, uint32_t instructions)
{
    struct opening_progress *r = context;

    atomic_store(&r->instructions, instructions);
    atomic_store(&r->phase, READING_ROLES);
    return !atomic_load(&r->stop);
}

static int read_dump(struct opening *g, struct err *e)
{
    if (!g->before[0] && !file_before_dump(g->before, sizeof g->before, g->f.model))
        g->before[0] = 0;
    const struct doctored_files f = {.dump = g->f.model,
                                     .before = g->before[0] ? g->before : NULL,
                                     .cluster = g->f.cluster[0] ? g->f.cluster : NULL,
                                     .kernels = g->kernels[0] ? g->kernels : NULL};
    return doctored_open(&f, &g->dump, e);
}

void opening_read(struct opening *g)
{
    if (!g->resumed && !g->f.cluster[0])
        g->rc = placing_graph_read(g->f.model, &g->graph, &g->err);
    if (g->rc || g->graph)
        return;
    struct held *held = mem_alloc(sizeof *held);
    g->args.model = g->f.model;
    g->args.cluster = g->f.cluster[0] ? g->f.cluster : NULL;
    g->args.module_read = note_module;
    g->args.read_context = &g->reading;
    g->rc = problem_args_read(&g->args, &held->problem, &g->err);
    g->args.module_read = NULL;
    if (!g->rc) {
        held->problem.stop = &held->left;
        g->held = held;
        return;
    }
    free(held);
    if (g->rc == ERR_INPUT && !g->resumed && !atomic_load(&g->reading.stop) &&
        doctored_is(g->f.model))
        g->rc = read_dump(g, &g->err);
}

void opening_free(struct opening *g)
{
    struct opened o = {.problem = g->held ? &g->held->problem : NULL};

    drop_opened(&o);
    doctored_free(g->dump);
    placing_graph_release(g->graph);
    if (g->resumed)
        search_args_release(g->resumed);
    free(g->resumed);
    journal_log_release(&g->own_log);
    free(g);
}

/* The row on the start screen learns how far the search came. */
static void note_result(struct app *a)
{
    struct recent *r = &a->recent;

    if (!a->session || !r->path[0])
        return;
    watch_read(a->watch);
    double gap = watch_gap(a->watch);
    r->best_ms = a->watch->best ? a->watch->best->cost.step_ms : 0;
    r->gap = isfinite(gap) ? gap : -1;
    recent_add(a->setup.state_dir, r);
    r->path[0] = 0;
}

void app_drop_problem(struct app *a)
{
    struct opened o = {a->problem, a->session, a->watch};

    note_result(a);
    a->then = NULL;
    a->proofs = 0;
    a->problem = NULL;
    a->session = NULL;
    a->watch = NULL;
    a->scene.problem = NULL;
    a->scene.module = NULL;
    a->scene.cluster = NULL;
    a->scene.watch = NULL;
    a->places = 0;
    a->scene.graph_words = NULL;
    placing_graph_release(a->graph);
    a->graph = NULL;
    drop_opened(&o);
}

static int open_panels(struct app *a, struct err *e)
{
    for (int i = 0; panel_list[i]; i++) {
        if (panel_list[i]->place == PLACE_LAYOUT && app_open(a, panel_list[i], NULL, e))
            return e->code;
    }
    return 0;
}

static void show_opened(struct app *a, struct watch *w)
{
    a->watch = w;
    a->scene.problem = w->problem;
    a->scene.module = w->problem->m;
    a->scene.cluster = &w->problem->cluster;
    a->scene.watch = w;
}

/* A view over the main screen, while the problem below it changes. */
struct stacked {
    struct panel *panel;         /* it stays; NULL: it was closed */
    const struct panel_ops *ops; /* to be opened anew; NULL: not */
};

static int leave_views(struct app *a, struct stacked over[static APP_DEPTH])
{
    int depth = a->depth;

    for (int i = 0; i < depth; i++) {
        const struct panel_ops *ops = a->stack[i]->ops;
        over[i] = (struct stacked){ops->stays ? a->stack[i] : NULL, ops->anew ? ops : NULL};
        if (!ops->stays)
            app_free_panel(a->stack[i]);
    }
    a->depth = 0;
    return depth;
}

static void return_to_views(struct app *a, const struct stacked *over, int depth)
{
    struct err e = {0};

    for (int i = 0; i < depth; i++) {
        if (over[i].panel)
            a->stack[a->depth++] = over[i].panel;
        else if (over[i].ops && app_open(a, over[i].ops, NULL, &e))
            app_say_err(a, &e);
    }
}

/* Views hold what is the old problem's, so they are opened anew, and may remember what they showed;
 * ids of instructions stay the same. */
void app_follow_edit(struct app *a)
{
    struct panel *graph = a->placed[PANEL_GRAPH];
    hlo_id row =
        graph && graph->ops->instruction_here ? graph->ops->instruction_here(graph) : HLO_NONE;
    struct watch *next, *old = a->watch;
    hlo_id here = old->here;
    int cursor = old->cursor;
    void *memory[PANEL_COUNT] = {NULL};
    struct err e = {0};

    if (watch_new(a->session, &next, &e)) {
        app_say_err(a, &e);
        return;
    }
    struct stacked over[APP_DEPTH];
    int depth = leave_views(a, over);
    for (int i = 0; i < PANEL_COUNT; i++) {
        struct panel *p = a->placed[i];
        memory[i] = p && p->ops->remember ? p->ops->remember(p) : NULL;
        app_drop_placed(a, (enum panel_id)i);
    }
    show_opened(a, next);
    struct err lost = {0};
    if (plan_load_again(next, old, &lost))
        app_say_err(a, &lost);
    next->cursor = cursor < next->move_count ? cursor : 0;
    watch_free(old);
    if (open_panels(a, &e))
        app_say_err(a, &e);
    for (int i = 0; i < PANEL_COUNT; i++) {
        struct panel *p = a->placed[i];
        if (p && memory[i] && p->ops->recall)
            p->ops->recall(p, memory[i]);
        free(memory[i]);
    }
    graph = a->placed[PANEL_GRAPH];
    if (graph && row != HLO_NONE)
        graph->ops->go_to(graph, row);
    next->here = here;
    return_to_views(a, over, depth);
}

/* A journal tells the cluster's path; its row, what it was asked for. */
static void name_as_asked(struct app *a, const struct opening *g, char *cluster, size_t room)
{
    struct recent *all = mem_alloc(RECENT_MOST * sizeof *all);
    int count = recent_load(all, a->setup.state_dir);

    for (int n = 0; n < count; n++) {
        if (g->log && !strcmp(all[n].session, g->journal))
            snprintf(cluster, room, "%s", all[n].cluster);
    }
    free(all);
}

static void remember(struct app *a, const struct opening *g, const char *cluster)
{
    char absolute[PATH_MAX];
    struct recent *r = &a->recent;

    *r = (struct recent){.time = a->setup.today, .gap = -1};
    snprintf(r->cluster, sizeof r->cluster, "%s", cluster);
    name_as_asked(a, g, r->cluster, sizeof r->cluster);
    if (strlen(g->journal) < sizeof r->session)
        memcpy(r->session, g->journal, strlen(g->journal) + 1);
    if (a->setup.keep_recent && a->setup.state_dir && realpath(g->f.model, absolute) &&
        strlen(absolute) < sizeof r->path) {
        memcpy(r->path, absolute, strlen(absolute) + 1);
        recent_add(a->setup.state_dir, r);
    }
}

/* What was read, in place of what is open. */
static int replace(struct app *a, struct opening *g, struct err *e)
{
    struct opened o = {.problem = &g->held->problem};

    g->held = NULL;
    if (start_session(a, &o, g, e)) {
        drop_opened(&o);
        return e->code;
    }
    while (a->depth > 0)
        app_drop_top(a);
    for (int i = 0; i < PANEL_COUNT; i++)
        app_drop_placed(a, (enum panel_id)i);
    app_drop_problem(a);
    a->problem = o.problem;
    a->session = o.session;
    show_opened(a, o.watch);
    a->refused = 0;
    a->asked_pace = -1;
    a->saved_acts = a->warned_acts = 0;
    a->undoing = false;
    a->is_journaled = g->journal[0] != 0;
    a->searched = g->search;
    snprintf(a->journal, sizeof a->journal, "%s", g->journal);
    a->scene.base = a->problem;
    a->scene.search = &a->searched;
    a->scene.journal = a->journal;
    a->opened = g->args;
    if (g->log)
        a->opened.vars = a->opened.profile = NULL; /* names within the journal */
    snprintf(a->model_path, sizeof a->model_path, "%s", g->f.model);
    snprintf(a->cluster_path, sizeof a->cluster_path, "%s", g->f.cluster);
    a->scene.model_name = file_stem(a->model_name, sizeof a->model_name, g->f.model);
    a->focus = PANEL_GRAPH;
    remember(a, g, g->asked);
    return open_panels(a, e);
}

/* A dump that was read, in the doctor's view over what is open. */
static int show_dump(struct app *a, struct opening *g, struct err *e)
{
    if (app_top(a) && app_top(a)->ops == &view_doctor)
        app_drop_top(a);
    if (app_open(a, &view_doctor, &g->dump, e))
        return e->code;
    g->dump = NULL; /* the view's */
    snprintf(a->dump.path, sizeof a->dump.path, "%s", g->f.model);
    snprintf(a->dump.cluster, sizeof a->dump.cluster, "%s", g->f.cluster);
    snprintf(a->dump.before, sizeof a->dump.before, "%s", g->before);
    snprintf(a->dump.kernels, sizeof a->dump.kernels, "%s", g->kernels);
    return 0;
}

int app_open_dump(struct app *a, const struct doctored_files *f, struct err *e)
{
    struct opening *g = mem_alloc(sizeof *g);

    snprintf(g->before, sizeof g->before, "%s", f->before ? f->before : "");
    snprintf(g->kernels, sizeof g->kernels, "%s", f->kernels ? f->kernels : "");
    int rc = find_files(a, f->dump, f->cluster, &g->f, e);
    if (rc)
        goto out;
    rc = read_dump(g, e);
    if (rc)
        goto out;
    rc = show_dump(a, g, e);
out:
    opening_free(g);
    return rc;
}

/* The view on top, opened for `o`, in place of all that is open. */
static int stand_alone(struct app *a, const struct panel_ops *ops, const void *arg, struct err *e)
{
    if (a->depth == APP_DEPTH) /* room for it */
        app_drop_top(a);
    if (app_open(a, ops, arg, e))
        return e->code;
    struct panel *top = a->stack[--a->depth];
    while (a->depth > 0)
        app_drop_top(a);
    a->stack[a->depth++] = top;
    for (int i = 0; i < PANEL_COUNT; i++)
        app_drop_placed(a, (enum panel_id)i);
    return 0;
}

/* An operator graph has no model: its placement stands alone. `job` is taken over; NULL: a search
 * begins. */
static int show_graph(struct app *a, struct placing_graph *g, struct placing *job, struct err *e)
{
    struct place_opening o = {placing_graph_share(g), job};
    int rc = stand_alone(a, &view_place, &o, e);

    if (rc) {
        placing_graph_release(o.graph);
        placing_free(job);
    }
    return rc;
}

static int replace_by_graph(struct app *a, struct opening *g, struct err *e)
{
    if (show_graph(a, g->graph, NULL, e))
        return e->code;
    app_drop_problem(a);
    a->graph = g->graph;
    g->graph = NULL; /* the application's */
    a->scene.graph_words = a->graph->words;
    a->model_path[0] = a->cluster_path[0] = 0;
    a->scene.model_name = file_stem(a->model_name, sizeof a->model_name, g->f.model);
    return 0;
}

/* What cannot be planned can be explained: the doctor, in place of what is open. */
static int replace_by_dump(struct app *a, struct opening *g, struct err *e)
{
    if (show_dump(a, g, e))
        return e->code;
    struct panel *doctor = a->stack[a->depth - 1];
    a->depth--;
    while (a->depth > 0)
        app_drop_top(a);
    a->stack[a->depth++] = doctor;
    for (int i = 0; i < PANEL_COUNT; i++)
        app_drop_placed(a, (enum panel_id)i);
    app_drop_problem(a);
    a->model_path[0] = a->cluster_path[0] = 0;
    a->scene.model_name = file_stem(a->model_name, sizeof a->model_name, g->f.model);
    return 0;
}

/* What is doubtful of a model that was opened. */
static void say_doubts(struct app *a)
{
    const struct hlo_roles *r = &a->problem->roles;
    uint32_t doubts = 0, first = 0;

    for (uint32_t k = r->param_count; k-- > 0;) {
        if (r->params[k].confidence != HLO_DOUBTFUL)
            continue;
        doubts++;
        first = k;
    }
    struct file_wish *wishes;
    size_t count;
    struct err e;

    if (r->loss == HLO_NONE || r->loss_confidence == HLO_DOUBTFUL)
        app_say(a, "the loss is %s: %s; r on the instruction that makes it, or :loss NAME, sets it",
                r->loss == HLO_NONE ? "not found" : "doubtful", r->loss_source);
    else if (doubts)
        app_say(a, "%u role%s doubtful: %.80s is %s, %s; r sets it", doubts,
                doubts == 1 ? " is" : "s are", r->params[first].name,
                hlo_role_names[r->params[first].role], r->params[first].evidence);
    if (doubts || r->loss == HLO_NONE || r->loss_confidence == HLO_DOUBTFUL ||
        file_wishes_new(a->problem->m, &wishes, &count, &e))
        return;
    if (count)
        app_say(a, "the file asks for %zu split%s; :pins-from-file pins those of parameters", count,
                count == 1 ? "" : "s");
    free(wishes);
}

static int finish_load(struct app *a, struct opening *g, struct err *e)
{
    if (g->graph  ? replace_by_graph(a, g, e)
        : g->dump ? replace_by_dump(a, g, e)
                  : replace(a, g, e))
        return e->code;
    if (a->problem)
        say_doubts(a);
    return 0;
}

int app_load(struct app *a, const char *model, const char *cluster, struct err *e)
{
    struct opening *g = mem_alloc(sizeof *g);

    g->args = a->setup.problem;
    g->search = (struct search_options){
        .algorithm = SEARCH_DQN, .seed = a->setup.seed, .policy = policy_shipped()};
    g->finish = finish_load;
    snprintf(g->asked, sizeof g->asked, "%s", cluster ? cluster : "");
    if (!find_files(a, model, cluster, &g->f, e))
        return loading_begin(a, g, e);
    opening_free(g);
    return e->code;
}

int app_load_instead(struct app *a, const char *model, const char *cluster, struct err *e)
{
    int pins = app_unsaved_pins(a);
    uint32_t acts = pins ? a->watch->shot->acts : 0;

    if (!pins || a->warned_acts == acts)
        return app_load(a, model, cluster, e);
    a->warned_acts = acts;
    return err_set(e, ERR_USAGE, "%d pin%s not saved: e saves; the same again goes on without",
                   pins, pins == 1 ? " is" : "s are");
}

/* What a headless search would do beyond its journal. */
static void say_resumed(struct app *a, const struct opening *g)
{
    const struct search_args *s = g->resumed;
    const struct journal_log *log = &g->own_log;
    size_t scripted = 0;

    for (size_t n = 0; n < log->record_count; n++)
        scripted += log->records[n].kind == 's' || log->records[n].kind == 'e';
    if (log->good < log->size)
        app_say(a, "the journal's last %zu bytes are damaged and left out", log->size - log->good);
    else if (g->said[0])
        app_say(a, "%s", g->said);
    else if (s->by_step.count + s->by_episode.count > scripted)
        app_say(a, "the rest of its script is not carried out here");
    else
        app_say(a, "resumed at episode %llu", (unsigned long long)a->watch->shot->episodes);
}

static int load_plan_of_graph(struct app *a, const char *path, struct err *e)
{
    struct placing *job;

    if (placing_of_file(&(struct placing_source){NULL, a->graph}, path, &job, e) ||
        show_graph(a, a->graph, job, e))
        return e->code;
    app_say(a, "%s is loaded; w says why a node is where it is", path);
    return 0;
}

int app_load_plan(struct app *a, const char *path, struct err *e)
{
    static const struct panel_ops *const views[] = {[PLAN_LOADED_STRICT] = &view_plans,
                                                    [PLAN_LOADED_RELAXED] = &view_plans,
                                                    [PLAN_LOADED_PIPELINE] = &view_pipeline,
                                                    [PLAN_LOADED_HYBRID] = &view_hybrid,
                                                    [PLAN_LOADED_PLACE] = &view_place};
    enum plan_loaded kind;

    if (a->graph)
        return load_plan_of_graph(a, path, e);
    if (!a->watch)
        return err_set(e, ERR_INPUT, "a plan needs its model: open that first");
    if (plan_load(a->watch, path, &kind, e))
        return e->code;
    if (app_open(a, views[kind], plan_load_of(a->watch, path), e))
        return e->code;
    static const char *const next[] = {
        [PLAN_LOADED_STRICT] = "w explains it, c compares it, t pins its decisions",
        [PLAN_LOADED_RELAXED] = "w explains it, c compares it, V s shows its reshards",
        [PLAN_LOADED_PIPELINE] = "w explains its stages",
        [PLAN_LOADED_HYBRID] = "w explains it, H and L move a cut",
        [PLAN_LOADED_PLACE] = "w says why a node is where it is"};
    app_say(a, "%s is loaded; %s", path, next[kind]);
    return 0;
}

static int finish_resume(struct app *a, struct opening *g, struct err *e)
{
    if (replace(a, g, e))
        return e->code;
    say_resumed(a, g);
    return 0;
}

/* What the journal says is to be read. */
static int open_journal(struct app *a, struct opening *g, const char *journal, struct err *e)
{
    struct search_args *s = mem_alloc(sizeof *s);

    g->resumed = s;
    if (journal_read(journal, &g->own_log, e))
        return e->code;
    if (!g->own_log.arg_count || search_args_parse(g->own_log.arg_count, g->own_log.args, s))
        return err_set(e, ERR_INPUT, "%.200s was made by another version", journal);
    if (s->race || s->seeds > 1)
        return err_set(e, ERR_INPUT, "%.200s is of several searches", journal);
    g->args = s->problem;
    g->args.is_mesh_given = false; /* the journal's */
    g->search = s->search;
    g->log = &g->own_log;
    g->finish = finish_resume;
    snprintf(g->journal, sizeof g->journal, "%s", journal);
    snprintf(g->asked, sizeof g->asked, "%s", s->problem.cluster ? s->problem.cluster : "");
    return find_files(a, s->problem.model, s->problem.cluster, &g->f, e);
}

int app_resume(struct app *a, const char *journal, const char *said, struct err *e)
{
    struct opening *g = mem_alloc(sizeof *g);

    snprintf(g->said, sizeof g->said, "%s", said ? said : "");
    if (!open_journal(a, g, journal, e))
        return loading_begin(a, g, e);
    opening_free(g);
    return e->code;
}
