"""doctor_jax.py AUTOMAP [OUT]: automap doctor on programs compiled here and now by JAX for 8 simulated
devices, against answers written down before the doctor saw them. Per program: the causes with verdict
and line of its collectives after spmd-partitioning, and what planning again changes, with the bytes it
leaves. Prints k of n. Exit code 77 without JAX. OUT keeps the dumps."""
import json, os, pathlib, subprocess, sys, tempfile

automap = sys.argv[1]
keeps = None if len(sys.argv) > 2 else tempfile.TemporaryDirectory()
out = pathlib.Path(keeps.name if keeps else sys.argv[2])
out.mkdir(exist_ok=True, parents=True)
os.environ["XLA_FLAGS"] = (f"--xla_force_host_platform_device_count=8 --xla_dump_to={out} --xla_dump_hlo_as_text "
                           "--xla_dump_hlo_pass_re=spmd-partitioning")
try:
    import jax, jax.numpy as jnp, numpy as np
except ImportError:
    print("skipped: needs jax")
    sys.exit(77)
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

line = np.array(jax.devices())
X, XY = Mesh(line, ("x",)), Mesh(line.reshape(2, 4), ("x", "y"))
U, W, S = "unwanted", "wanted", "unsure"
programs = {}


def program(mesh, ins, out, shapes, answer, planned=None, cured_ins=None, cured_out=None):
    """answer: {(cause, verdict, mark of the line)}; planned: what the change names, bytes left (None: any);
    cured_*: shardings with the change, which XLA compiles to be asked whether that is what is left."""
    def keep(f):
        programs[f.__name__] = (f, mesh, ins, out, shapes, answer, planned, cured_ins, cured_out or out)
        return f
    return keep


def s(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def wsc(x, mesh, *spec):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))


@program(X, [P("x"), P()], P(None, None, "x"), [s(4096, 256), s(8, 64, dtype=jnp.int32)],
         {("gather-rows", U, "embed 1")}, ("\"table\" as P(None, 'x')", 0), [P(None, "x"), P()])
def embed(table, ids):
    return table[ids]  # embed 1


@program(X, [P(None, "x")], P(None, "x"), [s(1024, 512)], {("partial-sum", S, "norm 1"), ("partial-sum", S, "norm 2")},
         ("P('x')", 0), [P("x")], P("x"))
def norm(x):
    def one(row):
        m = row.mean()  # norm 1
        v = ((row - m) ** 2).mean()  # norm 2
        return (row - m) * jax.lax.rsqrt(v + 1e-6)
    return jax.vmap(one)(x)


@program(X, [P(None, None, None, "x"), P(None, None, "x", None)], P(), [s(8, 32, 32, 64), s(3, 3, 64, 128)],
         {("partial-sum", W, "conv 1")})
def conv(x, k):
    return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))  # conv 1


@program(X, [P("x"), P(None, "x")], P("x"), [s(512, 256), s(6, 256, 256)], {("weight-gather", W, "scan 1")})
def scan(x, weights):
    def body(h, w):
        return jnp.tanh(h @ w), None  # scan 1
    return jax.lax.scan(body, x, weights)[0]


@program(X, [P(None, "x")], P(None, "x"), [s(512, 1024)], {("unsplittable-dim", U, "order 1")}, ("P('x')", 0),
         [P("x")], P("x"))
def order(x):
    return jnp.sort(x, axis=1)  # order 1


@program(X, [P("x"), P("x"), P("x")], P("x"), [s(8, 64, 128), s(8, 64, 8, 16), s(8, 128, 256)],
         {("dispatch", W, "experts 1"), ("dispatch", W, "experts 2")})
def experts(x, mask, w):
    t = jnp.einsum("gsm,gsec->egcm", x, mask)
    t = wsc(t, X, "x")  # experts 1
    h = jnp.einsum("egcm,emh->egch", t, w)
    h = jnp.swapaxes(h, 0, 1) * 1.0
    return wsc(h, X, "x")  # experts 2


@program(XY, [P("x", None, "y"), P("x", None, "y")], P(None, ("y", "x"), None), [s(64, 64, 64), s(64, 64, 64)],
         {("full-remat", U, "remat 1")}, ("a constraint in between", None))
def remat(p, q):
    d = p * q
    return jnp.tanh(wsc(d, XY, None, ("y", "x"), None))  # remat 1


@program(X, [P("x"), P("x"), P("x"), P("x")], (P("x"), P("x")), [s(512, 256), s(256, 256), s(256, 256), s(512, 256)],
         {("weight-gather", W, "fsdp 1"), ("weight-gather", W, "fsdp 2"), ("partial-sum", U, "fsdp 1"),
          ("partial-sum", U, "fsdp 2")})
