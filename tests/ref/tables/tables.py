#!/usr/bin/env python3
"""Tables of engine/MEASUREMENTS.md that come out of plain commands, made again.

    tables.py AUTOMAP [NAME ...]            prints them
    tables.py AUTOMAP --write FILE [NAME ...]   puts each behind its line <!-- table NAME --> in FILE

Run from the root of the repository. All together take some minutes of a processor. The table zoo is
of models that are not in the repository, zoo/PACKAGE/MODEL.*.hlo.gz in the folder AUTOMAP_SHARED; it is made only where
its name is given.
"""
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

MODELS = ["t5-11b", "t5-3b", "t5-base12", "t5-base6", "bert48", "vgg19", "resnet20", "moe",
          "decoder-scan", "t5-tiny", "mlp"]
CLUSTERS = {"A": "a-2x8-v100", "B": "b-3x8-v100", "C": "c-4x8-v100", "8 H100": "h100-1x8",
            "4 x 8 H100": "h100-4x8"}
PIN = ["--set", "decoder/layer_000/cross/q/kernel:0=0"]

automap = None


def model(name):
    return "examples/models/%s.hlo.txt.gz" % name


def cluster(name):
    return "examples/clusters/%s.yaml" % CLUSTERS[name]


def run(*words):
    """What the command prints as JSON; None where it has no plan (exit code 4)."""
    done = subprocess.run([automap, *words, "--json"], capture_output=True, text=True)
    if done.returncode == 4:
        return None
    if done.returncode:
        sys.exit("%s: %s" % (" ".join(words), done.stderr))
    return json.loads(done.stdout)


def ms(value):
    return "%s" % f"{value:,.0f}" if value >= 1000 else "%.4g" % value


def rows(head, lines):
    yield "| %s |" % " | ".join(head)
    yield "|" + "---|" * len(head)
    for line in lines:
        yield "| %s |" % " | ".join(line)


def optimum():
    places = [("A", "16"), ("A", "2x8"), ("C", "4x8"), ("C", "4x4x2"), ("8 H100", "8"),
              ("4 x 8 H100", "4x8")]
    head = ["model"] + ["%s, %s" % p for p in places]
    return rows(head, ([m] + [ms(run("plan", model(m), cluster(c), "--mesh", mesh,
                                     "--optimum")["step_time_ms"]) for c, mesh in places]
                       for m in MODELS))


def reward():
    def one(m, *words):
        plan = run("plan", model(m), "--reward", "paper", "--optimum", "--reduce-at-once", *words)
        sums = [c for c in plan["collectives"] if c["kind"] == "all-reduce"]
        return ("%d, %.1f" % (plan["partitioned"], plan["paper_reward"]),
                "%s, %s" % (f"{sum(c['count'] for c in sums):,}",
                            f"{sum(c['count'] * c['bytes'] for c in sums) / 1e6:,.2f}"))

    def line(name, m, *words, pinned=False):
        free = one(m, *words)
        pin = one(m, *words, *PIN) if pinned else ("", free[1])
        return [name, free[0], pin[0], pin[1]]

    return rows(["model", "free: partitioned, reward", "d_model pinned whole", "all-reduces, MB"], [
        line("t5-base6", "t5-base6", "--devices", "4", pinned=True),
        line("t5-base12", "t5-base12", "--devices", "4", pinned=True),
        line("t5-3b, t5-11b, 16 devices", "t5-11b", "--devices", "16", pinned=True),
        line("vgg19, `rules paper`", "vgg19", "--devices", "4", "--rules", "paper"),
        line("vgg19", "vgg19", "--devices", "4"),
        line("bert48", "bert48", "--devices", "4")])


def limits():
    def one(c, mesh, limit):
        plan = run("plan", model("t5-11b"), cluster(c), "--mesh", mesh, "--memory-limit", limit,
                   "--micro-batches", "auto", "--zero", "auto")
        if not plan:
            return "does not fit"
        gap = plan["gap"]
        return "%d: %s ms, %.1f GB, %s" % (
            plan["micro_batches"], f"{plan['step_time_ms']:,.1f}", plan["memory"]["peak"] / 1e9,
            "proven" if gap < 1e-6 else "gap %.1f %%" % (100 * gap))

    places = [("A", "16", "16 GB"), ("A", "2x8", "16 GB"), ("B", "24", "16 GB"),
              ("B", "3x8", "16 GB"), ("C", "32", "16 GB"), ("C", "4x8", "16 GB"),
              ("8 H100", "8", "80 GB"), ("4 x 8 H100", "4x8", "80 GB")]
    return rows(["cluster, mesh", "within the device's memory less 20 %", "within all of it"],
                (["%s, %s" % (c, mesh), one(c, mesh, "device"), one(c, mesh, whole)]
                 for c, mesh, whole in places))


