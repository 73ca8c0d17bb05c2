#!/bin/sh
# automap infer and pretrain: an answer no better than the proven optimum and no worse than it should be, the same file
# for any number of processes, files that are not networks.
command -v python3 > /dev/null || { echo "skipped: JSON is read here with python3, its standard library"; exit 77; }
set -eu
source=$1 automap=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
c=$source/examples/clusters/c-4x8-v100.yaml
base=$source/examples/models/t5-base6.hlo.txt.gz
"$automap" infer "$base" "$c" --batch 256 --micro-batches 16 --stages 4 --json > "$dir/one.json"
"$automap" infer "$base" "$c" --batch 256 --micro-batches 16 --stages 4 --json > "$dir/two.json"
"$automap" search "$base" "$c" --kind pp --algo exact --batch 256 --micro-batches 16 --stages 4 --json > "$dir/exact.json"
python3 - "$dir" << 'P' || exit 1
import json, sys
one, two, exact = (json.load(open(f"{sys.argv[1]}/{n}.json"))["search"] for n in ("one", "two", "exact"))
assert one["algo"] == "infer" and one["found_L_ms"] == two["found_L_ms"]
gap = one["found_L_ms"] / exact["found_L_ms"] - 1
assert -1e-9 <= gap < 0.05, gap
assert one["proof_seconds"] > 0 and one["proof_seconds_without_network"] > 0 and "proof_seconds" not in exact
P
# the proof takes the network's plan as known, and says how long it takes with it and without
"$automap" infer "$base" "$c" --batch 256 --micro-batches 16 --stages 4 > "$dir/text"
grep -q "^  proof  *[0-9.]* m\{0,1\}s  with the network's plan known, [0-9.]* m\{0,1\}s with the closed form's: L has an exact answer in that time;$" "$dir/text"
"$automap" pretrain pp -o "$dir/a.net" --environments 150 --measure 0 2> "$dir/err"
"$automap" pretrain pp -o "$dir/b.net" --environments 150 --measure 0 --processes 3 2> "$dir/err"
cmp "$dir/a.net" "$dir/b.net"
"$automap" infer "$base" "$c" --batch 256 --micro-batches 16 --net "$dir/a.net" > "$dir/text"
printf 'not a network' > "$dir/bad"
code=0
"$automap" infer "$base" "$c" --batch 256 --micro-batches 16 --net "$dir/bad" > /dev/null 2> "$dir/err" || code=$?
[ $code = 2 ] && grep -q 'bad: ' "$dir/err" || { echo "a bad network: exit $code"; cat "$dir/err"; exit 1; }
code=0
"$automap" pretrain pp > /dev/null 2> "$dir/err" || code=$?
[ $code = 1 ] || { echo "pretrain without -o: exit $code"; exit 1; }
# a training that is stopped leaves its state; the same command goes on to the same file
"$automap" pretrain pp -o "$dir/c.net" --environments 300 --measure 0 2> "$dir/err"
"$automap" pretrain pp -o "$dir/d.net" --environments 300 --measure 0 2> "$dir/err2" & child=$!
until grep -q "128 of 300" "$dir/err2" || ! kill -0 $child 2> /dev/null; do
    sleep 0.1
done
kill -TERM $child 2> /dev/null || :
wait $child || :
if [ -e "$dir/d.net" ]; then
    echo "it ended before it was stopped: nothing to resume" # a quick machine
else
    [ -s "$dir/d.net.part" ] || { echo "stopped, and left no state"; cat "$dir/err"; exit 1; }
    "$automap" pretrain pp -o "$dir/d.net" --environments 300 --measure 0 2> "$dir/err"
    grep -q resumed "$dir/err" || { echo "did not go on from its state"; cat "$dir/err"; exit 1; }
fi
cmp "$dir/c.net" "$dir/d.net"
[ ! -e "$dir/d.net.part" ] || { echo "its state is still there"; exit 1; }
# a network that cannot be written leaves the state of its training
mkdir "$dir/taken.net"
code=0
"$automap" pretrain opp mlp -o "$dir/taken.net" --rounds 64 2> "$dir/err" || code=$?
[ $code != 0 ] && [ -s "$dir/taken.net.part" ] || { echo "not written: exit $code, and no state"; cat "$dir/err"; exit 1; }
rmdir "$dir/taken.net"
"$automap" pretrain opp mlp -o "$dir/taken.net" --rounds 64 2> "$dir/err"
[ -s "$dir/taken.net" ] && [ ! -e "$dir/taken.net.part" ] || { echo "its state is still there"; exit 1; }
# from another network; a file says what made it
# the paper's own network: its file is read by all that reads networks, and says what it is
"$automap" pretrain pp --recipe paper --set c -o "$dir/p.net" --environments 3 --measure 4 > "$dir/text" 2> "$dir/err"
grep -q '3 of 3 problems, 450 decisions' "$dir/err"
grep -q 'its 8 best first decisions' "$dir/text"
"$automap" pretrain show "$dir/p.net" > "$dir/text"
grep -q '^observes 1571 figures, 160 actions by 128-128, ' "$dir/text"
grep -q '^recipe pretrain pp --recipe paper --environments 3 --seed 1 --set c --family all$' "$dir/text"
"$automap" infer "$1/examples/models/t5-base6.hlo.txt.gz" "$1/examples/clusters/a-2x8-v100.yaml" --net "$dir/p.net" > "$dir/text"
grep -q 'L ' "$dir/text"
code=0
"$automap" pretrain pp --finetune "$dir/p.net" --environments 8 -o "$dir/q.net" 2> "$dir/err" || code=$?
[ $code -eq 2 ] && grep -q 'a network of --recipe paper, expected a scorer' "$dir/err" || { echo "finetuned another kind: $code"; cat "$dir/err"; exit 1; }
code=0
"$automap" pretrain pp --recipe paper --processes 2 -o "$dir/q.net" 2> "$dir/err" || code=$?
[ $code = 1 ] || { echo "the paper's recipe with processes: exit $code"; exit 1; }
grep -q 'one problem after another' "$dir/err"

"$automap" pretrain pp -o "$dir/e.net" --finetune "$dir/c.net" --family cnn --environments 128 --measure 0 2> "$dir/err"
"$automap" pretrain show "$dir/e.net" > "$dir/text"
grep -q '^recipe pretrain pp --environments 128 --seed 1 --set wide --family cnn --finetune' "$dir/text"
"$automap" pretrain show "$source/examples/networks/pipeline.net" > "$dir/text"
grep -q '^recipe pretrain pp --environments 20000 --seed 1 --set wide --family all$' "$dir/text"
# operators: the same file twice, and it leads a search
"$automap" pretrain opp t5-tiny mlp -o "$dir/f.net" --rounds 20 2> "$dir/err"
"$automap" pretrain opp t5-tiny mlp -o "$dir/g.net" --rounds 20 2> "$dir/err"
cmp "$dir/f.net" "$dir/g.net"
"$automap" bench policy --net "$dir/f.net" --clusters 6 moe > "$dir/text"
grep -q "DQN from scratch" "$dir/text"
"$automap" search t5-11b "$source/examples/clusters/h100-1x8.yaml" --kind all --episodes 1 --no-journal --quiet > "$dir/led"
grep -q '1 episodes played by the shipped policy' "$dir/led"
"$automap" search t5-11b "$source/examples/clusters/h100-1x8.yaml" --kind all --episodes 1 --no-journal --quiet --state one-hot > "$dir/alone"
if grep -q 'shipped policy' "$dir/alone"; then
    echo "led by a policy that reads another state"
    exit 1
fi
