#include "tui/options/search_args.h"

#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/live/command.h"
#include "engine/live/options.h"
#include "engine/pipeline/pipe_search.h"
#include "engine/search/game.h"
#include "engine/text/quantity.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/files/policy_file.h"
#include "tui/files/user_files.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/overwrite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MOST = 4 << 20, SECONDS_MOST = 1000 * 1000 * 1000 };

static int usage(const char *what, const char *detail)
{
    return options_complain("search", "%s%s", what, detail);
}

static int add_pin(struct search_args *a, const char *setting, struct timed_command at,
                   struct err *e)
{
    struct str line = {0};

    str_format(&line, "pin %s", setting);
    int rc = line.failed ? err_no_memory(e, "for the pins")
                         : live_command_parse(line.text, &at.command, e);
    str_release(&line);
    if (rc)
        return rc;
    if (!mem_grow(&a->pins, &a->pin_room, a->pin_count, 1))
        rc = err_no_memory(e, "for the pins");
    if (rc)
        return rc;
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
static int each_line(struct search_args *a, const char *path, struct err *e,
                     int (*each)(struct search_args *a, char *line, struct timed_command at,
                                 struct err *e))
{
    char *text, *save = NULL;
    size_t size;
    uint32_t number = 0;
    int rc = file_read(&text, &size, path, FILE_MOST, e);

