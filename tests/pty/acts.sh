#!/bin/bash
# What a person takes away and changes: plans exported, seen before they are written, read again by the
# program itself; copies; a question before pins are lost.
. "$(dirname "$0")/lib.sh"
start 120x40
model=$source_dir/examples/models/t5-tiny.hlo.txt.gz
run "cd $home; clear" # what is written stays there

run "$automap $model --seed 7; echo code \$?"
see "ready"; type e; see "Export ━"; see "read again and equal"; type Escape; gone "Export ━"
type : ; type -l "episode 60"; type Enter; see "paused"; see "ms baseline"

# Every form is written, read again, and kept under its name.
type e; see "Preview"; see "json"
files=(plan.json sharded.hlo.txt sharded-v1.hlo.txt plan.py plan.md plan.html plan.dot plan.sh)
for file in "${files[@]}"; do
    see "t5-tiny.$file"; see "read again and equal" # of this form, not of the one before
    type Enter; see "wrote t5-tiny.$file"; see "read again and equal"
    type e
    n=$((n + 1)); for _ in $(seq $n); do type j; done
done
type Escape
for file in "${files[@]}"; do
    [ -s "$home/t5-tiny.$file" ] || { echo "no $file"; ls "$home"; exit 1; }
done
ms() { "$automap" plan "$model" "$@" --json | grep -m1 step_time_ms; }
again=$(sed "s/^automap /'${automap//\//\\/}' /; s/\$/ --json/" "$home/t5-tiny.plan.sh")
first=$(eval "$again" | grep -m1 step_time_ms)
[ -n "$first" ] && [ "$first" = "$(ms --plan "$home/t5-tiny.plan.json")" ] ||
    { echo "the command makes another plan"; echo "$again"; exit 1; }

# A file that is there is asked for, names are completed, a name that cannot be is said.
type e; see "Preview"; type Enter; see "is there already.  Enter overwrites it"
type Escape; gone "Export ━"; type e; type Enter; see "is there already"; type Enter; see "wrote t5-tiny.plan.json"
type e; type f; type C-u; type -l "t5-tiny.plan.m"; type Tab; see "t5-tiny.plan.md"
type C-u; type -l "nowhere/x"; type Enter; see "cannot be written"; type Escape; gone "Export ━"

# Copies go to the terminal.
type 2; type y; type y; see "copied"; type y; type p; see "copied automap plan"

# Rows filtered as it is typed, all again; a row by its letter.
type 1; type '\'; type -l "q.kernel"; see "\\ q.kernel"; see "q/kernel"; gone "more  Enter shows"; type Enter
type '\'; type C-u; type Enter; see "more  Enter shows"
type 2; type '\;'; type d; see "encoder self: 9 dims"

# Options, the cluster, the mesh, a role: each is an act, priced anew, undone.
type o; see "Options ━"; type / ; type -l "^reward"; type Enter; type Enter; see "paper reward"
type Escape; see "you set reward paper"; type u; see "you undo set"; see "cost reward"
type : ; type -l "cluster servers.*.link.bandwidth=4 GB/s"; type Enter; see "v100-1x4+"; see "you cluster"
type u; gone "v100-1x4+"; type C-r; see "v100-1x4+"
type o; see "Options ━"; type / ; type -l "^mesh"; type Enter; type Enter; type C-u; type -l "2x2"; type Enter
see "mesh 2x2"; see "Options ━"; type Escape; see "you mesh 2x2"; type u; see "you undo mesh"
type : ; type -l "mesh 3x3"; type Enter; see "a mesh of 9 devices"
type : ; type -l "set hidden 32-32"; type Enter; see "you set hidden"
type 1; type /; type -l "^embedding"; type Enter; type r; see "Role ━"; see "by name"; type j; type j; type Enter
see "you role emb"; type u; see "you undo ro"
type : ; type -l "episode 5"; type Enter; see "paused"

# With a journal nothing is lost; without one, pins that are in no file are asked for.
type 2; type p; see "Pin ━"; type Enter; see "1 P"
type q; see "1 pin is kept in the session."; type s; type Escape; gone "is kept"
type q; see "is kept"; type b; see "Go on with"; type Escape; see "1 P"; type Q; see "code 0"
run "$automap $model --seed 7 --no-journal; echo code \$?"; see "ready"
type 2; type p; see "Pin ━"; type Enter; see "1 P"
type q; see "1 pin is not saved."; type Escape; gone "not saved"
type Q; see "1 pin is not saved."; type s; see "Export ━"; type f; type C-u; type -l "pins.json"; type Enter
see "wrote pins.json"; type q; see "1 pin is saved."; type q; see "code 0"; sane "quit with saved pins"
