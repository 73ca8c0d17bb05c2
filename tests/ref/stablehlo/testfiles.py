"""Programs that test StableHLO and XLA, as inputs: what opens, what warns, what is refused and why; nothing may crash.

    testfiles.py AUTOMAP SOURCE ..

SOURCE: `harnesses`, the programs of which StableHLO's own testdata are made (jax/_src/internal_test_util/test_harnesses.py), as
this jax prints them, each beside XLA's HLO of it (flops within 1 %); `compat`, the modules that jax keeps of its versions since
2022, for CPU, GPU and TPU; or a folder of .mlir files. A file of several modules (`// -----`) counts each. What jaxlib's
own parser and verifier take is valid; of a valid module every refusal is printed with its reason."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
AUTOMAP = sys.argv[1]


def inspect(text, folder, ending=".mlir"):
    """Exit code, what it says, what it found."""
    path = os.path.join(folder, "one" + ending)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text)
    done = subprocess.run([AUTOMAP, "inspect", path, "--json"], capture_output=True, text=True, timeout=120, errors="replace")
    return done.returncode, done.stderr, json.loads(done.stdout) if not done.returncode else None


def is_valid(text):
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = False
        try:
            module = ir.Module.parse(text)
            return module.operation.verify() and any("func" in op.operation.name for op in module.body.operations)
        except Exception:  # noqa: BLE001: not what jaxlib takes
            return False


def harnesses():
    """Name, text, HLO of the same program."""
    import jax
    from jax._src.internal_test_util import test_harnesses

    jax.config.update("jax_enable_x64", True)
    seen = set()
    for h in test_harnesses.all_harnesses:
        if h.fullname in seen or (h.group_name, h.dtype) in seen and os.environ.get("ONE_OF_A_KIND"):
            continue
        seen |= {h.fullname, (h.group_name, h.dtype)}
        try:
            import numpy as np

            args = h.dyn_args_maker(np.random.RandomState(0))
            lowered = jax.jit(h.dyn_fun).lower(*args)
            yield h.fullname, lowered.as_text(), lowered.as_text("hlo")
        except Exception as error:  # noqa: BLE001: not for this machine
            yield h.fullname, None, f"{type(error).__name__}: {error}"[:100]


def compat():
    import importlib
    import pkgutil

    from jax._src.internal_test_util import export_back_compat_test_data as data

    for found in pkgutil.walk_packages(data.__path__, data.__name__ + "."):
        try:
            module = importlib.import_module(found.name)
        except Exception:  # noqa: BLE001: needs another machine
            continue
        texts = []

        def walk(x):
            if isinstance(x, str) and "func.func" in x:
                texts.append(x)
            elif hasattr(x, "mlir_module_text"):
                texts.append(x.mlir_module_text)
            elif isinstance(x, dict):
                [walk(v) for v in x.values()]
            elif isinstance(x, (list, tuple)):
                [walk(v) for v in x]

        for name in dir(module):
            if not name.startswith("__"):
                walk(getattr(module, name))
        for n, text in enumerate(dict.fromkeys(texts)):
            yield f"{found.name.rsplit('.', 1)[1]}/{n}", text, None


def folder_files(folder):
    for root, _, files in sorted(os.walk(folder)):
        for name in sorted(f for f in files if f.endswith(".mlir")):
            with open(os.path.join(root, name), encoding="utf-8", errors="surrogateescape") as f:
                parts = re.split(r"^// -----.*$", f.read(), flags=re.M)
            for n, part in enumerate(parts):
                if re.search(r"^\s*(func\.func|module|\"?builtin\.module|\"func\.func\")", part, re.M):
                    yield f"{os.path.relpath(os.path.join(root, name), folder)}#{n}", part, None


def reason(said):
    """The message without its place and numbers."""
    line = next((s for s in said.splitlines() if ": " in s), said.strip()[:80])
    return re.sub(r"%?\d+", "N", re.sub(r"^.*?:\d+:\d+: ", "", line))[:110]


def main():
    counts, reasons, warned = collections.Counter(), collections.Counter(), collections.Counter()
    first, apart = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for source in sys.argv[2:]:
            for name, text, hlo in {"harnesses": harnesses, "compat": compat}.get(source, lambda s=source: folder_files(s))():
                if text is None:
                    counts[f"{source}: not lowered by this jax"] += 1
                    continue
                rc, said, found = inspect(text, folder)
                assert rc in (0, 2), f"{name}: exit code {rc}: {said}"
                valid = True if hlo else is_valid(text)
                kind = ("opens" if not rc else "is refused") + (", valid" if valid else ", not valid to jaxlib")
                counts[f"{source}: {kind}"] += 1
                if rc and valid:
                    reasons[reason(said)] += 1
                    first.setdefault(reason(said), name)
                for warning in re.findall(r"warning: (.*)|operation (\S+) is not known", said):
                    warned[re.sub(r"\d+", "N", "".join(warning))[:110]] += 1
                if hlo and not rc:
                    _, _, theirs = inspect(hlo, folder, ".hlo.txt")
                    ours, theirs = found["flops"], theirs["flops"]
                    near = abs(ours - theirs) <= 0.01 * theirs
                    counts[f"{source}: flops {'within 1 %' if near else 'differ'}"] += 1
                    if not near:
                        apart.append(f"{name}: {ours} {theirs}")
    for table in counts, reasons, warned:
        print(*(f"{n:6} {what}" + (f"   (first: {first[what]})" if what in first and table is reasons else "")
                for what, n in sorted(table.items(), key=lambda x: (table is not counts and -x[1], x[0]))), sep="\n")
        print()
    print(*apart, sep="\n")
    sys.exit(any(not re.search("not known before the program runs|quantis", why) for why in reasons))


if __name__ == "__main__":
    main()
