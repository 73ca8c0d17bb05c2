#!/bin/bash
# README's pictures are what the program draws; examples/pictures/make.sh draws them anew.
source_dir=$1 automap=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export AUTOMAP_DATA_DIR=$source_dir
"$source_dir/examples/pictures/make.sh" "$automap" "$out" || exit 1
failed=0
for picture in "$source_dir"/examples/pictures/*.svg; do
    cmp "$picture" "$out/$(basename "$picture")" || failed=1
    grep -q "(examples/pictures/$(basename "$picture"))" "$source_dir/README.md" || { echo "README.md does not show $picture"; failed=1; }
done
exit $failed
