#!/bin/sh
# Text from files and file names never reaches a terminal or a file raw: every string of a plan and the
# model's own name hold escapes, and no command prints one.
command -v python3 > /dev/null || { echo "skipped: JSON is changed here with python3, its standard library"; exit 77; }
exec python3 - "$1" "$2" << 'P'
import gzip, json, os, re, shutil, subprocess, sys, tempfile

source, automap = sys.argv[1:]
HOSTILE = "\x1b]0;owned\x07\x1b[31m\u202e\u200b\x9b\r\n"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
failed = 0

def run(*words):
    """Runs a command; complains when it crashes or prints what a terminal would obey."""
    global failed
    r = subprocess.run([automap, *words], capture_output=True, timeout=60)
    text = (r.stdout + r.stderr).decode("utf-8", "backslashreplace")
    raw = RAW.search(text)
    if r.returncode < 0 or r.returncode > 4 or raw:
        at = raw.start() if raw else 0
        print(f"{words!r}: exit code {r.returncode}, {text[max(at - 60, 0):at + 60]!r}")
        failed = 1
    return r.returncode

def strings(node, path=()):
    """Paths to all strings, keys left out."""
    if isinstance(node, str):
        yield path
    for key, child in (node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()):
        yield from strings(child, path + (key,))

def value(node, path):
    for key in path:
        node = node[key]
    return node

def replaced(node, path, text):
    if not path:
        return text
    copy = dict(node) if isinstance(node, dict) else list(node)
    copy[path[0]] = replaced(node[path[0]], path[1:], text)
    return copy

