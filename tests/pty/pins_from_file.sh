#!/bin/bash
# The shardings that a program's author wrote: said when it is opened, pinned by :pins-from-file, and undone.
. "$(dirname "$0")/lib.sh"
cd "$home" || exit 1
model=$source_dir/examples/models/mlp.hlo.txt.gz
"$automap" plan "$model" --devices 4 --set layer_1/kernel:1=1 -o author.json > /dev/null || exit 1
"$automap" export "$model" --devices 4 --plan author.json -o author.hlo > /dev/null || exit 1
start 160x40
run "$automap $home/author.hlo $source_dir/examples/clusters/v100-1x4.yaml --seed 7; echo code \$?"
see ":pins-from-file pins those of parameters"
type : ; type -l "pins-from-file"; type Enter; matches '[0-9]+ of [0-9]+ shardings of the file are pinned'
see "you pin #"; see "1P"
type u; see "you undo pin"
type Q; see "code 0"; sane "quit with pins of the file"
run "clear"; run "$automap $model $source_dir/examples/clusters/v100-1x4.yaml --seed 7 --no-journal; echo code \$?"; see "ready"
type : ; type -l "pins-from-file"; type Enter; see "no sharding of the file can be pinned"
type q; see "code 0"; sane "quit without any"
