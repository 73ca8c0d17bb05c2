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

# A pipeline: within less than one that keeps all, or runs again, fits; a hybrid plan to read back.
pp() { "$automap" search "$t5" "$one" --kind pp --micro-batches 4 "$@"; }
pp --memory-limit '400 kB' > "$dir/out" 2>&1
[ $? = 4 ] || fail "a pipeline that keeps all fits in 400 kB"
pp --memory-limit '400 kB' --recompute --json > "$dir/again.json" || fail "no pipeline that runs again"
pp --memory-limit '400 kB' --recompute-values --plan "$dir/pp.json" > "$dir/pp" || fail "no pipeline by value"
a=$(json "$dir/again.json" step_time_ms) b=$(json "$dir/pp.json" by_value_step_time_ms)
awk -v a="$a" -v b="$b" 'BEGIN { exit !(a > 0 && b > 0 && b < 0.9 * a) }' || fail "pipeline: by value $b, running again $a"
"$automap" plan "$t5" "$one" --plan "$dir/pp.json" --json > "$dir/back.json" || fail "does not read its pipeline"
[ "$(json "$dir/back.json" by_value_step_time_ms)" = "$b" ] || fail "another step of the pipeline when read back"
pp --memory-limit 10kB --recompute-values > "$dir/out" 2> "$dir/err"
[ $? = 4 ] && grep -q 'whatever it computes again' "$dir/err" || fail "a pipeline fits into nothing"
pp --plan "$dir/kept.json" > "$dir/out" && "$automap" plan "$t5" "$one" --plan "$dir/kept.json" --recompute auto --memory-limit '500 kB' > "$dir/out" || fail "not by value for a pipeline's plan"
grep -q 'chosen by value\|chosen value by value' "$dir/out" || fail "no step by value of a pipeline's plan"
for bad in "--recompute" "--seeds 2" "--algo race" "--algo random"; do
    pp --recompute-values $bad > "$dir/out" 2> "$dir/err"
    [ $? = 1 ] || fail "a pipeline takes $bad"
done
"$automap" search "$t5" "$one" --recompute-values > "$dir/out" 2> "$dir/err"
[ $? = 1 ] || fail "takes it for a strict plan"

# With a link to host memory some of what a stage keeps waits there, and less is computed again.
base=$models/t5-base6.hlo.txt.gz host=$dir/host.yaml
sed 's/latency: 15 us}/latency: 15 us}, host: {link: 12 GB\/s}/' "$one" > "$host"
for c in "$one" "$host"; do
    "$automap" search "$base" "$c" --kind hybrid --stages 2 --chunks 1 --micro-batches 8 --plan "$dir/$(basename "$c").json" > "$dir/out" &&
        "$automap" plan "$base" "$c" --plan "$dir/$(basename "$c").json" --recompute auto --memory-limit '1.4 GB' -o "$dir/kept.json" > "$dir/$(basename "$c").out" || fail "no plan by value on $c"
    json "$dir/kept.json" by_value_step_time_ms > "$dir/$(basename "$c").ms"
done
grep -q 'on the host .* of a micro-batch; its copies show' "$dir/host.yaml.out" || fail "nothing goes to the host"
grep -q 'on the host' "$dir/v100-1x4.yaml.out" && fail "goes to a host that is not there"
grep -q '"host_bytes"' "$dir/kept.json" || fail "the file does not say what is on the host"
awk -v a="$(cat "$dir/v100-1x4.yaml.ms")" -v b="$(cat "$dir/host.yaml.ms")" 'BEGIN { exit !(a > 0 && b > 0 && b < a) }' || fail "no faster with a host"
"$automap" plan "$base" "$host" --plan "$dir/kept.json" --json > "$dir/back.json" && [ "$(json "$dir/back.json" by_value_step_time_ms)" = "$(cat "$dir/host.yaml.ms")" ] || fail "another step with a host when read back"

# Programs and settings are of stages that keep all or run again, and say so.
"$automap" search "$base" "$one" --kind hybrid --stages 2 --chunks 1 --micro-batches 8 --memory-limit '1.8 GB' --recompute-values --plan "$dir/both.json" > "$dir/out" || fail "no plan by value within 1.8 GB"
for form in flags jax; do
    "$automap" export "$base" "$one" --plan "$dir/both.json" --format $form > "$dir/out" 2> "$dir/err" && grep -q '^# [Ss]tages keep everything or run again.*value by value' "$dir/out" || fail "$form does not say what it leaves out"
done

# Interleaved: its stages too.
il() { "$automap" search "$t5" "$one" --kind hybrid --micro-batches 4 --stages 2 --chunks 2 "$@"; }
il --plan "$dir/il.json" > "$dir/out" || fail "no interleaved plan"
"$automap" plan "$t5" "$one" --plan "$dir/il.json" --recompute auto --memory-limit '450 kB' > "$dir/out" || fail "not by value for an interleaved plan"
grep -q 'interleaved: stages of one group share its memory' "$dir/out" && grep -q 'computes again, in ' "$dir/out" || fail "an interleaved plan stays as it is"
exit 0
