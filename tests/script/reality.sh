#!/bin/sh
# Modelled steps of published training runs: reality.sh SOURCE_DIR AUTOMAP. Needs the modules beside
# the checkout (or $AUTOMAP_SHARED); skipped without them.
set -u
source_dir=$1 automap=$2
modules=${AUTOMAP_SHARED:-$source_dir/../shared}/data/reality
[ -d "$modules" ] || exit 77
out=$("$automap" bench reality --runs "$source_dir/tests/ref/reality/runs.yaml" \
    --modules "$modules") || exit 1
printf '%s\n' "$out"

# under LINE MOST_MEAN MOST: the errors in that line stay under both
under()
{
    printf '%s\n' "$out" | awk -v line="^$1:" -v mean="$2" -v most="$3" '
        $0 ~ line { found = 1; gsub(/,/, ""); for (k = 1; k <= NF; k++) {
            if ($k == "error") e = $(k + 1); if ($k == "largest") m = $(k + 1) }
            if (e + 0 > mean || m + 0 > most) bad = 1 }
        END { exit !found || bad }' || {
        echo "$1: errors above $2 or $3 %"
        exit 1
    }
}
under step 8 18
under activations 10 10

# No part of the model can go: without it the mean error is no smaller, without all of them it is
# far larger.
"$automap" bench reality --changes --runs "$source_dir/tests/ref/reality/runs.yaml" --modules "$modules" | tee /dev/stderr | awk '
    /^none, all/ { none = $3; all = $5; rows++; next }
    rows { rows++; if ($(NF - 1) < all) { print $0 ": better without"; bad = 1 } }
    END { exit bad || rows != 7 || none < 2 * all }' || {
    echo "changes: a part that makes errors larger"
    exit 1
}
