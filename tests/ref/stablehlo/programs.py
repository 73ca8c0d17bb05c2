"""Training steps and other programs of several packages, as this jax prints them: NAME.debug.mlir.gz and NAME.debug.hlo.txt.gz
each, NAME.mlir.gz and NAME.hlo.txt.gz without locations, NAME.generic.mlir.gz in generic form, which twins.py compares. Programs of packages that are not installed are left out.

    programs.py FOLDER [NAME ..]"""

import gzip
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ["KERAS_BACKEND"] = "jax"
import jax
import jax.numpy as jnp
import numpy as np

f32 = jnp.float32
S = jax.ShapeDtypeStruct
PROGRAMS = {}


def prog(f):
    PROGRAMS[f.__name__] = f
    return f


def sgd(loss, donate=True):
    def step(p, *b):
        l, g = jax.value_and_grad(loss)(p, *b)
        return jax.tree.map(lambda a, b: a - 0.1 * b.astype(a.dtype), p, g), l

    return jax.jit(step, donate_argnums=(0,))


def mlpp(d=(32, 64, 16), t=f32):
    return [{"w": S((a, b), t), "b": S((b,), t)} for a, b in zip(d, d[1:])]


def mlp(p, x):
    for q in p[:-1]:
        x = jax.nn.gelu(x @ q["w"] + q["b"])
    return x @ p[-1]["w"] + p[-1]["b"]


@prog
def rnn_scan():
    def loss(p, x, y):
        def cell(h, xt):
            h = jnp.tanh(xt @ p["wx"] + h @ p["wh"])
            return h, h

        h, hs = jax.lax.scan(cell, jnp.zeros((8, 32)), x)
        return jnp.mean((hs @ p["wo"] - y) ** 2)

    return sgd(loss), (
        {"wx": S((16, 32), f32), "wh": S((32, 32), f32), "wo": S((32, 4), f32)},
        S((12, 8, 16), f32),
        S((12, 8, 4), f32),
    )


@prog
def gru_reverse():
    def loss(p, x, y):
        def cell(h, xt):
            z = jax.nn.sigmoid(xt @ p["z"] + h @ p["uz"])
            n = jnp.tanh(xt @ p["n"] + (z * h) @ p["un"])
            h = (1 - z) * n + z * h
            return h, h

        _, f = jax.lax.scan(cell, jnp.zeros((8, 32)), x)
        _, b = jax.lax.scan(cell, jnp.zeros((8, 32)), x, reverse=True)
        return jnp.mean(jnp.square(jnp.concatenate([f, b], -1) @ p["o"] - y))

    return sgd(loss), (
        {k: S((16, 32), f32) for k in "zn"} | {"uz": S((32, 32), f32), "un": S((32, 32), f32), "o": S((64, 4), f32)},
        S((12, 8, 16), f32),
        S((12, 8, 4), f32),
    )


@prog
def newton_while():
    def loss(p, x):
        def c(s):
            return jnp.logical_and(s[0] < 20, jnp.max(jnp.abs(s[1])) > 1e-6)

        def b(s):
            return s[0] + 1, s[1] * 0.5 @ p["w"]

        return jnp.sum(jax.lax.fori_loop(0, 5, lambda i, v: jnp.tanh(v @ p["w"]), x)), jax.lax.while_loop(c, b, (0, x))[1]

    def loss2(p, x):
        return loss(p, x)[0]

    return sgd(loss2), ({"w": S((32, 32), f32)}, S((8, 32), f32))


@prog
def switch_cond():
    def loss(p, i, x):
        h = jax.lax.switch(i, [lambda v: v @ p["a"], lambda v: jnp.sin(v) @ p["b"], lambda v: v @ p["a"] + v @ p["b"]], x)
        h = jax.lax.cond(jnp.sum(h) > 0, lambda v: v * 2, lambda v: jnp.exp(-v), h)
        return jnp.mean(h**2)

    return sgd(loss), ({"a": S((32, 32), f32), "b": S((32, 32), f32)}, S((), jnp.int32), S((8, 32), f32))


