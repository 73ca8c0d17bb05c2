#!/usr/bin/env bash
# automap bench iopddl: the contest's own example, solutions held to an independent evaluation, and
# the six shared instances against the cheapest team where they are there.
set -u
source_dir=$1 automap=$2
shared=${AUTOMAP_SHARED:-$source_dir/../shared}/data/iopddl
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
complain() { echo "$*"; failed=1; }

# of FILE SECONDS: the row printed and the evaluation agree on the cost; leaves it in $cost.
of() {
    local stem=$(basename "$1" .gz)
    stem=${stem%.json}
    "$automap" bench iopddl "$1" --time "$2" --solutions "$dir" >"$dir/out" || complain "$1: exit $?"
    cost=$(awk -v name="$stem" '$1 == name {print $3}' "$dir/out")
    local true_cost=$(python3 "$source_dir/tests/script/iopddl.py" "$1" "$dir/$stem.1.solution")
    [ "$cost" = "$true_cost" ] || complain "$1: printed $cost, evaluated $true_cost"
}

example=$source_dir/tests/fuzz/iopddl/example.json
of "$example" 0.1
[ "$cost" = 445 ] || complain "the contest's example costs $cost, expected 445"
"$automap" bench iopddl "$example" --solutions "$dir" 2>&1 >/dev/null | grep -q 'example.1.solution' ||
    complain "a solution that is there was overwritten"
"$automap" bench iopddl "$example" --solutions "$dir" --force --time 0.1 >/dev/null || complain "--force"

# The same work twice, and gzipped: the same answer.
gzip -c "$example" >"$dir/packed.json.gz"
of "$dir/packed.json.gz" 0.1
[ "$cost" = 445 ] || complain "gzipped it costs $cost"

# No solution: exit code 4. Broken files: 2, with a place.
sed 's/"usage_limit": 50/"usage_limit": 20/' "$example" >"$dir/tight.json"
"$automap" bench iopddl "$dir/tight.json" --time 0.1 >/dev/null 2>"$dir/err"
[ $? = 4 ] || complain "too tight a limit: $(cat "$dir/err")"
sed 's/\[30, 40\]/[30, 40, 1]/' "$example" >"$dir/broken.json"
"$automap" bench iopddl "$dir/broken.json" 2>"$dir/err" >/dev/null
[ $? = 2 ] && grep -q 'broken.json:[0-9]*:[0-9]*: edge 0 has 3 costs, expected 1 x 2' "$dir/err" ||
    complain "a broken table: $(cat "$dir/err")"
"$automap" bench iopddl >/dev/null 2>&1
[ $? = 1 ] || complain "no file: exit code $?"

# Against the cheapest team of the contest, some seconds each.
for letter in A B G K P V; do
    [ -r "$shared/$letter.json.gz" ] || continue
    seconds=2
    [ $letter = K ] && seconds=10 # ten times the nodes of the others are left
    of "$shared/$letter.json.gz" $seconds
    ratio=$(awk -v name="$letter" '$1 == name {print $4}' "$dir/out")
    bound=$(awk -v name="$letter" '$1 == name {print $6 <= $3 / $5 * 1.000001}' "$dir/out")
    awk -v r="$ratio" 'BEGIN {exit !(r > 0.5 && r <= 1.01)}' || complain "$letter: $ratio of the cheapest team"
    [ "$bound" = 1 ] || complain "$letter: a bound above the cheapest known"
done
exit $failed
