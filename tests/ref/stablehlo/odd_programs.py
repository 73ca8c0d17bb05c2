"""Twenty more steps, of idioms that programs.py and more_programs.py lack; written before the reader had seen any of them.

    odd_programs.py FOLDER [NAME ..]"""
import dataclasses
import functools
import sys
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

import programs
from programs import S, f32, mlp, mlpp, prog, sgd

FIRST = len(programs.PROGRAMS)
i32, bf16 = jnp.int32, jnp.bfloat16


@prog
def while_of_two():
    """A while within a while, both carry weights, and their bounds are data."""
    def solve(p, x):
        def inner(c):
            n, h = c
            return n + 1, 0.5 * h + jnp.tanh(h @ p["w"])

        def outer(c):
            k, h = c
            _, h = lax.while_loop(lambda c: c[0] < k, inner, (0, h))
            return k + 1, h / (1 + jnp.linalg.norm(h))

        return lax.while_loop(lambda c: (c[0] < 4) & (jnp.sum(c[1]) < 1e3), outer, (1, x))[1]

    def step(p, x, y):
        h = lax.stop_gradient(solve(p, x))
        loss, g = jax.value_and_grad(lambda p: jnp.mean((jnp.tanh(h @ p["w"]) @ p["o"] - y) ** 2))(p)
        return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), loss

    return jax.jit(step, donate_argnums=0), ({"w": S((32, 32), f32), "o": S((32, 8), f32)}, S((16, 32), f32), S((16, 8), f32))


@prog
def cond_in_scan():
    """A scan whose body chooses between experts."""
    def loss(p, x, y):
        def body(h, at):
            k, xt = at
            branches = [lambda h, n=n: jnp.tanh(h @ p["e"][n]) for n in range(3)]
            h = lax.switch(k % 3, branches, h) + xt
            return h, lax.cond(jnp.max(h) > 0, lambda: h.sum(-1), lambda: h.min(-1))

        h, s = lax.scan(body, jnp.zeros((8, 32)), (jnp.arange(6), x))
        return jnp.mean((h @ p["o"] - y) ** 2) + jnp.mean(s) * 1e-3

    return sgd(loss), ({"e": S((3, 32, 32), f32), "o": S((32, 4), f32)}, S((6, 8, 32), f32), S((8, 4), f32))


@prog
def remat_policies():
    """Checkpoints that keep what is named, dots alone, or nothing."""
    from jax.ad_checkpoint import checkpoint_name

    kept = jax.checkpoint_policies.save_only_these_names("hidden")
    dots = jax.checkpoint_policies.dots_with_no_batch_dims_saveable

    def layer(q, x):
        h = checkpoint_name(jax.nn.silu(x @ q["a"]), "hidden")
        return x + h @ q["b"]

    def loss(p, x, y):
        for n, q in enumerate(p["layers"]):
            x = jax.checkpoint(layer, policy=(kept, dots, None)[n % 3])(q, x)
        return jnp.mean((x @ p["o"] - y) ** 2)

    layers = [{"a": S((32, 64), f32), "b": S((64, 32), f32)} for _ in range(6)]
    return sgd(loss), ({"layers": layers, "o": S((32, 8), f32)}, S((16, 32), f32), S((16, 8), f32))


@prog
def private_gradients():
    """Gradients of each example, cut to a norm and summed with noise."""
    def step(p, key, x, y):
        one = lambda p, x, y: jnp.mean((mlp(p, x) - y) ** 2)
        g = jax.vmap(jax.grad(one), (None, 0, 0))(p, x, y)
        norms = jnp.sqrt(sum(jnp.sum(a.reshape(a.shape[0], -1) ** 2, 1) for a in jax.tree.leaves(g)))
        g = jax.tree.map(lambda a: jnp.einsum("b,b...->...", 1 / jnp.maximum(1, norms), a), g)
        leaves, tree = jax.tree.flatten(g)
        keys = jax.random.split(key, len(leaves))
        noisy = [a + 0.1 * jax.random.normal(k, a.shape) for k, a in zip(keys, leaves)]
        return jax.tree.map(lambda a, b: a - 0.01 * b / 16, p, jax.tree.unflatten(tree, noisy)), norms.mean()

    return jax.jit(step, donate_argnums=0), (mlpp(), S((2,), jnp.uint32), S((16, 32), f32), S((16, 16), f32))


