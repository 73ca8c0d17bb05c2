#!/bin/sh
# Exported JAX code runs in training code and gives the results of the whole step.
# Needs jax 0.10 for python3 or $AUTOMAP_PYTHON; else skipped.
source=$1 automap=$2
python=${AUTOMAP_PYTHON:-python3}
command -v "$python" >/dev/null || { echo "skipped: no $python"; exit 77; }
"$python" "$source/tests/script/export_jax.py" "$source" "$automap"