@prog
def custom_vjp_ops():
    @jax.custom_vjp
    def clipg(x):
        return x

    clipg.defvjp(lambda x: (x, None), lambda r, g: (jnp.clip(g, -1, 1),))

    @jax.custom_jvp
    def soft(x):
        return jnp.log1p(jnp.exp(x))

    soft.defjvp(lambda p, t: (soft(p[0]), jax.nn.sigmoid(p[0]) * t[0]))

    def loss(p, x, y):
        return jnp.mean((soft(clipg(mlp(p, x))) - y) ** 2)

    return sgd(loss), (mlpp(), S((8, 32), f32), S((8, 16), f32))


@prog
def dropout_rng():
    def loss(p, k, x, y):
        k1, k2, k3 = jax.random.split(k, 3)
        h = jax.nn.relu(x @ p["a"])
        h = jnp.where(jax.random.bernoulli(k1, 0.9, h.shape), h / 0.9, 0)
        n = jax.random.normal(k2, h.shape) * 0.1 + jax.random.gumbel(k3, h.shape) * 0.01
        return jnp.mean(((h + n) @ p["b"] - y) ** 2)

    return sgd(loss), ({"a": S((32, 64), f32), "b": S((64, 8), f32)}, S((2,), jnp.uint32), S((16, 32), f32), S((16, 8), f32))


@prog
def rng_many():
    def f(p, k):
        ks = jax.random.split(k, 8)
        s = (16, 32)
        o = (
            jax.random.gamma(ks[0], 2.0, s)
            + jax.random.beta(ks[1], 2.0, 3.0, s)
            + jax.random.poisson(ks[2], 3.0, s)
            + jax.random.laplace(ks[3], s)
            + jax.random.truncated_normal(ks[4], -2, 2, s)
            + jax.random.cauchy(ks[5], s)
        )
        pm = jax.random.permutation(ks[6], 16)
        c = jax.random.categorical(ks[7], p)
        return o @ p.T + pm[:, None] + c[0], c

    return jax.jit(f), (S((16, 32), f32), S((2,), jnp.uint32))


@prog
def fft_spectral():
    def loss(p, x):
        z = jnp.fft.rfft(x @ p["a"], axis=-1)
        z = z * (p["f"][0] + 1j * p["f"][1])
        h = jnp.fft.irfft(z, axis=-1)
        return jnp.mean(jnp.abs(jnp.fft.fft2(h)) ** 2)

    return sgd(loss), ({"a": S((32, 64), f32), "f": S((2, 33), f32)}, S((8, 32), f32))


@prog
def linalg_all():
    def loss(p, x):
        a = p["a"] @ p["a"].T + jnp.eye(16)
        l = jnp.linalg.cholesky(a)
        w, v = jnp.linalg.eigh(a)
        q, r = jnp.linalg.qr(p["a"])
        return (
            jnp.sum(jax.scipy.linalg.solve_triangular(l, x, lower=True))
            + jnp.linalg.slogdet(a)[1]
            + jnp.sum(w)
            + jnp.sum(q * r)
            + jnp.sum(jnp.linalg.solve(a, x))
        )

    return sgd(loss), ({"a": S((16, 16), f32)}, S((16, 4), f32))


@prog
def svd_det():
    def f(a, x):
        u, s, v = jnp.linalg.svd(a)
        return u @ x, s, jnp.linalg.inv(a) @ x, jnp.linalg.det(a), jnp.linalg.eigvals(a)

    return jax.jit(f), (S((16, 16), f32), S((16, 4), f32))


@prog
def sort_topk():
    def f(p, x):
        h = x @ p
        v, i = jax.lax.top_k(h, 4)
        s = jnp.sort(h, axis=0)
        a = jnp.argsort(h, axis=-1)
        m = jnp.median(h, axis=1)
        return (
            v,
            i,
            s,
            a,
            m,
            jnp.quantile(h, 0.3),
            jnp.unique(i, size=8),
            jnp.searchsorted(s[:, 0], h[:, 1]),
            jax.lax.sort((h, a), num_keys=2, dimension=1),
        )

    return jax.jit(f), (S((32, 64), f32), S((16, 32), f32))


