#!/bin/sh
# A running search killed (-9) 1,000 times, AUTOMAP_KILLS otherwise: of its journal nothing is lost but
# the last second, by the file's own time; it replays, every best plan on the way being the one it holds;
# and one in eight goes on to the end of a search that nobody killed, bit for bit.
command -v python3 > /dev/null || { echo "skipped: needs python3, its standard library"; exit 77; }
exec python3 - "$1" "$2" << 'P'
import json, os, random, signal, subprocess, sys, tempfile, time

source, automap = sys.argv[1:]
kills = int(os.environ.get("AUTOMAP_KILLS", 1000))
model = source + "/examples/models/mlp.hlo.txt.gz"
lines = ["40 pin #0:0=0", "at episode 30: undo", "at episode 60: backtrack @1", "900 set learning-rate 0.0002",
         "at episode 90: cluster servers.*.link.bandwidth=20 GB/s", "at episode 140: mesh 2x2", "at episode 200: undo"]
EPISODES = 1500
dice = random.Random(7)
tally = dict(killed=0, begun=0, replayed=0, resumed=0)
oldest = 0.0

def timeless(text):
    return [line for line in text.splitlines() if "seconds" not in line]

with tempfile.TemporaryDirectory() as d:
    script, journal = d + "/script", d + "/j"
    open(script, "w").write("\n".join(lines) + "\n")
    search = [automap, "search", model, "--seed", "4", "--script", script, "--quiet", "--json"]
    def run(*words):
        r = subprocess.run(words, capture_output=True, text=True)
        if r.returncode:
            sys.exit(f"{words}: exit code {r.returncode}: {r.stderr[-300:]}")
        return r.stdout
    whole = timeless(run(*search, "--episodes", str(EPISODES), "--no-journal"))
    for n in range(kills):
        for name in (journal, journal + ".checkpoint"):
            if os.path.exists(name):
                os.unlink(name)
        p = subprocess.Popen([*search, "--episodes", "100000000", "--journal", journal], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0.01, 0.4) if n % 10 else dice.uniform(1, 3.5))
        if p.poll() is not None:
            sys.exit(f"kill {n}: the search had ended by itself, exit code {p.returncode}")
        p.send_signal(signal.SIGKILL)
        p.wait()
        killed = time.time()
        tally["killed"] += 1
        text = open(journal).read() if os.path.exists(journal) else ""
        if " c 0 run\n" not in text:
            continue
        tally["begun"] += 1
        age = killed - os.stat(journal).st_mtime
        oldest = max(oldest, age)
        r = subprocess.run([automap, "replay", journal, "--json"], capture_output=True, text=True)
        if r.returncode:
            sys.exit(f"kill {n}: replay: {r.returncode}: {r.stderr[-300:]}")
        tally["replayed"] += 1
        if n % 8 == 0:
            r = subprocess.run([automap, "search", "--resume", journal, "--quiet", "--json", "--episodes", str(EPISODES)], capture_output=True, text=True)
            if r.returncode:
                sys.exit(f"kill {n}: resume: {r.stderr[-300:]}")
            if json.loads(r.stdout)["episodes"] == EPISODES: # not past it already
                tally["resumed"] += 1
                if timeless(r.stdout) != whole:
                    sys.exit(f"kill {n}: goes on to another end than the whole search")
        if age > 1.5 + 0.5 * os.getloadavg()[0] / (os.cpu_count() or 1):
            sys.exit(f"kill {n}: the journal was {age:.2f} s behind")
print(tally, f"oldest end of a journal {oldest:.2f} s before its kill, load {os.getloadavg()[0]:.0f}")
sys.exit(0 if tally["begun"] > kills / 4 and tally["replayed"] == tally["begun"] else 1)
P
