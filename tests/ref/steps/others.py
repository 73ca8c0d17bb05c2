"""Steps in which something beside the gradient of one loss changes weights: several losses, averages, fixed points, caches."""
import jax
import jax.numpy as jnp
from steps import S, cross_entropy, ints, key, shapes, step, trained


@step("jaxopt")
def solver_update():
    """A step of jaxopt's own loop around an optimizer of optax, with an l2 penalty in the objective."""
    import jaxopt
    import optax

    def loss(p, data):
        h = jnp.tanh(data[0] @ p["w1"] + p["b1"])
        return cross_entropy(h @ p["w2"], data[1]) + 1e-3 * (jnp.sum(p["w1"] ** 2) + jnp.sum(p["w2"] ** 2))

    params = {"w1": S(32, 128), "b1": S(128), "w2": S(128, 10)}
    data = S(256, 32), ints(256)
    solver = jaxopt.OptaxSolver(loss, optax.adam(1e-3), jit=False)
    state = shapes(lambda p, d: solver.init_state(p, data=d), params, data)

    def train(params, state, x, y):
        new, state = solver.update(params, state, data=(x, y))
        return new, state

    return train, (params, state, *data), None


@step("distrax")
def mixture_density():
    """A network that says a mixture of normals; the loss is a log-density."""
    import distrax
    import haiku as hk
    import optax

    def forward(x):
        h = hk.nets.MLP([64, 64], activate_final=True)(x)
        mix = distrax.Categorical(logits=hk.Linear(5, name="mix")(h))
        parts = distrax.Normal(hk.Linear(5, name="loc")(h), jax.nn.softplus(hk.Linear(5, name="scale")(h)) + 1e-3)
        return distrax.MixtureSameFamily(mix, parts)

    net = hk.without_apply_rng(hk.transform(lambda x, y: forward(x).log_prob(y)))
    x, y = S(256, 8), S(256)
    return trained(lambda p, x, y: -jnp.mean(net.apply(p, x, y)), optax.adamw(1e-3), shapes(net.init, key(), x, y), x, y)


@step("flax")
def soft_actor_critic():
    """Two critics with slow copies, an actor trained through the new critics, a learned temperature: three losses, one step."""
    import optax

    def mlp(a, b):
        return [{"w": S(a, 128), "b": S(128)}, {"w": S(128, 128), "b": S(128)}, {"w": S(128, b), "b": S(b)}]

    def run(p, x):
        for layer in p[:-1]:
            x = jax.nn.relu(x @ layer["w"] + layer["b"])
        return x @ p[-1]["w"] + p[-1]["b"]

    actor, critics = mlp(17, 12), [mlp(23, 1), mlp(23, 1)]
    tx = optax.adam(3e-4)

    def act(p, x, k):
        mean, width = jnp.split(run(p, x), 2, -1)
        noise = jax.random.normal(k, mean.shape)
        a = mean + jnp.exp(jnp.clip(width, -5, 2)) * noise
        log = jnp.sum(-0.5 * noise**2 - jnp.clip(width, -5, 2) - 2 * (jnp.log(2.0) - a - jax.nn.softplus(-2 * a)), -1)
        return jnp.tanh(a), log

    def value(ps, x, a):
        both = jnp.concatenate([x, a], -1)
        return jnp.stack([run(p, both)[:, 0] for p in ps])

    def train(s, x, a, paid, after, k):
        k1, k2 = jax.random.split(k)
        heat = jnp.exp(s["log_alpha"])
        a2, log2 = act(s["actor"], after, k1)
        aim = jax.lax.stop_gradient(paid + 0.99 * (jnp.min(value(s["slow"], after, a2), 0) - heat * log2))
        lc, g = jax.value_and_grad(lambda p: jnp.mean((value(p, x, a) - aim) ** 2))(s["critics"])
        u, oc = tx.update(g, s["oc"])
        critics = optax.apply_updates(s["critics"], u)

        def actor_loss(p):
            b, log = act(p, x, k2)
            return jnp.mean(heat * log - jnp.min(value(critics, x, b), 0)), log

        (la, log), g = jax.value_and_grad(actor_loss, has_aux=True)(s["actor"])
        u, oa = tx.update(g, s["oa"])
        actor = optax.apply_updates(s["actor"], u)
        g = jax.grad(lambda t: -jnp.mean(jnp.exp(t) * jax.lax.stop_gradient(log - 6.0)))(s["log_alpha"])
        u, ot = tx.update(g, s["ot"])
        slow = jax.tree.map(lambda t, p: 0.995 * t + 0.005 * p, s["slow"], critics)
        return dict(actor=actor, critics=critics, slow=slow, log_alpha=optax.apply_updates(s["log_alpha"], u), oc=oc, oa=oa,
                    ot=ot), lc, la

    s = dict(actor=actor, critics=critics, slow=critics, log_alpha=S(), oc=shapes(tx.init, critics), oa=shapes(tx.init, actor),
             ot=shapes(tx.init, S()))
    return train, (s, S(256, 17), S(256, 6), S(256), S(256, 17), key()), lambda path: path.startswith(
        ("[0]['actor']", "[0]['critics']", "[0]['log_alpha']"))


