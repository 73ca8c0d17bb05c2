"""Plans through the exported Python file, on simulated devices: are the numbers those of the step that is not split, and are the
collectives the planned ones (kind, groups, count, bytes)?

    applied.py AUTOMAP [--compile-only] [--run-up-to FLOPS] [--out FILE] MODEL .. : CASE ..
    applied.py --table FILE ..

$AUTOMAP_CLUSTER: a cluster of 8 devices in place of the default ones. MODEL: a name of steps.py. CASE: strict, relaxed (partial
sums kept), at-once, random1, random2, ... A process for each model, and a new one after each abort of XLA.
--compile-only, and steps with large arguments or of more flops than --run-up-to (5e10): XLA is ended as soon as it has partitioned.
--out appends a JSON line per plan, and plans that have one there already are not made again; --table sums such files up. A reduce-scatter shows on a CPU as an all-reduce and a slice."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../../..")
DEVICES = ["--devices", "8", "--mesh", "2x4", "--divisibility", "exact"]
# A strict plan joins all-reduces whose sum is taken, unless it reduces at once.
CASES = {"joined": ["--optimum"], "strict": ["--optimum", "--reduce-at-once"], "relaxed": ["--mode", "relaxed"]}
CASES |= {"at-once": ["--mode", "relaxed", "--reduce-at-once"]}
CASES |= {f"random{n}": ["--random", str(n), "--reduce-at-once"] for n in range(1, 10)}
LARGEST_RUN = 1 << 31  # bytes of arguments
MOST_FLOPS = "5e10"
SECONDS = 1500  # for one plan
TOLERANCE = 1e-4
TOLERANCE_BF16 = 2.0 ** -8  # of steps that compute in bfloat16: one rounding


# ---- a child: plans, applies, compiles, runs ----

def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[1:3])}: {done.stderr.strip()[:300]}")
    return done


def load(path):
    import importlib.util

    spec = importlib.util.spec_from_file_location("automap_plan", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Child:
    def __init__(self, automap, name, folder, most_flops):
        import jax
        import numpy as np

        import steps

        jax.devices()  # now, with our flags
        self.automap, self.folder = automap, folder
        self.step, self.args, variables = steps.step(name)
        self.model = os.path.join(folder, "step.mlir")
        with open(self.model, "w") as f:
            text = self.step.lower(*self.args).as_text()
            f.write(text)
        self.is_bf16 = "xbf16>" in text
        self.given, self.variables = [], None
        if variables:
            self.given = ["--vars", os.path.join(folder, "numbers")]
            with open(variables) as f:
                self.variables = [int(line.split()[0]) for line in f if line[:1].isdigit()]
            with open(self.given[1], "w") as out:
                out.writelines(f"{n}\n" for n in self.variables)
        speed = os.environ.get("AUTOMAP_CLUSTER")
        self.cluster, self.devices = ([speed] if speed else []), DEVICES[2:] if speed else DEVICES
        size = sum(int(np.prod(a.shape)) * a.dtype.itemsize for a in jax.tree.leaves(self.args))
        known = json.loads(run(automap, "inspect", self.model, "--json").stdout)
        self.flops, self.runs = known["flops"], size <= LARGEST_RUN and known["flops"] <= most_flops
        self.values = self.whole = None

    def case(self, case):
        """Up to the compiled step; the partitioned module lies in the dump folder then."""
        plan_file = os.path.join(self.folder, f"{case}.json")
        code = os.path.join(self.folder, f"plan_{case.replace('-', '_')}.py")
        run(self.automap, "plan", self.model, *self.cluster, *self.given, *self.devices, *CASES[case], "-o", plan_file)
        said = run(self.automap, "export", self.model, *self.cluster, *self.given, "--plan", plan_file, "--format", "jax",
                   "--force", "-o", code).stderr
        say(said=said.strip(), runs=self.runs, flops=self.flops)
        ready = load(code).apply(self.step, *self.args)
        ready.lower(*self.args).compile()
        if self.runs:
            say(**self.compare(ready))

    def compare(self, ready):
        """Largest difference of a result, as part of that result's size; where it is large, what 1e-6 of noise does."""
        import jax
        import numpy as np

        if self.values is None:
            self.values = values(self.args, self.variables)
            self.whole = self.results(jax.jit(lambda *a: self.step(*a)), self.values)
        split = [plain(x) for x in jax.tree.leaves(ready(*ready.place(*copies(self.values))))]
        row = {"difference": worst(self.whole, split), "bf16": self.is_bf16}
        if not row["difference"] <= TOLERANCE:
            rng = np.random.default_rng(1)
            off = lambda x: (x * (1 + 1e-6 * rng.standard_normal(x.shape))).astype(x.dtype) if not is_key(x) and x.dtype.kind == "f" else x  # noqa: E731
            row["noise"] = worst(self.whole, self.results(jax.jit(lambda *a: self.step(*a)), jax.tree.map(off, self.values)))
        return row

    def results(self, step, arrays):
        import jax

        return [plain(x) for x in jax.tree.leaves(step(*copies(arrays)))]


