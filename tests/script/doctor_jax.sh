#!/bin/sh
# automap doctor against programs that JAX compiles here; skipped without JAX.
# AUTOMAP_PYTHON: a Python that has it.
command -v "${AUTOMAP_PYTHON:-python3}" >/dev/null || { echo "skipped: no python"; exit 77; }
exec "${AUTOMAP_PYTHON:-python3}" "$1/tests/script/doctor_jax.py" "$2"
