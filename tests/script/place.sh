#!/usr/bin/env bash
# automap place as a user calls it: published values, races, splits, exit codes.
set -u
data=$1/tests/ref/placement automap=$2
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
expect() { # code, words the output must hold, then the command
    local code=$1 words=$2 out rc
    shift 2
    [[ "$words $*" == *"${ONLY-}"* ]] || return 0 # to try one line alone
    out=$(PATH=${path-$PATH} "$automap" "$@" 2>&1)
    rc=$?
    if [ $rc != "$code" ] || ! grep -qE -- "$words" <<<"$out"; then
        printf 'automap %s\n  exit %d, expected %d and "%s"\n%s\n' "$*" $rc "$code" "$words" "$(head -5 <<<"$out")"
        failed=1
    fi
}
layers=$data/throughput-inputs/layergraphs ops=$data/throughput-inputs/operatorgraphs
bert=$layers/bert24_training.json.gz

expect 0 'contiguous +41\.7 ms per sample +proven' place "$bert"
expect 0 '"value_ms":.*41\.745' place "$bert" --json
expect 0 '"proven":.*true' place "$layers/inceptionv3_inference.json.gz" --json
expect 0 'any sets +39\.8 ms per sample +proven' place "$bert" --contiguous off
expect 0 'any sets +17\.7 ms per sample +proven' place "$layers/bert24_inference.json.gz" --contiguous off --moves 1000000
expect 0 'any sets +255.2 ms per sample +proven.*minimum cuts' place "$ops/resnet50_training.json.gz" --contiguous off --moves 1000000
expect 0 'any sets +54\.2 ms per sample +proven' place "$ops/bert_l-3_training.json.gz" --contiguous off
expect 0 'latency +100\.2 ms for one sample +proven .longest path, cut' place "$data/latency-inputs/layergraphs/bert24_inference.json.gz" --objective latency --moves 1000000
expect 0 '49\.4 ms per sample' place "$bert" --split "$data/human-experts/bert24_training_expert.json.gz"
expect 0 '111\.9 ms for one sample' place "$data/latency-inputs/layergraphs/bert24_inference.json.gz" --objective latency --devices 6 --split "$data/human-experts/bert24_inference_expert.json.gz"
expect 0 'exact +27\.9186 .*proven' place "$ops/bert_l-3_inference.json.gz" --algo race --moves 50
expect 0 'expert +49\.4049 ' place "$bert" --algo race --moves 50 --split "$data/human-experts/bert24_training_expert.json.gz"
expect 0 'anneal .* 50 .*not contiguous' place "$bert" --algo race --moves 50
expect 0 '"schema":.*automap-place-race-1' place "$bert" --algo race --moves 50 --json
expect 0 '"proven_scope":.*contiguous placements of this graph' place "$bert" --algo race --moves 50 --json
# What would be passed over is refused.
expert=$data/human-experts/bert24_training_expert.json.gz
expect 1 'why has no use with a race' place "$bert" --algo race --why node9
for option in '--algo dpl' '--moves 5' '--seed 1' '--contiguous on' '--pieces 2' '--target 60' --replicate; do
    expect 1 "${option%% *} has no use with a split" place "$bert" --split "$expert" $option