@prog
def graph_segments():
    """Attention over edges: sums and maxima of segments, two rounds."""
    def loss(p, nodes, sender, receiver, y):
        for q in p["rounds"]:
            s = (nodes[sender] @ q["s"] + nodes[receiver] @ q["r"]) @ q["a"]
            top = jax.ops.segment_max(s, receiver, 24, indices_are_sorted=True)
            w = jnp.exp(s - lax.stop_gradient(jnp.where(jnp.isfinite(top), top, 0))[receiver])
            w = w / (jax.ops.segment_sum(w, receiver, 24)[receiver] + 1e-6)
            nodes = jax.nn.elu(jax.ops.segment_sum(w[:, None] * (nodes[sender] @ q["s"]), receiver, 24))
        return jnp.mean((jax.ops.segment_max(jnp.tanh(nodes), jnp.arange(24) // 6, 4) @ p["o"] - y) ** 2)

    q = {"s": S((16, 16), f32), "r": S((16, 16), f32), "a": S((16,), f32)}
    return sgd(loss), ({"rounds": [q, q], "o": S((16, 4), f32)}, S((24, 16), f32), S((96,), i32), S((96,), i32), S((4, 4), f32))


@prog
def experts_choose():
    """Expert choice: experts take their best tokens, and results are added back."""
    def loss(p, x, y):
        scores = jax.nn.softmax(x @ p["router"])
        weight, rows = lax.top_k(scores.T, 8)
        taken = x[rows] * weight[..., None]
        out = jnp.einsum("ecf,efd->ecd", jax.nn.gelu(jnp.einsum("ecd,edf->ecf", taken, p["up"])), p["down"])
        x = x + jnp.zeros_like(x).at[rows.reshape(-1)].add(out.reshape(-1, 32), mode="drop")
        return jnp.mean((x @ p["o"] - y) ** 2)

    return sgd(loss), ({"router": S((32, 4), f32), "up": S((4, 32, 64), f32), "down": S((4, 64, 32), f32), "o": S((32, 8), f32)},
                       S((32, 32), f32), S((32, 8), f32))


@prog
def sorted_losses():
    """A ranking loss through sort, argsort and searchsorted, several operands and a stable order."""
    def loss(p, x, y):
        s = (x @ p["w"]).squeeze(-1)
        order = jnp.argsort(y, axis=1, descending=True)
        gains, s, _ = lax.sort((-jnp.take_along_axis(y, order, 1), jnp.take_along_axis(s, order, 1), order), dimension=1, num_keys=2)
        at = jax.vmap(jnp.searchsorted)(jnp.sort(s, axis=1), jnp.zeros((8, 3)) + p["cuts"])
        return jnp.mean(jnp.cumsum(gains * jax.nn.log_softmax(s, 1), axis=1)) + jnp.mean(at * p["cuts"]) + jnp.median(s)

    return sgd(loss), ({"w": S((32, 1), f32), "cuts": S((3,), f32)}, S((8, 16, 32), f32), S((8, 16), f32))


@prog
def spectral_operator():
    """Fourier layers in two dims with complex weights, as a neural operator has."""
    def loss(p, x, y):
        h = x @ p["in"]
        for w, b in zip(p["spectral"], p["skip"]):
            f = jnp.fft.rfft2(h, axes=(1, 2))
            low = jnp.einsum("bxyi,xyio->bxyo", f[:, :4, :4], w[0] + 1j * w[1])
            f = jnp.zeros_like(f).at[:, :4, :4].set(low)
            h = jax.nn.gelu(jnp.fft.irfft2(f, s=(16, 16), axes=(1, 2)) + h @ b)
        return jnp.mean((h @ p["out"] - y) ** 2)

    return sgd(loss), ({"in": S((2, 16), f32), "spectral": [S((2, 4, 4, 16, 16), f32)] * 2, "skip": [S((16, 16), f32)] * 2, "out": S((16, 1), f32)},
                       S((8, 16, 16, 2), f32), S((8, 16, 16, 1), f32))


@prog
def complex_weights():
    """Weights are complex numbers; the step follows the conjugate gradient."""
    def loss(p, x, y):
        h = x @ p["a"]
        h = h * jax.nn.sigmoid(jnp.abs(h) - 1) + jnp.exp(1j * jnp.angle(h + 1e-3))
        return jnp.mean(jnp.abs(h @ p["b"] - y) ** 2)

    def step(p, x, y):
        l, g = jax.value_and_grad(loss)(p, x, y)
        return jax.tree.map(lambda a, b: a - 0.1 * jnp.conj(b), p, g), l

    c = jnp.complex64
    return jax.jit(step, donate_argnums=0), ({"a": S((16, 32), c), "b": S((32, 8), c)}, S((16, 16), c), S((16, 8), c))


@prog
def convolutions_odd():
    """Dilated, grouped, transposed, depthwise and 'CHWN' convolutions, and pooling by sums and maxima."""
    def loss(p, x, y):
        conv = functools.partial(lax.conv_general_dilated, dimension_numbers=("NHWC", "HWIO", "NHWC"))
        h = jax.nn.relu(conv(x, p["a"], (1, 1), "SAME", rhs_dilation=(2, 2)))
        h = jax.nn.relu(conv(h, p["g"], (2, 2), "VALID", feature_group_count=4))
        h = conv(h, p["d"], (1, 1), [(1, 2), (2, 1)], feature_group_count=16)
        h = lax.conv_transpose(h, p["t"], (2, 2), "SAME")
        h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") - lax.reduce_window(
            h, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9
        h = lax.conv_general_dilated(h.transpose(3, 1, 2, 0), p["c"], (1, 1), "SAME", dimension_numbers=("CHWN", "IHWO", "CHWN"))
        return jnp.mean((h.mean((1, 2)).T - y) ** 2)

    p = {"a": S((3, 3, 3, 16), f32), "g": S((3, 3, 4, 16), f32), "d": S((3, 3, 1, 16), f32), "t": S((3, 3, 16, 8), f32), "c": S((8, 3, 3, 8), f32)}
    return sgd(loss), (p, S((8, 16, 16, 3), f32), S((8, 8), f32))


@prog
def gated_recurrence():
    """Linear recurrences by cumulative sums, products and an associative scan, in bfloat16 with f32 masters."""
    def loss(p, x, y):
        h = x.astype(bf16) @ p["in"].astype(bf16)
        a = jax.nn.sigmoid(x.astype(bf16) @ p["gate"].astype(bf16)).astype(f32)
        _, h = lax.associative_scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (a, h.astype(f32)), axis=1)
        h = h + jnp.cumsum(x @ p["in"], 1) / jnp.arange(1, 17)[:, None] + jnp.cumprod(a, 1) + lax.cummax(h, 1) + jnp.logaddexp(h, 0)
        return jnp.mean((h @ p["out"] - y) ** 2)

    return sgd(loss), ({"in": S((16, 32), f32), "gate": S((16, 32), f32), "out": S((32, 4), f32)}, S((8, 16, 16), f32), S((8, 16, 4), f32))


@prog
def integer_layers():
    """Dots of int8 with int32 sums, scales found on the way, and a gradient that goes straight through."""
    @jax.custom_vjp
    def dot(x, w):
        sx, sw = jnp.max(jnp.abs(x), -1, keepdims=True) / 127 + 1e-6, jnp.max(jnp.abs(w), 0, keepdims=True) / 127 + 1e-6
        q = lambda v, s: jnp.clip(jnp.round(v / s), -128, 127).astype(jnp.int8)
        return lax.dot_general(q(x, sx), q(w, sw), (((1,), (0,)), ((), ())), preferred_element_type=i32).astype(f32) * sx * sw

    dot.defvjp(lambda x, w: (dot(x, w), (x, w)), lambda kept, g: (g @ kept[1].T, kept[0].T @ g))

    def loss(p, x, y):
        bits = (x > 0).astype(jnp.uint8)
        h = jax.nn.relu(dot(x, p["a"])) * (lax.population_count(bits).sum(-1, keepdims=True).astype(f32) / 16)
        return jnp.mean((dot(h, p["b"]) - y) ** 2)

    return sgd(loss), ({"a": S((16, 32), f32), "b": S((32, 8), f32)}, S((16, 16), f32), S((16, 8), f32))


class Kept(NamedTuple):
    mean: jax.Array
    square: jax.Array


@functools.partial(jax.tree_util.register_dataclass, data_fields=["params", "kept", "count", "key"], meta_fields=[])
@dataclasses.dataclass
class State:
    params: dict
    kept: dict
    count: jax.Array
    key: jax.Array


@prog
def state_of_classes():
    """One argument of a user's class with named tuples within; a key of its own type; rescaled loss."""
    def step(s, batch):
        key, use = jax.random.split(jax.random.wrap_key_data(s.key))
        keep = jax.random.bernoulli(use, 0.9, (16, 32))

        def loss(p):
            h = jax.nn.gelu(batch["x"] @ p["a"]) * keep / 0.9
            return jnp.mean((h @ p["b"] - batch["y"]) ** 2) * 1024

        l, g = jax.value_and_grad(loss)(s.params)
        g = jax.tree.map(lambda a: a / 1024, g)
        fine = jnp.all(jnp.stack([jnp.all(jnp.isfinite(a)) for a in jax.tree.leaves(g)]))
        kept = jax.tree.map(lambda k, a: Kept(0.9 * k.mean + 0.1 * a, 0.99 * k.square + 0.01 * a * a), s.kept, g, is_leaf=lambda x: isinstance(x, Kept))
        new = jax.tree.map(lambda p, k: p - 0.01 * k.mean / (jnp.sqrt(k.square) + 1e-8), s.params, kept, is_leaf=lambda x: isinstance(x, Kept))
        pick = lambda a, b: jax.tree.map(lambda a, b: jnp.where(fine, a, b), a, b)
        return State(pick(new, s.params), pick(kept, s.kept), s.count + fine, jax.random.key_data(key)), l

    p = {"a": S((16, 32), f32), "b": S((32, 8), f32)}
    state = State(p, jax.tree.map(lambda a: Kept(a, a), p), S((), i32), S((2,), jnp.uint32))
    return jax.jit(step, donate_argnums=0), (state, {"x": S((16, 16), f32), "y": S((16, 8), f32)})


@prog
def pallas_norm():
    """A kernel in Pallas, interpreted, within a training step."""
    from jax.experimental import pallas as pl

    def kernel(x, g, o):
        v = x[...]
        o[...] = v * lax.rsqrt(jnp.mean(v * v, -1, keepdims=True) + 1e-6) * g[...]

    def run(x, g):
        return pl.pallas_call(kernel, out_shape=S(x.shape, x.dtype), grid=(4,), interpret=True,
                              in_specs=[pl.BlockSpec((4, 32), lambda i: (i, 0)), pl.BlockSpec((32,), lambda i: (0,))],
                              out_specs=pl.BlockSpec((4, 32), lambda i: (i, 0)))(x, g)

    plain = lambda x, g: x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g
    norm = jax.custom_vjp(run)
    norm.defvjp(lambda x, g: (run(x, g), (x, g)), lambda kept, d: jax.vjp(plain, *kept)[1](d))

    def loss(p, x, y):
        return jnp.mean((norm(x @ p["a"], p["g"]) @ p["b"] - y) ** 2)

    return sgd(loss), ({"a": S((16, 32), f32), "g": S((32,), f32), "b": S((32, 8), f32)}, S((16, 16), f32), S((16, 8), f32))


@prog
def muon_newton_schulz():
    """Updates made orthogonal by five rounds of Newton and Schulz; weights are stacked by layer."""
    def orthogonal(g):
        x = g / (jnp.linalg.norm(g) + 1e-7)

        def turn(_, x):
            a = x @ x.T
            return 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x

        return lax.fori_loop(0, 5, turn, x)

    def step(p, m, x, y):
        def loss(p):
            h, _ = lax.scan(lambda h, w: (h + jnp.tanh(h @ w), None), x, p["w"])
            return jnp.mean((h @ p["o"] - y) ** 2)

        l, g = jax.value_and_grad(loss)(p)
        m = jax.tree.map(lambda m, g: 0.95 * m + g, m, g)
        return {"w": p["w"] - 0.02 * jax.vmap(orthogonal)(m["w"]), "o": p["o"] - 0.1 * m["o"]}, m, l

    p = {"w": S((4, 32, 32), f32), "o": S((32, 8), f32)}
    return jax.jit(step, donate_argnums=(0, 1)), (p, p, S((16, 32), f32), S((16, 8), f32))


@prog
def gaussian_process():
    """Likelihood of a Gaussian process by Cholesky, with a low-rank part by QR and an eigenvalue penalty."""
    def loss(p, x, y):
        d = jnp.sum((x[:, None] - x[None]) ** 2 * jnp.exp(p["scale"]), -1)
        k = jnp.exp(-0.5 * d) + 0.1 * jnp.eye(16)
        c = jnp.linalg.cholesky(k)
        a = jax.scipy.linalg.solve_triangular(c, y - x @ p["w"], lower=True)
        q, r = jnp.linalg.qr(p["w"])
        return jnp.sum(a * a) + jnp.sum(jnp.log(jnp.diag(c))) + jnp.sum(jnp.linalg.eigvalsh(r @ r.T + jnp.eye(4))) + jnp.sum(jnp.linalg.inv(r + 3 * jnp.eye(4)))

    return sgd(loss), ({"scale": S((8,), f32), "w": S((8, 4), f32)}, S((16, 8), f32), S((16, 4), f32))


@prog
def nnx_sequence():
    """An NNX model with an LSTM, dropout and batch statistics, renewed by NNX's own optimizer."""
    import optax
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(48, 16, rngs=rngs)
            self.rnn = nnx.RNN(nnx.LSTMCell(16, 32, rngs=rngs))
            self.norm, self.drop = nnx.BatchNorm(32, rngs=rngs), nnx.Dropout(0.1, rngs=rngs)
            self.head = nnx.Linear(32, 48, rngs=rngs)

        def __call__(self, x):
            return self.head(self.drop(self.norm(self.rnn(self.embed(x)))))

    def make():
        net = Net(nnx.Rngs(0))
        return nnx.split((net, nnx.Optimizer(net, optax.adamw(1e-3), wrt=nnx.Param)))

    graph = []

    def state():
        g, s = make()
        graph.append(g)
        return s

    shapes = jax.eval_shape(state)

    def step(s, x, y):
        net, optimizer = nnx.merge(graph[0], s)
        loss, g = nnx.value_and_grad(lambda net: optax.softmax_cross_entropy_with_integer_labels(net(x), y).mean())(net)
        optimizer.update(net, g)
        return nnx.state((net, optimizer)), loss

    return jax.jit(step, donate_argnums=0), (shapes, S((8, 12), i32), S((8, 12), i32))


@prog
def contrast_and_average():
    """Two towers, a batch's similarities, and a slow copy of the weights that teaches."""
    def step(p, slow, queue, a, b):
        def loss(p):
            u = mlp(p["u"], a)
            v = lax.stop_gradient(mlp(slow["u"], b))
            u, v = u / jnp.linalg.norm(u, axis=-1, keepdims=True), v / jnp.linalg.norm(v, axis=-1, keepdims=True)
            logits = jnp.concatenate([jnp.sum(u * v, -1, keepdims=True), u @ queue.T], 1) * jnp.exp(p["heat"])
            return -jnp.mean(jax.nn.log_softmax(logits)[:, 0]), v

        (l, v), g = jax.value_and_grad(loss, has_aux=True)(p)
        p = jax.tree.map(lambda a, b: a - 0.1 * b, p, g)
        slow = jax.tree.map(lambda s, q: 0.99 * s + 0.01 * q, slow, p)
        return p, slow, lax.dynamic_update_slice(jnp.roll(queue, 16, 0), v, (0, 0)), l

    p = {"u": mlpp(), "heat": S((), f32)}
    return jax.jit(step, donate_argnums=(0, 1, 2)), (p, p, S((64, 16), f32), S((16, 32), f32), S((16, 32), f32))


@prog
def random_draws():
    """Draws of many kinds by two generators: categorical, gumbel, gamma, permutation, truncated normal."""
    def loss(p, key, x, y):
        k = jax.random.split(jax.random.wrap_key_data(key), 6)
        h = x @ p["a"] + 0.1 * jax.random.truncated_normal(k[0], -2, 2, (16, 32))
        word = jax.random.categorical(k[1], lax.stop_gradient(h[:, :8]))
        soft = jax.nn.softmax((h[:, :8] + jax.random.gumbel(k[2], (16, 8))) / 0.5)
        noise = jax.random.gamma(k[3], jax.nn.softplus(p["shape"]), (16, 8)) + jax.random.laplace(k[4], (16, 8)) * jax.random.rademacher(k[4], (16, 8), dtype=f32)
        bits = lax.rng_bit_generator(jnp.concatenate([key, key]), (16, 32), dtype=jnp.uint32)[1]
        h = h * (bits > 1000).astype(f32) @ p["b"]
        return jnp.mean((h[jax.random.permutation(k[5], 16)] + jax.nn.one_hot(word, 8) + soft + 0.01 * noise - y) ** 2)

    return sgd(loss), ({"a": S((16, 32), f32), "b": S((32, 8), f32), "shape": S((8,), f32)}, S((2,), jnp.uint32), S((16, 16), f32), S((16, 8), f32))


@prog
def second_order():
    """A Hessian's product with a vector, conjugate gradients in a loop, and a trust region by cond."""
    def step(p, x, y):
        f = lambda p: jnp.mean((mlp(p, x) - y) ** 2) + 1e-3 * sum(jnp.vdot(a, a) for a in jax.tree.leaves(p))
        l, g = jax.value_and_grad(f)(p)
        product = lambda v: jax.jvp(jax.grad(f), (p,), (v,))[1]
        d, _ = jax.scipy.sparse.linalg.cg(lambda v: jax.tree.map(lambda a, b: a + 0.1 * b, product(v), v), g, maxiter=3)
        size = jnp.sqrt(sum(jnp.vdot(a, a) for a in jax.tree.leaves(d)))
        d = lax.cond(size > 1, lambda: jax.tree.map(lambda a: a / size, d), lambda: d)
        return jax.tree.map(lambda a, b: a - b, p, d), l

    return jax.jit(step, donate_argnums=0), (mlpp(), S((16, 32), f32), S((16, 16), f32))


ODD = list(programs.PROGRAMS)[FIRST:]

if __name__ == "__main__":
    programs.main(sys.argv[1], sys.argv[2:] or ODD)
