"""A training step as JAX prints it goes in, the planned step comes out: the exported Python, applied to the unchanged step, must
give the numbers of the whole step and hold the planned collectives; another step must be refused by name. The module written
back as StableHLO must compile and give equal numbers, too.

    stablehlo.py SOURCE AUTOMAP"""
import base64
import collections
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
try:
    import jax
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
if tuple(int(n) for n in jax.__version__.split(".")[:2]) < (0, 7):
    print(f"skipped: jax {jax.__version__}")
    sys.exit(77)

SOURCE, AUTOMAP = sys.argv[1:3]
sys.path[:0] = [os.path.join(SOURCE, "examples/make"), os.path.join(SOURCE, "tests/ref/stablehlo")]
import common  # noqa: E402
import mlp  # noqa: E402
import t5  # noqa: E402

# Model, options of the plan.
CASES = [
    ("mlp", ["--random", "3"]),
    ("mlp", ["--mode", "relaxed", "--reduce-at-once"]),
    ("t5-tiny", ["--random", "2"]),
    ("t5-tiny", ["--optimum"]),
    ("t5-tiny", ["--random", "1", "--reduce-at-once"]),
    ("t5-tiny", ["--mode", "relaxed", "--no-reductions", "maximum,minimum"]),
]
SLOW = os.path.join(SOURCE, "tests/ref/stablehlo/slow-8.yaml")
MESH = [SLOW, "--mesh", "2x4", "--divisibility", "exact"]
KINDS = r"= \S+ (all-reduce|all-gather|all-to-all|collective-permute)\("


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done


