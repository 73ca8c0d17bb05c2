"""More sharded programs, of the kinds that training code is made of: logical axes, nnx, optax, shard_map
inside jit, pipelines, rings, experts, optimizer states, decoding, images, graphs, linear algebra.
Answers were written down before any compiler or doctor saw the programs; `cure` too: what the change
must begin with (one of several, joined by |), "" where no sharding should be changed. Seven answers were
XLA's to correct: the scale of linen_logical's norm has a gradient too; half a group of group_norm_two fits
a device; what micro_batches and grouped_heads cut shows at the loop and at the repeat; each device keeps
its part of clip_loss's sums; ema_tree has the result to change too; cube_sequence may do without its
constraints."""
import functools, inspect
import jax, jax.numpy as jnp, numpy as np
import flax.linen as nn, optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import programs as first
from programs import DM, S, U, W, X, changed, devices, i32, s, shard_map, wsc

CUBE = Mesh(devices.reshape(2, 2, 2), ("data", "fsdp", "tensor"))
programs = {}
program = first.into(programs)


WG, PS, OG = "weight-gather", "partial-sum", "operand-gather"
RULES = (("batch", ("data", "fsdp")), ("embed", "fsdp"), ("mlp", "tensor"), ("act", None))


def logical(x, *names):
    return nn.with_logical_constraint(x, names, rules=RULES, mesh=CUBE)


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        n = nn.RMSNorm()(x)  # lg norm
        h = nn.Dense(1024, use_bias=False, name="up")(n)  # lg up
        h = logical(nn.silu(h), "batch", None, "mlp")
        y = nn.Dense(256, use_bias=False, name="down")(h)  # lg down
        return logical(x + y, "batch", None, None)


@program(CUBE, [{"RMSNorm_0": {"scale": P()}, "up": {"kernel": P("fsdp", "tensor")}, "down": {"kernel": P("tensor", "fsdp")}},
                P(("data", "fsdp"))],
         (P(), {"RMSNorm_0": {"scale": P()}, "up": {"kernel": P("fsdp", "tensor")}, "down": {"kernel": P("tensor", "fsdp")}}),
         [{"RMSNorm_0": {"scale": s(256)}, "up": {"kernel": s(256, 1024)}, "down": {"kernel": s(1024, 256)}}, s(64, 128, 256)],
         {"lg up": (WG + "|" + PS, W + "|" + U), "lg down": (WG + "|" + PS, W + "|" + U), "lg loss": (PS, W),
          "?lg grad": (PS, W + "|" + U), "lg norm": (PS, W)}, cure="")
def linen_logical(params, x):
    def loss(p):
        return (Block().apply({"params": p}, x) ** 2).mean()  # lg loss, lg grad
    value, g = jax.value_and_grad(loss)(params)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, g)


class Mlp(nnx.Module):
    def __init__(self, rngs):
        init = nnx.initializers.lecun_normal()
        self.up = nnx.Linear(512, 2048, use_bias=False, rngs=rngs, kernel_init=init)
        self.down = nnx.Linear(2048, 512, use_bias=False, rngs=rngs, kernel_init=init)

    def __call__(self, x):
        h = nnx.gelu(self.up(x))
        return self.down(h)  # nnx down


NNX = nnx.split(nnx.eval_shape(lambda: Mlp(nnx.Rngs(0))))


@program(DM, [{"up": {"kernel": P(None, "model")}, "down": {"kernel": P("model")}}, P("data")], P("data"),
         [{"up": {"kernel": s(512, 2048)}, "down": {"kernel": s(2048, 512)}}, s(512, 512)],
         {"nnx down": (PS, W)}, cure="")
def nnx_mlp(state, x):
    whole = NNX[1]
    nnx.replace_by_pure_dict(whole, state)
    return nnx.merge(NNX[0], whole)(x)


@program(X, [P("x"), P()], P("x"), [s(512, 256), s(256, 256)],
         {"island": ("constraint|mismatch|by-hand|reshape|dispatch", U), "?island back": ("constraint|mismatch|output|by-hand", U), "?": ("output", U)})
