/* automap [MODEL [CLUSTER]]: the loop between the application and the terminal; and
 * automap screen: keys in, one screen out, without a terminal. */
#include "tui/commands/commands.h"
#include "tui/files/theme_file.h"

#include "engine/live/command.h"
#include "engine/text/quantity.h"
#include "hlo/support/mem.h"
#include "tui/app/script.h"
#include "tui/files/config.h"
#include "tui/files/file.h"
#include "tui/files/sessions.h"
#include "tui/files/tour.h"
#include "tui/options/args.h"
#include "tui/options/exit_code.h"
#include "tui/screen/svg.h"
#include "tui/screen/term.h"
#include "tui/views/views.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char explore_help[] =
    "usage: automap [explore] [MODEL [CLUSTER]] [OPTION ...]\n"
    "\n"
    "Opens the explorer; without a model, a screen that offers the examples.\n"
    "\n" PROBLEM_ARGS_HELP "  --run          search at once; else Space starts it\n"
    "  --seed N       of the search (default: 0)\n"
    "  --commands C   told to the search first: \"set reward paper; episode 300\"\n"
    "  --resume FILE  go on with the search of a journal, bit for bit; \"last\": the newest\n"
    "  --no-journal   keep none; else each search keeps one in sessions/ of the state directory\n"
    "  --theme NAME   colours: default, light, mono, high-contrast, deuteranopia, tritanopia,\n"
    "                 16-colour, or a YAML file\n"
    "  --color WHEN   auto, never, 16, 256 or true (default: auto; NO_COLOR is respected)\n"
    "  --ascii        no signs beyond ASCII\n"
    "  --plain        keys without vi's letters\n"
    "  --no-mouse     leave the mouse to the terminal\n"
    "  --config FILE  instead of $XDG_CONFIG_HOME/automap/config.yaml\n";

static const char screen_help[] =
    "usage: automap screen [MODEL [CLUSTER]] [OPTION ...]\n"
    "\n"
    "Prints one screen of the explorer, for documents and tests.\n"
    "\n"
    "  --size WxH     columns and rows (default: 80x24)\n"
    "  --keys KEYS    typed before it is drawn: \"j j Enter\"\n" PROBLEM_ARGS_HELP
    "  --seed N, --commands C   as for automap explore; each is carried out to its end\n"
    "  --tour NAME    this tour, at --step N (default: 1), before the keys are typed\n"
    "  --svg          a picture instead of text\n"
    "  --day DATE     the day it is drawn on, in seconds since 1970\n"
    "  --theme NAME, --ascii, --plain, --config FILE   as for automap explore\n";

struct request {
    struct problem_args problem;
    const char *tour, *theme, *commands, *config, *keys, *resume;
    uint64_t seed;
    int64_t day; /* negative: today */
    int width, height, depth;
    int step; /* 0: not given */
    bool ascii, plain, no_mouse, no_journal, svg, run, help;
};

enum { DAY_MOST = INT32_MAX }; /* the year 2038 */

enum of_command { OF_BOTH, OF_EXPLORE, OF_SCREEN };

struct option {
    const char *name;
    int (*take)(struct request *r, const char *value); /* NULL: a switch */
    size_t flag;                                       /* offset of the switch */
    size_t text;                                       /* offset of the text, if not 0 */
    enum of_command of;                                /* the other one has no use for it */
};

static int take_color(struct request *r, const char *value)
{
    static const struct {
        const char *name;
        int depth;
    } depths[] = {{"auto", -1},
                  {"never", DEPTH_MONO},
                  {"16", DEPTH_16},
                  {"256", DEPTH_256},
                  {"true", DEPTH_TRUE}};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        if (!strcmp(depths[i].name, value)) {
            r->depth = depths[i].depth;
            return 0;
        }
    }
    return -1;
}

static int take_size(struct request *r, const char *value)
{
    char width[8];
    size_t x = strcspn(value, "x");
    uint64_t w = 0, h = 0;

    if (x >= sizeof width || !value[x])
        return -1;
    snprintf(width, sizeof width, "%.*s", (int)x, value);
    if (!quantity_whole(width, GRID_MOST, &w) || !quantity_whole(value + x + 1, GRID_MOST, &h) ||
        !w || !h)
        return -1;
    r->width = (int)w;
    r->height = (int)h;
    return 0;
}

static int take_seed(struct request *r, const char *value)
{
    return quantity_whole(value, UINT64_MAX, &r->seed) ? 0 : -1;
}

static int take_step(struct request *r, const char *value)
{
    uint64_t n;

    r->step = quantity_whole(value, INT32_MAX, &n) ? (int)n : 0;
    return r->step ? 0 : -1;
}

