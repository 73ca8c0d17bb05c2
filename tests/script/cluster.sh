#!/bin/sh
# automap cluster on every example, its tables within 80 columns, its JSON, its errors and exit codes.
source=$1 automap=$2
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

# expect CODE TEXT ARGUMENT...: exit code, and TEXT somewhere in the output.
expect() {
    want=$1 text=$2
    shift 2
    "$automap" cluster "$@" >"$out/text" 2>&1
    code=$?
    [ $code = "$want" ] || fail "cluster $*: exit $code, expected $want"
    grep -qF -- "$text" "$out/text" || { fail "cluster $*: no \"$text\" in:"; cat "$out/text"; }
}

for file in "$source"/examples/clusters/*.yaml; do
    name=$(basename "$file" .yaml)
    expect 0 "$name   " "$file"
    longest=$(awk '{ if (length($0) > m) m = length($0) } END { print m }' "$out/text")
    [ "$longest" -le 80 ] || fail "$name: a line of $longest columns"
    expect 0 "\"$name\"" "$file" --json
done

# 256 MB over 32 devices of configuration C, by hand:
# 2 (0.01 + 7/8 256 MB / 130 GB/s + 0.025 + 3/4 256 MB / 3.125 GB/s) = 126.4 ms.
expect 0 "xy                 126.4        63.2" "$source/examples/clusters/c-4x8-v100.yaml"
# Twice the network: 61.44 ms less.
expect 0 "xy                  65.0        32.5" "$source/examples/clusters/c-4x8-v100.yaml" \
    --set 'network.bandwidth=50 Gbit/s'
expect 0 "8 groups share one network card" "$source/examples/clusters/c-4x8-v100.yaml" \
    --explain all-gather
expect 0 "v100-1x4   4 devices in 1 server" --mesh 2x2
expect 0 "usage: automap cluster" --help

expect 1 "no option --jsno, did you mean --json" --jsno
expect 1 "needs a value" --mesh
expect 1 "a file or --devices, not both" --devices 4 file.yaml
expect 1 "no collective named \"reduce\"" --explain reduce
expect 2 "--devices: 0 is out of range, expected 1 to 65536" --devices 0
expect 1 "--mesh: a mesh of 6 devices" --mesh 2x3
expect 2 "did you mean \"network\"?" --set 'netwrok.bandwidth=1 GB/s'
expect 2 "nosuch.yaml: cannot read the cluster file" nosuch.yaml
printf 'devices:\n  d: {memory: 16}\n' >"$out/bad.yaml"
expect 2 "bad.yaml:2:15: \"16\" has no unit, expected B, kB, MB, GB, TB, MiB or GiB as in 16 GB" \
    "$out/bad.yaml"
exit $failed
