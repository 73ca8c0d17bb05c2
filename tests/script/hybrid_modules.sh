#!/bin/bash
# automap export --format stages: modules of stages read back as HLO, every value that is read is made, and what cannot be
# written is named.
set -u
src=$1 automap=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
fail() { echo "hybrid modules: $*"; exit 1; }
python=$(command -v python3) || { echo "skipped: no python3"; exit 77; }
models=$src/examples/models clusters=$src/examples/clusters small=$src/tests/ref/stages
# plan MODEL CLUSTER OPTION..: the plan into $dir/plan.json
plan() {
    model=$1 cluster=$clusters/$2.yaml
    shift 2
    "$automap" search "$model" "$cluster" --kind hybrid --divisibility exact "$@" --plan "$dir/plan.json" > /dev/null || fail "no plan for $model: $*"
}
# What was planned, written as a format to a file of $dir.
export_as() { "$automap" export "$model" "$cluster" --divisibility exact --plan "$dir/plan.json" --format "$1" -o "$dir/$2" || fail "no $1 of $model"; }
write() { export_as stages "$1.json"; }
# What was planned is refused, in these words.
refuses() {
    "$automap" export "$model" "$cluster" --divisibility exact --plan "$dir/plan.json" --format stages > /dev/null 2> "$dir/err"
    [ $? = 4 ] || fail "writes modules of $model"
    grep -q "$1" "$dir/err" || fail "says of $model: $(cat "$dir/err")"
}

plan "$models/t5-tiny.hlo.txt.gz" v100-1x4 --stages 2 --micro-batches 4 --schedule 1f1b --dp 2
write stages
export_as jax step.py
"$python" - "$dir" "$automap" << 'P' || fail "modules of stages"
import ast, json, subprocess, sys
dir, automap = sys.argv[1:]
plan = json.load(open(f"{dir}/stages.json"))
ast.parse(open(f"{dir}/step.py").read())
made = [v["value"] for m in plan["modules"] for v in m["outputs"]]
read = {v["value"] for m in plan["modules"] for v in m["inputs"] if "argument" not in v}
assert len(made) == len(set(made)) and read <= set(made), read - set(made)
assert {r for r in plan["results"] if isinstance(r, str)} <= set(made)
assert [o for o in plan["order"] if o[:2] == ["forward", 0]] == [["forward", 0, k] for k in range(4)]
assert len(plan["order"]) == 2 * 2 * 4
collectives = [c for m in plan["modules"] for c in m["collectives"]]
assert collectives and all(c["bytes"] > 0 for c in collectives)
kinds = {(m["pass"], c["kind"]) for m in plan["modules"] for c in m["collectives"]}
assert {p for p, k in kinds if k != "all-reduce"} == {"update"}, kinds  # ZeRO 1: new variables are gathered
for k, m in enumerate(plan["modules"]):
    open(f"{dir}/m.hlo", "w").write(m["hlo"])
    r = subprocess.run([automap, "inspect", f"{dir}/m.hlo"], capture_output=True, text=True)
    assert r.returncode == 0, (m["pass"], m["stage"], r.stderr)
    entry = m["hlo"].split("ENTRY")[1]
    assert entry.count(" parameter(") == len(m["inputs"]), m["pass"]
    if m["pass"] in ("forward", "backward"):
        assert all(v["dims"][v["batch_dim"]] % 2 == 0 for v in m["inputs"] if "batch_dim" in v)
P
# What lies in pieces at each level of ZeRO, and what is gathered where.
for zero in 0 1 2 3; do
    plan "$models/mlp.hlo.txt.gz" v100-1x4 --stages 2 --micro-batches 2 --dp 2 --zero $zero
    write z$zero
