#!/usr/bin/env bash
# What `cmake --install` puts on a machine: binary, man page, completions, themes, examples; the man
# page and completions know every command. `uninstall` leaves nothing; the Debian package runs.
set -u
source_dir=$1 automap=$2
build=$(dirname "$automap")
to=$(mktemp -d)
manifest=$build/install_manifest.txt
[ ! -f "$manifest" ] || cp "$manifest" "$to.manifest"
trap 'rm -rf "$to"; [ ! -f "$to.manifest" ] || mv "$to.manifest" "$manifest"' EXIT
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

check cmake --build "$build" --target uninstall
left=$(find "$to" -type f; find "$to/share/automap" 2>/dev/null)
[ -z "$left" ] || { echo "left by uninstall:"; echo "$left"; failed=1; }

# What CPack asks which libraries the binary needs.
if command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null; then
    check cpack --config "$build/CPackConfig.cmake" -B "$to/package"
    check dpkg-deb -x "$to"/package/automap_*.deb "$to/root"
    check env -C / "$to/root/usr/bin/automap" inspect "$to/root/usr/share/automap/examples/models/t5-tiny.hlo.txt.gz"
    check test -s "$to/root/usr/share/man/man1/automap.1"
    depends=$(dpkg-deb -f "$to"/package/automap_*.deb Depends)
    case $depends in *libncursesw6*) ;; *) echo "the package depends on: $depends"; failed=1 ;; esac
fi
exit $failed
