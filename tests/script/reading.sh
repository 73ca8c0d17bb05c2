#!/bin/sh
# A large model: that it is being read is on the screen within 0.2 s, and then the model.
command -v python3 > /dev/null || exit 77
exec python3 "$1/tests/script/reading.py" "$2"
