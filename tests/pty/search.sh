#!/bin/bash
# A search on screen: start, pause, step, pin, backtrack, undo, redo, refuse, resize 500 times while
# it runs, stop and continue, quit: it obeys, and the terminal is as it was.
. "$(dirname "$0")/lib.sh"
start 120x40
model=$source_dir/examples/models/t5-tiny.hlo.txt.gz

run "$automap $model --seed 7; echo code \$?"
see "ready"; see "Space starts the search"
see "Decision 1 of"; see "margin"; see "none yet"
type ','; see "last wave  width"
type ' '; see "ms baseline"; see "ep/s"; see "0.688 proven"
type ' '; see "paused"
type '{'; see "decisions/s"

# Pin: the dialog shows a price, the act is in the log, the cell bears its mark.
type 2; type p; see "Pin ━"; see "with the pin"
type 1; type Enter; see "you pin width"; see "1 P"
type u; see "you undo"; gone "1 P"
type C-r; see "you redo"; see "1 P"
type P; see "1 pin: width"
type u; gone "1 P"
type b; see "Backtrack ━"; see "if it ends 1"; type Enter; see "you backtrack width"
type u; type u; type u; type u; type u; see "nothing to undo"
type : ; type -l "episode"; type Enter; see "paused"

# The command line: candidates above it, decisions by their names.
type : ; type -l "pin enc"; see "pin encoder self = 0"
type -l "oder self = 0"; type Enter; see "you pin enc self = 0"
type u; see "you undo pin"

# The view stands still, the search does not.
type '}'; type '}'; type '}'; type '}'; type '}'; type '}'; type '}'; see "full speed"
type ' '; see "ep/s"; type Z; see "the view stands still"; type Z; see "live"

# 500 sizes, drawn by the shell's own dice.
RANDOM=7
for _ in $(seq 500); do
    t resize-window -x $((RANDOM % 249 + 1)) -y $((RANDOM % 79 + 1))
done
t resize-window -x 120 -y 40
see "1 Graph"; see "ms baseline"
type C-z; see "Stopped"; sane "C-z"
run fg; see "ms baseline"
type Q; sane "quit while it searches"

# From the first screen: one key.
run "$automap"; see "Enter opens t5-base6"
type Enter; see "ms best"; see "ep/s"
type q; see "The search runs"; type q; sane "q"

# At once, and killed in the middle.
run "$automap $model --run; echo code \$?"; see "ep/s"
kill -TERM "$(pid_of)"
see "code 143"; sane "SIGTERM"
