#!/bin/sh
# SIGTERM and SIGINT at random moments, to every command that computes: it ends within 100 ms.
command -v python3 > /dev/null || { echo "skipped: needs python3, its standard library"; exit 77; }
exec python3 "$1/tests/script/latency.py" "$1" "$2"