done
expect 0 'contiguous +49\.4 ms .*over the bound' place "$bert" --split "$expert" --memory-limit '9 GB' --lp "$dir/unused.lp"
expect 1 'lp has no use with --objective latency' place "$data/latency-inputs/layergraphs/bert24_inference.json.gz" --objective latency --lp "$dir/no.lp"
expect 1 'replicate has no use with --lp' place "$bert" --replicate --lp "$dir/no.lp"
[ ! -e "$dir/no.lp" ] || { echo 'another question was written'; failed=1; }
expect 1 'communication has no use with --objective latency' place "$data/latency-inputs/layergraphs/bert24_inference.json.gz" --objective latency --communication max
expect 1 'pieces has no use with --objective throughput' place "$bert" --pieces 2
expect 0 'scotch +[0-9.]+|scotch .*not installed' place "$data/latency-inputs/layergraphs/bert24_inference.json.gz" --objective latency --algo race
# Scotch is a program in PATH: one that answers nonsense, one that fails, none at all.
mkdir -p "$dir/nonsense" "$dir/failing" "$dir/none"
printf '#!/bin/sh\necho "28 x"\n' >"$dir/nonsense/gpart"
printf '#!/bin/sh\nexit 3\n' >"$dir/failing/gpart"
chmod +x "$dir"/nonsense/gpart "$dir"/failing/gpart
path=$dir/nonsense:$dir/none expect 2 'gave no partition' place "$bert" --algo scotch
path=$dir/failing:$dir/none expect 2 'gpart failed' place "$bert" --algo scotch
path=$dir/none expect 1 'Scotch is not installed' place "$bert" --algo scotch
expect 0 'x[2-6]' place "$bert" --replicate
# A split of stages with copies scores as it was found.
value() { sed -n 's/.*"value_ms":[^0-9]*\([0-9.]\{6\}\).*/\1/p' | head -1; }
found=$("$automap" place "$bert" --replicate --devices 5 --pin '6 apart from 28' -o "$dir/copies.json" --json | value)
scored=$("$automap" place "$bert" --devices 5 --pin '6 apart from 28' --split "$dir/copies.json" --json | value)
[ -n "$found" ] && [ "$found" = "$scored" ] || { echo "copies: found $found, scored $scored"; failed=1; }
expect 0 'proven' place "$bert" --passes apart --communication max
expect 0 'contiguous' place "$bert" --target 60
expect 4 'no contiguous plan reaches' place "$bert" --target 20
# what is proven says of what: how few accelerators, how many pieces, which placements
expect 0 'proven_scope":."fewest accelerators of contiguous placements that reach 60 ms' place "$bert" --target 60 --json
expect 0 'proven_scope":."latency of placements with at most 2 pieces' place "$data/latency-inputs/layergraphs/bert24_inference.json.gz" --objective latency --pieces 2 --moves 100 --json
expect 0 'proven_scope":."throughput of contiguous placements' place "$bert" --json
expect 0 'proven_scope":."throughput of all placements' place "$bert" --contiguous off --moves 100 --json
expect 4 '6 accelerators of 735 MB would do' place "$bert" --memory-limit '0.5 GB' --cpus 0
expect 4 'no number of accelerators of 100 MB was found' place "$bert" --memory-limit '0.1 GB' --cpus 0
expect 4 'no contiguous plan keeps' place "$bert" --devices 0 --cpus 0
expect 4 '6 accelerators of 546 MB would do' place "$layers/gnmt_inference.json.gz" --memory-limit '0.3 GB' --cpus 0
# What does not fit is code 4 and says what would, whoever found it; opponents show what they have.
for algo in exact dpl anneal local greedy pipedream dqn random one 'race --moves 50' $(command -v gpart >/dev/null && echo scotch); do
    expect 4 '6 accelerators of 735 MB would do' place "$bert" --memory-limit '0.5 GB' --cpus 0 --algo $algo
