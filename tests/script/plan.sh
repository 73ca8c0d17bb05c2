#!/usr/bin/env bash
# automap plan and explain as a user calls them: figures published for these models, and exit codes.
set -u
models=$1/examples/models automap=$2
failed=0
expect() { # code, words the output must hold, then the command
    local code=$1 words=$2 out rc
    shift 2
    out=$("$automap" "$@" 2>&1)
    rc=$?
    if [ $rc != "$code" ] || ! grep -qE -- "$words" <<<"$out"; then
        printf 'automap %s\n  exit %d, expected %d and "%s"\n%s\n' "$*" $rc "$code" "$words" "$(head -5 <<<"$out")"
        failed=1
    fi
}
t5=$models/t5-base6.hlo.txt.gz tiny=$models/t5-tiny.hlo.txt.gz vgg=$models/vgg19.hlo.txt.gz
stream='decoder/layer_000/cross/q/kernel:0=0'

expect 0 '143 partitioned, 111 replicated' plan "$t5" --devices 4 --optimum --reward paper
expect 0 '111 partitioned, 143 replicated' plan "$t5" --devices 4 --set "$stream" --optimum --reward paper
expect 0 'all-reduces +103 +3\.1 GB' plan "$t5" --devices 4 --set "$stream" --optimum --reward paper --reduce-at-once
expect 0 'all-reduces +168 +773 MB' plan "$t5" --devices 16 --optimum --reduce-at-once
expect 0 'paper reward +10\.4' plan "$vgg" --devices 8 --rules paper --optimum --reward paper
expect 0 'all-reduces +0 ' plan "$tiny" --no-reductions add,maximum --optimum
# a program printed with locations is the same program: the Python file knows its operations again
lines=$(mktemp -d)
cat > "$lines/a.mlir" << 'M'
module @m {
  func.func public @main(%arg0: tensor<256x128xf32>, %arg1: tensor<16x1xi32>) -> tensor<16x128xf32> {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 128>}> : (tensor<256x128xf32>, tensor<16x1xi32>) -> tensor<16x128xf32>
    return %0 : tensor<16x128xf32>
  }
}
M
sed '3s/$/ loc(#loc1)/; $a #loc1 = loc("jit(f)/gather")' "$lines/a.mlir" > "$lines/b.mlir"
for n in a b; do
    "$automap" plan "$lines/$n.mlir" --devices 4 -o "$lines/$n.json" > /dev/null
    "$automap" export "$lines/$n.mlir" --devices 4 --plan "$lines/$n.json" --format jax | grep -A2 '^LINES' > "$lines/$n"
done
[ -s "$lines/a" ] && cmp "$lines/a" "$lines/b" || { echo "locations change what an operation is"; exit 1; }
# constants left out of the text: no step for XLA to run, but layouts of arguments and results
cat > "$lines/c.hlo.txt" << 'M'
HloModule m
ENTRY main {
  x = f32[64,128]{1,0} parameter(0)
  table = f32[64,128]{1,0} constant({...})
  ROOT sum = f32[64,128]{1,0} add(x, table)
}
M
"$automap" plan "$lines/c.hlo.txt" --devices 4 -o "$lines/c.json" > /dev/null
expect 2 'table .constant.: the file has not its values .*--xla_dump_large_constants' export "$lines/c.hlo.txt" --devices 4 --plan "$lines/c.json" --format stablehlo
expect 0 'warning: the file splits arguments and results alone, not the step inside: table' export "$lines/c.hlo.txt" --devices 4 --plan "$lines/c.json" --format jax
expect 0 'def distribute' export "$lines/c.hlo.txt" --devices 4 --plan "$lines/c.json" --format jax
rm -r "$lines"
# a bound of plans that treat equal layers alike does not become one of all when the file is read
tied=$(mktemp)
"$automap" plan "$tiny" v100-1x4 --folding on --mode relaxed -o "$tied" --force > /dev/null
"$automap" export "$tiny" v100-1x4 --plan "$tied" --format json | grep -q '"bound_kind":.*"tied"' || { echo "a tied bound became global"; exit 1; }
rm -f "$tied"

expect 0 'proven optimal' plan "$tiny" --devices 16 --mesh 4x4 --optimum
# fewer devices of a part are told by the numbers of the file
expect 0 'fewer devices .* on 4 of the 8 devices: --servers 1 --mesh 4' plan "$vgg" unequal --servers 1-2 --optimum

