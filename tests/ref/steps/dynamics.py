"""Steps of graphs, physics, decisions and inference."""
import jax
import jax.numpy as jnp
from steps import S, cross_entropy, ints, key, shapes, step, trained


@step("jraph")
def graph_attention():
    """Edges weighted by a softmax over the edges of a node, several heads; graphs read out by segments."""
    import haiku as hk
    import jraph
    import optax

    nodes, edges, graphs = 256, 1024, 16

    def forward(g):
        x = g.nodes
        for _ in range(3):
            h = hk.Linear(64, with_bias=False)(x).reshape(-1, 4, 16)
            score = jax.nn.leaky_relu(hk.Linear(4)(jnp.concatenate([h[g.senders], h[g.receivers]], -1).reshape(edges, -1)))
            w = jraph.segment_softmax(score, g.receivers, nodes)
            x = x + jax.nn.elu(jax.ops.segment_sum(h[g.senders] * w[..., None], g.receivers, nodes).reshape(nodes, 64))
        owner = jnp.repeat(jnp.arange(graphs), g.n_node, total_repeat_length=nodes)
        return hk.Linear(10)(jraph.segment_mean(x, owner, graphs))

    net = hk.without_apply_rng(hk.transform(forward))
    g = jraph.GraphsTuple(S(nodes, 64), None, ints(edges), ints(edges), None, ints(graphs), ints(graphs))
    return trained(lambda p, g, y: cross_entropy(net.apply(p, g), y), optax.adam(1e-3), shapes(net.init, key(), g), g, ints(graphs))


@step("flax")
def fourier_operator():
    """Spectral convolutions: fft2, complex weights on the low modes, back."""
    import optax

    width, modes = 32, 8
    params = {"lift": S(3, width), "blocks": [{"spectral": S(2, 2, width, width, modes, modes), "skip": S(width, width)}
                                              for _ in range(3)], "out": S(width, 1)}

    def loss(p, x, y):
        h = x @ p["lift"]
        for b in p["blocks"]:
            f = jnp.fft.rfft2(h, axes=(1, 2))
            w = jax.lax.complex(b["spectral"][0], b["spectral"][1])
            low = jnp.einsum("bxyi,ioxy->bxyo", f[:, :modes, :modes], w[0])
            high = jnp.einsum("bxyi,ioxy->bxyo", f[:, -modes:, :modes], w[1])
            f = jnp.zeros_like(f).at[:, :modes, :modes].set(low).at[:, -modes:, :modes].set(high)
            h = jax.nn.gelu(jnp.fft.irfft2(f, h.shape[1:3], axes=(1, 2)) + h @ b["skip"])
        return jnp.mean((h @ p["out"] - y) ** 2)

    return trained(loss, optax.adam(1e-3), params, S(16, 32, 32, 3), S(16, 32, 32, 1))


