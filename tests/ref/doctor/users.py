"""Training and serving steps with the mistakes that people make in them, or with none: an axis forgotten in a
constraint, a weight split on the wrong side, tokens picked along a split sequence, a pipeline of rolls, batches
cut by a loop's counter, tables by device, casts behind a gather. Their answers were written before any compiler
or doctor saw them. Four were XLA's to correct: 8 devices are 4 x 2 of patchify's 4 x 16 rows, and what is left is
a sum; top_k works on all of nearest's pairs; rnn_columns has no cheaper way at this memory; and to make whole
casts' weights takes more than to move its few rows. One is left to the price: attention_wo's sum takes as long as
the two gathers that it has."""
import jax, jax.numpy as jnp
import optax
from jax.sharding import PartitionSpec as P
import programs as first
from programs import DM, S, U, W, X, i32, s, shard_map, wsc

programs = {}
program = first.into(programs)


WG, PS, OG, UN = "weight-gather", "partial-sum", "operand-gather", "unsplittable-dim"
ROWS = "gather-rows|gather-unprovable"
SU, SW = S + "|" + U, S + "|" + W


# ---- tensor parallel ----

@program(DM, [P("data"), P(None, "model"), P(None, "model"), P(None, "model"), P(None, "model")], P("data"),
         [s(8, 256, 512)] + [s(512, 512)] * 4, {"merge heads": (OG, SW), "?": ("output", U), "?out again": ("output|mismatch", U)})
def attention_wo(x, wq, wk, wv, wo):
    def heads(w):
        return (x @ w).reshape(8, 256, 8, 64)
    a = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", heads(wq), heads(wk)) / 8, -1)
    o = jnp.einsum("bhqk,bkhd->bqhd", a, heads(wv)).reshape(8, 256, 512)
    return x + o @ wo  # merge heads, out again


@program(DM, [P("data"), P(None, "model"), P("model")], P("data"), [s(16, 256, 512), s(512, 1024), s(1024, 512)],
         {"forgot data": ("constraint", U), "?back to data": ("mismatch|output|constraint", U), "?": ("output", U), "down sum": (PS, W)},
         cure="at users.py|constrain")
def forgot_batch(x, up, down):
    h = jax.nn.gelu(x @ up)
    h = wsc(h, DM, None, None, "model")  # forgot data
    return x + h @ down  # down sum, back to data


@program(X, [P(), P(None, "x"), P("x")], P(), [s(4, 256, 768), s(768, 768), s(768, 768)],
         {"twelve heads": ("reshape", U), "?merged": ("reshape|" + OG + "|" + PS, U + "|" + SW), "?": ("output|" + PS, U + "|" + SW)},)
def twelve_heads(x, wv, wo):
    v = (x @ wv).reshape(4, 256, 12, 64)  # twelve heads
    v = v / jnp.sqrt((v * v).mean(-1, keepdims=True) + 1e-6)
    return v.reshape(4, 256, 768) @ wo  # merged


@program(DM, [P(None, "data"), P(), P(None, "model")], P("data", "model"), [s(32, 64, 256), s(256, 512), s(512, 512)],
         {"hidden": (OG, SW)})
def rnn_columns(xs, wx, wh):
    def step(h, x):
        return jnp.tanh(x @ wx + h @ wh), None  # hidden
    return jax.lax.scan(step, jnp.zeros((64, 512)), xs)[0]


# ---- shapes ----

@program(X, [P(None, "x"), P()], P(None, None, None), [s(8, 64, 64, 3), s(768, 256)],
         {"embed": (PS, SU), "?": ("output", U)}, cure="store images|hand the result",
         cured=([P("x"), P()], P("x")))
def patchify(images, w):
    p = images.reshape(8, 4, 16, 4, 16, 3)  # patches
    p = p.transpose(0, 1, 3, 2, 4, 5).reshape(8, 16, 768)
    return p @ w  # embed


@program(X, [P(None, None, "x"), P(None, None, "x")], P("x"), [s(8, 128, 16, 32), s(8, 128, 16, 32)],
         {"batch and heads": ("reshape", U), "?keys": ("reshape", U), "?": ("output|reshape", U), "?scores": ("reshape|mismatch", U)},
         cured=([P("x"), P("x")], P("x")))
