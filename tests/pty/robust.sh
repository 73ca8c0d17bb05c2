#!/bin/bash
# What may come at a running search: names that mean harm, every signal that ends, a terminal that is
# hung up or gone. The screen stays whole, the terminal is as it was, and the journal replays.
. "$(dirname "$0")/lib.sh"
start 100x30
model=$source_dir/examples/models/t5-tiny.hlo.txt.gz
start_search() { run "clear; $automap --run $1; echo code \$?"; see "▶"; see "ep/s"; }
pid_of_search() { pid_of --run; }

# A model whose names hold escapes, controls, bidirectional overrides, zero widths, broken UTF-8 and
# 10 kB; in a file whose name is no better. Nothing of it reaches a terminal.
evil=$home/$'evil\e]0;pwned\a\u202e.hlo'
harm=("$(printf 'x%.0s' $(seq 10000))" $'\e[2J\e]0;pwned\a' $'\u202edesrever' $'zero\u200bwidth\u2066' $'\xff\xfe\x9b31m' $'\u009b31m' 'e%s%n' $'\u6f22\u5b57')
{
    printf 'HloModule hostile\n\nENTRY main {\n  v0 = f32[64,64] parameter(0)\n'
    n=0
    for name in "${harm[@]}"; do
        printf '  w%d = f32[64,64] parameter(%d), metadata={op_name="params['\''%s'\'']"}\n' $n $((n + 1)) "$name"
        printf '  v%d = f32[64,64] dot(v%d, w%d), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(step)/%s/dot_general" source_file="%s" source_line=7}\n' \
            $((n + 1)) $n $n "$name" "$name"
        n=$((n + 1))
    done
    printf '  ROOT out = f32[64,64] tanh(v%d)\n}\n' $n
} >"$evil"
printf 'w%d\n' $(seq 0 $((n - 1))) >"$home/vars"
is_clean() { # no control but blanks, no override, nothing without width
    ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]' "$1" ||
        { echo "$2 prints what moves a cursor"; LC_ALL=C cat -v "$1" | head -50; exit 1; }
}
for command in "inspect" "inspect --all" "search --episodes 20 --no-journal" "search --algo greedy --episodes 5 --no-journal --json" "plan --optimum" "explain --optimum #1:0"; do
    set -- ${command%% *} "$evil" --vars "$home/vars" $( [ "$command" = "${command#* }" ] || echo "${command#* }")
    "$automap" "$@" >"$home/out" 2>&1
    is_clean "$home/out" "$command"
done
run "$automap --vars $home/vars --commands 'episode 30' \"\$(ls -d $home/evil*)\"; echo code \$?"
see "paused"; see "1 Graph"
for key in j j l j l j t G w Escape z z 2 j p Escape C-p Escape v v v; do
    type $key
done
t resize-window -x 60 -y 15; see "paused"; t resize-window -x 100 -y 30; see "1 Graph"
t capture-pane -p >"$home/out"; is_clean "$home/out" "the explorer"
[ "$(t display -p '#{pane_title}')" != pwned ] || { echo "the title is taken over"; exit 1; }
type : ; type -l "save-screen $home/evil.svg"; type Enter; see "wrote"; is_clean "$home/evil.svg" "the picture"
type Q; see "code 0"; sane "hostile names"
run "$automap"; see "Go on with"; t capture-pane -p >"$home/out"; is_clean "$home/out" "the start screen"; type q

# Every signal that ends, in the middle of a search; each is reported as what it was.
for signal in TERM HUP INT QUIT SEGV ABRT BUS FPE ILL; do
    start_search "$model"
    kill -$signal "$(pid_of_search)"
    code=$((128 + $(kill -l $signal)))
    [ $signal = INT ] && code=0 # as the key: it asks to leave
    see "code $code"; sane "SIG$signal"
    "$automap" replay last >/dev/null 2>"$home/err" || { echo "after SIG$signal"; cat "$home/err"; exit 1; }
done

# Stopped and gone on, in the middle of a search, by signal.
start_search "$model"
kill -TSTP "$(pid_of_search)"; see "Stopped"; sane "SIGTSTP"
run fg; see "ep/s"
type Q; sane "fg"

# The shell hangs up; the terminal is closed.
start_search "$model"; pid=$(pid_of_search)
kill -HUP $pid; see "code 129"; sane "SIGHUP"
start_search "$model"; pid=$(pid_of_search)
t kill-server
for _ in $(seq $patience); do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
kill -0 "$pid" 2>/dev/null && { echo "outlived its terminal"; kill -KILL "$pid"; exit 1; }
"$automap" replay last >/dev/null || { echo "after the terminal was closed"; exit 1; }
