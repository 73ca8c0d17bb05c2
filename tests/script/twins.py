"""Pairs of StableHLO and HLO of one program: NAME.debug.mlir against NAME.debug.hlo.txt (parameters, variables, inputs, layers;
flops and the best plans, strict and relaxed, within 1 %), and XLA's own translation NAME.back.mlir against NAME.hlo.txt (every opcode).

    twins.py AUTOMAP FOLDER"""
import json
import os
import subprocess
import sys

AUTOMAP, FOLDER = sys.argv[1:3]
# Differences that are known to the last digit, and their causes. Any other one fails, and so does one that is gone.
EXPLAINED = {
    "constants-all": ("flops 97, 62", "two `not` of constants, 35 elements, which XLA folds"),
    "gather-scatter": ("relaxed 4.23125e-06, 4.17225e-06 ms", "a minimum of two scalar constants, which XLA folds: 59 ps"),
}
DEVICES = ["--devices", "8", "--mesh", "2x4", "--json"]
FLOWS = {"tuple", "get-tuple-element", "parameter", "constant"}


def inspect(name):
    done = subprocess.run([AUTOMAP, "inspect", os.path.join(FOLDER, name), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, f"{name}: {done.stderr}"
    return json.loads(done.stdout)


def step_time(name, *options):
    """Of the best plan; None of a program that cannot be planned."""
    done = subprocess.run([AUTOMAP, "plan", os.path.join(FOLDER, name), *DEVICES, *options], capture_output=True, text=True)
    return json.loads(done.stdout)["step_time_ms"] if not done.returncode else None


def optima_differ(name):
    for options in (["--optimum"], ["--mode", "relaxed"]):
        ours, theirs = step_time(f"{name}.debug.mlir.gz", *options), step_time(f"{name}.debug.hlo.txt.gz", *options)
        if (ours is None) != (theirs is None) or (ours is not None and abs(ours - theirs) > 0.01 * theirs):
            yield f"{options[-1]} {ours:.6g}, {theirs:.6g} ms"


def arrays(of, key):
    return [(v["parameter"], v["shape"]) for v in of[key]]


def differences(name):
    ours, theirs = inspect(f"{name}.debug.mlir.gz"), inspect(f"{name}.debug.hlo.txt.gz")
    for key in ("variables", "inputs"):
        if arrays(ours, key) != arrays(theirs, key):
            yield key
    if ours["parameters"] != theirs["parameters"]:
        yield "parameters"
    if [v["name"] for v in ours["layers"]] != [v["name"] for v in theirs["layers"]]:
        yield "layers"
    if abs(ours["flops"] - theirs["flops"]) > 0.01 * theirs["flops"]:
        yield f"flops {ours['flops']}, {theirs['flops']}"
    yield from optima_differ(name)
    if not os.path.exists(os.path.join(FOLDER, f"{name}.back.mlir.gz")):
        return
    back, plain = inspect(f"{name}.back.mlir.gz"), inspect(f"{name}.hlo.txt.gz")
    kinds = (set(back["opcodes"]) | set(plain["opcodes"])) - FLOWS
    for kind in sorted(k for k in kinds if back["opcodes"].get(k) != plain["opcodes"].get(k)):
        yield f"back: {kind} {back['opcodes'].get(kind)}, {plain['opcodes'].get(kind)}"


def main():
    names = sorted(f.split(".")[0] for f in os.listdir(FOLDER) if f.endswith(".debug.mlir.gz"))
    failed = 0
    for name in names:
        found, (known, why) = list(differences(name)), EXPLAINED.get(name, (None, None))
        failed += found != ([known] if known else [])
        print(f"{name}: {'; '.join(found) or 'alike'}" + (f" ({why})" if known in found else ""))
    sys.exit(bool(failed) or not names)


main()
