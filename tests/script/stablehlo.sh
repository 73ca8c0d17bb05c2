#!/bin/sh
# Training steps as JAX prints them: planned, exported as Python, applied to the unchanged step and run
# on simulated devices. Needs jax 0.10 for python3 or $AUTOMAP_PYTHON; else skipped.
source=$1 automap=$2
python=${AUTOMAP_PYTHON:-python3}
command -v "$python" >/dev/null || { echo "skipped: no $python"; exit 77; }
"$python" "$source/tests/script/stablehlo.py" "$source" "$automap"
