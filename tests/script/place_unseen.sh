#!/usr/bin/env bash
# Operator graphs nobody has seen, of the published kinds, against the definitions: see place_unseen.py. Arguments:
# SOURCE_DIR AUTOMAP [COUNT [FIRST_SEED]].
command -v python3 >/dev/null || exit 77
exec python3 "$1/tests/script/place_unseen.py" "$2" "${3:-12}" "${4:-1}"
