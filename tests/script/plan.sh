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
expect 0 'all-reduces +103 +3\.1 GB' plan "$t5" --devices 4 --set "$stream" --optimum --reward paper
expect 0 'all-reduces +168 +773 MB' plan "$t5" --devices 16 --optimum
expect 0 'paper reward +10\.4' plan "$vgg" --devices 8 --rules paper --optimum --reward paper
expect 0 'all-reduces +0 ' plan "$tiny" --no-reductions add,maximum --optimum
expect 0 'proven optimal' plan "$tiny" --devices 16 --mesh 4x4 --optimum

expect 1 'expected some of add' plan "$tiny" --no-reductions sum
expect 1 'no model given' plan --optimum
expect 2 'no parameter matches' plan "$tiny" --set 'nobody:0=1'
expect 2 'expected NAME:DIM' plan "$tiny" --set 'nonsense'
expect 2 'o such file|cannot' plan /nowhere.hlo.txt
expect 4 'meets another split class' plan "$tiny" --set 'encoder/layer_000/self/q/kernel:0=1' --set 'encoder/layer_000/self/q/kernel:1=1'
expect 4 'can never be split' plan "$tiny" --set 'batch/source:1=1'

expect 0 'is split over 4' explain "$t5" --optimum batch/source:0
expect 0 'can never be split: its class stands twice' explain "$t5" batch/source:1
expect 2 'no dim 7' explain "$t5" batch/source:7
exit $failed
