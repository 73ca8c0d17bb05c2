/* The loader: the planned module in a Python file, and what puts it in the place of the step. */
#include "engine/plan/export_jax_step.h"

#include "engine/cluster/mesh.h"
#include "engine/plan/export_stablehlo.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>
#include <zlib.h>

/* Line by line: C99 promises 4095 bytes of one string. */
static const char *const code[] = {
    "\n",
    "\n",
    "# ---- the whole plan, inside the step too, applied to unchanged code ----\n",
    "# From here on needs jax 0.7 or later and numpy alone; tried on 0.7.2 and 0.10.2.\n",
    "#     import automap_plan                                   # this file\n",
    "#     step = automap_plan.apply(train_step, *example_args)  # check=True: runs it split and "
    "whole, compares\n",
    "#     state = step(*step.place(*args))\n",
    "# XLA can abort the process on a module: try it first in a process of its own, python "
    "automap_plan.py compiles it and ends.\n",
    "import base64\n",
    "import collections\n",
    "import dataclasses\n",
    "import re\n",
    "import zlib\n",
    "\n",
    "import jax\n",
    "import jax.export\n",
    "import numpy as np\n",
    "from jax._src.export import _export\n",
    "from jax._src.interpreters import mlir\n",
    "from jaxlib.mlir import ir\n",
    "from jax.sharding import AxisType, NamedSharding, PartitionSpec as P\n",
    "\n",
    "\n",
    "def _module(context):\n",
    "    return "
    "ir.Module.parse(zlib.decompress(base64.b64decode(\"\".join(PROGRAM.split()))).decode(), "
    "context)\n",
    "\n",
    "\n",
    "def _main(module):\n",
    "    return next(f for f in module.body.operations if \"sym_name\" in f.attributes and "
    "f.attributes[\"sym_name\"].value == \"main\")\n",
    "\n",
    "\n",
    "def _specs(attrs, types):\n",
    "    \"\"\"PartitionSpecs of arguments or results; a dim that its axes do not divide is left "
    "whole: jax refuses it there.\"\"\"\n",
    "    specs, sizes = [], dict(AXES)\n",
    "    for attr, type_ in zip(attrs, types):\n",
    "        dims = []\n",
    "        text = str(attr[\"sdy.sharding\"]) if \"sdy.sharding\" in attr else \"\"\n",
    "        shape = ir.RankedTensorType(type_).shape if str(type_).startswith(\"tensor<\") else "
    "[]\n",
    "        for size, dim in zip(shape, re.findall(r\"\\{([^}]*)\\}\", text)):\n",
    "            names = tuple(re.findall(r'\"([^\"]+)\"', dim))\n",
    "            dims.append(names if names and size % int(np.prod([sizes[a] for a in names])) == "
    "0 else None)\n",
    "        specs.append(P(*dims))\n",
    "    return specs\n",
    "\n",
    "\n",
    "def _layouts(main):\n"
    "    \"\"\"Those of arguments and results, taken out of the module: jit says them, and "
    "donation is its affair, too.\"\"\"\n"
    "    found = _specs(main.attributes[\"arg_attrs\"], main.type.inputs), "
    "_specs(main.attributes[\"res_attrs\"], main.type.results)\n"
    "    for attr in (\"arg_attrs\", \"res_attrs\"):\n"
    "        main.attributes[attr] = ir.ArrayAttr.get(\n"
    "            [ir.DictAttr.get({k: a[k] for k in [\"sdy.sharding\"] if k in a}) for a in "
    "main.attributes[attr]])\n"
    "    return found\n"
    "\n"
    "\n"
    "def _lines(text):\n"
    "    \"\"\"The operations of a program, as they are printed.\"\"\"\n"
    "    op = re.compile(r'(?<![#.\\w\"])(?:stablehlo|chlo)\\.[a-z_0-9]+(?=[ "
    "(])|(?<=\")(?:stablehlo|chlo)\\.[a-z_0-9]+(?=\"\\()')\n"
    "    found = ((line, op.search(line)) for line in text.split(\"\\n\"))\n"
    "    return [(m[0], re.sub(r\"[ \\t]+\", \" \", line[m.start():]).strip(\" \\r\")) for line, m "
    "in found if m]\n"
    "\n"
    "\n"
    "def _is_key(x):\n"
    "    return hasattr(x, \"dtype\") and jax.dtypes.issubdtype(x.dtype, jax.dtypes.extended)\n"
    "\n"
    "\n"
    "def _plain(x):\n"
    "    \"\"\"A random key as the integers that it is, in the program; shapes alone.\"\"\"\n"
    "    return jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(x.shape, x.dtype)) if "
    "_is_key(x) else x\n"
    "\n"
    "\n"
    "def _compare(exported, lowered, main):\n"
    "    \"\"\"The step must be the program that was planned: arguments, results, each operation "
    "as it is printed.\"\"\"\n"
    "    want = [ir.RankedTensorType(t) for t in main.type.inputs]\n"
    "    have = [_plain(exported.in_avals[i]) for i in exported.module_kept_var_idx]\n"
    "    if len(have) != len(want):\n"
    "        raise ValueError(f\"this step keeps {len(have)} arrays of its arguments, the plan is "
    "for {len(want)}\")\n"
    "    for n, (a, t) in enumerate(zip(have, want)):\n"
    "        if tuple(a.shape) != tuple(t.shape) or str(mlir.dtype_to_ir_type(np.dtype(a.dtype))) "
    "!= str(t.element_type):\n"
    "            raise ValueError(f\"argument {exported.module_kept_var_idx[n]} of this step is "
    "{a.dtype}{list(a.shape)}, the plan is for {t}\")\n"
    "    if len(exported.out_avals) != len(main.type.results):\n"
    "        raise ValueError(f\"this step returns {len(exported.out_avals)} arrays, the plan is "
    "for {len(main.type.results)}\")\n"
    "    planned = np.frombuffer(zlib.decompress(base64.b64decode(\"\".join(LINES.split()))), "
    "\"<u2\") if OPERATIONS else ()\n"
    "    lines = _lines(lowered.as_text()) if OPERATIONS else ()\n"
    "    counts = collections.Counter(name for name, _ in lines)\n"
    "    for n, (name, line) in enumerate(lines):\n"
    "        if n < len(planned) and planned[n] and planned[n] != (zlib.crc32(line.encode()) & "
    "0xFFFF or 1):\n"
    "            other = next((f\" it has {counts[k]} {k} in all, the plan is for "
    "{OPERATIONS.get(k, 0)};\"\n"
    "                          for k in sorted(set(counts) | set(OPERATIONS)) if counts[k] != "
    "OPERATIONS.get(k, 0)), \"\")\n"
    "            raise ValueError(f\"operation {n} of this step, {line[:160]}, is not the one that "
    "was planned;{other} another program, \"\n"
    "                             f\"or printed by another jax ({jax.__version__} here)\")\n"
    "    if len(lines) != len(planned):\n"
    "        raise ValueError(f\"this step has {len(lines)} operations, the plan is for "
    "{len(planned)}\")\n"
    "\n"
    "\n"
    "def _fixed(jitted, args, keywords):\n",
    "    \"\"\"Positions and names of the static arguments, which are part of the "
    "program.\"\"\"\n",
    "    state = jitted.__getstate__() if hasattr(jitted, \"__getstate__\") else None\n",
    "    state = state if isinstance(state, dict) else {}\n",
    "    places = {n % len(args) for n in state.get(\"static_argnums\", ()) if -len(args) <= "
    "n < len(args)}\n",
    "    return places, {name for name in state.get(\"static_argnames\", ()) if name in "
    "keywords}\n",
    "\n",
    "\n",
    "def apply(step, *args, devices=None, check=False, **keywords):\n",
    "    \"\"\"`step` (jitted or not) split as planned, with the planned layouts of "
    "arguments and results and its donation.\n",
    "\n",
    "    The result has .place(*args), which puts arguments where they belong, .shardings, a "
    "tree like args without static ones,\n",
    "    and .lower(*args). Keywords are handed over likewise; .place returns them behind "
    "the arguments, then, as a dict.\"\"\"\n",
    "    if tuple(int(n) for n in jax.__version__.split(\".\")[:2]) < (0, 7):\n",
    "        raise RuntimeError(f\"needs jax 0.7 or later, this is {jax.__version__}\")\n",
    "    count = int(np.prod([size for _, size in AXES]))\n",
    "    devices = list(devices or jax.devices())\n",
    "    if len(devices) < count:\n",
    "        raise ValueError(f\"the plan is for {count} devices, here are "
    "{len(devices)}\")\n",
    "    names, sizes = zip(*AXES)\n",
    "    mesh = jax.sharding.Mesh(np.array(devices[:count]).reshape(sizes), names, "
    "axis_types=(AxisType.Auto,) * len(AXES))\n",
    "    jitted = step if hasattr(step, \"lower\") else jax.jit(step)\n",
    "    lowered = jitted.lower(*args, **keywords)\n",
    "    # What is exported never leaves this process: kernels without a promise of "
    "stability may stay.\n",
    "    targets = sorted(set(re.findall(r'custom_call(?:_target_name = \"| "
    "@\"?)([^\\s\"(]+)', lowered.as_text())))\n",
    "    calls = [t for t in targets if "
    "re.fullmatch(r'xla_(ffi_)?(partitioned_)?python_\\w*callback', t)]\n",
    "    if calls:\n",
    "        raise ValueError(f\"this step calls Python back ({calls[0]}), which jax.export "
    "does not carry: leave jax.debug.print, pure_callback and io_callback out of it\")\n",
    "    allowed = [jax.export.DisabledSafetyCheck.custom_call(t) for t in targets]\n",
    "    exported = jax.export.export(jitted, disabled_checks=allowed)(*args, **keywords)\n",
    "    context = mlir.make_ir_context()\n",
    "    with context:\n",
    "        module = _module(context)\n",
    "        main = _main(module)\n",
    "        _compare(exported, lowered, main)\n",
    "        kept, returned = _layouts(main)\n",
    "        planned = dataclasses.replace(exported, "
    "mlir_module_serialized=_export._module_to_bytecode(module), nr_devices=count)\n",
    "    specs = [P()] * len(exported.in_avals)\n",
    "    for n, spec in zip(exported.module_kept_var_idx, kept):\n",
    "        specs[n] = P(*spec[:len(exported.in_avals[n].shape)])\n",
    "    returned = [P(*s[:len(a.shape)]) for s, a in zip(returned, exported.out_avals)]\n",
    "    to = lambda specs: [NamedSharding(mesh, s) for s in specs]\n",
    "    tree, places = exported.in_tree, to(specs)\n",
    "    info = jax.tree_util.tree_leaves(lowered.args_info, is_leaf=lambda x: hasattr(x, "
    "\"donated\"))\n",
    "    compiled = jax.jit(lambda *arrays: planned.call(*tree.unflatten(arrays)[0], "
    "**tree.unflatten(arrays)[1]),\n",
    "                       in_shardings=tuple(places), "
    "out_shardings=exported.out_tree.unflatten(to(returned)),\n",
    "                       donate_argnums=tuple(n for n, i in enumerate(info) if "
    "i.donated))\n",
    "    static = _fixed(jitted, args, keywords)\n",
    "\n",
    "    def arrays(a, k):\n",
    "        \"\"\"The arrays in their order, of the same tree, and with the same static "
    "arguments, as in the plan.\"\"\"\n",
    "        for where, was, now in [(n, args[n], a[n] if n < len(a) else None) for n in "
    "static[0]] + [(n, keywords[n], k.get(n)) for n in static[1]]:\n",
    "            if was != now:\n",
    "                raise ValueError(f\"static argument {where} is {now!r}, the plan is for "
    "{was!r}\")\n",
    "        leaves, found = jax.tree_util.tree_flatten((tuple(x for n, x in enumerate(a) if "
    "n not in static[0]),\n",
    "                                                    {n: x for n, x in k.items() if n "
    "not in static[1]}))\n",
    "        if found != tree:\n",
    "            raise ValueError(f\"the arguments are {found}, the plan is for {tree}\")\n",
    "        return leaves\n",
    "\n",
    "    def whole(leaves):\n",
    "        \"\"\"Arguments and keywords of these arrays, with static ones.\"\"\"\n",
    "        a, k = tree.unflatten(leaves)\n",
    "        rest = iter(a)\n",
    "        return [args[n] if n in static[0] else next(rest) for n in range(len(args))], k "
    "| {n: keywords[n] for n in static[1]}\n",
    "\n",
    "    def place(*a, **k):\n",
    "        placed, named = whole(jax.device_put(arrays(a, k), places))\n",
    "        return (*placed, named) if keywords else tuple(placed)\n",
    "\n",
    "    run = lambda *a, **k: compiled(*arrays(a, k))\n",
    "    run.lower = lambda *a, **k: compiled.lower(*arrays(a, k))\n",
    "    run.place, run.shardings = place, tree.unflatten(places)[0]\n",
    "    if check:\n",
    "        _check(lambda leaves: step(*whole(leaves)[0], **whole(leaves)[1]), compiled, "
    "arrays(args, keywords), places)\n",
    "    return run\n",
    "\n",
    "\n",
    "def _check(step, split, arrays, places):\n",
    "    \"\"\"One step split and whole, from copies of the same arrays. Results may differ "
    "as far as rounding moves them (an\n",
    "    optimizer makes a step of full length of a gradient that is nothing but rounding): "
    "so far as arguments 1e-6 off do.\"\"\"\n",
    "    noise = np.random.default_rng(0)\n",
    "    copies = lambda: [jax.random.clone(x) if _is_key(x) else np.array(x) for x in "
    "arrays]\n",
    "    off = lambda x: x * (1 + 1e-6 * noise.standard_normal(x.shape)).astype(x.dtype) if "
    "not _is_key(x) and x.dtype.kind == \"f\" else x\n",
    "    leaves = lambda results: [np.asarray(x, np.float64) for x in "
    "jax.tree_util.tree_leaves(results) if not _is_key(x) and np.dtype(x.dtype).kind in "
    "\"fiubV\"]\n",
    "    one = jax.jit(step)\n",
    "    results = zip(leaves(one(copies())), leaves(split(*jax.device_put(copies(), "
    "places))), leaves(one([off(x) for x in copies()])))\n",
    "    for n, (a, b, c) in enumerate(results):\n",
    "        worst = lambda x: float(np.max(np.abs(a - x), initial=0)) / "
    "(float(np.max(np.abs(a), initial=0)) + 1e-30)\n",
    "        if not worst(b) <= 1e-3 + 10 * worst(c):\n",
    "            raise ValueError(f\"result {n} differs by {worst(b):.1e} of its size "
    "between the planned step and the whole one\")\n",
};