@step("flax")
def diffusion_average():
    """Denoising with a time embedding, noise drawn in the step, an average of the weights kept beside them."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, t):
            w = jnp.exp(jnp.linspace(0, 6, 16))
            e = nn.silu(nn.Dense(64)(jnp.concatenate([jnp.sin(t[:, None] * w), jnp.cos(t[:, None] * w)], -1)))
            h = nn.Conv(32, (3, 3))(x)
            for width in (32, 64):
                r = nn.Conv(width, (3, 3))(nn.silu(nn.GroupNorm(8)(h))) + nn.Dense(width)(e)[:, None, None]
                h = nn.Conv(width, (1, 1))(h) + nn.Conv(width, (3, 3))(nn.silu(nn.GroupNorm(8)(r)))
            return nn.Conv(3, (3, 3))(h)

    net, tx, x = Net(), optax.adam(1e-4), S(16, 16, 16, 3)
    params = shapes(net.init, key(), x, S(16))

    def train(params, slow, opt, x, k):
        k1, k2 = jax.random.split(k)
        t, noise = jax.random.uniform(k1, (16,)), jax.random.normal(k2, x.shape)
        a = jnp.cos(t * jnp.pi / 2)[:, None, None, None]
        loss, g = jax.value_and_grad(lambda p: jnp.mean((net.apply(p, a * x + jnp.sqrt(1 - a * a) * noise, t) - noise) ** 2))(params)
        u, opt = tx.update(g, opt)
        params = optax.apply_updates(params, u)
        return params, optax.incremental_update(params, slow, 0.001), opt, loss

    return train, (params, params, shapes(tx.init, params), x, key()), None


@step("flax")
def self_distillation():
    """A student matches a teacher that is its slow average; the teacher's outputs are centred by a running mean."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Dense(96)(x)
            for _ in range(3):
                x = x + nn.SelfAttention(4)(nn.LayerNorm()(x))
                x = x + nn.Dense(96)(nn.gelu(nn.Dense(192)(nn.LayerNorm()(x))))
            return nn.Dense(256)(x.mean(1))

    net, tx, x = Net(), optax.adamw(1e-4), S(32, 16, 48)
    params = shapes(net.init, key(), x)

    def train(student, teacher, centre, opt, one, two):
        said = net.apply(teacher, two)
        aim = jax.nn.softmax((said - centre) / 0.04)
        loss, g = jax.value_and_grad(lambda p: -jnp.mean(jnp.sum(aim * jax.nn.log_softmax(net.apply(p, one) / 0.1), -1)))(student)
        u, opt = tx.update(g, opt, student)
        student = optax.apply_updates(student, u)
        teacher = jax.tree.map(lambda t, p: 0.996 * t + 0.004 * p, teacher, student)
        return student, teacher, 0.9 * centre + 0.1 * said.mean(0), opt, loss

    return train, (params, params, S(256), shapes(tx.init, params), x, x), None