def merge_batch_heads(q, k):
    q = q.transpose(0, 2, 1, 3).reshape(8 * 16, 128, 32)  # batch and heads
    k = k.transpose(0, 2, 1, 3).reshape(8 * 16, 128, 32)  # keys
    return jax.nn.softmax(q @ k.transpose(0, 2, 1), -1)  # scores


@program(X, [P(None, "x"), P()], P(None, "x"), [s(4, 1024, 128), s(4, 8, 128)],
         {"append": ("unsplittable-dim|halo|mismatch", SU), "?append shift": ("halo|mismatch|device-order", SU), "?": ("output", U)},
         cured=([P(None, None, "x"), P(None, None, "x")], P(None, None, "x")))
def append_cache(cache, new):
    return jnp.concatenate([cache, new], 1)[:, 8:] * 1.5  # append, append shift


@program(X, [P(None, "x")], P(None, "x"), [s(512, 1000)], {"pad vocabulary": ("halo|mismatch|" + UN, SU), "?": ("output", U)},
         cured=([P("x")], P("x")))
def pad_vocabulary(logits):
    return jnp.pad(logits, ((0, 0), (0, 24)), constant_values=-1e9) * 0.5  # pad vocabulary


# ---- along a split sequence or vocabulary ----

@program(X, [P(None, "x"), P(None, "x"), P()], P(), [s(4, 1024, 256), i32(4, 1024), s(256, 512)],
         {"?shift": ("halo", SU), "?shift labels": ("halo", SU), "mean loss": (PS, W), "?pick": (ROWS + "|halo", SU)})
def next_token(h, tokens, head):
    logits = (h @ head)[:, :-1]  # shift
    labels = tokens[:, 1:]  # shift labels
    nll = optax.softmax_cross_entropy_with_integer_labels(logits, labels)  # pick
    return nll.mean()  # mean loss


@program(X, [P(None, "x"), P(), P()], P(None, "x"), [s(8, 1024, 256), s(256), s(256, 256)],
         {"which": (UN, U), "taken": (ROWS, U), "?back": ("scatter|" + PS + "|" + ROWS + "|output|mismatch", SU + "|" + W), "?": ("output", U)},
         cured=([P("x"), P(), P()], P("x")))
def mixture_of_depths(x, router, w):
    _, at = jax.lax.top_k(x @ router, 128)  # which
    some = jnp.take_along_axis(x, at[..., None], 1)  # taken
    y = jnp.tanh(some @ w)
    return jax.vmap(lambda row, n, v: row.at[n].add(v))(x, at, y)  # back


@program(X, [P(None, "x")], P(None, "x"), [s(64, 8192)],
         {"descending": (UN, U), "?so far": (UN + "|mismatch", U), "soft": (PS, SU), "?least": (PS + "|mismatch", SU), "?": ("output", U), "?cut": ("mismatch|output", U)},
         cured=([P("x")], P("x")))
def nucleus(logits):
    p = jax.nn.softmax(logits, -1)  # soft
    q = jnp.sort(p, -1)[:, ::-1]  # descending
    below = jnp.cumsum(q, -1) < 0.9  # so far
    least = jnp.where(below, q, 1.0).min(-1, keepdims=True)  # least
    return jnp.where(p >= least, logits, -1e9)  # cut


@program(DM, [P("data"), P("data"), P(None, "model")], P(), [s(16, 128, 256), i32(16, 128), s(256, 8192)],
         {"log soft": (PS, SW), "picked": (PS + "|" + ROWS, SU + "|" + W), "all mean": (PS, W)})
def vocabulary_pick(h, labels, head):
    logp = jax.nn.log_softmax(h @ head, -1)  # log soft
    right = jnp.take_along_axis(logp, labels[..., None], -1)  # picked
    return -right.mean()  # all mean


# ---- tokens and tables ----

@program(X, [P("x"), P(), P("x"), P("x")], P("x"), [s(4096, 256), s(256, 16), s(16, 256, 512), s(16, 512, 256)],
         {"number": (UN, U), "to slots": ("scatter|" + PS, SU + "|" + W), "from slots": (ROWS, SU + "|" + W), "?up": ("dispatch|mismatch", SW)})
