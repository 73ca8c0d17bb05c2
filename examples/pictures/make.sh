#!/bin/bash
# Draws the pictures of README.md: make.sh AUTOMAP [DIRECTORY]. A test runs it and compares.
automap=$1 out=${2:-$(dirname "$0")}
export AUTOMAP_DATA_DIR=${AUTOMAP_DATA_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
export LC_ALL=C.UTF-8 OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1
unset NO_COLOR
set -e
draw() { local name=$1; shift; "$automap" screen "$@" --svg > "$out/$name.svg"; }
draw search t5-base6 v100-1x4 --size 120x36 --seed 7 --commands 'episode 40; decide 3' --keys 2
draw why t5-base6 v100-1x4 --size 100x24 --seed 7 --commands 'pin encoder/layer_000/self/q/kernel:1=1' \
    --keys '/ ^ d o t _ g e n e r a l . 4 0 2 $ Enter w'
draw tour --tour repair --step 4 --size 100x32