expect 0 'batch +64  the module has' plan "$tiny" --optimum --batch 64
expect 2 'a batch of 63, expected a multiple of the 4 micro-batches' plan "$tiny" --optimum --batch 63 --micro-batches 4
expect 0 'batch +12  the module has' plan "$tiny" --optimum --batch 12 --micro-batches auto --zero auto
expect 1 'batch 0, expected' plan "$tiny" --optimum --batch 0
expect 0 'decides inputs' search "$tiny" --batch 64 --kind adp --algo greedy --no-journal --quiet
expect 0 'proven optimal +no strict plan on this mesh is faster' plan "$tiny" --optimum
# why a decision cannot be: nothing was decided before, or it was
expect 4 'cannot be split over x: 3 does not divide all' plan "$1/examples/models/mlp.hlo.txt.gz" --devices 3 --divisibility exact --set 'layer_0/kernel:1=1'
expect 4 'cannot be split over y: 3 does not divide all' plan "$1/examples/models/mlp.hlo.txt.gz" --devices 6 --mesh 2x3 --divisibility exact --set 'layer_0/kernel:1=y'
expect 4 'an earlier decision says otherwise' plan "$1/examples/models/mlp.hlo.txt.gz" --devices 4 --set 'layer_0/kernel:1=1' --set 'layer_0/kernel:1=0'
expect 0 'no strict plan on this mesh with the given decisions is faster' plan "$tiny" --optimum --set '*ffn/conv1/kernel:1=1'
expect 0 'no plan with the given decisions is faster' plan "$tiny" --mode relaxed --set '*ffn/conv1/kernel:1=1'

expect 0 'memory +915 kB +of 1 MB: fits' plan "$tiny" --memory-limit '1 MB'
expect 0 'no strict plan on this mesh within the memory limit is faster' plan "$tiny" --memory-limit '1 MB'
expect 0 'micro-batches +4 +ZeRO level 0' plan "$tiny" --memory-limit '0.5 MB' --micro-batches auto --zero auto
expect 0 '"micro_batches":.*4' plan "$tiny" --memory-limit '0.5 MB' --micro-batches auto --zero auto --json
expect 0 '"memory_limit_bytes":.*500000' plan "$tiny" --memory-limit=500kB --micro-batches=auto --zero=auto --json
expect 0 'all-reduces +56 ' plan "$tiny" --set 'batch/source:0=1' --micro-batches 2 --zero 3
expect 0 'all-gathers +159 ' plan "$tiny" --set 'batch/source:0=1' --micro-batches 2 --zero 3
expect 4 'needs at least 4 micro-batches, or a device of 914 kB' plan "$tiny" --memory-limit '0.5 MB'
expect 4 '"needs_micro_batches":.*4' plan "$tiny" --memory-limit '0.5 MB' --json
expect 4 'any number of micro-batches and any ZeRO level' plan "$tiny" --memory-limit '1 kB' --micro-batches auto --zero auto
expect 1 'expected a size such as' plan "$tiny" --memory-limit much
expect 1 '0, 1, 2 or 3' plan "$tiny" --zero 4
expect 2 "divisor of the module's batch, 8" plan "$tiny" --micro-batches 3
expect 1 'of the best plan: no --random' plan "$tiny" --memory-limit device --random 1

