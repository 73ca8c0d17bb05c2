#!/bin/sh
# A broken learner fails a test: each patch of mutants.txt is applied to a copy of its file, which is linked in front of
# the libraries with the tests it names; a patch that all of them pass has survived. Arguments: SOURCE_DIR AUTOMAP [WORD],
# the last to try the patches of files with it in their name alone. Tests have so much processor time, however busy the
# machine is: a patch that makes one run on is caught, as is one that makes it wait 20 times as long.
command -v python3 > /dev/null || { echo "skipped: the patches are applied with python3, its standard library"; exit 77; }
for need in cmocka libcjson openblas; do
    pkg-config --exists $need || { echo "skipped: no $need by pkg-config"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 - "$1" "$(dirname "$2")" "$dir" "${3:-}" << 'P'
import os, re, resource, shutil, subprocess, sys
SECONDS = 120
source, build, scratch, only = sys.argv[1:]
def words(*names): return subprocess.run(["pkg-config", *names], capture_output=True, text=True, check=True).stdout.split()
libraries = [f"{build}/{r}/libautomap_{r}.a" for r in ("tui", "engine", "hlo", "rl")]
if not all(map(os.path.exists, libraries)):
    sys.exit(77)
names = [n for n in ("cmocka", "libcjson", "openblas", "yaml-0.1", "libprotobuf-c", "zlib", "ncursesw")]
flags = ["-std=c17", "-O1", "-ffp-contract=off", "-w", "-D_DEFAULT_SOURCE", "-D_POSIX_C_SOURCE=200809L", "-I" + source,
         *words("--cflags", *names)]
link = ["-fuse-ld=mold"] if shutil.which("mold") else []
after = [*link, f"{scratch}/only.o", *libraries, *words("--libs", *names), "-lpthread", "-lm"]
open(f"{scratch}/only.c", "w").write("""#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
__attribute__((constructor)) static void only(void) { if (getenv("ONLY")) cmocka_set_test_filter(getenv("ONLY")); }
""")
subprocess.run(["cc", *flags, "-c", f"{scratch}/only.c", "-o", f"{scratch}/only.o"], check=True)
def limit(): resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
def fails(test):
    """The name of a test function that fails with the patch, or how the program ended; None: all pass."""
    suite, _, only = test.partition(":")
    object = f"{build}/tests/CMakeFiles/test_{suite}.dir/unit/{suite}.c.o"
    if not os.path.exists(object): sys.exit(f"test_{suite} is not built")
    subprocess.run(["cc", object, f"{scratch}/mutant.o", *after, "-o", f"{scratch}/test"], check=True)
    environment = {**os.environ, **({"ONLY": only} if only else {})}
    try:
        run = subprocess.run([f"{scratch}/test"], cwd=source, capture_output=True, env=environment, preexec_fn=limit,
                             timeout=20 * SECONDS)
    except subprocess.TimeoutExpired:
        return f"{suite} (waits)"
    said = run.stdout + run.stderr
    failed = re.findall(rb"\[  FAILED  \] (\w+)", said)
    return None if run.returncode == 0 else f"{suite}:{failed[0].decode()}" if failed else f"{suite} (code {run.returncode})"
def fails_as_program(test):
    """The same of automap itself with the patch: golden:NAME is a screen, place:WORDS the lines of place.sh with these
    words, _ for a blank."""
    kind, _, words = test.partition(":")
    program = f"{scratch}/automap"
    subprocess.run(["cc", f"{build}/tui/CMakeFiles/automap.dir/main.c.o", f"{scratch}/mutant.o", *after, "-o", program], check=True)
    environment = {**os.environ, "AUTOMAP_DATA_DIR": source, "LC_ALL": "C.UTF-8", "OPENBLAS_CORETYPE": "Haswell",
                   "XDG_STATE_HOME": scratch, "source_dir": source, "ONLY": words.replace("_", " ")}
    said, wanted = "", ""
    if kind == "golden":
        first, _, wanted = open(f"{source}/tests/golden/{words}.txt").read().partition("\n")
        call = ["bash", "-c", program + first.removeprefix("automap")]
    else:
        call = ["bash", f"{source}/tests/script/place.sh", source, program]
    try:
        run = subprocess.run(call, cwd=source, capture_output=True, env=environment, preexec_fn=limit, timeout=20 * SECONDS)
        said = run.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return f"{test} (waits)"
    return f"{test}" if run.returncode or kind == "golden" and said != wanted else None
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
    if subprocess.run(["cc", *flags, "-c", path, "-o", f"{scratch}/mutant.o"]).returncode:
        print(f"does not compile: {file}: {now.strip()}"); survivors += 1; continue
    began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    by = next(filter(None, (fails_as_program(t) if t.startswith(("golden:", "place:")) else fails(t) for t in tests)), None)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began
    survivors += not by
    print(f"caught by {by}" if by else f"survives {' '.join(tests)}", f"{spent:.1f} s: {file}: {' / '.join(l.strip() for l in new)}", flush=True)
print(f"{tried} patches, {survivors} survivors")
sys.exit(survivors != 0)
P