def island(x, w):
    h = jnp.tanh(x @ w)
    h = shard_map(lambda h: h - h.mean(0), X, (P(None, "x"),), P(None, "x"))(h)  # island
    return h * 2.0  # island back


@program(X, [P("x"), P(None, "x"), P("x")], P(None, "x"), [s(64, 128, 256), s(6, 256, 256), s(64, 128, 256)],
         {"sf gather": (WG, W), "?sf loss": (PS, W + "|" + U), "?sf grad": (PS, W + "|" + U)}, cure="")
def scan_fsdp_bf16(x, weights, y):
    def layer(h, w):
        return jnp.tanh(h @ w.astype(jnp.bfloat16)), None  # sf gather, sf grad
    def loss(weights):
        h, _ = jax.lax.scan(layer, x.astype(jnp.bfloat16), weights)
        return ((h.astype(jnp.float32) - y) ** 2).mean()  # sf loss
    return weights - 0.1 * jax.grad(loss)(weights)


@program(X, [P("x"), P()], P(), [s(8, 256, 256), s(16, 32, 256)],
         {"pipe send": ("by-hand", W), "pipe all": ("by-hand", W)}, cure="")
def pipeline(weights, batches):
    def stage(w, xs):
        n = jax.lax.axis_index("x")
        def tick(carry, t):
            inp = jnp.where(n == 0, xs[jnp.clip(t, 0, 15)], carry)
            out = jnp.tanh(inp @ w[0])
            nxt = jax.lax.ppermute(out, "x", [(k, k + 1) for k in range(7)])  # pipe send
            return nxt, jnp.where(n == 7, out, 0)
        carry = jax.lax.pcast(jnp.zeros((32, 256)), ("x",), to="varying")
        _, outs = jax.lax.scan(tick, carry, jnp.arange(23))
        return jax.lax.psum(outs[7:], "x")  # pipe all
    return shard_map(stage, X, (P("x"), P()), P())(weights, batches)


@program(X, [P("x"), P("x"), P("x")], P("x"), [s(8192, 128), s(8, 128, 512), s(8, 512, 128)],
         {"ep there": ("by-hand", W), "ep back": ("by-hand", W)}, cure="")
def experts_by_hand(x, up, down):
    def f(x, up, down):
        t = x.reshape(8, 128, 128)
        t = jax.lax.all_to_all(t, "x", 0, 0, tiled=True)  # ep there
        h = jax.nn.relu(t.reshape(1024, 128) @ up[0]) @ down[0]
        return jax.lax.all_to_all(h.reshape(8, 128, 128), "x", 0, 0, tiled=True).reshape(1024, 128)  # ep back
    return shard_map(f, X, (P("x"), P("x"), P("x")), P("x"))(x, up, down)


@program(X, [P(None, "x")] * 3, P(None, "x"), [s(4, 1024, 64)] * 3, {"ra k": ("by-hand", W), "ra v": ("by-hand", W)}, cure="")
def ring_attention(q, k, v):
    ring = [(n, (n + 1) % 8) for n in range(8)]
    def f(q, k, v):
        def step(_, c):
            k, v, num, den = c
            p = jnp.exp(jnp.einsum("bqd,bkd->bqk", q, k) / 8)
            num, den = num + p @ v, den + p.sum(-1, keepdims=True)
            k = jax.lax.ppermute(k, "x", ring)  # ra k
            v = jax.lax.ppermute(v, "x", ring)  # ra v
            return k, v, num, den
        _, _, num, den = jax.lax.fori_loop(0, 8, step, (k, v, jnp.zeros_like(q), jnp.zeros_like(q[..., :1])))
        return num / den
    return shard_map(f, X, (P(None, "x"),) * 3, P(None, "x"))(q, k, v)


@program(DM, [P("data"), P("data"), P(None, "model")], (P(), P(None, "model"), P("data")),
         [s(32, 128, 256), i32(32, 128), s(256, 8192)],
         {"vp soft": (PS, S + "|" + W), "vp loss": (PS, S + "|" + W), "vp head": (PS, W + "|" + U)}, cure="")
