/* automap place: a device for every operator. */
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/place/latency.h"
#include "engine/place/lp.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_file.h"
#include "engine/place/place_pins.h"
#include "engine/place/place_pipeline.h"
#include "engine/place/placement.h"
#include "engine/place/race_placements.h"
#include "engine/place/solve.h"
#include "engine/place/split.h"
#include "engine/problem/problem.h"
#include "engine/text/quantity.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "tui/commands/commands.h"
#include "tui/commands/place_input.h"
#include "tui/commands/place_print.h"
#include "tui/commands/place_race.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/overwrite.h"
#include "tui/options/problem_args.h"
#include "tui/options/stopping.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PINS_MOST = 256 };

struct request {
    const char *input, *cluster, *algo, *split, *output, *plan, *pipeline, *why, *lp;
    bool force;
    struct problem_args problem; /* of a model */
    struct place_input in;
    struct place_job job;
    uint32_t accelerators, cores; /* UINT32_MAX: the file's */
    double memory_bytes;
    const char *pin[PINS_MOST];
    uint32_t pins;
    bool is_json, is_race;
    uint32_t given; /* bit k: the option of useless[k] */
    bool unfit;     /* the plan shown breaks memory, kinds or pins; no plan of a race answers */
};

/* ---- the command line ---- */

static int take_memory(void *args, const struct option *o, const char *value, struct err *e)
{
    struct request *r = args;
    struct err why;

    if (quantity_read(value, QUANTITY_BYTES, &r->memory_bytes, &why))
        return err_set(e, ERR_USAGE, "--%s: %s", o->name, why.what);
    return 0;
}

static int take_pin(void *args, const struct option *o, const char *value, struct err *e)
{
    struct request *r = args;

    if (r->pins == PINS_MOST)
        return err_set(e, ERR_USAGE, "more than %d times --%s", PINS_MOST, o->name);
    r->pin[r->pins++] = value;
    return 0;
}

static const char *algorithm_at(size_t i)
{
    size_t n = 0;

    while (n < i && place_algorithms[n].name)
        n++;
    return n < i ? NULL : place_algorithms[n].name ? place_algorithms[n].name : "race";
}

static int take_algorithm(void *args, const struct option *o, const char *value, struct err *e)
{
    struct request *r = args;

    r->algo = value;
    r->is_race = !strcmp(value, "race");
    for (size_t i = 0; algorithm_at(i); i++) {
        if (!strcmp(algorithm_at(i), value))
            return 0;
    }
    return option_expected(o, value, e);
}

