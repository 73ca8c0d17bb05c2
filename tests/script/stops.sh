#!/bin/sh
# A search that would run for minutes ends at a signal, with what it has found and exit code 3.
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
    "$automap" search "$model" "$cluster" "$@" > "$out" 2>&1 &
    process=$!
    sleep 1
    kill -"$signal" "$process"
    (sleep 20; kill -KILL "$process" 2> /dev/null) > /dev/null 2>&1 &
    watchdog=$!
    wait "$process"
    code=$?
    pkill -P "$watchdog" 2> /dev/null
    kill "$watchdog" 2> /dev/null
    if [ $code -ne 3 ] || ! [ -s "$out" ]; then
        echo "search $* at SIG$signal: exit code $code, expected 3 and a result"
        failed=1
    fi
}

stops TERM --kind pp --algo exact --points all --stages 16
stops TERM --kind pp --algo race --points all --episodes 100000000
stops HUP --kind pp --algo dqn --episodes 100000000
stops TERM --algo race --episodes 100000000
stops TERM --episodes 100000000
exit $failed
