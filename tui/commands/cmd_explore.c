/* automap [MODEL [CLUSTER]]: the loop between the application and the terminal; and
 * automap screen: keys in, one screen out, without a terminal. */
#include "engine/cost/step_tables.h"
#include "hlo/support/err.h"
#include "tui/app/app.h"
#include "tui/commands/commands.h"
#include "tui/files/theme_file.h"
#include "tui/options/problem_args.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/paint.h"

#include "engine/live/command.h"
#include "engine/text/quantity.h"
#include "hlo/support/mem.h"
#include "tui/app/script.h"
#include "tui/files/config.h"
#include "tui/files/sessions.h"
#include "tui/files/tour.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/screen/svg.h"
#include "tui/screen/term.h"
#include "tui/views/views.h"
#include "tui/watch/watch.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct request {
    struct problem_args problem;
    const char *tour, /* to play */
        *theme, *commands, *config, *keys, *resume, *plan;
    uint64_t seed, day; /* day 0: today */
    int width, height;
    uint32_t step;   /* 0: not given */
    uint32_t colour; /* of colours */
    bool ascii, plain, no_mouse, no_journal, svg, run, text;
};

enum { DAY_MOST = INT32_MAX }; /* the year 2038 */

static const char *const colours[] = {"auto", "never", "16", "256", "true"};
static const int depths[] = {-1, DEPTH_MONO, DEPTH_16, DEPTH_256, DEPTH_TRUE};

static int take_size(void *args, const struct option *o, const char *value, struct err *e)
{
    struct request *r = args;
    char width[8];
    size_t x = strcspn(value, "x");
    uint64_t w = 0, h = 0;

    snprintf(width, sizeof width, "%.*s", (int)x, value);
    if (x >= sizeof width || !value[x] || !quantity_whole(width, GRID_MOST, &w) ||
        !quantity_whole(value + x + 1, GRID_MOST, &h) || !w || !h)
        return option_expected(o, value, e);
    r->width = (int)w;
    r->height = (int)h;
    return 0;
}

#define ARG(field) INTO(struct request, field)
static const struct option play[] = {
    {"NAME", .values = VALUES_TOUR, ARG(tour)},
    {"text", NULL, "print every caption and its screen, step by step", ARG(text)},
    {0},
};

static const struct option looks[] = {
    {"theme", "NAME",
     "colours: default, light, mono, high-contrast, deuteranopia, tritanopia, 16-colour, or a YAML "
     "file",
     .values = VALUES_THEME, ARG(theme)},
    {"ascii", NULL, "no signs beyond ASCII", ARG(ascii)},
    {"plain", NULL, "keys without vi's letters", ARG(plain)},
    {"config", "FILE", "instead of $XDG_CONFIG_HOME/automap/config.yaml", .values = VALUES_FILE,
     ARG(config)},
    {0},
};

static const struct option in_terminal[] = {
    {"color", "WHEN", "auto, never, 16, 256 or true (default: auto; NO_COLOR is respected)",
     .kind = OPTION_CHOICE, NAMES(colours), ARG(colour)},
    {"no-mouse", NULL, "leave the mouse to the terminal", ARG(no_mouse)},
    {"no-journal", NULL,
     "keep none; else each search keeps one in sessions/ of the state directory", ARG(no_journal)},
    {0},
};

static const struct option searching[] = {
    {"run", NULL, "search at once; else Space starts it", ARG(run)},
    {"seed", "N", "of the search (default: 0)", .kind = OPTION_WHOLE, ARG(seed),
     .most = (double)UINT64_MAX, .expected = "a whole number"},
    {"commands", "C", "told to the search first: \"set reward paper; episode 300\"", ARG(commands)},
    {"resume", "FILE", "go on with the search of a journal, bit for bit; \"last\": the newest",
     .values = VALUES_JOURNAL, ARG(resume)},
    {"plan", "FILE", "load a plan of the model: strict, relaxed, a pipeline or a placement",
     .values = VALUES_FILE, ARG(plan)},
    {"tour", "NAME", "play a tour", .values = VALUES_TOUR, ARG(tour)},
    {0},
};