done
"$python" - "$dir" << 'P' || fail "pieces of ZeRO"
import json, sys
def look(zero):
    plan = json.load(open(f"{sys.argv[1]}/z{zero}.json"))
    names, gathers, pieces, handed = plan["arguments"], {}, {}, set()
    for m in plan["modules"]:
        assert all(c["kind"] in ("all-reduce", "all-gather") for c in m["collectives"])
        gathers[m["pass"]] = gathers.get(m["pass"], 0) + sum(c["kind"] == "all-gather" for c in m["collectives"])
        for v in m["inputs"]:
            if any(v["spec"]) and "batch_dim" not in v:
                pieces.setdefault(m["pass"], set()).add(names[v["argument"]] if "argument" in v else v["value"])
        handed |= {v["value"] for v in m["outputs"] if any(v["spec"]) and "batch_dim" not in v and m["pass"] != "update"}
    return {k: n for k, n in gathers.items() if n}, {k: len(v) for k, v in pieces.items()}, len(handed)
none, one, two, three = map(look, range(4))
assert none == ({}, {}, 0), none
assert one == ({"update": 6}, {"update": 12}, 0), one              # six variables, twelve of Adam's averages
assert two == ({"update": 6}, {"update": 18}, 6), two              # and six gradients
assert three[0] == {"prepare": 3, "forward": 3, "backward": 2}, three  # weights are cast once, biases read in passes
assert three[1]["update"] == 24 and three[2] == 6, three
P
plan "$models/resnet20.hlo.txt.gz" v100-1x4 --stages 2 --micro-batches 2
refuses 'statistic of the whole batch' # a batch norm's
# Layers in a loop that stages cut are written out: stacks go whole, every value that is read is made.
plan "$models/decoder-scan.hlo.txt.gz" v100-1x4 --stages 2 --micro-batches 2
write scan
"$python" - "$dir" "$automap" << 'P' || fail "layers in a loop"
import json, subprocess, sys
dir, automap = sys.argv[1:]
plan = json.load(open(f"{dir}/scan.json"))
made = [v["value"] for m in plan["modules"] for v in m["outputs"]]
read = {v["value"] for m in plan["modules"] for v in m["inputs"] if "argument" not in v}
assert len(made) == len(set(made)) and read <= set(made), read - set(made)
dots = {}
for m in plan["modules"]:
    open(f"{dir}/m.hlo", "w").write(m["hlo"])
    assert subprocess.run([automap, "inspect", f"{dir}/m.hlo"], capture_output=True).returncode == 0, m["pass"]
    assert " while(" not in m["hlo"], (m["pass"], m["stage"])
    dots[m["pass"]] = dots.get(m["pass"], 0) + m["hlo"].count(" dot(")
assert len(plan["stages"]) >= 2 and dots["forward"] > 12, dots  # every layer's own
P
# A branch cannot be.
plan "$small/choice.hlo.gz" v100-1x4 --stages 2 --micro-batches 1
refuses 'a conditional, has operations of stages 0 and 1 .*, which cannot be cut'
# Random bits: every micro-batch reads its part of those that are made before the passes; not of what a loop draws.
for name in dropout samples; do
    plan "$small/$name.hlo.gz" v100-1x4 --stages 2 --micro-batches 4 --dp 2
    write bits
    "$python" - "$dir/bits.json" << 'P' || fail "the bits of $name in micro-batches"
import json, sys
modules = json.load(open(sys.argv[1]))["modules"]
once = {v["value"]: m["stage"] for m in modules if m["pass"] == "prepare" for v in m["outputs"]}
parts = 0
for m in modules:
    for v in m["inputs"]:
        if m["pass"] in ("forward", "backward") and v["value"] in once and "batch_dim" in v:
            assert v["dims"][v["batch_dim"]] == 4 and m["stage"] == once[v["value"]], v
            parts += 1
assert parts >= 8, parts  # four layers, forward and backward
P
done
plan "$small/inside.hlo.gz" v100-1x4 --stages 2 --micro-batches 4
refuses 'another for every sample and made inside a loop or a branch; a plan of one micro-batch'
# Gradients that a loop adds up are sums; a mean of the batch that samples read in a loop is none.
plan "$small/recurrent.hlo.gz" v100-1x4 --stages 1 --micro-batches 4 --dp 2
write sums
plan "$small/centred.hlo.gz" v100-1x4 --stages 1 --micro-batches 4 --dp 2
refuses 'reads a statistic of the whole batch'
# Loops within a stage go with it: a recurrence and a branch; random bits wherever they are read. The norm of all gradients is
# made of a part from each stage.
for name in dropout recurrent clipped; do
    plan "$small/$name.hlo.gz" v100-1x4 --stages 2 --cut layer_2 --micro-batches 1 --dp 2
    write $name
