#!/bin/sh
# automap search --kind pp: JSON by its schema, the same bits again, plan files, export, explain, refusals.
command -v python3 >/dev/null || { echo "skipped: JSON is read here with python3, its standard library"; exit 77; }
set -eu
source=$1 automap=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
base=$source/examples/models/t5-base6.hlo.txt.gz
scan=$source/examples/models/decoder-scan.hlo.txt.gz
c=$source/examples/clusters/c-4x8-v100.yaml
b=$source/examples/clusters/b-3x8-v100.yaml
"$automap" search "$base" "$c" --kind pp --batch 256 --micro-batches 16 --algo dqn --episodes 60 --seed 3 --json \
    --plan "$dir/plan.json" > "$dir/one.json"
"$automap" search "$base" "$c" --kind pp --batch 256 --micro-batches 16 --algo dqn --episodes 60 --seed 3 \
    --plan "$dir/again.json" > "$dir/one.txt"
cmp "$dir/plan.json" "$dir/again.json"
"$automap" plan "$base" "$c" --plan "$dir/plan.json" --json > "$dir/read.json"
# what a pipeline plan cannot answer is refused, not ignored
for asked in --stability '--mode relaxed' '--memory-limit device' '--reward paper' '--micro-batches 2'; do
    # shellcheck disable=SC2086
    if "$automap" plan "$base" "$c" --plan "$dir/plan.json" $asked > /dev/null 2>"$dir/said" || ! grep -q 'a pipeline plan is shown as it is' "$dir/said"; then
        echo "$asked of a pipeline plan is not refused"; exit 1
    fi
done
# memory over the schedule: the worst stage, what lies at its peak, what lowers it
"$automap" plan "$base" "$c" --plan "$dir/plan.json" --memory > "$dir/memory.txt"
grep -Eq '^  peak +[0-9.]+ GB  of 16.0 GB: fits; stage [0-9]+ at [0-9.]+ ms' "$dir/memory.txt"
grep -Eq ' kept +exp\.' "$dir/memory.txt"
grep -q 'recompute: stages keep their inputs only' "$dir/memory.txt"
"$automap" export "$base" "$c" --plan "$dir/plan.json" --format trace -o "$dir/trace.json"
"$automap" export "$base" "$c" --plan "$dir/plan.json" --format jax -o "$dir/stages.py"
"$automap" export "$base" "$c" --plan "$dir/plan.json" --format json -o "$dir/out.json"
"$automap" search "$base" "$c" --kind pp --batch 256 --micro-batches 16 --algo race --episodes 50 --json > "$dir/race.json"
"$automap" search "$base" "$b" --kind pp --batch 240 --micro-batches 15 --algo enumerate --seeds 2 --json > "$dir/two.json"
python3 - "$dir" << 'P' || exit 1
import ast, json, sys
d = sys.argv[1]
one, plan, read, out, race, two, trace = (json.load(open(f"{d}/{n}.json")) for n in ("one", "plan", "read", "out", "race", "two", "trace"))
search = one.pop("search")
fewer = one.pop("fewer_devices") # of the search, not of the plan
assert fewer is None or fewer["step_time_ms"] < one["step_time_ms"]
memory = search["memory"]
assert len(memory["stages"]) == len(one["stages"])
for m, s in zip(memory["stages"], one["stages"]):
    kinds = sum(v for k, v in m.items() if k.endswith("_bytes"))
    assert abs(kinds - m["bytes"]) < 1 and abs(m["bytes"] / s["memory_bytes"] - 1) < 0.05
    assert abs(m["parameter_bytes"] + m["gradient_bytes"] + m["optimizer_bytes"] - s["state_bytes"]) < 1
