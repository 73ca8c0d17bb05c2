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


# A step whose examples are sequences: x [16, 32, 64], two layers, and its gradients.
LAYERS = 2
DEGREES = ("dp", "shard", "context", "tensor", "zero")
# Decisions, options, and what was asked for: data (replicas), data (sharded), sequence, tensor parallelism, ZeRO.
LAYOUTS = [
    (["#4:0=1"], [], (8, 1, 1, 1, 0)),
    (["#4:0=1"], ["--zero", "1"], (1, 8, 1, 1, 1)),
    (["#4:0=1"], ["--zero", "2"], (1, 8, 1, 1, 2)),
    (["#4:0=1"], ["--zero", "3"], (1, 8, 1, 1, 3)),
    (["#0:1=1"] + ["#2:1=1"], [], (1, 1, 1, 8, 0)),
    (["#4:0=x", "#0:1=y", "#2:1=y"], ["--mesh", "2x4"], (2, 1, 1, 4, 0)),
    (["#4:0=x", "#4:1=y"], ["--mesh", "2x4"], (2, 1, 4, 1, 0)),
    (["#4:1=x", "#0:1=y", "#2:1=y"], ["--mesh", "2x4"], (1, 1, 2, 4, 0)),
    (["#4:0=x", "#4:1=y", "#0:1=z", "#2:1=z"], ["--mesh", "2x2x2", "--zero", "3"], (1, 2, 2, 2, 3)),
]


def sequence_step():
    """StableHLO of sum((x + relu(x up) down - y)^2) and its gradient step, twice."""
    x, h = "tensor<16x32x64xf32>", "tensor<16x32x256xf32>"
    up, down = "tensor<64x256xf32>", "tensor<256x64xf32>"
    lines = ["%zero = stablehlo.constant dense<0.0> : tensor<f32>",
             f"%zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> {h}"]
    value, back = "%x", []
    for n in range(LAYERS):
        lines += [f"%a{n} = stablehlo.dot_general {value}, %up{n}, contracting_dims = [2] x [0] : ({x}, {up}) -> {h}",
                  f"%h{n} = stablehlo.maximum %a{n}, %zeros : {h}",
                  f"%b{n} = stablehlo.dot_general %h{n}, %down{n}, contracting_dims = [2] x [0] : ({h}, {down}) -> {x}",
                  f"%x{n} = stablehlo.add {value}, %b{n} : {x}"]
        back.append((n, value))
        value = f"%x{n}"
    lines += [f"%off = stablehlo.subtract {value}, %y : {x}", f"%square = stablehlo.multiply %off, %off : {x}",
              f"%loss = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : "
              f"({x}, tensor<f32>) -> tensor<f32>", f"%g{LAYERS} = stablehlo.add %off, %off : {x}"]
    for n, before in reversed(back):
        g = f"%g{n + 1}"
        lines += [f"%dd{n} = stablehlo.dot_general %h{n}, {g}, contracting_dims = [0, 1] x [0, 1] : ({h}, {x}) -> {down}",
                  f"%dh{n} = stablehlo.dot_general {g}, %down{n}, contracting_dims = [2] x [1] : ({x}, {down}) -> {h}",
                  f"%on{n} = stablehlo.compare GT, %a{n}, %zeros : ({h}, {h}) -> {h.replace('f32', 'i1')}",
                  f"%da{n} = stablehlo.select %on{n}, %dh{n}, %zeros : {h.replace('f32', 'i1')}, {h}",
                  f"%du{n} = stablehlo.dot_general {before}, %da{n}, contracting_dims = [0, 1] x [0, 1] : ({x}, {h}) -> {up}",
                  f"%dx{n} = stablehlo.dot_general %da{n}, %up{n}, contracting_dims = [2] x [1] : ({h}, {up}) -> {x}",
                  f"%g{n} = stablehlo.add {g}, %dx{n} : {x}",
                  f"%nu{n} = stablehlo.subtract %up{n}, %du{n} : {up}", f"%nd{n} = stablehlo.subtract %down{n}, %dd{n} : {down}"]
    layers = range(LAYERS)
    given = [f"%{name}{n}: {t} {{tf.aliasing_output = {2 * n + k} : i32}}" for n in layers for k, (name, t) in
             enumerate((("up", up), ("down", down)))]
    results = [v for n in layers for v in (f"%nu{n}", f"%nd{n}")]
    types = ", ".join([up, down] * LAYERS + ["tensor<f32>"])
    return (f"func.func @main({', '.join(given)}, %x: {x}, %y: {x}) -> ({types}) {{\n" + "\n".join(lines) +
            f"\nreturn {', '.join(results)}, %loss : {types}\n}}\n")


def degrees(folder):
    """Layouts made by hand: what --format flags recognises is what was asked for, in the words of each trainer."""
    model, file = os.path.join(folder, "sequence.mlir"), os.path.join(folder, "plan.json")
    with open(model, "w") as f:
        f.write(sequence_step())
    for sets, options, wanted in LAYOUTS:
        decided = [word for s in sets for word in ("--set", s)]
        run("plan", model, "--devices", "8", *decided, *options, "--force", "-o", file)
        text = run("export", model, "--plan", file, "--format", "flags")
        names = ("data_parallel_replicate_degree", "data_parallel_shard_degree", "context_parallel_degree", "tensor_parallel_degree", '"stage"')
        found = tuple(setting(text, name) for name in names)
        assert found == wanted, f"{sets} {options}: {dict(zip(DEGREES, found))}, asked for {wanted}"
        dp, shard, context, tensor, zero = wanted
        for name, degree in (("--tensor-model-parallel-size", tensor), ("--context-parallel-size", context), ("autotp_size", tensor),
                             ("ici_context_parallelism", context), ("ici_tensor_parallelism", tensor), ("model_axis_size", tensor),
                             ("ici_fsdp_parallelism", shard if zero == 3 else 1), ("ici_data_parallelism", 1 if zero == 3 else dp * shard)):
            assert setting(text, name) == degree, f"{sets} {options}: {name} is {setting(text, name)}, expected {degree}"
        alone = f"# ZeRO {zero} alone does not exist here: data_parallel_shard_degree is FSDP"
        assert (alone in text) == (zero in (1, 2)), f"{sets} {options}: what torchtitan cannot say"
        assert ("--use-distributed-optimizer" in text) == (zero > 0), f"{sets} {options}: Megatron's optimizer"


def main():
    with tempfile.TemporaryDirectory() as folder:
        degrees(folder)
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
