#!/usr/bin/env bash
# What `cmake --install` puts on a machine: binary, man page, completions, themes, examples; and the
# man page and completions know every command.
set -u
source_dir=$1 automap=$2
build=$(dirname "$automap")
to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
failed=0
check() { "$@" >/dev/null 2>&1 || { echo "failed: $*"; failed=1; }; }

check cmake --install "$build" --prefix "$to"
check test -x "$to/bin/automap"
check test -s "$to/share/man/man1/automap.1"
check test -s "$to/share/bash-completion/completions/automap"
check test -s "$to/share/zsh/site-functions/_automap"
check test -s "$to/share/fish/vendor_completions.d/automap.fish"
check test -s "$to/share/automap/themes/default.yaml"
check test -s "$to/share/automap/examples/models/t5-tiny.hlo.txt.gz"
check test -s "$to/share/automap/examples/clusters/v100-1x4.yaml"
check "$to/bin/automap" inspect "$to/share/automap/examples/models/t5-tiny.hlo.txt.gz"

for command in $("$automap" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
    [ "$command" = manual ] || check grep -q "^\.SS $command$" "$to/share/man/man1/automap.1"
    check grep -q "^$command	" <("$to/bin/automap" manual complete -- "$command")
done
check bash -n "$to/share/bash-completion/completions/automap"
if command -v groff >/dev/null; then
    complaints=$(groff -man -ww -Tutf8 "$to/share/man/man1/automap.1" 2>&1 >/dev/null)
    [ -z "$complaints" ] || { echo "$complaints"; failed=1; }
fi
exit $failed