static int take_day(struct request *r, const char *value)
{
    uint64_t n;

    if (!quantity_whole(value, DAY_MOST, &n))
        return -1;
    r->day = (int64_t)n;
    return 0;
}

static const struct option options[] = {
    {"--tour", NULL, 0, offsetof(struct request, tour), OF_BOTH},
    {"--step", take_step, 0, 0, OF_SCREEN},
    {"--theme", NULL, 0, offsetof(struct request, theme), OF_BOTH},
    {"--config", NULL, 0, offsetof(struct request, config), OF_BOTH},
    {"--keys", NULL, 0, offsetof(struct request, keys), OF_SCREEN},
    {"--commands", NULL, 0, offsetof(struct request, commands), OF_BOTH},
    {"--seed", take_seed, 0, 0, OF_BOTH},
    {"--resume", NULL, 0, offsetof(struct request, resume), OF_BOTH},
    {"--no-journal", NULL, offsetof(struct request, no_journal), 0, OF_EXPLORE},
    {"--run", NULL, offsetof(struct request, run), 0, OF_BOTH},
    {"--day", take_day, 0, 0, OF_SCREEN},
    {"--color", take_color, 0, 0, OF_EXPLORE},
    {"--size", take_size, 0, 0, OF_SCREEN},
    {"--ascii", NULL, offsetof(struct request, ascii), 0, OF_BOTH},
    {"--plain", NULL, offsetof(struct request, plain), 0, OF_BOTH},
    {"--no-mouse", NULL, offsetof(struct request, no_mouse), 0, OF_EXPLORE},
    {"--svg", NULL, offsetof(struct request, svg), 0, OF_SCREEN},
    {"--help", NULL, offsetof(struct request, help), 0, OF_BOTH},
};

static int usage(const char *what, const char *word)
{
    args_complain("explore", "%s%s", what, word);
    return EXIT_USAGE;
}

static int take_option(struct request *r, enum of_command command, int argc, char **argv, int *at)
{
    const char *name = argv[*at];

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const struct option *o = &options[i];
        if (strcmp(o->name, name) != 0 || (o->of != OF_BOTH && o->of != command))
            continue;
        if (o->flag) {
            *(bool *)((char *)r + o->flag) = true;
            return 0;
        }
        if (*at + 1 >= argc)
            return usage(name, " needs a value");
        const char *value = argv[++*at];
        if (o->text)
            *(const char **)((char *)r + o->text) = value;
        else if (o->take(r, value))
            return usage(name, " does not take this value");
        return 0;
    }
    return usage("no option ", name);
}

static int parse(struct request *r, enum of_command command, int argc, char **argv)
{
    *r = (struct request){.width = 80, .height = 24, .depth = -1, .day = -1};
    for (int i = 1; i < argc; i++) {
        int taken = problem_args_take(&r->problem, argc, argv, &i);
        if (taken < 0)
            return EXIT_USAGE;
        int rc = taken ? 0 : take_option(r, command, argc, argv, &i);
        if (rc)
            return rc;
    }
    if (r->resume && r->problem.model)
        return usage("--resume", " brings its own model");
    if (r->tour && (r->problem.model || r->resume || r->run || r->commands))
        return usage("--tour", " brings its own model and acts");
    if (r->step && !r->tour)
        return usage("--step", " is of a --tour");
    if ((r->run || r->commands) && !r->problem.model && !r->resume)
        return usage(r->run ? "--run" : "--commands", " needs a model");
    return 0;
}

/* Everything an application borrows. */
struct stage {
    struct config config;
    struct app_setup setup;
    char data_dir[PATH_MAX], state_dir[PATH_MAX];
    struct app *app;
};

static const char *theme_name(const struct request *r, const struct stage *s)
{
    enum colour_depth depth = r->depth >= 0 ? (enum colour_depth)r->depth : term_best_depth();

    if (r->theme)
        return r->theme;
    if (depth == DEPTH_MONO)
        return "mono";
    if (s->config.theme[0])
        return s->config.theme;
    return depth == DEPTH_16 ? "16-colour" : "default";
}

/* "pin @3=1; episode 300" */
static int tell_all(struct app *a, const char *lines, struct err *e)
{
    while (lines && *lines) {
        char line[COMMAND_TEXT_ROOM];
        lines += strspn(lines, " ;");
        size_t size = strcspn(lines, ";");
        snprintf(line, sizeof line, "%.*s", (int)size, lines);
        if (size && app_tell(a, line, e))
            return e->code;
        lines += size;
    }
    return 0;
}