def kinds():
    names = ["opp", "adp", "opp+adp", "pp", "hybrid", "place"]

    def line(m, c):
        answer = run("search", model(m), cluster(c), "--kind", "all", "--algo", "exact")
        of = {k["kind"]: k for k in answer["kinds"]}
        best = answer["kinds"][0]
        return [m, c] + [ms(of[k]["step_time_ms"]) + ("" if of[k]["fits"] else " (no)")
                         if of.get(k, {}).get("exists") else "-" for k in names] + \
            ["%s: %s" % (best["kind"], best["setting"])]

    return rows(["", ""] + names + ["first"],
                (line(m, c) for m in reversed(MODELS) for c in ("A", "B", "C", "8 H100")))


PP = ["--kind", "pp", "--memory-limit", "none"]
FASTER = ["--set", "devices.*.peak=15 TFLOP/s", "--set", "devices.*.bandwidth=900 GB/s"]


def cuts(devices):
    return " ".join(map(str, devices)) or "none"


PAPER = {("bert48", "B"): "8 16", ("bert48", "C"): "8 16 24", ("t5-3b", "B"): "8 16",
         ("t5-3b", "C"): "8 16 24", ("t5-base12", "B"): "", ("t5-base12", "C"): "8 16 22",
         ("t5-base6", "C"): ""}


def pipelines(more=()):
    def line(m, c):
        words = [model(m), cluster(c), *PP, "--batch", "256", "--micro-batches", "16", *more]
        plan = run("search", *words, "--algo", "exact")
        found = plan["search"]
        return ["%s, %s" % (m, c), PAPER[m, c], cuts(found["candidate_device_cuts"]),
                ms(found["candidate_L_ms"]), ms(plan["optimum_L_ms"]),
                ms(plan["step_time_ms"]), cuts(plan["device_cuts"]),
                " ".join(re.sub(r"(\w)\w*/layer_0*(\d)", r"\1\2", p["layer"])
                         for p in plan["pivots"])]

    return rows(["", "paper, table 7", "best candidate", "its L", "optimum of L",
                 "taken: simulated", "device cuts", "cut in or behind"],
                (line(m, c) for m, c in PAPER))


def pipelines_faster():
    return pipelines(FASTER)


def sensitivity():
    usual = {"--batch": "256", "--micro-batches": "16"}
    cases = [("batch %d" % n, {"--batch": str(n)}) for n in (128, 256, 512, 1024)]
    cases += [("%d micro-batches" % n, {"--micro-batches": str(n)}) for n in (8, 32)]
    cases += [("overlap %s" % x, {"--overlap": x}) for x in ("0.5", "0.8")]
    cases += [("network %d Gbit/s" % n, {"--set": "network.bandwidth=%d Gbit/s" % n})
              for n in (10, 50, 100)]

    def half(m, change):
        def words(these):
            return [w for pair in these.items() for w in pair]
        of = {**usual, **change}
        plan = run("search", model(m), cluster("C"), *PP, *words(of), "--algo", "exact")
        alike = run("search", model(m), cluster("C"), *PP, "--algo", "exact", "--stages", "1",
                    *words({**of, "--micro-batches": "1"}))
        return [cuts(plan["search"]["candidate_device_cuts"]), cuts(plan["device_cuts"]),
                ms(plan["step_time_ms"]), ms(alike["step_time_ms"])]

    return rows(["", "bert48: best candidate", "taken", "ms", "data parallel",
                 "t5-3b: best candidate", "taken", "ms", "data parallel"],
                ([name, *half("bert48", c), *half("t5-3b", c)] for name, c in cases))


def random():
    def line(m):
        answer = run("search", model(m), cluster("8 H100"), "--kind", "all", "--algo", "random",
                     "--no-folding", "--episodes", "100000")
        best, least = answer["step_time_ms"], answer["optimum"]["step_time_ms"]
        return [m, str(answer["moves"]), "%.4g" % best, "%.4g" % least,
                "%.4g" % answer["baseline_ms"], "%.2f %%" % (100 * (best / least - 1))]

    return rows(["", "moves", "best random, ms", "optimum, ms", "all whole, ms", "gap"],
                (line(m) for m in reversed(MODELS)))


def race():
    shown = [1, 20, 50, 100, 500, 2000]

    def lines(m, c):
        answer = run("search", model(m), cluster(c), "--kind", "all", "--algo", "race",
                     "--episodes", "2000")
        runners = {r["algo"]: r for r in answer["runners"]}
        least = min(r["value"] for r in runners.values())
        for n in shown:
            at = answer["evaluations"].index(n) if n in answer["evaluations"] else None
            if at is not None:
                yield ["%s, %s" % (m, c) if n == 1 else "", str(n)] + [
                    "%.3g" % runners[a]["curve"][at] if at < len(runners[a]["curve"])
                    and runners[a]["curve"][at] is not None else "" for a in names]
        yield ["", "plans to the best"] + [
            str(runners[a]["best_evaluation"]) if runners[a]["value"] <= least * (1 + 1e-9)
            else "not in 2000" for a in names]

    names = ["dqn", "random", "greedy", "enumerate", "anneal", "exact", "trws"]
    return rows(["", "plans"] + names,
                (line for m, c in [("t5-tiny", "8 H100"), ("vgg19", "C"), ("t5-11b", "8 H100")]
                 for line in lines(m, c)))