static const char *const objectives[] = {"throughput", "latency"},
                         *const switches[] = {"on", "off"},
                         *const communications[] = {"sum", "max", "duplex"},
                         *const passes[] = {"together", "apart"};

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"INPUT", .values = VALUES_MODEL, ARG(input)},
    {"CLUSTER", .values = VALUES_CLUSTER, ARG(cluster)},
    {"objective", "NAME",
     "throughput (default): time per sample of a stream; latency: of one sample",
     .kind = OPTION_CHOICE, NAMES(objectives), ARG(job.latency)},
    {"contiguous", "on|off", "on (default): no path leaves a device and comes back",
     .kind = OPTION_CHOICE, NAMES(switches), ARG(job.any_sets)},
    {"communication", "NAME",
     "sum (default): work and transfers after another; max: beside each other; duplex: in and out "
     "as well",
     .kind = OPTION_CHOICE, NAMES(communications), ARG(job.rules.communication)},
    {"passes", "together|apart", "apart: largest forward load + largest backward load",
     .kind = OPTION_CHOICE, NAMES(passes), ARG(job.rules.apart)},
    {"pieces", "Q", "latency: pieces of one accelerator; default 1", .kind = OPTION_WHOLE,
     ARG(job.pieces), .most = 64, .expected = "a whole number in range"},
    {"replicate", NULL, "a stage may have copies on several accelerators",
     ARG(job.rules.replicate)},
    {"devices", "K", "accelerators, in place of the file's", .kind = OPTION_WHOLE,
     ARG(accelerators), .most = PLACE_DEVICES_MAX, .expected = "a whole number in range"},
    {"cpus", "L", "cores, in place of the file's", .kind = OPTION_WHOLE, ARG(cores),
     .most = PLACE_DEVICES_MAX, .expected = "a whole number in range"},
    {"memory-limit", "SIZE", "of one accelerator, 16 GB, in place of the file's",
     .take = take_memory},
    {"pin", "WORDS",
     "\"NODE on B\", \"NODE with NODE\", \"NODE apart from NODE\" or \"NODE off host\", by id or "
     "name; may be given again",
     .take = take_pin},
    {"target", "MS", "the fewest accelerators that reach a time per sample", .kind = OPTION_REAL,
     ARG(job.target_ms), .least = 1e-9, .most = 1e12, .expected = "milliseconds, such as 12.5"},
    {"split", "FILE", "score a split instead of looking for one; in a race it is the expert",
     .kind = OPTION_FILE, ARG(split)},
    {"algo", "NAME",
     "exact (default), dpl, anneal, local, greedy, pipedream, scotch, dqn, random, one; race: all "
     "of them on equally many plans priced (--moves, default 500), ranked",
     .take = take_algorithm, .value_at = algorithm_at,
     .expected = "exact, dpl, anneal, local, greedy, pipedream, scotch, dqn, random, one or race"},
    {"lp", "FILE", "write the question of any sets as an integer program", .kind = OPTION_FILE,
     ARG(lp)},
    {"why", "NODE", "why that node is where it is: the price of every other device", ARG(why)},
    {"moves", "N", "of searches; latency: plans they price", .kind = OPTION_WHOLE, ARG(job.moves),
     .most = 0x1p48, .expected = "a whole number in range"},
    {"seed", "N", "of searches", .kind = OPTION_WHOLE, ARG(job.seed), .most = 0x1p48,
     .expected = "a whole number in range"},
    {"o", "FILE", "write the plan as a split", .kind = OPTION_FILE, ARG(output)},
    {"plan", "FILE", "write the plan: plan, explain, export and the explorer open it",
     .kind = OPTION_FILE, ARG(plan)},
    {"pipeline", "FILE",
     "of a model's training step, contiguous: write the plan as a pipeline's, and show it",
     .kind = OPTION_FILE, ARG(pipeline)},
    {"force", NULL, OVERWRITE_HELP, ARG(force)},
    {"json", NULL, "for programs", ARG(is_json)},
    {0},
};
#undef ARG
/* Of the options that name a problem those that say what operations there are and what they take;
 * the others are of splits and steps. */
static bool model_row(size_t i, struct option *out)
{
    static const char *const taken[] = {"servers",     "vars",    "loss",      "profile",
                                        "profiled-on", "kernels", "attention", "batch"};

    for (const struct option *o = problem_options; o->name; o++) {
        bool is_taken = false;
        for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
            is_taken |= !strcmp(o->name, taken[k]);
        if (!is_taken || i-- > 0)
            continue;
        *out = *o;
        return true;
    }
    return false;
}

static const struct option_set options[] = {
    {.rows = rows}, {.row = model_row, .at = offsetof(struct request, problem)}, {0}};

static bool names_a_model(const struct problem_args *a)
{
    return a->servers || a->vars || a->loss || a->profile || a->profiled_on || a->kernels ||
           a->options.fused_attention || a->options.batch_size;
}

/* ---- options that go together ---- */

/* What is asked, as far as options have no meaning in it. */
enum asked {
    ASKED_SCORE = 1, /* a split, and no search */
    ASKED_RACE = 2,  /* no single plan */
    ASKED_LATENCY = 4,
    ASKED_STREAM = 8,
    ASKED_ANY = 16, /* any sets */
    ASKED_APART = 32,
    ASKED_JSON = 64,
    ASKED_LP = 128,
};
static const struct {
    int bit;
    const char *words;
} asked_words[] = {
    {ASKED_SCORE, "a split that is scored (--split)"},
    {ASKED_RACE, "a race, which shows no single plan"},
    {ASKED_LATENCY, "--objective latency"},
    {ASKED_STREAM, "--objective throughput"},
    {ASKED_ANY, "--contiguous off"},
    {ASKED_APART, "--passes apart"},
    {ASKED_JSON, "--json"},
    {ASKED_LP, "--lp"},
};

