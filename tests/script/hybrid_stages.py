"""Do the modules of a hybrid plan's stages do what the plan says, and the program made of them what the whole step does?

Each module is handed to XLA on as many simulated CPU devices as its stage has; the collectives found right after partitioning
are compared with those planned in it, by kind and group of devices, count and bytes. Then the exported program for JAX runs a
step on random arguments, and its results are compared with those of the unsplit module: as part of how far each moved.

    hybrid_stages.py SOURCE AUTOMAP [--models NAME,..] [--plans K] [--no-run NAME,..]

SOURCE is the source tree, AUTOMAP the program. Exit 0: all agree, 1: some do not, 77: JAX is missing."""
import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from math import prod

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import xla_agrees as xla  # noqa: E402: sets up JAX's devices; ends with 77 without it
import jax  # noqa: E402
import numpy as np  # noqa: E402

# Devices (of the speed that makes splits pay, or a cluster's file), with options of the search: stages and micro-batches,
# replicas, tensor parallelism.
PLANS = {
    "mlp": [("slow", "--stages 2 --micro-batches 4 --tp 2"), ("slow", "--stages 3 --micro-batches 2"),
            ("v100-1x4", "--stages 2 --micro-batches 8 --schedule gpipe --recompute"),
            ("v100-1x4", "--stages 2 --micro-batches 2 --dp 2 --zero 2"), ("a100-1x8", "--stages 2 --micro-batches 4 --dp 2 --tp 2 --zero 3"),
            ("a-2x8-v100", "--stages 1 --tp 4 --dp 4 --micro-batches 2")],
    "t5-tiny": [("slow", "--stages 2 --micro-batches 4 --tp 2"), ("a100-1x8", "--stages 3 --micro-batches 2 --dp 2"),
                ("slow", "--stages 2 --micro-batches 2 --tp 4 --recompute --schedule 1f1b"),
                ("a100-1x8", "--stages 2 --micro-batches 2 --dp 4 --zero 2"), ("a100-1x8", "--stages 2 --micro-batches 2 --dp 2 --tp 2 --zero 3")],
    "moe": [("a100-1x8", "--stages 2 --micro-batches 2 --tp 4"), ("a100-1x8", "--stages 3 --micro-batches 4"),
            ("v100-1x4", "--stages 2 --micro-batches 4 --dp 2 --recompute"), ("a100-1x8", "--stages 2 --micro-batches 2 --dp 4 --zero 3")],
    "t5-base6": [("a100-1x8", "--stages 2 --micro-batches 2 --tp 4 --schedule 1f1b"), ("a100-1x8", "--uniform --chunks 2 --tp 2 --micro-batches 8"),
                 ("v100-1x4", "--stages 2 --micro-batches 4 --dp 2 --schedule 1f1b")],
    "bert48": [("a100-1x8", "--stages 2 --micro-batches 4 --tp 4 --schedule 1f1b"), ("a100-1x8", "--stages 3 --micro-batches 8 --schedule eager"),
               ("a100-1x8", "--uniform --stages 4 --tp 2 --micro-batches 8 --recompute --schedule 1f1b")],
    "vgg19": [("a100-1x8", "--stages 2 --micro-batches 4 --dp 4")],
    "resnet20": [("v100-1x4", "--stages 2 --micro-batches 1")],
    "dropout": [("v100-1x4", "--stages 2 --micro-batches 4 --dp 2"), ("slow", "--stages 2 --micro-batches 2 --tp 2"),
                ("slow", "--stages 2 --micro-batches 1 --tp 2"), ("v100-1x4", "--stages 2 --micro-batches 1 --dp 2"),
                ("a100-1x8", "--stages 3 --micro-batches 1 --dp 2 --recompute")],
    "samples": [("v100-1x4", "--stages 2 --micro-batches 4 --dp 2"), ("slow", "--stages 2 --micro-batches 2 --tp 2"),
                ("a100-1x8", "--stages 3 --micro-batches 8 --dp 2 --recompute")],
    "stack": [("slow", "--stages 2 --micro-batches 1 --tp 2"), ("v100-1x4", "--stages 2 --micro-batches 2 --dp 2"),
              ("a100-1x8", "--stages 3 --micro-batches 4 --dp 2 --recompute")],
    "depthwise": [("slow", "--stages 2 --micro-batches 2 --dp 2 --tp 2"), ("slow", "--stages 2 --micro-batches 4 --tp 2 --zero 3"),
                  ("a100-1x8", "--stages 2 --micro-batches 2 --dp 2 --tp 2 --recompute")],
    "private": [("a100-1x8", "--stages 2 --micro-batches 1 --dp 2 --tp 2"), ("slow", "--stages 2 --micro-batches 1 --dp 4")],
    "clipped": [("slow", "--stages 2 --micro-batches 4 --tp 2"), ("v100-1x4", "--stages 2 --micro-batches 2 --dp 2 --zero 2"),
                ("a100-1x8", "--stages 3 --micro-batches 4 --dp 2 --recompute")],
    "recurrent": [("v100-1x4", "--stages 2 --cut layer_2 --micro-batches 4 --dp 2"), ("slow", "--stages 2 --cut layer_2 --micro-batches 1 --tp 2"), ("v100-1x4", "--stages 2 --cut layer_2 --micro-batches 1 --dp 2 --zero 3"),
                  ("a100-1x8", "--stages 3 --cut layer_1 --cut layer_2 --micro-batches 1 --tp 2 --recompute")],
}
SLOW = xla.CLUSTER.format(n=8, **xla.SPEEDS["very slow devices"])