    if (rc)
        return rc;
    for (char *at = text; at; at = save) {
        save = strchr(at, '\n');
        if (save)
            *save++ = '\0';
        number++;
        char *line = trim(at);
        if (line[0] && line[0] != '#')
            rc = each(a, line, (struct timed_command){.file = path, .line = number}, e);
        if (rc)
            goto out;
    }
out:
    if (rc == ERR_INPUT) {
        err_in_file(e, path);
        e->line = number;
        e->col = 1;
    }
    free(text);
    return rc;
}

static int pin_line(struct search_args *a, char *line, struct timed_command at, struct err *e)
{
    if (!strchr(line, '='))
        return err_set(e, ERR_INPUT, "\"%.80s\", expected NAME:DIM=0 or NAME:DIM=1", line);
    return add_pin(a, line, at, e);
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

/* An option of the search or of its learner, by its name there. */
static int set_named(struct search_args *a, const char *name, const char *value, struct err *e)
{
    if (live_option_set(&a->search, name, value, e))
        return err_set(e, ERR_USAGE, "--%s %.200s is not possible", name, value);
    return 0;
}

static int take_same_name(void *args, const struct option *o, const char *value, struct err *e)
{
    return set_named(args, o->name, value, e);
}

static int take_state(void *args, const struct option *o, const char *value, struct err *e)
{
    struct search_args *a = args;

    a->state_given = true;
    return set_named(a, o->name, value, e);
}

static int take_preset(void *args, const struct option *o, const char *value, struct err *e)
{
    struct search_args *a = args;
    bool paper = !strcmp(value, "paper");

    a->state_given = paper; /* the network of all models leads by default alone */
    a->pipeline.search.paper = paper;
    return set_named(a, o->name, value, e);
}

static int take_kind(void *args, const struct option *o, const char *value, struct err *e)
{
    struct search_args *a = args;

    a->pipeline.wanted = !strcmp(value, "pp");
    a->hybrid = !strcmp(value, "hybrid");
    return a->pipeline.wanted || a->hybrid ? 0 : set_named(a, o->name, value, e);
}

static int take_algorithm(void *args, const struct option *o, const char *value, struct err *e)
{
    struct search_args *a = args;

    (void)o;
    (void)e; /* what it may be depends on the kind */
    a->race = !strcmp(value, "race");
    a->algorithm = value;
    return 0;
}

/* Asked for, "none" lifts the limit that pipelines and comparisons have without being asked. */
static int take_memory_limit(void *args, const struct option *o, const char *value, struct err *e)
{
    struct search_args *a = args;
    int rc = set_named(a, o->name, value, e);

    a->pipeline.options.no_limit = a->search.game.memory_limit == 0;
    return rc;
}

static int take_no_folding(void *args, const struct option *o, const char *value, struct err *e)
{
    (void)o;
    (void)value;
    return set_named(args, "folding", "off", e);
}

/* Numbers are of the problem. */
static int take_zero(void *args, const struct option *o, const char *value, struct err *e)
{
    struct search_args *a = args;

    (void)o;
    (void)e;
    a->is_zero_any = !strcmp(value, "auto");
    return a->is_zero_any ? 0 : OPTION_PASS;
}

static int take_learner(void *args, const struct option *o, const char *value, struct err *e)
{
    char name[64];
    size_t size = strcspn(value, "=");

    if (!value[size] || size >= sizeof name)
        return option_expected(o, value, e);
    snprintf(name, sizeof name, "%.*s", (int)size, value);
    return set_named(args, name, value + size + 1, e);
}

static int take_seconds(void *args, const struct option *o, const char *value, struct err *e)
{
    struct search_args *a = args;

    return quantity_real(value, 0, SECONDS_MOST, &a->seconds) && a->seconds > 0
               ? 0
               : option_expected(o, value, e);
}

static int take_pin(void *args, const struct option *o, const char *value, struct err *e)
{
    return strchr(value, '=') ? add_pin(args, value, (struct timed_command){0}, e)
                              : option_expected(o, value, e);
}

static int take_hybrid_pin(void *args, const struct option *o, const char *value, struct err *e)
{
    struct search_args *a = args;
    int kind = HYBRID_WISH_CUT;

    while (strcmp(o->name, hybrid_wish_names[kind]) != 0)
        kind++;
    if (a->hybrid_pin_count == HYBRID_PINS_MOST)
        return option_expected(o, value, e);
    a->hybrid_pins[a->hybrid_pin_count++] =
        (struct hybrid_wish){(enum hybrid_wish_kind)kind, value};
    return 0;
}

static int take_pins(void *args, const struct option *o, const char *value, struct err *e)
{
    (void)o;
    return each_line(args, value, e, pin_line);
}

static int take_script(void *args, const struct option *o, const char *value, struct err *e)
{
    (void)o;
    return each_line(args, value, e, script_line);
}

static int take_figure(void *args, const struct option *o, const char *value, struct err *e)
{
    struct problem_args *p = &((struct search_args *)args)->problem;

    if (!strchr(value, '=') || p->figure_count == PROBLEM_FIGURES_MOST)
        return option_expected(o, value, e);
    p->figures[p->figure_count++] = value;
    return 0;
}

static const char *const
    kinds[] = {"opp", "adp", "pp", "hybrid", "all"},
    *const rewards[] = {"cost", "paper"}, *const propagations[] = {"full", "weak"},
    *const states[] = {"one-hot", "continuous", "paper"}, *const presets[] = {"default", "paper"},
    *const candidates[] = {"data", "paper"}, *const limits[] = {"device", "none"},
    *const modes[] = {"strict", "relaxed"}, *const zeros[] = {"auto"};
static const char *const algorithms[] = {"dqn",     "random", "greedy", "enumerate",
                                         "exact",   "anneal", "trws",   "descent",
                                         "uniform", "alpa",   "race"};

#define ARG(field) INTO(struct search_args, field)
static const struct option own[] = {
    {"kind", "opp|adp|pp|hybrid|all",
     "opp: decide variables (default); adp: inputs; pp: a pipeline; hybrid: a pipeline whose "
     "stages are themselves split over devices; all: variables and inputs together, and all "
     "else that can be split, then compare with the best plan of every other kind (not with "
     "--reward paper, weak, relaxed, pins or a script)",
     .is_kept = true, .take = take_kind, NAMES(kinds)},
    {"algo", "NAME",
     "dqn (default), random, greedy, enumerate or exact; also anneal or trws, or for pipelines "
     "descent or infer; for hybrid plans exact (default), uniform, alpa, dqn, random or greedy; "
     "race: all of them, with equally many plans priced",
     .is_kept = true, .take = take_algorithm, NAMES(algorithms)},
    {"uniform", NULL,
     "hybrid: all stages alike, as Megatron-LM, torchtitan and DeepSpeed can be told: data and "
     "tensor "
     "parallelism, 1F1B unless --schedule is given, interleaved too",
     .is_kept = true, .sort = SORT_HYBRID, ARG(uniform)},
    {"whole-layers", NULL,
     "hybrid: layers that the module recomputes run again to their end, as in Megatron-LM; XLA "
     "drops "
     "the last product",
     .is_kept = true, .sort = SORT_HYBRID, ARG(whole_layers)},
    {"relaxed-stages", NULL,
     "hybrid: stages of the last plans solved relaxed, where values may change their split between "
     "uses (sequence parallelism), and played again",
     .is_kept = true, .sort = SORT_HYBRID, ARG(relaxed_stages)},
    {"recompute-values", NULL,
     "hybrid, pp: which values stages of the last plans, and of plans for more memory, keep for "
     "the "
     "backward pass and which they compute again, chosen value by value within the memory; a "
     "pipeline is then a hybrid plan of replicas",
     .is_kept = true, .sort = SORT_PIPELINE, ARG(recompute_values)},
    {"chunks", "V", "hybrid: uniform and interleaved, V stages on each group of devices; 1: not",
     .is_kept = true, .sort = SORT_HYBRID, .kind = OPTION_WHOLE, ARG(chunks), .least = 1,
     .most = 16},
    {"zero", "auto",
     "hybrid: looks at the levels 1, 2 and 3; without it at 1, at the others where nothing fits",
     .is_kept = true, .sort = SORT_HYBRID, .take = take_zero, NAMES(zeros)},
    {"tp", "N", "hybrid: each stage splits a sample in N", .is_kept = true, .sort = SORT_HYBRID,
     .kind = OPTION_WHOLE, ARG(tp), .least = 1, .most = 4096},
    {"dp", "N", "hybrid: each stage splits the batch in N", .is_kept = true, .sort = SORT_HYBRID,
     .kind = OPTION_WHOLE, ARG(dp), .least = 1, .most = 4096},
    {"cut", "LAYER", "hybrid: a stage begins with this layer; repeatable, as are the next two",
     .is_kept = true, .sort = SORT_HYBRID, .take = take_hybrid_pin,
     .expected = "LAYER, at most 32 of all pins"},
    {"keep", "LAYER..LAYER", "hybrid: one stage has these layers and those between",
     .is_kept = true, .sort = SORT_HYBRID, .take = take_hybrid_pin,
     .expected = "LAYER..LAYER, at most 32 of all pins"},
    {"stage", "LAYER=N|LAYER@S|LAYER:tp<=N",
     "hybrid: the stage of LAYER has N devices, is on server S, from 0 on, or splits a sample in N "
     "at most; also LAYER:tp=N, and dp for the batch; LAYER:NAME=split, whole or N: what it does "
     "with "
     "NAME, as V h shows it or NAME:DIM of a variable",
     .is_kept = true, .sort = SORT_HYBRID, .take = take_hybrid_pin,
     .expected = "LAYER=N, LAYER@S, LAYER:tp<=N, tp=N, dp<=N, dp=N or LAYER:NAME=split, at most 32 "
                 "of all pins"},
    {"price-limits", NULL,
     "hybrid: say what each option that holds for the whole plan costs (--stages, --tp, --dp, "
     "--zero, --uniform and the like): a search without it",
     .is_kept = true, .sort = SORT_HYBRID, ARG(price_limits)},
    {"tp-most", "N", "hybrid: each stage splits a sample in N at most; a pin, with its price",
     .is_kept = true, .sort = SORT_HYBRID, .take = take_hybrid_pin,
     .expected = "N, at most 32 of all pins"},
    {"reward", "cost|paper", "step time (default), or the paper's 0.4 and 0.1 per dim",
     .is_kept = true, .sort = SORT_SEARCH, .take = take_same_name, NAMES(rewards)},
    {"mode", "strict|relaxed",
     "relaxed: complete the decisions at least cost with a plan whose values may change their "
     "split between uses",
     .is_kept = true, .kind = OPTION_CHOICE, ARG(relaxed), NAMES(modes)},
    {"memory-limit", "SIZE",
     "rank plans that need more than SIZE (12.8 GB) on a device after all that fit, and measure "
     "against the optimum within SIZE; device: a device's memory minus 20 %; none. Default: a "
     "device's memory for pipelines and for kind all, else no limit",
     .is_kept = true, .take = take_memory_limit, NAMES(limits)},
    {"propagation", "full|weak",
     "weak: only running into a conflict reveals it, and ends the episode; where every episode "
     "ends so, to decide nothing is the best plan known (exit code 4 if that is over the limit)",
     .is_kept = true, .sort = SORT_SEARCH, .take = take_same_name, NAMES(propagations)},
    {"preset", "default|paper",
     "paper: Auto-MAP as published: its reward, weak propagation, state, candidates, and "
     "a dqn with double and prioritized replay alone, on its schedules; options behind it "
     "change one thing each; --rules paper is asked for apart. default: ours (README of "
     "engine/search has the differences)",
     .is_kept = true, .take = take_preset, NAMES(presets)},
    {"candidates", "data|paper",
     "adp, weak: what is decided. data (default): the inputs recognised as data; paper: dims of "
     "every entry parameter that is neither variable nor kept with one",
     .is_kept = true, .sort = SORT_SEARCH, .take = take_same_name, NAMES(candidates)},
    {"state", "one-hot|continuous|paper",
     "what a dqn sees. continuous (default): decisions by what they do, for which a network of all "
     "models leads the first 50 episodes and half of fine-tuning; one-hot: this model's moves "
     "alone, learned from nothing; paper: -1, 0 or 1 a move, and the position as an integer. Under "
     "the paper's reward no network leads",
     .is_kept = true, .sort = SORT_LEARNER, .take = take_state, NAMES(states)},
    {"no-folding", NULL, "decide every copy of a repeated layer separately", .is_kept = true,
     .sort = SORT_SEARCH, .take = take_no_folding},
    {"episodes", "N",
     "stop after N episodes; by default a dqn stops when fine-tuning finds nothing more, the "
     "others after 10000 plans",
     .is_kept = true, .kind = OPTION_WHOLE, ARG(episodes), .least = 1, .most = 0x1p62,
     .expected = "a number"},
    {"time", "S", "stop after S seconds", .is_kept = true, .take = take_seconds,
     .expected = "seconds"},
    {"seed", "N", "seed of everything random; default 1", .is_kept = true, .take = take_same_name},
    {"stable-episodes", "N", "fine-tuning begins after N episodes without a better plan",
     .is_kept = true, .sort = SORT_LEARNER, .take = take_same_name},
    {"seeds", "N",
     "N searches from --seed on, in parallel, over the ranks of mpirun if it started them, with "
     "statistics",
     .is_kept = true, .kind = OPTION_WHOLE, ARG(seeds), .least = 1, .most = SEARCH_SEEDS_MOST},
    {"pin", "'NAME:DIM=0|1'", "fix a decision; NAME may be a glob or #17; repeatable",
     .is_kept = true, .take = take_pin, .expected = "NAME:DIM=0 or NAME:DIM=1"},
    {"pins", "FILE", "one a line", .is_kept = true, .kind = OPTION_FILE, .take = take_pins},
    {"script", "FILE", "timed commands: lines 'STEP COMMAND' or 'at episode N: COMMAND'",
     .is_kept = true, .kind = OPTION_FILE, .take = take_script},
    {"set", "PATH=VALUE",
     "change a figure of the cluster first, as in automap cluster --set: 'devices.*.peak=15 "
     "TFLOP/s'; repeatable",
     .sort = SORT_PROBLEM, .take = take_figure, .expected = "PATH=VALUE, at most 32 of them"},
    {"learner", "NAME=VALUE", "a setting of the learner; repeatable", .is_kept = true,
     .sort = SORT_LEARNER, .values = VALUES_SETTING, .take = take_learner,
     .expected = "NAME=VALUE"},
    {0},
};

static const struct option results[] = {
    {"plan", "FILE", "write the best plan to FILE", .kind = OPTION_FILE, ARG(plan)},
    {"curves", "FILE",
     "write the curves to FILE as CSV: progress, the share of dims settled after each decision; "
     "score, best and epsilon of each episode; loss of each update",
     .kind = OPTION_FILE, ARG(curves)},
    {"force", NULL, OVERWRITE_HELP, ARG(force)},
    {"journal", "FILE",
     "record commands and best plans in FILE; by default a single search records them in sessions/ "
     "of the state directory",
     .kind = OPTION_FILE, ARG(journal)},
    {"no-journal", NULL, "keep none", ARG(no_journal)},
    {"resume", "FILE",
     "continue the search of a journal, bit for bit; only limits may be given; \"last\": the "
     "newest in sessions/",
     .kind = OPTION_FILE, .values = VALUES_JOURNAL, ARG(resume)},
    {"json", NULL, "the result as JSON on standard output", ARG(json)},
    {"quiet", NULL, "no progress on standard error", ARG(quiet)},
    {0},
};
#undef ARG

const struct option_set search_option_sets[] = {
    {.rows = own},
    {.rows = pipeline_options, .at = offsetof(struct search_args, pipeline)},
    {.rows = problem_options, .at = offsetof(struct search_args, problem)},
    {.rows = results},
    {0},
};

/* Files that are read again lie where they lay. */
static void note_taken(void *args, const struct option *o, const char *value)
{
    struct search_args *a = args;
    char name[48];

    a->is_schedule_given |= !strcmp(o->name, "schedule");
    a->is_zero_given |= !strcmp(o->name, "zero");
    a->given[o->sort] = option_spelling(o, name)[0] == '-' ? o->name : "MODEL";
    if (!o->is_kept)
        return;
    words_add(&a->options, name);
    if (value && o->kind == OPTION_FILE)
        words_add_path(&a->options, value);
    else if (value)
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

/* What does not go together; `of` stands behind `why`. */
struct rule {
    bool wrong;
    const char *why, *of;
};

static int check_rules(const struct rule *rules, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        if (rules[n].wrong)
            return usage(rules[n].why, rules[n].of ? rules[n].of : "");
    }
    return EXIT_OK;
}

#define CHECK(rules) check_rules(rules, sizeof rules / sizeof *rules)

/* Operators are split, or a game with both is compared with pipelines. */
static int check_operators(struct search_args *a)
{
    const char *const *given = a->given;
    bool scripted = a->by_step.count || a->by_episode.count;
    struct err e;
    const struct rule pipelines[] = {
        {given[SORT_RADIUS], "only --kind pp has a use for --", given[SORT_RADIUS]},
        {given[SORT_HYBRID], "only --kind hybrid has a use for --", given[SORT_HYBRID]},
        {a->recompute_values, "--recompute-values is of --kind hybrid and pp", NULL},
        {given[SORT_PIPELINE] && (a->race || !search_args_compare(a)),
         "only --kind pp, and --kind all where it compares kinds, have a use for --",
         given[SORT_PIPELINE]},
    };

    if (CHECK(pipelines))
        return EXIT_USAGE;
    if (!a->race && a->algorithm && set_named(a, "algorithm", a->algorithm, &e))
        return usage(e.what, "");
    const struct rule others[] = {
        {a->search.game.memory_limit != 0 && a->search.game.reward == GAME_REWARD_PAPER,
         "--memory-limit is of --reward cost", NULL},
        {given[SORT_LEARNER] && !a->race && a->search.algorithm != SEARCH_DQN && !scripted,
         "only --algo dqn and race have a use for --", given[SORT_LEARNER]},
    };
    return CHECK(others);
}

static int check_pipeline(struct search_args *a)
{
    const char *const *given = a->given;
    const struct rule rules[] = {
        {!a->race && a->algorithm &&
             !pipeline_args_algorithm(a->algorithm, &a->pipeline.search.algorithm),
         "no algorithm for pipelines: ", a->algorithm},
        {a->pin_count || a->by_step.count || a->by_episode.count || a->journal,
         "--kind pp takes no pins, script or journal", NULL},
        {a->problem.options.zero, "--kind pp stores variables whole: no --zero", NULL},
        {a->recompute_values &&
             (a->race || a->pipeline.options.recompute || a->seeds > 1 ||
              (a->algorithm && a->pipeline.search.algorithm != PIPE_SEARCH_EXACT)),
         "--recompute-values goes with --algo exact alone, without --recompute and --seeds", NULL},
        {given[SORT_SPLITS], "--kind pp has no use for --", given[SORT_SPLITS]},
        {given[SORT_HYBRID], "only --kind hybrid has a use for --", given[SORT_HYBRID]},
        {given[SORT_SEARCH], "--kind pp has no use for --", given[SORT_SEARCH]},
        {given[SORT_LEARNER], "--kind pp has no use for --", given[SORT_LEARNER]},
    };

    a->problem.options.micro_batches = 0; /* the pipeline's own */
    return CHECK(rules);
}

static int check_hybrid(struct search_args *a)
{
    const char *const *given = a->given;
    const struct rule rules[] = {
        {!a->race && a->algorithm && !hybrid_algorithm_named(a->algorithm, &a->hybrid_algorithm),
         "no algorithm for hybrid plans: ", a->algorithm},
        {a->pin_count || a->by_step.count || a->by_episode.count || a->journal || a->seeds > 1,
         "--kind hybrid takes no pins, script, journal or --seeds", NULL},
        {a->relaxed, "--mode relaxed does not go with --kind hybrid", NULL},
        {a->pipeline.options.pins, "--kind hybrid has no use for --pin-cut", NULL},
        {a->price_limits && a->json, "--price-limits does not go with --json", NULL},
        {given[SORT_RADIUS], "only --kind pp has a use for --", given[SORT_RADIUS]},
        {given[SORT_SEARCH], "--kind hybrid has no use for --", given[SORT_SEARCH]},
        {given[SORT_LEARNER] && !a->race && a->hybrid_algorithm != HYBRID_DQN,
         "only --algo dqn and race have a use for --", given[SORT_LEARNER]},
        {a->pipeline.search.paper, "--kind hybrid is none of the paper's: no --preset paper", NULL},
        {a->state_given || a->search.stable_episodes,
         "--kind hybrid has one state and no fine-tuning: no --",
         a->state_given ? "state" : "stable-episodes"},
        {(a->episodes || a->seconds > 0) && !a->race &&
             !hybrid_algorithm_plays(a->hybrid_algorithm),
         "--episodes and --time are of --algo dqn, random, greedy, alpa and race", NULL},
        {a->relaxed_stages && a->race, "--algo race compares strict stages", NULL},
        {a->recompute_values && (a->race || a->relaxed_stages || a->pipeline.options.recompute),
         "--recompute-values goes with neither --algo race, --relaxed-stages nor --recompute",
         NULL},
        {(a->uniform || a->chunks) && (a->race || hybrid_algorithm_plays(a->hybrid_algorithm)),
         "--uniform and --chunks are of --algo exact and uniform", NULL},
        {a->is_zero_any && (a->race || hybrid_algorithm_plays(a->hybrid_algorithm)),
         "--zero auto is of --algo exact and uniform", NULL},
    };

    a->problem.options.micro_batches = 0; /* the search's own */
    return CHECK(rules);
}

/* The journal has all else. */
static int check_resume(const struct search_args *a)
{
    if (a->problem.model || a->given[SORT_PROBLEM] || a->given[SORT_SPLITS] || a->no_journal ||
        a->journal)
        return usage("--resume brings its own problem and journal", "");
    for (int n = 0; n < a->options.count; n += 2) {
        if (strcmp(a->options.items[n], "--episodes") && strcmp(a->options.items[n], "--time"))
            return usage("--resume takes limits only, not ", a->options.items[n]);
    }
    return EXIT_OK;
}

static int check_all(struct search_args *a)
{
    bool scripted = a->by_step.count || a->by_episode.count;
    const struct rule rules[] = {
        {!a->problem.model, "no model given", NULL},
        {a->journal && a->no_journal, "--journal and --no-journal exclude each other", NULL},
        {a->race && a->plan, "--algo race writes no --plan: it compares", NULL},
        {a->curves && (a->race || a->pipeline.wanted || a->hybrid),
         "--curves is of a search that decides operators", NULL},
        {a->journal && (a->seeds > 1 || a->race), "--journal is of one search", NULL},
        {a->relaxed && (a->race || a->pipeline.wanted),
         "--mode relaxed goes with neither --algo race nor --kind pp", NULL},
        {a->race && (a->seeds > 1 || scripted), "--algo race takes neither --seeds nor --script",
         NULL},
    };

    if (CHECK(rules))
        return EXIT_USAGE;
    /* What an option means may depend on the kind, wherever it stands. */
    a->pipeline.options.batch = (uint32_t)a->problem.options.batch_size;
    a->pipeline.options.micro_batches = a->problem.options.micro_batches;
    return a->pipeline.wanted ? check_pipeline(a)
           : a->hybrid        ? check_hybrid(a)
                              : check_operators(a);
}

/* A search without a screen is led by the network of all models where there is one; one that is
 * watched learns before one's eyes. Kept in words, so that a journal goes on as it began. */
static void choose_state(struct search_args *a, const char *command)
{
    a->search.policy = policy_shipped();
    if (a->state_given || a->pipeline.wanted || a->hybrid || a->search.algorithm != SEARCH_DQN)
        return;
    a->search.continuous = a->search.policy && strcmp(command, "explore") != 0;
    words_add(&a->options, "--state");
    words_add(&a->options, a->search.continuous ? "continuous" : "one-hot");
}

int search_args_parse(int argc, char **argv, struct search_args *a)
{
    const struct option_parser parser = {"search", search_option_sets, note_taken};

    *a = (struct search_args){.seeds = 1, .search.seed = 1};
    pipeline_args_init(&a->pipeline);
    int code = options_parse(&parser, a, argc, argv);
    if (code)
        return code;
    sort_timed(&a->by_step);
    sort_timed(&a->by_episode);
    code = a->resume ? check_resume(a) : check_all(a);
    if (code == EXIT_OK && !a->resume)
        choose_state(a, argv[0]);
    return code;
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
