"""Pairs of StableHLO and HLO of one program: NAME.debug.mlir against NAME.debug.hlo.txt, NAME.mlir against NAME.hlo.txt (parameters,
variables, inputs, layers, groups of variables, the phases' shares; flops and the best plans, strict and relaxed, on fast devices and
on slow ones, within 1 %; without locations layers by what is in them), NAME.generic.mlir against NAME.mlir (all of it), and XLA's
own translation NAME.back.mlir against NAME.hlo.txt (every opcode, flops to the last).

    twins.py AUTOMAP FOLDER"""
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile

AUTOMAP, FOLDER = sys.argv[1:3]
# Differences that are known, and their causes. Any other one fails, and so does one that is gone.
EXPLAINED = {
    "complex-fft": ("plain: layers", "XLA's text has no layers; where nothing is named two alike stretches are taken for some"),
    # Of programs that this machine's jax prints, so without digits.
    "optax_accum": ("slow optimum * ms; slow relaxed * ms; plain: layers", "XLA's text makes zeros twice, for a branch that it takes in; ours once: 1.3 us"),
    "flax_lstm_scan": ("plain: layers", "without names one of four recurrent loops counts to the layer before, an LSTM, here, to its own GRU in XLA's text"),
    "vmap_jvp": ("plain: phases *", "without names phases are by data flow: XLA's text has a tenth of the backward pass in the forward; with names both say 49.6 %"),
    "special": ("slow optimum * ms; slow relaxed * ms", "long functions, such as lgamma, are one operation here and 100 in XLA's text, some to memory"),
}
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
MESH = ["--mesh", "2x4", "--json"]
CLUSTERS = {"": ["--devices", "8"], "slow ": [os.path.join(ROOT, "tests/ref/stablehlo/slow-8.yaml")]}
FLOWS = {"tuple", "get-tuple-element", "parameter", "constant"}


