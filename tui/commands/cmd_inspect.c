/* automap inspect: what a model file holds. */
#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/doctor/doctor.h"
#include "engine/kernels/kernel_rules.h"
#include "engine/kernels/kernel_targets.h"
#include "hlo/load.h"
#include "hlo/meaning/cost.h"
#include "hlo/meaning/program.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/read.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"
#include "tui/commands/commands.h"

#include "tui/commands/inspect.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/problem_args.h"

#include <stdio.h>
#include <string.h>

struct request {
    const char *file, *vars, *loss, *kernels;
    struct hlo_load_options load;
    bool is_json, show_all, show_groups;
};

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"FILE", .values = VALUES_FILE, ARG(file)},
    {"vars", "FILE",
     "names or numbers of the trainable variables, as plain lines, a JSON array or a YAML list",
     .kind = OPTION_FILE, ARG(vars)},
    {"loss", "NAME", "the instruction that makes the loss, or #3 for leaf 3 of the result",
     .expected = "the name of an instruction", ARG(loss)},
    {"kernels", "FILE", "rules for custom-calls in front of the built-in ones", .kind = OPTION_FILE,
     ARG(kernels)},
    {"module", "N", "of a file with several modules, counted from 0 (default: the largest)",
     .kind = OPTION_WHOLE, ARG(load.module), .most = INT32_MAX},
    {"groups", NULL, "list the groups of dims that can only be split together", ARG(show_groups)},
    {"all", NULL, "list every parameter and opcode, not only groups and the most frequent",
     ARG(show_all)},
    {"json", NULL, "one object for programs", ARG(is_json)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

/* What each layer holds: instructions, FLOP of a step. `flops`: of each instruction, 0 or less
 * where they are those of others. */
static void sum_layers(struct inspection *in, const double *flops)
{
    for (hlo_id id = 0; id < in->m->count; id++) {
        in->phases[in->roles.phase[id]]++;
        in->layers[in->roles.layer[id]]++;
        if (flops[id] > 0)
            in->layer_flops[in->roles.layer[id]] += flops[id];
    }
}

/* Groups are those of the inlined module, where every value has one meaning. */
static int find_groups(struct inspection *in, const struct hlo_vars *vars, struct err *e)
{
    const struct class_options plain = {.paper_rules = false};
    struct hlo_roles roles = {0};
    int rc = hlo_inline(in->m, &in->inlined, e);

    rc = rc ? rc : hlo_roles_new(in->inlined, vars, &roles, e);
    rc = rc ? rc : classes_new(in->inlined, &roles, &plain, &in->classes, e);
    rc = rc ? rc : class_names_new(&in->classes, &roles, &in->names, e);
    hlo_roles_release(&roles);
    return rc;
}

/* What its collectives take on default devices, where it is a piece of a partitioned program. */
static void find_sent(struct inspection *in)
{
    struct doctor_total changed;
    struct doctor d;
    struct err e;

    if (in->program.kind == HLO_PROGRAM_WHOLE || doctor_new(in->m, NULL, NULL, &d, &e))
        return;
    doctor_sum(&d, &(struct doctor_row){0, d.count}, &in->sent, &changed);
    snprintf(in->sent_on, sizeof in->sent_on, "%s", d.cluster.name);
    doctor_release(&d);
}

/* Costs and what follows from them need nothing but the module: found beside its roles. */
struct costing {
    struct beside beside;
    struct inspection *in;
    double *flops; /* [in->m->count] of a step; 0 where they are those of what is called */
    int code;
    struct err e;
};

enum { BESIDE_LEAST = 10000 }; /* instructions; below, a thread costs more than it saves */

static void *find_costs(void *context)
{
    struct costing *c = context;
    struct inspection *in = c->in;

    in->program = hlo_program_of(in->m);
    c->flops = mem_try(in->m->count, sizeof *c->flops);
    c->code = c->flops ? hlo_costs_new(in->m, &in->costs, &c->e)
                       : err_no_memory(&c->e, "for the costs of the module");
    if (c->code)
        return NULL;
    kernel_targets(in->m, &in->costs, &in->kernels);
    for (hlo_id id = 0; id < in->m->count; id++) {
        if (!hlo_cost_is_of_callees(hlo_at(in->m, id)->opcode))
            c->flops[id] = in->costs.instruction[id].flops * in->costs.times[id];
    }
    return NULL;
}

static int find_all(struct inspection *in, const struct request *r, struct err *e)
{
    struct costing costing = {.in = in};
    struct hlo_vars vars = {0};
    int rc = r->vars ? hlo_vars_load(r->vars, &vars, e) : 0;

    vars.loss = r->loss;
    beside_begin(&costing.beside, in->m->count >= BESIDE_LEAST, find_costs, &costing);
    rc = rc ? rc : hlo_roles_new(in->m, &vars, &in->roles, e);
    beside_end(&costing.beside);
    if (!rc && costing.code) {
        *e = costing.e;
        rc = costing.code;
    }
    if (!rc) {
        in->layers = mem_try(in->roles.layer_count, sizeof *in->layers);
        in->layer_flops = mem_try(in->roles.layer_count, sizeof *in->layer_flops);
        rc = in->layers && in->layer_flops
                 ? 0
                 : err_set(e, ERR_MEMORY, "out of memory for the layers of the module");
    }
    if (!rc) {
        find_sent(in);
        sum_layers(in, costing.flops);
    }
    free(costing.flops);
    if (!rc && in->show_groups)
        rc = find_groups(in, &vars, e);
    hlo_vars_release(&vars);
    return rc;
}

static int show_inspection(const struct inspection *in, bool is_json, struct err *e)
{
    struct str out = {0};
    int rc = 0;

    if (is_json)
        inspect_json(in, &out);
    else
        inspect_page(in, &out);
    if (out.failed)
        rc = err_set(e, ERR_MEMORY, "out of memory for the page");
    else if (fwrite(out.text, 1, out.size, stdout) != out.size)
        rc = err_set(e, ERR_IO, "cannot write to standard output");
    str_release(&out);
    return rc;
}

static int run_inspect(int argc, char **argv)
{
    const struct option_parser parser = {"inspect", options, NULL};
    struct inspection in = {0};
    struct request r = {.load = {.module = -1}};
    struct kernel_rules *rules = NULL;
    char path[PATH_MAX];
    struct hlo_module *m = NULL;
    struct err e = {0};

    int rc = options_parse(&parser, &r, argc, argv);
    if (rc)
        return rc;
    if (!r.file)
        return options_complain("inspect", "a file is needed");
    rc = hlo_load(problem_args_model_path(r.file, path), &r.load, &m, &e);
    if (rc)
        goto out;
    rc = kernel_rules_read(r.kernels, &rules, &e);
    if (rc)
        goto out;
    rc = kernel_rules_apply(rules, m, &e);
    if (rc)
        goto out;
    in.m = m;
    in.show_all = r.show_all;
    in.show_groups = r.show_groups;
    rc = find_all(&in, &r, &e);
    if (rc)
        goto out;
    rc = show_inspection(&in, r.is_json, &e);
out:
    hlo_roles_release(&in.roles);
    hlo_costs_release(&in.costs);
    classes_release(&in.classes);
    class_names_release(&in.names);
    hlo_free(in.inlined);
    free(in.layers);
    free(in.layer_flops);
    hlo_free(m);
    kernel_rules_free(rules);
    if (rc)
        err_print(&e, stderr);
    return rc ? EXIT_INPUT : EXIT_OK;
}

const struct command command_inspect = {
    .name = "inspect",
    .usage = "FILE",
    .summary = "show what a model file holds: parameters, phases, layers, cost",
    .about = "Shows what an HLO file holds: sizes, opcodes, cost of one step, phases, layers, and "
             "what each parameter is for. FILE may be text, JSON or proto, gzipped or not; - is "
             "standard input.",
    .options = options,
    .run = run_inspect,
};
