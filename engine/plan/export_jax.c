#include "engine/plan/export_jax.h"

#include "engine/cluster/mesh.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static const char code[] =
    "\n"
    "\n"
    "def shardings(rows, tree):\n"
    "    \"\"\"The shardings of `rows` as a tree like `tree`, whose arrays must be those of the "
    "plan.\"\"\"\n"
    "    leaves, treedef = jax.tree_util.tree_flatten_with_path(tree)\n"
    "    if len(leaves) != len(rows):\n"
    "        raise ValueError(f\"the plan is for {len(rows)} arrays, here are {len(leaves)}\")\n"
    "    for (path, leaf), (name, shape, _) in zip(leaves, rows):\n"
    "        if tuple(jax.numpy.shape(leaf)) != shape:\n"
    "            where = jax.tree_util.keystr(path)\n"
    "            raise ValueError(f\"{where} has shape {jax.numpy.shape(leaf)}, in the plan {name} "
    "has {shape}\")\n"
    "    mesh = _mesh()\n"
    "    return treedef.unflatten([NamedSharding(mesh, spec) for _, _, spec in rows])\n"
    "\n"
    "\n"
    "def place(*arguments):\n"
    "    \"\"\"The arguments of the step, put where the plan wants them.\"\"\"\n"
    "    return jax.device_put(arguments, shardings(ARGUMENTS, arguments))\n"
    "\n"
    "\n"
    "def distribute(step, *arguments, donate_argnums=()):\n"
    "    \"\"\"The step, jitted under the plan. `step` is not jitted yet; `arguments` are arrays "
    "or shapes.\"\"\"\n"
    "    results = jax.eval_shape(step, *arguments)\n"
    "    return jax.jit(step, donate_argnums=donate_argnums, in_shardings=shardings(ARGUMENTS, "
    "arguments),\n"
    "                   out_shardings=shardings(RESULTS, results))\n";

/* ---- writing ---- */

static void add_axes(const struct cluster_mesh *mesh, label over, struct str *out)
{
    bool several = over & (over - 1);
    const char *between = several ? "(" : "";

    for (uint32_t x = 0; x < mesh->axes; x++) {
        if (!(over >> x & 1))
            continue;
        str_add(out, between);
        str_add_quoted(out, mesh->axis[x].name);
        between = ", ";
    }
    str_add(out, several ? ")" : over ? "" : "None");
}

/* JAX takes no uneven pieces at the edge of a program. */
static label even_label(const struct plan *p, hlo_value v, uint32_t d)
{
    label over = plan_dim_label(p, v, d);

    return hlo_value_shape(p->problem->m, v)->dims[d] % p->problem->labels.parts[over] ? 0 : over;
}

static void add_spec(const struct plan *p, hlo_value v, struct str *out)
{
    uint32_t rank = hlo_value_shape(p->problem->m, v)->rank, last = 0;

    for (uint32_t d = 0; d < rank; d++)
        last = even_label(p, v, d) ? d + 1 : last;
    str_add(out, "P(");
    for (uint32_t d = 0; d < last; d++) {
        str_add(out, d ? ", " : "");
        add_axes(&p->problem->mesh, even_label(p, v, d), out);
    }
    str_add_char(out, ')');
}

/* One row; returns how many dims were left whole because they do not fit. */
static uint32_t add_row(const struct plan *p, const char *name, hlo_value v, struct str *out)
{
    const struct hlo_shape *s = hlo_value_shape(p->problem->m, v);
    uint32_t uneven = 0;

    str_add(out, "    (");
    str_add_quoted(out, name);
    str_add(out, ", (");
    for (uint32_t d = 0; d < s->rank; d++) {
        str_format(out, d ? ", %lld" : "%lld", (long long)s->dims[d]);
        uneven += plan_dim_label(p, v, d) != even_label(p, v, d);
    }
    str_add(out, s->rank == 1 ? ",), " : "), ");
    add_spec(p, v, out);
    str_add(out,
            uneven ? "),  # the plan splits it further, unevenly, which JAX refuses\n" : "),\n");
    return uneven;
}

/* The path in the tree of arguments as JAX writes it into metadata: params['layer_0']['bias']. */
static const char *argument_name(const struct problem *p, uint32_t k)
{
    const struct hlo_param_role *r = &p->roles.params[k];
    const char *path = hlo_meta(p->m, p->m->value_instruction[r->value])->op_name;

    return *path && !r->leaf ? path : r->name;
}