done
expect 0 'exact +[0-9.]+ .*proven' place "$bert" --memory-limit '0.9 GB' --cpus 0 --algo race --moves 50
# What would do, on nodes of 1 ms and these bytes: nodes in a row, or beside each other.
sized() { # memory, accelerators, cores, cost of the edges of a row or "" for none, then the bytes
    local memory=$1 k=$2 l=$3 cost=$4 n=0 nodes='' edges=''
    shift 4
    for bytes; do
        nodes+="${nodes:+, }{\"id\": $n, \"supportedOnFpga\": 1, \"fpgaLatency\": 1, \"cpuLatency\": 9, \"size\": $bytes}"
        [ -z "$cost" ] || [ $n = 0 ] || edges+="${edges:+, }{\"sourceId\": $((n - 1)), \"destId\": $n, \"cost\": $cost}"
        n=$((n + 1))
    done
    echo "{\"maxSizePerFPGA\": $memory, \"maxFPGAs\": $k, \"maxCPUs\": $l, \"nodes\": [$nodes], \"edges\": [$edges]}"
}
# Pins stay on their device when there are more accelerators before it.
sized 5 1 1 1 10 4 4 >"$dir/hosted.json"
hosted=("$dir/hosted.json" --pin '0 on h' --pin '1 off host' --pin '2 off host')
expect 4 '^1 accelerator of 8 B would do' place "${hosted[@]}"
expect 4 '^2 accelerators of 5 B would do' place "${hosted[@]}"
expect 0 'proven' place "${hosted[@]}" --devices 2
# A no is one of contiguous plans: three accelerators hold these nodes as any sets.
sized 5 1 2 1 1 4 4 1 >"$dir/around.json"
around=("$dir/around.json" --pin '0 with 3' --pin '0 off host' --pin '1 off host' --pin '2 off host')
expect 0 'any sets' place "${around[@]}" --contiguous off --devices 3
for other in '--contiguous off' '--objective latency'; do
    expect 4 '^no contiguous plan was found with more accelerators of 5 B$' place "${around[@]}" $other
    said=$("$automap" place "${around[@]}" --pin '0 apart from 1' $other 2>&1)
    [[ $said == *'no contiguous plan was found'* && $said != *'memory no plan was found'* ]] || { echo "place $other says $said"; failed=1; }
done
expect 4 '^no number of accelerators of 5 B was found that would do$' place "${around[@]}"
expect 4 '^with any memory no plan was found: kinds of devices or pins' place "${around[@]}" --pin '0 apart from 1'
said=$("$automap" place "${around[@]}" --devices 0 --cpus 0 2>&1)
[[ $said == *'no number of accelerators'* && $said != *'memory no plan'* ]] || { echo "without devices: $said"; failed=1; }
# The search that finds a plan is named; the one that just found none is not.
sized 350 2 0 '' 97 83 71 67 59 53 47 43 41 37 31 29 23 19 >"$dir/parted.json"
expect 0 'proven' place "$dir/parted.json"
expect 4 '^there are plans that fit: --algo exact finds one$' place "$dir/parted.json" --algo dpl
sized 341 2 1 '' 97 83 71 67 59 53 47 43 41 37 31 29 24 >"$dir/full.json"
full=("$dir/full.json")
for v in {0..12}; do full+=(--pin "$v off host"); done
expect 0 'proven' place "${full[@]}"
expect 4 '^there are plans that fit: --algo exact finds one$' place "${full[@]}" --algo dpl
expect 4 '^this plan needs more memory' place "$bert" --memory-limit '0.5 GB' --cpus 0 --algo local
expect 4 'there are plans that fit: --algo exact' place "$bert" --memory-limit '0.9 GB' --cpus 0 --algo one
expect 4 'there are plans that fit: --algo exact' place "$bert" --pin '20 apart from 21' --algo pipedream
expect 4 'there are plans that fit: --algo exact' place "$bert" --memory-limit '1 GB' --split "$data/human-experts/bert24_training_expert.json.gz"
expect 4 'latency +92.4 ms for one sample +plans that keep all rules take 100.2 ms at least' place "$data/latency-inputs/layergraphs/bert24_inference.json.gz" --objective latency --algo one
expect 4 '^1 accelerator of 17.2 GB would do' place "$bert" --pin '6 off host' --devices 0
expect 0 '^not contiguous +39' place "$bert" --algo anneal
expect 0 'though that was asked: forward edges lead both ways' place "$bert" --algo anneal
expect 0 '"contiguous":.*false' place "$bert" --algo anneal --json
# The host holds one sample's nodes that no accelerator does, but for those pinned off it.
small=$data/latency-inputs/layergraphs/bert24_inference.json.gz
expect 0 '[0-9.]+ ms for one sample' place "$small" --objective latency --memory-limit '50 MB' --moves 10000
expect 0 '924.1 ms for one sample +proven' place "$small" --objective latency --memory-limit '1 MB' --moves 10000
expect 4 'accelerators of [0-9.]+ MB would do' place "$small" --objective latency --memory-limit '50 MB' --moves 10000 --pin 'node3 off host'
expect 0 '41\.[0-9]* ms per sample +proven|4[0-9.]+ ms per sample' place "$bert" --pin '6 apart from 7' --pin '9 off host'
expect 4 'clashes with node6 on A' place "$bert" --pin '6 on A' --pin '6 on B'
expect 2 'no device "Z"' place "$bert" --pin '6 on Z'
expect 0 'as it is' place "$bert" --why node9
expect 2 'nodes are called .node999.' place "$bert" --why node999
expect 1 'expected on or off' place "$bert" --contiguous maybe
expect 1 'no.* algorithm|expected exact' place "$bert" --algo magic
expect 1 'which graph' place
expect 1 'dqn does not answer latency: its game' place "$bert" --objective latency --algo dqn
expect 0 'dqn +- +dqn does not answer latency: its game' place "$data/latency-inputs/layergraphs/bert24_inference.json.gz" --objective latency --algo race --moves 200
expect 0 'anneal +[0-9.]+ .* 200 ' place "$data/latency-inputs/layergraphs/bert24_inference.json.gz" --objective latency --algo race --moves 200
expect 2 'No such file' place "$dir/none.json"
echo '{"nodes": [' >"$dir/broken.json"
expect 2 'broken.json:2:1: the file ends here' place "$dir/broken.json"

