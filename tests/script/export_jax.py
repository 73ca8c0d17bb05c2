"""Pastes exported JAX code into training code and runs it: on simulated devices the distributed step must give the results of
the whole one, on the shipped models that are small enough, and its arguments must lie where the plan says.

    export_jax.py SOURCE AUTOMAP"""
import os
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
try:
    import jax
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SOURCE, AUTOMAP = sys.argv[1:3]
sys.path.insert(0, os.path.join(SOURCE, "examples/make"))
import common  # noqa: E402
import mlp  # noqa: E402
import t5  # noqa: E402

CASES = [
    ("mlp", "4", ["--set", "batch/*:0=1"]),
    ("mlp", "2x2", ["--set", "batch/*:0=x", "--set", "layer_0/kernel:1=y"]),
    ("t5-tiny", "data=2,model=2", ["--set", "batch/*:0=data", "--set", "*self/q/kernel:1=model", "--set", "*conv1/kernel:1=model"]),
    ("t5-tiny", "2", ["--set", "embedding:1=1"]),
]


def model_of(name):
    return mlp.mlp() if name == "mlp" else t5.t5(name)


def arrays(shapes, rng):
    """Small positive numbers: Adam takes square roots of its state."""
    def one(s):
        x = np.abs(rng.standard_normal(s.shape) * 0.1) if s.dtype.kind == "f" else rng.integers(0, 8, s.shape)
        return jax.numpy.asarray(np.asarray(x).astype(s.dtype))
    return jax.tree.map(one, shapes)


def snippet(model, mesh, options, folder):
    path = os.path.join(SOURCE, "examples/models", model + ".meta.hlo.txt.gz")
    plan, code = os.path.join(folder, "plan.json"), os.path.join(folder, "plan.py")
    n = int(np.prod([int(k.split("=")[-1]) for k in mesh.replace(",", "x").split("x")]))
    subprocess.run([AUTOMAP, "plan", path, "--devices", str(n), "--mesh", mesh, *options, "-o", plan], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([AUTOMAP, "export", path, "--plan", plan, "--format", "jax", "-o", code, "--force"], check=True)
    with open(code) as f:
        return f.read(), n


def check(name, mesh, options, folder):
    code, n = snippet(name, mesh, options, folder)
    # A mesh over part of the simulated devices: what a machine with n devices would have.
    devices = jax.devices()[:n]
    paste = {"__name__": "pasted"}
    exec(compile(code, "plan.py", "exec"), paste)
    make_mesh = paste["_mesh"]
    paste["_mesh"] = lambda: jax.sharding.Mesh(np.array(devices).reshape(make_mesh().devices.shape), make_mesh().axis_names)
    jitted, shapes = common.training_step(model_of(name))
    arguments = arrays(shapes, np.random.default_rng(0))
    want = jax.jit(jitted.__wrapped__)(*arguments)
    step = paste["distribute"](jitted.__wrapped__, *arguments)
    placed = paste["place"](*arguments)
    got = step(*placed)
    for (path, leaf), (row, shape, spec) in zip(jax.tree_util.tree_flatten_with_path(placed)[0], paste["ARGUMENTS"]):
        assert leaf.sharding.spec == spec, (row, leaf.sharding, spec)
        assert row.split("[")[-1] == jax.tree_util.keystr(path).split("[")[-1] or not path[1:], (row, path)
    worst = 0.0
    for a, b, x in zip(jax.tree.leaves(want), jax.tree.leaves(got), [*jax.tree.leaves(arguments), None]):
        a, b = np.asarray(a, "f8"), np.asarray(b, "f8")
        assert np.isfinite(a).all() and a.shape == b.shape
        worst = max(worst, float(np.abs(a - b).max() / (np.abs(a).max() + 1e-9)))
    split = sum(1 for _, _, spec in paste["ARGUMENTS"] if any(spec))
    assert split and worst < 1e-3, (split, worst)
    found = step.lower(*placed).compile().as_text().count(" all-reduce(")
    print(f"{name:8} {mesh:16} {split} of {len(paste['ARGUMENTS'])} arguments split, {found} all-reduces, results differ by {worst:.1e}")
    wrong = jax.tree.map(lambda s: s, shapes[:-1])
    try:
        paste["distribute"](jitted.__wrapped__, *wrong)
    except (ValueError, TypeError):
        return
    raise AssertionError("arguments of another step were taken")


with tempfile.TemporaryDirectory() as directory:
    for case in CASES:
        check(*case, directory)