static const struct option picture[] = {
    {"size", "WxH", "columns and rows (default: 80x24)", .take = take_size,
     .expected = "columns and rows such as 80x24"},
    {"keys", "KEYS", "keys to type before drawing: \"j j Enter\"", ARG(keys)},
    {"step", "N", "play the tour up to step N (default: 1)", .kind = OPTION_WHOLE, ARG(step),
     .least = 1, .most = INT32_MAX},
    {"svg", NULL, "a picture instead of text", ARG(svg)},
    {"day", "DATE", "the date to assume, in seconds since 1970", .kind = OPTION_WHOLE, ARG(day),
     .most = DAY_MOST},
    {0},
};
#undef ARG

#define PROBLEM                                                          \
    {                                                                    \
        .rows = problem_options, .at = offsetof(struct request, problem) \
    }
static const struct option_set explore_options[] = {
    PROBLEM, {.rows = searching}, {.rows = looks}, {.rows = in_terminal}, {0}};
static const struct option_set screen_options[] = {
    {.rows = picture}, PROBLEM, {.rows = searching}, {.rows = looks}, {0}};
static const struct option_set tour_options[] = {
    {.rows = play}, {.rows = looks}, {.rows = in_terminal}, {0}};

static int parse(struct request *r, const char *command, const struct option_set *options, int argc,
                 char **argv)
{
    const struct option_parser parser = {command, options, NULL};

    *r = (struct request){.width = 80, .height = 24};
    int code = options_parse(&parser, r, argc, argv);
    if (code)
        return code;
    const char *wrong = r->resume && r->problem.model ? "--resume brings its own model"
                        : r->tour && (r->problem.model || r->resume || r->run || r->commands)
                            ? "a tour brings its own model and acts"
                        : r->step && !r->tour ? "--step is of a --tour"
                        : (r->run || r->commands || r->plan) && !r->problem.model && !r->resume
                            ? r->run        ? "--run needs a model"
                              : r->commands ? "--commands needs a model"
                                            : "--plan needs a model"
                            : NULL;
    return wrong ? options_complain(command, "%s", wrong) : EXIT_OK;
}

/* Everything an application borrows. */
struct stage {
    struct config config;
    struct app_setup setup;
    char data_dir[PATH_MAX], state_dir[PATH_MAX];
    struct app *app;
    const char *commands, *plan; /* what is left to be done once the model is there */
    bool run;
};

static const char *theme_name(const struct request *r, const struct stage *s)
{
    int asked = depths[r->colour];
    enum colour_depth depth = asked >= 0 ? (enum colour_depth)asked : term_best_depth();

    if (r->theme)
        return r->theme;
    if (depth == DEPTH_MONO)
        return "mono";
    if (s->config.theme[0])
        return s->config.theme;
    return depth == DEPTH_16 ? "16-colour" : "default";
}

/* Takes the first of "pin @3=1; episode 300"; false: there is none left. */
static bool take_command(const char **lines, char line[static COMMAND_TEXT_ROOM])
{
    if (!*lines)
        return false;
    *lines += strspn(*lines, " ;");
    size_t size = strcspn(*lines, ";");
    snprintf(line, COMMAND_TEXT_ROOM, "%.*s", (int)size, *lines);
    *lines += size;
    return size > 0;
}

static int resume_stage(struct stage *s, const char *journal, struct err *e)
{
    char path[PATH_MAX];

    if (!session_find(path, s->setup.state_dir, journal))
        return err_set(e, ERR_IO, "no journal %.200s", journal);
    return app_resume(s->app, path, NULL, e);
}

/* What the command line asks for beside the model: command by command, then the plan. */
static int after_load(struct app *a, void *context, struct err *e)
{
    struct stage *s = context;
    char line[COMMAND_TEXT_ROOM];

    while (take_command(&s->commands, line)) {
        if (app_send(a, line, e))
            return e->code;
        if (!strncmp(line, "decide", 6) || !strncmp(line, "episode", 7)) /* those come to rest */
            return APP_AGAIN;
    }
    if (s->plan && app_load_plan(a, s->plan, e))
        return e->code;
    return s->run && app_watch(a) ? app_tell(a, "run", e) : 0;
}

