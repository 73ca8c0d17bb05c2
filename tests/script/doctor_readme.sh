#!/bin/sh
# README's example of the doctor: XLA compiles it here, and the doctor says of its dump what README
# shows. Needs jax for python3 or $AUTOMAP_PYTHON; else skipped.
# usage: doctor_readme.sh SOURCE_DIR AUTOMAP_BINARY
set -eu
python=${AUTOMAP_PYTHON:-python3}
"$python" -c 'import jax' 2>/dev/null || { echo "skipped: no jax for $python"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
XLA_FLAGS="--xla_force_host_platform_device_count=8 --xla_dump_to=$work/dump --xla_dump_hlo_as_text
    --xla_dump_hlo_pass_re=spmd-partitioning" JAX_PLATFORMS=cpu "$python" "$1/examples/doctor/mlp.py"
"$2" doctor "$work"/dump/*after_spmd-partitioning*.txt | sed -n '/^  unsure /,/^$/p' | sed '/^$/d' >"$work/said"
sed -n '/^  unsure .* mlp\.py/,/^```/p' "$1/README.md" | sed '/^```/d' >"$work/shown"
[ -s "$work/shown" ] || { echo "README.md: shows nothing of mlp.py"; exit 1; }
diff "$work/shown" "$work/said"
