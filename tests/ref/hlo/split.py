"""Proves factors by execution: runs an instruction whole and in parts on XLA and compares.

    python tests/ref/hlo/split.py PROGRAM [FILE ..]      needs jax 0.10; PROGRAM is the built test_hlo_factors
    python tests/ref/hlo/split.py PROGRAM --write  writes the "partial" and "cost" lines of opcodes.hlo (then prove them)

PROGRAM prints our factors of every instruction of a file. Each distinct instruction becomes a module of its own with
random operands; for each factor it is cut in two uneven parts (or in equal ones where the number must divide), each
part runs alone, and the parts are put together as the factor says: concatenated, combined, or equal. Without FILE:
opcodes.hlo and the small models. Exit code 1 if any part differs."""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import jax
import ml_dtypes
import numpy as np
from jaxlib import _hlo, _jax

jax.config.update("jax_enable_x64", True)
HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = ["t5-tiny", "mlp", "moe", "resnet20", "decoder-scan"]
MOST_BYTES, MOST_FLOPS = 1 << 24, 1e9          # larger instructions are left out: their rules are met in small ones
DTYPES = {"pred": np.bool_, "c64": np.complex64, "c128": np.complex128, "bf16": ml_dtypes.bfloat16, "f16": np.float16,
          "f32": np.float32, "f64": np.float64, "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e8m0fnu": ml_dtypes.float8_e8m0fnu}
DTYPES.update({f"{k}{n}": getattr(np, f"{'u' * (k == 'u')}int{n}") for k in "su" for n in (8, 16, 32, 64)})
COMBINE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or}
NEUTRAL = {"add": 0, "mul": 1}                  # the others may count an init twice
RANDOM = {"rng", "rng-bit-generator", "rng-get-and-update-state"}
FLOWS = {"parameter", "constant", "tuple", "get-tuple-element", "while", "conditional", "call", "fusion", "opt-barrier", "domain"}
LINE = re.compile(r"^\s+(?:ROOT )?%(\S+) = ((?:\(.*?\)|\S+)) ([\w\-]+)\((.*?)\)((?:, [\w\-]+=.*)?)$")


class Skip(Exception):
    pass


# ---- modules ----

def shapes_of(text):
    """[(type, dims)] of an array or a flat tuple."""
    return [(t, [int(d.lstrip("<=")) for d in dims.split(",") if d]) for t, dims in re.findall(r"(\w+)\[([^\]]*)\]", text)]


def shape_text(shape):
    t, dims = shape
    layout = f"{{{','.join(map(str, reversed(range(len(dims)))))}}}" if dims else ""
    return f"{t}[{','.join(map(str, dims))}]{layout}"


class Instruction:
    def __init__(self, name, result, opcode, operands, attributes, callees):
        self.name, self.result_text, self.opcode, self.attributes = name, result, opcode, attributes
        self.is_tuple, self.results = result.startswith("("), shapes_of(result)
        operands = re.sub(r"/\*.*?\*/", "", operands)
        self.operand_text = [s.strip(" ,") for s in re.split(r"%[\w.\-]+", operands)[:-1]]
        self.operands = [shapes_of(s)[0] if not s.startswith("(") else None for s in self.operand_text]
        self.callees = callees

    def key(self):
        return self.opcode, self.result_text, tuple(self.operand_text), self.attributes, self.callees

    def text(self, operands, results, attributes):
        out = ", ".join(map(shape_text, results))
        lines = [f"  %p{i} = {shape_text(s)} parameter({i})" for i, s in enumerate(operands)]
        lines.append(f"  ROOT %r = {f'({out})' if self.is_tuple else out} {self.opcode}("
                     f"{', '.join(f'%p{i}' for i in range(len(operands)))}){attributes}")
        return f"HloModule alone\n\n{self.callees}ENTRY %alone {{\n" + "\n".join(lines) + "\n}\n"

    def alone(self):
        """As in its file, layouts included."""
        lines = [f"  %p{i} = {s} parameter({i})" for i, s in enumerate(self.operand_text)]
        lines.append(f"  ROOT %r = {self.result_text} {self.opcode}({', '.join(f'%p{i}' for i in range(len(lines)))}){self.attributes}")
        return f"HloModule alone\n\n{self.callees}ENTRY %alone {{\n" + "\n".join(lines) + "\n}\n"


