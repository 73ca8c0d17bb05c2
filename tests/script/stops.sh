#!/bin/sh
# What would run for seconds or minutes ends at a signal, with what it has found and exit code 3.
set -u
source=$1 automap=$2
model=$source/examples/models/t5-3b.hlo.txt.gz
cluster=$source/examples/clusters/a-2x8-v100.yaml
out=$(mktemp)
trap 'rm -rf "$out" "$dir"' EXIT
dir=$(mktemp -d) failed=0

# at_work PROCESS SIGNAL PERCENT: waits until it catches the signal and has had so much of a second of
# processor, or has ended. How long that takes on the clock is the machine's affair.
at_work() {
    case $2 in HUP) bit=0 ;; TERM) bit=14 ;; esac
    while caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2> /dev/null) && [ "$caught" ]; do
        # past the name: the state is the first, user and system time the 12th and 13th
        set -- "$1" "$2" "$3" $(sed 's/.*) //' "/proc/$1/stat" 2> /dev/null)
        [ "${4:-Z}" = Z ] && return
        [ $((0x$caught >> bit & 1)) = 1 ] && [ $((100 * (${15} + ${16}))) -ge $(($3 * hertz)) ] && return
        set -- "$1" "$2" "$3"
        sleep 0.05
    done
}
hertz=$(getconf CLK_TCK)

# stops SIGNAL OPTION...: a process that does not listen ends after 40 s of processor, with another code.
stops() {
    signal=$1
    shift
    (ulimit -t 40 && exec "$automap" "$@") > "$out" 2>&1 &
    process=$!
    at_work "$process" "$signal" 60
    kill -"$signal" "$process" 2> /dev/null
    wait "$process"
    code=$?
    if [ $code -ne 3 ] || ! [ -s "$out" ]; then
        echo "automap $* at SIG$signal: exit code $code, expected 3 and a result"
        failed=1
    fi
}

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

# Where a pipe has no other end, the wait for it ends too.
mkfifo "$dir/pipe"
model=$source/examples/models/mlp.hlo.txt.gz
waits() {
    "$automap" "$@" "$dir/pipe" > /dev/null 2> "$out" &
    process=$!
    at_work $process TERM 0
    sleep 0.5 # it opens the pipe, and nothing else is to be seen of that
    kill -TERM $process
    (sleep 2 && kill -9 $process) 2> /dev/null &
    wait $process
    code=$?
    if [ $code -ne 3 ] || ! grep -q "pipe: stopped while waiting for it" "$out"; then
        echo "automap $* PIPE at SIGTERM: exit code $code, expected 3 and a word"
        failed=1
    fi
}
waits plan "$model" -o
waits plan "$model" --plan

# What a signal cut short is done again, and whole, by the search that goes on.
model=$source/examples/models/t5-base6.hlo.txt.gz
step_of() {
    sed -n 's/^  step  *\([0-9.,]* [a-z]*\).*/\1/p' "$1"
}
"$automap" search "$model" "$cluster" --algo trws --memory-limit 1.5GB --mesh 2x8 \
    --journal "$dir/whole" > "$dir/whole.txt" 2> /dev/null
"$automap" search "$model" "$cluster" --algo trws --memory-limit 1.5GB --mesh 2x8 \
    --journal "$dir/cut" > "$dir/cut.txt" 2> /dev/null &
process=$!
at_work $process TERM 40
kill -TERM $process 2> /dev/null
wait $process
"$automap" search --resume "$dir/cut" > "$dir/resumed.txt" 2> /dev/null
if [ -z "$(step_of "$dir/whole.txt")" ] ||
    [ "$(step_of "$dir/whole.txt")" != "$(step_of "$dir/resumed.txt")" ]; then
    echo "a resumed search ends at $(step_of "$dir/resumed.txt"), a whole one at" \
        "$(step_of "$dir/whole.txt")"
    failed=1
fi
exit $failed