def moe_scatter(x, router, up, down):
    e = (x @ router).argmax(-1)
    one = jax.nn.one_hot(e, 16, dtype=jnp.int32)
    n = (jnp.cumsum(one, 0) * one).sum(-1) - 1  # number
    slot = jnp.where(n < 320, e * 320 + n, 16 * 320)
    t = jnp.zeros((16 * 320, 256)).at[slot].add(x, mode="drop").reshape(16, 320, 256)  # to slots
    h = jnp.einsum("ech,ehd->ecd", jax.nn.relu(jnp.einsum("ecd,edh->ech", t, up)), down)  # up
    return h.reshape(16 * 320, 256)[slot]  # from slots


@program(X, [P("x"), P("x"), P("x"), P()], P("x"), [s(8, 10000, 64), i32(8, 1024), s(1024, 64), s(576, 128)],
         {"by batch": ("constraint|dispatch", SW)}, cure="")
def recommender(tables, ids, dense, w):
    e = jax.vmap(lambda t, i: t[i])(tables, ids)
    e = wsc(e.transpose(1, 0, 2), X, "x")  # by batch
    return jax.nn.relu(jnp.concatenate([dense, e.reshape(1024, 512)], 1) @ w)


@program(X, [P("x"), P("x")], P("x"), [s(1024, 64), s(4096, 64)], {"pairs": (OG, SW), "best pairs": (UN, U)})
def nearest(x, y):
    d = jax.vmap(lambda a: jax.vmap(lambda b: ((a - b) ** 2).sum())(y))(x)  # pairs
    return jax.lax.top_k(-d, 5)[1]  # best pairs


@program(X, [P("x"), P("x")], P("x"), [s(64, 72, 72, 3), i32(64)], {})
def crop(images, at):
    return jax.vmap(lambda im, n: jax.lax.dynamic_slice(im, (n, n, 0), (64, 64, 3)))(images, at)


# ---- steps ----

@program(X, [P("x"), P()], P(), [s(8, 256, 256), s(16, 32, 256)],
         {"to the next": ("halo", W), "?to the next!": ("halo", SU), "?last": ("one-device|" + PS + "|halo|output", SU + "|" + W), "?in": ("one-device|" + PS + "|halo", SU + "|" + W), "?": ("output|" + PS, U + "|" + SW)}, cure="")
def pipeline_of_rolls(weights, batches):
    def tick(state, t):
        state = state.at[0].set(batches[jnp.minimum(t, 15)])  # in
        out = jax.vmap(lambda h, w: jnp.tanh(h @ w))(wsc(state, X, "x"), weights)
        return jnp.roll(out, 1, 0), out[-1]  # to the next, to the next!, last
    return jax.lax.scan(tick, jnp.zeros((8, 32, 256)), jnp.arange(23))[1][7:]


@program(X, [P("x"), P("x"), P()], P(), [s(1024, 256), s(1024, 256), s(256, 256)],
         {"cut batch": ("loop|" + UN + "|" + ROWS + "|one-device|" + OG, U), "?cut answers": ("loop|" + UN + "|" + ROWS + "|one-device|" + OG, U),
          "?sum of parts": (PS, W + "|" + U)})
def accumulate_by_counter(x, y, w):
    def part(k, g):
        a = jax.lax.dynamic_slice_in_dim(x, k * 128, 128)  # cut batch
        b = jax.lax.dynamic_slice_in_dim(y, k * 128, 128)  # cut answers
        return g + jax.grad(lambda w: ((a @ w - b) ** 2).mean())(w)  # sum of parts
    return w - 0.1 * jax.lax.fori_loop(0, 8, part, jnp.zeros_like(w))


@program(X, [P("x"), P("x"), P("x")], P("x"), [s(512, 512), s(512, 1024), s(1024, 512)],
         {"cast late": ("constraint|" + WG, U + "|" + SW), "cast first": ("constraint|" + WG, U + "|" + SW)}, says="bf16|cast|convert|half")
def casts(x, w1, w2):
    w1 = wsc(w1, X).astype(jnp.bfloat16)  # cast late
    w2 = wsc(w2.astype(jnp.bfloat16), X)  # cast first
    return (jax.nn.relu(x.astype(jnp.bfloat16) @ w1) @ w2).astype(jnp.float32)


