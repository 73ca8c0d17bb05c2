"""Does XLA's partitioner do what a plan says? For each plan the module is exported with its shardings, handed to XLA on
simulated CPU devices, and the collectives found right after partitioning (one per value, before anything is combined) are
compared with the planned ones: by kind and group of devices, count and bytes of one step. Whole runs (--run) also execute the
split module and compare its results with those of the unsplit one.

    xla_agrees.py SOURCE AUTOMAP [--relaxed] [--models NAME,..] [--meshes 4,2x2,..] [--random N] [--run] [--out FILE]

--out writes one JSON line per plan with what XLA inserted: tests/ref/xla/agrees.jsonl is such a file, which a test without
Python holds against the plans. SOURCE is the source tree, AUTOMAP the program. Exit 0: all agree, 1: some do not, 77: JAX is missing."""
import argparse
import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time
from math import prod

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=16"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
try:
    import jax
    import jax.numpy
    import numpy as np
    from jaxlib import _jax

    hlo_module = getattr(__import__("jaxlib", fromlist=["_hlo"]), "_hlo", _jax)
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

# Named plans: globs of parameter names and the dim that is split; * matches slashes too.
HEADS = ["*[qkv]/kernel:1", "*/o/kernel:0"]
FFN = ["*ffn/conv1/kernel:1", "*ffn/conv2/kernel:0"]
NAMED = {
    "mlp": {"hidden": ["layer_0/kernel:1", "layer_1/kernel:0", "layer_2/kernel:0"], "width in": ["layer_0/kernel:0"]},
    "vgg19": {"table 4": ["fc6/kernel:1", "fc7/kernel:0", "fc8/kernel:1"], "features": ["conv3_1/kernel:3"]},
    "resnet20": {"features": ["stage1_block1/conv1/kernel:3"]},
    "moe": {"experts": ["moe_*/up/kernel:0"], "ffn": ["moe_*/up/kernel:2"], "vocabulary": ["head/kernel:1"],
            "d_model": ["head/kernel:0"]},
    "decoder-scan": {"Megatron": ["layers/self/q/kernel:2", "layers/ffn/up/kernel:2"], "vocabulary": ["head/kernel:1"],
                     "d_model": ["layers/self/q/kernel:1"]},
    "t5-tiny": {"table 3": ["*self/q/kernel:1", "*cross/q/kernel:1", "*conv1/kernel:1", "embedding:0"],
                "d_model": ["embedding:1"]},
}
NAMED["t5-base6"] = NAMED["t5-tiny"]
MODELS = ["mlp", "t5-tiny", "vgg19", "moe", "decoder-scan", "resnet20", "t5-base6"]
MESHES = ["2", "4", "8", "2x2", "2x4"]
# Relaxed plans of these, on devices of several speeds, so that different splits pay.
RELAXED_MODELS = ["t5-tiny", "vgg19", "moe", "decoder-scan", "t5-base6"]
RELAXED_MESHES = ["4", "8", "2x2", "2x4"]
CLUSTER = """name: simulated
devices:
  d: {{memory: 16 GB, peak: {{f32: {peak} GFLOP/s, f16: {peak} GFLOP/s}}, bandwidth: {bandwidth} GB/s, launch: 5 us}}
servers:
  - {{devices: {n}, link: {{name: L, kind: ring, bandwidth: {link} GB/s, latency: 15 us}}}}
"""
SPEEDS = {"as they are": None, "slow devices": dict(peak=100, bandwidth=10, link=130),
          "very slow devices": dict(peak=1, bandwidth=0.1, link=130), "slow links": dict(peak=100, bandwidth=10, link=1)}
OTHERWISE = {"scattered": "planned reduce-scatters are all-reduces of the same bytes, and slices",
             "joined": "planned reductions of a result are done together with its first",
             "gathered": "planned all-gathers only gather what a reduce-scatter would have scattered: left out, or over fewer devices",
             "shared": "planned reshards of one value, or of equal ones, to one split, for several uses, are done once"}
KINDS = "all-reduce|all-gather|reduce-scatter|all-to-all|ragged-all-to-all|collective-permute|collective-broadcast"
ATOL_OF_CHANGE = 1e-2
RUN_SECONDS = 150


# ---- what XLA inserted ----

