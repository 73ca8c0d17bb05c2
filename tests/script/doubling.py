#!/usr/bin/env python3
"""Time and memory of every command on modules of n and 2n, in fifteen shapes: n log n at most.

usage: doubling.py AUTOMAP [--size N] [--to N] [--shape NAME ...] [--command NAME ...] [--timeout S]

Doubles from --size while the last run took less than --timeout and 2n <= --to. A step fails when the
processor time or the memory above that of an empty module grows more than `MOST` times, and is large
enough to be no noise. A step that seems to fail is measured again, both sizes, `AGAIN` times: the least
of each counts, for other work on the machine adds to processor time and never takes from it.
Prints one row per shape and command: n, seconds, MB, and the growth."""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

MOST = 3.0  # n log n doubles to 2.1; caches and the machine's other work want some room
NOISE_S, NOISE_MB = 0.25, 24
AGAIN = 4
CLUSTER = """name: four
devices:
  d: {memory: 16 GB, peak: {f32: 10 TFLOP/s}, bandwidth: 900 GB/s, launch: 5 us}
servers:
  - {devices: 4, link: {name: wire, kind: ring, bandwidth: 100 GB/s, latency: 1 us}}
"""


def entry(lines, root):
    return "ENTRY main {\n" + "".join(f"  {line}\n" for line in lines) + f"  ROOT {root}\n}}\n"


def chain(n):
    lines = ["p = f32[64,64] parameter(0)", "v0 = f32[64,64] negate(p)"]
    lines += [f"v{i} = f32[64,64] add(v{i - 1}, p)" for i in range(1, n)]
    return entry(lines, f"r = f32[64,64] negate(v{n - 1})")


def fan_out(n):
    lines = ["p = f32[64,64] parameter(0)", "s = f32[64,64] negate(p)"]
    lines += [f"v{i} = f32[64,64] negate(s)" for i in range(n)]
    lines += [f"a{i} = f32[64,64] add({'a%d' % (i - 1) if i else 's'}, v{i})" for i in range(n)]
    return entry(lines, f"r = f32[64,64] negate(a{n - 1})")


def fan_in(n):
    lines = ["p = f32[8,8] parameter(0)"] + [f"v{i} = f32[8,8] negate(p)" for i in range(n)]
    return entry(lines, f"r = f32[{8 * n},8] concatenate({', '.join(f'v{i}' for i in range(n))}), dimensions={{0}}")


def parameters(n):
    lines = [f"p{i} = f32[64,64] parameter({i})" for i in range(n)]
    lines += [f"v{i} = f32[64,64] negate(p{i})" for i in range(n)]
    shapes = ", ".join(["f32[64,64]"] * n)
    return entry(lines, f"r = ({shapes}) tuple({', '.join(f'v{i}' for i in range(n))})")


def tuples(n):
    shapes = ", ".join(["f32[64,64]"] * n)
    lines = ["p = f32[64,64] parameter(0)", f"t = ({shapes}) tuple({', '.join(['p'] * n)})"]
    lines += [f"g{i} = f32[64,64] get-tuple-element(t), index={i}" for i in range(n)]
    lines += [f"a{i} = f32[64,64] add({'a%d' % (i - 1) if i else 'p'}, g{i})" for i in range(n)]
    return entry(lines, f"r = f32[64,64] negate(a{n - 1})")