static int set_stage(struct stage *s, const struct request *r, const char *theme, struct err *e)
{
    if (theme_load(&s->setup.theme, theme, e))
        return e->code;
    s->setup.notify = s->config.notify;
    s->setup.commands = s->config.commands;
    s->setup.command_count = s->config.command_count;
    s->setup.mode = r->plain ? KEYS_PLAIN : s->config.mode;
    s->setup.config = &s->config.doc;
    s->setup.data_dir = file_data_dir(s->data_dir, sizeof s->data_dir) ? s->data_dir : NULL;
    s->setup.problem = r->problem;
    if (r->plan && problem_args_follow_plan(&s->setup.problem, r->plan, e))
        return e->code;
    s->setup.seed = r->seed;
    if (app_new(&s->app, &s->setup, e))
        return err_in_file(e, s->config.path);
    if (r->tour)
        return app_tour_begin(s->app, r->tour, e);
    if (!r->problem.model && !r->resume)
        return app_open(s->app, &view_start, NULL, e);
    int rc = r->resume ? resume_stage(s, r->resume, e)
                       : app_load(s->app, r->problem.model, r->problem.cluster, e);
    s->commands = r->commands;
    s->plan = r->plan;
    s->run = r->run;
    return rc ? rc : app_when_loaded(s->app, after_load, s, e);
}

static void strike_stage(struct stage *s)
{
    app_free(s->app);
    config_release(&s->config);
}

static int run_in_terminal(struct stage *s, const struct request *r, struct err *e)
{
    struct term_options o = {.theme = app_theme(s->app),
                             .depth = depths[r->colour],
                             .ascii = r->ascii,
                             .mouse = s->config.mouse && !r->no_mouse};
    struct term *t = NULL;

    if (term_open(&t, &o, e))
        return -1;
    int ended = app_loop(s->app, t);
    term_close(t);
    return ended;
}

static int open_explorer(const struct request *r)
{
    struct stage s = {0};
    struct err e = {0};
    int code = EXIT_OK, ended = 0;

    s.setup.today = (int64_t)time(NULL);
    s.setup.state_dir = file_state_dir(s.state_dir, sizeof s.state_dir, true) ? s.state_dir : NULL;
    s.setup.keep_journal = s.setup.state_dir && !r->no_journal;
    s.setup.keep_recent = s.setup.state_dir != NULL;
    s.setup.reads_beside = true;
    s.setup.ascii = r->ascii || !term_shows_utf8();
    if (config_load(&s.config, r->config, &e) || set_stage(&s, r, theme_name(r, &s), &e) ||
        (ended = run_in_terminal(&s, r, &e)) < 0 || app_loading_error(s.app, &e)) {
        err_print(&e, stderr);
        code = exit_code_of(&e);
    }
    strike_stage(&s);
    if (ended > 0) { /* as if the signal had never been caught */
        signal(ended, SIG_DFL);
        raise(ended);
    }
    return code;
}

static int run_explore(int argc, char **argv)
{
    struct request r;
    int code = parse(&r, "explore", explore_options, argc, argv);

    return code ? code : open_explorer(&r);
}

static int type_keys(struct app *a, const char *keys)
{
    while (keys && *keys) {
        char name[KEY_NAME_ROOM];
        size_t size = strcspn(keys, " ");
        if (size >= sizeof name)
            return -1;
        memcpy(name, keys, size);
        name[size] = 0;
        uint32_t key = size ? key_parse(name) : 0;
        if (size && !key)
            return -1;
        if (size && !app_is_done(a))
            app_key(a, key);
        app_settle(a, 2);
        app_frame(a);
        keys += size + (keys[size] == ' ');
    }
    return 0;
}