ZOO = {"equinox transformer": "equinox/eqx_transformer", "flax convnet": "flax/linen_convnet",
       "flax ViT": "flax/nnx_vit",
       "flax 12 layers, scan and remat": "flax/linen_scan_remat_12layer",
       "haiku ResNet-50": "haiku/hk_resnet50",
       "haiku transformer, layer stack": "haiku/hk_transformer_layer_stack",
       "HF Flax BERT, 2 layers": "hf-flax/bert_2layer",
       "HF Flax BERT base": "hf-flax/bert_base_pretrain",
       "HF Flax Llama, 2 layers": "hf-flax/llama_2layer",
       "HF Flax T5, 2 layers": "hf-flax/t5_2layer",
       "Keras Hub Gemma, 2 layers": "keras-hub-jax/gemma_2layer",
       "Levanter GPT-2 small": "levanter/gpt2_small", "TensorFlow ResNet-50": "tensorflow/resnet50",
       "torch_xla BERT, 2 layers": "torch_xla/bert_2layer"}


def zoo(more=()):
    """Seeds at the proven optimum within 500 plans, and the median plan that it was."""
    games = [["--kind", "opp"], ["--kind", "opp", "--reward", "paper"], ["--kind", "all"]]
    players = [["--algo", "dqn", *more], ["--algo", "random"]]
    hits = {"dqn": 0, "random": 0}

    def cell(where, game, player, idle):
        [path] = glob.glob("%s/zoo/%s.*.hlo.gz" % (os.environ["AUTOMAP_SHARED"], where))
        # The command that never comes leaves out the comparison with other kinds of plans.
        answer = run("search", path, "--devices", "8", "--mesh", "2x4", *game, *player,
                     "--episodes", "500", "--seeds", "5", "--script", idle)
        hits[player[1]] += answer["at_optimum"]
        found = [r["best_episode"] if r["optimum"]["gap"] < 1e-9 else 501 for r in answer["runs"]]
        median = statistics.median(found)
        return answer["runs"][0]["moves"], "%d (%s)" % (
            answer["at_optimum"], "-" if median > 500 else "%d" % median)

    def line(name, where, idle):
        cells = [cell(where, g, p, idle) for g in games for p in players]
        return [name, "%d, %d" % (cells[0][0], cells[4][0])] + [c[1] for c in cells]

    with tempfile.NamedTemporaryFile("w", suffix=".txt") as idle:
        idle.write("at episode 100000: set learning-rate 0.001\n")
        idle.flush()
        yield from rows(["", "moves", "opp, cost", "random", "opp, paper", "random", "all, cost",
                         "random"], (line(n, w, idle.name) for n, w in ZOO.items()))
    print("%d and %d of %d" % (hits["dqn"], hits["random"], 15 * len(ZOO)), file=sys.stderr)


def zoo_from_nothing():
    return zoo(["--state", "one-hot"])


def relaxed():
    done = subprocess.run([automap, "bench", "relaxed"], capture_output=True, text=True, check=True)
    return ["```"] + done.stdout.rstrip().split("\n") + ["```"]


def engine():
    done = subprocess.run([automap, "bench", "engine"], capture_output=True, text=True)
    return ["```"] + done.stdout.rstrip().split("\n") + ["```"]


TABLES = {f.__name__: f for f in (optimum, reward, limits, kinds, pipelines, pipelines_faster,
                                  sensitivity, random, race, relaxed, engine)}
BY_NAME = {f.__name__: f for f in (zoo, zoo_from_nothing)}


def write(path, name, table):
    text = open(path, encoding="utf-8").read()
    mark = "<!-- table %s -->\n" % name
    before, found, after = text.partition(mark)
    if not found:
        sys.exit("%s has no line %s" % (path, mark.strip()))
    if after.startswith("```"):
        after = after[after.index("\n```\n") + 5:]
    else:
        after = after[re.match(r"(\|.*\n)*", after).end():]
    with open(path, "w", encoding="utf-8") as out:
        out.write(before + mark + table + "\n" + after)


def main():
    global automap
    words = sys.argv[1:]
    if not words:
        sys.exit(__doc__)
    automap = words.pop(0)
    path = None
    if words[:1] == ["--write"]:
        path = words[1]
        words = words[2:]
    for name in words or TABLES:
        table = "\n".join({**TABLES, **BY_NAME}[name]())
        if path:
            write(path, name, table)
        else:
            print("%s\n%s\n" % (name, table), flush=True)


if __name__ == "__main__":
    main()
