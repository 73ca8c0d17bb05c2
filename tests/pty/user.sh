#!/bin/bash
# A person's own commands: a key runs a line of the shell beside the screen or in its place, with what
# is under the cursor; a file's names are words to the shell, whatever they hold; the terminal comes
# back as it was.
. "$(dirname "$0")/lib.sh"
cd "$home" || exit 1
model=$source_dir/examples/models/mlp.hlo.txt.gz
mkdir -p "$home/config/automap"
printf 'one\ntwo\nthree\n' >"$home/it's; touch PWNED; \$(touch PWNED).py"
zcat "$model" | sed "/ dot(/s|\$|, metadata={source_file=\"it's; touch PWNED; \$(touch PWNED).py\" source_line=2}|" \
    >hostile.hlo.txt
grep -q 'source_file="it.s; touch' hostile.hlo.txt || { echo "the model has no source lines"; exit 1; }
printf '#!/bin/sh\nprintf "%%s|" "$@" >edited\necho "an editor has the terminal"; read x\n' >editor; chmod +x editor
cat >"$home/config/automap/config.yaml" <<'C'
commands:
  - {name: edit, key: C-e, how: suspended, about: the source line, run: "$EDITOR +{line} {file}"}
  - {name: source, key: F5, how: inline, about: the line here, run: "sed -n {line}p {file}"}
  - {name: say, key: F6, how: inline, run: "echo group {group} of {instruction}"}
  - {name: plan, key: F7, how: inline, run: "grep -c step_time_ms {plan}"}
  - {name: where, key: F10, how: inline, run: "case {plan} in $TMPDIR/automap-plan*) echo it is in TMPDIR;; *) echo it is elsewhere;; esac"}
  - {name: pipe, key: F11, how: inline, run: "yes 2>broken | head -n 1 >first; test -s broken && echo SIGPIPE is ignored || echo SIGPIPE is given back"}
  - {name: fails, key: F8, how: suspended, run: "echo no such thing; exit 3"}
  - {name: waits, key: F9, how: inline, run: "sleep 600; echo {group}"}
C
start 120x40
mkdir tmp
run "cd $home; export EDITOR=$home/editor TMPDIR=$home/tmp; clear"
run "$automap hostile.hlo.txt; echo code \$?"; see "1 Graph ━"
type C-p; type -l "dot_general.8"; see "instruction"; type Enter; see "1 Graph ━"
type F6; matches "group .* of dot_general.8"
type F5; see "two"
type C-e; see "an editor has the terminal"; type Enter; see "1 Graph ━"
[ "$(cat edited)" = "+2|it's; touch PWNED; \$(touch PWNED).py|" ] || { echo "the editor got: $(cat edited)"; exit 1; }
type F7; matches "^ 1 *$"
type F10; see "it is in TMPDIR"
[ -z "$(ls tmp)" ] || { echo "a plan is left: $(ls tmp)"; exit 1; }
type F11; see "SIGPIPE is given back"; [ "$(cat first)" = y ] || { echo "the pipe gave $(cat first)"; exit 1; }
type F8; see "no such thing"; see "[Enter]"; type Enter; see "fails ended with 3"
type '?'; see "yours"; see "the source line"; type Escape; see "1 Graph ━"
type F9; see "waits runs"; type F6; see "waits is still running"
type :; type -l "source"; type Enter; see "waits is still running"
type Q; see "code 0"; sane "its own commands"
[ ! -e PWNED ] || { echo "a name was carried out"; exit 1; }
left() { # of this test: others may run beside it
    for pid in $(pgrep -f "sleep 600; echo 'kernel"); do
        grep -qz "^HOME=$home\$" "/proc/$pid/environ" 2>/dev/null && return 0
    done
    return 1
}
for _ in $(seq $patience); do left || break; sleep 0.05; done
! left || { echo "a command outlives the explorer"; exit 1; }

# Lines in which quotes would not hold, and other nonsense, are refused with their place.
bad() { printf '%s\n' "$1" >bad.yaml; run "clear; $automap hostile.hlo.txt --config bad.yaml; echo code \$?"; see "$2"; see "code 2"; }
bad 'commands: [{name: a, key: C-e, run: "echo \"{group}\""}]' "within quotes"
bad 'commands: [{name: a, key: C-e, run: "echo `cat {file}`"}]' "within backquotes"
bad 'commands: [{name: a, key: Nokey-x, run: "echo"}]' 'no key "Nokey-x"'
bad 'commands: [{name: a, key: C-e}]' "has name, key and run"
bad 'commands: [{name: a, key: F5, run: x}, {name: b, key: F5, run: y}]' "one name or key"
bad 'commands: [{name: a, key: F5, run: x, how: loud}]' "inline or suspended"
run "clear; $automap hostile.hlo.txt --config $source_dir/examples/config.yaml; echo code \$?"; see "1 Graph ━"; type F5; see "two"
type Q; see "code 0"
