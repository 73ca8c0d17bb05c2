"""automap doctor against the programs of programs.py (or steps.py), compiled here for 8 simulated devices: lines, causes
and verdicts against what is known of them, and each planned change put into the program and compiled again.

    python tests/ref/doctor/measure.py AUTOMAP [--gspmd] [--compiled] [--bare] [--of steps|twists|users] [--half FIRST|..|LATER] [--keep DIR]
        [--verbose] [NAME ..]

--gspmd: the older partitioner. --compiled: the compiled text with the program before. --bare: without the
program before. --keep DIR: the dumps. --write DIR: the dumps of each program that is answered rightly, packed,
and its answer, for tests that have no JAX. Prints k of n; 0 when all are right. 77 without JAX."""
import argparse, functools, gzip, importlib, inspect, json, os, pathlib, re, shutil, subprocess, sys, tempfile

p = argparse.ArgumentParser()
p.add_argument("automap")
p.add_argument("names", nargs="*")
for flag in ("gspmd", "compiled", "bare", "verbose"):
    p.add_argument("--" + flag, action="store_true")
p.add_argument("--of", default="programs")
p.add_argument("--half", choices=("FIRST", "SECOND", "THIRD", "LATER"))
p.add_argument("--keep")
p.add_argument("--write")
args = p.parse_intermixed_args()
scratch = None if args.keep else tempfile.TemporaryDirectory()
out = pathlib.Path(args.keep or scratch.name)
out.mkdir(parents=True, exist_ok=True)
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["XLA_FLAGS"] = (f"--xla_force_host_platform_device_count=8 --xla_dump_to={out} --xla_dump_hlo_as_text "
                           "--xla_dump_hlo_pass_re=spmd-partitioning|shardy-xla")
try:
    import jax
except ImportError:
    print("skipped: needs jax")
    sys.exit(77)
jax.config.update("jax_use_shardy_partitioner", not args.gspmd)
from jax.sharding import NamedSharding, PartitionSpec as P
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import programs as first
source = importlib.import_module(args.of)
changed, programs = first.changed, source.programs

chains = tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 8)  # older ones keep one line of a chain
text = pathlib.Path(source.__file__).read_text().splitlines()
marks = {}
for n, line in enumerate(text):
    if "  # " in line:
        for mark in line.rsplit("# ", 1)[1].split(", "):
            marks[mark] = n + 1


def dumps(name, f, mesh, ins, outs, shapes):
    put = lambda spec: jax.tree.map(lambda one: NamedSharding(mesh, one), spec, is_leaf=lambda one: isinstance(one, P))
    g = functools.wraps(f)(lambda *a: f(*a))
    g.__name__ = name  # which the files are called by
    jax.clear_caches()
    jax.jit(g, in_shardings=put(tuple(ins)), out_shardings=put(outs)).lower(*shapes).compile()
    def one(pattern):
        found = list(out.glob(f"*.jit_{name}.{pattern}"))
        return max(found, key=lambda path: path.stat().st_mtime) if found else None
    after = one("*cpu_after_optimizations.txt") if args.compiled else one("*after_spmd-partitioning*.txt")
    return after or one("*after_shardy-xla*.txt"), one("before_optimizations.txt")


def doctor(after, before):
    more = ["--before", before]
    if args.bare:  # beside a dump the program before is found by itself
        alone = out / "alone"
        alone.mkdir(exist_ok=True)
        after, more = shutil.copy(after, alone / "dump.txt"), []
    cmd = [args.automap, "doctor", after, "--json", *more]
    r = subprocess.run(cmd, capture_output=True, text=True)
    if r.returncode:
        raise SystemExit(f"{after}: {r.stderr.strip()}")
    return json.loads(r.stdout)


def price(found):
    """ms of a step; a sum that is cut again counts as the reduce-scatter that others than XLA for CPU make of it,
    as plans count it."""
    def left(c):
        after = c.get("after", {})
        return after if after.get("kind") == "reduce-scatter" and c["kind"] == "all-reduce" else c
    return sum(left(c)["ms"] for c in found["collectives"])  # of all trips


def spec_of(words, mesh):
    """Without Shardy a dump does not know the axes' names: automap counts them x, y, ..."""
    axes = dict(zip("xyz", mesh.axis_names)) if args.gspmd else {}
    name = lambda axis: tuple(map(name, axis)) if isinstance(axis, tuple) else axes.get(axis, axis)
    return eval(words, {"P": lambda *dims: P(*map(name, dims))})


