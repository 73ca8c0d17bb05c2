#!/bin/sh
# Allocations fail, one alone or one and all later: every command then says so and leaves with another
# code than 0, or gives the answer it always gives; it never crashes, and never writes half a file.
# AUTOMAP_FAULTS=N tries N places a command in place of 6, AUTOMAP_FAULTS=all every one;
# AUTOMAP_COMMAND=WORD only the commands that begin with it.
library=$(dirname "$2")/tests/out_of_memory.so
[ -f "$library" ] || { echo "skipped: $library was not built"; exit 77; }
if grep -q __asan_init "$2" || grep -q __tsan_init "$2"; then
    echo "skipped: sanitizers have their own allocator"
    exit 77
fi
exec python3 - "$1" "$2" "$library" << 'P'
import os, re, resource, subprocess, sys, tempfile

source, automap, library = sys.argv[1:]
asked, only = os.environ.get("AUTOMAP_FAULTS", "6"), os.environ.get("AUTOMAP_COMMAND", "")
mlp, tiny = (f"{source}/examples/models/{name}.hlo.txt.gz" for name in ("mlp", "t5-tiny"))
loops = source + "/tests/fuzz/end_to_end/loops.hlo"
cluster, data = source + "/examples/clusters/v100-1x4.yaml", source + "/tests/data"
failed = 0

# Seconds differ from run to run.
def settled(text):
    return re.sub(rb'("(decision_)?(seconds(_to_best)?|per_second|mean|spread|least|most)":\s*)[-0-9.e+]+|[0-9.,]+ (s|ms|us) +[0-9]+ (episodes|priced|points)|(after|in) [0-9.]+ s|"timestamp": [0-9]+'
                  rb'|[0-9]+[.][0-9]{3} +[0-9]+[.][0-9]{3}(?= +[0-9]+ +[0-9]+\n)', b"", text) # of a race: seconds, and to its best