/* Options that would be passed over, by what is asked. */
static const struct {
    const char *option;
    int asked;
} useless[] = {
    {"algo", ASKED_SCORE},
    {"moves", ASKED_SCORE},
    {"seed", ASKED_SCORE},
    {"contiguous", ASKED_SCORE | ASKED_LATENCY},
    {"pieces", ASKED_SCORE | ASKED_STREAM},
    {"target", ASKED_SCORE | ASKED_RACE | ASKED_LATENCY | ASKED_ANY | ASKED_APART},
    {"replicate", ASKED_SCORE | ASKED_LATENCY | ASKED_ANY | ASKED_LP},
    {"communication", ASKED_LATENCY | ASKED_LP},
    {"passes", ASKED_LATENCY | ASKED_LP},
    {"lp", ASKED_LATENCY},
    {"pipeline", ASKED_RACE | ASKED_LATENCY},
    {"plan", ASKED_RACE},
    {"o", ASKED_RACE},
    {"why", ASKED_RACE | ASKED_JSON},
};

static void note_given(void *args, const struct option *o, const char *value)
{
    struct request *r = args;

    (void)value;
    for (size_t k = 0; k < sizeof useless / sizeof *useless; k++) {
        if (!strcmp(useless[k].option, o->name))
            r->given |= (uint32_t)1 << k;
    }
}

static int what_is_asked(const struct request *r)
{
    return (r->split && !r->is_race ? ASKED_SCORE : 0) | (r->is_race ? ASKED_RACE : 0) |
           (r->job.latency ? ASKED_LATENCY : ASKED_STREAM) | (r->job.any_sets ? ASKED_ANY : 0) |
           (r->job.rules.apart ? ASKED_APART : 0) | (r->is_json ? ASKED_JSON : 0) |
           (r->lp ? ASKED_LP : 0);
}

/* The first that has no use, told; 0: none. */
static int check_use(const struct request *r)
{
    int asked = what_is_asked(r);

    for (size_t k = 0; k < sizeof useless / sizeof *useless; k++) {
        for (size_t i = 0; i < sizeof asked_words / sizeof *asked_words; i++) {
            if ((r->given >> k & 1) && (useless[k].asked & asked & asked_words[i].bit))
                return options_complain("place", "%s%s has no use with %s",
                                        strlen(useless[k].option) > 1 ? "--" : "-",
                                        useless[k].option, asked_words[i].words);
        }
    }
    return EXIT_OK;
}

static int parse(struct request *r, int argc, char **argv)
{
    const struct option_parser parser = {"place", options, note_given};
    int code = options_parse(&parser, r, argc, argv);

    if (code)
        return code;
    if (!r->input)
        return options_complain("place", "which graph?");
    return check_use(r);
}

/* ---- the graph ---- */

static int read_input(struct request *r, struct place_input *out, struct err *e)
{
    r->problem.model = r->input;
    r->problem.cluster = r->cluster;
    if (!r->cluster && r->accelerators != UINT32_MAX)
        r->problem.devices = r->accelerators;
    int rc = place_input_read(&r->problem, out, e);
    if (rc)
        return rc;
    if (out->problem) {
        place_job_of_model(&r->job);
        return 0;
    }
    if (!names_a_model(&r->problem))
        return 0;
    place_input_release(out);
    return err_set(
        e, ERR_USAGE,
        "--servers, --vars, --loss, --profile, --profiled-on, --kernels, --attention and --batch "
        "are of models, and this is an operator graph");
}