with tempfile.TemporaryDirectory() as d:
    os.environ.update(XDG_STATE_HOME=d + "/state", XDG_CONFIG_HOME=d + "/config")
    mlp, cluster = source + "/examples/models/mlp.hlo.txt.gz", source + "/examples/clusters/v100-1x4.yaml"
    named = d + "/a" + HOSTILE + ".hlo.txt.gz"
    shutil.copy(mlp, named)
    plan = d + "/plan.json"
    run("plan", mlp, cluster, "--optimum", "-o", plan)
    for words in (["inspect"], ["inspect", "--json"], ["plan"], ["plan", "--mode", "relaxed"], ["explain", "--optimum", "w:0"],
                  ["search", "--episodes", "20", "--no-journal"], ["search", "--kind", "pp", "--episodes", "20"], ["screen"]):
        run(words[0], named, *words[1:])
    run("inspect", "no such" + HOSTILE)
    run("plan", mlp, "no such" + HOSTILE)
    run("convert", named, d + "/no such/" + HOSTILE + ".pb")
    for kind in ("opp", "pp"):
        whole = plan if kind == "opp" else d + "/pp.json"
        if kind == "pp":
            run("search", mlp, cluster, "--kind", "pp", "--episodes", "20", "--plan", whole)
        tree = json.load(open(whole))
        for path in strings(tree):
            bad = d + "/bad.json"
            for text in (HOSTILE, value(tree, path) + HOSTILE):
                json.dump(replaced(tree, path, text), open(bad, "w"))
                run("plan", mlp, cluster, "--plan", bad)
        bad = replaced(tree, ("found_by",), HOSTILE) if "found_by" in tree else tree
        json.dump(bad, open(d + "/bad.json", "w"))
        for form in ("json", "report", "command", "dot", "jax", "hlo", "hlo-v1", "cluster", "trace"):
            run("export", named, cluster, "--plan", d + "/bad.json", "--format", form)
        run("explain", named, cluster, "--plan", d + "/bad.json", "w:0")

    # plans of the other kinds, operator graphs, instances, traces: every string of each, in turn
    made = {"relaxed": ["plan", mlp, cluster, "--mode", "relaxed", "-o"], "hybrid": ["search", mlp, cluster, "--kind", "hybrid", "--plan"],
            "placed": ["place", mlp, cluster, "--plan"], "split": ["place", mlp, cluster, "-o"]}
    forms = {"relaxed": ("json", "report", "hlo"), "hybrid": ("json", "trace", "stages", "jax"), "placed": ("json", "split", "trace", "jax")}
    trace, measured, compiled = (f"{source}/tests/data/profile/mlp{end}" for end in (".trace.json.gz", ".hlo.txt.gz", "-compiled.hlo.txt.gz"))
    readers = {"split": [["place", mlp, cluster, "--split", "BAD"]], "trace": [["profile", "BAD", measured, "--compiled", compiled]],
               "contest": [["bench", "iopddl", "BAD", "--time", "0.1"]], "graph": [["place", "BAD"], ["place", "BAD", "--json"]]}
    trees = {"trace": json.load(gzip.open(trace)), "contest": json.load(open(source + "/tests/fuzz/iopddl/example.json")),
             "graph": {"maxFPGAs": 2, "maxCPUs": 1, "maxSizePerFPGA": 100, "edges": [{"sourceId": 1, "destId": 2, "cost": 1}],
                       "nodes": [{"id": n, "name": f"node {n}", "supportedOnFpga": 1, "cpuLatency": 2, "fpgaLatency": 1,
                                  "isBackwardNode": 0, "size": 1, "colorClass": n} for n in (1, 2)]}}
    for kind, words in made.items():
        run(*words, f"{d}/{kind}.json")
        trees[kind] = json.load(open(f"{d}/{kind}.json"))
    for kind, tree in trees.items():
        bad = d + "/bad.json"
        uses = readers.get(kind) or [["plan", mlp, cluster, "--plan", "BAD"], ["explain", mlp, cluster, "--plan", "BAD"]]
        paths = list(strings(tree))
        for n, path in enumerate(paths):
            if len(paths) > 40 and n % (len(paths) // 40):
                continue
            for text in (HOSTILE, value(tree, path) + HOSTILE):
                json.dump(replaced(tree, path, text), open(bad, "w"))
                for use in uses:
                    run(*(bad if w == "BAD" else w for w in use))
        for form in forms.get(kind, ()):
            json.dump(replaced(tree, ("found_by",), HOSTILE) if "found_by" in tree else tree, open(bad, "w"))
            run("export", named, cluster, "--plan", bad, "--format", form)

    # an operator graph whose names are hostile is read, shown, and written without them
    for node in trees["graph"]["nodes"]:
        node["name"] = HOSTILE + node["name"]
    graph, placed, split, lp = d + "/graph.json", d + "/graph.plan", d + "/graph.split", d + "/graph.lp"
    json.dump(trees["graph"], open(graph, "w"))
    for words in (["place", graph], ["place", graph, "--json"], ["place", graph, "--why", "1"], ["place", graph, "--lp", lp],
                  ["place", graph, "-o", split], ["place", graph, "--plan", placed], ["screen", graph], ["screen", graph, "--svg"],
                  ["export", graph, "--plan", placed, "--format", "split"], ["explain", graph, "--plan", placed, "2"]):
        if run(*words):
            sys.exit(f"{words!r}: a hostile operator graph was refused")
    run("place", graph, "--pin", HOSTILE + " on A")
    for written in (placed, split, lp):
        if RAW.search(open(written, errors="backslashreplace").read()):
            sys.exit(f"{written} holds what a terminal would obey")

    # models that are not there, and what is offered in place of a word: names of files
    sessions = d + "/state/automap/sessions/"
    os.makedirs(sessions, exist_ok=True)
    for name in ("kept.a", "x" + HOSTILE + ".a", "two\nlines.a", "--force.a"):
        open(sessions + name, "w").close()
    for bench in ("search", "engine", "relaxed", "policy"):
        run("bench", bench, "x" + HOSTILE)
    run("bench", "pipeline", "x" + HOSTILE, mlp)
    for words in (["replay", ""], ["search", "--resume", ""], ["screen", ""]):
        run("manual", "complete", "--", *words)
    offered = subprocess.run([automap, "manual", "complete", "--", "replay", ""], capture_output=True, text=True).stdout.splitlines()
    if not any("kept" in word for word in offered) or any("lines" in word or word[:1] in "-x" for word in offered):
        sys.exit(f"offered as journals: {offered!r}")

    # names, paths and places in a program, through every command that reads one and every exporter
    inside = "a/jvp(layer_0)/\\033]0;owned\\007\\x1b[31m\u202e\u200b\x9b/dot" # escapes of HLO, and what is no control byte, raw
    program = f"""HloModule m\u202e\u200b

ENTRY main {{
  w = f32[8,8] parameter(0), metadata={{op_name="params['{inside}']" source_file="{inside}.py" source_line=3}}
  x = f32[4,8] parameter(1), sharding={{replicated metadata={{op_name="{inside}"}}}}
  d = f32[4,8] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, metadata={{op_type="{inside}" op_name="{inside}" source_file="{inside}"}}, strange="{inside}"
  ROOT c = f32[4,8] custom-call(d), custom_call_target="{inside}", backend_config="{inside}", frontend_attributes={{k="{inside}"}}
}}
"""
    model, plan = d + "/program.hlo", d + "/program.json"
    open(model, "w").write(program)
    run("plan", model, cluster, "-o", plan)
    if not os.path.exists(plan):
        sys.exit("the hostile program was refused")
    for words in (["inspect", "--all", "--groups"], ["inspect", "--json"], ["plan", "--memory"], ["plan", "--mode", "relaxed", "--json"], ["explain", cluster, "d"],
                  ["place"], ["place", "--json"], ["doctor"], ["doctor", "--json"], ["screen", "--keys", "Enter"], ["screen", "--keys", "V g"],
                  ["search", "--episodes", "3", "--no-journal"], ["search", "--kind", "hybrid"]):
        run(words[0], model, *words[1:])
    for source_file, target in (model, d + "/program.mlir"), (d + "/program.mlir", d + "/back.hlo"):
        if run("convert", source_file, target, "--force") or run("inspect", target, "--all"):
            sys.exit(f"{target}: what convert writes is refused")
    for form in ("report", "html", "command", "dot", "jax", "flags", "dtensor", "json", "cluster"):
        run("export", model, cluster, "--plan", plan, "--format", form)

    # strings of clusters, rules of kernels, lists of variables, themes
    for bad, uses in {f'name: "{{}}"\ndevices:\n  "{{}}": {{{{memory: 16 GB, peak: {{{{f32: 10 TFLOP/s}}}}, bandwidth: 900 GB/s, launch: 5 us}}}}\n'
                      'servers:\n  - {{devices: 4, link: {{name: "{}", kind: ring, bandwidth: 100 GB/s, latency: 1 us}}}}\n':
                      [["cluster", "BAD"], ["cluster", "BAD", "--json"], ["plan", mlp, "BAD"], ["screen", mlp, "BAD"]],
                      'kernels:\n  - target: "x{}"\n    dims: "{}"\n': [["plan", mlp, cluster, "--kernels", "BAD"]],
                      '["{}"]': [["inspect", mlp, "--vars", "BAD"]], 'base: default\n"{}": "{}"\n': [["screen", mlp, "--theme", "BAD"]],
                      '{{"{}": 1}}': [["plan", mlp, cluster, "--profile", "BAD"]]}.items():
        for escaped in (HOSTILE, json.dumps(HOSTILE)[1:-1]):
            open(d + "/bad.yaml", "w").write(bad.replace("{{", "\0").replace("}}", "\1").replace("{}", escaped).replace("\0", "{").replace("\1", "}"))
            for use in uses:
                run(*(d + "/bad.yaml" if w == "BAD" else w for w in use))
sys.exit(failed)
P
