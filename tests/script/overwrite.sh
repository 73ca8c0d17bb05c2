#!/bin/sh
# A file that automap did not write is kept unless --force is given; one that it wrote is replaced.
set -u
source=$1 automap=$2
model=$source/examples/models/t5-tiny.hlo.txt.gz
cluster=$source/examples/clusters/v100-1x4.yaml
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=$dir/out.txt
failed=0

wrong() {
    echo "$*"
    failed=1
}

# guards ARGUMENT...: the command, which writes to $out.
guards() {
    echo precious > "$out"
    "$automap" "$@" > /dev/null 2> "$dir/said" < /dev/null
    code=$?
    [ $code -eq 2 ] || wrong "automap $*: exit code $code on a foreign file, expected 2"
    [ "$(cat "$out")" = precious ] || wrong "automap $*: a foreign file was replaced"
    grep -q -- --force "$dir/said" || wrong "automap $*: no word of --force"
    "$automap" "$@" --force > /dev/null 2>&1 < /dev/null || wrong "automap $* --force: failed"
    [ "$(head -c 8 "$out")" != precious ] || wrong "automap $* --force: not replaced"
    : > "$out"
    "$automap" "$@" > /dev/null 2>&1 < /dev/null || wrong "automap $*: failed on an empty file"
    [ -s "$out" ] || wrong "automap $*: an empty file was not replaced"
}

plan=$dir/plan.json
"$automap" plan "$model" "$cluster" --optimum -o "$plan" > /dev/null || wrong "no plan"
"$automap" plan "$model" "$cluster" -o "$plan" > /dev/null || wrong "a plan of automap's was kept"

guards plan "$model" "$cluster" -o "$out"
guards search "$model" "$cluster" --episodes 3 --quiet --no-journal --plan "$out"
guards search "$model" "$cluster" --kind pp --algo exact --plan "$out"
guards convert "$model" "$out"
guards export "$model" "$cluster" --plan "$plan" -o "$out"
guards place "$model" "$cluster" -o "$out"
printf 'all-reduce,1e6,0.1\nall-reduce,1e8,2\n' > "$dir/times.csv"
guards calibrate "$cluster" --collectives "$dir/times.csv" -o "$out"
guards pretrain pp --environments 8 -o "$out"
exit $failed
