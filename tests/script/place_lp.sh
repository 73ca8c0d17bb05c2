#!/usr/bin/env bash
# The integer program of any sets, solved by CBC, has the value that automap proves. Skipped without
# CBC.
set -u
data=$1/tests/ref/placement/throughput-inputs automap=$2
command -v cbc >/dev/null || exit 77
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
compare() { # name, then the graph and options
    local name=$1 ours theirs
    shift
    "$automap" place "$@" --contiguous off --lp "$dir/p.lp" --force --json >"$dir/ours.json" || failed=1
    grep -q '"proven":.*true' "$dir/ours.json" || { echo "$name: not proven"; failed=1; }
    ours=$(sed -n 's/.*"value_ms":[^0-9]*\([0-9.e+-]*\),*/\1/p' "$dir/ours.json" | head -1)
    timeout 120 cbc "$dir/p.lp" solve solution "$dir/p.sol" >"$dir/log" 2>&1
    theirs=$(sed -n '1s/^Optimal - objective value \([0-9.e+-]*\)$/\1/p' "$dir/p.sol")
    awk -v a="$ours" -v b="$theirs" 'BEGIN { exit !(b != "" && (a - b) ^ 2 <= (1e-5 * (1 + a)) ^ 2) }' ||
        { echo "$name: ours $ours, CBC $theirs"; head -1 "$dir/p.sol"; failed=1; }
}
compare bert-3 "$data/operatorgraphs/bert_l-3_inference.json.gz"
for seed in 1 2 3 4; do
    awk -v seed=$seed 'BEGIN { srand(seed); n = 8
        printf "{\"maxSizePerFPGA\":%d,\"maxFPGAs\":2,\"maxCPUs\":1,\"nodes\":[", 12 + 12 * rand()
        for (i = 0; i < n; i++) printf "%s{\"id\":%d,\"supportedOnFpga\":%d,\"isBackwardNode\":0,\"cpuLatency\":%d,\"fpgaLatency\":%d,\"size\":%d}", (i ? "," : ""), i, rand() < 0.9, 30 * rand(), 10 * rand(), 5 * rand()
        printf "],\"edges\":["
        for (i = 1; i < n; i++) { c[i - 1] = int(6 * rand()); m = 0 }
        for (i = 1; i < n; i++) for (j = 0; j < i; j++) if (j == i - 1 || rand() < 0.3)
            printf "%s{\"sourceId\":%d,\"destId\":%d,\"cost\":%d}", (i + j > 1 ? "," : ""), j, i, c[j]
        print "]}" }' >"$dir/g.json"
    compare "random $seed" "$dir/g.json"
    compare "random $seed, pinned" "$dir/g.json" --pin '2 apart from 5' --pin '1 with 3'
done
exit $failed
