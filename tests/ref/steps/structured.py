"""Steps with structure in the data or the loss: tables, folds, worlds, tags, sets, returns, flows, groups."""
import jax
import jax.numpy as jnp
from steps import S, cross_entropy, ints, key, shapes, step, trained


@step("flax")
def embedding_bags():
    """Recommendation: bags of ids with weights in many tables of one size, crossed with dense features; SGD for tables and
    AdaGrad for the rest by optax.multi_transform."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, dense, ids, weights):
            tables = self.param("tables", nn.initializers.normal(0.01), (8, 2048, 32))
            bags = jnp.sum(jax.vmap(lambda t, i: t[i], (0, 1), 1)(tables, ids) * weights[..., None], 2)
            x = dense
            for n in (128, 32):
                x = nn.relu(nn.Dense(n)(x))
            v = jnp.concatenate([x[:, None], bags], 1)
            cross = jnp.einsum("bid,bjd->bij", v, v)
            low = jnp.tril_indices(9, -1)
            x = jnp.concatenate([x, cross[:, low[0], low[1]]], 1)
            for n in (128, 64):
                x = nn.relu(nn.Dense(n)(x))
            return nn.Dense(1)(x)[:, 0]

    net, batch = Net(), (S(256, 13), ints(256, 8, 4), S(256, 8, 4))
    params = shapes(net.init, key(), *batch)
    names = jax.tree_util.tree_map_with_path(lambda path, _: "tables" if "tables" in jax.tree_util.keystr(path) else "rest", params)
    tx = optax.multi_transform({"tables": optax.sgd(0.1), "rest": optax.adagrad(0.01)}, names)
    loss = lambda p, d, i, w, y: jnp.mean(optax.sigmoid_binary_cross_entropy(net.apply(p, d, i, w), y))
    return trained(loss, tx, params, *batch, S(256))


@step("haiku")
def evoformer():
    """A pair of arrays that fold into each other: row attention with a bias from pairs, outer products, triangles; layers in a stack."""
    import haiku as hk
    import optax

    def norm(x):
        return hk.LayerNorm(-1, True, True)(x)

    def attend(x, bias, heads=4):
        d, y = x.shape[-1], norm(x)
        q, k, v = (hk.Linear(d, with_bias=False)(y).reshape(*y.shape[:-1], heads, d // heads) for _ in range(3))
        w = jax.nn.softmax(jnp.einsum("...qhd,...khd->...hqk", q, k) / (d // heads) ** 0.5 + bias)
        out = jnp.einsum("...hqk,...khd->...qhd", w, v).reshape(x.shape)
        return x + hk.Linear(d)(jax.nn.sigmoid(hk.Linear(d)(y)) * out)

    def triangle(z, rule):
        y = norm(z)
        a, b = (jax.nn.sigmoid(hk.Linear(16)(y)) * hk.Linear(16)(y) for _ in range(2))
        return z + jax.nn.sigmoid(hk.Linear(z.shape[-1])(y)) * hk.Linear(z.shape[-1])(norm(jnp.einsum(rule, a, b)))

    def block(m, z):
        bias = hk.Linear(4, with_bias=False)(norm(z)).transpose(0, 3, 1, 2)[:, None]
        m = attend(m, bias)
        m = attend(m.swapaxes(1, 2), 0.0).swapaxes(1, 2)
        m = m + hk.nets.MLP([128, 32])(norm(m))
        a, b = hk.Linear(8)(norm(m)), hk.Linear(8)(norm(m))
        outer = jnp.einsum("bsic,bsjd->bijcd", a, b)
        z = z + hk.Linear(z.shape[-1])(outer.reshape(*outer.shape[:3], 64) / m.shape[1])
        z = triangle(triangle(z, "bikc,bjkc->bijc"), "bkic,bkjc->bijc")
        return m, z + hk.nets.MLP([64, 32])(norm(z))

    def forward(tokens):
        m = hk.Embed(24, 32)(tokens)
        z = hk.Linear(32)(m[:, 0])[:, :, None] + hk.Linear(32)(m[:, 0])[:, None]
        m, z = hk.experimental.layer_stack(3)(block)(m, z)
        return hk.Linear(16)(z + z.swapaxes(1, 2)), hk.Linear(24)(m)

    net, t = hk.without_apply_rng(hk.transform(forward)), ints(4, 8, 16)

    def loss(p, t, y, far):
        pairs, words = net.apply(p, t)
        return 0.3 * cross_entropy(pairs, far) + 2.0 * cross_entropy(words, y)

    return trained(loss, optax.chain(optax.clip_by_global_norm(0.1), optax.adam(1e-3)), shapes(net.init, key(), t), t, t, ints(4, 16, 16))


@step("flax")
def imagined_world():
    """Dreamer's world model: a recurrent state with categorical latents drawn straight through, scanned over time; then an actor
    that dreams from every state. Two optimizers, one step."""
    import optax

    w = {"enc": S(48, 64), "gru": S(64 + 32 + 4, 3 * 64), "prior": S(64, 32), "post": S(128, 32), "dec": S(96, 48), "reward": S(96, 1)}
    a = {"actor": S(96, 4), "value": S(96, 1)}
    tw, ta = optax.adam(1e-3), optax.adam(1e-4)

    def draw(k, logits):
        logits = logits.reshape(*logits.shape[:-1], 4, 8)
        p = 0.99 * jax.nn.softmax(logits) + 0.01 / 8
        one = jax.nn.one_hot(jax.random.categorical(k, jnp.log(p)), 8)
        return (one + p - jax.lax.stop_gradient(p)).reshape(*logits.shape[:-2], 32), p

    def cell(w, h, x):
        r, u, n = jnp.split(jnp.concatenate([h, x], -1) @ w["gru"], 3, -1)
        return (1 - jax.nn.sigmoid(u)) * jnp.tanh(jax.nn.sigmoid(r) * n) + jax.nn.sigmoid(u) * h

    def observe(w, keys, seen, acts):
        e = jax.nn.elu(seen @ w["enc"])

        def tick(state, x):
            h, z = state
            k, e, act = x
            h = cell(w, h, jnp.concatenate([z, act], -1))
            z, post = draw(k, jnp.concatenate([h, e], -1) @ w["post"])
            return (h, z), (h, z, post, jax.nn.softmax((h @ w["prior"]).reshape(-1, 4, 8)))

        b = seen.shape[1]
        return jax.lax.scan(tick, (jnp.zeros((b, 64)), jnp.zeros((b, 32))), (keys, e, acts))[1]

    def train(w, a, ow, oa, key, seen, acts, reward):
        key, k1, k2 = jax.random.split(key, 3)

        def world(w):
            h, z, post, prior = observe(w, jax.random.split(k1, seen.shape[0]), seen, acts)
            s = jnp.concatenate([h, z], -1)
            kl = jnp.sum(post * (jnp.log(post + 1e-6) - jnp.log(prior + 1e-6)), (-1, -2))
            return (jnp.mean((s @ w["dec"] - seen) ** 2) + jnp.mean(((s @ w["reward"])[..., 0] - reward) ** 2)
                    + jnp.mean(jnp.maximum(kl, 1.0))), (h, z)

        (lw, (h, z)), g = jax.value_and_grad(world, has_aux=True)(w)
        u, ow = tw.update(g, ow)
        w = optax.apply_updates(w, u)

        def dream(a):
            def tick(state, k):
                h, z = state
                s = jnp.concatenate([h, z], -1)
                act = jax.nn.softmax(s @ a["actor"] + jax.random.gumbel(k, (s.shape[0], 4)))
                h = cell(w, h, jnp.concatenate([z, act], -1))
                z = draw(k, h @ w["prior"])[0]
                s = jnp.concatenate([h, z], -1)
                return (h, z), ((s @ w["reward"])[:, 0], (s @ a["value"])[:, 0])

            start = jax.lax.stop_gradient((h.reshape(-1, 64), z.reshape(-1, 32)))
            r, v = jax.lax.scan(tick, start, jax.random.split(k2, 8))[1]
            ret = jax.lax.scan(lambda c, rv: ((c2 := rv[0] + 0.95 * (0.1 * rv[1] + 0.9 * c)), c2), v[-1], (r, v), reverse=True)[1]
            return -jnp.mean(ret) + jnp.mean((v - jax.lax.stop_gradient(ret)) ** 2)

        la, g = jax.value_and_grad(dream)(a)
        u, oa = ta.update(g, oa)
        return w, optax.apply_updates(a, u), ow, oa, key, lw + la

    return (train, (w, a, shapes(tw.init, w), shapes(ta.init, a), key(), S(16, 8, 48), S(16, 8, 4), S(16, 8)),
            lambda path: path.startswith("[0]") or path.startswith("[1]"))


@step("flax")
def tagger():
    """Words into tags: two directions of an LSTM by nn.RNN, and a chain of tags scored by a scan of log sums (a CRF)."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, t, n):
            x = nn.Embed(1000, 32)(t)
            x = nn.Bidirectional(nn.RNN(nn.OptimizedLSTMCell(32)), nn.RNN(nn.OptimizedLSTMCell(32)))(x, seq_lengths=n)
            return nn.Dense(9)(x), self.param("moves", nn.initializers.zeros, (9, 9))

    net, t, n = Net(), ints(16, 24), ints(16)

    def loss(p, t, n, y):
        score, moves = net.apply(p, t, n)
        there = jnp.arange(t.shape[1]) < n[:, None]

        def tick(alpha, x):
            s, on = x
            new = jax.nn.logsumexp(alpha[:, :, None] + moves, 1) + s
            return jnp.where(on[:, None], new, alpha), None

        alpha, _ = jax.lax.scan(tick, score[:, 0], (score[:, 1:].swapaxes(0, 1), there[:, 1:].T))
        path = jnp.sum(jnp.take_along_axis(score, y[..., None], -1)[..., 0] * there, 1)
        path = path + jnp.sum(moves[y[:, :-1], y[:, 1:]] * there[:, 1:], 1)
        return jnp.mean(jax.nn.logsumexp(alpha, -1) - path)

    return trained(loss, optax.rmsprop(1e-3), shapes(net.init, key(), t, n), t, n, t)