static void set_devices(const struct request *r, struct place_graph *g)
{
    struct place_type *host = &g->type[g->types - 1];

    if (r->accelerators != UINT32_MAX)
        g->type[0].count = r->accelerators;
    if (r->cores != UINT32_MAX)
        host->count = r->cores;
    if (r->job.latency && !host->count) /* as many as needed are there */
        host->count = 1;
    for (uint32_t t = 0; t + 1 < g->types && r->memory_bytes > 0; t++)
        g->type[t].memory_bytes = r->memory_bytes;
}

static int set_pins(const struct request *r, struct place_graph *g, struct err *e)
{
    for (uint32_t i = 0; i < r->pins; i++) {
        if (place_pin(g, r->pin[i], e))
            return e->code;
    }
    return 0;
}

/* ---- answers ---- */

static int complain(const struct err *e)
{
    err_print(e, stderr);
    return exit_code_of(e);
}

/* Needs are those of contiguous plans, so where others are asked a no is said of those alone. */
static void say_needs(const struct request *r, const struct place_graph *g)
{
    uint32_t accelerators = place_devices(g) - g->type[g->types - 1].count;
    bool contiguous = !r->job.any_sets && !r->job.latency;
    struct place_needs needs;
    struct err e = {0};
    char bytes[UNITS_ROOM];

    if (r->job.target_ms > 0 || place_find_needs(g, &r->job, &needs, &e))
        return;
    if (needs.fits) {
        fprintf(stderr, "there are plans that fit: --algo exact%s finds one\n",
                needs.by_exact ? "" : " or dpl");
        return;
    }
    if (isfinite(needs.memory_bytes))
        fprintf(stderr, "%u accelerator%s of %s would do\n", g->type[0].count,
                g->type[0].count == 1 ? "" : "s", units_bytes(bytes, needs.memory_bytes));
    if (needs.accelerators > g->type[0].count)
        fprintf(stderr, "%u accelerator%s of %s would do\n", needs.accelerators,
                needs.accelerators == 1 ? "" : "s", units_bytes(bytes, g->type[0].memory_bytes));
    else
        fprintf(stderr,
                contiguous ? "no number of accelerators of %s was found that would do\n"
                           : "no contiguous plan was found with more accelerators of %s\n",
                units_bytes(bytes, g->type[0].memory_bytes));
    if (isinf(needs.memory_bytes) && contiguous && accelerators)
        fprintf(stderr, "with any memory no plan was found: kinds of devices or pins stand against "
                        "it\n");
}

static int write_split(const struct request *r, const struct place_graph *g,
                       const struct placement *p, const struct place_load *load, struct err *e)
{
    struct str text = {0};
    int rc;

    if (!r->output)
        return 0;
    place_split_write(p, g, &r->job.rules, load, r->job.latency, &text);
    rc = text.failed ? err_no_memory(e, "for the split")
                     : hlo_file_write(r->output, text.text, text.size, FILE_REPLACE, e);
    if (rc)
        err_in_file(e, r->output);
    str_release(&text);
    return rc;
}

/* The question itself, for other solvers. The first line names who wrote it (overwrite.h). */
static int write_lp(const struct request *r, const struct place_graph *g, struct err *e)
{
    struct str text = {0};
    int rc;

    if (!r->lp)
        return 0;
    str_add(&text, "\\ automap place: plans of any sets\n");
    rc = place_lp_write(g, &r->job.rules, &text, e);
    rc = rc            ? rc
         : text.failed ? err_no_memory(e, "for the integer program")
                       : hlo_file_write(r->lp, text.text, text.size, FILE_REPLACE, e);
    if (rc)
        err_in_file(e, r->lp);
    str_release(&text);
    return rc;
}

static int show_why(const struct request *r, const struct place_graph *g, const struct placement *p,
                    struct err *e)
{
    uint32_t node;

    if (place_find_node(g, r->why, strlen(r->why), &node, e))
        return e->code;
    return place_print_why(g, &r->job.rules, p, node, e);
}

static struct place_document document_of(const struct request *r, const struct placement *p,
                                         const struct place_load *load)
{
    return (struct place_document){.problem = r->in.problem,
                                   .graph = r->in.graph,
                                   .fingerprint = r->in.fingerprint,
                                   .job = &r->job,
                                   .pin = r->pin,
                                   .pins = r->pins,
                                   .plan = p,
                                   .load = load};
}