def groups_of(line, n):
    """The groups of devices of a collective, as sorted tuples: {{0,1},{2,3}}, [2,2]<=[4]T(1,0) or mesh['a'=2,..] {'a'}."""
    if m := re.search(r"(?:replica_groups|source_target_pairs)=\{((?:\{[\d,]*\},?)*)\}", line):
        lists = [[int(x) for x in g.split(",")] for g in re.findall(r"\{([\d,]+)\}", m[1])] or [list(range(n))]
    elif m := re.search(r"replica_groups=\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", line):
        shape = [int(x) for x in m[3].split(",")]
        order = [int(x) for x in m[4].split(",")] if m[4] else list(range(len(shape)))
        lists = np.arange(n).reshape(shape).transpose(order).reshape(int(m[1]), int(m[2])).tolist()
    elif m := re.search(r"replica_groups=mesh\[([^\]]*)\](?:, device_ids=\(\[([\d,]+)\](?:T\(([\d,]+)\))?\))? ?\{([^}]*)\}", line):
        size = {a: int(k) for a, k in re.findall(r"'([^']+)'=(\d+)", m[1])}
        ids = np.arange(n)
        if m[2]:
            ids = ids.reshape([int(x) for x in m[2].split(",")])
            ids = ids.transpose([int(x) for x in m[3].split(",")]) if m[3] else ids
        lists = mesh_groups(ids.reshape(-1), size, re.findall(r"'([^']+)'(?::\((\d+)\)(\d+))?", m[4]))
    else:
        lists = [list(range(n))]
    return tuple(sorted(tuple(sorted(g)) for g in lists))


