#!/bin/sh
# Text from files and file names never reaches a terminal or a file raw: every string of a plan and the
# model's own name hold escapes, and no command prints one.
command -v python3 > /dev/null || { echo "skipped: JSON is changed here with python3, its standard library"; exit 77; }
exec python3 - "$1" "$2" << 'P'
import json, os, re, shutil, subprocess, sys, tempfile

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
sys.exit(failed)
P
