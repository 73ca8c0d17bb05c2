#include "tui/options/search_args.h"

#include "engine/live/options.h"
#include "engine/text/quantity.h"
#include "tui/files/file.h"
#include "tui/options/args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MOST = 4 << 20, SECONDS_MOST = 1000 * 1000 * 1000 };

static const char help[] =
    "usage: automap search MODEL [CLUSTER] [OPTION ...]\n\n"
    "Searches for the best distribution: decision by decision, with a learner or its opponents.\n\n"
    "  --kind opp|adp|pp|all      decide variables (default), inputs, a pipeline; all: variables "
    "and inputs\n"
    "                             together, compared with the best plan of each other kind\n"
    "                             (not with --reward paper, weak, relaxed, pins or a script)\n"
    "  --algo NAME                dqn (default), random, greedy, enumerate, exact; anneal, trws, "
    "or of a "
    "pipeline\n"
    "                             descent; race: all of them on equally many priced plans\n"
    "  --reward cost|paper        step time (default), or the paper's 0.4 and 0.1 per dim\n"
    "  --mode strict|relaxed      relaxed: what was decided is completed at least cost by a plan "
    "whose\n"
    "                             values may change their split between uses\n"
    "  --memory-limit SIZE        plans that need more than SIZE (12.8 GB) of a device rank behind "
    "all that do\n"
    "                             not, the optimum is that within it; device: what it has less 20 "
    "%; none.\n"
    "                             Without it pipelines, and what all compares, keep to what a "
    "device has, the\n"
    "                             others to nothing\n"
    "  --propagation full|weak    weak: conflicts are found by walking into them, and end an "
    "episode\n"
    "  --no-folding               decide every copy of a repeated layer apart\n"
    "  --episodes N, --time S     limits; without them a dqn stops when fine-tuning finds nothing "
    "more,\n"
    "                             the others after 10000 plans\n"
    "  --seed N                   of all that is random; default 1\n"
    "  --seeds N                  N searches from --seed on, in parallel, with statistics\n"
    "  --pin 'NAME:DIM=0|1'       a decision that holds; NAME may be a glob or #17; repeatable\n"
    "  --pins FILE                one a line\n"
    "  --script FILE              commands at moments: lines 'STEP COMMAND' or 'at episode N: "
    "COMMAND'\n"
    "  --set PATH=VALUE           a figure of the cluster changed first, as automap cluster --set "
    "takes it:\n"
    "                             'devices.*.peak=15 TFLOP/s'; repeatable\n"
    "  --learner NAME=VALUE       a setting of the learner; repeatable\n" PIPELINE_ARGS_HELP
        PROBLEM_ARGS_HELP "  --plan FILE                write the best plan to FILE\n"
    "  --journal FILE             keep commands and best plans in FILE as they come; without it "
    "one search\n"
    "                             keeps them in sessions/ of the state directory\n"
    "  --no-journal               keep none\n"
    "  --resume FILE              go on with the search of a journal, bit for bit; takes limits "
    "only;\n"
    "                             \"last\": the newest in sessions/\n"
    "  --json                     the result as JSON on standard output\n"
    "  --quiet                    no progress on standard error\n\n"
    "Seconds in results are those of the search's thread on a processor.\n"
    "Exit codes: 0, 1 usage, 2 input, 3 stopped (the best so far is printed), 4 the pins clash,\n"
    "or no plan found is within the memory limit.\n";

static int usage(const char *what, const char *detail)
{
    args_complain("search", "%s%s", what, detail);
    return -1;
}

static int wrong_file(const struct err *e)
{
    err_print(e, stderr);
    return -2;
}

static bool take_count(const char *text, uint64_t most, uint64_t *out)
{
    return quantity_whole(text, most, out) && *out;
}

static int add_pin(struct search_args *a, const char *setting, struct timed_command at)
{
    struct str line = {0};
    struct err e;

    str_format(&line, "pin %s", setting);
    int rc = line.failed ? err_set(&e, ERR_MEMORY, "not enough memory")
                         : live_command_parse(line.text, &at.command, &e);
    str_release(&line);
    if (!rc && !mem_grow(&a->pins, &a->pin_room, a->pin_count, 1))
        rc = err_set(&e, ERR_MEMORY, "not enough memory for the pins");
    if (rc)
        return wrong_file(&e);
    a->pins[a->pin_count++] = at;
    return 0;
}

