#!/bin/sh
# What would run for seconds or minutes ends at a signal, with what it has found and exit code 3.
set -u
source=$1 automap=$2
model=$source/examples/models/t5-3b.hlo.txt.gz
cluster=$source/examples/clusters/a-2x8-v100.yaml
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0

# stops SIGNAL OPTION...: a process that does not listen is killed after 20 s, with another code.
stops() {
    signal=$1
    shift
    "$automap" "$@" > "$out" 2>&1 &
    process=$!
    sleep "$after"
    kill -"$signal" "$process"
    (sleep 20; kill -KILL "$process" 2> /dev/null) > /dev/null 2>&1 &
    watchdog=$!
    wait "$process"
    code=$?
    pkill -P "$watchdog" 2> /dev/null
    kill "$watchdog" 2> /dev/null
    if [ $code -ne 3 ] || ! [ -s "$out" ]; then
        echo "automap $* at SIG$signal: exit code $code, expected 3 and a result"
        failed=1
    fi
}

after=1
stops TERM search "$model" "$cluster" --kind pp --algo exact --points all --stages 16
stops TERM search "$model" "$cluster" --kind pp --algo race --points all --episodes 100000000
stops HUP search "$model" "$cluster" --kind pp --algo dqn --episodes 100000000
stops TERM search "$model" "$cluster" --algo race --episodes 100000000
stops TERM search "$model" "$cluster" --episodes 100000000
stops HUP search "$model" "$cluster" --episodes 100000000 --seeds 3
# solvers, between two plans
model=$source/examples/models/t5-11b.hlo.txt.gz
stops TERM search "$model" "$cluster" --algo race --memory-limit device --mesh 2x8
stops HUP plan "$model" "$cluster" --mode relaxed --memory-limit device --micro-batches auto
exit $failed