assert memory["change"]["bytes"] < max(m["bytes"] for m in memory["stages"])
assert one == plan == read == out and one["schema"] == "automap.pipeline/1"
n = len(one["stages"])
assert len(one["device_cuts"]) == len(one["pivots"]) == len(one["transfers"]) == n - 1
assert sum(s["devices"] for s in one["stages"]) == 32 and one["device_cuts"] == sorted(set(one["device_cuts"]))
assert [p["share"] for p in one["pivots"]] == sorted(p["share"] for p in one["pivots"])
assert all(set(p) >= {"instruction", "layer", "share"} for p in one["pivots"])
assert all(s["variables"] > 0 and s["memory_bytes"] <= 16e9 and s["forward_ms"] > 0 for s in one["stages"])
assert set(one["makespan_ms"]) == {"eager", "1f1b", "gpipe"} and one["step_time_ms"] == one["makespan_ms"]["eager"]
assert one["certified"] is True and one["fits"] is True and one["options"]["batch"] == 256
assert one["certified_scope"].startswith("over cuts at ") and search["proven_scope"] == one["certified_scope"]
# the candidates' best is no better than the optimum over all cuts, and the DQN no better than the best candidate
assert one["optimum_L_ms"] <= search["candidate_L_ms"] + 1e-9 <= search["found_L_ms"] + 2e-9
assert search["evaluations"] == 60
best = {r["algo"]: r["L_ms"] for r in race["runners"]}
assert set(best) == {"dqn", "random", "greedy", "enumerate", "descent", "exact", "infer"} and min(best.values()) == best["exact"]
assert [len(r["curve"]) == len(race["evaluations"]) for r in race["runners"]]
assert two["schema"] == "automap.pipelines/1" and len(two["runs"]) == 2
assert two["runs"][0]["search"]["proven"] and two["runs"][0]["device_cuts"] == two["runs"][1]["device_cuts"]
# every stage runs every micro-batch forward and backward, nothing overlaps within a row, the end is the makespan
rows = {}
for e in trace["traceEvents"]:
    if e["ph"] == "X":
        rows.setdefault(e["tid"], []).append(e)
for tid, events in rows.items():
    if tid % 2 == 0:
        for kind in ("forward", "backward"):
            assert {e["name"] for e in events if e["cat"] == kind} == {f"{kind} {m}" for m in range(16)}, (tid, kind)
        events.sort(key=lambda e: e["ts"])
        assert all(a["ts"] + a["dur"] <= b["ts"] + 2e-3 for a, b in zip(events, events[1:]))
end = max(e["ts"] + e["dur"] for events in rows.values() for e in events)
assert abs(end / 1e3 - one["step_time_ms"]) < 1e-2, end
# the stages hold every variable, the tied one twice
tree = ast.parse(open(f"{d}/stages.py").read())
stages = next(x.value for x in tree.body if isinstance(x, ast.Assign) and x.targets[0].id == "STAGES")
names = [ast.literal_eval(v) for s in stages.elts for k, v in zip(s.keys, s.values) if k.value == "parameters"]
assert len(names) == n and len({x for s in names for x in s}) == 155
if n > 1:
    assert sum("embedding" in s for s in names) >= 2, [len(s) for s in names]
P
grep -q 'taken  .*by simulation' "$dir/one.txt"

# an instruction's place: the first product of the encoder on the first stage, the loss on the last
"$automap" explain "$base" "$c" --plan "$dir/plan.json" neg.23 > "$dir/why"
grep -q "runs on stage $(grep -c '"in_flight"' "$dir/plan.json" | awk '{print $1-1}')," "$dir/why"

# a loop's layers are told apart, and memory decides: without recomputing nothing fits 2 GB
"$automap" search "$scan" "$c" --kind pp --algo descent --episodes 200 --json > "$dir/scan.json"
grep -q '"layer":	"layers\[[0-9]*\]"' "$dir/scan.json"

# --kind all: each kind's best, ranked; the first is written, whatever its kind, and costs the same when read
tiny=$source/examples/models/t5-tiny.hlo.txt.gz
for model in "$tiny" "$base"; do
    "$automap" search "$model" "$b" --kind all --episodes 200 --quiet --json --plan "$dir/best.json" > "$dir/all.json"
    "$automap" plan "$model" "$b" --plan "$dir/best.json" $(grep -q 'automap.plan/1' "$dir/best.json" &&
        sed -n 's/.*"setting":	"mesh \([0-9x]*\).*/--mesh \1/p' "$dir/all.json" | head -1) --json > "$dir/read.json"
    python3 - "$dir" << 'P' || exit 1
import json, sys
result, best, read = (json.load(open(f"{sys.argv[1]}/{n}.json")) for n in ("all", "best", "read"))
kinds = result["kinds"]
assert {k["kind"] for k in kinds} == {"opp", "adp", "opp+adp", "pp", "hybrid", "place"} and all(k["exists"] and k["why"] for k in kinds)
place = [k for k in kinds if k["kind"] == "place"][0]
assert 0 < place["stream_ms"] <= place["step_time_ms"] and "stream" in place["why"] + place["proven_scope"]
assert [(not k["fits"], k["step_time_ms"]) for k in kinds] == sorted((not k["fits"], k["step_time_ms"]) for k in kinds)
of = {k["kind"]: k for k in kinds}
assert of["opp+adp"]["step_time_ms"] <= min(of["opp"]["step_time_ms"], of["adp"]["step_time_ms"], result["step_time_ms"]) + 1e-9
assert all(abs(k["compute_ms"] + k["waiting_ms"] - k["step_time_ms"]) < 1e-6 for k in kinds)
assert abs(best["step_time_ms"] - kinds[0]["step_time_ms"]) < 1e-9 * best["step_time_ms"] and read["step_time_ms"] == best["step_time_ms"]
assert (best["mode"] == "pipeline") == (kinds[0]["kind"] in ("pp", "place"))
assert all("loses" in k["why"] for k in kinds if k["step_time_ms"] > kinds[0]["step_time_ms"])
P
done