def vocab_parallel(h, labels, head):
    def loss(head, h):
        logits = h @ head  # vp head
        logp = jax.nn.log_softmax(logits, -1)  # vp soft
        return -(jax.nn.one_hot(labels, 8192) * logp).sum(-1).mean()  # vp loss
    value, (gw, gh) = jax.value_and_grad(loss, (0, 1))(head, h)
    return value, gw, gh


@program(X, [P(), P("x"), P("x"), P("x")], (P(), P("x")), [s(512, 256), s(512, 256), s(1024, 512), s(1024, 256)],
         {"z1 grad": (PS, W + "|" + U), "?z1 update": ("output|weight-gather|mismatch", W), "?": ("output", W)}, cure="")
def zero_one(w, momentum, x, y):
    g = jax.grad(lambda w: ((x @ w - y) ** 2).mean())(w)  # z1 grad
    momentum = 0.9 * momentum + g
    return w - 0.1 * momentum, momentum  # z1 update


@program(X, [P("x"), P(), P("x"), P("x")], (P(), P(), P()), [s(1024, 256), s(256, 1024), i32(1024), s(1024)],
         {"ev loss": (PS, W), "ev right": (PS, W), "?ev count": (PS, W), "": ("output", U)}, cure="hand")
def eval_step(x, w, labels, mask):
    logits = x @ w
    nll = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
    loss = (nll * mask).sum() / mask.sum()  # ev loss, ev count
    right = ((logits.argmax(-1) == labels) * mask).sum()  # ev right
    return loss, right, logits


@program(DM, [P("data"), P("data"), P(None, "model")], (P("data"), P("data")), [s(16, 4, 256), s(16, 4), s(256, 4096)],
         {"bs soft": (PS, S), "bs flat": ("reshape|mismatch|" + OG, U), "?bs top": ("unsplittable-dim", U), "?bs head": (OG + "|" + WG, U)})
def beam_step(h, scores, head):
    logits = h @ head  # bs head
    logp = jax.nn.log_softmax(logits, -1)  # bs soft
    total = (scores[..., None] + logp).reshape(16, 4 * 4096)  # bs flat
    return tuple(jax.lax.top_k(total, 4))  # bs top


@program(DM, [P(None, "data", "model"), P(), P()], P(None, "data", "model"), [s(4, 64, 64, 16), s(3, 3, 16, 16), s(3, 3, 16, 16)],
         {"im one": ("halo", S), "im pool": ("halo", S), "im two": ("halo", S)}, cure="store x|constrain|hand|")
