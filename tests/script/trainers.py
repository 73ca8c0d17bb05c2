"""A plan goes out as settings of trainers and as DTensor placements, comes back by --pins-from, and is the same plan; the degrees are
those that were asked for.

    trainers.py SOURCE AUTOMAP"""
import json
import os
import re
import subprocess
import sys
import tempfile

SOURCE, AUTOMAP = sys.argv[1:3]
DEVICES = ["--devices", "8", "--mesh", "2x4"]


def run(*command):
    done = subprocess.run([AUTOMAP, *command], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


def plan(model, *options):
    return json.loads(run("plan", model, *DEVICES, *options, "--json"))


def same(a, b):
    keys = ("step_time_ms", "collectives", "memory", "variable_dims", "partitioned")
    splits = lambda p: [v["split"] for v in p["variables"] + p["inputs"]]  # noqa: E731
    return all(a[k] == b[k] for k in keys) and splits(a) == splits(b)


def placements(made, names):
    """{name: placements} as the plan's own statuses have them."""
    found = {}
    for v in made["variables"] + made["inputs"]:
        found[v["name"]] = ["Replicate()"] * len(names)
        for dim, axes in enumerate(v["split"]):
            for axis in axes:
                found[v["name"]][names.index(axis)] = f"Shard({dim})"
    return found


def round_trip(name, folder, *options):
    model = os.path.join(SOURCE, "examples/models", f"{name}.hlo.txt.gz")
    batching = [o for o in options if o in ("--micro-batches", "--zero") or o.isdigit() and "--random" not in options]
    file, made = os.path.join(folder, "plan.json"), plan(model, *options)
    run("plan", model, *DEVICES, *options, "--force", "-o", file)
    for form in ("flags", "dtensor", "command"):
        out = os.path.join(folder, form)
        run("export", model, "--plan", file, "--format", form, "--force", "-o", out)
        assert same(made, plan(model, *batching, "--pins-from", out)), f"{name} {options} {form}: another plan comes back"
    with open(os.path.join(folder, "dtensor")) as f:
        told = {p["name"]: p["placements"] for p in json.load(f)["parameters"]}
    for parameter, wanted in placements(made, ["x", "y"]).items():
        assert told[parameter] == wanted, f"{name} {parameter}: {told[parameter]}, the plan has {wanted}"
    with open(os.path.join(folder, "flags")) as f:
        return f.read()


def setting(text, name):
    return int(re.search(name + r"\D*(\d+)", text)[1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("mlp", "t5-tiny", "moe"):
            for seed in ("1", "2"):
                round_trip(name, folder, "--random", seed)
        text = round_trip("mlp", folder, "--set", "batch*:0=x", "--set", "*layer_0*kernel:1=y", "--micro-batches", "2", "--zero", "1")
        for name, wanted in (("--tensor-model-parallel-size", 4), ("data_parallel_shard_degree", 2), ("tensor_parallel_degree", 4),
                             ('"stage"', 1), ('"gradient_accumulation_steps"', 2), ("ici_tensor_parallelism", 4),
                             ("ici_data_parallelism", 2), ("ici_context_parallelism", 1), ("model_axis_size", 4)):
            assert setting(text, name) == wanted, f"{name} is {setting(text, name)}, expected {wanted}"
        assert "kernel dim 1 -> tensor" in text, text
        bad = os.path.join(folder, "bad")
        with open(bad, "w") as f:
            f.write("garbage")
        done = subprocess.run([AUTOMAP, "plan", os.path.join(SOURCE, "examples/models/mlp.hlo.txt.gz"), "--pins-from", bad],
                              capture_output=True, text=True)
        assert done.returncode and "no decisions in it" in done.stderr, done.stderr


main()
