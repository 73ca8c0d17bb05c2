#!/bin/bash
# The terminal is told when a proof closes, where the settings ask for it, and only there.
. "$(dirname "$0")/lib.sh"
# Until the race has ended, which nothing but the bytes says; where nothing is said, a second.
wait_for_race() {
    [ "$how" = off ] && sleep 1 && return
    for _ in $(seq $patience); do
        grep -qa "the race is over" "$home/raw.$how" && return
        sleep 0.05
    done
}
start 120x40
for how in off osc9 osc777; do
    mkdir -p "$home/config/automap"
    echo "notify: $how" > "$home/config/automap/config.yaml"
    run "clear"; gone "code 0"
    t pipe-pane -o "cat > $home/raw.$how"
    run "$automap $source_dir/examples/models/mlp.hlo.txt.gz --seed 1 --run; echo code \$?"
    see "0.0 % over optimum"
    type V r; see "exact, proven"; wait_for_race; type Escape; type Q; see "code 0"
    t pipe-pane
done
esc=$(printf '\033')
grep -qa "$esc]9;\|$esc]777;" "$home/raw.off" && { echo "told, though off"; exit 1; }
for said in "proven optimal" "the race is over"; do
    grep -qa "$esc]9;mlp.*$said" "$home/raw.osc9" || { echo "osc9: not told: $said"; exit 1; }
    grep -qa "$esc]777;notify;automap;mlp.*$said" "$home/raw.osc777" || { echo "osc777: not told: $said"; exit 1; }
done
echo "notify: loud" > "$home/config/automap/config.yaml"
run "clear"; gone "code 0"
run "$automap; echo code \$?"; see "notify is off, osc9 or osc777"; see "code 2"
