"""Sharded programs as people write them, rightly or wrongly, with what is known of them because they
were written so: which line makes devices talk, why, and whether that is wanted. The answers were
written down before the doctor saw a dump. A mark is the comment at the end of a line."""
import functools, inspect
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = np.array(jax.devices())
X = Mesh(devices, ("x",))
DM = Mesh(devices.reshape(2, 4), ("data", "model"))
U, W, S = "unwanted", "wanted", "unsure"
programs = {}
changed = {}  # line of a constraint: the specs it is given one after the other, in place of its own


def s(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


i32 = functools.partial(s, dtype=jnp.int32)


def wsc(x, mesh, *spec):
    line = inspect.currentframe().f_back.f_lineno
    for one in changed.get(line, (None,)):
        x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec) if one is None else one))
    return x


def shard_map(f, mesh, ins, outs):
    if hasattr(jax, "shard_map"):
        return jax.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs)
    from jax.experimental.shard_map import shard_map as old
    return old(f, mesh=mesh, in_specs=ins, out_specs=outs)


def into(programs):
    """The decorator `program` that keeps a program in `programs`, under its name."""
    def program(mesh, ins, out, shapes, answer, **more):
        """answer: mark, or "" for no line: (causes, verdicts) of the collectives there, each of them one of
        several joined by |. A mark with ? in front need not be there: one partitioner alone makes it.
        more: old (False: not for jax before 0.5), is_cured (False: no sharding cures it)."""
        def keep(f):
            programs[f.__name__] = dict(f=f, mesh=mesh, ins=ins, out=out, shapes=shapes, answer=answer, **more)
            return f
        return keep
    return program


program = into(programs)


# ---- steps whose results or states lie otherwise than what makes them ----

@program(X, [P("x"), P("x"), P("x")], (P(), P()), [s(512, 256), s(512, 256), s(256, 256)],
         {"whole gather": ("weight-gather", W), "whole loss": ("partial-sum", W),
          "?whole grad": ("partial-sum", W + "|" + U), "?whole update": ("output", U), "?": ("output", U)})
def fsdp_out_whole(x, y, w):
    def loss(w):
        return ((x @ w - y) ** 2).mean()  # whole gather, whole loss, whole grad
    value, g = jax.value_and_grad(loss)(w)
    return value, w - 0.1 * g  # whole update


@program(X, [P("x"), P(None, "x"), P("x")], (P("x"), P(None, "x")), [s(1024, 512)] * 3,
         {"adam update": ("mismatch", U), "?adam moment": ("mismatch", U)})
def optimizer_state(param, mu, grad):
    mu = 0.9 * mu + 0.1 * grad  # adam moment
    return param - 0.01 * mu, mu  # adam update


@program(X, [P("x"), P()], P(None, "x"), [s(1024, 512), s(512, 512)], {"?": ("output", U), "?donated tanh": ("output", U)})
def donated(state, w):
    return jnp.tanh(state) * 0.5  # donated tanh


@program(X, [P("x"), P()], P(), [s(1024, 256), s(256, 512)], {"": ("output", U)})
def eval_whole(x, w):
    return jax.nn.relu(x @ w)


@program(X, [P("x"), P("x", None), P(None, "x")], P("x"), [s(8, 64), s(64, 256), s(256, 64)],
         {"?ravel a": ("unsplittable-dim|reshape", U), "?ravel b": ("unsplittable-dim|reshape", U),
          "ravel all": ("unsplittable-dim|reshape|mismatch", U)})
def ravel(b, w1, w2):
    return jnp.concatenate([b.ravel(), w1.ravel(), w2.ravel()]) * 0.5  # ravel all, ravel a, ravel b


# ---- tensor and sequence parallel ----

@program(DM, [P("data"), P("model", None), P(None, "model")], P("data"),
         [s(256, 512), s(512, 2048), s(2048, 512)],
         {"wrong up": ("partial-sum|operand-gather|weight-gather", S + "|" + U),
          "?wrong down": ("weight-gather|operand-gather|partial-sum", W + "|" + U), "?": ("output", U)})
def mlp_wrong_side(x, up, down):
    h = jax.nn.gelu(x @ up)  # wrong up
    return h @ down  # wrong down


@program(DM, [P("data"), P(None, "model"), P("model", None)], P("data"),
         [s(256, 512), s(512, 2048), s(2048, 512)], {"right down": ("partial-sum", W)})
def mlp_right(x, up, down):
    h = jax.nn.gelu(x @ up)
    return h @ down  # right down


@program(DM, [P("data"), P("data", "model"), P("model", "data")], P("data"),
         [s(256, 512), s(512, 2048), s(2048, 512)],
         {"fsdptp up": ("weight-gather", W), "fsdptp down": ("weight-gather|partial-sum", W)})
