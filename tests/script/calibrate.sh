#!/usr/bin/env bash
# automap calibrate: figures of a device from the profile of a trace, written to a file that says the
# same; of a link from collectives; a profile that was measured on another device; errors.
# usage: calibrate.sh SOURCE_DIR AUTOMAP
set -u
source=$1 automap=$2 failed=0
data=$source/tests/data/profile
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad() {
    echo "calibrate: $*"
    failed=1
}
"$automap" profile "$data/mlp.trace.json.gz" "$data/mlp.hlo.txt.gz" --compiled "$data/mlp-compiled.hlo.txt.gz" -o "$work/profile.json" 2>/dev/null || bad "no profile"
core=$source/tests/ref/calibrate/cpu.yaml
"$automap" calibrate "$core" "$data/mlp.hlo.txt.gz" "$work/profile.json" -o "$work/fitted.yaml" >"$work/fit" || bad "no fit"
grep -q 'mean error [0-9.]* % as the file has it, [0-9.]* % fitted, of 1' "$work/fit" || bad "no errors: $(cat "$work/fit")"
error() { sed -n "s/.*mean error $1.*/\1/p" "$2"; }
before=$(error '\([0-9.]*\) % as the file' "$work/fit") after=$(error '.* \([0-9.]*\) % fitted' "$work/fit")
awk -v a="$after" -v b="$before" 'BEGIN { exit !(a < 25 && a < b / 2) }' || bad "the fit is $after % off, $before % before"
"$automap" calibrate "$work/fitted.yaml" "$data/mlp.hlo.txt.gz" "$work/profile.json" --compare >"$work/again" || bad "the written file is not read"
[ "$(error '\([0-9.]*\) % as the file' "$work/again")" = "$after" ] || bad "the written file says otherwise: $(tail -1 "$work/again")"
# Of the same device the times of the profile stay; of one twice as fast they are half.
step() { "$automap" plan "$data/mlp.hlo.txt.gz" "$@" --profile "$work/profile.json" | sed -n 's/,//; s/^ *step *\([0-9.]*\) ms.*/\1/p'; }
sed 's/80 GFLOP/160 GFLOP/; s/40 GFLOP/80 GFLOP/; s/25.6 GB/51.2 GB/; s/1 us/0 us/' "$core" >"$work/twice.yaml"
sed -i 's/1 us/0 us/' "$work/twice.yaml"
sed 's/launch: 1 us/launch: 0 us/' "$core" >"$work/once.yaml"
same=$(step "$work/once.yaml") there=$(step "$work/once.yaml" --profiled-on "$work/once.yaml") half=$(step "$work/twice.yaml" --profiled-on "$work/once.yaml")
[ -n "$same" ] && [ "$same" = "$there" ] || bad "the same device: $same ms, $there"
awk -v a="$same" -v b="$half" 'BEGIN { exit !(b > 0.499 * a && b < 0.501 * a) }' || bad "twice as fast: $half of $same ms"
# A link of 15 us a phase and 130 GB/s, as `automap cluster` has it.
printf 'kind,bytes,ms\n# of 4 devices\n' >"$work/link.csv"
for size in 1e4 1e6 3e7 1e9; do
    ms=$("$automap" cluster "$source/examples/clusters/v100-1x4.yaml" --explain all-reduce --bytes "$(printf %.0f $size) B" | sed -n 's/.*over [a-z]*: \([0-9.]*\) ms.*/\1/p')
    echo "all-reduce,$size,$ms" >>"$work/link.csv"
done
sed 's/130 GB\/s, latency: 15 us/50 GB\/s, latency: 99 us/' "$source/examples/clusters/v100-1x4.yaml" >"$work/slow.yaml"
"$automap" calibrate "$work/slow.yaml" --collectives "$work/link.csv" >"$work/link" || bad "no link: $(cat "$work/link.csv")"
grep -q 'fitted  *1[23][0-9].* GB/s *1[45]\.[0-9] us *0\.[0-9] %' "$work/link" || bad "the link: $(cat "$work/link")"

fails() { # code, words
    local code=$1 words=$2 rc
    shift 2
    "$automap" calibrate "$@" >"$work/out" 2>&1
    rc=$?
    [ $rc = "$code" ] && grep -q -- "$words" "$work/out" || bad "$*: exit $rc, $(head -2 "$work/out")"
}
echo '{}' >"$work/none.json"
printf 'all-reduce,1e6,0.1\nall-reduce,1e6,fast\n' >"$work/fast.csv"
printf 'all-in,1e6,0.1\n' >"$work/kind.csv"
fails 1 'a cluster, and a model with its profile' "$core"
fails 1 'every model needs its profile' "$core" "$data/mlp.hlo.txt.gz"
fails 2 'the profile measures nothing' "$core" "$data/mlp.hlo.txt.gz" "$work/none.json"
fails 2 'fast.csv:2:1: expected KIND,BYTES,MS' "$work/slow.yaml" --collectives "$work/fast.csv"
fails 2 'kind.csv:1:1: no such collective' "$work/slow.yaml" --collectives "$work/kind.csv"
fails 2 'has one device: no collectives' "$core" --collectives "$work/link.csv"
fails 2 'has 2 types of devices' "$source/examples/clusters/unequal.yaml" "$data/mlp.hlo.txt.gz" "$work/profile.json"
exit $failed
