"""Steps over images, volumes, points and rays."""
import jax
import jax.numpy as jnp
from steps import S, cross_entropy, ints, key, shapes, step, trained


@step("flax")
def unet_ema():
    """U-Net with group norm and skips; the weights' moving average is kept beside them."""
    import flax.linen as nn
    import optax

    class Block(nn.Module):
        width: int

        @nn.compact
        def __call__(self, x):
            for _ in range(2):
                x = nn.silu(nn.GroupNorm(8)(nn.Conv(self.width, (3, 3))(x)))
            return x

    class UNet(nn.Module):
        @nn.compact
        def __call__(self, x):
            skips = []
            for width in (16, 32, 64):
                x = Block(width)(x)
                skips.append(x)
                x = nn.max_pool(x, (2, 2), (2, 2))
            x = Block(128)(x)
            for width in (64, 32, 16):
                x = nn.ConvTranspose(width, (2, 2), (2, 2))(x)
                x = Block(width)(jnp.concatenate([x, skips.pop()], -1))
            return nn.Conv(4, (1, 1))(x)

    net, tx = UNet(), optax.adam(1e-3)
    x, y = S(16, 32, 32, 3), ints(16, 32, 32)
    params = shapes(net.init, key(), x)

    def train(state, x, y):
        value, grads = jax.value_and_grad(lambda p: cross_entropy(net.apply(p, x), y))(state["params"])
        updates, opt = tx.update(grads, state["opt"])
        params = optax.apply_updates(state["params"], updates)
        ema = jax.tree.map(lambda e, p: 0.999 * e + 0.001 * p, state["ema"], params)
        return dict(params=params, opt=opt, ema=ema), value

    state = dict(params=params, opt=shapes(tx.init, params), ema=params)
    return train, (state, x, y), lambda path: path.startswith("[0]['params']")


@step("haiku")
def dcgan():
    """A step of the discriminator, then one of the generator; batch norms with state."""
    import haiku as hk
    import optax

    def generate(z, training):
        x = jax.nn.relu(hk.Linear(4 * 4 * 128)(z)).reshape(-1, 4, 4, 128)
        for width in (64, 32):
            x = hk.Conv2DTranspose(width, 4, 2)(x)
            x = jax.nn.relu(hk.BatchNorm(True, True, 0.9)(x, training))
        return jnp.tanh(hk.Conv2DTranspose(3, 4, 2)(x))

    def judge(x):
        for width in (32, 64, 128):
            x = jax.nn.leaky_relu(hk.Conv2D(width, 4, 2)(x), 0.2)
        return hk.Linear(1)(hk.Flatten()(x))

    g, d = hk.transform_with_state(generate), hk.without_apply_rng(hk.transform(judge))
    tx, z, x = optax.adam(2e-4, b1=0.5), S(64, 64), S(64, 32, 32, 3)
    gp, gs = shapes(lambda k, z: g.init(k, z, True), key(), z)
    dp = shapes(d.init, key(), x)

    def train(state, z, x):
        fake, gs = g.apply(state["gp"], state["gs"], None, z, True)

        def loss_d(p):
            return jnp.mean(jax.nn.softplus(-d.apply(p, x))) + jnp.mean(jax.nn.softplus(d.apply(p, jax.lax.stop_gradient(fake))))

        value_d, grads = jax.value_and_grad(loss_d)(state["dp"])
        updates, do = tx.update(grads, state["do"])
        dp = optax.apply_updates(state["dp"], updates)

        def loss_g(p):
            fake, gs2 = g.apply(p, gs, None, z, True)
            return jnp.mean(jax.nn.softplus(-d.apply(dp, fake))), gs2

        (value_g, gs), grads = jax.value_and_grad(loss_g, has_aux=True)(state["gp"])
        updates, go = tx.update(grads, state["go"])
        return dict(gp=optax.apply_updates(state["gp"], updates), gs=gs, go=go, dp=dp, do=do), (value_d, value_g)

    state = dict(gp=gp, gs=gs, go=shapes(tx.init, gp), dp=dp, do=shapes(tx.init, dp))
    return train, (state, z, x), lambda path: path.startswith(("[0]['gp']", "[0]['dp']"))