static const char trial[] =
    "\n"
    "\n"
    "def _try():\n"
    "    \"\"\"Compiles the planned program alone, for simulated devices: what XLA refuses, or "
    "aborts on, it does so here.\"\"\"\n"
    "    names, sizes = zip(*AXES)\n"
    "    count = int(np.prod(sizes))\n"
    "    for key, value in (\"jax_platforms\", \"cpu\"), (\"jax_num_cpu_devices\", count), "
    "(\"jax_enable_x64\", True):\n"
    "        jax.config.update(key, value)\n"
    "    mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(sizes), names, "
    "axis_types=(AxisType.Auto,) * len(AXES))\n"
    "    context = mlir.make_ir_context()\n"
    "    with context:\n"
    "        module = _module(context)\n"
    "        main = _main(module)\n"
    "        kinds = \"bool_ int4 int8 int16 int32 int64 uint4 uint8 uint16 uint32 uint64 "
    "float8_e4m3fn float8_e5m2 bfloat16 float16\"\n"
    "        kinds = [getattr(jax.numpy, t, None) for t in (kinds + \" float32 float64 complex64 "
    "complex128\").split()]\n"
    "        kinds = {str(mlir.dtype_to_ir_type(np.dtype(t))): t for t in kinds if t}\n"
    "        shapes = lambda types: [jax.ShapeDtypeStruct(tuple(t.shape), "
    "kinds[str(t.element_type)]) for t in map(ir.RankedTensorType, types)]\n"
    "        arguments, results = shapes(main.type.inputs), shapes(main.type.results)\n"
    "        kept, returned = ([NamedSharding(mesh, s) for s in specs] for specs in "
    "_layouts(main))\n"
    "        packed = _export._module_to_bytecode(module)\n"
    "    empty = jax.jit(lambda *a: [jax.numpy.zeros(r.shape, r.dtype) for r in results], "
    "keep_unused=True)\n"
    "    planned = dataclasses.replace(jax.export.export(empty)(*arguments), "
    "mlir_module_serialized=packed, nr_devices=count)\n"
    "    jax.jit(lambda *a: planned.call(*a), in_shardings=kept, "
    "out_shardings=returned).lower(*arguments).compile()\n"
    "    print(f\"XLA compiles the planned step for {count} devices (jax {jax.__version__})\")\n"
    "\n"
    "\n"
    "if __name__ == \"__main__\":\n"
    "    _try()\n";

