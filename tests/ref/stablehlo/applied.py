"""Plans through the exported Python file, on simulated devices: are the numbers those of the step that is not split, and are the
collectives the planned ones (kind, groups, count, bytes)?

    applied.py AUTOMAP [--compile-only] MODEL .. : CASE ..

$AUTOMAP_CLUSTER: a cluster of 8 devices in place of the default ones. MODEL: one of examples/make or of programs.py beside this
file. CASE: strict, relaxed (partial sums kept), at-once, random1, random2, ... A process each, for XLA aborts on some modules. A
reduce-scatter shows on a CPU as an all-reduce and a slice."""
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../../..")
DEVICES = ["--devices", "8", "--mesh", "2x4", "--divisibility", "exact"]
# Of a strict plan XLA joins all-reduces whose sum is taken after it has partitioned: counted is what the partitioner inserts.
CASES = {"strict": ["--optimum", "--reduce-at-once"], "relaxed": ["--mode", "relaxed"]}
CASES |= {"at-once": ["--mode", "relaxed", "--reduce-at-once"]}
CASES |= {f"random{n}": ["--random", str(n), "--reduce-at-once"] for n in range(1, 10)}
LARGEST_RUN = 1 << 28  # bytes of arguments


def source(name):
    """A jitted step and its arguments."""
    sys.path[:0] = [HERE, os.path.join(ROOT, "examples/make")]
    import programs

    if name in programs.PROGRAMS:
        return programs.PROGRAMS[name]()
    import common
    import make

    return common.training_step(make.MODELS[name]())


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[1:3])}: {done.stderr.strip()[:300]}")
    return done.stderr


def load(path):
    spec = importlib.util.spec_from_file_location("automap_plan", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def partitioned(folder):
    """The module right after partitioning: the largest, for what places arguments is compiled, too."""
    names = [f for f in os.listdir(folder) if "after_spmd-partitioning" in f and f.endswith(".txt")]
    return max((open(os.path.join(folder, f)).read() for f in names), key=len, default="")


def child(automap, name, case, folder, compile_only):
    import jax
    import numpy as np

    jax.devices()  # now, with our flags: xla_agrees sets its own
    sys.path.insert(0, os.path.join(ROOT, "tests/script"))
    import xla_agrees

    step, args = source(name)
    model, plan_file, code = (os.path.join(folder, f) for f in ("step.mlir", "plan.json", "automap_plan.py"))
    with open(model, "w") as f:
        f.write(step.lower(*args).as_text())
    speed = os.environ.get("AUTOMAP_CLUSTER")
    cluster = [speed] if speed else []
    devices = DEVICES[2:] if speed else DEVICES
    run(automap, "plan", model, *cluster, *devices, *CASES[case], "-o", plan_file)
    said = run(automap, "export", model, *cluster, "--plan", plan_file, "--format", "jax", "--force", "-o", code)
    with open(plan_file) as f:
        plan = json.load(f)
    planned = load(code)
    ready = planned.apply(step, *args)
    ready.jitted.lower(*args).compile()
    text = partitioned(os.path.join(folder, "dump"))
    found = xla_agrees.collectives(text, 8)
    kept = case == "relaxed"
    wanted = xla_agrees.planned(scatters_as_reduces(plan)) if kept else xla_agrees.as_xla_does(plan)[0]
    row = {"model": name, "case": case, "planned": xla_agrees.totals(wanted), "found": xla_agrees.totals(found)}
    # What the plan scatters is whole on a CPU, so that a gather behind it is along other axes: kinds, counts and bytes then.
    row["agree"] = wanted == found or (kept and row["planned"] == row["found"])
    row["said"] = said.strip()
    bytes_ = sum(int(np.prod(a.shape)) * a.dtype.itemsize for a in jax.tree.leaves(args))
    if not compile_only and bytes_ <= LARGEST_RUN:
        row["difference"] = difference(step, ready, args)
    return row


def scatters_as_reduces(plan):
    rows = [dict(c, kind="all-reduce") if c["kind"] == "reduce-scatter" else c for c in plan["collectives"]]
    return dict(plan, collectives=rows)


def difference(step, ready, args):
    """Largest difference of a result, as part of that result's size."""
    import jax
    import numpy as np

    rng = np.random.default_rng(0)

    def value(path, s):
        """Small numbers; positive ones where an optimizer or a batch norm takes square roots."""
        if np.dtype(s.dtype).kind in "iub":
            return rng.integers(0, 2, s.shape).astype(s.dtype)
        x = rng.standard_normal(s.shape) * 0.1
        positive = re.search(r"nu\b|\['v'\]|var|\bv_|\[1\]\[\d+\]$", jax.tree_util.keystr(path))
        return (np.abs(x) if positive else x).astype(s.dtype)

    values = jax.tree_util.tree_map_with_path(value, args)
    copies = lambda: jax.tree.map(np.array, values)  # noqa: E731
    whole = jax.tree.leaves(jax.jit(lambda *a: step(*a))(*copies()))
    split = jax.tree.leaves(ready(*ready.place(*copies())))
    worst = 0.0
    for a, b in zip(whole, split, strict=True):
        a, b = (np.asarray(x).astype(np.complex128) for x in (a, b))
        if not a.size:
            continue
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            return float("nan")
        a, b = np.nan_to_num(a), np.nan_to_num(b)
        worst = max(worst, float(np.abs(a - b).max() / (np.abs(a).max() + 1e-30)))
    return worst


def judge(automap, name, case, compile_only):
    with tempfile.TemporaryDirectory() as folder:
        flags = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
        flags += f" --xla_dump_to={folder}/dump --xla_dump_hlo_pass_re=spmd-partitioning"
        env = dict(os.environ, JAX_PLATFORMS="cpu", XLA_FLAGS=flags, TF_CPP_MIN_LOG_LEVEL="3", PYTHONDONTWRITEBYTECODE="1")
        command = [sys.executable, os.path.abspath(__file__), "--child", automap, name, case, folder, str(int(compile_only))]
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=900)
        except subprocess.TimeoutExpired:
            return {"model": name, "case": case, "error": "more than 900 s"}
    rows = [line for line in done.stdout.splitlines() if line.startswith('{"model"')]
    if rows:
        return json.loads(rows[-1])
    said = [line for line in done.stderr.strip().splitlines() if line.strip()]
    reason = next((s for s in reversed(said) if re.search(r"Error|Check failed|refused|cannot", s)), said[-1] if said else "")
    return {"model": name, "case": case, "error": f"exit {done.returncode}: {reason[:300]}"}


def verdict(row):
    if "error" in row:
        return row["error"]
    number = f"{row['difference']:.1e}" if "difference" in row else "not run"
    if row["agree"]:
        return f"agree {sum(c for c, _ in row['found'].values())} {number}"
    return f"differ planned {row['planned']} found {row['found']} {number}"


def main():
    if sys.argv[1] == "--child":
        automap, name, case, folder, compile_only = sys.argv[2:]
        print(json.dumps(child(automap, name, case, folder, compile_only == "1")))
        return
    automap, *rest = sys.argv[1:]
    compile_only = "--compile-only" in rest
    rest = [r for r in rest if r != "--compile-only"]
    names, cases = rest[: rest.index(":")], rest[rest.index(":") + 1:]
    good = 0
    for name in names:
        for case in cases:
            row = judge(automap, name, case, compile_only)
            ok = row.get("agree", False) and not row.get("difference", 0) > 1e-4
            good += ok
            print(f"{name} {case}: {verdict(row)}", flush=True)
    print(f"{good} of {len(names) * len(cases)}")
    sys.exit(good < len(names) * len(cases))


main()
