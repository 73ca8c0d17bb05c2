#!/bin/sh
# automap search: the proven optimum, the same bits whatever runs beside it, pins, scripts, signals, exit codes.
command -v python3 >/dev/null || { echo "skipped: JSON is read here with python3, its standard library"; exit 77; }
set -eu
source=$1 automap=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tiny=$source/examples/models/t5-tiny.hlo.txt.gz
base=$source/examples/models/t5-base6.hlo.txt.gz
timeless() { grep -v seconds "$1" > "$1.t"; }

# the plan and the search are the same with one search in the process or four, with or without --json
"$automap" search "$tiny" --kind all --seed 3 --json --plan "$dir/one.plan" > "$dir/one.json" 2> "$dir/err"
"$automap" search "$tiny" --kind all --seed 3 --plan "$dir/two.plan" > "$dir/two" 2> "$dir/err"
cmp "$dir/one.plan" "$dir/two.plan"
grep -q '^t5-tiny  on v100-1x4, mesh 4; dqn decides variables and inputs, seed 3$' "$dir/two"
"$automap" search "$tiny" --quiet | grep -q 'proven optimum .* deciding variables alone$'
"$automap" search "$tiny" --kind all --seed 1 --seeds 4 --json > "$dir/four.json" 2> "$dir/err"
timeless "$dir/one.json"
python3 - "$dir/one.json" "$dir/four.json" << 'P' || exit 1
import json, sys
def strip(o):
    if isinstance(o, dict): return {k: strip(v) for k, v in o.items() if "seconds" not in k}
    return [strip(v) for v in o] if isinstance(o, list) else o
one, four = (json.load(open(p)) for p in sys.argv[1:])
assert one["schema"] == "automap.search/1" and four["schema"] == "automap.seeds/1"
for key in ("kinds", "compared_at", "fewer_devices"):
    assert one.pop(key) == four[key], "the best of each kind does not depend on the seed"
assert strip(one) == strip(four["runs"][2]), "seed 3 differs with others beside it"
assert four["at_optimum"] >= 3, four["at_optimum"]
assert one["optimum"]["proven"] and one["step_time_ms"] >= one["optimum"]["step_time_ms"] * (1 - 1e-9)
assert one["partitioned"] + one["replicated"] + one["undecided"] == one["dims"]
assert {d["by"] for d in one["decisions_list"]} <= {"decision", "propagation", "fine-tuning", "default"}
P

# a batch is that of the search, of all kinds it is compared with, and of the plan written
"$automap" search vgg19 a-2x8-v100 --kind all --batch 256 --algo exact --json --plan "$dir/batch.plan" > "$dir/batch.json" 2> "$dir/err"
"$automap" search vgg19 a-2x8-v100 --kind all --algo exact --json > "$dir/file.json" 2> "$dir/err"
"$automap" plan vgg19 a-2x8-v100 --batch 256 --optimum --json > "$dir/batch.best"
python3 - "$dir/batch.json" "$dir/file.json" "$dir/batch.best" << 'P' || { echo "a batch of 256"; exit 1; }
import json, sys
grown, own, best = (json.load(open(p)) for p in sys.argv[1:])
assert grown["compared_at"]["batch"] == 256 and own["compared_at"]["batch"] == 128
assert abs(grown["step_time_ms"] / best["step_time_ms"] - 1) < 1e-9 and best["batch_size"] == 256
assert grown["step_time_ms"] > own["step_time_ms"]
of = {k["kind"]: k for k in grown["kinds"]}
assert of["opp+adp"]["step_time_ms"] <= grown["step_time_ms"] * (1 + 1e-9), of
P

"$automap" search mlp v100-1x4 --kind all --batch 64 --algo exact --json --plan "$dir/small.plan" > "$dir/small.json" 2> "$dir/err"
"$automap" plan mlp v100-1x4 --batch 64 --plan "$dir/small.plan" --json > "$dir/small.again"
python3 - "$dir/small.json" "$dir/small.again" << 'P' || { echo "the plan of another batch"; exit 1; }
import json, sys
found, again = (json.load(open(p)) for p in sys.argv[1:])
assert found["kinds"][0]["kind"] in ("opp", "adp", "opp+adp") and again["batch_size"] == 64
assert abs(found["kinds"][0]["step_time_ms"] / again["step_time_ms"] - 1) < 1e-9
P