/* ---- the operations, to know the program again ---- */

struct count {
    const char *name;
    size_t size;
    uint32_t times;
};

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_word(char c)
{
    return is_name(c) || (c >= 'A' && c <= 'Z');
}

/* `dialect.op` at p, not behind `#`, `.` or a letter, nor in the path of a location: its size, else
 * 0. */
static size_t op_at(const char *begin, const char *p)
{
    size_t dialect = !strncmp(p, "stablehlo.", 10) ? 10
                     : !strncmp(p, "chlo.", 5)     ? 5
                                                   : 0,
           n = dialect;

    if (!dialect || (p > begin && (p[-1] == '#' || p[-1] == '.' || is_word(p[-1]))))
        return 0;
    while (is_name(p[n]))
        n++;
    bool is_quoted = p > begin && p[-1] == '"';
    bool is_op = is_quoted ? p[n] == '"' && p[n + 1] == '(' : p[n] == ' ' || p[n] == '(';
    return n > dialect && is_op ? n : 0;
}

/* The end of `loc(...)` that begins at p; `end` when it does not close. */
static const char *location_end(const char *p, const char *end)
{
    bool is_text = false;
    int depth = 0;

    for (; p < end; p++) {
        is_text ^= *p == '"' && p[-1] != '\\';
        depth += is_text ? 0 : (*p == '(') - (*p == ')');
        if (*p == ')' && !depth && !is_text)
            return p + 1;
    }
    return end;
}

