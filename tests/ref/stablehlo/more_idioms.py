"""Eighteen more steps, of idioms that the other three files lack; written before the reader had seen any of them.

    more_idioms.py FOLDER [NAME ..]"""
import dataclasses
import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import programs
from programs import S, f32, mlp, mlpp, prog, sgd

FIRST = len(programs.PROGRAMS)
i32, bf16 = jnp.int32, jnp.bfloat16


@prog
def while_in_scan():
    """A scan whose body iterates to a fixed point, then takes a step that is differentiated."""
    def step(p, x, y):
        def settle(h):
            near = lambda c: (c[0] < 7) & (jnp.max(jnp.abs(c[1] - c[2])) > 1e-3)
            return lax.while_loop(near, lambda c: (c[0] + 1, jnp.tanh(c[1] @ p["w"]) * 0.5, c[1]), (0, h, h + 1))[1]

        def loss(p):
            def body(h, xt):
                h = jnp.tanh(lax.stop_gradient(settle(h)) @ p["w"] + xt)
                return h, h @ p["o"]

            return jnp.mean((lax.scan(body, jnp.zeros((8, 32)), x)[1] - y) ** 2)

        l, g = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), l

    return jax.jit(step, donate_argnums=0), ({"w": S((32, 32), f32), "o": S((32, 4), f32)}, S((5, 8, 32), f32), S((5, 8, 4), f32))


@prog
def nine_branches():
    """Nine branches, some of which use no weight, under a gradient; and a switch over data types of its own."""
    def loss(p, i, x, y):
        act = [jnp.tanh, jax.nn.relu, jax.nn.gelu, jnp.sin, jax.nn.silu, lambda v: v, jnp.square, lambda v: v[::-1], jnp.zeros_like]
        h = lax.switch(i, [lambda v, n=n, f=f: f(v @ p["e"][n % 3]) if n != 5 else v for n, f in enumerate(act)], x)
        h = lax.cond(i > 4, lambda v: (v @ p["a"], v.sum()), lambda v: (v[:, :16] * 2, jnp.float32(0)), h)
        return jnp.mean((h[0] @ p["o"] - y) ** 2) + 1e-3 * h[1]

    return sgd(loss), ({"e": S((3, 32, 32), f32), "a": S((32, 16), f32), "o": S((16, 8), f32)}, S((), i32), S((16, 32), f32), S((16, 8), f32))


@prog
def scan_of_nothing():
    """Scans without xs, one unrolled by two; the carry has a counter, a key and a dict."""
    def loss(p, key, x, y):
        def body(c, _):
            n, k, h = c["n"], c["key"], c["h"]
            k, sub = jax.random.split(k)
            h = jnp.tanh(h @ p["w"] + 0.01 * n) + 0.01 * jax.random.normal(sub, h.shape)
            return {"n": n + 1, "key": k, "h": h}, None

        c, _ = lax.scan(body, {"n": jnp.int32(0), "key": key, "h": x}, None, length=6, unroll=2)
        h, traced = lax.scan(lambda h, _: (h @ p["w"] * 0.5, h.sum()), c["h"], length=3)
        return jnp.mean((h @ p["o"] - y) ** 2) + 1e-6 * traced.sum()

    return sgd(loss), ({"w": S((32, 32), f32), "o": S((32, 8), f32)}, S((2,), jnp.uint32), S((16, 32), f32), S((16, 8), f32))


@prog
def complex_functions():
    """Weights of complex numbers through exp, log, sqrt, powers, trigonometric functions and a solve."""
    def loss(p, x, y):
        z = x.astype(jnp.complex64) @ p["w"]
        z = jnp.sqrt(z) + jnp.log(z + 2) + jnp.exp(1j * z) * 0.1 + jnp.sin(z) * jnp.conj(z) + z ** 3 * 0.01
        z = z / (1 + jnp.abs(z)) + jnp.linalg.solve(jnp.eye(32) * 4 + p["s"], z.T).T
        return jnp.mean(jnp.abs(z @ p["o"] - y) ** 2)

    def step(p, x, y):
        l, g = jax.value_and_grad(loss)(p, x, y)
        return jax.tree.map(lambda a, b: a - 0.1 * jnp.conj(b), p, g), l

    c64 = jnp.complex64
    return jax.jit(step), ({"w": S((16, 32), c64), "s": S((32, 32), c64), "o": S((32, 8), c64)}, S((16, 16), f32), S((16, 8), f32))


