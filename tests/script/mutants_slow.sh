#!/bin/sh
# A broken learner fails a test: each patch of mutants.txt is applied to a copy of its file, which is linked in front of
# the libraries with the tests it names; a patch that all of them pass has survived. Arguments: SOURCE_DIR AUTOMAP [WORD],
# the last to try the patches of files with it in their name alone.
command -v python3 > /dev/null || { echo "skipped: the patches are applied with python3, its standard library"; exit 77; }
for need in cmocka libcjson openblas; do
    pkg-config --exists $need || { echo "skipped: no $need by pkg-config"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 - "$1" "$(dirname "$2")" "$dir" "${3:-}" << 'P'
import os, subprocess, sys
source, build, scratch, only = sys.argv[1:]
def words(*names): return subprocess.run(["pkg-config", *names], capture_output=True, text=True, check=True).stdout.split()
libraries = [f"{build}/{r}/libautomap_{r}.a" for r in ("tui", "engine", "hlo", "rl")]
if not all(map(os.path.exists, libraries)):
    sys.exit(77)
names = [n for n in ("cmocka", "libcjson", "openblas", "yaml-0.1", "libprotobuf-c", "zlib", "ncursesw")]
flags = ["-std=c17", "-O1", "-ffp-contract=off", "-w", "-D_DEFAULT_SOURCE", "-D_POSIX_C_SOURCE=200809L", "-I" + source,
         *words("--cflags", *names)]
after = [*libraries, *words("--libs", *names), "-lpthread", "-lm"]
patches, block = [], None
for line in open(f"{source}/tests/script/mutants.txt").read().split("\n"):
    if not line or line[0] == "#": continue
    if line[0] in "+-": block[2 if line[0] == "-" else 3].append(line[1:])
    else:
        file, *tests = line.split()
        block = (file, tests, [], [])
        patches.append(block)
survivors = tried = 0
for file, tests, old, new in patches:
    if only not in file: continue
    tried += 1
    text, was, now = open(f"{source}/{file}").read(), "\n".join(old), "\n".join(new)
    if text.count(was) != 1:
        print(f"stale: {file} has {text.count(was)} times: {was.strip()}"); survivors += 1; continue
    path = f"{scratch}/mutant.c"
    open(path, "w").write(text.replace(was, now))
    subprocess.run(["cc", *flags, "-c", path, "-o", f"{scratch}/mutant.o"], check=True)
    caught = False
    for test in tests:
        object = f"{build}/tests/CMakeFiles/test_{test}.dir/unit/{test}.c.o"
        subprocess.run(["cc", object, f"{scratch}/mutant.o", *after, "-o", f"{scratch}/test"], check=True)
        try: code = subprocess.run([f"{scratch}/test"], cwd=source, capture_output=True, timeout=60).returncode
        except subprocess.TimeoutExpired: code = 1
        caught = caught or code != 0
        if caught: break
    if not caught:
        survivors += 1
        print(f"survives {' '.join(tests)}: {file}: {now.strip()}", flush=True)
print(f"{tried} patches, {survivors} survivors")
sys.exit(survivors != 0)
P
