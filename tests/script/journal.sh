#!/bin/sh
# The journal: killed at random moments nothing is lost but the last second, and the search goes on bit for bit.
# AUTOMAP_KILLS: how many (10).
set -eu
source=$1 automap=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
model=$source/examples/models/t5-tiny.hlo.txt.gz
printf '100 pin encoder/layer_000/self/q/kernel:0=1\nat episode 60: undo\nat episode 120: backtrack @1\n2500 set learning-rate 0.0002\nat episode 200: cluster servers.*.link.bandwidth=20 GB/s\nat episode 260: mesh 2x2\nat episode 300: role #32=input\nat episode 340: undo\n' > "$dir/script"
episodes=1200
search() { "$automap" search "$model" --kind all --seed 4 --script "$dir/script" --quiet --json "$@"; }
timeless() { sed '/seconds/d' "$1"; }

search --episodes $episodes > "$dir/whole.json"
timeless "$dir/whole.json" > "$dir/whole"
search --episodes $episodes --journal "$dir/kept" > "$dir/kept.json"
timeless "$dir/kept.json" | cmp - "$dir/whole"
"$automap" replay "$dir/kept" --json | sed '/seconds/d' | cmp - "$dir/whole"

kills=${AUTOMAP_KILLS:-10} done=0 killed=0
while [ $done -lt "$kills" ]; do
    rm -f "$dir/j"
    "$automap" search "$model" --kind all --seed 4 --script "$dir/script" --quiet --json --episodes $episodes \
        --journal "$dir/j" > "$dir/out" 2> /dev/null &
    pid=$!
    sleep "0.$(printf '%03d' $((($(od -An -N2 -tu2 /dev/urandom) % 900) + 20)))"
    kill -9 $pid 2> /dev/null && killed=$((killed + 1))
    wait $pid 2> /dev/null || true
    done=$((done + 1))
    [ -s "$dir/j" ] || continue # killed before there was anything to keep
    grep -q ' c 0 run$' "$dir/j" || continue
    "$automap" replay "$dir/j" > /dev/null 2> "$dir/err" || grep -q 'before the first plan' "$dir/err" || {
        cat "$dir/err"
        exit 1
    }
    "$automap" search --resume "$dir/j" --quiet --json > "$dir/resumed.json"
    timeless "$dir/resumed.json" | cmp - "$dir/whole"
    "$automap" replay "$dir/j" --json | sed '/seconds/d' | cmp - "$dir/whole"
done
[ $killed -gt 0 ]

# resumed from its checkpoint, or, when that is damaged or gone, from the start: the same, and said
[ -s "$dir/kept.checkpoint" ]
resume() {
    "$automap" search --resume "$dir/kept" --quiet --json 2> "$dir/err" | sed '/seconds/d' | cmp - "$dir/whole"
}
resume
[ ! -s "$dir/err" ]
printf 'x' | dd of="$dir/kept.checkpoint" bs=1 seek=5000 conv=notrunc 2> /dev/null
resume
grep -q 'the checkpoint is left aside' "$dir/err"
rm "$dir/kept.checkpoint"
resume
[ ! -s "$dir/err" ]

# a checkpoint that cannot be written is said, and no success
mkdir "$dir/short.checkpoint"
code=0
"$automap" search "$model" --quiet --episodes 40 --journal "$dir/short" > /dev/null 2> "$dir/err" || code=$?
[ $code -eq 2 ]
grep -q 'short: no more checkpoints: ' "$dir/err"

# a damaged tail is cut with a warning, and nothing before it is lost
lines=$(wc -l < "$dir/kept")
head -c $(($(wc -c < "$dir/kept") - 7)) "$dir/kept" > "$dir/cut"
cp "$dir/cut" "$dir/copy"
"$automap" search --resume "$dir/cut" --quiet --json > "$dir/cut.json" 2> "$dir/err"
grep -q 'damaged and left out' "$dir/err"
timeless "$dir/cut.json" | cmp - "$dir/whole"
# a changed byte further up ends the readable part there
sed "$((lines - 2))s/ [csebm] / x /" "$dir/kept" > "$dir/middle"
"$automap" replay "$dir/middle" > /dev/null 2> "$dir/err" || true
grep -q 'damaged and left out' "$dir/err"
# two writers are refused
"$automap" search "$model" --seed 4 --time 20 --quiet --journal "$dir/busy" > /dev/null &
pid=$!
for _ in $(seq 400); do # until it holds its journal
    [ -s "$dir/busy" ] && break
    sleep 0.05
done
code=0
"$automap" search --resume "$dir/busy" --quiet > /dev/null 2> "$dir/err" || code=$?
kill $pid
wait $pid || true
[ $code = 2 ] && grep -q 'still runs' "$dir/err"
# another model is refused, and so is a file that is not a journal
code=0
"$automap" replay "$dir/script" > /dev/null 2> "$dir/err" || code=$?
[ $code = 2 ]
code=0
search --episodes 5 --journal "$dir/kept" > /dev/null 2> "$dir/err" || code=$?
[ $code = 2 ] && grep -q 'cannot make the journal' "$dir/err"

# disk full: said, and the search goes on
(
    ulimit -f 1
    trap '' XFSZ
    search --episodes $episodes --journal "$dir/full" 2> "$dir/err"
) | cat > "$dir/full.json"
[ "$(wc -c < "$dir/full")" -le 1024 ]
grep -q 'the journal ends here' "$dir/err"
timeless "$dir/full.json" | cmp - "$dir/whole"
