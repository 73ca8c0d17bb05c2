"""Memory of one device for plans of the example models, as XLA's CPU compiler plans it (memory scheduler).

Exports each plan with its shardings, compiles it for simulated devices, and appends one JSON line per plan to OUT; plans that
stand there already are left out. Needs jax 0.10:
    python tests/ref/memory/memory.py SOURCE AUTOMAP tests/ref/memory/memory.jsonl [MODEL ...]
"""
import json
import os
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

T5 = {"whole": [], "batch": ["batch/source:0=1"],
      "table 3": ["*self/q/kernel:1=1", "*cross/q/kernel:1=1", "*conv1/kernel:1=1", "embedding:0=1"],
      "heads": ["*self/q/kernel:1=1", "*cross/q/kernel:1=1"], "feed-forward": ["*conv1/kernel:1=1"],
      "2x4: batch, table 3": ["batch/source:0=x", "*self/q/kernel:1=y", "*cross/q/kernel:1=y", "*conv1/kernel:1=y", "embedding:0=y"]}
PLANS = {
    "t5-tiny": T5,
    "t5-base6": T5,
    "mlp": {"whole": [], "batch": ["batch/images:0=1"], "hidden": ["layer_0/kernel:1=1"]},
    "moe": {"whole": [], "batch": ["batch/tokens:0=1"], "feed-forward": ["moe_*/up/kernel:2=1"]},
    "decoder-scan": {"whole": [], "batch": ["batch/tokens:0=1"], "Megatron": ["layers/self/q/kernel:2=1", "layers/ffn/up/kernel:2=1"]},
    "vgg19": {"whole": [], "batch": ["batch/images:0=1"], "table 4": ["fc6/kernel:1=1", "fc8/kernel:1=1"]},
    "resnet20": {"whole": [], "batch": ["batch/images:0=1"]},
    "t5-base12": {"whole": [], "batch": ["batch/source:0=1"], "table 3": T5["table 3"]},
    "t5-3b": {"whole": [], "table 3": T5["table 3"]},
    "t5-11b": {"whole": []},
    "bert48": {"whole": [], "batch": ["batch/tokens:0=1"],
               "Megatron": ["*self/q/kernel:1=1", "*ffn/conv1/kernel:1=1"]},
}
ORDER = ["t5-tiny", "mlp", "moe", "decoder-scan", "vgg19", "resnet20", "t5-base6", "t5-base12", "bert48", "t5-3b", "t5-11b"]


def measure(path, n):
    """In a process of its own: XLA aborts on some inputs."""
    import jax
    import numpy as np
    from jaxlib import _jax
    hlo = getattr(__import__("jaxlib", fromlist=["_hlo"]), "_hlo", _jax)
    options = _jax.CompileOptions()
    build = options.executable_build_options
    options.num_partitions = build.num_partitions = n
    build.use_spmd_partitioning, build.use_shardy_partitioner = True, False
    build.device_assignment = _jax.DeviceAssignment.create(np.arange(n).reshape(1, n))
    options.env_option_overrides = [("xla_backend_optimization_level", 0),
                                    ("xla_cpu_scheduler_type", "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED")]
    proto = hlo.hlo_module_from_text(open(path).read()).as_serialized_hlo_module_proto()
    devices = jax.devices()
    program = devices[0].client.compile_and_load(_jax.mlir.hlo_to_stablehlo(proto), _jax.DeviceList(tuple(devices[:n])), options)
    m = program.get_compiled_memory_stats()
    print(json.dumps({"arguments": m.argument_size_in_bytes, "outputs": m.output_size_in_bytes,
                      "aliased": m.alias_size_in_bytes, "temporaries": m.temp_size_in_bytes}))


def main():
    source, automap, out = sys.argv[1:4]
    known = {(k["model"], k["plan"]) for k in map(json.loads, open(out))} if os.path.exists(out) else set()
    for model in sys.argv[4:] or ORDER:
        for name, settings in PLANS[model].items():
            if (model, name) in known:
                continue
            mesh = name.split(":")[0] if ":" in name else "1" if name == "whole" else "4"
            n = eval(mesh.replace("x", "*"))
            with tempfile.TemporaryDirectory() as folder:
                plan, text = os.path.join(folder, "plan.json"), os.path.join(folder, "m.hlo")
                base = [f"{source}/examples/models/{model}.hlo.txt.gz", "--devices", str(n), "--mesh", mesh]
                sets = [x for s in settings for x in ("--set", s)]
                subprocess.run([automap, "plan", *base, *sets, "-o", plan], check=True, stdout=subprocess.DEVNULL)
                subprocess.run([automap, "export", *base, "--plan", plan, "-o", text, "--force"], check=True, stdout=subprocess.DEVNULL)
                try:
                    found = subprocess.run([sys.executable, __file__, "--one", text, str(n)], capture_output=True, text=True, timeout=900)
                except subprocess.TimeoutExpired:
                    print(model, name, "took too long", file=sys.stderr)
                    continue
            if found.returncode:
                print(model, name, found.stderr[-300:], file=sys.stderr)
                continue
            row = {"model": model, "plan": name, "mesh": mesh, "settings": settings, **json.loads(found.stdout)}
            with open(out, "a") as f:
                f.write(json.dumps(row) + "\n")


if sys.argv[1] == "--one":
    measure(sys.argv[2], int(sys.argv[3]))
else:
    main()