done
# Convolutions in groups whose partial sums are added up over axes that cut the groups too: a group is a channel, or a sample.
plan "$small/depthwise.hlo.gz" a100-1x8 --stages 2 --micro-batches 2 --dp 2 --tp 2
write depthwise
plan "$small/private.hlo.gz" a100-1x8 --stages 2 --micro-batches 1 --dp 2 --tp 2
write private
"$python" - "$dir" "$automap" << 'P' || fail "loops in modules"
import json, re, subprocess, sys
dir, automap = sys.argv[1:]
def look(name):
    found, known = {}, set()
    for m in json.load(open(f"{dir}/{name}.json"))["modules"]:
        assert known.issuperset(v["value"] for v in m["inputs"] if "argument" not in v), (name, m["pass"], m["stage"])
        known.update(v["value"] for v in m["outputs"])
        open(f"{dir}/m.hlo", "w").write(m["hlo"])
        r = subprocess.run([automap, "inspect", f"{dir}/m.hlo"], capture_output=True, text=True)
        assert r.returncode == 0, (name, m["pass"], r.stderr)
        assert not re.search(r" (while|conditional)\((?!.*sharding=)", m["hlo"]), (name, m["pass"])  # they say how they are split
        loops = m["hlo"].count(" while("), m["hlo"].count(" conditional(")
        key = re.search(r" = u32\[2\]\S* parameter\(", m["hlo"].split("ENTRY")[1]) is not None
        reduced = sum(c["count"] for c in m["collectives"] if c["kind"] == "all-reduce")
        gathered = sum(c["kind"] == "all-gather" for c in m["collectives"])
        found[m["pass"], m["stage"]] = (*loops, key, reduced, gathered)
    return found
bits = look("dropout")
for stage in (0, 1):  # a key's and a mask's loop in each of two layers, made again in both passes
    assert bits["forward", stage][:3] == bits["backward", stage][:3] == (4, 0, True), bits
assert not any(v[0] for k, v in bits.items() if k[0] not in ("forward", "backward")), bits
held = look("recurrent")
assert held["forward", 0][:2] == (1, 0) and held["backward", 0][:2] == (1, 0), held
assert held["forward", 1][:2] == (0, 1) and held["backward", 1][1] >= 1, held
assert held["backward", 0][3] == 2 * 4 + 2, held  # weight and bias in each of four trips, and of the other layer
# ZeRO 1: momentum is in pieces, so each makes its piece of the update; without state nobody has to.
assert sum(v[4] for k, v in bits.items() if k[0] == "update") == 8, bits
assert not any(v[4] for v in held.values()), held
def lines(name, pattern):
    return [x for m in json.load(open(f"{dir}/{name}.json"))["modules"] for x in m["hlo"].split("\n") if re.search(pattern, x)]
# What is added up over all devices has the axis of the batch outermost, in both operands.
cut = lines("depthwise", r"\.operand[01] = .* copy\(")
batch = {v["spec"][v["batch_dim"]][0] for m in json.load(open(f"{dir}/depthwise.json"))["modules"] for v in m["inputs"] if "batch_dim" in v}
outermost = {"x": "devices=[4,1,1]<=[4]}", "y": "devices=[4,1,1]<=[2,2]T(1,0)}"}[batch.pop()]
assert not batch and len(cut) == 2 * 4 and all(outermost in x for x in cut), (batch, cut)
# A group for each sample: none is cut, for the groups would be cut first.
whole = lines("private", "feature_group_count=16")
assert len(whole) == 4 and all("sharding={replicated}" in x for x in whole), whole
for x in whole:
    name = re.match(r"  (\S+) =", x)[1]
    copies = lines("private", rf"^  {re.escape(name)}\.operand[01] = .* copy\(")
    assert len(copies) == 2 and all("sharding={replicated}" in c for c in copies), copies
joint = [p for p in look("clipped") if p[0] in ("part", "joint")]
assert joint == [("part", 0), ("part", 1), ("joint", 0)], joint
P
exit 0