def fsdp_tp(x, up, down):
    h = jax.nn.gelu(x @ up)  # fsdptp up
    return h @ down  # fsdptp down


@program(X, [P(None, "x"), P(), P(None, "x"), P("x", None)], P(None, "x"),
         [s(4, 512, 256), s(256), s(256, 1024), s(1024, 256)],
         {"sp up": ("weight-gather", W), "sp down": ("weight-gather", W)})
def sequence_split(x, scale, up, down):  # XLA prefers whole weights to a whole x
    m = jnp.mean(x * x, -1, keepdims=True)
    n = x * jax.lax.rsqrt(m + 1e-6) * scale
    h = jax.nn.silu(n @ up)  # sp up
    return x + h @ down  # sp down


@program(X, [P(None, "x"), P(), P(None, "x"), P("x", None)], P(None, "x"),
         [s(4, 2048, 256), s(256), s(256, 1024), s(1024, 256)],
         {"megatron up": ("constraint", W + "|" + S), "megatron down": ("partial-sum", W + "|" + U)})
def sequence_parallel(x, scale, up, down):
    m = jnp.mean(x * x, -1, keepdims=True)
    n = x * jax.lax.rsqrt(m + 1e-6) * scale
    n = wsc(n, X)  # megatron up
    h = wsc(jax.nn.silu(n @ up), X, None, None, "x")
    return x + h @ down  # megatron down


@program(DM, [P("data"), P(None, "model")], P("data"), [s(8, 128, 192), s(192, 192)],
         {"heads 6": ("reshape", U), "?": ("output", U), "?heads product": ("reshape|operand-gather", U)})
def heads_six(x, wq):
    q = x @ wq
    q = q.reshape(8, 128, 6, 32)  # heads 6
    return jnp.einsum("bshd,bthd->bsht", q, q).sum(-1)  # heads product


@program(X, [P(None, "x"), P()], P("x"), [s(16, 64, 128), s(128, 128)], {"?merge 1": ("reshape|operand-gather", U),
         "?": ("output", U), "?merge 2": ("mismatch", U)})
def merge_tokens(x, w):
    t = x.reshape(16 * 64, 128)  # merge 1
    return jnp.tanh(t @ w)  # merge 2


@program(DM, [P("data", "model"), P("data", "model")], P("data", "model"), [s(512, 512)] * 2,
         {"axes add": ("mismatch|device-order|full-remat", U), "?": ("output", U)})
def transpose_two_axes(a, b):
    return a.T + b  # axes add


@program(X, [P(None, None, "x"), P(None, None, "x"), P(None, None, "x")], P(None, None, "x"), [s(4, 8, 512, 64)] * 3,
         {"context qk": ("operand-gather", S + "|" + W), "context av": ("operand-gather", S + "|" + W)})
def context_parallel(q, k, v):
    a = jnp.einsum("bhqd,bhkd->bhqk", q, k) * 0.125  # context qk
    a = jnp.where(jnp.tril(jnp.ones((512, 512), bool)), a, -1e9)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(a, -1), v)  # context av


@program(X, [P(None, "x"), P(), P(), P()], P(None, "x"), [s(4, 512, 512)] + [s(512, 8, 64)] * 2 + [s(8, 64, 512)],
         {"?ulysses q": ("constraint|operand-gather", U), "?ulysses k": ("constraint|operand-gather", U),
          "ulysses out": ("constraint|dispatch|mismatch", W)})
def ulysses(x, wq, wk, wo):  # the constraints go back into the products, and x is gathered for them
    q = wsc(jnp.einsum("bsd,dhe->bshe", x, wq), X, None, None, "x")  # ulysses q
    k = wsc(jnp.einsum("bsd,dhe->bshe", x, wk), X, None, None, "x")  # ulysses k
    a = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), -1)
    o = wsc(jnp.einsum("bhqk,bkhd->bqhd", a, k), X, None, "x")  # ulysses out
    return jnp.einsum("bshe,hed->bsd", o, wo)


# ---- vocabulary ----

@program(DM, [P("data"), P(), P("model", None)], P(), [s(64, 128, 256), i32(64, 128), s(4096, 256)],
         {"xent max": ("partial-sum", S + "|" + W), "xent sum": ("partial-sum", S + "|" + W),
          "?xent pick": ("gather-rows", S), "xent mean": ("partial-sum", W)}, )
def cross_entropy(h, labels, emb):
    logits = jnp.einsum("bsd,vd->bsv", h, emb)
    m = jax.lax.stop_gradient(logits.max(-1, keepdims=True))  # xent max
    z = jnp.log(jnp.exp(logits - m).sum(-1))  # xent sum
    picked = jnp.take_along_axis(logits - m, labels[..., None], -1)[..., 0]  # xent pick
    return (z - picked).mean()  # xent mean


