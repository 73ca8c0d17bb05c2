#!/bin/bash
# A large file: the screen says what is read while it is read, Esc goes back at once to what was
# there, and what is wrong with it is said as of any other, with the terminal as it was.
. "$(dirname "$0")/lib.sh"
model=$source_dir/examples/models/t5-11b.hlo.txt.gz
start 100x30
run "cd $home; clear"
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do zcat "$model"; done >"$home/many.hlo.txt" # several modules: the first is meant; long enough to type meanwhile
zcat "$model" | sed '2000s/=/ /' >"$home/broken.hlo.txt"
run "$automap $home/many.hlo.txt; echo code \$?"; see "opening many.hlo.txt, "; see "1 Graph ━"
type Q; see "code 0"; sane "a large file"
run "$automap $home/many.hlo.txt --commands 'episode 3'; echo code \$?"; see "opening many.hlo.txt"; type q; see "code 0"
sane "q while it is read"
run "$automap $home/many.hlo.txt --commands 'episode 3'; echo code \$?"; see "1 Graph ━"; see "ep 3"; type Q; see "code 0"
sane "commands after it is read"
run "$automap $home/many.hlo.txt --commands 'episode 900000; set double_q off'; echo code \$?"; see "1 Graph ━"; see "ep/s"
type Q; see "code 0"; sane "commands that take long, behind the screen"
run "$automap mlp --commands 'pace 2; run'; echo code \$?"; see "1 Graph ━"; see "▶ slow"; type Q; see "code 0"
sane "a search that goes on"
run "$automap $home/broken.hlo.txt; echo code \$?"; see "broken.hlo.txt:2000:"; see "code 2"
sane "a broken one"
# Over what is open: it stays when reading is left, or comes to nothing.
run "$automap mlp; echo code \$?"; see "1 Graph ━"
type :; run "open $home/many.hlo.txt"; see "goes back"; type Escape
see "reading was stopped"; see "1 Graph ━"; see " mlp "
type :; run "open $home/broken.hlo.txt"; see "broken.hlo.txt:2000:"; see " mlp "
type :; run "open $home/many.hlo.txt"; see "opening many.hlo.txt"; see " many "; see "1 Graph ━"
type Q; see "code 0"; sane "opened over another"
# A session of a large model.
run "$automap --resume last --commands 'episode 2'; echo code \$?"; see "opening many.hlo.txt"; see "1 Graph ━"; see "ep 2"
type Q; see "code 0"; sane "resumed"
