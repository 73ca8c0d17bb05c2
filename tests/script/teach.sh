#!/bin/sh
# automap teach: learns, is the same twice, takes ablations, refuses what it does not know.
set -eu
automap=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$automap" teach both --seeds 2 > "$dir/one"
"$automap" teach both --seeds 2 > "$dir/two"
cmp "$dir/one" "$dir/two"
grep -q '^2 seeds' "$dir/one"
grep -q 'random play earns' "$dir/one"

# what the sign shows decides which action pays: Q within 0.05 of 1 and -1
awk '/sees \+1/ { n++; for (i = 5; i <= 7; i++) { want = i == 6 ? 1 : -1; d = $i - want;
     if (d < -0.05 || d > 0.05) bad++ } } END { exit !(n == 2 && !bad) }' "$dir/one"

"$automap" teach masked --no-dueling --no-mask-bootstrap --decisions 2000 > "$dir/three"
awk '/decision 2/ { d = $5 - 1; if (d > 0.5 || d < -0.5) bad = 1 } END { exit bad }' "$dir/three"

for wrong in "nothing" "both --seeds 0" "both --gamma 2" "both --no-gamma" "both --gamma" "both x"; do
    code=0
    # shellcheck disable=SC2086
    "$automap" teach $wrong > /dev/null 2> "$dir/err" || code=$?
    [ "$code" = 1 ] || { echo "teach $wrong: exit $code"; exit 1; }
    grep -q '^automap teach: ' "$dir/err"
done
"$automap" teach --help | grep -q 'cartpole'
"$automap" bench --help | grep -q rl
"$automap" bench rl --no-torch --seconds 0.05 > "$dir/bench"
grep -q "^64-128-128-16 .* %$" "$dir/bench"