@step("haiku")
def off_policy_returns():
    """An actor and critic far from its actors: an LSTM unrolled with resets, v-trace returns backwards in time; RMSProp."""
    import haiku as hk
    import optax

    def forward(x, reset, state):
        core = hk.ResetCore(hk.LSTM(64))
        t, b = x.shape[:2]
        y = x.reshape(t * b, *x.shape[2:])
        for c, s in ((16, 4), (32, 2)):
            y = jax.nn.relu(hk.Conv2D(c, 2 * s, s)(y))
        y = jax.nn.relu(hk.Linear(64)(hk.Flatten()(y))).reshape(t, b, -1)
        y, state = hk.dynamic_unroll(core, (y, reset), state)
        return hk.BatchApply(hk.Linear(6))(y), hk.BatchApply(hk.Linear(1))(y)[..., 0], state

    net = hk.without_apply_rng(hk.transform(forward))
    x, reset = S(20, 8, 32, 32, 4), S(20, 8, dtype=jnp.bool_)
    state = hk.LSTMState(S(8, 64), S(8, 64))

    def loss(p, state, x, reset, act, reward, behaviour):
        logits, v, _ = net.apply(p, x, reset, state)
        pi = jnp.take_along_axis(jax.nn.log_softmax(logits), act[..., None], -1)[..., 0]
        rho = jnp.minimum(1.0, jnp.exp(jax.lax.stop_gradient(pi) - behaviour))
        keep = 0.99 * (1.0 - reset.astype(jnp.float32))
        after = jnp.concatenate([v[1:], v[-1:]])
        delta = rho * (reward + keep * after - v)
        _, vs = jax.lax.scan(lambda acc, i: ((n := i[0] + i[1] * i[2] * acc), n), jnp.zeros_like(v[0]), (delta, keep, rho), reverse=True)
        vs = jax.lax.stop_gradient(vs + v)
        gain = jax.lax.stop_gradient(rho * (reward + keep * jnp.concatenate([vs[1:], v[-1:]]) - v))
        entropy = -jnp.sum(jax.nn.softmax(logits) * jax.nn.log_softmax(logits), -1)
        return -jnp.mean(pi * gain) + 0.5 * jnp.mean((vs - v) ** 2) - 0.01 * jnp.mean(entropy)

    tx = optax.chain(optax.clip_by_global_norm(40.0), optax.rmsprop(optax.polynomial_schedule(6e-4, 0.0, 1, 10000), 0.99, 0.1))
    return trained(loss, tx, shapes(net.init, key(), x, reset, state), state, x, reset, ints(20, 8), S(20, 8), S(20, 8))