meta=$1/examples/models/t5-tiny.meta.hlo.txt.gz
vgg2=$1/examples/clusters/a-2x8-v100.yaml
expect 0 'peak +915 kB +while dot_general.222 runs +examples/make/t5.py:57' plan "$meta" --devices 4 --set 'batch/source:0=1' --memory
expect 0 'the change that lowers it most: batch/labels:0 split over 4' plan "$meta" --devices 4 --memory
expect 0 '411 MB +gradients +dot_general.16 +f32\[4096 25088\]  all-reduced copy' plan "$vgg" --devices 4 --optimum --memory
expect 0 'activations params__layer_1____kernel__.1 f32\[512/4 256\]  copy before update' plan "$models/mlp.hlo.txt.gz" --devices 4 --optimum --memory
expect 0 'network bandwidth +3\.1 GB/s now; from 2\.4 GB/s to 7\.9 GB/s' plan "$vgg" "$vgg2" --mesh 2x8 --optimum --stability
expect 0 'batch +128 now; from 14 to 161' plan "$vgg" "$vgg2" --mesh 2x8 --optimum --stability
gpt="$1/tests/data/recompute/gpt-plain.hlo.txt.gz"
expect 0 'no choice with this plan is faster|no choice of what to keep is faster' plan "$gpt" --optimum --recompute auto --memory-limit '1.5 GB'
expect 0 'save_only_these_names' plan "$gpt" --optimum --recompute auto
expect 0 '"schema":.*automap.recompute/1' plan "$gpt" --recompute auto --json
expect 0 'nothing fits' plan "$gpt" --recompute auto --memory-limit '1 MB'
expect 0 'what to keep for the backward pass, within' plan "$tiny" --memory-limit '100 MB' --micro-batches auto --zero auto --recompute auto
# A link to host memory: within the limit a faster step than without it, and what a trainer is told.
host=$(mktemp) device=$(mktemp)
sed 's/latency: 15 us}/latency: 15 us}, host: {link: 12 GB\/s}/' "$1/examples/clusters/v100-1x4.yaml" > "$host"
sed 's/^name:.*/name: the same/' "$1/examples/clusters/v100-1x4.yaml" > "$device"
kept() { "$automap" plan "$gpt" "$1" --optimum --recompute auto --memory-limit '700 MB' --json | sed -n "s/^\t\"$2\":\t\([0-9.e+]*\),*/\1/p"; }
awk -v with="$(kept "$host" step_ms)" -v without="$(kept "$device" step_ms)" \
    -v bytes="$(kept "$host" host_bytes)" -v bound="$(kept "$host" bound_ms)" \
    'BEGIN { exit !(with > 0 && with < without && bytes > 1e6 && bound > 0 && bound <= with * 1.0001) }' ||
    { echo "plan: a link to host memory: $(kept "$host" step_ms) ms, $(kept "$host" host_bytes) B, bound $(kept "$host" bound_ms)"; failed=1; }
expect 0 'on the host +[0-9.]+ MB +of a micro-batch, from the first [0-9]+ of 8 layers' plan "$gpt" "$host" --optimum --recompute auto --memory-limit '700 MB'
expect 0 "names_which_can_be_offloaded=\\['" plan "$gpt" "$host" --optimum --recompute auto --memory-limit '700 MB'
# What a loop carries goes there by a name of its own; a budget without a host is not said.
scan=$1/examples/models/decoder-scan.meta.hlo.txt.gz
expect 0 "checkpoint_name\\(x, 'layer_input'\\)  first in the body: its input" plan "$scan" "$host" --recompute auto --memory-limit '6 GB'
expect 0 "offloaded=\\[.*'layer_input'" plan "$scan" "$host" --recompute auto --memory-limit '6 GB'
"$automap" plan "$scan" "$host" --recompute auto --memory-limit '6 GB' | grep -q memory_budget &&
    { echo 'plan: a budget of torchtitan is said of values on the host'; failed=1; }
rm -f "$host" "$device"
expect 1 'stands alone' plan "$tiny" --recompute auto --stability
expect 0 '"is_best":.*true' plan "$vgg" "$vgg2" --mesh 2x8 --optimum --stability --json
expect 0 'not the best as things are' plan "$tiny" --set 'batch/source:0=1' --stability
expect 1 'of strict plans' plan "$tiny" --mode relaxed --stability

expect 1 'of --mode relaxed' plan "$tiny" --sweeps 5
expect 1 'of --mode relaxed' plan "$tiny" --store 'embedding:0=1'
expect 1 'no --optimum' plan "$tiny" --random 1 --optimum
expect 1 'what --optimum means' plan "$tiny" --reward paper
expect 1 'two plans' explain "$tiny" --plan x --optimum embedding:0
expect 1 'of --format hlo' export "$tiny" --plan x --format jax --sharding v1
expect 1 'no option --svg' explore "$tiny" --svg
expect 1 'no option --no-mouse' screen "$tiny" --no-mouse
expect 1 '--seed three, expected a whole number' screen "$tiny" --seed three
expect 1 'is of a --tour' screen "$tiny" --step 2

expect 1 '--mesh: a mesh of 9 devices' plan "$tiny" --mesh 3x3
expect 1 '--mesh: mesh "nope" is not understood' search "$tiny" --mesh nope
expect 1 '--mesh: a mesh of 9 devices' screen "$tiny" --mesh 3x3
expect 1 'expected some of add' plan "$tiny" --no-reductions sum
expect 1 'no model given' plan --optimum
expect 2 'no parameter matches' plan "$tiny" --set 'nobody:0=1'
expect 2 'expected NAME:DIM' plan "$tiny" --set 'nonsense'
expect 2 'o such file|cannot' plan /nowhere.hlo.txt
expect 4 'meets another split class' plan "$tiny" --set 'encoder/layer_000/self/q/kernel:0=1' --set 'encoder/layer_000/self/q/kernel:1=1'
expect 4 'can never be split' plan "$tiny" --set 'batch/source:1=1'

