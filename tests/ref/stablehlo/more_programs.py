"""Further programs beside programs.py, of other packages and other idioms; written before the reader had seen any of them.

    more_programs.py FOLDER [NAME ..]"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import programs
from programs import S, f32, prog, sgd

FIRST = len(programs.PROGRAMS)
i32 = jnp.int32


@prog
def hf_bert():
    from transformers import BertConfig, FlaxBertForMaskedLM

    c = BertConfig(vocab_size=128, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=32)
    m = FlaxBertForMaskedLM(c, _do_init=False)
    params = jax.eval_shape(lambda: m.init_weights(jax.random.key(0), (1, 16)))

    def loss(p, ids, labels, key):
        logits = m(ids, params=p, dropout_rng=key, train=True).logits
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))

    return sgd(loss), (params, S((8, 16), i32), S((8, 16), i32), S((2,), jnp.uint32))


@prog
def hf_t5():
    from transformers import FlaxT5ForConditionalGeneration, T5Config

    c = T5Config(vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0)
    m = FlaxT5ForConditionalGeneration(c, _do_init=False)
    params = jax.eval_shape(lambda: m.init_weights(jax.random.key(0), (1, 16)))

    def loss(p, ids, target):
        logits = m(ids, decoder_input_ids=target, params=p, train=False).logits
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), target[..., None], -1))

    return sgd(loss), (params, S((8, 16), i32), S((8, 12), i32))


@prog
def hf_llama():
    from transformers import FlaxLlamaForCausalLM, LlamaConfig

    c = LlamaConfig(vocab_size=96, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=32)
    m = FlaxLlamaForCausalLM(c, _do_init=False)
    params = jax.eval_shape(lambda: m.init_weights(jax.random.key(0), (1, 16)))

    def loss(p, ids):
        logits = m(ids, params=p).logits[:, :-1]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), ids[:, 1:, None], -1))

    return sgd(loss), (params, S((8, 16), i32))


@prog
def nnx_vit():
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, rngs):
            self.a = nnx.MultiHeadAttention(4, 32, decode=False, rngs=rngs)
            self.n, self.m = nnx.LayerNorm(32, rngs=rngs), nnx.LayerNorm(32, rngs=rngs)
            self.u, self.d = nnx.Linear(32, 64, rngs=rngs), nnx.Linear(64, 32, rngs=rngs)

        def __call__(self, x):
            x = x + self.a(self.n(x))
            return x + self.d(nnx.gelu(self.u(self.m(x))))

    class Vit(nnx.Module):
        def __init__(self, rngs):
            self.patch = nnx.Conv(3, 32, (4, 4), strides=(4, 4), rngs=rngs)
            self.one, self.two = Block(rngs), Block(rngs)
            self.head = nnx.Linear(32, 10, rngs=rngs)

        def __call__(self, x):
            x = self.patch(x).reshape(x.shape[0], -1, 32)
            return self.head(self.two(self.one(x)).mean(1))

    graph, state = nnx.split(nnx.eval_shape(lambda: Vit(nnx.Rngs(0))))

    def loss(state, x, y):
        return jnp.mean((nnx.merge(graph, state)(x) - y) ** 2)

    return sgd(loss), (state, S((8, 16, 16, 3), f32), S((8, 10), f32))


@prog
def linen_scan_remat():
    import flax.linen as nn

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x, _):
            h = nn.SelfAttention(4)(nn.RMSNorm()(x))
            x = x + h
            return x + nn.Dense(32)(nn.silu(nn.Dense(64)(nn.RMSNorm()(x)))), None

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            layers = nn.scan(nn.remat(Layer), variable_axes={"params": 0}, split_rngs={"params": True}, length=4)
            return nn.Dense(8)(layers()(x, None)[0])

    net = Net()
    params = jax.eval_shape(net.init, jax.random.key(0), S((4, 8, 32), f32))
    return sgd(lambda p, x, y: jnp.mean((net.apply(p, x) - y) ** 2)), (params, S((4, 8, 32), f32), S((4, 8, 8), f32))


@prog
def linen_batchnorm_unet():
    import flax.linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            skips = []
            for n in (8, 16):
                x = nn.relu(nn.BatchNorm(use_running_average=False)(nn.Conv(n, (3, 3))(x)))
                skips.append(x)
                x = nn.max_pool(x, (2, 2), (2, 2))
            for n in (16, 8):
                x = nn.ConvTranspose(n, (2, 2), (2, 2))(x)
                x = nn.relu(nn.GroupNorm(4)(nn.Conv(n, (3, 3))(jnp.concatenate([x, skips.pop()], -1))))
            return nn.Conv(2, (1, 1))(x)

    net = Net()
    variables = jax.eval_shape(net.init, jax.random.key(0), S((4, 16, 16, 3), f32))

    def step(p, stats, x, y):
        def loss(p):
            o, new = net.apply({"params": p, "batch_stats": stats}, x, mutable=["batch_stats"])
            return jnp.mean((o - y) ** 2), new["batch_stats"]

        (l, stats_), g = jax.value_and_grad(loss, has_aux=True)(p)
        return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), stats_, l

    return jax.jit(step, donate_argnums=(0, 1)), (variables["params"], variables["batch_stats"], S((4, 16, 16, 3), f32), S((4, 16, 16, 2), f32))


@prog
def haiku_lstm():
    import haiku as hk

    def net(x):
        core = hk.DeepRNN([hk.LSTM(32), jax.nn.relu, hk.GRU(16)])
        out, _ = hk.dynamic_unroll(core, x, core.initial_state(x.shape[1]))
        return hk.Linear(4)(out)

    f = hk.without_apply_rng(hk.transform(net))
    params = jax.eval_shape(f.init, jax.random.PRNGKey(0), S((10, 8, 16), f32))
    return sgd(lambda p, x, y: jnp.mean((f.apply(p, x) - y) ** 2)), (params, S((10, 8, 16), f32), S((10, 8, 4), f32))


@prog
def haiku_resnet():
    import haiku as hk

    f = hk.transform_with_state(lambda x: hk.nets.ResNet18(10)(x, is_training=True))
    params, state = jax.eval_shape(f.init, jax.random.PRNGKey(0), S((2, 32, 32, 3), f32))

    def step(p, s, x, y):
        def loss(p):
            o, new = f.apply(p, s, None, x)
            return -jnp.mean(jnp.sum(y * jax.nn.log_softmax(o), -1)), new

        (l, s_), g = jax.value_and_grad(loss, has_aux=True)(p)
        return jax.tree.map(lambda a, b: a - 0.1 * b, p, g), s_, l

    return jax.jit(step, donate_argnums=(0, 1)), (params, state, S((2, 32, 32, 3), f32), S((2, 10), f32))


@prog
def equinox_vmapped():
    import equinox as eqx

    keys = jax.random.split(jax.random.key(0), 3)
    layers = eqx.filter_vmap(lambda k: eqx.nn.Linear(16, 16, key=k))(keys)
    head = eqx.nn.MLP(16, 4, 32, 2, key=keys[0])
    (arrays, static), (more, fixed) = eqx.partition(layers, eqx.is_array), eqx.partition(head, eqx.is_array)
    shapes = jax.tree.map(lambda a: S(a.shape, a.dtype), (arrays, more))

    def loss(p, x, y):
        def one(h):
            h, _ = lax.scan(lambda h, w: (jnp.tanh(eqx.combine(w, static)(h)), None), h, p[0])
            return eqx.combine(p[1], fixed)(h)

        return jnp.mean((jax.vmap(one)(x) - y) ** 2)

    return sgd(loss), (shapes, S((8, 16), f32), S((8, 4), f32))


@prog
def keras_transformer():
    import keras

    i = keras.Input((12,), dtype="int32")
    h = keras.layers.Embedding(64, 32)(i)
    h = keras.layers.LayerNormalization()(h + keras.layers.MultiHeadAttention(4, 8)(h, h))
    h = keras.layers.Dense(32)(keras.layers.Dense(64, activation="gelu")(h)) + h
    m = keras.Model(i, keras.layers.Dense(64)(h))
    tv = [v.value for v in m.trainable_variables]

    def loss(p, x, y):
        o, _ = m.stateless_call(p, [], x, training=False)
        return jnp.mean(keras.losses.sparse_categorical_crossentropy(y, o, from_logits=True))

    return sgd(loss), ([S(v.shape, v.dtype) for v in tv], S((8, 12), i32), S((8, 12), i32))


@prog
def keras_gru():
    import keras

    i = keras.Input((10, 8))
    h = keras.layers.Bidirectional(keras.layers.GRU(16, return_sequences=True))(i)
    h = keras.layers.TimeDistributed(keras.layers.Dense(16, activation="swish"))(h)
    m = keras.Model(i, keras.layers.Dense(3)(keras.layers.GlobalMaxPooling1D()(h)))
    tv = [v.value for v in m.trainable_variables]

    def loss(p, x, y):
        o, _ = m.stateless_call(p, [v.value for v in m.non_trainable_variables], x, training=False)
        return jnp.mean((o - y) ** 2)

    return sgd(loss), ([S(v.shape, v.dtype) for v in tv], S((4, 10, 8), f32), S((4, 3), f32))


@prog
def jraph_interaction():
    import jraph

    def loss(p, nodes, edges, senders, receivers, y):
        net = jraph.InteractionNetwork(update_edge_fn=lambda *a: jnp.tanh(jnp.concatenate(a, -1) @ p["e"]),
                                       update_node_fn=lambda *a: jnp.tanh(jnp.concatenate(a, -1) @ p["n"]))
        g = net(jraph.GraphsTuple(nodes, edges, receivers, senders, None, jnp.array([32]), jnp.array([64])))
        return jnp.mean((g.nodes - y) ** 2)

    shapes = {"e": S((24, 8), f32), "n": S((16, 8), f32)}
    return sgd(loss), (shapes, S((32, 8), f32), S((64, 8), f32), S((64,), i32), S((64,), i32), S((32, 8), f32))


@prog
def distrax_vae():
    import distrax

    def loss(p, x, key):
        mean, scale = jnp.split(jnp.tanh(x @ p["e"]) @ p["m"], 2, -1)
        q = distrax.MultivariateNormalDiag(mean, jax.nn.softplus(scale) + 1e-3)
        z, _ = q.sample_and_log_prob(seed=key)
        out = distrax.Independent(distrax.Bernoulli(logits=z @ p["d"]), 1)
        kl = q.kl_divergence(distrax.MultivariateNormalDiag(jnp.zeros(8), jnp.ones(8)))
        return jnp.mean(kl - out.log_prob(jnp.round(x)))

    return sgd(loss), ({"e": S((32, 32), f32), "m": S((32, 16), f32), "d": S((8, 32), f32)}, S((16, 32), f32), S((2,), jnp.uint32))


@prog
def optax_lion_schedule():
    import optax

    o = optax.chain(optax.adaptive_grad_clip(0.1), optax.lion(optax.warmup_cosine_decay_schedule(0, 1e-3, 10, 100)), optax.ema(0.9))
    params = {"a": S((16, 64), f32), "b": S((64, 4), f32)}

    def step(p, s, x, y):
        l, g = jax.value_and_grad(lambda p: jnp.mean(optax.huber_loss(jax.nn.mish(x @ p["a"]) @ p["b"], y)))(p)
        u, s = o.update(g, s, p)
        return optax.apply_updates(p, u), s, l

    return jax.jit(step, donate_argnums=(0, 1)), (params, jax.eval_shape(o.init, params), S((8, 16), f32), S((8, 4), f32))


@prog
def optax_lbfgs():
    import optax

    o = optax.lbfgs(memory_size=3)
    params = {"w": S((16, 4), f32)}

    def step(p, s, x, y):
        f = lambda p: jnp.mean((x @ p["w"] - y) ** 2)  # noqa: E731
        l, g = optax.value_and_grad_from_state(f)(p, state=s)
        u, s = o.update(g, s, p, value=l, grad=g, value_fn=f)
        return optax.apply_updates(p, u), s, l

    return jax.jit(step), (params, jax.eval_shape(o.init, params), S((32, 16), f32), S((32, 4), f32))


@prog
def optax_ctc():
    import optax

    def loss(p, x, pad, labels, lpad):
        return jnp.mean(optax.ctc_loss(x @ p["w"], pad, labels, lpad))

    return sgd(loss), ({"w": S((16, 12), f32)}, S((4, 20, 16), f32), S((4, 20), f32), S((4, 5), i32), S((4, 5), f32))


@prog
def ssm_associative_scan():
    def loss(p, x, y):
        a = jax.nn.sigmoid(x @ p["a"])
        _, h = lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (a, x @ p["b"]), axis=1)
        return jnp.mean((h @ p["c"] - y) ** 2)

    return sgd(loss), ({"a": S((8, 16), f32), "b": S((8, 16), f32), "c": S((16, 8), f32)}, S((4, 32, 8), f32), S((4, 32, 8), f32))


@prog
def flash_attention_blocks():
    def attend(q, k, v):
        def block(carry, kv):
            m, s, o = carry
            z = q @ kv[0].T
            n = jnp.maximum(m, z.max(-1))
            w = jnp.exp(z - n[:, None])
            return (n, s * jnp.exp(m - n) + w.sum(-1), o * jnp.exp(m - n)[:, None] + w @ kv[1]), None

        start = (jnp.full(q.shape[0], -jnp.inf), jnp.zeros(q.shape[0]), jnp.zeros_like(q))
        (_, s, o), _ = lax.scan(jax.checkpoint(block), start, (k.reshape(4, -1, k.shape[-1]), v.reshape(4, -1, v.shape[-1])))
        return o / s[:, None]

    def loss(p, x, y):
        q, k, v = (jnp.einsum("bld,dhk->bhlk", x, p[n]) for n in "qkv")
        return jnp.mean((jnp.einsum("bhlk,hkd->bld", jax.vmap(jax.vmap(attend))(q, k, v), p["o"]) - y) ** 2)

    return sgd(loss), ({**{n: S((16, 2, 8), f32) for n in "qkv"}, "o": S((2, 8, 16), f32)}, S((4, 32, 16), f32), S((4, 32, 16), f32))


@prog
def moe_ragged():
    def loss(p, x, y):
        choice = jnp.argmax(x @ p["r"], -1)
        order = jnp.argsort(choice)
        sizes = jnp.bincount(choice, length=4).astype(i32)
        h = lax.ragged_dot(x[order], p["w"], sizes)
        return jnp.mean((jnp.zeros_like(y).at[order].set(jax.nn.silu(h)) - y) ** 2)

    return sgd(loss), ({"r": S((16, 4), f32), "w": S((4, 16, 8), f32)}, S((32, 16), f32), S((32, 8), f32))


@prog
def grad_accumulation_fori():
    def step(p, x, y):
        def one(i, c):
            g = jax.grad(lambda p: jnp.mean((jnp.tanh(x[i] @ p["a"]) @ p["b"] - y[i]) ** 2))(p)
            return jax.tree.map(jnp.add, c, g)

        g = lax.fori_loop(0, 4, one, jax.tree.map(jnp.zeros_like, p))
        return jax.tree.map(lambda a, b: a - 0.1 * b / 4, p, g)

    return jax.jit(step, donate_argnums=0), ({"a": S((16, 32), f32), "b": S((32, 4), f32)}, S((4, 8, 16), f32), S((4, 8, 4), f32))


@prog
def maml_inner_loop():
    def loss(p, x, y):
        return jnp.mean((jnp.tanh(x @ p["a"]) @ p["b"] - y) ** 2)

    def outer(p, x, y, u, v):
        def task(x, y, u, v):
            q = jax.tree.map(lambda a, g: a - 0.1 * g, p, jax.grad(loss)(p, x, y))
            return loss(q, u, v)

        return jnp.mean(jax.vmap(task)(x, y, u, v))

    shapes = S((4, 8, 16), f32), S((4, 8, 2), f32)
    return sgd(outer), ({"a": S((16, 32), f32), "b": S((32, 2), f32)}, *shapes, *shapes)


@prog
def diffusion_unet1d():
    def loss(p, x, t, noise):
        e = jnp.concatenate([jnp.sin(t[:, None] * p["f"]), jnp.cos(t[:, None] * p["f"])], -1) @ p["t"]
        alpha = jnp.cos(t / 1000 * jnp.pi / 2)[:, None, None]
        z = alpha * x + jnp.sqrt(1 - alpha**2) * noise
        h = lax.conv_general_dilated(z, p["i"], (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
        h = jax.nn.swish(h + e[:, None])
        h = lax.conv_transpose(h, p["o"], (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
        return jnp.mean((h - noise) ** 2)

    shapes = {"f": S((8,), f32), "t": S((16, 32), f32), "i": S((3, 4, 32), f32), "o": S((4, 32, 4), f32)}
    return sgd(loss), (shapes, S((8, 32, 4), f32), S((8,), f32), S((8, 32, 4), f32))


@prog
def rl_ppo():
    def step(p, obs, act, old, reward, done):
        def loss(p):
            h = jnp.tanh(obs @ p["h"])
            logp = jnp.take_along_axis(jax.nn.log_softmax(h @ p["pi"]), act[..., None], -1)[..., 0]
            value = (h @ p["v"])[..., 0]
            nxt = jnp.concatenate([value[1:], value[-1:]], 0) * (1 - done)
            _, adv = lax.scan(lambda c, d: ((d[0] + 0.95 * d[1] * c,) * 2), jnp.zeros(value.shape[1]),
                              (lax.stop_gradient(reward + 0.99 * nxt - value), 1 - done), reverse=True)
            ratio = jnp.exp(logp - old)
            clipped = jnp.clip(ratio, 0.8, 1.2)
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            return -jnp.mean(jnp.minimum(ratio * adv, clipped * adv)) + jnp.mean((value - lax.stop_gradient(adv + value)) ** 2)

        l, g = jax.value_and_grad(loss)(p)
        norm = jnp.sqrt(sum(jnp.vdot(x, x) for x in jax.tree.leaves(g)))
        return jax.tree.map(lambda a, b: a - 1e-3 * b * jnp.minimum(1, 0.5 / norm), p, g), l

    shapes = {"h": S((8, 32), f32), "pi": S((32, 4), f32), "v": S((32, 1), f32)}
    line = S((20, 8), f32)
    return jax.jit(step, donate_argnums=0), (shapes, S((20, 8, 8), f32), S((20, 8), i32), line, line, line)


@prog
def kalman_linalg():
    def loss(p, ys):
        a, q = p["a"], p["q"] @ p["q"].T + 0.1 * jnp.eye(4)

        def one(c, y):
            m, v = a @ c[0], a @ c[1] @ a.T + q
            s = v[:2, :2] + 0.1 * jnp.eye(2)
            k = jax.scipy.linalg.solve(s, v[:2], assume_a="pos").T
            r = y - m[:2]
            nll = r @ jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(s), r) + jnp.linalg.slogdet(s)[1]
            return (m + k @ r, v - k @ v[:2]), nll

        return jnp.mean(lax.scan(one, (jnp.zeros(4), jnp.eye(4)), ys)[1])

    return sgd(loss), ({"a": S((4, 4), f32), "q": S((4, 4), f32)}, S((16, 2), f32))


@prog
def physics_odeint():
    from jax.experimental.ode import odeint

    def loss(p, y0, t, target):
        field = lambda y, t, p: jnp.tanh(y @ p["a"]) @ p["b"]  # noqa: E731
        return jnp.mean((odeint(field, y0, t, p) - target) ** 2)

    return sgd(loss), ({"a": S((4, 16), f32), "b": S((16, 4), f32)}, S((8, 4), f32), S((5,), f32), S((5, 8, 4), f32))


@prog
def int8_straight_through():
    @jax.custom_vjp
    def quantise(x):
        s = jnp.max(jnp.abs(x)) / 127
        return jnp.clip(jnp.round(x / s), -128, 127).astype(jnp.int8), s

    quantise.defvjp(lambda x: (quantise(x), None), lambda _, g: (g[1] * jnp.ones(()),))

    def dot(x, w):
        (a, s), (b, t) = quantise(lax.stop_gradient(x)), quantise(lax.stop_gradient(w))
        y = lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=i32) * s * t
        return y + (x @ w - lax.stop_gradient(x @ w))

    return sgd(lambda p, x, y: jnp.mean((dot(jax.nn.relu(dot(x, p["a"])), p["b"]) - y) ** 2)), (
        {"a": S((16, 32), f32), "b": S((32, 4), f32)}, S((8, 16), f32), S((8, 4), f32))


@prog
def unusual_numpy():
    def loss(p, x, y):
        h = jnp.where(x > 0, jnp.interp(x, jnp.linspace(-1, 1, 9), p["k"]), jnp.sinc(x))
        h = jnp.apply_along_axis(lambda r: jnp.convolve(r, p["c"], mode="same"), 1, h)
        h = jnp.cross(h[:, :3], h[:, 3:6]) + jnp.trapezoid(h, axis=1)[:, None]
        v = jnp.polyval(p["q"], h) + jnp.nanmedian(jnp.unwrap(h, axis=1), axis=1, keepdims=True)
        return jnp.mean((jnp.tril(v @ v.T) @ jnp.roll(y, 1, 0) - jnp.diff(y, axis=0, append=0)) ** 2)

    return sgd(loss), ({"k": S((9,), f32), "c": S((3,), f32), "q": S((4,), f32)}, S((8, 12), f32), S((8, 3), f32))


MORE = list(programs.PROGRAMS)[FIRST:]

if __name__ == "__main__":
    programs.main(sys.argv[1], sys.argv[2:] or MORE)