def printed(text):
    module, options = _hlo.hlo_module_from_text(text), _hlo.HloPrintOptions()
    options.print_operand_shape, options.print_metadata, options.print_backend_config = True, False, False
    return module.to_string(options)


def instructions(text):
    """Yields (computation, Instruction)."""
    bodies = {}
    for body in re.findall(r"^(?:ENTRY )?%\S+ \([^\n]*\{\n.*?^\}", printed(text), re.M | re.S):
        bodies[re.match(r"(?:ENTRY )?%(\S+)", body).group(1)] = body.removeprefix("ENTRY ")

    def callees(attributes, seen):
        out = ""
        for name in re.findall(r"%([\w.\-]+)", attributes):
            if name in bodies and name not in seen:
                seen.add(name)
                out += callees(bodies[name], seen) + bodies[name] + "\n\n"
        return out
    for computation, body in bodies.items():
        for line in body.split("\n")[1:-1]:
            if m := LINE.match(line):
                name, result, opcode, operands, attributes = m.groups()
                yield computation, Instruction(name, result, opcode, operands, attributes, callees(attributes, set()))


def costs(text):
    found = _jax.hlo_module_cost_analysis(jax.devices()[0].client, _hlo.hlo_module_from_text(text))
    return [found.get(k, 0) for k in ("flops", "transcendentals", "bytes accessed")]


# ---- running ----

COMPILED = {}


def run(text, inputs):
    if text not in COMPILED:
        try:
            proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
            mlir = _jax.mlir.hlo_to_stablehlo(proto)
            options = _jax.CompileOptions()
            options.env_option_overrides = [("xla_backend_optimization_level", 0)]
            COMPILED[text] = jax.devices()[0].client.compile_and_load(mlir, _jax.DeviceList((jax.devices()[0],)), options)
        except (RuntimeError, ValueError) as e:
            raise Skip(str(e).strip().split("\n")[0][:100]) from None
    out = COMPILED[text].execute_sharded([jax.device_put(x) for x in inputs]).disassemble_into_single_device_arrays()
    return [np.asarray(x[0]) for x in out]


def random_array(rng, shape, instruction, n):
    t, dims = shape
    if t not in DTYPES:
        raise Skip(f"type {t}")
    dtype = np.dtype(DTYPES[t])
    if instruction.opcode == "cholesky":
        a = rng.standard_normal(dims)
        return (a @ np.swapaxes(a, -1, -2) + dims[-1] * np.eye(dims[-1])).astype(dtype)
    if instruction.opcode == "triangular-solve" and n == 0:
        return (rng.standard_normal(dims) + 4 * dims[-1] * np.eye(dims[-1])).astype(dtype)
    if instruction.opcode in ("reduce", "reduce-window", "select-and-scatter") and not dims:
        # XLA may use an init more than once, so it is neutral; where twice is as good as once it may be anything
        if re.search(r" add\(", instruction.callees):
            return np.zeros((), dtype)
        if re.search(r" multiply\(", instruction.callees):
            return np.ones((), dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, dims).astype(dtype)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -1, 8, dims).astype(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(dims) + 1j * rng.standard_normal(dims)).astype(dtype)
    return np.asarray(rng.uniform(0.5, 1.5, dims)).astype(dtype)


def same(a, b):
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "iub":
        return bool((a == b).all())
    eps = float(ml_dtypes.finfo(a.dtype).eps)
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    x, y = a.astype(wide), b.astype(wide)
    scale = np.nanmax(np.abs(np.where(np.isfinite(x), x, 0)), initial=0)
    return bool(np.allclose(x, y, rtol=64 * eps, atol=64 * eps * scale, equal_nan=True))


# ---- opcodes that XLA's CPU backend does not run, in numpy ----

def memory_order(shape_text):
    return [int(d) for d in reversed(re.search(r"\{([\d,]*)", shape_text).group(1).split(",")) if d]