@step("flax")
def equilibrium():
    """A layer run until it changes nothing any more; the gradient by another fixed point (custom_vjp, two while loops)."""
    import optax

    def cell(p, z, x):
        return jnp.tanh(z @ p["u"] + x @ p["w"] + p["b"])

    def settle(f, z):
        return jax.lax.while_loop(lambda c: (c[0] < 30) & (jnp.max(jnp.abs(c[1] - c[2])) > 1e-4),
                                  lambda c: (c[0] + 1, c[2], f(c[2])), (0, z, f(z)))[2]

    @jax.custom_vjp
    def solve(p, x):
        return settle(lambda z: cell(p, z, x), jnp.zeros((x.shape[0], 128)))

    def forward(p, x):
        z = solve(p, x)
        return z, (p, x, z)

    def backward(kept, g):
        p, x, z = kept
        _, pull = jax.vjp(lambda z: cell(p, z, x), z)
        w = settle(lambda w: g + pull(w)[0], g)
        return jax.vjp(lambda p, x: cell(p, z, x), p, x)[1](w)

    solve.defvjp(forward, backward)
    params = {"cell": {"u": S(128, 128), "w": S(32, 128), "b": S(128)}, "out": S(128, 10)}
    return trained(lambda p, x, y: cross_entropy(solve(p["cell"], x) @ p["out"], y), optax.sgd(0.1, 0.9), params, S(64, 32), ints(64))


@step("haiku")
def radiance_field():
    """Points along rays, sines of their places, colours summed by what light is left."""
    import haiku as hk
    import optax

    def forward(o, d):
        t = jnp.linspace(2.0, 6.0, 32)
        x = o[:, None] + d[:, None] * t[:, None]
        e = (x[..., None] * 2.0 ** jnp.arange(6)).reshape(*x.shape[:-1], 18)
        e = h = jnp.concatenate([x, jnp.sin(e), jnp.cos(e)], -1)
        for k in range(6):
            h = jax.nn.relu(hk.Linear(128)(jnp.concatenate([h, e], -1) if k == 3 else h))
        thick = jax.nn.relu(hk.Linear(1)(h))[..., 0]
        colour = jax.nn.sigmoid(hk.Linear(3)(h))
        alpha = 1 - jnp.exp(-thick * (4.0 / 32))
        left = jnp.cumprod(jnp.concatenate([jnp.ones((*alpha.shape[:-1], 1)), 1 - alpha[..., :-1] + 1e-10], -1), -1)
        return jnp.sum((alpha * left)[..., None] * colour, -2)

    net, rays = hk.without_apply_rng(hk.transform(forward)), S(128, 3)
    return trained(lambda p, o, d, c: jnp.mean((net.apply(p, o, d) - c) ** 2), optax.adam(5e-4), shapes(net.init, key(), rays, rays),
                   rays, rays, rays)


@step("flax")
def word_vectors():
    """Two tables, rows drawn by number, only these rows changed: the gradient is never a table."""
    inside, outside = S(5000, 64), S(5000, 64)

    def train(inside, outside, word, near, far):
        def loss(a, b, c):
            return -jnp.mean(jax.nn.log_sigmoid(jnp.sum(a * b, -1)) + jnp.sum(jax.nn.log_sigmoid(-jnp.einsum("nd,nkd->nk", a, c)), -1))

        a, b, c = inside[word], outside[near], outside[far]
        value, (ga, gb, gc) = jax.value_and_grad(loss, (0, 1, 2))(a, b, c)
        return inside.at[word].add(-0.05 * ga), outside.at[near].add(-0.05 * gb).at[far].add(-0.05 * gc), value

    return train, (inside, outside, ints(512), ints(512), ints(512, 5)), lambda path: path.startswith(("[0]", "[1]"))


@step("flax")
def quantised_adapters():
    """Frozen weights of eight bits with scales, thin adapters beside them trained."""
    import optax

    frozen = [{"q": S(128, 128, dtype=jnp.int8), "scale": S(128)} for _ in range(4)]
    adapters = [{"down": S(128, 8), "up": S(8, 128)} for _ in range(4)]
    tx = optax.adamw(1e-4)

    def train(adapters, opt, frozen, head, x, y):
        def loss(p):
            h = x
            for f, a in zip(frozen, p):
                h = h + jax.nn.gelu(h @ (f["q"].astype(jnp.float32) * f["scale"]) + h @ a["down"] @ a["up"])
            return cross_entropy(h @ head, y)

        value, g = jax.value_and_grad(loss)(adapters)
        u, opt = tx.update(g, opt, adapters)
        return optax.apply_updates(adapters, u), opt, value

    return train, (adapters, shapes(tx.init, adapters), frozen, S(128, 10), S(64, 128), ints(64)), None


