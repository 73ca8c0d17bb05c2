"""XLA reads what we write. For each module that XLA reads, our text and our proto of it mean the same to XLA: its print with
canonical names is that of the original. A module with elided constants is refused as a proto, with a reason.

    xla_reads.py AUTOMAP FILE ...

Needs jaxlib. Exit 0: all, 1: some not, 77: jaxlib is missing. Files that XLA itself does not read are counted and left out, unless
we do not read them either: text of newer versions is ours to read."""
import gzip
import os
import re
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
try:
    from jaxlib import _jax
    hlo = getattr(__import__("jaxlib", fromlist=["_hlo"]), "_hlo", _jax)
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

automap, files = sys.argv[1], sys.argv[2:]
canonical, short = hlo.HloPrintOptions.canonical(), hlo.HloPrintOptions.canonical()
canonical.print_large_constants, short.print_large_constants = True, False
work = tempfile.mkdtemp()


def meaning(module, is_elided):
    """The canonical print, without the module's name and header, and computations in any order. For what was left out XLA
    makes up numbers, and of -0 in text it loses the sign."""
    text = module.to_string(short if is_elided else canonical)
    return sorted(re.sub(r"(?<![\w.])-0(?![\w.])", "0", text).split("\n\n")[1:])


def convert(source, ending):
    out = os.path.join(work, "out" + ending)
    done = subprocess.run([automap, "convert", "--force", source, out], capture_output=True, text=True, timeout=600)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[0][:200]
    with open(out, "rb") as f:
        return f.read(), None


def check(path):
    """What is wrong with our writing of one file; None: nothing, "": XLA does not read the original."""
    data = open(path, "rb").read()
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    try:
        theirs = hlo.hlo_module_from_text(text.decode())
    except Exception as e:
        out, why = convert(path, ".txt")
        return "" if out else f"neither XLA nor we read it: {why} / {str(e)[:120]}"
    is_elided = b"{...}" in text
    wanted = meaning(theirs, is_elided)
    ours, why = convert(path, ".txt")
    if not ours:
        return f"text: {why}"
    try:
        if meaning(hlo.hlo_module_from_text(ours.decode()), is_elided) != wanted:
            return "text: another meaning"
    except Exception as e:
        return f"text: XLA refuses it: {str(e)[:200]}"
    ours, why = convert(path, ".pb")
    if is_elided:
        return None if not ours and "left out" in why else f"proto of elided constants: {why or 'written'}"
    if not ours:
        return f"proto: {why}"
    try:
        back = hlo.HloModule.from_serialized_hlo_module_proto(bare(ours))
    except Exception as e:
        return f"proto: XLA refuses it: {str(e)[:200]}"
    return None if meaning(back, False) == wanted else "proto: another meaning"


def bare(data):
    """HloModuleProto of an HloProto: field 1."""
    at, shift, size = 1, 0, 0
    while True:
        size |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            break
    return data[at:at + size] if data[0] == 10 and at + size == len(data) else data


bad = unread = 0
for path in files:
    wrong = check(path)
    unread += wrong == ""
    bad += bool(wrong)
    if wrong:
        print(f"{path}: {wrong}")
print(f"{len(files) - bad - unread} of {len(files) - unread} modules mean the same; {unread} that this XLA does not read, we read")
sys.exit(1 if bad else 0)