def with_change(program, planned):
    """ins, out, constraints' lines of the program with a planned change in it; None: not of this kind."""
    is_spec = dict(is_leaf=lambda one: isinstance(one, P))
    outs, lines = program["out"], {}
    names = list(inspect.signature(program["f"]).parameters)
    leaves, tree = jax.tree.flatten_with_path(dict(zip(names, program["ins"])), **is_spec)
    ins = {path[0].key + jax.tree_util.keystr(path[1:]): spec for path, spec in leaves}
    for one in planned["change"].split("; "):
        spec = r"(P\(.*?\)(?=, (?:not|then) |$))"
        if m := re.fullmatch(r'store "(.*?)" as ' + spec + r", not .*", one):
            if m[1] not in ins:
                return None
            ins[m[1]] = spec_of(m[2], program["mesh"])
        elif m := re.fullmatch(r"hand (?:the result|result (\d+)) out as " + spec + ", not (.*)", one):
            results, shape = jax.tree.flatten(outs, **is_spec)
            if len(results) > 1 and not m[1]:
                return None
            results[int(m[1] or 1) - 1] = spec_of(m[2], program["mesh"])
            outs = jax.tree.unflatten(shape, results)
        elif m := re.fullmatch(r"(?:at \S+:(\d+) )?constrain it to " + spec + ", not .*", one):
            if not m[1] and "line" not in planned or not chains:
                return None
            if "wsc(" not in text[int(m[1] or planned["line"]["line"]) - 1]:
                return None
            lines[int(m[1] or planned["line"]["line"])] = (spec_of(m[2], program["mesh"]),)
        elif m := re.fullmatch(r"a constraint in between: (.*)", one):
            if not chains:
                return None
            lines[planned["cause"]] = tuple(spec_of(w, program["mesh"]) for w in re.findall(r"P\(.*?\)(?=, then |$)", m[1])) + (None,)
        else:
            return None
    whole = jax.tree.unflatten(tree, [ins[path[0].key + jax.tree_util.keystr(path[1:])] for path, _ in leaves])
    return [whole[name] for name in names], outs, lines


def check(name):
    program = programs[name]
    f, mesh, shapes = program["f"], program["mesh"], program["shapes"]
    files = dumps(name, f, mesh, program["ins"], program["out"], shapes)
    found = doctor(*files)
    faults, seen = [], set()
    wanted = {}  # line: [(mark, cause, verdicts)]
    for mark, (causes, verdicts) in program["answer"].items():
        line = marks[mark.lstrip("?")] if mark.lstrip("?") else None
        wanted.setdefault(line, []).append((mark, causes.split("|"), verdicts.split("|")))
    for c in found["collectives"]:
        line = c.get("line_of_cause", {}).get("line")
        if args.verbose:
            print(f"    {c['kind']:18} {c['bytes']:10.0f} x{c['trips']} {c['cause']:17} {c['verdict']:8} {line}"
                  f" {text[line - 1].strip() if line else ''}\n       {c['because']}\n       {c.get('cure', '')}"
                  f"  {c.get('planned', {}).get('change', '')}")
        here = wanted.get(line, []) if chains else sum(wanted.values(), [])
        fits = [mark for mark, causes, verdicts in here
                if c["cause"] in causes and c["verdict"] in verdicts]
        seen.update(fits)
        for other in c.get("joined_lines", []):  # compiling has joined them: what is said is of one
            seen.update(mark for mark, causes, _ in wanted.get(other["line"], []) if c["cause"] in causes)
        if not fits:
            faults.append(f"{c['instruction']} at line {line}: {c['cause']} {c['verdict']}, expected "
                          f"{wanted.get(line, 'nothing')}")
    for line in wanted:
        for mark, _, _ in wanted[line]:
            if chains and mark not in seen and not mark.startswith("?"):
                faults.append(f"nothing at \"{mark}\"")
    # planned changes, compiled
    plans = {}
    for c in found["collectives"]:
        if "planned" in c:
            plans[c["planned"]["change"]] = dict(c["planned"], cause=c.get("line_of_cause", {}).get("line"))
    begins = program.get("cure")
    if begins is not None and not args.bare:
        told = [words.replace('"', "") for words in plans]
        told += [c.get("cure", "").replace('"', "") for c in found["collectives"] if c["verdict"] == "unwanted" or not told]
        if not any(words.startswith(one) if one else not plans for words in told + [""] for one in begins.split("|")):
            faults.append(f"changes {told}, expected one that begins with \"{begins}\"")
    said = " ".join(c.get("cure", "") for c in found["collectives"])
    if "says" in program and not re.search(program["says"], said):
        faults.append(f"says \"{said}\", expected {program['says']}")
    if len(plans) > 1 and not any("in between" in words for words in plans):  # what the doctor prices together
        parts = {}
        for one in (one for words in plans for one in words.split("; ")):
            parts.setdefault(re.split(r" P\(", one)[0], one)
        ours = dict(next(iter(plans.values())), change="; ".join(parts.values()), bytes=found["planned_together"]["bytes"])
        plans["together"] = ours
    best_ms = price(found)
    for k, plan in enumerate(plans.values()):
        new = with_change(program, plan)
        if not new:
            print(f"  {name}: not tried: {plan['change']}")
            continue
        changed.clear()
        changed.update(new[2])
        jax.clear_caches()
        left = doctor(*dumps(f"{name}_c{k}", f, mesh, new[0], new[1], shapes))
        changed.clear()
        before, after = price(found), price(left)
        tried.append((name, plan["change"], found["sent_bytes"], left["sent_bytes"], before, after, plan["bytes"], left["bytes"]))
        best_ms = min(best_ms, after)
        if after >= before:
            faults.append(f"XLA, given \"{plan['change']}\", takes {after:.4f} ms, not less than {before:.4f}")
    if "cured" in program and not args.bare:
        by_hand = price(doctor(*dumps(f"{name}_cured", f, mesh, *program["cured"], shapes)))
        if best_ms > 1.02 * by_hand + 1e-6:
            faults.append(f"its changes leave {best_ms * 1e3:.1f} us, an expert's {by_hand * 1e3:.1f}")
    if args.write and not faults:
        write(name, found, files)
    return faults


