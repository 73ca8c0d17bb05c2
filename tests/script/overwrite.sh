#!/bin/sh
# A file that automap did not write is kept unless --force is given, whatever command and option writes;
# one that names automap at its head, or a profile of the same model, is replaced. Forms of others have
# no place for the name (HLO, CSV, splits, casts): those are kept like a stranger's.
set -u
source=$1 automap=$2
model=$source/examples/models/t5-tiny.hlo.txt.gz
cluster=$source/examples/clusters/v100-1x4.yaml
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=$dir/out.txt
failed=0

wrong() {
    echo "$*"
    failed=1
}

# guards ARGUMENT...: the command, which writes to $out, that its last option but --force names.
seen=" " own=0
guards() {
    case $1 in pretrain) name="$1 $2" ;; *) name=$1 ;; esac
    for word; do
        [ "$word" != "$out" ] || seen="$seen$name $option "
        option=$word
    done
    echo precious > "$out"
    "$automap" "$@" > /dev/null 2> "$dir/said" < /dev/null
    code=$?
    [ $code -eq 2 ] || wrong "automap $*: exit code $code on a foreign file, expected 2"
    [ "$(cat "$out")" = precious ] || wrong "automap $*: a foreign file was replaced"
    grep -q -- --force "$dir/said" || wrong "automap $*: no word of --force"
    "$automap" "$@" --force > /dev/null 2>&1 < /dev/null || wrong "automap $* --force: failed"
    [ "$(head -c 8 "$out")" != precious ] || wrong "automap $* --force: not replaced"
    "$automap" "$@" > /dev/null 2>&1 < /dev/null
    code=$?
    [ $code -eq $own ] || wrong "automap $*: exit code $code on its own file, expected $own"
    : > "$out"
    "$automap" "$@" > /dev/null 2>&1 < /dev/null || wrong "automap $*: failed on an empty file"
    [ -s "$out" ] || wrong "automap $*: an empty file was not replaced"
}

# The same for a form that cannot name automap.
stranger() {
    own=2
    guards "$@"
    own=0
}

plan=$dir/plan.json
"$automap" plan "$model" "$cluster" --optimum -o "$plan" > /dev/null || wrong "no plan"
"$automap" plan "$model" "$cluster" -o "$plan" > /dev/null || wrong "a plan of automap's was kept"

mlp=$source/examples/models/mlp.hlo.txt.gz
data=$source/tests/data/profile
"$automap" search "$mlp" "$cluster" --episodes 3 --quiet --journal "$dir/journal" > /dev/null || wrong "no journal"
"$automap" profile "$data/mlp.trace.json.gz" "$data/mlp.hlo.txt.gz" \
    --compiled "$data/mlp-compiled.hlo.txt.gz" > "$dir/profile.json" 2> /dev/null || wrong "no profile"

guards plan "$model" "$cluster" -o "$out"
guards search "$model" "$cluster" --episodes 3 --quiet --no-journal --plan "$out"
stranger search "$model" "$cluster" --episodes 3 --quiet --no-journal --curves "$out"
guards search "$model" "$cluster" --kind pp --algo exact --plan "$out"
guards search "$mlp" "$cluster" --kind hybrid --plan "$out"
guards search "$mlp" "$cluster" --kind all --quiet --episodes 3 --no-journal --plan "$out"
guards search "$mlp" "$cluster" --quiet --no-journal --algo enumerate --plan "$out"
guards infer "$model" "$cluster" --plan "$out"
guards replay "$dir/journal" --plan "$out"
stranger replay "$dir/journal" --curves "$out"
stranger convert "$model" "$out"
stranger export "$model" "$cluster" --plan "$plan" -o "$out"
stranger place "$model" "$cluster" -o "$out"
guards place "$mlp" "$cluster" --plan "$out"
guards place "$mlp" "$cluster" --pipeline "$out"
guards place "$mlp" "$cluster" --lp "$out"
printf 'all-reduce,1e6,0.1\nall-reduce,1e8,2\n' > "$dir/times.csv"
guards calibrate "$cluster" --collectives "$dir/times.csv" -o "$out"
guards profile "$data/mlp.trace.json.gz" "$data/mlp.hlo.txt.gz" --compiled "$data/mlp-compiled.hlo.txt.gz" -o "$out"
# Times of the same model that a person wrote down are nobody's profile but theirs: lines, and JSON
# as other programs write it: no newline at the end, another order.
sed -n 's/^  "\(.*\)": \([0-9.e-]*\).*/\1,\2/p' "$dir/profile.json" | head -3 > "$dir/lines"
printf %s "$(cat "$dir/profile.json")" > "$dir/indented"
{ echo '{'; sed -n 's/^  ".*": [0-9.e-]*/&/p' "$dir/profile.json" | sed 's/,$//' | sort -r | sed '$!s/$/,/'; echo '}'; } > "$dir/ordered"
for times in lines indented ordered; do
    cp "$dir/$times" "$out"
    "$automap" profile "$data/mlp.trace.json.gz" "$data/mlp.hlo.txt.gz" --compiled "$data/mlp-compiled.hlo.txt.gz" -o "$out" \
        > /dev/null 2>&1 < /dev/null
    code=$?
    [ $code -eq 2 ] || wrong "profile over times of a person's, $times: exit code $code, expected 2"
    [ -s "$out" ] && cmp -s "$dir/$times" "$out" || wrong "times of a person's, $times, were not kept"
done
guards pretrain pp --environments 8 -o "$out"
guards pretrain opp "$mlp" --rounds 1 -o "$out"
stranger cast "$dir/journal" --frames 3 -o "$out"

# A journal goes on, or is new: a file that is there is never one's.
echo precious > "$out"
"$automap" search "$mlp" "$cluster" --episodes 3 --quiet --journal "$out" > /dev/null 2>&1 &&
    wrong "a foreign file became a journal"
[ "$(cat "$out")" = precious ] || wrong "a foreign file was replaced by a journal"

# Every option whose help says that it writes a FILE stands above.
options=0
for name in calibrate cast convert doctor infer inspect export screen explain place plan profile \
    replay search teach "pretrain pp" "pretrain opp"; do
    # shellcheck disable=SC2086 # a command and its part
    "$automap" $name --help | awk '
        /^  -/ { if (row) print row; row = $0; next }
        /^    / { row = row " " $0; next }
        { if (row) print row; row = "" }
        END { if (row) print row }' |
        sed -n 's/^ *\(-[a-z-]*\) FILE *\(.*\)/\1 \2/p' | tr -s ' ' |
        grep -E '^(-o|--[a-z-]*) (.* )?write ' | cut -d' ' -f1 > "$dir/writing"
    while read -r option; do
        options=$((options + 1))
        case "$seen" in *" $name $option "*) ;; *) wrong "automap $name $option: writes, and no row here" ;; esac
    done < "$dir/writing"
done
[ $options -ge 10 ] || wrong "only $options options that write are found in the help"
exit $failed
