#!/usr/bin/env python3
"""latency.py SOURCE AUTOMAP [--moments N] [--command WORD] [--model FILE]: SIGTERM and SIGINT at random moments, to every
command that computes.

Each command runs once whole, at most LONG seconds, then N times with a signal at a moment drawn from that time. It ends
within LIMIT_S, at its usual codes: 3 with what it has, 0 where it was done, or by the signal where it holds nothing:
not once it catches signals, as those of HOLDS do by the end of LONG. Others may be at work on the machine: of the time
on the clock that is left out which its first thread stood ready and had no processor (schedstat), and as other threads
may have waited too, it is late only if it also had more than LIMIT_S of processor after the signal. Prints k of n, and
of each command the median and the longest on the clock, and the longest of processor."""
import argparse
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

LIMIT_S, LONG, PATIENCE = 0.1, 4.0, 300
HOLDS = {"search", "pretrain"}


def commands(source, shared, d, model):
    models, clusters, data = source + "/examples/models/", source + "/examples/clusters/", source + "/tests/data/"
    large, small, tiny = (models + name + ".hlo.txt.gz" for name in ("t5-3b", "t5-base6", "mlp"))
    large = model or large
    cluster, four = clusters + "a-2x8-v100.yaml", clusters + "v100-1x4.yaml"
    search = ["search", large, cluster, "--quiet", "--no-journal", "--episodes", "100000000"]
    rows = [["inspect", large], ["inspect", large, "--groups"], ["convert", large, d + "/out.mlir", "--force"],
            ["convert", large, d + "/out.pb", "--force"], ["plan", large, cluster, "--optimum"], ["plan", large, cluster, "--optimum", "--mesh", "2x8"],
            ["plan", large, cluster, "--mode", "relaxed"], ["plan", large, cluster, "--mode", "relaxed", "--mesh", "2x8"],
            ["plan", large, cluster, "--memory-limit", "device", "--micro-batches", "auto"], ["plan", large, cluster, "--optimum", "--stability"],
            ["plan", large, cluster, "--recompute", "auto"], ["plan", large, cluster, "--zero", "auto"],
            ["explain", large, cluster, "--optimum", "encoder/layer_000/self/q/kernel:1"]]
    rows += [["export", small, four, "--plan", d + "/plan", "--format", form] for form in ("html", "hlo", "stablehlo", "jax", "report")]
    rows += [[*search], [*search, "--seeds", "3"], [*search, "--mode", "relaxed"]]
    rows += [[*search, "--algo", algo] for algo in ("exact", "race", "random", "greedy", "enumerate", "anneal", "trws")]
    rows += [[*search, "--kind", "pp", "--algo", algo] for algo in ("exact", "dqn", "race", "descent")]
    rows += [[*search, "--kind", "hybrid", "--algo", algo] for algo in ("alpa", "dqn", "race")] + [[*search, "--kind", "all"]]
    rows.append(["search", large, cluster, "--kind", "hybrid"])
    rows += [["infer", large, cluster], ["place", large, cluster], ["place", large, cluster, "--algo", "race"], ["place", small, four, "--algo", "dqn"],
             ["place", large, cluster, "--algo", "anneal", "--moves", "100000000"], ["replay", d + "/journal"], ["cast", d + "/journal", "-o", d + "/cast", "--force"],
             ["teach", "cartpole"], ["teach", "chain", "--seeds", "3"], ["pretrain", "opp", small, "-o", d + "/opp.net", "--force", "--from-scratch"],
             ["pretrain", "pp", "-o", d + "/pp.net", "--force"], ["doctor", data + "doctor/while_carry.cpu_after_optimizations.txt.gz"],
             ["profile", data + "profile/mlp.trace.json.gz", data + "profile/mlp.hlo.txt.gz", "--compiled", data + "profile/mlp-compiled.hlo.txt.gz"],
             ["calibrate", source + "/tests/ref/calibrate/cpu.yaml", data + "profile/mlp.hlo.txt.gz", d + "/profile"], ["cluster", cluster],
             ["screen", large, cluster, "--keys", "V h"], ["tour", "replay", "--text"], ["bench", "search", tiny], ["bench", "pipeline", cluster, small]]
    for name in ("A", "P"):
        instance = f"{shared}/data/iopddl/{name}.json.gz"
        if os.path.exists(instance):
            rows.append(["bench", "iopddl", instance, "--time", "20"])
    return rows, (tiny, small, four, data)


def waited(pid):
    return int(open(f"/proc/{pid}/task/{pid}/schedstat").read().split()[1]) * 1e-9