@prog
def gather_scatter():
    def loss(p, i, x):
        e = p["e"][i]
        h = jnp.take_along_axis(x @ p["w"], i[:, :4] % 8, axis=1)
        s = jax.ops.segment_sum(e.reshape(-1, 16), i.reshape(-1) % 10, num_segments=10)
        m = jax.ops.segment_max(e.reshape(-1, 16), i.reshape(-1) % 10, 10)
        g = jnp.zeros((100, 16)).at[i.reshape(-1)].add(e.reshape(-1, 16)).at[3].set(1.0).at[:, 2].mul(2.0)
        return jnp.sum(h) + jnp.mean(s) + jnp.sum(jnp.where(jnp.isfinite(m), m, 0)) + jnp.mean(g**2)

    return sgd(loss), ({"e": S((100, 16), f32), "w": S((32, 8), f32)}, S((16, 6), jnp.int32), S((16, 32), f32))


@prog
def conv_all():
    def loss(p, x, y):
        dn = ("NHWC", "HWIO", "NHWC")
        h = jax.lax.conv_general_dilated(x, p["a"], (2, 2), "SAME", dimension_numbers=dn)
        h = jax.nn.relu(
            jax.lax.conv_general_dilated(
                h, p["d"], (1, 1), "VALID", rhs_dilation=(2, 2), feature_group_count=16, dimension_numbers=dn
            )
        )
        h = jax.lax.conv_transpose(h, p["t"], (2, 2), "SAME")
        h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        h = jax.lax.avg_pool(h, (2, 2), (2, 2)) if hasattr(jax.lax, "avg_pool") else h
        h = jnp.mean(h, (1, 2)) @ p["o"]
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(h) * y, -1))

    return sgd(loss), (
        {"a": S((3, 3, 3, 16), f32), "d": S((3, 3, 1, 16), f32), "t": S((3, 3, 16, 8), f32), "o": S((8, 10), f32)},
        S((8, 32, 32, 3), f32),
        S((8, 10), f32),
    )


@prog
def conv1d3d():
    def loss(p, x, v):
        h = jax.lax.conv_general_dilated(x, p["a"], (1,), [(2, 2)], dimension_numbers=("NCW", "OIW", "NCW"))
        g = jax.lax.conv_general_dilated(v, p["b"], (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))
        return jnp.mean(h**2) + jnp.mean(jnp.tanh(g))

    return sgd(loss), ({"a": S((16, 8, 5), f32), "b": S((3, 3, 3, 4, 8), f32)}, S((8, 8, 64), f32), S((8, 8, 8, 8, 4), f32))


@prog
def mixed_bf16():
    def loss(p, x, y):
        h = x.astype(jnp.bfloat16)
        for q in p:
            h = jax.nn.silu(h @ q["w"].astype(jnp.bfloat16) + q["b"].astype(jnp.bfloat16))
        return jnp.mean((h.astype(f32) - y) ** 2)

    return sgd(loss), (mlpp(), S((8, 32), f32), S((8, 16), f32))


@prog
def fp8_matmul():
    def loss(p, x):
        q = (x * 4).astype(jnp.float8_e4m3fn)
        w = (p["w"] * 4).astype(jnp.float8_e5m2)
        return jnp.mean(
            jax.lax.dot_general(
                q.astype(jnp.bfloat16), w.astype(jnp.bfloat16), (((1,), (0,)), ((), ())), preferred_element_type=f32
            )
            ** 2
        )

    return sgd(loss), ({"w": S((32, 64), f32)}, S((16, 32), f32))


@prog
def int4_quant():
    def f(w, s, x):
        return x @ (w.astype(jnp.int8).astype(f32) * s), jnp.bitwise_and(jax.lax.population_count(w.astype(jnp.uint8)), 3).astype(
            jnp.int4
        )

    return jax.jit(f), (S((32, 64), jnp.int4), S((64,), f32), S((16, 32), f32))


@prog
def complex_net():
    def loss(p, x):
        z = (x + 1j * x[::-1]) @ (p["r"] + 1j * p["i"])
        z = jnp.exp(z * 0.1) * jnp.conj(z)
        return jnp.mean(jnp.abs(z) ** 2 + jnp.angle(z))

    return sgd(loss), ({"r": S((32, 16), f32), "i": S((32, 16), f32)}, S((8, 32), f32))


