"""Small programs that split one thing wrongly, or rightly, each in another way than the 29 of the key. Their
answers were written before any compiler or doctor saw them. `cured`: the shardings of inputs and results that
an expert would give it at no more memory; the doctor's change must leave XLA as little to send. `says`: what its words
must have one of. FIRST and SECOND are halves drawn by the names' hash: what the first half taught is tried on
the second."""
import hashlib
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
import programs as first
from programs import DM, S, U, W, X, devices, i32, s, shard_map, wsc

XY = Mesh(devices.reshape(4, 2), ("x", "y"))
programs = {}
program = first.into(programs)


WG, PS, OG, UN = "weight-gather", "partial-sum", "operand-gather", "unsplittable-dim"
ROWS = "gather-rows|gather-unprovable"
SU = S + "|" + U
conv = dict(padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


# ---- along a split dim ----

@program(X, [P(None, "x")], P(None, "x"), [s(8, 512, 64)], {"pool": ("halo", SU)}, cured=([P("x")], P("x")))
def pool_rows(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 1), (1, 1, 1), "SAME")  # pool


@program(X, [P(None, "x"), P()], P(None, "x"), [s(8, 128, 64, 8), s(3, 3, 8, 16)], {"stride": ("halo", SU)}, cured=([P("x"), P()], P("x")))
def conv_stride(x, k):
    return jax.lax.conv_general_dilated(x, k, (2, 2), **conv)  # stride


@program(X, [P("x"), P()], P("x"), [s(1024, 128), i32()], {"turn": (UN + "|halo", SU)}, cured=([P(None, "x"), P()], P(None, "x")))
def roll_by_data(x, by):
    return jnp.roll(x, by, axis=0) * 2.0  # turn


@program(X, [P(None, "x")], P(None, "x"), [s(256, 1024)], {"rank first": (UN, U), "?rank second": (UN + "|output|mismatch", U), "?": ("output", U)},
         cured=([P("x")], P("x")))
def ranks(x):
    r = jnp.argsort(x, axis=1)  # rank first
    return jnp.argsort(r, axis=1)  # rank second


@program(X, [P("x")], P(), [s(1024, 128)], {"middle": (UN, U), "?middle pick": ("one-device|halo|output|" + PS + "|" + ROWS, SU), "?": ("output", U)},
         cured=([P(None, "x")], P("x")))
def median_rows(x):
    return jnp.median(x, axis=0)  # middle, middle pick


@program(XY, [P("x", "y")], P("x", "y"), [s(256, 1024)], {"sums": (UN, U)}, cured=([P(("x", "y"))], P(("x", "y"))))
def cumsum_two_axes(x):
    return jnp.cumsum(x, axis=1)  # sums


@program(X, [P("x")], P("x"), [s(4096, 128)], {"heat": ("halo", SU), "?heat pad": ("halo|mismatch|" + UN, SU)}, cured=([P(None, "x")], P(None, "x")))
def stencil(u):
    d = u[2:] - 2.0 * u[1:-1] + u[:-2]  # heat
    return u + 0.1 * jnp.pad(d, ((1, 1), (0, 0)))  # heat pad


@program(X, [P("x")], P("x"), [s(1024, 128)], {"twice over": (UN + "|reshape|mismatch", SU), "?": ("output", U)}, cured=([P(None, "x")], P(None, "x")))
def tile_rows(x):
    return jnp.tile(x, (2, 1)) * 0.5  # twice over


@program(X, [P("x"), P("x")], P("x"), [s(1024, 128)] * 2, {})
def interleave(x, y):
    return jnp.stack([x, y], 1).reshape(2048, 128) * 2.0


@program(X, [P("x")], P("x"), [s(64, 32, 128)], {"time": (UN + "|loop|one-device", SU), "?time step": (UN + "|loop|one-device|mismatch", SU), "?": ("output", U)},
         cured=([P(None, "x")], P(None, "x")))