@step("equinox")
def vqvae():
    """A vector-quantised auto-encoder: nearest code, straight-through gradient, one-hot counts."""
    import equinox as eqx
    import optax

    class Model(eqx.Module):
        down: list
        up: list
        codes: jax.Array

        def __init__(self, k):
            ks = jax.random.split(k, 5)
            self.down = [eqx.nn.Conv2d(3, 32, 4, 2, "SAME", key=ks[0]), eqx.nn.Conv2d(32, 64, 4, 2, "SAME", key=ks[1])]
            self.up = [eqx.nn.ConvTranspose2d(64, 32, 4, 2, padding="SAME", key=ks[2]),
                       eqx.nn.ConvTranspose2d(32, 3, 4, 2, padding="SAME", key=ks[3])]
            self.codes = jax.random.normal(ks[4], (512, 64))

        def __call__(self, x):
            z = self.down[1](jax.nn.relu(self.down[0](x)))
            flat = z.reshape(64, -1).T
            far = jnp.sum(flat**2, 1, keepdims=True) - 2 * flat @ self.codes.T + jnp.sum(self.codes**2, 1)
            q = self.codes[jnp.argmin(far, 1)].T.reshape(z.shape)
            commit = jnp.mean((jax.lax.stop_gradient(q) - z) ** 2) + jnp.mean((q - jax.lax.stop_gradient(z)) ** 2)
            out = self.up[1](jax.nn.relu(self.up[0](z + jax.lax.stop_gradient(q - z))))
            return jnp.mean((out - x) ** 2) + 0.25 * commit

    params, static = eqx.partition(eqx.filter_eval_shape(Model, jax.random.PRNGKey(0)), lambda x: isinstance(x, jax.ShapeDtypeStruct))

    def loss(p, x):
        return jnp.mean(jax.vmap(eqx.combine(p, static))(x))

    return trained(loss, optax.adamw(1e-3), params, S(32, 3, 32, 32))


