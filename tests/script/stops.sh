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
stops TERM search "$model" "$cluster" --kind hybrid --algo race --episodes 100000000
stops HUP search "$model" "$cluster" --kind hybrid --algo dqn --episodes 100000000
stops TERM search "$model" "$cluster" --episodes 100000000
stops HUP search "$model" "$cluster" --episodes 100000000 --seeds 3
# solvers, between two plans
model=$source/examples/models/t5-11b.hlo.txt.gz
stops TERM search "$model" "$cluster" --algo race --memory-limit device --mesh 2x8
stops HUP plan "$model" "$cluster" --mode relaxed --memory-limit device --micro-batches auto

# What a signal cut short is done again, and whole, by the search that goes on.
dir=$(mktemp -d)
trap 'rm -rf "$out" "$dir"' EXIT
model=$source/examples/models/t5-base6.hlo.txt.gz
step_of() {
    sed -n 's/^  step  *\([0-9.,]* [a-z]*\).*/\1/p' "$1"
}
"$automap" search "$model" "$cluster" --algo trws --memory-limit 1.5GB --mesh 2x8 \
    --journal "$dir/whole" > "$dir/whole.txt" 2> /dev/null
"$automap" search "$model" "$cluster" --algo trws --memory-limit 1.5GB --mesh 2x8 \
    --journal "$dir/cut" > "$dir/cut.txt" 2> /dev/null &
process=$!
sleep 0.4
kill -TERM $process
wait $process
"$automap" search --resume "$dir/cut" > "$dir/resumed.txt" 2> /dev/null
if [ -z "$(step_of "$dir/whole.txt")" ] ||
    [ "$(step_of "$dir/whole.txt")" != "$(step_of "$dir/resumed.txt")" ]; then
    echo "a resumed search ends at $(step_of "$dir/resumed.txt"), a whole one at" \
        "$(step_of "$dir/whole.txt")"
    failed=1
fi
exit $failed
