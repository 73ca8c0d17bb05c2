"""What is understood of training steps nobody here had seen: variables without a list, the loss, phases, layers, names of groups.

    zoo_roles.py AUTOMAP ZOO [--check WHAT,..] [--all] [MODEL ...]

ZOO is a folder of FRAMEWORK/NAME.*.hlo.gz with NAME.vars.txt (parameter number, name, shape of each trainable variable).
Prints a line a model and a table by framework. --check: exit 1 when a model misses what is wanted: of variables, loss, layers, names. Standard library only."""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

COVERED = 0.9  # of the FLOP of forward and backward pass that layers have to hold
# Models without repeated or numbered modules: nothing to find, or not in the flow.
NO_LAYERS = {"fnet", "moe_scatter_dispatch", "flash_scan_attention", "odd_ops", "vae_threefry", "deq_while_custom_vjp", "cond_switch",
             "gspmd_mlp", "shard_map_mlp", "wgan_gp_swapped_outputs", "lstm", "sparse_codes", "transport", "equilibrium", "word_vectors",
             "solver_update", "gaussian_process"}
RAW = re.compile(r"#\d|^p\d+(\.|_|$)|^(param|arg|Arg|parameter|state|args?)[ _.]?#?\d*(,| \d|$)")


def run(automap, *words):
    done = subprocess.run([automap, *words], capture_output=True, text=True, timeout=600)
    return done.stdout if done.returncode == 0 else None


def measure(automap, path):
    """One model: a dict of figures."""
    name = path.name.split(".")[0]
    truth = {int(line.split("\t")[0]) for line in path.with_name(name + ".vars.txt").read_text().splitlines()
             if line and line[0] != "#"}
    text = run(automap, "inspect", "--json", "--groups", str(path))
    if not text:
        return {"name": name, "framework": path.parent.name, "opened": False}
    got = json.loads(text)
    found = {v["parameter"] for v in got["variables"]}
    doubtful = {p["parameter"] for role in ("variables", "inputs", "optimizer_state", "hyper_parameters", "other_state")
                for p in got.get(role, ()) if p.get("confidence") == "doubtful"}
    groups = got.get("groups", [])
    return {
        "name": name, "framework": path.parent.name, "opened": True, "wanted": len(truth), "found": len(found),
        "right": len(truth & found), "missed": sorted(truth - found), "wrong": sorted(found - truth),
        "silent": sorted((truth ^ found) - doubtful), "loss": (got.get("loss") or {}).get("name"),
        "phases": got["phases"], "layers": len(got["layers"]), "coverage": got.get("layer_coverage"),
        "layer_names": [layer["name"] for layer in got["layers"]],
        "groups": len(groups), "raw": [g for g in groups if RAW.search(g)], "kind": got["kind"]}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("automap")
    parser.add_argument("zoo", type=pathlib.Path)
    parser.add_argument("--check", default="", metavar="WHAT,..")
    parser.add_argument("--all", action="store_true", help="every name")
    parser.add_argument("models", nargs="*")
    a = parser.parse_args()
    unknown = set(filter(None, a.check.split(","))) - {"variables", "loss", "layers", "names"}
    if unknown:
        parser.error(f"nothing called {', '.join(unknown)} to check")
    rows = [measure(a.automap, p) for p in sorted(a.zoo.glob("*/*.hlo.gz")) if not a.models or p.name.split(".")[0] in a.models]
    total = collections.Counter()
    by = collections.defaultdict(collections.Counter)
    bad = []
    for r in rows:
        if not r["opened"]:
            print(f"{r['framework']}/{r['name']}: not opened")
            bad.append(r["name"])
            continue
        has_layers = r["name"] not in NO_LAYERS
        exact = not r["missed"] and not r["wrong"]
        covered = not has_layers or (r["coverage"] or 0) >= COVERED
        for t in (total, by[r["framework"]]):
            t["models"] += 1
            t["wanted"] += r["wanted"]
            t["found"] += r["found"]
            t["right"] += r["right"]
            t["exact"] += exact
            t["said"] += not r["silent"]
            t["loss"] += r["loss"] is not None
            t["with layers"] += has_layers
            t["covered"] += has_layers and covered
            t["plain names"] += not r["raw"]
        print(f"{r['framework']}/{r['name']:28} variables {r['right']}/{r['wanted']}, {r['found'] - r['right']} wrong"
              f"  loss {r['loss']}  layers {r['layers']} cover {100 * (r['coverage'] or 0):.0f} %"
              f"  {'/'.join(str(v) for v in r['phases'].values())}  raw {len(r['raw'])}/{r['groups']}  {r['kind']}")
        if r["missed"] or r["wrong"]:
            print(f"    missed {r['missed'][:12]}, wrong {r['wrong'][:12]}, not said to be doubtful {r['silent'][:12]}")
        if a.all:
            print("    layers:", ", ".join(r["layer_names"]))
            print("    raw:   ", "; ".join(r["raw"]))
        misses = {"variables": r["silent"] and r["kind"] == "whole", "loss": r["loss"] is None, "layers": not covered,
                  "names": r["raw"]}
        if any(misses[what] for what in (a.check.split(",") if a.check else misses)):
            bad.append(r["name"])
    print(f"\n{'framework':16}{'models':>7}{'precision':>11}{'recall':>8}{'exact':>7}{'said':>6}{'loss':>6}{'covered':>9}{'plain names':>13}")
    for name, t in [*sorted(by.items()), ("all", total)]:
        print(f"{name:16}{t['models']:7}{t['right'] / max(t['found'], 1):11.3f}{t['right'] / max(t['wanted'], 1):8.3f}{t['exact']:7}"
              f"{t['said']:6}{t['loss']:6}{t['covered']:6}/{t['with layers']:<2}{t['plain names']:13}")
    if bad:
        print("\nmiss:", " ".join(bad))
    sys.exit(1 if a.check and bad else 0)


main()