def worked(pid):
    """Seconds of processor of a living process (the clock that clock_getcpuclockid gives)."""
    return time.clock_gettime(~pid << 3 | 2)


def catches(pid, number=signal.SIGTERM):
    """Whether a living process has a handler for the signal."""
    with open(f"/proc/{pid}/status") as f:
        return bool(int(re.search(r"SigCgt:\s*(\w+)", f.read())[1], 16) >> number - 1 & 1)


def stop_at(words, moment, number, env):
    """From the signal to the end seconds on the clock without waiting for a processor, seconds of processor, the exit code,
    and whether it was to catch the signal; None: it had ended before."""
    p = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        p.wait(moment)
        return None, None, p.returncode, False
    except subprocess.TimeoutExpired:
        pass
    catching = catches(p.pid, number)
    queued, before, start = waited(p.pid), worked(p.pid), time.monotonic()
    p.send_signal(number)
    watchdog = time.monotonic() + PATIENCE
    while not os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
        if time.monotonic() > watchdog:
            p.kill()
        time.sleep(0.0005)
    took = time.monotonic() - start
    took -= min(took, waited(p.pid) - queued)
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    return took, usage.ru_utime + usage.ru_stime - before, p.returncode, catching


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("automap")
    parser.add_argument("--moments", type=int, default=6)
    parser.add_argument("--command", default="")
    parser.add_argument("--model", default="")
    o = parser.parse_args()
    shared = os.environ.get("AUTOMAP_SHARED", o.source + "/../shared")
    dice, late, all_in, signals = random.Random(11), 0, 0, 0
    with tempfile.TemporaryDirectory() as d:
        env = dict(os.environ, XDG_STATE_HOME=d + "/state", XDG_CONFIG_HOME=d + "/config", OPENBLAS_NUM_THREADS="1")
        rows, (tiny, small, four, data) = commands(o.source, shared, d, o.model)
        for make in (["plan", small, four, "--optimum", "-o", d + "/plan"], ["search", tiny, four, "--quiet", "--episodes", "300", "--journal", d + "/journal"],
                     ["profile", data + "profile/mlp.trace.json.gz", data + "profile/mlp.hlo.txt.gz", "--compiled",
                      data + "profile/mlp-compiled.hlo.txt.gz", "-o", d + "/profile"]):
            subprocess.run([o.automap, *make], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        for words in rows:
            name = " ".join(w for w in (os.path.basename(w) if "/" in w else w for w in words)
                            if w not in ("--quiet", "--no-journal", "--force", "--episodes", "100000000"))
            if not name.startswith(o.command):
                continue
            start, lost = time.monotonic(), 0
            p = subprocess.Popen([o.automap, *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                said = p.communicate(timeout=LONG)[1]
                if p.returncode not in (0, 4):
                    print(f"{name}: exit code {p.returncode}: {said[-160:]}  FAILED", flush=True)
                    late += 1
                    continue
            except subprocess.TimeoutExpired:
                lost = words[0] in HOLDS and not catches(p.pid)
                p.kill()
                p.communicate()
            whole, took, busy, codes = time.monotonic() - start, [], [], set()
            for n in range(o.moments):
                number = (signal.SIGTERM, signal.SIGINT)[n % 2]
                latency, processor, code, catching = stop_at([o.automap, *words], dice.uniform(0.02, 0.95) * min(whole, LONG), number, env)
                codes.add(code)
                lost += code == -number and catching
                if latency is not None:
                    took.append(latency)
                    busy.append(processor)
            wrong = [c for c in codes if c not in (0, 3, 4, -signal.SIGTERM, -signal.SIGINT)]
            slow = sum(min(pair) > LIMIT_S for pair in zip(took, busy))
            late, all_in, signals = late + slow + len(wrong) + lost, all_in + len(took) - slow, signals + len(took)
            note = ("  FAILED" if slow or wrong or lost else "") + (f" codes {wrong}" if wrong else "") + (f" {int(lost)} without what it had" if lost else "")
            figures = f"{1e3 * statistics.median(took):5.0f} ms {1e3 * max(took):6.0f} ms {1e3 * max(busy):6.0f} ms" if took else "    - ms      - ms      - ms"
            print(f"{len(took) - slow:3} of {len(took):<3} {figures}  codes {sorted(codes)}  {name}{note}", flush=True)
    print(f"{all_in} of {signals} signals: at the end within {LIMIT_S * 1e3:.0f} ms")
    return 1 if late or not signals else 0


if __name__ == "__main__":
    sys.exit(main())