@step("flax")
def conv3d_video():
    """(2+1)-D convolutions over clips, batch norm, average over time."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            for width, stride in ((16, 1), (32, 2), (64, 2)):
                y = nn.Conv(width, (1, 3, 3), (1, stride, stride))(x)
                y = nn.Conv(width, (3, 1, 1), (stride, 1, 1))(nn.relu(y))
                y = nn.BatchNorm(use_running_average=False)(y)
                x = nn.relu(y + nn.Conv(width, (1, 1, 1), (stride, stride, stride))(x))
            x = nn.avg_pool(x, (2, 2, 2), (2, 2, 2))
            return nn.Dense(64)(jnp.mean(x, (1, 2, 3)))

    net, tx = Net(), optax.sgd(0.1, momentum=0.9, nesterov=True)
    x, y = S(8, 16, 32, 32, 3), ints(8)
    v = shapes(net.init, key(), x)

    def train(params, opt, stats, x, y):
        def loss(p):
            out, new = net.apply({"params": p, "batch_stats": stats}, x, mutable=["batch_stats"])
            return cross_entropy(out, y), new["batch_stats"]

        (value, stats_), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, opt = tx.update(grads, opt, params)
        return optax.apply_updates(params, updates), opt, stats_, value

    return train, (v["params"], shapes(tx.init, v["params"]), v["batch_stats"], x, y), None


@step("flax")
def swin_shift():
    """Windows that are shifted by rolls, attention with a table of relative positions, patches merged."""
    import flax.linen as nn
    import numpy as np
    import optax

    class Window(nn.Module):
        size: int
        shift: int

        @nn.compact
        def __call__(self, x):
            b, h, w, c = x.shape
            k, y = self.size, nn.LayerNorm()(x)
            y = jnp.roll(y, (-self.shift, -self.shift), (1, 2)) if self.shift else y
            y = y.reshape(b, h // k, k, w // k, k, c).transpose(0, 1, 3, 2, 4, 5).reshape(-1, k * k, c)
            q, key_, v = jnp.split(nn.Dense(3 * c)(y).reshape(-1, k * k, 4, 3 * c // 4), 3, -1)
            table = self.param("relative", nn.initializers.normal(), ((2 * k - 1) ** 2, 4))
            at = np.stack(np.meshgrid(np.arange(k), np.arange(k), indexing="ij"), -1).reshape(-1, 2)
            at = at[:, None] - at[None] + k - 1
            bias = table[at[..., 0] * (2 * k - 1) + at[..., 1]].transpose(2, 0, 1)
            a = nn.softmax(jnp.einsum("nqhd,nkhd->nhqk", q, key_) / 4 + bias)
            y = nn.Dense(c)(jnp.einsum("nhqk,nkhd->nqhd", a, v).reshape(-1, k * k, c))
            y = y.reshape(b, h // k, w // k, k, k, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
            x = x + (jnp.roll(y, (self.shift, self.shift), (1, 2)) if self.shift else y)
            return x + nn.Dense(c)(nn.gelu(nn.Dense(4 * c)(nn.LayerNorm()(x))))

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Conv(32, (4, 4), (4, 4))(x)
            for stage in range(2):
                for shift in (0, 2):
                    x = Window(4, shift)(x)
                b, h, w, c = x.shape
                x = x.reshape(b, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 4, 2, 5).reshape(b, h // 2, w // 2, 4 * c)
                x = nn.Dense(2 * c, use_bias=False)(nn.LayerNorm()(x))
            return nn.Dense(100)(jnp.mean(x, (1, 2)))

    net = Net()
    x, y = S(16, 64, 64, 3), ints(16)
    return trained(lambda p, x, y: cross_entropy(net.apply(p, x), y), optax.adamw(1e-3), shapes(net.init, key(), x), x, y)


@step("flax")
def contrastive_pairs():
    """Two towers, all pairs of a batch against one another, in bf16 with f32 weights; a learned temperature."""
    import flax.linen as nn
    import optax

    class Image(nn.Module):
        @nn.compact
        def __call__(self, x):
            for width in (32, 64, 128):
                x = nn.relu(nn.Conv(width, (3, 3), (2, 2), dtype=jnp.bfloat16)(x))
            return nn.Dense(64, dtype=jnp.bfloat16)(jnp.mean(x, (1, 2)))

    class Text(nn.Module):
        @nn.compact
        def __call__(self, t):
            x = nn.Embed(1000, 64, dtype=jnp.bfloat16)(t)
            for _ in range(2):
                x = x + nn.SelfAttention(4, dtype=jnp.bfloat16)(nn.LayerNorm(dtype=jnp.bfloat16)(x))
                x = x + nn.Dense(64, dtype=jnp.bfloat16)(nn.gelu(nn.Dense(256, dtype=jnp.bfloat16)(x)))
            return nn.Dense(64, dtype=jnp.bfloat16)(x[jnp.arange(x.shape[0]), jnp.argmax(t, -1)])

    image, text, x, t = Image(), Text(), S(64, 32, 32, 3), ints(64, 16)
    params = {"image": shapes(image.init, key(), x), "text": shapes(text.init, key(), t), "temperature": S()}

    def loss(p, x, t):
        a, b = image.apply(p["image"], x).astype(jnp.float32), text.apply(p["text"], t).astype(jnp.float32)
        a, b = (z / jnp.linalg.norm(z, axis=-1, keepdims=True) for z in (a, b))
        logits = jnp.exp(p["temperature"]) * a @ b.T
        same = jnp.arange(logits.shape[0])
        return (cross_entropy(logits, same) + cross_entropy(logits.T, same)) / 2

    return trained(loss, optax.lion(1e-4), params, x, t)


@step("haiku")
def byol():
    """Two views, an online and a slowly moving target network: the target has the shapes of the weights and no gradient."""
    import haiku as hk
    import optax

    def tower(x):
        for width in (32, 64):
            x = jax.nn.relu(hk.Conv2D(width, 3, 2)(x))
        return hk.nets.MLP([128, 64])(jnp.mean(x, (1, 2)))

    online = hk.without_apply_rng(hk.transform(tower))
    head = hk.without_apply_rng(hk.transform(lambda z: hk.nets.MLP([128, 64])(z)))
    tx, x = optax.lars(0.1), S(32, 32, 32, 3)
    params = {"online": shapes(online.init, key(), x), "head": shapes(head.init, key(), S(32, 64))}
    unit = lambda z: z / (1e-6 + jnp.linalg.norm(z, axis=-1, keepdims=True))

    def train(params, opt, target, a, b):
        def loss(p):
            said = [unit(head.apply(p["head"], online.apply(p["online"], v))) for v in (a, b)]
            true = [unit(online.apply(target, v)) for v in (b, a)]
            return sum(jnp.mean(2 - 2 * jnp.sum(s * jax.lax.stop_gradient(t), -1)) for s, t in zip(said, true))

        value, grads = jax.value_and_grad(loss)(params)
        updates, opt = tx.update(grads, opt, params)
        params = optax.apply_updates(params, updates)
        return params, opt, optax.incremental_update(params["online"], target, 0.01), value

    return train, (params, shapes(tx.init, params), params["online"], x, x), None


@step("flax")
def nerf_rays():
    """Positions in sines, an MLP with a skip, colours summed along rays by a cumulative product; sorted second samples."""
    import flax.linen as nn
    import optax

    class Field(nn.Module):
        @nn.compact
        def __call__(self, p):
            wide = p[..., None, :] * 2.0 ** jnp.arange(6)[:, None]
            wide = jnp.concatenate([jnp.sin(wide), jnp.cos(wide)], -1).reshape(*p.shape[:-1], -1)
            x = wide
            for k in range(4):
                x = nn.relu(nn.Dense(64)(jnp.concatenate([x, wide], -1) if k == 2 else x))
            return nn.Dense(4)(x)

    def render(out, depth):
        gap = jnp.diff(depth, axis=-1, append=depth[..., -1:] + 1.0)
        alpha = 1 - jnp.exp(-jax.nn.relu(out[..., 3]) * gap)
        before = jnp.cumprod(1 - alpha + 1e-10, -1)
        weight = alpha * jnp.concatenate([jnp.ones_like(before[..., :1]), before[..., :-1]], -1)
        return jnp.einsum("rs,rsc->rc", weight, jax.nn.sigmoid(out[..., :3])), weight

    net = Field()

    def loss(p, origin, toward, colour, k):
        depth = jnp.linspace(2.0, 6.0, 32) + jax.random.uniform(k, (origin.shape[0], 32)) * 0.1
        at = lambda d: net.apply(p, origin[:, None] + toward[:, None] * d[..., None])
        coarse, weight = render(at(depth), depth)
        more = jnp.sort(jnp.concatenate([depth, depth + jax.lax.stop_gradient(weight)], -1), -1)
        fine, _ = render(at(more), more)
        return jnp.mean((coarse - colour) ** 2) + jnp.mean((fine - colour) ** 2)

    params = shapes(net.init, key(), S(8, 4, 3))
    return trained(loss, optax.adam(5e-4), params, S(256, 3), S(256, 3), S(256, 3), key())


@step("flax")
def point_cloud():
    """Nearest neighbours by top-k of all distances, gathered, an MLP over edges, maxima over neighbours."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, p):
            x = p
            for width in (32, 64):
                far = jnp.sum((x[:, :, None] - x[:, None]) ** 2, -1)
                _, near = jax.lax.top_k(-far, 8)
                other = jax.vmap(lambda a, i: a[i])(x, near)
                edge = jnp.concatenate([jnp.broadcast_to(x[:, :, None], other.shape), other - x[:, :, None]], -1)
                x = jnp.max(nn.relu(nn.Dense(width)(edge)), 2)
            return nn.Dense(40)(jnp.max(x, 1))

    net = Net()
    x, y = S(16, 128, 3), ints(16)
    return trained(lambda p, x, y: cross_entropy(net.apply(p, x), y), optax.rmsprop(1e-3), shapes(net.init, key(), x), x, y)


