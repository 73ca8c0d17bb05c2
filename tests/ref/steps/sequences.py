"""Steps over text, sound and other sequences."""
import jax
import jax.numpy as jnp
from steps import S, cross_entropy, ints, key, shapes, step, trained


@step("flax")
def mixture_top2():
    """Tokens go to two of eight experts: top-k gates, places by a cumulative sum, one-hot dispatch; Adafactor."""
    import flax.linen as nn
    import optax

    class Experts(nn.Module):
        experts: int = 8

        @nn.compact
        def __call__(self, x):
            g, s, d = x.shape
            room = 2 * 2 * s // self.experts
            gates = nn.softmax(nn.Dense(self.experts, use_bias=False)(x))
            top, which = jax.lax.top_k(gates, 2)
            chosen = jax.nn.one_hot(which, self.experts).transpose(0, 2, 1, 3).reshape(g, 2 * s, self.experts)
            place = (jnp.cumsum(chosen, 1) - 1) * chosen
            send = jax.nn.one_hot(place, room) * (chosen * (place < room))[..., None]
            send = send.reshape(g, 2, s, self.experts, room)
            combine = jnp.einsum("gksec,gsk->gsec", send, top)
            up = self.param("up", nn.initializers.normal(), (self.experts, d, 4 * d))
            down = self.param("down", nn.initializers.normal(), (self.experts, 4 * d, d))
            h = jnp.einsum("gksec,gsd->egcd", send, x)
            h = jnp.einsum("egcf,efd->egcd", nn.gelu(jnp.einsum("egcd,edf->egcf", h, up)), down)
            balance = jnp.mean(jnp.mean(gates, 1) * jnp.mean(chosen, 1)) * self.experts
            return jnp.einsum("gsec,egcd->gsd", combine, h), balance

    class Net(nn.Module):
        @nn.compact
        def __call__(self, t):
            embed, balance = nn.Embed(1024, 64), 0.0
            x = embed(t)
            for _ in range(3):
                x = x + nn.SelfAttention(4)(nn.LayerNorm()(x), mask=nn.make_causal_mask(t))
                y, b = Experts()(nn.LayerNorm()(x))
                x, balance = x + y, balance + b
            return embed.attend(nn.LayerNorm()(x)), balance

    net, t = Net(), ints(8, 32)

    def loss(p, t, y):
        logits, balance = net.apply(p, t)
        return cross_entropy(logits, y) + 0.01 * balance

    return trained(loss, optax.adafactor(1e-3, min_dim_size_to_factor=32), shapes(net.init, key(), t), t, t)


@step("flax")
def state_space():
    """Selective state spaces: gated short convolutions, an associative scan over time in bf16 and f32."""
    import flax.linen as nn
    import optax

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            d, n = 128, 8
            h, gate = jnp.split(nn.Dense(2 * d, dtype=jnp.bfloat16)(nn.RMSNorm()(x)), 2, -1)
            h = nn.silu(nn.Conv(d, (4,), padding=[(3, 0)], feature_group_count=d, dtype=jnp.bfloat16)(h)).astype(jnp.float32)
            rate = nn.softplus(nn.Dense(d)(nn.Dense(8)(h)))
            b, c = jnp.split(nn.Dense(2 * n)(h), 2, -1)
            decay = self.param("decay", nn.initializers.normal(), (d, n))
            keep = jnp.exp(-jnp.exp(decay) * rate[..., None])
            add = (rate * h)[..., None] * b[..., None, :]
            _, s = jax.lax.associative_scan(lambda u, v: (u[0] * v[0], v[0] * u[1] + v[1]), (keep, add), axis=1)
            y = jnp.einsum("btdn,btn->btd", s, c) + h * self.param("skip", nn.initializers.ones, (d,))
            return x + nn.Dense(x.shape[-1], dtype=jnp.bfloat16)(y.astype(jnp.bfloat16) * nn.silu(gate)).astype(x.dtype)

    class Net(nn.Module):
        @nn.compact
        def __call__(self, t):
            embed = nn.Embed(512, 64)
            x = embed(t)
            for _ in range(4):
                x = Block()(x)
            return embed.attend(nn.RMSNorm()(x))

    net, t = Net(), ints(8, 64)
    return trained(lambda p, t, y: cross_entropy(net.apply(p, t), y), optax.lion(1e-4), shapes(net.init, key(), t), t, t)