@program(DM, [P("model", None), P("data")], P("data"), [s(8192, 256), i32(16, 128)],
         {"lookup": ("gather-rows", U + "|" + S)})
def embed_vocab(table, ids):
    return jnp.take(table, ids, axis=0)  # lookup


@program(X, [P(None, "x")], (P(), P()), [s(64, 4096)], {"best 8": ("unsplittable-dim", U)})
def top_tokens(logits):
    return tuple(jax.lax.top_k(logits, 8))  # best 8


@program(X, [P(None, "x")], P(), [s(64, 4096)], {"greedy": ("partial-sum", S)})
def greedy(logits):
    return jnp.argmax(logits, -1)  # greedy


# ---- moving along a split dim ----

@program(X, [P("x")], P("x"), [s(1024, 128)], {"ring": ("halo", S)})
def roll_rows(x):
    return x * 0.5 + jnp.roll(x, 1, axis=0)  # ring


@program(X, [P(None, "x"), P()], P(None, "x"), [s(8, 512, 128), s(8, 8, 128)],
         {"prefix": ("unsplittable-dim|halo", U + "|" + S), "?": ("output", U)})
def prefix_tokens(x, prefix):
    return jnp.concatenate([prefix, x], axis=1) * 2.0  # prefix


@program(X, [P(None, "x")], P(None, "x"), [s(8, 512, 64)], {"causal": ("halo", S)})
def causal_conv(x):
    k = jnp.ones((4, 1, 64), jnp.float32)
    how = dict(dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=64)
    return jax.lax.conv_general_dilated(x, k, (1,), [(3, 0)], **how)  # causal


@program(X, [P("x")], P("x"), [s(1024, 128)], {"flip": ("unsplittable-dim", U + "|" + S)})
def flip(x):
    return x[::-1] * 2.0  # flip


@program(X, [P(None, "x"), P()], P(), [s(64, 1024), i32()], {"window": ("unsplittable-dim", U)})
def window_at(x, at):
    return jax.lax.dynamic_slice_in_dim(x, at, 128, 1) * 2.0  # window


@program(X, [P(None, "x"), P(), P()], P(None, "x"), [s(8, 1024, 64), s(8, 1, 64), i32()],
         {"?cache": ("unsplittable-dim", U)})
def kv_cache(cache, new, at):
    return jax.lax.dynamic_update_slice(cache, new, (0, at, 0))  # cache


@program(X, [P("x"), P()], P(), [s(4096, 64), i32(128)], {"pick rows": ("gather-rows", U + "|" + S)})
def take_rows(x, ids):
    return jnp.take(x, ids, axis=0)  # pick rows


@program(X, [P("x")], P("x"), [s(1024, 64)],
         {"running": ("halo|unsplittable-dim|mismatch|device-order", S + "|" + U)}, is_cured=True)
def running_max(x):
    return jax.lax.cummax(x, axis=0)  # running


@program(X, [P("x"), P("x")], P("x"), [s(1024, 64), s(1024, 64)],
         {"scores sort": ("unsplittable-dim", U), "scores row": ("halo|one-device", S + "|" + U)})
def median_split(x, y):
    z = jnp.sort(x, axis=0)  # scores sort
    return y - z[512]  # scores row


# ---- loops ----

@program(X, [P("x"), P()], P("x"), [s(512, 256), s(6, 256, 256)],
         {"?scan asks": ("loop|constraint", U), "?scan product": ("loop|partial-sum|operand-gather", U),
          "?scan loop": ("mismatch", U), "?": ("output", U)})
def scan_constraint(x, weights):
    def body(h, w):
        h = wsc(h, X, None, "x")  # scan asks
        return jnp.tanh(h @ w), None  # scan product
    return jax.lax.scan(body, x, weights)[0]  # scan loop


@program(X, [P("x"), P("x")], P("x"), [s(512, 256), s(8, 256, 256)],
         {"stack": ("unsplittable-dim", U)})
def layers_split(x, weights):
    def body(h, w):
        return jnp.tanh(h @ w), None
    return jax.lax.scan(body, x, weights)[0]  # stack


@program(X, [P(None, "x"), P("x")], P("x"), [s(4, 256, 128), s(128, 128)],
         {"accum forward": ("weight-gather", W), "?accum sum": ("partial-sum|output", U + "|" + W)})
def accumulate(batches, w):
    def loss(w, x):
        return (jnp.tanh(x @ w) ** 2).sum()  # accum forward, accum sum
    def body(g, x):
        return g + jax.grad(loss)(w, x), None
    return jax.lax.scan(body, jnp.zeros_like(w), batches)[0]


@program(X, [P("x"), P(None, None, "x")], P(None, None, "x"), [s(256, 128), s(4, 128, 128)],
         {"ckpt layer": ("weight-gather", W), "?ckpt layer!": ("partial-sum", W + "|" + U)})