static uint32_t add_arguments(const struct plan *p, struct str *out)
{
    const struct hlo_roles *roles = &p->problem->roles;
    uint32_t uneven = 0;

    str_add(out, "\n# One row per array, in the order in which JAX flattens the arguments of the "
                 "step.\nARGUMENTS = [\n");
    for (uint32_t k = 0; k < roles->param_count; k++) {
        if (!k || roles->params[k].role != roles->params[k - 1].role)
            str_format(out, "    # %s\n", hlo_role_names[roles->params[k].role]);
        uneven += add_row(p, argument_name(p->problem, k), roles->params[k].value, out);
    }
    str_add(out, "]\n");
    return uneven;
}

/* A result is named after the argument it replaces in the next step. */
static const char *result_name(const struct problem *p, hlo_value v)
{
    hlo_id root = p->m->computations[p->m->entry].root;
    uint32_t leaf = v - p->m->leaf_base[root];
    bool is_tuple = hlo_at(p->m, root)->opcode == HLO_OP_TUPLE;
    hlo_value from = is_tuple ? hlo_factors_value(p->m, root, leaf) : v;

    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        if (p->roles.params[k].updated == v || p->roles.params[k].updated == from)
            return argument_name(p, k);
    }
    for (uint32_t k = 0; k < p->m->alias_count; k++) {
        if (p->m->aliases[k].out == leaf)
            return "state";
    }
    return "result";
}

static uint32_t add_results(const struct plan *p, struct str *out)
{
    const struct hlo_module *m = p->problem->m;
    hlo_id root = m->computations[m->entry].root;
    uint32_t uneven = 0;

    str_add(out, "\n# The same for its results.\nRESULTS = [\n");
    for (hlo_value v = m->leaf_base[root]; v < m->leaf_base[root + 1]; v++)
        uneven += add_row(p, result_name(p->problem, v), v, out);
    str_add(out, "]\n");
    return uneven;
}

static void add_mesh(const struct plan *p, struct str *out)
{
    const struct cluster_mesh *mesh = &p->problem->mesh;

    str_format(out,
               "def _mesh():\n"
               "    if len(jax.devices()) < %u:\n"
               "        raise RuntimeError(f\"the plan is for %u devices, here are "
               "{len(jax.devices())}\")\n"
               "    return jax.make_mesh((",
               mesh->devices, mesh->devices);
    for (uint32_t x = 0; x < mesh->axes; x++)
        str_format(out, "%s%u", x ? ", " : "", mesh->axis[x].size);
    str_add(out, mesh->axes == 1 ? ",), (" : "), (");
    for (uint32_t x = 0; x < mesh->axes; x++) {
        str_add(out, x ? ", " : "");
        str_add_quoted(out, mesh->axis[x].name);
    }
    str_format(out,
               mesh->axes == 1 ? ",), axis_types=(AxisType.Auto,))\n"
                               : "), axis_types=(AxisType.Auto,) * %u)\n",
               mesh->axes);
    str_add_char(out, '\n');
}

int export_jax(const struct plan *p, struct str *out, struct str *warnings, struct err *e)
{
    str_format(
        out,
        "# How %s is split over %u devices (%s), a plan by automap: %.4g ms a step, modelled.\n",
        p->problem->m->name, p->problem->mesh.devices, p->problem->cluster.name, p->cost.step_ms);
    str_add(out,
            "# In the training code, with the step as it was lowered, but not jitted yet:\n"
            "#     step = distribute(train_step, params, opt_state, batch, donate_argnums=(0, 1))\n"
            "#     params, opt_state, loss = step(*place(params, opt_state, batch))\n"
            "import jax\n"
            "from jax.sharding import AxisType, NamedSharding, PartitionSpec as P\n\n");
    if (p->batching.micro_batches > 1 || p->batching.zero)
        str_format(out,
                   "# The plan counts on micro_batches = %u and ZeRO level %u, which the training "
                   "loop has to do.\n",
                   p->batching.micro_batches, p->batching.zero);
    plan_write_batching(p, warnings);
    add_mesh(p, out);
    uint32_t uneven = add_arguments(p, out) + add_results(p, out);
    str_add(out, code);
    if (uneven)
        str_format(
            warnings,
            "%u dims of arguments and results are split unevenly, which JAX refuses: left whole; "
            "--divisibility exact makes plans without\n",
            uneven);
    return out->failed || warnings->failed ? err_no_memory(e, "to export the plan") : 0;
}

