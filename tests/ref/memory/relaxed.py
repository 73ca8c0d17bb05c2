"""Memory of the best relaxed plans: ours against XLA's CPU compiler (memory scheduler), as engine/README.md has it.

The plans of tests/script/xla_agrees.py --relaxed ("best", devices of four speeds), exported with every partial result
combined at once, compiled for simulated devices; prints a row per plan. Needs jax 0.10:
    python tests/ref/memory/relaxed.py SOURCE AUTOMAP [MODEL,..] [MESH,..]
"""
import json
import os
import subprocess
import sys
import tempfile

SOURCE, AUTOMAP = sys.argv[1:3]
sys.path.insert(0, os.path.join(SOURCE, "tests/script"))
from xla_agrees import RELAXED_MODELS, relaxed_cases  # noqa: E402: also sets the flags of jax

MEASURE = os.path.join(SOURCE, "tests/ref/memory/memory.py")


def ours(case, folder):
    """The plan's own figures: arguments and peak, bytes of a device."""
    model = os.path.join(SOURCE, "examples/models", case.model + ".hlo.txt.gz")
    command = [AUTOMAP, "plan", model, *case.place(folder), "--mesh", case.mesh, "--divisibility", "exact", *case.options, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["memory"]


def main():
    models = sys.argv[3].split(",") if len(sys.argv) > 3 else RELAXED_MODELS
    meshes = sys.argv[4].split(",") if len(sys.argv) > 4 else ["4", "2x4"]
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            for mesh in meshes:
                for case in relaxed_cases(model, mesh):
                    if not case.name.startswith("best"):
                        continue
                    _, export = case.make(SOURCE, AUTOMAP, folder)
                    run = subprocess.run([sys.executable, MEASURE, "--one", export, str(case.n)], capture_output=True, text=True, check=True)
                    x, own = json.loads(run.stdout), ours(case, folder)
                    peak = x["arguments"] + x["outputs"] - x["aliased"] + x["temporaries"]
                    print(f"{model:13} {mesh:4} {case.name:25} {own['peak'] / 1e6:9.1f} MB, XLA {peak / 1e6:9.1f} MB, "
                          f"{100 * (own['peak'] / peak - 1):+6.1f} %", flush=True)


main()