def scan_time(x):
    def step(h, t):
        h = jnp.tanh(h * 0.9 + t)  # time step
        return h, h
    return jax.lax.scan(step, jnp.zeros((32, 128)), x)[1]  # time


@program(X, [P(None, "x")], P(None, None, "x"), [s(64, 24, 128)], {"blocks": ("reshape", U), "?": ("output", U), "?blocks twice": ("mismatch", U)},
         cured=([P("x")], P("x")))
def split_blocks(x):
    y = jnp.sin(x)
    return y.reshape(64, 3, 8, 128) * 2.0  # blocks, blocks twice


# ---- libraries, host, random numbers ----

@program(X, [P("x")], P("x"), [s(16, 64, 32)], {})
def qr_batch(x):
    return jnp.linalg.qr(x)[1]


@program(X, [P("x")], (P(), P("x")), [s(256, 256)], {"eigen": (UN, U), "?eigen turned": ("mismatch", U)}, says="whole")
def eigh_one(x):
    return tuple(jnp.linalg.eigh(x))  # eigen, eigen turned


@program(X, [P(), P(None, "x")], P(None, "x"), [s(256, 256), s(256, 1024)], {"columns": (UN, U)}, says="shard_map")
def tri_columns(l, b):
    return jax.scipy.linalg.solve_triangular(l, b, lower=True)  # columns


@program(X, [P("x"), P()], P("x"), [s(1024, 256), s(2, dtype=jnp.uint32)], {"old draw": ("random", U)}, says="threefry")
def old_normal(x, key):
    with jax.threefry_partitionable(False):
        n = jax.random.normal(jax.random.wrap_key_data(key), x.shape)  # old draw
    return x + 0.1 * n


@program(X, [P("x")], P("x"), [s(512, 256)], {"host order": ("host", U)}, says="shard_map")
def host_stats(x):
    t = (x * x).sum(1)
    t = jax.pure_callback(np.sqrt, s(512), t, vmap_method="expand_dims")  # host order
    return x / t[:, None]


# ---- constraints and results ----

@program(XY, [P(("x", "y"))] * 2, P(("x", "y")), [s(1024, 256)] * 2, {"order asks": ("device-order|constraint", U), "?order back": ("device-order|mismatch|constraint", U), "?": ("output", U)},
         cure="constrain")
def order_between(x, y):
    h = jnp.tanh(x)
    h = wsc(h, XY, ("y", "x"))  # order asks
    return h * y  # order back


@program(XY, [P("y", "x"), P("y", "x"), P(None, ("x", "y"))], P(None, ("x", "y")), [s(512, 512)] * 3,
         {"square asks": ("full-remat|constraint|mismatch|device-order", U)}, cure="a constraint in between|constrain|store|hand|at ")
def remat_square(p, q, r):
    d = p * 2.0 + q
    d = wsc(d, XY, None, ("x", "y"))  # square asks
    return d - r


@program(X, [P("x"), P()], (P("x"), P()), [s(1024, 256), s(256, 256)], {"?": ("output", U), "?twice": ("output|mismatch", U)},
         cured=([P("x"), P()], (P("x"), P("x"))))
def result_twice(x, w):
    y = jnp.tanh(x @ w)
    return y, y * 2.0  # twice


@program(X, [P("x"), P()], P(None, "x"), [s(1024, 256), s(256, 512)], {"?": ("output", U), "?turned": ("output", U)},
         cured=([P("x"), P()], P("x")))
def result_columns(x, w):
    return jnp.tanh(x @ w)  # turned


@program(X, [P(None, "x"), P("x"), P("x")], P("x"), [s(512, 1024, dtype=jnp.bool_), s(512, 1024), s(512, 1024)], {"masked": ("mismatch", U), "?": ("output", U)},
         cured=([P("x")] * 3, P("x")))
def where_mask(m, x, y):
    return jnp.where(m, x, y)  # masked


