"""Writes spmd.json: the collectives XLA's own partitioner inserts for known plans of the shipped models
(python tests/ref/spmd/spmd.py; needs jax 0.10; CPU backend with simulated devices).

A plan says which dim of which entry parameters is split over n devices; every other parameter is whole, results are
kept as the parameters they replace, and XLA propagates the rest; only plans it completes without a reshard are listed.
Counted right after partitioning, before XLA combines anything: one collective a value, bytes of its result on one device."""
import glob
import gzip
import json
import math
import os
import re
import tempfile

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=16"
import jax
import jaxlib
import numpy as np
from jaxlib import _hlo, _jax

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "../../../examples/models")
KINDS = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
SIZE = {"f32": 4, "s32": 4, "u32": 4, "pred": 1}

# A plan: (what of a parameter's name, dim). A moment follows its variable.
HEADS = [(r"(self|cross)/[qkv]/kernel", 1), (r"(self|cross)/[qkv]/bias", 0), (r"(self|cross)/o/kernel", 0)]
FFN = [(r"conv1/kernel", 1), (r"conv1/bias", 0), (r"conv2/kernel", 0)]
PLANS = {
    "batch": [(r"batch/.*", 0)],
    "heads, ffn, vocabulary": HEADS + FFN + [(r"embedding|embeddings/word|mlm/bias", 0), (r".*/relative_bias", 1)],
    "hidden": [(r"layer_[02]/kernel", 1), (r"layer_[02]/bias", 0), (r"layer_1/kernel", 0)],
}
CASES = [("mlp", 4, "batch"), ("mlp", 2, "hidden"), ("vgg19", 8, "batch"), ("resnet20", 8, "batch"),
         ("moe", 4, "batch"), ("t5-tiny", 4, "batch"), ("t5-tiny", 4, "heads, ffn, vocabulary"), ("t5-base6", 4, "batch"),
         ("t5-base6", 4, "heads, ffn, vocabulary"), ("t5-3b", 8, "heads, ffn, vocabulary"), ("t5-11b", 8, "batch"),
         ("t5-11b", 8, "heads, ffn, vocabulary"), ("bert48", 16, "batch")]


def splits(records, plan):
    """{parameter number: dim}"""
    found = {}
    for r in records:
        name = re.sub(r"^(params|opt/[mv])/", "", r["name"])
        for pattern, dim in PLANS[plan]:
            if re.fullmatch(r"(.*/)?(" + pattern + ")", name):
                found[r["number"]] = dim
    return found


def sharding(record, split, n):
    if record["number"] not in split:
        return "{replicated}"
    tiles = [n if d == split[record["number"]] else 1 for d in range(len(record["shape"]))]
    return f"{{devices={json.dumps(tiles, separators=(',', ':'))}<=[{n}]}}"


def annotated(text, records, split, n):
    """The state comes out in the order it went in, then the loss."""
    wanted = {r["number"]: sharding(r, split, n) for r in records}
    results = [wanted[r["number"]] for r in records if re.match(r"(params|opt|state)/", r["name"])] + ["{replicated}"]
    head, entry = re.split(r"^(?=ENTRY )", text, flags=re.M)
    entry = re.sub(r"parameter\((\d+)\)$", lambda m: f"{m[0]}, sharding={wanted[int(m[1])]}", entry, flags=re.M)
    return head + re.sub(r"^(  ROOT .* tuple\(.*\))$", rf"\1, sharding={{{', '.join(results)}}}", entry, flags=re.M)


def partitioned(text, n):
    """The module as text right after partitioning for n devices."""
    options = _jax.CompileOptions()
    build = options.executable_build_options
    options.num_partitions = build.num_partitions = n
    build.use_spmd_partitioning, build.use_shardy_partitioner = True, False
    build.device_assignment = _jax.DeviceAssignment.create(np.arange(n).reshape(1, n))
    options.env_option_overrides = [("xla_backend_optimization_level", 0)]
    with tempfile.TemporaryDirectory() as folder:
        build.debug_options.xla_dump_to, build.debug_options.xla_dump_hlo_as_text = folder, True
        build.debug_options.xla_dump_hlo_pass_re = "spmd-partitioning"
        module = _jax.mlir.hlo_to_stablehlo(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
        jax.devices()[0].client.compile_and_load(module, _jax.DeviceList(tuple(jax.devices()[:n])), options)
        with open(glob.glob(f"{folder}/*after_spmd-partitioning*")[0]) as f:
            return f.read()


def collectives(text):
    """{kind: [count, bytes]}"""
    found = {}
    for element, dims, kind in re.findall(rf" = (\w+)\[([\d,]*)\]\S* ({KINDS})\(", text):
        count, size = found.get(kind, (0, 0))
        found[kind] = [count + 1, size + SIZE[element] * math.prod(int(d) for d in dims.split(",") if d)]
    return found


def main():
    rows = []
    for model, n, plan in CASES:
        with gzip.open(os.path.join(MODELS, model + ".hlo.txt.gz"), "rt") as f:
            text = f.read()
        with open(os.path.join(MODELS, model + ".expect.json")) as f:
            records = json.load(f)["parameters"]
        split = splits(records, plan)
        found = collectives(partitioned(annotated(text, records, split, n), n))
        assert set(found) == {"all-reduce"}, (model, plan, found)
        rows.append(dict(model=model, devices=n, plan=plan, collectives=found, split=split))
        print(model, n, plan, found, flush=True)
    with open(os.path.join(HERE, "spmd.json"), "w") as f:
        f.write(f'{{"origin": "SPMD partitioner of jaxlib {jaxlib.__version__}, by spmd.py", "plans": [\n  ')
        f.write(",\n  ".join(json.dumps(row) for row in rows) + "\n]}\n")


if __name__ == "__main__":
    main()