@prog
def attention_remat():
    def block(p, h):
        q, k, v = jnp.split(h @ p["qkv"], 3, -1)
        r = lambda t: t.reshape(4, 16, 4, 8).transpose(0, 2, 1, 3)
        a = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((16, 16), bool)), r(q) @ r(k).swapaxes(-1, -2) / 8**0.5, -1e9))
        h = h + (a @ r(v)).transpose(0, 2, 1, 3).reshape(4, 16, 32) @ p["o"]
        return h + jax.nn.gelu(h @ p["u"]) @ p["d"]

    def loss(p, t, y):
        h = p["e"][t]
        for q in p["l"]:
            h = jax.checkpoint(block)(q, h)
        lg = h @ p["e"].T
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(lg), y[..., None], -1))

    L = {"qkv": S((32, 96), f32), "o": S((32, 32), f32), "u": S((32, 128), f32), "d": S((128, 32), f32)}
    return sgd(loss), ({"e": S((128, 32), f32), "l": [L] * 3}, S((4, 16), jnp.int32), S((4, 16), jnp.int32))


@prog
def vmap_jvp():
    def loss(p, x, v):
        f = lambda a: jnp.tanh(a @ p["w"])
        y, t = jax.vmap(lambda a, b: jax.jvp(f, (a,), (b,)))(x, v)
        J = jax.vmap(jax.jacfwd(lambda a: jnp.sin(a @ p["w"][:, :4])))(x[:2])
        return jnp.sum(y * t) + jnp.sum(J**2)

    return sgd(loss), ({"w": S((32, 16), f32)}, S((8, 32), f32), S((8, 32), f32))


@prog
def cumops():
    def loss(p, x):
        h = x @ p["w"]
        return jnp.sum(
            jnp.cumsum(h, 0) + jnp.cumprod(jnp.tanh(h), 1) + jax.lax.cummax(h, axis=1) + jax.lax.cumlogsumexp(h, axis=0)
        ) + jnp.sum(jax.lax.associative_scan(jnp.add, h))

    return sgd(loss), ({"w": S((32, 16), f32)}, S((8, 32), f32))


@prog
def special():
    def loss(p, x):
        h = x @ p["w"]
        from jax.scipy import special as s

        return jnp.sum(
            s.erf(h)
            + s.gammaln(jnp.abs(h) + 1)
            + s.digamma(jnp.abs(h) + 1)
            + s.erfc(h)
            + s.i0e(h)
            + s.i1e(h)
            + jnp.arctanh(jnp.tanh(h))
            + jnp.sinh(h)
            + jnp.arccosh(h * h + 2)
            + s.xlogy(h * h, h * h + 1)
            + s.entr(h * h)
            + s.ndtri(jax.nn.sigmoid(h))
            + s.logsumexp(h, axis=1, keepdims=True)
        )

    return sgd(loss), ({"w": S((32, 16), f32)}, S((8, 32), f32))


@prog
def adamw_optax():
    import optax

    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0, 1e-3, 10, 100)))

    def step(p, s, x, y):
        l, g = jax.value_and_grad(lambda p: jnp.mean((mlp(p, x) - y) ** 2))(p)
        u, s = tx.update(g, s, p)
        return optax.apply_updates(p, u), s, l

    p = mlpp()
    return jax.jit(step, donate_argnums=(0, 1)), (p, jax.eval_shape(tx.init, p), S((8, 32), f32), S((8, 16), f32))


@prog
def adafactor():
    import optax

    tx = optax.adafactor(1e-3, min_dim_size_to_factor=16)

    def step(p, s, x, y):
        l, g = jax.value_and_grad(lambda p: jnp.mean((mlp(p, x) - y) ** 2))(p)
        u, s = tx.update(g, s, p)
        return optax.apply_updates(p, u), s, l

    p = mlpp()
    return jax.jit(step, donate_argnums=(0, 1)), (p, jax.eval_shape(tx.init, p), S((8, 32), f32), S((8, 16), f32))