@step("haiku")
def gated_scan():
    """A recurrent mixer over time by hk.scan, several of them, with a carried state that the step hands back."""
    import haiku as hk
    import optax

    class Mixer(hk.Module):
        def __call__(self, x, s):
            d = x.shape[-1]
            k, v, r = (hk.Linear(d, with_bias=False, name=n)(hk.LayerNorm(-1, True, True, name="norm_" + n)(x)) for n in "kvr")
            w = hk.get_parameter("decay", (d,), init=jnp.zeros)

            def tick(s, kv):
                num, den = s
                e = jnp.exp(jnp.minimum(kv[0], 10.0))
                out = (num + e * kv[1]) / (den + e)
                keep = jnp.exp(-jnp.exp(w))
                return (num * keep + e * kv[1], den * keep + e), out

            s, y = hk.scan(tick, s, (k.swapaxes(0, 1), v.swapaxes(0, 1)))
            return x + hk.Linear(d)(jax.nn.sigmoid(r) * y.swapaxes(0, 1)), s

    def forward(t, states):
        x, after = hk.Embed(256, 64)(t), []
        for s in states:
            x, s = Mixer()(x, s)
            x = x + hk.Linear(64)(jax.nn.relu(hk.Linear(256)(hk.LayerNorm(-1, True, True)(x))) ** 2)
            after.append(s)
        return hk.Linear(256)(x), after

    net = hk.without_apply_rng(hk.transform(forward))
    tx, t = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3)), ints(16, 32)
    carried = [(S(16, 64), S(16, 64)) for _ in range(3)]
    params = shapes(net.init, key(), t, carried)

    def train(params, opt, carried, t, y):
        def loss(p):
            out, after = net.apply(p, t, jax.lax.stop_gradient(carried))
            return cross_entropy(out, y), after

        (value, carried), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, opt = tx.update(grads, opt, params)
        return optax.apply_updates(params, updates), opt, carried, value

    return train, (params, shapes(tx.init, params), carried, t, t), None


@step("flax")
def low_rank():
    """A frozen transformer in bf16, low-rank adapters that alone are trained."""
    import optax

    d, layers = 128, 3
    frozen = {"embed": S(1000, d, dtype=jnp.bfloat16), "layers": [
        {n: S(*((d, 4 * d) if n == "up" else (4 * d, d) if n == "down" else (d, d)), dtype=jnp.bfloat16)
         for n in ("q", "k", "v", "o", "up", "down")} for _ in range(layers)]}
    adapters = [{n: {"a": S(d, 8), "b": S(8, d)} for n in "qv"} for _ in range(layers)]

    def norm(x):
        x = x.astype(jnp.float32)
        return (x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)).astype(jnp.bfloat16)

    def heads(x):
        return x.reshape(*x.shape[:2], 4, -1)

    def loss(adapters, frozen, t, y):
        x = frozen["embed"][t]
        for p, extra in zip(frozen["layers"], adapters):
            h = norm(x)
            low = {n: ((h.astype(jnp.float32) @ e["a"]) @ e["b"]).astype(jnp.bfloat16) for n, e in extra.items()}
            q, k, v = heads(h @ p["q"] + low["q"]), heads(h @ p["k"]), heads(h @ p["v"] + low["v"])
            a = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / 32**0.5
            a = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones(a.shape[-2:], bool)), a, -1e9)).astype(jnp.bfloat16)
            x = x + jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(x.shape) @ p["o"]
            x = x + jax.nn.silu(norm(x) @ p["up"]) @ p["down"]
        return cross_entropy((norm(x) @ frozen["embed"].T).astype(jnp.float32), y)

    tx, t = optax.adamw(1e-4), ints(8, 32)

    def train(adapters, opt, frozen, t, y):
        value, grads = jax.value_and_grad(loss)(adapters, frozen, t, y)
        updates, opt = tx.update(grads, opt, adapters)
        return optax.apply_updates(adapters, updates), opt, value

    return train, (adapters, shapes(tx.init, adapters), frozen, t, t), None