@step("optax")
def gaussian_process():
    """Three numbers and the places of inducing points are trained; the loss goes through a Cholesky factor."""
    import optax

    params = {"length": S(8), "height": S(), "noise": S(), "places": S(64, 8)}

    def loss(p, x, y):
        def kernel(a, b):
            d = (a[:, None] - b[None]) / jnp.exp(p["length"])
            return jnp.exp(p["height"]) * jnp.exp(-0.5 * jnp.sum(d * d, -1))

        low = jnp.linalg.cholesky(kernel(p["places"], p["places"]) + 1e-4 * jnp.eye(64))
        a = jax.scipy.linalg.solve_triangular(low, kernel(p["places"], x), lower=True)
        s = jnp.exp(p["noise"])
        lb = jnp.linalg.cholesky(jnp.eye(64) + a @ a.T / s)
        c = jax.scipy.linalg.solve_triangular(lb, a @ y, lower=True) / s
        return jnp.sum(jnp.log(jnp.diag(lb))) + 0.5 * (256 * p["noise"] + jnp.sum(y * y) / s - jnp.sum(c * c))

    return trained(loss, optax.adam(1e-2), params, S(256, 8), S(256))


@step("equinox")
def sharpness_aware():
    """Two gradients a step, the second at weights moved along the first; batch norm keeps statistics."""
    import equinox as eqx
    import optax

    class Net(eqx.Module):
        layers: list
        out: eqx.nn.Linear

        def __init__(self, k):
            ks = jax.random.split(k, 4)
            self.layers = [eqx.nn.Linear(64, 64, key=ks[n]) for n in range(3)]
            self.out = eqx.nn.Linear(64, 10, key=ks[3])

        def __call__(self, x):
            for layer in self.layers:
                x = x + jax.nn.relu(layer(x))
            return self.out(x)

    params = eqx.filter(shapes(Net, key()), lambda x: isinstance(x, jax.ShapeDtypeStruct))
    tx = optax.sgd(0.1, 0.9)

    def train(p, opt, x, y):
        loss = lambda p: cross_entropy(jax.vmap(p)(x), y)
        value, g = jax.value_and_grad(loss)(p)
        norm = optax.global_norm(g)
        g = jax.grad(loss)(jax.tree.map(lambda w, d: w + 0.05 * d / norm, p, g))
        u, opt = tx.update(g, opt)
        return optax.apply_updates(p, u), opt, value

    return train, (params, shapes(tx.init, params), S(64, 64), ints(64)), None


@step("haiku")
def transformer_memory():
    """Segments that attend to what the last segment left behind: the memory is state, no weight."""
    import haiku as hk
    import optax

    def forward(tokens, memory):
        h, kept = hk.Embed(500, 64)(tokens), []
        for n in range(3):
            kept.append(h)
            both = jnp.concatenate([memory[n], h], 1)
            norm = lambda: hk.LayerNorm(-1, True, True)
            h = h + hk.MultiHeadAttention(4, 16, w_init=hk.initializers.VarianceScaling())(norm()(h), both, both)
            h = h + hk.Linear(64)(jax.nn.gelu(hk.Linear(256)(norm()(h))))
        return hk.Linear(500)(h), jax.lax.stop_gradient(jnp.stack(kept))

    net, tx = hk.without_apply_rng(hk.transform(forward)), optax.adamw(1e-3)
    tokens, memory = ints(8, 32), S(3, 8, 32, 64)
    params = shapes(net.init, key(), tokens, memory)

    def train(params, opt, memory, tokens, after):
        def loss(p):
            said, kept = net.apply(p, tokens, memory)
            return cross_entropy(said, after), kept

        (value, memory), g = jax.value_and_grad(loss, has_aux=True)(params)
        u, opt = tx.update(g, opt, params)
        return optax.apply_updates(params, u), opt, memory, value

    return train, (params, shapes(tx.init, params), memory, tokens, tokens), None