def inspect(name):
    done = subprocess.run([AUTOMAP, "inspect", os.path.join(FOLDER, name), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, f"{name}: {done.stderr}"
    return json.loads(done.stdout)


def plan(name, *options):
    """None of a program that cannot be planned."""
    done = subprocess.run([AUTOMAP, "plan", os.path.join(FOLDER, name), *options, *MESH], capture_output=True, text=True)
    return json.loads(done.stdout) if not done.returncode else None


def optima_differ(ours, theirs):
    """Of two files: step times of the best plans."""
    for cluster, given in CLUSTERS.items():
        for options in (["--optimum"], ["--mode", "relaxed"]):
            plans = [plan(name, *given, *options) for name in (ours, theirs)]
            a, b = (p and p["step_time_ms"] for p in plans)
            SEEN["split"] += bool(plans[0] and plans[0]["collectives"])
            if (a is None) != (b is None) or (a is not None and abs(a - b) > 0.01 * b):
                yield f"{cluster}{options[-1].strip('-')} {a:.6g}, {b:.6g} ms"


def groups(name):
    """Which variables' dims are split with each other: of each group its members, by number and dim."""
    known, of = [], plan(name, *CLUSTERS[""])
    for v in of["variables"] if of else []:
        for dim in range(len(v["split"])):
            if any((v["parameter"], dim) in g for g in known):
                continue
            split = plan(name, *CLUSTERS[""], "--set", f"#{v['parameter']}:{dim}=1")
            if split:
                known.append({(w["parameter"], d) for w in split["variables"] for d, axes in enumerate(w["split"]) if axes})
    return sorted(sorted(g) for g in known)


def shares(name):
    """Of the phases, in 1/10 %."""
    said = subprocess.run([AUTOMAP, "inspect", os.path.join(FOLDER, name)], capture_output=True, text=True).stdout
    return {phase: float(share) for phase, share in re.findall(r"(\w+) +([0-9.]+) % of the FLOP$", said, re.M)}


def nameless(name, folder):
    """A copy of the HLO without the names that plain StableHLO does not have."""
    path = os.path.join(folder, "nameless.hlo")
    subprocess.run([AUTOMAP, "convert", os.path.join(FOLDER, name), path, "--no-metadata"], check=True)
    with open(path) as f:
        text = f.read()
    new = {old: f"v.{n}" for n, old in enumerate(re.findall(r"^ +(?:ROOT )?(\S+) = ", text, re.M))}
    text = re.sub(r"[\w.-]+(?!\()", lambda m: new.get(m[0], m[0]), text)
    with open(path, "w") as f:
        f.write(text)
    return path


def arrays(of, key):
    return [(v["parameter"], v["shape"]) for v in of[key]]


def layers_alike(ours, theirs, by_name):
    """Plain StableHLO knows a path of a result where HLO knows the argument's: what stands in each layer, then, in its order."""
    if by_name:
        return [v["name"] for v in ours] == [v["name"] for v in theirs]
    near = lambda a, b: abs(a["flops"] - b["flops"]) <= 0.05 * b["flops"] and a["times"] == b["times"]  # noqa: E731
    return len(ours) == len(theirs) and all(map(near, ours, theirs))


def twins_differ(ours, theirs, by_name=True):
    a, b = inspect(ours), inspect(theirs)
    for key in ("variables", "inputs"):
        if arrays(a, key) != arrays(b, key):
            yield key
    if a["parameters"] != b["parameters"]:
        yield "parameters"
    if not layers_alike(a["layers"], b["layers"], by_name):
        yield "layers"
    if abs(a["flops"] - b["flops"]) > 0.01 * b["flops"]:
        yield f"flops {a['flops']}, {b['flops']}"
    phases, wanted = shares(ours), shares(theirs)
    if any(abs(phases.get(p, 0) - wanted.get(p, 0)) > 1 for p in phases | wanted):
        yield f"phases {phases}, {wanted}"
    found = groups(ours)
    SEEN["groups"] += len(found)
    if found != groups(theirs):
        yield "groups"
    yield from optima_differ(ours, theirs)


def differences(name):
    """Each once: of the pair with locations, and what the plain pair has beyond it."""
    found = list(twins_differ(f"{name}.debug.mlir.gz", f"{name}.debug.hlo.txt.gz"))
    yield from found
    if os.path.exists(os.path.join(FOLDER, f"{name}.mlir.gz")):
        with tempfile.TemporaryDirectory() as folder:
            # JAX's paths of results name some arguments, HLO names all.
            plain = twins_differ(f"{name}.mlir.gz", f"{name}.hlo.txt.gz", False)
            bare = list(twins_differ(f"{name}.mlir.gz", nameless(f"{name}.hlo.txt.gz", folder), False))
            yield from (f"plain: {d}" for d in plain if d in bare and d not in found)
    if os.path.exists(os.path.join(FOLDER, f"{name}.generic.mlir.gz")):
        forms = [inspect(f"{name}.{form}.gz") for form in ("generic.mlir", "mlir")]
        if any(forms[0][key] != forms[1][key] for key in forms[0] if key != "loss"):  # that has the number of an instruction
            yield "generic form"
    if os.path.exists(os.path.join(FOLDER, f"{name}.back.mlir.gz")):
        yield from back_differs(name)


def back_differs(name):
    back, plain = inspect(f"{name}.back.mlir.gz"), inspect(f"{name}.hlo.txt.gz")
    kinds = (set(back["opcodes"]) | set(plain["opcodes"])) - FLOWS
    for kind in sorted(k for k in kinds if back["opcodes"].get(k) != plain["opcodes"].get(k)):
        yield f"back: {kind} {back['opcodes'].get(kind)}, {plain['opcodes'].get(kind)}"
    for key in ("flops", "transcendentals"):
        if back[key] != plain[key]:
            yield f"back: {key} {back[key]}, {plain[key]}"


SEEN = {"groups": 0, "split": 0}  # so that a test of nothing is seen


def main():
    names = sorted(f.split(".")[0] for f in os.listdir(FOLDER) if f.endswith(".debug.mlir.gz"))
    failed = 0
    for name in names:
        found, (known, why) = list(differences(name)), EXPLAINED.get(name, (None, None))
        found = "; ".join(found)
        is_known = fnmatch.fnmatchcase(found, known or "")
        failed += not is_known
        print(f"{name}: {found or 'alike'}" + (f" ({why})" if known and is_known else ""))
    print(f"{SEEN['groups']} groups of variables, {SEEN['split']} best plans with collectives")
    sys.exit(bool(failed) or not names or not all(SEEN.values()))


main()
