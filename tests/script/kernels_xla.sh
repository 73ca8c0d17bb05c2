#!/bin/sh
# Kernels that XLA can run on CPU devices: its partitioner does to them what plans say. Linear algebra, host callbacks,
# PartialReduce, offloads. Needs jax 0.10 for python3 or $AUTOMAP_PYTHON; else skipped.
source=$1 automap=$2
python=${AUTOMAP_PYTHON:-python3}
command -v "$python" >/dev/null || { echo "skipped: no $python"; exit 77; }
zoo=$(mktemp -d) || exit 1
trap 'rm -rf "$zoo"' EXIT
mkdir "$zoo/jax"
for name in linalg spectral callback offload approx; do
    cp "$source/tests/data/kernels/$name.hlo.txt.gz" "$zoo/jax/$name.long.hlo.gz" && echo 0 >"$zoo/jax/$name.vars.txt" || exit 1
done
"$python" "$source/tests/script/xla_zoo.py" "$source" "$automap" "$zoo" --meshes 4,2x2 --plans optimum,random,relaxed --random 2 --jobs 1
