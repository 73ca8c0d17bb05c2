#include "tui/app/colon.h"

#include "engine/live/options.h"
#include "engine/pipeline/export.h"
#include "engine/pipeline/pipeline.h"
#include "engine/plan/export_html.h"
#include "engine/plan/file_wishes.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/games.h"
#include "tui/app/app_internal.h"
#include "tui/app/colon_live.h"
#include "tui/app/colon_values.h"
#include "tui/app/record.h"
#include "tui/app/script.h"
#include "tui/files/examples.h"
#include "tui/files/theme_file.h"
#include "tui/files/user_files.h"
#include "tui/screen/edit.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/match.h"
#include "tui/screen/svg.h"
#include "tui/views/actions.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/doctored.h"
#include "tui/watch/export_form.h"
#include "tui/watch/hybrid_job.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/watch.h"
#include "tui/watch/why_of.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

struct colon_command {
    const char *name;
    const char *args;  /* "" or what it takes: "NAME", "[PATH]" */
    const char *words; /* one line */
    void (*run)(struct app *a, const char *args);
    const char *(*values)(struct app *a,
                          size_t i); /* i-th value its argument may have; NULL: done */
    bool files;                      /* it takes paths: completed as a shell does */
};

static void run_theme(struct app *a, const char *args)
{
    struct err e = {0};
    if (!*args)
        app_say(a, "theme %s: %s", a->theme.name, a->theme.summary);
    else if (app_set_theme(a, args, &e))
        app_say_err(a, &e);
    else
        app_say(a, "theme %s: %s", a->theme.name, a->theme.summary);
}

static const char *theme_values(struct app *a, size_t i)
{
    (void)a;
    return theme_builtin(i);
}

static void run_plan(struct app *a, const char *args);
static void open_dump_again(struct app *a, const struct doctored_files *other);

static const struct shipped *shipped(struct app *a)
{
    struct example_model *models;
    struct example_cluster *clusters;
    struct err ignored;

    if (a->shipped)
        return a->shipped;
    a->shipped = mem_alloc(sizeof *a->shipped);
    models = mem_alloc(EXAMPLES_MOST * sizeof *models);
    clusters = mem_alloc(EXAMPLES_MOST * sizeof *clusters);
    if (a->setup.data_dir &&
        !examples_models(models, &a->shipped->models, a->setup.data_dir, &ignored)) {
        a->shipped->clusters = examples_clusters(clusters, a->setup.data_dir);
        for (int n = 0; n < a->shipped->models; n++)
            memcpy(a->shipped->model[n], models[n].name, sizeof models[n].name);
        for (int n = 0; n < a->shipped->clusters; n++)
            memcpy(a->shipped->cluster[n], clusters[n].name, sizeof clusters[n].name);
    }
    free(models);
    free(clusters);
    return a->shipped;
}

static const char *model_values(struct app *a, size_t i)
{
    const struct shipped *s = shipped(a);
    return i < (size_t)s->models ? s->model[i] : NULL;
}

static const char *cluster_values(struct app *a, size_t i)
{
    const struct shipped *s = shipped(a);
    return i < (size_t)s->clusters ? s->cluster[i] : NULL;
}

static int say_moved(struct app *a, void *context, struct err *e)
{
    (void)context;
    (void)e;
    if (a->problem)
        app_say(a, "%s on %s, without the pins and options of before%s", a->scene.model_name,
                a->problem->cluster.name, a->is_journaled ? "; :start goes on with those" : "");
    return 0;
}

/* "network.bandwidth=10 Gbit/s" edits the cluster there is; a name or a file opens the model on
 * another. */
static void run_cluster(struct app *a, const char *args)
{
    char line[EDIT_ROOM + 16], model[PATH_MAX], cluster[EDIT_ROOM];
    struct err e = {0};

    if (strchr(args, '=')) {
        snprintf(line, sizeof line, "cluster %s", args);
        (void)colon_live(a, line);
        return;
    }
    if (*args && app_top(a) && app_top(a)->ops == &view_doctor) {
        open_dump_again(a, &(struct doctored_files){.cluster = args});
        return;
    }
    if (!*args || !a->model_path[0]) {
        app_say(a, !a->model_path[0] ? "open a model first" : ":cluster NAME, FILE or PATH=VALUE");
        return;
    }
    snprintf(model, sizeof model, "%s", a->model_path);
    snprintf(cluster, sizeof cluster, "%s", args);
    if (app_load_instead(a, model, cluster, &e) || app_when_loaded(a, say_moved, NULL, &e))
        app_say_err(a, &e);
}