@step("flax")
def dropout_rbg():
    """Dropout drawn by rng-bit-generator keys in every block."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, t):
            x = nn.Dropout(0.1, deterministic=False)(nn.Embed(512, 64)(t))
            for _ in range(2):
                y = nn.SelfAttention(4, dropout_rate=0.1, deterministic=False, broadcast_dropout=False)(nn.LayerNorm()(x))
                x = x + nn.Dropout(0.1, deterministic=False)(y)
                y = nn.Dense(64)(nn.gelu(nn.Dense(256)(nn.LayerNorm()(x))))
                x = x + nn.Dropout(0.1, deterministic=False)(y)
            return nn.Dense(512)(x)

    net, t = Net(), ints(16, 32)
    params = shapes(lambda k, t: net.init({"params": k, "dropout": k}, t), key(), t)

    def loss(p, t, y, data):
        return cross_entropy(net.apply(p, t, rngs={"dropout": jax.random.wrap_key_data(data, impl="rbg")}), y)

    return trained(loss, optax.adamw(1e-3), params, t, t, S(4, dtype=jnp.uint32))


@step("flax")
def speech_ctc():
    """Strided 1-D convolutions over sound, a bidirectional recurrence, the CTC loss with its scan over time."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            for stride in (4, 4):
                x = nn.gelu(nn.LayerNorm()(nn.Conv(64, (8,), (stride,))(x)))
            for _ in range(2):
                x = nn.Bidirectional(nn.RNN(nn.GRUCell(32)), nn.RNN(nn.GRUCell(32)))(x)
            return nn.Dense(32)(x)

    net, x, y = Net(), S(16, 512, 1), ints(16, 8)

    def loss(p, x, y, pad):
        logits = net.apply(p, x)
        return jnp.mean(optax.ctc_loss(logits, jnp.zeros(logits.shape[:2]), y, pad))

    return trained(loss, optax.novograd(1e-3), shapes(net.init, key(), x), x, y, S(16, 8))


@step("flax")
def masked_frames():
    """Masked frames told from drawn others by cosine, Gumbel code books; the others' places are drawn in the step."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, hidden, gumbel):
            z = nn.gelu(nn.Conv(64, (4,), (2,))(x))
            logits = nn.Dense(2 * 32)(z).reshape(*z.shape[:2], 2, 32)
            hard = jax.nn.one_hot(jnp.argmax(logits + gumbel, -1), 32)
            soft = nn.softmax(logits + gumbel)
            code = hard + soft - jax.lax.stop_gradient(soft)
            books = self.param("books", nn.initializers.normal(), (2, 32, 32))
            target = nn.Dense(64)(jnp.einsum("btgv,gvd->btgd", code, books).reshape(*z.shape[:2], 64))
            h = jnp.where(hidden[..., None], self.param("mask", nn.initializers.normal(), (64,)), z)
            for _ in range(2):
                h = h + nn.SelfAttention(4)(nn.LayerNorm()(h))
                h = h + nn.Dense(64)(nn.gelu(nn.Dense(128)(nn.LayerNorm()(h))))
            return h, target

    net, x = Net(), S(16, 64, 8)

    def loss(p, x, k):
        ka, kb, kc = jax.random.split(k, 3)
        hidden = jax.random.bernoulli(ka, 0.4, (x.shape[0], 32))
        h, target = net.apply(p, x, hidden, jax.random.gumbel(kb, (x.shape[0], 32, 2, 32)))
        others = jax.random.randint(kc, (x.shape[0], 32, 10), 0, 32)
        against = jax.vmap(lambda a, i: a[i])(target, others)
        unit = lambda v: v * jax.lax.rsqrt(jnp.sum(v * v, -1, keepdims=True) + 1e-6)
        all_ = jnp.concatenate([target[:, :, None], against], 2)
        score = jnp.einsum("btd,btnd->btn", unit(h), unit(all_)) / 0.1
        return -jnp.sum(jax.nn.log_softmax(score)[..., 0] * hidden) / (1 + jnp.sum(hidden))

    params = shapes(lambda k, x: net.init(k, x, jnp.zeros((16, 32), bool), jnp.zeros((16, 32, 2, 32))), key(), x)
    return trained(loss, optax.radam(1e-3), params, x, key())


@step("flax")
def nnx_lstm_tied():
    """A recurrent language model of nnx: scanned over time, the embedding's transpose is the head."""
    import optax
    from flax import nnx

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(1000, 64, rngs=rngs)
            self.cells = nnx.List([nnx.RNN(nnx.LSTMCell(64, 64, rngs=rngs)) for _ in range(2)])

        def __call__(self, t):
            x = self.embed(t)
            for cell in self.cells:
                zero = jnp.zeros((x.shape[0], 64))
                x = x + cell(x, initial_carry=(zero, zero))
            return self.embed.attend(x)

    graph, params, rest = nnx.split(nnx.eval_shape(lambda: Model(nnx.Rngs(0))), nnx.Param, ...)
    tx, t = optax.yogi(1e-3), ints(16, 24)
    params = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), params)
    rest = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), rest)

    def train(params, opt, rest, t, y):
        value, grads = jax.value_and_grad(lambda p: cross_entropy(nnx.merge(graph, p, rest)(t), y))(params)
        updates, opt = tx.update(grads, opt, params)
        return optax.apply_updates(params, updates), opt, value

    return train, (params, shapes(tx.init, params), rest, t, t), None


