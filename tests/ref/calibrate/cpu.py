"""Steps of models measured on one CPU device, for automap calibrate. Each is compiled by XLA and run on one thread under
the profiler; of several runs the fastest of each operation counts, so that other work on the machine does not.
Models need op_names: examples/models/NAME.meta.hlo.txt.gz.
usage: cpu.py AUTOMAP OUT MODEL...    writes OUT/NAME.profile.json and OUT/NAME.ms, what a run takes as a whole"""
import collections, glob, gzip, json, os, shutil, subprocess, sys, time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
try:  # before all other work of the machine: with 30 processes at work steps are else 2 to 10 times as long
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
except PermissionError:
    print("not at real-time priority: other work on this machine is in the times", flush=True)
import jax
import numpy as np
from jaxlib import _hlo, _jax

RUNS, LONGEST = 8, 4  # runs, and seconds that a model may take in all


def text_of(path):
    return (gzip.open if path.endswith(".gz") else open)(path, "rt").read()


def argument(shape, rng):
    kind = np.dtype(shape.numpy_dtype())
    if kind.kind == "f" or kind.name == "bfloat16":
        return np.asarray(rng.normal(0, 0.02, shape.dimensions()), np.float32).astype(kind)
    return np.asarray(rng.integers(0, 2, shape.dimensions())).astype(kind)


def fastest(trace):
    """The trace with one run: of each operation the fastest."""
    data = json.load(gzip.open(trace))
    runs = collections.defaultdict(lambda: collections.defaultdict(float))
    for e in data["traceEvents"]:
        if "hlo_op" in e.get("args", {}):
            runs[e["args"]["hlo_op"]][e["args"]["run_id"]] += e["dur"]
    seen, kept = set(), []
    for e in data["traceEvents"]:
        op = e.get("args", {}).get("hlo_op")
        if op and op not in seen:
            seen.add(op)
            e["args"]["run_id"] = "1"
            e["dur"] = min(runs[op].values())
            kept.append(e)
    return {"traceEvents": kept}


def measure(automap, out, path):
    name = os.path.basename(path).split(".")[0]
    module = _hlo.hlo_module_from_text(text_of(path))
    mlir = _jax.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
    client = jax.devices()[0].client
    program = client.compile_and_load(mlir, _jax.DeviceList((jax.devices()[0],)), _jax.CompileOptions())
    shapes = _hlo.XlaComputation(module.as_serialized_hlo_module_proto()).program_shape().parameter_shapes()
    rng = np.random.default_rng(0)

    arguments = [argument(s, rng) for s in shapes]

    def inputs():  # a run may take what it is given for its results
        return [jax.device_put(a) for a in arguments]

    def run(args):
        start = time.perf_counter()
        for a in program.execute_sharded(args).disassemble_into_single_device_arrays():
            a[0].block_until_ready()
        return (time.perf_counter() - start) * 1e3
    first = run(inputs())
    runs = max(2, min(RUNS, int(LONGEST * 1e3 / max(first, 1))))
    work = os.path.join(out, name + ".trace")
    shutil.rmtree(work, ignore_errors=True)
    with jax.profiler.trace(work):
        walls = [run(inputs()) for _ in range(runs)]
    trace = os.path.join(out, name + ".json")
    with open(trace, "w") as f:
        json.dump(fastest(glob.glob(work + "/plugins/profile/*/*.trace.json.gz")[0]), f)
    shutil.rmtree(work)
    with gzip.open(os.path.join(out, name + ".compiled.gz"), "wt") as f:
        f.write(program.hlo_modules()[0].to_string())
    with open(os.path.join(out, name + ".ms"), "w") as f:
        f.write("%.3f\n" % min(walls))
    said = subprocess.run([automap, "profile", trace, path, "--compiled", os.path.join(out, name + ".compiled.gz"), "-o",
                           os.path.join(out, name + ".profile.json")], capture_output=True, text=True)
    print("%-28s %9.3f ms, %d runs: %s" % (name, min(walls), runs, said.stderr.strip().split("\n")[-1]), flush=True)


if __name__ == "__main__":
    for model in sys.argv[3:]:
        try:
            measure(sys.argv[1], sys.argv[2], model)
        except Exception as e:  # one model that XLA's CPU backend does not take is no end of the others
            print("%-28s %s" % (os.path.basename(model), str(e).strip().split("\n")[0][:120]), flush=True)
