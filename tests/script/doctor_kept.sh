#!/bin/sh
# automap doctor on dumps of programs whose causes are known, and whose changes XLA has compiled.
command -v python3 > /dev/null || { echo "skipped: needs python3, its standard library"; exit 77; }
exec python3 "$1/tests/script/doctor_kept.py" "$2" "$1/tests/data/doctor/kept"