@step("flax")
def retrieval_ranking():
    """Many hashed tables, bags by segment sums, crossed features, lists sorted by score; Adagrad."""
    import optax

    params = {"tables": [S(n, 16) for n in (1000, 512, 4096, 200)], "bottom": [S(16, 64), S(64, 16)],
              "top": [S(26, 64), S(64, 1)]}

    def loss(p, dense, ids, bags, owner, gain):
        x = jax.nn.relu(dense @ p["bottom"][0]) @ p["bottom"][1]
        vectors = [table[(ids[:, k] * 2654435 % table.shape[0])] for k, table in enumerate(p["tables"])]
        vectors.append(jax.ops.segment_sum(p["tables"][2][bags], owner, dense.shape[0]))
        v = jnp.stack([x, *vectors], 1)
        pairs = jnp.einsum("bid,bjd->bij", v, v)[:, *jnp.triu_indices(5, 1)]
        score = (jax.nn.relu(jnp.concatenate([x, pairs], 1) @ p["top"][0]) @ p["top"][1]).reshape(-1, 16)
        order = jnp.argsort(-score, axis=1)
        ranked = jnp.take_along_axis(gain.reshape(-1, 16), order, 1) / jnp.log2(2.0 + jnp.arange(16))
        listwise = -jnp.sum(jax.nn.log_softmax(score) * jax.nn.softmax(gain.reshape(-1, 16)), -1)
        return jnp.mean(listwise * (1 - jnp.sum(ranked, 1)))

    return trained(loss, optax.adagrad(0.05), params, S(256, 16), ints(256, 4), ints(1024), ints(1024), S(256))


@step("keras")
def keras_transformer():
    """Keras layers on jax with stateless calls: attention, layer norm, depthwise 1-D convolution, squeeze and excite."""
    import keras

    t = keras.Input((32,), dtype="int32")
    x = keras.layers.Embedding(500, 64)(t)
    for _ in range(2):
        y = keras.layers.MultiHeadAttention(4, 16)(*[keras.layers.LayerNormalization()(x)] * 2)
        x = keras.layers.Add()([x, y])
        y = keras.layers.SeparableConv1D(64, 5, padding="same", activation="gelu")(x)
        gate = keras.layers.Dense(64, activation="sigmoid")(keras.layers.Dense(16, activation="relu")(
            keras.layers.GlobalAveragePooling1D()(y)))
        x = keras.layers.Add()([x, keras.layers.Multiply()([y, keras.layers.Reshape((1, 64))(gate)])])
    net = keras.Model(t, keras.layers.Dense(20)(keras.layers.GlobalMaxPooling1D()(x)))
    optimizer = keras.optimizers.Nadam(1e-3)
    optimizer.build(net.trainable_variables)
    of = lambda variables: [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in variables]

    def train(trained_, opt, other, t, y):
        def loss(p):
            out, other_ = net.stateless_call(p, other, t, training=True)
            return cross_entropy(out, y), other_

        (value, other_), grads = jax.value_and_grad(loss, has_aux=True)(trained_)
        trained_, opt = optimizer.stateless_apply(opt, grads, trained_)
        return trained_, opt, other_, value

    return train, (of(net.trainable_variables), of(optimizer.variables), of(net.non_trainable_variables), ints(32, 32), ints(32)), None
