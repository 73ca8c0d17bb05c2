"""python tests/ref/batch/batch.py AUTOMAP [MODEL ...]   (needs jax 0.10)

Is a batch that `--batch` prices the same as one the model is written with? Every shipped model is written anew by
JAX with another batch, and its proven optimum (step, memory) on that file is held against the optimum of the shipped
file under --batch. Prints a row a case; fails when one differs by more than MOST."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "examples", "make"))
try:
    import jax
    from common import training_step
    from make import MODELS
except ImportError:
    sys.exit(77)

FACTORS, MOST = (2, 0.5), 0.01
NAMES = ["mlp", "resnet20", "moe", "decoder-scan", "vgg19", "t5-tiny", "t5-base6"]


def optimum(automap, model, size):
    """Step in ms and memory in bytes of the proven optimum on four V100."""
    plan = os.path.join(tempfile.gettempdir(), f"batch.{os.getpid()}.json")
    words = [automap, "plan", model, os.path.join(ROOT, "examples/clusters/v100-1x4.yaml"), "--optimum", "-o", plan, "--force"]
    subprocess.run(words + (["--batch", str(size)] if size else []), capture_output=True, check=True)
    with open(plan) as f:
        made = json.load(f)
    os.remove(plan)
    return made["step_time_ms"], made["memory"]["peak"]


def written(model, factor, path):
    """The model with `factor` times its batch, as JAX writes it; returns the samples."""
    grow = lambda s: jax.ShapeDtypeStruct((int(s.shape[0] * factor), *s.shape[1:]), s.dtype)
    sizes = {s.shape[0] for s in jax.tree_util.tree_leaves(model.batch)}
    assert len(sizes) == 1, "the batch is the first dim of every input"
    other = model._replace(batch=jax.tree_util.tree_map(grow, model.batch))
    step, args = training_step(other)
    with open(path, "w") as f:
        f.write(step.lower(*args).as_text(dialect="hlo"))
    return int(sizes.pop() * factor)


def main(automap, names):
    bad = cases = 0
    print(f"{'model':14} {'batch':>6} {'ms written':>12} {'ms priced':>12} {'differ':>8} {'GB written':>11} {'GB priced':>11} {'differ':>8}")
    for name in names or NAMES:
        for factor in FACTORS:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, f"{name}.hlo.txt")
                size = written(MODELS[name](), factor, path)
                a, b = optimum(automap, path, 0), optimum(automap, os.path.join(ROOT, f"examples/models/{name}.hlo.txt.gz"), size)
            step, memory = b[0] / a[0] - 1, b[1] / a[1] - 1
            cases += 1
            bad += max(abs(step), abs(memory)) > MOST
            print(f"{name:14} {size:6} {a[0]:12.3f} {b[0]:12.3f} {step:+8.2%} {a[1] / 1e9:11.4f} {b[1] / 1e9:11.4f} {memory:+8.2%}")
    print(f"{cases - bad} of {cases} within {MOST:.0%}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