static int resume_stage(struct stage *s, const char *journal, struct err *e)
{
    char path[PATH_MAX];

    if (!session_find(path, s->setup.state_dir, journal))
        return err_set(e, ERR_IO, "no journal %.200s", journal);
    return app_resume(s->app, path, e);
}

static int set_stage(struct stage *s, const struct request *r, const char *theme, struct err *e)
{
    if (theme_load(&s->setup.theme, theme, e))
        return e->code;
    s->setup.mode = r->plain ? KEYS_PLAIN : s->config.mode;
    s->setup.config = &s->config.doc;
    s->setup.data_dir = file_data_dir(s->data_dir, sizeof s->data_dir) ? s->data_dir : NULL;
    s->setup.problem = r->problem;
    s->setup.seed = r->seed;
    if (app_new(&s->app, &s->setup, e))
        return err_in_file(e, s->config.path);
    if (r->tour)
        return app_tour_begin(s->app, r->tour, e);
    if (!r->problem.model && !r->resume)
        return app_open(s->app, &view_start, NULL, e);
    int rc = r->resume ? resume_stage(s, r->resume, e)
                       : app_load(s->app, r->problem.model, r->problem.cluster, e);
    if (rc || tell_all(s->app, r->commands, e))
        return e->code;
    return r->run ? app_tell(s->app, "run", e) : 0;
}

static void strike_stage(struct stage *s)
{
    app_free(s->app);
    config_release(&s->config);
}

static int run_in_terminal(struct stage *s, const struct request *r, struct err *e)
{
    struct term_options o = {.theme = app_theme(s->app),
                             .depth = r->depth,
                             .ascii = r->ascii,
                             .mouse = s->config.mouse && !r->no_mouse};
    struct term *t = NULL;

    if (term_open(&t, &o, e))
        return -1;
    int ended = app_loop(s->app, t);
    term_close(t);
    return ended;
}

int cmd_explore(int argc, char **argv)
{
    struct request r;
    struct stage s = {0};
    struct err e = {0};
    int code = parse(&r, OF_EXPLORE, argc, argv), ended = 0;

    if (code)
        return code;
    if (r.help) {
        fputs(explore_help, stdout);
        return EXIT_OK;
    }
    s.setup.today = (int64_t)time(NULL);
    s.setup.state_dir = file_state_dir(s.state_dir, sizeof s.state_dir, true) ? s.state_dir : NULL;
    s.setup.keep_journal = s.setup.state_dir && !r.no_journal;
    s.setup.ascii = r.ascii || !term_shows_utf8();
    if (config_load(&s.config, r.config, &e) || set_stage(&s, &r, theme_name(&r, &s), &e) ||
        (ended = run_in_terminal(&s, &r, &e)) < 0) {
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
        app_tour_to(s->app, r->step ? r->step : 1);
    if (type_keys(s->app, r->keys))
        return usage("--keys", " takes names of keys, separated by blanks");
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
    fwrite(out.text, 1, out.size, stdout);
    str_release(&out);
    grid_release(&copy);
    return EXIT_OK;
}

/* ---- tours ---- */

static const char tour_help[] =
    "usage: automap tour [NAME [--text] [OPTION ...]]\n"
    "\n"
    "Plays a tour in the explorer: captions say what is seen, Space goes on, any other key takes "
    "over.\n"
    "Without a name, lists the tours. Their scripts are YAML files in examples/tours.\n"
    "\n"
    "  --text         print what is said and what is on the screen then, step by step\n"
    "  --theme NAME, --ascii, --plain, --config FILE, --no-mouse   as for automap explore\n";

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

int cmd_tour(int argc, char **argv)
{
    char data[PATH_MAX];
    bool there = file_data_dir(data, sizeof data);

    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(tour_help, stdout);
        return EXIT_OK;
    }
    if (argc < 2)
        return list_tours(there ? data : NULL);
    if (argc == 3 && !strcmp(argv[2], "--text"))
        return print_tour(there ? data : NULL, argv[1]);
    char **arguments = mem_alloc(((size_t)argc + 3) * sizeof *arguments);
    int count = 0;
    arguments[count++] = argv[0];
    arguments[count++] = (char *)(uintptr_t) "--tour";
    for (int n = 1; n < argc; n++)
        arguments[count++] = argv[n];
    int code = cmd_explore(count, arguments);
    free(arguments);
    return code;
}

int cmd_screen(int argc, char **argv)
{
    struct request r;
    struct stage s = {0};
    struct err e = {0};
    int code = parse(&r, OF_SCREEN, argc, argv);

    if (code)
        return code;
    if (r.help) {
        fputs(screen_help, stdout);
        return EXIT_OK;
    }
    s.setup.ascii = r.ascii;
    s.setup.today = r.day >= 0 ? r.day : (int64_t)time(NULL);
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