@program(X, [P(), P("x"), P("x"), P("x"), P("x")], (P(), P("x"), P("x")), [s(512, 256), s(512, 256), s(512, 256), s(1024, 512), s(1024, 256)],
         {"zero grad": (PS, U), "?zero loss": (PS, W), "?zero step": (WG + "|output", W), "?": ("output", W)}, says="reduce-scatter|psum_scatter")
def adam_zero(w, mu, nu, x, y):
    g = jax.grad(lambda w: ((x @ w - y) ** 2).mean())(w)  # zero grad, zero loss
    mu, nu = 0.9 * mu + 0.1 * g, 0.99 * nu + 0.01 * g * g
    return w - 0.01 * mu / (jnp.sqrt(nu) + 1e-8), mu, nu  # zero step


@program(DM, [P("data"), P(None, "model"), P(None, "model")], P("data", None, "model"), [s(8, 256, 512), s(512, 512), s(512, 512)],
         {"kernel": ("constraint", U), "?kernel back": ("constraint|mismatch|output", U), "?": ("output|constraint", U)}, says="shard_map|data|spec")
def kernel_specs(x, wq, wk):
    def kernel(q, k):
        return jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), -1).sum(-1).swapaxes(1, 2)
    q, k = ((x @ w).reshape(8, 256, 8, 64) for w in (wq, wk))
    spec = P(None, None, "model")
    return shard_map(kernel, DM, (spec, spec), spec)(q, k) * 2.0  # kernel, kernel back


# ---- what one of them has alone: written after the first run ----

@program(X, [P("x"), P("x")], P("x"), [s(4096, 256), i32(4096)], {"slots": ("scatter", SU)}, cured=([P(None, "x"), P()], P(None, "x")))
def slots_of_all(x, slot):
    return jnp.zeros((5120, 256)).at[slot].add(x, mode="drop")  # slots


# ---- LATER: written when the first ones were answered, run once before anything was mended for them ----

FIRST = list(programs)


@program(DM, [P("data"), P(None, "model"), P("data")], P("data"), [s(2048, 256), s(256, 1024), s(2048, 1024)],
         {"mask lost": ("constraint", U), "?mask again": ("mismatch|constraint|output", U), "?": ("output", U)}, cure="constrain|at users.py")
def forgot_model(x, w, mask):
    y = wsc(x @ w, DM, "data")  # mask lost
    return jax.nn.silu(y) * mask  # mask again


@program(X, [P("x"), P("x")], P("x"), [s(16, 512, 64), i32(16, 512)], {})
def sorted_tokens(x, keys):
    return jnp.take_along_axis(x, jnp.argsort(keys, 1)[..., None], 1)


@program(X, [P(None, "x"), P()], P(), [s(64, 1024, 32), s(32, 128)], {"pool all": (PS, SU + "|" + W), "?": ("output", U)},
         cured=([P("x"), P()], P("x")))
def mean_pool(x, w):
    return x.mean(1) @ w  # pool all


@program(X, [P("x"), P()], P(), [s(4096, 64), s(128, 64)], {"centres": (PS, W), "how many": (PS, W)})
def kmeans(x, centres):
    near = ((x[:, None] - centres[None]) ** 2).sum(-1).argmin(1)
    one = jax.nn.one_hot(near, 128)
    return (one.T @ x) / one.sum(0)[:, None]  # centres, how many


@program(DM, [P("data"), P("data", "model"), P("model", "data")], P("data"), [s(4096, 512), s(512, 2048), s(2048, 512)],
         {"scan up": (WG, W), "scan down": (WG, W), "scan down!": (PS, W)}, cure="")
def fsdp_and_tensor(x, up, down):
    h = jax.nn.gelu(x @ up)  # scan up
    return x + h @ down  # scan down, scan down!


@program(X, [P("x"), P("x")], P(), [s(8192, 64), s(8192)], {"sum of squares": (PS, W), "right side": (PS, W)})
def normal_equations(a, b):
    left = a.T @ a  # sum of squares
    right = a.T @ b  # right side
    return jnp.linalg.solve(left + 1e-3 * jnp.eye(64), right)


LATER = [name for name in programs if name not in FIRST]