def is_key(x):
    import jax

    return jax.dtypes.issubdtype(x.dtype, jax.dtypes.extended)


def plain(x):
    """As numbers, random keys too."""
    import jax
    import numpy as np

    return np.asarray(jax.random.key_data(x) if is_key(x) else x)


def copies(arrays):
    import jax
    import numpy as np

    return jax.tree.map(lambda x: jax.random.clone(x) if is_key(x) else np.array(x), arrays)


def values(args, variables):
    """Small numbers; positive ones where an optimizer or a batch norm takes square roots."""
    import jax
    import numpy as np

    rng, count = np.random.default_rng(0), iter(range(1 << 30))

    def value(path, s):
        n = next(count)
        if is_key(s):
            return jax.random.split(jax.random.key(0), s.shape) if s.shape else jax.random.key(0)
        if not np.issubdtype(s.dtype, np.inexact) and s.dtype != jax.numpy.bfloat16:
            return rng.integers(0, 2, s.shape).astype(s.dtype)
        x = rng.standard_normal(s.shape) * 0.1
        if s.dtype.kind == "c":
            x = x + 1j * rng.standard_normal(s.shape) * 0.1
        elif n not in variables if variables is not None else re.search(
                r"nu\b|\['v'\]|var|\bv_|\[1\]\[\d+\]$", jax.tree_util.keystr(path)):
            x = np.abs(x)
        return np.asarray(x).astype(s.dtype)

    return jax.tree_util.tree_map_with_path(value, args)


def worst(whole, split):
    import numpy as np

    most = 0.0
    for a, b in zip(whole, split, strict=True):
        a, b = (np.asarray(x).astype(np.complex128) for x in (a, b))
        if not a.size:
            continue
        if not np.array_equal(np.isfinite(a), np.isfinite(b)):
            return float("inf")
        a, b = np.where(np.isfinite(a), a, 0), np.where(np.isfinite(b), b, 0)
        most = max(most, float(np.abs(a - b).max() / (np.abs(a).max() + 1e-30)))
    return most


def say(**facts):
    print("@" + json.dumps(facts), flush=True)


def child(automap, name, folder, most_flops, *cases):
    try:
        here = Child(automap, name, folder, float(most_flops))
    except Exception as error:
        return say(fatal=f"{type(error).__name__}: {error}"[:300])
    say(started=name)
    for case in cases:
        say(case=case, dumps=sorted(os.listdir(os.path.join(folder, "dump"))))
        try:
            here.case(case)
        except Exception as error:  # noqa: BLE001: the next plan may do
            say(error=f"{type(error).__name__}: {error}"[:300])
        say(done=case, made=sorted(os.listdir(os.path.join(folder, "dump"))))


# ---- the parent: judges ----

def partitioned(folder, before, names=None):
    """The module right after partitioning, once it is written whole: the largest new one (of `names`)."""
    texts = []
    for name in os.listdir(folder) if names is None else names:
        if "after_spmd-partitioning" in name and name.endswith(".txt") and name not in before:
            with open(os.path.join(folder, name)) as f:
                text = f.read()
            texts += [text] if re.search(r"\nENTRY .*(?:\n(?!\}).*)*\n\}\s*$", text) else []
    return max(texts, key=len, default="")


def scatters_as_reduces(plan):
    rows = [dict(c, kind="all-reduce") if c["kind"] == "reduce-scatter" else c for c in plan["collectives"]]
    return dict(plan, collectives=rows)


