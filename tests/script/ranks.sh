#!/bin/sh
# Ranks of mpirun: the same networks as one process makes, bit for bit; a rank that is killed ends the training, which the
# same command then goes on with. Built without MPI, automap says so where mpirun starts it more than once.
set -eu
source=$1 automap=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! ldd "$automap" | grep -q libmpi; then
    code=0
    OMPI_COMM_WORLD_SIZE=2 "$automap" pretrain pp -o "$dir/no.net" --environments 1 2> "$dir/err" || code=$?
    { [ $code = 1 ] && grep -q 'built without MPI' "$dir/err" && [ ! -e "$dir/no.net" ]; } || { echo "no MPI, two ranks: exit $code"; cat "$dir/err"; exit 1; }
    code=0
    OMPI_COMM_WORLD_SIZE=2 "$automap" search t5-tiny --devices 4 --kind pp --quiet > /dev/null 2> "$dir/err" || code=$?
    { [ $code = 1 ] && grep -q 'built without MPI' "$dir/err"; } || { echo "no MPI, a pipeline over two ranks: exit $code"; cat "$dir/err"; exit 1; }
    echo "skipped: automap was built without MPI"
    exit 77
fi
command -v mpirun > /dev/null || { echo "skipped: no mpirun"; exit 77; }
# root, as in a container; no other way for messages than shared memory copied twice
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
ranks() { n=$1; shift; timeout 300 mpirun --oversubscribe -n "$n" "$automap" "$@"; }

"$automap" pretrain pp -o "$dir/a.net" --environments 300 --measure 0 2> "$dir/err"
for n in 1 2 3; do
    ranks $n pretrain pp -o "$dir/$n.net" --environments 300 --measure 0 2> "$dir/err"
    cmp "$dir/a.net" "$dir/$n.net"
    [ ! -e "$dir/$n.net.part" ]
done
[ "$(grep -c 'of 300 problems' "$dir/err")" = 3 ] || { echo "not one rank alone tells of three rounds"; cat "$dir/err"; exit 1; }
"$automap" pretrain opp t5-tiny mlp -o "$dir/o.net" --rounds 21 2> "$dir/err"
ranks 2 pretrain opp t5-tiny mlp -o "$dir/o2.net" --rounds 21 2> "$dir/err"
cmp "$dir/o.net" "$dir/o2.net"

# killed after its first round: what is whole is kept
ranks 2 pretrain pp -o "$dir/k.net" --environments 300 --measure 0 2> "$dir/err" & child=$!
for n in $(seq 100); do
    grep -q "128 of 300" "$dir/err" && break
    sleep 0.2
done
rank=$(ps -eo pid=,args= | awk -v automap="$automap" -v net="$dir/k.net" '$2 == automap && index($0, net) { pid = $1 } END { print pid }')
[ -n "$rank" ] || { echo "no rank to kill"; cat "$dir/err"; exit 1; }
kill -KILL "$rank"
code=0
wait $child || code=$?
[ $code != 0 ] && [ ! -e "$dir/k.net" ] || { echo "a rank was killed: exit $code"; cat "$dir/err"; exit 1; }
[ -s "$dir/k.net.part" ] || { echo "a rank was killed, and no state was left"; cat "$dir/err"; exit 1; }
ranks 2 pretrain pp -o "$dir/k.net" --environments 300 --measure 0 2> "$dir/err"
grep -q resumed "$dir/err" || { echo "did not go on from its state"; cat "$dir/err"; exit 1; }
cmp "$dir/a.net" "$dir/k.net"
code=0
ranks 2 pretrain pp -o "$dir/p.net" --environments 1 --processes 2 2> "$dir/err" || code=$?
[ $code = 1 ] && grep -q 'processes' "$dir/err" || { echo "ranks and processes: exit $code"; cat "$dir/err"; exit 1; }

# seeds: the same table, plan and curves as one process, but for the seconds; killed, what was done is printed
seeds="search t5-tiny --devices 4 --kind opp --quiet --seeds 5 --episodes"
"$automap" $seeds 200 --plan "$dir/one.plan" --curves "$dir/one.csv" | grep -v seconds > "$dir/one"
ranks 2 $seeds 200 --plan "$dir/two.plan" --curves "$dir/two.csv" | grep -v seconds > "$dir/two"
cmp "$dir/one" "$dir/two" && cmp "$dir/one.plan" "$dir/two.plan" && cmp "$dir/one.csv" "$dir/two.csv"
grep -q '^5 seeds from 1: 5 at the proven optimum' "$dir/two" || { echo "not five seeds:"; cat "$dir/two"; exit 1; }
if command -v python3 > /dev/null; then
    "$automap" $seeds 200 --json > "$dir/one.json"
    ranks 3 $seeds 200 --json > "$dir/three.json"
    python3 - "$dir" << 'P'
import json, sys
def timeless(x):
    if isinstance(x, dict):
        return {k: timeless(v) for k, v in x.items() if "seconds" not in k}
    return [timeless(v) for v in x] if isinstance(x, list) else x
one, three = (timeless(json.load(open(f"{sys.argv[1]}/{n}.json"))) for n in ("one", "three"))
assert one == three and [r["seed"] for r in three["runs"]] == [1, 2, 3, 4, 5]
P
fi
ranks 2 $seeds 100000000 --curves "$dir/k.csv" > "$dir/out" 2> "$dir/err" & child=$!
rank=
for n in $(seq 100); do
    rank=$(ps -eo pid=,args= | awk -v automap="$automap" -v file="$dir/k.csv" '$2 == automap && index($0, file) { pid = $1 } END { print pid }')
    [ -n "$rank" ] && break
    sleep 0.2
done
sleep 1
kill -KILL "$rank"
code=0
wait $child || code=$?
[ $code != 0 ] && [ $code != 124 ] && grep -q '^5 seeds from 1' "$dir/out" || { echo "seeds, a rank was killed: exit $code"; cat "$dir/err"; exit 1; }
# what does not spread is refused, not done twice
for kind in "--episodes 10" "--kind pp" "--kind pp --algo dqn --seeds 2" "--kind hybrid" "--algo race"; do
    code=0
    ranks 2 search t5-tiny --devices 4 --quiet $kind > "$dir/out" 2> "$dir/err" || code=$?
    [ $code = 1 ] && grep -q -- '--seeds' "$dir/err" || { echo "search $kind over two ranks: exit $code"; cat "$dir/err"; exit 1; }
done