def fsdp(x, w1, w2, y):
    def loss(w1, w2):
        h = jnp.tanh(x @ w1)  # fsdp 1
        return (((h @ w2) - y) ** 2).sum()  # fsdp 2
    return jax.grad(loss, argnums=(0, 1))(w1, w2)


@program(X, [P("x"), P("x")], P("x"), [s(1024, 256), s(1024)], {("gather-unprovable", U, "shuffle 1"),
                                                             ("unsplittable-dim", U, "shuffle 2")})
def shuffle(x, keys):
    order = jnp.argsort(keys)  # shuffle 2
    return x[order]  # shuffle 1


@program(X, [P(None, "x")], P(None, "x"), [s(256, 1024)], {("unsplittable-dim", U, "waves 1")})
def waves(x):
    return jnp.abs(jnp.fft.fft(x, axis=1))  # waves 1


@program(X, [P(None, "x"), P()], P(), [s(512, 4096), s(512, dtype=jnp.int32)],
         {("partial-sum", S, "entropy 1"), ("partial-sum", S, "entropy 2"), ("partial-sum", S, "entropy 3")})
def entropy(logits, labels):
    m = logits.max(1, keepdims=True)  # entropy 1
    z = jnp.log(jnp.exp(logits - m).sum(1))  # entropy 2
    picked = (jax.nn.one_hot(labels, 4096) * (logits - m)).sum(1)  # entropy 3
    return (z - picked).mean()


@program(X, [P(None, "x"), P(None, "x"), P(None, "x")], P(None, "x"), [s(4, 512, 64)] * 3,
         {("operand-gather", S, "attend 1"), ("operand-gather", S, "attend 2")})
def attend(q, k, v):
    a = jnp.einsum("bqd,bkd->bqk", q, k)  # attend 1
    a = jax.nn.softmax(a, -1)
    return jnp.einsum("bqk,bkd->bqd", a, v)  # attend 2


@program(X, [P("x"), P(None, "x")], P("x"), [s(512, 512), s(512, 512)], {("mismatch", U, "add 1")},
         ("\"b\" as P('x')", 0), [P("x"), P("x")])
def add(x, b):
    return x + b  # add 1


def dumps(name, f, mesh, ins, outs, shapes):
    f.__name__ = name  # which the files are called by
    put = lambda spec: jax.tree.map(lambda p: NamedSharding(mesh, p), spec, is_leaf=lambda p: isinstance(p, P))
    jax.jit(f, in_shardings=put(tuple(ins)), out_shardings=put(outs)).lower(*shapes).compile()
    (after,) = out.glob(f"*.jit_{name}.*after_spmd-partitioning*.txt")
    (before,) = out.glob(f"*.jit_{name}.before_optimizations.txt")
    return after, before


source = pathlib.Path(__file__).read_text().splitlines()
marks = {text.rsplit("# ", 1)[1]: n + 1 for n, text in enumerate(source) if "  # " in text}


def doctor(after, before):
    r = subprocess.run([automap, "doctor", after, "--before", before, "--json"], capture_output=True, text=True)
    if r.returncode:
        raise SystemExit(f"{after}: {r.stderr.strip()}")
    return json.loads(r.stdout)


def check(name):
    f, mesh, ins, outs, shapes, answer, planned, cured_ins, cured_out = programs[name]
    found = doctor(*dumps(name, f, mesh, ins, outs, shapes))["collectives"]
    causes = {(c["cause"], c["verdict"], c.get("line_of_cause", {}).get("line")) for c in found}
    wanted = {(c, v, marks.get(l)) for c, v, l in answer}
    faults = [] if causes == wanted else [f"found {sorted(causes, key=str)}, expected {sorted(wanted, key=str)}"]
    plans = [c["planned"] for c in found if "planned" in c]
    if planned:
        words, size = planned
        if not any(words in p["change"] and size in (None, p["bytes"]) for p in plans):
            faults.append(f"planned {[(p['change'], p['bytes']) for p in plans]}, expected {planned}")
        if cured_ins:
            left = doctor(*dumps(name + "_cured", lambda *a: f(*a), mesh, cured_ins, cured_out, shapes))["bytes"]
            if left != size:
                faults.append(f"XLA leaves {left} bytes with the change, planned {size}")
    elif any(c["verdict"] == W and "planned" in c for c in found):
        faults.append("a change of what is wanted")
    return faults


right = 0
for name in programs:
    faults = check(name)
    right += not faults
    for fault in faults:
        print(f"{name}: {fault}")
print(f"{right} of {len(programs)}")
sys.exit(right != len(programs))