# one batch and one limit for all kinds: what plan finds within it on the one mesh there is, all kinds allowed
four=$source/examples/clusters/v100-1x4.yaml
"$automap" search "$base" "$four" --kind all --algo exact --quiet --no-journal --memory-limit '5 GB' --json > "$dir/all.json"
"$automap" plan "$base" "$four" --memory-limit '5 GB' --micro-batches auto --zero auto --json > "$dir/limited.json"
"$automap" search "$base" "$four" --kind all --algo exact --quiet --no-journal --batch 64 --micro-batches 4 --json > "$dir/larger.json"
"$automap" search "$base" "$c" --kind all --algo exact --quiet --no-journal --set 'network.bandwidth=100 Gbit/s' --json > "$dir/faster.json"
"$automap" search "$base" "$c" --kind all --algo exact --quiet --no-journal --json > "$dir/asis.json"
python3 - "$dir" << 'P' || exit 1
import json, sys
get = lambda n: json.load(open(f"{sys.argv[1]}/{n}.json"))
of = lambda n: {k["kind"]: k for k in get(n)["kinds"]}
limited, plan, larger, faster, asis = of("all"), get("limited"), of("larger"), of("faster"), of("asis")
assert all(k["memory_bytes"] <= 5e9 for k in limited.values() if k.get("fits")) and limited["opp+adp"]["fits"]
assert limited["opp+adp"]["step_time_ms"] == plan["step_time_ms"] and limited["pp"]["fits"]
assert get("all")["compared_at"] == {"batch": 32, "memory_limit_bytes": 5e9} and get("larger")["compared_at"]["batch"] == 64
assert all("4 micro-batches" in k["setting"] for k in larger.values() if k["exists"])
assert larger["opp+adp"]["compute_ms"] > 1.5 * limited["opp+adp"]["compute_ms"]
assert all(faster[k]["step_time_ms"] <= asis[k]["step_time_ms"] for k in asis if k != "place") and faster["pp"]["step_time_ms"] < 0.8 * asis["pp"]["step_time_ms"]
P

# a pinned cut holds in every algorithm and in the plan that is taken
at=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["pivots"][0]["instruction"])' "$dir/plan.json")
for algo in dqn random greedy enumerate descent exact; do
    "$automap" search "$base" "$c" --kind pp --batch 256 --micro-batches 16 --algo $algo --episodes 40 --pin-cut "6:$at" \
        --pin-cut 20:60% --json > "$dir/pinned.json"
    python3 - "$dir/pinned.json" "$at" << 'P' || { echo "$algo moves a pinned cut"; exit 1; }
import json, sys
plan = json.load(open(sys.argv[1]))
cuts = dict(zip(plan["device_cuts"], plan["pivots"]))
assert cuts[6]["instruction"] == sys.argv[2] and abs(cuts[20]["share"] - 0.6) < 0.02, cuts
assert plan["search"]["found_L_ms"] >= plan["optimum_L_ms"] - 1e-9 and plan["certified"]
P
done

# refusals
refuse() {
    want=$1; shift
    code=0
    "$@" > "$dir/out" 2> "$dir/err" || code=$?
    [ $code = "$want" ] || { echo "exit $code, not $want: $*"; cat "$dir/err"; exit 1; }
}
refuse 2 "$automap" search "$base" "$c" --kind pp --batch 256 --micro-batches 15
refuse 1 "$automap" search "$base" "$c" --kind pp --algo anneal
refuse 1 "$automap" search "$base" "$c" --kind pp --overlap 2
refuse 1 "$automap" search "$base" "$c" --kind pp --pin '#0:0=1'
refuse 2 "$automap" search "$base" "$c" --kind all --algo exact --batch 64 --micro-batches 3
refuse 1 "$automap" search "$base" "$c" --kind pp --set network
refuse 1 "$automap" search "$base" "$c" --kind pp --pin-cut 8
refuse 2 "$automap" search "$base" "$c" --kind pp --pin-cut 8:nothing
refuse 2 "$automap" search "$base" "$c" --kind pp --pin-cut 32:50%
refuse 4 "$automap" search "$base" "$c" --kind pp --pin-cut 8:50% --pin-cut 16:25%
refuse 2 "$automap" search "$base" "$c" --kind pp --set network.speed=1
refuse 1 "$automap" search "$base" "$c" --kind pp --memory-limit big
for share in 101% nan% -5% 0x10%; do
    refuse 2 "$automap" search "$base" "$c" --kind pp --pin-cut "8:$share"
