#!/bin/sh
# Sixteen shapes of module, doubled up to 10^6 while a command takes less than 20 s of processor.
command -v python3 > /dev/null || exit 77
exec python3 "$1/tests/script/doubling.py" "$2" --size 16384 --to 1048576 --timeout 60 \
    --command inspect groups convert stablehlo plan memory relaxed axes explain export report pipeline