@step("optax")
def invertible_pictures():
    """Glow: squeezes, norms of channels, 1x1 convolutions whose determinant counts, affine couplings; bits per dimension."""
    import optax

    def level(c):
        return [{"bias": S(c), "scale": S(c), "mix": S(c, c), "a": S(3, 3, c // 2, 32), "b": S(1, 1, 32, 32), "c": S(3, 3, 32, c)}
                for _ in range(2)]

    params = {"levels": [level(12), level(24)]}
    conv = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def loss(params, key, x):
        x = x + jax.random.uniform(key, x.shape) / 256
        det, out, size = 0.0, 0.0, x[0].size
        for steps in params["levels"]:
            b, h, w, c = x.shape
            x = x.reshape(b, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, h // 2, w // 2, 4 * c)
            for p in steps:
                x = (x + p["bias"]) * jnp.exp(p["scale"])
                x = jnp.einsum("bhwc,cd->bhwd", x, p["mix"])
                det += h * w // 4 * (jnp.sum(p["scale"]) + jnp.linalg.slogdet(p["mix"])[1])
                a, z = jnp.split(x, 2, -1)
                s, t = jnp.split(conv(jax.nn.relu(conv(jax.nn.relu(conv(a, p["a"])), p["b"])), p["c"]), 2, -1)
                s = jax.nn.sigmoid(s + 2)
                x, det = jnp.concatenate([a, (z + t) * s], -1), det + jnp.sum(jnp.log(s), (1, 2, 3))
            x, done = jnp.split(x, 2, -1)
            out += -0.5 * jnp.sum(done**2, (1, 2, 3))
        out += -0.5 * jnp.sum(x**2, (1, 2, 3))
        return -jnp.mean(out + det) / size

    return trained(loss, optax.chain(optax.clip(1.0), optax.adamax(1e-3)), params, key(), S(16, 16, 16, 3))


@step("equinox")
def lengths():
    """A GRU over series of different lengths (masked by a while of the longest), the state of every one kept where it ends;
    filter_value_and_grad of a whole module with functions inside."""
    import equinox as eqx
    import optax

    class Net(eqx.Module):
        cells: list
        out: eqx.nn.MLP
        act: callable

        def __init__(self, k):
            k = jax.random.split(k, 3)
            self.cells = [eqx.nn.GRUCell(8, 64, key=k[0]), eqx.nn.GRUCell(64, 64, key=k[1])]
            self.out, self.act = eqx.nn.MLP(64, 5, 128, 2, key=k[2]), jax.nn.tanh

        def __call__(self, x, n):
            for cell in self.cells:
                def tick(h, i):
                    x, at = i
                    h = jnp.where(at < n, cell(x, h), h)
                    return h, self.act(h)
                last, x = jax.lax.scan(tick, jnp.zeros(64), (x, jnp.arange(x.shape[0])))
            return self.out(last)

    net = eqx.filter_eval_shape(Net, jax.random.PRNGKey(0))
    params, static = eqx.partition(net, lambda x: isinstance(x, jax.ShapeDtypeStruct))
    tx = optax.chain(optax.adaptive_grad_clip(0.01), optax.adabelief(1e-3))
    state = shapes(tx.init, params)

    def train(params, state, x, n, y):
        @eqx.filter_value_and_grad(has_aux=True)
        def loss(p):
            out = jax.vmap(eqx.combine(p, static))(x, n)
            return cross_entropy(out, y), jnp.mean(jnp.argmax(out, -1) == y)

        (value, right), g = loss(params)
        updates, state_ = tx.update(g, state, params)
        return eqx.apply_updates(params, updates), state_, value, right

    return train, (params, state, S(32, 20, 8), ints(32), ints(32)), None


@step("keras-jax")
def keras_groups():
    """A functional network of grouped and separable convolutions with squeezed gates, in bfloat16 with float32 weights."""
    import keras
    from keras import layers as L
    from keras_models import fitted

    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        i = keras.Input((32, 32, 3))
        x = L.Conv2D(32, 3, padding="same", use_bias=False)(i)
        for k, c in enumerate((32, 64)):
            for _ in range(2):
                y = L.Activation("swish")(L.BatchNormalization()(L.Conv2D(c, 1, use_bias=False)(x)))
                y = L.Activation("swish")(L.BatchNormalization()(L.Conv2D(c, 3, padding="same", groups=8, use_bias=False)(y)))
                gate = L.Dense(c, "sigmoid")(L.Dense(c // 4, "swish")(L.GlobalAveragePooling2D()(y)))
                y = L.Multiply()([y, L.Reshape((1, 1, c))(gate)])
                x = L.Add()([L.SeparableConv2D(c, 3, padding="same")(y), x if x.shape[-1] == c else L.Conv2D(c, 1)(x)])
            x = L.AveragePooling2D(2)(x)
        out = L.Dense(10, activation="softmax", dtype="float32")(L.Dropout(0.3)(L.GlobalAveragePooling2D()(x)))
        model = keras.Model(i, out)
        return fitted(model, keras.optimizers.RMSprop(1e-3, momentum=0.9, use_ema=True),
                      keras.losses.SparseCategoricalCrossentropy(), S(8, 32, 32, 3), ints(8))
    finally:
        keras.mixed_precision.set_global_policy("float32")
