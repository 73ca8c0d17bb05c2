#!/usr/bin/env bash
# Rooms and arrows are those of tests/HOUSE.
command -v python3 >/dev/null || exit 77
exec python3 "$1/tests/script/house.py" "$@"