def checkpointed(x, weights):
    @jax.checkpoint
    def layer(h, w):
        return jnp.tanh(h @ w), None  # ckpt layer, ckpt layer!
    def loss(weights):
        h, _ = jax.lax.scan(layer, x, weights)
        return (h ** 2).sum()
    return jax.grad(loss)(weights)


# ---- statistics ----

@program(X, [P("x"), P()], P("x"), [s(64, 16, 16, 32), s(3, 3, 32, 64)],
         {"bn mean": ("partial-sum", S + "|" + W), "bn var": ("partial-sum", S + "|" + W)}, is_cured=False)
def batch_norm(x, k):
    y = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    m = y.mean((0, 1, 2))  # bn mean
    v = ((y - m) ** 2).mean((0, 1, 2))  # bn var
    return (y - m) * jax.lax.rsqrt(v + 1e-5)


@program(X, [P("x"), P(None, "x")], (P("x"), P(None, "x")), [s(512, 256), s(256, 512)], {"clip": ("partial-sum", W)})
def clip_by_norm(a, b):
    n = jnp.sqrt((a ** 2).sum() + (b ** 2).sum())  # clip
    return a / n, b / n


@program(X, [P("x")], P(), [i32(65536)], {"count": ("scatter", S + "|" + W)})
def histogram(labels):
    return jnp.zeros(1024, jnp.int32).at[labels].add(1)  # count


# ---- random numbers, libraries, by hand ----

@program(X, [P("x"), P()], P("x"), [s(1024, 256), s(2, dtype=jnp.uint32)], {})
def dropout_new(x, key):
    keep = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.9, x.shape)
    return jnp.where(keep, x / 0.9, 0)


@program(X, [P("x")], P("x"), [s(16, 64, 64)], {"inverse": ("unsplittable-dim", U)}, is_cured=False)
def batched_fft(x):
    return jnp.abs(jnp.fft.fft(x, axis=-1))  # inverse


@program(X, [P("x"), P("x")], P(), [s(512, 256), s(256, 256)], {"hand sum": ("by-hand", W), "hand gather": ("by-hand", W)})
def by_hand(x, w):
    def f(x, w):
        w = jax.lax.all_gather(w, "x", tiled=True)  # hand gather
        return jax.lax.psum((x @ w).sum(0), "x")  # hand sum
    return shard_map(f, X, (P("x"), P("x")), P())(x, w)


@program(X, [P("x")], P("x"), [s(512, 256)], {"hand ring": ("by-hand", W)})
def ring_by_hand(x):
    def f(x):
        return x + jax.lax.ppermute(x, "x", [(k, (k + 1) % 8) for k in range(8)])  # hand ring
    return shard_map(f, X, (P("x"),), P("x"))(x)


@program(X, [P("x"), P("x"), P("x")], P("x"), [s(2048, 128), s(128, 16), s(16, 128, 256)],
         {"moe in": ("constraint", U), "moe mask": ("constraint|mismatch", U),
          "moe out": ("dispatch", W), "moe combine": ("dispatch", W), "?moe route": ("weight-gather|partial-sum|operand-gather", W)})
def moe_top1(x, router, experts):  # "moe in" goes back into mask, which is made of a whole g then
    g = x.reshape(8, 256, 128)
    p = jax.nn.softmax(g @ router)  # moe route
    e = jnp.argmax(p, -1)
    slot = jnp.cumsum(jax.nn.one_hot(e, 16, dtype=jnp.int32), 1) - 1
    mask = jax.nn.one_hot(e, 16)[..., None] * jax.nn.one_hot(slot, 32).max(2)[:, :, None, :]  # moe mask
    t = wsc(jnp.einsum("gsm,gsec->egcm", g, mask), X, "x")  # moe in
    h = jnp.einsum("egcm,emh->egch", t, experts)
    h = wsc(jnp.swapaxes(h, 0, 1), X, "x")  # moe out
    return jnp.einsum("gech,gsec->gsh", h, mask)  # moe combine


@program(DM, [P("data"), P("model", None), P(None, "model")], P("data"),
         [s(4096, 1024), s(1024, 4096), s(4096, 1024)], {"wide up": ("weight-gather", S + "|" + U), "?": ("output", U)})
def mlp_wrong_side_long(x, up, down):  # so many rows that the weight is gathered instead of a sum made
    h = jax.nn.gelu(x @ up)  # wide up
    return h @ down


@program(DM, [P("data"), P("model", None)], P("data"), [s(8192, 1024), s(1024, 1024)],
         {"whole head": ("partial-sum", S)})
def head_over_model(x, w):
    return jnp.tanh(jnp.tanh(x) @ w)  # whole head
