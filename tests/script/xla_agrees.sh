#!/bin/sh
# XLA's partitioner inserts the planned collectives: a sample of plans, every small model. All of it:
#     python3 tests/script/xla_agrees.py . build/release/automap --run
#     python3 tests/script/xla_agrees.py . build/release/automap --relaxed
# Needs jax 0.10 for python3 or $AUTOMAP_PYTHON; else skipped.
source=$1 automap=$2
python=${AUTOMAP_PYTHON:-python3}
command -v "$python" >/dev/null || { echo "skipped: no $python"; exit 77; }
"$python" "$source/tests/script/xla_agrees.py" "$source" "$automap" --models mlp,t5-tiny,decoder-scan --meshes 4,2x2 --random 3 &&
    "$python" "$source/tests/script/xla_agrees.py" "$source" "$automap" --relaxed --models t5-tiny,moe --meshes 4,2x2