@program(X, [P("x"), P("x")], P("x"), [s(2048), s(2048)], {"outer": ("mismatch|" + OG + "|" + WG, SU)})
def outer_sum(a, b):
    return jnp.tanh(a[:, None] + b[None, :])  # outer


# ---- products ----

@program(X, [P("x"), P("x"), P(), P(), P()], (P(), {"w": P(), "b": P(), "v": P()}), [s(1024, 128), s(1024, 8), s(128, 256), s(256), s(256, 8)],
         {"bias loss": (PS, W), "bias layer": (PS, W), "?bias out": (PS, W)}, cure="")
def dp_bias(x, y, w, b, v):
    def loss(p):
        h = jax.nn.relu(x @ p["w"] + p["b"])  # bias layer
        return ((h @ p["v"] - y) ** 2).mean()  # bias loss, bias out
    return jax.value_and_grad(loss)({"w": w, "b": b, "v": v})


@program(DM, [P("data"), P(None, "model"), P(None, "model"), P("model")], P("data"), [s(8, 64, 256), s(256, 256), s(256, 256), s(256, 256)],
         {"heads out": (PS, W)}, cure="")
def attention_tp(x, wq, wk, wo):
    q = (x @ wq).reshape(8, 64, 8, 32)
    k = (x @ wk).reshape(8, 64, 8, 32)
    a = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), -1)
    o = jnp.einsum("bhqk,bkhd->bqhd", a, k).reshape(8, 64, 256)
    return o @ wo  # heads out


@program(X, [P(), P(None, "x"), P(None, "x")], P(None, "x"), [s(256, 128), s(128, 1024), s(1024, 256)], {"second": (OG, U)},
         cured=([P(), P(None, "x"), P("x")], P(None, "x")))
def two_columns(x, w1, w2):
    h = jax.nn.relu(x @ w1)
    return h @ w2  # second


@program(X, [P("x"), P(None, "x")], P("x"), [s(2048, 256), s(256, 512)], {"free": (WG, W)}, cure="")
def fsdp_columns(x, w):
    return jax.nn.relu(x @ w)  # free


@program(X, [P("x"), P("x")], P("x"), [s(512, 256), s(256, 256)], {"every trip": (WG, W)}, cure="")
def loop_fsdp(x, w):
    return jax.lax.fori_loop(0, 6, lambda i, c: jnp.tanh(c @ w), x)  # every trip


@program(X, [P("x"), P(None, None, "x")], P("x"), [s(16, 256, 128), s(16, 128, 256)], {"per head": ("mismatch|dispatch|operand-gather|" + WG, U + "|" + S), "?": ("output", U)},
         cured=([P("x"), P("x")], P("x")))
def batched_product(x, w):
    return jnp.einsum("bij,bjk->bik", x, w)  # per head


@program(X, [P("x"), P()], P(), [s(4096, 128), i32(512)], {"hot": (PS, W + "|" + S)})
def onehot_rows(table, ids):
    return jax.nn.one_hot(ids, 4096) @ table  # hot


# ---- statistics ----

@program(XY, [P(None, ("x", "y"))], P(None, ("x", "y")), [s(512, 2048)], {"log": (PS, SU + "|" + W)}, cured=([P(("x", "y"))], P(("x", "y"))))
def softmax_two_axes(x):
    return jax.nn.log_softmax(x, axis=-1)  # log


@program(X, [P("x")], (P(), P()), [s(8192, 128)], {"first moment": (PS, S + "|" + W), "second moment": (PS, S + "|" + W)}, cured=([P(None, "x")], (P("x"), P("x"))))
def moments(x):
    m = x.mean(0)  # first moment
    v = ((x - m) ** 2).mean(0)  # second moment
    return m, v


# ---- rows by number ----

