#!/bin/sh
# The report as a page: closed tags, nothing from the network, foreign text as text, small. Needs python3; else skipped.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
python3 "$1/tests/script/export_html.py" "$1" "$2"
