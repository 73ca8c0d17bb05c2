"""Steps of today's kinds: latents that read, experts that choose, long convolutions, small optimizer states, private gradients."""
import jax
import jax.numpy as jnp
from steps import S, cross_entropy, ints, key, shapes, step, trained


@step("haiku")
def perceiver():
    """Latents read a long array by attention and talk among themselves, the same block several times; dropout."""
    import haiku as hk
    import optax

    def attend(q, kv, heads=4):
        d = q.shape[-1]
        split = lambda x: x.reshape(*x.shape[:-1], heads, d // heads)
        a, b = hk.LayerNorm(-1, True, True)(q), hk.LayerNorm(-1, True, True)(kv)
        q_, k, v = split(hk.Linear(d)(a)), split(hk.Linear(d)(b)), split(hk.Linear(d)(b))
        w = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q_, k) / (d // heads) ** 0.5)
        w = hk.dropout(hk.next_rng_key(), 0.1, w)
        return q + hk.Linear(d)(jnp.einsum("bhqk,bkhd->bqhd", w, v).reshape(q.shape))

    class Block(hk.Module):
        def __call__(self, z, x):
            z = attend(z, x)
            for _ in range(2):
                z = attend(z, z)
                z = z + hk.nets.MLP([256, 64], activation=jax.nn.gelu)(hk.LayerNorm(-1, True, True)(z))
            return z

    def forward(x):
        at = jnp.linspace(-1, 1, x.shape[1])[:, None] * 2.0 ** jnp.arange(8)
        at = jnp.broadcast_to(jnp.concatenate([jnp.sin(at), jnp.cos(at)], -1), (*x.shape[:2], 16))
        z = hk.get_parameter("latents", (32, 64), init=hk.initializers.TruncatedNormal(0.02))
        z = jnp.broadcast_to(z, (x.shape[0], 32, 64))
        first, again, x = Block(name="first"), Block(name="again"), jnp.concatenate([x, at], -1)
        z = again(again(first(z, x), x), x)
        return hk.Linear(10)(jnp.mean(z, 1))

    net, x = hk.transform(forward), S(16, 256, 16)
    loss = lambda p, k, x, y: cross_entropy(net.apply(p, k, x), y)
    return trained(loss, optax.lamb(1e-3), shapes(net.init, key(), x), key(), x, ints(16))


@step("flax")
def expert_choice():
    """Experts choose their tokens (top_k over tokens), gather them, and scatter what they made back; a router's z loss."""
    import flax.linen as nn
    import optax

    class Experts(nn.Module):
        @nn.compact
        def __call__(self, x):
            b, s, d = x.shape
            t = x.reshape(b * s, d)
            logits = nn.Dense(8, use_bias=False, name="router")(t)
            gate, at = jax.lax.top_k(jax.nn.softmax(logits).T, b * s // 8)
            wi = self.param("wi", nn.initializers.lecun_normal(), (8, d, 4 * d))
            wo = self.param("wo", nn.initializers.lecun_normal(), (8, 4 * d, d))
            y = jnp.einsum("ecf,efd->ecd", nn.gelu(jnp.einsum("ecd,edf->ecf", t[at], wi)), wo) * gate[..., None]
            out = jnp.zeros_like(t).at[at.reshape(-1)].add(y.reshape(-1, d))
            return out.reshape(x.shape), jnp.mean(jax.nn.logsumexp(logits, -1) ** 2)

    class Net(nn.Module):
        @nn.compact
        def __call__(self, t):
            embed = nn.Embed(512, 64)
            x, z = embed(t), 0.0
            for _ in range(2):
                x = x + nn.MultiHeadDotProductAttention(4)(nn.LayerNorm()(x), mask=nn.make_causal_mask(t))
                y, more = Experts()(nn.LayerNorm()(x))
                x, z = x + y, z + more
            return embed.attend(nn.LayerNorm()(x)), z

    net, t = Net(), ints(8, 64)

    def loss(p, t, y):
        out, z = net.apply(p, t)
        return cross_entropy(out, y) + 1e-3 * z

    return trained(loss, optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3)), shapes(net.init, key(), t), t, t)