@program(X, [P(), P("x"), P("x")], P(), [s(4096, 64), i32(64, 128), s(64, 128, 64)], {"table grad": ("scatter|" + PS, W + "|" + S)})
def embed_grad(table, ids, g):
    def loss(t):
        return (jnp.take(t, ids, axis=0) * g).sum()  # table grad
    return jax.grad(loss)(table)


@program(X, [P(None, "x"), P("x")], P("x"), [s(8192, 64), i32(16, 128)], {"features": ("mismatch|output|" + ROWS, SU), "?": ("output", U), "?features twice": ("mismatch|output", U)},
         cured=([P(None, "x"), P()], P(None, None, "x")))
def embed_features(table, ids):
    e = jnp.take(table, ids, axis=0)  # features
    return e * 2.0  # features twice


@program(X, [P("x"), P(), P()], P("x"), [s(4096, 64), i32(128), s(128, 64)], {})
def update_rows(x, ids, u):
    return x.at[ids].add(u)


@program(X, [P(None, "x"), P()], P(None, "x"), [s(1024, 512), i32(512)], {"reorder": (ROWS, U)}, cured=([P("x"), P()], P("x")))
def columns_by_number(x, perm):
    return x[:, perm]  # reorder


# ---- by hand ----

@program(X, [P(), P("x"), P("x")], P(), [s(256, 128), s(1024, 256), s(1024, 128)], {"hand mean": ("by-hand", W)}, cure="")
def hand_grad(w, x, y):
    def f(w, x, y):
        g = jax.grad(lambda w: ((x @ w - y) ** 2).mean())(jax.lax.pcast(w, ("x",), to="varying"))
        return w - 0.1 * jax.lax.pmean(g, "x")  # hand mean
    return shard_map(f, X, (P(), P("x"), P("x")), P())(w, x, y)


@program(X, [P("x"), P()], P(), [s(1024, 256), s(256, 256)], {"gathered sum": ("by-hand", U)}, says="psum")
def hand_gather_sum(x, w):
    def f(x, w):
        y = x.T @ (x @ w)
        return jax.lax.all_gather(y, "x").sum(0)  # gathered sum
    return jax.shard_map(f, mesh=X, in_specs=(P("x"), P()), out_specs=P(), check_vma=False)(x, w)


@program(X, [P("x"), P()], P(), [s(1024, 256), s(6, 256, 256)], {"summed in loop": ("by-hand", U)}, says="behind|after the loop|once")
def hand_sum_in_loop(x, ws):
    def f(x, ws):
        def body(t, w):
            return t + jax.lax.psum(jnp.tanh(x @ w).sum(0), "x"), None  # summed in loop
        return jax.lax.scan(body, jnp.zeros(256), ws)[0]
    return shard_map(f, X, (P("x"), P()), P())(x, ws)


# ---- of two kinds at once: not of the halves ----

def plan_and_rewrite(x, w, y):
    g = jax.grad(lambda w: (wsc(jnp.tanh(x @ w), X, "x") ** 2).sum())(w)  # forward
    return g, jnp.cumsum(y, axis=0)  # sums beside


# ---- THIRD: written when the halves were answered, run once, before anything was mended for them ----

HALVES = list(programs)


@program(X, [P("x")], P("x"), [s(1024, 128)], {"edges": ("halo|mismatch|" + UN, SU), "?": ("output", U), "?edges twice": ("halo|mismatch", SU)}, cured=([P(None, "x")], P(None, "x")))
def pad_rows(x):
    return jnp.pad(x, ((4, 4), (0, 0))) * 2.0  # edges, edges twice


@program(X, [P("x")], P(), [s(1024, 128)], {"ends": ("one-device|halo|" + PS, SU), "?": ("output", U)}, cured=([P(None, "x")], P("x")))
def first_and_last(x):
    return x[0] + x[-1]  # ends


