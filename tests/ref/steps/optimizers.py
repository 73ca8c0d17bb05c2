"""Steps whose optimizer, numbers or loops are what is uncommon."""
import jax
import jax.numpy as jnp
from steps import S, cross_entropy, ints, key, shapes, step, trained

WIDTHS = (64, 128, 128, 32)


def mlp_params():
    return [{"kernel": S(a, b), "bias": S(b)} for a, b in zip(WIDTHS, WIDTHS[1:])]


def mlp(p, x):
    for layer in p[:-1]:
        x = jax.nn.gelu(x @ layer["kernel"] + layer["bias"])
    return x @ p[-1]["kernel"] + p[-1]["bias"]


def mlp_loss(p, x, y):
    return cross_entropy(mlp(p, x), y)


BATCH = S(128, 64), ints(128)


@step("flax")
def shampoo():
    """Both sides of each matrix preconditioned by fourth roots, which a Newton loop finds in the step."""
    params = mlp_params()
    sides = [{"left": S(a, a), "right": S(b, b), "momentum": S(a, b)} for a, b in zip(WIDTHS, WIDTHS[1:])]

    def root(a):
        n = a.shape[0]
        a = a + 1e-4 * jnp.trace(a) / n * jnp.eye(n)
        z = 5.0 / (2.0 * jnp.linalg.norm(a))

        def more(c):
            k, m, h, _ = c
            t = (5.0 * jnp.eye(n) - m) / 4.0
            m2 = jnp.linalg.matrix_power(t, 4) @ m
            return k + 1, m2, h @ t, jnp.max(jnp.abs(m2 - jnp.eye(n)))

        start = (0, a * z, jnp.eye(n) * z**0.25, jnp.float32(1.0))
        return jax.lax.while_loop(lambda c: (c[0] < 20) & (c[3] > 1e-5), more, start)[2]

    def train(params, state, x, y):
        value, grads = jax.value_and_grad(mlp_loss)(params, x, y)
        new_params, new_state = [], []
        for p, s, g in zip(params, state, grads):
            left, right = 0.95 * s["left"] + g["kernel"] @ g["kernel"].T, 0.95 * s["right"] + g["kernel"].T @ g["kernel"]
            momentum = 0.9 * s["momentum"] + root(left) @ g["kernel"] @ root(right)
            new_params.append({"kernel": p["kernel"] - 0.01 * momentum, "bias": p["bias"] - 0.01 * g["bias"]})
            new_state.append({"left": left, "right": right, "momentum": momentum})
        return new_params, new_state, value

    return train, (params, sides, *BATCH), None


@step("flax")
def muon():
    """Momentum made orthogonal by Newton-Schulz products, Adam for what is no matrix."""
    from optax import contrib

    return trained(mlp_loss, contrib.muon(0.02), mlp_params(), *BATCH)


@step("flax")
def sharpness_aware():
    """Two gradients a step: the second where the first points to."""
    import optax

    tx = optax.sgd(0.1, momentum=0.9)

    def train(params, opt, x, y):
        grads = jax.grad(mlp_loss)(params, x, y)
        size = 0.05 / (optax.global_norm(grads) + 1e-12)
        value, grads = jax.value_and_grad(mlp_loss)(jax.tree.map(lambda p, g: p + size * g, params, grads), x, y)
        updates, opt = tx.update(grads, opt, params)
        return optax.apply_updates(params, updates), opt, value

    params = mlp_params()
    return train, (params, shapes(tx.init, params), *BATCH), None


@step("flax")
def schedule_free():
    """Weights between two sequences; the step's own count decides."""
    from optax import contrib

    return trained(mlp_loss, contrib.schedule_free_adamw(1e-3), mlp_params(), *BATCH)


@step("flax")
def accumulated():
    """Micro-batches in a scan, gradients summed in the carried state, one update; moving average and norms handed out."""
    import optax

    tx, parts = optax.adamw(1e-3), 4

    def train(state, x, y):
        def one(total, b):
            value, grads = jax.value_and_grad(mlp_loss)(state["params"], *b)
            return jax.tree.map(jnp.add, total, (value, grads)), None

        zero = (jnp.float32(0), jax.tree.map(jnp.zeros_like, state["params"]))
        (value, grads), _ = jax.lax.scan(one, zero, (x.reshape(parts, -1, 64), y.reshape(parts, -1)))
        grads = jax.tree.map(lambda g: g / parts, grads)
        updates, opt = tx.update(grads, state["opt"], state["params"])
        params = optax.apply_updates(state["params"], updates)
        ema = optax.incremental_update(params, state["ema"], 0.001)
        return dict(params=params, opt=opt, ema=ema), dict(loss=value / parts, norm=optax.global_norm(grads))

    params = mlp_params()
    state = dict(params=params, opt=shapes(tx.init, params), ema=params)
    return train, (state, *BATCH), lambda path: path.startswith("[0]['params']")