expect 0 '16 of 16 equal' bench place --contiguous
expect 0 'inceptionv3_training .* out of memory$' bench place --contiguous

# A target over servers is reached by the fewest accelerators that were found, or refused.
chain() { # accelerators
    echo '{"maxFPGAs": '$1', "maxCPUs": 0, "maxSizePerFPGA": 9, "perServer": 2, "nodes": ['
    for n in 0 1 2 3; do echo "{\"id\": $n, \"supportedOnFpga\": 1, \"fpgaLatency\": 1, \"cpuLatency\": 9}${comma[$n]-,}"; done
    echo '], "edges": ['
    for n in 0 1 2; do echo "{\"sourceId\": $n, \"destId\": $((n + 1)), \"cost\": 0.1, \"costFar\": 0.5}${edge[$n]-,}"; done
    echo ']}'
}
comma=([3]=) edge=([2]=)
chain 4 >"$dir/chain4.json"
chain 5 >"$dir/chain5.json"
expect 4 'no contiguous plan was found that reaches 1.3 ms' place "$dir/chain4.json" --target 1.3 --algo dpl
expect 4 'no contiguous plan reaches 1.3 ms' place "$dir/chain4.json" --target 1.3
expect 4 'no contiguous plan was found that reaches 1.3 ms' place "$dir/chain5.json" --target 1.3
expect 0 'contiguous +2\.10 ms' place "$dir/chain4.json" --target 2.3 --algo dpl
expect 0 'contiguous +1\.60 ms' place "$dir/chain4.json" --target 1.7 --algo dpl
expect 0 '^ +0\.500  B to C ' place "$dir/chain4.json" --target 1.7 --algo dpl
# Where servers are not filled, copies may be on two of them: what they send is far, and unproven.
echo '{"maxFPGAs": 3, "maxCPUs": 0, "maxSizePerFPGA": 1, "perServer": 2, "syncPerByte": 0.001, "syncPerByteFar": 1, "nodes": [
    {"id": 0, "supportedOnFpga": 1, "fpgaLatency": 1, "cpuLatency": 9, "size": 1},
    {"id": 1, "supportedOnFpga": 1, "fpgaLatency": 2, "cpuLatency": 9, "size": 1},
    {"id": 2, "supportedOnFpga": 1, "fpgaLatency": 2, "cpuLatency": 9, "isBackwardNode": 1}],
    "edges": [{"sourceId": 0, "destId": 1, "cost": 0, "costFar": 0.01}, {"sourceId": 1, "destId": 2, "cost": 0, "costFar": 0.01}]}' >"$dir/uneven.json"
expect 0 'contiguous +2\.01 ms per sample +[0-9.]+ % over' place "$dir/uneven.json" --replicate

