#!/bin/sh
# Sixteen shapes of module, doubled: what grows faster than n log n. The whole of it: doubling_slow.sh.
command -v python3 > /dev/null || exit 77
python3 "$1/tests/script/doubling.py" "$2" --size 4096 --to 8192 --timeout 20 \
    --command inspect groups convert stablehlo plan memory relaxed axes explain export report &&
    python3 "$1/tests/script/doubling.py" "$2" --size 1024 --to 2048 --timeout 20 --shape products --command stability &&
    exec python3 "$1/tests/script/doubling.py" "$2" --size 32768 --to 65536 --timeout 20 --command pipeline