def bitcast(i, results, x):
    order = memory_order(i.result_text)
    flat = x.transpose(memory_order(i.operand_text[0])).reshape([results[0][1][d] for d in order])
    return flat.transpose(np.argsort(order))


def ragged_dot(i, results, lhs, rhs, sizes):
    """One group size vector; rows (or contracted rows) of lhs in consecutive groups."""
    ends = np.cumsum(np.maximum(sizes, 0))
    group = np.searchsorted(ends, np.arange(6), side="right")     # opcodes.hlo: 6 ragged rows, 3 groups
    if i.name == "rows":
        return np.stack([row @ rhs[g] if g < len(rhs) else np.zeros(rhs.shape[2], np.float32) for row, g in zip(lhs, group)])
    if i.name == "contracted":
        return np.stack([lhs[group == g].T @ rhs[group == g] for g in range(len(sizes))])
    return np.stack([np.stack([row @ rhs[g, b] if g < len(rhs) else np.zeros(rhs.shape[3], np.float32)
                               for row, g in zip(lhs[b], group)]) for b in range(len(lhs))])


def scaled_dot(i, results, lhs, rhs, lhs_scale, rhs_scale):
    wide = lambda x, s, axis: x.astype(np.float32) * np.repeat(s.astype(np.float32), x.shape[axis] // s.shape[axis], axis)
    return wide(lhs, lhs_scale, 1) @ wide(rhs, rhs_scale, 0)


def scan(i, results, x, carry):
    out = np.cumsum(x, axis=0) + carry
    return [out, out[-1]]


REFERENCE = {"bitcast": bitcast, "ragged-dot": ragged_dot, "scaled-dot": scaled_dot, "scan": scan,
             "mulhi": lambda i, r, a, b: ((a.astype(np.int64) * b) >> 32).astype(np.int32),
             "acos": lambda i, r, x: np.arccos(x), "acosh": lambda i, r, x: np.arccosh(x), "asin": lambda i, r, x: np.arcsin(x),
             "asinh": lambda i, r, x: np.arcsinh(x), "atanh": lambda i, r, x: np.arctanh(x), "cosh": lambda i, r, x: np.cosh(x),
             "sinh": lambda i, r, x: np.sinh(x)}


def execute(i, operands, results, attributes, inputs):
    if i.opcode not in REFERENCE:
        return run(i.text(operands, results, attributes), inputs)
    with np.errstate(all="ignore"):
        out = REFERENCE[i.opcode](i, results, *inputs)
    return out if isinstance(out, list) else [out]


# ---- factors ----

class Factor:
    """SIZE [COMBINER] [masked|divide|inside]: LEAF.DIM .., with leaves as (is_result, n)."""

    def __init__(self, text):
        head, bound = text.split(":")
        self.text, words = text, head.split()
        self.size, self.words = int(words[0]), set(words[1:])
        self.combiner = next((w for w in words if w in COMBINE), None)
        self.dims = {}
        for item in bound.split():
            leaf, dim = item.split(".")
            self.dims[leaf.startswith("r"), int(leaf.lstrip("r"))] = int(dim)

    def parts(self):
        if "divide" in self.words:
            n = next(n for n in range(2, self.size + 1) if self.size % n == 0)
            return [(i * self.size // n, (i + 1) * self.size // n) for i in range(n)]
        middle = max(self.size // 2, 1)
        return [(0, middle), (middle, self.size)]

    def range(self, dim_size, part):
        return part[0] * dim_size // self.size, part[1] * dim_size // self.size

    def cut_shape(self, shape, leaf, part):
        if leaf not in self.dims:
            return shape
        low, high = self.range(shape[1][self.dims[leaf]], part)
        return shape[0], [high - low if d == self.dims[leaf] else n for d, n in enumerate(shape[1])]

    def cut(self, x, leaf, part):
        if leaf not in self.dims:
            return x
        low, high = self.range(x.shape[self.dims[leaf]], part)
        return np.take(x, np.arange(low, high), axis=self.dims[leaf])


def ints(attributes, key):
    m = re.search(rf"\b{key}=\{{([\d,]*)\}}", attributes)
    return [int(x) for x in m.group(1).split(",") if x] if m else []


def part_attributes(i, f, part, operands, results):
    """Attributes that repeat sizes, for the sizes of the part."""
    a = i.attributes
    if i.opcode == "slice":
        bounds = re.findall(r"\[(\d+):(\d+)(?::\d+)?\]", a)
        d = f.dims[True, 0]
        a = re.sub(r"slice=\{.*?\}", "slice={" + ", ".join(
            f"[0:{results[0][1][d]}]" if n == d else b for n, b in enumerate(re.findall(r"\[[\d:]+\]", a))) + "}", a)
        assert len(bounds) == len(results[0][1])
    if i.opcode == "dynamic-slice":
        a = re.sub(r"dynamic_slice_sizes=\{.*?\}", f"dynamic_slice_sizes={{{','.join(map(str, results[0][1]))}}}", a)
    if i.opcode == "gather" and (False, 0) in f.dims and "masked" not in f.words:
        d, sizes = f.dims[False, 0], ints(a, "slice_sizes")
        if d not in ints(a, "operand_batching_dims"):
            sizes[d] = operands[0][1][d]
        a = re.sub(r"\bslice_sizes=\{.*?\}", f"slice_sizes={{{','.join(map(str, sizes))}}}", a)
    if i.opcode == "convolution" and "divide" in f.words:
        share = lambda m: f"{m.group(1)}={int(m.group(2)) * (part[1] - part[0]) // f.size}"
        a = re.sub(r"(feature_group_count|batch_group_count)=(\d+)", share, a)
    return a


def index_component(i, key, dim):
    """Which component of the index vectors addresses this dim of the data."""
    return ints(i.attributes, key).index(dim), int(re.search(r"index_vector_dim=(\d+)", i.attributes).group(1))


def component(indices, vector_dim, n):
    return np.take(indices, n, axis=vector_dim) if vector_dim < indices.ndim else indices


def with_component(indices, vector_dim, n, value):
    if vector_dim == indices.ndim:
        return value.astype(indices.dtype)
    out = indices.copy()
    out[(slice(None),) * vector_dim + (n,)] = value
    return out


def run_gather_masked(i, f, part, inputs):
    d = f.dims[False, 0]
    n, vector_dim = index_component(i, "start_index_map", d)
    low, high = f.range(inputs[0].shape[d], part)
    wanted = np.clip(component(inputs[1], vector_dim, n).astype(np.int64), 0, inputs[0].shape[d] - 1) - low
    mine = (wanted >= 0) & (wanted < high - low)
    data = f.cut(inputs[0], (False, 0), part)
    local = with_component(inputs[1], vector_dim, n, np.clip(wanted, 0, high - low - 1))
    shapes = [f.cut_shape(s, (False, k), part) for k, s in enumerate(i.operands)]
    out = run(i.text(shapes, i.results, i.attributes), [data, local])[0]
    offset = ints(i.attributes, "offset_dims")
    mask = mine.reshape([1 if k in offset else s for k, s in enumerate(out.shape)])
    return [np.where(mask, out, np.zeros((), out.dtype))]


def run_update_masked(i, f, part, inputs):
    """Each device writes what falls into its own rows; the start is clamped as for the whole."""
    d = f.dims[False, 0]
    low, high = f.range(inputs[0].shape[d], part)
    starts = [int(np.clip(x, 0, a - b)) for x, a, b in zip(inputs[2:], inputs[0].shape, inputs[1].shape)]
    out = f.cut(inputs[0], (False, 0), part).copy()
    for row in range(max(starts[d], low), min(starts[d] + inputs[1].shape[d], high)):
        at = tuple(row - low if k == d else slice(s, s + inputs[1].shape[k]) for k, s in enumerate(starts))
        out[at] = np.take(inputs[1], row - starts[d], axis=d)
    return [out]


def run_part(i, f, part, inputs):
    if i.opcode == "gather" and "masked" in f.words:
        return run_gather_masked(i, f, part, inputs)
    if i.opcode == "dynamic-update-slice" and "masked" in f.words:
        return run_update_masked(i, f, part, inputs)
    operands = [f.cut_shape(s, (False, n), part) for n, s in enumerate(i.operands)]
    results = [f.cut_shape(s, (True, n), part) for n, s in enumerate(i.results)]
    mine = [f.cut(x, (False, n), part) for n, x in enumerate(inputs)]
    count = len(inputs) // 2
    if f.combiner in NEUTRAL and part[0]:       # init and scattered-into operand enter on the first device
        if i.opcode == "reduce":
            mine[1] = np.full_like(mine[1], NEUTRAL[f.combiner])
        elif i.opcode == "scatter":
            mine[0] = np.full_like(mine[0], NEUTRAL[f.combiner])
    if i.opcode == "scatter" and "masked" in f.words:
        n, vector_dim = index_component(i, "scatter_dims_to_operand_dims", f.dims[False, 0])
        low = f.range(inputs[0].shape[f.dims[False, 0]], part)[0]
        mine[count] = with_component(inputs[count], vector_dim, n, component(inputs[count], vector_dim, n) - low)
    out = execute(i, operands, results, part_attributes(i, f, part, operands, results), mine)
    if i.opcode == "iota" and f"iota_dimension={f.dims[True, 0]}" in i.attributes:
        out = [out[0] + np.asarray(part[0], out[0].dtype)]                     # counts from its own offset
    return out


def batch_norm_inside(i, f, inputs, whole):
    """The parts with statistics summed over them: what "inside" stands for."""
    axes = tuple(d for d in range(inputs[0].ndim) if d != int(re.search(r"feature_index=(\d+)", i.attributes).group(1)))
    parts = [f.cut(inputs[0], (False, 0), p) for p in f.parts()]
    share = [p.size / inputs[0].size for p in parts]
    mean = sum(s * p.mean(axes) for s, p in zip(share, parts))
    if i.opcode == "batch-norm-training":
        var = sum(s * (p.astype(np.float64) ** 2).mean(axes) for s, p in zip(share, parts)) - mean.astype(np.float64) ** 2
        stats = [mean.astype(np.float32), var.astype(np.float32)]
        shape = i.operands[0]
        outs = []
        for part in f.parts():
            cut = f.cut_shape(shape, (False, 0), part)
            inference = Instruction("x", shape_text(cut), "batch-norm-inference", "", i.attributes, "")
            outs += run(inference.text([cut] + [i.operands[1]] * 4, [cut], i.attributes),
                        [f.cut(inputs[0], (False, 0), part), inputs[1], inputs[2]] + stats)
        return [np.concatenate(outs, axis=f.dims[True, 0])] + stats
    scale, mean, var, grad = (x.astype(np.float64) for x in inputs[1:])
    epsilon = float(re.search(r"epsilon=([\d.e-]+)", i.attributes).group(1))
    axis = next(d for d in range(inputs[0].ndim) if d not in axes)
    wide = lambda v: v.reshape([-1 if d == axis else 1 for d in range(inputs[0].ndim)])
    count = inputs[0].size / inputs[0].shape[axis]
    cuts = [(f.cut(inputs[0], (False, 0), p).astype(np.float64), f.cut(grad, (False, 4), p)) for p in f.parts()]
    inverse = 1 / np.sqrt(var + epsilon)
    grad_offset = sum(g.sum(axes) for _, g in cuts)          # the two sums over the devices
    grad_scale = sum((g * (x - wide(mean))).sum(axes) for x, g in cuts) * inverse
    outs = [wide(scale * inverse) / count * (count * g - wide(grad_offset) - (x - wide(mean)) * wide(inverse * grad_scale)) for x, g in cuts]
    return [x.astype(np.float32) for x in (np.concatenate(outs, axis=f.dims[True, 0]), grad_scale, grad_offset)]


def check(i, f, inputs, whole):
    if "inside" in f.words:
        have = batch_norm_inside(i, f, inputs, whole)
        return all(np.allclose(a, b, rtol=1e-4, atol=1e-4) for a, b in zip(have, whole))
    outs = [run_part(i, f, part, inputs) for part in f.parts()]
    for n, want in enumerate(whole):
        leaves = [o[n] for o in outs]
        if (True, n) in f.dims:
            if not same(np.concatenate(leaves, axis=f.dims[True, n]), want):
                return False
        elif f.combiner:
            have = leaves[0]
            for x in leaves[1:]:
                have = (np.logical_or if have.dtype == np.bool_ and f.combiner == "add" else COMBINE[f.combiner])(have, x)
            if not same(have.astype(want.dtype), want):
                return False
        elif not all(same(x, want) for x in leaves):
            return False
    return True


# ---- partial results ----

def split_value(rng, x, combiner):
    """Two arrays that combine to x."""
    other = rng.permutation(x.ravel()).reshape(x.shape) if x.ndim else (x * 0.25).astype(x.dtype)
    if x.dtype == np.bool_:
        mask = rng.integers(0, 2, x.shape).astype(bool)
        return (x & mask, x & ~mask) if combiner == "or" else (x | mask, x | ~mask)
    if combiner == "add":
        return x - other, other
    if combiner == "mul":
        return (x / other, other) if x.dtype.kind == "f" else (x, np.ones_like(x))
    if combiner in ("max", "min"):
        swap = rng.integers(0, 2, x.shape).astype(bool)
        lower = x - 1 if combiner == "max" else x + 1
        return np.where(swap, x, lower).astype(x.dtype), np.where(swap, lower, x).astype(x.dtype)
    mask = rng.integers(0, 128, x.shape).astype(x.dtype)
    return (x & mask, x & ~mask) if combiner == "or" else (x | mask, x | ~mask)


def check_partial(rng, i, combiner, letters, inputs, whole):
    """The result of split operands combines to the result of the whole, for all T together and for each A alone."""
    sets = [[n for n, c in enumerate(letters) if c == "T"]] if "T" in letters else []
    for leaves in sets + [[n] for n, c in enumerate(letters) if c == "A"]:
        sides = [list(inputs), list(inputs)]
        for n in leaves:
            sides[0][n], sides[1][n] = split_value(rng, inputs[n], combiner)
        a, b = (execute(i, i.operands, i.results, i.attributes, side)[0] for side in sides)
        have = COMBINE[combiner](a, b).astype(whole[0].dtype)
        scale = 1 + float(np.abs(np.concatenate([np.ravel(a), np.ravel(b)]).astype("c16")).max(initial=0))
        if have.dtype.kind in "iub" and not np.array_equal(have, whole[0]):
            return False
        if have.dtype.kind not in "iub" and not np.allclose(have.astype("c16"), whole[0].astype("c16"), rtol=1e-4,
                                                            atol=256 * float(ml_dtypes.finfo(have.dtype).eps) * scale):
            return False
    return True


# ---- files ----

def our_factors(program, text):
    with tempfile.NamedTemporaryFile("w", suffix=".hlo") as f:
        f.write(text)
        f.flush()
        out = subprocess.run([program, f.name], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in out.splitlines():
        computation, name, factors, partials = line.split("\t")
        found[computation, name] = ([] if factors == "-" else [Factor(x.strip()) for x in factors.split(";")],
                                    [] if partials == "-" else [x.split() for x in partials.split(", ")])
    return found


class Report:
    def __init__(self):
        self.proved, self.skipped, self.wrong = defaultdict(Counter), Counter(), []


def runs(checker, *args):
    """Where the whole ran, a part that XLA refuses is wrong."""
    try:
        return checker(*args)
    except Skip as e:
        print(e)
        return False


def check_instruction(i, factors, partials, report):
    rng = np.random.default_rng(0)
    try:
        if re.match("all-|collective-|reduce-scatter|ragged-all", i.opcode):
            raise Skip("needs several devices")
        if i.opcode in RANDOM:
            raise Skip("random numbers differ")
        if "<=" in i.result_text:
            raise Skip("result of unknown size")
        if None in i.operands:
            raise Skip("tuple operand")
        inputs = [random_array(rng, s, i, n) for n, s in enumerate(i.operands)]
        if sum(x.nbytes for x in inputs) > MOST_BYTES or i.opcode not in REFERENCE and costs(i.alone())[0] > MOST_FLOPS:
            raise Skip("too large to run here")
        whole = execute(i, i.operands, i.results, i.attributes, inputs)
        for f in factors:
            if runs(check, i, f, inputs, whole):
                report.proved[i.opcode][f.combiner or "pass"] += 1
            else:
                report.wrong.append((i.alone(), f.text))
                print(f"WRONG {i.opcode} {f.text}\n  {i.operand_text} -> {i.result_text}{i.attributes}", flush=True)
        for combiner, letters in partials:
            if any(s[0] not in DTYPES or s[0].startswith("f8") for s in i.operands):
                continue
            if combiner in ("and", "or") and not all(s[0][0] in "psu" for s, c in zip(i.operands, letters) if c != "-"):
                continue
            if runs(check_partial, rng, i, combiner, letters, inputs, whole):
                report.proved[i.opcode]["partial " + combiner] += 1
            else:
                report.wrong.append((i.alone(), combiner, letters))
                print(f"WRONG {i.opcode} partial {combiner} {letters}\n  {i.operand_text} -> {i.result_text}{i.attributes}", flush=True)
    except Skip as e:
        report.skipped[i.opcode, str(e)] += len(factors) + len(partials)


def check_text(program, text, report, seen):
    factors = our_factors(program, text)
    try:
        found = list(instructions(text))
    except RuntimeError as e:
        report.skipped[re.search(r"HloModule (\w+)", text).group(1), str(e).strip().split("\n")[-2][:100]] += 1
        return
    for computation, i in found:
        if i.opcode in FLOWS or i.key() in seen or not any(factors.get((computation, i.name), ())):
            continue
        seen.add(i.key())
        check_instruction(i, *factors[computation, i.name], report)
    COMPILED.clear()


def write_lines(program, path):
    """Puts our partial results and XLA's costs behind the "factors" lines of each module."""
    parts = re.sub(r"^// (cost|partial) .*\n", "", open(path).read(), flags=re.M).split("// -----\n")
    for n, part in enumerate(parts):
        ours = our_factors(program, part)
        head, body = part.split("\n\n", 1)
        head += "".join(f"\n// partial {name}: {', '.join(map(' '.join, partials)) or '-'}"
                        for (c, name), (f, partials) in ours.items() if c == "e" and (f or partials))
        parts[n] = part = head + "\n\n" + body
        try:
            found = [i for c, i in instructions(part) if f"%{i.name} = " in printed(part).split("ENTRY")[1]]
        except RuntimeError as e:
            print("no costs of", re.search(r"HloModule (\w+)", part).group(1), str(e).strip().split("\n")[1])
            continue
        lines = ""
        for i in found:
            if i.opcode in ("parameter", "constant") or f" {i.name} = " not in part or i.name == "r" and i.opcode == "tuple":
                continue
            try:
                lines += f"// cost {i.name}: {' '.join('%.17g' % x for x in costs(i.alone()))}\n"
            except RuntimeError as e:
                print("no cost of", i.name, str(e).strip().split("\n")[1])
        head, body = part.split("\n\n", 1)
        parts[n] = head + "\n" + lines + "\n" + body
    open(path, "w").write("// -----\n".join(parts))


def main():
    program, files = sys.argv[1], sys.argv[2:]
    opcodes, report, seen = os.path.join(HERE, "opcodes.hlo"), Report(), set()
    if files == ["--write"]:
        return write_lines(program, opcodes)
    if not files:
        files = [opcodes] + [os.path.join(HERE, f"../../../examples/models/{m}.hlo.txt.gz") for m in MODELS]
    for path in files:
        text = (gzip.open(path, "rt") if path.endswith(".gz") else open(path)).read()
        for part in text.split("// -----\n"):
            check_text(program, part, report, seen)
        print(f"{os.path.basename(path)}: {sum(map(Counter.total, report.proved.values()))} factors proved so far, {len(report.wrong)} wrong", flush=True)
    print(json.dumps({op: dict(report.proved[op]) for op in sorted(report.proved)}))
    for (what, why), count in sorted(report.skipped.items()):
        print(f"not run: {what}: {count} ({why})")
    sys.exit(bool(report.wrong))


if __name__ == "__main__":
    main()
