#!/bin/bash
# What is called proven, certified or optimal says of what, wherever a screen shows it: no bare word
# in any of the screens of tests/golden, nor in rows of V f, the race, the ledger and the place view
# as they are drawn now.
source_dir=$1 automap=$2
failed=0
views=0
frames=$(mktemp -d)
trap 'rm -rf "$frames"' EXIT
export AUTOMAP_DATA_DIR=$source_dir LC_ALL=C.UTF-8

# A word is bare when no scope follows or stands before it on its line.
bare() {
    grep -nE '\b(proven|certified|optimal)\b' "$1" |
        grep -vE 'proven(, (strict|contiguous|any sets|pieces)| over | of | by exact| optimum| bound|:| to )' |
        grep -vE 'optimum of [a-z]+ +[0-9.,]+( ms)? proven|no split of .*proven|space.*proven|none of .*proven' |
        grep -vE '(contiguous|any sets|pieces) .*proven *$' | grep -vE 'proven best plan of its space'
}

show() { # model cluster keys commands
    views=$((views + 1))
    if ! "$automap" screen "$1" "$2" --size 120x40 --seed 1 --commands "$4" --keys "$3" >"$frames/$views" 2>&1; then
        echo "  screen $1 $2 --keys '$3': $(head -1 "$frames/$views")"
        failed=1
    elif ! grep -q '\bproven\b' "$frames/$views"; then
        echo "  screen $1 $2 --keys '$3' shows no proof"
        failed=1
    elif bare "$frames/$views"; then
        echo "  screen $1 $2 --keys '$3': of what?"
        failed=1
    fi
}

for golden in "$source_dir"/tests/golden/*.txt; do
    sed 1d "$golden" | grep -v '^op_name\| \(explain\|help\) ' >"$frames/golden"
    if bare "$frames/golden"; then
        echo "  in $(basename "$golden"): of what?"
        failed=1
    fi
done
show mlp v100-1x4 'V f w' ''
show mlp v100-1x4 'V w k' 'set memory-limit 1 GB; row 0; batch /2'
show mlp v100-1x4 'V x w' ''
show mlp v100-1x4 'V l w' ''
show mlp v100-1x4 'z w' ''
cat "$frames"/[0-9]* | grep -q ' over variables' || { echo "no view shows a proof"; failed=1; }
exit $failed
