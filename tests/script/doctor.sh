#!/bin/sh
# automap doctor against programs whose causes and cures are known; skipped where their dumps are not.
command -v python3 > /dev/null || { echo "skipped: needs python3, its standard library"; exit 77; }
data=${AUTOMAP_SHARED:-$1/../shared}/data/doctor
[ -d "$data" ] || { echo "skipped: no dumps in $data"; exit 77; }
exec python3 "$1/tests/script/doctor.py" "$2" "$data"