def image_tiles(x, k1, k2):
    how = dict(padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    h = jax.nn.relu(jax.lax.conv_general_dilated(x, k1, (1, 1), **how))  # im one
    h = nn.avg_pool(h, (3, 3), (1, 1), "SAME")  # im pool
    return jax.lax.conv_general_dilated(h, k2, (1, 1), **how)  # im two


@program(DM, [P("data", None, None, "model")], P("data", None, None, "model"), [s(8, 16, 16, 64)],
         {"?gn cut": ("reshape", U), "?gn mean": (PS, S), "?gn var": (PS, S), "?gn back": ("reshape|mismatch", U), "?": ("output", U),
          "?gn norm": ("mismatch", U)})
def group_norm_two(x):
    g = x.reshape(8, 16, 16, 2, 32)  # gn cut
    m = g.mean((1, 2, 4), keepdims=True)  # gn mean
    v = ((g - m) ** 2).mean((1, 2, 4), keepdims=True)  # gn var
    n = (g - m) * jax.lax.rsqrt(v + 1e-5)  # gn norm
    return n.reshape(x.shape) * 1.5  # gn back


@program(DM, [P(("data", "model")), P(("model", "data"))], P(("data", "model")), [s(1024, 256)] * 2,
         {"swap add": ("device-order", U)}, cure="store y|store x")
def axes_swapped(x, y):
    return jnp.tanh(x) + y  # swap add


@program(X, [P("x")], P(), [s(1000, 128)], {"uneven": ("halo", S + "|" + U), "?uneven sum": (PS, W + "|" + S), "?": ("output", U)})
def uneven(x):
    d = x[4:] - x[:-4]  # uneven
    return (d ** 2).sum(0)  # uneven sum


@program(DM, [P("data"), P("data", "model"), P("data", "model")], P("data"), [s(16, 8, 64), s(16, 2048, 8, 64), s(16, 2048, 8, 64)],
         {"fd soft": (PS, S), "fd out": (PS, W)}, cure="store cache_k|")
def decode_long_cache(q, cache_k, cache_v):
    a = jnp.einsum("bhd,bshd->bhs", q, cache_k) / 8
    p = jax.nn.softmax(a, -1)  # fd soft
    return jnp.einsum("bhs,bshd->bhd", p, cache_v)  # fd out


@program(X, [P("x"), P("x")], P(), [s(4096, 128), s(4096)], {"ridge gram": (PS, W), "ridge right": (PS, W)}, cure="")
def ridge(x, y):
    gram = x.T @ x  # ridge gram
    right = x.T @ y  # ridge right
    return jax.scipy.linalg.solve(gram + 1e-3 * jnp.eye(128), right, assume_a="pos")


@program(X, [P("x"), P()], P(), [s(256, 256), s(256, 4)], {"lu": ("unsplittable-dim", U)}, cure="store a")
def solve_rows(a, b):
    return jnp.linalg.solve(a, b)  # lu


@program(X, [P("x"), P("x"), P("x"), P()], P("x"), [s(4096, 64), i32(16384), i32(16384), s(64, 64)],
         {"gnn take": ("gather-rows|gather-unprovable", U), "gnn sum": ("scatter|" + PS, S + "|" + U), "?": ("output", U)})
def graph_layer(nodes, source, target, w):
    messages = nodes[source] @ w  # gnn take
    total = jax.ops.segment_sum(messages, target, 4096)  # gnn sum
    return jax.nn.relu(nodes + total)


@program(X, [P("x"), P("x")], P("x"), [s(4096, 128), i32(4096)],
         {"pack sort": ("unsplittable-dim", U), "pack take": ("gather-unprovable|gather-rows", U)})
def pack_by_expert(x, expert):
    order = jnp.argsort(expert)  # pack sort
    return x[order] * 2.0  # pack take


@program(X, [P(None, "x")], P(None, "x"), [s(64, 512)],
         {"disc scan": ("unsplittable-dim|loop", U), "?disc t": ("mismatch|reshape|output|constraint", U), "?": ("output", U)}, cure="store rewards|hand")
def discounted(rewards):
    def back(total, r):
        total = r + 0.99 * total
        return total, total
    rows = rewards.T
    _, out = jax.lax.scan(back, jnp.zeros(64), rows, reverse=True)  # disc scan
    return out.T  # disc t


@program(X, [P(None, "x"), P()], P(None, "x"), [s(8, 1024, 128), s(128)], {"shift": ("halo", S)})
def token_shift(x, mu):
    before = jnp.pad(x[:, :-1], ((0, 0), (1, 0), (0, 0)))  # shift
    return x * mu + before * (1 - mu)


@program(DM, [P()], {"emb": P("model", "data"), "w": P("data", "model")}, [s(2, dtype=jnp.uint32)], {}, cure="")
def random_init(key):
    a, b = jax.random.split(jax.random.wrap_key_data(key))
    return {"emb": jax.random.normal(a, (8192, 256)) * 0.02, "w": jax.random.truncated_normal(b, -2, 2, (256, 1024))}


@program(DM, [P("data", "model"), P()], P("data"), [s(64, 8192), s(2, dtype=jnp.uint32)], {"draw": (PS, S)})
def sample_token(logits, key):
    return jax.random.categorical(jax.random.wrap_key_data(key), logits / 0.8)  # draw


@program(DM, [P("data"), P("data"), P(None, "model"), {"a": P(), "b": P(None, "model")}], {"a": P(), "b": P(None, "model")},
         [s(512, 256), s(512, 1024), s(256, 1024), {"a": s(256, 8), "b": s(8, 1024)}],
         {"lora delta": (PS, W), "?lora loss": (PS, W), "?lora": (PS, W)}, cure="")
def lora(x, y, base, ab):
    def loss(ab):
        h = x @ base  # lora
        h = h + (x @ ab["a"]) @ ab["b"] * 2.0  # lora delta
        return ((h - y) ** 2).mean()  # lora loss
    return jax.tree.map(lambda p, g: p - 0.1 * g, ab, jax.grad(loss)(ab))


EMA = {"embed": P("x"), "up": P(None, "x"), "down": P("x")}


@program(X, [EMA, dict(EMA, up=P("x"))], dict(EMA, up=P("x")), [{"embed": s(2048, 256), "up": s(256, 1024), "down": s(1024, 256)}] * 2,
         {"ema": ("mismatch", U), "?": ("output", U)}, cure="store ema|store params|hand")
def ema_tree(params, ema):
    return jax.tree.map(lambda e, p: 0.999 * e + 0.001 * p, ema, params)  # ema


TX = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))