@step("flax")
def denoising():
    """Noise drawn with threefry at a random time, times in sines, a small attention U-Net; LAMB."""
    import flax.linen as nn
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, t):
            at = t[:, None] * jnp.exp(-jnp.arange(16) / 2.0)
            time = nn.Dense(64)(nn.silu(nn.Dense(64)(jnp.concatenate([jnp.sin(at), jnp.cos(at)], -1))))
            first = nn.Conv(32, (3, 3))(x)
            h = nn.Conv(64, (3, 3), (2, 2))(nn.silu(first)) + nn.Dense(64)(time)[:, None, None]
            b, hh, ww, c = h.shape
            h = (h.reshape(b, hh * ww, c) + nn.SelfAttention(4)(nn.GroupNorm(8)(h).reshape(b, hh * ww, c))).reshape(h.shape)
            h = jax.image.resize(h, (b, 2 * hh, 2 * ww, c), "nearest")
            return nn.Conv(3, (3, 3))(nn.silu(jnp.concatenate([nn.Conv(32, (3, 3))(h), first], -1)))

    net = Net()

    def loss(p, x, k):
        ka, kb = jax.random.split(k)
        t, noise = jax.random.uniform(ka, (x.shape[0],)), jax.random.normal(kb, x.shape)
        a = jnp.cos(t * 1.57)[:, None, None, None]
        return jnp.mean((net.apply(p, a * x + jnp.sqrt(1 - a**2) * noise, t) - noise) ** 2)

    x = S(32, 16, 16, 3)
    return trained(loss, optax.lamb(1e-3), shapes(net.init, key(), x, S(32)), x, key())