def judge(row, plan, text, kept, code):
    """Planned against found. What XLA shares between equal values (xla_agrees.as_xla_does) counts as planned."""
    import xla_agrees

    found = xla_agrees.collectives(text, 8)
    row["found"] = xla_agrees.totals(found)
    ways = [("exact", xla_agrees.planned(plan)), ("scattered", xla_agrees.planned(scatters_as_reduces(plan)))]
    ways += [("at once", xla_agrees.as_xla_does(plan)[0])]
    row["planned"] = xla_agrees.totals(ways[1][1] if kept else ways[2][1])
    row["agree"] = next((name for name, wanted in ways if wanted == found), None)
    # What the plan scatters is whole on a CPU, so that a gather behind it is along other axes: kinds, counts and bytes then.
    if not row["agree"] and kept and row["planned"] == row["found"]:
        row["agree"] = "totals"
    return row


class Model:
    """One model's plans, in as few processes as XLA lets."""

    def __init__(self, automap, name, cases, most_flops):
        self.automap, self.name, self.cases, self.most_flops = automap, name, list(cases), most_flops

    def names(self):
        import jax

        path, at, small = self.name.partition("@")
        framework = os.path.basename(os.path.dirname(path)) if path.endswith(".gz") else None
        return {"model": os.path.basename(path).split(".")[0] + at + small, "framework": framework, "jax": jax.__version__}

    def leave_out(self, file):
        """The cases that a file of rows has."""
        names = self.names()
        with open(file) as f:
            rows = [r for r in map(json.loads, f) if "error" not in r and all(r[k] == v for k, v in names.items())]
        self.cases = [c for c in self.cases if c not in {r["case"] for r in rows}]

    def rows(self):
        while self.cases:
            before = len(self.cases)
            for row in self.process():
                yield dict(self.names(), **row)
            if len(self.cases) == before:
                return

    def process(self):
        with tempfile.TemporaryDirectory() as folder:
            dump = os.path.join(folder, "dump")
            os.makedirs(dump)
            flags = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
            flags += f" --xla_dump_to={dump} --xla_dump_hlo_pass_re=spmd-partitioning"
            env = dict(os.environ, JAX_PLATFORMS="cpu", XLA_FLAGS=flags, TF_CPP_MIN_LOG_LEVEL="3", PYTHONDONTWRITEBYTECODE="1")
            command = [sys.executable, os.path.abspath(__file__), "--child", self.automap, self.name, folder,
                       self.most_flops, *self.cases]
            with open(os.path.join(folder, "said"), "w") as out, open(os.path.join(folder, "errors"), "w") as errors:
                running = subprocess.Popen(command, stdout=out, stderr=errors, env=env, start_new_session=True)
                try:
                    yield from self.watch(running, folder, dump)
                finally:
                    if running.poll() is None:
                        os.killpg(running.pid, signal.SIGKILL)
                        running.wait()

    def watch(self, running, folder, dump):
        """Reads what the child says; a step that is not run ends with its partitioned module."""
        row, dumps, since = {}, [], time.time()
        with open(os.path.join(folder, "said")) as said:
            while True:
                line = said.readline()
                if line.startswith("@") and line.endswith("\n"):
                    facts = json.loads(line[1:])
                    if "fatal" in facts:
                        for case in self.cases:
                            yield {"case": case, "error": facts["fatal"]}
                        self.cases = []
                        return
                    if "case" in facts:
                        row, dumps, since = {"case": facts["case"]}, facts["dumps"], time.time()
                    elif "done" in facts:
                        yield self.verdict(row, folder, partitioned(dump, dumps, facts["made"]), time.time() - since)
                        row = {}
                    else:
                        row |= facts
                    continue
                ended = running.poll() is not None
                if line and not ended:
                    said.seek(said.tell() - len(line))
                text = partitioned(dump, dumps) if row.get("runs") is False and not line else ""
                if text:
                    yield self.verdict(row, folder, text, time.time() - since)
                    return
                if ended or time.time() - since > SECONDS:
                    if row or self.cases:
                        row.setdefault("case", self.cases[0])
                        row["error"] = self.last_words(folder) if ended else f"more than {SECONDS} s"
                        yield self.verdict(row, folder, "", time.time() - since)
                    return
                time.sleep(0.2)

    def last_words(self, folder):
        with open(os.path.join(folder, "errors")) as f:
            lines = [line for line in f.read().strip().splitlines() if line.strip()]
        return "XLA ended: " + next((s for s in reversed(lines) if re.search(r"Check failed|Error|F0", s)), lines[-1] if lines else "")[:300]

    def verdict(self, row, folder, text, seconds):
        self.cases = [c for c in self.cases if c != row["case"]]
        row["seconds"] = round(seconds, 1)
        plan_file = os.path.join(folder, f"{row['case']}.json")
        if "error" in row or not text:
            row.setdefault("error", "no partitioned module")
            return row
        with open(plan_file) as f:
            plan = json.load(f)
        return judge(row, plan, text, row["case"] in ("relaxed", "joined"), plan_file)