@prog
def optax_accum():
    import optax

    tx = optax.MultiSteps(optax.lamb(1e-3), 4)

    def step(p, s, x, y):
        l, g = jax.value_and_grad(lambda p: jnp.mean((mlp(p, x) - y) ** 2))(p)
        u, s = tx.update(g, s, p)
        return optax.apply_updates(p, u), s, l

    p = mlpp()
    return jax.jit(step, donate_argnums=(0, 1)), (p, jax.eval_shape(tx.init, p), S((8, 32), f32), S((8, 16), f32))


@prog
def shampoo_like():
    import optax

    tx = optax.sgd(0.1, momentum=0.9, nesterov=True)

    def step(p, s, e, x, y):
        l, g = jax.value_and_grad(lambda p: jnp.mean((mlp(p, x) - y) ** 2))(p)
        u, s = tx.update(g, s, p)
        p = optax.apply_updates(p, u)
        return p, s, jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b, e, p), l

    p = mlpp()
    return jax.jit(step, donate_argnums=(0, 1, 2)), (p, jax.eval_shape(tx.init, p), p, S((8, 32), f32), S((8, 16), f32))


@prog
def sharded_gspmd():
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as PS

    m = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
    n = lambda *a: NamedSharding(m, PS(*a))

    def step(w, v, x):
        def loss(w, v):
            h = jax.lax.with_sharding_constraint(jax.nn.relu(x @ w), n("data", "model"))
            return jnp.mean((h @ v) ** 2)

        l, g = jax.value_and_grad(loss, (0, 1))(w, v)
        return w - g[0], v - g[1], l

    return jax.jit(
        step,
        donate_argnums=(0, 1),
        in_shardings=(n(None, "model"), n("model", None), n("data", None)),
        out_shardings=(n(None, "model"), n("model", None), n()),
    ), (S((32, 64), f32), S((64, 32), f32), S((16, 32), f32))


@prog
def flax_linen():
    import flax.linen as nn, optax

    class M(nn.Module):
        @nn.compact
        def __call__(s, x, train=True):
            h = nn.Conv(16, (3, 3))(x)
            h = nn.BatchNorm(use_running_average=not train)(h)
            h = nn.relu(h)
            h = nn.max_pool(h, (2, 2), (2, 2))
            h = h.reshape(h.shape[0], -1, 16)
            h = nn.MultiHeadDotProductAttention(4)(nn.LayerNorm()(h))
            h = nn.GroupNorm(4)(h)
            return nn.Dense(10)(h.mean(1))

    m = M()
    v = jax.eval_shape(lambda: m.init(jax.random.PRNGKey(0), jnp.ones((8, 16, 16, 3))))
    tx = optax.adam(1e-3)

    def step(p, bs, s, x, y):
        def loss(p):
            o, u = m.apply({"params": p, "batch_stats": bs}, x, mutable=["batch_stats"])
            return optax.softmax_cross_entropy(o, y).mean(), u

        (l, u), g = jax.value_and_grad(loss, has_aux=True)(p)
        d, s = tx.update(g, s, p)
        return optax.apply_updates(p, d), u["batch_stats"], s, l

    return jax.jit(step, donate_argnums=(0, 1, 2)), (
        v["params"],
        v["batch_stats"],
        jax.eval_shape(tx.init, v["params"]),
        S((8, 16, 16, 3), f32),
        S((8, 10), f32),
    )


@prog
def flax_lstm_scan():
    import flax.linen as nn

    class M(nn.Module):
        @nn.compact
        def __call__(s, x):
            h = nn.Embed(64, 32)(x)
            h = nn.RNN(nn.OptimizedLSTMCell(32))(h)
            h = nn.Bidirectional(nn.RNN(nn.GRUCell(16)), nn.RNN(nn.GRUCell(16)))(h)
            return nn.Dense(64)(h)

    m = M()
    v = jax.eval_shape(lambda: m.init(jax.random.PRNGKey(0), jnp.ones((4, 12), jnp.int32)))

    def loss(p, x, y):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(m.apply(p, x)), y[..., None], -1))

    return sgd(loss), (v, S((4, 12), jnp.int32), S((4, 12), jnp.int32))