/* Back to the start screen: what is open stays below it. */
static void run_start(struct app *a, const char *args)
{
    struct err e = {0};

    (void)args;
    if (app_top(a) && app_top(a)->ops == &view_start)
        return;
    if (app_open(a, &view_start, NULL, &e))
        app_say_err(a, &e);
    else if (a->watch)
        app_say(a, "Esc goes back to %s", a->scene.model_name);
}

static const char *game_values(struct app *a, size_t i)
{
    (void)a;
    return rl_game_table[i].name; /* the last is NULL */
}

static void run_game(struct app *a, const char *args)
{
    const struct rl_game *game = rl_game(args);
    struct err e = {0};

    if (!game)
        app_say(a, "no game %.40s, expected cartpole, acrobot, mountaincar, catch, bandit or chain",
                args);
    else if (app_open(a, &view_class, game, &e))
        app_say_err(a, &e);
}

static void run_open(struct app *a, const char *args)
{
    char model[EDIT_ROOM];
    struct err e = {0};
    size_t size = strcspn(args, " ");

    if (!size) {
        app_say(a, ":open FILE [CLUSTER]");
        return;
    }
    memcpy(model, args, size);
    model[size] = 0;
    if (plan_load_is(model)) {
        run_plan(a, model);
        return;
    }
    args += size + strspn(args + size, " ");
    if (app_load_instead(a, model, *args ? args : NULL, &e))
        app_say_err(a, &e);
}

/* "DUMP [CLUSTER [BEFORE]]" */
static void run_doctor(struct app *a, const char *args)
{
    char word[3][PATH_MAX] = {"", "", ""};
    struct err e = {0};

    for (int k = 0; k < 3 && *args; k++) {
        size_t size = strcspn(args, " ");
        snprintf(word[k], sizeof word[k], "%.*s", (int)size, args);
        args += size + strspn(args + size, " ");
    }
    if (!word[2][0] && a->problem) /* what is open is what was partitioned, or has no such lines */
        snprintf(word[2], sizeof word[2], "%s", a->model_path);
    if (!word[0][0])
        app_say(a, ":doctor DUMP [CLUSTER [BEFORE]]");
    else if (app_open_dump(
                 a,
                 &(struct doctored_files){.dump = word[0], .cluster = word[1], .before = word[2]},
                 &e))
        app_say_err(a, &e);
}

static bool has_dump(struct app *a)
{
    bool has = app_top(a) && app_top(a)->ops == &view_doctor;

    if (!has)
        app_say(a, "it is of a partitioned module: :doctor DUMP opens one");
    return has;
}

/* The dump that is shown, with what `other` names instead of the file of that kind beside it. */
static void open_dump_again(struct app *a, const struct doctored_files *other)
{
    char path[PATH_MAX], cluster[PATH_MAX], before[PATH_MAX], kernels[PATH_MAX];
    struct err e = {0};

    snprintf(path, sizeof path, "%s", a->dump.path);
    snprintf(cluster, sizeof cluster, "%s", other->cluster ? other->cluster : a->dump.cluster);
    snprintf(before, sizeof before, "%s", other->before ? other->before : a->dump.before);
    snprintf(kernels, sizeof kernels, "%s", other->kernels ? other->kernels : a->dump.kernels);
    const struct doctored_files f = {path, before, cluster, kernels};
    if (app_open_dump(a, &f, &e))
        app_say_err(a, &e);
    else
        app_say(a, "%s",
                other->kernels ? "calls are priced by these rules first"
                : *before      ? "constraints are looked for in the program before"
                               : "priced anew");
}

static void run_before(struct app *a, const char *args)
{
    if (has_dump(a))
        open_dump_again(a, &(struct doctored_files){.before = args});
}

static void run_kernels(struct app *a, const char *args)
{
    if (has_dump(a))
        open_dump_again(a, &(struct doctored_files){.kernels = args});
}

static void run_plan(struct app *a, const char *args)
{
    struct err e = {0};

    if (!*args)
        app_say(a, ":plan FILE");
    else if (app_load_plan(a, args, &e))
        app_say_err(a, &e);
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), last = strlen(end);
    return size >= last && !strcmp(text + size - last, end);
}