/* [p, end) as JAX prints it without locations, with single blanks; `is_text`: p is within quotes,
 * as the name of an operation in generic form is. */
static void add_plain_line(const char *p, const char *end, bool is_text, struct str *out)
{
    while (p < end) {
        bool is_blank = *p == ' ' || *p == '\t';
        if (is_blank && !is_text && end - p > 5 && !memcmp(p, " loc(", 5)) {
            p = location_end(p + 1, end);
            continue;
        }
        is_text ^= *p == '"' && p[-1] != '\\';
        if (!is_blank || (p + 1 < end && p[1] != ' ' && p[1] != '\t'))
            str_add_char(out, is_blank ? ' ' : *p);
        p++;
    }
    while (out->size && strchr(" \r", out->text[out->size - 1]))
        out->size--;
}

struct listing {
    struct count counts[512];
    size_t kinds;
    struct str digests, line; /* two bytes for each operation; 0, 0: any */
};

static int add_operation(struct listing *l, const char *op, size_t size, const char *end,
                         struct err *e)
{
    size_t k = 0;

    while (k < l->kinds && (l->counts[k].size != size || memcmp(l->counts[k].name, op, size) != 0))
        k++;
    if (k == sizeof l->counts / sizeof *l->counts)
        return err_set(e, ERR_LIMIT, "more than %zu kinds of operations", k);
    if (k == l->kinds)
        l->counts[l->kinds++] = (struct count){op, size, 0};
    l->counts[k].times++;
    str_clear(&l->line);
    add_plain_line(op, end, op[size] == '"', &l->line);
    uint32_t digest = (uint32_t)crc32(0, (const Bytef *)l->line.text, (uInt)l->line.size) & 0xffff;
    if (strstr(l->line.text, "__elided__") || strstr(l->line.text, "dense<...>"))
        digest = 0;
    else if (!digest)
        digest = 1;
    str_add_char(&l->digests, (char)(digest & 255));
    str_add_char(&l->digests, (char)(digest >> 8));
    return 0;
}