def load(path):
    spec = importlib.util.spec_from_file_location("automap_plan", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arrays(shapes, rng):
    """Small positive numbers: Adam takes square roots of its state."""
    def one(s):
        x = np.abs(rng.standard_normal(s.shape) * 0.1) if s.dtype.kind == "f" else rng.integers(0, 8, s.shape)
        return x.astype(s.dtype)
    return jax.tree.map(one, shapes)


def worst(whole, split):
    pairs = zip(jax.tree.leaves(whole), jax.tree.leaves(split), strict=True)
    sizes = [(np.asarray(a, np.float64), np.asarray(b, np.float64)) for a, b in pairs]
    return max(float(np.abs(a - b).max(initial=0) / (np.abs(a).max(initial=0) + 1e-30)) for a, b in sizes)


def case(name, options, folder):
    step, args = common.training_step(mlp.mlp() if name == "mlp" else t5.t5(name))
    model, plan, code = (os.path.join(folder, f) for f in ("step.mlir", "plan.json", "automap_plan.py"))
    with open(model, "w") as f:
        f.write(step.lower(*args).as_text())
    run(AUTOMAP, "plan", model, *MESH, *options, "--force", "-o", plan)
    run(AUTOMAP, "export", model, SLOW, "--plan", plan, "--format", "jax", "--force", "-o", code)
    planned = load(code)
    values = arrays(args, np.random.default_rng(0))
    copy = lambda: jax.tree.map(np.array, values)  # noqa: E731
    ready = planned.apply(step, *args)
    compiled = ready.lower(*args).compile()
    found = collections.Counter(re.findall(KINDS, compiled.as_text()))
    difference = worst(jax.jit(lambda *a: step(*a))(*copy()), ready(*ready.place(*copy())))
    assert difference < 1e-4, f"{name} {options}: numbers differ by {difference:.1e}"
    assert sum(found.values()), f"{name} {options}: nothing is communicated"
    with open(plan) as f:
        made = json.load(f)
    kept = any("passes" in d for i in made.get("instructions", []) for d in i["does"])
    if options == ["--optimum"]:  # sums that additions join
        kept = True
        assert sum(found.values()) == sum(c["count"] for c in made["collectives"]), f"{name} {options}: {dict(found)}"
    sums = zlib.decompress(base64.b64decode("".join(planned.PROGRAM.split()))).count(b"unreduced={")
    assert (sums > 0) == kept, f"{name} {options}: {sums} sums are kept apart"
    try:
        planned.apply(lambda *a: jax.tree.map(lambda x: x * 2, step(*a)), *args)
    except ValueError as refused:
        assert "the plan" in str(refused), refused
    else:
        raise AssertionError(f"{name}: another step was taken for the planned one")
    print(f"{name} {' '.join(options)}: {sums} sums kept apart, difference {difference:.1e}, {dict(found)}")


def refusals(folder):
    """Another program is refused by its first difference, be it a constant, an operand or a type; the same one, with locations, not."""
    import jax.numpy as jnp

    def step(rate, swap=False):
        return jax.jit(lambda w, x: w - rate * ((x @ w).T @ x if swap else x.T @ (x @ w)))

    shapes = lambda dtype=jnp.float32: (jax.ShapeDtypeStruct((16, 16), dtype), jax.ShapeDtypeStruct((16, 16), dtype))  # noqa: E731
    model, plan, code = (os.path.join(folder, f) for f in ("small.mlir", "small.json", "automap_plan.py"))
    with open(model, "w") as f:
        f.write(step(0.125).lower(*shapes()).as_text(debug_info=True))
    run(AUTOMAP, "plan", model, *MESH, "--optimum", "--force", "-o", plan)
    run(AUTOMAP, "export", model, SLOW, "--plan", plan, "--format", "jax", "--force", "-o", code)
    planned = load(code)
    planned.apply(step(0.125), *shapes())
    for other, args, first in ((step(0.25), shapes(), "dense<2.5"), (step(0.125, True), shapes(), "operation 0 of this step, stablehlo.dot_general"),
                               (step(0.125), shapes(jnp.bfloat16), "argument 0 of this step is bfloat16[16, 16], the plan is for")):
        try:
            planned.apply(other, *args)
        except ValueError as refused:
            assert first in str(refused), refused
        else:
            raise AssertionError(f"another program was taken: {first}")


def callbacks(folder):
    """A step that calls Python back is refused in a sentence, when the plan is exported and when it is applied."""
    import jax.numpy as jnp

    def step(w, x):
        jax.debug.print("{}", w[0, 0])
        return w - x.T @ (x @ w)

    shapes = [jax.ShapeDtypeStruct((16, 16), jnp.float32)] * 2
    model, plan, code = (os.path.join(folder, f) for f in ("calls.mlir", "calls.json", "automap_plan.py"))
    with open(model, "w") as f:
        f.write(jax.jit(step).lower(*shapes).as_text())
    run(AUTOMAP, "plan", model, *MESH, "--optimum", "--force", "-o", plan)
    said = run(AUTOMAP, "export", model, SLOW, "--plan", plan, "--format", "jax", "--force", "-o", code)
    assert "calls Python back" in said.stderr, said.stderr
    try:
        load(code).apply(step, *shapes)
    except ValueError as refused:
        assert "this step calls Python back" in str(refused), refused
    else:
        raise AssertionError("a step with a callback was exported")


def tied(folder):
    """An embedding that is looked up and multiplied with: what is scattered and the product are one sum, reduced once."""
    import jax.numpy as jnp

    loss = lambda e, i, y: jnp.mean((jnp.tanh(e[i]) @ e.T - y) ** 2)  # noqa: E731
    step = jax.jit(lambda e, i, y: e - 0.1 * jax.grad(loss)(e, i, y))
    rng = np.random.default_rng(1)
    args = (rng.standard_normal((32, 16)).astype("f4"), rng.integers(0, 32, 64).astype("i4"), rng.standard_normal((64, 32)).astype("f4"))
    model, plan, code = (os.path.join(folder, f) for f in ("tied.mlir", "tied.json", "automap_plan.py"))
    with open(model, "w") as f:
        f.write(step.lower(*args).as_text())
    run(AUTOMAP, "plan", model, *MESH, "--set", "#1:0=y", "--set", "#2:0=y", "--force", "-o", plan)
    run(AUTOMAP, "export", model, SLOW, "--plan", plan, "--format", "jax", "--force", "-o", code)
    ready = load(code).apply(step, *args)
    found = re.findall(KINDS, ready.lower(*args).compile().as_text())
    assert found == ["all-reduce"], found
    assert worst(step(*args), ready(*ready.place(*args))) < 1e-5
    tried = subprocess.run([sys.executable, code], capture_output=True, text=True)  # alone, as the file advises
    assert tried.returncode == 0 and tried.stdout.startswith("XLA compiles the planned step for 8 devices"), tried.stderr[-300:]


def libraries(folder):
    """What LAPACK is called with (layouts, configuration, attributes) says the same when it is written back: equal bit for bit."""
    import dataclasses

    import jax.numpy as jnp
    from jax._src.export import _export
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    rng = np.random.default_rng(2)
    wide = rng.standard_normal((8, 4)).astype("f4")
    square = wide @ wide.T + np.eye(8, dtype="f4")
    singular = lambda a: jnp.linalg.svd(a, full_matrices=False)  # noqa: E731
    steps = {"qr": (jnp.linalg.qr, wide), "svd": (singular, wide), "inv": (jnp.linalg.inv, square), "eigh": (jnp.linalg.eigh, square),
             "batch": (jnp.linalg.cholesky, np.stack([square, 2 * square])),
             "gradient": (jax.grad(lambda a: sum(jnp.sum(jnp.sin(x)) for x in jnp.linalg.qr(a))), wide)}
    for name, (function, array) in steps.items():
        step = jax.jit(function)
        text, back = (os.path.join(folder, f) for f in ("calls.mlir", "back.mlir"))
        with open(text, "w") as f:
            f.write(step.lower(array).as_text())
        run(AUTOMAP, "convert", text, back, "--force")
        with open(back) as f, mlir.make_ir_context():
            packed = _export._module_to_bytecode(ir.Module.parse(f.read()))
        again = dataclasses.replace(jax.export.export(step)(array), mlir_module_serialized=packed)
        for a, b in zip(jax.tree.leaves(step(array)), jax.tree.leaves(jax.jit(again.call)(array)), strict=True):
            assert np.array_equal(a, b), f"{name}: {np.abs(np.asarray(a) - np.asarray(b)).max()}"


def keys(folder):
    """Random keys of their own type among arguments and results, and a plain number."""
    import jax.numpy as jnp

    def step(w, key, x, rate):
        key, use = jax.random.split(key)
        h = x @ w
        return w - rate * x.T @ (h * jax.random.bernoulli(use, 0.5, h.shape)), key

    args = (np.ones((16, 16), "f4"), jax.random.key(3), np.random.default_rng(3).standard_normal((64, 16)).astype("f4"), 0.1)
    model, plan, code = (os.path.join(folder, f) for f in ("keys.mlir", "keys.json", "automap_plan.py"))
    with open(model, "w") as f:
        f.write(jax.jit(step).lower(*args).as_text())
    run(AUTOMAP, "plan", model, *MESH, "--set", "#2:0=y", "--force", "-o", plan)
    run(AUTOMAP, "export", model, SLOW, "--plan", plan, "--format", "jax", "--force", "-o", code)
    ready = load(code).apply(step, *args, check=True)
    (w, key), (wanted, next_) = ready(*ready.place(*args)), step(*args)
    assert jnp.array_equal(jax.random.key_data(key), jax.random.key_data(next_))
    assert worst(wanted, w) < 1e-5


def calls(folder):
    """Static arguments, keywords and a dataclass with a static field; an argument of which a part is donated by name."""
    import dataclasses
    import functools

    import jax.numpy as jnp

    @jax.tree_util.register_dataclass
    @dataclasses.dataclass
    class State:
        w: jax.Array
        count: jax.Array
        kind: str = dataclasses.field(default="sgd", metadata=dict(static=True))

    @functools.partial(jax.jit, static_argnums=1, static_argnames="act", donate_argnames="state")
    def step(state, depth, batch, *, rate, act="tanh"):
        def loss(w):
            h = batch["x"]
            for _ in range(depth):
                h = getattr(jnp, act)(h @ w)
            return jnp.mean((h - batch["y"]) ** 2)

        l, g = jax.value_and_grad(loss)(state.w)
        return dataclasses.replace(state, w=state.w - rate * g, count=state.count + 1), {state.kind: l}

    rng = np.random.default_rng(4)
    batch = {k: rng.standard_normal((64, 16)).astype("f4") for k in "xy"}
    fresh = lambda: State(np.eye(16, dtype="f4"), np.int32(0))  # noqa: E731
    model, plan, code = (os.path.join(folder, f) for f in ("calls.mlir", "calls.json", "automap_plan.py"))
    with open(model, "w") as f:
        f.write(step.lower(fresh(), 2, batch, rate=np.float32(0.1), act="sin").as_text())
    run(AUTOMAP, "plan", model, *MESH, "--set", "#2:0=y", "--force", "-o", plan)
    run(AUTOMAP, "export", model, SLOW, "--plan", plan, "--format", "jax", "--force", "-o", code)
    ready = load(code).apply(step, fresh(), 2, batch, rate=np.float32(0.1), act="sin", check=True)
    state, depth, rows, named = ready.place(fresh(), 2, batch, rate=np.float32(0.1), act="sin")
    assert (depth, named["act"]) == (2, "sin") and rows["x"].addressable_shards[0].data.shape == (16, 16), rows["x"].sharding
    wanted = step(fresh(), 2, batch, rate=np.float32(0.1), act="sin")
    assert worst(wanted, ready(state, depth, rows, **named)) < 1e-5
    assert state.w.is_deleted() and not rows["x"].is_deleted()
    assert " all-reduce(" in ready.lower(fresh(), 2, batch, rate=np.float32(0.1), act="sin").compile().as_text()
    for other, said in (((fresh(), 3, batch), "static argument 1 is 3, the plan is for 2"), ((fresh(), 2, batch["x"]), "the plan is for")):
        try:
            ready(*other, rate=np.float32(0.1), act="sin")
        except ValueError as refused:
            assert said in str(refused), refused
        else:
            raise AssertionError("other arguments were taken for the planned ones")


def branches(folder):
    """What both branches of a cond want whole is gathered once, before it, though one takes it alone and one among others."""
    import more_idioms  # noqa: F401
    import programs

    step, args = programs.PROGRAMS["nine_branches"]()
    model, plan, code = (os.path.join(folder, f) for f in ("branches.mlir", "branches.json", "automap_plan.py"))
    with open(model, "w") as f:
        f.write(step.lower(*args).as_text())
    run(AUTOMAP, "plan", model, *MESH, "--mode", "relaxed", "--force", "-o", plan)
    run(AUTOMAP, "export", model, SLOW, "--plan", plan, "--format", "jax", "--force", "-o", code)
    found = re.findall(KINDS, load(code).apply(step, *args).lower(*args).compile().as_text())
    with open(plan) as f:
        planned = json.load(f)["collectives"]
    assert [c["kind"] for c in planned] == found == ["all-gather"], (planned, found)


def main():
    with tempfile.TemporaryDirectory() as folder:
        refusals(folder)
        callbacks(folder)
        tied(folder)
        libraries(folder)
        keys(folder)
        calls(folder)
        branches(folder)
        for name, options in CASES:
            case(name, options, folder)


main()