static void save_screen(struct app *a, const char *path, bool overwrite)
{
    struct str out = {0};
    struct err e = {0};
    char name[EDIT_ROOM];

    if (!*path) {
        const char *base = a->scene.model_name[0] ? a->scene.model_name : "automap";
        snprintf(name, sizeof name, "%s.screen.txt", base);
        path = name;
    }
    app_draw(a);
    if (ends_with(path, ".svg"))
        grid_svg(&a->grid, &a->theme, &out);
    else
        grid_text(&a->grid, &out);
    if (file_write(path, out.text, out.size, overwrite, &e))
        app_say_err(a, &e);
    else
        app_say(a, "wrote %s, %dx%d", path, a->grid.width, a->grid.height);
    str_release(&out);
}

static void run_save_screen(struct app *a, const char *args)
{
    save_screen(a, args, false);
}

static void run_save_screen_over(struct app *a, const char *args)
{
    save_screen(a, args, true);
}

/* A plan of stages as `automap search --plan` writes it, appended. ERR_INPUT: there is none. */
typedef int (*write_staged)(const struct watch *w, struct str *out, struct err *e);

static int write_hybrid(const struct watch *w, struct str *out, struct err *e)
{
    return w->hybrid ? hybrid_job_text(w->hybrid, out, e)
                     : err_set(e, ERR_INPUT, "V h makes one first");
}

static int write_pipeline(const struct watch *w, struct str *out, struct err *e)
{
    struct pipeline_plan plan;
    const struct pipeline *pipeline = why_of_pipeline(w, &plan);

    return pipeline ? pipeline_form_by_name("json")->write(pipeline, &plan, out, e)
                    : err_set(e, ERR_INPUT, "V i makes one first");
}

static void save_staged(struct app *a, write_staged write, const char *path, bool overwrite)
{
    struct str out = {0};
    struct err e = {0};

    if (!*path || !a->watch)
        app_say(a, *path ? "no search is open" : "a name for the file is missing");
    else if (write(a->watch, &out, &e) || file_write(path, out.text, out.size, overwrite, &e))
        app_say_err(a, &e);
    else
        app_say(a, "wrote %s; automap explain and export read it", path);
    str_release(&out);
}

static void run_hybrid_plan(struct app *a, const char *args)
{
    save_staged(a, write_hybrid, args, false);
}

static void run_hybrid_plan_over(struct app *a, const char *args)
{
    save_staged(a, write_hybrid, args, true);
}

static void run_pipeline_plan(struct app *a, const char *args)
{
    save_staged(a, write_pipeline, args, false);
}

static void run_pipeline_plan_over(struct app *a, const char *args)
{
    save_staged(a, write_pipeline, args, true);
}

/* What the view on top has to say, in a file: Markdown, or HTML by its name. */
static void save_page(struct app *a, const char *path, bool overwrite)
{
    const struct panel *p = app_top(a);
    struct str md = {0}, html = {0};
    struct err e = {0};

    if (!*path || !p || !p->ops->page || !p->ops->page(p, &md)) {
        app_say(a, *path ? "this view has no page; V w, V k and two plans compared have"
                         : ":page FILE.md or FILE.html");
        str_release(&md);
        return;
    }
    const struct str *page = ends_with(path, ".html") ? &html : &md;
    int rc = md.failed ? err_no_memory(&e, "for the page") : 0;
    if (rc)
        goto out;
    rc = page == &html ? export_html_page(a->scene.model_name, &md, &html, &e) : 0;
    if (rc)
        goto out;
    rc = file_write(path, page->text, page->size, overwrite, &e);
    if (rc)
        goto out;
    app_say(a, "wrote %s", path);
out:
    if (rc)
        app_say_err(a, &e);
    str_release(&md);
    str_release(&html);
}

static void record_cast(struct app *a, const char *path, bool overwrite)
{
    struct err e = {0};

    if (a->record)
        app_record_end(a);
    else if (!*path)
        app_say(a, ":record FILE begins, :record ends it");
    else if (app_record_begin(a, path, overwrite, &e))
        app_say_err(a, &e);
    else
        app_say(a, "recording to %s; :record ends it", path);
}

static void run_record(struct app *a, const char *args)
{
    record_cast(a, args, false);
}

static void run_record_over(struct app *a, const char *args)
{
    record_cast(a, args, true);
}