# Models: contracted to operators, on a cluster, with a host's cores where it has some.
models=$1/examples/models
cat >"$dir/host.yaml" <<'END'
devices: {a: {memory: 16 GB, peak: {f32: 12 TFLOP/s}, bandwidth: 800 GB/s, launch: 5 us}}
servers:
  - devices: 4
    link: {kind: ring, bandwidth: 130 GB/s, latency: 1 us}
    host: {cores: 3, peak: 50 GFLOP/s, bandwidth: 12 GB/s, link: 12 GB/s}
END
expect 0 'contiguous +[0-9.]+ ms per sample +proven' place "$models/t5-tiny.hlo.txt.gz" "$1/examples/clusters/v100-1x4.yaml"
expect 0 '4 as of 16.0 GB, 3 cores' place "$models/mlp.hlo.txt.gz" "$dir/host.yaml"
expect 0 'over the bound|proven' place "$models/t5-tiny.hlo.txt.gz" "$1/examples/clusters/a-2x8-v100.yaml" --algo dpl
expect 4 'accelerators of 16.0 GB would do' place "$models/bert48.hlo.txt.gz" "$1/examples/clusters/v100-1x4.yaml" --algo dpl
# What names a model's problem is taken as by the other commands; a graph has no use for it.
echo '{"dot_general.8": 7}' >"$dir/profile.json"
expect 0 'contiguous +7\.[0-9]+ ms' place "$models/mlp.hlo.txt.gz" --profile "$dir/profile.json"
expect 0 'contiguous' place "$models/mlp.hlo.txt.gz" "$1/examples/clusters/c-4x8-v100.yaml" --servers 0-1
echo 'no_such_variable' >"$dir/vars.txt"
expect 2 'no_such_variable' place "$models/mlp.hlo.txt.gz" --vars "$dir/vars.txt"
expect 1 'are of models' place "$bert" --profile "$dir/profile.json"
expect 2 'a host with cores, expected peak' cluster <(sed 's/peak: 50 GFLOP.s, //' "$dir/host.yaml")
expect 2 'a host without link' cluster <(sed 's/, link: 12 GB.s}/}/' "$dir/host.yaml")
sed 's/{cores: 3.*link/{link/' "$dir/host.yaml" >"$dir/link.yaml"
expect 0 '4 as of 16.0 GB, 0 cores' place "$models/mlp.hlo.txt.gz" "$dir/link.yaml"
sed 's/cores: 3, //' "$dir/host.yaml" >"$dir/coreless.yaml"
expect 0 '4 as of 16.0 GB, 0 cores' place "$models/mlp.hlo.txt.gz" "$dir/coreless.yaml"
expect 0 '^fingerprint' cluster "$dir/link.yaml" --set servers.0.host.peak='50 GFLOP/s' --set servers.0.host.bandwidth='12 GB/s' --set servers.0.host.cores=3
expect 2 'with --set before them' cluster "$dir/link.yaml" --set servers.0.host.cores=3
[ "$("$automap" cluster "$dir/link.yaml" | grep '^fingerprint')" = "$("$automap" cluster "$dir/coreless.yaml" | grep '^fingerprint')" ] ||
    { echo 'what a core does tells clusters without cores apart'; failed=1; }
fingerprints=$(for f in host link; do "$automap" cluster "$dir/$f.yaml"; done | grep -c '^fingerprint' )
[ "$fingerprints" = 2 ] && [ "$(for f in host link; do "$automap" cluster "$dir/$f.yaml" | grep '^fingerprint'; done | uniq | wc -l)" = 2 ] ||
    { echo 'a host and its link alone are one cluster'; failed=1; }

# Another batch: twice the samples, and the plan is opened at its own.
v100=$1/examples/clusters/v100-1x4.yaml resnet=$models/resnet20.hlo.txt.gz
ms() { "$automap" place "$resnet" "$v100" --algo dpl --json "$@" | sed -n 's/.*"value_ms":[^0-9]*\([0-9.]*\).*/\1/p' | head -1; }
awk -v a="$(ms)" -v b="$(ms --batch 256)" -v c="$(ms --batch 1024)" 'BEGIN { exit !(a > 0 && a == b && c > 3 * a && c < 4.1 * a) }' ||
    { echo "batches: $(ms) $(ms --batch 256) $(ms --batch 1024)"; failed=1; }
