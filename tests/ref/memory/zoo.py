"""Memory of one device for models nobody here wrote: ours against XLA's CPU compiler (memory scheduler).

Every model under a folder of frameworks (as tests/script/xla_zoo.py takes it) and every shipped one, whole on one device, by
the proven optimum and by the best relaxed plan on four slow ones: exported, compiled, compared. Prints a row a plan, then how
many are within 20 % and the largest shortfall by kind of plan. Needs jax 0.10:
    python tests/ref/memory/zoo.py SOURCE AUTOMAP ZOO [--models PART,..] [--plans whole,optimum,relaxed] [--out FILE]
                                   [--cache DIR]
What XLA made of a module is kept under its hash, so only what changed is compiled again.
"""
import argparse
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../script"))
import xla_agrees as xla  # noqa: E402: also sets the flags of jax
import xla_zoo  # noqa: E402

SECONDS = 300
PLANS = {"whole": ("1", []), "optimum": ("4", ["--optimum"]), "relaxed": ("4", ["--mode", "relaxed"])}


def shipped(source):
    for path in sorted(glob.glob(os.path.join(source, "examples/models/*.hlo.txt.gz"))):
        if ".meta." not in path:
            yield "shipped", os.path.basename(path).split(".")[0], path, None


def compiled(export, n, cache):
    """What XLA's compiler says of an exported module, or why it says nothing; from the cache when it is known."""
    with open(export, "rb") as f:
        known = os.path.join(cache, hashlib.sha256(f"{n} ".encode() + f.read()).hexdigest() + ".json") if cache else None
    if known and os.path.exists(known):
        with open(known) as f:
            return json.load(f)
    try:
        found = subprocess.run([sys.executable, os.path.join(HERE, "memory.py"), "--one", export, str(n)],
                               capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"XLA took over {SECONDS} s"
    answer = "XLA: " + found.stderr.strip().split("\n")[-1][:80] if found.returncode else json.loads(found.stdout)
    if known:
        os.makedirs(cache, exist_ok=True)
        with open(known, "w") as f:
            json.dump(answer, f)
    return answer


def measure(automap, path, variables, plan, cache):
    """(ours, XLA's) in bytes; a word when there is no such plan."""
    mesh, options = PLANS[plan]
    with tempfile.TemporaryDirectory() as folder:
        case = xla.Case("", mesh, plan, options, xla.SPEEDS["slow devices"])
        given = ["--vars", xla_zoo.numbers(variables, folder)] if variables else []
        base, plan_file, export = [path, *case.place(folder), *given], os.path.join(folder, "p"), os.path.join(folder, "m.hlo")
        how = ["--mesh", mesh, "--divisibility", "exact", "--reduce-at-once", "--memory-limit", "none", *options]
        r = subprocess.run([automap, "plan", *base, *how, "-o", plan_file, "--json"], capture_output=True, text=True)
        if r.returncode:
            return r.stderr.strip().split("\n")[0][:80]
        ours = json.loads(r.stdout)["memory"]["peak"]
        r = subprocess.run([automap, "export", *base, "--plan", plan_file, "--force", "-o", export], capture_output=True, text=True)
        if r.returncode:
            return r.stderr.strip().split("\n")[0][:80]
        x = compiled(export, case.n, cache)
    if isinstance(x, str):
        return x
    return ours, x["arguments"] + x["outputs"] - x["aliased"] + x["temporaries"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("automap")
    parser.add_argument("zoo")
    parser.add_argument("--models")
    parser.add_argument("--plans", default=",".join(PLANS))
    parser.add_argument("--out", help="a JSON line per plan")
    parser.add_argument("--cache", help="a folder for what XLA made")
    args = parser.parse_args()
    wanted = args.models.split(",") if args.models else [""]
    off = {plan: [] for plan in args.plans.split(",")}
    out = open(args.out, "w") if args.out else None
    for framework, name, path, variables in [*xla_zoo.models_of(args.zoo), *shipped(args.source)]:
        if not any(part in f"{framework}/{name}" for part in wanted):
            continue
        for plan in off:
            found = measure(args.automap, path, variables, plan, args.cache)
            if isinstance(found, str):
                print(f"{framework}/{name:32} {plan:8} left out: {found}", flush=True)
                continue
            ours, theirs = found
            off[plan].append(ours / theirs - 1)
            print(f"{framework}/{name:32} {plan:8} {ours / 1e6:10.2f} MB, XLA {theirs / 1e6:10.2f} MB, {100 * off[plan][-1]:+6.1f} %",
                  flush=True)
            if out:
                print(json.dumps(dict(framework=framework, model=name, plan=plan, ours=ours, xla=theirs)), file=out, flush=True)
    for plan, found in off.items():
        if found:
            near = sum(abs(x) <= 0.2 for x in found)
            print(f"{plan:8} {near} of {len(found)} within 20 %, from {100 * min(found):+.1f} to {100 * max(found):+.1f} %")


main()