@program(X, [{"w1": P("x"), "w2": P("x")}, P("x"), P("x")], {"w1": P("x"), "w2": P("x")},
         [{"w1": s(256, 1024), "w2": s(1024, 256)}, s(2048, 256), s(2048, 256)],
         {"ox up": (WG + "|" + PS, W + "|" + U), "ox down": (WG + "|" + PS, W + "|" + U), "ox clip": (PS, W)}, cure="")
def optax_step(params, x, y):
    def loss(p):
        h = jax.nn.relu(x @ p["w1"])  # ox up
        return ((h @ p["w2"] - y) ** 2).mean()  # ox down
    g = jax.grad(loss)(params)
    updates, _ = TX.update(g, TX.init(params), params)  # ox clip
    return optax.apply_updates(params, updates)


@program(X, [P("x"), P()], P(), [s(256, 128), s(128, 128)],
         {"?mb cut": ("reshape", U), "?mb grad": (PS, W), "?mb": ("reshape|unsplittable-dim|mismatch|loop|" + OG, U)})
def micro_batches(x, w):
    parts = x.reshape(4, 64, 128)  # mb cut
    def body(g, part):
        return g + jax.grad(lambda w: (jnp.tanh(part @ w) ** 2).sum())(w), None  # mb grad
    return jax.lax.scan(body, jnp.zeros_like(w), parts)[0]  # mb


@program(X, [P("x"), {"a": P("x"), "b": P("x")}], {"a": P("x"), "b": P("x")}, [s(4096, 256), {"a": s(256, 512), "b": s(512, 256)}],
         {"rp a": (WG + "|" + PS, W + "|" + U), "rp b": (WG + "|" + PS, W + "|" + U)}, cure="")
def remat_policy(x, p):
    @functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.nothing_saveable)
    def block(p, x):
        h = jnp.tanh(x @ p["a"])  # rp a
        return h @ p["b"]  # rp b
    return jax.grad(lambda p: (block(p, x) ** 2).sum())(p)


@program(DM, [P("data"), P(None, "model"), P(None, "model")], P("data", None, "model"), [s(8, 256, 512), s(512, 512), s(512, 128)],
         {"?gqa cut": ("reshape", U), "?gqa qk": ("reshape|mismatch|" + OG + "|" + PS, U + "|" + S), "?gqa rep": ("reshape|mismatch", U), "?": ("output", U)})
def grouped_heads(x, wq, wk):
    q = (x @ wq).reshape(8, 256, 8, 64)
    k = (x @ wk).reshape(8, 256, 2, 64)  # gqa cut
    k = jnp.repeat(k, 4, axis=2)  # gqa rep
    a = jnp.einsum("bqhd,bkhd->bqhk", q, k)  # gqa qk
    return jax.nn.softmax(a, -1)


@program(X, [P("x"), P("x")], P("x"), [s(8, 512, 256), s(2048, 256)],
         {"pos slice": ("halo|unsplittable-dim|mismatch|weight-gather|one-device|device-order|full-remat", U + "|" + S)}, cure="store wpe")
def positions(x, wpe):
    return jnp.tanh(x + wpe[:512])  # pos slice


@program(X, [P(None, None, "x"), P(), P()], P(None, None, "x"), [s(4, 1024, 512), s(1024, 512), s(1024, 512)],
         {"rot halves": ("unsplittable-dim|halo", U + "|" + S), "?rot cut": ("halo|unsplittable-dim|mismatch", U + "|" + S), "?": ("output", U),
          "?rot out": ("mismatch", U)})
