"""Architectures: recurrences without attention, experts, towers, volumes, graphs in space, operators, reversible and local layers."""
import functools

import jax
import jax.numpy as jnp
from steps import S, cross_entropy, ints, key, shapes, step, trained


@step("flax")
def nnx_scanned_decoder():
    """A decoder whose layers nnx scans with remat: rotary positions, few keys for many queries, gated mlp, tied words."""
    import optax
    from flax import nnx

    width, heads, kv, head = 64, 4, 2, 16

    class Block(nnx.Module):
        def __init__(self, rngs):
            lin = functools.partial(nnx.Linear, use_bias=False, rngs=rngs)
            self.n1, self.n2 = nnx.RMSNorm(width, rngs=rngs), nnx.RMSNorm(width, rngs=rngs)
            self.q, self.k, self.v, self.o = lin(width, heads * head), lin(width, kv * head), lin(width, kv * head), lin(width, width)
            self.gate, self.up, self.down = lin(width, 128), lin(width, 128), lin(128, width)

        def __call__(self, x):
            def turn(y):
                a = jnp.arange(y.shape[1])[:, None] / 10000.0 ** (jnp.arange(head // 2) / (head // 2))
                p, q = jnp.split(y, 2, -1)
                c, s = jnp.cos(a)[:, None], jnp.sin(a)[:, None]
                return jnp.concatenate([p * c - q * s, q * c + p * s], -1)

            b, t, _ = x.shape
            h = self.n1(x)
            q, k, v = (f(h).reshape(b, t, -1, head) for f in (self.q, self.k, self.v))
            x = x + self.o(jax.nn.dot_product_attention(turn(q), turn(k), v, is_causal=True).reshape(b, t, width))
            h = self.n2(x)
            return x + self.down(nnx.silu(self.gate(h)) * self.up(h))

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.words = nnx.Embed(256, width, rngs=rngs)
            self.blocks = nnx.vmap(Block, in_axes=0, out_axes=0)(rngs.fork(split=4))
            self.norm = nnx.RMSNorm(width, rngs=rngs)

        def __call__(self, t):
            run = nnx.scan(nnx.remat(lambda x, block: block(x)), in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
            return self.words.attend(self.norm(run(self.words(t), self.blocks)))

    graph, params = nnx.split(nnx.eval_shape(lambda: Net(nnx.Rngs(0))))
    keep = lambda p, t, y: cross_entropy(nnx.merge(graph, p)(t), y)
    return trained(keep, optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3)), params, ints(8, 32), ints(8, 32))


@step("equinox")
def selective_state_space():
    """Mamba: a short depthwise convolution, steps that depend on the input, an associative scan along time."""
    import equinox as eqx
    import optax

    width, inner, states = 32, 64, 8

    class Mixer(eqx.Module):
        norm: eqx.nn.RMSNorm
        into: eqx.nn.Linear
        conv: eqx.nn.Conv1d
        seen: eqx.nn.Linear
        pace: eqx.nn.Linear
        decay: jax.Array
        direct: jax.Array
        out: eqx.nn.Linear

        def __init__(self, k):
            k = jax.random.split(k, 5)
            self.norm, self.into = eqx.nn.RMSNorm(width), eqx.nn.Linear(width, 2 * inner, use_bias=False, key=k[0])
            self.conv = eqx.nn.Conv1d(inner, inner, 4, padding=[(3, 0)], groups=inner, key=k[1])
            self.seen, self.pace = eqx.nn.Linear(inner, 4 + 2 * states, key=k[2]), eqx.nn.Linear(4, inner, key=k[3])
            self.decay, self.direct = jnp.zeros((inner, states)), jnp.ones(inner)
            self.out = eqx.nn.Linear(inner, width, use_bias=False, key=k[4])

        def __call__(self, x):
            u, z = jnp.split(jax.vmap(self.into)(jax.vmap(self.norm)(x)), 2, -1)
            u = jax.nn.silu(self.conv(u.T).T)
            pace, b, c = jnp.split(jax.vmap(self.seen)(u), [4, 4 + states], -1)
            pace = jax.nn.softplus(jax.vmap(self.pace)(pace))
            a = jnp.exp(pace[..., None] * -jnp.exp(self.decay))
            _, h = jax.lax.associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (a, (pace * u)[..., None] * b[:, None]))
            return x + jax.vmap(self.out)((jnp.einsum("tis,ts->ti", h, c) + self.direct * u) * jax.nn.silu(z))

    class Net(eqx.Module):
        words: eqx.nn.Embedding
        mixers: list
        head: eqx.nn.Linear

        def __init__(self, k):
            k = jax.random.split(k, 4)
            self.words, self.mixers = eqx.nn.Embedding(128, width, key=k[0]), [Mixer(k[1]), Mixer(k[2])]
            self.head = eqx.nn.Linear(width, 128, key=k[3])

        def __call__(self, t):
            x = jax.vmap(self.words)(t)
            for mixer in self.mixers:
                x = mixer(x)
            return jax.vmap(self.head)(x)

    net = eqx.filter_eval_shape(Net, jax.random.PRNGKey(0))
    params, static = eqx.partition(net, lambda x: isinstance(x, jax.ShapeDtypeStruct))
    loss = lambda p, t, y: cross_entropy(jax.vmap(eqx.combine(p, static))(t), y)
    return trained(loss, optax.lion(1e-4), params, ints(8, 32), ints(8, 32))


