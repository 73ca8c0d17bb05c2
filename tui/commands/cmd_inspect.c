/* automap inspect: what a model file holds. */
#include "hlo/load.h"
#include "tui/commands/commands.h"

#include "tui/commands/inspect.h"
#include "tui/options/args.h"
#include "tui/options/exit_code.h"

#include <stdio.h>
#include <string.h>

struct request {
    const char *file, *vars, *loss;
    bool is_json, show_all, show_groups;
};

static const char help[] =
    "usage: automap inspect FILE [--vars FILE] [--loss NAME] [--groups] [--all] [--json]\n"
    "\n"
    "Shows what an HLO file holds: sizes, opcodes, cost of one step, phases, layers, and what\n"
    "each parameter is for. FILE may be text, JSON or proto, gzipped or not; - reads standard\n"
    "input.\n"
    "\n"
    "  --vars FILE  names or numbers of the trainable variables: plain lines, a JSON array\n"
    "               or a YAML list\n"
    "  --loss NAME  the instruction that makes the loss, or #3 for leaf 3 of the result\n"
    "  --groups     names of the groups of dims that can only be split together\n"
    "  --all        every parameter and opcode, not only groups and the most frequent\n"
    "  --json       one object for programs\n";

static int usage_error(const char *what, const char *word)
{
    args_complain("inspect", "%s%s", what, word);
    return EXIT_USAGE;
}

static int parse_arguments(int argc, char **argv, struct request *r)
{
    for (int n = 1; n < argc; n++) {
        if (!strcmp(argv[n], "--json"))
            r->is_json = true;
        else if (!strcmp(argv[n], "--all"))
            r->show_all = true;
        else if (!strcmp(argv[n], "--groups"))
            r->show_groups = true;
        else if (!strcmp(argv[n], "--vars") && n + 1 < argc)
            r->vars = argv[++n];
        else if (!strcmp(argv[n], "--vars"))
            return usage_error("--vars needs a file", "");
        else if (!strcmp(argv[n], "--loss") && n + 1 < argc)
            r->loss = argv[++n];
        else if (!strcmp(argv[n], "--loss"))
            return usage_error("--loss needs the name of an instruction", "");
        else if (argv[n][0] == '-' && argv[n][1])
            return usage_error("no option ", argv[n]);
        else if (r->file)
            return usage_error("one name too many: ", argv[n]);
        else
            r->file = argv[n];
    }
    return r->file ? 0 : usage_error("a file is needed", "");
}

/* What each layer holds: instructions, FLOP of a step. */
static void sum_layers(struct inspection *in)
{
    double inside = 0, all = 0;

    for (hlo_id id = 0; id < in->m->count; id++) {
        double flops = in->costs.instruction[id].flops * in->costs.times[id];
        in->opcodes[hlo_at(in->m, id)->opcode]++;
        in->phases[in->roles.phase[id]]++;
        in->layers[in->roles.layer[id]]++;
        if (flops <= 0 || hlo_cost_is_of_callees(hlo_at(in->m, id)->opcode))
            continue;
        in->layer_flops[in->roles.layer[id]] += flops;
        if (in->roles.phase[id] == HLO_PHASE_UPDATE)
            continue;
        all += flops;
        inside += in->roles.layer[id] ? flops : 0;
    }
    in->coverage = all > 0 ? inside / all : 0;
}

/* Groups are those of the inlined module, where every value has one meaning. */
static int find_groups(struct inspection *in, const struct hlo_vars *vars, struct err *e)
{
    const struct class_options options = {.paper_rules = false};
    struct hlo_roles roles = {0};
    int rc = hlo_inline(in->m, &in->inlined, e);

    if (!rc)
        rc = hlo_roles_new(in->inlined, vars, &roles, e);
    if (!rc)
        rc = classes_new(in->inlined, &roles, &options, &in->classes, e);
    if (!rc)
        rc = class_names_new(&in->classes, &roles, &in->names, e);
    hlo_roles_release(&roles);
    return rc;
}

static int find_all(struct inspection *in, const struct request *r, struct err *e)
{
    struct hlo_vars vars = {0};
    int rc = r->vars ? hlo_vars_load(r->vars, &vars, e) : 0;

    vars.loss = r->loss;
    if (!rc)
        rc = hlo_roles_new(in->m, &vars, &in->roles, e);
    if (!rc)
        rc = hlo_costs_new(in->m, &in->costs, e);
    if (!rc) {
        in->layers = mem_try(in->roles.layer_count, sizeof *in->layers);
        in->layer_flops = mem_try(in->roles.layer_count, sizeof *in->layer_flops);
        rc = in->layers && in->layer_flops
                 ? 0
                 : err_set(e, ERR_MEMORY, "out of memory for the layers of the module");
    }
    if (!rc)
        sum_layers(in);
    if (!rc && in->show_groups)
        rc = find_groups(in, &vars, e);
    hlo_vars_release(&vars);
    return rc;
}

static int show(const struct inspection *in, bool is_json, struct err *e)
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

int cmd_inspect(int argc, char **argv)
{
    struct hlo_load_options options = {0, -1};
    struct inspection in = {0};
    struct request r = {0};
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(help, stdout);
        return EXIT_OK;
    }
    int rc = parse_arguments(argc, argv, &r);
    if (rc)
        return rc;
    rc = hlo_load(r.file, &options, &m, &e);
    if (!rc) {
        in.m = m;
        in.show_all = r.show_all;
        in.show_groups = r.show_groups;
        rc = find_all(&in, &r, &e);
    }
    if (!rc)
        rc = show(&in, r.is_json, &e);
    hlo_roles_release(&in.roles);
    hlo_costs_release(&in.costs);
    classes_release(&in.classes);
    class_names_release(&in.names);
    hlo_free(in.inlined);
    free(in.layers);
    free(in.layer_flops);
    hlo_free(m);
    if (rc)
        err_print(&e, stderr);
    return rc ? EXIT_INPUT : EXIT_OK;
}
