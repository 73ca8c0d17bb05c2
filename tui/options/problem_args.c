#include "tui/options/problem_args.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/keep.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/measured.h"
#include "engine/cost/training.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/plan/plan_file.h"
#include "engine/plan/plan_json.h"
#include "engine/text/quantity.h"
#include "hlo/load.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"
#include "tui/files/examples.h"
#include "tui/files/file.h"
#include "tui/options/exit_code.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Kinds of reductions by name, separated by commas. */
static int take_reductions(void *args, const struct option *o, const char *list, struct err *e)
{
    bool *off = ((struct problem_args *)args)->options.classes.reduce_off;

    for (const char *at = list; *at;) {
        size_t size = strcspn(at, ",");
        int kind = HLO_COMBINE_NONE + 1;
        while (kind < HLO_COMBINE_COUNT && (strlen(plan_reduction_names[kind]) != size ||
                                            strncmp(plan_reduction_names[kind], at, size)))
            kind++;
        if (kind == HLO_COMBINE_COUNT)
            return option_expected(o, list, e);
        off[kind] = true;
        at += size + (at[size] == ',');
    }
    return list[0] ? 0 : option_expected(o, list, e);
}

static int take_mesh(void *args, const struct option *o, const char *value, struct err *e)
{
    struct problem_args *a = args;

    if (!value[0] || strlen(value) >= sizeof a->options.mesh)
        return option_expected(o, value, e);
    snprintf(a->options.mesh, sizeof a->options.mesh, "%s", value);
    a->is_mesh_given = true;
    return 0;
}

static int take_overlap(void *args, const struct option *o, const char *value, struct err *e)
{
    struct problem_args *a = args;

    a->options.is_overlap_given = true;
    a->options.overlap = OVERLAP_AUTO;
    return !strcmp(value, "auto") || quantity_real(value, 0, 1, &a->options.overlap)
               ? 0
               : option_expected(o, value, e);
}

static const char *const attention[] = {"written", "fused"};
static const char *const rules[] = {"full", "paper"}, *const divisibility[] = {"pad", "exact"};

#define ARG(field) INTO(struct problem_args, field)
const struct option problem_options[] = {
    {"MODEL", .sort = SORT_PROBLEM, .values = VALUES_MODEL, ARG(model)},
    {"CLUSTER", .help = "a cluster file; without one 4 default devices", .sort = SORT_PROBLEM,
     .values = VALUES_CLUSTER, ARG(cluster)},
    {"devices", "N", "N default devices on one link, in place of a cluster file",
     .sort = SORT_PROBLEM, .kind = OPTION_WHOLE, ARG(devices), .least = 1,
     .most = CLUSTER_DEVICES_MOST},
    {"servers", "LIST", "use these servers of the cluster alone, such as 0-3,8",
     .sort = SORT_PROBLEM, ARG(servers)},
    {"mesh", "AxB", "mesh of the devices, such as 2x8; default one axis", .sort = SORT_SPLITS,
     .take = take_mesh, .expected = "sizes such as 2x8"},
    {"vars", "FILE", "trainable variables: names or parameter numbers", .sort = SORT_PROBLEM,
     .kind = OPTION_FILE, ARG(vars)},
    {"loss", "NAME",
     "the instruction that makes the loss, or #3 for leaf 3 of the module's result; default: found",
     .sort = SORT_PROBLEM, .expected = "an instruction, or #3", ARG(loss)},
    {"profile", "FILE", "measured times: {\"instruction\": ms} or lines instruction,ms",
     .sort = SORT_PROBLEM, .kind = OPTION_FILE, ARG(profile)},
    {"kernels", "FILE",
     "rules for custom-calls in front of the built-in ones: what they split along, what they cost",
     .sort = SORT_PROBLEM, .kind = OPTION_FILE, ARG(kernels)},
    {"rules", "full|paper", "paper: kernels of convolutions are not split", .sort = SORT_SPLITS,
     .kind = OPTION_CHOICE, NAMES(rules), ARG(options.classes.paper_rules)},
    {"divisibility", "pad|exact", "pad: uneven pieces are padded; exact: refused",
     .sort = SORT_SPLITS, .kind = OPTION_CHOICE, NAMES(divisibility),
     ARG(options.exact_divisibility)},
    {"no-reductions", "LIST", "kinds not to split along: add,multiply,maximum,minimum,and,or",
     .sort = SORT_PROBLEM, .take = take_reductions, .names = plan_reduction_names + 1,
     .name_count = HLO_COMBINE_COUNT - 1,
     .expected = "some of add,multiply,maximum,minimum,and,or"},
    {"micro-batches", "K", "the batch in K parts, one after the other; gradients are summed",
     .sort = SORT_PROBLEM, .kind = OPTION_WHOLE, ARG(options.micro_batches), .least = 1,
     .most = MICRO_BATCHES_MOST, .expected = "a number that divides the batch"},
    {"zero", "0..3", "store in pieces: 1 optimizer state, 2 gradients too, 3 variables too",
     .sort = SORT_PROBLEM, .kind = OPTION_WHOLE, ARG(options.zero), .most = ZERO_LEVEL_MOST,
     .names = (const char *const[]){"0", "1", "2", "3"}, .name_count = 4,
     .expected = "0, 1, 2 or 3"},
    {"overlap", "0..1|auto",
     "part of the gradient all-reduces hidden behind computation; auto: of them and of gathered "
     "parameters as much as computation hides; default auto on clusters with matmul, else 0",
     .sort = SORT_PROBLEM, .take = take_overlap, .expected = "a part from 0 to 1, or auto"},
    {"attention", "written|fused", "fused: attention that the module writes out runs as one kernel",
     .sort = SORT_PROBLEM, .kind = OPTION_CHOICE, NAMES(attention), ARG(options.fused_attention)},
    {"reduce-at-once", NULL,
     "partial results are combined where they arise, as XLA's partitioner does; else sums of them "
     "take one all-reduce",
     .sort = SORT_PROBLEM, ARG(options.reduce_at_once)},
    {0},
};
#undef ARG

