#!/bin/sh
# The same programs as JAX prints them in StableHLO and in HLO say the same. Needs the shared pairs
# ($AUTOMAP_SHARED, ../shared) and python3; else skipped.
shared=${AUTOMAP_SHARED:-$1/../shared}
[ -d "$shared/data/stablehlo" ] || { echo "skipped: no $shared/data/stablehlo"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
python3 "$1/tests/script/twins.py" "$2" "$shared/data/stablehlo"
