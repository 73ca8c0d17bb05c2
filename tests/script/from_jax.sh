#!/bin/sh
# The example that starts from a plain Flax script and ends with the planned step on simulated devices. Needs jax 0.7 or later,
# flax and optax for python3 or $AUTOMAP_PYTHON; else skipped.
python=${AUTOMAP_PYTHON:-python3}
"$python" -c 'import flax, jax, optax, sys; sys.exit(tuple(map(int, jax.__version__.split(".")[:2])) < (0, 7))' 2>/dev/null ||
    { echo "skipped: no jax 0.7, flax, optax for $python"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 "$python" "$1/examples/from_jax/planned.py" "$2"