def mesh_groups(ids, size, axes):
    """Devices that differ along `axes` only; an axis may be a part of one: (name, before, size)."""
    shape, wanted = [], []
    for name, k in size.items():
        part = next(((int(p or 1), int(s or k)) for a, p, s in axes if a == name), None)
        cut = [part[0], part[1], k // (part[0] * part[1])] if part else [k]
        wanted += [len(shape) + 1] if part else []
        shape += cut
    rest = [i for i in range(len(shape)) if i not in wanted]
    return ids.reshape(shape).transpose(rest + wanted).reshape(-1, prod(shape[i] for i in wanted)).tolist()


def trips(line, bodies, around):
    """How often a while loop runs: as XLA noted, else the first integer its condition compares with less where the counter
    begins (once where that is 0: a counter that goes down does not say where from), else what the loop before ran to, whose
    counter is this one's limit, else once. `around`: the lines of the computation it stands in."""
    if m := re.search(r'known_trip_count":\{"n":"(\d+)"', line):
        return int(m[1])
    condition = "\n".join(bodies[re.search(r"condition=%?([\w.\-]+)", line)[1]])
    made = {m[1]: m[0] for other in around if (m := re.match(r"\s+(?:ROOT )?%?([\w.\-]+) = .*", other))}
    carried = made.get(re.search(r" while\((?:\(.*\) )?%?([\w.\-]+)\)", line)[1], "")
    values = re.findall(r"%([\w.\-]+)", carried.split(" tuple(")[-1])
    sources = []
    for k in re.findall(r"s\d+\[\]\S* get-tuple-element\(.*index=(\d+)", condition):
        source = made.get(values[int(k)], "") if int(k) < len(values) else ""
        while m := re.search(r" (?:copy|reshape|get-tuple-element)\((?:\S* |\(.*\) )?%?([\w.\-]+)\)", source):
            source = made.get(m[1], "")
        sources.append(source)
    if m := re.search(r"s\d+\[\]\S* constant\((\d+)\)", condition):
        begins = [int(b[1]) for source in sources if (b := re.search(r" constant\((\d+)\)", source))]
        return max(int(m[1]) - min(begins, default=0), 1)
    for source in sources:
        if " while(" in source and source != line:
            return trips(source, bodies, around)
    return 1


def collectives_with_causes(text, n):
    """(kind, groups, count, bytes, op_name) of every collective of one step; bytes of the result on one device."""
    bodies, entry = {}, None
    for m in re.finditer(r"^(ENTRY )?%?([\w.\-]+) .*\{$((?:\n.*)*?)\n\}", text, re.M):
        bodies[m[2]] = m[3].split("\n")
        entry = m[2] if m[1] else entry
    times = {entry: 1}
    for name in reversed(list(bodies)):  # callees are printed before their callers
        for line in bodies[name]:
            factor = times.get(name, 0) * (trips(line, bodies, bodies[name]) if " while(" in line else 1)
            branches = re.search(r"branch_computations=\{([^}]*)\}", line)
            called = re.findall(r"(?:body|calls|to_apply|\w+_computation)=%?([\w.\-]+)", line)
            for callee in [*called, *re.findall(r"[\w.\-]+", branches[1] if branches else "")] if factor else ():
                times[callee] = times.get(callee, 0) + factor
            if condition := re.search(r" while\(.*condition=%?([\w.\-]+)", line) if factor else None:
                times[condition[1]] = times.get(condition[1], 0) + factor + times.get(name, 0)  # once more than the body
    for name, lines in bodies.items():
        for line in lines:
            if m := re.match(rf"\s+(?:ROOT )?%?[\w.\-]+ = (\(.*?\)|\S+) ({KINDS})(?:-start)?\(", line):
                size = sum((int(bits or 8) + 7) // 8 * prod(int(d.lstrip("<=")) for d in dims.split(",") if d)
                           for bits, dims in re.findall(r"\b[a-z]+(\d*)\w*\[([\d,<=]*)\]", m[1]))
                groups = () if m[2] == "collective-permute" else groups_of(line, n)  # that has pairs
                cause = re.search(r'op_name="([^"]*)"', line)
                yield m[2], groups, times.get(name, 1), size * times.get(name, 1), cause[1] if cause else ""


def collectives(text, n):
    """{(kind, groups): [count, bytes]} of one step."""
    found = {}
    for kind, groups, count, size, _ in collectives_with_causes(text, n):
        add(found, (kind, groups), count, size)
    return found


def add(found, key, count, size):
    old = found.get(key, (0, 0))
    found[key] = (old[0] + count, old[1] + size)


def planned(plan):
    """The same of a plan: devices are numbered along the mesh, the last axis fastest."""
    sizes = [a["size"] for a in plan["axes"]]
    names = [a["name"] for a in plan["axes"]]
    ids, found = np.arange(prod(sizes)).reshape(sizes), {}
    for c in plan["collectives"]:
        if not c["bytes"]:
            continue
        over = [i for i, name in enumerate(names) if name in c["axes"]]
        rest = [i for i in range(len(sizes)) if i not in over]
        groups = ids.transpose(rest + over).reshape(-1, prod(sizes[i] for i in over)).tolist()
        groups = [] if c["kind"] == "collective-permute" else groups
        add(found, (c["kind"], tuple(sorted(tuple(sorted(g)) for g in groups))), c["count"], round(c["bytes"]))
    return found


# ---- XLA ----

def compile_options(n, folder):
    options = _jax.CompileOptions()
    build = options.executable_build_options
    options.num_partitions = build.num_partitions = n
    build.use_spmd_partitioning, build.use_shardy_partitioner = True, False  # Shardy drops HLO shardings
    build.device_assignment = _jax.DeviceAssignment.create(np.arange(n).reshape(1, n))
    options.env_option_overrides = [("xla_backend_optimization_level", 0)]
    if folder:
        build.debug_options.xla_dump_to, build.debug_options.xla_dump_hlo_as_text = folder, True
        build.debug_options.xla_dump_hlo_pass_re = "spmd-partitioning"
    return options


def compile_text(text, n, folder):
    proto = hlo_module.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    devices = jax.devices()
    return devices[0].client.compile_and_load(_jax.mlir.hlo_to_stablehlo(proto), _jax.DeviceList(tuple(devices[:n])),
                                              compile_options(n, folder))


def dumped(folder):
    """The module right after partitioning, once it is written whole."""
    for name in os.listdir(folder):
        if "after_spmd-partitioning" in name:
            with open(os.path.join(folder, name)) as f:
                text = f.read()
            return text if re.search(r"\nENTRY .*(?:\n(?!\}).*)*\n\}\s*$", text) else None  # else half of it
    return None


def partition(path, n):
    """The module right after partitioning. A process of its own: XLA aborts on some inputs, and what comes after
    partitioning (ten times the work) is not waited for."""
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            try:
                os.dup2(os.open(os.path.join(folder, "messages"), os.O_WRONLY | os.O_CREAT), 2)
                with open(path) as f:
                    compile_text(f.read(), n, folder)
                os._exit(0)
            except BaseException as error:  # noqa: B036: the child must not return into the parent's loop
                with open(os.path.join(folder, "error"), "w") as f:
                    f.write(str(error)[:2000])
                os._exit(1)
        text, end = None, time.time() + 900
        while not (text := dumped(folder)):
            done, status = os.waitpid(child, os.WNOHANG)
            if done or time.time() > end:
                text = dumped(folder)
                if not text:
                    why = os.path.join(folder, "error")
                    raise RuntimeError(open(why).read() if os.path.exists(why) else f"XLA crashed, status {status}")
                return text
            time.sleep(0.02)
        os.kill(child, 9)
        os.waitpid(child, 0)
        return text


# ---- running ----

def without_shardings(text):
    text = re.sub(r", sharding=(\{(?:\{.*?\}(?:, (?:/\*.*?\*/)?)?)+\}|\{.*?\})(?=,|$)", "", text, flags=re.M)
    return re.sub(r", num_partitions=\d+", "", text)


def random_inputs(path):
    rng = np.random.default_rng(0)
    entry = open(path).read().split("\nENTRY ")[1]
    shapes = {int(k): (t, [int(d) for d in dims.split(",") if d])
              for t, dims, k in re.findall(r" = (\w+)\[([\d,]*)\]\S* parameter\((\d+)\)", entry)}
    inputs = []
    for k in range(len(shapes)):
        kind, dims = shapes[k]
        x = np.abs(rng.standard_normal(dims) * 0.1) if kind[0] in "fb" and kind != "pred" else rng.integers(0, 8, dims)
        inputs.append(np.asarray(x).astype({"f32": "f4", "s32": "i4", "u32": "u4", "pred": "?"}[kind]))
    return inputs


def place(x, sharding, devices):
    if sharding is None:
        return jax.device_put(x, devices[0])
    s = _jax.GSPMDSharding(devices, sharding)
    return jax.make_array_from_callback(x.shape, s, lambda index: x[index])


def run_whole(path, n):
    """Largest difference of a result, as part of how far it moved from its nearest equal-shaped input."""
    text, devices, inputs = open(path).read(), tuple(jax.devices()[:n]), random_inputs(path)
    one, many = compile_text(without_shardings(text), 1, None), compile_text(text, n, None)
    want = [np.asarray(r[0]) for r in one.execute_sharded(
        [jax.device_put(x, devices[0]) for x in inputs]).disassemble_into_single_device_arrays()]
    args = [place(x, s, devices) for x, s in zip(inputs, many.get_parameter_shardings())]
    got = many.execute_sharded(args).disassemble_into_single_device_arrays()
    worst = 0.0
    for w, parts, s in zip(want, got, many.get_output_shardings()):
        whole = np.zeros(w.shape, w.dtype)
        for index, part in zip(_jax.GSPMDSharding(devices, s).devices_indices_map(w.shape).values(), parts):
            whole[index] = np.asarray(part)
        moved = [float(np.abs(w - x).max()) for x in inputs if x.shape == w.shape and x.dtype == w.dtype and w.dtype.kind == "f"]
        scale = min([m for m in moved if m > 0], default=float(np.abs(w).max()) or 1.0)
        noise = 4 * np.finfo("f4").eps * float(np.abs(w).max())
        assert np.isfinite(w).all() and np.isfinite(whole).all(), "a result is not finite"
        worst = max(worst, max(0.0, float(np.abs(w - whole).max()) - noise) / scale)
    return worst


def run(path, n):
    """run_whole in a process of its own."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = repr(float(run_whole(path, n)))
        except BaseException as error:  # noqa: B036
            answer = f"failed: {error}"[:2000]
        os.write(send, answer.encode())
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as f:
        answer = f.read() if select.select([receive], [], [], RUN_SECONDS)[0] else "took too long"
    if answer == "took too long":
        os.kill(child, 9)
    os.waitpid(child, 0)
    return answer or "XLA crashed"


# ---- the plans ----

class Case:
    def __init__(self, model, mesh, name, options, cluster=None):
        self.model, self.mesh, self.name, self.options, self.cluster = model, mesh, name, options, cluster
        self.n = prod(int(k) for k in mesh.split("x"))

    def place(self, folder):
        """The arguments that say where: N default devices, or a file with the figures of `cluster`."""
        if not self.cluster:
            return ["--devices", str(self.n)]
        path = os.path.join(folder, "cluster.yaml")
        with open(path, "w") as f:
            f.write(CLUSTER.format(n=self.n, **self.cluster))
        return [path]

    def make(self, source, automap, folder):
        """Writes plan and export; None when the model cannot be split so on this mesh."""
        model = os.path.join(source, "examples/models", self.model + ".hlo.txt.gz")
        plan, export = os.path.join(folder, "plan.json"), os.path.join(folder, "module.hlo")
        place = self.place(folder)
        common = [*place, "--mesh", self.mesh, "--divisibility", "exact", "--reduce-at-once"] # as the partitioner does
        r = subprocess.run([automap, "plan", model, *common, *self.options, "-o", plan], capture_output=True, text=True)
        if r.returncode == 4:
            return None
        assert r.returncode == 0, r.stderr
        r = subprocess.run([automap, "export", model, *place, "--plan", plan, "--force", "-o", export], capture_output=True, text=True)
        assert r.returncode == 0, r.stderr
        with open(plan) as f:
            return json.load(f), export


def settings(globs, value):
    return [x for g in globs for x in ("--set", f"{g}={value}")]


def cases(model, mesh, count):
    """Data parallel, the named plans, on several axes both together, then random ones."""
    axes = ["x"] if "x" not in mesh else ["x", "y"]
    batch = ["batch/*:0"]
    yield Case(model, mesh, "data parallel", settings(batch, "".join(axes)))
    for name, globs in NAMED[model].items():
        yield Case(model, mesh, name, settings(globs, "".join(axes)))
        if len(axes) == 2:
            yield Case(model, mesh, f"data parallel x {name}", settings(batch, "x") + settings(globs, "y"))
    for seed in range(count):
        yield Case(model, mesh, f"random {seed}", ["--random", str(seed)])


def relaxed_cases(model, mesh):
    """The best relaxed plan at each speed, and with the named splits pinned."""
    last = "y" if "x" in mesh else "x"
    mode = ["--mode", "relaxed"]
    for speed, cluster in SPEEDS.items():
        yield Case(model, mesh, f"best, {speed}", mode, cluster)
    for name, globs in NAMED[model].items():
        yield Case(model, mesh, f"{name} pinned, slow links", mode + settings(globs, last), SPEEDS["slow links"])


def walks(plan):
    """The collectives of a relaxed plan, way by way: [{kind, axes (a set), count, bytes}, ..]."""
    found = {}
    for r in plan["reshards"]:
        key = (r["value"], r["leaf"], r["user"], r.get("becomes", ""), r.get("operand", 0), r.get("inside", 0))
        axes = {a["name"] for a in plan["axes"] if a["name"] in r["axes"]}
        found.setdefault(key, []).append(dict(kind=r["kind"], axes=axes, count=r["times"], bytes=r["bytes"],
                                              step=r.get("step", 0), **{"from": r["from"], "to": r["to"]}))
    return found


def reduced_apart(plan):
    """{(value, leaf): axes} along which an instruction that reduces several dims reduces some by themselves."""
    return {key[:2]: set().union(*(r["axes"] & set(r["from"].partition("+")[2]) for r in way))
            for key, way in walks(plan).items() if key[-1]}


def combine_at_once(way, counts, apart=frozenset()):
    """XLA's partitioner has no partial results and no reduce-scatter: what a plan reduces step by step, or scatters to
    gather again, is one all-reduce, as many bytes as the first step's; without the axes along which the instruction has
    reduced some of its dims `apart`."""
    reduced = [r for r in way if r["kind"] in ("all-reduce", "reduce-scatter")]
    if not reduced:
        return way
    counts["scattered"] += sum(r["count"] for r in way if r["kind"] == "reduce-scatter")
    counts["joined"] += sum(r["count"] for r in reduced[1:])
    scattered = set().union(*(r["axes"] for r in reduced if r["kind"] == "reduce-scatter"))
    done = [dict(reduced[0], kind="all-reduce", axes=set().union(*(r["axes"] for r in reduced)) - apart)]
    for r in way:
        back = r["axes"] & scattered if r["kind"] == "all-gather" else set()
        counts["gathered"] += r["count"] if back else 0
        if r not in reduced and r["axes"] - back:
            done.append(dict(r, axes=r["axes"] - back))
    return done


def same_arrays(text):
    """{instruction: the first that computes the same, in the same split}: XLA makes one of some of them; a broadcast that
    spreads along nothing is what it reads."""
    first, same, shape = {}, {}, {}
    for name, what in re.findall(r"^\s+(?:ROOT )?(\S+) = (.*)$", text, re.M):
        shape[name] = re.match(r"\S*?\[[\d,]*\]|", what)[0]
        spread = re.match(r"\S+ broadcast\((\S+)\), dimensions=\{([\d,]*)\}", what)
        if spread and shape[name] == shape.get(spread[1]):
            same[name] = same[spread[1]]
        else:
            same[name] = first.setdefault(re.sub(r", metadata=\{[^}]*\}", "", what), name)
    return same


def as_xla_does(plan, same=None):
    """Planned collectives as the partitioner makes them, and how often it makes them otherwise than planned; with equal
    arrays (same_arrays) taken for one."""
    counts, same = dict(scattered=0, joined=0, gathered=0, shared=0), same or {}
    if plan["mode"] != "relaxed":
        return planned(plan), counts
    found, seen, apart = [], set(), reduced_apart(plan)
    for (value, leaf, user, *_, inside), way in walks(plan).items():
        for r in combine_at_once(way, counts, set() if inside else apart.get((value, leaf), set())):
            key = (same.get(value, value), leaf, r["kind"], r["from"], r["to"])
            if r["step"] == 0 and user and key in seen:  # XLA reshards a value once to each split, whoever asks
                counts["shared"] += r["count"]
                continue
            if r["step"] == 0:  # further steps are of copies, each of its own
                seen.add(key)
            found.append(dict(r, axes="".join(sorted(r["axes"]))))
    return planned(dict(plan, collectives=found)), counts


def fingerprint(plan):
    if plan["mode"] == "relaxed":
        return json.dumps([plan["instructions"], plan["values"]])
    return json.dumps([[d.get("parameter", d.get("instruction")), d["leaf"], d["dim"], d["split"]]
                       for d in plan["decisions"] if d["split"]])


def totals(found):
    sums = {}
    for (kind, _), (count, size) in found.items():
        add(sums, kind, count, size)
    return {k: list(v) for k, v in sorted(sums.items())}


def judge(case, args, folder, seen):
    """A row of the table, or None when there is no such plan or it came up before."""
    made = case.make(args.source, args.automap, folder)
    if not made:
        return None
    plan, export = made
    key = (case.model, case.mesh, fingerprint(plan))
    if key in seen:
        return None
    seen.add(key)
    row = dict(model=case.model, mesh=case.mesh, plan=case.name, options=case.options, planned=totals(planned(plan)))
    wanted, row["counts"] = as_xla_does(plan)
    try:
        found = collectives(partition(export, case.n), case.n)
        if found != wanted:
            with open(export) as f:
                wanted, row["counts"] = as_xla_does(plan, same_arrays(f.read()))
        row["inserted"], row["agree"] = totals(found), found == wanted
    except RuntimeError as error:
        row["inserted"], row["agree"], row["error"] = {}, False, str(error)
    if args.run and not case.name.startswith("random"):
        row["run"] = run(export, case.n)
        row["agree"] &= row["run"].replace(".", "").replace("e-", "").isdigit() and float(row["run"]) <= ATOL_OF_CHANGE
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("automap")
    parser.add_argument("--relaxed", action="store_true", help="relaxed plans instead of strict ones")
    parser.add_argument("--models")
    parser.add_argument("--meshes")
    parser.add_argument("--random", type=int, default=20)
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--out", help="append a JSON line per plan that XLA took")
    args = parser.parse_args()
    models = args.models.split(",") if args.models else RELAXED_MODELS if args.relaxed else MODELS
    meshes = args.meshes.split(",") if args.meshes else RELAXED_MESHES if args.relaxed else MESHES
    table, seen, failed, counts = {}, set(), 0, {}
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            for mesh in meshes:
                for case in relaxed_cases(model, mesh) if args.relaxed else cases(model, mesh, args.random):
                    row = judge(case, args, folder, seen)
                    if not row:
                        continue
                    failed += not row["agree"]
                    for what, count in row["counts"].items():
                        counts[what] = counts.get(what, 0) + count
                    good = table.setdefault((model, mesh), [0, 0])
                    good[0] += row["agree"]
                    good[1] += 1
                    if not row["agree"]:
                        print(f"DISAGREE {model} {mesh} {row['plan']}: planned {row['planned']}, inserted {row['inserted']} "
                              f"{row.get('run', '')} {row.get('error', '')[:300]}", flush=True)
                    if args.out and row["inserted"]:
                        with open(args.out, "a") as f:
                            f.write(json.dumps({k: row[k] for k in ("model", "mesh", "plan", "options", "inserted")}) + "\n")
                if (model, mesh) in table:
                    print(f"{model:14} {mesh:4} {table[model, mesh][0]} of {table[model, mesh][1]} agree", flush=True)
    if args.relaxed:
        for what, words in OTHERWISE.items():
            print(f"{counts.get(what, 0):6} {words}")
    print(f"{sum(g for g, _ in table.values())} of {sum(a for _, a in table.values())} plans agree with XLA")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