@step("flax")
def long_convolution():
    """Hyena: implicit filters from a small network over positions, convolved by FFT of twice the length, gated."""
    import flax.linen as nn
    import optax

    class Hyena(nn.Module):
        @nn.compact
        def __call__(self, u):
            b, s, d = u.shape
            x1, x2, v = jnp.split(nn.Conv(3 * d, (3,), padding="CAUSAL", feature_group_count=3 * d)(nn.Dense(3 * d)(u)), 3, -1)
            t = jnp.linspace(0, 1, s)[:, None]
            h = jnp.sin(nn.Dense(32)(jnp.concatenate([t, jnp.sin(6.28 * t), jnp.cos(6.28 * t)], -1)))
            h = nn.Dense(d)(jnp.sin(nn.Dense(32)(h))) * jnp.exp(-t * jnp.linspace(1, 8, d))
            f = jnp.fft.rfft(h, 2 * s, axis=0)
            y = jnp.fft.irfft(jnp.fft.rfft(v * x2, 2 * s, axis=1) * f[None], 2 * s, axis=1)[:, :s]
            return nn.Dense(d)((y + v * self.param("skip", nn.initializers.ones, (d,))) * x1)

    class Net(nn.Module):
        @nn.compact
        def __call__(self, t):
            x = nn.Embed(256, 64)(t)
            for _ in range(3):
                x = x + Hyena()(nn.RMSNorm()(x))
                x = x + nn.Dense(64)(nn.gelu(nn.Dense(128)(nn.RMSNorm()(x))))
            return nn.Dense(256)(nn.RMSNorm()(x))

    net, t = Net(), ints(8, 128)
    return trained(lambda p, t, y: cross_entropy(net.apply(p, t), y), optax.lion(1e-4), shapes(net.init, key(), t), t, t)


@step("flax")
def small_states():
    """Adam whose moments are bytes in blocks with a scale each; the head is the embedding; rematerialised blocks."""
    d, f, v = 64, 256, 512
    params = {"embed": S(v, d), "blocks": [{"qkv": S(d, 3 * d), "o": S(d, d), "up": S(d, f), "down": S(f, d), "n1": S(d), "n2": S(d)}
                                           for _ in range(3)], "last": S(d)}

    def norm(x, g):
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g

    def block(p, x):
        q, k, w = jnp.split((norm(x, p["n1"]) @ p["qkv"]).reshape(*x.shape[:2], 4, 48), 3, -1)
        a = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4.0
        a = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((x.shape[1],) * 2, bool)), a, -1e9))
        x = x + jnp.einsum("bhqk,bkhd->bqhd", a, w).reshape(x.shape) @ p["o"]
        return x + jax.nn.silu(norm(x, p["n2"]) @ p["up"]) @ p["down"]

    def loss(p, t, y):
        x = p["embed"][t]
        for b in p["blocks"]:
            x = jax.checkpoint(block)(b, x)
        return cross_entropy(norm(x, p["last"]) @ p["embed"].T, y)

    def packed(x):
        x = x.reshape(-1, 64)
        scale = jnp.max(jnp.abs(x), 1, keepdims=True) / 127 + 1e-12
        return jnp.round(x / scale).astype(jnp.int8), scale

    def train(params, moments, count, t, y):
        value, grads = jax.value_and_grad(loss)(params, t, y)
        count = count + 1

        def update(p, g, m):
            (m1, s1), (m2, s2) = m
            a = 0.9 * (m1.astype(jnp.float32) * s1).reshape(p.shape) + 0.1 * g
            b = 0.999 * jnp.square((m2.astype(jnp.float32) * s2)).reshape(p.shape) + 0.001 * g * g
            p = p - 1e-3 * (a / (1 - 0.9**count)) / (jnp.sqrt(b / (1 - 0.999**count)) + 1e-8)
            return p, (packed(a), packed(jnp.sqrt(b)))

        leaves, tree = jax.tree.flatten(params)
        new = [update(p, g, m) for p, g, m in zip(leaves, jax.tree.leaves(grads), moments)]
        return tree.unflatten([p for p, _ in new]), [m for _, m in new], count, value

    def state(p):
        n = p.size // 64
        return ((S(n, 64, dtype=jnp.int8), S(n, 1)), (S(n, 64, dtype=jnp.int8), S(n, 1)))

    t = ints(8, 32)
    return train, (params, [state(p) for p in jax.tree.leaves(params)], S(), t, t), None


