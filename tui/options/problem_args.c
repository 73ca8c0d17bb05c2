#include "tui/options/problem_args.h"

#include "engine/cost/measured.h"
#include "engine/plan/plan_json.h"
#include "engine/text/quantity.h"
#include "hlo/load.h"
#include "hlo/support/text.h"
#include "tui/options/args.h"
#include "tui/options/exit_code.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static int take_choice(const char *option, const char *value, const char *no, const char *yes,
                       bool *out)
{
    char expected[64];

    *out = !strcmp(value, yes);
    if (*out || !strcmp(value, no))
        return 1;
    snprintf(expected, sizeof expected, "%s or %s", no, yes);
    return args_wrong(option, value, expected);
}

/* Kinds of reductions by name, separated by commas. */
static int take_reductions(const char *list, bool *off)
{
    for (const char *at = list; *at;) {
        size_t size = strcspn(at, ",");
        int kind = HLO_COMBINE_NONE + 1;
        while (kind < HLO_COMBINE_COUNT && (strlen(plan_reduction_names[kind]) != size ||
                                            strncmp(plan_reduction_names[kind], at, size)))
            kind++;
        if (kind == HLO_COMBINE_COUNT)
            return args_wrong("--no-reductions", list,
                              "some of add,multiply,maximum,minimum,and,or");
        off[kind] = true;
        at += size + (at[size] == ',');
    }
    return list[0]
               ? 1
               : args_wrong("--no-reductions", list, "some of add,multiply,maximum,minimum,and,or");
}

int problem_args_take(struct problem_args *a, int argc, char **argv, int *at)
{
    const char *value;
    int64_t n;

    if (argv[*at][0] != '-' || !strcmp(argv[*at], "-")) {
        if (a->model && a->cluster) {
            return args_wrong("MODEL CLUSTER", argv[*at], "two files, and no argument behind them");
        }
        *(a->model ? &a->cluster : &a->model) = argv[*at];
        return 1;
    }
    if ((value = args_value("--devices", argc, argv, at))) {
        if (!hlo_parse_int(value, strlen(value), &n) || n < 1 || n > CLUSTER_DEVICES_MOST)
            return args_wrong("--devices", value, "a number of devices");
        a->devices = (uint32_t)n;
        return 1;
    }
    if ((value = args_value("--mesh", argc, argv, at))) {
        if (!value[0] || strlen(value) >= sizeof a->options.mesh)
            return args_wrong("--mesh", value, "sizes such as 2x8");
        snprintf(a->options.mesh, sizeof a->options.mesh, "%s", value);
        a->is_mesh_given = true;
        return 1;
    }
    if ((value = args_value("--vars", argc, argv, at))) {
        a->vars = value;
        return value[0] ? 1 : args_wrong("--vars", value, "a file");
    }
    if ((value = args_value("--loss", argc, argv, at))) {
        a->loss = value;
        return value[0] ? 1 : args_wrong("--loss", value, "an instruction, or #3");
    }
    if ((value = args_value("--profile", argc, argv, at))) {
        a->profile = value;
        return value[0] ? 1 : args_wrong("--profile", value, "a file");
    }
    if ((value = args_value("--rules", argc, argv, at)))
        return take_choice("--rules", value, "full", "paper", &a->options.classes.paper_rules);
    if ((value = args_value("--divisibility", argc, argv, at)))
        return take_choice("--divisibility", value, "pad", "exact", &a->options.exact_divisibility);
    if ((value = args_value("--micro-batches", argc, argv, at))) {
        if (!hlo_parse_int(value, strlen(value), &n) || n < 1 || n > MICRO_BATCHES_MOST)
            return args_wrong("--micro-batches", value, "a number that divides the batch");
        a->options.micro_batches = (uint32_t)n;
        return 1;
    }
    if ((value = args_value("--zero", argc, argv, at))) {
        if (!hlo_parse_int(value, strlen(value), &n) || n < 0 || n > ZERO_LEVEL_MOST)
            return args_wrong("--zero", value, "0, 1, 2 or 3");
        a->options.zero = (uint8_t)n;
        return 1;
    }
    if ((value = args_value("--overlap", argc, argv, at))) {
        return quantity_real(value, 0, 1, &a->options.overlap)
                   ? 1
                   : args_wrong("--overlap", value, "a part from 0 to 1");
    }
    if (!strcmp(argv[*at], "--reduce-at-once")) {
        a->options.reduce_at_once = true;
        return 1;
    }
    if ((value = args_value("--no-reductions", argc, argv, at)))
        return take_reductions(value, a->options.classes.reduce_off);
    return 0;
}

