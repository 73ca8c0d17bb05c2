#!/usr/bin/env bash
# Completions: what the program offers for a word, and that bash, zsh and fish show it. Shells that
# are not there are left out.
set -u
automap=$(realpath "$2")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
ln -s "$automap" "$dir/automap"
for shell in bash zsh fish; do "$automap" manual $shell >"$dir/$shell" || failed=1; done
cd "$dir" || exit 1
touch t5-mine.txt

ask() { "$automap" manual complete -- "$@" | cut -f1; }

in_bash() {
    bash --norc -c 'source ./bash; COMP_WORDS=(./automap "$@"); COMP_CWORD=$#; compopt() { :; }
        _automap ./automap; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

# _describe and _files only work in a line editor: they print here.
in_zsh() {
    zsh -f -c '_describe() { print -l -- ${values%%:*}; }; _files() { print -l t5-mine.txt; }
        compset() { :; }; words=(./automap "$@"); CURRENT=$#words; PREFIX=; source ./zsh' zsh "$@"
}

in_fish() { fish --no-config -c 'source ./fish; complete -C "./automap $argv"' -- "$@" | cut -f1; }

# expect "PRESENT ..." "ABSENT ..." WORD ...
expect() {
    local present=$1 absent=$2 how got
    shift 2
    for how in ask in_bash in_zsh in_fish; do
        case $how in in_zsh | in_fish) command -v "${how#in_}" >/dev/null || continue ;; esac
        got=$($how "$@")
        for word in $present; do
            [ "$how $word" = "ask t5-mine.txt" ] && word=+files
            grep -qxF -- "$word" <<<"$got" || { echo "$how $*: no $word in:" $got; failed=1; }
        done
        for word in $absent; do
            grep -qxF -- "$word" <<<"$got" && { echo "$how $*: $word"; failed=1; }
        done
    done
}

expect 'plan search replay t5-tiny' '--theme' ''
expect 'plan' 'search' pl
expect 't5-tiny t5-11b t5-mine.txt' 'vgg19 plan' plan t5
expect 't5-tiny' 'v100-1x4' explain t5
expect 'v100-1x4' 't5-tiny' plan t5-tiny v
expect 'v100-1x4' 't5-tiny' plan --mesh 2x2 t5-tiny v
expect 'random race' 'dqn --algo' search m --algo ra
expect 'auto 3' '--zero' plan m --zero ''
expect 'jax hlo trace' 'v100-1x4' export m --format ''
expect 'deuteranopia' 'light' explore --theme de
expect 'replay' 'last' tour r
expect 'last' 't5-tiny' replay la
expect 'gamma=' 'batch=' search m --learner ga
expect 'cartpole' 'probe' teach c
expect 't5-tiny' 'vgg19' bench relaxed mlp t5
expect '--memory-limit --memory' '--zero' plan m --me
exit $failed