@prog
def haiku_net():
    import haiku as hk

    def fn(x):
        h = hk.nets.MLP([64, 32])(x)
        h = hk.LayerNorm(-1, True, True)(h)
        h = hk.MultiHeadAttention(2, 16, w_init=hk.initializers.VarianceScaling())(h[:, None], h[:, None], h[:, None])[:, 0]
        return hk.Linear(8)(h)

    t = hk.without_apply_rng(hk.transform(fn))
    p = jax.eval_shape(t.init, jax.random.PRNGKey(0), S((8, 32), f32))
    return sgd(lambda p, x, y: jnp.mean((t.apply(p, x) - y) ** 2)), (p, S((8, 32), f32), S((8, 8), f32))


@prog
def equinox_net():
    import equinox as eqx

    m = eqx.nn.MLP(32, 8, 64, 3, key=jax.random.PRNGKey(0))
    a, st = eqx.partition(m, eqx.is_array)

    def loss(p, x, y):
        return jnp.mean((jax.vmap(eqx.combine(p, st))(x) - y) ** 2)

    return sgd(loss), (jax.tree.map(lambda v: S(v.shape, v.dtype), a), S((8, 32), f32), S((8, 8), f32))


@prog
def keras_net():
    import keras

    i = keras.Input((16, 16, 3))
    h = keras.layers.Conv2D(8, 3, activation="relu")(i)
    h = keras.layers.BatchNormalization()(h)
    h = keras.layers.SeparableConv2D(16, 3)(h)
    h = keras.layers.GlobalAveragePooling2D()(h)
    o = keras.layers.Dense(10)(h)
    m = keras.Model(i, o)
    tv = [v.value for v in m.trainable_variables]
    nt = [v.value for v in m.non_trainable_variables]

    def step(tv, nt, x, y):
        def loss(tv):
            o, n = m.stateless_call(tv, nt, x, training=True)
            return jnp.mean(keras.losses.categorical_crossentropy(y, o, from_logits=True)), n

        (l, n), g = jax.value_and_grad(loss, has_aux=True)(tv)
        return [a - 0.1 * b for a, b in zip(tv, g)], n, l

    s = lambda t: [S(v.shape, v.dtype) for v in t]
    return jax.jit(step, donate_argnums=(0, 1)), (s(tv), s(nt), S((8, 16, 16, 3), f32), S((8, 10), f32))


@prog
def jraph_net():
    import jraph

    def loss(p, n, s, r, y):
        m = jax.ops.segment_sum((n @ p["a"])[s], r, 32)
        h = jax.nn.relu(jraph.segment_mean(m[s], r, 32) @ p["b"])
        return jnp.mean((jraph.segment_softmax((h @ p["c"])[s, 0], r, 32) - y) ** 2)

    return sgd(loss), (
        {"a": S((16, 32), f32), "b": S((32, 32), f32), "c": S((32, 1), f32)},
        S((32, 16), f32),
        S((64,), jnp.int32),
        S((64,), jnp.int32),
        S((64,), f32),
    )


def debug_hlo(lowered):
    module = lowered.compiler_ir("hlo")
    try:
        return module.get_hlo_module().to_string()
    except AttributeError:
        return module.as_hlo_text()


def write(lowered, path):
    """The prints of one program."""
    module = lowered.compiler_ir("stablehlo").operation
    texts = {"debug.mlir": module.get_asm(enable_debug_info=True), "mlir": module.get_asm(),
             "generic.mlir": module.get_asm(print_generic_op_form=True),
             "debug.hlo.txt": debug_hlo(lowered), "hlo.txt": lowered.as_text("hlo")}
    for form, text in texts.items():
        with gzip.open(f"{path}.{form}.gz", "wt") as file:
            file.write(text)


def main(folder, names):
    os.makedirs(folder, exist_ok=True)
    for name in names or PROGRAMS:
        try:
            step, shapes = PROGRAMS[name]()
            write(step.lower(*shapes), os.path.join(folder, name))
        except (ImportError, AttributeError, TypeError, ValueError) as missing:  # a package, or one that is too old for this jax
            print(f"{name} is left out: {str(missing)[:200]}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
