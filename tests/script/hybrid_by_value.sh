#!/bin/sh
# Stages of hybrid plans that keep what they keep by value: never longer than those that keep all or
# run again, the same when read back, from a plan made without, and refused where they cannot be.
# usage: hybrid_by_value.sh SOURCE_DIR AUTOMAP
src=$1 automap=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
models=$src/examples/models clusters=$src/examples/clusters
t5=$models/t5-tiny.hlo.txt.gz one=$clusters/v100-1x4.yaml
fail() { echo "$1" >&2; exit 1; }
json() { tr -d '\t ' < "$1" | tr ',' '\n' | sed -n "s/^\"$2\":\([0-9.e+-]*\)$/\1/p" | head -1; }

"$automap" search "$t5" "$one" --kind hybrid --stages 2 --micro-batches 4 --schedule 1f1b --memory-limit '400 kB' --plan "$dir/all.json" > "$dir/all" ||
    fail "no plan that keeps all or runs again"
"$automap" search "$t5" "$one" --kind hybrid --stages 2 --micro-batches 4 --schedule 1f1b --memory-limit '400 kB' --recompute-values --plan "$dir/some.json" > "$dir/some" ||
    fail "no plan by value"
a=$(json "$dir/all.json" step_time_ms) b=$(json "$dir/some.json" by_value_step_time_ms)
awk -v a="$a" -v b="$b" 'BEGIN { exit !(a > 0 && b > 0 && b < a) }' || fail "by value $b, keeping all or running again $a"
grep -q 'whatever it keeps or computes again' "$dir/some" || fail "no bound of all choices"
grep -q 'computes again, in ' "$dir/some" || fail "does not say what is computed again"
"$automap" plan "$t5" "$one" --plan "$dir/some.json" --json > "$dir/again.json" || fail "does not read its plan"
[ "$(json "$dir/again.json" by_value_step_time_ms)" = "$b" ] || fail "another step when read back"
"$automap" explain "$t5" "$one" --plan "$dir/some.json" | grep -q 'computes again, in ' || fail "explain says nothing of it"

# Of a plan made without a limit, within one.
"$automap" search "$t5" "$one" --kind hybrid --stages 2 --micro-batches 4 --schedule 1f1b --plan "$dir/free.json" > "$dir/out" || fail "no plan without a limit"
"$automap" plan "$t5" "$one" --plan "$dir/free.json" --recompute auto --memory-limit '1 MB' > "$dir/out" || fail "not by value for a plan"
grep -q '^  by value\|with what stages keep chosen by value' "$dir/out" || fail "no step by value of a plan"

# What fits only by value says so first and is not run; what fits in no way has no plan.
"$automap" plan "$t5" "$one" --plan "$dir/free.json" --recompute auto --memory-limit '800 kB' -o "$dir/only.json" > "$dir/only" || fail "not within less"
grep -q '^  step .* with what stages keep chosen by value' "$dir/only" || fail "the first line is a step that does not fit"
"$automap" export "$t5" "$one" --plan "$dir/only.json" --format jax > "$dir/out" 2> "$dir/err"
[ $? = 4 ] && grep -q 'chosen by value' "$dir/err" || fail "exports stages that do not fit"
"$automap" search "$t5" "$one" --kind hybrid --memory-limit 10kB --recompute-values > "$dir/out" 2> "$dir/err"
[ $? = 4 ] && grep -q 'no hybrid plan fits' "$dir/err" || fail "fits into nothing"

for bad in "--recompute" "--relaxed-stages" "--algo race"; do
    "$automap" search "$t5" "$one" --kind hybrid --recompute-values $bad > "$dir/out" 2> "$dir/err"
    [ $? = 1 ] || fail "takes $bad"
done
"$automap" search "$t5" "$one" --kind pp --recompute-values > "$dir/out" 2> "$dir/err"
[ $? = 1 ] || fail "takes it for a pipeline"
exit 0
