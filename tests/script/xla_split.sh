#!/bin/sh
# The factors and partial results in tests/ref/hlo/opcodes.hlo, proved on XLA again. Needs a Python with jax 0.10
# (AUTOMAP_PYTHON, or python3); skipped without.
# usage: xla_split.sh SOURCE_DIR AUTOMAP_BINARY
set -eu
python=${AUTOMAP_PYTHON:-python3}
"$python" -c 'import jax, sys; sys.exit(not jax.__version__.startswith("0.10."))' 2>/dev/null || exit 77
"$python" "$1/tests/ref/hlo/split.py" "$(dirname "$2")/tests/test_hlo_factors" "$1/tests/ref/hlo/opcodes.hlo" ||
    { echo "FAILED: a factor is wrong"; exit 1; }