expect 0 contiguous place "$resnet" "$v100" --algo dpl --batch 1024 --plan "$dir/batch.json"
expect 0 "contiguous +$(ms --batch 1024 | cut -c1-3)" plan "$resnet" "$v100" --plan "$dir/batch.json"
expect 2 'for a batch of 1024, expected --batch 1024' plan "$resnet" "$v100" --plan "$dir/batch.json" --batch 64
expect 1 'of models' place "$bert" --batch 64
expect 0 'proven_scope":."throughput of contiguous placements of this graph, servers in turn' place "$models/mlp.hlo.txt.gz" "$1/examples/clusters/a-2x8-v100.yaml" --json

# A plan that is written scores as it was found; standard input is a file like others.
expect 0 'proven' place "$bert" -o "$dir/split.json"
expect 0 '41\.7 ms per sample' place "$bert" --split "$dir/split.json"
zcat "$bert" | "$automap" place - --json | grep -q '"value_ms":.*41\.745' || { echo 'standard input'; failed=1; }

# Plan files: read again by plan, explain and export; another graph, model or cluster is told.
expect 0 'proven' place "$bert" --pin '6 apart from 7' --plan "$dir/plan.json"
expect 0 "contiguous +4[12]\.[0-9]+ ms per sample +proven, as written in $dir/plan.json" plan "$bert" --plan "$dir/plan.json"
expect 0 '"as_written":.*true' plan "$bert" --plan "$dir/plan.json" --json
expect 0 '"pins":.*6 apart from 7' plan "$bert" --plan "$dir/plan.json" --json
expect 0 'as it is' explain "$bert" --plan "$dir/plan.json" node9
expect 0 'limits, 4[12].* computes .* fetches' explain "$bert" --plan "$dir/plan.json"
expect 0 '"maxLoad": 4[12]' export "$bert" --plan "$dir/plan.json" --format split
expect 2 'only a plan of a model is a pipeline' export "$bert" --plan "$dir/plan.json" --format trace
expect 1 'of a placement is json, split' export "$bert" --plan "$dir/plan.json" --format hlo
expect 0 'copy of a stage is there' place "$bert" --replicate --why node9
expect 0 'proven' place "$data/latency-inputs/layergraphs/bert24_inference.json.gz" --objective latency --moves 100000 --plan "$dir/latency.json"
expect 0 'h: 1 node, computes .*; waits for node|A: [0-9]+ nodes, computes' explain "$data/latency-inputs/layergraphs/bert24_inference.json.gz" --plan "$dir/latency.json"
expect 0 '100\.2 +as it is' explain "$data/latency-inputs/layergraphs/bert24_inference.json.gz" --plan "$dir/latency.json" node9
expect 2 'another operator graph' plan "$layers/gnmt_training.json.gz" --plan "$dir/plan.json"
expect 0 'as a pipeline +4 stages, step 47[0-9.]+ ms' place "$models/vgg19.hlo.txt.gz" "$1/examples/clusters/v100-1x4.yaml" --plan "$dir/vgg.json" --pipeline "$dir/pipe.json"
expect 2 'for another cluster' plan "$models/vgg19.hlo.txt.gz" "$1/examples/clusters/a-2x8-v100.yaml" --plan "$dir/vgg.json"
expect 0 'contiguous +355' plan "$models/vgg19.hlo.txt.gz" "$1/examples/clusters/v100-1x4.yaml" --plan "$dir/vgg.json"
expect 0 'step +47[0-9.]+ ms +schedule eager' plan "$models/vgg19.hlo.txt.gz" "$1/examples/clusters/v100-1x4.yaml" --plan "$dir/pipe.json"
expect 0 'peak' plan "$models/vgg19.hlo.txt.gz" "$1/examples/clusters/v100-1x4.yaml" --plan "$dir/pipe.json" --memory
expect 0 'stage 3, devices 3-3' export "$models/vgg19.hlo.txt.gz" "$1/examples/clusters/v100-1x4.yaml" --plan "$dir/vgg.json" --format trace
expect 2 'only a plan of a model' place "$bert" --pipeline "$dir/none.json"
echo mine >"$dir/mine.json"
expect 2 'not one that automap wrote' place "$bert" --plan "$dir/mine.json"
cmp -s <(echo mine) "$dir/mine.json" || { echo 'a file of somebody else was written over'; failed=1; }

