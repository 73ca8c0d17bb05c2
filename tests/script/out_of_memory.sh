#!/bin/sh
# Allocations fail, one alone or one and all later: each command then says so and leaves with another
# code than 0, or gives the answer it always gives; it never crashes, and never writes half a file.
# AUTOMAP_FAULTS=N tries N places a command in place of 10.
command -v python3 > /dev/null || { echo "skipped: needs python3, its standard library"; exit 77; }
library=$(dirname "$2")/tests/out_of_memory.so
[ -f "$library" ] || { echo "skipped: $library was not built"; exit 77; }
if grep -q __asan_init "$2" || grep -q __tsan_init "$2"; then
    echo "skipped: sanitizers have their own allocator"
    exit 77
fi
exec python3 - "$1" "$2" "$library" << 'P'
import os, re, subprocess, sys, tempfile

source, automap, library = sys.argv[1:]
places = int(os.environ.get("AUTOMAP_FAULTS", 10))
mlp, tiny = (f"{source}/examples/models/{name}.hlo.txt.gz" for name in ("mlp", "t5-tiny"))
cluster = source + "/examples/clusters/v100-1x4.yaml"
failed = 0

with tempfile.TemporaryDirectory() as d:
    env = dict(os.environ, XDG_STATE_HOME=d + "/state", XDG_CONFIG_HOME=d + "/config", OPENBLAS_NUM_THREADS="1")
    plan, stages = d + "/plan.json", d + "/stages.json"
    subprocess.run([automap, "plan", mlp, cluster, "--optimum", "-o", plan], env=env, capture_output=True, check=True)
    subprocess.run([automap, "search", mlp, cluster, "--kind", "pp", "--episodes", "20", "--plan", stages], env=env,
                   capture_output=True, check=True)
    given = ["--plan", plan]
    commands = [
        ["inspect", mlp], ["inspect", tiny, "--json"], ["inspect", source + "/examples/models/mlp.pb.gz"], ["cluster", cluster],
        ["convert", mlp, d + "/out.pb"], ["convert", mlp, d + "/out.json"], ["convert", mlp, d + "/out.txt.gz"],
        ["plan", mlp, cluster], ["plan", mlp, cluster, "--optimum", "--memory"], ["plan", mlp, cluster, "--mode", "relaxed"],
        ["plan", tiny, cluster, "--mode", "relaxed"], ["plan", mlp, cluster, "--memory-limit", "device", "--micro-batches", "auto"],
        ["plan", mlp, cluster, *given, "--json"], ["explain", mlp, cluster, "--optimum", "layer_0/kernel:1"],
        *(["export", mlp, cluster, *given, "--format", form] for form in ("hlo", "jax", "report", "dot")),
        ["export", mlp, cluster, "--plan", stages, "--format", "trace"], ["teach", "bandit", "--decisions", "50"],
    ]
    for words in commands:
        written = words[2] if words[0] == "convert" else None
        def run(**more):
            if written and os.path.exists(written):
                os.unlink(written)
            r = subprocess.run([automap, *words], env=dict(env, LD_PRELOAD=library, **more), capture_output=True, timeout=120)
            file = open(written, "rb").read() if written and os.path.exists(written) else None
            return r, file
        whole, whole_file = run(FAIL_COUNT_TO=d + "/count")
        count = int(open(d + "/count").read())
        if whole.returncode or count < 50:
            print(f"{words}: exit code {whole.returncode} after {count} allocations")
            failed = 1
        for n in range(places):
            at = 1 + (count * (2 * n + 1)) // (2 * places)
            for once in ({}, {"FAIL_ONCE": "1"}):
                r, file = run(FAIL_FROM=str(at), **once)
                said = r.stderr.strip()
                if r.returncode == 0:
                    fine = r.stdout == whole.stdout and file == whole_file
                elif r.returncode in (1, 2, 3, 4) or r.returncode == -6:
                    fine = said and file in (None, whole_file)
                else:
                    fine = False
                if not fine:
                    print(f"{words}, allocation {at} of {count}, {once}: exit code {r.returncode}, said {said[:200]}")
                    failed = 1
sys.exit(failed)
P
