#!/bin/bash
# The program before comes from standard input, or from a pipe: it is read once, and both looked at
# and planned.
source_dir=$1 automap=$2
data=$source_dir/tests/data/doctor
want=$("$automap" doctor "$data/while_carry.cpu_after_optimizations.txt.gz" --before "$data/while_carry.before_optimizations.txt.gz") || exit 1
grep -q '^ *planned ' <<<"$want" || { echo "nothing is planned"; echo "$want"; exit 1; }
got=$(zcat "$data/while_carry.before_optimizations.txt.gz" | "$automap" doctor "$data/while_carry.cpu_after_optimizations.txt.gz" --before -) || exit 1
[ "$want" = "$got" ] || { echo "standard input:"; diff <(echo "$want") <(echo "$got"); exit 1; }
got=$("$automap" doctor "$data/while_carry.cpu_after_optimizations.txt.gz" --before <(zcat "$data/while_carry.before_optimizations.txt.gz")) || exit 1
[ "$want" = "$got" ] || { echo "a pipe:"; diff <(echo "$want") <(echo "$got"); exit 1; }
