#!/usr/bin/env python3
"""Do plans of models nobody here wrote mean what XLA does? Every model under a folder of frameworks is planned (the proven
optimum, random strict plans, the best relaxed plan, a padded one), exported and partitioned by XLA. A plan *agrees* when the
partitioner inserts its collectives: kind, groups, count and bytes. It is *announced* when it does not, and export warned about
it beforehand, naming an instruction. Else it *misses*.

    xla_zoo.py SOURCE AUTOMAP ZOO [--models PART,..] [--meshes 4,2x4,..] [--plans optimum,relaxed,..] [--random N]
               [--jobs 2] [--cache DIR] [--show N] [--out FILE]

ZOO holds FRAMEWORK/NAME.*hlo.gz, and FRAMEWORK/NAME.vars.txt with the numbers of the trainable parameters. What XLA made
of a module is kept under its hash, so only what changed is partitioned again.
Exit 0: all agree or are announced, 1: some miss, 77: JAX is missing."""
import argparse
import concurrent.futures
import glob
import gzip
import hashlib
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import xla_agrees as xla  # noqa: E402: exits 77 without JAX

MESHES = ["4", "8", "2x2", "2x4"]
KINDS_OF_PLAN = ["optimum", "random", "relaxed", "padded"]
SLOW = xla.SPEEDS["slow devices"]


def options_of(kind, seed):
    exact = ["--divisibility", "exact", "--reduce-at-once"] # sums are joined by a later pass
    return {"optimum": [*exact, "--optimum"], "random": [*exact, "--random", str(seed)],
            "relaxed": [*exact, "--mode", "relaxed"],
            "padded": ["--divisibility", "pad", "--reduce-at-once", "--random", str(100 + seed)]}[kind]


def models_of(zoo):
    for path in sorted(glob.glob(os.path.join(zoo, "*", "*hlo.gz")) + glob.glob(os.path.join(zoo, "*", "*.hlo"))):
        framework, name = os.path.basename(os.path.dirname(path)), os.path.basename(path).split(".")[0]
        variables = os.path.join(os.path.dirname(path), name + ".vars.txt")
        yield framework, name, path, variables if os.path.exists(variables) else None


def numbers(variables, folder):
    """The list's first column alone: its names are the framework's, not the program's."""
    with open(variables) as f, open(os.path.join(folder, "numbers"), "w") as out:
        out.writelines(line.split("\t")[0].split(" ")[0].strip() + "\n" for line in f if line[:1].isdigit())
    return out.name


def tagged(text):
    """Every instruction's op_name is its own name, which survives renaming: what a collective stems from."""
    text = re.sub(r", metadata=\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\})*\}", "", text)
    return re.sub(r"^(\s+(?:ROOT )?%?([\w.\-]+) = .*)$", r'\1, metadata={op_name="\2"}', text, flags=re.M)


def instructions_of(text):
    return set(re.findall(r"^\s+(?:ROOT )?%?([\w.\-]+) = ", text, re.M))


def inserted(text, n, cache):
    """[[kind, groups, count, bytes, cause], ..] that XLA inserts, or its complaint; from the cache when it is known."""
    key = hashlib.sha256(f"{xla.jax.__version__} {n} 4 {text}".encode()).hexdigest()
    known = os.path.join(cache, key[:2], key + ".json.gz")
    if os.path.exists(known):
        with gzip.open(known, "rt") as f:
            return json.load(f)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "module.hlo")
        with open(path, "w") as f:
            f.write(tagged(text))
        try:
            answer = list_collectives(xla.partition(path, n), n)
        except RuntimeError as error:
            answer = str(error)[:600]
    os.makedirs(os.path.dirname(known), exist_ok=True)
    with gzip.open(known + f".{os.getpid()}", "wt") as f:
        json.dump(answer, f)
    os.replace(known + f".{os.getpid()}", known)
    return answer


def list_collectives(text, n):
    return [[kind, groups, count, size, cause] for kind, groups, count, size, cause in xla.collectives_with_causes(text, n)]


def sum_up(found):
    sums = {}
    for kind, groups, count, size, _ in found:
        xla.add(sums, (kind, tuple(tuple(g) for g in groups)), count, size)
    return sums


def judge(job):
    """A row of the table; None when there is no such plan."""
    framework, name, path, variables, mesh, kind, seed, args = job
    with tempfile.TemporaryDirectory() as folder:
        case = xla.Case(name, mesh, kind, options_of(kind, seed), SLOW)
        plan_file, export = os.path.join(folder, "plan.json"), os.path.join(folder, "module.hlo")
        row = dict(framework=framework, model=name, mesh=mesh, plan=kind, seed=seed, state="misses")
        place = case.place(folder)
        given = ["--vars", numbers(variables, folder)] if variables else []
        r = subprocess.run([args.automap, "plan", path, *place, "--mesh", mesh, *given, *case.options, "-o", plan_file],
                           capture_output=True, text=True)
        if r.returncode == 4:
            return dict(row, state="no plan")
        if r.returncode:
            refused = "A plan needs the step as one program" in r.stderr
            return dict(row, state="announced" if refused else "misses", error=r.stderr[:300])
        r = subprocess.run([args.automap, "export", path, *place, *given, "--plan", plan_file, "--force", "-o", export],
                           capture_output=True, text=True)
        if r.returncode:
            return dict(row, error=r.stderr[:300])
        with open(plan_file) as f:
            plan = json.load(f)
        with open(export) as f:
            text = f.read()
    if kind == "padded" and not plan_pads(plan):
        return dict(row, state="no plan")
    return compare(row, plan, text, r.stderr, case.n, args)


