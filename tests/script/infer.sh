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
P
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