/* The first operation of each line that was read; none for other forms than StableHLO. */
static int list_operations(const struct hlo_module *m, struct listing *l, struct err *e)
{
    const char *p = m->format == HLO_FORMAT_STABLEHLO && m->input ? m->input : "";

    while (*p) {
        const char *end = p + strcspn(p, "\n"), *at = p + strspn(p, " \t");
        size_t size = 0;
        if (*at != '#' && *at != '/')
            while (at < end && !(size = *at == 's' || *at == 'c' ? op_at(m->input, at) : 0))
                at++;
        if (size && add_operation(l, at, size, end, e))
            return e->code;
        p = end + (*end == '\n');
    }
    return 0;
}

static void write_base64(const unsigned char *bytes, size_t size, struct str *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t n = 0; n < size; n += 3) {
        uint32_t three = (uint32_t)bytes[n] << 16 |
                         (uint32_t)(n + 1 < size ? bytes[n + 1] : 0) << 8 |
                         (n + 2 < size ? bytes[n + 2] : 0);
        str_add_char(out, digits[three >> 18]);
        str_add_char(out, digits[three >> 12 & 63]);
        str_add_char(out, n + 1 < size ? digits[three >> 6 & 63] : '=');
        str_add_char(out, n + 2 < size ? digits[three & 63] : '=');
        if (n % 96 == 93)
            str_add_char(out, '\n');
    }
}

