"""Pages that export --format html writes, read by a parser of HTML: every tag is closed, nothing is fetched, names of the model are
text and no tags, the first sentence, every section and the command stand in it, and its figures are those of other commands.

    export_html.py SOURCE AUTOMAP"""
import gzip
import html.parser
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

SOURCE, AUTOMAP = sys.argv[1:3]
DEVICES = ["--devices", "8", "--mesh", "2x4"]
VOID = {"meta"}
SECTIONS = {"Where the time goes", "The plan by layer", "What is communicated", "Memory of one device", "What else could be done"}
OF_MODE = {"strict": {"What is split", "Why each group is as it is", "Made again"}, "relaxed": {"What is stored and used", "Why each group is as it is", "Reshards", "Solved again"}}
HOSTILE = "<img src=x onerror=alert(1)>&'`|*_"


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text, self.links, self.rows, self.titles = [], [], {}, [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not any(k.startswith("on") for k, _ in attrs), attrs
        self.links += [v for k, v in attrs if k in ("src", "href", "srcset")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "h2":
            self.titles.append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if not self.open:
            return
        self.text[self.open[-1]] = self.text.get(self.open[-1], "") + data
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data
        if "h2" in self.open:
            self.titles[-1] += data


def run(*command):
    done = subprocess.run([AUTOMAP, *command], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


def page(model, plan, mode):
    text = run("export", model, *DEVICES, "--plan", plan, "--format", "html")
    assert len(text.encode()) <= 2_000_000, len(text)
    assert "http" not in text and "url(" not in text and "@import" not in text
    found = Page()
    found.feed(text)
    found.close()
    assert not found.open, found.open
    assert all(link.startswith("#s") for link in found.links), found.links
    assert not {"script", "img", "iframe", "link", "object"} & set(found.tags), set(found.tags)
    assert SECTIONS | OF_MODE[mode] == set(found.titles), found.titles
    assert len(found.links) == len(found.titles)
    report = run("export", model, *DEVICES, "--plan", plan, "--format", "report")
    rows = [line for line in report.splitlines() if line.startswith("|") and not line.startswith("|---")]
    assert found.tags.count("tr") == len(rows), (found.tags.count("tr"), len(rows))
    return found


def row_of(found, name):
    """Of a plan by one of its names."""
    return next(r for r in found.rows if r and name in r[0].split("; or "))


def step_of(model, *command):
    return json.loads(run("plan", model, *DEVICES, *command, "--json"))["step_time_ms"]


def near(text, ms):
    shown = float(re.match(r"[\d,.]+", text)[0].replace(",", "")) * (1000 if text.endswith(" s") else 1)
    assert abs(shown - ms) <= 0.01 * ms, (text, ms)


def check_figures(found, model, plan):
    """What else could be done: as `plan` makes these."""
    near(row_of(found, "everything on each device")[1], step_of(model))
    with open(plan) as f:
        step = json.load(f)["step_time_ms"]
    best = step_of(model, "--optimum")
    name = "the best that reshards nothing (proven)" if plan.endswith("relaxed.json") else "the best of all strict plans (proven)"
    assert best < step or plan.endswith("relaxed.json"), (best, step)
    near(row_of(found, name)[1], best)
    others = [r for r in found.rows if len(r) == 4 and ("the rest" in r[0] or "on each device" in r[0] or "best" in r[0])]
    told = [part for r in others for part in r[0].split("; or ")]
    assert len(told) > 4 and len(set(told)) == len(told), told
    claim = "the rest the best found" if plan.endswith("relaxed.json") else "the rest at its best (proven)"
    assert all(claim in part for part in told if "the rest" in part), told
    first = 1 + next(k for k, r in enumerate(found.rows) if r and r[0] == "layer")
    parts = [r for r in itertools.takewhile(lambda r: len(r) == 7, found.rows[first:])]
    times = [int(m[1]) if (m := re.search(r"each of (\d+)$", r[0])) else 1 for r in parts]
    computing = sum(n * float(r[2]) for n, r in zip(times, parts))
    with open(plan) as f:
        wanted = json.load(f)["compute_ms"]
    assert len(parts) > 1 and abs(computing - wanted) <= 0.02 * wanted, (computing, wanted)


def hostile_model(folder):
    """t5-tiny whose scopes and source files are markup."""
    with gzip.open(os.path.join(SOURCE, "examples/models/t5-tiny.meta.hlo.txt.gz"), "rt") as f:
        text = f.read()
    assert '"examples/make/t5.py"' in text and "/ffn/" in text
    named = text.replace('"examples/make/t5.py"', f'"{HOSTILE}.py"').replace("/layer_001/", f"/layer_001{HOSTILE}/")
    path = os.path.join(folder, "<script>alert(1)<script> & *x*.hlo.txt")
    with open(path, "w") as f:
        f.write(named)
    return path


def check_reasons(found, model):
    """Why each group of a relaxed plan is as it is: the step with one of it otherwise is what `plan` finds under that decision."""
    first = 1 + next(k for k, r in enumerate(found.rows) if r == ["group", "is", "because", "otherwise"])
    rows = list(itertools.takewhile(lambda r: len(r) == 4 and r[0] != "value", found.rows[first:]))
    turned = [(r, m) for r in rows if (m := re.fullmatch(r"dim (\d+) (split over|whole along) (\w+): (.+)", r[3]))]
    assert len(rows) > 20 and len(turned) > 20, (len(rows), len(turned))
    assert all(re.match("saves|costs|nothing|no plan|no split|can never", r[2]) for r in rows), rows
    tried = [t for t in turned if re.fullmatch(r"embedding|decoder/relative_bias|decoder/norm/scale", t[0][0])]
    assert len(tried) == 3, [r[0] for r in rows]
    for row, m in tried:
        where = m[3] if m[2] == "split over" else "0"
        near(m[4], step_of(model, "--mode", "relaxed", "--set", f"{row[0]}:{m[1]}={where}"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        models = hostile_model(folder), os.path.join(SOURCE, "examples/models/bert48.hlo.txt.gz")
        for model in models:
            for mode, how in ("strict", ["--random", "2"]), ("relaxed", ["--mode", "relaxed", "--sweeps", "3"]):
                if mode == "relaxed" and model == models[1]:
                    continue  # the longest report is a strict one
                plan = os.path.join(folder, f"{mode}.json")
                run("plan", model, *DEVICES, *how, "--force", "-o", plan)
                found = page(model, plan, mode)
                with open(plan) as f:
                    step = json.load(f)["step_time_ms"]
                assert found.text["p"].startswith("8 devices train ") and "times as fast" in found.text["em"], found.text["p"][:80]
                shown = f"{step:,.1f} ms" if step >= 100 else f"{step:.3g}"
                assert shown in found.text["b"], (step, found.text["b"][:80])
                assert "automap plan" in found.text["pre"], found.text["pre"][:200]
                assert ("--set" in found.text["pre"]) == (mode == "strict")
                assert "path" in found.tags, "the memory of a step is not drawn"
                check_figures(found, model, plan)
                if mode == "relaxed":
                    check_reasons(found, model)
                if model == models[0] and mode == "strict":
                    assert "onerror=alert(1)" in found.text["td"], "foreign text is gone"


main()
