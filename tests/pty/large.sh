#!/bin/bash
# A large file: the screen says what is read while it is read, Esc goes back at once to what was
# there, and what is wrong with it is said as of any other, with the terminal as it was.
# What must be met while it is read is a pipe, whose end comes when the test lets it: no machine is
# too fast or too slow for that.
. "$(dirname "$0")/lib.sh"
model=$source_dir/examples/models/t5-11b.hlo.txt.gz
held=$home/held.hlo.txt
mkfifo "$held" "$home/go"
trap 'kill $feeder 2>/dev/null; t kill-server 2>/dev/null; rm -rf "$home"' EXIT
# hold: the next reader of the pipe gets the model, and its end with let_go; others get nothing.
hold() { { zcat "$model"; read -r _; } <"$home/go" >"$held" & feeder=$!; exec 3>"$home/go"; }
let_go() { echo >&3; exec 3>&-; wait "$feeder"; }
start 100x30
run "cd $home; clear"
for _ in 1 2 3 4; do zcat "$model"; done >"$home/many.hlo.txt" # several modules: the first is meant
zcat "$model" | sed '2000s/=/ /' >"$home/broken.hlo.txt"
t pipe-pane "cat >>$home/drawn"
run "$automap $home/many.hlo.txt; echo code \$?"; see "1 Graph ━"
type Q; see "code 0"; sane "a large file"
t pipe-pane; grep -aq "opening " "$home/drawn" || { echo "nothing said what is read"; exit 1; }
hold; run "$automap $held --commands 'episode 3'; echo code \$?"; see "opening held.hlo.txt, a pipe"
type q; see "code 0"; let_go; sane "q while it is read"
hold; run "$automap $held --commands 'episode 3'; echo code \$?"; see "opening held.hlo.txt, a pipe"
let_go; see "1 Graph ━"; see "ep 3"; type Q; see "code 0"
sane "commands after it is read"
run "$automap $home/many.hlo.txt --commands 'episode 900000; set double_q off'; echo code \$?"; see "1 Graph ━"; see "ep/s"
type Q; see "code 0"; sane "commands that take long, behind the screen"
run "$automap mlp --commands 'pace 2; run'; echo code \$?"; see "1 Graph ━"; see "▶ slow"; type Q; see "code 0"
sane "a search that goes on"
run "$automap $home/broken.hlo.txt; echo code \$?"; see "broken.hlo.txt:2000:"; see "code 2"
sane "a broken one"
# Over what is open: it stays when reading is left, or comes to nothing.
run "$automap mlp; echo code \$?"; see "1 Graph ━"
hold; type :; run "open $held"; see "opening held.hlo.txt, a pipe"; see "goes back"; type Escape
see "reading was stopped"; see "1 Graph ━"; see " mlp "; let_go
type :; run "open $home/broken.hlo.txt"; see "broken.hlo.txt:2000:"; see " mlp "
hold; type :; run "open $held"; see "opening held.hlo.txt, a pipe"; let_go; see " held "; see "1 Graph ━"
type Q; see "code 0"; sane "opened over another"
# A session of a large model.
hold; run "$automap --resume last --commands 'episode 2'; echo code \$?"; see "opening held.hlo.txt, a pipe"
let_go; see "1 Graph ━"; see "ep 2"
type Q; see "code 0"; sane "resumed"