@step("haiku")
def weighted_key_value():
    """RWKV: the last word mixed in, a sum that decays with the largest exponent kept aside, receptance; no attention."""
    import haiku as hk
    import optax

    width = 64

    def shifted(x):
        return jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]

    def mix(x, before, name):
        m = hk.get_parameter("mix_" + name, [width], init=jnp.ones)
        return x * m + before * (1 - m)

    class Time(hk.Module):
        def __call__(self, x):
            w, first = (hk.get_parameter(n, [width], init=jnp.zeros) for n in ("decay", "first"))
            before = shifted(x)
            r, k, v = (hk.Linear(width, False, name=n)(mix(x, before, n)) for n in "rkv")

            def go(c, kv):
                num, den, top = c
                k, v = kv
                t = jnp.maximum(top, first + k)
                a, b = jnp.exp(top - t), jnp.exp(first + k - t)
                out = (a * num + b * v) / (a * den + b)
                t = jnp.maximum(top - jnp.exp(w), k)
                a, b = jnp.exp(top - jnp.exp(w) - t), jnp.exp(k - t)
                return (a * num + b * v, a * den + b, t), out

            zero = jnp.zeros((x.shape[0], width))
            _, y = hk.scan(go, (zero, zero, zero - 1e38), (k.swapaxes(0, 1), v.swapaxes(0, 1)))
            return hk.Linear(width, False, name="o")(jax.nn.sigmoid(r) * y.swapaxes(0, 1))

    class Channel(hk.Module):
        def __call__(self, x):
            before = shifted(x)
            k = hk.Linear(256, False, name="k")(mix(x, before, "k"))
            return jax.nn.sigmoid(hk.Linear(width, False, name="r")(mix(x, before, "r"))) * hk.Linear(width, False)(jax.nn.relu(k) ** 2)

    def forward(t):
        x = hk.Embed(256, width)(t)
        for _ in range(3):
            x = x + Time()(hk.LayerNorm(-1, True, True)(x))
            x = x + Channel()(hk.LayerNorm(-1, True, True)(x))
        return hk.Linear(256, False, name="head")(hk.LayerNorm(-1, True, True)(x))

    net = hk.without_apply_rng(hk.transform(forward))
    t = ints(8, 24)
    return trained(lambda p, t, y: cross_entropy(net.apply(p, t), y), optax.adam(1e-3), shapes(net.init, key(), t), t, t)


