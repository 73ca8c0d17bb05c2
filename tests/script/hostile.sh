#!/usr/bin/env bash
# Options nobody in his senses gives, to every command: an exit code and a message for each, no crash,
# no hang, nothing left behind, and nothing on the screen that a terminal would obey.
set -u
automap=$2
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_STATE_HOME=$dir/state XDG_CONFIG_HOME=$dir/config
mkdir "$dir/here" && cd "$dir/here" || exit 1
mlp=$1/examples/models/mlp.hlo.txt.gz cluster=$1/examples/clusters/v100-1x4.yaml

complain() {
    printf 'automap'
    printf ' %q' "$@"
    printf '\n  exit %s, expected %s\n%s\n' "$rc" "$codes" "$(head -3 "$dir/err")"
    failed=1
}
# codes that are right, then the command; says something when it is not 0, and leaves nothing then
run() {
    codes=$1
    shift
    (ulimit -t 60 && exec "$automap" "$@") > "$dir/out" 2> "$dir/err" < /dev/null # of the processor
    rc=$?
    [[ " $codes " == *" $rc "* ]] || complain "$@"
    [ $rc = 0 ] || [ -s "$dir/err" ] || complain "$@"
    [ $rc = 0 ] || [ -z "$(ls)" ] || complain "$@"
    ! grep -q $'\e' "$dir/err" || complain "$@"
    rm -f ./*
}
says() {
    grep -qF -- "$1" "$dir/err" || { printf 'expected "%s"\n%s\n' "$1" "$(head -3 "$dir/err")" && failed=1; }
}
numbers=('' -1 nan inf 1e308 1e- 9223372036854775808 18446744073709551616 0x10 ' 1' '1 ' x $'\e[31m')

for value in "${numbers[@]}"; do
    for option in --devices --micro-batches --zero --overlap; do
        run 1 plan "$mlp" "$option" "$value"
    done
    for option in --sweeps --memory-limit; do
        run 1 plan "$mlp" --mode relaxed "$option" "$value"
    done
    for option in --batch --stages --radius --points --time --episodes --seeds; do
        run 1 search "$mlp" --no-journal --quiet --episodes 5 --kind pp "$option" "$value"
    done
    for option in --size --step --day; do
        run 1 screen --tour propagation "$option" "$value"
    done
    for option in --seeds --seed --decisions --variant --gamma --batch; do
        run 1 teach bandit "$option" "$value"
    done
    for what in read rl tui; do
        run 1 bench $what --seconds "$value"
    done
    run 1 convert "$mlp" out.txt --module "$value"
    run 1 cluster --bytes "$value"
    run 2 cluster "$cluster" --set "network.bandwidth=$value"
    run '1 2' explain "$mlp" --optimum --reshard "$value"
    run '1 2' plan "$mlp" --mesh "$value"
    run 2 screen "$mlp" --commands "episode -$value" # blanks around a number are fine there
    run 2 screen "$mlp" --commands "pin @$value=1"
    run 1 search "$mlp" --no-journal --quiet --episodes 5 --learner "gamma=$value"
done
for seed in '' -1 nan 18446744073709551616 0x10 ' 1' three; do
    run 1 plan "$mlp" --random "$seed"
    run 1 search "$mlp" --no-journal --quiet --episodes 5 --seed "$seed"
    run 1 screen "$mlp" --seed "$seed"
done
run 0 search "$mlp" --no-journal --quiet --episodes 5 --seed 18446744073709551615

# what a file asks for and cannot have is said with its line
printf 'layer_0/kernel\n\n  nobody\n' > "$dir/vars"
printf 'layer_0/kernel:1=1\n# none\nnobody:0=1\n' > "$dir/pins"
printf 'at episode 1: undo\n' > "$dir/script"
run 2 plan "$mlp" --vars "$dir/vars"
says "$dir/vars:3:3: the list of variables names \"nobody\""
run 2 search "$mlp" --no-journal --quiet --pins "$dir/pins" --plan out
says "$dir/pins:3:1: no parameter matches"
run 2 search "$mlp" --no-journal --quiet --algo race --episodes 5 --pins "$dir/pins"
says "$dir/pins:3:1: no parameter matches"
run 2 search "$mlp" --no-journal --quiet --script "$dir/script" --plan out
says "$dir/script:1:1: nothing to undo"

# a journal whose command line no longer holds
printf 'layer_0/kernel:1=1\n' > "$dir/pins"
run 0 search "$mlp" --quiet --episodes 5 --pins "$dir/pins" --journal "$dir/journal"
printf 'layer_0/kernel\n' > "$dir/pins"
run 2 replay "$dir/journal" --plan out
says "$dir/journal: the command line in it is not that of one search"

run 2 screen "$mlp" --commands 'pin @4294967296=1' # not decision 0
run 2 screen "$mlp" --commands 'quit; episode 2'   # nobody is left to do it
run 2 screen "$mlp" --config ''
run 1 $'no\e[31mcommand'
run 1 bench $'no\e[31mbench'
run 1 plan "$mlp" $'--no\e[31moption'
run 1 plan "$mlp" "$cluster" $'\e[31m'
exit $failed
