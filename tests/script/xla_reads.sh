#!/bin/sh
# XLA reads the text and the protos we write: every construct of tests/data/grammar, the examples, and the models in
# $AUTOMAP_SHARED/zoo or ../shared/zoo where there are any. Needs jaxlib for python3 or $AUTOMAP_PYTHON; else skipped.
source=$1 automap=$2
python=${AUTOMAP_PYTHON:-python3}
command -v "$python" >/dev/null || { echo "skipped: no $python"; exit 77; }
set -- "$source"/tests/data/grammar/*.hlo "$source"/tests/ref/hlo/opcodes.hlo "$source"/examples/models/*.txt.gz "$source"/tests/data/forms/*.txt.gz \
    "$source"/tests/data/frameworks/*.txt.gz
for file in "${AUTOMAP_SHARED:-$source/../shared}"/zoo/*/*.hlo.gz; do
    [ -f "$file" ] && set -- "$@" "$file"
done
"$python" "$source/tests/script/xla_reads.py" "$automap" "$@"