def planned(module, sizes):
    """As xla.planned: {(kind, groups): (count, bytes)}."""
    axes = [{"name": n, "size": k} for n, k in zip("xy", sizes)]
    return xla.planned({"axes": axes, "collectives": module["collectives"]})


def check_modules(plan, folder):
    """(modules, collectives, bytes, what is wrong)."""
    wrong, count, size, modules = [], 0, 0.0, 0
    for m in plan["modules"]:
        sizes = plan["stages"][m["stage"]]["axes"]
        n = prod(sizes)
        modules += 1
        if n == 1:
            if m["collectives"]:
                wrong.append(f"{m['pass']} of stage {m['stage']}: collectives on one device")
            continue
        path = os.path.join(folder, "module.hlo")
        with open(path, "w") as f:
            f.write(m["hlo"])
        want = planned(m, sizes)
        try:
            got = xla.collectives(xla.partition(path, n), n)
        except RuntimeError as error:
            wrong.append(f"{m['pass']} of stage {m['stage']}: {str(error)[:300]}")
            continue
        if got != want:
            for key in sorted(set(got) | set(want), key=str):
                if got.get(key) != want.get(key):
                    wrong.append(f"{m['pass']} of stage {m['stage']}: {key[0]} over {len(key[1][0]) if key[1] else 0} devices: "
                                 f"planned {want.get(key)}, XLA {got.get(key)}")
        count += sum(c for c, _ in want.values())
        size += sum(b for _, b in want.values())
    return modules, count, size, wrong