@prog
def ranks_and_quantiles():
    """Sorts by two keys, ranks, searches in sorted lists, medians, unique values, top-k with a straight-through mask."""
    def loss(p, x, y):
        h = jnp.tanh(x @ p["a"])
        _, _, order = lax.sort((jnp.round(h, 1), -h, lax.broadcasted_iota(i32, h.shape, 1)), dimension=1, num_keys=2)
        rank = jnp.argsort(order, axis=1)
        edges = jnp.quantile(h, jnp.linspace(0, 1, 9), axis=None)
        bins = jnp.searchsorted(lax.stop_gradient(edges), h.ravel()).reshape(h.shape)
        top, at = lax.top_k(h, 4)
        mask = jnp.zeros_like(h).at[jnp.arange(16)[:, None], at].set(1)
        h = h * lax.stop_gradient(mask + rank / 32) + p["bins"][bins] + jnp.median(h, axis=1, keepdims=True) + top.sum(1, keepdims=True)
        kinds = jnp.unique(bins, size=8, fill_value=0)
        return jnp.mean((h @ p["b"] - y) ** 2) + 1e-3 * jnp.mean(p["bins"][kinds])

    return sgd(loss), ({"a": S((16, 32), f32), "b": S((32, 8), f32), "bins": S((10,), f32)}, S((16, 16), f32), S((16, 8), f32))


@prog
def derivatives_by_hand():
    """custom_vjp with an argument that is not differentiated, within a scan; custom_jvp; a gradient of a gradient."""
    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def clipped(most, x, w):
        return x @ w

    clipped.defvjp(lambda most, x, w: (x @ w, (x, w)),
                   lambda most, kept, g: (jnp.clip(g, -most, most) @ kept[1].T, kept[0].T @ jnp.clip(g, -most, most)))

    @jax.custom_jvp
    def soft(x):
        return jnp.where(x > 0, x, jnp.expm1(x))

    soft.defjvp(lambda at, by: (soft(*at), jnp.where(at[0] > 0, 1, jnp.exp(at[0])) * by[0]))

    def loss(p, x, y):
        h = lax.scan(lambda h, w: (soft(clipped(0.5, h, w)) + h, None), x, p["w"])[0]
        slope = jax.vmap(jax.grad(lambda v: (soft(v @ p["w"][0]) @ p["o"]).sum()))(x)
        return jnp.mean((h @ p["o"] - y) ** 2) + 1e-2 * jnp.mean(slope ** 2)

    return sgd(loss), ({"w": S((4, 32, 32), f32), "o": S((32, 8), f32)}, S((16, 32), f32), S((16, 8), f32))


@prog
def odd_sizes():
    """Rows of unlike lengths in prime sizes that no mesh divides, packed by offsets and gathered again."""
    def loss(p, lengths, x, y):
        start = jnp.cumsum(lengths) - lengths
        inside = jnp.arange(13)[None] < lengths[:, None]
        at = jnp.clip(start[:, None] + jnp.arange(13)[None], 0, 29)
        rows = jnp.where(inside[..., None], (x @ p["e"])[at], 0)
        score = jnp.where(inside, rows @ p["q"], -1e30)
        pooled = jnp.einsum("bl,ble->be", jax.nn.softmax(score), rows)
        packed = jnp.zeros((30, 11)).at[at].add(rows * pooled[:, None])
        return jnp.mean((packed @ p["o"] - y) ** 2)

    return sgd(loss), ({"e": S((6, 11), f32), "q": S((11,), f32), "o": S((11, 3), f32)}, S((7,), i32), S((30, 6), f32), S((30, 3), f32))