def plan_pads(plan):
    """Some class is split into parts that do not fit."""
    size = {a["name"]: a["size"] for a in plan["axes"]}
    for d in plan["decisions"]:
        parts = xla.prod(size[x] for x in size if x in (d["split"] or ""))
        if parts > 1 and d.get("size", 0) % parts:
            return True
    return any("evenly" in w or "pad" in w for w in plan.get("warnings", []))


def compare(row, plan, text, messages, n, args):
    wanted, _ = xla.as_xla_does(plan)
    answer = inserted(text, n, args.cache)
    row["warned"] = names_instruction(messages, text)
    if isinstance(answer, str):
        row["error"] = answer
    else:
        found = sum_up(answer)
        if found != wanted:
            wanted, _ = xla.as_xla_does(plan, xla.same_arrays(text))
        row["planned"], row["inserted"] = xla.totals(wanted), xla.totals(found)
        if found == wanted:
            return dict(row, state="agrees")
        row["causes"] = causes(plan, answer)
    return dict(row, state="announced" if row["warned"] else "misses")


def names_instruction(messages, text):
    """Lines of warnings that name an instruction of the module."""
    names = instructions_of(text)
    return [line for line in messages.splitlines() if "warning:" in line and names & set(re.findall(r"[\w.\-]*[\w]", line))]


def causes(plan, answer):
    """What stands on one side only, by instruction: {instruction: {kind: inserted - planned}}."""
    table = {}
    for kind, _, count, _, cause in answer:
        at = table.setdefault(cause.split("/")[-1].split(";")[0], {})
        at[kind] = at.get(kind, 0) + count
    for name, kind, count in planned_by_name(plan):
        at = table.setdefault(name, {})
        at[kind] = at.get(kind, 0) - count
    return {name: {k: v for k, v in at.items() if v} for name, at in table.items() if any(at.values())}


def planned_by_name(plan):
    """(instruction of the export, kind, count): reshards stand at the copies that make them, reductions where they arise."""
    if plan["mode"] != "relaxed":
        yield from ((c["instruction"], c["kind"], c["count"]) for c in plan["collectives"] if c["bytes"])
        return
    for (value, _, user, _, operand, _), way in xla.walks(plan).items(): # of several sums apart the axes do not matter here
        for r in xla.combine_at_once(way, dict(scattered=0, joined=0, gathered=0, shared=0)):
            copy = f"{user}.operand{operand}" if user else f"{value}.held"
            yield value if r["kind"] == "all-reduce" else copy, r["kind"], r["count"]


def jobs_of(args):
    wanted = args.models.split(",") if args.models else [""]
    for framework, name, path, variables in models_of(args.zoo):
        if not any(part in f"{framework}/{name}" for part in wanted):
            continue
        for mesh in args.meshes.split(","):
            for kind in args.plans.split(","):
                for seed in range(args.random if kind == "random" else 1):
                    yield framework, name, path, variables, mesh, kind, seed, args


def print_table(rows):
    kinds = [k for k in KINDS_OF_PLAN if any(r["plan"] == k for r in rows)]
    print("agree + announced of plans, by framework\n" + f"{'':16}" + "".join(f"{k:>16}" for k in [*kinds, "all"]))
    for framework in [*sorted({r["framework"] for r in rows}), ""]:
        line = f"{framework or 'all':16}"
        for kind in [*kinds, ""]:
            some = [r["state"] for r in rows if framework in ("", r["framework"]) and kind in ("", r["plan"]) and r["state"] != "no plan"]
            line += f"{some.count('agrees')} + {some.count('announced')} of {len(some)}".rjust(16)
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("automap")
    parser.add_argument("zoo")
    parser.add_argument("--models")
    parser.add_argument("--meshes", default=",".join(MESHES))
    parser.add_argument("--plans", default=",".join(KINDS_OF_PLAN))
    parser.add_argument("--random", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cache", default=os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "automap-xla"))
    parser.add_argument("--show", type=int, default=6, help="instructions shown of a miss")
    parser.add_argument("--out", help="a JSON line per plan")
    args = parser.parse_args()
    rows = []
    context = multiprocessing.get_context("fork")
    out = open(args.out, "w") if args.out else None
    with concurrent.futures.ProcessPoolExecutor(args.jobs, context) as pool:
        for row in pool.map(judge, jobs_of(args)):
            rows.append(row)
            if out:
                print(json.dumps(row), file=out, flush=True)
            if row["state"] in ("misses", "announced"):
                some = list(row.get("causes", {}).items())
                print(f"{row['state'].upper()} {row['framework']}/{row['model']} {row['mesh']} {row['plan']} {row['seed']}: "
                      f"{row.get('error') or some[:args.show]}", flush=True)
    print_table(rows)
    sys.exit(any(r["state"] == "misses" for r in rows))


if __name__ == "__main__":
    main()
