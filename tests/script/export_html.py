"""Pages that export --format html writes, read by a parser of HTML: every tag is closed, nothing is fetched, names of the model are
text and no tags, the first sentence and the command stand in it, and what the report says is there.

    export_html.py SOURCE AUTOMAP"""
import html.parser
import json
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE, AUTOMAP = sys.argv[1:3]
DEVICES = ["--devices", "8", "--mesh", "2x4"]
VOID = {"meta"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text, self.links = [], [], {}, []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "srcset")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.text[self.open[-1]] = self.text.get(self.open[-1], "") + data


def run(*command):
    done = subprocess.run([AUTOMAP, *command], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


def page(model, plan):
    text = run("export", model, *DEVICES, "--plan", plan, "--format", "html")
    assert len(text.encode()) <= 2_000_000, len(text)
    assert "http" not in text and "url(" not in text and "@import" not in text
    found = Page()
    found.feed(text)
    found.close()
    assert not found.open, found.open
    assert not found.links and "script" not in found.tags, (found.links, found.tags)
    report = run("export", model, *DEVICES, "--plan", plan, "--format", "report")
    rows = [line for line in report.splitlines() if line.startswith("|") and not line.startswith("|---")]
    assert found.tags.count("tr") == len(rows), (found.tags.count("tr"), len(rows))
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        hostile = os.path.join(folder, "<script>alert(1)<script> & *x*.hlo.txt.gz")
        shutil.copy(os.path.join(SOURCE, "examples/models/t5-tiny.hlo.txt.gz"), hostile)
        for model in (hostile, os.path.join(SOURCE, "examples/models/bert48.hlo.txt.gz")):
            plan = os.path.join(folder, "plan.json")
            run("plan", model, *DEVICES, "--random", "2", "--force", "-o", plan)
            found = page(model, plan)
            with open(plan) as f:
                step = json.load(f)["step_time_ms"]
            assert found.text["p"].startswith("8 devices train ") and "times as fast" in found.text["em"], found.text["p"][:80]
            shown = f"{step:,.1f} ms" if step >= 100 else f"{step:.3g}"
            assert shown in found.text["b"], (step, found.text["b"][:80])
            assert "automap plan" in found.text["pre"] and "--set" in found.text["pre"], found.text["pre"][:200]
            assert "path" in found.tags, "the memory of a step is not drawn"


main()
