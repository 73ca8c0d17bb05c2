#include "tui/options/problem_args.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/keep.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/calibrate.h"
#include "engine/cost/measured.h"
#include "engine/cost/training.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/place/place_file.h"
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
#include "tui/files/user_files.h"
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

static void tell_mesh(const void *args, struct str *out)
{
    str_add(out, ((const struct problem_args *)args)->options.mesh);
}

static void tell_reductions(const void *args, struct str *out)
{
    const bool *off = ((const struct problem_args *)args)->options.classes.reduce_off;
    const char *between = "";

    for (int kind = HLO_COMBINE_NONE + 1; kind < HLO_COMBINE_COUNT; kind++) {
        if (!off[kind])
            continue;
        str_format(out, "%s%s", between, plan_reduction_names[kind]);
        between = ",";
    }
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

static void tell_overlap(const void *args, struct str *out)
{
    const struct problem_options *o = &((const struct problem_args *)args)->options;

    if (!o->is_overlap_given)
        return;
    if (o->overlap < 0)
        str_add(out, "auto");
    else
        option_tell_real(o->overlap, out);
}

static const char *const attention[] = {"written", "fused"};
static const char *const rules[] = {"full", "paper"}, *const divisibility[] = {"pad", "exact"};

#define ARG(field) INTO(struct problem_args, field)
const struct option problem_options[] = {
    {"MODEL", .sort = SORT_PROBLEM, .values = VALUES_MODEL, ARG(model)},
    {"CLUSTER", .help = "a cluster file; without one 4 default devices", .sort = SORT_PROBLEM,
     .values = VALUES_CLUSTER, ARG(cluster)},
    {"devices", "N", "N default devices on one link, instead of a cluster file",
     .sort = SORT_PROBLEM, .kind = OPTION_WHOLE, ARG(devices), .least = 1,
     .most = CLUSTER_DEVICES_MOST},
    {"servers", "LIST",
     "use only these servers of the cluster, such as 0-3,8; 0:4: four devices of one",
     .sort = SORT_PROBLEM, ARG(servers)},
    {"mesh", "AxB", "mesh of the devices, such as 2x8; default one axis", .sort = SORT_SPLITS,
     .take = take_mesh, .tell = tell_mesh, .expected = "sizes such as 2x8"},
    {"vars", "FILE", "trainable variables: names or parameter numbers", .sort = SORT_PROBLEM,
     .kind = OPTION_FILE, ARG(vars)},
    {"loss", "NAME",
     "the instruction that makes the loss, or #3 for leaf 3 of the module's result; default: found",
     .sort = SORT_PROBLEM, .expected = "an instruction, or #3", ARG(loss)},
    {"profile", "FILE", "measured times: {\"instruction\": ms} or lines instruction,ms",
     .sort = SORT_PROBLEM, .kind = OPTION_FILE, ARG(profile)},
    {"profiled-on", "CLUSTER",
     "the cluster on whose devices --profile was measured, if others: times are scaled by what the "
     "model says of both",
     .sort = SORT_PROBLEM, .values = VALUES_CLUSTER, ARG(profiled_on)},
    {"kernels", "FILE",
     "rules for custom-calls, tried before the built-in ones: how they split, what they cost",
     .sort = SORT_PROBLEM, .kind = OPTION_FILE, ARG(kernels)},
    {"partitioner", "gspmd|shardy|FILE",
     "plan for this partitioner: what XLA's runs whole, as measured, or a table of your own",
     .sort = SORT_PROBLEM, .kind = OPTION_FILE, ARG(partitioner)},
    {"rules", "full|paper", "paper: never split kernels of convolutions", .sort = SORT_SPLITS,
     .kind = OPTION_CHOICE, NAMES(rules), ARG(options.classes.paper_rules)},
    {"divisibility", "pad|exact", "pad: uneven pieces are padded; exact: refused",
     .sort = SORT_SPLITS, .kind = OPTION_CHOICE, NAMES(divisibility),
     ARG(options.exact_divisibility)},
    {"no-reductions", "LIST", "kinds not to split along: add,multiply,maximum,minimum,and,or",
     .sort = SORT_PROBLEM, .take = take_reductions, .tell = tell_reductions,
     .names = plan_reduction_names + 1, .name_count = HLO_COMBINE_COUNT - 1,
     .expected = "some of add,multiply,maximum,minimum,and,or"},
    {"batch", "G",
     "price a step of G samples: every dim tied to the batch is as much larger or smaller",
     .sort = SORT_PROBLEM, .kind = OPTION_WHOLE, ARG(options.batch_size), .least = 1,
     .most = BATCH_MOST},
    {"micro-batches", "K", "run the batch in K parts, one after another, and sum their gradients",
     .sort = SORT_PROBLEM, .kind = OPTION_WHOLE, ARG(options.micro_batches), .least = 1,
     .most = MICRO_BATCHES_MOST, .expected = "a number that divides the batch"},
    {"zero", "0..3", "store in pieces: 1 optimizer state, 2 also gradients, 3 also variables",
     .sort = SORT_PROBLEM, .kind = OPTION_WHOLE, ARG(options.zero), .most = ZERO_LEVEL_MOST,
     .names = (const char *const[]){"0", "1", "2", "3"}, .name_count = 4,
     .expected = "0, 1, 2 or 3"},
    {"overlap", "0..1|auto",
     "share of the gradients' all-reduces hidden behind computation; auto: as much of them, and of "
     "gathered parameters, as computation can hide; default: auto on clusters with matmul, else 0",
     .sort = SORT_PROBLEM, .take = take_overlap, .tell = tell_overlap,
     .expected = "a part from 0 to 1, or auto"},
    {"attention", "written|fused",
     "fused: price attention that the module writes out as one kernel", .sort = SORT_PROBLEM,
     .kind = OPTION_CHOICE, NAMES(attention), ARG(options.fused_attention)},
    {"reduce-at-once", NULL,
     "combine partial results where they arise, as XLA's partitioner does; otherwise sums of them "
     "share one all-reduce",
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

const char *problem_args_model_path(const char *name, char out[static PATH_MAX])
{
    return path_of(examples_model_path, out, name);
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

/* Every option of `a` that says more than its default, in the order of the table. False: no memory
 * for one of them. */
static bool tell_options(const struct problem_args *a,
                         void (*tell)(void *context, const struct option *o, const char *value),
                         void *context)
{
    struct str value = {0};
    bool whole = true;

    for (const struct option *o = problem_options; o->name; o++) {
        str_clear(&value);
        if (option_told(o, a, &value))
            tell(context, o, value.text ? value.text : "");
        whole &= !value.failed;
    }
    str_release(&value);
    return whole;
}

static void tell_shell(void *context, const struct option *o, const char *value)
{
    char name[48];

    if (option_spelling(o, name)[0] == '-')
        str_format(context, " %s", name);
    if (o->value || name[0] != '-')
        add_word(context, value);
}

void problem_args_write(const struct problem_args *a, struct str *out)
{
    struct problem_args shown = *a;

    if (a->cluster) /* its file says how many */
        shown.devices = 0;
    str_add(out, "automap plan");
    out->failed |= !tell_options(&shown, tell_shell, out);
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

/* Files are told by paths that hold from everywhere. */
static void tell_words(void *context, const struct option *o, const char *value)
{
    struct word_list *out = context;
    char name[48], path[PATH_MAX];

    if (option_spelling(o, name)[0] == '-')
        words_add(out, name);
    if (o->values == VALUES_MODEL)
        words_add_path(out, path_of(examples_model_path, path, value));
    else if (o->values == VALUES_CLUSTER)
        words_add_path(out, path_of(examples_cluster_path, path, value));
    else if (o->kind == OPTION_FILE)
        words_add_path(out, value);
    else if (o->value)
        words_add(out, value);
}

void problem_args_words(const struct problem_args *a, struct word_list *out)
{
    out->failed |= !tell_options(a, tell_words, out);
    for (uint32_t n = 0; n < a->figure_count; n++) {
        words_add(out, "--set");
        words_add(out, a->figures[n]);
    }
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

/* The devices and the batch a placement was made for, where neither was given. */
static int follow_place(struct problem_args *a, const char *plan, struct err *e)
{
    uint32_t devices;
    int64_t batch;

    if (place_file_setup(plan, &devices, &batch, e))
        return e->code;
    if (!a->cluster && !a->devices)
        a->devices = devices;
    if (!a->options.batch_size)
        a->options.batch_size = batch;
    return 0;
}

int problem_args_follow_plan(struct problem_args *a, const char *plan, struct err *e)
{
    struct plan_setup setup;
    struct problem_options *o = &a->options;

    if (pipeline_file_is(plan))
        return a->cluster || a->devices ? 0 : pipeline_file_devices(plan, &a->devices, e);
    if (place_file_is(plan))
        return follow_place(a, plan, e);
    if (plan_file_setup(plan, &setup, e))
        return e->code;
    if (!o->mesh[0])
        snprintf(o->mesh, sizeof o->mesh, "%s", setup.options.mesh);
    o->classes.paper_rules |= setup.options.classes.paper_rules;
    for (int k = 0; k < HLO_COMBINE_COUNT; k++)
        o->classes.reduce_off[k] |= setup.options.classes.reduce_off[k];
    o->exact_divisibility |= setup.options.exact_divisibility;
    o->reduce_at_once |= setup.options.reduce_at_once;
    if (!o->batch_size)
        o->batch_size = setup.options.batch_size;
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

static int load_profile(const struct problem_args *a, struct problem *p, struct err *e)
{
    struct cluster *on = mem_alloc(sizeof *on);
    char path[PATH_MAX];
    double *ms = NULL;
    int rc = measured_load(p->m, a->profile, &ms, e);

    if (rc || !a->profiled_on)
        goto out;
    rc = cluster_load(on, path_of(examples_cluster_path, path, a->profiled_on), e);
    if (rc)
        goto out;
    struct cluster_device of = cluster_weakest(on);
    calibration_scale(&p->step_tables, &of, ms);
out:
    free(on);
    if (!rc)
        return problem_set_profile(p, ms, e);
    free(ms);
    return rc;
}

int problem_args_read(const struct problem_args *a, struct problem *out, struct err *e)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct hlo_module *module = NULL;
    struct hlo_vars vars = {0};
    struct problem_options o = a->options;
    char path[PATH_MAX];

    if (a->profiled_on && !a->profile) {
        free(cluster);
        return err_set(e, ERR_USAGE,
                       "--profiled-on says where --profile was measured, and none is given");
    }
    o.kernels = a->kernels;
    o.partitioner = a->partitioner;
    int rc = load_cluster(a, cluster, e);
    if (!rc && a->vars)
        rc = hlo_vars_load(a->vars, &vars, e);
    rc = rc ? rc : hlo_load(path_of(examples_model_path, path, a->model), NULL, &module, e);
    vars.loss = a->loss;
    if (!rc && a->module_read && !a->module_read(a->read_context, module->count)) {
        rc = err_set(e, ERR_INPUT, "reading was stopped");
        hlo_free(module);
    }
    rc = rc ? rc : problem_new(module, &vars, cluster, &o, out, e);
    if (!rc && a->profile) {
        rc = load_profile(a, out, e);
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