# The explorer opens a graph and a plan of it, and writes what it shows as a split.
case $automap in /*) ;; *) automap=$PWD/$automap ;; esac
cd "$dir" || exit 1
expect 0 '27\.9 ms a sample +proven' screen "$ops/bert_l-3_inference.json.gz" --size 100x30 --keys e
expect 0 'wrote bert_l-3_inference.split.json' screen "$ops/bert_l-3_inference.json.gz" --keys 'e e'
expect 0 'is there already' screen "$ops/bert_l-3_inference.json.gz" --keys e
expect 0 'contiguous +27\.9 ms per sample' place "$ops/bert_l-3_inference.json.gz" --split bert_l-3_inference.split.json
# V l of a graph: it is what one sees already, or goes back to it; stages name their ideal.
expect 0 'this is the placement of the graph' screen "$layers/gnmt_inference.json.gz" --keys 'V l'
expect 0 '^ 32.9 ms a sample +proven' screen "$layers/gnmt_inference.json.gz" --keys 'C V l'
expect 0 'stage 2 of 6, on B: 45 of 96 nodes by then' screen "$layers/gnmt_inference.json.gz" --size 100x24 --keys '] ]'
expect 0 'node15 on B; m moves' screen "$layers/gnmt_inference.json.gz" --size 100x24 --keys '] ]'
# A tall screen says what the producers of transfers would cost elsewhere, and what the limit is made of.
expect 0 'Transpose13 +is here +29.1 +21.9 +27.9 +MatMul27 +8.22 +29.5 %' screen "$ops/bert_l-3_inference.json.gz" --size 120x40
expect 0 'On C .* which limits' screen "$ops/bert_l-3_inference.json.gz" --size 120x40
expect 0 ' 204.7 +206.9 +is here +268.7' screen "$ops/bert_l-3_inference.json.gz" --size 200x60
expect 0 'no chain of stages' screen "$layers/gnmt_inference.json.gz" --keys 'c ]'
expect 0 '65 weights and 8 of equal chains left out' screen "$ops/bert_l-3_training.json.gz" --size 120x50
expect 0 '4[12]\.[0-9] ms a sample +proven, contiguous, as its file says' screen "$bert" --plan "$dir/plan.json"
expect 2 'another operator graph' screen "$ops/bert_l-3_inference.json.gz" --plan "$dir/plan.json"
cp "$ops/bert_l-3_inference.json.gz" b.gz
expect 0 'b  235 operators   3 accelerators' screen mlp --keys ': o p e n Space b . g z Enter'
expect 0 'mlp .*instr' screen b.gz --keys ': o p e n Space m l p Enter'
expect 0 'broken.json:2:1: the file ends here' screen mlp --keys ': o p e n Space b r o k e n . j s o n Enter'

# Hostile sizes get an answer: a chain of 10^5 nodes.
awk 'BEGIN { n = 100000; printf "{\"maxSizePerFPGA\":1e9,\"maxFPGAs\":8,\"maxCPUs\":0,\"nodes\":["
    for (i = 0; i < n; i++) printf "%s{\"id\":%d,\"supportedOnFpga\":1,\"cpuLatency\":9,\"fpgaLatency\":%d,\"size\":1}", (i ? "," : ""), i, i % 7
    printf "],\"edges\":["
    for (i = 1; i < n; i++) printf "%s{\"sourceId\":%d,\"destId\":%d,\"cost\":%d}", (i > 1 ? "," : ""), i - 1, i, i % 5
    print "]}" }' >"$dir/long.json"
expect 0 'contiguous' place "$dir/long.json"
exit $failed
