#!/bin/sh
# The same programs as JAX prints them in StableHLO and in HLO say the same: the shared pairs ($AUTOMAP_SHARED, ../shared),
# and those of tests/ref/stablehlo/programs.py odd_programs.py and more_idioms.py as this machine's jax (python3, $AUTOMAP_PYTHON) prints them. Without either: skipped.
shared=${AUTOMAP_SHARED:-$1/../shared}
python=${AUTOMAP_PYTHON:-python3}
made=$(mktemp -d) || exit 1
trap 'rm -rf "$made"' EXIT
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
tried=0
if [ -d "$shared/data/stablehlo" ]; then
    python3 "$1/tests/script/twins.py" "$2" "$shared/data/stablehlo" || exit 1
    tried=1
fi
if "$python" -c 'import jax' 2>/dev/null; then
    for file in programs odd_programs more_idioms; do
        PYTHONDONTWRITEBYTECODE=1 "$python" "$1/tests/ref/stablehlo/$file.py" "$made" || exit 1
    done
    python3 "$1/tests/script/twins.py" "$2" "$made" || exit 1
    tried=1
fi
[ $tried = 1 ] || { echo "skipped: no $shared/data/stablehlo and no jax"; exit 77; }