@step("flax")
def ppo():
    """Advantages by a scan back in time, epochs over shuffled minibatches in loops, the clipped loss: optimizer inside a scan."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            for _ in range(2):
                x = nn.tanh(nn.Dense(64)(x))
            return nn.Dense(8)(x), nn.Dense(1)(x)[..., 0]

    net, tx = Net(), optax.chain(optax.clip_by_global_norm(0.5), optax.adam(3e-4))
    time, envs = 32, 16
    params = shapes(net.init, key(), S(1, 24))

    def train(params, opt, seen, acted, paid, over, old, k):
        _, value = net.apply(params, seen)

        def back(g, t):
            paid, over, v, after = t
            d = paid + 0.99 * after * (1 - over) - v
            g = d + 0.99 * 0.95 * (1 - over) * g
            return g, g

        after = jnp.concatenate([value[1:], value[-1:]])
        _, gain = jax.lax.scan(back, jnp.zeros(envs), (paid, over, value, after), reverse=True)
        flat = jax.tree.map(lambda x: x.reshape(time * envs, *x.shape[2:]), (seen, acted, old, gain, gain + value))

        def loss(p, b):
            logits, v = net.apply(p, b[0])
            log = jnp.take_along_axis(jax.nn.log_softmax(logits), b[1][:, None], 1)[:, 0]
            ratio = jnp.exp(log - b[2])
            a = (b[3] - b[3].mean()) / (b[3].std() + 1e-8)
            entropy = -jnp.mean(jnp.sum(jax.nn.softmax(logits) * jax.nn.log_softmax(logits), -1))
            return jnp.mean(-jnp.minimum(ratio * a, jnp.clip(ratio, 0.8, 1.2) * a) + 0.5 * (v - b[4]) ** 2) - 0.01 * entropy

        def epoch(carried, k):
            order = jax.random.permutation(k, time * envs)
            parts = jax.tree.map(lambda x: x[order].reshape(4, -1, *x.shape[1:]), flat)

            def minibatch(carried, b):
                params, opt = carried
                value, grads = jax.value_and_grad(loss)(params, b)
                updates, opt = tx.update(grads, opt, params)
                return (optax.apply_updates(params, updates), opt), value

            return jax.lax.scan(minibatch, carried, parts)

        (params, opt), losses = jax.lax.scan(epoch, (params, opt), jax.random.split(k, 2))
        return params, opt, jnp.mean(losses)

    return train, (params, shapes(tx.init, params), S(time, envs, 24), ints(time, envs), S(time, envs), S(time, envs),
                   S(time, envs), key()), None


@step("haiku")
def double_q():
    """Q-learning: a target network of equal shapes, chosen actions gathered, n-step returns, weights by rank."""
    import haiku as hk
    import optax

    def forward(x):
        x = jax.nn.relu(hk.Conv2D(16, 4, 2)(x))
        x = jax.nn.relu(hk.Linear(128)(hk.Flatten()(jax.nn.relu(hk.Conv2D(32, 3, 2)(x)))))
        a = hk.Linear(6)(x)
        return hk.Linear(1)(x) + a - jnp.mean(a, -1, keepdims=True)

    net, tx = hk.without_apply_rng(hk.transform(forward)), optax.rmsprop(1e-4, centered=True)
    x = S(64, 20, 20, 4)
    params = shapes(net.init, key(), x)

    def train(params, opt, target, count, before, acted, paid, after):
        def loss(p):
            q = jnp.take_along_axis(net.apply(p, before), acted[:, None], 1)[:, 0]
            best = jnp.argmax(net.apply(p, after), -1)
            true = paid + 0.99 * jnp.take_along_axis(net.apply(target, after), best[:, None], 1)[:, 0]
            miss = q - jax.lax.stop_gradient(true)
            return jnp.mean(optax.huber_loss(miss)), jnp.abs(miss)

        (value, miss), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, opt = tx.update(grads, opt, params)
        params = optax.apply_updates(params, updates)
        target = optax.periodic_update(params, target, count, 100)
        return params, opt, target, count + 1, value, miss

    return train, (params, shapes(tx.init, params), params, ints(), x, ints(64), S(64), x), None


@step("haiku")
def coupling_flow():
    """A flow of affine couplings with fixed permutations: the loss is a log-density of data."""
    import haiku as hk
    import numpy as np
    import optax

    def forward(x):
        log = jnp.zeros(x.shape[0])
        for k in range(4):
            a, b = jnp.split(x[:, np.random.RandomState(k).permutation(32)], 2, 1)
            s, t = jnp.split(hk.nets.MLP([128, 128, 32])(a), 2, 1)
            s = jnp.tanh(s)
            x, log = jnp.concatenate([a, b * jnp.exp(s) + t], 1), log + jnp.sum(s, 1)
        return 0.5 * jnp.sum(x**2, 1) - log

    net, x = hk.without_apply_rng(hk.transform(forward)), S(256, 32)
    return trained(lambda p, x: jnp.mean(net.apply(p, x)), optax.adamax(1e-3), shapes(net.init, key(), x), x)


@step("equinox")
def neural_ode():
    """An adaptive solver's loop with a checkpointed way back."""
    import diffrax
    import equinox as eqx
    import optax

    class Field(eqx.Module):
        mlp: eqx.nn.MLP

        def __call__(self, t, y, args):
            return self.mlp(y)

    build = lambda: Field(eqx.nn.MLP(8, 8, 64, 2, key=jax.random.PRNGKey(0)))
    params, static = eqx.partition(eqx.filter_eval_shape(build), lambda x: isinstance(x, jax.ShapeDtypeStruct))

    def loss(p, y0, target):
        field = eqx.combine(p, static)
        solve = lambda y: diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Heun(), 0.0, 1.0, 0.1, y,
                                              max_steps=16).ys[0]
        return jnp.mean((jax.vmap(solve)(y0) - target) ** 2)

    return trained(loss, optax.adabelief(1e-3), params, S(64, 8), S(64, 8))