typedef bool find_example(char *out, size_t room, const char *data_dir, const char *name);

/* The path of a file or of a shipped one; else the name, for whoever opens it to complain of. */
static const char *path_of(find_example *find, char out[static PATH_MAX], const char *name)
{
    char data[PATH_MAX - 512];
    bool there = file_data_dir(data, sizeof data);

    return find(out, PATH_MAX, there ? data : NULL, name) ? out : name;
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
    add_option(out, "--servers", a->servers);
    add_option(out, "--mesh", a->options.mesh);
    add_option(out, "--vars", a->vars);
    add_option(out, "--loss", a->loss);
    add_option(out, "--profile", a->profile);
    add_option(out, "--kernels", a->kernels);
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
    if (a->options.is_overlap_given && a->options.overlap < 0)
        str_add(out, " --overlap auto");
    else if (a->options.is_overlap_given)
        str_format(out, " --overlap %g", a->options.overlap);
    add_option(out, "--attention", a->options.fused_attention ? "fused" : "");
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
    char path[PATH_MAX];
    struct str list = {0};

    words_add_path(out, path_of(examples_model_path, path, a->model));
    if (a->cluster)
        words_add_path(out, path_of(examples_cluster_path, path, a->cluster));
    add_number_option(out, "--devices", a->devices);
    add_number_option(out, "--micro-batches", a->options.micro_batches);
    add_number_option(out, "--zero", a->options.zero);
    if (a->options.is_overlap_given) {
        char text[48] = "--overlap=auto";
        if (a->options.overlap >= 0)
            snprintf(text, sizeof text, "--overlap=%.17g", a->options.overlap);
        words_add(out, text);
    }
    if (a->options.fused_attention)
        words_add(out, "--attention=fused");
    if (a->options.reduce_at_once)
        words_add(out, "--reduce-at-once");
    if (a->servers) {
        words_add(out, "--servers");
        words_add(out, a->servers);
    }
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
    add_path_option(out, "--kernels", a->kernels);
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

static int read_cluster(const struct problem_args *a, struct cluster *out, struct err *e)
{
    char path[PATH_MAX];

    if (a->cluster)
        return cluster_load(out, path_of(examples_cluster_path, path, a->cluster), e);
    if (a->devices)
        return cluster_of_devices(out, a->devices, e);
    cluster_default(out);
    return 0;
}

int problem_args_mesh(struct cluster_mesh *m, const struct cluster *c, const char *text,
                      struct err *e)
{
    if (!mesh_parse(m, c, text, e))
        return 0;
    err_in_file(e, "--mesh");
    return e->code = ERR_USAGE;
}

static int load_cluster(const struct problem_args *a, struct cluster *out, struct err *e)
{
    int rc = read_cluster(a, out, e);

    if (rc)
        return rc;
    for (uint32_t n = 0; n < a->figure_count; n++) {
        rc = cluster_set_text(out, a->figures[n], e);
        if (rc)
            return rc;
    }
    if (a->servers)
        rc = cluster_keep(out, a->servers, e);
    if (rc)
        return rc;
    if (a->is_mesh_given) {
        struct cluster_mesh mesh;
        rc = problem_args_mesh(&mesh, out, a->options.mesh, e);
    }
    return rc;
}

int problem_args_follow_plan(struct problem_args *a, const char *plan, struct err *e)
{
    struct plan_setup setup;
    struct problem_options *o = &a->options;

    if (pipeline_file_is(plan))
        return a->cluster || a->devices ? 0 : pipeline_file_devices(plan, &a->devices, e);
    if (plan_file_setup(plan, &setup, e))
        return e->code;
    if (!o->mesh[0])
        snprintf(o->mesh, sizeof o->mesh, "%s", setup.options.mesh);
    o->classes.paper_rules |= setup.options.classes.paper_rules;
    for (int k = 0; k < HLO_COMBINE_COUNT; k++)
        o->classes.reduce_off[k] |= setup.options.classes.reduce_off[k];
    o->exact_divisibility |= setup.options.exact_divisibility;
    if (!o->micro_batches)
        o->micro_batches = setup.options.micro_batches;
    if (!o->zero)
        o->zero = setup.options.zero;
    if (o->overlap <= 0)
        o->overlap = setup.options.overlap;
    if (!a->cluster && !a->devices)
        a->devices = setup.devices;
    return 0;
}

int problem_args_read(const struct problem_args *a, struct problem *out, struct err *e)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct hlo_module *module = NULL;
    struct hlo_vars vars = {0};
    struct problem_options o = a->options;
    char path[PATH_MAX];

    o.kernels = a->kernels;
    int rc = load_cluster(a, cluster, e);
    if (!rc && a->vars)
        rc = hlo_vars_load(a->vars, &vars, e);
    if (!rc)
        rc = hlo_load(path_of(examples_model_path, path, a->model), NULL, &module, e);
    vars.loss = a->loss;
    if (!rc)
        rc = problem_new(module, &vars, cluster, &o, out, e);
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