/* `NAME = """..."""`, of zlib and base64. */
static int write_packed(const char *name, const struct str *bytes, struct str *out, struct err *e)
{
    uLongf size = compressBound((uLong)bytes->size);
    unsigned char *packed = mem_try(size, 1);

    if (!packed || compress2(packed, &size, (const Bytef *)(bytes->text ? bytes->text : ""),
                             (uLong)bytes->size, 9) != Z_OK) {
        free(packed);
        return err_no_memory(e, "to export the plan");
    }
    str_format(out, "%s = \"\"\"\n", name);
    write_base64(packed, size, out);
    str_add(out, "\n\"\"\"\n");
    free(packed);
    return 0;
}

static int write_operations(const struct plan *plan, struct str *out, struct err *e)
{
    struct listing l = {.kinds = 0};
    int rc = list_operations(plan->problem->file, &l, e);

    if (rc)
        goto out;
    str_add(out, "OPERATIONS = {");
    for (size_t k = 0; k < l.kinds; k++)
        str_format(out, "%s\"%.*s\": %u", k ? (k % 5 ? ", " : ",\n              ") : "",
                   (int)l.counts[k].size, l.counts[k].name, l.counts[k].times);
    str_add(out, "}\n");
    if (l.digests.failed || l.line.failed)
        rc = err_no_memory(e, "to export the plan");
    else
        rc = write_packed("LINES", &l.digests, out, e);
out:
    str_release(&l.digests);
    str_release(&l.line);
    return rc;
}

/* ---- the program ---- */

static void write_axes(const struct cluster_mesh *mesh, struct str *out)
{
    str_add(out, "AXES = (");
    for (uint32_t x = 0; x < mesh->axes; x++)
        str_format(out, "(\"%s\", %u),%s", mesh->axis[x].name, mesh->axis[x].size,
                   x + 1 < mesh->axes ? " " : "");
    str_add(out, ")\n");
}

/* xla_python_cpu_callback, xla_ffi_partitioned_python_gpu_callback and their like; a kernel of
 * one's own may be called some_callback. */
static bool calls_python(const struct hlo_module *m, hlo_id id)
{
    static const char ending[] = "_callback";
    size_t size = 0, last = sizeof ending - 1;
    const char *target = hlo_attr_string(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, &size);
    char name[128];

    if (!target || size < last || size >= sizeof name)
        return false;
    memcpy(name, target, size);
    name[size] = 0;
    return strstr(name, "python_") && !strcmp(name + size - last, ending);
}

/* jax.export carries no calls of Python: the file would refuse the step. */
static void warn_of_callbacks(const struct hlo_module *m, struct str *warnings)
{
    for (hlo_id id = 0; id < m->count; id++) {
        if (!calls_python(m, id))
            continue;
        str_format(warnings,
                   "%s calls Python back, which jax.export does not carry: leave "
                   "jax.debug.print, pure_callback and io_callback out of the step\n",
                   hlo_name(m, id));
        return;
    }
}

int export_jax_step(const struct plan *plan, struct str *out, struct str *warnings, struct err *e)
{
    struct str module = {0};
    int rc = export_stablehlo(plan, &module, warnings, e);

    if (rc)
        goto out;
    warn_of_callbacks(plan->problem->m, warnings);
    for (size_t n = 0; n < sizeof code / sizeof *code; n++)
        str_add(out, code[n]);
    str_add(out,
            "\n\n# Name and size of the axes of the mesh; how often each operation occurs in the "
            "step that was planned, and two bytes of a checksum of each as it is printed.\n");
    write_axes(&plan->problem->mesh, out);
    rc = write_operations(plan, out, e);
    if (rc)
        goto out;
    str_add(out, "\n\n# The step as StableHLO, with the plan as Shardy annotations: zlib, base64; "
                 "--format stablehlo writes it plain.\n");
    rc = write_packed("PROGRAM", &module, out, e);
    if (rc)
        goto out;
    str_add(out, trial);
    if (out->failed)
        rc = err_no_memory(e, "to export the plan");
out:
    str_release(&module);
    return rc;
}
