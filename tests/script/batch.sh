#!/bin/sh
# A batch that --batch prices against one that JAX wrote the model with: proven optimum, step and
# memory. Needs jax 0.10 for python3 or $AUTOMAP_PYTHON; else skipped.
source=$1 automap=$2
python=${AUTOMAP_PYTHON:-python3}
command -v "$python" >/dev/null || { echo "skipped: no $python"; exit 77; }
"$python" "$source/tests/ref/batch/batch.py" "$automap" mlp t5-tiny
