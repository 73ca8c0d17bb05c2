#!/bin/bash
# Every tour, in the real program: what each step says is on the screen is there; a person takes over and
# comes back, goes back a step, leaves.
. "$(dirname "$0")/lib.sh"
export AUTOMAP_DATA_DIR=$source_dir OPENBLAS_CORETYPE=Haswell
start 120x40
tours=$("$automap" tour | cut -d' ' -f1)
[ -n "$tours" ] || { echo "no tours"; exit 1; }
for tour in $tours; do
    run "OPENBLAS_CORETYPE=Haswell $automap tour $tour; echo code \$?"
    last=$("$automap" tour "$tour" --text | grep -c ^say)
    while IFS=$'\t' read -r what number text; do
        if [ "$what" = say ]; then
            [ "$number" = 1 ] || { gone "the search is at work"; type Space; }
            see "━ $number of $last"; see "${text:0:40}"
            gone "the search is at work"
        else
            see "$number"
        fi
    done < <("$automap" tour "$tour" --text)
    gone "the search is at work"; type Space; see "the end of the tour"; type Q; see "code 0"; run clear; gone "code 0"
done
sane "tours"

# Taken over, and back; one step back; left. The list of tours on the start screen.
run "$automap; echo code \$?"; see "T tours"; type T; see "Tours ━"; see "What propagation does"
for tour in $tours; do [ "$tour" = attention ] && break; type j; done
type Enter; see "1 of"; type Space; see "━ 2 of"; gone "the search is at work"
type 2; see "T comes back"; type p; see "Pin ━"; type Enter; see "1 P"
type T; see "Space goes on"; see "━ 2 of"; see "[768 768/4]"; gone "the search is at work"
type Left; see "━ 1 of"; see "Space starts the search"
for size in 200x60 80x24 60x15 40x10 20x5 120x40; do t resize-window -x "${size%x*}" -y "${size#*x}"; done
see "━ 1 of"; type Escape; see "the tour is left"; type Q; see "code 0"; sane "a tour"
run "$automap tour nosuch; echo code \$?"; see "no tour nosuch"; see "code 2"