/* Bytes a terminal might obey, as $'...' of bash, zsh and ksh has them. */
static void add_escaped(struct str *out, const char *word)
{
    str_add(out, "$'");
    for (const unsigned char *c = (const unsigned char *)word; *c; c++) {
        if (*c == '\'' || *c == '\\')
            str_format(out, "\\%c", *c);
        else if (*c < 0x20 || *c >= 0x7f)
            str_format(out, "\\x%02x", *c);
        else
            str_add_char(out, (char)*c);
    }
    str_add_char(out, '\'');
}

/* A word as a shell takes it; quoted only where it must be. */
static void add_word(struct str *out, const char *word)
{
    static const char fine[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./,:+@%=";

    str_add_char(out, ' ');
    if (*word && strspn(word, fine) == strlen(word)) {
        str_add(out, word);
        return;
    }
    if (!text_is_clean(word, strlen(word))) {
        add_escaped(out, word);
        return;
    }
    str_add_char(out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            str_add(out, "'\\''");
        else
            str_add_char(out, *word);
    }
    str_add_char(out, '\'');
}

static void add_option(struct str *out, const char *option, const char *value)
{
    if (!value || !*value)
        return;
    str_format(out, " %s", option);
    add_word(out, value);
}

void problem_args_write(const struct problem_args *a, struct str *out)
{
    char list[64] = "";
    size_t size = 0;

    str_add(out, "automap plan");
    add_word(out, a->model);
    if (a->cluster)
        add_word(out, a->cluster);
    else if (a->devices)
        str_format(out, " --devices %u", a->devices);
    add_option(out, "--mesh", a->options.mesh);
    add_option(out, "--vars", a->vars);
    add_option(out, "--loss", a->loss);
    add_option(out, "--profile", a->profile);
    add_option(out, "--rules", a->options.classes.paper_rules ? "paper" : "");
    add_option(out, "--divisibility", a->options.exact_divisibility ? "exact" : "");
    for (int k = HLO_COMBINE_NONE + 1; k < HLO_COMBINE_COUNT; k++) {
        if (a->options.classes.reduce_off[k])
            size += (size_t)snprintf(list + size, sizeof list - size, "%s%s", size ? "," : "",
                                     plan_reduction_names[k]);
    }
    add_option(out, "--no-reductions", list);
    if (a->options.micro_batches > 1)
        str_format(out, " --micro-batches %u", a->options.micro_batches);
    if (a->options.zero)
        str_format(out, " --zero %u", a->options.zero);
    if (a->options.overlap > 0)
        str_format(out, " --overlap %g", a->options.overlap);
    if (a->options.reduce_at_once)
        str_add(out, " --reduce-at-once");
}

void words_add(struct word_list *w, const char *text)
{
    char *copy = strdup(text);

    if (!copy || !mem_grow(&w->items, &w->room, (size_t)w->count, 1)) {
        free(copy);
        w->failed = true;
        return;
    }
    w->items[w->count++] = copy;
}

void words_add_path(struct word_list *w, const char *path)
{
    char whole[PATH_MAX];

    words_add(w, realpath(path, whole) ? whole : path);
}

void words_release(struct word_list *w)
{
    for (int n = 0; n < w->count; n++)
        free(w->items[n]);
    free(w->items);
    *w = (struct word_list){0};
}

static void add_path_option(struct word_list *w, const char *option, const char *path)
{
    if (!path)
        return;
    words_add(w, option);
    words_add_path(w, path);
}

static void add_number_option(struct word_list *w, const char *option, uint32_t number)
{
    char text[16];

    if (!number)
        return;
    snprintf(text, sizeof text, "%u", number);
    words_add(w, option);
    words_add(w, text);
}

void problem_args_words(const struct problem_args *a, struct word_list *out)
{
    struct str list = {0};

    words_add_path(out, a->model);
    if (a->cluster)
        words_add_path(out, a->cluster);
    add_number_option(out, "--devices", a->devices);
    add_number_option(out, "--micro-batches", a->options.micro_batches);
    add_number_option(out, "--zero", a->options.zero);
    if (a->options.overlap > 0) {
        char text[48];
        snprintf(text, sizeof text, "--overlap=%.17g", a->options.overlap);
        words_add(out, text);
    }
    if (a->options.reduce_at_once)
        words_add(out, "--reduce-at-once");
    if (a->options.mesh[0]) {
        words_add(out, "--mesh");
        words_add(out, a->options.mesh);
    }
    add_path_option(out, "--vars", a->vars);
    if (a->loss) {
        words_add(out, "--loss");
        words_add(out, a->loss);
    }
    add_path_option(out, "--profile", a->profile);
    for (uint32_t n = 0; n < a->figure_count; n++) {
        words_add(out, "--set");
        words_add(out, a->figures[n]);
    }
    if (a->options.classes.paper_rules)
        words_add(out, "--rules=paper");
    if (a->options.exact_divisibility)
        words_add(out, "--divisibility=exact");
    for (int kind = HLO_COMBINE_NONE + 1; kind < HLO_COMBINE_COUNT; kind++) {
        if (a->options.classes.reduce_off[kind])
            str_format(&list, "%s%s", list.size ? "," : "", plan_reduction_names[kind]);
    }
    if (list.size) {
        words_add(out, "--no-reductions");
        words_add(out, list.text);
    }
    out->failed |= list.failed;
    str_release(&list);
}

int exit_code_of(const struct err *e)
{
    return e->code == ERR_INFEASIBLE ? EXIT_INFEASIBLE
           : e->code == ERR_USAGE    ? EXIT_USAGE
                                     : EXIT_INPUT;
}

static int read_cluster(const struct problem_args *a, struct cluster *out, struct err *e)
{
    if (a->cluster)
        return cluster_load(out, a->cluster, e);
    if (a->devices)
        return cluster_of_devices(out, a->devices, e);
    cluster_default(out);
    return 0;
}

static int load_cluster(const struct problem_args *a, struct cluster *out, struct err *e)
{
    int rc = read_cluster(a, out, e);

    for (uint32_t n = 0; n < a->figure_count && !rc; n++)
        rc = cluster_set_text(out, a->figures[n], e);
    if (!rc && a->is_mesh_given) {
        struct cluster_mesh mesh;
        rc = args_mesh(&mesh, out, a->options.mesh, e);
    }
    return rc;
}

int problem_args_read(const struct problem_args *a, struct problem *out, struct err *e)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct hlo_module *module = NULL;
    struct hlo_vars vars = {0};

    int rc = load_cluster(a, cluster, e);
    if (!rc && a->vars)
        rc = hlo_vars_load(a->vars, &vars, e);
    if (!rc)
        rc = hlo_load(a->model, NULL, &module, e);
    vars.loss = a->loss;
    if (!rc)
        rc = problem_new(module, &vars, cluster, &a->options, out, e);
    if (!rc && a->profile) {
        double *ms;
        rc = measured_load(out->m, a->profile, &ms, e);
        if (!rc)
            rc = problem_set_profile(out, ms, e);
        if (rc)
            problem_release(out);
    }
    hlo_vars_release(&vars);
    free(cluster);
    return rc;
}

int problem_args_load(const struct problem_args *a, struct problem *out)
{
    struct err e;

    if (!problem_args_read(a, out, &e))
        return EXIT_OK;
    err_print(&e, stderr);
    return exit_code_of(&e);
}
