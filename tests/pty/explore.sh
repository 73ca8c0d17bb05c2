#!/bin/bash
# Start, help, palette, search, resize, stop and continue, every signal that ends, lost terminal:
# the terminal is as it was each time.
. "$(dirname "$0")/lib.sh"
start 80x24

run "$automap; echo code \$?"
see "Enter opens t5-base6 on v100-1x4"
type '?'; see "all keys are from the live table"
type Escape; gone "all keys are"
type C-p; see "Find ━"; type l i g h; see "theme light"
type Enter; see "theme light: light background"
type Tab; see "Enter opens t5-base6 on a-2x8-v100"
for size in 200x60 120x40 60x15 40x10 20x5 1x1 10x40 80x24; do
    t resize-window -x "${size%x*}" -y "${size#*x}"
done
see "Enter opens t5-base6 on a-2x8-v100"
# The letter of a row is one that no key means: it is read, not known.
type "$(screen | sed -n 's/^ *\([a-z]\)  vgg19 .*/\1/p')"; see "1 Graph ━"; see "16 × 16 GB"
type / ; type -l main; type Enter; gone "/main"
type J; see "J means nothing here"
type : ; type -l "theme nosuch"; type Enter; see 'no theme "nosuch"'
type : ; type -l "save-screen $home/a.txt"; type Enter; see "wrote"
grep -q "1 Graph ━" "$home/a.txt" || { echo "the saved screen lacks the graph"; exit 1; }
type : ; type -l "save-screen $home/a.txt"; type Enter; see "is there already"
type Q; see "code 0"; sane "quit"

# What was opened is offered again.
run "$automap"; see "Go on with ─"; see "1  vgg19 "
screen | grep -q "paused  *[0-9.,]* m\?s" || { echo "the row of a search that was left does not say so"; screen; exit 1; }
type q; sane "q"

# To the shell and back, twice: by key and by signal.
run "$automap"; see "Enter opens"
type C-z; see "Stopped"; sane "C-z"
run fg; see "Enter opens"
kill -TSTP "$(pid_of)"; see "Stopped"; sane "SIGTSTP"
run fg; see "Enter opens"; type '?'; see "all keys are"; type Escape; type q; sane "fg and q"

# Every signal that ends a process, asked or not; each is reported as what it was.
for signal in TERM HUP QUIT INT SEGV ABRT BUS FPE ILL; do
    run "$automap; echo code \$?"; see "Enter opens"
    pid=$(pid_of)
    kill -$signal "$pid"
    see "code "; sane "SIG$signal"
done

# Not a terminal, or one that is not known (where curses itself leaks).
run "$automap | cat"; see "standard output is not a terminal"; run clear
run "ASAN_OPTIONS=detect_leaks=0 TERM=nosuch $automap; echo code \$?"; see 'terminal "nosuch" is not known here'; see "code 2"
run "ASAN_OPTIONS=detect_leaks=0 TERM=dumb $automap; echo code \$?"; see 'terminal "dumb" cannot place its cursor'
run clear

# An operator graph stands alone: behind it is the start screen, and V l leads back.
run "clear"; gone "code"
run "$automap $source_dir/tests/ref/placement/throughput-inputs/operatorgraphs/bert_l-3_inference.json.gz; echo code \$?"
see "Operators"; see "235 operators"; type Escape; see "V l goes back to bert_l-3_inference"; see "Examples"
type V l; see "Operators"; type x; matches "clashes with|searching again"; type Escape; see "Examples"
type q; see "code 0"

# A terminal that is gone ends the program.
run "exec $automap"; see "Enter opens"
pid=$(pid_of)
t kill-server
for _ in $(seq $patience); do kill -0 "$pid" 2>/dev/null || exit 0; sleep 0.05; done
echo "outlived its terminal"; kill -KILL "$pid"; exit 1
