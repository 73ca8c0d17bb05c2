#!/usr/bin/env bash
# --pins-from-file: a program exported with a plan that is not the best one, read again. Its shardings
# are kept if they are asked for, and the plan found under them exports the same program to the byte.
set -u
model=$1/examples/models/mlp.hlo.txt.gz automap=$2
folder=$(mktemp -d) failed=0
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
miss() { echo "$1"; failed=1; }
step() { grep -m1 step_time_ms "$1"; }

"$automap" plan "$model" --devices 4 --set layer_1/kernel:1=1 -o author.json > /dev/null || exit 1
"$automap" export "$model" --devices 4 --plan author.json -o author.hlo > /dev/null || exit 1
"$automap" inspect author.hlo | grep -q 'shardings .* of the file: .*layer_1/kernel\|shardings .* --pins-from-file keeps them' ||
    miss "inspect does not say what the file asks for"
"$automap" plan author.hlo --devices 4 --optimum -o free.json > /dev/null 2>&1 || miss "no plan without pins"
said=$("$automap" plan author.hlo --devices 4 --pins-from-file --optimum -o kept.json 2>&1 > /dev/null)
[[ $said =~ "automap plan: "([0-9]+)" of "([0-9]+)" shardings of the file are kept" ]] && [ "${BASH_REMATCH[1]}" -gt 0 ] &&
    [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] || miss "not all shardings are kept: $said"
[ "$(step kept.json)" = "$(step author.json)" ] || miss "the author's plan takes another time: $(step kept.json)"
[ "$(step free.json)" != "$(step kept.json)" ] || miss "pins change nothing"
"$automap" export author.hlo --devices 4 --plan kept.json -o again.hlo > /dev/null || miss "no export"
cmp author.hlo again.hlo || miss "the plan kept is not the author's"

# A mesh that they were not written for says so; under other pins they are kept as far as they go.
said=$("$automap" plan author.hlo --devices 2 --pins-from-file --optimum 2>&1 > /dev/null)
[[ $said == *": 0 of "*"not all can hold on this mesh"* ]] || miss "another mesh: $said"
exit $failed