def packed(path, to):
    """Without the paths of this machine."""
    words = path.read_text()
    for one in (source, first):
        words = words.replace(str(pathlib.Path(one.__file__).resolve()), pathlib.Path(one.__file__).name)
    words = words.replace(str(pathlib.Path(__file__).resolve()), "measure.py")
    words = re.sub(r'"/[^"]*(/site-packages/[^"]*)"', r'"/lib\1"', words)
    with open(to, "wb") as f:
        f.write(gzip.compress(words.encode(), mtime=0))


def write(name, found, files):
    """Answers were right, and XLA has done what the changes promise."""
    where = pathlib.Path(args.write)
    stage = "compiled" if args.compiled else "gspmd" if args.gspmd else "shardy"
    stem = f"{name}.{stage}{'' if chains else '.old'}"
    packed(files[0], where / f"{stem}.after.hlo.gz")
    packed(files[1], where / f"{stem}.before.hlo.gz")
    answers = where / "answers.json"
    all = json.loads(answers.read_text()) if answers.exists() else {}
    all[stem] = {
        "collectives": sorted([c["kind"], c["cause"], c["verdict"], c.get("line_of_cause", {}).get("line", 0)]
                              for c in found["collectives"]),
        "cures": sorted({c["cure"] for c in found["collectives"] if "cure" in c}),
        "changes": sorted({c["planned"]["change"]: c["planned"]["bytes"]
                           for c in found["collectives"] if "planned" in c}.items())}
    answers.write_text(json.dumps(dict(sorted(all.items())), indent=1) + "\n")


tried, right = [], 0
names = args.names or (getattr(source, args.half) if args.half else list(programs))
for name in names:
    if args.verbose:
        print(name)
    try:
        faults = check(name)
    except Exception as e:
        faults = [f"{type(e).__name__}: {str(e)[:300]}"]
    right += not faults
    for fault in faults:
        print(f"{name}: {fault}")
for t in tried:
    print(f"  {t[0]:20} sent {t[2]:9.0f} to {t[3]:9.0f}, {t[4]*1e3:6.1f} to {t[5]*1e3:6.1f} us; bytes planned {t[6]:9.0f}, left {t[7]:9.0f}: {t[1]}")
print(f"jax {jax.__version__} {'gspmd' if args.gspmd else 'shardy'} {'compiled' if args.compiled else 'spmd'}"
      f"{' bare' if args.bare else ''}: {right} of {len(names)}; {sum(t[5] < t[4] for t in tried)} of {len(tried)} changes help")
sys.exit(right != len(names))