@program(X, [P("x")], P("x"), [s(1024, 128)], {"scan by halves": ("halo|mismatch|reshape|device-order|" + UN, SU), "?": ("output", U)}, cured=([P(None, "x")], P(None, "x")))
def products_so_far(x):
    return jax.lax.associative_scan(jnp.multiply, x, axis=0)  # scan by halves


@program(X, [P("x")], P(), [s(4096, 128)], {"best row": (PS, SU), "?": ("output", U)}, cured=([P(None, "x")], P("x")))
def argmax_rows(x):
    return x.argmax(axis=0)  # best row


@program(X, [P("x"), P("x")], P("x"), [s(1024, 256), s(2048, 256)], {"head back": (WG, W)}, cure="")
def tied_head(x, embed):
    return x @ embed.T  # head back


@program(XY, [P("x"), P("x", "y")], P("x", "y"), [s(1024, 256), s(256, 512)], {"both axes": (WG, W)}, cure="")
def fsdp_and_columns(x, w):
    return jax.nn.gelu(x @ w)  # both axes


@program(X, [P("x"), P()], P("x"), [s(512, 256), s(256, 256)], {"asked whole": ("constraint|full-remat|output", U)}, cure="constrain")
def whole_between(x, w):
    y = jnp.tanh(x @ w)
    y = wsc(y, X)  # asked whole
    return y * x


@program(X, [P(), P("x"), P("x")], P("x"), [s(256, 128), s(1024, 256), s(1024, 128)], {"own piece": (PS, U), "?own piece loss": (PS, W)}, says="reduce-scatter|psum_scatter")
def zero_two(w, x, y):
    return jax.grad(lambda w: ((x @ w - y) ** 2).mean())(w)  # own piece, own piece loss


@program(X, [P("x"), P("x")], P("x"), [s(4096, 16), s(4096, 256)], {"to experts": (PS, U + "|" + S)})
def tokens_to_experts(gates, x):
    return jnp.einsum("te,td->ed", gates, x)  # to experts


@program(X, [P("x")], P("x"), [s(1024, 256)], {"until small": (PS, W + "|" + S)})
def until_small(x):
    def go_on(x):
        return (x * x).sum() > 1.0  # until small
    return jax.lax.while_loop(go_on, lambda x: x * 0.5, x)


@program(X, [P(None, None, None, "x"), P(None, None, "x")], P(), [s(4, 32, 32, 64), s(3, 3, 64, 32)], {"channels": (PS, W + "|" + SU), "?": ("output", U)})
def conv_channels(x, k):
    return jax.lax.conv_general_dilated(x, k, (1, 1), **conv)  # channels


@program(X, [P("x")], P("x"), [s(64, 512, 32)], {"?": ("output", U), "?swapped": ("mismatch|output", U)}, cured=([P("x")], P(None, "x")))
def swapped(x):
    return jnp.swapaxes(x, 0, 1) * 2.0  # swapped


@program(X, [P("x"), P("x")], P("x"), [s(64, 512), i32(64, 16)], {})
def own_rows(x, ids):
    return jnp.take_along_axis(x, ids, axis=1)


@program(X, [P(None, None, "x"), P(None, None, "x")], P(None, None, "x"), [s(8, 256, 64), s(5, 1, 64)], {})
def depthwise(x, k):
    how = dict(dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=64)
    return jax.lax.conv_general_dilated(x, k, (1,), "SAME", **how)


THIRD = [name for name in programs if name not in HALVES]
ORDER = sorted(HALVES, key=lambda name: hashlib.sha1(name.encode()).hexdigest())
FIRST, SECOND = ORDER[:20], ORDER[20:]
program(X, [P("x"), P("x"), P("x")], (P("x"), P("x")), [s(512, 256), s(256, 256), s(1024, 128)],
        {"forward": (WG + "|" + PS, W + "|" + U), "sums beside": (UN, U)}, cure="store y as P(None, 'x'), not P('x'); hand result 2 out as P(None, 'x'), not P('x')")(plan_and_rewrite)