@prog
def filters_by_fft():
    """Two-dimensional transforms of reals, a long convolution, shifts, a windowed spectrum."""
    def loss(p, x, y):
        f = jnp.fft.rfft2(x, axes=(1, 2)) * (p["re"] + 1j * p["im"])
        h = jnp.fft.irfft2(f, s=(16, 16), axes=(1, 2))
        wave = jnp.fft.irfft(jnp.fft.rfft(h.reshape(8, 256), n=512) * jnp.fft.rfft(p["long"], n=512), n=512)[:, :256]
        bands = jnp.abs(jnp.fft.fftshift(jnp.fft.fft(wave.reshape(8, 16, 16) * jnp.hanning(16)), axes=-1)) + 1e-3
        return jnp.mean((jnp.log(bands).mean(1) @ p["o"] - y) ** 2)

    return sgd(loss), ({"re": S((16, 9), f32), "im": S((16, 9), f32), "long": S((256,), f32), "o": S((16, 4), f32)}, S((8, 16, 16), f32), S((8, 4), f32))


@prog
def small_types():
    """Weights as int8 and int4, products of float8 with scales, straight through."""
    def quantised(w, t, most):
        scale = jnp.max(jnp.abs(w), 0, keepdims=True) / most + 1e-9
        return (w / scale).astype(t), scale

    @jax.custom_vjp
    def dot8(x, w):
        (a, s), (b, t) = quantised(x, jnp.float8_e4m3fn, 448.0), quantised(w, jnp.float8_e4m3fn, 448.0)
        return lax.dot(a.astype(bf16), b.astype(bf16), preferred_element_type=f32) * t

    dot8.defvjp(lambda x, w: (dot8(x, w), (x, w)),
                lambda kept, g: (g.astype(jnp.float8_e5m2).astype(f32) @ kept[1].T, kept[0].T @ g.astype(jnp.float8_e5m2).astype(f32)))

    def loss(p, x, y):
        q, s = quantised(lax.stop_gradient(p["a"]), jnp.int8, 127.0)
        xi = jnp.clip(jnp.round(x * 16), -127, 127).astype(jnp.int8)
        exact = lax.dot(xi, q, preferred_element_type=i32).astype(f32) / 16 * s
        h = jnp.tanh(exact + x @ (p["a"] - lax.stop_gradient(p["a"])))
        four = jnp.clip(jnp.round(lax.stop_gradient(p["b"]) * 7), -8, 7).astype(jnp.int4).astype(f32) / 7
        h = h @ (four + p["b"] - lax.stop_gradient(p["b"]))
        return jnp.mean((dot8(h, p["c"]) - y) ** 2)

    return sgd(loss), ({"a": S((16, 32), f32), "b": S((32, 32), f32), "c": S((32, 8), f32)}, S((16, 16), f32), S((16, 8), f32))


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Trained:
    weights: list
    slow: list
    count: jax.Array
    name: str = dataclasses.field(default="net", metadata=dict(static=True))


@prog
def state_of_dataclass():
    """A dataclass with a static field, donated by name; the batch is a dict with an entry that nothing uses."""
    def step(state, batch):
        loss = lambda w: jnp.mean((mlp(w, batch["x"]) - batch["y"]) ** 2)
        l, g = jax.value_and_grad(loss)(state.weights)
        new = jax.tree.map(lambda a, b: a - 0.1 * b, state.weights, g)
        slow = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, state.slow, new)
        return dataclasses.replace(state, weights=new, slow=slow, count=state.count + 1), {"loss": l, state.name: state.count}

    state = Trained(mlpp(), mlpp(), S((), i32))
    return jax.jit(step, donate_argnames="state"), (state, {"x": S((16, 32), f32), "y": S((16, 16), f32), "unused": S((16, 3), f32)})


