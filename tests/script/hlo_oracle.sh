#!/bin/sh
# XLA reads what we write and prints what we read: see hlo_oracle.py. Needs Python with jax (AUTOMAP_PYTHON).
# usage: hlo_oracle.sh SOURCE_DIR AUTOMAP_BINARY
python=${AUTOMAP_PYTHON:-python3}
"$python" -c "import google.protobuf, jax; from jaxlib import _hlo" 2>/dev/null || exit 77
exec "$python" "$1/tests/script/hlo_oracle.py" "$2" "$1"