@step("flax")
def quantised():
    """Products of int8 with int32 sums, scales a row, rounded weights with a straight-through gradient."""
    import optax

    @jax.custom_vjp
    def product(x, w):
        sx, sw = jnp.max(jnp.abs(x), 1, keepdims=True) / 127 + 1e-8, jnp.max(jnp.abs(w), 0, keepdims=True) / 127 + 1e-8
        qx, qw = jnp.round(x / sx).astype(jnp.int8), jnp.round(w / sw).astype(jnp.int8)
        return jax.lax.dot(qx, qw, preferred_element_type=jnp.int32).astype(jnp.float32) * sx * sw

    product.defvjp(lambda x, w: (product(x, w), (x, w)), lambda s, d: (d @ s[1].T, s[0].T @ d))

    def loss(p, x, y):
        for layer in p[:-1]:
            x = jax.nn.relu(product(x, layer["kernel"]) + layer["bias"])
        return cross_entropy(product(x, p[-1]["kernel"]) + p[-1]["bias"], y)

    return trained(loss, optax.adam(1e-3), mlp_params(), *BATCH)


@step("flax")
def loss_scaled():
    """Half precision with a dynamic scale: all updates are chosen or left by one test of finiteness."""
    import optax

    tx, params = optax.adam(1e-3), mlp_params()

    def train(params, opt, scale, good, x, y):
        def loss(p):
            half = jax.tree.map(lambda a: a.astype(jnp.float16), p)
            return mlp_loss(half, x.astype(jnp.float16), y).astype(jnp.float32) * scale

        value, grads = jax.value_and_grad(loss)(params)
        grads = jax.tree.map(lambda g: g / scale, grads)
        fine = jnp.all(jnp.array([jnp.all(jnp.isfinite(g)) for g in jax.tree.leaves(grads)]))
        updates, new = tx.update(grads, opt, params)
        pick = lambda a, b: jax.tree.map(lambda u, v: jnp.where(fine, u, v), a, b)
        scale = jnp.where(fine, jnp.where(good > 100, scale * 2, scale), scale / 2)
        return pick(optax.apply_updates(params, updates), params), pick(new, opt), scale, jnp.where(fine, good + 1, 0), value / scale

    return train, (params, shapes(tx.init, params), S(), ints(), *BATCH), None


@step("equinox")
def mixer_remat():
    """An MLP-mixer whose blocks are computed again in the backward pass."""
    import equinox as eqx
    import optax

    class Block(eqx.Module):
        tokens: eqx.nn.MLP
        channels: eqx.nn.MLP
        norms: list

        def __init__(self, k):
            a, b = jax.random.split(k)
            self.tokens, self.channels = eqx.nn.MLP(16, 16, 64, 1, key=a), eqx.nn.MLP(64, 64, 256, 1, key=b)
            self.norms = [eqx.nn.LayerNorm((64,)), eqx.nn.LayerNorm((64,))]

        def __call__(self, x):
            x = x + jax.vmap(self.tokens, 1, 1)(jax.vmap(self.norms[0])(x))
            return x + jax.vmap(self.channels)(jax.vmap(self.norms[1])(x))

    class Mixer(eqx.Module):
        patch: eqx.nn.Conv2d
        blocks: list
        head: eqx.nn.Linear

        def __init__(self, k):
            ks = jax.random.split(k, 6)
            self.patch = eqx.nn.Conv2d(3, 64, 8, 8, key=ks[0])
            self.blocks = [Block(k) for k in ks[1:5]]
            self.head = eqx.nn.Linear(64, 10, key=ks[5])

        def __call__(self, x):
            x = self.patch(x).reshape(64, -1).T
            for block in self.blocks:
                x = eqx.filter_checkpoint(block)(x)
            return self.head(jnp.mean(x, 0))

    params, static = eqx.partition(eqx.filter_eval_shape(Mixer, jax.random.PRNGKey(0)), lambda x: isinstance(x, jax.ShapeDtypeStruct))
    return trained(lambda p, x, y: cross_entropy(jax.vmap(eqx.combine(p, static))(x), y), optax.adamw(1e-3), params,
                   S(32, 3, 32, 32), ints(32))


@step("flax")
def sparse_codes():
    """A dictionary where only the largest k codes speak; dead ones are told by counts kept over steps."""
    import optax

    params = {"encode": S(64, 1024), "decode": S(1024, 64), "before": S(64), "bias": S(1024)}
    tx = optax.adam(1e-3)

    def train(params, opt, last, x):
        def loss(p):
            top, which = jax.lax.top_k((x - p["before"]) @ p["encode"] + p["bias"], 16)
            codes = jnp.zeros((x.shape[0], 1024)).at[jnp.arange(x.shape[0])[:, None], which].set(jax.nn.relu(top))
            return jnp.mean((codes @ p["decode"] + p["before"] - x) ** 2), which

        (value, which), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, opt = tx.update(grads, opt, params)
        params = optax.apply_updates(params, updates)
        params["decode"] /= jnp.linalg.norm(params["decode"], axis=1, keepdims=True)
        return params, opt, (last + 1).at[which.reshape(-1)].set(0), value

    return train, (params, shapes(tx.init, params), ints(1024), S(256, 64)), None
