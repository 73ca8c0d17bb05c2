#!/bin/sh
# Modules of a hybrid plan's stages: XLA inserts the planned collectives, the program made of them gives what the whole step does.
# All of it, an hour:
#     python3 tests/script/hybrid_stages.py . build/release/automap --models mlp,t5-tiny,moe,t5-base6,bert48,dropout,samples,recurrent,stack
# Needs jax 0.10 for python3 or $AUTOMAP_PYTHON; else skipped.
source=$1 automap=$2
python=${AUTOMAP_PYTHON:-python3}
command -v "$python" >/dev/null || { echo "skipped: no $python"; exit 77; }
"$python" "$source/tests/script/hybrid_stages.py" "$source" "$automap" --models mlp &&
    "$python" "$source/tests/script/hybrid_stages.py" "$source" "$automap" --models t5-tiny,dropout,samples,recurrent --plans 1