/* The plan as a pipeline's, where it is one: NULL else, with the reason in `why`. */
static struct place_pipeline *pipeline_of(const struct request *r, const struct placement *p,
                                          struct err *why)
{
    struct pipeline_options o = {.limit_bytes = r->memory_bytes, .stop = r->job.stop};
    struct place_pipeline *l = mem_alloc(sizeof *l);

    if (!r->in.problem || r->job.latency || r->job.rules.communication != PLACE_SUM) {
        err_set(why, ERR_INPUT, "only a plan of a model for throughput is a pipeline");
        free(l);
        return NULL;
    }
    o.overlap = problem_overlap(r->in.problem);
    if (place_pipeline_new(r->in.problem, r->in.graph, p, &o, l, why) == 0)
        return l;
    free(l);
    return NULL;
}

static void drop_pipeline(struct place_pipeline *l)
{
    if (l)
        pipeline_release(&l->pipeline);
    free(l);
}

static int print_json(const struct place_document *d, const struct place_pipeline *l, struct err *e)
{
    cJSON *o = place_json(d, true);
    char *text;

    if (l)
        cJSON_AddItemToObject(o, "pipeline", pipeline_json(&l->pipeline, &l->plan));
    text = cJSON_Print(o);
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
    return text ? 0 : err_no_memory(e, "for the report");
}

static int write_files(const struct request *r, const struct place_document *d,
                       const struct place_pipeline *l, const struct err *why, struct err *e)
{
    if (write_split(r, d->graph, d->plan, d->load, e))
        return e->code;
    if (r->plan && place_file_save(d, r->plan, e))
        return e->code;
    if (!r->pipeline)
        return 0;
    if (!l) {
        *e = *why;
        return e->code;
    }
    return pipeline_file_save(&l->pipeline, &l->plan, r->pipeline, e);
}

static int show_placement(struct request *r, struct placement *p, struct err *e)
{
    const struct place_graph *g = r->in.graph;
    struct place_load *load = mem_try((size_t)p->devices + 1, sizeof *load);
    struct place_pipeline *l = NULL;
    struct err why = {0};
    double value = p->value_ms;
    int rc = load ? placement_value(p, g, &r->job.rules, load, e) : err_no_memory(e, "for a plan");

    if (rc)
        goto out;
    if (r->job.latency)
        p->value_ms = value;
    bool answers;
    if (place_answers(g, &r->job, p, &answers, e)) {
        rc = e->code;
        goto out;
    }
    r->unfit = p->faults != 0;
    struct place_document d = document_of(r, p, load);
    l = r->why ? NULL : pipeline_of(r, p, &why);
    if (why.code == ERR_MEMORY) {
        *e = why;
        rc = why.code;
        goto out;
    }
    if (r->is_json)
        rc = print_json(&d, l, e);
    else if (r->why)
        rc = show_why(r, g, p, e);
    else
        rc = place_print(r->input, g, &r->job, p, load, e);
    if (rc)
        goto out;
    if (l && !r->is_json)
        place_print_pipeline(l, r->pipeline != NULL);
    rc = write_files(r, &d, l, &why, e);
out:
    drop_pipeline(l);
    free(load);
    return rc;
}

/* Whether the split is contiguous is for us to say. */
static int score_stream(struct request *r, struct placement *p, struct err *e)
{
    bool answers;

    if (place_answers(r->in.graph, &r->job, p, &answers, e))
        return e->code;
    r->job.any_sets = !p->contiguous;
    p->bound_ms = place_work_bound(r->in.graph, &r->job.rules);
    p->bound_by = "work shared out";
    return 0;
}

static int score_latency(struct request *r, struct placement *p, struct err *e)
{
    p->bound_ms = place_latency_bound(r->in.graph);
    p->bound_by = PLACE_LATENCY_BOUND_BY;
    return place_latency_value(r->in.graph, p, false, &p->value_ms, e);
}