@step("flax")
def ragged_experts():
    """Words sorted by their expert, one ragged product for all experts, back in their places; the load is balanced."""
    import optax

    width, experts = 64, 8
    layer = {"router": S(width, experts), "up": S(experts, width, 128), "down": S(experts, 128, width), "scale": S(width)}
    params = {"words": S(256, width), "layers": [layer, layer], "head": S(width, 256)}

    def mixed(p, x):
        said = jax.nn.softmax(x @ p["router"])
        share, chosen = jax.lax.top_k(said, 2)
        flat = chosen.reshape(-1)
        order = jnp.argsort(flat)
        sizes = jnp.bincount(flat, length=experts).astype(jnp.int32)
        h = jax.lax.ragged_dot(x[order // 2], p["up"], sizes)
        h = jax.lax.ragged_dot(jax.nn.gelu(h), p["down"], sizes)
        back = jnp.zeros_like(h).at[order].set(h).reshape(-1, 2, width)
        load = jnp.mean(jax.nn.one_hot(chosen[:, 0], experts), 0)
        return jnp.einsum("nkd,nk->nd", back, share), experts * jnp.sum(load * jnp.mean(said, 0))

    def loss(p, t, y):
        x, even = p["words"][t].reshape(-1, width), 0.0
        for one in p["layers"]:
            h, more = mixed(one, x * jax.lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6) * one["scale"])
            x, even = x + h, even + more
        return cross_entropy(x @ p["head"], y.reshape(-1)) + 0.01 * even

    return trained(loss, optax.adafactor(1e-3, min_dim_size_to_factor=32), params, ints(8, 16), ints(8, 16))


@step("flax")
def sigmoid_towers():
    """Pictures and words in two towers, every pair judged for itself by a learned heat and bias."""
    import flax.linen as nn
    import optax

    class Tower(nn.Module):
        @nn.compact
        def __call__(self, x):
            for _ in range(2):
                x = x + nn.MultiHeadDotProductAttention(4)(nn.LayerNorm()(x), nn.LayerNorm()(x))
                x = x + nn.Dense(64)(nn.gelu(nn.Dense(128)(nn.LayerNorm()(x))))
            probe = self.param("probe", nn.initializers.normal(), (1, 1, 64))
            x = nn.MultiHeadDotProductAttention(4)(jnp.tile(probe, (x.shape[0], 1, 1)), x)[:, 0]
            return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

    class Both(nn.Module):
        @nn.compact
        def __call__(self, picture, words):
            a = nn.Conv(64, (8, 8), 8)(picture).reshape(picture.shape[0], -1, 64)
            a = Tower(name="sees")(a + self.param("places", nn.initializers.normal(), (1, 16, 64)))
            b = Tower(name="reads")(nn.Embed(256, 64)(words))
            return a @ b.T * jnp.exp(self.param("heat", nn.initializers.zeros, ())) + self.param("bias", nn.initializers.zeros, ())

    net, x, t = Both(), S(16, 32, 32, 3), ints(16, 12)

    def loss(p, x, t):
        near = net.apply(p, x, t)
        return -jnp.mean(jnp.sum(jax.nn.log_sigmoid(near * (2 * jnp.eye(16) - 1)), -1))

    return trained(loss, optax.lamb(1e-3), shapes(net.init, key(), x, t), x, t)


@step("flax")
def volume_segmentation():
    """A 3-D U: convolutions down, transposed ones up, instance norms, an overlap loss beside cross-entropy."""
    import flax.linen as nn
    import optax

    class Two(nn.Module):
        width: int

        @nn.compact
        def __call__(self, x):
            for _ in range(2):
                x = nn.leaky_relu(nn.InstanceNorm()(nn.Conv(self.width, (3, 3, 3))(x)))
            return x

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            kept = []
            for width in (8, 16):
                x = Two(width)(x)
                kept.append(x)
                x = nn.max_pool(x, (2, 2, 2), (2, 2, 2))
            x = Two(32)(x)
            for width in (16, 8):
                x = nn.ConvTranspose(width, (2, 2, 2), (2, 2, 2))(x)
                x = Two(width)(jnp.concatenate([x, kept.pop()], -1))
            return nn.Conv(4, (1, 1, 1))(x)

    net, x, y = Net(), S(4, 16, 16, 16, 1), ints(4, 16, 16, 16)

    def loss(p, x, y):
        said, true = jax.nn.softmax(net.apply(p, x)), jax.nn.one_hot(y, 4)
        both, each = jnp.sum(said * true, (1, 2, 3)), jnp.sum(said + true, (1, 2, 3))
        return 1 - jnp.mean((2 * both + 1) / (each + 1)) - jnp.mean(jnp.sum(true * jnp.log(said + 1e-6), -1))

    return trained(loss, optax.sgd(0.01, 0.99, nesterov=True), shapes(net.init, key(), x), x, y)


@step("jraph")
def equivariant_graph():
    """Messages by distance move the points they run between; the largest message of a node counts beside their sum."""
    import haiku as hk
    import optax

    nodes, edges = 256, 1024

    def forward(h, x, a, b, owner):
        h = hk.Linear(64, name="embed")(h)
        for k in range(3):
            way = x[a] - x[b]
            far = jnp.sum(way**2, -1, keepdims=True)
            m = hk.nets.MLP([64, 64], activation=jax.nn.silu, activate_final=True, name=f"edge_{k}")(jnp.concatenate([h[a], h[b], far], -1))
            m = m * jax.nn.sigmoid(hk.Linear(1, name=f"gate_{k}")(m))
            x = x + jax.ops.segment_sum(way * jnp.tanh(hk.Linear(1, name=f"move_{k}")(m)), a, nodes) / 4
            got = jnp.concatenate([h, jax.ops.segment_sum(m, a, nodes), jnp.maximum(jax.ops.segment_max(m, a, nodes), -1e3)], -1)
            h = h + hk.nets.MLP([64, 64], activation=jax.nn.silu, name=f"node_{k}")(got)
        return hk.nets.MLP([64, 1], name="read")(jax.ops.segment_sum(h, owner, 16))[:, 0]

    net = hk.without_apply_rng(hk.transform(forward))
    batch = S(nodes, 8), S(nodes, 3), ints(edges), ints(edges), ints(nodes)
    loss = lambda p, *b: jnp.mean(jnp.abs(net.apply(p, *b[:-1]) - b[-1]))
    return trained(loss, optax.amsgrad(1e-3), shapes(net.init, key(), *batch), *batch, S(16))


@step("haiku")
def slots():
    """Slots compete for a picture's places by attention and a GRU, rounds in a loop; each paints its own picture."""
    import haiku as hk
    import optax

    def forward(x, noise):
        b = x.shape[0]
        f = hk.Conv2D(32, 5)(jax.nn.relu(hk.Conv2D(32, 5)(x))).reshape(b, -1, 32)
        f = hk.nets.MLP([32, 32])(hk.LayerNorm(-1, True, True)(f + hk.get_parameter("places", [64, 32], init=jnp.zeros)))
        k, v = hk.Linear(32, False, name="k")(f), hk.Linear(32, False, name="v")(f)
        s = hk.get_parameter("mean", [32], init=jnp.zeros) + noise * jax.nn.softplus(hk.get_parameter("width", [32], init=jnp.zeros))
        query, cell, norm = hk.Linear(32, False, name="q"), hk.GRU(32), hk.LayerNorm(-1, True, True)
        for _ in range(3):
            near = jax.nn.softmax(jnp.einsum("bsd,bpd->bsp", query(norm(s)), k) / 32**0.5, 1) + 1e-8
            news = jnp.einsum("bsp,bpd->bsd", near / near.sum(-1, keepdims=True), v)
            s = cell(news.reshape(-1, 32), s.reshape(-1, 32))[0].reshape(s.shape)
        wide = jnp.broadcast_to(s.reshape(-1, 1, 1, 32), (b * 4, 8, 8, 32)) + hk.get_parameter("grid", [8, 8, 32], init=jnp.zeros)
        out = hk.Conv2DTranspose(4, 3)(jax.nn.relu(hk.Conv2DTranspose(16, 5)(wide))).reshape(b, 4, 8, 8, 4)
        return jnp.sum(out[..., :3] * jax.nn.softmax(out[..., 3:], 1), 1)

    net = hk.without_apply_rng(hk.transform(forward))
    x, noise = S(16, 8, 8, 3), S(16, 4, 32)
    return trained(lambda p, x, n: jnp.mean((net.apply(p, x, n) - x) ** 2), optax.adam(4e-4), shapes(net.init, key(), x, noise), x, noise)


@step("equinox")
def spatial_transformer():
    """A network says how to turn the picture; the picture is read between its points (gathers with weights), then classified."""
    import equinox as eqx
    import optax

    class Net(eqx.Module):
        look: list
        convs: list
        out: eqx.nn.Linear

        def __init__(self, k):
            k = jax.random.split(k, 5)
            self.look = [eqx.nn.Linear(256, 32, key=k[0]), eqx.nn.Linear(32, 6, key=k[1])]
            self.convs = [eqx.nn.Conv2d(1, 8, 3, key=k[2]), eqx.nn.Conv2d(8, 16, 3, key=k[3])]
            self.out = eqx.nn.Linear(16 * 144, 10, key=k[4])

        def __call__(self, x):
            turn = self.look[1](jax.nn.relu(self.look[0](x.reshape(-1)))).reshape(2, 3)
            at = jnp.stack(jnp.meshgrid(jnp.linspace(-1, 1, 16), jnp.linspace(-1, 1, 16), indexing="ij") + [jnp.ones((16, 16))])
            to = (jnp.einsum("ij,jxy->ixy", turn, at) + 1) * 7.5
            x = jax.scipy.ndimage.map_coordinates(x[0], list(to), order=1, mode="nearest")[None]
            for conv in self.convs:
                x = jax.nn.relu(conv(x))
            return self.out(x.reshape(-1))

    net = eqx.filter_eval_shape(Net, jax.random.PRNGKey(0))
    params, static = eqx.partition(net, lambda x: isinstance(x, jax.ShapeDtypeStruct))
    loss = lambda p, x, y: cross_entropy(jax.vmap(eqx.combine(p, static))(x), y)
    return trained(loss, optax.novograd(1e-2), params, S(32, 1, 16, 16), ints(32))


@step("flax")
def delta_rule():
    """Linear attention with a delta rule in chunks: triangular solves inside a chunk, a state carried between them."""
    import optax

    width, heads, head, chunk = 64, 4, 16, 8
    layer = {"qkv": S(width, 3 * width), "write": S(width, heads), "out": S(width, width), "up": S(width, 128), "down": S(128, width)}
    params = {"words": S(128, width), "layers": [layer] * 2, "head": S(width, 128)}

    def attend(p, x):
        b, t, _ = x.shape
        cut = lambda y: y.reshape(b, t // chunk, chunk, heads, -1).transpose(1, 0, 3, 2, 4)
        q, k, v = (cut(y) for y in jnp.split(x @ p["qkv"], 3, -1))
        k = k / (jnp.linalg.norm(k, axis=-1, keepdims=True) + 1e-6)
        w = cut(jax.nn.sigmoid(x @ p["write"]))
        low = jnp.tril(jnp.ones((chunk, chunk)), -1)

        def go(s, now):
            q, k, v, w = now
            a = jnp.eye(chunk) + jnp.einsum("bhid,bhjd->bhij", k * w, k) * low
            u = jax.scipy.linalg.solve_triangular(a, w * (v - k @ s), lower=True, unit_diagonal=True)
            out = q @ s + (jnp.einsum("bhid,bhjd->bhij", q, k) * (low + jnp.eye(chunk))) @ u
            return s + jnp.einsum("bhid,bhie->bhde", k, u), out

        _, o = jax.lax.scan(go, jnp.zeros((b, heads, head, head)), (q, k, v, w))
        return o.transpose(1, 0, 3, 2, 4).reshape(b, t, width) @ p["out"]

    def loss(p, t, y):
        x = p["words"][t]
        for one in p["layers"]:
            x = x + attend(one, x)
            x = x + jax.nn.relu(x @ one["up"]) ** 2 @ one["down"]
        return cross_entropy(x @ p["head"], y)

    return trained(loss, optax.nadamw(1e-3), params, ints(8, 32), ints(8, 32))


@step("flax")
def reversible():
    """Layers that are undone on the way back instead of being kept (custom_vjp over a scan of layers)."""
    import optax

    def f(p, x):
        return jnp.tanh(x @ p[0]) @ p[1]

    def forth(x, p):
        a, b = x
        a = a + f(p[0], b)
        return (a, b + f(p[1], a)), None

    @jax.custom_vjp
    def run(ps, x):
        return jax.lax.scan(forth, x, ps)[0]

    def back(kept, g):
        ps, x = kept

        def one(c, p):
            (a, b), (ga, gb) = c
            fa, pull = jax.vjp(lambda p, a: f(p, a), p[1], a)
            b, (g1, more) = b - fa, pull(gb)
            ga = ga + more
            fb, pull = jax.vjp(lambda p, b: f(p, b), p[0], b)
            g0, more = pull(ga)
            return ((a - fb, b), (ga, gb + more)), (g0, g1)

        (_, g), gs = jax.lax.scan(one, (x, g), ps, reverse=True)
        return gs, g

    run.defvjp(lambda ps, x: ((y := run(ps, x)), (ps, y)), back)
    half = S(4, 32, 64), S(4, 64, 32)
    params = {"into": S(48, 64), "layers": (half, half), "out": S(64, 10)}

    def loss(p, x, y):
        a, b = jnp.split(x @ p["into"], 2, -1)
        return cross_entropy(jnp.concatenate(run(p["layers"], (a, b)), -1) @ p["out"], y)

    return trained(loss, optax.rmsprop(1e-3, momentum=0.9), params, S(64, 48), ints(64))


@step("flax")
def click_prediction():
    """Bags of rows from many tables, products of every two, few dense layers; rows adapt by their own second moments."""
    import optax

    tables, width = 6, 16
    params = {"tables": [S(1000 * (k + 1), width) for k in range(tables)], "bottom": [S(13, 64), S(64, width)],
              "top": [S(width + 21, 64), S(64, 1)]}

    def loss(p, dense, rows, mask, y):
        h = dense
        for w in p["bottom"]:
            h = jax.nn.relu(h @ w)
        bags = [jnp.sum(t[r] * m[..., None], 1) for t, r, m in zip(p["tables"], rows, mask)]
        all_ = jnp.stack([h, *bags], 1)
        a, b = jnp.tril_indices(tables + 1, -1)
        x = jnp.concatenate([h, jnp.einsum("bid,bjd->bij", all_, all_)[:, a, b]], -1)
        x = jax.nn.relu(x @ p["top"][0]) @ p["top"][1]
        return jnp.mean(optax.sigmoid_binary_cross_entropy(x[:, 0], y))

    return trained(loss, optax.adagrad(0.01), params, S(128, 13), ints(tables, 128, 4), S(tables, 128, 4), S(128))


@step("flax")
def conformer():
    """Speech: half-steps, attention by distance, a gated depthwise convolution with batch norm; some frames are hidden."""
    import flax.linen as nn
    import optax

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            half = lambda x: 0.5 * nn.Dense(64)(nn.swish(nn.Dense(256)(nn.LayerNorm()(x))))
            x = x + half(x)
            far = jnp.clip(jnp.arange(x.shape[1])[:, None] - jnp.arange(x.shape[1]), -8, 8) + 8
            bias = self.param("far", nn.initializers.zeros, (17, 4))[far].transpose(2, 0, 1)
            h = nn.LayerNorm()(x)
            q, k, v = (nn.DenseGeneral((4, 16))(h) for _ in range(3))
            h = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4 + bias), v)
            x = x + nn.DenseGeneral(64, (-2, -1))(h)
            h = nn.glu(nn.Dense(128)(nn.LayerNorm()(x)))
            h = nn.Conv(64, (7,), feature_group_count=64)(h)
            x = x + nn.Dense(64)(nn.swish(nn.BatchNorm(False)(h)))
            return nn.LayerNorm()(x + half(x))

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(16, (3, 3), 2)(nn.relu(nn.Conv(16, (3, 3), 2)(x[..., None]))))
            x = nn.Dense(64)(x.reshape(*x.shape[:2], -1))
            for _ in range(2):
                x = Block()(x)
            return nn.Dense(32)(x)

    net, x, tx = Net(), S(8, 64, 40), optax.adamw(1e-3, 0.9, 0.98)
    both = shapes(net.init, key(), x)

    def train(params, stats, opt, x, y, k):
        start = jax.random.randint(k, (8, 2), 0, 56)
        at = jnp.arange(64)
        x = jnp.where(jnp.any((at >= start[..., None]) & (at < start[..., None] + 8), 1)[..., None], 0.0, x)

        def loss(p):
            out, new = net.apply({"params": p, "batch_stats": stats}, x, mutable=["batch_stats"])
            return cross_entropy(out, y), new["batch_stats"]

        (value, stats), g = jax.value_and_grad(loss, has_aux=True)(params)
        u, opt = tx.update(g, opt, params)
        return optax.apply_updates(params, u), stats, opt, value

    return train, (both["params"], both["batch_stats"], shapes(tx.init, both["params"]), x, ints(8, 16), key()), None


@step("flax")
def hyper_network():
    """A network that makes, from a description of a task, the weights of the network that does it."""
    import optax

    sizes = [(8, 32), (32, 32), (32, 1)]
    params = {"read": [S(16, 64), S(64, 64)], "heads": [S(64, a * b + b) for a, b in sizes]}

    def loss(p, task, x, y):
        h = jax.nn.relu(jax.nn.relu(task @ p["read"][0]) @ p["read"][1])
        for k, ((a, b), w) in enumerate(zip(sizes, p["heads"])):
            made = h @ w
            x = jnp.einsum("tna,tab->tnb", x, made[:, :a * b].reshape(-1, a, b)) + made[:, None, a * b:]
            x = jnp.sin(x) if k < 2 else x
        return jnp.mean(optax.l2_loss(x[..., 0], y))

    return trained(loss, optax.radam(1e-3), params, S(16, 16), S(16, 32, 8), S(16, 32))