static int print_screen(struct stage *s, const struct request *r)
{
    struct str out = {0};
    const struct grid *last;

    app_resize(s->app, r->width, r->height);
    app_frame(s->app);
    if (r->tour)
        app_tour_to(s->app, r->step ? (int)r->step : 1);
    if (type_keys(s->app, r->keys))
        return options_complain("screen", "--keys takes names of keys, separated by blanks");
    app_touch(s->app);
    last = app_frame(s->app);
    struct grid copy = {0};
    grid_copy(&copy, last);
    if (r->ascii)
        grid_to_ascii(&copy);
    if (r->svg)
        grid_svg(&copy, app_theme(s->app), &out);
    else
        grid_text(&copy, &out);
    const struct watch *w = app_watch(s->app);
    const char *trouble = w && w->shot ? w->shot->trouble : "";
    if (out.failed)
        trouble = "not enough memory for the screen";
    else
        fwrite(out.text, 1, out.size, stdout);
    if (trouble[0])
        fprintf(stderr, "automap screen: %s\n", trouble);
    str_release(&out);
    grid_release(&copy);
    return trouble[0] ? EXIT_INPUT : EXIT_OK;
}

/* ---- tours ---- */

static int list_tours(const char *data)
{
    struct tour_name names[TOURS_MOST];
    int count = tour_names(names, data);
    struct err e = {0};

    for (int n = 0; n < count; n++) {
        struct tour *t;
        if (tour_load(&t, data, names[n].name, &e)) {
            err_print(&e, stderr);
            return EXIT_INPUT;
        }
        printf("%-14s %-44s %d steps, %s\n", names[n].name, t->title, t->step_count, t->model);
        tour_free(t);
    }
    return EXIT_OK;
}

static int print_tour(const char *data, const char *name)
{
    struct tour *t;
    struct err e = {0};

    if (tour_load(&t, data, name, &e)) {
        err_print(&e, stderr);
        return EXIT_INPUT;
    }
    for (int n = 0; n < t->step_count; n++) {
        printf("say\t%d\t%s\n", n + 1, t->steps[n].say);
        for (int k = 0; k < t->steps[n].see_count; k++)
            printf("see\t%s\n", t->steps[n].see[k]);
    }
    tour_free(t);
    return EXIT_OK;
}

static int run_tour(int argc, char **argv)
{
    char data[PATH_MAX];
    const char *there = file_data_dir(data, sizeof data) ? data : NULL;
    struct request r;
    int code = parse(&r, "tour", tour_options, argc, argv);

    if (code)
        return code;
    return !r.tour ? list_tours(there) : r.text ? print_tour(there, r.tour) : open_explorer(&r);
}

static int run_screen(int argc, char **argv)
{
    struct request r;
    struct stage s = {0};
    struct err e = {0};
    int code = parse(&r, "screen", screen_options, argc, argv);

    if (code)
        return code;
    s.setup.ascii = r.ascii;
    s.setup.today = r.day ? (int64_t)r.day : (int64_t)time(NULL);
    s.setup.state_dir = file_state_dir(s.state_dir, sizeof s.state_dir, false) ? s.state_dir : NULL;
    if ((r.config && config_load(&s.config, r.config, &e)) ||
        set_stage(&s, &r, r.theme ? r.theme : "default", &e)) {
        err_print(&e, stderr);
        code = exit_code_of(&e);
    } else {
        code = print_screen(&s, &r);
    }
    strike_stage(&s);
    return code;
}

const struct command command_explore = {
    .name = "explore",
    .usage = "[MODEL [CLUSTER]]",
    .summary = "open the explorer; automap MODEL does the same",
    .about = "Opens the explorer; without a model, a screen that offers the examples. An operator "
             "graph as JSON opens its placement.",
    .options = explore_options,
    .run = run_explore,
};

const struct command command_screen = {
    .name = "screen",
    .usage = "[MODEL [CLUSTER]]",
    .summary = "print one screen of the explorer as text or as a picture",
    .about = "Prints one screen of the explorer, for documents and tests. Commands to the search "
             "are carried out completely before the keys are typed.",
    .options = screen_options,
    .run = run_screen,
};

const struct command command_tour = {
    .name = "tour",
    .usage = "[NAME]",
    .summary = "play a tour in the explorer; without a name, list them",
    .about = "Plays a tour in the explorer. Captions explain what you see; Space goes on, any "
             "other key takes over. Without a name, lists the tours. Their scripts are YAML files "
             "in examples/tours.",
    .options = tour_options,
    .run = run_tour,
};