@prog
def large_constants():
    """A table, a mask and a list of indices that the step closes over."""
    table = np.random.default_rng(0).standard_normal((512, 64)).astype(np.float32)
    mask = np.tril(np.ones((32, 32), bool))
    order = np.random.default_rng(1).permutation(32)

    def loss(p, ids, y):
        h = jnp.asarray(table)[ids] @ p["w"] + jnp.sin(np.arange(32)[:, None] / 10 ** np.linspace(0, 4, 64)).astype(f32)
        s = jnp.where(mask, jnp.einsum("bqd,bkd->bqk", h, h[:, order]), -1e9)
        return jnp.mean((jax.nn.softmax(s) @ h @ p["o"] - y) ** 2)

    return sgd(loss), ({"w": S((64, 64), f32), "o": S((64, 8), f32)}, S((8, 32), i32), S((8, 32, 8), f32))


@prog
def half_precision_adam():
    """Weights and moments in bfloat16 with a master copy, rounded at random, a loss scale that backs off."""
    def step(s, key, x, y):
        def loss(w):
            return jnp.mean((mlp(w, x.astype(bf16)).astype(f32) - y) ** 2) * s["scale"]

        l, g = jax.value_and_grad(loss)(s["w"])
        g = jax.tree.map(lambda a: a.astype(f32) / s["scale"], g)
        fine = jnp.all(jnp.array([jnp.all(jnp.isfinite(a)) for a in jax.tree.leaves(g)]))
        m = jax.tree.map(lambda a, b: (0.9 * a.astype(f32) + 0.1 * b), s["m"], g)
        v = jax.tree.map(lambda a, b: (0.99 * a.astype(f32) + 0.01 * b * b), s["nu"], g)
        new = jax.tree.map(lambda a, b, c: jnp.where(fine, a - 1e-3 * b / (jnp.sqrt(c) + 1e-4), a), s["master"], m, v)

        def rounded(a, n):
            bits = lax.bitcast_convert_type(a, jnp.uint32) + (jax.random.bits(jax.random.fold_in(key, n), a.shape) >> 16)
            return lax.bitcast_convert_type(bits & jnp.uint32(0xFFFF0000), f32).astype(bf16)

        leaves, tree = jax.tree.flatten(new)
        low = tree.unflatten([rounded(a, n) for n, a in enumerate(leaves)])
        scale = jnp.where(fine, s["scale"], s["scale"] / 2)
        half = lambda t: jax.tree.map(lambda a: a.astype(bf16), t)
        return {"w": low, "m": half(m), "nu": half(v), "master": new, "scale": scale}, l / s["scale"]

    state = {"w": mlpp(t=bf16), "m": mlpp(t=bf16), "nu": mlpp(t=bf16), "master": mlpp(), "scale": S((), f32)}
    return jax.jit(step, donate_argnums=0), (state, S((2,), jnp.uint32), S((16, 32), f32), S((16, 16), f32))


@prog
def by_platform():
    """A step that does otherwise on other platforms, a barrier, and mapping in batches."""
    def loss(p, x, y):
        h = lax.platform_dependent(x @ p["a"], cpu=jnp.tanh, tpu=jnp.sin, default=jax.nn.relu)
        h, a = lax.optimization_barrier((h, p["b"]))
        h = lax.map(lambda v: jnp.tanh(v @ a), h, batch_size=8)
        return jnp.mean((h - y) ** 2)

    return sgd(loss), ({"a": S((16, 32), f32), "b": S((32, 8), f32)}, S((32, 16), f32), S((32, 8), f32))


@prog
def gathers_in_batches():
    """Gathers and scatters under two vmaps, of rows, windows and single elements, added and multiplied."""
    def loss(p, at, x, y):
        pick = jax.vmap(jax.vmap(lambda row, i: row[i], (0, 0)), (0, 0))(jnp.tanh(x @ p["a"]), at)
        windows = jax.vmap(lambda v, i: lax.dynamic_slice(v, (i, 0), (3, 8)))(x @ p["b"], at[:, 0])
        grown = jax.vmap(lambda v, i, w: lax.dynamic_update_slice(v, w, (i, 0)))(jnp.zeros((8, 12, 8)), at[:, 1], windows)
        spread = jnp.ones((8, 12)).at[jnp.arange(8)[:, None], at].max(1 + pick)
        return jnp.mean(((grown * spread[..., None]) @ p["o"] - y) ** 2)

    return sgd(loss), ({"a": S((16, 12), f32), "b": S((16, 8), f32), "o": S((8, 4), f32)}, S((8, 12), i32), S((8, 12, 16), f32), S((8, 12, 4), f32))