def rotary(x, cos, sin):
    a, b = jnp.split(x, 2, -1)  # rot cut
    turned = jnp.concatenate([-b, a], -1)  # rot halves
    return x * cos + turned * sin  # rot out


@program(X, [P("x"), P("x"), P(), P()], P(), [s(2048, 512), s(2048, 512), s(512, 128), s(512, 128)],
         {"clip logits": (OG, S + "|" + W), "clip down": (PS + "|mismatch", S + "|" + W + "|" + U), "clip loss": (PS, W), "?clip diag": ("gather-rows|halo|mismatch|unsplittable-dim|gather-unprovable", U + "|" + S)})
def clip_loss(image, text, wi, wt):
    a, b = image @ wi, text @ wt
    logits = a @ b.T  # clip logits
    rows = jax.nn.logsumexp(logits, 1)
    columns = jax.nn.logsumexp(logits, 0)  # clip down
    right = (a * b).sum(-1)  # clip diag
    return (rows + columns - 2 * right).mean()  # clip loss


@program(X, [P("x"), P("x")], P("x"), [s(512, 256), s(8, 256, 256)], {"layer pick": ("one-device|unsplittable-dim|weight-gather|halo", U + "|" + S)}, cure="split another dim")
def layers_by_device(x, weights):
    for k in range(8):
        x = jnp.tanh(x @ weights[k])  # layer pick
    return x


@program(DM, [P("data"), P(None, "model")], P("data", None, "model"), [s(8, 256, 512), s(512, 1536)],
         {"qkv cut": ("halo|unsplittable-dim|mismatch|device-order", U + "|" + S), "?qkv use": ("mismatch|" + OG + "|halo", U + "|" + S), "?": ("output", U), "?qkv sum": ("mismatch", U)})
def fused_qkv(x, wqkv):
    qkv = x @ wqkv
    q, k, v = jnp.split(qkv, 3, -1)  # qkv cut
    return jax.nn.silu(q) * k + v  # qkv use, qkv sum


@program(DM, [P("data"), P("model"), P("data")], (P(), P("model")), [i32(32, 128), s(8192, 256), i32(32, 128)],
         {"tied take": ("gather-rows|scatter|" + PS, U + "|" + S + "|" + W), "tied head": (PS, W + "|" + U), "?tied loss": (PS + "|gather-rows|scatter", W + "|" + S)}, cure="")
def tied_embedding(ids, embed, labels):
    def loss(e):
        h = jnp.tanh(e[ids])  # tied take
        logits = jnp.einsum("bsd,vd->bsv", h, e)  # tied head
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()  # tied loss
    return jax.value_and_grad(loss)(embed)


@program(X, [P("x"), P("x"), P("x"), P("x")], P("x"), [s(4096, 256), s(256, 512), s(512), s(512)],
         {"fb kernel": (WG, W), "fb bias": (WG, W), "fb norm": (WG, W)}, cure="")
def fsdp_bias(x, kernel, bias, scale):
    h = x @ kernel  # fb kernel
    h = h + bias  # fb bias
    m = (h * h).mean(-1, keepdims=True)
    return h * jax.lax.rsqrt(m + 1e-6) * scale  # fb norm


@program(CUBE, [P(("data", "fsdp"), "tensor"), P("fsdp", "tensor"), P("tensor", "fsdp")], P(("data", "fsdp"), "tensor"),
         [s(32, 512, 256), s(256, 1024), s(1024, 256)],
         {"cs up": (WG, W), "cs norm": ("constraint|" + OG, W + "|" + S), "cs down": (WG + "|" + PS, W + "|" + U)})
def cube_sequence(x, up, down):
    n = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    n = wsc(n, CUBE, ("data", "fsdp"))  # cs norm
    h = wsc(jax.nn.silu(n @ up), CUBE, ("data", "fsdp"), None, "tensor")  # cs up
    return x + wsc(h @ down, CUBE, ("data", "fsdp"), "tensor")  # cs down

