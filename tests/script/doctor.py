"""doctor.py AUTOMAP DATA: automap doctor against the answer key of programs whose dumps XLA made and
whose cures were compiled and run (jaxlib 0.10.2, CPU). Per program: sent bytes, verdict, cause and
cause lines of its collectives, and what its cure leaves. Prints k of n; 0 when all are right."""
import json, subprocess, sys

automap, data = sys.argv[1:3]

# program: bytes, sent, {(cause, verdict, cause line)}, bytes left by the cures (None: no cure)
W, U, S = "wanted", "unwanted", "unsure"
KEY = {
    "batched_shuffle": (786432, 688128, {("gather-unprovable", U, 14)}, 0),
    "concat_split": (131072, 114688, {("unsplittable-dim", U, 11)}, 0),
    "contract_bf16": (65536, 98304, {("partial-sum", U, 11)}, 0),
    "contract_both": (131072, 196608, {("partial-sum", W, 12)}, None),
    "contract_one": (2097152, 1835008, {("operand-gather", U, 11)}, 65536),
    "control_batched": (0, 0, set(), None),
    "conv_halo": (32768, 32768, {("halo", S, 11)}, 0),
    "cumsum_split": (524288, 458752, {("unsplittable-dim", U, 11)}, 0),
    "dp_grads": (40964, 71687, {("partial-sum", W, 12)}, None),
    "dropout_keys": (1376256, 1245184, {("random", U, 12)}, 0),
    "fsdp_gather": (1048576, 917504, {("weight-gather", W, 11), ("weight-gather", W, 12)}, None),
    "fsdp_remat": (1048576, 1376256, {("weight-gather", W, 10), ("partial-sum", U, 10)}, 524288 + 65536),
    "full_remat": (1572864, 917504, {("full-remat", U, 12)}, 262144),
    "gather_rows": (532480, 924672, {("gather-rows", U, 11)}, 0),
    "host_callback": (524288, 688128, {("host", U, 12)}, 0),
    "layernorm_split": (4096, 7168, {("partial-sum", S, 11), ("partial-sum", S, 12)}, 0),
    "moe_dispatch": (196608, 172032, {("dispatch", W, 12), ("dispatch", W, 14)}, None),
    "output_whole": (524288, 458752, {("output", U, None)}, 0),
    "permute_rows": (524288, 458752, {("gather-unprovable", U, 12)}, 0),
    "reshape_heads": (491520, 270336, {("reshape", U, 12), ("output", U, None)}, 0),
    "reshape_merge": (65536, 57344, {("reshape", U, 12)}, 0),
    "reshard_layers": (589824, 516096, {("constraint", U, 12), ("constraint", U, 13)}, 0),
    "scatter_add": (1048576, 1835008, {("scatter", S, 12)}, 0),
    "shardmap_psum": (131072, 229376, {("by-hand", U, 13)}, 16384),
    "slice_split": (512, 512, {("halo", S, 11)}, 0),
    "softmax_split": (4096, 7168, {("partial-sum", S, 11)}, 0),
    "sort_split": (131072, 114688, {("unsplittable-dim", U, 11)}, 0),
    "transpose_axes": (65536, 57344, {("mismatch", U, 11)}, 0),
    "while_carry": (1474560, 1290240, {("loop", U, 12), ("loop", U, 14)}, 65536),
}


# What the program planned again leaves: bytes as the compiled cure has them, where a sharding is all
# that changes. layernorm's scale stays in pieces, as it is stored. None: no change is found.
PLANNED = {
    "batched_shuffle": 0, "concat_split": 0, "contract_one": 65536, "conv_halo": 0, "cumsum_split": 0,
    "full_remat": 262144, "gather_rows": 0, "layernorm_split": 4096, "output_whole": 0, "permute_rows": 0,
    "reshape_merge": 0, "reshard_layers": 0, "scatter_add": 0, "slice_split": 0, "softmax_split": 0,
    "sort_split": 0, "transpose_axes": 0, "while_carry": 65536,
}


def diagnose(name, stage):
    """Compiled text has lost the constraints: they are in the program before."""
    more = [] if stage == "spmd" else ["--before", f"{data}/{name}.bad.shardy.before.hlo.gz"]
    dump = "final" if stage == "final" else "spmd"
    r = subprocess.run([automap, "doctor", f"{data}/{name}.bad.shardy.{dump}.hlo.gz", "--json", *more],
                       capture_output=True, text=True)
    if r.returncode:
        return {"error": r.stderr.strip()}
    return json.loads(r.stdout)


def check(name, stage):
    """The faults of one answer, as sentences."""
    size, sent, causes, left = KEY[name]
    d = diagnose(name, stage)
    if "error" in d:
        return [d["error"]]
    faults = []
    found = {(c["cause"], c["verdict"], c.get("line_of_cause", {}).get("line")) for c in d["collectives"]}
    if found != causes:
        faults.append(f"found {sorted(found, key=str)}, expected {sorted(causes, key=str)}")
    if stage == "planned":
        left = {c["planned"]["bytes"] for c in d["collectives"] if "planned" in c}
        if left != ({PLANNED[name]} if name in PLANNED else set()):
            faults.append(f"planned again leaves {sorted(left)}, expected {PLANNED.get(name)}")
    if stage == "spmd":
        if (d["bytes"], d["sent_bytes"]) != (size, sent):
            faults.append(f"{d['bytes']:.0f} B, sent {d['sent_bytes']:.0f}, expected {size}, {sent}")
        cured = any("after" in c for c in d["collectives"])
        if cured != (left is not None):
            faults.append("a cure" + (" where none is" if cured else " is missing"))
        elif cured and d["cured_bytes"] != left:
            faults.append(f"cured {d['cured_bytes']:.0f} B, expected {left}")
    return faults


bad = 0
for stage in ("spmd", "final", "planned"):
    right = 0
    for name in sorted(KEY):
        faults = check(name, stage)
        right += not faults
        for fault in faults:
            print(f"{stage} {name}: {fault}")
    print(f"{stage}: {right} of {len(KEY)}")
    bad += right < len(KEY)
sys.exit(bad > 0)
