#!/bin/sh
# Plans as settings of trainers and as placements of DTensor, read back as pins: the same plans. Needs python3; else skipped.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
python3 "$1/tests/script/trainers.py" "$1" "$2"
