#!/usr/bin/env bash
# The house rules that a machine can check: curses in one file, no banned calls, exit only in main,
# headers stand alone, every root folder is a known one. house.py has the floors.
set -u
cd "$1" || exit 1
failed=0
complain() { [ -z "$2" ] || { printf '%s\n%s\n' "$1" "$2"; failed=1; }; }

complain 'curses outside tui/screen/term.c:' \
    "$(grep -rlE '#[[:space:]]*include[[:space:]]*<(n?cursesw?/)?(n?curses|term)\.h>' --include='*.[ch]' hlo rl engine tui | grep -v '^tui/screen/term\.c$')"
complain 'includes that do not name their room:' \
    "$(grep -rnE '#[[:space:]]*include[[:space:]]*"[^/"]+"' --include='*.[ch]' hlo rl engine tui)"
complain 'calls with a safer sister:' \
    "$(grep -rnE '(^|[^_.[:alnum:]])(strcpy|strcat|sprintf|vsprintf|gets|atoi|atof|strtok|rand|alloca|system|popen|tmpnam|mktemp)[[:space:]]*\(' --include='*.[ch]' hlo rl engine tui | grep -vE '^[^:]+:[0-9]+:[[:space:]]*(/?\*|//)')"
complain 'exit outside main:' \
    "$(grep -rnE '(^|[^_.[:alnum:]])exit[[:space:]]*\(' --include='*.c' hlo rl engine tui | grep -v '^tui/main\.c' | grep -vE ':[[:space:]]*(/?\*|//)')"
# An error leaves by goto out or return. These may only become fewer.
guards=$(grep -rhE '(^|[^.>A-Za-z_])!rc\b' --include='*.[ch]' hlo rl engine tui | wc -l)
complain 'code that goes on behind `if (!rc)` where an error should leave; at most 430:' \
    "$([ "$guards" -le 430 ] || echo "$guards")"
# clang-format joins a row of more than 100 columns with the next.
complain 'tables in comments whose rows have run together:' \
    "$(grep -rnE '^ \* [^ *].*[^ .] {3,}[^ ]' --include='*.[ch]' hlo rl engine tui)"
complain 'left open:' "$(grep -rnE '\b(TODO|FIXME|XXX)\b' --include='*.[ch]' hlo rl engine tui)"

for header in $(git ls-files 'hlo/*.h' 'rl/*.h' 'engine/*.h' 'tui/*.h' 2>/dev/null); do
    out=$(printf '#include "%s"\n' "$header" |
        ${CC:-cc} -std=c17 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -I. -isystem "$(dirname "$2")" -I/usr/include/cjson -fsyntax-only -x c - 2>&1 |
        grep -m1 'error')
    complain "$header does not stand alone:" "$out"
done

for folder in */; do
    case "$folder" in hlo/|rl/|engine/|tui/|themes/|examples/|tests/|build/) ;; *) complain 'unknown root folder:' "$folder" ;; esac
done
exit $failed
