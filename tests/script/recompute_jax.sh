#!/bin/sh
# What plan --recompute auto says for JAX comes true: its names and policies written into a small GPT, the step compiled and
# run: the same parameters, XLA's memory falls, and the rewritten module keeps what was decided.
# Needs jax 0.10 for python3 or $AUTOMAP_PYTHON; else skipped.
source=$1 automap=$2
python=${AUTOMAP_PYTHON:-python3}
"$python" -c 'import jax' 2>/dev/null || { echo "skipped: no jax for $python"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$python" "$source/tests/ref/recompute/follow.py" "$automap" "$work"