static void run_page(struct app *a, const char *args)
{
    save_page(a, args, false);
}

static void run_page_over(struct app *a, const char *args)
{
    save_page(a, args, true);
}

static void run_quit(struct app *a, const char *args)
{
    (void)args;
    a->done = true;
}

static const char *form_values(struct app *a, size_t i)
{
    (void)a;
    for (size_t n = 0; export_forms[n].name; n++) {
        if (n == i)
            return export_forms[n].name;
    }
    return NULL;
}

/* The export view, on the form that is asked for. */
static void run_export(struct app *a, const char *args)
{
    struct match *m = match_new(args);

    app_act(a, &common_keys, ACT_EXPORT);
    struct panel *p = app_top(a);
    if (m && p && p->ops == &view_export && !p->ops->find(p, m, 0))
        app_say(a, "no form %.40s; j and k choose one here", args);
    match_free(m);
}

/* The shardings that the program's author wrote, of parameters, as pins: one act each. */
static void run_pins_from_file(struct app *a, const char *args)
{
    uint32_t kept, refused;
    struct str settings = {0};
    struct err e = {0};

    (void)args;
    if (!a->watch) {
        app_say(a, "no search is open");
        return;
    }
    if (file_wishes_settings(a->watch->problem, true, &settings, &kept, &refused, &e)) {
        app_say_err(a, &e);
    } else {
        const char *at = settings.text;
        for (uint32_t k = 0; k < kept; k++, at += strlen(at) + 1)
            watch_send(a->watch, "pin %s", at);
        app_say(a,
                kept ? "%u of %u shardings of the file are pinned; u undoes one"
                     : "no sharding of the file can be pinned",
                kept, kept + refused);
    }
    str_release(&settings);
}

static const struct colon_command colon_commands[] = {
    {"open", "FILE [CLUSTER]", "open a model (HLO text, JSON or .pb, also gzipped), or a plan",
     run_open, model_values, true},
    {"plan", "FILE", "a plan of this model from a file, beside those of the search", run_plan, NULL,
     true},
    {"cluster", "NAME", "this model on another cluster; PATH=VALUE edits this one", run_cluster,
     cluster_values, true},
    {"doctor", "DUMP [CLUSTER]", "why a partitioned or compiled module communicates", run_doctor,
     NULL, true},
    {"before", "FILE", "the program before partitioning, beside the dump that is shown", run_before,
     NULL, true},
    {"kernels", "FILE", "rules for calls that are unknown, for the dump that is shown", run_kernels,
     NULL, true},
    {"pins-from-file", "", "pin the shardings that the program's author wrote", run_pins_from_file,
     NULL, false},
    {"export", "FORM", "a plan in a form seen before it is written", run_export, form_values,
     false},
    {"hybrid-plan", "FILE", "the plan of V h, to a file", run_hybrid_plan, NULL, true},
    {"hybrid-plan!", "FILE", "the same, over a file that is there", run_hybrid_plan_over, NULL,
     true},
    {"pipeline-plan", "FILE", "the plan of V i, to a file", run_pipeline_plan, NULL, true},
    {"pipeline-plan!", "FILE", "the same, over a file that is there", run_pipeline_plan_over, NULL,
     true},
    {"game", "NAME", "the learner at a game, in the classroom (C)", run_game, game_values, false},
    {"start", "", "back to the start screen", run_start, NULL, false},
    {"save-screen", "[FILE]", "the screen as text, or as a picture in FILE.svg", run_save_screen,
     NULL, true},
    {"save-screen!", "[FILE]", "the same, over a file that is there", run_save_screen_over, NULL,
     true},
    {"record", "[FILE]", "record what is shown as an asciicast; again: end it", run_record, NULL,
     true},
    {"record!", "[FILE]", "the same, over a file that is there", run_record_over, NULL, true},
    {"page", "FILE", "what is shown as a page: the ledger, the doctor, two plans; .md or .html",
     run_page, NULL, true},
    {"page!", "FILE", "the same, over a file that is there", run_page_over, NULL, true},
    {"quit", "", "leave the program", run_quit, NULL, false},
    {"theme", "[NAME]", "change the colours", run_theme, theme_values, false},
    {0},
};

static const struct colon_command *find_colon(const char *name, size_t size)
{
    for (const struct colon_command *c = colon_commands; c->name; c++) {
        if (strlen(c->name) == size && !memcmp(c->name, name, size))
            return c;
    }
    return NULL;
}