with tempfile.TemporaryDirectory() as d:
    env = dict(os.environ, XDG_STATE_HOME=d + "/state", XDG_CONFIG_HOME=d + "/config", OPENBLAS_NUM_THREADS="1")
    plan, relaxed, stages, hybrid, placed, journal, split, out = (d + "/" + name for name in (
        "plan.json", "relaxed.json", "stages.json", "hybrid.json", "placed.json", "journal", "split.json", "out"))
    search = ["search", mlp, cluster, "--quiet", "--no-journal", "--episodes", "4"]
    def make(*words):
        subprocess.run([automap, *words], env=env, capture_output=True, check=True)
    make("plan", mlp, cluster, "--optimum", "-o", plan)
    make("plan", mlp, cluster, "--mode", "relaxed", "-o", relaxed)
    make("search", mlp, cluster, "--kind", "pp", "--episodes", "20", "--plan", stages)
    make("search", mlp, cluster, "--kind", "hybrid", "--plan", hybrid)
    make("search", mlp, cluster, "--quiet", "--episodes", "4", "--journal", journal)
    make("place", mlp, cluster, "--plan", placed, "-o", split)
    measured, profile, times = data + "/profile/mlp.hlo.txt.gz", d + "/profile.json", d + "/times.csv"
    make("profile", data + "/profile/mlp.trace.json.gz", measured, "--compiled", data + "/profile/mlp-compiled.hlo.txt.gz", "-o", profile)
    with open(times, "w") as f:
        f.write("all-reduce,1e6,0.1\nall-reduce,1e8,2\n")
    large = d + "/large.hlo" # read by two threads, its costs found beside its roles
    with open(large, "w") as f:
        f.write("HloModule large\nENTRY e {\n  v0 = f32[64]{0} parameter(0)\n")
        f.writelines(f'  v{n} = f32[64]{{0}} negate(v{n - 1}), metadata={{op_name="jit(f)/layer_{n // 100}/neg" source_line={n}}}\n' for n in range(1, 14000))
        f.write("  ROOT r = f32[64]{0} negate(v13999)\n}\n")
    contest = source + "/tests/fuzz/iopddl/example.json"
    commands = [
        ["inspect", mlp], ["inspect", tiny, "--json"], ["inspect", source + "/examples/models/mlp.pb.gz"], ["cluster", cluster],
        *(["convert", mlp, out + end] for end in (".pb", ".json", ".txt.gz", ".mlir")),
        ["plan", mlp, cluster], ["plan", mlp, cluster, "--optimum", "--memory"], ["plan", mlp, cluster, "--mode", "relaxed"],
        ["plan", tiny, cluster, "--mode", "relaxed"], ["plan", mlp, cluster, "--memory-limit", "device", "--micro-batches", "auto"],
        ["plan", mlp, cluster, "--optimum", "--stability"], ["plan", mlp, cluster, "--recompute", "auto"],
        ["plan", mlp, cluster, "--optimum", "-o", out], ["plan", mlp, cluster, "--plan", plan, "--json"],
        ["explain", mlp, cluster, "--optimum", "layer_0/kernel:1"], ["explain", mlp, cluster, "--plan", hybrid],
        *(["export", mlp, cluster, "--plan", plan, "--format", form] for form in (
            "json", "hlo", "hlo-v1", "jax", "report", "html", "dot", "command", "cluster", "flags", "dtensor", "stablehlo")),
        *(["export", mlp, cluster, "--plan", relaxed, "--format", form] for form in ("json", "hlo", "report", "stablehlo")),
        ["export", mlp, cluster, "--plan", stages, "--format", "trace"], ["export", mlp, cluster, "--plan", hybrid, "--format", "json"],
        ["export", mlp, cluster, "--plan", plan, "--format", "hlo", "-o", out],
        [*search, "--json"], [*search, "--algo", "enumerate", "--plan", out], [*search, "--algo", "exact"], [*search, "--algo", "race"],
        [*search, "--mode", "relaxed"], [*search, "--kind", "pp", "--algo", "exact"], ["search", mlp, cluster, "--quiet", "--no-journal", "--kind", "hybrid", "--plan", out],
        [*search, "--kind", "all", "--json"], [*search, "--seeds", "2", "--json"], ["replay", journal, "--json"],
        ["plan", loops, cluster, "--set", "p:0=1"], ["infer", mlp, cluster], ["place", mlp, cluster], ["place", mlp, cluster, "--algo", "dpl", "--plan", out],
        ["doctor", data + "/doctor/while_carry.cpu_after_optimizations.txt.gz"],
        ["profile", data + "/profile/mlp.trace.json.gz", data + "/profile/mlp-compiled.hlo.txt.gz"],
        ["profile", data + "/profile/mlp.trace.json.gz", measured, "--compiled", data + "/profile/mlp-compiled.hlo.txt.gz", "-o", out],
        ["calibrate", source + "/tests/ref/calibrate/cpu.yaml", measured, profile], ["calibrate", cluster, "--collectives", times, "-o", out],
        ["doctor", data + "/doctor/while_carry.cpu_after_optimizations.txt.gz", "--json"],
        ["pretrain", "opp", mlp, "--rounds", "1", "-o", out], ["pretrain", "pp", "--environments", "8", "-o", out],
        ["inspect", large], ["inspect", large, "--json"], ["convert", large, out + ".txt"], ["cast", journal, "-o", out],
        ["tour"],
        ["bench", "iopddl", contest, "--time", "1"], ["inspect", mlp, "--json", "--groups"], ["cluster", cluster, "--explain", "all-reduce"],
        ["plan", mlp, cluster, "--plan", placed], ["plan", mlp, cluster, "--plan", hybrid, "--json"], ["plan", mlp, cluster, "--plan", stages, "--hybrid", "-o", out],
        *(["export", mlp, cluster, "--plan", placed, "--format", form] for form in ("json", "split", "jax", "trace")),
        *(["export", mlp, cluster, "--plan", hybrid, "--format", form] for form in ("trace", "stages", "jax")),
        ["explain", mlp, cluster, "--plan", placed], ["place", mlp, cluster, "--algo", "race", "--moves", "20", "--json"], ["place", mlp, cluster, "--pipeline", out],
        ["place", mlp, cluster, "--lp", out], ["search", mlp, cluster, "--kind", "hybrid", "--algo", "race", "--quiet", "--no-journal", "--episodes", "4"],
        ["screen", mlp, cluster, "--keys", "j j w"], ["screen", mlp, cluster, "--keys", "V h"], ["screen", mlp, cluster, "--svg", "--keys", "V d"], ["screen", mlp, cluster, "--keys", "V p", "--plan", plan], ["pretrain", "show", source + "/examples/networks/pipeline.net"], ["teach", "bandit", "--decisions", "50"],
    ]
    for words in [c for c in commands if c[0].startswith(only)]:
        written = next((w for w in words if w.startswith(out)), None)
        def run(**more):
            if written and os.path.exists(written):
                os.unlink(written)
            r = subprocess.run([automap, *words], env=dict(env, LD_PRELOAD=library, **more), capture_output=True, timeout=120)
            file = open(written, "rb").read() if written and os.path.exists(written) else None
            return r, file
        whole, whole_file = run(FAIL_COUNT_TO=d + "/count")
        count = int(open(d + "/count").read())
        if whole.returncode or count < 4 or (written and not whole_file):
            print(f"{words}: exit code {whole.returncode} after {count} allocations: {whole.stderr[-200:]}")
            failed = 1
        places = count if asked == "all" else int(asked)
        for n in range(places):
            at = n + 1 if asked == "all" else 1 + (count * (2 * n + 1)) // (2 * places)
            for once in ({}, {"FAIL_ONCE": "1"}):
                r, file = run(FAIL_FROM=str(at), **once)
                said = r.stderr.strip()
                if r.returncode == 0:
                    fine = settled(r.stdout) == settled(whole.stdout) and (file and settled(file)) == (whole_file and settled(whole_file))
                elif r.returncode in (1, 2, 3, 4) or r.returncode == -6:
                    fine = said and (file is None or settled(file) == settled(whole_file))
                else:
                    fine = False
                if not fine:
                    print(f"{words}, allocation {at} of {count}, {once}: exit code {r.returncode}, said {said[:200]}")
                    failed = 1
    # An address space without room for the buffer of OpenBLAS's products, which it asks for without end, and with it.
    for words in (["search", mlp, cluster, "--no-journal", "--episodes", "5"], ["place", mlp, cluster, "--algo", "dqn"],
                  ["search", mlp, cluster, "--no-journal", "--kind", "hybrid", "--algo", "dqn", "--episodes", "5"]):
        for room, expected in ((100 << 20, 2), (1 << 30, 0)):
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (room, room))
            try:
                r = subprocess.run([automap, *words], env=env, capture_output=True, timeout=60, preexec_fn=limit)
            except subprocess.TimeoutExpired:
                print(f"{words} in {room >> 20} MB: no end after 60 s")
                failed = 1
                continue
            if r.returncode != expected or (expected and b"out of memory" not in r.stderr):
                print(f"{words} in {room >> 20} MB: exit code {r.returncode}, expected {expected}: {r.stderr[-200:]}")
                failed = 1
    left = [f for f in os.listdir(d) if ".part" in f or f.startswith(".")]
    if left:
        print(f"left behind: {left}")
        failed = 1
sys.exit(failed)
P
