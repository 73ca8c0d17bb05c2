#!/bin/bash
# A search watched for a while by a restless person: random keys and resizes, then a clean end, and no
# memory that grows. AUTOMAP_SECONDS: how long (8); for minutes under the thread sanitizer, for hours
# with AUTOMAP_GROWTH=1, which samples memory and open files: the second half's most may not be above
# the second quarter's by more than 3 in 100, nor the fewest files that were open.
. "$(dirname "$0")/lib.sh"
start 120x40
model=${AUTOMAP_MODEL:-$source_dir/examples/models/t5-tiny.hlo.txt.gz}
seconds=${AUTOMAP_SECONDS:-8}
keys=(j k j k j k l h t G g 1 2 3 4 5 6 7 Tab z z v v X x n N PageDown PageUp Home End '{' '}' u C-r w Escape Escape F1 Escape Escape P)
RANDOM=5

export TSAN_OPTIONS="exitcode=66 log_path=$home/report" ASAN_OPTIONS="log_path=$home/report"
run "$automap --run $model; echo code \$?"
see "ep/s"
pid=$(pid_of --run)
end=$((SECONDS + seconds)) next=$SECONDS samples=() resizes=0
while [ $SECONDS -lt $end ]; do
    some=()
    for _ in 1 2 3 4 5 6 7 8; do some+=("${keys[RANDOM % ${#keys[@]}]}"); done
    type "${some[@]}"
    [ $((RANDOM % 8)) = 0 ] && t resize-window -x $((RANDOM % 200 + 20)) -y $((RANDOM % 60 + 5)) && resizes=$((resizes + 1))
    kill -0 "$pid" 2>/dev/null || { echo "it ended"; screen; cat "$home"/report* 2>/dev/null | head -60; exit 1; }
    if [ $SECONDS -ge $next ]; then
        samples+=("$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status") $(ls "/proc/$pid/fd" | wc -l)")
        next=$((next + 10))
    fi
    sleep 0.1
done
reported() { if ls "$home"/report* >/dev/null 2>&1; then cat "$home"/report* | head -80; exit 1; fi; }
t resize-window -x 120 -y 40
for _ in $(seq $((100 + seconds))); do # keys wait on a busy machine; views lie upon views, and where
                                       # nothing is left to leave, it says so
    reported
    screen | grep -q '^ *q quits' && break
    type Escape; sleep 0.2
done
see "q quits"; type Q
see "code 0"; sane "a restless person"
reported
[ -z "$AUTOMAP_GROWTH" ] && exit 0
printf '%s\n' "${samples[@]}" | awk -v n=${#samples[@]} -v resizes=$resizes '
    function most(a, b) { return a > b ? a : b }
    NR > n / 4 && NR <= n / 2 { early = most(early, $1); few = few && few < $2 ? few : $2 }
    NR > n / 2 { late = most(late, $1); many = many && many < $2 ? many : $2 }
    END {
        printf "%d samples, %d resizes: %d kB in the second quarter, %d kB in the second half; %d and %d files open\n", n, resizes, early, late, few, many
        exit late > 1.03 * early || many > few
    }' || { printf 'it grows:\n%s\n' "${samples[*]}"; exit 1; }
