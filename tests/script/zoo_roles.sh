#!/bin/sh
# Variables, loss, layers and names of groups of training steps nobody here had seen. Needs python3 and the models in
# $AUTOMAP_SHARED/zoo or ../shared/zoo; else skipped.
source=$1 automap=$2
zoo=${AUTOMAP_SHARED:-$source/../shared}/zoo
[ -d "$zoo" ] || { echo "skipped: no $zoo"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
python3 "$source/tests/script/zoo_roles.py" "$automap" "$zoo" --check variables,loss,layers,names
