#!/bin/bash
# Screens of real searches with a fixed seed, cell by cell: tests/golden/NAME.txt holds the command in
# its first line, the screen below. After a change that is wanted: UPDATE_GOLDEN=1 and look at the diff.
source_dir=$1 automap=$2
failed=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
# One set of BLAS kernels: others round otherwise, and learn another way to the same plan.
export AUTOMAP_DATA_DIR=$source_dir LC_ALL=C.UTF-8 OPENBLAS_CORETYPE=Haswell
unset NO_COLOR
for golden in "$source_dir"/tests/golden/*.txt; do
    command=$(head -1 "$golden")
    { echo "$command"; eval "'$automap' screen ${command#automap screen }"; } >"$out" 2>&1
    if [ -n "$UPDATE_GOLDEN" ]; then
        cp "$out" "$golden"
    elif ! diff -u "$golden" "$out"; then
        failed=1
    fi
done

[ -n "$UPDATE_GOLDEN" ] && "$source_dir/examples/pictures/make.sh" "$automap" # README's pictures too

# README.md shows the largest of them that fits a page.
shown=$source_dir/tests/golden/main120.txt
sed 1d "$shown" | sed 's/ *$//' >"$out"
if [ -n "$UPDATE_GOLDEN" ]; then
    awk -v screen="$out" '/^<!-- screen -->/ { print; getline; print; while ((getline line < screen) > 0) print line; skip = 1; next }
        skip && /^```/ { skip = 0 } !skip' "$source_dir/README.md" >"$out.md" && mv "$out.md" "$source_dir/README.md"
elif ! awk '/^<!-- screen -->/ { getline; show = 1; next } show && /^```/ { exit } show' "$source_dir/README.md" | diff -u - "$out"; then
    echo "README.md shows another screen than tests/golden/main120.txt"
    failed=1
fi
exit $failed