a16=$1/examples/clusters/a-2x8-v100.yaml
expect 0 'step +113\.6 ms' plan "$vgg" "$a16" --mode relaxed
expect 0 'strict +281\.3 ms' plan "$vgg" "$a16" --mode relaxed
expect 0 'global: no plan is faster; the plan is 0\.00 %' plan "$vgg" "$a16" --mode relaxed
expect 0 'global: no plan within the memory limit is faster' plan "$vgg" "$1/examples/clusters/v100-1x4.yaml" --mode relaxed --memory-limit 4.72GB
# 277.3 ms need 3.0 GB as strict plans are counted, more as relaxed ones are.
expect 0 'strict +232.* within the memory limit, of those found' plan "$vgg" "$a16" --mesh 2x8 --mode relaxed --memory-limit "3 GB"
expect 0 'strict +[0-9.,]+ ms  the best plan that reshards nothing, proven' plan "$vgg" "$a16" --mode relaxed
expect 0 '"memory_limit_bytes":.*4720000000' plan "$vgg" "$1/examples/clusters/v100-1x4.yaml" --mode relaxed --memory-limit 4.72GB --json
expect 4 'does not fit: no relaxed plan with 1 micro-batch stays within 2.0 GB' plan "$vgg" "$1/examples/clusters/v100-1x4.yaml" --mode relaxed --memory-limit 2GB
expect 4 'needs at least 2 micro-batches, or a device of 3\.9 GB' plan "$vgg" "$1/examples/clusters/v100-1x4.yaml" --mode relaxed --memory-limit 3GB
expect 4 '"proven":.*true' plan "$1/examples/models/decoder-scan.hlo.txt.gz" "$1/examples/clusters/v100-1x4.yaml" --mode relaxed --memory-limit 3GB --json
expect 0 'micro-batches +2' plan "$vgg" "$1/examples/clusters/v100-1x4.yaml" --mode relaxed --memory-limit 3GB --micro-batches auto --zero auto
expect 4 '"mode":.*"relaxed"' plan "$vgg" "$1/examples/clusters/v100-1x4.yaml" --mode relaxed --memory-limit 3GB --json
expect 1 'no --folding on' plan "$tiny" --mode relaxed --memory-limit device --folding on
expect 0 'tied: no plan that treats' plan "$tiny" "$a16" --mesh 2x8 --mode relaxed
expect 0 '"bound_kind":.*"tied"' plan "$vgg" "$a16" --mode relaxed --folding on --json
expect 0 '"kind":.*"reduce-scatter"' plan "$vgg" "$a16" --mode relaxed --json
expect 0 'fc6/kernel +f32\[25088 4096\]$' plan "$vgg" "$a16" --mode relaxed --set 'fc6/kernel:0=0' --set 'fc6/kernel:1=0'
expect 0 'fc6/kernel +f32\[25088/x 4096\]' plan "$vgg" "$a16" --mode relaxed --store 'fc6/kernel:0=1'
expect 1 'strict or relaxed' plan "$vgg" --mode loose
expect 1 'auto, on or off' plan "$vgg" --mode relaxed --folding maybe
expect 2 'expected =1 or axes' plan "$vgg" --mode relaxed --store 'fc6/kernel:0=0'
expect 2 'ZeRO level 0' plan "$vgg" --mode relaxed --zero 1
expect 4 'no plan keeps' plan "$vgg" --mode relaxed --set 'fc6/kernel:0=1' --set 'fc6/kernel:0=0'