@step("flax")
def private_gradients():
    """The gradient of every picture alone, clipped, summed, with noise from a key: private SGD of a small network."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            for c in (16, 32):
                x = nn.max_pool(nn.relu(nn.GroupNorm(4)(nn.Conv(c, (3, 3))(x))), (2, 2), (2, 2))
            return nn.Dense(10)(nn.relu(nn.Dense(32)(x.reshape(x.shape[0], -1))))

    net, x, y = Net(), S(32, 16, 16, 3), ints(32)
    params = shapes(net.init, key(), x)
    tx = optax.sgd(0.1, 0.9)

    def train(params, opt, key, x, y):
        lose = lambda p, x, y: cross_entropy(net.apply(p, x[None]), y[None])
        values, g = jax.vmap(jax.value_and_grad(lose), (None, 0, 0))(params, x, y)
        size = jnp.sqrt(sum(jnp.sum(a**2, range(1, a.ndim)) for a in jax.tree.leaves(g)))
        keep = 1 / jnp.maximum(1.0, size)
        leaves, tree = jax.tree.flatten(jax.tree.map(lambda a: jnp.tensordot(keep, a, 1), g))
        key, *drawn = jax.random.split(key, len(leaves) + 1)
        g = tree.unflatten([(a + 1.1 * jax.random.normal(k, a.shape)) / 32 for a, k in zip(leaves, drawn)])
        updates, opt = tx.update(g, opt, params)
        return optax.apply_updates(params, updates), opt, key, jnp.mean(values)

    return train, (params, shapes(tx.init, params), key(), x, y), None


@step("flax")
def nnx_mixer():
    """An MLP-Mixer of nnx with dropout and batch statistics, through nnx.split, and an average of the weights in the optimizer."""
    import optax
    from flax import nnx

    class Mix(nnx.Module):
        def __init__(self, n, d, rngs):
            self.n1, self.n2 = nnx.LayerNorm(d, rngs=rngs), nnx.BatchNorm(d, rngs=rngs)
            self.a, self.b = nnx.Linear(n, 2 * n, rngs=rngs), nnx.Linear(2 * n, n, rngs=rngs)
            self.c, self.d = nnx.Linear(d, 4 * d, rngs=rngs), nnx.Linear(4 * d, d, rngs=rngs)
            self.drop = nnx.Dropout(0.1, rngs=rngs)

        def __call__(self, x):
            x = x + self.b(self.drop(nnx.gelu(self.a(self.n1(x).swapaxes(1, 2))))).swapaxes(1, 2)
            return x + self.d(self.drop(nnx.gelu(self.c(self.n2(x)))))

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.patches = nnx.Conv(3, 64, (4, 4), strides=(4, 4), rngs=rngs)
            self.blocks = nnx.List([Mix(64, 64, rngs) for _ in range(4)])
            self.head = nnx.Linear(64, 100, rngs=rngs)

        def __call__(self, x):
            x = self.patches(x).reshape(x.shape[0], -1, 64)
            for block in self.blocks:
                x = block(x)
            return self.head(jnp.mean(x, 1))

    graph, params, rest = nnx.split(nnx.eval_shape(lambda: Net(nnx.Rngs(0))), nnx.Param, ...)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-3, 1000)), optax.ema(0.999))

    def train(params, opt, rest, x, y):
        def loss(p):
            net = nnx.merge(graph, p, rest, copy=True)
            out = net(x)
            return cross_entropy(out, y), nnx.split(net, nnx.Param, ...)[2]

        (value, rest_), g = jax.value_and_grad(loss, has_aux=True)(params)
        updates, opt = tx.update(g, opt, params)
        return optax.apply_updates(params, updates), opt, rest_, value

    return train, (params, shapes(tx.init, params), rest, S(16, 32, 32, 3), ints(16)), None


@step("equinox")
def retention():
    """Retention in chunks: inside a chunk by a decayed mask, between chunks by a state that a scan carries; filter_value_and_grad."""
    import equinox as eqx
    import optax

    class Layer(eqx.Module):
        q: eqx.nn.Linear
        k: eqx.nn.Linear
        v: eqx.nn.Linear
        g: eqx.nn.Linear
        o: eqx.nn.Linear
        norm: eqx.nn.LayerNorm
        up: eqx.nn.Linear
        down: eqx.nn.Linear

        def __init__(self, d, k):
            k = jax.random.split(k, 7)
            self.q, self.k, self.v, self.g, self.o = (eqx.nn.Linear(d, d, use_bias=False, key=i) for i in k[:5])
            self.norm = eqx.nn.LayerNorm(d)
            self.up, self.down = eqx.nn.Linear(d, 4 * d, key=k[5]), eqx.nn.Linear(4 * d, d, key=k[6])

        def __call__(self, x):
            s, d = x.shape
            h, c, y = 4, 16, jax.vmap(self.norm)(x)
            split = lambda w: jax.vmap(w)(y).reshape(s // c, c, h, d // h)
            q, k, v = split(self.q), split(self.k), split(self.v)
            decay = 1 - 2.0 ** (-5.0 - jnp.arange(h))
            n = jnp.arange(c)
            mask = jnp.where(n[:, None] >= n, decay[:, None, None] ** (n[:, None] - n), 0.0)

            def chunk(state, qkv):
                q, k, v = qkv
                inner = jnp.einsum("nhd,mhd,hnm,mhe->nhe", q, k, mask, v)
                cross = jnp.einsum("nhd,hde->nhe", q, state) * decay[None, :, None] ** (n[:, None, None] + 1)
                state = state * (decay**c)[:, None, None] + jnp.einsum("mhd,mhe,hm->hde", k, v, decay[:, None] ** (c - 1 - n))
                return state, inner + cross

            out = jax.lax.scan(chunk, jnp.zeros((h, d // h, d // h)), (q, k, v))[1].reshape(s, d)
            x = x + jax.vmap(self.o)(jax.nn.silu(jax.vmap(self.g)(y)) * out)
            return x + jax.vmap(lambda a: self.down(jax.nn.gelu(self.up(a))))(jax.vmap(self.norm)(x))

    class Net(eqx.Module):
        embed: eqx.nn.Embedding
        layers: list
        head: eqx.nn.Linear

        def __init__(self, k):
            k = jax.random.split(k, 5)
            self.embed, self.head = eqx.nn.Embedding(256, 64, key=k[0]), eqx.nn.Linear(64, 256, key=k[1])
            self.layers = [Layer(64, i) for i in k[2:]]

        def __call__(self, t):
            x = jax.vmap(self.embed)(t)
            for layer in self.layers:
                x = layer(x)
            return jax.vmap(self.head)(x)

    net = eqx.filter_eval_shape(Net, jax.random.PRNGKey(0))
    params, static = eqx.partition(net, lambda x: isinstance(x, jax.ShapeDtypeStruct))
    loss = lambda p, t, y: cross_entropy(jax.vmap(eqx.combine(p, static))(t), y)
    return trained(loss, optax.adafactor(1e-3), params, ints(8, 64), ints(8, 64))


@step("flax")
def modulated_pictures():
    """A picture generator whose kernels a style bends (one convolution with as many groups as pictures), against a critic with a
    penalty on its gradient; two optimizers and an average of the generator."""
    import optax

    g = {"map": [S(32, 64), S(64, 64)], "start": S(4, 4, 32), "kernel": [S(3, 3, 32, 32), S(3, 3, 32, 16)],
         "style": [S(64, 32), S(64, 32)], "rgb": S(1, 1, 16, 3)}
    c = {"kernel": [S(3, 3, 3, 16), S(3, 3, 16, 32)], "out": S(8, 8, 32)}
    conv = lambda x, w, n=1: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                                          feature_group_count=n)

    def bend(x, w, style):
        b, h, _, i = x.shape
        w = w[None] * (style[:, None, None, :, None] + 1)
        w = w * jax.lax.rsqrt(jnp.sum(w**2, (1, 2, 3), keepdims=True) + 1e-8)
        x = x.transpose(1, 2, 0, 3).reshape(1, h, h, b * i)
        w = w.transpose(1, 2, 3, 0, 4).reshape(3, 3, i, -1)
        return conv(x, w, b).reshape(h, h, b, -1).transpose(2, 0, 1, 3)

    def paint(p, z):
        for w in p["map"]:
            z = jax.nn.leaky_relu(z @ w, 0.2)
        x = jnp.broadcast_to(p["start"], (z.shape[0], 4, 4, 32))
        for w, s in zip(p["kernel"], p["style"]):
            x = jax.nn.leaky_relu(bend(jax.image.resize(x, (x.shape[0], 2 * x.shape[1], 2 * x.shape[2], 32), "nearest"), w, z @ s), 0.2)
        return conv(x, p["rgb"])

    def judge(p, x):
        for k, w in enumerate(p["kernel"]):
            x = jax.nn.leaky_relu(conv(x, w), 0.2)
            x = jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4 if k == 0 else x
        return jnp.einsum("bhwc,hwc->b", x, p["out"])

    tx, ty = optax.adam(2e-3, 0.0, 0.99), optax.adam(2e-3, 0.0, 0.99)

    def train(g, c, average, og, oc, key, x):
        key, a, b = jax.random.split(key, 3)
        z, z2 = jax.random.normal(a, (x.shape[0], 32)), jax.random.normal(b, (x.shape[0], 32))

        def critic(c):
            slope = jax.grad(lambda x: judge(c, x).sum())(x)
            return (jnp.mean(jax.nn.softplus(judge(c, paint(g, z))) + jax.nn.softplus(-judge(c, x)))
                    + 5 * jnp.mean(jnp.sum(slope**2, (1, 2, 3))))

        lc, gc = jax.value_and_grad(critic)(c)
        u, oc = ty.update(gc, oc)
        c = optax.apply_updates(c, u)
        lg, gg = jax.value_and_grad(lambda g: jnp.mean(jax.nn.softplus(-judge(c, paint(g, z2)))))(g)
        u, og = tx.update(gg, og)
        g = optax.apply_updates(g, u)
        return g, c, optax.incremental_update(g, average, 0.001), og, oc, key, {"critic": lc, "generator": lg}

    return (train, (g, c, g, shapes(tx.init, g), shapes(ty.init, c), key(), S(8, 16, 16, 3)),
            lambda path: path.startswith("[0]") or path.startswith("[1]"))
