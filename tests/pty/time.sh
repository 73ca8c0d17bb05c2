#!/bin/bash
# The time machine in a real terminal: live and on a session that was left; scrubbed, played, marked,
# branched, recorded.
. "$(dirname "$0")/lib.sh"
start 120x40
run "cd $home; clear"
run "$automap $source_dir/examples/models/t5-base6.hlo.txt.gz $source_dir/examples/clusters/v100-1x4.yaml --seed 1; echo code \$?"
see "ready"
type : ; type -l "episode 40"; type Enter; see "episode 40"
type : ; type -l "pin @2=0"; type Enter; see "you pin"
type : ; type -l "episode 20"; type Enter; see "episode 60"
type V t; see "at episode 60 of 60"; matches "1 you pin [a-z]"
type : ; type -l "record $home/time.cast"; type Enter; see "recording to"
type g; see "at episode 0 of 60"; see "Episode 0, decision 0"; type m; see "B is episode 0"
type '['; type ']'; type ']'; see "best"
for _ in 1 2 3; do type L; done; see "B - A"; matches "A is [0-9.]+ ms faster than B|B is [0-9.]+ ms slower than A"
type 2; type 7; see "episode 27: Enter goes there"; type Enter; see "at episode 27 of 60"; see "best then"
type 7; type 7; type Enter; see "episode 77 is not in the journal: the last is 60"; see "at episode 27 of 60"
type 3; type Escape; see "at episode 27 of 60"; gone "Enter goes there"
type w; matches "of +[a-z]+, episode [0-9]+"; see "w again:"; see "at episode 27 of 60"; see "best then"
type Escape; see "What happened"; see "at episode 27 of 60" # of the plan of then
type m; type g; type L; type h; see "at episode 9 of 60"; see "A episode 9, B episode 27"
type c; see "Compare"; matches "A [a-z]+, episode [0-9]"; type Escape; see "marks two"; type Escape; see "at episode 9 of 60"
# A low screen has what happened and the decisions as well.
t resize-window -x 80 -y 24; see "What happened"; see "Decisions of the best plan"; see "? help"; see "c compare"
matches "^ +0 .* 10 .* 60 episodes"; type v; see "no other session left this one"
t resize-window -x 120 -y 40; see "square root scale"
type '}'; type '}'; type Space; see "at episode 60 of 60"
# It stops where it is told to: at a best plan, at an act; and goes decision by decision.
type x; see "stops at best plans"; type g; see "at episode 0 of 60"; type Space; see "stopped at: best"; gone "at episode 60 of 60"
type x; see "stops at your acts"; type Space; see "stopped at:"; see "you pin"; see "at episode 40 of 60"
type Space; see "at episode 60 of 60"
for _ in 1 2 3 4 5 6 7; do type "{"; done; see "1 decision/s"; type g; see "at episode 0 of 60"
type Space; see "at episode 1 of 60"; type Space; type x; type x; gone "stops at"
for _ in 1 2 3 4 5 6 7; do type "}"; done; see "100 episodes/s"; type 9; type Enter; see "at episode 9 of 60"
type Space; see "at episode 60 of 60"
type : ; type -l "record"; type Enter; see "wrote $home/time.cast"
head -1 "$home/time.cast" | grep -q '"version": 2, "width": 120, "height": 40' || { echo "no header"; exit 1; }
[ "$(wc -l < "$home/time.cast")" -gt 5 ] || { echo "no frames"; exit 1; }
type g; for _ in 1 2; do type L; done; see "at episode 20 of 60"
second=$(date +%s); while [ "$(date +%s)" = "$second" ]; do sleep 0.05; done
type b; see "a branch from episode 20"; see "episode 20"; see "paused"
type : ; type -l "episode 5"; type Enter; see "episode 25"
type V t; see "at episode 25 of 25"; type Escape; see "1 Graph"
type : ; type -l "pin @1=0"; type Enter; see "you pin"
type V t; see "at episode 25 of 25"; matches "a .*└.*▲"
type o; see "the other session"; see "episode 60" # and from there the branch is the other
type V t; see "at episode 60 of 60"; matches "a .*└.*▲"; type Escape; see "1 Graph"
type Q; see "code 0"
[ "$(ls "$home"/state/automap/sessions | grep -vc checkpoint)" = 2 ] || { ls "$home"/state/automap/sessions; exit 1; }

# A branch is named by the second in which it was made, so the first session comes first.
names=$(ls "$home"/state/automap/sessions | grep -v checkpoint)
[ "$(sed 's/-[0-9]$//' <<<"$names" | uniq | wc -l)" = 2 ] || { echo "one time for both: $names"; exit 1; }

# What was left: the first session, opened again, is as long as it was.
run "clear"; gone "code 0"
first=$(ls "$home"/state/automap/sessions/* | grep -v checkpoint | head -1)
run "$automap --resume $first; echo code \$?"; see "episode 60"
type V t; see "at episode 60 of 60"; type Escape; see "1 Graph"; type Q; see "code 0"

# As a cast, without a terminal.
run "clear"; gone "code 0"
run "$automap cast $first -o $home/all.cast --frames 20; echo code \$?"; see "code 0"
run "$automap cast $first -o /dev/full --force --frames 20; echo code \$?"; see "cannot be written"
[ "$(grep -c '"o"' "$home/all.cast")" -ge 15 ] || { echo "too few frames"; exit 1; }