folder=$(mktemp -d) relaxed=$folder/relaxed.json
expect 0 'all-to-all +2' plan "$vgg" "$a16" --mode relaxed -o "$relaxed"
expect 0 'sharding=\{devices=\[1,1,1,16\]<=\[16\]\}' export "$vgg" "$a16" --plan "$relaxed"
expect 0 '"strict_ms"' export "$vgg" "$a16" --plan "$relaxed" --format json
expect 0 '^PROGRAM = ' export "$vgg" "$a16" --plan "$relaxed" --format jax
expect 0 'sdy.sharding_constraint' export "$vgg" "$a16" --plan "$relaxed" --format stablehlo
expect 2 'a relaxed plan has no form command: .*json does' export "$vgg" "$a16" --plan "$relaxed" --format command
expect 0 'takes \*\*113\.6 ms\*\*.*global bound.*reshards nothing \(proven\) takes 281\.3 ms' export "$vgg" "$a16" --plan "$relaxed" --format report
expect 0 '^\| fc6/kernel \| `f32\[25088/x 4096\]` \| `f32\[25088/x 4096\]` \| split as used' export "$vgg" "$a16" --plan "$relaxed" --format report
expect 0 '\| reduce-scatter \| 35 \| 85 MB \| 15\.5 \|' export "$vgg" "$a16" --plan "$relaxed" --format report
expect 0 'color=red, label="all-gather 9 MB"' export "$vgg" "$a16" --plan "$relaxed" --format dot
sed 's/"size":[^,}]*/"size": 3/' "$relaxed" >"$folder/other.json"
expect 2 '^a mesh of 3 devices' export "$vgg" "$a16" --plan "$folder/other.json"
expect 0 '^72 reshards' explain "$vgg" "$a16" --plan "$relaxed"
expect 0 'without it: the best plan found takes 118\.5 ms a step, 4\.85 ms more' explain "$vgg" "$a16" --plan "$relaxed" --reshard 53
expect 0 '"possible":.*true' explain "$vgg" "$a16" --plan "$relaxed" --reshard 53 --json
expect 2 'no reshard 99: the plan has 72' explain "$vgg" "$a16" --plan "$relaxed" --reshard 99
"$automap" plan "$tiny" --devices 8 --mesh 2x4 --optimum -o "$folder/mesh.json" > "$folder/out" || failed=1
expect 0 'embedding dim 0 is whole' explain "$tiny" --plan "$folder/mesh.json" embedding:0
expect 1 'from 1 on' explain "$vgg" "$a16" --plan "$relaxed" --reshard 0
expect 2 'reshards are explained' explain "$vgg" "$a16" --plan "$relaxed" fc6/kernel:0
expect 2 'a relaxed plan; --mode relaxed' plan "$vgg" "$a16" --plan "$relaxed"
rm -r "$folder"

expect 0 'is split over 4' explain "$t5" --optimum batch/source:0
expect 0 'ZeRO level 3: stored as it is used' explain "$tiny" --optimum --zero 3 embedding:0
expect 0 'ZeRO level 1: optimizer state in pieces over y' explain "$vgg" "$vgg2" --mesh 2x8 --optimum --zero 1 conv2_1/kernel:3
expect 0 '"gap":.*0' plan "$tiny" --optimum --json
expect 0 'can never be split: its class stands twice' explain "$t5" batch/source:1
expect 2 'no dim 7' explain "$t5" batch/source:7
# A loop that runs for years has no price: it is said where it stands.
years=$(mktemp)
cat > "$years" << 'H'
HloModule years
c {
  a = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(a), index=0
  n = s32[] constant(2000000000)
  ROOT l = pred[] compare(i, n), direction=LT
}
b {
  a = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(a), index=0
  o = s32[] constant(1)
  j = s32[] add(i, o)
  x = f32[64] get-tuple-element(a), index=1
  y = f32[64] add(x, x)
  ROOT r = (s32[], f32[64]) tuple(j, y)
}
ENTRY main {
  p = f32[64] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[64]) tuple(z, p)
  ROOT w = (s32[], f32[64]) while(t), condition=c, body=b
}
H
expect 2 ':9:3: "a" runs 2e.09 times in a step, by the trip counts of the loops around it, expected at most' plan "$years"
expect 0 'f32.64' inspect "$years"
rm "$years"
# The margin is said by kind of plan, where it matters.
said() { # words, arguments of plan
    local words=$1
    shift
    "$automap" plan "$@" 2>/dev/null | grep -q "margin .*20 % of a device kept free is enough for $words" || bad "$*: no margin for $words"
}
said '109 of 116 strict plans' $models/t5-tiny.hlo.txt.gz --devices 4 --optimum --memory-limit device
said '47 of 53 relaxed plans' $models/t5-tiny.hlo.txt.gz --devices 4 --mode relaxed --memory-limit device
"$automap" plan $models/t5-tiny.hlo.txt.gz --devices 4 --optimum | grep -q 'margin' && bad "a margin where there is room"
exit $failed
