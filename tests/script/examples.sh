#!/bin/sh
# Every shipped model is complete, small, and names no machine; its text has the counts its script wrote down.
# usage: examples.sh SOURCE_DIR AUTOMAP_BINARY
set -eu
cd "$1/examples/models"
failed=0
bad() {
    echo "$*" >&2
    failed=1
}

for expect in *.expect.json; do
    name=${expect%.expect.json}
    for file in "$name.hlo.txt.gz" "$name.meta.hlo.txt.gz" "$name.pb.gz" "$name.vars"; do
        [ -f "$file" ] || { bad "$file: missing"; continue; }
        [ "$(wc -c <"$file")" -le 1048576 ] || bad "$file: more than 1 MB"
    done
    wanted=$(sed -n 's/^  "instructions": \([0-9]*\),$/\1/p' "$expect")
    for file in "$name.hlo.txt.gz" "$name.meta.hlo.txt.gz"; do
        lines=$(gzip -dc "$file" | grep -c '^  [^ ]* = \|^  ROOT ')
        [ "$lines" = "$wanted" ] || bad "$file: $lines instructions, expected $wanted"
    done
    variables=$(sed -n 's/^  "variables": \([0-9]*\),$/\1/p' "$expect")
    [ "$(wc -l <"$name.vars")" = "$variables" ] || bad "$name.vars: expected $variables lines"
done
for file in *.gz ../../tests/data/*/*.gz; do
    if gzip -dc "$file" | grep -aqE '(^|[^a-z.])/(home|root|usr|opt|tmp|Users)/'; then
        bad "$file: names a place on the machine that made it"
    fi
done
exit $failed