@prog
def sums_that_run():
    """Running sums, products, maxima and logs of sums, forward and back, and a linear recurrence of complex numbers."""
    def loss(p, x, y):
        h = x @ p["a"]
        run = jnp.cumsum(h, 1) / 10 + lax.cummax(h, axis=1, reverse=True) + lax.cumlogsumexp(h, axis=1) + jnp.cumprod(jnp.tanh(h), 1)
        decay = jnp.exp(-jnp.abs(p["d"]) + 1j * p["t"])
        join = lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1])
        _, state = lax.associative_scan(join, (jnp.broadcast_to(decay, run.shape), run.astype(jnp.complex64)), axis=1)
        return jnp.mean((state.real @ p["o"] - y) ** 2)

    return sgd(loss), ({"a": S((8, 16), f32), "d": S((16,), f32), "t": S((16,), f32), "o": S((16, 4), f32)}, S((8, 24, 8), f32), S((8, 24, 4), f32))


@prog
def attention_of_jax():
    """jax.nn's attention with grouped heads, a bias and a local window; glu; a moving average by convolution."""
    def loss(p, x, y):
        q = jnp.einsum("btd,dhk->bthk", x, p["q"])
        k, v = jnp.einsum("btd,cdhk->cbthk", x, p["kv"])
        h = jax.nn.dot_product_attention(q, k, v, bias=p["bias"], is_causal=True, local_window_size=(8, 0))
        h = jnp.einsum("bthk,hkd->btd", h, p["o"]) + x
        h = jax.nn.glu(h @ p["g"])
        h = lax.conv_general_dilated(h, p["c"], (1,), [(2, 0)], feature_group_count=16, dimension_numbers=("NWC", "WIO", "NWC"))
        return jnp.mean((jax.nn.standardize(h) - y) ** 2)

    p = {"q": S((32, 4, 8), f32), "kv": S((2, 32, 2, 8), f32), "o": S((4, 8, 32), f32), "bias": S((4, 16, 16), f32), "g": S((32, 32), f32), "c": S((3, 1, 16), f32)}
    return sgd(loss), (p, S((8, 16, 32), f32), S((8, 16, 16), f32))


@prog
def decompositions():
    """An eigendecomposition of symmetric matrices, a tridiagonal solve, a determinant, an orthogonal start."""
    def loss(p, x, y):
        a = x @ p["a"]
        w, v = jnp.linalg.eigh(jnp.einsum("bij,bkj->bik", a, a) + jnp.eye(8))
        one = jnp.ones((16, 8))
        t = lax.linalg.tridiagonal_solve(-0.1 * one, 2 + w, -0.1 * one, (v[..., :4] * w[..., None]))
        size = jnp.linalg.slogdet(jnp.eye(8) * 3 + v * 0.1)[1]
        return jnp.mean((t @ p["o"] - y) ** 2) + 1e-3 * jnp.mean(size)

    return sgd(loss), ({"a": S((6, 6), f32), "o": S((4, 4), f32)}, S((16, 8, 6), f32), S((16, 8, 4), f32))


@prog
def parts_per_device():
    """A part of the step is written for each device: opens, and is refused by a plan."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(8), ("d",))
    P = jax.sharding.PartitionSpec

    def loss(p, x, y):
        part = jax.shard_map(lambda x, w: lax.psum(x @ w, "d"), mesh=mesh, in_specs=(P(None, "d"), P("d", None)), out_specs=P())
        return jnp.mean((jnp.tanh(part(x, p["a"])) @ p["b"] - y) ** 2)

    return sgd(loss), ({"a": S((16, 32), f32), "b": S((32, 8), f32)}, S((16, 16), f32), S((16, 8), f32))


IDIOMS = list(programs.PROGRAMS)[FIRST:]

if __name__ == "__main__":
    programs.main(sys.argv[1], sys.argv[2:] or IDIOMS)