@step("numpyro")
def variational():
    """Variational inference of a two-layer net: every weight has a mean and a width, noise is drawn in the step."""
    import numpyro
    import numpyro.distributions as dist
    import optax
    from numpyro.infer import SVI, Trace_ELBO
    from numpyro.infer.autoguide import AutoNormal

    def model(x, y=None):
        w1 = numpyro.sample("w1", dist.Normal(jnp.zeros((16, 64)), 1).to_event(2))
        w2 = numpyro.sample("w2", dist.Normal(jnp.zeros((64, 8)), 1).to_event(2))
        with numpyro.plate("data", x.shape[0]):
            numpyro.sample("y", dist.Categorical(logits=jnp.tanh(x @ w1) @ w2), obs=y)

    svi = SVI(model, AutoNormal(model), optax.adam(1e-3), Trace_ELBO())
    x, y = S(128, 16), ints(128)
    state = shapes(svi.init, key(), x, y)
    paths = [jax.tree_util.keystr(p) for p, _ in jax.tree_util.tree_leaves_with_path((state,))]
    wanted = [p for p in paths if "_auto_" in p and ".mu" not in p and ".nu" not in p and "count" not in p]
    return (lambda state, x, y: svi.update(state, x, y)), (state, x, y), lambda path: path in wanted


@step("flax")
def meta_learning():
    """Gradients through inner gradient steps, mapped over tasks: a gradient of gradients."""
    import optax

    params = [S(1, 64), S(64), S(64, 64), S(64), S(64, 1), S(1)]

    def net(p, x):
        h = jax.nn.relu(x @ p[0] + p[1])
        return jax.nn.relu(h @ p[2] + p[3]) @ p[4] + p[5]

    def task(p, xs, ys, xq, yq):
        miss = lambda p, x, y: jnp.mean((net(p, x) - y) ** 2)
        for _ in range(2):
            p = [a - 0.01 * g for a, g in zip(p, jax.grad(miss)(p, xs, ys))]
        return miss(p, xq, yq)

    def loss(p, *tasks):
        return jnp.mean(jax.vmap(lambda *t: task(p, *t))(*tasks))

    return trained(loss, optax.adam(1e-3), params, *[S(32, 16, 1)] * 4)


@step("flax")
def transport():
    """Sinkhorn's loop of fixed length with a gradient of its own (custom_vjp), inside a loss between sets."""
    import optax

    @jax.custom_vjp
    def coupling(cost):
        def body(_, fg):
            f, g = fg
            f = -0.1 * jax.nn.logsumexp((g[:, None] - cost) / 0.1, 2)
            return f, -0.1 * jax.nn.logsumexp((f[:, :, None] - cost) / 0.1, 1)

        zero = jnp.zeros(cost.shape[:2])
        f, g = jax.lax.fori_loop(0, 20, body, (zero, jnp.zeros((cost.shape[0], cost.shape[2]))))
        return jnp.exp((f[:, :, None] + g[:, None] - cost) / 0.1)

    coupling.defvjp(lambda c: ((p := coupling(c)), p), lambda p, d: (-p * (d - jnp.sum(p * d, 2, keepdims=True)) / 0.1,))
    params = {"a": S(16, 64), "b": S(64, 32), "c": S(16, 32)}

    def loss(p, x, y):
        u, v = jax.nn.relu(x @ p["a"]) @ p["b"], y @ p["c"]
        cost = jnp.sum((u[:, :, None] - v[:, None]) ** 2, -1)
        return jnp.mean(jnp.sum(coupling(cost) * cost, (1, 2)))

    return trained(loss, optax.adamw(1e-3), params, S(16, 24, 16), S(16, 32, 16))