/* The view that commands act on: dialogs and the finder only ask. */
static struct panel *view_of(const struct app *a)
{
    for (int i = a->depth - 1; i >= 0; i--) {
        if (a->stack[i]->ops->place != PLACE_DIALOG && !a->stack[i]->ops->asks)
            return a->stack[i];
    }
    return a->placed[a->focus];
}

/* Actions of the common table and of the view on top, by plain or by full name. */
static bool run_action(struct app *a, const char *name)
{
    struct panel *p = view_of(a);
    const struct key_table *tables[] = {p ? p->ops->keys : NULL, a->scene.user_keys, &common_keys};

    for (int t = 0; t < 3; t++) {
        if (!tables[t])
            continue;
        size_t prefix = strlen(tables[t]->name);
        const char *own = name;
        if (prefix && !strncmp(name, tables[t]->name, prefix) && name[prefix] == '.')
            own += prefix + 1;
        for (int i = 0; i < tables[t]->count; i++) {
            if (!strcmp(tables[t]->actions[i].name, own)) {
                app_act(a, tables[t], i);
                return true;
            }
        }
    }
    return false;
}

static bool is_option(const char *word, size_t size)
{
    struct live_option o;

    for (size_t i = 0; live_option_at(i, &o); i++) {
        if (strlen(o.name) == size && !strncmp(o.name, word, size))
            return true;
    }
    return false;
}

bool app_command(struct app *a, const char *line)
{
    line += strspn(line, " ");
    size_t size = strcspn(line, " ");
    const struct colon_command *c = find_colon(line, size);

    if (c) {
        char args[EDIT_ROOM];
        snprintf(args, sizeof args, "%s", line + size + strspn(line + size, " "));
        for (size_t end = strlen(args); end && args[end - 1] == ' ';)
            args[--end] = 0;
        c->run(a, args);
        return true;
    }
    if (run_action(a, line) || colon_live(a, line))
        return true;
    if (is_option(line, size))
        app_say(a, "%.*s is an option: :set %.60s", (int)size, line, line);
    else
        app_say(a, "no command %.60s. C-p lists all.", line);
    return false;
}

bool colon_about(const char *line, struct colon_about *out)
{
    const struct colon_command *c = find_colon(line, strcspn(line, " "));

    if (c)
        *out = (struct colon_about){c->name, c->args, c->words, c->files};
    return c;
}

static bool command_line(struct app *a, int *i, struct colon_line *line)
{
    for (const struct colon_command *c = colon_commands; c->name; c++) {
        const char *value = NULL;
        for (size_t v = 0; c->values && (value = c->values(a, v)); v++) {
            if ((*i)-- == 0) {
                *line = (struct colon_line){.words = c->words, .keys = ""};
                snprintf(line->text, sizeof line->text, "%s %s", c->name, value);
                return true;
            }
        }
        if (!c->values && (*i)-- == 0) {
            *line = (struct colon_line){.words = c->words, .keys = "", .takes = c->args[0] != 0};
            snprintf(line->text, sizeof line->text, "%s%s", c->name, line->takes ? " " : "");
            return true;
        }
    }
    return false;
}

static bool action_line(struct app *a, int *i, struct colon_line *line)
{
    struct panel *p = view_of(a);
    const struct key_table *tables[] = {p ? p->ops->keys : NULL, a->scene.user_keys, &common_keys};

    for (int t = 0; t < 3; t++) {
        const char *words = "";
        for (int k = 0; tables[t] && k < tables[t]->count; k++) {
            const struct action *action = &tables[t]->actions[k];
            words = action->words ? action->words : words;
            if (find_colon(action->name, strlen(action->name)) || (*i)-- != 0)
                continue;
            const char *keys = keymap_keys(a->keymap, tables[t], k, 0);
            *line = (struct colon_line){.words = words,
                                        .keys = keys ? keys : "",
                                        .opens_view = !strcmp(action->group, "look")};
            snprintf(line->text, sizeof line->text, "%s", action->name);
            return true;
        }
    }
    return false;
}

bool colon_line(struct app *a, int i, struct colon_line *line)
{
    return colon_live_line(a, &i, line) || command_line(a, &i, line) ||
           colon_value_line(a, &i, line) || colon_live_figure(a, &i, line) ||
           action_line(a, &i, line);
}
