#!/bin/bash
# The explorer keeps a journal: what was killed goes on from the start screen with one key, and
# what was done with a screen is, done again without one, the same bit for bit.
. "$(dirname "$0")/lib.sh"
model=$source_dir/examples/models/t5-tiny.hlo.txt.gz
sessions=$home/state/automap/sessions
timeless() { sed '/seconds/d'; }
newest() { ls -t "$sessions" | grep -v '\.checkpoint$' | head -1; }
start 100x30

# The same commands with a screen that is resized and looked around in, and without one.
run "$automap --seed 3 --commands 'episode 120; pin @1=0; episode 60; undo; backtrack @2; episode 30' $model; echo code \$?"
see "paused"
for size in 60x15 120x40 100x30; do t resize-window -x "${size%x*}" -y "${size#*x}"; type j k z z; done
type q; see "code 0"
"$automap" replay last --json | timeless >"$home/screen.json"
printf 'at episode %s\n' '0: episode 120' '120: pin @1=0' '120: episode 60' '180: undo' '180: backtrack @2' '180: episode 30' >"$home/script"
"$automap" search "$model" --seed 3 --state one-hot --script "$home/script" --no-journal --quiet --json | timeless >"$home/headless.json"
diff "$home/screen.json" "$home/headless.json" || { echo "with a screen and without one differ"; exit 1; }

# Killed in the middle of a run: the journal replays, the start screen offers it, one key goes on.
run "clear; $automap --run $model; echo code \$?"; see "▶"
type u; see "nothing to undo"
type ' '; see "‖ paused"; type , , ; type ' '; see "▶"; sleep 1.5
kill -KILL "$(pid_of --run)"; see "code 137"
start_over
killed=$(newest)
"$automap" replay last --json >"$home/killed.json" || { echo "the journal of a killed session does not replay"; exit 1; }
run "$automap; echo code \$?"; see "paused"; type 1; see "▶"; see "t5-tiny"
[ "$(newest)" = "$killed" ] || { echo "another journal was begun"; exit 1; }
type ' '; see "‖ paused"; type q; see "code 0"; sane "a resumed session"
"$automap" replay last --json >"$home/resumed.json" || { echo "a resumed session does not replay"; exit 1; }

# By name of the journal; and anew from its row. One that runs is not resumed twice.
run "clear; $automap --resume $killed; echo code \$?"; see "resumed at episode"; type q; see "code 0"
run "clear; $automap; echo code \$?"; see "paused"; for _ in $(seq 30); do type Down; done
see "Enter goes on with"; type A; see "▶"
[ "$(newest)" != "$killed" ] || { echo "no journal was begun"; exit 1; }
"$automap" search --resume "$(newest)" --quiet 2>"$home/err" && { echo "resumed twice"; exit 1; }
grep -q "still runs" "$home/err" || { cat "$home/err"; exit 1; }
type q; see "its session is kept"; type q; see "code 0"

# None is kept when none is wanted, and a disk that is full is said while the search goes on.
before=$(ls "$sessions")
run "clear; $automap --no-journal --commands 'episode 20' $model"; see "paused"; type q; see 'sh>'
[ "$(ls "$sessions")" = "$before" ] || { echo "a journal that was not wanted"; exit 1; }
run "clear; (ulimit -f 1; $automap --commands 'episode 20' --run $model); echo code \$?"
type 7 z; see "the journal ends here"; see "▶"; type q; see "no session keeps it"; type q; see "code 0"