static int score(struct request *r, struct err *e)
{
    struct placement *p;
    int rc = place_split_read(r->split, r->in.graph, &r->job.rules, &p, e);

    if (rc)
        return rc;
    rc = r->job.latency ? score_latency(r, p, e) : score_stream(r, p, e);
    if (rc)
        goto out;
    rc = show_placement(r, p, e);
out:
    placement_free(p);
    return rc;
}

/* A race of all, with the plan of --split among them. */
static int race(struct request *r, const struct place_graph *g, struct err *e)
{
    struct place_race race = {0};
    struct placement *expert = NULL;
    int rc = 0;

    if (r->split && place_split_read(r->split, g, &r->job.rules, &expert, e))
        return e->code;
    if (expert && r->job.latency)
        rc = place_latency_value(g, expert, false, &expert->value_ms, e);
    if (rc)
        goto out;
    rc = place_race_run(g, &r->job, expert, &race, e);
    if (rc)
        goto out;
    if (r->is_json)
        rc = place_race_json(g, &r->job, &race, e);
    else
        place_race_print(r->input, g, &r->job, &race);
    r->unfit = !race.lanes || !race.lane[0].answers;
out:
    place_race_release(&race);
    placement_free(expert);
    return rc;
}

/* ---- the command ---- */

/* What would do instead of what was shown, where that does not fit. */
static int end_shown(struct request *r)
{
    if (!r->unfit)
        return EXIT_OK;
    r->job.stop = NULL;
    fflush(stdout);
    say_needs(r, r->in.graph);
    return EXIT_INFEASIBLE;
}

static int answer_request(struct request *r)
{
    const struct place_graph *g = r->in.graph;
    struct placement *p;
    struct err e = {0};
    int rc;

    if (write_lp(r, g, &e))
        return complain(&e);
    if (r->split && !r->is_race)
        return score(r, &e) ? complain(&e) : end_shown(r);
    r->job.stop = stopping_begin();
    if (r->is_race) {
        rc = race(r, g, &e);
        return stopping_end() ? EXIT_STOPPED : rc ? complain(&e) : end_shown(r);
    }
    rc = place_solve(g, &r->job, r->algo, &p, &e);
    bool stopped = stopping_end();
    if (rc) {
        rc = complain(&e);
        if (rc == EXIT_INFEASIBLE && !stopped) {
            r->job.stop = NULL;
            say_needs(r, g);
        }
        return stopped ? EXIT_STOPPED : rc;
    }
    rc = show_placement(r, p, &e) ? complain(&e) : stopped ? EXIT_OK : end_shown(r);
    placement_free(p);
    return stopped ? EXIT_STOPPED : rc;
}

static int run_place(int argc, char **argv)
{
    struct request r = {.algo = "exact", .accelerators = UINT32_MAX, .cores = UINT32_MAX};
    struct err e = {0};
    int rc = parse(&r, argc, argv);
    const char *const files[] = {r.output, r.lp, r.plan, r.pipeline};

    if (rc)
        return rc;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        rc = overwrite_check(files[k], r.force);
        if (rc)
            return rc;
    }
    if (read_input(&r, &r.in, &e))
        return complain(&e);
    set_devices(&r, r.in.graph);
    rc = set_pins(&r, r.in.graph, &e) ? complain(&e) : answer_request(&r);
    place_input_release(&r.in);
    return rc;
}

const struct command command_place = {
    .name = "place",
    .usage = "INPUT [CLUSTER]",
    .summary = "assign every operator of a graph to a device, with a proof or a gap",
    .about =
        "Puts every operator of a graph on a device, and proves the plan optimal or states its "
        "gap. INPUT is a model, or an operator graph as JSON (maxFPGAs, nodes, edges), plain or "
        "gzipped; - is a graph on standard input. Cores work where the cluster has a host entry.",
    .options = options,
    .notes = "Exit code 4: nothing fits, or the plan shown does not; the message says what would.",
    .run = run_place,
};