done
# stages that no plan can have are not a matter of memory
refuse 4 "$automap" search "$base" "$c" --kind pp --stages 33
grep -q '33 stages of 32 devices' "$dir/err"
refuse 4 "$automap" search "$base" "$c" --kind pp --stages 9 --points 8
grep -q '9 stages, expected at most [1-8]: each holds a trainable variable' "$dir/err"
# one option lifts the limit of every kind
refuse 4 "$automap" search "$base" "$c" --kind pp --batch 256 --micro-batches 16 --algo exact --memory-limit '1 MB'
refuse 0 "$automap" search "$base" "$c" --kind pp --batch 256 --micro-batches 16 --algo exact --memory-limit none --json
grep -q '"memory_limit":	false' "$dir/out"
refuse 1 "$automap" search "$base" "$c" --kind pp --no-memory-limit
refuse 1 "$automap" search "$base" "$c" --kind pp --zero 1
refuse 1 "$automap" plan "$base" "$c" --plan "$dir/plan.json" --optimum
refuse 1 "$automap" export "$base" "$c" --plan "$dir/plan.json" --format hlo
refuse 1 "$automap" export "$base" "$c" --plan "$dir/plan.json" --sharding v1
refuse 2 "$automap" explain "$base" "$c" --plan "$dir/plan.json" --reshard 1
refuse 2 "$automap" plan "$base" "$b" --plan "$dir/plan.json"
grep -q 'for another cluster' "$dir/err"
refuse 2 "$automap" plan "$scan" "$c" --plan "$dir/plan.json"
grep -q 'for another model' "$dir/err"
# Where the cluster says how products run, the last backward pass hides all-reduces; a file says so.
dgx="$source/examples/clusters/dgx-a100-1x8.yaml"
for kind in pp hybrid; do
    "$automap" search "$base" "$dgx" --kind $kind --plan "$dir/auto.json" > "$dir/auto"
    grep -q 'overlap  *auto' "$dir/auto"
    grep -q '"overlap":	-1' "$dir/auto.json"
    "$automap" plan "$base" "$dgx" --plan "$dir/auto.json" | grep '^  step' > "$dir/again"
    grep '^  step' "$dir/auto" | cmp - "$dir/again"
    [ $kind = hybrid ] || python3 -c 'import json, sys; p = json.load(open(sys.argv[1]))
assert p["optimum_L_ms"] <= p["L_ms"] + 1e-9, (p["optimum_L_ms"], p["L_ms"])' "$dir/auto.json" # one price for both
    "$automap" search "$base" "$dgx" --kind $kind --overlap 0 > "$dir/none"
    for text in auto none; do sed -n 's/^  step  *\([0-9.]*\) ms.*/\1/p' "$dir/$text"; done |
        awk '{ ms[NR] = $1 } END { exit !(NR == 2 && ms[1] < ms[2]) }'
done
# the explorer's views ask the same
for view in i:pp h:hybrid; do
    "$automap" search "$base" "$dgx" --kind "${view#*:}" --batch 64 | sed -n 's/^  step  *\([0-9.]* ms\).*/\1/p' > "$dir/step"
    "$automap" screen "$base" "$dgx" --batch 64 --keys "V ${view%:*}" | grep -q "^ $(cat "$dir/step") simulated"
done
# nothing is slower for what runs beside it, however slow the links
for kind in pp hybrid; do
    for overlap in auto 0; do
        "$automap" search "$base" "$dgx" --kind $kind --stages 1 $([ $kind = pp ] || echo --dp 8 --tp 1 --zero 3) \
            --micro-batches 4 --set 'servers.*.link.bandwidth=1 GB/s' --overlap $overlap --memory-limit none |
            tr -d , | sed -n 's/^  step  *\([0-9.]*\) ms.*/\1/p'
    done | awk '{ ms[NR] = $1 } END { exit !(NR == 2 && ms[1] <= ms[2]) }'
done
sed 's/"overlap":	-1/"overlap":	-2/' "$dir/auto.json" > "$dir/bad.json"
refuse 2 "$automap" plan "$base" "$dgx" --plan "$dir/bad.json"
sed 's/"overlap":	0/"overlap":	"none"/' "$dir/plan.json" > "$dir/bad.json"
refuse 2 "$automap" plan "$base" "$c" --plan "$dir/bad.json"
grep -q 'options.overlap: expected a number' "$dir/err"
sed 's/"position":	[0-9]*/"position":	7/' "$dir/plan.json" > "$dir/bad.json"
refuse 2 "$automap" plan "$base" "$c" --plan "$dir/bad.json"