# what is not limited does not fit, and is said not to; a reward is compared over the dims decided
"$automap" search t5-3b v100-1x4 --kind pp --memory-limit none --algo exact > "$dir/none"
grep -q ' of 16.0 GB in stage [0-9]*: does not fit, no limit asked for' "$dir/none" || { grep memory "$dir/none"; exit 1; }
"$automap" search "$tiny" --kind adp --reward paper --episodes 50 --quiet | grep -q 'over dims of inputs; proven optimum 1\.5$'

# fewer devices that are faster are said of every kind, and what is said is so
for asked in "mlp --kind opp" "moe --kind all --algo exact" "mlp --kind pp --algo exact" "mlp --kind hybrid --micro-batches 4"; do
    # shellcheck disable=SC2086
    "$automap" search ${asked%% *} unequal ${asked#* } --json > "$dir/fewer.json" 2> "$dir/err"
    python3 - "$automap" "${asked%% *}" "$dir/fewer.json" << 'P' || { echo "search $asked: fewer devices"; exit 1; }
import json, subprocess, sys
automap, model, path = sys.argv[1:]
r = json.load(open(path))
f = r["fewer_devices"]
step = r["kinds"][0]["step_time_ms"] if "kinds" in r else r["step_time_ms"]
assert f and f["devices"] < 16 and f["step_time_ms"] < 0.99 * step, (f, step)
if f["plan"] == "strict":
    assert f["proven"] and "on these devices" in f["proven_scope"]
    kind = "opp" if r["schema"] == "automap.search/1" and "kinds" not in r else "all"
    again = subprocess.run([automap, "search", model, "unequal", "--servers", f["servers"], "--mesh", f["mesh"], "--kind", kind,
                            "--algo", "exact", "--json"], capture_output=True, text=True, check=True)
    assert abs(json.loads(again.stdout)["step_time_ms"] / f["step_time_ms"] - 1) < 1e-9
P
done
# nothing is said where the best plan leaves the others idle itself: operators placed take the one fast device, on which
# splitting has no better plan either
"$automap" search mlp unequal --kind all --algo exact --json > "$dir/idle.json" 2> "$dir/err"
"$automap" search mlp unequal --servers 0:1 --mesh 1 --algo exact --kind all --json > "$dir/single.json" 2> "$dir/err"
python3 - "$dir/idle.json" "$dir/single.json" << 'P' || exit 1
import json, sys
idle, single = (json.load(open(path)) for path in sys.argv[1:])
best = idle["kinds"][0]
assert best["kind"] == "place" and "on 1 of the 16 devices" in best["why"], best
assert idle["step_time_ms"] > 1.01 * best["step_time_ms"] and idle["fewer_devices"] is None, idle["fewer_devices"]
assert 0.99 * best["step_time_ms"] <= single["step_time_ms"], (best, single["step_time_ms"])
P
"$automap" search "$base" c-4x8-v100 --algo exact | grep -q '^  fewer devices .* ms on [0-9]* of the 32 devices: --servers 0'
"$automap" plan "$base" c-4x8-v100 --mode relaxed | grep -q '^  fewer devices .* ms on 16 of the 32 devices: --servers 0-1 --mesh 2x8 --mode relaxed$'
# nor is what is compared of another batch, or freed of pins
for asked in "--kind pp --batch 512" "--kind hybrid --batch 512" "--kind adp --algo exact --pin @0=0"; do
    # shellcheck disable=SC2086
    if "$automap" search "$base" v100-1x4 $asked 2> /dev/null | grep 'fewer devices'; then
        echo "$asked: fewer devices of another question"; exit 1
    fi
done

# no algorithm changes a pin
for algo in dqn random greedy enumerate anneal exact trws; do
    "$automap" search "$tiny" --kind all --algo $algo --episodes 60 --pin 'encoder/layer_000/ffn/conv1/kernel:1=0' \
        --pin 'encoder/layer_000/self/q/kernel:0=1' --json > "$dir/pin.json" 2> "$dir/err" || {
        cat "$dir/err"
        exit 1
    }
    python3 - "$dir/pin.json" << 'P' || { echo "$algo changed a pin"; exit 1; }
import json, sys
r = json.load(open(sys.argv[1]))
held = [d for d in r["decisions_list"] if d["variable"] == "encoder/layer_000/self/q/kernel" and d["dim"] == 0]
assert held and all(d["status"] == 1 and d["by"] == "pin" for d in held), held
P
done

# what was decided is completed at least cost, written and read back
"$automap" search "$base" --devices 16 --kind all --algo exact --mode relaxed --json --plan "$dir/relaxed.plan" \
    > "$dir/relaxed.json" 2> "$dir/err"
"$automap" plan "$base" --devices 16 --mode relaxed --plan "$dir/relaxed.plan" --json > "$dir/relaxed.back"
python3 - "$dir/relaxed.json" "$dir/relaxed.back" << 'P' || exit 1
import json, sys
found, back = (json.load(open(p)) for p in sys.argv[1:])
done = found["relaxed"]
assert done["bound_ms"] <= done["step_time_ms"] <= found["step_time_ms"] * (1 + 1e-9), done
assert back["mode"] == "relaxed" and abs(back["step_time_ms"] - done["step_time_ms"]) < 1e-9 * done["step_time_ms"]
P

# pins that clash: the smallest set that does, and only it
code=0
"$automap" search "$base" --pin 'encoder/layer_000/ffn/conv1/kernel:0=0' --pin 'encoder/layer_000/self/q/kernel:0=1' \
    --pin 'decoder/layer_000/cross/q/kernel:0=0' > /dev/null 2> "$dir/err" || code=$?
[ $code = 4 ] || { echo "clashing pins: exit $code"; cat "$dir/err"; exit 1; }
grep -q 'cannot hold together: ' "$dir/err"
[ "$(tr -cd '=' < "$dir/err" | wc -c)" = 2 ] || { echo "not the smallest set"; cat "$dir/err"; exit 1; }

# a memory limit: every algorithm ends at a plan that fits, exact and enumeration at its proven optimum; what
# nothing fits is said with exit code 4; journal and replay are the same bits
for algo in dqn random greedy enumerate anneal exact trws; do
    "$automap" search "$tiny" --kind all --algo $algo --episodes 300 --memory-limit '1.2 MB' --pin 'embedding:0=0' --json \
        --journal "$dir/limit.$algo" > "$dir/limit.json" 2> "$dir/err" || {
        echo "$algo within a limit"
        cat "$dir/err"
        exit 1
    }
    "$automap" replay "$dir/limit.$algo" --json > "$dir/again.json"
    python3 - "$dir/limit.json" "$dir/again.json" << 'P' || { echo "$algo within a limit"; exit 1; }
import json, sys
def strip(o):
    if isinstance(o, dict): return {k: strip(v) for k, v in o.items() if "seconds" not in k}
    return [strip(v) for v in o] if isinstance(o, list) else o
r, again = (json.load(open(p)) for p in sys.argv[1:])
assert strip(r) == strip(again), "the replay differs"
assert r["memory_limit_bytes"] == 1.2e6 and r["fits"] and r["peak_bytes"] <= 1.2e6, r["peak_bytes"]
assert r["optimum"]["proven"] and r["optimum"]["fits"] and r["optimum"]["gap"] >= -1e-9
assert r["algo"] not in ("exact", "enumerate") or abs(r["optimum"]["gap"]) < 1e-9, r["optimum"]
P
done
code=0
"$automap" search "$tiny" --kind all --episodes 50 --memory-limit '700 kB' --pin 'embedding:0=0' --json > "$dir/over.json" \
    2> "$dir/err" || code=$?
[ $code = 4 ] && grep -q 'no plan found is within the memory limit' "$dir/err" || { echo "over: exit $code"; exit 1; }
grep -q '"fits":	false,' "$dir/over.json"
code=0
"$automap" search "$tiny" --kind all --episodes 5 --memory-limit '100 kB' > "$dir/none" 2> "$dir/err" || true
grep -q 'does not fit .* proven over strict plans of any memory' "$dir/none" || { echo "a kind of which nothing fits is said to be proven"; exit 1; }
"$automap" search "$tiny" --kind all --algo race --episodes 20 --memory-limit '700 kB' > "$dir/over" || code=$?
[ $code = 4 ] && tail -1 "$dir/over" | grep -q 'no algorithm found a plan within the memory limit'

# Weak propagation, every episode a conflict: the search says so, and to do nothing is its plan; where that does not fit
# there is none, and the code is 4.
fruitless="search $source/examples/models/bert48.hlo.txt.gz --propagation weak --state one-hot --episodes 3"
"$automap" $fruitless > "$dir/none"
"$automap" search --help | tr -s ' \n' ' ' | grep -q 'to decide nothing is the best plan known (exit code 4' || { echo "weak: --help does not say what no plan is"; exit 1; }
grep -q 'no plan of its own  *each episode ended in a conflict' "$dir/none" && grep -q '3 episodes, .* 3 conflicts' "$dir/none" &&
    grep -q '0 partitioned' "$dir/none" || { echo "weak: what is said of no plan"; cat "$dir/none"; exit 1; }
code=0
"$automap" $fruitless --memory-limit '8 GB' > "$dir/none" 2> "$dir/err" || code=$?
[ $code = 4 ] && grep -q 'no plan found is within the memory limit' "$dir/err" || { echo "weak, nothing fits: exit $code"; exit 1; }

# --preset paper is Auto-MAP's: its reward, weak propagation, state and candidates; an option behind it changes one thing;
# who plays is in the file
"$automap" search "$source/examples/models/vgg19.hlo.txt.gz" --devices 8 --kind adp --preset paper --episodes 40 --json --quiet \
    --journal "$dir/paper.journal" > "$dir/paper.json"
"$automap" replay "$dir/paper.journal" --json > "$dir/paper.again"
"$automap" search "$tiny" --preset paper --reward cost --state one-hot --episodes 5 --json --quiet > "$dir/part.json"
"$automap" search "$tiny" --kind all --episodes 5 --json --quiet > "$dir/default.json"
python3 - "$dir" << 'P' || exit 1
import json, sys
paper, again, part, default = (json.load(open(f"{sys.argv[1]}/{n}")) for n in ("paper.json", "paper.again", "part.json", "default.json"))
def player(o): return [o[k] for k in ("preset", "state", "begun_by", "led_episodes", "reward", "propagation")]
assert player(paper) == ["paper", "paper", "nobody, from scratch", 0, "paper", "weak"], player(paper)
assert player(again) == player(paper) and again["score"] == paper["score"]
assert paper["moves"] == 4, "the paper's four candidates of VGG-19"
assert player(part) == ["paper", "one-hot", "nobody, from scratch", 0, "cost", "weak"], player(part)
assert player(default) == ["default", "continuous", "the shipped policy", 5, "cost", "full"], player(default)
P
"$automap" search "$tiny" --kind pp --preset paper --devices 4 --algo dqn --episodes 20 --quiet > /dev/null
"$automap" search --help | grep -q -e '--preset default|paper'
"$automap" search "$tiny" --preset paper --episodes 5 --quiet | grep -q "dqn with the paper's settings, sees -1, 0, 1 and the position"

# the curves as data: a row a decision for how far propagation came, a row an episode for its score; the same when the
# journal is replayed, and again with one search beside another
"$automap" search "$tiny" --preset paper --seed 4 --episodes 60 --json --quiet --curves "$dir/a.csv" --journal "$dir/c.journal" \
    > "$dir/curves.json"
"$automap" replay "$dir/c.journal" --curves "$dir/b.csv" > /dev/null
cmp "$dir/a.csv" "$dir/b.csv"
"$automap" search "$tiny" --preset paper --seed 3 --seeds 2 --episodes 60 --quiet --curves "$dir/two.csv" > /dev/null
python3 - "$dir" << 'P' || exit 1
import csv, json, sys
rows = list(csv.DictReader(open(f"{sys.argv[1]}/a.csv")))
both = list(csv.DictReader(open(f"{sys.argv[1]}/two.csv")))
assert [r for r in both if r["seed"] == "4"] == rows and {r["seed"] for r in both} == {"3", "4"}
run = json.load(open(f"{sys.argv[1]}/curves.json"))
curve = lambda name: [r for r in rows if r["curve"] == name]
assert len(curve("progress")) == run["decisions"] and len(curve("score")) == run["episodes"] == 60
assert all(0 <= float(r["mean"]) <= 1 for r in curve("progress") + curve("epsilon"))
ends = sum(float(r["mean"]) == 1 for r in curve("progress"))
assert ends == 60 - run["conflicts"], (ends, run["conflicts"])
assert abs(max(float(r["mean"]) for r in curve("best")) - run["score"]) < 1e-4 and curve("loss")
P
# a search that ends before its first decision has a head of curves, and a plan
printf '0 quit\n' > "$dir/quit"
"$automap" search "$tiny" --script "$dir/quit" --curves "$dir/none.csv" --plan "$dir/none.json" > /dev/null
[ "$(cat "$dir/none.csv")" = seed,curve,x,mean,low,high,points ] && [ -s "$dir/none.json" ]
code=0
"$automap" search "$tiny" --episodes 2 --quiet --curves "$dir/a.csv" > /dev/null 2> "$dir/err" || code=$?
[ $code = 2 ] || { echo "curves over a file: exit $code"; exit 1; }

# a script pins and steers; Ctrl-C stops with the best so far
printf '# steer\n40 pin encoder/layer_000/self/q/kernel:0=1\nat episode 30: backtrack @1\nat episode 50: quit\n' > "$dir/script"
"$automap" search "$tiny" --script "$dir/script" --json --journal "$dir/script.journal" > "$dir/script.json" 2> "$dir/err"
grep -q '^[0-9a-f]\{16\} r [0-9]* replay rewritten: [0-9]* of [0-9]* decisions, under the new pins$' "$dir/script.journal"
grep -q '^[0-9a-f]\{16\} r [0-9]* replay kept: [0-9,]* decisions' "$dir/script.journal"
"$automap" replay "$dir/script.journal" --json > "$dir/script.again"
grep -q '"episodes":	50,' "$dir/script.json"
grep -q '"by":	"pin"' "$dir/script.json"
timeless "$dir/script.json"
timeless "$dir/script.again"
cmp "$dir/script.json.t" "$dir/script.again.t"
printf '3 dance\n' > "$dir/bad"
code=0
"$automap" search "$tiny" --script "$dir/bad" > /dev/null 2> "$dir/err" || code=$?
[ $code = 2 ] && grep -q 'bad:1:1: no command' "$dir/err" || { cat "$dir/err"; exit 1; }
"$automap" search "$tiny" --algo random --time 60 --json > "$dir/int.json" 2> "$dir/err" &
pid=$!
sleep 1.5
kill -INT $pid
code=0
wait $pid || code=$?
[ $code = 3 ] || { echo "interrupted: exit $code"; exit 1; }
grep -q '"schema":	"automap.search/1"' "$dir/int.json"

# where each episode conflicts the plan is none of the search's, and it says so
"$automap" search "$source/examples/models/bert48.hlo.txt.gz" --devices 8 --preset paper --episodes 5 > "$dir/clash"
grep -q '5 episodes, .* 5 conflicts' "$dir/clash" && grep -q 'each episode ended in a conflict' "$dir/clash"
"$automap" search "$tiny" --kind all --episodes 5 > "$dir/clash"
! grep -q 'ended in a conflict' "$dir/clash" || { echo "speaks of conflicts where there are none"; exit 1; }

# the race: everyone on as many plans, and a plain conclusion
"$automap" search "$tiny" --kind all --algo race --episodes 300 > "$dir/race"
grep -q 'who led' "$dir/race"
tail -1 "$dir/race" | grep -q 'the dqn'

# options that the search has no use for are refused, not ignored; a resume takes limits only
for wrong in '--kind opp --stages 2' '--kind all --radius 2' '--kind all --reward paper --points all' '--algo random --learner gamma=0.9' \
    '--algo race --plan x' '--journal x --no-journal' '--resume x --seed 3' '--kind pp --reward paper' '--kind pp --propagation weak' \
    '--kind pp --no-folding' '--reward paper --memory-limit device' '--memory-limit 16' '--kind pp --mesh 2x2' '--kind pp --rules paper'; do
    code=0
    model=$tiny
    case $wrong in --resume*) model= ;; esac
    # shellcheck disable=SC2086
    "$automap" search $model $wrong > /dev/null 2> "$dir/err" || code=$?
    [ $code = 1 ] || { echo "search $wrong: exit $code"; cat "$dir/err"; exit 1; }
done

for wrong in "--seeds 0" "--algo none" "--episodes x" "--pin x" "--learner gamma=2" "--mode loose"; do
    code=0
    # shellcheck disable=SC2086
    "$automap" search "$tiny" $wrong > /dev/null 2> "$dir/err" || code=$?
    [ $code = 1 ] || { echo "search $wrong: exit $code"; exit 1; }
done