static char *trim(char *line)
{
    line += strspn(line, " \t");
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

/* Calls `each` with every line of a file that is neither empty nor a comment. */
static int each_line(struct search_args *a, const char *path,
                     int (*each)(struct search_args *a, char *line, struct timed_command at,
                                 struct err *e))
{
    char *text, *save = NULL;
    size_t size;
    struct err e;
    uint32_t number = 0;
    int rc = file_read(&text, &size, path, FILE_MOST, &e);

    if (rc)
        return wrong_file(&e);
    for (char *at = text; at && !rc; at = save) {
        save = strchr(at, '\n');
        if (save)
            *save++ = '\0';
        number++;
        char *line = trim(at);
        if (line[0] && line[0] != '#') {
            rc = each(a, line, (struct timed_command){.file = path, .line = number}, &e);
            if (rc == ERR_INPUT) {
                err_in_file(&e, path);
                e.line = number;
                e.col = 1;
                rc = wrong_file(&e);
            }
        }
    }
    free(text);
    return rc;
}

static int pin_line(struct search_args *a, char *line, struct timed_command at, struct err *e)
{
    if (!strchr(line, '='))
        return err_set(e, ERR_INPUT, "\"%.80s\", expected NAME:DIM=0 or NAME:DIM=1", line);
    return add_pin(a, line, at);
}

static int script_line(struct search_args *a, char *line, struct timed_command at, struct err *e)
{
    static const char at_episode[] = "at episode";
    bool by_episode = !strncmp(line, at_episode, sizeof at_episode - 1);
    char *number_at = line + (by_episode ? sizeof at_episode - 1 : 0), *end;
    struct timed_list *list = by_episode ? &a->by_episode : &a->by_step;

    number_at += strspn(number_at, " \t");
    at.at = strtoull(number_at, &end, 10);
    if (number_at[0] < '0' || number_at[0] > '9' || (by_episode && *end != ':'))
        return err_set(e, ERR_INPUT, "\"%.80s\", expected STEP COMMAND or at episode N: COMMAND",
                       line);
    int rc = live_command_parse(end + by_episode, &at.command, e);
    if (rc)
        return ERR_INPUT;
    if (!mem_grow(&list->items, &list->room, list->count, 1))
        return err_set(e, ERR_INPUT, "not enough memory for the script");
    list->items[list->count++] = at;
    return 0;
}

static int compare_timed(const void *x, const void *y)
{
    const struct timed_command *a = x, *b = y;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static void sort_timed(struct timed_list *l)
{
    if (l->count)
        qsort(l->items, l->count, sizeof *l->items, compare_timed);
}

/* "--kind" and the others that are options of the search by the same name. */
static const char *const same_name[] = {"reward", "propagation", "seed", "stable-episodes"};

static int set(struct search_args *a, const char *name, const char *value)
{
    struct err e;

    if (live_option_set(&a->search, name, value, &e)) {
        args_complain("search", "--%s %s is not possible", name, value);
        return -1;
    }
    return 0;
}

/* Asked for, "none" lifts the limit that pipelines and comparisons have without being asked. */
static int set_memory_limit(struct search_args *a, const char *value)
{
    int rc = set(a, "memory-limit", value);

    a->pipeline.options.no_limit = a->search.game.memory_limit == 0;
    return rc;
}

static int set_learner(struct search_args *a, const char *setting)
{
    char name[64];
    size_t size = strcspn(setting, "=");

    if (!setting[size] || size >= sizeof name)
        return usage("--learner expects NAME=VALUE, not ", setting);
    snprintf(name, sizeof name, "%.*s", (int)size, setting);
    return set(a, name, setting + size + 1);
}

/* Options with a value. 1: not one of them. */
static int take_value(struct search_args *a, const char *option, const char *value)
{
    uint64_t n;

    if (!strcmp(option, "kind")) {
        a->pipeline.wanted = !strcmp(value, "pp");
        return a->pipeline.wanted ? 0 : set(a, option, value);
    }
    if (!strcmp(option, "memory-limit"))
        return set_memory_limit(a, value);
    for (size_t k = 0; k < sizeof same_name / sizeof *same_name; k++) {
        if (!strcmp(option, same_name[k]))
            return set(a, option, value);
    }
    if (!strcmp(option, "algo")) {
        a->race = !strcmp(value, "race");
        a->algorithm = value;
        return 0;
    }
    if (!strcmp(option, "set")) {
        if (a->problem.figure_count == PROBLEM_FIGURES_MOST)
            return usage("too many --set", "");
        a->problem.figures[a->problem.figure_count++] = value;
        a->given[GIVEN_PROBLEM] = "--set";
        return strchr(value, '=') ? 0 : usage("--set expects PATH=VALUE, not ", value);
    }
    if (!strcmp(option, "mode")) {
        a->relaxed = !strcmp(value, "relaxed");
        return a->relaxed || !strcmp(value, "strict")
                   ? 0
                   : usage("--mode is strict or relaxed, not ", value);
    }
    if (!strcmp(option, "episodes"))
        return take_count(value, INT64_MAX, &a->episodes)
                   ? 0
                   : usage("--episodes expects a number, not ", value);
    if (!strcmp(option, "time")) {
        return quantity_real(value, 0, SECONDS_MOST, &a->seconds) && a->seconds > 0
                   ? 0
                   : usage("--time expects seconds, not ", value);
    }
    if (!strcmp(option, "seeds")) {
        if (!take_count(value, SEARCH_SEEDS_MOST, &n))
            return usage("--seeds expects 1 to 1000, not ", value);
        a->seeds = (uint32_t)n;
        return 0;
    }
    if (!strcmp(option, "pin"))
        return strchr(value, '=') ? add_pin(a, value, (struct timed_command){0})
                                  : usage("--pin expects NAME:DIM=0 or NAME:DIM=1, not ", value);
    if (!strcmp(option, "pins"))
        return each_line(a, value, pin_line);
    if (!strcmp(option, "script"))
        return each_line(a, value, script_line);
    if (!strcmp(option, "learner"))
        return set_learner(a, value);
    const char **path = !strcmp(option, "plan")      ? &a->plan
                        : !strcmp(option, "journal") ? &a->journal
                        : !strcmp(option, "resume")  ? &a->resume
                                                     : NULL;
    if (path) {
        *path = value;
        return value[0] ? 0 : usage("a file is expected behind --", option);
    }
    return 1;
}

/* Files that are read again lie where they lay; those that were written are another run's matter.
 */
static void keep_option(struct search_args *a, const char *name, const char *value)
{
    static const char *const not_again[] = {"plan", "journal", "resume",
                                            "set"}; /* the last with the problem */
    char option[40];

    for (size_t n = 0; n < sizeof not_again / sizeof *not_again; n++) {
        if (!strcmp(name, not_again[n]))
            return;
    }
    snprintf(option, sizeof option, "--%s", name);
    words_add(&a->options, option);
    if (!strcmp(name, "pins") || !strcmp(name, "script"))
        words_add_path(&a->options, value);
    else
        words_add(&a->options, value);
}

void search_args_words(const struct search_args *a, struct word_list *out)
{
    words_add(out, "search");
    problem_args_words(&a->problem, out);
    for (int n = 0; n < a->options.count; n++)
        words_add(out, a->options.items[n]);
    out->failed |= a->options.failed;
}

static const char *const of_classes[] = {"--rules", "--divisibility", "--mesh", NULL};
static const char *const of_search[] = {"--radius", NULL};

static bool is_of(const char *option, const char *const *names)
{
    size_t size = strcspn(option, "=");

    for (; *names; names++) {
        if (strlen(*names) == size && !strncmp(option, *names, size))
            return true;
    }
    return false;
}

static int take_option(struct search_args *a, int argc, char **argv, int *at)
{
    char name[32];
    const char *option = argv[*at], *equals = strchr(option, '=');
    size_t size = equals ? (size_t)(equals - option) : strlen(option);

    if (!strcmp(option, "--json"))
        return a->json = true, 0;
    if (!strcmp(option, "--quiet"))
        return a->quiet = true, 0;
    if (!strcmp(option, "--no-journal"))
        return a->no_journal = true, 0;
    if (!strcmp(option, "--no-folding")) {
        a->given[GIVEN_SEARCH] = option;
        words_add(&a->options, option);
        return set(a, "folding", "off");
    }
    int first = *at, taken = problem_args_take(&a->problem, argc, argv, at);
    if (taken > 0)
        a->given[is_of(option, of_classes) ? GIVEN_CLASSES : GIVEN_PROBLEM] = option;
    if (!taken) {
        taken = pipeline_args_take(&a->pipeline, argc, argv, at);
        if (taken > 0)
            a->given[is_of(option, of_search) ? GIVEN_RADIUS : GIVEN_PIPELINE] = option;
        for (int n = first; taken > 0 && n <= *at; n++)
            words_add(&a->options, argv[n]);
    }
    if (taken)
        return taken < 0 ? -1 : 0;
    const char *value = equals ? equals + 1 : *at + 1 < argc ? argv[*at + 1] : NULL;
    if (strncmp(option, "--", 2) || size - 2 >= sizeof name || !value)
        return usage("unknown option, or its value is missing: ", option);
    snprintf(name, sizeof name, "%.*s", (int)(size - 2), option + 2);
    int rc = take_value(a, name, value);
    if (rc == 1)
        return usage("unknown option ", option);
    if (!strcmp(name, "reward") || !strcmp(name, "propagation"))
        a->given[GIVEN_SEARCH] = option;
    if (!strcmp(name, "learner") || !strcmp(name, "stable-episodes"))
        a->given[GIVEN_LEARNER] = option;
    if (!rc)
        keep_option(a, name, value);
    *at += !equals;
    return rc;
}

/* Operators are split, or a game with both is compared with pipelines. */
static int check_operators(struct search_args *a)
{
    if (a->given[GIVEN_RADIUS])
        return usage("only --kind pp has a use for ", a->given[GIVEN_RADIUS]);
    if (a->given[GIVEN_PIPELINE] && (a->race || !search_args_compare(a)))
        return usage("only --kind pp, and --kind all where it compares kinds, have a use for ",
                     a->given[GIVEN_PIPELINE]);
    if (!a->race && a->algorithm && set(a, "algorithm", a->algorithm))
        return -1;
    if (a->search.game.memory_limit != 0 && a->search.game.reward == GAME_REWARD_PAPER)
        return usage("--memory-limit is of --reward cost", "");
    if (a->given[GIVEN_LEARNER] && !a->race && a->search.algorithm != SEARCH_DQN &&
        !a->by_step.count && !a->by_episode.count)
        return usage("only --algo dqn and race have a use for ", a->given[GIVEN_LEARNER]);
    return 0;
}

static int check_pipeline(struct search_args *a)
{
    static const enum search_given not_here[] = {GIVEN_CLASSES, GIVEN_SEARCH, GIVEN_LEARNER};

    if (!a->race && a->algorithm &&
        !pipeline_args_algorithm(a->algorithm, &a->pipeline.search.algorithm))
        return usage("no algorithm for pipelines: ", a->algorithm);
    if (a->pin_count || a->by_step.count || a->by_episode.count || a->journal)
        return usage("--kind pp takes no pins, script or journal", "");
    if (a->problem.options.zero)
        return usage("--kind pp stores variables whole: no --zero", "");
    for (size_t n = 0; n < sizeof not_here / sizeof *not_here; n++) {
        if (a->given[not_here[n]])
            return usage("--kind pp has no use for ", a->given[not_here[n]]);
    }
    a->problem.options.micro_batches = 0; /* the pipeline's own */
    return 0;
}

/* What an option means may depend on the kind, wherever it stands. */
static int check_kind(struct search_args *a)
{
    a->pipeline.options.micro_batches = a->problem.options.micro_batches;
    a->pipeline.options.overlap = a->problem.options.overlap;
    return a->pipeline.wanted ? check_pipeline(a) : check_operators(a);
}

/* The journal has all else. */
static int check_resume(const struct search_args *a)
{
    static const char *const limits[] = {"--episodes", "--time"};

    if (a->problem.model || a->given[GIVEN_PROBLEM] || a->given[GIVEN_CLASSES] || a->no_journal ||
        a->journal)
        return usage("--resume brings its own problem and journal", "");
    for (int n = 0; n < a->options.count; n += 2) {
        if (strcmp(a->options.items[n], limits[0]) && strcmp(a->options.items[n], limits[1]))
            return usage("--resume takes limits only, not ", a->options.items[n]);
    }
    return 0;
}

int search_args_parse(int argc, char **argv, struct search_args *a)
{
    *a = (struct search_args){.seeds = 1, .search.seed = 1};
    pipeline_args_init(&a->pipeline);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(help, stdout);
            return 1;
        }
        int rc = take_option(a, argc, argv, &i);
        if (rc)
            return rc;
    }
    if (a->resume)
        return check_resume(a);
    if (!a->problem.model)
        return usage("no model given", "");
    if (a->journal && a->no_journal)
        return usage("--journal and --no-journal exclude each other", "");
    if (a->race && a->plan)
        return usage("--algo race writes no --plan: it compares", "");
    if (a->journal && (a->seeds > 1 || a->race))
        return usage("--journal is of one search", "");
    if (a->relaxed && (a->race || a->pipeline.wanted))
        return usage("--mode relaxed goes with neither --algo race nor --kind pp", "");
    if (a->race && (a->seeds > 1 || a->by_step.count || a->by_episode.count))
        return usage("--algo race takes neither --seeds nor --script", "");
    sort_timed(&a->by_step);
    sort_timed(&a->by_episode);
    return check_kind(a);
}

bool search_args_compare(const struct search_args *a)
{
    return a->search.game.kind == GAME_ALL && a->search.game.reward == GAME_REWARD_COST &&
           !a->search.game.weak && !a->relaxed && !a->pin_count && !a->by_step.count &&
           !a->by_episode.count;
}

void search_args_release(struct search_args *a)
{
    free(a->pins);
    free(a->by_step.items);
    free(a->by_episode.items);
    words_release(&a->options);
}