/* ---- checking ---- */

static bool take_word(const char **at, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*at, word, n))
        return false;
    *at += n;
    return true;
}

/* A quoted text; `out` may be NULL. */
static bool take_quoted(const char **at, char *out, size_t room)
{
    size_t n = 0;

    if (!take_word(at, "\""))
        return false;
    for (; **at && **at != '"' && **at != '\n'; ++*at) {
        if (**at == '\\' && (*at)[1])
            ++*at;
        if (out && n + 1 < room)
            out[n++] = **at;
    }
    if (out)
        out[n] = 0;
    return take_word(at, "\"");
}

static bool take_axis(const struct cluster_mesh *mesh, const char **at, label *over)
{
    char name[MESH_NAME_ROOM];

    if (!take_quoted(at, name, sizeof name))
        return false;
    for (uint32_t x = 0; x < mesh->axes; x++) {
        if (!strcmp(mesh->axis[x].name, name)) {
            *over |= (label)(1u << x);
            return true;
        }
    }
    return false;
}

/* None, "x" or ("x", "y"). */
static bool take_entry(const struct cluster_mesh *mesh, const char **at, label *over)
{
    *over = 0;
    if (take_word(at, "None"))
        return true;
    if (!take_word(at, "("))
        return take_axis(mesh, at, over);
    do {
        if (!take_axis(mesh, at, over))
            return false;
    } while (take_word(at, ", "));
    return take_word(at, ")");
}

static bool take_spec(const struct cluster_mesh *mesh, const char **at, label *over, uint32_t rank)
{
    memset(over, 0, rank);
    if (!take_word(at, "P("))
        return false;
    for (uint32_t d = 0; !take_word(at, ")"); d++) {
        if (d == rank || (d && !take_word(at, ", ")) || !take_entry(mesh, at, &over[d]))
            return false;
    }
    return true;
}

static bool check_row(const struct plan *p, hlo_value v, const char **at)
{
    const struct hlo_shape *s = hlo_value_shape(p->problem->m, v);
    label over[HLO_RANK_MAX];
    char number[32];

    if (!take_word(at, "    (") || !take_quoted(at, NULL, 0) || !take_word(at, ", ("))
        return false;
    for (uint32_t d = 0; d < s->rank; d++) {
        snprintf(number, sizeof number, d ? ", %lld" : "%lld", (long long)s->dims[d]);
        if (!take_word(at, number))
            return false;
    }
    if (!take_word(at, s->rank == 1 ? ",), " : "), ") ||
        !take_spec(&p->problem->mesh, at, over, s->rank))
        return false;
    for (uint32_t d = 0; d < s->rank; d++) {
        if (over[d] != even_label(p, v, d))
            return false;
    }
    *at += strcspn(*at, "\n");
    return take_word(at, "\n");
}

static void skip_comments(const char **at)
{
    while (!strncmp(*at, "    # ", 6)) {
        *at += strcspn(*at, "\n");
        *at += **at == '\n';
    }
}

static bool check_list(const struct plan *p, const char *text, bool is_results)
{
    const struct hlo_module *m = p->problem->m;
    hlo_id root = m->computations[m->entry].root;
    uint32_t count =
        is_results ? m->leaf_base[root + 1] - m->leaf_base[root] : p->problem->roles.param_count;
    const char *head = is_results ? "\nRESULTS = [\n" : "\nARGUMENTS = [\n",
               *at = strstr(text, head);

    if (!at)
        return false;
    at += strlen(head);
    for (uint32_t k = 0; k < count; k++) {
        skip_comments(&at);
        hlo_value v = is_results ? m->leaf_base[root] + k : p->problem->roles.params[k].value;
        if (!check_row(p, v, &at))
            return false;
    }
    return take_word(&at, "]\n");
}

int export_jax_check(const struct plan *p, const char *text, size_t size, struct err *e)
{
    if (size != strlen(text) || !check_list(p, text, false) || !check_list(p, text, true))
        return err_set(e, ERR_INPUT, "the export does not read back as the plan");
    return 0;
}