def nested(n):
    """Tuples of tuples: each holds the one before it and an array, 64 deep, then one of the next row."""
    lines, parts, deep = ["p = f32[8] parameter(0)"], [], 64
    for row in range(max(1, n // deep)):
        shape, last = "f32[8]", "p"
        for i in range(deep):
            shape = f"({shape}, f32[8])"
            lines.append(f"t{row}_{i} = {shape} tuple({last}, p)")
            last = f"t{row}_{i}"
        for i in range(deep - 1):
            inner = shape[1:shape.rindex(", f32[8])")]
            lines.append(f"g{row}_{i} = {inner} get-tuple-element({last}), index=0")
            shape, last = inner, f"g{row}_{i}"
        lines.append(f"e{row} = f32[8] get-tuple-element({last}), index=1")
        parts.append(f"e{row}")
    return entry(lines, f"r = ({', '.join(['f32[8]'] * len(parts))}) tuple({', '.join(parts)})")


def calls(n):
    lines = ["p = f32[64,64] parameter(0)", "v0 = f32[64,64] negate(p)"]
    lines += [f'v{i} = f32[64,64] call(v{i - 1}), to_apply=f, metadata={{op_name="jit(f)/c{i}"}}' for i in range(1, n)]
    callee = "f {\n  x = f32[64,64] parameter(0)\n  ROOT y = f32[64,64] negate(x)\n}\n"
    return callee + entry(lines, f"r = f32[64,64] negate(v{n - 1})")


def functions(n):
    """StableHLO: a long function that is called as often as it is long."""
    def chain(op):
        return "".join(f"  %{i + 1} = {op.replace('X', f'%{i}')}\n" for i in range(n))
    return ("module @m {\nfunc.func @main(%0: tensor<4xf32>) -> tensor<4xf32> {\n" + chain("call @f(X) : (tensor<4xf32>) -> tensor<4xf32>") +
            f"  return %{n} : tensor<4xf32>\n}}\nfunc.func private @f(%0: tensor<4xf32>) -> tensor<4xf32> {{\n" +
            chain("stablehlo.negate X : tensor<4xf32>") + f"  return %{n} : tensor<4xf32>\n}}\n}}\n")


def whiles(n):
    text, lines = [], ["p = f32[64,64] parameter(0)", "z = s32[] constant(0)", "t0 = (s32[], f32[64,64]) tuple(z, p)"]
    for i in range(1, n):
        text.append(f"b{i} {{\n  p = (s32[], f32[64,64]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  o = s32[] constant(1)\n"
                    f"  j = s32[] add(i, o)\n  x = f32[64,64] get-tuple-element(p), index=1\n  y = f32[64,64] negate(x)\n"
                    f"  ROOT r = (s32[], f32[64,64]) tuple(j, y)\n}}\n"
                    f"c{i} {{\n  p = (s32[], f32[64,64]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(5)\n"
                    f"  ROOT l = pred[] compare(i, n), direction=LT\n}}\n")
        lines.append(f"t{i} = (s32[], f32[64,64]) while(t{i - 1}), condition=c{i}, body=b{i}")
    return "".join(text) + entry(lines, f"r = f32[64,64] get-tuple-element(t{n - 1}), index=1")


def loops(n):
    """Loops in loops, each of one trip: what the outermost begins with reaches the innermost, and comes back."""
    kind, text = "(s32[], f32[64,64])", []
    for i in range(n):
        inner = (f"  z = s32[] constant(0)\n  t = {kind} tuple(z, x)\n  w = {kind} while(t), condition=c{i - 1}, body=b{i - 1}\n"
                 f"  y = f32[64,64] get-tuple-element(w), index=1\n" if i else "  y = f32[64,64] negate(x)\n")
        text.append(f"b{i} {{\n  p = {kind} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  o = s32[] constant(1)\n"
                    f"  j = s32[] add(i, o)\n  x = f32[64,64] get-tuple-element(p), index=1\n{inner}  ROOT r = {kind} tuple(j, y)\n}}\n"
                    f"c{i} {{\n  p = {kind} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(1)\n"
                    f"  ROOT l = pred[] compare(i, n), direction=LT\n}}\n")
    lines = ["p = f32[64,64] parameter(0)", "z = s32[] constant(0)", f"t = {kind} tuple(z, p)",
             f"w = {kind} while(t), condition=c{n - 1}, body=b{n - 1}"]
    return "".join(text) + entry(lines, "r = f32[64,64] get-tuple-element(w), index=1")


def classes(n):
    """Every weight has classes of its own, and all are needed for the one result."""
    lines = ["x = f32[64] parameter(0)"] + [f"w{i} = f32[64,64] parameter({i + 1})" for i in range(n)]
    lines += [f"d{i} = f32[64] dot(w{i}, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}" for i in range(n)]
    shapes = ", ".join(["f32[64]"] * n)
    return entry(lines, f"r = ({shapes}) tuple({', '.join(f'd{i}' for i in range(n))})")


def products(n):
    """A chain of products, each with a weight of its own: a class in every dim between two of them."""
    lines = ["d0 = f32[64,64] parameter(0)"] + [f"w{i} = f32[64,64] parameter({i})" for i in range(1, n + 1)]
    lines += [f"d{i} = f32[64,64] dot(d{i - 1}, w{i}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}" for i in range(1, n + 1)]
    return entry(lines, f"r = f32[64,64] negate(d{n})")


def members(n):
    lines = ["w = f32[64,64] parameter(0)"] + [f"p{i} = f32[64,64] parameter({i + 1})" for i in range(n)]
    lines += [f"a{i} = f32[64,64] add({'a%d' % (i - 1) if i else 'w'}, p{i})" for i in range(n)]
    return entry(lines, f"r = f32[64,64] negate(a{n - 1})")


def scopes(n):
    lines = ["p = f32[64,64] parameter(0)", "v0 = f32[64,64] negate(p)"]
    lines += [f'v{i} = f32[64,64] add(v{i - 1}, p), metadata={{op_name="jit(f)/jvp(model)/layer_{i}/part_{i % 7}/add" '
              f'source_file="m{i % 3}.py" source_line={i}}}' for i in range(1, n)]
    return entry(lines, f"r = f32[64,64] negate(v{n - 1})")


def literals(n):
    numbers = ", ".join(str(i % 10) for i in range(n))
    lines = ["p = f32[] parameter(0)", f"c = f32[{n}] constant({{{numbers}}})", f"b = f32[{n}] broadcast(p), dimensions={{}}"]
    lines += [f"k{i} = f32[] constant({i})" for i in range(n // 4)]
    lines += [f"s{i} = f32[] add({'s%d' % (i - 1) if i else 'p'}, k{i})" for i in range(n // 4)]
    last = f"s{n // 4 - 1}"
    lines += [f"e = f32[{n}] broadcast({last}), dimensions={{}}", f"f = f32[{n}] add(b, e)"]
    return entry(lines, f"r = f32[{n}] add(c, f)")


def names(n):
    """Names that share a long beginning, and are as long as they are many."""
    stem = "a_name_with_a_beginning_that_all_of_them_share_and_that_says_nothing_"
    lines = ["p = f32[64,64] parameter(0)", f"{stem}0 = f32[64,64] negate(p)"]
    lines += [f"{stem}{i} = f32[64,64] add({stem}{i - 1}, p)" for i in range(1, n)]
    return entry(lines, f"r = f32[64,64] negate({stem}{n - 1})")


SHAPES = [chain, fan_out, fan_in, parameters, tuples, nested, calls, functions, whiles, loops, classes, products, members, scopes, literals, names]
READERS = {functions: ["convert", "stablehlo"]}  # the others write its calls out: n * n instructions
PLAN = ["MODEL", "CLUSTER", "--plan", "OUT.plan"]
COMMANDS = {
    "inspect": ["inspect", "--json", "MODEL"],
    "groups": ["inspect", "--json", "--groups", "MODEL"],
    "convert": ["convert", "--force", "MODEL", "OUT.pb"],
    "stablehlo": ["convert", "--force", "MODEL", "OUT.mlir"],
    "plan": ["plan", "MODEL", "CLUSTER", "--optimum", "--force", "-o", "OUT.plan"],
    "relaxed": ["plan", "MODEL", "CLUSTER", "--mode", "relaxed"],
    "memory": ["plan", "MODEL", "CLUSTER", "--optimum", "--memory"],
    "stability": ["plan", "MODEL", "CLUSTER", "--optimum", "--stability"],
    "axes": ["plan", "MODEL", "CLUSTER", "--optimum", "--mesh", "2x2"],
    "explain": ["explain", *PLAN, "r"],
    "export": ["export", *PLAN, "--format", "hlo", "--force", "-o", "OUT.hlo"],
    "report": ["export", *PLAN, "--format", "report", "--force", "-o", "OUT.md"],
    "pipeline": ["search", "MODEL", "CLUSTER", "--kind", "pp", "--algo", "exact"],
    "place": ["place", "MODEL", "CLUSTER"],
}


def measure(automap, command, folder, timeout):
    """(exit code, seconds of processor, MB); None: it took longer than `timeout`."""
    words = [os.path.join(folder, w) if w[:3] in ("OUT",) else
             {"MODEL": os.path.join(folder, "m.hlo"), "CLUSTER": os.path.join(folder, "c.yaml")}.get(w, w) for w in command]

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (timeout, timeout + 1))

    process = subprocess.Popen([automap, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               preexec_fn=limit, env={**os.environ, "XDG_STATE_HOME": folder})
    words = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (9, 24):  # SIGKILL, SIGXCPU
        return None
    code = os.waitstatus_to_exitcode(status)
    return code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, words


def write(folder, shape, n):
    """In a process of its own: the most memory that this one had counts as that of all it starts."""
    child = os.fork()
    if not child:
        code = 1
        try:
            with open(os.path.join(folder, "m.hlo"), "w") as f:
                text = shape(n)
                f.write(text if text.startswith("module") else f"HloModule {shape.__name__}\n\n" + text)
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1]:
        raise OSError(f"{shape.__name__} of {n} cannot be written")


def grows(last, now):
    """Whether (code, seconds, MB, words) of 2n is more than n log n above that of n."""
    _, seconds, memory, _ = now
    _, seconds_before, memory_before, _ = last
    return (seconds > MOST * max(seconds_before, 1e-3) and seconds > seconds_before + NOISE_S) or \
        (memory > MOST * memory_before and memory > memory_before + NOISE_MB)


def least(automap, command, folder, timeout, shape, n, first):
    """Of `first` and one more run on n: the code of the first, the least seconds and MB."""
    write(folder, shape, n)
    if "OUT.plan" in command and "-o" not in command[:command.index("OUT.plan")]:
        measure(automap, COMMANDS["plan"], folder, timeout)  # the plan that this command reads
    got = measure(automap, command, folder, timeout)
    return first if got is None or got[0] != first[0] else (first[0], min(first[1], got[1]), min(first[2], got[2]), first[3])


def measure_again(automap, command, folder, timeout, shape, n, last, now):
    """The two, each the least of up to `AGAIN` more runs, until the step is no longer too large."""
    for _ in range(AGAIN):
        if not grows(last, now):
            break
        last = least(automap, command, folder, timeout, shape, n // 2, last)
        now = least(automap, command, folder, timeout, shape, n, now)
    return last, now


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("automap")
    parser.add_argument("--size", type=int, default=1 << 13)
    parser.add_argument("--to", type=int, default=1 << 14)
    parser.add_argument("--shape", nargs="*", default=[s.__name__ for s in SHAPES])
    parser.add_argument("--command", nargs="*", default=list(COMMANDS))
    parser.add_argument("--timeout", type=int, default=30)
    o = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "c.yaml"), "w") as f:
            f.write(CLUSTER)
        for shape in SHAPES:
            if shape.__name__ not in o.shape:
                continue
            before, n = {}, o.size
            over = set(o.command) - set(READERS.get(shape, o.command))
            while n <= o.to and len(over) < len(o.command):
                write(folder, shape, n)
                for name in o.command:
                    if name in over:
                        continue
                    got = measure(o.automap, COMMANDS[name], folder, o.timeout)
                    last = before.get(name)
                    if got is None:
                        slow = last is not None and last[1] * 3 < o.timeout
                        print(f"{shape.__name__:10} {name:9} {n:8}  more than {o.timeout} s{'  FAILED' if slow else ''}", flush=True)
                        failed += slow
                        over.add(name)
                        continue
                    if last and last[0] == got[0] and grows(last, got):
                        last, got = measure_again(o.automap, COMMANDS[name], folder, o.timeout, shape, n, last, got)
                    code, seconds, memory, words = got
                    note = "" if code in (0, 4) else f"  exit {code}: {words.decode(errors='replace').splitlines()[:1]}"
                    if code < 0:
                        note, failed = note + "  FAILED", failed + 1
                    grown = ""
                    if last and last[0] == code:
                        time, room = seconds / max(last[1], 1e-3), memory / last[2]
                        grown = f"x{time:.1f} x{room:.1f}"
                        if grows(last, got):
                            grown, failed = grown + "  FAILED", failed + 1
                    print(f"{shape.__name__:10} {name:9} {n:8} {seconds:8.2f} s {memory:7.0f} MB  {grown}{note}", flush=True)
                    before[name] = got
                    if seconds > o.timeout / 3:
                        over.add(name)
                n *= 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