def tolerance(row):
    return TOLERANCE_BF16 if row.get("bf16") else TOLERANCE


def is_good(row):
    """Collectives and numbers; where rounding is what differs, at most ten times what 1e-6 of noise does."""
    near = row.get("difference", 0) <= max(tolerance(row), 10 * row.get("noise", 0))
    return bool(row.get("agree")) and near


def verdict(row):
    if "error" in row:
        return row["error"]
    number = f"{row['difference']:.1e}" if "difference" in row else "not run"
    number += f" (noise {row['noise']:.1e})" if "noise" in row else ""
    count = sum(c for c, _ in row["found"].values())
    return f"agree {row['agree']} {count} {number}" if row["agree"] else f"differ planned {row['planned']} found {row['found']} {number}"


def state(row):
    """agrees; announced: it does not, and the export warned; refused: automap plans no such program; misses."""
    if "error" in row:
        return "refused" if "written for each device" in row["error"] else "misses"
    return "agrees" if is_good(row) else "announced" if "warning" in row.get("said", "") and row.get("difference", 0) <= tolerance(row) else "misses"


def table(files):
    rows = {}
    for file in files:
        with open(file) as f:
            for row in map(json.loads, f):
                rows[row["jax"], row["model"], row["framework"], row["case"]] = row  # the last of equal ones
    count = lambda r: sum(c for c, _ in r.get("planned", {}).values())  # noqa: E731
    for version in sorted({r["jax"] for r in rows.values()}):
        print(f"jax {version}\n\n| | models | agree + announced, of plans with collectives | of plans without | refused | collectives "
              "| run | largest difference |\n|---|---:|---:|---:|---:|---:|---:|---:|")
        here = [r for r in rows.values() if r["jax"] == version]
        for framework in [*sorted({r["framework"] or "shipped, programs" for r in here}), "all"]:
            some = [r for r in here if framework in ("all", r["framework"] or "shipped, programs")]
            of = {s: [r for r in some if state(r) == s] for s in ("agrees", "announced", "refused", "misses")}
            idle = [r for r in some if "planned" in r and not count(r)]
            busy = [r for r in some if r not in idle and r not in of["refused"]]
            good = [r for r in of["agrees"] if r not in idle]
            ran = [r["difference"] for r in some if "difference" in r]
            print(f"| {framework} | {len({(r['framework'], r['model']) for r in some})} | {len(good)} + {len(of['announced'])} of {len(busy)} | "
                  f"{sum(r in of['agrees'] for r in idle)} of {len(idle)} | {len(of['refused'])} | {sum(map(count, busy)):,} | {len(ran)} | "
                  f"{max(ran, default=0):.1e} |")
        for r in here:
            if state(r) in ("announced", "misses"):
                print(f"{state(r)}: {r['model']} {r['case']}: {r.get('error') or (r['planned'], r['found'], r.get('difference'))}")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the child ends, too
    if sys.argv[1] == "--child":
        return child(*sys.argv[2:])
    if sys.argv[1] == "--table":
        return table(sys.argv[2:])
    sys.path.insert(0, os.path.join(ROOT, "tests/script"))
    automap, *rest = sys.argv[1:]
    most_flops, rest = option("--run-up-to", rest, MOST_FLOPS)
    out, rest = option("--out", rest, None)
    most_flops = "0" if "--compile-only" in rest else most_flops
    rest = [r for r in rest if r != "--compile-only"]
    names, cases = rest[: rest.index(":")], rest[rest.index(":") + 1:]
    good = count = 0
    for name in names:
        model = Model(automap, name, cases, most_flops)
        if out and os.path.exists(out):
            model.leave_out(out)
        count += len(model.cases)
        for row in model.rows():
            good += is_good(row)
            print(f"{row['model']} {row['case']}: {verdict(row)} {row['seconds'] if 'seconds' in row else ''}", flush=True)
            if out:
                with open(out, "a") as f:
                    f.write(json.dumps(row) + "\n")
    print(f"{good} of {count}")
    sys.exit(good < count)


def option(name, words, otherwise):
    """Its value and the other words."""
    if name not in words:
        return otherwise, words
    at = words.index(name)
    return words[at + 1], words[:at] + words[at + 2:]


if __name__ == "__main__":
    main()