def run(program, whole):
    """Largest difference of a result, as part of how far it moved from its nearest equal-shaped argument."""
    spec = importlib.util.spec_from_file_location("exported", program)
    exported = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(exported)
    inputs = xla.random_inputs(whole)
    step = exported.Step()
    got = [np.asarray(x) for x in step(*inputs)]
    devices = jax.devices()
    with open(whole) as f:
        one = xla.compile_text(xla.without_shardings(f.read()), 1, None)
    want = [np.asarray(r[0]) for r in one.execute_sharded(
        [jax.device_put(x, devices[0]) for x in inputs]).disassemble_into_single_device_arrays()]
    assert len(got) == len(want), (len(got), len(want))
    worst = 0.0
    for w, g in zip(want, got):
        assert w.shape == g.shape, (w.shape, g.shape)
        assert np.isfinite(w).all() and np.isfinite(g).all(), "a result is not finite"
        if w.dtype.kind != "f":
            assert (w == g).all(), "whole numbers differ"
            continue
        moved = [float(np.abs(w - x).max()) for x in inputs if x.shape == w.shape and x.dtype == w.dtype]
        scale = min([m for m in moved if m > 0], default=float(np.abs(w).max()) or 1.0)
        noise = 4 * np.finfo("f4").eps * float(np.abs(w).max())
        worst = max(worst, max(0.0, float(np.abs(w - g).max()) - noise) / scale)
    return float(worst)


def run_apart(program, whole):
    r = subprocess.run([sys.executable, os.path.abspath(__file__), "--run-one", program, whole], capture_output=True, text=True)
    return r.stdout.strip() if r.returncode == 0 else "failed: " + (r.stderr.strip().splitlines() or ["no message"])[-1][:300]


def main():
    if sys.argv[1:2] == ["--run-one"]:
        print(repr(run(*sys.argv[2:])))
        return 0
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("source")
    p.add_argument("automap")
    p.add_argument("--models", default="mlp,t5-tiny,moe")
    p.add_argument("--plans", type=int, default=5)
    p.add_argument("--no-run", default="")
    a = p.parse_args()
    failed = done = equal = 0
    print("| model | cluster, options | stages | modules | collectives | bytes | XLA | results differ by | s |\n|---|---|---|---|---|---|---|---|---|")
    for name in a.models.split(","):
        for cluster, options in PLANS[name][:a.plans]:
            with tempfile.TemporaryDirectory() as folder:
                began = time.time()
                file = lambda x: os.path.join(folder, x)  # noqa: E731
                model = os.path.join(a.source, "examples/models", name + ".hlo.txt.gz")
                if not os.path.exists(model):  # small ones with loops, for this test alone
                    model = os.path.join(a.source, "tests/ref/stages", name + ".hlo.gz")
                with open(file("slow.yaml"), "w") as f:
                    f.write(SLOW)
                where = [model, file("slow.yaml") if cluster == "slow" else
                         os.path.join(a.source, "examples/clusters", cluster + ".yaml")]
                exact = ["--divisibility", "exact"]
                def call(*words):
                    r = subprocess.run([a.automap, *words], capture_output=True, text=True)
                    assert r.returncode == 0, (words, r.stderr)
                call("search", *where, *exact, "--kind", "hybrid", *options.split(), "--plan", file("plan.json"))
                call("export", *where, *exact, "--plan", file("plan.json"), "--format", "stages", "-o", file("stages.json"))
                call("export", *where, *exact, "--plan", file("plan.json"), "--format", "jax", "-o", file("step.py"))
                with open(file("stages.json")) as f:
                    plan = json.load(f)
                modules, count, size, wrong = check_modules(plan, folder)
                differ = "not run"
                if name not in a.no_run.split(","):
                    call("convert", model, file("whole.hlo"))
                    differ = run_apart(file("step.py"), file("whole.hlo"))
                bad = bool(wrong) or not (differ == "not run" or (differ[0].isdigit() and float(differ) < xla.ATOL_OF_CHANGE))
                done, equal, failed = done + modules, equal + modules - len({w.split(":")[0] for w in wrong}), failed + bad
                meshes = " ".join("x".join(map(str, s["axes"])) + ("r" if s["recompute"] else "") for s in plan["stages"])
                print(f"| {name} | {cluster} {options} | {meshes} | {modules} | {count} | {size:,.0f} | "
                      f"{'equal' if not wrong else 'other'} | {differ} | {time.time() - began:.0f} |", flush=True)
                for w in wrong[:12]:
                    print("   ", w)
    print(f"{equal} of {done} modules as planned; {failed} plans failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
