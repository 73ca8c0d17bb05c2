#!/bin/bash
# automap search --kind hybrid: the same bits again, the bound below the step, limits, refusals.
set -u
src=$1 automap=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
fail() { echo "hybrid: $*"; exit 1; }
models=$src/examples/models clusters=$src/examples/clusters

"$automap" search "$models/t5-base6.hlo.txt.gz" "$clusters/c-4x8-v100.yaml" --kind hybrid > "$dir/a" || fail "no plan"
"$automap" search "$models/t5-base6.hlo.txt.gz" "$clusters/c-4x8-v100.yaml" --kind hybrid > "$dir/b" || fail "no plan again"
diff <(grep -v '^  search' "$dir/a") <(grep -v '^  search' "$dir/b") || fail "another plan the second time"
grep -q 'below: no strict plan is shorter' "$dir/a" || fail "no bound"
step=$(sed -n 's/^  step  *\([0-9.]*\) ms.*/\1/p' "$dir/a")
bound=$(sed -n 's/^  bound  *\([0-9.]*\) ms.*/\1/p' "$dir/a")
[ "$(echo "$bound <= $step && $step <= 91.2" | bc 2>/dev/null || python3 -c "print(int($bound <= $step <= 91.2))")" = 1 ] ||
    fail "a step of $step ms with a bound of $bound"

"$automap" search "$models/mlp.hlo.txt.gz" "$clusters/unequal.yaml" --kind hybrid > "$dir/unequal" || fail "unequal servers"
"$automap" search "$models/t5-tiny.hlo.txt.gz" "$clusters/v100-1x4.yaml" --kind hybrid --stages 2 --micro-batches 4 \
    --schedule 1f1b --zero 2 > "$dir/two" || fail "two stages"
grep -q '2 stages' "$dir/two" || fail "not two stages"
grep -q '^  ZeRO  *2 ' "$dir/two" || fail "not ZeRO 2"
"$automap" search "$models/t5-tiny.hlo.txt.gz" "$clusters/v100-1x4.yaml" --kind hybrid --memory-limit 100kB 2> "$dir/err"
[ $? = 4 ] || fail "fits into nothing"
grep -q 'no hybrid plan fits' "$dir/err" || fail "does not say what is wrong"
for bad in "--radius 2" "--algo dqn" "--seeds 2" "--pin x:0=1" "--mode relaxed"; do
    "$automap" search "$models/mlp.hlo.txt.gz" "$clusters/v100-1x4.yaml" --kind hybrid $bad 2> /dev/null
    [ $? = 1 ] || fail "takes $bad"
done
exit 0
